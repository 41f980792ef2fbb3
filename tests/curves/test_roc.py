"""A ROC curve holds the points, the hull and the areas of each problem of its notion."""

import numpy as np
import pytest
from hypothesis import given
from strategies import tables

from calibrant.curves import roc_curve
from calibrant.exceptions import CalibrationWarning
from calibrant.metrics import area_under_roc_hull_score, roc_convex_hull
from calibrant.metrics.roc import area_under_roc

Y = [0, 1, 2, 1]
P = np.array([[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6], [0.7, 0.2, 0.1]])

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


def test_one_column_is_one_panel_and_a_table_one_a_class():
    assert [p.name for p in roc_curve([0, 1], [0.2, 0.7]).panels] == ["class 1"]
    assert [p.name for p in roc_curve(Y, P).panels] == ["class 0", "class 1", "class 2"]
    assert [p.name for p in roc_curve(Y, P, notion="confidence").panels] == ["confidence"]


def test_a_class_that_is_never_predicted_has_only_a_start():
    with pytest.warns(CalibrationWarning, match="got events alone in 'predicted 2'"):
        panel = roc_curve(Y[:3], P[[1, 1, 2]], notion="top-label").panels[0]
    assert (panel.fpr.tolist(), panel.tpr.tolist(), panel.vertex.tolist()) == ([0.0], [0.0], [0])
    assert np.isnan([panel.auc, panel.hull_auc]).all()


def test_a_class_that_never_came_is_not_defined_and_is_named():
    with pytest.warns(
        CalibrationWarning, match="a ROC curve must have rows with and without the event; got no event in 'class 2'"
    ):
        panel = roc_curve([0, 1, 1], P[:3], labels=[0, 1, 2]).panels[2]
    assert np.isnan(panel.tpr).all()
    assert panel.fpr[-1] == 1.0
    assert np.isnan([panel.auc, panel.hull_auc]).all()


def test_the_curve_says_what_it_is_and_cannot_be_changed():
    curve = roc_curve(Y, P)
    assert repr(curve) == "RocCurve(class-wise, panels=3, points=13, vertices=9)"
    with pytest.raises(ValueError, match="read-only"):
        curve.panels[0].tpr[0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        curve.panels[0].vertex[0] = 1
    frame = curve.to_frame("polars")
    assert frame.columns == ["panel", "threshold", "fpr", "tpr", "tnr", "on_hull"]
    assert len(frame) == sum(p.threshold.size for p in curve.panels)
