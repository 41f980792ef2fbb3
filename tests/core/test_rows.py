"""What weights mean, where numbers stand among limits, and one number a row."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import log_softmax

from calibrant._core import arrays
from calibrant._core.border import as_problem, as_weights
from calibrant._core.rows import BLOCK, MANY, Weights, log_losses, places

FRACTIONS = st.lists(st.floats(0.01, 9.0), min_size=2, max_size=12)


def weights_of(values):
    return Weights(np.array(values, dtype=np.float64))


def over_rows(values, count):
    """Sum of one value a row, each repeated as often as its row."""
    return float(np.repeat(values, count).sum())


@given(count=st.lists(st.integers(1, 6), min_size=1, max_size=12))
def test_integer_weights_equal_repeated_rows(count):
    weights, repeated = weights_of(count), Weights.one_each(sum(count))
    assert weights.are_counts
    for name in ("total", "rows", "rows_per_weight", "effective_rows", "effective_rows_per_weight"):
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
    taken = whole.take(rows)
    assert (taken.are_counts, taken.rows) == (whole.are_counts, pytest.approx(w.sum() if whole.are_counts else w.size))
    for one in (part, taken):  # a function that sees these rows alone
        assert as_weights(one.keyword["sample_weight"], w.size).effective_rows == pytest.approx(one.effective_rows)


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


# Where numbers stand among limits: of a block of numbers what a search gives of each


KNOWN = [-np.inf, -1.0, -0.0, 0.0, 5e-324, 0.25, 0.5, np.nextafter(0.5, 1), 1.0, 1e30, np.inf]


@settings(max_examples=60, deadline=None)
@given(
    limits=st.lists(st.one_of(st.sampled_from(KNOWN), st.floats(0, 1)), min_size=0, max_size=70),
    side=st.sampled_from(["left", "right"]),
    dtype=st.sampled_from([np.float64, np.float32]),
)
def test_places_are_those_that_a_search_of_each_number_finds(limits, side, dtype):
    limits = np.sort(np.array(limits, dtype=np.float64))
    rng = np.random.default_rng(limits.size)
    table = np.resize(np.concatenate([KNOWN, limits, rng.random(50)]), (MANY, 2)).astype(dtype)
    for values in (table[:, 0], np.ascontiguousarray(table[:, 1]), table[: MANY - 1, 1]):
        found = places(limits, values, side=side)
        assert found.dtype == np.intp
        np.testing.assert_array_equal(found, np.searchsorted(limits, values, side=side))


@pytest.mark.parametrize("n_limits", [1, 2, 3, 4, 7, 8, 255, 256, 1000, BLOCK + 1, 2 * BLOCK])
def test_any_number_of_limits_may_be_searched(n_limits):
    rng = np.random.default_rng(n_limits)
    limits, values = np.sort(rng.integers(0, 5000, n_limits) / 5000), rng.integers(0, 5000, BLOCK + 77) / 5000
    for side in ("left", "right"):
        np.testing.assert_array_equal(places(limits, values, side), np.searchsorted(limits, values, side))


RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(arrays, "BLOCK", 20)


def test_log_losses_of_logits_are_exact_near_zero_and_far_away():
    logit = np.vstack([RNG.normal(0, 20, (58, 4)), [50.0, 0, 0, 0], [-1e99, 1e99, 0, 0]])
    column = np.append(RNG.integers(0, 4, 58), [0, 0])
    expected = -log_softmax(logit, axis=1)[np.arange(60), column]
    np.testing.assert_allclose(log_losses(logit, column), expected, rtol=1e-14, atol=1e-16)
    assert (log_losses(logit, column) >= 0).all()
