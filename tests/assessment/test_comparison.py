"""Which of several forecasts and calibrators to take: the figures, the recommendation and what is refused."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, logit, softmax

from calibrant import advise, assess, calibration_error, compare, log_loss, measure
from calibrant.assessment.compared_rows import IDENTITY
from calibrant.calibrators import PlattScaling, SafeCalibrator, TemperatureScaling
from calibrant.exceptions import CalibrationWarning
from calibrant.significance import by_group, paired_difference, paired_test, spiegelhalter_test

PARTS = ("difference", "lower", "upper", "pvalue")


def one_event(seed, n, *changes):
    """Labels of a logit, and forecasts whose logits are changes of it."""
    rng = np.random.default_rng(seed)
    z = rng.normal(0, 1.5, n)
    return (rng.random(n) < expit(z)).astype(int), *(expit(change(z, rng)) for change in changes)


def calibrated(z, rng):
    return z


def over_confident(z, rng):
    return 2.5 * z


def noisy(z, rng):
    return z + rng.normal(0, 1, z.size)


def three(seed, n):
    rng = np.random.default_rng(seed)
    z = 2.0 * rng.normal(size=(n, 3))
    label = (softmax(z, axis=1).cumsum(axis=1) < rng.random((n, 1))).sum(axis=1).clip(max=2)
    return label, softmax(z, axis=1), softmax(3.0 * z, axis=1)


# The figures


@pytest.mark.parametrize("metric", ["nll", "brier", "accuracy", "debiased-ece", "ece", "calibration-slope"])
def test_without_calibrators_the_figures_are_those_of_the_paired_test(metric):
    y, a, b = one_event(0, 300, calibrated, over_confident)
    found = compare(y, {"a": a, "b": b}, metric=metric, n_resamples=99)
    expected = paired_test(y, b, a, metric=metric, n_resamples=99)
    assert [getattr(found["b"], part) for part in PARTS] == [getattr(expected, part) for part in PARTS]
    assert found["b"].adjusted == found["b"].pvalue  # of one there is nothing to adjust
    assert found.first == "a"
    assert found["a"].difference == found["a"].lower == found["a"].upper == 0.0
    assert np.isnan([found["a"].pvalue, found["a"].adjusted]).all()
    assert found.scale == {"debiased-ece": "square", "calibration-slope": "distance"}.get(metric, "value")


def test_values_are_those_of_the_metric_and_the_best_is_first():
    y, a, b = three(1, 200)
    found = compare(y, {"b": b, "a": a}, metric="accuracy")
    assert found["a"].value == np.mean(a.argmax(axis=1) == y)
    found = compare(y, {"b": b, "a": a})
    assert {one.name: one.value for one in found.candidates} == {"a": log_loss(y, a), "b": log_loss(y, b)}
    assert found.candidates[0].name == "a"


def test_a_score_is_ranked_from_the_highest_on_and_a_slope_by_its_distance_from_one():
    y, good, steep, shrunk = one_event(2, 2000, calibrated, over_confident, lambda z, rng: 0.4 * z)
    rng = np.random.default_rng(0)
    scores = compare(y, {"noise": rng.random(2000), "good": good}, metric="accuracy")
    assert [one.name for one in scores.candidates] == ["good", "noise"]
    assert scores.recommended == "good"
    assert scores["good"].difference > 0
    slopes = compare(y, {"shrunk": shrunk, "good": good, "steep": steep}, metric="calibration-slope", n_resamples=99)
    assert slopes.candidates[0].name == slopes.recommended == "good"
    assert "in its distance from 1" in slopes.reason


def test_win_rate_counts_rows_with_a_smaller_loss_and_ties_half():
    y = np.array([1, 1, 1, 0, 0])
    a, b = np.array([0.6, 0.6, 0.6, 0.4, 0.4]), np.array([0.9, 0.2 * 3, 0.5, 0.4, 0.3])
    assert compare(y, {"a": a, "b": b})["b"].win_rate == pytest.approx((1 + 0.5 + 0 + 0.5 + 1) / 5)
    assert compare(y, {"a": a, "b": b}, metric="accuracy")["b"].win_rate == pytest.approx((0.5 * 4 + 0) / 5)
    assert np.isnan(compare(y, {"a": a, "b": b}, metric="ece", n_resamples=9)["b"].win_rate)


def test_pvalues_are_adjusted_for_the_number_of_candidates():
    y, a, b, c = one_event(3, 400, calibrated, noisy, over_confident)
    found = compare(y, {"a": a, "b": b, "c": c, "d": a})
    low, mid, high = sorted(("b", "c", "d"), key=lambda name: found[name].pvalue)
    assert found[low].adjusted == pytest.approx(3 * found[low].pvalue)
    assert found[mid].adjusted == pytest.approx(max(2 * found[mid].pvalue, found[low].adjusted))
    assert found[high].adjusted == pytest.approx(max(found[high].pvalue, found[mid].adjusted))
    assert found["d"].pvalue == 1.0  # the same forecast


# Calibrators


def by_hand(y, p, n_folds, make):
    """The forecast of each row by a calibrator that did not see it, with the folds of the library, from the definition."""
    rng, order = np.random.default_rng(0), np.lexsort([p, 1 - p, y])
    ends = np.arange(n_folds + 1) * len(y) // n_folds
    fold = np.searchsorted(ends[1:], rng.permutation(len(y)), side="right")
    y, p, out = y[order], p[order], np.empty(len(y))
    for k in range(n_folds):
        out[fold == k] = make().fit(p[fold != k], y[fold != k]).calibrate(p[fold == k])
    return y, p, out


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 2**16), st.integers(2, 6))
def test_a_calibrator_is_judged_on_rows_that_it_was_not_fitted_to(seed, n_folds):
    y, p = one_event(seed, 80, over_confident)
    found = compare(y, p, calibrators=["platt"], n_folds=n_folds, n_resamples=9, rng=np.random.default_rng(0))
    label, before, after = by_hand(y, p, n_folds, PlattScaling)
    assert found["platt"].value == pytest.approx(log_loss(label, after), rel=1e-9)
    assert found[IDENTITY].value == pytest.approx(log_loss(y, p), rel=1e-12)
    beside = paired_difference(label, after, before)
    assert [found["platt"].lower, found["platt"].upper] == pytest.approx([beside.lower, beside.upper], rel=1e-7)


def test_the_figures_are_those_of_the_advice():
    y, p, _ = three(4, 300)
    candidates = {one.method: one for one in advise(y, p).candidates}
    names = [name for name in candidates if name != IDENTITY]
    assert any(name.endswith(" --safe") for name in names)
    found = compare(y, p, calibrators=names)
    assert (candidates[IDENTITY].difference, candidates[IDENTITY].standard_error) == (0.0, 0.0)
    for name, one in candidates.items():
        assert found[name].value == pytest.approx(one.log_loss, rel=1e-9)
        assert found[name].difference == pytest.approx(one.difference, abs=1e-9)


def test_every_forecast_stands_as_it_is_and_after_each_calibrator():
    y, a, b = three(5, 150)
    found = compare(y, {"a": a, "b": b}, calibrators={"T": "temperature", "P": PlattScaling()}, n_resamples=9)
    assert {one.name for one in found.candidates} == {"a", "a + T", "a + P", "b", "b + T", "b + P"}
    assert found.n_folds == 5
    assert all((one.seconds > 0) == ("+" in one.name) for one in found.candidates)
    assert compare(y, a).n_folds == 0


def test_the_order_of_rows_does_not_matter():
    y, a, b = three(6, 120)
    order = np.random.default_rng(0).permutation(120)
    how = {"calibrators": ["temperature", "svs"], "n_resamples": 9}
    one = compare(y, {"a": a, "b": b}, **how)
    other = compare(y[order], {"a": a[order], "b": b[order]}, **how)
    assert [c.name for c in one.candidates] == [c.name for c in other.candidates]
    assert [c.value for c in one.candidates] == pytest.approx([c.value for c in other.candidates], rel=1e-9)


@pytest.mark.parametrize("calibrators", [(), ("temperature",)])
def test_counts_are_repeated_rows(calibrators):
    """Intervals and values of forecasts are the same; the folds of copies are drawn, so those of calibrators are near."""
    y, a, b = three(7, 400)
    count = np.random.default_rng(0).integers(0, 4, 400)
    again = np.repeat(np.arange(400), count)
    with warnings.catch_warnings(action="ignore", category=CalibrationWarning):
        one = compare(y, {"a": a, "b": b}, sample_weight=count, calibrators=calibrators)
        other = compare(y[again], {"a": a[again], "b": b[again]}, calibrators=calibrators)
    assert one.n_rows == other.n_rows == count.sum()
    for name in ("a", "b"):
        for part in ("value", "difference", "lower", "upper", "win_rate"):
            assert getattr(one[name], part) == pytest.approx(getattr(other[name], part), abs=1e-12, nan_ok=True)
    for name in (one.name for one in one.candidates):
        assert one[name].value == pytest.approx(other[name].value, abs=0.02)


def test_a_calibrator_that_fails_is_a_row_with_its_message():
    y, a, _ = three(8, 90)

    class Broken(PlattScaling):
        def _fit_problem(self, problem):
            raise ValueError("it must work; it does not. Mend it.")

    found = compare(y, a, calibrators={"broken": Broken(), "temperature": "temperature"})
    assert found.candidates[-1].name == "broken"
    assert np.isnan(found["broken"].value)
    assert found["broken"].failure == "it must work; it does not. Mend it."
    assert "broken failed: it must work" in str(found)
    assert compare(y, a, calibrators={"broken": Broken()}).reason == "Keep identity: every other candidate failed."
    assert found["temperature"].failure == ""


def test_labels_may_be_those_of_each_forecast():
    rng = np.random.default_rng(9)
    stated = rng.random((2, 200))
    right = {"A": rng.random(200) < stated[0], "B": rng.random(200) < stated[1]}
    found = compare(right, {"A": stated[0], "B": stated[1]}, metric="brier")
    expected = paired_test(right["B"], stated[1], stated[0], y_true_b=right["A"], metric="brier")
    assert found["B"].difference == expected.difference
    assert found["B"].pvalue == expected.pvalue


class Returns(PlattScaling):
    """A calibrator that returns what is no table of probabilities."""

    made = staticmethod(lambda p: p)

    def predict_proba(self, X):
        return self.made(super().predict_proba(X))


@pytest.mark.parametrize("made", [lambda p: 2 * p, lambda p: p * np.nan, lambda p: p[:, :1], lambda p: p[1:]])
def test_a_calibrator_that_returns_no_probabilities_has_failed(made, monkeypatch):
    y, p = one_event(17, 80, calibrated)
    monkeypatch.setattr(Returns, "made", staticmethod(made))
    found = compare(y, p, calibrators={"wrong": Returns(), "platt": "platt"})
    assert found["wrong"].failure.startswith("predict_proba must return probabilities of each class; got ")
    assert np.isfinite(found["platt"].value)


def test_a_function_sees_the_same_with_calibrators_as_without():
    """One column, and no weights where none were given; a lower value is better."""
    y, a, b = one_event(18, 120, calibrated, over_confident)

    def squared(y, p):
        return float(np.mean((y - p) ** 2))

    alone = compare(y, {"a": a, "b": b}, metric=squared, n_resamples=19)
    beside = compare(y, {"a": a, "b": b}, metric=squared, n_resamples=19, calibrators=["platt"], by=y)
    for name in "ab":
        assert alone[name].value == pytest.approx(beside[name].value, rel=1e-12)
    assert beside["b + platt"].value < beside["b"].value
    assert all(one.estimate.lower is None for one in beside.groups)


def test_folds_are_the_same_with_groups_and_without():
    y, a = one_event(19, 200, over_confident)
    group = np.random.default_rng(0).integers(0, 3, 200)
    one, other = (compare(y, a, calibrators=["platt"], by=by)["platt"] for by in (None, group))
    assert one.value == pytest.approx(other.value, rel=1e-12)


def test_copies_are_warned_of_where_they_are_in_several_folds():
    y, a, b = one_event(20, 60, over_confident, noisy)
    again = np.repeat(np.arange(60), 4)
    with pytest.warns(CalibrationWarning, match="copies, which are in several folds"):
        compare(y[again], {"a": a[again], "b": b[again]}, calibrators=["platt"], n_resamples=19)


def test_enough_is_drawn_for_many_candidates():
    y, good, bad = one_event(21, 200, calibrated, lambda z, rng: -4 * z)
    assert compare(y, {"bad": bad} | {f"m{k}": good for k in range(30)}, n_resamples=19).recommended.startswith("m")
    assert compare(y, good, calibrators={str(k): "platt" for k in range(3)}, n_resamples=2).n_resamples == 61


# Groups


def test_groups_are_told_apart_by_what_they_hold_and_of_one_row_or_class_have_no_interval_and_no_pvalue():
    y, p = one_event(22, 50, calibrated)
    assert len(compare(y, p, by=np.array(["u", "u ", " u"])[np.arange(50) % 3]).groups) == 3
    alone = np.r_[0, np.ones(49, dtype=int)]
    assert {one.group: one.estimate.lower is None for one in compare(y, p, by=alone).groups} == {"0": True, "1": False}
    slopes = compare(y, p, by=alone, metric="calibration-slope").groups
    assert {one.group: np.isnan(one.adjusted) for one in slopes} == {"0": True, "1": False}
    assert str(compare(y, p, by=y, metric="roc-auc", n_resamples=19)).splitlines()[-1].split()[3:] == ["-"] * 4


@pytest.mark.parametrize("calibrators", [(), ("temperature",)])
@pytest.mark.parametrize("metric", ["ece", "brier"])
def test_figures_of_groups_are_those_of_their_rows(metric, calibrators):
    y, a, b = three(13, 300)
    group = np.random.default_rng(0).choice(["x", "y", "z"], 300)
    found = compare(y, {"a": a, "b": b}, by=group, metric=metric, calibrators=calibrators, n_resamples=99)
    assert len(found.groups) == 3 * len(found.candidates)
    assert sum(one.n_rows for one in found.groups) == 300 * len(found.candidates)
    figures = {(one.group, one.candidate): one for one in found.groups}
    for of, rows in ((of, group == of) for of in "xyz"):
        alone = assess(y[rows], b[rows], metrics=[metric], n_resamples=99)[metric]
        one = figures[of, "b"]
        assert one.n_rows == rows.sum()
        assert one.estimate.value == pytest.approx(alone.value, rel=1e-12)
        assert (one.estimate.pvalue is None) == (metric == "brier")
        assert np.isnan(one.adjusted) == (metric == "brier")
    if calibrators:  # each held-out row stays in its group
        mean = sum(figures[of, "b + temperature"].estimate.value * (group == of).sum() for of in "xyz") / 300
        assert metric == "ece" or mean == pytest.approx(found["b + temperature"].value, rel=1e-12)


def test_pvalues_of_groups_are_adjusted_for_their_number_and_the_worst_is_first():
    y, p = one_event(14, 900, calibrated)
    group = np.repeat(["good", "bad", "good too"], 300)
    p = np.where(group == "bad", p**3, p)
    found = compare(y, p, by={"region": group}, metric="ece", n_resamples=199)
    assert found.groups[0].group == "region bad"
    assert found.groups[0].adjusted == pytest.approx(3 * found.groups[0].estimate.pvalue)
    assert found.groups[1].adjusted > 0.05
    assert str(found).splitlines()[-4].split()[:3] == ["region", "bad", "forecast"]
    assert "<= 0.015" in str(found)


def test_groups_cross_and_rows_of_weight_zero_are_left_out():
    y, p = one_event(15, 40, calibrated)
    weight = np.arange(40) % 4
    by = {"a": np.arange(40) % 2, "b": np.repeat(["u", "v"], 20)}
    found = compare(y, p, by=by, sample_weight=weight)
    assert {one.group for one in found.groups} == {"a 0, b u", "a 0, b v", "a 1, b u", "a 1, b v"}
    for frame in (pd.DataFrame, pl.DataFrame):
        assert compare(y, p, by=frame(by), sample_weight=weight).groups == found.groups
    assert sum(one.n_rows for one in found.groups) == weight.sum()


def test_weights_that_are_whole_in_a_group_alone_are_no_counts_there():
    y, p = one_event(16, 200, calibrated)
    group = np.arange(200) % 2
    how = {"sample_weight": np.where(group, 0.25, 3.0), "metric": "brier"}
    found = compare(y, p, by=group, **how)
    alone = assess(y[group == 0], p[group == 0], metrics=["brier"])["brier"]
    figure = next(one for one in found.groups if one.group == "0")
    assert (figure.n_rows, *figure.estimate.interval) == (100, *map(pytest.approx, alone.interval))
    assert [one.n_rows for one in compare(y, p, times=group, **how).candidates] == [100, 100]
    tests = by_group(spiegelhalter_test, y, p, group, sample_weight=how["sample_weight"])
    assert tests["0"].pvalue == pytest.approx(spiegelhalter_test(y[group == 0], p[group == 0]).pvalue)


# The recommendation


def test_the_reason_names_those_that_cannot_be_told_from_the_best():
    y, bad, good = one_event(0, 600, over_confident, calibrated)
    found = compare(y, {"bad": bad, "good": good, "too": good})
    assert found.reason.endswith("Between it and too no difference can be shown.")
    alike = compare(y, {"good": good, "too": good})
    assert alike.reason == "Keep good: no difference from it can be shown at the level of 0.05."
    worse = compare(y, {"good": good, "bad": bad, "too": good})
    assert worse.recommended == "good"
    assert worse.reason.endswith("shown to be better. bad is worse; no difference from it can be shown for too.")
    assert compare(y, good).reason == "There is one forecast, and no other to compare it with."


def test_it_prints_a_table_and_a_notebook_shows_the_same():
    y, a, b = three(16, 100)
    found = compare(y, {"a<b": a, "b": b}, by=np.arange(100) % 2, metric="ece", n_resamples=9)
    lines, html = str(found).splitlines(), found._repr_html_()
    assert lines[0].split() == ["candidate", "ece", "difference", "95%", "interval", "p", "(Holm)"]
    assert {line.split()[0] for line in lines[2:4]} == {"a<b", "b"}
    assert html.count("<table>") == html.count("</table>") == 2
    assert "<td>a&lt;b</td>" in html
    assert (
        f"<p>{found.reason.replace('<', '&lt;')}</p><p>By ece, a&lt;b is not shown to be miscalibrated in any" in html
    )
    assert "difference of squares" in str(compare(y, {"a": a, "b": b}, metric="debiased-ece"))


# What is refused

Y, A, B = three(11, 40)
ONE_NAME = "forecasts and calibrators must have names that differ"
REFUSED = [
    ({"forecasts": {}}, "forecasts must hold at least one forecast; got an empty dict"),
    ({"forecasts": {"a": A, "b": np.full((40, 2), 0.5)}}, r"as many distinct labels as forecasts\['b'\] has columns"),
    ({"calibrators": ["plat"]}, "Did you mean 'platt'"),
    ({"calibrators": ["platt", "platt"]}, "calibrators must have names that differ as text"),
    ({"level": 1.5}, "level must be"),
    ({"n_folds": 1, "calibrators": ["platt"]}, "n_folds must be a whole number"),
    ({"n_folds": 50, "calibrators": ["platt"]}, "there must be a row for each fold; got 40 rows for 50 folds"),
    ({"by": [1, 2]}, "by must have one value for each row; got 2 for 40 rows"),
    ({"by": {}}, "by must hold at least one column"),
    ({"by": np.ones((40, 2))}, r"by must be one column, .*; got shape \(40, 2\)\. Pass a dict of columns"),
    ({"metric": ["nll", "nll"]}, "metric must"),
    ({"by": np.full(40, np.nan)}, "by must hold"),
    ({"by": np.where(Y, "x", "")}, "by must name the group of each row; got an empty text"),
    ({"by": {"x y": Y.astype(str), "x": np.char.add("y ", Y.astype(str))}, "overlapping": True}, "groups must have"),
    ({"calibrators": {"": "platt"}}, "calibrators must have names; got an empty one"),
    ({"y_true": {"": Y}, "forecasts": {"": A}, "paired": False}, "forecasts must have names; got an empty one"),
    ({"by": {"x": np.where(Y, "1, z 2", "1"), "z": np.where(Y, "3", "2, z 3")}}, "groups must have names that differ"),
    ({"by": Y[10:], "sample_weight": np.r_[np.zeros(10), np.ones(30)]}, "one value for each row; got 30 for 40"),
    ({"forecasts": {"a": A, "a + platt": B}, "calibrators": ["platt"]}, ONE_NAME),
    ({"forecasts": A, "calibrators": {"identity": "platt"}}, ONE_NAME),
    ({"y_true": {"1": Y, 1: Y}, "forecasts": {"1": A}}, "y_true must have names that differ"),
    ({"y_true": {"a": Y, "b": Y[:-1]}}, r"y_true\['b'\] and forecasts\['b'\] must have the same number of rows"),
    ({"metric": lambda y, p: float("nan"), "forecasts": A}, "metric must be a number; got NaN of forecast"),
    ({"forecasts": [A[:, 0], B[:, 0]]}, "number of rows; .* pass several forecasts as a dict"),
    ({"forecasts": {"a": A, "b": 100 * B}}, r"got .*\. If these are percent, divide them by 100\.$"),
    ({"level": 1e-12}, "level must be one that draws can go below"),
    ({"n_resamples": 1}, "n_resamples must be"),
    ({"y_true": {"a": Y}, "forecasts": {"a": A, "b": B}}, "y_true must have the labels of each forecast by its name"),
]
OF_TYPES = [
    ({"calibrators": "platt"}, "calibrators must be a list of names; got the string 'platt'"),
    ({"calibrators": [3]}, "calibrator must be a word or a calibrator of calibrant"),
]


@pytest.mark.parametrize(
    ("error", "how", "words"), [(ValueError, *row) for row in REFUSED] + [(TypeError, *row) for row in OF_TYPES]
)
def test_what_cannot_be_compared_is_refused(error, how, words):
    how = {"y_true": Y, "forecasts": {"a": A, "b": B}} | how
    with pytest.raises(error, match=words):
        compare(how.pop("y_true"), how.pop("forecasts"), **how)


def test_no_candidate_by_that_name():
    with pytest.raises(KeyError, match="candidates are a, b"):
        compare(Y, {"a": A, "b": B}, n_resamples=9)["c"]


# The default within SafeCalibrator

SAFE_DEFAULT = "evidence-scaling --safe"


def wrongly_certain(seed, n=500):
    """A forecast that is too sure, with a few rows that are wrong with a probability of 0 or 1: they rule its log loss."""
    rng = np.random.default_rng(seed)
    p = rng.uniform(0.05, 0.95, n)
    y = (rng.random(n) < p).astype(int)
    stated = expit(1.3 * logit(p))
    stated[:4] = 1 - y[:4]
    return y, stated


@pytest.mark.filterwarnings("ignore::calibrant.exceptions.CalibrationWarning")
def test_a_safe_calibrator_with_a_lower_log_loss_is_taken_although_no_difference_can_be_shown():
    y, p = wrongly_certain(0)
    found = compare(y, p, calibrators=[SAFE_DEFAULT])
    assert found[SAFE_DEFAULT].adjusted > 0.05
    assert found.recommended == SAFE_DEFAULT
    said = "is lower than that of identity, 0.8247, but the difference cannot be shown at the level of 0.05"
    assert said in found.reason
    for of_no_default in ("platt", "platt --safe"):
        assert compare(y, p, calibrators=[of_no_default]).recommended == IDENTITY
    assert compare(y, p, calibrators=[SAFE_DEFAULT], metric="roc-auc").recommended == IDENTITY
    by_name = compare(y, {"model": p, "other": p[::-1]}, calibrators={"safe": SafeCalibrator("evidence-scaling")})
    assert by_name.recommended == "model + safe"


@pytest.mark.usefixtures("temperature_is_the_default")
def test_a_safe_calibrator_is_taken_unless_it_changes_nothing_or_is_shown_to_be_worse():
    safest, taken, n_unchanged = "temperature --safe", {True: 0, False: 0}, 0
    for seed in range(25):
        y, p = one_event(seed, 150, lambda z, rng: 1.6 * z)
        found = compare(y, p, calibrators=[safest], n_resamples=200)
        safe = found[safest]
        changes, worse = abs(safe.difference) > 1e-12, safe.difference > 0 and safe.adjusted < 0.05
        n_unchanged += not changes
        assert found.recommended == (safest if changes and not worse else IDENTITY)
        nearly_one = np.column_stack([1 - p, p]).astype(np.float32)  # the sums of its rows
        assert compare(y, nearly_one, calibrators=[safest], n_resamples=200).recommended == found.recommended
        taken[safe.value > found[IDENTITY].value + 1e-12] += found.recommended == safest
        if safe.value > found[IDENTITY].value and found.recommended == safest:
            said = f"its nll of {safe.value:.4g} is higher than that of {IDENTITY}, {found[IDENTITY].value:.4g}"
            assert said in found.reason
    assert min(*taken.values(), n_unchanged) > 0


@pytest.fixture
def temperature_is_the_default(monkeypatch):
    """Take temperature scaling for the default: there are simple rows on which others are shown to be better than it."""
    monkeypatch.setattr(TemperatureScaling, "made_safe", {"caution": 1.0})


def bent_forecast(seed, n):
    """A forecast that jumps in the middle, as temperature scaling does not undo."""
    rng = np.random.default_rng(seed)
    p = rng.uniform(0.02, 0.98, n)
    return (rng.random(n) < p).astype(int), np.where(p < 0.5, p / 4, 1 - (1 - p) / 4)


@pytest.mark.usefixtures("temperature_is_the_default")
def test_what_takes_the_place_of_the_safe_default_must_be_better_than_it():
    y, bent = bent_forecast(2, 3000)
    found = compare(y, bent, calibrators=["temperature --safe", "isotonic"])
    assert found["isotonic"].value < found["temperature --safe"].value < found[IDENTITY].value
    assert found.recommended == "isotonic"
    assert "cannot be shown" not in found.reason
    alike = compare(y, bent, calibrators=["temperature --safe", "temperature"])
    assert alike.recommended == "temperature --safe"
    assert "temperature" in alike.reason.split("Take temperature --safe")[1]


@pytest.mark.usefixtures("temperature_is_the_default")
def test_the_reason_names_those_that_are_ahead_of_the_safe_default_and_their_p_values():
    words = ["temperature --safe", "isotonic", "platt", "beta", "temperature"]
    seen = set()
    for seed in range(12):
        y, p = bent_forecast(seed, 100)
        found = compare(y, p, calibrators=words)
        taken = found[found.recommended]
        ahead = [one.name for one in found.candidates if one.value < taken.value]
        if taken.name != "temperature --safe" or not ahead:
            continue
        rest = found.reason.partition(", by ")[2] or found.reason
        said, _, after = rest.partition(" a better nll, but cannot be shown to be better than temperature --safe: ")
        assert all(name in said for name in ahead)
        assert after.count("p ") == len(ahead)
        assert not any(name in after.partition("Between it and")[2].split() for name in ahead)
        seen.add(len(ahead))
    assert len(seen) > 1


@pytest.mark.filterwarnings("ignore::calibrant.exceptions.CalibrationWarning")
def test_several_metrics_are_shown_for_all_rows_and_for_groups():
    y, p = wrongly_certain(3)
    forecasts, group = {"a": p, "b": np.sqrt(p)}, np.arange(y.size) % 2
    found = compare(y, forecasts, metric=["brier", "roc-auc"], by=group)
    assert found.metric == "brier"
    rows = {"": slice(None), "0": group == 0, "1": group == 1}
    figures = {(one.group, one.candidate, one.metric): one.estimate.value for one in found.groups}
    assert len(figures) == 3 * 2 * 2
    for (of, name, metric), value in figures.items():
        expected = measure(y[rows[of]], forecasts[name][rows[of]], metrics=[metric])[metric]
        assert value == pytest.approx(expected, rel=1e-12)
    assert "all rows" in str(found)


@pytest.mark.usefixtures("temperature_is_the_default")
@pytest.mark.filterwarnings("ignore::calibrant.exceptions.CalibrationWarning")
def test_the_reason_says_of_what_a_candidate_was_shown_to_be_better():
    """One that beats the safe calibrator but, for certain and wrong rows, not the forecast is not said to be safe."""
    rng = np.random.default_rng(74)
    n = int(rng.integers(800, 3000))
    t = rng.normal(size=n)
    y = (rng.random(n) < expit(t)).astype(int)
    p = expit(t + rng.uniform(0.15, 0.45))
    sure = rng.choice(n, int(rng.integers(1, 3)), replace=False)
    p[sure] = 1 - y[sure]
    found = compare(y, {"A": p}, calibrators=["temperature --safe", "platt", "isotonic"])
    chosen, safe = found[found.recommended], found["A + temperature --safe"]
    assert chosen.adjusted > 0.05
    assert chosen is not safe
    assert f"is better than that of A + temperature --safe, {safe.value:.4g}, by" in found.reason
    assert "SafeCalibrator" not in found.reason


# Groups that overlap


def crossed(rng, n=3000, power=1.0):
    """Return outcomes that are off where both columns are 1, the forecast and the columns."""
    prob, columns = rng.random(n), {name: rng.integers(0, 2, n) for name in ("a", "b", "c")}
    both = (columns["a"] == 1) & (columns["b"] == 1)
    return (rng.random(n) < np.where(both, prob**power, prob)).astype(int), prob, columns


def test_overlapping_groups_are_values_and_pairs_of_values():
    y, p, columns = crossed(np.random.default_rng(0))
    columns["c"] = np.where(np.arange(3000) < 29, 2, columns["c"])  # too few rows
    columns["c"] = np.where((np.arange(3000) >= 29) & (np.arange(3000) < 59), 3, columns["c"])  # just enough
    found = compare(y, p, by=columns, overlapping=True, metric="ece", n_resamples=99)
    names = {f"{x} {i}": columns[x] == i for x in "abc" for i in (0, 1)}
    names |= {f"{one}, {two}": names[one] & names[two] for one in names for two in names if one[0] < two[0]}
    names["c 3"] = columns["c"] == 3
    assert {figure.group for figure in found.groups} == set(names)
    for figure in found.groups:
        rows = names[figure.group]
        assert figure.n_rows == rows.sum()
        assert figure.estimate.value == pytest.approx(calibration_error(y[rows], p[rows]))


def test_the_worst_group_is_the_largest_error_that_is_shown():
    y, p, columns = crossed(np.random.default_rng(0), power=3.0)
    found = compare(y, p, by=columns, overlapping=True, metric="ece", n_resamples=99)
    assert found.worst_group is found.groups[0]
    assert str(found).splitlines()[-1].startswith("forecast is miscalibrated the most in a 1, b 1: ece 0.2")
    without = compare(y, p, by=columns, overlapping=True, n_resamples=99)  # a log loss has no p-value
    assert (without.worst_group, "miscalibrated" in str(without)) == (None, False)
    both = compare(y, p, by=columns, overlapping=True, metric=["nll", "ece"], n_resamples=99)
    assert (both.worst_group.group, both.worst_group.metric) == ("a 1, b 1", "ece")


def test_a_candidate_that_wins_no_row_has_its_share_in_the_table():
    found = compare([0, 1] * 20, {"right": [0.1, 0.9] * 20, "wrong": [0.9, 0.1] * 20}, n_resamples=19)
    assert "0.0%" in str(found)
    assert "wins" not in str(compare([0, 1] * 20, [0.1, 0.9] * 20, n_resamples=19))
