"""What a Newton step of NA-FIR is made of: the table of counts, and sums over it."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import tables

from calibrant._core.border import as_problem
from calibrant._kernels.nafir import pair_sums
from calibrant.calibrators.nafir import Cells, Comparisons

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
    occurred = [max(j for j, low in enumerate(lower) if j == 0 or low <= prob[i, k]) for i, k in enumerate(label)]
    assert counts.of_true.tolist() == occurred
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
