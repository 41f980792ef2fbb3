"""Slope, intercepts and the observed/expected ratio."""

import warnings

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from reference import logistic as reference
from scipy.special import expit, softmax
from scipy.stats import binom, norm
from sklearn.linear_model import LogisticRegression
from strategies import columns, dirichlet_rows, one_event

from calibrant import assess, calibration_intercept, calibration_slope, measure, paired_test
from calibrant._core.border import as_problem
from calibrant.exceptions import CalibrationWarning
from calibrant.fit import minimise as newton
from calibrant.fit.log_loss import Recalibration, recalibration_of
from calibrant.metrics import calibration_in_the_large, observed_expected_ratio
from calibrant.metrics.estimate import Resampling
from calibrant.metrics.regression import in_the_large, measured, observed_expected, ratio_estimate
from calibrant.notions import as_notion
from calibrant.significance import cox_test

NAMES = ("calibration-slope", "calibration-intercept", "calibration-in-the-large", "observed-expected-ratio")
FUNCTIONS = (calibration_slope, calibration_intercept, calibration_in_the_large, observed_expected_ratio)


def sample(n, a=0.0, b=1.0, seed=0, spread=1.5):
    """Probabilities, and labels whose log-odds are a + b times theirs."""
    return one_event(seed, n, true=lambda z: a + b * z, spread=spread)


# The definition


@given(rows=columns(min_rows=4) | columns(min_rows=4, weights=st.floats(0.1, 5.0)))
def test_slope_and_intercept_have_the_largest_likelihood(rows):
    label, prob, weight = rows
    prob = np.clip(prob, 0.05, 0.95)
    occurred, stayed = prob[label == 1], prob[label == 0]
    assume(occurred.size and stayed.size and occurred.min() < stayed.max() and stayed.min() < occurred.max())
    a, b = reference.joint([reference.log_odds(p) for p in prob], label, weight)
    assume(abs(b) < 40)
    assert calibration_slope(label, prob, sample_weight=weight) == pytest.approx(b, rel=1e-6, abs=1e-7)
    assert calibration_intercept(label, prob, sample_weight=weight) == pytest.approx(a, rel=1e-6, abs=1e-7)


@pytest.mark.filterwarnings("ignore:.*depends on probabilities of 0 and 1:UserWarning")
@given(rows=columns(min_rows=2))
def test_in_the_large_the_shifted_probabilities_add_up_to_the_events(rows):
    label, prob, weight = rows
    assume(0 < label.sum() < label.size)
    z = [reference.log_odds(p) for p in prob]
    shift = calibration_in_the_large(label, prob, sample_weight=weight)
    shifted = expit(np.array(z) + shift)
    rounding = 1e-15 * weight.sum() / (weight @ (shifted * (1 - shifted)))  # of a sum of residuals, over its slope
    assert shift == pytest.approx(reference.intercept_given(z, label, weight, 1.0), rel=1e-8, abs=1e-6 + rounding)
    assert weight @ shifted == pytest.approx(weight @ label, rel=1e-9)


@given(rows=columns())
def test_the_ratio_is_events_over_probabilities(rows):
    label, prob, weight = rows
    assume(weight @ prob > 1e-9)
    expected = sum(weight * label) / sum(weight * prob)
    assert observed_expected_ratio(label, prob, sample_weight=weight) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("overlap", [1e-2, 1e-6, 1e-10, 1e-14])
def test_newton_arrives_where_the_classes_hardly_overlap(overlap):
    """Two rows are the wrong way round by next to nothing: the slope grows with the logarithm of that."""
    x = np.array([-2.0, -1.0, 0.0, overlap, 1.0, 2.0])
    fit = Recalibration(x, np.ones(6), np.array([0.0, 0.0, 1.0, 0.0, 1.0, 1.0]))
    a, b = fit.joint
    assert 1 < b < 40
    p = expit(a + b * x)
    assert abs((fit.events - p).sum()) < 1e-7
    assert abs((fit.events - p) @ x) < 1e-7


def test_what_newton_cannot_tell_from_separation_counts_as_separated(monkeypatch):
    label, prob = sample(50)
    monkeypatch.setattr(newton, "MOST_STEPS", 1)
    with pytest.warns(CalibrationWarning, match="overlap by no more than rounding"):
        assert calibration_slope(label, prob) == np.inf


@pytest.mark.filterwarnings("ignore:.*depends on probabilities of 0 and 1:UserWarning")
def test_exact_logits_are_not_clipped():
    z = np.array([-60.0, -40.0, -35.0, 35.0, 40.0, 60.0])
    label = np.array([0, 1, 0, 1, 0, 1])
    peer = LogisticRegression(C=np.inf, solver="newton-cholesky", tol=1e-12).fit(z[:, None] / 50, label)
    assert calibration_slope(label, z, input="logit") == pytest.approx(peer.coef_[0, 0] / 50, rel=1e-7)
    assert measure(label, z, input="logit", metrics=NAMES[:1]) == {NAMES[0]: calibration_slope(label, z, input="logit")}
    assert calibration_slope(label, expit(z)) != pytest.approx(peer.coef_[0, 0] / 50, rel=1e-3)
    # The two rows nearest to 0 decide:  exp(a - 40) = exp(-a - 38).
    shift = calibration_in_the_large([0, 1, 0, 1], [-40.0, 38.0, -60.0, 50.0], input="logit")
    assert shift == pytest.approx(1.0, abs=1e-4)
    far = as_problem([0, 1, 0, 1], [1e3, -1e3, -1e3, 1e3], input="logit")  # any shift between them fits as well
    assert measured(far, as_notion("binary"), in_the_large) == (0.0, np.inf, 0.0)


def test_a_row_that_outweighs_all_others_leaves_a_number():
    value = calibration_in_the_large([0, 1], [0.5, 0.5], sample_weight=[1e90, 1e-90])
    assert value == pytest.approx(np.log(1e-180), rel=1e-12)


@pytest.mark.parametrize("figure", [*FUNCTIONS[:3], lambda y, p: cox_test(y, p).statistic])
def test_certain_rows_that_are_wrong_are_counted_and_the_figure_without_them_stands_beside_it(figure):
    label, prob = sample(2000)
    prob[:178] = 1.0
    with warnings.catch_warnings(action="error"):
        rest = figure(label[178:], prob[178:])
        figure(np.append(label[178:], [0, 1]), np.append(prob[178:], [0.0, 1.0]))  # certain rows that are right
    wrong = (label[:178] == 0).sum()
    with pytest.warns(CalibrationWarning, match=f"got {wrong} in 2000 rows .* and {rest:.4g} without") as found:
        figure(label, prob)
    assert len(found) == 1


def test_forecasts_that_certain_wrong_rows_rule_are_named_once():
    label, prob = sample(200)
    prob[:9] = 1.0 - label[:9]
    with pytest.warns(CalibrationWarning, match="^prob_b: calibration slope depends .* got 9 in 200") as found:
        paired_test(label, 0.5 * prob + 0.25, prob, metric="calibration-slope", n_resamples=9)
    assert len(found) == 1


def test_probabilities_of_zero_and_one_have_log_odds_of_27_6():
    fit = recalibration_of(as_problem([0, 1], [0.0, 1.0]))
    np.testing.assert_allclose(fit.x, [-27.631, 27.631], atol=1e-3)


# Notions


@pytest.mark.parametrize("function", FUNCTIONS)
def test_several_problems_are_averaged_by_their_shares(function):
    label, prob = dirichlet_rows(300, 3)
    one_by_one = [function((label == j).astype(int), prob[:, j]) for j in range(3)]
    assert function(label, prob, notion="class-wise") == pytest.approx(np.mean(one_by_one), rel=1e-9)
    top = prob.argmax(axis=1)
    shares = np.bincount(top) / 300
    given_top = [function((label == j)[top == j].astype(int), prob[top == j, j]) for j in range(3)]
    assert function(label, prob, notion="top-label") == pytest.approx(shares @ given_top, rel=1e-9)
    assert function(label, prob) == pytest.approx(function((label == top).astype(int), prob.max(axis=1)), rel=1e-9)


def test_a_class_that_is_never_predicted_has_no_share():
    prob = np.array([[0.6, 0.4, 0.0], [0.7, 0.3, 0.0], [0.8, 0.2, 0.0], [0.4, 0.6, 0.0], [0.3, 0.7, 0.0]])
    expected = (3 * (2 / 2.1) + 2 * (1 / 1.3)) / 5
    assert observed_expected_ratio([0, 1, 0, 1, 0], prob, notion="top-label") == pytest.approx(expected)


# What is known of them


@pytest.mark.first(2)
@pytest.mark.parametrize("kind", ["calibrated", "over-confident", "rare", "weighted"])
def test_intervals_cover_and_pvalues_have_their_size(kind):
    """The truth of each figure is its value in the limit: of nature's probabilities in place of labels."""
    a, b = {"over-confident": (0.3, 0.6)}.get(kind, (0.0, 1.0))
    shift = -3.0 if kind == "rare" else 0.0
    rng, runs = np.random.default_rng(0), 150
    z = shift + 1.5 * rng.normal(size=100_000)
    large = recalibration_of(as_problem(np.zeros(z.size, dtype=int), z, input="logit"))
    population = Recalibration(large.x, large.total, expit(a + b * large.x))
    truths = (b, a, population.in_the_large, population.events.sum() / expit(large.x).sum())
    covered, rejected = np.zeros(4), np.zeros(4)
    for run in range(runs):
        z = shift + 1.5 * rng.normal(size=250)
        label = (rng.random(250) < expit(a + b * z)).astype(int)
        weight = rng.exponential(size=250) if kind == "weighted" else None
        found = assess(label, expit(z), sample_weight=weight, metrics=NAMES, n_resamples=1, rng=run)
        for number, (name, truth) in enumerate(zip(NAMES, truths, strict=True)):
            covered[number] += found[name].lower <= truth <= found[name].upper
            rejected[number] += found[name].pvalue <= 0.05
    assert (covered / runs >= 0.95 - 4 * np.sqrt(0.95 * 0.05 / runs)).all()
    if kind == "over-confident":
        assert rejected[0] / runs > 0.9
    else:
        assert (rejected / runs <= 0.05 + 4 * np.sqrt(0.95 * 0.05 / runs)).all()


def test_the_binomial_variance_steadies_a_single_problem_and_influences_add_up_over_several():
    label, prob = sample(200)
    problem = as_problem(label, prob)
    one = in_the_large(problem)
    _, error, _ = measured(problem, as_notion("binary"), in_the_large)
    assert error == pytest.approx(np.sqrt(max(one.variance, one.influence @ one.influence)))
    # Both classes of a binary forecast: the shifts are opposite, and so is the influence of each row.
    assert measured(problem, as_notion("class-wise"), in_the_large) == pytest.approx((0.0, 0.0, 0.0), abs=1e-9)


@pytest.mark.parametrize(("metric", "ideal"), [("calibration-in-the-large", 0.0), ("calibration-slope", 1.0)])
def test_the_bias_of_many_classes_with_few_events_each_is_no_miscalibration(metric, ideal):
    """Of 40 classes with 10 events on average; the bias of the intercept was taken for an error in every sample."""
    rejected = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        prob = softmax(1.2 * rng.normal(size=(400, 40)), axis=1)
        label = (prob.cumsum(axis=1) < rng.random((400, 1))).sum(axis=1).clip(0, 39)
        found = assess(label, prob, metrics=[metric], notion="class-wise", labels=range(40))[metric]
        rejected += not found.lower <= ideal <= found.upper
        assert (found.pvalue <= 0.05) is not (found.lower <= ideal <= found.upper)
    assert rejected <= binom.ppf(0.999, 30, 0.05)


def ratio_of(label, prob, notion=None, **options):
    problem = as_problem(label, prob, **options)
    chosen = () if notion is None else (as_notion(notion),)
    return ratio_estimate(problem, Resampling(0.05, 2, np.random.default_rng(0)), *chosen)


def test_without_an_event_or_with_nothing_else_the_interval_of_the_ratio_is_exact():
    cases = (0, 50, 0.04), (1, 3, 0.9), (1, 8, 0.5)
    none, all_of_three, all_of_eight = (ratio_of([event] * n, [p] * n, labels=[0, 1]) for event, n, p in cases)
    assert (none.value, none.lower, none.upper) == (0.0, 0.0, pytest.approx(-np.log(0.025) / 2))
    assert none.pvalue == pytest.approx(2 * np.exp(-2))
    assert all_of_three.pvalue == 1.0  # 2 * 0.9^3 is above 1
    assert (all_of_three.value, all_of_three.upper) == (pytest.approx(1 / 0.9), all_of_three.value)
    assert (all_of_three.lower * 0.9) ** 3 == pytest.approx(0.025)  # the rate with which three events are that rare
    assert all_of_eight.pvalue == pytest.approx(2 / 2**8)
    assert all_of_eight.lower > 1


def test_hits_alone_say_the_same_of_one_problem_and_of_several():
    prob, label = np.full((6, 3), 0.05), np.repeat([0, 1, 2], 2)
    prob[np.arange(6), label] = 0.9
    one, several = (ratio_of(label, prob, notion) for notion in ("confidence", "top-label"))
    assert (several.lower, several.pvalue) == (pytest.approx(one.lower), pytest.approx(one.pvalue))


@pytest.mark.parametrize("notion", ["confidence", "class-wise"])
def test_residuals_that_are_all_equal_give_no_interval_without_width(notion):
    ratio = ratio_of([1] * 4, np.tile([0.1, 0.9], (4, 1)), notion, labels=[0, 1])
    assert ratio.upper - ratio.lower > 0.5
    assert ratio.lower < 1 < ratio.upper
    assert ratio.pvalue > 0.1
    if notion == "class-wise":  # problems of the same rows may err together: their standard errors add up
        error, value = 0.3 / 0.4 + 0.3 / 3.6, 0.5 / 0.9
        assert ratio.upper == pytest.approx(value * np.exp(norm.ppf(0.975) * error / value), rel=1e-9)


@pytest.mark.parametrize("notion", ["top-label", "class-wise"])
def test_the_interval_of_the_ratio_of_problems_with_rows_of_their_own_is_at_least_that_of_true_scores(notion):
    """Of nearly all hits: the rates that were found leave less room than the scores. Variances of such problems add up."""
    prob, label = np.repeat([[0.8, 0.1, 0.1], [0.1, 0.7, 0.2], [0.2, 0.2, 0.6]], 8, axis=0), np.repeat([0, 1, 2], 8)
    label[0] = 1
    chosen = as_notion(notion, problem := as_problem(label, prob))
    value, found, _ = measured(problem, chosen, observed_expected)
    calibrated = np.linalg.norm([np.sqrt(8 * p * (1 - p)) / (8 * p) / 3 for p in (0.8, 0.7, 0.6)])
    if notion == "top-label":
        assert value > 1
        assert calibrated > found
    wide = calibrated if notion == "top-label" else found
    upper = ratio_of(label, prob, notion).upper
    assert upper == pytest.approx(value * np.exp(norm.ppf(0.975) * wide / value), rel=1e-9)


@pytest.mark.parametrize(("n", "rate"), [(3, 0.9), (20, 0.95), (50, 0.98), (100, 0.9)])
def test_the_test_of_the_ratio_has_its_size_where_nearly_all_are_events(n, rate):
    """Summed over all numbers of events: no draws, no error of them."""
    events = np.arange(n + 1)
    found = [ratio_of(np.arange(n) < k, np.full(n, rate)) for k in events]
    chance = binom.pmf(events, n, rate)
    assert chance @ [ratio.pvalue < 0.05 for ratio in found] <= 0.05
    assert chance @ [not ratio.lower <= 1 <= ratio.upper for ratio in found] <= 0.05


# What has no answer


DEGENERATE = {
    "separated": ([0, 0, 1, 1], [0.1, 0.2, 0.6, 0.9], np.inf),
    "separated but for a tie": ([0, 0, 1, 1], [0.1, 0.6, 0.6, 0.9], np.inf),
    "upside down": ([1, 1, 0, 0], [0.1, 0.2, 0.6, 0.9], -np.inf),
    "one score": ([0, 1, 0, 1], [0.3, 0.3, 0.3, 0.3], np.nan),
    "one class": ([1, 1, 1, 1], [0.1, 0.2, 0.6, 0.9], np.nan),
    "one row": ([0], [0.1], np.nan),
}


@pytest.mark.parametrize(("label", "prob", "slope"), DEGENERATE.values(), ids=DEGENERATE)
def test_slope_and_intercept_of_degenerate_data_are_documented_and_warned_of(label, prob, slope):
    for function, answer in ((calibration_slope, slope), (calibration_intercept, np.nan)):
        with pytest.warns(CalibrationWarning, match="must have two classes whose scores overlap"):
            np.testing.assert_equal(function(label, prob), answer)
    with pytest.warns(CalibrationWarning):
        found = assess(label, prob, metrics=["calibration-slope"], n_resamples=2)["calibration-slope"]
    expected = (slope, -np.inf, np.inf) if np.isinf(slope) else (np.nan,) * 3
    np.testing.assert_equal((found.value, found.lower, found.upper), expected)
    assert np.isnan(found.pvalue)


ONE_CLASS = "there is only one class in the problem 'class {}', and it is set to"
UNANSWERED = {
    "events alone": (calibration_in_the_large, [1, 1], [0.2, 0.7], np.inf, ONE_CLASS.format(1)),
    "no event": (calibration_in_the_large, [0, 0], [0.2, 0.7], -np.inf, ONE_CLASS.format(1)),
    "nothing expected": (observed_expected_ratio, [0, 1], [0.0, 0.0], np.inf, "O/E is set to inf"),
    "nothing at all": (observed_expected_ratio, [0, 0], [0.0, 0.0], np.nan, "O/E is set to nan"),
}


@pytest.mark.parametrize(("figure", "label", "prob", "answer", "words"), UNANSWERED.values(), ids=UNANSWERED)
def test_what_has_no_finite_answer_is_documented_and_warned_of(figure, label, prob, answer, words):
    with pytest.warns(CalibrationWarning, match=words):
        np.testing.assert_equal(figure(label, prob), answer)


def test_the_ratio_to_nothing_expected_has_an_interval_and_a_problem_without_an_answer_is_named():
    with pytest.warns(CalibrationWarning):
        ratio = ratio_of([0, 1], [0.0, 0.0])
    np.testing.assert_equal((ratio.lower, ratio.value, ratio.upper, ratio.pvalue), (0.0, np.inf, np.inf, np.nan))
    with pytest.warns(CalibrationWarning):
        nothing = ratio_of([0, 0], [0.0, 0.0], labels=[0, 1])
    assert np.isnan([nothing.lower, nothing.value, nothing.upper, nothing.pvalue]).all()
    prob = np.array([[0.6, 0.4, 0.0], [0.3, 0.7, 0.0], [0.8, 0.2, 0.0], [0.4, 0.5, 0.1]])
    with pytest.warns(CalibrationWarning, match="there is only one class in the problem 'class 2'"):
        calibration_slope([0, 1, 1, 0], prob, notion="class-wise")
