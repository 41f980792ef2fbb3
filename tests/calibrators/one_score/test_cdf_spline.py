import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import cdf_spline as twin
from strategies import columns, scores

from calibrant import ByNotion, load_digits_forecast
from calibrant.calibrators import CDFSplineCalibration

# Drawn rows may all be of one class; that this is said is a test of its own.
pytestmark = pytest.mark.filterwarnings("ignore:only the class", "ignore:no calibration row")

new_scores = st.lists(scores, min_size=1, max_size=10)


def drawn(n=2000, seed=0):
    """Events occur at a rate of the square of the score."""
    rng = np.random.default_rng(seed)
    score = rng.random(n)
    return score, (rng.random(n) < score**2).astype(int)


@pytest.mark.parametrize("n_knots", [2, 3, 6])
@given(rows=columns(max_rows=12), new=new_scores)
def test_the_map_is_what_its_definition_says(n_knots, rows, new):
    label, score, weight = rows
    calibrator = CDFSplineCalibration(n_knots=n_knots).fit(score, label, weight)
    distinct, added = twin.fit(score.tolist(), label.tolist(), weight.tolist(), n_knots)
    np.testing.assert_allclose(calibrator.deviation_, added, rtol=1e-7, atol=1e-8)
    expected = [twin.predict(distinct, added, s) for s in new]
    np.testing.assert_allclose(calibrator.calibrate(new), expected, rtol=1e-7, atol=1e-8)


@given(rows=columns(), new=new_scores)
def test_values_stay_between_zero_and_one(rows, new):
    label, score, weight = rows
    calibrated = CDFSplineCalibration().fit(score, label, weight).calibrate(new)
    assert calibrated.min() >= 0.0
    assert calibrated.max() <= 1.0


def test_a_map_that_would_leave_the_interval_is_cut():
    score = np.linspace(0.01, 0.99, 99)
    fitted = CDFSplineCalibration().fit(score, score > 0.5)
    assert (score + fitted.deviation_).min() < 0
    assert fitted.calibrate(score).min() == 0.0


def test_a_smooth_map_is_found_in_the_middle():
    score, label = drawn(n=200_000)
    fitted = CDFSplineCalibration().fit(score, label)
    inside = np.linspace(0.1, 0.9, 81)
    np.testing.assert_allclose(fitted.calibrate(inside), inside**2, atol=0.02)


def test_few_knots_do_not_follow_single_rows():
    score, label = drawn(n=500)
    turns = np.diff(np.sign(np.diff(CDFSplineCalibration().fit(score, label).deviation_))) != 0
    assert turns.sum() <= 5


def test_a_forecast_whose_events_come_as_often_as_foretold_is_left_alone_everywhere():
    score = np.array([0.2, 0.4, 0.6])
    rows = np.repeat(score, 10), np.concatenate([np.arange(10) < 10 * s for s in score])
    fitted = CDFSplineCalibration().fit(*rows)
    new = np.linspace(0, 1, 21)
    np.testing.assert_allclose(fitted.calibrate(new), new, atol=1e-12)


@given(label=st.lists(st.integers(0, 1), min_size=1, max_size=9), score=scores)
def test_a_single_score_becomes_its_event_rate(label, score):
    fitted = CDFSplineCalibration().fit(np.full(len(label), score), label)
    assert fitted.calibrate([score])[0] == pytest.approx(np.mean(label), abs=1e-12)


def test_rows_of_equal_score_are_one_whatever_their_order():
    score = np.repeat([0.2, 0.5, 0.8], 4)
    label = np.array([0, 0, 0, 1, 0, 1, 0, 1, 1, 1, 0, 1])
    back = CDFSplineCalibration().fit(score, np.concatenate([part[::-1] for part in label.reshape(3, 4)]))
    np.testing.assert_array_equal(back.deviation_, CDFSplineCalibration().fit(score, label).deviation_)


def test_exchanging_the_classes_exchanges_the_probabilities():
    score, label = drawn(n=300)
    score = np.round(score, 3)
    one = CDFSplineCalibration().fit(score, label).calibrate(score)
    other = CDFSplineCalibration().fit(1 - score, 1 - label).calibrate(1 - score)
    np.testing.assert_allclose(one, 1 - other, atol=1e-9)


def test_between_scores_the_nearer_one_counts_more():
    fitted = CDFSplineCalibration().fit([0.2, 0.2, 0.6, 0.6], [0, 0, 1, 0])
    off = fitted.calibrate([0.3])[0] - 0.3
    assert off == pytest.approx(0.75 * fitted.deviation_[0] + 0.25 * fitted.deviation_[1], abs=1e-12)


def test_the_confidence_of_a_forecast_is_repaired():
    y, prob = load_digits_forecast()
    label, score = ByNotion(CDFSplineCalibration(), "confidence").fit(prob, y).predict_top(prob)
    before = abs(prob.max(axis=1).mean() - (label == y).mean())
    assert abs(score.mean() - (label == y).mean()) < before


@pytest.mark.parametrize("n_knots", [1, 0, -3, 2.5, "six", True, None])
def test_a_number_of_knots_that_is_no_whole_number_of_two_or_more_is_refused(n_knots):
    with pytest.raises((ValueError, TypeError), match="n_knots must be a whole number, at least 2; got"):
        CDFSplineCalibration(n_knots=n_knots).fit([0.2, 0.6], [0, 1])
