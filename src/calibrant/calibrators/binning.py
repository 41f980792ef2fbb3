"""Scaling-binning: a parametric map, rounded to its mean over bins."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from math import ceil, floor, log
from typing import ClassVar, Literal, NamedTuple

import numpy as np
from scipy.special import betaln, softmax

from calibrant._core.arrays import EPSILON, FloatArray, is_whole
from calibrant._core.checks import as_numbers, refuse, require
from calibrant._core.registry import FINITE
from calibrant._core.rows import BinaryProblem, Forecast, IntArray, two_columns
from calibrant.binning import Binning, Bins, EqualMass, as_binning, locate, sums_over
from calibrant.binning.bins import Ordered, ends_of_shares
from calibrant.calibrators.base import BinaryCalibrator, as_binary_calibrator, fitted, method, parameter
from calibrant.calibrators.parametric import PlattScaling
from calibrant.sums.reading import cut

# Histogram binning: the event rate of the bin that a score falls in


ROUNDING = 1e-12
SUMS = ("weight", "score_sum", "outcome_sum")

Empty = Literal["midpoint", "interpolate", "base-rate", "identity"]


@method("histogram-binning", symbol="HB", source="Zadrozny and Elkan 2001")
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

    binning: int | str | Binning | Sequence[float] = field(default="equal-mass", kw_only=False)
    empty: Empty = parameter(default="midpoint")
    smoothing: float = parameter(default=0.0, least=0.0, most=1e15, hint="In rows: 1 is Laplace's choice")
    interior: bool = parameter(default=False)
    delta: float = parameter(default=0.0, least=0.0, most=1.0, hint="Pass a small number such as 1e-10, or 0 for none")
    random_state: int | np.random.Generator | None = parameter(default=0)
    value_: FloatArray = fitted("n", least=0.0, most=1.0, fewest=1, may_be_nan=True)
    edges_: FloatArray = fitted("n+1", least=0.0, most=1.0, order="not falling")
    count_: IntArray = fitted("n", least=0)
    weighted_: bool = fitted()

    def _fit(self, problem: BinaryProblem) -> None:
        bins = cut(problem, _binning(self.binning))
        base_rate = float(bins.outcome_sum.sum() / bins.weight.sum())
        if self.interior:
            bins = _inside(bins, problem)
        value = _rates(bins, float(self.smoothing), problem.weights.rows_per_weight)
        empty, middle = bins.count == 0, (bins.edges[:-1] + bins.edges[1:]) / 2.0
        if self.empty == "interpolate":
            middle = np.interp(middle, middle[~empty], value[~empty])
        value[empty] = {"base-rate": base_rate, "identity": np.nan}.get(self.empty, middle[empty])
        if (delta := float(self.delta)) > 0:
            value = (value + delta * np.random.default_rng(self.random_state).random(value.size)) / (1.0 + delta)
        self.edges_, self.value_, self.count_ = bins.edges, value, bins.count
        self.weighted_ = not problem.weights.are_rows

    def _apply(self, score: FloatArray) -> FloatArray:
        value = self.value_[locate(self.edges_, score)]
        return np.where(np.isnan(value), score, value) if np.isnan(self.value_).any() else value


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
        must = "binning must be a number of bins, a Binning or edges"
        refuse(must, value=binning, hint="Pass one, such as EqualMass(15)", error=TypeError)
    except ValueError:  # infinite or no number
        edges = np.empty(0)
    fits = edges.ndim == 1 and edges.size >= 2 and edges[0] == 0.0 and edges[-1] == 1.0 and (np.diff(edges) > 0).all()
    must = "edges must increase from 0 to 1"
    hint = "Pass such as [0, 0.2, 0.5, 1]"
    require(fits, must, got=f"{binning!r} as binning", hint=hint)
    return _OwnEdges(edges)


# Bayesian binning: many binnings of equal mass, averaged by how well each explains the outcomes


NEGLIGIBLE = 2.0**-60
"""Models of less weight than this are left out of the average: all of them together do not reach its last digit."""

MOST_SIZES = 10_000
"""Numbers of bins that are tried at most: as many as 1e9 rows ask for."""


@method("bbq", symbol="BBQ", source="Naeini, Cooper and Hauskrecht 2015", guarantees={FINITE})
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

    spread: float = parameter(default=10.0, least=1.0, hint="Pass 10, the authors' choice")
    prior_rows: float = parameter(default=2.0, least=1e-9, most=1e9, hint="Pass 2, the authors' choice")
    value_: FloatArray = fitted("n", least=0.0, most=1.0, fewest=1)
    edges_: FloatArray = fitted("n+1", least=0.0, most=1.0, order="not falling")
    model_weight_: FloatArray = fitted("m", sum_to_one=True)
    n_bins_: IntArray = fitted("m", least=1)

    def _fit(self, problem: BinaryProblem) -> None:
        ordered = Ordered.of(problem)
        n_bins, evidence, likely = [], [], list[_Model]()
        # Sums of each class apart: where one is absent its sum is exactly 0, and no difference of rounded numbers.
        by_class = np.stack([ordered.outcome_sum, ordered.weight - ordered.outcome_sum])
        reached = np.cumsum(by_class, axis=1) * ordered.rows_per_weight
        for last in _binnings(ordered, _sizes(ordered, float(self.spread))):
            model = _model(ordered.score, reached, last, float(self.prior_rows))
            n_bins.append(last.size)
            evidence.append(model.evidence)
            least = max(evidence) + log(NEGLIGIBLE)
            likely = [one for one in (*likely, model) if one.evidence >= least]
        self.n_bins_, self.model_weight_ = np.array(n_bins), softmax(evidence)
        self.edges_, self.value_ = _average(ordered, likely)

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
    found, end = set(), ordered.score.size - 1
    for size in sizes:
        last = ends_of_shares(ordered, size)
        last = np.append(last[last < end], end)
        key = blake2b(last.tobytes(), digest_size=16).digest()
        if key not in found:
            found.add(key)
            yield last


def _model(score: FloatArray, reached: FloatArray, last: IntArray, prior_rows: float) -> _Model:
    """Fit the rate of each bin, and the evidence of all, from the rows with and without the event up to each score."""
    events, others = np.diff(reached[:, last], prepend=0.0)
    inner = score[last[:-1]]
    middle = (np.append(0.0, inner) + np.append(inner, 1.0)) / 2.0
    # A bin may hold the score 0 or 1 alone: a prior that is sure would rule an outcome out.
    mean, weight = np.clip(middle, EPSILON, 1.0 - EPSILON), prior_rows / last.size
    a, b = weight * mean, weight * (1.0 - mean)
    evidence = float((betaln(events + a, others + b) - betaln(a, b)).sum())
    return _Model(last, np.clip((events + a) / (events + others + weight), EPSILON, 1.0 - EPSILON), evidence)


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


@method("scaling-binning", symbol="SB", source="Kumar et al. 2019", guarantees={FINITE})
class ScalingBinning(BinaryCalibrator):
    """Fit a parametric map, then replace its values by their mean in bins of equal mass (scaling-binning).

    Use it when the calibration error that is left has to be measured: it takes few values, as `HistogramBinning` does, but
    each is a mean of fitted probabilities and not of 0s and 1s, so it varies less. Do not use it when scores must stay apart;
    then the parametric map is better by itself.

    Parameters
    ----------
    calibrator : str or BinaryCalibrator, optional
        The map, a word such as ``"beta"`` or an object; it is cloned. By default `PlattScaling`.
    n_bins : int, default=15
        Number of bins at most, at least 1.
    input : {"probability", "logit"}, default="probability"
        What is passed to ``fit`` and ``predict_proba``.
    labels : sequence of length 2, optional
        The negative and the positive label.

    Attributes
    ----------
    calibrator_ : BinaryCalibrator
        The fitted map.
    edges_ : ndarray of shape (n_bins + 1,)
        Bin b holds the rows whose fitted probability is in (edges_[b], edges_[b + 1]]; the first also holds its lower edge.
    value_ : ndarray of shape (n_bins,)
        Mean fitted probability of each bin, increasing.
    count_ : ndarray of shape (n_bins,)
        Rows of each bin.
    classes_ : ndarray of shape (2,)
        Labels, the positive one last.

    Notes
    -----
    The paper splits the rows in three: to fit the map, to choose the bins, to take the means. Here all rows serve for all
    three, as in the authors' code: bins and means look at fitted probabilities and not at labels, so there is nothing to
    over-fit but the map itself, no row is wasted and nothing is random.

    The bins are those of the fitted probabilities: where the map increases, they are bins of the score. Means are kept 1e-12
    away from 0 and 1.

    References
    ----------
    Kumar, Liang, Ma, Verified uncertainty calibration, NeurIPS 2019.

    Examples
    --------
    >>> from calibrant import load_digits_forecast
    >>> from calibrant.calibrators import ScalingBinning
    >>> y, prob = load_digits_forecast()
    >>> fitted = ScalingBinning(n_bins=5).fit(prob[:, 3], y == 3)
    >>> len(set(fitted.calibrate(prob[:, 3]).tolist()))
    5
    """

    calibrator: str | BinaryCalibrator | None = field(default=None, kw_only=False)
    n_bins: int = parameter(default=15, least=1, hint="Pass some 10 to 20")
    calibrator_: BinaryCalibrator = fitted()
    value_: FloatArray = fitted("n", least=0.0, most=1.0, fewest=1)
    edges_: FloatArray = fitted("n+1", least=0.0, most=1.0, order="not falling")
    count_: IntArray = fitted("n", least=0)

    def _fit(self, problem: BinaryProblem) -> None:
        method = PlattScaling() if self.calibrator is None else self.calibrator
        inner = as_binary_calibrator(method, hint="Pass 'platt', or PlattScaling()")
        inner._fit_one(problem)
        self.calibrator_ = inner
        # As the rows themselves will be mapped, to the last digit: else one of them could fall in the next bin.
        logit = problem.logit
        reads_logits = type(inner)._apply_logit is not BinaryCalibrator._apply_logit
        fitted = inner._apply(problem.score) if logit is None or not reads_logits else inner._apply_logit(logit)
        bins = EqualMass(int(self.n_bins))(replace(problem, score=fitted, logit=None))
        # Bins end at observed values: above the highest of them there can be one more, without rows.
        has_rows = bins.count > 0
        upper = bins.edges[1:][has_rows]
        self.edges_ = np.concatenate([[0.0], upper[:-1], [1.0]])
        self.value_ = np.clip(bins.mean_prob[has_rows], EPSILON, 1.0 - EPSILON)
        self.count_ = bins.count[has_rows]

    def _check_loaded(self) -> None:
        super()._check_loaded()
        self.calibrator_._check_loaded()

    def _apply(self, score: FloatArray) -> FloatArray:
        return self._mean_near(self.calibrator_._apply(score))

    def _apply_logit(self, log_odds: FloatArray) -> FloatArray:
        return self._mean_near(self.calibrator_._apply_logit(log_odds))

    def _map_forecast(self, forecast: Forecast) -> FloatArray:
        column = self._mean_near(self.calibrator_._map_forecast(forecast)[:, 1])
        return two_columns(column, is_logit=False).values

    def _mean_near(self, fitted: FloatArray) -> FloatArray:
        return self.value_[locate(self.edges_, fitted)]
