"""The calibrated probability of each score, over the reliability of the rows that are to be calibrated."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from calibrant import drawing
from calibrant._core import checks
from calibrant._core import rows as _rows
from calibrant._core.arrays import FloatArray, as_array, columns_of, log_prob_of_prob, ratio
from calibrant._core.border import DataOptions, Named, as_problem
from calibrant._core.result import DrawnResult, Picture, Record, Table, under
from calibrant.binning import Binning, Bins, Edges, as_binning, sums_over
from calibrant.binning.bins import shown
from calibrant.curves import reliability
from calibrant.notions import Binary, Notion, as_notion

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
    _picture = Picture("the map", "curves.calibration_map.plot_calibration_map", takes=("panels", "arrows"))

    panels: tuple[MapPanel, ...]
    notion: str
    calibrator: str
    curve: reliability.ReliabilityCurve | None = None
    of_predictions: bool = False


def calibration_map(
    calibrator: Any,
    y_true: npt.ArrayLike | None = None,
    y_prob: npt.ArrayLike | None = None,
    *,
    binning: int | Binning = 15,
    interval: reliability.IntervalName | None = "wilson",
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
    if not isinstance(y_true, _rows.InBatches):
        checks.together(y_true=y_true, y_prob=y_prob)
    checks.whole("resolution", resolution, least=2, hint="1001 is usual")
    notion, maps = _maps_of(calibrator)
    curve = None
    if y_true is not None:
        problem = as_problem(y_true, y_prob, **data)
        curve = reliability.curve_of(problem, as_notion(notion, problem), as_binning(binning), level, interval)
        names, word, of_predictions = [panel.name for panel in curve.panels], curve.notion, curve.of_predictions
    else:
        names, spoken = [Binary.name], notion or Binary()
        word, of_predictions = spoken.name, spoken.of_predictions
        if notion is not None:  # a function does not know its event
            classes = tuple(str(label) for label in getattr(calibrator, "classes_", (0, 1)))
            names = [part.name for part in notion.parts(np.zeros((0, len(classes))), classes)]
    score = np.arange(resolution) / (resolution - 1)
    panels = tuple(MapPanel(name, score, _mapped(function, score)) for name, function in zip(names, maps, strict=True))
    return CalibrationMap(panels, word, getattr(calibrator, "__name__", repr(calibrator)), curve, of_predictions)


def _maps_of(calibrator: Any) -> tuple[Notion | None, list[Map]]:
    """Return what is mapped, if the calibrator says so, and a function of scores for each of its problems."""
    if hasattr(
        calibrator, "calibrators_"
    ):  # ByNotion: None is the pooled map, and without one leaves scores as they are
        used = [one or calibrator.pooled_ for one in calibrator.calibrators_]
        return calibrator.notion_, [np.positive if one is None else one._apply for one in used]
    if hasattr(calibrator, "predict_proba"):
        n_classes = len(getattr(calibrator, "classes_", (0, 1)))
        hint = (
            "Pass one fitted on two classes, or ByNotion(...); simplex_map shows the maps of three classes, "
            "calibration_shift where any calibrator moves probabilities"
        )
        must, got = "calibrator must map one score at a time", f"{calibrator!r} for {n_classes} classes"
        checks.require(n_classes <= 2, must, got=got, hint=hint, error=TypeError)
        return as_notion("binary"), [partial(_predicted, calibrator)]
    must = "calibrator must be a fitted calibrator or a function"
    checks.require(callable(calibrator), must, value=calibrator, hint="Pass one of these", error=TypeError)
    return None, [calibrator]


def _predicted(calibrator: Any, score: FloatArray) -> FloatArray:
    values = score
    if getattr(calibrator, "input", "probability") == "logit":
        log_prob = log_prob_of_prob(_rows.two_columns(score, is_logit=False).values)
        values = log_prob[:, 1] - log_prob[:, 0]
    prob = np.asarray(calibrator.predict_proba(values), dtype=np.float64)
    return prob[:, 1] if prob.ndim == 2 else prob


def _mapped(function: Map, score: FloatArray) -> FloatArray:
    values = np.asarray(function(score), dtype=np.float64)
    got, hint = f"shape {values.shape} for {score.shape}", "Pass a function of an array of scores"
    checks.require(values.shape == score.shape, "the map must give a value for each score", got=got, hint=hint)
    fits, hint = (values >= -_rows.BEYOND) & (values <= 1.0 + _rows.BEYOND), "Pass a map between probabilities"
    checks.each("the map", values, fits, "give values in [0, 1]", hint=hint)
    return np.clip(values, 0.0, 1.0)


# Maps of calibrators over the reliability of the rows that they are to calibrate


def plot_calibration_map(
    maps: CalibrationMap | Mapping[str, CalibrationMap],
    *,
    ax: Any = None,
    panels: Sequence[str] | None = None,
    arrows: bool = False,
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
    arrows : bool, default=False
        Draw where each map moves the points: from the mean probability sideways to what the map makes of it. Those of a good
        map end near the diagonal, but for bins in which the map is steep: there rows move otherwise than their mean.

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
    named = drawing.as_named(maps, "maps", "calibration_map(calibrator, y_true, y_prob)", CalibrationMap)
    first = next(iter(named.values()))
    checks.flag("arrows", arrows)
    curves, word = {} if first.curve is None else {"": first.curve}, drawing.outcome_word(first)

    def draw(ax: Any, drawn: Mapping[str, MapPanel], alone: bool) -> None:
        points = {name: drawing.panel_of(curve, next(iter(drawn.values())).name) for name, curve in curves.items()}
        reliability.draw_reliability(ax, points, alone, curves, "points", "area", unnamed=word)
        for place, (name, panel) in enumerate(drawn.items(), start=1):  # the points are number 0
            look = {"color": drawing.colour(place), "linewidth": 1.8, "label": name or "map"}
            ax.plot(panel.score, panel.calibrated, zorder=2.5, **look)
            for one in points.values() if arrows else ():
                to = np.interp(one.bins.mean_prob, panel.score, panel.calibrated)
                reliability.draw_arrows(ax, one.bins, to, drawing.colour(place), f"moved by {name or 'the map'}")

    labels = ("probability", f"calibrated probability, {word}")
    return drawing.draw_panels(named, draw, ax=ax, panels=panels, height=4.6, labels=labels)


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
        options="``panels`` are those to draw; ``difference=True`` draws everything less the mean before.",
    )

    panels: tuple[ShiftPanel, ...]
    forecasts: tuple[str, ...]
    notion: str
    binning: str
    threshold: float
    level: float
    interval: reliability.IntervalName | None
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
    interval: reliability.IntervalName | None = "wilson",
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
        If shapes differ, if there is no calibrated forecast, if the threshold is outside [0, 1), if the binning needs labels
        and there are none, or if ``y_prob`` holds words or whole numbers of an integer type, as labels do.

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
    threshold = checks.number("threshold", threshold, least=0.0, below=1.0, hint="Pass a small one, such as 0.01")
    reliability.require_level(level)
    if interval is not None:
        checks.choice("interval", interval, reliability.INTERVALS)
    cut, has_events = as_binning(binning), y_true is not None
    must = "y_true must be given where the binning looks at outcomes"
    checks.require(has_events or not cut.uses_outcomes, must, value=cut, hint="Pass binning=30")
    declared = data.get("input") == "logit" or data.get("rows") == "percent"
    if not has_events and not declared:
        array = as_array("y_prob", y_prob)
        is_labels = array.ndim == 1 and array.dtype.kind in "biuUST"
        got = f"whole numbers or words, such as {array[:1].tolist()}"
        hint = f"{LABELS_FIRST}; probabilities are fractions, such as 1.0"
        checks.require(not is_labels, "y_prob must hold probabilities", got=got, hint=hint)
    problem = as_problem(y_prob=y_prob, **_with_labels(y_prob, y_true, data))
    rows = _rows.of_probabilities(data.get("rows", "as-given"))
    of_calibrated = {**data, "input": "probability", "rows": rows, "remedies": _rows.OF_PROBABILITIES}
    after = _calibrated(calibrated, y_prob, problem, _with_labels(y_prob, y_true, of_calibrated))
    chosen = as_notion(notion, problem, of_many="flattened")
    before = _rows.as_simplex(problem)
    names = tuple(str(label) for label in before.classes.tolist())

    def panel_of(binary: _rows.BinaryProblem, scores: list[FloatArray]) -> ShiftPanel:
        kept = binary.score >= threshold
        part = binary.at(kept)
        edges = Edges(np.append(threshold, (inner := cut.edges(part))[inner > threshold]))
        bins = shown(sums_over(edges, part), are_counts=part.weights.are_counts)
        at = bins.index(part.score)
        sums = [np.bincount(at, part.weight * score[kept], len(bins)) for score in scores]
        means = np.array([ratio(total, bins.weight) for total in sums])
        ends = reliability.interval_of(interval if has_events else None, bins, part.weights.rows_per_weight, level)
        if not has_events:
            bins = replace(bins, outcome_sum=ends[0])
        return ShiftPanel(binary.name or chosen.name, bins, *ends, means)

    parts = zip(chosen.parts(before.prob, names), chosen.split(problem), strict=True)
    panels = tuple(panel_of(binary, [part.scores(prob) for prob in after.values()]) for part, binary in parts)
    how = (chosen.name, repr(cut), threshold, level, interval, has_events, chosen.of_predictions)
    return CalibrationShift(panels, tuple(after), *how)


def _with_labels(y_prob: npt.ArrayLike, y_true: npt.ArrayLike | None, data: Mapping[str, Any]) -> dict[str, Any]:
    """Return what belongs to the data; where there are no labels, any of them stands for each: no figure is made of it."""
    if y_true is not None:
        return {"y_true": y_true, **data}
    values, labels = checks.as_numbers("y_prob", y_prob), data.get("labels")
    # Of one column any label will do; of two the positive one says which column is looked at.
    rest = {key: value for key, value in data.items() if key != "pos_label" or values.ndim == 2}
    any_label = 0 if labels is None or not len(labels) else labels[0]
    predicted = data.get("y_pred")
    return {"y_true": [any_label] * len(values) if predicted is None else predicted, **rest}


def _calibrated(
    calibrated: npt.ArrayLike | Mapping[str, npt.ArrayLike],
    y_prob: npt.ArrayLike,
    before: _rows.Problem,
    data: Mapping[str, Any],
) -> dict[str, FloatArray]:
    """Return calibrated tables by their names, of the rows and classes that were there before."""
    is_one = not isinstance(calibrated, Mapping)
    forecasts = calibrated if isinstance(calibrated, Mapping) else {"calibrated": calibrated}
    n_rows, names = len(checks.as_numbers("y_prob", y_prob)), columns_of(y_prob)
    checks.some("calibrated", forecasts, "forecast", hint="Pass {'isotonic': q}")
    checks.distinct_names("forecasts", forecasts)
    tables = {}
    for name, forecast in forecasts.items():
        what = "calibrated" if is_one else f"calibrated[{name!r}]"
        must, n_given = f"y_prob and {what} must have the same number of rows", len(checks.as_numbers(what, forecast))
        checks.require(n_given == n_rows, must, got=f"{n_rows} and {n_given}", hint="Pass forecasts of the same rows")
        problem = as_problem(y_prob=forecast, named=Named(forecast=what), **data)
        columns = columns_of(forecast)
        alike = np.array_equal(problem.classes, before.classes) and type(problem) is type(before)
        alike &= columns is None or names is None or list(columns) == list(names)
        must, hint = f"{what} must have the columns of y_prob, in their order", "Pass what a calibrator made of y_prob"
        checks.require(alike, must, got="another number of them, or other names", hint=hint)
        tables[str(name)] = _rows.as_simplex(problem).prob
    return tables


# Means before and after calibration, bin by bin


BEFORE = "probability before calibration"
LEAST_SIZE = 0.5
"""Where the scale of sizes begins, so that one score is seen."""

EVENTS = drawing.COLOURS[-1]


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
    drawing.require_kind(result, "result", "calibration_shift(y_prob, calibrated)", CalibrationShift)
    label = "change of the mean probability" if checks.flag("difference", difference) else "mean calibrated probability"
    draw = partial(_draw_shift, result=result, difference=difference)
    return drawing.draw_panels({"": result}, draw, ax=ax, panels=panels, height=5.4, labels=(BEFORE, label))


def _draw_shift(
    ax: Any, panels: Mapping[str, ShiftPanel], alone: bool, result: CalibrationShift, difference: bool
) -> Any:
    (panel,) = panels.values()
    held, before = panel.bins.count > 0, panel.bins.mean_prob
    same, base = np.array([result.threshold, 1.0]), before if difference else np.zeros(len(panel.bins))
    level = np.zeros(2) if difference else same
    ax.plot(same, level, color=drawing.IDEAL, linestyle="--", linewidth=1, label="unchanged", zorder=1.5)
    for place, (name, mean) in enumerate(zip(result.forecasts, panel.calibrated, strict=True)):
        mark = {"color": drawing.colour(place), "marker": drawing.marker(place), "markersize": 4, "linewidth": 1.5}
        ax.plot(before[held], (mean - base)[held], label=name, zorder=3, **mark)
    if result.has_events:
        rate, word = panel.bins.event_rate - base, drawing.outcome_word(result)
        ax.plot(before[held], rate[held], "_", color=EVENTS, markersize=9, label=word, zorder=2.6)
        look = {"color": EVENTS, "linewidth": 1.0, "alpha": 0.55, "zorder": 2}
        if result.interval == "consistency":
            label = f"{1 - result.level:.0%} if calibrated before"
            look = {"color": drawing.IDEAL, "linewidth": 5, "alpha": 0.4, "label": label, "zorder": 1.4}
        if result.interval is not None:
            ax.vlines(before[held], (panel.lower - base)[held], (panel.upper - base)[held], **look)
    ax.set_xlim(-0.02, 1.02)
    drawing.grid(ax)
    lower = drawing.room_below(ax)
    lower.stairs(panel.bins.count, panel.bins.edges, color=drawing.FILL, fill=True, baseline=LEAST_SIZE)
    lower.set_yscale("log")
    return drawing.finish_below(lower, "scores", LEAST_SIZE)
