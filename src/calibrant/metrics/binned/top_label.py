"""Named calibration errors of the top probability, given which class is predicted."""

from __future__ import annotations

from typing import Unpack

import numpy.typing as npt

from calibrant._core.validation import DataOptions
from calibrant.binning import Binning
from calibrant.metrics.kinds.through_lens import point
from calibrant.sums import Predictions

TL_ECE = point("top-label-ece", "TL-ECE", "Gupta and Ramdas 2022", notion="top-label")


@TL_ECE.declare
def top_label_calibration_error(
    y_true: npt.ArrayLike | Predictions,
    y_prob: npt.ArrayLike | None = None,
    *,
    binning: int | Binning = 15,
    **data: Unpack[DataOptions],
) -> float:
    """Calibration error of the top probability given which class is predicted (TL-ECE), in [0, 1].

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Predictions
        Class labels: integers, strings or booleans; or `predictions` that are read in batches, without ``y_prob``.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one. With ``y_pred``, of shape (n_samples,): the probability of the class that
        each row predicts.
    binning : int or Binning, default=15
        How the scores of each predicted class are cut; a number n means ``EqualWidth(n)``. ``Unique()`` measures probabilities
        that take few values as they are.
    **data : DataOptions
        ``y_pred``, the class that each row predicts: with it a pair (label, probability) is measured, such as
        ``ByNotion(...).predict_top`` gives; by default the class of the highest probability. ``sample_weight``, ``labels``,
        ``pos_label``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    float
        Sum over predicted classes j and bins b of  weight(j, b) / weight  *  abs(event rate(j, b) - mean probability(j, b)).
        Never smaller than the confidence ECE over the same edges.

    Raises
    ------
    ValueError
        If values are not what they must be: not finite, outside [0, 1], rows that do not sum to one, unknown labels; with
        ``y_pred`` if ``y_prob`` is a table.
    TypeError
        If the data are not numbers, or the labels neither integers, strings nor booleans.

    References
    ----------
    Gupta, Ramdas, Top-label calibration and multiclass-to-binary reductions, ICLR 2022.

    Examples
    --------
    >>> from calibrant import top_label_calibration_error
    >>> round(top_label_calibration_error([0, 0, 1, 0], [[0.5, 0.5], [0.6, 0.4], [0.3, 0.7], [0.2, 0.8]]), 3)
    0.5
    >>> top_label_calibration_error(["cat", "dog", "dog"], [0.75, 0.75, 0.5], y_pred=["cat", "cat", "dog"])
    0.3333333333333333
    """
    return TL_ECE.recut(binning).of(y_true, y_prob, data)


TL_MCE = point("top-label-mce", "TL-MCE", "Gupta and Ramdas 2022", notion="top-label", norm="max")


@TL_MCE.declare
def top_label_maximum_calibration_error(
    y_true: npt.ArrayLike | Predictions,
    y_prob: npt.ArrayLike | None = None,
    *,
    binning: int | Binning = 15,
    **data: Unpack[DataOptions],
) -> float:
    """Largest gap in any bin of any predicted class (TL-MCE), in [0, 1].

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Predictions
        Class labels: integers, strings or booleans; or `predictions` that are read in batches, without ``y_prob``.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one. With ``y_pred``, of shape (n_samples,): the probability of the class that
        each row predicts.
    binning : int or Binning, default=15
        How the scores of each predicted class are cut; a number n means ``EqualWidth(n)``.
    **data : DataOptions
        ``y_pred``, the class that each row predicts, as in `top_label_calibration_error`; ``sample_weight``, ``labels``,
        ``pos_label``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    float
        Maximum over predicted classes and bins of the gap.

    Examples
    --------
    >>> from calibrant.metrics import top_label_maximum_calibration_error
    >>> round(top_label_maximum_calibration_error([0, 0, 1, 0], [[0.5, 0.5], [0.6, 0.4], [0.3, 0.7], [0.2, 0.8]]), 3)
    0.8
    """
    return TL_MCE.recut(binning).of(y_true, y_prob, data)
