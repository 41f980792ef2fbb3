"""What a loss measures in one bin, and how a norm puts bins together."""

import numpy as np
import pytest
from hypothesis import given
from reference import binned
from scipy.stats import binom
from strategies import columns

from calibrant import EqualMass, EqualWidth
from calibrant._validation import as_problem
from calibrant.metrics.losses import debiased_squared_gap, l1, l2, maximum, root

ONE_BIN = EqualWidth(1)


def debiased(label, score, weight=None, binning=ONE_BIN):
    problem = as_problem(label, score, sample_weight=weight)
    return debiased_squared_gap(problem, binning(problem))


@pytest.mark.parametrize("n", [2, 3, 10])
@pytest.mark.parametrize("truth", [0.0, 0.1, 0.5, 1.0])
def test_the_debiased_squared_gap_is_right_on_average(n, truth):
    """Exactly: over all numbers of events, weighted by their binomial probabilities."""
    score = 0.3
    values = [debiased(np.arange(n) < events, np.full(n, score))[0] for events in range(n + 1)]
    assert binom.pmf(np.arange(n + 1), n, truth) @ values == pytest.approx((truth - score) ** 2, abs=1e-12)


@given(rows=columns())
def test_the_debiased_squared_gap_is_what_its_definition_says(rows):
    label, score, weight = rows
    found = debiased(label, score, weight, EqualMass(4))
    held = [
        part
        for part in binned.equal_mass(4)(list(zip(score.tolist(), label.tolist(), weight.tolist(), strict=True)))
        if part
    ]
    np.testing.assert_allclose(
        found[~np.isnan(found)], [binned.debiased_squared_gap(part) for part in held], rtol=1e-9, atol=1e-12
    )


def test_a_bin_of_one_row_counts_as_nothing():
    assert debiased([1], [0.25]).tolist() == [0.0]
    assert debiased([1, 0], [0.2, 0.9], binning=EqualWidth(2)).tolist() == [0.0, 0.0]


def test_fractional_weights_count_as_rows_on_average():
    score, label = np.array([0.1, 0.2, 0.4, 0.9]), np.array([0, 1, 0, 1])
    np.testing.assert_allclose(debiased(label, score, np.full(4, 0.3)), debiased(label, score), rtol=1e-12)


def test_an_empty_bin_has_no_loss():
    np.testing.assert_array_equal(np.isnan(debiased([0, 1], [0.1, 0.2], binning=EqualWidth(2))), [False, True])


def test_the_root_of_a_negative_mean_is_zero():
    assert root(np.array([-1.0, 0.5]), np.array([0.5, 0.5])) == 0.0


def test_norms_by_hand():
    values, weights = np.array([0.1, 0.3]), np.array([0.75, 0.25])
    assert l1(values, weights) == pytest.approx(0.15)
    assert l2(values, weights) == pytest.approx(np.sqrt(0.0075 + 0.0225))
    assert root(values**2, weights) == pytest.approx(l2(values, weights))
    assert maximum(values, weights) == 0.3
