import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import multinomial as twin
from strategies import tables

from calibrant.calibrators.linear import StructuredMatrixScaling, StructuredVectorScaling

# Drawn rows may have no best temperature, or be of one class.
pytestmark = [
    pytest.mark.filterwarnings("ignore:only the class"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]


@settings(max_examples=15)
@given(rows=tables(n_classes=st.integers(2, 3)))
def test_no_other_matrix_has_a_lower_objective(rows):
    label, prob, weight = rows
    n, k = weight.sum(), prob.shape[1]
    fitted = StructuredMatrixScaling(labels=range(k)).fit(prob, label, weight)
    z = twin.tempered(twin.log_of(prob), fitted.temperature_, n)
    penalties = (k / n, k * (k - 1) / n, k / n)
    found = twin.matrix_objective(z, label, weight, fitted.coef_, fitted.intercept_, *penalties)
    lowest, matrix, b = twin.lowest_matrix(z, label, weight, *penalties)
    assert found <= lowest + 1e-9
    expected = twin.softmax(twin.scores_of_matrix(z, matrix, b))
    np.testing.assert_allclose(fitted.predict_proba(prob), expected, atol=1e-4)


def drawn(n, k=4, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.dirichlet(np.ones(k), n)
    label = (rng.random((n, 1)) > truth.cumsum(axis=1)).sum(axis=1).clip(0, k - 1)
    prob = np.exp(np.log(truth) @ (np.eye(k) + rng.normal(0, 0.3, (k, k))))
    return prob / prob.sum(axis=1, keepdims=True), label


def test_exponents_set_the_penalties():
    prob, label = drawn(200)
    fitted = StructuredMatrixScaling(rho=0.5, tau=0.5).fit(prob, label)
    z = twin.tempered(np.log(prob), fitted.temperature_, 200)
    _, matrix, b = twin.lowest_matrix(z, label, np.ones(200), (4 / 200) ** 0.5, (12 / 200) ** 0.5, (4 / 200) ** 0.5)
    np.testing.assert_allclose(fitted.coef_, matrix, atol=1e-5)
    np.testing.assert_allclose(fitted.intercept_, b, atol=1e-5)


def test_two_classes_with_heavy_penalties_stay_near_temperature_scaling():
    prob, label = drawn(200, k=2)
    fitted = StructuredMatrixScaling(tau=0.0, rho=20.0).fit(prob, label)
    expected = np.exp(twin.tempered(np.log(prob), fitted.temperature_, 200))
    np.testing.assert_allclose(fitted.predict_proba(prob), expected, atol=1e-5)


def test_on_confused_classes_the_matrix_does_better_than_the_vector():
    prob, label = drawn(4000)
    new, occurred = drawn(4000, seed=0)
    losses = [
        -np.log(
            method().fit(prob[:2000], label[:2000]).predict_proba(new[2000:])[np.arange(2000), occurred[2000:]]
        ).mean()
        for method in (StructuredMatrixScaling, StructuredVectorScaling)
    ]
    assert losses[0] < losses[1]


@pytest.mark.parametrize(
    ("name", "figure"), [("cifar10_lenet5", 1.31106), ("cifar100_densenet_bc", 0.85867), ("cifar100_lenet5", 3.73597)]
)
def test_figures_of_halves(data_dir, name, figure):
    """The figures come from an approximate optimum in single precision."""
    with np.load(data_dir / f"{name}.npz") as data:
        prob, label = data["P"].astype(float), data["y"]
    fitted = StructuredMatrixScaling().fit(prob[:5000], label[:5000])
    occurred = fitted.predict_proba(prob[5000:])[np.arange(5000), label[5000:]]
    assert -np.log(occurred).mean() == pytest.approx(figure, abs=2e-4)
