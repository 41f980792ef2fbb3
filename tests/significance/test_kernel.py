"""The kernel test: its size, its power, and what its p-value is made of."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import columns, tables

from calibrant.exceptions import CalibrationWarning
from calibrant.metrics import kernel as pairs_module
from calibrant.metrics import kernel_calibration_error
from calibrant.registry import entries
from calibrant.significance import kernel_test


def drawn(rng, prob):
    return (rng.random((len(prob), 1)) > prob.cumsum(axis=1)[:, :-1]).sum(axis=1)


def rejections(runs, n, k, power=1.0, concentration=0.7, **options):
    """Share of rejections at 5 %, of labels drawn with the probabilities raised to a power."""
    rng = np.random.default_rng(0)
    rejected = 0
    for run in range(runs):
        prob = rng.dirichlet(np.full(k, concentration), n)
        truth = prob**power / (prob**power).sum(axis=1, keepdims=True)
        rejected += kernel_test(drawn(rng, truth), prob, rng=run, **options).pvalue <= 0.05
    return rejected / runs


def standard_error(share, runs):
    return np.sqrt(share * (1 - share) / runs)


# Size and power


@pytest.mark.first(1)
@pytest.mark.parametrize("k", [2, 3, 10])
@pytest.mark.parametrize("notion", [None, "confidence", "class-wise"])
def test_with_labels_from_the_forecast_the_size_is_exact(k, notion):
    found = rejections(300, 30, k, notion=notion, n_resamples=99)
    assert abs(found - 0.05) < 4 * standard_error(0.05, 300)


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
    prob = np.array([[0.5, 0.3, 0.2], [0.2, 0.2, 0.6], [0.1, 0.8, 0.1]])
    label = np.array([0, 2, 1])
    errors, chances = [], []
    for a in range(3):
        for b in range(3):
            for c in range(3):
                errors.append(kernel_calibration_error([a, b, c], prob, labels=range(3)))
                chances.append(prob[0, a] * prob[1, b] * prob[2, c])
    errors, chances = np.array(errors), np.array(chances)
    runs = 20_000
    found = kernel_test(label, prob, n_resamples=runs, labels=range(3))
    for value in np.unique(errors.round(9)):
        expected = chances[np.isclose(errors, value, atol=1e-9)].sum()
        share = np.isclose(found.null.values, value, atol=1e-9).mean()
        assert abs(share - expected) < 5 * standard_error(expected, runs)


def test_draws_look_at_some_labels_at_a_time(monkeypatch):
    rng = np.random.default_rng(0)
    prob = rng.dirichlet(np.ones(3), 60)
    label = drawn(rng, prob)
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


def test_a_perfect_forecast_is_not_rejected():
    found = kernel_test([0, 1, 2, 0], np.eye(3)[[0, 1, 2, 0]], n_resamples=19)
    assert (found.statistic, found.pvalue) == (0.0, 1.0)


def test_a_forecast_that_was_sure_and_wrong_has_the_smallest_pvalue():
    assert kernel_test([1, 1, 1], [[1.0, 0.0, 0.0]] * 3, n_resamples=19).pvalue == 0.05


@pytest.mark.parametrize("notion", sorted(entries("notion").keys() - {"binary"}))
def test_counts_are_the_rows_that_they_stand_for_with_every_notion(notion):
    rng = np.random.default_rng(3)
    prob, weight = rng.dirichlet(np.ones(3), 60), rng.integers(1, 4, 60)
    label = drawn(rng, prob)
    counts = kernel_test(label, prob, notion=notion, sample_weight=weight, n_resamples=999, rng=0)
    rows = kernel_test(np.repeat(label, weight), np.repeat(prob, weight, axis=0), notion=notion, n_resamples=999, rng=0)
    assert counts.statistic == pytest.approx(rows.statistic, rel=1e-9)
    assert abs(counts.pvalue - rows.pvalue) < 0.09  # four standard errors of the difference at a half
