"""The smooth calibration error: residuals under a kernel that chooses its own width."""

from __future__ import annotations

from typing import Unpack

import numpy.typing as npt

from calibrant._core.validation import DataOptions
from calibrant.lenses.base import MeanOverProblems
from calibrant.lenses.smooth import Smooth, fixed_point, fixed_point_within
from calibrant.metrics.kinds.through_lens import ThroughLens
from calibrant.notions import Notion
from calibrant.sums import Predictions

SMOOTH = ThroughLens(
    "smooth-ece",
    "smECE",
    "Błasiok and Nakkiran 2024",
    lens=Smooth(),
    size=MeanOverProblems(fixed_point, fixed_point_within),
)


@SMOOTH.declare
def smooth_calibration_error(
    y_true: npt.ArrayLike | Predictions,
    y_prob: npt.ArrayLike | None = None,
    *,
    notion: str | Notion | None = None,
    **data: Unpack[DataOptions],
) -> float:
    """Mean distance of outcome and probability under a kernel as wide as that distance (smooth ECE), in [0, 1].

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Predictions
        Class labels: integers, strings or booleans; or `predictions` that are read in batches, without ``y_prob``.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    notion : str or Notion, optional
        By default ``"binary"`` for two classes and ``"confidence"`` for more; a mean over the problems of others.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    float
        The one s that solves  s = integral over t in [0, 1] of abs(sum of weight * (outcome - probability) *
        kernel(t, probability; s)) / weight.  The kernel is a Gaussian of standard deviation s, reflected at 0 and 1.

    Notes
    -----
    Without bins there is nothing to choose, and a small change of the forecast makes a small change of the error. It and the
    distance to the nearest calibrated forecast bound each other up to a square root. Never larger than the calibration error
    over distinct scores.

    Reflected mass is counted in full: a row at 0 or 1 weighs as much as any other. The integral is exact to about 1e-8.
    Solutions below a bandwidth of 2^-10 (up to 4000 rows) to 2^-14 (from 260 000 rows) are not sought: the integral at that
    bandwidth stands for them, which is too small by less than that bandwidth.

    References
    ----------
    Błasiok, Nakkiran, Smooth ECE: principled reliability diagrams via kernel smoothing, ICLR 2024.

    Examples
    --------
    >>> from calibrant import smooth_calibration_error
    >>> round(smooth_calibration_error([0, 0, 1, 1], [0.1, 0.3, 0.6, 0.9]), 3)
    0.162
    """
    return SMOOTH.of(y_true, y_prob, data, notion=notion)
