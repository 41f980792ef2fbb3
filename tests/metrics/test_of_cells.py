"""Metrics of rows that are read in batches and need all scores: what is stated of them holds for the rows in memory."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import columns

from calibrant import assess, measure, metrics, smooth_calibration_error
from calibrant._core.rows import Approximate
from calibrant.binning import bins as fine_grid
from calibrant.interop.arrow_batches import Batches
from calibrant.metrics.roc import area_under_roc
from calibrant.notions import Binary
from calibrant.sums.reading import UnreadSimplex

ROUNDING = 1e-12

METRICS = {
    "auc": area_under_roc,
    "hull": metrics.area_under_roc_hull_score,
    "ks": metrics.kolmogorov_smirnov_error,
    "kuiper": metrics.kuiper_error,
    "smooth": smooth_calibration_error,
    "mcb": lambda *rows, **data: metrics.corp_decomposition(*rows, **data)["miscalibration"],
    "mcb-log": lambda *rows, **data: metrics.corp_decomposition(*rows, score="log", **data)["miscalibration"],
    "dsc": lambda *rows, **data: metrics.corp_decomposition(*rows, **data)["discrimination"],
    "unc": lambda *rows, **data: metrics.corp_decomposition(*rows, **data)["uncertainty"],
    "score": lambda *rows, **data: metrics.corp_decomposition(*rows, **data).total,
    "ace": metrics.adaptive_calibration_error,
}


@pytest.fixture(scope="module", autouse=True)
def coarse():
    """Cells so wide that limits are wide as well."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fine_grid, "MOST_CELLS", 1 << 10)
        yield


def as_read(*rows, n_batches=2, **data):
    """Return rows as they are read in batches, however few they are."""
    return UnreadSimplex(Batches([rows], batch_rows=-(-len(rows[0]) // n_batches), **data))


@pytest.mark.filterwarnings("ignore::calibrant.exceptions.CalibrationWarning")
@pytest.mark.first(6)
@pytest.mark.parametrize("name", METRICS)
@settings(max_examples=10)
@given(data=columns(max_rows=40), squeeze=st.floats(1e-3, 1.0), n_batches=st.integers(1, 3))
def test_the_figure_of_the_rows_lies_within_the_limits(name, data, squeeze, n_batches):
    label, score, weight = data
    score = score * squeeze
    metric = METRICS[name]
    exact = metric(label, score, sample_weight=weight, labels=[0, 1])
    found = metric(as_read(label, score, weight, n_batches=n_batches, labels=[0, 1]), None)
    lower, upper = getattr(found, "lower", found), getattr(found, "upper", found)
    if np.isnan(exact):
        assert np.isnan(found)
    else:
        assert lower - ROUNDING <= exact <= upper + ROUNDING


def test_of_classes_the_limits_are_those_of_the_mean(monkeypatch):
    rng = np.random.default_rng(1)
    prob = rng.dirichlet(np.ones(3), 3000).astype(np.float32)
    label = rng.integers(0, 3, 3000)
    monkeypatch.setattr(fine_grid, "MOST_CELLS", 1 << 18)
    for metric in (area_under_roc, metrics.kolmogorov_smirnov_error, metrics.adaptive_calibration_error):
        words = {} if metric is metrics.adaptive_calibration_error else {"notion": "class-wise"}
        found, exact = metric(as_read(label, prob), None, **words), metric(label, prob, **words)
        assert found.lower <= exact <= found.upper
        assert found.error < 0.05


def test_a_figure_says_how_far_the_exact_one_may_be():
    rng = np.random.default_rng(2)
    score, label = rng.random(2000), rng.integers(0, 2, 2000)
    found = metrics.kolmogorov_smirnov_error(as_read(label, score), None)
    assert isinstance(found, Approximate)
    assert "of rows in batches, exact to within 0.0" in repr(found)
    assert str(found) == str(float(found))
    again = pickle.loads(pickle.dumps(found))
    assert (again, again.lower, again.upper) == (found, found.lower, found.upper)
    assert "with scores rounded to cells" in repr(metrics.debiased_calibration_error(as_read(label, score), None))


def test_measure_takes_all_of_them_from_batches():
    rng = np.random.default_rng(3)
    score, label = rng.random(2000), rng.integers(0, 2, 2000)
    names = ["ece", "ks-error", "smooth-ece", "roc-auc", "mcb", "ace", "tce", "nll"]
    found, exact = measure(as_read(label, score), None, metrics=names), measure(label, score, metrics=names)
    for name in names:
        assert found[name] == pytest.approx(exact[name], abs=10.0 if name == "tce" else 0.03), name
    assert found["ece"] == pytest.approx(exact["ece"], rel=1e-12)
    assert "with scores rounded to cells" in repr(found["tce"])


def test_weights_that_do_not_count_rows_have_no_intervals():
    rng = np.random.default_rng(4)
    score, label, weight = rng.random(500), rng.integers(0, 2, 500), rng.random(500)
    (cells,) = UnreadSimplex(Batches([(label, score, weight)])).summed_parts(Binary())
    for name in ("of_variance", "effective_rows", "importance"):
        with pytest.raises(ValueError, match=r"weights must be whole.*sample\(100_000\)"):
            getattr(cells.weights, name)


@pytest.mark.first(1)
@pytest.mark.parametrize(
    "names",
    [["ks-error", "ace", "mcb"], ["kuiper-error", "smooth-ece", "debiased-ece", "roc-auc", "hull-auc", "dsc", "unc"]],
)
def test_assess_states_intervals_and_how_near_the_figures_are(names, monkeypatch):
    monkeypatch.setattr(fine_grid, "MOST_CELLS", 1 << 18)
    rng = np.random.default_rng(5)
    score = rng.random(6000)
    label = (rng.random(6000) < score**1.3).astype(int)
    found = assess(as_read(label, score), None, metrics=names, n_resamples=99)
    exact = assess(label, score, metrics=names, n_resamples=99)
    for name in names:
        ours, rows = found[name], exact[name]
        width = rows.upper - rows.lower
        slack = getattr(ours.value, "error", 0.0)
        slack = slack if np.isfinite(slack) else 0.01
        assert ours.value == pytest.approx(rows.value, abs=slack + 1e-9), name
        assert ours.lower == pytest.approx(rows.lower, abs=0.25 * width + slack), name
        assert ours.upper == pytest.approx(rows.upper, abs=0.25 * width + slack), name
    assert "of rows in batches, exact to within" in str(found)
