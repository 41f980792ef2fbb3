"""Named calibration errors of each class over bins of equal mass."""

from __future__ import annotations

from typing import Unpack

import numpy.typing as npt

from calibrant._core.validation import DataOptions
from calibrant.binning import EqualMass
from calibrant.metrics.kinds.through_lens import point
from calibrant.notions import ThresholdedClassWise
from calibrant.sums import Predictions

ACE = point("ace", "ACE", "Nixon et al. 2019", notion="class-wise", binning=EqualMass(15))


@ACE.declare
def adaptive_calibration_error(
    y_true: npt.ArrayLike | Predictions,
    y_prob: npt.ArrayLike | None = None,
    *,
    n_bins: int = 15,
    **data: Unpack[DataOptions],
) -> float:
    """Mean gap over bins of equal mass, averaged over classes (ACE), in [0, 1].

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Predictions
        Class labels: integers, strings or booleans; or `predictions` that are read in batches, without ``y_prob``.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one. One column stands for itself and its complement.
    n_bins : int, default=15
        Number of bins of equal mass for each class; equal scores are never split.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    float
        The class-wise calibration error with ``EqualMass(n_bins)``.

    References
    ----------
    Nixon, Dusenberry, Zhang, Jerfel, Tran, Measuring calibration in deep learning, CVPR workshops 2019.

    Examples
    --------
    >>> from calibrant.metrics import adaptive_calibration_error
    >>> round(adaptive_calibration_error([0, 0, 1, 1], [0.1, 0.3, 0.6, 0.9], n_bins=2), 3)
    0.225
    """
    return ACE.recut(EqualMass(n_bins)).of(y_true, y_prob, data)


TACE = point(
    "tace", "TACE", "Nixon et al. 2019", also=("tece",), notion="thresholded-class-wise", binning=EqualMass(15)
)


@TACE.declare
def thresholded_adaptive_calibration_error(
    y_true: npt.ArrayLike | Predictions,
    y_prob: npt.ArrayLike | None = None,
    *,
    threshold: float | None = None,
    n_bins: int = 15,
    **data: Unpack[DataOptions],
) -> float:
    """Mean gap over bins of equal mass of the probabilities that are not small, averaged over classes (TACE), in [0, 1].

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Predictions
        Class labels: integers, strings or booleans; or `predictions` that are read in batches, without ``y_prob``.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one. One column stands for itself and its complement.
    threshold : float, optional
        Least probability that counts. By default 1 / n_classes.
    n_bins : int, default=15
        Number of bins of equal mass for each class; equal scores are never split.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    float
        The calibration error with ``ThresholdedClassWise(threshold)`` and ``EqualMass(n_bins)``: classes that have such
        probabilities have equal shares, however many rows they have. 0 where no class has any.

    Notes
    -----
    Arad and Rosset (2025) call it TECE. What they print is this with the threshold 1 / n_classes, over 15 bins and in percent;
    their cw-ECE is `classwise_calibration_error`, their conf-ECE `expected_calibration_error` of a table, both in percent too,
    and their BS `mean_class_brier_loss`.

    Nixon et al. divide by the number of all classes. Here a class without any probability that counts is left out of the
    mean, and bins of unequal mass, which ties make, count by their mass.

    References
    ----------
    Nixon, Dusenberry, Zhang, Jerfel, Tran, Measuring calibration in deep learning, CVPR workshops 2019.
    Arad, Rosset, Improving multi-class calibration through normalization-aware isotonic techniques, ICML 2025.

    Examples
    --------
    >>> from calibrant.metrics import thresholded_adaptive_calibration_error
    >>> P = [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.3, 0.3, 0.4]]
    >>> round(thresholded_adaptive_calibration_error([0, 1, 2], P), 3)
    0.367
    """
    return TACE.recut(EqualMass(n_bins)).of(y_true, y_prob, data, notion=ThresholdedClassWise(threshold))
