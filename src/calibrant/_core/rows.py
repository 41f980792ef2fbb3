"""Numbers as probabilities: their range, the sums of their rows, and what to do about those that are none."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from math import isfinite
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, Self, TypeVar

import numpy as np

from calibrant._core import arrays as links
from calibrant._core.arrays import FloatArray, NDArray, blocks, first, index, more, quotients
from calibrant._core.checks import choice, refuse
from calibrant._core.threads import FEWEST, are_loaded

# What the weights of rows mean: how many rows they are, and how much evidence


ROUNDING = 1e-9
"""How far a weight may be from that of one row and still be one row."""

ONE = np.ones(1)
ONE.flags.writeable = False


class Unit(NamedTuple):
    """What weights mean: whether they are numbers of rows, and how many rows a weight of one stands for."""

    are_counts: bool
    rows_per_weight: float


EACH_A_ROW = Unit(are_counts=True, rows_per_weight=1.0)


@dataclass(frozen=True, eq=False)
class Weights:
    """Weights of the rows of a problem, and what they mean.

    If all are whole they are counts: each is a number of equal, independent rows. If any is a fraction, all of them say how
    much a row counts and not how often it was seen: each row is one observation. That is decided for a whole problem, and its
    parts follow, whatever their own weights are.

    Attributes
    ----------
    values : ndarray of shape (n,)
        The weights, not negative.
    is_unit : bool
        Whether no weights were given, so that each row weighs one.
    of_whole : Unit or None
        What the weights of the problem mean of which these are a part.
    """

    values: FloatArray
    is_unit: bool = False
    of_whole: Unit | None = None

    @classmethod
    @lru_cache(maxsize=8)
    def one_each(cls, n: int) -> Weights:
        """Weight one for each of ``n`` rows, in the memory of a single number."""
        return cls(np.ndarray((n,), np.float64, ONE, strides=(0,)), is_unit=True)

    def __len__(self) -> int:
        """Return the number of weights, n."""
        return self.values.size

    # Other rows

    def part(self, rows: NDArray[np.intp] | NDArray[np.bool_] | slice) -> Weights:
        """Return the weights of some rows, which mean what they mean in the whole."""
        return Weights(self.values[rows], self.is_unit, self.unit)

    def like(self, values: FloatArray) -> Weights:
        """Return other weights of rows of the same whole."""
        return Weights(values, of_whole=self.unit)

    def take(self, rows: NDArray[np.intp]) -> Weights:
        """Return the weights of some rows, perhaps repeated, as those of a problem of its own; of fractions none are counts."""
        if self.is_unit:
            return Weights.one_each(rows.size)
        values = self.values[rows]
        if self.are_counts:
            return Weights(values, of_whole=self.unit)
        rows_per_weight = values.size / (float(values.sum()) or 1.0)  # of no rows any
        return Weights(values, of_whole=Unit(are_counts=False, rows_per_weight=rows_per_weight))

    def _followed_by(self, other: Weights) -> Weights:
        """Return the weights of rows of both; what they mean is seen anew."""
        one_each = Weights.one_each(len(self) + len(other))
        return one_each if self.is_unit else Weights(np.concatenate([self.values, other.values]))

    # Numbers of rows

    @cached_property
    def unit(self) -> Unit:
        """What they mean: whether they are counts, and how many rows a weight of one stands for."""
        if self.of_whole is not None:
            return self.of_whole
        if self.is_unit or np.array_equal(self.values, np.floor(self.values)):
            return EACH_A_ROW
        return Unit(are_counts=False, rows_per_weight=len(self) / self.total)

    @property
    def are_counts(self) -> bool:
        """Whether they are numbers of equal rows."""
        return self.unit.are_counts

    @cached_property
    def repeat_rows(self) -> bool:
        """Whether they are numbers of equal rows, and more than one of some row."""
        return not self.is_unit and self.are_counts and float(self.values.max(initial=0.0)) > 1.0

    @cached_property
    def total(self) -> float:
        """Sum of the weights."""
        return float(len(self)) if self.is_unit else float(self.values.sum())

    @property
    def rows_per_weight(self) -> float:
        """Rows that a weight of one stands for: one of counts, else such that a row of the whole is one row on average."""
        return self.unit.rows_per_weight

    @property
    def rows(self) -> float:
        """Number of rows that the weights stand for."""
        return self.total * self.rows_per_weight

    @property
    def n_rows(self) -> int:
        """Number of rows that are reported: of counts their sum, else of those that have a weight."""
        return int(self.total) if self.are_counts else int(np.count_nonzero(self.values))

    @property
    def are_rows(self) -> bool:
        """Whether each weight stands for one row, but for rounding."""
        return self.is_unit or not (np.abs(self.values * self.rows_per_weight - 1.0) > ROUNDING).any()

    @property
    def times(self) -> FloatArray:
        """How many equal rows each row is, shape (n,): its count, else one."""
        return self.values if self.are_counts else np.ones(len(self))

    @property
    def importance(self) -> FloatArray:
        """How much each of these equal rows counts, shape (n,): one if weights are counts, else the weight."""
        return np.ones(len(self)) if self.are_counts else self.of_rows

    # Evidence

    @property
    def of_variance(self) -> FloatArray:
        """Weight of the variance of each row's outcome in that of the weighted sum, shape (n,): the count, else the square."""
        return self.values if self.are_counts else self.of_rows**2

    @property
    def of_rows(self) -> FloatArray:
        """Weights of single rows, where they are no counts; cells of many rows do not know them."""
        return self.values

    @cached_property
    def effective_rows_per_weight(self) -> float:
        """Independent rows that a weight of one is worth: one of counts, else  sum(w) / sum(w^2)  (Kish)."""
        return 1.0 if self.are_counts else self.total / float((self.of_rows**2).sum())

    @property
    def effective_rows(self) -> float:
        """Number of independent rows that are as much evidence: the sum of counts, else  sum(w)^2 / sum(w^2)  (Kish)."""
        return self.total * self.effective_rows_per_weight

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What a test with a law in formulas has to assume of the weights, in words; nothing if there are none.

        Chi-squared tests that draw labels assume the same. Other tests that draw labels move a row with its weight, whatever
        the weight, but for errors that count rejected predictions.
        """
        if self.is_unit:
            return ()
        if self.are_counts:
            return ("Weights are numbers of equal, independent rows.",)
        return ("Weights do not depend on the labels.",)

    @property
    def keyword(self) -> dict[str, FloatArray]:
        """The weights as the keyword ``sample_weight`` of a function, if there are any; alone they mean what they mean here."""
        if self.is_unit:
            return {}
        is_taken_for_counts = not self.are_counts and Weights(self.values).are_counts
        return {"sample_weight": self.values / self.values.max() if is_taken_for_counts else self.values}


# One number a row of a table: the column of the highest entry, one entry, the sum of squares, the logarithm of a sum


IntArray = NDArray[np.intp]

FEW = 40
"""Columns up to which a compiled loop finds the highest entry of a row sooner than NumPy, which is made for long rows."""


def top_column(values: FloatArray) -> IntArray:
    """Return the column of the highest entry of each row; of equal ones the first."""
    n, n_classes = values.shape
    if n_classes == 2:
        return (values[:, 1] > values[:, 0]).astype(np.intp)
    top: IntArray
    if n_classes < FEW and values.flags.carray and values.size >= FEWEST and are_loaded():
        from calibrant._kernels.sums import top_columns

        top = np.empty(n, dtype=np.intp)
        top_columns(values, top)
    else:
        top = values.argmax(axis=1)
    return top


def entry(values: FloatArray, column: IntArray) -> FloatArray:
    """Return one entry of each row: that of the column of this number."""
    if values.flags.c_contiguous:
        at = np.arange(0, values.size, values.shape[1])
        at += column
        return values.ravel().take(at).astype(np.float64, copy=False)
    return values[np.arange(len(values)), column].astype(np.float64, copy=False)


def sum_of_squares(values: FloatArray) -> FloatArray:
    """Return the sum of the squares of each row."""
    sums = np.empty(len(values))
    for rows in blocks(*values.shape):
        block = values[rows].astype(np.float64, copy=False)
        np.einsum("ij,ij->i", block, block, out=sums[rows])
    return sums


def log_losses(logit: FloatArray, column: IntArray) -> FloatArray:
    """Return minus the logarithm of the probability that the logits of each row give to a column; nothing is clipped."""
    losses = -entry(logit, column)
    for rows in blocks(*logit.shape):
        block = logit[rows]
        highest = block.max(axis=1)
        losses[rows] += highest  # first, so that a loss near zero keeps its digits
        losses[rows] += np.log(np.exp(block - highest[:, None]).sum(axis=1))
    return losses


# Problems: what a metric, a test, a calibrator or a curve works on. Valid by construction, made at the boundary


BoolArray = NDArray[np.bool_]

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
    def example(self) -> Any:
        """Some rows that are in memory, or all of them, which show what kind of problem it is."""
        return self

    def taken(self, rows: IntArray) -> Self:
        """Return some rows, perhaps repeated, as a problem of its own."""
        return self.at(rows, self.weights.take(rows))

    def weighted(self, weight: FloatArray) -> Self:
        """Return the rows with other weights, as a problem of its own, of fractions no counts; those without are left out."""
        rows = np.flatnonzero(weight > 0)
        weights = Weights(weight[rows]) if self.weights.are_counts else self.weights.like(weight).take(rows)
        return self.at(rows, weights)


@dataclass(frozen=True, eq=False)
class Predicted:
    """Predicted classes: the number of that of each row, shape (n,), and what the numbers stand for."""

    code: IntArray
    classes: NDArray[np.generic]


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
    cells : FineCells or None
        The cells of a fine grid that hold the rows, where the scores were rounded to their means, with a row for each cell and
        outcome: values differ from those of the rows by what the cells leave open. The weights count rows, or are sums.
    """

    score: FloatArray
    outcome: BoolArray
    weights: Weights
    share: float = 1.0
    name: str = ""
    classes: NDArray[np.generic] = field(default_factory=np.array([0, 1]).copy)
    logit: FloatArray | None = None
    predicted: Predicted | None = None
    precision: np.dtype[np.floating[Any]] = DOUBLE
    cells: Any = None

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
            cells=None,  # those of some rows are others
        )

    def _followed_by(self, other: Any) -> BinaryProblem:
        """Return the rows of this problem and those of another one of its kind."""
        return replace(
            self,
            score=np.concatenate([self.score, other.score]),
            outcome=np.concatenate([self.outcome, other.outcome]),
            weights=self.weights._followed_by(other.weights),
            logit=None if self.logit is None else np.concatenate([self.logit, other.logit]),
        )

    @property
    def is_logit(self) -> bool:
        """Whether the forecast was given as logits."""
        return self.logit is not None

    @property
    def values(self) -> FloatArray:
        """The logits, or else the scores in the precision in which they were given."""
        return self.as_given if self.logit is None else self.logit

    @property
    def code(self) -> IntArray:
        """The number of the true class of each row, 0 or 1."""
        return self.outcome.astype(np.intp)

    def in_two_columns(self) -> SimplexProblem:
        """Return the same rows as a forecast of two classes: of no event, and of the event.

        Returns
        -------
        SimplexProblem
            Made once.
        """
        return self.simplex

    @cached_property
    def simplex(self) -> SimplexProblem:
        """The same rows as a forecast of two classes: of no event, and of the event."""
        is_logit = self.logit is not None
        forecast = OfOneEvent(self.score if self.logit is None else self.logit, is_logit, self.precision)
        label, of_predictions = self.code, self.predicted is not None
        return SimplexProblem(forecast, label, self.weights, self.classes, of_predictions)

    def __repr__(self) -> str:
        name = f"{self.name}, " if self.name else ""
        return f"BinaryProblem({name}rows={self.size}, share={self.share:.4g})"


class Forecast:
    """Probabilities or logits of K classes, shape (n, K); the one is derived from the other when asked for.

    Probabilities in single precision stay so in ``values``; logits are in double. The ``precision`` is that in which
    probabilities were given, by default that of the values, and of logits double.
    """

    def __init__(
        self, values: FloatArray, is_logit: bool = False, precision: np.dtype[np.floating[Any]] | None = None
    ) -> None:
        self.values, self.is_logit = values, is_logit
        self.precision = precision or (DOUBLE if is_logit else values.dtype)

    @cached_property
    def prob(self) -> FloatArray:
        """Probabilities in double precision, shape (n, K)."""
        return links.prob_of_logit(self.values) if self.is_logit else self.values.astype(np.float64, copy=False)

    @property
    def as_given(self) -> FloatArray:
        """Probabilities, shape (n, K), in single precision if they were given so: no copy of a table that is read once."""
        return self.prob if self.is_logit else self.values

    def at(self, rows: IntArray | BoolArray | slice) -> Forecast:
        """Return some rows."""
        return Forecast(self.values[rows], self.is_logit, self.precision)

    @property
    def log_prob(self) -> FloatArray:
        """Log-probabilities, shape (n, K); of logits exactly, of probabilities clipped."""
        return links.log_prob_of_logit(self.values) if self.is_logit else links.log_prob_of_prob(self.prob)

    @property
    def log_odds(self) -> FloatArray:
        """Log-odds of the second of two classes, shape (n,); of logits exactly, of probabilities clipped.

        Both columns are used: 1 - p has lost the digits of a small p.
        """
        if self.is_logit:
            return self.values[:, 1] - self.values[:, 0]
        return links.difference_of_logs(self.prob[:, 1], self.prob[:, 0])

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and classes."""
        n, n_classes = self.values.shape
        return n, n_classes

    @property
    def top(self) -> IntArray:
        """The column of the highest probability of each row, of equal ones the first."""
        return top_column(self.as_given)

    def of(self, label: IntArray) -> FloatArray:
        """Return the probability that each row gives to the class of this number."""
        return entry(self.as_given, label)

    def column(self, j: int) -> FloatArray:
        """Return the probabilities of the class of this number, as given."""
        return self.as_given[:, j]

    def squared_losses(self, problem: SimplexProblem) -> FloatArray:
        """Return the squared distance of each row to the corner of its class: sum p^2 - 2 p_y + 1, without a one-hot table."""
        losses = sum_of_squares(self.as_given)
        losses -= 2.0 * problem.of_true
        losses += 1.0
        return losses


class OfOneEvent(Forecast):
    """The probability of one event, or its logit, as a forecast of two classes: no table is made where none is needed."""

    event: FloatArray

    def __init__(self, event: FloatArray, is_logit: bool, precision: np.dtype[np.floating[Any]]) -> None:
        self.event, self.is_logit, self.precision = event, is_logit, precision

    @cached_property
    def values(self) -> FloatArray:  # type: ignore[override]
        """Probabilities or logits as a table, shape (n, 2)."""
        first = np.zeros(self.event.size) if self.is_logit else self.column(0)
        return np.column_stack([first, self.event]).astype(self.precision, copy=False)

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
        """Return the probabilities of no event, in the precision of those of the event, or of the event."""
        if j or self.is_logit:
            return super().column(j) if self.is_logit else self.event
        return (1.0 - self.event).astype(self.precision, copy=False).astype(np.float64, copy=False)

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
    classes: NDArray[np.generic]
    is_of_predictions: bool = False
    known: dict[str, NDArray[Any]] = field(default_factory=dict, init=False, repr=False)

    predicted: ClassVar[Predicted | None] = None
    """A table names no predicted classes beside its probabilities."""

    @property
    def prob(self) -> FloatArray:
        """Probabilities in double precision, shape (n, K)."""
        return self.forecast.prob

    @property
    def as_given(self) -> FloatArray:
        """Probabilities, shape (n, K), in single precision if they were given so."""
        return self.forecast.as_given

    @property
    def is_logit(self) -> bool:
        """Whether the forecast was given as logits."""
        return self.forecast.is_logit

    @property
    def values(self) -> FloatArray:
        """Logits or probabilities as they were given, shape (n, K)."""
        return self.forecast.values

    @property
    def code(self) -> IntArray:
        """The number of the true class of each row."""
        return self.label

    @property
    def precision(self) -> np.dtype[np.floating[Any]]:
        """Precision in which probabilities were given."""
        return self.forecast.precision

    @property
    def size(self) -> int:
        """Number of rows."""
        return self.label.size

    @property
    def top(self) -> IntArray:
        """The predicted class of each row, shape (n,): that of the highest probability, of equal ones the first."""
        if "top" not in self.known:
            self.known["top"] = self.forecast.top
        return self.known["top"]

    @property
    def of_true(self) -> FloatArray:
        """Probability of the true class of each row, shape (n,)."""
        if "of_true" not in self.known:
            self.known["of_true"] = self.forecast.of(self.label)
        return self.known["of_true"]

    def at(self, rows: IntArray | BoolArray | slice, weights: Weights | None = None) -> Self:
        weights = self.weights.part(rows) if weights is None else weights
        part = replace(self, forecast=self.forecast.at(rows), label=self.label[rows], weights=weights)
        part.known.update({name: column[rows] for name, column in self.known.items()})
        return part

    def _followed_by(self, other: Any) -> SimplexProblem:
        """Return the rows of this problem and those of another one of its kind."""
        forecast = Forecast(np.concatenate([self.values, other.values]), self.is_logit, self.precision)
        label, weights = np.concatenate([self.label, other.label]), self.weights._followed_by(other.weights)
        return SimplexProblem(forecast, label, weights, self.classes)


Problem = BinaryProblem | SimplexProblem


def in_blocks(problem: Problem) -> Iterable[Problem]:
    """Cut a problem into parts of which a table stays in the processor's cache; of few rows it is its own only part."""
    rows = list(blocks(problem.size, problem.classes.size))
    return [problem] if len(rows) == 1 else map(problem.at, rows)


def two_columns(values: FloatArray, *, is_logit: bool) -> Forecast:
    """Return the forecast of one event as a forecast of two classes: (1 - p, p), or the logits (0, z)."""
    table = np.empty((values.size, 2))
    table[:, 0] = 0.0 if is_logit else 1.0 - values
    table[:, 1] = values
    return Forecast(table, is_logit)


def as_simplex(problem: Problem) -> SimplexProblem:
    """Return a binary problem as two columns; a simplex problem as it is."""
    return problem if isinstance(problem, SimplexProblem) else problem.simplex


# Rows that are not in memory as a whole: what functions take in the place of ``y_true`` and ``y_prob``


class Mergeable(Protocol):
    """What is read of some rows, and adds up to what is read of all."""

    def __add__(self, other: Self) -> Self: ...


M = TypeVar("M", bound=Mergeable)

Read = Callable[[Problem, int | NDArray[np.int64]], M]
"""A function of a batch and of the number of its first row among all rows; or of the number of each row."""


class InBatches(ABC):
    """Labels and predicted probabilities whose rows are read in batches, and never all at once."""

    left_out: tuple[int, int] = 0, 0
    """How many batches that were wrong the last reading left out, and how many rows of them are known."""

    @property
    def classes(self) -> NDArray[np.generic]:
        """Labels of the columns, or of no event and the event, shape (K,)."""
        return self.head().classes

    @property
    def precision(self) -> np.dtype[np.floating[Any]]:
        """Precision of the probabilities, which is that of all batches."""
        return self.head().precision

    @abstractmethod
    def head(self) -> Problem:
        """Return some rows, at least one, as a problem: it has the kind, the classes and the weights of all batches.

        Returns
        -------
        BinaryProblem or SimplexProblem
            Rows in memory.
        """

    @abstractmethod
    def reduce(self, read: Read[M]) -> M:
        """Read each batch, and add up what was found, in a fixed order.

        Parameters
        ----------
        read : callable
            A function of a problem, the rows of a batch, and of the number of its first row among all rows; or of the number of
            each row. Where an engine knows no such number, rows have any numbers that differ. Several threads may call it at a
            time, and other processes: it is pickled.

        Returns
        -------
        object
            The sum of what ``read`` returned for the batches; of those without rows nothing is read.
        """

    @abstractmethod
    def as_problem(self) -> Problem:
        """Return a problem of these rows: in memory if they are few, else one of which only sums can be had.

        Returns
        -------
        BinaryProblem or SimplexProblem
            What functions work on.
        """


# A figure that was computed from cells of scores and not from the scores: how far the exact one may be


class Approximate(float):
    """A figure of rows that were read in batches, in place of one that needs all scores at once.

    It is a number, and can be used as one.

    Parameters
    ----------
    value : float
        The figure with all scores rounded to the means of their cells.
    lower, upper : float
        The figure of the scores themselves lies between them, whatever they are.

    Attributes
    ----------
    lower, upper : float
        The same.
    """

    lower: float
    upper: float

    def __new__(cls, value: float, lower: float, upper: float) -> Self:
        """Make the number; rounding may not leave it outside its own limits."""
        made = super().__new__(cls, value)
        made.lower, made.upper = min(float(lower), float(made)), max(float(upper), float(made))
        return made

    @property
    def error(self) -> float:
        """How far the exact figure may be from this one, at most."""
        return max(self.upper - self, self - self.lower)

    def __reduce__(self) -> tuple[type[Self], tuple[float, float, float]]:
        """Return what makes it anew, for copies and pickles."""
        return type(self), (float(self), self.lower, self.upper)

    def __repr__(self) -> str:
        return f"{float(self)!r} ({self.note})"

    @property
    def note(self) -> str:
        """What is known of the figure of the rows, in words."""
        known = f"exact to within {self.error:.1g}" if isfinite(self.error) else "with scores rounded to cells"
        return f"of rows in batches, {known}"

    __str__ = float.__repr__


def mean_of(parts: Sequence[tuple[float, float]]) -> float:
    """Return the sum of shares times figures, from nothing on; with its limits where one of the figures has some."""
    total = 0.0
    for share, value in parts:
        total += share * value
    if not any(isinstance(value, Approximate) for _, value in parts):
        return total
    lower, upper = (sum(share * getattr(value, end, value) for share, value in parts) for end in ("lower", "upper"))
    return Approximate(total, lower, upper)


# Where numbers stand among increasing ones


MANY = 1 << 12
"""From so many numbers on a search of blocks is faster than that of each number."""

BLOCK = 1 << 13
"""Numbers searched at a time: they stay in the processor's cache."""

COUNTED = 3
"""Levels of the search that are counted at once: of so many halvings the 7 limits are compared with each number."""


def places(limits: NDArray[Any], values: NDArray[Any], side: Literal["left", "right"] = "left") -> IntArray:
    """Return how many limits lie below each value, for ``side="right"`` at or below it: `numpy.searchsorted`.

    A binary search of one number takes a branch at every halving, which a processor foretells half the time. Here a block of
    numbers takes each halving together.

    Parameters
    ----------
    limits : ndarray of shape (m,)
        Numbers that do not decrease.
    values : ndarray of shape (n,), or any for few
        Numbers, none of them NaN.
    side : {"left", "right"}, default="left"
        What is counted.

    Returns
    -------
    ndarray of the shape of ``values``
        Counts from 0 to m.
    """
    if not 0 < limits.size <= values.size or values.size < MANY or values.ndim != 1 or values.dtype.kind != "f":
        return np.searchsorted(limits, values, side=side)
    halvings = int(limits.size).bit_length()
    padded = np.full((1 << halvings) - 1, np.inf)
    padded[: limits.size] = limits
    found: IntArray = np.empty(values.size, dtype=np.intp)
    for start in range(0, values.size, BLOCK):
        rows = slice(start, start + BLOCK)
        found[rows] = _among(padded, np.ascontiguousarray(values[rows]), halvings, side)
    return np.minimum(found, limits.size, out=found)  # infinity is not below itself, but at it


def _among(padded: NDArray[Any], values: NDArray[Any], halvings: int, side: str) -> IntArray:
    is_below = np.less if side == "left" else np.less_equal
    width = 1 << max(0, halvings - COUNTED)
    count = np.zeros(values.size, dtype=np.uint8)
    for limit in padded[width - 1 :: width]:
        count += is_below(limit, values)
    found: IntArray = np.multiply(count, width, dtype=np.intp)
    while width > 1:
        width //= 2
        found += width * is_below(np.take(padded, found + (width - 1), mode="clip"), values)
    return found


Rows = Literal["as-given", "normalize", "percent"]
WORDS = ("as-given", "normalize", "percent")

PERCENT = 100.0

BEYOND = 1e-6
"""How far a probability may lie outside [0, 1]: a few units in the last place of single precision."""

SUM_TOLERANCE = 1e-3
"""How far the sum of a row may be from one: half precision and four printed digits pass, logits and percent do not.

0.999 and 1.001 pass as well: the sums of columns that were printed or stored in single precision miss them by `ROUNDING`.
"""

SLIGHT = 0.05
"""How far from [0, 1], and from a sum of one, numbers may lie that a hint still takes for probabilities."""

MOST_CLASSES = 10
"""Whole numbers below this, in one column, may be predicted classes: a hint says so."""

LARGEST = 1e290
"""Numbers up to which the sum of a row does not overflow."""


class Remedies(NamedTuple):
    """What a message tells to do, in the words of the function that was called."""

    percent: str = "pass rows='percent' to divide them by 100"
    normalize: str = "pass rows='normalize' to divide each row by its sum"
    logit: str = "If these are logits, pass input='logit'."
    several: str = "If each column is an event or a forecast of its own, take one column at a time."
    event: str = "pos_label={0}"


USUAL = Remedies()
OF_CALIBRATOR = USUAL._replace(
    percent="divide them by 100",
    normalize="divide each row by its sum",
    logit="If these are logits, give the calibrator input='logit'.",
    event="labels=[{1}, {0}]",
)
"""A calibrator has no ``rows``: it maps numbers of the kind that it was fitted on."""


OF_SEVERAL = USUAL._replace(
    percent="divide them by 100", logit="If these are logits, take their scipy.special.expit, or softmax of each row."
)
"""Of one of several forecasts: ``rows`` and ``input`` are about all of them."""


OF_PROBABILITIES = OF_CALIBRATOR._replace(logit="Pass probabilities: input= is about y_prob alone.", several="")
"""Of what stands beside a forecast and is always probabilities, such as a truth."""


def one_of(rows: object) -> str:
    """Return a word for what is done with rows."""
    return choice("rows", rows, WORDS)


def precision_of(given: NDArray[Any], input: str, rows: Rows) -> np.dtype[np.floating[Any]]:
    """Return the precision in which probabilities are given, in any order of bytes; of all else double."""
    kind = given.dtype.newbyteorder("=")
    return kind if kind.char in "fd" and input == "probability" and rows == "as-given" else DOUBLE


def as_probabilities(name: str, values: FloatArray, rows: Rows, remedies: Remedies = USUAL) -> FloatArray:
    """Return one column, or a table whose rows sum to one, of probabilities; what rounding put outside [0, 1] is put back."""
    if one_of(rows) == "normalize" and values.ndim == 2:
        return _divided_by_sums(name, values, remedies)
    scale = PERCENT if rows == "percent" else 1.0
    prob = _in_range(name, values, scale, remedies)
    if prob.ndim == 2:
        _require_sums(name, prob, scale, remedies)
    return prob


def _in_range(name: str, values: FloatArray, scale: float, remedies: Remedies) -> FloatArray:
    """Return values in [0, 1]; what rounding alone put outside [0, scale] is put back, and all else refused."""
    if values.min() < 0 or values.max() > scale:
        outside = (values < -BEYOND * scale) | (values > (1 + BEYOND) * scale)
        if outside.any():
            hint = (_hint_of_column if values.ndim == 1 else _hint_of_table)(name, values, remedies)
            must = "probabilities in [0, 1]"
            if scale != 1:
                must, hint = "percent in [0, 100]", "Correct these values, or leave rows='percent' out."
            raise ValueError(f"{name} must hold {must}; {_shown(values, outside)}. {hint}")
        values = np.clip(values, 0.0, scale)
    return values if scale == 1 else values / scale


def _divided_by_sums(name: str, values: FloatArray, remedies: Remedies) -> FloatArray:
    if (low := values.min()) < 0:
        if (negative := values < -BEYOND).any():
            hint = f"{_clip(name, 'None')} " if low >= -SLIGHT * values.max() else ""
            raise ValueError(
                f"{name} must not be negative where rows are divided by their sums; {_shown(values, negative)}. "
                f"{hint}{remedies.logit}"
            )
        values = np.maximum(values, 0.0)
    if (high := values.max()) > LARGEST:
        values = values / high
    sums = values.sum(axis=1, keepdims=True)
    if (empty := sums[:, 0] == 0).any():
        must = f"rows of {name} must have a positive sum to be normalised"
        got = f"0 in row {int(np.argmax(empty))}{more(empty)}"
        refuse(must, got=got, hint=f"Drop {'these rows' if empty.sum() > 1 else 'this row'}")
    return quotients(values, sums)


def _require_sums(name: str, prob: FloatArray, scale: float, remedies: Remedies) -> None:
    sums = prob.sum(axis=1)
    off = np.abs(sums - 1.0) > SUM_TOLERANCE + BEYOND
    if off.any():
        row = int(np.argmax(off))
        must = f"one within {SUM_TOLERANCE:g}" if scale == 1 else f"100 percent within {SUM_TOLERANCE * scale:g}"
        raise ValueError(
            f"rows of {name} must sum to {must}; got {sums[row] * scale:.6g} in row {row}{more(off)}. "
            f"{_hint_of_sums(sums, scale, remedies)}"
        )


# Hints


def _hint_of_column(name: str, values: FloatArray, remedies: Remedies) -> str:
    low, high = values.min(), values.max()
    hints = []
    if slight := low >= -SLIGHT and high <= 1 + SLIGHT:
        hints.append(_clip(name, "1"))
    if _may_be_percent(low, high):
        if not slight and high < MOST_CLASSES and (values == np.rint(values)).all():
            hints.append("If these are predicted classes, pass the classifier's probabilities in their place.")
        hints.append(f"If these are percent, {remedies.percent}.")
    else:
        hints.append(remedies.logit)
        if high <= 0:
            hints.append(f"If these are logarithms of probabilities, pass np.exp({name}).")
    return " ".join(hints)


def _hint_of_table(name: str, values: FloatArray, remedies: Remedies) -> str:
    low, high = values.min(), values.max()
    with np.errstate(over="ignore"):
        sums = values.sum(axis=1)
    if low < -BEYOND:
        near = any(
            low >= -SLIGHT * scale and high <= (1 + SLIGHT) * scale and _near(sums, scale, SLIGHT)
            for scale in (1.0, PERCENT)
        )
        return f"{_clip(name, 'None')} Then {remedies.normalize}." if near else remedies.logit
    lead, sums = _without_zeros(sums)
    if _near(sums, 1.0, SLIGHT):
        return f"{lead}{_sentence(remedies.normalize)}"
    if _may_be_percent(low, high) and _near(sums, PERCENT, SLIGHT):
        exact = _near(sums, PERCENT, SUM_TOLERANCE)
        return f"{lead}If these are percent, {remedies.percent if exact else remedies.normalize}."
    if _may_be_percent(low, high):
        return f"{lead}If these are percent or counts, {remedies.normalize}. {_one_by_one(sums, remedies)}".rstrip()
    return f"{lead}If these are counts, {remedies.normalize}. {remedies.logit}"


def _hint_of_sums(sums: FloatArray, scale: float, remedies: Remedies) -> str:
    """Say what to do about rows of numbers in [0, 1] that do not sum to one."""
    lead, sums = _without_zeros(sums)
    if _near(sums, 1.0, SUM_TOLERANCE):
        return lead.rstrip()
    if scale == 1 and _near(sums, PERCENT, SUM_TOLERANCE):
        return f"{lead}If these are percent, {remedies.percent}."
    if scale == PERCENT and _near(sums, 1 / PERCENT, SLIGHT):
        return f"{lead}If these are fractions of one and not percent, leave rows='percent' out."
    if several := _one_by_one(sums, remedies):
        return f"{lead}{several} If these are shares of a sum, {remedies.normalize}."
    return f"{lead}{_sentence(remedies.normalize)}"


def _one_by_one(sums: FloatArray, remedies: Remedies) -> str:
    """Say what to do about classes of which several can be true at once: their rows have sums of any size."""
    far = np.abs(sums / np.median(sums) - 1.0) > SLIGHT if sums.size else sums
    return remedies.several if 2 * np.count_nonzero(far) > sums.size else ""


def _without_zeros(sums: FloatArray) -> tuple[str, FloatArray]:
    """Return what to say first of rows of zeros, and the sums of the others."""
    kept = sums != 0
    return ("" if kept.all() else "Drop the rows of zeros: they give no class a probability. "), sums[kept]


def _may_be_percent(low: float, high: float) -> bool:
    return bool(low >= -BEYOND and high <= PERCENT * (1 + BEYOND))


def _near(sums: FloatArray, scale: float, tolerance: float) -> bool:
    return bool((np.abs(sums / scale - 1.0) <= tolerance + BEYOND).all())


def _clip(name: str, most: str) -> str:
    return f"If rounding or a regression put them there, pass np.clip({name}, 0, {most})."


def _sentence(remedy: str) -> str:
    return f"{remedy[0].upper()}{remedy[1:]}."


def _shown(values: FloatArray, wrong: NDArray[np.bool_]) -> str:
    where = first(wrong)
    return f"got {values[where]:.10g} at index {index(where)}{more(wrong)}"
