"""The calibration error of each class, or of each other problem of a notion, with its noise floor."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Unpack

import numpy as np
import numpy.typing as npt

from calibrant._core.links import FloatArray
from calibrant._core.parameters import resamples
from calibrant._core.problem import IntArray, Problem, SimplexProblem, as_simplex
from calibrant._core.result import DrawnResult, Picture
from calibrant._core.table import Table
from calibrant._core.validation import DataOptions, as_problem
from calibrant.binning import Binning, as_binning
from calibrant.lenses.bins import InBins
from calibrant.metrics.binned.losses import Loss, Norm, NormOfBins, gap
from calibrant.metrics.uncertainty.cells import cells
from calibrant.metrics.uncertainty.deviations import consistent_deviations, labels_drawn
from calibrant.metrics.uncertainty.redrawn import with_labels
from calibrant.notions import Notion, as_notion
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
    _picture = Picture(
        "the errors as bars",
        "class_errors.plot_class_errors",
        options="Those of `plot_class_errors`: ``noise``, ``counts``.",
    )

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
    return ClassErrors(
        names=names,
        value=value,
        noise_floor=floor,
        share=np.array(share),
        count=np.array(count, dtype=np.intp),
        notion=chosen.name,
        binning=repr(cut),
        loss=_name(loss),
        norm=_name(norm),
    )


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
        labels = labels_drawn(problem, [table], min(step, n_resamples - first), rng)
        (deviations,) = consistent_deviations(problem, [table], labels, labels)
        for part, held in parts:
            weight = table.weight[held]
            gaps = np.abs(deviations[:, held] / weight)
            total[part] += sum(size.norm(row, weight / weight.sum()) for row in gaps)
    return total / n_resamples


def _name(choice: str | Loss | Norm) -> str:
    return choice if isinstance(choice, str) else getattr(choice, "__name__", repr(choice))
