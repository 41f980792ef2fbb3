"""A ROC curve holds the points, the hull and the areas of each problem of its notion."""

import numpy as np
import pytest
from hypothesis import given
from matplotlib import pyplot as plt
from matplotlib.colors import to_rgb
from mpl_toolkits.mplot3d.art3d import Path3DCollection, Poly3DCollection
from strategies import tables

from calibrant import drawing, load_digits_forecast
from calibrant.curves import plot_roc, plot_roc_surface, roc_curve, roc_surface
from calibrant.exceptions import CalibrationWarning
from calibrant.metrics import area_under_roc_hull_score, roc_convex_hull, volume_under_surface_score
from calibrant.metrics.roc import area_under_roc

every = tables(min_rows=4).filter(lambda rows: np.unique(rows[0]).size == rows[1].shape[1])


@given(rows=every)
def test_the_areas_are_the_metrics(rows):
    label, prob, weight = rows
    options = {"notion": "class-wise", "sample_weight": weight}
    curve = roc_curve(label, prob, **options)
    assert len(curve.panels) == prob.shape[1]
    mean = np.mean([(p.auc, p.hull_auc) for p in curve.panels], axis=0)
    assert mean[0] == pytest.approx(area_under_roc(label, prob, **options), abs=1e-12)
    assert mean[1] == pytest.approx(area_under_roc_hull_score(label, prob, **options), abs=1e-12)


@given(rows=every)
def test_the_vertices_are_those_of_the_hull(rows):
    label, prob, weight = rows
    for k, panel in enumerate(roc_curve(label, prob, notion="class-wise", sample_weight=weight).panels):
        hull = roc_convex_hull(label == k, prob[:, k], sample_weight=weight)
        for name in ("threshold", "fpr", "tpr", "tnr"):
            np.testing.assert_array_equal(getattr(panel, name)[panel.vertex], getattr(hull, name))
        assert panel.hull_auc == hull.area
        np.testing.assert_array_equal(np.flatnonzero(panel.on_hull), panel.vertex)


def test_the_symmetric_curve_counts_rows_on_their_own_side():
    label, score = np.array([0, 0, 1, 1, 0]), np.array([0.1, 0.4, 0.4, 0.9, 0.2])
    (panel,) = roc_curve(label, score).panels
    for threshold, below, above in zip(panel.threshold, panel.tnr, panel.tpr, strict=True):
        assert below == pytest.approx(np.mean(score[label == 0] < threshold))
        assert above == pytest.approx(np.mean(score[label == 1] >= threshold))


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
    path, hull = lines(curve.plot(symmetric=symmetric))
    np.testing.assert_array_equal(path, points)
    np.testing.assert_array_equal(hull, points[panel.vertex])


def test_the_legend_states_the_areas():
    curve = roc_curve(EIGHT, SCORE)
    panel = curve.panels[0]
    assert words(curve.plot()) == [f"forecast: area {panel.auc:.3f}", f"hull: area {panel.hull_auc:.3f}"]


def test_forecasts_over_each_other_have_colours_of_their_own():
    curves = {"before": roc_curve(EIGHT, SCORE), "after": roc_curve(EIGHT, PROB[:, 3])}
    ax = plot_roc(curves)
    assert [w.split(":")[0] for w in words(ax)] == ["before", "hull of before", "after", "hull of after"]
    colours = [line.get_color() for line in ax.lines[1:]]
    assert colours[0] == colours[1] != colours[2] == colours[3]


def test_every_class_has_a_panel_with_its_areas():
    curve = roc_curve(DIGITS, PROB)
    axes = curve.plot()
    assert [ax.get_title() for ax in axes] == [f"class {k}" for k in range(10)]
    for ax, panel in zip(axes, curve.panels, strict=True):
        (text,) = ax.texts
        assert text.get_text() == f"area {panel.auc:.3f}\nhull {panel.hull_auc:.3f}"


def test_the_hull_can_be_left_out():
    ax = roc_curve(EIGHT, SCORE).plot(hull=False)
    assert len(lines(ax)) == 1
    assert not ax.patches


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
        np.testing.assert_allclose(drawn.get_facecolor()[0, :3], to_rgb(drawing.colour(number)))
    assert dots[1].get_sizes()[0] > dots[0].get_sizes()[0]
    (veil,) = [c for c in ax.collections if isinstance(c, Poly3DCollection)]
    faces = veil._faces if hasattr(veil, "_faces") else veil._segslices  # before matplotlib 3.10
    assert len(faces) == len(named["before"].facet)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["before", "after"]
    labels = [axis.get_label_text() for axis in (ax.xaxis, ax.yaxis, ax.zaxis)]
    assert labels == [f"share of class {k} told right" for k in range(3)]


def test_without_the_hull_there_are_points_only():
    assert len(plot_roc_surface(surface(3), hull=False).collections) == 1


REFUSED = [
    ({}, False, "results must hold at least one"),
    ({"a": surface(3), "b": surface(2)}, False, "results must be of the same classes"),
    (surface(3), True, "ax must be one with three axes"),
    (surface(2), False, "a surface is drawn of three classes; got 2. Use roc_curve"),
    (surface(4), False, "a surface is drawn of three classes; got 4. Use roc_curve"),
]


@pytest.mark.parametrize(("results", "ax", "message"), REFUSED)
def test_what_cannot_be_drawn_is_refused(results, ax, message):
    with pytest.raises(ValueError, match=message):
        plot_roc_surface(results, ax=plt.subplots()[1] if ax else None)
