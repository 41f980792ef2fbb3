"""Problems: what a metric, a test, a calibrator or a curve works on. Valid by construction, made at the boundary."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from calibrant._core import links
from calibrant._core.links import FloatArray

IntArray = npt.NDArray[np.intp]
BoolArray = npt.NDArray[np.bool_]


def unit_weight(n: int) -> FloatArray:
    """Weight one for each of ``n`` rows, in the memory of a single number."""
    return np.broadcast_to(np.float64(1.0), (n,))


def is_unit_weight(weight: FloatArray) -> bool:
    """Whether `unit_weight` made it; rows selected from it may look like any other array."""
    return weight.strides == (0,)


def are_counts(weight: FloatArray) -> bool:
    """Whether all weights are whole: then each is a number of equal rows."""
    return is_unit_weight(weight) or np.array_equal(weight, np.floor(weight))


def variance_weight(weight: FloatArray) -> FloatArray:
    """Weight of the variance of each row's outcome in the variance of the weighted sum.

    A count is so many independent rows; any other weight says how much one row counts.
    """
    return weight if are_counts(weight) else weight**2


def rows_per_weight(weight: FloatArray) -> float:
    """Rows that a weight of one stands for: one where all weights are whole, else such that rows are rows on average."""
    return 1.0 if are_counts(weight) else weight.size / float(weight.sum())


def independent_rows_per_weight(weight: FloatArray) -> float:
    """Rows that a weight of one is worth: one of whole weights, else such that rows number (sum w)^2 / (sum w^2) (Kish)."""
    return 1.0 if are_counts(weight) else float(weight.sum() / (weight**2).sum())


def independent_rows(weight: FloatArray) -> float:
    """Number of independent rows that are as much evidence as the weighted ones."""
    return float(weight.sum()) * independent_rows_per_weight(weight)


class Unit(NamedTuple):
    """What weights are: whether numbers of rows, and how many rows a weight of one stands for."""

    is_count: bool
    rows: float

    @classmethod
    def of(cls, weight: FloatArray) -> Unit:
        """Decide it for the weights of a whole problem; its parts follow, whatever their own weights are."""
        return cls(are_counts(weight), rows_per_weight(weight))


@dataclass(frozen=True, eq=False)
class Predicted:
    """Predicted classes: the number of that of each row, shape (n,), and what the numbers stand for."""

    code: IntArray
    classes: npt.NDArray[np.generic]


@dataclass(frozen=True, eq=False, repr=False)
class BinaryProblem:
    """Scores of one event, whether it occurred, and the weights of the rows: what a notion makes of a forecast.

    Attributes
    ----------
    score : ndarray of shape (n,)
        Probabilities of the event, in [0, 1].
    outcome : ndarray of shape (n,)
        Whether it occurred.
    weight : ndarray of shape (n,)
        Positive weights.
    share : float
        Part in the aggregate of the problems that a notion makes; shares sum to one.
    name : str
        Name among these problems, such as "predicted 3".
    classes : ndarray of shape (2,)
        Labels of no event and of the event.
    logit : ndarray of shape (n,) or None
        Log-odds of the event, where the forecast was given as logits.
    predicted : Predicted or None
        The predicted class of each row, where the event is that it is true and the forecast is a pair (label, probability).
    unit_of_whole : Unit or None
        What the weights are in the whole problem of which this is a part.
    """

    score: FloatArray
    outcome: BoolArray
    weight: FloatArray
    share: float = 1.0
    name: str = ""
    classes: npt.NDArray[np.generic] = field(default_factory=lambda: np.array([0, 1]))
    logit: FloatArray | None = None
    predicted: Predicted | None = None
    unit_of_whole: Unit | None = None

    @property
    def size(self) -> int:
        """Number of rows."""
        return self.score.size

    @cached_property
    def unit(self) -> Unit:
        """What the weights are: numbers of rows, if they are whole in all of the problem that this is a part of."""
        return Unit.of(self.weight) if self.unit_of_whole is None else self.unit_of_whole

    @cached_property
    def log_odds(self) -> FloatArray:
        """Log-odds of the event: the logits themselves, or those of the scores, clipped so that they lie within 27.6."""
        return links.log_odds_of_prob(self.score) if self.logit is None else self.logit

    @property
    def rows_per_weight(self) -> float:
        """Rows that a weight of one stands for."""
        return self.unit.rows

    @property
    def variance_weight(self) -> FloatArray:
        """Weight of the variance of each row's outcome in the variance of the weighted sum."""
        return self.weight if self.unit.is_count else self.weight**2

    def __repr__(self) -> str:
        name = f"{self.name}, " if self.name else ""
        return f"BinaryProblem({name}rows={self.size}, share={self.share:.4g})"


@dataclass(frozen=True, eq=False)
class Forecast:
    """Probabilities or logits of K classes, shape (n, K); the one is derived from the other when asked for."""

    values: FloatArray
    is_logit: bool = False

    @cached_property
    def prob(self) -> FloatArray:
        """Probabilities, shape (n, K)."""
        return links.prob_of_logit(self.values) if self.is_logit else self.values

    @property
    def log_prob(self) -> FloatArray:
        """Log-probabilities, shape (n, K); of logits exactly, of probabilities clipped."""
        return links.log_prob_of_logit(self.values) if self.is_logit else links.log_prob_of_prob(self.values)

    @property
    def log_odds(self) -> FloatArray:
        """Log-odds of the second of two classes, shape (n,); of logits exactly, of probabilities clipped.

        Both columns are used: 1 - p has lost the digits of a small p.
        """
        values = self.values if self.is_logit else self.log_prob
        return values[:, 1] - values[:, 0]

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and classes."""
        n, n_classes = self.values.shape
        return n, n_classes


@dataclass(frozen=True, eq=False)
class SimplexProblem:
    """A forecast of K classes with the true class, as a column number, and positive weights.

    Of predictions and their probabilities (``is_of_predictions``) the two columns are that the prediction is wrong, and right.
    """

    forecast: Forecast
    label: IntArray
    weight: FloatArray
    classes: npt.NDArray[np.generic]
    is_of_predictions: bool = False

    @property
    def prob(self) -> FloatArray:
        """Probabilities, shape (n, K)."""
        return self.forecast.prob

    @property
    def size(self) -> int:
        """Number of rows."""
        return self.label.size

    @property
    def n_rows(self) -> float:
        """Number of rows that the weights stand for: their sum where they are whole, else the number of rows."""
        return float(self.weight.sum()) * rows_per_weight(self.weight)


Problem = BinaryProblem | SimplexProblem


def two_columns(values: FloatArray, *, is_logit: bool) -> Forecast:
    """Return the forecast of one event as a forecast of two classes: (1 - p, p), or the logits (0, z)."""
    first = np.zeros_like(values) if is_logit else 1.0 - values
    return Forecast(np.column_stack([first, values]), is_logit)


def as_simplex(problem: Problem) -> SimplexProblem:
    """Return a binary problem as two columns; a simplex problem as it is."""
    if isinstance(problem, SimplexProblem):
        return problem
    is_logit = problem.logit is not None
    forecast = two_columns(problem.score if problem.logit is None else problem.logit, is_logit=is_logit)
    label, of_predictions = problem.outcome.astype(np.intp), problem.predicted is not None
    return SimplexProblem(forecast, label, problem.weight, problem.classes, of_predictions)
