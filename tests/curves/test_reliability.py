"""A reliability diagram shows exactly the arrays of the result, where it was told to, and changes nothing else."""

import importlib

import numpy as np
import pytest
from hypothesis import given
from matplotlib import pyplot as plt
from matplotlib.collections import LineCollection
from matplotlib.patches import StepPatch
from strategies import tables

from calibrant import EqualMass, expected_calibration_error, load_digits_forecast, plot_reliability, reliability_curve
from calibrant.binning import Unique
from calibrant.curves.reliability import ENOUGH, FEW
from calibrant.drawing import DIAGONAL, rooms

Y = [0, 1, 2, 1]
P = np.array([[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6], [0.7, 0.2, 0.1]])


@given(rows=tables())
def test_the_calibration_error_can_be_read_off_the_curve(rows):
    label, prob, weight = rows
    bins = reliability_curve(label, prob, sample_weight=weight).panels[0].bins
    error = np.nansum(np.abs(bins.gap) * bins.weight) / bins.weight.sum()
    assert error == pytest.approx(expected_calibration_error(label, prob, sample_weight=weight), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("level", [0.0, 1.0, 5, 95, -0.1, np.nan])
def test_a_level_in_percent_is_refused(level):
    with pytest.raises(ValueError, match=r"level must be a fraction in \(0, 1\); got .* pass level=0\.05\."):
        reliability_curve(Y, P, level=level)


def test_without_a_data_frame_library_a_frame_is_refused_with_the_remedy(monkeypatch):
    monkeypatch.setattr(importlib.import_module("calibrant._core.result"), "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"pip install 'calibrant\[table\]'"):
        reliability_curve(Y, P).to_frame()


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
    held = panel.bins.count > 0
    line = data_lines(ax)[number]
    np.testing.assert_array_equal(line.get_xdata(), panel.bins.mean_prob[held])
    np.testing.assert_array_equal(line.get_ydata(), panel.bins.event_rate[held])
    segments = np.array(intervals(ax)[number].get_segments()).reshape(-1, 4)
    np.testing.assert_array_equal(
        segments, np.column_stack([panel.bins.mean_prob, panel.lower, panel.bins.mean_prob, panel.upper])[held]
    )
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
    axes = curve.plot()
    assert [ax.get_title() for ax in axes] == [panel.name for panel in curve.panels]
    for ax, panel in zip(axes, curve.panels, strict=True):
        shows(ax, panel)


def test_forecasts_are_drawn_over_each_other_and_told_apart():
    curves = {"before": reliability_curve(DIGITS, PROB), "calibrated": reliability_curve(DIGITS, 0.5 * PROB + 0.05)}
    ax = plot_reliability(curves)
    for number, curve in enumerate(curves.values()):
        shows(ax, curve.panels[0], number)
    first, second = data_lines(ax)
    assert first.get_color() != second.get_color()
    assert {line.get_marker() for line in ax.lines if line.get_label() in curves} == {"o", "s"}
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        DIAGONAL,
        "before",
        "calibrated",
        "95% interval",
    ]


@pytest.mark.parametrize(
    ("notion", "words"),
    [
        ("confidence", ("mean confidence", "accuracy")),
        ("top-label", ("mean confidence", "accuracy")),
        ("class-wise", ("mean probability", "event rate")),
        ("binary", ("mean probability", "event rate")),
    ],
)
def test_the_axes_say_what_they_show(notion, words):
    data = (DIGITS == 3, PROB[:, 3]) if notion == "binary" else (DIGITS, PROB)
    drawn = reliability_curve(*data, notion=notion).plot()
    figure = (drawn if notion in ("confidence", "binary") else drawn[0]).figure
    if notion in ("confidence", "binary"):
        assert (counts_below(drawn).get_xlabel(), drawn.get_ylabel()) == words
    else:
        assert (figure.get_supxlabel(), figure.get_supylabel()) == words


def test_intervals_and_counts_can_be_left_out():
    ax = reliability_curve(DIGITS, PROB).plot(intervals=False, below=None)
    assert intervals(ax) == []
    assert ax.child_axes == []
    assert len(ax.figure.axes) == 1


# Styles


def bars(ax):
    """The bars of event rates and those of gaps, each as rows of left, bottom, width, height."""
    return [
        np.array([[*bar.get_xy(), bar.get_width(), bar.get_height()] for bar in container])
        for container in ax.containers
    ]


@pytest.mark.parametrize("binning", [10, EqualMass(7), Unique()], ids=str)
def test_bars_are_as_high_as_event_rates_and_gaps_reach_from_there_to_the_mean_probability(binning):
    curve = reliability_curve(DIGITS, PROB.round(2), binning=binning, rows="normalize")
    bins = curve.panels[0].bins
    held = bins.count > 0
    rates, gaps = bars(curve.plot(style="bars"))
    left, width = bins.edges[:-1][held], np.diff(bins.edges)[held]
    np.testing.assert_allclose(rates, np.column_stack([left, 0 * left, width, bins.event_rate[held]]), atol=1e-15)
    np.testing.assert_allclose(gaps, np.column_stack([left, bins.mean_prob[held], width, bins.gap[held]]), atol=1e-15)


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
    held = bins.count > 0
    texts = curve.plot(markers="counts").texts
    assert [text.get_text() for text in texts] == [f"{count:,}" for count in bins.count[held]]
    np.testing.assert_array_equal([text.xy for text in texts], np.column_stack([bins.mean_prob, bins.event_rate])[held])


# Beside the points: centres of bins


def by_hand(y, p, n_bins):
    """Edges, mean probability and event rate of each bin that holds rows, row by row."""
    edges = np.arange(n_bins + 1) / n_bins
    at = [next(b for b in range(n_bins) if score <= edges[b + 1]) for score in p]
    rows = [[i for i in range(len(p)) if at[i] == b] for b in range(n_bins)]
    kept = [b for b in range(n_bins) if rows[b]]
    mean, rate = ([np.mean([of[i] for i in rows[b]]) for b in kept] for of in (p, y))
    return edges[kept], edges[np.add(kept, 1)], np.array(mean), np.array(rate)


def test_the_centre_of_each_bin_is_marked_beside_its_mean_probability():
    y, p = DIGITS == 3, PROB[:, 3]
    left, right, mean, rate = by_hand(y, p, 6)
    ax = reliability_curve(y, p, binning=6).plot(centres=True, intervals=False)
    (marks,) = (line for line in ax.lines if line.get_label() == "centre of the bin")
    np.testing.assert_allclose(marks.get_xydata(), np.column_stack([(left + right) / 2, rate]), rtol=1e-12)
    ways = np.array(intervals(ax)[0].get_segments()).reshape(-1, 4)
    np.testing.assert_allclose(ways, np.column_stack([mean, rate, (left + right) / 2, rate]), rtol=1e-12)
    assert np.abs(mean - (left + right) / 2).max() > 0.02


def test_no_centre_is_marked_where_an_event_rate_has_no_log_odds():
    y, p = [0, 0, 0, 1, 0, 1, 1], [0.01, 0.01, 0.2, 0.2, 0.9, 0.9, 0.99]
    curves = {"a": reliability_curve(y, p, binning=Unique()), "b": reliability_curve(y, p, binning=3)}
    ax = plot_reliability(curves, axis="log-odds", centres=True)
    first, _ = (line for line in ax.lines if line.get_marker() == "D")
    assert first.get_ydata().tolist() == [0.5, 0.5]
    assert [text.get_text() for text in ax.get_legend().get_texts()].count("centre of the bin") == 1


def test_one_panel_pools_the_bins_of_all_classes():
    """The averaged class-wise diagram of the survey's section 2.3: the means over classes, weighted by rows."""
    curve = reliability_curve(DIGITS, PROB, notion="flattened", binning=10)
    weight, of_prob, of_event = np.zeros((3, 10))
    for k in range(10):
        at = np.ceil(PROB[:, k] * 10).astype(int).clip(1, 10) - 1
        weight += np.bincount(at, minlength=10)
        of_prob += np.bincount(at, PROB[:, k], 10)
        of_event += np.bincount(at, k == DIGITS, 10)
    ax = curve.plot()
    assert ax.get_title() == "all classes"
    np.testing.assert_allclose(data_lines(ax)[0].get_xydata(), np.column_stack([of_prob, of_event]) / weight[:, None])
    np.testing.assert_array_equal(counts_below(ax).patches[0].get_data().values, weight)


# Log-odds


def rare(n=20_000):
    rng = np.random.default_rng(0)
    p = rng.beta(0.3, 20.0, n)
    return rng.random(n) < p, p


@pytest.mark.first(1)
@pytest.mark.parametrize("style", ["lines", "points", "bars"])
def test_axes_in_log_odds_show_the_same_arrays(style):
    curve = reliability_curve(*rare(), binning=EqualMass(12))
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


# What is refused


def many_classes(n):
    return reliability_curve([0], np.full((1, n), 1 / n), notion="class-wise")


def test_more_panels_than_an_eye_takes_in_are_refused_unless_some_are_chosen():
    with pytest.raises(ValueError, match=r"at most 40 panels; the curve has 41\. Choose some: panels=\['class 0'"):
        many_classes(41).plot()
    assert plt.get_fignums() == []
    assert many_classes(41).plot(panels=["class 40"]).get_title() == "class 40"


REFUSALS = [
    ({"panels": ["class 10"]}, r"panels must be among those of the curve, such as 'class 0'; got \['class 10'\]"),
    ({"panels": []}, r"panels must name at least one panel; got none"),
    ({"ax": "given"}, r"one Axes holds one panel; the curve has 10\. .*panels=\['class 0'\]"),
]


@pytest.mark.parametrize(("options", "message"), REFUSALS, ids=["unknown", "none", "one Axes for many"])
def test_panels_that_cannot_be_drawn_are_refused(options, message):
    if "ax" in options:
        options = {"ax": plt.figure().add_subplot()}
    with pytest.raises(ValueError, match=message):
        reliability_curve(DIGITS, PROB, notion="class-wise").plot(**options)


def test_curves_of_different_notions_are_not_drawn_over_each_other():
    curves = {"a": reliability_curve(DIGITS, PROB), "b": reliability_curve(DIGITS, PROB, notion="class-wise")}
    with pytest.raises(ValueError, match=r"must have the same panels; got .*Use one notion"):
        plot_reliability(curves)


REFUSED = [
    ({"style": "pie"}, r"style must be one of 'lines', 'points', 'bars'; got 'pie'"),
    ({"markers": "size"}, r"markers must be one of 'equal', 'area', 'counts'; got 'size'"),
    ({"axis": "log"}, r"axis must be one of 'probability', 'log-odds'; got 'log'"),
    ({"below": "density"}, r"below must be one of 'counts' or None; got 'density'"),
]


@pytest.mark.parametrize(("options", "message"), REFUSED, ids=["style", "markers", "axis", "below"])
def test_an_unknown_word_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        reliability_curve(DIGITS, PROB, notion="class-wise").plot(panels=["class 3"], **options)


def test_bars_over_bars_are_refused():
    curve = reliability_curve(DIGITS, PROB)
    with pytest.raises(ValueError, match=r"bars show one forecast; got 2 over each other\. .*style='lines'"):
        plot_reliability({"a": curve, "b": curve}, style="bars")


def test_a_line_draws_labels_and_forecasts():
    ax = plot_reliability(DIGITS, PROB, binning=10)
    shows(ax, reliability_curve(DIGITS, PROB, binning=10).panels[0])
    both = plot_reliability(DIGITS, {"before": PROB, "after": 0.5 * PROB + 0.05}, notion="confidence")
    assert {"before", "after"} <= {text.get_text() for text in both.get_legend().get_texts()}
    with pytest.raises(TypeError, match=r"where it draws curves; got binning\. Pass them to reliability_curve"):
        plot_reliability(reliability_curve(DIGITS, PROB), binning=5)
    with pytest.raises(TypeError, match="must be of type ReliabilityCurve"):
        plot_reliability(DIGITS)


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
    ax = plot_reliability(DIGITS, PROB, sample_weight=weight)
    curve = reliability_curve(DIGITS, PROB, interval="consistency", sample_weight=weight)
    panel = curve.panels[0]
    held = panel.bins.count > 0
    pale = next(c for c in intervals(ax) if c.get_label() == "95% if calibrated")
    ends = np.array(pale.get_segments()).reshape(-1, 4)
    np.testing.assert_allclose(ends[:, [1, 3]], np.column_stack([panel.lower, panel.upper])[held], rtol=1e-12)
    several = plot_reliability(
        {
            "a": reliability_curve(DIGITS, PROB),
            "b": reliability_curve(DIGITS, PROB**2 / (PROB**2).sum(1, keepdims=True)),
        }
    )
    assert not [c for c in intervals(several) if c.get_label() == "95% if calibrated"]
