"""Dirichlet calibration: each score is linear in the log-probabilities of all classes, drawn to zero."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from calibrant._core.problem import SimplexProblem
from calibrant._core.registry import declare
from calibrant._core.validation import Input
from calibrant.calibrators.simplex.linear import LinearScaling
from calibrant.calibrators.simplex.multinomial import identity, penalties, penalty
from calibrant.solvers.multinomial import Full


@declare(
    "calibrator",
    "dirichlet",
    symbol="DIR",
    source="Kull et al. 2019",
    guarantees={"permutation equivariant", "finite log loss", "contains the identity"},
)
class DirichletCalibration(LinearScaling):
    """Calibrate as if predictions had one Dirichlet distribution a class (DIR, ODIR or L2): softmax(W log p + b).

    Use it with few classes and hundreds of rows a class. Do not use it with many classes, or with few rows: its K (K + 1)
    parameters over-fit, and the penalty has to grow with K. `StructuredMatrixScaling` lets it grow so.

    Parameters
    ----------
    diagonal : float, default=0
        Penalty on the squares of the weights on the diagonal of W. 0 is the ODIR (off-diagonal and intercept regularisation)
        of Kull et al., which leaves the map that changes nothing without penalty. A number as large as the other two is their
        L2 penalty, which draws the map to the uniform prediction.
    off_diagonal, intercept : float, default=1e-3
        Penalties on the squares of the weights off the diagonal, and of the intercepts.
    input : {"probability", "logit"}, default="probability"
        What is passed to ``fit`` and ``predict_proba``. Logits are turned into log-probabilities first, exactly;
        probabilities are clipped at 1e-12.
    labels : sequence of length n_classes, optional
        The class of each column; by default 0, 1, ... or the sorted labels.

    Attributes
    ----------
    coef_ : ndarray of shape (n_classes, n_classes)
        W: the row of a class makes its score.
    intercept_ : ndarray of shape (n_classes,)
        Intercept of each class; they sum to zero.
    gradient_ : float
        Largest component of the gradient of the objective at the solution, the certificate: at most 1e-8 times the mean
        over rows of the largest -log p (or 1 if that is less), else there is a `ConvergenceWarning`.
    n_iter_ : int
        Newton steps taken.
    classes_ : ndarray of shape (n_classes,)
        Labels in the order of the columns.

    Notes
    -----
    If the predictions of class j follow a Dirichlet distribution with parameters alpha_j, the probability of j given
    the prediction p is softmax(W log p + b) with row j of W equal to alpha_j up to a vector common to all rows. Any W can be
    written so: as a map this is matrix scaling of log-probabilities. Of probabilities, and with
    ``MatrixScaling(logits="log-softmax")`` of logits, `MatrixScaling` with the same penalties is the default of this class,
    number for number. They differ where matrix scaling takes logits as they were given: these hold a number a row more than
    the prediction, and here the prediction alone counts.

    The objective is the mean log loss plus the sums of penalty times square. A parameter without penalty has one of 1e-8, on
    its change from W = I, b = 0: then there is one solution in all cases, absent or separated classes and fewer rows than
    classes included; where only that ridge holds the map there is a `ConvergenceWarning`, as of `MatrixScaling`.

    The default contains the identity: on a calibrated prediction the fit tends to the map that changes nothing as rows are
    added. With ``diagonal`` above 0 it does not. On the 39 forecasts of docs/comparison.md ``diagonal=1e-3`` has the lower log
    loss on test rows in 24, and on average the higher one by 0.027 (standard error 0.028): AdaBoost, whose probabilities lie
    close together, loses up to 1.04 (``python -m studies.arena.defaults diagonal``). With few rows it is held back more: of the
    356 experiments of docs/do-no-harm.md, 100 to 2000 rows, it made 38 % worse and the default 41 %.

    References
    ----------
    Kull, Perello-Nieto, Kängsepp, Silva Filho, Song, Flach, Beyond temperature scaling: obtaining well-calibrated
    multiclass probabilities with Dirichlet calibration, NeurIPS 2019.

    Examples
    --------
    >>> from calibrant import DirichletCalibration, load_digits_forecast
    >>> y, prob = load_digits_forecast()
    >>> DirichletCalibration().fit(prob, y).intercept_.shape
    (10,)
    """

    def __init__(
        self,
        *,
        diagonal: float = 0.0,
        off_diagonal: float = 1e-3,
        intercept: float = 1e-3,
        input: Input = "probability",
        labels: Sequence[Any] | None = None,
    ) -> None:
        super().__init__(input=input, labels=labels)
        self.diagonal = diagonal
        self.off_diagonal = off_diagonal
        self.intercept = intercept

    def _fit(self, problem: SimplexProblem) -> None:
        n_classes = problem.classes.size
        ridge = penalties(
            n_classes,
            diagonal=penalty("diagonal", self.diagonal),
            off_diagonal=penalty("off_diagonal", self.off_diagonal),
            intercept=penalty("intercept", self.intercept),
        )
        same = identity(n_classes)
        # Weights without a penalty of their own are drawn to where they change nothing.
        centre = np.where(ridge > 0.0, 0.0, same)
        self._fit_table(Full(), problem, ridge, centre, same)
