"""One table of how good and how calibrated a forecast is, with the uncertainty of each figure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Unpack

import numpy as np
import numpy.typing as npt

from calibrant._core.arrays import CLIP
from calibrant._core.border import DataOptions, as_problem, refuse_rows
from calibrant._core.checks import list_of_names, meant, resamples, tracked
from calibrant._core.result import DrawnResult, Picture, Table, in_columns, shown_pvalue, shown_rows, under
from calibrant._core.rows import Approximate, as_simplex
from calibrant._core.threads import one_blas_thread
from calibrant.assessment.verdict import CELLS, Verdict, verdict_of
from calibrant.binning import Binning, as_binning
from calibrant.curves.reliability import OPTIONS, ReliabilityCurve, curve_of_sums, require_level
from calibrant.metrics.estimate import ABOVE_INTERVAL, MOSTLY_NOISE, NO_INTERVAL, Estimate, Resampling
from calibrant.metrics.kinds import Impossible, LogLoss, Metric, estimates, metric_named, plan_of
from calibrant.notions import Notion, as_notion
from calibrant.sums.draws import Rng, as_rng
from calibrant.sums.reading import Predictions, is_unread, scan, scans
from calibrant.sums.sums import Plan, distinct

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
    y_true: npt.ArrayLike | Predictions,
    y_prob: npt.ArrayLike | None = None,
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
    curve, class_curve = curve_of_sums(table, *shown[0], level), curve_of_sums(by_class, *shown[1], level)
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
    y_true: npt.ArrayLike | Predictions,
    y_prob: npt.ArrayLike | None = None,
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
