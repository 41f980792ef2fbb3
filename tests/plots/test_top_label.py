"""The top-label diagram and the zoom into a bin show exactly the arrays of the curve."""

import numpy as np
import pytest

from calibrant import EqualMass, load_digits_forecast
from calibrant.curves import plot_top_label, plot_top_label_bin, top_label_curve
from calibrant.curves.top_label import _write_distances

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")
from matplotlib import pyplot as plt  # noqa: E402
from matplotlib.collections import LineCollection, PathCollection  # noqa: E402
from matplotlib.lines import AxLine  # noqa: E402

Y, PROB = load_digits_forecast()


def many_classes(n=100):
    """Two rows of each class in the last of two bins, one more of each of the classes 3 and 70."""
    predicted = np.array([*np.arange(n), *np.arange(n), 3, 70])
    prob = np.random.default_rng(0).uniform(0.6, 1.0, predicted.size)
    return top_label_curve(predicted * 0, prob, y_pred=predicted, binning=2)


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
    assert [text.get_text() for text in side.get_yticklabels()] == [curve.classes[j] for j in shown]
    bars = [container[0] for container in side.containers]
    assert [bar.get_width() for bar in bars] == [curve.class_bins[j].count[b] for j in shown]
    others = [found for found in ax.lines if "other" in str(found.get_label())]
    rest = {tuple(point) for found in others for point in found.get_xydata().tolist()}
    assert rest == {of[j] for j in of if j not in shown}


# The diagram


@pytest.mark.parametrize("binning", [10, 1, EqualMass(7)], ids=str)
def test_the_artists_carry_exactly_the_arrays_of_the_curve(binning):
    curve = top_label_curve(Y, PROB, binning=binning)
    shows(curve.plot(), curve)


def test_the_legend_holds_both_errors_of_the_curve():
    curve = top_label_curve(Y, PROB)
    words = [text.get_text() for text in curve.plot().get_legend().get_texts()]
    assert words == [
        "calibrated",
        f"accuracy of all rows: conf-ECE {curve.confidence_ece:.4f}",
        f"mean distance of classes: TL-ECE {curve.top_label_ece:.4f}",
        "share of predictions",
    ]


def test_the_fewer_rows_a_bin_holds_the_smaller_and_paler_its_markers():
    curve = top_label_curve(Y, PROB, binning=10)
    share = curve.share[curve.bins.count > 0]
    for markers in (c for c in curve.plot().collections if isinstance(c, PathCollection)):
        order = np.argsort(share)
        assert (np.diff(markers.get_sizes()[order]) >= 0).all()
        assert (np.diff(markers.get_alpha()[order]) >= 0).all()
        assert markers.get_sizes().min() < markers.get_sizes().max()
    alike = top_label_curve([0, 1], [0.4, 0.8], y_pred=[0, 0], binning=2).plot()
    assert len({size for c in alike.collections if isinstance(c, PathCollection) for size in c.get_sizes()}) == 1


def test_forecasts_stand_side_by_side_on_the_same_scales():
    curves = {
        "digits": top_label_curve(Y, PROB),
        "turned": top_label_curve([0, 0, 0], [0.4] * 3, y_pred=[0, 1, 2], binning=1),
        "mass": top_label_curve(Y, PROB, binning=EqualMass()),
    }
    axes = plot_top_label(curves)
    assert [ax.get_title() for ax in axes] == list(curves)
    for ax, curve in zip(axes, curves.values(), strict=True):
        shows(ax, curve)
        assert ax.get_ylim() == axes[0].get_ylim()
    assert axes[0].get_ylim() == (-0.02, 1.02)


def test_a_plus_stands_on_the_other_side_where_it_would_leave_the_diagram():
    """Accuracy 1/3 lies below 0.4 and the mean distance is 0.467: below, the plus would stand at -0.067."""
    curve = top_label_curve([0, 0, 0], [0.4] * 3, y_pred=[0, 1, 2], binning=1)
    assert curve.top_label_height.tolist() == pytest.approx([0.4 + 1.4 / 3])
    assert len(curve.plot().texts) == 0


def test_a_distance_that_no_side_has_room_for_is_written_at_the_edge():
    """Both classes are off by 0.99, around a mean probability of 0.5."""
    curve = top_label_curve([1, 1], [0.99, 0.01], y_pred=[0, 1], binning=1)
    assert curve.top_label_gap.tolist() == pytest.approx([0.99])
    assert curve.top_label_height.tolist() == [0.0]
    assert [text.get_text() for text in curve.plot().texts] == ["0.99"]


def test_every_plus_lies_within_the_unit_square():
    rng = np.random.default_rng(0)
    for n in (1, 10, 200):
        curve = top_label_curve(rng.integers(0, 5, n), rng.random(n), y_pred=rng.integers(0, 5, n), binning=7)
        held = curve.bins.count > 0
        assert (curve.top_label_height[held] >= 0).all()
        assert (curve.top_label_height[held] <= 1).all()


def test_the_axes_say_what_they_show():
    ax = top_label_curve(Y, PROB).plot()
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("mean probability", "accuracy")


# The zoom


def test_each_class_predicted_in_the_bin_has_a_point_and_a_bar():
    curve = top_label_curve(Y, PROB, binning=10)
    for b in (9, 6):
        count = np.array([bins.count[b] for bins in curve.class_bins])
        shows_bin(plot_top_label_bin(curve, b), curve, b, np.flatnonzero(count))


def test_by_default_the_bin_is_the_one_with_most_rows():
    curve = top_label_curve(Y, PROB, binning=10)
    assert curve.bins.count.argmax() == 9
    axes = curve.plot_bin()
    assert axes[0].get_title() == "confidence in (0.9, 1]"
    shows_bin(axes, curve, 9, range(10))


def test_the_first_bin_holds_its_lower_edge():
    axes = top_label_curve([0, 1], [0.0, 0.1], y_pred=[0, 0], binning=4).plot_bin(0)
    assert axes[0].get_title() == "confidence in [0, 0.25]"


def test_of_many_classes_those_with_most_rows_are_told_apart():
    curve = many_classes()
    axes = curve.plot_bin()
    shows_bin(axes, curve, 1, [0, 1, 2, 3, 4, 5, 6, 7, 8, 70])
    assert axes[1].get_xlabel() == "rows (10 of 100 classes)"
    assert axes[1].get_ylabel() == "predicted class"
    shows_bin(curve.plot_bin(most=2), curve, 1, [3, 70])


def test_no_two_of_thirty_classes_look_alike():
    axes = many_classes(30).plot_bin(most=30)
    looks = {(key.get_color(), key.get_marker(), key.get_markerfacecolor()) for key in axes[1].lines}
    assert len(looks) == 30


def test_black_is_the_bin_as_a_whole_and_no_class():
    ax, side = many_classes(30).plot_bin(most=30)
    assert "#000000" not in {key.get_color() for key in side.lines}
    assert [found.get_marker() for found in ax.lines if found.get_color() == "#000000"] == ["*"]


def test_a_point_and_its_bar_look_alike():
    axes = top_label_curve(Y, PROB, binning=10).plot_bin()
    points = [found for found in axes[0].lines if len(found.get_xydata()) == 1][:-1]
    for point, key, container in zip(points, axes[1].lines, axes[1].containers, strict=True):
        assert point.get_color() == key.get_color()
        assert point.get_marker() == key.get_marker()
        assert matplotlib.colors.to_hex(container[0].get_edgecolor()) == point.get_color().lower()


def test_the_diagonal_runs_through_the_mean_probability_of_the_bin():
    curve = top_label_curve(Y, PROB, binning=10)
    diagonal = next(found for found in curve.plot_bin(9)[0].lines if isinstance(found, AxLine))
    assert diagonal.get_slope() == 1
    assert diagonal.get_xy1() == (curve.bins.mean_prob[9],) * 2


def test_lines_lead_from_the_diagonal_to_each_point():
    curve = top_label_curve(Y, PROB, binning=10)
    lines = [c for c in curve.plot_bin(9)[0].collections if isinstance(c, LineCollection)]
    found = np.array([c.get_segments()[0] for c in lines]).reshape(-1, 4)
    expected = [[b.mean_prob[9], b.mean_prob[9], b.mean_prob[9], b.event_rate[9]] for b in curve.class_bins]
    np.testing.assert_array_equal(found, expected)


# Where it is drawn


def test_given_axes_are_drawn_on_and_settings_are_left_alone():
    before = dict(matplotlib.rcParams)
    figure, axes = plt.subplots(1, 3)
    curve = top_label_curve(Y, PROB, binning=10)
    assert curve.plot(ax=axes[0]) is axes[0]
    assert curve.plot_bin(axes=axes[1:]).tolist() == axes[1:].tolist()
    shows(axes[0], curve)
    figure.canvas.draw()
    assert plt.get_fignums() == [figure.number]
    assert dict(matplotlib.rcParams) == before


def test_one_row_can_be_drawn():
    curve = top_label_curve([0], [[0.7, 0.3]])
    shows(curve.plot(), curve)
    axes = curve.plot_bin()
    axes[0].figure.canvas.draw()
    shows_bin(axes, curve, 10, [0])


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda curve: curve.plot_bin(10), ValueError, r"bin must be a number of a bin; got 10\. .* 0 to 9\."),
        (lambda curve: curve.plot_bin(-1), ValueError, r"bin must be a whole number, at least 0; got -1\. .* 0 to 9\."),
        (lambda curve: curve.plot_bin(0.5), TypeError, r"bin must be a whole number"),
        (
            lambda curve: curve.plot_bin(0),
            ValueError,
            r"bin must hold rows; got 0, which is empty\. Pass one of 2, 3, 4",
        ),
        (lambda curve: curve.plot_bin(most=0), ValueError, r"most must be a whole number, at least 1; got 0\. 10 is"),
        (lambda curve: curve.plot_bin(axes=[1]), ValueError, r"axes must be two, .*; got 1 for 2\."),
        (lambda curve: plot_top_label({}), ValueError, r"at least one curve; got none"),
        (
            lambda curve: plot_top_label({"a": curve, "b": curve}, ax=1),
            ValueError,
            r"one Axes holds one curve; got 2\.",
        ),
        (
            lambda curve: plot_top_label(PROB),
            TypeError,
            r"curves must be of type TopLabelCurve; got ndarray\. Pass top_la",
        ),
        (lambda curve: plot_top_label({"a": curve, "b": 1}), TypeError, r"got int under 'b'\."),
        (lambda curve: plot_top_label_bin(PROB), TypeError, r"curve must be of type TopLabelCurve; got ndarray\."),
    ],
    ids=[
        *["beyond", "negative", "no number", "empty", "none shown", "one Axes", "no curve", "many in one"],
        *["table", "number", "table of a bin"],
    ],
)
def test_what_cannot_be_drawn_is_refused(call, error, message):
    curve = top_label_curve(Y, PROB, binning=10)
    with pytest.raises(error, match=message):
        call(curve)
    assert plt.get_fignums() == []


def test_distances_are_written_to_the_side_that_has_room():
    ax = plt.subplots()[1]
    _write_distances(ax, np.array([0.2, 0.8]), np.array([1.0, 0.0]), np.array([0.9, 0.9]))
    assert [text.get_ha() for text in ax.texts] == ["left", "right"]
