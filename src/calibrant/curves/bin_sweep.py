"""A calibration error against the number of its bins, with its expected value under calibration."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, Unpack, cast

import numpy as np
import numpy.typing as npt

from calibrant._core.arrays import as_array
from calibrant._core.finite_numbers import as_numbers
from calibrant._core.links import FloatArray
from calibrant._core.parameters import fraction, require, resamples
from calibrant._core.problem import BinaryProblem, IntArray, SimplexProblem, as_simplex
from calibrant._core.result import DrawnResult, Picture
from calibrant._core.table import Table
from calibrant._core.validation import DataOptions, as_problem
from calibrant.binning import Binning, EqualWidth
from calibrant.lenses.bins import InBins
from calibrant.metrics.binned.losses import Norm, NormOfBins, as_norm
from calibrant.metrics.uncertainty.cells import Cells, cells
from calibrant.metrics.uncertainty.deviations import consistent_deviations, labels_drawn
from calibrant.notions import Notion, as_notion
from calibrant.sums.draws import Rng, as_rng

MOST_CELLS = 1 << 23
"""Draws times cells in memory at once."""


@dataclass(frozen=True, eq=False)
class BinSweep(DrawnResult):
    """A calibration error for each number of bins.

    Attributes
    ----------
    n_bins : ndarray of shape (k,)
        Numbers of bins asked for.
    value : ndarray of shape (k,)
        The error.
    noise_floor : ndarray of shape (k,)
        Its expected value under calibration (noise floor).
    noise_lower, noise_upper : ndarray of shape (k,)
        Quantiles between which it would lie in all but ``level`` of cases if the forecast were calibrated.
    notion, binning, norm : str
        Where the figures come from.
    level : float
        Share of calibrated forecasts outside the quantiles, half on each side, a fraction.
    """

    _table = Table("number of bins", "n_bins", "value", "noise_floor", "noise_lower", "noise_upper")
    _summary = "{notion}, {binning}, {norm}, n_bins={n_bins:range}"
    _picture = Picture("the error against the number of bins", "bin_sweep.plot_bin_sweep")

    n_bins: IntArray
    value: FloatArray
    noise_floor: FloatArray
    noise_lower: FloatArray
    noise_upper: FloatArray
    notion: str
    binning: str
    norm: str
    level: float


def bin_sweep(
    y_true: npt.ArrayLike,
    y_prob: npt.ArrayLike | None = None,
    *,
    n_bins: Sequence[int] = range(1, 51),
    binning: Binning | Callable[[int], Binning] = EqualWidth,
    norm: str | Norm = "l1",
    notion: str | Notion | None = None,
    level: float = 0.05,
    n_resamples: int = 200,
    rng: Rng = 0,
    **data: Unpack[DataOptions],
) -> BinSweep:
    """Calibration error for each number of bins, with its expected value under calibration (noise floor).

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    n_bins : sequence of int, default=range(1, 51)
        Numbers of bins, each at least 1. Published figures of networks often show ``range(5, 26)``.
    binning : callable or Binning, default=EqualWidth
        Makes a binning of a number of bins: `EqualWidth` or `EqualMass`. Of a binning that has ``n_bins``, such as
        ``EqualMass(5)``, that number is varied.
    norm : {"l1", "l2", "l<p>", "max"} or callable, default="l1"
        Which calibration error: ``"l1"`` is the ECE, ``"max"`` the MCE.
    notion : str or Notion, optional
        By default ``"binary"`` for two classes and ``"confidence"`` for more.
    level : float, default=0.05
        Share of calibrated forecasts outside the band of noise, a fraction in (0, 1).
    n_resamples : int, default=200
        Draws of labels from the forecast; each serves all numbers of bins.
    rng : numpy.random.Generator, int or None, default=0
        Source of randomness of the draws.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    BinSweep
        A result with ``value``, ``noise_floor``, ``to_frame()`` and ``plot()``.

    Notes
    -----
    One bin sees only a shift of all probabilities. More bins see finer errors and more noise: in a bin of m rows the gap of a
    calibrated forecast is about sqrt(p (1 - p) / m), so that the noise floor grows with the root of the number of bins.
    Compare a value with the band at the same number of bins, and never with a value of another binning.

    `plot_bin_sweep` draws the sweeps of several forecasts, each under several notions, such as conf-ECE and TL-ECE before
    and after calibration. Of a pair (label, probability), such as ``ByNotion(...).predict_top`` gives, they are those of
    ``bin_sweep(y_true == label, probability)`` without and with ``notion=WithinGroups(label)``.

    References
    ----------
    Gupta, Ramdas, Top-label calibration and multiclass-to-binary reductions, ICLR 2022, Fig. 3.
    Roelofs, Cain, Shlens, Mozer, Mitigating bias in calibration error estimation, AISTATS 2022.
    Bröcker, Smith, Increasing the reliability of reliability diagrams, Weather and Forecasting 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.curves import bin_sweep
    >>> p = np.random.default_rng(2).random(500)
    >>> sweep = bin_sweep(np.random.default_rng(1).random(500) < p, p, n_bins=[1, 10, 40], n_resamples=50)
    >>> bool((np.diff(sweep.noise_floor) > 0).all())
    True
    """
    numbers = _require_numbers(n_bins)
    fraction("level", level, hint="For a 95 % band pass level=0.05")
    resamples(n_resamples, hint="200 is usual")
    problem = as_problem(y_true, y_prob, **data)
    chosen, size = as_notion(notion, problem), as_norm(norm)
    make = _maker_of(binning)
    cuts = tuple(make(int(number)) for number in numbers)
    require(
        isinstance(cuts[0], Binning),
        "binning must make a binning of scores",
        value=cuts[0],
        hint="Pass EqualWidth or EqualMass",
        error=TypeError,
    )
    value, noise = _sweep(as_simplex(problem), chosen, cuts, size, int(n_resamples), as_rng(rng))
    lower, upper = np.quantile(noise, [level / 2.0, 1.0 - level / 2.0], axis=0)
    return BinSweep(
        n_bins=numbers,
        value=value,
        noise_floor=noise.mean(axis=0),
        noise_lower=lower,
        noise_upper=upper,
        notion=chosen.name,
        binning=type(cuts[0]).__name__,
        norm=norm if isinstance(norm, str) else getattr(norm, "__name__", repr(norm)),
        level=level,
    )


@dataclass(frozen=True)
class Common(Binning):
    """All cuts of several binnings: each of their bins is a run of bins of this one.

    ``own`` takes down the edges of each of them, problem after problem.
    """

    cuts: tuple[Binning, ...]
    own: list[list[FloatArray]] = field(default_factory=list)

    def edges(self, problem: BinaryProblem) -> FloatArray:
        """Return all their edges."""
        order = np.argsort(problem.score, kind="stable")  # once, so that no binning has much to sort
        ordered = problem.at(order)
        own = [cut.edges(ordered) for cut in self.cuts]
        if problem.size:  # a problem without rows has no cells
            self.own.append(own)
        return _union(own)


def _sweep(
    problem: SimplexProblem,
    notion: Notion,
    cuts: tuple[Binning, ...],
    norm: Norm,
    n_resamples: int,
    rng: np.random.Generator,
) -> tuple[FloatArray, FloatArray]:
    """Return the values (k,) and those of calibrated draws (n_resamples, k)."""
    common = Common(cuts)
    fine = cells(problem, notion, common)
    starts = _starts(common)
    tables = [_merged(fine, start) for start in starts]
    sizes = [table.sizes(InBins(), NormOfBins(norm=norm)) for table in tables]
    value = np.array([size(table.deviation[None])[0] for size, table in zip(sizes, tables, strict=True)])
    noise = np.empty((n_resamples, len(cuts)))
    step = max(1, MOST_CELLS // fine.weight.size)
    for first in range(0, n_resamples, step):
        labels = labels_drawn(problem, [fine], min(step, n_resamples - first), rng)
        (drawn,) = consistent_deviations(problem, [fine], labels, labels)
        for number, (size, start) in enumerate(zip(sizes, starts, strict=True)):
            noise[first : first + len(drawn), number] = size(np.add.reduceat(drawn, start, axis=1))
    return value, noise


def _starts(common: Common) -> list[IntArray]:
    """Return for each binning the common cells at which its bins begin, problem after problem."""
    found: list[list[IntArray]] = [[] for _ in common.cuts]
    first = 0
    for edges in common.own:
        inner = _union(edges)[1:]
        for starts, own in zip(found, edges, strict=True):
            starts.append(first + np.append(0, 1 + np.searchsorted(inner, own[1:-1])))
        first += inner.size
    return [np.concatenate(starts) if starts else np.zeros(1, dtype=np.intp) for starts in found]


def _union(edges: list[FloatArray]) -> FloatArray:
    """Return all edges in order; the first stays by itself, since a bin for the score 0 has two edges there."""
    return np.append(edges[0][0], np.unique(np.concatenate([own[1:] for own in edges])))


def _merged(fine: Cells, starts: IntArray) -> Cells:
    """Put runs of cells together."""
    return Cells(
        fine.placed,  # not looked at
        count=np.add.reduceat(fine.count, starts),
        weight=np.add.reduceat(fine.weight, starts),
        scale=fine.scale[starts],
        expected=np.add.reduceat(fine.expected, starts),
        deviation=np.add.reduceat(fine.deviation, starts),
        part=fine.part[starts],
    )


def _maker_of(binning: Any) -> Callable[[int], Binning]:
    """Return what makes a binning of a number of bins: of a binning, one with another number."""
    is_object = is_dataclass(binning) and not isinstance(binning, type)
    if not is_object and callable(binning):
        make: Callable[[int], Binning] = binning
        return make
    names = [one.name for one in fields(binning)] if is_object else []
    require(
        "n_bins" in names and isinstance(binning, Binning),
        "binning must make a binning of a number of bins, or have that number",
        value=binning,
        hint="Pass EqualWidth or EqualMass, and the numbers as n_bins",
        error=TypeError,
    )
    given: Any = binning
    return lambda number: cast(Binning, replace(given, n_bins=number))


def _require_numbers(n_bins: Sequence[int]) -> IntArray:
    numbers = as_array("n_bins", n_bins)
    if numbers.ndim == 1 and numbers.size and numbers.dtype.kind in "Of":
        given = as_numbers("n_bins", n_bins)
        numbers = given.astype(np.intp) if (given == np.rint(given)).all() else given
    require(
        numbers.ndim == 1 and numbers.size != 0 and numbers.dtype.kind in "iu" and numbers.min() >= 1,
        "n_bins must be whole numbers, each at least 1",
        value=n_bins,
        hint="Pass range(1, 51)",
    )
    return numbers.astype(np.intp)
