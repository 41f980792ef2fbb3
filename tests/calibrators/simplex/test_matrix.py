import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import multinomial as twin
from strategies import tables

from calibrant.calibrators.linear import MatrixScaling

# Drawn rows may all be of one class, or be separated; that this is said is a test of its own.
pytestmark = [
    pytest.mark.filterwarnings("ignore:only the class"),
    pytest.mark.filterwarnings("ignore:every class must occur"),
]


@pytest.mark.deep
@settings(max_examples=15)
@given(rows=tables(n_classes=st.integers(2, 3)), penalty=st.sampled_from([1e-3, 0.1]))
def test_no_other_matrix_has_a_lower_objective(rows, penalty):
    label, prob, weight = rows
    z = twin.log_of(prob)
    fitted = MatrixScaling(off_diagonal=penalty, intercept=penalty, labels=range(prob.shape[1])).fit(
        prob, label, weight
    )
    found = twin.matrix_objective(z, label, weight, fitted.coef_, fitted.intercept_, 1e-8, penalty, penalty)
    assert found <= twin.lowest_matrix(z, label, weight, 1e-8, penalty, penalty)[0] + 1e-9


def drawn(n=300, k=3, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.dirichlet(np.ones(k), n)
    label = (rng.random((n, 1)) > truth.cumsum(axis=1)).sum(axis=1).clip(0, k - 1)
    prob = np.exp(np.log(truth) @ (np.eye(k) + rng.normal(0, 0.3, (k, k))))
    return prob / prob.sum(axis=1, keepdims=True), label


@pytest.mark.first(1)
@pytest.mark.parametrize("penalty", [0.0, 1e-3, 1.0])
def test_the_map_is_the_one_that_a_generic_search_finds(penalty):
    prob, label = drawn()
    fitted = MatrixScaling(off_diagonal=penalty, intercept=penalty).fit(prob, label)
    _, matrix, b = twin.lowest_matrix(
        twin.log_of(prob), label, np.ones(300), 1e-8, max(penalty, 1e-8), max(penalty, 1e-8)
    )
    expected = twin.softmax(twin.scores_of_matrix(twin.log_of(prob), matrix, b))
    np.testing.assert_allclose(fitted.predict_proba(prob), expected, atol=1e-5)


def test_the_columns_of_the_matrix_are_settled_by_the_penalty():
    """A vector added to all rows of W changes nothing; the least penalty has columns that sum to zero off the diagonal."""
    prob, label = drawn()
    matrix = MatrixScaling().fit(prob, label).coef_
    np.testing.assert_allclose(matrix.sum(axis=0) - np.diag(matrix), 0.0, atol=1e-4)


def test_a_heavy_penalty_leaves_a_diagonal():
    prob, label = drawn()
    fitted = MatrixScaling(off_diagonal=1e6, intercept=1e6).fit(prob, label)
    np.testing.assert_allclose(fitted.coef_ - np.diag(np.diag(fitted.coef_)), 0.0, atol=1e-5)
    np.testing.assert_allclose(fitted.intercept_, 0.0, atol=1e-5)


@pytest.mark.parametrize(("penalty", "figure"), [(1e-3, 1.31168), (0.0, 1.31209)])
def test_figures_of_halves(data_dir, penalty, figure):
    with np.load(data_dir / "cifar10_lenet5.npz") as data:
        prob, label = data["P"].astype(float), data["y"]
    fitted = MatrixScaling(off_diagonal=penalty, intercept=penalty).fit(prob[:5000], label[:5000])
    occurred = fitted.predict_proba(prob[5000:])[np.arange(5000), label[5000:]]
    assert -np.log(occurred).mean() == pytest.approx(figure, abs=2e-5)
