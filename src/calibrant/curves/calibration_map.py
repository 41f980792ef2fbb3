"""The calibrated probability of each score, over the reliability of the rows that are to be calibrated."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from calibrant import style as _style
from calibrant._core.arrays import FloatArray, as_array, columns_of, log_prob_of_prob
from calibrant._core.border import DataOptions, Named, as_problem
from calibrant._core.checks import (
    as_numbers,
    choice,
    distinct_names,
    flag,
    number,
    refuse,
    require,
    some,
    together,
    whole,
)
from calibrant._core.result import DrawnResult, Picture, Record, Table, under
from calibrant._core.rows import (
    BEYOND,
    OF_PROBABILITIES,
    BinaryProblem,
    InBatches,
    Problem,
    as_simplex,
    of_probabilities,
    two_columns,
)
from calibrant.binning import Binning, Bins, Edges, as_binning, sums_over
from calibrant.binning.bins import shown
from calibrant.curves.reliability import (
    INTERVALS,
    IntervalName,
    Look,
    ReliabilityCurve,
    curve_of,
    draw_reliability,
    require_level,
)
from calibrant.drawing import as_named, draw_panels, outcome_word, panel_of, require_kind, room_below
from calibrant.exceptions import warn
from calibrant.notions import Binary, Notion, as_notion

# The calibrated probability of each score, over the reliability of the rows that are to be calibrated


Map = Callable[[FloatArray], npt.ArrayLike]


@dataclass(frozen=True, eq=False)
class MapPanel(Record):
    """One problem of a notion: scores and what they are mapped to, each of shape (resolution,)."""

    name: str
    score: FloatArray
    calibrated: FloatArray


@dataclass(frozen=True, eq=False)
class CalibrationMap(DrawnResult):
    """The map of a calibrator, or its maps: one panel a problem of its notion.

    Attributes
    ----------
    panels : tuple of MapPanel
        One for a map of one score, one a class for ``ByNotion(..., "class-wise")`` and ``"top-label"``.
    notion : str
        What is mapped.
    calibrator : str
        Where the figures come from.
    curve : ReliabilityCurve or None
        Reliability of the rows given, before they are calibrated, with the same panels.
    of_predictions : bool
        Whether the event is that a predicted class is the true one, so that event rates are accuracies.
    """

    _table = Table("score of the grid", *under("panels", "panel=name", "score", "calibrated"))
    _summary = "{calibrator}, {notion}, panels={panels:n}"
    _picture = Picture(
        "the map", "curves.calibration_map.plot_calibration_map", options="Those of `plot_calibration_map`: ``panels``."
    )

    panels: tuple[MapPanel, ...]
    notion: str
    calibrator: str
    curve: ReliabilityCurve | None = None
    of_predictions: bool = False


def calibration_map(
    calibrator: Any,
    y_true: npt.ArrayLike | None = None,
    y_prob: npt.ArrayLike | None = None,
    *,
    binning: int | Binning = 15,
    interval: IntervalName | None = "wilson",
    level: float = 0.05,
    resolution: int = 1001,
    **data: Unpack[DataOptions],
) -> CalibrationMap:
    """Map of a fitted calibrator on a grid of scores, with the reliability of the rows that it is to calibrate.

    Parameters
    ----------
    calibrator : fitted calibrator or callable
        A calibrator of one score, `ByNotion`, or a function of an array of scores.
    y_true : array-like of shape (n_samples,), optional
        Class labels of the rows whose reliability is shown; without them the map stands alone.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes), optional
        Their probabilities before calibration: a column for a calibrator of one score, a table for `ByNotion`.
    binning : int or Binning, default=15
        How scores are cut for the reliability; a number n means ``EqualWidth(n)``.
    interval : {"wilson", "clopper-pearson", "consistency"} or None, default="wilson"
        Interval of each event rate: see `reliability_curve`.
    level : float, default=0.05
        One minus the coverage of the intervals, a fraction in (0, 1).
    resolution : int, default=1001
        Number of scores, evenly spaced from 0 to 1.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    CalibrationMap
        A result with ``panels``, ``curve``, ``to_frame()`` and ``plot()``.

    Raises
    ------
    ValueError
        If only one of ``y_true`` and ``y_prob`` is given, or if the map gives another number of values, or values outside of
        [0, 1].
    TypeError
        If the calibrator maps more than one score at a time.

    Notes
    -----
    A good map runs through the intervals of the reliability diagram, and need not touch every point: the event rate of a few
    rows is noisy. The maps of `ByNotion` are those of its parts, before rows are divided by their sums.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant import IsotonicCalibration
    >>> from calibrant.curves import calibration_map
    >>> fitted = IsotonicCalibration(finite=None).fit([0.1, 0.2, 0.3, 0.4], [0, 1, 0, 1])
    >>> calibration_map(fitted, resolution=5).panels[0].calibrated.tolist()
    [0.0, 0.5, 1.0, 1.0, 1.0]
    """
    if not isinstance(y_true, InBatches):
        together(y_true=y_true, y_prob=y_prob)
    whole("resolution", resolution, least=2, hint="1001 is usual")
    notion, maps = _maps_of(calibrator)
    curve = None
    if y_true is not None:
        problem = as_problem(y_true, y_prob, **data)
        curve = curve_of(problem, as_notion(notion, problem), as_binning(binning), level, interval)
        names, word, of_predictions = [panel.name for panel in curve.panels], curve.notion, curve.of_predictions
    else:
        names, spoken = _names_of(calibrator, notion), notion or Binary()
        word, of_predictions = spoken.name, spoken.of_predictions
    score = np.arange(resolution) / (resolution - 1)
    panels = tuple(MapPanel(name, score, _mapped(function, score)) for name, function in zip(names, maps, strict=True))
    return CalibrationMap(panels, word, getattr(calibrator, "__name__", repr(calibrator)), curve, of_predictions)


def _maps_of(calibrator: Any) -> tuple[Notion | None, list[Map]]:
    """Return what is mapped, if the calibrator says so, and a function of scores for each of its problems."""
    if hasattr(
        calibrator, "calibrators_"
    ):  # ByNotion: None is the pooled map, and without one leaves scores as they are
        used = [one or calibrator.pooled_ for one in calibrator.calibrators_]
        return calibrator.notion_, [_unchanged if one is None else one._apply for one in used]
    if hasattr(calibrator, "predict_proba"):
        if (n_classes := len(getattr(calibrator, "classes_", (0, 1)))) > 2:
            refuse(
                "calibrator must map one score at a time",
                got=f"{calibrator!r} for {n_classes} classes",
                hint=(
                    "Pass one fitted on two classes, or ByNotion(...); simplex_map shows the maps of three "
                    "classes, calibration_shift where any calibrator moves probabilities"
                ),
                error=TypeError,
            )
        return as_notion("binary"), [partial(_predicted, calibrator)]
    require(
        callable(calibrator),
        "calibrator must be a fitted calibrator or a function",
        value=calibrator,
        hint="Pass one of these",
        error=TypeError,
    )
    return None, [calibrator]


def _names_of(calibrator: Any, notion: Notion | None) -> list[str]:
    if notion is None:
        return [Binary.name]  # a function does not know its event
    classes = tuple(str(label) for label in getattr(calibrator, "classes_", (0, 1)))
    return [part.name for part in notion.parts(np.zeros((0, len(classes))), classes)]


def _unchanged(score: FloatArray) -> FloatArray:
    return score


def _predicted(calibrator: Any, score: FloatArray) -> FloatArray:
    values = score
    if getattr(calibrator, "input", "probability") == "logit":
        log_prob = log_prob_of_prob(two_columns(score, is_logit=False).values)
        values = log_prob[:, 1] - log_prob[:, 0]
    prob = np.asarray(calibrator.predict_proba(values), dtype=np.float64)
    return prob[:, 1] if prob.ndim == 2 else prob


def _mapped(function: Map, score: FloatArray) -> FloatArray:
    values = np.asarray(function(score), dtype=np.float64)
    require(
        values.shape == score.shape,
        "the map must give a value for each score",
        got=f"shape {values.shape} for {score.shape}",
        hint="Pass a function of an array of scores",
    )
    bad = ~((values >= -BEYOND) & (values <= 1.0 + BEYOND))
    if bad.any():
        refuse(
            "the map must give values in [0, 1]",
            got=(
                f"{values[bad][0]:g} for the score {score[bad][0]:g} ({bad.sum()} of {bad.size} "
                "values are outside or NaN)"
            ),
            hint="Pass a map from probabilities to probabilities",
        )
    return np.clip(values, 0.0, 1.0)


# Maps of calibrators over the reliability of the rows that they are to calibrate


def plot_calibration_map(
    maps: CalibrationMap | Mapping[str, CalibrationMap], *, ax: Any = None, panels: Sequence[str] | None = None
) -> Any:
    """Draw calibration maps over the points of the reliability diagram.

    Parameters
    ----------
    maps : CalibrationMap or dict of name to CalibrationMap
        One map, or several over each other, with the points of the first. Several must have the same panels.
    ax : matplotlib Axes, optional
        Where to draw a single panel; a new figure by default, with a panel for each problem of the notion.
    panels : sequence of str, optional
        Names of the panels to draw, such as ``"class 3"``; by default all, up to 40.

    Returns
    -------
    matplotlib Axes, or ndarray of Axes for several panels
        What was drawn on. The area of a point follows the number of its rows.

    Raises
    ------
    ValueError
        If there is no map, if panels differ or are unknown or too many, or if ``ax`` is given for several.

    Examples
    --------
    >>> from calibrant import IsotonicCalibration, load_digits_forecast
    >>> from calibrant.curves import calibration_map
    >>> y, prob = load_digits_forecast()
    >>> three = IsotonicCalibration().fit(prob[:748, 3], y[:748] == 3)
    >>> ax = calibration_map(three, y[748:] == 3, prob[748:, 3]).plot()
    """
    named = as_named(maps, "maps", "calibration_map(calibrator, y_true, y_prob)")
    labels = ("probability", f"calibrated probability, {outcome_word(next(iter(named.values())))}")
    draw = partial(_draw_map, maps=named, labels=labels)
    return draw_panels(named, draw, ax=ax, panels=panels, height=4.6, labels=labels)


def _draw_map(
    ax: Any, panels: Mapping[str, MapPanel], alone: bool, *, maps: Mapping[str, CalibrationMap], labels: tuple[str, str]
) -> None:
    first = next(iter(maps.values()))
    curves = {} if first.curve is None else {"": first.curve}
    title = next(iter(panels.values())).name
    drawn = {name: panel_of(curve, title) for name, curve in curves.items()}
    look = Look(style="points", markers="area", unnamed=outcome_word(first))
    draw_reliability(ax, drawn, alone, curves=curves, look=look, labels=labels)
    for place, (name, panel) in enumerate(panels.items(), start=1):  # the points are number 0
        ax.plot(
            panel.score, panel.calibrated, color=_style.colour(place), linewidth=1.8, label=name or "map", zorder=2.5
        )


# How calibrators change the probabilities of the same rows: means before and after, bin by bin


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
        "curves.calibration_map.plot_calibration_shift",
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


# Means before and after calibration, bin by bin


BEFORE = "probability before calibration"
LEAST_SIZE = 0.5
"""Where the scale of sizes begins, so that one score is seen."""

EVENTS = _style.COLOURS[-1]


def plot_calibration_shift(
    result: CalibrationShift, *, ax: Any = None, panels: Sequence[str] | None = None, difference: bool = False
) -> Any:
    """Draw the mean calibrated probability of each bin, a line a calibrator, over the sizes of the bins.

    Parameters
    ----------
    result : CalibrationShift
        Of one calibrator or several.
    ax : matplotlib Axes, optional
        Where to draw a single panel; a new figure by default, with a panel for each problem of the notion.
    panels : sequence of str, optional
        Names of the panels to draw, such as ``"class 3"``; by default all, up to 40.
    difference : bool, default=False
        Draw everything less the mean probability before calibration, so that small shifts show.

    Returns
    -------
    matplotlib Axes, or ndarray of Axes for several panels
        What was drawn on. Event rates are black points with their intervals; the sizes of the bins are on a log scale.

    Raises
    ------
    ValueError
        If panels are unknown or too many, or ``ax`` is given for several.
    TypeError
        If it is no `CalibrationShift`.

    Examples
    --------
    >>> from calibrant import TemperatureScaling, load_digits_forecast
    >>> from calibrant.curves import calibration_shift
    >>> y, prob = load_digits_forecast()
    >>> q = TemperatureScaling().fit(prob, y).predict_proba(prob)
    >>> ax = calibration_shift(prob, {"TS": q}, y_true=y).plot()
    """
    require_kind(result, "result", "calibration_shift(y_prob, calibrated)", CalibrationShift)
    label = "change of the mean probability" if flag("difference", difference) else "mean calibrated probability"
    draw = partial(_draw_shift, result=result, look=(label, difference))
    return draw_panels({"": result}, draw, ax=ax, panels=panels, height=5.4, labels=(BEFORE, label))


def _draw_shift(
    ax: Any, panels: Mapping[str, ShiftPanel], alone: bool, *, result: CalibrationShift, look: tuple[str, bool]
) -> None:
    (panel,), (label, difference) = panels.values(), look
    held, before = panel.bins.count > 0, panel.bins.mean_prob
    same, base = np.array([result.threshold, 1.0]), before if difference else np.zeros(len(panel.bins))
    level = np.zeros(2) if difference else same
    ax.plot(same, level, color=_style.IDEAL, linestyle="--", linewidth=1, label="unchanged", zorder=1.5)
    for place, (name, mean) in enumerate(zip(result.forecasts, panel.calibrated, strict=True)):
        mark = {"color": _style.colour(place), "marker": _style.marker(place), "markersize": 4, "linewidth": 1.5}
        ax.plot(before[held], (mean - base)[held], label=name, zorder=3, **mark)
    if result.has_events:
        rate, word = panel.bins.event_rate - base, outcome_word(result)
        ax.plot(before[held], rate[held], "_", color=EVENTS, markersize=9, label=word, zorder=2.6)
        if result.interval is not None:
            _draw_interval(ax, before[held], (panel.lower - base)[held], (panel.upper - base)[held], result)
    ax.set_xlim(-0.02, 1.02)
    ax.set_axisbelow(True)
    ax.grid(color=_style.GRID, linewidth=0.8)
    lower = _draw_sizes(ax, panel)
    if alone:
        ax.set_ylabel(label)
        lower.set_xlabel(BEFORE)


def _draw_interval(ax: Any, at: FloatArray, lower: FloatArray, upper: FloatArray, result: CalibrationShift) -> None:
    if result.interval == "consistency":
        label = f"{1 - result.level:.0%} if calibrated before"
        ax.vlines(at, lower, upper, color=_style.IDEAL, linewidth=5, alpha=0.4, label=label, zorder=1.4)
    else:
        ax.vlines(at, lower, upper, color=EVENTS, linewidth=1.0, alpha=0.55, zorder=2)


def _draw_sizes(ax: Any, panel: ShiftPanel) -> Any:
    ax.tick_params(labelbottom=False)
    lower = room_below(ax)
    lower.stairs(panel.bins.count, panel.bins.edges, color=_style.FILL, fill=True, baseline=LEAST_SIZE)
    lower.set_yscale("log")
    lower.set_ylim(bottom=LEAST_SIZE)
    lower.set_ylabel("scores", fontsize="small")
    lower.tick_params(labelsize="small")
    lower.spines[["top", "right"]].set_visible(False)
    return lower
