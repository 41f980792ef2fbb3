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


# Degenerate forecasts have a defined answer and a warning


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
