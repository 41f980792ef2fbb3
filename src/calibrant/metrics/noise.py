"""The noise of calibration errors: what would be observed, of truths from calibration to beyond the observed error.

At calibration the noise of deviations is that of labels that the forecast itself draws. Of another truth it is that of events
at the rates of this truth, in bins; through a lens, whose cells are too small to have rates, it goes over into the bootstrap's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from math import exp
from typing import Any

import numpy as np

from calibrant._core.arrays import FloatArray
from calibrant._core.registry import named
from calibrant._core.rows import IntArray, Problem, SimplexProblem, Weights, as_simplex
from calibrant.binning import Binning
from calibrant.lenses import Lens, Size
from calibrant.metrics import estimate as _estimate
from calibrant.metrics.estimate import Cells, Estimate, Law, Resampling, Sizes, cells
from calibrant.notions import Notion
from calibrant.sums import RowScore, Sums, cells_of
from calibrant.sums.draws import Bootstrap, drawn_rows, labels_of

FEW_EVENTS = 0.5
"""Variance of the number of events of a cell, below which it is drawn as a number."""

FAR = 1e5
"""Deviations larger than noise by this factor have a size that is linear in the noise."""

OTHER_DRAWS = 3
"""Other draws that decide which of two draws with as many events of a cell has more of them."""

SPREADS = (0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.6, 2.0, 3.0, 6.0)
"""Deviations of gaps, in units of a typical deviation of noise, of the truths that a figure is compared with."""

TINY = 1e-9
"""Part of `possible` gaps that is added to the observed ones before they are stretched: a gap of 0 has no shape."""

EQUAL = 1e-7
"""Rates that differ by less are equal, and so small a gap has no sign: decimals are rounded, in single precision too."""

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
        value, reach = float(sizes(self.cells.deviation[None])[0]), possible(self.cells, self.rows)

        def multiples(shape: FloatArray, null: FloatArray) -> FloatArray:
            return _estimate.steps_for(float(sizes((self.cells.weight * shape)[None])[0]), null)[:, None] * shape

        def along(direction: FloatArray, n_truths: int | None = None) -> Law:
            if sizes.shrinks:
                gaps = shrunk(self.cells, self.rows, direction)
                gaps = np.concatenate([gaps, np.array(_estimate.BEYOND)[:, None] * reach])[:n_truths]
            else:
                gaps = multiples(reach, sizes(self.consistent))
            return _law_of(value, _observed(sizes, self._by_rates(gaps)))

        found = along(self.cells.gap)
        if sizes.shrinks and ((self.cells.gap < -EQUAL) != (reach < 0.0)).any():
            found = replace(found, other=partial(along, reach))
        stretched = multiples(self.cells.gap + TINY * reach, found.sizes[0])
        return replace(found, seen=lambda: _observed(sizes, self._by_rates(stretched)), grain=self._grain(sizes))

    def _grain(self, sizes: Sizes) -> float:
        """Half of what one row adds to the size: a value is one of so many, and draws about other truths lie between."""
        row, heaviest = np.zeros((1, self.rows.size)), int(np.argmax(self.cells.weight))
        row[0, heaviest] = 0.5 * self.cells.weight[heaviest] / max(float(self.rows[heaviest]), 1.0)
        return float(sizes(row)[0])

    def _law_of_groups(self, sizes: Sizes, bootstrap: FloatArray) -> Law:
        """Law of the observed deviations times each step; the noise goes from that of calibration to the bootstrap's.

        What a lens sees of a sum is the sum of what it sees, so that each kind is looked at once.
        """
        shape = self.cells.deviation + TINY * self.consistent.std(axis=0)
        observed, drawn, resampled = (sizes.look(kind) for kind in (shape[None], self.consistent, bootstrap))
        value, size = float(sizes(self.cells.deviation[None])[0]), float(sizes.size(observed)[0])

        def at(step: float) -> tuple[FloatArray, FloatArray]:
            part = min(step, 1.0)
            true = [step * one for one in observed]
            noise = (np.sqrt(1.0 - part) * d + np.sqrt(part) * b for d, b in zip(drawn, resampled, strict=True))
            return sizes.size(true), sizes.size([t + own for t, own in zip(true, noise, strict=True)])[None]

        found = _law_of(value, map(at, _estimate.steps_for(size, sizes.size(drawn)).tolist()))
        return replace(found, shifts=_shifts(sizes, value, observed, resampled), grain=self._grain(sizes))

    def _order(self, few: IntArray) -> IntArray:
        """Return the draws of some cells from the fewest events to the most, shape (n_few, m).

        The events of a class are no events of the others: cells that share rows have their few events not independently. Equal
        numbers are in the order of those of other draws, in which cells depend on each other as well.
        """
        own = self.consistent[:, few].T
        own = own / np.maximum(np.abs(own).max(axis=1, keepdims=True), np.finfo(float).tiny)
        parts = [10.0**-k * np.roll(own, k, axis=1) for k in range(OTHER_DRAWS + 1)]
        chance = 10.0 ** -(OTHER_DRAWS + 1) * np.random.default_rng(self.seed).random(own.shape)
        return np.argsort(sum(parts, chance), axis=1)

    def _by_rates(self, gaps: FloatArray) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Yield deviations (r, n_cells) of some of the gaps, cut to event rates in [0, 1], and their noise, (r, m, n_cells).

        Where events are many the consistent noise is scaled, so that cells depend on each other as they do. Where few are
        expected or occurred their number matters, and it is drawn, at each rate from the same random numbers: noise of a wrong
        shape would misstate an absolute value. Of cells that share rows it is put in the order of the consistent noise.
        """
        cells, weight, p = self.cells, self.cells.weight, self.cells.prob
        seen = np.clip(p + cells.gap, 0.0, 1.0)
        few = np.flatnonzero(self.rows * np.minimum(p * (1.0 - p), seen * (1.0 - seen)) < FEW_EVENTS)
        spread = p * (1.0 - p)
        spread[few] = 1.0  # it may be 0, or too small to be divided by
        n, shape = np.maximum(np.rint(self.rows[few]), 1.0)[:, None], (few.size, len(self.consistent))
        order = self._order(few) if few.size and self.cells.share_rows else None
        step = max(1, _estimate.BLOCK // self.consistent.size)
        for first in range(0, len(gaps), step):
            some = gaps[first : first + step]
            rates = np.clip(p + some, 0.0, 1.0)
            noise = self.consistent * np.sqrt(rates * (1.0 - rates) / spread)[:, None]
            for gap, rate, own in zip(some, rates, noise, strict=True) if few.size else ():
                expected = rate[few, None]
                if gap.any():
                    events = np.random.default_rng(self.seed).binomial(n.astype(np.int64), expected, shape)
                    if order is not None:
                        np.put_along_axis(events, order, np.sort(events, axis=1), axis=1)
                    own[:, few] = (weight[few, None] * (events / n - expected)).T
                else:
                    own[:, few] = self.consistent[:, few]
            yield weight * (rates - p), noise


def _observed(sizes: Sizes, steps: Iterable[tuple[FloatArray, FloatArray]]) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield the sizes of true deviations, and the sizes of them with noise; each noise is overwritten."""
    for true, noise in steps:
        noise += true[:, None]
        yield sizes(true), sizes(noise.reshape(-1, true.shape[1])).reshape(len(true), -1)


def _law_of(value: float, observed: Iterable[tuple[FloatArray, FloatArray]]) -> Law:
    """Return the law of all steps."""
    truth, found = zip(*observed, strict=True)
    return Law(value, np.maximum.accumulate(np.concatenate(truth)), np.concatenate(found))


def _shifts(sizes: Sizes, value: float, observed: Seen, resampled: Seen) -> FloatArray | None:
    """By how much noise shifts the size of deviations that are far larger than it, of the observed direction.

    What is seen through a lens is rougher than the truth, and to stretch it is to stretch its noise: the largest of many
    bumps is seldom small. A convex size is shifted by no less than one that is so large.
    """
    reach = float(sizes.size(resampled).max())
    if value <= FAR * np.finfo(float).eps * reach:
        return None
    far = [FAR * max(reach, value) / value * one for one in observed]
    return np.asarray(sizes.size([f + own for f, own in zip(far, resampled, strict=True)]) - sizes.size(far)[0])


def shrunk(cells: Cells, rows: FloatArray, direction: FloatArray) -> FloatArray:
    """Gaps of truths from none through those as large as observed, with the signs of a direction, shape (L, n_cells).

    Were gaps normal with deviation t, one that is observed with noise of variance v would have the mean k g and the variance
    k v, k = t² / (t² + v). The truth of t has the gaps sqrt((k g)² + k v / 5): where t is small the cells share the error
    evenly, where it is large they have the gaps observed. No variance is below that of one event.
    """
    held, n = cells.weight > 0.0, np.maximum(rows, 1.0)
    variance = np.maximum(cells.prob * (1.0 - cells.prob), (n + 1.0) / (n + 2.0) ** 2) / n
    typical = np.sqrt(np.average(variance[held], weights=cells.weight[held])) if held.any() else 0.0
    squared = (typical * np.array(SPREADS)[:, None]) ** 2
    kept = np.where(squared > 0.0, squared / np.where(squared > 0.0, squared + variance, 1.0), 1.0)
    sign = np.where(direction < -EQUAL, -1.0, 1.0)
    gaps = sign * np.sqrt((kept * cells.gap) ** 2 + EVENNESS * kept * variance)
    return np.concatenate([np.zeros((1, sign.size)), gaps])


def possible(cells: Cells, rows: FloatArray) -> FloatArray:
    """Root mean squares of gaps, of event rates drawn toward 1/2 by one event and one other row, shape (n_cells,).

    A bin whose few rows all went one way may hide a gap. Where that rate is the score but for rounding, the sign is that seen.
    """
    n, p = np.maximum(rows, 1.0), cells.prob
    rate = (n * np.clip(p + cells.gap, 0.0, 1.0) + 1.0) / (n + 2.0)
    shift = np.where(np.abs(rate - p) > EQUAL, rate - p, cells.gap)
    return np.where(shift < -EQUAL, -1.0, 1.0) * np.sqrt((rate - p) ** 2 + rate * (1.0 - rate) / n)


def noise_of(
    problem: SimplexProblem,
    tables: Sequence[Cells],
    n_resamples: int,
    rng: np.random.Generator,
    bootstrap: Bootstrap | None = None,
) -> list[Noise]:
    """Draw the noise of several tables of cells; one draw of labels serves all of them.

    With a ``bootstrap`` the cells are no bins but groups of neighbouring scores.
    """
    weights = problem.weights
    equal = 1.0 if weights.are_counts else weights.effective_rows / len(weights)
    drawn, seed = _estimate.consistent_deviations(problem, tables, n_resamples, rng), int(rng.integers(1 << 62))
    groups = [
        None if bootstrap is None else _estimate.resampled_deviations(problem, table, bootstrap) for table in tables
    ]
    found = zip(tables, drawn, groups, strict=True)
    return [Noise(table, deviations, equal * table.count, seed, of_groups) for table, deviations, of_groups in found]


# Metrics that are measured anew: on labels drawn from the forecast, or on rows that are drawn


Progress = Callable[[Iterable[IntArray], int], Iterable[IntArray]]
"""Passes draws on, of which there are so many."""


def unwatched(draws: Iterable[IntArray], total: int) -> Iterable[IntArray]:
    """Pass draws on and show nothing."""
    return draws


def with_labels(simplex: SimplexProblem, notion: Notion, draw: IntArray) -> tuple[SimplexProblem, Notion]:
    """Return the rows with the labels of a draw of `labels_of`, and the notion of these rows."""
    rows, label, weight = drawn_rows(simplex, draw)
    if isinstance(rows, slice):
        return replace(simplex, label=label), notion
    return replace(simplex.at(rows, Weights(weight)), label=label), notion._of_rows(rows)


def redrawn(
    error: Callable[[Problem, Notion], float],
    simplex: SimplexProblem,
    notion: Notion,
    n_resamples: int,
    rng: np.random.Generator,
    progress: Progress,
) -> FloatArray:
    """Return an error, of a problem and the notion of its rows, on labels that the forecast drew, shape (n_resamples,).

    Rows stand in the order of the scores of the first problem, if all stand in it: each draw sorts them, and sorts them fast.
    """
    order = np.arange(simplex.size)
    if named(type(notion)) is not None:  # another may know the rows by their places
        first = next(notion.split(simplex))
        order = np.argsort(first.score, kind="stable") if first.size == order.size else order
    rows, own = simplex.taken(order), notion._of_rows(order)
    draws = progress(labels_of(simplex, n_resamples, rng), n_resamples)
    return np.array([error(*with_labels(rows, own, draw[order])) for draw in draws])


# The residuals of one problem, as a lens sees them under a notion: their size, its noise and its interval


def error_through(problem: Problem, notion: Notion, lens: Lens, size: Size) -> float:
    """Return the size of what a lens sees of a valid problem; 0 where the notion finds no row to speak of."""
    if size.of_table is not None:
        return size.of_table(cells_of(problem, notion, lens.cells(problem, notion)))
    seen = [(binary, lens(binary)) for binary in notion.split(problem) if binary.size > 0]
    return size.of_problems(seen) if seen else 0.0


@dataclass(frozen=True, eq=False)
class Residuals:
    """The residuals of a problem, seen through a lens under a notion, and their ``size``: a calibration error.

    Where the bins depend on the outcomes there are no fixed cells, and a loss that is any function is no size of deviations:
    then the error is measured anew on each draw of labels.
    """

    problem: Problem
    notion: Notion
    lens: Lens
    size: Size

    @cached_property
    def value(self) -> float:
        """The error."""
        return error_through(self.problem, self.notion, self.lens, self.size)

    def value_of(self, sums: Sums | None) -> float:
        """Return the error, from sums that were scanned for several metrics where it needs no rows."""
        if sums is None or self.size.of_table is None:
            return self.value
        return self.size.of_table(sums.of(*self.table))

    @cached_property
    def table(self) -> tuple[Notion, Binning]:
        """Notion and binning of the cells in which noise is drawn."""
        return self.notion, self.lens.cells(self.problem, self.notion)

    @cached_property
    def has_fixed_cells(self) -> bool:
        """Whether it is the size of deviations of cells that stay where they are."""
        return self.size.is_of_deviations and not self.table[1].uses_outcomes

    @property
    def takes_cells(self) -> bool:
        """Whether value and noise are had from cells in place of scores: without bins, where each row stands in one problem."""
        return self.has_fixed_cells and self.notion.one_score_a_row and not self.lens.has_bins

    def cells(self) -> Cells:
        """Return the cells."""
        return cells(as_simplex(self.problem), *self.table)

    def sizes(self, table: Cells) -> Sizes:
        """Return how to take the size of deviations of the cells."""
        return table.sizes(self.lens, self.size)

    def null(self, n_resamples: int, rng: np.random.Generator) -> tuple[float, FloatArray]:
        """Return the error, and its values with labels that the forecast drew, shape (n_resamples,).

        The value is the one that compares with the draws: through a lens, the size in groups of neighbouring scores.
        """
        if not self.has_fixed_cells:
            return self.value, self._redrawn(n_resamples, rng)
        simplex = as_simplex(self.problem)
        table = self.cells()
        sizes = self.sizes(table)
        (deviations,) = _estimate.consistent_deviations(simplex, [table], n_resamples, rng)
        return float(sizes(table.deviation[None])[0]), sizes(deviations)

    def bootstrapped(self, bootstrap: Bootstrap) -> FloatArray:
        """Return the errors of bootstrap samples, in fixed cells, shape (n_resamples,)."""
        table = self.cells()
        deviations = _estimate.bootstrap_deviations(as_simplex(self.problem), table, bootstrap)
        return self.sizes(table)(table.deviation + deviations)

    def estimate(self, noise: Noise, resampling: Resampling, sums: Sums | None) -> Estimate:
        """Compare the value with noise in fixed cells. The exact value replaces that in groups or the plug-in."""
        value, law = self.value_of(sums), noise.law(self.sizes(noise.cells))
        floor = self.size.floor(law.null)
        found = replace(law.estimate(resampling.level, value), noise_floor=floor)
        if not self.size.is_debiased:
            return found
        lower, upper = found.interval
        return replace(found, lower=min(lower, value), upper=max(upper, value), debiased=value)

    def estimate_anew(self, resampling: Resampling, progress: Progress, sums: Sums | None) -> Estimate:
        """Measure the error on each draw of labels; the interval is value -+ noise.

        That rests on the triangle inequality, which a share of rejections does not obey: such an error has no interval.
        """
        value, null = self.value_of(sums), self._redrawn(resampling.n_resamples, resampling.rng, progress)
        floor, pvalue, least = float(null.mean()), _estimate.pvalue_of(value, null), _estimate.least_pvalue_of(null)
        if self.size.counts_rows:
            return Estimate(value, None, None, noise_floor=floor, pvalue=pvalue, least_pvalue=least)
        reach = float(np.abs(np.quantile(null, [resampling.level / 2.0, 1.0 - resampling.level / 2.0])).max())
        bottom = 0.0 if min(value, float(null.min())) >= 0.0 else -np.inf
        lower, upper = max(bottom, value - reach), value + reach
        return Estimate(value, lower, upper, noise_floor=floor, pvalue=pvalue, least_pvalue=least)

    def _redrawn(self, n_resamples: int, rng: np.random.Generator, progress: Progress = unwatched) -> FloatArray:
        of = partial(error_through, lens=self.lens, size=self.size)
        return redrawn(of, as_simplex(self.problem), self.notion, n_resamples, rng, progress)


# Squared calibration errors without their bias, and by how much the absence of each row changes them


def unbiased_square(seen: Residuals) -> tuple[float, FloatArray, FloatArray]:
    """Return the squared error without bias, by how much each row's absence changes it, and how often each row stands there.

    The square of a bin's mean residual is a mean over pairs of rows; a row paired with itself is what makes the bias.
    """
    simplex, table = as_simplex(seen.problem), seen.cells()
    row, column = np.nonzero(table.of >= 0)
    of = table.of[row, column]
    times, own = simplex.weights.times, simplex.weights.importance[row]
    residual = own * ((simplex.label[row] == column) - simplex.prob[row, column])

    def total(values: FloatArray) -> FloatArray:
        return np.bincount(of, times[row] * values, table.weight.size).astype(np.float64)

    first, second = total(residual), total(residual**2)
    mass, square, rows = total(own), total(own**2), total(np.ones(own.size))
    whole = _mean_of_pairs(first, second, mass, square, rows)
    without = _mean_of_pairs(
        first[of] - residual, second[of] - residual**2, mass[of] - own, square[of] - own**2, rows[of] - 1.0
    )
    influence = np.bincount(row, table.weight[of] * (without - whole[of]), simplex.size)
    return float(table.weight @ whole), influence.astype(np.float64), times


def _mean_of_pairs(
    first: FloatArray, second: FloatArray, mass: FloatArray, square: FloatArray, rows: FloatArray
) -> FloatArray:
    """Mean product of the residuals of two different rows, from their weighted sums; 0 where there are no two."""
    pairs = np.where(rows > 1.5, mass**2 - square, 1.0)
    return np.where(rows > 1.5, (first**2 - second) / pairs, 0.0)


# Means of rows that are read in batches: their intervals from sums of powers, as `mean_estimate` has them from the rows


STEP = 64.0
"""Centres are multiples of one over it: whole numbers less such a centre add up without rounding."""


@dataclass(frozen=True)
class Centred:
    """Values of rows less a ``centre`` near their mean, so that sums of powers keep their digits; 0 for an infinite one."""

    of: RowScore
    centre: float

    @classmethod
    def near(cls, of: RowScore, head: SimplexProblem) -> Centred:
        """Take the centre from some rows."""
        values = of(head)
        finite = values[np.isfinite(values)]
        return cls(of, float(np.rint(finite.mean() * STEP) / STEP) if finite.size else 0.0)

    def __call__(self, problem: SimplexProblem) -> FloatArray:
        """Return the values."""
        values = self.of(problem) - self.centre
        return values if np.isfinite(values.sum()) else np.where(np.isfinite(values), values, 0.0)


def endless(of: RowScore, problem: SimplexProblem) -> FloatArray:
    """Return one for a row whose value is infinite, else zero."""
    return np.isposinf(of(problem)).astype(np.float64)


def estimate_of_sums(sums: Sums, name: str, infinite_name: str, level: float) -> Estimate:
    """Return the mean of the values of that name and its interval; the other name is that of the infinite ones, if any."""
    names = {known: at for at, (known, _) in enumerate(sums.plan.scores)}
    score: Any = dict(sums.plan.scores)[name]
    n, (first, second, third) = sums.rows, sums.scores[names[name]].tolist()
    infinite = sums.total(infinite_name) if infinite_name in names else 0.0
    finite = n - infinite
    if finite < 1.0:
        return Estimate(np.inf, np.inf, np.inf)
    mean = first / finite
    square = max(second - finite * mean**2, 0.0)
    cube = third - 3.0 * mean * second + 2.0 * finite * mean**3
    value = (first + finite * score.centre) / finite
    error, skewness = 0.0, 0.0
    if square > 0.0 and finite > 1.0:
        error, skewness = np.sqrt(square / (finite * (finite - 1.0))), cube / square**1.5

    if infinite:  # the low quantile is finite where samples without any of the infinite rows are that many
        share = level / 2.0 * exp(min(infinite, 700.0))
        return Estimate(
            np.inf, _estimate.quantile_of_mean(value, error, skewness, share) if share < 1.0 else np.inf, np.inf
        )
    return _estimate.interval_of_mean(value, error, skewness, level)


# What metrics are estimated on: the rows, what is asked for, and the noise that metrics share


@dataclass(frozen=True, eq=False)
class Setting:
    """A problem, in both forms; the level and number of draws; the ``notion`` of the metrics that fix none.

    Of the metrics that are the size of residuals ``residuals`` holds those of this problem, by their names, and ``sums`` the
    bins of those that need no more. Metrics of the same notion and cells share their ``noise``, and one draw of labels serves
    all.
    """

    problem: Problem
    simplex: SimplexProblem
    resampling: Resampling
    bootstrap: Bootstrap
    progress: Progress = unwatched
    notion: str | Notion | None = None
    residuals: Mapping[str, Residuals] = field(default_factory=dict)
    noise: dict[tuple[Notion, Binning], Noise] = field(default_factory=dict)
    sums: Sums | None = None

    def draw_noise(self) -> None:
        """Draw the noise of all residuals in fixed cells: first in bins, and then in the groups of other lenses."""
        simplex, n, rng = self.simplex, self.resampling.n_resamples, self.resampling.rng
        # A column has other roundings as two: where rows are placed in cells, sums have to be of the same numbers.
        known = self.sums if simplex is self.problem or _estimate.draws_from_sums(simplex) else None
        for has_bins in (True, False):
            kind = [seen for seen in self.residuals.values() if seen.lens.has_bins == has_bins]
            pairs = sorted({seen.table for seen in kind if seen.has_fixed_cells}, key=repr)
            if pairs:
                tables = [cells(simplex, *pair, known) for pair in pairs]
                found = noise_of(simplex, tables, n, rng, None if has_bins else self.bootstrap)
                self.noise.update(zip(pairs, found, strict=True))
