"""The plot of decision curves shows exactly the arrays of the result."""

import numpy as np
import pytest

from calibrant.decisions.decision_curve import decision_curve

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")
from matplotlib import pyplot as plt  # noqa: E402

Y, P = [0, 1, 1, 0, 1], np.array([0.2, 0.7, 0.9, 0.8, 0.4])


def test_the_artists_carry_exactly_the_arrays_of_the_result():
    curve = decision_curve(Y, {"before": P, "after": P**2}, n_resamples=20)
    ax = curve.plot()
    none, every, *lines = ax.lines
    assert set(none.get_ydata()) == {0.0}
    np.testing.assert_array_equal(every.get_xydata(), np.column_stack([curve.threshold, curve.treat_all]))
    for line, band, panel in zip(lines, ax.collections, curve.panels, strict=True):
        np.testing.assert_array_equal(line.get_xydata(), np.column_stack([curve.threshold, panel.net_benefit]))
        corners = band.get_paths()[0].vertices
        assert {panel.lower[10], panel.upper[10]} <= set(corners[corners[:, 0] == curve.threshold[10], 1])


def test_intervals_are_drawn_only_where_there_are_some_and_they_are_wanted():
    assert not decision_curve(Y, P).plot().collections
    curve = decision_curve(Y, P, n_resamples=10)
    assert not curve.plot(intervals=False).collections
    words = [text.get_text() for text in curve.plot().get_legend().get_texts()]
    assert words == ["treat none", "treat all", "95% interval", "forecast"]


def test_treating_all_does_not_squeeze_the_picture():
    low, high = decision_curve(Y, P).plot().get_ylim()
    assert -0.5 < low < 0
    assert 0 < high < 1


def test_a_given_axes_is_drawn_on_and_settings_are_left_alone():
    before = dict(matplotlib.rcParams)
    figure, ax = plt.subplots()
    assert decision_curve(Y, P).plot(ax=ax) is ax
    figure.canvas.draw()
    assert plt.get_fignums() == [figure.number]
    assert dict(matplotlib.rcParams) == before
