"""Bayesian binning: many binnings of equal mass, averaged by how well each explains the outcomes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from math import ceil, floor, log
from typing import Any, NamedTuple

import numpy as np
from scipy.special import betaln, softmax

from calibrant._core.links import EPSILON, FloatArray
from calibrant._core.parameters import number, numbers, shares
from calibrant._core.problem import BinaryProblem, IntArray
from calibrant._core.registry import declare
from calibrant._core.validation import Input
from calibrant.binning import locate
from calibrant.binning.distinct_scores import Ordered
from calibrant.binning.equal_mass import equal_shares
from calibrant.calibrators.kinds import BinaryCalibrator
from calibrant.calibrators.one_score.histogram import check_edges

NEGLIGIBLE = 2.0**-60
"""Models of less weight than this are left out of the average: all of them together do not reach its last digit."""

MOST_SIZES = 10_000
"""Numbers of bins that are tried at most: as many as 1e9 rows ask for."""

BATCH = 2**18
"""Bins that are fitted at a time."""


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
        What the prior weighs, in rows, shared out evenly among the bins of a binning; above 0, from 1e-9 to 1e9.
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
        Bins of each different binning that was tried.
    model_weight_ : ndarray of shape (n_models,)
        Its posterior probability.
    classes_ : ndarray of shape (2,)
        Labels, the positive one last.

    Notes
    -----
    A binning into B bins has a Beta prior in each: weight N / B for N = ``prior_rows``, mean at the middle of the edges. With m
    rows with the event and k without it in a bin, the binning's evidence has the factor  B(m + a, k + b) / B(a, b)  from it,
    where B is the beta function, a and b the prior's weight times its mean and the rest; the bin's value is the posterior mean
    (m + a) / (m + k + a + b). All binnings are equally probable beforehand.

    Bins are those of `EqualMass`: cut at observed scores, equal scores together. Ties can make binnings of different sizes
    the same; such a one counts once, with the bins that it has. An average of step functions is a step function: that is what
    is kept. Binnings whose weight is less than 2^-60 are left out of it. Whole weights count as rows; others are scaled to a
    mean of one. Where weights ask for more than 10000 numbers of bins, the lowest so many are tried; once every distinct score
    has a bin of its own, more bins would change nothing.

    References
    ----------
    Naeini, Cooper, Hauskrecht, Obtaining well calibrated probabilities using Bayesian binning, AAAI 2015.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.calibrators import BayesianBinning
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
        spread = number("spread", self.spread, least=1.0, hint="Pass 10, the authors' choice")
        prior_rows = number("prior_rows", self.prior_rows, least=1e-9, most=1e9, hint="Pass 2, the authors' choice")
        ordered = Ordered.of(problem)
        n_bins, evidence, likely = [], [], list[_Model]()
        for batch in _batches(_binnings(ordered, _sizes(ordered, spread))):
            models = _fitted(ordered, batch, prior_rows)
            n_bins += [model.last.size for model in models]
            evidence += [model.evidence for model in models]
            least = max(evidence) + log(NEGLIGIBLE)
            likely = [model for model in (*likely, *models) if model.evidence >= least]
        self.n_bins_, self.model_weight_ = np.array(n_bins), softmax(evidence)
        self.edges_, self.value_ = _average(ordered, likely)

    def _check_loaded(self) -> None:
        n_steps = self.value_.size
        check_edges("edges_", self.edges_, n_steps)
        numbers("value_", self.value_, shape=(n_steps,), least=0.0, most=1.0)
        n_models = shares("model_weight_", self.model_weight_).size
        numbers("n_bins_", self.n_bins_, shape=(n_models,), least=1)

    def _apply(self, score: FloatArray) -> FloatArray:
        return self.value_[locate(self.edges_, score)]


class _Model(NamedTuple):
    """A binning: the number of the last distinct score in each bin, what each bin gives, and the evidence for it."""

    last: IntArray
    value: FloatArray
    evidence: float


def _sizes(ordered: Ordered, spread: float) -> range:
    """Numbers of bins that are tried; more than there are rows, or than part all scores, would give the same bins again."""
    n = round(ordered.total * ordered.rows_per_weight)
    root = float(np.cbrt(float(n)))
    most = floor(min(root * spread, n))
    least = min(ceil(root / spread), most)
    # From here on a share ends on every score. What may be rounded is the sum of fractions.
    finest = ceil(ordered.total / float(ordered.weight.min()) * (1.0 + 1e-9))
    return range(least, max(least, min(most, finest, least + MOST_SIZES - 1)) + 1)


def _binnings(ordered: Ordered, sizes: range) -> Iterator[IntArray]:
    """Yield the last score of each bin of `EqualMass` for each size; equal binnings once."""
    found = set()
    for size in sizes:
        last = _last_scores(ordered, size)
        key = blake2b(last.tobytes(), digest_size=16).digest()
        if key not in found:
            found.add(key)
            yield last


def _last_scores(ordered: Ordered, size: int) -> IntArray:
    n_scores = ordered.score.size
    if ordered.is_whole and size > n_scores:  # for each score, how many shares are reached; not for each share, where
        base, remainder = divmod(ordered.total, float(size))
        longer = remainder * (base + 1.0)
        beyond = remainder + (ordered.reached - longer) // base
        shares = np.where(ordered.reached < longer, ordered.reached // (base + 1.0), beyond)
        is_last = np.diff(shares, prepend=0.0) > 0
        is_last[-1] = True
        return np.flatnonzero(is_last)
    last = np.searchsorted(ordered.reached, equal_shares(ordered, size))
    last = np.append(np.minimum(last, n_scores - 1), n_scores - 1)
    return last[np.diff(last, prepend=-1) > 0]


def _batches(binnings: Iterator[IntArray]) -> Iterator[list[IntArray]]:
    batch, n_bins = list[IntArray](), 0
    for last in binnings:
        batch.append(last)
        n_bins += last.size
        if n_bins >= BATCH:
            yield batch
            batch, n_bins = [], 0
    if batch:
        yield batch


def _fitted(ordered: Ordered, lasts: list[IntArray], prior_rows: float) -> list[_Model]:
    """Fit the bins of binnings, all at once; those of each begin at ``starts``."""
    n_bins = np.array([last.size for last in lasts])
    last, starts = np.concatenate(lasts), np.cumsum(n_bins) - n_bins
    scale = ordered.rows_per_weight
    # Sums of each class apart: where one is absent its sum is exactly 0, and no difference of rounded numbers.
    events = _within(ordered.events_reached * scale, last, starts)
    others = _within(np.cumsum(ordered.weight - ordered.outcome_sum) * scale, last, starts)
    # A bin may hold the score 0 or 1 alone: a prior that is sure would rule an outcome out.
    mean = np.clip(_middles(ordered, last, starts), EPSILON, 1.0 - EPSILON)
    weight = np.repeat(prior_rows / n_bins, n_bins)
    a, b = weight * mean, weight * (1.0 - mean)
    evidence = np.add.reduceat(betaln(events + a, others + b) - betaln(a, b), starts)
    value = np.clip((events + a) / (events + others + weight), EPSILON, 1.0 - EPSILON)
    return [_Model(*model) for model in zip(lasts, np.split(value, starts[1:]), evidence.tolist(), strict=True)]


def _within(reached: FloatArray, last: IntArray, starts: IntArray) -> FloatArray:
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


def _average(ordered: Ordered, models: list[_Model]) -> tuple[FloatArray, FloatArray]:
    """Merge binnings to one step function: its edges, and its values."""
    weight = softmax([model.evidence for model in models])
    is_end = np.zeros(ordered.score.size, dtype=bool)
    for model in models:
        is_end[model.last] = True
    steps_reached = np.cumsum(is_end)
    total = np.zeros(np.count_nonzero(is_end))
    for model, share in zip(models, weight, strict=True):
        total += np.repeat(share * model.value, np.diff(steps_reached[model.last], prepend=0))
    edges = np.concatenate([[0.0], ordered.score[is_end][:-1], [1.0]])
    return edges, np.clip(total, EPSILON, 1.0 - EPSILON)
