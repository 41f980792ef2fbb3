import numpy as np
import pytest
from reference import temperature as twin
from scipy.special import softmax
from sklearn.exceptions import ConvergenceWarning

from calibrant import TemperatureScaling

# Drawn rows may all be of one class; that this is said is a test of its own.
pytestmark = pytest.mark.filterwarnings("ignore:only the class")


def drawn(sharpness, n=300, k=4, seed=0):
    """Logits whose right temperature is ``sharpness``."""
    rng = np.random.default_rng(seed)
    logit = rng.normal(0, 2, (n, k))
    prob = softmax(logit, axis=1)
    label = (rng.random((n, 1)) > prob.cumsum(axis=1)).sum(axis=1).clip(0, k - 1)
    return logit * sharpness, label


@pytest.mark.parametrize("sharpness", [0.01, 0.3, 1.0, 3.0, 100.0])
def test_the_temperature_is_the_one_that_a_search_finds(sharpness):
    logit, label = drawn(sharpness, n=120)
    found = TemperatureScaling(input="logit").fit(logit, label).temperature_
    assert found == pytest.approx(twin.fit(logit.tolist(), label.tolist(), [1.0] * 120), rel=1e-6)


@pytest.mark.parametrize("sharpness", [0.01, 1.0, 100.0])
def test_the_gradient_certifies_the_optimum(sharpness):
    """In units of log(1 / T), so that the scale of the logits drops out. ``gradient_`` is that before the last step."""
    logit, label = drawn(sharpness)
    scaling = TemperatureScaling(input="logit").fit(logit, label)
    z = logit / scaling.temperature_
    gradient = ((softmax(z, axis=1) * z).sum(axis=1) - z[np.arange(len(label)), label]).mean()
    assert abs(gradient) < 1e-10
    assert abs(scaling.gradient_ / scaling.temperature_) < 1e-5


def test_logits_and_their_probabilities_give_the_same_map():
    logit, label = drawn(1.5)
    prob = softmax(logit, axis=1)
    of_logit, of_prob = TemperatureScaling(input="logit").fit(logit, label), TemperatureScaling().fit(prob, label)
    assert of_prob.temperature_ == pytest.approx(of_logit.temperature_, rel=1e-9)
    np.testing.assert_allclose(of_prob.predict_proba(prob), of_logit.predict_proba(logit), rtol=1e-8)


def test_a_few_steps_are_enough():
    logit, label = drawn(3.0, n=2000)
    assert TemperatureScaling(input="logit").fit(logit, label).n_iter_ < 12


# Degenerate forecasts have a defined answer and a warning


@pytest.mark.parametrize("gap", [1e-3, 1.0, 10.0, 1000.0])
def test_where_every_row_is_right_the_temperature_falls_to_its_end(gap):
    with pytest.warns(
        ConvergenceWarning, match="in every row the true class has the highest probability. Temperature 0.0001 is used"
    ):
        scaling = TemperatureScaling(input="logit").fit(gap * np.eye(3), [0, 1, 2])
    assert scaling.temperature_ == pytest.approx(1e-4)


def test_no_temperature_is_so_low_that_a_probability_becomes_zero():
    with pytest.warns(ConvergenceWarning, match="in every row the true class has the highest probability"):
        scaling = TemperatureScaling().fit([[0.9, 0.1], [0.2, 0.8]], [0, 1])
    new = scaling.predict_proba([[0.9, 0.1], [0.4, 0.6]])
    assert new.min() > 0
    np.testing.assert_allclose(new, [[1, 0], [0, 1]], atol=1e-12)


@pytest.mark.parametrize("gap", [1e-3, 1.0, 10.0, 1000.0])
def test_where_every_row_is_wrong_the_temperature_rises_to_its_end(gap):
    with pytest.warns(ConvergenceWarning, match="no better than uniform. Temperature 10000 is used"):
        scaling = TemperatureScaling(input="logit").fit(gap * np.eye(3), [1, 2, 0])
    assert scaling.temperature_ == pytest.approx(1e4)


def test_a_uniform_forecast_keeps_its_temperature():
    with pytest.warns(ConvergenceWarning, match="every temperature is as good"):
        scaling = TemperatureScaling().fit(np.full((4, 2), 0.5), [0, 1, 1, 0])
    assert scaling.temperature_ == 1.0


@pytest.mark.parametrize(("scale", "end"), [(1e-8, 1e-4), (1e8, 1e4)])
def test_logits_on_a_scale_beyond_the_search_are_told_of(scale, end):
    logit, label = drawn(1.0)
    with pytest.warns(ConvergenceWarning, match="beyond the end of the search"):
        scaling = TemperatureScaling(input="logit").fit(logit * scale, label)
    assert scaling.temperature_ == pytest.approx(end, rel=1e-5)


def test_a_zero_for_what_came_is_clipped():
    prob = np.array([[1.0, 0.0], [1.0, 0.0], [0.9, 0.1], [0.2, 0.8]])
    scaling = TemperatureScaling().fit(prob, [0, 1, 0, 1])
    clipped = np.log(np.maximum(prob, 1e-12))
    assert scaling.temperature_ == pytest.approx(twin.fit(clipped.tolist(), [0, 1, 0, 1], [1.0] * 4), rel=1e-6)
    assert scaling.predict_proba([[1.0, 0.0]]).min() > 0


def test_weights_decide_whether_a_forecast_is_better_than_uniform():
    """By their weights five rows in seven are right, by their number one in three: the calibrated forecast is that share."""
    fitted = TemperatureScaling().fit([[0.8, 0.2]] * 3, [0, 1, 1], [5, 1, 1])
    assert fitted.temperature_ == pytest.approx(np.log(4.0) / np.log(2.5), rel=1e-9)
