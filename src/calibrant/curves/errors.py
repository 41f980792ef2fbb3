"""Calibration errors class by class, and as a distribution; and what bins are worth."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import cycle
from typing import Any, Unpack

import numpy as np

from calibrant import drawing
from calibrant._core.arrays import ArrayLike, FloatArray
from calibrant._core.border import DataOptions, as_problem
from calibrant._core.checks import flag, require, resamples, warn, whole
from calibrant._core.result import DrawnResult, Picture, Record, Result, Table, under
from calibrant._core.rows import BoolArray, IntArray, Problem, SimplexProblem, as_simplex
from calibrant.binning.bins import Binning, Bins, Unique, as_binning, shown
from calibrant.lenses import InBins
from calibrant.metrics.bin_losses import Loss, Norm, NormOfBins, gap, l1
from calibrant.metrics.estimate import cells, consistent_deviations
from calibrant.metrics.noise import with_labels
from calibrant.notions import Notion, WithinGroups, as_notion
from calibrant.sums.draws import Rng, as_rng, labels_of
from calibrant.sums.reading import cells_of, is_unread, scan
from calibrant.sums.sums import BinTable, Plan

MOST_CELLS = 1 << 23
"""Draws times cells in memory at once."""


def name_of(choice: str | Callable[..., object]) -> str:
    """Return the word of a choice, or the name of a function that was passed in place of a word."""
    return str(getattr(choice, "__name__", choice))


# Calibration errors class by class


@dataclass(frozen=True, eq=False)
class ClassErrors(DrawnResult):
    """A calibration error for each problem of a notion.

    Attributes
    ----------
    names : tuple of str
        Names of the problems, such as "predicted 3".
    value : ndarray of shape (n_problems,)
        Their errors; NaN of a problem without rows, such as a class that is never predicted.
    noise_floor : ndarray of shape (n_problems,)
        Their expected values under calibration (noise floors); NaN without rows, or where no draws were asked for.
    share : ndarray of shape (n_problems,)
        Their shares of the whole, which sum to one.
    count : ndarray of shape (n_problems,)
        Their numbers of rows.
    notion, binning, loss, norm : str
        Where the figures come from.
    """

    _table = Table("problem", "name=names", "value", "noise_floor", "share", "count")
    _summary = "{notion}, {binning}, {loss}, {norm}, problems={names:n}"
    _picture = Picture("the errors as bars", "curves.errors.plot_class_errors", takes=("noise", "counts"))

    names: tuple[str, ...]
    value: FloatArray
    noise_floor: FloatArray
    share: FloatArray
    count: IntArray
    notion: str
    binning: str
    loss: str
    norm: str


def class_errors(
    y_true: ArrayLike,
    y_prob: ArrayLike | None = None,
    *,
    notion: str | Notion = "top-label",
    binning: int | Binning = 15,
    loss: str | Loss = "gap",
    norm: str | Norm = "l1",
    n_resamples: int = 200,
    rng: Rng = 0,
    **data: Unpack[DataOptions],
) -> ClassErrors:
    """Calibration error of each class by itself, with its expected value under calibration (noise floor).

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    notion : str or Notion, default="top-label"
        Whose problems are measured: ``"top-label"`` speaks of each predicted class, ``"class-wise"`` of each class against the
        rest.
    binning : int or Binning, default=15
        How the scores of each problem are cut; a number n means ``EqualWidth(n)``.
    loss : {"gap", "squared gap", "debiased squared gap"} or callable, default="gap"
        A function of (problem, bins) with one value a bin.
    norm : {"l1", "l2", "root", "max"} or callable, default="l1"
        A function of (values, weights) over the bins of a problem that hold rows; the weights sum to one.
    n_resamples : int, default=200
        Draws of labels from the forecast for the noise floor; 0 leaves it out.
    rng : numpy.random.Generator, int or None, default=0
        Source of randomness of the draws.
    **data : DataOptions
        ``y_pred``, the predicted class of each row where ``y_prob`` is its probability alone, ``sample_weight``, ``labels``,
        ``pos_label``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    ClassErrors
        A result with ``names``, ``value``, ``noise_floor``, ``share``, ``count``, ``to_frame()`` and ``plot()``. Of norm l1,
        the values times the shares add up to `calibration_error`.

    Raises
    ------
    ValueError
        If values are not what they must be, or a word is none of those above.

    Notes
    -----
    A rare class can have a large error only because it has few rows. Compare its error with its noise floor, and never with
    that of a frequent class.

    References
    ----------
    Gupta, Ramdas, Top-label calibration and multiclass-to-binary reductions, ICLR 2022.

    Examples
    --------
    >>> from calibrant.curves import class_errors
    >>> P = [[0.8, 0.1, 0.1], [0.6, 0.3, 0.1], [0.2, 0.7, 0.1], [0.3, 0.6, 0.1]]
    >>> errors = class_errors([0, 0, 1, 2], P, binning=1)
    >>> errors.names, errors.value.round(2).tolist(), errors.count.tolist()
    (('predicted 0', 'predicted 1', 'predicted 2'), [0.3, 0.15, nan], [2, 2, 0])
    """
    resamples(n_resamples, least=0, hint="200 is usual, 0 leaves the noise floor out")
    problem = as_problem(y_true, y_prob, **data)
    chosen, cut = as_notion(notion, problem), as_binning(binning)
    lens, size, generator = InBins(cut), NormOfBins.of(loss, norm), as_rng(rng)
    value, parts = _values(problem, chosen, lens, size), cells_of(problem, chosen, cut).shown
    names, share, count = zip(
        *((one.name or chosen.name, one.share, one.bins.count.sum()) for one in parts), strict=True
    )
    floor = np.full(value.size, np.nan)
    if n_resamples > 0:
        draw = _redrawn if size.loss is not gap or cut.uses_outcomes else _gaps_redrawn
        floor = draw(as_simplex(problem), chosen, lens, size, n_resamples, generator)
    how = (chosen.name, repr(cut), name_of(loss), name_of(norm))
    return ClassErrors(names, value, floor, np.array(share), np.array(count, dtype=np.intp), *how)


def _values(problem: Problem, notion: Notion, lens: InBins, size: NormOfBins) -> FloatArray:
    """Return the error of each problem; NaN without rows."""
    if size.of_table is not None and is_unread(problem):
        table = scan(problem, Plan.of_cells([(notion, lens.cut)])).cells[0]
        parts = [BinTable.of([replace(one, share=1.0)]) for one in table]
        return np.array([size.of_table(one) if one.held[0] > 0.0 else np.nan for one in parts])
    alone = (replace(binary, share=1.0) for binary in notion.split(problem))
    return np.array([size.of_problems([(one, lens(one))]) if one.size else np.nan for one in alone])


def _redrawn(
    problem: SimplexProblem, notion: Notion, lens: InBins, size: NormOfBins, n_resamples: int, rng: np.random.Generator
) -> FloatArray:
    """Mean errors of labels that the forecast draws, measured anew each time."""
    total = 0.0 * _values(problem, notion, lens, size)
    for draw in labels_of(problem, n_resamples, rng):
        total += _values(*with_labels(problem, notion, draw), lens, size)
    return total / n_resamples


def _gaps_redrawn(
    problem: SimplexProblem, notion: Notion, lens: InBins, size: NormOfBins, n_resamples: int, rng: np.random.Generator
) -> FloatArray:
    """Return the same of gaps in bins that stay where they are: only the events of each bin are drawn."""
    table = cells(problem, notion, lens.cut)
    parts = [(part, (table.part == part) & (table.weight > 0)) for part in np.unique(table.part[table.weight > 0])]
    total = np.full(notion.n_parts(problem), np.nan)
    total[[part for part, _ in parts]] = 0.0
    step = max(1, MOST_CELLS // table.weight.size)
    for first in range(0, n_resamples, step):
        (deviations,) = consistent_deviations(problem, [table], min(step, n_resamples - first), rng)
        for part, held in parts:
            weight = table.weight[held]
            gaps = np.abs(deviations[:, held] / weight)
            total[part] += sum(size.norm(row, weight / weight.sum()) for row in gaps)
    return total / n_resamples


# Calibration errors of classes as bars


NAMES = {"l1": "ECE", "l2": "RMSCE", "max": "MCE"}

NOISE = "noise floor"

TOGETHER = 0.8
"""Width of the bars of one class, of the room that it has."""

MOST_COUNTED = 20
"""With more classes their numbers of rows would run into each other."""

LONGEST = 20
"""Letters of their names: longer ones leave the bars no room."""

LETTER = 0.065
"""Width of a letter of their names in inches, about."""


def plot_class_errors(
    results: ClassErrors | Mapping[str, ClassErrors], *, ax: Any = None, noise: bool = True, counts: bool = True
) -> Any:
    """Draw the calibration error of each class as a bar, with a tick at its noise floor.

    Parameters
    ----------
    results : ClassErrors or dict of name to ClassErrors
        One forecast, or several side by side, such as before and after. Several must have the same classes, notion, loss and
        norm; "group 3" of `WithinGroups` stands beside "predicted 3".
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.
    noise : bool, default=True
        Mark the noise floor of each bar: its expected value under calibration.
    counts : bool, default=True
        Write under each class its number of rows, up to 20 classes; where forecasts differ, that of each.

    Returns
    -------
    matplotlib Axes
        What was drawn on, with the words of the first result. A class without rows has no bar.

    Raises
    ------
    ValueError
        If there is no result, or if classes, notions, losses or norms differ.
    TypeError
        If something is no such result.

    Examples
    --------
    >>> from calibrant import load_digits_forecast
    >>> from calibrant.curves import class_errors
    >>> ax = class_errors(*load_digits_forecast()).plot()
    """
    named = drawing.as_named(results, "results", "class_errors(y_true, y_prob)", ClassErrors)
    first = next(iter(named.values()))
    word, labels = _require_alike(list(named.values()))
    labels = [drawing.cut(label, LONGEST) for label in labels]
    n_classes, n_bars = len(first.names), len(named)
    ax = drawing.new_axes(ax, (np.clip(2.4 + n_classes * (0.25 + 0.17 * n_bars), 5.4, 14.0), 3.4))
    for number, (name, result) in enumerate(named.items()):
        _draw_bars(ax, result, name, number, n_bars, noise)
    if counts and n_classes <= MOST_COUNTED:
        rows = zip(*(result.count.tolist() for result in named.values()), strict=True)  # one number where all are equal
        counted = ["\n".join(map(str, own[:1] if len(set(own)) == 1 else own)) for own in rows]
        labels, word = [f"{label}\n{count}" for label, count in zip(labels, counted, strict=True)], f"{word}, and rows"
    longest = 1 + max(len(line) for label in labels for line in label.splitlines())
    upright = n_classes > MOST_COUNTED or n_classes * longest * LETTER > ax.get_window_extent().width / ax.figure.dpi
    ax.set_xticks(np.arange(n_classes), labels, fontsize="small", rotation=90 if upright else 0)
    ax.set_xlabel(word)
    ax.set_ylabel(f"{NAMES.get(first.norm, 'error') if first.loss == 'gap' else first.loss}, {first.notion}")
    if min(np.nanmin(result.value, initial=0.0) for result in named.values()) >= 0:  # else of a debiased loss
        ax.set_ylim(bottom=0)
    drawing.grid(ax, "y")
    handles, words = ax.get_legend_handles_labels()
    order = sorted(range(len(words)), key=lambda i: words[i] == NOISE)
    drawing.legend_beside(ax, [handles[i] for i in order], [words[i] for i in order])
    return ax


def _require_alike(results: Sequence[ClassErrors]) -> tuple[str, list[str]]:
    """Refuse bars of another measure or of other classes; return the word and the names of the classes without it."""
    for what in ("notion", "loss", "norm"):
        # Groups may be predicted classes.
        found = {getattr(result, what) for result in results} - {WithinGroups.name}
        must, hint = f"bars side by side must be of one {what}", f"Pass the same {what}= to class_errors"
        require(len(found) <= 1, must, got=" and ".join(sorted(found)), hint=hint)
    (word, short), *others = (_shared_word(result.names) for result in results)
    alike, hint = all(names == short for _, names in others), "Pass labels=... with all classes to each"
    value = [short, *(names for _, names in others)]
    require(alike, "bars side by side must be of the same classes", value=value, hint=hint)
    return word, short


def _draw_bars(ax: Any, result: ClassErrors, name: str, number: int, n_bars: int, noise: bool) -> None:
    each = TOGETHER / n_bars
    middle = np.arange(len(result.names)) + each * (number - (n_bars - 1) / 2)
    ax.bar(middle, result.value, width=0.92 * each, color=drawing.colour(number), label=name or None)
    if noise and np.isfinite(result.noise_floor).any():
        # White below black, so that it is seen on a bar and above one.
        ends = middle - 0.46 * each, middle + 0.46 * each
        ax.hlines(result.noise_floor, *ends, color="white", linewidth=2.8, zorder=3)
        label = NOISE if number == n_bars - 1 else None
        ax.hlines(result.noise_floor, *ends, color="black", linewidth=1.3, zorder=3, label=label)


def _shared_word(names: Sequence[str]) -> tuple[str, list[str]]:
    """Word with which all names begin, and the names without it: "predicted 3" is 3 of the predicted classes."""
    word, split, _ = names[0].partition(" ")
    if len(names) < 2 or not split or not all(name.startswith(f"{word} ") for name in names):
        return "", list(names)
    return {"predicted": "predicted class"}.get(word, word), [name[len(word) + 1 :] for name in names]


# The distribution of the distances whose mean is the calibration error


ROUNDING, WITHIN = 1e-12, float(np.finfo(np.float32).eps)
"""Rates that differ by less are equal; a gap that exceeds an error by no more, in single precision too, does not exceed it."""

GRID = np.linspace(0.0, 1.0, 501)


@dataclass(frozen=True, eq=False)
class ValidityCurve(DrawnResult):
    """Share of predictions whose distance to the rate of their event is at most so much, for every such distance.

    Attributes
    ----------
    error : ndarray of shape (n_cells,)
        Distances between event rate and mean probability in the cells, the bins of all problems that hold rows; rising.
    share : ndarray of shape (n_cells,)
        Share of the predictions that lie in cells up to this one, in (0, 1]; the last is one.
    notion, binning : str
        Where the figures come from.
    points_per_bin : int or None
        Rows on which each bin of the calibrator was fitted, if its guarantee was asked for.
    """

    _table = Table("cell", "error", "share")
    _summary = "{notion}, {binning}, cells={error:n}, mean_error={mean_error:.3g}"
    _picture = Picture("the curve", "curves.errors.plot_validity", takes=("guarantee",))

    error: FloatArray
    share: FloatArray
    notion: str
    binning: str
    points_per_bin: int | None = None

    @property
    def mean_error(self) -> float:
        """Mean distance, which is the area above the curve: the calibration error of norm l1.

        Returns
        -------
        float
            In [0, 1].
        """
        return float(np.diff(self.share, prepend=0.0) @ self.error)

    def share_within(self, error: ArrayLike) -> Any:
        """Return the share of predictions whose distance is at most so much.

        Parameters
        ----------
        error : float or array-like
            Distances.

        Returns
        -------
        float or ndarray of the same shape
            Shares, in [0, 1]; 1 where the notion found no row to speak of.
        """
        at = np.searchsorted(self.error, np.asarray(error, dtype=np.float64) + WITHIN, side="right")
        shares = np.append(0.0, self.share)[at] if self.error.size else np.ones(np.shape(error))
        return float(shares) if np.ndim(error) == 0 else shares

    @property
    def guarantee(self) -> tuple[FloatArray, FloatArray] | None:
        """Distances, and the share of predictions that theory promises within each; None without ``points_per_bin``.

        Returns
        -------
        tuple of two ndarrays of shape (501,), or None
            The share is  1 - 2 exp(-2 (k - 1) error^2)  or 0, with k points per bin.
        """
        if self.points_per_bin is None:
            return None
        return GRID, np.maximum(0.0, 1.0 - 2.0 * np.exp(-2.0 * (self.points_per_bin - 1) * GRID**2))


def validity_curve(
    y_true: ArrayLike,
    y_prob: ArrayLike | None = None,
    *,
    notion: str | Notion | None = None,
    binning: int | Binning = Unique(),  # noqa: B008  a frozen object
    points_per_bin: int | None = None,
    **data: Unpack[DataOptions],
) -> ValidityCurve:
    """Share of predictions within each distance of the rate of their event (validity plot).

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    notion : str or Notion, optional
        By default ``"binary"`` for two classes and ``"confidence"`` for more.
    binning : int or Binning, default=Unique()
        How scores are cut; a number n means ``EqualWidth(n)``. By default each distinct score has a bin of its own: right for a
        forecast that takes few values, such as one after histogram binning. Any other forecast has to be cut.
    points_per_bin : int, optional
        The number of rows on which each bin of a histogram binning was fitted, at least 2: the curve then holds what theory
        promises of that calibrator.
    **data : DataOptions
        ``y_pred``, the predicted class of each row where ``y_prob`` is its probability alone, ``sample_weight``, ``labels``,
        ``pos_label``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    ValidityCurve
        A result with ``error``, ``share``, ``share_within(error)``, ``to_frame()`` and ``plot()``.

    Warns
    -----
    CalibrationWarning
        If most rows are alone in their bin: then distances are those to single outcomes.

    Notes
    -----
    With V(e) the weight of the cells whose gap is at most e, in all problems of the notion by their shares,

        V(e) = sum over cells c of  weight(c)  where  abs(rate(c) - mean probability(c)) <= e,

    and the area above V, the integral of 1 - V, is the calibration error of norm l1.

    The true rate of a cell is not known: its rate in the sample stands for it, with the noise of the sample. A cell of m
    rows of a calibrated forecast shows a gap of about sqrt(p (1 - p) / m), so that the curve lies too far to the right, the
    more so the fewer rows a cell holds. Over cells wider than the values of the forecast, gaps of unlike sign cancel
    and it can lie too far to the left.

    A histogram binning of k points per bin promises of the true rates that a prediction is within e of its rate with
    probability at least  1 - 2 exp(-2 (k - 1) e^2),  over draws of the rows that it was fitted on and of the prediction. A
    curve below that breaks no promise where the sample has few rows a cell.

    References
    ----------
    Gupta, Ramdas, Distribution-free calibration guarantees for histogram binning without sample splitting, ICML 2021.
    Gupta, Ramdas, Top-label calibration and multiclass-to-binary reductions, ICLR 2022, Theorem 1.

    Examples
    --------
    >>> from calibrant.curves import validity_curve
    >>> curve = validity_curve([0, 1, 1, 1, 0], [0.5, 0.5, 0.5, 0.9, 0.9])
    >>> curve
    ValidityCurve(binary, Unique(), cells=2, mean_error=0.26)
    >>> curve.share_within(0.2)
    0.6
    """
    if points_per_bin is not None:
        points_per_bin = whole("points_per_bin", points_per_bin, least=2, hint="50 is usual")
    problem = as_problem(y_true, y_prob, all_rows="the validity of cells", **data)
    chosen, cut = as_notion(notion, problem), as_binning(binning)
    gap, weight = _gaps(problem, chosen, cut)
    order = np.argsort(gap, kind="stable")
    reached = np.cumsum(weight[order])
    share = reached / reached[-1] if reached.size else reached
    return ValidityCurve(gap[order], share, chosen.name, repr(cut), points_per_bin)


def _gaps(problem: Problem, notion: Notion, binning: Binning) -> tuple[FloatArray, FloatArray]:
    """Return the gap and the weight of each cell that holds rows."""
    gaps, weights, rows, alone = [np.empty(0)], [np.empty(0)], 0, 0
    for binary in notion.split(problem):
        if binary.size == 0:  # a class that is never predicted
            continue
        bins = shown(binning(binary), are_counts=binary.weights.are_counts)
        held = bins.weight > 0
        gaps.append(np.abs(bins.gap[held]))
        weights.append(binary.share * bins.weight[held] / bins.weight.sum())
        rows, alone = rows + binary.weights.n_rows, alone + int((bins.count == 1).sum())
    if 2 * alone > rows:
        warn(
            f"binning must put rows together; got {alone} of {rows} rows alone in their bins: their distances are those to "
            "single outcomes. Pass binning=EqualMass(15), or a forecast that takes few values."
        )
    return np.concatenate(gaps), np.concatenate(weights)


# The validity plot


def plot_validity(
    curves: ValidityCurve | Mapping[str, ValidityCurve], *, ax: Any = None, guarantee: bool = True
) -> Any:
    """Draw the share of predictions within each distance of the rate of their event: steps from 0 to 1.

    Parameters
    ----------
    curves : ValidityCurve or dict of name to ValidityCurve
        One forecast, or several over each other.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.
    guarantee : bool, default=True
        Draw what theory promises, dashed, once for each number of points per bin that curves were made with.

    Returns
    -------
    matplotlib Axes
        What was drawn on. Higher is better; the area above a curve is the calibration error of norm l1.

    Raises
    ------
    ValueError
        If there is no curve.
    TypeError
        If something is no curve, or ``guarantee`` neither True nor False.

    Examples
    --------
    >>> from calibrant import load_digits_forecast
    >>> from calibrant.curves import validity_curve
    >>> ax = validity_curve(*load_digits_forecast(), binning=15).plot()
    """
    named = drawing.as_named(curves, "curves", "validity_curve(y_true, y_prob)", ValidityCurve)
    promised = (
        {c.points_per_bin: c.guarantee for c in named.values() if c.guarantee} if flag("guarantee", guarantee) else {}
    )
    has_key = bool(promised) or "" not in named
    ax = drawing.new_axes(ax, (6.8 if has_key else 4.6, 3.6))
    for number, (name, curve) in enumerate(named.items()):
        steps = np.concatenate([[0.0], curve.error, [1.0]]), np.concatenate([[0.0], curve.share, [1.0]])
        ax.step(*steps, where="post", color=drawing.colour(number), linewidth=1.6, label=name or "forecast", zorder=3)
    for (points, ends), dashes in zip(promised.items(), cycle(("--", ":", "-.")), strict=False):
        look = {"color": drawing.IDEAL, "linestyle": dashes, "linewidth": 1.2}
        ax.plot(*ends, label=f"promised, {points} points a bin", zorder=2, **look)
    most = max(curve.error.max(initial=0.0) for curve in named.values())
    ax.set(xlabel="distance to the rate of the event", ylabel="share of predictions within")
    ax.set(xlim=(0.0, min(1.0, 1.1 * most) or 1.0), ylim=(0.0, 1.02))
    drawing.grid(ax)
    if has_key:
        drawing.legend_beside(ax)
    return ax


# What bins are worth: the variance of outcomes within them, and whether event rates increase from bin to bin


@dataclass(frozen=True, eq=False)
class BinningPanel(Record):
    """One problem of a notion: the bins of it that are judged, and its share in the aggregate."""

    name: str
    share: float
    bins: Bins

    @property
    def variance(self) -> FloatArray:
        """Variance of the outcomes in each bin; NaN where a bin is empty."""
        rate = self.bins.event_rate
        return np.asarray(rate * (1.0 - rate), dtype=np.float64)

    @property
    def drop(self) -> FloatArray:
        """By how much each event rate is below that of the bin with rows before it; NaN where a bin is empty."""
        drop = np.full(len(self.bins), np.nan)
        held = self.is_held
        fall = np.maximum(0.0, -np.diff(self.bins.event_rate[held], prepend=0.0))
        drop[held] = np.where(fall > ROUNDING, fall, 0.0)
        return drop

    @property
    def is_held(self) -> BoolArray:
        """Whether each bin holds rows."""
        return np.asarray(self.bins.weight > 0)


@dataclass(frozen=True, eq=False)
class BinningQuality(Result):
    """Quality of the bins of a forecast. It has no plot: `reliability_curve` with the same binning draws the bins.

    Attributes
    ----------
    criterion : float
        Variance of outcomes within bins, averaged over rows, in [0, 0.25]: the criterion that a choice of bins can minimise.
    within_bin_error : float
        The same averaged over the bins that hold rows.
    n_bins : int
        Number of bins that hold rows, over all panels.
    smallest, largest : float
        Least and greatest weight of a bin that holds rows; numbers of rows where there are no weights. NaN without rows.
    n_violations : int
        Number of bins whose event rate is below that of the bin before.
    largest_violation : float
        Largest drop of the event rate from a bin to the next; 0 where it never decreases.
    panels : tuple of BinningPanel
        One for ``binary`` and ``confidence``, one a class for ``class-wise`` and ``top-label``; none without rows.
    notion, binning : str
        Where the figures come from.
    """

    _table = Table(
        "bin",
        "panel=panels.name",
        *under("panels.bins", "left", "right", "count", "weight", "event_rate"),
        *under("panels", "variance", "drop"),
    )

    criterion: float
    within_bin_error: float
    panels: tuple[BinningPanel, ...]
    notion: str
    binning: str

    @property
    def n_bins(self) -> int:
        """Number of bins that hold rows."""
        return int(sum(panel.is_held.sum() for panel in self.panels))

    @property
    def smallest(self) -> float:
        """Least weight of a bin that holds rows; a number of rows where there are no weights. NaN without rows."""
        return float(min((panel.bins.weight[panel.is_held].min() for panel in self.panels), default=np.nan))

    @property
    def largest(self) -> float:
        """Greatest weight of a bin; NaN without rows."""
        return float(max((panel.bins.weight.max() for panel in self.panels), default=np.nan))

    @property
    def n_violations(self) -> int:
        """Number of bins whose event rate is below that of the bin before."""
        return int(sum((panel.drop > 0).sum() for panel in self.panels))

    @property
    def largest_violation(self) -> float:
        """Largest drop of the event rate from a bin to the next; 0 where it never decreases."""
        return float(max((np.nanmax(panel.drop) for panel in self.panels), default=0.0))

    def __repr__(self) -> str:
        violations = f"violations={self.n_violations}"
        if self.n_violations:
            violations += f" up to {self.largest_violation:.4g}"
        return (
            f"BinningQuality({self.notion}, {self.binning}, bins={self.n_bins}, of {self.smallest:g} to "
            f"{self.largest:g}, criterion={self.criterion:.4g}, within bins={self.within_bin_error:.4g}, {violations})"
        )


def binning_quality(
    y_true: ArrayLike,
    y_prob: ArrayLike | None = None,
    *,
    notion: str | Notion | None = None,
    binning: int | Binning = 15,
    **data: Unpack[DataOptions],
) -> BinningQuality:
    """Quality of bins: variance of outcomes within them, their sizes, and where event rates decrease.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    notion : str or Notion, optional
        By default ``"binary"`` for two classes and ``"confidence"`` for more.
    binning : int or Binning, default=15
        The bins to judge; a number n means ``EqualWidth(n)``.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    BinningQuality
        ``criterion``, ``within_bin_error``, ``n_violations``, ``largest_violation``, the bins themselves, and ``to_frame()``.

    Raises
    ------
    ValueError
        If values are not what they must be: not finite, outside [0, 1], rows that do not sum to one, unknown labels.

    Notes
    -----
    With the event rate of a bin b the variance in it is  rate(b) * (1 - rate(b)),  the Brier score of that rate as forecast of
    its rows; the criterion is ``uncertainty - resolution`` of `murphy_decomposition`. Splitting a bin never makes it larger.
    Of all bins whose event rates do not decrease, those of `Isotonic` make it smallest. It compares bins of one forecast that
    obey the same constraint, on the rows that chose them: it is no estimate for held-out rows. The mean over bins depends on
    where the bins are: many of them where event rates are near one half make it larger.

    References
    ----------
    Matsubara, Tax, Mudd, Guy, TCE: A test-based approach to measuring calibration error, UAI 2023 (section 3.3, eq. 8, 9).
    Dimitriadis, Gneiting, Jordan, Stable reliability diagrams for probabilistic classifiers, PNAS 2021.

    Examples
    --------
    >>> from calibrant import EqualMass
    >>> from calibrant.curves import binning_quality
    >>> binning_quality([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4], binning=EqualMass(4))
    BinningQuality(binary, EqualMass(n_bins=4), bins=4, of 1 to 1, criterion=0, within bins=0, violations=1 up to 1)
    """
    problem = as_problem(y_true, y_prob, all_rows="the quality of bins", **data)
    by, cut = as_notion(notion, problem), as_binning(binning)
    panels = tuple(
        BinningPanel(binary.name or by.name, binary.share, shown(cut(binary), are_counts=problem.weights.are_counts))
        for binary in by.split(problem)
        if binary.size
    )
    return BinningQuality(
        float(sum(p.share * l1(p.variance[p.is_held], p.bins.weight[p.is_held] / p.bins.weight.sum()) for p in panels)),
        float(sum(p.share * p.variance[p.is_held].mean() for p in panels)),
        panels,
        by.name,
        repr(cut),
    )
