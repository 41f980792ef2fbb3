"""What a report says is true of the data, is plain JSON, and covers odd but legal forecasts."""

import json
import warnings

import numpy as np
import pytest

from calibrant import EqualWidth, advise, assess
from calibrant.metrics import debiased_calibration_error
from calibrant.report.page import MOST_CLASSES, NEEDED, render, summarise
from calibrant.report.sentences import ASK, findings

N = 1000


def binary(*groups):
    """Rows of a score that say ``says`` while the event occurs in a share ``comes`` of them."""
    prob = np.repeat([says for says, _ in groups], N)
    truth = np.concatenate([np.arange(N) < round(comes * N) for _, comes in groups])
    return assess(truth, prob, n_resamples=99)


def by_prediction(*groups):
    """Rows that predict class j with confidence ``says`` and are right in a share ``comes`` of them."""
    k = len(groups)
    prob, truth = [], []
    for j, (says, comes) in enumerate(groups):
        prob += [np.full((N, k), (1 - says) / (k - 1))]
        prob[-1][:, j] = says
        truth += [np.where(np.arange(N) < round(comes * N), j, (j + 1) % k)]
    return assess(np.concatenate(truth), np.concatenate(prob), n_resamples=99)


# Findings


@pytest.mark.parametrize(
    ("assessment", "word"),
    [
        (lambda: by_prediction((0.9, 0.7), (0.9, 0.7), (0.9, 0.7)), "Over-confident by 20.0 points"),
        (lambda: by_prediction((0.6, 0.75), (0.6, 0.75), (0.6, 0.75)), "Under-confident by 15.0 points"),
        (lambda: binary((0.3, 0.2), (0.9, 0.8)), "Too high by 10.0 points"),
        (lambda: binary((0.3, 0.4), (0.7, 0.8)), "Too low by 10.0 points"),
        (lambda: binary((0.3, 0.5), (0.7, 0.5)), "Too extreme by 20.0 points"),
        (lambda: binary((0.4, 0.3), (0.6, 0.7)), "Too timid by 10.0 points"),
        (lambda: binary((0.2, 0.3), (0.4, 0.3), (0.6, 0.5), (0.8, 0.9)), "Too high for some"),
        (lambda: by_prediction((0.7, 0.8), (0.7, 0.6), (0.7, 0.7)), "Off by class: class"),
    ],
    ids=["table over", "table under", "too high", "too low", "event over", "event under", "wave", "by class"],
)
def test_a_report_begins_with_the_verdict(assessment, word):
    found = assessment()
    how, *more = findings(found)
    assert how.startswith(word)
    assert [how, *more][: len(found.verdict.sentences)] == list(found.verdict.sentences)
    assert more[-2].startswith("The ECE of" if "by class" in word else "This is more than noise")
    assert more[-1] == ASK


@pytest.mark.parametrize(
    "assessment",
    [lambda: binary((0.3, 0.3), (0.7, 0.7)), lambda: by_prediction((0.8, 0.8), (0.8, 0.8), (0.8, 0.8))],
    ids=["binary", "table"],
)
def test_a_calibrated_forecast_shows_nothing_and_is_not_called_proven(assessment):
    how, real, then = findings(assessment())
    assert how.startswith(f"No miscalibration was detected in {assessment().n_rows} rows: ")
    assert "is within the noise" in real
    assert then.startswith(f"No miscalibration is visible in {assessment().n_rows} rows.")
    assert "no proof of calibration" in then


def test_findings_quote_the_figures_of_the_assessment():
    assessment = by_prediction((0.9, 0.7), (0.9, 0.7), (0.9, 0.7))
    how, *_, real, _ = findings(assessment)
    ece = assessment["ece"]
    assert how.endswith(": mean confidence 90.0 %, accuracy 70.0 %.")
    assert f"the ECE is {ece.value:.4f}, and {ece.noise_floor:.4f} is expected of a calibrated forecast" in real
    assert ece.pvalue == 1 / 100
    assert "(p <= 0.01, from 99 draws" in real


def test_the_event_of_two_classes_is_named():
    truth = np.where(np.arange(1000) % 1000 < 400, "ill", "well")
    for prob in (np.full(1000, 0.5), np.full((1000, 2), 0.5)):
        how, *_ = findings(assess(truth, prob, pos_label="ill", n_resamples=99))
        assert how.endswith(": class ill occurred in 40.0 % of the rows, predicted 50.0 % on average.")


# Values


def random_forecast(k, n=60, seed=0):
    rng = np.random.default_rng(seed)
    return rng.integers(0, k, n), rng.dirichlet(np.ones(k), n)


ODD = {
    "one column": lambda: (np.array([0, 1, 1]), np.array([0.2, 0.9, 0.4])),
    "two classes": lambda: random_forecast(2),
    "three classes": lambda: random_forecast(3),
    "100 classes": lambda: random_forecast(100, n=120),
    "one row": lambda: ([2], [[0.2, 0.3, 0.5]]),
    "one row of one column": lambda: ([1], [0.7]),
    "an absent class": lambda: ([0, 1, 0], [[0.6, 0.3, 0.1], [0.1, 0.8, 0.1], [0.5, 0.4, 0.1]]),
    "certain": lambda: ([0, 1], [[1.0, 0.0], [1.0, 0.0]]),
}


@pytest.fixture(params=ODD)
def odd(request):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="log loss")  # of the certain forecast
        return assess(*ODD[request.param](), n_resamples=9)


def test_a_summary_is_plain_json_without_nan(odd):
    summary = summarise({"forecast": odd})
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary


@pytest.mark.filterwarnings("ignore:log loss")
def test_an_infinite_loss_is_plain_json_and_its_events_are_counted_beside_it():
    found = assess(*ODD["certain"](), clip=0, n_resamples=9)
    summary = summarise({"forecast": found, "clipped": assess(*ODD["certain"](), n_resamples=9)})
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary
    (line,) = [line for line in summary["table"] if line["metric"] == "nll"]
    assert line["estimates"][0]["value"] == line["estimates"][0]["upper"] == "inf"
    counted = "1 of 2 rows with probability 0 for the true class"
    assert line["notes"] == [counted, f"{counted}, 36.04 nats each"]
    assert f"The log loss is not exact: {counted}, 36.04 nats each." in summary["forecasts"][1]["findings"]
    assert f"The log loss is infinite: {counted}." in summary["forecasts"][0]["findings"]
    page = render({"forecast": found})
    assert "inf]" in page
    assert counted in page


def test_the_bins_are_those_of_the_curve(odd):
    panel = odd.curve.panels[0]
    found = summarise({"forecast": odd})["diagrams"][0]["curves"][0]["bins"]
    nan = {None: np.nan}
    for key, column in {
        "left": panel.bins.edges[:-1],
        "right": panel.bins.edges[1:],
        "count": panel.bins.count,
        "mean_prob": panel.bins.mean_prob,
        "event_rate": panel.bins.event_rate,
        "lower": panel.lower,
        "upper": panel.upper,
    }.items():
        np.testing.assert_array_equal([nan.get(b[key], b[key]) for b in found], column)


@pytest.mark.parametrize("weight", [None, 2.0])
def test_the_worst_classes_come_first_by_the_error_without_its_bias(weight):
    rng = np.random.default_rng(0)
    prob = rng.dirichlet(np.ones(20), 2000)
    truth = np.array([rng.choice(20, p=p) for p in prob])
    bold = prob**2 / (prob**2).sum(axis=1, keepdims=True)
    weights = {} if weight is None else {"sample_weight": np.full(2000, weight)}
    both = {name: assess(truth, p, n_resamples=1, **weights) for name, p in (("bold", bold), ("right", prob))}
    summary = summarise(both)
    errors = [
        [debiased_calibration_error(truth == k, p[:, k], binning=EqualWidth(15), **weights) for p in (bold, prob)]
        for k in range(20)
    ]
    lines = summary["classes"]
    assert [line["name"] for line in lines] == [f"class {k}" for k in sorted(range(20), key=lambda k: -max(errors[k]))]
    for line in lines:
        k = int(line["name"].split()[1])
        assert [one["error"] for one in line["of"]] == pytest.approx([100 * error for error in errors[k]])
        assert line["of"][0]["occurred"] == pytest.approx(100 * (truth == k).mean())
    shown = summary["class_diagrams"]
    assert [one["name"] for one in shown] == [line["name"] for line in lines[:MOST_CLASSES]]
    assert [c["forecast"] for c in shown[0]["curves"]] == ["bold", "right"]


def test_a_line_joins_neighbours_of_enough_rows_alone():
    prob = np.repeat([0.1, 0.3, 0.5, 0.7, 0.9], [40, 40, 5, 40, 40])
    (diagram,) = summarise({"f": assess(np.arange(165) % 2, prob, binning=5, n_resamples=1)})["diagrams"]
    (curve,) = diagram["curves"]
    assert [[b["mean_prob"] for b in run] for run in curve["joined"]] == [
        pytest.approx([0.1, 0.3]),
        pytest.approx([0.7, 0.9]),
    ]
    assert [b["few"] for b in curve["bins"]] == [False, False, True, False, False]


# Refusals


def test_one_advice_for_several_forecasts_is_refused():
    odd = ODD["three classes"]()
    both = dict.fromkeys("ab", assess(*odd, n_resamples=1))
    with pytest.raises(TypeError, match=r"advice must say which forecast it is about; got one for a, b\. Pass"):
        summarise(both, advice=advise(*odd))


def test_no_assessment_is_refused():
    with pytest.raises(ValueError, match="at least one assessment; got an empty dict"):
        summarise({})


@pytest.mark.parametrize("found", [3, "report", [], {"a": 1}, {"a": None}])
def test_what_is_no_assessment_is_refused(found):
    with pytest.raises(TypeError, match="a report must be of type Assessment; got"):
        summarise(found)


@pytest.mark.parametrize("what", ["advice", "clinical"])
def test_what_is_said_of_no_forecast_of_the_report_is_refused(what):
    found = assess([0, 1], [0.3, 0.6], n_resamples=1)
    with pytest.raises(ValueError, match=f"{what} must be of forecasts of the report; got other for model"):
        summarise({"model": found}, **{what: {"other": ()}})


@pytest.mark.parametrize("given", [3, "platt", [1], {"model": "platt"}])
@pytest.mark.parametrize("what", ["advice", "clinical", "differences"])
def test_what_is_of_another_type_is_refused(what, given):
    found = assess([0, 1], [0.3, 0.6], n_resamples=1)
    with pytest.raises(TypeError, match=rf"{what} must be (of type|a dict by the names of forecasts).*; got .*Pass "):
        summarise({"model": found}, **{what: given})


@pytest.mark.parametrize("missing", NEEDED)
def test_an_assessment_without_the_metrics_of_the_sentences_is_refused(missing):
    metrics = [name for name in (*NEEDED, "brier") if name != missing]
    assessment = assess(*ODD["three classes"](), metrics=metrics, n_resamples=1)
    with pytest.raises(
        ValueError, match=rf"a report needs accuracy, nll, ece; 'mine' was assessed without {missing}\. Add"
    ):
        summarise({"mine": assessment})
