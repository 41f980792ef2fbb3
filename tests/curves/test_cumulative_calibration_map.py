"""Cumulative maps are the steps of the calibrator, and event rates are those of the sums that it maps."""

import numpy as np
import pytest
from hypothesis import given
from matplotlib.collections import LineCollection
from sklearn.exceptions import NotFittedError
from strategies import tables

from calibrant import (
    SortedCumulativeIsotonic,
    TemperatureScaling,
    load_digits_forecast,
    reliability_curve,
)
from calibrant.curves.cumulative import cumulative_calibration_map, plot_cumulative_calibration_map

Y, PROB = load_digits_forecast()
FITTED = SortedCumulativeIsotonic(epsilon=0.0).fit(PROB[:748], Y[:748])


def sums_and_events(prob, label, rank):
    """Sum of the highest probabilities of each row and whether its class is among them, by sorting each row."""
    order = [sorted(range(len(row)), key=lambda j, row=row: -row[j])[:rank] for row in prob]
    sums = [min(sum(row[j] for j in among), 1.0) for row, among in zip(prob, order, strict=True)]
    return np.array(sums), np.array([c in among for c, among in zip(label, order, strict=True)])


def test_what_the_steps_say_is_what_the_calibrator_gives():
    new = PROB[748:]
    assert (np.diff(np.sort(new, axis=1)) > 0).all()  # no ties
    order = np.argsort(-new, axis=1)
    before = np.cumsum(np.take_along_axis(new, order, axis=1), axis=1)
    last = SortedCumulativeIsotonic(epsilon=0.0, rise="last").fit(PROB[:748], Y[:748])
    after, spread = (
        np.cumsum(np.take_along_axis(fitted.predict_proba(new), order, axis=1), axis=1) for fitted in (last, FITTED)
    )
    for panel in cumulative_calibration_map(FITTED, ranks=9).panels:
        at = np.searchsorted(panel.left, before[:, panel.rank - 1], side="right") - 1
        np.testing.assert_allclose(panel.value[at], after[:, panel.rank - 1], atol=1e-12)
        assert (spread[:, panel.rank - 1] >= panel.value[at] - 1e-12).all()


@given(rows=tables())
def test_event_rates_are_those_of_the_sums(rows):
    label, prob, weight = rows
    k = prob.shape[1]
    fitted = SortedCumulativeIsotonic(labels=range(k)).fit([[1 / k] * k, *np.eye(k)], [0, *range(k)])
    found = cumulative_calibration_map(fitted, label, prob, binning=4, sample_weight=weight)
    assert [panel.name for panel in found.panels] == [f"top {rank}" for rank in range(1, k)]
    for panel, rates in zip(found.panels, found.curve.panels, strict=True):
        sums, occurred = sums_and_events(prob.tolist(), label.tolist(), panel.rank)
        expected = reliability_curve(occurred, sums, binning=4, sample_weight=weight).panels[0]
        assert rates.name == panel.name
        np.testing.assert_array_equal(rates.bins.count, expected.bins.count)
        np.testing.assert_allclose(rates.bins.event_rate, expected.bins.event_rate, atol=1e-12)
        np.testing.assert_allclose(rates.upper, expected.upper, atol=1e-12)


def test_a_number_means_the_first_ranks_and_a_list_those_it_names():
    assert [panel.rank for panel in cumulative_calibration_map(FITTED).panels] == [1, 2, 3, 4, 5]
    assert [panel.rank for panel in cumulative_calibration_map(FITTED, ranks=100).panels] == list(range(1, 10))
    assert [panel.rank for panel in cumulative_calibration_map(FITTED, ranks=[7, 2]).panels] == [7, 2]


def test_what_is_said_of_the_rows_goes_before_what_the_calibrator_knows():
    prob = np.random.default_rng(0).dirichlet([1, 1, 1], 40)
    y = prob.argmax(axis=1)
    fitted = SortedCumulativeIsotonic(input="logit", labels=[0, 1, 2]).fit(np.log(prob), y)
    given = cumulative_calibration_map(
        fitted, [2], [[0.7, 0.2, 0.1]], binning=1, input="probability", labels=[2, 1, 0]
    ).curve
    assert given.panels[0].bins.score_sum.tolist() == [0.7]
    assert given.panels[0].bins.event_rate.tolist() == [1.0]


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        ({"calibrator": TemperatureScaling().fit(PROB, Y)}, TypeError, "must map sums of the highest probabilities"),
        ({"calibrator": SortedCumulativeIsotonic()}, NotFittedError, "not fitted"),
        ({"ranks": 0}, ValueError, "ranks must be a whole number, at least 1; got 0"),
        ({"ranks": []}, ValueError, "ranks must name at least one rank"),
        ({"ranks": [1, 2.5]}, TypeError, "ranks must be a whole number"),
        ({"ranks": [10]}, ValueError, "rank must be at most 9"),
        ({"y_true": Y}, ValueError, "y_true and y_prob must be given together; y_prob is missing"),
        ({"y_true": Y, "y_prob": PROB[:, :3], "rows": "normalize"}, ValueError, "labels"),
    ],
)
def test_what_has_no_such_map_is_refused(changed, error, message):
    with pytest.raises(error, match=message):
        cumulative_calibration_map(**({"calibrator": FITTED} | changed))


# Pictures


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
