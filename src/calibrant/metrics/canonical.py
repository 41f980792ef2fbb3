"""The calibration error of whole forecasts: class rates in each cell of the simplex, against the mean forecast there.

Its noise is that of the class rates in each cell.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import partial
from typing import Unpack

import numpy as np
import numpy.typing as npt

from calibrant._core.links import FloatArray
from calibrant._core.parameters import choice, number, resamples
from calibrant._core.problem import Problem, SimplexProblem, as_simplex
from calibrant._core.validation import DataOptions, as_problem
from calibrant._core.warnings import CalibrationWarning
from calibrant.binning import Bins
from calibrant.binning.base import shown
from calibrant.binning.simplex import SimplexBinning, SimplexGrid, as_simplex_binning
from calibrant.metrics.binned.losses import NORMS, TWO, Norm, PowerMean, as_norm, l1, maximum
from calibrant.metrics.kinds.metric import Own
from calibrant.metrics.uncertainty.cells import Cells, Sizes
from calibrant.metrics.uncertainty.estimate import Estimate, Resampling
from calibrant.metrics.uncertainty.noise import noise_of
from calibrant.metrics.uncertainty.several import estimates
from calibrant.sums.draws import CellArray, Rng, as_rng, labels_of

MOST_DEVIATIONS = 1 << 16
"""Cells times classes for which noise is drawn: their draws take half a gigabyte."""


def total_variation(gap: FloatArray) -> FloatArray:
    """Half the sum of absolute differences."""
    return l1_distance(gap) / 2.0


def l1_distance(gap: FloatArray) -> FloatArray:
    """Sum of absolute differences."""
    total: FloatArray = np.abs(gap).sum(axis=-1)
    return total


def squared_l2(gap: FloatArray) -> FloatArray:
    """Sum of squared differences."""
    total: FloatArray = (gap**2).sum(axis=-1)
    return total


def l2_distance(gap: FloatArray) -> FloatArray:
    """Root of the sum of squared differences."""
    return np.sqrt(squared_l2(gap))


def largest(gap: FloatArray) -> FloatArray:
    """Largest absolute difference."""
    highest: FloatArray = np.abs(gap).max(axis=-1)
    return highest


LENGTHS: Mapping[str, Callable[[FloatArray], FloatArray]] = {
    "total variation": total_variation,
    "l1": l1_distance,
    "l2": l2_distance,
    "max": largest,
    "squared l2": squared_l2,
}
"""How long gaps are, class rates minus mean forecast of a cell: functions of gaps of shape (..., K)."""

LONGEST = {"total variation": 1.0, "l1": 2.0, "l2": 2.0**0.5, "max": 1.0, "squared l2": 2.0}
"""How long a gap can be."""

SOURCE = "Vaicenavicius et al. 2019; Gupta and Ramdas 2022"

DEBIASED = "debiased squared l2"

DISTANCES = (*LENGTHS, DEBIASED)
"""How far class rates are from the mean forecast of each cell."""


def canonical_estimate(
    problem: Problem,
    resampling: Resampling,
    *,
    binning: SimplexBinning | None = None,
    length: Callable[[FloatArray], FloatArray] = total_variation,
    norm: Norm = l1,
    highest: float = 1.0,
) -> Estimate:
    """Estimate the error, by default over the default grid, with interval, noise floor and p-value.

    With too many cells to draw their noise the interval is all that is possible, and a `CalibrationWarning` says so.
    """
    simplex = as_simplex(problem)
    bins = (SimplexGrid() if binning is None else binning)(simplex)
    table, sizes = _cells(simplex, bins), _sizes(bins, length, norm)
    if table.weight.size > MOST_DEVIATIONS:
        warnings.warn(
            f"cells must be few to draw their noise; got {len(bins)} of {simplex.prob.shape[1]} classes: the interval is "
            f"[0, {highest:g}]. With so many classes choose a notion of single scores, such as 'class-wise'.",
            CalibrationWarning,
            stacklevel=2,
        )
        return Estimate(float(sizes(table.deviation[None])[0]), 0.0, highest)
    labels = labels_of(simplex, resampling.n_resamples, resampling.rng)
    (noise,) = noise_of(simplex, [table], labels, labels)
    return noise.law(sizes).estimate(resampling.level)


@Own("canonical-ece", "canonical ECE", SOURCE, estimator=canonical_estimate).declare
def canonical_calibration_error(
    y_true: npt.ArrayLike,
    y_prob: npt.ArrayLike | None = None,
    *,
    binning: int | str | SimplexBinning = 5,
    distance: str = "total variation",
    norm: str | Norm = "l1",
    **data: Unpack[DataOptions],
) -> float:
    """Mean distance between forecast and class rates over the cells of the simplex (canonical or multiclass ECE).

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one. One column stands for itself and its complement.
    binning : int, str or SimplexBinning, default=5
        How the simplex is cut; a number n means ``SimplexGrid(n)``: n bins of equal width for each class; a word the registered
        simplex binning of that name. `SimplexUnique` is exact for forecasts that take few values, such as binned ones.
    distance : {"total variation", "l1", "l2", "max", "squared l2", "debiased squared l2"}, default="total variation"
        Between class rates and mean forecast of a cell: half the sum of absolute differences; that sum; the root of the sum
        of squares; the largest absolute difference; the sum of squares; or that minus an unbiased estimate of its
        bias, sum of rate (1 - rate) / (rows - 1), which can be negative. Squares go with ``norm="root"``.
    norm : {"l1", "l2", "l<p>", "root", "max"} or callable, default="l1"
        A function of (distances, weights) over the cells that hold rows; the weights sum to one.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    float
        Sum over cells c of  weight(c) / weight * d(c),  by default in total variation
        d(c) = sum over classes j of  abs(rate(j, c) - mean probability(j, c)) / 2,  in [0, 1].

    See Also
    --------
    estimate_canonical_calibration_error : The same with interval, noise floor and p-value.

    Notes
    -----
    It sees what no class by itself shows (canonical calibration): it is never smaller than the error of one class against
    the rest over the same bins. Of two classes it is the calibration error of one. In "l1", without the half, it lies in
    [0, 2]. The number of cells of a grid grows with the power of the number of classes, and noise with it: when nearly every
    row is alone in its cell, the error of a calibrated forecast is that of a single draw. Read it with its noise floor, for
    two to five classes; for more, cells of equal mass (`Projection`) hold rows enough.

    In "debiased squared l2" whole weights count as rows, others are scaled to a mean of one; a cell of fewer than two rows has
    no such estimate and counts as 0.

    References
    ----------
    Vaicenavicius, Widmann, Andersson, Lindsten, Roll, Schön, Evaluating model calibration in classification, AISTATS 2019.
    Silva Filho, Song, Perello-Nieto, Santos-Rodriguez, Kull, Flach, Classifier calibration: a survey, Machine Learning 2023.
    Gupta, Ramdas, Top-label calibration and multiclass-to-binary reductions, ICLR 2022.

    Examples
    --------
    >>> from calibrant.binning import SimplexUnique
    >>> from calibrant.metrics import canonical_calibration_error
    >>> P = [[0.8, 0.1, 0.1], [0.7, 0.1, 0.2], [0.3, 0.3, 0.4]]
    >>> round(canonical_calibration_error([0, 1, 2], P), 3)
    0.467
    >>> round(canonical_calibration_error([0, 1, 2], P, binning=SimplexUnique(), distance="l1"), 3)
    1.133
    """
    simplex = as_simplex(as_problem(y_true, y_prob, **data))
    choice("distance", distance, DISTANCES)
    bins = as_simplex_binning(binning)(simplex)
    held = bins.weight > 0
    values = _debiased(bins, simplex.weights.rows_per_weight) if distance == DEBIASED else LENGTHS[distance](bins.gap)
    return as_norm(norm)(values[held], bins.weight[held] / bins.weight.sum())


def estimate_canonical_calibration_error(
    y_true: npt.ArrayLike,
    y_prob: npt.ArrayLike | None = None,
    *,
    binning: int | str | SimplexBinning = 5,
    distance: str = "total variation",
    norm: str | Norm = "l1",
    level: float = 0.05,
    n_resamples: int = 500,
    rng: Rng = 0,
    **data: Unpack[DataOptions],
) -> Estimate:
    """Canonical calibration error over any cells, with its interval, noise floor, p-value and bias-corrected value.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one. One column stands for itself and its complement.
    binning : int, str or SimplexBinning, default=5
        How the simplex is cut, as in `canonical_calibration_error`. Cells of enough rows, such as those of `Projection`, have
        the least noise.
    distance : {"total variation", "l1", "l2", "max", "squared l2"}, default="total variation"
        Between class rates and mean forecast of a cell. The debiased square is missing: the noise floor, p-value and
        ``debiased`` of "squared l2" do its work.
    norm : {"l1", "l2", "l<p>", "root", "max"} or callable, default="l1"
        How the cells are put together; "root" goes with squares.
    level : float, default=0.05
        One minus the coverage of the interval, a fraction in (0, 1).
    n_resamples : int, default=500
        Resamples for interval and p-value; the smallest possible p-value is 1 / (n_resamples + 1).
    rng : numpy.random.Generator, int or None, default=0
        Source of randomness. The default makes two calls on the same data agree; None draws anew.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    Estimate
        ``value``, ``lower``, ``upper``, ``noise_floor``, ``pvalue``, ``debiased`` and ``detectable``; by default what `assess`
        states of "canonical-ece".

    Warns
    -----
    CalibrationWarning
        If cells times classes are more than 65 536: then there are a value and the trivial interval, and nothing else.

    See Also
    --------
    canonical_calibration_error : The value alone.
    estimate_calibration_error : The same for errors of single scores.

    Notes
    -----
    The cells are held fixed. Miscalibration that averages out within a cell is not seen. Noise is drawn for each cell and
    class, as for bins of single scores: docs/uncertainty.md.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.binning import Projection
    >>> from calibrant.metrics import estimate_canonical_calibration_error
    >>> rng = np.random.default_rng(1)
    >>> prob = rng.dirichlet(np.ones(3), 1000)
    >>> label = [rng.choice(3, p=row) for row in prob]
    >>> found = estimate_canonical_calibration_error(label, prob, binning=Projection(10), n_resamples=99)
    >>> found.lower <= found.debiased <= found.upper, found.pvalue > 0.05
    (True, True)
    """
    number("level", level, above=0.0, below=1.0, hint="For a 95 % interval pass level=0.05")
    resamples(n_resamples, hint="500 is usual")
    chosen = as_norm(norm)
    highest = _highest(choice("distance", distance, LENGTHS), chosen)
    estimate = partial(
        canonical_estimate,
        binning=as_simplex_binning(binning),
        length=LENGTHS[distance],
        norm=chosen,
        highest=highest,
    )
    metric = Own("canonical-calibration-error", "canonical ECE", SOURCE, range=(0.0, highest), estimator=estimate)
    resampling = Resampling(float(level), int(n_resamples), as_rng(rng))
    return estimates([metric], as_problem(y_true, y_prob, **data), 15, resampling)[metric.name]


def _debiased(bins: Bins, rows_per_weight: float) -> FloatArray:
    """Sum of squared differences minus an unbiased estimate of the sum of the variances of the class rates."""
    rows, rate = bins.weight * rows_per_weight, bins.event_rate
    with np.errstate(divide="ignore", invalid="ignore"):
        chance = (rate * (1.0 - rate)).sum(axis=1) / (rows - 1.0)
        value = squared_l2(bins.gap) - chance
    return np.where(rows < TWO, 0.0, value)


def _highest(distance: str, norm: Norm) -> float:
    """Return how large the error can be: a mean of gaps is at most the longest, and of a norm of one's own nothing is known."""
    if norm is NORMS["root"]:
        return float(np.sqrt(LONGEST[distance]))
    return LONGEST[distance] if isinstance(norm, PowerMean) or norm in NORMS.values() else np.inf


def _cells(simplex: SimplexProblem, bins: Bins) -> Cells:
    """Return a cell for each cell of the simplex and class: the noise of class rates is that of events."""
    n_classes, total = simplex.prob.shape[1], float(bins.weight.sum())
    of: CellArray = (bins.index(simplex.prob)[:, None] * n_classes + np.arange(n_classes)).astype(np.int32)
    size = len(bins) * n_classes
    return Cells(
        placed=lambda: of,
        count=np.repeat(shown(bins, are_counts=simplex.weights.are_counts).count.astype(np.float64), n_classes),
        weight=np.repeat(bins.weight / total, n_classes),
        scale=np.full(size, 1.0 / total),
        expected=bins.score_sum.ravel(),
        deviation=(bins.outcome_sum - bins.score_sum).ravel() / total,
        part=np.zeros(size, dtype=np.intp),
    )


def _sizes(bins: Bins, length: Callable[[FloatArray], FloatArray], norm: Norm) -> Sizes:
    """Return how to take the norm, over the cells that hold weight, of the lengths of their gaps."""
    held = bins.weight > 0
    share = bins.weight[held] / bins.weight.sum()

    def look(deviations: FloatArray) -> list[FloatArray]:
        by_cell = deviations.reshape(len(deviations), len(bins), -1)
        return [by_cell[:, held] / share[:, None]]

    def size(seen: list[FloatArray]) -> FloatArray:
        lengths = length(seen[0])
        return lengths @ share if norm is l1 else np.array([norm(row, share) for row in lengths])

    return Sizes(look, size, shrinks=norm is not maximum)
