import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import binned
from strategies import columns

from calibrant import EqualMass, EqualWidth, Unique
from calibrant._validation import as_problem
from calibrant.binning import as_binning


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
        patch.setattr("calibrant.binning.CHUNK", 4)
        chunked = EqualWidth(n_bins)(problem)
    np.testing.assert_array_equal(chunked.count, whole.count)
    np.testing.assert_array_equal(chunked.outcome_sum, whole.outcome_sum)
    np.testing.assert_allclose(chunked.score_sum, whole.score_sum, rtol=1e-13)


@pytest.mark.parametrize(
    ("binning", "twin"),
    [(EqualWidth(7), binned.equal_width(7)), (EqualMass(4), binned.equal_mass(4)), (Unique(), binned.unique)],
    ids=["equal-width", "equal-mass", "unique"],
)
@given(rows=columns())
def test_a_binning_cuts_as_its_definition_does(binning, twin, rows):
    label, score, weight = rows
    bins = cut(binning, score, label, weight)
    expected = [held for held in twin(list(zip(score.tolist(), label.tolist(), weight.tolist(), strict=True))) if held]
    held = bins.count > 0
    assert bins.count[held].tolist() == [len(rows) for rows in expected]
    assert bins.weight[held].tolist() == [sum(w for _, _, w in rows) for rows in expected]
    assert bins.outcome_sum[held].tolist() == [sum(w * y for _, y, w in rows) for rows in expected]


@pytest.mark.parametrize("make", [EqualWidth, EqualMass])
def test_fewer_than_one_bin_is_refused(make):
    with pytest.raises(ValueError, match=r"n_bins must be at least 1; got 0\. 10 to 20 is usual\."):
        make(0)


@pytest.mark.parametrize("make", [EqualWidth, EqualMass])
@pytest.mark.parametrize("n_bins", [10.0, "10", True, None])
def test_a_number_of_bins_that_is_not_whole_is_refused(make, n_bins):
    with pytest.raises(TypeError, match="n_bins must be a whole number"):
        make(n_bins)


def test_a_numpy_number_of_bins_is_accepted():
    assert len(cut(EqualWidth(np.int64(4)), [0.5])) == 4


def test_a_binning_cannot_be_changed():
    with pytest.raises(AttributeError):
        EqualWidth(3).n_bins = 4
