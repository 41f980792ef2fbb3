"""A calibration error against the number of its bins, with its expected value under calibration."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, is_dataclass, replace
from typing import Any, Unpack, cast

import numpy as np
import numpy.typing as npt

from calibrant import drawing
from calibrant import style as _style
from calibrant._core.arrays import FloatArray, as_array
from calibrant._core.border import DataOptions, as_problem
from calibrant._core.checks import as_numbers, fraction, of_type, require, resamples, some
from calibrant._core.result import DrawnResult, Picture, Table
from calibrant._core.rows import BinaryProblem, IntArray, as_simplex
from calibrant.binning import Binning, EqualWidth
from calibrant.lenses import InBins
from calibrant.metrics.bin_losses import Norm, NormOfBins, as_norm
from calibrant.metrics.estimate import Cells, cells, consistent_deviations
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
    _picture = Picture("the error against the number of bins", "curves.bin_sweep.plot_bin_sweep")

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
    numbers = as_array("n_bins", n_bins)
    if numbers.ndim == 1 and numbers.size and numbers.dtype.kind in "Of":
        given = as_numbers("n_bins", n_bins)
        numbers = given.astype(np.intp) if (given == np.rint(given)).all() and given.max() < 2.0**53 else given
    fits = numbers.ndim == 1 and numbers.size and numbers.dtype.kind in "iu" and numbers.min() >= 1
    require(fits, "n_bins must be whole numbers, each at least 1", value=n_bins, hint="Pass range(1, 51)")
    fraction("level", level, hint="For a 95 % band pass level=0.05")
    n_resamples = resamples(n_resamples, hint="200 is usual")
    problem = as_problem(y_true, y_prob, **data)
    chosen, size = as_notion(notion, problem), as_norm(norm)
    make = _maker_of(binning)
    cuts = tuple(make(int(number)) for number in numbers)
    of_type("binning", cuts[0], Binning, "a binning of scores, or make one", hint="Pass EqualWidth or EqualMass")
    simplex, common, generator = as_simplex(problem), Common(cuts), as_rng(rng)
    fine = cells(simplex, chosen, common)
    starts = _starts(common)
    tables = [_merged(fine, start) for start in starts]
    sizes = [table.sizes(InBins(), NormOfBins(norm=size)) for table in tables]
    value = np.array([error(table.deviation[None])[0] for error, table in zip(sizes, tables, strict=True)])
    noise, step = np.empty((n_resamples, len(cuts))), max(1, MOST_CELLS // fine.weight.size)
    for first in range(0, n_resamples, step):
        (drawn,) = consistent_deviations(simplex, [fine], min(step, n_resamples - first), generator)
        for number, (error, start) in enumerate(zip(sizes, starts, strict=True)):
            noise[first : first + len(drawn), number] = error(np.add.reduceat(drawn, start, axis=1))
    lower, upper = np.quantile(noise, [level / 2.0, 1.0 - level / 2.0], axis=0)
    names = (chosen.name, type(cuts[0]).__name__, name_of(norm))
    return BinSweep(numbers, value, noise.mean(axis=0), lower, upper, *names, level)


def name_of(choice: str | Callable[..., object]) -> str:
    """Return the word of a choice, or the name of a function that was passed in place of a word."""
    return choice if isinstance(choice, str) else getattr(choice, "__name__", repr(choice))


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
    count, weight, expected, deviation = (
        np.add.reduceat(part, starts) for part in (fine.count, fine.weight, fine.expected, fine.deviation)
    )  # where the rows are placed is not looked at
    return Cells(fine.placed, count, weight, fine.scale[starts], expected, deviation, fine.part[starts])


def _maker_of(binning: Any) -> Callable[[int], Binning]:
    """Return what makes a binning of a number of bins: of a binning, one with another number."""
    if isinstance(binning, type) or (callable(binning) and not is_dataclass(binning)):
        make: Callable[[int], Binning] = binning
        return make
    must = "binning must make a binning of a number of bins, or have that number"
    hint = "Pass EqualWidth or EqualMass, and the numbers as n_bins"
    fits = isinstance(binning, Binning) and hasattr(binning, "n_bins")
    require(fits, must, value=binning, hint=hint, error=TypeError)
    return lambda number: cast(Binning, replace(binning, n_bins=number))


# The plot of calibration errors against the number of their bins


NAMES = {"l1": "ECE", "l2": "RMSCE", "max": "MCE"}

LINES: tuple[Any, ...] = ("-", "--", ":", "-.")
"""Line styles that the eye tells apart."""


def plot_bin_sweep(
    sweeps: BinSweep | Mapping[str, BinSweep] | Mapping[str, Mapping[str, BinSweep]], *, ax: Any = None
) -> Any:
    """Draw calibration errors against the number of bins; a single one over its band under calibration.

    Parameters
    ----------
    sweeps : BinSweep, dict of name to BinSweep, or dict of name to dict of word to BinSweep
        One forecast, or several, with a colour a name. What is measured of each in several ways, as in
        ``{"base": {"TL-ECE": tl, "conf-ECE": conf}, ...}``, has a line style a word: solid, dashed, dotted and dash-dotted,
        in the order in which the words come. All are of one norm.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes
        What was drawn on.

    Raises
    ------
    ValueError
        If there is no sweep, if there are more than four words, if some sweeps have a word and others have none, or if norms
        differ.
    TypeError
        If something is no sweep.

    Notes
    -----
    The band is that of one forecast and one notion: it is drawn where there is one sweep only.

    Examples
    --------
    >>> from calibrant import load_digits_forecast
    >>> from calibrant.curves import bin_sweep
    >>> from calibrant.curves import plot_bin_sweep
    >>> y, prob = load_digits_forecast()
    >>> ax = bin_sweep(y, prob, n_bins=[5, 10, 20], n_resamples=50).plot()
    >>> words = {"TL-ECE": "top-label", "conf-ECE": "confidence"}
    >>> digits = {word: bin_sweep(y, prob, n_bins=[5, 10], notion=notion) for word, notion in words.items()}
    >>> ax = plot_bin_sweep({"digits": digits})
    """
    from matplotlib.lines import Line2D
    from matplotlib.ticker import MaxNLocator

    table = _as_table(sweeps)
    words = list(dict.fromkeys(word for own in table.values() for word in own))
    every = [sweep for own in table.values() for sweep in own.values()]
    norms, cuts = (list(dict.fromkeys(getattr(sweep, what) for sweep in every)) for what in ("norm", "binning"))
    hint = "Draw each norm into an ax of its own"
    require(len(norms) == 1, "sweeps on one axis must be of one norm", got=" and ".join(norms), hint=hint)
    error, single = NAMES.get(norms[0], "calibration error"), len(every) == 1
    ax = drawing.new_axes(ax, (4.6, 3.6) if single else (6.6, 4.0))
    if single:
        only = every[0]
        band = {"color": _style.BAND, "linewidth": 0, "label": f"{1 - every[0].level:.0%} if calibrated"}
        ax.fill_between(only.n_bins, only.noise_lower, only.noise_upper, zorder=1.2, **band)
        floor = {"color": _style.IDEAL, "linestyle": "--", "linewidth": 1, "label": "noise floor"}
        ax.plot(only.n_bins, only.noise_floor, **floor)
    handles = []
    for number, (name, own) in enumerate(table.items()):
        look: dict[str, Any] = {"color": _style.colour(number), "marker": _style.marker(number), "markersize": 3.5}
        handles.append(Line2D([], [], **look))
        for n_drawn, (word, sweep) in enumerate(own.items()):
            label = None if n_drawn else name or error
            line = {"linestyle": LINES[words.index(word)], "linewidth": 1.5, "label": label, **look}
            ax.plot(sweep.n_bins, sweep.value, zorder=3, **line)
    ax.set(xlabel=f"number of bins{f' ({cuts[0]})' if len(cuts) == 1 else ''}", ylabel=error)
    ax.set_ylim(bottom=0)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
    drawing.grid(ax)
    if single:
        drawing.legend_above(ax)
    else:  # the names by colour as solid lines, and then the words by line style
        shown = [] if words == [""] else words
        keys = [Line2D([], [], color=_style.IDEAL, linestyle=line) for line in LINES[: len(shown)]]
        drawing.legend_beside(ax, [*handles, *keys], [*(name or error for name in table), *shown])
    return ax


def _as_table(sweeps: Any) -> dict[str, Mapping[str, BinSweep]]:
    """Return the sweeps by name and word; a sweep without a word has the empty one."""
    call = "bin_sweep(y_true, y_prob)"
    named = drawing.as_named(sweeps, "sweeps", call)
    table = {name: own if isinstance(own, Mapping) else {"": own} for name, own in named.items()}
    for name, own in table.items():
        some("sweeps", own, "sweep", hint=f"Pass {call}")
        for word, sweep in own.items():
            drawing.require_kind(sweep, "sweeps", call, BinSweep, f"{name}, {word}" if word else name)
    words = {word for own in table.values() for word in own}
    must, hint = f"sweeps must have at most {len(LINES)} words, a line style each", "Draw some of them into another ax"
    require(len(words) <= len(LINES), must, value=len(words), hint=hint)
    hint = "Pass {name: sweep, ...} or {name: {word: sweep, ...}, ...}"
    require("" not in words or len(words) == 1, "sweeps must all have a word or none", got="both", hint=hint)
    return table
