"""How sure a figure is: interval, noise floor, p-value, the error without its bias, and what could have been detected.

A calibration error is the size T of deviations D + N, the true ones and noise, and the size of noise is never zero: the
percentile bootstrap of such a figure misses a true zero almost always. What is known is how the noise is distributed. So
the figure is compared with those of other truths D, from calibration through the deviations observed and beyond:

* at calibration the mean of T(N) is the noise floor, its tail beyond the figure the p-value;
* the truth of which the figure is the median of T(D + N) is the error without bias;
* the interval holds the truths of which the figure is neither a low nor a high quantile;
* the truth that the test finds four times in five is the detectable error.

A truth that the test cannot tell from calibration is too large for no figure, and none of which the figure may be next to
zero: there the whole level stands on the other side, so that the lower end is above zero where the test rejects, and nowhere
else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from scipy.special import ndtri

from calibrant._core.arrays import FloatArray, blocks
from calibrant._core.checks import refuse
from calibrant._core.registry import named
from calibrant._core.rows import BinaryProblem, BoolArray, IntArray, Problem, SimplexProblem, Unit, Weights, as_simplex
from calibrant.binning.bins import MOST_SHOWN, Binning, residual_of_sums
from calibrant.lenses import Lens, Size
from calibrant.notions import Notion
from calibrant.sums.draws import MOST as MOST_KEPT
from calibrant.sums.draws import MOST_DRAWN, Bootstrap, CellArray, ConsistentLabels, labels_of
from calibrant.sums.reading import is_unread, scan
from calibrant.sums.sums import BinTable, Moments, Plan, Sums

POWER = 0.8
"""How often the test finds an error that is called detectable."""

TAIL = 0.3
"""Share of the level left out on either side, far from calibration. Half of it would be right if the direction of the true
deviations were known; it is estimated."""

LUCK = 0.2
"""A value below this part of the median under calibration bounds the truth no more than that part does: it is luck, or the
predictions were fitted to these outcomes, as a base rate is. Of more than two bins there is hardly such a value."""

ALMOST = 1.0 - 1e-6
"""Part of a size from which it is reached but for rounding, in single precision too."""

BEYOND = (1.0, 1.1, 1.25, 1.5, 2.0, 3.0)
"""Multiples of a shape from itself on, so that truths of which the value is a low quantile are tried."""

NEAR_ONE = (0.5, 0.75, 0.9, *BEYOND)
NOISE_SIZES = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0)


@dataclass(frozen=True)
class Resampling:
    """How an interval is to be made: one minus its coverage, the number of resamples, and the source of randomness."""

    level: float
    n_resamples: int
    rng: np.random.Generator


NO_INTERVAL = "no interval is known to cover; compare with the noise floor"
"""What is said of an error that counts rejections."""

MOSTLY_NOISE = "most of this value is noise; the interval estimates the true error"
"""What is said of an error of which the bias-corrected value is below half."""

ABOVE_INTERVAL = "noise raises this value; the interval estimates the true error"
"""What is said of any other error that lies above its interval."""


@dataclass(frozen=True)
class Estimate:
    """A figure with its interval. What measures a distance from calibration has more.

    Attributes
    ----------
    value : float
        The figure.
    lower, upper : float or None
        The interval of the true error or mean. It holds the figure, or where there is one ``debiased``: the figure of a small
        error is mostly noise and may lie above the interval. None where none is known to cover (`NO_INTERVAL`).
    noise_floor : float or None
        Mean of the figure if the forecast were calibrated.
    pvalue : float or None
        Share of calibrated draws that reach the figure, with the +1 correction.
    debiased : float or None
        The bias-corrected value: the true error, of the shape seen, of which the figure is the median; 0 where a calibrated
        forecast shows as much every other time. See Notes.
    detectable : float or None
        The smallest detectable error: the true error, of the observed shape, that the test at this level detects with a power
        of 0.8.
    least_pvalue : float or None
        The smallest p-value that the draws can show, 1 / (draws + 1); None where the p-value is of a law in formulas.

    Notes
    -----
    The figure is V = T(g): the size of the observed deviations g, for an ECE of the gaps of all bins of all problems,
    V = sum_b w_b abs(g_b), with the shares w_b of the rows. It is compared with the true gaps

        d_b(t) = sign(g_b) sqrt((k_b g_b)² + k_b v_b / 5),   k_b = t² / (t² + v_b),

    where v_b is the variance of g_b: shrunk toward 0 for a small t and the observed ones for a large t. The bias-corrected
    value is T(d(t)) of the t that solves median T(d(t) + N) = V over draws of the noise N of events at these rates, and at
    most V. If the median under calibration is V already, it is 0. Of the largest gap of any bin, and of what is seen through
    a lens, the true deviations are multiples of one shape (docs/intervals.md).

    It is not exactly unbiased: g holds noise itself. Where the truth is known its mean was within a quarter of the noise
    floor of it (tests/metrics/test_bias_correction.py).
    """

    value: float
    lower: float | None
    upper: float | None
    noise_floor: float | None = None
    pvalue: float | None = None
    debiased: float | None = None
    detectable: float | None = None
    least_pvalue: float | None = None

    @property
    def is_mostly_noise(self) -> bool:
        """Whether the bias-corrected value is below half of the value."""
        return self.debiased is not None and self.debiased < 0.5 * self.value

    @property
    def interval(self) -> tuple[float, float]:
        """Both ends of the interval; a ValueError where there is none."""
        if self.lower is None or self.upper is None:
            must = "the interval of an estimate must exist to be asked for"
            refuse(must, given="no interval is known to cover", hint="Compare with the noise floor")
        return self.lower, self.upper


@dataclass(frozen=True, eq=False)
class Law:
    """Sizes that would be seen if the true deviations were others.

    ``truth`` (L,) are the sizes of true deviations, from 0 upward; ``sizes`` (L, m) those that would be observed, noise
    included; ``value`` is the size observed. The detectable error is of the shape that was seen: where the truths are of
    another shape ``seen`` yields sizes of the observed deviations times steps (r,), and what would be observed (r, m). They
    are drawn until the error is detected. Where it is known how noise ``shifts`` (m,) the size of far larger deviations of
    that direction, the upper end is at least the value less a low quantile of these. The upper end takes the value for
    larger by the ``grain`` of one row. Where bins of few rows do not tell the direction of their true deviations, the ``other``
    law, of the first so many truths, is that of truths toward rates of 1/2: noise is larger there, and a smaller truth has a
    value like the one observed.
    """

    value: float
    truth: FloatArray
    sizes: FloatArray
    seen: Callable[[], Iterable[tuple[FloatArray, FloatArray]]] | None = None
    shifts: FloatArray | None = None
    grain: float = 0.0
    other: Callable[[int], Law] | None = None

    @cached_property
    def null(self) -> FloatArray:
        """Draws of the size under calibration, shape (m,)."""
        return np.asarray(self.sizes[0])

    def estimate(self, level: float, exact: float | None = None) -> Estimate:
        """Compare the value with its draws under each true size; where it is not ``exact``, that one is reported."""
        pvalue, value = pvalue_of(self.value, self.null), self.value if exact is None else exact
        debiased = min(_truth_with(self.truth, np.quantile(self.sizes, 0.5, axis=1), self.value), value)
        lower, upper = self._interval(level)
        if pvalue <= level and self.other is not None:
            # A truth beyond the next larger one is no lower end.
            n_truths = int(np.searchsorted(self.truth, lower, side="right")) + 2
            lower = min(lower, self.other(n_truths)._interval(level)[0])
        return Estimate(
            value=value,
            lower=min(lower, debiased) if pvalue <= level else 0.0,
            upper=max(upper, debiased),
            noise_floor=float(self.null.mean()),
            pvalue=pvalue,
            debiased=debiased,
            detectable=self.detectable(level),
            least_pvalue=least_pvalue_of(self.null),
        )

    def detectable(self, level: float) -> float:
        """Truth that the test at a level finds four times in five."""
        critical, truth, quantiles = self._critical(level), [], []
        for true, sizes in [(self.truth, self.sizes)] if self.seen is None else self.seen():
            truth.append(true)
            quantiles.append(np.quantile(sizes, 1.0 - POWER, axis=1))
            if quantiles[-1].max() >= critical * ALMOST:
                break
        return _truth_with(np.maximum.accumulate(np.concatenate(truth)), np.concatenate(quantiles), critical)

    @cached_property
    def _luck(self) -> float:
        return LUCK * float(np.quantile(self.null, 0.5))

    def _critical(self, level: float) -> float:
        return float(np.quantile(self.null, 1.0 - level))

    def _interval(self, level: float) -> tuple[float, float]:
        """Smallest and largest truth of which the value is neither a high nor a low quantile."""
        power = np.maximum.accumulate((self.sizes > self._critical(level)).mean(axis=1))
        told = np.clip((power - power[0]) / min(level, 1.0 - level), 0.0, 1.0)  # 1: found twice as often as calibration
        told[np.quantile(self.sizes, level * TAIL, axis=1) <= self._luck] = 0.0
        below = level * TAIL * told
        above = level * (1.0 - (1.0 - TAIL) * told)
        low = np.where(below > 0.0, np.quantile(self.sizes, below, axis=1).diagonal(), 0.0)
        high = np.quantile(self.sizes, 1.0 - above, axis=1).diagonal()
        upper = self._last_with(low)
        if self.shifts is not None:
            upper = max(upper, self.value - float(np.quantile(self.shifts, level / 2.0)))
        return _truth_with(self.truth, high, self.value), upper

    def _last_with(self, quantiles: FloatArray) -> float:
        """Last truth at which a quantile is at most the value, or what luck makes of it."""
        rising = np.minimum.accumulate(quantiles[::-1])[::-1]
        value = max(self.value * (1.0 + 1e-9), self._luck) + self.grain
        last = int(np.searchsorted(rising, value, side="right")) - 1
        if last == rising.size - 1:
            return max(float(self.truth[-1]), self.value + float(np.quantile(self.null, 0.5)))
        return float(_between(value, rising[last : last + 2], self.truth[last : last + 2]))


def _truth_with(truth: FloatArray, quantiles: FloatArray, size: float) -> float:
    """Truth at which a quantile, a function of the truth that is made to rise, reaches a size."""
    rising = np.maximum.accumulate(quantiles)
    reached = int(np.searchsorted(rising, size * ALMOST, side="left"))
    if reached == 0:
        return 0.0
    if reached == rising.size:
        # No truth reached it: what was seen is too small to be stretched that far. The triangle inequality bounds it.
        return size + float(quantiles[0])
    return float(_between(size, rising[reached - 1 : reached + 1], truth[reached - 1 : reached + 1]))


def _between(size: float, quantiles: FloatArray, truth: FloatArray) -> float:
    """Truth between two at whose quantile a size lies."""
    rise = quantiles[1] - quantiles[0]
    part = np.clip((size - quantiles[0]) / rise, 0.0, 1.0) if rise > 0.0 else 1.0
    return float(truth[0] + part * (truth[1] - truth[0]))


def steps_for(value: float, null: FloatArray) -> FloatArray:
    """Steps that resolve both the noise and the value, 0 and 1 among them."""
    noise = float(np.quantile(null, 0.95))
    ratio = noise / value if value > 1e-12 * noise else 0.0  # a shape of nothing cannot be stretched
    return np.unique(np.concatenate([[0.0], NEAR_ONE, ratio * np.array(NOISE_SIZES)]))


def pvalue_of(value: float, null: FloatArray) -> float:
    """Share of null values that reach the value, with the +1 correction."""
    # A null value that equals the value up to rounding reaches it: the test must not gain from rounding.
    return (1.0 + float(np.sum(null >= value - (1.0 - ALMOST) * abs(value)))) / (1.0 + null.size)


def least_pvalue_of(null: FloatArray) -> float:
    """Smallest p-value that so many null values can show."""
    return 1.0 / (1.0 + null.size)


def mean_estimate(losses: FloatArray, weights: Weights, bootstrap: Bootstrap, *, level: float) -> Estimate:
    """Interval of a weighted mean of one value a row, by its variance and skewness; it holds the value itself.

    The quantiles of the mean in units of its estimated standard error are those of Cornish and Fisher to first order:
    -(2 z² + 1) k / 6 is added to a normal quantile z, where k is the skewness of the mean (Johnson 1978; Hall 1992). The mean
    of losses of which a few are large, as the log loss of rare events, lies further above its sample than below. A row whose
    weight is a number of rows is so many of them. Of infinite losses the ends are quantiles of the bootstrap.
    """
    value = float(np.average(losses, weights=None if weights.is_unit else weights.values))
    if not np.isfinite(value) and np.isposinf(losses).any():
        return _of_infinite(value, losses, weights.values, bootstrap, level)
    n, variance, third = _central_sums(losses, value, weights)
    if variance == 0.0 or n <= 1.0:
        return Estimate(value, value, value)
    return interval_of_mean(value, np.sqrt(variance * n / (n - 1.0)), third / variance**1.5, level)


def most_of_none(rows: float, level: float) -> float:
    """Return the largest share of something that occurred in none of so many rows (Clopper and Pearson)."""
    return float(1.0 - (level / 2.0) ** (1.0 / rows))


def interval_of_mean(value: float, error: float, skewness: float, level: float) -> Estimate:
    """Return a mean between its quantiles."""
    lower, upper = [quantile_of_mean(value, error, skewness, share) for share in (level / 2.0, 1.0 - level / 2.0)]
    return Estimate(value, min(lower, value), max(upper, value))


def quantile_of_mean(value: float, error: float, skewness: float, share: float) -> float:
    """Return a quantile by Cornish and Fisher to first order."""
    z = float(ndtri(share))
    return float(value + error * (z + skewness * (2.0 * z**2 + 1.0) / 6.0))


def _central_sums(losses: FloatArray, value: float, weights: Weights) -> tuple[float, float, float]:
    """Return the number of equal rows, and the sums of squares and cubes of what each adds to the error of the mean."""
    n, square, cube = 0.0, 0.0, 0.0
    for rows in blocks(losses.size):
        share, own = losses[rows] - value, weights.part(rows)
        if own.is_unit:
            n, squares = n + share.size, share * share
        else:
            share, times = own.importance * share, own.times
            n, squares = n + float(times.sum()), times * share * share
        square, cube = square + float(squares.sum()), cube + float(squares @ share)
    return n, square / weights.total**2, cube / weights.total**3


def _of_infinite(value: float, losses: FloatArray, weight: FloatArray, bootstrap: Bootstrap, level: float) -> Estimate:
    """Percentile interval of a mean of losses of which some are infinite: a quantile is one of the means."""
    endless = np.isposinf(losses)
    total = bootstrap.sums(weight)
    means = bootstrap.sums(weight * np.where(endless, 0.0, losses))[total > 0] / total[total > 0]
    means[bootstrap.sums(endless.astype(np.float64))[total > 0] > 0] = np.inf
    lower, upper = np.quantile(means, [level / 2.0, 1.0 - level / 2.0], method="inverted_cdf")
    return Estimate(value, min(float(lower), value), max(float(upper), value))


# The cells of calibration errors: bins of problems or groups of neighbouring scores, side by side


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

    Each cell has a ``count`` of rows, or of the equal rows that whole weights are, a weight (they sum to one), the
    ``expected`` sum of its weighted scores, a ``scale`` that turns weighted residuals into its deviation, that deviation, and
    the ``part`` of the notion whose it is. ``placed`` finds the cells of the rows. Of many rows there are the ``moments``, and
    where one row stands in several cells the forecasts of ``kept`` rows and their cells, as in `of`: they show how these vary
    together. A weight of one of the problem is worth so many ``rows_per_weight``.
    """

    placed: Callable[[], CellArray]
    count: FloatArray
    weight: FloatArray
    scale: FloatArray
    expected: FloatArray
    deviation: FloatArray
    part: IntArray
    moments: Moments | None = None
    kept: tuple[FloatArray, CellArray] | None = None
    rows_per_weight: float = 1.0

    @cached_property
    def of(self) -> CellArray:
        """Cell in which row i stands with class j, or -1, shape (n, K)."""
        return self.placed()

    @cached_property
    def share_rows(self) -> bool:
        """Whether a row stands in several of them."""
        return self.kept is not None or (self.moments is None and bool(((self.of >= 0).sum(axis=1) > 1).any()))

    @cached_property
    def prob(self) -> FloatArray:
        """Mean score of each cell."""
        return np.clip(self.scale * self.expected / np.where(self.weight > 0.0, self.weight, 1.0), 0.0, 1.0)

    @cached_property
    def gap(self) -> FloatArray:
        """Event rate minus mean score of each cell."""
        return self.deviation / np.where(self.weight > 0.0, self.weight, 1.0)

    def _as_rows(self, some: slice | BoolArray) -> BinaryProblem:
        """Return cells of one part as rows, each of which stands for as many as it holds."""
        worth = Unit(are_counts=False, rows_per_weight=self.rows_per_weight / float(self.scale[some][0]))
        weights = Weights(self.weight[some], of_whole=worth)
        return BinaryProblem(self.prob[some], np.zeros(len(weights), dtype=bool), weights)

    def sizes(self, lens: Lens, size: Size) -> Sizes:
        """Return how to take the size of what a lens sees of deviations, of all cells at once or part by part."""
        held = self.weight > 0
        if not held.any():  # a notion that found no row to speak of
            return Sizes(lambda deviations: [deviations], lambda seen: np.zeros(len(seen[0])), shrinks=size.shrinks)
        all_of_them = slice(None) if held.all() else held  # a view: to choose all by a mask is to copy them
        parts = [all_of_them] if size.is_joint else [held & (self.part == j) for j in np.unique(self.part[held])]
        weights = [self.weight[rows] for rows in parts]
        views = [lens.over_cells(self._as_rows(rows)) for rows in parts]
        return Sizes(
            lambda deviations: [
                view.look(deviations[:, rows] / w) for view, rows, w in zip(views, parts, weights, strict=True)
            ],
            partial(size.of_seen, views, weights),
            shrinks=size.shrinks,
        )


def draws_from_sums(problem: Problem, *notions: Notion) -> bool:
    """Whether noise is drawn from sums: equal rows are many, and are not known to the notions by their places."""
    weights, is_streamed = problem.weights, is_unread(problem)
    if is_streamed and not weights.is_unit:
        return False
    are_many = is_streamed or (weights.are_counts and MOST_BY_ROW < weights.total < MOST_DRAWN)
    return are_many and all(n.one_score_a_row or named(type(n)) is not None for n in notions)


def cells(problem: SimplexProblem, notion: Notion, binning: Binning, sums: Sums | None = None) -> Cells:
    """Cut a problem into the cells of a notion and a binning, of which the ``sums`` may be known already."""
    asked = (notion, binning)
    by_sums = draws_from_sums(problem, notion)
    known = sums if sums is not None and asked in sums.plan.cells and (sums.plan.noise or not by_sums) else None
    if known is None:
        known = scan(problem, Plan.of_cells([asked], noise=by_sums))
    table = known.of(*asked)
    return cells_of_table(
        table,
        table.bins.count > 0 if by_sums else (table.held > 0.0)[table.part],
        lambda: _placed(problem, notion, table),
        Moments.of(table) if by_sums else None,
        _kept(problem, notion, table, known) if by_sums and not notion.one_score_a_row else None,
    )


def cells_of_table(
    table: BinTable,
    some: BoolArray,
    placed: Callable[[], CellArray],
    moments: Moments | None = None,
    kept: tuple[FloatArray, CellArray] | None = None,
) -> Cells:
    """Return some of the bins as cells; where a notion found no row to speak of a single one without weight."""
    if not some.any():
        some = np.arange(some.size) == 0
    bins, scale = table.bins, table.factor[some]
    weight, expected, events = bins.weight[some], bins.score_sum[some], bins.outcome_sum[some]
    rows = np.minimum(weight, MOST_SHOWN) if table.weights.are_counts else bins.count[some].astype(np.float64)
    # The last number is that of no cell, -1.
    number = np.append(np.where(some, np.cumsum(some) - 1, -1), -1).astype(np.int32)
    return Cells(
        lambda: number[placed()],
        rows,
        scale * weight,
        scale,
        expected,
        scale * residual_of_sums(events, expected, rows),
        table.part[some],
        None if moments is None else moments.at(some),
        None if kept is None else (kept[0], number[kept[1]]),
        table.weights.rows_per_weight,
    )


def _placed(problem: SimplexProblem, notion: Notion, table: BinTable) -> CellArray:
    """Return the bin of each row and class, among those of all problems, or -1, shape (n, K)."""
    prob = problem.prob
    of: CellArray = np.full(prob.shape, -1, dtype=np.int32)
    if len(set(table.partitions)) == 1 and (stacked := notion._stacked(problem)) is not None:
        at, column = table.partitions[0].index(stacked.rows.score), stacked.part
        of[np.repeat(np.arange(len(prob)), column.size // len(prob)), column] = at + table.starts[column]
        return of
    for part, partition, start in zip(notion.parts(prob), table.partitions, table.starts[:-1].tolist(), strict=True):
        score = part.scores(problem.forecast.as_given).astype(np.float64, copy=False)
        part.put(of, start + partition.index(score))
    return of


def _kept(problem: SimplexProblem, notion: Notion, table: BinTable, sums: Sums) -> tuple[FloatArray, CellArray] | None:
    """Return the forecasts of kept rows, of weights that are counts of every so many-th of the equal rows, and their cells."""
    if problem.weights.repeat_rows:
        place = (np.arange(MOST_KEPT) + 0.5) / MOST_KEPT * problem.weights.total
        rows: Problem = problem.taken(np.searchsorted(np.cumsum(problem.weight), place))
    elif sums.kept is None:
        return None
    else:
        rows = sums.kept.problem
    simplex = as_simplex(rows)
    return simplex.prob, _placed(simplex, notion, table)


# Draws of the deviations of cells: by labels that the forecast draws, from rows drawn again, or at smoothed rates


BLOCK = 1 << 20
"""Rows times classes looked at together."""


def consistent_deviations(
    problem: SimplexProblem, tables: Sequence[Cells], n_resamples: int, rng: np.random.Generator
) -> list[FloatArray]:
    """Deviations of labels that the forecast draws, shape (n_resamples, n_cells) for each table.

    Those of tables with moments are drawn from these; the other tables share the draws of labels.
    """
    by_row = [table for table in tables if table.moments is None]
    events = iter(
        _events_by_row(problem, [table.of for table in by_row], [t.weight.size for t in by_row], n_resamples, rng)
    )
    found = [
        next(events) if table.moments is None else _events_by_cell(table.moments, table.kept, n_resamples, rng)
        for table in tables
    ]
    return [table.scale * (own - table.expected) for table, own in zip(tables, found, strict=True)]


def _events_by_row(
    problem: SimplexProblem, of: Sequence[CellArray], n_cells: Sequence[int], n_resamples: int, rng: np.random.Generator
) -> list[FloatArray]:
    """Draw the labels of each row, and sum the weights in the cells of each table, shape (n_resamples, n_cells)."""
    if not of:  # rows that are read in batches have no weights to ask for
        return []
    found, weight = [np.empty((n_resamples, size)) for size in n_cells], problem.weight
    labels, first = labels_of(problem, n_resamples, rng), 0
    for block in labels.blocks():
        for events, cell in zip(found, of, strict=True):
            events[first : first + len(block)] = labels.sums_at(cell, block, weight, events.shape[1])
        first += len(block)
    return found


def _events_by_cell(
    moments: Moments, kept: tuple[FloatArray, CellArray] | None, n_resamples: int, rng: np.random.Generator
) -> FloatArray:
    """Draw the number of events of each cell by itself.

    Where one row stands in several cells the draws of each cell are arranged in the order of the numbers of events of labels
    of the kept rows, so that cells vary together as theirs do (Iman and Conover 1982).
    """
    events = moments.events(n_resamples, rng)
    if kept is None:
        return events
    labels = ConsistentLabels(kept[0], n_resamples, rng)
    one_each, n_cells = np.ones(len(kept[0])), events.shape[1]
    seen = np.concatenate([labels.sums_at(kept[1], block, one_each, n_cells) for block in labels.blocks()])
    found = np.empty_like(events)
    np.put_along_axis(found, np.argsort(seen + rng.random(seen.shape), axis=0), np.sort(events, axis=0), axis=0)
    return found


def resampled_deviations(problem: SimplexProblem, cells: Cells, bootstrap: Bootstrap) -> FloatArray:
    """Bootstrapped deviations about the observed ones, from moments where cells share no rows."""
    if cells.moments is None or cells.kept is not None:
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
        residual = (problem.weight * bootstrap.step)[row] * ((problem.label[row] == column) - problem.prob[row, column])
        np.add.at(group_sums, bootstrap.group[row] * n_cells + cells.of[row, column], residual)
    return cells.scale * bootstrap.moved(group_sums.reshape(bootstrap.n_groups, n_cells))


def smoothed_deviations(cells: Cells, n_resamples: int, rng: np.random.Generator) -> FloatArray:
    """Deviations of binomial events about smoothed event rates, shape (n_resamples, n_cells); cells are independent."""
    n = np.maximum(cells.count, 1.0)
    weight = cells.weight / n  # of a row, in the aggregate
    events = np.clip((cells.deviation + cells.scale * cells.expected) / np.where(weight > 0, weight, 1.0), 0.0, n)
    rate = (events + 1.0) / (n + 2.0)
    drawn = rng.binomial(cells.count.astype(np.int64), rate, size=(n_resamples, n.size))
    return np.asarray(weight * (drawn - cells.count * rate), dtype=np.float64)
