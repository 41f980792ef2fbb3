"""Which of two forecasts is better: the jackknife by loops, sizes where both are as good, power where one is better."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import paired as reference

from calibrant import EqualWidth, brier_loss, expected_calibration_error, paired_test
from calibrant.significance import paired


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def two_bins(rows):
    return [[r for r in rows if r[0] <= 0.5], [r for r in rows if r[0] > 0.5]]


# The debiased difference


@given(rows=st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1), st.integers(0, 1)), min_size=2, max_size=12))
def test_the_difference_is_that_of_pairs_and_its_error_that_of_the_jackknife(rows):
    a, b, y = (np.array(column) for column in zip(*rows, strict=True))
    problems = [[[(i, s, t) for i, (s, t) in enumerate(zip(p, y, strict=True))]] for p in (a, b)]
    value, variance = reference.z(*problems, two_bins, len(y))
    found = paired_test(y, a, b, binning=2).statistic
    if variance > 1e-14:
        assert found == pytest.approx(value / np.sqrt(variance), rel=1e-6, abs=1e-9)


def test_several_problems_are_counted_row_by_row():
    """Top-label problems of three classes: a row leaves the problem of its own label in each forecast."""
    rng = np.random.default_rng(0)
    a, b = rng.dirichlet(np.ones(3), 40), rng.dirichlet(np.ones(3), 40)
    y = rng.integers(0, 3, 40)
    problems = []
    for prob in (a, b):
        top = prob.argmax(axis=1)
        problems.append([[(i, prob[i, j], int(y[i] == j)) for i in range(40) if top[i] == j] for j in range(3)])
    value, variance = reference.z(*problems, two_bins, 40)
    measure = paired.as_measure("debiased-ece", 2)
    top_label = replace(
        measure, entry=replace(measure.entry, spelling={**measure.entry.spelling, "notion": "top-label"})
    )
    found = paired._debiased(top_label, *(paired.as_problem(y, p) for p in (a, b)), "greater")
    assert found.statistic == pytest.approx(value / np.sqrt(variance), rel=1e-9)


def test_integer_weights_equal_repeated_rows():
    rng = np.random.default_rng(0)
    a, b, y, w = rng.random(30), rng.random(30), rng.integers(0, 2, 30), rng.integers(1, 4, 30)
    weighted = paired_test(y, a, b, binning=3, sample_weight=w).statistic
    repeated = paired_test(*(np.repeat(v, w) for v in (y, a, b)), binning=3).statistic
    assert weighted == pytest.approx(repeated, rel=1e-10)


# Laws


@pytest.mark.parametrize("metric", ["debiased-ece", "ece", "brier", "accuracy"])
def test_exchanging_the_forecasts_changes_the_sign(metric):
    rng = np.random.default_rng(0)
    a = rng.dirichlet(np.ones(3), 100)
    b, y = rng.dirichlet(np.ones(3), 100), a.argmax(axis=1)
    options = {"metric": metric, "n_resamples": 99}
    forth, back = paired_test(y, a, b, **options), paired_test(y, b, a, alternative="less", **options)
    assert forth.statistic == pytest.approx(-back.statistic, rel=1e-9)
    assert forth.pvalue == pytest.approx(back.pvalue, abs=0.1)


@pytest.mark.parametrize("metric", ["debiased-ece", "ece", "brier"])
def test_a_forecast_is_no_better_than_itself(metric):
    p = np.linspace(0.05, 0.95, 60)
    found = paired_test(p > 0.4, p, p, metric=metric, alternative="two-sided", n_resamples=99)
    assert found.statistic == 0.0
    assert found.pvalue == 1.0


def test_a_score_is_the_mean_difference_and_its_draws_change_signs():
    rng = np.random.default_rng(0)
    a, b, y = rng.random(12), rng.random(12), rng.integers(0, 2, 12)
    gain = ((y - b) ** 2 - (y - a) ** 2) / 12
    found = paired_test(y, a, b, metric="mean-brier", n_resamples=4000)
    assert found.statistic == pytest.approx(gain.sum(), rel=1e-12)
    signs = 1 - 2 * ((np.arange(2**12)[:, None] >> np.arange(12)) & 1)
    exact = np.mean(signs @ gain >= gain.sum() - 1e-12)
    assert abs(found.pvalue - exact) < 4 * np.sqrt(exact * (1 - exact) / 4000) + 1 / 4000


def test_a_score_by_name_and_by_function_see_the_same():
    rng = np.random.default_rng(0)
    a, b, y = rng.random(200), rng.random(200), rng.integers(0, 2, 200)
    name = paired_test(y, a, b, metric="brier", n_resamples=400)
    function = paired_test(y, a, b, metric=lambda t, p: brier_loss(t, p), n_resamples=400)
    assert function.statistic == pytest.approx(name.statistic, rel=1e-9)
    assert abs(function.pvalue - name.pvalue) < 4 * np.sqrt(2 * 0.25 / 400)


def test_swaps_move_whole_rows():
    rng = np.random.default_rng(0)
    a, b = rng.dirichlet(np.ones(3), 50), rng.dirichlet(np.ones(3), 50)
    one, other = (paired.as_problem(np.zeros(50, dtype=int), p) for p in (a, b))
    swap = rng.random(50) < 0.5
    np.testing.assert_array_equal(paired._mixed(one, other, swap).prob, np.where(swap[:, None], b, a))


def test_blocks_of_draws_are_as_many_draws(monkeypatch):
    monkeypatch.setattr(paired, "BLOCK", 100)
    rng = np.random.default_rng(0)
    found = paired_test(rng.integers(0, 2, 30), rng.random(30), rng.random(30), metric="brier", n_resamples=50)
    assert found.null.values.shape == (50,)


# Size and power


def calibrated_pair(rng, n):
    """Two calibrated forecasts, the second sharper: of the mean and of the value of a uniform rate in one of four strata."""
    stratum, within = rng.integers(0, 4, n), rng.random(n)
    return (stratum + 0.5) / 4, (stratum + within) / 4


def test_a_sharper_forecast_is_no_less_calibrated():
    """Both are calibrated: at most the level, and three standard errors."""
    rng, runs = np.random.default_rng(0), 300
    pvalue = []
    for _ in range(runs):
        a, b = calibrated_pair(rng, 500)
        y = rng.random(500) < b
        pvalue.append([paired_test(y, *pair).pvalue for pair in ((a, b), (b, a))])
    assert (np.mean(np.array(pvalue) <= 0.05, axis=0) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / runs)).all()


def test_errors_of_one_size_and_either_sign_are_as_large():
    rng, runs = np.random.default_rng(0), 300
    pvalue = []
    for _ in range(runs):
        p = rng.uniform(0.2, 0.4, 800) + 0.4 * rng.integers(0, 2, 800)
        y = rng.random(800) < p
        shift = 0.1 * np.sign(p - 0.5)
        pvalue.append(paired_test(y, p + shift, p - shift, binning=EqualWidth(4)).pvalue)
    for level in (0.05, 0.5):
        assert abs(np.mean(np.array(pvalue) <= level) - level) < 4 * np.sqrt(level * (1 - level) / runs)


@pytest.mark.parametrize("metric", ["debiased-ece", "ece", "nll"])
def test_an_over_confident_forecast_is_found_worse(metric):
    rng = np.random.default_rng(0)
    z = rng.normal(0, 2, 2000)
    y = rng.random(2000) < sigmoid(z)
    options = {"metric": metric, "n_resamples": 199}
    assert paired_test(y, sigmoid(z), sigmoid(2 * z), **options).pvalue < 0.01
    assert paired_test(y, sigmoid(2 * z), sigmoid(z), **options).pvalue > 0.9


@pytest.mark.parametrize("metric", ["ece", "brier"])
def test_swaps_have_the_level_where_swapping_changes_nothing(metric):
    rng, runs = np.random.default_rng(0), 300
    rejected = []
    for _ in range(runs):
        z, noise = rng.normal(0, 1.5, 100), rng.normal(0, 0.5, (2, 100))
        y = rng.random(100) < sigmoid(z)
        options = {"metric": metric, "n_resamples": 19, "rng": rng}
        rejected.append(paired_test(y, sigmoid(z + noise[0]), sigmoid(z + noise[1]), **options).pvalue <= 0.05)
    assert abs(np.mean(rejected) - 0.05) < 4 * np.sqrt(0.05 * 0.95 / runs)


# What is refused


def test_forecasts_of_different_shapes_are_refused():
    with pytest.raises(ValueError, match=r"prob_a and prob_b must have one shape; got \(2, 2\) and \(2, 3\)"):
        paired_test([0, 1], np.full((2, 2), 1 / 2), np.full((2, 3), 1 / 3))


def test_unknown_sides_are_refused():
    with pytest.raises(ValueError, match="alternative must be one of 'greater', 'less', 'two-sided'; got 'better'"):
        paired_test([0, 1], [0.2, 0.7], [0.3, 0.8], alternative="better")


def test_a_metric_that_is_no_number_is_refused():
    with pytest.raises(ValueError, match="metric must be a number on both forecasts"):
        paired_test([0, 1], [0.2, 0.7], [0.3, 0.8], metric=lambda y, p: float("nan"), n_resamples=2)


def test_a_function_of_the_registry_is_found_there():
    found = paired_test([0, 1], [0.2, 0.7], [0.3, 0.8], metric=expected_calibration_error, n_resamples=5)
    assert found.name == "paired ece"


def test_of_a_perfect_and_a_wrong_forecast_there_is_no_doubt():
    y = np.array([0, 1] * 50)
    found = paired_test(y, y.astype(float), 1.0 - y)
    assert found.statistic == np.inf
    assert found.pvalue == 0.0


def test_a_metric_with_an_ideal_is_better_nearer_to_it():
    rng = np.random.default_rng(0)
    p = rng.random(1000)
    y = rng.random(1000) < p
    assert paired_test(y, p, p**0.5, metric="observed-expected-ratio", n_resamples=99).pvalue == 0.01
    assert paired_test(y, p**0.5, p, metric="observed-expected-ratio", n_resamples=99).pvalue > 0.9
