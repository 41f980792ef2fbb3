"""The calibrated probability of each score, over the reliability of the rows that are to be calibrated."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from calibrant import drawing
from calibrant._core import checks
from calibrant._core import rows as _rows
from calibrant._core.arrays import FloatArray, log_prob_of_prob
from calibrant._core.border import DataOptions, as_problem
from calibrant._core.result import DrawnResult, Picture, Record, Table, under
from calibrant.binning import Binning, as_binning
from calibrant.curves import reliability
from calibrant.curves.simplex import require_map
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
    checks.whole("resolution", resolution, least=2, most=10**6, hint="1001 is usual")
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
    require_map(calibrator)
    if hasattr(calibrator, "calibrators_"):
        # ByNotion: None is the pooled map, and without one leaves scores as they are.
        used = [one or calibrator.pooled_ for one in calibrator.calibrators_]
        return calibrator.notion_, [np.positive if one is None else one._apply for one in used]
    if hasattr(calibrator, "predict_proba"):
        n_classes = len(getattr(calibrator, "classes_", (0, 1)))
        hint = "Pass one fitted on two classes, or ByNotion(...); simplex_map shows the maps of three classes"
        must, got = "calibrator must map one score at a time", f"{calibrator!r} for {n_classes} classes"
        checks.require(n_classes <= 2, must, got=got, hint=hint, error=TypeError)
        return as_notion("binary"), [partial(_predicted, calibrator)]
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
                bins, key = one.bins, {"color": drawing.colour(place), "zorder": 3.4}
                to = np.interp(bins.mean_prob, panel.score, panel.calibrated)
                start, end = (np.column_stack([x, bins.event_rate])[bins.count > 0] for x in (bins.mean_prob, to))
                drawing.arrows(ax, start, end, **key)
                words = f"moved by {name or 'the map'}"
                ax.plot([], [], linestyle="", marker=r"$\to$", markersize=9, label=words, **key)

    labels = ("probability", f"calibrated probability, {word}")
    return drawing.draw_panels(named, draw, ax=ax, panels=panels, height=4.6, labels=labels)
