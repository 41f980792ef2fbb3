"""The rows that are answered give the power and the width that were asked for."""

import re
from contextlib import suppress
from functools import cache

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import norm
from sklearn.metrics import roc_auc_score

import calibrant as cb
from calibrant import planning as planning
from calibrant.binning import Isotonic, as_binning
from calibrant.calibrators import binning_guarantee
from calibrant.metrics import expected_calibration_error, observed_expected_ratio
from calibrant.metrics.kinds import as_metric
from calibrant.planning import LEAST, Detection, OutOfReachError, of_classes, of_event, of_pilot, rows_where

PILOT = np.random.default_rng(4).beta(2.0, 3.0, 300)


@cache
def answer(seed):
    return cb.rows_for(detect=0.15, y_prob=PILOT, rng=seed)


# Rows to detect an error


def true_error(p, q):
    """ECE of outcomes at the rates q, in fifteen bins of equal width."""
    cell = np.minimum((15 * p).astype(int), 14)
    return sum(abs((q - p)[cell == k].sum()) for k in range(15)) / p.size


def over_confident(p, error):
    """True probabilities of the predictions p with that true ECE: log-odds divided by a number above 1, by bisection."""
    low, high = 1.0, 50.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if true_error(p, expit(logit(p) / middle)) < error else (low, middle)
    return expit(logit(p) / low)


def share_found(n, p, q, repeats, *, level=0.05, n_resamples=199, seed=9):
    """In how many data sets of n rows the p-value of the ECE, by labels drawn from the predictions, is at most the level."""
    rng, found = np.random.default_rng(seed), 0
    for _ in range(repeats):
        rows = rng.integers(0, p.size, n)
        in_bin = np.minimum((15 * p[rows]).astype(int), 14)[:, None] == np.arange(15)
        rates = np.concatenate([q[rows][None], np.repeat(p[rows][None], n_resamples, axis=0)])
        label = rng.random(rates.shape) < rates
        value, *null = np.abs((label - p[rows]) @ in_bin).sum(axis=1) / n
        found += (1 + np.sum(np.array(null) >= value * (1 - 1e-9))) / (n_resamples + 1) <= level
    assert value == pytest.approx(expected_calibration_error(label[0], p[rows]))
    return found / repeats


def test_the_rows_to_detect_an_error_have_the_power_that_was_asked_for():
    found = cb.rows_for(detect=0.08, y_prob=PILOT)
    truth = over_confident(PILOT, 0.08)
    # 400 data sets: a standard error of 0.02 at 0.8, and the answer has one of about 0.015.
    assert 0.73 < share_found(found.rows, PILOT, truth, 400) < 0.87
    assert share_found(found.rows // 2, PILOT, truth, 400) < 0.65
    assert 0.0 < found.standard_error < 0.1 * found.rows


def test_calibrated_predictions_are_rejected_as_often_as_the_level_says(monkeypatch):
    """With seven draws a p-value is a multiple of 1/8 and often equals the level; four standard errors of Beta(4, 4)."""
    monkeypatch.setattr("calibrant.planning.NULL_DRAWS", 7)
    pilot = of_pilot(PILOT)
    detection = Detection(as_metric("ece", None), pilot, "over-confident", 0.5, as_binning(15), None)
    rng = np.random.default_rng(0)
    found = [detection.power(60, pilot.forecast.prob, rng, rough=True) for _ in range(100)]
    assert abs(np.mean(found) - 0.5) < 4.0 / np.sqrt(36 * 100)


@pytest.mark.parametrize(("wrong", "rate"), [("too low", 0.4), ("too high", 0.2)])
def test_one_probability_for_all_rows_takes_the_rows_of_a_binomial_test(wrong, rate):
    found = cb.rows_for(detect=0.1, y_prob=np.full(20, 0.3), wrong=wrong)
    reach = norm.ppf(0.975) * np.sqrt(0.3 * 0.7) + norm.ppf(0.8) * np.sqrt(rate * (1.0 - rate))
    assert found.rows == pytest.approx((reach / 0.1) ** 2, rel=0.1)  # the number of events is whole


# Rows for an interval


def information(log_odds):
    """Fisher information of the slope from one row, beside an intercept, at slope one."""
    weight = expit(log_odds) * expit(-log_odds)
    mean = np.average(log_odds, weights=weight)
    return float(np.mean(weight * (log_odds - mean) ** 2))


@pytest.mark.parametrize(("rate", "width"), [(0.3, 0.4), (0.1, 0.5)])
def test_the_rows_for_a_slope_are_those_of_its_standard_error(rate, width):
    found = cb.rows_for(width=width, metric="calibration_slope", event_rate=rate)
    by_formula = (2.0 * norm.ppf(0.975) / width) ** 2 / information(of_event(rate, 0.8).forecast.log_odds)
    # The interval of few rows is a little wider: rows are predicted by the others.
    assert 0.96 < found.rows / by_formula < 1.12


def test_the_rows_for_observed_over_expected_are_those_of_its_standard_error():
    found = cb.rows_for(width=0.2, metric=observed_expected_ratio, event_rate=0.2)
    p = of_event(0.2, 0.8).forecast.prob[:, 1]
    error = np.arcsinh(0.1) / norm.ppf(0.975)  # exp(z e) - exp(-z e) is the width
    assert 0.95 < found.rows / (np.mean(p * (1.0 - p)) / p.mean() ** 2 / error**2) < 1.06


# Rows for a guarantee


def test_a_guarantee_is_that_of_the_theorem():
    found = cb.rows_for(guarantee=0.1, n_classes=10, level=0.1)
    assert (found.rows, found.standard_error) == (38_200, 0.0)
    assert found.value[found.tried == found.rows] == 0.1
    bounds = [binning_guarantee(100 * k, k, n_classes=10, alpha=0.1).conditional_error for k in (381, 382)]
    assert bounds[1] <= 0.1 < bounds[0]


# What predictions of a stated kind are


@pytest.mark.parametrize(("rate", "auc"), [(0.5, 0.7), (0.02, 0.9), (0.9, 0.6)])
def test_predictions_of_an_event_have_the_rate_and_the_area_that_are_stated(rate, auc):
    p = of_event(rate, auc).forecast.prob[:, 1]
    assert p.mean() == pytest.approx(rate, abs=1e-6)
    occurred = np.random.default_rng(0).random(p.size) < p
    error = np.sqrt(auc * (1.0 - auc) / min(occurred.sum(), (~occurred).sum()))
    assert roc_auc_score(occurred, p) == pytest.approx(auc, abs=4.0 * error)


def test_predictions_of_classes_have_the_accuracy_that_is_stated():
    prob = of_classes(5, 0.7, np.random.default_rng(0)).forecast.prob
    assert prob.max(axis=1).mean() == pytest.approx(0.7, abs=0.01)


# What is answered, and refused


def test_the_answer_is_the_same_again_and_says_what_it_rests_on():
    found = answer(0)
    assert cb.rows_for(detect=0.15, y_prob=PILOT).tried.tolist() == found.tried.tolist()
    assert answer(1).value.tolist() != found.value.tolist()
    assert f"{found.rows:,} rows are needed for a test at level 0.05 to detect a true ECE of 0.15" in str(found)
    assert found.assumed["predictions"] == "those of the pilot's 300 rows"


REFUSED = {
    "no question": ({}, "exactly one of detect, width and guarantee must be given"),
    "two questions": ({"detect": 0.1, "width": 0.1}, "got detect and width"),
    "power of a width": ({"width": 0.1, "n_classes": 3, "power": 0.9}, "power must be left out beside width; got 0.9"),
    "a pilot of a theorem": ({"guarantee": 0.1, "y_prob": PILOT}, "y_prob must be left out beside guarantee"),
    "no predictions": ({"detect": 0.1}, "must say what the predictions are like; got none. Pass y_prob=pilot"),
    "two kinds": ({"detect": 0.1, "n_classes": 3, "event_rate": 0.1}, "got n_classes and event_rate"),
    "accuracy of an event": ({"detect": 0.1, "event_rate": 0.1, "accuracy": 0.9}, "must stand beside n_classes"),
    "a word near one": ({"detect": 0.1, "event_rate": 0.1, "wrong": "overconfident"}, "Did you mean 'over-confident'?"),
    "an error too large": ({"detect": 0.4, "y_prob": PILOT}, "over-confident predictions like these can have, at most"),
    "an error of a score": ({"detect": 0.1, "y_prob": PILOT, "metric": "accuracy"}, "ask for width="),
    "bins of outcomes": ({"detect": 0.1, "y_prob": PILOT, "binning": Isotonic()}, "bins do not depend on the outcomes"),
    "no interval": ({"width": 5.0, "y_prob": PILOT, "metric": "tce"}, "metric must have an interval"),
    "one event of three": ({"detect": 0.1, "n_classes": 3, "wrong": "too high"}, "of more than two classes"),
    "a power below the level": ({"detect": 0.1, "y_prob": PILOT, "power": 0.1, "level": 0.2}, "power must be above"),
    "a width of nothing": ({"width": 0.0, "y_prob": PILOT}, "width must be a number, above 0; got 0.0"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_answered_is_refused_in_words(case):
    asked, said = REFUSED[case]
    with pytest.raises(ValueError, match=re.escape(said)):
        cb.rows_for(**asked)


def test_more_rows_than_are_planned_for_are_refused_by_their_number(monkeypatch):
    monkeypatch.setattr("calibrant.planning.MOST", 400)
    detect = r"at most 400 rows detect with power 0\.8; got 0\.03, which they detect with power 0\.\d"
    with pytest.raises(ValueError, match=detect):
        cb.rows_for(detect=0.03, y_prob=PILOT)
    width = r"within reach of 400 rows; got 0\.01, and theirs is 0\.\d+\. Pass a larger width"
    with pytest.raises(ValueError, match=width):
        cb.rows_for(width=0.01, y_prob=PILOT, metric="accuracy")
    with pytest.raises(ValueError, match=r"most samples of them have no interval\. Pass predictions that differ"):
        cb.rows_for(width=0.5, y_prob=np.full(9, 0.3), metric="calibration-slope")


@pytest.mark.filterwarnings("error")
def test_an_interval_without_width_needs_the_fewest_rows():
    found = cb.rows_for(width=0.05, y_prob=[0.5, 0.5], metric="nll")  # it is the same of both classes
    assert (found.rows, found.value.tolist()) == (50, [0.0])
    of_all_right = cb.rows_for(width=0.05, y_prob=[0.0, 1.0], metric="brier").rows
    assert of_all_right == cb.rows_for(width=0.05, y_prob=[0.0, 1.0], metric="accuracy").rows
    assert 1 - 0.025 ** (1 / of_all_right) <= 0.05 < 1 - 0.025 ** (1 / (of_all_right - 1))
    assert cb.rows_for(width=0.05, y_prob=[0.0, 1.0]).rows > 50  # that all of 50 were right leaves an error possible


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("metric", "width", "rate", "rows"), [("nll", 0.05, 0.005, 689), ("brier", 0.01, 0.01, 1330)])
def test_data_sets_without_a_rare_event_do_not_say_that_few_rows_do(metric, width, rate, rows, seed):
    """``rows`` by the variance of the loss, of probabilities as they are assumed: of 50 rows three in four have no event."""
    assert 0.85 < cb.rows_for(width=width, metric=metric, event_rate=rate, rng=seed).rows / rows < 1.15


@pytest.mark.parametrize("question", [{"detect": 0.1}, {"width": 0.1, "metric": "brier"}])
def test_a_whole_weight_of_a_pilot_is_a_number_of_equal_rows(question):
    rng = np.random.default_rng(3)
    prob, times = rng.uniform(0.05, 0.95, 40).round(2), rng.integers(0, 9, 40)
    counts = cb.rows_for(**question, y_prob=prob, sample_weight=times)
    repeated = cb.rows_for(**question, y_prob=np.repeat(prob, times))
    assert counts.assumed == repeated.assumed
    assert counts.rows == pytest.approx(repeated.rows, rel=1e-9)
    huge = cb.rows_for(**question, y_prob=prob, sample_weight=times * 2.0**70)
    assert huge.rows == pytest.approx(counts.rows, rel=0.2)
    assert counts.rows != cb.rows_for(**question, y_prob=prob).rows
    with pytest.raises(ValueError, match="sample_weight must stand beside y_prob"):
        cb.rows_for(**question, event_rate=0.3, sample_weight=times)


@pytest.mark.deep
def test_decimals_of_a_pilot_have_the_same_bins_in_single_precision():
    tenths = np.random.default_rng(3).multinomial(10, [0.2, 0.3, 0.5], 40) / 10
    assert len({cb.rows_for(width=0.1, y_prob=tenths.astype(kind), binning=10).rows for kind in "df"}) == 1


# The search for the rows at which a noisy figure reaches a target


def noisy_line(seed, rows, noise, slope=1.3):
    """A figure that is 0 at so many rows, with noise, and the calls that were made."""
    rng, calls = np.random.default_rng(seed), []

    def figure(n, rough):
        calls.append(n)
        return slope * np.log(n / rows) + noise * rng.normal()

    return figure, calls


def test_the_place_is_found_exactly_without_noise():
    figure, calls = noisy_line(0, 1234.5, 0.0)
    found = rows_where(figure, 0.0)
    assert found.rows == 1235
    assert found.standard_error < 1e-6
    assert found.tried.tolist() == sorted(calls)


@pytest.mark.parametrize("part", [0.5, 1.0], ids=["of the root of the rows", "of the rows"])
def test_the_place_is_found_where_the_figure_is_no_line(part):
    """Normal quantiles of power rise with the root of the rows, where errors are large, or with the rows."""
    found = rows_where(lambda n, rough: 2.486 * (n / 1000.0) ** part - 1.645, 0.841)
    assert found.rows == pytest.approx(1000, abs=5)


def test_the_standard_error_is_that_of_repeated_searches():
    found = [rows_where(noisy_line(seed, 3000.0, 0.1)[0], 0.0) for seed in range(200)]
    rows, errors = np.array([one.rows for one in found]), np.array([one.standard_error for one in found])
    assert abs(rows.mean() / 3000.0 - 1.0) < 0.01
    assert 0.85 < errors.mean() / rows.std() < 1.15


def test_what_the_most_rows_do_not_reach_is_refused_with_their_figure():
    figure, calls = noisy_line(0, 10_000.0, 0.0)
    with pytest.raises(OutOfReachError) as short:
        rows_where(figure, 0.0, most=8000)
    assert (short.value.rows, max(calls)) == (8000, 8000)
    assert short.value.figure == pytest.approx(1.3 * np.log(0.8))


def test_the_most_rows_that_reach_it_by_luck_are_refused_where_the_line_says_more():
    def figure(n, rough):
        return 1.3 * np.log(n / 10_000.0) + (1.0 if rough and n == 8000 else 0.0)

    with pytest.raises(OutOfReachError) as short:
        rows_where(figure, 0.0, most=8000)
    assert short.value.rows == 8000


def test_what_the_fewest_rows_reach_is_not_looked_for_below():
    figure, calls = noisy_line(0, 20.0, 0.0)
    assert rows_where(figure, 0.0).rows == LEAST
    assert calls == [LEAST]


@pytest.mark.parametrize("seed", range(3))
def test_a_figure_of_noise_alone_does_not_search_forever(seed):
    figure, calls = noisy_line(seed, 1.0, noise=1.0, slope=0.0)
    with suppress(OutOfReachError):
        rows_where(figure, 0.5 * seed, most=10**9)
    assert len(calls) <= 30 + 2 * planning.ROUNDS * planning.POINTS
