"""Calibration maps are drawn as they are, over the points of the reliability diagram."""

import numpy as np
import pytest

from calibrant import ByNotion, IsotonicCalibration, TemperatureScaling, load_digits_forecast
from calibrant.curves import calibration_map, plot_calibration_map

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")
from matplotlib import pyplot as plt  # noqa: E402
from matplotlib.collections import PathCollection  # noqa: E402

Y, PROB = load_digits_forecast()
EIGHT = (Y == 8, PROB[:, 8])


def maps_in(ax):
    return [line for line in ax.lines if len(line.get_xdata()) == 1001]


def test_the_artists_carry_exactly_the_arrays_of_the_result():
    result = calibration_map(IsotonicCalibration().fit(EIGHT[1], EIGHT[0]), *EIGHT, binning=8)
    ax = result.plot()
    (line,) = maps_in(ax)
    np.testing.assert_array_equal(line.get_xdata(), result.panels[0].score)
    np.testing.assert_array_equal(line.get_ydata(), result.panels[0].calibrated)
    (points,) = (c for c in ax.collections if isinstance(c, PathCollection))
    bins = result.curve.panels[0].bins
    held = bins.count > 0
    np.testing.assert_array_equal(points.get_offsets(), np.column_stack([bins.mean_prob, bins.event_rate])[held])


def test_a_map_without_rows_stands_alone():
    ax = calibration_map(np.sqrt).plot()
    assert len(maps_in(ax)) == 1
    assert not ax.collections
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["calibrated", "map"]


def test_maps_are_drawn_over_each_other_with_one_set_of_points():
    fitted = {"isotonic": IsotonicCalibration(), "temperature": TemperatureScaling()}
    maps = {name: calibration_map(c.fit(EIGHT[1], EIGHT[0]), *EIGHT) for name, c in fitted.items()}
    ax = plot_calibration_map(maps)
    assert len({line.get_color() for line in maps_in(ax)}) == 2
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    assert words == ["calibrated", "event rate", "95% interval", "isotonic", "temperature"]


def test_every_class_has_a_panel_with_its_name():
    result = calibration_map(ByNotion(IsotonicCalibration()).fit(PROB, Y), Y, PROB)
    axes = result.plot(panels=["class 2", "class 7"])
    assert [ax.get_title() for ax in axes] == ["class 2", "class 7"]
    np.testing.assert_array_equal(maps_in(axes[1])[0].get_ydata(), result.panels[7].calibrated)


def test_a_given_axes_is_drawn_on_and_settings_are_left_alone():
    before = dict(matplotlib.rcParams)
    figure, ax = plt.subplots()
    assert calibration_map(np.sqrt).plot(ax=ax) is ax
    figure.canvas.draw()
    assert plt.get_fignums() == [figure.number]
    assert dict(matplotlib.rcParams) == before
