"""The share of predictions within each distance of the rate of their event."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import cycle
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from calibrant import drawing
from calibrant import style as _style
from calibrant._core.arrays import FloatArray
from calibrant._core.border import DataOptions, as_problem
from calibrant._core.checks import flag, whole
from calibrant._core.result import DrawnResult, Picture, Table
from calibrant._core.rows import Problem
from calibrant.binning import Binning, Unique, as_binning
from calibrant.exceptions import warn
from calibrant.notions import Notion, as_notion

ROUNDING = 1e-12
"""A gap that exceeds an error by no more than this does not exceed it: gaps are differences of rounded means."""

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
    _picture = Picture("the curve", "curves.validity.plot_validity", takes=("guarantee",))

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

    def share_within(self, error: npt.ArrayLike) -> Any:
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
        at = np.searchsorted(self.error, np.asarray(error, dtype=np.float64) + ROUNDING, side="right")
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
    y_true: npt.ArrayLike,
    y_prob: npt.ArrayLike | None = None,
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
        bins = binning(binary)
        held = bins.weight > 0
        gaps.append(np.abs(bins.gap[held]))
        weights.append(binary.share * bins.weight[held] / bins.weight.sum())
        rows, alone = rows + binary.size, alone + int((bins.count == 1).sum())
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
        ax.step(*steps, where="post", color=_style.colour(number), linewidth=1.6, label=name or "forecast", zorder=3)
    for (points, ends), dashes in zip(promised.items(), cycle(("--", ":", "-.")), strict=False):
        look = {"color": _style.IDEAL, "linestyle": dashes, "linewidth": 1.2}
        ax.plot(*ends, label=f"promised, {points} points a bin", zorder=2, **look)
    most = max(curve.error.max(initial=0.0) for curve in named.values())
    ax.set(xlabel="distance to the rate of the event", ylabel="share of predictions within")
    ax.set(xlim=(0.0, min(1.0, 1.1 * most) or 1.0), ylim=(0.0, 1.02))
    drawing.grid(ax)
    if has_key:
        drawing.legend_beside(ax)
    return ax
