"""What a notion is: which parts a forecast has. Splitting, shares and merging follow from the parts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from calibrant._core import by_row
from calibrant._core.links import MANY_COLUMNS, FloatArray, quotients, sum_of_rows
from calibrant._core.parameters import require
from calibrant._core.problem import BinaryProblem, BoolArray, Forecast, IntArray, Problem, SimplexProblem, as_simplex

EXACT_SUM = 1e-13
"""How far the sum of a row may be from one for it to be one but for rounding in double precision."""

EXACT_SHARES = 1e-9
"""The same of shares, which are sums of many weights."""

BLOCK = 1 << 15
"""Numbers merged at a time: all that is made of them on the way stays in the processor's cache."""


@dataclass(frozen=True, eq=False)
class Part:
    """Scores ``prob[rows, column]``: of one class (``column`` a number) or of one class a row (an array)."""

    rows: IntArray | slice
    column: IntArray | int
    name: str

    def scores(self, prob: FloatArray) -> FloatArray:
        """Return the scores of the part, shape (number of rows,)."""
        if isinstance(self.rows, slice) and isinstance(self.column, int):
            return prob[:, self.column]  # a view: a thousand classes cost no copies
        if isinstance(self.rows, slice) and not isinstance(self.column, int) and self.rows == slice(None):
            return by_row.entry(prob, self.column)
        scores: FloatArray = prob[self._at]
        return scores

    def scores_of(self, forecast: Forecast) -> FloatArray:
        """Return the same of a forecast, of which a class may be had without a table."""
        if isinstance(self.column, int) and isinstance(self.rows, slice) and self.rows == slice(None):
            return forecast.column(self.column)
        return self.scores(forecast.as_given)

    def put(self, table: npt.NDArray[Any], values: npt.ArrayLike) -> None:
        """Write values where the scores of the part stand in a table of shape (n, K)."""
        table[self._at] = values

    @property
    def _at(self) -> tuple[IntArray | slice, IntArray | int]:
        if isinstance(self.rows, slice) and not isinstance(self.column, int):
            return np.arange(self.column.size), self.column
        return self.rows, self.column


class Notion(ABC):
    """The events whose probabilities are to be calibrated. Notions of one class with equal parameters are the same."""

    of_predictions: ClassVar[bool] = False
    """Whether its event is that a predicted class is the true one; then the event rate is an accuracy."""

    one_score_a_row: ClassVar[bool] = False
    """Whether each row stands in one part, with one class, so that events of different bins are independent."""

    @property
    @abstractmethod
    def name(self) -> str:
        """What it is called; a word that chooses it, where there is one."""

    def fitted_to(self, problem: Problem) -> Notion:
        """Return the notion with everything decided that depends on the data, such as the column of a class given by name.

        Parameters
        ----------
        problem : BinaryProblem or SimplexProblem
            What a metric measures, or a calibrator is fitted to; new rows have the same classes.

        Returns
        -------
        Notion
            Itself, if nothing is left to decide.
        """
        return self

    @abstractmethod
    def parts(self, prob: FloatArray, names: tuple[str, ...] | None = None) -> Iterator[Part]:
        """List the parts of a forecast: as many for every forecast of K classes. What labels decide, `fitted_to` has.

        Parameters
        ----------
        prob : ndarray of shape (n, K)
            The forecast.
        names : tuple of str, optional
            Names of the classes; by default their numbers.

        Yields
        ------
        Part
            One at a time.
        """

    def split(self, problem: Problem) -> Iterator[BinaryProblem]:
        """Split a problem into binary problems, one at a time; their shares sum to one.

        Parameters
        ----------
        problem : BinaryProblem or SimplexProblem
            A valid problem; a notion that is not decided is fitted to it.

        Yields
        ------
        BinaryProblem
            One a part; without rows for a class that is never predicted.

        Raises
        ------
        ValueError
            After the last one, if the shares do not sum to one, as where `parts_a_row` is forgotten.
        """
        if (known := problem.summed_parts(self)) is not None:
            yield from known
            return
        total, n_parts = 0.0, 0
        for binary in self._of_parts(self._simplex(problem)):
            total, n_parts = total + binary.share, n_parts + 1
            yield binary
        require(
            abs(total - 1.0) <= EXACT_SHARES,
            f"shares of the parts of notion {self.name!r} must sum to one",
            got=f"{total:.6g} over {n_parts} parts",
            hint="Return from parts_a_row(n_classes) in how many parts each row stands, and put every row into as many",
        )

    def _of_parts(self, simplex: SimplexProblem) -> Iterator[BinaryProblem]:
        """Yield the binary problem of each part, with its share of the weight."""
        notion, forecast = self.fitted_to(simplex), simplex.forecast
        for part in notion._parts_of(simplex, tuple(str(c) for c in simplex.classes.tolist())):
            weights = simplex.weights.part(part.rows)
            yield BinaryProblem(
                score=part.scores_of(forecast).astype(np.float64, copy=False),
                outcome=simplex.label[part.rows] == part.column,
                weights=weights,
                share=weights.total / simplex.weights.total / notion.parts_a_row(forecast.shape[1]),
                name=part.name,
                precision=simplex.precision,
            )

    def _parts_of(self, simplex: SimplexProblem, names: tuple[str, ...]) -> Iterator[Part]:
        """List the parts of a forecast, of which more may be known than its probabilities."""
        return self.parts(simplex.forecast.as_given, names)

    def n_parts(self, problem: Problem) -> int:
        """Count the parts of the forecast of a problem.

        Parameters
        ----------
        problem : BinaryProblem or SimplexProblem
            A valid problem.

        Returns
        -------
        int
            As many as `split` yields problems.
        """
        simplex = self._simplex(problem.example)
        return sum(1 for _ in self.fitted_to(simplex).parts(simplex.forecast.as_given))

    def parts_a_row(self, n_classes: int) -> int:
        """Count the parts in which each row stands.

        Parameters
        ----------
        n_classes : int
            Number of classes.

        Returns
        -------
        int
            The divisor of the shares.
        """
        return 1

    def shares(self, weight: FloatArray, total: float, n_classes: int) -> FloatArray:
        """Return the shares of problems whose rows were added up; a notion whose `split` gives others says so here as well.

        Parameters
        ----------
        weight : ndarray of shape (n_parts,)
            Weight of the rows of each part.
        total : float
            Weight of all rows.
        n_classes : int
            Number of classes.

        Returns
        -------
        ndarray of shape (n_parts,)
            Part of each in the aggregate.
        """
        return weight / total / self.parts_a_row(n_classes)

    def merge(self, prob: FloatArray, calibrated: list[FloatArray], *, normalize: bool = True) -> FloatArray:
        """Put the calibrated scores of the parts back into the forecast.

        The classes of a row that no part spoke of share what is left of one in their old proportions. Where every class
        was spoken of, or nothing is left, rows are divided by their sums; a row of zeros becomes uniform.
        Merging unchanged scores returns the forecast, where its rows sum to one but for rounding in double precision.

        Parameters
        ----------
        prob : ndarray of shape (n, K)
            The forecast as it was split.
        calibrated : list of ndarray
            New scores of each part.
        normalize : bool, default=True
            Divide rows by their sums where every class was spoken of, or nothing is left for the others.

        Returns
        -------
        ndarray of shape (n, K)
            The calibrated forecast.
        """
        merged = prob.copy()
        spoken = np.zeros(prob.shape, dtype=bool)
        for part, values in zip(self.parts(prob), calibrated, strict=True):
            part.put(merged, values)
            part.put(spoken, True)
        if not spoken.all():
            for rows in _blocks(*prob.shape):
                some, own, is_spoken = (_by_columns(table[rows]) for table in (prob, merged, spoken))
                merged[rows] = _rescaled(some, own, is_spoken, normalize)
        elif normalize:
            for rows in _blocks(*prob.shape):
                merged[rows] = _divided_by_sums(
                    merged[rows]
                )  # by rows: another order of summing moves scores over edges
        return merged

    def _simplex(self, problem: Problem) -> SimplexProblem:
        return as_simplex(problem)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))


def _blocks(n: int, n_classes: int) -> Iterator[slice]:
    step = max(1, BLOCK // n_classes)
    return (slice(start, start + step) for start in range(0, n, step))


def _by_columns(table: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a table whose sums of rows are taken column by column, where that is faster."""
    return np.asfortranarray(table) if table.shape[1] < MANY_COLUMNS else table


def _rescaled(prob: FloatArray, merged: FloatArray, spoken: BoolArray, normalize: bool) -> FloatArray:
    """Return the rows with what is left for the classes not spoken of; full ones divided by their sums, if asked for."""
    rescaled, full = _rescale_rest(prob, merged, spoken)
    if normalize and full.any():
        rescaled[full] = _divided_by_sums(rescaled[full])
    return rescaled


def _rescale_rest(prob: FloatArray, merged: FloatArray, spoken: BoolArray) -> tuple[FloatArray, BoolArray]:
    """Return the rows with what is left for the classes not spoken of, and which rows are full without it."""
    rest = ~spoken
    kept = np.where(rest, prob, 0.0)
    old = kept.sum(axis=1, keepdims=True)
    new = old + np.where(spoken, prob - merged, 0.0).sum(axis=1, keepdims=True)
    # A row that was rounded to a sum of 0.9995 has one all the same: what is left is left of one.
    missing = 1.0 - prob.sum(axis=1, keepdims=True)
    new += np.where(np.abs(missing) > EXACT_SUM, missing, 0.0)
    even = 1.0 / np.maximum(rest.sum(axis=1, keepdims=True), 1)
    # The proportions come first: new / old overflows where the rest is as small as a softmax can make it.
    proportion = np.where(old > 0, kept / np.where(old > 0, old, 1.0), even)
    rescaled = np.where(rest, np.where(new == old, prob, proportion * np.clip(new, 0.0, 1.0)), merged)
    over = (new[:, 0] < 0) & (rescaled.sum(axis=1) > 1.0)
    return rescaled, over | spoken.all(axis=1)


def _divided_by_sums(rows: FloatArray) -> FloatArray:
    sums = sum_of_rows(rows)
    if not (some := sums > 0).all():
        rows, sums = np.where(some, rows, 1.0), np.where(some, sums, rows.shape[1])
    return quotients(rows, sums)
