"""Probabilities of logits depend on the logits of the row, and on nothing else."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.special import softmax

from calibrant._core.arrays import (
    LEAST_SCORE,
    MANY_COLUMNS,
    grouped,
    log_odds_of_prob,
    prob_of_scores,
    quotients,
    sum_of_rows,
)


@pytest.mark.parametrize("n_columns", [2, 10, MANY_COLUMNS - 1, MANY_COLUMNS, MANY_COLUMNS + 40])
def test_probabilities_of_scores_are_those_of_scipy_at_any_temperature(n_columns):
    scores = np.random.default_rng(n_columns).normal(size=(50, n_columns)) * 30
    before = scores.copy()
    for temperature in (1e-4, 1.0, 1.7, 1e4):
        raised = np.maximum(scores / temperature, (scores / temperature).max(axis=1, keepdims=True) + LEAST_SCORE)
        for table in (scores, np.asfortranarray(scores), scores[::-1][::-1]):
            found = prob_of_scores(table, temperature)
            np.testing.assert_allclose(found, softmax(raised, axis=1), rtol=1e-12)
            np.testing.assert_array_equal(found, prob_of_scores(scores, temperature))
            assert found.min() > 0.0
    np.testing.assert_array_equal(scores, before)


decimals = st.integers(1, 6).flatmap(
    lambda digits: st.lists(st.integers(0, 10**digits), min_size=1, max_size=8).map(lambda row: (row, 10**digits))
)


@given(one=decimals, other=decimals)
def test_sums_of_decimals_are_one_number_exactly_where_they_are_equal(one, other):
    sums = [float(np.cumsum(np.array(row) / unit)[-1]) for row, unit in (one, other)]
    exact = [Fraction(sum(row), unit) for row, unit in (one, other)]
    first, second = grouped(np.array(sums))
    assert (first == second) == (exact[0] == exact[1])
    assert first == exact[0].numerator / exact[0].denominator


def test_a_sum_is_grouped_whatever_else_is_there():
    sums = np.random.default_rng(0).random(1000)
    together = grouped(sums)
    np.testing.assert_array_equal(together, np.concatenate([grouped(part) for part in np.split(sums, 100)]))
    np.testing.assert_array_equal(grouped(together), together)
    np.testing.assert_allclose(together, sums, rtol=0, atol=5.1e-13)


@given(
    row=st.lists(st.one_of(st.floats(0.0, 2.0), st.sampled_from([1e-300, 0.1, 0.2, 1 / 3])), min_size=1, max_size=200)
)
def test_the_sum_of_a_row_does_not_depend_on_the_order_of_its_numbers(row):
    table = np.array([row, sorted(row), sorted(row, reverse=True)])
    first, *others = sum_of_rows(table)[:, 0]
    assert others == [first, first]
    np.testing.assert_allclose(first, float(sum(map(Fraction, row))), rtol=1e-13)


@given(
    row=st.lists(st.integers(0, 1000), min_size=2, max_size=12).filter(any),
    unit=st.sampled_from([1, 7, 37, 100, 999, 12345]),
    scale=st.sampled_from([1, 100, 1000, 10**6]),
)
def test_a_row_of_decimals_is_divided_as_its_fractions(row, unit, scale):
    assume(unit * sum(row) / scale < 9000)  # whole multiples of 1e-12 below 2^53
    table = unit * np.array([row, row[::-1]]) / scale
    expected = [part / sum(row) for part in row]  # rounded once
    np.testing.assert_array_equal(quotients(table, table.sum(axis=1, keepdims=True)), [expected, expected[::-1]])


@pytest.mark.parametrize("parts", [3, 7, 30, 70])
def test_fractions_that_sum_to_one_are_divided_by_one(parts):
    table = np.random.default_rng(0).multinomial(parts, np.full(5, 0.2), 500) / parts
    assert (table.sum(axis=1) != 1.0).any() or parts == 3
    np.testing.assert_array_equal(quotients(table, table.sum(axis=1, keepdims=True)), table)


def test_log_odds_of_all_that_is_clipped_are_the_same():
    tiny = np.array([1e-12, 3e-13, 1e-16, 5e-324, 0.0])
    assert set(log_odds_of_prob(tiny)) == {np.log(1e-12)}
    assert set(log_odds_of_prob(1.0 - tiny[2:])) == {-np.log(1e-12)}
    assert np.isfinite(log_odds_of_prob(np.nextafter([1e-12, 1.0], 0.0))).all()
