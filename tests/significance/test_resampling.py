"""The resampling test: the survey's example, exact enumeration, size, and what counts as a tie."""

from itertools import product

import numpy as np
import pytest

from calibrant import brier_score_loss, classwise_calibration_error, expected_calibration_error
from calibrant.datasets import load_survey_table_3
from calibrant.exceptions import CalibrationWarning
from calibrant.significance import resampling_test


def drawn_labels(rng, prob):
    return (rng.random((len(prob), 1)) > prob.cumsum(axis=1)).sum(axis=1).clip(0, prob.shape[1] - 1)


# The survey's example


def test_algorithm_1_counts_what_is_strictly_larger():
    options = {"labels": [1, 2, 3], "binning": 5, "n_resamples": 500}
    paper = resampling_test(*load_survey_table_3(), correction=False, strict=True, **options)
    assert paper.pvalue == np.mean(paper.null.values > paper.statistic * (1 + 1e-9))
    ours = resampling_test(*load_survey_table_3(), **options)
    assert ours.pvalue == (1 + np.sum(ours.null.values >= ours.statistic * (1 - 1e-9))) / 501


def test_without_correction_the_pvalue_can_be_zero_and_with_it_never():
    y, p = [1] * 50, [0.01] * 50
    assert resampling_test(y, p, metric="ece", n_resamples=9, correction=False).pvalue == 0.0
    assert resampling_test(y, p, metric="ece", n_resamples=9).pvalue == 0.1


# Its definition


@pytest.mark.parametrize("metric", ["classwise-ece", "ece", "brier", "nll", "ks-error"])
def test_the_pvalue_is_the_probability_of_all_labels_that_reach_the_value(metric):
    """Every label set of five rows, with its probability: four standard errors of 4000 draws."""
    rng = np.random.default_rng(5)
    prob, label, draws = rng.dirichlet(np.ones(3), 5), np.array([0, 2, 1, 1, 0]), 4000
    found = resampling_test(label, prob, metric=metric, binning=3, n_resamples=draws)
    exact = 0.0
    for labels in product(range(3), repeat=5):
        value = resampling_test(np.array(labels), prob, metric=metric, binning=3, n_resamples=1).statistic
        if value >= found.statistic * (1 - 1e-9):
            exact += prob[np.arange(5), labels].prod()
    assert abs(found.pvalue - exact) < 4 * np.sqrt(exact * (1 - exact) / draws) + 1 / draws


@pytest.mark.parametrize(
    ("metric", "function"),
    [
        ("classwise-ece", lambda y, p: classwise_calibration_error(y, p, binning=4)),
        ("ece", lambda y, p: expected_calibration_error(y, p, binning=4)),
        ("brier", lambda y, p: brier_score_loss(y, p)),
    ],
)
def test_a_registered_metric_and_its_function_give_the_same_draws(metric, function):
    rng = np.random.default_rng(0)
    prob = rng.dirichlet(np.ones(3), 40)
    label = drawn_labels(rng, prob)
    fast = resampling_test(label, prob, metric=metric, binning=4, n_resamples=50)
    slow = resampling_test(label, prob, metric=function, n_resamples=50)
    assert slow.statistic == pytest.approx(fast.statistic, rel=1e-12)
    np.testing.assert_allclose(slow.null.values, fast.null.values, rtol=1e-10)
    assert slow.pvalue == fast.pvalue


def test_a_function_of_the_registry_is_found_there():
    found = resampling_test([0, 1, 1], [0.2, 0.6, 0.7], metric=expected_calibration_error, n_resamples=9)
    assert found.name == "resampling of ece"


def test_a_function_gets_weights_where_there_are_any():
    seen = []

    def metric(y, p, sample_weight=None):
        seen.append(sample_weight)
        return float(np.average((y - p) ** 2, weights=sample_weight))

    resampling_test([0, 1], [0.2, 0.6], metric=metric, n_resamples=2)
    assert seen == [None] * 3
    resampling_test([0, 1], [0.2, 0.6], metric=metric, n_resamples=2, sample_weight=[1, 3])
    assert [w.sum() for w in seen[3:]] == [4.0] * 3  # of each draw those that got each label


# Sides


def test_under_confidence_shows_in_the_log_loss_on_the_other_side():
    rng = np.random.default_rng(0)
    z = rng.normal(0, 2, 1000)
    y, p = rng.random(1000) < 1 / (1 + np.exp(-2 * z)), 1 / (1 + np.exp(-z))
    options = {"metric": "nll", "n_resamples": 199}
    assert resampling_test(y, p, **options).pvalue == 1.0
    assert resampling_test(y, p, alternative="less", **options).pvalue == 0.005
    assert resampling_test(y, p, alternative="two-sided", **options).pvalue == 0.01


def test_where_higher_is_better_small_values_speak_against_calibration():
    found = resampling_test([0] * 20, [0.9] * 20, metric="accuracy", n_resamples=99)
    assert found.alternative == "less"
    assert found.pvalue == 0.01


# Size


# What is refused


def test_draws_on_which_the_metric_is_no_number_count_as_reaching():
    def rate_where_there_are_events(y, p):
        return 0.1 if y.sum() == 1 else float("nan")

    with pytest.warns(CalibrationWarning, match=r"it is none on \d+ of 50 draws"):
        found = resampling_test([0, 1], [0.5, 0.5], metric=rate_where_there_are_events, n_resamples=50)
    assert found.pvalue == 1.0


@pytest.mark.parametrize("metric", ["observed-expected-ratio", "calibration-in-the-large", "calibration-slope"])
def test_a_metric_with_an_ideal_is_tested_on_both_sides(metric):
    rng = np.random.default_rng(0)
    p = rng.random(1000) * 0.8 + 0.1
    too_few, too_many = rng.random(1000) < p / 2, rng.random(1000) < (1 + p) / 2
    if metric == "calibration-slope":
        too_few, too_many = rng.random(1000) < 0.5 + (p - 0.5) / 2, rng.random(1000) < (p > 0.5) * 0.98 + 0.01
    for y in (too_few, too_many):
        assert resampling_test(y, p, metric=metric, n_resamples=99).pvalue <= 0.02
