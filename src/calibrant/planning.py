"""How many rows a question takes, before data are collected or from a pilot: one function for four questions."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from importlib.resources import files
from itertools import pairwise, takewhile
from math import ceil, exp, inf, log
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import expit, ndtr, ndtri

from calibrant import drawing
from calibrant._core.arrays import FloatArray, prob_of_logit
from calibrant._core.border import Input, as_forecast, as_weights
from calibrant._core.checks import as_numbers, choice, flag, number, refuse, require, whole
from calibrant._core.result import DrawnResult, Picture, Table
from calibrant._core.rows import Forecast, IntArray, Rows, SimplexProblem, Weights, two_columns
from calibrant.binning import Binning, as_binning
from calibrant.datasets import make_softmax_forecast
from calibrant.exceptions import CalibrationWarning
from calibrant.metrics.estimate import NO_INTERVAL, Resampling, consistent_deviations, pvalue_of
from calibrant.metrics.kinds import Function, Metric, as_metric, estimates, within
from calibrant.metrics.noise import Residuals, Setting
from calibrant.notions import Notion
from calibrant.sums.draws import Bootstrap, ConsistentLabels, Rng, as_rng

__all__ = ["RowsNeeded", "rows_for"]

# The answer to "how many rows do I need?"


@dataclass(frozen=True, eq=False)
class RowsNeeded(DrawnResult):
    """How many rows a question takes, and what that rests on: the result of `rows_for`.

    Attributes
    ----------
    rows : int
        The answer.
    sentence : str
        What these rows are needed for, in one sentence.
    standard_error : float
        Standard error of ``rows`` by the draws of the simulation; 0 where nothing was drawn.
    assumed : dict
        What the answer rests on, such as the level, the power and the predictions, by name.
    figure : str
        What was looked at for each number of rows: "power", "width", "bound" or "share of harm".
    target : float
        The value of that figure that was asked for.
    tried : ndarray of shape (L,)
        Numbers of rows that were tried, rising.
    value : ndarray of shape (L,)
        The figure with so many rows; of a simulation with its noise.
    """

    _table = Table("number of rows that was tried", "rows=tried", "value", "figure")
    _summary = "{rows}, {figure}={target:g}"
    _picture = Picture("the figure against the number of rows", "planning.plot_rows_needed")

    rows: int
    sentence: str
    standard_error: float
    assumed: Mapping[str, Any]
    figure: str
    target: float
    tried: IntArray
    value: FloatArray

    def __str__(self) -> str:
        """Return the sentence, and a line for each assumption."""
        width = max(map(len, self.assumed))
        return "\n".join([self.sentence, *(f"  {name:<{width}}  {said}" for name, said in self.assumed.items())])


# The predictions that a plan is made for: those of a pilot, or those of a stated kind


POOL, MOST_NUMBERS = 20_000, 1 << 22
"""Rows, and probabilities, of a stated kind that rows are drawn from."""

USUAL_ACCURACY, USUAL_AUC = 0.8, 0.8

STRAYS = {
    "over-confident": lambda log_prob, t: log_prob * np.exp(-t),
    "under-confident": lambda log_prob, t: log_prob * np.exp(t),
    "too high": lambda log_prob, t: log_prob - t * np.array([0.0, 1.0]),
    "too low": lambda log_prob, t: log_prob + t * np.array([0.0, 1.0]),
}
"""Log-probabilities of the truth, but for a constant a row, of predictions that are wrong in a way, by a strength t."""

OF_TWO_CLASSES = ("too high", "too low")


@dataclass(frozen=True, eq=False)
class Predictions:
    """Predictions to draw rows from, and what is said of them."""

    forecast: Forecast
    said: str
    weights: Weights

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return self.forecast.shape[1]

    def truth(self, wrong: str, strength: float) -> FloatArray:
        """Return the true probabilities if the predictions are wrong in this way by this strength, shape (n, K)."""
        if strength == 0.0:
            return self.forecast.prob
        return prob_of_logit(STRAYS[wrong](self.forecast.log_prob, strength))

    def whole(self) -> SimplexProblem:
        """Return all of them as a problem, with labels that say nothing: the most probable class."""
        return _problem(self.forecast, self.forecast.values.argmax(axis=1), self.weights)

    def drawn(self, n: int, truth: FloatArray, rng: np.random.Generator) -> tuple[SimplexProblem, FloatArray]:
        """Draw rows with replacement and labels from the truth; return the problem and the truth of its rows."""
        if self.weights.are_counts:
            ends = np.cumsum(self.weights.values)
            rows = np.searchsorted(ends, rng.integers(0, int(ends[-1]), n), side="right")
        else:
            rows = rng.choice(len(truth), n, p=self.weights.values / self.weights.total)
        (label,) = ConsistentLabels(truth[rows], 1, rng)
        forecast = Forecast(self.forecast.values[rows], self.forecast.is_logit)
        return _problem(forecast, label, Weights.one_each(n)), truth[rows]


def _problem(forecast: Forecast, label: npt.NDArray[np.intp], weights: Weights) -> SimplexProblem:
    return SimplexProblem(forecast, label, weights, np.arange(forecast.shape[1]))


def of_pilot(
    y_prob: npt.ArrayLike,
    input: Input = "probability",
    rows: Rows = "as-given",
    sample_weight: npt.ArrayLike | None = None,
) -> Predictions:
    """Return the predictions of a pilot; a whole weight is a number of equal rows."""
    values = as_numbers("y_prob", y_prob)
    weights = as_weights(sample_weight, len(values))
    if not weights.values.all():
        held = np.flatnonzero(weights.values)
        values, weights = values[held], weights.take(held)
    forecast = as_forecast(values, input=input, rows=rows)
    return Predictions(forecast, f"those of the pilot's {weights.n_rows:,} rows", weights)


def of_classes(n_classes: object, accuracy: object, rng: np.random.Generator) -> Predictions:
    """Return predictions of many classes whose logits are independent and normal, with a mean confidence of ``accuracy``."""
    classes = whole("n_classes", n_classes, least=2, most=10_000, hint="One event makes two classes")
    wanted: Any = USUAL_ACCURACY if accuracy is None else accuracy
    n = max(1000, min(POOL, MOST_NUMBERS // classes))
    prob = make_softmax_forecast(n, classes, temperature=1.0, accuracy=wanted, rng=rng).prob
    said = f"softmax of independent normal logits of {classes} classes, accuracy {wanted:g}"
    return Predictions(Forecast(np.asarray(prob, dtype=np.float64)), said, Weights.one_each(n))


def of_event(event_rate: object, auc: object) -> Predictions:
    """Return predictions of one event whose log-odds are normal, with this event rate and area under the ROC curve.

    They are the quantiles of that normal distribution at (i + 1/2) / 20 000, so nothing is drawn.
    """
    rate = number("event_rate", event_rate, least=0.001, most=0.999, hint="Pass the share of the rows with the event")
    hint, wanted = "It is the area under the ROC curve; 0.8 is usual", USUAL_AUC if auc is None else auc
    area = number("auc", wanted, least=0.55, most=0.99, hint=hint)
    normal = ndtri((np.arange(POOL) + 0.5) / POOL)
    scale = brentq(lambda s: _area(_with_rate(normal, s, rate)) - area, 0.05, 100.0, xtol=1e-8)
    logit = two_columns(_with_rate(normal, scale, rate), is_logit=True)
    said = f"normal log-odds of one event, event rate {rate:g}, area under the ROC curve {area:g}"
    return Predictions(logit, said, Weights.one_each(POOL))


def _with_rate(normal: FloatArray, scale: float, rate: float) -> FloatArray:
    """Return log-odds of this scale, shifted so that the event rate is as wanted."""
    far = 10.0 * scale + 20.0
    return np.asarray(brentq(lambda m: float(expit(m + scale * normal).mean()) - rate, -far, far) + scale * normal)


def _area(log_odds: FloatArray) -> float:
    """Area under the ROC curve of calibrated predictions with these log-odds, which rise."""
    event = expit(log_odds)
    other = 1.0 - event
    below = np.cumsum(other) - 0.5 * other
    return float(event @ below / (event.sum() * other.sum()))


# The number of rows at which a figure that is measured with noise reaches a target


LEAST = 50
"""Rows from which the search begins: fewer are not planned for."""

MOST, MOST_NUMBERS_TRIED = 1_000_000, 1 << 24
"""Rows, and rows times classes, at which it ends."""

POINTS, REACH, ROUNDS = 10, 0.3, 3
"""A line is fitted to so many numbers of rows, from exp(-REACH) to exp(REACH) times a first guess, and at most ``ROUNDS`` times
to as many more about where it meets the target."""

NARROW = REACH / 2.0
"""The last line spans exp(-NARROW) to exp(NARROW), where a power curve is nearly straight."""


@dataclass(frozen=True, eq=False)
class Found:
    """The rows that were found, their standard error, and what was tried: numbers of rows (L,), and the figure there (L,)."""

    rows: int
    standard_error: float
    tried: IntArray
    figure: FloatArray


class OutOfReachError(ValueError):
    """The figure does not reach the target with the most rows that are tried."""

    def __init__(self, rows: int, figure: float) -> None:
        super().__init__(f"the figure with {rows} rows is {figure:g}")
        self.rows, self.figure = rows, figure


Figure = Callable[[int, bool], float]
"""A figure of a number of rows, drawn anew at each call: roughly, or not. It is minus infinity where the rows have none."""


def rows_where(figure: Figure, target: float, *, most: int = MOST) -> Found:
    """Return the rows at which a figure that rises with log(rows), nearly along a line, reaches a target.

    Parameters
    ----------
    figure : callable
        Of a number of rows and whether a rough value is enough.
    target : float
        The value that is wanted.
    most : int, default=1_000_000
        Rows at which the search ends.

    Returns
    -------
    Found
        The rows where the fitted line meets the target, with the standard error by the residuals of the line.

    Raises
    ------
    OutOfReachError
        If the figure is below the target with the most rows.

    Notes
    -----
    The rows are doubled until the figure reaches the target, at most 15 times. Then a line is fitted by least squares to 10
    numbers of rows about the place where the last two meet the target: first to rough values, and then, about the place where
    that line meets it, to good ones; and to 10 more where a line meets it elsewhere. For the line a + b x and residual variance
    s² the place x has the variance s² / b² (1 / m + (x - mean)² / sum (x_i - mean)²) to first order.
    """
    tried = [LEAST]
    seen = [figure(LEAST, True)]
    while seen[-1] < target and tried[-1] < most:
        tried.append(min(2 * tried[-1], most))
        seen.append(figure(tried[-1], True))
    if seen[-1] < target:
        raise OutOfReachError(tried[-1], seen[-1])
    if len(tried) == 1:
        return Found(LEAST, 0.0, np.array(tried), np.array(seen))

    (n, m), (low, high) = tried[-2:], seen[-2:]
    part = (target - low) / (high - low) if np.isfinite(low) else 0.5
    x, error = float(np.log(n) + part * (np.log(m) - np.log(n))), 0.0
    for reach, rough in ((REACH, True), (NARROW, False)):
        begin = len(tried)
        for _ in range(ROUNDS):
            guess = x
            wanted = np.rint(np.exp(guess + np.linspace(-reach, reach, POINTS)))
            some = np.unique(np.clip(wanted, LEAST, most).astype(int)).tolist()
            tried += some
            seen += [figure(n, rough) for n in some]
            at, values = np.log(tried[begin:]), np.array(seen[begin:])
            near = np.abs(at - guess) <= 3.0 * reach
            x, error = _on_line(at[near], values[near], target, guess, reach)
            if abs(x - guess) <= reach / 2.0:
                break
    if (rows := ceil(exp(x))) > most:
        raise OutOfReachError(most, seen[tried.index(max(tried))])
    order = np.argsort(tried, kind="stable")
    return Found(max(rows, LEAST), rows * error, np.array(tried)[order], np.array(seen)[order])


def _on_line(x: FloatArray, values: FloatArray, target: float, guess: float, reach: float) -> tuple[float, float]:
    """Return where the line through the points meets the target, at most twice ``reach`` from the guess, and its error."""
    held = np.isfinite(values)
    x, values = x[held], values[held]
    if x.size < 3:
        return guess + 2.0 * reach, reach
    mean, spread = float(x.mean()), float(((x - x.mean()) ** 2).sum())
    slope = float((x - mean) @ values) / spread
    if slope <= 0.0:  # noise alone: look further on
        return guess + 2.0 * reach, reach
    residual = values - values.mean() - slope * (x - mean)
    met = mean + (target - float(values.mean())) / slope
    variance = float(residual @ residual) / (x.size - 2) / slope**2 * (1.0 / x.size + (met - mean) ** 2 / spread)
    return float(np.clip(met, guess - 2.0 * reach, guess + 2.0 * reach)), float(np.sqrt(variance))


# How often a test finds a true calibration error, with a number of rows


DRAWS, ROUGHLY, TIMES = 250, 100, 4
"""Data sets on which the test is tried at a time, each time with rows and draws under calibration of its own: a share of one
time varies by 0.04, of which the draws make half. As many data sets, and one time, for a rough figure."""

NULL_DRAWS = 399
"""Draws under calibration behind its p-values; more where the level is below 0.01."""

STRENGTHS = tuple(np.linspace(0.0, 5.0, 51).tolist())
"""Strengths between which the one that makes the wanted error is looked for."""


@dataclass(frozen=True, eq=False)
class Detection:
    """A test of a metric, by draws of labels as in `assess`, and predictions that it is of."""

    metric: Metric
    predictions: Predictions
    wrong: str
    level: float
    binning: Binning
    notion: str | Notion | None

    def residuals(self, problem: SimplexProblem) -> Residuals:
        """Return the residuals that the metric is the size of."""
        found = self.metric.residuals(problem, self.binning, self.notion)
        if found is None or not found.has_fixed_cells:
            must = "metric must be a calibration error whose bins do not depend on the outcomes, for detect="
            hint = "Take 'ece', 'classwise-ece', 'ks-error' or 'smooth-ece', or ask for width= in place of detect="
            refuse(must, value=self.metric.name, hint=hint)
        return found

    def truth(self, error: float) -> FloatArray:
        """Return the true probabilities of all predictions with which their true error is as wanted, shape (n, K)."""
        problem, predictions = self.predictions.whole(), self.predictions
        is_fit, got = self.wrong not in OF_TWO_CLASSES or predictions.n_classes == 2, f"{predictions.n_classes} classes"
        must = f"wrong must be 'over-confident' or 'under-confident' of more than two classes; {self.wrong!r} is of one event"
        require(is_fit, must, got=got, hint="Pass one of these")
        residuals = self.residuals(problem)
        table = residuals.cells()
        sizes = residuals.sizes(table)
        row, column = np.nonzero(table.of >= 0)
        cell = table.of[row, column]

        def excess(strength: float) -> float:
            truth = predictions.truth(self.wrong, strength)
            events = np.bincount(cell, truth[row, column] * predictions.weights.values[row], table.weight.size)
            return float(sizes((table.scale * (events - table.expected))[None])[0]) - error

        largest = -error
        for ends in pairwise(STRENGTHS):
            largest = max(largest, excess(ends[1]))
            if largest >= 0.0:
                break
        must = f"detect must be an error that {self.wrong} predictions like these can have"
        hint = "Pass a smaller error, or predictions that are wrong in another way by wrong="
        require(largest >= 0.0, f"{must}, at most {largest + error:.3g}", value=error, hint=hint)
        return predictions.truth(self.wrong, float(brentq(excess, *ends, xtol=1e-9)))

    def power(self, n: int, truth: FloatArray, rng: np.random.Generator, *, rough: bool = False) -> float:
        """Share of the data sets of so many rows in which the test rejects, between 0 and 1.

        The p-value is that of `assess`: the share of draws from the predictions themselves that reach the error.
        """
        size, times = (ROUGHLY, 1) if rough else (DRAWS, TIMES)
        found = sum(self._found(n, size, truth, rng) for _ in range(times))
        return (found + 0.5) / (size * times + 1.0)

    def _found(self, n: int, size: int, truth: FloatArray, rng: np.random.Generator) -> int:
        """Draw rows once and labels of ``size`` data sets from their true probabilities; return how often the test rejects."""
        problem, rates = self.predictions.drawn(n, truth, rng)
        residuals = self.residuals(problem)
        null = residuals.null(max(NULL_DRAWS, int(np.ceil(4.0 / self.level)) - 1), rng)[1]
        # Labels of the truth in the cells of the predictions: only where the labels come from is another.
        table = replace(residuals.cells(), moments=None)
        (deviations,) = consistent_deviations(replace(problem, forecast=Forecast(rates)), [table], size, rng)
        return sum(pvalue_of(value, null) <= self.level for value in residuals.sizes(table)(deviations).tolist())


# How wide the interval of a metric is, with a number of rows


DATA_SETS, ROUGHLY_WIDE = 15, 5
"""Data sets of a number of rows of which the interval is made, and as many for a rough figure."""

INTERVAL_DRAWS = 200
"""Draws of each interval that needs some."""


def median_width(
    metric: Metric,
    problems: Iterable[SimplexProblem],
    binning: Binning,
    resampling: Resampling,
    notion: str | Notion | None,
) -> float:
    """Median width over data sets; infinite where most have no interval, as a slope of very few events."""
    widths = []
    for problem in problems:
        if metric.draws_labels:
            found = estimates([metric], problem, binning, resampling, notion=notion)[metric.name]
        else:  # of a formula: to draw the bootstrap samples that others share would take ten times as long
            bootstrap = Bootstrap(problem.size, 1, resampling.rng)
            setting = Setting(problem, problem, resampling, bootstrap, notion=notion)
            found = within(metric.range, metric.estimate(setting))
        got, hint = f"{metric.name!r}: {NO_INTERVAL}", "Take 'ece' or another calibration error"
        require(found.upper is not None, "metric must have an interval", got=got, hint=hint)
        widths.append(np.subtract(*found.interval[::-1]))
    return float(np.median(np.where(np.isnan(widths), np.inf, widths)))


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
    chosen, alpha = _measured(metric, level)
    error = number("detect", detect, above=0.0, below=chosen.range[1], hint="Pass a true error such as 0.02")
    hint = "0.8 is usual: the test finds the error four times in five"
    wanted = number("power", POWER if power is None else power, least=0.1, most=0.99, hint=hint)
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
        must = f"detect must be an error that at most {short.rows:,} rows detect with power {wanted:g}"
        got = f"{error:g}, which they detect with power {ndtr(short.figure):.2g}"
        refuse(must, got=got, hint="Pass a larger error")
    what = f"for a test at level {alpha:g} to detect a true {chosen.symbol} of {error:g}{chosen.unit} with power {wanted:g}"
    assumed = {"predictions": predictions.said, "true error": f"{way} predictions", "test": f"p-value of {chosen.name}"}
    return _answer(found, what, assumed, "power", wanted, ndtr(found.figure))


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
    chosen, alpha = _measured(metric, level)
    hint = "Pass the upper end of the interval less its lower end, such as 0.1"
    wanted = number("width", width, above=0.0, hint=hint)
    predictions, cut = _predictions(rng, **of), as_binning(15 if binning is None else binning)
    truth, resampling = predictions.forecast.prob, Resampling(alpha, INTERVAL_DRAWS, rng)

    def figure(n: int, rough: bool) -> float:
        drawn = (predictions.drawn(n, truth, rng)[0] for _ in range(ROUGHLY_WIDE if rough else DATA_SETS))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CalibrationWarning)  # an undefined slope is an infinite width here
            width = median_width(chosen, drawn, cut, resampling, notion)
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
    return _answer(found, what, assumed, "width", wanted, np.exp(-found.figure))


def _answer(
    found: Found, what: str, assumed: Mapping[str, Any], figure: str, target: float, value: FloatArray
) -> RowsNeeded:
    """Return the answer of a simulation."""
    sentence = f"{LEAST} rows or fewer are needed {what}; fewer are not planned for."
    if found.rows > LEAST:
        error = f"standard error of the simulation {found.standard_error:,.0f}"
        sentence = f"{found.rows:,} rows are needed {what} ({error})."
    return RowsNeeded(found.rows, sentence, found.standard_error, assumed, figure, target, found.tried, value)


def _predictions(rng: np.random.Generator, *, input: Any = None, rows: Any = None, **of: Any) -> Predictions:
    """Return the predictions that the plan is for, given in one of three ways."""
    beside = {
        "accuracy": "n_classes",
        "auc": "event_rate",
        **dict.fromkeys(("input", "rows", "sample_weight"), "y_prob"),
    }
    given = {name: value for name, value in {**of, "input": input, "rows": rows}.items() if value is not None}
    said = [name for name in ("y_prob", "n_classes", "event_rate") if name in given]
    must = "exactly one of y_prob, n_classes and event_rate must say what the predictions are like"
    hint = "Pass y_prob=pilot, the predictions of a pilot; or n_classes=10, or event_rate=0.1"
    require(len(said) == 1, must, got=" and ".join(said) or "none", hint=hint)
    for name in beside.keys() & given:
        must, got = f"{name} must stand beside {beside[name]}", f"{name}={given[name]!r} beside {said[0]}"
        require(beside[name] in said, must, got=got, hint="Leave it out")
    if "y_prob" in given:
        return of_pilot(given["y_prob"], input or "probability", rows or "as-given", given.get("sample_weight"))
    if "event_rate" in given:
        return of_event(given["event_rate"], given.get("auc"))
    return of_classes(given["n_classes"], given.get("accuracy"), rng)


def _measured(metric: str | Function | None, level: object) -> tuple[Metric, float]:
    """Return the metric, whose name may be spelled as functions are, and the level."""
    chosen = as_metric(metric.replace("_", "-") if isinstance(metric, str) else metric or "ece", None)
    return chosen, number("level", LEVEL if level is None else level, least=0.001, most=0.5, hint="0.05 is usual")


def _most(predictions: Predictions) -> int:
    return min(MOST, MOST_NUMBERS_TRIED // predictions.n_classes)


# What the study of harm found: how often a calibrator that was fitted on few rows made predictions worse


ROWS = (100, 200, 500, 2000)
"""Rows to calibrate on."""

MOST_CLASSES = 10
"""Classes of the predictions of the study, at most."""

EXPERIMENTS = {"two classes": (54, 54, 42, 40), "3 to 10 classes": (54, 42, 42, 28)}
"""Experiments with so many rows: two draws of the rows of each of 27 sets of predictions that has enough."""

TABLES = files("calibrant") / "_data" / "harm.md"
"""Harm in percent of the experiments with 100, 200, 500 and 2000 rows and with all: without and with `SafeCalibrator`."""


def harm_of(method: object, n_classes: int, *, safe: bool) -> tuple[str, FloatArray]:
    """Return the group of experiments, and the shares (4,) of them, by rows, where a method raised the log loss."""
    must = f"n_classes must be at most {MOST_CLASSES} for calibrate=, as in the study of harm"
    hint = "Ask for guarantee= in place of calibrate=, or let calibrant.advise judge the rows at hand"
    require(n_classes <= MOST_CLASSES, must, value=n_classes, hint=hint)
    group = "two classes" if n_classes == 2 else "3 to 10 classes"
    shares = shares_of(group)
    found = shares[choice("calibrate", method, shares, hint="Pass a method of the study of harm")]
    return group, found[:, 1 if safe else 0]


def shares_of(group: str) -> dict[str, FloatArray]:
    """Return by method the shares of the experiments that it made worse, without and with `SafeCalibrator`, by rows."""
    table = TABLES.read_text("utf-8").partition(group)[2]
    lines = takewhile(lambda line: line.startswith("|"), table.splitlines()[1:])
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {
        name: np.array([[float(part) / 100.0 for part in pair.split("/")] for pair in pairs[: len(ROWS)]])
        for name, *pairs in cells
    }


# Answers that are known: rows to calibrate, by the study of harm, and rows for a guarantee, by a theorem


OF_GUARANTEE, HARM = 0.1, 0.1
"""What is assumed where nothing is said: the probability with which a guarantee may fail, and the tolerated share of harm."""

BOUNDS_SHOWN = (2.0, 1.5, 1.25, 1.0, 0.8)
"""Multiples of the wanted bound whose rows are shown beside it."""


def to_calibrate(
    rng: np.random.Generator,
    *,
    calibrate: str,
    n_classes: int | None = None,
    safe: bool | None = None,
    harm: float | None = None,
) -> RowsNeeded:
    """Return the rows from which on a method seldom did harm; nothing is drawn."""
    hint = "Pass n_classes=2 for one event"
    require(n_classes is not None, "n_classes must be given beside calibrate", got="None", hint=hint)
    classes = whole("n_classes", n_classes, least=2, hint=hint)
    is_safe = safe is not None and flag("safe", safe)
    tolerated = HARM if harm is None else number("harm", harm, above=0.0, below=1.0, hint="0.1 tolerates one in ten")
    group, share = harm_of(calibrate, classes, safe=is_safe)
    experiments, above = EXPERIMENTS[group], np.flatnonzero(share > tolerated)
    method = f"{calibrate} within SafeCalibrator" if is_safe else calibrate
    at = int(above[-1]) + 1 if above.size else 0  # from there on the share stays within what is tolerated
    if at == len(ROWS):
        must = f"harm must be a share that {method} kept to with {ROWS[-1]:,} rows, the most of the study of harm"
        worse = f"it made {100 * share[-1]:.0f} % of the {experiments[-1]} experiments worse"
        hint = f"Take {'' if is_safe else 'safe=True, '}a larger harm=, or another calibrator"
        refuse(must, got=f"{tolerated:g}, and there {worse}", hint=hint)
    needed = ROWS[at]
    sentence = (
        f"{needed:,} rows are needed to calibrate by {method}: from there on it raised the log loss of held-out rows in at "
        f"most {100 * tolerated:g} % of the experiments."
    )
    assumed = {
        "source": "the study of harm, docs/do-no-harm.md, with 100, 200, 500 and 2000 rows",
        "predictions": f"those of the study of {group}",
        "experiments": f"{experiments[at]} with {needed:,} rows, of which {100 * share[at]:.0f} % were made worse",
    }
    return RowsNeeded(needed, sentence, 0.0, assumed, "share of harm", tolerated, np.array(ROWS), share)


def to_guarantee(
    rng: np.random.Generator, *, guarantee: float, n_classes: int | None = None, level: float | None = None
) -> RowsNeeded:
    """Return the rows with which histogram binning has a bound; nothing is drawn."""
    classes = 1 if n_classes is None else n_classes
    alpha = number("level", OF_GUARANTEE if level is None else level, above=0.0, below=1.0, hint="0.1 is usual")
    classes = whole("n_classes", classes, least=1, hint="Pass the number of classes, 1 for one event")
    guarantee = number("guarantee", guarantee, least=1e-6, most=1.0, hint="Pass a bound such as 0.1")
    bins = 10 * classes
    bounds = np.array([times * guarantee for times in BOUNDS_SHOWN if times * guarantee <= 1.0])

    def points(bound: FloatArray | float) -> IntArray:
        """Rows of a bin: the smallest number for which sqrt(log(2 bins / alpha) / (2 (k - 1))) is within the bound."""
        k = 1.0 + np.ceil(np.log(2.0 * bins / alpha) / (2.0 * np.square(bound)))
        return np.asarray(k, dtype=np.intp)

    each, needed = int(points(guarantee)), int(bins * points(guarantee))
    sentence = (
        f"{needed:,} rows are needed: after top-label histogram binning no error is above {guarantee:g} with "
        f"probability {1.0 - alpha:g}."
    )
    of_classes = f", 10 for each of {classes} classes" if classes > 1 else ""
    assumed = {
        "theorem": "the conditional bound of binning_guarantee, whatever the predictions",
        "bins": f"{bins:,} of {each:,} rows{of_classes}",
    }
    return RowsNeeded(needed, sentence, 0.0, assumed, "bound", guarantee, bins * points(bounds), bounds)


OF_PREDICTIONS = ("y_prob", "sample_weight", "n_classes", "accuracy", "event_rate", "auc", "input", "rows")
MEASURED = ("metric", "notion", "binning", "level")

ANSWERS: dict[str, tuple[Callable[..., RowsNeeded], tuple[str, ...]]] = {
    "detect": (to_detect, (*OF_PREDICTIONS, *MEASURED, "power", "wrong")),
    "width": (to_estimate, (*OF_PREDICTIONS, *MEASURED)),
    "calibrate": (to_calibrate, ("n_classes", "safe", "harm")),
    "guarantee": (to_guarantee, ("n_classes", "level")),
}
"""The questions, and what else each of them takes."""


def rows_for(
    *,
    detect: float | None = None,
    width: float | None = None,
    calibrate: str | None = None,
    guarantee: float | None = None,
    y_prob: npt.ArrayLike | None = None,
    sample_weight: npt.ArrayLike | None = None,
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
        conditional bound of `binning_guarantee` with ten bins a class.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes), optional
        Predictions of a pilot, without labels. Rows are drawn from them with replacement.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the rows of ``y_prob``: a whole weight is a number of equal rows.
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
    binning_guarantee : What numbers of rows and bins promise.
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
    asked, hint = [name for name in ANSWERS if name in given], "Pass detect=0.02, say, to find an error of 0.02"
    must = f"exactly one of {', '.join(ANSWERS)} must be given: it is the question"
    require(len(asked) == 1, must, got=" and ".join(asked) or "none", hint=hint)
    (question,) = asked
    answer, takes = ANSWERS[question]
    strange = [name for name in given if name not in (question, *takes)]
    must = f"beside {question} there must be none but {', '.join(takes)}"
    require(not strange, must, got=", ".join(strange), hint="Leave it out" if len(strange) == 1 else "Leave them out")
    return answer(as_rng(rng), **given)


# The plot of a figure against the number of rows that it is had from


def plot_rows_needed(plan: RowsNeeded, *, ax: Any = None) -> Any:
    """Draw power, width, bound or share of harm against the number of rows, with the rows that are needed.

    Parameters
    ----------
    plan : RowsNeeded
        The answer of `rows_for`.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes
        What was drawn on.

    Examples
    --------
    >>> from calibrant import rows_for
    >>> ax = rows_for(guarantee=0.1, n_classes=10).plot()
    """
    ax = drawing.new_axes(ax, (4.8, 3.6))
    look = {"color": drawing.IDEAL, "linewidth": 1, "zorder": 1.5}
    ax.axhline(plan.target, linestyle="--", label=f"asked for: {plan.target:g}", **look)
    ax.axvline(plan.rows, linestyle=":", label=f"needed: {plan.rows:,} rows", **look)
    ax.plot(plan.tried, plan.value, "o", color=drawing.colour(0), markersize=4, label="tried", zorder=3)
    ax.set(xscale="log", xlabel="rows", ylabel=plan.figure)
    ax.set_ylim(bottom=0.0)
    drawing.grid(ax)
    drawing.legend_above(ax)
    return ax
