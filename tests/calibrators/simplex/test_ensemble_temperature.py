import numpy as np
import pytest
from hypothesis import given
from reference import mix_n_match as twin
from scipy.special import softmax
from sklearn.exceptions import ConvergenceWarning
from strategies import tables

from calibrant import EnsembleTemperatureScaling, log_loss
from calibrant.calibrators import temperature as ensemble_temperature
from calibrant.fit import minimise as newton

pytestmark = [
    pytest.mark.filterwarnings("ignore:only the class"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]


def noisy(n=2000, k=5, share=0.1, seed=0):
    """Over-confident, and a share of the labels is drawn at random: what the uniform part is for."""
    rng = np.random.default_rng(seed)
    logit = rng.normal(0, 2, (n, k))
    label = (rng.random((n, 1)) > softmax(logit, axis=1).cumsum(axis=1)).sum(axis=1).clip(0, k - 1)
    label = np.where(rng.random(n) < share, rng.integers(0, k, n), label)
    return softmax(2 * logit, axis=1), label


@pytest.mark.parametrize("seed", range(5))
def test_the_loss_is_the_one_that_a_generic_optimiser_finds(seed):
    prob, label = noisy(n=120, seed=seed)
    fitted = EnsembleTemperatureScaling().fit(prob, label)
    given_rows = prob.tolist(), label.tolist(), [1.0] * 120, fitted.temperature_
    assert twin.mixture_loss(*given_rows, fitted.weights_) == pytest.approx(
        twin.least_mixture_loss(*given_rows), abs=1e-8
    )


@given(rows=tables())
def test_weights_lie_on_the_simplex_and_are_certified(rows):
    label, prob, weight = rows
    fitted = EnsembleTemperatureScaling(labels=range(prob.shape[1])).fit(prob, label, weight)
    assert (fitted.weights_ >= 0).all()
    assert fitted.weights_.sum() == pytest.approx(1.0, abs=1e-12)
    assert fitted.gradient_ <= ensemble_temperature.CERTAIN


def test_a_forecast_worse_than_uniform_keeps_its_predicted_class():
    prob = np.array([[0.7, 0.2, 0.1], [0.1, 0.7, 0.2], [0.2, 0.1, 0.7]])
    fitted = EnsembleTemperatureScaling().fit(prob, [2, 0, 1])
    assert fitted.weights_ == pytest.approx([0, 0, 1], abs=1e-5)
    assert fitted.predict(prob).tolist() == [0, 1, 2]


def test_weights_that_are_not_optimal_are_told_of(monkeypatch):
    monkeypatch.setattr(newton, "MOST_STEPS", 1)
    with pytest.warns(ConvergenceWarning, match="the weights must have a KKT residual below 1e-08; got"):
        EnsembleTemperatureScaling().fit(*noisy())


@pytest.mark.parametrize(
    ("name", "expected"), [("cifar10_lenet5", 1.32619), ("cifar100_densenet_bc", 0.86661), ("cifar100_lenet5", 3.81405)]
)
def test_its_figures_on_networks(name, expected, data_dir):
    data = np.load(data_dir / f"{name}.npz")
    prob = data["P"].astype(np.float64)
    prob /= prob.sum(axis=1, keepdims=True)
    fitted = EnsembleTemperatureScaling().fit(prob[:5000], data["y"][:5000])
    assert log_loss(data["y"][5000:], fitted.predict_proba(prob[5000:])) == pytest.approx(expected, abs=5.1e-6)
