"""A plot of a cumulative sum diagram shows exactly the arrays of the result."""

import warnings

import numpy as np
import pytest

from calibrant import load_digits_forecast
from calibrant.curves import cumulative_sum_curve, plot_cumulative_sum
from calibrant.curves.roc import SYMMETRIC
from calibrant.exceptions import CalibrationWarning

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")
from matplotlib import pyplot as plt  # noqa: E402

Y, PROB = load_digits_forecast()
LABEL = [0, 0, 1, 0, 1, 1, 0, 1, 1, 1]
SCORE = [0.05, 0.1, 0.2, 0.3, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9]


def line(ax, label):
    (found,) = [found for found in ax.lines if found.get_label() == label]
    return found.get_xydata()


def dots(ax, label):
    (found,) = [found for found in ax.collections if found.get_label() == label]
    return np.asarray(found.get_offsets())


def test_the_artists_carry_exactly_the_arrays_of_the_result():
    diagram = cumulative_sum_curve(LABEL, SCORE)
    panel = diagram.panels[0]
    sums = np.column_stack([panel.share, panel.events])
    ax = diagram.plot()
    np.testing.assert_array_equal(line(ax, "cumulative sums"), sums)
    np.testing.assert_array_equal(line(ax, "greatest convex minorant"), sums[panel.vertex])


def test_forecasts_over_each_other_have_minorants_of_their_own():
    diagrams = {
        "eight": cumulative_sum_curve(Y == 8, PROB[:, 8]),
        "three": cumulative_sum_curve(Y == 8, PROB[:, 3]),
    }
    ax = plot_cumulative_sum(diagrams)
    for name, diagram in diagrams.items():
        panel = diagram.panels[0]
        np.testing.assert_array_equal(line(ax, name)[:, 1], panel.events)
        minorant = line(ax, f"greatest convex minorant of {name}")
        np.testing.assert_array_equal(minorant[:, 1], panel.events[panel.vertex])


def test_every_class_has_a_panel_also_without_rows():
    prob = np.array([[0.9, 0.1, 0.0], [0.8, 0.2, 0.0], [0.2, 0.8, 0.0], [0.3, 0.7, 0.0]])
    axes = cumulative_sum_curve([0, 1, 1, 0], prob, notion="top-label").plot()
    assert [ax.get_title() for ax in axes] == ["predicted 0", "predicted 1", "predicted 2"]
    axes[0].figure.canvas.draw()


# The theorem


def test_every_axis_that_is_drawn_says_what_it_shows():
    share, events = "share of rows, in the order of their probabilities", "events, as a share of all rows"
    ax = cumulative_sum_curve(LABEL, SCORE).plot()
    assert (ax.get_xlabel(), ax.get_ylabel()) == (share, events)
    axes = cumulative_sum_curve(LABEL, SCORE).plot(style="theorem")
    assert [[ax.get_xlabel() for ax in row] for row in axes[:2]] == [["", ""], [share, share]]
    assert [ax.get_ylabel() for ax in axes[:, 0]] == ["probability", events, SYMMETRIC[1]]
    assert [ax.get_xlabel() for ax in axes[2]] == [SYMMETRIC[0]] * 2
    assert [ax.get_ylabel() for ax in axes[:, 1]] == [""] * 3


def test_the_theorem_shows_forecast_sums_and_roc_curve_before_and_after():
    diagram = cumulative_sum_curve(LABEL, SCORE)
    panel, axes = diagram.panels[0], diagram.plot(style="theorem")
    assert axes.shape == (3, 2)
    roc = np.column_stack([panel.roc.tnr, panel.roc.tpr])
    for side in (0, 1):
        np.testing.assert_array_equal(line(axes[1, side], "cumulative sums")[:, 1], panel.events)
        np.testing.assert_array_equal(line(axes[2, side], "forecast"), roc)
    np.testing.assert_array_equal(line(axes[1, 1], "greatest convex minorant")[:, 0], panel.share[panel.vertex])
    np.testing.assert_array_equal(line(axes[2, 1], "isotonic fit"), roc[panel.roc.vertex])
    values, edges, _ = axes[0, 1].patches[0].get_data()
    np.testing.assert_array_equal(values, panel.slope)
    np.testing.assert_array_equal(edges, panel.share[panel.vertex])


def test_every_row_has_a_dot_at_its_place_in_the_order():
    axes = cumulative_sum_curve(LABEL, SCORE).plot(style="theorem")
    label, score = np.array(LABEL), np.array(SCORE)
    for word, kind in (("no event", 0), ("event", 1)):
        expected = np.column_stack([(np.arange(10) + 0.5) / 10, score])[label == kind]
        np.testing.assert_allclose(dots(axes[0, 0], word), expected, atol=1e-12)


def test_the_slopes_are_written_beside_the_minorant():
    diagram = cumulative_sum_curve(LABEL, SCORE)
    axes = diagram.plot(style="theorem")
    assert sorted(slopes(axes)) == sorted(f"{slope:.2g}" for slope in diagram.panels[0].slope)


def slopes(axes):
    return [text.get_text() for text in axes[1, 1].texts if text.get_text()]


@pytest.mark.settled
@pytest.mark.first(2)
@pytest.mark.parametrize("kind", ["digits", "many", "ten rows", "one row", "one class"])
def test_no_slope_covers_another_or_the_minorant_or_leaves_the_axes(kind):
    rng = np.random.default_rng(0)
    score = np.sort(rng.random(400))
    data = {
        "digits": (Y == 8, PROB[:, 8]),
        "many": (rng.random(400) < score**3, score),
        "ten rows": (LABEL, SCORE),
        "one row": ([1], [0.4]),
        "one class": ([0] * 5, SCORE[:5]),
    }[kind]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        panel = (diagram := cumulative_sum_curve(*data, labels=[0, 1])).panels[0]
        axes = diagram.plot(style="theorem")
    axes[0, 0].figure.canvas.draw()
    ax = axes[1, 1]
    boxes = [text.get_window_extent() for text in ax.texts if text.get_text()]
    assert len(boxes) >= min(2, panel.slope.size)
    along = np.linspace(0, 1, 500)
    x, y = panel.share[panel.vertex], panel.events[panel.vertex]
    line = ax.transData.transform(np.column_stack([along, np.interp(along, x, y)]))
    for number, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[number + 1 :])
        assert not ((line > box.min) & (line < box.max)).all(axis=1).any()
        assert ax.bbox.x0 <= box.x0
        assert box.x1 <= ax.bbox.x1
        assert ax.bbox.y0 <= box.y0
        assert box.y1 <= ax.bbox.y1


def test_the_areas_are_written_beside_the_roc_curves():
    diagram = cumulative_sum_curve(LABEL, SCORE)
    axes, roc = diagram.plot(style="theorem"), diagram.panels[0].roc
    assert [ax.texts[0].get_text() for ax in axes[2]] == [f"area {roc.auc:.3f}", f"area {roc.hull_auc:.3f}"]


def test_the_theorem_of_one_class_says_that_the_area_is_not_defined():
    with pytest.warns(CalibrationWarning, match="set to nan"):
        diagram = cumulative_sum_curve([1, 1], [0.2, 0.4])
    axes = diagram.plot(style="theorem")
    axes[0, 0].figure.canvas.draw()
    assert [ax.texts[0].get_text() for ax in axes[2]] == ["area undefined", "area undefined"]


def test_the_theorem_is_shown_of_one_panel():
    diagram = cumulative_sum_curve(Y, PROB, notion="class-wise")
    with pytest.raises(ValueError, match=r"shown of one panel, in Axes of its own; got 10 panels\. Leave ax out"):
        diagram.plot(style="theorem")
    with pytest.raises(ValueError, match="got an Axes"):
        cumulative_sum_curve(LABEL, SCORE).plot(ax=plt.subplots()[1], style="theorem")
    assert diagram.plot(style="theorem", panels=["class 3"]).shape == (3, 2)


def test_unknown_words_and_other_results_are_refused():
    with pytest.raises(ValueError, match="style must be"):
        cumulative_sum_curve(LABEL, SCORE).plot(style="steps")
    with pytest.raises(TypeError, match="diagrams must be of type CumulativeSumCurve; got list"):
        plot_cumulative_sum({"": LABEL})


@pytest.mark.parametrize("style", ["diagram", "theorem"])
def test_settings_are_left_alone(style):
    before = dict(matplotlib.rcParams)
    drawn = cumulative_sum_curve(Y == 8, PROB[:, 8]).plot(style=style)
    np.ravel(drawn)[0].figure.canvas.draw()
    assert dict(matplotlib.rcParams) == before


def test_a_given_axes_is_drawn_on():
    figure, ax = plt.subplots()
    assert cumulative_sum_curve(LABEL, SCORE).plot(ax=ax) is ax
    assert plt.get_fignums() == [figure.number]
