"""Tests by formula, each against its definition and the law it should have: Hosmer and Lemeshow, Spiegelhalter, sums, Cox."""

import warnings
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import goodness
from reference import logistic as reference
from scipy import stats
from strategies import columns, one_event, tables, uniform_rows

from calibrant import calibration_intercept, calibration_slope, hosmer_lemeshow_test, predictions, spiegelhalter_test
from calibrant._core.rows import Weights
from calibrant.exceptions import CalibrationWarning
from calibrant.metrics import calibration_in_the_large, kolmogorov_smirnov_error, kuiper_error
from calibrant.significance import cox_test, kolmogorov_smirnov_test, kuiper_test, of_forecast
from calibrant.significance.of_forecast import enough_expected, quantiles, warn_if_sparse

law = partial(hosmer_lemeshow_test, n_resamples=None)  # of held-out rows, in formulas
few_rows = pytest.mark.filterwarnings("ignore:the chi-squared law needs expected counts")


# The survey's example


@few_rows
@given(rows=st.one_of(columns(), tables()), n_bins=st.integers(2, 6), reference=st.integers(0, 1))
def test_the_statistic_is_its_definition(rows, n_bins, reference):
    label, prob, weight = rows
    table = prob if prob.ndim == 2 else np.column_stack([1 - prob, prob])
    options = {"reference": reference} if prob.ndim == 2 else {}
    others = (lambda p: p[1 - options.get("reference", 0)]) if table.shape[1] == 2 else (lambda p: 1 - p[reference])
    statistic, sizes = goodness.hosmer_lemeshow(goodness.repeated(label, table, weight), others, n_bins)
    found = law(label, prob, n_bins=n_bins, sample_weight=weight, **options)
    assert found.statistic == pytest.approx(statistic, rel=1e-9, abs=1e-12)
    assert found.observed.sum(axis=1).tolist() == sizes
    frame = found.table("polars").to_numpy()
    np.testing.assert_array_equal(frame[:, :2], np.column_stack([found.edges[:-1], found.edges[1:]]))
    np.testing.assert_array_equal(frame[:, 2::2], found.observed)
    np.testing.assert_array_equal(frame[:, 3::2], found.expected)
    assert found.df == len(sizes) * (table.shape[1] - 1)


@given(rows=columns(), shares=st.lists(st.floats(0, 1), min_size=1, max_size=5))
def test_quantiles_of_whole_weights_are_those_of_repeated_values(rows, shares):
    _, values, weight = rows
    found = quantiles(values, Weights(weight), np.array(shares))
    np.testing.assert_allclose(found, np.quantile(np.repeat(values, weight.astype(int)), shares), rtol=1e-9, atol=1e-12)


@given(rows=columns(weights=st.floats(0.01, 3)), shares=st.lists(st.floats(0, 1), min_size=1, max_size=5))
def test_quantiles_of_any_weights_lie_among_the_values_and_rise(rows, shares):
    _, values, weight = rows
    found = quantiles(values, Weights(weight), np.sort(shares))
    assert ((values.min() <= found) & (found <= values.max())).all()
    assert (np.diff(found) >= -1e-12).all()
    assert quantiles(np.arange(10.0), Weights(np.full(10, 0.3)), np.arange(3.0), 3).tolist() == [0.0, 3.0, 6.0]


# Degrees of freedom


def test_degrees_of_freedom_follow_from_where_the_model_was_fitted():
    rng, (y, p) = np.random.default_rng(0), uniform_rows(300)
    assert hosmer_lemeshow_test(y, p, fitted=True).df == 8
    assert hosmer_lemeshow_test(y, p).df is None  # labels are drawn
    prob = rng.dirichlet(np.ones(4), 300)
    label = rng.integers(0, 4, 300)
    assert hosmer_lemeshow_test(label, prob, n_bins=5, fitted=True).df == 9


# Edges of the law


def test_small_expected_counts_are_warned_of():
    p = np.linspace(0.1, 0.9, 50)
    cures = {law: "Draw labels, n_resamples=1000, or take", partial(hosmer_lemeshow_test, fitted=True): "Take"}
    for test, cure in cures.items():
        with pytest.warns(CalibrationWarning, match=rf"100% of 20 are smaller\. {cure} fewer groups, n_bins\."):
            test(p > 0.5, p)
    law(p > 0.5, p, n_bins=2)  # filterwarnings: error
    hosmer_lemeshow_test(p > 0.5, p, n_resamples=1000)


@few_rows
@pytest.mark.parametrize("test", [hosmer_lemeshow_test, law], ids=["draws", "law"])
def test_an_impossible_event_refutes_the_forecast_and_nothing_expected_and_none_come_counts_for_nothing(test):
    found = test([0, 1, 0, 1], [0.0, 0.0, 0.6, 0.7], n_bins=2)
    assert (found.statistic, found.pvalue) == (np.inf, 0.0)
    found = test([0, 0, 1, 1], [0.0, 0.0, 1.0, 1.0], n_bins=2)
    assert (found.statistic, found.pvalue) == (0.0, 1.0)


@few_rows
def test_without_a_degree_of_freedom_the_pvalue_is_one_and_a_warning_says_so():
    with pytest.warns(CalibrationWarning, match="must have a degree of freedom"):
        assert hosmer_lemeshow_test([0, 1, 1], [0.4, 0.4, 0.4], fitted=True).pvalue == 1.0


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


def test_more_than_a_fifth_of_small_counts_is_warned_of_and_where_nothing_is_expected_none_is_small():
    with pytest.warns(CalibrationWarning, match="40% of 5 are smaller"):
        warn_if_sparse(np.array([0.0, 1.0, 4.0, 5.0, 6.0, 7.0]), "take fewer groups")
    for quiet in ([0.0, 4.0, 5.0, 5.0, 6.0, 7.0], [0.0] * 3):  # filterwarnings: error
        warn_if_sparse(np.array(quiet), "take fewer groups")
    assert enough_expected(np.zeros(3)).endswith("nothing is expected anywhere.")


SPOKEN = {
    "confidence": lambda p: [max(range(len(p)), key=lambda j: (p[j], -j))],
    "top-label": lambda p: [max(range(len(p)), key=lambda j: (p[j], -j))],
    "class-wise": lambda p: range(len(p)),
}


def quiet(*args, **options):
    with warnings.catch_warnings(action="ignore", category=CalibrationWarning):
        return spiegelhalter_test(*args, **options)


def agrees(found, excess, variance):
    if variance > 1e-18:
        assert found == pytest.approx(excess / np.sqrt(variance), rel=1e-6, abs=1e-6)
    elif abs(excess) > 0.01:  # something all but impossible occurred
        assert abs(found) > 1e6


@pytest.mark.parametrize("notion", ["confidence", "top-label", "class-wise"])
@given(rows=tables())
def test_z_of_a_table_is_its_definition(notion, rows):
    label, prob, weight = rows
    excess, variance = goodness.spiegelhalter(label, prob, weight, SPOKEN[notion])
    agrees(quiet(label, prob, notion=notion, sample_weight=weight).statistic, excess, variance)


FIGURES = {"cifar100_densenet_bc": 79.2995, "cifar100_lenet5": -4.2774, "cifar10_lenet5": 20.1486}


@pytest.mark.parametrize("name", FIGURES)
def test_figures_of_real_forecasts(data_dir, name):
    with np.load(data_dir / f"{name}.npz") as data:
        found = spiegelhalter_test(data["y"], data["P"].astype(float))
    assert round(found.statistic, 4) == FIGURES[name]


def test_positive_is_over_confident_and_negative_is_under_confident():
    rng = np.random.default_rng(0)
    z = rng.normal(0, 2, 3000)
    y = rng.random(3000) < 1 / (1 + np.exp(-z))
    assert spiegelhalter_test(y, 1 / (1 + np.exp(-2 * z))).statistic > 4
    assert spiegelhalter_test(y, 1 / (1 + np.exp(-z / 2))).statistic < -4


@pytest.mark.parametrize("notion", ["confidence", "top-label", "class-wise"])
def test_blocks_of_rows_change_nothing(notion, monkeypatch):
    rng = np.random.default_rng(0)
    prob, label = rng.dirichlet(np.ones(3), 50), rng.integers(0, 3, 50)
    whole = spiegelhalter_test(label, prob, notion=notion).statistic
    monkeypatch.setattr(of_forecast, "in_blocks", lambda of: (of.at(slice(k, k + 7)) for k in range(0, of.size, 7)))
    assert spiegelhalter_test(label, prob, notion=notion).statistic == pytest.approx(whole, rel=1e-12)


@pytest.mark.parametrize(
    ("y", "p", "z", "pvalue"),
    [
        ([0, 1, 1, 0], [0.5] * 4, 0.0, 1.0),
        ([0, 1], [0.0, 1.0], 0.0, 1.0),
        ([1, 1], [0.0, 1.0], np.inf, 0.0),
        ([0, 1, 2], np.full((3, 7), 1 / 7), 0.0, 1.0),
    ],
    ids=["all at one half", "certain and right", "certain and wrong", "even over seven classes"],
)
def test_without_variance_a_warning_says_what_z_is(y, p, z, pvalue):
    with pytest.warns(CalibrationWarning, match="must have some variance"):
        found = spiegelhalter_test(y, p, notion="class-wise" if np.ndim(p) == 2 else "binary")
    assert (found.statistic, found.pvalue) == (z, pvalue)


ERRORS = {kolmogorov_smirnov_test: kolmogorov_smirnov_error, kuiper_test: kuiper_error}
EACH = pytest.mark.parametrize("test", ERRORS, ids=["ks", "kuiper"])


@EACH
@given(rows=tables())
def test_the_statistic_is_the_metric_over_its_deviation(test, rows):
    label, prob, _ = rows
    top = prob.max(axis=1)
    deviation = np.sqrt(np.sum(top * (1 - top))) / len(top)
    if deviation > 0:
        expected = ERRORS[test](label, prob, notion="confidence") / deviation
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
def test_blocks_of_draws_change_nothing(test, monkeypatch):
    y, p = uniform_rows(40, seed=4)
    whole = test(y, p, n_resamples=50).null.values
    monkeypatch.setattr(of_forecast, "BLOCK", 100)
    np.testing.assert_array_equal(test(y, p, n_resamples=50).null.values, whole)


@EACH
@pytest.mark.parametrize(("y", "statistic", "law", "drawn"), [([0, 1], 0.0, 1.0, 1.0), ([1, 1], np.inf, 0.0, 0.1)])
def test_without_variance_a_warning_says_what_the_statistic_is(test, y, statistic, law, drawn):
    for options, pvalue in (({}, law), ({"n_resamples": 9}, drawn)):
        with pytest.warns(CalibrationWarning, match="must have some variance"):
            found = test(y, [0.0, 1.0], **options)
        assert (found.statistic, found.pvalue) == (statistic, pvalue)


@EACH
def test_of_rows_in_batches_statistic_and_pvalue_have_limits_that_hold_those_of_the_rows(test, monkeypatch):
    monkeypatch.setattr("calibrant.interop.arrow_batches.FEW", 10)
    y, p = uniform_rows(3000, seed=6)
    found, rows = test(predictions([(y, p)])), test(y, p)
    lower, upper = found.statistic.lower, found.statistic.upper
    assert lower <= rows.statistic <= upper
    assert found.pvalue.lower <= rows.pvalue <= found.pvalue.upper
    assert 0.0 < found.statistic.error < 0.1
    assert "; statistic of rows in batches, exact to within 0.0" in repr(found)
    assert f"is from {lower:.4g} to {upper:.4g}, of which the p-values" in found.assumptions[-1]
    drawn = test(predictions([(y, p)]), n_resamples=400)
    assert drawn.pvalue == pytest.approx(rows.pvalue, abs=4 * np.sqrt(rows.pvalue * (1 - rows.pvalue) / 400) + 0.03)
    assert drawn.statistic.error == found.statistic.error


PARAMETERS = ("both", "intercept", "slope")


def sample(n, a=0.0, b=1.0, rng=0):
    return one_event(rng, n, true=lambda z: a + b * z)


# The definition


def test_the_statistics_are_twice_the_gains_in_log_likelihood():
    label, prob = sample(150, 0.3, 0.7)
    weight = np.random.default_rng(1).integers(1, 4, 150)
    z = [reference.log_odds(p) for p in prob]
    metrics = (calibration_intercept, calibration_slope, calibration_in_the_large)
    a, b, shift = (metric(label, prob, sample_weight=weight) for metric in metrics)
    lines = ((0.0, 1.0), (shift, 1.0), (a, b))
    as_it_is, shifted, best = (reference.log_likelihood(z, label, weight, *line) for line in lines)
    expected = {"both": (best - as_it_is, 2), "intercept": (shifted - as_it_is, 1), "slope": (best - shifted, 1)}
    for parameters, (gain, df) in expected.items():
        found = cox_test(label, prob, sample_weight=weight, parameters=parameters)
        assert found.statistic == pytest.approx(2 * gain, rel=1e-8)
        assert found.df == df
        assert found.pvalue == pytest.approx(stats.chi2.sf(2 * gain, df), rel=1e-7)


@pytest.mark.filterwarnings("ignore:.*depends on probabilities of 0 and 1:UserWarning")
@given(rows=columns())
def test_the_parts_add_up_to_the_whole(rows):
    label, prob, weight = rows
    both, intercept, slope = (cox_test(label, prob, sample_weight=weight, parameters=p) for p in PARAMETERS)
    assert both.statistic == pytest.approx(intercept.statistic + slope.statistic, rel=1e-6, abs=1e-8)
    assert both.df == intercept.df + slope.df


@pytest.mark.parametrize(
    ("label", "prob", "best"),
    [([0, 0, 1, 1], [0.1, 0.2, 0.6, 0.9], 0.0), ([0, 0, 1, 1, 1], [0.1, 0.6, 0.6, 0.6, 0.9], np.log(4 / 27))],
    ids=["separated", "tie"],
)
def test_separated_classes_are_fitted_without_loss_but_for_a_tie_between_them(label, prob, best):
    as_it_is = np.log(np.where(label, prob, 1 - np.array(prob))).sum()
    assert cox_test(label, prob).statistic == pytest.approx(2 * (best - as_it_is), rel=1e-12)


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
