"""The map of a cumulative calibrator, rank by rank, over the event rates of the sums that it maps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Unpack, cast

import numpy as np
import numpy.typing as npt

from calibrant._core.in_batches import InBatches
from calibrant._core.links import FloatArray, grouped
from calibrant._core.parameters import require, together, whole
from calibrant._core.problem import BinaryProblem, SimplexProblem, as_simplex
from calibrant._core.result import DrawnResult, Picture, Record
from calibrant._core.table import Table, under
from calibrant._core.validation import DataOptions, as_problem
from calibrant.binning import Binning, EqualMass, as_binning
from calibrant.curves.reliability import IntervalName, ReliabilityCurve, curve_of
from calibrant.notions import Binary
from calibrant.notions.top_k import top_labels
from calibrant.sums.unread import refuse_rows

HINT = "Pass a number such as 5 for the first ones, or a list such as [1, 2, 10]"


@dataclass(frozen=True, eq=False)
class CumulativeCalibrationMapPanel(Record):
    """The map of one rank, a step function of the sum of so many of the highest probabilities.

    Attributes
    ----------
    name : str
        Such as "top 3" for the sum of three.
    rank : int
        How many probabilities are summed.
    left : ndarray of shape (n_steps,)
        The sum at which each step begins; the first begins at 0, the last ends at 1.
    value : ndarray of shape (n_steps,)
        Probability that the true class is among them, increasing.
    """

    name: str
    rank: int
    left: FloatArray
    value: FloatArray

    @property
    def corners(self) -> tuple[FloatArray, FloatArray]:
        """Sums and values at both ends of each step, each of shape (2 * n_steps,)."""
        ends = np.append(self.left[1:], max(1.0, self.left[-1]))  # sums exceed one by rounding
        return np.column_stack([self.left, ends]).ravel(), np.repeat(self.value, 2)


@dataclass(frozen=True, eq=False)
class CumulativeCalibrationMap(DrawnResult):
    """The map of a cumulative calibrator: one panel a rank.

    Attributes
    ----------
    panels : tuple of CumulativeCalibrationMapPanel
        Steps of the ranks that were asked for.
    calibrator : str
        Where the figures come from.
    curve : ReliabilityCurve or None
        How often the true class is among the highest in the rows given, before they are calibrated; the same panels.
    """

    _table = Table("step", *under("panels", "panel=name", "rank", "left", "value"))
    _summary = "{calibrator}, ranks {panels.rank:list}, steps={panels.left:n}"
    _picture = Picture(
        "the map",
        "cumulative_calibration_map.plot_cumulative_calibration_map",
        options="Those of `plot_cumulative_calibration_map`: ``panels``, ``together``, ``axis``.",
    )

    panels: tuple[CumulativeCalibrationMapPanel, ...]
    calibrator: str
    curve: ReliabilityCurve | None = None


def cumulative_calibration_map(
    calibrator: Any,
    y_true: npt.ArrayLike | None = None,
    y_prob: npt.ArrayLike | None = None,
    *,
    ranks: int | Sequence[int] = 5,
    binning: int | Binning = EqualMass(10),  # noqa: B008  a frozen object
    interval: IntervalName | None = "wilson",
    level: float = 0.05,
    **data: Unpack[DataOptions],
) -> CumulativeCalibrationMap:
    """Map of a cumulative calibrator, rank by rank, with the event rates of the rows that it is to calibrate.

    Parameters
    ----------
    calibrator : SortedCumulativeIsotonic
        A fitted one.
    y_true : array-like of shape (n_samples,), optional
        Class labels of the rows whose event rates are shown; without them the map stands alone.
    y_prob : array-like of shape (n_samples, n_classes), optional
        Their probabilities before calibration, columns as when fitting.
    ranks : int or sequence of int, default=5
        How many of the highest probabilities are summed. A number n means 1 to n, or to n_classes - 1 if that is less.
    binning : int or Binning, default=EqualMass(10)
        How the sums of a rank are cut for the event rates; a number n means ``EqualWidth(n)``. Sums of many probabilities pile
        up below one.
    interval : {"wilson", "clopper-pearson", "consistency"} or None, default="wilson"
        Interval of each event rate: see `reliability_curve`.
    level : float, default=0.05
        One minus the coverage of the intervals, a fraction in (0, 1).
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``input`` and ``rows``: see `DataOptions`. ``labels`` and ``input``
        are by default those of the calibrator.

    Returns
    -------
    CumulativeCalibrationMap
        A result with ``panels``, ``curve``, ``to_frame()`` and ``plot()``.

    Raises
    ------
    ValueError
        If only one of ``y_true`` and ``y_prob`` is given, or there is no such rank.
    TypeError
        If the calibrator is none of cumulative sums, or ranks are not whole numbers.

    Notes
    -----
    The value of the map at the sum q of the r highest probabilities is the probability that the true class is among them.
    With ``rise="last"`` the class at rank r gets the difference of the maps of r and r - 1, each at the sum of its own row:
    maps that lie on each other leave it next to nothing. With ``rise="spread"``, the default of the calibrator, classes whose
    maps lie on each other share the next rise, so that calibrated sums may lie above the map at ranks before it.

    Of equal probabilities in a row the first column counts as the higher one for the event rates.

    References
    ----------
    Arad, Rosset, Improving multi-class calibration through normalization-aware isotonic techniques, ICML 2025.

    Examples
    --------
    >>> from calibrant import SortedCumulativeIsotonic
    >>> from calibrant.curves import cumulative_calibration_map
    >>> P = [[0.8, 0.15, 0.05], [0.2, 0.7, 0.1], [0.3, 0.2, 0.5]]
    >>> fitted = SortedCumulativeIsotonic().fit(P, [0, 1, 0])
    >>> result = cumulative_calibration_map(fitted)
    >>> result
    CumulativeCalibrationMap(SortedCumulativeIsotonic(), ranks 1, 2, steps=4)
    >>> result.panels[0].left.tolist(), result.panels[0].value.tolist()
    ([0.0, 0.7], [0.0, 1.0])
    """
    if isinstance(y_true, InBatches):
        refuse_rows("a map of sums of probabilities")
    together(y_true=y_true, y_prob=y_prob)
    _require_cumulative(calibrator)
    wanted = _ranks_of(ranks, len(calibrator.classes_) - 1)
    steps = [calibrator.steps(rank) for rank in wanted]
    panels = tuple(
        CumulativeCalibrationMapPanel(_name(rank), rank, left, value)
        for rank, (left, value) in zip(wanted, steps, strict=True)
    )
    curve = None
    if y_true is not None and y_prob is not None:
        known: DataOptions = {"labels": calibrator.classes_, "input": calibrator.input}
        problem = as_problem(y_true, y_prob, **cast("DataOptions", {**known, **data}))
        curve = _rates_of(as_simplex(problem), wanted, as_binning(binning), level, interval)
    return CumulativeCalibrationMap(panels, repr(calibrator), curve)


def _require_cumulative(calibrator: Any) -> None:
    from sklearn.base import BaseEstimator
    from sklearn.utils.validation import check_is_fitted

    require(
        isinstance(calibrator, BaseEstimator) and callable(getattr(calibrator, "steps", None)),
        "calibrator must map sums of the highest probabilities",
        value=calibrator,
        hint="Pass a fitted SortedCumulativeIsotonic; calibration_map shows maps of one probability",
        error=TypeError,
    )
    check_is_fitted(calibrator)


def _ranks_of(ranks: int | Sequence[int], most: int) -> list[int]:
    """Return the ranks by number: the first so many, or those listed."""
    if not isinstance(ranks, (list, tuple, range, np.ndarray)) or np.ndim(ranks) == 0:
        return list(range(1, min(whole("ranks", ranks, least=1, hint=HINT), most) + 1))
    require(len(ranks), "ranks must name at least one rank", got="none", hint=HINT)
    return [whole("ranks", rank, least=1, hint=HINT) for rank in ranks]


def _name(rank: int) -> str:
    return f"top {rank}"


def _rates_of(
    problem: SimplexProblem, ranks: list[int], binning: Binning, level: float, interval: IntervalName | None
) -> ReliabilityCurve:
    curves = [curve_of(one, Binary(), binning, level, interval) for one in _sums(problem, ranks)]
    panels = tuple(panel for curve in curves for panel in curve.panels)
    return ReliabilityCurve(panels, "cumulative", repr(binning), level, interval)


def _sums(problem: SimplexProblem, ranks: list[int]) -> Iterator[BinaryProblem]:
    """For each rank, the sums of the highest probabilities, and whether the true class is among them."""
    order = top_labels(problem.prob, max(ranks))
    reached = grouped(np.cumsum(np.take_along_axis(problem.prob, order, axis=1), axis=1))
    is_true = order == problem.label[:, None]
    for rank in ranks:
        yield BinaryProblem(
            np.minimum(reached[:, rank - 1], 1.0),
            is_true[:, :rank].any(axis=1),
            problem.weights,
            name=_name(rank),
        )
