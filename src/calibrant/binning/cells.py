"""How the simplex is cut into cells, for statements about the whole forecast and not about one score of it.

A simplex binning is a frozen object of parameters. Called on a problem it gives `Bins`: sums over the rows of each cell.
The cell of a row depends on its forecast alone, so equal forecasts always share a cell and the order of rows never matters.
"""

from __future__ import annotations

import reprlib
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, combinations, count, cycle
from math import comb
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from calibrant._core.arrays import FloatArray, NDArray, grouped, is_whole
from calibrant._core.checks import choice, numbers, refuse, require, whole
from calibrant._core.registry import declare
from calibrant._core.result import read_only
from calibrant._core.rows import BoolArray, IntArray, SimplexProblem
from calibrant.binning.bins import Bins, Partition, even_edges, of_word, require_bins, sums_of_forecasts

# What a binning of the simplex is, and what it gives: sums over the rows of each cell


class SimplexBinning(ABC):
    """How the simplex is cut. Called on a problem, returns `Bins`."""

    cells: ClassVar[type[Partition] | None] = None
    """What `partition` returns, where that can be saved: a dataclass of numbers and arrays."""

    @abstractmethod
    def partition(self, problem: SimplexProblem) -> Partition:
        """Find the cells for a problem.

        Parameters
        ----------
        problem : SimplexProblem
            What is to be cut.

        Returns
        -------
        Partition
            Cells, each row of the problem in one of them.
        """

    def __call__(self, problem: SimplexProblem) -> Bins:
        """Cut the forecasts of a problem and sum over the cells."""
        return sums_of_forecasts(self.partition(problem), problem)


# A grid on the simplex: each probability is cut by itself


CODES = 1 << 31
"""Numbers that the digits of some columns are put together to; twice as many bits fit into an integer."""


@dataclass(frozen=True, eq=False)
class GridCells(Partition):
    """Cells of a grid: the bins of ``width`` columns make a number, whose place among the ``known`` ones leads the next."""

    n_bins: int
    width: int
    known: tuple[IntArray, ...]

    @property
    def n_cells(self) -> int:  # type: ignore[override]
        """Number of cells that held rows."""
        return self.known[-1].size

    def _check_loaded(self, n_classes: int) -> None:
        SimplexGrid(self.n_bins)
        is_list, kind = isinstance(self.known, (list, tuple)), type(self.known).__name__
        require(is_list, "known must be a list of arrays", got=kind, hint="Fit anew", error=TypeError)
        width = _width(self.n_bins)
        must = f"known must have an array for every {width} of {n_classes} classes, and width say so"
        fits = self.width == width and len(self.known) == -(-n_classes // width)
        require(fits, must, got=f"{len(self.known)} and {self.width!r}", hint="Fit anew")
        for known in self.known:
            size = numbers("known", known, shape=(None,), least=0, order="rising").size
            require(size, "known must hold a cell", got="none", hint="Fit anew")

    def index(self, prob: FloatArray) -> IntArray:
        """Look up the numbers, some columns at a time."""
        at, is_known = np.zeros(len(prob), dtype=np.int64), np.ones(len(prob), dtype=bool)
        for number, known in enumerate(self.known):
            code = _append(at, prob[:, number * self.width : (number + 1) * self.width], self.n_bins)
            at = np.minimum(np.searchsorted(known, code), known.size - 1)
            is_known &= known[at] == code
        return np.where(is_known, at, -1)


@declare("simplex-binning", "grid", symbol="SG", source="Vaicenavicius et al. 2019; Gupta and Ramdas 2022")
@dataclass(frozen=True)
class SimplexGrid(SimplexBinning):
    """Each probability cut into bins of equal width; forecasts whose probabilities share all bins share a cell.

    Only cells that hold rows are kept, so that many classes cost no memory. But with many classes nearly every row is alone in
    its cell: a grid is for two to five classes.

    Parameters
    ----------
    n_bins : int, default=5
        Number of bins of each probability, right-closed, with 0 in the first.

    Notes
    -----
    Of Gupta and Ramdas this is the grid-style binning with K = ``n_bins`` steps of tau = 1 / K.

    References
    ----------
    Vaicenavicius, Widmann, Andersson, Lindsten, Roll, Schön, Evaluating model calibration in classification, AISTATS 2019.
    Gupta, Ramdas, Top-label calibration and multiclass-to-binary reductions, ICLR 2022.

    Examples
    --------
    >>> from calibrant.binning import SimplexGrid
    >>> from calibrant.metrics import canonical_calibration_error
    >>> P = [[0.8, 0.1, 0.1], [0.9, 0.1, 0.0], [0.3, 0.3, 0.4]]
    >>> round(canonical_calibration_error([0, 1, 2], P, binning=SimplexGrid(2)), 3)
    0.467
    """

    cells: ClassVar[type[Partition]] = GridCells

    n_bins: int = 5

    def __post_init__(self) -> None:
        require_bins(self.n_bins)

    def partition(self, problem: SimplexProblem) -> Partition:
        """Number the cells that hold rows."""
        width = _width(self.n_bins)
        code, known = np.zeros(problem.size, dtype=np.int64), []
        for start in range(0, problem.prob.shape[1], width):
            code = _append(code, problem.prob[:, start : start + width], self.n_bins)
            found, code = np.unique(code, return_inverse=True)
            known.append(found)
        return GridCells(self.n_bins, width, tuple(known))


def _width(n_bins: int) -> int:
    """Return how many columns are put together to a number."""
    return max(1, int(np.log(CODES) / np.log(max(n_bins, 2))))


def _append(code: IntArray, prob: FloatArray, n_bins: int) -> IntArray:
    """Append the bins of columns to a code, as digits of a number; what is given in single precision is cut at edges in it."""
    for column in prob.astype(np.float64, copy=False).T:
        is_single = column.astype(np.float32) == column
        at, of_single = (even_edges(n_bins, np.dtype(kind)).index(column) for kind in (np.float64, np.float32))
        code = code * n_bins + np.where(is_single, of_single, at)
    return code


# From a number or a word to a binning of the simplex


def as_simplex_binning(binning: int | str | SimplexBinning) -> SimplexBinning:
    """Return the simplex binning; a number n means ``SimplexGrid(n)``, a word the registered one, "sierpinski-3" of depth 3."""
    if isinstance(binning, str):
        binning = of_word("simplex-binning", binning)
    if isinstance(binning, SimplexBinning):
        return binning
    must = "binning must be a whole number, a word, or cut the whole simplex"
    require(is_whole(binning), must, value=binning, hint="Pass SimplexGrid(5): 5 bins for each class", error=TypeError)
    return SimplexGrid(int(binning))


# The grid of the simplex: all forecasts that are multiples of a step


MOST_NUMBERS = 2 * 10**7
"""Numbers of the finest grid that is made: 160 MB."""


def simplex_grid(n_classes: int, steps: int, name: str = "steps") -> FloatArray:
    """Return all forecasts that are multiples of 1 / ``steps``, in the order of their first probabilities, then the next.

    Parameters
    ----------
    n_classes : int
        Number of classes K.
    steps : int
        How often each edge of the simplex is cut.
    name : str, default="steps"
        What the steps are called where they are refused.

    Returns
    -------
    ndarray of shape (n_points, K)
        Forecasts.

    Raises
    ------
    ValueError
        If the grid would hold more than 2e7 numbers.
    """
    places = steps + n_classes - 1
    size = comb(places, n_classes - 1) * n_classes
    must, came = f"{name} must make a grid of at most {MOST_NUMBERS} numbers", f"{steps} steps for {n_classes} classes"
    require(size <= MOST_NUMBERS, must, got=f"{came}, which make {size:.3g}", hint="Pass fewer")
    # Bars among steps: what lies between two of them is a number of steps.
    bars = np.fromiter(chain.from_iterable(combinations(range(places), n_classes - 1)), dtype=np.int64)
    bars = bars.reshape(size // n_classes, n_classes - 1)
    return (np.diff(bars, axis=1, prepend=-1, append=places) - 1) / steps


# Cells of equal mass: the simplex is cut along one direction after the other, so many rows at a time


ROUNDING = 1e-12
BLOCK = 1 << 17
"""Numbers looked at together."""

Directions = Literal["cyclic", "random"] | Sequence[Sequence[float]] | NDArray[np.float64]


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
        cell = np.full(len(prob), self.threshold.size, dtype=np.intp)
        for start in range(0, len(prob), step := max(1, BLOCK // prob.shape[1])):  # which the processor's cache holds
            some, row = prob[start : start + step], np.arange(min(step, len(prob) - start))
            for number, (direction, threshold) in enumerate(zip(self.direction, self.threshold, strict=True)):
                below = projected(some, direction, row) <= threshold
                cell[start + row[below]] = number
                row = row[~below]
        return cell

    def is_boundary(self, prob: FloatArray) -> BoolArray:
        """Whether a forecast lies on the hyperplane of a cut, whichever cell it is in."""
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
            choice("directions", self.directions, get_args(get_args(Directions)[0]))
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
        if self.directions == "cyclic":
            return cycle(0.0 - np.eye(n_classes))
        if self.directions == "random":
            rng = np.random.default_rng(self.random_state)
            drawn = (rng.standard_normal(n_classes) for _ in cycle([None]))
            return (direction / np.sqrt((direction**2).sum()) for direction in drawn)
        given = np.array(self.directions)
        must = f"directions must have a column for each of the {n_classes} classes"
        require(given.shape[1] == n_classes, must, value=given.shape[1], hint="Pass 'cyclic', which fits any number")
        return iter(given)


def projected(prob: FloatArray, direction: FloatArray, row: IntArray) -> FloatArray:
    """Product of some rows with a direction, class after class, so that a row has the same to the last bit in any company.

    Sums that agree to 1e-12 are one; of one class there is no sum.
    """
    value, some = np.zeros(row.size), np.flatnonzero(direction)
    for j in some:
        value += direction[j] * prob[row, j]
    return grouped(value) if some.size > 1 else value


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


# The triangle of three classes, cut as Sierpinski's: corners again and again, the middle never


DEEPEST = 12
"""Cuts up to which cells can be counted: there are 797 161 of them then."""


@dataclass(frozen=True, eq=False)
class SierpinskiCells(Partition):
    """All cells down to a depth, whether they hold rows or not."""

    depth: int

    @property
    def n_cells(self) -> int:  # type: ignore[override]
        """Number of cells."""
        return n_cells_of(self.depth)

    def _check_loaded(self, n_classes: int) -> None:
        Sierpinski(self.depth)
        must = "classes must be three where cells are those of Sierpinski"
        require(n_classes == 3, must, value=n_classes, hint="Fit anew")

    def index(self, prob: FloatArray) -> IntArray:
        """Follow each forecast from corner to corner, until it is in the middle of three."""
        cell, row, lower = np.zeros(len(prob), dtype=np.intp), np.arange(len(prob)), np.zeros(prob.shape)
        for depth in range(1, self.depth + 1):
            # Half a triangle above its lower ends begin its corners. All these are multiples of a power of two: nothing is
            # rounded, and the forecast itself is compared.
            half = 0.5**depth
            above = prob[row] > lower + half
            corner = np.where(above.any(axis=1), above.argmax(axis=1), 3)
            cell[row] += corner * n_cells_of(self.depth - depth)
            again = corner < 3
            row, lower, corner = row[again], lower[again], corner[again]
            lower[np.arange(row.size), corner] += half
        return cell


@declare("simplex-binning", "sierpinski", symbol="SP", source="Gupta and Ramdas 2022")
@dataclass(frozen=True)
class Sierpinski(SimplexBinning):
    """The triangle of three classes cut into three corners and the middle, and each corner again (Sierpinski binning).

    The cells do not depend on the data: some may hold no row. They are finest where one class is nearly sure. For other numbers
    of classes take `Projection` or, for few, `SimplexGrid`.

    Parameters
    ----------
    depth : int, default=2
        How often corners are cut, 0 to 12. There are (3^(depth + 1) - 1) / 2 cells: 4, 13, 40, ...

    Raises
    ------
    ValueError
        If it is called on a problem that has not three classes.

    Notes
    -----
    Corner i of the whole triangle holds the forecasts with s_i > 1/2, and the middle those where no probability is that
    high: what lies on a border belongs to the middle, at every depth. In corner i the rule holds for the forecast that is
    stretched to fill a triangle, 2 s - e_i. Corner 1 has the first third of the numbers of cells, corner 2 the next, corner 3
    the next, and the middle the last number; within corners likewise.

    References
    ----------
    Gupta, Ramdas, Top-label calibration and multiclass-to-binary reductions, ICLR 2022.

    Examples
    --------
    >>> from calibrant.binning import Sierpinski
    >>> from calibrant.metrics import canonical_calibration_error
    >>> P = [[0.8, 0.1, 0.1], [0.9, 0.1, 0.0], [0.3, 0.3, 0.4]]
    >>> round(canonical_calibration_error([0, 1, 2], P, binning=Sierpinski(1)), 3)
    0.467
    """

    cells: ClassVar[type[Partition]] = SierpinskiCells

    depth: int = 2

    def __post_init__(self) -> None:
        whole("depth", self.depth, least=0, most=DEEPEST, hint="2 makes 13 cells, 3 makes 40")

    def partition(self, problem: SimplexProblem) -> Partition:
        """Return the cells, if there are three classes."""
        n_classes, hint = problem.prob.shape[1], "Cut with Projection() or SimplexGrid()"
        require(n_classes == 3, "Sierpinski must have three classes, a triangle", value=n_classes, hint=hint)
        return SierpinskiCells(self.depth)


def n_cells_of(depth: int) -> int:
    """Return the number of cells: three times those of a corner, and the middle."""
    return sum(3**level for level in range(depth + 1))


# Cells of a tree: a split around a point parts the simplex, then its sides are split in turn


@dataclass(frozen=True, eq=False)
class SplitTree(Partition):
    """Regions of the simplex: split s parts node v, where ``split[v]`` is s, around ``gamma[s]``.

    A forecast p goes to the side k where p - gamma is largest, to the first of equal ones: to node ``child[s, k]``. A side that
    held no row has no node, and child -1: what falls there goes to the side with the next largest. Node 0 is the simplex.

    Attributes
    ----------
    gamma : ndarray of shape (n_splits, K)
        Splitting points, in the order in which the splits were made.
    child : ndarray of shape (n_splits, K)
        Nodes that the sides of each split lead to; -1 where there is none. Nodes are numbered as they were made.
    split : ndarray of shape (n_nodes,)
        The split that parts each node; -1 of a leaf.

    Raises
    ------
    ValueError, TypeError
        If the parts make no tree, or nodes are not whole numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.binning import SplitTree
    >>> tree = SplitTree(np.array([[0.3, 0.3, 0.4]]), np.array([[1, 2, -1]]), np.array([0, -1, -1]))
    >>> tree.index(np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.2, 0.7]])).tolist()
    [0, 1, 1]
    """

    gamma: FloatArray
    child: IntArray
    split: IntArray

    def __post_init__(self) -> None:
        n_splits = len(self.gamma)
        # Of no splits a file does not know how many columns they have.
        gamma, child = (np.reshape(part, (n_splits, -1 if n_splits else 0)) for part in (self.gamma, self.child))
        parts = {"gamma": gamma.astype(np.float64), "child": child, "split": np.asarray(self.split)}
        for name, part in parts.items():
            must, hint = f"{name} must hold whole numbers", "Pass those of another tree"
            require(name == "gamma" or part.dtype.kind in "iu", must, got=f"{part.dtype}", hint=hint, error=TypeError)
            object.__setattr__(self, name, read_only(part if name == "gamma" else part.astype(np.int64)))
        n_nodes, n_made = self.split.size, (self.child >= 0).sum(axis=1)
        require(
            self.split.ndim == 1
            and self.child.shape == self.gamma.shape
            and np.isfinite(self.gamma).all()
            and np.array_equal(np.sort(self.split[self.split >= 0]), np.arange(n_splits))
            and np.array_equal(self.child[self.child >= 0], np.arange(1, n_nodes))
            and n_made.all()
            and (self.parent <= np.cumsum(n_made) - n_made).all(),  # made by a split before
            "gamma, child and split must make a tree, nodes in the order in which they are made",
            got=f"{n_splits} splits and {n_nodes} nodes that do not",
            hint="Pass the parts of a fitted one",
        )

    def _check_loaded(self, n_classes: int) -> None:
        fits = not len(self.gamma) or self.gamma.shape[1] == n_classes
        require(fits, f"gamma must have {n_classes} columns, as classes", value=self.gamma.shape[1], hint="Fit anew")

    @property
    def n_cells(self) -> int:  # type: ignore[override]
        """Number of leaves."""
        return int(self.leaves().size)

    @property
    def parent(self) -> IntArray:
        """The node that each split parts, shape (n_splits,)."""
        node = np.flatnonzero(self.split >= 0)
        return node[np.argsort(self.split[node])]

    @property
    def n_regions(self) -> IntArray:
        """Number of leaves after the first 0, 1, ... splits, shape (n_splits + 1,)."""
        return 1 + np.append(0, np.cumsum((self.child >= 0).sum(axis=1) - 1))

    def index(self, prob: FloatArray) -> IntArray:
        """Find the leaf of each forecast; leaves are numbered as their nodes are."""
        return np.searchsorted(self.leaves(), self.nodes(prob))

    def nodes(self, prob: FloatArray, n_splits: int | None = None) -> IntArray:
        """Find the node of each forecast after the first splits.

        Parameters
        ----------
        prob : ndarray of shape (n, K)
            Forecasts.
        n_splits : int, optional
            How many splits to follow; all by default.

        Returns
        -------
        ndarray of shape (n,)
            Numbers of nodes.
        """
        from calibrant._kernels.irp import node_of

        fits = not len(self.gamma) or prob.shape[1] == self.gamma.shape[1]
        must, hint = f"prob must have {self.gamma.shape[1]} columns, as splits have", "Pass the classes fitted"
        require(fits, must, value=prob.shape[1], hint=hint)
        found = np.empty(len(prob), dtype=np.int64)
        most = len(self.gamma) if n_splits is None else n_splits
        node_of(np.ascontiguousarray(prob), self.gamma, self.child, self.split, most, found)
        return found

    def stages(self, prob: FloatArray) -> Iterator[IntArray]:
        """Find the nodes of forecasts after 0, 1, ... splits; each of the arrays is a new one.

        Parameters
        ----------
        prob : ndarray of shape (n, K)
            Forecasts.

        Yields
        ------
        ndarray of shape (n,)
            Numbers of nodes.
        """
        at = np.zeros(len(prob), dtype=np.int64)
        yield at
        for number, parent in enumerate(self.parent, start=1):
            moved = np.flatnonzero(at == parent)
            at = at.copy()
            at[moved] = self.nodes(prob[moved], number)
            yield at

    def leaves(self) -> IntArray:
        """Find the nodes that are leaves.

        Returns
        -------
        ndarray of shape (n_cells,)
            Numbers of nodes, increasing.
        """
        return np.flatnonzero(self.split < 0)

    def up(self, of_leaf: NDArray[Any]) -> NDArray[Any]:
        """Add up what leaves have, one row each, to what all nodes have.

        Parameters
        ----------
        of_leaf : ndarray of shape (n_cells, ...)
            What each leaf has.

        Returns
        -------
        ndarray of shape (n_nodes, ...)
            What each node has.
        """
        total = np.zeros((self.split.size, *of_leaf.shape[1:]), dtype=of_leaf.dtype)
        total[self.leaves()] = of_leaf
        for parent, child in zip(self.parent[::-1], self.child[::-1], strict=True):  # children come after their parents
            total[parent] = total[child[child >= 0]].sum(axis=0)
        return total


# Regions split at their centre again and again, whatever the labels: what a partition that adapts is compared with


STEPS = {2: 1000, 3: 100, 4: 50}
"""Steps of the grid, by number of classes, where they are not given. With more classes there are as many as fit `POINTS`."""

POINTS = 25_000
MARGIN = 1e-12
"""Differences p - gamma that agree to this are equal, as where rows go down a tree."""

BORDER = 1e-9
"""So near to a border a point of the grid lies on it."""


@declare("simplex-binning", "recursive-split", symbol="RS", source="Berta, Bach and Jordan 2024")
@dataclass(frozen=True)
class RecursiveSplit(SimplexBinning):
    """Regions split around their centre, one after the other in the order in which they were made (recursive binning).

    The labels have no say in it: it is the baseline that isotonic recursive partitioning is compared with. With two classes
    scores are cut at 1/2, at 1/4 and 3/4, and so on. ``CanonicalBinning(RecursiveSplit(20))`` calibrates with it.

    Parameters
    ----------
    n_splits : int, default=40
        Number of splits, at least 0. A split makes up to as many regions of one as there are classes. There are fewer splits
        where no region is left that the grid can split.
    steps : int, optional
        The grid holds the forecasts that are multiples of 1 / ``steps``. By default 1000 for two classes, 100 for three, 50 for
        four; for more classes as many as make at most 25,000 points.

    Raises
    ------
    ValueError, TypeError
        If a parameter is no whole number or too low; or if it is called on a problem with so many classes that the grid would
        hold more than 2e7 numbers.

    Notes
    -----
    A split around gamma parts a region into the sides where p_k - gamma_k is the largest of all classes k. The centre of a
    region is the mean of the points of the grid in it, where a point on a border is in all regions that it borders. A
    region without rows is not kept. Where all rows lie on one side that side is looked at again in its turn, and nothing was
    split. A region that holds one point of the grid or none stays as it is: with many classes, where the grid has few steps,
    that is soon.

    References
    ----------
    Berta, Bach, Jordan, Classifier calibration with ROC-regularized isotonic regression, AISTATS 2024.

    Examples
    --------
    >>> from calibrant.binning import RecursiveSplit
    >>> from calibrant.metrics import canonical_calibration_error
    >>> P = [[0.8, 0.1, 0.1], [0.9, 0.1, 0.0], [0.3, 0.3, 0.4]]
    >>> round(canonical_calibration_error([0, 1, 2], P, binning=RecursiveSplit(1)), 3)
    0.467
    """

    cells: ClassVar[type[Partition]] = SplitTree

    n_splits: int = 40
    steps: int | None = None

    def __post_init__(self) -> None:
        whole("n_splits", self.n_splits, least=0, hint="20 makes some twenty to forty cells of three classes")
        if self.steps is not None:
            whole("steps", self.steps, least=1, hint="100 makes 5151 points for three classes, None as many as suit")

    def partition(self, problem: SimplexProblem) -> Partition:
        """Split the regions in turn."""
        prob, n_classes = problem.prob, problem.prob.shape[1]
        steps = steps_of(n_classes) if self.steps is None else self.steps
        gamma: list[FloatArray] = []
        child: list[IntArray] = []
        split = [-1]
        waiting = deque([(0, np.arange(problem.size), simplex_grid(n_classes, steps))])
        while waiting and len(gamma) < self.n_splits:
            node, row, grid = waiting.popleft()
            if len(grid) < 2:
                continue
            centre = grid.mean(axis=0)
            side = _closed_sides(prob[row] - centre, MARGIN).argmax(axis=1)
            of_grid, held = _closed_sides(grid - centre, BORDER), np.unique(side)
            if held.size == 1:
                waiting.append((node, row, grid[of_grid[:, held[0]]]))
                continue
            nodes = np.full(n_classes, -1)
            nodes[held] = len(split) + np.arange(held.size)
            waiting.extend((nodes[k], row[side == k], grid[of_grid[:, k]]) for k in held)
            split[node] = len(gamma)
            split.extend([-1] * held.size)
            gamma.append(centre)
            child.append(nodes)
        shape = (len(gamma), n_classes)
        return SplitTree(np.array(gamma).reshape(shape), np.array(child, dtype=int).reshape(shape), np.array(split))


def steps_of(n_classes: int) -> int:
    """Return the steps of the grid for so many classes: at least one."""
    return STEPS.get(n_classes) or next(m for m in count(1) if comb(m + n_classes, n_classes - 1) > POINTS)


def _closed_sides(over: FloatArray, border: float) -> BoolArray:
    """Return which sides each point is in, those that it borders included; shape (n_points, K)."""
    return np.asarray(over >= over.max(axis=1, keepdims=True) - border)


# A cell for each forecast


@dataclass(frozen=True, eq=False)
class UniqueCells(Partition):
    """The distinct forecasts, in the order of their first, then their second probability, and so on."""

    prob: FloatArray

    @property
    def n_cells(self) -> int:  # type: ignore[override]
        """Number of distinct forecasts."""
        return len(self.prob)

    def _check_loaded(self, n_classes: int) -> None:
        numbers("prob", self.prob, shape=(len(self.prob), n_classes), least=0.0, most=1.0)
        is_known = len(self.prob) and np.array_equal(np.unique(self._known), self._known)
        require(is_known, "prob must hold each forecast once, in order", got="others", hint="Fit anew")

    def index(self, prob: FloatArray) -> IntArray:
        """Search for each forecast, to the last bit."""
        wanted = _keys(prob)
        at = np.minimum(np.searchsorted(self._known, wanted), self.n_cells - 1)
        return np.where(self._known[at] == wanted, at, -1)

    @cached_property
    def _known(self) -> NDArray[Any]:
        return _keys(self.prob)


@declare("simplex-binning", "unique", symbol="SU", source="Gupta and Ramdas 2022")
@dataclass(frozen=True)
class SimplexUnique(SimplexBinning):
    """A cell for each distinct forecast: no averaging at all. For forecasts that take few values, such as binned ones.

    Examples
    --------
    >>> from calibrant.binning import SimplexUnique
    >>> from calibrant.metrics import canonical_calibration_error
    >>> P = [[0.8, 0.1, 0.1], [0.8, 0.1, 0.1], [0.3, 0.3, 0.4]]
    >>> round(canonical_calibration_error([0, 1, 2], P, binning=SimplexUnique()), 3)
    0.467
    """

    cells: ClassVar[type[Partition]] = UniqueCells

    def partition(self, problem: SimplexProblem) -> Partition:
        """Find the distinct forecasts."""
        _, first = np.unique(_keys(problem.prob), return_index=True)
        return UniqueCells(problem.prob[first] + 0.0)


def _keys(prob: FloatArray) -> NDArray[Any]:
    """Return each row as one string of bytes. Numbers that are not negative are in the order of their big-endian bytes."""
    table = np.ascontiguousarray(prob + 0.0, dtype=">f8")  # no zero keeps a sign
    return table.view(np.dtype((np.void, 8 * prob.shape[1]))).reshape(len(prob))
