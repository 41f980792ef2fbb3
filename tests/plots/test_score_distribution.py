"""Score distributions are drawn as the steps of the result."""

import numpy as np
import pytest

from calibrant import load_digits_forecast
from calibrant.curves import score_distribution

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")
from matplotlib import pyplot as plt  # noqa: E402

Y, PROB = load_digits_forecast()


@pytest.mark.parametrize("height", ["density", "weight"])
def test_the_artists_carry_exactly_the_arrays_of_the_result(height):
    result = score_distribution(Y, PROB, notion="class-wise", binning=20)
    for ax, panel in zip(result.plot(height=height), result.panels, strict=True):
        other, _, event, _ = (patch.get_data() for patch in ax.patches)
        np.testing.assert_array_equal(other.values, getattr(panel, f"other_{height}"))
        np.testing.assert_array_equal(event.values, getattr(panel, f"event_{height}"))
        np.testing.assert_array_equal(event.edges, panel.bins.edges)


def test_the_legend_names_the_outcomes():
    ax = score_distribution(Y == 3, PROB[:, 3]).plot()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["class False", "class True"]


def test_a_given_axes_is_drawn_on_and_settings_are_left_alone():
    before = dict(matplotlib.rcParams)
    figure, ax = plt.subplots()
    assert score_distribution(Y, PROB).plot(ax=ax) is ax
    figure.canvas.draw()
    assert plt.get_fignums() == [figure.number]
    assert dict(matplotlib.rcParams) == before


def test_another_height_is_refused():
    with pytest.raises(ValueError, match="height must be one of 'density', 'weight'; got 'count'"):
        score_distribution(Y, PROB).plot(height="count")
