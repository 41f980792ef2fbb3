"""Hosmer and Lemeshow's test against its definition, the survey's Table 8 and the law it should have."""

import warnings
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import goodness
from scipy import stats
from strategies import columns, tables

from calibrant import hosmer_lemeshow_test
from calibrant._core.rows import Weights
from calibrant.datasets import load_survey_table_3
from calibrant.exceptions import CalibrationWarning
from calibrant.significance.of_forecast import enough_expected, quantiles, warn_if_sparse

bins = st.integers(2, 6)
law = partial(hosmer_lemeshow_test, n_resamples=None)  # of held-out rows, in formulas
few_rows = pytest.mark.filterwarnings("ignore:the chi-squared law needs expected counts")


# The survey's example


@few_rows
def test_the_table_of_groups_is_a_frame():
    table = hosmer_lemeshow_test(*load_survey_table_3(), labels=[1, 2, 3], n_bins=5, fitted=True).table("pandas")
    assert list(table.columns) == [
        "left", "right", "observed 1", "expected 1", "observed 2", "expected 2", "observed 3", "expected 3"
    ]  # fmt: skip
    assert len(table) == 5


# Its definition


@few_rows
@given(rows=columns(), n_bins=bins)
def test_the_statistic_of_one_column_is_its_definition(rows, n_bins):
    label, prob, weight = rows
    twin = goodness.repeated(label, np.column_stack([1 - prob, prob]), weight)
    statistic, sizes = goodness.hosmer_lemeshow(twin, lambda p: p[1], n_bins)
    found = law(label, prob, n_bins=n_bins, sample_weight=weight)
    assert found.statistic == pytest.approx(statistic, rel=1e-9, abs=1e-12)
    assert found.observed.sum(axis=1).tolist() == sizes
    assert found.df == len(sizes)


@few_rows
@given(rows=tables(), n_bins=bins, reference=st.integers(0, 1))
def test_the_statistic_of_a_table_is_its_definition(rows, n_bins, reference):
    label, prob, weight = rows
    twin = goodness.repeated(label, prob, weight)
    others = (lambda p: p[1 - reference]) if prob.shape[1] == 2 else (lambda p: 1 - p[reference])
    statistic, sizes = goodness.hosmer_lemeshow(twin, others, n_bins)
    found = law(label, prob, n_bins=n_bins, reference=reference, sample_weight=weight)
    assert found.statistic == pytest.approx(statistic, rel=1e-9, abs=1e-12)
    assert found.observed.sum(axis=1).tolist() == sizes
    assert found.df == len(sizes) * (prob.shape[1] - 1)


@given(rows=columns(), shares=st.lists(st.floats(0, 1), min_size=1, max_size=5))
def test_quantiles_of_whole_weights_are_those_of_repeated_values(rows, shares):
    _, values, weight = rows
    found = quantiles(values, Weights(weight), np.array(shares))
    np.testing.assert_allclose(found, np.quantile(np.repeat(values, weight.astype(int)), shares), rtol=1e-9, atol=1e-12)


@given(rows=columns(weights=st.floats(0.01, 3)), shares=st.lists(st.floats(0, 1), min_size=1, max_size=5))
def test_quantiles_of_any_weights_lie_among_the_values_and_rise(rows, shares):
    _, values, weight = rows
    found = quantiles(values, Weights(weight), np.sort(shares))
    assert (found >= values.min()).all()
    assert (found <= values.max()).all()
    assert (np.diff(found) >= -1e-12).all()


# Degrees of freedom


def test_degrees_of_freedom_follow_from_where_the_model_was_fitted():
    rng = np.random.default_rng(0)
    p = rng.random(300)
    y = rng.random(300) < p
    assert hosmer_lemeshow_test(y, p, fitted=True).df == 8
    assert law(y, p).df == 10
    assert hosmer_lemeshow_test(y, p).df is None  # labels are drawn
    prob = rng.dirichlet(np.ones(4), 300)
    label = rng.integers(0, 4, 300)
    assert hosmer_lemeshow_test(label, prob, n_bins=5, fitted=True).df == 9
    assert law(label, prob, n_bins=5).df == 15


@few_rows
def test_what_was_assumed_is_said():
    p = np.linspace(0.1, 0.9, 50)
    y = p > 0.5
    fitted, outside = hosmer_lemeshow_test(y, p, fitted=True), law(y, p)
    assert "fitted on these rows" in fitted.assumptions[0]
    assert outside.assumptions[0] == "The forecast was made without these labels."
    assert "20 of 20 are below 5, the smallest is 0.663" in outside.assumptions[-1]


# Edges of the law


def test_small_expected_counts_are_warned_of():
    p = np.linspace(0.1, 0.9, 50)
    many = "expected counts of 5 or more; 100% of 20 are smaller"
    with pytest.warns(
        CalibrationWarning, match=rf"{many}\. Draw labels, n_resamples=1000, or take fewer groups, n_bins\."
    ):
        law(p > 0.5, p)
    with pytest.warns(CalibrationWarning, match=rf"{many}\. Take fewer groups, n_bins\."):
        hosmer_lemeshow_test(p > 0.5, p, fitted=True)
    law(p > 0.5, p, n_bins=2)
    many_rows = np.linspace(0.1, 0.9, 200)
    hosmer_lemeshow_test(many_rows > 0.5, many_rows, fitted=True, n_bins=3)
    hosmer_lemeshow_test(p > 0.5, p, n_resamples=1000)


@few_rows
@pytest.mark.parametrize("test", [hosmer_lemeshow_test, law], ids=["draws", "law"])
def test_an_impossible_event_refutes_the_forecast(test):
    found = test([0, 1, 0, 1], [0.0, 0.0, 0.6, 0.7], n_bins=2)
    assert found.statistic == np.inf
    assert found.pvalue == 0.0


@few_rows
def test_of_nothing_expected_nothing_came_counts_for_nothing():
    found = hosmer_lemeshow_test([0, 0, 1, 1], [0.0, 0.0, 1.0, 1.0], n_bins=2)
    assert found.statistic == 0.0
    assert found.pvalue == 1.0


@few_rows
def test_without_a_degree_of_freedom_the_pvalue_is_one_and_a_warning_says_so():
    with pytest.warns(CalibrationWarning, match="must have a degree of freedom"):
        found = hosmer_lemeshow_test([0, 1, 1], [0.4, 0.4, 0.4], fitted=True)
    assert found.pvalue == 1.0


REFUSED = [
    ({"n_bins": 1}, ValueError, "n_bins must be a whole number, at least 2; got 1"),
    ({"fitted": True, "n_resamples": -5}, ValueError, "n_resamples must be a whole number, at least 1; got -5"),
    ({"reference": 7}, ValueError, r"reference must be one of the classes \[0, 1\]; got 7"),
]


@pytest.mark.parametrize(("options", "error", "message"), REFUSED)
def test_options_that_make_no_sense_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        hosmer_lemeshow_test([0, 1], [0.2, 0.7], **options)


# The law


@pytest.mark.first(1)
@pytest.mark.parametrize(("mean", "spread"), [(0.0, 1.5), (-4.2, 0.8)], ids=["usual", "rare"])
def test_the_default_has_its_size_on_50_held_out_rows_and_rare_events(mean, spread):
    """Four standard errors on both sides; the law for fitted models rejects 10 % of the first and 22 % of the second."""
    rng, runs = np.random.default_rng(3), 600
    pvalue = []
    for _ in range(runs):
        p = 1 / (1 + np.exp(-rng.normal(mean, spread, 50)))
        pvalue.append(hosmer_lemeshow_test(rng.random(50) < p, p, n_resamples=99, rng=rng).pvalue)
    for level in (0.05, 0.2):
        assert abs(np.mean(np.array(pvalue) <= level) - level) < 4 * np.sqrt(level * (1 - level) / runs)


def test_drawn_labels_agree_with_the_law_of_many_rows():
    """Where forecasts do not vary within a group, which would leave less variance than the law has."""
    rng = np.random.default_rng(1)
    prob = np.repeat(rng.dirichlet(np.full(3, 3.0), 5), 400, axis=0)
    label = (rng.random((2000, 1)) > prob.cumsum(axis=1)).sum(axis=1)
    known = law(label, prob, n_bins=5)
    drawn = hosmer_lemeshow_test(label, prob, n_bins=5, n_resamples=2000)
    assert abs(known.pvalue - drawn.pvalue) < 4 * np.sqrt(0.25 / 2000)
    assert stats.kstest(drawn.null.values, lambda x: 1 - known.null.sf(x)).pvalue > 1e-4


# Weights


# Groups of rows for a chi-squared test


def test_where_nothing_is_expected_no_count_is_too_small():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_if_sparse(np.zeros(3), "take fewer groups")
    assert enough_expected(np.zeros(3)).endswith("nothing is expected anywhere.")


def test_more_than_a_fifth_of_small_counts_is_warned_of():
    with pytest.warns(CalibrationWarning, match="40% of 5 are smaller"):
        warn_if_sparse(np.array([0.0, 1.0, 4.0, 5.0, 6.0, 7.0]), "take fewer groups")


def test_a_fifth_of_small_counts_is_not():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_if_sparse(np.array([0.0, 4.0, 5.0, 5.0, 6.0, 7.0]), "take fewer groups")
