"""Multi-class isotonic regression: one non-decreasing map for the scores of all classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from calibrant._core.links import FloatArray, sum_of_rows
from calibrant._core.parameters import number
from calibrant._core.problem import BinaryProblem, BoolArray, Forecast, SimplexProblem
from calibrant._core.registry import declare
from calibrant._core.validation import Input
from calibrant._core.weights import Weights
from calibrant.binning.distinct_scores import Ordered
from calibrant.calibrators.kinds import MulticlassCalibrator
from calibrant.calibrators.one_score.isotonic import check_steps, on_steps
from calibrant.solvers.isotonic import isotonic_fit


@declare(
    "calibrator",
    "irm",
    symbol="IRM",
    source="Zhang et al. 2020",
    guarantees={"argmax preserving", "ROC-hull preserving", "permutation equivariant", "finite log loss"},
)
class MulticlassIsotonic(MulticlassCalibrator):
    """Map the scores of all classes by one isotonic regression and divide rows by their sums (IRM).

    Use it when there are many classes with few rows each, and temperature scaling leaves a pattern along the score: all n
    times K scores are fitted at once, and the predicted class never changes. Do not use it when classes differ in how
    they are miscalibrated: a map for each class, such as `IsotonicTemperatureScaling`, or vector scaling can see that.

    Parameters
    ----------
    epsilon : float, default=1e-3
        This times the score is added to the isotonic map, which makes it strictly increasing: no class is tied with
        another that had less, and none that had a probability loses it. With 0, rows are those of flattened isotonic
        regression, and the predicted class can be tied.
    input : {"probability", "logit"}, default="probability"
        What is passed to ``fit`` and ``predict_proba``.
    labels : sequence of length n_classes, optional
        The class of each column; by default 0, 1, ... or the sorted labels.

    Attributes
    ----------
    left_ : ndarray of shape (n_blocks,)
        Lowest score of each block. Scores between blocks take the value of the one below, scores below all the first.
    value_ : ndarray of shape (n_blocks,)
        Event rate of each block, increasing.
    classes_ : ndarray of shape (n_classes,)
        Labels in the order of the columns.

    Notes
    -----
    Every row gives K points: the score of each class, and whether it is the true class. The map is the isotonic regression of
    the second on the first, a step function; equal scores are one point. Then q_k = g(p_k) + epsilon p_k, divided by
    the sum of the row. The authors' code interpolates between the steps, has epsilon = 1e-9 and does not divide. The
    division is needed for probabilities; the larger epsilon costs nothing on the rows fitted and bounds what a zero of the
    map costs on new ones. A row on which the map is zero keeps its forecast.

    One class alone: the map still separates the scores of that class from the others.

    References
    ----------
    Zhang, Kailkhura, Han, Mix-n-Match: ensemble and compositional methods for uncertainty calibration in deep learning,
    ICML 2020.

    Examples
    --------
    >>> from calibrant import load_digits_forecast
    >>> from calibrant.calibrators import MulticlassIsotonic
    >>> y, prob = load_digits_forecast()
    >>> calibrated = MulticlassIsotonic().fit(prob, y).predict_proba(prob)
    >>> bool((calibrated.argmax(axis=1) == prob.argmax(axis=1)).all())
    True
    """

    left_: FloatArray
    value_: FloatArray

    def __init__(
        self, *, epsilon: float = 1e-3, input: Input = "probability", labels: Sequence[Any] | None = None
    ) -> None:
        super().__init__(input=input, labels=labels)
        self.epsilon = epsilon

    def _fit(self, problem: SimplexProblem) -> None:
        number("epsilon", self.epsilon, least=0.0, most=1.0, hint="Pass a small one, such as 1e-3")
        n_classes = problem.prob.shape[1]
        occurred = problem.label[:, None] == np.arange(n_classes)
        weight = np.broadcast_to(problem.weight[:, None], occurred.shape)
        self.left_, self.value_ = steps_of(problem.prob, occurred, weight)

    def _check_loaded(self) -> None:
        number("epsilon", self.epsilon, least=0.0, most=1.0, hint="Fit anew")
        check_steps("left_", self.left_, "value_", self.value_)

    def _apply(self, forecast: Forecast) -> FloatArray:
        prob = forecast.prob
        return divided(on_steps(self.left_, self.value_, prob) + self.epsilon * prob, prob)


def steps_of(score: FloatArray, outcome: BoolArray, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Fit an isotonic step function to arrays of one shape: the lowest score and the event rate of each block.

    Points without event are always pooled with the last event below. So events alone are sorted, which are few among
    all scores of many classes, and what lies between two of them is counted.
    """
    event, at = np.unique(score[outcome], return_inverse=True)
    left = np.append(score.min(), event)
    above = np.searchsorted(event, score[~outcome], side="right")
    mass: FloatArray = np.append(
        np.bincount(at, weight[outcome], event.size), np.bincount(above, weight[~outcome], left.size)
    )
    some = mass > 0
    is_event = np.arange(mass.size) < event.size
    ordered = Ordered.of(BinaryProblem(np.append(event, left)[some], is_event[some], Weights(mass[some])))
    steps = isotonic_fit(ordered)
    return ordered.score[steps.starts], steps.rate


def divided(raised: FloatArray, prob: FloatArray) -> FloatArray:
    """Divide rows by their sums; a row of zeros keeps its forecast."""
    rows = np.where(raised.sum(axis=1, keepdims=True) > 0, raised, prob)
    result: FloatArray = rows / sum_of_rows(rows)
    return result
