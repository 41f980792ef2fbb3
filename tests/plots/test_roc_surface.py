"""Surfaces are drawn as the results have them: in space, in the plane, and pair by pair."""

import numpy as np
import pytest

from calibrant.curves import plot_roc_surface, roc_surface

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")
from matplotlib import pyplot as plt  # noqa: E402
from matplotlib.colors import to_rgb  # noqa: E402
from mpl_toolkits.mplot3d.art3d import Path3DCollection, Poly3DCollection  # noqa: E402

from calibrant import style as _style  # noqa: E402


def surface(n_classes, seed=0, **options):
    rng = np.random.default_rng(seed)
    prob = rng.dirichlet(np.ones(n_classes), 40)
    return roc_surface(np.arange(40) % n_classes, prob, n_thresholds=60, **options)


def in_space(dots):
    return np.column_stack([np.asarray(part) for part in dots._offsets3d])


def test_points_in_space_are_exactly_those_of_the_results_and_the_veil_is_the_first_hull():
    named = {"before": surface(3), "after": surface(3, 1)}
    ax = plot_roc_surface(named)
    dots = [c for c in ax.collections if isinstance(c, Path3DCollection)]
    assert len(dots) == 2
    for number, (drawn, result) in enumerate(zip(dots, named.values(), strict=True)):
        np.testing.assert_array_equal(in_space(drawn), result.share)
        np.testing.assert_allclose(drawn.get_facecolor()[0, :3], to_rgb(_style.colour(number)))
    assert dots[1].get_sizes()[0] > dots[0].get_sizes()[0]
    (veil,) = [c for c in ax.collections if isinstance(c, Poly3DCollection)]
    faces = veil._faces if hasattr(veil, "_faces") else veil._segslices  # before matplotlib 3.10
    assert len(faces) == len(named["before"].facet)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["before", "after"]
    labels = [axis.get_label_text() for axis in (ax.xaxis, ax.yaxis, ax.zaxis)]
    assert labels == [f"share of class {k} told right" for k in range(3)]


def test_points_of_two_classes_lie_in_the_plane_with_the_line_of_their_hull():
    result = surface(2)
    ax = result.plot()
    np.testing.assert_array_equal(ax.collections[0].get_offsets(), result.share)
    np.testing.assert_array_equal(ax.lines[0].get_xydata(), result.share[result.on_hull])
    assert ax.get_legend() is None


def test_more_classes_are_drawn_pair_by_pair():
    result = surface(4)
    axes = result.plot()
    pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    for ax, pair in zip(axes, pairs, strict=True):
        np.testing.assert_array_equal(ax.collections[0].get_offsets(), result.share[:, pair])
        assert (ax.get_xlabel(), ax.get_ylabel()) == tuple(f"share of class {k} told right" for k in pair)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_without_the_hull_there_are_points_only(n_classes):
    ax = plot_roc_surface(surface(n_classes), hull=False)
    assert len(ax.collections) == 1
    assert len(ax.lines) == (1 if n_classes == 2 else 0)


def test_a_given_axes_is_drawn_on_and_settings_are_left_alone():
    before = dict(matplotlib.rcParams)
    flat, space = plt.subplots()[1], plt.figure().add_subplot(projection="3d")
    assert surface(2).plot(ax=flat) is flat
    assert surface(3).plot(ax=space) is space
    assert dict(matplotlib.rcParams) == before


@pytest.mark.parametrize(
    ("results", "ax", "message"),
    [
        ({}, False, "results must hold at least one"),
        ({"a": surface(3), "b": surface(2)}, False, "results must be of the same classes"),
        (surface(3), True, "ax must be one with three axes"),
        (surface(4), True, "ax must be left out for 4 classes"),
        (surface(10, thresholds=[[0.1] * 10]), False, "at most 40 pairs of classes; got 45"),
    ],
)
def test_what_cannot_be_drawn_is_refused(results, ax, message):
    with pytest.raises(ValueError, match=message):
        plot_roc_surface(results, ax=plt.subplots()[1] if ax else None)


def test_what_is_no_surface_is_refused():
    with pytest.raises(TypeError, match="results must be of type RocSurface; got list"):
        plot_roc_surface([1])
