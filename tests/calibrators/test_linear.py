"""Vector, matrix, Dirichlet and structured scaling against a generic search, and how they are fitted."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import multinomial as twin
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from strategies import dirichlet_rows, tables

from calibrant import DirichletCalibration, StructuredMatrixScaling, TemperatureScaling, VectorScaling, log_loss
from calibrant._core.arrays import prob_of_scores
from calibrant._core.rows import Forecast, SimplexProblem, Weights
from calibrant.calibrators import MatrixScaling, StructuredVectorScaling, linear
from calibrant.calibrators.linear import Diagonal, Full, LargeObjective, Objective, fit_table
from calibrant.fit import minimise as newton
from calibrant.fit.log_loss import over_rows

# Drawn rows may have no best temperature, be of one class, or be separated; that this is said is a test of its own.
of_drawn_rows = pytest.mark.filterwarnings("ignore:only the class", "ignore::sklearn.exceptions.ConvergenceWarning")
FAMILY = [VectorScaling, MatrixScaling, DirichletCalibration, StructuredVectorScaling, StructuredMatrixScaling]


# The optimum


exponents = st.sampled_from([1.0, 0.5, 1.5])


@of_drawn_rows
@pytest.mark.parametrize("method", [VectorScaling(), VectorScaling(bias=False), StructuredVectorScaling()], ids=repr)
@given(rows=tables(), rho=exponents, tau=exponents)
def test_no_other_weights_and_intercepts_have_a_lower_objective(method, rows, rho, tau):
    label, prob, weight = rows
    method, z = clone(method).set_params(labels=range(prob.shape[1])), twin.log_of(prob)
    ridge, of_intercept = 1e-8, 1e-8
    if isinstance(method, StructuredVectorScaling):
        fitted = method.set_params(rho=rho, tau=tau).fit(prob, label, weight)
        z = twin.tempered(z, fitted.temperature_, weight.sum())
        ridge = of_intercept = prob.shape[1] ** rho / weight.sum() ** tau
        assert fitted.temperature_ == TemperatureScaling(labels=method.labels).fit(prob, label, weight).temperature_
    else:
        fitted = method.fit(prob, label, weight)
        if not method.bias:
            of_intercept = 1e8
            assert (fitted.intercept_ == 0).all()
    found = twin.vector_objective(z, label, weight, fitted.coef_, fitted.intercept_, ridge, of_intercept)
    assert found <= twin.lowest_vector(z, label, weight, ridge, of_intercept) + 1e-9
    expected = twin.softmax(z * fitted.coef_ + fitted.intercept_)
    np.testing.assert_allclose(fitted.predict_proba(prob), expected, rtol=1e-9, atol=1e-12)


@of_drawn_rows
@settings(max_examples=15)
@given(rows=tables(n_classes=st.integers(2, 3)), penalty=st.sampled_from([1e-3, 0.1]))
def test_no_other_matrix_of_dirichlet_calibration_has_a_lower_objective(rows, penalty):
    label, prob, weight = rows
    z, penalties = twin.log_of(prob), (penalty, penalty, penalty, 0.0)
    options = dict.fromkeys(("diagonal", "off_diagonal", "intercept"), penalty)
    fitted = DirichletCalibration(**options, labels=range(prob.shape[1])).fit(prob, label, weight)
    found = twin.matrix_objective(z, label, weight, fitted.coef_, fitted.intercept_, *penalties)
    assert found <= twin.lowest_matrix(z, label, weight, *penalties)[0] + 1e-9


@of_drawn_rows
@settings(max_examples=15)
@given(rows=tables(n_classes=st.integers(2, 3)), rho=exponents, tau=exponents)
def test_no_other_matrix_of_structured_scaling_has_a_lower_objective(rows, rho, tau):
    label, prob, weight = rows
    n, k = weight.sum(), prob.shape[1]
    fitted = StructuredMatrixScaling(rho=rho, tau=tau, labels=range(k)).fit(prob, label, weight)
    z = twin.tempered(twin.log_of(prob), fitted.temperature_, n)
    penalties = k**rho / n**tau, (k * (k - 1)) ** rho / n**tau, k**rho / n**tau
    found = twin.matrix_objective(z, label, weight, fitted.coef_, fitted.intercept_, *penalties)
    lowest, matrix, b = twin.lowest_matrix(z, label, weight, *penalties)
    assert found <= lowest + 1e-9
    np.testing.assert_allclose(fitted.predict_proba(prob), twin.softmax(z @ matrix.T + b), atol=1e-4)


# How they are fitted


DESIGNS = {
    "vector": (lambda: Diagonal(intercept=True), lambda k: np.stack([np.ones(k), np.zeros(k)])),
    "vector without bias": (lambda: Diagonal(intercept=False), lambda k: np.ones((1, k))),
    "matrix": (Full, lambda k: np.eye(k + 1, k)),
}
each_design = pytest.mark.parametrize("name", DESIGNS)
each_method = pytest.mark.parametrize("method", FAMILY, ids=lambda method: method.__name__)


def rows_of_a_map(n=200, k=4, seed=0, weighted=False):
    """Log-probabilities, and a problem whose truth is another linear map of them."""
    rng = np.random.default_rng(seed)
    z = rng.normal(0.0, 1.5, (n, k))
    z -= np.log(np.exp(z).sum(axis=1, keepdims=True))
    truth = prob_of_scores(0.6 * z + z @ rng.normal(0, 0.3, (k, k)) + rng.normal(0, 0.5, k))
    label = (rng.random((n, 1)) > truth.cumsum(axis=1)).sum(axis=1).clip(0, k - 1)
    weights = Weights(rng.integers(1, 4, n).astype(float)) if weighted else Weights.one_each(n)
    return z, SimplexProblem(Forecast(z, is_logit=True), label, weights, np.arange(k))


def objective_of(name, weighted=True, dense=True, **size):
    z, problem = rows_of_a_map(weighted=weighted, **size)
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
def test_derivatives_are_those_of_the_value_and_products_agree_to_single_precision(name, weighted):
    objective, products = (objective_of(name, weighted=weighted, dense=dense) for dense in (True, False))
    rng = np.random.default_rng(2)
    table = objective.centre + rng.normal(0, 0.3, objective.centre.shape)
    here = objective.at(table)
    np.testing.assert_allclose(here.hessian, here.hessian.T, atol=1e-14)
    products.evaluate(table, products.z, products.share)
    for _ in range(5):
        way = rng.normal(size=table.shape)
        up, down = (objective.at(table + h * way) for h in (1e-5, -1e-5))
        assert (here.gradient * way).sum() == pytest.approx((up.value - down.value) / 2e-5, rel=1e-6, abs=1e-9)
        of_way = (here.hessian @ way.ravel()).reshape(table.shape)
        np.testing.assert_allclose(of_way, (up.gradient - down.gradient) / 2e-5, rtol=1e-5, atol=1e-8)
        np.testing.assert_allclose(products.product(way), of_way, atol=1e-5 * np.abs(of_way).max())


@each_design
def test_a_settled_change_has_the_same_effect_and_the_least_penalty(name):
    objective = objective_of(name)
    change = np.random.default_rng(2).normal(size=objective.centre.shape)
    settled = objective.settled(change)
    scores = (objective.design.scores(rows_of_a_map()[0], one) for one in (change, settled))
    np.testing.assert_allclose(*map(prob_of_scores, scores), rtol=1e-10)
    np.testing.assert_allclose((objective.ridge * settled).sum(axis=1)[objective.design.shared], 0.0, atol=1e-12)


# The two ways to a step


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("ridge", [0.0, 1e-3, 0.1])
@each_design
def test_conjugate_gradients_find_what_the_whole_hessian_finds(monkeypatch, name, ridge, weighted):
    _z, problem = rows_of_a_map(n=400, k=6, weighted=weighted)
    make, centre = DESIGNS[name]
    middle = centre(6)
    whole = fit_table(make(), problem, entering, np.full_like(middle, ridge), middle)
    for design in (Diagonal, Full):
        monkeypatch.setattr(design, "most_dense", 0)
    rough = fit_table(make(), problem, entering, np.full_like(middle, ridge), middle)
    monkeypatch.setattr(linear, "BLOCK_ROWS", 50)
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
    made, inverse = [], LargeObjective._inverse_blocks
    monkeypatch.setattr(LargeObjective, "_inverse_blocks", lambda self: made.append(1) or inverse(self))
    z, problem = rows_of_a_map(n=3000, k=30)
    found = fit_table(Full(), problem, entering, np.zeros((31, 30)), np.eye(31, 30))
    assert made
    assert found.gradient <= 1e-8 * np.abs(z).max(axis=1).mean()


@each_design
def test_a_forecast_that_is_right_is_left_alone_with_an_exact_certificate(monkeypatch, name):
    """Every row comes with all classes, weighted by their probabilities: the first table is the solution."""
    z, _ = rows_of_a_map(n=40, k=5)
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
    _z, problem = rows_of_a_map()
    with pytest.warns(ConvergenceWarning, match=r"gradient must fall below .*after 1 Newton steps"):
        fit_table(Full(), problem, entering, np.zeros((5, 4)), np.eye(5, 4))


# What all five methods keep, on degenerate forecasts too


def soft(n, k, seed=0, sharp=1.0):
    return dirichlet_rows(n, k, seed, power=sharp)[::-1]


@each_method
@settings(max_examples=20)
@given(seed=st.integers(0, 10**6))
def test_the_gradient_certifies_the_optimum_and_intercepts_sum_to_zero(method, seed):
    prob, label = soft(120, 4, seed, sharp=2.0)
    fitted = method(labels=range(4)).fit(prob, label)
    assert fitted.gradient_ < 1e-10
    assert fitted.intercept_.sum() == pytest.approx(0.0, abs=1e-8)


@each_method
def test_logits_and_their_probabilities_give_the_same_map(method):
    prob, label = soft(300, 4, sharp=2.0)
    logit = np.log(prob) + np.linspace(-50, 50, 300)[:, None]
    # These take them as given else.
    options = {"logits": "log-softmax"} if method in (VectorScaling, MatrixScaling) else {}
    of_prob, of_logit = method().fit(prob, label), method(**options, input="logit").fit(logit, label)
    np.testing.assert_allclose(of_logit.coef_, of_prob.coef_, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(of_logit.predict_proba(logit), of_prob.predict_proba(prob), rtol=1e-6)


@each_method
@pytest.mark.parametrize(("n", "k"), [(40, 60), (1, 3), (30, 300)])
@pytest.mark.filterwarnings("ignore:every class must", "ignore:only the class", "ignore:the likelihood keeps growing")
def test_fewer_rows_than_classes_are_enough(method, n, k):
    prob, label = soft(n, k)
    fitted = method(labels=range(k)).fit(prob, label)
    scale = max(1.0, -np.log(np.maximum(prob, 1e-12)).min(axis=1).mean())
    assert fitted.gradient_ <= 1e-8 * scale
    np.testing.assert_allclose(fitted.predict_proba(prob).sum(axis=1), 1.0, rtol=1e-12)


@pytest.mark.parametrize("method", [StructuredVectorScaling, StructuredMatrixScaling])
@pytest.mark.parametrize("rho", [10.0, 40.0, 100.0])
def test_a_penalty_that_holds_everything_is_no_failure_of_the_search(method, rho):
    """Warnings are errors here."""
    prob, label = soft(200, 4)
    np.testing.assert_allclose(method(rho=rho).fit(prob, label).intercept_, 0.0, atol=1e-3)


# What nothing but the smallest ridge holds
SEPARATED = np.array([[0.9, 0.05, 0.05], [0.6, 0.3, 0.1], [0.2, 0.7, 0.1], [0.1, 0.2, 0.7]])
HELD = [VectorScaling(), VectorScaling(bias=False), MatrixScaling(), MatrixScaling(off_diagonal=0.0, intercept=0.0)]


@pytest.mark.parametrize("calibrator", [*HELD, DirichletCalibration(diagonal=0.0)], ids=repr)
def test_that_only_the_ridge_holds_the_map_is_said(calibrator):
    with pytest.warns(ConvergenceWarning, match="the classes are separated: only the ridge penalty of 1e-08 keeps the"):
        calibrator.fit(SEPARATED, [0, 0, 1, 2])
    prob, label = soft(100, 3)
    calibrator, names = clone(calibrator).set_params(labels=["a", "b", "c"]), np.array(["a", "a", "c"])
    with pytest.warns(ConvergenceWarning, match="the class b does not occur: only the ridge penalty of 1e-08 keeps"):
        calibrator.fit(prob, names[label])


def test_classes_that_a_matrix_separates_and_the_forecast_does_not_are_told_of():
    with pytest.warns(ConvergenceWarning, match="the classes are separated"):
        MatrixScaling(off_diagonal=0.0, intercept=0.0).fit(SEPARATED, [1, 1, 2, 0])


@pytest.mark.filterwarnings("ignore:the likelihood keeps growing")
@pytest.mark.parametrize(
    "calibrator", [DirichletCalibration(diagonal=1e-3), StructuredVectorScaling(), StructuredMatrixScaling()]
)
def test_where_a_penalty_holds_the_map_nothing_is_said(calibrator):
    calibrator.fit(SEPARATED, [0, 0, 1, 2])


# Which of the logits that stand for the same probabilities enter the map


WORDS = ("as-given", "log-softmax", "reference")
SCALINGS = (VectorScaling, MatrixScaling)
each_scaling = pytest.mark.parametrize("scaling", SCALINGS, ids=lambda scaling: scaling.__name__)


def logits_drawn(n=400, k=3, seed=0):
    """Logits with a number a row that probabilities do not show, and on which the class depends."""
    rng = np.random.default_rng(seed)
    logit = rng.normal(0.0, 1.5, (n, k)) + rng.normal(0.0, 2.0, (n, 1))
    truth = twin.softmax(logit * np.linspace(0.4, 1.2, k))
    label = (rng.random((n, 1)) > truth.cumsum(axis=1)).sum(axis=1).clip(0, k - 1)
    return logit, label


@pytest.mark.first(1)
@each_scaling
@pytest.mark.parametrize("word", WORDS)
def test_no_other_map_of_these_logits_has_a_lower_objective(scaling, word):
    logit, label = logits_drawn()
    fitted = scaling(logits=word, input="logit").fit(logit, label)
    z = {"as-given": logit, "log-softmax": np.log(twin.softmax(logit)), "reference": logit - logit[:, -1:]}[word]
    rows = z, label, np.ones(len(z))
    if scaling is VectorScaling:
        found = twin.vector_objective(*rows, fitted.coef_, fitted.intercept_, 1e-8, 1e-8)
        lowest = twin.lowest_vector(*rows, 1e-8, 1e-8)
    else:
        found = twin.matrix_objective(*rows, fitted.coef_, fitted.intercept_, 1e-8, 1e-3, 1e-3)
        lowest, *_ = twin.lowest_matrix(*rows, 1e-8, 1e-3, 1e-3)
    assert found <= lowest + 1e-9
    scores = z * fitted.coef_ if fitted.coef_.ndim == 1 else z @ fitted.coef_.T
    np.testing.assert_allclose(fitted.calibrate(logit), twin.softmax(scores + fitted.intercept_), rtol=1e-9)


@each_scaling
def test_of_probabilities_those_as_given_are_log_probabilities(scaling):
    logit, label = logits_drawn()
    prob = twin.softmax(logit)
    given, logs = (scaling(logits=word).fit(prob, label) for word in WORDS[:2])
    np.testing.assert_array_equal(given.coef_, logs.coef_)
    np.testing.assert_array_equal(given.calibrate(prob), logs.calibrate(prob))


@pytest.mark.first(2)
@pytest.mark.parametrize(
    "free", [VectorScaling(), MatrixScaling(off_diagonal=0.0, intercept=0.0)], ids=["vector", "matrix"]
)
@pytest.mark.parametrize("unit", [1e-2, 1e-4, 1e-6, 1e-12, 1e-60])
@pytest.mark.parametrize("k", [3, 40])
def test_tiny_logits_are_fitted_as_others_are(free, unit, k):
    """The same logits in another unit: the same map, but for the ridge. Of 40 classes the steps are those of products."""
    logit, label = logits_drawn(n=400 if k == 3 else 4000, k=k)
    expected = clone(free).set_params(input="logit").fit(logit, label).calibrate(logit)
    fitted = clone(free).set_params(input="logit").fit(unit * logit, label)
    found = fitted.calibrate(unit * logit)
    np.testing.assert_allclose(found, expected, atol=5e-4)
    losses = [log_loss(label, prob, labels=range(k)) for prob in (found, expected)]
    assert losses[0] == pytest.approx(losses[1], abs=1e-6)
    assert fitted.gradient_ <= 1e-8


@pytest.mark.parametrize("unit", [1e-4, 1e-6, 1e-12, 1e-60])
def test_penalties_hold_weights_back_that_tiny_logits_need_and_not_those_of_the_class_itself(unit):
    logit, label = logits_drawn()
    default = MatrixScaling(input="logit").fit(unit * logit, label)
    diagonal = MatrixScaling(input="logit", off_diagonal=1e50).fit(logit, label)
    np.testing.assert_allclose(default.calibrate(unit * logit), diagonal.calibrate(logit), atol=1e-3)


@pytest.mark.filterwarnings("error")
@each_scaling
@pytest.mark.parametrize("unit", [0.0, 1e-200, 1e-320])
def test_logits_that_are_all_but_zero_leave_the_shares_of_the_classes(scaling, unit):
    logit, label = logits_drawn()
    fitted = scaling(input="logit").fit(unit * logit, label)
    shares = np.bincount(label, minlength=3) / len(label)
    np.testing.assert_allclose(fitted.calibrate(unit * logit)[0], shares, atol=1e-2)
