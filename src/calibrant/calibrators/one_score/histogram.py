"""Histogram binning: the event rate of the bin that a score falls in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, Literal

import numpy as np

from calibrant._core.arrays import is_whole
from calibrant._core.finite_numbers import as_numbers
from calibrant._core.links import EPSILON, FloatArray
from calibrant._core.parameters import choice, flag, number, numbers, refuse, require, source
from calibrant._core.problem import BinaryProblem, BoolArray, IntArray
from calibrant._core.registry import declare
from calibrant._core.validation import Input
from calibrant.binning import Binning, Bins, as_binning, locate, sums_over
from calibrant.calibrators.kinds import BinaryCalibrator
from calibrant.sums.scan import cut

ROUNDING = 1e-12
SUMS = ("weight", "score_sum", "outcome_sum")

Empty = Literal["midpoint", "interpolate", "base-rate", "identity"]


@declare("calibrator", "histogram-binning", symbol="HB", source="Zadrozny and Elkan 2001", guarantees=set())
class HistogramBinning(BinaryCalibrator):
    """Replace a score by the event rate of its bin (histogram binning, empirical binning, HB).

    Use it when calibration itself has to be shown: it takes few values, so that the error of each can be bounded. Do not use
    it when scores must stay apart: all rows of a bin are tied, which costs resolution, and rates of neighbouring bins may
    come in the wrong order. `IsotonicCalibration` keeps the order and chooses the bins itself.

    Parameters
    ----------
    binning : int, str, Binning or sequence of float, default="equal-mass"
        How scores are cut: n means ``EqualWidth(n)``, a word the registered binning of that name, and numbers that increase
        from 0 to 1 are the edges themselves. ``PointsPerBin(50)`` makes bins of equal worth.
    empty : {"midpoint", "interpolate", "base-rate", "identity"}, default="midpoint"
        What a bin without rows gives: the middle of its edges; the value there of the line between the nearest bins with rows;
        the event rate of all rows; or the score itself. Of bins of equal mass only the last can be empty, where the highest
        score is tied.
    smoothing : float, default=0
        So many rows of each class are added to every bin with rows: (k + a) / (m + 2 a) in place of k / m, for k events in m
        rows. Above 0 it keeps their values 1e-12 and more away from 0 and 1, so that the log loss of scores in bins with rows
        is finite. Bins without rows are left to ``empty``. At most 1e15.
    interior : bool, default=False
        Estimate the event rate of a bin without the row at which it was cut. Where scores cut themselves, as in bins of
        equal mass, that row is no draw from the bin, and guarantees for finite samples leave it out. Of rows that tie at an
        inner edge one row's worth is left out, their mean; a bin of a single row keeps it.
    delta : float, default=0
        Bins of equal rate get values that differ: (value + delta u) / (1 + delta) in place of value, with u drawn between 0
        and 1 for each bin, once, at ``fit``. Then whoever sees the value knows the bin. 1e-10 is usual; at most 1.
    random_state : int, Generator or None, default=0
        Where the draws of ``delta`` come from. An int gives the same map for the same rows; None another at each ``fit``.
    input : {"probability", "logit"}, default="probability"
        What is passed to ``fit`` and ``predict_proba``.
    labels : sequence of length 2, optional
        The negative and the positive label.

    Attributes
    ----------
    edges_ : ndarray of shape (n_bins + 1,)
        Bin b holds the scores in (edges_[b], edges_[b + 1]]; the first also holds its lower edge.
    value_ : ndarray of shape (n_bins,)
        Calibrated probability of each bin; NaN where a score stays as it is.
    count_ : ndarray of shape (n_bins,)
        Rows that the value of each bin was estimated from.
    weighted_ : bool
        Whether rows counted differently, or as several each. Guarantees for finite samples hold where they did not.
    classes_ : ndarray of shape (2,)
        Labels, the positive one last.

    Notes
    -----
    Without ``smoothing``, ``interior`` and ``delta`` the calibration error over the same bins is zero on the rows that were
    fitted, in any norm. Whole weights count as rows; others are scaled to a mean of one where rows are counted, in
    ``smoothing``.

    For scores without ties, and given the edges of bins of equal mass, the rows strictly inside a bin are independent draws
    from it: with ``interior`` and ``PointsPerBin(k)`` each bin of k rows and more has at least k - 1 of them, and its value
    is within sqrt(log(2 / alpha) / (2 (k - 1))) + delta of the truth with probability 1 - alpha (Gupta and Ramdas, Thm. 1).
    Rows that tie at an edge are never split: they fall in the bin below together, and bins become unequal; ``count_`` tells
    how many rows each has. The authors add noise to tied scores instead, which makes the bin of a row a matter of chance.
    What the promise is worth with ties is measured in docs/binning-guarantees.md.

    References
    ----------
    Zadrozny, Elkan, Obtaining calibrated probability estimates from decision trees and naive Bayesian classifiers, ICML
    2001.

    Gupta, Ramdas, Distribution-free calibration guarantees for histogram binning without sample splitting, ICML 2021.

    Gupta, Ramdas, Top-label calibration and multiclass-to-binary reductions, ICLR 2022.

    Examples
    --------
    >>> from calibrant import HistogramBinning
    >>> fitted = HistogramBinning([0, 0.3, 0.6, 1]).fit([0.1, 0.2, 0.4, 0.5], [0, 1, 1, 1])
    >>> fitted.calibrate([0.15, 0.6, 0.9]).tolist()
    [0.5, 1.0, 0.8]
    """

    unrecorded = frozenset({"weighted_"})

    edges_: FloatArray
    value_: FloatArray
    count_: IntArray
    weighted_: bool

    def __init__(
        self,
        binning: int | str | Binning | Sequence[float] = "equal-mass",
        *,
        empty: Empty = "midpoint",
        smoothing: float = 0.0,
        interior: bool = False,
        delta: float = 0.0,
        random_state: int | np.random.Generator | None = 0,
        input: Input = "probability",
        labels: Sequence[Any] | None = None,
    ) -> None:
        super().__init__(input=input, labels=labels)
        self.binning = binning
        self.empty = empty
        self.smoothing = smoothing
        self.interior = interior
        self.delta = delta
        self.random_state = random_state

    def _fit(self, problem: BinaryProblem) -> None:
        rule = EMPTY_RULES[choice("empty", self.empty, EMPTY_RULES)]
        smoothing = number("smoothing", self.smoothing, least=0.0, most=1e15, hint="In rows: 1 is Laplace's choice")
        delta = number(
            "delta", self.delta, least=0.0, most=1.0, hint="Pass a small number such as 1e-10, or 0 for none"
        )
        seed = source("random_state", self.random_state)
        interior = flag("interior", self.interior)
        bins = cut(problem, _binning(self.binning))
        base_rate = float(bins.outcome_sum.sum() / bins.weight.sum())
        if interior:
            bins = _inside(bins, problem)
        value = _rates(bins, smoothing, problem.weights.rows_per_weight)
        has_rows = bins.count > 0
        if not has_rows.all():
            value[~has_rows] = rule(_Filled(bins.edges, value, has_rows, base_rate))
        if delta > 0:
            value = (value + delta * np.random.default_rng(seed).random(value.size)) / (1.0 + delta)
        self.edges_, self.value_, self.count_ = bins.edges, value, bins.count
        self.weighted_ = not problem.weights.are_rows

    def _check_loaded(self) -> None:
        n_bins = self.value_.size
        check_edges("edges_", self.edges_, n_bins)
        numbers("value_", self.value_, shape=(n_bins,), least=0.0, most=1.0, may_be_nan=True)
        numbers("count_", self.count_, shape=(n_bins,), least=0)

    def _apply(self, score: FloatArray) -> FloatArray:
        value = self.value_[locate(self.edges_, score)]
        return np.where(np.isnan(value), score, value) if np.isnan(self.value_).any() else value


def check_edges(name: str, edges: FloatArray, n_bins: int) -> None:
    """Refuse what a file holds in place of the edges of so many bins."""
    numbers(name, edges, shape=(n_bins + 1,), least=0.0, most=1.0, order="not falling")
    require(n_bins, f"{name} must be those of at least one bin", got="none", hint="Fit anew")


def _rates(bins: Bins, smoothing: float, rows_per_weight: float) -> FloatArray:
    """Return the event rate of each bin, smoothed by so many rows; NaN where a bin is empty."""
    added = smoothing / rows_per_weight
    rate = np.full(len(bins), np.nan)
    np.divide(bins.outcome_sum + added, bins.weight + 2.0 * added, out=rate, where=bins.count > 0)
    return np.clip(rate, EPSILON, 1.0 - EPSILON) if smoothing > 0 else rate


def _inside(bins: Bins, problem: BinaryProblem) -> Bins:
    """Return the bins less one row on each inner edge: of rows that tie there, their mean. A bin of one row keeps it."""
    at = bins.index(problem.score)
    on = (at < len(bins) - 1) & (problem.score == bins.edges[at + 1])
    edge, a_row = sums_over(bins.partition, problem.at(on)), problem.weights.rows_per_weight
    cut = (edge.count > 0) & (bins.weight * a_row > 1.0)
    tied = np.maximum(edge.weight * a_row, 1.0)
    less = {name: getattr(bins, name) - np.where(cut, getattr(edge, name) / tied, 0.0) for name in SUMS}
    return Bins(bins.partition, np.where(cut, np.maximum(bins.count - 1, 1), bins.count), **less)


@dataclass(frozen=True, eq=False)
class _OwnEdges(Binning):
    """Bins between edges that the user gave."""

    is_fixed: ClassVar[bool] = True

    given: FloatArray

    def edges(self, problem: BinaryProblem) -> FloatArray:
        return self.given


def _binning(binning: int | str | Binning | Sequence[float]) -> Binning:
    if is_whole(binning) or isinstance(binning, (bool, str, Binning)):
        return as_binning(binning)
    try:
        edges = as_numbers("binning", binning)
    except TypeError:
        refuse(
            "binning must be a number of bins, a Binning or edges",
            value=binning,
            hint="Pass one, such as EqualMass(15)",
            error=TypeError,
        )
    except ValueError:  # infinite or no number
        edges = np.empty(0)
    require(
        edges.ndim == 1 and edges.size >= 2 and edges[0] == 0.0 and edges[-1] == 1.0 and (np.diff(edges) > 0).all(),
        "edges must increase from 0 to 1",
        got=f"{binning!r} as binning",
        hint="Pass such as [0, 0.2, 0.5, 1]",
    )
    return _OwnEdges(edges)


@dataclass(frozen=True, eq=False)
class _Filled:
    """Bins, some of which have no rows, and the event rate of all."""

    edges: FloatArray
    rate: FloatArray
    has_rows: BoolArray
    base_rate: float

    @property
    def middle(self) -> FloatArray:
        return (self.edges[:-1] + self.edges[1:]) / 2.0


def _midpoint(bins: _Filled) -> FloatArray:
    return bins.middle[~bins.has_rows]


def _interpolate(bins: _Filled) -> FloatArray:
    middle, has_rows = bins.middle, bins.has_rows
    return np.interp(middle[~has_rows], middle[has_rows], bins.rate[has_rows])


def _base_rate(bins: _Filled) -> FloatArray:
    return np.full((~bins.has_rows).sum(), bins.base_rate)


def _identity(bins: _Filled) -> FloatArray:
    return np.full((~bins.has_rows).sum(), np.nan)


EMPTY_RULES: Mapping[str, Callable[[_Filled], FloatArray]] = MappingProxyType(
    {"midpoint": _midpoint, "interpolate": _interpolate, "base-rate": _base_rate, "identity": _identity}
)
"""What bins without rows give."""
