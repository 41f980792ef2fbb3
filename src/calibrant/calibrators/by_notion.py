"""The only place where a binary method becomes multiclass."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from calibrant._links import FloatArray
from calibrant._problem import Forecast, Problem, as_simplex
from calibrant._validation import Input
from calibrant._warnings import CalibrationWarning
from calibrant.calibrators.base import BinaryCalibrator, Calibrator
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
        prob = self._forecast(self._received(X, reset=False)).prob
        top = top_label(prob)
        merged = self.fitted_notion.merge(prob, self._calibrated(prob), normalize=False)
        return self.classes_[top], merged[np.arange(len(prob)), top]

    @property
    def fitted_notion(self) -> Notion:
        """The notion, with columns in place of names of classes."""
        return as_notion(self.notion).named_in(self.classes_)

    def _fit_problem(self, problem: Problem) -> None:
        if not isinstance(self.calibrator, BinaryCalibrator):
            raise TypeError(
                f"calibrator must be a BinaryCalibrator, a map of one score; got {self.calibrator!r}. "
                "A multiclass calibrator such as TemperatureScaling needs no notion: use it by itself."
            )
        self.calibrators_ = []
        empty = []
        for binary in self.fitted_notion.split(as_simplex(problem)):
            fitted = None
            if binary.size:
                fitted = clone(self.calibrator)
                fitted._fit(binary)
            else:
                empty.append(binary.name)
            self.calibrators_.append(fitted)
        if empty:
            warnings.warn(
                f"no row to calibrate on for {', '.join(empty)}: such scores are left as they are. Fit on more rows.",
                CalibrationWarning,
                stacklevel=3,
            )

    def _calibrated(self, prob: FloatArray) -> list[FloatArray]:
        parts = [part.scores(prob) for part in self.fitted_notion.parts(prob)]
        return [
            score if fitted is None or not score.size else fitted._apply(score)
            for fitted, score in zip(self.calibrators_, parts, strict=True)
        ]

    def _map_forecast(self, forecast: Forecast) -> FloatArray:
        return self.fitted_notion.merge(forecast.prob, self._calibrated(forecast.prob), normalize=self.normalize)
