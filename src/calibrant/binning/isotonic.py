"""Bins whose event rates increase."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor, nan
from typing import Any, ClassVar, Literal

import numpy as np
from scipy.optimize import isotonic_regression

from calibrant._core.arrays import FloatArray, is_whole
from calibrant._core.checks import choice, number, require, whole
from calibrant._core.registry import declare
from calibrant._core.rows import IntArray
from calibrant.binning.bins import Binning, EqualMass, EqualWidth, Ordered, OrderedBinning, between, require_bins

# Bins whose event rates nearly increase, and that are neither small nor large


ROUNDING = 1e-12
"""What two sums of fractional weights may differ by and be equal, as a share of either."""

Ending = Literal["bounded", "joined"]
ENDINGS = ("bounded", "joined")


@declare("binning", "bounded-isotonic", symbol="PAVA-BC", source="Matsubara et al. 2023")
@dataclass(frozen=True)
class BoundedIsotonic(OrderedBinning):
    """Bins of isotonic regression with a smallest and a largest size (PAVA-BC).

    Neighbouring scores are pooled where event rates decrease, as in `Isotonic`, but no further than ``max_count``; and a bin
    takes what follows, whatever its rate, until it holds ``min_count``. So event rates may decrease between some bins:
    `binning_quality` says where and by how much. The default makes 5 to 20 bins where scores are distinct.

    Parameters
    ----------
    min_count, max_count : float or int, default=0.05 and 0.2
        The smallest and the largest bin. A float is a share of the rows, in [0, 1], an int a number of rows: 0.05 is every
        twentieth row, 1.0 is all rows, 1 is one row. Where rows are so few that a share and a number contradict each other,
        the smallest size is the largest as well.
    ending : {"bounded", "joined"}, default="bounded"
        Whether the last ``min_count`` rows join the bin before them. "bounded": if the two hold no more than ``max_count``, as
        Algorithm 2 says. "joined": if twice ``min_count`` is no more than ``max_count``, whatever the two hold, as the code
        that the authors published does; then the last bin can be larger than ``max_count``.

    Notes
    -----
    Whole weights count as rows; others are scaled to a mean of one. Each block is a bin, and edges lie midway between the
    scores at which blocks part. Algorithm 3 is not followed as it is printed: it cuts where the isotonic value changes, and so
    joins neighbouring blocks of equal event rate, which ``max_count`` had parted, into bins larger than ``max_count``. The
    sizes of bins that the authors print are those of the blocks. Where events are rare the difference is large: many blocks
    hold none.

    Every bin holds ``min_count``; there is one bin if the rows are fewer. Equal scores share a bin, which can make it larger
    than ``max_count``. With ``ending="bounded"`` such a bin holds less than ``min_count`` on either side of one of its scores,
    and there is none while no score holds more than ``max_count - 2 * min_count`` rows. Distinct scores make one only if
    ``max_count`` is less than ``2 * min_count - 1``: then not every number of rows can be cut into bins of such sizes.

    ``min_count=0`` and ``max_count=1.0`` give the bins of `Isotonic`, up to rounding of fractional weights. With
    ``max_count=1``, a whole number, each distinct score is a bin.

    References
    ----------
    Matsubara, Tax, Mudd, Guy, TCE: A test-based approach to measuring calibration error, UAI 2023 (Algorithms 2 and 3).

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant import reliability_curve
    >>> from calibrant.binning import BoundedIsotonic
    >>> score = np.arange(100) / 100
    >>> curve = reliability_curve(np.arange(100) % 3 == 0, score, binning=BoundedIsotonic(10, 40))
    >>> curve.panels[0].bins.count.tolist()
    [39, 39, 22]
    """

    uses_outcomes: ClassVar[bool] = True

    min_count: float | int = 0.05
    max_count: float | int = 0.2
    ending: Ending = "bounded"

    def __post_init__(self) -> None:
        _require_size("min_count", self.min_count)
        _require_size("max_count", self.max_count)
        of_a_kind = is_whole(self.min_count) == is_whole(self.max_count)
        fits = self.max_count != 0 and (not of_a_kind or not (self.max_count < self.min_count))
        must = "max_count must be above 0 and at least min_count"
        hint = "Pass a share such as 0.2 or a number of rows"
        require(fits, must, got=f"{self.max_count!r} with min_count={self.min_count!r}", hint=hint)
        choice("ending", self.ending, ENDINGS)

    def cut(self, ordered: Ordered) -> FloatArray:
        """Return edges midway between the scores at which blocks part."""
        starts = np.array(self._starts(ordered), dtype=np.intp)
        below, above = ordered.score[starts - 1], ordered.score[starts]
        middle = below + (above - below) / 2.0
        # Of neighbouring floats the middle is rounded to either; a score on an edge belongs to the bin below.
        return np.concatenate([[0.0], np.where(middle < above, middle, below), [1.0]])

    def _starts(self, ordered: Ordered) -> list[int]:
        """Return at which distinct score each block but the first begins."""
        least, most = self._limits(ordered)
        mass, events = ordered.weight, ordered.outcome_sum
        # The last rows are as few whole scores as hold enough.
        tail = int(np.searchsorted(ordered.reached, ordered.total - least, side="right")) if least > 0.0 else mass.size
        if tail == 0:
            return []
        blocks = Blocks(least, most, 0.0 if ordered.problem.weights.are_counts else ROUNDING)
        blocks.pool(mass[:tail].tolist(), events[:tail].tolist())
        if tail < mass.size:
            rest = float(mass[tail:].sum())
            blocks.end(tail, joins=2.0 * least <= most if self.ending == "joined" else blocks.fits(rest))
        return blocks.starts

    def _limits(self, ordered: Ordered) -> tuple[float, float]:
        """Return the smallest and the largest weight of a bin."""
        least = _weight_of(self.min_count, ordered) * (1.0 - ROUNDING)
        most = _weight_of(self.max_count, ordered) * (1.0 + ROUNDING)
        if ordered.problem.weights.are_counts:
            least, most = float(ceil(least)), float(floor(most))
        return least, most


class Blocks:
    """Neighbouring scores that share a bin (Algorithm 2).

    The last block is open and has ``mass``. Those before it are closed, and each of them has ``least`` or more.
    """

    def __init__(self, least: float, most: float, rounding: float) -> None:
        self.least, self.most = least, most
        self.keep = 1.0 - rounding
        self.starts: list[int] = []
        self.closed: list[tuple[float, float]] = []
        self.mass = 0.0

    def fits(self, mass: float) -> bool:
        """Whether the open block can take so much."""
        return self.mass + mass <= self.most

    def pool(self, masses: list[float], events: list[float]) -> None:
        """Go through the scores once; each joins the open block or opens one."""
        least, most, keep, starts, closed = self.least, self.most, self.keep, self.starts, self.closed
        w, y = masses[0], events[0]
        for i in range(1, len(masses)):
            m, e = masses[i], events[i]
            if w < least:
                # The text tests w + m <= least, which for rows one by one is the same. A score of many rows joins as well.
                if w + m > most and closed and closed[-1][0] + w <= most:
                    self.mass = w
                    self.give_back(i)
                    w, y = m, e
                    continue
            elif w + m > most or y * m < e * w * keep:
                closed.append((w, y))
                starts.append(i)
                w, y = m, e
                continue
            w += m
            y += e
            while closed:
                before, occurred = closed[-1]
                if before + w > most or occurred * w < y * before * keep:
                    break
                closed.pop()
                starts.pop()
                w += before
                y += occurred
        self.mass = w

    def end(self, at: int, *, joins: bool) -> None:
        """Let the last rows, which begin at a score, join the open block or be one themselves."""
        if joins:
            return
        if self.mass >= self.least:
            self.starts.append(at)
        elif self.closed and self.closed[-1][0] + self.mass <= self.most:
            # The text leaves a block that is too small. Ties make one, or a largest size of less than twice the smallest.
            self.give_back(at)

    def give_back(self, at: int) -> None:
        """Add the open block, which is too small, to the one before it; the next one begins at a score.

        Nothing asks for the events of the two: with the score that did not fit into the open block they are too large to pool.
        """
        self.closed[-1] = self.closed[-1][0] + self.mass, nan
        self.starts[-1] = at


def _weight_of(size: float | int, ordered: Ordered) -> float:
    if not is_whole(size):
        return size * ordered.total
    rows = ordered.total * ordered.problem.weights.rows_per_weight
    return 2.0 * ordered.total if size > 2.0 * rows else int(size) / ordered.problem.weights.rows_per_weight


def _require_size(name: str, size: object) -> None:
    if is_whole(size):
        whole(name, size, least=0, hint="Pass a number of rows such as 50, or a share of them such as 0.05")
    else:
        number(name, size, least=0.0, most=1.0, hint="Pass a share such as 0.05, or a whole number of rows")


@declare("binning", "isotonic", symbol="PAVA", source="Ayer et al. 1955; Dimitriadis et al. 2021")
@dataclass(frozen=True)
class Isotonic(OrderedBinning):
    """Blocks of the isotonic regression of outcome on score: as many bins as keep the event rates increasing.

    Neighbouring scores are pooled until no event rate is below or equal to the one before (pool adjacent violators). Nothing
    has to be chosen; the event rates are the isotonic regression, and the reliability curve over these bins is the CORP
    curve. The outcomes themselves choose the bins: gaps look larger than over bins that the scores alone choose.

    References
    ----------
    Ayer, Brunk, Ewing, Reid, Silverman, An empirical distribution function for sampling with incomplete information,
    Annals of Mathematical Statistics 1955.
    Dimitriadis, Gneiting, Jordan, Stable reliability diagrams for probabilistic classifiers, PNAS 2021.

    Examples
    --------
    >>> from calibrant import reliability_curve
    >>> from calibrant.binning import Isotonic
    >>> curve = reliability_curve([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4], binning=Isotonic())
    >>> curve.panels[0].bins.event_rate.tolist()
    [0.0, 0.5, 1.0]
    """

    uses_outcomes: ClassVar[bool] = True

    def cut(self, ordered: Ordered) -> FloatArray:
        """Return the highest score of each block."""
        return np.concatenate([[0.0], ordered.score[block_starts(ordered)[1:] - 1], [1.0]])


def block_starts(ordered: Ordered) -> IntArray:
    """Return at which distinct score each block begins."""
    starts: IntArray = np.arange(ordered.score.size)
    while True:
        weight = np.add.reduceat(ordered.weight, starts)
        rate = np.add.reduceat(ordered.outcome_sum, starts) / weight
        found: Any = isotonic_regression(rate, weights=weight)
        if found.blocks.size > starts.size:
            break
        # Running means are rounded, sums of whole weights are not: pool until the sums say that nothing is left to pool.
        starts = starts[found.blocks[:-1]]
    if ordered.problem.weights.are_counts:
        return starts
    # Of other weights rounding alone may put equal rates in order.
    apart: IntArray = starts[np.append(True, rate[1:] * (1.0 - ROUNDING) > rate[:-1])]
    return apart


# As many bins as keep the event rates in order


Family = Literal["equal-mass", "equal-width"]

FAMILIES: dict[str, type[EqualMass] | type[EqualWidth]] = {"equal-mass": EqualMass, "equal-width": EqualWidth}


@declare("binning", "monotonic-sweep", symbol="SWEEP", source="Roelofs et al. 2022")
@dataclass(frozen=True)
class MonotonicSweep(OrderedBinning):
    """As many bins as keep the event rates non-decreasing: bins are added until a rate first falls.

    Bins without rows are passed over. The calibration error over these bins is known as ECE sweep.

    Parameters
    ----------
    of : {"equal-mass", "equal-width"}, default="equal-mass"
        How scores are cut; the first is less biased.
    most_bins : int, default=1000
        Where the sweep ends if the event rates are still non-decreasing; at the latest it ends at the number of rows.

    References
    ----------
    Roelofs, Cain, Shlens, Mozer, Mitigating bias in calibration error estimation, AISTATS 2022.

    Examples
    --------
    >>> from calibrant import reliability_curve
    >>> from calibrant.binning import MonotonicSweep
    >>> curve = reliability_curve([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4], binning=MonotonicSweep())
    >>> curve.panels[0].bins.event_rate.tolist()
    [0.5, 0.5]
    """

    uses_outcomes: ClassVar[bool] = True

    of: Family = "equal-mass"
    most_bins: int = 1000

    def __post_init__(self) -> None:
        choice("of", self.of, FAMILIES)
        require_bins(self.most_bins, "most_bins")

    def cut(self, ordered: Ordered) -> FloatArray:
        """Return the edges of the last binning before the first whose event rates decrease somewhere."""
        family = FAMILIES[self.of]
        rows = round(ordered.total * ordered.problem.weights.rows_per_weight)
        n_bins = 1
        while n_bins < min(self.most_bins, rows) and _is_monotone(ordered, family(n_bins + 1)):
            n_bins += 1
        return family(n_bins).cut(ordered)


def _is_monotone(ordered: Ordered, binning: Binning) -> bool:
    last = ordered.last_of(binning.cut(ordered))
    rate = between(ordered.events_reached, last) / between(ordered.reached, last)
    return bool((np.diff(rate) >= -ROUNDING).all())
