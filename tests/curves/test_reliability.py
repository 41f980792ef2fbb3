"""A reliability diagram shows exactly the arrays of the result, where it was told to, and changes nothing else."""

import importlib
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib import pyplot as plt
from matplotlib.collections import LineCollection
from matplotlib.patches import StepPatch
from scipy.special import logit
from scipy.stats import binom, binomtest
from strategies import tables

from calibrant import EqualMass, expected_calibration_error, load_digits_forecast, plot_reliability, reliability_curve
from calibrant.binning import Unique
from calibrant.curves.reliability import ENOUGH, FEW, consistency_interval, wilson_interval
from calibrant.drawing import DIAGONAL, rooms, use_log_odds
from calibrant.metrics.bin_losses import accepted

clopper_pearson_interval = partial(accepted, "clopper-pearson")


@given(rows=tables())
def test_the_calibration_error_can_be_read_off_the_curve(rows):
    label, prob, weight = rows
    bins = reliability_curve(label, prob, sample_weight=weight).panels[0].bins
    error = np.nansum(np.abs(bins.gap) * bins.weight) / bins.weight.sum()
    assert error == pytest.approx(expected_calibration_error(label, prob, sample_weight=weight), rel=1e-9, abs=1e-12)


def test_without_a_data_frame_library_a_frame_is_refused_with_the_remedy(monkeypatch):
    monkeypatch.setattr(importlib.import_module("calibrant._core.result"), "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"pip install 'calibrant\[table\]'"):
        reliability_curve([0, 1], [0.2, 0.7]).to_frame()


# Pictures


DIGITS, PROB = load_digits_forecast()


def data_lines(ax):
    """What is drawn besides the diagonal, and the stronger lines through bins of many rows."""
    return [line for line in ax.lines if line.get_label() != DIAGONAL and line.get_gid() != ENOUGH]


def intervals(ax):
    return [c for c in ax.collections if isinstance(c, LineCollection)]


def counts_below(ax):
    """The Axes with the counts: an inset of our own figure, or one appended to a given Axes."""
    others = [*ax.child_axes, *(a for a in ax.figure.axes if a is not ax)]
    return next(a for a in others if any(isinstance(p, StepPatch) for p in a.patches))


def shows(ax, panel, number=0):
    """Assert that the artists of one curve carry the arrays of its panel."""
    held, x = panel.bins.count > 0, panel.bins.mean_prob
    points = np.column_stack([x, panel.bins.event_rate])[held]
    np.testing.assert_array_equal(data_lines(ax)[number].get_xydata(), points)
    segments = np.array(intervals(ax)[number].get_segments()).reshape(-1, 4)
    np.testing.assert_array_equal(segments, np.column_stack([x, panel.lower, x, panel.upper])[held])
    stairs = counts_below(ax).patches[number].get_data()
    np.testing.assert_array_equal(stairs.values, panel.bins.count)
    np.testing.assert_array_equal(stairs.edges, panel.bins.edges)


# What is drawn


@pytest.mark.parametrize("binning", [15, 1, EqualMass(7), Unique()], ids=str)
@pytest.mark.parametrize("notion", ["confidence", "binary"])
def test_the_artists_carry_exactly_the_arrays_of_the_result(notion, binning):
    data = (DIGITS, PROB) if notion == "confidence" else (DIGITS == 3, PROB[:, 3])
    curve = reliability_curve(*data, binning=binning)
    shows(curve.plot(), curve.panels[0])


@pytest.mark.parametrize("notion", ["class-wise", "top-label"])
def test_every_class_has_a_panel_with_its_name(notion):
    curve = reliability_curve(DIGITS, PROB, notion=notion)
    for ax, panel in zip(curve.plot(), curve.panels, strict=True):
        assert ax.get_title() == panel.name
        shows(ax, panel)


def test_forecasts_are_drawn_over_each_other_and_told_apart():
    curves = {"before": reliability_curve(DIGITS, PROB), "calibrated": reliability_curve(DIGITS, 0.5 * PROB + 0.05)}
    ax = plot_reliability(curves)
    for number, curve in enumerate(curves.values()):
        shows(ax, curve.panels[0], number)
    first, second = data_lines(ax)
    assert first.get_color() != second.get_color()
    assert {line.get_marker() for line in ax.lines if line.get_label() in curves} == {"o", "s"}
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    assert words == [DIAGONAL, "before", "calibrated", "95% interval"]


def test_intervals_and_counts_can_be_left_out():
    ax = reliability_curve(DIGITS, PROB).plot(intervals=False, below=None)
    assert intervals(ax) == []
    assert ax.child_axes == []
    assert len(ax.figure.axes) == 1


# Styles


@pytest.mark.parametrize("binning", [10, EqualMass(7), Unique()], ids=str)
def test_bars_are_as_high_as_event_rates_and_gaps_reach_from_there_to_the_mean_probability(binning):
    curve = reliability_curve(DIGITS, PROB.round(2), binning=binning, rows="normalize")
    bins = curve.panels[0].bins
    left, width = bins.edges[:-1], np.diff(bins.edges)
    bottoms, heights = (0 * left, bins.mean_prob), (bins.event_rate, bins.gap)
    for bars, bottom, height in zip(curve.plot(style="bars").containers, bottoms, heights, strict=True):
        drawn = [[*bar.get_xy(), bar.get_width(), bar.get_height()] for bar in bars]
        expected = np.column_stack([left, bottom, width, height])[bins.count > 0]
        np.testing.assert_allclose(drawn, expected, atol=1e-15)


def test_points_are_not_joined():
    assert data_lines(reliability_curve(DIGITS, PROB).plot(style="points"))[0].get_linestyle() == "None"


def test_the_area_of_a_marker_follows_the_number_of_rows():
    curve = reliability_curve(DIGITS, PROB, binning=EqualMass(5))
    bins = curve.panels[0].bins
    scatter = next(c for c in curve.plot(markers="area").collections if not isinstance(c, LineCollection))
    np.testing.assert_array_equal(scatter.get_offsets(), np.column_stack([bins.mean_prob, bins.event_rate]))
    np.testing.assert_allclose(scatter.get_sizes() / scatter.get_sizes().max(), bins.count / bins.count.max())
    assert scatter.get_sizes().max() < 1000.0  # square points: a marker, and not the whole picture


def test_the_number_of_rows_stands_beside_each_point():
    curve = reliability_curve(DIGITS, PROB, binning=10)
    bins = curve.panels[0].bins
    held, texts = bins.count > 0, curve.plot(markers="counts").texts
    assert [text.get_text() for text in texts] == [f"{count:,}" for count in bins.count[held]]
    np.testing.assert_array_equal([text.xy for text in texts], np.column_stack([bins.mean_prob, bins.event_rate])[held])


def test_the_centre_of_each_bin_is_marked_beside_its_mean_probability():
    curve = reliability_curve(DIGITS == 3, PROB[:, 3], binning=6)
    bins = curve.panels[0].bins
    held = bins.count > 0
    mean, rate, centre = bins.mean_prob[held], bins.event_rate[held], ((np.arange(6) + 0.5) / 6)[held]
    ax = curve.plot(centres=True, intervals=False)
    (marks,) = (line for line in ax.lines if line.get_label() == "centre of the bin")
    np.testing.assert_allclose(marks.get_xydata(), np.column_stack([centre, rate]), rtol=1e-12)
    ways = np.array(intervals(ax)[0].get_segments()).reshape(-1, 4)
    np.testing.assert_allclose(ways, np.column_stack([mean, rate, centre, rate]), rtol=1e-12)
    assert np.abs(mean - centre).max() > 0.02


def test_no_centre_is_marked_where_an_event_rate_has_no_log_odds():
    y, p = [0, 0, 0, 1, 0, 1, 1], [0.01, 0.01, 0.2, 0.2, 0.9, 0.9, 0.99]
    curves = {"a": reliability_curve(y, p, binning=Unique()), "b": reliability_curve(y, p, binning=3)}
    ax = plot_reliability(curves, axis="log-odds", centres=True)
    first, _ = (line for line in ax.lines if line.get_marker() == "D")
    assert first.get_ydata().tolist() == [0.5, 0.5]
    assert [text.get_text() for text in ax.get_legend().get_texts()].count("centre of the bin") == 1


def test_one_panel_pools_the_bins_of_all_classes():
    """The averaged class-wise diagram of the survey's section 2.3: the means over classes, weighted by rows."""
    at = np.ceil(PROB * 10).astype(int).clip(1, 10).ravel() - 1
    parts = (np.ones(PROB.shape), PROB, DIGITS[:, None] == np.arange(10))
    weight, of_prob, of_event = (np.bincount(at, part.ravel(), 10) for part in parts)
    ax = reliability_curve(DIGITS, PROB, notion="flattened", binning=10).plot()
    assert ax.get_title() == "all classes"
    np.testing.assert_allclose(data_lines(ax)[0].get_xydata(), np.column_stack([of_prob, of_event]) / weight[:, None])
    np.testing.assert_array_equal(counts_below(ax).patches[0].get_data().values, weight)


@pytest.mark.first(1)
@pytest.mark.parametrize("style", ["lines", "points", "bars"])
def test_axes_in_log_odds_show_the_same_arrays(style):
    rng = np.random.default_rng(0)
    p = rng.beta(0.3, 20.0, 20_000)
    curve = reliability_curve(rng.random(20_000) < p, p, binning=EqualMass(12))
    bins = curve.panels[0].bins
    ax = curve.plot(axis="log-odds", style=style)
    line = next(line for line in data_lines(ax) if line.get_xdata().size == len(bins))
    np.testing.assert_array_equal(line.get_xdata(), bins.mean_prob)
    np.testing.assert_array_equal(line.get_ydata().data, bins.event_rate)
    ax.figure.canvas.draw()


def test_an_event_rate_without_log_odds_stands_on_the_edge():
    curve = reliability_curve([0, 0, 0, 1, 0, 1, 1], [0.01, 0.01, 0.2, 0.2, 0.9, 0.9, 0.99], binning=Unique())
    ax = curve.plot(axis="log-odds")
    low, high = (line for line in ax.lines if line.get_transform() == ax.get_xaxis_transform())
    assert low.get_xydata().tolist() == [[0.01, 0.0]]
    assert high.get_xydata().tolist() == [[0.99, 1.0]]


@pytest.mark.parametrize("score", [[0.0, 1.0], [0.5, 0.5], [1e-12, 1.0 - 1e-12]], ids=str)
def test_axes_in_log_odds_can_be_drawn_for_any_scores(score):
    ax = reliability_curve([0, 1], score, binning=Unique()).plot(axis="log-odds")
    ax.figure.canvas.draw()
    low, high = ax.get_xlim()
    assert 0 < low < high < 1


# Where it is drawn


@pytest.mark.parametrize("layout", [None, "constrained", "tight"])
def test_rooms_hang_out_of_their_axes_where_a_layout_makes_room_and_are_cut_from_it_where_none_does(layout):
    ax = plt.subplots(layout=layout)[1]
    made = rooms(ax, "bottom", "right")
    assert [room in ax.child_axes for room in made] == [layout is not None] * 2
    assert [room in ax.figure.axes for room in made] == [layout is None] * 2


def test_a_line_draws_labels_and_forecasts():
    ax = plot_reliability(DIGITS, PROB, binning=10)
    shows(ax, reliability_curve(DIGITS, PROB, binning=10).panels[0])
    both = plot_reliability(DIGITS, {"before": PROB, "after": 0.5 * PROB + 0.05}, notion="confidence")
    assert {"before", "after"} <= {text.get_text() for text in both.get_legend().get_texts()}


def test_bins_of_few_rows_are_pale_and_so_is_the_line_to_them():
    p = np.repeat([0.05, 0.15, 0.35, 0.65, 0.95], [FEW, FEW, FEW - 1, 1, 3 * FEW])
    y = np.arange(p.size) % 2
    ax = plot_reliability(y, p, binning=10)
    (strong,) = (line for line in ax.lines if line.get_gid() == ENOUGH and len(line.get_xdata()))
    assert np.ma.getmaskarray(strong.get_ydata()).tolist() == [False, False, True, True, False]
    points = next(c for c in ax.collections if c.get_offsets().shape == (5, 2) and len(c.get_sizes()) == 5)
    alphas = points.get_alpha()
    assert alphas[0] == alphas[1] == alphas[4] > alphas[2] == alphas[3]
    assert not [line for line in plot_reliability(y, p, binning=10, markers="equal").lines if line.get_gid() == ENOUGH]


@pytest.mark.parametrize("weight", [None, 0.5 + np.arange(DIGITS.size) % 3, 1 + np.arange(DIGITS.size) % 3])
def test_one_forecast_stands_before_what_would_be_no_surprise(weight):
    def surprises(ax):
        return [c for c in intervals(ax) if c.get_label() == "95% if calibrated"]

    (pale,) = surprises(plot_reliability(DIGITS, PROB, sample_weight=weight))
    panel = reliability_curve(DIGITS, PROB, interval="consistency", sample_weight=weight).panels[0]
    ends = np.array(pale.get_segments()).reshape(-1, 4)
    expected = np.column_stack([panel.lower, panel.upper])[panel.bins.count > 0]
    np.testing.assert_allclose(ends[:, [1, 3]], expected, rtol=1e-12)
    assert surprises(plot_reliability(DIGITS, {"a": PROB, "b": 0.5 * PROB + 0.05})) == []


levels = st.sampled_from([0.5, 0.1, 0.05, 0.01])


def one(interval, mean, n, level):
    """The interval of a single bin."""
    lower, upper = interval(np.array([float(mean)]), np.array([float(n)]), level)
    return lower[0], upper[0]


# Wilson


@given(n=st.integers(1, 10_000), share=st.floats(0.0, 1.0), level=levels)
def test_the_interval_solves_the_quadratic_of_wilson(n, share, level):
    events = round(share * n)
    found = one(wilson_interval, events, n, level)
    expected = binomtest(events, n).proportion_ci(1.0 - level, method="wilson")
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-12)


def test_bounds_are_exact_where_nothing_or_everything_came_and_undefined_without_rows():
    events, rows = np.array([0.0, 7.0, 0.0]), np.array([7.0, 7.0, 0.0])
    for interval in (wilson_interval, clopper_pearson_interval):
        lower, upper = interval(events[:2], rows[:2], 0.05)
        assert (lower[0], upper[1]) == (0.0, 1.0)
    lower, upper = clopper_pearson_interval(events, rows, 0.05)
    assert np.isnan([lower, upper]).tolist() == [[False, False, True]] * 2


# Consistency


@given(n=st.integers(1, 60), mean=st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats(0.0, 1.0)), level=levels)
def test_consistency_bars_end_at_binomial_quantiles_or_hold_the_mean(n, mean, level):
    for end, quantile in zip(one(consistency_interval, mean, n, level), (level / 2, 1 - level / 2), strict=True):
        events = round(end * n)
        if abs(end * n - events) < 1e-9:
            assert binom.cdf(events, n, mean) >= quantile - 1e-9
            assert events == 0 or binom.cdf(events - 1, n, mean) <= quantile + 1e-9 or end == mean
        else:
            assert end == mean


@pytest.mark.parametrize("ends", [(1e-4, 0.6), (1e-4, 0.9999), (1e-20, 0.2), (0.3, 1 - 1e-9)])
def test_the_axes_reach_all_values_and_are_even_in_log_odds(ends):
    _, ax = plt.subplots()
    use_log_odds(ax, np.array([0.0, *ends, 1.0]))
    low, high = ax.get_xlim()
    assert low < ends[0] < ends[1] < high
    assert ax.get_ylim() == (low, high)
    value = np.array([low, *ends, high])
    seen = ax.transData.transform(np.column_stack([value, value]))[:, 0]
    np.testing.assert_allclose(np.diff(seen) / np.ptp(seen), np.diff(logit(value)) / np.ptp(logit(value)), atol=1e-9)
    ticks = ax.get_xticks()
    assert ((ticks > low) & (ticks < high)).sum() > 1
