"""Histogram binning, BBQ, scaling-binning and canonical binning; and bounds that hold with a stated probability."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from math import ceil, floor, log, log1p, sqrt
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from scipy.special import betaln, softmax

from calibrant._core.arrays import EPSILON, ArrayLike, FloatArray, is_whole
from calibrant._core.checks import as_numbers, fraction, number, refuse, require, whole
from calibrant._core.registry import FINITE
from calibrant._core.result import Result, frame
from calibrant._core.rows import BinaryProblem, Forecast, IntArray, SimplexProblem, two_columns
from calibrant.binning import Binning, Bins, EqualMass, Partition, as_binning, class_sums, locate, sums_over
from calibrant.binning.bins import SUMS, Ordered, ends_of_shares, shown
from calibrant.binning.cells import SimplexBinning, as_simplex_binning
from calibrant.calibrators import base
from calibrant.calibrators.parametric import PlattScaling
from calibrant.sums.reading import cut

# Histogram binning: the event rate of the bin that a score falls in


Empty = Literal["midpoint", "interpolate", "base-rate", "identity"]


@base.method("histogram-binning", symbol="HB", source="Zadrozny and Elkan 2001")
class HistogramBinning(base.BinaryCalibrator):
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
    empty: Empty = base.parameter(default="midpoint")
    smoothing: float = base.parameter(default=0.0, least=0.0, most=1e15, hint="In rows: 1 is Laplace's choice")
    interior: bool = base.parameter(default=False)
    delta: float = base.parameter(
        default=0.0, least=0.0, most=1.0, hint="Pass a small number such as 1e-10, or 0 for none"
    )
    random_state: int | np.random.Generator | None = base.parameter(default=0)
    value_: FloatArray = base.fitted("n", least=0.0, most=1.0, fewest=1, may_be_nan=True)
    edges_: FloatArray = base.fitted("n+1", least=0.0, most=1.0, order="not falling")
    count_: IntArray = base.fitted("n", least=0)
    weighted_: bool = base.fitted()

    def _fit(self, problem: BinaryProblem) -> None:
        bins = cut(problem, _binning(self.binning))
        base_rate = float(bins.outcome_sum.sum() / bins.weight.sum())
        if self.interior:
            bins = _inside(bins, problem)
        empty, added = bins.count == 0, self.smoothing / problem.weights.rows_per_weight
        value = np.full(len(bins), np.nan)
        np.divide(bins.outcome_sum + added, bins.weight + 2.0 * added, out=value, where=~empty)
        value = np.clip(value, EPSILON, 1.0 - EPSILON) if self.smoothing > 0 else value
        middle = (bins.edges[:-1] + bins.edges[1:]) / 2.0
        if self.empty == "interpolate":
            middle = np.interp(middle, middle[~empty], value[~empty])
        value[empty] = {"base-rate": base_rate, "identity": np.nan}.get(self.empty, middle[empty])
        if (delta := float(self.delta)) > 0:
            value = (value + delta * np.random.default_rng(self.random_state).random(value.size)) / (1.0 + delta)
        self.edges_, self.value_ = bins.edges, value
        self.count_ = shown(bins, are_counts=problem.weights.are_counts).count
        self.weighted_ = not problem.weights.are_rows

    def _apply(self, score: FloatArray) -> FloatArray:
        value = self.value_[locate(self.edges_, score)]
        return np.where(np.isnan(value), score, value) if np.isnan(self.value_).any() else value


def _inside(bins: Bins, problem: BinaryProblem) -> Bins:
    """Return the bins less one row on each inner edge: of rows that tie there, their mean. A bin of one row keeps it."""
    at = bins.index(problem.score)
    on = (at < len(bins) - 1) & (problem.score == bins.edges[at + 1])
    edge, a_row = sums_over(bins.partition, problem.at(on)), problem.weights.rows_per_weight
    cut = (edge.count > 0) & (bins.weight * a_row > 1.0)
    tied = np.maximum(edge.weight * a_row, 1.0)
    less = {name: getattr(bins, name) - np.where(cut, getattr(edge, name) / tied, 0.0) for name in SUMS[1:]}
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
    require(fits, must, got=f"{binning!r} as binning", hint="Pass such as [0, 0.2, 0.5, 1]")
    return _OwnEdges(edges.copy())


# Bayesian binning: many binnings of equal mass, averaged by how well each explains the outcomes


NEGLIGIBLE = 2.0**-60
"""Models of less weight than this are left out of the average: all of them together do not reach its last digit."""

MOST_SIZES = 10_000
"""Numbers of bins that are tried at most: as many as 1e9 rows ask for."""


@base.method("bbq", symbol="BBQ", source="Naeini, Cooper and Hauskrecht 2015", guarantees={FINITE})
class BayesianBinning(base.BinaryCalibrator):
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

    spread: float = base.parameter(default=10.0, least=1.0, hint="Pass 10, the authors' choice")
    prior_rows: float = base.parameter(default=2.0, least=1e-9, most=1e9, hint="Pass 2, the authors' choice")
    value_: FloatArray = base.fitted("n", least=0.0, most=1.0, fewest=1)
    edges_: FloatArray = base.fitted("n+1", least=0.0, most=1.0, order="not falling")
    model_weight_: FloatArray = base.fitted("m", sum_to_one=True)
    n_bins_: IntArray = base.fitted("m", least=1)

    def _fit(self, problem: BinaryProblem) -> None:
        ordered = Ordered.of(problem)
        n_bins, evidence, likely = [], [], list[_Model]()
        # Sums of each class apart: where one is absent its sum is exactly 0, and no difference of rounded numbers.
        by_class = np.stack([ordered.outcome_sum, ordered.weight - ordered.outcome_sum])
        reached = np.cumsum(by_class, axis=1) * ordered.problem.weights.rows_per_weight
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
    n = round(ordered.total * ordered.problem.weights.rows_per_weight)
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


@base.method("scaling-binning", symbol="SB", source="Kumar et al. 2019", guarantees={FINITE})
class ScalingBinning(base.BinaryCalibrator):
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

    calibrator: str | base.BinaryCalibrator | None = field(default=None, kw_only=False)
    n_bins: int = base.parameter(default=15, least=1, hint="Pass some 10 to 20")
    calibrator_: base.BinaryCalibrator = base.fitted()
    value_: FloatArray = base.fitted("n", least=0.0, most=1.0, fewest=1)
    edges_: FloatArray = base.fitted("n+1", least=0.0, most=1.0, order="not falling")
    count_: IntArray = base.fitted("n", least=0)

    def _fit(self, problem: BinaryProblem) -> None:
        method = PlattScaling() if self.calibrator is None else self.calibrator
        inner = base.as_binary_calibrator(method, hint="Pass 'platt', or PlattScaling()")
        inner._fit_one(problem)
        self.calibrator_ = inner
        # As the rows themselves will be mapped, to the last digit: else one of them could fall in the next bin.
        logit = problem.logit
        reads_logits = type(inner)._apply_logit is not base.BinaryCalibrator._apply_logit
        fitted = inner._apply(problem.score) if logit is None or not reads_logits else inner._apply_logit(logit)
        bins = EqualMass(int(self.n_bins))(replace(problem, score=fitted, logit=None))
        # Bins end at observed values: above the highest of them there can be one more, without rows.
        has_rows = bins.count > 0
        self.edges_ = np.concatenate([[0.0], bins.edges[1:][has_rows][:-1], [1.0]])
        self.value_ = np.clip(bins.mean_prob[has_rows], EPSILON, 1.0 - EPSILON)
        self.count_ = shown(bins, are_counts=problem.weights.are_counts).count[has_rows]

    def _check_loaded(self) -> None:
        super()._check_loaded()
        self.calibrator_._check_loaded()

    def _apply(self, score: FloatArray) -> FloatArray:
        return self._mean_near(self.calibrator_._apply(score))

    def _apply_logit(self, log_odds: FloatArray) -> FloatArray:
        return self._mean_near(self.calibrator_._apply_logit(log_odds))

    def _map_forecast(self, forecast: Forecast) -> FloatArray:
        return two_columns(self._mean_near(self.calibrator_._map_forecast(forecast)[:, 1]), is_logit=False).values

    def _mean_near(self, fitted: FloatArray) -> FloatArray:
        return self.value_[locate(self.edges_, fitted)]


# Canonical binning: histogram binning of whole forecasts


@base.method("canonical-binning", symbol="CB", source="Gupta and Ramdas 2022")
class CanonicalBinning(base.MulticlassCalibrator):
    """Replace a forecast by the class rates of its cell of the simplex (canonical histogram binning).

    Use it when the whole forecast must be calibrated, with a proof. It gives few vectors, each the class rates of the
    rows in one cell, so that the error of each can be bounded. Do not use it when forecasts must stay apart: all rows of
    a cell are tied, and the predicted class is one a cell. Temperature, vector or Dirichlet scaling keep them apart.

    Parameters
    ----------
    binning : int, str or SimplexBinning, default="projection"
        How the simplex is cut: n means ``SimplexGrid(n)``, a word the registered simplex binning of that name. `Projection`
        is for any number of classes, `SimplexGrid` for few, `Sierpinski` for three.
    interior : bool, default=True
        Leave out of the class rates the rows that lie on a cut that the data made: these are there because of the cut, and are
        no independent evidence of the rates. A cell without any other row is estimated from them all the same.
    smoothing : float, default=0
        So many rows of each class are added to every cell with rows: (k + a) / (m + L a) in place of k / m, for k rows of a
        class among the m of the cell, of L classes. Above 0 no class with rows near it gets probability 0. At most 1e15.
    input : {"probability", "logit"}, default="probability"
        What is passed to ``fit`` and ``predict_proba``.
    labels : sequence of length n_classes, optional
        The class of each column; by default 0, 1, ... or the sorted labels.

    Attributes
    ----------
    partition_ : Partition
        Which forecast is in which cell.
    value_ : ndarray of shape (n_cells, n_classes)
        Class rates of each cell; 1 / n_classes each where no row was.
    count_ : ndarray of shape (n_cells,)
        Rows that the rates of each cell are made of.
    classes_ : ndarray of shape (n_classes,)
        Labels in the order of the columns.

    Notes
    -----
    A cell without rows, and a forecast in none of the cells, get 1 / n_classes of each class. Whole weights count as rows;
    others are scaled to a mean of one where rows are counted, in ``smoothing``.

    With `Projection` and forecasts that do not tie, each cell has about n / n_bins rows, and one row a cut is left out. With
    forecasts that take few values whole ties lie on cuts; there ``interior=False`` wastes nothing.

    References
    ----------
    Gupta, Ramdas, Top-label calibration and multiclass-to-binary reductions, ICLR 2022. What is printed there for a cell
    without rows, one over the number of cells, does not sum to one.

    Examples
    --------
    >>> from calibrant.binning import Sierpinski
    >>> from calibrant.calibrators import CanonicalBinning
    >>> P = [[0.8, 0.1, 0.1], [0.6, 0.3, 0.1], [0.1, 0.8, 0.1], [0.4, 0.3, 0.3]]
    >>> fitted = CanonicalBinning(Sierpinski(1)).fit(P, [0, 1, 1, 2])
    >>> fitted.predict_proba([[0.7, 0.2, 0.1], [0.3, 0.3, 0.4]]).tolist()
    [[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]
    """

    binning: int | str | SimplexBinning = field(default="projection", kw_only=False)
    interior: bool = base.parameter(default=True)
    smoothing: float = base.parameter(default=0.0, least=0.0, most=1e15, hint="In rows: 1 is Laplace's choice")
    partition_: Partition = base.fitted()
    value_: FloatArray = base.fitted("n K", sum_to_one=True)
    count_: IntArray = base.fitted("n", least=0)

    def cells(self, y_prob: ArrayLike) -> IntArray:
        """Find the cell of each forecast.

        Parameters
        ----------
        y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
            Forecast of the kind that was fitted.

        Returns
        -------
        ndarray of shape (n_samples,)
            Rows of ``value_``; -1 where a forecast is in none of the cells.
        """
        return self.partition_.index(self._fitted_forecast(y_prob).prob)

    def _fit(self, problem: SimplexProblem) -> None:
        partition = as_simplex_binning(self.binning).partition(problem)
        cell, n_cells, n_classes = partition.index(problem.prob), partition.n_cells, problem.prob.shape[1]
        counted = np.ones(problem.size, dtype=bool)
        if self.interior:
            inside = ~partition.is_boundary(problem.prob)
            counted = inside | (np.bincount(cell[inside], minlength=n_cells) == 0)[cell]
        count = np.bincount(cell[counted], minlength=n_cells)
        occurred = class_sums(cell[counted], problem.label[counted], problem.weight[counted], (n_cells, n_classes))
        added = float(self.smoothing) / problem.weights.rows_per_weight
        value = np.full((n_cells, n_classes), 1.0 / n_classes)
        total = occurred.sum(axis=1, keepdims=True) + n_classes * added
        np.divide(occurred + added, total, out=value, where=count[:, None] > 0)
        self.partition_, self.value_ = partition, value
        self.count_ = np.bincount(cell[counted], problem.weights.times[counted], n_cells).astype(np.intp)

    def _sizes(self) -> dict[str, int]:
        return super()._sizes() | {"n": self.partition_.n_cells}

    def _check_loaded(self) -> None:
        self.partition_._check_loaded(len(self.classes_))
        super()._check_loaded()

    def _apply(self, forecast: Forecast) -> FloatArray:
        cell = self.partition_.index(forecast.prob)
        return np.where(cell[:, None] >= 0, self.value_[cell], 1.0 / self.value_.shape[1])


# What guarantees share: statements, each with its bound and the probability with which it holds


Statement = tuple[str, float, float]
"""What is bounded, the bound, and the probability with which it holds; NaN where it holds on average."""


class Statements(Result, ABC):
    """A guarantee that is a list of statements."""

    @abstractmethod
    def _head(self) -> str: ...

    @abstractmethod
    def _statements(self) -> list[Statement]: ...

    def to_frame(self, backend: str | None = None) -> Any:
        """Return a data frame, a row a statement.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            By default the first that is installed.

        Returns
        -------
        DataFrame
            Columns statement, bound, probability (with which it holds; NaN where it holds on average).
        """
        statement, bound, probability = zip(*self._statements(), strict=True)
        return frame({"statement": statement, "bound": bound, "probability": probability}, backend)

    def __str__(self) -> str:
        wide = max(len(statement) for statement, _, _ in self._statements())
        lines = [
            f"  {statement:<{wide}}  <= {bound:<7.4g} {f'with probability {p:g}' if p == p else 'on average'}"
            for statement, bound, p in self._statements()
        ]
        return "\n".join([self._head(), *lines])


# Guarantees of top-label histogram binning, in numbers


@dataclass(frozen=True)
class BinningGuarantee(Statements):
    """How far the probabilities of top-label histogram binning can be off, whatever the distribution of the data.

    The error of a reported pair (class c, probability h) is  abs(P(Y = c given c, h) - h). No bound is above 1, which says
    nothing.

    Attributes
    ----------
    n_samples : int
        Rows to calibrate on.
    points_per_bin : int
        Rows that each bin has at least, k.
    n_classes : int
        Classes; for each at least k rows are taken to be predicted.
    alpha : float
        Probability with which the bounds may fail.
    delta : float
        Size of the random shift that keeps the values of bins apart.
    """

    _summary = (
        "marginal={marginal_error:.4g}, conditional={conditional_error:.4g}, expected={expected_error:.4g}, "
        "sharp_expected={sharp_expected_error:.4g}"
    )

    n_samples: int
    points_per_bin: int
    n_classes: int
    alpha: float
    delta: float

    @property
    def n_bins(self) -> int:
        """Number of bins of all classes together, at most."""
        return self.n_samples // self.points_per_bin

    @property
    def marginal_error(self) -> float:
        """Error of the pair of a new row, except with probability alpha over that row and the rows to calibrate on (eps_1)."""
        return min(1.0, deviation(self.points_per_bin - 1, self.alpha) + self.delta)

    @property
    def conditional_error(self) -> float:
        """Largest error of all pairs that can be reported, except with probability alpha (eps_2).

        It bounds TL-MCE, TL-ECE and every l_p form of TL-ECE at once: none of them is above the largest error.
        """
        n_bins = self.n_samples / self.points_per_bin
        return min(1.0, deviation(self.points_per_bin - 1, self.alpha, n_bins) + self.delta)

    @property
    def expected_error(self) -> float:
        """TL-ECE on average over the rows to calibrate on, with the constant of the paper."""
        return min(1.0, sqrt(0.5 / self.points_per_bin) + self.delta)

    @property
    def sharp_expected_error(self) -> float:
        """The same by the variance of an event rate: never above ``expected_error``, with many points 0.71 of it."""
        return min(1.0, 0.5 / sqrt(self.points_per_bin - 1) + self.delta)

    def _statements(self) -> list[Statement]:
        sure, average = 1.0 - self.alpha, float("nan")
        return [
            ("error at a new row (marginal)", self.marginal_error, sure),
            ("largest error, TL-MCE (conditional)", self.conditional_error, sure),
            ("TL-ECE", self.conditional_error, sure),
            ("TL-ECE", self.expected_error, average),
            ("TL-ECE, sharper constant", self.sharp_expected_error, average),
        ]

    def _head(self) -> str:
        return f"{self.n_samples} rows, {self.points_per_bin} points a bin, at most {self.n_bins} bins"


def binning_guarantee(
    n_samples: int, points_per_bin: int, n_classes: int = 1, alpha: float = 0.1, delta: float = 0.0
) -> BinningGuarantee:
    r"""Bound the errors of top-label histogram binning (TL-HB) before any data are seen.

    It speaks of the pair (label, probability) of ``predict_top``, fitted as
    ``ByNotion(HistogramBinning(PointsPerBin(k), interior=True, delta=1e-10), "top-label")`` on rows that are drawn
    independently and that the classifier was not trained on.

    Parameters
    ----------
    n_samples : int
        Rows to calibrate on, at least ``n_classes * points_per_bin``.
    points_per_bin : int
        Rows of each bin, k, at least 2.
    n_classes : int, default=1
        Classes that may be predicted; each must be for at least k rows.
    alpha : float, default=0.1
        Probability with which the bounds may fail, in (0, 1).
    delta : float, default=0
        The ``delta`` of `HistogramBinning`.

    Returns
    -------
    BinningGuarantee
        The bounds, each in [0, 1].

    Raises
    ------
    TypeError, ValueError
        If a parameter is not what it must be, or there are fewer rows than one bin a class takes.

    Notes
    -----
    With k points a bin and n rows in all,

    .. math::

        \epsilon_1 = \sqrt{\frac{\log(2 / \alpha)}{2 (k - 1)}} + \delta, \qquad
        \epsilon_2 = \sqrt{\frac{\log(2 n / (k \alpha))}{2 (k - 1)}} + \delta, \qquad
        E[\text{TL-ECE}] \le \frac{1}{2 \sqrt{k - 1}} + \delta \le \sqrt{\frac{1}{2 k}} + \delta .

    k - 1 rows lie inside a bin, not on its edge. Given the edges they are independent draws from that bin, and Hoeffding's
    inequality bounds how far their event rate is off; :math:`\epsilon_2` shares alpha out to the n / k bins. The standard
    deviation of the rate is at most :math:`1 / (2 \sqrt{k - 1})`, which is ``sharp_expected_error``. The paper has the last
    bound, ``expected_error``: both are equal at k = 2, and the sharp one is smaller from there on. Scores are taken to be
    continuous; docs/binning-guarantees.md shows what ties do.

    References
    ----------
    Gupta, Ramdas, Top-label calibration and multiclass-to-binary reductions, ICLR 2022, Theorem 1. Gupta, Ramdas,
    Distribution-free calibration guarantees for histogram binning without sample splitting, ICML 2021.

    Examples
    --------
    >>> from calibrant.calibrators import binning_guarantee
    >>> binning_guarantee(5000, 50, n_classes=10)
    BinningGuarantee(marginal=0.1748, conditional=0.2785, expected=0.1, sharp_expected=0.07143)
    """
    n = whole("n_samples", n_samples, least=1, hint="Pass the number of rows to calibrate on")
    k = whole("points_per_bin", points_per_bin, least=2, hint="50 is usual")
    classes = whole("n_classes", n_classes, least=1, hint="Pass the number of classes, 1 for one event")
    alpha = fraction("alpha", alpha, hint="0.1 lets the bound fail once in ten")
    delta = number("delta", delta, least=0.0, hint="In units of probability: 1e-10 keeps values apart")
    must = (
        f"n_samples must be at least n_classes * points_per_bin, a bin for each class: {classes} * {k} = {classes * k}"
    )
    hint = f"Take at most {n // classes} points a bin, or more rows" if n // classes >= 2 else "Take more rows"
    require(n >= classes * k, must, value=n, hint=hint)
    return BinningGuarantee(n, k, classes, alpha, delta)


def deviation(points: float, alpha: float, n_bins: float = 1.0) -> float:
    """How far the event rate of so many rows may be off in any of the bins, except with probability alpha (Hoeffding 1963)."""
    return sqrt((log(2.0 * n_bins) - log(alpha)) / (2.0 * points))


# Guarantees of binning on the simplex, in numbers


FARTHEST = 2.0
"""No two vectors of probabilities are farther apart in the L1 distance."""


@dataclass(frozen=True)
class CanonicalGuarantee(Statements):
    """How far the vectors of `CanonicalBinning` can be off, whatever the distribution of the data.

    The error of a reported vector h is the L1 distance between P(Y | h) and h, the sum of the errors of all classes. It lies
    between 0 and 2 and is twice the total variation, so half of each bound is one of the total variation. A bound of 2 says
    nothing.

    Attributes
    ----------
    points_per_bin : int
        Rows that the vector of each bin was estimated from, at least.
    n_bins : int
        Number of bins.
    n_classes : int
        Number of classes.
    alpha : float
        Probability with which the bounds may fail.
    """

    _summary = "marginal={marginal_error:.4g}, conditional={conditional_error:.4g}, expected={expected_error:.4g}"

    points_per_bin: int
    n_bins: int
    n_classes: int
    alpha: float

    @property
    def marginal_error(self) -> float:
        """Error of the vector of a new row, except with probability alpha over that row and the rows to calibrate on."""
        return self._deviation(self.alpha)

    @property
    def conditional_error(self) -> float:
        """Largest error of all vectors, except with probability alpha. It bounds canonical ECE in the L1 distance."""
        return self._deviation(self.alpha / self.n_bins)

    @property
    def expected_error(self) -> float:
        """Canonical ECE in the L1 distance on average over the rows to calibrate on, by the variance of the rates."""
        return min(FARTHEST, sqrt((self.n_classes - 1) / self.points_per_bin))

    def _deviation(self, alpha: float) -> float:
        n_classes = self.n_classes
        sets = n_classes * log(2.0) + log1p(-(2.0 ** (1 - n_classes)))  # the logarithm of 2^L - 2, which may overflow
        return min(FARTHEST, sqrt(2.0 * (sets - log(alpha)) / self.points_per_bin))

    def _statements(self) -> list[Statement]:
        sure = 1.0 - self.alpha
        return [
            ("L1 error at a new row (marginal)", self.marginal_error, sure),
            ("largest L1 error (conditional)", self.conditional_error, sure),
            ("canonical ECE, L1", self.expected_error, float("nan")),
        ]

    def _head(self) -> str:
        return f"{self.n_bins} bins of {self.n_classes} classes, {self.points_per_bin} rows each"


def canonical_binning_guarantee(
    points_per_bin: int, n_bins: int, *, n_classes: int, alpha: float = 0.1
) -> CanonicalGuarantee:
    r"""Bound the errors of `CanonicalBinning` before any data are seen.

    Errors are L1 distances between class rates, sums over the classes, from 0 to 2: twice the total variation, which
    `canonical_calibration_error` measures unless it is told ``distance="l1"``.

    Parameters
    ----------
    points_per_bin : int
        Rows that the vector of each bin is estimated from, m, at least 1. Projection binning of n rows into B bins has
        ``(n + 1) // B - 1`` inside each, at least.
    n_bins : int
        Number of bins, B, at least 1.
    n_classes : int
        Number of classes, L, at least 2.
    alpha : float, default=0.1
        Probability with which the bounds may fail, in (0, 1).

    Returns
    -------
    CanonicalGuarantee
        The bounds, each in [0, 2].

    Raises
    ------
    TypeError, ValueError
        If a parameter is not what it must be.

    Notes
    -----
    The largest error of all bins, and the mean over samples:

    .. math::

        \epsilon = \sqrt{\frac{2 \log((2^L - 2) B / \alpha)}{m}}, \qquad
        E \lVert \hat p - p \rVert_1 \le \sum_l \sqrt{\frac{p_l (1 - p_l)}{m}} \le \sqrt{\frac{L - 1}{m}} .

    Half the L1 distance is the largest of :math:`\hat p(A) - p(A)` over the 2^L - 2 sets A of classes that are neither empty
    nor everything; each is above :math:`\epsilon / 2` with probability :math:`\exp(-m \epsilon^2 / 2)` at most (Hoeffding).
    Some write 2^L for 2^L - 2. For two classes it is twice the error of one probability, as in `binning_guarantee`. It grows
    with the square root of the number of classes.

    References
    ----------
    Weissman, Ordentlich, Seroussi, Verdu, Weinberger, Inequalities for the L1 deviation of the empirical distribution, HP
    Laboratories 2003. Podkopaev, Ramdas, Distribution-free uncertainty quantification for classification under label shift,
    UAI 2021.

    Examples
    --------
    >>> from calibrant.calibrators import canonical_binning_guarantee
    >>> canonical_binning_guarantee(200, 27, n_classes=3)
    CanonicalGuarantee(marginal=0.2023, conditional=0.2718, expected=0.1)
    """
    return CanonicalGuarantee(
        whole("points_per_bin", points_per_bin, least=1, hint="Pass the rows of the smallest bin"),
        whole("n_bins", n_bins, least=1, hint="Pass the number of bins"),
        whole("n_classes", n_classes, least=2, hint="Pass the number of classes"),
        fraction("alpha", alpha, hint="0.1 lets the bound fail once in ten"),
    )
