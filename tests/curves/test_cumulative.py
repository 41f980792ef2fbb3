"""A cumulative sum diagram is the one of the definition, its slopes are the isotonic fit, and it turns into the ROC curve."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib import pyplot as plt
from reference import isotonic as reference_isotonic
from reference import roc as reference
from reference import simultaneous
from strategies import columns, tables

from calibrant import load_digits_forecast
from calibrant.curves import cumulative_sum_curve, plot_cumulative_sum, roc_curve
from calibrant.curves.cumulative import simultaneous_band
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
    with pytest.warns(CalibrationWarning, match="a ROC curve must have rows with and without the event; got events"):
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


# The theorem


def test_the_theorem_shows_forecast_sums_and_roc_curve_before_and_after():
    diagram = cumulative_sum_curve(LABEL, SCORE)
    panel, axes = diagram.panels[0], diagram.plot(style="theorem")
    assert axes.shape == (3, 2)
    roc = np.column_stack([panel.roc.tnr, panel.roc.tpr])
    for side in (0, 1):
        np.testing.assert_array_equal(line(axes[1, side], "cumulative sums")[:, 1], panel.events)
        np.testing.assert_array_equal(line(axes[2, side], "forecast"), roc)
    np.testing.assert_array_equal(line(axes[1, 1], "greatest convex minorant")[:, 0], panel.share[panel.vertex])
    np.testing.assert_array_equal(line(axes[2, 1], "isotonic fit"), roc[panel.roc.vertex])
    values, edges, _ = axes[0, 1].patches[0].get_data()
    np.testing.assert_array_equal(values, panel.slope)
    np.testing.assert_array_equal(edges, panel.share[panel.vertex])


def test_the_slopes_are_written_beside_the_minorant():
    diagram = cumulative_sum_curve(LABEL, SCORE)
    axes = diagram.plot(style="theorem")
    assert sorted(slopes(axes)) == sorted(f"{slope:.2g}" for slope in diagram.panels[0].slope)


def slopes(axes):
    return [text.get_text() for text in axes[1, 1].texts if text.get_text()]


@pytest.mark.settled
@pytest.mark.first(2)
@pytest.mark.parametrize("kind", ["digits", "many", "ten rows", "one row", "one class"])
def test_no_slope_covers_another_or_the_minorant_or_leaves_the_axes(kind):
    rng = np.random.default_rng(0)
    score = np.sort(rng.random(400))
    data = {
        "digits": (Y == 8, PROB[:, 8]),
        "many": (rng.random(400) < score**3, score),
        "ten rows": (LABEL, SCORE),
        "one row": ([1], [0.4]),
        "one class": ([0] * 5, SCORE[:5]),
    }[kind]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        panel = (diagram := cumulative_sum_curve(*data, labels=[0, 1])).panels[0]
        axes = diagram.plot(style="theorem")
    axes[0, 0].figure.canvas.draw()
    ax = axes[1, 1]
    boxes = [text.get_window_extent() for text in ax.texts if text.get_text()]
    assert len(boxes) >= min(2, panel.slope.size)
    along = np.linspace(0, 1, 500)
    x, y = panel.share[panel.vertex], panel.events[panel.vertex]
    line = ax.transData.transform(np.column_stack([along, np.interp(along, x, y)]))
    for number, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[number + 1 :])
        assert not ((line > box.min) & (line < box.max)).all(axis=1).any()
        assert ax.bbox.x0 <= box.x0
        assert box.x1 <= ax.bbox.x1
        assert ax.bbox.y0 <= box.y0
        assert box.y1 <= ax.bbox.y1


def test_the_theorem_is_shown_of_one_panel():
    diagram = cumulative_sum_curve(Y, PROB, notion="class-wise")
    with pytest.raises(ValueError, match=r"shown of one panel, in Axes of its own; got 10 panels\. Leave ax out"):
        diagram.plot(style="theorem")
    with pytest.raises(ValueError, match="got an Axes"):
        cumulative_sum_curve(LABEL, SCORE).plot(ax=plt.subplots()[1], style="theorem")
    assert diagram.plot(style="theorem", panels=["class 3"]).shape == (3, 2)


# The band that holds the whole curve with proven confidence


counts = st.lists(st.tuples(st.integers(1, 30), st.floats(0, 1)), min_size=1, max_size=40)


def band(count, events, level=0.05):
    return simultaneous_band(np.asarray(count, dtype=float), np.asarray(events, dtype=float), level)


@given(rows=counts, level=st.sampled_from([0.5, 0.05, 0.001]))
def test_the_bounds_are_those_of_all_intervals_one_at_a_time(rows, level):
    count, events = [n for n, _ in rows], [round(share * n) for n, share in rows]
    lower, upper = simultaneous.band(count, events, level)
    found = band(count, events, level)
    np.testing.assert_allclose(found, [lower, upper], rtol=1e-6, atol=1e-12)
