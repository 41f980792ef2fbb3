"""The calibration error of each class, or of each other problem of a notion, with its noise floor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from calibrant import drawing
from calibrant import style as _style
from calibrant._core.arrays import FloatArray
from calibrant._core.border import DataOptions, as_problem
from calibrant._core.checks import require, resamples
from calibrant._core.result import DrawnResult, Picture, Table
from calibrant._core.rows import IntArray, Problem, SimplexProblem, as_simplex
from calibrant.binning import Binning, as_binning
from calibrant.curves.bin_sweep import NAMES, name_of
from calibrant.lenses import InBins
from calibrant.metrics.bin_losses import Loss, Norm, NormOfBins, gap
from calibrant.metrics.estimate import cells, consistent_deviations
from calibrant.metrics.noise import with_labels
from calibrant.notions import Notion, WithinGroups, as_notion
from calibrant.sums.draws import Rng, as_rng, labels_of

MOST_CELLS = 1 << 23
"""Draws times cells in memory at once."""


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
    _picture = Picture("the errors as bars", "curves.class_errors.plot_class_errors", takes=("noise", "counts"))

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
    y_true: npt.ArrayLike,
    y_prob: npt.ArrayLike | None = None,
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
    binaries = [(binary.name or chosen.name, binary.share, binary.weights.n_rows) for binary in chosen.split(problem)]
    names, share, count = zip(*binaries, strict=True)
    value = _values(problem, chosen, lens, size)
    floor = np.full(value.size, np.nan)
    if n_resamples > 0:
        draw = _redrawn if size.loss is not gap or cut.uses_outcomes else _gaps_redrawn
        floor = draw(as_simplex(problem), chosen, lens, size, n_resamples, generator)
    how = (chosen.name, repr(cut), name_of(loss), name_of(norm))
    return ClassErrors(names, value, floor, np.array(share), np.array(count, dtype=np.intp), *how)


def _values(problem: Problem, notion: Notion, lens: InBins, size: NormOfBins) -> FloatArray:
    """Return the error of each problem; NaN without rows."""
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


NOISE = "noise floor"

TOGETHER = 0.8
"""Width of the bars of one class, of the room that it has."""

MOST_COUNTED = 20
"""With more classes their numbers of rows would run into each other."""


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
    n_classes, n_bars = len(first.names), len(named)
    ax = drawing.new_axes(ax, (np.clip(2.4 + n_classes * (0.25 + 0.17 * n_bars), 5.4, 14.0), 3.4))
    for number, (name, result) in enumerate(named.items()):
        _draw_bars(ax, result, name, number, n_bars, noise)
    if counts and n_classes <= MOST_COUNTED:
        rows = zip(*(result.count.tolist() for result in named.values()), strict=True)  # one number where all are equal
        counted = ["\n".join(map(str, own[:1] if len(set(own)) == 1 else own)) for own in rows]
        labels, word = [f"{label}\n{count}" for label, count in zip(labels, counted, strict=True)], f"{word}, and rows"
    ax.set_xticks(np.arange(n_classes), labels, fontsize="small", rotation=90 if n_classes > MOST_COUNTED else 0)
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
    ax.bar(middle, result.value, width=0.92 * each, color=_style.colour(number), label=name or None)
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
