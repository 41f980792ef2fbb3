import numpy as np
import pytest
from hypothesis import given
from reference import multinomial as twin
from strategies import tables

from calibrant.calibrators.linear import VectorScaling

# Drawn rows may all be of one class, or be separated; that this is said is a test of its own.
pytestmark = [
    pytest.mark.filterwarnings("ignore:only the class"),
    pytest.mark.filterwarnings("ignore:every class must occur"),
]


@given(rows=tables())
def test_no_other_weights_and_intercepts_have_a_lower_objective(rows):
    label, prob, weight = rows
    z = twin.log_of(prob)
    fitted = VectorScaling(labels=range(prob.shape[1])).fit(prob, label, weight)
    found = twin.vector_objective(z, label, weight, fitted.coef_, fitted.intercept_, 1e-8, 1e-8)
    assert found <= twin.lowest_vector(z, label, weight, 1e-8, 1e-8)[0] + 1e-9


def drawn(n=300, k=3, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.dirichlet(np.ones(k), n)
    label = (rng.random((n, 1)) > truth.cumsum(axis=1)).sum(axis=1).clip(0, k - 1)
    prob = truth ** np.linspace(0.5, 2.0, k)
    return prob / prob.sum(axis=1, keepdims=True), label


@pytest.mark.first(1)
@pytest.mark.parametrize("seed", range(3))
def test_the_map_is_the_one_that_a_generic_search_finds(seed):
    prob, label = drawn(seed=seed)
    fitted = VectorScaling().fit(prob, label)
    _, w, b = twin.lowest_vector(twin.log_of(prob), label, np.ones(300), 1e-8, 1e-8)
    expected = twin.softmax(twin.scores_of_vector(twin.log_of(prob), w, b))
    np.testing.assert_allclose(fitted.predict_proba(prob), expected, atol=1e-5)


def test_without_bias_there_are_no_intercepts():
    prob, label = drawn()
    fitted = VectorScaling(bias=False).fit(prob, label)
    assert (fitted.intercept_ == 0).all()
    expected = twin.softmax(np.log(prob) * fitted.coef_)
    np.testing.assert_allclose(fitted.predict_proba(prob), expected, rtol=1e-10)


def test_expected_and_observed_class_frequencies_agree():
    """What an intercept is for."""
    prob, label = drawn(n=1000)
    mean = VectorScaling().fit(prob, label).predict_proba(prob).mean(axis=0)
    np.testing.assert_allclose(mean, np.bincount(label) / 1000, atol=1e-6)


@pytest.mark.parametrize(
    ("name", "bias", "figure"),
    [
        ("cifar10_lenet5", True, 1.32034),
        ("cifar100_densenet_bc", True, 0.86693),
        ("cifar100_densenet_bc", False, 0.86238),
        ("cifar100_lenet5", True, 3.73441),
    ],
)
def test_figures_of_halves(data_dir, name, bias, figure):
    with np.load(data_dir / f"{name}.npz") as data:
        prob, label = data["P"].astype(float), data["y"]
    fitted = VectorScaling(bias=bias).fit(prob[:5000], label[:5000])
    occurred = fitted.predict_proba(prob[5000:])[np.arange(5000), label[5000:]]
    assert -np.log(occurred).mean() == pytest.approx(figure, abs=2e-5)
