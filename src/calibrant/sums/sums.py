"""Sums over rows that have been read: bins of the problems of notions, and powers of values of the rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from operator import is_
from typing import Any, TypeVar

import numpy as np

from calibrant._core import rows as _rows
from calibrant._core.arrays import FloatArray
from calibrant._core.border import LEAST_WEIGHT, SAMPLED
from calibrant._core.checks import refuse, require
from calibrant._core.result import Record
from calibrant._core.rows import BinaryProblem, BoolArray, IntArray, Problem, Unit, Weights
from calibrant.binning.bins import SUMS, Binning, Bins, Edges, FineGrid, Partition, locate, shown
from calibrant.notions import Binary, Notion
from calibrant.sums.draws import CountArray, RowSample, Strata, is_upper

# What is asked of the rows before they are read


T = TypeVar("T")

RowScore = Callable[[_rows.SimplexProblem], FloatArray]
"""One value a row, shape (n,), such as its log loss."""


@dataclass(frozen=True)
class Plan:
    """What one reading of the rows is to leave behind. Two plans with equal parts are the same.

    Attributes
    ----------
    cells : tuple of (Notion, Binning)
        The bins of each problem of the notion. Sums of batches add up where the binning has the same edges in all of them, as
        `EqualWidth` has.
    scores : tuple of (str, RowScore)
        Values of the rows to be summed, by their names.
    powers : int
        How many powers of each value are summed: 1 for means, 3 for variance and skewness as well.
    noise : bool
        Whether also what noise is drawn from is left behind: the strata of each bin, and some rows where one row stands in
        several bins of a notion.
    """

    cells: tuple[tuple[Notion, Binning], ...] = ()
    scores: tuple[tuple[str, RowScore], ...] = ()
    powers: int = 3
    noise: bool = False

    @classmethod
    def of_cells(cls, cells: Iterable[tuple[Notion, Binning]], *, noise: bool = False) -> Plan:
        """Ask for bins alone, each once."""
        return cls(cells=tuple(distinct(cells)), noise=noise)

    def fitted_to(self, problem: Problem) -> Plan:
        """Return the plan with the notions decided, for all batches: fit it to one problem, and read each batch by it."""
        notions = [notion for notion, _ in self.cells]
        fitted = [notion.fitted_to(problem) for notion in notions]
        if all(map(is_, fitted, notions)):
            return self
        return replace(self, cells=tuple(zip(fitted, [binning for _, binning in self.cells], strict=True)))

    @property
    def words(self) -> tuple[list[str], list[str], int]:
        """The names of what is asked for: those of a copy from another process are the same."""
        return [notion.name for notion, _ in self.cells], [name for name, _ in self.scores], self.powers


def distinct(things: Iterable[T]) -> list[T]:
    """List what is equal once; it need not be hashable, since a binning or a notion of one's own may hold a list."""
    found: list[T] = []
    for thing in things:
        if thing not in found:
            found.append(thing)
    return found


@dataclass(frozen=True, eq=False)
class BinnedProblem:
    """A problem of a notion, of which the bins are left: its ``name``, its ``share`` in the aggregate, and its ``bins``.

    ``weights`` is what the weights are in the whole problem. ``strata`` are there where noise is drawn from them. Bins in place
    of others that cells could not tell may have a mean gap that is off by ``open``; None of bins that are what was asked for.
    """

    name: str
    share: float
    bins: Bins
    weights: Unit
    strata: Strata | None = None
    open: float | None = None


@dataclass(frozen=True, eq=False)
class BinTable(Sequence[BinnedProblem]):
    """The bins of all problems of a notion, side by side; as a sequence it has each problem by itself.

    Attributes
    ----------
    names : tuple of str
        Names of the problems.
    shares : ndarray of shape (n_problems,)
        Their shares in the aggregate.
    partitions : tuple of Partition
        What finds the bin of a row of each problem; one object where all are cut alike.
    starts : ndarray of shape (n_problems + 1,)
        Problem k has the bins from ``starts[k]`` up to ``starts[k + 1]``.
    bins : Bins
        All bins; their partition is that of the first problem.
    weights : Unit
        What the weights are in the whole problem.
    strata : Strata or None
        Strata of all bins, where noise is drawn from them.
    open : ndarray of shape (n_problems,), or None
        By how much the mean gap of each problem may be off, where bins stand in place of others that cells could not tell.
    """

    names: tuple[str, ...]
    shares: FloatArray
    partitions: tuple[Partition, ...]
    starts: IntArray
    bins: Bins
    weights: Unit
    strata: Strata | None = None
    open: FloatArray | None = None

    @classmethod
    def of(cls, problems: Sequence[BinnedProblem]) -> BinTable:
        """Put problems side by side, of which there is at least one."""
        bins, off = problems[0].bins, [one.open for one in problems]
        if len(problems) > 1:
            bins = Bins(
                bins.partition, *(np.concatenate([getattr(one.bins, name) for one in problems]) for name in SUMS)
            )
        strata = [one.strata for one in problems if one.strata is not None]
        return cls(
            tuple([one.name for one in problems]),
            np.array([one.share for one in problems]),
            tuple([one.bins.partition for one in problems]),
            np.array([0, *accumulate([one.bins.count.size for one in problems])]),
            bins,
            problems[0].weights,
            Strata.beside(strata) if len(strata) == len(problems) else None,
            None if off.count(None) == len(off) else np.array(off, dtype=np.float64),
        )

    @classmethod
    def of_cut(
        cls, names: Sequence[str], bins: Bins, strata: Strata | None, notion: Notion, problem: Problem
    ) -> BinTable:
        """Name bins of problems that are cut alike, so many for each, and share the weight of all rows among them."""
        starts = np.linspace(0, bins.count.size, len(names) + 1).astype(np.intp)
        held = np.add.reduceat(bins.weight, starts[:-1])
        shares = notion.shares(held, problem.weights.total, problem.classes.size)
        return cls(tuple(names), shares, (bins.partition,) * len(names), starts, bins, problem.weights.unit, strata)

    def __len__(self) -> int:
        """Return the number of problems."""
        return len(self.names)

    def __getitem__(self, k: int) -> BinnedProblem:  # type: ignore[override]
        """Return one problem."""
        number = range(len(self.names))[k]
        own = slice(*self.starts[number : number + 2].tolist())
        return BinnedProblem(
            self.names[number],
            float(self.shares[number]),
            Bins(self.partitions[number], *[getattr(self.bins, name)[own] for name in SUMS]),
            self.weights,
            None if self.strata is None else Strata(self.strata.count[:, own], self.strata.sums[:, :, own]),
            None if self.open is None else float(self.open[number]),
        )

    @property
    def shown(self) -> BinTable:
        """The bins as a result shows them."""
        return replace(self, bins=shown(self.bins, are_counts=self.weights.are_counts))

    @cached_property
    def part(self) -> IntArray:
        """The number of the problem of each bin."""
        return np.repeat(np.arange(len(self.names)), np.diff(self.starts))

    @cached_property
    def held(self) -> FloatArray:
        """Weight of the rows of each problem."""
        return np.add.reduceat(self.bins.weight, self.starts[:-1])

    @cached_property
    def factor(self) -> FloatArray:
        """What turns the weight of each bin into its part of the aggregate: share over weight of its problem; 0 of no rows."""
        own: FloatArray = self.shares / np.maximum(self.held, LEAST_WEIGHT)
        return own.repeat(self.starts[1:] - self.starts[:-1])

    @property
    def is_upper(self) -> BoolArray:
        """Whether each bin of scores lies in the upper half of [0, 1]."""
        return np.concatenate([is_upper(one.bins.edges) for one in self])


@dataclass(frozen=True, eq=False)
class Sums(Record):
    """What one reading of the rows leaves behind. Sums of batches add up with ``+``, in any order, to those of all rows.

    Attributes
    ----------
    plan : Plan
        What was asked for, with notions decided.
    rows : int
        Number of rows.
    weight : float
        Sum of their weights.
    unit : Unit
        What the weights are: whether numbers of rows, and how many rows a weight of one stands for.
    n_classes : int
        Number of classes.
    cells : tuple of BinTable
        For each pair of ``plan.cells`` the bins of all problems of the notion; none where there are no rows.
    scores : ndarray of shape (len(plan.scores), plan.powers)
        Weighted sums of the values of the rows, their squares and so on.
    kept : RowSample or None
        Some rows, where the plan asks for noise of cells that share rows and no weights were given.
    """

    plan: Plan
    rows: int
    weight: float
    unit: Unit
    n_classes: int
    cells: tuple[BinTable, ...]
    scores: FloatArray
    kept: RowSample | None = None

    @classmethod
    def of_no_rows(cls, plan: Plan) -> Sums:
        """Return the sums that change nothing."""
        return cls(plan, 0, 0.0, _rows.EACH_A_ROW, 0, (), np.zeros((len(plan.scores), plan.powers)))

    def of(self, notion: Notion, binning: Binning) -> BinTable:
        """Return the bins of a notion's problems, cut by a binning; both as the plan asked for them, the notion decided."""
        return self.cells[self.plan.cells.index((notion, binning))]

    def mean(self, name: str) -> float:
        """Return the weighted mean of the values of that name."""
        return self.total(name) / self.weight

    def total(self, name: str) -> float:
        """Return the weighted sum of the values of that name."""
        names = [known for known, _ in self.plan.scores]
        return float(self.scores[names.index(name), 0])

    def __add__(self, other: Sums) -> Sums:
        if not (self.rows and other.rows):
            return self if self.rows else other
        fits = self.plan.words == other.plan.words and self.n_classes == other.n_classes
        must = "sums add up only if they are of one plan and of the same classes"
        require(fits, must, got="others", hint="Fit the plan once, plan.fitted_to(problem), and scan each batch by it")
        rows, weight = self.rows + other.rows, self.weight + other.weight
        are_counts = self.unit.are_counts and other.unit.are_counts
        unit = self.unit if self.unit == other.unit else Unit(are_counts, 1.0 if are_counts else rows / weight)
        cells = tuple(
            self._joined(notion, unit, weight, *pair)
            for (notion, _), *pair in zip(self.plan.cells, self.cells, other.cells, strict=True)
        )
        scores = self.scores + other.scores
        kept = None if self.kept is None or other.kept is None else self.kept + other.kept
        return replace(self, rows=rows, weight=weight, unit=unit, cells=cells, scores=scores, kept=kept)

    def _joined(self, notion: Notion, unit: Unit, weight: float, ours: BinTable, theirs: BinTable) -> BinTable:
        """Add the problems of a notion, of rows of this total weight."""
        must = "sums add up only over the same problems of a notion"
        hint = "Name the classes alike in all batches: labels="
        require(ours.names == theirs.names, must, got=f"others of {notion.name!r}", hint=hint)
        if ours.partitions != theirs.partitions:  # one by one: of a problem without rows the bins may be others
            pairs = list(zip(ours, theirs, strict=True))
            bins = [one.bins + two.bins for one, two in pairs]
            strata = [
                None if one.strata is None or two.strata is None else one.strata + two.strata for one, two in pairs
            ]
            added = zip(ours.names, bins, strata, strict=True)
            table = BinTable.of([BinnedProblem(name, 0.0, own, unit, split) for name, own, split in added])
        else:
            split = None if ours.strata is None or theirs.strata is None else ours.strata + theirs.strata
            table = replace(ours, bins=ours.bins + theirs.bins, weights=unit, strata=split)
        return replace(table, shares=notion.shares(table.held, weight, self.n_classes))

    def to_dict(self) -> dict[str, Any]:
        """Return the sums as lists, numbers and words, of which JSON loses no bit; what is not finite is a word.

        Returns
        -------
        dict
            All but the plan, of which the names stand there, and the kept rows.
        """
        return {
            "rows": self.rows,
            "weight": self.weight,
            "unit": self.unit._asdict(),
            "n_classes": self.n_classes,
            "cells": [
                {"notion": notion.name, "binning": repr(binning), "problems": [_plain(one) for one in problems]}
                for (notion, binning), problems in zip(self.plan.cells, self.cells, strict=self.rows > 0)
            ],
            "scores": {
                name: [_number(value) for value in powers]
                for (name, _), powers in zip(self.plan.scores, self.scores.tolist(), strict=True)
            },
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any], plan: Plan) -> Sums:
        """Return the sums that `to_dict` wrote down.

        Parameters
        ----------
        plain : dict
            What it gave, perhaps by way of JSON.
        plan : Plan
            The plan of these sums, with notions decided: functions are not written down.

        Returns
        -------
        Sums
            Equal bit for bit.

        Raises
        ------
        ValueError
            If the sums are of another plan.
        """
        if not plain["rows"]:
            return cls.of_no_rows(plan)
        written = [(one["notion"], one["binning"]) for one in plain["cells"]], list(plain["scores"])
        asked = [(notion.name, repr(binning)) for notion, binning in plan.cells], [name for name, _ in plan.scores]
        powers = {len(values) for values in plain["scores"].values()}
        has_strata = all(problem["strata"] is not None for cells in plain["cells"] for problem in cells["problems"])
        fits = (
            written == asked and powers <= {plan.powers} and has_strata >= (plan.noise and plain["unit"]["are_counts"])
        )
        must = "plan must be that of the sums that are read"
        require(fits, must, got=f"{asked} for {written}", hint="Pass the plan by which the rows were scanned")
        unit = Unit(**plain["unit"])
        scores = [[float(value) for value in plain["scores"][name]] for name, _ in plan.scores]
        return cls(
            plan,
            plain["rows"],
            plain["weight"],
            unit,
            plain["n_classes"],
            tuple(BinTable.of([_problem(one, unit) for one in cells["problems"]]) for cells in plain["cells"]),
            np.array(scores, dtype=np.float64).reshape(len(scores), plan.powers),
        )


def _plain(one: BinnedProblem) -> dict[str, Any]:
    sums = {name: getattr(one.bins, name).tolist() for name in ("edges", *SUMS)}
    strata = None if one.strata is None else one.strata.to_dict()
    return {"name": one.name, "share": one.share, **sums, "strata": strata}


def _problem(plain: Mapping[str, Any], unit: Unit) -> BinnedProblem:
    edges, count, *sums = (np.array(plain[name], dtype=np.float64) for name in ("edges", *SUMS))
    is_whole = all(one.shape == (edges.size - 1,) for one in (count, *sums))
    hint = "Pass what was written, as it is"
    require(is_whole, "each bin must have all its sums", got="one that lacks some", hint=hint)
    most = sums[0] * (1.0 + 1e-9)
    fits = np.isfinite([count, most]).all() and all(((one >= 0.0) & (one <= most)).all() for one in sums)
    must = "sums of scores and of outcomes must lie between 0 and the weight of their bin"
    require(fits and (count >= 0.0).all(), must, got="others", hint=hint)
    bins = Bins(Edges(edges), count.astype(np.intp), *sums)
    strata = None if plain["strata"] is None else Strata.from_dict(plain["strata"])
    return BinnedProblem(plain["name"], plain["share"], bins, unit, strata)


def _number(value: float) -> float | str:
    """Return what JSON can hold: a sum of infinite losses is a word."""
    return value if math.isfinite(value) else repr(value)


# Cells of a fine grid in place of scores: a problem that stands for rows that are not in memory, and what it leaves open


DIGITS = 6
"""Digits of decimals that cells know again."""


class FineCells:
    """The cells of a fine grid that hold rows, each with its limits, in the order of their scores.

    Nothing is known of the scores within a cell but their number, their mean and that of the outcomes. So of the weighted
    residuals y - p of its rows the sum is known, and of their running sums how far they reach at most.

    Attributes
    ----------
    left, right : ndarray of shape (d,)
        Limits of each cell: it holds the scores in (left, right], the first and the last one 0 and 1 alone.
    count, weight, events, others : ndarray of shape (d,)
        Number of rows, their weight, and that of the rows with and without the event.
    mean, lowest, highest : ndarray of shape (d,)
        Mean score of each cell, and its limits: the mean where all rows have one score, as a single row has.
    net : ndarray of shape (d,)
        Sum of the residuals of each cell.
    rise, fall : ndarray of shape (d,)
        Largest possible sums of its positive residuals, those of events, and of its negative ones, as a positive number.
    reached : ndarray of shape (d + 1,)
        Sum of the residuals up to the beginning of each cell, and of all.
    total, rows : float
        Weight of all rows, and the number of rows that it stands for.
    """

    def __init__(self, one: BinnedProblem) -> None:
        bins, held = one.bins, np.flatnonzero(one.bins.count)
        self.count, self.weight, self.events = bins.count[held], bins.weight[held], bins.outcome_sum[held]
        self.right, scores = bins.right[held], bins.score_sum[held]
        self.left = np.where(self.right == 1.0, 1.0, bins.left[held])  # the last cell holds 1 alone
        self.others = np.maximum(self.weight - self.events, 0.0)
        self.total = float(self.weight.sum())
        self.rows = self.total * one.weights.rows_per_weight
        self.mean = np.clip(scores / self.weight, self.left, self.right)
        # Sums round: of decimals, in double precision or in single, which meet thresholds and edges, the mean is one again.
        rounding = (self.count + 2.0) * np.finfo(np.float64).eps * self.mean
        for known in (np.round(self.mean, DIGITS), self.mean.astype(np.float32).astype(np.float64)):
            is_known = (np.abs(known - self.mean) <= rounding) & (self.left < known) & (known <= self.right)
            self.mean = np.where(is_known, known, self.mean)
        is_one_score = (self.count == 1) | (self.mean == self.right)
        self.lowest, self.highest = (np.where(is_one_score, self.mean, limit) for limit in (self.left, self.right))
        self.net = self.events - scores
        most = np.minimum(self.events * (1.0 - self.lowest), self.net + self.others * self.highest)
        self.rise = np.maximum(most, np.maximum(self.net, 0.0))
        self.fall = np.maximum(self.rise - self.net, 0.0)
        self.reached = np.append(0.0, np.cumsum(self.net))

    @property
    def in_best_order(self) -> tuple[FloatArray, FloatArray]:
        """Weight and events of points in the order that tells the outcomes apart best: within each cell the events above."""
        weight = np.column_stack([self.others, self.events]).ravel()
        events = np.column_stack([np.zeros(self.events.size), self.events]).ravel()
        held = weight > 0.0
        return weight[held], events[held]


def rounded(one: BinnedProblem, of: Problem | None = None) -> BinaryProblem:
    """Return the problem of cells, a row for each cell and outcome that occurred there; ``of`` is what was cut."""
    cells = FineCells(one)
    by_outcome = np.stack([cells.others, cells.events])
    outcome, at = np.nonzero(by_outcome > 0.0)
    return BinaryProblem(
        score=cells.mean[at],
        outcome=outcome.astype(np.bool_),
        weights=SummedWeights(by_outcome[outcome, at], of_whole=one.weights),
        share=one.share,
        name=one.name,
        classes=np.array([0, 1]) if of is None or of.classes.size != 2 else of.classes,
        precision=_rows.DOUBLE if of is None else of.precision,
        cells=cells,
    )


def in_cells(problem: BinaryProblem) -> BinaryProblem:
    """Return a problem whose rows are in memory as it is, and one that is read in batches with scores rounded to cells."""
    known = problem.summed_parts(Binary())
    return problem if known is None else next(iter(known))


def outward(problem: BinaryProblem, low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Move scores at which something begins, and others at which it ends, to the ends of their cells; of rows they stay."""
    if (cells := problem.cells) is None:
        return low, high
    first = np.where(cells.left < cells.right, np.nextafter(cells.left, 1.0), cells.right)
    return first[np.searchsorted(cells.mean, low)], cells.right[np.searchsorted(cells.mean, high)]


@dataclass(frozen=True, eq=False)
class SummedWeights(Weights):
    """Weights of cells: sums of those of rows, which mean what the weights of the rows meant."""

    @property
    def of_rows(self) -> FloatArray:
        """Weights of single rows are not available."""
        must = "weights must be whole, or none given, for intervals and tests of predictions that are read in batches"
        hint = "Take a sample of the rows: predictions.sample(100_000)"
        refuse(must, got="fractions, of which cells know the sums alone", hint=hint)


# Bins that follow the scores, of rows that are read in batches: cut at the ends of the cells of a fixed fine grid


def fine_pair(problem: Problem, notion: Notion) -> tuple[Notion, FineGrid]:
    """Return the notion with the grid that is fine enough for its problems."""
    return notion.fitted_to(problem), FineGrid.for_problems(notion.n_parts(problem))


def on_fixed_cells(plan: Plan, problem: Problem) -> Plan:
    """Return the plan with a fine grid in place of bins that follow the scores; bins of each score are refused."""
    for _, binning in plan.cells:
        must = "bins of predictions that are read in batches must hold more than one score"
        hint = f"Take a sample, {SAMPLED}, or FineGrid()"
        require(not binning.needs_scores, must, got=f"{binning!r}, which needs all rows in memory", hint=hint)
    cells = [pair if pair[1].is_fixed else fine_pair(problem, pair[0]) for pair in plan.cells]
    return replace(plan, cells=tuple(distinct(cells)))


def recut(sums: Sums, plan: Plan, problem: Problem) -> Sums:
    """Return the sums that a plan asks for, made of those over fixed cells."""
    found = []
    for notion, binning in plan.cells:
        if binning.is_fixed:
            found.append(sums.of(notion, binning))
        else:
            cells = sums.of(*fine_pair(problem, notion))
            found.append(BinTable.of([_recut(one, binning) for one in cells]))
    return replace(sums, plan=plan, cells=tuple(found))


def _recut(one: BinnedProblem, binning: Binning) -> BinnedProblem:
    """Put the cells of a problem together in bins, each of which ends where a cell does."""
    cells = one.bins
    fine = FineCells(one)
    edges = between_cells(fine, binning(rounded(one)).edges)
    at = locate(edges, cells.right)
    count, *sums = (np.bincount(at, getattr(cells, name), edges.size - 1).astype(np.float64) for name in SUMS)
    strata = None if one.strata is None else one.strata.put_together(at, is_upper(cells.edges), is_upper(edges))
    open_ = _open(fine, edges) if binning.cuts_by_weight else np.inf
    return replace(one, bins=Bins(Edges(edges), count.astype(np.intp), *sums), strata=strata, open=open_)


def _open(cells: FineCells, edges: FloatArray) -> float:
    """Return how far the mean gap of bins that end with cells may be from that of bins that end at scores within these cells.

    A cell is the last of its bin here. There, its upper rows are in other bins: with U and D the sums of its positive and its
    negative residuals, at most max(U, D) leaves the bin, and what it adds to others is at most U + D.
    """
    last = np.searchsorted(cells.mean, edges[1:-1], side="right") - 1
    last = np.unique(last[last >= 0])
    rise, fall = cells.rise[last], cells.fall[last]
    return float((np.maximum(rise, fall) + rise + fall).sum()) / cells.total if last.size else 0.0  # without rows


def between_cells(cells: FineCells, edges: FloatArray) -> FloatArray:
    """Move edges between means of cells out of the cells: each stays above the cells whose means it is above."""
    below = np.searchsorted(cells.mean, edges[1:-1], side="right")
    lowest, highest = np.append(edges[0], cells.right)[below], np.append(cells.left, edges[-1])[below]
    return np.concatenate([edges[:1], np.clip(edges[1:-1], lowest, highest), edges[-1:]])


# What chance does to the numbers of events of cells, drawn from their strata and not from the rows


@dataclass(frozen=True, eq=False)
class Moments:
    """Strata of cells side by side, those of several problems.

    Attributes
    ----------
    count : ndarray of shape (2, n_cells)
        Rows without the event, and with it.
    first, second : ndarray of shape (2, n_cells)
        Their sums of m and of m², m = p or, where the cell ``is_upper``, m = 1 - p.
    is_upper : ndarray of shape (n_cells,)
        Whether m is the probability that there is no event.
    """

    count: CountArray
    first: FloatArray
    second: FloatArray
    is_upper: BoolArray

    @classmethod
    def of(cls, table: BinTable) -> Moments | None:
        """Return the moments of the cells of all problems; None where they have no strata."""
        if table.strata is None:
            return None
        first, second = table.strata.sums
        return cls(table.strata.count, first, second, table.is_upper)

    def at(self, some: BoolArray) -> Moments:
        """Return the moments of some cells."""
        return Moments(self.count[:, some], self.first[:, some], self.second[:, some], self.is_upper[some])

    @cached_property
    def rows(self) -> FloatArray:
        """Number of rows of each cell."""
        return np.asarray(self.count.sum(axis=0), dtype=np.float64)

    def events(self, n_resamples: int, rng: np.random.Generator) -> FloatArray:
        """Draw numbers of events of labels that the forecast draws, shape (n_resamples, n_cells); cells are independent.

        The rows that go against m are independent, with probabilities m: the mean of their number is mu = sum m, the variance
        mu - Q, Q = sum m². A binomial number of N = mu² / Q rows has both. Both neighbours of an N that is not whole are drawn
        from, as often as makes 1 / N right on average. N is at most the number of rows, and no less than mu.
        """
        mu, square = self.first.sum(axis=0), self.second.sum(axis=0)
        known = square > 0.0  # a sum of squares may be below its unit: then m are so small that any N gives the same
        size = np.where(known, mu**2 / np.where(known, square, 1.0), self.rows)
        least = np.maximum(np.ceil(mu), 1.0)
        size = np.clip(size, least, np.maximum(self.rows, least))[:, None]
        low = np.floor(size)
        n = low + (rng.random((mu.size, n_resamples)) < (low + 1.0) * (size - low) / size)
        against = rng.binomial(n.astype(np.int64), np.minimum(mu[:, None] / n, 1.0)).T
        return np.asarray(np.where(self.is_upper, self.rows - against, against), dtype=np.float64)

    def resampled(self, n_resamples: int, rng: np.random.Generator) -> FloatArray:
        """Draw sums of residuals of rows drawn with replacement, shape (n_resamples, n_cells), of cells that share no rows.

        The numbers of rows of the strata are multinomial. Within a stratum residuals vary as m does, and their sum is normal
        with the mean and the variance that m has there.
        """
        rows = np.where(self.count > 0, self.count, 1)
        mean = self.first / rows
        variance = np.maximum(self.second / rows - mean**2, 0.0)
        event = np.array([[0.0], [1.0]])
        residual = np.where(self.is_upper, event - 1.0 + mean, event - mean)
        total = self.count.sum()
        drawn = rng.multinomial(total, self.count.ravel() / total, size=n_resamples).reshape(n_resamples, 2, -1)
        noise = np.sqrt(drawn * variance) * rng.standard_normal(drawn.shape)
        return np.asarray((drawn * residual + noise).sum(axis=1), dtype=np.float64)
