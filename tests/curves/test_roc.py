"""A ROC curve holds the points, the hull and the areas of each problem of its notion."""

import numpy as np
import pytest
from hypothesis import given
from mpl_toolkits.mplot3d.art3d import Path3DCollection, Poly3DCollection
from strategies import tables

from calibrant import load_digits_forecast
from calibrant.curves import plot_roc, plot_roc_surface, roc_curve, roc_surface
from calibrant.exceptions import CalibrationWarning
from calibrant.metrics import area_under_roc_hull_score, roc_convex_hull, volume_under_surface_score
from calibrant.metrics.roc import area_under_roc


@given(rows=tables(min_rows=4).filter(lambda rows: np.unique(rows[0]).size == rows[1].shape[1]))
def test_the_areas_are_the_metrics_and_the_vertices_those_of_the_hull(rows):
    label, prob, weight = rows
    options = {"notion": "class-wise", "sample_weight": weight}
    curve = roc_curve(label, prob, **options)
    assert len(curve.panels) == prob.shape[1]
    mean = np.mean([(p.auc, p.hull_auc) for p in curve.panels], axis=0)
    expected = [of(label, prob, **options) for of in (area_under_roc, area_under_roc_hull_score)]
    assert mean == pytest.approx(expected, abs=1e-12)
    for k, panel in enumerate(curve.panels):
        hull = roc_convex_hull(label == k, prob[:, k], sample_weight=weight)
        for name in ("threshold", "fpr", "tpr", "tnr"):
            np.testing.assert_array_equal(getattr(panel, name)[panel.vertex], getattr(hull, name))
        assert panel.hull_auc == hull.area
        np.testing.assert_array_equal(np.flatnonzero(panel.on_hull), panel.vertex)


def test_a_class_without_an_event_has_no_area_and_is_warned_of():
    with pytest.warns(CalibrationWarning, match=r"a ROC curve must have rows .* no event in 'class 2'"):
        curve = roc_curve([0, 1, 0, 1], [[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.4, 0.4, 0.2], [0.3, 0.3, 0.4]])
    assert [np.isnan(panel.auc) for panel in curve.panels] == [False, False, True]


# Pictures


DIGITS, PROB = load_digits_forecast()
EIGHT, SCORE = DIGITS == 8, PROB[:, 8]


def lines(ax):
    """Curve and hull of each forecast, without the diagonal."""
    return [line.get_xydata() for line in ax.lines[1:]]


def words(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


@pytest.mark.parametrize(("symmetric", "name"), [(False, "fpr"), (True, "tnr")])
def test_the_artists_carry_exactly_the_arrays_of_the_result(symmetric, name):
    curve = roc_curve(EIGHT, SCORE)
    panel = curve.panels[0]
    points = np.column_stack([getattr(panel, name), panel.tpr])
    ax = curve.plot(symmetric=symmetric)
    assert ax.get_xlabel() == ("no event: part below the threshold" if symmetric else "false positive rate")
    path, hull = lines(ax)
    np.testing.assert_array_equal(path, points)
    np.testing.assert_array_equal(hull, points[panel.vertex])
    assert words(ax) == [f"forecast: area {panel.auc:.3f}", f"hull: area {panel.hull_auc:.3f}"]


def test_forecasts_over_each_other_have_colours_of_their_own():
    curves = {"before": roc_curve(EIGHT, SCORE), "after": roc_curve(EIGHT, PROB[:, 3])}
    ax = plot_roc(curves)
    assert [w.split(":")[0] for w in words(ax)] == ["before", "hull of before", "after", "hull of after"]
    colours = [line.get_color() for line in ax.lines[1:]]
    assert colours[0] == colours[1] != colours[2] == colours[3]


def test_every_class_has_a_panel_with_its_areas():
    curve = roc_curve(DIGITS, PROB)
    for k, (ax, panel) in enumerate(zip(curve.plot(), curve.panels, strict=True)):
        assert ax.get_title() == f"class {k}"
        assert [text.get_text() for text in ax.texts] == [f"area {panel.auc:.3f}\nhull {panel.hull_auc:.3f}"]


def test_the_hull_can_be_left_out():
    ax = roc_curve(EIGHT, SCORE).plot(hull=False)
    assert len(lines(ax)) == 1
    assert not ax.patches
    assert len(plot_roc_surface(roc_surface(*forecasts()), hull=False).collections) == 1


# A surface holds the distinct points, a threshold of each, and the hull of which its volume is


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
    with pytest.raises(ValueError, match="thresholds must be"):
        roc_surface([0, 0], np.full((2, 3), 1 / 3), thresholds=0)


def test_points_in_space_are_exactly_those_of_the_results_and_the_veil_is_the_first_hull():
    named = {name: roc_surface(*forecasts(40, seed=seed)) for seed, name in enumerate(["before", "after"])}
    ax = plot_roc_surface(named)
    dots = [c for c in ax.collections if isinstance(c, Path3DCollection)]
    for drawn, result in zip(dots, named.values(), strict=True):
        np.testing.assert_array_equal(np.column_stack(drawn._offsets3d), result.share)
    assert dots[1].get_sizes()[0] > dots[0].get_sizes()[0]
    assert tuple(dots[1].get_facecolor()[0]) != tuple(dots[0].get_facecolor()[0])
    (veil,) = [c for c in ax.collections if isinstance(c, Poly3DCollection)]
    faces = veil._faces if hasattr(veil, "_faces") else veil._segslices  # before matplotlib 3.10
    assert len(faces) == len(named["before"].facet)
    assert words(ax) == ["before", "after"]
    labels = [axis.get_label_text() for axis in (ax.xaxis, ax.yaxis, ax.zaxis)]
    assert labels == [f"recall of class {k}" for k in range(3)]
