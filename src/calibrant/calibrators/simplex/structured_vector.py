"""Structured vector scaling: temperature first, then a weight and an intercept a class, held back by a penalty."""

from __future__ import annotations

import numpy as np

from calibrant._core.problem import SimplexProblem
from calibrant._core.registry import declare
from calibrant.calibrators.simplex.linear import StructuredScaling
from calibrant.calibrators.simplex.multinomial import fading
from calibrant.solvers.multinomial import Diagonal


@declare(
    "calibrator",
    "svs",
    symbol="SVS",
    source="Berta et al. 2025",
    guarantees={"permutation equivariant", "finite log loss"},
)
class StructuredVectorScaling(StructuredScaling):
    """Temperature scaling, then a weight and an intercept a class under a penalty that fades with data (SVS).

    Use it with any number of rows: with few it is temperature scaling, with many vector scaling of what the temperature
    left. It has no parameter that must be tuned. It cannot correct what depends on which other classes were likely;
    `StructuredMatrixScaling` can.

    Parameters
    ----------
    rho, tau : float, default=1.0
        The penalty is K^rho / n^tau for K classes and n rows; both from 0 to 100.
    input : {"probability", "logit"}, default="probability"
        What is passed to ``fit`` and ``predict_proba``. Logits are turned into log-probabilities first, exactly;
        probabilities are clipped at 1e-12.
    labels : sequence of length n_classes, optional
        The class of each column; by default 0, 1, ... or the sorted labels.

    Attributes
    ----------
    temperature_ : float
        The temperature of the first step.
    uniform_ : float
        Weight of the uniform forecast mixed in after it, 1 / (n + 1).
    coef_ : ndarray of shape (n_classes,)
        Weight of each class, 1 + v.
    intercept_ : ndarray of shape (n_classes,)
        Intercept of each class; they sum to zero.
    gradient_ : float
        Largest component of the gradient of the objective at the solution, the certificate: at most 1e-8 times the mean
        over rows of the largest -log q (or 1 if that is less), else there is a `ConvergenceWarning`.
    n_iter_ : int
        Newton steps taken after the temperature was found.
    classes_ : ndarray of shape (n_classes,)
        Labels in the order of the columns.

    Notes
    -----
    With q the forecast of `TemperatureScaling`, mixed with a little of the uniform one so that no zero stays, the map is
    softmax((1 + v) log q + b); v and b minimise the mean log loss plus ``K^rho / n^tau (||v||^2 + ||b||^2)``, which is strictly
    convex. n is the number of rows. For a class that did not occur only the penalty counts. Where no temperature is best, it
    ends as `TemperatureScaling` says, with its warning. The mixture keeps the map from containing the identity exactly: it
    is missed by about 1 / n.

    References
    ----------
    Berta, Holzmüller, Jordan, Bach, Structured matrix scaling for multi-class calibration, arXiv 2511.03685, 2025.

    Examples
    --------
    >>> from calibrant import load_digits_forecast
    >>> from calibrant.calibrators import StructuredVectorScaling
    >>> y, prob = load_digits_forecast()
    >>> StructuredVectorScaling().fit(prob, y).temperature_ > 1
    True
    """

    def _fit(self, problem: SimplexProblem) -> None:
        n, n_classes = problem.weights.rows, problem.classes.size
        ridge = fading(n_classes, n, self.rho, self.tau)
        same = np.stack([np.ones(n_classes), np.zeros(n_classes)])
        self._fit_temperature(problem)
        self._fit_table(Diagonal(intercept=True), problem, np.full_like(same, ridge), same, same)
