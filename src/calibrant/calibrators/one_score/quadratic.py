"""Quadratic scaling: a parabola through the log-odds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.parameters import number
from calibrant._core.problem import BinaryProblem
from calibrant._core.registry import declare
from calibrant._core.validation import Input
from calibrant.calibrators.kinds import LogOddsCalibrator
from calibrant.solvers.log_odds import least_log_loss


@declare(
    "calibrator",
    "quadratic",
    symbol="QS",
    source="Berta et al. 2025",
    guarantees={"permutation equivariant", "finite log loss", "contains the identity"},
)
class QuadraticScaling(LogOddsCalibrator):
    """Fit a parabola to the log-odds (quadratic scaling): sigmoid(a + b z + c z^2).

    Use it from some hundreds of rows on, where the probabilities of one class are too extreme and those of the other not
    extreme enough: the square bends what Platt's line leaves straight. Do not use it where the order of scores must stay as it
    is, or where new scores can lie far beyond those that were fitted: a parabola turns, and beyond its turn a higher score gets
    a lower probability.
    `BetaCalibration` bends as well and never turns.

    Parameters
    ----------
    input : {"probability", "logit"}, default="probability"
        What is passed to ``fit`` and ``predict_proba``. Logits are taken as they are; probabilities are clipped so that
        their log-odds lie within 27.6.
    labels : sequence of length 2, optional
        The negative and the positive label.

    Attributes
    ----------
    a_, b_, c_ : float
        Constant, slope and curvature of the log-odds. The parabola turns at -b / (2 c).
    gradient_ : float
        Largest absolute component of the gradient of the mean log loss at the solution, with z and its square less their
        means, divided by the largest: the certificate of optimality. Above 1e-8 there is a `ConvergenceWarning`.
    n_iter_ : int
        Newton steps taken.
    classes_ : ndarray of shape (2,)
        Labels, the positive one last.

    Notes
    -----
    It is the logistic regression on z and z^2 without a penalty; the mean log loss is convex and Newton's method finds its
    minimum. There is none where a parabola separates the classes or where one is absent: then targets are smoothed, as
    `PlattScaling` does, with a `ConvergenceWarning`. With two distinct scores c is 0; where all are equal b is 1 too, and
    the log-odds are shifted.

    A probability of 0 has the log-odds -27.6, and its square is 763: a few such rows can pull the curve. They are what
    separates this from other implementations, whose clips lie elsewhere.

    References
    ----------
    Berta, Holzmueller, Jordan, Bach, Structured matrix scaling for multi-class calibration, arXiv 2511.03685, 2025.

    Examples
    --------
    >>> from calibrant import load_digits_forecast
    >>> from calibrant.calibrators import QuadraticScaling
    >>> y, prob = load_digits_forecast()
    >>> bool(QuadraticScaling().fit(prob[:, 3], y == 3).b_ > 0)
    True
    """

    a_: float
    b_: float
    c_: float
    gradient_: float
    n_iter_: int

    def __init__(self, *, input: Input = "probability", labels: Sequence[Any] | None = None) -> None:
        super().__init__(input=input, labels=labels)

    def _fit(self, problem: BinaryProblem) -> None:
        found = least_log_loss(problem, lambda rows: [rows.log_odds, rows.log_odds**2], "bent")
        self.a_, self.b_, self.c_ = found.intercept, float(found.coef[0]), float(found.coef[1])
        self.gradient_, self.n_iter_ = found.gradient, found.n_iter

    def _check_loaded(self) -> None:
        for name in ("a_", "b_", "c_"):
            number(name, getattr(self, name), hint="Fit anew")

    def _map_log_odds(self, log_odds: FloatArray) -> FloatArray:
        with np.errstate(over="ignore"):  # log-odds of infinity are cut off
            value: FloatArray = self.a_ + (self.b_ + self.c_ * log_odds) * log_odds
        return value
