"""Sums over rows that have been read: bins of the problems of notions, and powers of values of the rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.parameters import require
from calibrant._core.result import Record
from calibrant._core.weights import Weights
from calibrant.binning import Binning, Bins, Edges
from calibrant.binning.base import shown
from calibrant.notions import ClassWise, Notion
from calibrant.sums.kept_rows import KeptRows
from calibrant.sums.plan import Plan
from calibrant.sums.strata import Strata

OF_BINS = ("weight", "score_sum", "outcome_sum")


class Unit(NamedTuple):
    """What weights were: whether numbers of rows, and how many rows a weight of one stands for."""

    are_counts: bool
    rows_per_weight: float

    @classmethod
    def of(cls, weights: Weights) -> Unit:
        """Return what these weights mean."""
        return EACH_A_ROW if weights.is_unit else cls(weights.are_counts, weights.rows_per_weight)


EACH_A_ROW = Unit(are_counts=True, rows_per_weight=1.0)


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

    @property
    def shown(self) -> Bins:
        """The bins as a result shows them."""
        return shown(self.bins, are_counts=self.weights.are_counts)


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
    cells : tuple of tuple of BinnedProblem
        For each pair of ``plan.cells`` the problems of the notion; none where there are no rows.
    scores : ndarray of shape (len(plan.scores), plan.powers)
        Weighted sums of the values of the rows, their squares and so on.
    kept : KeptRows or None
        Some rows, where the plan asks for noise of cells that share rows and no weights were given.
    """

    plan: Plan
    rows: int
    weight: float
    unit: Unit
    n_classes: int
    cells: tuple[tuple[BinnedProblem, ...], ...]
    scores: FloatArray
    kept: KeptRows | None = None

    @classmethod
    def of_no_rows(cls, plan: Plan) -> Sums:
        """Return the sums that change nothing."""
        cells: tuple[tuple[BinnedProblem, ...], ...] = ((),) * len(plan.cells)
        return cls(
            plan,
            0,
            0.0,
            EACH_A_ROW,
            0,
            cells,
            np.zeros((len(plan.scores), plan.powers)),
        )

    def of(self, notion: Notion, binning: Binning) -> tuple[BinnedProblem, ...]:
        """Return the problems of a notion, cut by a binning; both as the plan asked for them, the notion decided."""
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
        require(
            self.plan == other.plan and self.n_classes == other.n_classes,
            "sums add up only if they are of one plan and of the same classes",
            got="others",
            hint="Fit the plan once, plan.fitted_to(problem), and scan each batch by it",
        )
        rows, weight = self.rows + other.rows, self.weight + other.weight
        unit = _joint(self.unit, other.unit, rows / weight)
        cells = tuple(
            self._joined(notion, unit, weight, *pair)
            for (notion, _), *pair in zip(self.plan.cells, self.cells, other.cells, strict=True)
        )
        scores = self.scores + other.scores
        kept = None
        if self.kept is not None and other.kept is not None:
            kept = self.kept.joined(other.kept, cells_of_classes(self.plan, cells))
        return replace(self, rows=rows, weight=weight, unit=unit, cells=cells, scores=scores, kept=kept)

    def _joined(
        self,
        notion: Notion,
        unit: Unit,
        weight: float,
        ours: Sequence[BinnedProblem],
        theirs: Sequence[BinnedProblem],
    ) -> tuple[BinnedProblem, ...]:
        """Add the problems of a notion, of rows of this total weight."""
        require(
            [one.name for one in ours] == [one.name for one in theirs],
            "sums add up only over the same problems of a notion",
            got=f"others of {notion.name!r}",
            hint="Name the classes alike in all batches: labels=",
        )
        bins = [one.bins + two.bins for one, two in zip(ours, theirs, strict=True)]
        shares = notion.shares(np.array([sums.weight.sum() for sums in bins]), weight, self.n_classes)
        strata = [
            None if one.strata is None or two.strata is None else one.strata + two.strata
            for one, two in zip(ours, theirs, strict=True)
        ]
        joined = zip(ours, shares.tolist(), bins, strata, strict=True)
        return tuple(BinnedProblem(one.name, share, sums, unit, split) for one, share, sums, split in joined)

    def to_dict(self) -> dict[str, Any]:
        """Return the sums as lists, numbers and words, of which JSON loses no bit; what is not finite is a word.

        Returns
        -------
        dict
            All but the plan, of which the names stand there.
        """
        return {
            "rows": self.rows,
            "weight": self.weight,
            "unit": self.unit._asdict(),
            "n_classes": self.n_classes,
            "cells": [
                {"notion": notion.name, "binning": repr(binning), "problems": [_plain(one) for one in problems]}
                for (notion, binning), problems in zip(self.plan.cells, self.cells, strict=True)
            ],
            "scores": {
                name: [_number(value) for value in powers]
                for (name, _), powers in zip(self.plan.scores, self.scores.tolist(), strict=True)
            },
            "kept": None if self.kept is None else self.kept.to_dict(),
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
        written = [(one["notion"], one["binning"]) for one in plain["cells"]], list(plain["scores"])
        asked = [(notion.name, repr(binning)) for notion, binning in plan.cells], [name for name, _ in plan.scores]
        powers = {len(values) for values in plain["scores"].values()}
        require(
            written == asked and powers <= {plan.powers},
            "plan must be that of the sums that are read",
            got=f"{asked} for {written}",
            hint="Pass the plan by which the rows were scanned",
        )
        unit = Unit(**plain["unit"])
        scores = [[float(value) for value in plain["scores"][name]] for name, _ in plan.scores]
        return cls(
            plan,
            plain["rows"],
            plain["weight"],
            unit,
            plain["n_classes"],
            tuple(tuple(_problem(one, unit) for one in cells["problems"]) for cells in plain["cells"]),
            np.array(scores, dtype=np.float64).reshape(len(scores), plan.powers),
            None if plain["kept"] is None else KeptRows.from_dict(plain["kept"], plain["n_classes"]),
        )


def cells_of_classes(plan: Plan, cells: Sequence[Sequence[BinnedProblem]]) -> list[Edges]:
    """Return the bins of each class that all classes share, of which rows are kept."""
    of_classes = (own for (notion, _), own in zip(plan.cells, cells, strict=True) if type(notion) is ClassWise)
    return [edges for own in of_classes if (edges := shared_edges(own)) is not None]


def shared_edges(problems: Sequence[BinnedProblem]) -> Edges | None:
    """Return the bins that all problems share, if they do."""
    partitions = [one.bins.partition for one in problems]
    first = partitions[0] if partitions else None
    return first if isinstance(first, Edges) and all(one.is_same(first) for one in partitions) else None


def _joint(one: Unit, other: Unit, rows_per_weight: float) -> Unit:
    """Return what weights of either unit are together."""
    if one == other:
        return one
    are_counts = one.are_counts and other.are_counts
    return Unit(are_counts, 1.0 if are_counts else rows_per_weight)


def _plain(one: BinnedProblem) -> dict[str, Any]:
    bins = one.bins
    sums = {name: getattr(bins, name).tolist() for name in ("edges", "count", *OF_BINS)}
    strata = None if one.strata is None else one.strata.to_dict()
    return {"name": one.name, "share": one.share, **sums, "strata": strata}


def _problem(plain: Mapping[str, Any], unit: Unit) -> BinnedProblem:
    edges, *sums = (np.array(plain[name], dtype=np.float64) for name in ("edges", *OF_BINS))
    bins = Bins(Edges(edges), np.array(plain["count"], dtype=np.intp), *sums)
    strata = None if plain["strata"] is None else Strata.from_dict(plain["strata"])
    return BinnedProblem(plain["name"], plain["share"], bins, unit, strata)


def _number(value: float) -> float | str:
    """Return what JSON can hold: a sum of infinite losses is a word."""
    return value if math.isfinite(value) else repr(value)
