import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import mix_n_match as twin
from scipy.special import softmax
from strategies import tables

from calibrant import TemperatureScaling
from calibrant.calibrators import IsotonicTemperatureScaling

pytestmark = [
    pytest.mark.filterwarnings("ignore:only the class"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]

three = st.just(3)


def drawn(n=300, k=4, seed=0):
    rng = np.random.default_rng(seed)
    logit = rng.normal(0, 2, (n, k))
    label = (rng.random((n, 1)) > softmax(logit / 2, axis=1).cumsum(axis=1)).sum(axis=1).clip(0, k - 1)
    return softmax(logit, axis=1), label


@pytest.mark.parametrize("epsilon", [0.0, 1e-3])
@given(rows=tables(n_classes=three))
def test_the_map_is_what_its_definition_says(epsilon, rows):
    label, prob, weight = rows
    calibrator = IsotonicTemperatureScaling(epsilon=epsilon, labels=range(3)).fit(prob, label, weight)
    new = np.vstack([prob, np.eye(3), np.full((1, 3), 1 / 3)])
    expected = twin.isotonic_temperature(
        prob.tolist(), label.tolist(), weight.tolist(), new.tolist(), calibrator.temperature_, epsilon
    )
    np.testing.assert_allclose(calibrator.predict_proba(new), expected, rtol=1e-7, atol=1e-9)


def test_the_temperature_and_its_certificate_are_those_of_temperature_scaling():
    prob, label = drawn()
    ours, theirs = IsotonicTemperatureScaling().fit(prob, label), TemperatureScaling().fit(prob, label)
    assert (ours.temperature_, ours.gradient_, ours.n_iter_) == (theirs.temperature_, theirs.gradient_, theirs.n_iter_)


def test_scores_that_only_rounding_tells_apart_are_one_point():
    """The same three numbers in another order have another softmax in the last digit."""
    rows = np.array([[0.2, 0.3, 0.5], [0.2, 0.5, 0.3], [0.7, 0.2, 0.1], [0.1, 0.2, 0.7]])
    fitted = IsotonicTemperatureScaling().fit(np.tile(rows, (2, 1)), [0, 1, 0, 2, 1, 0, 1, 2])
    assert fitted.left_[0].size == np.unique(np.round(fitted.left_[0], 8)).size


def test_a_class_that_never_came_keeps_a_thousandth_of_its_score():
    prob, label = drawn(k=3)
    fitted = IsotonicTemperatureScaling(labels=range(3)).fit(prob, np.where(label == 2, 0, label))
    assert fitted.value_[2].tolist() == [0.0]
    calibrated = fitted.predict_proba(prob)[:, 2]
    assert (calibrated > 0).all()
    assert calibrated.max() < 0.01


def test_no_temperature_is_so_low_that_a_probability_becomes_zero():
    fitted = IsotonicTemperatureScaling().fit([[0.9, 0.1], [0.2, 0.8]], [0, 1])
    assert fitted.predict_proba([[0.9, 0.1], [0.4, 0.6]]).min() > 0
