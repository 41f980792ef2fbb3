"""Kernels of multi-class isotonic recursive partitioning, each against its definition."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import multiclass_irp as twin
from strategies import tables

from calibrant._kernels import irp


def points(data, n_classes):
    """Points that forecasts may lie on, and that sides may miss."""
    rows = data.draw(tables(n_classes=st.just(n_classes), max_rows=5))[1]
    return np.vstack([rows, np.eye(n_classes), np.full((1, n_classes), 1 / n_classes)])


@pytest.mark.parametrize("parts", [3, 10, 20, 30])
def test_differences_of_decimals_and_of_thirds_tie_as_those_of_their_fractions(parts):
    pairs = np.array(list(product(range(parts + 1), repeat=2)))
    p, child, split = pairs / parts, np.array([[1, 2]]), np.array([0, -1, -1])
    low, high = np.empty((2, 2, 2))
    found = np.empty(len(p), dtype=np.int64)
    for whole, gamma in zip(pairs, p, strict=True):
        over = pairs - whole
        side = (over[:, 1] > over[:, 0]).astype(int)
        irp.node_of(p, gamma[None], child, split, 1, found)
        np.testing.assert_array_equal(found, side + 1)
        for row in np.flatnonzero(over[:, 0] == over[:, 1]):
            assert irp.side_of(p[row], gamma) == 0
            irp.differences(p, np.array([row]), low, high)
            assert irp.sides_met(p, np.array([row]), low, high, gamma) == 1


# All ways to part the forecasts of three classes


def splits_of(prob, sums):
    n = len(prob)
    gamma, gain = np.empty((n * (n + 3) // 2 + 1, 3)), np.empty(n * (n + 3) // 2 + 1)
    found = irp.splits_of_three(prob, sums, gamma, gain)
    return gamma[:found], gain[:found]


def sides_of(prob, gamma):
    return [tuple(irp.side_of(p, g) for p in prob) for g in gamma]


@st.composite
def votes_of_three(draw):
    """Distinct forecasts of three classes that are multiples of a fraction, their numerators, and a weight of each class."""
    parts = draw(st.sampled_from([3, 10, 20, 30]))
    cuts = st.tuples(st.integers(0, parts), st.integers(0, parts)).map(sorted)
    cut = draw(st.lists(cuts, min_size=1, max_size=6, unique_by=tuple))
    whole = np.array([[low, high - low, parts - high] for low, high in cut])
    sums = draw(st.lists(st.tuples(*[st.integers(0, 3)] * 3).filter(any), min_size=len(cut), max_size=len(cut)))
    return whole, whole / parts, np.array(sums, dtype=float)


@given(rows=votes_of_three())
def test_every_way_to_part_forecasts_of_three_classes_is_found_once_ties_of_decimals_included(rows):
    whole, prob, sums = rows
    gamma, gain = splits_of(prob, sums)
    assert sorted(sides_of(prob, gamma)) == sorted(twin.all_splits(whole.tolist()))
    np.testing.assert_allclose(gamma.sum(axis=1), 1.0, rtol=1e-12)
    label, weight = np.tile(np.arange(3), len(prob)), sums.ravel()
    of_rows = np.empty(len(gamma))
    irp.gains(np.repeat(prob, 3, axis=0), label, weight, gamma, of_rows)
    np.testing.assert_allclose(gain, of_rows, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(("n", "number"), [(1, 0), (2, 3), (8, 42), (12, 88), (20, 228), (30, 493), (500, 125_748)])
def test_forecasts_in_general_position_have_a_split_for_each_number_of_rows_on_the_sides(n, number):
    prob = np.random.default_rng(n).dirichlet(np.ones(3), n)
    gamma, _ = splits_of(prob, np.ones((n, 3)))
    assert len(gamma) == number == (n + 2) * (n + 1) // 2 - 3
    if n <= 30:
        on_sides = {tuple(np.bincount(of, minlength=3).tolist()) for of in sides_of(prob, gamma)}
        assert len(on_sides) == number


@given(rows=tables(), data=st.data())
def test_the_sides_that_rows_meet_are_found_by_their_differences_or_by_asking(rows, data):
    prob = rows[1]
    n, n_classes = prob.shape
    low, high = np.empty((2, n_classes, n_classes))
    irp.differences(prob, np.arange(n), low, high)
    over = prob[:, :, None] - prob[:, None, :]
    np.testing.assert_array_equal(low, over.min(axis=0))
    np.testing.assert_array_equal(high, over.max(axis=0))
    for g in points(data, n_classes):
        met = irp.sides_met(prob, np.arange(n), low, high, g)
        assert {k for k in range(n_classes) if met >> k & 1} == {twin.side(p, g) for p in prob.tolist()}


@given(rows=tables(n_classes=st.integers(3, 4), max_rows=8), sides=st.lists(st.integers(0, 3), min_size=8, max_size=8))
def test_values_can_be_parted_where_each_two_sides_can(rows, sides):
    value = rows[1]
    n, n_classes = value.shape
    of = [side % n_classes for side in sides[:n]]
    least, by = np.full((n_classes, n_classes), np.inf), np.full((n_classes, n_classes), irp.NOBODY)
    for number, (k, r) in enumerate(zip(of, value, strict=True)):
        irp.lowest(1 << k, r, number, least, by)
    pairs = [
        (x, y)
        for x in range(n)
        for y in range(n)
        if of[x] != of[y] and value[x, of[x]] - value[x, of[y]] < value[y, of[x]] - value[y, of[y]] - 1e-9
    ]
    first, second, bad = irp.violation(least, by, 1e-9)
    assert bad == bool(pairs)
    if bad:
        assert (first, second) in pairs or (second, first) in pairs
