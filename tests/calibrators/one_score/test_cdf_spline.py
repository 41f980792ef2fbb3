import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import cdf_spline as twin
from strategies import columns, scores

from calibrant.calibrators import CDFSplineCalibration

# Drawn rows may all be of one class; that this is said is a test of its own.
pytestmark = pytest.mark.filterwarnings("ignore:only the class", "ignore:no calibration row")

new_scores = st.lists(scores, min_size=1, max_size=10)


@pytest.mark.parametrize("n_knots", [2, 3, 6])
@given(rows=columns(max_rows=12), new=new_scores)
def test_the_map_is_what_its_definition_says(n_knots, rows, new):
    label, score, weight = rows
    calibrator = CDFSplineCalibration(n_knots=n_knots).fit(score, label, weight)
    distinct, added = twin.fit(score.tolist(), label.tolist(), weight.tolist(), n_knots)
    np.testing.assert_allclose(calibrator.deviation_, added, rtol=1e-7, atol=1e-8)
    expected = [twin.predict(distinct, added, s) for s in new]
    np.testing.assert_allclose(calibrator.calibrate(new), expected, rtol=1e-7, atol=1e-8)


def test_a_map_that_would_leave_the_interval_is_cut():
    score = np.linspace(0.01, 0.99, 99)
    fitted = CDFSplineCalibration().fit(score, score > 0.5)
    assert (score + fitted.deviation_).min() < 0
    assert fitted.calibrate(score).min() == 0.0


def test_a_forecast_whose_events_come_as_often_as_foretold_is_left_alone_everywhere():
    score = np.array([0.2, 0.4, 0.6])
    rows = np.repeat(score, 10), np.concatenate([np.arange(10) < 10 * s for s in score])
    fitted = CDFSplineCalibration().fit(*rows)
    new = np.linspace(0, 1, 21)
    np.testing.assert_allclose(fitted.calibrate(new), new, atol=1e-12)


def test_rows_of_equal_score_are_one_whatever_their_order():
    score = np.repeat([0.2, 0.5, 0.8], 4)
    label = np.array([0, 0, 0, 1, 0, 1, 0, 1, 1, 1, 0, 1])
    back = CDFSplineCalibration().fit(score, np.concatenate([part[::-1] for part in label.reshape(3, 4)]))
    np.testing.assert_array_equal(back.deviation_, CDFSplineCalibration().fit(score, label).deviation_)
