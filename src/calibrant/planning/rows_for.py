"""How many rows do I need? One function for four questions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr, ndtri

from calibrant._core.parameters import choice, flag, number, require, whole
from calibrant._core.rows import Rows
from calibrant._core.validation import Input
from calibrant.binning import Binning, as_binning
from calibrant.calibrators.guarantees.binning_plan import samples_for_guarantee
from calibrant.metrics.metric import Function, Metric, as_metric
from calibrant.notions import Notion
from calibrant.planning import search
from calibrant.planning.harm import ROWS, harm_of
from calibrant.planning.power import Detection
from calibrant.planning.predictions import STRAYS, Predictions, of_classes, of_event, of_pilot
from calibrant.planning.rows_needed import RowsNeeded
from calibrant.planning.search import OutOfReachError, rows_where
from calibrant.planning.width import Intervals
from calibrant.sums.resampling import Rng, as_rng

OF_PREDICTIONS = ("y_prob", "n_classes", "accuracy", "event_rate", "auc", "input", "rows")
MEASURED = ("metric", "notion", "binning", "level")

TAKES = {
    "detect": (*OF_PREDICTIONS, *MEASURED, "power", "wrong"),
    "width": (*OF_PREDICTIONS, *MEASURED),
    "calibrate": ("n_classes", "safe", "harm"),
    "guarantee": ("n_classes", "level"),
}
"""The questions, and what else each of them takes."""

POWER, LEVEL, GUARANTEE_LEVEL, HARM = 0.8, 0.05, 0.1, 0.1
"""What is assumed where nothing is said."""

BOUNDS_SHOWN = (2.0, 1.5, 1.25, 1.0, 0.8)
"""Multiples of the wanted bound whose rows are shown beside it."""


def rows_for(
    *,
    detect: float | None = None,
    width: float | None = None,
    calibrate: str | None = None,
    guarantee: float | None = None,
    y_prob: npt.ArrayLike | None = None,
    n_classes: int | None = None,
    accuracy: float | None = None,
    event_rate: float | None = None,
    auc: float | None = None,
    metric: str | Function | None = None,
    notion: str | Notion | None = None,
    binning: int | Binning | None = None,
    wrong: str | None = None,
    power: float | None = None,
    level: float | None = None,
    safe: bool | None = None,
    harm: float | None = None,
    input: Input | None = None,
    rows: Rows | None = None,
    rng: Rng = 0,
) -> RowsNeeded:
    """Return how many rows are needed: to detect an error, for an interval of a width, to calibrate, or for a guarantee.

    Exactly one of the first four parameters is given: it is the question.

    Parameters
    ----------
    detect : float, optional
        True calibration error that a test is to find, in the units of ``metric``.
    width : float, optional
        Width of the interval of ``metric`` that is wanted: its upper end less its lower end.
    calibrate : str, optional
        Word of a calibrator, such as ``"temperature"``: from how many rows on it seldom did harm in the study of harm.
    guarantee : float, optional
        Largest error of all predictions after top-label histogram binning, in (0, 1], that a theorem is to bound: the
        conditional bound of `samples_for_guarantee` with ten bins a class.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes), optional
        Predictions of a pilot, without labels. Rows are drawn from them with replacement.
    n_classes : int, optional
        Number of classes. In place of a pilot: predictions whose logits are independent and normal, as those of
        `make_softmax_forecast`. Asked for by ``calibrate`` and ``guarantee``.
    accuracy : float, optional
        Beside ``n_classes``: mean probability of the predicted class, by default 0.8.
    event_rate : float, optional
        In place of a pilot: predictions of one event with normal log-odds and this mean, in [0.001, 0.999].
    auc : float, optional
        Beside ``event_rate``: area under the ROC curve, in [0.55, 0.99], by default 0.8.
    metric : str or callable, optional
        For ``detect`` a calibration error, for ``width`` any metric with an interval, by name or as the function; by default
        ``"ece"``.
    notion : str or Notion, optional
        By default ``"binary"`` for two classes and ``"confidence"`` for more.
    binning : int or Binning, optional
        How scores are cut; a number n means ``EqualWidth(n)``, by default 15.
    wrong : {"over-confident", "under-confident", "too high", "too low"}, optional
        How the predictions are wrong, for ``detect``. The true log-probabilities are those predicted, divided by one number
        ("over-confident", the default, above 1; "under-confident", below 1); or the true log-odds of two classes are lower or
        higher by one number ("too high", "too low"). The number is such that the true error is as asked.
    power : float, optional
        Probability with which the test finds the error, in (0, 1); by default 0.8.
    level : float, optional
        Level of the test, or one minus the coverage of the interval, in [0.001, 0.5], by default 0.05. Of a guarantee the
        probability with which it may fail, by default 0.1.
    safe : bool, optional
        For ``calibrate``: the calibrator within `SafeCalibrator`; by default by itself.
    harm : float, optional
        For ``calibrate``: tolerated share of the experiments in which the log loss of held-out rows rose, in (0, 1); by
        default 0.1.
    input : {"probability", "logit"}, optional
        What ``y_prob`` holds; by default probabilities.
    rows : {"as-given", "normalize", "percent"}, optional
        What is done with the rows of ``y_prob``; see `DataOptions`.
    rng : numpy.random.Generator, int or None, default=0
        Source of randomness. The default makes two calls agree; None draws anew.

    Returns
    -------
    RowsNeeded
        ``rows``, their ``standard_error`` by the simulation, a ``sentence``, what was ``assumed``, and the figure with each
        number of rows that was tried, as ``to_frame()`` and ``plot()``.

    Raises
    ------
    TypeError, ValueError
        If there is not exactly one question, a parameter is not what it must be or belongs to another question, or a million
        rows (fewer of more than 16 classes: 2^24 probabilities) are too few.

    See Also
    --------
    samples_for_guarantee : More kinds of guarantees, and rare classes.
    assess : The smallest detectable error of rows at hand.

    Notes
    -----
    ``detect`` and ``width`` are simulated with the mechanisms of `assess`: rows are drawn from the predictions and labels from
    their true probabilities. The power is the share of data sets with a p-value of at most ``level``. The width is the median
    over data sets in which the predictions are calibrated. The rows are doubled from 50 on until the figure is reached. Then a
    line is fitted to its normal quantile, or to the logarithm of the width, against the logarithm of 10 numbers of rows;
    ``standard_error`` is that of the place where the line meets the target.

    ``calibrate`` reads the tables of docs/do-no-harm.md: experiments with 100, 200, 500 and 2000 rows on predictions of 2 to
    10 classes. Other predictions may need more rows.

    Examples
    --------
    >>> from calibrant import rows_for
    >>> print(rows_for(guarantee=0.1, n_classes=10).sentence)
    38,200 rows are needed: after top-label histogram binning no error is above 0.1 with probability 0.9.
    >>> rows_for(width=0.2, metric="calibration-slope", event_rate=0.1).rows > 2000
    True
    """
    given = {name: value for name, value in locals().items() if value is not None and name != "rng"}
    question = _question(given)
    answer: Callable[..., RowsNeeded] = ANSWERS[question]
    return answer(as_rng(rng), **given)


def _question(given: dict[str, Any]) -> str:
    """Return which question is asked; refuse none, several, and what belongs to another."""
    asked = [name for name in TAKES if name in given]
    require(
        len(asked) == 1,
        f"exactly one of {', '.join(TAKES)} must be given: it is the question",
        got=" and ".join(asked) or "none",
        hint="Pass detect=0.02, say, to find an error of 0.02",
    )
    (question,) = asked
    strange = [name for name in given if name not in (question, *TAKES[question])]
    require(
        not strange,
        f"beside {question} there must be none but {', '.join(TAKES[question])}",
        got=", ".join(strange),
        hint="Leave it out" if len(strange) == 1 else "Leave them out",
    )
    return question


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


def _to_detect(
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
        raise ValueError(
            f"detect must be an error that at most {short.rows:,} rows find with power {wanted:g}; got {error:g}, which they "
            f"find with power {ndtr(short.figure):.2g}. Pass a larger error."
        ) from None
    what = (
        f"for a test at level {alpha:g} to find a true {chosen.symbol} of {error:g}{chosen.unit} with power {wanted:g}"
    )
    assumed = {"predictions": predictions.said, "true error": f"{way} predictions", "test": f"p-value of {chosen.name}"}
    return RowsNeeded(**_found(found, what), assumed=assumed, figure="power", target=wanted, value=ndtr(found.figure))


def _to_estimate(
    rng: np.random.Generator,
    *,
    width: object,
    metric: str | Function | None = None,
    notion: str | Notion | None = None,
    binning: int | Binning | None = None,
    level: float | None = None,
    **of: Any,
) -> RowsNeeded:
    chosen, alpha = _measured(metric), _level(level)
    wanted = number(
        "width", width, above=0.0, hint="Pass the upper end of the interval less its lower end, such as 0.1"
    )
    predictions = _predictions(rng, **of)
    intervals = Intervals(chosen, predictions, alpha, as_binning(15 if binning is None else binning), notion)

    def figure(n: int, rough: bool) -> float:
        return -float(np.log(intervals.median_width(n, rng, rough=rough)))

    try:
        found = rows_where(figure, -float(np.log(wanted)), most=_most(predictions))
    except OutOfReachError as short:
        raise ValueError(
            f"width must be within reach of {short.rows:,} rows; got {wanted:g}, and theirs is {np.exp(-short.figure):.3g}. "
            "Pass a larger width."
        ) from None
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


def _to_calibrate(
    rng: np.random.Generator,
    *,
    calibrate: str,
    n_classes: int | None = None,
    safe: bool | None = None,
    harm: float | None = None,
) -> RowsNeeded:
    classes = _n_classes(n_classes, "calibrate")
    is_safe = flag("safe", safe) if safe is not None else False
    tolerated = HARM if harm is None else number("harm", harm, above=0.0, below=1.0, hint="0.1 tolerates one in ten")
    found = harm_of(calibrate, classes, safe=is_safe)
    method = f"{calibrate} within SafeCalibrator" if is_safe else calibrate
    needed = found.rows(tolerated)
    require(
        needed is not None,
        f"harm must be a share that {method} kept to with {ROWS[-1]:,} rows, the most of the study of harm",
        got=f"{tolerated:g}, and there it made {100 * found.share[-1]:.0f} % of the {found.experiments[-1]} experiments worse",
        hint="Take safe=True, a larger harm=, or another calibrator"
        if not is_safe
        else "Take a larger harm=, or another calibrator",
    )
    assert needed is not None
    at = ROWS.index(needed)
    sentence = (
        f"{needed:,} rows are needed to calibrate by {method}: from there on it raised the log loss of held-out rows in at "
        f"most {100 * tolerated:g} % of the experiments."
    )
    assumed = {
        "source": "the study of harm, docs/do-no-harm.md, with 100, 200, 500 and 2000 rows",
        "predictions": f"those of the study of {found.group}",
        "experiments": f"{found.experiments[at]} with {needed:,} rows, of which {100 * found.share[at]:.0f} % were made worse",
    }
    return RowsNeeded(needed, sentence, 0.0, assumed, "share of harm", tolerated, np.array(ROWS), found.share)


def _to_guarantee(
    rng: np.random.Generator, *, guarantee: float, n_classes: int | None = None, level: float | None = None
) -> RowsNeeded:
    classes = 1 if n_classes is None else n_classes
    alpha = GUARANTEE_LEVEL if level is None else number("level", level, above=0.0, below=1.0, hint="0.1 is usual")
    plan = samples_for_guarantee(guarantee, n_classes=classes, alpha=alpha)
    bounds = [times * guarantee for times in BOUNDS_SHOWN if times * guarantee <= 1.0]
    sentence = (
        f"{plan.n_samples:,} rows are needed: after top-label histogram binning no error is above {guarantee:g} with "
        f"probability {1.0 - alpha:g}."
    )
    assumed = {
        "theorem": "the conditional bound of samples_for_guarantee, whatever the predictions",
        "bins": f"{plan.n_bins:,} of {plan.points_per_bin:,} rows, 10 for each of {classes} classes"
        if classes > 1
        else f"{plan.n_bins:,} of {plan.points_per_bin:,} rows",
    }
    tried = np.array([samples_for_guarantee(bound, n_classes=classes, alpha=alpha).n_samples for bound in bounds])
    return RowsNeeded(plan.n_samples, sentence, 0.0, assumed, "bound", guarantee, tried, np.array(bounds))


def _n_classes(n_classes: object, question: str) -> int:
    require(
        n_classes is not None,
        f"n_classes must be given beside {question}",
        got="None",
        hint="Pass n_classes=2 for one event",
    )
    return whole("n_classes", n_classes, least=2, hint="Pass n_classes=2 for one event")


ANSWERS: dict[str, Callable[..., RowsNeeded]] = {
    "detect": _to_detect,
    "width": _to_estimate,
    "calibrate": _to_calibrate,
    "guarantee": _to_guarantee,
}
