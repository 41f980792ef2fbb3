"""Receiver operating characteristic: points, hulls, surfaces and what lies under them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, Unpack

import numpy as np
from scipy.special import ndtri, stdtrit

from calibrant._core.arrays import ArrayLike, FloatArray, NDArray, score_of_logit
from calibrant._core.border import DataOptions, as_problem, refuse_rows
from calibrant._core.checks import warn
from calibrant._core.result import Record, Result, Table
from calibrant._core.rows import Approximate, BinaryProblem, IntArray, Problem, Weights, as_simplex, mean_of
from calibrant.binning.bins import ROUNDING, Ordered
from calibrant.binning.isotonic import block_starts
from calibrant.fit.isotonic import isotonic_fit_of
from calibrant.metrics.estimate import Estimate, Resampling
from calibrant.metrics.kinds import Own, YProb, YTrue
from calibrant.notions import Binary, Notion, NotionLike, as_notion, event_of

# Events and non-events in the order of their scores: what the points of a ROC curve and the areas are made of


@dataclass(frozen=True, eq=False)
class Ranked:
    """Weights of events and of non-events on each step of scores; the steps begin at the distinct scores ``first``.

    A step is one distinct score, or a block of them that are taken for equal.
    """

    ordered: Ordered
    first: IntArray

    @classmethod
    def of(cls, problem: BinaryProblem) -> Ranked:
        """Rank the rows of a problem that has rows: each distinct score is a step, of logits each logit."""
        ordered = Ordered.of(problem if problem.logit is None else replace(problem, score=problem.logit))
        return cls(ordered, np.arange(ordered.score.size))

    def pooled(self) -> Ranked:
        """Take the scores of each block of the isotonic fit for equal.

        The cumulative sum diagram of the outcomes is an affine image of the ROC curve, and the blocks are the pieces of its
        greatest convex minorant: the curve of what is pooled is the convex hull.
        """
        return Ranked(self.ordered, block_starts(self.ordered))

    @cached_property
    def events(self) -> FloatArray:
        """Weight of the events on each step."""
        return self._on_steps(self.ordered.outcome_sum)

    @cached_property
    def others(self) -> FloatArray:
        """Weight of the non-events on each step."""
        return self._on_steps(self.ordered.other_sum)

    @property
    def has_both(self) -> bool:
        """Whether there are events and non-events."""
        outcome = self.ordered.problem.outcome
        return bool(outcome.any() and not outcome.all())

    @cached_property
    def vertex(self) -> IntArray:
        """Number of the point of the ROC curve of distinct scores at which each step ends, from the highest score, and 0."""
        return np.append(0, (self.ordered.score.size - self.first)[::-1])

    @cached_property
    def false(self) -> FloatArray:
        """Share of the non-events above each threshold, from the highest; NaN without non-events."""
        return _shares(self.others)

    @cached_property
    def true(self) -> FloatArray:
        """Share of the events above each threshold, from the highest; NaN without events."""
        return _shares(self.events)

    @property
    def area(self) -> float:
        """Area under the points joined by lines; NaN without rows of both kinds."""
        return float(np.diff(self.false) @ (self.true[1:] + self.true[:-1])) / 2.0

    def placements(self) -> FloatArray:
        """Weight of the rows of the other kind that each row is on the right side of, equal steps by half, shape (n,)."""
        below = np.cumsum(self.others) - self.others / 2.0
        above = np.cumsum(self.events[::-1])[::-1] - self.events / 2.0
        ordered = self.ordered
        count = np.add.reduceat(ordered.count, self.first)
        placed = np.empty(ordered.order.size)
        occurred = ordered.problem.outcome[ordered.order]
        placed[ordered.order] = np.where(occurred, np.repeat(below, count), np.repeat(above, count))
        return placed

    def _on_steps(self, sums: FloatArray) -> FloatArray:
        return np.add.reduceat(sums, self.first)


def _shares(weight: FloatArray) -> FloatArray:
    """Return what lies above each threshold as a share: from exactly 0 to exactly 1, or NaN of nothing."""
    reached = np.append(0.0, np.cumsum(weight[::-1]))
    return reached / reached[-1] if reached[-1] > 0 else np.full(reached.size, np.nan)


# Points of the ROC curve of a problem, and its convex hull


COLUMNS = ("threshold", "fpr", "tpr")


@dataclass(frozen=True, eq=False)
class RocPanel(Record):
    """One problem of a notion: the points of its ROC curve, from the highest threshold to the lowest, shape (n_points,).

    Rows with a score from ``threshold`` on are called events: a part ``tpr`` of the events and a part ``fpr`` of the rows
    without event. The first threshold is infinite. ``vertex`` are the numbers of the points that span the convex hull.
    ``auc`` and ``hull_auc`` are the areas under the two. Rates of what never occurred are NaN, and so are the areas then.
    """

    name: str
    threshold: FloatArray
    fpr: FloatArray
    tpr: FloatArray
    vertex: IntArray
    auc: float
    hull_auc: float

    @property
    def tnr(self) -> FloatArray:
        """Part of the rows without event below the threshold, 1 - ``fpr``: the horizontal axis of the symmetric ROC curve."""
        return 1.0 - self.fpr

    @property
    def on_hull(self) -> NDArray[np.bool_]:
        """Whether each point is a vertex of the hull."""
        return np.isin(np.arange(self.threshold.size), self.vertex)


def roc_panel(problem: BinaryProblem, name: str = "") -> RocPanel:
    """Return the points of a valid problem; without rows, the one at which every curve begins."""
    if problem.size == 0:
        start = np.zeros(1)
        return RocPanel(name, np.full(1, np.inf), start, start, np.zeros(1, np.intp), np.nan, np.nan)
    ranked = Ranked.of(problem)
    hull, score = ranked.pooled(), ranked.ordered.score[::-1]
    return RocPanel(
        name=name,
        threshold=np.append(np.inf, score if problem.logit is None else score_of_logit(score)),
        fpr=ranked.false,
        tpr=ranked.true,
        vertex=hull.vertex,
        auc=ranked.area,
        hull_auc=hull.area,
    )


@dataclass(frozen=True, eq=False)
class RocHull(Result):
    """The convex hull of a ROC curve: its corners, from (0, 0) to (1, 1).

    Attributes
    ----------
    threshold : ndarray of shape (n_vertices,)
        Scores from which on rows are called events, from infinity down to the lowest score.
    fpr, tpr : ndarray of shape (n_vertices,)
        Part of the non-events, and of the events, that are called events.
    area : float
        Area under the hull, in [1/2, 1].
    """

    _table = Table("vertex", *COLUMNS)
    _summary = "vertices={threshold:n}, area={area:.4f}"

    threshold: FloatArray
    fpr: FloatArray
    tpr: FloatArray
    area: float

    @property
    def tnr(self) -> FloatArray:
        """One minus ``fpr``: the horizontal axis of the symmetric ROC curve."""
        return 1.0 - self.fpr


def roc_convex_hull(
    y_true: ArrayLike, y_prob: YProb = None, *, notion: NotionLike = None, **data: Unpack[DataOptions]
) -> RocHull:
    """Convex hull of the ROC curve: the best trade-offs of a forecast, if thresholds may be mixed at random.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    notion : str or Notion, optional
        What the event is; one that makes a single problem. By default ``"binary"``, of one or two columns. For a table of
        more classes for example ``OneVsRest(2)``, or ``"confidence"``: that the predicted class is the true one.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    RocHull
        A result with ``threshold``, ``fpr``, ``tpr``, ``area`` and ``to_frame()``.

    Raises
    ------
    ValueError
        If the notion makes several problems: `roc_curve` has a hull for each.

    Warns
    -----
    CalibrationWarning
        If there are no events, or nothing else: a rate and the area are NaN.

    See Also
    --------
    roc_curve : The curve and its hull, ready to plot.
    area_under_roc_hull_score : The area with its interval, over several classes.

    Notes
    -----
    The hull is the ROC curve of the isotonic fit on the same rows (Berta, Bach, Jordan 2024, Theorem 2.1), whose blocks are
    found in O(n log n). So isotonic regression changes which thresholds there are and no trade-off that is worth having.

    References
    ----------
    Provost, Fawcett, Robust classification for imprecise environments, Machine Learning 2001.
    Berta, Bach, Jordan, Classifier calibration with ROC-regularized isotonic regression, AISTATS 2024.

    Examples
    --------
    >>> from calibrant.metrics import roc_convex_hull
    >>> hull = roc_convex_hull([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.8])
    >>> hull
    RocHull(vertices=4, area=0.8750)
    >>> hull.tpr.tolist()
    [0.0, 0.5, 1.0, 1.0]
    """
    problem = as_problem(y_true, y_prob, all_rows="the hull of a ROC curve", **data)
    curve = "roc_curve, which has a hull for each class"
    hint = f"Pass notion=OneVsRest(0) for the first class, 'confidence' for the predicted one, or call {curve}"
    binary = event_of(problem, notion, hint)
    warn_of_one_kind([binary], "the hull of a ROC curve")
    points = roc_panel(binary)
    threshold, fpr, tpr = (getattr(points, name)[points.vertex] for name in COLUMNS)
    return RocHull(threshold, fpr, tpr, points.hull_auc)


def each_class(notion: NotionLike, problem: Problem) -> Notion:
    """Return the notion of that name; by default the event of two classes, and of more each class against the rest."""
    return as_notion(notion, problem, of_many="class-wise")


def warn_of_one_kind(problems: list[BinaryProblem], what: str) -> None:
    """Warn of problems whose rows are all events, or none."""
    alone = [p for p in problems if p.size and p.outcome.all() == p.outcome.any()]
    if not alone:
        return
    kind = "events alone" if alone[0].outcome[0] else "no event"
    name = f" in {alone[0].name!r}" if alone[0].name else ""
    more = f", and {len(alone) - 1} more such" if len(alone) > 1 else ""
    warn(
        f"{what} must have rows with and without the event; got {kind}{name}{more}, and the area is set to nan. "
        "Pass rows of both kinds."
    )


# An area under a ROC curve as a mean of placements, with what each row does to it


class Spread(NamedTuple):
    """A variance, and the degrees of freedom of its estimate."""

    variance: float
    freedom: float


@dataclass(frozen=True, eq=False)
class Area:
    """An area, the influence of each row on it, shape (n,), and the size of the smallest class.

    The squares of the influences add up to the variance, but for what is ``unseen``, that of classes of a single row. The
    ``parts`` are what the classes add to it, each estimated by itself. An undefined area is NaN.
    """

    value: float
    influence: FloatArray
    unseen: float = 0.0
    fewest: float = np.inf
    parts: tuple[Spread, ...] = ()

    @property
    def spread(self) -> Spread:
        """The variance, with the degrees of freedom of a sum of independent parts (Satterthwaite)."""
        variance = float(self.influence @ self.influence) + self.unseen
        total = sum(part.variance for part in self.parts)
        lost = sum(part.variance**2 / part.freedom for part in self.parts)
        return Spread(variance, total**2 / lost if lost > 0.0 else np.inf)


Measure = Callable[[BinaryProblem], Area]


def under_curve(problem: BinaryProblem) -> Area:
    """Area under the ROC curve of a problem that has rows."""
    return _area(Ranked.of(problem))


def under_hull(problem: BinaryProblem) -> Area:
    """Area under the convex hull of the ROC curve of a problem that has rows."""
    found = _area(Ranked.of(problem).pooled())
    # The hull lies above the diagonal, but for rounding.
    return replace(found, value=float(np.maximum(0.5, found.value)))


def _area(ranked: Ranked) -> Area:
    problem = ranked.ordered.problem
    if not ranked.has_both:
        return Area(ranked.area, np.zeros(problem.size))
    among = np.where(problem.outcome, ranked.others.sum(), ranked.events.sum())
    return of_placements(problem.weights, problem.outcome.astype(np.intp), ranked.placements() / among, 2)


def of_placements(weights: Weights, label: IntArray, placed: FloatArray, n_classes: int) -> Area:
    """Return the area of which the sum over classes of their mean placements is the double.

    A count of equal rows adds the root of it to an influence: their variances add up. A mean that is estimated from n rows has
    lost one of them (n / (n - 1)).
    """
    highest = 2.0 / n_classes  # of a placement: a part in each other class, of all pairs
    value, influence, unseen, fewest, parts = 0.0, np.zeros(label.size), 0.0, np.inf, []
    for k in range(n_classes):
        own = label == k
        held, values = weights.values[own], placed[own]
        variance = held if weights.are_counts else held**2
        total = float(held.sum())
        mean, rows = float(held @ values) / total, total**2 / float(variance.sum())
        value += mean / 2.0
        fewest = min(fewest, rows)
        if rows < 1.5:  # the largest variance of a mean between the ends
            part = max(0.0, mean * (highest - mean)) / rows
            unseen += part
        else:
            pull = np.sqrt(variance) / total * np.sqrt(rows / (rows - 1.0))
            influence[own] = pull * (values - mean)
            part = float(influence[own] @ influence[own])
        parts.append(Spread(part, max(1.0, rows - 1.0)))
    return Area(value, influence, unseen, fewest, tuple(parts))


# Areas under ROC curves of cells in place of scores, and between which limits those of the rows lie


AreaOfCells = Callable[[BinaryProblem], float]


def under_curve_of_cells(problem: BinaryProblem) -> float:
    """Return the area under the curve; pairs of one cell count by half, and may count fully or not at all.

    So the area of the rows is off by at most half the share of such pairs: sum of events * others over the cells, divided by
    twice the number of events times that of non-events.
    """
    cells, value = problem.cells, Ranked.of(problem).area
    open_ = float(cells.events @ cells.others) / 2.0
    pairs = float(cells.events.sum()) * float(cells.others.sum())
    return Approximate(value, value - open_ / pairs, value + open_ / pairs) if pairs else value


def under_hull_of_cells(problem: BinaryProblem) -> float:
    """Return the area under the hull, which the rows can only raise: to that of the best order within each cell, at most."""
    ranked = Ranked.of(problem)
    if not ranked.has_both:
        return float("nan")
    weight, events = problem.cells.in_best_order
    steps = isotonic_fit_of(events, weight)
    of_events = steps.rate * steps.weight
    others = steps.weight - of_events
    above = of_events.sum() - np.cumsum(of_events) + of_events / 2.0
    value = max(0.5, ranked.pooled().area)
    return Approximate(value, value, float(others @ above) / float(of_events.sum() * others.sum()))


# Areas under ROC curves: how well a forecast tells classes apart, whatever its calibration; with their intervals


# Over the problems of a notion


def mean_area(problem: Problem, notion: Notion, measure: Measure) -> Area:
    """Return the mean of an area over the problems of a notion, by their shares."""
    if (cells := problem.summed_parts(notion)) is not None:
        problem, *others = cells
        if others:
            refuse_rows(f"the interval of an area under notion {notion.name!r}")
        notion = Binary()
    simplex = as_simplex(problem)
    value, unseen, influence = 0.0, 0.0, np.zeros(simplex.size)
    undefined: list[BinaryProblem] = []
    parts: list[Spread] = []
    areas: list[Area] = []
    for part, binary in zip(notion.parts(simplex.prob), notion.split(problem), strict=True):
        if binary.size == 0:  # a class that is never predicted
            continue
        areas.append(one := measure(binary))
        value += binary.share * one.value
        influence[part.rows] += binary.share * one.influence
        unseen += binary.share**2 * one.unseen
        parts += [Spread(binary.share**2 * variance, freedom) for variance, freedom in one.parts]
        if np.isnan(one.value):
            undefined.append(binary)
    warn_of_one_kind(undefined, "an AUC")
    if areas:  # a mean lies between them, but for rounding
        values = [one.value for one in areas]
        value = float(np.clip(value, np.min(values), np.max(values)))
    return Area(value, influence, unseen, min((one.fewest for one in areas), default=np.inf), tuple(parts))


# Each pair of classes


def between_classes(problem: Problem) -> Area:
    """Return the mean over ordered pairs of classes of the area that the probability of the first makes of the two.

    All pairs of a class are seen in one sort: where each row weighs its part in its class, the placement among all the
    others is the sum of those among each.
    """
    if problem.classes.size == 2:
        return mean_area(problem, each_class(None, problem), under_curve)
    prob, label, n_classes = as_simplex(problem).prob, problem.code, problem.classes.size
    total = np.bincount(label, problem.weight, n_classes)
    if absent := problem.classes[total == 0].tolist():
        more = f", and {len(absent) - 1} more such" if len(absent) > 1 else ""
        warn(
            f"the mean AUC of pairs must have rows of every class; got none of class {absent[0]!r}{more}, and it is set to "
            "nan. Pass rows of all classes, or leave its column out."
        )
        return Area(np.nan, np.zeros(problem.size))
    mass, placed = problem.weight / total[label], np.zeros(problem.size)
    for k in range(n_classes):
        placed += Ranked.of(BinaryProblem(prob[:, k], label == k, Weights(mass))).placements()
    placed /= n_classes * (n_classes - 1.0)
    return of_placements(problem.weights, label, placed, n_classes)


# Intervals


def area_estimate(problem: Problem, resampling: Resampling, notion: NotionLike = None) -> Estimate:
    """Estimate the area under the ROC curve."""
    return _estimate(mean_area(problem, each_class(notion, problem), under_curve), resampling)


def hull_estimate(problem: Problem, resampling: Resampling, notion: NotionLike = None) -> Estimate:
    """Estimate the area under the convex hull."""
    words = each_class(notion, problem)
    hull = mean_area(problem, words, under_hull)
    if np.isnan(hull.value):
        return _estimate(hull, resampling)
    curve, above = _estimate(mean_area(problem, words, under_curve), resampling), _estimate(hull, resampling)
    return replace(above, lower=min(hull.value, max(0.5, curve.interval[0])))


def pairs_estimate(problem: Problem, resampling: Resampling) -> Estimate:
    """Estimate the mean area over pairs of classes."""
    return _estimate(between_classes(problem), resampling)


def _estimate(area: Area, resampling: Resampling) -> Estimate:
    value = area.value
    if np.isnan(value):
        return Estimate(value, value, value)
    share, (variance, freedom) = min(1.0, max(0.0, value)), area.spread
    binomial, z = share * (1.0 - share), float(-ndtri(resampling.level / 2.0))
    if binomial > ROUNDING and variance > 0.0:
        trials, z = binomial / variance, float(-stdtrit(freedom, resampling.level / 2.0))
    else:
        trials = area.fewest
    centre, reach = share + z**2 / (2.0 * trials), z * np.sqrt(binomial / trials + (z / (2.0 * trials)) ** 2)
    lower, upper = ((centre + side * reach) / (1.0 + z**2 / trials) for side in (-1.0, 1.0))
    return Estimate(value, min(float(lower), value), max(float(upper), value))


# The metrics


@Own(
    "roc-auc",
    "AUC",
    "Hanley and McNeil 1982",
    higher_is_better=True,
    estimator=area_estimate,
    of_cells=each_class,
    also=("auc", "auroc", "c-statistic", "ovr-auc"),
    may_be_undefined=True,
).declare
def area_under_roc(
    y_true: YTrue, y_prob: YProb = None, *, notion: NotionLike = None, **data: Unpack[DataOptions]
) -> float:
    """Area under the ROC curve (AUC), of several classes the mean of each against the rest, in [0, 1]; 1/2 is chance.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Predictions
        Class labels: integers, strings or booleans; or `predictions` that are read in batches, without ``y_prob``.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    notion : str or Notion, optional
        By default ``"binary"`` for two classes and ``"class-wise"`` for more; a mean by shares over the problems of others.
        Under ``"confidence"`` it says how well confidence tells right predictions from wrong ones.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    float
        Probability that an event has a higher score than another row, and half of that of equal scores. The same as
        ``sklearn.metrics.roc_auc_score``, of a table with ``multi_class="ovr"``.

    Warns
    -----
    CalibrationWarning
        If a problem has no events, or nothing else: the area is NaN.

    See Also
    --------
    hand_till_score : Each class against each other one.
    area_under_roc_hull_score : What is left when recalibration may pool scores.
    roc_curve : The curve itself.

    Notes
    -----
    It depends on the order of the scores alone, so that it says nothing of calibration, and no strictly increasing map changes
    it. Logits of one event are ranked as they are, those of several classes as probabilities: what rounds to 1 is tied.
    `assess` gives its interval, by the variance of DeLong et al.

    References
    ----------
    Hanley, McNeil, The meaning and use of the area under a receiver operating characteristic (ROC) curve, Radiology 1982.
    DeLong, DeLong, Clarke-Pearson, Comparing the areas under two or more correlated receiver operating characteristic curves,
    Biometrics 1988.

    Examples
    --------
    >>> from calibrant.metrics.roc import area_under_roc
    >>> area_under_roc([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.8])
    0.75
    """
    return _value(under_curve, under_curve_of_cells, y_true, y_prob, notion, data)


@Own(
    "hull-auc",
    "AUCH",
    "Provost and Fawcett 2001; Berta et al. 2024",
    range=(0.5, 1.0),
    higher_is_better=True,
    estimator=hull_estimate,
    of_cells=each_class,
    may_be_undefined=True,
    fits_noise=True,
).declare
def area_under_roc_hull_score(
    y_true: YTrue, y_prob: YProb = None, *, notion: NotionLike = None, **data: Unpack[DataOptions]
) -> float:
    """Area under the convex hull of the ROC curve (AUCH), of several classes the mean of each against the rest, in [1/2, 1].

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Predictions
        Class labels: integers, strings or booleans; or `predictions` that are read in batches, without ``y_prob``.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    notion : str or Notion, optional
        By default ``"binary"`` for two classes and ``"class-wise"`` for more; a mean by shares over the problems of others.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    float
        Never smaller than the area under the curve: the AUC of the isotonic fit on the same rows.

    Warns
    -----
    CalibrationWarning
        If a problem has no events, or nothing else: the area is NaN.

    See Also
    --------
    roc_convex_hull : The hull itself.
    roc_curve : The curve, with the area under it.

    Notes
    -----
    Isotonic regression keeps it on the rows that it is fitted to (Berta, Bach, Jordan 2024, Theorem 2.1). It is biased
    upwards, as a fit is that is judged on its own rows: scores that say nothing of the labels have more than 1/2. The upper
    end of the interval of `assess` takes nothing off for that, and the lower end is that of the area under the curve.

    References
    ----------
    Provost, Fawcett, Robust classification for imprecise environments, Machine Learning 2001.
    Berta, Bach, Jordan, Classifier calibration with ROC-regularized isotonic regression, AISTATS 2024.

    Examples
    --------
    >>> from calibrant.metrics import area_under_roc_hull_score
    >>> area_under_roc_hull_score([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.8])
    0.875
    """
    return _value(under_hull, under_hull_of_cells, y_true, y_prob, notion, data)


@Own(
    "hand-till",
    "HT",
    "Hand and Till 2001",
    higher_is_better=True,
    estimator=pairs_estimate,
    also=("ovo-auc",),
    may_be_undefined=True,
).declare
def hand_till_score(y_true: ArrayLike, y_prob: YProb = None, **data: Unpack[DataOptions]) -> float:
    """Area under the ROC curve of each pair of classes, averaged (Hand and Till's M), in [0, 1]; 1/2 is chance.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    float
        Mean over pairs i, j of the areas that the probability of i, and that of j, make of the rows of the two classes. The
        same as ``sklearn.metrics.roc_auc_score`` with ``multi_class="ovo"``, which takes no weights. Of one column, the area
        under its curve.

    Warns
    -----
    CalibrationWarning
        If a class never occurs: the mean is NaN. (scikit-learn leaves its pairs out.)

    See Also
    --------
    area_under_roc_hull_score : Each class against the rest, under the hull.
    volume_under_surface_score : All classes at once.

    Notes
    -----
    Unlike each class against the rest it does not depend on how frequent the classes are. All pairs of K classes take K sorts
    of the rows.

    References
    ----------
    Hand, Till, A simple generalisation of the area under the ROC curve for multiple class classification problems, Machine
    Learning 2001.

    Examples
    --------
    >>> from calibrant.metrics import hand_till_score
    >>> P = [[0.6, 0.3, 0.1], [0.2, 0.7, 0.1], [0.3, 0.3, 0.4], [0.7, 0.2, 0.1]]
    >>> round(hand_till_score([0, 1, 2, 1], P), 3)
    0.75
    """
    return between_classes(as_problem(y_true, y_prob, all_rows="the mean over pairs of classes", **data)).value


def _value(
    measure: Measure, of_cells: AreaOfCells, y_true: YTrue, y_prob: YProb, notion: NotionLike, data: DataOptions
) -> float:
    problem = as_problem(y_true, y_prob, **data)
    words = each_class(notion, problem)
    if (cells := problem.summed_parts(words)) is None:
        return mean_area(problem, words, measure).value
    found = [(part, of_cells(part)) for part in cells if part.size]
    warn_of_one_kind([part for part, area in found if np.isnan(area)], "an AUC")
    return mean_of([(part.share, area) for part, area in found])
