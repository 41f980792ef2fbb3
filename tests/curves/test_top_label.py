"""Both reliabilities over one set of bins, and their means, are those of the definition."""

import numpy as np
import pytest
from hypothesis import example, given
from matplotlib.collections import LineCollection, PathCollection
from reference import binned, top_label_diagram
from strategies import tables

from calibrant import EqualMass, EqualWidth, load_digits_forecast
from calibrant.binning import Unique
from calibrant.curves import plot_top_label, plot_top_label_bin, top_label_curve

TWINS = {EqualWidth(n): binned.equal_width(n) for n in (1, 4, 15)}
TWINS |= {EqualMass(3): binned.equal_mass(3), Unique(): binned.unique}


# The definition


@pytest.mark.first(2)
@pytest.mark.parametrize("binning", TWINS, ids=str)
@given(rows=tables())
def test_the_diagram_is_that_of_the_definition(binning, rows):
    label, prob, weight = rows
    curve = top_label_curve(label, prob, binning=binning, sample_weight=weight)
    twin = top_label_diagram.rows_of_table(prob.tolist(), label.tolist(), weight.tolist())
    expected, bins = top_label_diagram.diagram(twin, TWINS[binning]), curve.bins
    for found, of in ((curve.confidence_ece, "gap"), (curve.top_label_ece, "top_label_gap")):
        assert found == pytest.approx(sum(own["share"] * own[of] for own in expected), abs=1e-12)
    names = {"share": curve.share, "mean_prob": bins.mean_prob, "accuracy": bins.event_rate, "gap": curve.gap}
    names |= {"count": bins.count, "top_label_gap": curve.top_label_gap}
    for b, own in zip(np.flatnonzero(bins.count), expected, strict=True):
        for name, found in names.items():
            assert found[b] == pytest.approx(own[name], abs=1e-12), name
        for j, of in enumerate(curve.class_bins):
            count, weight_of_class, mean, accuracy = own["classes"].get(j, (0, 0.0, np.nan, np.nan))
            found = [of.count[b], of.weight[b], of.mean_prob[b], of.event_rate[b], curve.class_gap[b, j]]
            twin = [count, weight_of_class, mean, accuracy, abs(accuracy - mean)]
            np.testing.assert_allclose(found, twin, atol=1e-12)


# Where the gap is drawn


@example(rows=([0, 0, 0], [[1 / 2, 1 / 2], [1 / 2, 1 / 2], [4 / 9, 5 / 9]], [1, 1, 1]))
@given(rows=tables())
def test_the_top_label_point_is_as_far_as_its_gap_on_the_side_of_the_accuracy_if_there_is_room(rows):
    label, prob, weight = rows
    curve = top_label_curve(label, prob, binning=5, sample_weight=weight)
    for b in np.flatnonzero(curve.bins.count):
        middle, gap, height = curve.bins.mean_prob[b], curve.top_label_gap[b], curve.top_label_height[b]
        side = 1 if curve.bins.gap[b] > 1e-12 else -1
        room = [place for place in (middle + side * gap, middle - side * gap) if 0 <= place <= 1]
        assert height == pytest.approx(room[0] if room else np.clip(middle + side * gap, 0, 1), abs=1e-9)


# The result


def test_frames_hold_a_row_a_bin_or_a_class_in_a_bin():
    prob = [[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6], [0.7, 0.2, 0.1]]
    curve = top_label_curve(["x", "y", "z", "y"], prob, binning=2)
    bins, classes = curve.to_frame("polars"), curve.to_frame("polars", each="class")
    assert bins.columns == ["bin", "left", "right", "count", "weight", "mean_prob", "accuracy", "gap", "top_label_gap"]
    assert bins["count"].to_list() == [1, 3]
    np.testing.assert_array_equal(bins["top_label_gap"], curve.top_label_gap)
    assert classes.columns == ["label", *bins.columns[:-1]]
    cells = classes.select("label", "bin", "count").rows()
    assert cells == [("x", 0, 1), ("x", 1, 1), ("y", 1, 1), ("z", 1, 1)]
    np.testing.assert_allclose(classes["gap"], [0.5, 0.7, 0.2, 0.4])


# Pictures


DIGITS, PROB = load_digits_forecast()


def shows(ax, curve):
    """Assert that the artists carry the arrays of the curve."""
    held = curve.bins.count > 0
    x, place = curve.bins.mean_prob[held], curve.top_label_height[held]
    stars, pluses = (c for c in ax.collections if isinstance(c, PathCollection))
    np.testing.assert_array_equal(stars.get_offsets(), np.column_stack([x, curve.bins.event_rate[held]]))
    np.testing.assert_array_equal(pluses.get_offsets(), np.column_stack([x, place]))
    (gaps,) = (np.array(c.get_segments()) for c in ax.collections if isinstance(c, LineCollection))
    np.testing.assert_array_equal(gaps.reshape(-1, 4), np.column_stack([x, x, x, place]))
    bars = np.array([[bar.get_x(), bar.get_width(), bar.get_height()] for bar in ax.containers[0]])
    edges = curve.bins.edges
    np.testing.assert_allclose(bars, np.column_stack([edges[:-1], np.diff(edges), curve.share]), atol=1e-15)


def shows_bin(axes, curve, b, shown):
    """Assert that the chosen classes have a point and a bar each, and all others a grey point."""
    ax, side = axes
    of = {j: (bins.mean_prob[b], bins.event_rate[b]) for j, bins in enumerate(curve.class_bins) if bins.count[b]}
    points = [tuple(found.get_xydata()[0]) for found in ax.lines if len(found.get_xydata()) == 1]
    assert points == [of[j] for j in shown] + [(curve.bins.mean_prob[b], curve.bins.event_rate[b])]
    gaps = [c.get_segments()[0].ravel().tolist() for c in ax.collections if isinstance(c, LineCollection)]
    assert gaps == [[x, x, x, y] for x, y in (of[j] for j in shown)]
    assert [text.get_text() for text in side.get_yticklabels()] == [curve.classes[j] for j in shown]
    bars = [container[0] for container in side.containers]
    assert [bar.get_width() for bar in bars] == [curve.class_bins[j].count[b] for j in shown]
    others = [found for found in ax.lines if "other" in str(found.get_label())]
    rest = {tuple(point) for found in others for point in found.get_xydata().tolist()}
    assert rest == {of[j] for j in of if j not in shown}


# The diagram


@pytest.mark.parametrize("binning", [10, 1, EqualMass(7)], ids=str)
def test_the_artists_carry_exactly_the_arrays_of_the_curve(binning):
    curve = top_label_curve(DIGITS, PROB, binning=binning)
    shows(curve.plot(), curve)


def test_forecasts_stand_side_by_side_on_the_same_scales():
    turned = top_label_curve([0, 0, 0], [0.4] * 3, y_pred=[0, 1, 2], binning=1)
    curves = {"digits": top_label_curve(DIGITS, PROB), "turned": turned}
    for ax, (name, curve) in zip(plot_top_label(curves), curves.items(), strict=True):
        shows(ax, curve)
        assert (ax.get_title(), ax.get_ylim()) == (name, (-0.02, 1.02))


def test_a_distance_that_no_side_has_room_for_is_written_at_the_edge():
    """Both classes are off by 0.99, around a mean probability of 0.5."""
    curve = top_label_curve([1, 1], [0.99, 0.01], y_pred=[0, 1], binning=1)
    assert curve.top_label_gap.tolist() == pytest.approx([0.99])
    assert curve.top_label_height.tolist() == [0.0]
    assert [text.get_text() for text in curve.plot().texts] == ["0.99"]


# The zoom


def test_each_class_predicted_in_the_bin_has_a_point_and_a_bar_and_by_default_the_bin_is_that_of_most_rows():
    curve = top_label_curve(DIGITS, PROB, binning=10)
    for b in (9, 6):
        count = np.array([bins.count[b] for bins in curve.class_bins])
        shows_bin(plot_top_label_bin(curve, b), curve, b, np.flatnonzero(count))
    assert curve.bins.count.argmax() == 9
    axes = curve.plot_bin()
    assert axes[0].get_title() == "confidence in (0.9, 1]"
    shows_bin(axes, curve, 9, range(10))


def test_of_many_classes_those_with_most_rows_are_told_apart():
    """Two rows of each class in the last of two bins, one more of each of the classes 3 and 70."""
    predicted = np.array([*np.arange(100), *np.arange(100), 3, 70])
    prob = np.random.default_rng(0).uniform(0.6, 1.0, predicted.size)
    curve = top_label_curve(predicted * 0, prob, y_pred=predicted, binning=2)
    axes = curve.plot_bin()
    shows_bin(axes, curve, 1, [0, 1, 2, 3, 4, 5, 6, 7, 8, 70])
    assert axes[1].get_xlabel() == "rows (10 of 100 classes)"
    assert axes[1].get_ylabel() == "predicted class"
    shows_bin(curve.plot_bin(most=2), curve, 1, [3, 70])
