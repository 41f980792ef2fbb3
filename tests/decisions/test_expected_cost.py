"""Cost curves."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import decisions as slow
from strategies import columns

from calibrant.decisions.expected_cost import expected_cost_curve, plot_expected_cost
from calibrant.metrics import corp_decomposition

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
    (np.full((2, 3), 1 / 3), {"notion": "class-wise"}, r"notion must speak of one event; got 'class-wise', which"),
]


@pytest.mark.parametrize(("forecast", "options", "message"), REFUSALS)
def test_what_makes_no_sense_is_refused_with_what_to_do(forecast, options, message):
    with pytest.raises(ValueError, match=message):
        expected_cost_curve([0, 1], forecast, **options)


def test_a_curve_says_what_it_is_and_cannot_be_changed():
    curve = expected_cost_curve([0, 1, 1, 0], [0.2, 0.7, 0.9, 0.8])
    assert repr(curve) == "ExpectedCostCurve(forecast: 0.195, at best 0.125)"
    with pytest.raises(AttributeError):
        curve.at = "x"
    with pytest.raises(ValueError, match="read-only"):
        curve.panels[0].cost[0] = 1
    with pytest.raises(KeyError, match="'after' is no forecast of the curve; there are 'forecast'"):
        curve["after"]


@given(st.data())
def test_scores_on_the_threshold_are_decided_for_the_event(data):
    c = data.draw(st.sampled_from([0.2, 0.5, 0.8]))
    curve = expected_cost_curve([0], [c], at=[c])
    assert curve.panels[0].cost[0] == pytest.approx(2 * c)


def test_columns_of_a_data_frame_in_another_order_are_another_event():
    pandas = pytest.importorskip("pandas")
    one = pandas.DataFrame({"cat": [0.2, 0.7], "dog": [0.8, 0.3]})
    with pytest.raises(ValueError, match="one event for all forecasts"):
        expected_cost_curve(["dog", "cat"], {"a": one, "b": one[["dog", "cat"]]})


# Pictures


Y, P = [0, 1, 1, 0, 1], np.array([0.2, 0.7, 0.9, 0.8, 0.4])


def test_the_artists_carry_exactly_the_arrays_of_the_result():
    curve = expected_cost_curve(Y, {"before": P, "after": P**2})
    ax = curve.plot()
    expected = [curve.never, curve.always]
    for panel in curve.panels:
        expected += [panel.cost, panel.lowest]
    assert len(ax.lines) == len(expected)
    for line, values in zip(ax.lines, expected, strict=True):
        np.testing.assert_array_equal(line.get_xydata(), np.column_stack([curve.at, values]))
    assert not ax.collections


def test_of_one_forecast_the_regret_is_filled():
    curve = expected_cost_curve(Y, P)
    ax = curve.plot()
    corners = ax.collections[0].get_paths()[0].vertices
    middle = curve.at.size // 2
    assert {curve.panels[0].cost[middle], curve.panels[0].lowest[middle]} <= set(
        corners[corners[:, 0] == curve.at[middle], 1]
    )


def test_the_legend_states_the_averages_and_the_axes_say_what_they_show():
    curve = expected_cost_curve(Y, P)
    panel = curve.panels[0]
    ax = curve.plot()
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    best = f"at best: {panel.mean_lowest:.4f}"
    assert words == ["never", "always", f"forecast: {panel.mean_cost:.4f}", "regret", best]
    assert ax.get_xlabel() == "cost proportion = threshold"
    plain = plot_expected_cost(curve, lowest=False, trivial=False)
    assert len(plain.lines) == 1
    assert ax.get_ylabel() == "expected cost"
