"""Bins and strata of all classes, and of the predicted class, from one compiled pass over the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from calibrant._core.arrays import FloatArray
from calibrant._core.rows import BinaryProblem, BoolArray, IntArray, Problem, SimplexProblem
from calibrant._core.threads import FEWEST, are_loaded
from calibrant.binning import Binning, Bins, Edges, EqualWidth
from calibrant.binning.bins import between_infinities, even_edges
from calibrant.notions import ClassWise, Confidence, Notion, TopLabel
from calibrant.sums.draws import CountArray, Strata, is_upper

MOST_BINS = 1 << 16

BLOCK = 1 << 16
"""Numbers of a table that stay in the processor's cache while they are read twice."""

Cut = tuple[Bins, Strata | None]
Loop = Callable[[slice, FloatArray, FloatArray], None]
Kernel = Callable[[FloatArray, IntArray, FloatArray, BoolArray, FloatArray, FloatArray], None]
Totals = tuple[FloatArray, CountArray, FloatArray, FloatArray]
"""Edges; of each class and bin the number of rows and the sums as in `Strata`, and the sums of scores."""

OF_A_TABLE = (ClassWise, TopLabel, Confidence)


def has_loops(problem: Problem, notion: Notion, binning: Binning, *, noise: bool) -> bool:
    """Whether there is a compiled loop over whole rows for a notion and a binning, with strata or without."""
    if isinstance(problem, BinaryProblem) or type(notion) not in (OF_A_TABLE if noise else (ClassWise,)):
        return False
    prob = problem.forecast.as_given
    return (noise or prob.flags.c_contiguous) and _has_loop(problem, prob.size, binning)


def has_loop(binary: BinaryProblem, binning: Binning) -> bool:
    """Whether there is a compiled loop over one column for a binning, with strata."""
    return _has_loop(binary, binary.size, binning)


def _has_loop(problem: Problem, numbers: int, binning: Binning) -> bool:
    """Whether bins are of equal width and wider than rounding in single precision, rows weigh one each, and loops are there."""
    if type(binning) is not EqualWidth or binning.n_bins > MOST_BINS or not problem.weights.is_unit:
        return False
    return are_loaded() and numbers >= FEWEST


def bins_of_classes(simplex: SimplexProblem, asked: Sequence[tuple[Notion, Binning]]) -> Iterator[Cut]:
    """Yield for each pair that `has_loops` without strata the bins of all classes: those of each column to the last bit."""
    from calibrant._kernels.sums import add_classes

    # numba would compile another loop for what is strided or cannot be written to.
    prob = np.require(simplex.forecast.as_given, requirements=("C", "W"))
    label = np.require(simplex.label, requirements=("C", "W"))
    for _, binning in asked:
        assert isinstance(binning, EqualWidth)
        edges = even_edges(binning.n_bins, simplex.precision)
        shape = prob.shape[1], edges.n_cells
        count, events = np.zeros((2, *shape), dtype=np.intp)
        scores = np.zeros(shape)
        add_classes(prob, label, between_infinities(edges.edges), count.ravel(), events.ravel(), scores.ravel())
        rows = count.ravel()
        yield Bins(edges, rows, rows.astype(np.float64), scores.ravel(), events.ravel().astype(np.float64)), None


def cut_table(simplex: SimplexProblem, asked: Sequence[tuple[Notion, Binning]]) -> list[Cut]:
    """Return for each pair that `has_loops` the bins and strata of all parts of the notion; rows are read once a binning.

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

    def loop(rows: slice, units: FloatArray, scores: FloatArray) -> None:
        column_cells(binary.score[rows], binary.outcome[rows], edges, upper, units[:, 0], scores[0])

    (totals,) = _summed([loop], binary.size, binary.size, edges, 1)
    return _cut(*totals)


def _cut(
    edges: FloatArray,
    count: CountArray,
    moments: FloatArray,
    scores: FloatArray,
    *,
    is_joint: bool = False,
) -> Cut:
    """Return bins and strata of all classes, or of the rows of all classes together, of rows that weigh one each."""
    if is_joint:
        count, moments, scores = count.sum(axis=-2, keepdims=True), moments.sum(axis=-2, keepdims=True), scores[-1:]
    rows, events = count.sum(axis=0).ravel(), count[1].ravel().astype(np.float64)
    bins = Bins(
        Edges(edges), rows.astype(np.intp, copy=False), rows.astype(np.float64), scores[: len(count[0])].ravel(), events
    )
    return bins, Strata(count.reshape(2, -1), moments.reshape(2, 2, -1))


def _summed(loops: Sequence[Loop], n: int, step: int, edges: FloatArray, n_classes: int) -> list[Totals]:
    """Run all loops over the same rows, so many rows at a time.

    In the last row of scores stand those of the predicted class, whatever it is.
    """
    shape = n_classes, edges.size - 1
    own = [(np.zeros((2, *shape, 3)), np.zeros((n_classes + 1, shape[1]))) for _ in loops]
    for first in range(0, n, step):
        for loop, (units, scores) in zip(loops, own, strict=True):
            loop(slice(first, min(first + step, n)), units, scores)
    return [
        (edges, units[..., 0].astype(np.int64), np.moveaxis(units[..., 1:], -1, 0), scores) for units, scores in own
    ]
