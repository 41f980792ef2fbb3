"""The noise of calibration errors: how the sums of residuals in each cell, a bin of a problem, vary by chance.

A deviation is a sum of weighted residuals y - p over the rows of a cell. At calibration its noise is that of labels that the
forecast itself draws. Of another truth it is that of events at the rates of this truth, in bins; through a lens, whose
cells are too small to have rates, it goes over into the bootstrap's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.problem import BinaryProblem, BoolArray, IntArray, Problem, SimplexProblem
from calibrant._core.registry import named
from calibrant._core.weights import Weights
from calibrant.binning import Binning
from calibrant.lenses.base import Lens, Size, View
from calibrant.metrics.uncertainty.estimate import Law, steps_for
from calibrant.metrics.uncertainty.rare_events import RareEvents
from calibrant.notions import ClassWise, Notion
from calibrant.sums import BinnedProblem, Plan, Sums, scan
from calibrant.sums.draws import Bootstrap, CellArray, ConsistentLabels
from calibrant.sums.kept_rows import MOST as MOST_KEPT
from calibrant.sums.noise import Moments, Together
from calibrant.sums.unread import is_unread

Draws = Iterable[IntArray]

FEW_EVENTS = 0.5
"""Variance of the number of events of a cell, below which it is drawn as a number."""

FAR = 1e5
"""Deviations larger than noise by this factor have a size that is linear in the noise."""

SPREADS = (0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.6, 2.0, 3.0, 6.0)
"""Deviations of gaps, in units of a typical deviation of noise, of the truths that a figure is compared with."""

STRETCHES = (1.1, 1.25, 1.5)
"""What the last of these gaps is multiplied with, so that truths beyond the observed one are tried."""

EVENNESS = 0.2
"""Part of what noise leaves unknown of a squared gap that is taken to be there. Without it true errors that are spread
over all bins lie above the interval too often, with all of it those of one class below (decision 30)."""

BLOCK = 1 << 20
"""Rows times classes looked at together."""

MOST_BY_ROW = MOST_KEPT
"""Rows up to which labels are drawn for each of them; of more the noise is drawn from the strata of the cells."""


@dataclass(frozen=True)
class Sizes:
    """How large deviations are: ``look`` is linear in them, ``size`` takes what was seen, so that each is looked at once.

    ``look`` turns deviations (m, n_cells) into what is seen of each part, arrays (m, d); ``size`` turns these into (m,).
    A mean over cells is compared with truths that are `shrunk`; a largest value, that of the emptiest cell, is not.
    """

    look: Callable[[FloatArray], list[FloatArray]]
    size: Callable[[list[FloatArray]], FloatArray]
    shrinks: bool = False

    def __call__(self, deviations: FloatArray) -> FloatArray:
        """Size of each row of deviations."""
        return self.size(self.look(deviations))


@dataclass(frozen=True, eq=False)
class Cells:
    """The bins of all problems of a notion, side by side.

    Each cell has a count of rows, a weight (they sum to one), the ``expected`` sum of its weighted scores, a ``scale`` that
    turns weighted residuals into its deviation, that deviation, and the ``part`` of the notion whose it is. ``placed`` finds
    the cells of the rows. Of many rows there are the ``moments``, and where one row stands in several cells kept rows show how
    these vary ``together``.
    """

    placed: Callable[[], CellArray]
    count: FloatArray
    weight: FloatArray
    scale: FloatArray
    expected: FloatArray
    deviation: FloatArray
    part: IntArray
    moments: Moments | None = None
    together: Together | None = None

    @cached_property
    def of(self) -> CellArray:
        """Cell in which row i stands with class j, or -1, shape (n, K)."""
        return self.placed()

    @property
    def held(self) -> Cells:
        """The cells that hold rows, where there are moments to draw their noise from."""
        some = self.count > 0.0
        if self.moments is None or some.all() or not some.any():
            return self
        # The last number is that of no cell, -1.
        number = np.append(np.where(some, np.cumsum(some) - 1, -1), -1).astype(np.int32)
        return replace(
            self,
            placed=lambda: number[self.of],
            count=self.count[some],
            weight=self.weight[some],
            scale=self.scale[some],
            expected=self.expected[some],
            deviation=self.deviation[some],
            part=self.part[some],
            moments=self.moments.at(some),
            together=None if self.together is None else replace(self.together, of=number[self.together.of]),
        )

    @property
    def prob(self) -> FloatArray:
        """Mean score of each cell."""
        return np.clip(self.scale * self.expected / np.where(self.weight > 0.0, self.weight, 1.0), 0.0, 1.0)

    @property
    def gap(self) -> FloatArray:
        """Event rate minus mean score of each cell."""
        return self.deviation / np.where(self.weight > 0.0, self.weight, 1.0)

    def sizes(self, lens: Lens, size: Size) -> Sizes:
        """Return how to take the size of what a lens sees of deviations, of all cells at once or part by part."""
        held = self.weight > 0
        if not held.any():  # a notion that found no row to speak of
            return Sizes(lambda deviations: [deviations], lambda seen: np.zeros(len(seen[0])), shrinks=size.shrinks)
        all_of_them = slice(None) if held.all() else held  # a view: to choose all by a mask is to copy them
        parts = [all_of_them] if size.is_joint else [held & (self.part == j) for j in np.unique(self.part[held])]
        weights = [self.weight[rows] for rows in parts]
        views = [self._view(lens, rows) for rows in parts]
        return Sizes(
            lambda deviations: [
                view.look(deviations[:, rows] / w) for view, rows, w in zip(views, parts, weights, strict=True)
            ],
            lambda seen: size.of_seen(views, weights, seen),
            shrinks=size.shrinks,
        )

    def _view(self, lens: Lens, held: BoolArray | slice) -> View:
        """Hold a lens over some cells."""
        weight = self.weight[held]
        score = np.clip(self.scale[held] * self.expected[held] / weight, 0.0, 1.0)
        return lens.over_cells(BinaryProblem(score, np.zeros(score.size, dtype=bool), Weights(weight)))


def draws_from_sums(problem: Problem, *notions: Notion) -> bool:
    """Whether noise is drawn from sums: rows are many, count alike, and are not known to the notions by their places."""
    known = all(notion.one_score_a_row or named(type(notion)) is not None for notion in notions)
    return known and problem.weights.is_unit and (is_unread(problem) or problem.size > MOST_BY_ROW)


def labels_drawn(
    problem: SimplexProblem, tables: Sequence[Cells], n_resamples: int, rng: np.random.Generator
) -> ConsistentLabels:
    """Return labels that the forecast draws, of no row where the noise of all tables is drawn from sums."""
    by_sums = all(table.moments is not None for table in tables)
    return ConsistentLabels(np.empty((0, problem.classes.size)) if by_sums else problem.prob, n_resamples, rng)


def cells(problem: SimplexProblem, notion: Notion, binning: Binning, sums: Sums | None = None) -> Cells:
    """Cut a problem into the cells of a notion and a binning, of which the ``sums`` may be known already."""
    asked = (notion, binning)
    by_sums = draws_from_sums(problem, notion)
    known = sums if sums is not None and asked in sums.plan.cells and (sums.plan.noise or not by_sums) else None
    if known is None:
        known = scan(problem, Plan.of_cells([asked], noise=by_sums))
    problems = known.of(*asked)
    columns: list[tuple[FloatArray | IntArray, ...]] = []
    for number, one in enumerate(problems):
        bins = one.bins
        if not bins.count.any():
            continue
        factor = one.share / bins.weight.sum()
        columns.append(
            (
                bins.count.astype(np.float64),
                factor * bins.weight,
                np.full(len(bins), factor),
                bins.score_sum,
                factor * (bins.outcome_sum - bins.score_sum),
                np.full(len(bins), number),
            )
        )
    if not columns:  # a notion that found no row to speak of: one cell without weight
        columns.append((*np.zeros((5, 1)), np.zeros(1, dtype=np.intp)))
    count, weight, scale, expected, deviation, part = map(np.concatenate, zip(*columns, strict=True))
    return Cells(
        lambda: _placed(problem.prob, notion, problems, (binary.score for binary in notion.split(problem))),
        count,
        weight,
        scale,
        expected,
        deviation,
        part,
        moments=Moments.of([one for one in problems if one.bins.count.any()]) if by_sums else None,
        together=_together(notion, problems, known) if by_sums and not notion.one_score_a_row else None,
    )


def _placed(
    prob: FloatArray, notion: Notion, problems: Sequence[BinnedProblem], scores: Iterable[FloatArray]
) -> CellArray:
    """Return the cell of each row and class, or -1, shape (n, K); problems without rows have no cells."""
    of: CellArray = np.full(prob.shape, -1, dtype=np.int32)
    start = 0
    for part, score, one in zip(notion.parts(prob), scores, problems, strict=True):
        if one.bins.count.any():
            part.put(of, start + one.bins.index(score))
            start += len(one.bins)
    return of


def _together(notion: Notion, problems: Sequence[BinnedProblem], sums: Sums) -> Together | None:
    """Return kept rows with their cells."""
    if sums.kept is None:
        return None
    prob = sums.kept.prob
    scores = (part.scores(prob) for part in notion.parts(prob))
    of = _placed(prob, notion, problems, scores)
    if type(notion) is not ClassWise:
        return Together(prob, of, np.ones(len(prob)))
    count = np.concatenate([one.bins.count for one in problems]).astype(np.float64)
    return Together(prob, of, sums.kept.weights(of.astype(np.intp), count, sums.rows))


@dataclass(frozen=True, eq=False)
class Noise:
    """Noise of the deviation of each cell, shape (n_resamples, n_cells).

    The ``consistent`` ones are those of labels that the forecast itself drew. Of cells that are bins they are enough: ``rows``
    (n_cells,) are the numbers of equal rows that vary as much. Of groups of neighbouring scores, of which no event rate is
    known, ``bootstrap`` are deviations about the observed ones. ``seed`` makes what is drawn later the same for each metric.
    """

    cells: Cells
    consistent: FloatArray
    rows: FloatArray
    seed: int
    bootstrap: FloatArray | None = None

    def law(self, sizes: Sizes) -> Law:
        """Sizes that would be observed, of truths from calibration through the observed deviations and beyond."""
        value = float(sizes(self.cells.deviation[None])[0])
        steps = steps_for(value, sizes(self.consistent))
        if self.bootstrap is not None:
            found = _law_of(sizes, value, self._by_rows(self.bootstrap, steps))
            return replace(found, shifts=self._shifts(sizes, value, self.bootstrap))
        seen = _law_of(sizes, value, self._by_rates(steps[:, None] * self.cells.gap))
        gaps = shrunk(self.cells, self.rows) if sizes.shrinks else steps[:, None] * possible(self.cells, self.rows)
        return replace(_law_of(sizes, value, self._by_rates(gaps)), seen=seen)

    def _shifts(self, sizes: Sizes, value: float, bootstrap: FloatArray) -> FloatArray | None:
        """By how much noise shifts the size of deviations that are far larger than it, of the observed direction.

        What is seen through a lens is rougher than the truth, and to stretch it is to stretch its noise: the largest of many
        bumps is seldom small. A convex size is shifted by no less than one that is so large.
        """
        reach = float(sizes(bootstrap).max())
        if value <= FAR * np.finfo(float).eps * reach:
            return None
        far = FAR * max(reach, value) / value * self.cells.deviation
        shifts: FloatArray = sizes(far + bootstrap) - sizes(far[None])[0]
        return shifts

    def _by_rows(self, bootstrap: FloatArray, steps: FloatArray) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Yield the observed deviations times each step; the noise goes from that of calibration to the bootstrap's."""
        for step in steps:
            part = min(float(step), 1.0)
            noise = np.sqrt(1.0 - part) * self.consistent + np.sqrt(part) * bootstrap
            yield step * self.cells.deviation, noise

    def _by_rates(self, gaps: FloatArray) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Yield each vector of gaps, as far as event rates stay in [0, 1], with the noise of events at these rates.

        Where events are many the consistent noise is scaled, so that cells depend on each other as they do. Where they are
        few their number matters, and each is kept or left out: noise of a wrong shape would misstate an absolute value.
        """
        cells, p = self.cells, self.cells.prob
        rate = np.clip(p + gaps, 0.0, 1.0)
        seen = np.clip(p + cells.gap, 0.0, 1.0)
        few = np.flatnonzero(self.rows * np.minimum(p * (1.0 - p), seen * (1.0 - seen)) < FEW_EVENTS)
        spread = p * (1.0 - p)
        spread[few] = 1.0  # it may be 0, or too small to be divided by
        draw = self._moving if cells.moments is None else self._at_levels
        for now, noise in draw(rate, few, spread):
            yield cells.weight * (now - p), noise

    def _events(self, few: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return the rows of some cells (d,), at least one each, and the numbers of their events (n_resamples, d)."""
        cells, n = self.cells, np.maximum(np.rint(self.rows[few]), 1.0)
        held = np.where(cells.weight[few] > 0.0, cells.weight[few], 1.0)
        return n, np.clip(np.rint(n * (cells.prob[few] + self.consistent[:, few] / held)), 0.0, n)

    def _moving(self, rate: FloatArray, few: IntArray, spread: FloatArray) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Yield each vector of rates with noise; of ``few`` events some are left out, or others added, from rate to rate."""
        rng, before = np.random.default_rng(self.seed), self.cells.prob[few]
        n, events = self._events(few)
        for now in rate:
            noise = self.consistent * np.sqrt(now * (1.0 - now) / spread)
            if few.size:
                events, before = moved(events, n, before, now[few], rng), now[few]
                noise[:, few] = self.cells.weight[few] * (events / n - before)
            yield now, noise

    def _at_levels(
        self, rate: FloatArray, few: IntArray, spread: FloatArray
    ) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Yield the same with the noise of each cell in one piece; numbers of ``few`` events are quantiles."""
        weight, p = self.cells.weight, self.cells.prob
        few = few[np.argsort(-(self.rows * np.minimum(p, 1.0 - p))[few])]
        n, events = self._events(few)
        rare = RareEvents.of(np.ascontiguousarray(events.T), n, p[few], np.random.default_rng(self.seed))
        many = np.setdiff1d(np.arange(p.size), few)
        scaled, factor = self.consistent.T[many], (weight[few] / n)[:, None]
        for now in rate:
            noise = np.empty((p.size, len(self.consistent)))
            noise[many] = scaled * np.sqrt(now * (1.0 - now) / spread)[many, None]
            if few.size:
                of_few = rare.at(now[few])
                of_few *= factor
                of_few -= (weight * now)[few, None]
                noise[few] = of_few
            yield now, noise.T


def _law_of(sizes: Sizes, value: float, steps: Iterable[tuple[FloatArray, FloatArray]]) -> Law:
    """Sizes of true deviations, and of them with noise, which is drawn one step at a time."""
    truth, observed = zip(*((sizes(true[None])[0], sizes(true + noise)) for true, noise in steps), strict=True)
    return Law(value, np.maximum.accumulate(truth), np.array(observed))


def shrunk(cells: Cells, rows: FloatArray) -> FloatArray:
    """Gaps of truths from none through the observed ones and beyond, shape (L, n_cells).

    Were gaps normal with deviation t, one that is observed with noise of variance v would have the mean k g and the variance
    k v, k = t² / (t² + v). The truth of t has the gaps sqrt((k g)² + k v / 5): where t is small the cells share the error
    evenly, where it is large they have the gaps observed.
    """
    held = cells.weight > 0.0
    variance = cells.prob * (1.0 - cells.prob) / np.maximum(rows, 1.0)
    typical = np.sqrt(np.average(variance[held], weights=cells.weight[held])) if held.any() else 0.0
    squared = (typical * np.array(SPREADS)[:, None]) ** 2
    kept = np.where(squared > 0.0, squared / np.where(squared > 0.0, squared + variance, 1.0), 1.0)
    sign = np.where(cells.gap < 0.0, -1.0, 1.0)
    gaps = sign * np.sqrt((kept * cells.gap) ** 2 + EVENNESS * kept * variance)
    return np.concatenate([np.zeros((1, sign.size)), gaps, np.array(STRETCHES)[:, None] * gaps[-1]])


def possible(cells: Cells, rows: FloatArray) -> FloatArray:
    """Root mean squares of gaps, of event rates drawn toward 1/2 by one event and one other row, shape (n_cells,).

    A bin whose few rows all went one way may hide a gap.
    """
    n, p = np.maximum(rows, 1.0), cells.prob
    rate = (n * np.clip(p + cells.gap, 0.0, 1.0) + 1.0) / (n + 2.0)
    return np.where(rate < p, -1.0, 1.0) * np.sqrt((rate - p) ** 2 + rate * (1.0 - rate) / n)


def moved(
    events: FloatArray, n: FloatArray, before: FloatArray, now: FloatArray, rng: np.random.Generator
) -> FloatArray:
    """Turn numbers of events among n rows at one rate into numbers at another: few are left out, or few others made events."""
    falls = now < before
    part = np.where(falls, now, now - before) / np.maximum(np.where(falls, before, 1.0 - before), 1e-300)
    changed = rng.binomial(np.where(falls, events, n - events).astype(np.int64), np.clip(part, 0.0, 1.0))
    return np.where(falls, changed, events + changed)


def noise_of(
    problem: SimplexProblem,
    tables: Sequence[Cells],
    labels: ConsistentLabels,
    draws: Draws,
    bootstrap: Bootstrap | None = None,
) -> list[Noise]:
    """Draw the noise of several tables of cells; ``draws`` iterates over ``labels``, and one draw serves all tables.

    With a ``bootstrap`` the cells are no bins but groups of neighbouring scores.
    """
    equal = 1.0 if problem.weights.is_unit else _equal_share(problem.weight)
    return [
        Noise(
            table,
            deviations,
            equal * table.count,
            int(labels.rng.integers(1 << 62)),
            None if bootstrap is None else resampled_deviations(problem, table, bootstrap),
        )
        for table, deviations in zip(tables, consistent_deviations(problem, tables, labels, draws), strict=True)
    ]


def _equal_share(weight: FloatArray) -> float:
    """Return how many equal rows a row is worth."""
    return float(weight.sum() ** 2 / (weight.size * (weight @ weight)))


def consistent_deviations(
    problem: SimplexProblem, tables: Sequence[Cells], labels: ConsistentLabels, draws: Draws
) -> list[FloatArray]:
    """Deviations of labels that the forecast drew, shape (n_resamples, n_cells) for each table.

    Those of tables with moments are drawn from these; the other tables share the draws of labels.
    """
    consistent = [
        np.empty((len(labels), table.weight.size))
        if table.moments is None
        else table.scale * (_events(table.moments, table.together, len(labels), labels.rng) - table.expected)
        for table in tables
    ]
    by_row = [pair for pair in zip(tables, consistent, strict=True) if pair[0].moments is None]
    for number, label in enumerate(draws if by_row else ()):
        for table, deviations in by_row:
            events = labels.sums_at(table.of, label, problem.weight, table.weight.size)
            deviations[number] = table.scale * (events - table.expected)
    return consistent


def _events(moments: Moments, together: Together | None, n_resamples: int, rng: np.random.Generator) -> FloatArray:
    """Draw numbers of events from moments, of cells that share rows as they vary together."""
    if together is None:
        return moments.events(n_resamples, rng)
    return moments.events_together(together, n_resamples, rng)


def resampled_deviations(problem: SimplexProblem, cells: Cells, bootstrap: Bootstrap) -> FloatArray:
    """Bootstrapped deviations about the observed ones, from moments where cells share no rows."""
    if cells.moments is None or cells.together is not None:
        return bootstrap_deviations(problem, cells, bootstrap)
    return cells.scale * cells.moments.resampled(bootstrap.n_resamples, bootstrap.rng) - cells.deviation


def bootstrap_deviations(problem: SimplexProblem, cells: Cells, bootstrap: Bootstrap) -> FloatArray:
    """Bootstrapped deviations about the observed ones, shape (n_resamples, n_cells)."""
    n_cells = cells.weight.size
    group_sums = np.zeros(bootstrap.n_groups * n_cells)
    step = max(1, BLOCK // problem.prob.shape[1])
    for start in range(0, problem.size, step):
        row, column = np.nonzero(cells.of[start : start + step] >= 0)
        row += start
        residual = problem.weight[row] * ((problem.label[row] == column) - problem.prob[row, column])
        np.add.at(group_sums, bootstrap.group[row] * n_cells + cells.of[row, column], residual)
    resampled = bootstrap.resampled(group_sums.reshape(bootstrap.n_groups, n_cells))
    return cells.scale * resampled - cells.deviation


def smoothed_deviations(cells: Cells, n_resamples: int, rng: np.random.Generator) -> FloatArray:
    """Deviations of binomial events about smoothed event rates, shape (n_resamples, n_cells); cells are independent."""
    n = np.maximum(cells.count, 1.0)
    weight = cells.weight / n  # of a row, in the aggregate
    events = np.clip((cells.deviation + cells.scale * cells.expected) / np.where(weight > 0, weight, 1.0), 0.0, n)
    rate = (events + 1.0) / (n + 2.0)
    drawn = rng.binomial(cells.count.astype(np.int64), rate, size=(n_resamples, n.size))
    return np.asarray(weight * (drawn - cells.count * rate), dtype=np.float64)
