"""The plot of a sweep shows value, floor and band of the result."""

import numpy as np
import pytest

from calibrant import EqualMass, bin_sweep, load_digits_forecast

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")
from matplotlib import pyplot as plt  # noqa: E402

Y, PROB = load_digits_forecast()


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


def test_the_artists_carry_exactly_the_arrays_of_the_result():
    sweep = bin_sweep(Y, PROB, n_bins=[2, 5, 9], n_resamples=20)
    ax = sweep.plot()
    floor, value = ax.lines
    np.testing.assert_array_equal(floor.get_xydata(), np.column_stack([sweep.n_bins, sweep.noise_floor]))
    np.testing.assert_array_equal(value.get_xydata(), np.column_stack([sweep.n_bins, sweep.value]))
    corners = ax.collections[0].get_paths()[0].vertices
    for n, low, high in zip(sweep.n_bins, sweep.noise_lower, sweep.noise_upper, strict=True):
        assert {low, high} <= set(corners[corners[:, 0] == n, 1])


@pytest.mark.parametrize(("norm", "name"), [("l1", "ECE"), ("l2", "RMSCE"), ("max", "MCE")])
def test_the_axes_say_what_they_show(norm, name):
    ax = bin_sweep(Y, PROB, n_bins=[2, 3], binning=EqualMass, norm=norm, n_resamples=2).plot()
    assert ax.get_ylabel() == name
    assert ax.get_xlabel() == "number of bins (EqualMass)"


def test_a_given_axes_is_drawn_on_and_settings_are_left_alone():
    before = dict(matplotlib.rcParams)
    figure, ax = plt.subplots()
    assert bin_sweep(Y, PROB, n_bins=[2, 3], n_resamples=2).plot(ax=ax) is ax
    figure.canvas.draw()
    assert plt.get_fignums() == [figure.number]
    assert dict(matplotlib.rcParams) == before
