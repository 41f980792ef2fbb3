import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import simplex
from strategies import tables

from calibrant import assess
from calibrant._core.border import as_problem
from calibrant._core.rows import as_simplex
from calibrant.binning import Sierpinski, SimplexGrid, SimplexUnique
from calibrant.exceptions import CalibrationWarning
from calibrant.metrics import canonical_calibration_error
from calibrant.metrics.kernel import DISTANCES, LENGTHS


@pytest.mark.parametrize("norm", ["l1", "l2", "max"])
@given(rows=tables(), n_bins=st.integers(1, 6))
def test_the_error_is_what_its_definition_says(norm, rows, n_bins):
    label, prob, weight = rows
    found = canonical_calibration_error(label, prob, binning=n_bins, norm=norm, sample_weight=weight)
    cells = simplex.grid(prob.tolist(), n_bins)
    twin = simplex.calibration_error(prob.tolist(), label.tolist(), weight.tolist(), cells, norm)
    assert found == pytest.approx(twin, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("norm", ["l1", "root", "max"])
@given(rows=tables())
def test_the_error_of_distinct_forecasts_is_what_its_definition_says(norm, distance, rows):
    label, prob, weight = rows
    options = {"norm": norm, "distance": distance, "sample_weight": weight, "labels": range(prob.shape[1])}
    found = canonical_calibration_error(label, prob, binning=SimplexUnique(), **options)
    cells = simplex.distinct(prob.tolist())
    twin = simplex.calibration_error(prob.tolist(), label.tolist(), weight.tolist(), cells, norm, distance)
    assert found**2 == pytest.approx(twin**2, rel=1e-9, abs=1e-12)


SIX_LABELS = [3, 4, 2, 1, 4, 1]
SIX = [
    [0.1, 0.0, 0.6, 0.3],
    [0.6, 0.0, 0.1, 0.3],
    [0.2, 0.7, 0.0, 0.1],
    [0.0, 0.1, 0.1, 0.8],
    [0.0, 0.1, 0.8, 0.1],
    [0.9, 0.1, 0.0, 0.0],
]


@pytest.mark.parametrize(
    ("distance", "value"),
    [
        ("l1", 17 / 15),
        ("total variation", 17 / 30),
        ("max", 17 / 30),
        ("squared l2", 11 / 15),
        ("debiased squared l2", 0),
    ],
)
def test_the_worked_example_of_gupta_and_ramdas_with_a_cell_a_forecast(distance, value):
    found = canonical_calibration_error(
        SIX_LABELS, SIX, labels=[1, 2, 3, 4], binning=SimplexUnique(), distance=distance
    )
    assert found == pytest.approx(value, rel=1e-12, abs=1e-15)


def test_cells_without_rows_are_left_out():
    label, prob = [0, 1, 2], np.array([[0.8, 0.1, 0.1], [0.9, 0.1, 0.0], [0.3, 0.3, 0.4]])
    norm = lambda values, weights: float(len(values)) if np.isfinite(values).all() else np.nan  # noqa: E731
    assert canonical_calibration_error(label, prob, binning=Sierpinski(1), norm=norm) == 2.0


# Uncertainty


def test_too_many_cells_warn_and_have_no_interval(monkeypatch):
    monkeypatch.setattr("calibrant.metrics.kernel.MOST_DEVIATIONS", 5)
    with pytest.warns(CalibrationWarning, match="cells must be few to draw their noise"):
        found = assess([0, 1, 2], np.eye(3), metrics=["canonical-ece"], n_resamples=9)["canonical-ece"]
    assert (found.value, found.lower, found.upper, found.pvalue) == (0.0, 0.0, 1.0, None)


P = np.random.default_rng(3).dirichlet(np.ones(3), 300)
Y = (np.random.default_rng(4).random((300, 1)) > (P**2 / (P**2).sum(axis=1, keepdims=True)).cumsum(axis=1)).sum(axis=1)


@given(rows=tables(n_classes=st.just(3)))
def test_the_value_of_the_estimate_is_that_of_the_error_itself(rows):
    label, prob, weight = rows
    options = {"sample_weight": weight, "labels": range(3)}
    found = assess(label, prob, metrics=["canonical-ece"], n_resamples=3, **options)["canonical-ece"]
    assert found.value == pytest.approx(canonical_calibration_error(label, prob, **options), rel=1e-7, abs=1e-12)
    assert 0.0 <= found.lower <= found.debiased <= min(found.value, found.upper)
    assert found.upper <= 1.0 + 1e-12


@pytest.mark.first(1)
def test_of_a_calibrated_forecast_the_floor_is_the_mean_and_the_p_value_seldom_small():
    """Four standard errors; at most as many p-values below 0.05 as chance makes in 9999 of 10000 runs."""
    rng, draws, resamples = np.random.default_rng(8), 60, 100
    labels = [(rng.random((300, 1)) > P.cumsum(axis=1)).sum(axis=1).clip(0, 2) for _ in range(draws)]
    found = [
        assess(y, P, metrics=["canonical-ece"], n_resamples=resamples, rng=run)["canonical-ece"]
        for run, y in enumerate(labels)
    ]
    value, floor = (np.array([getattr(e, name) for e in found]) for name in ("value", "noise_floor"))
    assert abs(value.mean() - floor.mean()) < 4 * value.std(ddof=1) * np.sqrt(1 / draws + 1 / (draws * resamples))
    assert sum(e.pvalue < 0.05 for e in found) <= 10
    assert sum(e.lower > 0 for e in found) <= 10


@pytest.mark.first(1)
def test_the_interval_holds_the_error_over_the_cells():
    """At most as many misses of 60 as a coverage of 95 % makes in 9999 of 10000 runs; the truth is that over cells at hand."""
    rng, truth = np.random.default_rng(9), P**2 / (P**2).sum(axis=1, keepdims=True)
    bins = SimplexGrid()(as_simplex(as_problem(np.arange(300) % 3, P)))
    cell = bins.partition.index(P)
    there = np.unique(cell)
    gap = np.array([(truth - P)[cell == c].mean(axis=0) for c in there])
    share = np.bincount(cell)[there] / 300
    target = LENGTHS["total variation"](gap) @ share
    misses = 0
    for run in range(60):
        label = (rng.random((300, 1)) > truth.cumsum(axis=1)).sum(axis=1).clip(0, 2)
        found = assess(label, P, metrics=["canonical-ece"], n_resamples=100, rng=run)["canonical-ece"]
        misses += not found.lower <= target <= found.upper
    assert misses <= 10
