"""How much outcomes differ within bins. This judges the bins and not the forecast, so it is no metric of it."""

from __future__ import annotations

from typing import Unpack

import numpy as np
import numpy.typing as npt

from calibrant._links import FloatArray
from calibrant._problem import BinaryProblem
from calibrant._validation import DataOptions, as_problem
from calibrant.binning import Binning, Bins, as_binning
from calibrant.metrics.error import general_error
from calibrant.metrics.losses import l1
from calibrant.notions import Notion, as_notion


def variance_of(bins: Bins) -> FloatArray:
    """Variance of the outcomes in each bin; NaN where a bin is empty."""
    return np.asarray(bins.event_rate * (1.0 - bins.event_rate), dtype=np.float64)


def outcome_variance(problem: BinaryProblem, bins: Bins) -> FloatArray:
    """Variance of the outcomes in each bin, as a loss."""
    return variance_of(bins)


def mean_over_bins(values: FloatArray, weights: FloatArray) -> float:
    """Mean in which each bin counts the same."""
    return float(values.mean())


def binning_criterion(
    y_true: npt.ArrayLike,
    y_prob: npt.ArrayLike,
    *,
    notion: str | Notion | None = None,
    binning: int | Binning = 15,
    **data: Unpack[DataOptions],
) -> float:
    """Variance of outcomes within bins, averaged over rows: what the choice of bins can make small; in [0, 0.25].

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    notion : str or Notion, optional
        By default ``"binary"`` for one column and ``"confidence"`` for a table; a mean over the problems of others.
    binning : int or Binning, default=15
        The bins to judge; a number n means ``EqualWidth(n)``.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``normalize``: see `DataOptions`.

    Returns
    -------
    float
        Sum over bins b of  weight(b) / weight  *  rate(b) * (1 - rate(b)): the Brier score of the event rates of the bins as
        forecasts of the rows in them. It is ``uncertainty - resolution`` of `murphy_decomposition`.

    Raises
    ------
    ValueError
        If values are not what they must be: not finite, outside [0, 1], rows that do not sum to one, unknown labels.

    Notes
    -----
    To part a bin never makes it larger, so that it is 0 with a bin a row. Of all bins whose event rates do not decrease,
    those of `Isotonic` make it smallest. It compares bins of one forecast that obey the same constraint, on the rows that chose
    them: it is no estimate for other rows.

    References
    ----------
    Matsubara, Tax, Mudd, Guy, TCE: A test-based approach to measuring calibration error, UAI 2023 (eq. 8 and 9).
    Dimitriadis, Gneiting, Jordan, Stable reliability diagrams for probabilistic classifiers, PNAS 2021.

    Examples
    --------
    >>> from calibrant import Isotonic, binning_criterion
    >>> y, p = [0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4]
    >>> binning_criterion(y, p, binning=Isotonic()), binning_criterion(y, p, binning=1)
    (0.125, 0.25)
    """
    problem = as_problem(y_true, y_prob, **data)
    return general_error(problem, as_notion(notion, problem), as_binning(binning), outcome_variance, l1)


def within_bin_error(
    y_true: npt.ArrayLike,
    y_prob: npt.ArrayLike,
    *,
    notion: str | Notion | None = None,
    binning: int | Binning = 15,
    **data: Unpack[DataOptions],
) -> float:
    """Mean variance of outcomes within bins, each bin that holds rows counting the same; in [0, 0.25].

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    notion : str or Notion, optional
        By default ``"binary"`` for one column and ``"confidence"`` for a table; a mean over the problems of others.
    binning : int or Binning, default=15
        The bins to judge; a number n means ``EqualWidth(n)``.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``normalize``: see `DataOptions`.

    Returns
    -------
    float
        Mean over bins b of  rate(b) * (1 - rate(b)).

    Raises
    ------
    ValueError
        If values are not what they must be: not finite, outside [0, 1], rows that do not sum to one, unknown labels.

    Notes
    -----
    With bins of equal weight it is `binning_criterion`. Many bins where event rates are near one half make it larger, many bins
    where they are near 0 or 1 smaller: it says where the bins are, and not how well any event rate is estimated.

    References
    ----------
    Matsubara, Tax, Mudd, Guy, TCE: A test-based approach to measuring calibration error, UAI 2023 (eq. 9 and Table 1).

    Examples
    --------
    >>> from calibrant import Isotonic, within_bin_error
    >>> round(within_bin_error([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4], binning=Isotonic()), 4)
    0.0833
    """
    problem = as_problem(y_true, y_prob, **data)
    return general_error(
        problem, as_notion(notion, problem), as_binning(binning), outcome_variance, mean_over_bins, across=l1
    )
