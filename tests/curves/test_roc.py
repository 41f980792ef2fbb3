"""A ROC curve holds the points, the hull and the areas of each problem of its notion."""

import numpy as np
import pytest
from hypothesis import given
from strategies import tables

from calibrant import load_digits_forecast
from calibrant.curves import plot_roc, roc_curve
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


def test_a_class_that_never_came_is_not_defined_and_is_named():
    with pytest.warns(
        CalibrationWarning, match="a ROC curve must have rows with and without the event; got no event in 'class 2'"
    ):
        panel = roc_curve([0, 1, 1], P[:3], labels=[0, 1, 2]).panels[2]
    assert np.isnan(panel.tpr).all()
    assert panel.fpr[-1] == 1.0
    assert np.isnan([panel.auc, panel.hull_auc]).all()


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


def test_what_lies_between_curve_and_hull_is_filled():
    curve = roc_curve(EIGHT, SCORE)
    (patch,) = curve.plot().patches
    x, y = patch.get_xy().T
    filled = abs(np.sum(x[:-1] * y[1:] - x[1:] * y[:-1])) / 2.0
    assert filled == pytest.approx(curve.panels[0].hull_auc - curve.panels[0].auc)


@pytest.mark.parametrize("symmetric", [False, True])
def test_scores_that_tell_nothing_apart_lie_on_the_dotted_line(symmetric):
    ax = roc_curve([0, 1], [0.5, 0.5]).plot(symmetric=symmetric)
    chance = sorted(map(tuple, ax.lines[0].get_xydata().tolist()))
    assert sorted(map(tuple, lines(ax)[0].tolist())) == chance


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
