"""The plot of cost curves shows exactly the arrays of the result."""

import numpy as np
import pytest

from calibrant.decisions.expected_cost import expected_cost_curve, plot_expected_cost

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")
from matplotlib import pyplot as plt  # noqa: E402

Y, P = [0, 1, 1, 0, 1], np.array([0.2, 0.7, 0.9, 0.8, 0.4])


@pytest.mark.parametrize("axis", ["probability cost", "cost proportion"])
def test_the_artists_carry_exactly_the_arrays_of_the_result(axis):
    curve = expected_cost_curve(Y, {"before": P, "after": P**2}, axis=axis)
    ax = curve.plot()
    expected = [curve.never, curve.always]
    for panel in curve.panels:
        expected += [panel.cost, panel.lowest]
    assert len(ax.lines) == len(expected)
    for line, values in zip(ax.lines, expected, strict=True):
        np.testing.assert_array_equal(line.get_xydata(), np.column_stack([curve.at, values]))
    assert not ax.collections


def test_of_one_forecast_the_regret_is_filled():
    curve = expected_cost_curve(Y, P)
    ax = curve.plot()
    corners = ax.collections[0].get_paths()[0].vertices
    middle = curve.at.size // 2
    assert {curve.panels[0].cost[middle], curve.panels[0].lowest[middle]} <= set(
        corners[corners[:, 0] == curve.at[middle], 1]
    )


def test_the_legend_states_the_averages_and_the_axes_say_what_they_show():
    curve = expected_cost_curve(Y, P, axis="cost proportion")
    panel = curve.panels[0]
    ax = curve.plot()
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    best = f"at best: {panel.mean_lowest:.4f}"
    assert words == ["never", "always", f"forecast: {panel.mean_cost:.4f}", "regret", best]
    assert ax.get_xlabel() == "cost proportion = threshold"
    plain = plot_expected_cost(curve, lowest=False, trivial=False)
    assert len(plain.lines) == 1
    assert expected_cost_curve(Y, P).plot().get_ylabel() == "normalised expected cost"


def test_a_given_axes_is_drawn_on_and_settings_are_left_alone():
    before = dict(matplotlib.rcParams)
    figure, ax = plt.subplots()
    assert expected_cost_curve(Y, P).plot(ax=ax) is ax
    figure.canvas.draw()
    assert plt.get_fignums() == [figure.number]
    assert dict(matplotlib.rcParams) == before
