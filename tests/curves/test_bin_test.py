"""The data behind the test-based diagram are those of the error, and everything that is drawn is in them."""

from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logit
from strategies import columns, tables

from calibrant import EqualMass
from calibrant.binning import Unique
from calibrant.curves.bin_test import bin_test_curve
from calibrant.metrics.binned import bin_test_calibration_error

NOTIONS = ("confidence", "top-label", "class-wise")
TESTS = ("binomial", "mid-p", "clopper-pearson", "t")
ENDS = (7, 10, 15, 20, 25, 30)
Y, P = [0, 0, 1, 0, 1, 1], [0.05, 0.1, 0.2, 0.3, 0.7, 0.8]


@given(rows=tables(), notion=st.sampled_from(NOTIONS), test=st.sampled_from(TESTS))
def test_the_error_is_that_of_the_metric(rows, notion, test):
    label, prob, weight = rows
    options = {"notion": notion, "binning": EqualMass(3), "test": test, "level": 0.3, "sample_weight": weight}
    assert bin_test_curve(label, prob, **options).error == pytest.approx(
        bin_test_calibration_error(label, prob, **options), rel=1e-12
    )


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
def test_every_row_is_counted_once_in_profile_and_histogram_or_beyond_it(rows, test, shrink, scale):
    label, score, weight = rows
    options = {"binning": EqualMass(4), "test": test, "level": 0.3, "sample_weight": weight}
    (panel,) = bin_test_curve(label, score * shrink, **options).panels
    shown = getattr(panel, scale)
    np.testing.assert_array_equal(shown.profile.sum(axis=1), panel.bins.weight)
    assert shown.histogram.sum() + shown.beyond.sum() == weight.sum()
    assert shown.histogram_rejected.sum() + shown.beyond_rejected.sum() == panel.rejected.sum()
    assert (shown.histogram_rejected <= shown.histogram).all()
    assert (shown.beyond_rejected <= shown.beyond).all()
    assert (panel.rejected <= panel.bins.weight).all()


@given(rows=columns(), shrink=EXTREME, upward=st.booleans())
def test_beyond_are_the_rows_that_log_odds_do_not_reach(rows, shrink, upward):
    label, score, weight = rows
    score = 1 - score * shrink if upward else score * shrink
    (panel,) = bin_test_curve(label, score, binning=EqualMass(3), sample_weight=weight).panels
    at = panel.bins.index(score)
    least, greatest = ends_of(panel)
    outside = [(score < least) * weight, (score > greatest) * weight]
    np.testing.assert_array_equal(panel.log_odds.beyond, [np.bincount(at, rows, len(panel.bins)) for rows in outside])
    assert not panel.probability.beyond.any()


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


@given(rows=columns(), scale=SCALES)
def test_a_column_holds_the_predictions_between_its_edges(rows, scale):
    label, score, weight = rows
    (panel,) = bin_test_curve(label, score, binning=3, sample_weight=weight).panels
    shown = getattr(panel, scale)
    reached = np.cumsum(shown.histogram) + shown.beyond[0].sum()
    for column, edge in enumerate(shown.histogram_edges[1:-1]):
        if (np.abs(score - edge) > 1e-9).all():
            assert reached[column] == weight[score < edge].sum()


def test_parts_are_equal_on_their_scale():
    score = np.geomspace(1e-9, 1e-2, 300)
    (panel,) = bin_test_curve(score > 0.005, score, binning=1).panels
    for shown, scale in ((panel.probability, np.asarray), (panel.log_odds, logit)):
        for edges in (shown.slice_edges[0], shown.histogram_edges):
            widths = np.diff(scale(edges))
            np.testing.assert_allclose(widths, widths.mean(), rtol=1e-6)
    assert panel.log_odds.profile[0].max() <= 2 * panel.log_odds.profile[0].min()
    assert panel.probability.profile[0, 0] > 200  # why each scale has slices of its own


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
    columns = [
        bin_test_curve([0, 1] * n, [0.2, 0.7] * n, binning=1).panels[0].probability.histogram.size
        for n in (5, 500, 50_000)
    ]
    assert columns == [10, 18, 50]


def test_predictions_beyond_carry_their_verdicts():
    score = np.repeat([1e-40, 1e-35, 0.5, 1.0], 100)
    label = np.repeat([0, 1, 0, 1], [100, 1, 149, 150])
    (panel,) = bin_test_curve(label, score, binning=Unique()).panels
    assert panel.log_odds.beyond.tolist() == [[100, 100, 0, 0], [0, 0, 0, 100]]
    assert panel.log_odds.beyond_rejected.tolist() == [[0, 100, 0, 0], [0, 0, 0, 0]]


def test_rejected_predictions_are_too_low_below_the_event_rate_and_too_high_above_it():
    label = np.repeat([0, 1], 50)[np.random.default_rng(0).permutation(100)]
    score = np.linspace(0.01, 0.99, 100)
    (panel,) = bin_test_curve(label, score, binning=1).panels
    assert panel.too_low[0] == (score < panel.lower[0]).sum() > 0
    assert panel.too_high[0] == (score > panel.upper[0]).sum() > 0
    assert panel.rejected_share[0] == (panel.too_low + panel.too_high)[0] / 100
    assert panel.error == pytest.approx(100 * panel.rejected_share[0])


@given(rows=columns(), test=st.sampled_from(TESTS))
def test_what_is_rejected_lies_outside_of_the_ends_but_for_the_exact_test(rows, test):
    label, score, weight = rows
    (panel,) = bin_test_curve(label, score, binning=2, test=test, level=0.3, sample_weight=weight).panels
    at = panel.bins.index(score)
    inside = (score > panel.lower[at] * (1 + 1e-6)) & (score < panel.upper[at] * (1 - 1e-6))
    most = np.bincount(at, weight * ~inside, 2)
    if test != "binomial":
        assert (panel.rejected <= most).all()
    outside = (score < panel.lower[at] * (1 - 1e-6)) | (1 - score < (1 - panel.upper[at]) * (1 - 1e-6))
    assert (panel.rejected >= np.bincount(at, weight * outside, 2)).all()


def test_a_class_that_is_never_predicted_has_a_panel_without_rows():
    curve = bin_test_curve([0, 1], [[0.7, 0.3, 0.0], [0.2, 0.8, 0.0]], notion="top-label")
    assert [panel.bins.weight.sum() for panel in curve.panels] == [1.0, 1.0, 0.0]
    assert np.isnan(curve.panels[2].error)
    assert curve.panels[2].rejected.tolist() == [0.0]
    assert curve.error == bin_test_calibration_error([0, 1], [[0.7, 0.3, 0.0], [0.2, 0.8, 0.0]], notion="top-label")


def test_the_result_is_frozen():
    curve = bin_test_curve(Y, P)
    with pytest.raises(FrozenInstanceError):
        curve.level = 0.1
    panel = curve.panels[0]
    arrays = [getattr(panel, name) for name in ("too_low", "too_high", "lower", "upper", "rejected_share")]
    for array in (*arrays, *vars(panel.probability).values(), *vars(panel.log_odds).values()):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0.0


def test_the_frame_has_a_row_a_bin():
    frame = bin_test_curve(Y, P, binning=3).to_frame()
    assert list(frame.columns) == [
        *("panel", "left", "right", "count", "weight", "mean_prob", "event_rate"),
        *("lower", "upper", "too_low", "too_high", "rejected", "rejected_share"),
    ]
    assert frame["count"].tolist() == [4, 0, 2]


def test_the_repr_says_where_the_figures_come_from():
    assert repr(bin_test_curve(Y, P, binning=2, test="t", level=0.1)) == (
        "BinTestCurve(binary, EqualWidth(n_bins=2), test='t', level=0.1, panels=1, bins=2, error=33.33)"
    )


def test_weights_that_are_no_counts_are_refused():
    with pytest.raises(ValueError, match="sample_weight must hold whole numbers"):
        bin_test_curve(Y, P, sample_weight=np.full(6, 0.5))


def test_a_level_that_is_no_fraction_is_refused():
    with pytest.raises(ValueError, match="level must be a number, above 0 and below 1; got 5"):
        bin_test_curve(Y, P, level=5)


def test_one_row_of_a_hundred_may_lie_beyond_the_usual_log_odds():
    label = np.arange(100) % 2
    ends = [ends_of(bin_test_curve(label, [1e-9] * n + [0.5] * (100 - n), binning=2).panels[0])[0] for n in (1, 2)]
    assert ends == [1e-7, 1e-10]
