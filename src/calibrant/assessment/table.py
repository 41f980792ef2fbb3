"""One table of how good and how calibrated a forecast is, with the uncertainty of each figure, and one verdict.

The verdict says what is wrong, by how much, how sure that is, and which rows rule it. Four questions are asked, each by
tests of its own: is the mean prediction too high or too low, is the calibration slope other than 1, is a class too high or
too low, and is there an error that none of these shows? Of a calibrated forecast all of them together find something with a
probability of at most the level: a p-value counts as often as there are questions, and tests.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple, Unpack

import numpy as np
from scipy.special import bdtrc, chdtrc, expit, gammainc, gammaincc, logit, ndtr, ndtri

from calibrant._core.arrays import CLIP, ArrayLike, FloatArray
from calibrant._core.border import DataOptions, as_problem, refuse_rows
from calibrant._core.checks import list_of_names, meant, resamples, tracked
from calibrant._core.result import DrawnResult, Picture, Result, Table, in_columns, shown_pvalue, shown_rows, under
from calibrant._core.rows import Approximate, Weights, as_simplex
from calibrant._core.threads import one_blas_thread
from calibrant.binning.bins import Binning, Bins, FineGrid, as_binning, residual_of_sums
from calibrant.curves.reliability import OPTIONS, ReliabilityCurve, ReliabilityPanel, curve_of_sums, require_level
from calibrant.fit.log_loss import Recalibration
from calibrant.metrics.estimate import ABOVE_INTERVAL, MOSTLY_NOISE, NO_INTERVAL, Estimate, Resampling, most_of_none
from calibrant.metrics.kinds import Impossible, LogLoss, Metric, estimates, metric_named, plan_of
from calibrant.notions import Notion, as_notion
from calibrant.sums.draws import Rng, as_rng
from calibrant.sums.reading import Predictions, is_unread, scan, scans
from calibrant.sums.sums import BinTable, Plan, distinct

BINARY_METRICS = ("accuracy", "nll", "brier", "ece", "mce")
MULTICLASS_METRICS = ("accuracy", "nll", "brier", "ece", "mce", "classwise-ece", "top-label-ece")


WHOLE = 10_000
"""From here on a figure is printed without decimals."""

ERRORS = ("ece", "classwise-ece", "top-label-ece")
"""Calibration errors that speak in the verdict, where they are asked for."""

FIGURES = ("value", "lower", "upper", "debiased", "noise_floor", "detectable", "pvalue")
"""What is stated of a metric, in the order of the table."""


@dataclass(frozen=True)
class Row:
    """One line of an assessment: a metric, by the word that was asked for, and its figures.

    ``also`` are the other words for it, ``unit`` is what it is counted in, "%" or nothing. ``note`` says how many events
    occurred that a log loss calls impossible, why there is no interval, or that noise raises the value. ``event`` is what it
    speaks of, such as "class 1"; the name of its notion where that has several events; None of a metric of whole rows, such
    as accuracy.
    """

    metric: str
    symbol: str
    summary: str
    estimate: Estimate
    also: tuple[str, ...] = ()
    unit: str = ""
    note: str = ""
    event: str | None = None

    @property
    def title(self) -> str:
        """The symbol, with the unit if there is one."""
        return f"{self.symbol} ({self.unit})" if self.unit else self.symbol

    def is_called(self, metric: str) -> bool:
        """Whether it is the metric of that name, however it is spelled."""
        return meant(metric, (self.metric, *self.also)) is not None


@dataclass(frozen=True, eq=False)
class Assessment(DrawnResult):
    """The result of `assess`.

    Attributes
    ----------
    rows : tuple of Row
        One a metric: value and interval, and for calibration errors the bias-corrected error, the noise floor, the smallest
        detectable error, and the p-value.
    curve : ReliabilityCurve
        Reliability under the notion that was asked for: by default of the event of two classes, and of the confidence of
        more.
    class_curve : ReliabilityCurve
        Reliability class by class.
    n_rows, n_classes : int
        Size of the table.
    class_weight : dict
        Weight of each true class; a class that never occurs has 0.
    level : float
        One minus the coverage of the intervals, a fraction.
    n_resamples : int
        Resamples behind intervals and p-values.
    verdict : Verdict
        What is wrong with the forecast, if anything was detected, in words and figures.
    left_out : int
        Batches that were wrong and are left out, of predictions that are read in batches.
    """

    _table = Table("metric", "rows.metric", *under("rows.estimate", *FIGURES), "rows.event")
    _picture = Picture("the reliability diagram", "curves.reliability.plot_reliability", takes=OPTIONS, of="curve")

    rows: tuple[Row, ...]
    curve: ReliabilityCurve
    class_curve: ReliabilityCurve
    n_rows: int
    n_classes: int
    class_weight: dict[str, float]
    level: float
    n_resamples: int
    verdict: Verdict
    left_out: int = 0

    @property
    def event(self) -> str | None:
        """The event that the figures speak of, such as "class 1"; None where they speak of predicted or of several classes."""
        panels = self.curve.panels
        return None if len(panels) > 1 or self.curve.of_predictions else panels[0].name

    @property
    def heading(self) -> str:
        """Number of rows and classes, and the event or the notion, in words."""
        spoken = f"notion: {self.curve.notion}" if self.event is None else f"event: {self.event}"
        batches = "1 batch" if self.left_out == 1 else f"{self.left_out} batches"
        missing = f", {batches} left out" if self.left_out else ""
        return f"{shown_rows(self.n_rows)}, {self.n_classes} classes, {spoken}{missing}"

    def __getitem__(self, metric: str) -> Estimate:
        """Return the estimate of a metric by a name that the registry knows, ``assessment["ece"]``."""
        for row in self.rows:
            if row.is_called(metric):
                return row.estimate
        raise KeyError(f"{metric!r} was not assessed; there are {', '.join(row.metric for row in self.rows)}")

    def __str__(self) -> str:
        """Return the table as text."""
        lines = in_columns([heads(self.level), *map(figures_of, self.rows)], len(heads(self.level)))
        noted = [f"{line}  {note}".rstrip() for line, note in zip(lines, ["", *self._notes], strict=True)]
        return "\n".join([self.heading, *noted, *self.verdict.sentences])

    @property
    def _notes(self) -> list[str]:
        """What is said beside each line of the table, its head first."""
        return ["", *(row.note for row in self.rows)]

    def __repr__(self) -> str:
        figures = ", ".join(f"{row.metric}={row.estimate.value:.4g}" for row in self.rows)
        spoken = f"notion={self.curve.notion!r}" if self.event is None else f"event={self.event!r}"
        return f"Assessment(rows={self.n_rows}, classes={self.n_classes}, {spoken}, {figures})"

    def _repr_html_(self) -> str:
        from html import escape

        head = heads(self.level)
        lines = [f"<tr>{''.join(f'<th>{escape(c)}</th>' for c in head)}</tr>"]
        lines += [f"<tr>{''.join(f'<td>{escape(c)}</td>' for c in figures_of(row))}</tr>" for row in self.rows]
        lines = [
            f"{line}<tr><td></td><td colspan={len(head) - 1}>{escape(note)}</td></tr>" if note else line
            for line, note in zip(lines, self._notes, strict=True)
        ]
        return f"<table><caption>{escape(self.heading)}</caption>{''.join(lines)}</table><p>{escape(str(self.verdict))}</p>"


def assess(
    y_true: ArrayLike | Predictions,
    y_prob: ArrayLike | None = None,
    *,
    metrics: Sequence[str] | None = None,
    notion: str | Notion | None = None,
    binning: int | Binning = 15,
    level: float = 0.05,
    n_resamples: int = 500,
    clip: float = CLIP,
    rng: Rng = 0,
    progress: bool = False,
    **data: Unpack[DataOptions],
) -> Assessment:
    """Measure a forecast: scores and calibration errors, with intervals, noise floor and p-values.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Predictions
        Class labels: integers, strings or booleans; or `predictions` that are read in batches, without ``y_prob``.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one. Logits are declared with ``input="logit"``, never guessed.
    metrics : sequence of str, optional
        Names that ``calibrant list metrics`` prints, names of functions, or symbols, in any case: ``"ece"``, ``"ECE"`` and
        ``"expected_calibration_error"`` are one metric; a metric named twice stands once. By default accuracy, NLL,
        Brier score, ECE and MCE, and of more than two classes also the class-wise and the top-label calibration error.
    notion : str or Notion, optional
        Notion of calibration of the diagram, and of every metric that has no notion in its name, as in `calibration_error`.
        By default ``"binary"`` for two classes, in one column or in two, and ``"confidence"`` for more.
    binning : int or Binning, default=15
        How scores are cut, for the diagram and for the calibration errors that have no bins of their own; a number n means
        ``EqualWidth(n)``. ``ace``, ``debiased-ece``, ``tace`` and ``tce`` keep theirs, whatever stands here:
        `estimate_calibration_error` takes any.
    level : float, default=0.05
        One minus the coverage of the intervals, a fraction in (0, 1). It is not the level of the tests in ``tce``.
    n_resamples : int, default=500
        Resamples for intervals and p-values; the smallest possible p-value is 1 / (n_resamples + 1).
    clip : float, default=2.220446049250313e-16
        Least probability that counts in the log loss, as in `log_loss`. With 0 the loss of a forecast that
        gave a true class probability 0 is infinite; its interval ends at infinity.
    rng : numpy.random.Generator, int or None, default=0
        Source of randomness. The default makes two calls on the same data agree; None draws anew.
    progress : bool, default=False
        Show a progress bar (needs tqdm).
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    Assessment
        A result with ``rows``, ``to_frame()`` and ``plot()``; printed, it is a table.

    Warns
    -----
    CalibrationWarning
        If the log loss is among the metrics, and events of probability 0 occurred. It counts them; so does the ``note`` of
        that row of the result.

    Notes
    -----
    Scores that are means over rows have intervals by their variance and skewness. The estimate of a calibration error is
    biased upwards. So it is compared with its distributions under other true errors (docs/intervals.md, with measured
    coverage). ``noise_floor`` is its expected value under calibration: its mean when labels are drawn from the forecast
    itself. ``pvalue`` is the share of such draws that reach it. ``debiased`` is the bias-corrected error: the true error of
    which the estimate would be the median. ``lower`` and ``upper`` are the true errors of which it would be a high and a low
    quantile. ``detectable`` is the smallest detectable error: the true error that a test on these rows at this level detects
    with power 0.8. The interval is for the true error: a ``value`` that noise raises can lie above it. ``lower`` is above 0
    where ``pvalue`` is at most the level, and nowhere else; of ``mcb`` and ``skce``, with wider intervals of their own, it can
    be 0 there too.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant import assess
    >>> rng = np.random.default_rng(0)
    >>> p = rng.random(2000)
    >>> print(assess(rng.random(2000) < p, p, n_resamples=99)["ece"].pvalue > 0.05)
    True
    """
    require_level(level)
    resamples(n_resamples, hint="500 is usual")
    problem = as_problem(y_true, y_prob, **data)
    chosen = chosen_metrics(metrics, problem.classes.size, LogLoss(clip).clip)
    metrics_of, cut = [metric for _, metric in chosen.values()], as_binning(binning)
    simplex = as_simplex(problem)
    predicted = problem.predicted
    shown = [(as_notion(word, problem), cut) for word in (notion, "class-wise" if predicted is None else "top-label")]
    plan, known = plan_of(metrics_of, problem, cut, notion)
    asked = plan.cells
    rest = [pair for pair in shown if pair not in asked]
    own = shown[0][0].one_score_a_row and shown[0][0].n_parts(problem) == 1
    fine = (shown[0][0] if own else as_notion("confidence", problem), CELLS)
    sums, of_curves = scans(problem, plan, Plan.of_cells([*rest, fine]))
    impossible = {name: metric.impossible(simplex, sums) for name, (_, metric) in chosen.items()}
    for events in impossible.values():
        if events is not None:
            events.warn()
    resampling = Resampling(level, int(n_resamples), as_rng(rng))
    bar = partial(tracked, show=progress, desc="resampling", unit="draw")
    with one_blas_thread():
        found = estimates(metrics_of, problem, cut, resampling, bar, notion, sums, known)
    table, by_class = [(sums if pair in asked else of_curves).of(*pair) for pair in shown]
    curve, class_curve = (
        curve_of_sums(one, *how, level, problem) for one, how in zip((table, by_class), shown, strict=True)
    )
    rows = [_row(word, metric, found[name], impossible[name], curve) for name, (word, metric) in chosen.items()]
    if is_unread(problem) or (predicted is None and simplex.weights.is_unit):  # the curve of the classes has the events
        class_weight = np.bincount(by_class.part, by_class.bins.outcome_sum)
    else:
        class_weight = np.bincount(simplex.label, simplex.weight, simplex.classes.size)
    of_classes = by_class if fine[0].of_predictions else None
    errors = {row.symbol: row.estimate for row in rows if row.metric in ERRORS}
    return Assessment(
        rows=tuple(rows),
        curve=curve,
        class_curve=class_curve,
        n_rows=simplex.weights.n_rows,
        n_classes=simplex.classes.size if predicted is None else predicted.classes.size,
        class_weight={str(c): float(w) for c, w in zip(simplex.classes.tolist(), class_weight, strict=True)},
        level=level,
        n_resamples=n_resamples,
        verdict=verdict_of(of_curves.of(*fine), of_classes, curve, errors, problem.weights, level),
        left_out=y_true.left_out[0] if isinstance(y_true, Predictions) else 0,
    )


def chosen_metrics(metrics: Sequence[str] | None, n_classes: int, clip: float) -> dict[str, tuple[str, Metric]]:
    """Return the metrics by their names, with the first word by which each was asked for; the log loss with its clip."""
    list_of_names("metrics", () if metrics is None else metrics)
    by_name: dict[str, tuple[str, Metric]] = {}
    for word in [*(() if metrics is None else metrics)] or default_metrics(n_classes):
        metric = metric_named(word)
        by_name.setdefault(metric.name, (metric.word_for(word), metric.clipped(clip)))
    return by_name


def _row(word: str, metric: Metric, estimate: Estimate, events: Impossible | None, curve: ReliabilityCurve) -> Row:
    also = tuple([other for other in (*metric.words, *metric.names) if other != word])
    note = "" if events is None else events.note
    if estimate.upper is None:
        note = NO_INTERVAL if estimate.noise_floor is not None else ""
    elif estimate.is_mostly_noise:
        note = MOSTLY_NOISE
    elif estimate.value > estimate.upper:
        note = ABOVE_INTERVAL
    elif isinstance(estimate.value, Approximate) and not note:
        note = estimate.value.note
    event = None if metric.notion is None else str(metric.notion)
    if metric.takes_notion:
        event = curve.panels[0].name if len(curve.panels) == 1 else curve.notion
    return Row(word, metric.symbol, metric.summary, estimate, also, metric.unit, note, event)


def default_metrics(n_classes: int) -> tuple[str, ...]:
    """Return the metrics of a forecast of so many classes; of two there is one event, in one column or in two."""
    return BINARY_METRICS if n_classes == 2 else MULTICLASS_METRICS


def heads(level: float) -> tuple[str, ...]:
    """Return what stands above the cells of a table."""
    return ("metric", "value", f"{1 - level:.0%} interval", "debiased", "noise floor", "detectable", "p-value")


def figures_of(row: Row) -> tuple[str, ...]:
    """Return the cells of a metric."""
    e = row.estimate
    return (
        f"{row.symbol} ({row.metric})" if row.symbol.lower() != row.metric else row.symbol,
        _digits(e.value, row.unit),
        "none"
        if e.lower is None or e.upper is None
        else f"[{_digits(e.lower, row.unit)}, {_digits(e.upper, row.unit)}]",
        *("" if figure is None else _digits(figure, row.unit) for figure in (e.debiased, e.noise_floor, e.detectable)),
        "" if e.pvalue is None else shown_pvalue(e.pvalue, e.least_pvalue, ".4f"),
    )


def _digits(figure: float, unit: str = "") -> str:
    """Four significant digits and the unit; nothing, and a large number, whole."""
    if not math.isfinite(figure):
        return str(figure)
    is_whole = figure == 0.0 or abs(figure) >= WHOLE
    return (f"{figure:,.0f}" if is_whole else f"{figure:#.4g}") + unit


# The values of several metrics, in a single pass over the data


def measure(
    y_true: ArrayLike | Predictions,
    y_prob: ArrayLike | None = None,
    *,
    metrics: Sequence[str] | None = None,
    notion: str | Notion | None = None,
    binning: int | Binning = 15,
    **data: Unpack[DataOptions],
) -> dict[str, float]:
    """Compute several metrics of a forecast, without intervals, in a single pass over the data.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Predictions
        Class labels: integers, strings or booleans; or `predictions` that are read in batches, without ``y_prob``.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one. Logits are declared with ``input="logit"``, never guessed.
    metrics : sequence of str, optional
        Names that ``calibrant list metrics`` prints, names of functions, or symbols, as in `assess`, with the same default.
    notion : str or Notion, optional
        Notion of every metric that has none in its name, as in `assess`.
    binning : int or Binning, default=15
        How scores are cut, for the calibration errors that have no bins of their own; a number n means ``EqualWidth(n)``.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    dict of str to float
        The value of each metric, by the word that `assess` has for it.

    Warns
    -----
    CalibrationWarning
        If the log loss is among the metrics, and events of probability 0 occurred; or if a metric is not defined for the data.

    See Also
    --------
    assess : The same values with intervals, noise floors and p-values: without them nobody knows what is noise.

    Notes
    -----
    Labels and probabilities are checked once, and the rows are read once more for all metrics that are sums over them:
    accuracy, log loss, Brier scores and calibration errors over bins. A metric that needs the rows themselves, such as an
    area under a curve, reads them on its own.

    Examples
    --------
    >>> from calibrant import measure
    >>> measure([0, 1, 1, 0], [0.25, 0.75, 0.5, 0.0], metrics=["accuracy", "brier", "ece"])
    {'accuracy': 0.75, 'brier': 0.09375, 'ece': 0.25}
    """
    cut = as_binning(binning)
    problem = as_problem(y_true, y_prob, **data)
    chosen = chosen_metrics(metrics, problem.classes.size, CLIP)
    plans = [metric.plan(problem, cut, notion) for _, metric in chosen.values()]
    cells = distinct(pair for plan in plans for pair in plan.cells)
    for (word, _), plan in zip(chosen.values(), plans, strict=True):
        if is_unread(problem) and not (plan.cells or plan.scores):
            refuse_rows(repr(word))
    sums = scan(problem, Plan(tuple(cells), tuple(one for plan in plans for one in plan.scores), powers=1))
    return {word: metric.of_sums(sums, problem, cut, notion) for word, metric in chosen.values()}


# The verdict: four questions, each with tests of its own


CELLS = FineGrid(64)
"""Cells in place of scores: they are 2 % wide, and those of certain scores, up to 2^-40, stand apart."""

CERTAIN = 2
"""Cells at either end that hold the certain scores."""

TOLERATED = 0.01
"""Share of certain rows that may be wrong: labels have errors."""

LEAST = 5.0
"""Events, rows without it, and misses seen or expected, from which on the slope is tested: its law is one of many rows."""

SYMMETRIC = 1e-3
"""Skewness up to which a sum is normal."""

MOST_NAMED = 3
"""Classes that a sentence names."""

SLOPES = ("too extreme", "too timid")

REVERSED = "wrong way round"
"""The fault of a negative slope."""

UNEQUAL = 0.5
"""Share of the rows that weights must be worth, or the verdict says how many they are worth."""


@dataclass(frozen=True, eq=False)
class Verdict(Result):
    """What is wrong with a forecast, and how sure that is. Printed, it is a sentence or a few.

    Attributes
    ----------
    faults : tuple of str
        Empty where no miscalibration was detected. Of an event "too high" or "too low" on average, "too extreme" or "too timid"
        (calibration slope below or above 1). Of predicted classes, and of a notion of several events, "over-confident" or
        "under-confident" on average, and the slope only if neither. "wrong way round", before all others, if the slope is
        below 0. "by class" if a class is too high or too low, and "other" if a calibration error is significant and nothing of
        this is, or if more than 1 % of the certain rows are shown to be wrong.
    predicted, observed : float
        Mean predicted probability and event rate, or mean confidence and accuracy.
    points, lower, upper : float
        Their difference in percentage points, positive if the predictions are too high, with its interval.
    slope, slope_lower, slope_upper : float
        Calibration slope without the certain rows, or with them if it is not defined without and some of them are wrong;
        with its interval. NaN where it is not defined.
    by_class : dict of str to float
        Percentage points by which classes are too high (positive) or too low, the largest first.
    pvalue : float
        The smallest p-value of all tests behind the verdict, adjusted for their number.
    mostly_noise : tuple of str
        Calibration errors of which more than half is noise.
    certain, wrong : int
        Rows with a probability within 1e-12 of 0 or 1, and those of them that are wrong.
    level : float
        Probability, at most, with which a calibrated forecast is called wrong; the intervals cover one minus that.
    sentences : tuple of str
        The verdict in words.
    """

    _table = Table(
        *(None, "faults=_fault", "predicted", "observed", "points", "lower", "upper", "slope"),
        *("slope_lower", "slope_upper", "pvalue", "certain", "wrong", "verdict=_text"),
    )
    _summary = "{_fault}"

    faults: tuple[str, ...]
    predicted: float
    observed: float
    points: float
    lower: float
    upper: float
    slope: float
    slope_lower: float
    slope_upper: float
    by_class: Mapping[str, float]
    pvalue: float
    mostly_noise: tuple[str, ...]
    certain: int
    wrong: int
    level: float
    sentences: tuple[str, ...]

    @property
    def _fault(self) -> str:
        return " and ".join(self.faults) or "none detected"

    @property
    def _text(self) -> str:
        return " ".join(self.sentences)

    def __str__(self) -> str:
        """Return the verdict in words."""
        return self._text


class Shift(NamedTuple):
    """Mean prediction less event rate of some problems, with standard error and p-value, each of shape (n_problems,)."""

    predicted: FloatArray
    observed: FloatArray
    error: FloatArray
    pvalue: FloatArray

    @classmethod
    def of(cls, table: BinTable, rows_per_weight: float) -> Shift:
        """Compare the sums of the bins of each problem; each weight is worth so many independent rows."""
        bins, add = table.bins, partial(np.bincount, table.part, minlength=len(table))
        weight, scores, events, count = bins.weight, bins.score_sum, bins.outcome_sum, bins.count
        p = np.clip(np.divide(scores, weight, out=np.zeros_like(scores), where=weight > 0), 0.0, 1.0)
        total = np.maximum(add(weight), np.finfo(float).tiny)
        predicted, n = add(scores) / total, total * rows_per_weight
        sums = [add(each).astype(np.float64) for each in (events, scores, count)]
        difference = -residual_of_sums(*sums) / total
        observed = predicted - difference
        calibrated = add(weight * p * (1.0 - p)) / total
        seen = add(events * (1.0 - p) ** 2 + (weight - events) * p**2) / total - difference**2
        third = add(weight * p * (1.0 - p) * (1.0 - 2.0 * p)) / total
        error = np.sqrt(np.maximum(np.maximum(calibrated, seen), 0.0) / n)
        moments = zip(-n * difference, n * error, n * third, strict=True)
        return cls(predicted, observed, error, np.array([_pvalue(*each) for each in moments]))

    @property
    def points(self) -> FloatArray:
        """Mean prediction less event rate in percentage points."""
        return 100.0 * (self.predicted - self.observed)


NO_SHIFT = Shift(*np.zeros((4, 0)))


LEAST_SD = 1e-100
"""Below it one more or one less event than expected is all but impossible, and the cube of it is no number."""


def _pvalue(excess: float, sd: float, third: float) -> float:
    """Return the two-sided p-value of so many more events than expected.

    Their number is a whole one, and skew if they are rare: its law is Pearson's third one, with a correction for continuity.
    """
    distance = max(abs(excess) - 0.5, 0.0)
    if distance == 0.0:
        return 1.0
    if sd < LEAST_SD:
        return 0.0
    t, skew = distance / sd, math.copysign(1.0, excess) * third / sd**3
    if abs(skew) < SYMMETRIC:
        tail = ndtr(-t)
    else:
        k = 4.0 / skew**2
        tail = gammaincc(k, k + math.sqrt(k) * t) if skew > 0 else gammainc(k, max(k - math.sqrt(k) * t, 0.0))
    return min(1.0, 2.0 * float(tail))


class Slope(NamedTuple):
    """Calibration slope, its standard error and p-value, and by how much the predictions are off for it, on average."""

    value: float
    error: float = math.nan
    pvalue: float = 1.0
    off: float = math.nan

    @classmethod
    def of(cls, bins: Bins, rows_per_weight: float, certain: int = 0) -> Slope:
        """Fit the log-odds of the event to those of the scores, without so many cells at either end."""
        held = np.flatnonzero(bins.weight > 0)
        held = held[(held >= certain) & (held < len(bins) - certain)]
        weight, events = bins.weight[held], np.clip(bins.outcome_sum[held], 0.0, bins.weight[held])
        score = np.clip(bins.score_sum[held] / weight, 1e-12, 1.0 - 1e-12)
        misses = np.where(score < 0.5, events, weight - events).sum()
        few = min(events.sum(), (weight - events).sum(), max(misses, weight @ (score * (1.0 - score))))
        if few * rows_per_weight < LEAST or held.size < 2:
            return cls(math.nan)
        fit = Recalibration(logit(score), weight, events)
        (intercept, slope), shift = fit.joint, expit(fit.in_the_large + fit.x)
        gain = 2.0 * rows_per_weight * (fit.largest - fit.largest_with_slope_one)
        recalibrated, error = events / weight, math.nan
        if math.isfinite(slope):
            recalibrated = expit(intercept + slope * fit.x)
            curvature = weight * recalibrated * (1.0 - recalibrated)
            spread = curvature @ (fit.x - curvature @ fit.x / curvature.sum()) ** 2
            error = 1.0 / math.sqrt(spread * rows_per_weight)
        off = float(weight @ np.abs(recalibrated - shift) / weight.sum())
        return cls(slope, error, float(chdtrc(1.0, max(gain, 0.0))), off)


def verdict_of(
    cells: BinTable,
    by_class: BinTable | None,
    curve: ReliabilityCurve,
    errors: Mapping[str, Estimate],
    weights: Weights,
    level: float,
) -> Verdict:
    """Return the verdict from sums of a forecast.

    ``cells`` are those of `CELLS`: of a notion of one event a row, else of the confidence, whose event is that the predicted
    class is right: then there are the bins ``by_class`` as well. ``errors`` are the calibration errors that are known, by
    their symbols.
    """
    bins, of_predictions = cells.bins, by_class is not None
    each, n, z = weights.effective_rows_per_weight, round(weights.rows), float(ndtri(1.0 - level / 2.0))
    main, slope = Shift.of(cells, each), Slope.of(bins, each, CERTAIN)
    at_ends = bins.weight[:CERTAIN].sum() + bins.weight[-CERTAIN:].sum()
    missed = bins.outcome_sum[:CERTAIN].sum() + (bins.weight - bins.outcome_sum)[-CERTAIN:].sum()
    certain, wrong = [round(float(rows) * weights.rows_per_weight) for rows in (at_ends, missed)]
    with_certain = Slope.of(bins, each) if wrong else slope
    if math.isnan(slope.value):  # the certain rows alone have a direction
        slope = with_certain
    names = () if by_class is None else by_class.names
    classes = NO_SHIFT if by_class is None else Shift.of(by_class, each)
    drawn = {symbol: one.pvalue for symbol, one in errors.items() if one.pvalue is not None}
    asked = 2 + bool(names) + bool(drawn)
    of_shift, of_slope = asked * float(main.pvalue[0]), asked * slope.pvalue
    of_class = asked * len(names) * classes.pvalue
    of_error = {symbol: asked * len(drawn) * pvalue for symbol, pvalue in drawn.items()}

    below_zero = slope.value < 0.0 and (
        math.isinf(slope.value) or 2.0 * asked * ndtr(slope.value / slope.error) <= level
    )
    faults = [REVERSED] if of_slope <= level and below_zero else []
    if of_shift <= level:
        words = ("over-confident", "under-confident") if of_predictions else ("too high", "too low")
        faults.append(words[int(main.points[0] < 0)])
    if of_slope <= level and REVERSED not in faults and not (faults and of_predictions):
        faults.append("too timid" if slope.value > 1.0 else "too extreme")
    largest = [j for j in np.argsort(-np.abs(classes.points)).tolist() if of_class[j] <= level]
    if largest:
        faults.append("by class")
    significant = [symbol for symbol, pvalue in of_error.items() if pvalue <= level]
    worth = [round(float(rows) * each) for rows in (missed, at_ends)]  # independent rows
    of_certain = asked * float(bdtrc(worth[0] - 1, worth[1], TOLERATED)) if worth[0] else 1.0
    if (significant or of_certain <= level) and not faults:
        faults.append("other")

    smallest = min(of_shift, of_slope, of_certain, *of_class.tolist(), *of_error.values())
    reach = z * float(main.error[0])
    if reach == 0.0:  # all rows are certain and right: some may be wrong all the same
        reach = most_of_none(weights.effective_rows, level)
    points, half = float(main.points[0]), 100.0 * reach
    found = Verdict(
        faults=tuple(faults),
        predicted=float(main.predicted[0]),
        observed=float(main.observed[0]),
        points=points,
        lower=max(points - half, 100.0 * (float(main.predicted[0]) - 1.0)),
        upper=min(points + half, 100.0 * float(main.predicted[0])),
        slope=slope.value,
        slope_lower=slope.value - z * slope.error,
        slope_upper=slope.value + z * slope.error,
        by_class={names[j]: float(classes.points[j]) for j in largest},
        pvalue=min(1.0, smallest),
        mostly_noise=tuple([symbol for symbol, one in errors.items() if one.is_mostly_noise]),
        certain=certain,
        wrong=wrong,
        level=level,
        sentences=(),
    )
    known = {symbol: errors[symbol] for symbol in significant}
    sentences = [_found(found, n, curve, slope.off, known, of_predictions=of_predictions)]
    by_itself = {"the difference": float(main.pvalue[0]), "the calibration slope": slope.pvalue, **drawn}
    name, least = min(by_itself.items(), key=lambda item: item[1])
    leaves_out = max(found.lower, -found.upper, found.slope_lower - 1.0, 1.0 - found.slope_upper) > 0.0
    if not faults and (least <= level or leaves_out):
        alone, adjusted = (
            shown_pvalue(min(1.0, times * least), None, ".2g", name="p")
            for times in (1, asked * (len(drawn) if name in drawn else 1))
        )
        sentences.append(
            f"By itself {name} speaks against calibration ({alone}), but not as one of {len(by_itself) + len(names)} tests "
            f"({adjusted})."
        )
    if len(faults) > 1 and faults[1] in SLOPES:
        sentences.append(f"It is also {faults[1]}: {_slope(found)}.")
    if largest and len(faults) > 1:
        sentences.append(f"Class by class, {_classes(found)}.")
    if wrong:
        moved = ""
        if math.isfinite(slope.value) and slope != with_certain:
            with_them, without = with_certain.value, slope.value
            moved = f": with the certain rows the calibration slope is {with_them:.3g}, without them {without:.3g}"
        are = "is" if wrong == 1 else "are"
        rows = f"{shown_rows(certain)} with a probability within 1e-12 of 0 or 1"
        sentences.append(f"{wrong} of {rows} {are} wrong{moved}.")
    if weights.effective_rows < UNEQUAL * len(weights) and not weights.are_counts:
        sentences.append(f"The weights make {shown_rows(n)} worth {weights.effective_rows:.3g} equal ones.")
    return replace(found, sentences=tuple(sentences))


def _found(
    found: Verdict,
    n: int,
    curve: ReliabilityCurve,
    off: float,
    significant: Mapping[str, Estimate],
    *,
    of_predictions: bool,
) -> str:
    """Return the first sentence: the first fault, with its size."""
    panel, fault = curve.panels[0], found.faults[0] if found.faults else "none"
    predicted, observed = shown_percent(found.predicted), shown_percent(found.observed)
    facts = (
        f"mean confidence {predicted}, accuracy {observed}"
        if of_predictions
        else f"{panel.name} occurred in {observed} of the rows, predicted {predicted} on average"
    )
    ends = (found.lower, found.upper) if found.points >= 0 or fault == "none" else (-found.upper, -found.lower)
    interval = f"{shown_coverage(found.level)} {shown_points(ends[0])} to {shown_points(ends[1])}"
    match fault:
        case "none":
            means = f"{facts} (difference {shown_points(found.points)} points, {interval})"
            return f"No miscalibration was detected in {shown_rows(n)}: {means}."
        case "wrong way round":
            rarer = "high confidences are right less often than low ones" if of_predictions else ""
            rarer = rarer or f"{panel.name} is rarer where its probability is higher"
            return f"The wrong way round: {rarer}; {_slope(found)}. Are labels or columns swapped? On average {facts}."
        case "too extreme" | "too timid":
            ends_are = ("high", "low") if fault == "too extreme" else ("low", "high")
            what = "confidences" if of_predictions else f"probabilities of {panel.name}"
            how = f"high {what} are too {ends_are[0]} and low ones too {ends_are[1]}"
            return f"{fault.capitalize()} by {shown_points(100.0 * off)} points on average: {how}; {_slope(found)}."
        case "by class":
            return f"Off by class: {_classes(found)}; on average {facts}."
        case "other" if not significant:
            return f"Wrong where it is certain: {facts}."
        case "other":
            figures = ", ".join(
                f"{symbol} {one.value:#.4g}, {shown_pvalue(one.pvalue or 0.0, one.least_pvalue, '.3g', name='p')}"
                for symbol, one in significant.items()
            )
            where = _where(panel, significant) if len(curve.panels) == 1 else ""
            begin = "Too" if where else "Class by class too"
            return f"{begin} high for some predictions and too low for others ({figures}){where}."
        case _:
            return f"{fault.capitalize()} by {shown_points(abs(found.points))} points ({interval}): {facts}."


def _where(panel: ReliabilityPanel, significant: Mapping[str, Estimate]) -> str:
    """Name the bin that adds most to the ECE, if that is significant."""
    if "ECE" not in significant:
        return ""
    bins = panel.bins
    j = int(np.argmax(np.abs(bins.residual_sum)))
    figures = (bins.left, bins.right, bins.mean_prob, bins.event_rate)
    left, right, mean, rate = (shown_percent(float(x[j])) for x in figures)
    return f", most between {left} and {right}: predicted {mean}, observed {rate}"


def _classes(found: Verdict) -> str:
    named = [
        f"{name} is too {'high' if points > 0 else 'low'} by {shown_points(abs(points))} points"
        for name, points in list(found.by_class.items())[:MOST_NAMED]
    ]
    more = len(found.by_class) - len(named)
    return ", ".join(named) + (f", and {more} more are off" if more else "")


def _slope(found: Verdict) -> str:
    if not math.isfinite(found.slope):
        return "the predictions separate the outcomes"
    width = found.slope_upper - found.slope_lower
    digits = 2 if not 0.0 < width < 0.05 else 1 - math.floor(math.log10(width))
    low, slope, high = (f"{one:.{digits}f}" for one in (found.slope_lower, found.slope, found.slope_upper))
    return f"calibration slope {slope}, {shown_coverage(found.level)} {low} to {high}"


def shown_coverage(level: float) -> str:
    """What stands before an interval."""
    return f"{100 * (1 - level):g} % interval"


def shown_points(points: float) -> str:
    """One decimal, or two digits where that would be less."""
    return f"{points:.1f}" if abs(points) >= 1.0 or points == 0.0 else f"{points:.2g}"


def shown_percent(part: float) -> str:
    """A part of one in percent."""
    return f"{shown_points(100.0 * part)} %"
