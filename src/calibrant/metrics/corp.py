"""CORP: a mean score as miscalibration - discrimination + uncertainty, and each of the three as a metric."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from operator import add
from typing import Unpack

import numpy.typing as npt

from calibrant._core.problem import BinaryProblem
from calibrant._core.proper import EventScore, as_event_score, log_loss, score_name
from calibrant._core.registry import declare
from calibrant._core.validation import DataOptions, as_problem
from calibrant.binning.ordered import Ordered
from calibrant.metrics.corp_estimates import discrimination_estimate, miscalibration_estimate, uncertainty_estimate
from calibrant.metrics.decomposition import Decomposition, mean_over_parts
from calibrant.metrics.log_losses import Impossible, LogLoss
from calibrant.notions import Notion
from calibrant.solvers.isotonic import corp_terms

TERMS = ("miscalibration", "discrimination", "uncertainty")


def corp_decomposition(
    y_true: npt.ArrayLike,
    y_prob: npt.ArrayLike,
    *,
    score: str | EventScore = "brier",
    notion: str | Notion | None = None,
    **data: Unpack[DataOptions],
) -> Decomposition:
    """Take a proper score apart into miscalibration - discrimination + uncertainty, by isotonic regression (CORP).

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    score : {"brier", "log"} or callable, default="brier"
        A proper score of the probability of one event, the lower the better. "brier" is the squared error; a function takes
        two arrays, probabilities and outcomes 0 or 1, and returns one value a row.
    notion : str or Notion, optional
        By default ``"binary"`` for two classes and ``"confidence"`` for more; a mean over the problems of others.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    Decomposition
        Terms ``miscalibration``, ``discrimination`` (subtracted) and ``uncertainty``, none of them negative. For one
        column ``total`` equals `mean_brier_loss`; class-wise it does for tables.

    Raises
    ------
    ValueError
        If the score is not proper, as far as the terms show it.

    Notes
    -----
    With the mean scores S of the forecast, F of its isotonic fit and R of the event rate, miscalibration = S - F: what
    recalibration saves; discrimination = R - F: what the calibrated forecast is better than none; uncertainty = R. Nothing
    has to be chosen. The fit is the best for every proper score. It is made and measured on the same rows, so that
    both terms are too large by about as much as a calibrated forecast is miscalibrated: see `miscalibration_loss` in
    `assess`, which states that.

    References
    ----------
    Dimitriadis, Gneiting, Jordan, Stable reliability diagrams for probabilistic classifiers, PNAS 2021.
    Brümmer, du Preez, The PAV algorithm optimizes binary proper scoring rules, 2013.

    Examples
    --------
    >>> from calibrant import corp_decomposition
    >>> corp_decomposition([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.8])
    Decomposition(brier 0.195 = 0.07 miscalibration - 0.125 discrimination + 0.25 uncertainty)
    """
    loss, problem = as_event_score(score), as_problem(y_true, y_prob, **data)
    impossible: list[Impossible] = []

    def terms_of(part: BinaryProblem) -> tuple[float, ...]:
        if loss is log_loss:  # of logits it sees the probabilities
            impossible.append(LogLoss().impossible(replace(part, logit=None)))
        return corp_terms(Ordered.of(part), loss)

    found = mean_over_parts(score_name(score), problem, notion, terms_of, TERMS, ("discrimination",))
    if impossible:
        reduce(add, impossible).warn()
    return found


@declare(
    "metric",
    "mcb",
    symbol="MCB",
    source="Dimitriadis et al. 2021",
    range=(0.0, 1.0),
    estimate=miscalibration_estimate,
)
def miscalibration_loss(
    y_true: npt.ArrayLike,
    y_prob: npt.ArrayLike,
    *,
    score: str | EventScore = "brier",
    notion: str | Notion | None = None,
    **data: Unpack[DataOptions],
) -> float:
    """Mean score that recalibration by isotonic regression saves (MCB of CORP), in [0, 1]; 0 is calibrated.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    score : {"brier", "log"} or callable, default="brier"
        A proper score of the probability of one event, the lower the better. "brier" is the squared error; a function takes
        two arrays, probabilities and outcomes 0 or 1, and returns one value a row.
    notion : str or Notion, optional
        By default ``"binary"`` for two classes and ``"confidence"`` for more; a mean over the problems of others.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    float
        Mean score of the forecast minus that of its isotonic fit. The range is that of the Brier score.

    See Also
    --------
    corp_decomposition : All three terms at once.
    discrimination_score : What the calibrated forecast is better than none.

    Notes
    -----
    Biased upwards, since the fit is made on the rows that it is measured on: `assess` states the noise floor. Without bias it
    is the squared distance of the probabilities from the true event rates, where these do not decrease with the score.

    References
    ----------
    Dimitriadis, Gneiting, Jordan, Stable reliability diagrams for probabilistic classifiers, PNAS 2021.

    Examples
    --------
    >>> from calibrant import miscalibration_loss
    >>> round(miscalibration_loss([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.8]), 3)
    0.07
    """
    return corp_decomposition(y_true, y_prob, score=score, notion=notion, **data)["miscalibration"]


@declare(
    "metric",
    "dsc",
    symbol="DSC",
    source="Dimitriadis et al. 2021",
    range=(0.0, 0.25),
    higher_is_better=True,
    estimate=discrimination_estimate,
)
def discrimination_score(
    y_true: npt.ArrayLike,
    y_prob: npt.ArrayLike,
    *,
    score: str | EventScore = "brier",
    notion: str | Notion | None = None,
    **data: Unpack[DataOptions],
) -> float:
    """Mean score by which the isotonic fit is better than the event rate alone (DSC of CORP), in [0, 1/4].

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    score : {"brier", "log"} or callable, default="brier"
        A proper score of the probability of one event, the lower the better. "brier" is the squared error; a function takes
        two arrays, probabilities and outcomes 0 or 1, and returns one value a row.
    notion : str or Notion, optional
        By default ``"binary"`` for two classes and ``"confidence"`` for more; a mean over the problems of others.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    float
        Mean score of the event rate minus that of the isotonic fit: how well the forecast tells events from others. The range
        is that of the Brier score.

    See Also
    --------
    corp_decomposition : All three terms at once.
    miscalibration_loss : What recalibration saves.

    Notes
    -----
    It depends on the order of the scores alone. Biased upwards, as the miscalibration is.

    References
    ----------
    Dimitriadis, Gneiting, Jordan, Stable reliability diagrams for probabilistic classifiers, PNAS 2021.

    Examples
    --------
    >>> from calibrant import discrimination_score
    >>> round(discrimination_score([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.8]), 3)
    0.125
    """
    return corp_decomposition(y_true, y_prob, score=score, notion=notion, **data)["discrimination"]


@declare(
    "metric",
    "unc",
    symbol="UNC",
    source="Dimitriadis et al. 2021",
    range=(0.0, 0.25),
    estimate=uncertainty_estimate,
)
def uncertainty_loss(
    y_true: npt.ArrayLike,
    y_prob: npt.ArrayLike,
    *,
    score: str | EventScore = "brier",
    notion: str | Notion | None = None,
    **data: Unpack[DataOptions],
) -> float:
    """Mean score of the event rate itself (UNC of CORP), in [0, 1/4]: what a forecast that knows nothing costs.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    score : {"brier", "log"} or callable, default="brier"
        A proper score of the probability of one event, the lower the better. "brier" is the squared error; a function takes
        two arrays, probabilities and outcomes 0 or 1, and returns one value a row.
    notion : str or Notion, optional
        By default ``"binary"`` for two classes and ``"confidence"`` for more; a mean over the problems of others.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    float
        For the Brier score the variance of the outcome. The range is that of the Brier score.

    See Also
    --------
    corp_decomposition : All three terms at once.
    discrimination_score : What the calibrated forecast is better than that.

    Notes
    -----
    A property of the outcomes and not of the forecast: forecasts compare in the other two terms.

    References
    ----------
    Dimitriadis, Gneiting, Jordan, Stable reliability diagrams for probabilistic classifiers, PNAS 2021.

    Examples
    --------
    >>> from calibrant import uncertainty_loss
    >>> uncertainty_loss([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.8])
    0.25
    """
    return corp_decomposition(y_true, y_prob, score=score, notion=notion, **data)["uncertainty"]
