"""Cumulative maps are drawn as the steps that they are, over the event rates of the sums."""

import numpy as np
import pytest

from calibrant import SortedCumulativeIsotonic, load_digits_forecast
from calibrant.curves.cumulative import cumulative_calibration_map, plot_cumulative_calibration_map

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")
from matplotlib import pyplot as plt  # noqa: E402
from matplotlib.collections import LineCollection  # noqa: E402

Y, PROB = load_digits_forecast()
FITTED = SortedCumulativeIsotonic().fit(PROB[:748], Y[:748])
ALONE = cumulative_calibration_map(FITTED)
JUDGED = cumulative_calibration_map(FITTED, Y[748:], PROB[748:])


def maps_in(ax):
    return [
        line for line in ax.lines if line.get_label() not in ("unchanged", "event rate") and line.get_marker() != ">"
    ]


def is_step(line):
    """Whether every segment runs along one of the axes."""
    x, y = np.diff(line.get_xdata()), np.diff(line.get_ydata())
    return ((x == 0) | (y == 0)).all()


@pytest.mark.parametrize("axis", ["probability", "log-odds"])
def test_ranks_share_one_axes_and_are_drawn_as_exactly_their_steps(axis):
    ax = ALONE.plot(axis=axis)
    ax.figure.canvas.draw()
    for line, panel in zip(maps_in(ax), ALONE.panels, strict=True):
        np.testing.assert_array_equal(line.get_data(), panel.corners)
        assert is_step(line)
        assert line.get_label() == panel.name
    widths = [line.get_linewidth() for line in maps_in(ax)]
    orders = [line.get_zorder() for line in maps_in(ax)]
    assert widths == sorted(widths)
    assert orders == sorted(orders, reverse=True)
    assert not ax.collections


@pytest.mark.first(1)
@pytest.mark.parametrize("axis", ["probability", "log-odds"])
def test_event_rates_have_a_panel_for_each_rank(axis):
    axes = JUDGED.plot(axis=axis)
    assert [ax.get_title() for ax in axes] == [f"top {rank}" for rank in range(1, 6)]
    for ax, panel, rates in zip(axes, JUDGED.panels, JUDGED.curve.panels, strict=True):
        (line,) = maps_in(ax)
        np.testing.assert_array_equal(line.get_data(), panel.corners)
        points = next(line for line in ax.lines if line.get_label() == "event rate")
        held = rates.bins.count > 0
        np.testing.assert_array_equal(points.get_data(), [rates.bins.mean_prob[held], rates.bins.event_rate[held]])
        (intervals,) = (c for c in ax.collections if isinstance(c, LineCollection))
        ends = np.array(intervals.get_segments())[:, :, 1]
        np.testing.assert_array_equal(ends, np.column_stack([rates.lower, rates.upper])[held])


def test_what_is_unchanged_lies_on_the_dashed_line_on_both_scales():
    for axis in ("probability", "log-odds"):
        dashed = next(line for line in ALONE.plot(axis=axis).lines if line.get_label() == "unchanged")
        np.testing.assert_array_equal(dashed.get_xdata(), dashed.get_ydata())


def test_log_odds_show_all_event_rates_as_they_are_those_of_sums_next_to_one_on_the_edge():
    ax = JUDGED.plot(panels=["top 2"], axis="log-odds")
    assert ax.get_yscale() == "linear"
    low, high = ax.get_xlim()
    bins = JUDGED.curve.panels[1].bins
    beyond = bins.mean_prob > high
    assert low < bins.mean_prob.min()
    assert beyond.any()
    assert not beyond.all()
    (edge,) = (line for line in ax.lines if line.get_marker() == ">")
    np.testing.assert_array_equal(edge.get_ydata(), bins.event_rate[beyond])
    assert set(edge.get_xdata()) == {high}


def test_event_rates_can_be_left_out_and_panels_asked_for():
    assert len(maps_in(JUDGED.plot(together=True))) == 5
    assert len(ALONE.plot(together=False)) == 5
    assert len(maps_in(ALONE.plot(panels=["top 1", "top 4"]))) == 2


def test_calibrators_are_drawn_over_each_other_rank_by_rank():
    other = cumulative_calibration_map(SortedCumulativeIsotonic().fit(PROB[:300], Y[:300]))
    axes = plot_cumulative_calibration_map({"many": ALONE, "few": other}, panels=["top 1", "top 3"])
    assert [line.get_label() for line in maps_in(axes[1])] == ["many", "few"]
    np.testing.assert_array_equal(maps_in(axes[1])[1].get_data(), other.panels[2].corners)
    with pytest.raises(ValueError, match="ranks of one calibrator are drawn together; got 2 calibrators"):
        plot_cumulative_calibration_map({"many": ALONE, "few": other}, together=True)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"panels": ["top 12"]}, ValueError, "without 'top 12'"),
        ({"panels": []}, ValueError, "one Axes shows from 1 to 7 ranks; got 0"),
        ({"axis": "logit"}, ValueError, "axis must be one of"),
        ({"together": "yes"}, TypeError, "together must be True or False"),
    ],
)
def test_what_cannot_be_drawn_is_refused(options, error, message):
    with pytest.raises(error, match=message):
        ALONE.plot(**options)


def test_more_ranks_than_colours_want_panels():
    result = cumulative_calibration_map(FITTED, ranks=9)
    with pytest.raises(ValueError, match="one Axes shows from 1 to 7 ranks; got 9"):
        result.plot()
    assert len(result.plot(together=False)) == 9


def test_what_is_no_map_is_refused():
    with pytest.raises(TypeError, match="maps must be of type CumulativeCalibrationMap; got SortedCumulativeIsotonic"):
        plot_cumulative_calibration_map(FITTED)


def test_a_given_axes_is_drawn_on_and_settings_are_left_alone():
    before = dict(matplotlib.rcParams)
    figure, ax = plt.subplots()
    assert JUDGED.plot(ax=ax) is ax
    assert len(maps_in(ax)) == 5
    figure.canvas.draw()
    assert plt.get_fignums() == [figure.number]
    assert dict(matplotlib.rcParams) == before
