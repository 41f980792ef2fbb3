import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import near_isotonic as twin
from strategies import columns, scores

from calibrant.calibrators.isotonic import EnsembleNearIsotonic, NearIsotonicCalibration

# Drawn rows may all be of one class; that this is said is a test of its own.
pytestmark = pytest.mark.filterwarnings("ignore:only the class")

any_weights = st.one_of(st.integers(1, 4), st.sampled_from([0.1, 0.3, 1.5]), st.floats(0.01, 3.0))


@given(rows=columns(max_rows=40))
def test_the_map_is_the_average_over_the_whole_path(rows):
    label, score, weight = rows
    distinct, mass, events = twin.points(score.tolist(), label.tolist(), weight.tolist())
    expected, weights = twin.ensemble(mass, events)
    fitted = EnsembleNearIsotonic(finite=None).fit(score, label, weight)
    np.testing.assert_allclose(fitted.calibrate(distinct), expected, atol=1e-9)
    assert sorted(fitted.weight_)[::-1] == pytest.approx(sorted(weights)[::-1][: fitted.weight_.size], abs=1e-9)


@given(rows=columns(weights=any_weights), new=st.lists(scores, min_size=1, max_size=10))
def test_the_map_is_the_weighted_sum_of_its_fits(rows, new):
    label, score, weight = rows
    fitted = EnsembleNearIsotonic(finite=None).fit(score, label, weight)
    fits = [
        NearIsotonicCalibration(penalty=penalty, finite=None).fit(score, label, weight).calibrate(new)
        for penalty in fitted.penalty_.tolist()
    ]
    np.testing.assert_allclose(fitted.calibrate(new), fitted.weight_ @ fits, atol=1e-12)
