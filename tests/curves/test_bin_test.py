"""The data behind the test-based diagram are those of the error, and everything that is drawn is in them."""

from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import columns, tables

from calibrant import EqualMass, EqualWidth
from calibrant.curves.bin_test import bin_test_curve
from calibrant.metrics.bin_test import bin_test_calibration_error

NOTIONS = ("confidence", "top-label", "class-wise")
TESTS = ("binomial", "mid-p", "clopper-pearson", "t")
Y, P = [0, 0, 1, 0, 1, 1], [0.05, 0.1, 0.2, 0.3, 0.7, 0.8]


@given(rows=tables(), notion=st.sampled_from(NOTIONS), test=st.sampled_from(TESTS))
def test_the_error_is_that_of_the_metric(rows, notion, test):
    label, prob, weight = rows
    options = {"notion": notion, "binning": EqualMass(3), "test": test, "level": 0.3, "sample_weight": weight}
    assert bin_test_curve(label, prob, **options).error == pytest.approx(
        bin_test_calibration_error(label, prob, **options), rel=1e-12
    )


@given(rows=columns(), test=st.sampled_from(TESTS))
def test_every_row_is_counted_once_in_profile_and_histogram(rows, test):
    label, score, weight = rows
    (panel,) = bin_test_curve(label, score, binning=EqualWidth(4), test=test, level=0.3, sample_weight=weight).panels
    np.testing.assert_array_equal(panel.profile.sum(axis=1), panel.bins.weight)
    assert panel.histogram.sum() == weight.sum()
    assert panel.histogram_rejected.sum() == panel.rejected.sum()
    assert (panel.histogram_rejected <= panel.histogram).all()
    assert (panel.rejected <= panel.bins.weight).all()


@given(rows=columns())
def test_a_slice_holds_the_predictions_between_its_edges(rows):
    label, score, weight = rows
    (panel,) = bin_test_curve(label, score, binning=EqualWidth(3), sample_weight=weight).panels
    at = panel.bins.index(score)
    for b in range(len(panel.bins)):
        own = score[at == b]
        if own.size == 0:
            assert np.isnan(panel.slice_edges[b]).all()
            continue
        assert panel.slice_edges[b, [0, -1]] == pytest.approx([own.min(), own.max()])
        reached = np.cumsum(panel.profile[b])
        for s, edge in enumerate(panel.slice_edges[b, 1:-1]):
            if (np.abs(own - edge) > 1e-12).all():
                assert reached[s] == weight[at == b][own < edge].sum()


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
    for name in ("too_low", "too_high", "lower", "upper", "profile", "slice_edges", "histogram", "rejected_share"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(panel, name)[...] = 0.0


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
