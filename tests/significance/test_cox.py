"""Cox's likelihood ratio: its law, its power, and its limits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import logistic as reference
from scipy.special import expit
from scipy.stats import chi2
from strategies import columns

from calibrant import calibration_intercept, calibration_slope
from calibrant.metrics import calibration_in_the_large
from calibrant.significance import cox_test

PARAMETERS = ("both", "intercept", "slope")
each = pytest.mark.parametrize("parameters", PARAMETERS)


def sample(n, a=0.0, b=1.0, rng=0):
    rng = np.random.default_rng(rng)
    z = 1.5 * rng.normal(size=n)
    return (rng.random(n) < expit(a + b * z)).astype(int), expit(z)


def rejections(runs, n, a, b, parameters):
    rng = np.random.default_rng(0)
    return np.mean([cox_test(*sample(n, a, b, rng), parameters=parameters).pvalue <= 0.05 for _ in range(runs)])


# The definition


def test_the_statistics_are_twice_the_gains_in_log_likelihood():
    label, prob = sample(150, 0.3, 0.7)
    weight = np.random.default_rng(1).integers(1, 4, 150)
    z = [reference.log_odds(p) for p in prob]
    a, b = (f(label, prob, sample_weight=weight) for f in (calibration_intercept, calibration_slope))
    shift = calibration_in_the_large(label, prob, sample_weight=weight)
    as_it_is, shifted, best = (
        reference.log_likelihood(z, label, weight, *line) for line in ((0.0, 1.0), (shift, 1.0), (a, b))
    )
    expected = {"both": (best - as_it_is, 2), "intercept": (shifted - as_it_is, 1), "slope": (best - shifted, 1)}
    for parameters, (gain, df) in expected.items():
        found = cox_test(label, prob, sample_weight=weight, parameters=parameters)
        assert found.statistic == pytest.approx(2 * gain, rel=1e-8)
        assert found.df == df
        assert found.pvalue == pytest.approx(chi2.sf(2 * gain, df), rel=1e-7)


@pytest.mark.filterwarnings("ignore:.*depends on probabilities of 0 and 1:UserWarning")
@given(rows=columns())
def test_the_parts_add_up_to_the_whole(rows):
    label, prob, weight = rows
    both, intercept, slope = (cox_test(label, prob, sample_weight=weight, parameters=p) for p in PARAMETERS)
    assert both.statistic == pytest.approx(intercept.statistic + slope.statistic, rel=1e-6, abs=1e-8)
    assert both.df == intercept.df + slope.df


def test_weights_that_are_not_whole_count_as_the_rows_they_are_worth():
    label, prob = sample(100, 0.5, 0.5)
    plain = cox_test(label, prob)
    scaled = cox_test(label, prob, sample_weight=np.full(100, 0.3))
    assert scaled.statistic == pytest.approx(plain.statistic, rel=1e-9)
    assert "Weights do not depend on the labels." in scaled.assumptions


# Size and power


@each
def test_the_size_is_the_level(parameters):
    found = rejections(500, 200, 0.0, 1.0, parameters)
    assert abs(found - 0.05) < 4 * np.sqrt(0.05 * 0.95 / 500)


# Limits


def test_separated_classes_are_fitted_without_loss():
    label, prob = [0, 0, 1, 1], [0.1, 0.2, 0.6, 0.9]
    gain = -sum(np.log([0.9, 0.8, 0.6, 0.9]))
    assert cox_test(label, prob).statistic == pytest.approx(2 * gain, rel=1e-12)


def test_at_a_tie_between_separated_classes_something_is_lost():
    label, prob = [0, 0, 1, 1, 1], [0.1, 0.6, 0.6, 0.6, 0.9]
    gain = np.log(1 / 3) + 2 * np.log(2 / 3) - sum(np.log([0.9, 0.4, 0.6, 0.6, 0.9]))
    assert cox_test(label, prob).statistic == pytest.approx(2 * gain, rel=1e-12)


@given(rows=columns(min_rows=2), outcome=st.integers(0, 1))
def test_one_class_alone_is_fitted_without_loss(rows, outcome):
    _, prob, weight = rows
    prob = prob.clip(1e-9, 1 - 1e-9)
    occurred = prob if outcome else 1 - prob
    found = cox_test(np.full(prob.size, outcome), prob, sample_weight=weight, parameters="intercept")
    assert found.statistic == pytest.approx(-2 * weight @ np.log(occurred), rel=1e-9)


def test_equal_scores_leave_a_single_degree_of_freedom():
    label, prob = [0, 1, 1, 1], [0.3] * 4
    both, slope = cox_test(label, prob), cox_test(label, prob, parameters="slope")
    assert (both.df, slope.df, slope.statistic, slope.pvalue) == (1, 0, 0.0, 1.0)
    expected = 2 * (3 * np.log(0.75 / 0.3) + np.log(0.25 / 0.7))
    assert both.statistic == pytest.approx(expected, rel=1e-10)


# Notions


def test_of_a_table_the_top_label_is_tested():
    rng = np.random.default_rng(0)
    prob = rng.dirichlet(np.ones(3), 200)
    label = rng.integers(0, 3, 200)
    top = prob.argmax(axis=1)
    alone = cox_test((label == top).astype(int), prob.max(axis=1))
    assert cox_test(label, prob).statistic == pytest.approx(alone.statistic, rel=1e-9)
