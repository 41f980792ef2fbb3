"""One of the binary problems that a notion makes of rows which are read in batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, reduce
from operator import add
from typing import Any, TypeGuard

import numpy as np

from calibrant._core import rows as _rows
from calibrant._core.arrays import FloatArray, blocks
from calibrant._core.border import refuse_rows
from calibrant._core.rows import BinaryProblem, InBatches, M, Problem, Read, SimplexProblem, as_simplex
from calibrant._core.threads import FEWEST, are_loaded, in_order, n_processors, pays
from calibrant.binning.bins import CHUNK, Binning, Bins, Edges, EqualWidth, between_infinities, even_edges, sums_over
from calibrant.notions import Binary, ClassWise, Confidence, Flattened, Notion, OneVsRest, TopLabel
from calibrant.sums.draws import MOST, CountArray, Numbers, RowSample, Strata, is_upper
from calibrant.sums.sums import BinnedProblem, BinTable, Plan, Sums, fine_pair, on_fixed_cells, recut, rounded

# Bins and strata of all classes, and of the predicted class, from one compiled pass over the rows


MOST_BINS = 1 << 16

BLOCK = 1 << 16
"""Numbers of a table that stay in the processor's cache while they are read twice."""

Cut = tuple[Bins, Strata | None]
Loop = Callable[[slice, FloatArray, FloatArray], None]
Kernel = Callable[[FloatArray, _rows.IntArray, FloatArray, _rows.BoolArray, FloatArray, FloatArray], None]
Totals = tuple[FloatArray, CountArray, FloatArray, FloatArray]
"""Edges; of each class and bin the number of rows and the sums as in `Strata`, and the sums of scores."""

OF_A_TABLE = (ClassWise, TopLabel, Confidence)


def has_loops(problem: Problem, notion: Notion, binning: Binning, *, noise: bool) -> bool:
    """Whether there is a compiled loop over whole rows for a notion and a binning, with strata or without."""
    if type(notion) not in (OF_A_TABLE if noise else (ClassWise,)):
        return False
    prob = as_simplex(problem).forecast.as_given
    return (noise or prob.flags.c_contiguous) and has_loop(problem, prob.size, binning)


def has_loop(problem: Problem, numbers: int, binning: Binning) -> bool:
    """Whether bins are of equal width and wider than rounding in single precision, rows weigh one each, and loops are there."""
    if type(binning) is not EqualWidth or binning.n_bins > MOST_BINS or not problem.weights.is_unit:
        return False
    return numbers >= FEWEST and are_loaded()


def bins_of_classes(simplex: SimplexProblem, asked: Sequence[tuple[Notion, Any]]) -> Iterator[Cut]:
    """Yield for each pair that `has_loops` without strata the bins of all classes: those of each column to the last bit."""
    from calibrant._kernels.sums import add_classes

    # numba would compile another loop for what is strided or cannot be written to.
    prob = np.require(simplex.forecast.as_given, requirements=("C", "W"))
    label = np.require(simplex.label, requirements=("C", "W"))
    for _, binning in asked:
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

        def loop_of(kernel: Kernel, edges: FloatArray = edges, upper: _rows.BoolArray = upper) -> Loop:
            return lambda rows, units, scores: kernel(prob[rows], label[rows], edges, upper, units, scores)

        by_class = {type(notion) is ClassWise for notion, other in asked if other == binning}
        loops = [loop_of(class_cells if each else top_cells) for each in sorted(by_class)]
        totals = _summed(loops, simplex.size, max(1, BLOCK // n_classes), edges, n_classes)
        found |= {(binning, each): own for each, own in zip(sorted(by_class), totals, strict=True)}
    return [
        _cut_of_totals(*found[binning, type(notion) is ClassWise], is_joint=type(notion) is Confidence)
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
    return _cut_of_totals(*totals)


def _cut_of_totals(
    edges: FloatArray, count: CountArray, moments: FloatArray, scores: FloatArray, *, is_joint: bool = False
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


# One of the binary problems that a notion makes of rows which are read in batches


Pair = tuple[Notion, Binning]

# Problems whose rows are not in memory: sums over them can be had, and asking for the rows themselves is refused in words


def _refused(of: object) -> Any:
    refuse_rows()


class OfBatches(InBatches):
    """A problem whose rows are read in batches: sums over them can be had, and the rows themselves are refused in words."""

    totals: Sums
    """Sums of all rows, of which their number and weight are asked."""

    @property
    def example(self) -> Problem:
        """The first rows."""
        return self.head()

    def as_problem(self) -> Any:
        """Return the problem itself."""
        return self

    @property
    def size(self) -> int:
        """Number of rows; they are read for it, if they have not been read yet."""
        return self.totals.rows

    @cached_property
    def weights(self) -> _rows.Weights:
        """Whether there are any is known, and their sums once rows were read."""
        return UnreadWeights(self)

    def at(self, rows: object, weights: _rows.Weights | None = None) -> Any:
        """Rows are not available."""
        refuse_rows()

    def __repr__(self) -> str:
        return f"{type(self).__name__}(classes={self.classes.tolist()})"


class UnreadSimplex(OfBatches, SimplexProblem):  # type: ignore[override]
    """A problem of a forecast of K classes that is read in batches; one column is taken as two.

    It stands for the predictions as well, with what was read of them before: ``fixed`` are the cells of fixed bins.
    """

    label = top = of_true = property(_refused)

    def __init__(self, predictions: InBatches) -> None:
        self.predictions = predictions
        self.fixed: list[tuple[Pair, BinTable]] = []

    def head(self) -> SimplexProblem:
        """Return the first rows, as a table."""
        return as_simplex(self.predictions.head())

    @cached_property
    def forecast(self) -> _rows.Forecast:
        """What kind it is, and how many rows and classes it has."""
        return UnreadForecast(self)

    @cached_property
    def totals(self) -> Sums:  # type: ignore[override]
        """Sums of all rows."""
        return self.predictions.reduce(lambda batch, first: scan(batch, Plan()))

    def reduce(self, read: Read[M]) -> M:
        """Read each batch as a table."""
        return self.predictions.reduce(lambda batch, first: read(as_simplex(batch), first))

    def keep(self, sums: Sums) -> None:
        """Remember what was read: numbers of rows, and fixed cells, so that nothing is read for them again."""
        self.totals = sums
        self.fixed += list(zip(sums.plan.cells, sums.cells, strict=True))

    def read_before(self, plan: Plan) -> Sums | None:
        """Return the sums that a plan asks for, if they are over cells that have been read before."""
        found = [cells for asked in plan.cells for cells in [c for pair, c in self.fixed if pair == asked][:1]]
        if plan.scores or plan.noise or not plan.cells or len(found) < len(plan.cells):
            return None
        return replace(self.totals, plan=plan, cells=tuple(found), scores=np.zeros((0, plan.powers)))

    def scans(self, plans: Sequence[Plan]) -> tuple[Sums, ...]:
        """Return the sums of several plans; rows are read once for all of them."""
        fitted = [plan.fitted_to(self) for plan in plans]
        on_cells = [on_fixed_cells(plan, self) for plan in fitted]
        found = [sums for plan in on_cells if (sums := self.read_before(plan)) is not None]
        if len(found) < len(plans):
            read = self.predictions.reduce(lambda batch, at: Several(scan(batch, plan, first=at) for plan in on_cells))
            found = [replace(sums, plan=plan) for sums, plan in zip(read, on_cells, strict=True)]  # workers have copies
            for sums in found:
                self.keep(sums)
        return tuple(recut(sums, plan, self) for sums, plan in zip(found, fitted, strict=True))

    def cells(self, notion: Notion) -> BinTable:
        """Return the cells of the fine grid of each problem of a notion; rows are read for them once."""
        return scan(self, Plan.of_cells([fine_pair(self, notion)])).cells[0]

    def summed_parts(self, notion: Any) -> Iterator[BinaryProblem]:
        """Return the problems of the notion, with scores rounded to cells of the fine grid."""
        return (rounded(one, self) for one in self.cells(notion))


OfBatch = Callable[[Problem], BinaryProblem]
"""What makes the binary problem of a batch."""


class UnreadPart(OfBatches, BinaryProblem):  # type: ignore[override]
    """Problem number ``index`` of a notion, of a problem that is read in batches. What is read of it is read of all of them."""

    score = outcome = property(_refused)
    name = property(lambda self: self.head().name)
    simplex = property(lambda self: self.whole)

    def __init__(self, whole: UnreadSimplex, notion: Notion, index: int, of_batch: OfBatch) -> None:
        self.whole, self.notion, self.index, self.of_batch = whole, notion, index, of_batch

    @cached_property
    def _head(self) -> BinaryProblem:
        return self.of_batch(self.whole.predictions.head())

    def head(self) -> BinaryProblem:
        """Return the first rows."""
        return self._head

    @property
    def logit(self) -> FloatArray | None:
        """None of probabilities; logits are not available."""
        return None if self.head().logit is None else refuse_rows()

    @cached_property
    def totals(self) -> Sums:  # type: ignore[override]
        """Number and weight of the rows: of all of them, or those in the cells of one part of several."""
        if self.notion.n_parts(self.whole) == 1:
            return self.whole.totals
        one = self.whole.cells(self.notion)[self.index]
        rows, weight = int(one.bins.count.sum()), float(one.bins.weight.sum())
        return Sums(Plan(), rows, weight, one.weights, 2, (), np.zeros((0, 3)))

    def scans(self, plans: Sequence[Plan]) -> tuple[Sums, ...]:
        """Return the sums over bins of this problem, of those of all problems, for which rows are read once."""
        asked = [replace(plan, cells=tuple((self.notion, binning) for _, binning in plan.cells)) for plan in plans]
        found = [[BinTable.of([own[self.index]]) for own in sums.cells] for sums in self.whole.scans(asked)]
        return tuple(replace(self.totals, plan=of, cells=tuple(own)) for of, own in zip(plans, found, strict=True))

    def summed_parts(self, notion: Any) -> Iterator[BinaryProblem]:
        """Return this problem with scores rounded to cells, whatever the notion of one event."""
        yield list(self.whole.summed_parts(self.notion))[self.index]

    def reduce(self, read: Read[M]) -> M:
        """Read the batches; some may have no rows of this problem."""
        return self.whole.predictions.reduce(lambda batch, first: read(self.of_batch(batch), first))


class UnreadForecast(_rows.Forecast):
    """Probabilities or logits that are read in batches."""

    def __init__(self, problem: UnreadSimplex) -> None:
        self.problem = problem

    values = property(_refused)
    is_logit = property(lambda self: self.problem.head().forecast.is_logit)
    precision = property(lambda self: self.problem.head().precision)
    shape = property(lambda self: (self.problem.size, self.problem.classes.size))


class UnreadWeights(_rows.Weights):
    """Weights of rows that are read in batches: whether there are any is known, and their sums once rows were read."""

    def __init__(self, problem: OfBatches) -> None:
        self.problem = problem

    values = property(_refused)
    is_unit = property(lambda self: self.problem.head().weights.is_unit)
    are_rows = is_unit
    total = property(lambda self: self.problem.totals.weight)
    unit = property(lambda self: self.problem.totals.unit)

    def __len__(self) -> int:
        return self.problem.size

    @property
    def n_rows(self) -> int:
        """Number of rows that are reported: of counts their sum."""
        return int(self.total) if self.are_counts else len(self)


Unread = UnreadPart | UnreadSimplex


def is_unread(problem: Problem | InBatches) -> TypeGuard[Unread]:
    """Whether the rows of a problem are read in batches, so that only sums over them can be had."""
    return isinstance(problem, OfBatches)


def added(problem: Problem, read: Callable[[Problem], M], what: str) -> M:
    """Return what ``read`` finds in the rows; what it finds in batches adds up, where they have no weights."""
    if not is_unread(problem):
        return read(problem)
    if not problem.weights.is_unit:
        refuse_rows(f"{what} of weighted rows")
    return problem.reduce(lambda batch, first: read(batch))


# Predictions that are read in batches: files, streams and tables of other engines, larger than memory


FEW = MOST
"""Rows up to which predictions are put together in memory: then all functions take them, and give the same digits."""


class Predictions(InBatches):
    """Labels and predicted probabilities whose rows are read in batches, and never all at once.

    An object stands where a function has ``y_true`` and ``y_prob``. What an engine implements is ``reduce``, and what must be
    known before rows are read: ``classes``, ``precision`` and ``head``. Methods that need all rows use a ``sample``.
    """

    def as_problem(self) -> Problem:
        """Return the rows as a problem in memory where they are few, else one of which only sums can be had.

        Returns
        -------
        BinaryProblem or SimplexProblem
            What functions work on.
        """
        if not self.is_many:
            found = self.reduce(lambda batch, first: RowSample.of(batch, first, FEW))
            if found.n_rows <= FEW:
                return found.problem
        return UnreadSimplex(self)

    @property
    def is_many(self) -> bool:
        """Whether it is known, before all rows are read, that there are more than 4096."""
        return False

    def sample(self, n: int) -> dict[str, Any]:
        """Return some rows in memory, as the arguments of a function: ``log_loss(**predictions.sample(10_000))``.

        Parameters
        ----------
        n : int
            Number of rows; all of them if there are no more.

        Returns
        -------
        dict
            ``y_true``, ``y_prob`` and what has to be said of them: ``labels``, ``input``, ``sample_weight``. Which rows are
            taken depends on their numbers alone. Rows are numbered in the order in which they are read, so that the sample is
            the same in batches of any size, and another one in another order. A ``row_key`` numbers rows in any order.
        """
        return self.reduce(lambda batch, first: RowSample.of(batch, first, n)).arguments


# The only place that reads rows for metrics, scores and curves that are functions of sums


PARALLEL_FROM = 1 << 20
"""Numbers of a table from which several threads read it."""

SAVED, SAVED_OF_STRATA = 6e-9, 5e-8
"""Seconds a number that compiled loops save, of bins and of bins with their strata."""

OF_A_ROW = (ClassWise, Confidence, TopLabel, Binary, OneVsRest, Flattened)
"""Notions whose problems of a row depend on that row alone: their sums over chunks of rows add up to those of all."""


def scan(problem: Problem | InBatches, plan: Plan, *, first: int | Numbers = 0) -> Sums:
    """Read the rows of a problem once, and sum what the plan asks for.

    Parameters
    ----------
    problem : BinaryProblem, SimplexProblem or Predictions
        A valid problem, or a batch of one, which may have no rows; or predictions that are read in batches.
    plan : Plan
        What is asked for. A notion that labels decide is fitted to the problem: for batches call ``plan.fitted_to`` first.
    first : int or ndarray of shape (n,), default=0
        The number of the first row among all rows, by which rows are kept; of a batch, how many rows stand before it. Or the
        number of each row, where rows are in no order.

    Returns
    -------
    Sums
        Those of no rows are neutral: other sums plus them are the other sums.
    """
    if isinstance(problem, InBatches):
        return (problem if is_unread(problem) else UnreadSimplex(problem)).scans([plan])[0]
    if (n := problem.size) == 0:
        return Sums.of_no_rows(plan)
    plan, numbers = plan.fitted_to(problem), n * problem.classes.size
    if plan.cells and numbers > CHUNK and pays(numbers, SAVED_OF_STRATA if plan.noise else SAVED):
        import calibrant._kernels.sums  # noqa: F401 - what reads rows uses what is loaded
    by_row = tuple([pair for pair in plan.cells if type(pair[0]) in OF_A_ROW and type(pair[1]) is EqualWidth])
    if n <= CHUNK or not (by_row or plan.scores):
        return _all_at_once(problem, plan, first)

    def read(rows: slice) -> Sums:
        number = first[rows] if isinstance(first, np.ndarray) else first + rows.start
        return _all_at_once(problem.at(rows), replace(plan, cells=by_row), number)

    workers = n_processors() if numbers >= PARALLEL_FROM else 1
    total, rest = reduce(add, in_order(read, list(blocks(n, 1, CHUNK)), workers)), len(plan.cells) - len(by_row)
    if rest:
        others = tuple(pair for pair in plan.cells if pair not in by_row)
        found = _all_at_once(problem, replace(plan, cells=others, scores=()), first)
        cells = tuple((total if pair in by_row else found).of(*pair) for pair in plan.cells)
        total = replace(total, cells=cells, kept=found.kept if total.kept is None else total.kept)
    return replace(total, plan=plan, weight=problem.weights.total)


def _all_at_once(problem: Problem, plan: Plan, first: int | Numbers) -> Sums:
    """Sum what a plan asks for of rows of which what is made on the way is small enough, or that cannot be read in chunks."""
    weights, kept = problem.weights, None
    share_rows = plan.noise and not all(notion.one_score_a_row for notion, _ in plan.cells)
    if share_rows and not weights.repeat_rows and weights.are_counts:
        kept = RowSample.of(as_simplex(problem), first, MOST)
    return Sums(
        plan=plan,
        rows=problem.size,
        weight=weights.total,
        unit=weights.unit,
        n_classes=problem.classes.size,
        cells=_cells(problem, plan.cells, plan.noise and weights.are_counts),
        scores=_moments(problem, plan),
        kept=kept,
    )


def cells_of(problem: Problem, notion: Notion, binning: Binning) -> BinTable:
    """Return the bins of all problems of a notion that is fitted, each cut by a binning."""
    # Of one event nothing is made of the rows that chunks would keep small.
    if is_unread(problem) or (problem.size > CHUNK and type(notion) is not Binary):
        return scan(problem, Plan.of_cells([(notion, binning)])).cells[0]
    if has_loops(problem, notion, binning, noise=False):
        return _cells(problem, [(notion, binning)], noise=False)[0]
    return _of_notion(problem, notion, [binning], noise=False)[0]


def cut(problem: BinaryProblem, binning: Binning) -> Bins:
    """Cut the scores of a problem; of one that is read in batches fixed bins exactly, and others at the ends of fine cells."""
    if is_unread(problem):
        return scan(problem, Plan.of_cells([(Binary(), binning)])).cells[0][0].bins
    return binning(problem)


class Several(tuple[Sums, ...]):
    """Sums of several plans, which add up one by one."""

    __slots__ = ()

    def __add__(self, other: Several) -> Several:  # type: ignore[override]
        return Several(map(add, self, other))


def scans(problem: Problem, *plans: Plan) -> tuple[Sums, ...]:
    """Return the sums of several plans; rows that are read in batches are read once for all of them."""
    return problem.scans(plans) if is_unread(problem) else tuple([scan(problem, plan) for plan in plans])


def _cells(problem: Problem, asked: Sequence[Pair], noise: bool) -> tuple[BinTable, ...]:
    """Cut a problem in all ways that are asked for: in one pass over the rows of all parts where these are cut alike."""
    found: dict[int, BinTable] = {}
    at = [number for number, pair in enumerate(asked) if has_loops(problem, *pair, noise=noise)]
    if at:
        simplex, pairs = as_simplex(problem), [asked[number] for number in at]
        of_pairs: Iterable[Cut] = cut_table(simplex, pairs) if noise else bins_of_classes(simplex, pairs)
        for number, summed in zip(at, of_pairs, strict=True):
            found[number] = BinTable.of_cut(_names(problem, asked[number][0]), *summed, asked[number][0], problem)
    for number, (notion, _) in enumerate(asked):
        if number not in found:
            own = [k for k, (other, _) in enumerate(asked) if k not in found and (other is notion or other == notion)]
            found.update(zip(own, _of_notion(problem, notion, [asked[k][1] for k in own], noise), strict=True))
    return tuple(map(found.__getitem__, range(len(asked))))


def _of_notion(problem: Problem, notion: Notion, cuts: Sequence[Binning], noise: bool) -> list[BinTable]:
    """Cut the problems of a notion in several ways: all at once where bins are the same for all, else one by one."""
    stacked, unit = notion._stacked(problem), problem.weights.unit
    apart = [stacked is None or not cut.is_fixed for cut in cuts]
    each: list[list[BinnedProblem]] = [[] for _ in cuts]
    for binary in notion.split(problem) if any(apart) else ():
        for cut, own, is_apart in zip(cuts, each, apart, strict=True):
            if is_apart:
                bins, strata = _cut(binary, cut) if noise else (cut(binary), None)
                own.append(BinnedProblem(binary.name, binary.share, bins, unit, strata))
    found = []
    for cut, own in zip(cuts, each, strict=True):
        if own or stacked is None:
            found.append(BinTable.of(own))
        else:
            bins = sums_over(cut._partition(stacked.rows), stacked.rows, stacked.part, len(stacked.names))
            strata = Strata.of(stacked.rows, bins, stacked.part) if noise else None
            found.append(BinTable.of_cut(stacked.names, bins, strata, notion, problem))
    return found


def _cut(binary: BinaryProblem, binning: Binning) -> Cut:
    """Cut a problem, and split its bins by outcome."""
    if has_loop(binary, binary.size, binning):
        return cut_column(binary, binning)
    bins = binning(binary)
    return bins, Strata.of(binary, bins)


def _names(problem: Problem, notion: Notion) -> list[str]:
    """Return the names of the problems of a notion."""
    head = as_simplex(problem.at(slice(0, 1)))
    return [part.name for part in notion.parts(head.forecast.as_given, tuple(map(str, head.classes.tolist())))]


def _moments(problem: Problem, plan: Plan) -> FloatArray:
    """Sum weighted powers of the values of the rows, of shape (scores, powers); the rows are read once, block by block."""
    sums = np.zeros((len(plan.scores), plan.powers))
    for part in _rows.in_blocks(problem) if plan.scores else ():
        simplex = as_simplex(part)
        for number, (_, score) in enumerate(plan.scores):
            value = score(simplex)
            power = value if simplex.weights.is_unit else value * simplex.weight
            for k in range(plan.powers):
                sums[number, k] += power.sum()
                if k + 1 < plan.powers:
                    power = power * value
    return sums
