"""The rows that a table of parameters is fitted to: in memory, or read in batches for each evaluation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from calibrant._core.arrays import FloatArray, sum_of_rows
from calibrant._core.border import Input
from calibrant._core.checks import flag, forecasts, number, numbers, require
from calibrant._core.registry import declare
from calibrant._core.rows import (
    BinaryProblem,
    BoolArray,
    Forecast,
    IntArray,
    Problem,
    SimplexProblem,
    Weights,
    as_simplex,
    row_blocks,
)
from calibrant.binning import Partition, class_sums
from calibrant.binning.bins import Ordered
from calibrant.binning.cells import SimplexBinning, as_simplex_binning
from calibrant.calibrators.base import MulticlassCalibrator
from calibrant.calibrators.isotonic import check_steps, on_steps
from calibrant.fit.isotonic import isotonic_fit
from calibrant.fit.multinomial import Design, Objective, ObjectiveInBatches
from calibrant.sums.reading import UnreadSimplex

# Canonical binning: histogram binning of whole forecasts


@declare("calibrator", "canonical-binning", symbol="CB", source="Gupta and Ramdas 2022", guarantees=set())
class CanonicalBinning(MulticlassCalibrator):
    """Replace a forecast by the class rates of its cell of the simplex (canonical histogram binning).

    Use it when the whole forecast must be calibrated, with a proof. It gives few vectors, each the class rates of the
    rows in one cell, so that the error of each can be bounded. Do not use it when forecasts must stay apart: all rows of
    a cell are tied, and the predicted class is one a cell. Temperature, vector or Dirichlet scaling keep them apart.

    Parameters
    ----------
    binning : int, str or SimplexBinning, default="projection"
        How the simplex is cut: n means ``SimplexGrid(n)``, a word the registered simplex binning of that name. `Projection`
        is for any number of classes, `SimplexGrid` for few, `Sierpinski` for three.
    interior : bool, default=True
        Leave out of the class rates the rows that lie on a cut that the data made: these are there because of the cut, and are
        no independent evidence of the rates. A cell without any other row is estimated from them all the same.
    smoothing : float, default=0
        So many rows of each class are added to every cell with rows: (k + a) / (m + L a) in place of k / m, for k rows of a
        class among the m of the cell, of L classes. Above 0 no class with rows near it gets probability 0. At most 1e15.
    input : {"probability", "logit"}, default="probability"
        What is passed to ``fit`` and ``predict_proba``.
    labels : sequence of length n_classes, optional
        The class of each column; by default 0, 1, ... or the sorted labels.

    Attributes
    ----------
    partition_ : Partition
        Which forecast is in which cell.
    value_ : ndarray of shape (n_cells, n_classes)
        Class rates of each cell; 1 / n_classes each where no row was.
    count_ : ndarray of shape (n_cells,)
        Rows that the rates of each cell are made of.
    classes_ : ndarray of shape (n_classes,)
        Labels in the order of the columns.

    Notes
    -----
    A cell without rows, and a forecast in none of the cells, get 1 / n_classes of each class. Whole weights count as rows;
    others are scaled to a mean of one where rows are counted, in ``smoothing``.

    With `Projection` and forecasts that do not tie, each cell has about n / n_bins rows, and one row a cut is left out. With
    forecasts that take few values whole ties lie on cuts; there ``interior=False`` wastes nothing.

    References
    ----------
    Gupta, Ramdas, Top-label calibration and multiclass-to-binary reductions, ICLR 2022. What is printed there for a cell
    without rows, one over the number of cells, does not sum to one.

    Examples
    --------
    >>> from calibrant.binning import Sierpinski
    >>> from calibrant.calibrators import CanonicalBinning
    >>> P = [[0.8, 0.1, 0.1], [0.6, 0.3, 0.1], [0.1, 0.8, 0.1], [0.4, 0.3, 0.3]]
    >>> fitted = CanonicalBinning(Sierpinski(1)).fit(P, [0, 1, 1, 2])
    >>> fitted.predict_proba([[0.7, 0.2, 0.1], [0.3, 0.3, 0.4]]).tolist()
    [[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]
    """

    partition_: Partition
    value_: FloatArray
    count_: IntArray

    def __init__(
        self,
        binning: int | str | SimplexBinning = "projection",
        *,
        interior: bool = True,
        smoothing: float = 0.0,
        input: Input = "probability",
        labels: Sequence[Any] | None = None,
    ) -> None:
        super().__init__(input=input, labels=labels)
        self.binning = binning
        self.interior = interior
        self.smoothing = smoothing

    def cells(self, y_prob: npt.ArrayLike) -> IntArray:
        """Find the cell of each forecast.

        Parameters
        ----------
        y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
            Forecast of the kind that was fitted.

        Returns
        -------
        ndarray of shape (n_samples,)
            Rows of ``value_``; -1 where a forecast is in none of the cells.
        """
        check_is_fitted(self)
        return self.partition_.index(self._forecast(self._received(y_prob, reset=False)).prob)

    def _fit(self, problem: SimplexProblem) -> None:
        interior = flag("interior", self.interior)
        smoothing = number("smoothing", self.smoothing, least=0.0, most=1e15, hint="In rows: 1 is Laplace's choice")
        partition = as_simplex_binning(self.binning).partition(problem)
        cell, n_cells, n_classes = partition.index(problem.prob), partition.n_cells, problem.prob.shape[1]
        counted = np.ones(problem.size, dtype=bool)
        if interior:
            inside = ~partition.is_boundary(problem.prob)
            counted = inside | (np.bincount(cell[inside], minlength=n_cells) == 0)[cell]
        count = np.bincount(cell[counted], minlength=n_cells)
        occurred = class_sums(cell[counted], problem.label[counted], problem.weight[counted], (n_cells, n_classes))
        added = smoothing / problem.weights.rows_per_weight
        value = np.full((n_cells, n_classes), 1.0 / n_classes)
        total = occurred.sum(axis=1, keepdims=True) + n_classes * added
        np.divide(occurred + added, total, out=value, where=count[:, None] > 0)
        self.partition_, self.value_, self.count_ = partition, value, count

    def _check_loaded(self) -> None:
        n_classes = len(self.classes_)
        self.partition_._check_loaded(n_classes)
        n_cells = self.partition_.n_cells
        forecasts("value_", self.value_, shape=(n_cells, n_classes))
        numbers("count_", self.count_, shape=(n_cells,), least=0)

    def _apply(self, forecast: Forecast) -> FloatArray:
        cell = self.partition_.index(forecast.prob)
        return np.where(cell[:, None] >= 0, self.value_[cell], 1.0 / self.value_.shape[1])


# Multi-class isotonic regression: one non-decreasing map for the scores of all classes


@declare(
    "calibrator",
    "irm",
    symbol="IRM",
    source="Zhang et al. 2020",
    guarantees={"argmax preserving", "ROC-hull preserving", "permutation equivariant", "finite log loss"},
)
class MulticlassIsotonic(MulticlassCalibrator):
    """Map the scores of all classes by one isotonic regression and divide rows by their sums (IRM).

    Use it when there are many classes with few rows each, and temperature scaling leaves a pattern along the score: all n
    times K scores are fitted at once, and the predicted class never changes. Do not use it when classes differ in how
    they are miscalibrated: a map for each class, such as `IsotonicTemperatureScaling`, or vector scaling can see that.

    Parameters
    ----------
    epsilon : float, default=1e-3
        This times the score is added to the isotonic map, which makes it strictly increasing: no class is tied with
        another that had less, and none that had a probability loses it. With 0, rows are those of flattened isotonic
        regression, and the predicted class can be tied.
    input : {"probability", "logit"}, default="probability"
        What is passed to ``fit`` and ``predict_proba``.
    labels : sequence of length n_classes, optional
        The class of each column; by default 0, 1, ... or the sorted labels.

    Attributes
    ----------
    left_ : ndarray of shape (n_blocks,)
        Lowest score of each block. Scores between blocks take the value of the one below, scores below all the first.
    value_ : ndarray of shape (n_blocks,)
        Event rate of each block, increasing.
    classes_ : ndarray of shape (n_classes,)
        Labels in the order of the columns.

    Notes
    -----
    Every row gives K points: the score of each class, and whether it is the true class. The map is the isotonic regression of
    the second on the first, a step function; equal scores are one point. Then q_k = g(p_k) + epsilon p_k, divided by
    the sum of the row. The authors' code interpolates between the steps, has epsilon = 1e-9 and does not divide. The
    division is needed for probabilities; the larger epsilon costs nothing on the rows fitted and bounds what a zero of the
    map costs on new ones. A row on which the map is zero keeps its forecast.

    One class alone: the map still separates the scores of that class from the others.

    References
    ----------
    Zhang, Kailkhura, Han, Mix-n-Match: ensemble and compositional methods for uncertainty calibration in deep learning,
    ICML 2020.

    Examples
    --------
    >>> from calibrant import load_digits_forecast
    >>> from calibrant.calibrators import MulticlassIsotonic
    >>> y, prob = load_digits_forecast()
    >>> calibrated = MulticlassIsotonic().fit(prob, y).predict_proba(prob)
    >>> bool((calibrated.argmax(axis=1) == prob.argmax(axis=1)).all())
    True
    """

    left_: FloatArray
    value_: FloatArray

    def __init__(
        self, *, epsilon: float = 1e-3, input: Input = "probability", labels: Sequence[Any] | None = None
    ) -> None:
        super().__init__(input=input, labels=labels)
        self.epsilon = epsilon

    def _fit(self, problem: SimplexProblem) -> None:
        number("epsilon", self.epsilon, least=0.0, most=1.0, hint="Pass a small one, such as 1e-3")
        n_classes = problem.prob.shape[1]
        occurred = problem.label[:, None] == np.arange(n_classes)
        weight = np.broadcast_to(problem.weight[:, None], occurred.shape)
        self.left_, self.value_ = steps_of(problem.prob, occurred, weight)

    def _check_loaded(self) -> None:
        number("epsilon", self.epsilon, least=0.0, most=1.0, hint="Fit anew")
        check_steps("left_", self.left_, "value_", self.value_)

    def _apply(self, forecast: Forecast) -> FloatArray:
        prob = forecast.prob
        return divided(on_steps(self.left_, self.value_, prob) + self.epsilon * prob, prob)


def steps_of(score: FloatArray, outcome: BoolArray, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Fit an isotonic step function to arrays of one shape: the lowest score and the event rate of each block.

    Points without event are always pooled with the last event below. So events alone are sorted, which are few among
    all scores of many classes, and what lies between two of them is counted.
    """
    event, at = np.unique(score[outcome], return_inverse=True)
    left = np.append(score.min(), event)
    above = np.searchsorted(event, score[~outcome], side="right")
    mass: FloatArray = np.append(
        np.bincount(at, weight[outcome], event.size), np.bincount(above, weight[~outcome], left.size)
    )
    some = mass > 0
    is_event = np.arange(mass.size) < event.size
    ordered = Ordered.of(BinaryProblem(np.append(event, left)[some], is_event[some], Weights(mass[some])))
    steps = isotonic_fit(ordered)
    return ordered.score[steps.starts], steps.rate


def divided(raised: FloatArray, prob: FloatArray) -> FloatArray:
    """Divide rows by their sums; a row of zeros keeps its forecast."""
    rows = np.where(raised.sum(axis=1, keepdims=True) > 0, raised, prob)
    result: FloatArray = rows / sum_of_rows(rows)
    return result


# The rows that a table of parameters is fitted to: in memory, or read in batches for each evaluation


EVEN = 1e-12
"""Difference of scores, relative to the largest, that is rounding."""

MOST_PARAMETERS = 1200
"""Parameters up to which second derivatives are summed over batches."""

Entering = Callable[[Forecast], FloatArray]
"""What makes the log-probabilities, or logits, of a forecast that enter a map."""


class TableRows(Protocol):
    """Rows that a table is fitted to."""

    @property
    def largest(self) -> float:
        """Largest size of a log-probability."""

    def in_units(self, size: float) -> TableRows:
        """Return the rows with log-probabilities in units of a size."""

    def objective(self, design: Design, ridge: FloatArray, centre: FloatArray) -> Objective:
        """Return the objective of a design."""

    def occurred(self) -> BoolArray:
        """Which classes occur."""

    def put_right(self, design: Design, ways: Sequence[FloatArray]) -> list[bool]:
        """Whether along each of these tables no row loses and some row gains."""


class RowsInMemory:
    """Rows in memory."""

    def __init__(self, z: FloatArray, problem: SimplexProblem) -> None:
        self.z, self.problem = z, problem

    @property
    def largest(self) -> float:
        """Largest size of a log-probability."""
        return max(float(self.z.max()), -float(self.z.min()))

    def in_units(self, size: float) -> RowsInMemory:
        """Return the rows with log-probabilities in units of a size."""
        return RowsInMemory(self.z / size, self.problem)

    def objective(self, design: Design, ridge: FloatArray, centre: FloatArray) -> Objective:
        """Return the objective of a design."""
        return Objective(design, self.z, self.problem, ridge, centre)

    def occurred(self) -> BoolArray:
        """Which classes occur."""
        occurred = np.zeros(self.z.shape[1], dtype=bool)
        occurred[self.problem.label] = True
        return occurred

    def put_right(self, design: Design, ways: Sequence[FloatArray]) -> list[bool]:
        """Whether along each of these tables no row loses and some row gains."""
        return [self._puts_right(design, way) for way in ways]

    def _puts_right(self, design: Design, way: FloatArray) -> bool:
        """Look at some rows at a time: as a rule one of the first loses, and the others need no look."""
        gains = False
        for rows in row_blocks(self.problem):
            ((lose,), (gain,)) = _moved(design, self.z[rows], self.problem.label[rows], [way])
            if lose:
                return False
            gains |= bool(gain)
        return gains


def _moved(design: Design, z: FloatArray, label: IntArray, ways: Sequence[FloatArray]) -> FloatArray:
    """Count the rows that lose along each table, and those that gain, shape (2, tables)."""
    moved = []
    for way in ways:
        scores = design.scores(z, way)
        of_label = scores[np.arange(len(z)), label]
        rounding = EVEN * float(np.abs(scores).max(initial=0.0))
        lose = of_label < scores.max(axis=1, initial=-np.inf) - rounding
        gain = of_label > scores.min(axis=1, initial=np.inf) + rounding
        moved.append((lose.sum(), gain.sum()))
    return np.array(moved, dtype=np.float64).T


@dataclass(frozen=True, eq=False)
class _Extent:
    """Largest size of a log-probability, the weighted sum of those of the rows, and the weight of each class."""

    largest: float
    sizes: float
    classes: FloatArray

    @classmethod
    def of(cls, z: FloatArray, problem: SimplexProblem) -> _Extent:
        sizes = np.abs(z).max(axis=1, initial=0.0)
        classes = np.bincount(problem.label, problem.weight, z.shape[1]).astype(np.float64)
        return cls(float(sizes.max(initial=0.0)), float(problem.weight @ sizes), classes)

    def __add__(self, other: _Extent) -> _Extent:
        return _Extent(max(self.largest, other.largest), self.sizes + other.sizes, self.classes + other.classes)


class RowsInBatches:
    """Rows that are read in batches, once for each evaluation."""

    def __init__(self, entering: Entering, problem: UnreadSimplex, unit: float = 1.0) -> None:
        self.entering, self.problem, self.unit = entering, problem, unit

    @cached_property
    def _extent(self) -> _Extent:
        return self.problem.reduce(lambda batch, _: _Extent.of(*self._of(batch)))

    def _of(self, batch: Problem) -> tuple[FloatArray, SimplexProblem]:
        """Return what enters the map of a batch, and the batch."""
        simplex = as_simplex(batch)
        z = self.entering(simplex.forecast)
        return (z if self.unit == 1.0 else z / self.unit), simplex

    @property
    def largest(self) -> float:
        """Largest size of a log-probability."""
        return self._extent.largest

    def in_units(self, size: float) -> RowsInBatches:
        """Return the rows with log-probabilities in units of a size."""
        return RowsInBatches(self.entering, self.problem, size)

    def objective(self, design: Design, ridge: FloatArray, centre: FloatArray) -> Objective:
        """Return the objective of a design."""
        require(
            centre.size <= MOST_PARAMETERS,
            f"a map that is fitted to rows in batches must have at most {MOST_PARAMETERS} parameters",
            value=centre.size,
            hint="Take a sample of the rows, predictions.sample(100_000), or a method with fewer parameters",
        )
        total = float(self._extent.classes.sum())

        def read(sums: Callable[[Objective], FloatArray]) -> FloatArray:
            def of_batch(batch: Problem, _: object) -> FloatArray:
                part = Objective(design, *self._of(batch), np.zeros_like(ridge), centre, dense=True)
                part.share = as_simplex(batch).weight / total
                return sums(part)

            return self.problem.reduce(of_batch)

        return ObjectiveInBatches(design, ridge, centre, max(1.0, self._extent.sizes / total), read)

    def occurred(self) -> BoolArray:
        """Which classes occur."""
        return np.asarray(self._extent.classes > 0.0)

    def put_right(self, design: Design, ways: Sequence[FloatArray]) -> list[bool]:
        """Whether along each of these tables no row loses and some row gains."""

        def of_batch(batch: Problem, _: object) -> FloatArray:
            z, simplex = self._of(batch)
            return _moved(design, z, simplex.label, ways)

        return [bool(not lose and gain) for lose, gain in zip(*self.problem.reduce(of_batch), strict=True)]


def rows_of(problem: SimplexProblem, entering: Entering) -> TableRows:
    """Return the rows of a problem, with what of its forecast enters a map."""
    if isinstance(problem, UnreadSimplex):
        return RowsInBatches(entering, problem)
    return RowsInMemory(entering(problem.forecast), problem)
