"""Means before and after are drawn as they are, over the sizes of the bins."""

import numpy as np
import pytest

from calibrant import TemperatureScaling, load_digits_forecast
from calibrant.curves.calibration_map import calibration_shift, plot_calibration_shift

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")
from matplotlib import pyplot as plt  # noqa: E402
from matplotlib.collections import LineCollection  # noqa: E402
from matplotlib.patches import StepPatch  # noqa: E402

Y, PROB = load_digits_forecast()
TABLES = {"TS": TemperatureScaling().fit(PROB, Y).predict_proba(PROB), "same": PROB}
FEW = PROB[:40], {name: table[:40] for name, table in TABLES.items()}, Y[:40]


def words_of(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


@pytest.mark.parametrize("difference", [False, True])
def test_the_artists_carry_exactly_the_arrays_of_the_result(difference):
    prob, tables, y = FEW  # some bins are empty
    result = calibration_shift(prob, tables, y_true=y)
    ax = result.plot(difference=difference)
    (panel,) = result.panels
    held = panel.bins.count > 0
    assert not held.all()
    base = panel.bins.mean_prob[held] if difference else 0.0
    _, *lines, rates = ax.lines
    drawn = [*panel.calibrated, panel.bins.event_rate]
    for line, values in zip([*lines, rates], drawn, strict=True):
        np.testing.assert_array_equal(line.get_xdata(), panel.bins.mean_prob[held])
        np.testing.assert_array_equal(line.get_ydata(), values[held] - base)
    (intervals,) = (c for c in ax.collections if isinstance(c, LineCollection))
    ends = np.array(intervals.get_segments())[:, :, 1]
    np.testing.assert_array_equal(ends, np.column_stack([panel.lower[held] - base, panel.upper[held] - base]))
    assert words_of(ax) == ["unchanged", "TS", "same", "event rate"]
    word = "change of the mean probability" if difference else "mean calibrated probability"
    assert (ax.child_axes[0].get_xlabel(), ax.get_ylabel()) == ("probability before calibration", word)
    (sizes,) = (patch for patch in ax.child_axes[0].patches if isinstance(patch, StepPatch))
    np.testing.assert_array_equal(sizes.get_data().values, panel.bins.count)
    np.testing.assert_array_equal(sizes.get_data().edges, panel.bins.edges)


def test_what_changes_nothing_lies_on_the_dashed_line():
    result = calibration_shift(PROB, PROB)
    for ax in (result.plot(), result.plot(difference=True)):
        dashed, line = ax.lines
        at = np.interp(line.get_xdata(), *dashed.get_data())
        np.testing.assert_allclose(line.get_ydata(), at, atol=1e-12)


def test_without_labels_no_event_rates_are_drawn():
    ax = calibration_shift(PROB, TABLES).plot()
    assert words_of(ax) == ["unchanged", "TS", "same"]
    assert not ax.collections


def test_intervals_are_drawn_as_what_they_are():
    options = {"y_true": Y, "notion": "confidence"}
    assert not calibration_shift(PROB, TABLES, interval=None, **options).plot().collections
    ax = calibration_shift(PROB, TABLES, interval="consistency", level=0.1, **options).plot()
    assert words_of(ax) == ["unchanged", "TS", "same", "accuracy", "90% if calibrated before"]


def test_every_class_has_a_panel_with_its_name():
    result = calibration_shift(PROB, TABLES, notion="class-wise", binning=6)
    axes = result.plot(panels=["class 2", "class 7"])
    assert [ax.get_title() for ax in axes] == ["class 2", "class 7"]
    held = result.panels[7].bins.count > 0
    np.testing.assert_array_equal(axes[1].lines[1].get_ydata(), result.panels[7].calibrated[0][held])


def test_nothing_above_the_threshold_is_drawn_as_nothing():
    ax = calibration_shift([0.1, 0.2], {"up": [0.3, 0.4]}, threshold=0.5, y_true=[0, 1]).plot()
    ax.figure.canvas.draw()
    assert all(line.get_xdata().size == 0 for line in ax.lines[1:])


def test_what_is_no_shift_is_refused():
    with pytest.raises(TypeError, match="result must be of type CalibrationShift; got dict"):
        plot_calibration_shift({})
    with pytest.raises(TypeError, match="difference must be True or False"):
        calibration_shift(PROB, TABLES).plot(difference="yes")


def test_a_given_axes_is_drawn_on_and_settings_are_left_alone():
    before = dict(matplotlib.rcParams)
    figure, ax = plt.subplots()
    assert calibration_shift(PROB, TABLES, y_true=Y).plot(ax=ax) is ax
    figure.canvas.draw()
    assert plt.get_fignums() == [figure.number]
    assert dict(matplotlib.rcParams) == before
