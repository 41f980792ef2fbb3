"""Bins and strata of all classes, and of the predicted class, from one compiled pass over the rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from calibrant._core.arrays import FloatArray
from calibrant._core.rows import BinaryProblem, Problem, SimplexProblem
from calibrant._core.threads import in_order, n_processors, pays
from calibrant.binning import Binning, Bins, Edges, EqualWidth
from calibrant.binning.bins import CHUNK
from calibrant.notions import ClassWise, Confidence, Notion, TopLabel
from calibrant.sums.draws import BITS, UNIT, CountArray, Strata, is_upper

SAVED = 5e-8
"""Seconds saved a number."""

MOST_BINS = 1 << 16

BLOCK = 1 << 16
"""Numbers of a table that stay in the processor's cache while they are read twice."""

Cut = tuple[Bins, Strata]
Loop = Callable[[slice, CountArray, FloatArray], None]

OF_A_TABLE = (ClassWise, TopLabel, Confidence)


def has_loops(problem: Problem, notion: Notion, binning: Binning) -> bool:
    """Whether there is a compiled loop over whole rows for a notion and a binning, and it pays."""
    if isinstance(problem, BinaryProblem) or type(notion) not in OF_A_TABLE:
        return False
    return _pays(problem, problem.forecast.values.size, binning)


def has_loop(binary: BinaryProblem, binning: Binning) -> bool:
    """Whether there is a compiled loop over one column for a binning, and it pays."""
    return _pays(binary, binary.size, binning)


def _pays(problem: Problem, numbers: int, binning: Binning) -> bool:
    """Whether bins are of equal width and wider than rounding in single precision, rows weigh one each, and are many."""
    if type(binning) is not EqualWidth or binning.n_bins > MOST_BINS or not problem.weights.is_unit:
        return False
    return pays(numbers, SAVED)


def cut_table(simplex: SimplexProblem, asked: Sequence[tuple[Notion, Binning]]) -> list[list[Cut]]:
    """Return for each pair that `has_loops` the bins and strata of each part of the notion."""
    known: dict[tuple[type[Notion], Binning], Totals] = {}
    for binning in dict.fromkeys(binning for _, binning in asked):
        kinds = sorted({_kind(notion) for notion, other in asked if other == binning}, key=repr)
        for kind, totals in zip(kinds, _totals(simplex, binning, kinds), strict=True):
            known[kind, binning] = totals
    found = []
    for notion, binning in asked:
        totals = known[_kind(notion), binning]
        found.append([totals.joined] if type(notion) is Confidence else totals.of_classes)
    return found


def _kind(notion: Notion) -> type[Notion]:
    """Return the notion whose cells hold those of another: confidences are top labels, whatever their class."""
    return ClassWise if type(notion) is ClassWise else TopLabel


def cut_column(binary: BinaryProblem, binning: Binning) -> Cut:
    """Return the bins and strata of a problem that `has_loop`."""
    from calibrant._kernels.sums import column_cells

    edges = binning.edges(binary)
    upper = is_upper(edges)

    def loop(rows: slice, units: CountArray, scores: FloatArray) -> None:
        column_cells(binary.score[rows], binary.outcome[rows], edges, upper, units[:, 0], scores[0])

    return _summed([loop], binary.size, CHUNK, edges, 1)[0].of_classes[0]


def _totals(simplex: SimplexProblem, binning: Binning, kinds: Sequence[type[Notion]]) -> list[Totals]:
    """Return the sums of each class, under each kind of notion."""
    from calibrant._kernels.sums import class_cells, top_cells

    prob, label = simplex.forecast.as_given, simplex.label
    edges = binning.edges(next(Confidence().split(simplex.at(slice(0, 1)))))
    upper = is_upper(edges)

    def of_classes(rows: slice, units: CountArray, scores: FloatArray) -> None:
        class_cells(prob[rows], label[rows], edges, upper, units, scores)

    def of_top(rows: slice, units: CountArray, scores: FloatArray) -> None:
        top_cells(prob[rows], label[rows], edges, upper, units, scores)

    loops = [of_classes if kind is ClassWise else of_top for kind in kinds]
    n_classes = prob.shape[1]
    return _summed(loops, simplex.size, max(1, BLOCK // n_classes), edges, n_classes)


@dataclass(frozen=True, eq=False)
class Totals:
    """Sums over rows read so far, of each class and bin: as in `Strata`, and of the scores.

    Scores have shape (n_classes + 1, n_bins); in the last row stand those of the predicted class, whatever it is.
    """

    edges: FloatArray
    count: CountArray
    whole: CountArray
    part: CountArray
    scores: FloatArray

    @classmethod
    def of_no_rows(cls, edges: FloatArray, n_classes: int) -> Totals:
        """Return the sums that change nothing."""
        n_bins = edges.size - 1
        shapes = (2, n_classes, n_bins), (2, 2, n_classes, n_bins), (2, 2, n_classes, n_bins)
        count, whole, part = (np.zeros(shape, dtype=np.int64) for shape in shapes)
        return cls(edges, count, whole, part, np.zeros((n_classes + 1, n_bins)))

    def add(self, units: CountArray, scores: FloatArray) -> None:
        """Add the sums of fewer than 2^23 rows to the arrays that it holds."""
        moments = np.moveaxis(units[..., 1:], -1, 0)
        count, whole, part, total = self.count, self.whole, self.part, self.scores
        count += units[..., 0]
        part += moments & (UNIT - 1)
        whole += (moments >> BITS) + (part >> BITS)
        part &= UNIT - 1
        total += scores

    @property
    def of_classes(self) -> list[Cut]:
        """Bins and strata of each class."""
        return _cut(Edges(self.edges), self.count, self.whole, self.part, self.scores)

    @property
    def joined(self) -> Cut:
        """Bins and strata of the rows of all classes, of which a row is in one."""
        count, whole, part = (sums.sum(axis=-2, keepdims=True) for sums in (self.count, self.whole, self.part))
        (found,) = _cut(Edges(self.edges), count, whole + (part >> BITS), part & (UNIT - 1), self.scores[-1:])
        return found


def _cut(edges: Edges, count: CountArray, whole: CountArray, part: CountArray, scores: FloatArray) -> list[Cut]:
    """Return bins and strata of each class, of rows that weigh one each."""
    rows, events = count.sum(axis=0), count[1].astype(np.float64)
    number, weight = rows.astype(np.intp, copy=False), rows.astype(np.float64)
    for table in (count, whole, part, number, weight, scores, events):
        table.setflags(write=False)  # once, and not the view of each class
    return [
        (
            Bins(edges, number[j], weight[j], scores[j], events[j]),
            Strata(count[:, j], whole[:, :, j], part[:, :, j]),
        )
        for j in range(len(rows))
    ]


def _summed(loops: Sequence[Loop], n: int, step: int, edges: FloatArray, n_classes: int) -> list[Totals]:
    """Run all loops over the same rows, so many rows at a time; what they add up does not depend on the number of threads."""
    shape = n_classes, edges.size - 1

    def read(start: int) -> list[tuple[CountArray, FloatArray]]:
        own = [(np.zeros((2, *shape, 3), dtype=np.int64), np.zeros((n_classes + 1, shape[1]))) for _ in loops]
        end = min(start + CHUNK, n)
        for first in range(start, end, step):
            for loop, (units, scores) in zip(loops, own, strict=True):
                loop(slice(first, min(first + step, end)), units, scores)
        return own

    totals = [Totals.of_no_rows(edges, n_classes) for _ in loops]
    for own in in_order(read, range(0, n, CHUNK), n_processors()):
        for total, sums in zip(totals, own, strict=True):
            total.add(*sums)
    return totals
