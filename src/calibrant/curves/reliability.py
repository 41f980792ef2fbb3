"""Reliability curves: mean probability against event rate, bin by bin, with intervals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, Unpack

import numpy as np
from scipy.special import ndtri

from calibrant import drawing
from calibrant._core import checks
from calibrant._core import rows as _rows
from calibrant._core.arrays import ArrayLike, FloatArray, log_prob_of_prob, ratio
from calibrant._core.border import DataOptions, as_problem, as_problems
from calibrant._core.result import DrawnResult, Picture, Record, Table, under
from calibrant._core.rows import Problem
from calibrant.binning import Binning, Bins, as_binning
from calibrant.curves.simplex import require_map
from calibrant.metrics.bin_losses import accepted
from calibrant.notions import Binary, Notion, as_notion
from calibrant.sums import BinTable, Predictions, cells_of
from calibrant.sums.reading import is_unread

# Intervals of the event rate of each bin, by name. Whole weights count as rows


IntervalName = Literal["wilson", "clopper-pearson", "consistency"]
INTERVALS: tuple[IntervalName, ...] = ("wilson", "clopper-pearson", "consistency")


def interval_of(
    interval: IntervalName | None, bins: Bins, each: FloatArray, level: float
) -> tuple[FloatArray, FloatArray]:
    """Return the interval of the event rate of each bin, where a weight of one is ``each`` rows; NaN where a bin is empty."""
    events, n = bins.outcome_sum * each, bins.weight * each
    if interval == "consistency":
        return consistency_interval(bins.mean_prob, n, level)
    if interval == "clopper-pearson":
        return accepted("clopper-pearson", events, n, level)
    return wilson_interval(events, n, level) if interval else (np.full(n.shape, np.nan), np.full(n.shape, np.nan))


def wilson_interval(events: FloatArray, n: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
    """Wilson score interval of each proportion events / n; NaN where n is zero."""
    z = -ndtri(level / 2.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        rate = events / n
        centre = (rate + z**2 / (2.0 * n)) / (1.0 + z**2 / n)
        reach = z / (1.0 + z**2 / n) * np.sqrt(rate * (1.0 - rate) / n + z**2 / (4.0 * n**2))
    # The exact bounds at no event and at nothing but events are 0 and 1; rounding would leave 1e-17.
    return np.where(events == 0, 0.0 * rate, centre - reach), np.where(events == n, 1.0 + 0.0 * rate, centre + reach)


def consistency_interval(mean_prob: FloatArray, n: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
    """Quantiles of the event rate among n calibrated rows, widened to hold the mean probability; NaN where n is zero.

    Rows drawn anew from a bin, and labels drawn from these, make events that are binomial with the bin's mean probability, so
    that nothing has to be drawn: the quantiles are exact. Given the scores themselves the events vary less (Hoeffding 1956).
    """
    from scipy.stats import binom  # slow to load, and seldom asked for

    held, ends = n > 0, np.full((2, *n.shape), np.nan)
    rows, centre = np.maximum(np.round(n[held]), 1.0), np.clip(mean_prob[held], 0.0, 1.0)
    ends[0, held] = np.minimum(binom.ppf(level / 2.0, rows, centre) / rows, centre)
    ends[1, held] = np.maximum(binom.ppf(1.0 - level / 2.0, rows, centre) / rows, centre)
    return ends[0], ends[1]


@dataclass(frozen=True, eq=False)
class ReliabilityPanel(Record):
    """One problem of a notion: its bins and the interval of each event rate (NaN where a bin is empty, or without one).

    A weight of one is ``rows_per_weight`` rows on average, and in each bin as much evidence as ``each`` of them.
    """

    name: str
    bins: Bins
    lower: FloatArray
    upper: FloatArray
    rows_per_weight: float
    each: FloatArray

    @property
    def mean_prob(self) -> float:
        """Mean probability over all rows; NaN without rows."""
        return float(ratio(self.bins.score_sum.sum(), self.bins.weight.sum()))

    @property
    def event_rate(self) -> float:
        """Event rate over all rows; NaN without rows."""
        return float(ratio(self.bins.outcome_sum.sum(), self.bins.weight.sum()))


OF_CURVE = {"notion", "binning", "level", "interval"}
"""Keywords of a curve, beside those of its data."""

OPTIONS = ("panels", "style", "markers", "axis", "below", "intervals", "centres")
"""What `plot_reliability` takes."""


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
    _picture = Picture("the reliability diagram", "curves.reliability.plot_reliability", takes=OPTIONS)

    panels: tuple[ReliabilityPanel, ...]
    notion: str
    binning: str
    level: float
    interval: IntervalName | None = "wilson"
    of_predictions: bool = False


def reliability_curve(
    y_true: ArrayLike | Predictions,
    y_prob: ArrayLike | None = None,
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
        By default ``"binary"`` for two classes and ``"confidence"`` for more. ``"class-wise"`` has a panel a class, and
        ``"flattened"`` one that pools the bins of all classes.
    binning : int or Binning, default=15
        How scores are cut; a number n means ``EqualWidth(n)``.
    interval : {"wilson", "clopper-pearson", "consistency"} or None, default="wilson"
        What stands around each point. ``"wilson"`` covers the true event rate of the bin as often as promised on average,
        ``"clopper-pearson"`` at least as often, if weights are whole or none. ``"consistency"`` stands around the mean
        probability: the event rates that would be no surprise if the forecast were calibrated. None leaves it out.
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
    Whole weights count as rows in the intervals: a weight of two is a row seen twice. With others a bin has as much evidence
    as (sum w)^2 / sum w^2 rows (Kish); of predictions that are read in batches they are scaled to a mean of one.

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
    return curve_of(as_problem(y_true, y_prob, **data), notion, binning, level, interval)


def curve_of(
    problem: Problem,
    notion: str | Notion | None = None,
    binning: int | Binning = 15,
    level: float = 0.05,
    interval: IntervalName | None = "wilson",
) -> ReliabilityCurve:
    """Return the curve of a valid problem."""
    notion, binning = as_notion(notion, problem), as_binning(binning)
    require_level(level)
    if interval is not None:
        checks.choice("interval", interval, INTERVALS, also=" or None")
    return curve_of_sums(cells_of(problem, notion, binning), notion, binning, level, problem, interval)


def curve_of_sums(
    table: BinTable,
    notion: Notion,
    binning: Binning,
    level: float,
    problem: Problem,
    interval: IntervalName | None = "wilson",
) -> ReliabilityCurve:
    """Return the curve of the bins of a problem that were summed."""
    usual, each = table.weights.rows_per_weight, _rows_per_weight(table, notion, problem)
    lower, upper = interval_of(interval, table.bins, each, level)
    parts = [np.split(one, table.starts[1:-1]) for one in (lower, upper, each)]
    named = zip(table.shown, *parts, strict=True)
    panels = [ReliabilityPanel(one.name or notion.name, one.bins, low, up, usual, of) for one, low, up, of in named]
    return ReliabilityCurve(tuple(panels), notion.name, repr(binning), level, interval, notion.of_predictions)


def _rows_per_weight(table: BinTable, notion: Notion, problem: Problem) -> FloatArray:
    """Return how many rows a weight of one is worth in each bin: (sum w)^2 / sum w^2 where weights are fractions (Kish)."""
    each = np.full(table.bins.weight.size, table.weights.rows_per_weight)
    if is_unread(problem) or problem.weights.are_counts:
        return each
    sizes, parts = np.diff(table.starts), notion.split(problem)
    of_parts = zip(table.partitions, parts, sizes, strict=True)
    squares = [np.bincount(cut.index(one.score), one.weight**2, size) for cut, one, size in of_parts]
    return ratio(table.bins.weight, np.concatenate(squares), otherwise=float(each[0]))


def require_level(level: float) -> None:
    """Refuse a level that is no fraction."""
    if (given := checks.as_level(level)) > 0.5:
        made = f"{level!r} makes {1 - given:.0%} intervals"
        checks.warn(f"level is one minus the coverage; {made}. For {given:.0%} intervals pass level={1 - given:g}.")


# What stands for a bin in a reliability diagram


Style = Literal["lines", "points", "bars"]
Markers = Literal["equal", "area", "counts"]

MOST_AREA = 180.0
LEAST_AREA = 10.0
"""Areas of the largest and the smallest marker, in square points."""


FEW, PALE = 30, 0.3
"""Rows below which a bin is drawn pale, and how pale: its event rate is mostly noise."""

ENOUGH = "bins of enough rows"
"""What the line between other bins is called in the figure."""


def draw_points(
    ax: Any,
    panel: Any,
    name: str,
    number: int,
    markers: Markers = "equal",
    log_odds: bool = False,
    joined: bool = False,
) -> None:
    """Draw the bins of a forecast as points, joined or not; with areas, those of few rows pale."""
    held, colour, marker = panel.bins.count > 0, drawing.colour(number), drawing.marker(number)
    x, y, count = panel.bins.mean_prob[held], panel.bins.event_rate[held], panel.bins.count[held]
    if log_odds:  # no line leads to a point that is infinitely far away
        y = np.ma.masked_where((y == 0) | (y == 1), y)
    sized = markers == "area" and count.size > 0
    enough = count >= FEW if sized else np.ones(count.size, dtype=bool)
    shape = {"marker": "" if sized else marker, "linestyle": "-" if joined else "", "markersize": 5, "zorder": 3}
    look = {"color": colour, "linewidth": 1.5}
    ax.plot(x, y, label="" if sized else name, alpha=None if enough.all() else PALE, **look, **shape)
    if not enough.all():
        ax.plot(x, np.ma.masked_where(~enough, y), gid=ENOUGH, **look, **shape)
    if sized:
        ax.plot([], [], label=name, gid=ENOUGH, **look, **(shape | {"marker": marker}))  # what the legend shows
        area = np.maximum(MOST_AREA * count / count.max(), LEAST_AREA)
        dots = {"color": colour, "marker": marker, "linewidths": 0, "zorder": 3.1}
        # A large marker on the edge is seen whole; log-odds have points far outside.
        ax.scatter(x, y, area, clip_on=log_odds, alpha=np.where(enough, 0.75, PALE), **dots)
    if markers == "counts":
        _write_counts(ax, panel.bins, colour)


def _bars(ax: Any, panel: ReliabilityPanel, name: str, number: int, markers: Markers, log_odds: bool) -> None:
    bins, held = panel.bins, panel.bins.count > 0
    place = {"x": bins.edges[:-1][held], "width": np.diff(bins.edges)[held], "align": "edge"}
    ax.bar(height=bins.event_rate[held], color=drawing.FILL, edgecolor="white", label=name, zorder=1.1, **place)
    paint = {"facecolor": "none", "edgecolor": drawing.GAP, "hatch": "//", "linewidth": 0.8}
    label = "gap to mean probability"
    ax.bar(height=bins.gap[held], bottom=bins.mean_prob[held], label=label, zorder=1.2, **paint, **place)
    draw_points(ax, panel, "", number, markers, log_odds)


STYLES: Mapping[str, Callable[..., None]] = {
    "lines": partial(draw_points, joined=True),
    "points": draw_points,
    "bars": _bars,
}


def _write_counts(ax: Any, bins: Bins, colour: str) -> None:
    """Write the rows of each bin beside its point, away from the diagonal."""
    for x, y, count, gap in zip(bins.mean_prob, bins.event_rate, bins.count, bins.gap, strict=True):
        if count > 0:
            right, up = x < 0.12 or (x <= 0.88 and gap <= 0), y < 0.05 or (y <= 0.95 and gap > 0)
            side = {"ha": "left" if right else "right", "va": "bottom" if up else "top"}
            place = {"xytext": (5 if right else -5, 3 if up else -3), "textcoords": "offset points", **side}
            drawing.outline(ax.annotate(f"{count:,}", (x, y), fontsize="x-small", color=colour, zorder=4, **place))


def draw_intervals(
    ax: Any, panel: ReliabilityPanel, curve: ReliabilityCurve, number: int, *, single: bool, last: bool = True
) -> None:
    """Draw the interval of each bin, thin for a confidence interval, broad and pale for a consistency interval.

    The legend names it once, after the last of several forecasts.
    """
    held, look = panel.bins.count > 0, {"color": drawing.colour(number)}
    ends = panel.bins.mean_prob[held], panel.lower[held], panel.upper[held]
    if curve.interval == "consistency":
        look = {"color": drawing.IDEAL, "label": f"{1 - curve.level:.0%} if calibrated"} if single else look
        ax.vlines(*ends, linewidth=5, alpha=0.4, zorder=1.4, **look)
    elif curve.interval is not None:
        label = f"{1 - curve.level:.0%} interval" if last else None
        alpha = np.where(panel.bins.count[held] >= FEW, 0.55, PALE) if held.any() else None
        ax.vlines(*ends, linewidth=1.2, alpha=alpha, label=label, zorder=2, **look)


def _draw_expected(ax: Any, panel: ReliabilityPanel, level: float) -> None:
    """Draw the event rates that would be no surprise in the bins of a calibrated forecast."""
    held = panel.bins.count > 0
    if held.any():
        low, high = interval_of("consistency", panel.bins, panel.each, level)
        look = {"color": drawing.IDEAL, "linewidth": 5, "alpha": 0.25, "zorder": 1.4}
        ax.vlines(panel.bins.mean_prob[held], low[held], high[held], label=f"{1 - level:.0%} if calibrated", **look)


def draw_edges(ax: Any, panel: Any, number: int) -> None:
    """Mark on the lower and the upper edge the bins whose event rate has no log-odds."""
    low, high = ax.get_xlim()
    shown = (panel.bins.mean_prob >= low) & (panel.bins.mean_prob <= high)
    for height, rate, marker in ((0.0, 0.0, "v"), (1.0, 1.0, "^")):
        at = panel.bins.mean_prob[shown & (panel.bins.event_rate == rate)]
        look = {"color": drawing.colour(number), "markerfacecolor": "white", "clip_on": False, "zorder": 5}
        if at.size:  # the layout makes room even for a line without points
            ax.plot(at, np.full(at.shape, height), marker, transform=ax.get_xaxis_transform(), **look)


def _draw_centres(ax: Any, bins: Bins, number: int, words: str, log_odds: bool) -> None:
    """Mark the centre of each bin, and how far off its mean probability is."""
    shown = (bins.count > 0) & ((bins.event_rate % 1.0 > 0.0) | (not log_odds))
    centre, look = (bins.edges[1:] + bins.edges[:-1]) / 2.0, drawing.colour(number)
    x, y = centre[shown], bins.event_rate[shown]
    ax.hlines(y, bins.mean_prob[shown], x, color=look, linewidth=1.2, zorder=3.2)
    ax.plot(x, y, "D", markersize=5, color=look, markerfacecolor="white", label=words, zorder=3.3)


# The reliability diagram


Axis = Literal["probability", "log-odds"]

OF_CONFIDENCE = ("confidence", "top-label")
"""Notions whose probabilities are those of predicted classes."""


def plot_reliability(
    curves: ReliabilityCurve | Mapping[str, ReliabilityCurve] | Any,
    y_prob: ArrayLike | Mapping[str, ArrayLike] | None = None,
    *,
    ax: Any = None,
    panels: Sequence[str] | None = None,
    style: Style = "lines",
    markers: Markers = "area",
    axis: Axis = "probability",
    below: Literal["counts"] | None = "counts",
    intervals: bool = True,
    centres: bool = False,
    **data: Any,
) -> Any:
    """Draw reliability curves: mean probability against event rate, with counts below.

    Parameters
    ----------
    curves : ReliabilityCurve, dict of name to ReliabilityCurve, or array-like of shape (n_samples,)
        One forecast, or several over each other. Several must have the same panels. With ``y_prob`` it is the class labels.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes), or dict of them, optional
        Probabilities; several forecasts of the same rows by their names. `reliability_curve` makes the curves.
    ax : matplotlib Axes, optional
        Where to draw a single panel; a new figure by default, with a panel for each problem of the notion.
    panels : sequence of str, optional
        Names of the panels to draw, such as ``"class 3"``; by default all, up to 40.
    style : {"lines", "points", "bars"}, default="lines"
        Points joined by lines, points alone, or a bar a bin as high as its event rate with the gap to its mean
        probability marked. Bars show one forecast.
    markers : {"area", "equal", "counts"}, default="area"
        With an area that follows the number of rows, all alike, or with that number beside. With areas, bins of fewer than 30
        rows are pale, and the line to them: their event rates are mostly noise.
    axis : {"probability", "log-odds"}, default="probability"
        Scale of both axes. Log-odds spread rare events out; a triangle on the edge is an event rate of 0 or 1.
    below : {"counts"} or None, default="counts"
        What stands below the diagram: the number of rows in each bin.
    intervals : bool, default=True
        Draw the interval that the curve holds, a vertical bar: thin, around event rates; of consistency broad and pale,
        around the diagonal, which one forecast has in any case. The legend has its coverage.
    centres : bool, default=False
        Mark the centre of each bin beside its mean probability. Older diagrams put the point there: up to half a bin away.
    **data : optional
        With ``y_prob``: what `reliability_curve` takes, such as ``notion``, ``binning`` and ``sample_weight``.

    Returns
    -------
    matplotlib Axes, or ndarray of Axes for several panels
        What was drawn on.

    Raises
    ------
    ValueError
        If there is no curve, if panels differ or are unknown or too many, if ``ax`` is given for several, or if a word is
        none of those above.

    Examples
    --------
    >>> from calibrant import load_digits_forecast, plot_reliability
    >>> ax = plot_reliability(*load_digits_forecast())
    """
    given: Any = curves
    if y_prob is not None:
        own = {name: data.pop(name) for name in OF_CURVE & data.keys()}
        given = {
            name: curve_of(problem, **own) for name, problem in as_problems(curves, y_prob, data, unnamed="").items()
        }
    elif data:
        must = "keywords must be those of plot_reliability where it draws curves"
        checks.refuse(must, got=", ".join(data), hint="Pass them to reliability_curve", error=TypeError)
    named = drawing.as_named(given, "curves", "reliability_curve(y_true, y_prob)", ReliabilityCurve)
    checks.choice("style", style, STYLES)
    checks.choice("markers", markers, ("equal", "area", "counts"))
    checks.choice("axis", axis, ("probability", "log-odds"))
    if below is not None:
        checks.choice("below", below, ("counts",), also=" or None")
    got, hint = f"{len(named)} over each other", "Draw each into its own ax, or use style='lines'"
    checks.require(style != "bars" or len(named) <= 1, "bars show one forecast", got=got, hint=hint)
    first = next(iter(named.values()))
    labels = ("mean confidence" if first.notion in OF_CONFIDENCE else "mean probability", drawing.outcome_word(first))
    unnamed = labels[1] if style == "bars" else "forecast"
    look: dict[str, Any] = {"log_odds": axis == "log-odds", "below": below, "intervals": intervals, "unnamed": unnamed}
    look["centres"] = checks.flag("centres", centres)
    draw = partial(draw_reliability, curves=named, style=style, markers=markers, expected=True, **look)
    return drawing.draw_panels(named, draw, ax=ax, panels=panels, height=4.6 if below is None else 5.2, labels=labels)


def draw_reliability(
    ax: Any,
    panels: Mapping[str, ReliabilityPanel],
    alone: bool,
    curves: Mapping[str, ReliabilityCurve],
    style: Style,
    markers: Markers,
    *,
    log_odds: bool = False,
    below: Any = None,
    intervals: bool = True,
    expected: bool = False,
    unnamed: str = "forecast",
    centres: bool = False,
) -> Any:
    """Draw the curves of one panel; what is ``expected`` of one that is calibrated stands behind it."""
    drawing.unit_square(ax)
    if log_odds:
        drawing.use_log_odds(ax, np.concatenate([[*p.bins.mean_prob, *p.bins.event_rate] for p in panels.values()]))
    for number, (name, panel) in enumerate(panels.items()):
        is_last = number == len(panels) - 1
        STYLES[style](ax, panel, name or unnamed, number, markers, log_odds)
        if intervals:
            single, kind = len(panels) == 1, curves[name].interval
            draw_intervals(ax, panel, curves[name], number, single=single, last=is_last)
            if expected and single and kind not in (None, "consistency"):
                _draw_expected(ax, panel, curves[name].level)
        if log_odds:
            draw_edges(ax, panel, number)
        if centres:
            _draw_centres(ax, panel.bins, number, "centre of the bin" if is_last else "", log_odds)
    return drawing.counts_below(ax, [panel.bins for panel in panels.values()]) if below else None


Map = Callable[[FloatArray], ArrayLike]


@dataclass(frozen=True, eq=False)
class MapPanel(Record):
    """One problem of a notion: scores and what they are mapped to, each of shape (resolution,)."""

    name: str
    score: FloatArray
    calibrated: FloatArray


@dataclass(frozen=True, eq=False)
class CalibrationMap(DrawnResult):
    """The map of a calibrator, or its maps: one panel a problem of its notion.

    Attributes
    ----------
    panels : tuple of MapPanel
        One for a map of one score, one a class for ``ByNotion(..., "class-wise")`` and ``"top-label"``.
    notion : str
        What is mapped.
    calibrator : str
        Where the figures come from.
    curve : ReliabilityCurve or None
        Reliability of the rows given, before they are calibrated, with the same panels.
    of_predictions : bool
        Whether the event is that a predicted class is the true one, so that event rates are accuracies.
    """

    _table = Table("score of the grid", *under("panels", "panel=name", "score", "calibrated"))
    _summary = "{calibrator}, {notion}, panels={panels:n}"
    _picture = Picture("the map", "curves.reliability.plot_calibration_map", takes=("panels", "arrows"))

    panels: tuple[MapPanel, ...]
    notion: str
    calibrator: str
    curve: ReliabilityCurve | None = None
    of_predictions: bool = False


def calibration_map(
    calibrator: Any,
    y_true: ArrayLike | None = None,
    y_prob: ArrayLike | None = None,
    *,
    binning: int | Binning = 15,
    interval: IntervalName | None = "wilson",
    level: float = 0.05,
    resolution: int = 1001,
    **data: Unpack[DataOptions],
) -> CalibrationMap:
    """Map of a fitted calibrator on a grid of scores, with the reliability of the rows that it is to calibrate.

    Parameters
    ----------
    calibrator : fitted calibrator or callable
        A calibrator of one score, `ByNotion`, or a function of an array of scores.
    y_true : array-like of shape (n_samples,), optional
        Class labels of the rows whose reliability is shown; without them the map stands alone.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes), optional
        Their probabilities before calibration: a column for a calibrator of one score, a table for `ByNotion`.
    binning : int or Binning, default=15
        How scores are cut for the reliability; a number n means ``EqualWidth(n)``.
    interval : {"wilson", "clopper-pearson", "consistency"} or None, default="wilson"
        Interval of each event rate: see `reliability_curve`.
    level : float, default=0.05
        One minus the coverage of the intervals, a fraction in (0, 1).
    resolution : int, default=1001
        Number of scores, evenly spaced from 0 to 1.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    CalibrationMap
        A result with ``panels``, ``curve``, ``to_frame()`` and ``plot()``.

    Raises
    ------
    ValueError
        If only one of ``y_true`` and ``y_prob`` is given, or if the map gives another number of values, or values outside of
        [0, 1].
    TypeError
        If the calibrator maps more than one score at a time.

    Notes
    -----
    A good map runs through the intervals of the reliability diagram, and need not touch every point: the event rate of a few
    rows is noisy. The maps of `ByNotion` are those of its parts, before rows are divided by their sums.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant import IsotonicCalibration
    >>> from calibrant.curves import calibration_map
    >>> fitted = IsotonicCalibration(finite=None).fit([0.1, 0.2, 0.3, 0.4], [0, 1, 0, 1])
    >>> calibration_map(fitted, resolution=5).panels[0].calibrated.tolist()
    [0.0, 0.5, 1.0, 1.0, 1.0]
    """
    if not isinstance(y_true, _rows.InBatches):
        checks.together(y_true=y_true, y_prob=y_prob)
    checks.whole("resolution", resolution, least=2, most=10**6, hint="1001 is usual")
    notion, maps = _maps_of(calibrator)
    curve = None
    if y_true is not None:
        problem = as_problem(y_true, y_prob, **data)
        curve = curve_of(problem, notion, binning, level, interval)
        names, word, of_predictions = [panel.name for panel in curve.panels], curve.notion, curve.of_predictions
    else:
        names, spoken = [Binary.name], notion or Binary()
        word, of_predictions = spoken.name, spoken.of_predictions
        if notion is not None:  # a function does not know its event
            classes = tuple(str(label) for label in getattr(calibrator, "classes_", (0, 1)))
            names = [part.name for part in notion.parts(np.zeros((0, len(classes))), classes)]
    score = np.arange(resolution) / (resolution - 1)
    panels = tuple(MapPanel(name, score, _mapped(function, score)) for name, function in zip(names, maps, strict=True))
    return CalibrationMap(panels, word, getattr(calibrator, "__name__", repr(calibrator)), curve, of_predictions)


def _maps_of(calibrator: Any) -> tuple[Notion | None, list[Map]]:
    """Return what is mapped, if the calibrator says so, and a function of scores for each of its problems."""
    require_map(calibrator)
    if hasattr(calibrator, "calibrators_"):
        # ByNotion: None is the pooled map, and without one leaves scores as they are.
        used = [one or calibrator.pooled_ for one in calibrator.calibrators_]
        return calibrator.notion_, [np.positive if one is None else one._apply for one in used]
    if hasattr(calibrator, "predict_proba"):
        n_classes = len(getattr(calibrator, "classes_", (0, 1)))
        hint = "Pass one fitted on two classes, or ByNotion(...); simplex_map shows the maps of three classes"
        must, got = "calibrator must map one score at a time", f"{calibrator!r} for {n_classes} classes"
        checks.require(n_classes <= 2, must, got=got, hint=hint, error=TypeError)
        return as_notion("binary"), [partial(_predicted, calibrator)]
    return None, [calibrator]


def _predicted(calibrator: Any, score: FloatArray) -> FloatArray:
    values = score
    if getattr(calibrator, "input", "probability") == "logit":
        log_prob = log_prob_of_prob(_rows.two_columns(score, is_logit=False).values)
        values = log_prob[:, 1] - log_prob[:, 0]
    prob = np.asarray(calibrator.predict_proba(values), dtype=np.float64)
    return prob[:, 1] if prob.ndim == 2 else prob


def _mapped(function: Map, score: FloatArray) -> FloatArray:
    values = np.asarray(function(score), dtype=np.float64)
    got, hint = f"shape {values.shape} for {score.shape}", "Pass a function of an array of scores"
    checks.require(values.shape == score.shape, "the map must give a value for each score", got=got, hint=hint)
    fits, hint = (values >= -_rows.BEYOND) & (values <= 1.0 + _rows.BEYOND), "Pass a map between probabilities"
    checks.each("the map", values, fits, "give values in [0, 1]", hint=hint)
    return np.clip(values, 0.0, 1.0)


# Maps of calibrators over the reliability of the rows that they are to calibrate


def plot_calibration_map(
    maps: CalibrationMap | Mapping[str, CalibrationMap],
    *,
    ax: Any = None,
    panels: Sequence[str] | None = None,
    arrows: bool = False,
) -> Any:
    """Draw calibration maps over the points of the reliability diagram.

    Parameters
    ----------
    maps : CalibrationMap or dict of name to CalibrationMap
        One map, or several over each other, with the points of the first. Several must have the same panels.
    ax : matplotlib Axes, optional
        Where to draw a single panel; a new figure by default, with a panel for each problem of the notion.
    panels : sequence of str, optional
        Names of the panels to draw, such as ``"class 3"``; by default all, up to 40.
    arrows : bool, default=False
        Draw where each map moves the points: from the mean probability sideways to what the map makes of it. Those of a good
        map end near the diagonal, but for bins in which the map is steep: there rows move otherwise than their mean.

    Returns
    -------
    matplotlib Axes, or ndarray of Axes for several panels
        What was drawn on. The area of a point follows the number of its rows.

    Raises
    ------
    ValueError
        If there is no map, if panels differ or are unknown or too many, or if ``ax`` is given for several.

    Examples
    --------
    >>> from calibrant import IsotonicCalibration, load_digits_forecast
    >>> from calibrant.curves import calibration_map
    >>> y, prob = load_digits_forecast()
    >>> three = IsotonicCalibration().fit(prob[:748, 3], y[:748] == 3)
    >>> ax = calibration_map(three, y[748:] == 3, prob[748:, 3]).plot()
    """
    named = drawing.as_named(maps, "maps", "calibration_map(calibrator, y_true, y_prob)", CalibrationMap)
    first = next(iter(named.values()))
    checks.flag("arrows", arrows)
    curves, word = {} if first.curve is None else {"": first.curve}, drawing.outcome_word(first)

    def draw(ax: Any, drawn: Mapping[str, MapPanel], alone: bool) -> None:
        points = {name: drawing.panel_of(curve, next(iter(drawn.values())).name) for name, curve in curves.items()}
        draw_reliability(ax, points, alone, curves, "points", "area", unnamed=word)
        for place, (name, panel) in enumerate(drawn.items(), start=1):  # the points are number 0
            look = {"color": drawing.colour(place), "linewidth": 1.8, "label": name or "map"}
            ax.plot(panel.score, panel.calibrated, zorder=2.5, **look)
            for one in points.values() if arrows else ():
                bins, key = one.bins, {"color": drawing.colour(place), "zorder": 3.4}
                to = np.interp(bins.mean_prob, panel.score, panel.calibrated)
                start, end = (np.column_stack([x, bins.event_rate])[bins.count > 0] for x in (bins.mean_prob, to))
                drawing.arrows(ax, start, end, **key)
                words = f"moved by {name or 'the map'}"
                ax.plot([], [], linestyle="", marker=r"$\to$", markersize=9, label=words, **key)

    labels = ("probability", f"calibrated probability, {word}")
    return drawing.draw_panels(named, draw, ax=ax, panels=panels, height=4.6, labels=labels)
