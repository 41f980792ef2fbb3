"""Between probabilities and the real line. The two epsilons of the library live here: one to fit with, one to measure with."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy.special import expit, log_softmax, logsumexp

FloatArray = npt.NDArray[np.float64]

EPSILON = 1e-12
"""What calibrators raise probabilities to before a logarithm: what they fit stays within 27.6 of zero in log-odds."""

CLIP = float(np.finfo(np.float64).eps)
"""What a log loss raises probabilities to by default, 2.2e-16, as scikit-learn does: a row costs at most 36.04 nats."""

LEAST_SCORE = -700.0
"""A calibrated score ends this far below the highest of its row, so that no probability becomes zero."""

UNITS = 1e12
"""Sums, differences and products of probabilities that agree to 1 / UNITS are ties; `grouped` makes them one number."""

EXACT = 2.0**53
"""Sums of whole numbers below this are exact."""

SLACK = 8.0 * CLIP
"""How far rounding moves decimals and sums of them, relative to them."""

AT_A_TIME = 1 << 15
"""Numbers summed at a time: they stay in the processor's cache."""

MANY_COLUMNS = 64
"""Length of rows along which NumPy sums as fast as down columns; along shorter ones it takes up to six times as long."""


def grouped(sums: FloatArray) -> FloatArray:
    """Round sums of probabilities to multiples of 1e-12, so that .8 + .1 and .7 + .2 are one number.

    What a sum becomes depends on nothing but itself: it is the same in ``fit`` and for new rows. Two sums of decimals with up
    to twelve digits are one number afterwards if and only if they are equal: half a unit lies between each and the next
    border. Probabilities themselves are never grouped: as given they are equal or not, and tiny ones keep their digits.
    """
    units: FloatArray = np.rint(sums * UNITS)
    units /= UNITS
    return units


def quotients(table: FloatArray, sums: FloatArray) -> FloatArray:
    """Divide rows by their sums, shape (n, 1), so that equal quotients of decimals are equal numbers.

    A row of decimals is one of whole multiples of 1e-12, whose quotients are rounded once. A sum of other numbers, such as
    thirds, that rounding alone parts from a decimal is that decimal: divided by 0.9999999999999999 in one row, and by 1 in the
    next, equal numbers would become two.
    """
    whole = np.rint(table * UNITS)
    total = whole.sum(axis=1, keepdims=True)
    is_exact = (total < EXACT) & (np.abs(whole / UNITS - table) <= SLACK * table).all(axis=1, keepdims=True)
    near = grouped(sums)
    divisor = np.where(np.abs(near - sums) <= SLACK * sums, near, sums)
    shares: FloatArray = np.where(is_exact, whole, table) / np.where(is_exact, total, divisor)
    return shares


def sum_of_rows(table: FloatArray) -> FloatArray:
    """Sum up each row of numbers in [0, 2], shape (n, 1), to the last bit the same in whatever order the columns come.

    Whole multiples of a power of two are summed, without rounding; sums below 1/2, which need finer ones, in sorted order.
    Else rows that hold the same numbers in another order, as votes do, would be divided by two sums.
    """
    n, n_columns = table.shape
    unit = 2.0 ** (61 - int(n_columns - 1).bit_length())
    sums, step = np.empty((n, 1)), max(1, AT_A_TIME // n_columns)
    for start in range(0, n, step):
        rows = slice(start, start + step)
        sums[rows, 0] = (table[rows] * unit).astype(np.int64).sum(axis=1)
    sums /= unit
    low = sums[:, 0] < 0.5
    if low.any():
        sums[low] = np.sort(table[low], axis=1).sum(axis=1, keepdims=True)
    return sums


def clipped(prob: FloatArray) -> FloatArray:
    """Probabilities raised to ``EPSILON`` from below."""
    return np.maximum(prob, EPSILON)


def log_prob_of_prob(prob: FloatArray) -> FloatArray:
    """Logarithms of probabilities, clipped at ``EPSILON``."""
    raised = np.asarray(clipped(prob))
    return np.log(raised, out=raised)


def log_cost(prob: FloatArray, clip: float = CLIP) -> FloatArray:
    """Negative logarithms of probabilities, raised to ``clip`` from below; with ``clip`` 0 that of 0 is infinite."""
    cost: FloatArray = np.asarray(np.maximum(prob, clip))
    with np.errstate(divide="ignore"):
        np.log(cost, out=cost)
    return np.negative(cost, out=cost)


def log_odds_of_prob(prob: FloatArray) -> FloatArray:
    """Log-odds of probabilities, clipped at ``EPSILON`` from 0 and from 1: within 27.6."""
    return log_prob_of_prob(prob) - log_prob_of_prob(1.0 - prob)


def log_prob_of_logit(logit: FloatArray) -> FloatArray:
    """Log-probabilities of logits, exact: nothing is clipped."""
    result: Any = log_softmax(np.ascontiguousarray(logit), axis=1)
    return np.asarray(result, dtype=np.float64)


def log_odds_of_logits(logits: FloatArray) -> FloatArray:
    """Log-odds of each class against all others, shape (n, K): exact where the probability has long become 0 or 1.

    As in `prob_of_logit`, neither the order of columns nor that in memory makes a difference.
    """
    logits = np.ascontiguousarray(logits)
    rows = np.arange(len(logits))
    top = logits.argmax(axis=1)
    highest = logits[rows, top]
    others = np.exp(logits - highest[:, None])
    others[rows, top] = 0.0
    rest = np.sort(others, axis=1).sum(axis=1)
    log_odds: FloatArray = logits - highest[:, None] - np.log(1.0 + rest[:, None] - others)
    # Seen from the highest logit itself, the others count from the highest among them.
    below = logits.copy()
    below[rows, top] = -np.inf
    log_odds[rows, top] = highest - np.asarray(logsumexp(np.sort(below, axis=1), axis=1))
    return log_odds


def score_of_logit(logit: FloatArray) -> FloatArray:
    """Logistic function of the logits of one event."""
    result: Any = expit(logit)
    return np.asarray(result, dtype=np.float64)


def prob_of_logit(logit: FloatArray) -> FloatArray:
    """Softmax over the columns, to the last bit the same in whatever order they come, and lie in memory.

    Else a step of a map, which begins at the score of some row, would lie above that score when the row comes again.
    """
    prob = np.array(logit, dtype=np.float64, order="C")
    prob -= prob.max(axis=1, keepdims=True)
    np.exp(prob, out=prob)
    prob /= sum_of_rows(prob)
    return prob


def prob_of_scores(scores: FloatArray, temperature: float = 1.0) -> FloatArray:
    """Softmax of scores / temperature over the columns, never zero: they end `LEAST_SCORE` below the highest of their row.

    Of few columns the table that is returned has its columns one after the other in memory.
    """
    order: Literal["F", "C"] = "F" if scores.shape[1] < MANY_COLUMNS else "C"
    powers: FloatArray = np.divide(scores, temperature, dtype=np.float64, order=order)
    powers -= powers.max(axis=1, keepdims=True)
    np.maximum(powers, LEAST_SCORE, out=powers)
    np.exp(powers, out=powers)
    powers /= sum_of_rows(powers)
    return powers
