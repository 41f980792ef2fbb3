"""Precisions by their evidence; matrices, products and blocks of second derivatives."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import softmax

from calibrant.fit import evidence

GROUP = np.array([0, 1, 1, 1, 1, 1])
PRIOR = evidence.Prior(np.array([1.0, 2.0]), np.array([3.0, 3.0]))


def regression(n, strength, seed=0):
    """A logistic regression of which the first feature counts, and the others as much as told."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n, 6))
    score = features @ np.append(1.0, np.full(5, strength))
    return evidence.TwoClasses(np.zeros(n), features, rng.logistic(size=n) < score, np.ones(n))


def test_no_other_precisions_have_more_evidence(monkeypatch):
    """Laplace's approximation at the best weights for each pair of precisions, and the prior of these."""
    for name in ("LAST_CHANGE", "LAST_LOSS", "LAST_GAIN"):
        monkeypatch.setattr(evidence, name, 1e-12)
    logit = regression(300, 0.2)
    found = evidence.most_evident(logit, GROUP, PRIOR)

    def log_prior(rho):
        return -0.5 * (((rho - PRIOR.mean) / PRIOR.spread) ** 2).sum()

    def log_posterior(rho):
        ridge = np.exp(rho)[GROUP]
        best = evidence.refitted(logit, found.w, ridge, found.look.curvature.with_ridge(ridge), 1e-12).point
        log_det = best.look.curvature.with_ridge(ridge).log_det
        return -best.value + 0.5 * np.log(ridge).sum() - 0.5 * log_det + log_prior(rho)

    highest = log_posterior(found.rho)
    # MacKay's update takes the Hessian for fixed: the maximum is missed by what that leaves out.
    assert all(log_posterior(found.rho + change) < highest + 1e-3 for change in np.vstack([np.eye(2), -np.eye(2)]))
    assert found.log_evidence == pytest.approx(highest - log_prior(found.rho), abs=1e-6)


def test_a_start_from_few_rows_leads_to_the_same_end(monkeypatch):
    logit = regression(4000, 0.2)
    once = evidence.most_evident(logit, GROUP, PRIOR)
    monkeypatch.setattr(evidence, "MANY", 1)
    again = evidence.most_evident(logit, GROUP, PRIOR)
    assert abs(once.rho - again.rho).max() < 0.15
    assert once.log_evidence == pytest.approx(again.log_evidence, abs=0.1)
    np.testing.assert_allclose(once.w, again.w, atol=0.02)


@pytest.mark.parametrize("seed", range(5))
def test_precisions_settle_where_rows_are_few_and_separated(seed):
    """Without the wait for weights, and without a bound on steps, such a fit can cycle."""
    rng = np.random.default_rng(seed)
    features = 6.0 * rng.normal(size=(30, 6))
    logit = evidence.TwoClasses(4.0 * rng.normal(size=30), features, features[:, 0] > 0, np.ones(30))
    found = evidence.most_evident(logit, GROUP, evidence.Prior(np.array([-2.0, -2.0]), np.array([2.0, 2.0])))
    assert found.n_iter < evidence.MOST_OUTER
    assert np.isfinite(found.log_evidence)


@pytest.mark.parametrize("seed", [216, 303, 479, 532, 897])
def test_precisions_that_would_go_to_and_fro_settle(seed):
    """With whole steps two of the precisions of these problems come back to where they were, and all 30 Hessians are made."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(40, 6)) * [3.0, 3.0, 3.0, 1.0, 1.0, 1.0]
    features[:, 3:] += features[:, :3]
    outcome = rng.logistic(size=40) < features @ rng.normal(size=6) * 0.3
    logit = evidence.TwoClasses(np.zeros(40), features, outcome, np.ones(40))
    prior = evidence.Prior(np.array([3.0, 3.0]), np.array([3.0, 3.0]))
    assert evidence.most_evident(logit, np.array([0, 0, 0, 1, 1, 1]), prior).n_iter <= 10


def test_second_derivatives_made_anew_lead_to_the_same_weights_in_fewer_steps():
    logit, ridge = regression(400, 1.2), np.full(6, 0.1)
    near = logit.at(np.zeros(6)).curvature.with_ridge(ridge)
    slow, quick = (evidence.refitted(logit, np.zeros(6), ridge, near, 1e-16, renews=renews) for renews in (False, True))
    np.testing.assert_allclose(quick.point.x, slow.point.x, rtol=1e-5)
    assert quick.converged
    assert slow.converged
    assert quick.residual < 1e-6
    assert 2 * quick.n_iter < slow.n_iter
    assert quick.point.gradient == pytest.approx(quick.point.look.gradient + ridge * quick.point.x)


# Second derivatives


N, K, S = 40, 4, 3
RNG = np.random.default_rng(0)
OFFSET, SHARED, WEIGHT = RNG.normal(size=(N, K)), RNG.normal(size=(S, N, K)), RNG.uniform(0.5, 2.0, N)
LABEL = RNG.integers(0, K, N)
OWN = 1 + np.arange(K)[:, None]
TABLES = {
    "same": evidence.SameForAll(np.column_stack([np.ones(N), RNG.normal(size=(N, K + 2))]), OWN),
    "own": evidence.OwnOfClass(RNG.normal(size=(3, N, K))),
    "none": evidence.SameForAll.none(N, K),
}
with_features = pytest.mark.parametrize("table", [TABLES["same"], TABLES["own"]], ids=["same", "own"])


TWO_CLASSES = evidence.TwoClasses(OFFSET[:, 0], RNG.normal(size=(N, 5)), LABEL > 1, WEIGHT)
LOGITS = [*(evidence.ManyClasses(OFFSET, SHARED, table, LABEL, WEIGHT) for table in TABLES.values()), TWO_CLASSES]


@pytest.mark.parametrize("logit", LOGITS, ids=[*TABLES, "two"])
def test_derivatives_are_those_of_the_value(logit):
    w, way, step = RNG.normal(size=logit.size) / 5, RNG.normal(size=logit.size), 1e-5
    here, ahead, behind = (logit.at(w + length * way) for length in (0.0, step, -step))
    assert here.gradient @ way == pytest.approx((ahead.value - behind.value) / (2 * step), rel=1e-6)
    expected = (ahead.gradient - behind.gradient) / (2 * step)
    np.testing.assert_allclose(here.curvature.times(way), expected, rtol=1e-5, atol=1e-5)
    assert here.value == pytest.approx(-logit.weight @ np.log(here.of_true))


@pytest.mark.parametrize("logit", LOGITS, ids=[*TABLES, "two"])
def test_parts_of_the_rows_add_up(logit):
    w = RNG.normal(size=logit.size) / 5
    parts = [logit.part(slice(start, None, 2)).at(w) for start in (0, 1)]
    assert sum(part.value for part in parts) == pytest.approx(logit.at(w).value)
    doubled = replace(logit, weight=2.0 * WEIGHT).at(w)
    np.testing.assert_allclose(doubled.gradient, 2.0 * sum(part.gradient for part in parts), atol=1e-9)


def pair(table):
    """The same second derivatives as a matrix and as products, with a ridge."""
    prob = softmax(OFFSET, axis=1)
    products = evidence.SoftmaxCurvature(prob, WEIGHT, SHARED, table)
    size = S + K * table.n_features
    matrix = evidence.DenseCurvature(np.stack([products.times(unit) for unit in np.eye(size)]))
    return matrix, products, RNG.uniform(0.5, 5.0, size)


@pytest.mark.parametrize("table", TABLES.values(), ids=list(TABLES))
def test_products_equal_the_matrix(table):
    matrix, products, _ = pair(table)
    found = evidence.curvature_of_softmax(softmax(OFFSET, axis=1), WEIGHT, SHARED, table)
    np.testing.assert_allclose(matrix.matrix, matrix.matrix.T, atol=1e-10)
    np.testing.assert_allclose(found.times(np.ones(len(matrix.matrix))), matrix.matrix.sum(axis=1), atol=1e-9)
    assert isinstance(found, evidence.SoftmaxCurvature) == isinstance(table, evidence.OwnOfClass)
    blocks = np.concatenate([products.of_shared.ravel(), products.whole.ravel()])
    f = table.n_features
    own = [matrix.matrix[S + j * f : S + (j + 1) * f, S + j * f : S + (j + 1) * f].ravel() for j in range(K)]
    np.testing.assert_allclose(blocks, np.concatenate([matrix.matrix[:S, :S].ravel(), *own]), atol=1e-9)


def test_blocks_of_rows_do_not_show(monkeypatch):
    rows, weight, prob = RNG.normal(size=(90, 5)), RNG.uniform(0.0, 2.0, (3, 90)), softmax(OFFSET, axis=1)
    found = evidence.matrix_of_softmax(prob, WEIGHT, SHARED, TABLES["same"])
    monkeypatch.setattr(evidence, "BLOCK", 200)
    monkeypatch.setattr(evidence, "NUMBERS", 400)
    np.testing.assert_allclose(evidence.matrix_of_softmax(prob, WEIGHT, SHARED, TABLES["same"]), found, atol=1e-12)
    expected = np.einsum("ki,if,ig->kfg", weight, rows, rows)
    np.testing.assert_allclose(evidence.weighted_products(rows, weight), expected, atol=1e-12)


@with_features
def test_conjugate_gradients_solve(table, monkeypatch):
    monkeypatch.setattr(evidence, "RESIDUAL", 1e-10)
    monkeypatch.setattr(evidence, "OF_STEP", 1e-10)
    matrix, products, ridge = pair(table)
    right = RNG.normal(size=len(ridge))
    solvable, expected = products.with_ridge(ridge), matrix.with_ridge(ridge).solved(right)
    np.testing.assert_allclose(solvable.solved(right), expected, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(solvable.solved(right, expected + 0.1), expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("strong", [1.0, 0.01])
def test_a_border_makes_solutions_elsewhere_cheaper(strong, monkeypatch):
    monkeypatch.setattr(evidence, "OF_STEP", 1e-8)
    table = evidence.SameForAll(np.column_stack([np.ones(N), SHARED[0]]), OWN)
    ridge = strong * RNG.uniform(0.5, 1.0, S + K * (K + 1))
    probs = (softmax(OFFSET + shift * SHARED[1], axis=1) for shift in (0.0, 0.1))
    near, elsewhere = (evidence.SoftmaxCurvature(prob, WEIGHT, SHARED, table) for prob in probs)
    expected = evidence.DenseCurvature(np.stack([elsewhere.times(unit) for unit in np.eye(len(ridge))]))
    right, products = expected.matrix @ RNG.normal(size=len(ridge)), []
    for solvable in (near.with_ridge(ridge), near.with_ridge(ridge).for_part(1.0)):
        asked = []
        monkeypatch.setattr(elsewhere, "times", lambda w, asked=asked: (asked.append(w), expected.matrix @ w)[1])
        found = solvable.at(SimpleNamespace(curvature=elsewhere)).solved(right)
        np.testing.assert_allclose(found, expected.with_ridge(ridge).solved(right), rtol=1e-5, atol=1e-6)
        products.append(len(asked))
    assert products[1] < products[0]


@with_features
def test_blocks_make_weights_look_better_determined_and_never_worse(table):
    matrix, products, ridge = pair(table)
    exact, blocks = matrix.with_ridge(ridge), products.with_ridge(ridge)
    assert (blocks.inverse_diagonal <= exact.inverse_diagonal + 1e-12).all()
    assert blocks.log_det >= exact.log_det - 1e-9


def test_a_matrix_that_rounding_has_spoiled_still_has_a_factor():
    matrix = np.ones((3, 3)) * 1e9
    solvable = evidence.DenseCurvature(matrix - 1e-3 * np.eye(3)).with_ridge(np.full(3, 1e-6))
    assert np.isfinite(solvable.solved(np.ones(3))).all()


def blocks_of(ridge, least, monkeypatch):
    """Blocks of many rows, whole and in the directions whose ratio of data to prior is above the least."""
    monkeypatch.setattr(evidence, "RESOLVED", least)
    rng = np.random.default_rng(1)
    rows = np.column_stack([np.ones(200), rng.normal(size=(200, 6)) * np.geomspace(2.0, 0.05, 6)])
    doubt = rng.dirichlet(np.ones(K), 200).T
    table = evidence.SameForAll(rows, OWN)
    total = table.blocks(doubt.sum(axis=0, keepdims=True))[0]
    return evidence.WholeBlocks(table.blocks(doubt), ridge), evidence.FewDirections(rows, OWN, doubt, total, ridge)


def ridges():
    """One ridge for all classes, but for that of the class's own feature."""
    ridge = np.tile(np.geomspace(1.0, 9.0, 7), (K, 1))
    ridge[np.arange(K), OWN[:, 0]] = 30.0
    return ridge


def test_all_directions_are_the_whole_block(monkeypatch):
    whole, few = blocks_of(ridges(), 0.0, monkeypatch)
    right = np.random.default_rng(2).normal(size=(K, 7))
    np.testing.assert_allclose(few.solved(right), whole.solved(right), atol=1e-9)
    np.testing.assert_allclose(few.inverse_diagonal, whole.inverse_diagonal, rtol=1e-6)
    assert few.log_det == pytest.approx(whole.log_det)


def test_few_directions_are_nearly_the_whole_block(monkeypatch):
    whole, few = blocks_of(ridges(), evidence.RESOLVED, monkeypatch)
    assert few.held.shape[1] < 7
    np.testing.assert_allclose(few.inverse_diagonal, whole.inverse_diagonal, rtol=0.05)
    assert few.log_det == pytest.approx(whole.log_det, rel=0.01)
