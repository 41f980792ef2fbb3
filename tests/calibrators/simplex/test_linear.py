"""Vector, matrix, Dirichlet and structured scaling against a generic search for the least of their objectives."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import multinomial as twin
from strategies import tables

from calibrant import TemperatureScaling
from calibrant.calibrators.linear import (
    DirichletCalibration,
    MatrixScaling,
    StructuredMatrixScaling,
    StructuredVectorScaling,
    VectorScaling,
)

# Drawn rows may have no best temperature, be of one class, or be separated; that this is said is a test of its own.
pytestmark = [
    pytest.mark.filterwarnings("ignore:only the class"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]


def drawn(n=300, k=3, seed=0, mixed=False):
    """Forecasts of classes that are each too bold or too timid; ``mixed``, that are taken for each other."""
    rng = np.random.default_rng(seed)
    truth = rng.dirichlet(np.ones(k), n)
    label = (rng.random((n, 1)) > truth.cumsum(axis=1)).sum(axis=1).clip(0, k - 1)
    other = np.exp(np.log(truth) @ (np.eye(k) + rng.normal(0, 0.3, (k, k))))
    prob = other if mixed else truth ** np.linspace(0.5, 2.0, k)
    return prob / prob.sum(axis=1, keepdims=True), label


# The optimum


@pytest.mark.parametrize("method", [VectorScaling, StructuredVectorScaling])
@given(rows=tables())
def test_no_other_weights_and_intercepts_have_a_lower_objective(method, rows):
    label, prob, weight = rows
    fitted, z = method(labels=range(prob.shape[1])).fit(prob, label, weight), twin.log_of(prob)
    ridge = 1e-8
    if method is StructuredVectorScaling:
        z, ridge = twin.tempered(z, fitted.temperature_, weight.sum()), prob.shape[1] / weight.sum()
    found = twin.vector_objective(z, label, weight, fitted.coef_, fitted.intercept_, ridge, ridge)
    assert found <= twin.lowest_vector(z, label, weight, ridge, ridge)[0] + 1e-9


@settings(max_examples=15)
@given(rows=tables(n_classes=st.integers(2, 3)), penalty=st.sampled_from([1e-3, 0.1]))
def test_no_other_matrix_of_dirichlet_calibration_has_a_lower_objective(rows, penalty):
    label, prob, weight = rows
    z, penalties = twin.log_of(prob), (penalty, penalty, penalty, 0.0)
    options = dict.fromkeys(("diagonal", "off_diagonal", "intercept"), penalty)
    fitted = DirichletCalibration(**options, labels=range(prob.shape[1])).fit(prob, label, weight)
    found = twin.matrix_objective(z, label, weight, fitted.coef_, fitted.intercept_, *penalties)
    assert found <= twin.lowest_matrix(z, label, weight, *penalties)[0] + 1e-9


@settings(max_examples=15)
@given(rows=tables(n_classes=st.integers(2, 3)))
def test_no_other_matrix_of_structured_scaling_has_a_lower_objective(rows):
    label, prob, weight = rows
    n, k = weight.sum(), prob.shape[1]
    fitted = StructuredMatrixScaling(labels=range(k)).fit(prob, label, weight)
    z, penalties = twin.tempered(twin.log_of(prob), fitted.temperature_, n), (k / n, k * (k - 1) / n, k / n)
    found = twin.matrix_objective(z, label, weight, fitted.coef_, fitted.intercept_, *penalties)
    lowest, matrix, b = twin.lowest_matrix(z, label, weight, *penalties)
    assert found <= lowest + 1e-9
    expected = twin.softmax(twin.scores_of_matrix(z, matrix, b))
    np.testing.assert_allclose(fitted.predict_proba(prob), expected, atol=1e-4)


@pytest.mark.parametrize("bias", [True, False])
def test_vector_scaling_is_the_map_that_a_generic_search_finds(bias):
    prob, label = drawn()
    fitted, z = VectorScaling(bias=bias).fit(prob, label), twin.log_of(prob)
    found = twin.softmax(twin.scores_of_vector(z, fitted.coef_, fitted.intercept_))
    np.testing.assert_allclose(fitted.predict_proba(prob), found, rtol=1e-10)
    _, w, b = twin.lowest_vector(z, label, np.ones(300), 1e-8, 1e-8 if bias else 1e8)
    np.testing.assert_allclose(found, twin.softmax(twin.scores_of_vector(z, w, b)), atol=1e-5)
    assert bias or (fitted.intercept_ == 0).all()


@pytest.mark.first(1)
@pytest.mark.parametrize("penalty", [0.0, 1e-3, 1.0])
def test_matrix_scaling_is_the_map_that_a_generic_search_finds(penalty):
    prob, label = drawn(mixed=True)
    fitted, ridge = MatrixScaling(off_diagonal=penalty, intercept=penalty).fit(prob, label), max(penalty, 1e-8)
    _, matrix, b = twin.lowest_matrix(twin.log_of(prob), label, np.ones(300), 1e-8, ridge, ridge)
    expected = twin.softmax(twin.scores_of_matrix(twin.log_of(prob), matrix, b))
    np.testing.assert_allclose(fitted.predict_proba(prob), expected, atol=1e-5)
    if penalty:  # a vector added to all rows of W changes nothing; columns off the diagonal then sum to zero
        np.testing.assert_allclose(fitted.coef_.sum(axis=0) - np.diag(fitted.coef_), 0.0, atol=1e-4)


def test_exponents_set_the_penalties():
    prob, label = drawn(200, 4)
    vector = StructuredVectorScaling(rho=2.0, tau=0.5).fit(prob, label)
    z = twin.tempered(np.log(prob), vector.temperature_, 200)
    _, w, b = twin.lowest_vector(z, label, np.ones(200), 16 / 200**0.5, 16 / 200**0.5)
    np.testing.assert_allclose([vector.coef_, vector.intercept_], [w, b], atol=1e-5)
    assert vector.temperature_ == pytest.approx(TemperatureScaling().fit(prob, label).temperature_, rel=1e-7)
    fitted = StructuredMatrixScaling(rho=0.5, tau=0.5).fit(prob, label)
    _, matrix, b = twin.lowest_matrix(z, label, np.ones(200), (4 / 200) ** 0.5, (12 / 200) ** 0.5, (4 / 200) ** 0.5)
    np.testing.assert_allclose(np.vstack([fitted.coef_, fitted.intercept_]), np.vstack([matrix, b]), atol=1e-5)
