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


# What is kept


def many(n, shape=0.3):
    rng = np.random.default_rng(0)
    score = rng.beta(shape, 5 * shape, n)
    return score, rng.random(n) < 0.9 * score**1.6 + 0.03


def test_a_saved_map_does_not_grow_with_the_rows_and_comes_back_to_the_last_bit(tmp_path):
    fitted = {n: CDFSplineCalibration().fit(*many(n)) for n in (20_000, 100_000)}
    for n, one in fitted.items():
        save_calibrator(one, tmp_path / f"{n}.json")
        assert (tmp_path / f"{n}.json").stat().st_size < 260_000
        assert len(to_numpy(one)) < 120_000
    new = np.linspace(0.0, 1.0, 1001)
    np.testing.assert_array_equal(load_calibrator(tmp_path / f"{n}.json").calibrate(new), one.calibrate(new))
