"""One of the binary problems that a notion makes of rows which are read in batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from operator import add
from typing import Any, NoReturn, TypeGuard

import numpy as np

from calibrant._core.arrays import FloatArray
from calibrant._core.checks import refuse
from calibrant._core.rows import (
    BinaryProblem,
    Forecast,
    InBatches,
    M,
    Mergeable,
    Problem,
    Read,
    SimplexProblem,
    Unit,
    Weights,
    as_simplex,
    row_blocks,
)
from calibrant._core.threads import FEWEST, are_loaded, in_order, n_processors, pays
from calibrant.binning import Binning, Bins, EqualWidth
from calibrant.binning.bins import CHUNK, MOST_BINS, between_infinities, chunks, even_edges, even_index
from calibrant.notions import Binary, ClassWise, Confidence, Notion, TopLabel
from calibrant.sums.compiled import cut_column, cut_table, has_loop, has_loops
from calibrant.sums.draws import MOST, SAMPLED, Numbers, RowSample, Strata
from calibrant.sums.sums import (
    BinnedProblem,
    Plan,
    Sums,
    distinct,
    fine_pair,
    on_fixed_cells,
    recut,
    rounded,
)

# Bins of a table, chunk of rows by chunk of rows, so that nothing as large as the table is made on the way


SAVED = 6e-9
"""Seconds a number that the compiled loop over all classes saves."""

Pair = tuple[Notion, Binning]


def can_be_cut_in_chunks(problem: Problem, notion: Notion, binning: Binning) -> bool:
    """Whether there are several chunks of a table, its edges are fixed, and the parts of a row depend on that row alone."""
    by_row = type(notion) in (ClassWise, Confidence, TopLabel) and type(binning) is EqualWidth
    return by_row and isinstance(problem, SimplexProblem) and problem.size > CHUNK


def cut_chunk(chunk: SimplexProblem, asked: Sequence[Pair]) -> list[list[Bins]]:
    """Return the bins of each part, for each notion and binning."""
    found: list[list[Bins]] = [[] for _ in asked]
    for notion in distinct(notion for notion, _ in asked):
        own = [(into, cut) for into, (other, cut) in zip(found, asked, strict=True) if other == notion]
        if type(notion) is ClassWise and chunk_has_loop(chunk, [cut for _, cut in own]):
            for into, cut in own:
                into += _bins_of_classes(chunk, cut)
            continue
        for binary in notion.split(chunk):
            for into, cut in own:
                into.append(cut(binary))
    return found


def chunk_has_loop(chunk: SimplexProblem, cuts: Sequence[Binning]) -> bool:
    """Whether all classes of a chunk are summed by one compiled loop: the same sums to the last bit."""
    prob = chunk.forecast.as_given
    if not all(isinstance(cut, EqualWidth) and cut.n_bins <= MOST_BINS for cut in cuts):
        return False
    return chunk.weights.is_unit and prob.flags.c_contiguous and are_loaded() and prob.size >= FEWEST


def _bins_of_classes(chunk: SimplexProblem, binning: Binning) -> Iterator[Bins]:
    """Sum the rows of a chunk that weigh one each over the bins of each class."""
    from calibrant._kernels.sums import add_classes

    assert isinstance(binning, EqualWidth)
    edges = even_edges(binning.n_bins, chunk.precision)
    # numba would compile another loop for what is strided or cannot be written to.
    prob = np.require(chunk.forecast.as_given, requirements=("C", "W"))
    label = np.require(chunk.label, requirements=("C", "W"))
    shape = prob.shape[1], edges.n_cells
    count, events = np.zeros((2, *shape), dtype=np.intp)
    scores = np.zeros(shape)
    at = between_infinities(edges.edges)
    add_classes(prob, label, at, count.ravel(), events.ravel(), scores.ravel())
    for held, sums, occurred in zip(count, scores, events, strict=True):
        yield Bins(edges, held, held.astype(np.float64), sums, occurred.astype(np.float64))


# Problems whose rows are not in memory: sums over them can be had, and asking for the rows themselves is refused in words


class Reading:
    """What has been read of predictions so far: sums over all rows, once there are any."""

    def __init__(self, predictions: InBatches, head: Problem) -> None:
        self.predictions, self.head = predictions, head
        self.fixed: list[tuple[Pair, Cells]] = []

    @cached_property
    def totals(self) -> Sums:
        """Sums of all rows, of which their number and weight are asked."""
        return self.predictions.reduce(lambda batch, first: scan(batch, Plan()))

    def keep(self, sums: Sums) -> None:
        """Remember what was read: numbers of rows, and fixed cells, so that nothing is read for them again."""
        self.totals = sums
        self.fixed += list(zip(sums.plan.cells, sums.cells, strict=True))

    @property
    def event_rate(self) -> float | None:
        """Share of events of a problem of one event, if its rows have been cut into cells; else None."""
        whole = [cells[0].bins for _, cells in self.fixed if len(cells) == 1]
        return float(whole[0].outcome_sum.sum() / whole[0].weight.sum()) if whole else None

    def known(self, plan: Plan) -> Sums | None:
        """Return the sums that a plan asks for, if they are over cells that have been read before."""
        if plan.scores or plan.noise or not plan.cells:
            return None
        found = [[cells for pair, cells in self.fixed if pair == asked] for asked in plan.cells]
        if not all(found):
            return None
        return replace(
            self.totals, plan=plan, cells=tuple(cells[0] for cells in found), scores=np.zeros((0, plan.powers))
        )


def _refused(of: object) -> Any:
    refuse_rows()


class OfBatches(InBatches):
    """A problem whose rows are read in batches: sums over them can be had, and the rows themselves are refused in words.

    It stands for the predictions as well, with what was read of them before.
    """

    def __init__(self, reading: Reading) -> None:
        self.reading = reading

    def head(self) -> Problem:
        """Return the first rows."""
        return self.reading.head

    def as_problem(self) -> Problem:
        """Return the problem itself."""
        assert isinstance(self, (UnreadBinary, UnreadSimplex))
        return self

    @property
    def example(self) -> Problem:
        """The first rows."""
        return self.head()

    @property
    def size(self) -> int:
        """Number of rows; they are read for it, if they have not been read yet."""
        return self.reading.totals.rows

    @cached_property
    def weights(self) -> Weights:
        """Whether there are any is known, and their sums once rows were read."""
        return UnreadWeights(self.reading)

    def at(self, rows: object, weights: Weights | None = None) -> Any:
        """Rows are not available."""
        refuse_rows()

    def cells(self, notion: Notion) -> Cells:
        """Return the cells of the fine grid of each problem of a notion; rows are read for them once."""
        problem = self.as_problem()
        return scan(problem, Plan.of_cells([fine_pair(problem, notion)])).cells[0]

    def summed_parts(self, notion: Any) -> Iterator[BinaryProblem]:
        """Return the problems of the notion, with scores rounded to cells of the fine grid."""
        return (rounded(one, self.as_problem()) for one in self.cells(notion))

    def scanned(self, plan: Plan) -> Sums | None:
        """Return the sums that a plan asks for, where another problem is read for them."""
        return None

    def reduce(self, read: Read[M]) -> M:
        """Read the batches."""
        return self.reading.predictions.reduce(read)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(classes={self.classes.tolist()})"


class UnreadBinary(OfBatches, BinaryProblem):  # type: ignore[override]
    """A binary problem that is read in batches."""

    score = outcome = property(_refused)

    @property
    def logit(self) -> FloatArray | None:
        """None of probabilities; logits are not available."""
        return None if self.reading.head.logit is None else refuse_rows()  # type: ignore[union-attr]

    def in_two_columns(self) -> SimplexProblem:
        """Return the same rows as a forecast of two classes, which is not read yet either."""
        return UnreadSimplex(self.reading)


class UnreadSimplex(OfBatches, SimplexProblem):  # type: ignore[override]
    """A problem of a forecast of K classes that is read in batches; those of a binary problem are taken as two columns."""

    label = property(_refused)

    def head(self) -> SimplexProblem:
        """Return the first rows, as a table."""
        return as_simplex(self.reading.head)

    @cached_property
    def forecast(self) -> Forecast:
        """What kind it is, and how many rows and classes it has."""
        return UnreadForecast(self)

    def reduce(self, read: Read[M]) -> M:
        """Read each batch, as tables of two columns if they are of one."""
        return self.reading.predictions.reduce(lambda batch, first: read(as_simplex(batch), first))


class UnreadForecast(Forecast):
    """Probabilities or logits that are read in batches."""

    def __init__(self, problem: UnreadSimplex) -> None:
        self.problem = problem

    values = property(_refused)
    is_logit = property(lambda self: self.problem.head().forecast.is_logit)
    precision = property(lambda self: self.problem.head().precision)
    shape = property(lambda self: (self.problem.size, self.problem.classes.size))


class UnreadWeights(Weights):
    """Weights of rows that are read in batches: whether there are any is known, and their sums once rows were read."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading

    values = property(_refused)
    is_unit = property(lambda self: self.reading.head.weights.is_unit)
    are_rows = is_unit
    total = property(lambda self: self.reading.totals.weight)
    unit = property(lambda self: self.reading.totals.unit)

    def __len__(self) -> int:
        return self.reading.totals.rows

    @property
    def n_rows(self) -> int:
        """Number of rows that are reported: of counts their sum."""
        return int(self.total) if self.are_counts else len(self)


Unread = UnreadBinary | UnreadSimplex


def unread(predictions: InBatches) -> Unread:
    """Return predictions that are read in batches as a problem of their kind."""
    reading = Reading(predictions, predictions.head())
    return UnreadSimplex(reading) if isinstance(reading.head, SimplexProblem) else UnreadBinary(reading)


def is_unread(problem: Problem) -> TypeGuard[Unread]:
    """Whether the rows of a problem are read in batches, so that only sums over them can be had."""
    return isinstance(problem, OfBatches)


def added(problem: Problem, read: Callable[[Problem], M], what: str) -> M:
    """Return what ``read`` finds in the rows; what it finds in batches adds up, where they have no weights."""
    if not is_unread(problem):
        return read(problem)
    if not problem.weights.is_unit:
        refuse_rows(f"{what} of weighted rows")
    return problem.reduce(lambda batch, first: read(batch))


def require_rows(problem: Problem, what: str) -> Problem:
    """Return a problem whose rows are in memory, or refuse one that is read in batches."""
    if is_unread(problem):
        refuse_rows(what)
    return problem


def refuse_rows(what: str = "this") -> NoReturn:
    """Refuse to have all rows in memory."""
    refuse(
        f"{what} needs all rows in memory",
        got="predictions that are read in batches, of which there are only sums",
        hint=f"Take a sample, {SAMPLED}, or leave it out",
    )


# Predictions that are read in batches: files, streams and tables of other engines, larger than memory


__all__ = ["FEW", "M", "Mergeable", "Predictions", "Read"]

FEW = MOST
"""Rows up to which predictions are put together in memory: then all functions take them, and give the same digits."""


class Predictions(InBatches):
    """Labels and predicted probabilities whose rows are read in batches, and never all at once.

    An object stands where a function has ``y_true`` and ``y_prob``. What an engine implements is ``reduce``, and what must be
    known before rows are read: ``classes``, ``precision`` and ``head``. What needs all rows takes a ``sample``.
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
        return unread(self)

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

Cells = tuple[BinnedProblem, ...]


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
        return scans(problem if isinstance(problem, (UnreadBinary, UnreadSimplex)) else unread(problem), plan)[0]
    if problem.size == 0:
        return Sums.of_no_rows(plan)
    plan = plan.fitted_to(problem)
    unit = problem.weights.unit
    scores, read = _in_chunks(problem, unit, plan)
    cells, kept = _cells(problem, unit, plan, read), None
    if plan.keeps_rows and not problem.weights.repeat_rows and problem.weights.are_counts:
        kept = RowSample.of(as_simplex(problem), first, MOST)
    return Sums(
        plan=plan,
        rows=problem.size,
        weight=problem.weights.total,
        unit=unit,
        n_classes=problem.classes.size,
        cells=cells,
        scores=scores,
        kept=kept,
    )


def cells_of(problem: Problem, notion: Notion, binning: Binning) -> Cells:
    """Return the problems of a notion that is fitted, each cut by a binning; one column in memory needs no plan."""
    if is_unread(problem) or not isinstance(problem, BinaryProblem):
        return scan(problem, Plan.of_cells([(notion, binning)])).cells[0]
    unit = problem.weights.unit
    return tuple(BinnedProblem(one.name, one.share, binning(one), unit) for one in notion.split(problem))


def cut(problem: BinaryProblem, binning: Binning) -> Bins:
    """Cut the scores of a problem; of one that is read in batches fixed bins exactly, and others at the ends of fine cells."""
    if isinstance(problem, UnreadBinary):
        return scan(problem, Plan.of_cells([(Binary(), binning)])).cells[0][0].bins
    return binning(problem)


class Several(tuple[Sums, ...]):
    """Sums of several plans, which add up one by one."""

    __slots__ = ()

    def __add__(self, other: Several) -> Several:  # type: ignore[override]
        return Several(map(add, self, other))


def scans(problem: Problem, *plans: Plan) -> tuple[Sums, ...]:
    """Return the sums of several plans; rows that are read in batches are read once for all of them."""
    if not is_unread(problem):
        return tuple(scan(problem, plan) for plan in plans)
    of_part = [sums for plan in plans if (sums := problem.scanned(plan)) is not None]
    if len(of_part) == len(plans):
        return tuple(of_part)
    fitted = [plan.fitted_to(problem) for plan in plans]
    found = _read(problem, [on_fixed_cells(plan, problem) for plan in fitted])
    return tuple(recut(sums, plan, problem) for sums, plan in zip(found, fitted, strict=True))


def _read(problem: Unread, plans: list[Plan]) -> Sequence[Sums]:
    """Return the sums of plans over fixed cells, which may have been read before."""
    known = [sums for plan in plans if (sums := problem.reading.known(plan)) is not None]
    if len(known) == len(plans):
        return known
    read = problem.reduce(lambda batch, at: Several(scan(batch, plan, first=at) for plan in plans))
    found = [replace(sums, plan=plan) for sums, plan in zip(read, plans, strict=True)]  # other processes have copies
    for sums in found:
        problem.reading.keep(sums)
    return found


def _in_chunks(problem: Problem, unit: Unit, plan: Plan) -> tuple[FloatArray, dict[int, Cells]]:
    """Return the moments of the scores, and the cells that a chunk of rows can be cut into, by their number in the plan."""
    has_strata = plan.noise and problem.weights.are_counts
    at = [k for k, pair in enumerate(plan.cells) if not has_strata and can_be_cut_in_chunks(problem, *pair)]
    if not (at or plan.scores):
        return np.zeros((0, plan.powers)), {}
    asked = [plan.cells[number] for number in at]
    if at and pays(problem.size * problem.classes.size, SAVED):
        import calibrant._kernels.sums  # noqa: F401 - chunks use what is loaded

    def read(rows: slice) -> tuple[FloatArray, list[list[Bins]]]:
        chunk = problem.at(rows)
        cut = cut_chunk(chunk, asked) if isinstance(chunk, SimplexProblem) else []
        return _moments(chunk, plan), cut

    workers = n_processors() if problem.size * problem.classes.size >= PARALLEL_FROM else 1
    scores, bins = np.zeros((len(plan.scores), plan.powers)), None
    for moments, cut in in_order(read, list(chunks(problem.size)), workers):
        scores += moments
        bins = cut if bins is None else [list(map(add, *pair)) for pair in zip(bins, cut, strict=True)]
    parts = zip(at, asked, bins or (), strict=True)
    return scores, {
        number: _named(problem, notion, [(one, None) for one in own], unit) for number, (notion, _), own in parts
    }


def _cells(problem: Problem, unit: Unit, plan: Plan, known: Mapping[int, Cells]) -> tuple[Cells, ...]:
    """Split the problem by each notion once, and cut each part in all ways that are asked for and not known."""
    found: list[list[BinnedProblem]] = [list(known.get(number, ())) for number in range(len(plan.cells))]
    at = [number for number, pair in enumerate(plan.cells) if plan.noise and has_loops(problem, *pair)]
    for number, cuts in zip(at, cut_table(as_simplex(problem), [plan.cells[k] for k in at]) if at else (), strict=True):
        found[number] += _named(problem, plan.cells[number][0], cuts, unit)
    rest = [(into, *pair) for into, pair in zip(found, plan.cells, strict=True) if not into]
    for notion in distinct(notion for _, notion, _ in rest):
        asked = [(into, cut) for into, other, cut in rest if other == notion]
        for binary in notion.split(problem):
            for into, cut in asked:
                bins, strata = _cut(binary, cut, noise=plan.noise and problem.weights.are_counts)
                into.append(BinnedProblem(binary.name, binary.share, bins, unit, strata))
    return tuple(map(tuple, found))


def _cut(binary: BinaryProblem, binning: Binning, *, noise: bool) -> tuple[Bins, Strata | None]:
    """Cut a problem, and split its bins by outcome where noise is drawn from them."""
    if not noise:
        return binning(binary), None
    if has_loop(binary, binning):
        return cut_column(binary, binning)
    bins = binning(binary)
    if type(binning) is not EqualWidth:
        return bins, Strata.of(binary, bins)
    unit = float(np.finfo(binary.precision).eps)
    return bins, Strata.of(binary, bins, lambda score: even_index(bins.edges, score, unit))


def _named(
    problem: Problem, notion: Notion, cuts: Sequence[tuple[Bins, Strata | None]], unit: Unit
) -> tuple[BinnedProblem, ...]:
    """Give bins and strata the names and shares of the problems of a notion."""
    names = _names(as_simplex(problem.at(slice(0, 1))), notion)
    weight, n_classes = np.array([bins.weight.sum() for bins, _ in cuts]), problem.classes.size
    shares = notion.shares(weight, problem.weights.total, n_classes).tolist()
    found = zip(names, shares, cuts, strict=True)
    return tuple(BinnedProblem(name, share, bins, unit, strata) for name, share, (bins, strata) in found)


def _names(simplex: SimplexProblem, notion: Notion) -> list[str]:
    """Return the names of the problems of a notion, without the problems."""
    classes = tuple(str(one) for one in simplex.classes.tolist())
    return [part.name for part in notion.parts(simplex.forecast.as_given, classes)]


def _moments(problem: Problem, plan: Plan) -> FloatArray:
    """Sum weighted powers of the values of the rows, of shape (scores, powers); the rows are read once, block by block."""
    sums = np.zeros((len(plan.scores), plan.powers))
    for rows in row_blocks(problem) if plan.scores else ():
        simplex = as_simplex(problem.at(rows))
        for number, (_, score) in enumerate(plan.scores):
            value = score(simplex)
            power = value if simplex.weights.is_unit else value * simplex.weight
            for k in range(plan.powers):
                sums[number, k] += power.sum()
                if k + 1 < plan.powers:
                    power = power * value
    return sums


# One of the binary problems that a notion makes of rows which are read in batches


OfBatch = Callable[[Problem], BinaryProblem]
"""What makes the binary problem of a batch."""


class UnreadPart(UnreadBinary):
    """Problem number ``index`` of a notion, of a problem that is read in batches. What is read of it is read of all of them."""

    def __init__(self, whole: Unread, notion: Notion, index: int, of_batch: OfBatch) -> None:
        self.whole, self.notion, self.index, self.of_batch = whole, notion, index, of_batch
        super().__init__(_PartReading(self, of_batch(whole.reading.head)))

    name = property(lambda self: self.head().name)

    def scanned(self, plan: Plan) -> Sums | None:
        """Return the sums over bins of this problem, of those of all problems, for which rows are read once."""
        if plan.scores:
            return None
        asked = replace(plan, cells=tuple((self.notion, binning) for _, binning in plan.cells))
        cells = tuple((own[self.index],) for own in scan(self.whole, asked).cells)
        return replace(self.reading.totals, plan=plan, cells=cells)

    def summed_parts(self, notion: Any) -> Iterator[BinaryProblem]:
        """Return this problem with scores rounded to cells, whatever the notion of one event."""
        yield list(self.whole.summed_parts(self.notion))[self.index]

    def in_two_columns(self) -> SimplexProblem:
        """Return the whole problem as a table."""
        return as_simplex(self.whole)

    def reduce(self, read: Read[M]) -> M:
        """Read the batches; some may have no rows of this problem."""
        return self.whole.reduce(lambda batch, first: read(self.of_batch(batch), first))


class _PartReading(Reading):
    """What has been read of a part."""

    predictions: UnreadPart

    @cached_property
    def totals(self) -> Sums:
        """Number and weight of the rows, from the cells of the part."""
        one = self.predictions.whole.cells(self.predictions.notion)[self.predictions.index]
        rows, weight = int(one.bins.count.sum()), float(one.bins.weight.sum())
        return Sums(Plan(), rows, weight, one.weights, 2, (), np.zeros((0, 3)))
