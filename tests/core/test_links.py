"""Probabilities of logits depend on the logits of the row, and on nothing else."""

import numpy as np
import pytest
from scipy.special import logit, softmax

from calibrant._core.links import (
    LEAST_SCORE,
    MANY_COLUMNS,
    log_odds_of_logits,
    log_prob_of_logit,
    prob_of_logit,
    prob_of_scores,
)

Z = np.random.default_rng(0).normal(size=(500, 40)) * 3
maps_of_logits = pytest.mark.parametrize("link", [prob_of_logit, log_prob_of_logit, log_odds_of_logits])


def test_probabilities_and_log_odds_of_logits_are_those_of_scipy():
    np.testing.assert_allclose(prob_of_logit(Z), softmax(Z, axis=1), rtol=1e-14)
    np.testing.assert_allclose(log_odds_of_logits(Z), logit(softmax(Z, axis=1)), rtol=1e-9)


def test_logits_far_apart_make_probabilities_of_zero_and_one():
    np.testing.assert_array_equal(prob_of_logit(np.array([[1e4, 0.0], [-1e300, 1e300]])), [[1.0, 0.0], [0.0, 1.0]])


@maps_of_logits
def test_the_layout_in_memory_makes_no_difference(link):
    expected = link(Z)
    for other in (
        np.asfortranarray(Z),
        np.repeat(np.repeat(Z, 2, axis=0), 2, axis=1)[::2, ::2],
        Z[::-1, ::-1][::-1, ::-1],
    ):
        np.testing.assert_array_equal(link(other), expected)
    np.testing.assert_array_equal(np.vstack([link(row[None]) for row in Z]), expected)


@pytest.mark.parametrize("link", [prob_of_logit, log_odds_of_logits])
def test_the_order_of_columns_makes_no_difference(link):
    order = np.random.default_rng(1).permutation(40)
    np.testing.assert_array_equal(link(Z[:, order]), link(Z)[:, order])


@maps_of_logits
def test_logits_are_left_as_they_are(link):
    before = Z.copy()
    link(Z)
    np.testing.assert_array_equal(Z, before)


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


def test_scores_in_single_precision_give_probabilities_in_double():
    single = Z.astype(np.float32)
    np.testing.assert_array_equal(prob_of_scores(single, 1.5), prob_of_scores(single.astype(np.float64), 1.5))
    assert prob_of_scores(single).dtype == np.float64
