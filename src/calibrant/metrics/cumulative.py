"""Calibration errors without bins: distances of the cumulative residuals."""

from __future__ import annotations

from typing import Unpack

import numpy.typing as npt

from calibrant._core.validation import DataOptions
from calibrant.lenses.base import MeanOverProblems
from calibrant.lenses.cumulative import Cumulative, largest, largest_within, spread, spread_within
from calibrant.metrics.kinds.through_lens import ThroughLens
from calibrant.notions import Notion
from calibrant.sums import Predictions

KS = ThroughLens(
    "ks-error", "KS", "Gupta K. et al. 2021", lens=Cumulative(), size=MeanOverProblems(largest, largest_within)
)


@KS.declare
def kolmogorov_smirnov_error(
    y_true: npt.ArrayLike | Predictions,
    y_prob: npt.ArrayLike | None = None,
    *,
    notion: str | Notion | None = None,
    **data: Unpack[DataOptions],
) -> float:
    """Largest distance between cumulative probability and cumulative events in the order of scores (KS error), in [0, 1].

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
        Largest  abs(sum of weight * (outcome - probability) over rows with score <= s) / weight  over all s. Also known as
        the maximum absolute deviation of the empirical cumulative calibration errors (ECCE-MAD).

    Notes
    -----
    Nothing is binned, so nothing has to be chosen. A constant over-confidence shows in full; errors of either sign at
    neighbouring scores cancel. Never larger than the calibration error over distinct scores (`Unique`).

    References
    ----------
    Gupta K., Rahimi, Ajanthan, Mensink, Sminchisescu, Hartley, Calibration of neural networks using splines, ICLR 2021.
    Arrieta-Ibarra, Gujral, Tannen, Tygert, Xu, Metrics of calibration for probabilistic predictions, JMLR 2022.

    Examples
    --------
    >>> from calibrant.metrics import kolmogorov_smirnov_error
    >>> round(kolmogorov_smirnov_error([0, 0, 1, 1], [0.1, 0.3, 0.6, 0.9]), 3)
    0.1
    """
    return KS.of(y_true, y_prob, data, notion=notion)


KUIPER = ThroughLens(
    "kuiper-error",
    "Kuiper",
    "Arrieta-Ibarra et al. 2022",
    lens=Cumulative(),
    size=MeanOverProblems(spread, spread_within),
)


@KUIPER.declare
def kuiper_error(
    y_true: npt.ArrayLike | Predictions,
    y_prob: npt.ArrayLike | None = None,
    *,
    notion: str | Notion | None = None,
    **data: Unpack[DataOptions],
) -> float:
    """Range of the cumulative residuals in the order of scores (Kuiper, ECCE-R), in [0, 1]; 0 is calibrated.

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
        The largest  abs(sum of weight * (outcome - probability) over rows with scores in an interval) / weight  over all
        intervals of scores: between the KS error and twice the KS error.

    References
    ----------
    Arrieta-Ibarra, Gujral, Tannen, Tygert, Xu, Metrics of calibration for probabilistic predictions, JMLR 2022.

    Examples
    --------
    >>> from calibrant.metrics import kuiper_error
    >>> round(kuiper_error([0, 0, 1, 1], [0.1, 0.3, 0.6, 0.9]), 3)
    0.125
    """
    return KUIPER.of(y_true, y_prob, data, notion=notion)
