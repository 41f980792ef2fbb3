"""Points of the ROC curve, its convex hull, and theorem 2.1: the hull is the ROC curve of the isotonic fit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import roc as reference
from strategies import columns

import calibrant as cb
from calibrant._core.border import as_problem
from calibrant.metrics.roc import roc_panel

fractions = st.floats(0.01, 5.0)
both = st.one_of(columns(min_rows=2), columns(min_rows=2, weights=fractions)).filter(
    lambda r: 0 < r[0].sum() < r[0].size
)


def points_of(label, score, weight):
    return roc_panel(as_problem(label, score, sample_weight=weight))


def distance(points, corners):
    """Largest distance of the points from the line through the corners."""
    start, step = corners[:-1], np.diff(corners, axis=0)
    length = np.maximum((step**2).sum(axis=1), 1e-300)
    part = np.clip(((points[:, None] - start) * step).sum(axis=2) / length, 0.0, 1.0)
    nearest = start + part[:, :, None] * step
    return np.sqrt(((points[:, None] - nearest) ** 2).sum(axis=2)).min(axis=1).max()


def drawn(points):
    return np.column_stack([points.fpr, points.tpr])


# The points


@given(rows=both)
def test_the_points_are_those_of_the_definition(rows):
    found = points_of(*rows)
    expected = reference.points(*(column.tolist() for column in rows))
    np.testing.assert_allclose(np.column_stack([found.threshold, found.fpr, found.tpr]), expected, atol=1e-12)


# The hull


@given(rows=both)
def test_the_hull_is_the_highest_chord_over_every_point(rows):
    found = points_of(*rows)
    corners = drawn(found)
    hull = corners[found.vertex]
    for x, y in corners:
        height = reference.height_of_hull(corners.tolist(), x)
        assert height == pytest.approx(reference.height_of_hull(hull.tolist(), x), abs=1e-12)
        assert y <= height + 1e-12


@given(rows=columns(min_rows=2).filter(lambda r: 0 < r[0].sum() < r[0].size))
def test_every_vertex_of_the_hull_is_a_corner(rows):
    """Slopes fall from piece to piece: nothing is left that could be left out."""
    hull = cb.metrics.roc_convex_hull(rows[0], rows[1], sample_weight=rows[2])
    right, up = np.diff(hull.fpr), np.diff(hull.tpr)
    assert (up[:-1] * right[1:] > up[1:] * right[:-1]).all()


# Theorem 2.1


@given(rows=both)
def test_the_roc_curve_of_the_isotonic_fit_is_the_hull(rows):
    label, score, weight = rows
    fitted = cb.IsotonicCalibration(finite=None).fit(score, label, sample_weight=weight).calibrate(score)
    before, after = points_of(*rows), points_of(label, fitted, weight)
    hull = drawn(before)[before.vertex]
    assert distance(drawn(after), hull) <= 1e-12
    assert distance(hull, drawn(after)) <= 1e-12
    assert after.auc == pytest.approx(before.hull_auc, abs=1e-12)
    assert after.hull_auc == pytest.approx(before.hull_auc, abs=1e-12)


@given(rows=columns(min_rows=2).filter(lambda r: 0 < r[0].sum() < r[0].size))
def test_of_whole_weights_the_vertices_are_exactly_the_points_of_the_fit(rows):
    label, score, weight = rows
    fitted = cb.IsotonicCalibration(finite=None).fit(score, label, sample_weight=weight).calibrate(score)
    before, after = points_of(*rows), points_of(label, fitted, weight)
    np.testing.assert_array_equal(drawn(after), drawn(before)[before.vertex])


# The public result


def test_the_hull_says_what_it_is_and_cannot_be_changed():
    hull = cb.metrics.roc_convex_hull([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.8])
    assert repr(hull) == "RocHull(vertices=4, area=0.8750)"
    assert hull.threshold.tolist() == [np.inf, 0.8, 0.2, 0.1]
    assert hull.tnr.tolist() == [1.0, 1.0, 0.5, 0.0]
    with pytest.raises(ValueError, match="read-only"):
        hull.fpr[0] = 1.0
    frame = hull.to_frame("polars")
    assert frame.columns == ["threshold", "fpr", "tpr"]
    assert len(frame) == 4


def test_a_table_of_more_classes_needs_an_event():
    prob = [[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]]
    with pytest.raises(ValueError, match=r"that of one event; got a table of 3 classes\. Pass notion=OneVsRest\(0\)"):
        cb.metrics.roc_convex_hull([0, 1, 2], prob)
    with pytest.raises(ValueError, match=r"one event; notion 'class-wise' makes 3 problems\. Pass"):
        cb.metrics.roc_convex_hull([0, 1, 2], prob, notion="class-wise")
    assert cb.metrics.roc_convex_hull([0, 1, 2], prob, notion=cb.notions.OneVsRest(1)).area == 1.0
    assert cb.metrics.roc_convex_hull([0, 1, 1], prob, notion="confidence").area == 0.75


@pytest.mark.parametrize(("label", "given"), [(0, "no event"), (1, "events alone")])
def test_of_one_class_the_area_is_not_defined_and_says_so(label, given):
    with pytest.warns(
        cb.exceptions.CalibrationWarning,
        match=f"must have rows with and without the event; got {given} in 'class 1', and the area is set to nan",
    ):
        hull = cb.metrics.roc_convex_hull([label, label], [0.2, 0.4])
    assert np.isnan(hull.area)
    assert np.isnan(hull.tpr if label == 0 else hull.fpr).all()
