"""Areas under ROC curves: how well a forecast tells classes apart, whatever its calibration; with their intervals.

The interval is Wilson's, of as many trials as make a share of this size equally variable, so that it stays within [0, 1], with
Student's quantile (Satterthwaite 1946). Where no placement varies, as of classes that are told apart without a mistake, the
trials are the rows of the smallest class: no area has a larger variance than that (Birnbaum and Klose 1957).

The area under the convex hull is that of the pooled scores, and its blocks are those of the largest area: to the first order
they may be taken as given. It is biased upwards, so its interval begins where that of the area under the curve does,
which is never larger.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Unpack

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri, stdtrit

from calibrant._core.problem import BinaryProblem, Problem, as_simplex
from calibrant._core.validation import DataOptions, as_problem
from calibrant._core.warnings import warn
from calibrant._core.weights import Weights
from calibrant.metrics.kinds.metric import Own
from calibrant.metrics.roc.of_cells import (
    AreaOfCells,
    mean_of_cells,
    single_of,
    under_curve_of_cells,
    under_hull_of_cells,
)
from calibrant.metrics.roc.placements import (
    Area,
    Measure,
    Spread,
    of_placements,
    under_curve,
    under_hull,
)
from calibrant.metrics.roc.points import each_class, warn_of_one_kind
from calibrant.metrics.roc.ranked import Ranked
from calibrant.metrics.uncertainty.estimate import Estimate, Resampling
from calibrant.notions import Binary, Notion
from calibrant.sums import Predictions
from calibrant.sums.unread import require_rows

# Over the problems of a notion


def mean_area(problem: Problem, notion: Notion, measure: Measure) -> Area:
    """Return the mean of an area over the problems of a notion, by their shares."""
    if (cells := problem.summed_parts(notion)) is not None:
        problem, notion = single_of(list(cells), notion), Binary()
    simplex = as_simplex(problem)
    value, influence, unseen, fewest = 0.0, np.zeros(simplex.size), 0.0, np.inf
    undefined: list[BinaryProblem] = []
    parts: list[Spread] = []
    values: list[float] = []
    for part, binary in zip(notion.parts(simplex.prob), notion.split(problem), strict=True):
        if binary.size == 0:  # a class that is never predicted
            continue
        one = measure(binary)
        value += binary.share * one.value
        values.append(one.value)
        influence[part.rows] += binary.share * one.influence
        unseen += binary.share**2 * one.unseen
        fewest = min(fewest, one.fewest)
        parts += [Spread(binary.share**2 * variance, freedom) for variance, freedom in one.parts]
        if np.isnan(one.value):
            undefined.append(binary)
    warn_of_one_kind(undefined, "an AUC")
    if values:  # a mean lies between them, but for rounding
        value = float(np.clip(value, np.min(values), np.max(values)))
    return Area(value, influence, unseen, fewest, tuple(parts))


# Each pair of classes


def between_classes(problem: Problem) -> Area:
    """Return the mean over ordered pairs of classes of the area that the probability of the first makes of the two.

    All pairs of a class are seen in one sort: where each row weighs its part in its class, the placement among all the
    others is the sum of those among each.
    """
    if isinstance(problem, BinaryProblem) or problem.classes.size == 2:
        return mean_area(problem, each_class(None, problem), under_curve)
    n_classes, label = problem.prob.shape[1], problem.label
    total = np.bincount(label, problem.weight, n_classes)
    if not total.all():
        _warn_of_absent(problem.classes[total == 0])
        return Area(np.nan, np.zeros(problem.size))
    mass, placed = problem.weight / total[label], np.zeros(problem.size)
    for k in range(n_classes):
        placed += Ranked.of(BinaryProblem(problem.prob[:, k], label == k, Weights(mass))).placements()
    placed /= n_classes * (n_classes - 1.0)
    return of_placements(problem.weights, label, placed, n_classes)


def _warn_of_absent(classes: npt.NDArray[np.generic]) -> None:
    more = f", and {len(classes) - 1} more such" if len(classes) > 1 else ""
    first = classes.tolist()[0]
    warn(
        f"the mean AUC of pairs must have rows of every class; got none of class {first!r}{more}, and it is set to nan. "
        "Pass rows of all classes, or leave its column out."
    )


# Intervals


def area_estimate(problem: Problem, resampling: Resampling, notion: str | Notion | None = None) -> Estimate:
    """Estimate the area under the ROC curve."""
    return _estimate(mean_area(problem, each_class(notion, problem), under_curve), resampling)


def hull_estimate(problem: Problem, resampling: Resampling, notion: str | Notion | None = None) -> Estimate:
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
    if min(binomial, variance) > 0.0:
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
    also=("auc", "ovr-auc"),
    may_be_undefined=True,
).declare
def area_under_roc(
    y_true: npt.ArrayLike | Predictions,
    y_prob: npt.ArrayLike | None = None,
    *,
    notion: str | Notion | None = None,
    **data: Unpack[DataOptions],
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
    it. `assess` gives its interval, by the variance of DeLong et al.

    References
    ----------
    Hanley, McNeil, The meaning and use of the area under a receiver operating characteristic (ROC) curve, Radiology 1982.
    DeLong, DeLong, Clarke-Pearson, Comparing the areas under two or more correlated receiver operating characteristic curves,
    Biometrics 1988.

    Examples
    --------
    >>> from calibrant.metrics.roc.areas import area_under_roc
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
).declare
def area_under_roc_hull_score(
    y_true: npt.ArrayLike | Predictions,
    y_prob: npt.ArrayLike | None = None,
    *,
    notion: str | Notion | None = None,
    **data: Unpack[DataOptions],
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
def hand_till_score(y_true: npt.ArrayLike, y_prob: npt.ArrayLike | None = None, **data: Unpack[DataOptions]) -> float:
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
    return between_classes(require_rows(as_problem(y_true, y_prob, **data), "the mean over pairs of classes")).value


def _value(
    measure: Measure,
    of_cells: AreaOfCells,
    y_true: npt.ArrayLike | Predictions,
    y_prob: npt.ArrayLike | None,
    notion: str | Notion | None,
    data: DataOptions,
) -> float:
    problem = as_problem(y_true, y_prob, **data)
    words = each_class(notion, problem)
    if (cells := problem.summed_parts(words)) is not None:
        return mean_of_cells(list(cells), of_cells)
    return mean_area(problem, words, measure).value
