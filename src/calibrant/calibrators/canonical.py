"""Canonical binning, and one isotonic map for the scores of all classes."""

from __future__ import annotations

from dataclasses import field

import numpy as np
import numpy.typing as npt

from calibrant._core.arrays import FloatArray, sum_of_rows
from calibrant._core.registry import ARGMAX, FINITE, HULL, PERMUTED
from calibrant._core.rows import BinaryProblem, BoolArray, Forecast, IntArray, SimplexProblem, Weights
from calibrant.binning import Partition, class_sums
from calibrant.binning.bins import Ordered
from calibrant.binning.cells import SimplexBinning, as_simplex_binning
from calibrant.calibrators.base import MulticlassCalibrator, fitted, method, parameter
from calibrant.calibrators.isotonic import on_steps
from calibrant.fit.isotonic import isotonic_fit

# Canonical binning: histogram binning of whole forecasts


@method("canonical-binning", symbol="CB", source="Gupta and Ramdas 2022")
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

    binning: int | str | SimplexBinning = field(default="projection", kw_only=False)
    interior: bool = parameter(default=True)
    smoothing: float = parameter(default=0.0, least=0.0, most=1e15, hint="In rows: 1 is Laplace's choice")
    partition_: Partition = fitted()
    value_: FloatArray = fitted("n K", sum_to_one=True)
    count_: IntArray = fitted("n", least=0)

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
        return self.partition_.index(self._fitted_forecast(y_prob).prob)

    def _fit(self, problem: SimplexProblem) -> None:
        partition = as_simplex_binning(self.binning).partition(problem)
        cell, n_cells, n_classes = partition.index(problem.prob), partition.n_cells, problem.prob.shape[1]
        counted = np.ones(problem.size, dtype=bool)
        if self.interior:
            inside = ~partition.is_boundary(problem.prob)
            counted = inside | (np.bincount(cell[inside], minlength=n_cells) == 0)[cell]
        count = np.bincount(cell[counted], minlength=n_cells)
        occurred = class_sums(cell[counted], problem.label[counted], problem.weight[counted], (n_cells, n_classes))
        added = float(self.smoothing) / problem.weights.rows_per_weight
        value = np.full((n_cells, n_classes), 1.0 / n_classes)
        total = occurred.sum(axis=1, keepdims=True) + n_classes * added
        np.divide(occurred + added, total, out=value, where=count[:, None] > 0)
        self.partition_, self.value_, self.count_ = partition, value, count

    def _sizes(self) -> dict[str, int]:
        return super()._sizes() | {"n": self.partition_.n_cells}

    def _check_loaded(self) -> None:
        self.partition_._check_loaded(len(self.classes_))
        super()._check_loaded()

    def _apply(self, forecast: Forecast) -> FloatArray:
        cell = self.partition_.index(forecast.prob)
        return np.where(cell[:, None] >= 0, self.value_[cell], 1.0 / self.value_.shape[1])


# Multi-class isotonic regression: one non-decreasing map for the scores of all classes


@method("irm", symbol="IRM", source="Zhang et al. 2020", guarantees={ARGMAX, HULL, PERMUTED, FINITE})
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

    epsilon: float = parameter(default=1e-3, least=0.0, most=1.0, hint="Pass a small one, such as 1e-3")
    left_: FloatArray = fitted("n", least=0.0, most=1.0, order="rising", fewest=1)
    value_: FloatArray = fitted("n", least=0.0, most=1.0, order="not falling")

    def _fit(self, problem: SimplexProblem) -> None:
        n_classes = problem.prob.shape[1]
        occurred = problem.label[:, None] == np.arange(n_classes)
        weight = np.broadcast_to(problem.weight[:, None], occurred.shape)
        self.left_, self.value_ = steps_of(problem.prob, occurred, weight)

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
    return rows / sum_of_rows(rows)
