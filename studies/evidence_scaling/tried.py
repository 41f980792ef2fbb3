"""What each part of evidence scaling is worth, and what was tried in its place: python -m studies.evidence_scaling.tried

Forecasts of the arena's data sets for design, with up to 15 classes, and one random draw of the rows to fit. For each variant
the change of the mean log loss of held-out rows is printed, in thousandths, with an interval over data sets. It takes up to
ten minutes.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any

import numpy as np
from scipy.special import softmax

from calibrant import log_loss
from calibrant._core.arrays import FloatArray
from calibrant._core.rows import SimplexProblem
from calibrant.calibrators import EvidenceScaling
from calibrant.calibrators import evidence as evidence_scaling
from calibrant.calibrators import evidence as pooling
from calibrant.calibrators import evidence_features as class_features
from calibrant.calibrators import evidence_features as hyper_prior
from calibrant.calibrators import evidence_features as model
from calibrant.calibrators.evidence_features import Hinges, Normal
from calibrant.fit.evidence import Evidence, Logit, ManyClasses, SameForAll, TwoClasses
from calibrant.fit.minimise import most_likely_shares
from studies.arena.cells import Cell, has_rows, split
from studies.arena.data_sets import DESIGN
from studies.arena.out_of_fold import load, stored
from studies.claims import table
from studies.evidence_scaling.__main__ import calibrated_rest as calibrated
from studies.evidence_scaling.precisions import interval

ROWS, MOST_CLASSES, MOST_WEIGHTS = (100, 300, 1000), 15, 800
NEVER = Normal(14.0, 0.0, 0.0, 1e-3)
"""A prior that keeps the weights of a group at zero."""

OWN_KNOTS = np.linspace(-6.0, -0.1, 4)
"""Log-probabilities at which curves of single classes bend."""


@contextmanager
def patched(*changes: tuple[Any, str, Any]) -> Iterator[None]:
    """Give attributes other values for a while."""
    before = [(where, name, getattr(where, name)) for where, name, _ in changes]
    try:
        for where, name, value in changes:
            setattr(where, name, value)
        yield
    finally:
        for where, name, value in before:
            setattr(where, name, value)


@contextmanager
def priors(of_two: bool, **changes: Normal) -> Iterator[None]:
    """Give groups other priors for a while, or new groups."""
    known: Any = hyper_prior.TWO_CLASSES if of_two else hyper_prior.MANY_CLASSES
    before = dict(known)
    try:
        known |= changes
        yield
    finally:
        known.clear()
        known.update(before)


# Shares by approximate leave-one-out


def design(logit: Logit) -> FloatArray:
    """Derivatives of the scores of each row in the weights, shape (n, K, d), or (n, 1, d) of two classes."""
    if isinstance(logit, TwoClasses):
        return logit.features[:, None, :]
    assert isinstance(logit, ManyClasses)
    assert isinstance(logit.table, SameForAll)
    (n, k), n_shared, f = logit.offset.shape, len(logit.shared), logit.table.n_features
    found = np.zeros((n, k, logit.size))
    found[:, :, :n_shared] = np.moveaxis(logit.shared, 0, 2)
    for j in range(k):
        found[:, j, n_shared + j * f : n_shared + (j + 1) * f] = logit.table.rows
    return found


def left_out(logit: Logit, w: FloatArray, ridge: FloatArray) -> FloatArray:
    """Probability of the true class of each row under weights without that row, to the second order, shape (n,)."""
    x, weight = design(logit), logit.weight
    if isinstance(logit, TwoClasses):
        score, truth = (logit.offset + logit.features @ w)[:, None], logit.occurred[:, None].astype(float)
        prob = 1.0 / (1.0 + np.exp(-score))
        spread = (prob * (1.0 - prob))[:, :, None]
    else:
        assert isinstance(logit, ManyClasses)
        prob, truth = logit.at(w).prob, np.eye(logit.offset.shape[1])[logit.label]
        score = np.log(prob)
        spread = prob[:, :, None] * (np.eye(prob.shape[1]) - prob[:, None, :])
    n, k, d = x.shape
    weighted = (spread * weight[:, None, None]) @ x
    a = x.reshape(n * k, d).T @ weighted.reshape(n * k, d) + np.diag(ridge)
    solved = np.linalg.solve(a, x.reshape(n * k, d).T).T.reshape(n, k, d)
    m = x @ solved.transpose(0, 2, 1)
    pull = np.linalg.solve(
        np.eye(k) - weight[:, None, None] * spread @ m, (weight[:, None] * (prob - truth))[:, :, None]
    )
    moved = score + (m @ pull)[:, :, 0]
    if isinstance(logit, TwoClasses):
        return np.asarray(1.0 / (1.0 + np.exp(np.where(logit.occurred, -moved[:, 0], moved[:, 0]))))
    return np.asarray(softmax(moved, axis=1)[np.arange(n), logit.label])


FOLDS_POOL = pooling.folds_pool
"""That of the library, which a variant takes the place of."""


def loo_pool(model: model.Model, evidence: Evidence, problem: SimplexProblem) -> tuple[pooling.Pool, FloatArray]:
    """As `folds_pool`, with approximate leave-one-out in place of folds; of many weights as that."""
    if model.logit.size > MOST_WEIGHTS:
        return FOLDS_POOL(model, evidence, problem)
    pool = pooling.Pool(model, evidence, pooling.PATH_OF_TWO if model.is_of_two else pooling.PATH)
    of_prediction = problem.prob[np.arange(problem.size), problem.label]
    each = [left_out(model.logit, w, ridge) for w, ridge in zip(pool.weights, pool.ridges, strict=True)]
    n_parts = len(each) + 1
    density = np.vstack([np.eye(n_parts), np.column_stack([*each, of_prediction])])
    weight = np.concatenate([np.full(n_parts, 1.0 / n_parts), problem.weights.values])
    return pool, most_likely_shares(density, weight, np.full(n_parts, 1.0 / n_parts)).point.x


# Curves of single classes


@contextmanager
def class_curves() -> Iterator[None]:
    """A curve for each class of its own log-probability, its weights a group."""
    plain, groups, own = (
        class_features.ClassFeatures.of_rows,
        class_features.table_groups,
        class_features.own_features,
    )
    hinges = Hinges.at(OWN_KNOTS, float(OWN_KNOTS[1:3].mean()))
    m = len(hinges.knots)

    def of_rows(self: class_features.ClassFeatures, z: FloatArray) -> FloatArray:
        return np.hstack([plain(self, z), *hinges.of(z)])

    def named(k: int) -> list[list[str]]:
        more = [["own" if i == j else "none" for i in range(k)] * m for j in range(k)]
        return [line + new for line, new in zip(groups(k), more, strict=True)]

    def of_class(k: int) -> Any:
        return np.hstack([own(k), 1 + 3 * k + np.arange(k)[:, None] + k * np.arange(m)])

    curve = hyper_prior.MANY_CLASSES["curve"]
    changes = (
        (class_features.ClassFeatures, "of_rows", of_rows),
        (model, "table_groups", named),
        (evidence_scaling, "table_groups", named),
        (model, "own_features", of_class),
    )
    with patched(*changes), priors(False, own=curve._replace(mean=curve.mean + 1.0), none=NEVER):
        yield


def variants(of_two: bool) -> Mapping[str, Callable[[], AbstractContextManager[None]]]:
    """What is changed, by its name."""
    groups = hyper_prior.groups_of(2 if of_two else 3)
    one_map = {(pooling, name, (0.0,)) for name in ("PATH", "PATH_OF_TWO")}
    return {
        **{f"without {name}": partial(priors, of_two, **{name: NEVER}) for name in groups},
        "one map of most evidence": partial(patched, *one_map),
        "leave-one-out for folds": partial(patched, (evidence_scaling, "folds_pool", loo_pool)),
        **({} if of_two else {"a curve for each class": class_curves}),
    }


def losses(prob: np.ndarray, y: np.ndarray, fit: np.ndarray, test: np.ndarray) -> dict[str, float]:
    """Log loss of each variant less that of evidence scaling as it is."""

    def loss() -> float:
        return float(log_loss(y[test], calibrated(EvidenceScaling(), prob, y, fit, test)))

    found, as_it_is = {}, loss()
    for name, changed in variants(prob.shape[1] == 2).items():
        with changed():
            found[name] = loss() - as_it_is
    return found


def main() -> None:
    """Print a table for two classes, and one for more."""
    found: dict[tuple[bool, str, int], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for data_set, name in stored(DESIGN):
        prob, y = load(data_set.name, name)
        if prob.shape[1] > MOST_CLASSES:
            continue
        for rows in ROWS:
            if has_rows(len(y), rows):
                fit, test = split(Cell(data_set.name, name, rows, 0), len(y))
                for variant, change in losses(prob, y, fit, test).items():
                    found[prob.shape[1] == 2, variant, rows][data_set.name].append(1000.0 * change)
    for of_two, word in ((True, "two classes"), (False, "three classes or more")):
        sets = {rows: len(found[of_two, "one map of most evidence", rows]) for rows in ROWS}
        lines = [
            [
                variant,
                *(interval(np.array([np.mean(one) for one in found[of_two, variant, rows].values()])) for rows in ROWS),
            ]
            for variant in variants(of_two)
        ]
        sys.stdout.write(table([word, *(f"{rows} rows ({n} sets)" for rows, n in sets.items())], lines) + "\n\n")


if __name__ == "__main__":
    main()
