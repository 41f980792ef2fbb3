"""How calibrators change the probabilities of the same rows: means before and after, bin by bin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from calibrant._core.arrays import as_array, columns_of
from calibrant._core.finite_numbers import as_numbers
from calibrant._core.labels import Named
from calibrant._core.links import FloatArray
from calibrant._core.parameters import choice, distinct_names, number, refuse, require, some
from calibrant._core.problem import BinaryProblem, Problem, as_simplex
from calibrant._core.result import DrawnResult, Picture, Record
from calibrant._core.rows import OF_PROBABILITIES, of_probabilities
from calibrant._core.table import Table, under
from calibrant._core.validation import DataOptions, as_problem
from calibrant._core.warnings import warn
from calibrant.binning import Binning, Bins, Edges, as_binning, sums_over
from calibrant.binning.base import shown
from calibrant.curves.intervals import INTERVALS
from calibrant.curves.reliability import IntervalName, require_level
from calibrant.notions import Notion, as_notion

LABELS_FIRST = "If these are labels, the call is calibration_shift(y_prob, calibrated, y_true=y)"


@dataclass(frozen=True, eq=False)
class ShiftPanel(Record):
    """One problem of a notion: its bins before calibration, and what became of them.

    Attributes
    ----------
    name : str
        Name, such as "class 3".
    bins : Bins
        Of the probabilities before calibration that reach the threshold; event rates are NaN without labels.
    lower, upper : ndarray of shape (n_bins,)
        Interval of each event rate; NaN where a bin is empty, or without labels.
    calibrated : ndarray of shape (n_forecasts, n_bins)
        Mean calibrated probability of each bin; NaN where it is empty.
    """

    name: str
    bins: Bins
    lower: FloatArray
    upper: FloatArray
    calibrated: FloatArray

    @property
    def shift(self) -> FloatArray:
        """Mean calibrated probability minus mean probability before, shape (n_forecasts, n_bins)."""
        return self.calibrated - self.bins.mean_prob


@dataclass(frozen=True, eq=False)
class CalibrationShift(DrawnResult):
    """Change of the probabilities of the same rows by calibrators, bin by bin: one panel for each problem of the notion.

    Attributes
    ----------
    panels : tuple of ShiftPanel
        One for ``flattened``, ``binary`` and ``confidence``, one a class for ``class-wise`` and ``top-label``.
    forecasts : tuple of str
        Names of the calibrated forecasts, in the order of ``calibrated`` of the panels.
    notion, binning : str
        Where the figures come from.
    threshold : float
        Least probability before calibration that counts.
    level : float
        One minus the coverage of the intervals, a fraction.
    interval : {"wilson", "clopper-pearson", "consistency"} or None
        What ``lower`` and ``upper`` of the panels are.
    has_events : bool
        Whether there were labels; without them event rates and their intervals are NaN.
    of_predictions : bool
        Whether the event is that a predicted class is the true one, so that event rates are accuracies.
    """

    _table = Table(
        "calibrated forecast and bin",
        "panel=panels.name",
        "forecast=_forecast",
        *under("panels.bins", "left", "right", "count", "weight", "mean_prob"),
        "panels.calibrated",
        "panels.bins.event_rate",
        *under("panels", "lower", "upper"),
    )
    _summary = "{forecasts:list}; {notion}, {binning}, threshold={threshold:g}, scores={panels.bins.count:total}"
    _picture = Picture(
        "means before and after",
        "calibration_shift.plot_calibration_shift",
        options=(
            "``panels`` names those to draw, by default all, up to 40; ``difference=True`` draws everything less "
            "the mean before, so that small shifts show."
        ),
    )

    panels: tuple[ShiftPanel, ...]
    forecasts: tuple[str, ...]
    notion: str
    binning: str
    threshold: float
    level: float
    interval: IntervalName | None
    has_events: bool
    of_predictions: bool = False

    @property
    def _forecast(self) -> npt.NDArray[np.str_]:
        """Names of the calibrated forecasts beside the bins, shape (n_forecasts, 1)."""
        return np.array(self.forecasts)[:, None]


def calibration_shift(
    y_prob: npt.ArrayLike,
    calibrated: npt.ArrayLike | Mapping[str, npt.ArrayLike],
    *,
    y_true: npt.ArrayLike | None = None,
    notion: str | Notion | None = None,
    binning: int | Binning = 30,
    threshold: float = 0.01,
    interval: IntervalName | None = "wilson",
    level: float = 0.05,
    **data: Unpack[DataOptions],
) -> CalibrationShift:
    """Mean calibrated probability in each bin of the probability before, for one calibrator or several on the same rows.

    Parameters
    ----------
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities before calibration.
    calibrated : array-like of the same shape, or dict of name to such
        Probabilities of the same rows and classes after it, of several calibrators by their names.
    y_true : array-like of shape (n_samples,), optional
        Class labels: with them the event rate of each bin shows where the probabilities should be.
    notion : str or Notion, optional
        Which probabilities are looked at. By default the event of two classes, ``"binary"``, and of more classes all
        probabilities, ``"flattened"``. Where it speaks of the predicted class, that is the class predicted before calibration.
    binning : int or Binning, default=30
        How the probabilities before calibration are cut; a number n means ``EqualWidth(n)``.
    threshold : float, default=0.01
        Smaller probabilities before calibration are left out, in [0, 1). Of many classes most are next to zero.
    interval : {"wilson", "clopper-pearson", "consistency"} or None, default="wilson"
        Interval of each event rate: see `reliability_curve`.
    level : float, default=0.05
        One minus the coverage of the intervals, a fraction in (0, 1).
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`. Logits and
        percent are those of ``y_prob``; calibrated are always probabilities.

    Returns
    -------
    CalibrationShift
        A result with ``panels``, ``forecasts``, ``to_frame()`` and ``plot()``.

    Raises
    ------
    ValueError
        If shapes differ, if there is no calibrated forecast, if the threshold is outside [0, 1), or if the binning needs labels
        and there are none.

    Notes
    -----
    It is the one curve of forecasts whose first argument is not ``y_true``, since it needs no labels: the call is
    ``calibration_shift(y_prob, calibrated, y_true=y)``.

    For bin b of the probabilities p before calibration and the calibrated ones q of the same rows and classes, these are

        mean of p,  mean of q of each calibrator,  event rate    over the pairs of row and class with p in b.

    All means of a bin are over the same pairs, so that calibrators can be compared with each other and with the event
    rate. They are what the calibrator gives in the end, after rows are divided by their sums: `calibration_map` shows the map
    itself. Two rows with the same p in a class need not have the same q.

    The first bin begins at the threshold.

    References
    ----------
    Arad, Rosset, Improving multi-class calibration through normalization-aware isotonic techniques, ICML 2025, Fig. 2.

    Examples
    --------
    >>> from calibrant.curves import calibration_shift
    >>> before, after = [0.2, 0.3, 0.8], [0.25, 0.45, 0.7]
    >>> result = calibration_shift(before, {"Platt": after}, y_true=[0, 1, 1], binning=2)
    >>> result
    CalibrationShift(Platt; binary, EqualWidth(n_bins=2), threshold=0.01, scores=3)
    >>> result.panels[0].calibrated
    array([[0.35, 0.7 ]])
    """
    threshold = number("threshold", threshold, least=0.0, below=1.0, hint="Pass a small one, such as 0.01")
    require_level(level)
    if interval is not None:
        choice("interval", interval, INTERVALS)
    cut = as_binning(binning)
    require(
        not cut.uses_outcomes or y_true is not None,
        "y_true must be given where the binning looks at outcomes",
        value=cut,
        hint="Pass binning=30",
    )
    problem = _before(y_prob, y_true, data)
    declared = data.get("input") == "logit" or data.get("rows") == "percent"
    if y_true is None and not declared and _may_be_labels(y_prob):
        warn(f"y_prob must hold probabilities; got whole numbers, which are taken as such. {LABELS_FIRST}.")
    rows = of_probabilities(data.get("rows", "as-given"))
    of_calibrated = {**data, "input": "probability", "rows": rows, "remedies": OF_PROBABILITIES}
    after = _calibrated(calibrated, y_prob, problem, _with_labels(y_prob, y_true, of_calibrated))
    chosen = as_notion(notion, problem, of_many="flattened")
    how = _How(cut, threshold, interval, level, has_events=y_true is not None)
    before = as_simplex(problem)
    names = tuple(str(label) for label in before.classes.tolist())
    panels = tuple(
        how.panel_of(binary, [part.scores(prob) for prob in after.values()], binary.name or chosen.name)
        for part, binary in zip(chosen.parts(before.prob, names), chosen.split(problem), strict=True)
    )
    return CalibrationShift(
        panels,
        tuple(after),
        chosen.name,
        repr(cut),
        threshold,
        level,
        interval,
        has_events=how.has_events,
        of_predictions=chosen.of_predictions,
    )


@dataclass(frozen=True)
class _How:
    """How a panel is made of a binary problem and of what its scores became."""

    binning: Binning
    threshold: float
    interval: IntervalName | None
    level: float
    has_events: bool

    def panel_of(self, binary: BinaryProblem, after: list[FloatArray], name: str) -> ShiftPanel:
        kept = binary.score >= self.threshold
        rows = binary.at(kept)
        edges = self.binning.edges(rows)
        bins = sums_over(Edges(np.append(self.threshold, edges[edges > self.threshold])), rows)
        bins = shown(bins, are_counts=rows.weights.are_counts)
        means = np.array([_means(bins, rows, score[kept]) for score in after])
        lower = upper = np.full(len(bins), np.nan)
        if not self.has_events:
            bins = replace(bins, outcome_sum=lower)
        elif self.interval is not None:
            lower, upper = INTERVALS[self.interval](bins, rows.weights.rows_per_weight, self.level)
        return ShiftPanel(name, bins, lower, upper, means)


def _before(y_prob: npt.ArrayLike, y_true: npt.ArrayLike | None, data: Mapping[str, Any]) -> Problem:
    """Return the forecast before calibration; of what may be labels say that they do not come first."""
    try:
        return as_problem(y_prob=y_prob, **_with_labels(y_prob, y_true, data))
    except (ValueError, TypeError) as error:
        if not _may_be_labels(y_prob):
            raise
        raise type(error)(f"{error} {LABELS_FIRST}.") from None


def _may_be_labels(y_prob: npt.ArrayLike) -> bool:
    try:
        array = as_array("y_prob", y_prob)
    except (ValueError, TypeError):
        return False
    return array.ndim == 1 and array.dtype.kind in "biuUSOT"


def _with_labels(y_prob: npt.ArrayLike, y_true: npt.ArrayLike | None, data: Mapping[str, Any]) -> dict[str, Any]:
    """Return what belongs to the data; where there are no labels, any of them stands for each: no figure is made of it."""
    if y_true is not None:
        return {"y_true": y_true, **data}
    values = as_numbers("y_prob", y_prob)
    # Of one column any label will do; of two the positive one says which column is looked at.
    rest = {key: value for key, value in data.items() if key != "pos_label" or values.ndim == 2}
    if data.get("y_pred") is not None:
        return {"y_true": data["y_pred"], **rest}
    labels = data.get("labels")
    any_label = [0] if labels is None or not len(labels) else [labels[0]]
    return {"y_true": any_label * len(values), **rest}


def _calibrated(
    calibrated: npt.ArrayLike | Mapping[str, npt.ArrayLike],
    y_prob: npt.ArrayLike,
    before: Problem,
    data: Mapping[str, Any],
) -> dict[str, FloatArray]:
    """Return calibrated tables by their names, of the rows and classes that were there before."""
    forecasts = calibrated if isinstance(calibrated, Mapping) else {"calibrated": calibrated}
    n_rows = len(as_numbers("y_prob", y_prob))
    some("calibrated", forecasts, "forecast", hint="Pass {'isotonic': q}")
    distinct_names("forecasts", forecasts)
    tables = {}
    for name, forecast in forecasts.items():
        what = f"calibrated[{name!r}]" if isinstance(calibrated, Mapping) else "calibrated"
        if (n_given := len(as_numbers(what, forecast))) != n_rows:
            refuse(
                f"y_prob and {what} must have the same number of rows",
                got=f"{n_rows} and {n_given}",
                hint="Pass forecasts of the same rows",
            )
        problem = as_problem(y_prob=forecast, named=Named(forecast=what), **data)
        columns = columns_of(forecast)
        if (
            not np.array_equal(problem.classes, before.classes)
            or type(problem) is not type(before)
            or (columns is not None and list(columns) != list(columns_of(y_prob) or columns))
        ):
            refuse(
                f"{what} must have the columns of y_prob, in their order",
                got="another number of them, or other names",
                hint=f"Pass what a calibrator made of y_prob{f'. {LABELS_FIRST}' if _may_be_labels(y_prob) else ''}",
            )
        tables[str(name)] = as_simplex(problem).prob
    return tables


def _means(bins: Bins, rows: BinaryProblem, values: FloatArray) -> FloatArray:
    total = np.bincount(bins.index(rows.score), rows.weight * values, len(bins))
    means: FloatArray = np.divide(total, bins.weight, out=np.full(len(bins), np.nan), where=bins.weight > 0)
    return means
