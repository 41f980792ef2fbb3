"""Reliability curves: mean probability against event rate, bin by bin, with intervals."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Unpack

import numpy as np
import numpy.typing as npt

from calibrant._core.links import FloatArray
from calibrant._core.parameters import choice, fraction
from calibrant._core.problem import Problem
from calibrant._core.result import DrawnResult, Picture, Record
from calibrant._core.table import Table, under
from calibrant._core.validation import DataOptions, as_problem
from calibrant._core.warnings import CalibrationWarning
from calibrant.binning import Binning, Bins, as_binning
from calibrant.curves.intervals import INTERVALS
from calibrant.notions import Notion, as_notion
from calibrant.sums import BinnedProblem, Predictions, cells_of

IntervalName = Literal["wilson", "clopper-pearson", "consistency"]


@dataclass(frozen=True, eq=False)
class ReliabilityPanel(Record):
    """One problem of a notion: its bins and the interval of each event rate (NaN where a bin is empty, or without one)."""

    name: str
    bins: Bins
    lower: FloatArray
    upper: FloatArray

    @property
    def mean_prob(self) -> float:
        """Mean probability over all rows; NaN without rows."""
        return _ratio(self.bins.score_sum.sum(), self.bins.weight.sum())

    @property
    def event_rate(self) -> float:
        """Event rate over all rows; NaN without rows."""
        return _ratio(self.bins.outcome_sum.sum(), self.bins.weight.sum())


@dataclass(frozen=True, eq=False)
class ReliabilityCurve(DrawnResult):
    """Reliability of a forecast under a notion: one panel a problem.

    Attributes
    ----------
    panels : tuple of ReliabilityPanel
        One for ``binary`` and ``confidence``, one a class for ``class-wise`` and ``top-label``.
    notion, binning : str
        Where the figures come from.
    level : float
        One minus the coverage of the intervals, a fraction.
    interval : {"wilson", "clopper-pearson", "consistency"} or None
        What ``lower`` and ``upper`` of the panels are: a confidence interval around the event rate, or, of ``consistency``, the
        event rates that would be no surprise if the forecast were calibrated, around the mean probability.
    of_predictions : bool
        Whether the event is that a predicted class is the true one, so that event rates are accuracies.
    """

    _table = Table(
        "bin",
        "panel=panels.name",
        *under("panels.bins", "left", "right", "count", "weight", "mean_prob", "event_rate"),
        *under("panels", "lower", "upper"),
    )
    _summary = "{notion}, {binning}, panels={panels:n}, bins={panels.bins:n}, rows={panels.bins.count:total}"
    _picture = Picture(
        "the reliability diagram",
        "reliability.plot_reliability",
        options="Those of `plot_reliability`: ``panels``, ``style``, ``markers``, ``axis``, ``below``, ``intervals``.",
    )

    panels: tuple[ReliabilityPanel, ...]
    notion: str
    binning: str
    level: float
    interval: IntervalName | None = "wilson"
    of_predictions: bool = False


def reliability_curve(
    y_true: npt.ArrayLike | Predictions,
    y_prob: npt.ArrayLike | None = None,
    *,
    notion: str | Notion | None = None,
    binning: int | Binning = 15,
    interval: IntervalName | None = "wilson",
    level: float = 0.05,
    **data: Unpack[DataOptions],
) -> ReliabilityCurve:
    """Mean probability and event rate of each bin, with intervals, ready to plot.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Predictions
        Class labels: integers, strings or booleans; or `predictions` that are read in batches, without ``y_prob``.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    notion : str or Notion, optional
        By default ``"binary"`` for two classes and ``"confidence"`` for more.
    binning : int or Binning, default=15
        How scores are cut; a number n means ``EqualWidth(n)``.
    interval : {"wilson", "clopper-pearson", "consistency"} or None, default="wilson"
        What stands around each point. ``"wilson"`` covers the true event rate of the bin as often as promised on average,
        ``"clopper-pearson"`` at least as often, always. ``"consistency"`` stands around the mean probability: the
        event rates that would be no surprise if the forecast were calibrated. None leaves it out.
    level : float, default=0.05
        One minus the coverage of the interval of each bin, a fraction in (0, 1).
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    ReliabilityCurve
        A result with ``panels``, ``to_frame()`` and ``plot()``.

    Notes
    -----
    Whole weights count as rows in the intervals: a weight of two is a row seen twice. Others are scaled to a mean of one.

    Consistency bars need no resampling: rows drawn anew from a bin, and their labels drawn from them, make a binomial number
    of events with the mean probability of the bin. Bröcker and Smith let the number of rows in a bin vary too; here it
    is that of the data. Each bar speaks of its own bin: of 15 bins of a calibrated forecast, one or two may miss
    their bars at 95 % (1 - 0.95^15 = 54 % of such diagrams show one).

    References
    ----------
    Wilson, Probable inference, the law of succession, and statistical inference, JASA 1927.
    Clopper, Pearson, The use of confidence or fiducial limits illustrated in the case of the binomial, Biometrika 1934.
    Bröcker, Smith, Increasing the reliability of reliability diagrams, Weather and Forecasting 2007.

    Examples
    --------
    >>> from calibrant import reliability_curve
    >>> reliability_curve([0, 1, 1, 1], [0.1, 0.4, 0.8, 0.9], binning=2)
    ReliabilityCurve(binary, EqualWidth(n_bins=2), panels=1, bins=2, rows=4)
    """
    problem = as_problem(y_true, y_prob, **data)
    return curve_of(problem, as_notion(notion, problem), as_binning(binning), level, interval)


def curve_of(
    problem: Problem, notion: Notion, binning: Binning, level: float, interval: IntervalName | None = "wilson"
) -> ReliabilityCurve:
    """Return the curve of a valid problem."""
    require_level(level)
    if interval is not None:
        choice("interval", interval, INTERVALS, also=" or None")
    return curve_of_sums(cells_of(problem, notion, binning), notion, binning, level, interval)


def curve_of_sums(
    problems: Sequence[BinnedProblem],
    notion: Notion,
    binning: Binning,
    level: float,
    interval: IntervalName | None = "wilson",
) -> ReliabilityCurve:
    """Return the curve of bins that were summed."""
    panels = []
    for one in problems:
        if interval is None:
            lower = upper = np.full(len(one.bins), np.nan)
        else:
            lower, upper = INTERVALS[interval](one.bins, one.weights.rows_per_weight, level)
        panels.append(ReliabilityPanel(one.name or notion.name, one.shown, lower, upper))
    return ReliabilityCurve(tuple(panels), notion.name, repr(binning), level, interval, notion.of_predictions)


def require_level(level: float) -> None:
    """Refuse a level that is no fraction."""
    fraction("level", level, hint="For 95 % intervals pass level=0.05")
    if float(level) > 0.5:
        warnings.warn(
            f"level is one minus the coverage; {level!r} makes {1 - float(level):.0%} intervals. For {float(level):.0%} "
            f"intervals pass level={1 - float(level):g}.",
            CalibrationWarning,
            stacklevel=3,
        )


def _ratio(a: Any, b: Any) -> float:
    return float(a / b) if b > 0 else float("nan")
