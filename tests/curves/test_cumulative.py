"""A cumulative sum diagram is the one of the definition, its slopes are the isotonic fit, and it turns into the ROC curve."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import isotonic as reference_isotonic
from reference import roc as reference
from strategies import columns, tables

from calibrant import load_digits_forecast
from calibrant.curves import cumulative_sum_curve, plot_cumulative_sum, roc_curve

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
def test_an_affine_map_leads_to_the_symmetric_roc_curve_and_to_its_hull(rows):
    panel, (label, score, weight) = panel_of(*rows), rows
    (roc,) = roc_curve(label, score, sample_weight=weight).panels
    rate = panel.events[-1]
    below, above = (panel.share - panel.events) / (1.0 - rate), 1.0 - panel.events / rate
    np.testing.assert_allclose(below[::-1], roc.tnr, atol=1e-11)
    np.testing.assert_allclose(above[::-1], roc.tpr, atol=1e-11)
    np.testing.assert_array_equal(roc.vertex, panel.score.size - panel.vertex[::-1])


@given(rows=tables(min_rows=4).filter(lambda rows: np.unique(rows[0]).size == rows[1].shape[1]))
def test_every_class_has_its_diagram(rows):
    label, prob, weight = rows
    diagram = cumulative_sum_curve(label, prob, notion="class-wise", sample_weight=weight)
    for k, panel in enumerate(diagram.panels):
        assert panel.events[-1] == pytest.approx(np.average(label == k, weights=weight), abs=1e-12)
        assert panel.name == f"class {k}"


def test_of_one_class_the_fit_is_defined():
    (panel,) = cumulative_sum_curve([1, 1], [0.2, 0.4]).panels
    assert panel.slope.tolist() == [1.0]
    assert panel.minorant.tolist() == [0.0, 0.5, 1.0]


def test_a_class_that_is_never_predicted_has_only_a_start():
    prob = np.array([[0.9, 0.1, 0.0], [0.8, 0.2, 0.0], [0.2, 0.8, 0.0], [0.3, 0.7, 0.0]])
    panel = cumulative_sum_curve([0, 1, 1, 0], prob, notion="top-label").panels[2]
    assert (panel.share.tolist(), panel.events.tolist(), panel.vertex.tolist()) == ([0.0], [0.0], [0])
    assert panel.score.size == panel.slope.size == panel.fit.size == 0
    assert not any(array.flags.writeable for array in (panel.share, panel.vertex, panel.slope))


# Pictures


Y, PROB = load_digits_forecast()
LABEL = [0, 0, 1, 0, 1, 1, 0, 1, 1, 1]
SCORE = [0.05, 0.1, 0.2, 0.3, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9]


def line(ax, label):
    (found,) = [found for found in ax.lines if found.get_label() == label]
    return found.get_xydata()


def test_the_artists_carry_exactly_the_arrays_of_the_result():
    diagram = cumulative_sum_curve(LABEL, SCORE)
    panel = diagram.panels[0]
    sums = np.column_stack([panel.share, panel.events])
    ax = diagram.plot()
    np.testing.assert_array_equal(line(ax, "cumulative sums"), sums)
    np.testing.assert_array_equal(line(ax, "greatest convex minorant"), sums[panel.vertex])


def test_forecasts_over_each_other_have_minorants_of_their_own():
    diagrams = {"eight": cumulative_sum_curve(Y == 8, PROB[:, 8]), "three": cumulative_sum_curve(Y == 8, PROB[:, 3])}
    ax = plot_cumulative_sum(diagrams)
    for name, diagram in diagrams.items():
        panel = diagram.panels[0]
        np.testing.assert_array_equal(line(ax, name)[:, 1], panel.events)
        minorant = line(ax, f"greatest convex minorant of {name}")
        np.testing.assert_array_equal(minorant[:, 1], panel.events[panel.vertex])
