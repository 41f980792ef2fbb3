"""Cost curves."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from reference import decisions as slow
from scipy.stats import norm
from strategies import columns

from calibrant._core.rows import Weights
from calibrant.decisions.curves import decision_curve, expected_cost_curve, plot_expected_cost
from calibrant.metrics import corp_decomposition
from calibrant.sums.draws import Bootstrap, as_rng

pytest.importorskip("matplotlib").use("agg")


PLACES = [0.0, 0.07, 0.2, 0.41, 0.5, 0.73, 0.9, 1.0]


def both_classes(rows):
    label, score, weight = rows
    return np.append(label, [0, 1]), np.append(score, [0.3, 0.45]), np.append(weight, [1.0, 2.0])


@given(rows=columns())
def test_the_curve_is_the_cost_of_deciding_at_the_threshold_and_at_best(rows):
    label, score, weight = both_classes(rows)
    curve = expected_cost_curve(label, score, at=PLACES, sample_weight=weight)
    arrays = score.tolist(), label.tolist(), weight.tolist()
    rate = float(weight @ label / weight.sum())
    for number, x in enumerate(PLACES):
        threshold, fp, fn = x, 2 * x, 2 * (1 - x)
        if abs(score - threshold).min() > 1e-9:
            expected = slow.cost_at(*arrays, threshold, fp, fn)
            assert curve.panels[0].cost[number] == pytest.approx(expected, abs=1e-12)
        assert curve.panels[0].lowest[number] == pytest.approx(slow.lowest_cost(*arrays, fp, fn), abs=1e-9)
        assert curve.never[number] == pytest.approx(fn * rate, abs=1e-12)
        assert curve.always[number] == pytest.approx(fp * (1 - rate), abs=1e-12)


@given(rows=columns())
def test_the_mean_regret_over_cost_proportions_is_the_miscalibration(rows):
    label, score, weight = rows
    panel = expected_cost_curve(label, score, sample_weight=weight).panels[0]
    corp = corp_decomposition(label, score, sample_weight=weight)
    assert panel.mean_regret == pytest.approx(corp["miscalibration"], abs=1e-12)


@given(rows=columns(max_rows=12))
def test_the_means_are_the_integrals_of_the_curves(rows):
    """Both curves are linear between the places where a score is the threshold: the trapezoidal rule around them."""
    label, score, weight = both_classes(rows)
    # x at which each score, and each fitted rate, is the threshold
    values = np.unique([0.0, 1.0, *score, *slow.isotonic_scores(score.tolist(), label.tolist(), weight.tolist())])
    jumps = np.unique(np.clip(np.concatenate([values - 1e-9, values + 1e-9]), 0.0, 1.0))
    curve = expected_cost_curve(label, score, at=jumps, sample_weight=weight)
    panel = curve.panels[0]
    assert np.trapezoid(panel.cost, curve.at) == pytest.approx(panel.mean_cost, abs=1e-6)
    assert np.trapezoid(panel.lowest, curve.at) == pytest.approx(panel.mean_lowest, abs=1e-6)


REFUSALS = [
    ([0.2, 0.7], {"at": [0.5, 1.5]}, r"at must lie in \[0, 1\]; got 1\.5 at index 1"),
    ({}, {}, r"y_prob must hold at least one forecast; got an empty dict"),
    (np.full((2, 3), 1 / 3), {}, r"y_prob must speak of one event; got 3 classes\. Say which one"),
    (np.full((2, 3), 1 / 3), {"notion": "class-wise"}, r"notion must make one problem, .*; 'class-wise' makes"),
    ([0.2, 0.7], {"threshold": [0.5, 1.0]}, r"threshold must lie below 1 for a net benefit; got 1\. .* pass 0\.99"),
    ([0.2, 0.7], {"threshold": [-0.1]}, r"threshold must lie in \[0, 1\]; got -0\.1 at index 0"),
]


@pytest.mark.parametrize(("forecast", "options", "message"), REFUSALS)
def test_what_makes_no_sense_is_refused_with_what_to_do(forecast, options, message):
    curve = decision_curve if "threshold" in options else expected_cost_curve
    with pytest.raises(ValueError, match=message):
        curve([0, 1], forecast, **options)


@pytest.mark.parametrize("c", [0.2, 0.5, 0.7, 0.8, 0.06, 0.35])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_scores_on_the_threshold_are_decided_for_the_event(c, kind):
    curve = expected_cost_curve([0], kind([c]), at=[c])
    assert curve.panels[0].cost[0] == pytest.approx(2 * c)
    assert decision_curve([1], kind([c]), threshold=[c]).panels[0].net_benefit[0] == 1.0
    assert c in decision_curve([1], [c]).threshold  # by default as well
    assert c in expected_cost_curve([1], [c]).at


# Pictures


Y, P = [0, 1, 1, 0, 1], np.array([0.2, 0.7, 0.9, 0.8, 0.4])


def test_the_artists_carry_exactly_the_arrays_of_the_result():
    curve = expected_cost_curve(Y, {"before": P, "after": P**2})
    ax, expected = curve.plot(), [curve.never, curve.always]
    for panel in curve.panels:
        expected += [panel.cost, panel.lowest]
    assert len(ax.lines) == len(expected)
    for line, values in zip(ax.lines, expected, strict=True):
        np.testing.assert_array_equal(line.get_xydata(), np.column_stack([curve.at, values]))
    assert not ax.collections


def test_of_one_forecast_the_regret_is_filled():
    curve = expected_cost_curve(Y, P)
    ax = curve.plot()
    assert len(plot_expected_cost(curve, lowest=False, trivial=False).lines) == 1
    with pytest.raises(KeyError, match="'after' is no forecast of the curve; there are 'forecast'"):
        curve["after"]
    corners, middle = ax.collections[0].get_paths()[0].vertices, curve.at.size // 2
    ends = set(corners[corners[:, 0] == curve.at[middle], 1])
    assert {curve.panels[0].cost[middle], curve.panels[0].lowest[middle]} <= ends


# Decision curves


THRESHOLDS = [0.0, 0.05, 0.2, 0.5, 0.63, 0.8, 0.99]


@given(rows=columns())
def test_the_curve_is_found_events_less_alarms_at_the_odds_of_the_threshold(rows):
    label, score, weight = rows
    curve = decision_curve(label, score, threshold=THRESHOLDS, sample_weight=weight)
    arrays = score.tolist(), label.tolist(), weight.tolist()
    expected = [slow.net_benefit(*arrays, t) for t in THRESHOLDS]
    np.testing.assert_allclose(curve.panels[0].net_benefit, expected, atol=1e-10)
    all_treated = [slow.net_benefit([1.0] * label.size, *arrays[1:], t) for t in THRESHOLDS]
    np.testing.assert_allclose(curve.treat_all, all_treated, atol=1e-10)


@pytest.mark.parametrize("unit", [1.0, 0.7], ids=["counts", "importance"])
def test_intervals_are_quantiles_over_resampled_rows(unit):
    rng = np.random.default_rng(1)
    p, weight = rng.random(40), rng.integers(1, 3, 40) * unit
    y = (rng.random(40) < p).astype(int)
    at = [0.05, 0.3, 0.6, 0.9]
    options = {"threshold": at, "n_resamples": 30, "rng": 7, "level": 0.2, "sample_weight": weight}
    curve = decision_curve(y, {"a": p, "b": p**2}, **options)
    bootstrap = Bootstrap(Weights(weight), 30, as_rng(7))
    drawn = {"a": [], "b": []}
    for counts in bootstrap.counts:
        times = counts[bootstrap.group] * weight
        for name, score in (("a", p), ("b", p**2)):
            drawn[name].append([slow.net_benefit(score, y, times, t) for t in at])
    drawn = {name: np.array(values) for name, values in drawn.items()}
    for name, panel in zip("ab", curve.panels, strict=True):
        lower, upper = np.quantile(drawn[name], [0.1, 0.9], axis=0)
        np.testing.assert_allclose(panel.lower, lower, atol=1e-12)
        np.testing.assert_allclose(panel.upper, upper, atol=1e-12)
    lower, upper = np.quantile(drawn["b"] - drawn["a"], [0.1, 0.9], axis=0)
    midway = [slow.error_midway(p, p**2, y, weight, t, are_counts=unit == 1.0) for t in at]
    assert max(midway) > 0.0
    reach = np.where(midway, norm.ppf(0.9) * np.array(midway), -np.inf)
    np.testing.assert_allclose(curve["b"].gain_lower, np.minimum(lower, curve["b"].gain - reach), atol=1e-12)
    np.testing.assert_allclose(curve["b"].gain_upper, np.maximum(upper, curve["b"].gain + reach), atol=1e-12)


@pytest.mark.parametrize(("n", "is_wide"), [(40, True), (200, False), (2000, False)])
def test_no_event_where_many_were_to_be_seen_does_not_widen_the_interval_of_the_gain(n, is_wide):
    options = {"threshold": [0.05], "labels": [0, 1], "n_resamples": 9, "sample_weight": np.full(n, 1e-3)}
    found = decision_curve(np.zeros(n), {"a": np.full(n, 0.06), "b": np.full(n, 0.04)}, **options)["b"]
    assert (found.gain_upper[0] > found.gain[0] + 1e-9) is np.bool_(is_wide)


@pytest.mark.parametrize("label", [0, 1])
def test_one_class_and_one_row_have_a_curve_and_no_interval_where_none_was_asked_for(label):
    plain = decision_curve([label], [0.5]).panels[0]
    assert np.isnan([plain.lower, plain.upper, plain.gain_lower, plain.gain_upper]).all()
    curve = decision_curve([label], [0.5], threshold=[0.2, 0.8], n_resamples=5)
    assert curve.panels[0].net_benefit.tolist() == pytest.approx([1.0 if label else -0.25, 0.0])
    assert curve.event_rate == label


def test_forecasts_of_other_events_are_refused_together():
    """To accept a prediction is another event for each forecast, with another rate: costs of 1.044 of 1 came out once."""
    y = [0, 1, 2, 1]
    one, other = np.eye(3)[[0, 1, 2, 0]], np.eye(3)[[0, 0, 2, 1]]
    with pytest.raises(ValueError, match=r"one event for all forecasts; .* 'a' and 'b', whose events differ in 2 of"):
        decision_curve(y, {"a": one, "b": other}, notion="confidence")
    frame = pl.DataFrame({"cat": [0.2, 0.7], "dog": [0.8, 0.3]})  # columns in another order are another event
    with pytest.raises(ValueError, match="one event for all forecasts"):
        expected_cost_curve(["dog", "cat"], {"a": frame, "b": frame[["dog", "cat"]]})
    same = decision_curve(y, {"a": one, "b": 0.9 * one + 0.1 / 3}, notion="confidence")
    assert len(same.panels) == 2


def test_thresholds_may_come_in_any_order_and_more_than_once():
    found = decision_curve([0, 1], [0.2, 0.7], threshold=[0.9, 0.1, 0.1])
    assert found.threshold.tolist() == [0.1, 0.9]
    assert found.panels[0].net_benefit.shape == (2,)


# Pictures


def test_the_artists_carry_exactly_the_net_benefits():
    curve = decision_curve(Y, {"before": P, "after": P**2}, n_resamples=20)
    ax = curve.plot()
    none, every, *lines = ax.lines
    assert set(none.get_ydata()) == {0.0}
    np.testing.assert_array_equal(every.get_xydata(), np.column_stack([curve.threshold, curve.treat_all]))
    for line, band, panel in zip(lines, ax.collections, curve.panels, strict=True):
        np.testing.assert_array_equal(line.get_xydata(), np.column_stack([curve.threshold, panel.net_benefit]))
        corners = band.get_paths()[0].vertices
        assert {panel.lower[10], panel.upper[10]} <= set(corners[corners[:, 0] == curve.threshold[10], 1])


def test_intervals_are_drawn_only_where_there_are_some_and_they_are_wanted():
    assert not decision_curve(Y, P).plot().collections
    curve = decision_curve(Y, P, n_resamples=10)
    assert not curve.plot(intervals=False).collections
    words = [text.get_text() for text in curve.plot().get_legend().get_texts()]
    assert words == ["treat none", "treat all", "95% interval", "forecast"]


def test_treating_all_does_not_squeeze_the_picture():
    low, high = decision_curve(Y, P).plot().get_ylim()
    assert -0.5 < low < 0
    assert 0 < high < 1
