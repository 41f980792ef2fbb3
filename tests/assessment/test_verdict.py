"""The verdict on forecasts whose truth is known."""

import re
import warnings
from dataclasses import asdict
from functools import partial

import numpy as np
import pytest
from scipy.special import expit, softmax
from scipy.stats import binom, binomtest

from calibrant import assess, calibration_slope
from calibrant.exceptions import CalibrationWarning
from calibrant.metrics.estimate import ABOVE_INTERVAL, MOSTLY_NOISE
from calibrant.report.sentences import findings
from calibrant.significance import cox_test

NONE = ("none detected",)


def event(rng, n=2000, a=0.0, b=1.0, centre=0.0, spread=1.5):
    """Log-odds of the event are a + b times those of the forecast."""
    z = centre + spread * rng.normal(size=n)
    return {"y_true": rng.random(n) < expit(a + b * z), "y_prob": expit(z)}


def rates(rng, rate, n=2000):
    """Uniform predictions p, and events with probability rate(p)."""
    p = rng.random(n)
    return {"y_true": rng.random(n) < np.clip(rate(p), 0.0, 1.0), "y_prob": p}


def constant(rng, predicted, rate, n=2000):
    return {"y_true": rng.random(n) < rate, "y_prob": np.full(n, predicted), "labels": [0, 1]}


def one_class(rng, n=200):
    """No event, of which a calibrated forecast of this kind has 3 on average."""
    return {"y_true": np.zeros(n, dtype=int), "y_prob": 0.03 * rng.random(n), "labels": [0, 1]}


def classes(rng, n=2000, k=4, scale=2.0, true=lambda z: z, stated=lambda z: z, **options):
    """Logits z; labels are drawn from true(z), and stated(z) is the forecast."""
    z = scale * rng.normal(size=(n, k))
    label = (rng.random(n)[:, None] > softmax(true(z), axis=1).cumsum(axis=1)).sum(axis=1).clip(0, k - 1)
    prob = stated(z) if options.get("input") == "logit" else softmax(stated(z), axis=1)
    return {"y_true": label, "y_prob": prob, "labels": range(k), **options}


def bold_in_one_class(z):
    """Rows that predict class 2 do so with too much confidence."""
    return np.where((z.argmax(axis=1) == 2)[:, None], 2.5 * z, z)


def calibrated_but_178(rng):
    """178 rows are stated to be certain; the others are calibrated."""
    case = event(rng)
    case["y_prob"][:178] = 1.0
    return case


def weighted(rng):
    case = event(rng, 4000, a=0.5)
    prob = np.round(case["y_prob"], 2).clip(0.01, 0.99)
    cell = 2 * np.round(100 * prob).astype(int) + case["y_true"]
    found, count = np.unique(cell, return_counts=True)
    return {"y_true": found % 2, "y_prob": found // 2 / 100, "sample_weight": count}


def stated(rng, forecast, n=2000):
    """Events of calibrated probabilities q, of which forecast(q) is stated."""
    q = expit(1.5 * rng.normal(size=n))
    return {"y_true": rng.random(n) < q, "y_prob": forecast(q)}


PRIOR = np.array([1.0, 0.0, 0.0, -1.0])

TRUTHS = {
    "calibrated": (event, NONE),
    "rare and calibrated": (lambda rng: event(rng, 3000, centre=-5.5, spread=1.0), NONE),
    "few rows of noise": (lambda rng: event(rng, 60), NONE),
    "one row": (lambda rng: event(rng, 1), NONE),
    "no event, as may be": (one_class, NONE),
    "constant and right": (lambda rng: constant(rng, 0.3, 0.3), NONE),
    "constant and wrong": (lambda rng: constant(rng, 0.3, 0.4), ("too low",)),
    "too extreme": (lambda rng: event(rng, b=0.5), ("too extreme",)),
    "too timid": (lambda rng: event(rng, b=1.7), ("too timid",)),
    "too high": (lambda rng: event(rng, a=-0.7), ("too high",)),
    "too low": (lambda rng: event(rng, a=0.7), ("too low",)),
    "a risk that is too low": (lambda rng: event(rng, 3000, a=0.55, centre=-1.1, spread=1.0), ("too low",)),
    "too low and too extreme": (lambda rng: event(rng, a=0.7, b=0.5), ("too low and too extreme",)),
    "waves": (lambda rng: rates(rng, lambda p: p + 0.7 * p * (1 - p) * np.cos(6 * np.pi * p)), ("other",)),
    "178 stated 100s": (calibrated_but_178, ("too high",)),
    "counts": (weighted, ("too low",)),
    "classes, calibrated": (classes, NONE),
    "logits, calibrated": (lambda rng: classes(rng, input="logit"), NONE),
    "100 classes, calibrated": (lambda rng: classes(rng, k=100), NONE),
    "classes, over-confident": (lambda rng: classes(rng, stated=lambda z: 2 * z), ("over-confident",)),
    "classes, under-confident": (lambda rng: classes(rng, stated=lambda z: z / 2), ("under-confident",)),
    "logits, over-confident": (lambda rng: classes(rng, stated=lambda z: 2 * z, input="logit"), ("over-confident",)),
    "bold in one class": (lambda rng: classes(rng, stated=bold_in_one_class), ("over-confident and by class",)),
    "prior shift": (lambda rng: classes(rng, true=lambda z: z + PRIOR), ("over-confident and by class",)),
    "labels swapped": (lambda rng: stated(rng, lambda q: 1 - q), ("wrong way round",)),
    "order reversed": (lambda rng: stated(rng, lambda q: np.where(q > 0.5, 0.45, 0.55)), ("wrong way round",)),
    "hard labels": (lambda rng: stated(rng, lambda q: (q > 0.5).astype(float)), ("too extreme",)),
    "hard labels, swapped": (lambda rng: stated(rng, lambda q: (q < 0.5).astype(float)), ("wrong way round",)),
    "without order": (lambda rng: rates(rng, lambda p: np.full(p.size, 0.5)), ("too extreme",)),
} | {
    f"{notion}, {name}": (partial(classes, notion=notion, stated=change), wanted)
    for notion in ("top-label", "class-wise", "flattened")
    for name, change, wanted in (
        ("calibrated", lambda z: z, NONE),
        ("over-confident", lambda z: 2 * z, ("over-confident",)),
        ("under-confident", lambda z: z / 2, ("under-confident",)),
    )
}

RIGHT = 0.95
"""Share of the samples, at least, of which the verdict is that of the truth."""


def verdict(case, **options):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="log loss", category=CalibrationWarning)  # of 178 stated 100s
        return assess(**case, **{"n_resamples": 250} | options).verdict


def count_right(name, n_samples, **options):
    make, wanted = TRUTHS[name]
    found = [verdict(make(np.random.default_rng(seed)), **options) for seed in range(n_samples)]
    return sum(" and ".join(one.faults or NONE) in wanted for one in found)


@pytest.mark.parametrize("name", TRUTHS)
def test_the_verdict_is_that_of_the_truth(name):
    n = 3 if name.startswith("100") else 8
    assert count_right(name, n, n_resamples=100) >= binom.ppf(1e-3, n, RIGHT)


def test_few_misses_do_not_show_that_a_forecast_is_too_timid():
    """Of 100 rows 2.3 misses are expected, and none occurs in one sample of ten."""
    rng = np.random.default_rng(0)
    forecasts = [rng.beta(0.05, 0.05, 100) for _ in range(100)]
    found = [verdict({"y_true": rng.random(100) < p, "y_prob": p, "labels": [0, 1]}, n_resamples=19) for p in forecasts]
    assert sum("too timid" in one.faults for one in found) <= binom.ppf(0.999, 100, 0.01)


CALIBRATED = [
    "calibrated",
    "rare and calibrated",
    "classes, calibrated",
    "class-wise, calibrated",
    "flattened, calibrated",
]


@pytest.mark.deep
@pytest.mark.parametrize("name", CALIBRATED)
def test_a_calibrated_forecast_is_called_wrong_in_at_most_one_sample_of_twenty_and_in_some(name):
    n = 600
    assert binom.ppf(1e-3, n, 0.02) <= n - count_right(name, n) <= binom.ppf(1 - 1e-3, n, 0.05)


def test_each_question_finds_nothing_at_its_share_of_the_level():
    """Without drawn errors two questions are asked of an event, each at 0.1: no more than 0.2, and not much less."""
    n = 200
    found = [verdict(event(np.random.default_rng(s), 500), metrics=["accuracy"], level=0.2) for s in range(n)]
    assert binom.ppf(1e-3, n, 0.15) <= sum(bool(one.faults) for one in found) <= binom.ppf(1 - 1e-3, n, 0.2)


def test_the_interval_holds_the_true_points():
    held, n = 0, 200
    for seed in range(n):
        rng = np.random.default_rng(seed)
        z = 1.5 * rng.normal(size=500)
        true = expit(0.4 + 0.8 * z)
        found = verdict({"y_true": rng.random(500) < true, "y_prob": expit(z)}, metrics=["accuracy"])
        held += found.lower <= 100 * (expit(z) - true).mean() <= found.upper
    assert binom.ppf(1e-3, n, 0.95) <= held


# Its figures and its words


def counted(*groups):
    """Rows of (predicted probability, rows, events)."""
    prob = np.repeat([p for p, *_ in groups], [n for _, n, _ in groups])
    return {"y_true": np.concatenate([np.arange(n) < k for _, n, k in groups]).astype(int), "y_prob": prob}


def test_a_risk_model_that_predicts_too_few_events_is_too_low():
    found = verdict(counted((0.1, 1000, 150), (0.281, 1000, 371), (0.462, 1000, 592)))
    assert found.faults == ("too low",)
    assert str(found) == (
        "Too low by 9.0 points (95 % interval 7.4 to 10.6): "
        "class 1 occurred in 37.1 % of the rows, predicted 28.1 % on average."
    )
    assert (found.points, found.predicted, found.observed) == pytest.approx((-9.0, 0.281, 0.371))


def test_the_slope_is_that_of_the_logistic_regression_and_its_test_that_of_cox():
    case = event(np.random.default_rng(0), 800, a=0.1, b=0.8)
    found = verdict(case)
    estimate = assess(**case, metrics=["calibration-slope"])["calibration-slope"]
    assert found.slope == pytest.approx(calibration_slope(**case), rel=1e-3)
    assert (found.slope_lower, found.slope_upper) == pytest.approx(estimate.interval, abs=0.02)
    alone = verdict(case, metrics=["accuracy"])
    assert alone.pvalue == pytest.approx(2 * cox_test(**case, parameters="slope").pvalue, rel=0.02)


def test_a_negative_slope_is_said_to_run_the_wrong_way():
    found = verdict(stated(np.random.default_rng(0), lambda q: 1 - q))
    assert found.slope_upper < 0.0
    assert str(found).startswith("The wrong way round: class True is rarer where its probability is higher; ")
    assert "Are labels or columns swapped?" in str(found)


def test_hard_labels_that_are_wrong_have_a_direction_and_those_that_are_right_none():
    found = verdict(counted((0.0, 100, 25), (1.0, 100, 75)))
    assert found.faults == ("too extreme",)
    assert "extreme by 25.0 points on average: high probabilities of class 1 are too high" in found.sentences[0]
    assert found.sentences[1:] == ("50 of 200 rows with a probability within 1e-12 of 0 or 1 are wrong.",)


def test_an_interval_that_leaves_out_the_calibrated_value_where_nothing_was_detected_is_spoken_of():
    spoken = 0
    for seed in range(30):
        found = verdict(event(np.random.default_rng(seed), 300), metrics=["accuracy"])
        off = not found.lower <= 0.0 <= found.upper or not found.slope_lower <= 1.0 <= found.slope_upper
        told = any(sentence.startswith("By itself the ") for sentence in found.sentences)
        assert not off or told or found.faults
        spoken += told
    assert 0 < spoken < 10


@pytest.mark.parametrize("n", [30, 3000])
def test_a_base_rate_is_printed_without_rounding_and_as_sure_as_its_rows(n):
    """The mean of the outcomes as the forecast: the interval ends about where that of Clopper and Pearson does."""
    y = np.arange(n) % 10 < 3
    found = assess(y, np.full(n, y.mean()), n_resamples=250)
    reach = binomtest(3 * n // 10, n).proportion_ci().high - 0.3
    for name in ("ece", "mce"):
        assert found[name].value == found[name].lower == 0.0
        assert 0.9 * reach < found[name].upper < 1.2 * reach
    assert (found.verdict.points, found.verdict.pvalue) == (0.0, 1.0)
    assert "e-1" not in str(found)


def test_of_rows_that_are_all_certain_and_right_as_many_may_be_wrong():
    reach = 100 * (1 - binomtest(20, 20).proportion_ci().low)
    for n_events, ends in ((10, (-reach, reach)), (20, (0.0, reach)), (0, (-reach, 0.0))):
        y = (np.arange(20) < n_events).astype(int)
        found = assess(y, y.astype(float), labels=[0, 1], metrics=["accuracy"]).verdict
        assert (found.lower, found.upper) == pytest.approx(ends)


def test_certain_rows_that_are_wrong_are_counted_and_the_slope_is_without_them():
    case = calibrated_but_178(np.random.default_rng(0))
    found = verdict(case, metrics=["ece"])
    wrong = int((case["y_true"][:178] == 0).sum())
    rest = calibration_slope(case["y_true"][178:], case["y_prob"][178:])
    with pytest.warns(CalibrationWarning, match=f"got {wrong} in 2000 rows.*, and {rest:.4g} without"):
        ruled = calibration_slope(**case)
    assert (found.certain, found.wrong) == (178, wrong)
    assert found.slope == pytest.approx(rest, rel=1e-3)
    assert f"the calibration slope is {ruled:.3g}, without them {found.slope:.3g}" in found.sentences[-1]


@pytest.mark.parametrize(
    ("certain", "wrong", "is_fault"), [(40, 1, False), (40, 3, True), (1, 1, True), (1000, 15, False)]
)
def test_certain_rows_of_which_more_than_one_in_a_hundred_is_wrong_are_a_fault(certain, wrong, is_fault):
    case = stated(np.random.default_rng(0), lambda q: q, 20_000)
    case["y_prob"][:certain] = case["y_true"][:certain] ^ (np.arange(certain) < wrong)
    found = verdict(case, metrics=["accuracy"])
    assert (found.certain, found.wrong) == (certain, wrong)
    assert found.faults == (("other",) if is_fault else ())
    assert (binomtest(wrong, certain, 0.01, "greater").pvalue <= 0.025) == is_fault == (found.pvalue <= 0.05)
    assert found.sentences[0].startswith("Wrong where it is certain: class True occurred in ") == is_fault


def test_certain_rows_count_as_what_they_are_worth():
    """Weights of which few rule: 40 certain rows, 12 of them wrong, are worth less than one of the equal rows."""
    case = stated(np.random.default_rng(0), lambda q: q, 20_000)
    case["y_prob"][:40] = case["y_true"][:40] ^ (np.arange(40) < 12)
    weight = np.where((np.arange(20_000) % 20 == 0) & (np.arange(20_000) >= 40), 9.5, 0.1)
    assert verdict(case | {"sample_weight": weight}, metrics=["accuracy"]).faults == ()
    assert verdict(case | {"sample_weight": np.full(20_000, 0.5)}, metrics=["accuracy"]).faults == ("other",)


@pytest.mark.parametrize("n", [2000, 200_000])
def test_a_slope_is_printed_with_the_digits_that_its_interval_has(n):
    found = verdict(event(np.random.default_rng(0), n, b=0.7), metrics=["accuracy"])
    shown = re.search(r"slope (\d.\d+), 95 % interval (\d.\d+) to (\d.\d+)", str(found)).groups()
    low, high = found.slope_lower, found.slope_upper
    assert list(map(float, shown)) == pytest.approx([found.slope, low, high], abs=0.06 * (high - low))
    assert len({*shown}) == 3


def test_the_errors_of_classes_are_named_with_their_sign():
    found = verdict(classes(np.random.default_rng(0), 5000, true=lambda z: z + PRIOR))
    assert found.by_class["class 0"] < 0 < found.by_class["class 3"]
    assert "class 0 is too low by" in str(found)


def test_weights_of_which_few_rule_are_said_to_be_worth_fewer_rows():
    case = event(np.random.default_rng(0), 500)
    weight = np.random.default_rng(1).pareto(1.0, 500)
    worth = weight.sum() ** 2 / (weight**2).sum()
    said = f"The weights make 500 rows worth {worth:.3g} equal ones."
    assert verdict(case, sample_weight=weight).sentences[-1] == said
    assert "weights" not in str(verdict(case))


def same(one, other):
    """Whether two verdicts are equal but for rounding."""
    one, other = asdict(one), asdict(other)
    for name, value in one.items():
        if isinstance(value, float):
            assert value == pytest.approx(other[name], rel=1e-9, abs=1e-9, nan_ok=True), name
        elif name != "by_class":
            assert value == other[name], name
    return True


def test_counts_give_the_verdict_of_the_repeated_rows():
    case = weighted(np.random.default_rng(0))
    count = case.pop("sample_weight")
    options = {"metrics": ["accuracy"]}  # draws differ
    assert same(
        verdict(case, sample_weight=count, **options),
        verdict({name: np.repeat(values, count) for name, values in case.items()}, **options),
    )


@pytest.mark.parametrize("notion", ["class-wise", "top-label"])
def test_a_notion_of_several_events_is_judged_class_by_class(notion):
    right, wrong = (classes(np.random.default_rng(0), 5000, true=true) for true in (lambda z: z, lambda z: z + PRIOR))
    assert verdict(right, notion=notion).faults == ()
    assert same(*(verdict(wrong, notion=one, metrics=["accuracy"]) for one in (notion, "confidence")))
    assert "by class" in verdict(wrong, notion=notion).faults


def test_a_calibrated_forecast_that_is_certain_and_right_has_no_fault():
    found = verdict({"y_true": [0, 1] * 50, "y_prob": [0.0, 1.0] * 50})
    assert (found.faults, found.certain, found.wrong) == ((), 100, 0)
    assert verdict({"y_true": [0, 1] * 50, "y_prob": [1.0, 0.0] * 50}, clip=0, metrics=["accuracy"]).wrong == 100


# Noise


def test_a_value_above_its_interval_is_not_called_noise_while_most_of_it_is_left():
    found = assess(**classes(np.random.default_rng(0), 400, k=10, true=lambda z: z / 1.5), n_resamples=250)
    rows = found.rows
    for note in (ABOVE_INTERVAL, MOSTLY_NOISE):
        assert str(found).count(note) == found._repr_html_().count(note) == sum(row.note == note for row in rows)
    assert not any("log loss" in sentence for sentence in findings(found))
    above = [row for row in rows if row.estimate.debiased is not None and row.estimate.value > row.estimate.upper]
    assert above
    for row in above:
        half = row.estimate.debiased < row.estimate.value / 2
        assert row.note == (MOSTLY_NOISE if half else ABOVE_INTERVAL)
    assert any(row.note == ABOVE_INTERVAL for row in above)
