import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import scaling_binning as twin
from strategies import columns, scores

from calibrant import IsotonicCalibration, PlattScaling
from calibrant.calibrators import BinaryCalibrator, ScalingBinning

# Drawn rows may all be of one class, and be separable; that this is said is a test of its own.
pytestmark = [
    pytest.mark.filterwarnings("ignore:only the class"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]

new_scores = st.lists(scores, min_size=1, max_size=20)


class Square(BinaryCalibrator):
    """A map without parameters, whose values are known."""

    def _fit(self, problem):
        self.rows_ = problem.size

    def _apply(self, score):
        return score**2


class Tent(BinaryCalibrator):
    """A map that goes up and down."""

    def _fit(self, problem):
        self.rows_ = problem.size

    def _apply(self, score):
        return 1 - 2 * np.abs(score - 0.5)


@pytest.mark.parametrize("inner", [Square(), Tent(), IsotonicCalibration()], ids=["rising", "up and down", "isotonic"])
@given(rows=columns(), n_bins=st.integers(1, 12), new=new_scores)
def test_the_map_is_what_its_definition_says(inner, rows, n_bins, new):
    label, score, weight = rows
    fitted = ScalingBinning(inner, n_bins=n_bins).fit(score, label, weight)
    values = np.repeat(fitted.calibrator_._apply(score), weight.astype(int))
    edges, means = twin.fit(values.tolist(), n_bins)
    assert fitted.edges_.tolist() == edges
    expected = [twin.calibrated(edges, means, g) for g in fitted.calibrator_._apply(np.array(new)).tolist()]
    np.testing.assert_allclose(fitted.calibrate(new), expected, rtol=1e-12)


def test_logits_reach_the_map_as_they_are():
    logit, label = np.array([100.0, 200.0, 300.0, 400.0]), [0, 0, 1, 1]
    fitted = ScalingBinning(input="logit").fit(logit, label)
    expected = PlattScaling(input="logit").fit(logit, label).calibrate(logit)
    assert (np.diff(expected) > 0.1).any()
    np.testing.assert_allclose(fitted.calibrate(logit), expected, rtol=1e-12)
    np.testing.assert_array_equal(fitted.predict_proba(logit)[:, 1], fitted.calibrate(logit))
    table = np.column_stack([0 * logit, logit])
    of_two = ScalingBinning(input="logit").fit(table, label)
    np.testing.assert_allclose(of_two.predict_proba(table)[:, 1], expected, rtol=1e-12)


def test_logits_and_their_probabilities_are_mapped_alike():
    rng = np.random.default_rng(0)
    logit = rng.normal(0, 2, 400)
    label = (rng.random(400) < 1 / (1 + np.exp(-0.5 * logit))).astype(int)
    prob = 1 / (1 + np.exp(-logit))
    for inner in (PlattScaling(), IsotonicCalibration()):
        one, other = ScalingBinning(inner).fit(prob, label), ScalingBinning(inner, input="logit").fit(logit, label)
        np.testing.assert_allclose(other.calibrate(logit), one.calibrate(prob), rtol=1e-6)
