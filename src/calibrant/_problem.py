"""Problems: what a metric, a test, a calibrator or a curve works on. Valid by construction, made at the boundary."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from calibrant import _links
from calibrant._links import FloatArray

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


@dataclass(frozen=True, eq=False)
class BinaryProblem:
    """Scores in [0, 1], whether the event came, and positive weights, each of shape (n,).

    ``share`` is the problem's part in the aggregate of the problems that a notion makes; shares sum to one. ``classes``
    are the labels of no event and of the event. Where the forecast came as logits, ``logit`` holds them.
    """

    score: FloatArray
    outcome: BoolArray
    weight: FloatArray
    share: float = 1.0
    name: str = ""
    classes: npt.NDArray[np.generic] = field(default_factory=lambda: np.array([0, 1]))
    logit: FloatArray | None = None

    @property
    def size(self) -> int:
        """Number of rows."""
        return self.score.size

    @cached_property
    def log_odds(self) -> FloatArray:
        """Log-odds of the event: the logits themselves, or those of the scores, clipped so that they lie within 27.6."""
        return _links.log_odds_of_prob(self.score) if self.logit is None else self.logit

    @property
    def rows_per_weight(self) -> float:
        """Rows that a weight of one stands for."""
        return rows_per_weight(self.weight)


@dataclass(frozen=True, eq=False)
class Forecast:
    """Probabilities or logits of K classes, shape (n, K); the one is derived from the other when asked for."""

    values: FloatArray
    is_logit: bool = False

    @cached_property
    def prob(self) -> FloatArray:
        """Probabilities, shape (n, K)."""
        return _links.prob_of_logit(self.values) if self.is_logit else self.values

    @property
    def log_prob(self) -> FloatArray:
        """Log-probabilities, shape (n, K); of logits exactly, of probabilities clipped."""
        return _links.log_prob_of_logit(self.values) if self.is_logit else _links.log_prob_of_prob(self.values)

    @property
    def log_odds(self) -> FloatArray:
        """Log-odds of the second of two classes, shape (n,); of logits exactly, of probabilities clipped.

        Both columns speak: 1 - p has lost what a small p says.
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
    """A forecast of K classes with the class that came, as a column number, and positive weights."""

    forecast: Forecast
    label: IntArray
    weight: FloatArray
    classes: npt.NDArray[np.generic]

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
    return SimplexProblem(forecast, problem.outcome.astype(np.intp), problem.weight, problem.classes)
