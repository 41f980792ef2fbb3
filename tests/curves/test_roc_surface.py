"""A surface holds the distinct points, a threshold of each, and the hull of which its volume is."""

from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from calibrant.curves import roc_curve, roc_surface
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


def test_the_frame_has_a_row_a_point():
    pytest.importorskip("pandas")
    result = roc_surface(*forecasts())
    table = result.to_frame("pandas")
    assert list(table) == [*(f"gamma_{k}" for k in range(3)), *(f"share_{k}" for k in range(3)), "on_hull"]
    np.testing.assert_array_equal(table[["share_0", "share_1", "share_2"]], result.share)
    np.testing.assert_array_equal(table["on_hull"], result.on_hull)


def test_the_result_is_frozen_and_says_what_it_is():
    result = roc_surface(*forecasts(), labels=[0, 1, 2])
    with pytest.raises(FrozenInstanceError):
        result.volume = 1.0
    for array in (result.gamma, result.share, result.facet):
        assert not array.flags.writeable
    assert repr(result) == f"RocSurface(classes=3, points={len(result.share)}, volume={result.volume:.4g})"
    sources = [roc_surface(*forecasts(), thresholds=t).thresholds for t in ("data", 10, [[0.2, 0.3, 0.5]])]
    assert sources == ["data", "grid of step 1/10", "given"]


def test_beyond_five_classes_there_are_points_and_no_hull():
    result = roc_surface(*forecasts(n_classes=6), n_thresholds=50)
    assert len(result.share) > 6
    assert len(result.facet) == 0
    assert not result.on_hull.any()
    assert np.isnan(result.volume)


def test_a_class_that_never_came_leaves_no_points_with_a_warning():
    with pytest.warns(CalibrationWarning, match="a ROC surface must have rows of each class"):
        result = roc_surface([0, 0], np.full((2, 3), 1 / 3))
    assert result.share.shape == (0, 3)
    assert np.isnan(result.volume)
