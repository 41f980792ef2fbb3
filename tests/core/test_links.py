"""Probabilities of logits depend on the logits of the row, and on nothing else."""

import numpy as np
import pytest
from scipy.special import logit, softmax

from calibrant._core.links import log_odds_of_logits, log_prob_of_logit, prob_of_logit

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
