"""A calibrator declares what it promises. Here what holds is found out, and must be exactly what is declared.

Each guarantee is a function of a calibrator and a problem that says whether the promise was kept there. A declared one is
kept on all problems; one that is not declared is broken on some problem, so that the declaration leaves nothing out.
"""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.base import clone

from calibrant import ByNotion, IsotonicCalibration
from calibrant._core.registry import GUARANTEES, entries
from calibrant.calibrators import BinaryCalibrator

# Its documented answer must keep the promise, too.
pytestmark = pytest.mark.filterwarnings(
    "ignore::calibrant.exceptions.CalibrationWarning", "ignore::sklearn.exceptions.ConvergenceWarning"
)

CALIBRATORS = entries("calibrator")
ROUNDING = 1e-12


def problems(entry):
    """Over- and under-confident forecasts; zeros in one, ties in another, and one in six is confidently wrong."""
    classes = (2,) if issubclass(entry.target, BinaryCalibrator) else (2, 3, 5)
    for seed in range(30):
        rng = np.random.default_rng(seed)
        k = classes[seed % len(classes)]
        truth = rng.dirichlet(np.full(k, rng.choice([0.3, 1.0, 3.0])), 80)
        label = (rng.random((80, 1)) > truth.cumsum(axis=1)).sum(axis=1).clip(0, k - 1)
        prob = truth ** rng.choice([0.4, 1.0, 2.5]) * rng.uniform(0.5, 2.0, k)
        if seed % 6 == 4:
            prob = 1.0 / (0.1 + prob)
        if seed % 3 == 1:
            prob = np.round(prob, 1) + 0.1
        if seed % 3 == 2:
            prob[::7, 0] *= label[::7] == 0
        prob = prob / prob.sum(axis=1, keepdims=True)
        if seed % 6 == 4:  # three sure ones are right: the curve rises above the diagonal somewhere
            prob[:3], prob[range(3), label[:3]] = 0.01 / (k - 1), 0.99
        yield prob, label
    # The true class is the most probable one in every row.
    prob = np.random.default_rng(0).dirichlet([1.0, 1.0], 80)
    yield prob, prob.argmax(axis=1)
    # The event rate rises with the score, and falls again.
    rng = np.random.default_rng(0)
    z = rng.normal(0.0, 2.0, 2000)
    label = (rng.random(2000) < expit(1.0 + np.minimum(2.0 * z, -0.5 * z))).astype(int)
    yield np.column_stack([expit(-z), expit(z)]), label


def with_new_rows(prob):
    """Forecasts to calibrate: those fitted on, and others between them."""
    return np.vstack([prob, np.random.default_rng(0).dirichlet(np.ones(prob.shape[1]), 50)])


FITTED = {}
"""Calibrators by what they were fitted to: five of the guarantees ask of the same fits."""


def fitted(calibrator, prob, label, weight=None):
    key = repr(calibrator), prob.shape, prob.tobytes(), label.tobytes(), weight is None or weight.tobytes()
    if key not in FITTED:
        FITTED[key] = clone(calibrator).set_params(labels=np.arange(prob.shape[1])).fit(prob, label, weight)
    return FITTED[key]


def order_preserving(calibrator, prob, label):
    given = with_new_rows(prob)
    new = fitted(calibrator, prob, label).predict_proba(given)
    for j in range(prob.shape[1]):
        order = np.argsort(given[:, j], kind="stable")
        rises = np.diff(given[order, j]) > 0
        if (np.diff(new[order, j])[rises] < -ROUNDING).any():
            return False
    return True


def argmax_preserving(calibrator, prob, label):
    given = with_new_rows(prob)
    new = fitted(calibrator, prob, label).predict_proba(given)
    was_first = given.argmax(axis=1)
    return bool((new[np.arange(len(new)), was_first] >= new.max(axis=1) - ROUNDING).all())


def hull_of_roc(score, occurred):
    """Corners of the convex hull of the ROC curve, from the definition: the points that no line between others tops."""
    at = [np.inf, *np.unique(score)[::-1]]
    hull = []
    for x, y in [(int((score >= t)[~occurred].sum()), int((score >= t)[occurred].sum())) for t in at]:
        while len(hull) > 1 and (hull[-1][0] - hull[-2][0]) * (y - hull[-2][1]) >= (
            (hull[-1][1] - hull[-2][1]) * (x - hull[-2][0])
        ):
            hull.pop()
        hull.append((x, y))
    return np.array(hull)


def roc_hull_preserving(calibrator, prob, label):
    """Rounding can tie scores that differ in their last digits only, so what is compared are areas."""
    if prob.shape[1] != 2 or label.min() == label.max():
        return True
    hulls = [hull_of_roc(p[:, 1], label == 1) for p in (prob, fitted(calibrator, prob, label).predict_proba(prob))]
    before, after = (np.trapezoid(hull[:, 1], hull[:, 0]) for hull in hulls)
    return bool(abs(after - before) < 1e-6 * before)


def permutation_equivariant(calibrator, prob, label):
    given = with_new_rows(prob)
    turned = np.roll(np.arange(prob.shape[1]), 1)
    new = fitted(calibrator, prob, label).predict_proba(given)
    other = fitted(calibrator, prob[:, turned], np.argsort(turned)[label]).predict_proba(given[:, turned])
    return np.allclose(other, new[:, turned], rtol=1e-8, atol=ROUNDING)


def finite_log_loss(calibrator, prob, label):
    given = with_new_rows(prob)
    new = fitted(calibrator, prob, label).predict_proba(given)
    return bool((new[given > 0] > 0).all())


def contains_the_identity(calibrator, prob, label):
    """Fitted to labels that occur exactly as often as predicted, it changes nothing, on new rows either."""
    n, k = prob.shape
    occurred = prob.ravel() > 0
    exact = fitted(
        calibrator, np.repeat(prob, k, axis=0)[occurred], np.tile(np.arange(k), n)[occurred], prob.ravel()[occurred]
    )
    given = with_new_rows(prob)
    return np.allclose(exact.predict_proba(given), given, rtol=1e-6, atol=1e-9)


KEPT = {
    "order preserving": order_preserving,
    "argmax preserving": argmax_preserving,
    "ROC-hull preserving": roc_hull_preserving,
    "permutation equivariant": permutation_equivariant,
    "finite log loss": finite_log_loss,
    "contains the identity": contains_the_identity,
}


def test_every_guarantee_is_checked_here():
    assert set(KEPT) == set(GUARANTEES)


@pytest.mark.parametrize(("name", "guarantee"), [(name, guarantee) for name in CALIBRATORS for guarantee in KEPT])
def test_a_guarantee_holds_exactly_where_it_is_declared(name, guarantee):
    entry = CALIBRATORS[name]
    holds = all(KEPT[guarantee](entry.target(), prob, label) for prob, label in problems(entry))
    declared = guarantee in entry.guarantees
    assert holds or not declared, f"{name} declares {guarantee!r}, and some forecast of this test breaks it"
    assert declared or not holds, f"{name} does not declare {guarantee!r}, and no forecast of this test breaks it"


def test_one_against_the_rest_renames_with_the_classes():
    rng = np.random.default_rng(0)
    prob, label = rng.dirichlet(np.ones(3), 200), rng.integers(0, 3, 200)
    assert permutation_equivariant(ByNotion(IsotonicCalibration(), "class-wise"), prob, label)
