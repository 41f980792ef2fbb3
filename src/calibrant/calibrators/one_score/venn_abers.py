"""Venn-Abers: two isotonic fits for every forecast, one for each label that it may get."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from calibrant._core import links
from calibrant._core.links import EPSILON, FloatArray
from calibrant._core.parameters import numbers
from calibrant._core.problem import BinaryProblem
from calibrant._core.registry import declare
from calibrant._core.validation import Input
from calibrant.binning.distinct_scores import Ordered
from calibrant.calibrators.kinds import BinaryCalibrator
from calibrant.sums.fine_cells import in_cells, outward


@declare(
    "calibrator",
    "venn-abers",
    symbol="VA",
    source="Vovk, Petej and Fedorova 2015",
    guarantees={"order preserving", "ROC-hull preserving", "finite log loss"},
)
class VennAbers(BinaryCalibrator):
    """Fit isotonic regression with the new forecast among its rows, once with each label (inductive Venn-Abers, IVAP).

    Use it when a probability should come with its uncertainty: `predict_interval` gives the two fits, and where rows are
    exchangeable one of the two, that of the true label, is calibrated whatever their distribution. Use it in
    place of isotonic regression also where the log loss counts: no probability is 0 or 1. Do not use it below some hundred
    rows, where the interval is wide, or as an interval for the true probability, which it is not.

    Parameters
    ----------
    input : {"probability", "logit"}, default="probability"
        What is passed to ``fit`` and ``predict_proba``.
    labels : sequence of length 2, optional
        The negative and the positive label.

    Attributes
    ----------
    lower_score_ : ndarray of shape (n_lower,)
        Scores, increasing, from which on the fit with the negative label is higher than before.
    lower_ : ndarray of shape (n_lower + 1,)
        That fit: element i where i of ``lower_score_`` lie at or below the score. Increasing, from 0.
    upper_score_ : ndarray of shape (n_upper,)
        Scores, increasing, beyond which the fit with the positive label is higher.
    upper_ : ndarray of shape (n_upper + 1,)
        That fit: element i where i of ``upper_score_`` lie below the score. Increasing, to 1.
    classes_ : ndarray of shape (2,)
        Labels, the positive one last.

    Notes
    -----
    With p0 and p1 the fits at the new score that has been given the negative and the positive label, p0 < p1, the
    probability is  p1 / (1 - p0 + p1),  the one of least regret in log loss against the better of the two. It lies between
    them, grows with the score, and is 1/2 where the interval is [0, 1]. It is kept 1e-12 away from 0 and 1, which no fewer
    than 1e12 rows come near to. Both fits rise from each block of isotonic
    regression to the next, so the ROC hull stays. Exchanging the classes makes (1 - p1, 1 - p0) of the interval, exactly
    so unless rounding leaves two scores apart in one column and tied in the other, which happens near 0 and 1.

    The new row counts as one row: its weight is 1 where all weights are whole, which then are numbers of rows, and else
    their mean. A score equal to a calibration score joins its point. Between two calibration scores p1 is that of the next
    one above and p0 that of the next one below, which is exact; so steps are all that is kept. Both fits at all
    calibration scores take linear time after sorting.

    Cross Venn-Abers (CVAP) is ``CalibratedClassifier(estimator, VennAbers(), ensemble=True, pooling="geometric")``: the
    geometric means of p1 and of 1 - p0 over the folds, divided by their sum, are the geometric means of the two
    probabilities, divided by their sum.

    One class only: p0 is 0 everywhere, or p1 is 1.

    References
    ----------
    Vovk, Petej, Fedorova, Large-scale probabilistic predictors with and without guarantees of validity, NeurIPS 2015.

    Examples
    --------
    >>> from calibrant import VennAbers
    >>> fitted = VennAbers().fit([0.1, 0.2, 0.3, 0.4], [0, 0, 1, 1])
    >>> fitted.predict_interval([0.1, 0.35]).round(3).tolist()
    [[0.0, 0.333], [0.5, 1.0]]
    >>> fitted.calibrate([0.1, 0.35]).round(3).tolist()
    [0.25, 0.667]
    """

    lower_score_: FloatArray
    lower_: FloatArray
    upper_score_: FloatArray
    upper_: FloatArray

    def __init__(self, *, input: Input = "probability", labels: Sequence[Any] | None = None) -> None:
        super().__init__(input=input, labels=labels)

    def predict_interval(self, X: npt.ArrayLike) -> FloatArray:
        """Return the two fits at each forecast: the probabilities if its label were the negative and the positive one.

        Parameters
        ----------
        X : array-like of shape (n_samples,) or (n_samples, 2)
            Forecast of the kind that was fitted.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Fits p0 and p1 of the positive label, p0 < p1.
        """
        check_is_fitted(self)
        forecast = self._forecast(self._received(X, reset=False))
        score = links.score_of_logit(forecast.log_odds) if forecast.is_logit else forecast.prob[:, 1]
        return np.column_stack(self._interval(score))

    def _fit(self, problem: BinaryProblem) -> None:
        problem = in_cells(problem)
        ordered = Ordered.of(problem)
        score, weight, events = ordered.score, ordered.weight, ordered.outcome_sum
        more = 1.0 / problem.weights.rows_per_weight
        upper = np.append(_with_one_event(weight, events, more), 1.0)
        # A negative label more is a positive one more where the order and the labels are turned round.
        turned = _with_one_event(weight[::-1], (weight - events)[::-1], more)
        lower = np.append(0.0, 1.0 - turned[::-1])
        self.lower_score_, self.lower_ = _steps(score, lower)
        self.upper_score_, self.upper_ = _steps(score, upper)
        self.lower_score_, self.upper_score_ = outward(problem, self.lower_score_, self.upper_score_)

    def _check_loaded(self) -> None:
        for end in ("lower", "upper"):
            score, value = getattr(self, f"{end}_score_"), getattr(self, f"{end}_")
            numbers(f"{end}_score_", score, shape=(None,), least=0.0, most=1.0, order="rising")
            numbers(f"{end}_", value, shape=(score.size + 1,), least=0.0, most=1.0, order="not falling")

    def _interval(self, score: FloatArray) -> tuple[FloatArray, FloatArray]:
        lower = self.lower_[np.searchsorted(self.lower_score_, score, side="right")]
        return lower, self.upper_[np.searchsorted(self.upper_score_, score, side="left")]

    def _apply(self, score: FloatArray) -> FloatArray:
        p0, p1 = self._interval(score)
        # Of some 1e16 rows and more the two fits agree to the last digit, and can be certain.
        return np.clip(p1 / (1.0 - p0 + p1), EPSILON, 1.0 - EPSILON)


def _with_one_event(weight: FloatArray, events: FloatArray, more: float) -> FloatArray:
    """Fit each point with one event beside its own."""
    from calibrant._kernels.venn_abers import fits_with_one_event

    reached = np.append(0.0, np.cumsum(weight))
    events_reached = np.append(0.0, np.cumsum(events))
    return np.clip(np.maximum.accumulate(fits_with_one_event(reached, events_reached, more)), 0.0, 1.0)


def _steps(score: FloatArray, fit: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Keep the scores at which a fit rises, and its values from there on."""
    rises = np.flatnonzero(np.diff(fit) > 0)
    return score[rises], fit[np.append(0, rises + 1)]
