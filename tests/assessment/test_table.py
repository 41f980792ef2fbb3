import re
from functools import cache

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from spellings import spelling_of
from strategies import columns, tables

from calibrant import EqualMass, EqualWidth, assess
from calibrant._core.registry import entries
from calibrant.assessment.table import FIGURES, Row, figures_of
from calibrant.binning import Isotonic, MonotonicSweep, Unique
from calibrant.exceptions import CalibrationWarning
from calibrant.metrics.estimate import MOSTLY_NOISE, Estimate
from calibrant.metrics.kinds import ThroughLens, metrics
from calibrant.report.sentences import findings

EVERY = [name for name, entry in entries("metric").items() if not entry.may_be_undefined]
Y = [0, 1, 2, 1]
P = [[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6], [0.7, 0.2, 0.1]]
forecasts = st.one_of(columns(), tables())
with_impossible_events = pytest.mark.filterwarnings("ignore:log loss")


def estimates(assessment):
    return {row.metric: row.estimate for row in assessment.rows}


@with_impossible_events
@given(rows=forecasts, level=st.sampled_from([0.5, 0.05]))
def test_every_interval_contains_its_estimate_without_its_bias(rows, level):
    label, prob, weight = rows
    for estimate in estimates(
        assess(label, prob, metrics=EVERY, level=level, n_resamples=9, sample_weight=weight)
    ).values():
        if estimate.lower is not None:
            corrected = estimate.value if estimate.debiased is None else estimate.debiased
            assert estimate.lower <= corrected <= estimate.upper


@with_impossible_events
@example(rows=(np.array([0]), np.array([2e-311]), np.array([1.0])))
@given(rows=forecasts)
def test_every_value_is_that_of_the_metric(rows):
    label, prob, weight = rows
    found = assess(label, prob, metrics=EVERY, n_resamples=2, sample_weight=weight)
    for name in EVERY:
        entry = entries("metric")[name]
        assert found[name].value == pytest.approx(entry.target(label, prob, sample_weight=weight), rel=1e-9, abs=1e-12)


@with_impossible_events
@example(rows=(np.repeat([0, 1], [7, 1]), np.eye(3)[[2, 2, 2, 1, 1, 1, 0, 2]], np.ones(8)), n_resamples=1)
@given(rows=forecasts, n_resamples=st.integers(1, 20))
def test_a_pvalue_is_never_zero_and_at_most_one(rows, n_resamples):
    label, prob, weight = rows
    for name, estimate in estimates(assess(label, prob, n_resamples=n_resamples, sample_weight=weight)).items():
        if not isinstance(entries("metric")[name], ThroughLens):
            assert estimate.pvalue is None
            assert estimate.noise_floor is None
        else:
            assert 1 / (n_resamples + 1) <= estimate.pvalue <= 1
            assert 0 <= estimate.noise_floor <= 1
            assert 0 <= estimate.debiased <= estimate.value
            assert estimate.detectable >= 0


def test_the_same_seed_gives_the_same_answer():
    assert estimates(assess(Y, P)) == estimates(assess(Y, P))
    one, other = (estimates(assess(Y, P, rng=np.random.default_rng(5))) for _ in range(2))
    assert one == other


def test_another_seed_gives_another_answer():
    assert estimates(assess(Y, P, rng=1)) != estimates(assess(Y, P, rng=2))


def test_the_global_seed_is_left_alone():
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    assess(Y, P)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


def test_all_weights_that_are_no_counts_doubled_change_no_calibration_error():
    one, two = (assess(Y, P, metrics=["ece"], sample_weight=np.full(4, w))["ece"] for w in (0.25, 0.5))
    for name in FIGURES:
        assert getattr(one, name) == pytest.approx(getattr(two, name), rel=1e-12)


def test_a_grossly_miscalibrated_forecast_has_the_smallest_pvalue():
    found = assess([1] * 200, [0.1] * 200, n_resamples=99)["ece"]
    assert found.pvalue == 0.01
    assert found.lower > found.noise_floor


def test_an_event_that_was_all_but_impossible_is_named_with_its_class():
    shown = str(assess([3], [[0.0, 0.0, 1.0, 1e-297]]))
    assert "class 3 is too low by 100.0 points" in shown


def test_default_metrics_follow_the_kind_of_forecast():
    assert list(estimates(assess([0, 1], [0.2, 0.7]))) == ["accuracy", "nll", "brier", "ece", "mce"]
    assert list(estimates(assess(Y, P))) == ["accuracy", "nll", "brier", "ece", "mce", "classwise-ece", "top-label-ece"]


def test_chosen_metrics_come_in_their_order():
    assert list(estimates(assess(Y, P, metrics=["mce", "accuracy"]))) == ["mce", "accuracy"]


def test_the_binning_is_used_where_the_metric_names_none():
    found = assess(Y, P, metrics=["ece", "ace"], binning=2)
    assert found["ece"].value == assess(Y, P, metrics=["ece"], binning=EqualWidth(2))["ece"].value
    assert found["ace"].value == assess(Y, P, metrics=["ace"], binning=EqualMass(15))["ace"].value
    assert found.curve.binning == "EqualWidth(n_bins=2)"


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"metrics": "ece"}, TypeError, r"metrics must be a list of names; got the string 'ece'\. Pass \['ece'\]\."),
        ({"metrics": ["eece"]}, ValueError, r"got 'eece'\. Did you mean 'ece'\?"),
        ({"level": 5}, ValueError, r"level must be a fraction"),
        ({"n_resamples": 0}, ValueError, r"n_resamples must be a whole number, at least 1; got 0\. 500 is usual\."),
    ],
)
def test_a_bad_option_is_refused(options, error, message):
    with pytest.raises(error, match=message):
        assess(Y, P, **options)


def test_a_metric_is_found_however_it_is_spelled():
    found = assess(
        [0, 1, 1, 0], [0.2, 0.7, 0.6, 0.4], metrics=["ECE", "expected_calibration_error", "Mean_Brier"], n_resamples=9
    )
    assert [row.metric for row in found.rows] == ["ece", "mean-brier"]
    assert found["ECE"] is found["expected_calibration_error"] is found["ece"]
    with pytest.raises(KeyError, match="'mce' was not assessed; there are ece, mean-brier"):
        found["mce"]


def test_what_is_called_otherwise_is_shown_by_the_word_that_was_asked_for():
    found = assess(Y, P, metrics=["tece", "ece"], n_resamples=9)
    assert [row.metric for row in found.rows] == ["tece", "ece"]
    assert found["tece"] == found["tace"] == assess(Y, P, metrics=["tace"], n_resamples=9)["tace"]
    assert str(found).splitlines()[3].startswith("TACE (tece)  ")
    assert list(found.to_frame("polars")["metric"]) == ["tece", "ece"]


def test_names_may_be_an_array():
    of_list, of_array = (assess(Y, P, metrics=kind(["ECE", "NLL"]), n_resamples=20) for kind in (list, np.array))
    assert estimates(of_array) == estimates(of_list)


def test_a_metric_that_is_named_twice_comes_once():
    found = assess(Y, P, metrics=["tece", "ece", "tace", "ece"], n_resamples=9)
    assert [row.metric for row in found.rows] == ["tece", "ece"]
    assert found["tace"] == found["tece"]


@pytest.mark.parametrize("name", [metric.name for metric in metrics() if spelling_of(metric) is not None])
def test_the_documentation_names_the_metrics_that_keep_their_bins(name):
    part = re.search(r"binning : int or Binning.*?\n    level :", assess.__doc__, flags=re.DOTALL)[0]
    assert (f"``{name}``" in part) == entries("metric")[name].has_own_bins


# Presentation


def test_a_percentage_is_told_from_fractions():
    found = assess([0, 1, 1, 0], [0.2, 0.7, 0.9, 0.4], metrics=["tce", "ece"], n_resamples=9)
    percent, fraction = (line.split() for line in str(found).splitlines()[3:5])
    assert percent[:2] == [
        "TCE",
        f"{found['tce'].value:.0f}%" if found["tce"].value == 0 else f"{found['tce'].value:#.4g}%",
    ]
    assert fraction[:2] == ["ECE", "0.2500"]
    assert "%" not in "".join(fraction)
    assert "<td>0%</td>" in found._repr_html_()


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_a_frame_has_a_row_a_metric(backend):
    frame = assess(Y, P, n_resamples=9).to_frame(backend)
    assert type(frame).__module__.startswith(backend)
    columns = frame.column_names if backend == "pyarrow" else list(frame.columns)
    assert columns == ["metric", *FIGURES, "event"]
    assert len(frame) == 7


def test_a_figure_without_a_noise_floor_has_a_missing_value():
    frame = assess(Y, P, metrics=["ece", "nll"], n_resamples=9).to_frame("polars")
    assert frame["noise_floor"].is_null().to_list() == [False, True]


def test_printed_it_is_a_table_with_a_line_a_metric():
    found = assess(Y, P, metrics=["ece", "nll"], level=0.1, n_resamples=9)
    lines = str(found).splitlines()
    assert lines[0] == "4 rows, 3 classes, notion: confidence"
    assert "90% interval" in lines[1]
    assert [line.split()[0] for line in lines[3:5]] == ["ECE", "NLL"]
    assert tuple(lines[5:]) == found.verdict.sentences


@pytest.mark.parametrize(
    ("figure", "unit", "printed"),
    [
        (0.123456, "", "0.1235"),
        (0.5, "", "0.5000"),
        (0.0001234567, "", "0.0001235"),
        (26.16789, "%", "26.17%"),
        (100.0, "%", "100.0%"),
        (0.0, "%", "0%"),
        (0.0, "", "0"),
        (12345.6, "", "12,346"),
        (-3.14159, "", "-3.142"),
        (float("nan"), "%", "nan"),
        (float("inf"), "", "inf"),
    ],
)
def test_a_figure_is_printed_with_four_digits_and_its_unit(figure, unit, printed):
    estimate = Estimate(figure, figure, figure)
    row = Row("name", "Name", "", estimate, unit=unit)
    assert figures_of(row)[1:3] == (printed, f"[{printed}, {printed}]")


def test_the_repr_is_one_short_line():
    assert (
        repr(assess(Y, P, metrics=["accuracy"], n_resamples=9))
        == "Assessment(rows=4, classes=3, notion='confidence', accuracy=0.75)"
    )


def test_html_is_escaped(monkeypatch):
    found = assess(Y, P, metrics=["ece"], n_resamples=9)
    object.__setattr__(found.rows[0], "symbol", "<script>&")
    html = found._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;&amp;" in html
    assert html.startswith("<table>")


# Coverage: the interval and the test keep their word, at calibration and away from it

RESAMPLES, LEVEL, WORLDS, FEWER = 99, 0.1, 150, 40
SPELLED = ["ece", "rmsce", "mce", "classwise-ece", "top-label-ece", "top-label-mce"]
CONFIDENCE = {"calibrated": 1.0, "slightly over-confident": 1.15, "over-confident": 2.0, "nearly certain": 9.0}


def true_errors(prob, truth):
    """Errors of the bins at hand if every class occurred exactly as often as predicted: each row once a class, so weighted."""
    n, k = prob.shape
    label, weight = np.tile(np.arange(k), n), truth.ravel()
    exact = assess(label, np.repeat(prob, k, axis=0), metrics=SPELLED, binning=8, sample_weight=weight, n_resamples=1)
    return {name: exact[name].value for name in SPELLED}


@cache
def forecast_of(confidence):
    """What was found for one forecast so far, how to assess it with new labels once more, and its true errors."""
    rng = np.random.default_rng(0)
    truth = rng.dirichlet(np.ones(3), 200)
    prob = truth**confidence / (truth**confidence).sum(axis=1, keepdims=True)

    def world():
        label = (rng.random((200, 1)) > truth.cumsum(axis=1)).sum(axis=1).clip(0, 2)
        return assess(label, prob, metrics=SPELLED, binning=8, level=LEVEL, n_resamples=RESAMPLES, rng=rng)

    return [], world, true_errors(prob, truth)


def simulated(confidence, worlds=WORLDS):
    """What `assess` finds in as many worlds, and the true errors. Of a few that are asked for no more are computed."""
    found, world, truth = forecast_of(confidence)
    found += [world() for _ in range(worlds - len(found))]
    return found[:worlds], truth


def test_where_events_are_too_rare_to_be_seen_the_interval_still_covers():
    """Without an event in a bin the bootstrap sees no noise; labels that the forecast draws do."""
    rng, p = np.random.default_rng(0), np.full(200, 0.003)
    found = [
        assess(rng.random(200) < p, p, metrics=["ece"], level=LEVEL, n_resamples=RESAMPLES, rng=rng)["ece"]
        for _ in range(WORLDS)
    ]
    covered = np.mean([one.lower == 0.0 for one in found])
    assert 1 - LEVEL - 3 * np.sqrt(LEVEL * (1 - LEVEL) / WORLDS) <= covered < 1


@pytest.mark.parametrize("level", [0.01, 0.05, 0.2, 0.5])
@pytest.mark.parametrize("name", SPELLED)
def test_a_calibrated_forecast_is_rejected_no_more_often_than_promised(name, level):
    found, truth = simulated(CONFIDENCE["calibrated"])
    assert truth[name] == pytest.approx(0.0, abs=1e-15)
    rejected = np.mean([one[name].pvalue <= level for one in found])
    assert rejected <= level + 3 * np.sqrt(level * (1 - level) / WORLDS)


def test_the_test_does_not_hold_back_either():
    """The p-value of a calibrated forecast is near uniform: mean one half within four standard errors."""
    found, _ = simulated(CONFIDENCE["calibrated"])
    pvalues = np.array([one["ece"].pvalue for one in found])
    assert abs(pvalues.mean() - 0.5) < 4 * np.sqrt(1 / 12 / WORLDS)


@pytest.mark.parametrize("confidence", CONFIDENCE.values(), ids=list(CONFIDENCE))
@pytest.mark.parametrize("name", SPELLED)
def test_an_interval_excludes_zero_where_the_test_rejects_and_nowhere_else(confidence, name):
    found, _ = simulated(confidence, FEWER)
    assert [one[name].lower > 0 for one in found] == [one[name].pvalue <= LEVEL for one in found]


@pytest.mark.parametrize("confidence", CONFIDENCE.values(), ids=list(CONFIDENCE))
@pytest.mark.parametrize("name", [name for name in SPELLED if not name.endswith("mce")])
def test_the_debiased_error_is_nearer_to_the_truth_than_the_plain_one(confidence, name):
    """Of a mean over bins; a maximum is that of the emptiest bin, and what is left of it without noise is often nothing."""
    found, truth = simulated(confidence, FEWER)
    plain, debiased = (np.median([getattr(one[name], which) for one in found]) for which in ("value", "debiased"))
    assert abs(debiased - truth[name]) < abs(plain - truth[name])


def test_an_error_that_is_detectable_is_detected_four_times_in_five():
    """A forecast whose true error is what `assess` calls detectable, of the shape of an over-confident one."""
    rng = np.random.default_rng(3)
    score = rng.uniform(0.05, 0.95, 500)
    shape = 0.5 - score  # toward one half: over-confident

    def world(strength):
        outcome = rng.random(500) < score + strength * shape
        return assess(outcome, score, metrics=["ece"], binning=8, n_resamples=RESAMPLES, rng=rng)["ece"]

    error_of_strength_one = float(np.mean(np.abs(shape)))  # within a few per cent of the binned one
    strength = np.median([world(0.5).detectable for _ in range(FEWER)]) / error_of_strength_one
    found = np.mean([world(strength).pvalue <= 0.05 for _ in range(WORLDS)])
    assert abs(found - 0.8) < 0.1 + 3 * np.sqrt(0.8 * 0.2 / WORLDS)


@pytest.mark.first(1)
@pytest.mark.parametrize("binning", [Isotonic(), MonotonicSweep()], ids=repr)
def test_bins_that_labels_choose_are_chosen_anew_for_drawn_labels(binning):
    """A calibrated forecast is rejected as often as promised, and its p-values are near uniform."""
    rng, worlds, pvalues = np.random.default_rng(0), 100, []
    for _ in range(worlds):
        score = rng.random(200)
        found = assess(rng.random(200) < score, score, metrics=["ece"], binning=binning, n_resamples=39, rng=rng)["ece"]
        assert found.lower <= found.value <= found.upper
        pvalues.append(found.pvalue)
    assert abs(np.mean(pvalues) - 0.5) < 4 * np.sqrt(1 / 12 / worlds)
    assert np.mean(np.array(pvalues) <= LEVEL) <= LEVEL + 3 * np.sqrt(LEVEL * (1 - LEVEL) / worlds)


def test_of_bins_with_one_row_nothing_is_left_without_chance():
    rng = np.random.default_rng(0)
    score = rng.random(300)
    assert (
        assess(rng.random(300) < score, score, metrics=["ece"], binning=Unique(), n_resamples=99)["ece"].debiased < 0.05
    )


def test_a_binning_is_also_chosen_by_its_word():
    assert estimates(assess(Y, P, binning="equal-mass")) == estimates(assess(Y, P, binning=EqualMass()))


def test_a_level_that_must_be_a_coverage_is_warned_of():
    with pytest.warns(CalibrationWarning, match=r"pass level=0\.05"):
        assess(Y, P, level=0.95, n_resamples=9)


# A share of rejections


def test_a_metric_without_an_interval_says_why():
    found = assess([0, 1, 1, 0], [0.2, 0.7, 0.9, 0.4], metrics=["tce", "ece"], n_resamples=9)
    percent, fraction = str(found).splitlines()[3:5]
    assert percent.split()[2] == "none"
    assert "no interval is known to cover" in percent
    assert "no interval" not in fraction
    assert "no interval" in found._repr_html_()
    assert [(value is None or value != value) for value in found.to_frame("pandas")["lower"]] == [True, False]


def test_an_assessment_is_drawn_on_the_axes_that_are_given():
    plt = pytest.importorskip("matplotlib.pyplot")
    ax = plt.figure().add_subplot()
    assert assess([0, 1, 1, 0], [0.2, 0.7, 0.6, 0.4], n_resamples=9).plot(ax=ax) is ax
    plt.close("all")


def test_a_value_above_its_interval_says_so_and_no_finding_calls_it_a_log_loss():
    rng = np.random.default_rng(3)
    prob = rng.dirichlet(np.ones(10), 150)
    label = (rng.random((150, 1)) > prob.cumsum(axis=1)).sum(axis=1)
    found = assess(label, prob, metrics=["ece", "tce", "classwise-ece", "nll"], n_resamples=100)
    above = [
        row.metric for row in found.rows if row.estimate.upper is not None and row.estimate.value > row.estimate.upper
    ]
    assert above == ["classwise-ece"]
    assert [row.metric for row in found.rows if row.note == MOSTLY_NOISE] == above
    assert str(found).count(MOSTLY_NOISE) == found._repr_html_().count(MOSTLY_NOISE) == 1
    assert not any("log loss" in sentence for sentence in findings(found))
