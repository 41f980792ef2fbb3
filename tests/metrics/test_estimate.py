"""What a law says of its value, worked out by hand and beside truths that are known: misses on either side, and widths.

Where scores are fixed and events are drawn anew, the truth is one number and the standard deviation of the value over the
data sets says how wide an interval must be. Every bound stands on both sides: an interval that is too long fails as well.
"""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.special import ndtri
from scipy.stats import binom, binomtest, norm
from spellings import spelling_of
from strategies import dirichlet_rows

from calibrant import EqualMass, EqualWidth, assess, calibration_error
from calibrant._core.border import as_problem
from calibrant._core.rows import Weights, as_simplex
from calibrant.binning import Isotonic
from calibrant.metrics import estimate as laws
from calibrant.metrics import estimate_calibration_error
from calibrant.metrics.estimate import LUCK, NEAR_ONE, TAIL, Law, mean_estimate, pvalue_of, steps_for
from calibrant.metrics.kinds import as_metric, metrics
from calibrant.metrics.noise import unbiased_square
from calibrant.notions import Binary, ThresholdedClassWise
from tests.reference.l2_interval import squared_error_interval

GRID = norm.ppf((np.arange(4000) + 0.5) / 4000)[:, None]


def law_of(shape, noise, size, steps=None):
    """Law of the size of ``shape`` times steps with noise, shape (m, d)."""
    value = float(size(shape[None])[0])
    steps = steps_for(value, size(noise)) if steps is None else steps
    return Law(value, size(steps[:, None] * shape), np.array([size(step * shape + noise) for step in steps]))


def euclidean(rows):
    return np.sqrt((rows**2).sum(axis=1))


def largest(rows):
    return np.abs(rows).max(axis=1)


def mean(rows):
    return np.abs(rows).mean(axis=1)


@pytest.mark.parametrize("value", [0.01, 0.5, 1.5, 1.8, 2.5, 4.0, 30.0])
def test_of_one_normal_deviation_all_figures_are_known(value):
    """T = |D + N| with N standard normal: quantiles are those of the folded normal, and each end solves its equation."""
    found = law_of(np.array([value]), GRID, largest, np.linspace(0, 3 + 6 / value, 1500)).estimate(level=0.05)
    truths = np.linspace(0, value + 4, 20001)

    def share_beyond(size):
        return norm.sf(size - truths) + norm.cdf(-size - truths)

    luck = LUCK * norm.ppf(0.75)
    told = np.where(1 - share_beyond(luck) < 0.015, np.clip((share_beyond(norm.ppf(0.975)) - 0.05) / 0.05, 0, 1), 0)
    small = 1 - share_beyond(max(value, luck))
    accepted = truths[(share_beyond(value) >= 0.05 - 0.035 * told) & (small >= 0.015 * told)]
    assert found.value == pytest.approx(value)
    assert found.noise_floor == pytest.approx(np.sqrt(2 / np.pi), rel=0.01)
    assert found.pvalue == pytest.approx(2 * norm.sf(value), abs=2 / 4000)
    assert found.lower == pytest.approx(accepted[0], abs=0.06)
    assert found.upper == pytest.approx(accepted[-1], abs=0.06)
    assert found.debiased == pytest.approx(min(truths[np.argmax(share_beyond(value) >= 0.5)], value), abs=0.06)
    # |D + N| exceeds 1.96 four times in five at D = 1.96 + 0.84
    assert found.detectable == pytest.approx(1.96 + 0.84, abs=0.08)


def test_far_from_calibration_three_tenths_of_the_level_are_left_out_on_either_side():
    found = law_of(np.array([9.0]), GRID, largest).estimate(level=0.1)
    assert (found.lower, found.upper) == pytest.approx((9 - norm.ppf(0.97), 9 + norm.ppf(0.97)), abs=0.02)


@given(
    size=st.sampled_from([euclidean, largest, mean]),
    shape=st.lists(st.floats(-3, 3), min_size=1, max_size=6),
    seed=st.integers(0, 100),
    level=st.sampled_from([0.05, 0.3, 0.6]),
    draws=st.sampled_from([9, 200]),
)
@example(size=euclidean, shape=[0.625], seed=0, level=0.6, draws=200)
def test_ends_lie_about_the_corrected_value_and_leave_out_zero_where_the_test_rejects(size, shape, seed, level, draws):
    noise = np.random.default_rng(seed).normal(size=(draws, len(shape)))
    found = law_of(np.array(shape), noise, size).estimate(level)
    assert 0.0 <= found.lower <= found.debiased <= min(found.value, found.upper)
    # A level above one half rejects values below the median of the noise too, of which nothing is left without the bias.
    rejects = found.pvalue <= level and (level < 0.5 or found.debiased > 0.0)
    assert (found.lower > 0.0) == rejects


def test_what_was_seen_is_stretched_until_the_error_is_detected():
    """The detectable error is that of all steps, and of the last steps nothing is drawn."""
    noise, drawn = np.random.default_rng(0).normal(size=(500, 3)), []
    whole = law_of(np.array([9.0, -5.0, 7.0]), noise, mean)

    def seen():
        for true, sizes in zip(whole.truth, whole.sizes, strict=True):
            drawn.append(true)
            yield np.array([true]), sizes[None]

    found = replace(whole, seen=seen).estimate(level=0.05)
    assert found == whole.estimate(level=0.05)
    assert drawn[-2] < found.detectable <= drawn[-1]
    assert len(drawn) < whole.truth.size / 2
    quantiles = np.quantile(whole.sizes, 0.2, axis=1)
    assert np.interp(np.quantile(whole.null, 0.95), quantiles, whole.truth) == pytest.approx(found.detectable)


def test_steps_of_a_value_of_nothing_and_p_values():
    noise = np.array([1.0, 2.0, 3.0])
    np.testing.assert_array_equal(steps_for(0.0, noise), np.unique([0.0, *NEAR_ONE]))
    assert steps_for(1e-3, noise / 2).max() > 1000.0
    assert [pvalue_of(value, noise - 2.5) for value in (-0.5, 0.5, 1.5)] == [0.75, 0.5, 0.25]  # ties count


# The noise where the bootstrap sees none: a few rows in a bin that all went one way


@pytest.mark.parametrize("weight", [None, np.full(10, 2.5)])
def test_smoothed_noise_has_the_moments_of_binomial_events(weight):
    """Bins of 4 rows with 4 events and of 6 rows with 2: rates 5/6 and 3/8, each row a tenth of the whole."""
    problem = as_problem([1, 1, 0, 0, 0, 0] + [1] * 4, [0.2] * 6 + [0.9] * 4, sample_weight=weight)
    table = laws.cells(as_simplex(problem), Binary(), EqualWidth(2))
    drawn = laws.smoothed_deviations(table, 20_000, np.random.default_rng(0))
    deviation = np.sqrt([6 * 3 / 8 * 5 / 8, 4 * 5 / 6 * 1 / 6]) / 10
    assert (np.abs(drawn.mean(axis=0)) < 4 * deviation / np.sqrt(20_000)).all()
    np.testing.assert_allclose(drawn.std(axis=0), deviation, rtol=0.03)  # four standard errors of a spread are 0.02


@pytest.mark.parametrize("metric", ["ece", "mce"])
def test_the_interval_covers_where_three_rows_went_one_way(metric):
    """Without the smoothed noise the MCE is covered in 106 of these 150 data sets."""
    rng, runs = np.random.default_rng(0), 150
    score = np.r_[np.full(3, 0.99), np.full(197, 0.02)]
    rate = np.r_[np.full(3, 0.7), np.full(197, 0.02)]
    truth = {"ece": 3 * 0.29 / 200, "mce": 0.29}[metric]
    covered = 0
    for run in range(runs):
        y = (rng.random(200) < rate).astype(int)
        found = assess(y, score, metrics=[metric], n_resamples=99, rng=run)[metric]
        covered += found.lower <= truth <= found.upper
    assert covered / runs >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / runs)


# Beside the truth


LEVEL, DRAWS, RUNS = 0.2, 60, 150
NAMES = ["ece", "rmsce", "mce", "ks-error", "classwise-ece", "top-label-ece"]
FEW = ["ece", "mce", "ks-error"]


def forecast(temperature):
    """Probabilities of three classes, those with which they occur, and weights: a third of the rows counts four times.

    They are fractions: whole ones would be numbers of rows.
    """
    logit = np.random.default_rng(0).normal(0.0, 1.5, (300, 3))
    said, true = np.exp(logit), np.exp(logit / temperature)
    said, true = (rows / rows.sum(axis=1, keepdims=True) for rows in (said, true))
    return said, true, np.resize([3.0, 0.75, 0.75], 300)


@cache
def estimates(temperature, weighted=False):
    """Estimates of each data set and metric, and the truth of each metric; of the rows alone, far from calibration, of all."""
    names = NAMES if temperature > 1.0 and not weighted else FEW
    prob, true, weight = forecast(temperature)
    weight = weight if weighted else np.ones(300)
    again = {"sample_weight": (true * weight[:, None]).ravel(), "binning": 8, "n_resamples": 1}
    exact = assess(np.tile(np.arange(3), 300), np.repeat(prob, 3, axis=0), metrics=names, **again)
    rng, found = np.random.default_rng(1), []
    for run in range(RUNS):
        label = (rng.random((300, 1)) > true.cumsum(axis=1)).sum(axis=1).clip(0, 2)
        options = {"binning": 8, "level": LEVEL, "n_resamples": DRAWS, "rng": run}
        found.append(assess(label, prob, metrics=names, sample_weight=weight if weighted else None, **options))
    return {name: ([one[name] for one in found], exact[name].value) for name in names}


def misses(found, truth):
    """Shares of the data sets whose interval lies above the truth, and below it."""
    return np.mean([e.lower > truth for e in found]), np.mean([e.upper < truth for e in found])


# Mean width in units of that of a normal interval with the true standard deviation of the value.
WIDTHS = {
    "ece": (0.93, 1.14),
    "rmsce": (1.0, 1.22),
    "ks-error": (0.88, 1.1),
    "classwise-ece": (1.04, 1.26),
    "top-label-ece": (1.08, 1.33),
    "mce": (1.17, 1.57),
}


@pytest.mark.parametrize(
    ("name", "weighted"),
    [(name, False) for name in NAMES] + [pytest.param(name, True, marks=pytest.mark.deep) for name in FEW],
)
def test_away_from_calibration_both_tails_and_the_width_are_what_is_promised(name, weighted):
    found, truth = estimates(2.0, weighted)[name]
    below, above = misses(found, truth)
    assert below + above >= (0.02 if name == "mce" else 0.1)  # nominal 0.12; the largest gap is that of a few rows
    assert max(below, above) <= 0.12
    spread = np.std([e.value for e in found], ddof=1)
    ratio = np.mean([e.upper - e.lower for e in found]) / (2 * ndtri(1 - LEVEL * TAIL) * spread)
    least, most = WIDTHS[name]
    assert least <= ratio <= most


@pytest.mark.parametrize("name", FEW)
def test_at_calibration_the_lower_end_is_above_zero_as_often_as_the_test_rejects(name):
    found, truth = estimates(1.0)[name]
    assert truth == pytest.approx(0.0, abs=1e-12)
    assert [e.lower > 0 for e in found] == [e.pvalue <= LEVEL for e in found]
    assert abs(np.mean([e.lower > 0 for e in found]) - LEVEL) < 3.5 * np.sqrt(LEVEL * (1 - LEVEL) / RUNS)


def test_the_plug_in_value_lies_above_its_interval_where_it_is_mostly_noise():
    found, _ = estimates(1.0)["ece"]
    assert 0.02 < np.mean([e.upper < e.value for e in found]) < 0.3


# Few distinct predictions, whose gaps may be 0 by luck


@pytest.mark.parametrize(("n", "score", "event"), [(3000, 0.5, 0.52), (2000, (0.2, 0.8), (0.22, 0.82))])
def test_few_distinct_predictions_have_intervals_that_hold_the_truth(n, score, event):
    """That of the ECE of a single one was missed above in a quarter of the data sets."""
    score, event = np.resize(score, n), np.resize(event, n)
    (gap,), found = np.unique(np.abs(event - score).round(12)), []
    for run in range(60):
        y = np.random.default_rng(run).random(n) < event
        found.append(assess(y, score, metrics=["ece"], n_resamples=100, rng=run)["ece"])
    assert 60 * sum(misses(found, gap)) <= binom.ppf(0.999, 60, 0.05)


# Means over rows


def test_the_interval_of_a_mean_is_that_of_cornish_and_fisher():
    """Of the losses 0, 0, 0, 1 with weights 1/2, 1/2, 1, 1/2: mean 1/5, and the moments by hand."""
    found = mean_estimate(np.array([0.0, 0, 0, 1]), Weights(np.array([0.5, 0.5, 1, 0.5])), None, level=0.1)
    share = np.array([-0.2, -0.2, -0.4, 0.8]) / 5
    error, k, z = np.sqrt(4 / 3 * np.sum(share**2)), np.sum(share**3) / np.sum(share**2) ** 1.5, 1.6448536269514722
    assert found.value == pytest.approx(0.2)
    assert found.upper == pytest.approx(0.2 + error * (z + k * (2 * z**2 + 1) / 6))
    assert found.lower == pytest.approx(0.2 + error * (-z + k * (2 * z**2 + 1) / 6))


def test_the_unbiased_square_is_that_of_sun_and_others():
    rng = np.random.default_rng(0)
    score, bins = rng.random(450), np.empty(450, dtype=int)
    y, bins[np.argsort(score)] = (rng.random(450) < score**1.5).astype(int), np.sort(np.arange(450) % 15)
    square, _, _ = unbiased_square(as_metric("debiased-ece", None).residuals(as_problem(y, score)))
    assert square == pytest.approx(squared_error_interval(y, score, bins, 0.05)[0])


@pytest.mark.parametrize("n", [2, 20, 300])
def test_of_rows_that_are_all_right_or_all_wrong_the_intervals_of_means_are_by_clopper_and_pearson(n):
    label, prob = np.arange(n) % 2, np.where(np.arange(n) % 2, 0.9, 0.1)
    for y, right in ((label, n), (1 - label, 0)):
        low, high = binomtest(right, n).proportion_ci(method="exact")
        found = assess(y, prob, metrics=["accuracy"], sample_weight=np.ones(n))["accuracy"]
        assert (found.lower, found.upper) == pytest.approx((low, high), abs=1e-12)
        half = assess(y[: n // 2], prob[: n // 2], metrics=["accuracy"], sample_weight=[2] * (n // 2))["accuracy"]
        assert (half.lower, half.upper) == pytest.approx((low, high), abs=1e-12)
        # A row of the other class would have the Brier score 0.81, or 0.01, and its log loss.
        brier, loss = (assess(y, prob, metrics=["brier", "nll"])[name] for name in ("brier", "nll"))
        own, other = (0.1, 0.9) if right else (0.9, 0.1)
        ends = [own**2 + part * (other**2 - own**2) for part in (0.0, high - low)]
        assert (brier.lower, brier.upper) == pytest.approx((min(ends), max(ends)))
        ends = [-np.log(1 - own) + part * np.log((1 - own) / (1 - other)) for part in (0.0, high - low)]
        assert (loss.lower, loss.upper) == pytest.approx((min(ends), max(ends)))
    found = assess([0, 1, 1], [0.1, 0.9, 0.8], metrics=["accuracy"], sample_weight=[0.5, 0.5, 5.5])["accuracy"]
    assert found.lower == pytest.approx(0.025 ** ((0.5**2 + 0.5**2 + 5.5**2) / 6.5**2))


def test_one_row_does_not_say_how_much_rows_vary():
    found = assess([1], [0.4], metrics=["accuracy", "nll", "brier"])
    assert [(found[name].lower, found[name].upper) for name in ("accuracy", "nll", "brier")] == [(None, None)] * 3
    assert "no interval" not in str(found)


# Any spelling


SPELLED = {metric.name: words for metric in metrics() if (words := spelling_of(metric)) is not None}
Y, P = dirichlet_rows(300, 3, seed=3, concentration=0.7)
BRIEFLY = {"n_resamples": 50, "rng": 4}


@pytest.mark.parametrize("name", SPELLED)
def test_a_named_error_is_estimated_as_it_is_assessed(name):
    spelling = {"binning": EqualMass(6), **SPELLED[name]}
    found = estimate_calibration_error(Y, P, level=0.2, **spelling, **BRIEFLY)
    assert found == assess(Y, P, metrics=[name], binning=EqualMass(6), level=0.2, **BRIEFLY)[name]


SPELLINGS = [
    {"notion": "top-3-label", "binning": EqualMass(20)},
    {"notion": "top-2-confidence", "norm": "l3"},
    {"notion": "top-label", "norm": "l1", "across": "max"},
    {"notion": "top-label", "loss": "debiased squared gap", "norm": "root"},
    {"notion": "class-wise", "loss": "debiased squared gap"},
    {"loss": "debiased squared gap", "norm": "max"},
    {"notion": "top-label", "loss": "debiased squared gap", "norm": "root", "across": "max"},
    {"loss": "squared gap"},
    {"loss": "squared gap", "norm": "root"},
    {"loss": lambda problem, bins: bins.gap},
    {"norm": lambda values, weights: float(np.median(values))},
    {"binning": Isotonic(), "notion": "top-label"},
]


@pytest.mark.parametrize("spelling", SPELLINGS, ids=lambda spelling: "-".join(spelling))
def test_the_value_is_the_error_and_the_interval_holds_it_without_its_bias(spelling):
    found = estimate_calibration_error(Y, P, **spelling, **BRIEFLY)
    assert found.value == calibration_error(Y, P, **spelling)
    assert found.lower <= (found.value if found.debiased is None else found.debiased) <= found.upper
    assert 1 / 51 <= found.pvalue <= 1.0
    assert found.noise_floor is not None


def test_the_default_is_the_same_each_time_and_none_draws_anew():
    first, again = (estimate_calibration_error(Y, P, n_resamples=50) for _ in range(2))
    assert first == again
    assert first != estimate_calibration_error(Y, P, n_resamples=50, rng=None)


@pytest.mark.parametrize("name", [metric.name for metric in metrics() if metric.draws_labels and metric.takes_notion])
def test_of_a_notion_without_rows_the_error_is_zero_and_nothing_speaks_against_calibration(name):
    found = assess(Y, P, metrics=[name], notion=ThresholdedClassWise(0.9999), n_resamples=9)[name]
    assert (found.value, found.noise_floor, found.pvalue) == (0.0, 0.0, 1.0)
