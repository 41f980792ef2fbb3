"""Bins and strata of all classes, and of the predicted class, from one compiled pass over the rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from calibrant._core.arrays import FloatArray
from calibrant._core.rows import BinaryProblem, BoolArray, IntArray, Problem, SimplexProblem
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
Kernel = Callable[[FloatArray, IntArray, FloatArray, BoolArray, CountArray, FloatArray], None]
Totals = tuple[FloatArray, CountArray, CountArray, CountArray, FloatArray]
"""Edges; of each class and bin the number of rows, whole and left over parts of sums, and the sums of scores."""

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
    """Return for each pair that `has_loops` the bins and strata of each part of the notion; rows are read once a binning.

    Confidences are top labels, whatever their class.
    """
    from calibrant._kernels.sums import class_cells, top_cells

    prob, label = simplex.forecast.as_given, simplex.label
    found: dict[tuple[Binning, bool], Totals] = {}
    n_classes = prob.shape[1]
    for binning in dict.fromkeys(binning for _, binning in asked):
        edges = binning.edges(next(Confidence().split(simplex.at(slice(0, 1)))))
        upper = is_upper(edges)

        def loop_of(kernel: Kernel, edges: FloatArray = edges, upper: BoolArray = upper) -> Loop:
            return lambda rows, units, scores: kernel(prob[rows], label[rows], edges, upper, units, scores)

        by_class = {type(notion) is ClassWise for notion, other in asked if other == binning}
        loops = [loop_of(class_cells if each else top_cells) for each in sorted(by_class)]
        totals = _summed(loops, simplex.size, max(1, BLOCK // n_classes), edges, n_classes)
        found |= {(binning, each): own for each, own in zip(sorted(by_class), totals, strict=True)}
    return [
        _cut(*found[binning, type(notion) is ClassWise], is_joint=type(notion) is Confidence)
        for notion, binning in asked
    ]


def cut_column(binary: BinaryProblem, binning: Binning) -> Cut:
    """Return the bins and strata of a problem that `has_loop`."""
    from calibrant._kernels.sums import column_cells

    edges = binning.edges(binary)
    upper = is_upper(edges)

    def loop(rows: slice, units: CountArray, scores: FloatArray) -> None:
        column_cells(binary.score[rows], binary.outcome[rows], edges, upper, units[:, 0], scores[0])

    (totals,) = _summed([loop], binary.size, CHUNK, edges, 1)
    return _cut(*totals)[0]


def _cut(
    edges: FloatArray,
    count: CountArray,
    whole: CountArray,
    part: CountArray,
    scores: FloatArray,
    *,
    is_joint: bool = False,
) -> list[Cut]:
    """Return bins and strata of each class, or of the rows of all classes, of rows that weigh one each."""
    if is_joint:
        count, whole, part = (sums.sum(axis=-2, keepdims=True) for sums in (count, whole, part))
        whole, part, scores = whole + (part >> BITS), part & (UNIT - 1), scores[-1:]
    rows, events = count.sum(axis=0), count[1].astype(np.float64)
    number, weight, same = rows.astype(np.intp, copy=False), rows.astype(np.float64), Edges(edges)
    for table in (count, whole, part, number, weight, scores, events):
        table.setflags(write=False)  # once, and not the view of each class
    return [
        (Bins(same, number[j], weight[j], scores[j], events[j]), Strata(count[:, j], whole[:, :, j], part[:, :, j]))
        for j in range(len(rows))
    ]


def _summed(loops: Sequence[Loop], n: int, step: int, edges: FloatArray, n_classes: int) -> list[Totals]:
    """Run all loops over the same rows, so many rows at a time; what they add up does not depend on the number of threads.

    Sums of each class and bin are as in `Strata`. In the last row of scores stand those of the predicted class, whatever it is.
    """
    shape = n_classes, edges.size - 1

    def read(start: int) -> list[tuple[CountArray, FloatArray]]:
        own = [(np.zeros((2, *shape, 3), dtype=np.int64), np.zeros((n_classes + 1, shape[1]))) for _ in loops]
        end = min(start + CHUNK, n)
        for first in range(start, end, step):
            for loop, (units, scores) in zip(loops, own, strict=True):
                loop(slice(first, min(first + step, end)), units, scores)
        return own

    def zeros(*dimensions: int) -> CountArray:
        return np.zeros((*dimensions, *shape), dtype=np.int64)

    found = [(edges, zeros(2), zeros(2, 2), zeros(2, 2), np.zeros((n_classes + 1, shape[1]))) for _ in loops]
    for own in in_order(read, range(0, n, CHUNK), n_processors()):
        for (_, count, whole, part, total), (units, scores) in zip(found, own, strict=True):
            moments = np.moveaxis(units[..., 1:], -1, 0)  # of fewer than 2^23 rows
            count += units[..., 0]
            part += moments & (UNIT - 1)
            whole += (moments >> BITS) + (part >> BITS)
            part &= UNIT - 1
            total += scores
    return found
