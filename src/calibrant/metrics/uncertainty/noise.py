"""The noise of calibration errors: what would be observed, of truths from calibration to beyond the observed error.

At calibration the noise of deviations is that of labels that the forecast itself draws. Of another truth it is that of events
at the rates of this truth, in bins; through a lens, whose cells are too small to have rates, it goes over into the bootstrap's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.problem import IntArray, SimplexProblem
from calibrant.metrics.uncertainty.cells import Cells, Sizes
from calibrant.metrics.uncertainty.deviations import Draws, consistent_deviations, resampled_deviations
from calibrant.metrics.uncertainty.estimate import Law, steps_for
from calibrant.metrics.uncertainty.rare_events import RareEvents
from calibrant.sums.draws import Bootstrap, Labels

FEW_EVENTS = 0.5
"""Variance of the number of events of a cell, below which it is drawn as a number."""

FAR = 1e5
"""Deviations larger than noise by this factor have a size that is linear in the noise."""

SPREADS = (0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.6, 2.0, 3.0, 6.0)
"""Deviations of gaps, in units of a typical deviation of noise, of the truths that a figure is compared with."""

STRETCHES = (1.1, 1.25, 1.5)
"""What the last of these gaps is multiplied with, so that truths beyond the observed one are tried."""

Seen = list[FloatArray]
"""What a lens sees of each part, arrays (m, d)."""

EVENNESS = 0.2
"""Part of what noise leaves unknown of a squared gap that is taken to be there. Without it true errors that are spread
over all bins lie above the interval too often, with all of it those of one class below (decision 30)."""


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
        if self.bootstrap is not None:
            return self._law_of_groups(sizes, self.bootstrap)
        value = float(sizes(self.cells.deviation[None])[0])
        steps = steps_for(value, sizes(self.consistent))
        stretched = steps[:, None] * self.cells.gap
        gaps = shrunk(self.cells, self.rows) if sizes.shrinks else steps[:, None] * possible(self.cells, self.rows)
        found = _law_of(value, _observed(sizes, self._by_rates(gaps)))
        return replace(found, seen=lambda: _observed(sizes, self._by_rates(stretched)))

    def _law_of_groups(self, sizes: Sizes, bootstrap: FloatArray) -> Law:
        """Law of the observed deviations times each step; the noise goes from that of calibration to the bootstrap's.

        What a lens sees of a sum is the sum of what it sees, so that each kind is looked at once.
        """
        kinds = (self.cells.deviation[None], self.consistent, bootstrap)
        observed, drawn, resampled = (sizes.look(kind) for kind in kinds)
        value = float(sizes.size(observed)[0])

        def at(step: float) -> tuple[float, FloatArray]:
            part = min(step, 1.0)
            true = [step * one for one in observed]
            noise = (np.sqrt(1.0 - part) * d + np.sqrt(part) * b for d, b in zip(drawn, resampled, strict=True))
            return float(sizes.size(true)[0]), sizes.size([t + own for t, own in zip(true, noise, strict=True)])

        found = _law_of(value, map(at, steps_for(value, sizes.size(drawn)).tolist()))
        return replace(found, shifts=_shifts(sizes, value, observed, resampled))

    def _by_rates(self, gaps: FloatArray) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Yield each vector of gaps, as far as event rates stay in [0, 1], with the noise of events at these rates.

        Where events are many the consistent noise is scaled, so that cells depend on each other as they do. Where they are
        few their number matters, and each is kept or left out: noise of a wrong shape would misstate an absolute value.
        """
        cells, p = self.cells, self.cells.prob
        draw = self._moving if cells.moments is None else self._at_levels
        for now, noise in draw(np.clip(p + gaps, 0.0, 1.0)):
            yield cells.weight * (now - p), noise

    @cached_property
    def _few(self) -> IntArray:
        """Cells in which few events are expected or occurred."""
        p = self.cells.prob
        seen = np.clip(p + self.cells.gap, 0.0, 1.0)
        return np.flatnonzero(self.rows * np.minimum(p * (1.0 - p), seen * (1.0 - seen)) < FEW_EVENTS)

    def _events(self, few: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return the rows of some cells (d,), at least one each, and the numbers of their events (n_resamples, d)."""
        cells, n = self.cells, np.maximum(np.rint(self.rows[few]), 1.0)
        held = np.where(cells.weight[few] > 0.0, cells.weight[few], 1.0)
        return n, np.clip(np.rint(n * (cells.prob[few] + self.consistent[:, few] / held)), 0.0, n)

    def _moving(self, rate: FloatArray) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Yield each vector of rates with noise; of few events some are left out, or others added, from rate to rate."""
        rng, few, p = np.random.default_rng(self.seed), self._few, self.cells.prob
        before, spread = p[few], p * (1.0 - p)
        spread[few] = 1.0  # it may be 0, or too small to be divided by
        n, events = self._events(few)
        for now in rate:
            noise = self.consistent * np.sqrt(now * (1.0 - now) / spread)
            if few.size:
                events, before = moved(events, n, before, now[few], rng), now[few]
                noise[:, few] = self.cells.weight[few] * (events / n - before)
            yield now, noise

    @cached_property
    def _levels(self) -> Levels:
        """Cells of few events, with the level of each draw, and the noise of the others."""
        p, few = self.cells.prob, self._few
        few = few[np.argsort(-(self.rows * np.minimum(p, 1.0 - p))[few])]
        n, events = self._events(few)
        rare = RareEvents.of(np.ascontiguousarray(events.T), n, p[few], np.random.default_rng(self.seed))
        many = np.setdiff1d(np.arange(p.size), few)
        return Levels(few, rare, many, self.consistent.T[many])

    def _at_levels(self, rate: FloatArray) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Yield the same with the noise of each cell in one piece; numbers of few events are quantiles."""
        weight, p, levels = self.cells.weight, self.cells.prob, self._levels
        few, many = levels.few, levels.many
        factor, spread = (weight[few] / levels.rare.n)[:, None], p[many] * (1.0 - p[many])
        for now in rate:
            noise = np.empty((p.size, len(self.consistent)))
            noise[many] = levels.of_many * np.sqrt(now[many] * (1.0 - now[many]) / spread)[:, None]
            if few.size:
                of_few = levels.rare.at(now[few]) * factor
                of_few -= (weight * now)[few, None]
                noise[few] = of_few
            yield now, noise.T


@dataclass(frozen=True, eq=False)
class Levels:
    """The ``few`` cells with their ``rare`` events, and the ``many`` others with their noise, shape (d, n_resamples)."""

    few: IntArray
    rare: RareEvents
    many: IntArray
    of_many: FloatArray


def _observed(sizes: Sizes, steps: Iterable[tuple[FloatArray, FloatArray]]) -> Iterator[tuple[float, FloatArray]]:
    """Yield the size of true deviations, and the sizes of them with noise; each noise is overwritten."""
    for true, noise in steps:
        noise += true
        yield float(sizes(true[None])[0]), sizes(noise)


def _law_of(value: float, observed: Iterable[tuple[float, FloatArray]]) -> Law:
    """Return the law of all steps."""
    truth, found = zip(*observed, strict=True)
    return Law(value, np.maximum.accumulate(truth), np.array(found))


def _shifts(sizes: Sizes, value: float, observed: Seen, resampled: Seen) -> FloatArray | None:
    """By how much noise shifts the size of deviations that are far larger than it, of the observed direction.

    What is seen through a lens is rougher than the truth, and to stretch it is to stretch its noise: the largest of many
    bumps is seldom small. A convex size is shifted by no less than one that is so large.
    """
    reach = float(sizes.size(resampled).max())
    if value <= FAR * np.finfo(float).eps * reach:
        return None
    far = [FAR * max(reach, value) / value * one for one in observed]
    shifts: FloatArray = sizes.size([f + own for f, own in zip(far, resampled, strict=True)]) - sizes.size(far)[0]
    return shifts


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
    labels: Labels,
    draws: Draws,
    bootstrap: Bootstrap | None = None,
) -> list[Noise]:
    """Draw the noise of several tables of cells; ``draws`` iterates over ``labels``, and one draw serves all tables.

    With a ``bootstrap`` the cells are no bins but groups of neighbouring scores.
    """
    weights = problem.weights
    equal = 1.0 if weights.are_counts else weights.effective_rows / len(weights)
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
