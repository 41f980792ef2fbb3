"""The calibration errors that have names. Each is a point of `calibration_error`; its registry entry says which."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, Unpack

import numpy.typing as npt

from calibrant._registry import declare
from calibrant._validation import DataOptions
from calibrant.binning import Binning, EqualMass
from calibrant.metrics.error import calibration_error
from calibrant.notions import Notion

F = TypeVar("F", bound=Callable[..., float])


def _point(name: str, symbol: str, source: str, **spelling: Any) -> Callable[[F], F]:
    return declare("metric", name, symbol=symbol, source=source, range=(0.0, 1.0), spelling=spelling)


@_point("ece", "ECE", "Naeini et al. 2015; Guo et al. 2017", norm="l1")
def expected_calibration_error(
    y_true: npt.ArrayLike,
    y_prob: npt.ArrayLike,
    *,
    notion: str | Notion | None = None,
    binning: int | Binning = 15,
    **data: Unpack[DataOptions],
) -> float:
    """Mean gap between probability and event rate over bins (ECE), in [0, 1]; 0 is calibrated.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    notion : str or Notion, optional
        By default ``"binary"`` for one column and ``"confidence"`` for a table.
    binning : int or Binning, default=15
        How scores are cut; a number n means ``EqualWidth(n)``.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``input`` and ``normalize``: see `DataOptions`.

    Returns
    -------
    float
        Sum over bins b of  weight(b) / weight  *  abs(event rate(b) - mean probability(b)).

    Notes
    -----
    Biased upwards, and the more so the more bins: compare only figures with the same binning and number of rows.

    References
    ----------
    Naeini, Cooper, Hauskrecht, Obtaining well calibrated probabilities using Bayesian binning, AAAI 2015.
    Guo, Pleiss, Sun, Weinberger, On calibration of modern neural networks, ICML 2017.

    Examples
    --------
    >>> from calibrant import expected_calibration_error
    >>> round(expected_calibration_error([0, 0, 1, 1], [0.1, 0.3, 0.6, 0.9], binning=2), 3)
    0.225
    """
    return calibration_error(y_true, y_prob, notion=notion, binning=binning, norm="l1", **data)


@_point("mce", "MCE", "Naeini et al. 2015", norm="max")
def maximum_calibration_error(
    y_true: npt.ArrayLike,
    y_prob: npt.ArrayLike,
    *,
    notion: str | Notion | None = None,
    binning: int | Binning = 15,
    **data: Unpack[DataOptions],
) -> float:
    """Largest gap between probability and event rate in any bin that holds rows (MCE), in [0, 1].

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    notion : str or Notion, optional
        By default ``"binary"`` for one column and ``"confidence"`` for a table.
    binning : int or Binning, default=15
        How scores are cut; a number n means ``EqualWidth(n)``.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``input`` and ``normalize``: see `DataOptions`.

    Returns
    -------
    float
        Maximum over bins b of  abs(event rate(b) - mean probability(b)).

    Notes
    -----
    With equal-width bins it is often the gap of a bin with a handful of rows: read it beside the counts.

    Examples
    --------
    >>> from calibrant import maximum_calibration_error
    >>> round(maximum_calibration_error([0, 0, 1, 1], [0.1, 0.3, 0.6, 0.9], binning=2), 3)
    0.25
    """
    return calibration_error(y_true, y_prob, notion=notion, binning=binning, norm="max", **data)


@_point("rmsce", "RMSCE", "Hendrycks et al. 2019", norm="l2")
def root_mean_squared_calibration_error(
    y_true: npt.ArrayLike,
    y_prob: npt.ArrayLike,
    *,
    notion: str | Notion | None = None,
    binning: int | Binning = 15,
    **data: Unpack[DataOptions],
) -> float:
    """Root of the mean squared gap between probability and event rate over bins (RMSCE), in [0, 1].

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    notion : str or Notion, optional
        By default ``"binary"`` for one column and ``"confidence"`` for a table.
    binning : int or Binning, default=15
        How scores are cut; a number n means ``EqualWidth(n)``.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``input`` and ``normalize``: see `DataOptions`.

    Returns
    -------
    float
        Never smaller than the ECE over the same bins, never larger than the MCE.

    Examples
    --------
    >>> from calibrant import root_mean_squared_calibration_error
    >>> round(root_mean_squared_calibration_error([0, 0, 1, 1], [0.1, 0.3, 0.6, 0.9], binning=2), 3)
    0.226
    """
    return calibration_error(y_true, y_prob, notion=notion, binning=binning, norm="l2", **data)


@_point("ace", "ACE", "Nixon et al. 2019", notion="class-wise", binning=EqualMass(15))
def adaptive_calibration_error(
    y_true: npt.ArrayLike, y_prob: npt.ArrayLike, *, n_bins: int = 15, **data: Unpack[DataOptions]
) -> float:
    """Mean gap over bins of equal mass, averaged over classes (ACE), in [0, 1].

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one. One column stands for itself and its complement.
    n_bins : int, default=15
        Number of bins of equal mass for each class; equal scores are never split.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``input`` and ``normalize``: see `DataOptions`.

    Returns
    -------
    float
        The class-wise calibration error with ``EqualMass(n_bins)``.

    References
    ----------
    Nixon, Dusenberry, Zhang, Jerfel, Tran, Measuring calibration in deep learning, CVPR workshops 2019.

    Examples
    --------
    >>> from calibrant import adaptive_calibration_error
    >>> round(adaptive_calibration_error([0, 0, 1, 1], [0.1, 0.3, 0.6, 0.9], n_bins=2), 3)
    0.225
    """
    return calibration_error(y_true, y_prob, notion="class-wise", binning=EqualMass(n_bins), **data)


@_point("classwise-ece", "CW-ECE", "Kull et al. 2019", notion="class-wise")
def classwise_calibration_error(
    y_true: npt.ArrayLike, y_prob: npt.ArrayLike, *, binning: int | Binning = 15, **data: Unpack[DataOptions]
) -> float:
    """Calibration error of each class against the rest, averaged over classes (CW-ECE), in [0, 1].

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    binning : int or Binning, default=15
        How the scores of each class are cut; a number n means ``EqualWidth(n)``.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``input`` and ``normalize``: see `DataOptions`.

    Returns
    -------
    float
        Mean over the columns. With many classes most scores are near zero and so is this: compare like with like.

    References
    ----------
    Kull, Perello-Nieto, Kängsepp, Silva Filho, Song, Flach, Beyond temperature scaling, NeurIPS 2019.

    Examples
    --------
    >>> from calibrant import classwise_calibration_error
    >>> round(classwise_calibration_error([0, 1, 2], [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.3, 0.3, 0.4]]), 3)
    0.244
    """
    return calibration_error(y_true, y_prob, notion="class-wise", binning=binning, **data)


@_point("top-label-ece", "TL-ECE", "Gupta and Ramdas 2022", notion="top-label")
def top_label_calibration_error(
    y_true: npt.ArrayLike, y_prob: npt.ArrayLike, *, binning: int | Binning = 15, **data: Unpack[DataOptions]
) -> float:
    """Calibration error of the top probability given which class is predicted (TL-ECE), in [0, 1].

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    binning : int or Binning, default=15
        How the scores of each predicted class are cut; a number n means ``EqualWidth(n)``.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``input`` and ``normalize``: see `DataOptions`.

    Returns
    -------
    float
        A predicted class counts by its share of the rows. Never smaller than the confidence ECE over the same edges.

    References
    ----------
    Gupta, Ramdas, Top-label calibration and multiclass-to-binary reductions, ICLR 2022.

    Examples
    --------
    >>> from calibrant import top_label_calibration_error
    >>> round(top_label_calibration_error([0, 0, 1, 0], [[0.5, 0.5], [0.6, 0.4], [0.3, 0.7], [0.2, 0.8]]), 3)
    0.5
    """
    return calibration_error(y_true, y_prob, notion="top-label", binning=binning, **data)


@_point("top-label-mce", "TL-MCE", "Gupta and Ramdas 2022", notion="top-label", norm="max")
def top_label_maximum_calibration_error(
    y_true: npt.ArrayLike, y_prob: npt.ArrayLike, *, binning: int | Binning = 15, **data: Unpack[DataOptions]
) -> float:
    """Largest gap in any bin of any predicted class (TL-MCE), in [0, 1].

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    binning : int or Binning, default=15
        How the scores of each predicted class are cut; a number n means ``EqualWidth(n)``.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``input`` and ``normalize``: see `DataOptions`.

    Returns
    -------
    float
        Maximum over predicted classes and bins of the gap.

    Examples
    --------
    >>> from calibrant import top_label_maximum_calibration_error
    >>> round(top_label_maximum_calibration_error([0, 0, 1, 0], [[0.5, 0.5], [0.6, 0.4], [0.3, 0.7], [0.2, 0.8]]), 3)
    0.8
    """
    return calibration_error(y_true, y_prob, notion="top-label", binning=binning, norm="max", **data)
