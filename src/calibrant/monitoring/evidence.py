"""Evidence after each window, against calibration or against a reference, from the sums of the windows alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import entr, ndtri

from calibrant._core.arrays import FloatArray, NDArray
from calibrant._core.checks import refuse
from calibrant._core.rows import BoolArray, IntArray, SimplexProblem
from calibrant.binning.bins import Binning, even_edges
from calibrant.lenses import InBins
from calibrant.metrics.bin_losses import NormOfBins
from calibrant.metrics.estimate import cells_of_table
from calibrant.metrics.kinds import LogLoss
from calibrant.metrics.noise import Noise
from calibrant.notions import Notion
from calibrant.sums.draws import CellArray, is_upper
from calibrant.sums.sums import BinTable, Moments, Plan, Sums

# Bets against calibration, whose wealth is evidence that may be looked at after each window


SIZES = 0.05 * 2.0 ** np.arange(6)
"""Sizes of bets: by how much log-odds are taken to be wrong. An error below 0.025, a fortieth of the odds, is never found."""

BETS = np.concatenate([-SIZES[::-1], SIZES])
"""All bets λ, shape (12,)."""

FACTOR = np.expm1(BETS)

STARTS_AN_OCTAVE = 8
"""Bets begin at each of the first windows, and then so often while the number of windows doubles."""

MOST_STARTS = 100
"""Starts within 10,000 windows, and a few more."""


@dataclass(frozen=True, eq=False)
class Cut:
    """Units of cells: what is bet on the cells of a unit is one bet. ``unit`` (n_cells,) is the number of that of each cell.

    It is fixed before the first row: each row moves the wealth of one unit, and the product over units is that of one game.
    """

    unit: IntArray

    @cached_property
    def n_units(self) -> int:
        """Number of units."""
        return int(self.unit.max()) + 1

    @property
    def is_of_cells(self) -> bool:
        """Whether each cell is a unit."""
        return self.n_units == self.unit.size

    @property
    def idle(self) -> float:
        """Share of the wealth of a unit that is never bet: of many units most may be as they should."""
        return self.n_units / (self.n_units + 1.0) if self.n_units > 2 else 0.0

    def sums(self, values: FloatArray, axis: int = -2) -> FloatArray:
        """Return the sums over the cells of each unit; every unit has a cell."""
        if self.is_of_cells:
            return values
        order = np.argsort(self.unit, kind="stable")
        first = np.searchsorted(self.unit[order], np.arange(self.n_units))
        return np.asarray(np.add.reduceat(np.take(values, order, axis), first, axis))


@dataclass(frozen=True, eq=False)
class BetCells:
    """Sums over the rows of each cell: ``rows``, the sum of their probabilities, and their ``events``; shape (..., n_cells)."""

    rows: FloatArray
    expected: FloatArray
    events: FloatArray

    def at(self, number: int) -> BetCells:
        """Return the sums of one along the first axis."""
        return BetCells(self.rows[number], self.expected[number], self.events[number])

    @cached_property
    def mean(self) -> FloatArray:
        """Mean probability of each cell, 0 where there are no rows."""
        return np.clip(self.expected / np.maximum(self.rows, 1.0), 0.0, 1.0)

    def log_gains(self) -> FloatArray:
        """Return the logarithm of what each bet multiplies wealth by, shape (..., n_cells, n_bets)."""
        fair = self.rows[..., None] * np.log1p(self.mean[..., None] * FACTOR)
        return np.asarray(BETS * self.events[..., None] - fair)


def starts(windows: int) -> IntArray:
    """Return the windows, counted from 0, at which bets begin: each of the first 16, each second one up to 32, and so on."""
    found, start = [], 0
    while start < windows:
        found.append(start)
        start += max(1, 1 << start.bit_length() >> STARTS_AN_OCTAVE.bit_length())
    return np.array(found, dtype=np.intp)


def log_parts(n: int) -> FloatArray:
    """Return the logarithms of the shares of wealth with which the first n starts begin; those of all starts sum to one.

    Half of the wealth falls as 1 / (j (j + 1)), half is the same for each start within the windows that there may be.
    """
    j = np.arange(1.0, n + 1.0)
    return np.asarray(np.log(0.5 / (j * (j + 1.0)) + 0.5 * np.where(j <= MOST_STARTS, 1.0 / MOST_STARTS, 0.0)))


def log_kept(n: int) -> float:
    """Return the logarithm of the share of wealth that is kept for starts behind the first n."""
    return float(np.log(0.5 / (n + 1.0) + 0.5 * max(1.0 - n / MOST_STARTS, 0.0)))


def log_sum(log: FloatArray, axis: int | tuple[int, ...] = -1) -> FloatArray:
    """Return the logarithm of the sum of numbers that are given by their logarithms."""
    largest = log.max(axis=axis, keepdims=True)
    safe = np.where(np.isfinite(largest), largest, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.exp(log - safe).sum(axis=axis)) + np.squeeze(safe, axis))


def log_mean(log: FloatArray) -> FloatArray:
    """Return the logarithm of the mean, along the last axis, of numbers that are given by their logarithms."""
    return np.asarray(log_sum(log) - np.log(log.shape[-1]))


# What a reference tells of the gaps of bins, and how the test of drift pays for its noise


SmallArray = NDArray[np.int8]

DEVIATIONS = np.array([-6.0, -3.0, -1.0, 1.0, 3.0, 6.0])
"""Bets on the reference, in units of the standard deviation that the events of a unit have if they are calibrated."""

PARTS = np.array([0.1, 0.15, 0.25, 0.25, 0.15, 0.1])
"""Share of the wealth with which they begin."""

SPREAD = 0.4
"""How much more and less is bet on a cell, in units of its own standard deviation. More costs wealth where predictions fall
into the same cells as before, less leaves no bet on many cells where they do not."""

FEWEST = 10
"""Rows of a cell in the reference from which on it is bet on."""


@dataclass(frozen=True, eq=False)
class OnReference:
    """Bets on the reference by the units of a cut.

    Attributes
    ----------
    base : tuple of ndarray of shape (..., n_cells, 6)
        Logarithm of the wealth of each bet if the gaps are those seen, with a little less bet on each cell, and a little more.
    slope : tuple of ndarray of shape (..., n_cells, 6)
        How it falls as the gap of a cell rises.
    total : ndarray of shape (..., n_units, 6)
        Slope of a unit, between those of less and more; it rises from bet to bet.
    """

    cut: Cut
    base: tuple[FloatArray, FloatArray]
    slope: tuple[FloatArray, FloatArray]
    total: FloatArray

    @classmethod
    def of(cls, reference: BetCells, rate: FloatArray, cut: Cut) -> OnReference:
        """Return the bets on the rows of a reference with these event rates."""
        variance = reference.rows * reference.mean * (1.0 - reference.mean)
        unit = np.take(np.sqrt(np.maximum(cut.sums(variance, axis=-1), 1.0)), cut.unit, axis=-1)
        bet = DEVIATIONS / unit[..., None]
        apart = (0.0 if cut.is_of_cells else SPREAD) / np.sqrt(np.maximum(variance, 1.0))[..., None]
        base, slope = [], []
        for own in (bet - apart, bet + apart):
            factor = np.expm1(own)
            inside = 1.0 + rate[..., None] * factor
            base.append(own * reference.events[..., None] - reference.rows[..., None] * np.log(inside))
            slope.append(reference.rows[..., None] * factor / inside)
        return cls(cut, (base[0], base[1]), (slope[0], slope[1]), cut.sums((slope[0] + slope[1]) / 2.0))

    def log_wealth(self, gain: FloatArray, slope: FloatArray) -> FloatArray:
        """Return the least wealth for all gaps, of what bets on later rows gained.

        Parameters
        ----------
        gain, slope : ndarray of shape (..., n_starts, n_cells, n_bets)
            Sums of `Reference.terms`.

        Returns
        -------
        ndarray of shape (..., n_starts, n_units, n_bets)
            Its logarithm.
        """
        wanted = -self.cut.sums(slope)
        upper: SmallArray = np.zeros(wanted.shape, dtype=np.int8)
        for k in range(DEVIATIONS.size):
            upper += _each(self.total, k) <= wanted
        low, high = _chosen(self.total, upper, -1), _chosen(self.total, upper, 0)
        cancels = (upper > 0) & (upper < DEVIATIONS.size) & (high > low)
        part = np.where(cancels, (high - wanted) / np.where(cancels, high - low, 1.0), 0.5)
        first, second = (np.take(np.log(PARTS), np.clip(upper + step, 0, PARTS.size - 1)) for step in (-1, 0))
        paid = part * first + (1.0 - part) * second + entr(part) + entr(1.0 - part)
        at, of = np.take(upper, self.cut.unit, axis=-2), np.take(part, self.cut.unit, axis=-2)
        if self.cut.is_of_cells:  # the error of the one cell has cancelled
            return np.where(cancels, gain + _between(self.base[0], at, of) + paid, -np.inf)
        less, more = (_between(values, at, of) for values in self.slope)
        base_less, base_more = (_between(values, at, of) for values in self.base)
        width = more - less
        share = np.where(width > 0.0, (-slope - less) / np.where(width > 0.0, width, 1.0), 0.5)
        cancels &= self.cut.sums(((share < 0.0) | (share > 1.0)).astype(np.int8)) == 0
        share = np.clip(share, 0.0, 1.0)
        own = gain + share * base_more + (1.0 - share) * base_less + entr(share) + entr(1.0 - share) - np.log(2.0)
        return np.where(cancels, self.cut.sums(own) + paid, -np.inf)


@dataclass(frozen=True, eq=False)
class Reference:
    """The gaps of cells in a reference, and bets on its rows.

    Attributes
    ----------
    gap : ndarray of shape (..., n_cells)
        Event rate minus mean probability.
    counts : ndarray of shape (..., n_cells)
        Whether there are enough rows to bet on the cell.
    known : tuple of ndarray of shape (..., n_units)
        For each cut, whether a unit has such cells. The wealth of others stays as it is, whatever later windows hold.
    bets : tuple of OnReference
        One a cut.
    """

    gap: FloatArray
    counts: BoolArray
    known: tuple[BoolArray, ...]
    bets: tuple[OnReference, ...]

    @classmethod
    def of(cls, reference: BetCells, cuts: tuple[Cut, ...]) -> Reference:
        """Return what a reference tells, from its sums."""
        counts = np.asarray(reference.rows >= FEWEST, dtype=np.bool_)
        kept = BetCells(*(np.where(counts, x, 0.0) for x in (reference.rows, reference.expected, reference.events)))
        rate = np.clip(kept.events / np.maximum(kept.rows, 1.0), 0.0, 1.0)
        known = tuple(np.asarray(cut.sums(kept.rows, axis=-1) > 0.0) for cut in cuts)
        bets = tuple(OnReference.of(kept, rate, cut) for cut in cuts)
        return cls(np.where(counts, rate - kept.mean, 0.0), counts, known, bets)

    def terms(self, window: BetCells) -> tuple[FloatArray, FloatArray]:
        """Return the logarithm of what bets gain if the gaps are those seen, and its slopes; shape (..., n_cells, n_bets)."""
        mean = window.mean + self.gap
        x = np.clip(mean, 0.0, 1.0)[..., None]
        rows, events = (np.where(self.counts, values, 0.0)[..., None] for values in (window.rows, window.events))
        slope = rows * FACTOR / (1.0 + x * FACTOR)
        gain = BETS * events - rows * np.log1p(x * FACTOR)
        return gain - slope * (mean[..., None] - x), slope


def _each(values: FloatArray, bet: int) -> FloatArray:
    """Return the values (..., n, 6) of a bet, beside starts and bets of windows: (..., 1, n, 1)."""
    return values[..., None, :, bet, None]


def _chosen(values: FloatArray, upper: SmallArray, step: int) -> FloatArray:
    """Return the values (..., n, 6) of the bet  upper + step  in each place, (..., n_starts, n, n_bets)."""
    found = _each(values, 1 + step)
    for k in range(2, DEVIATIONS.size):
        found = np.where(upper >= k, _each(values, k + step), found)
    return found


def _between(values: FloatArray, upper: SmallArray, part: FloatArray) -> FloatArray:
    """Return the mean of the values of two bets, of which the lower one has this weight."""
    return np.asarray(part * _chosen(values, upper, -1) + (1.0 - part) * _chosen(values, upper, 0))


@dataclass(frozen=True, eq=False)
class Evidence:
    """Bets on windows, in their order; leading axes are streams side by side.

    Attributes
    ----------
    windows : BetCells
        Sums of each window, arrays of shape (n_windows, ..., n_cells).
    cuts : tuple of Cut
        How cells are bet on together. The evidence is the mean over cuts.
    reference : Reference or None
        What calibration is to have been; None if the predictions are to be calibrated.
    """

    windows: BetCells
    cuts: tuple[Cut, ...]
    reference: Reference | None = None

    @cached_property
    def _sums(self) -> tuple[FloatArray, ...]:
        """Gains, and slopes, before each window and after the last, shape (n_windows + 1, ..., n_cells, n_bets)."""
        if self.reference is None:
            return (_running(self.windows.log_gains()),)
        return tuple(map(_running, self.reference.terms(self.windows)))

    def units(self, after: int, number: int) -> FloatArray:
        """Return the logarithm of the wealth of each bet after so many windows, shape (..., n_starts, n_units, n_bets)."""
        begun = starts(after)
        gain, *slope = (np.moveaxis(x[after] - x[begun], 0, -3) for x in self._sums)
        own = None if self.reference is None else self.reference.bets[number]
        log = self.cuts[number].sums(gain) if own is None else own.log_wealth(gain, *slope)
        return np.asarray(log + log_parts(begun.size)[:, None, None] - np.log(BETS.size))

    def by_unit(self, after: int, number: int) -> FloatArray:
        """Return the logarithm of the wealth of each unit of a cut, shape (..., n_units)."""
        log = log_sum(self.units(after, number), (-3, -1))
        if self.reference is None:  # what is kept for bets that begin later
            log = np.logaddexp(log, log_kept(starts(after).size))
        idle = self.cuts[number].idle
        if idle > 0.0:
            log = np.logaddexp(np.log(idle), np.log1p(-idle) + log)
        return log if self.reference is None else np.where(self.reference.known[number], log, 0.0)

    def after(self, windows: int) -> FloatArray:
        """Return the logarithm of the evidence after so many windows, at least one; shape (...)."""
        found = [self.by_unit(windows, number).sum(axis=-1) for number in range(len(self.cuts))]
        return log_mean(np.stack(found, axis=-1))

    @cached_property
    def path(self) -> FloatArray:
        """Logarithm of the evidence after each window, shape (n_windows, ...)."""
        n = self.windows.rows.shape[0]
        return np.array([self.after(t) for t in range(1, n + 1)]).reshape(n, *self.windows.rows.shape[1:-1])


def _running(terms: FloatArray) -> FloatArray:
    return np.concatenate([np.zeros((1, *terms.shape[1:])), np.cumsum(terms, axis=0)])


# The cells of a monitor: fixed by its options and classes, before the first row is read


@dataclass(frozen=True, eq=False)
class Place:
    """Cells side by side: whose part each is, its name, and the edges of its bin; all of shape (n_cells,).

    All bins of all parts are cells, whether or not they ever hold rows. Were a bin a cell only from its first row on, that row
    would change what was bet before it, and evidence would be no wealth of a fair game.
    """

    part: IntArray
    names: tuple[str, ...]
    left: FloatArray
    right: FloatArray
    upper: BoolArray

    @classmethod
    def of(cls, n_bins: int, names: Sequence[str]) -> Place:
        """Return the cells of parts of these names, each of so many bins of equal width."""
        edges = even_edges(n_bins, np.dtype(np.float64)).edges
        n, part = len(names), np.repeat(np.arange(len(names)), n_bins)
        of_each = tuple(name for name in names for _ in range(n_bins))
        return cls(part, of_each, np.tile(edges[:-1], n), np.tile(edges[1:], n), np.tile(is_upper(edges), n))

    @property
    def cuts(self) -> tuple[Cut, ...]:
        """How cells are bet on together."""
        return cuts_of(self.upper, self.part)

    def cells(self, every: Sequence[Sums], parts: Sequence[int]) -> BetCells:
        """Put the bins of some parts side by side, arrays of shape (n_sums, n_cells); a part without rows is zeros."""
        n = self.part.size // len(parts)

        def of(name: str) -> FloatArray:
            rows = ([np.asarray(getattr(sums.cells[0][k].bins, name)) for k in parts] for sums in every)
            # It may be one bin.
            padded = ([values if values.size == n else np.zeros(n) for values in row] for row in rows)
            return np.array([np.concatenate(row) for row in padded], dtype=np.float64)

        return BetCells(of("weight"), of("score_sum"), of("outcome_sum"))

    def words(self, cells: BoolArray) -> str:
        """Say which cells these are."""
        if cells.all():
            return "all rows" if len(set(self.names)) > 1 or not self.names[0] else f"{self.names[0]}"
        parts = {self.names[k] for k in np.flatnonzero(cells)}
        said = [] if len(parts) > 1 or len(set(self.names)) == 1 else [parts.pop()]
        span = f"probabilities from {self.left[cells].min():.3g} to {self.right[cells].max():.3g}"
        return ", ".join([*said, *([] if cells.sum() > 1 and said else [span])])


def cuts_of(upper: BoolArray, part: IntArray) -> tuple[Cut, ...]:
    """Return the cuts of cells: all together, those of the lower and of the upper half, those of each part, and each cell.

    Parameters
    ----------
    upper : ndarray of shape (n_cells,)
        Whether a cell lies in the upper half of [0, 1].
    part : ndarray of shape (n_cells,)
        Number of the part of the notion that it is of.
    """
    units = [np.zeros(part.size, dtype=np.intp), upper.astype(np.intp), part, np.arange(part.size)]
    numbered = [np.unique(unit, return_inverse=True)[1] for unit in units]
    return tuple(map(Cut, {unit.tobytes(): unit for unit in numbered}.values()))


# What is known of one window, from its sums alone


LOG_LOSS, IMPOSSIBLE = "log loss", "events of probability 0"


@dataclass(frozen=True)
class ImpossibleRows:
    """One for each row in which an event occurred that has probability 0 under a notion; logits give none."""

    of_predictions: bool

    def __call__(self, problem: SimplexProblem) -> FloatArray:
        """Return zeros and ones, shape (n,)."""
        if problem.forecast.is_logit:
            return np.zeros(problem.size)
        if not self.of_predictions:
            return np.asarray(problem.of_true <= 0.0, dtype=np.float64)
        top = problem.forecast.as_given[np.arange(problem.size), problem.top]
        return np.asarray((top >= 1.0) & (problem.top != problem.label), dtype=np.float64)


def plan_of(notion: Notion, binning: Binning) -> Plan:
    """Return what is summed over each window."""
    scores = ((LOG_LOSS, LogLoss()), (IMPOSSIBLE, ImpossibleRows(notion.of_predictions)))
    return Plan(cells=((notion, binning),), scores=scores, powers=1, noise=True)


def figures_of(sums: Sums, level: float, n_resamples: int) -> dict[str, Any]:
    """Return the figures of a window by their names in `MonitorTable`; what is drawn is the same in each call."""
    table = sums.cells[0]
    notion, binning = sums.plan.cells[0]
    held = table.bins.count > 0
    cells, size = cells_of_table(table, held, _nowhere, Moments.of(table)), NormOfBins.of()
    assert size.of_table is not None
    assert cells.moments is not None
    # Of labels that the predictions themselves draw.
    events = cells.moments.events(n_resamples, np.random.default_rng(0))
    deviations = cells.scale * (events - cells.expected)
    if len(table.names) == 2 and not notion.one_score_a_row:  # what one class has too few of, the other has too many of
        number, other = np.flatnonzero(held), np.flatnonzero(held[::-1])
        _, first, second = np.intersect1d(number[number < held.size // 2], other, return_indices=True)
        deviations[:, first] = -deviations[:, ::-1][:, second]
    noise = Noise(cells, deviations, cells.count, 0)
    law = replace(noise.law(cells.sizes(InBins(binning), size)), seen=None)  # draws for what no figure shows
    lower, upper = law.estimate(level).interval
    names = ("event_rate", "mean_prob", "gap", "gap_lower", "gap_upper")  # of class-wise calibration they cancel
    return {
        "rows": round(sums.weight),
        **dict(zip(names, _in_the_large(table, level) if notion.one_score_a_row else (np.nan,) * 5, strict=True)),
        "ece": size.of_table(table),
        "ece_lower": lower,
        "ece_upper": min(upper, 1.0),
        "noise_floor": float(law.null.mean()),
        "noise_upper": float(np.quantile(law.null, 1.0 - level)),
        "log_loss": sums.mean(LOG_LOSS),
        "impossible": round(sums.total(IMPOSSIBLE)),
    }


def _nowhere() -> CellArray:
    refuse("rows of a window must not be asked for", got="their cells", hint="Only their sums were kept")


def _in_the_large(table: BinTable, level: float) -> tuple[float, float, float, float, float]:
    """Return event rate, mean probability, their difference and its interval.

    Squared residuals are m² where the outcome is the likely one of its half of [0, 1], and else (1 - m)². Their variance is
    at least m (1 - m), that of calibrated predictions: the residuals of few rare events are nearly all alike.
    """
    n, rate, mean = (float(sums.sum()) for sums in (table.bins.weight, table.bins.outcome_sum, table.bins.score_sum))
    rate, mean = rate / n, mean / n
    strata = table.strata
    assert strata is not None
    against, (first, second) = np.array([[False], [True]]) ^ table.is_upper, strata.sums
    square = float(np.where(against, strata.count - 2.0 * first + second, second).sum())
    gap = rate - mean
    variance = max(square / n - gap**2, float((first - second).sum()) / n, 0.0)
    error = float(ndtri(1.0 - level / 2.0)) * np.sqrt(variance / n)
    return rate, mean, gap, max(gap - error, -1.0), min(gap + error, 1.0)


# The two sequential tests of a monitor, as functions of the sums of its windows


@dataclass(frozen=True, eq=False)
class Sequential:
    """A test after each window.

    Attributes
    ----------
    groups : tuple of Evidence
        Bets on rows that stand in one cell each; a row may stand in several groups. The evidence is the mean over groups.
    places : tuple of Place
        What the cells of each group are.
    certain : ndarray of shape (n_windows,)
        Whether an event of probability 0 has occurred by the end of the window: bets on it have no limit.
    of_predictions : bool
        Whether the event is that a predicted class is true.
    """

    groups: tuple[Evidence, ...]
    places: tuple[Place, ...]
    certain: BoolArray
    of_predictions: bool

    @classmethod
    def of(cls, n_bins: int, windows: Sequence[Sums], reference: Sums | None = None) -> Sequential:
        """Return the test of these windows: against a reference, if there is one, else against calibration."""
        notion = windows[0].plan.cells[0][0]
        names = [one.name for one in windows[0].cells[0]]
        groups, places = [], []
        for parts in [range(len(names))] if notion.one_score_a_row else [[k] for k in range(len(names))]:
            place = Place.of(n_bins, [names[k] for k in parts])
            known = None if reference is None else Reference.of(place.cells([reference], parts).at(0), place.cuts)
            groups.append(Evidence(place.cells(windows, parts), place.cuts, known))
            places.append(place)
        impossible = (
            np.array([sums.total(IMPOSSIBLE) for sums in windows]) if reference is None else np.zeros(len(windows))
        )
        return cls(tuple(groups), tuple(places), np.cumsum(impossible) > 0.0, notion.of_predictions)

    @cached_property
    def path(self) -> FloatArray:
        """Logarithm of the evidence after each window."""
        found = log_mean(np.stack([group.path for group in self.groups], axis=-1))
        return np.where(self.certain, np.inf, found)

    def first(self, alpha: float) -> int | None:
        """Return the number of the first window after which the evidence is at least 1 / alpha, None if there is none."""
        reached = np.flatnonzero(self.path >= -np.log(alpha))
        return int(reached[0]) if reached.size else None

    def where(self, window: int) -> str:
        """Say which bets gained most by the end of a window."""
        if self.certain[window]:
            return "an event of probability 0 occurred, or one of probability 1 did not"
        number = int(np.argmax([group.path[window] for group in self.groups]))
        group, place = self.groups[number], self.places[number]
        wealth = [group.by_unit(window + 1, k) for k in range(len(group.cuts))]
        best = int(np.argmax([each.sum() for each in wealth]))
        unit = int(np.argmax(wealth[best]))
        bets = log_sum(group.units(window + 1, best)[:, unit], 0)
        is_more = log_sum(bets[BETS > 0.0]) > log_sum(bets[BETS < 0.0])
        rows = place.words(group.cuts[best].unit == unit)
        if group.reference is None:
            event = "the predicted class is true" if self.of_predictions else "the event occurs"
            return f"{rows}: {event} {'more' if is_more else 'less'} often than predicted"
        gap = "accuracy minus confidence" if self.of_predictions else "event rate minus prediction"
        return f"{rows}: {gap} is {'higher' if is_more else 'lower'} than in the reference"
