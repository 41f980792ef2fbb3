"""What a Newton step of NA-FIR is made of: the table of counts, sums over it, and the step itself."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import tables

from calibrant._core.validation import as_problem
from calibrant._kernels.conditional_logit import pair_sums
from calibrant.solvers import quadratic_model
from calibrant.solvers.comparisons import Comparisons
from calibrant.solvers.nafir_blocks import Cells
from calibrant.solvers.quadratic_model import bounded_step

any_weights = st.one_of(st.integers(1, 4), st.sampled_from([0.1, 0.3, 1.5]))


@st.composite
def counted(draw):
    """Rows, the cells at which blocks begin, and their statistics."""
    label, prob, weight = draw(tables(weights=any_weights))
    cells = Cells.of(as_problem(label, prob, sample_weight=weight, labels=range(prob.shape[1])))
    more = draw(st.sets(st.integers(1, cells.size - 1))) if cells.size > 1 else set()
    starts = np.array(sorted({0} | more))
    return (label, prob, weight), cells.lower[starts], Comparisons.of(cells, starts)


@given(drawn=counted())
def test_rows_are_counted_as_in_the_definition(drawn):
    (label, prob, weight), lower, counts = drawn
    expected = {}
    for i, row in enumerate(prob.tolist()):
        for p in row:
            block = max(j for j, low in enumerate(lower.tolist()) if j == 0 or low <= p)
            expected[i, block] = expected.get((i, block), 0) + 1
    found = zip(counts.row.tolist(), counts.block.tolist(), counts.count.tolist(), strict=True)
    assert [((i, j), c) for i, j, c in found] == sorted(expected.items())
    assert counts.block[counts.starts].tolist() == [
        min(j for i, j in expected if i == row) for row in range(len(label))
    ]
    came = [max(j for j, low in enumerate(lower) if j == 0 or low <= prob[i, k]) for i, k in enumerate(label)]
    assert counts.came.tolist() == came
    np.testing.assert_allclose(counts.weight, weight / weight.sum())


@given(drawn=counted(), steps=st.lists(st.sampled_from([0.0, 0.3, 5.0, 400.0, 900.0]), min_size=30, max_size=30))
def test_shares_equal_the_definition_however_far_apart_the_values(drawn, steps):
    counts = drawn[2]
    theta = np.append(-np.cumsum(steps[: counts.n_blocks - 1])[::-1], 0.0)
    log_sum, parts, expected = counts.shares(theta)
    by_block = np.zeros(counts.n_blocks)
    for i in range(counts.starts.size):
        mine = np.flatnonzero(counts.row == i)
        top = max(theta[counts.block[e]] for e in mine)
        total = sum(counts.count[e] * math.exp(theta[counts.block[e]] - top) for e in mine)
        assert log_sum[i] == pytest.approx(top + math.log(total), rel=1e-12, abs=1e-12)
        for e in mine:
            share = counts.count[e] * math.exp(theta[counts.block[e]] - top) / total
            assert parts[e] == pytest.approx(share, rel=1e-9, abs=1e-40)
            by_block[counts.block[e]] += counts.weight[i] * share
    np.testing.assert_allclose(expected, by_block, rtol=1e-9, atol=1e-40)


@given(drawn=counted(), data=st.data())
def test_the_compiled_sums_of_pairs_equal_the_definition(drawn, data):
    (label, _, weight), _, counts = drawn
    joined = data.draw(st.lists(st.integers(0, 1), min_size=counts.n_blocks, max_size=counts.n_blocks))
    group = np.cumsum(joined)[counts.block]
    n_groups = int(group.max()) + 1
    table = np.zeros((len(label), n_groups))
    for i, a, q in zip(counts.row, group, counts.count, strict=True):
        table[i, a] += q
    expected = sum(w * np.outer(row, row) for w, row in zip(weight, table, strict=True))
    found = np.zeros((n_groups, n_groups))
    pair_sums(counts.starts, group, counts.count, weight, found)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


# The step


def test_a_step_to_the_inside_is_that_of_newton():
    hessian, slope = np.array([[2.0, 0.5], [0.5, 1.0]]), np.array([0.3, -0.2])
    step = bounded_step(hessian, slope, np.array([1.0, 1.0]))
    np.testing.assert_allclose(hessian @ step, -slope, rtol=1e-7)


def test_what_a_step_would_make_negative_goes_to_zero_and_the_rest_minds_it():
    hessian, slope, u = np.array([[2.0, 0.5], [0.5, 1.0]]), np.array([4.0, -0.2]), np.array([1.0, 1.0])
    step = bounded_step(hessian, slope, u)
    np.testing.assert_allclose(step, [-1.0, 0.2 + 0.5], rtol=1e-7)


@given(
    size=st.integers(1, 6),
    numbers=st.lists(st.integers(-3, 3), min_size=36, max_size=36),
    slope=st.lists(st.integers(-4, 4), min_size=6, max_size=6),
    u=st.lists(st.sampled_from([0.0, 0.0, 0.1, 1.0]), min_size=6, max_size=6),
)
def test_a_step_ends_where_the_quadratic_model_is_least_within_the_bounds(size, numbers, slope, u):
    """There it has no slope at what is above zero, and rises with what is zero."""
    root = np.reshape(numbers, (6, 6))[:, :size]
    hessian, slope, u = root.T @ root + 0.1 * np.eye(size), np.array(slope[:size], dtype=float), np.array(u[:size])
    step = bounded_step(hessian, slope, u)
    end, pull = u + step, slope + hessian @ step
    assert (end >= 0.0).all()
    if slope[(u > 0) | (slope < 0)].any():  # else it is there, and some step is made up
        np.testing.assert_allclose(pull[end > 0.0], 0.0, atol=1e-5)
        assert (pull >= -1e-5).all()


def test_a_step_that_is_not_found_in_time_goes_down_all_the_same(monkeypatch):
    monkeypatch.setattr(quadratic_model, "MOST_PIVOTS", 1)
    hessian, slope, u = np.array([[11.0, -10.0], [-10.0, 14.0]]), np.array([-2.0, 3.0]), np.array([2.0, 0.0])
    step = bounded_step(hessian, slope, u)
    assert slope @ step < 0.0
    assert (u + step >= 0.0).all()


def test_a_step_always_goes_down_and_stays_in_the_bounds():
    """In this case what goes to zero at first would do so against the slope, and more than the rest gains."""
    hessian = [
        [19.0, -2.0, 6.0, -6.0, -16.0, -3.0],
        [-2.0, 32.0, -2.0, 0.0, -6.0, -5.0],
        [6.0, -2.0, 11.0, 5.0, -12.0, -3.0],
        [-6.0, 0.0, 5.0, 14.0, 1.0, -4.0],
        [-16.0, -6.0, -12.0, 1.0, 27.0, -3.0],
        [-3.0, -5.0, -3.0, -4.0, -3.0, 32.0],
    ]
    slope, u = np.array([-4.0, 0.0, 4.0, -3.0, 2.0, 4.0]), np.array([2.0, 1.0, 0.0, 0.0, 1.0, 0.0])
    step = bounded_step(np.array(hessian), slope, u)
    assert slope @ step < 0.0
    assert (u + step >= 0.0).all()
