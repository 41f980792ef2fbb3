"""CORP curves: the isotonic fit with its bands."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import isotonic
from scipy.special import expit
from strategies import columns, tables

from calibrant import corp_curve, load_digits_forecast
from calibrant.curves.corp import MOST_PLACES, places
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


@each_band
def test_whole_weights_are_repeated_rows_also_in_the_band(band):
    rng = np.random.default_rng(0)
    for most in (4, 40):
        p, times = rng.random(60), rng.integers(1, most, 60)
        y = (rng.random(60) < p).astype(int)
        weighted = corp_curve(y, p, band=band, n_resamples=50, sample_weight=times).panels[0]
        repeated = corp_curve(np.repeat(y, times), np.repeat(p, times), band=band, n_resamples=50).panels[0]
        for name in ("score", "fit", "lower", "upper", "rate", "weight"):
            np.testing.assert_allclose(getattr(weighted, name), getattr(repeated, name), rtol=1e-12)


@each_band
@given(rows=columns(), random=st.randoms(use_true_random=False))
def test_row_order_is_irrelevant(band, rows, random):
    label, score, weight = rows
    order = np.array(random.sample(range(len(label)), len(label)))
    once = corp_curve(label, score, band=band, n_resamples=5, sample_weight=weight).panels[0]
    again = corp_curve(label[order], score[order], band=band, n_resamples=5, sample_weight=weight[order]).panels[0]
    for name in ("score", "fit", "lower", "upper"):
        np.testing.assert_allclose(getattr(once, name), getattr(again, name), rtol=1e-12, atol=1e-15)


def test_two_calls_agree_and_another_seed_draws_other_labels():
    y, p = drawn(np.random.default_rng(0), 100, 1.0)
    first, again, other = (corp_curve(y, p, n_resamples=50, rng=rng).panels[0].upper for rng in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


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


def test_there_is_a_panel_a_problem_and_an_empty_one_where_a_class_is_never_predicted():
    prob = np.array([[0.9, 0.1, 0.0], [0.2, 0.8, 0.0], [0.4, 0.6, 0.0]])
    curve = corp_curve([0, 1, 0], prob, notion="top-label", n_resamples=5)
    assert [panel.name for panel in curve.panels] == ["predicted 0", "predicted 1", "predicted 2"]
    empty = curve.panels[2]
    assert empty.score.size == empty.rate.size == empty.lower.size == 0
    assert np.isnan(empty.miscalibration)
    assert [panel.name for panel in corp_curve([0, 1], [0.2, 0.8]).panels] == ["class 1"]


@pytest.mark.parametrize("label", [0, 1])
@pytest.mark.parametrize("prob", [0.0, 0.3, 1.0])
@each_band
def test_one_class_and_constant_scores_have_a_curve(band, prob, label):
    panel = corp_curve([label] * 5, [prob] * 5, band=band, n_resamples=20).panels[0]
    assert panel.rate.tolist() == [label]
    assert np.isfinite([panel.lower, panel.upper]).all()


def test_weights_that_are_not_whole_have_no_simultaneous_band():
    with pytest.raises(
        ValueError, match=r"sample_weight must be whole for a simultaneous band.*Pass band='confidence'"
    ):
        corp_curve([0, 1], [0.2, 0.8], sample_weight=[0.5, 1.0], band="simultaneous")


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"band": "honest"}, ValueError, r"band must be one of 'consistency', .* or None; got 'honest'"),
        ({"level": 5}, ValueError, r"level must be a fraction in \(0, 1\); got 5"),
        ({"n_resamples": 0}, ValueError, r"n_resamples must be a whole number, at least 1; got 0"),
        ({"n_resamples": 0.5}, TypeError, r"n_resamples must be a whole number, at least 1; got 0\.5"),
    ],
)
def test_options_that_make_no_sense_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        corp_curve([0, 1], [0.2, 0.8], **options)


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_a_frame_has_a_row_a_score(backend):
    curve = corp_curve([0, 1, 2], np.eye(3) * 0.4 + 0.2, notion="class-wise", n_resamples=5)
    frame = curve.to_frame(backend)
    assert type(frame).__module__.startswith(backend)
    columns = frame.column_names if backend == "pyarrow" else list(frame.columns)
    assert columns == ["panel", "score", "fit", "lower", "upper"]
    assert len(frame) == sum(panel.score.size for panel in curve.panels)


def test_a_curve_says_what_it_is_and_cannot_be_changed():
    curve = corp_curve([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.8], band=None)
    assert repr(curve) == "CorpCurve(binary, band=None, panels=1, steps=3)"
    with pytest.raises(AttributeError):
        curve.level = 0.1
    with pytest.raises(ValueError, match="read-only"):
        curve.panels[0].fit[0] = 0.5
