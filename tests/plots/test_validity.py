"""The validity plot shows the steps and the guarantees of the curves."""

import numpy as np
import pytest

from calibrant import load_digits_forecast
from calibrant.curves import plot_validity, validity_curve

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")
from matplotlib import pyplot as plt  # noqa: E402

Y, PROB = load_digits_forecast()


def curve(n_bins, **options):
    return validity_curve(Y, PROB, notion="top-label", binning=n_bins, **options)


def words(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_the_artists_carry_exactly_the_arrays_of_the_result():
    result = curve(15, points_per_bin=50)
    steps, promised = result.plot().lines
    np.testing.assert_array_equal(steps.get_xdata(), [0.0, *result.error, 1.0])
    np.testing.assert_array_equal(steps.get_ydata(), [0.0, *result.share, 1.0])
    assert steps.get_drawstyle() == "steps-post"
    np.testing.assert_array_equal(promised.get_xydata(), np.column_stack(result.guarantee))


def test_several_curves_lie_over_each_other_with_one_line_a_guarantee():
    curves = {"a": curve(5, points_per_bin=50), "b": curve(10), "c": curve(15, points_per_bin=50)}
    ax = plot_validity(curves)
    assert words(ax) == ["a", "b", "c", "promised, 50 points a bin"]
    assert len({line.get_color() for line in ax.lines}) == 4
    assert words(plot_validity(curves, guarantee=False)) == ["a", "b", "c"]
    with pytest.raises(TypeError, match="guarantee must be True or False; got 'yes'"):
        plot_validity(curves, guarantee="yes")


def test_guarantees_of_different_numbers_of_points_are_told_apart():
    ax = plot_validity({"a": curve(5, points_per_bin=50), "b": curve(10, points_per_bin=100)})
    assert words(ax)[2:] == ["promised, 50 points a bin", "promised, 100 points a bin"]
    assert ax.lines[2].get_linestyle() != ax.lines[3].get_linestyle()


def test_a_curve_alone_needs_no_legend():
    assert curve(5).plot().get_legend() is None


def test_every_step_is_in_sight():
    result = curve(15)
    ax = result.plot()
    assert ax.get_xlim()[1] >= result.error[-1]
    assert ax.get_ylim()[1] >= 1.0


def test_a_given_axes_is_drawn_on_and_settings_are_left_alone():
    before = dict(matplotlib.rcParams)
    figure, ax = plt.subplots()
    assert curve(5).plot(ax=ax) is ax
    figure.canvas.draw()
    assert plt.get_fignums() == [figure.number]
    assert dict(matplotlib.rcParams) == before


def test_nothing_cannot_be_drawn():
    with pytest.raises(ValueError, match="curves must hold at least one curve"):
        plot_validity({})


def test_the_legend_lies_beside_the_axes_and_hides_nothing():
    ax = plot_validity({"a": curve(5, points_per_bin=50), "b": curve(10)})
    ax.figure.canvas.draw()
    key = ax.get_legend().get_window_extent()
    assert ax.get_window_extent().x1 <= key.x0
    assert key.x1 <= ax.figure.bbox.x1


@pytest.mark.parametrize("curves", [PROB, {"a": PROB}, [1]], ids=["array", "named", "list"])
def test_what_is_no_curve_is_refused(curves):
    with pytest.raises(TypeError, match=r"curves must be of type ValidityCurve; got .* Pass validity_curve\("):
        plot_validity(curves)
    assert plt.get_fignums() == []
