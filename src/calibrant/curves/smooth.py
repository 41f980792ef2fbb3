"""Smooth reliability curves: mean probability against event rate under a sliding kernel, or by local regression."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
from scipy.special import expit, logit, ndtri

from calibrant import drawing
from calibrant._core.arrays import EPSILON, ArrayLike, FloatArray
from calibrant._core.border import DataOptions, as_problem
from calibrant._core.checks import left_out, number, under_word
from calibrant._core.result import DrawnResult, Picture, Record, Table, under
from calibrant._core.rows import BinaryProblem
from calibrant.curves.reliability import require_level
from calibrant.fit.log_loss import recalibration_of
from calibrant.lenses import Local, Smooth, fixed_point, mean_gap, nodes, reflected_kernel, residual_of
from calibrant.notions import Notion, as_notion
from calibrant.sums import Predictions


@dataclass(frozen=True)
class Logistic:
    """Logistic recalibration: a straight line in log-odds."""


SMOOTHERS: Mapping[str, Smooth | Local | Logistic] = {"kernel": Smooth(), "local": Local(), "logistic": Logistic()}

SYMBOLS: Mapping[type, str] = {Smooth: "smECE", Local: "ICI", Logistic: "mean distance"}

FINEST = 0.001
"""A picture resolves no smaller bandwidth."""

DENSITY = 0.02
"""Bandwidth of the density beside a local regression."""

FEWEST, MOST = 200, 1000
"""Steps of a kernel from 0 to 1; four to a bandwidth, if that is between."""

FAINT = 1e-9
"""Where the density is less than this part of its maximum, no score is near."""

COLUMNS = ("score", "density", "mean_prob", "event_rate", "lower", "upper")


@dataclass(frozen=True, eq=False)
class SmoothReliabilityPanel(Record):
    """One problem of a notion, looked at from places along the score, shape (d,).

    About each ``score`` stand ``mean_prob`` and ``event_rate`` under the smoother, and the interval of the latter. The
    ``density`` of the scores is that under the kernel of the ``bandwidth``. ``error`` is the smooth calibration error, or the
    integrated calibration index of a local regression, ``share`` the part of the problem in the aggregate. Without rows
    the arrays are empty, and error and bandwidth are NaN.
    """

    name: str
    share: float
    error: float
    bandwidth: float
    score: FloatArray
    density: FloatArray
    mean_prob: FloatArray
    event_rate: FloatArray
    lower: FloatArray
    upper: FloatArray


@dataclass(frozen=True, eq=False)
class SmoothReliabilityCurve(DrawnResult):
    """Smooth reliability of a forecast under a notion: one panel a problem.

    Attributes
    ----------
    panels : tuple of SmoothReliabilityPanel
        One for ``binary`` and ``confidence``, one a class for ``class-wise`` and ``top-label``.
    notion, smoother : str
        Where the figures come from.
    symbol : str
        What the error of a panel is: smECE or ICI.
    level : float
        One minus the coverage of the band at each place, a fraction.
    of_predictions : bool
        Whether the event is that a predicted class is the true one, so that event rates are accuracies.
    """

    _table = Table("place along the score", "panel=panels.name", *under("panels", *COLUMNS))
    _summary = "{notion}, {smoother}, panels={panels:n}, {symbol}={error:.4g}"
    _picture = Picture(
        "the smooth reliability diagram", "curves.smooth.plot_smooth_reliability", takes=("panels", "band", "density")
    )

    panels: tuple[SmoothReliabilityPanel, ...]
    notion: str
    smoother: str
    symbol: str
    level: float
    of_predictions: bool = False

    @property
    def error(self) -> float:
        """Mean error of the panels by their shares: the metric."""
        return float(sum(p.share * p.error for p in self.panels if p.score.size))


def smooth_reliability_curve(
    y_true: ArrayLike | Predictions,
    y_prob: ArrayLike | None = None,
    *,
    notion: str | Notion | None = None,
    smoother: str | Smooth | Local | Logistic = "kernel",
    bandwidth: float | None = None,
    level: float = 0.05,
    **data: Unpack[DataOptions],
) -> SmoothReliabilityCurve:
    """Mean probability and event rate under a smoother that slides along the score, with a band, ready to plot.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Predictions
        Class labels: integers, strings or booleans; or `predictions` that are read in batches, without ``y_prob``.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    notion : str or Notion, optional
        By default ``"binary"`` for two classes and ``"confidence"`` for more.
    smoother : {"kernel", "local", "logistic"} or lens, default="kernel"
        ``"kernel"`` is the reflected Gaussian of the smooth calibration error, as wide as that error; ``"local"`` the local
        regression of the integrated calibration index (loess), the flexible curve of clinical papers; ``"logistic"`` the curve
        of the calibration slope and intercept.
    bandwidth : float, optional
        Standard deviation of the kernel, in [0.001, 1]. By default the smooth calibration error: the more a forecast is off,
        the more its picture is blurred. A smaller one shows more detail and more noise. It belongs to the
        kernel: a local regression has none.
    level : float, default=0.05
        One minus the coverage of the band at each place, a fraction in (0, 1).
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    SmoothReliabilityCurve
        A result with ``panels``, ``error``, ``to_frame()`` and ``plot()``.

    Notes
    -----
    Under the kernel both coordinates are smoothed, as both are means in a bin of a binned diagram. So a calibrated forecast
    lies on the diagonal also where its density is steep, and at the default bandwidth the smooth calibration error can be
    read off: it is the mean distance from the diagonal,  integral of density * abs(event_rate - mean_prob).  A local
    regression reproduces the scores, so that mean_prob is the score; its event rate may leave [0, 1] where rows are few.

    The band covers the smoothed event rate (of which the smoothed outcomes are an estimate) at each place by itself, for the
    bandwidth at hand, with the probability 1 - level: event_rate -+ z * sqrt(sum of s^2 * v), where s are the weights
    of the rows in the smooth and v the variance of an outcome at the smoothed rate. That rate is drawn toward
    1/2 by two events and two non-events, so that the band does not shrink to nothing where all rows have the same outcome. It
    leaves out the bias of smoothing. Since it holds at each place by itself, the smoothed rate will lie outside at some of
    many places.

    References
    ----------
    Błasiok, Nakkiran, Smooth ECE: principled reliability diagrams via kernel smoothing, ICLR 2024.
    Austin, Steyerberg, Graphical assessment of internal and external calibration of logistic regression models by using
    loess smoothers, Statistics in Medicine 2014.

    Examples
    --------
    >>> from calibrant import load_digits_forecast, smooth_reliability_curve
    >>> smooth_reliability_curve(*load_digits_forecast())
    SmoothReliabilityCurve(confidence, Smooth(), panels=1, smECE=0.1968)
    """
    problem = as_problem(y_true, y_prob, **data)
    chosen = as_notion(notion, problem)
    if not isinstance(smoother, (Smooth, Local, Logistic)):
        smoother = under_word("smoother", smoother, SMOOTHERS, also=", Smooth() or Local()")
    require_level(level)
    if not isinstance(smoother, Smooth):
        other = "Pass Local(span=...) for another window, or smoother='kernel'"
        left_out("bandwidth", bandwidth, "for a regression, which has none", hint=other)
    elif bandwidth is not None:
        number("bandwidth", bandwidth, least=FINEST, most=1.0, hint="0.03 shows much; None is the smooth ECE")
    how = smoother, bandwidth, level
    symbol = next(symbol for kind, symbol in SYMBOLS.items() if isinstance(smoother, kind))
    panels = tuple(_panel(binary, binary.name or chosen.name, *how) for binary in chosen.split(problem))
    return SmoothReliabilityCurve(panels, chosen.name, repr(smoother), symbol, level, chosen.of_predictions)


def _panel(
    problem: BinaryProblem, name: str, smoother: Smooth | Local | Logistic, bandwidth: float | None, level: float
) -> SmoothReliabilityPanel:
    if problem.size == 0:  # a class that is never predicted
        return SmoothReliabilityPanel(name, problem.share, np.nan, np.nan, *[np.empty(0)] * len(COLUMNS))
    z = -float(ndtri(level / 2.0))
    if isinstance(smoother, Logistic):
        error, (score, event_rate, lower, upper) = _by_logistic(problem, z)
        density = _kernel_sums(problem, score, DENSITY)[0] if score.size else score
        arrays = (score, density, score, event_rate, lower, upper)
        return SmoothReliabilityPanel(name, problem.share, error, DENSITY, *arrays)
    if isinstance(smoother, Smooth):
        view = smoother(problem)
        error = float(fixed_point(view, view.look(residual_of(problem)))[0])
        bandwidth = max(error, FINEST) if bandwidth is None else bandwidth
        score, density, mean_prob, event_rate, variance = _by_kernel(problem, bandwidth)
    else:
        local, bandwidth = smoother(problem), DENSITY
        rows = local.rows**2 / np.bincount(local.place, local.weight * _relative(problem))  # at each place, by Kish
        seen, squares = local.look(residual_of(problem)), np.square(local.matrix) / rows
        error, score, event_rate = float(mean_gap(local, seen)[0]), local.score, local.score + seen[0]
        variance = squares @ _variance(np.clip(event_rate, 0.0, 1.0), 1.0 / squares.sum(axis=1))
        density, mean_prob = _kernel_sums(problem, score, bandwidth)[0], score
    reach = z * np.sqrt(variance)
    lower, upper = np.clip([event_rate - reach, event_rate + reach], 0.0, 1.0)
    arrays = (score, density, mean_prob, event_rate, lower, upper)
    return SmoothReliabilityPanel(name, problem.share, error, bandwidth, *arrays)


def _by_kernel(problem: BinaryProblem, bandwidth: float) -> tuple[FloatArray, ...]:
    """Scores with others near, density, mean probability, event rate and its variance there, each of shape (d,)."""
    score = np.linspace(0.0, 1.0, int(np.clip(np.ceil(4.0 / bandwidth), FEWEST, MOST)) + 1)
    sums = _kernel_sums(problem, score, bandwidth)
    seen = sums[0] > FAINT * sums[0].max()
    density, prob, events, squares = sums[:, seen]
    rate = np.clip(events / density, 0.0, 1.0)
    rows = problem.weights.rows * density**2 / squares
    return score[seen], density, np.clip(prob / density, 0.0, 1.0), rate, _variance(rate, rows) / rows


def _by_logistic(problem: BinaryProblem, z: float) -> tuple[float, FloatArray]:
    """Mean distance of the logistic curve from the scores; scores, curve and both ends of its band, of shape (4, d).

    The band is that of the log-odds, by the curvature of the log loss. There is no curve where scores separate the outcomes.
    """
    fit = recalibration_of(problem)
    intercept, slope = fit.joint
    if not np.isfinite([intercept, slope]).all():
        return np.nan, np.empty((4, 0))
    x, rate = problem.log_odds, expit(intercept + slope * problem.log_odds)
    curvature, relative = problem.weight * problem.weights.rows_per_weight * rate * (1.0 - rate), _relative(problem)
    total = curvature.sum()
    x = x - (mean := curvature @ x / total)
    spread = curvature @ x**2
    score = np.linspace(problem.score.min(), problem.score.max(), FEWEST + 1)
    at = logit(np.clip(score, EPSILON, 1.0 - EPSILON))
    far, (alone, mixed, squared) = (at - mean) / spread, [(curvature * relative) @ x**power for power in range(3)]
    reach = z * np.sqrt(alone / total**2 + 2.0 * far * mixed / total + far**2 * squared)
    curve = intercept + slope * at
    error = problem.weight @ np.abs(expit(intercept + slope * problem.log_odds) - problem.score) / problem.weight.sum()
    return float(error), np.stack([score, *expit([curve, curve - reach, curve + reach])])


def _kernel_sums(problem: BinaryProblem, score: FloatArray, bandwidth: float) -> FloatArray:
    """Mean kernel about each ``score``, alone, times probability, times outcome, and times itself, shape (4, d)."""
    level = max(int(np.ceil(-np.log2(bandwidth))), 0)
    values = np.stack([np.ones(problem.size), problem.score, problem.outcome.astype(np.float64), _relative(problem)])
    masses = Smooth()(problem).on_nodes(values, level)
    kernel = reflected_kernel(score, nodes(level), bandwidth)
    return np.vstack([masses[:3] @ kernel.T, masses[3:] @ np.square(kernel).T])


def _relative(problem: BinaryProblem) -> FloatArray:
    """Return what a row, or each of the equal rows that a count is, weighs beside the mean; of cells 1."""
    if problem.weights.are_counts or problem.cells is not None:
        return np.ones(problem.size)
    return problem.weights.values * problem.weights.rows_per_weight


def _variance(rate: FloatArray, n: FloatArray) -> FloatArray:
    """Variance of an outcome at a rate that is drawn toward 1/2 by two events and two non-events among n rows."""
    drawn = (rate * n + 2.0) / (n + 4.0)
    return drawn * (1.0 - drawn)


# The smooth reliability diagram


POINT = 0.005
"""A curve that is not as long as this is drawn as a point."""

THIN, THICK = 0.8, 4.5
"""Widths of the line where rows are rarest and densest."""


def plot_smooth_reliability(
    curves: SmoothReliabilityCurve | Mapping[str, SmoothReliabilityCurve],
    *,
    ax: Any = None,
    panels: Sequence[str] | None = None,
    band: bool = True,
    density: bool = True,
) -> Any:
    """Draw smooth reliability curves: the thicker the line, the more rows; their density stands below.

    Parameters
    ----------
    curves : SmoothReliabilityCurve or dict of name to SmoothReliabilityCurve
        One forecast, or several over each other. Several must have the same panels.
    ax : matplotlib Axes, optional
        Where to draw a single panel; a new figure by default, with a panel for each problem of the notion.
    panels : sequence of str, optional
        Names of the panels to draw, such as ``"class 3"``; by default all, up to 40.
    band : bool, default=True
        Draw the band around the event rate.
    density : bool, default=True
        Draw the density of the scores below the diagram.

    Returns
    -------
    matplotlib Axes, or ndarray of Axes for several panels
        What was drawn on.

    Raises
    ------
    ValueError
        If there is no curve, if panels differ or are unknown or too many, or if ``ax`` is given for several.

    Examples
    --------
    >>> from calibrant import load_digits_forecast, smooth_reliability_curve
    >>> ax = smooth_reliability_curve(*load_digits_forecast()).plot()
    """
    named = drawing.as_named(curves, "curves", "smooth_reliability_curve(y_true, y_prob)", SmoothReliabilityCurve)
    first = next(iter(named.values()))

    def draw(ax: Any, drawn: Mapping[str, SmoothReliabilityPanel], alone: bool) -> Any:
        drawing.unit_square(ax)
        for place, (name, panel) in enumerate(drawn.items()):
            none = "not defined" if panel.share else "no rows"
            label, words = name or "forecast", f"{first.symbol} {panel.error:.3f}" if panel.score.size else none
            _draw_curve(ax, panel, drawing.colour(place), f"{label}: {words}" if alone else label, band)
        if not alone and len(drawn) == 1:
            ax.text(0.97, 0.04, words, transform=ax.transAxes, ha="right", fontsize="small")
        return _draw_density(ax, drawn) if density else None

    height, labels = (5.2, 5.5) if density else 4.6, ("mean probability", drawing.outcome_word(first))
    return drawing.draw_panels(named, draw, ax=ax, panels=panels, height=height, labels=labels)


def _draw_curve(ax: Any, panel: SmoothReliabilityPanel, colour: str, label: str, band: bool) -> None:
    from matplotlib.collections import LineCollection

    if panel.score.size == 0:
        ax.plot([], [], color=colour, label=label)
        return
    if np.ptp(panel.mean_prob) < POINT:
        densest = int(np.argmax(panel.density))
        x, y = panel.mean_prob[densest], panel.event_rate[densest]
        if band:
            ax.vlines(x, panel.lower[densest], panel.upper[densest], color=colour, alpha=0.4, linewidth=THICK)
        ax.plot(x, y, color=colour, marker="o", markersize=8, linestyle="none", label=label, zorder=3)
        return
    if band:
        ax.fill_between(panel.mean_prob, panel.lower, panel.upper, color=colour, alpha=0.18, linewidth=0, zorder=2)
    points = np.column_stack([panel.mean_prob, panel.event_rate])
    share = np.sqrt(panel.density / panel.density.max())
    widths = THIN + (THICK - THIN) * np.minimum(share[1:], share[:-1])
    segments = np.stack([points[:-1], points[1:]], axis=1)
    ax.add_collection(LineCollection(list(segments), linewidths=widths, colors=colour, capstyle="round", zorder=3))
    ax.plot([], [], color=colour, linewidth=2.5, label=label)


def _draw_density(ax: Any, panels: Mapping[str, SmoothReliabilityPanel]) -> Any:
    below = drawing.room_below(ax)
    for place, panel in enumerate(panels.values()):
        colour = drawing.colour(place)
        if len(panels) == 1:
            below.fill_between(panel.score, panel.density, color=colour, alpha=0.35, linewidth=0)
        below.plot(panel.score, panel.density, color=colour, linewidth=1.2)
    return drawing.finish_below(below, "density")
