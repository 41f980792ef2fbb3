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


@dataclass(frozen=True, eq=False)
class BinaryProblem:
    """Scores in [0, 1], whether the event came, and positive weights, each of shape (n,).

    ``share`` is the problem's part in the aggregate of the problems that a notion makes; shares sum to one. ``classes``
    are the labels of no event and of the event.
    """

    score: FloatArray
    outcome: BoolArray
    weight: FloatArray
    share: float = 1.0
    name: str = ""
    classes: npt.NDArray[np.generic] = field(default_factory=lambda: np.array([0, 1]))

    @property
    def size(self) -> int:
        """Number of rows."""
        return self.score.size

    @property
    def residual(self) -> FloatArray:
        """Weighted outcome minus score of each row."""
        return self.weight * (self.outcome - self.score)


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


Problem = BinaryProblem | SimplexProblem


def as_simplex(problem: Problem) -> SimplexProblem:
    """Return a binary problem as two columns, (1 - p, p); a simplex problem as it is."""
    if isinstance(problem, SimplexProblem):
        return problem
    prob = np.column_stack([1.0 - problem.score, problem.score])
    return SimplexProblem(Forecast(prob), problem.outcome.astype(np.intp), problem.weight, problem.classes)
