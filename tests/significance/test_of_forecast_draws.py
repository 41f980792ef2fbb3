"""Tests by drawn labels, against enumeration and their size: the kernel test, resampling and the Bayes factor."""

from functools import partial
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import evidence_scaling as twin
from scipy.special import softmax
from strategies import columns, dirichlet_rows, tables

from calibrant import brier_score_loss, classwise_calibration_error, expected_calibration_error
from calibrant._core.rows import Forecast
from calibrant.calibrators import evidence as bayes_factor
from calibrant.calibrators.evidence_features import groups_of
from calibrant.datasets import load_survey_table_3
from calibrant.exceptions import CalibrationWarning
from calibrant.metrics import estimate_calibration_error, kernel_calibration_error
from calibrant.metrics import kernel as pairs_module
from calibrant.registry import entries
from calibrant.significance import bayes_factor_test, kernel_test, resampling_test


def drawn(rng, prob):
    return (rng.random((len(prob), 1)) > prob.cumsum(axis=1)[:, :-1]).sum(axis=1)


# What the p-value is made of


@given(rows=st.one_of(columns(min_rows=2), tables(min_rows=2)))
def test_the_statistic_is_the_error_and_the_pvalue_the_share_of_draws_that_reach_it(rows):
    label, prob, weight = rows
    found = kernel_test(label, prob, sample_weight=weight, n_resamples=19)
    error = kernel_calibration_error(label, prob, sample_weight=weight)
    assert found.statistic == pytest.approx(error, rel=1e-9, abs=1e-13)
    assert found.null.values.shape == (19,)
    reached = np.sum(found.null.values >= found.statistic - 1e-9 * abs(found.statistic))
    assert found.pvalue == (1 + reached) / 20
    assert found.alternative == "greater"


def test_the_draws_are_the_errors_of_drawn_labels():
    """All labels of three rows can be listed: each error comes as often as its labels are probable."""
    prob, runs = np.array([[0.5, 0.3, 0.2], [0.2, 0.2, 0.6], [0.1, 0.8, 0.1]]), 20_000
    every = list(product(range(3), repeat=3))
    errors = np.array([kernel_calibration_error(label, prob, labels=range(3)) for label in every])
    chances = np.array([prob[range(3), label].prod() for label in every])
    found = kernel_test([0, 2, 1], prob, n_resamples=runs, labels=range(3))
    for value in np.unique(errors.round(9)):
        expected = chances[np.isclose(errors, value, atol=1e-9)].sum()
        share = np.isclose(found.null.values, value, atol=1e-9).mean()
        assert abs(share - expected) < 5 * np.sqrt(expected * (1 - expected) / runs)


def test_draws_look_at_some_labels_at_a_time(monkeypatch):
    label, prob = dirichlet_rows(60, 3)
    for notion in (None, "class-wise"):
        together = kernel_test(label, prob, notion=notion, n_resamples=30)
        with monkeypatch.context() as smaller:
            for kind in (pairs_module.ScorePairs, pairs_module.SimplexPairs):
                smaller.setattr(kind, "held", 60 * 7)
            apart = kernel_test(label, prob, notion=notion, n_resamples=30)
        np.testing.assert_allclose(apart.null.values, together.null.values, rtol=1e-9, atol=1e-15)


# What has no answer, and what is refused


def test_a_single_row_speaks_neither_for_nor_against():
    with pytest.warns(CalibrationWarning, match="must have two rows"):
        found = kernel_test([1], [0.3])
    assert np.isnan(found.statistic)
    assert found.pvalue == 1.0


def test_a_perfect_forecast_is_not_rejected_and_one_that_was_sure_and_wrong_has_the_smallest_pvalue():
    found = kernel_test([0, 1, 2, 0], np.eye(3)[[0, 1, 2, 0]], n_resamples=19)
    assert (found.statistic, found.pvalue) == (0.0, 1.0)
    assert kernel_test([1, 1, 1], [[1.0, 0.0, 0.0]] * 3, n_resamples=19).pvalue == 0.05
    sure = 10.0 ** -np.linspace(6, 14, 60)[:, None] * [1, 1, -2] + [0, 0, 1]  # its errors are next to rounding
    assert kernel_test([2] * 60, sure, n_resamples=19, labels=range(3)).pvalue == 1.0


@pytest.mark.parametrize("notion", sorted(entries("notion").keys() - {"binary"}))
def test_counts_are_the_rows_that_they_stand_for_with_every_notion(notion):
    rng = np.random.default_rng(3)
    prob, weight = rng.dirichlet(np.ones(3), 60), rng.integers(1, 4, 60)
    label = drawn(rng, prob)
    counts = kernel_test(label, prob, notion=notion, sample_weight=weight, n_resamples=999, rng=0)
    rows = kernel_test(np.repeat(label, weight), np.repeat(prob, weight, axis=0), notion=notion, n_resamples=999, rng=0)
    assert counts.statistic == pytest.approx(rows.statistic, rel=1e-9)
    assert abs(counts.pvalue - rows.pvalue) < 0.09  # four standard errors of the difference at a half


@pytest.mark.parametrize(
    "test", [resampling_test, partial(resampling_test, metric="brier"), estimate_calibration_error]
)
def test_draws_tie_with_the_value_in_single_precision_as_in_double(test):
    rng = np.random.default_rng(0)
    score = rng.integers(0, 11, 25) / 10
    y = rng.random(25) < score
    assert test(y, np.float32(score), n_resamples=99).pvalue == test(y, score, n_resamples=99).pvalue


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


FUNCTIONS = {
    "classwise-ece": lambda y, p: classwise_calibration_error(y, p, binning=4),
    "ece": lambda y, p: expected_calibration_error(y, p, binning=4),
    "brier": lambda y, p: brier_score_loss(y, p),
}


@pytest.mark.parametrize("metric", FUNCTIONS)
def test_a_registered_metric_and_its_function_give_the_same_draws(metric):
    label, prob = dirichlet_rows(40, 3)
    fast = resampling_test(label, prob, metric=metric, binning=4, n_resamples=50)
    slow = resampling_test(label, prob, metric=FUNCTIONS[metric], n_resamples=50)
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


def forecast(n, k, seed=0):
    return softmax(np.random.default_rng(seed).normal(0.0, 1.5, (n, k)), axis=1)


def points_of(k):
    groups = groups_of(k)
    return [dict(zip(groups, rho, strict=True)) for rho in bayes_factor._points(groups, k)]


@pytest.mark.parametrize("k", [2, 3])
def test_the_statistic_is_that_of_the_definition(k):
    prob, weight = forecast(40, k), np.random.default_rng(1).integers(1, 4, 40).astype(float)
    label = np.random.default_rng(2).integers(0, k, 40)
    expected = twin.log_bayes_factor(prob, label, weight, points_of(k), lambda column, name: True)
    found = bayes_factor_test(label, prob, sample_weight=weight, n_resamples=1, labels=list(range(k)))
    assert found.statistic == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("most", "own"), [(30, True), (15, False)])
def test_of_many_classes_each_depends_on_its_own_probability_or_on_what_all_share(most, own, monkeypatch):
    monkeypatch.setattr("calibrant.fit.evidence.MOST_DENSE", most)
    prob, label = forecast(40, 4), np.random.default_rng(2).integers(0, 4, 40)
    z = twin.standardised(prob, 1.0, 0.0, 1e-9)
    made_of_one = [z - z.mean(axis=0), np.exp(z) - np.exp(z).mean(axis=0), (z - z.mean(axis=0)) ** 2]

    def is_wanted(column, name):
        (classes,) = np.nonzero(np.abs(column).max(axis=0))
        if name in ("temp", "curve", "row", "bias", "slope"):
            return own or name in ("temp", "curve", "row")
        x, j = column[:, classes[0]], classes[0]
        parallel = [abs(x @ f[:, j]) / np.linalg.norm(x) / np.linalg.norm(f[:, j]) for f in made_of_one]
        return own and name != "mat" and max(parallel) > 1.0 - 1e-9

    expected = twin.log_bayes_factor(prob, label, np.ones(40), points_of(4), is_wanted)
    found = bayes_factor.BayesFactor.of(Forecast(prob), np.ones(40)).log_of([label])
    assert found == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("k", [3, pytest.param(2, marks=pytest.mark.deep)])
def test_calibrated_forecasts_are_rejected_as_often_as_the_level_says(k):
    pvalues = []
    for seed in range(150):
        prob = forecast(50, k, seed)
        label = drawn(np.random.default_rng(seed + 1000), prob)
        pvalues.append(bayes_factor_test(label, prob, n_resamples=19, rng=seed, labels=list(range(k))).pvalue)
    for level in (0.05, 0.1, 0.5):
        error = np.sqrt(level * (1.0 - level) / len(pvalues))
        assert abs(np.mean(np.array(pvalues) <= level + 1e-12) - level) < 3.0 * error


def test_an_impossible_event_counts_and_certain_rows_do_not():
    prob = np.vstack([forecast(100, 3), np.eye(3)[[0, 1, 2]]])
    label = np.append(drawn(np.random.default_rng(0), prob[:100]), [0, 1, 2])
    as_predicted = bayes_factor_test(label, prob, n_resamples=99)
    label[-1] = 0
    otherwise = bayes_factor_test(label, prob, n_resamples=99)
    assert otherwise.statistic > as_predicted.statistic
    assert otherwise.pvalue < as_predicted.pvalue


def test_logits_are_forecasts_too():
    logit = np.random.default_rng(0).normal(0.0, 1.5, (80, 3)) + 500.0
    label = drawn(np.random.default_rng(0), prob := softmax(logit, axis=1))
    found = bayes_factor_test(label, logit, input="logit", n_resamples=9)
    assert found.statistic == pytest.approx(bayes_factor_test(label, prob, n_resamples=9).statistic, rel=1e-9)
    assert np.isfinite(bayes_factor_test(label, 1e4 * logit, input="logit", n_resamples=9).statistic)
