"""A reliability diagram shows exactly the arrays of the result, where it was told to, and changes nothing else."""

import numpy as np
import pytest

from calibrant import EqualMass, Unique, assess, load_digits_forecast, plot_reliability, reliability_curve

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")
from matplotlib import pyplot as plt  # noqa: E402
from matplotlib.collections import LineCollection  # noqa: E402
from matplotlib.patches import StepPatch  # noqa: E402

Y, PROB = load_digits_forecast()


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


def data_lines(ax):
    """What is drawn besides the diagonal."""
    return [line for line in ax.lines if line.get_label() != "calibrated"]


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
        segments,
        np.column_stack([panel.bins.mean_prob, panel.lower, panel.bins.mean_prob, panel.upper])[held],
    )
    stairs = counts_below(ax).patches[number].get_data()
    np.testing.assert_array_equal(stairs.values, panel.bins.count)
    np.testing.assert_array_equal(stairs.edges, panel.bins.edges)


# What is drawn


@pytest.mark.parametrize("binning", [15, 1, EqualMass(7), Unique()], ids=str)
@pytest.mark.parametrize("notion", ["confidence", "binary"])
def test_the_artists_carry_exactly_the_arrays_of_the_result(notion, binning):
    data = (Y, PROB) if notion == "confidence" else (Y == 3, PROB[:, 3])
    curve = reliability_curve(*data, binning=binning)
    shows(curve.plot(), curve.panels[0])


@pytest.mark.parametrize("notion", ["class-wise", "top-label"])
def test_every_class_has_a_panel_with_its_name(notion):
    curve = reliability_curve(Y, PROB, notion=notion)
    axes = curve.plot()
    assert [ax.get_title() for ax in axes] == [panel.name for panel in curve.panels]
    for ax, panel in zip(axes, curve.panels, strict=True):
        shows(ax, panel)


def test_chosen_panels_are_drawn_in_the_order_named():
    curve = reliability_curve(Y, PROB, notion="class-wise")
    axes = curve.plot(panels=["class 7", "class 2"])
    assert [ax.get_title() for ax in axes] == ["class 7", "class 2"]
    shows(axes[0], curve.panels[7])
    shows(axes[1], curve.panels[2])


def test_forecasts_are_drawn_over_each_other_and_told_apart():
    curves = {
        "before": reliability_curve(Y, PROB),
        "after": reliability_curve(Y, 0.5 * PROB + 0.05),
    }
    ax = plot_reliability(curves)
    for number, curve in enumerate(curves.values()):
        shows(ax, curve.panels[0], number)
    first, second = data_lines(ax)
    assert first.get_color() != second.get_color()
    assert first.get_marker() != second.get_marker()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["calibrated", "before", "after"]


def test_an_empty_bin_has_no_marker():
    curve = reliability_curve([0, 1], [0.05, 0.95], binning=10)
    assert len(data_lines(curve.plot())[0].get_xdata()) == 2


def test_a_class_that_is_never_predicted_has_an_empty_panel():
    prob = np.array([[0.9, 0.1, 0.0], [0.2, 0.8, 0.0]])
    axes = reliability_curve([0, 1], prob, notion="top-label").plot()
    assert data_lines(axes[2])[0].get_xdata().size == 0
    axes[0].figure.canvas.draw()


def test_an_assessment_draws_its_curve():
    found = assess(Y, PROB, n_resamples=1)
    shows(found.plot(), found.curve.panels[0])


@pytest.mark.parametrize(
    ("notion", "word"),
    [("confidence", "accuracy"), ("top-label", "accuracy"), ("class-wise", "event rate"), ("binary", "event rate")],
)
def test_the_axes_say_what_they_show(notion, word):
    data = (Y == 3, PROB[:, 3]) if notion == "binary" else (Y, PROB)
    drawn = reliability_curve(*data, notion=notion).plot()
    figure = (drawn if notion in ("confidence", "binary") else drawn[0]).figure
    if notion in ("confidence", "binary"):
        assert drawn.get_ylabel() == word
        assert counts_below(drawn).get_xlabel() == "mean probability"
    else:
        assert figure.get_supylabel() == word
        assert figure.get_supxlabel() == "mean probability"


def test_the_diagonal_is_calibration():
    line = next(line for line in reliability_curve(Y, PROB).plot().lines if line.get_label() == "calibrated")
    np.testing.assert_array_equal(line.get_xydata(), [[0, 0], [1, 1]])


def test_intervals_and_counts_can_be_left_out():
    ax = reliability_curve(Y, PROB).plot(intervals=False, counts=False)
    assert intervals(ax) == []
    assert ax.child_axes == []
    assert len(ax.figure.axes) == 1


# Where it is drawn


@pytest.mark.parametrize("layout", [None, "constrained", "tight"])
def test_a_given_axes_is_drawn_on_and_no_figure_is_made(layout):
    figure, (left, right) = plt.subplots(1, 2, layout=layout)
    left.plot([0.5], [0.5], label="mine")
    curve = reliability_curve(Y, PROB)
    assert curve.plot(ax=right) is right
    shows(right, curve.panels[0])
    assert len(left.lines) == 1
    assert plt.get_fignums() == [figure.number]
    figure.canvas.draw()


def test_a_call_makes_one_figure():
    reliability_curve(Y, PROB).plot()
    assert len(plt.get_fignums()) == 1
    reliability_curve(Y, PROB, notion="class-wise").plot()
    assert len(plt.get_fignums()) == 2


def test_settings_of_matplotlib_are_left_alone():
    before = dict(matplotlib.rcParams)
    reliability_curve(Y, PROB).plot().figure.canvas.draw()
    assert dict(matplotlib.rcParams) == before


@pytest.mark.parametrize("ending", ["png", "pdf", "svg"])
def test_a_picture_can_be_saved_without_a_warning(ending, tmp_path):
    axes = reliability_curve(Y, PROB, notion="class-wise").plot()
    axes[0].figure.savefig(tmp_path / f"picture.{ending}")
    assert (tmp_path / f"picture.{ending}").stat().st_size > 1000


def test_nothing_is_clipped():
    """The text of every Axes lies inside the figure."""
    ax = reliability_curve(Y, PROB).plot()
    ax.figure.canvas.draw()
    page = ax.figure.bbox
    for part in (ax, counts_below(ax)):
        box = part.get_tightbbox()
        assert page.x0 <= box.x0
        assert box.x1 <= page.x1
        assert page.y0 <= box.y0
        assert box.y1 <= page.y1


# What is refused


def many_classes(n):
    return reliability_curve([0], np.full((1, n), 1 / n), notion="class-wise")


def test_more_panels_than_an_eye_takes_in_are_refused_unless_some_are_chosen():
    with pytest.raises(ValueError, match=r"at most 40 panels; the curve has 41\. Choose some: panels=\['class 0'"):
        many_classes(41).plot()
    assert plt.get_fignums() == []
    assert many_classes(41).plot(panels=["class 40"]).get_title() == "class 40"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"panels": ["class 10"]}, r"panels must be among those of the curve, such as 'class 0'; got \['class 10'\]"),
        ({"panels": []}, r"panels must name at least one panel; got none"),
        ({"ax": "given"}, r"one Axes holds one panel; the curve has 10\. .*panels=\['class 0'\]"),
    ],
    ids=["unknown", "none", "one Axes for many"],
)
def test_panels_that_cannot_be_drawn_are_refused(options, message):
    if "ax" in options:
        options = {"ax": plt.figure().add_subplot()}
    with pytest.raises(ValueError, match=message):
        reliability_curve(Y, PROB, notion="class-wise").plot(**options)


def test_curves_of_different_notions_are_not_drawn_over_each_other():
    curves = {"a": reliability_curve(Y, PROB), "b": reliability_curve(Y, PROB, notion="class-wise")}
    with pytest.raises(ValueError, match=r"must have the same panels; got .*Use one notion"):
        plot_reliability(curves)


def test_no_curve_is_refused():
    with pytest.raises(ValueError, match=r"at least one curve; got none"):
        plot_reliability({})
