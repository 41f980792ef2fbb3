"""The plot of a sweep shows value, floor and band of the result; that of several shows their values."""

import numpy as np
import pytest

from calibrant import EqualMass, load_digits_forecast
from calibrant.curves import bin_sweep, plot_bin_sweep

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")
from matplotlib import pyplot as plt  # noqa: E402

Y, PROB = load_digits_forecast()


def sweep_of(prob, notion="confidence", **options):
    return bin_sweep(Y, prob, n_bins=[2, 5, 9], notion=notion, n_resamples=2, **options)


def words_of(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


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


def test_a_name_is_written_where_there_is_one():
    sweep = sweep_of(PROB)
    assert words_of(sweep.plot()) == ["95% if calibrated", "noise floor", "ECE"]
    ax = plot_bin_sweep({"digits": sweep})
    assert words_of(ax) == ["95% if calibrated", "noise floor", "digits"]
    assert len(ax.collections) == 1


def test_several_forecasts_have_a_colour_each_and_no_band():
    sweeps = {"before": sweep_of(PROB), "after": sweep_of(0.5 * PROB + 0.05)}
    ax = plot_bin_sweep(sweeps)
    for line, sweep in zip(ax.lines, sweeps.values(), strict=True):
        np.testing.assert_array_equal(line.get_xydata(), np.column_stack([sweep.n_bins, sweep.value]))
        assert line.get_linestyle() == "-"
    assert len({line.get_color() for line in ax.lines}) == 2
    assert len(ax.collections) == 0
    assert words_of(ax) == ["before", "after"]


def test_names_have_colours_and_words_have_line_styles():
    sweeps = {
        name: {"TL-ECE": sweep_of(prob, "top-label"), "conf-ECE": sweep_of(prob)}
        for name, prob in {"before": PROB, "after": 0.5 * PROB + 0.05}.items()
    }
    ax = plot_bin_sweep(sweeps)
    every = [(name, word) for name in sweeps for word in sweeps[name]]
    for line, (name, word) in zip(ax.lines, every, strict=True):
        sweep = sweeps[name][word]
        np.testing.assert_array_equal(line.get_xydata(), np.column_stack([sweep.n_bins, sweep.value]))
        assert line.get_linestyle() == {"TL-ECE": "-", "conf-ECE": "--"}[word]
    first, second, third, fourth = (line.get_color() for line in ax.lines)
    assert first == second != third == fourth
    assert words_of(ax) == ["before", "after", "TL-ECE", "conf-ECE"]
    assert [handle.get_linestyle() for handle in ax.get_legend().legend_handles][2:] == ["-", "--"]


def test_a_word_keeps_its_line_style_where_a_name_lacks_one():
    conf = sweep_of(PROB)
    ax = plot_bin_sweep({"a": {"TL": sweep_of(PROB, "top-label"), "conf": conf}, "b": {"conf": conf}})
    assert [line.get_linestyle() for line in ax.lines] == ["-", "--", "--"]
    assert words_of(ax) == ["a", "b", "TL", "conf"]


def test_the_axes_say_only_what_all_sweeps_share():
    ax = plot_bin_sweep({"width": sweep_of(PROB), "mass": sweep_of(PROB, binning=EqualMass)})
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("number of bins", "ECE")


def test_the_legend_of_several_lies_beside_the_axes_where_there_is_room():
    sweeps = {"before": sweep_of(PROB), "after": sweep_of(0.5 * PROB + 0.05)}
    ax = plot_bin_sweep(sweeps)
    ax.figure.canvas.draw()
    key = ax.get_legend().get_window_extent()
    assert ax.get_window_extent().x1 <= key.x0
    assert key.x1 <= ax.figure.bbox.x1
    ax = plot_bin_sweep(sweeps, ax=plt.subplots()[1])
    ax.figure.canvas.draw()
    assert ax.get_legend().get_window_extent().x1 <= ax.get_window_extent().x1


def test_ticks_are_whole_numbers():
    ax = bin_sweep(Y, PROB, n_bins=range(5, 26), n_resamples=2).plot()
    assert (ax.get_xticks() % 1 == 0).all()


@pytest.mark.parametrize(
    ("sweeps", "message"),
    [
        ({}, "at least one"),
        ({"a": {}}, "sweeps must hold at least one sweep; got an empty dict"),
        ({"a": {word: sweep_of(PROB) for word in "vwxyz"}}, "at most 4 words, a line style each; got 5"),
        ({"a": sweep_of(PROB), "b": {"w": sweep_of(PROB)}}, "must all have a word or none; got both"),
        ({"a": {"w": sweep_of(PROB), "v": sweep_of(PROB, norm="max")}}, "must be of one norm; got l1 and max"),
    ],
    ids=["none", "none of a name", "five words", "some words", "two norms"],
)
def test_sweeps_that_cannot_be_told_apart_are_refused(sweeps, message):
    with pytest.raises(ValueError, match=message):
        plot_bin_sweep(sweeps)
    assert plt.get_fignums() == []


@pytest.mark.parametrize("sweeps", [[1], PROB, {"a": PROB}, {"a": {"w": 1.0}}], ids=["list", "array", "named", "word"])
def test_what_is_no_sweep_is_refused(sweeps):
    with pytest.raises(TypeError, match=r"sweeps must be of type BinSweep; got .* Pass bin_sweep\(y_true, y_prob\)\."):
        plot_bin_sweep(sweeps)
    assert plt.get_fignums() == []
