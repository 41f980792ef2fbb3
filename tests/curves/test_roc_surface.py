"""A surface holds the distinct points, a threshold of each, and the hull of which its volume is."""

import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.colors import to_rgb
from mpl_toolkits.mplot3d.art3d import Path3DCollection, Poly3DCollection

from calibrant import style as _style
from calibrant.curves import plot_roc_surface, roc_curve, roc_surface
from calibrant.exceptions import CalibrationWarning
from calibrant.metrics import volume_under_surface_score


def forecasts(n=60, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    prob = rng.dirichlet(np.ones(n_classes), n)
    label = np.append(np.arange(n_classes), [rng.choice(n_classes, p=p) for p in prob[n_classes:]])
    return label, prob


@pytest.mark.parametrize("thresholds", ["data", 10])
@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_each_point_is_what_its_threshold_tells_right(thresholds, n_classes):
    label, prob = forecasts(n_classes=n_classes)
    result = roc_surface(label, prob, thresholds=thresholds, n_thresholds=50)
    np.testing.assert_allclose(result.gamma.sum(axis=1), 1.0)
    assert len(np.unique(result.share, axis=0)) == len(result.share)
    for gamma, share in zip(result.gamma, result.share, strict=True):
        # Of two classes the second is told above the threshold, as in a ROC curve.
        told = (prob[:, 1] > gamma[1]) * 1 if n_classes == 2 else (prob - gamma).argmax(axis=1)
        np.testing.assert_allclose(share, [(told[label == k] == k).mean() for k in range(n_classes)])


@pytest.mark.parametrize("n_classes", [5, 6])
def test_up_to_five_classes_a_surface_has_facets_and_a_volume(n_classes):
    label, prob = forecasts(20, n_classes)
    given = [np.eye(n_classes)[0], np.full(n_classes, 1 / n_classes)]
    result = roc_surface(label, prob, thresholds=given)
    if n_classes == 5:
        assert result.volume == volume_under_surface_score(label, prob, thresholds=given)
        assert result.facet.size > 0
    else:
        assert np.isnan(result.volume)
        assert result.facet.shape == (0, 6)


def test_the_volume_is_that_of_the_metric():
    label, prob = forecasts()
    weight = np.random.default_rng(0).integers(1, 4, 60)
    for options in ({}, {"thresholds": 10}, {"n_thresholds": 40}):
        result = roc_surface(label, prob, sample_weight=weight, **options)
        assert result.volume == volume_under_surface_score(label, prob, sample_weight=weight, **options)


def test_of_two_classes_it_is_the_roc_curve():
    label, prob = forecasts(n_classes=2)
    result, (panel,) = roc_surface(label, prob), roc_curve(label, prob[:, 1]).panels
    curve = np.unique(np.column_stack([1 - panel.fpr, panel.tpr]), axis=0)
    np.testing.assert_allclose(result.share, curve, atol=1e-12)
    assert result.volume == pytest.approx(panel.hull_auc)


def test_the_facets_are_of_points_on_the_hull():
    result = roc_surface(*forecasts())
    for corners in result.share[result.facet]:
        normal = np.linalg.solve(corners, np.ones(3))
        assert (result.share @ normal).max() <= 1 + 1e-9
    np.testing.assert_array_equal(np.flatnonzero(result.on_hull), np.unique(result.facet))


def test_a_class_that_never_came_leaves_no_points_with_a_warning():
    with pytest.warns(CalibrationWarning, match="a ROC surface must have rows of each class"):
        result = roc_surface([0, 0], np.full((2, 3), 1 / 3))
    assert result.share.shape == (0, 3)
    assert np.isnan(result.volume)


# Pictures


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
