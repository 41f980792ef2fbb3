import importlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import tables

from calibrant import EqualMass, expected_calibration_error, reliability_curve

Y = [0, 1, 2, 1]
P = np.array([[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6], [0.7, 0.2, 0.1]])


@given(rows=tables(), level=st.sampled_from([0.3, 0.05]))
def test_every_event_rate_lies_in_its_confidence_interval(rows, level):
    label, prob, weight = rows
    for interval in ("wilson", "clopper-pearson"):
        curve = reliability_curve(
            label, prob, notion="class-wise", level=level, interval=interval, sample_weight=weight
        )
        holds(curve, "event_rate")


@given(rows=tables(), level=st.sampled_from([0.3, 0.05]))
def test_every_mean_probability_lies_in_its_consistency_interval(rows, level):
    label, prob, weight = rows
    holds(
        reliability_curve(label, prob, notion="top-label", level=level, interval="consistency", sample_weight=weight),
        "mean_prob",
    )


def holds(curve, name):
    """Assert that the interval of each bin holds a mean of it, and that an empty bin has none."""
    for panel in curve.panels:
        held = panel.bins.count > 0
        mean = np.clip(getattr(panel.bins, name)[held], 0.0, 1.0)
        assert (panel.lower[held] <= mean + 1e-12).all()
        assert (mean <= panel.upper[held] + 1e-12).all()
        assert (panel.lower[held] >= 0).all()
        assert (panel.upper[held] <= 1).all()
        assert np.isnan(panel.lower[~held]).all()


@given(rows=tables())
def test_the_calibration_error_can_be_read_off_the_curve(rows):
    label, prob, weight = rows
    bins = reliability_curve(label, prob, sample_weight=weight).panels[0].bins
    error = np.nansum(np.abs(bins.gap) * bins.weight) / bins.weight.sum()
    assert error == pytest.approx(expected_calibration_error(label, prob, sample_weight=weight), rel=1e-9, abs=1e-12)


def test_the_panel_knows_its_mean_probability_and_event_rate():
    panel = reliability_curve(Y, P).panels[0]
    assert panel.mean_prob == pytest.approx(0.65)
    assert panel.event_rate == pytest.approx(0.75)


def test_there_is_a_panel_a_problem():
    assert [panel.name for panel in reliability_curve(Y, P).panels] == ["confidence"]
    names = [panel.name for panel in reliability_curve(Y, P, notion="class-wise").panels]
    assert names == ["class 0", "class 1", "class 2"]


def test_a_class_that_is_never_predicted_has_an_empty_panel():
    panel = reliability_curve([0, 1, 1], P[[0, 1, 3]], notion="top-label").panels[2]
    assert panel.bins.count.sum() == 0
    assert np.isnan(panel.mean_prob)
    assert np.isnan(panel.lower).all()


@pytest.mark.parametrize("interval", ["wilson", "clopper-pearson", "consistency"])
@given(rows=tables())
def test_integer_weights_equal_repeated_rows_also_in_the_intervals(interval, rows):
    label, prob, weight = rows
    repeats = weight.astype(int)
    weighted = reliability_curve(label, prob, interval=interval, sample_weight=weight).panels[0]
    repeated = reliability_curve(np.repeat(label, repeats), np.repeat(prob, repeats, axis=0), interval=interval)
    np.testing.assert_allclose(weighted.lower, repeated.panels[0].lower, atol=1e-12)
    np.testing.assert_allclose(weighted.upper, repeated.panels[0].upper, atol=1e-12)


def test_without_an_interval_there_is_none():
    curve = reliability_curve(Y, P, interval=None)
    assert curve.interval is None
    assert np.isnan(curve.panels[0].lower).all()
    assert np.isnan(curve.panels[0].upper).all()


def test_an_unknown_interval_is_refused():
    with pytest.raises(ValueError, match=r"interval must be one of 'wilson', .* or None; got 'wald'\. Pass one"):
        reliability_curve(Y, P, interval="wald")


def test_the_curve_knows_where_it_comes_from():
    curve = reliability_curve(Y, P, notion="top-label", binning=EqualMass(3), level=0.1)
    assert (curve.notion, curve.binning, curve.level) == ("top-label", "EqualMass(n_bins=3)", 0.1)
    assert curve.interval == "wilson"
    assert repr(reliability_curve(Y, P)) == (
        "ReliabilityCurve(confidence, EqualWidth(n_bins=15), panels=1, bins=15, rows=4)"
    )


@pytest.mark.parametrize("level", [0.0, 1.0, 5, 95, -0.1, np.nan])
def test_a_level_in_percent_is_refused(level):
    with pytest.raises(ValueError, match=r"level must be a fraction in \(0, 1\); got .* pass level=0\.05\."):
        reliability_curve(Y, P, level=level)


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_a_frame_has_a_row_a_bin(backend):
    frame = reliability_curve(Y, P, notion="class-wise", binning=4).to_frame(backend)
    assert type(frame).__module__.startswith(backend)
    assert len(frame) == 12
    columns = frame.column_names if backend == "pyarrow" else list(frame.columns)
    assert columns == ["panel", "left", "right", "count", "weight", "mean_prob", "event_rate", "lower", "upper"]
    assert np.asarray(frame["count"]).sum() == 12


def test_a_curve_cannot_be_changed():
    curve = reliability_curve(Y, P)
    with pytest.raises(AttributeError):
        curve.level = 0.1
    with pytest.raises(ValueError, match="read-only"):
        curve.panels[0].lower[0] = 0.0
    with pytest.raises(ValueError, match="read-only"):
        curve.panels[0].bins.count[0] = 1


def test_without_a_data_frame_library_a_frame_is_refused_with_the_remedy(monkeypatch):
    monkeypatch.setattr(importlib.import_module("calibrant._core.result"), "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"pip install 'calibrant\[table\]'"):
        reliability_curve(Y, P).to_frame()
