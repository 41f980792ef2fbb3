"""The plot of a partition path shows its values, and the level before."""

import numpy as np
import pytest

from calibrant.curves import PartitionPath, plot_partition_path

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")
from matplotlib import pyplot as plt  # noqa: E402


def path_of(shift=0.0, metrics=("nll", "vus"), before=(0.9, 0.2)):
    value = np.array([[1.1, 0.1], [0.8, 0.3], [0.7, 0.35]])[:, : len(metrics)] + shift
    symbols = tuple(name.upper() for name in metrics)
    return PartitionPath(np.array([1, 3, 5]), value, np.array(before[: len(metrics)]), metrics, symbols, "some")


def words_of(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_each_panel_carries_the_arrays_of_its_metric():
    path = path_of()
    axes = path.plot()
    assert len(axes) == 2
    for number, ax in enumerate(axes):
        line, before = ax.lines
        np.testing.assert_array_equal(line.get_xydata(), np.column_stack([path.n_regions, path.value[:, number]]))
        assert set(before.get_ydata()) == {path.before[number]}
        assert (ax.get_xlabel(), ax.get_ylabel()) == ("number of regions", path.symbols[number])
    assert words_of(axes[-1]) == ["calibrated", "not calibrated"]


def test_one_metric_has_one_axes():
    assert isinstance(path_of(metrics=("nll",)).plot(), plt.Axes)


def test_several_have_a_colour_each_and_one_line_before_where_it_is_shared():
    axes = plot_partition_path({"a": path_of(), "b": path_of(0.1)})
    for ax in axes:
        first, second, before = ax.lines
        assert len({first.get_color(), second.get_color(), before.get_color()}) == 3
    assert words_of(axes[-1]) == ["a", "b", "not calibrated"]


def test_paths_of_several_rows_have_a_line_before_each_in_their_colours():
    axes = plot_partition_path({"fitted": path_of(), "test": path_of(0.1, before=(0.95, 0.25))})
    for ax in axes:
        *values, first, second = ax.lines
        assert [line.get_color() for line in values] == [first.get_color(), second.get_color()]
        assert (first.get_ydata()[0], second.get_ydata()[0]) != (0.0, 0.0)
    assert words_of(axes[-1]) == ["fitted", "test", "not calibrated"]


def test_given_axes_are_drawn_on_and_settings_are_left_alone():
    settings = dict(matplotlib.rcParams)
    figure, axes = plt.subplots(1, 2)
    drawn = path_of().plot(ax=axes)
    assert list(drawn) == list(axes)
    figure.canvas.draw()
    assert plt.get_fignums() == [figure.number]
    assert dict(matplotlib.rcParams) == settings
    alone = plt.subplots()[1]
    assert path_of(metrics=("nll",)).plot(ax=alone) is alone


def test_what_does_not_fit_is_refused_in_words():
    with pytest.raises(ValueError, match="one Axes a metric; got 1 for 2"):
        path_of().plot(ax=plt.subplots()[1])
    with pytest.raises(ValueError, match="must have the same metrics"):
        plot_partition_path({"a": path_of(), "b": path_of(metrics=("nll",))})
    with pytest.raises(ValueError, match="at least one"):
        plot_partition_path({})
    with pytest.raises(TypeError, match="PartitionPath; got int under 'a'"):
        plot_partition_path({"a": 3})
