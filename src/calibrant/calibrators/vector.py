"""Vector scaling: one weight and one intercept a class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from calibrant._parameters import flag
from calibrant._problem import SimplexProblem
from calibrant._registry import declare
from calibrant._validation import Input
from calibrant.calibrators.fits.linear import LinearScaling
from calibrant.calibrators.fits.multinomial import Diagonal


@declare(
    "calibrator",
    "vector",
    symbol="VS",
    source="Guo et al. 2017",
    guarantees={"permutation equivariant", "finite log loss", "contains the identity"},
)
class VectorScaling(LinearScaling):
    """Give each class a weight and an intercept (VS): softmax(w * log p + b).

    Use it when some classes are foretold too often or too boldly and others are not, with some tens of rows a class. Do not
    use it with few rows a class: `StructuredVectorScaling` is the same map, held back where data are scarce. It cannot
    repair what depends on which other classes were likely; `MatrixScaling` can.

    Parameters
    ----------
    bias : bool, default=True
        Whether there are intercepts.
    input : {"probability", "logit"}, default="probability"
        What is passed to ``fit`` and ``predict_proba``. Logits are turned into log-probabilities first, exactly;
        probabilities are clipped at 1e-12.
    labels : sequence of length n_classes, optional
        The class of each column; by default 0, 1, ... or the sorted labels.

    Attributes
    ----------
    coef_ : ndarray of shape (n_classes,)
        Weight of each class.
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
    The mean log loss is convex in w and b. To it comes ``1e-8 (||w - 1||^2 + ||b||^2)``: with it there is one solution in all
    cases, and without it there is none where a class did not come or the classes are separated. A class that did not come
    gets a probability of about 1e-7, and a `ConvergenceWarning` says that only the ridge holds the map. So it does where
    the labels agree with the forecast in all rows, or the map found puts every row right by weights that can grow. Fit on
    more rows, or use `StructuredVectorScaling`.

    Guo et al. take logits as they come. A constant added to all logits of a row changes no probability, but with weights that
    differ it changes this map: log-probabilities are the logits that the forecast itself determines.

    References
    ----------
    Guo, Pleiss, Sun, Weinberger, On calibration of modern neural networks, ICML 2017.

    Examples
    --------
    >>> from calibrant import VectorScaling, load_digits_forecast
    >>> y, prob = load_digits_forecast()
    >>> VectorScaling().fit(prob, y).coef_.shape
    (10,)
    """

    def __init__(self, *, bias: bool = True, input: Input = "probability", labels: Sequence[Any] | None = None) -> None:
        super().__init__(input=input, labels=labels)
        self.bias = bias

    def _fit(self, problem: SimplexProblem) -> None:
        bias, n_classes = flag("bias", self.bias), problem.forecast.shape[1]
        same = np.stack([np.ones(n_classes), np.zeros(n_classes)])[: 1 + bias]
        design = Diagonal(intercept=bias)
        self._fit_table(design, self._entering(problem.forecast), problem, np.zeros_like(same), same, same)
