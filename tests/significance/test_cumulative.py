"""Kolmogorov and Smirnov's test and Kuiper's on cumulative residuals."""

import numpy as np
import pytest
from hypothesis import given
from strategies import tables

from calibrant import predictions
from calibrant.exceptions import CalibrationWarning
from calibrant.metrics import kolmogorov_smirnov_error, kuiper_error
from calibrant.significance import kolmogorov_smirnov_test, kuiper_test, of_forecast

TESTS = {"ks": (kolmogorov_smirnov_test, kolmogorov_smirnov_error), "kuiper": (kuiper_test, kuiper_error)}
BOTH = pytest.mark.parametrize(("test", "error"), TESTS.values(), ids=list(TESTS))
EACH = pytest.mark.parametrize("test", [kolmogorov_smirnov_test, kuiper_test], ids=list(TESTS))


@BOTH
@given(rows=tables())
def test_the_statistic_is_the_metric_over_its_deviation(test, error, rows):
    label, prob, _ = rows
    top = prob.max(axis=1)
    deviation = np.sqrt(np.sum(top * (1 - top))) / len(top)
    if deviation > 0:
        expected = error(label, prob, notion="confidence") / deviation
        assert test(label, prob, notion="confidence").statistic == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_weights_that_are_no_counts_count_squared_in_the_variance():
    rng = np.random.default_rng(0)
    p, weight = rng.random(50), rng.random(50)
    y = rng.random(50) < p
    expected = kolmogorov_smirnov_error(y, p, sample_weight=weight) * weight.sum() / np.sqrt(weight**2 @ (p * (1 - p)))
    assert kolmogorov_smirnov_test(y, p, sample_weight=weight).statistic == pytest.approx(expected, rel=1e-12)


@EACH
def test_the_size_is_that_of_the_law_of_many_rows(test):
    """Steps of 5000 rows miss the path's extremes by 0.58 / sqrt(5000) on each side, which takes 0.002 off."""
    rng, runs = np.random.default_rng(1), 800
    p = rng.random(5000)
    pvalue = np.array([test(rng.random(5000) < p, p).pvalue for _ in range(runs)])
    for level in (0.05, 0.5):
        assert abs(np.mean(pvalue <= level) - level) < 4 * np.sqrt(level * (1 - level) / runs) + 0.02 * level


@EACH
def test_with_drawn_labels_the_size_holds_for_few_rows(test):
    rng, runs = np.random.default_rng(2), 800
    p = rng.random(12)
    rejected = [test(rng.random(12) < p, p, n_resamples=99, rng=rng).pvalue <= 0.05 for _ in range(runs)]
    assert abs(np.mean(rejected) - 0.05) < 4 * np.sqrt(0.05 * 0.95 / runs)


@EACH
def test_blocks_of_draws_change_nothing(test, monkeypatch):
    rng = np.random.default_rng(4)
    p = rng.random(40)
    y = rng.random(40) < p
    whole = test(y, p, n_resamples=50).null.values
    monkeypatch.setattr(of_forecast, "BLOCK", 100)
    np.testing.assert_array_equal(test(y, p, n_resamples=50).null.values, whole)


@EACH
@pytest.mark.parametrize(
    ("y", "statistic", "pvalue", "drawn"), [([0, 1], 0.0, 1.0, 1.0), ([1, 1], np.inf, 0.0, 0.1)], ids=["right", "wrong"]
)
def test_without_variance_a_warning_says_what_the_statistic_is(test, y, statistic, pvalue, drawn):
    with pytest.warns(CalibrationWarning, match="must have some variance"):
        found = test(y, [0.0, 1.0])
    assert (found.statistic, found.pvalue) == (statistic, pvalue)
    with pytest.warns(CalibrationWarning, match="must have some variance"):
        assert test(y, [0.0, 1.0], n_resamples=9).pvalue == drawn


@EACH
def test_of_rows_in_batches_statistic_and_pvalue_have_limits_that_hold_those_of_the_rows(test, monkeypatch):
    monkeypatch.setattr("calibrant.interop.arrow_batches.FEW", 10)
    rng = np.random.default_rng(6)
    p = rng.random(3000)
    y = rng.random(3000) < p
    found, rows = test(predictions([(y, p)])), test(y, p)
    assert found.statistic.lower <= rows.statistic <= found.statistic.upper
    assert found.pvalue.lower <= rows.pvalue <= found.pvalue.upper
    assert 0.0 < found.statistic.error < 0.1
    assert "; statistic of rows in batches, exact to within 0.0" in repr(found)
    assert (
        f"is from {found.statistic.lower:.4g} to {found.statistic.upper:.4g}, of which the p-values"
        in found.assumptions[-1]
    )
    drawn = test(predictions([(y, p)]), n_resamples=400)
    assert drawn.pvalue == pytest.approx(rows.pvalue, abs=4 * np.sqrt(rows.pvalue * (1 - rows.pvalue) / 400) + 0.03)
    assert drawn.statistic.error == found.statistic.error
