"""Vector scaling: one weight and one intercept a class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from calibrant._core.parameters import flag
from calibrant._core.problem import SimplexProblem
from calibrant._core.registry import declare
from calibrant._core.validation import Input
from calibrant.calibrators.simplex.linear import LogitScaling
from calibrant.calibrators.simplex.multinomial import Logits
from calibrant.solvers.multinomial import Diagonal


@declare(
    "calibrator",
    "vector",
    symbol="VS",
    source="Guo et al. 2017",
    guarantees={"permutation equivariant", "finite log loss", "contains the identity"},
)
class VectorScaling(LogitScaling):
    """Give the logit of each class a weight and an intercept (VS): softmax(w * z + b).

    Use it when some classes are predicted too often or too boldly and others are not, with some tens of rows a class. Do not
    use it with few rows a class: `StructuredVectorScaling` is the same map of log-probabilities, held back where data are
    scarce. It cannot correct what depends on which other classes were likely; `MatrixScaling` can.

    Parameters
    ----------
    bias : bool, default=True
        Whether there are intercepts.
    logits : {"as-given", "log-softmax", "reference"}, default="as-given"
        Which logits z enter the map, of all that stand for the same probabilities. ``"as-given"``: the logits of
        ``input="logit"`` without any change, as Guo et al. have it. ``"log-softmax"``: log-probabilities, which the
        probabilities determine. ``"reference"``: logits less that of the last class, as in multinomial logistic regression;
        then another order of the classes gives another map. Of probabilities the first two are the same.
    input : {"probability", "logit"}, default="probability"
        What is passed to ``fit`` and ``predict_proba``. Probabilities are clipped at 1e-12 for their logarithms.
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
        over rows of the largest size of a logit z (or 1 if less), else there is a `ConvergenceWarning`.
    n_iter_ : int
        Newton steps taken.
    classes_ : ndarray of shape (n_classes,)
        Labels in the order of the columns.

    Notes
    -----
    The mean log loss is convex in w and b. ``1e-8 (||w - 1||^2 + ||b||^2)`` is added, the part of w times (2 m)^2 where
    the largest logit m is below 1/2, so that logits of any size are fitted alike: with it there is one solution in all
    cases, and without it there is none where a class did not occur or the classes are separated. A class that did not occur
    gets a probability of about 1e-7, and a `ConvergenceWarning` says that only the ridge holds the map. So it does where
    the labels agree with the forecast in all rows, or the map found puts every row right by weights that can grow. Fit on
    more rows, or use `StructuredVectorScaling`.

    A constant added to all logits of a row changes no probability, but with weights that differ it changes this map: a
    network's logits hold a number a row more than its probabilities. On the ten classes of CIFAR-10 by ResNet-50 that number
    helps: the log loss of the test rows is 0.1692 as given, 0.1704 of log-probabilities, 0.1716 against the last class. Over 28
    classifiers (seven kinds on four tables, three splits each) as given and log-softmax are level: 14 to 14, a difference of
    -0.007 with a standard error of 0.009. As given is better for all eight networks among them, and worse for gradient
    boosting. ``python -m studies.arena.defaults`` gives these figures.

    Of one column of logits, the log-odds of an event, the other class has the logit 0: as given the map is `PlattScaling` but
    for the ridge, and with log-softmax `BetaCalibration` whose weights may be negative.

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

    def __init__(
        self,
        *,
        bias: bool = True,
        logits: Logits = "as-given",
        input: Input = "probability",
        labels: Sequence[Any] | None = None,
    ) -> None:
        super().__init__(logits=logits, input=input, labels=labels)
        self.bias = bias

    def _fit(self, problem: SimplexProblem) -> None:
        bias, n_classes = flag("bias", self.bias), problem.classes.size
        same = np.stack([np.ones(n_classes), np.zeros(n_classes)])[: 1 + bias]
        design = Diagonal(intercept=bias)
        self._fit_table(design, problem, np.zeros_like(same), same, same)
