"""Bayesian binning: many binnings of equal mass, averaged by how well each explains the outcomes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from scipy.special import betaln, softmax

from calibrant._links import EPSILON, FloatArray
from calibrant._problem import BinaryProblem, IntArray
from calibrant._registry import declare
from calibrant._validation import Input
from calibrant.binning import locate
from calibrant.binning.equal_mass import equal_shares
from calibrant.binning.ordered import Ordered
from calibrant.calibrators.base import BinaryCalibrator

N = TypeVar("N", np.float64, np.intp)

NEGLIGIBLE = 2.0**-60
"""Models of less weight than this are left out of the average: all of them together do not reach its last digit."""


@declare("calibrator", "bbq", symbol="BBQ", source="Naeini, Cooper and Hauskrecht 2015", guarantees={"finite log loss"})
class BayesianBinning(BinaryCalibrator):
    """Average histogram binnings of many sizes by their posterior probability (Bayesian binning into quantiles, BBQ).

    Use it in place of `HistogramBinning` when the number of bins is a guess: the data choose, and where they leave it open, the
    average has finer steps than any one binning. Do not use it when scores must stay in order: nothing keeps neighbouring
    steps from going down.

    Parameters
    ----------
    spread : float, default=10
        For n rows, from n^(1/3) / spread to n^(1/3) * spread bins are tried; at least 1.
    prior_rows : float, default=2
        What the prior weighs, in rows, shared out evenly among the bins of a binning.
    input : {"probability", "logit"}, default="probability"
        What is passed to ``fit`` and ``predict_proba``.
    labels : sequence of length 2, optional
        The negative and the positive label.

    Attributes
    ----------
    edges_ : ndarray of shape (n_steps + 1,)
        Edges of the average: step s holds the scores in (edges_[s], edges_[s + 1]]; the first also holds its lower edge.
    value_ : ndarray of shape (n_steps,)
        Calibrated probability of each step.
    n_bins_ : ndarray of shape (n_models,)
        Bins of each binning that was tried.
    model_weight_ : ndarray of shape (n_models,)
        Its posterior probability.
    classes_ : ndarray of shape (2,)
        Labels, the positive one last.

    Notes
    -----
    A binning into B bins has a Beta prior in each: weight N / B for N = ``prior_rows``, mean at the middle of the edges. With m
    events and k other rows in a bin, the binning's evidence has the factor  B(m + a, k + b) / B(a, b)  from it, where B is
    the beta function, a and b the prior's weight times its mean and the rest; the bin's value is the posterior mean
    (m + a) / (m + k + a + b). All binnings are equally probable beforehand.

    Bins are those of `EqualMass`: cut at observed scores, equal scores together. Ties can make binnings of different sizes
    the same; such a one counts once, with the bins that it has. An average of step functions is a step function: that is what
    is kept. Binnings whose weight is less than 2^-60 are left out of it. Whole weights count as rows; others are scaled to a
    mean of one.

    References
    ----------
    Naeini, Cooper, Hauskrecht, Obtaining well calibrated probabilities using Bayesian binning, AAAI 2015.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant import BayesianBinning
    >>> score = np.repeat([0.2, 0.3, 0.7, 0.8], 50)
    >>> BayesianBinning().fit(score, score > 0.5).calibrate([0.1, 0.9]).round(2).tolist()
    [0.0, 1.0]
    """

    edges_: FloatArray
    value_: FloatArray
    n_bins_: IntArray
    model_weight_: FloatArray

    def __init__(
        self,
        *,
        spread: float = 10.0,
        prior_rows: float = 2.0,
        input: Input = "probability",
        labels: Sequence[Any] | None = None,
    ) -> None:
        super().__init__(input=input, labels=labels)
        self.spread = spread
        self.prior_rows = prior_rows

    def _fit(self, problem: BinaryProblem) -> None:
        if not (np.isfinite(self.spread) and self.spread >= 1):
            raise ValueError(f"spread must be a number of at least 1; got {self.spread!r}. 10 is the authors' choice.")
        if not (np.isfinite(self.prior_rows) and self.prior_rows > 0):
            raise ValueError(f"prior_rows must be a number above 0; got {self.prior_rows!r}. 2 is the authors' choice.")
        ordered = Ordered.of(problem)
        models = _Models.of(ordered, _sizes(ordered, self.spread), self.prior_rows)
        self.n_bins_ = np.diff(models.starts, append=models.last.size)
        self.model_weight_ = softmax(models.evidence)
        self.edges_, self.value_ = _average(ordered, models, self.model_weight_)

    def _apply(self, score: FloatArray) -> FloatArray:
        return self.value_[locate(self.edges_, score)]


def _sizes(ordered: Ordered, spread: float) -> range:
    """Numbers of bins that are tried; more than there are rows would give the same bins again."""
    n = round(ordered.total * ordered.rows_per_weight)
    root = float(np.cbrt(n))
    most = min(n, floor(root * spread))
    return range(min(ceil(root / spread), most), most + 1)


@dataclass(frozen=True, eq=False)
class _Models:
    """Bins of all binnings, one binning after the other; those of each begin at ``starts``.

    ``last`` is the number of the last distinct score in a bin, ``value`` what the bin gives, ``evidence`` one number a binning.
    """

    starts: IntArray
    last: IntArray
    value: FloatArray
    evidence: FloatArray

    @classmethod
    def of(cls, ordered: Ordered, sizes: range, prior_rows: float) -> _Models:
        """Cut, and fit all bins at once."""
        lasts = _binnings(ordered, sizes)
        n_bins = np.array([last.size for last in lasts])
        last, starts = np.concatenate(lasts), np.cumsum(n_bins) - n_bins
        scale = ordered.rows_per_weight
        # Sums of each class apart: where one is absent its sum is exactly 0, and no difference of rounded numbers.
        events = _within(np.cumsum(ordered.outcome_sum) * scale, last, starts)
        others = _within(np.cumsum(ordered.weight - ordered.outcome_sum) * scale, last, starts)
        # A bin may hold the score 0 or 1 alone: a prior that is sure would rule an outcome out.
        mean = np.clip(_middles(ordered, last, starts), EPSILON, 1.0 - EPSILON)
        weight = np.repeat(prior_rows / n_bins, n_bins)
        a, b = weight * mean, weight * (1.0 - mean)
        evidence = np.add.reduceat(betaln(events + a, others + b) - betaln(a, b), starts)
        return cls(starts, last, np.clip((events + a) / (events + others + weight), EPSILON, 1.0 - EPSILON), evidence)


def _binnings(ordered: Ordered, sizes: range) -> list[IntArray]:
    """Return the last score of each bin of `EqualMass`, for all sizes at once; equal binnings once."""
    total = np.array([ordered.total])
    shares = np.concatenate([part for size in sizes for part in (equal_shares(ordered, size), total)])
    n_bins = np.array(sizes)
    starts = np.cumsum(n_bins) - n_bins
    last = np.minimum(np.searchsorted(ordered.reached, shares), ordered.score.size - 1)
    last[starts + n_bins - 1] = ordered.score.size - 1
    has_rows = np.diff(last, prepend=-1) != 0
    has_rows[starts] = True
    ends = np.cumsum(np.add.reduceat(has_rows, starts, dtype=np.intp))
    return list({part.tobytes(): part for part in np.split(last[has_rows], ends[:-1])}.values())


def _within(reached: npt.NDArray[N], last: IntArray, starts: IntArray) -> npt.NDArray[N]:
    """Return the sums in each bin of each binning, of cumulative sums."""
    at = reached[last]
    before = np.roll(at, 1)
    before[starts] = 0
    return at - before


def _middles(ordered: Ordered, last: IntArray, starts: IntArray) -> FloatArray:
    """Return the middle of each bin's edges; the first bin begins at 0, the last ends at 1."""
    upper = ordered.score[last]
    lower = np.roll(upper, 1)
    lower[starts], upper[np.append(starts[1:], last.size) - 1] = 0.0, 1.0
    return (lower + upper) / 2.0


def _average(ordered: Ordered, models: _Models, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Merge the binnings to one step function: its edges, and its values."""
    n_bins = np.diff(models.starts, append=models.last.size)
    kept = weight >= NEGLIGIBLE
    of_kept, sizes = np.repeat(kept, n_bins), n_bins[kept]
    last, value = models.last[of_kept], (np.repeat(weight, n_bins) * models.value)[of_kept]
    starts = np.cumsum(sizes) - sizes
    is_end = np.zeros(ordered.score.size, dtype=bool)
    is_end[last] = True
    steps_in_bin = _within(np.cumsum(is_end), last, starts)
    total = np.zeros(np.count_nonzero(is_end))
    for start, end in zip(starts, starts + sizes, strict=True):
        total += np.repeat(value[start:end], steps_in_bin[start:end])
    edges = np.concatenate([[0.0], ordered.score[is_end][:-1], [1.0]])
    return edges, total / weight[kept].sum()
