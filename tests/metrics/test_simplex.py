import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import simplex
from strategies import columns, tables

from calibrant import (
    CalibrationWarning,
    OneVsRest,
    SimplexBinning,
    SimplexGrid,
    assess,
    calibration_error,
    expected_calibration_error,
    simplex_calibration_error,
)
from calibrant._problem import as_simplex
from calibrant._validation import as_problem


@pytest.mark.parametrize("norm", ["l1", "l2", "max"])
@given(rows=tables(), n_bins=st.integers(1, 6))
def test_the_error_is_what_its_definition_says(norm, rows, n_bins):
    label, prob, weight = rows
    found = simplex_calibration_error(label, prob, binning=n_bins, norm=norm, sample_weight=weight)
    twin = simplex.calibration_error(prob.tolist(), label.tolist(), weight.tolist(), n_bins, norm)
    assert found == pytest.approx(twin, rel=1e-9, abs=1e-12)


@given(rows=columns())
def test_of_two_classes_it_is_the_error_of_one(rows):
    """Away from the edges: on one of them p and 1 - p both fall into the bin below."""
    label, score, weight = rows
    score = (np.minimum(np.floor(score * 5), 4) + 0.1 + 0.8 * (score * 5 % 1)) / 5
    found = simplex_calibration_error(label, score, sample_weight=weight)
    assert found == pytest.approx(expected_calibration_error(label, score, binning=5, sample_weight=weight), abs=1e-12)
    prob = np.column_stack([1 - score, score])
    assert simplex_calibration_error(label, prob, sample_weight=weight) == pytest.approx(found, abs=1e-12)


@given(rows=tables(), n_bins=st.integers(1, 6))
def test_it_is_never_below_the_error_of_one_class(rows, n_bins):
    label, prob, weight = rows
    options = {"labels": range(prob.shape[1]), "sample_weight": weight, "binning": n_bins}
    whole = simplex_calibration_error(label, prob, **options)
    for j in range(prob.shape[1]):
        assert whole >= calibration_error(label, prob, notion=OneVsRest(j), **options) - 1e-12


def test_it_sees_what_no_class_by_itself_shows():
    """Even and odd orders of (0.2, 0.3, 0.5) err in opposite ways; one of each share the probability of a class."""
    orders = np.array([[2, 3, 5], [3, 5, 2], [5, 2, 3], [2, 5, 3], [5, 3, 2], [3, 2, 5]])
    sign = np.array([1, 1, 1, -1, -1, -1])
    label = np.concatenate(
        [np.repeat([0, 1, 2], order + s * np.array([1, -1, 0])) for order, s in zip(orders, sign, strict=True)]
    )
    prob = np.repeat(orders / 10, 10, axis=0)
    assert calibration_error(label, prob, notion="class-wise", binning=10) == pytest.approx(0.0, abs=1e-12)
    assert simplex_calibration_error(label, prob, binning=10) == pytest.approx(0.1)


def test_a_forecast_that_says_what_comes_has_no_error():
    assert simplex_calibration_error([0, 1, 2], np.eye(3)) == 0.0


def test_a_forecast_that_says_the_opposite_has_all_the_error():
    assert simplex_calibration_error([1, 2, 0], np.eye(3)) == 1.0


# Cells


def cut(binning, prob, label=None, weight=None):
    label = np.zeros(len(prob), dtype=int) if label is None else label
    return binning(as_simplex(as_problem(label, prob, sample_weight=weight, labels=range(prob.shape[1]))))


@given(rows=tables(), n_bins=st.integers(1, 6))
def test_rows_share_a_cell_where_they_share_all_bins(rows, n_bins):
    label, prob, weight = rows
    bins = cut(SimplexGrid(n_bins), prob, label, weight)
    index = bins.partition.index(prob)
    cells = simplex.cells(prob.tolist(), n_bins)
    assert len(bins) == len(set(cells)) == len(set(zip(index.tolist(), cells, strict=True)))
    np.testing.assert_array_equal(np.bincount(index, minlength=len(bins)), bins.count)


@given(rows=tables())
def test_sums_over_cells_are_the_sums_over_rows(rows):
    label, prob, weight = rows
    bins = cut(SimplexGrid(4), prob, label, weight)
    assert bins.weight.sum() == weight.sum()
    np.testing.assert_allclose(bins.prob_sum.sum(axis=0), weight @ prob, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(bins.class_sum.sum(axis=0), np.bincount(label, weight, prob.shape[1]))
    np.testing.assert_allclose(bins.class_rate.sum(axis=1), 1.0)
    np.testing.assert_allclose(bins.class_rate - bins.mean_prob, bins.gap, atol=1e-12)


@given(rows=tables(n_classes=st.integers(2, 6)), others=tables(n_classes=st.just(6)))
def test_the_columns_of_a_code_are_irrelevant(rows, others):
    """Few columns a number, or all: the same cells."""
    label, prob, weight = rows
    whole = cut(SimplexGrid(4), prob, label, weight).partition
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("calibrant.simplex_binning.CODES", 16)
        split = cut(SimplexGrid(4), prob, label, weight).partition
    assert len(split.columns) == -(-prob.shape[1] // 2)
    for table in (prob, others[1][:, : prob.shape[1]]):
        same = list(zip(whole.index(table).tolist(), split.index(table).tolist(), strict=True))
        assert all((a == -1) == (b == -1) for a, b in same)
        assert len({a for a, _ in same}) == len({b for _, b in same}) == len(set(same))


def test_a_cell_without_rows_is_no_cell():
    partition = cut(SimplexGrid(5), np.array([[0.1, 0.9], [0.5, 0.5]])).partition
    assert partition.index(np.array([[0.05, 0.95], [0.9, 0.1]])).tolist() == [0, -1]


def test_a_thousand_classes_cost_no_memory():
    rng = np.random.default_rng(0)
    prob = rng.dirichlet(np.full(1000, 0.01), 50)
    bins = cut(SimplexGrid(5), prob)
    assert len(bins) <= 50
    assert bins.count.sum() == 50


def test_fewer_than_one_bin_is_refused():
    with pytest.raises(ValueError, match=r"n_bins must be at least 1; got 0"):
        SimplexGrid(0)


def test_sums_cannot_be_written_to():
    with pytest.raises(ValueError, match="read-only"):
        cut(SimplexGrid(2), np.array([[0.1, 0.9]])).weight[0] = 3.0


def test_another_way_to_cut_is_a_class_with_one_method():
    class Whole(SimplexBinning):
        def partition(self, problem):
            return cut(SimplexGrid(1), problem.prob).partition

    label, prob = [0, 1, 1], np.array([[0.5, 0.5], [0.2, 0.8], [0.2, 0.8]])
    assert simplex_calibration_error(label, prob, binning=Whole()) == pytest.approx(0.7 - 2 / 3)


# Uncertainty


def test_the_noise_floor_is_the_mean_error_of_calibrated_forecasts():
    """Four standard errors of the difference."""
    rng = np.random.default_rng(7)
    prob = rng.dirichlet(np.ones(3), 400)
    draws, resamples = 200, 300
    labels = [(rng.random((400, 1)) > prob.cumsum(axis=1)).sum(axis=1).clip(0, 2) for _ in range(draws)]
    values = np.array([simplex_calibration_error(label, prob) for label in labels])
    found = assess(labels[0], prob, metrics=["simplex-ece"], n_resamples=resamples, rng=1)["simplex-ece"]
    assert found.value == pytest.approx(values[0], rel=1e-12)
    assert abs(values.mean() - found.noise_floor) < 4 * values.std(ddof=1) * np.sqrt(1 / draws + 1 / resamples)


def test_the_interval_covers_the_truth_at_calibration_and_away_from_it():
    """At most as many misses of 60 as a coverage of 95 % makes in 999 of 1000 runs."""
    rng = np.random.default_rng(11)
    for power in (1.0, 2.0):
        prob = rng.dirichlet(np.ones(3), 300)
        truth = prob**power / (prob**power).sum(axis=1, keepdims=True)
        # The truth over the cells at hand: mean forecast against mean probability in each.
        cell = cut(SimplexGrid(), prob).partition.index(prob)
        moved = [np.abs((truth - prob)[cell == c].sum(axis=0)).sum() / 2 for c in np.unique(cell)]
        target, misses = sum(moved) / 300, 0
        for _ in range(60):
            label = (rng.random((300, 1)) > truth.cumsum(axis=1)).sum(axis=1).clip(0, 2)
            found = assess(label, prob, metrics=["simplex-ece"], n_resamples=100, rng=rng)["simplex-ece"]
            misses += not found.lower <= target <= found.upper
        assert misses <= 9


def test_too_many_cells_warn_and_have_no_interval(monkeypatch):
    monkeypatch.setattr("calibrant.metrics.simplex.MOST_DEVIATIONS", 5)
    with pytest.warns(CalibrationWarning, match="cells must be few to draw their noise"):
        found = assess([0, 1, 2], np.eye(3), metrics=["simplex-ece"], n_resamples=9)["simplex-ece"]
    assert (found.value, found.lower, found.upper, found.pvalue) == (0.0, 0.0, 1.0, None)
