"""How many rows a question takes, before data are collected or from a pilot: one function for three questions."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from math import ceil, exp, inf, log, sqrt
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, ndtr, ndtri

from calibrant._core.arrays import ArrayLike, FloatArray, NDArray, as_array, prob_of_logit
from calibrant._core.border import Input, as_forecast, as_weights
from calibrant._core.checks import CalibrationWarning, as_numbers, choice, number, refuse, require, whole
from calibrant._core.result import Result, Table
from calibrant._core.rows import Forecast, IntArray, Rows, SimplexProblem, Weights, precision_of, two_columns
from calibrant.binning import Binning, as_binning
from calibrant.datasets import make_softmax_forecast
from calibrant.metrics.estimate import NO_INTERVAL, Resampling, consistent_deviations, pvalue_of
from calibrant.metrics.kinds import Function, MeanOfRows, Metric, as_metric, estimates, within
from calibrant.metrics.noise import Residuals, Setting
from calibrant.notions import Notion
from calibrant.sums.draws import Bootstrap, ConsistentLabels, Rng, as_rng

__all__ = ["RowsNeeded", "rows_for"]

# The answer to "how many rows do I need?"


@dataclass(frozen=True, eq=False)
class RowsNeeded(Result):
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
        What was looked at for each number of rows: "power", "width" or "bound".
    target : float
        The value of that figure that was asked for.
    tried : ndarray of shape (L,)
        Numbers of rows that were tried, rising.
    value : ndarray of shape (L,)
        The figure with so many rows; of a simulation with its noise.
    """

    _table = Table("number of rows that was tried", "rows=tried", "value", "figure")
    _summary = "{rows}, {figure}={target:g}"

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

MOST_COUNTED = 2.0**53
"""Sum of counts up to which rows are drawn by their number."""

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
        if self.weights.are_counts and self.weights.total < MOST_COUNTED:
            ends = np.cumsum(self.weights.values)
            rows = np.searchsorted(ends, rng.integers(0, int(ends[-1]), n), side="right")
        else:
            rows = rng.choice(len(truth), n, p=self.weights.values / self.weights.total)
        (label,) = ConsistentLabels(truth[rows], 1, rng)
        return _problem(self.forecast.at(rows), label, Weights.one_each(n)), truth[rows]


def _problem(forecast: Forecast, label: NDArray[np.intp], weights: Weights) -> SimplexProblem:
    return SimplexProblem(forecast, label, weights, np.arange(forecast.shape[1]))


def of_pilot(
    y_prob: ArrayLike,
    input: Input = "probability",
    rows: Rows = "as-given",
    sample_weight: ArrayLike | None = None,
) -> Predictions:
    """Return the predictions of a pilot; a whole weight is a number of equal rows."""
    values = as_numbers("y_prob", y_prob)
    weights = as_weights(sample_weight, len(values))
    if not weights.values.all():
        held = np.flatnonzero(weights.values)
        values, weights = values[held], weights.take(held)
    forecast = as_forecast(values, input=input, rows=rows)
    forecast.precision = precision_of(as_array("y_prob", y_prob), input, rows)
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
            bootstrap = Bootstrap(Weights.one_each(problem.size), 1, resampling.rng)
            setting = Setting(problem, problem, resampling, bootstrap, notion=notion)
            found = within(metric.range, metric.estimate(setting))
        got, hint = f"{metric.name!r}: {NO_INTERVAL}", "Take 'ece' or another calibration error"
        require(found.upper is not None, "metric must have an interval", got=got, hint=hint)
        widths.append(np.subtract(*found.interval[::-1]))
    return float(np.median(np.where(np.isnan(widths), np.inf, widths)))


def deviation(metric: Metric, problem: SimplexProblem) -> float:
    """Return the standard deviation of what a row adds to a mean if the predictions are right; 0 of what is no mean."""
    if not isinstance(metric, MeanOfRows):
        return 0.0
    weight, losses = problem.weights.values / problem.weights.total, metric.by_class(problem)
    mean, square = (float(weight @ (problem.prob * losses**power).sum(axis=1)) for power in (1, 2))
    return sqrt(max(square - mean**2, 0.0))


POWER = 0.8
"""Power where nothing is said."""


@dataclass(frozen=True, eq=False)
class Asked:
    """What is measured in the rows, and the predictions that the plan is for."""

    metric: Metric
    level: float
    predictions: Predictions
    binning: Binning
    notion: str | Notion | None
    rng: np.random.Generator

    def to_detect(self, detect: object, wrong: object, power: object) -> RowsNeeded:
        """Return the rows with which a test finds a true error."""
        chosen, level, rng = self.metric, self.level, self.rng
        error = number("detect", detect, above=0.0, below=chosen.range[1], hint="Pass a true error such as 0.02")
        hint = "0.8 is usual: the test finds the error four times in five"
        wanted = number("power", POWER if power is None else power, least=0.1, most=0.99, hint=hint)
        require(wanted > level, "power must be above the level", value=wanted, hint="0.8 is usual")
        way = choice("wrong", "over-confident" if wrong is None else wrong, STRAYS)
        detection = Detection(chosen, self.predictions, way, level, self.binning, self.notion)
        truth = detection.truth(error)

        def figure(n: int, rough: bool) -> float:
            return float(ndtri(detection.power(n, truth, rng, rough=rough)))

        try:
            found = rows_where(figure, float(ndtri(wanted)), most=self._most)
        except OutOfReachError as short:
            must = f"detect must be an error that at most {short.rows:,} rows detect with power {wanted:g}"
            got = f"{error:g}, which they detect with power {ndtr(short.figure):.2g}"
            refuse(must, got=got, hint="Pass a larger error")
        test = f"for a test at level {level:g} to detect a true {chosen.symbol} of {error:g}{chosen.unit}"
        assumed = {"true error": f"{way} predictions", "test": f"p-value of {chosen.name}"}
        return self._answer(found, f"{test} with power {wanted:g}", assumed, "power", wanted, ndtr(found.figure))

    def to_estimate(self, width: object) -> RowsNeeded:
        """Return the rows with which an interval is as narrow as wanted."""
        chosen, level, predictions, rng = self.metric, self.level, self.predictions, self.rng
        hint = "Pass the upper end of the interval less its lower end, such as 0.1"
        wanted = number("width", width, above=0.0, hint=hint)
        truth, resampling = predictions.forecast.prob, Resampling(level, INTERVAL_DRAWS, rng)
        of_one = 2.0 * float(ndtri(1.0 - level / 2.0)) * deviation(chosen, predictions.whole())

        def figure(n: int, rough: bool) -> float:
            drawn = (predictions.drawn(n, truth, rng)[0] for _ in range(ROUGHLY_WIDE if rough else DATA_SETS))
            with warnings.catch_warnings(action="ignore", category=CalibrationWarning):
                # An undefined slope is an infinite width here.
                found = median_width(chosen, drawn, self.binning, resampling, self.notion)
            # Most data sets may have no event, and an interval of next to no width.
            found = max(found, of_one / sqrt(n))
            return inf if found == 0.0 else -log(found)

        try:
            found = rows_where(figure, -float(np.log(wanted)), most=self._most)
        except OutOfReachError as short:
            theirs, hint = f"theirs is {np.exp(-short.figure):.3g}", "Pass a larger width"
            if np.isinf(short.figure):
                theirs, hint = "most samples of them have no interval", "Pass predictions that differ from row to row"
            refuse(f"width must be within reach of {short.rows:,} rows", got=f"{wanted:g}, and {theirs}", hint=hint)
        interval = f"for a {100 * (1 - level):g} % interval of the {chosen.symbol} that is {wanted:g}{chosen.unit} wide"
        assumed = {"truth": "the predictions are calibrated", "width": "median of samples"}
        return self._answer(found, interval, assumed, "width", wanted, np.exp(-found.figure))

    @property
    def _most(self) -> int:
        return min(MOST, MOST_NUMBERS_TRIED // self.predictions.n_classes)

    def _answer(
        self, found: Found, what: str, assumed: Mapping[str, Any], figure: str, target: float, value: FloatArray
    ) -> RowsNeeded:
        sentence = f"{LEAST} rows or fewer are needed {what}; fewer are not planned for."
        if found.rows > LEAST:
            error = f"standard error of the simulation {found.standard_error:,.0f}"
            sentence = f"{found.rows:,} rows are needed {what} ({error})."
        assumed = {"predictions": self.predictions.said, **assumed}
        return RowsNeeded(found.rows, sentence, found.standard_error, assumed, figure, target, found.tried, value)


def _predictions(rng: np.random.Generator, input: Input, rows: Rows, **of: Any) -> Predictions:
    """Return the predictions that the plan is for, given in one of three ways."""
    beside = {"accuracy": "n_classes", "auc": "event_rate", "sample_weight": "y_prob"}
    given = {name: value for name, value in of.items() if value is not None}
    said = [name for name in ("y_prob", "n_classes", "event_rate") if name in given]
    must = "exactly one of y_prob, n_classes and event_rate must say what the predictions are like"
    hint = "Pass y_prob=pilot, the predictions of a pilot; or n_classes=10, or event_rate=0.1"
    require(len(said) == 1, must, got=" and ".join(said) or "none", hint=hint)
    for name in beside.keys() & given:
        must, got = f"{name} must stand beside {beside[name]}", f"{name}={given[name]!r} beside {said[0]}"
        require(beside[name] in said, must, got=got, hint="Leave it out")
    if "y_prob" in given:
        return of_pilot(given["y_prob"], input, rows, given.get("sample_weight"))
    if "event_rate" in given:
        return of_event(given["event_rate"], given.get("auc"))
    return of_classes(given["n_classes"], given.get("accuracy"), rng)


BOUNDS_SHOWN = (2.0, 1.5, 1.25, 1.0, 0.8)
"""Multiples of the wanted bound whose rows are shown beside it."""


def to_guarantee(guarantee: object, n_classes: object, level: float) -> RowsNeeded:
    """Return the rows with which histogram binning has a bound; nothing is drawn."""
    classes = whole("n_classes", 1 if n_classes is None else n_classes, least=1, hint="Pass 1 for one event")
    wanted = number("guarantee", guarantee, least=1e-6, most=1.0, hint="Pass a bound such as 0.1")
    bins, bounds = 10 * classes, np.array([times * wanted for times in BOUNDS_SHOWN if times * wanted <= 1.0])
    # Rows of a bin: the smallest number k for which sqrt(log(2 bins / level) / (2 (k - 1))) is within the bound.
    each = 1 + np.ceil(np.log(2.0 * bins / level) / (2.0 * np.square(bounds))).astype(np.intp)
    at = int(np.flatnonzero(bounds == wanted)[0])
    sentence = (
        f"{bins * each[at]:,} rows are needed: after top-label histogram binning no error is above {wanted:g} with "
        f"probability {1.0 - level:g}."
    )
    of_classes = f", 10 for each of {classes} classes" if classes > 1 else ""
    assumed = {
        "theorem": "the conditional bound of binning_guarantee, whatever the predictions",
        "bins": f"{bins:,} of {each[at]:,} rows{of_classes}",
    }
    return RowsNeeded(int(bins * each[at]), sentence, 0.0, assumed, "bound", wanted, bins * each, bounds)


def rows_for(
    *,
    detect: float | None = None,
    width: float | None = None,
    guarantee: float | None = None,
    y_prob: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    n_classes: int | None = None,
    accuracy: float | None = None,
    event_rate: float | None = None,
    auc: float | None = None,
    metric: str | Function = "ece",
    notion: str | Notion | None = None,
    binning: int | Binning = 15,
    wrong: str | None = None,
    power: float | None = None,
    level: float = 0.05,
    input: Input = "probability",
    rows: Rows = "as-given",
    rng: Rng = 0,
) -> RowsNeeded:
    """Return how many rows are needed: to detect an error, for an interval of a width, or for a guarantee.

    Exactly one of the first three parameters is given: it is the question.

    Parameters
    ----------
    detect : float, optional
        True calibration error that a test is to find, in the units of ``metric``.
    width : float, optional
        Width of the interval of ``metric`` that is wanted: its upper end less its lower end.
    guarantee : float, optional
        Largest error of all predictions after top-label histogram binning, in (0, 1], that a theorem is to bound: the
        conditional bound of `binning_guarantee` with ten bins a class. It takes ``n_classes`` and ``level`` alone.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes), optional
        Predictions of a pilot, without labels. Rows are drawn from them with replacement.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the rows of ``y_prob``: a whole weight is a number of equal rows.
    n_classes : int, optional
        Number of classes. In place of a pilot: predictions whose logits are independent and normal, as those of
        `make_softmax_forecast`.
    accuracy : float, optional
        Beside ``n_classes``: mean probability of the predicted class, by default 0.8.
    event_rate : float, optional
        In place of a pilot: predictions of one event with normal log-odds and this mean, in [0.001, 0.999].
    auc : float, optional
        Beside ``event_rate``: area under the ROC curve, in [0.55, 0.99], by default 0.8.
    metric : str or callable, default="ece"
        For ``detect`` a calibration error, for ``width`` any metric with an interval, by name or as the function.
    notion : str or Notion, optional
        By default ``"binary"`` for two classes and ``"confidence"`` for more.
    binning : int or Binning, default=15
        How scores are cut; a number n means ``EqualWidth(n)``.
    wrong : {"over-confident", "under-confident", "too high", "too low"}, optional
        How the predictions are wrong, for ``detect``. The true log-probabilities are those predicted, divided by one number
        ("over-confident", the default, above 1; "under-confident", below 1); or the true log-odds of two classes are lower or
        higher by one number ("too high", "too low"). The number is such that the true error is as asked.
    power : float, optional
        Probability with which the test finds the error, in (0, 1), for ``detect``; by default 0.8.
    level : float, default=0.05
        Level of the test, one minus the coverage of the interval, or probability with which the bound may fail, in
        [0.001, 0.5].
    input : {"probability", "logit"}, default="probability"
        What ``y_prob`` holds.
    rows : {"as-given", "normalize", "percent"}, default="as-given"
        What is done with the rows of ``y_prob``; see `DataOptions`.
    rng : numpy.random.Generator, int or None, default=0
        Source of randomness. The default makes two calls agree; None draws anew.

    Returns
    -------
    RowsNeeded
        ``rows``, their ``standard_error`` by the simulation, a ``sentence``, what was ``assumed``, and the figure with each
        number of rows that was tried, as ``to_frame()``.

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

    Examples
    --------
    >>> from calibrant import rows_for
    >>> rows_for(width=0.2, metric="calibration-slope", event_rate=0.1).rows > 2000
    True
    """
    questions = {"detect": detect, "width": width, "guarantee": guarantee}
    asked = [name for name, value in questions.items() if value is not None]
    must = "exactly one of detect, width and guarantee must be given: it is the question"
    require(len(asked) == 1, must, got=" and ".join(asked) or "none", hint="Pass detect=0.02, say")
    alpha = number("level", level, least=0.001, most=0.5, hint="0.05 is usual")
    of = {"y_prob": y_prob, "sample_weight": sample_weight, "accuracy": accuracy, "event_rate": event_rate, "auc": auc}
    beside: dict[str, Any] = {} if detect is not None else {"wrong": wrong, "power": power}
    if guarantee is not None:
        usual = {"metric": "ece", "binning": 15, "input": "probability", "rows": "as-given"}
        said = {"metric": metric, "binning": binning, "input": input, "rows": rows}
        beside |= {**of, "notion": notion, **{name: one for name, one in said.items() if one != usual[name]}}
    for name, value in beside.items():
        got = repr(value) if np.isscalar(value) else type(value).__name__
        require(value is None, f"{name} must be left out beside {asked[0]}", got=got, hint="Leave it out")
    if guarantee is not None:
        return to_guarantee(guarantee, n_classes, alpha)
    chosen, rng = as_metric(metric, None), as_rng(rng)
    predictions = _predictions(rng, input, rows, n_classes=n_classes, **of)
    plan = Asked(chosen, alpha, predictions, as_binning(binning), notion, rng)
    return plan.to_estimate(width) if detect is None else plan.to_detect(detect, wrong, power)
