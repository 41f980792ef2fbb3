"""Cells of equal mass: the simplex is cut along one direction after the other, so many rows at a time."""

from __future__ import annotations

import reprlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from calibrant._core.links import FloatArray, grouped
from calibrant._core.parameters import choice, numbers, refuse, require, whole
from calibrant._core.problem import BoolArray, IntArray, SimplexProblem
from calibrant._core.registry import declare
from calibrant.binning.base import require_bins
from calibrant.binning.partition import Partition
from calibrant.binning.simplex.base import SimplexBinning

ROUNDING = 1e-12
BLOCK = 1 << 17
"""Numbers looked at together."""

WORDS = ("cyclic", "random")

Directions = Literal["cyclic", "random"] | Sequence[Sequence[float]] | npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ProjectionCells(Partition):
    """Half-spaces in turn: cell b holds what lies at or below ``threshold[b]`` along ``direction[b]``, and in no cell before.

    The last cell holds the rest.
    """

    direction: FloatArray
    threshold: FloatArray

    def __post_init__(self) -> None:
        if not np.size(self.threshold):  # a file says of no cuts nothing about their columns: one form for both
            object.__setattr__(self, "direction", np.empty((0, 0)))

    @property
    def n_cells(self) -> int:  # type: ignore[override]
        """Number of cells: one more than cuts."""
        return self.threshold.size + 1

    def _check_loaded(self, n_classes: int) -> None:
        n_cuts = np.size(self.threshold)
        numbers("threshold", self.threshold, shape=(n_cuts,))
        if n_cuts:  # of no cuts a file does not know how many columns they have
            numbers("direction", self.direction, shape=(n_cuts, n_classes))

    def index(self, prob: FloatArray) -> IntArray:
        """Take the cells off one after the other."""
        return np.concatenate([self._index(block) for block in _blocks(prob)])

    def is_boundary(self, prob: FloatArray) -> BoolArray:
        """Whether a forecast lies on the hyperplane of a cut, whichever cell it is in."""
        return np.concatenate([self._is_boundary(block) for block in _blocks(prob)])

    def _index(self, prob: FloatArray) -> IntArray:
        cell, row = np.full(len(prob), self.threshold.size, dtype=np.intp), np.arange(len(prob))
        for number, (direction, threshold) in enumerate(zip(self.direction, self.threshold, strict=True)):
            below = projected(prob, direction, row) <= threshold
            cell[row[below]] = number
            row = row[~below]
        return cell

    def _is_boundary(self, prob: FloatArray) -> BoolArray:
        found, row = np.zeros(len(prob), dtype=bool), np.arange(len(prob))
        for direction, threshold in zip(self.direction, self.threshold, strict=True):
            found |= projected(prob, direction, row) == threshold
        return found


@declare("simplex-binning", "projection", symbol="PB", source="Gupta and Ramdas 2022")
@dataclass(frozen=True)
class Projection(SimplexBinning):
    """Cells of equal mass for any number of classes: rows are taken off along one direction after the other.

    The binning of projection histogram binning. Every cell holds about n / ``n_bins`` rows, so that the class rates of each
    can be estimated, whatever the number of classes.

    Parameters
    ----------
    n_bins : int, default=27
        Number of cells B, at least 1. With fewer than 2 B - 1 rows there are (n + 1) // 2, so that each has an interior row.
    directions : {"cyclic", "random"} or array-like of shape (n_directions, n_classes), default="cyclic"
        Along what to cut, in turn: "cyclic" takes off the rows with the highest probability of the first class, then of the
        second, ..., the last, and of the first again; "random" draws unit vectors; an array holds the directions themselves,
        and cuts go no further than these do.
    random_state : int, default=0
        Seed of the random directions.

    Raises
    ------
    ValueError
        If it is called on a problem with other classes than the directions have columns.

    Notes
    -----
    With c = floor((n + 1) / B), threshold b is the c-th smallest of the products of direction b with the rows that are left;
    what lies at or below it makes cell b and is taken off, B - 1 times. The last cell holds the rest. A forecast is in
    the first cell b with  product <= threshold b: rows that tie are never split, and those that were taken off are those that
    are found there. With forecasts that do not tie, B - 1 cells hold c rows, one of them on its own cut, and the last c - 1 or
    more; those on no cut are the interior rows, which `Partition.is_boundary` tells from the others.

    A cut that would leave no row is left out and the next direction tried, up to as many in a row as there are classes, so
    that every cell holds rows. Where ties are heavy there are fewer cells: of equal forecasts one. A whole weight counts as so
    many rows; others are scaled to a mean of one.

    References
    ----------
    Gupta, Ramdas, Top-label calibration and multiclass-to-binary reductions, ICLR 2022, Algorithm 10. There rows on a
    threshold are taken off with one cell and found in the next; here they belong to the first.

    Examples
    --------
    >>> from calibrant.binning import Projection
    >>> from calibrant.metrics import canonical_calibration_error
    >>> P = [[0.8, 0.1, 0.1], [0.9, 0.1, 0.0], [0.3, 0.3, 0.4]]
    >>> round(canonical_calibration_error([0, 1, 2], P, binning=Projection(2)), 3)
    0.467
    """

    cells: ClassVar[type[Partition]] = ProjectionCells

    n_bins: int = 27
    directions: Directions = "cyclic"
    random_state: int = 0

    def __post_init__(self) -> None:
        require_bins(self.n_bins)
        whole("random_state", self.random_state, least=0, hint="Pass a seed, such as 0")
        if isinstance(self.directions, str):
            choice("directions", self.directions, WORDS)
        else:
            object.__setattr__(self, "directions", _as_rows(self.directions))

    def partition(self, problem: SimplexProblem) -> Partition:
        """Take rows off until the last cell is left."""
        prob, n_classes = problem.prob, problem.prob.shape[1]
        weights = problem.weights
        n_rows = int(weights.total) if weights.are_counts else problem.size
        n_bins = min(self.n_bins, max(1, (n_rows + 1) // 2))
        wanted, row, failed = (n_rows + 1) // n_bins, np.arange(problem.size), 0
        cuts: list[tuple[FloatArray, float]] = []
        for direction in self._in_turn(n_classes):
            # Ties can leave nothing to cut along a direction; in turn, that is tried of each class before it is believed.
            if len(cuts) == n_bins - 1 or failed == n_classes:
                break
            value = projected(prob, direction, row)
            weight = None if weights.is_unit else weights.values[row] * weights.rows_per_weight
            threshold = _smallest(value, weight, wanted)
            above = value > threshold
            if not above.any():
                failed += 1
                continue
            failed, row = 0, row[above]
            cuts.append((direction, threshold))
        return ProjectionCells(
            np.array([direction for direction, _ in cuts]).reshape(len(cuts), n_classes),
            np.array([threshold for _, threshold in cuts], dtype=np.float64),
        )

    def _in_turn(self, n_classes: int) -> Iterator[FloatArray]:
        """Return the directions, without end unless they were given."""
        if isinstance(self.directions, str):
            if self.directions == "cyclic":
                return cycle(0.0 - np.eye(n_classes))
            rng = np.random.default_rng(self.random_state)
            drawn = (rng.standard_normal(n_classes) for _ in cycle([None]))
            return (direction / np.sqrt((direction**2).sum()) for direction in drawn)
        given = np.array(self.directions)
        require(
            given.shape[1] == n_classes,
            f"directions must have a column for each of the {n_classes} classes",
            value=given.shape[1],
            hint="Pass 'cyclic', which fits any number",
        )
        return iter(given)


def projected(prob: FloatArray, direction: FloatArray, row: IntArray) -> FloatArray:
    """Product of some rows with a direction, class after class, so that a row has the same to the last bit in any company.

    Sums that agree to 1e-12 are one; of one class there is no sum.
    """
    value, some = np.zeros(row.size), np.flatnonzero(direction)
    for j in some:
        value += direction[j] * prob[row, j]
    return grouped(value) if some.size > 1 else value


def _blocks(prob: FloatArray) -> Iterator[FloatArray]:
    """Return some rows at a time, so that they stay in the processor's cache."""
    step = max(1, BLOCK // prob.shape[1])
    return (prob[start : start + step] for start in range(0, max(len(prob), 1), step))


def _smallest(value: FloatArray, weight: FloatArray | None, wanted: int) -> float:
    """Return the value up to which so many rows stand, one each without weights; infinity, if there are fewer."""
    if weight is None:
        return float(np.partition(value, wanted - 1)[wanted - 1]) if wanted <= value.size else np.inf
    order = np.argsort(value)
    # Sums of fractions are rounded: what is reached but for rounding is reached.
    at = int(np.searchsorted(np.cumsum(weight[order]), wanted * (1.0 - ROUNDING)))
    return float(value[order[at]]) if at < value.size else np.inf


def _as_rows(directions: object) -> tuple[tuple[float, ...], ...]:
    """Return directions as rows of finite numbers, none of them all zero."""
    wanted = "directions must be 'cyclic', 'random' or a table of finite numbers, a direction a row, none of them zero"
    try:
        table = np.array(directions, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        refuse(wanted, got=reprlib.repr(directions), hint="Pass one of them", error=TypeError)
    fits = table.ndim == 2 and np.isfinite(table).all() and table.any(axis=1).all()
    require(fits, wanted, got=reprlib.repr(directions), hint="Pass one of them")
    return tuple(map(tuple, table.tolist()))
