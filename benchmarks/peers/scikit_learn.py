"""scikit-learn: it has no ECE, so the sum over `calibration_curve` is written as its users write it.

Its sigmoid and its temperature are fitted by private classes: in public they come with the folds of CalibratedClassifierCV.
"""

from collections.abc import Callable

import numpy as np
from sklearn.calibration import calibration_curve

from benchmarks.fitting import Method


def ece(y: np.ndarray, p: np.ndarray, bins: int) -> Callable[[], float]:
    return lambda: float(np.dot(*_gaps(y, p, bins)))


def three(y: np.ndarray, p: np.ndarray, bins: int) -> Callable[[], np.ndarray]:
    from sklearn.metrics import accuracy_score, brier_score_loss

    return lambda: np.array([accuracy_score(y, p > 0.5), brier_score_loss(y, p), np.dot(*_gaps(y, p, bins))])


def six(y: np.ndarray, prob: np.ndarray, bins: int) -> Callable[[], np.ndarray]:
    from sklearn.metrics import accuracy_score, brier_score_loss, log_loss

    classes = np.arange(prob.shape[1])

    def call() -> np.ndarray:
        top = prob.argmax(axis=1)
        scores = [accuracy_score(y, top), log_loss(y, prob, labels=classes), brier_score_loss(y, prob, labels=classes)]
        gaps, shares = _gaps(top == y, prob.max(axis=1), bins)
        by_class = [np.dot(*_gaps(y == k, prob[:, k], bins)) for k in classes]
        return np.array([*scores, gaps @ shares, gaps.max(), np.mean(by_class)])

    return call


def log_loss(y: np.ndarray, prob: np.ndarray) -> Callable[[], float]:
    from sklearn.metrics import log_loss as of_table

    classes = np.arange(prob.shape[1])
    return lambda: float(of_table(y, prob, labels=classes))


def _gaps(outcome: np.ndarray, p: np.ndarray, bins: int) -> tuple[np.ndarray, np.ndarray]:
    """The gap of each bin that has rows, and its share of the rows."""
    event_rate, mean_prob = calibration_curve(outcome, p, n_bins=bins)
    count, _ = np.histogram(p, bins=bins, range=(0.0, 1.0))
    return np.abs(event_rate - mean_prob), count[count > 0] / len(p)


def temperature_scaling(y: np.ndarray, prob: np.ndarray) -> Method:
    from sklearn.calibration import _TemperatureScaling

    return Method(lambda: _TemperatureScaling().fit(prob, y), lambda fitted, other: fitted.predict(other))


def platt(y: np.ndarray, p: np.ndarray) -> Method:
    from sklearn.calibration import _SigmoidCalibration

    # It wants decision values. All others of the section take probabilities: the logarithm is timed, in fit and apply.
    return Method(lambda: _SigmoidCalibration().fit(_log_odds(p), y), _apply_to_log_odds)


def isotonic(y: np.ndarray, prob: np.ndarray) -> Method:
    """Of a table a class at a time, as CalibratedClassifierCV does; rows of zeros become uniform there."""
    from sklearn.isotonic import IsotonicRegression

    if prob.ndim == 1:
        return Method(
            lambda: IsotonicRegression(out_of_bounds="clip").fit(prob, y), lambda fitted, other: fitted.predict(other)
        )

    def fit() -> list[IsotonicRegression]:
        return [IsotonicRegression(out_of_bounds="clip").fit(column, y == k) for k, column in enumerate(prob.T)]

    def apply(fitted: list[IsotonicRegression], other: np.ndarray) -> np.ndarray:
        found = np.column_stack([one.predict(column) for one, column in zip(fitted, other.T, strict=True)])
        total = found.sum(axis=1, keepdims=True)
        return np.divide(found, total, out=np.full_like(found, 1.0 / found.shape[1]), where=total != 0.0)

    return Method(fit, apply)


def _log_odds(p: np.ndarray) -> np.ndarray:
    return np.log(p / (1.0 - p))


def _apply_to_log_odds(fitted: object, p: np.ndarray) -> np.ndarray:
    prob: np.ndarray = fitted.predict(_log_odds(p))  # type: ignore[attr-defined]
    return prob
