"""The calibration error of whole forecasts: what comes in each cell of the simplex, against what was foretold there."""

from __future__ import annotations

from typing import Unpack

import numpy as np
import numpy.typing as npt

from calibrant._core.links import FloatArray
from calibrant._core.parameters import choice
from calibrant._core.problem import as_simplex, rows_per_weight
from calibrant._core.registry import declare
from calibrant._core.validation import DataOptions, as_problem
from calibrant.binning.simplex import SimplexBinning, SimplexBins, as_simplex_binning
from calibrant.metrics.canonical_estimates import LENGTHS, canonical_estimate, squared_l2
from calibrant.metrics.losses import TWO, Norm, as_norm

DEBIASED = "debiased squared l2"

DISTANCES = (*LENGTHS, DEBIASED)
"""How far class rates are from the mean forecast of each cell."""


@declare(
    "metric",
    "canonical-ece",
    symbol="canonical ECE",
    source="Vaicenavicius et al. 2019; Gupta and Ramdas 2022",
    range=(0.0, 1.0),
    estimate=canonical_estimate,
)
def canonical_calibration_error(
    y_true: npt.ArrayLike,
    y_prob: npt.ArrayLike,
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
        of squares; the largest absolute difference; the sum of squares; or that minus an unbiased estimate of what chance
        adds to it, sum of rate (1 - rate) / (rows - 1), which can be negative. Squares go with ``norm="root"``.
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
    >>> from calibrant import SimplexUnique, canonical_calibration_error
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
    values = _debiased(bins, rows_per_weight(simplex.weight)) if distance == DEBIASED else LENGTHS[distance](bins.gap)
    return as_norm(norm)(values[held], bins.weight[held] / bins.weight.sum())


def _debiased(bins: SimplexBins, rows_per_weight: float) -> FloatArray:
    """Sum of squared differences minus an unbiased estimate of the sum of the variances of the class rates."""
    rows, rate = bins.weight * rows_per_weight, bins.class_rate
    with np.errstate(divide="ignore", invalid="ignore"):
        chance = (rate * (1.0 - rate)).sum(axis=1) / (rows - 1.0)
        value = squared_l2(bins.gap) - chance
    return np.where(rows < TWO, 0.0, value)
