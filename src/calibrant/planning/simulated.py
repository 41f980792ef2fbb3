"""Answers by simulation: rows to detect an error, and rows for an interval."""

from __future__ import annotations

from math import inf, log
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from calibrant._core.parameters import choice, number, refuse, require
from calibrant.binning import Binning, as_binning
from calibrant.metrics.kinds.metric import Function, Metric, as_metric
from calibrant.notions import Notion
from calibrant.planning import search
from calibrant.planning.power import Detection
from calibrant.planning.predictions import STRAYS, Predictions, of_classes, of_event, of_pilot
from calibrant.planning.rows_needed import RowsNeeded
from calibrant.planning.search import OutOfReachError, rows_where
from calibrant.planning.width import Intervals

POWER, LEVEL = 0.8, 0.05
"""What is assumed where nothing is said."""


def to_detect(
    rng: np.random.Generator,
    *,
    detect: object,
    metric: str | Function | None = None,
    notion: str | Notion | None = None,
    binning: int | Binning | None = None,
    wrong: str | None = None,
    power: float | None = None,
    level: float | None = None,
    **of: Any,
) -> RowsNeeded:
    """Return the rows with which a test finds a true error."""
    chosen, alpha = _measured(metric), _level(level)
    error = number("detect", detect, above=0.0, below=chosen.range[1], hint="Pass a true error such as 0.02")
    hint = "0.8 is usual: the test finds the error four times in five"
    wanted = POWER if power is None else number("power", power, least=0.1, most=0.99, hint=hint)
    require(wanted > alpha, "power must be above the level", value=wanted, hint="0.8 is usual")
    way = choice("wrong", "over-confident" if wrong is None else wrong, STRAYS)
    predictions = _predictions(rng, **of)
    detection = Detection(chosen, predictions, way, alpha, as_binning(15 if binning is None else binning), notion)
    truth = detection.truth(error)

    def figure(n: int, rough: bool) -> float:
        return float(ndtri(detection.power(n, truth, rng, rough=rough)))

    try:
        found = rows_where(figure, float(ndtri(wanted)), most=_most(predictions))
    except OutOfReachError as short:
        refuse(
            f"detect must be an error that at most {short.rows:,} rows detect with power {wanted:g}",
            got=f"{error:g}, which they detect with power {ndtr(short.figure):.2g}",
            hint="Pass a larger error",
        )
    what = f"for a test at level {alpha:g} to detect a true {chosen.symbol} of {error:g}{chosen.unit} with power {wanted:g}"
    assumed = {"predictions": predictions.said, "true error": f"{way} predictions", "test": f"p-value of {chosen.name}"}
    return RowsNeeded(**_found(found, what), assumed=assumed, figure="power", target=wanted, value=ndtr(found.figure))


def to_estimate(
    rng: np.random.Generator,
    *,
    width: object,
    metric: str | Function | None = None,
    notion: str | Notion | None = None,
    binning: int | Binning | None = None,
    level: float | None = None,
    **of: Any,
) -> RowsNeeded:
    """Return the rows with which an interval is as narrow as wanted."""
    chosen, alpha = _measured(metric), _level(level)
    wanted = number(
        "width", width, above=0.0, hint="Pass the upper end of the interval less its lower end, such as 0.1"
    )
    predictions = _predictions(rng, **of)
    intervals = Intervals(chosen, predictions, alpha, as_binning(15 if binning is None else binning), notion)

    def figure(n: int, rough: bool) -> float:
        width = intervals.median_width(n, rng, rough=rough)
        return inf if width == 0.0 else -log(width)

    try:
        found = rows_where(figure, -float(np.log(wanted)), most=_most(predictions))
    except OutOfReachError as short:
        theirs, hint = f"theirs is {np.exp(-short.figure):.3g}", "Pass a larger width"
        if np.isinf(short.figure):
            theirs, hint = "most samples of them have no interval", "Pass predictions that differ from row to row"
        refuse(f"width must be within reach of {short.rows:,} rows", got=f"{wanted:g}, and {theirs}", hint=hint)
    what = f"for a {100 * (1 - alpha):g} % interval of the {chosen.symbol} that is {wanted:g}{chosen.unit} wide"
    assumed = {"predictions": predictions.said, "truth": "the predictions are calibrated", "width": "median of samples"}
    return RowsNeeded(
        **_found(found, what), assumed=assumed, figure="width", target=wanted, value=np.exp(-found.figure)
    )


def _found(found: search.Found, what: str) -> dict[str, Any]:
    """Return the fields of an answer of a simulation."""
    if found.rows == search.LEAST:
        sentence = f"{search.LEAST} rows or fewer are needed {what}; fewer are not planned for."
    else:
        error = f"standard error of the simulation {found.standard_error:,.0f}"
        sentence = f"{found.rows:,} rows are needed {what} ({error})."
    return {
        "rows": found.rows,
        "sentence": sentence,
        "standard_error": found.standard_error,
        "tried": found.tried,
    }


def _predictions(
    rng: np.random.Generator,
    *,
    y_prob: Any = None,
    n_classes: Any = None,
    accuracy: Any = None,
    event_rate: Any = None,
    auc: Any = None,
    input: Any = None,
    rows: Any = None,
    **_: Any,
) -> Predictions:
    """Return the predictions that the plan is for, given in one of three ways."""
    ways = {"y_prob": y_prob, "n_classes": n_classes, "event_rate": event_rate}
    said = [name for name, value in ways.items() if value is not None]
    require(
        len(said) == 1,
        "exactly one of y_prob, n_classes and event_rate must say what the predictions are like",
        got=" and ".join(said) or "none",
        hint="Pass y_prob=pilot, the predictions of a pilot; or n_classes=10, or event_rate=0.1",
    )
    for name, value, whose in (
        ("accuracy", accuracy, "n_classes"),
        ("auc", auc, "event_rate"),
        ("input", input, "y_prob"),
        ("rows", rows, "y_prob"),
    ):
        require(
            value is None or whose in said,
            f"{name} must stand beside {whose}",
            got=f"{name}={value!r} beside {said[0]}",
            hint="Leave it out",
        )
    if y_prob is not None:
        return of_pilot(y_prob, input or "probability", rows or "as-given")
    return of_event(event_rate, auc) if n_classes is None else of_classes(n_classes, accuracy, rng)


def _measured(metric: str | Function | None) -> Metric:
    """Return the metric; names may be spelled as functions are."""
    return as_metric(metric.replace("_", "-") if isinstance(metric, str) else metric or "ece", None)


def _level(level: object) -> float:
    hint = "0.05 is usual"
    return LEVEL if level is None else number("level", level, least=0.001, most=0.5, hint=hint)


def _most(predictions: Predictions) -> int:
    return min(search.MOST, search.MOST_NUMBERS // predictions.n_classes)
