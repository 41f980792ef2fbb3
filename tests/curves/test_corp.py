"""CORP curves: the isotonic fit with its bands."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.patches import StepPatch
from reference import isotonic, simultaneous
from scipy.special import expit
from strategies import columns, tables

from calibrant import corp_curve, load_digits_forecast
from calibrant.curves import plot_corp
from calibrant.curves.corp import MOST_PLACES, places, simultaneous_band
from calibrant.drawing import DIAGONAL
from calibrant.metrics import corp_decomposition

BANDS = ["consistency", "confidence", "simultaneous"]
each_band = pytest.mark.parametrize("band", BANDS)


@given(rows=columns())
def test_the_curve_is_the_isotonic_regression(rows):
    label, score, weight = rows
    panel = corp_curve(label, score, sample_weight=weight, band=None).panels[0]
    distinct, values = isotonic.fit(score.tolist(), label.tolist(), weight.tolist())
    assert panel.score.tolist() == distinct
    assert panel.fit == pytest.approx(values, abs=1e-12)
    assert np.isnan(panel.lower).all()
    assert np.isnan(panel.upper).all()


@given(rows=columns())
def test_the_steps_are_the_fit_without_repetition(rows):
    label, score, weight = rows
    panel = corp_curve(label, score, sample_weight=weight, band=None).panels[0]
    assert (np.diff(panel.rate) > 0).all()
    assert (panel.left <= panel.right).all()
    assert (panel.right[:-1] < panel.left[1:]).all()
    block = np.searchsorted(panel.right, panel.score)
    np.testing.assert_array_equal(panel.rate[block], panel.fit)
    assert panel.weight.sum() == weight.sum()


@each_band
@given(rows=tables())
def test_bands_lie_between_zero_and_one_and_confidence_bands_hold_the_curve(band, rows):
    label, prob, weight = rows
    for panel in corp_curve(label, prob, notion="class-wise", band=band, n_resamples=5, sample_weight=weight).panels:
        assert (panel.lower >= 0).all()
        assert (panel.lower <= panel.upper).all()
        assert (panel.upper <= 1).all()
        if band != "consistency":
            assert (panel.lower <= panel.fit).all()
            assert (panel.fit <= panel.upper).all()


def truth(p, temperature):
    return expit(np.log(p / (1 - p)) / temperature)


def drawn(rng, n, temperature):
    p = expit(rng.normal(0.0, 2.0, n))
    return (rng.random(n) < truth(p, temperature)).astype(int), p


def test_at_calibration_the_curve_lies_in_the_consistency_band_as_often_as_promised():
    """Pointwise, on average over scores: 95 % within four standard errors between data sets, and 1 % for 200 draws."""
    rng, shares = np.random.default_rng(0), []
    for run in range(100):
        panel = corp_curve(*drawn(rng, 200, 1.0), n_resamples=200, rng=run).panels[0]
        shares.append(((panel.lower <= panel.fit) & (panel.fit <= panel.upper)).mean())
    assert abs(np.mean(shares) - 0.95) < 0.01 + 4 * np.std(shares) / 10


@pytest.mark.first(1)
@pytest.mark.parametrize("temperature", [1.0, 2.0, 1e9], ids=["calibrated", "over-confident", "flat"])
def test_true_probabilities_lie_in_the_confidence_bands(temperature):
    """Pointwise, on average over scores, at least 95 %, and all at once in the simultaneous band; four standard errors off."""
    rng, pointwise, at_once = np.random.default_rng(0), [], []
    for run in range(60):
        data = drawn(rng, 200, temperature)
        panel = corp_curve(*data, band="confidence", n_resamples=200, rng=run).panels[0]
        c = truth(panel.score, temperature)
        pointwise.append(((panel.lower <= c) & (c <= panel.upper)).mean())
        panel = corp_curve(*data, band="simultaneous").panels[0]
        at_once.append(((panel.lower <= c) & (c <= panel.upper)).all())
    assert np.mean(pointwise) > 0.95 - 4 * np.std(pointwise) / np.sqrt(60)
    assert np.mean(at_once) > 0.95 - 4 * np.sqrt(0.95 * 0.05 / 60)


def test_a_panel_knows_what_its_squared_error_is_made_of():
    y, prob = load_digits_forecast()
    for notion in ("confidence", "class-wise"):
        found = corp_decomposition(y, prob, notion=notion)
        panels = corp_curve(y, prob, notion=notion, band=None).panels
        for name in ("miscalibration", "discrimination", "uncertainty"):
            assert np.mean([getattr(p, name) for p in panels]) == pytest.approx(found[name], rel=1e-12)
        assert np.mean([p.brier for p in panels]) == pytest.approx(found.total, rel=1e-12)


def test_of_many_scores_the_band_stands_at_some_that_are_spread_over_ranks_and_scores():
    rng = np.random.default_rng(0)
    score = np.sort(rng.random(50_000) ** 8)
    at = places(score)
    assert at.size <= MOST_PLACES
    assert (at[0], at[-1]) == (0, score.size - 1)
    assert np.diff(at).max() <= 51
    assert np.diff(score[at]).max() < 0.002
    np.testing.assert_array_equal(places(score[:MOST_PLACES]), np.arange(MOST_PLACES))


@each_band
def test_the_band_at_some_scores_is_the_band_at_all_of_them(band, monkeypatch):
    y, p = drawn(np.random.default_rng(0), 300, 1.5)
    whole = corp_curve(y, p, band=band, n_resamples=50).panels[0]
    monkeypatch.setattr("calibrant.curves.corp.MOST_PLACES", 40)
    some = corp_curve(y, p, band=band, n_resamples=50).panels[0]
    at = np.searchsorted(whole.score, some.score)
    for name in ("score", "fit", "lower", "upper"):
        np.testing.assert_array_equal(getattr(some, name), getattr(whole, name)[at])


def test_weights_that_are_not_whole_have_no_simultaneous_band():
    with pytest.raises(ValueError, match=r"must be whole for a simultaneous band.*Pass band='confidence'"):
        corp_curve([0, 1], [0.2, 0.8], sample_weight=[0.5, 1.0], band="simultaneous")


# Pictures


Y, PROB = load_digits_forecast()
Y, PROB = Y[:300], PROB[:300]


def curve(**options):
    return corp_curve(Y, PROB, n_resamples=20, **options)


def fits(ax):
    """Lines of fits: neither the diagonal nor what stands in the legend only."""
    return [line for line in ax.lines if line.get_label() != DIAGONAL and line.get_xdata().size]


def bands(ax):
    return [c for c in ax.collections if isinstance(c, PolyCollection)]


def below(ax):
    others = [*ax.child_axes, *(a for a in ax.figure.axes if a is not ax)]
    return next(a for a in others if any(isinstance(p, StepPatch) for p in a.patches))


def words(ax):
    legend = ax.get_legend()
    return [] if legend is None else [legend.get_title().get_text(), *(text.get_text() for text in legend.get_texts())]


def shows(ax, panel, number=0):
    """Assert that the artists of one curve carry the arrays of its panel."""
    x, y = np.column_stack([panel.left, panel.right]).ravel(), np.repeat(panel.rate, 2)
    np.testing.assert_array_equal(fits(ax)[number].get_xydata(), np.column_stack([x, y]))
    blocks = [c for c in ax.collections if isinstance(c, LineCollection)][number]
    np.testing.assert_array_equal(np.array(blocks.get_segments()).reshape(-1, 2), np.column_stack([x, y]))
    stairs = below(ax).patches[number].get_data()
    np.testing.assert_array_equal(stairs.values, panel.histogram.count)
    np.testing.assert_array_equal(stairs.edges, panel.histogram.edges)


def corners(ax, number=0):
    return {tuple(corner) for corner in bands(ax)[number].get_paths()[0].vertices}


@pytest.mark.parametrize("band", ["consistency", "confidence"])
def test_the_artists_carry_exactly_the_arrays_of_the_result(band):
    found = curve(band=band)
    ax, panel = found.plot(), found.panels[0]
    shows(ax, panel)
    for ends in (panel.lower, panel.upper):
        assert set(zip(panel.score, ends, strict=True)) <= corners(ax)


def test_a_simultaneous_lower_bound_holds_on_to_the_next_score_and_an_upper_one_from_the_one_before():
    found = curve(band="simultaneous")
    ax, panel = found.plot(), found.panels[0]
    shows(ax, panel)
    expected = set(zip(panel.score, panel.lower, strict=True)) | set(
        zip(panel.score[1:], panel.lower[:-1], strict=True)
    )
    expected |= set(zip(panel.score, panel.upper, strict=True)) | set(
        zip(panel.score[:-1], panel.upper[1:], strict=True)
    )
    assert expected <= corners(ax)


def test_every_class_has_a_panel_with_its_name_and_terms():
    found = curve(notion="class-wise")
    axes = found.plot()
    assert [ax.get_title() for ax in axes] == [panel.name for panel in found.panels]
    for ax, panel in zip(axes, found.panels, strict=True):
        shows(ax, panel)
        assert ax.texts[0].get_text() == f"MCB {panel.miscalibration:.4f}\nDSC {panel.discrimination:.4f}"


def test_the_legend_says_what_the_band_is_and_what_the_score_is_made_of():
    for band, word in [
        ("consistency", "95% if calibrated"),
        ("confidence", "95% confidence at each score"),
        ("simultaneous", "95% confidence at all scores"),
    ]:
        found = curve(band=band)
        panel = found.panels[0]
        terms = f"MCB {panel.miscalibration:.4f}   DSC {panel.discrimination:.4f}   UNC {panel.uncertainty:.4f}"
        assert words(found.plot()) == [terms, DIAGONAL, word, "isotonic fit"]


def test_forecasts_are_drawn_over_each_other_with_their_terms():
    curves = {"before": curve(), "after": corp_curve(Y, 0.5 * PROB + 0.05, n_resamples=20)}
    ax = plot_corp(curves)
    for number, found in enumerate(curves.values()):
        shows(ax, found.panels[0], number)
    assert fits(ax)[0].get_color() != fits(ax)[1].get_color()
    panels = [found.panels[0] for found in curves.values()]
    terms = [f"MCB {panel.miscalibration:.4f}, DSC {panel.discrimination:.4f}" for panel in panels]
    assert words(ax)[1:] == [DIAGONAL, f"before: {terms[0]}", f"after: {terms[1]}"]


@pytest.mark.parametrize("options", [{"band": False}, {"histogram": False}])
def test_band_and_histogram_can_be_left_out(options):
    ax = curve().plot(**options)
    assert bool(bands(ax)) == options.get("band", True)
    assert bool(ax.child_axes) == options.get("histogram", True)


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
