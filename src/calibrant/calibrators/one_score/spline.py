"""Smoothing spline calibration: a curve on the scale of log-odds, as smooth as cross-validation chooses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from calibrant._core.links import FloatArray
from calibrant._core.parameters import numbers, require
from calibrant._core.problem import BinaryProblem
from calibrant._core.registry import declare
from calibrant._core.validation import MOST_LOGIT, Input
from calibrant._core.warnings import warn
from calibrant.calibrators.base import MOST_COEFFICIENT
from calibrant.calibrators.kinds import LogOddsCalibrator
from calibrant.solvers.logistic import recalibration_of
from calibrant.solvers.smoothing_spline import (
    LAST_GAIN,
    Curves,
    fits_of_all_penalties,
    knots_of,
    natural_spline,
    require_knots,
)

CERTAIN = 1e-8
"""Largest gradient of the mean objective at which a fit is the optimum."""


@declare(
    "calibrator",
    "spline",
    symbol="Spline",
    source="Lucena 2018",
    guarantees={"permutation equivariant", "finite log loss", "contains the identity"},
)
class SplineCalibration(LogOddsCalibrator):
    """Fit a smoothing spline to the log-odds by penalised logistic regression (spline calibration).

    Use it with a few hundred rows or more, when the calibration map is a curve that Platt scaling or beta calibration cannot
    follow, and a smooth map is wanted where isotonic regression would give steps. Do not use it when scores must keep
    their order: nothing makes the curve increase.

    Parameters
    ----------
    n_knots : int, default=15
        Knots, at quantiles of the log-odds; the first and the last are the lowest and the highest of them. With more the
        curve is freer only where the rows ask for it.
    input : {"probability", "logit"}, default="probability"
        What is passed to ``fit`` and ``predict_proba``.
    labels : sequence of length 2, optional
        The negative and the positive label.

    Attributes
    ----------
    knots_ : ndarray of shape (n_knots,)
        Knots, on the scale of log-odds; two for a single score.
    deviation_ : ndarray of shape (n_knots,)
        By how much the calibrated log-odds differ from those of the forecast at each knot. Between knots the difference is
        the natural cubic spline through these values, outside it goes on as a straight line.
    penalty_ : float
        The penalty that was chosen, on the integral of the squared second derivative of the difference; infinite where a
        straight line is best.
    degrees_of_freedom_ : float
        Effective number of parameters, at most 2 for a straight line.
    loss_ : float
        Approximate leave-one-out log loss at that penalty, a row.
    gradient_ : float
        Largest component of the gradient of the mean objective at the solution: the certificate of optimality.
    n_iter_ : int
        Newton steps taken, over all penalties.
    classes_ : ndarray of shape (2,)
        Labels, the positive one last.

    Notes
    -----
    With x the log-odds of the forecast the calibrated log-odds are x + d(x), where the natural cubic spline d minimises

        sum of w log loss  +  (a^2 + b^2 + penalty * integral of d''(x)^2 dx) / 2

    over the rows. The line that is nearest to the values of d at the knots has the slope b, and a is its value at the mean
    of x. Both have a standard normal prior, which is worth about a row and makes the minimum exist and be finite for one
    class alone, one row, or separated classes. Only what differs from the identity is penalised: for a forecast whose
    events occur as often as predicted d is zero whatever the penalty. The problem is convex; Newton's method solves it.

    The penalty is the one of 13, in steps of the square root of ten, and of the straight line, that has the least
    leave-one-out log loss. A row left out moves the others' fit by a Newton step, which its leverage gives in closed form;
    so no folds are drawn. Whole weights count as rows; others are scaled to a mean of one. Lucena's method penalises the
    sizes of the coefficients of another basis instead, places knots at random rows, draws folds, and adds 20 rows' weight
    that lies on the identity.

    References
    ----------
    Lucena, Spline-based probability calibration, arXiv 1809.07751, 2018.
    Green, Silverman, Nonparametric regression and generalized linear models, Chapman and Hall 1994.

    Examples
    --------
    >>> from calibrant import SplineCalibration, load_digits_forecast
    >>> y, prob = load_digits_forecast()
    >>> SplineCalibration().fit(prob[:, 8], y == 8).knots_.size
    15
    """

    knots_: FloatArray
    deviation_: FloatArray
    penalty_: float
    degrees_of_freedom_: float
    loss_: float
    gradient_: float
    n_iter_: int

    def __init__(self, *, n_knots: int = 15, input: Input = "probability", labels: Sequence[Any] | None = None) -> None:
        super().__init__(input=input, labels=labels)
        self.n_knots = n_knots

    def _fit(self, problem: BinaryProblem) -> None:
        require_knots(self.n_knots)
        unit = problem.weights.rows_per_weight
        found = recalibration_of(problem)
        rows = replace(found, total=unit * found.total, events=unit * found.events)
        curves = Curves(rows, knots_of(rows, self.n_knots))
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # such fits are not taken, or warned of
            fits = list(fits_of_all_penalties(curves))
            losses = np.array([fit.point.left_out_loss() for fit in fits])
            # Losses that agree to rounding are equal; of these the smoothest curve is taken.
            chosen = int(np.argmax(losses <= losses.min() + 1e-10))
            last = fits[chosen].point.improved(LAST_GAIN)
        best = last.point
        self.knots_, self.deviation_ = curves.knots, curves.at_knots[:, : best.x.size] @ best.x
        self.penalty_, self.loss_ = best.penalty * curves.half**3, float(losses[chosen])
        self.degrees_of_freedom_, self.gradient_ = best.degrees_of_freedom, last.residual
        self.n_iter_ = sum(fit.n_iter for fit in fits) + last.n_iter
        if not self.gradient_ <= CERTAIN:
            steps = fits[chosen].n_iter + last.n_iter
            warn(
                f"the spline must have a gradient below {CERTAIN:g}; got {self.gradient_:.2g} after {steps} steps on "
                f"{problem.size} rows. It is used as it is: check for extreme logits or weights.",
                ConvergenceWarning,
            )

    def _check_loaded(self) -> None:
        numbers("knots_", self.knots_, shape=(None,), least=-MOST_LOGIT, most=MOST_LOGIT, order="rising")
        require(self.knots_.size >= 2, "knots_ must be at least 2", value=self.knots_.size, hint="Fit anew")
        numbers("deviation_", self.deviation_, shape=self.knots_.shape, least=-MOST_COEFFICIENT, most=MOST_COEFFICIENT)

    def _map_log_odds(self, log_odds: FloatArray) -> FloatArray:
        return log_odds + natural_spline(self.knots_, self.deviation_, log_odds)
