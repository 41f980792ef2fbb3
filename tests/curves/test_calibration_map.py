"""Maps are what the calibrators make of the grid, whatever kind of calibrator it is."""

import numpy as np
import pytest
from matplotlib.collections import PathCollection
from matplotlib.quiver import Quiver

import calibrant as cb
from calibrant.drawing import DIAGONAL

Y, PROB = cb.load_digits_forecast()
GRID = np.linspace(0.0, 1.0, 11)


def test_a_calibrator_of_logits_gets_logits():
    logit = np.log(PROB[:, 3]) - np.log1p(-PROB[:, 3].clip(max=1 - 1e-12))
    fitted = cb.TemperatureScaling(input="logit").fit(logit, Y == 3)
    panel = cb.curves.calibration_map(fitted, resolution=11).panels[0]
    inside = GRID[1:-1]
    expected = 1 / (1 + ((1 - inside) / inside) ** (1 / fitted.temperature_))
    np.testing.assert_allclose(panel.calibrated[1:-1], expected, atol=1e-9)


def test_a_function_is_a_map():
    result = cb.curves.calibration_map(np.sqrt, resolution=11)
    np.testing.assert_array_equal(result.panels[0].calibrated, np.sqrt(result.panels[0].score))
    assert repr(result) == "CalibrationMap(sqrt, binary, panels=1)"


@pytest.mark.parametrize("notion", ["class-wise", "top-label", "confidence", cb.notions.OneVsRest(3)], ids=str)
def test_by_notion_has_a_map_for_each_of_its_problems(notion):
    fitted = cb.ByNotion(cb.IsotonicCalibration(), notion).fit(PROB, Y)
    result = cb.curves.calibration_map(fitted, Y, PROB, resolution=11)
    alone = cb.curves.calibration_map(fitted, resolution=11)
    expected = [panel.name for panel in cb.reliability_curve(Y, PROB, notion=notion).panels]
    assert [panel.name for panel in result.panels] == [panel.name for panel in alone.panels] == expected
    assert result.notion == result.curve.notion == fitted.notion_.name
    for part, panel in zip(fitted.calibrators_, result.panels, strict=True):
        np.testing.assert_array_equal(panel.calibrated, part._apply(panel.score))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((np.sqrt, [0, 1]), ValueError, "y_true and y_prob must be given together; y_prob is missing"),
        ((lambda score: score[:3],), ValueError, r"a value for each score; got shape \(3,\) for \(1001,\)"),
        (("platt",), TypeError, "must be a fitted calibrator or a function; got 'platt'"),
        ((cb.TemperatureScaling().fit(PROB, Y),), TypeError, "one score at a time; got .* for 10 classes"),
    ],
    ids=["half the data", "too few values", "a word", "ten classes"],
)
def test_what_is_no_map_of_one_score_is_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        cb.curves.calibration_map(*arguments)


@pytest.mark.parametrize(
    ("resolution", "error"), [(1, ValueError), (0, ValueError), (2.5, TypeError), ("many", TypeError)]
)
def test_a_grid_needs_two_ends(resolution, error):
    with pytest.raises(error, match="resolution must be a whole number, at least 2"):
        cb.curves.calibration_map(np.sqrt, resolution=resolution)


def test_na_fir_of_two_classes_is_shown_as_it_maps_and_of_more_is_no_map_of_one_score():
    fitted = cb.NormalizedFlattenedIsotonic(smoothing=0.01).fit(PROB[:, 3], Y == 3)
    panel = cb.curves.calibration_map(fitted, resolution=11).panels[0]
    np.testing.assert_array_equal(panel.calibrated, fitted.calibrate(panel.score))
    assert panel.calibrated[0] + panel.calibrated[-1] == pytest.approx(1.0)
    with pytest.raises(TypeError, match=r"one score at a time.*simplex_map"):
        cb.curves.calibration_map(cb.NormalizedFlattenedIsotonic(smoothing=0.01).fit(PROB, Y))


# Pictures


EIGHT = (Y == 8, PROB[:, 8])


def maps_in(ax):
    return [line for line in ax.lines if len(line.get_xdata()) == 1001]


def test_the_artists_carry_exactly_the_arrays_of_the_result():
    result = cb.curves.calibration_map(cb.IsotonicCalibration().fit(EIGHT[1], EIGHT[0]), *EIGHT, binning=8)
    ax = result.plot()
    (line,) = maps_in(ax)
    np.testing.assert_array_equal(line.get_xdata(), result.panels[0].score)
    np.testing.assert_array_equal(line.get_ydata(), result.panels[0].calibrated)
    (points,) = (c for c in ax.collections if isinstance(c, PathCollection))
    bins = result.curve.panels[0].bins
    held = bins.count > 0
    np.testing.assert_array_equal(points.get_offsets(), np.column_stack([bins.mean_prob, bins.event_rate])[held])


def test_a_map_without_rows_stands_alone():
    ax = cb.curves.calibration_map(np.sqrt).plot()
    assert len(maps_in(ax)) == 1
    assert not ax.collections
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [DIAGONAL, "map"]


def test_maps_are_drawn_over_each_other_with_one_set_of_points():
    fitted = {"isotonic": cb.IsotonicCalibration(), "temperature": cb.TemperatureScaling()}
    maps = {name: cb.curves.calibration_map(c.fit(EIGHT[1], EIGHT[0]), *EIGHT) for name, c in fitted.items()}
    ax = cb.curves.plot_calibration_map(maps)
    assert len({line.get_color() for line in maps_in(ax)}) == 2
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    assert words == [DIAGONAL, "event rate", "95% interval", "isotonic", "temperature"]


def test_arrows_lead_from_each_point_to_what_the_map_makes_of_its_mean_probability():
    """The sum of the dotted arrows of the survey's Fig. 4: sideways from the score to what it is mapped to."""
    y, p = EIGHT
    at = np.ceil(p * 5).astype(int).clip(1, 5) - 1
    mean, rate = (np.array([of[at == b].mean() for b in range(5)]) for of in (p, y))
    maps = {name: cb.curves.calibration_map(of, y, p, binning=5) for name, of in (("a", np.sqrt), ("b", np.square))}
    ax = cb.curves.plot_calibration_map(maps, arrows=True)
    for one, of in zip([c for c in ax.collections if isinstance(c, Quiver)], (np.sqrt, np.square), strict=True):
        drawn = np.column_stack([one.X, one.Y, one.X + one.U, one.Y + one.V])
        np.testing.assert_allclose(
            drawn, np.column_stack([mean, rate, of(mean), rate]), atol=1e-4
        )  # a grid of 1001 scores
    assert {"moved by a", "moved by b"} <= {text.get_text() for text in ax.get_legend().get_texts()}
    assert (
        not cb.curves.calibration_map(np.sqrt).plot(arrows=True).collections
    )  # without rows there is no point to move


def test_every_class_has_a_panel_with_its_name():
    result = cb.curves.calibration_map(cb.ByNotion(cb.IsotonicCalibration()).fit(PROB, Y), Y, PROB)
    axes = result.plot(panels=["class 2", "class 7"])
    assert [ax.get_title() for ax in axes] == ["class 2", "class 7"]
    np.testing.assert_array_equal(maps_in(axes[1])[0].get_ydata(), result.panels[7].calibrated)
