"""Cost curves."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import decisions as slow
from strategies import columns

from calibrant import brier_score_loss, load_digits_forecast
from calibrant.decisions.expected_cost import AXES, expected_cost_curve
from calibrant.exceptions import CalibrationWarning
from calibrant.metrics import corp_decomposition
from calibrant.notions import OneVsRest

each_axis = pytest.mark.parametrize("axis", AXES)
PLACES = [0.0, 0.07, 0.2, 0.41, 0.5, 0.73, 0.9, 1.0]


def both_classes(rows):
    label, score, weight = rows
    return np.append(label, [0, 1]), np.append(score, [0.3, 0.45]), np.append(weight, [1.0, 2.0])


@each_axis
@given(rows=columns())
def test_the_curve_is_the_cost_of_deciding_at_the_threshold_and_at_best(axis, rows):
    label, score, weight = both_classes(rows)
    curve = expected_cost_curve(label, score, axis=axis, at=PLACES, sample_weight=weight)
    arrays = score.tolist(), label.tolist(), weight.tolist()
    rate = float(weight @ label / weight.sum())
    for number, x in enumerate(PLACES):
        threshold, fp, fn = slow.cost_terms(axis, x, rate)
        assert curve.threshold[number] == pytest.approx(threshold, abs=1e-12)
        if abs(score - threshold).min() > 1e-9:
            expected = slow.cost_at(*arrays, threshold, fp, fn)
            assert curve.panels[0].cost[number] == pytest.approx(expected, abs=1e-12)
        assert curve.panels[0].lowest[number] == pytest.approx(slow.lowest_cost(*arrays, fp, fn), abs=1e-9)
        assert curve.never[number] == pytest.approx(fn * rate, abs=1e-12)
        assert curve.always[number] == pytest.approx(fp * (1 - rate), abs=1e-12)


@given(rows=columns())
def test_the_mean_over_cost_proportions_is_the_brier_score(rows):
    label, score, weight = rows
    panel = expected_cost_curve(label, score, axis="cost proportion", sample_weight=weight).panels[0]
    assert panel.mean_cost == pytest.approx(float(weight @ (score - label) ** 2 / weight.sum()), abs=1e-12)
    two = np.column_stack([1 - score, score])
    assert panel.mean_cost == pytest.approx(brier_score_loss(label, two, sample_weight=weight), abs=1e-12)


@given(rows=columns())
def test_the_mean_regret_over_cost_proportions_is_the_miscalibration(rows):
    label, score, weight = rows
    panel = expected_cost_curve(label, score, axis="cost proportion", sample_weight=weight).panels[0]
    corp = corp_decomposition(label, score, sample_weight=weight)
    assert panel.mean_regret == pytest.approx(corp["miscalibration"], abs=1e-12)


@each_axis
@given(rows=columns(max_rows=12))
def test_the_means_are_the_integrals_of_the_curves(axis, rows):
    """Both curves are linear between the places where a score is the threshold: the trapezoidal rule around them."""
    label, score, weight = both_classes(rows)
    rate = float(weight @ label / weight.sum())
    # x at which each score, and each fitted rate, is the threshold
    values = np.unique([0.0, 1.0, *score, *slow.isotonic_scores(score.tolist(), label.tolist(), weight.tolist())])
    jumps = values if axis == "cost proportion" else rate * (1 - values) / (rate * (1 - values) + (1 - rate) * values)
    jumps = np.unique(np.clip(np.concatenate([jumps - 1e-9, jumps + 1e-9]), 0.0, 1.0))
    curve = expected_cost_curve(label, score, axis=axis, at=jumps, sample_weight=weight)
    panel = curve.panels[0]
    assert np.trapezoid(panel.cost, curve.at) == pytest.approx(panel.mean_cost, abs=1e-6)
    assert np.trapezoid(panel.lowest, curve.at) == pytest.approx(panel.mean_lowest, abs=1e-6)


@each_axis
@given(rows=columns())
def test_at_best_is_never_dearer_than_the_forecast_nor_than_all_or_nothing(axis, rows):
    label, score, weight = both_classes(rows)
    curve = expected_cost_curve(label, score, axis=axis, sample_weight=weight)
    panel = curve.panels[0]
    assert (panel.lowest <= panel.cost).all()
    assert (panel.lowest <= np.minimum(curve.never, curve.always) + 1e-12).all()
    assert panel.mean_regret >= 0


def test_the_probability_cost_of_drummond_and_holte_joins_the_error_rates():
    """At x = 0 only false alarms cost, and the threshold is one; at x = 1 only misses, and it is zero."""
    curve = expected_cost_curve([0, 0, 1, 1, 1], [0.1, 1.0, 0.2, 0.9, 0.9], at=[0.0, 0.5, 1.0])
    np.testing.assert_allclose(curve.threshold, [1.0, 0.6, 0.0])
    np.testing.assert_allclose(curve.panels[0].cost, [1 / 2, 0.5 * (1 / 3) + 0.5 * (1 / 2), 0.0])
    np.testing.assert_allclose(curve.never, curve.at)
    np.testing.assert_allclose(curve.always, 1 - curve.at)


def test_a_calibrated_forecast_has_no_regret_and_a_monotone_map_changes_only_the_regret():
    rng = np.random.default_rng(0)
    q = rng.beta(0.6, 1.0, 100_000)
    y = (rng.random(q.size) < q).astype(int)
    curve = expected_cost_curve(y, {"before": q**2, "after": q})
    before, after = curve["before"], curve["after"]
    assert before.mean_lowest == pytest.approx(after.mean_lowest, rel=1e-12)
    np.testing.assert_allclose(before.lowest, after.lowest, rtol=1e-9)
    assert after.mean_regret < 0.001
    assert before.mean_regret > 0.01


@each_axis
@given(rows=columns())
def test_whole_weights_are_repeated_rows(axis, rows):
    label, score, weight = both_classes(rows)
    times = weight.astype(int)
    weighted = expected_cost_curve(label, score, axis=axis, sample_weight=weight).panels[0]
    repeated = expected_cost_curve(np.repeat(label, times), np.repeat(score, times), axis=axis).panels[0]
    np.testing.assert_allclose(weighted.mean_cost, repeated.mean_cost, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(weighted.mean_lowest, repeated.mean_lowest, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(weighted.lowest, repeated.lowest, atol=1e-12)


@pytest.mark.parametrize("label", [0, 1])
@pytest.mark.parametrize("score", [[0.0, 0.3], [1.0, 1.0], [0.0, 0.0], [0.3, 1.0]])
def test_of_one_class_the_other_error_rate_counts_as_zero_with_a_warning(label, score):
    with pytest.warns(CalibrationWarning, match="error rates need rows with and without the event"):
        curve = expected_cost_curve([label, label], score)
    panel = curve.panels[0]
    assert np.isfinite(panel.cost).all()
    np.testing.assert_allclose(panel.lowest, 0.0, atol=1e-15)
    inside = expected_cost_curve([label, label], score, at=np.linspace(1e-6, 1 - 1e-6, 11), axis="cost proportion")
    assert np.isfinite(inside.panels[0].cost).all()
    # The curve is linear up to its last place, where the threshold jumps.
    with pytest.warns(CalibrationWarning, match="error rates need"):
        linear = expected_cost_curve([label, label], score, at=[1e-12, 0.5, 1 - 1e-12])
    assert panel.mean_cost == pytest.approx(np.trapezoid(linear.panels[0].cost, linear.at), abs=1e-11)


def test_one_class_of_a_table_or_the_confidence_can_be_the_event():
    y, prob = load_digits_forecast()
    column = expected_cost_curve(y == 3, prob[:, 3]).panels[0]
    table = expected_cost_curve(y, prob, notion=OneVsRest(3)).panels[0]
    np.testing.assert_array_equal(column.cost, table.cost)
    accept = expected_cost_curve(y, prob, notion="confidence")
    assert accept.event_rate == pytest.approx((prob.argmax(axis=1) == y).mean())


def test_two_columns_are_the_event_of_the_second():
    p = np.array([0.2, 0.7, 0.9, 0.8])
    y = [0, 1, 1, 0]
    one, two = expected_cost_curve(y, p).panels[0], expected_cost_curve(y, np.column_stack([1 - p, p])).panels[0]
    np.testing.assert_allclose(one.cost, two.cost)


@pytest.mark.parametrize(
    ("forecast", "options", "message"),
    [
        (
            [0.2, 0.7],
            {"axis": "threshold"},
            r"axis must be one of 'probability cost', 'cost proportion'; got 'threshold'",
        ),
        ([0.2, 0.7], {"at": [0.5, 1.5]}, r"at must lie in \[0, 1\]; got 1\.5 at index 1"),
        ([0.2, 0.7], {"at": []}, r"at must hold at least one number; got none\. Pass numbers between 0 and 1"),
        ([0.2, 0.7], {"at": [[0.5]]}, r"at must have one dimension; got shape \(1, 1\)"),
        ({}, {}, r"y_prob must hold at least one forecast; got an empty dict"),
        (
            np.full((2, 3), 1 / 3),
            {},
            r"y_prob must speak of one event; got 3 classes\. Say which one: notion=OneVsRest",
        ),
        (
            np.full((2, 3), 1 / 3),
            {"notion": "class-wise"},
            r"notion must speak of one event; got 'class-wise', which speaks of 3",
        ),
        ({"a": [0.2, 1.7]}, {}, r"y_prob must hold probabilities in \[0, 1\]"),
    ],
)
def test_what_makes_no_sense_is_refused_with_what_to_do(forecast, options, message):
    with pytest.raises(ValueError, match=message):
        expected_cost_curve([0, 1], forecast, **options)


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_a_frame_has_a_row_a_forecast_and_place(backend):
    frame = expected_cost_curve([0, 1], {"a": [0.2, 0.7], "b": [0.3, 0.6]}, at=[0.0, 0.5, 1.0]).to_frame(backend)
    columns = frame.column_names if backend == "pyarrow" else list(frame.columns)
    assert columns == ["forecast", "at", "threshold", "cost", "lowest", "never", "always"]
    assert len(frame) == 6


def test_a_curve_says_what_it_is_and_cannot_be_changed():
    curve = expected_cost_curve([0, 1, 1, 0], [0.2, 0.7, 0.9, 0.8], axis="cost proportion")
    assert repr(curve) == "ExpectedCostCurve(cost proportion; forecast: 0.195, at best 0.125)"
    with pytest.raises(AttributeError):
        curve.axis = "x"
    with pytest.raises(ValueError, match="read-only"):
        curve.panels[0].cost[0] = 1
    with pytest.raises(KeyError, match="'after' is no forecast of the curve; there are 'forecast'"):
        curve["after"]


def test_places_may_come_in_any_order_and_more_than_once():
    found = expected_cost_curve([0, 1], [0.2, 0.7], at=[0.9, 0.1, 0.1])
    assert found.at.tolist() == [0.1, 0.9]
    assert found.panels[0].cost.shape == found.threshold.shape == (2,)


@given(st.data())
def test_scores_on_the_threshold_are_decided_for_the_event(data):
    c = data.draw(st.sampled_from([0.2, 0.5, 0.8]))
    curve = expected_cost_curve([0], [c], axis="cost proportion", at=[c])
    assert curve.panels[0].cost[0] == pytest.approx(2 * c)


def test_forecasts_of_other_events_are_refused_together():
    """To accept a prediction is another event for each forecast, with another rate: costs of 1.044 of 1 came out once."""
    y = [0, 1, 2, 1]
    one, other = np.eye(3)[[0, 1, 2, 0]], np.eye(3)[[0, 0, 2, 1]]
    with pytest.raises(
        ValueError,
        match=r"one event for all forecasts; .* 'a' and 'b', whose events differ in 2 of 4 rows\. Pass .* one",
    ):
        expected_cost_curve(y, {"a": one, "b": other}, notion="confidence")
    same = expected_cost_curve(y, {"a": one, "b": 0.9 * one + 0.1 / 3}, notion="confidence")
    assert len(same.panels) == 2


def test_columns_of_a_data_frame_in_another_order_are_another_event():
    pandas = pytest.importorskip("pandas")
    one = pandas.DataFrame({"cat": [0.2, 0.7], "dog": [0.8, 0.3]})
    with pytest.raises(ValueError, match="one event for all forecasts"):
        expected_cost_curve(["dog", "cat"], {"a": one, "b": one[["dog", "cat"]]})


def test_names_that_are_one_as_text_are_refused():
    with pytest.raises(ValueError, match=r"forecasts must have names that differ as text; got 1, '1'\. Rename"):
        expected_cost_curve([0, 1], {1: [0.2, 0.7], "1": [0.3, 0.6]})


def test_words_that_are_no_axis_are_refused():
    with pytest.raises(TypeError, match=r"axis must be one of .* got 3"):
        expected_cost_curve([0, 1], [0.2, 0.7], axis=3)
    with pytest.raises(TypeError, match=r"at must be a sequence of numbers; got 0\.5\. Pass .* at=\[0\.2, 0\.5\]"):
        expected_cost_curve([0, 1], [0.2, 0.7], at=0.5)


def test_the_warning_of_one_class_points_at_the_line_of_the_caller():
    with pytest.warns(CalibrationWarning, match="error rates need") as caught:
        expected_cost_curve([1, 1], [0.2, 0.7])
    assert caught[0].filename == __file__
