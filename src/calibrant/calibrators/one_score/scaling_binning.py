"""Scaling-binning: a parametric map, rounded to its mean over bins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from calibrant._core.links import EPSILON, FloatArray
from calibrant._core.parameters import numbers, whole
from calibrant._core.problem import BinaryProblem, Forecast, IntArray, two_columns
from calibrant._core.registry import declare
from calibrant._core.validation import Input
from calibrant.binning import EqualMass, locate
from calibrant.calibrators.by_word import as_binary_calibrator
from calibrant.calibrators.kinds import BinaryCalibrator
from calibrant.calibrators.one_score.histogram import check_edges
from calibrant.calibrators.one_score.platt import PlattScaling


@declare("calibrator", "scaling-binning", symbol="SB", source="Kumar et al. 2019", guarantees={"finite log loss"})
class ScalingBinning(BinaryCalibrator):
    """Fit a parametric map, then replace its values by their mean in bins of equal mass (scaling-binning).

    Use it when the calibration error that is left has to be measured: it takes few values, as `HistogramBinning` does, but
    each is a mean of fitted probabilities and not of 0s and 1s, so it varies less. Do not use it when scores must stay apart;
    then the parametric map is better by itself.

    Parameters
    ----------
    calibrator : str or BinaryCalibrator, optional
        The map, a word such as ``"beta"`` or an object; it is cloned. By default `PlattScaling`.
    n_bins : int, default=15
        Number of bins at most, at least 1.
    input : {"probability", "logit"}, default="probability"
        What is passed to ``fit`` and ``predict_proba``.
    labels : sequence of length 2, optional
        The negative and the positive label.

    Attributes
    ----------
    calibrator_ : BinaryCalibrator
        The fitted map.
    edges_ : ndarray of shape (n_bins + 1,)
        Bin b holds the rows whose fitted probability is in (edges_[b], edges_[b + 1]]; the first also holds its lower edge.
    value_ : ndarray of shape (n_bins,)
        Mean fitted probability of each bin, increasing.
    count_ : ndarray of shape (n_bins,)
        Rows of each bin.
    classes_ : ndarray of shape (2,)
        Labels, the positive one last.

    Notes
    -----
    The paper splits the rows in three: to fit the map, to choose the bins, to take the means. Here all rows serve for all
    three, as in the authors' code: bins and means look at fitted probabilities and not at labels, so there is nothing to
    over-fit but the map itself, no row is wasted and nothing is random.

    The bins are those of the fitted probabilities: where the map increases, they are bins of the score. Means are kept 1e-12
    away from 0 and 1.

    References
    ----------
    Kumar, Liang, Ma, Verified uncertainty calibration, NeurIPS 2019.

    Examples
    --------
    >>> from calibrant import load_digits_forecast
    >>> from calibrant.calibrators import ScalingBinning
    >>> y, prob = load_digits_forecast()
    >>> fitted = ScalingBinning(n_bins=5).fit(prob[:, 3], y == 3)
    >>> len(set(fitted.calibrate(prob[:, 3]).tolist()))
    5
    """

    calibrator_: BinaryCalibrator
    edges_: FloatArray
    value_: FloatArray
    count_: IntArray

    def __init__(
        self,
        calibrator: str | BinaryCalibrator | None = None,
        *,
        n_bins: int = 15,
        input: Input = "probability",
        labels: Sequence[Any] | None = None,
    ) -> None:
        super().__init__(input=input, labels=labels)
        self.calibrator = calibrator
        self.n_bins = n_bins

    def _fit(self, problem: BinaryProblem) -> None:
        method = PlattScaling() if self.calibrator is None else self.calibrator
        inner = as_binary_calibrator(method, hint="Pass 'platt', or PlattScaling()")
        n_bins = whole("n_bins", self.n_bins, least=1, hint="Pass some 10 to 20")
        inner._fit_one(problem)
        self.calibrator_ = inner
        # As the rows themselves will be mapped, to the last digit: else one of them could fall in the next bin.
        logit = problem.logit
        reads_logits = type(inner)._apply_logit is not BinaryCalibrator._apply_logit
        fitted = inner._apply(problem.score) if logit is None or not reads_logits else inner._apply_logit(logit)
        bins = EqualMass(n_bins)(replace(problem, score=fitted, logit=None))
        # Bins end at observed values: above the highest of them there can be one more, without rows.
        has_rows = bins.count > 0
        upper = bins.edges[1:][has_rows]
        self.edges_ = np.concatenate([[0.0], upper[:-1], [1.0]])
        self.value_ = np.clip(bins.mean_prob[has_rows], EPSILON, 1.0 - EPSILON)
        self.count_ = bins.count[has_rows]

    def _check_loaded(self) -> None:
        self.calibrator_._check_loaded()
        n_bins = self.value_.size
        check_edges("edges_", self.edges_, n_bins)
        numbers("value_", self.value_, shape=(n_bins,), least=0.0, most=1.0)
        numbers("count_", self.count_, shape=(n_bins,), least=0)

    def _apply(self, score: FloatArray) -> FloatArray:
        return self._mean_near(self.calibrator_._apply(score))

    def _apply_logit(self, log_odds: FloatArray) -> FloatArray:
        return self._mean_near(self.calibrator_._apply_logit(log_odds))

    def _map_forecast(self, forecast: Forecast) -> FloatArray:
        column = self._mean_near(self.calibrator_._map_forecast(forecast)[:, 1])
        return two_columns(column, is_logit=False).values

    def _mean_near(self, fitted: FloatArray) -> FloatArray:
        return self.value_[locate(self.edges_, fitted)]
