"""Do rows look as if the classifier was trained on them? They are compared with held-out rows."""

from __future__ import annotations

import numpy as np
from scipy import stats

from calibrant._core.links import FloatArray
from calibrant._core.parameters import require
from calibrant._core.problem import BinaryProblem, BoolArray, Problem, as_simplex
from calibrant._core.warnings import warn
from calibrant.metrics.log_losses import LogLoss

LEVEL = 0.001
"""Level of each of the three tests: two samples of one population are warned of in at most 3 of 1000 cases."""

FAR = 2.0 / 3.0
"""Share of the held-out rows' log loss, or error rate, below which these rows are far better."""

FEWEST, LEAST_SHARE = 5, 0.01
"""Rows, and share of the smaller set, that must stand in both before anything is said."""

WHY = "A classifier does better on its training rows than on new rows: a calibrator fitted to them leaves it over-confident."
WHAT_TO_DO = (
    "Calibrate on rows that were held out of training, or on cross-validated predictions "
    "(sklearn.model_selection.cross_val_predict)."
)


def warn_if_training_rows(rows: Problem, other: Problem) -> None:
    """Warn where rows for calibration look like training rows beside ``other`` ones, or stand among these as well."""
    require(
        rows.classes.tolist() == other.classes.tolist(),
        "the held-out rows must have the same classes",
        got=f"{other.classes.tolist()} beside {rows.classes.tolist()}",
        hint="Give forecasts of one classifier, or name the classes with labels=",
    )
    if better := _far_better(rows, other):
        warn(
            f"calibration rows must be held out of training; these look like training rows: {better}. {WHY} {WHAT_TO_DO}"
        )
    if shared := n_shared(rows, other):
        warn(
            f"calibration rows and held-out rows must be different; {shared} of {rows.size} calibration rows are also among "
            f"the {other.size} held-out rows, with the same label and the same prediction. Figures on rows that the "
            "calibrator was fitted to are too good. Remove these rows from one of the two."
        )


def _far_better(rows: Problem, other: Problem) -> str:
    """Say in which figures rows are far better than the held-out rows; nothing where they are not."""
    said = []
    losses = LogLoss()(as_simplex(rows)), LogLoss()(as_simplex(other))
    here, there = (float(np.mean(loss)) for loss in losses)
    if here < FAR * there and loss_pvalue(*losses) < LEVEL:
        said.append(f"their log loss is {here:.4f}, that of the held-out rows {there:.4f}")
    right = _is_right(rows), _is_right(other)
    here, there = (float(np.mean(one)) for one in right)
    if 1 - here < FAR * (1 - there) and accuracy_pvalue(*right) < LEVEL:
        said.append(f"their accuracy is {here:.1%}, that of the held-out rows {there:.1%}")
    return ", and ".join(said)


def loss_pvalue(rows: FloatArray, other: FloatArray) -> float:
    """p-value of losses as low as these beside the other ones, by ranks: a few large losses do not decide it.

    (Mann and Whitney, On a test of whether one of two random variables is stochastically larger than the other, 1947.)
    """
    if np.ptp(np.concatenate([rows, other])) == 0:
        return 1.0
    return float(stats.mannwhitneyu(rows, other, alternative="less", method="asymptotic").pvalue)


def accuracy_pvalue(rows: BoolArray, other: BoolArray) -> float:
    """p-value of as many right predictions beside the other ones: Fisher's exact test."""
    table = [[int(one.sum()), int((~one).sum())] for one in (rows, other)]
    return float(stats.fisher_exact(table, alternative="greater").pvalue)


def n_shared(rows: Problem, other: Problem) -> int:
    """Return how many rows stand among the held-out rows as well, where ties do not explain it; else 0.

    Only forecasts that occur twice in all are looked at. Where ties make them twice, they lie in different sets as often as
    any two rows do; where the sets share rows, they all do.
    """
    keys = np.concatenate([_keys(rows), _keys(other)])
    _, at, times = np.unique(keys, return_inverse=True, return_counts=True)
    among_rows = np.bincount(at[: rows.size], minlength=times.size)
    twice = int((times == 2).sum())
    split = int(((times == 2) & (among_rows == 1)).sum())
    if split < max(FEWEST, LEAST_SHARE * min(rows.size, other.size)):
        return 0
    n = rows.size + other.size
    by_chance = 2.0 * rows.size * other.size / (n * (n - 1.0))
    return split if stats.binom.sf(split - 1, twice, min(by_chance, 1.0)) < LEVEL else 0


def _keys(problem: Problem) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return a number for each row, the same for rows that agree in all columns and the label."""
    simplex = as_simplex(problem)
    values = simplex.forecast.values if not isinstance(problem, BinaryProblem) else _column(problem)[:, None]
    together = np.ascontiguousarray(np.column_stack([values + 0.0, simplex.label]))  # -0 is 0
    return np.array([hash(row.tobytes()) for row in together], dtype=np.int64)


def _column(problem: BinaryProblem) -> FloatArray:
    return problem.score if problem.logit is None else problem.logit


def _is_right(problem: Problem) -> BoolArray:
    simplex = as_simplex(problem)
    right: BoolArray = simplex.prob.argmax(axis=1) == simplex.label
    return right
