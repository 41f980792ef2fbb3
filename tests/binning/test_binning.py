import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import binned, histogram, tuned_binning
from strategies import columns

from calibrant import EqualMass, EqualWidth
from calibrant._core.border import as_problem
from calibrant.binning import Isotonic, MonotonicSweep, PointsPerBin, Unique, as_binning


def cut(binning, score, label=None, weight=None):
    label = np.zeros(len(score), dtype=int) if label is None else label
    return binning(as_problem(label, np.asarray(score, dtype=float), sample_weight=weight))


def test_probability_one_falls_in_the_last_bin():
    assert cut(EqualWidth(10), [1.0]).count.tolist() == [0] * 9 + [1]


def test_probability_zero_falls_in_the_first_bin():
    assert cut(EqualWidth(10), [0.0]).count.tolist() == [1] + [0] * 9


@pytest.mark.parametrize("n_bins", range(1, 60))
def test_a_score_on_an_edge_belongs_to_the_bin_below(n_bins):
    edges = np.arange(n_bins + 1) / n_bins
    assert cut(EqualWidth(n_bins), edges[1:]).count.tolist() == [1] * n_bins


def test_three_fifths_is_an_edge_of_five_bins():
    assert cut(EqualWidth(5), [0.6]).count.tolist() == [0, 0, 1, 0, 0]


def test_a_number_of_bins_means_equal_width():
    assert as_binning(7) == EqualWidth(7)
    assert as_binning(EqualMass(7)) == EqualMass(7)


@pytest.mark.parametrize(
    ("word", "binning"),
    [
        ("equal-mass", EqualMass()),
        ("equal-mass-20", EqualMass(20)),
        ("equal-width-10", EqualWidth(10)),
        ("points-per-bin-100", PointsPerBin(100)),
        ("unique", Unique()),
    ],
)
def test_a_number_behind_a_word_is_its_first_parameter(word, binning):
    assert as_binning(word) == binning


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("unique-3", r"binning 'unique' must stand without a number; got 'unique-3'\. Pass 'unique'"),
        ("monotonic-sweep-9", r"binning 'monotonic-sweep' must stand without a number; got 'monotonic-sweep-9'\. Pass"),
        ("equal-mas-20", r"binning must be one of .*; got 'equal-mas-20'\. Did you mean 'equal-mass'\?"),
        ("equal-mass--2", r"binning must be one of .*; got 'equal-mass--2'\. Did you mean"),
        ("equal-mass-0", r"n_bins must be a whole number, at least 1; got 0\. 10 to 20"),
        ("points-per-bin-0", r"points_per_bin must be a whole number, at least 1; got 0\. Pass"),
    ],
)
def test_a_word_with_a_number_that_is_no_binning_is_refused(word, message):
    with pytest.raises(ValueError, match=message):
        as_binning(word)


def test_rows_that_do_not_divide_go_to_the_first_bins():
    assert cut(EqualMass(3), np.arange(1, 9) / 10).count.tolist() == [3, 3, 2]


def test_equal_scores_are_never_split():
    assert cut(EqualMass(2), [0.1, 0.5, 0.5, 0.5, 0.5, 0.9]).count.tolist() == [5, 1]


def test_heavy_ties_make_fewer_bins():
    bins = cut(EqualMass(15), [0.2] * 50 + [0.7] * 50)
    assert bins.count[bins.count > 0].tolist() == [50, 50]
    assert len(bins) < 15


def test_equal_mass_shares_out_weight_and_not_rows():
    bins = cut(EqualMass(2), [0.1, 0.2, 0.3, 0.4], weight=[3.0, 1.0, 1.0, 1.0])
    assert bins.weight.tolist() == [3.0, 3.0]


def test_equal_mass_shares_out_fractional_weight():
    bins = cut(EqualMass(4), np.arange(1, 9) / 10, weight=np.full(8, 0.125))
    assert bins.weight.tolist() == [0.25] * 4


def test_a_share_that_is_reached_but_for_rounding_is_reached():
    assert cut(EqualMass(3), np.arange(30) / 30, weight=np.full(30, 0.1)).count.tolist() == [10, 10, 10]


# Points per bin


@pytest.mark.parametrize(
    ("n", "k", "n_bins"), [(1, 50, 1), (49, 50, 1), (99, 50, 1), (100, 50, 2), (7, 1, 7), (149, 50, 2)]
)
def test_points_per_bin_makes_as_many_bins_as_the_rows_fill(n, k, n_bins):
    bins = cut(PointsPerBin(k), np.arange(n) / n)
    assert len(bins) == n_bins
    assert bins.count.min() >= min(k, n)


@given(rows=columns(), k=st.integers(1, 30))
def test_points_per_bin_are_bins_of_equal_mass_of_that_number(rows, k):
    label, score, weight = rows
    bins = cut(PointsPerBin(k), score, label, weight)
    same = cut(EqualMass(max(1, int(weight.sum()) // k)), score, label, weight)
    np.testing.assert_array_equal(bins.edges, same.edges)
    np.testing.assert_array_equal(bins.weight, same.weight)


@given(rows=columns(), k=st.integers(1, 10), scale=st.sampled_from([0.1, 1 / 3, 0.7]))
def test_points_per_bin_counts_rows_where_weights_are_no_counts(rows, k, scale):
    label, score, _ = rows
    fractions = np.full(len(score), scale)  # cut at exact shares, which need not be whole rows
    same = cut(EqualMass(max(1, len(score) // k)), score, label, fractions)
    np.testing.assert_array_equal(cut(PointsPerBin(k), score, label, fractions).edges, same.edges)


@pytest.mark.parametrize("weight", [1e6, 1e17, 1e98])
def test_weights_that_stand_for_more_bins_than_memory_holds_make_a_bin_a_score(weight):
    bins = cut(PointsPerBin(50), [0.1, 0.2, 0.3], weight=[weight] * 3)
    assert bins.edges.tolist() == [0.0, 0.1, 0.2, 0.3, 1.0]


@given(rows=columns(max_rows=8, weights=st.integers(1, 40)), n_bins=st.integers(1, 120))
def test_more_bins_than_scores_are_cut_where_the_definition_cuts(rows, n_bins):
    label, score, weight = rows
    edges = histogram.equal_mass_edges(np.repeat(score, weight.astype(int)).tolist(), n_bins)
    assert cut(EqualMass(n_bins), score, label, weight).edges.tolist() == edges


def test_unique_has_a_bin_a_score():
    bins = cut(Unique(), [0.3, 0.1, 0.3, 0.0], label=np.array([1, 0, 0, 1]))
    assert bins.mean_prob.tolist() == [0.0, 0.1, 0.3]
    assert bins.event_rate.tolist() == [1.0, 0.0, 0.5]


def test_an_empty_bin_is_kept_and_has_no_mean():
    bins = cut(EqualWidth(3), [0.1, 0.9], label=np.array([0, 1]))
    assert bins.count.tolist() == [1, 0, 1]
    np.testing.assert_array_equal(bins.event_rate, [0.0, np.nan, 1.0])
    np.testing.assert_array_equal(np.isnan(bins.mean_prob), [False, True, False])


def test_bins_over_the_same_edges_add_up():
    rng = np.random.default_rng(0)
    score, label, weight = rng.random(100), rng.integers(0, 2, 100), rng.integers(1, 5, 100) / 4
    halves = [cut(EqualWidth(10), score[part], label[part], weight[part]) for part in (slice(40), slice(40, None))]
    total, whole = halves[0] + halves[1], cut(EqualWidth(10), score, label, weight)
    np.testing.assert_array_equal(total.count, whole.count)
    np.testing.assert_array_equal(total.weight, whole.weight)
    np.testing.assert_array_equal(total.outcome_sum, whole.outcome_sum)
    np.testing.assert_allclose(total.score_sum, whole.score_sum, rtol=1e-14)


def test_bins_over_other_edges_do_not_add_up():
    with pytest.raises(ValueError, match="same edges"):
        cut(EqualWidth(2), [0.1]) + cut(EqualWidth(3), [0.1])


@given(rows=columns(min_rows=1), n_bins=st.integers(1, 9))
def test_sums_in_chunks_equal_sums_at_once(rows, n_bins):
    label, score, weight = rows
    problem = as_problem(label, score, sample_weight=weight)
    whole = EqualWidth(n_bins)(problem)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("calibrant.binning.bins.CHUNK", 4)
        chunked = EqualWidth(n_bins)(problem)
    np.testing.assert_array_equal(chunked.count, whole.count)
    np.testing.assert_array_equal(chunked.outcome_sum, whole.outcome_sum)
    np.testing.assert_allclose(chunked.score_sum, whole.score_sum, rtol=1e-13)


TWINS = {
    "equal-width": (EqualWidth(7), binned.equal_width(7)),
    "equal-mass": (EqualMass(4), binned.equal_mass(4)),
    "unique": (Unique(), binned.unique),
    "isotonic": (Isotonic(), tuned_binning.isotonic),
    "sweep of equal mass": (MonotonicSweep(most_bins=9), tuned_binning.monotonic_sweep(binned.equal_mass, 9)),
    "sweep of equal width": (
        MonotonicSweep("equal-width", most_bins=9),
        tuned_binning.monotonic_sweep(binned.equal_width, 9),
    ),
}


@pytest.mark.parametrize(("binning", "twin"), TWINS.values(), ids=list(TWINS))
@given(rows=columns())
def test_a_binning_cuts_as_its_definition_does(binning, twin, rows):
    label, score, weight = rows
    bins = cut(binning, score, label, weight)
    expected = [held for held in twin(list(zip(score.tolist(), label.tolist(), weight.tolist(), strict=True))) if held]
    held = bins.count > 0
    assert bins.count[held].tolist() == [len(rows) for rows in expected]
    assert bins.weight[held].tolist() == [sum(w for _, _, w in rows) for rows in expected]
    assert bins.outcome_sum[held].tolist() == [sum(w * y for _, y, w in rows) for rows in expected]


REFUSED = [
    (lambda: EqualWidth(0), ValueError, "n_bins must be a whole number, at least 1; got 0"),
    (lambda: EqualMass(-1), ValueError, "n_bins must be a whole number, at least 1; got -1"),
    (lambda: EqualWidth(10.0), TypeError, "n_bins must be a whole number"),
    (lambda: EqualMass(True), TypeError, "n_bins must be a whole number"),
    (lambda: PointsPerBin(0), ValueError, "points_per_bin"),
    (lambda: PointsPerBin("50"), TypeError, "points_per_bin"),
    (lambda: MonotonicSweep(of="unique"), ValueError, "of must be one of"),
    (lambda: MonotonicSweep(most_bins=0), ValueError, "most_bins"),
]


@pytest.mark.parametrize(("call", "error", "words"), REFUSED, ids=[row[-1][:60] for row in REFUSED])
def test_parameters_are_refused(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_a_numpy_number_of_bins_is_accepted():
    assert len(cut(EqualWidth(np.int64(4)), [0.5])) == 4


def test_a_binning_cannot_be_changed():
    with pytest.raises(AttributeError):
        EqualWidth(3).n_bins = 4


# Isotonic


def test_isotonic_blocks_pool_what_decreases():
    bins = cut(Isotonic(), [0.1, 0.2, 0.3, 0.4, 0.5], label=np.array([0, 1, 0, 1, 1]))
    assert bins.edges.tolist() == [0.0, 0.1, 0.3, 1.0]
    assert bins.event_rate.tolist() == [0.0, 0.5, 1.0]


def test_isotonic_blocks_pool_equal_rates():
    assert len(cut(Isotonic(), [0.1, 0.2, 0.3], label=np.array([1, 1, 1]))) == 1


def test_isotonic_pools_equal_scores_first():
    bins = cut(Isotonic(), [0.5, 0.5, 0.2], label=np.array([0, 1, 0]))
    assert bins.event_rate.tolist() == [0.0, 0.5]


@given(rows=columns(weights=st.floats(0.01, 5.0)))
def test_event_rates_of_isotonic_blocks_increase_with_fractional_weights(rows):
    label, score, weight = rows
    assert (np.diff(cut(Isotonic(), score, label, weight).event_rate) > -1e-12).all()


def test_rounded_means_leave_no_equal_rates_apart():
    """The running mean of 1/3 and 2/6 is rounded; the sums are not."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        score, label = rng.random(60), rng.integers(0, 2, 60)
        assert (np.diff(cut(Isotonic(), score, label).event_rate) > 0).all()


# Monotonic sweep


def test_the_sweep_stops_at_the_first_decrease():
    """Of three bins the rates are 0, 2/3, 1/2; those of four would not decrease: 0, 1/2, 1/2, 1/2."""
    score, label = np.arange(8) / 8, np.array([0, 0, 0, 1, 0, 1, 0, 1])
    assert (np.diff(cut(EqualMass(4), score, label).event_rate) >= 0).all()
    assert cut(MonotonicSweep(), score, label).event_rate.tolist() == [0.25, 0.5]


def test_a_sweep_of_separated_classes_ends_at_the_number_of_rows():
    score = np.arange(20) / 20
    assert len(cut(MonotonicSweep(), score, (score > 0.4).astype(int))) == 20
    assert len(cut(MonotonicSweep("equal-width"), score, (score > 0.4).astype(int))) == 20


def test_a_sweep_ends_at_the_most_bins():
    score = np.arange(20) / 20
    assert len(cut(MonotonicSweep(most_bins=7), score, (score > 0.4).astype(int))) == 7


def test_a_sweep_passes_over_empty_bins():
    bins = cut(MonotonicSweep("equal-width", most_bins=5), [0.05, 0.95], label=np.array([0, 1]))
    assert bins.count.tolist() == [1, 1]


def test_equal_rates_of_fractional_weights_do_not_stop_a_sweep():
    score, label = np.arange(24) / 24, np.tile([0, 1, 1], 8)
    tenth, whole = (cut(MonotonicSweep(), score, label, np.full(24, w)) for w in (0.1, 1.0))
    np.testing.assert_array_equal(tenth.edges, whole.edges)


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
