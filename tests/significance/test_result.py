"""What every test returns, and the laws that p-values come from."""

import pickle
import re
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_hex
from reference import multiplicity as reference
from scipy import stats

import calibrant as cb
from calibrant import drawing, hosmer_lemeshow_test, load_digits_forecast, spiegelhalter_test
from calibrant.exceptions import CalibrationWarning
from calibrant.significance import TestResult, by_class, by_group, cox_test, kolmogorov_smirnov_test, resampling_test
from calibrant.significance.result import Draws, adjusted_pvalues, chi_squared, label_draws, standard_normal

RESULT = TestResult("Hosmer-Lemeshow", 25.3004, 0.0003004, chi_squared(6), ("Rows are independent.", "And more."))


def test_its_repr_is_short_and_survives_pickle():
    assert TestResult.__test__ is False  # its name is no test for pytest
    for found in (RESULT, pickle.loads(pickle.dumps(RESULT))):
        assert repr(found) == "TestResult(Hosmer-Lemeshow: statistic=25.3004, df=6, pvalue<=0.001)"
        assert repr(found.null) == "NullDistribution(chi-squared, 6 degrees of freedom)"
        assert found.null.sf(3.0) == chi_squared(6).sf(3.0)
    assert repr(label_draws(np.zeros(9))) == "NullDistribution(9 draws of labels from the forecast)"


def test_a_frame_has_a_row():
    law, of = "chi-squared, 6 degrees of freedom", "the forecast is calibrated"
    said = "Rows are independent. And more."
    assert RESULT.to_frame("polars").row(0) == ("Hosmer-Lemeshow", 25.3004, 6, 0.0003004, "greater", law, of, said)


@pytest.mark.parametrize("df", [1, 2, 3, 6, 90])
def test_the_laws_are_those_of_scipy(df):
    x = np.array([-np.inf, -1.0, -1e-300, 0.0, 1e-6, 0.5, 1.0, 7.0, 100.0, np.inf, np.nan])
    law = chi_squared(df)
    np.testing.assert_allclose(law.sf(x), stats.chi2(df).sf(x), rtol=1e-12)
    assert law.df == df
    assert law.description == f"chi-squared, {df} degree{'s' * (df > 1)} of freedom"
    np.testing.assert_array_equal(chi_squared(0).sf([0.0, 1e-9, 5.0]), [1.0, 0.0, 0.0])
    x = np.array([-np.inf, -40.0, -1.0, 0.0, 2.0, 37.0, np.inf, np.nan])
    np.testing.assert_allclose(standard_normal().sf(x), stats.norm.sf(x), rtol=1e-12)


@pytest.mark.parametrize("kind", [np.uint8, np.float32, np.bool_])
@pytest.mark.parametrize(
    ("law", "known"), [(chi_squared(3), stats.chi2(3)), (standard_normal(), stats.norm)], ids=["chi-squared", "normal"]
)
def test_laws_count_in_double_precision_whatever_they_are_given(law, known, kind):
    x = np.array([1, 3, 20]).astype(kind)
    np.testing.assert_allclose(law.sf(x), known.sf(x.astype(np.float64)), rtol=1e-12)


@given(values=st.lists(st.floats(-5, 5), min_size=1, max_size=30), at=st.floats(-6, 6))
def test_the_share_of_draws_counts_the_observed_value_and_ties(values, at):
    reach = sum(1 for v in values if v >= at - 1e-6 * abs(at))
    assert label_draws(np.array(values)).sf(at) == (1 + reach) / (1 + len(values))
    assert label_draws(np.zeros(99)).sf(np.inf) == 0.01  # never zero
    assert label_draws(np.array([0.1 + 0.2, 0.0])).sf(0.3 * (1 + 1e-12)) == 2 / 3  # a tie but for rounding


FIG_21 = cb.significance.resampling_test(*cb.datasets.load_survey_table_3(), labels=[1, 2, 3], binning=5)


def bars(ax):
    return [patch for patch in ax.patches if hasattr(patch, "get_x") and patch.get_height() > 0]


def words(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_figure_21_of_the_survey():
    """All draws are drawn, and the dark bars are those that reach the observed value."""
    ax = FIG_21.plot()
    beyond = dark(ax)
    assert sum(bar.get_height() for bar in bars(ax)) == 1000
    assert sum(bar.get_height() for bar in beyond) == round(FIG_21.pvalue * 1001) - 1
    assert min(bar.get_x() for bar in beyond) == pytest.approx(FIG_21.statistic, rel=1e-5)
    assert any(np.allclose(line.get_xdata(), FIG_21.statistic) for line in ax.lines)
    assert words(ax) == ["observed: 0.1785", f"beyond it: p = {FIG_21.pvalue:.3g}"]
    assert "1000 draws of labels from the forecast" in ax.get_xlabel()
    assert ax.get_title() == "resampling of classwise-ece"


def dark(ax):
    """The bars beyond the observed value."""
    return [bar for bar in bars(ax) if to_hex(bar.get_facecolor()).upper() == drawing.GAP]


def test_the_tail_of_a_law_begins_at_the_observed_value_and_is_the_p_value():
    result = cb.hosmer_lemeshow_test([0, 1] * 20, np.linspace(0.3, 0.7, 40), n_bins=2, n_resamples=None)
    tail = dark(result.plot())
    assert tail[0].get_x() == pytest.approx(result.statistic)
    assert sum(bar.get_height() for bar in tail) == pytest.approx(result.pvalue, abs=6e-4)


def test_both_tails_of_a_two_sided_test_are_shaded():
    result = cb.spiegelhalter_test([0, 1, 1, 0, 1] * 9, np.linspace(0.2, 0.9, 45))
    tails = dark(result.plot())
    assert {np.sign(bar.get_x()) for bar in tails} == {-1.0, 1.0}
    assert min(abs(bar.get_x()) for bar in tails) == pytest.approx(abs(result.statistic), abs=0.05)
    assert sum(bar.get_height() for bar in tails) == pytest.approx(result.pvalue, abs=0.05)


@pytest.mark.parametrize("side", [1, -1])
def test_both_tails_of_two_sided_draws_hold_as_many(side):
    values = np.random.default_rng(0).exponential(size=2000)
    null = label_draws(side * values)
    tails = dark(TestResult("skewed", 3.0 * side, 0.1, null, (), "two-sided").plot())
    assert sum(bar.get_height() for bar in tails if side * bar.get_x() > 1) == np.sum(values >= 3.0)
    assert any(side * bar.get_x() < 0.5 for bar in tails)


@pytest.mark.parametrize("statistic", [np.inf, 80.0, -80.0])
def test_a_value_far_out_is_pointed_at_and_does_not_flatten_the_law(statistic):
    ax = cb.significance.TestResult("z", statistic, 0.0, standard_normal(), (), "two-sided").plot()
    low, high = ax.get_xlim()
    assert high - low < 12
    assert words(ax)[0] == f"observed: {statistic:.4g}, far out"


@pytest.mark.parametrize("null", [chi_squared(0), chi_squared(1), chi_squared(2), label_draws(np.zeros(5))], ids=repr)
def test_odd_laws_can_be_drawn(null):
    ax = cb.significance.TestResult("odd", 0.5, 0.4, null, ()).plot()
    ax.figure.canvas.draw()
    total = null.values.size if isinstance(null, Draws) else 1.0
    assert sum(bar.get_height() for bar in bars(ax)) == pytest.approx(total, abs=0.001)
    low, high = ax.get_ylim()
    assert 0 == low < high < np.inf


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_what_is_not_defined_is_told():
    ax = TestResult("z", np.nan, 1.0, standard_normal(), (), "two-sided").plot()
    ax.figure.canvas.draw()
    assert words(ax) == ["observed: not defined", "beyond it: p = 1"]
    assert dark(ax) == []


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("values", [[np.inf, np.nan], [np.inf, 1.0, 2.0, np.nan], [np.inf, 3.0, 3.0 - 5e-16, np.nan]])
@pytest.mark.parametrize("statistic", [1.5, np.inf, np.nan])
def test_draws_that_are_not_finite_are_told(values, statistic):
    ax = cb.significance.TestResult("some", statistic, 1.0, label_draws(np.array(values)), (), "two-sided").plot()
    ax.figure.canvas.draw()
    assert f"not drawn: 2 of {len(values)} draws are not finite" in words(ax)


@pytest.mark.parametrize("statistic", [0.0, 3.0, np.inf])
def test_a_law_without_freedom_is_a_bar_at_zero(statistic):
    ax = TestResult("odd", statistic, 1.0, chi_squared(0), ()).plot()
    (bar,) = bars(ax)
    assert bar.get_x() <= 0.0 < bar.get_x() + bar.get_width()
    assert dark(ax) == ([bar] if statistic == 0.0 else [])


METHODS = {
    "bonferroni": reference.bonferroni,
    "holm": reference.holm,
    "benjamini-hochberg": stats.false_discovery_control,
    "benjamini-yekutieli": partial(stats.false_discovery_control, method="by"),
}
pvalues = st.lists(st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.01, 0.05, 1.0])), min_size=1, max_size=6)


@pytest.mark.parametrize("method", METHODS)
@given(p=pvalues)
def test_adjusted_pvalues_are_their_definition(method, p):
    np.testing.assert_allclose(adjusted_pvalues(np.array(p), method), METHODS[method](p), rtol=1e-12, atol=1e-300)


def test_each_class_is_tested_against_the_rest():
    y, prob = load_digits_forecast()
    found = by_class(kolmogorov_smirnov_test, y, prob)
    assert found.names == tuple(f"class {j}" for j in range(10))
    for j in range(10):
        assert found[f"class {j}"].pvalue == kolmogorov_smirnov_test(y == j, prob[:, j]).pvalue
    np.testing.assert_allclose(found.adjusted, adjusted_pvalues(found.pvalues, "holm"))


def test_each_predicted_class_is_tested_on_its_rows():
    y, prob = load_digits_forecast()
    test = partial(kolmogorov_smirnov_test, n_resamples=9)
    rows = prob.argmax(axis=1) == 3
    of_three = by_class(test, y, prob, notion="top-label")["predicted 3"]
    assert of_three.statistic == test(y[rows] == 3, prob[rows, 3]).statistic


def test_one_event_is_tested_as_it_was_given():
    """In single precision 0.3 ends another bin, and logits are exact where probabilities are 0 and 1."""
    rng = np.random.default_rng(0)
    y, single, logit = rng.random(60) < 0.5, np.float32(rng.integers(0, 11, 60) / 10), rng.normal(0, 20, 60)
    of_bins = partial(resampling_test, metric="ece", binning=10, n_resamples=9)
    for test, column, form in ((of_bins, single, "probability"), (cox_test, logit, "logit")):
        assert by_class(test, y, column, input=form).results[0].statistic == test(y, column, input=form).statistic


def test_a_class_that_is_never_predicted_is_left_out():
    prob = np.array([[0.6, 0.3, 0.1], [0.2, 0.7, 0.1], [0.5, 0.4, 0.1]])
    test = partial(kolmogorov_smirnov_test, n_resamples=9)
    assert by_class(test, [0, 1, 1], prob, notion="top-label").names == ("predicted 0", "predicted 1")


def test_of_many_parts_with_few_misses_the_law_is_warned_of_and_the_advice_holds_its_level():
    """20 groups of 100 rows of an event of 1 %: at least one false alarm in 17 % of runs, and with draws in at most 5 %."""
    group, alarms, drawn = np.repeat(np.arange(20), 100), 0, partial(spiegelhalter_test, n_resamples=1000)
    for seed in range(60):
        rng = np.random.default_rng(seed)
        p = 0.01 * np.exp(rng.normal(0, 0.3, 2000))
        y = (rng.random(2000) < p).astype(int)
        alarms += bool(by_group(drawn, y, p, group, labels=[0, 1]).rejected())
    assert alarms <= stats.binom.ppf(0.999, 60, 0.05)
    with pytest.warns(CalibrationWarning, match="20 of 20 tests .* 10 expected misses.* n_resamples=2000"):
        by_group(spiegelhalter_test, y, p, group, labels=[0, 1])
    many = np.tile([0.02, 0.49, 0.49], (100, 1)), np.arange(100) % 2  # 12 misses of the top label in each of two groups
    by_group(spiegelhalter_test, np.arange(100) % 3, *many, sample_weight=np.full(100, 1e-3))


def test_each_group_is_tested_on_its_rows():
    y, prob = load_digits_forecast()
    group = np.where(np.arange(len(y)) % 3 == 0, "north", "south")
    found = by_group(partial(resampling_test, metric="ece", n_resamples=49), y, prob, group)
    assert found.names == ("north", "south")
    rows = group == "south"
    alone = resampling_test(y[rows], prob[rows], metric="ece", n_resamples=49)
    assert found["south"].pvalue == alone.pvalue


@pytest.mark.filterwarnings("ignore:the chi-squared law needs expected counts", "ignore:2 of 2 tests are of fewer")
def test_groups_keep_classes_logits_and_weights():
    rng = np.random.default_rng(0)
    logit, y = rng.normal(size=(60, 3)), rng.choice(["a", "b", "c"], 60)
    weight, group = rng.integers(0, 3, 60), rng.integers(0, 2, 60)
    options = {"labels": ["a", "b", "c"], "input": "logit"}
    test = partial(hosmer_lemeshow_test, n_bins=3, reference="b")
    found = by_group(test, y, logit, group, sample_weight=weight, **options)
    rows = (group == 1) & (weight > 0)
    alone = test(y[rows], logit[rows], sample_weight=weight[rows], **options)
    assert found["1"].statistic == alone.statistic
    column = by_group(spiegelhalter_test, y == "a", logit[:, 0], group, input="logit", sample_weight=weight)
    alone = spiegelhalter_test(y[rows] == "a", logit[rows, 0], input="logit", sample_weight=weight[rows])
    assert column["1"].statistic == alone.statistic


def test_what_is_rejected_is_named():
    rng = np.random.default_rng(0)
    p, group = rng.random(900), np.repeat(["fair", "harsh", "mild"], 300)
    rate = np.where(group == "harsh", p**2, p)
    found = by_group(kolmogorov_smirnov_test, rng.random(900) < rate, p, group)
    assert found.rejected() == ("harsh",)
    assert found.rejected(level=1.0) == ("fair", "harsh", "mild")
    assert repr(found).startswith("MultipleTests(3 tests, holm, smallest adjusted p-value ")


@pytest.mark.parametrize("method", METHODS)
def test_a_level_that_the_draws_cannot_reach_is_refused_with_the_number_that_can(method):
    p, groups = np.random.default_rng(0).random(400), np.arange(400) % 3

    def found(draws):
        test = partial(resampling_test, metric="ece", n_resamples=draws)
        return by_group(test, p < 0.5, p, groups, method=method)

    with pytest.raises(ValueError, match=r"level must be one that the draws can reach; got 0\.01") as told:
        found(19).rejected(0.01)
    needed = int(re.search(r"n_resamples=(\d+)", str(told.value))[1])
    assert found(needed).rejected(0.01) == ("0", "1", "2")
    with pytest.raises(ValueError, match="can reach"):
        found(needed - 1).rejected(0.01)
    assert by_group(spiegelhalter_test, p < 0.5, p, groups, method=method).rejected(1e-12) == ("0", "1", "2")
