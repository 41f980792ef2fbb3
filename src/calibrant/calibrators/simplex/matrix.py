"""Matrix scaling: each score is linear in the log-probabilities of all classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from calibrant._core.problem import SimplexProblem
from calibrant._core.registry import declare
from calibrant._core.validation import Input
from calibrant.calibrators.simplex.linear import LogitScaling
from calibrant.calibrators.simplex.multinomial import Logits, identity, penalties, penalty
from calibrant.solvers.multinomial import Full


@declare(
    "calibrator",
    "matrix",
    symbol="MS",
    source="Guo et al. 2017; Kull et al. 2019",
    guarantees={"permutation equivariant", "finite log loss", "contains the identity"},
)
class MatrixScaling(LogitScaling):
    """Make the score of each class linear in the logits of all classes (MS, with ODIR penalties): softmax(W z + b).

    Use it with few classes and hundreds of rows a class: it corrects a class that is predicted in place of another. Do not use
    it as it stands with many classes: its K (K + 1) parameters over-fit, and the penalty has to grow with K.
    `StructuredMatrixScaling` lets it grow so, and is the better default.

    Parameters
    ----------
    off_diagonal : float, default=1e-3
        Penalty on the squares of the weights off the diagonal.
    intercept : float, default=1e-3
        Penalty on the squares of the intercepts.
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
    coef_ : ndarray of shape (n_classes, n_classes)
        W: the row of a class makes its score.
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
    The objective is the mean log loss plus ``off_diagonal`` times the sum of squares of W off its diagonal plus
    ``intercept`` times the sum of squares of b (ODIR: off-diagonal and intercept regularisation). Kull et al. print means
    of squares, that is, penalties divided by K (K - 1) and by K; figures published under "ODIR 1e-3" come from the sums.

    What the penalties leave free has a penalty of 1e-8, on the change from W = I, b = 0 (of W times (2 m)^2 where the largest
    logit m is below 1/2; ``off_diagonal`` is of the weights as they are, and holds more of them back the smaller the logits
    are): with it there is one solution in
    all cases, those included in which a class did not occur, the classes are separated, or there are fewer rows than
    classes. In the first two only this ridge may hold the map: a `ConvergenceWarning` says so where a class did not occur,
    the labels agree with the forecast in all rows, or the map found puts every row right by weights that can grow. A vector
    added to all rows of W changes no probability; it is chosen so that the penalty is least.

    A constant added to all logits of a row changes no probability, and this map changes with it. The log loss of the test rows
    of CIFAR-10 by ResNet-50 is 0.1720 with logits as given, 0.1732 with log-probabilities and 0.1720 against the last class.
    Over 28 classifiers as given and log-softmax are level, 13 to 15; of the eight networks among them six are better as given.
    See `VectorScaling` for what was run.

    With log-probabilities in place of logits this is the map of `DirichletCalibration`; see there.

    References
    ----------
    Guo, Pleiss, Sun, Weinberger, On calibration of modern neural networks, ICML 2017.
    Kull, Perello-Nieto, Kängsepp, Silva Filho, Song, Flach, Beyond temperature scaling: obtaining well-calibrated
    multiclass probabilities with Dirichlet calibration, NeurIPS 2019.

    Examples
    --------
    >>> from calibrant import load_digits_forecast
    >>> from calibrant.calibrators import MatrixScaling
    >>> y, prob = load_digits_forecast()
    >>> MatrixScaling(off_diagonal=0.01).fit(prob, y).coef_.shape
    (10, 10)
    """

    def __init__(
        self,
        *,
        off_diagonal: float = 1e-3,
        intercept: float = 1e-3,
        logits: Logits = "as-given",
        input: Input = "probability",
        labels: Sequence[Any] | None = None,
    ) -> None:
        super().__init__(logits=logits, input=input, labels=labels)
        self.off_diagonal = off_diagonal
        self.intercept = intercept

    def _fit(self, problem: SimplexProblem) -> None:
        n_classes = problem.classes.size
        off_diagonal = penalty("off_diagonal", self.off_diagonal)
        ridge = penalties(
            n_classes, diagonal=0.0, off_diagonal=off_diagonal, intercept=penalty("intercept", self.intercept)
        )
        same = identity(n_classes)
        self._fit_table(Full(), problem, ridge, same, same)
