"""A calibration error against the number of its bins, with its expected value under calibration."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, Unpack, cast

import numpy as np
import numpy.typing as npt

from calibrant import style as _style
from calibrant._core.arrays import FloatArray, as_array
from calibrant._core.border import DataOptions, as_problem
from calibrant._core.checks import as_numbers, fraction, require, resamples
from calibrant._core.result import DrawnResult, Picture, Table
from calibrant._core.rows import BinaryProblem, IntArray, SimplexProblem, as_simplex
from calibrant.binning import Binning, EqualWidth
from calibrant.drawing import as_named, legend_above, legend_beside, require_kind
from calibrant.lenses import InBins
from calibrant.metrics.bin_losses import Norm, NormOfBins, as_norm
from calibrant.metrics.estimate import Cells, cells, consistent_deviations, labels_drawn
from calibrant.notions import Notion, as_notion
from calibrant.sums.draws import Rng, as_rng

# A calibration error against the number of its bins, with its expected value under calibration


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


# The plot of calibration errors against the number of their bins


CALL = "bin_sweep(y_true, y_prob)"

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
    import matplotlib.pyplot as plt
    from matplotlib.ticker import MaxNLocator

    table = _as_table(sweeps)
    words = list(dict.fromkeys(word for own in table.values() for word in own))
    _require_words(words)
    every = [sweep for own in table.values() for sweep in own.values()]
    error = NAMES.get(_shared_norm(every), "calibration error")
    cuts = {sweep.binning for sweep in every}
    cut = f" ({cuts.pop()})" if len(cuts) == 1 else ""
    if ax is None:
        ax = plt.subplots(figsize=(4.6, 3.6) if len(every) == 1 else (6.6, 4.0), layout="constrained")[1]
    if len(every) == 1:
        _draw_noise(ax, every[0])
    for number, (name, own) in enumerate(table.items()):
        for n_drawn, (word, sweep) in enumerate(own.items()):
            label = (name or error) if n_drawn == 0 else None
            look = {
                "color": _style.colour(number),
                "marker": _style.marker(number),
                "markersize": 3.5,
                "linewidth": 1.5,
            }
            ax.plot(sweep.n_bins, sweep.value, linestyle=LINES[words.index(word)], label=label, zorder=3, **look)
    ax.set(xlabel=f"number of bins{cut}", ylabel=error)
    ax.set_ylim(bottom=0)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
    ax.set_axisbelow(True)
    ax.grid(color=_style.GRID, linewidth=0.8)
    if len(every) == 1:
        legend_above(ax)
    else:
        _draw_legend(ax, words)
    return ax


def _draw_noise(ax: Any, sweep: BinSweep) -> None:
    band = f"{1 - sweep.level:.0%} if calibrated"
    ax.fill_between(
        sweep.n_bins, sweep.noise_lower, sweep.noise_upper, color=_style.BAND, linewidth=0, label=band, zorder=1.2
    )
    ax.plot(sweep.n_bins, sweep.noise_floor, color=_style.IDEAL, linestyle="--", linewidth=1, label="noise floor")


def _draw_legend(ax: Any, words: list[str]) -> None:
    """Draw the names by colour as solid lines, and then the words by line style."""
    from matplotlib.lines import Line2D

    handles, labels = ax.get_legend_handles_labels()
    handles = [Line2D([], [], color=line.get_color(), marker=line.get_marker(), markersize=3.5) for line in handles]
    shown = [] if words == [""] else words
    keys = [Line2D([], [], color=_style.IDEAL, linestyle=line) for line in LINES[: len(shown)]]
    legend_beside(ax, [*handles, *keys], [*labels, *shown])


def _as_table(sweeps: Any) -> dict[str, Mapping[str, BinSweep]]:
    """Return the sweeps by name and word; a sweep without a word has the empty one."""
    named = as_named(sweeps, "sweeps", CALL)
    table = {name: own if isinstance(own, Mapping) else {"": own} for name, own in named.items()}
    for name, own in table.items():
        for word, sweep in own.items():
            require_kind(sweep, "sweeps", CALL, BinSweep, f"{name}, {word}" if word else name)
    return table


def _shared_norm(every: list[BinSweep]) -> str:
    norms = list(dict.fromkeys(sweep.norm for sweep in every))
    require(
        len(norms) <= 1,
        "sweeps on one axis must be of one norm",
        got=f"{' and '.join(norms)}",
        hint="Draw each norm into an ax of its own",
    )
    return norms[0]


def _require_words(words: list[str]) -> None:
    require(words, "sweeps must hold at least one sweep", got="none", hint=f"Pass {CALL}")
    require(
        len(words) <= len(LINES),
        f"sweeps must have at most {len(LINES)} words, a line style each",
        value=len(words),
        hint="Draw some of them into another ax",
    )
    require(
        "" not in words or len(words) <= 1,
        "sweeps must all have a word or none",
        got="both",
        hint="Pass {name: sweep, ...} or {name: {word: sweep, ...}, ...}",
    )
