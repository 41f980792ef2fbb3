"""Maps are what the calibrators make of the grid, whatever kind of calibrator it is."""

import numpy as np
import pytest

from calibrant import (
    ByNotion,
    IsotonicCalibration,
    NormalizedFlattenedIsotonic,
    TemperatureScaling,
    load_digits_forecast,
    reliability_curve,
)
from calibrant.curves import calibration_map
from calibrant.notions import OneVsRest

Y, PROB = load_digits_forecast()
GRID = np.linspace(0.0, 1.0, 11)


@pytest.mark.parametrize("interpolate", [False, True])
def test_a_binary_calibrator_is_shown_as_it_maps(interpolate):
    fitted = IsotonicCalibration(interpolate=interpolate).fit(PROB[:, 3], Y == 3)
    panel = calibration_map(fitted, resolution=11).panels[0]
    np.testing.assert_allclose(panel.score, GRID, atol=1e-15)
    np.testing.assert_array_equal(panel.calibrated, fitted.calibrate(panel.score))


def test_a_calibrator_of_logits_gets_logits():
    logit = np.log(PROB[:, 3]) - np.log1p(-PROB[:, 3].clip(max=1 - 1e-12))
    fitted = TemperatureScaling(input="logit").fit(logit, Y == 3)
    panel = calibration_map(fitted, resolution=11).panels[0]
    inside = GRID[1:-1]
    expected = 1 / (1 + ((1 - inside) / inside) ** (1 / fitted.temperature_))
    np.testing.assert_allclose(panel.calibrated[1:-1], expected, atol=1e-9)


def test_a_function_is_a_map():
    result = calibration_map(np.sqrt, resolution=11)
    np.testing.assert_array_equal(result.panels[0].calibrated, np.sqrt(result.panels[0].score))
    assert repr(result) == "CalibrationMap(sqrt, binary, panels=1)"


@pytest.mark.parametrize("notion", ["class-wise", "top-label", "confidence", OneVsRest(3)], ids=str)
def test_by_notion_has_a_map_for_each_of_its_problems(notion):
    fitted = ByNotion(IsotonicCalibration(), notion).fit(PROB, Y)
    result = calibration_map(fitted, Y, PROB, resolution=11)
    alone = calibration_map(fitted, resolution=11)
    expected = [panel.name for panel in reliability_curve(Y, PROB, notion=notion).panels]
    assert [panel.name for panel in result.panels] == [panel.name for panel in alone.panels] == expected
    assert result.notion == result.curve.notion == fitted.notion_.name
    for part, panel in zip(fitted.calibrators_, result.panels, strict=True):
        np.testing.assert_array_equal(panel.calibrated, part._apply(panel.score))


@pytest.mark.filterwarnings("ignore::calibrant.exceptions.CalibrationWarning")
def test_a_problem_without_rows_leaves_scores_as_they_are_if_so_asked():
    prob = np.array([[0.9, 0.1, 0.0], [0.2, 0.8, 0.0], [0.6, 0.4, 0.0]])
    fitted = ByNotion(IsotonicCalibration(), "top-label", unseen="identity").fit(prob, [0, 1, 2])
    panel = calibration_map(fitted, resolution=11).panels[2]
    np.testing.assert_array_equal(panel.calibrated, panel.score)


def test_the_reliability_is_that_of_the_rows_before_calibration():
    fitted = IsotonicCalibration().fit(PROB[:, 3], Y == 3)
    options = {"binning": 8, "interval": "clopper-pearson", "level": 0.1}
    found = calibration_map(fitted, Y == 3, PROB[:, 3], **options).curve
    expected = reliability_curve(Y == 3, PROB[:, 3], **options)
    np.testing.assert_array_equal(found.panels[0].bins.event_rate, expected.panels[0].bins.event_rate)
    np.testing.assert_array_equal(found.panels[0].upper, expected.panels[0].upper)


def test_two_columns_are_the_binary_problem_of_a_binary_calibrator():
    fitted = IsotonicCalibration().fit(PROB[:, 3], Y == 3)
    table = np.column_stack([1 - PROB[:, 3], PROB[:, 3]])
    assert calibration_map(fitted, Y == 3, table).curve.notion == "binary"


def test_a_map_cannot_be_changed_and_becomes_a_frame():
    result = calibration_map(np.sqrt, resolution=5)
    with pytest.raises(ValueError, match="read-only"):
        result.panels[0].score[0] = 1.0
    frame = result.to_frame("polars")
    assert frame.columns == ["panel", "score", "calibrated"]
    assert len(frame) == 5


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((np.sqrt, [0, 1]), ValueError, "y_true and y_prob must be given together; y_prob is missing"),
        ((lambda score: score[:3],), ValueError, r"a value for each score; got shape \(3,\) for \(1001,\)"),
        (("platt",), TypeError, "must be a fitted calibrator or a function; got 'platt'"),
        ((TemperatureScaling().fit(PROB, Y),), TypeError, "one score at a time; got .* for 10 classes"),
    ],
    ids=["half the data", "too few values", "a word", "ten classes"],
)
def test_what_is_no_map_of_one_score_is_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        calibration_map(*arguments)


@pytest.mark.parametrize(
    ("resolution", "error"), [(1, ValueError), (0, ValueError), (2.5, TypeError), ("many", TypeError)]
)
def test_a_grid_needs_two_ends(resolution, error):
    with pytest.raises(error, match="resolution must be a whole number, at least 2"):
        calibration_map(np.sqrt, resolution=resolution)


def test_na_fir_of_two_classes_is_shown_as_it_maps_and_of_more_is_no_map_of_one_score():
    fitted = NormalizedFlattenedIsotonic(smoothing=0.01).fit(PROB[:, 3], Y == 3)
    panel = calibration_map(fitted, resolution=11).panels[0]
    np.testing.assert_array_equal(panel.calibrated, fitted.calibrate(panel.score))
    assert panel.calibrated[0] + panel.calibrated[-1] == pytest.approx(1.0)
    with pytest.raises(TypeError, match=r"one score at a time.*calibration_shift"):
        calibration_map(NormalizedFlattenedIsotonic(smoothing=0.01).fit(PROB, Y))
