"""What weights mean: integer weights equal repeated rows, parts mean what the whole means, no weights take no memory."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibrant._core.border import as_problem, as_weights
from calibrant._core.rows import Weights

COUNTS = st.lists(st.integers(1, 6), min_size=1, max_size=12)
FRACTIONS = st.lists(st.floats(0.01, 9.0), min_size=2, max_size=12)
NUMBERS = ("total", "rows", "rows_per_weight", "effective_rows", "effective_rows_per_weight")


def weights_of(values):
    return Weights(np.array(values, dtype=np.float64))


def over_rows(values, count):
    """Sum of one value a row, each repeated as often as its row."""
    return float(np.repeat(values, count).sum())


@given(count=COUNTS)
def test_integer_weights_equal_repeated_rows(count):
    weights, repeated = weights_of(count), Weights.one_each(sum(count))
    assert weights.are_counts
    for name in NUMBERS:
        assert getattr(weights, name) == getattr(repeated, name), name
    np.testing.assert_array_equal(weights.times, count)
    # Sums over rows: the variance of a sum, and what each of the equal rows counts.
    assert weights.of_variance.sum() == over_rows(np.ones(len(count)), count)
    assert over_rows(weights.importance, count) == weights.total
    assert weights.repeat_rows == (max(count) > 1)
    assert weights.are_rows == (max(count) == 1)


@given(values=FRACTIONS, one=st.sampled_from([0.5, 1.25, 2.75]))
def test_with_one_fraction_each_row_is_one_observation(values, one):
    w = np.array([*values, one])
    weights = Weights(w)
    assert not weights.are_counts
    assert not weights.repeat_rows
    assert weights.rows == pytest.approx(w.size, rel=1e-12)
    assert weights.effective_rows == pytest.approx(w.sum() ** 2 / (w @ w), rel=1e-12)
    np.testing.assert_array_equal(weights.of_variance, w**2)
    np.testing.assert_array_equal(weights.times, 1.0)
    np.testing.assert_array_equal(weights.importance, w)


@given(values=FRACTIONS, factor=st.floats(0.1, 10.0))
def test_numbers_of_rows_do_not_depend_on_the_unit_of_fractions(values, factor):
    first, second = (Weights(np.array([*values, 0.3]) * unit) for unit in (1.0, factor))
    if not second.are_counts:
        assert first.rows == pytest.approx(second.rows, rel=1e-12)
        assert first.effective_rows == pytest.approx(second.effective_rows, rel=1e-9)


@given(values=st.lists(st.sampled_from([0.5, 1.0, 2.0]), min_size=2, max_size=9), data=st.data())
def test_parts_mean_what_the_whole_means(values, data):
    whole = weights_of(values)
    rows = np.array(data.draw(st.lists(st.integers(0, len(values) - 1), min_size=1, max_size=9)))
    part = whole.part(rows)
    for one in (part, part.part(slice(0, 1)), whole.like(np.ones(3)), part.like(np.ones(3))):
        assert one.are_counts == whole.are_counts
        assert one.rows_per_weight == whole.rows_per_weight
    np.testing.assert_array_equal(part.values, whole.values[rows])
    w = whole.values[rows]
    assert part.effective_rows == pytest.approx(w.sum() if whole.are_counts else w.sum() ** 2 / (w @ w), rel=1e-12)


def test_no_weights_take_no_memory_however_they_are_cut():
    weights = Weights.one_each(10**15)
    assert (len(weights), weights.total, weights.rows, weights.effective_rows) == (10**15, 1e15, 1e15, 1e15)
    assert weights.part(slice(0, 10**12)).total == 1e12
    taken = weights.take(np.array([3, 3, 1]))
    assert (taken.is_unit, taken.values.strides, taken.total) == (True, (0,), 3.0)


def test_no_weights_are_told_from_weights_of_one():
    """A test says what it assumes of weights only where there are some."""
    ones, broadcast = as_weights(np.ones(4), 4), as_weights(np.broadcast_to(1.0, (4,)), 4)
    for given_ones in (ones, broadcast):
        assert not given_ones.is_unit
        assert given_ones.assumptions == ("Weights are numbers of equal, independent rows.",)
        np.testing.assert_array_equal(given_ones.keyword["sample_weight"], 1.0)
    assert as_weights(None, 4).is_unit
    assert weights_of([0.5, 1.0]).assumptions == ("Weights do not depend on the labels.",)


# Problems


def test_rows_of_a_pair_keep_their_predictions_and_logits():
    problem = as_problem(["a", "b", "b"], [0.5, -1.0, 2.0], y_pred=["a", "a", "b"], input="logit")
    part = problem.at(np.array([2, 0]))
    assert part.predicted.code.tolist() == problem.predicted.code[[2, 0]].tolist()
    assert part.logit.tolist() == [2.0, 0.5]
