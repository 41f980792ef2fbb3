"""Named calibration errors of each class against the rest."""

from __future__ import annotations

from typing import Unpack

import numpy.typing as npt

from calibrant._core.validation import DataOptions
from calibrant.binning import Binning
from calibrant.metrics.kinds.through_lens import point
from calibrant.sums import Predictions

CW_ECE = point("classwise-ece", "CW-ECE", "Kull et al. 2019", notion="class-wise")


@CW_ECE.declare
def classwise_calibration_error(
    y_true: npt.ArrayLike | Predictions,
    y_prob: npt.ArrayLike | None = None,
    *,
    binning: int | Binning = 15,
    **data: Unpack[DataOptions],
) -> float:
    """Calibration error of each class against the rest, averaged over classes (CW-ECE), in [0, 1].

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Predictions
        Class labels: integers, strings or booleans; or `predictions` that are read in batches, without ``y_prob``.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    binning : int or Binning, default=15
        How the scores of each class are cut; a number n means ``EqualWidth(n)``.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    float
        Mean over the columns. With many classes most scores are near zero and so is this: compare like with like.

    Notes
    -----
    Arad and Rosset (2025) call it cw-ECE and print it in percent; `thresholded_adaptive_calibration_error` has their other
    words.

    References
    ----------
    Kull, Perello-Nieto, Kängsepp, Silva Filho, Song, Flach, Beyond temperature scaling, NeurIPS 2019.
    Arad, Rosset, Improving multi-class calibration through normalization-aware isotonic techniques, ICML 2025.

    Examples
    --------
    >>> from calibrant import classwise_calibration_error
    >>> round(classwise_calibration_error([0, 1, 2], [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.3, 0.3, 0.4]]), 3)
    0.244
    """
    return CW_ECE.recut(binning).of(y_true, y_prob, data)


CW_MCE = point(
    "classwise-mce", "CW-MCE", "Kull et al. 2019; Silva Filho et al. 2023, Def. 5", notion="class-wise", norm="max"
)


@CW_MCE.declare
def classwise_maximum_calibration_error(
    y_true: npt.ArrayLike | Predictions,
    y_prob: npt.ArrayLike | None = None,
    *,
    binning: int | Binning = 15,
    **data: Unpack[DataOptions],
) -> float:
    """Largest gap in any bin of any class against the rest (CW-MCE), in [0, 1].

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Predictions
        Class labels: integers, strings or booleans; or `predictions` that are read in batches, without ``y_prob``.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    binning : int or Binning, default=15
        How the scores of each class are cut; a number n means ``EqualWidth(n)``.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    float
        Maximum over classes and bins of  abs(event rate - mean probability).

    Notes
    -----
    Like every maximum it is often the gap of a bin with a handful of rows: read it beside the counts.

    References
    ----------
    Silva Filho, Song, Perello-Nieto, Santos-Rodriguez, Kull, Flach, Classifier calibration: a survey, Machine Learning 2023.

    Examples
    --------
    >>> from calibrant.metrics import classwise_maximum_calibration_error
    >>> P = [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.3, 0.3, 0.4]]
    >>> round(classwise_maximum_calibration_error([0, 1, 2], P), 3)
    0.6
    """
    return CW_MCE.recut(binning).of(y_true, y_prob, data)


MEAN_MCE = point(
    "classwise-mean-mce",
    "mean MCE",
    "Silva Filho et al. 2023, section 4.3",
    notion="class-wise",
    norm="max",
    across="l1",
)


@MEAN_MCE.declare
def classwise_mean_maximum_calibration_error(
    y_true: npt.ArrayLike | Predictions,
    y_prob: npt.ArrayLike | None = None,
    *,
    binning: int | Binning = 15,
    **data: Unpack[DataOptions],
) -> float:
    """Largest gap of each class against the rest, averaged over classes, in [0, 1].

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Predictions
        Class labels: integers, strings or booleans; or `predictions` that are read in batches, without ``y_prob``.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    binning : int or Binning, default=15
        How the scores of each class are cut; a number n means ``EqualWidth(n)``.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    float
        Mean over classes of the maximum over bins of  abs(event rate - mean probability).

    References
    ----------
    Silva Filho, Song, Perello-Nieto, Santos-Rodriguez, Kull, Flach, Classifier calibration: a survey, Machine Learning 2023.

    Examples
    --------
    >>> from calibrant.metrics import classwise_mean_maximum_calibration_error
    >>> P = [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.3, 0.3, 0.4]]
    >>> round(classwise_mean_maximum_calibration_error([0, 1, 2], P), 3)
    0.4
    """
    return MEAN_MCE.recut(binning).of(y_true, y_prob, data)


MAX_ECE = point(
    "classwise-max-ece", "max ECE", "Silva Filho et al. 2023, section 4.3", notion="class-wise", norm="l1", across="max"
)


@MAX_ECE.declare
def classwise_worst_calibration_error(
    y_true: npt.ArrayLike | Predictions,
    y_prob: npt.ArrayLike | None = None,
    *,
    binning: int | Binning = 15,
    **data: Unpack[DataOptions],
) -> float:
    """Calibration error of the worst class against the rest, in [0, 1].

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Predictions
        Class labels: integers, strings or booleans; or `predictions` that are read in batches, without ``y_prob``.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    binning : int or Binning, default=15
        How the scores of each class are cut; a number n means ``EqualWidth(n)``.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    float
        Maximum over classes of the mean gap over bins: the class-j ECE of the class that is calibrated worst. That of one
        class is ``expected_calibration_error`` with ``notion=OneVsRest(j)``.

    References
    ----------
    Silva Filho, Song, Perello-Nieto, Santos-Rodriguez, Kull, Flach, Classifier calibration: a survey, Machine Learning 2023.

    Examples
    --------
    >>> from calibrant.metrics import classwise_worst_calibration_error
    >>> P = [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.3, 0.3, 0.4]]
    >>> round(classwise_worst_calibration_error([0, 1, 2], P), 3)
    0.267
    """
    return MAX_ECE.recut(binning).of(y_true, y_prob, data)
