"""Expected, maximum, root mean squared and debiased calibration error over bins, each a point of `calibration_error`."""

from __future__ import annotations

from typing import Unpack

import numpy.typing as npt

from calibrant._core.validation import DataOptions
from calibrant.binning import Binning, EqualMass
from calibrant.metrics.kinds.through_lens import point
from calibrant.notions import Notion
from calibrant.sums import Predictions

MASS = EqualMass(15)


ECE = point("ece", "ECE", "Naeini et al. 2015; Guo et al. 2017")


@ECE.declare
def expected_calibration_error(
    y_true: npt.ArrayLike | Predictions,
    y_prob: npt.ArrayLike | None = None,
    *,
    notion: str | Notion | None = None,
    binning: int | Binning = 15,
    **data: Unpack[DataOptions],
) -> float:
    """Mean gap between probability and event rate over bins (ECE), in [0, 1]; 0 is calibrated.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Predictions
        Class labels: integers, strings or booleans; or `predictions` that are read in batches, without ``y_prob``.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    notion : str or Notion, optional
        By default ``"binary"`` for two classes and ``"confidence"`` for more.
    binning : int or Binning, default=15
        How scores are cut; a number n means ``EqualWidth(n)``.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

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
    return ECE.recut(binning).of(y_true, y_prob, data, notion=notion)


MCE = point("mce", "MCE", "Naeini et al. 2015", norm="max")


@MCE.declare
def maximum_calibration_error(
    y_true: npt.ArrayLike | Predictions,
    y_prob: npt.ArrayLike | None = None,
    *,
    notion: str | Notion | None = None,
    binning: int | Binning = 15,
    **data: Unpack[DataOptions],
) -> float:
    """Largest gap between probability and event rate in any bin that holds rows (MCE), in [0, 1].

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Predictions
        Class labels: integers, strings or booleans; or `predictions` that are read in batches, without ``y_prob``.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    notion : str or Notion, optional
        By default ``"binary"`` for two classes and ``"confidence"`` for more.
    binning : int or Binning, default=15
        How scores are cut; a number n means ``EqualWidth(n)``.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

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
    return MCE.recut(binning).of(y_true, y_prob, data, notion=notion)


RMSCE = point("rmsce", "RMSCE", "Hendrycks et al. 2019", norm="l2")


@RMSCE.declare
def root_mean_squared_calibration_error(
    y_true: npt.ArrayLike | Predictions,
    y_prob: npt.ArrayLike | None = None,
    *,
    notion: str | Notion | None = None,
    binning: int | Binning = 15,
    **data: Unpack[DataOptions],
) -> float:
    """Root of the mean squared gap between probability and event rate over bins (RMSCE), in [0, 1].

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Predictions
        Class labels: integers, strings or booleans; or `predictions` that are read in batches, without ``y_prob``.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    notion : str or Notion, optional
        By default ``"binary"`` for two classes and ``"confidence"`` for more.
    binning : int or Binning, default=15
        How scores are cut; a number n means ``EqualWidth(n)``.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    float
        Never smaller than the ECE over the same bins, never larger than the MCE.

    Examples
    --------
    >>> from calibrant.metrics import root_mean_squared_calibration_error
    >>> round(root_mean_squared_calibration_error([0, 0, 1, 1], [0.1, 0.3, 0.6, 0.9], binning=2), 3)
    0.226
    """
    return RMSCE.recut(binning).of(y_true, y_prob, data, notion=notion)


DEBIASED = point(
    "debiased-ece",
    "debiased l2",
    "Kumar et al. 2019",
    binning=MASS,
    loss="debiased squared gap",
    norm="root",
)


@DEBIASED.declare
def debiased_calibration_error(
    y_true: npt.ArrayLike | Predictions,
    y_prob: npt.ArrayLike | None = None,
    *,
    notion: str | Notion | None = None,
    binning: int | Binning = MASS,
    **data: Unpack[DataOptions],
) -> float:
    """Bias-corrected root mean squared calibration error (debiased l2), in [0, 1].

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Predictions
        Class labels: integers, strings or booleans; or `predictions` that are read in batches, without ``y_prob``.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    notion : str or Notion, optional
        By default ``"binary"`` for two classes and ``"confidence"`` for more.
    binning : int or Binning, default=EqualMass(15)
        How scores are cut; a number n means ``EqualWidth(n)``.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    float
        Root of the weighted mean over bins of  gap^2 - rate * (1 - rate) / (n - 1),  with the event rate and the number n of
        rows of a bin; 0 where that mean is negative, as it is for about half of all calibrated forecasts.

    Notes
    -----
    The mean of squares is unbiased for the squared error over these bins; its root is nearly so. A bin of one row counts as 0.
    Whole weights count as rows; others are scaled to a mean of one.

    References
    ----------
    Kumar, Liang, Ma, Verified uncertainty calibration, NeurIPS 2019.
    Bröcker, Estimating reliability and resolution of probability forecasts through decomposition of the empirical score,
    Climate Dynamics 2012.

    Examples
    --------
    >>> from calibrant.metrics import debiased_calibration_error
    >>> y, p = [0, 0, 1, 0, 1, 1, 1, 1], [0.1, 0.1, 0.1, 0.1, 0.6, 0.6, 0.6, 0.6]
    >>> round(debiased_calibration_error(y, p), 3)
    0.245
    """
    return DEBIASED.recut(binning).of(y_true, y_prob, data, notion=notion)
