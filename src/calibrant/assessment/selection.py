"""The calibrator that `compare` recommends, as an estimator of scikit-learn, with the log loss of choosing and fitting it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from calibrant._core.arrays import FloatArray, quotients, sum_of_rows
from calibrant._core.border import Input
from calibrant._core.rows import Forecast, Problem
from calibrant.assessment.advice import OF_CLASSES, OF_ONE_EVENT
from calibrant.assessment.comparison import DRAWS, Comparison, comparison_of
from calibrant.assessment.held_out import IDENTITY, CrossValidation, HeldOut, maker_of, named_calibrators
from calibrant.calibrators.base import Calibrator, fitted, parameter
from calibrant.calibrators.classifier import default_of
from calibrant.calibrators.safe import Method, in_order
from calibrant.fit.folds import observed
from calibrant.metrics.kinds import as_metric
from calibrant.sums.draws import as_rng

NLL = as_metric("nll", None)


class CalibratorSelector(Calibrator):
    """Choose among calibrators by cross-validation, as `compare` recommends by log loss, and fit the chosen one.

    Parameters
    ----------
    calibrators : sequence or dict of str or Calibrator, optional
        What to choose among; the forecast as it is stands beside them in any case. A word is one that ``calibrant list
        calibrators`` prints; with " --safe" behind it the method stands within `SafeCalibrator`. By default those that `advise`
        compares, with the default within `SafeCalibrator`.
    n_folds : int, default=5
        Each is fitted as often, on the rows outside one fold, and judged on that fold.
    level : float, default=0.05
        A calibrator takes the place of the forecast where its p-value, adjusted by Holm's method, is below;
        `EvidenceScaling` within `SafeCalibrator` where it is not shown to be worse. See `compare`.
    nested : bool, default=True
        Find the log loss of choosing and fitting on held-out rows, by as many choices as folds. It takes that many times as
        long; the choice is the same without.
    random_state : int, default=0
        Which rows make a fold.
    input : {"probability", "logit"}, default="probability"
        What is passed to ``fit`` and ``predict_proba``.
    labels : sequence of length n_classes, optional
        The class of each column; by default 0, 1, ... or the sorted labels.

    Attributes
    ----------
    method_ : str
        The name of the chosen calibrator, "identity" for the forecast as it is.
    calibrator_ : Calibrator or None
        The chosen calibrator, fitted on all rows; None for the forecast as it is. `save_calibrator` and exports take this one.
    comparison_ : Comparison
        The cross-validated candidates, with the reason for the choice. The value of the chosen one is a little too good, since
        it was chosen by it.
    nested_loss_, identity_loss_ : float
        Mean log loss, in nats, of choosing and fitting without a fold, on the rows of that fold; and of the forecast as it is
        on the same rows. NaN where ``nested`` is False.
    classes_ : ndarray of shape (n_classes,)
        Labels in the order of the columns.

    References
    ----------
    Varma, Simon, Bias in error estimation when using cross-validation for model selection, BMC Bioinformatics 2006 (nested
    cross-validation).

    Examples
    --------
    >>> from calibrant import CalibratorSelector, load_digits_forecast
    >>> y, prob = load_digits_forecast()
    >>> selector = CalibratorSelector(["temperature", "svs"], nested=False).fit(prob[:748], y[:748])
    >>> selector.method_
    'svs'
    """

    calibrators: Any = field(default=None, kw_only=False)
    n_folds: int = parameter(default=5, least=2, hint="Pass n_folds=5")
    level: float = parameter(default=0.05, above=0.0, below=1.0, hint="Pass level=0.05")
    nested: bool = parameter(default=True)
    random_state: int = parameter(default=0, least=0, hint="Pass random_state=0")
    input: Input = "probability"
    labels: Sequence[Any] | None = None
    method_: str = fitted()
    calibrator_: Calibrator | None = fitted()
    comparison_: Comparison = fitted()
    nested_loss_: float = fitted()
    identity_loss_: float = fitted()

    def _fit_problem(self, problem: Problem) -> None:
        self.comparison_, self.calibrator_ = self._chosen(problem)
        self.method_, self.nested_loss_, self.identity_loss_ = self.comparison_.recommended, np.nan, np.nan
        if self.nested:
            rows, counts = in_order(observed(problem))
            held_out = HeldOut(counts, self.n_folds, as_rng(self.random_state))
            chosen = held_out.calibrated(rows, lambda n_classes: clone(self).set_params(nested=False))
            self.identity_loss_, self.nested_loss_ = map(NLL.value, (held_out.of(rows), chosen))

    def _chosen(self, problem: Problem) -> tuple[Comparison, Calibrator | None]:
        """Return how the candidates compare on some rows, and the recommended one, fitted on them."""
        named = named_calibrators(self._candidates(problem) if self.calibrators is None else self.calibrators)
        rng = as_rng(self.random_state)
        cv = CrossValidation(self.n_folds)
        found = comparison_of({IDENTITY: problem}, named, [NLL], cv, self.level, DRAWS, rng, unnamed=True)
        found = replace(found, problems={})  # a fitted estimator keeps no rows
        if found.recommended == IDENTITY:
            return found, None
        calibrator = maker_of(named[found.recommended])(len(self.classes_))
        return found, calibrator._fit_inside(self, problem)

    def _candidates(self, problem: Problem) -> list[str]:
        methods = OF_ONE_EVENT if len(self.classes_) == 2 else OF_CLASSES
        return [*methods, str(Method(default_of(problem).word, safe=True))]

    def _map_forecast(self, forecast: Forecast) -> FloatArray:
        if self.calibrator_ is None:
            return quotients(forecast.prob, sum_of_rows(forecast.prob))
        return self.calibrator_._map_forecast(forecast)
