import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import cdf_spline as twin
from strategies import columns, scores

from calibrant import load_calibrator, save_calibrator
from calibrant.calibrators import CDFSplineCalibration
from calibrant.interop import to_numpy

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


# What is kept


def many(n, shape=0.3):
    rng = np.random.default_rng(0)
    score = rng.beta(shape, 5 * shape, n)
    return score, rng.random(n) < 0.9 * score**1.6 + 0.03


@pytest.mark.parametrize(("shape", "n", "most"), [(1.0, 3000, 7e-4), (0.3, 3000, 7e-4), (1.0, 200_000, 2e-4)])
def test_the_scores_that_are_kept_give_the_map_of_all_of_them(shape, n, most, monkeypatch):
    score, event = many(n, shape)
    fitted = CDFSplineCalibration().fit(score, event)
    monkeypatch.setattr("calibrant.calibrators.parametric.PARTS", n)
    of_all = CDFSplineCalibration().fit(score, event)
    assert (fitted.score_.size <= 1024, of_all.score_.size) == (True, np.unique(score).size)
    new = np.append(score[:: n // 1000], np.linspace(0.0, 1.0, 1001))
    np.testing.assert_allclose(fitted.calibrate(new), of_all.calibrate(new), rtol=0.0, atol=most)


def test_a_saved_map_does_not_grow_with_the_rows_and_comes_back_to_the_last_bit(tmp_path):
    fitted = {n: CDFSplineCalibration().fit(*many(n)) for n in (20_000, 100_000)}
    for n, one in fitted.items():
        save_calibrator(one, tmp_path / f"{n}.json")
        assert (tmp_path / f"{n}.json").stat().st_size < 260_000
        assert len(to_numpy(one)) < 120_000
    new = np.linspace(0.0, 1.0, 1001)
    np.testing.assert_array_equal(load_calibrator(tmp_path / f"{n}.json").calibrate(new), one.calibrate(new))


@pytest.mark.parametrize("n", [1024, 1025])
def test_up_to_1024_scores_all_are_kept_whatever_the_rows_of_each(n):
    score = np.arange(n) / n
    fitted = CDFSplineCalibration().fit(score, np.arange(n) % 3 == 0, np.where(np.arange(n) == 500, 1e6, 1.0))
    assert (fitted.score_.size == n) == (n == 1024)
    assert (fitted.score_[0], fitted.score_[-1]) == (score[0], score[-1])
