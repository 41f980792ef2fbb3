import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import centered_isotonic as twin
from strategies import columns, scores

from calibrant import IsotonicCalibration
from calibrant.calibrators import CenteredIsotonicCalibration

# Drawn rows may all be of one class; that this is said is a test of its own.
pytestmark = pytest.mark.filterwarnings("ignore:only the class", "ignore:no calibration row")

new_scores = st.lists(scores, min_size=1, max_size=20)
some_weights = st.one_of(st.integers(1, 4), st.floats(0.1, 5.0))


@given(rows=columns(weights=some_weights), new=new_scores)
def test_the_map_is_what_its_definition_says(rows, new):
    label, score, weight = rows
    fitted = CenteredIsotonicCalibration(finite=None).fit(score, label, weight)
    dots = twin.points(score.tolist(), label.tolist(), weight.tolist())
    near = [*new, *score.tolist()]
    np.testing.assert_allclose(fitted.calibrate(near), [twin.calibrated(dots, s) for s in near], rtol=1e-9, atol=1e-12)


def test_the_worked_example_of_four_points():
    """Two rows out of order become one point in their middle: cir-model prints 32 of 100 at 3 and 37.5 of 100 beyond."""
    score = np.repeat([0.1, 0.2, 0.3, 0.4], 100)
    label = np.concatenate([np.arange(100) < events for events in (1, 21, 41, 34)])
    fitted = CenteredIsotonicCalibration(finite=None).fit(score, label)
    assert fitted.calibrate([0.1, 0.2, 0.3, 0.4]) == pytest.approx([0.01, 0.21, 0.32, 0.375])


@pytest.mark.parametrize("finite", ["smooth", "clip", 0.01])
@given(rows=columns(), new=new_scores)
def test_finite_keeps_the_map_off_0_and_1(finite, rows, new):
    label, score, weight = rows
    fitted = CenteredIsotonicCalibration(finite=finite).fit(score, label, weight)
    blocks = IsotonicCalibration(finite=finite).fit(score, label, weight)
    assert fitted.value_.tolist() == blocks.value_.tolist()
    prob = fitted.predict_proba(new)
    assert prob.min() > 0
