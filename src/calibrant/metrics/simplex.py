"""The calibration error of whole forecasts: what comes in each cell of the simplex, against what was foretold there."""

from __future__ import annotations

import warnings
from typing import Unpack

import numpy as np
import numpy.typing as npt

from calibrant._links import FloatArray
from calibrant._problem import Problem, SimplexProblem, as_simplex
from calibrant._registry import declare
from calibrant._validation import DataOptions, as_problem
from calibrant._warnings import CalibrationWarning
from calibrant.metrics.cells import Cells, Sizes, noise_of
from calibrant.metrics.losses import Norm, as_norm, l1
from calibrant.metrics.uncertainty import Estimate, Resampling
from calibrant.resampling import Bootstrap, CellArray, ConsistentLabels
from calibrant.simplex_binning import SimplexBinning, SimplexBins, SimplexGrid, as_simplex_binning

MOST_DEVIATIONS = 1 << 16
"""Cells times classes for which noise is drawn: their draws take half a gigabyte."""


def simplex_estimate(problem: Problem, resampling: Resampling) -> Estimate:
    """Estimate the error over the default grid, with interval, noise floor and p-value.

    With too many cells to draw their noise the interval is all that is possible, and a `CalibrationWarning` says so.
    """
    simplex = as_simplex(problem)
    bins, n_classes = SimplexGrid()(simplex), simplex.prob.shape[1]
    share = bins.weight / bins.weight.sum()
    if len(bins) * n_classes > MOST_DEVIATIONS:
        warnings.warn(
            f"cells must be few to draw their noise; got {len(bins)} of {n_classes} classes: the interval is [0, 1]. "
            "With so many classes choose a notion of single scores, such as 'class-wise'.",
            CalibrationWarning,
            stacklevel=2,
        )
        return Estimate(l1(distance(bins), share), 0.0, 1.0)
    table, weight = _cells(simplex, bins), np.repeat(share, n_classes)
    bootstrap = Bootstrap(simplex.size, resampling.n_resamples, resampling.rng)
    labels = ConsistentLabels(simplex.prob, resampling.n_resamples, resampling.rng)
    (noise,) = noise_of(simplex, [table], bootstrap, labels, labels, resampling.rng)
    sizes = Sizes(lambda deviations: [deviations / weight], lambda seen: np.abs(seen[0]) @ weight / 2.0)
    return noise.law(sizes).estimate(resampling.level)


@declare(
    "metric",
    "simplex-ece",
    symbol="simplex ECE",
    source="Vaicenavicius et al. 2019; Silva Filho et al. 2023",
    range=(0.0, 1.0),
    estimate=simplex_estimate,
)
def simplex_calibration_error(
    y_true: npt.ArrayLike,
    y_prob: npt.ArrayLike,
    *,
    binning: int | SimplexBinning = 5,
    norm: str | Norm = "l1",
    **data: Unpack[DataOptions],
) -> float:
    """Mean distance between forecast and class rates over the cells of the simplex (multiclass ECE), in [0, 1].

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one. One column stands for itself and its complement.
    binning : int or SimplexBinning, default=5
        How the simplex is cut; a number n means ``SimplexGrid(n)``: n bins of equal width for each class.
    norm : {"l1", "l2", "max"} or callable, default="l1"
        A function of (distances, weights) over the cells that hold rows; the weights sum to one.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``input`` and ``normalize``: see `DataOptions`.

    Returns
    -------
    float
        Sum over cells c of  weight(c) / weight * d(c)  with the distance in total variation, half the sum of absolute
        differences:  d(c) = sum over classes j of  abs(rate(j, c) - mean probability(j, c)) / 2.

    Notes
    -----
    It sees what no class by itself shows (canonical calibration): it is never smaller than the error of one class against
    the rest over the same bins. Of two classes it is the calibration error of one. Some write it without the half, in
    [0, 2]. The number of cells grows with the power of the number of classes, and noise with it: when nearly every row
    is alone in its cell, the error of a calibrated forecast is that of a single draw. Read it with the noise floor that
    `assess` states, for two to five classes.

    References
    ----------
    Vaicenavicius, Widmann, Andersson, Lindsten, Roll, Schön, Evaluating model calibration in classification, AISTATS 2019.
    Silva Filho, Song, Perello-Nieto, Santos-Rodriguez, Kull, Flach, Classifier calibration: a survey, Machine Learning 2023.

    Examples
    --------
    >>> from calibrant import simplex_calibration_error
    >>> P = [[0.8, 0.1, 0.1], [0.7, 0.1, 0.2], [0.3, 0.3, 0.4]]
    >>> round(simplex_calibration_error([0, 1, 2], P), 3)
    0.467
    """
    bins = as_simplex_binning(binning)(as_simplex(as_problem(y_true, y_prob, **data)))
    return as_norm(norm)(distance(bins), bins.weight / bins.weight.sum())


def distance(bins: SimplexBins) -> FloatArray:
    """Distance in total variation between mean forecast and class rates of each cell."""
    half: FloatArray = np.abs(bins.gap).sum(axis=1) / 2.0
    return half


def _cells(simplex: SimplexProblem, bins: SimplexBins) -> Cells:
    """Return a cell for each cell of the simplex and class: the noise of class rates is that of events."""
    n_classes, total = simplex.prob.shape[1], float(bins.weight.sum())
    of: CellArray = (bins.partition.index(simplex.prob)[:, None] * n_classes + np.arange(n_classes)).astype(np.int32)
    size = len(bins) * n_classes
    return Cells(
        of=of,
        count=np.repeat(bins.count.astype(np.float64), n_classes),
        weight=np.repeat(bins.weight / total, n_classes),
        scale=np.full(size, 1.0 / total),
        expected=bins.prob_sum.ravel(),
        deviation=(bins.class_sum - bins.prob_sum).ravel() / total,
        part=np.zeros(size, dtype=np.intp),
    )
