"""Accuracy and the proper scores, each the mean of one value a row, by scikit-learn's conventions where it has one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, Unpack

import numpy as np

from calibrant._core.arrays import CLIP, FloatArray
from calibrant._core.border import DataOptions
from calibrant._core.checks import is_word, require
from calibrant._core.rows import BoolArray, SimplexProblem
from calibrant.metrics.kinds import MeanLogLoss, MeanOfRows, YProb, YTrue

# One value a row: what the scores are means of, and what is resampled for their intervals.


def hits(problem: SimplexProblem) -> FloatArray:
    """One where the predicted class is the true one, else zero."""
    if problem.is_of_predictions:
        return problem.label.astype(np.float64)
    hit: BoolArray = problem.top == problem.label
    return hit.astype(np.float64)


def squared_losses(problem: SimplexProblem) -> FloatArray:
    """Squared distance to the corner of the true class."""
    return problem.forecast.squared_losses(problem)


def mean_squared_losses(problem: SimplexProblem) -> FloatArray:
    """Squared distance divided by the number of classes."""
    losses: FloatArray = squared_losses(problem) / problem.forecast.shape[1]
    return losses


@dataclass(frozen=True)
class BrierLoss:
    """Squared distance, halved or not; "auto" halves that of two classes, as scikit-learn does."""

    scale_by_half: bool | Literal["auto"] = "auto"

    def __post_init__(self) -> None:
        require(
            is_word(self.scale_by_half, "auto") or isinstance(self.scale_by_half, (bool, np.bool_)),
            "scale_by_half must be True, False or 'auto'",
            value=self.scale_by_half,
            hint="Leave it out to halve the loss of two classes, as scikit-learn does",
        )

    def __call__(self, problem: SimplexProblem) -> FloatArray:
        """Return the loss of each row."""
        halved = problem.forecast.shape[1] == 2 if self.scale_by_half == "auto" else self.scale_by_half
        losses = squared_losses(problem)
        return losses / 2.0 if halved else losses


# The scores


ACCURACY = MeanOfRows("accuracy", "Acc", "-", higher_is_better=True, per_row=hits)


@ACCURACY.declare
def accuracy(y_true: YTrue, y_prob: YProb = None, **data: Unpack[DataOptions]) -> float:
    """Share of rows whose most probable class is the true one, in [0, 1].

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Predictions
        Class labels: integers, strings or booleans; or `predictions` that are read in batches, without ``y_prob``.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities. Of equal ones the first class is predicted; one column predicts its event above 1/2. With ``y_pred``
        that is what is predicted.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    float
        The accuracy.

    Examples
    --------
    >>> from calibrant.metrics.scores import accuracy
    >>> accuracy([0, 1, 1, 0], [0.2, 0.7, 0.4, 0.1])
    0.75
    """
    return ACCURACY.of(y_true, y_prob, data)


NLL = MeanLogLoss("nll", "NLL", "Good 1952", range=(0.0, np.inf))


@NLL.declare
def log_loss(y_true: YTrue, y_prob: YProb = None, *, clip: float = CLIP, **data: Unpack[DataOptions]) -> float:
    """Mean negative log-probability of the true class (NLL, log loss), in [0, inf]; probability 0 costs 36.04 unless clip=0.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Predictions
        Class labels: integers, strings or booleans; or `predictions` that are read in batches, without ``y_prob``.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; or logits with ``input="logit"``, whose log-probabilities are exact and not clipped.
    clip : float, default=2.220446049250313e-16
        Least probability that counts, in [0, 1/2): a smaller one of the true class is raised to it, so that no row costs more
        than -ln(clip), 36.04 by default. The default is what scikit-learn does in double precision. With 0 nothing is
        raised, and the loss is infinite if an event of probability 0 occurred.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    float
        The same as ``sklearn.metrics.log_loss`` of the numbers in double precision, to rounding.

    Raises
    ------
    ValueError
        If ``clip`` is not in [0, 1/2).

    Warns
    -----
    CalibrationWarning
        If events of probability 0 occurred: the forecast called them impossible. It counts them; a row of weight 0 is none.

    Notes
    -----
    The clip hides how wrong a forecast is that called an event impossible: the true loss is infinite. The forecast of
    Table 3 of the survey by Silva Filho et al. gives the true class probability 0 in 2 of 30 rows. Its loss is inf, and 3.348
    with the default clip, 2.787 with 1e-12: the figure is the clip's more than the forecast's.

    Here single precision counts as the same numbers in double. scikit-learn clips single precision at its own epsilon:
    ``clip=np.finfo(np.float32).eps`` does the same.

    Examples
    --------
    >>> from calibrant import log_loss
    >>> round(log_loss([0, 1], [0.2, 0.5]), 4)
    0.4581
    """
    return NLL.clipped(clip).of(y_true, y_prob, data)


BRIER = MeanOfRows("brier", "Brier", "Brier 1950", range=(0.0, 2.0), per_row=BrierLoss())


@BRIER.declare
def brier_score_loss(
    y_true: YTrue, y_prob: YProb = None, *, scale_by_half: bool | Literal["auto"] = "auto", **data: Unpack[DataOptions]
) -> float:
    """Mean squared distance between predicted probabilities and outcome (Brier score), in [0, 1] for two classes, else [0, 2].

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Predictions
        Class labels: integers, strings or booleans; or `predictions` that are read in batches, without ``y_prob``.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    scale_by_half : bool or "auto", default="auto"
        Whether to halve the sum over classes. "auto" halves that of two classes: the mean of (outcome - probability)^2. Brier's
        own convention is False.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    float
        The same as ``sklearn.metrics.brier_score_loss``.

    Raises
    ------
    ValueError
        If ``scale_by_half`` is something else.

    See Also
    --------
    mean_class_brier_loss : The sum over classes divided by their number.

    Examples
    --------
    >>> from calibrant import brier_score_loss
    >>> round(brier_score_loss([0, 1], [0.2, 0.5]), 4)
    0.145
    """
    return replace(BRIER, per_row=BrierLoss(scale_by_half)).of(y_true, y_prob, data)


MEAN_BRIER = MeanOfRows("mean-brier", "Brier (mean)", "Brier 1950", also=("brier-mean",), per_row=mean_squared_losses)


@MEAN_BRIER.declare
def mean_class_brier_loss(y_true: YTrue, y_prob: YProb = None, **data: Unpack[DataOptions]) -> float:
    """Brier score divided by the number of classes, in [0, 1].

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Predictions
        Class labels: integers, strings or booleans; or `predictions` that are read in batches, without ``y_prob``.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    float
        For one column of probabilities the mean of (outcome - probability)^2.

    See Also
    --------
    brier_score_loss : The sum over classes, as scikit-learn scales it.

    Examples
    --------
    >>> from calibrant.metrics import mean_class_brier_loss
    >>> round(mean_class_brier_loss([0, 1], [0.2, 0.5]), 4)
    0.145
    """
    return MEAN_BRIER.of(y_true, y_prob, data)
