"""Areas under ROC curves: how well a forecast tells classes apart, whatever its calibration."""

from __future__ import annotations

from typing import Unpack

import numpy.typing as npt

from calibrant._core.registry import declare
from calibrant._core.validation import DataOptions, as_problem
from calibrant.metrics.roc.area_estimates import (
    Measure,
    area_estimate,
    between_classes,
    hull_estimate,
    mean_area,
    pairs_estimate,
    under_curve,
    under_hull,
)
from calibrant.metrics.roc.points import each_class
from calibrant.notions import Notion


@declare(
    "metric",
    "roc-auc",
    symbol="AUC",
    source="Hanley and McNeil 1982",
    range=(0.0, 1.0),
    higher_is_better=True,
    estimate=area_estimate,
    also=("auc", "ovr-auc"),
    may_be_undefined=True,
)
def area_under_roc(
    y_true: npt.ArrayLike, y_prob: npt.ArrayLike, *, notion: str | Notion | None = None, **data: Unpack[DataOptions]
) -> float:
    """Area under the ROC curve (AUC), of several classes the mean of each against the rest, in [0, 1]; 1/2 tells nothing apart.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
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
    area_under_roc_hull : What is left when recalibration may pool scores.
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
    >>> from calibrant import area_under_roc
    >>> area_under_roc([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.8])
    0.75
    """
    return _value(under_curve, y_true, y_prob, notion, data)


@declare(
    "metric",
    "hull-auc",
    symbol="AUCH",
    source="Provost and Fawcett 2001; Berta et al. 2024",
    range=(0.5, 1.0),
    higher_is_better=True,
    estimate=hull_estimate,
    may_be_undefined=True,
)
def area_under_roc_hull(
    y_true: npt.ArrayLike, y_prob: npt.ArrayLike, *, notion: str | Notion | None = None, **data: Unpack[DataOptions]
) -> float:
    """Area under the convex hull of the ROC curve (AUCH), of several classes the mean of each against the rest, in [1/2, 1].

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
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
    area_under_roc : The area under the curve.

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
    >>> from calibrant import area_under_roc_hull
    >>> area_under_roc_hull([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.8])
    0.875
    """
    return _value(under_hull, y_true, y_prob, notion, data)


@declare(
    "metric",
    "hand-till",
    symbol="HT",
    source="Hand and Till 2001",
    range=(0.0, 1.0),
    higher_is_better=True,
    estimate=pairs_estimate,
    also=("ovo-auc",),
    may_be_undefined=True,
)
def hand_till_score(y_true: npt.ArrayLike, y_prob: npt.ArrayLike, **data: Unpack[DataOptions]) -> float:
    """Area under the ROC curve of each pair of classes, averaged (Hand and Till's M), in [0, 1]; 1/2 tells nothing apart.

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
        If a class never came: the mean is NaN. (scikit-learn leaves its pairs out.)

    See Also
    --------
    area_under_roc : Each class against the rest.
    volume_under_surface : All classes at once.

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
    >>> from calibrant import hand_till_score
    >>> P = [[0.6, 0.3, 0.1], [0.2, 0.7, 0.1], [0.3, 0.3, 0.4], [0.7, 0.2, 0.1]]
    >>> round(hand_till_score([0, 1, 2, 1], P), 3)
    0.75
    """
    return between_classes(as_problem(y_true, y_prob, **data)).value


def _value(
    measure: Measure, y_true: npt.ArrayLike, y_prob: npt.ArrayLike, notion: str | Notion | None, data: DataOptions
) -> float:
    problem = as_problem(y_true, y_prob, **data)
    return mean_area(problem, each_class(notion, problem), measure).value
