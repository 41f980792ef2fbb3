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
from typing import Protocol, TypeVar, cast

import numpy as np

from calibrant._core.approximate import Approximate
from calibrant._core.links import FloatArray
from calibrant._core.parameters import no_class, under_word
from calibrant._core.problem import BinaryProblem
from calibrant.binning import Bins
from calibrant.lenses.base import Size, View
from calibrant.lenses.bins import BinView
from calibrant.metrics.rejections.loss import REJECTIONS, BinTest
from calibrant.sums import BinnedProblem
from calibrant.sums.fine_cells import CellProblem

T = TypeVar("T")

TWO = 2.0 * (1.0 - 1e-9)
"""Rows of a bin of two: sums of fractional weights are rounded."""

Loss = Callable[[BinaryProblem, Bins], FloatArray]
LossOfSums = Callable[["Counted", Bins], FloatArray]
Norm = Callable[[FloatArray, FloatArray], float]


class Counting(Protocol):
    """What weights say of rows when these are gone."""

    @property
    def rows_per_weight(self) -> float:
        """Rows that a weight of one stands for."""


class Counted(Protocol):
    """What is known of a problem when its bins alone are left."""

    @property
    def weights(self) -> Counting:
        """What its weights mean."""


def gap(problem: Counted, bins: Bins) -> FloatArray:
    """Distance between event rate and mean probability."""
    return np.abs(bins.gap)


def squared_gap(problem: Counted, bins: Bins) -> FloatArray:
    """Squared distance between event rate and mean probability."""
    return np.asarray(bins.gap**2, dtype=np.float64)


def debiased_squared_gap(problem: Counted, bins: Bins) -> FloatArray:
    """Squared gap minus an unbiased estimate of its bias, rate * (1 - rate) / (n - 1); can be negative.

    n is the number of rows of the bin: whole weights count as rows, others are scaled to a mean of one. A bin of fewer than
    two rows has no such estimate and counts as 0. (Bröcker 2012; Kumar et al. 2019.)
    """
    rows, rate = bins.weight * problem.weights.rows_per_weight, bins.event_rate
    with np.errstate(divide="ignore", invalid="ignore"):
        chance = rate * (1.0 - rate) / (rows - 1.0)
        value = bins.gap**2 - chance
    return np.where((rows > 0.0) & (rows < TWO), 0.0, value)


def l1(values: FloatArray, weights: FloatArray) -> float:
    """Weighted mean."""
    return float(weights @ values)


def l2(values: FloatArray, weights: FloatArray) -> float:
    """Root of the weighted mean of squares."""
    return float(np.sqrt(weights @ values**2))


def root(values: FloatArray, weights: FloatArray) -> float:
    """Root of the weighted mean, of values that are squares already; 0 where their mean is negative."""
    return float(np.sqrt(max(0.0, float(weights @ values))))


def maximum(values: FloatArray, weights: FloatArray) -> float:
    """Largest value, whatever its weight."""
    return float(values.max())


@dataclass(frozen=True)
class PowerMean:
    """The p-th root of the weighted mean of the p-th powers of absolute values: the l_p norm of a finite p."""

    p: float

    def __call__(self, values: FloatArray, weights: FloatArray) -> float:
        """Return the norm of values, shape (d,)."""
        size = np.abs(values)
        largest = float(size.max())
        if not largest > 0.0:
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

    @property
    def is_of_deviations(self) -> bool:
        """Whether the loss is a gap, a squared one, or one whose bias is known."""
        return self.loss is gap or self.loss is squared_gap or self.is_debiased

    @property
    def of_bins(self) -> Callable[[Sequence[BinnedProblem]], float] | None:
        """The norm; None where the loss may look at rows: that of a test does, and any function may."""
        return self._of_bins if self.loss in LOSSES.values() else None

    @property
    def is_debiased(self) -> bool:
        """Whether the loss is bias-corrected, under a norm whose noise floor is known."""
        return self.loss is debiased_squared_gap and self.across is None and (self.norm is root or self.norm is l1)

    @property
    def counts_rows(self) -> bool:
        """Whether the loss counts rejections."""
        return isinstance(self.loss, BinTest)

    @property
    def is_joint(self) -> bool:
        """Whether one norm is taken over the bins of all problems."""
        return self.across is None

    @property
    def shrinks(self) -> bool:
        """Whether it is an average; a largest gap is that of the emptiest bin."""
        return self._of_gaps is not maximum

    @property
    def _of_gaps(self) -> Norm:
        """The norm as one of gaps, which may be squared first."""
        if self.loss is squared_gap or self.is_debiased:
            return l2 if self.norm is root else lambda values, weights: self.norm(values**2, weights)
        return self.norm

    def of_problems(self, seen: Sequence[tuple[BinaryProblem, View]]) -> float:
        """Return the norm."""
        found = []
        for problem, view in seen:
            assert isinstance(view, BinView)
            found.append((problem.share, view.bins, self.loss(problem, view.bins)))
        value = self._norm_of(found)
        of_cells = any(isinstance(problem, CellProblem) for problem, _ in seen)
        return Approximate(value, -np.inf, np.inf) if of_cells else value

    def _of_bins(self, problems: Sequence[BinnedProblem]) -> float:
        """Return the norm of a loss that needs no rows."""
        loss = cast(LossOfSums, self.loss)
        value = self._norm_of([(one.share, one.bins, loss(one, one.bins)) for one in problems])
        if not [one for one in problems if one.open is not None]:
            return value
        is_mean_gap = self.loss is gap and self.norm is l1 and self.across in (None, l1)
        error = sum(one.share * (one.open or 0.0) for one in problems) if is_mean_gap else np.inf
        return Approximate(value, max(0.0, value - error) if is_mean_gap else -np.inf, value + error)

    def _norm_of(self, found: Sequence[tuple[float, Bins, FloatArray]]) -> float:
        """Return the norm of the losses of bins, of problems with these shares."""
        held = [_of_held(bins, loss) for _, bins, loss in found]
        shares = [share for share, _, _ in found]
        if self.across is not None:
            own = [self.norm(*pair) for pair in held]
            return self.across(np.array(own), np.array(shares))
        if len(held) == 1:
            ((values, weights),) = held
            return self.norm(values, shares[0] * weights)
        scaled = [share * weights for share, (_, weights) in zip(shares, held, strict=True)]
        return self.norm(np.concatenate([values for values, _ in held]), np.concatenate(scaled))

    def of_seen(self, views: Sequence[View], weights: Sequence[FloatArray], seen: Sequence[FloatArray]) -> FloatArray:
        """Return the norms of gaps."""
        norm = self._of_gaps
        if self.across is None:
            (gaps,), (weight,) = seen, weights
            return norms(np.abs(gaps), weight, norm)
        shares = np.array([weight.sum() for weight in weights])
        own = [norms(np.abs(g), w / share, norm) for g, w, share in zip(seen, weights, shares, strict=True)]
        return norms(np.column_stack(own), shares, self.across)

    def floor(self, null: FloatArray) -> float:
        """Return the noise floor: the mean of calibrated draws, less their mean square first if the error is debiased."""
        if not self.is_debiased:
            return super().floor(null)
        return float(np.mean(np.sqrt(np.maximum(null**2 - np.mean(null**2), 0.0)))) if self.norm is root else 0.0

    @property
    def range(self) -> tuple[float, float]:
        """Lowest and highest size but for what a debiased loss falls below 0; infinite where loss or norm is any function."""
        chosen = [self.norm] if self.across is None else [self.norm, self.across]
        known = isinstance(self.loss, BinTest) or self.loss in LOSSES.values()
        if not (known and all(isinstance(norm, PowerMean) or norm in NORMS.values() for norm in chosen)):
            return -np.inf, np.inf
        highest = 100.0 if self.counts_rows else 1.0
        for norm in chosen:
            highest = norm(np.array([highest]), np.ones(1))
        return 0.0, highest


def _of_held(bins: Bins, loss: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the losses of the bins that hold rows, and their shares of the weight."""
    held = bins.weight > 0
    return loss[held], bins.weight[held] / np.add.reduce(bins.weight)


def norms(values: FloatArray, weight: FloatArray, norm: Norm) -> FloatArray:
    """Norm of each row of values, shape (m, d)."""
    if norm is l1:
        sums: FloatArray = values @ weight
        return sums
    if norm is l2:
        roots: FloatArray = np.sqrt(values**2 @ weight)
        return roots
    if norm is maximum:
        largest: FloatArray = values.max(axis=1)
        return largest
    return np.array([norm(row, weight) for row in values])
