"""The Brier score taken apart over bins: reliability, resolution, uncertainty, and what binning leaves out."""

from __future__ import annotations

from functools import partial
from typing import Unpack

import numpy.typing as npt

from calibrant._core.problem import BinaryProblem
from calibrant._core.validation import DataOptions, as_problem
from calibrant.binning import Binning, as_binning
from calibrant.metrics.decompositions.kull_flach import Decomposition, mean_over_parts
from calibrant.notions import Notion
from calibrant.sums.unread import require_rows

TERMS = ("reliability", "resolution", "uncertainty", "within-bin variance", "within-bin covariance")


def murphy_decomposition(
    y_true: npt.ArrayLike,
    y_prob: npt.ArrayLike | None = None,
    *,
    binning: int | Binning = 15,
    notion: str | Notion | None = None,
    **data: Unpack[DataOptions],
) -> Decomposition:
    """Split the Brier score into reliability - resolution + uncertainty over bins, and what happens within them.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    binning : int or Binning, default=15
        How scores are cut; a number n means ``EqualWidth(n)``.
    notion : str or Notion, optional
        By default ``"binary"`` for two classes and ``"confidence"`` for more; a mean over the problems of others.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    Decomposition
        Terms ``reliability``, ``resolution`` (subtracted), ``uncertainty``, ``within-bin variance`` and ``within-bin
        covariance`` (subtracted). ``total`` is the mean squared error of the forecast as it is, not of its bins.

    Notes
    -----
    Murphy's three terms, of which reliability is the squared `root_mean_squared_calibration_error`, are the Brier score of
    the bin means. The other two, mean variance of the probabilities within bins and twice their mean covariance with the
    outcome, are what binning leaves out: with `Unique` bins they are zero.

    References
    ----------
    Murphy, A new vector partition of the probability score, Journal of Applied Meteorology 1973.
    Stephenson, Coelho, Jolliffe, Two extra components in the Brier score decomposition, Weather and Forecasting 2008.

    Examples
    --------
    >>> from calibrant.metrics import murphy_decomposition
    >>> found = murphy_decomposition([0, 0, 1, 1], [0.1, 0.3, 0.6, 0.9], binning=2)
    >>> round(found["reliability"], 5), round(found["resolution"], 5), round(found["within-bin variance"], 5)
    (0.05125, 0.25, 0.01625)
    """
    terms_of = partial(murphy_terms, binning=as_binning(binning))
    problem = require_rows(as_problem(y_true, y_prob, **data), "Murphy's decomposition")
    return mean_over_parts("brier", problem, notion, terms_of, TERMS, ("resolution", "within-bin covariance"))


def murphy_terms(problem: BinaryProblem, binning: Binning) -> tuple[float, ...]:
    """Return the mean squared error and the terms that it is made of."""
    bins, share = binning(problem), problem.weight / problem.weight.sum()
    held, of_bin = bins.weight > 0, bins.weight / bins.weight.sum()
    base, at = float(share @ problem.outcome), bins.index(problem.score)
    apart = problem.score - bins.mean_prob[at]
    return (
        float(share @ (problem.score - problem.outcome) ** 2),
        float(of_bin[held] @ bins.gap[held] ** 2),
        float(of_bin[held] @ (bins.event_rate[held] - base) ** 2),
        base * (1.0 - base),
        float(share @ apart**2),
        2.0 * float(share @ (apart * (problem.outcome - bins.event_rate[at]))),
    )
