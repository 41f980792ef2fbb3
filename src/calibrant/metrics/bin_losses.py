"""What is measured in each bin, and how the bins are put together.

A loss is a function of (problem, bins) with one value a bin; a norm is a function of (values, weights).

    GCE = norm( loss of bin b ; weight  share(problem) * weight(b) / weight(problem)  :  b in the bins of all problems )

(Matsubara et al. 2023, Def. 1, with the notion of Gupta and Ramdas 2022 put in front.) Or, of the norms of the problems,

    GCE = across( norm of the problem's bins ; weight  share(problem)  :  all problems ).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, cast, get_args

import numpy as np
from scipy.special import betainc, betaincc, betainccinv, betaincinv, gammaln, stdtrit

from calibrant._core.arrays import FloatArray
from calibrant._core.checks import choice, fraction, no_class, require, under_word
from calibrant._core.rows import Approximate, BinaryProblem, BoolArray, IntArray
from calibrant.binning.bins import Bins, Ordered
from calibrant.lenses import BinView, Size, View
from calibrant.sums import BinnedProblem, BinTable

# The exact two-sided binomial test of many probabilities against the same counts


AS_PROBABLE = float(np.log1p(1e-7))
"""Log-ratio up to which an outcome is no more probable than the observed one; SciPy has the same. Ties are rounded."""

ROUNDING = 1e-9
"""Part of the level, or of its distance from one, by which a p-value may exceed it and be equal but for rounding."""

HALVINGS = 54
"""Of any count below 2**53 and the -1 below all counts."""

CHUNK = 32
"""Neighbouring probabilities that are bounded together."""

CELLS = 16
GRID = np.linspace(0.0, 1.0, CELLS + 1)
DIGITS = 16
"""In base 16, of the search for an end: after the first it is found to 1e-18, or to the last place if that is more."""


@dataclass(frozen=True, eq=False)
class Excess:
    """Counts with more events than the tested probabilities let expect: ``k`` of ``n``, arrays of one shape.

    Where there are fewer, the others are in excess: then ``k`` are the non-events, and the counts are ``mirrored``.
    """

    k: FloatArray
    n: FloatArray
    mirrored: bool

    def at(self, rows: IntArray | BoolArray) -> Excess:
        """Return the counts of some rows."""
        return Excess(self.k[rows], self.n[rows], self.mirrored)

    def near(self, p: FloatArray) -> FloatArray:
        """Probability of k or more; it rises toward the event rate."""
        below = self.n - self.k + 1.0
        return np.asarray(betaincc(below, self.k, p) if self.mirrored else betainc(self.k, below, p))

    def far(self, last: FloatArray, p: FloatArray) -> FloatArray:
        """Probability of ``last`` or fewer, 0 where ``last`` is -1; it falls toward the event rate."""
        held = np.maximum(last, 0.0)
        tail = betainc(self.n - held, held + 1.0, p) if self.mirrored else betaincc(held + 1.0, self.n - held, p)
        return np.where(last < 0.0, 0.0, tail)

    def reach(self, p: FloatArray) -> FloatArray:
        """Return the largest number below k that is no more probable than k, or -1; it rises toward the event rate."""
        with np.errstate(divide="ignore"):
            odds = np.log1p(-p) - np.log(p) if self.mirrored else np.log(p) - np.log1p(-p)
        # Ratios of probabilities: the probabilities themselves vanish far out.
        own = _log_choose(self.n, self.k) + AS_PROBABLE
        low, high = np.full(odds.shape, -1.0), np.broadcast_to(self.k, odds.shape)
        for _ in range(HALVINGS):
            if not (high - low > 1.0).any():
                break
            middle = np.floor((low + high) / 2.0)
            # Where the search has ended the middle is low, and is -1 or known to be no more probable.
            as_probable = _log_choose(self.n, middle) - own <= (self.k - middle) * odds
            moved = as_probable | (middle < 0.0)
            low, high = np.where(moved, middle, low), np.where(moved, high, middle)
        return low

    def pvalue(self, p: FloatArray) -> FloatArray:
        """Return the exact two-sided p-value."""
        return np.minimum(self.near(p) + self.far(self.reach(p), p), 1.0)

    def most(self, out: FloatArray, toward: FloatArray) -> FloatArray:
        """Bound the p-values of all probabilities between two from above; the second is nearer to the event rate."""
        return self.near(toward) + self.far(self.reach(toward), out)

    def least(self, out: FloatArray, toward: FloatArray) -> FloatArray:
        """Bound them from below."""
        return self.near(out) + self.far(self.reach(out), toward)

    def rejects(self, p: FloatArray, group: IntArray, level: float) -> BoolArray:
        """Decide on probabilities that run toward the event rate in each group of equal counts."""
        place, begins = np.arange(group.size), np.diff(group, prepend=-1) != 0
        since = place - np.maximum.accumulate(np.where(begins, place, 0))
        starts = np.flatnonzero(since % CHUNK == 0)  # where each group begins, and every so many places in it
        size = np.diff(starts, append=p.size)
        chunks, out, toward = self.at(starts), p[starts], p[starts + size - 1]
        rejected = chunks.most(out, toward) <= level
        doubtful = ~rejected & (chunks.least(out, toward) <= _bar(level, 2.0 * ROUNDING))
        found, rows = np.repeat(rejected, size), np.repeat(doubtful, size)
        found[rows] = self.at(rows).pvalue(p[rows]) <= _bar(level)
        return found

    def outermost(self, level: float) -> FloatArray:
        """Return the accepted probability that is farthest from the event rate, shape (d,) like the counts."""
        bar = _bar(level)
        farthest = (self.n - self.k if self.mirrored else self.k) / self.n  # the event rate is accepted
        row = np.arange(self.k.size)
        out, toward = np.full(self.k.size, 1.0 if self.mirrored else 0.0), farthest.copy()
        for _ in range(DIGITS):
            grid = out[:, None] + (toward - out)[:, None] * GRID
            row, out, toward = np.repeat(row, CELLS), grid[:, :-1].ravel(), grid[:, 1:].ravel()
            cells = self.at(row)
            is_accepted = cells.pvalue(out) > bar
            (np.maximum if self.mirrored else np.minimum).at(farthest, row[is_accepted], out[is_accepted])
            beyond = (out > farthest[row]) if self.mirrored else (out < farthest[row])
            open_cells = np.flatnonzero(beyond & (out != toward) & (cells.most(out, toward) > bar))
            row, out, toward = row[open_cells], out[open_cells], toward[open_cells]
        return farthest


def rejects(p: FloatArray, at: IntArray, k: FloatArray, n: FloatArray, level: float) -> BoolArray:
    """Return which probabilities the exact test rejects against the counts of their bins.

    Assumes that ``p`` (m,) does not fall, nor does ``at`` (m,), the bins; that ``k`` of ``n`` are whole, and n positive where
    there is a probability.
    """
    found = np.zeros(p.size, dtype=bool)
    expected = n[at] * p
    more, fewer = np.flatnonzero(k[at] > expected), np.flatnonzero(k[at] < expected)[::-1]
    found[more] = Excess(k[at[more]], n[at[more]], False).rejects(p[more], at[more], level)
    found[fewer] = Excess((n - k)[at[fewer]], n[at[fewer]], True).rejects(p[fewer], at[fewer], level)
    return found


def exactly_accepted(k: FloatArray, n: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
    """Return the least and the greatest probability that the exact test accepts against k of n, n positive."""
    lower, upper = np.zeros(k.shape), np.ones(k.shape)
    some, rest = k > 0.0, k < n
    lower[some] = Excess(k[some], n[some], False).outermost(level)
    upper[rest] = Excess((n - k)[rest], n[rest], True).outermost(level)
    return lower, upper


def _bar(level: float, rounding: float = ROUNDING) -> float:
    """Return the highest p-value that reaches the level: below one, which reaches none."""
    return level + rounding * min(level, 1.0 - level)


def _log_choose(n: FloatArray, k: FloatArray) -> FloatArray:
    """Logarithm of the binomial coefficient, but for a term in n alone."""
    return np.asarray(-gammaln(k + 1.0) - gammaln(n - k + 1.0))


# Which probabilities the events of a bin do not reject, by the name of the test


TestName = Literal["binomial", "mid-p", "clopper-pearson", "t"]

Ends = tuple[FloatArray, FloatArray]

HALVINGS_OF_ONE = 100
"""Of an interval below 1: what is left of it is 1e-30 wide."""


def clopper_pearson(k: FloatArray, n: FloatArray, level: float) -> Ends:
    """Return the probabilities of which as many events, and as few, have probability level / 2."""
    lower, upper = np.zeros(k.shape), np.ones(k.shape)
    some, rest = k > 0.0, k < n
    lower[some] = betaincinv(k[some], (n - k + 1.0)[some], level / 2.0)
    upper[rest] = betainccinv((k + 1.0)[rest], (n - k)[rest], level / 2.0)
    return lower, upper


def mid_p(k: FloatArray, n: FloatArray, level: float) -> Ends:
    """Return the probabilities of which more events, and fewer, with half of those as many have probability level / 2."""

    def below(p: FloatArray) -> BoolArray:
        return np.asarray(_at_least(k, n, p) + _at_least(k + 1.0, n, p) < level)

    def within(p: FloatArray) -> BoolArray:
        return np.asarray(_at_most(k - 1.0, n, p) + _at_most(k, n, p) >= level)

    return _halved(below, np.zeros(k.shape), k / n)[1], _halved(within, k / n, np.ones(k.shape))[1]


def t(k: FloatArray, n: FloatArray, level: float) -> Ends:
    """Return the rate -+ the quantile of Student's t times its standard error; of one row everything.

    The standard error is that of the mean, the root of rate * (1 - rate) / (n - 1). Outcomes that are all alike have none:
    only their own rate is accepted.
    """
    rate, others = k / n, np.maximum(n - 1.0, 1.0)
    reach = -stdtrit(others, level / 2.0) * np.sqrt(rate * (1.0 - rate) / others)
    reach = np.where(n > 1.0, reach, 1.0)
    return np.maximum(rate - reach, 0.0), np.minimum(rate + reach, 1.0)


ACCEPTED: Mapping[str, Callable[[FloatArray, FloatArray, float], Ends]] = {
    "binomial": exactly_accepted,
    "mid-p": mid_p,
    "clopper-pearson": clopper_pearson,
    "t": t,
}


def accepted(test: TestName, k: FloatArray, n: FloatArray, level: float) -> Ends:
    """Return the least and the greatest accepted probability of each bin with k events of n; NaN where n is zero.

    Between them all are accepted, but that the exact test ("binomial") can reject a few near the ends.
    """
    held, (lower, upper) = n > 0.0, np.full((2, *k.shape), np.nan)
    lower[held], upper[held] = ACCEPTED[test](k[held], n[held], level)
    return lower, upper


def outside(score: FloatArray, lower: FloatArray, upper: FloatArray) -> BoolArray:
    """Return which scores lie outside of their ends; a score that is an end but for rounding does not."""
    below = score < lower - ROUNDING * np.minimum(lower, 1.0 - lower)
    return np.asarray(below | (score > upper + ROUNDING * np.minimum(upper, 1.0 - upper)))


def require_test(test: object, level: object) -> None:
    """Refuse a test that is not known, and a level that is no fraction."""
    choice("test", test, ACCEPTED)
    fraction("level", level, hint="For tests at 5 % pass level=0.05")


def _halved(is_low: Callable[[FloatArray], BoolArray], low: FloatArray, high: FloatArray) -> Ends:
    """Return the neighbouring numbers between which something that is true of low ones stops being so."""
    for _ in range(HALVINGS_OF_ONE):
        middle = (low + high) / 2.0
        is_one = is_low(middle)
        low, high = np.where(is_one, middle, low), np.where(is_one, high, middle)
    return low, high


def _at_least(k: FloatArray, n: FloatArray, p: FloatArray) -> FloatArray:
    """Probability of k events or more, and of more than n none."""
    tail = betainc(np.maximum(k, 1.0), np.maximum(n - k, 0.0) + 1.0, p)
    return np.where(k > n, 0.0, np.where(k > 0.0, tail, 1.0))


def _at_most(k: FloatArray, n: FloatArray, p: FloatArray) -> FloatArray:
    """Probability of k events or fewer, and of fewer than none none."""
    tail = betaincc(np.maximum(k, 0.0) + 1.0, np.maximum(n - k, 1.0), p)
    return np.where(k < 0.0, 0.0, np.where(k < n, tail, 1.0))


# The predictions of a problem, each tested against the events of its bin


MOST_ROWS = 2.0**53
"""Below it whole numbers are numbers of floating point, one by one."""


@dataclass(frozen=True, eq=False)
class Verdicts:
    """The distinct scores of a problem in order, with the weight on each, its bin and whether its bin rejects it."""

    score: FloatArray
    weight: FloatArray
    bin: IntArray
    is_rejected: BoolArray

    def rejected(self, n_bins: int) -> FloatArray:
        """Return the weight of the rejected predictions of each bin, shape (n_bins,)."""
        return np.bincount(self.bin, self.weight * self.is_rejected, n_bins).astype(np.float64)


def verdicts(problem: BinaryProblem, bins: Bins, test: TestName, level: float) -> Verdicts:
    """Test each prediction of a problem that has rows against the events of its bin.

    Raises
    ------
    ValueError
        If weights are no counts, or sum to 2**53 or more: a test counts rows.
    """
    weights, where = problem.weights, "where predictions are tested in their bins, for a test counts rows"
    hint = "Pass numbers of equal rows, or leave sample_weight out"
    require(weights.are_counts, f"sample_weight must hold whole numbers {where}", got="fractions", hint=hint)
    must = f"sample_weight must have a sum below 2**53 {where}"
    require(weights.total < MOST_ROWS, must, got=f"{weights.total:g}", hint="Pass numbers of rows")
    ordered = Ordered.of(problem)
    at = bins.index(ordered.score)
    if test == "binomial":
        is_rejected = rejects(ordered.score, at, bins.outcome_sum, bins.weight, level)
    else:
        lower, upper = accepted(test, bins.outcome_sum, bins.weight, level)
        is_rejected = outside(ordered.score, lower[at], upper[at])
    return Verdicts(ordered.score, ordered.weight, at, is_rejected)


# The share of predictions that their bin rejects, as a loss


@dataclass(frozen=True)
class BinTest:
    """Percentage of the predictions of each bin that a test of the bin's events rejects, in [0, 100]: a loss.

    Each prediction p of a bin with k events among n rows is the hypothesis that events have probability p.

    Parameters
    ----------
    test : {"binomial", "mid-p", "clopper-pearson", "t"}, default="binomial"
        ``"binomial"`` is exact: it sums all outcomes that are at most as probable as k, as ``scipy.stats.binomtest`` does, and
        rejects where the sum is at most ``level``. The others reject what lies outside of an interval of 1 - level:
        ``"clopper-pearson"`` of that of Clopper and Pearson, which rejects less, ``"mid-p"`` of the same with half the
        probability of k itself, ``"t"`` of Student's t around the event rate. Of a bin of one row t rejects nothing.
    level : float, default=0.05
        Level of each test, a fraction in (0, 1).

    Notes
    -----
    Weights are numbers of equal rows; others are refused, and sums of 2**53 or more.

    Examples
    --------
    >>> from calibrant import calibration_error
    >>> from calibrant.metrics import BinTest
    >>> y, p = [0] * 9 + [1], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    >>> calibration_error(y, p, binning=1, loss=BinTest("binomial", level=0.05))
    60.0
    """

    test: TestName = "binomial"
    level: float = 0.05

    def __post_init__(self) -> None:
        require_test(self.test, self.level)

    def __call__(self, problem: BinaryProblem, bins: Bins) -> FloatArray:
        """Return the percentage of each bin, NaN where it is empty."""
        share = np.full(len(bins), np.nan)
        rejected = verdicts(problem, bins, self.test, self.level).rejected(len(bins))
        np.divide(rejected, bins.weight, out=share, where=bins.weight > 0)
        return 100.0 * share


REJECTIONS = {"t-test" if name == "t" else f"{name} test": BinTest(name) for name in get_args(TestName)}


TWO = 2.0 * (1.0 - 1e-9)
"""Rows of a bin of two: sums of fractional weights are rounded."""

Loss = Callable[[BinaryProblem, Bins], FloatArray]
Summed = BinaryProblem | BinTable
LossOfSums = Callable[[Summed, Bins], FloatArray]
Norm = Callable[[FloatArray, FloatArray], float]


def gap(problem: Summed, bins: Bins) -> FloatArray:
    """Distance between event rate and mean probability."""
    return np.abs(bins.gap)


def squared_gap(problem: Summed, bins: Bins) -> FloatArray:
    """Squared distance between event rate and mean probability."""
    return np.asarray(bins.gap**2, dtype=np.float64)


def debiased_squared_gap(problem: Summed, bins: Bins) -> FloatArray:
    """Squared gap minus an unbiased estimate of its bias, rate * (1 - rate) / (n - 1); can be negative.

    n is the number of rows of the bin: whole weights count as rows, others are scaled to a mean of one. A bin of fewer than
    two rows has no such estimate and counts as 0. (Bröcker 2012; Kumar et al. 2019.)
    """
    return debiased_squares(bins, problem.weights.rows_per_weight)


def debiased_squares(bins: Bins, rows_per_weight: float) -> FloatArray:
    """Return these squares of bins whose weight is worth so many rows; NaN where a bin is empty."""
    rows, rate = bins.weight * rows_per_weight, bins.event_rate
    square, variance = (one if one.ndim == 1 else one.sum(axis=1) for one in (bins.gap**2, rate * (1.0 - rate)))
    with np.errstate(divide="ignore", invalid="ignore"):
        value = square - variance / (rows - 1.0)
    return np.where((rows > 0.0) & (rows < TWO), 0.0, value)


def l1(values: FloatArray, weights: FloatArray) -> Any:
    """Weighted mean."""
    return values @ weights


def l2(values: FloatArray, weights: FloatArray) -> Any:
    """Root of the weighted mean of squares."""
    return np.sqrt(values**2 @ weights)


def root(values: FloatArray, weights: FloatArray) -> Any:
    """Root of the weighted mean, of values that are squares already; 0 where their mean is negative."""
    return np.sqrt(np.maximum(0.0, values @ weights))


def maximum(values: FloatArray, weights: FloatArray) -> Any:
    """Largest value, whatever its weight."""
    return values.max(axis=-1)


@dataclass(frozen=True)
class PowerMean:
    """The p-th root of the weighted mean of the p-th powers of absolute values: the l_p norm of a finite p."""

    p: float

    def __call__(self, values: FloatArray, weights: FloatArray) -> float:
        """Return the norm of values, shape (d,)."""
        size = np.abs(values)
        if not (largest := float(size.max())) > 0.0:
            return largest
        # In units of the largest value no power vanishes that counts.
        return float(largest * (weights @ (size / largest) ** self.p) ** (1.0 / self.p))


LOSSES: Mapping[str, LossOfSums] = {
    "gap": gap,
    "squared gap": squared_gap,
    "debiased squared gap": debiased_squared_gap,
}
"""Losses whose norms lie in [0, 1]; those of tests, which are percentages, stand apart."""

NORMS: Mapping[str, Norm] = {"l1": l1, "l2": l2, "root": root, "max": maximum}

POWER = re.compile(r"l([0-9]+(?:\.[0-9]+)?)", re.IGNORECASE)
"""The word of an l_p norm."""


def as_loss(loss: str | Loss) -> Loss:
    """Return the loss of that name, or the function itself."""
    no_class("loss", loss, wanted="a word or a function")
    known: Mapping[str, Loss] = {**LOSSES, **REJECTIONS}
    return loss if callable(loss) else under_word("loss", loss, known, also=" or a function")


def as_norm(norm: str | Norm, option: str = "norm") -> Norm:
    """Return the norm of that name, or the function itself."""
    no_class(option, norm, wanted="a word or a function")
    if callable(norm):
        return norm
    power = POWER.fullmatch(norm) if isinstance(norm, str) else None
    if power is not None and (p := float(power[1])) >= 1.0:
        return {1.0: l1, 2.0: l2}.get(p, PowerMean(p))
    return under_word(option, norm, NORMS, also=", 'l<p>' of a p from 1 such as 'l3', or a function")


@dataclass(frozen=True)
class NormOfBins(Size):
    """The norm of the loss of all bins of all problems; or ``across`` the problems, of the norms of the bins of each."""

    loss: Loss = gap
    norm: Norm = l1
    across: Norm | None = None

    @classmethod
    def of(cls, loss: str | Loss = "gap", norm: str | Norm = "l1", across: str | Norm | None = None) -> NormOfBins:
        """Return the size that these words say."""
        return cls(as_loss(loss), as_norm(norm), None if across is None else as_norm(across, "across"))

    @cached_property
    def is_of_deviations(self) -> bool:  # type: ignore[override]
        """Whether the loss is a gap, a squared one, or one whose bias is known."""
        return self.loss is gap or self.loss is squared_gap or self.is_debiased

    @cached_property
    def of_table(self) -> Callable[[BinTable], float] | None:  # type: ignore[override]
        """The norm; None where the loss may look at rows: that of a test does, and any function may."""
        return self._of_table if self.loss in LOSSES.values() else None

    @cached_property
    def is_debiased(self) -> bool:  # type: ignore[override]
        """Whether the loss is bias-corrected, under a norm whose noise floor is known."""
        return self.loss is debiased_squared_gap and self.across is None and (self.norm is root or self.norm is l1)

    @cached_property
    def counts_rows(self) -> bool:  # type: ignore[override]
        """Whether the loss counts rejections."""
        return isinstance(self.loss, BinTest)

    @cached_property
    def is_joint(self) -> bool:  # type: ignore[override]
        """Whether one norm is taken over the bins of all problems."""
        return self.across is None

    @cached_property
    def shrinks(self) -> bool:  # type: ignore[override]
        """Whether it is an average; a largest gap is that of the emptiest bin."""
        return self._of_gaps is not maximum

    @cached_property
    def _of_gaps(self) -> Callable[[FloatArray, FloatArray], Any]:
        """The norm as one of gaps, which may be squared first, of each row of values (m, d)."""
        if self.loss is squared_gap or self.is_debiased:
            of_rows = of_each_row(self.norm)
            return l2 if self.norm is root else lambda values, weights: of_rows(values**2, weights)
        return of_each_row(self.norm)

    def of_problems(self, seen: Sequence[tuple[BinaryProblem, BinView]]) -> float:
        """Return the norm."""
        found, losses = [], []
        for problem, view in seen:
            found.append(BinnedProblem(problem.name, problem.share, view.bins, problem.weights.unit))
            losses.append(self.loss(problem, view.bins))
        value = self._norm_of(np.concatenate(losses), BinTable.of(found))
        return Approximate(value, -np.inf, np.inf) if any(problem.cells for problem, _ in seen) else value

    def _of_table(self, table: BinTable) -> float:
        """Return the norm of a loss that needs no rows."""
        value = self._norm_of(cast(LossOfSums, self.loss)(table, table.bins), table)
        if table.open is None:
            return value
        if self.loss is not gap or self.norm is not l1 or self.across not in (None, l1):
            return Approximate(value, -np.inf, np.inf)
        error = float((table.shares * table.open)[table.held > 0.0].sum())
        return Approximate(value, max(0.0, value - error), value + error)

    def _norm_of(self, losses: FloatArray, table: BinTable) -> float:
        """Return the norm of the losses of all bins that hold rows; 0 where none does."""
        (held,) = table.bins.weight.nonzero()
        if not held.size:
            return 0.0
        loss, weight = losses[held], (table.factor * table.bins.weight)[held]
        if self.across is None:
            return float(self.norm(loss, weight))
        of, some = table.part[held], np.flatnonzero(table.held)
        own = [self.norm(loss[of == k], weight[of == k] / table.shares[k]) for k in some]
        return float(self.across(np.array(own), table.shares[some]))

    def of_seen(self, views: Sequence[View], weights: Sequence[FloatArray], seen: Sequence[FloatArray]) -> FloatArray:
        """Return the norms of gaps."""
        if self.across is None:
            return np.asarray(self._of_gaps(np.abs(seen[0]), weights[0]))
        shares = np.array([weight.sum() for weight in weights])
        own = [self._of_gaps(np.abs(g), w / share) for g, w, share in zip(seen, weights, shares, strict=True)]
        return np.asarray(of_each_row(self.across)(np.column_stack(own), shares))

    def floor(self, null: FloatArray) -> float:
        """Return the noise floor: the mean of calibrated draws, less their mean square first if the error is debiased."""
        if not self.is_debiased:
            return super().floor(null)
        return float(np.mean(np.sqrt(np.maximum(null**2 - np.mean(null**2), 0.0)))) if self.norm is root else 0.0

    @property
    def range(self) -> tuple[float, float]:
        """Lowest and highest size but for what a debiased loss falls below 0; infinite where loss or norm is any function."""
        chosen = [self.norm] if self.across is None else [self.norm, self.across]
        known = self.counts_rows or self.loss in LOSSES.values()
        if not (known and all(isinstance(norm, PowerMean) or norm in NORMS.values() for norm in chosen)):
            return -np.inf, np.inf
        highest = 100.0 if self.counts_rows else 1.0
        for norm in chosen:
            highest = float(norm(np.array([highest]), np.ones(1)))
        return 0.0, highest


def of_each_row(norm: Norm) -> Callable[[FloatArray, FloatArray], Any]:
    """Return the norm as a function of several rows of values, shape (m, d)."""
    return norm if norm in NORMS.values() else lambda rows, weight: np.array([norm(row, weight) for row in rows])
