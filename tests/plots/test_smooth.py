"""A smooth reliability diagram shows exactly the arrays of the result, where it was told to, and changes nothing else."""

import numpy as np
import pytest

from calibrant import load_digits_forecast, smooth_reliability_curve
from calibrant.curves import plot_smooth_reliability
from calibrant.curves.smooth import THICK, THIN

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")
from matplotlib import pyplot as plt  # noqa: E402
from matplotlib.collections import LineCollection, PolyCollection  # noqa: E402

Y, PROB = load_digits_forecast()


def below(ax):
    """The Axes with the density: an inset of our own figure, or one appended to a given Axes."""
    return next(a for a in [*ax.child_axes, *ax.figure.axes] if a is not ax and a.get_ylabel() == "density")


def shows(ax, panel, number=0):
    """Assert that the artists of one curve carry the arrays of its panel."""
    segments = np.array([c for c in ax.collections if isinstance(c, LineCollection)][number].get_segments())
    np.testing.assert_array_equal(segments[:, 0], np.column_stack([panel.mean_prob, panel.event_rate])[:-1])
    np.testing.assert_array_equal(segments[:, 1], np.column_stack([panel.mean_prob, panel.event_rate])[1:])
    band = [c for c in ax.collections if isinstance(c, PolyCollection)][number].get_paths()[0].vertices
    np.testing.assert_array_equal(np.unique(band[:, 1]), np.unique([panel.lower, panel.upper]))
    line = below(ax).lines[number]
    np.testing.assert_array_equal(line.get_xdata(), panel.score)
    np.testing.assert_array_equal(line.get_ydata(), panel.density)


@pytest.mark.parametrize("smoother", ["kernel", "local"])
@pytest.mark.parametrize("notion", ["confidence", "binary"])
def test_the_artists_carry_exactly_the_arrays_of_the_result(notion, smoother):
    data = (Y, PROB) if notion == "confidence" else (Y == 3, PROB[:, 3])
    curve = smooth_reliability_curve(*data, smoother=smoother)
    shows(curve.plot(), curve.panels[0])


def test_every_class_has_a_panel_with_its_name_and_error():
    curve = smooth_reliability_curve(Y, PROB, notion="class-wise")
    axes = curve.plot(panels=["class 7", "class 2"])
    assert [ax.get_title() for ax in axes] == ["class 7", "class 2"]
    for ax, panel in zip(axes, (curve.panels[7], curve.panels[2]), strict=True):
        shows(ax, panel)
        assert ax.texts[0].get_text() == f"smECE {panel.error:.3f}"


def test_forecasts_are_drawn_over_each_other_and_told_apart():
    curves = {"before": smooth_reliability_curve(Y, PROB), "after": smooth_reliability_curve(Y, 0.5 * PROB + 0.05)}
    ax = plot_smooth_reliability(curves)
    for number, curve in enumerate(curves.values()):
        shows(ax, curve.panels[0], number)
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    assert words == ["calibrated", *(f"{name}: smECE {curve.error:.3f}" for name, curve in curves.items())]


def test_the_line_is_thicker_where_rows_are_denser():
    panel = smooth_reliability_curve(Y, PROB).panels[0]
    ax = smooth_reliability_curve(Y, PROB).plot()
    widths = next(c for c in ax.collections if isinstance(c, LineCollection)).get_linewidths()
    ends = np.minimum(panel.density[1:], panel.density[:-1])
    assert (np.diff(np.asarray(widths)[np.argsort(ends)]) >= 0).all()
    assert min(widths) >= THIN
    assert 0.95 * THICK < max(widths) <= THICK


def test_a_constant_forecast_is_a_point_with_its_interval():
    curve = smooth_reliability_curve([0, 1, 0, 0, 0], np.full(5, 0.3))
    ax = curve.plot()
    line = next(line for line in ax.lines if line.get_marker() == "o")
    assert line.get_xdata()[0] == pytest.approx(0.3)
    assert line.get_ydata()[0] == pytest.approx(0.2)
    assert len([c for c in ax.collections if isinstance(c, LineCollection)]) == 1


def test_a_class_that_is_never_predicted_says_so():
    prob = [[0.8, 0.1, 0.1], [0.3, 0.6, 0.1], [0.9, 0.05, 0.05]]
    axes = smooth_reliability_curve([0, 1, 1], prob, notion="top-label").plot()
    assert axes[2].texts[0].get_text() == "no rows"


def test_band_and_density_can_be_left_out():
    ax = smooth_reliability_curve(Y, PROB).plot(band=False, density=False)
    assert not [c for c in ax.collections if isinstance(c, PolyCollection)]
    assert not ax.child_axes


def test_a_given_axes_is_drawn_on_and_the_style_stays_as_it_was():
    before = dict(matplotlib.rcParams)
    _, (left, right) = plt.subplots(1, 2)
    curve = smooth_reliability_curve(Y, PROB)
    assert curve.plot(ax=left) is left
    shows(left, curve.panels[0])
    assert not right.lines
    assert dict(matplotlib.rcParams) == before


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="curves must hold at least one curve; got none"):
        plot_smooth_reliability({})
    with pytest.raises(ValueError, match="one Axes holds one panel; the curve has 10"):
        smooth_reliability_curve(Y, PROB, notion="class-wise").plot(ax=plt.figure().add_subplot())
