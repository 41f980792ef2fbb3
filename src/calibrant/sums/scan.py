"""The only place that reads rows for metrics, scores and curves that are functions of sums."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import add

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.loading import pays
from calibrant._core.problem import BinaryProblem, Problem, SimplexProblem, as_simplex, row_blocks
from calibrant._core.threads import in_order, n_processors
from calibrant.binning import Binning, Bins, EqualWidth
from calibrant.binning.base import chunks
from calibrant.binning.even_index import even_index
from calibrant.notions import Binary, Notion
from calibrant.sums.compiled import cut_column, cut_table, has_loop, has_loops
from calibrant.sums.in_chunks import SAVED, can_be_cut_in_chunks, cut_chunk
from calibrant.sums.kept_rows import KeptRows, Numbers
from calibrant.sums.plan import Plan, distinct
from calibrant.sums.predictions import Predictions
from calibrant.sums.recut import on_fixed_cells, recut
from calibrant.sums.strata import Strata
from calibrant.sums.sums import BinnedProblem, Sums, Unit, cells_of_classes
from calibrant.sums.unread import Reading, Unread, UnreadBinary, is_unread, unread

PARALLEL_FROM = 1 << 20
"""Numbers of a table from which several threads read it."""

Cells = tuple[BinnedProblem, ...]


def scan(problem: Problem | Predictions, plan: Plan, *, first: int | Numbers = 0) -> Sums:
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
    if isinstance(problem, Predictions):
        problem = unread(problem)
    if is_unread(problem):
        return scans(problem, plan)[0]
    if problem.size == 0:
        return Sums.of_no_rows(plan)
    plan = plan.fitted_to(problem)
    unit = Unit.of(problem.weights)
    scores, read = _in_chunks(problem, unit, plan)
    cells, kept = _cells(problem, unit, plan, read), None
    if plan.keeps_rows and not problem.weights.repeat_rows and problem.weights.are_counts:
        kept = KeptRows.of(as_simplex(problem), first, cells_of_classes(plan, cells))
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
    unit = Unit.of(problem.weights)
    return tuple(BinnedProblem(one.name, one.share, binning(one), unit) for one in notion.split(problem))


def cut(problem: BinaryProblem, binning: Binning) -> Bins:
    """Cut the scores of a problem; of one that is read in batches fixed bins exactly, and others at the ends of fine cells."""
    if isinstance(problem, UnreadBinary):
        return scan(problem, Plan.of_cells([(Binary(), binning)])).cells[0][0].bins
    return binning(problem)


Reading.scan = scan


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
    found = problem.reduce(lambda batch, at: Several(scan(batch, plan, first=at) for plan in plans))
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
        import calibrant._kernels.binned  # noqa: F401 - chunks use what is loaded

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
