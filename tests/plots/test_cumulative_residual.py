"""A plot of cumulative residuals shows exactly the arrays of the result."""

import numpy as np
import pytest

from calibrant import load_digits_forecast
from calibrant.curves import cumulative_residual_curve, plot_cumulative_residual

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")
from matplotlib import pyplot as plt  # noqa: E402

Y, PROB = load_digits_forecast()


def path(ax, number=0):
    return [line for line in ax.lines if len(line.get_xdata()) > 2][number]


def upper_axis(ax):
    """Labels of the axis of probabilities."""
    (upper,) = ax.child_axes
    return [label.get_text() for label in upper.get_xticklabels()]


def test_the_artists_carry_exactly_the_arrays_of_the_result():
    curve = cumulative_residual_curve(Y, PROB)
    panel = curve.panels[0]
    ax = curve.plot()
    np.testing.assert_array_equal(path(ax).get_xdata(), panel.share)
    np.testing.assert_array_equal(path(ax).get_ydata(), panel.cumulative)
    (band,) = ax.patches
    assert (band.get_y(), band.get_y() + band.get_height()) == pytest.approx((-panel.reach, panel.reach))


def test_the_legend_states_the_errors():
    curve = cumulative_residual_curve(Y, PROB)
    words = [text.get_text() for text in curve.plot().get_legend().get_texts()]
    panel = curve.panels[0]
    assert words == [
        "calibrated",
        "95% if calibrated",
        f"forecast: KS {panel.ks_error:.3f}, Kuiper {panel.kuiper_error:.3f}",
    ]


def test_the_upper_axis_says_which_probability_has_been_reached():
    assert upper_axis(cumulative_residual_curve([0, 0, 1, 1], [0.0, 0.004, 0.3, 0.9999]).plot()) == [
        "0.00",
        "0.00",
        "0.004",
        "0.30",
        "1.00",
    ]
    assert upper_axis(cumulative_residual_curve([0, 0], [1e-5, 0.5]).plot())[0] == "<.001"


def test_forecasts_over_each_other_have_bands_of_their_own():
    curves = {"before": cumulative_residual_curve(Y, PROB), "after": cumulative_residual_curve(Y, 0.5 * PROB + 0.05)}
    ax = plot_cumulative_residual(curves)
    for number, curve in enumerate(curves.values()):
        np.testing.assert_array_equal(path(ax, number).get_ydata(), curve.panels[0].cumulative)
        ends = [line for line in ax.lines if line.get_color() == path(ax, number).get_color()]
        assert sorted(line.get_ydata()[0] for line in ends if len(line.get_xdata()) == 2) == pytest.approx(
            [-curve.panels[0].reach, curve.panels[0].reach]
        )


def test_every_class_has_a_panel_with_its_name_also_without_rows():
    prob = np.array([[0.9, 0.1, 0.0], [0.2, 0.8, 0.0]])
    axes = cumulative_residual_curve([0, 1], prob, notion="top-label").plot()
    assert [ax.get_title() for ax in axes] == ["predicted 0", "predicted 1", "predicted 2"]
    axes[0].figure.canvas.draw()


def test_a_given_axes_is_drawn_on_and_settings_are_left_alone():
    before = dict(matplotlib.rcParams)
    figure, ax = plt.subplots()
    assert cumulative_residual_curve(Y, PROB).plot(ax=ax) is ax
    figure.canvas.draw()
    assert plt.get_fignums() == [figure.number]
    assert dict(matplotlib.rcParams) == before
