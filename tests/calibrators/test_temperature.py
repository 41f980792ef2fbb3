"""Temperature scaling, its ensemble with a uniform part, and with isotonic regression; and isotonic regression of classes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import mix_n_match, temperature
from scipy.special import softmax
from sklearn.exceptions import ConvergenceWarning
from strategies import tables

from calibrant import EnsembleTemperatureScaling, TemperatureScaling, log_loss
from calibrant.calibrators import IsotonicTemperatureScaling, MulticlassIsotonic
from calibrant.calibrators import parametric as ensemble_temperature
from calibrant.fit import minimise as newton

# Drawn rows may all be of one class, or have no best temperature; that this is said is a test of its own.
pytestmark = pytest.mark.filterwarnings("ignore:only the class", "ignore::sklearn.exceptions.ConvergenceWarning")


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
    assert found == pytest.approx(temperature.fit(logit.tolist(), label.tolist(), [1.0] * 120), rel=1e-6)


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
    assert scaling.temperature_ == pytest.approx(temperature.fit(clipped.tolist(), [0, 1, 0, 1], [1.0] * 4), rel=1e-6)
    assert scaling.predict_proba([[1.0, 0.0]]).min() > 0


# The ensemble


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
    least = mix_n_match.least_mixture_loss(*given_rows)
    assert mix_n_match.mixture_loss(*given_rows, fitted.weights_) == pytest.approx(least, abs=1e-8)


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
    prob = data["P"] / data["P"].astype(np.float64).sum(axis=1, keepdims=True)
    fitted = EnsembleTemperatureScaling().fit(prob[:5000], data["y"][:5000])
    assert log_loss(data["y"][5000:], fitted.predict_proba(prob[5000:])) == pytest.approx(expected, abs=5.1e-6)


# Isotonic regression of all classes, with a temperature and without


@pytest.mark.parametrize("epsilon", [0.0, 1e-3, 1.0])
@given(rows=tables(n_classes=st.just(3)), new=tables(n_classes=st.just(3)))
def test_isotonic_maps_of_three_classes_are_what_their_definitions_say(epsilon, rows, new):
    label, prob, weight = rows
    new = np.vstack([prob, new[1], np.eye(3), np.full((1, 3), 1 / 3)])
    lists = [column.tolist() for column in (prob, label, weight, new)]
    isotonic = MulticlassIsotonic(epsilon=epsilon, labels=range(3)).fit(prob, label, weight)
    expected = mix_n_match.multiclass_isotonic(*lists, epsilon)
    np.testing.assert_allclose(isotonic.predict_proba(new), expected, rtol=1e-9, atol=1e-12)
    tempered = IsotonicTemperatureScaling(epsilon=epsilon, labels=range(3)).fit(prob, label, weight)
    expected = mix_n_match.isotonic_temperature(*lists, tempered.temperature_, epsilon)
    np.testing.assert_allclose(tempered.predict_proba(new), expected, rtol=1e-7, atol=1e-9)
