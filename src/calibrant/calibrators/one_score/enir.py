"""ENIR: all nearly-isotonic fits of a problem, averaged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.parameters import numbers, shares
from calibrant._core.problem import BinaryProblem
from calibrant._core.registry import declare
from calibrant._core.validation import Input
from calibrant.calibrators.kinds import BinaryCalibrator
from calibrant.calibrators.one_score.isotonic import Finite, check_steps, on_steps, require_finite
from calibrant.calibrators.one_score.near_isotonic_path import NearIsotonicPath

LEFT_OUT = 1e-13
"""Weight that fits may have that are not averaged, all of them together."""


@declare("calibrator", "enir", symbol="ENIR", source="Naeini and Cooper 2016", guarantees={"finite log loss"})
class EnsembleNearIsotonic(BinaryCalibrator):
    """Average the nearly-isotonic fits of all penalties, weighted by how well they explain the labels (ENIR).

    Use it in place of isotonic regression when the score may not rise with the event rate everywhere, with a thousand rows
    or more. Do not use it where the order of the scores must be kept, or with a few dozen rows, where a fit that repeats
    the labels has weight.

    Parameters
    ----------
    finite : {"smooth", "clip"}, float or None, default="smooth"
        What keeps values off 0 and 1, so that the log loss of any row is finite. ``"smooth"``: in each fit that is averaged, a
        block of value v with m rows takes (m v + 1) / (m + 2). ``"clip"``: values are clipped to 1 / (n + 2) from both ends,
        for n rows in all. A number from 1e-12 to below 0.5 clips to that. None: the average itself, as in the paper; its ends
        can be exactly 0 and 1, and the log loss of a new row infinite. `IsotonicCalibration` says what the default was chosen
        by.
    input : {"probability", "logit"}, default="probability"
        What is passed to ``fit`` and ``predict_proba``.
    labels : sequence of length 2, optional
        The negative and the positive label.

    Attributes
    ----------
    left_ : ndarray of shape (n_steps,)
        Lowest score of each step of the average, increasing. A score takes the value of the last step that begins at or
        below it, and below all of them that of the first.
    value_ : ndarray of shape (n_steps,)
        Calibrated probability of each step.
    penalty_, weight_ : ndarray of shape (n_fits,)
        Penalties of the fits that are averaged, increasing, and their weights, which sum to one.
    left_out_ : float
        What the weights of all other fits sum to at most.
    classes_ : ndarray of shape (2,)
        Labels, the positive one last.

    Notes
    -----
    The fits are those of `NearIsotonicCalibration` at penalty 0 and at each penalty where blocks join, down to isotonic
    regression. Each has the weight  exp(-BIC / 2),  BIC = -2 log likelihood + blocks * log(rows),  divided by the sum.

    The likelihood is one of all blocks, at each of up to n fits. But no values explain the labels better than the event rates
    of the blocks, and their likelihood changes with two blocks at each join: this bounds the weight of every fit, and fits
    are taken in the order of their bounds until no more than 1e-13 of the weight can be left. That takes some ten to a few
    hundred fits, whatever the number of rows, after O(n log n) for the path.

    This departs from the paper, and from packages that follow it, in these points. Equal scores are one point. Joins at one
    penalty give one fit, and are not counted several times. Penalty 0 takes part: with few distinct scores it is the
    histogram over them. Nothing is clipped in the likelihood, as no fit gives an observed label probability zero. No fit is
    dropped for being little better than the next.

    Whole weights count as rows; others are scaled to a mean of one.

    References
    ----------
    Naeini, Cooper, Binary classifier calibration using an ensemble of near isotonic regression models, ICDM 2016.

    Examples
    --------
    >>> from calibrant import load_digits_forecast
    >>> from calibrant.calibrators import EnsembleNearIsotonic
    >>> y, prob = load_digits_forecast()
    >>> fitted = EnsembleNearIsotonic().fit(prob[:, 3], y == 3)
    >>> bool(fitted.left_out_ < 1e-12)
    True
    """

    left_: FloatArray
    value_: FloatArray
    penalty_: FloatArray
    weight_: FloatArray
    left_out_: float

    def __init__(
        self, *, finite: Finite = "smooth", input: Input = "probability", labels: Sequence[Any] | None = None
    ) -> None:
        super().__init__(input=input, labels=labels)
        self.finite = finite

    def _fit(self, problem: BinaryProblem) -> None:
        require_finite(self.finite)
        path = NearIsotonicPath.of(problem)
        self.penalty_, self.weight_, self.left_out_ = _weights(path)
        self.left_, self.value_ = _average(path, self.penalty_, self.weight_, self.finite)

    def _check_loaded(self) -> None:
        check_steps("left_", self.left_, "value_", self.value_, falls=True)
        n_fits = shares("weight_", self.weight_).size
        numbers("penalty_", self.penalty_, shape=(n_fits,), least=0.0)

    def _apply(self, score: FloatArray) -> FloatArray:
        return on_steps(self.left_, self.value_, score)


def _weights(path: NearIsotonicPath) -> tuple[FloatArray, FloatArray, float]:
    """Return the penalties and weights of the fits that matter, and a bound on the weight of all others."""
    n_fits = path.knots.size
    penalty, bic = np.array(sorted(path.scored(2.0 * np.log(n_fits / LEFT_OUT)))).T
    least = bic.min()
    weight = np.exp(0.5 * (least - bic))
    others = np.exp(0.5 * np.minimum(least - path.best_bic[~np.isin(path.knots, penalty)], 0.0))
    return penalty, weight / weight.sum(), float(others.sum() / weight.sum())


def _average(
    path: NearIsotonicPath, penalty: FloatArray, weight: FloatArray, finite: Finite
) -> tuple[FloatArray, FloatArray]:
    """Average fits over the steps of the one with the lowest penalty, which all others join."""
    finest = path.fit(penalty[0]).starts
    total = np.zeros(finest.size)
    for at, share in zip(penalty, weight, strict=True):
        fit = path.fit(at)
        total += share * on_steps(fit.starts, path.off_the_ends(fit, finite), finest)
    return path.score[finest], np.clip(total, 0.0, 1.0)
