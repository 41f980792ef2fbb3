"""Pearson's test on distinct forecasts against its definition."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from reference import goodness
from strategies import tables

from calibrant.exceptions import CalibrationWarning
from calibrant.significance import pearson_test


def quiet(*args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CalibrationWarning)
        return pearson_test(*args, n_resamples=None, **options)


@given(rows=tables())
def test_the_statistic_of_a_table_is_its_definition(rows):
    label, prob, weight = rows
    statistic, df = goodness.pearson(goodness.repeated(label, prob, weight))
    found = quiet(label, prob, sample_weight=weight)
    assert found.statistic == pytest.approx(statistic, rel=1e-9, abs=1e-12)
    assert found.df == df


def test_fitted_parameters_take_degrees_of_freedom():
    y, p = [0, 1] * 100, [0.4] * 100 + [0.6] * 100
    assert pearson_test(y, p, n_parameters=1).df == 1
    assert "1 parameters" in pearson_test(y, p, n_parameters=1).assumptions[0]


def test_few_rows_a_forecast_are_warned_of():
    p = np.linspace(0.1, 0.9, 40)
    with pytest.warns(CalibrationWarning, match=r"expected counts of 5 or more; 100% of 80 are smaller"):
        pearson_test(p > 0.5, p, n_resamples=None)


def test_drawn_labels_need_no_many_rows_a_forecast():
    """Four standard errors of 400 runs with 99 draws each."""
    rng, runs = np.random.default_rng(0), 400
    p = rng.random(30) ** 2
    rejected = [pearson_test(rng.random(30) < p, p, n_resamples=99, rng=rng).pvalue <= 0.05 for _ in range(runs)]
    assert abs(np.mean(rejected) - 0.05) < 4 * np.sqrt(0.05 * 0.95 / runs)


def test_an_impossible_class_refutes_the_forecast():
    assert pearson_test([0, 1] * 20, [0.0] * 40, n_resamples=None).pvalue == 0.0
    with_draws = pearson_test([0, 1] * 20, [0.0] * 40, n_resamples=99)
    assert with_draws.statistic == np.inf
    assert with_draws.pvalue == 0.0  # no label set that the forecast draws holds an impossible event


def test_certain_forecasts_that_come_true_leave_nothing_to_test():
    with pytest.warns(CalibrationWarning, match="degree of freedom"):
        assert pearson_test([0, 1] * 20, [0.0, 1.0] * 20, n_resamples=None).pvalue == 1.0


def test_what_is_assumed_of_a_fitted_forecast_is_what_is_assumed_of_others_but_for_the_first():
    rows = [0, 0, 0, 1] * 20 + [1, 1, 0, 1] * 20, [0.25] * 80 + [0.5] * 80
    outside, fitted = (pearson_test(*rows, n_parameters=n, n_resamples=None).assumptions for n in (0, 1))
    assert fitted[0].startswith("1 parameters of the forecast were fitted")
    assert fitted[1:] == outside[1:]
