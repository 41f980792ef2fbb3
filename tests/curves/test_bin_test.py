"""The data behind the test-based diagram are those of the error, and everything that is drawn is in them."""

import matplotlib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.collections import LineCollection
from matplotlib.patches import Polygon, StepPatch
from matplotlib.text import Annotation
from strategies import columns, tables

from calibrant import EqualMass, drawing, load_digits_forecast
from calibrant.curves import bin_test_curve, plot_bin_test
from calibrant.metrics.errors import bin_test_calibration_error

TESTS = ("binomial", "mid-p", "clopper-pearson", "t")
ENDS = (7, 10, 15, 20, 25, 30)


@given(rows=tables(), notion=st.sampled_from(["confidence", "top-label", "class-wise"]), test=st.sampled_from(TESTS))
def test_the_error_is_that_of_the_metric(rows, notion, test):
    label, prob, weight = rows
    options = {"notion": notion, "binning": EqualMass(3), "test": test, "level": 0.3, "sample_weight": weight}
    expected = bin_test_calibration_error(label, prob, **options)
    assert bin_test_curve(label, prob, **options).error == pytest.approx(expected, rel=1e-12)


SCALES = st.sampled_from(["probability", "log_odds"])
EXTREME = st.sampled_from([1.0, 1e-6, 1e-9, 1e-29, 1e-300])
"""Scores times this lie within log-odds, about their ends and beyond them."""


def ends_of(panel):
    """Where the log-odds of a panel end: a power of ten, and one less a power of ten."""
    least, greatest = panel.log_odds.histogram_edges[[0, -1]]
    below, above = (min(ENDS, key=lambda k: abs(k + np.log10(rest))) for rest in (least, 1 - greatest))
    assert least == pytest.approx(10.0**-below, rel=1e-9)
    assert 1 - greatest == pytest.approx(10.0**-above, rel=0.2)  # what is left to one has few digits
    return 10.0**-below, 1 - 10.0**-above


@given(rows=columns(), test=st.sampled_from(TESTS), shrink=EXTREME, scale=SCALES)
def test_every_row_is_counted_once_in_profile_and_histogram(rows, test, shrink, scale):
    label, score, weight = rows
    options = {"binning": EqualMass(4), "test": test, "level": 0.3, "sample_weight": weight}
    (panel,) = bin_test_curve(label, score * shrink, **options).panels
    shown = getattr(panel, scale)
    np.testing.assert_array_equal(shown.profile.sum(axis=1), panel.bins.weight)
    assert shown.histogram.sum() == weight.sum()
    assert shown.histogram_rejected.sum() == panel.rejected.sum()
    assert (shown.histogram_rejected <= shown.histogram).all()
    assert (panel.rejected <= panel.bins.weight).all()


@given(rows=columns(), shrink=EXTREME, scale=SCALES)
def test_a_slice_holds_the_predictions_between_its_edges(rows, shrink, scale):
    label, score, weight = rows
    score = score * shrink
    (panel,) = bin_test_curve(label, score, binning=EqualMass(3), sample_weight=weight).panels
    shown, at = getattr(panel, scale), panel.bins.index(score)
    if scale == "log_odds":
        score = score.clip(*ends_of(panel))
    for b in range(len(panel.bins)):
        own = score[at == b]
        if own.size == 0:
            assert np.isnan(shown.slice_edges[b]).all()
            continue
        assert shown.slice_edges[b, [0, -1]] == pytest.approx([own.min(), own.max()], rel=1e-9)
        reached = np.cumsum(shown.profile[b])
        for s, edge in enumerate(shown.slice_edges[b, 1:-1]):
            if (np.abs(own - edge) > 1e-9 * edge).all():
                assert reached[s] == weight[at == b][own < edge].sum()


@given(rows=columns(), shrink=EXTREME, upward=st.booleans())
def test_log_odds_reach_all_rows_but_a_hundredth_and_no_further_than_they_must(rows, shrink, upward):
    label, score, weight = rows
    score = 1 - score * shrink if upward else score * shrink
    (panel,) = bin_test_curve(label, score, binning=3, sample_weight=weight).panels
    for end, powers, rest in zip(ends_of(panel), (ENDS, ENDS[:3]), (score, 1 - score), strict=True):
        k = powers.index(round(-np.log10(min(end, 1 - end))))
        beyond = [float(weight[(rest > 0) & (rest < 10.0**-power)].sum()) / weight.sum() for power in powers]
        assert k == len(powers) - 1 or beyond[k] <= 0.01
        assert k == 0 or beyond[k - 1] > 0.01


@pytest.mark.parametrize("rows", [1, 10, 100_000])
def test_a_violin_is_as_wide_as_its_rows_are_dense(rows):
    """The density is smooth, ends where the predictions end, and has the middle and the spread of the profile."""
    score = 0.2 + 0.5 * np.random.default_rng(0).beta(2.0, 5.0, rows)
    (panel,) = bin_test_curve(np.arange(rows) % 2, score, binning=1, labels=[0, 1]).panels
    shown = panel.probability
    edges, density = shown.slice_edges[0], shown.density[0]
    assert density.shape == edges.shape
    assert (density >= 0).all()
    if rows == 100_000:
        assert density @ edges / density.sum() == pytest.approx(score.mean(), abs=0.01)
        assert edges[density.argmax()] == pytest.approx(0.2 + 0.5 * 0.2, abs=0.02)


def test_of_few_rows_a_histogram_has_fewer_columns():
    for n, size in ((5, 10), (500, 18), (50_000, 50)):
        (panel,) = bin_test_curve([0, 1] * n, [0.2, 0.7] * n, binning=1).panels
        assert panel.probability.histogram.size == size


@pytest.mark.parametrize("precision", [np.float32, np.float64])
def test_each_decimal_has_the_column_that_begins_with_it(precision):
    p = np.repeat(np.arange(50) / 50, 500)
    (panel,) = bin_test_curve(np.arange(p.size) % 2, p.astype(precision)).panels
    assert panel.probability.histogram.tolist() == [500] * 50


@given(rows=columns(), test=st.sampled_from(TESTS))
def test_what_is_rejected_lies_outside_of_the_ends_but_for_the_exact_test(rows, test):
    label, score, weight = rows
    (panel,) = bin_test_curve(label, score, binning=2, test=test, level=0.3, sample_weight=weight).panels
    at = panel.bins.index(score)
    lower, upper = panel.lower[at], panel.upper[at]
    inside = (score > lower * (1 + 1e-6)) & (score < upper * (1 - 1e-6))
    if test != "binomial":
        assert (panel.rejected <= np.bincount(at, weight * ~inside, 2)).all()
    outside = (score < lower * (1 - 1e-6)) | (1 - score < (1 - upper) * (1 - 1e-6))
    assert (panel.rejected >= np.bincount(at, weight * outside, 2)).all()


# Pictures


DIGITS, PROB = load_digits_forecast()
TIES = np.repeat([0.1, 0.3, 0.8], 60)
TIED = np.arange(180) % 2 == 0
FAR = np.concatenate([[1e-200], np.geomspace(1e-12, 1e-3, 119), 1 - np.geomspace(1e-12, 1e-3, 59), [1.0]])
ON = {"probability": "probability", "log-odds": "log_odds"}


def colour(patch):
    return matplotlib.colors.to_hex(patch.get_facecolor()).upper()


def steps(ax):
    """The values, edges and colours of steps."""
    found = [patch for patch in ax.patches if isinstance(patch, StepPatch)]
    return [(patch.get_data().values, patch.get_data().edges, colour(patch)) for patch in found]


def curve(binning=5, **options):
    return bin_test_curve(DIGITS, PROB, binning=binning, **options)


def violins(ax, *, over=False):
    """The violins; or what is drawn over them once more."""
    return [patch for patch in ax.patches if isinstance(patch, Polygon) and patch.get_zorder() == (2.1 if over else 2)]


def outline(violin):
    """Heights, left ends and right ends of a violin."""
    points = violin.get_xy()[:-1]  # the last is the first
    left, right = points[: len(points) // 2], points[len(points) // 2 :][::-1]
    np.testing.assert_array_equal(left[:, 1], right[:, 1])
    return left[:, 1], left[:, 0], right[:, 0]


def rooms(ax):
    """The Axes below and beside: insets of our own figure, or appended to a given Axes."""
    found = [other for other in [*ax.child_axes, *ax.figure.axes] if other is not ax]
    below = next(a for a in found if a.get_shared_x_axes().joined(a, ax))
    return below, next(a for a in found if a.get_shared_y_axes().joined(a, ax))


def shows_histogram(beside, panel, axis, *, rejected):
    shown = getattr(panel, ON[axis])
    expected = {drawing.FILL: shown.histogram} | ({drawing.GAP: shown.histogram_rejected} if rejected else {})
    drawn = steps(beside)
    assert {colour for *_, colour in drawn} == expected.keys()
    for values, edges, of in drawn:
        np.testing.assert_array_equal(values, expected[of])
        np.testing.assert_array_equal(edges, shown.histogram_edges)


def shows(ax, panel, axis="probability"):
    """Assert that the artists of violins carry the arrays of the panel."""
    shown = getattr(panel, ON[axis])
    held = np.flatnonzero(panel.bins.weight)
    low, high = ax.get_ylim()
    for b, violin in zip(held, violins(ax), strict=True):
        heights, left, right = outline(violin)
        np.testing.assert_array_equal(heights, shown.slice_edges[b])
        assert low * (1 - 1e-9) <= heights.min() <= heights.max() <= high  # no violin leaves the Axes
        np.testing.assert_allclose(left + right, 2 * (b + 1), rtol=1e-15)
        share = shown.density[b] / shown.density[b].max()
        np.testing.assert_allclose((right - left) / (right - left).max(), share, atol=1e-14)
    (rates,) = (c for c in ax.collections if isinstance(c, LineCollection))
    assert [tuple(s[:, 1]) for s in rates.get_segments()] == [(r, r) for r in panel.bins.event_rate[held]]
    assert [s[:, 0].mean() for s in rates.get_segments()] == pytest.approx(list(held + 1))
    (bands,) = ax.containers
    drawn = [(bar.get_y(), bar.get_y() + bar.get_height()) for bar in bands]
    np.testing.assert_allclose(drawn, np.column_stack([panel.lower, panel.upper])[held], atol=1e-15)
    below, beside = rooms(ax)
    drawn = [[bar.get_height() for bar in bars] for bars in below.containers]
    np.testing.assert_array_equal(drawn, [panel.bins.weight, panel.rejected])
    texts = [text.get_text() for text in below.texts if isinstance(text, Annotation)]
    assert texts == [f"{share:.0%}" for share in panel.rejected_share[held]]
    shows_histogram(beside, panel, axis, rejected=True)
    assert not ax.lines


def shows_standard(ax, panel, axis="probability"):
    held, x = panel.bins.weight > 0, panel.bins.mean_prob
    if axis == "probability":
        np.testing.assert_array_equal(ax.lines[1].get_xydata(), np.column_stack([x, panel.bins.event_rate])[held])
    (ends,) = (np.array(c.get_segments()).reshape(-1, 4) for c in ax.collections)
    np.testing.assert_array_equal(ends, np.column_stack([x, panel.lower, x, panel.upper])[held])
    below, beside = rooms(ax)
    ((values, edges, _),) = steps(below)
    np.testing.assert_array_equal(values, panel.bins.weight)
    np.testing.assert_array_equal(edges, panel.bins.edges)
    shows_histogram(beside, panel, axis, rejected=False)


# What is drawn


@pytest.mark.first(1)
@pytest.mark.parametrize("axis", ["probability", "log-odds"])
@pytest.mark.parametrize("binning", [1, 10, EqualMass(20)], ids=str)
@pytest.mark.parametrize(
    "data",
    [(DIGITS, PROB), (DIGITS == 3, PROB[:, 3]), (TIED, TIES), (TIED, FAR), (TIED, np.zeros(180))],
    ids=["digits", "rare", "ties", "beyond", "all beyond"],
)
def test_the_artists_carry_exactly_the_arrays_of_the_result(data, binning, axis):
    result = bin_test_curve(*data, binning=binning)
    for draw, options in ((shows, {}), (shows_standard, {"style": "standard"})):
        ax = plot_bin_test(result, axis=axis, **options)
        draw(ax, result.panels[0], axis)
        ax.figure.canvas.draw()


def test_only_what_lies_outside_of_the_accepted_probabilities_is_drawn_as_rejected():
    result = curve(EqualMass(20))
    (panel,) = result.panels
    some = np.flatnonzero((panel.rejected > 0) & (panel.rejected < panel.bins.weight))
    assert some.size > 0
    ax = plot_bin_test(result)
    base, over = violins(ax), violins(ax, over=True)
    whole = [drawing.GAP if all_rejected else drawing.FILL for all_rejected in panel.rejected == panel.bins.weight]
    assert [colour(v) for v in base] == whole
    assert drawing.FILL in whole
    assert drawing.GAP in whole
    assert len(over) == some.size
    for b, violin in zip(some, over, strict=True):
        assert colour(violin) == drawing.GAP
        np.testing.assert_array_equal(violin.get_xy(), base[b].get_xy())
        seen, at = violin.get_clip_path().get_fully_transformed_path(), b + 1
        mid = (panel.lower[b] + panel.upper[b]) / 2
        tests = {panel.lower[b] - 1e-3: True, mid: False, panel.upper[b] + 1e-3: True}
        for height, is_seen in tests.items():
            assert seen.contains_point(ax.transData.transform((at, height))) is is_seen


def test_the_standard_diagram_in_log_odds_leads_no_line_to_where_there_is_none():
    result = bin_test_curve([0, 0, 0, 1, 1, 0], [0.001, 0.002, 0.2, 0.3, 0.7, 0.8], binning=EqualMass(3))
    _, line, low = plot_bin_test(result, style="standard", axis="log-odds").lines
    assert line.get_ydata().mask.tolist() == [True, False, False]
    assert low.get_xydata().tolist() == [[0.0015, 0.0]]


# What is written


def test_of_many_bins_no_shares_are_written():
    scores = np.arange(60) / 60
    few, many = (plot_bin_test(bin_test_curve(scores > 0.5, scores, binning=n)) for n in (20, 30))
    assert len(rooms(few)[0].texts) == len(few.get_xticks()) == 20
    assert not rooms(many)[0].texts
    assert 5 < len(many.get_xticks()) < 12


# Several


@pytest.mark.parametrize("style", ["violin", "standard"])
def test_every_class_has_a_panel_with_its_name_and_above_them_stands_the_error_of_all(style):
    result = curve(EqualMass(4), notion="class-wise")
    axes = plot_bin_test(result, style=style, panels=["class 7", "class 2"])
    for ax, number in zip(axes, (7, 2), strict=True):
        panel = result.panels[number]
        if style == "violin":
            shows(ax, panel)
            assert ax.get_title() == f"class {number}: TCE {panel.error:.1f}%"
        else:
            shows_standard(ax, panel)
            assert ax.get_title() == f"class {number}"
    if style == "violin":
        (legend,) = axes[0].figure.legends
        assert legend.get_title().get_text() == f"TCE in all: {result.error:.1f}%"
        assert "rejected by exact binomial test, level 0.05" in [text.get_text() for text in legend.get_texts()]
