"""Beta calibration: what is right if the scores of each class follow a beta distribution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np
from scipy.optimize import brentq

from calibrant._core.links import FloatArray, score_of_logit
from calibrant._core.parameters import choice, number
from calibrant._core.problem import BinaryProblem
from calibrant._core.registry import declare
from calibrant._core.validation import Input
from calibrant.calibrators.kinds import MOST_LOG_ODDS, LogOddsCalibrator
from calibrant.solvers.log_odds import least_log_loss
from calibrant.solvers.separation import Family

Parameters = Literal["abm", "am", "ab", "a"]


@declare(
    "calibrator",
    "beta",
    symbol="Beta",
    source="Kull et al. 2017",
    guarantees={"permutation equivariant", "order preserving", "finite log loss", "contains the identity"},
)
class BetaCalibration(LogOddsCalibrator):
    """Fit the log-odds  a ln s - b ln(1 - s) + c  with a, b >= 0 (beta calibration).

    Use it first for one score, from some hundreds of rows on: its curves are sigmoids, inverse sigmoids and much between them,
    low and high scores have a parameter each, the order of scores is kept, and a calibrated forecast is left as it is. On some
    tens of rows choose fewer parameters. Do not use it where the curve has steps or several bends: `IsotonicCalibration`
    follows these, given a thousand rows.

    Parameters
    ----------
    parameters : {"abm", "am", "ab", "a"}, default="abm"
        What is fitted. ``"am"``: with a = b, a straight line through the log-odds with a slope that is not negative.
        ``"ab"``: with m = 1/2, a score of 1/2 stays as it is. ``"a"``: with both, which is temperature scaling of two classes.
    input : {"probability", "logit"}, default="probability"
        What is passed to ``fit`` and ``predict_proba``. Of logits ln s and ln(1 - s) are exact; probabilities are clipped so
        that their log-odds lie within 27.6.
    labels : sequence of length 2, optional
        The negative and the positive label.

    Attributes
    ----------
    a_, b_ : float
        How much low and how much high scores are spread, each at least 0. Both are 1, and c is 0, in the identity.
    c_ : float
        Shift of the log-odds.
    gradient_ : float
        Largest absolute component of the gradient of the mean log loss at the solution, with each feature less its mean
        (where c is fitted), divided by its largest absolute value; one that pulls a parameter at 0 below it does not
        count. The certificate of optimality: above 1e-8 there is a `ConvergenceWarning`.
    n_iter_ : int
        Newton steps taken.
    classes_ : ndarray of shape (2,)
        Labels, the positive one last.

    Notes
    -----
    It is the logistic regression on ln s and -ln(1 - s) with coefficients at 0 or above: the exact minimum of a convex
    function under constraints, by Newton's method. The authors' program fits without constraints, and leaves out the first
    feature whose coefficient is negative and fits again, once. This gives the same map where one coefficient was negative
    and the second fit has none; where both were, and where the second fit has one, it can give a falling map.

    Where the scores separate the classes or one class is absent there is no minimum: targets are smoothed then, as
    `PlattScaling` does, with a `ConvergenceWarning`. With two distinct scores a = b; where all are equal both are 1 and the
    log-odds are shifted. Labels that fall as scores rise give a = b = 0, which is a constant.

    References
    ----------
    Kull, Silva Filho, Flach, Beta calibration: a well-founded and easily implemented improvement on logistic calibration for
    binary classifiers, AISTATS 2017.

    Examples
    --------
    >>> from calibrant import BetaCalibration, load_digits_forecast
    >>> y, prob = load_digits_forecast()
    >>> bool(BetaCalibration().fit(prob[:, 3], y == 3).a_ > 0)
    True
    """

    a_: float
    b_: float
    c_: float
    gradient_: float
    n_iter_: int

    def __init__(
        self, *, parameters: Parameters = "abm", input: Input = "probability", labels: Sequence[Any] | None = None
    ) -> None:
        super().__init__(input=input, labels=labels)
        self.parameters = parameters

    @property
    def m_(self) -> float:
        """The score that is mapped to 1/2; NaN if none is."""

        def value(z: float) -> float:
            return float(self._map_log_odds(np.array([z]))[0])

        if not value(-MOST_LOG_ODDS) < 0.0 < value(MOST_LOG_ODDS):
            return float("nan")
        return float(score_of_logit(brentq(value, -MOST_LOG_ODDS, MOST_LOG_ODDS)))

    def _fit(self, problem: BinaryProblem) -> None:
        fitted = choice("parameters", self.parameters, get_args(Parameters))
        family: Family = "rising" if "m" in fitted else "rising through zero"
        # At a score of 1/2 both features are ln 2 from zero: less that, the curve without an intercept is 0 there.
        pivot = 0.0 if "m" in fitted else np.log(2.0)

        def apart(rows: BinaryProblem) -> list[FloatArray]:
            low, high = _features(rows.log_odds)
            return [low + pivot, high - pivot]

        def both(rows: BinaryProblem) -> list[FloatArray]:
            return [rows.log_odds]

        if "b" in fitted:
            found = least_log_loss(problem, apart, family, otherwise=both)
        else:
            found = least_log_loss(problem, both, family)
        self.a_, self.b_ = float(found.coef[0]), float(found.coef[-1])
        self.c_ = found.intercept + (self.a_ - self.b_) * pivot
        self.gradient_, self.n_iter_ = found.gradient, found.n_iter

    def _check_loaded(self) -> None:
        for name in ("a_", "b_"):
            number(name, getattr(self, name), least=0.0, hint="Fit anew")
        number("c_", self.c_, hint="Fit anew")

    def _map_log_odds(self, log_odds: FloatArray) -> FloatArray:
        low, high = _features(log_odds)
        return self.a_ * low + self.b_ * high + self.c_


def _features(log_odds: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return ln s and -ln(1 - s) of the score s with these log-odds."""
    both = np.log1p(np.exp(-np.abs(log_odds)))
    return np.minimum(log_odds, 0.0) - both, np.maximum(log_odds, 0.0) + both
