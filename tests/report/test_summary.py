"""What a report says is true of the data, is plain JSON, and covers odd but legal forecasts."""

import json
import warnings

import numpy as np
import pytest

from calibrant import TemperatureScaling, assess
from calibrant.report.html import render
from calibrant.report.summary import MOST_CLASSES, NEEDED, findings, summarise

N = 1000
TEMPERATURE = "fit temperature scaling"
ISOTONIC = "one temperature cannot repair this; try isotonic calibration on rows"


def binary(*groups):
    """Rows of a score that say ``says`` while the event comes in a share ``comes`` of them."""
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


def sentences(assessment):
    how, real, *by_class, then = findings(assessment)
    return how, real, by_class, then


# Findings


@pytest.mark.parametrize(
    ("assessment", "word", "way"),
    [
        (lambda: by_prediction((0.9, 0.7), (0.9, 0.7), (0.9, 0.7)), "over-confident by 20.0 points", TEMPERATURE),
        (lambda: by_prediction((0.6, 0.75), (0.6, 0.75), (0.6, 0.75)), "under-confident by 15.0 points", TEMPERATURE),
        (lambda: binary((0.3, 0.2), (0.9, 0.8)), "too high by 10.0 points", ISOTONIC),
        (lambda: binary((0.3, 0.4), (0.7, 0.8)), "too low by 10.0 points", ISOTONIC),
        (
            lambda: binary((0.3, 0.5), (0.7, 0.5)),
            "over-confident, its probabilities are too far from 50 % by 20.0 points",
            TEMPERATURE,
        ),
        (
            lambda: binary((0.4, 0.3), (0.6, 0.7)),
            "under-confident, its probabilities are too near to 50 % by 10.0 points",
            TEMPERATURE,
        ),
    ],
    ids=["table over", "table under", "too high", "too low", "event over", "event under"],
)
def test_a_fault_is_named_with_its_size_and_the_way_to_repair_it(assessment, word, way):
    how, real, by_class, then = sentences(assessment())
    assert f"The forecast is {word}: " in how
    assert real.startswith("This is more than chance")
    assert by_class == []
    assert way in then


@pytest.mark.parametrize("temperature", [0.4, 2.5])
def test_what_is_sent_to_temperature_scaling_is_repaired_by_it(temperature):
    """The advice holds on a binary forecast whose logits are all too large or all too small."""
    rng = np.random.default_rng(0)
    z = rng.normal(0, 1.5, 3000)
    y = (rng.random(3000) < 1 / (1 + np.exp(-z))).astype(int)
    wrong = 1 / (1 + np.exp(-z * temperature))
    assert TEMPERATURE in sentences(assess(y, wrong, n_resamples=99))[-1]
    repaired = TemperatureScaling().fit(wrong[:1500], y[:1500]).calibrate(wrong[1500:])
    assert "can be shown" in sentences(assess(y[1500:], repaired, n_resamples=99))[0]


def test_errors_of_both_signs_are_named_and_not_sent_to_temperature_scaling():
    how, real, _, then = sentences(binary((0.1, 0.3), (0.3, 0.1), (0.7, 0.9), (0.9, 0.7)))
    assert how.startswith("The forecast is off in both directions")
    assert real.startswith("This is more than chance")
    assert "one temperature cannot repair" in then
    assert ISOTONIC in then


def test_isotonic_calibration_on_a_few_rows_comes_with_a_caution():
    prob = np.repeat([0.3, 0.7], 200)
    truth = np.r_[np.arange(200) < 100, np.arange(200) < 180]
    assert "with fewer than 1000 rows it over-fits easily" in sentences(assess(truth, prob, n_resamples=99))[-1]


@pytest.mark.parametrize(
    "assessment",
    [lambda: binary((0.3, 0.3), (0.7, 0.7)), lambda: by_prediction((0.8, 0.8), (0.8, 0.8), (0.8, 0.8))],
    ids=["binary", "table"],
)
def test_a_calibrated_forecast_shows_nothing_and_is_not_called_proven(assessment):
    how, real, by_class, then = sentences(assessment())
    assert how.startswith(f"No miscalibration can be shown in {assessment().n_rows} rows: ")
    assert "no more than chance makes" in real
    assert by_class == []
    assert then.startswith("Nothing to repair is visible in")
    assert "no proof of calibration" in then


def test_miscalibration_that_only_shows_class_by_class_is_told():
    assessment = by_prediction((0.7, 0.8), (0.7, 0.6), (0.7, 0.7))
    how, _, by_class, then = sentences(assessment)
    assert how.startswith("No miscalibration can be shown")
    assert any(
        sentence.startswith("Given the predicted class, miscalibration does show: TL-ECE") for sentence in by_class
    )
    assert "a method that treats the classes apart" in then


def test_findings_quote_the_figures_of_the_assessment():
    assessment = by_prediction((0.9, 0.7), (0.9, 0.7), (0.9, 0.7))
    how, real, _, _ = sentences(assessment)
    ece = assessment["ece"]
    assert "gives its predicted class 90.0% on average, and is right in 70.0% of the rows" in how
    assert f"the ECE is {ece.value:.4f}, and a calibrated forecast would show {ece.noise_floor:.4f}" in real
    assert f"p = {ece.pvalue:.3g}, from 99 draws" in real


def test_the_event_of_two_classes_is_named():
    truth = np.where(np.arange(1000) % 1000 < 400, "ill", "well")
    for prob in (np.full(1000, 0.5), np.full((1000, 2), 0.5)):
        how, *_ = sentences(assess(truth, prob, pos_label="ill", n_resamples=99))
        assert (
            "the predicted probability of class ill is 50.0% on average, and it is the true class in 40.0% of the rows"
            in how
        )


# Comparisons


def test_forecasts_are_compared_with_the_first_by_log_loss():
    worse, better = by_prediction((0.95, 0.7), (0.95, 0.7)), by_prediction((0.7, 0.7), (0.7, 0.7))
    sentence, last = summarise({"a": worse, "b": better, "c": worse})["comparison"]
    assert sentence.startswith("From “a” to “b”: ")
    assert f"log loss goes from {worse['nll'].value:.4f} to {better['nll'].value:.4f}" in sentence
    assert f"ECE goes from {worse['ece'].value:.4f} to {better['ece'].value:.4f}" in sentence
    assert "accuracy stays at 0.7000. " in sentence
    assert sentence.endswith("The log loss is better, beyond the intervals of both.")
    assert last.endswith("The intervals of the log loss overlap: by it neither is shown to be better.")
    assert summarise({"b": better, "a": worse})["comparison"][0].endswith("worse, beyond the intervals of both.")


def test_one_forecast_is_compared_with_nothing():
    assert summarise({"a": binary((0.5, 0.5))})["comparison"] == []


def test_forecasts_of_different_rows_are_compared_with_a_caution():
    first, *_ = summarise({"a": binary((0.5, 0.5)), "b": binary((0.5, 0.5), (0.6, 0.6))})["comparison"]
    assert first == "“b” has 2000 rows and “a” has 1000: compare with care."


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


def test_the_figures_are_those_of_the_assessment(odd):
    summary = summarise({"forecast": odd})
    for line, row in zip(summary["table"], odd.rows, strict=True):
        assert line["metric"] == row.metric
        assert line["estimates"] == [vars(row.estimate)]


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
    found = summarise({"forecast": odd})["forecasts"][0]["diagram"]["bins"]
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


def test_the_classes_with_the_most_rows_are_shown_in_their_order():
    truth = np.repeat(np.arange(20), np.r_[np.ones(8, int), np.full(12, 5)])
    assessment = assess(truth, np.full((len(truth), 20), 0.05), n_resamples=1)
    forecast = summarise({"f": assessment})["forecasts"][0]
    assert [panel["name"] for panel in forecast["class_diagrams"]] == [f"class {k}" for k in range(8, 20)]
    assert len(forecast["class_diagrams"]) == MOST_CLASSES
    assert forecast["classes_left_out"] == 8


def test_a_class_that_never_came_is_named():
    assert summarise({"f": assess(*ODD["an absent class"](), n_resamples=1)})["forecasts"][0]["absent"] == ["2"]


def test_a_metric_that_only_one_forecast_has_is_none_for_the_other():
    one, table = assess(*ODD["one column"](), n_resamples=1), assess(*ODD["three classes"](), n_resamples=1)
    lines = {line["metric"]: line["estimates"] for line in summarise({"one": one, "table": table})["table"]}
    assert lines["mean-brier"][1] is None
    assert lines["brier"][0] is None
    assert None not in lines["ece"]


def test_a_metric_of_two_names_has_one_line():
    odd = ODD["three classes"]()
    first, second = (assess(*odd, metrics=[*NEEDED, name], n_resamples=1) for name in ("tece", "tace"))
    lines = summarise({"first": first, "second": second})["table"]
    assert [line["metric"] for line in lines] == [*NEEDED, "tece"]
    assert [e["value"] for e in lines[-1]["estimates"]] == [first["tece"].value, second["tace"].value]


def test_a_percentage_is_told_from_fractions():
    assessment = assess(*ODD["three classes"](), metrics=[*NEEDED, "tce"], n_resamples=1)
    assert [line["symbol"] for line in summarise({"mine": assessment})["table"]][2:] == ["ECE", "TCE (%)"]


# Refusals


def test_no_assessment_is_refused():
    with pytest.raises(ValueError, match="at least one assessment; got none"):
        summarise({})


@pytest.mark.parametrize("missing", NEEDED)
def test_an_assessment_without_the_metrics_of_the_sentences_is_refused(missing):
    metrics = [name for name in (*NEEDED, "brier") if name != missing]
    assessment = assess(*ODD["three classes"](), metrics=metrics, n_resamples=1)
    with pytest.raises(
        ValueError, match=rf"a report needs accuracy, nll, ece; 'mine' was assessed without {missing}\. Add"
    ):
        summarise({"mine": assessment})
