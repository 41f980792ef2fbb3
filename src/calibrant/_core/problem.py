"""Problems: what a metric, a test, a calibrator or a curve works on. Valid by construction, made at the boundary."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from calibrant._core import by_row, links
from calibrant._core.links import FloatArray
from calibrant._core.one_pass import blocks
from calibrant._core.weights import Weights

IntArray = npt.NDArray[np.intp]
BoolArray = npt.NDArray[np.bool_]

DOUBLE: np.dtype[np.floating[Any]] = np.dtype(np.float64)


class WeightedRows(ABC):
    """What the two kinds of problem have in common: rows, each with a weight."""

    weights: Weights

    @property
    def weight(self) -> FloatArray:
        """Weights of the rows, shape (n,)."""
        return self.weights.values

    @abstractmethod
    def at(self, rows: IntArray | BoolArray | slice, weights: Weights | None = None) -> Self:
        """Return some rows: a part of this problem, unless they have weights of their own."""

    def summed_parts(self, notion: Any) -> Iterable[BinaryProblem] | None:
        """Return the binary problems of a notion where they stand for rows that are not in memory; None of rows that are."""
        return None

    @property
    def example(self) -> Problem:
        """Some rows that are in memory, or all of them, which show what kind of problem it is."""
        assert isinstance(self, (BinaryProblem, SimplexProblem))
        return self

    def taken(self, rows: IntArray) -> Self:
        """Return some rows, perhaps repeated, as a problem of its own."""
        return self.at(rows, self.weights.take(rows))

    def weighted(self, weight: FloatArray) -> Self:
        """Return the rows with other weights, as a problem of its own; those without weight are left out."""
        rows = np.flatnonzero(weight > 0)
        return self.at(rows, Weights(weight[rows]))


@dataclass(frozen=True, eq=False)
class Predicted:
    """Predicted classes: the number of that of each row, shape (n,), and what the numbers stand for."""

    code: IntArray
    classes: npt.NDArray[np.generic]


@dataclass(frozen=True, eq=False, repr=False)
class BinaryProblem(WeightedRows):
    """Scores of one event, whether it occurred, and the weights of the rows: what a notion makes of a forecast.

    Attributes
    ----------
    score : ndarray of shape (n,)
        Probabilities of the event, in [0, 1].
    outcome : ndarray of shape (n,)
        Whether it occurred.
    weights : Weights
        Positive weights, and what they mean.
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
    precision : dtype
        Precision in which the scores were given: edges of fixed bins are rounded to it, so that 0.35 in single precision falls
        into the bin of 0.35.
    """

    score: FloatArray
    outcome: BoolArray
    weights: Weights
    share: float = 1.0
    name: str = ""
    classes: npt.NDArray[np.generic] = field(default_factory=lambda: np.array([0, 1]))
    logit: FloatArray | None = None
    predicted: Predicted | None = None
    precision: np.dtype[np.floating[Any]] = DOUBLE

    @property
    def size(self) -> int:
        """Number of rows."""
        return self.score.size

    @property
    def as_given(self) -> FloatArray:
        """The scores in the precision in which they were given."""
        return self.score.astype(self.precision, copy=False)

    @cached_property
    def log_odds(self) -> FloatArray:
        """Log-odds of the event: the logits themselves, or those of the scores, clipped so that they lie within 27.6."""
        return links.log_odds_of_prob(self.score) if self.logit is None else self.logit

    def at(self, rows: IntArray | BoolArray | slice, weights: Weights | None = None) -> Self:
        return replace(
            self,
            score=self.score[rows],
            outcome=self.outcome[rows],
            weights=self.weights.part(rows) if weights is None else weights,
            logit=None if self.logit is None else self.logit[rows],
            predicted=None if self.predicted is None else replace(self.predicted, code=self.predicted.code[rows]),
        )

    def in_two_columns(self) -> SimplexProblem:
        """Return the same rows as a forecast of two classes.

        Returns
        -------
        SimplexProblem
            A table of the probabilities of no event and of the event.
        """
        return self._two_columns

    @cached_property
    def _two_columns(self) -> SimplexProblem:
        is_logit = self.logit is not None
        forecast = OfOneEvent(self.score if self.logit is None else self.logit, is_logit, self.precision)
        label, of_predictions = self.outcome.astype(np.intp), self.predicted is not None
        return SimplexProblem(forecast, label, self.weights, self.classes, of_predictions)

    def __repr__(self) -> str:
        name = f"{self.name}, " if self.name else ""
        return f"BinaryProblem({name}rows={self.size}, share={self.share:.4g})"


@dataclass(frozen=True, eq=False)
class Forecast:
    """Probabilities or logits of K classes, shape (n, K); the one is derived from the other when asked for.

    Probabilities in single precision stay so in ``values``; logits are in double. The ``precision`` is that in which
    probabilities were given, by default that of the values.
    """

    values: FloatArray
    is_logit: bool = False
    given_in: np.dtype[np.floating[Any]] | None = None

    @cached_property
    def prob(self) -> FloatArray:
        """Probabilities in double precision, shape (n, K)."""
        return links.prob_of_logit(self.values) if self.is_logit else self.values.astype(np.float64, copy=False)

    @property
    def as_given(self) -> FloatArray:
        """Probabilities, shape (n, K), in single precision if they were given so: no copy of a table that is read once."""
        return self.prob if self.is_logit else self.values

    @property
    def precision(self) -> np.dtype[np.floating[Any]]:
        """Precision in which probabilities were given; of logits double."""
        return self.given_in or (DOUBLE if self.is_logit else self.values.dtype)

    def at(self, rows: IntArray | BoolArray | slice) -> Forecast:
        """Return some rows."""
        return Forecast(self.values[rows], self.is_logit, self.given_in)

    @property
    def log_prob(self) -> FloatArray:
        """Log-probabilities, shape (n, K); of logits exactly, of probabilities clipped."""
        return links.log_prob_of_logit(self.values) if self.is_logit else links.log_prob_of_prob(self.prob)

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

    @property
    def top(self) -> IntArray:
        """The column of the highest probability of each row, of equal ones the first."""
        return by_row.top_column(self.as_given)

    def of(self, label: IntArray) -> FloatArray:
        """Return the probability that each row gives to the class of this number."""
        return by_row.entry(self.as_given, label)

    def column(self, j: int) -> FloatArray:
        """Return the probabilities of the class of this number, as given."""
        return self.as_given[:, j]

    def squared_losses(self, problem: SimplexProblem) -> FloatArray:
        """Return the squared distance of each row to the corner of its class: sum p^2 - 2 p_y + 1, without a one-hot table."""
        losses = by_row.sum_of_squares(self.as_given)
        losses -= 2.0 * problem.of_true
        losses += 1.0
        return losses


class OfOneEvent(Forecast):
    """The probability of one event, or its logit, as a forecast of two classes: no table is made where none is needed."""

    event: FloatArray

    def __init__(self, event: FloatArray, is_logit: bool, given_in: np.dtype[np.floating[Any]]) -> None:
        self.__dict__.update(event=event, is_logit=is_logit, given_in=given_in)

    @cached_property
    def values(self) -> FloatArray:
        """Probabilities or logits as a table, shape (n, 2)."""
        return two_columns(self.event, is_logit=self.is_logit).values

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and classes."""
        return self.event.size, 2

    def at(self, rows: IntArray | BoolArray | slice) -> Forecast:
        """Return some rows."""
        return OfOneEvent(self.event[rows], self.is_logit, self.precision)

    @property
    def top(self) -> IntArray:
        """One where the event is more likely than not."""
        return super().top if self.is_logit else (self.event > 1.0 - self.event).astype(np.intp)

    def of(self, label: IntArray) -> FloatArray:
        """Return the probability that each row gives to the class of this number."""
        if self.is_logit:
            return super().of(label)
        found: FloatArray = np.subtract(label == 0, self.event)  # 1 - p, or -p
        np.abs(found, out=found)
        return found

    def column(self, j: int) -> FloatArray:
        """Return the probabilities of no event, or of the event."""
        return super().column(j) if self.is_logit else self.event if j else 1.0 - self.event

    def squared_losses(self, problem: SimplexProblem) -> FloatArray:
        """Return twice the squared distance of the event to its outcome."""
        if self.is_logit:
            return super().squared_losses(problem)
        losses = self.event - problem.label
        losses *= losses
        losses *= 2.0
        return losses


@dataclass(frozen=True, eq=False)
class SimplexProblem(WeightedRows):
    """A forecast of K classes with the true class, as a column number, and positive weights.

    Of predictions and their probabilities (``is_of_predictions``) the two columns are that the prediction is wrong, and right.
    """

    forecast: Forecast
    label: IntArray
    weights: Weights
    classes: npt.NDArray[np.generic]
    is_of_predictions: bool = False

    @property
    def prob(self) -> FloatArray:
        """Probabilities in double precision, shape (n, K)."""
        return self.forecast.prob

    @property
    def precision(self) -> np.dtype[np.floating[Any]]:
        """Precision in which probabilities were given."""
        return self.forecast.precision

    @property
    def size(self) -> int:
        """Number of rows."""
        return self.label.size

    @cached_property
    def top(self) -> IntArray:
        """The predicted class of each row, shape (n,): that of the highest probability, of equal ones the first."""
        return self.forecast.top

    @cached_property
    def of_true(self) -> FloatArray:
        """Probability of the true class of each row, shape (n,)."""
        return self.forecast.of(self.label)

    def at(self, rows: IntArray | BoolArray | slice, weights: Weights | None = None) -> Self:
        weights = self.weights.part(rows) if weights is None else weights
        part = replace(self, forecast=self.forecast.at(rows), label=self.label[rows], weights=weights)
        for name in vars(self).keys() & {"top", "of_true"}:  # known, and cheaper to take along than to find again
            object.__setattr__(part, name, vars(self)[name][rows])
        return part


Problem = BinaryProblem | SimplexProblem


def row_blocks(problem: Problem) -> Iterable[slice]:
    """Cut the rows into blocks of which a table stays in the processor's cache."""
    return blocks(problem.size, 2 if isinstance(problem, BinaryProblem) else problem.forecast.shape[1])


def two_columns(values: FloatArray, *, is_logit: bool) -> Forecast:
    """Return the forecast of one event as a forecast of two classes: (1 - p, p), or the logits (0, z)."""
    table = np.empty((values.size, 2))
    table[:, 0] = 0.0 if is_logit else 1.0 - values
    table[:, 1] = values
    return Forecast(table, is_logit)


def as_simplex(problem: Problem) -> SimplexProblem:
    """Return a binary problem as two columns; a simplex problem as it is."""
    return problem if isinstance(problem, SimplexProblem) else problem.in_two_columns()
