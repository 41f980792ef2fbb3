"""A notion turns a multiclass forecast into weighted binary problems, and back.

A notion says only one thing: which `Part`s a forecast has. A part is a column of scores: for the rows ``rows`` the
probability of the class ``column``. Splitting, shares and merging follow from the parts, for every notion alike.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from calibrant._links import FloatArray
from calibrant._problem import BinaryProblem, BoolArray, IntArray, Problem, SimplexProblem, as_simplex
from calibrant._registry import declare, find


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
        scores: FloatArray = prob[self._at]
        return scores

    def put(self, table: npt.NDArray[Any], values: npt.ArrayLike) -> None:
        """Write values where the scores of the part stand in a table of shape (n, K)."""
        table[self._at] = values

    @property
    def _at(self) -> tuple[IntArray | slice, IntArray | int]:
        if isinstance(self.rows, slice) and not isinstance(self.column, int):
            return np.arange(self.column.size), self.column
        return self.rows, self.column


def top_label(prob: FloatArray) -> IntArray:
    """Column of the highest probability of each row; of equal ones the first."""
    top: IntArray = prob.argmax(axis=1)
    return top


class Notion(ABC):
    """What a calibration statement speaks of. Stateless; two notions of one class are the same notion."""

    name: str

    @abstractmethod
    def parts(self, prob: FloatArray, names: tuple[str, ...] | None = None) -> Iterator[Part]:
        """List the parts of a forecast: as many for every forecast of K classes. No labels are needed.

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
            A valid problem.

        Yields
        ------
        BinaryProblem
            One a part; without rows for a class that is never predicted.
        """
        simplex = self._simplex(problem)
        total = float(simplex.weight.sum())
        for part in self.parts(simplex.prob, tuple(str(c) for c in simplex.classes.tolist())):
            weight = simplex.weight[part.rows]
            yield BinaryProblem(
                score=part.scores(simplex.prob),
                outcome=simplex.label[part.rows] == part.column,
                weight=weight,
                share=float(weight.sum()) / total / self.parts_a_row(simplex.prob.shape[1]),
                name=part.name,
            )

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

    def merge(self, prob: FloatArray, calibrated: list[FloatArray], *, normalize: bool = True) -> FloatArray:
        """Put the calibrated scores of the parts back into the forecast.

        The classes of a row that no part spoke of share what is left in their old proportions. Where every class
        was spoken of, rows are divided by their sums; a row of zeros becomes uniform.
        Merging unchanged scores returns the forecast.

        Parameters
        ----------
        prob : ndarray of shape (n, K)
            The forecast as it was split.
        calibrated : list of ndarray
            New scores of each part.
        normalize : bool, default=True
            Divide rows by their sums where every class was spoken of.

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
            return _rescale_rest(prob, merged, spoken)
        if not normalize:
            return merged
        sums = merged.sum(axis=1, keepdims=True)
        return np.where(sums > 0, merged / np.where(sums > 0, sums, 1.0), 1.0 / prob.shape[1])

    def _simplex(self, problem: Problem) -> SimplexProblem:
        return as_simplex(problem)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))


def _rescale_rest(prob: FloatArray, merged: FloatArray, spoken: BoolArray) -> FloatArray:
    rest = ~spoken
    kept = np.where(rest, prob, 0.0)
    old = kept.sum(axis=1, keepdims=True)
    new = old + np.where(spoken, prob - merged, 0.0).sum(axis=1, keepdims=True)
    even = 1.0 / rest.sum(axis=1, keepdims=True)
    # The proportions come first: new / old overflows where the rest is as small as a softmax can make it.
    proportion = np.where(old > 0, kept / np.where(old > 0, old, 1.0), even)
    return np.where(rest, np.where(new == old, prob, proportion * np.clip(new, 0.0, 1.0)), merged)


@declare("notion", "binary", symbol="binary", source="Silva Filho et al. 2023, Def. 2")
class Binary(Notion):
    """The probability of the positive class: column 1 of 2."""

    name = "binary"

    def parts(self, prob: FloatArray, names: tuple[str, ...] | None = None) -> Iterator[Part]:
        """One part: column 1."""
        if prob.shape[1] != 2:
            raise ValueError(
                f"notion 'binary' speaks of two classes; the forecast has {prob.shape[1]}. "
                "Choose 'confidence', 'top-label' or 'class-wise'."
            )
        yield Part(slice(None), 1, f"class {names[1] if names else 1}")

    def split(self, problem: Problem) -> Iterator[BinaryProblem]:
        """Yield a binary problem as it is, or column 1 of a forecast of two classes."""
        return iter((problem,)) if isinstance(problem, BinaryProblem) else super().split(problem)


@declare("notion", "confidence", symbol="conf", source="Guo et al. 2017")
class Confidence(Notion):
    """The highest probability of each row, and whether the class that has it came."""

    name = "confidence"

    def parts(self, prob: FloatArray, names: tuple[str, ...] | None = None) -> Iterator[Part]:
        """One part: the top probability of every row."""
        yield Part(slice(None), top_label(prob), "confidence")


@declare("notion", "top-label", symbol="TL", source="Gupta and Ramdas 2022, Def. 1")
class TopLabel(Notion):
    """The highest probability, given which class has it: one problem for each predicted class."""

    name = "top-label"

    def parts(self, prob: FloatArray, names: tuple[str, ...] | None = None) -> Iterator[Part]:
        """K parts: the rows that predict class j, with the probability of j."""
        top = top_label(prob)
        order = np.argsort(top, kind="stable")
        ends = np.cumsum(np.bincount(top, minlength=prob.shape[1]))
        for j, rows in enumerate(np.split(order, ends[:-1])):
            yield Part(rows, j, f"predicted {names[j] if names else j}")


@declare("notion", "class-wise", symbol="CW", source="Zadrozny and Elkan 2002")
class ClassWise(Notion):
    """Each class against the rest, with equal shares."""

    name = "class-wise"

    def parts(self, prob: FloatArray, names: tuple[str, ...] | None = None) -> Iterator[Part]:
        """K parts: each column."""
        for j in range(prob.shape[1]):
            yield Part(slice(None), j, f"class {names[j] if names else j}")

    def parts_a_row(self, n_classes: int) -> int:
        """Every row stands in every part."""
        return n_classes


def as_notion(notion: str | Notion | None, problem: Problem | None = None) -> Notion:
    """Return the notion of that name; by default ``binary`` for one column of scores and ``confidence`` for more."""
    if isinstance(notion, Notion):
        return notion
    if notion is None:
        return Binary() if isinstance(problem, BinaryProblem) else Confidence()
    if not isinstance(notion, str):
        raise TypeError(f"notion must be a name or a Notion; got {notion!r}. See `calibrant list notions`.")
    found: Notion = find("notion", notion).target()
    return found
