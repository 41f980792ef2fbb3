import numpy as np
import pytest
from hypothesis import given
from reference import multinomial as twin
from strategies import tables

from calibrant import TemperatureScaling
from calibrant.calibrators.linear import StructuredVectorScaling, VectorScaling

# Drawn rows may have no best temperature, or be of one class.
pytestmark = [
    pytest.mark.filterwarnings("ignore:only the class"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]


@given(rows=tables())
def test_no_other_weights_and_intercepts_have_a_lower_objective(rows):
    label, prob, weight = rows
    n, k = weight.sum(), prob.shape[1]
    fitted = StructuredVectorScaling(labels=range(k)).fit(prob, label, weight)
    z = twin.tempered(twin.log_of(prob), fitted.temperature_, n)
    found = twin.vector_objective(z, label, weight, fitted.coef_, fitted.intercept_, k / n, k / n)
    lowest, w, b = twin.lowest_vector(z, label, weight, k / n, k / n)
    assert found <= lowest + 1e-9
    expected = twin.softmax(twin.scores_of_vector(z, w, b))
    np.testing.assert_allclose(fitted.predict_proba(prob), expected, atol=1e-4)


def drawn(n, k=4, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.dirichlet(np.ones(k), n)
    label = (rng.random((n, 1)) > truth.cumsum(axis=1)).sum(axis=1).clip(0, k - 1)
    prob = truth ** np.linspace(0.5, 2.0, k)
    return prob / prob.sum(axis=1, keepdims=True), label


def test_the_temperature_is_that_of_temperature_scaling():
    prob, label = drawn(200)
    assert StructuredVectorScaling().fit(prob, label).temperature_ == pytest.approx(
        TemperatureScaling().fit(prob, label).temperature_, rel=1e-7
    )


def test_exponents_set_the_penalty():
    prob, label = drawn(200)
    z = twin.tempered(np.log(prob), StructuredVectorScaling().fit(prob, label).temperature_, 200)
    fitted = StructuredVectorScaling(rho=2.0, tau=0.5).fit(prob, label)
    _, w, b = twin.lowest_vector(z, label, np.ones(200), 16 / 200**0.5, 16 / 200**0.5)
    np.testing.assert_allclose(fitted.coef_, w, atol=1e-5)
    np.testing.assert_allclose(fitted.intercept_, b, atol=1e-5)


@pytest.mark.deep
def test_with_many_rows_it_is_vector_scaling_of_what_the_temperature_left():
    prob, label = drawn(100_000)
    structured = StructuredVectorScaling().fit(prob, label)
    tempered = np.exp(twin.tempered(np.log(prob), structured.temperature_, 100_000))
    vector = VectorScaling().fit(tempered, label)
    np.testing.assert_allclose(structured.predict_proba(prob), vector.predict_proba(tempered), atol=5e-3)


def test_a_penalty_without_end_leaves_temperature_scaling():
    prob, label = drawn(200)
    fitted = StructuredVectorScaling(rho=40.0).fit(prob, label)
    expected = np.exp(twin.tempered(np.log(prob), fitted.temperature_, 200))
    np.testing.assert_allclose(fitted.predict_proba(prob), expected, rtol=1e-8)


@pytest.mark.parametrize(
    ("name", "figure"), [("cifar10_lenet5", 1.31981), ("cifar100_densenet_bc", 0.85912), ("cifar100_lenet5", 3.74747)]
)
def test_figures_of_halves(data_dir, name, figure):
    """The figures come from an approximate optimum in single precision."""
    with np.load(data_dir / f"{name}.npz") as data:
        prob, label = data["P"].astype(float), data["y"]
    fitted = StructuredVectorScaling().fit(prob[:5000], label[:5000])
    occurred = fitted.predict_proba(prob[5000:])[np.arange(5000), label[5000:]]
    assert -np.log(occurred).mean() == pytest.approx(figure, abs=2e-4)
