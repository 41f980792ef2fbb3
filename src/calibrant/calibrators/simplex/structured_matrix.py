"""Structured matrix scaling: temperature first, then a matrix and intercepts, held back by penalties."""

from __future__ import annotations

from calibrant._core.problem import SimplexProblem
from calibrant._core.registry import declare
from calibrant.calibrators.simplex.linear import StructuredScaling
from calibrant.calibrators.simplex.multinomial import fading, identity, penalties
from calibrant.solvers.multinomial import Full


@declare(
    "calibrator",
    "sms",
    symbol="SMS",
    source="Berta et al. 2025",
    guarantees={"permutation equivariant", "finite log loss"},
)
class StructuredMatrixScaling(StructuredScaling):
    """Temperature scaling, then a matrix and intercepts under penalties that fade with data (SMS).

    Use it as the first choice for three classes or more: with few rows it is temperature scaling, with more it becomes
    vector and then matrix scaling of what the temperature left, and it has no parameter that must be tuned. Do not use it
    where the predicted class must stay, or where rows are so few that a temperature is all that they bear.

    Parameters
    ----------
    rho, tau : float, default=1.0
        The penalty on the diagonal and on intercepts is K^rho / n^tau, that off the diagonal (K (K - 1))^rho / n^tau, for K
        classes and n rows; both from 0 to 100.
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
    coef_ : ndarray of shape (n_classes, n_classes)
        I + diag(v) + M: the row of a class makes its score.
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
    softmax((I + diag(v) + M) log q + b), M zero on its diagonal. v, M and b minimise the mean log loss plus
    ``K^rho / n^tau (||v||^2 + ||b||^2)`` plus ``(K (K - 1))^rho / n^tau ||M||^2``, which is strictly convex. n is the number
    of rows. For a class that did not occur only the penalties count. Where no temperature is best, it ends as
    `TemperatureScaling` says, with its warning. The mixture keeps the map from containing the identity exactly: it is
    missed by about 1 / n.

    References
    ----------
    Berta, Holzmüller, Jordan, Bach, Structured matrix scaling for multi-class calibration, arXiv 2511.03685, 2025.

    Examples
    --------
    >>> from calibrant import StructuredMatrixScaling, load_digits_forecast
    >>> y, prob = load_digits_forecast()
    >>> StructuredMatrixScaling().fit(prob, y).coef_.shape
    (10, 10)
    """

    def _fit(self, problem: SimplexProblem) -> None:
        n, n_classes = problem.weights.rows, problem.classes.size
        of_one, of_pairs = (fading(size, n, self.rho, self.tau) for size in (n_classes, n_classes * (n_classes - 1)))
        ridge = penalties(n_classes, diagonal=of_one, off_diagonal=of_pairs, intercept=of_one)
        same = identity(n_classes)
        self._fit_temperature(problem)
        self._fit_table(Full(), problem, ridge, same, same)
