"""The only place where a binary method becomes multiclass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from calibrant import _links
from calibrant._links import FloatArray
from calibrant._parameters import flag
from calibrant._problem import Forecast, Problem, as_simplex
from calibrant._validation import Input
from calibrant._warnings import warn
from calibrant.calibrators.base import BinaryCalibrator, Calibrator, with_scores_of_logits
from calibrant.calibrators.venn_abers import VennAbers
from calibrant.notions import Notion, as_notion, top_label


class ByNotion(Calibrator):
    """Calibrate every binary problem of a notion by its own copy of a binary calibrator.

    Calibrate what you measure: isotonic x class-wise is one-vs-rest isotonic regression (IR-OvR), isotonic x
    confidence calibrates the top probability, isotonic x top-label does so for each predicted class.

    Parameters
    ----------
    calibrator : BinaryCalibrator
        The method; it is cloned for each problem.
    notion : {"class-wise", "confidence", "top-label", "binary"} or Notion, default="class-wise"
        Which problems there are.
    normalize : bool, default=True
        Divide rows by their sums where each class was calibrated by itself. Without it rows need not sum to one.
    input : {"probability", "logit"}, default="probability"
        What is passed to ``fit`` and ``predict_proba``.
    labels : sequence of length n_classes, optional
        The class of each column; by default 0, 1, ... or the sorted labels.

    Attributes
    ----------
    calibrators_ : list of BinaryCalibrator or None
        One a problem; None (nothing is changed) for a problem without rows, such as a class that is never predicted.
    classes_ : ndarray of shape (n_classes,)
        Labels in the order of the columns.

    Notes
    -----
    Putting calibrated scores back into a row can move its highest probability to another class. `predict_top` gives the
    label that was predicted and its calibrated score: that pair is what calibration under ``confidence`` and
    ``top-label`` speaks of.

    Examples
    --------
    >>> from calibrant import ByNotion, IsotonicCalibrator, load_digits_forecast
    >>> y, prob = load_digits_forecast()
    >>> ByNotion(IsotonicCalibrator(), "class-wise").fit(prob, y).predict_proba(prob).shape == prob.shape
    True
    """

    calibrators_: list[BinaryCalibrator | None]

    def __init__(
        self,
        calibrator: BinaryCalibrator,
        notion: str | Notion = "class-wise",
        *,
        normalize: bool = True,
        input: Input = "probability",
        labels: Sequence[Any] | None = None,
    ) -> None:
        self.calibrator = calibrator
        self.notion = notion
        self.normalize = normalize
        self.input = input
        self.labels = labels

    def predict_top(self, X: npt.ArrayLike) -> tuple[npt.NDArray[np.generic], FloatArray]:
        """Return the predicted label of the forecast as it came, and its calibrated probability.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_classes)
            Forecast of the kind that was fitted.

        Returns
        -------
        label : ndarray of shape (n_samples,)
            Class of the highest probability before calibration.
        score : ndarray of shape (n_samples,)
            What the calibrator of that class makes of it, before any normalisation.
        """
        check_is_fitted(self)
        forecast = self._forecast(self._received(X, reset=False))
        prob = forecast.prob
        top = top_label(prob)
        merged = self.fitted_notion.merge(prob, self._calibrated(forecast), normalize=False)
        return self.classes_[top], merged[np.arange(len(prob)), top]

    @available_if(lambda self: isinstance(self.calibrator, VennAbers))
    def predict_interval(self, X: npt.ArrayLike) -> FloatArray:
        """Return the pair of probabilities of `VennAbers` for each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_classes)
            Forecast of the kind that was fitted.

        Returns
        -------
        ndarray of shape (n_samples, n_classes, 2)
            The probabilities p0 and p1 of each class by itself; 0 and 1 where no part of the notion speaks of it.
        """
        check_is_fitted(self)
        prob = self._forecast(self._received(X, reset=False)).prob
        interval = np.tile([0.0, 1.0], (*prob.shape, 1))
        for fitted, part in zip(self.calibrators_, self.fitted_notion.parts(prob), strict=True):
            if isinstance(fitted, VennAbers):
                for end, values in enumerate(fitted._interval(part.scores(prob))):
                    part.put(interval[:, :, end], values)
        return interval

    @property
    def fitted_notion(self) -> Notion:
        """The notion, with columns in place of names of classes."""
        return as_notion(self.notion).named_in(self.classes_)

    def _fit_problem(self, problem: Problem) -> None:
        flag("normalize", self.normalize)
        if not isinstance(self.notion, (str, Notion)):
            raise TypeError(f"notion must be a word or a Notion; got {self.notion!r}. Pass notion='class-wise'.")
        if not isinstance(self.calibrator, BinaryCalibrator):
            raise TypeError(
                f"calibrator must be a BinaryCalibrator, a map of one score; got {self.calibrator!r}. "
                "A multiclass calibrator such as TemperatureScaling needs no notion: use it by itself."
            )
        self.calibrators_ = []
        empty = []
        simplex, notion = as_simplex(problem), self.fitted_notion
        log_odds = _links.log_odds_of_logits(simplex.forecast.values) if simplex.forecast.is_logit else None
        for part, binary in zip(notion.parts(simplex.prob), notion.split(simplex), strict=True):
            fitted = None
            if binary.size:
                fitted = clone(self.calibrator)
                if log_odds is not None:
                    binary = with_scores_of_logits(replace(binary, logit=part.scores(log_odds)))
                fitted._fit_one(binary)
            else:
                empty.append(binary.name)
            self.calibrators_.append(fitted)
        if empty:
            warn(f"no row to calibrate on for {', '.join(empty)}: such scores are left as they are. Fit on more rows.")

    def _calibrated(self, forecast: Forecast) -> list[FloatArray]:
        parts = list(self.fitted_notion.parts(forecast.prob))
        log_odds = _links.log_odds_of_logits(forecast.values) if forecast.is_logit else None
        calibrated = []
        for fitted, part in zip(self.calibrators_, parts, strict=True):
            score = part.scores(forecast.prob)
            if fitted is not None and score.size:
                score = fitted._apply(score) if log_odds is None else fitted._apply_logit(part.scores(log_odds))
            calibrated.append(score)
        return calibrated

    def _map_forecast(self, forecast: Forecast) -> FloatArray:
        return self.fitted_notion.merge(forecast.prob, self._calibrated(forecast), normalize=self.normalize)
