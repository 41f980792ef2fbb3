"""Paired difference of a metric between two forecasts of the same rows, with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt
from scipy import special

from calibrant._core.arrays import as_array, columns_of
from calibrant._core.labels import Named
from calibrant._core.parameters import number, refuse, require
from calibrant._core.problem import BinaryProblem, Problem
from calibrant._core.result import Result
from calibrant._core.table import Table
from calibrant._core.validation import DataOptions, as_problem
from calibrant.binning import Binning
from calibrant.metrics.kinds.metric import Function, Metric, as_metric
from calibrant.significance.null import require_resamples
from calibrant.sums.draws import Rng, as_rng


@dataclass(frozen=True, eq=False)
class PairedDifference(Result):
    """A metric of forecast A less that of forecast B on the same rows, and its interval.

    Attributes
    ----------
    metric : str
        Name of the metric.
    difference : float
        Metric of A less metric of B; of ``"debiased-ece"`` the difference of their squares, of a metric with an ideal value,
        such as a slope of 1, that of their distances from it.
    lower, upper : float
        Ends of the interval of the difference.
    standard_error : float
        Standard error of the difference.
    level : float
        One minus the coverage of the interval, a fraction.
    """

    _table = Table(None, "metric", "difference", "lower", "upper", "standard_error", "level")

    metric: str
    difference: float
    lower: float
    upper: float
    standard_error: float
    level: float

    def __repr__(self) -> str:
        return (
            f"PairedDifference({self.metric}: {self.difference:.6g}, "
            f"{1 - self.level:.0%} interval [{self.lower:.6g}, {self.upper:.6g}])"
        )


def paired_difference(
    y_true: npt.ArrayLike,
    prob_a: npt.ArrayLike,
    prob_b: npt.ArrayLike,
    *,
    y_true_b: npt.ArrayLike | None = None,
    metric: str | Function = "nll",
    binning: int | Binning | None = None,
    level: float = 0.05,
    n_resamples: int = 1000,
    rng: Rng = 0,
    **data: Unpack[DataOptions],
) -> PairedDifference:
    """Estimate by how much a metric differs between two forecasts of the same rows.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    prob_a, prob_b : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities of the two forecasts, of one shape; rows of a table sum to one. Columns of two data frames that have the
        same names are matched by them; ``labels`` are then of the columns of ``prob_a``.
    y_true_b : array-like of shape (n_samples,), optional
        Labels of forecast B where they differ from those of A, as where each probability is that of the forecast's own
        answer and the label is whether that answer was right. By default ``y_true``.
    metric : str or callable, default="nll"
        A registered metric, or a function of (y_true, y_prob).
    binning : int or Binning, optional
        How scores are cut, for a registered metric with bins. By default as the metric does, mostly ``EqualWidth(15)``.
    level : float, default=0.05
        One minus the coverage of the interval, a fraction in (0, 1).
    n_resamples : int, default=1000
        Bootstrap samples of rows, where the metric is no mean over rows.
    rng : numpy.random.Generator, int or None, default=0
        Source of randomness. The default makes two calls on the same data agree.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``input`` and others: see `DataOptions`.

    Returns
    -------
    PairedDifference
        A result with ``difference``, ``lower``, ``upper`` and ``standard_error``.

    Notes
    -----
    Of a mean over rows, such as ``"nll"``, the interval is Student's for the differences of rows; of ``"debiased-ece"`` it is
    normal for the difference of the squared errors, with the standard error of the jackknife; of any other metric it is normal
    with the standard error of the bootstrap, in which both forecasts of a row move together. A plug-in error such as
    ``"ece"`` is biased upwards, more so where the forecast is calibrated: its interval is for the expected difference on as
    many new rows. docs/testing.md has how often the intervals cover.

    Whole weights are numbers of equal rows, which are drawn one by one; with other weights a row is drawn with its weight.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.significance import paired_difference
    >>> rng = np.random.default_rng(0)
    >>> p = rng.random(1000)
    >>> y = rng.random(1000) < p
    >>> found = paired_difference(y, p, p**2)
    >>> found.lower < found.difference < found.upper < 0
    True
    """
    require_resamples(n_resamples)
    measured, (a, b) = as_metric(metric, binning), pair_of(y_true, prob_a, prob_b, y_true_b, data)
    for name, problem in (("prob_a", a), ("prob_b", b)):
        measured.warn_impossible(problem, name)
    return difference_of(measured, a, b, as_level(level), n_resamples, as_rng(rng))


def as_level(level: float) -> float:
    """Return one minus the coverage of an interval, if it is a fraction."""
    return float(number("level", level, above=0.0, below=1.0, hint="For a 95 % interval pass level=0.05"))


def pair_of(
    y_true: npt.ArrayLike,
    prob_a: npt.ArrayLike,
    prob_b: npt.ArrayLike,
    y_true_b: npt.ArrayLike | None,
    data: DataOptions,
) -> tuple[Problem, Problem]:
    """Return two forecasts of the same rows, each with its labels; columns of the same names are matched by them."""
    a = as_problem(y_true, prob_a, named=Named(forecast="prob_a"), **data)
    prob_b, names = _in_order_of(prob_a, prob_b)
    truth, named = (y_true, Named(forecast="prob_b")) if y_true_b is None else (y_true_b, Named("y_true_b", "prob_b"))
    b = as_problem(truth, prob_b, column_names=names, named=named, **data)
    shapes = [problem.score.shape if isinstance(problem, BinaryProblem) else problem.prob.shape for problem in (a, b)]
    require(
        shapes[0] == shapes[1],
        "prob_a and prob_b must have one shape",
        got=f"{shapes[0]} and {shapes[1]}",
        hint="Compare forecasts of the same rows and classes",
    )
    classes, others = a.classes.tolist(), b.classes.tolist()
    if set(classes) == set(others) and classes != others:
        refuse(
            "the columns of prob_a and prob_b must be of the classes in one order",
            got=f"{classes} and {others}",
            hint=f"Bring the columns of both in the order {classes}, and pass labels={classes}",
        )
    if classes != others:
        refuse(
            "y_true and y_true_b must speak of the same classes",
            got=f"{classes} and {others}",
            hint="Write both with the same labels, and where one of them lacks a class, pass labels= in column order",
        )
    return a, b


def _in_order_of(prob_a: npt.ArrayLike, prob_b: npt.ArrayLike) -> tuple[npt.ArrayLike, Sequence[Any] | None]:
    """Return the columns of B and their names, in the order of A where both are tables with columns of the same names."""
    names, others = columns_of(prob_a), columns_of(prob_b)
    if names is None or others is None or len(names) != len(others) or set(names) != set(others):
        return prob_b, others
    return as_array("prob_b", prob_b)[:, [others.index(name) for name in names]], names


def difference_of(
    metric: Metric, a: Problem, b: Problem, level: float, n_resamples: int, rng: np.random.Generator
) -> PairedDifference:
    """Return the difference of a metric of valid problems of the same rows, in their order."""
    require(
        a.size >= 2 or a.weights.effective_rows >= 2.0,
        "y_true must hold at least two rows with a weight for an interval",
        got="1",
        hint="Pass more rows: one does not say how much the difference varies",
    )
    found, upper = metric.difference(a, b, n_resamples, rng), 1.0 - level / 2.0
    far = special.ndtri(upper) if found.rows is None else special.stdtrit(max(found.rows - 1.0, 1.0), upper)
    difference, reach = found.value, float(far) * found.error
    return PairedDifference(metric.name, difference, difference - reach, difference + reach, found.error, level)
