"""A notion turns a multiclass forecast into weighted binary problems, and back.

A notion says only one thing: which `Part`s a forecast has. A part is a column of scores: for the rows ``rows`` the
probability of the class ``column``. Splitting, shares and merging follow from the parts, for every notion alike.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple, Unpack

import numpy as np
from scipy.special import betainc

from calibrant._core import arrays
from calibrant._core import rows as _rows
from calibrant._core.arrays import ArrayLike, FloatArray, NDArray, is_whole
from calibrant._core.border import DataOptions, Labels, as_labels, as_problem
from calibrant._core.checks import folded, no_class, number, of_type, refuse, require, whole
from calibrant._core.registry import declare, find, named
from calibrant._core.result import read_only
from calibrant._core.rows import BinaryProblem, IntArray, Predicted, Problem, as_simplex

__all__ = [
    "Binary",
    "BinaryProblem",
    "ClassWise",
    "Confidence",
    "Flattened",
    "Notion",
    "OneVsRest",
    "SharedClassWise",
    "ThresholdedClassWise",
    "TopKConfidence",
    "TopKLabel",
    "TopLabel",
    "WithinGroups",
    "binary_problems",
]


# What a notion is: which parts a forecast has. Splitting, shares and merging follow from the parts


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
        if isinstance(self.rows, slice) and np.ndim(self.column):
            return _rows.entry(prob[self.rows], np.asarray(self.column))
        return prob[self.rows, self.column]  # of a slice a view: a thousand classes cost no copies

    def put(self, table: NDArray[Any], values: ArrayLike) -> None:
        """Write values where the scores of the part stand in a table of shape (n, K)."""
        of_slice = isinstance(self.rows, slice) and np.ndim(self.column)
        table[np.arange(np.size(self.column)) if of_slice else self.rows, self.column] = values


class Stacked(NamedTuple):
    """The rows of all binary problems of a notion in one; of each the number of its problem; and the names of the problems."""

    rows: BinaryProblem
    part: IntArray
    names: list[str]


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

        Returns
        -------
        iterator of BinaryProblem
            One a part; without rows for a class that is never predicted.

        Raises
        ------
        ValueError
            After the last one, if the shares do not sum to one, as where `parts_a_row` is forgotten.
        """
        known = problem.summed_parts(self)
        return self._split(problem) if known is None else iter(known)

    def _split(self, problem: Problem) -> Iterator[BinaryProblem]:
        """Yield the binary problem of each part, with its share of the weight."""
        simplex = as_simplex(problem)
        notion, forecast, whole, total = self.fitted_to(simplex), simplex.forecast, simplex.weights.total, 0.0
        n_parts_a_row = notion.parts_a_row(forecast.shape[1])
        for part in notion.parts(forecast.as_given, tuple(map(str, simplex.classes.tolist()))):
            weights, j = simplex.weights.part(part.rows), part.column
            share = weights.total / whole / n_parts_a_row
            score = part.scores(forecast.as_given) if np.ndim(j) else forecast.column(int(j))[part.rows]
            total += share
            yield BinaryProblem(
                score=score.astype(np.float64, copy=False),
                outcome=simplex.label[part.rows] == j,
                weights=weights,
                share=share,
                name=part.name,
                precision=simplex.precision,
            )
        self._require_shares(total)

    def _require_shares(self, total: float) -> None:
        must = f"shares of the parts of notion {self.name!r} must sum to one"
        hint = "Return from parts_a_row(n_classes) in how many parts each row stands, and put every row into as many"
        require(abs(total - 1.0) <= EXACT_SHARES, must, got=f"{total:.6g}", hint=hint)

    def _stacked(self, problem: Problem) -> Stacked | None:
        """Return the rows of all binary problems in one, for bins that are the same for all; None where each is cut alone."""
        return None

    def _of_rows(self, rows: IntArray) -> Notion:
        """Return the notion of some rows of the table, perhaps repeated."""
        return self

    def _of_pair(self, predicted: Predicted) -> Notion:
        """Return the form for predicted classes and their probabilities; a notion that needs the other classes is refused."""
        must = "notion must be 'top-label' or 'confidence' where y_pred is given"
        got = f"{self.name!r}, which speaks of classes that are not predicted"
        require(named(type(self)) is None, must, got=got, hint="Pass one of the two, or the whole table without y_pred")
        return self

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
        simplex = as_simplex(problem.example)
        return len(list(self.fitted_to(simplex).parts(simplex.forecast.as_given)))

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
        is_whole, step = spoken.all(), max(1, BLOCK // prob.shape[1])
        for start in range(0, len(prob), step) if normalize or not is_whole else ():
            rows = slice(start, start + step)
            if is_whole:  # by rows: another order of summing moves scores over edges
                merged[rows] = _divided_by_sums(merged[rows])
            else:
                merged[rows] = _rescaled(prob[rows], merged[rows], spoken[rows], normalize)
        return merged

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))


def _rescaled(prob: FloatArray, merged: FloatArray, spoken: _rows.BoolArray, normalize: bool) -> FloatArray:
    """Return the rows with what is left for the classes not spoken of; full ones divided by their sums, if asked for."""
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
    full = spoken.all(axis=1) | (new[:, 0] < 0) & (rescaled.sum(axis=1) > 1.0)
    if normalize and full.any():
        rescaled[full] = _divided_by_sums(rescaled[full])
    return rescaled


def _divided_by_sums(rows: FloatArray) -> FloatArray:
    sums = arrays.sum_of_rows(rows)
    if not (some := sums > 0).all():
        rows, sums = np.where(some, rows, 1.0), np.where(some, sums, rows.shape[1])
    return arrays.quotients(rows, sums)


NotionLike = str | Notion | None
"""What a function takes for a notion: its name, itself, or the usual one."""


# The event of two classes


@declare("notion", "binary", symbol="binary", source="Silva Filho et al. 2023, Def. 2")
class Binary(Notion):
    """The probability of the positive class: column 1 of 2."""

    name = "binary"
    one_score_a_row = True

    def parts(self, prob: FloatArray, names: tuple[str, ...] | None = None) -> Iterator[Part]:
        """One part: column 1."""
        hint = "Choose 'confidence', 'top-label', 'top-3-label' or 'class-wise'"
        given = f"the forecast has {prob.shape[1]}"
        require(prob.shape[1] == 2, "notion 'binary' speaks of two classes", given=given, hint=hint)
        yield Part(slice(None), 1, f"class {names[1] if names else 1}")

    def _of_pair(self, predicted: Predicted) -> Notion:
        return self

    def _split(self, problem: Problem) -> Iterator[BinaryProblem]:
        """Yield a binary problem with a name, or that of its event, or column 1 of a forecast of two classes."""
        if isinstance(problem, BinaryProblem):
            yield problem if problem.name else replace(problem, name=f"class {problem.classes[1]}")
            return
        # The difference of two logits is exact where the probability has long become 0 or 1.
        logit = problem.forecast.log_odds if problem.forecast.is_logit and problem.forecast.shape[1] == 2 else None
        for binary in super()._split(problem):
            # The score is that of one column of logits, to the last digit.
            score = binary.score if logit is None else arrays.score_of_logit(logit)
            yield replace(binary, score=score, classes=problem.classes, logit=logit)


# Each class against the rest


@declare("notion", "class-wise", symbol="CW", source="Zadrozny and Elkan 2002")
class ClassWise(Notion):
    """Each class against the rest, with equal shares."""

    name = "class-wise"

    def parts(self, prob: FloatArray, names: tuple[str, ...] | None = None) -> Iterator[Part]:
        """K parts: each column."""
        return (Part(slice(None), j, f"class {names[j] if names else j}") for j in range(prob.shape[1]))

    def _stacked(self, problem: Problem) -> Stacked | None:
        """Each row once a class; of a class with parts of its own each part by itself."""
        if type(self) is not ClassWise:
            return None
        simplex = as_simplex(problem)
        (n, n_classes), prob, own = simplex.forecast.shape, simplex.forecast.as_given, simplex.weights
        outcome = np.zeros((n, n_classes), dtype=np.bool_)
        outcome[np.arange(n), simplex.label] = True
        weights = _rows.Weights.one_each(prob.size) if own.is_unit else own.like(np.repeat(own.values, n_classes))
        score = prob.ravel().astype(np.float64, copy=False)
        rows = BinaryProblem(score, outcome.ravel(), weights, precision=simplex.precision)
        return Stacked(rows, np.tile(np.arange(n_classes), n), [f"class {name}" for name in simplex.classes.tolist()])

    def parts_a_row(self, n_classes: int) -> int:
        """Every row stands in every part."""
        return n_classes


# All classes pooled into one problem


@declare("notion", "flattened", symbol="F", source="Patel et al. 2021; Zhang et al. 2020")
class Flattened(Notion):
    """The probability of every class in every row, and whether it is the true class: one problem of n times K scores.

    It forgets which class a score belongs to: a calibrator of it maps the scores of all classes alike. With isotonic
    regression that is flattened isotonic regression (FIR).
    """

    name = "flattened"

    def parts(self, prob: FloatArray, names: tuple[str, ...] | None = None) -> Iterator[Part]:
        """One part: the whole table, row by row."""
        n, n_classes = prob.shape
        yield Part(np.repeat(np.arange(n), n_classes), np.tile(np.arange(n_classes), n), "all classes")

    def parts_a_row(self, n_classes: int) -> int:
        """Every row stands in the one part with each of its classes."""
        return n_classes


# Rows by the group in which they stand


def rows_by_group(group: NDArray[np.integer], n_groups: int) -> list[IntArray]:
    """Rows of each of the groups 0, 1, ..., in their order."""
    # NumPy's stable sort of integers of one or two bytes counts and does not compare.
    order = np.argsort(group.astype(np.min_scalar_type(n_groups - 1), copy=False), kind="stable")
    ends = np.cumsum(np.bincount(group, minlength=n_groups))
    return np.split(order, ends[:-1])


# One class against the rest


@declare("notion", "one-vs-rest", symbol="j", source="Silva Filho et al. 2023, Def. 3")
@dataclass(frozen=True, repr=True)
class OneVsRest(Notion):
    """One class against the rest: the event of class-j calibration.

    Parameters
    ----------
    column : int or str, default=-1
        Number of the column, from 0; negative from the end, so that by default of two classes it is the event. Or the name
        of the class, which metrics and curves look up among the labels.

    Examples
    --------
    >>> from calibrant import expected_calibration_error
    >>> from calibrant.notions import OneVsRest
    >>> P = [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.3, 0.3, 0.4]]
    >>> round(expected_calibration_error(["a", "b", "c"], P, notion=OneVsRest("b")), 3)
    0.233
    """

    column: int | str = -1

    name = "one-vs-rest"
    one_score_a_row = True

    def __post_init__(self) -> None:
        fits = isinstance(self.column, str) or is_whole(self.column)
        must = "column must be a number of a column or a name of a class"
        require(fits, must, value=self.column, hint="Pass an int or a str", error=TypeError)

    def fitted_to(self, problem: Problem) -> Notion:
        """Look the name up."""
        if not isinstance(self.column, str):
            return self
        names = [str(c) for c in problem.classes.tolist()]
        known = f"{', '.join(map(repr, names[:5]))}{', ...' if len(names) > 5 else ''}"
        hint = "Pass one of them, or the number of the column"
        require(self.column in names, f"column must be among the classes {known}", value=self.column, hint=hint)
        return OneVsRest(names.index(self.column))

    def parts(self, prob: FloatArray, names: tuple[str, ...] | None = None) -> Iterator[Part]:
        """One part: the column."""
        n_classes, given, numbers = prob.shape[1], self.column, f"0 to {prob.shape[1] - 1}"
        if isinstance(given, str):
            must = "column must be a number where the names of the classes are not known"
            refuse(must, value=given, hint=f"Pass the number of the column, {numbers}")
        must = f"column must be among the {n_classes} columns of the forecast"
        require(-n_classes <= given < n_classes, must, value=given, hint=f"Pass {numbers}")
        j = int(given) % n_classes
        yield Part(slice(None), j, f"class {names[j] if names else j}")


# The class that a forecast predicts, and its probability


@declare("notion", "confidence", symbol="conf", source="Guo et al. 2017")
class Confidence(Notion):
    """The highest probability of each row, and whether the class that has it is the true class."""

    name = "confidence"
    of_predictions = True
    one_score_a_row = True

    def parts(self, prob: FloatArray, names: tuple[str, ...] | None = None) -> Iterator[Part]:
        """One part: the top probability of every row."""
        yield Part(slice(None), _rows.top_column(prob), self.name)

    def _of_pair(self, predicted: Predicted) -> Notion:
        return PairConfidence()

    def _split(self, problem: Problem) -> Iterator[BinaryProblem]:
        """Return the one problem."""
        simplex = as_simplex(problem)
        top, forecast = simplex.top, simplex.forecast
        score, occurred = _rows.entry(forecast.as_given, top), simplex.label == top
        return iter([BinaryProblem(score, occurred, simplex.weights, name=self.name, precision=forecast.precision)])


@declare("notion", "top-label", symbol="TL", source="Gupta and Ramdas 2022, Def. 1")
class TopLabel(Notion):
    """The highest probability, given which class has it: one problem for each predicted class."""

    name = "top-label"
    of_predictions = True
    one_score_a_row = True

    def parts(self, prob: FloatArray, names: tuple[str, ...] | None = None) -> Iterator[Part]:
        """K parts: the rows that predict class j, with the probability of j."""
        for j, rows in enumerate(rows_by_group(_rows.top_column(prob), prob.shape[1])):
            yield Part(rows, j, f"predicted {names[j] if names else j}")

    def _of_pair(self, predicted: Predicted) -> Notion:
        return PairTopLabel(predicted)

    def _stacked(self, problem: Problem) -> Stacked | None:
        """The rows of the confidence, each in the part of its predicted class; of a class with parts of its own each alone."""
        if type(self) is not TopLabel:
            return None
        simplex = as_simplex(problem)
        (rows,) = CONFIDENCE.split(simplex)
        return Stacked(rows, simplex.top, [f"predicted {name}" for name in simplex.classes.tolist()])


# Each class against the rest, in one problem with the classes of similar frequency


LEVEL = 0.05
"""Probability at most of more than one group, where the priors of all classes are within the ratio."""

NAMED = 3
"""Classes of a group that its name lists."""


@declare("notion", "shared-class-wise", symbol="sCW", source="Patel et al. 2021")
@dataclass(frozen=True, repr=False)
class SharedClassWise(Notion):
    """Each class against the rest, with classes of similar frequency in one problem; classes have equal shares (sCW).

    Between ``class-wise``, where each class stands alone and a rare one has few rows, and ``flattened``, where all are one.
    A calibrator of it has one map a group. With isotonic regression and one group it is flattened isotonic regression (FIR).

    Parameters
    ----------
    groups : array-like of shape (n_classes,), optional
        The group of each class, in the order of the columns: integers, strings or booleans. By default groups are found from
        the labels: of a metric its own, of a calibrator those that it is fitted to.
    ratio : float, default=2.0
        At least 1. Classes share a problem unless the labels show that one occurs more than so many times as often as the
        other. Not used where ``groups`` are given.

    Notes
    -----
    Groups are found from the most frequent class down: a new one begins with the first class that is shown to be less than
    1 / ratio times as frequent as the most frequent one of the group. A binomial test shows it: if the class were just
    1 / ratio times as frequent, so uneven a division of the rows of the two classes would have a probability below
    0.05 / (K (K - 1)). This tail is exact given how many rows the two have; there are K (K - 1) such comparisons of K classes.
    So if no class is more than ``ratio`` times as frequent as another, all are one group in at least 95 of 100 data sets.
    Without the test noise would make the groups: the classes that are frequent by chance are those whose observed rates are
    too high. Few rows make few groups.

    Whole weights are rows; others count as their effective number of rows (Kish).

    References
    ----------
    Patel, Beluch, Yang, Pfeiffer, Zhang, Multi-class uncertainty calibration via mutual information maximization-based binning,
    ICLR 2021.

    Examples
    --------
    >>> from calibrant import ByNotion, IsotonicCalibration, calibration_error, load_digits_forecast
    >>> from calibrant.notions import SharedClassWise
    >>> y, prob = load_digits_forecast()
    >>> ByNotion(IsotonicCalibration(), "shared-class-wise").fit(prob, y).notion_  # digits are equally frequent
    SharedClassWise(1 group of 10 classes)
    >>> P = [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.3, 0.3, 0.4]]
    >>> round(calibration_error(["a", "b", "c"], P, notion=SharedClassWise(["common", "common", "rare"])), 3)
    0.244
    """

    groups: ArrayLike | None = None
    ratio: float = 2.0

    name = "shared-class-wise"

    def __post_init__(self) -> None:
        hint = "Pass how many times, such as 2.0"
        object.__setattr__(self, "ratio", number("ratio", self.ratio, least=1.0, hint=hint))
        if self.groups is not None:
            _, code = np.unique(_as_groups(self.groups), return_inverse=True)
            object.__setattr__(self, "groups", tuple(code.tolist()))

    def fitted_to(self, problem: Problem) -> Notion:
        """Find the groups, if they are not given."""
        if self.groups is not None:
            return self
        simplex = as_simplex(problem)
        weight = np.bincount(simplex.label, simplex.weight, simplex.classes.size)
        rows: FloatArray = np.asarray(weight * simplex.weights.effective_rows_per_weight, dtype=np.float64)
        return replace(self, groups=_groups(rows, self.ratio))

    def parts(self, prob: FloatArray, names: tuple[str, ...] | None = None) -> Iterator[Part]:
        """One part a group: the columns of its classes, row by row."""
        n, n_classes = prob.shape
        for columns in self._columns(n_classes):
            classes = [names[j] if names else str(j) for j in columns]
            more = f", ... ({len(classes)})" if len(classes) > NAMED else ""
            name = f"class{'es' if len(classes) > 1 else ''} {', '.join(classes[:NAMED])}{more}"
            name = "all classes" if len(classes) == n_classes else name
            if columns.size == 1:
                yield Part(slice(None), int(columns[0]), name)
            else:
                yield Part(np.repeat(np.arange(n), columns.size), np.tile(columns, n), name)

    def parts_a_row(self, n_classes: int) -> int:
        """Every row stands in the parts with each of its classes."""
        return n_classes

    def _columns(self, n_classes: int) -> list[IntArray]:
        """Columns of each group."""
        must = "groups must be known where no labels show how often classes occur"
        hint = "Pass the group of each class, or ask fitted_to(problem)"
        require(self.groups is not None, must, got="none", hint=hint)
        code, must = np.asarray(self.groups), f"groups must have one value for each of the {n_classes} classes"
        hint = "Pass the group of each class, in the order of the columns"
        require(code.size == n_classes, must, value=code.size, hint=hint)
        return rows_by_group(code, int(code.max()) + 1)

    def __repr__(self) -> str:
        if self.groups is None:
            return f"SharedClassWise(ratio={self.ratio:g})"
        n_groups = int(np.max(self.groups)) + 1
        return f"SharedClassWise({n_groups} group{'s' * (n_groups > 1)} of {np.size(self.groups)} classes)"


def _as_groups(groups: ArrayLike) -> Labels:
    """Return the group of each class, as labels."""
    wanted = "groups must be a list with the group of each class"
    try:
        shape = arrays.as_array("groups", groups).shape
    except ValueError as error:
        if "equal lengths" not in str(error):
            raise
        refuse(wanted, got="rows of different lengths", hint="Pass [0, 0, 1]")
    require(len(shape) == 1, wanted, got=f"shape {shape}", hint="Pass [0, 0, 1]")
    return as_labels(groups, "groups")


def _groups(occurred: FloatArray, ratio: float) -> IntArray:
    """Number the group of each class, from the most frequent class down."""
    order = np.argsort(-occurred, kind="stable")
    level, share = LEVEL / (occurred.size * (occurred.size - 1)), ratio / (ratio + 1.0)
    group: IntArray = np.zeros(occurred.size, dtype=np.intp)
    first = order[0]
    for before, this in pairwise(order):
        # The probability of occurred[first] or more of the rows of both; of weights between whole numbers, too.
        parted = betainc(occurred[first], occurred[this] + 1.0, share) < level
        group[this] = group[before] + parted
        first = this if parted else first
    return group


# Each class against the rest, where its probability is not small


@declare("notion", "thresholded-class-wise", symbol="TCW", source="Nixon et al. 2019")
@dataclass(frozen=True, repr=True)
class ThresholdedClassWise(Notion):
    """Each class against the rest, where its probability is not small; with equal shares.

    Of many classes most probabilities are near zero, and hide the others in a mean over all rows. A class without any
    probability of at least the threshold has no share; if there is none in the whole table nothing is measured, and an error
    is 0.

    Parameters
    ----------
    threshold : float, optional
        Least probability that counts. By default 1 / n_classes.

    References
    ----------
    Nixon, Dusenberry, Zhang, Jerfel, Tran, Measuring calibration in deep learning, CVPR workshops 2019.

    Examples
    --------
    >>> from calibrant import calibration_error
    >>> from calibrant.notions import ThresholdedClassWise
    >>> P = [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.3, 0.3, 0.4]]
    >>> round(calibration_error(["a", "b", "c"], P, notion=ThresholdedClassWise(0.35)), 3)
    0.367
    """

    threshold: float | None = None

    name = "thresholded-class-wise"

    def __post_init__(self) -> None:
        if self.threshold is not None:
            number("threshold", self.threshold, least=0.0, most=1.0, hint="Leave it out for 1 / n_classes")

    def parts(self, prob: FloatArray, names: tuple[str, ...] | None = None) -> Iterator[Part]:
        """K parts: the rows that reach the threshold in class j."""
        for j in range(prob.shape[1]):
            yield Part(np.flatnonzero(prob[:, j] >= self._least(prob)), j, f"class {names[j] if names else j}")

    def _split(self, problem: Problem) -> Iterator[BinaryProblem]:
        """Give equal shares to the classes that have rows."""
        prob = as_simplex(problem).forecast.as_given
        speaks = prob.max(axis=0) >= self._least(prob)
        shares = self.shares(speaks.astype(np.float64), 1.0, speaks.size)
        for binary, share in zip(super()._split(problem), shares.tolist(), strict=True):
            yield replace(binary, share=share)

    def _require_shares(self, total: float) -> None:
        """Shares are not those of the rows."""

    def shares(self, weight: FloatArray, total: float, n_classes: int) -> FloatArray:
        """Return equal shares of the parts that have rows; if none has, of all."""
        speaks = weight > 0.0 if weight.any() else np.ones(weight.size, dtype=bool)
        return np.asarray(speaks / speaks.sum())

    def _least(self, prob: FloatArray) -> float:
        return 1.0 / prob.shape[1] if self.threshold is None else self.threshold


# The classes that a forecast ranks highest, and their probabilities


def top_labels(prob: FloatArray, k: int) -> IntArray:
    """Columns of the k highest probabilities of each row, shape (n, k), highest first; of equal ones the first column."""
    return np.argsort(-prob, axis=1, kind="stable")[:, :k]


@dataclass(frozen=True, repr=True)
class TopK(Notion):
    """A notion of the k highest probabilities of each row; ``what`` is the last part of its name."""

    of_predictions: ClassVar[bool] = True
    what: ClassVar[str]

    k: int | None = None

    @property
    def name(self) -> str:
        """The word, with its number."""
        return f"top-{'k' if self.k is None else self.k}-{self.what}"

    def __post_init__(self) -> None:
        if self.k is not None:
            hint = "Pass how many ranks are spoken of, or leave it out for all classes"
            object.__setattr__(self, "k", whole("k", self.k, least=1, hint=hint))

    def parts_a_row(self, n_classes: int) -> int:
        """Every row stands in one part a rank."""
        return n_classes if self.k is None else self.k

    def _ranked(self, prob: FloatArray) -> IntArray:
        n_classes, fits = prob.shape[1], self.k is None or self.k <= prob.shape[1]
        must = f"k of notion 'top-k-{self.what}' must be at most the number of classes, {n_classes}"
        require(fits, must, value=self.k, hint=f"Pass 1 to {n_classes}, or leave it out for all classes")
        return top_labels(prob, self.parts_a_row(n_classes))


@declare("notion", "top-k-confidence", symbol="top-K-conf", source="K. Gupta et al. 2021")
@dataclass(frozen=True, repr=True)
class TopKConfidence(TopK):
    """The k-th highest probability of each row, and whether the class that has it is the true one: a problem a rank.

    Each rank has an equal share. Of equal probabilities the first column ranks higher, so that with ``k=1`` it is the notion
    ``"confidence"``. In a word: ``"top-3-confidence"``.

    Parameters
    ----------
    k : int, optional
        Number of ranks, at most the number of classes. By default all classes.

    References
    ----------
    Gupta, Rahimi, Ajanthan, Mensink, Sminchisescu, Hartley, Calibration of neural networks using splines, ICLR 2021.

    Examples
    --------
    >>> from calibrant import calibration_error
    >>> from calibrant.notions import TopKConfidence
    >>> P = [[0.8, 0.15, 0.05], [0.2, 0.7, 0.1], [0.3, 0.2, 0.5]]
    >>> round(calibration_error([0, 1, 0], P, notion=TopKConfidence(2), binning=1), 3)
    0.058
    """

    what: ClassVar[str] = "confidence"

    def parts(self, prob: FloatArray, names: tuple[str, ...] | None = None) -> Iterator[Part]:
        """One part a rank: the probability of that rank in every row."""
        for rank, column in enumerate(self._ranked(prob).T, start=1):
            yield Part(slice(None), column, f"rank {rank}")


@declare("notion", "top-k-label", symbol="top-K-TL", source="Gupta and Ramdas 2022, Table 1")
@dataclass(frozen=True, repr=True)
class TopKLabel(TopK):
    """The k-th highest probability, given which class has it: one problem for each rank and class.

    Each rank has an equal share, and in it each class its share of the rows. Of equal probabilities the first column ranks
    higher, so that with ``k=1`` it is the notion ``"top-label"``. In a word: ``"top-3-label"``.

    Parameters
    ----------
    k : int, optional
        Number of ranks, at most the number of classes. By default all classes.

    References
    ----------
    Gupta, Ramdas, Top-label calibration and multiclass-to-binary reductions, ICLR 2022.

    Examples
    --------
    >>> from calibrant import calibration_error
    >>> from calibrant.notions import TopKLabel
    >>> P = [[0.8, 0.15, 0.05], [0.2, 0.7, 0.1], [0.3, 0.2, 0.5]]
    >>> round(calibration_error([0, 1, 0], P, notion=TopKLabel(2), binning=1), 3)
    0.275
    """

    what: ClassVar[str] = "label"

    def parts(self, prob: FloatArray, names: tuple[str, ...] | None = None) -> Iterator[Part]:
        """K parts a rank: the rows in which class j has it, with the probability of j."""
        n_classes = prob.shape[1]
        for rank, column in enumerate(self._ranked(prob).T, start=1):
            for j, rows in enumerate(rows_by_group(column, n_classes)):
                yield Part(rows, j, f"rank {rank}, predicted {names[j] if names else j}")


# A forecast of one event, group by group


class WithinGroups(Notion):
    """The probability of the event, given the group of the row: one problem for each group, its share that of its rows.

    The groups are those of the rows of one table: a notion for metrics and curves, and not for calibrators. Where the group is
    the predicted class, pass ``y_pred=`` and ``notion="top-label"``.

    Parameters
    ----------
    groups : array-like of shape (n_samples,)
        The group of each row: integers, strings or booleans.

    Raises
    ------
    ValueError
        If the forecast is of more than two classes, or has not as many rows as there are groups. Rows of weight zero are left
        out before a notion is asked: leave them out of all arrays.

    Examples
    --------
    >>> from calibrant import calibration_error
    >>> from calibrant.notions import WithinGroups
    >>> group = ["old", "old", "young", "young"]
    >>> calibration_error([1, 0, 1, 1], [0.5, 0.5, 0.75, 0.75], notion=WithinGroups(group))
    0.125
    """

    name = "within-groups"
    one_score_a_row = True
    word: ClassVar[str] = "group"

    def __init__(self, groups: ArrayLike) -> None:
        known, code = np.unique(as_labels(groups, "groups"), return_inverse=True)
        self.known, self.code = tuple(known.tolist()), read_only(code)

    def parts(self, prob: FloatArray, names: tuple[str, ...] | None = None) -> Iterator[Part]:
        """One part a group: its rows, with the probability of column 1."""
        n_classes, hint = prob.shape[1], "Pass one probability a row, and whether the event occurred"
        given = f"the forecast has {n_classes} classes"
        require(n_classes == 2, "notion 'within-groups' speaks of one event", given=given, hint=hint)
        must, got = "groups must have one value for each row that counts", f"{self.code.size} for {len(prob)} rows"
        hint = "Pass the group of each row; leave rows of weight zero out of all arrays"
        require(len(prob) == self.code.size, must, got=got, hint=hint)
        for group, rows in zip(self.known, rows_by_group(self.code, len(self.known)), strict=True):
            yield Part(rows, 1, f"{self.word} {group}")

    def _of_rows(self, rows: IntArray) -> Notion:
        found = copy(self)
        found.code = read_only(self.code[rows])
        return found

    def _split(self, problem: Problem) -> Iterator[BinaryProblem]:
        """Yield the rows of each group, with their logits where the forecast was given as logits."""
        parts = list(self.parts(as_simplex(problem).prob))
        (whole,) = Binary().split(problem)
        for part in parts:
            group = whole.at(part.rows)
            yield replace(group, share=group.weights.total / whole.weights.total, name=part.name, predicted=None)

    def __repr__(self) -> str:
        return f"WithinGroups({len(self.known)} groups of {self.code.size} rows)"

    def __eq__(self, other: object) -> bool:
        same: Any = other
        return type(self) is type(other) and self.known == same.known and np.array_equal(self.code, same.code)

    def __hash__(self) -> int:
        return hash((self.known, self.code.tobytes()))


# Notions for a pair: a predicted class, and its probability alone


class PairConfidence(Binary):
    """The probability of the predicted class, and whether it is the true class."""

    name = "confidence"
    of_predictions = True

    def _split(self, problem: Problem) -> Iterator[BinaryProblem]:
        """Yield the one problem."""
        (whole,) = super()._split(problem)
        yield replace(whole, name=self.name, predicted=None)


class PairTopLabel(WithinGroups):
    """The same, given which class is predicted: one problem for each class."""

    name = "top-label"
    word = "predicted"
    of_predictions = True

    def __init__(self, predicted: Predicted) -> None:
        super().__init__(predicted.code)
        self.known, self.code = tuple(str(c) for c in predicted.classes.tolist()), predicted.code

    def __repr__(self) -> str:
        return f"TopLabel({len(self.known)} classes of {self.code.size} predictions)"


# The words by which notions are chosen


BINARY, CONFIDENCE = Binary(), Confidence()

TOP_K = re.compile(r"top[-_ ]([0-9]+)[-_ ](confidence|label)", re.IGNORECASE)


def as_notion(notion: NotionLike, problem: Problem | None = None, *, of_many: str | Notion = CONFIDENCE) -> Notion:
    """Return the notion of that name; where none is given, the default, which is decided here and nowhere else.

    Two classes have one event: the default is ``binary``, of one column and of two. ``of_many`` is the default of more classes.
    """
    if problem is not None and problem.predicted is not None:
        return (CONFIDENCE if notion is None else as_notion(notion))._of_pair(problem.predicted)
    if notion is None:
        notion = BINARY if problem is not None and problem.classes.size == 2 else of_many
    chosen = notion if isinstance(notion, Notion) else _known(notion) if isinstance(notion, str) else _of_word(notion)
    return chosen if problem is None else chosen.fitted_to(problem)


def _of_word(notion: str) -> Notion:
    no_class("notion", notion, wanted="a name or a Notion")
    of_type("notion", notion, str, "a name or a Notion", hint="See `calibrant list notions`")
    if top := TOP_K.fullmatch(notion):
        return (TopKConfidence if top[2].lower() == "confidence" else TopKLabel)(int(top[1]))
    must, got = "notion must make binary problems of a forecast", f"{notion!r}, which speaks of whole rows"
    hint = "Measure with canonical_calibration_error, calibrate with CanonicalBinning"
    require(folded(notion) != "canonical", must, got=got, hint=hint)
    try:
        found: Notion = find("notion", notion).target()
    except ValueError as error:
        raise ValueError(f"{error} For the k of 'top-k-label' write a number, as in 'top-3-label'.") from None
    return found


_known = lru_cache(_of_word)


# The data that a notion looks at


def binary_problems(
    y_true: ArrayLike,
    y_prob: ArrayLike | None = None,
    *,
    notion: NotionLike = None,
    **data: Unpack[DataOptions],
) -> list[BinaryProblem]:
    """List the binary problems of a notion: the data that its errors are measured on and its calibrators fitted to.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    notion : str or Notion, optional
        What the statement speaks of, as in `calibration_error`.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``input``, ``rows`` and ``y_pred``: see `DataOptions`.

    Returns
    -------
    list of BinaryProblem
        One for each statement, with ``score``, ``outcome``, ``weight``, ``share`` and ``name``; it has no rows for a class that
        is never predicted. Rows of weight zero are left out.

    Raises
    ------
    ValueError
        If values are not what they must be, or the notion is none of such a forecast.
    TypeError
        If the data are not numbers, or the labels neither integers, strings nor booleans.

    Examples
    --------
    >>> from calibrant.notions import binary_problems
    >>> P = [[0.75, 0.25], [0.5, 0.5], [0.25, 0.75]]
    >>> first, second = binary_problems([0, 1, 1], P, notion="top-label")
    >>> first.name, first.score.tolist(), first.outcome.tolist()
    ('predicted 0', [0.75, 0.5], [True, False])
    >>> second
    BinaryProblem(predicted 1, rows=1, share=0.3333)
    """
    problem = as_problem(y_true, y_prob, **data)
    problem.at(slice(0))  # of rows that are read in batches there are only sums, which is said here
    return list(as_notion(notion, problem).split(problem))


def single_problem(problem: Problem, notion: Notion, hint: str) -> BinaryProblem:
    """Return the one binary problem that a notion makes, or refuse a notion that makes several."""
    problems = list(notion.split(problem))
    must = "notion must make one problem, as 'binary' and 'confidence' do"
    require(len(problems) == 1, must, given=f"{notion.name!r} makes {len(problems)}", hint=hint)
    return problems[0]


WHICH = "Say which one: notion=OneVsRest(name), or notion='confidence' for accepting a prediction"


def event_of(problem: Problem, notion: NotionLike, hint: str = WHICH) -> BinaryProblem:
    """Return the one binary problem of a notion; by default that of the event of two classes, where there are no more."""
    is_said, got = notion is not None or problem.classes.size == 2, f"{problem.classes.size} classes"
    require(is_said, "y_prob must speak of one event", got=got, hint=hint)
    return single_problem(problem, as_notion(notion, problem), hint)
