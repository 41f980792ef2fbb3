"""Platt scaling: a straight line through the log-odds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from calibrant._core.links import FloatArray
from calibrant._core.parameters import flag, number
from calibrant._core.problem import BinaryProblem
from calibrant._core.registry import declare
from calibrant._core.validation import Input
from calibrant.calibrators.kinds import LogOddsCalibrator
from calibrant.solvers.log_odds import least_log_loss


@declare(
    "calibrator",
    "platt",
    symbol="PS",
    source="Platt 1999",
    also=("sigmoid", "logistic"),
    guarantees={"permutation equivariant", "finite log loss"},
)
class PlattScaling(LogOddsCalibrator):
    """Fit a straight line to the log-odds (Platt scaling, logistic calibration): sigmoid(slope * z + intercept).

    Use it on few rows, from some tens on, and where scores are margins: two parameters, for the boldness of the forecast and
    for its base rate. Do not use it where low and high scores are wrong in different ways, which a straight line cannot
    correct: `BetaCalibration` has one parameter more.

    Parameters
    ----------
    smooth_targets : bool, default=True
        Fit to (N+ + 1) / (N+ + 2) and 1 / (N- + 2) in place of 1 and 0, where N+ and N- are the numbers of rows of the two
        classes, as Platt does: a minimum always exists, and few rows do not make a bold map. False: the plain logistic
        regression, which is a recalibration that leaves a calibrated forecast as it is.
    input : {"probability", "logit"}, default="probability"
        What is passed to ``fit`` and ``predict_proba``. The line goes through log-odds in either case: logits are taken as
        they are, probabilities are clipped so that their log-odds lie within 27.6.
    labels : sequence of length 2, optional
        The negative and the positive label.

    Attributes
    ----------
    slope_, intercept_ : float
        The line. A negative slope turns the order of the scores upside down, where the labels do.
    gradient_ : float
        Largest absolute component of the gradient of the mean log loss at the solution, with log-odds less their mean,
        divided by the largest: the certificate of optimality. Above 1e-8 there is a `ConvergenceWarning`.
    n_iter_ : int
        Newton steps taken.
    classes_ : ndarray of shape (2,)
        Labels, the positive one last.

    Notes
    -----
    The mean log loss is convex and its minimum is found by Newton's method. With smooth targets it exists whenever scores
    differ. Without them it does not where the scores separate the classes or one class is absent: smooth targets are used
    then, with a `ConvergenceWarning`. Where all scores are equal the slope is 1 and the log-odds are shifted.

    Fitted to probabilities in place of log-odds, as is often seen, a line is another method, which cannot leave a calibrated
    forecast as it is and does worse.

    References
    ----------
    Platt, Probabilistic outputs for support vector machines and comparisons to regularized likelihood methods, 1999.

    Examples
    --------
    >>> from calibrant import PlattScaling, load_digits_forecast
    >>> y, prob = load_digits_forecast()
    >>> PlattScaling().fit(prob[:, 3], y == 3).slope_ < 1
    True
    """

    slope_: float
    intercept_: float
    gradient_: float
    n_iter_: int

    def __init__(
        self, *, smooth_targets: bool = True, input: Input = "probability", labels: Sequence[Any] | None = None
    ) -> None:
        super().__init__(input=input, labels=labels)
        self.smooth_targets = smooth_targets

    def _fit(self, problem: BinaryProblem) -> None:
        smooth = flag("smooth_targets", self.smooth_targets)
        found = least_log_loss(problem, lambda rows: [rows.log_odds], "straight", smooth=smooth)
        self.intercept_, self.slope_ = found.intercept, float(found.coef[0])
        self.gradient_, self.n_iter_ = found.gradient, found.n_iter

    def _check_loaded(self) -> None:
        for name in ("slope_", "intercept_"):
            number(name, getattr(self, name), hint="Fit anew")

    def _map_log_odds(self, log_odds: FloatArray) -> FloatArray:
        return self.intercept_ + self.slope_ * log_odds
