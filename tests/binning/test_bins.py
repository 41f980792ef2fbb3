"""Scores cut into bins: the definitions, edges found by arithmetic, scores in order, the fine grid, and cuts of one's own."""

import re
from functools import partial

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from reference import binned, histogram, tuned_binning
from strategies import columns

from calibrant import EqualMass, EqualWidth, calibration_error
from calibrant._core.border import as_problem
from calibrant._core.rows import BinaryProblem, Weights
from calibrant.binning import Binning, Edges, FineGrid, Isotonic, MonotonicSweep, PointsPerBin, Unique, as_binning
from calibrant.binning.bins import Ordered, even_edges, locate
from calibrant.metrics.roc import Ranked
from calibrant.notions import as_notion
from calibrant.sums import Plan, scan


def cut(binning, score, label=None, weight=None):
    label = np.zeros(len(score), dtype=int) if label is None else label
    return binning(as_problem(label, np.asarray(score, dtype=float), sample_weight=weight))


def test_a_number_behind_a_word_is_its_first_parameter():
    assert [as_binning(word) for word in (7, EqualMass(7), "unique")] == [EqualWidth(7), EqualMass(7), Unique()]
    found = [as_binning(word) for word in ("equal-mass", "equal-mass-20", "equal-width-10", "points-per-bin-100")]
    assert found == [EqualMass(), EqualMass(20), EqualWidth(10), PointsPerBin(100)]


def test_a_share_that_is_reached_but_for_rounding_is_reached():
    assert cut(EqualMass(3), np.arange(30) / 30, weight=np.full(30, 0.1)).count.tolist() == [10, 10, 10]


# Points per bin


@given(rows=columns(), k=st.integers(1, 30))
def test_points_per_bin_are_bins_of_equal_mass_of_that_number(rows, k):
    label, score, weight = rows
    bins = cut(PointsPerBin(k), score, label, weight)
    same = cut(EqualMass(max(1, int(weight.sum()) // k)), score, label, weight)
    np.testing.assert_array_equal(bins.edges, same.edges)
    np.testing.assert_array_equal(bins.weight, same.weight)


@pytest.mark.parametrize("weight", [1e6, 1e17, 1e98])
def test_weights_that_stand_for_more_bins_than_memory_holds_make_a_bin_a_score(weight):
    bins = cut(PointsPerBin(50), [0.1, 0.2, 0.3], weight=[weight] * 3)
    assert bins.edges.tolist() == [0.0, 0.1, 0.2, 0.3, 1.0]


@given(rows=columns(max_rows=8, weights=st.integers(1, 40)), n_bins=st.integers(1, 120))
def test_more_bins_than_scores_are_cut_where_the_definition_cuts(rows, n_bins):
    label, score, weight = rows
    edges = histogram.equal_mass_edges(np.repeat(score, weight.astype(int)).tolist(), n_bins)
    assert cut(EqualMass(n_bins), score, label, weight).edges.tolist() == edges


def test_an_empty_bin_is_kept_and_has_no_mean():
    bins = cut(EqualWidth(3), [0.1, 0.9], label=np.array([0, 1]))
    assert bins.count.tolist() == [1, 0, 1]
    np.testing.assert_array_equal(bins.event_rate, [0.0, np.nan, 1.0])
    np.testing.assert_array_equal(np.isnan(bins.mean_prob), [False, True, False])


TWINS = {
    "equal-width": (EqualWidth(7), binned.equal_width(7)),
    "equal-mass": (EqualMass(4), binned.equal_mass(4)),
    "unique": (Unique(), binned.unique),
    "isotonic": (Isotonic(), tuned_binning.isotonic),
    "sweep of equal mass": (MonotonicSweep(most_bins=9), tuned_binning.monotonic_sweep(binned.equal_mass, 9)),
    "sweep of width": (MonotonicSweep("equal-width", 9), tuned_binning.monotonic_sweep(binned.equal_width, 9)),
}


@pytest.mark.parametrize(("binning", "twin"), TWINS.values(), ids=list(TWINS))
@settings(max_examples=40)
@given(rows=columns())
def test_a_binning_cuts_as_its_definition_does(binning, twin, rows):
    label, score, weight = rows
    bins = cut(binning, score, label, weight)
    expected = [held for held in twin(list(zip(score.tolist(), label.tolist(), weight.tolist(), strict=True))) if held]
    held = bins.count > 0
    assert bins.count[held].tolist() == [len(rows) for rows in expected]
    assert bins.weight[held].tolist() == [sum(w for _, _, w in rows) for rows in expected]
    assert bins.outcome_sum[held].tolist() == [sum(w * y for _, y, w in rows) for rows in expected]


# Isotonic


def test_isotonic_blocks_pool_what_decreases():
    bins = cut(Isotonic(), [0.1, 0.2, 0.3, 0.4, 0.5], label=np.array([0, 1, 0, 1, 1]))
    assert bins.edges.tolist() == [0.0, 0.1, 0.3, 1.0]
    assert bins.event_rate.tolist() == [0.0, 0.5, 1.0]


def test_rounded_means_leave_no_equal_rates_apart():
    """The running mean of 1/3 and 2/6 is rounded; the sums are not."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        score, label = rng.random(60), rng.integers(0, 2, 60)
        assert (np.diff(cut(Isotonic(), score, label).event_rate) > 0).all()


# Monotonic sweep


def test_a_sweep_of_separated_classes_ends_at_the_number_of_rows():
    score = np.arange(20) / 20
    assert len(cut(MonotonicSweep(), score, (score > 0.4).astype(int))) == 20
    assert len(cut(MonotonicSweep("equal-width"), score, (score > 0.4).astype(int))) == 20


@given(rows=columns())
def test_the_scale_of_weights_does_not_matter_to_tuned_bins(rows):
    label, score, _ = rows
    half, whole = (cut(MonotonicSweep("equal-width"), score, label, np.full(len(score), w)) for w in (0.5, 1.0))
    np.testing.assert_array_equal(half.edges, whole.edges)


@pytest.mark.parametrize("seed", range(20))
def test_points_per_bin_counts_the_rows_of_fractional_weights_without_rounding_one_away(seed):
    rng = np.random.default_rng(seed)
    weight = rng.random(100)
    bins = PointsPerBin(50)(as_problem(rng.integers(0, 2, 100), rng.random(100), sample_weight=weight))
    assert len(bins) == 2


@pytest.mark.parametrize("precision", [np.float32, np.float64])
@pytest.mark.parametrize("n_bins", [1, 2, 3, 5, 7, 10, 15, 20, 49, 100, 1000, 99_991, 10_000_000])
def test_next_to_every_edge_the_bin_is_that_of_a_search(n_bins, precision):
    places = (np.arange(n_bins + 1)[:: max(1, n_bins // 5000)] / n_bins).astype(precision)
    zero, one = precision(0), precision(1)
    above = np.nextafter(places, one)
    near = [places, np.nextafter(places, zero), above, np.nextafter(above, one), [5e-324, 1e-300, 0.5, -1.0, 2.0]]
    score = np.concatenate(near).astype(precision).astype(np.float64)
    edges = even_edges(n_bins, np.dtype(precision))
    np.testing.assert_array_equal(edges.index(score), locate(edges.edges, score))


scores = st.lists(
    st.one_of(st.sampled_from([0.0, -0.0, 5e-324, 0.25, 0.5, 1.0 - 2**-53, 1.0]), st.floats(0, 1)),
    min_size=1,
    max_size=30,
)


def problem_of(score, outcome, weight=None):
    weights = Weights.one_each(len(score)) if weight is None else Weights(np.asarray(weight, dtype=np.float64))
    return BinaryProblem(np.asarray(score), np.asarray(outcome, dtype=bool), weights)


@settings(max_examples=60)
@given(score=scores, seed=st.integers(0, 9), dtype=st.sampled_from([np.float64, np.float32]))
@example(score=[0.0, -0.0, 0.0], seed=0, dtype=np.float64)
def test_scores_sorted_with_their_outcomes_have_the_sums_of_their_order(score, seed, dtype):
    outcome = np.random.default_rng(seed).random(len(score)) < 0.5
    values = np.array(score, dtype=dtype)
    found = Ordered.of(problem_of(values, outcome))
    by_order = Ordered.of(problem_of(values, outcome, np.ones(len(score))))
    assert found.occurred is not None
    assert by_order.occurred is None
    assert found.score.dtype == dtype
    sums = ("count", "weight", "outcome_sum", "other_sum", "reached", "events_reached")
    for name in ("score", "starts", "order", *sums):
        np.testing.assert_array_equal(getattr(found, name), getattr(by_order, name), err_msg=name)
    assert Ranked.of(found.problem).area == pytest.approx(Ranked.of(by_order.problem).area, nan_ok=True, rel=1e-15)
    np.testing.assert_array_equal(Ranked.of(found.problem).placements(), Ranked.of(by_order.problem).placements())


def test_scores_are_not_changed_and_may_be_strided_or_negative():
    table = np.array([[0.5, 0.25], [0.75, 1.0], [0.5, 0.0]])
    before, outcome = table.copy(), [True, False, True]
    assert Ordered.of(problem_of(table[:, 1], outcome)).score.tolist() == [0.0, 0.25, 1.0]
    found = Ordered.of(problem_of(table[::-1, 0] - 0.625, outcome))
    assert (found.score.tolist(), found.outcome_sum.tolist()) == ([-0.125, 0.125], [2.0, 0.0])
    np.testing.assert_array_equal(table, before)


numbers = st.floats(0.0, 1.0) | st.floats(0.0, 1e-9) | st.floats(0.0, 1e-9).map(lambda q: 1.0 - q)


@given(st.lists(numbers, min_size=1, max_size=20), st.integers(0, 12).map(lambda k: 1 << k))
def test_the_index_is_that_of_the_edges(score, per_octave):
    grid = FineGrid(per_octave)
    edges = grid.edges(None)
    near = np.concatenate([score, edges[np.searchsorted(edges, score)], [0.0, 0.5, 1.0]])
    near = np.clip(np.concatenate([near, np.nextafter(near, 0.0), np.nextafter(near, 1.0)]), 0.0, 1.0)
    assert grid.index(near).tolist() == Edges(edges).index(near).tolist()


def test_zero_and_one_are_cells_of_their_own():
    bins = cut(FineGrid(), [0.0, 0.0, 5e-324, 1.0, np.nextafter(1.0, 0.0)])
    assert (bins.count[0], bins.count[1], bins.count[-1], bins.count[-2]) == (2, 1, 1, 1)


@pytest.mark.parametrize("per_octave", [1, 16, 256])
def test_cells_are_about_equally_wide_in_log_odds(per_octave):
    edges = FineGrid(per_octave).edges(None)[2:-2]
    width = np.diff(np.log(edges) - np.log1p(-edges))
    assert width.max() / width.min() <= 4.0
    assert (np.diff(edges) > 0).all()


@given(st.lists(numbers, min_size=1, max_size=20))
def test_cells_are_mirror_images(score):
    """A score that is an edge lies in the lower cell on either side."""
    grid, p = FineGrid(), np.array(score)
    p = p[(1.0 - (1.0 - p) == p) & ~np.isin(p, grid.edges(None)[1:-1])]
    assert (grid.index(p) + grid.index(1.0 - p) == len(grid.edges(None)) - 2).all()


def test_single_precision_counts_as_the_same_numbers_in_double():
    single = np.linspace(0.0, 1.0, 1000, dtype=np.float32)
    assert FineGrid().index(single).tolist() == FineGrid().index(single.astype(np.float64)).tolist()


@pytest.mark.parametrize(("n_problems", "per_octave"), [(1, 1024), (3, 1024), (10, 256), (1000, 16)])
def test_many_problems_have_fewer_cells_each(n_problems, per_octave):
    assert FineGrid.for_problems(n_problems).per_octave == per_octave


class Halves(Binning):
    def edges(self, problem):
        return [0.0, problem.score.max() / 2, 1.0]


class Given(Binning):
    def __init__(self, edges):
        self.given = edges

    def edges(self, problem):
        return self.given


def test_a_class_that_is_never_predicted_needs_no_edges():
    prob = np.array([[0.1, 0.2, 0.7], [0.1, 0.3, 0.6], [0.1, 0.1, 0.8]])
    assert calibration_error([0, 2, 2], prob, notion="top-label", binning=Halves()) == pytest.approx(0.1 / 3)


def test_bins_without_rows_change_nothing():
    whole = as_problem([0, 1], np.array([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]]), labels=[0, 1, 2])
    first, second = whole.at(slice(0, 1)), whole.at(slice(1, 2))
    plan = Plan.of_cells([(as_notion("top-label"), Given([0.0, 0.65, 1.0]))])
    added, seen = scan(first, plan) + scan(second, plan), scan(whole, plan)
    for one, other in zip(added.cells[0], seen.cells[0], strict=True):
        assert one.bins.edges.tolist() == other.bins.edges.tolist()
        assert one.bins.count.tolist() == other.bins.count.tolist()


# What is refused


NO_EDGES = ([0.5], [], [1.0, 0.5, 0.0], [0.0, np.nan, 1.0], [[0.0, 1.0]])
REFUSED = [
    (lambda: EqualWidth(0), ValueError, "n_bins must be a whole number, at least 1; got 0"),
    (lambda: MonotonicSweep(of="unique"), ValueError, "of must be one of"),
    (lambda: MonotonicSweep(most_bins=0), ValueError, "most_bins"),
    (lambda: FineGrid(0), ValueError, "per_octave"),
    (lambda: FineGrid(3), ValueError, "per_octave"),
    (lambda: FineGrid(8192), ValueError, "per_octave"),
    (lambda: as_binning("unique-3"), ValueError, "'unique' must stand without a number; got 'unique-3'. Pass 'unique'"),
    (lambda: as_binning("monotonic-sweep-9"), ValueError, "'monotonic-sweep' must stand without a number"),
    (lambda: as_binning("bounded-isotonic-50"), ValueError, "'bounded-isotonic' must stand without a number"),
    (lambda: as_binning("equal-mas-20"), ValueError, "got 'equal-mas-20'. Did you mean 'equal-mass'?"),
    (lambda: as_binning("equal-mass--2"), ValueError, "got 'equal-mass--2'. Did you mean"),
    (lambda: as_binning("equal-mass-0"), ValueError, "n_bins must be a whole number, at least 1; got 0. 10 to 20"),
    (lambda: as_binning("points-per-bin-0"), ValueError, "points_per_bin must be a whole number, at least 1; got 0"),
    *[(partial(cut, Given(edges), [0.2, 0.7]), ValueError, "edges of Given must be") for edges in NO_EDGES],
]


@pytest.mark.parametrize(("call", "error", "words"), REFUSED, ids=[row[-1][:60] for row in REFUSED])
def test_what_is_no_binning_is_refused(call, error, words):
    with pytest.raises(error, match=re.escape(words)):
        call()
