import re
import warnings
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from strategies import columns, tables, uniform_rows

from calibrant import EqualMass, EqualWidth, assess, log_loss, measure, predictions, reliability_curve
from calibrant._core.registry import entries
from calibrant.assessment.table import FIGURES, Row, figures_of
from calibrant.binning import Isotonic, MonotonicSweep, Unique
from calibrant.exceptions import CalibrationWarning
from calibrant.metrics import estimate_calibration_error
from calibrant.metrics.estimate import Estimate
from calibrant.metrics.kinds import ThroughLens
from calibrant.significance import equivalence_test, resampling_test, spiegelhalter_test

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
    found = assess(label, prob, metrics=EVERY, level=level, n_resamples=9, sample_weight=weight)
    for estimate in estimates(found).values():
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


def test_the_same_seed_gives_the_same_answer_another_one_another_and_the_global_seed_is_left_alone():
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    assert estimates(assess(Y, P)) == estimates(assess(Y, P)) != estimates(assess(Y, P, rng=2))
    one, other = (estimates(assess(Y, P, rng=np.random.default_rng(5))) for _ in range(2))
    assert one == other
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
    assert "class 3 is too low by 100.0 points" in str(assess([3], [[0.0, 0.0, 1.0, 1e-297]]))


def test_default_metrics_follow_the_kind_of_forecast():
    assert list(estimates(assess([0, 1], [0.2, 0.7]))) == ["accuracy", "nll", "brier", "ece", "mce"]
    assert list(estimates(assess(Y, P))) == ["accuracy", "nll", "brier", "ece", "mce", "classwise-ece", "top-label-ece"]


def test_the_binning_is_used_where_the_metric_names_none():
    found = assess(Y, P, metrics=["ece", "ace"], binning=2)
    assert found["ece"].value == assess(Y, P, metrics=["ece"], binning=EqualWidth(2))["ece"].value
    assert found["ace"].value == assess(Y, P, metrics=["ace"], binning=EqualMass(15))["ace"].value
    assert found.curve.binning == "EqualWidth(n_bins=2)"


def test_a_metric_is_found_however_it_is_spelled():
    names = np.array(["ECE", "expected_calibration_error", "Mean_Brier"])
    found = assess([0, 1, 1, 0], [0.2, 0.7, 0.6, 0.4], metrics=names, n_resamples=9)
    assert [row.metric for row in found.rows] == ["ece", "mean-brier"]
    assert found["ECE"] is found["expected_calibration_error"] is found["ece"]
    with pytest.raises(KeyError, match="'mce' was not assessed; there are ece, mean-brier"):
        found["mce"]


def test_what_is_called_otherwise_is_shown_by_the_word_that_was_asked_for():
    found = assess(Y, P, metrics=["tece", "ece", "tace", "ece"], n_resamples=9)
    assert [row.metric for row in found.rows] == ["tece", "ece"]
    assert found["tece"] == found["tace"] == assess(Y, P, metrics=["tace"], n_resamples=9)["tace"]
    assert str(found).splitlines()[3].startswith("TACE (tece)  ")
    assert list(found.to_frame("polars")["metric"]) == ["tece", "ece"]


# Presentation


def test_a_frame_has_a_row_a_metric():
    frame = assess(Y, P, metrics=["ece", "nll"], n_resamples=9).to_frame("polars")
    assert frame.columns == ["metric", *FIGURES, "event"]
    assert frame["noise_floor"].is_null().to_list() == [False, True]  # a log loss has none


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
        (100.0, "%", "100.0%"),
        (0.0, "%", "0%"),
        (12345.6, "", "12,346"),
        (-3.14159, "", "-3.142"),
        (float("nan"), "%", "nan"),
    ],
)
def test_a_figure_is_printed_with_four_digits_and_its_unit(figure, unit, printed):
    row = Row("name", "Name", "", Estimate(figure, figure, figure), unit=unit)
    assert figures_of(row)[1:3] == (printed, f"[{printed}, {printed}]")


def test_html_is_escaped(monkeypatch):
    found = assess(Y, P, metrics=["ece"], n_resamples=9)
    object.__setattr__(found.rows[0], "symbol", "<script>&")
    html = found._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;&amp;" in html
    assert html.startswith("<table>")


# Coverage: the interval and the test keep their word, at calibration and away from it

RESAMPLES, LEVEL, WORLDS, FEWER = 99, 0.1, 150, 40


def test_where_events_are_too_rare_to_be_seen_the_interval_still_covers():
    """Without an event in a bin the bootstrap sees no noise; labels that the forecast draws do."""
    rng, p = np.random.default_rng(0), np.full(200, 0.003)
    how = {"metrics": ["ece"], "level": LEVEL, "n_resamples": RESAMPLES, "rng": rng}
    covered = np.mean([assess(rng.random(200) < p, p, **how)["ece"].lower == 0.0 for _ in range(WORLDS)])
    assert 1 - LEVEL - 3 * np.sqrt(LEVEL * (1 - LEVEL) / WORLDS) <= covered < 1


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
    found = assess(*uniform_rows(300), metrics=["ece"], binning=Unique(), n_resamples=99)
    assert found["ece"].debiased < 0.05


def test_a_level_that_must_be_a_coverage_is_warned_of():
    with pytest.warns(CalibrationWarning, match=r"pass level=0\.05"):
        assess(Y, P, level=0.95, n_resamples=9)


# A share of rejections


def test_a_metric_without_an_interval_says_why():
    found = assess([0, 1, 1, 0], [0.2, 0.7, 0.9, 0.4], metrics=["tce", "ece"], n_resamples=9)
    percent, fraction = str(found).splitlines()[3:5]
    assert percent.split()[:3] == ["TCE", "0%", "none"]
    assert "no interval is known to cover" in percent
    assert not re.search("no interval|%", fraction)
    assert "no interval" in found._repr_html_()
    assert [(value is None or value != value) for value in found.to_frame("pandas")["lower"]] == [True, False]


# `measure`: several values from one look at the rows


RNG = np.random.default_rng(0)
TABLE = RNG.integers(0, 3, 400), RNG.dirichlet(np.ones(3), 400)
COLUMN = RNG.integers(0, 2, 400), RNG.random(400)
WEIGHT = RNG.integers(1, 4, 400).astype(float)


@pytest.mark.parametrize("entry", entries("metric").values(), ids=list(entries("metric")))
@pytest.mark.parametrize("rows", [TABLE, COLUMN], ids=["table", "column"])
def test_the_value_is_that_of_the_function_to_the_last_bit(entry, rows):
    expected = entry.target(*rows, sample_weight=WEIGHT)
    assert measure(*rows, sample_weight=WEIGHT, metrics=[entry.name]) == {entry.name: expected}


def test_the_default_metrics_words_and_options_are_those_of_assess():
    for rows in (TABLE, COLUMN):
        found = assess(*rows, binning=7, n_resamples=2)
        assert measure(*rows, binning=7) == pytest.approx({row.metric: row.estimate.value for row in found.rows})
    assert list(measure(*COLUMN, metrics=["ECE", "expected_calibration_error", "Brier"])) == ["ece", "brier"]


def test_impossible_events_are_counted_in_one_warning():
    y, prob = [0, 1, 1], [[0.0, 1.0], [0.5, 0.5], [1.0, 0.0]]
    with pytest.warns(CalibrationWarning, match="got probability 0 in 2 of 3 rows") as caught:
        measure(y, prob)
    assert len(caught) == 1
    with pytest.warns(CalibrationWarning, match="got probability 0 in 5 of 6 rows"):
        measure(y, prob, sample_weight=[2.0, 1.0, 3.0])
    with pytest.warns(CalibrationWarning, match="got probability 0 in 2 of 3 rows"):
        measure(y, prob, sample_weight=[0.5, 0.25, 1.5])


# Predictions in batches: what is said of them is what is said of the same rows in memory


OF_BATCHES = np.random.default_rng(7)
N = 9000
PROB = OF_BATCHES.dirichlet(np.ones(4) / 2, N).astype(np.float32)
LABEL = (OF_BATCHES.random(N)[:, None] > np.cumsum(PROB**1.2 / (PROB**1.2).sum(1, keepdims=True), 1)[:, :-1]).sum(1)
SCORE, EVENT = PROB[:, 0].astype(np.float64), (LABEL == 0).astype(int)
ROWS = {"table": (LABEL, PROB), "column": (EVENT, SCORE), "columns": (EVENT, np.column_stack([1 - SCORE, SCORE]))}


def cut(arrays, at=(2000, 6500)):
    return predictions([tuple(array[a:b] for array in arrays) for a, b in pairwise([0, *at, len(arrays[0])])])


def figures(result):
    return [[np.nan if figure is None else figure for figure in vars(row.estimate).values()] for row in result.rows]


@pytest.mark.parametrize("rows", ROWS.values(), ids=list(ROWS))
def test_an_assessment_is_that_of_the_rows_in_memory(rows):
    ours, theirs = assess(cut(rows), n_resamples=99), assess(*rows, n_resamples=99)
    np.testing.assert_allclose(figures(ours), figures(theirs), rtol=1e-9, atol=1e-12)
    assert ours["accuracy"].value == theirs["accuracy"].value
    assert (ours.n_rows, ours.n_classes, ours.event) == (theirs.n_rows, theirs.n_classes, theirs.event)
    assert ours.class_weight == theirs.class_weight
    assert str(ours) == str(theirs)
    for one, other in ((ours.curve, theirs.curve), (ours.class_curve, theirs.class_curve)):
        assert [panel.name for panel in one.panels] == [panel.name for panel in other.panels]
        np.testing.assert_array_equal(one.panels[0].bins.count, other.panels[0].bins.count)
        np.testing.assert_allclose(one.panels[0].lower, other.panels[0].lower, rtol=1e-12)


def test_values_curves_and_tests_are_those_of_memory():
    for rows in (ROWS["table"], ROWS["column"]):
        assert measure(cut(rows)) == pytest.approx(measure(*rows), rel=1e-12)
        ours, theirs = reliability_curve(cut(rows)), reliability_curve(*rows)
        np.testing.assert_array_equal(ours.panels[0].bins.outcome_sum, theirs.panels[0].bins.outcome_sum)
        ours, theirs = (resampling_test(*of, metric="ece", n_resamples=99) for of in ((cut(rows),), rows))
        assert (ours.statistic, ours.pvalue) == pytest.approx((theirs.statistic, theirs.pvalue), rel=1e-9)
    for rows in ROWS.values():
        assert spiegelhalter_test(cut(rows)).statistic == pytest.approx(spiegelhalter_test(*rows).statistic, rel=1e-9)
    rows = ROWS["column"]
    ours, theirs = (equivalence_test(*of, bound=0.05, n_resamples=99) for of in ((cut(rows),), rows))
    assert (ours.statistic, ours.upper) == pytest.approx((theirs.statistic, theirs.upper), rel=1e-9)
    ours, theirs = (estimate_calibration_error(*of, n_resamples=99) for of in ((cut(rows),), rows))
    assert ours.upper == pytest.approx(theirs.upper, rel=1e-9)


def test_weighted_rows_are_measured_and_have_no_interval():
    rows = (*ROWS["column"], OF_BATCHES.random(N))
    assert measure(cut(rows)) == pytest.approx(measure(*rows[:2], sample_weight=rows[2]), rel=1e-12)
    with pytest.raises(ValueError, match=r"of weighted rows needs all rows in memory.*sample\(100_000\)"):
        assess(cut(rows))


def test_impossible_events_are_counted():
    rows = EVENT, np.where(OF_BATCHES.random(N) < 0.01, 1.0 - EVENT, SCORE)
    with pytest.warns(CalibrationWarning, match=r"got probability 0 in [0-9]+ of 9000 rows") as ours:
        found = assess(cut(rows), n_resamples=20)
    with pytest.warns(CalibrationWarning) as theirs:
        assert str(found) == str(assess(*rows, n_resamples=20))
    assert str(ours[0].message) == str(theirs[0].message)
    with warnings.catch_warnings(action="ignore"):
        endless = assess(cut(rows), n_resamples=20, clip=0.0)["nll"]
        assert endless.lower == endless.upper == log_loss(cut(rows), clip=0.0) == np.inf


def test_an_infinite_loss_that_is_rare_has_a_finite_lower_end():
    rows = EVENT, np.where(np.arange(N) == np.argmax(EVENT), 0.0, np.clip(SCORE, 1e-3, 1 - 1e-3))
    with pytest.warns(CalibrationWarning):
        ours = assess(cut(rows), n_resamples=20, clip=0.0)["nll"]
    with pytest.warns(CalibrationWarning):
        theirs = assess(*rows, n_resamples=4000, clip=0.0, metrics=["nll"])["nll"]
    assert ours.value == ours.upper == np.inf
    assert ours.lower == pytest.approx(theirs.lower, rel=0.01)


def test_an_infinite_loss_of_many_rows_is_infinite_at_both_ends():
    """A sample without any of 800 rows has a probability below the smallest number."""
    rows = EVENT, np.where(np.cumsum(EVENT) <= 800, 0.5 * (1 - EVENT), 0.5)
    with pytest.warns(CalibrationWarning):
        found = assess(cut(rows), n_resamples=20, clip=0.0, metrics=["nll"])["nll"]
    assert found.value == found.lower == found.upper == np.inf


def test_a_metric_that_needs_the_rows_is_named():
    with pytest.raises(ValueError, match=r"the interval of '.*' needs all rows in memory"):
        assess(cut(ROWS["column"]), metrics=["ece", "skce"])
    with pytest.raises(ValueError, match=r"needs all rows in memory"):
        measure(cut(ROWS["column"]), metrics=["skce"])
