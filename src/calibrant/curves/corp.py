"""CORP curves: the isotonic fit of a forecast, with a band. No bins to choose."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Unpack

import numpy as np
from scipy.special import betaincinv

from calibrant import drawing
from calibrant._core.arrays import ArrayLike, FloatArray
from calibrant._core.border import DataOptions, as_problem
from calibrant._core.checks import choice, require, resamples, squared_error
from calibrant._core.result import DrawnResult, Picture, Record, Table, under
from calibrant._core.rows import BinaryProblem, IntArray
from calibrant.binning.bins import Bins, EqualWidth, Ordered, shown
from calibrant.curves.reliability import require_level
from calibrant.fit.isotonic import Steps, affordable, drawn_events, isotonic_fit, isotonic_fit_of
from calibrant.metrics.decompositions import corp_of
from calibrant.notions import Notion, as_notion
from calibrant.sums import Predictions
from calibrant.sums.draws import Rng, as_rng

# Bands of the CORP curve, by name: a consistency band around the diagonal, and two kinds of confidence bands


BandName = Literal["consistency", "confidence", "simultaneous"]
BAND_NAMES = ("consistency", "confidence", "simultaneous")


def _band(
    band: BandName, ordered: Ordered, steps: Steps, at: IntArray, level: float, n_draws: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Return the ends of a band of a fit at the distinct scores number ``at``.

    The consistency band says where the fit would lie if the forecast were calibrated: labels are drawn from the forecast. The
    simultaneous one is where the whole curve of true event probabilities lies with proven confidence, widened to hold the fit.

    The confidence band says where the true event probability may lie: labels are drawn from the fit, and fitted again.
    Quantiles of such fits, taken as they are, cover too seldom: where a block saw no event none is ever drawn, and where the
    truth is flat the fit errs outward at the ends, and the drawn fits err so once more. So every block gets one event and one
    other row before labels are drawn from it, and the band reaches as far on either side as the quantiles do on the one
    where they reach farther, seen from their centres.
    """
    fit = steps.at_each_score(steps.rate)[at]
    if band == "simultaneous":
        must = "sample_weight must be whole for a simultaneous band, which counts rows"
        hint = "Pass band='confidence', or weights that are numbers of rows"
        require(ordered.problem.weights.are_counts, must, got="other weights", hint=hint)
        lower, upper = simultaneous_band(ordered.weight, ordered.outcome_sum, level)
        return np.minimum(lower[at], fit), np.maximum(upper[at], fit)
    rate, more = ordered.score, 1.0 / ordered.problem.weights.rows_per_weight
    if band == "confidence":
        rate = steps.at_each_score((steps.rate * steps.weight + more) / (steps.weight + 2.0 * more))
    fits = []
    for events in drawn_events(ordered, rate, n_draws, rng):
        drawn = isotonic_fit_of(events, ordered.weight)
        fits.append(drawn.rate[np.searchsorted(drawn.starts, at, side="right") - 1])
    low, high = np.quantile(fits, [level / 2.0, 1.0 - level / 2.0], axis=0)
    if band == "consistency":
        return low, high
    centre = fit + rate[at]
    lower, upper = np.minimum(np.minimum(low, centre - high), fit), np.maximum(np.maximum(high, centre - low), fit)
    return np.maximum(lower, 0.0), np.minimum(upper, 1.0)


# A band that holds the whole curve of event probabilities with proven confidence, however few the rows
#
# Theorem. Let rows be independent given the scores, and let the probability of the event be a non-decreasing function p of the
# score. Then with probability 1 - level at least, lower(s) <= p(s) <= upper(s) at all scores s at once.
#
# Proof. Take an interval of scores, from s to t, with n rows and E events. None of these rows has a probability above p(t), so
# E is stochastically at most binomial (n, p(t)), and Clopper and Pearson's lower bound, which rises with E, exceeds p(t) with
# probability ``tail`` at most. If it does not, it bounds p from below at t and, by monotonicity, at all scores beyond. In the
# same way the upper bound holds at s and at all scores before. Many intervals are looked at, and their tails sum to the level:
# with probability 1 - level all bounds hold, and with them the largest lower and the least upper bound at each score.
#
# Dimitriadis, Dümbgen, Henzi, Puke and Ziegel (2023) take all intervals, with equal tails. Here intervals have numbers of rows
# that double from length to length, and begin at every quarter of their length; each length gets an equal part of the level.
# There are half as many of them as rows, and not n^2 / 2: that is quick, and makes the band narrower. The intervals depend on
# the scores alone, as the proof demands, and begin and end between distinct scores.


SHORTEST = 16
"""Rows in the shortest intervals, or all there are: fewer would bound hardly anything."""

MOST_INTERVALS = 1 << 15
"""About as many are looked at of the shortest length; with a million rows these have 123."""

QUARTERS = 4


def simultaneous_band(n: FloatArray, events: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
    """Return the lower and the upper bound at each distinct score, of rows and events on each; neither decreases.

    To the right of a score its lower bound goes on, to the left its upper bound.
    """
    reached, occurred = np.append(0.0, np.cumsum(n)), np.append(0.0, np.cumsum(events))
    lengths = list(_intervals(reached))
    lower, upper = np.zeros(n.size), np.ones(n.size)
    for first, end in lengths:
        tail = level / (2.0 * len(lengths) * first.size)
        rows, hits = reached[end] - reached[first], occurred[end] - occurred[first]
        some, rest = hits > 0, hits < rows
        np.maximum.at(lower, end[some] - 1, betaincinv(hits[some], (rows - hits)[some] + 1.0, tail))
        np.minimum.at(upper, first[rest], betaincinv(hits[rest] + 1.0, (rows - hits)[rest], 1.0 - tail))
    return np.maximum.accumulate(lower), np.minimum.accumulate(upper[::-1])[::-1]


def _intervals(reached: FloatArray) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield for each length the numbers of the first scores, and of those after the last; none of them twice."""
    n_scores, total = reached.size - 1, reached[-1]
    length = min(total, max(float(SHORTEST), float(np.ceil(QUARTERS * total / MOST_INTERVALS))))
    seen: IntArray = np.empty(0, dtype=np.intp)
    while True:
        starts = np.arange(0.0, total - length, max(1.0, length / QUARTERS))
        first = np.searchsorted(reached, np.append(starts, total - length), side="right") - 1
        end = np.searchsorted(reached, reached[first] + length, side="left")
        code = np.setdiff1d(first * (n_scores + 1) + np.minimum(end, n_scores), seen)
        if code.size:
            yield code // (n_scores + 1), code % (n_scores + 1)
        if length == total:
            return
        seen = np.union1d(seen, code)
        length = min(2.0 * length, total)


MOST_PLACES = 2000
"""Up to so many distinct scores a band stands at each; beyond it, at as many that are spread over ranks and over scores."""

HISTOGRAM = EqualWidth(50)
"""Bins of the scores that the picture shows below the curve."""

COLUMNS = ("score", "fit", "lower", "upper")


@dataclass(frozen=True, eq=False)
class CorpPanel(Record):
    """One problem of a notion: the steps of its isotonic fit, the band, and the terms of the squared error.

    Step b leads from the score ``left[b]`` to ``right[b]`` at the event ``rate[b]``, which increases, and has a ``weight``. At
    each ``score`` stand the ``fit`` and the band from ``lower`` to ``upper``, NaN without one. Without rows the arrays are
    empty and the terms NaN. The ``histogram`` counts the scores.
    """

    name: str
    left: FloatArray
    right: FloatArray
    rate: FloatArray
    weight: FloatArray
    score: FloatArray
    fit: FloatArray
    lower: FloatArray
    upper: FloatArray
    histogram: Bins
    brier: float
    miscalibration: float
    discrimination: float
    uncertainty: float


@dataclass(frozen=True, eq=False)
class CorpCurve(DrawnResult):
    """CORP reliability of a forecast under a notion: one panel a problem.

    Attributes
    ----------
    panels : tuple of CorpPanel
        One for ``binary`` and ``confidence``, one a class for ``class-wise`` and ``top-label``.
    notion : str
        What the curve speaks of.
    band : {"consistency", "confidence", "simultaneous"} or None
        What ``lower`` and ``upper`` of the panels are.
    level : float
        One minus the coverage of the band, a fraction.
    of_predictions : bool
        Whether the event is that a predicted class is the true one, so that event rates are accuracies.
    """

    _table = Table(
        "distinct score (of more than 2000, as many that are spread out)",
        "panel=panels.name",
        *under("panels", *COLUMNS),
    )
    _summary = "{notion}, band={band}, panels={panels:n}, steps={panels.rate:n}"
    _picture = Picture("the CORP reliability diagram", "curves.corp.plot_corp", takes=("panels", "band", "histogram"))

    panels: tuple[CorpPanel, ...]
    notion: str
    band: BandName | None
    level: float
    of_predictions: bool = False


def corp_curve(
    y_true: ArrayLike | Predictions,
    y_prob: ArrayLike | None = None,
    *,
    notion: str | Notion | None = None,
    level: float = 0.05,
    band: BandName | None = "consistency",
    n_resamples: int = 1000,
    rng: Rng = 0,
    **data: Unpack[DataOptions],
) -> CorpCurve:
    """Event rates by isotonic regression on the probabilities (CORP), with a band, ready to plot.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Predictions
        Class labels: integers, strings or booleans; or `predictions` that are read in batches, without ``y_prob``.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    notion : str or Notion, optional
        By default ``"binary"`` for two classes and ``"confidence"`` for more.
    level : float, default=0.05
        One minus the coverage of the band, a fraction in (0, 1).
    band : {"consistency", "confidence", "simultaneous"} or None, default="consistency"
        "consistency": where the curve would lie at each score if the forecast were calibrated, around the diagonal.
        "confidence": where the true event probability may lie at each score, around the curve. "simultaneous": where the
        true event probabilities of all scores lie at once, with proven confidence. None: no band.
    n_resamples : int, default=1000
        Draws of labels for the first two bands. With more than 100 000 rows, over all panels, there are fewer:
        10^8 labels in all, and not fewer than 100 draws.
    rng : numpy.random.Generator, int or None, default=0
        Source of randomness. The default makes two calls on the same data agree; None draws anew.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    CorpCurve
        A result with ``panels``, ``to_frame()`` and ``plot()``. Each panel also knows what its squared error is made of:
        ``miscalibration``, ``discrimination``, ``uncertainty``.

    Raises
    ------
    ValueError
        If a simultaneous band, or any band of rows that are read in batches, is wanted and weights are not whole.

    Notes
    -----
    Whole weights count as rows. The simultaneous band assumes that rows are independent and that the true event probability
    does not decrease with the score; the proof, and what was measured of all three bands, are on the page on CORP. A
    band speaks of its panel alone.

    References
    ----------
    Dimitriadis, Gneiting, Jordan, Stable reliability diagrams for probabilistic classifiers, PNAS 2021.
    Dimitriadis, Dümbgen, Henzi, Puke, Ziegel, Honest calibration assessment for binary outcome predictions, Biometrika 2023.

    Examples
    --------
    >>> from calibrant import corp_curve
    >>> curve = corp_curve([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.8])
    >>> curve
    CorpCurve(binary, band=consistency, panels=1, steps=3)
    >>> curve.panels[0].rate.tolist()
    [0.0, 0.5, 1.0]
    """
    require_level(level)
    resamples(n_resamples, hint="1000 is usual")
    if band is not None:
        choice("band", band, BAND_NAMES, also=" or None")
    problem, generator = as_problem(y_true, y_prob, **data), as_rng(rng)
    chosen = as_notion(notion, problem)
    n_panels = chosen.n_parts(problem)
    panels = []
    for binary in chosen.split(problem):
        n_draws = affordable(int(n_resamples), max(1, binary.size) * n_panels)
        panels.append(_panel(binary, binary.name or chosen.name, band, level, n_draws, generator))
    return CorpCurve(tuple(panels), chosen.name, band, level, chosen.of_predictions)


def _panel(
    problem: BinaryProblem, name: str, band: BandName | None, level: float, n_draws: int, rng: np.random.Generator
) -> CorpPanel:
    if problem.size == 0:  # a class that is never predicted
        none, nan = np.empty(0), float("nan")
        return CorpPanel(name, none, none, none, none, none, none, none, none, HISTOGRAM(problem), nan, nan, nan, nan)
    ordered = Ordered.of(problem)
    steps, at = isotonic_fit(ordered), places_shown(ordered.score)
    lower, upper = _band(band, ordered, steps, at, level, n_draws, rng) if band else np.full((2, at.size), np.nan)
    terms = corp_of(ordered, squared_error)
    last = np.append(steps.starts[1:], ordered.score.size) - 1
    histogram = shown(HISTOGRAM(problem), are_counts=problem.weights.are_counts)
    if problem.cells and not problem.weights.are_counts:  # a cell holds many rows
        count = np.bincount(histogram.index(problem.cells.mean), problem.cells.count, len(histogram))
        histogram = replace(histogram, count=count.astype(np.intp))
    return CorpPanel(
        name,
        *(ordered.score[steps.starts], ordered.score[last], steps.rate, steps.weight),
        *(ordered.score[at], steps.at_each_score(steps.rate)[at], lower, upper),
        histogram,
        *(terms.score, terms.miscalibration, terms.discrimination, terms.uncertainty),
    )


def places_shown(score: FloatArray) -> IntArray:
    """Return the numbers of the distinct scores at which a band stands."""
    if score.size <= MOST_PLACES:
        return np.arange(score.size)
    half = MOST_PLACES // 2
    by_rank = np.linspace(0, score.size - 1, half).astype(np.intp)
    return np.union1d(by_rank, np.searchsorted(score, np.linspace(score[0], score[-1], half)))


# The CORP reliability diagram


BANDS = {
    "consistency": "{:.0%} if calibrated",
    "confidence": "{:.0%} confidence at each score",
    "simultaneous": "{:.0%} confidence at all scores",
}

CORNER = (0.6, 0.25)
"""What lies to the right of and below this is in the lower right corner."""


def plot_corp(
    curves: CorpCurve | Mapping[str, CorpCurve],
    *,
    ax: Any = None,
    panels: Sequence[str] | None = None,
    band: bool = True,
    histogram: bool = True,
) -> Any:
    """Draw CORP curves: the steps of the isotonic fit, the band, and the terms of the Brier score.

    Parameters
    ----------
    curves : CorpCurve or dict of name to CorpCurve
        One forecast, or several over each other. Several must have the same panels.
    ax : matplotlib Axes, optional
        Where to draw a single panel; a new figure by default, with a panel for each problem of the notion.
    panels : sequence of str, optional
        Names of the panels to draw, such as ``"class 3"``; by default all, up to 40.
    band : bool, default=True
        Draw the band that the curves hold.
    histogram : bool, default=True
        Draw the numbers of rows along the score below the diagram.

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
    >>> from calibrant import corp_curve, load_digits_forecast
    >>> ax = corp_curve(*load_digits_forecast(), n_resamples=100).plot()
    """
    named = drawing.as_named(curves, "curves", "corp_curve(y_true, y_prob)", CorpCurve)
    first = next(iter(named.values()))

    def draw(ax: Any, drawn: Mapping[str, CorpPanel], alone: bool) -> Any:
        single = len(drawn) == 1
        drawing.unit_square(ax)
        for number, (name, panel) in enumerate(drawn.items()):
            colour, label = drawing.colour(number), name or "isotonic fit"
            if band and named[name].band is not None:
                _draw_band(ax, panel, named[name], colour, single=single)
            _draw_steps(ax, panel, colour, f"{label}: {', '.join(_terms(panel))}" if alone and not single else label)
        below = drawing.counts_below(ax, [panel.histogram for panel in drawn.values()]) if histogram else None
        if alone:
            drawing.legend_above(ax, title=_words(panel, "   ", unc=True) if single else None, title_fontsize="small")
        elif single:
            is_there = bool(np.any((panel.right > CORNER[0]) & (panel.rate < CORNER[1])))
            x, y, ha, va = (0.04, 0.96, "left", "top") if is_there else (0.97, 0.04, "right", "bottom")
            box = {"boxstyle": "round,pad=0.3", "facecolor": "white", "edgecolor": drawing.GRID, "alpha": 0.85}
            look = {"transform": ax.transAxes, "ha": ha, "va": va, "fontsize": "x-small", "bbox": box, "zorder": 4}
            ax.text(x, y, _words(panel, "\n"), **look)
        return below

    high, labels = 5.2 if histogram else 4.6, ("probability", drawing.outcome_word(first))
    height = (high + 0.8, high)  # above an Axes alone stands a legend with its title
    return drawing.draw_panels(named, draw, ax=ax, panels=panels, height=height, labels=labels, legend=None)


def _draw_band(ax: Any, panel: CorpPanel, curve: CorpCurve, colour: str, *, single: bool) -> None:
    x, lower, upper = panel.score, panel.lower, panel.upper
    if curve.band == "simultaneous":  # between two scores it is held from the lower one below, from the upper one above
        before, after = np.append(0.0, lower[:-1]), np.append(upper[1:], 1.0)
        x, lower, upper = np.repeat(x, 2), *(np.column_stack(b).ravel() for b in ([before, lower], [upper, after]))
    label = BANDS[curve.band or ""].format(1 - curve.level) if single else None
    paint = {"color": drawing.BAND} if single and curve.band == "consistency" else {"color": colour, "alpha": 0.18}
    ax.fill_between(x, lower, upper, linewidth=0, label=label, zorder=0.4, **paint)


def _draw_steps(ax: Any, panel: CorpPanel, colour: str, label: str) -> None:
    """Draw blocks as thick lines, or as points where they are one score, and thin lines from block to block."""
    from matplotlib.collections import LineCollection

    x, y = np.column_stack([panel.left, panel.right]).ravel(), np.repeat(panel.rate, 2)
    ax.plot(x, y, color=colour, linewidth=1, marker="o", markersize=3, markeredgewidth=0, zorder=3)
    blocks = list(np.column_stack([x, y]).reshape(-1, 2, 2))
    ax.add_collection(LineCollection(blocks, colors=colour, linewidths=3, zorder=3.1))
    ax.plot([], [], color=colour, linewidth=3, solid_capstyle="round", label=label)


def _terms(panel: CorpPanel) -> list[str]:
    return [f"MCB {panel.miscalibration:.4f}", f"DSC {panel.discrimination:.4f}"]


def _words(panel: CorpPanel, between: str, *, unc: bool = False) -> str:
    words = [*_terms(panel), *([f"UNC {panel.uncertainty:.4f}"] if unc else [])]
    return between.join(words) if panel.rate.size else "no rows"
