"""The calibrated probability of each score, over the reliability of the rows that are to be calibrated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from calibrant._core.in_batches import InBatches
from calibrant._core.links import FloatArray, log_prob_of_prob
from calibrant._core.parameters import refuse, require, together, whole
from calibrant._core.problem import two_columns
from calibrant._core.result import DrawnResult, Picture, Record
from calibrant._core.rows import ROUNDING
from calibrant._core.table import Table, under
from calibrant._core.validation import DataOptions, as_problem
from calibrant.binning import Binning, as_binning
from calibrant.curves.reliability import IntervalName, ReliabilityCurve, curve_of
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
    _picture = Picture(
        "the map", "calibration_map.plot_calibration_map", options="Those of `plot_calibration_map`: ``panels``."
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
    bad = ~((values >= -ROUNDING) & (values <= 1.0 + ROUNDING))
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
