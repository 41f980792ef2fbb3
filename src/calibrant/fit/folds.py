"""Rows that are observations of their own, and folds of them; neither the order of rows nor that of columns matters.

Of a problem whose rows are copies of fewer rows (upsampled, drawn again and again, or with whole weights that say how much a
row counts) the copies are no further observations. Copies are distinguished by their labels from rows that coincide, as in a
table of scores with two decimals or of the leaves of a tree: labels of copies are equal, and those of rows that coincide
differ as often as those of rows with about the same score do. docs/decisions/0053-copies-of-rows.md has the reasons.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np

from calibrant._core.arrays import FloatArray, blocks
from calibrant._core.checks import warn
from calibrant._core.rows import BinaryProblem, IntArray, SimplexProblem, Weights, as_simplex
from calibrant.fit.isotonic import isotonic_fit_of

N_FOLDS = 5

ENOUGH = 20
"""Distinct rows from which on a factor that all of their numbers have in common is no coincidence."""

HALF, NO_CHANCE = 2.0, 2.0
"""Rows are copies if so many times the labels that differ among equal rows, and so many more, are fewer than expected."""

TENTH = 10.0
"""As `HALF`, where there is no forecast."""

FAR_FEWER = 3.0
"""Rows for each distinct one from which on copies are warned of."""

Kind = TypeVar("Kind", bound=BinaryProblem | SimplexProblem)
WordArray = np.ndarray[Any, np.dtype[np.uint64]]


class Fold(NamedTuple):
    """Weight with which each row is fitted, and with which it is left out."""

    kept: FloatArray
    left_out: FloatArray


# Observations


def observed(problem: Kind) -> Kind:
    """Return the problem; or, where its rows are copies, one row for each distinct one, with the weight of all of its copies.

    These weights say how much a row counts, unless all are equal. Rows are equal if they are in single precision, and have one
    label. A factor that all numbers of equal rows have in common is taken out, also where rows coincide.
    """
    own, distinct = _distinct(as_simplex(problem))
    return problem if own is None else cast("Kind", problem.at(distinct.first, own))


class _Distinct(NamedTuple):
    """The first row of each set of equal ones, the number of the set of each row, and how many rows each set has."""

    first: IntArray
    of_row: IntArray
    times: FloatArray


def _distinct(problem: SimplexProblem) -> tuple[Weights | None, _Distinct]:
    """Return the weights of the distinct rows, if the rows are copies, and these."""
    forecast = _hash_of(problem.forecast.values, in_order=True)
    _, first, of_row = np.unique(
        _mixed(forecast + problem.label.astype(np.uint64)), return_index=True, return_inverse=True
    )
    times: FloatArray = np.bincount(of_row, problem.weights.times).astype(np.float64, copy=False)
    distinct = _Distinct(first, of_row, times)
    if not times.max() > 1.0:
        return None, distinct
    factor = float(np.gcd.reduce(times.astype(np.int64))) if len(times) >= ENOUGH and times.max() < 2.0**53 else 1.0
    are_copies = _agree(problem.at(first), forecast[first], times / factor)
    if not are_copies and factor == 1.0:
        return None, distinct
    weight = np.bincount(of_row, problem.weight)
    if times.sum() >= FAR_FEWER * len(times):
        warn(
            f"the rows of a calibration set must be independent observations; {times.sum():.6g} rows are copies of "
            f"{len(times)}, by their labels or their number. Copies count as one row. Pass each row once, and how much it "
            "counts as a fraction: sample_weight / sum(sample_weight)."
        )
    if not are_copies and problem.weights.are_counts:
        return Weights(times / factor), distinct
    is_even = weight.max() == weight.min()
    return Weights.one_each(len(times)) if is_even else Weights(weight / weight.sum()), distinct


def _agree(problem: SimplexProblem, forecast: WordArray, times: FloatArray) -> bool:
    """Whether labels of equal forecasts agree much more often than those of forecasts whose highest probability is about equal.

    Rows that do not depend on each other differ in whether the class of highest probability is true, in n of them with the rate
    r, as often as n r (1 - r) says: on average (n - 1) times the true r (1 - r). That one is found by isotonic regression.

    Parameters
    ----------
    problem : SimplexProblem
        Distinct rows.
    forecast : ndarray of shape (n,)
        Hash of each forecast.
    times : ndarray of shape (n,)
        How often each occurs.
    """
    _, first, of_row = np.unique(forecast, return_index=True, return_inverse=True)
    top = problem.prob.max(axis=1)
    is_right = problem.prob[np.arange(problem.size), problem.label] == top
    number, right = np.bincount(of_row, times), np.bincount(of_row, times * is_right)
    _, place = np.unique(top[first], return_inverse=True)
    events, weight = (np.bincount(place, part).astype(np.float64, copy=False) for part in (right, number))
    steps = isotonic_fit_of(events, weight)
    rate = np.clip(steps.at_each_score(steps.rate)[place], 0.0, 1.0)
    differ = float((right * (number - right) / number).sum())
    expected = float(((number - 1.0) * rate * (1.0 - rate)).sum())
    return HALF * differ + NO_CHANCE < expected


def copies_of(words: WordArray, label: IntArray) -> IntArray | None:
    """Return the group of equal rows of each row, shape (n,), where labels of equal rows hardly differ; None if they do.

    There is no forecast to compare them with: features may determine the labels of rows that coincide. So labels are to differ
    a tenth as often as those of all rows do.
    """
    _, group = np.unique(_hash_of(words, in_order=True), return_inverse=True)
    number = np.bincount(group).astype(np.float64)
    if number.size == label.size:
        return None
    pair, times = np.unique(group * (int(label.max()) + 1) + label, return_counts=True)
    agree = np.bincount(pair // (int(label.max()) + 1), times.astype(np.float64) ** 2)
    rate = np.bincount(label) / label.size
    differ, expected = float((number - agree / number).sum()), float((number - 1.0).sum() * (1.0 - rate @ rate))
    return group if TENTH * differ + NO_CHANCE < expected else None


# Folds


def folds_of(problem: SimplexProblem, n_folds: int = N_FOLDS) -> Iterator[Fold]:
    """Leave out about a fifth of the rows at a time, or another part; no fold, if that is all there is.

    Copies are left out together. Other equal rows, those of one hash, are dealt out one by one to the folds in turn, from
    fold (hash modulo folds) on, and each of them has the same part in every fold that gets some. Left out together, as many as
    a tree makes, they would leave the others with rates that are far off.
    """
    own, distinct = _distinct(problem)
    times = problem.weights.times
    if own is not None:
        times = times * (own.times / distinct.times)[distinct.of_row]
    # In single precision, of the probabilities in any order and of that of the true class: calibrators that treat classes alike
    # cannot tell rows apart that differ in the order of the columns, or in which of equally probable classes is true.
    of_true = problem.prob[np.arange(problem.size), problem.label].astype(np.float32) + np.float32(0.0)
    hashed = _mixed(_hash_of(problem.prob, in_order=False) + np.uint64(3) * _mixed(of_true.view(np.uint32)))
    row_hash, group = np.unique(hashed, return_inverse=True)
    number = np.maximum(np.rint(np.bincount(group, times)), 1.0)
    start = (row_hash % np.uint64(n_folds)).astype(np.float64)
    rounds, rest = np.divmod(number, n_folds)
    part = problem.weight / number[group]
    for fold in range(n_folds):
        dealt = rounds + np.clip(rest - (fold - start) % n_folds, 0.0, 1.0)
        # Where all are dealt to one fold nothing is kept, not even rounding.
        left_out = np.where((dealt < number)[group], part * dealt[group], problem.weight)
        kept = problem.weight - left_out
        if kept.any() and left_out.any():
            yield Fold(kept, left_out)


def _hash_of(values: np.ndarray[Any, Any], *, in_order: bool) -> WordArray:
    """Hash numbers by rows, those with fractions in single precision, with or without a look at their order."""
    n, n_columns = values.shape
    place = np.arange(n_columns, dtype=np.uint64) << np.uint64(32)
    found = np.empty(n, dtype=np.uint64)
    for rows in blocks(n, n_columns, 1 << 18):
        part = values[rows]
        if part.dtype != np.uint64:
            with np.errstate(over="ignore"):  # logits beyond single precision are all alike
                part = part.astype(np.float32) + np.float32(0.0)  # of a negative zero a zero
            part = np.ascontiguousarray(part).view(np.uint32).astype(np.uint64)
        found[rows] = _mixed(_mixed(part + place) if in_order else part).sum(axis=1, dtype=np.uint64)
    return found


def _mixed(bits: np.ndarray[Any, Any]) -> WordArray:
    """Mix the bits of whole numbers (the finaliser of SplitMix64, Steele, Lea and Flood 2014)."""
    z = bits.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
