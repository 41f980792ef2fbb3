import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from strategies import dirichlet_rows

from calibrant._core.arrays import prob_of_scores
from calibrant._core.rows import Forecast, SimplexProblem, Weights
from calibrant.calibrators import linear as multinomial
from calibrant.calibrators.linear import (
    Diagonal,
    DirichletCalibration,
    Full,
    LargeObjective,
    MatrixScaling,
    Objective,
    StructuredMatrixScaling,
    StructuredVectorScaling,
    VectorScaling,
    fit_table,
)
from calibrant.fit import minimise as newton
from calibrant.fit.log_loss import over_rows

FAMILY = [VectorScaling, MatrixScaling, DirichletCalibration, StructuredVectorScaling, StructuredMatrixScaling]
DESIGNS = {
    "vector": (lambda: Diagonal(intercept=True), lambda k: np.stack([np.ones(k), np.zeros(k)])),
    "vector without bias": (lambda: Diagonal(intercept=False), lambda k: np.ones((1, k))),
    "matrix": (Full, lambda k: np.eye(k + 1, k)),
}
each_design = pytest.mark.parametrize("name", DESIGNS)
each_method = pytest.mark.parametrize("method", FAMILY, ids=lambda method: method.__name__)


def drawn(n=200, k=4, seed=0, weighted=False):
    """Log-probabilities, and a problem whose truth is another linear map of them."""
    rng = np.random.default_rng(seed)
    z = rng.normal(0.0, 1.5, (n, k))
    z -= np.log(np.exp(z).sum(axis=1, keepdims=True))
    truth = prob_of_scores(0.6 * z + z @ rng.normal(0, 0.3, (k, k)) + rng.normal(0, 0.5, k))
    label = (rng.random((n, 1)) > truth.cumsum(axis=1)).sum(axis=1).clip(0, k - 1)
    weights = Weights(rng.integers(1, 4, n).astype(float)) if weighted else Weights.one_each(n)
    return z, SimplexProblem(Forecast(z, is_logit=True), label, weights, np.arange(k))


def objective_of(name, weighted=True, dense=True, **size):
    z, problem = drawn(weighted=weighted, **size)
    make, centre = DESIGNS[name]
    middle = centre(z.shape[1])
    ridge = np.random.default_rng(1).uniform(0.0, 0.1, middle.shape)
    return objective_at(make(), z, problem, ridge, middle, dense=dense)


def objective_at(design, z, problem, ridge, centre, dense=True):
    over = over_rows(problem, lambda rows: (z, rows.label, rows.weight))
    return (Objective if dense else LargeObjective)(design, over, problem.weights.total, ridge, centre)


def entering(forecast):
    return forecast.values


# Derivatives


@each_design
@pytest.mark.parametrize("weighted", [False, True])
def test_the_gradient_is_that_of_the_value(name, weighted):
    objective = objective_of(name, weighted=weighted)
    rng = np.random.default_rng(2)
    table = objective.centre + rng.normal(0, 0.3, objective.centre.shape)
    gradient = objective.at(table).gradient
    for _ in range(5):
        way = rng.normal(size=table.shape)
        up, down = (objective.at(table + h * way).value for h in (1e-5, -1e-5))
        assert (gradient * way).sum() == pytest.approx((up - down) / 2e-5, rel=1e-6, abs=1e-9)


@each_design
@pytest.mark.parametrize("weighted", [False, True])
def test_the_hessian_is_that_of_the_gradient(name, weighted):
    objective = objective_of(name, weighted=weighted)
    rng = np.random.default_rng(2)
    table = objective.centre + rng.normal(0, 0.3, objective.centre.shape)
    hessian = objective.at(table).hessian
    np.testing.assert_allclose(hessian, hessian.T, atol=1e-14)
    for _ in range(5):
        way = rng.normal(size=table.shape)
        up, down = (objective.at(table + h * way).gradient for h in (1e-5, -1e-5))
        np.testing.assert_allclose(hessian @ way.ravel(), ((up - down) / 2e-5).ravel(), rtol=1e-5, atol=1e-8)


@each_design
@pytest.mark.parametrize("weighted", [False, True])
def test_products_with_the_hessian_agree_to_single_precision(name, weighted):
    whole, products = (objective_of(name, weighted=weighted, dense=dense) for dense in (True, False))
    rng = np.random.default_rng(2)
    table = whole.centre + rng.normal(0, 0.3, whole.centre.shape)
    products.evaluate(table, products.z, products.share)
    way = rng.normal(size=table.shape)
    expected = (whole.at(table).hessian @ way.ravel()).reshape(table.shape)
    np.testing.assert_allclose(products.product(way), expected, atol=1e-5 * np.abs(expected).max())


@each_design
def test_a_settled_change_has_the_same_effect_and_the_least_penalty(name):
    objective = objective_of(name)
    change = np.random.default_rng(2).normal(size=objective.centre.shape)
    settled = objective.settled(change)
    scores = (objective.design.scores(drawn()[0], one) for one in (change, settled))
    np.testing.assert_allclose(*map(prob_of_scores, scores), rtol=1e-10)
    pull = (objective.ridge * settled).sum(axis=1)[objective.design.shared]
    np.testing.assert_allclose(pull, 0.0, atol=1e-12)


# The two ways to a step


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("ridge", [0.0, 1e-3, 0.1])
@each_design
def test_conjugate_gradients_find_what_the_whole_hessian_finds(monkeypatch, name, ridge, weighted):
    _z, problem = drawn(n=400, k=6, weighted=weighted)
    make, centre = DESIGNS[name]
    middle = centre(6)
    whole = fit_table(make(), problem, entering, np.full_like(middle, ridge), middle)
    for design in (Diagonal, Full):
        monkeypatch.setattr(design, "most_dense", 0)
    rough = fit_table(make(), problem, entering, np.full_like(middle, ridge), middle)
    monkeypatch.setattr(multinomial, "BLOCK_ROWS", 50)
    fewer = fit_table(make(), problem, entering, np.full_like(middle, ridge), middle)
    assert whole.gradient < 1e-12
    for other in (rough, fewer):
        assert other.gradient < 1e-7
        np.testing.assert_allclose(other.table, whole.table, atol=2e-4 if ridge == 0.0 else 1e-5)


def test_of_a_vector_the_first_preconditioner_is_the_inverse_of_the_blocks():
    whole, products = (objective_of("vector", dense=dense) for dense in (True, False))
    products.evaluate(products.centre, products.z, products.share)
    apply, hessian = products._by_rank_one(), whole.at(whole.centre).hessian.reshape(2, 4, 2, 4)
    left = np.random.default_rng(2).normal(size=(2, 4))
    expected = np.column_stack([np.linalg.solve(hessian[:, j, :, j], left[:, j]) for j in range(4)])
    np.testing.assert_allclose(apply(left), expected, rtol=1e-3)


@pytest.mark.filterwarnings("ignore:every class must occur")
def test_a_large_problem_comes_to_use_blocks(monkeypatch):
    """Hardly any penalty, and log-probabilities that go together: the first preconditioner is not enough."""
    made = []
    inverse = LargeObjective._inverse_blocks
    monkeypatch.setattr(LargeObjective, "_inverse_blocks", lambda self: made.append(1) or inverse(self))
    z, problem = drawn(n=3000, k=30)
    found = fit_table(Full(), problem, entering, np.zeros((31, 30)), np.eye(31, 30))
    assert made
    assert found.gradient <= 1e-8 * np.abs(z).max(axis=1).mean()


@each_design
def test_a_forecast_that_is_right_is_left_alone_with_an_exact_certificate(monkeypatch, name):
    """Every row comes with all classes, weighted by their probabilities: the first table is the solution."""
    z, _ = drawn(n=40, k=5)
    weight, label = np.exp(z).ravel(), np.tile(np.arange(5), 40)
    problem = SimplexProblem(Forecast(np.repeat(z, 5, axis=0), is_logit=True), label, Weights(weight), np.arange(5))
    make, centre = DESIGNS[name]
    for design in (Diagonal, Full):
        monkeypatch.setattr(design, "most_dense", 0)
    found = fit_table(make(), problem, entering, 0.1 * np.ones(centre(5).shape), centre(5))
    np.testing.assert_allclose(found.table, centre(5), atol=1e-7)
    exact = objective_at(make(), problem.forecast.values, problem, 0.1 * np.ones(centre(5).shape), centre(5))
    assert found.gradient == pytest.approx(np.abs(exact.at(found.table).gradient).max(), rel=1e-6, abs=1e-15)


def test_a_search_cut_short_is_told_of(monkeypatch):
    monkeypatch.setattr(newton, "MOST_STEPS", 1)
    _z, problem = drawn()
    with pytest.warns(ConvergenceWarning, match=r"gradient must fall below .*after 1 Newton steps"):
        fit_table(Full(), problem, entering, np.zeros((5, 4)), np.eye(5, 4))


# What all five methods keep, on degenerate forecasts too


def soft(n, k, seed=0, sharp=1.0):
    return dirichlet_rows(n, k, seed, power=sharp)[::-1]


@each_method
@settings(max_examples=20)
@given(seed=st.integers(0, 10**6))
def test_the_gradient_certifies_the_optimum(method, seed):
    prob, label = soft(120, 4, seed, sharp=2.0)
    assert method(labels=range(4)).fit(prob, label).gradient_ < 1e-10


@each_method
def test_logits_and_their_probabilities_give_the_same_map(method):
    prob, label = soft(300, 4, sharp=2.0)
    logit = np.log(prob) + np.linspace(-50, 50, 300)[:, None]
    options = (
        {"logits": "log-softmax"} if method in (VectorScaling, MatrixScaling) else {}
    )  # else they take them as given
    of_prob, of_logit = method().fit(prob, label), method(**options, input="logit").fit(logit, label)
    np.testing.assert_allclose(of_logit.coef_, of_prob.coef_, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(of_logit.predict_proba(logit), of_prob.predict_proba(prob), rtol=1e-6)


@each_method
@pytest.mark.filterwarnings("ignore:every class must occur")
@pytest.mark.parametrize(("n", "k"), [(40, 60), (1, 3), (30, 300)])
@pytest.mark.filterwarnings("ignore:only the class")
@pytest.mark.filterwarnings("ignore:the likelihood keeps growing")
def test_fewer_rows_than_classes_are_enough(method, n, k):
    prob, label = soft(n, k)
    fitted = method(labels=range(k)).fit(prob, label)
    scale = max(1.0, -np.log(np.maximum(prob, 1e-12)).min(axis=1).mean())
    assert fitted.gradient_ <= 1e-8 * scale
    np.testing.assert_allclose(fitted.predict_proba(prob).sum(axis=1), 1.0, rtol=1e-12)


@each_method
def test_intercepts_sum_to_zero(method):
    prob, label = soft(300, 4)
    assert method().fit(prob, label).intercept_.sum() == pytest.approx(0.0, abs=1e-8)


@pytest.mark.parametrize("method", [StructuredVectorScaling, StructuredMatrixScaling])
@pytest.mark.parametrize("rho", [10.0, 40.0, 100.0])
def test_a_penalty_that_holds_everything_is_no_failure_of_the_search(method, rho):
    """Warnings are errors here."""
    prob, label = soft(200, 4)
    np.testing.assert_allclose(method(rho=rho).fit(prob, label).intercept_, 0.0, atol=1e-3)


# What nothing but the smallest ridge holds


SEPARATED = np.array([[0.9, 0.05, 0.05], [0.6, 0.3, 0.1], [0.2, 0.7, 0.1], [0.1, 0.2, 0.7]])
held_by_ridge = pytest.mark.parametrize(
    "calibrator",
    [
        VectorScaling(),
        VectorScaling(bias=False),
        MatrixScaling(),
        MatrixScaling(off_diagonal=0.0, intercept=0.0),
        DirichletCalibration(diagonal=0.0),
    ],
    ids=repr,
)


@held_by_ridge
def test_that_only_the_ridge_holds_the_map_is_said_where_labels_agree_with_the_forecast(calibrator):
    with pytest.warns(
        ConvergenceWarning, match="the classes are separated: only the ridge penalty of 1e-08 keeps the map finite"
    ):
        calibrator.fit(SEPARATED, [0, 0, 1, 2])


@held_by_ridge
def test_that_only_the_ridge_holds_the_map_is_said_of_an_absent_class(calibrator):
    prob, label = soft(100, 3)
    label[label == 1] = 0
    with pytest.warns(
        ConvergenceWarning, match="the class b does not occur: only the ridge penalty of 1e-08 keeps the map finite"
    ):
        calibrator.set_params(labels=["a", "b", "c"]).fit(prob, np.array(["a", "b", "c"])[label])


def test_classes_that_a_matrix_separates_and_the_forecast_does_not_are_told_of():
    with pytest.warns(ConvergenceWarning, match="the classes are separated"):
        MatrixScaling(off_diagonal=0.0, intercept=0.0).fit(SEPARATED, [1, 1, 2, 0])


@pytest.mark.filterwarnings("ignore:the likelihood keeps growing")
@pytest.mark.parametrize(
    "calibrator", [DirichletCalibration(diagonal=1e-3), StructuredVectorScaling(), StructuredMatrixScaling()]
)
def test_where_a_penalty_holds_the_map_nothing_is_said(calibrator):
    calibrator.fit(SEPARATED, [0, 0, 1, 2])
