"""Test-based reliability: the predictions of each bin, its event rate, and which predictions its test rejects."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Unpack

import numpy as np
from scipy.special import expit, logit

from calibrant import drawing
from calibrant._core.arrays import ArrayLike, FloatArray, ratio
from calibrant._core.border import DataOptions, as_problem
from calibrant._core.checks import choice
from calibrant._core.result import DrawnResult, Picture, Record, Table, read_only, under
from calibrant._core.rows import BinaryProblem, IntArray
from calibrant.binning.bins import Binning, Bins, as_binning, shown
from calibrant.binning.isotonic import BoundedIsotonic
from calibrant.curves import reliability
from calibrant.metrics.bin_losses import TestName, Verdicts, accepted, require_test, verdicts
from calibrant.notions import Notion, as_notion

# Where the predictions of each bin lie, and those of all, counted in equal parts of a scale


SLICES = 50
"""Of the profile of a bin."""

MANY_ROWS = 20_000
"""So many rows fill all columns of a histogram; of fewer rows columns are wider, by the cube root, up to five times."""


@dataclass(frozen=True)
class Scale:
    """A scale of probabilities between two ends, and the number of columns of a histogram of many rows between them."""

    least: float
    greatest: float
    n_columns: int
    of_prob: Callable[[FloatArray], FloatArray]
    to_prob: Callable[[FloatArray], FloatArray]

    def columns_of(self, rows: float) -> int:
        """Return the number of columns of a histogram of some rows: of few rows so many would be a comb."""
        return round(self.n_columns * min(1.0, max(0.2, float((rows / MANY_ROWS) ** (1 / 3)))))


PROBABILITY = Scale(0.0, 1.0, 50, np.positive, np.positive)

BELOW, ABOVE = (7, 10, 15, 20, 25, 30), (7, 10, 15)
"""Where log-odds may end: at ten to the minus so many, and at one less that."""

MOST_BEYOND = 0.01
"""Part of the rows that may lie beyond an end of log-odds, but for those that no log-odds reach."""

COLUMNS_A_UNIT = 5
"""Columns of a histogram in log-odds, for each unit."""


def log_odds_of(problems: Sequence[BinaryProblem]) -> Scale:
    """Return log-odds that reach all probabilities but a few: from 1e-7 to 1 - 1e-7, or further where more lie beyond."""
    total = sum(float(p.weight.sum()) for p in problems)

    def is_enough(below: int, *, downward: bool) -> bool:
        left = ((p.score if downward else 1.0 - p.score, p.weight) for p in problems)
        beyond = sum(float(weight[(rest > 0.0) & (rest < 10.0**-below)].sum()) for rest, weight in left)
        return beyond <= MOST_BEYOND * total

    least = 10.0 ** -next((k for k in BELOW if is_enough(k, downward=True)), BELOW[-1])
    greatest = 1.0 - 10.0 ** -next((k for k in ABOVE if is_enough(k, downward=False)), ABOVE[-1])
    return Scale(least, greatest, round(COLUMNS_A_UNIT * float(logit(greatest) - logit(least))), logit, expit)


@dataclass(frozen=True, eq=False)
class BinProfiles(Record):
    """Predictions counted in equal parts of a scale.

    Attributes
    ----------
    slice_edges : ndarray of shape (n_bins, n_slices + 1)
        Equal slices from the least to the greatest prediction of each bin; NaN where it is empty. What lies beyond an end of
        the scale counts as at the end.
    profile : ndarray of shape (n_bins, n_slices)
        Rows in each slice.
    density : ndarray of shape (n_bins, n_slices + 1)
        Rows about each edge of the slices, smoothed: half the width of a violin, but for a factor.
    histogram_edges : ndarray of shape (n_columns + 1,)
        Equal columns from one end of the scale to the other.
    histogram, histogram_rejected : ndarray of shape (n_columns,)
        Rows in each column, all and those whose prediction is rejected.
    """

    slice_edges: FloatArray
    profile: FloatArray
    density: FloatArray
    histogram_edges: FloatArray
    histogram: FloatArray
    histogram_rejected: FloatArray


def bin_profiles(found: Verdicts, n_bins: int, scale: Scale) -> BinProfiles:
    """Count tested predictions in equal parts of a scale."""
    rejected, n_columns = found.weight * found.is_rejected, scale.columns_of(float(found.weight.sum()))
    value = scale.of_prob(np.clip(found.score, scale.least, scale.greatest))
    low, high = _ends(value, found.bin, n_bins)
    cell = found.bin * SLICES + _part(value, low[found.bin], high[found.bin], SLICES)
    least, greatest = scale.of_prob(np.array([scale.least, scale.greatest]))
    column = _part(value, least, greatest, n_columns)
    profile = sums(cell, found.weight, n_bins * SLICES).reshape(n_bins, SLICES)
    return BinProfiles(
        slice_edges=scale.to_prob(np.linspace(low, high, SLICES + 1, axis=1)),
        profile=profile,
        density=np.stack([_smoothed(rows) for rows in profile]),
        histogram_edges=scale.to_prob(np.linspace(least, greatest, n_columns + 1)),
        histogram=sums(column, found.weight, n_columns),
        histogram_rejected=sums(column, rejected, n_columns),
    )


def _smoothed(profile: FloatArray) -> FloatArray:
    """Smooth the rows of the slices of a bin by a normal kernel of Silverman's bandwidth, reflected at both ends."""
    rows = profile.sum()
    if rows == 0.0:
        return np.zeros(SLICES + 1)
    middle, at = np.arange(SLICES) + 0.5, np.arange(SLICES + 1.0)
    mean = profile @ middle / rows
    width = max(0.9 * np.sqrt(profile @ (middle - mean) ** 2 / rows) * rows**-0.2, 0.5)
    images = (middle, -middle, 2.0 * SLICES - middle)
    kernel = sum(np.exp(-0.5 * ((at[:, None] - image) / width) ** 2) for image in images)
    return np.asarray(kernel @ profile)


def sums(at: IntArray, weight: FloatArray, n: int) -> FloatArray:
    """Return the weight on each of n places."""
    return np.bincount(at, weight, n).astype(np.float64)


def _ends(value: FloatArray, at: IntArray, n_bins: int) -> tuple[FloatArray, FloatArray]:
    """Return the least and the greatest value of each bin, where values are in order; NaN where there is none."""
    held = np.bincount(at, minlength=n_bins)
    last, low, high = np.cumsum(held), np.full(n_bins, np.nan), np.full(n_bins, np.nan)
    low[held > 0], high[held > 0] = value[(last - held)[held > 0]], value[last[held > 0] - 1]
    return low, high


def _part(value: FloatArray, low: FloatArray, high: FloatArray, n: int) -> IntArray:
    """Return in which of n equal parts from low to high a value lies; one that is rounded down from its beginning, in this."""
    reach = np.maximum(high - low, np.finfo(float).tiny)
    return np.minimum(((value - low) / reach * n + BEGUN).astype(np.intp), n - 1)


BEGUN = 1e-4
"""Share of a column of a histogram: decimals in single precision are off by less."""

BOUNDED = BoundedIsotonic()


@dataclass(frozen=True, eq=False)
class BinTestPanel(Record):
    """One problem of a notion: its bins, and their predictions as tested.

    Attributes
    ----------
    name : str
        Name of the problem.
    share : float
        Part of the problem in the aggregate.
    bins : Bins
        Edges, numbers of rows (``weight``), event rates and mean probabilities.
    too_low, too_high : ndarray of shape (n_bins,)
        Rows whose prediction is rejected because it lies below the event rate, and above it.
    lower, upper : ndarray of shape (n_bins,)
        Least and greatest probability that the events of the bin accept; NaN where it is empty. Between them all are accepted,
        but that the exact test can reject a few near the ends.
    probability, log_odds : BinProfiles
        Where the predictions lie, counted in equal parts of either scale: what a violin and the histogram beside show. Log-odds
        end at 1e-7 and 1 - 1e-7, or further out where more than a hundredth of the rows lies beyond.
    """

    name: str
    share: float
    bins: Bins
    too_low: FloatArray
    too_high: FloatArray
    lower: FloatArray
    upper: FloatArray
    probability: BinProfiles
    log_odds: BinProfiles

    @cached_property
    def rejected(self) -> FloatArray:
        """Rows of each bin whose prediction is rejected, shape (n_bins,)."""
        return read_only(self.too_low + self.too_high)

    @cached_property
    def rejected_share(self) -> FloatArray:
        """Their part in the bin, a fraction, shape (n_bins,); NaN where it is empty."""
        return read_only(ratio(self.rejected, self.bins.weight))

    @property
    def error(self) -> float:
        """Percentage of predictions that are rejected (TCE), in [0, 100]; NaN without rows."""
        return 100.0 * float(ratio(self.rejected.sum(), self.bins.weight.sum()))


@dataclass(frozen=True, eq=False)
class BinTestCurve(DrawnResult):
    """Predictions tested in their bins, under a notion: one panel a problem.

    Attributes
    ----------
    panels : tuple of BinTestPanel
        One for ``binary`` and ``confidence``, one a class for ``class-wise`` and ``top-label``.
    notion, binning, test : str
        Where the figures come from.
    level : float
        Level of each test, a fraction.
    of_predictions : bool
        Whether the event is that a predicted class is the true one, so that event rates are accuracies.
    """

    _table = Table(
        "bin",
        "panel=panels.name",
        *under("panels.bins", "left", "right", "count", "weight", "mean_prob", "event_rate"),
        *under("panels", "lower", "upper", "too_low", "too_high", "rejected", "rejected_share"),
    )
    _summary = "{notion}, {binning}, test={test!r}, level={level:g}, panels={panels:n}, bins={panels.bins:n}, error={error:.4g}"
    _picture = Picture(
        "the test-based reliability diagram", "curves.bin_test.plot_bin_test", takes=("panels", "style", "axis")
    )

    panels: tuple[BinTestPanel, ...]
    notion: str
    binning: str
    test: TestName
    level: float
    of_predictions: bool = False

    @property
    def error(self) -> float:
        """Percentage of predictions that are rejected, averaged over the panels by their shares (TCE), in [0, 100]."""
        return float(sum(panel.share * panel.error for panel in self.panels if panel.bins.weight.sum() > 0))


def bin_test_curve(
    y_true: ArrayLike,
    y_prob: ArrayLike | None = None,
    *,
    notion: str | Notion | None = None,
    binning: int | Binning = BOUNDED,
    test: TestName = "binomial",
    level: float = 0.05,
    **data: Unpack[DataOptions],
) -> BinTestCurve:
    """Test each prediction against the event rate of its bin, ready to plot (test-based reliability).

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    notion : str or Notion, optional
        By default ``"binary"`` for two classes and ``"confidence"`` for more.
    binning : int or Binning, default=BoundedIsotonic()
        How scores are cut; a number n means ``EqualWidth(n)``.
    test : {"binomial", "mid-p", "clopper-pearson", "t"}, default="binomial"
        The test of a prediction against the events of its bin: see `BinTest`.
    level : float, default=0.05
        Level of each test, a fraction in (0, 1).
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`. Weights must
        be whole: a test counts rows.

    Returns
    -------
    BinTestCurve
        A result with ``panels``, ``error``, ``to_frame()`` and ``plot()``.

    Raises
    ------
    ValueError
        If weights are fractions, or ``level`` is no fraction.

    Notes
    -----
    ``error`` is `bin_test_calibration_error` of the same arguments.

    References
    ----------
    Matsubara, Tax, Mudd, Guy, TCE: A test-based approach to measuring calibration error, UAI 2023 (Figure 1).

    Examples
    --------
    >>> from calibrant.curves import bin_test_curve
    >>> y, p = [0] * 9 + [1], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    >>> curve = bin_test_curve(y, p, binning=1)
    >>> curve
    BinTestCurve(binary, EqualWidth(n_bins=1), test='binomial', level=0.05, panels=1, bins=1, error=60)
    """
    require_test(test, level)
    problem = as_problem(y_true, y_prob, all_rows="a curve of tests of bins", **data)
    chosen, cut, level = as_notion(notion, problem), as_binning(binning), float(level)
    problems = list(chosen.split(problem))
    log_odds = log_odds_of(problems)
    panels = tuple(_panel_of(binary, cut(binary), chosen.name, test, level, log_odds) for binary in problems)
    return BinTestCurve(panels, chosen.name, repr(cut), test, level, chosen.of_predictions)


def _panel_of(
    problem: BinaryProblem, bins: Bins, name: str, test: TestName, level: float, log_odds: Scale
) -> BinTestPanel:
    n_bins, found = len(bins), verdicts(problem, bins, test, level)
    rejected, is_low = found.weight * found.is_rejected, found.score < bins.event_rate[found.bin]
    return BinTestPanel(
        problem.name or name,
        problem.share,
        shown(bins, are_counts=problem.weights.are_counts),
        sums(found.bin, rejected * is_low, n_bins),
        sums(found.bin, rejected * ~is_low, n_bins),
        *accepted(test, bins.outcome_sum, bins.weight, level),
        bin_profiles(found, n_bins, PROBABILITY),
        bin_profiles(found, n_bins, log_odds),
    )


# The predictions of each bin as a violin, coloured where the events of the bin reject them


RATE = drawing.COLOURS[-1]
REJECTED = {"facecolor": drawing.GAP, "edgecolor": drawing.GAP, "linewidth": 0.7}
KEPT = {"facecolor": drawing.FILL, "edgecolor": drawing.COLOURS[0], "linewidth": 0.7}
SIZES = {"facecolor": drawing.FILL}

HALF_WIDTH, HALF_LINE = 0.4, 0.46
"""Of a violin where it is widest, and of the line of its event rate; bins are 1 apart."""

MOST_SHARES, MOST_LEVEL = 25, {True: 10, False: 5}
"""Bins up to which the rejected shares are written, and up to which they are written level, in a diagram alone or not."""

MOST_TICKS, SOME_TICKS = {True: 25, False: 12}, 8
"""Bins that are all numbered, and about how many are where there are more."""


def draw_violins(ax: Any, below: Any, panel: BinTestPanel, alone: bool, log_odds: bool) -> None:
    """Draw the violins of a panel, each across its event rate, and the rows of the bins below; ``alone`` has more room."""
    bins, at = panel.bins, np.arange(1, len(panel.bins) + 1)
    held = bins.weight > 0
    ax.set_xscale("linear")
    ax.set_xlim(0.4, len(bins) + 0.6)
    ax.set_xticks(at[:: 1 if len(at) <= MOST_TICKS[alone] else -(-len(at) // SOME_TICKS)])
    ax.grid(axis="y", color=drawing.GRID, linewidth=0.8)
    rate = {"color": RATE, "linewidth": 1.6, "zorder": 3, "label": "event rate"}
    ax.hlines(bins.event_rate[held], (at - HALF_LINE)[held], (at + HALF_LINE)[held], **rate)
    reach = (panel.upper - panel.lower)[held]
    ax.bar(at[held], reach, 2 * HALF_LINE, panel.lower[held], color=drawing.BAND, label="accepted values", zorder=1)
    shown = panel.log_odds if log_odds else panel.probability
    for b in np.flatnonzero(held):
        _draw_violin(ax, panel, shown, int(b))
    ax.fill([], [], **KEPT, label="not rejected")
    _draw_sizes(below, panel, at, alone)


def _draw_violin(ax: Any, panel: BinTestPanel, shown: BinProfiles, b: int) -> None:
    """Draw the violin of a bin, and over it once more what lies outside of the accepted probabilities."""
    at, half = b + 1, HALF_WIDTH * shown.density[b] / shown.density[b].max()
    heights = shown.slice_edges[b]
    outline = np.concatenate([at - half, (at + half)[::-1]]), np.concatenate([heights, heights[::-1]])
    is_all, is_none = panel.rejected[b] == panel.bins.weight[b], panel.rejected[b] == 0
    ax.fill(*outline, **(REJECTED if is_all else KEPT), zorder=2)
    if not (is_all or is_none):
        (over,) = ax.fill(*outline, **REJECTED, zorder=2.1)
        over.set_clip_path(_outside(at, panel.lower[b], panel.upper[b]), ax.transData)


def _outside(at: int, lower: float, upper: float) -> Any:
    """Return all that is below and above, around a place."""
    from matplotlib.path import Path

    left, right = at - 0.5, at + 0.5
    corners = [[(left, a), (right, a), (right, b), (left, b), (left, a)] for a, b in ((-1.0, lower), (upper, 2.0))]
    return Path.make_compound_path(*(Path(np.array(c), closed=True) for c in corners))


def _draw_sizes(below: Any, panel: BinTestPanel, at: IntArray, alone: bool) -> None:
    """Draw the rows of each bin, and the part of them that is rejected, in percent."""
    weight = panel.bins.weight
    below.bar(at, weight, 2 * HALF_WIDTH, **SIZES)
    below.bar(at, panel.rejected, 2 * HALF_WIDTH, **REJECTED)
    if len(at) > MOST_SHARES or not weight.any():
        return
    is_level = len(at) <= MOST_LEVEL[alone]
    below.set_ylim(top=(1.3 if is_level else 2.0) * weight.max())
    shape = {"rotation": 0 if is_level else 90, "fontsize": "x-small" if alone else "xx-small"}
    place = {"xytext": (0, 2), "textcoords": "offset points", "ha": "center", "va": "bottom"}
    for b in np.flatnonzero(weight):
        below.annotate(f"{panel.rejected_share[b]:.0%}", (at[b], weight[b]), **place, **shape)


# The test-based reliability diagram, and the standard one in the same frame


Style = Literal["violin", "standard"]

COLUMNS = {"orientation": "horizontal", "fill": True}

HEIGHT, WIDER = 5.2, 1.3
"""Height of a diagram alone in inches, and how much wider a figure is than one without a histogram beside."""

TESTS = {
    "binomial": "exact binomial test",
    "mid-p": "mid-p binomial test",
    "clopper-pearson": "Clopper-Pearson interval",
    "t": "t-test",
}


def plot_bin_test(
    curve: BinTestCurve,
    *,
    ax: Any = None,
    panels: Sequence[str] | None = None,
    style: Style = "violin",
    axis: reliability.Axis = "probability",
) -> Any:
    """Draw the predictions of each bin as a violin across its event rate, coloured where the events reject them.

    Parameters
    ----------
    curve : BinTestCurve
        Of one forecast.
    ax : matplotlib Axes, optional
        Where to draw a single panel; a new figure by default, with a panel for each problem of the notion.
    panels : sequence of str, optional
        Names of the panels to draw, such as ``"class 3"``; by default all, up to 40.
    style : {"violin", "standard"}, default="violin"
        Violins, bins as far apart whatever they span; or mean probability against event rate, the standard reliability
        diagram, over the same bins and in the same frame.
    axis : {"probability", "log-odds"}, default="probability"
        Scale of probabilities. Log-odds spread rare events out, and reach nearly all predictions. Those beyond stand at the
        edge.

    Returns
    -------
    matplotlib Axes, or ndarray of Axes for several panels
        What was drawn on.

    Raises
    ------
    ValueError
        If panels are unknown or too many, if ``ax`` is given for several, or if a word is none of those above.
    TypeError
        If something is no `BinTestCurve`.

    Notes
    -----
    The grey band behind a violin holds the probabilities that the events of the bin accept, the line in it is their rate, and
    the orange part of the violin lies outside. Each violin is as wide as the others where it is widest; a bin of one score is
    a line. Its outline is smoothed, on the scale that is drawn, by a normal kernel that ends where the predictions end. Below
    stand the rows of each bin and the part of them that is rejected, in percent; beside, the predictions of all bins, in
    columns that are equal on the scale that is drawn. The percentage in the
    title is that of all rows of the panel, TCE; where a curve has several panels, the one above is that of the curve.

    In the standard diagram the vertical lines hold the accepted probabilities: the mean is not rejected where they
    cross the diagonal.

    References
    ----------
    Matsubara, Tax, Mudd, Guy, TCE: A test-based approach to measuring calibration error, UAI 2023 (Figure 1).

    Examples
    --------
    >>> from calibrant import load_digits_forecast
    >>> from calibrant.curves import bin_test_curve
    >>> ax = bin_test_curve(*load_digits_forecast()).plot()
    """
    drawing.require_kind(curve, "curve", "bin_test_curve(y_true, y_prob)", BinTestCurve)
    is_violin = choice("style", style, ("violin", "standard")) == "violin"
    log_odds = choice("axis", axis, ("probability", "log-odds")) == "log-odds"
    test, reach = f"{TESTS[curve.test]}, level {curve.level:g}", curve.panels[0].log_odds.histogram_edges[[0, -1]]
    values = (
        (p.log_odds.slice_edges.ravel(), p.bins.mean_prob, p.bins.event_rate, p.lower, p.upper) for p in curve.panels
    )
    span = np.concatenate([part for parts in values for part in parts])

    def draw(ax: Any, drawn: Mapping[str, BinTestPanel], alone: bool) -> Any:
        panel = drawn[""]
        if log_odds:
            drawing.use_log_odds(ax, span, tuple(reach.tolist()))
        else:
            ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
        below, beside = drawing.rooms(ax, "bottom", "right")
        drawing.tidy(ax, below, beside)
        (draw_violins if is_violin else _draw_standard)(ax, below, panel, alone, log_odds)
        if is_violin:
            ax.fill([], [], **REJECTED, label="rejected" if alone else f"rejected by {test}")
        shown = panel.log_odds if log_odds else panel.probability
        if is_violin:
            beside.stairs(shown.histogram_rejected, shown.histogram_edges, **COLUMNS, **REJECTED, zorder=2)
        beside.stairs(shown.histogram, shown.histogram_edges, **COLUMNS, **SIZES)
        beside.set_xlim(0, max(beside.get_xlim()[1], 1.0))
        below.set_ylim(0, max(below.get_ylim()[1], 1.0))
        if alone:
            below.set_ylabel("rows", fontsize="small")
            beside.set_xlabel("rows", fontsize="small")
        return below

    labels = ("bin", "probability") if is_violin else ("mean probability", drawing.outcome_word(curve))
    how: dict[str, Any] = {"height": HEIGHT, "labels": labels, "legend": _draw_legend}
    axes = drawing.draw_panels({"": curve}, draw, ax=ax, panels=panels, **how)
    drawn = np.atleast_1d(axes)
    figure, alone = drawn[0].figure, drawn.size == 1
    for own, name in zip(drawn, [panel.name for panel in curve.panels] if panels is None else panels, strict=True):
        error = drawing.panel_of(curve, name).error
        words = f"TCE {error:.1f}%" if is_violin and not np.isnan(error) else ""
        if words and alone:
            words += f"\n{test}"
        own.set_title(": ".join(filter(None, (own.get_title(), words))), y=1.0, fontsize="medium" if alone else "small")
    if not alone and is_violin:
        figure.legends[-1].set_title(f"TCE in all: {curve.error:.1f}%")
    if ax is None:
        figure.set_size_inches(figure.get_size_inches() * (WIDER, 1.0))
    if figure.get_layout_engine() is not None:  # a first layout: see draw_panels
        figure.get_layout_engine().execute(figure)
    return axes


def _draw_legend(ax: Any) -> None:
    """Draw the legend into the corner that the rooms leave free."""
    corner = (1.0 + drawing.MARGINS_APART, -drawing.MARGINS_APART)
    look = {"borderaxespad": 0.0, "frameon": False, "fontsize": "small", "handlelength": 1.0, "handletextpad": 0.5}
    ax.legend(loc="upper left", bbox_to_anchor=corner, **look)


def _draw_standard(ax: Any, below: Any, panel: BinTestPanel, alone: bool, log_odds: bool) -> None:
    ax.grid(color=drawing.GRID, linewidth=0.8)
    ax.set_aspect("equal")
    ax.plot([0, 1], [0, 1], color=drawing.IDEAL, linestyle="--", linewidth=1, label=drawing.DIAGONAL, zorder=1.5)
    reliability.draw_points(ax, panel, "forecast", 0, log_odds=log_odds, joined=True)
    if log_odds:
        reliability.draw_edges(ax, panel, 0)
        below.tick_params(axis="x", rotation=40)
    held = panel.bins.weight > 0
    ends = panel.lower[held], panel.upper[held]
    ax.vlines(panel.bins.mean_prob[held], *ends, color=drawing.colour(0), linewidth=1.2, alpha=0.55, zorder=2)
    below.stairs(panel.bins.weight, panel.bins.edges, fill=True, **SIZES)
