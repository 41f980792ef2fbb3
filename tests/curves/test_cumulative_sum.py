"""A cumulative sum diagram is the one of the definition, its slopes are the isotonic fit, and it turns into the ROC curve."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import isotonic as reference_isotonic
from reference import roc as reference
from strategies import columns, tables

from calibrant.curves import cumulative_sum_curve, roc_curve
from calibrant.exceptions import CalibrationWarning

fractions = st.floats(0.01, 5.0)
any_weights = st.one_of(columns(min_rows=2), columns(min_rows=2, weights=fractions))
both = any_weights.filter(lambda rows: 0 < rows[0].sum() < rows[0].size)


def panel_of(label, score, weight):
    (panel,) = cumulative_sum_curve(label, score, sample_weight=weight).panels
    return panel


@given(rows=both)
def test_sums_and_minorant_are_those_of_the_definition(rows):
    panel = panel_of(*rows)
    expected = reference.cumulative_sums(*(column.tolist() for column in rows))
    np.testing.assert_allclose(np.column_stack([panel.share, panel.events, panel.minorant]), expected, atol=1e-12)


@given(rows=both)
def test_the_slopes_of_the_minorant_are_the_isotonic_fit(rows):
    panel = panel_of(*rows)
    label, score, weight = (column.tolist() for column in rows)
    distinct, values = reference_isotonic.fit(score, label, weight)
    np.testing.assert_array_equal(panel.score, distinct)
    np.testing.assert_allclose(panel.fit, values, atol=1e-12)
    slope = np.diff(panel.events[panel.vertex]) / np.diff(panel.share[panel.vertex])
    np.testing.assert_allclose(panel.slope, slope, atol=1e-10)
    np.testing.assert_allclose(np.diff(panel.minorant), panel.fit * np.diff(panel.share), atol=1e-12)


@given(rows=both)
def test_the_minorant_is_convex_below_the_sums_and_meets_them_at_its_vertices(rows):
    panel = panel_of(*rows)
    assert (np.diff(panel.slope) > -1e-12).all()
    assert (panel.minorant <= panel.events + 1e-12).all()
    np.testing.assert_array_equal(panel.minorant[panel.vertex], panel.events[panel.vertex])


@given(rows=both)
def test_an_affine_map_leads_to_the_symmetric_roc_curve_and_to_its_hull(rows):
    panel = panel_of(*rows)
    rate = panel.events[-1]
    below, above = (panel.share - panel.events) / (1.0 - rate), 1.0 - panel.events / rate
    np.testing.assert_allclose(below[::-1], panel.roc.tnr, atol=1e-11)
    np.testing.assert_allclose(above[::-1], panel.roc.tpr, atol=1e-11)
    np.testing.assert_array_equal(panel.roc.vertex, panel.score.size - panel.vertex[::-1])


@given(rows=tables(min_rows=4).filter(lambda rows: np.unique(rows[0]).size == rows[1].shape[1]))
def test_every_class_has_its_diagram_and_its_roc_curve(rows):
    label, prob, weight = rows
    diagram = cumulative_sum_curve(label, prob, notion="class-wise", sample_weight=weight)
    for k, (panel, roc) in enumerate(
        zip(diagram.panels, roc_curve(label, prob, notion="class-wise", sample_weight=weight).panels, strict=True)
    ):
        assert panel.events[-1] == pytest.approx(np.average(label == k, weights=weight), abs=1e-12)
        assert panel.name == panel.roc.name == roc.name
        np.testing.assert_array_equal(panel.roc.tpr, roc.tpr)


def test_of_one_class_the_fit_is_defined_and_the_roc_curve_is_not():
    with pytest.warns(
        CalibrationWarning, match="a ROC curve must have rows with and without the event; got events alone"
    ):
        (panel,) = cumulative_sum_curve([1, 1], [0.2, 0.4]).panels
    assert panel.slope.tolist() == [1.0]
    assert panel.minorant.tolist() == [0.0, 0.5, 1.0]
    assert np.isnan(panel.roc.auc)


def test_a_class_that_is_never_predicted_has_only_a_start():
    prob = np.array([[0.9, 0.1, 0.0], [0.8, 0.2, 0.0], [0.2, 0.8, 0.0], [0.3, 0.7, 0.0]])
    panel = cumulative_sum_curve([0, 1, 1, 0], prob, notion="top-label").panels[2]
    assert (panel.share.tolist(), panel.events.tolist(), panel.vertex.tolist()) == ([0.0], [0.0], [0])
    assert panel.score.size == panel.slope.size == panel.fit.size == 0
    assert not any(array.flags.writeable for array in (panel.share, panel.vertex, panel.slope))


def test_the_diagram_says_what_it_is_and_cannot_be_changed():
    diagram = cumulative_sum_curve([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.8])
    assert repr(diagram) == "CumulativeSumCurve(binary, panels=1, scores=4, pieces=3)"
    with pytest.raises(ValueError, match="read-only"):
        diagram.panels[0].events[0] = 1.0
    frame = diagram.to_frame("polars")
    assert frame.columns == ["panel", "score", "share", "events", "minorant", "fit"]
    assert frame["fit"].to_list() == [0.0, 0.5, 0.5, 1.0]
