"""Which of several candidates: forecasts as they are and after calibrators, ranked; groups of rows; and since when."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Any, Literal, NamedTuple, Unpack

import numpy as np

from calibrant._core import checks
from calibrant._core.arrays import ArrayLike, columns_of
from calibrant._core.border import DataOptions, as_problem
from calibrant._core.result import Result, Table, in_columns, under
from calibrant._core.rows import IntArray, Problem
from calibrant.assessment import compared_rows
from calibrant.binning import Binning
from calibrant.calibrators.base import Calibrator
from calibrant.lenses import USUAL
from calibrant.metrics.estimate import Estimate, Resampling
from calibrant.metrics.kinds import Function, Metric, Own, as_metric, estimates, metric_named
from calibrant.notions import as_notion, single_problem
from calibrant.significance.differences import difference_of, difference_of_samples, in_one_precision, paired_result_of
from calibrant.significance.result import adjusted_pvalues, shown_adjusted
from calibrant.sums.draws import Rng, as_rng

ALL_ROWS = "all rows"
"""What the group of all rows is called in a table."""

Pairing = Literal["rows", "none", "periods"]

MANY = 12
"""Periods beside the first above which, where none is shown to differ, longer ones are advised."""

DRAWS = 1000
"""Draws behind a difference where nothing else is said."""

OF_SAMPLES = {"ece": "debiased-ece"}
"""What independent samples are compared by in place of a metric that is larger where there are fewer rows."""

FEWEST = 30
"""Rows of a group that overlaps others, below which nothing is said of it."""


@dataclass(frozen=True)
class Compared:
    """One candidate, and how it differs from the first one on the same rows.

    Attributes
    ----------
    name : str
        Of the forecast, and of the calibrator, such as "forest + platt".
    value : float
        The metric, after a calibrator on held-out rows; NaN where the calibrator failed.
    difference, lower, upper : float
        The metric less that of the first candidate, and its interval; see `paired_difference`, and ``scale`` of `Comparison`.
    pvalue, adjusted : float
        Of the hypothesis that the two are equally good, alone and by Holm's method for the number of candidates; NaN of the
        first. See `paired_test`.
    least_pvalue : float or None
        The smallest p-value that the draws behind it can show.
    win_rate : float
        Share of rows with a smaller loss than the first candidate's, ties counted half; NaN where the metric is no mean over
        rows.
    seconds : float
        For all fits of its calibrator.
    failure : str
        What the calibrator said where it failed; else empty.
    n_rows : int
        Its rows, those that whole weights repeat one by one.
    """

    name: str
    value: float
    difference: float = np.nan
    lower: float = np.nan
    upper: float = np.nan
    pvalue: float = np.nan
    adjusted: float = np.nan
    least_pvalue: float | None = None
    win_rate: float = np.nan
    seconds: float = 0.0
    failure: str = ""
    n_rows: int = 0


@dataclass(frozen=True)
class GroupFigure:
    """A metric of a candidate on the rows of a group, or on all rows.

    Attributes
    ----------
    group, candidate, metric : str
        Their names; the group of all rows has none.
    n_rows : int
        Rows of the group, those that whole weights repeat one by one.
    estimate : Estimate
        The metric on these rows with its interval and, of a calibration error, noise floor and p-value.
    adjusted : float
        The p-value by Holm's method for the number of groups; NaN where there is none.
    """

    group: str
    candidate: str
    metric: str
    n_rows: int
    estimate: Estimate
    adjusted: float = np.nan


@dataclass(frozen=True, eq=False)
class Comparison(Result):
    """Candidates from the best to the worst, which to take, and why.

    Attributes
    ----------
    metric : str
        By which they are ranked.
    scale : str
        What differences are of: "value", "square" (of ``"debiased-ece"``), or "distance" (of a slope from 1).
    candidates : tuple of Compared
        From the best to the worst, those that failed last; periods in the order of time.
    first : str
        The candidate that the others are compared with.
    recommended, reason : str
        The candidate to take, and why, in a sentence or two; of periods, which are not to choose from, the first one, and
        which differ from it.
    pairing : {"rows", "none", "periods"}
        Whether the candidates are forecasts of the same rows, of independent samples, or of the rows of periods.
    n_rows : int
        Rows, those that whole weights repeat one by one.
    n_classes : int
        Number of classes.
    n_folds : int
        Folds of the cross-validation; 0 where there are no calibrators.
    level : float
        One minus the coverage of the intervals, and the level at which a candidate counts as better.
    groups : tuple of GroupFigure
        Of each candidate: where there are several metrics, each of them on all rows; and each on each group of ``by``, the
        worst first by the first metric that has a bias-corrected value, else by the first.
    n_resamples : int
        Draws behind p-values and intervals.
    problems : dict of str to Problem
        The rows of each candidate with what it predicts, from which `write_report` draws; none in a `CalibratorSelector`.
    members : dict of str to ndarray
        The places of the rows of each group of ``by`` among those of ``problems``.
    """

    _table = Table(
        "candidate",
        "metric",
        *under("candidates", "candidate=name", "value", "difference", "lower", "upper", "pvalue", "adjusted"),
        *under("candidates", "win_rate", "seconds", "failure", "n_rows"),
    )
    _summary = "{metric}: {recommended}, candidates={candidates:n}, rows={n_rows}"

    metric: str
    scale: str
    candidates: tuple[Compared, ...]
    first: str
    recommended: str
    reason: str
    n_rows: int
    n_classes: int
    n_folds: int
    level: float
    groups: tuple[GroupFigure, ...] = ()
    pairing: Pairing = "rows"
    n_resamples: int = 0
    problems: Mapping[str, Problem] = field(default_factory=dict, repr=False)
    members: Mapping[str, IntArray] = field(default_factory=dict, repr=False)

    def __getitem__(self, name: str) -> Compared:
        """Return a candidate by its name."""
        found = {one.name: one for one in self.candidates}
        must, hint = f"candidates are {', '.join(found)}", "Pass one of them"
        checks.require(name in found, must, value=name, hint=hint, error=KeyError)
        return found[name]

    @property
    def worst_group(self) -> GroupFigure | None:
        """The group of the recommended candidate with the largest error that is shown, bias-corrected.

        By the first metric that has p-values; None where nothing is shown at the level. Of overlapping groups
        ``estimate.debiased`` is the multicalibration error, and ``adjusted`` its p-value.
        """
        shown = [one for one in self._tested_groups if one.adjusted < self.level]
        return min(shown, key=lambda one: _place(metric_named(one.metric), one.estimate), default=None)

    @property
    def _tested_groups(self) -> list[GroupFigure]:
        """The groups of the recommended candidate with a p-value, of the first metric that has some."""
        of_metrics: dict[str, list[GroupFigure]] = {one.metric: [] for one in self.groups}
        for one in self.groups:
            if one.group and one.candidate == self.recommended and not np.isnan(one.adjusted):
                of_metrics[one.metric].append(one)
        return next(filter(None, of_metrics.values()), [])

    def __str__(self) -> str:
        """Return the table as text, and the reason."""
        first, *others = (in_columns(rows, n) for rows, n in zip(self._tables(), (1, 2), strict=False))
        failed = [f"{one.name} failed: {one.failure}" for one in self.candidates if one.failure]
        said = self.said_of_groups()
        return "\n".join([*first, *failed, self.reason, *("\n".join(["", *lines]) for lines in others), *said])

    def said_of_groups(self) -> list[str]:
        """Say which group is the worst, where a metric has p-values of groups.

        Returns
        -------
        list of str
            One sentence, or none.
        """
        if not (tested := self._tested_groups):
            return []
        if (worst := self.worst_group) is None:
            said = f"By {tested[0].metric}, {self.recommended} is not shown to be miscalibrated in any group"
            return [f"{said} at the level of {self.level:g}."]
        of = worst.estimate
        found = f"{of.value:.3g}" if of.debiased is None else f"{of.debiased:.3g} without its bias"
        p = shown_adjusted(worst.adjusted, of.pvalue, of.least_pvalue, ".3g", name="p")
        return [f"{self.recommended} is miscalibrated the most in {worst.group}: {worst.metric} {found}, {p}."]

    def _repr_html_(self) -> str:
        from html import escape

        shown = ""
        for rows in self._tables():
            head, *body = ["".join(f"<td>{escape(cell)}</td>" for cell in row) for row in rows]
            lines = [head.replace("td>", "th>"), *body]
            shown += f"<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"
        return shown + "".join(f"<p>{escape(said)}</p>" for said in (self.reason, *self.said_of_groups()))

    def _tables(self) -> Iterator[list[list[str]]]:
        """Yield the cells of the candidates; and of the groups, those of the first candidate and of the recommended one."""
        coverage = f"{100 * (1 - self.level):g}% interval"
        above = {"win_rate": -1.0, "seconds": 0.0}.items()
        wins, times = (any(getattr(one, name) > least for one in self.candidates) for name, least in above)
        of = {"square": " of squares", "distance": " of distances"}.get(self.scale, "")
        counts, word = self.pairing != "rows", "period" if self.pairing == "periods" else "candidate"
        head = [word, *["rows"] * counts, self.metric, f"difference{of}", coverage, "p (Holm)"]
        rows = [head + ["wins"] * wins + ["seconds"] * times]
        for one in self.candidates:
            cells = ["-"] * 3
            if one.name != self.first and not one.failure:
                p = shown_adjusted(one.adjusted, one.pvalue, one.least_pvalue, ".3g")
                cells = [f"{one.difference:+.5f}", f"[{one.lower:+.5f}, {one.upper:+.5f}]", p]
            won = "-" if np.isnan(one.win_rate) else f"{one.win_rate:.1%}"
            value = "failed" if one.failure else f"{one.value:.5f}"
            start = [one.name, *[f"{one.n_rows}"] * counts, value]
            rows.append([*start, *cells] + [won] * wins + [f"{one.seconds:.2f}"] * times)
        yield rows
        if not self.groups:
            return
        one_metric = {figure.metric for figure in self.groups} == {self.metric}
        named = [self.metric] if one_metric else ["metric", "value"]
        rows = [["group", "candidate", "rows", *named, coverage, "noise floor", "p (Holm)"]]
        for figure in self.groups:
            if not figure.group or figure.candidate in (self.first, self.recommended):
                found = figure.estimate
                has_none = found.lower is None or np.isnan(found.lower)
                interval = "-" if has_none else f"[{found.lower:.5f}, {found.upper:.5f}]"
                floor = "-" if found.noise_floor is None else f"{found.noise_floor:.5f}"
                p = shown_adjusted(figure.adjusted, found.pvalue, found.least_pvalue, ".3g")
                words = [figure.group or ALL_ROWS, figure.candidate, f"{figure.n_rows}"]
                words += [] if one_metric else [figure.metric]
                value = "-" if np.isnan(found.value) else f"{found.value:.5f}"
                rows.append([*words, value, interval, floor, "-" if np.isnan(figure.adjusted) else p])
        yield rows


def compare(
    y_true: ArrayLike | Mapping[str, ArrayLike],
    forecasts: ArrayLike | Mapping[str, ArrayLike] | None = None,
    *,
    calibrators: Sequence[str | Calibrator] | Mapping[str, str | Calibrator] = (),
    by: Any = None,
    overlapping: bool = False,
    paired: bool = True,
    times: ArrayLike | None = None,
    every: compared_rows.Every | None = None,
    metric: str | Function | Sequence[str | Function] = "nll",
    binning: int | Binning | None = None,
    n_folds: int = 5,
    level: float = 0.05,
    n_resamples: int = DRAWS,
    rng: Rng = 0,
    n_jobs: int | None = None,
    memory: str | os.PathLike[str] | None = None,
    progress: bool = False,
    **data: Unpack[DataOptions],
) -> Comparison:
    """Compare forecasts of the same rows, each as it is and after calibrators, and say which to take.

    Forecasts of different rows are compared as independent samples, and one forecast with itself over time.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,), or dict of them
        Class labels: integers, strings or booleans. A dict has those of each forecast by its name, as where language models
        answered the same questions and the label is whether the answer of each was right. Rows are paired by position in
        either case.
    forecasts : array-like of shape (n_samples,) or (n_samples, n_classes), or dict of them
        Probabilities of rows that no classifier was trained on; several forecasts by their names. The first is the one that
        the others are compared with. Rows are paired by position; an index of a data frame is ignored. Columns are in the
        order of ``labels``.
    calibrators : sequence or dict of str or Calibrator, default=()
        Each is fitted to each forecast by cross-validation and judged on the rows that it was not fitted to. A word is one that
        ``calibrant list calibrators`` prints; with " --safe" behind it the method stands within `SafeCalibrator`.
    by : array-like of shape (n_samples,), dict of them, or data frame, optional
        The group of each row: integers, strings or booleans. The figures of each candidate on each group are added. Of several
        columns, by their names, each combination that occurs is a group.
    overlapping : bool, default=False
        Whether the groups of several columns in ``by`` overlap: the values of each column, and the pairs of values of each two
        of them, as far as they have 30 rows. A forecast that is calibrated in all of them is called multicalibrated.
    paired : bool, default=True
        Whether the forecasts are of the same rows. With False they are independent samples, as of two hospitals: ``y_true`` and
        ``sample_weight`` are then dicts as ``forecasts`` is.
    times : array-like of shape (n_samples,), optional
        When the rows of the one forecast are from: dates, text that begins as "2024-03-31", or without ``every`` any labels.
        The candidates are then the periods, and each is compared with the first one, as independent samples.
    every : {"day", "week", "month", "quarter", "year"}, optional
        How dates are cut into periods. By default each value of ``times`` is one, in sorted order, numbers in words as numbers
        (v9, v10); dates that begin with the day, the month or the quarter are refused. Weeks are those of ISO 8601,
        days those of the zone in which a time is written (a monitor has days of UTC).
    metric : str or callable, or sequence of them, default="nll"
        What they are ranked by: a registered metric, or a function of (y_true, y_prob), of which lower is better. A proper
        score such as ``"nll"`` or ``"brier"`` judges calibration and refinement together; ``"debiased-ece"`` calibration alone.
        Of several the first ranks; all are then in ``groups``, for all rows and for each group, with their intervals.
    binning : int or Binning, optional
        How scores are cut, for a registered metric with bins. By default as the metric does.
    n_folds : int, default=5
        Number of folds; each calibrator is fitted once for each, on the rows outside it.
    level : float, default=0.05
        0.05 means 95 % intervals, and a difference is shown if its adjusted p-value is below 5 %.
    n_resamples : int, default=1000
        Random swaps behind each p-value, and bootstrap samples behind the interval of a metric that is no mean over rows. More
        are drawn where the smallest p-value of so many, by Holm's method, is not below the level.
    rng : numpy.random.Generator, int or None, default=0
        Folds and draws. The default makes two calls on the same data agree.
    n_jobs : int, optional
        Calibrators that are fitted at the same time, in processes of their own; -1 means as many as there are cores.
    memory : str or path, optional
        A folder that keeps the forecasts of each calibrator, as `joblib.Memory` does: a call that was stopped goes on where it
        was when it is repeated.
    progress : bool, default=False
        Whether a bar shows how many calibrators are done, where tqdm is installed.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``input`` and others: see `DataOptions`.

    Returns
    -------
    Comparison
        A result with ``candidates`` from the best to the worst, those that failed last; ``recommended`` and ``reason``,
        ``groups`` and ``to_frame()``; printed, it is a table. A ``difference`` is that of the candidate less the first one.

    Raises
    ------
    ValueError
        If the forecasts are not of the same rows and classes, or there are fewer rows than folds.

    Notes
    -----
    The first forecast as it is stays recommended unless another candidate is better than it with a p-value, adjusted by Holm's
    method for the number of candidates, below the level. Of those that are, the best is recommended, and the reason names those
    whose difference from it cannot be shown. So where no candidate is better than the first, one is recommended in its place
    with a probability of at most the level. By log loss there is one exception: the first forecast after `EvidenceScaling`
    within `SafeCalibrator` is taken where it changes the forecasts of the folds, by more than the share that is always mixed
    in can, and is not shown to be worse; then others must be shown better than the lower of the two, and the reason names
    those whose value is better and cannot. It does next to no harm, and the tests of log loss see little of few rows, or where
    probabilities of 0 or 1 were wrong: docs/decisions/0057 has what the recommendation costs on forecasts with held-out rows.
    Of other calibrators within `SafeCalibrator` that was not measured: they are candidates as all others. A difference is that
    of `paired_difference`, its p-value that of `paired_test`.

    The interval of a calibrator is for the forecasts of the folds, with the calibrators that were fitted there. It does not
    contain what another sample to fit on would change.

    The figures of groups are estimates as those of `assess`: a calibration error has a noise floor, the value that a calibrated
    forecast would have on so many rows, and a p-value, which Holm's method adjusts for the number of groups.

    The difference of independent samples is tested by Welch's test, of a mean over rows as of any metric with a standard error.
    It needs some ten events in each sample, and as many rows without: beside a large sample one of fewer is found to differ
    too often. A plug-in error such as ``"ece"`` or ``"mcb"`` is refused there: the fewer the rows of a sample, the larger it is
    from noise alone.

    Of one forecast without ``by``, copies of rows are found as `advise` finds them, and count as one row. With
    several forecasts or ``by``, copies of a row may fall in different folds, which flatters flexible calibrators; a warning
    says so.

    Examples
    --------
    >>> from calibrant import compare, load_digits_forecast
    >>> compare(*load_digits_forecast(), calibrators=["temperature", "sms"])
    Comparison(nll: sms, candidates=3, rows=1497)
    """
    checks.resamples(n_resamples, least=2, hint="1000 is usual")
    metrics, chosen = metrics_of(metric, binning), compared_rows.named_calibrators(calibrators)
    checks.require_jobs(n_jobs)
    checks.of_type("memory", memory, (str, os.PathLike, type(None)), "a folder or None", hint="Pass memory='kept'")
    cv = compared_rows.CrossValidation(n_folds, n_jobs, memory, checks.flag("progress", progress))
    pairing: Pairing = "rows" if checks.flag("paired", paired) else "none"
    unnamed = not isinstance(forecasts, Mapping)
    if times is not None:
        pairing = "periods"
    if pairing == "rows":
        problems = compared_rows.forecasts_of(y_true, forecasts, data)
    elif pairing == "none":
        problems = compared_rows.samples_of(y_true, forecasts, data)
    else:
        must, hint = "forecasts must be one where there are times", "Compare the periods of one after the other"
        checks.require(unnamed, must, got="a dict", hint=hint)
        given: Any = (y_true, forecasts)
        all_rows = as_problem(*given, **data)
        problems = compared_rows.periods_of(times, every, all_rows, data.get("sample_weight"))
    hint = "Pass the dates of the rows as times="
    checks.left_out("every", every if times is None else None, "without times", hint=hint)
    hint = "Pass the columns as by="
    checks.left_out("overlapping", overlapping or None if by is None else None, "without by", hint=hint)
    for name, problem in ({"": all_rows} if pairing == "periods" else problems).items():
        metrics[0].warn_impossible(problem, name)
    groups: Any = by
    if by is not None and pairing == "rows":
        names = columns_of(by)
        columns = checks.by_name(by) if names is None else {name: by[name] for name in names}
        first, weight = next(iter(problems.values())), data.get("sample_weight")
        groups = compared_rows.groups_of(columns, first, weight, overlapping=checks.flag("overlapping", overlapping))
    level = checks.as_level(level)
    return comparison_of(problems, chosen, metrics, cv, level, n_resamples, as_rng(rng), groups, unnamed, pairing)


def metrics_of(metric: Any, binning: Any) -> list[Metric]:
    """Return one metric, or several of different names."""
    listed = [metric] if isinstance(metric, str) or callable(metric) else metric
    checks.list_of_names("metric", listed)
    checks.some("metric", listed, "metric", hint="Pass metric='nll'")
    found = [as_metric(one, binning) for one in listed]
    checks.distinct_names("metric", [one.name for one in found])
    return found


def comparison_of(
    problems: Mapping[str, Problem],
    calibrators: Mapping[str, str | Calibrator],
    metrics: Sequence[Metric],
    cv: compared_rows.CrossValidation,
    level: float,
    n_resamples: int,
    rng: np.random.Generator,
    groups: compared_rows.Names | None = None,
    unnamed: bool = False,
    pairing: Pairing = "rows",
) -> Comparison:
    """Return the comparison of valid problems of the same classes; of the same rows in their order, where these are paired."""
    first, metric = next(iter(problems.values())), metrics[0]
    checks.whole("n_folds", cv.n_folds, least=2, hint="5 is usual")
    if pairing != "rows":
        _require_of_samples(metric, first, calibrators, groups)
    n_resamples = max(n_resamples, _draws_needed(len(problems) * (1 + len(calibrators)) - 1, level))
    candidates, groups = compared_rows.candidates_of(problems, calibrators, cv, rng, groups, unnamed)
    beside = Beside(metric, level, n_resamples, rng, pairing)
    with warnings.catch_warnings(action="ignore", category=checks.CalibrationWarning):
        # Of the forecasts as they are it was said.
        rows = _compared(candidates, beside)
        if pairing == "periods":
            chosen, reason = rows[0].name, _since(rows, beside)
        else:
            rows = tuple(sorted(rows, key=lambda one: (bool(np.isnan(one.value)), _badness(metric, one.value))))
            chosen, reason = _choice(rows, candidates, beside)
        figures, members = list[GroupFigure](), dict[str, IntArray]()
        if len(metrics) > 1:
            figures += _figures(candidates, members, metrics, Resampling(level, n_resamples, rng))
        if groups is not None:
            draws = max(n_resamples, _draws_needed(np.unique(groups).size, level))
            members = _members(groups, next(iter(candidates.values())).problem)
            figures += _figures(candidates, members, metrics, Resampling(level, draws, rng))
    return Comparison(
        metric=metric.name,
        scale=beside.scale(first),
        candidates=rows,
        first=next(iter(candidates)),
        recommended=chosen,
        reason=reason,
        n_rows=sum(of.weights.n_rows for of in (problems.values() if pairing != "rows" else [first])),
        n_classes=int(first.classes.size),
        n_folds=cv.n_folds if calibrators else 0,
        level=level,
        groups=tuple(figures),
        pairing=pairing,
        n_resamples=n_resamples,
        problems={name: one.problem for name, one in candidates.items() if one.problem is not None},
        members=members,
    )


def differences_of(
    problems: Mapping[str, Problem],
    names: Sequence[str],
    *,
    notion: str | None = None,
    binning: int | Binning | None = None,
    clip: float | None = None,
    level: float,
    n_resamples: int,
    seed: int = 0,
    pairing: Pairing = "rows",
) -> list[Comparison]:
    """Return how problems compare by metrics of these names, a result each; the ECE is that of the notion."""
    found = []
    with warnings.catch_warnings(action="ignore", category=checks.CalibrationWarning), np.errstate(invalid="ignore"):
        # Of each forecast by itself it was said; an infinite loss less another is no number.
        for name in names:
            metric = as_metric(name, binning) if pairing == "rows" else as_metric(OF_SAMPLES.get(name, name), None)
            metric, of = metric if clip is None else metric.clipped(clip), problems
            if notion is not None and name == "ece":
                hint = "Pass one of these, or OneVsRest(...)"
                of = {key: single_problem(one, as_notion(notion, one), hint) for key, one in problems.items()}
            how = level, max(n_resamples, DRAWS), as_rng(seed)
            found.append(comparison_of(of, {}, [metric], compared_rows.CrossValidation(5), *how, pairing=pairing))
    return found


def _require_of_samples(metric: Metric, first: Problem, calibrators: object, groups: object) -> None:
    """Refuse what only forecasts of the same rows have, and a metric that is the larger the fewer the rows are."""
    must, hint = "rows of independent samples are only compared as they are", "Leave calibrators and groups out"
    checks.require(not calibrators and groups is None, must, got="calibrators or groups", hint=hint)
    seen = metric.residuals(first)
    fits, must = not metric.fits_noise, "metric of independent samples must not grow with noise"
    fits, hint = (
        fits and (seen is None or seen.size.is_debiased),
        "Pass 'debiased-ece', 'roc-auc', or a score such as 'nll'",
    )
    checks.require(fits, must, got=f"{metric.name!r}, which is larger where there are fewer rows", hint=hint)
    _require_two_rows(first, "the first sample, with which others are compared,")


def _require_two_rows(problem: Problem, sample: str = "a sample") -> None:
    must, hint = f"{sample} must hold two rows or more", "Pass more rows, or longer periods"
    checks.require(problem.weights.n_rows > 1, must, got="1", hint=hint)


def _draws_needed(n_tests: int, level: float) -> int:
    """Return the draws whose smallest p-value, adjusted for so many tests, is below the level."""
    least = int(n_tests / level) + 1
    must, hint = "level must be one that draws can go below", "Pass level=0.05"
    checks.require(least <= checks.MOST_DRAWS, must, got=f"{level:g}", hint=hint)
    return least


class Beside(NamedTuple):
    """How one candidate is compared with another."""

    metric: Metric
    level: float
    n_resamples: int
    rng: np.random.Generator
    pairing: Pairing

    def facts(self, problem: Problem, reference: Problem) -> dict[str, Any]:
        """Return the fields of `Compared` that speak of the difference of two candidates."""
        metric, level, draws = self.metric, self.level, self.n_resamples
        if self.pairing != "rows":
            _require_two_rows(problem)
            own, other = (metric.difference(one, None, draws, self.rng) for one in (problem, reference))
            found, pvalue = difference_of_samples(metric, own, other, level)
            facts = {part: getattr(found, part) for part in ("difference", "lower", "upper")}
            return facts | {"pvalue": pvalue, "value": metric.value(problem)}
        reference, problem = in_one_precision(reference, problem)
        test = paired_result_of(metric, problem, reference, "two-sided", level, draws, self.rng)
        parts = ("difference", "lower", "upper", "pvalue", "least_pvalue")
        facts = {part: getattr(test, part) for part in parts} | {"value": metric.value(problem)}
        if (differences := metric.row_differences(problem, reference)) is not None:
            won = (1.0 + np.sign((1 if metric.higher_is_better else -1) * differences)) / 2.0
            facts["win_rate"] = float(problem.weights.values @ won) / problem.weights.total
        return facts

    def has_none(self, problem: Problem, reference: Problem) -> bool:
        """Return whether the interval of the difference of two candidates holds 0."""
        if self.pairing != "rows":
            found = self.facts(problem, reference)
            return bool(found["lower"] <= 0.0 <= found["upper"])
        beside = difference_of(self.metric, problem, reference, self.level, self.n_resamples, self.rng)
        return beside.lower <= 0.0 <= beside.upper

    def scale(self, problem: Problem) -> str:
        """Return what differences are of: see `Comparison`."""
        seen = self.metric.residuals(problem)
        if seen is not None and seen.size.is_debiased:
            return "square"
        return "value" if self.metric.ideal is None else "distance"


def _compared(candidates: Mapping[str, compared_rows.CandidateRows], beside: Beside) -> tuple[Compared, ...]:
    """Return each candidate beside the first, in their order."""
    found: list[Compared] = []
    reference = next(iter(candidates.values())).problem
    assert reference is not None
    value, hint = beside.metric.value(reference), "Choose a metric that is defined for these rows"
    checks.require(not np.isnan(value), "metric must be a number", got=f"NaN of {next(iter(candidates))}", hint=hint)
    for name, (problem, seconds, failure, _) in candidates.items():
        if problem is None:
            found.append(Compared(name, np.nan, seconds=seconds, failure=failure))
            continue
        facts: dict[str, Any] = {"value": value, "difference": 0.0, "lower": 0.0, "upper": 0.0}
        if problem is not reference:
            try:
                facts = beside.facts(problem, reference)
            except ValueError as error:
                if beside.pairing == "rows":
                    raise
                facts = {"value": np.nan, "failure": " ".join(str(error).split())}
        found.append(Compared(name, seconds=seconds, n_rows=problem.weights.n_rows, **facts))
    return tuple(_adjusted(found, "pvalue"))


def _members(groups: compared_rows.Names, problem: Problem | None) -> dict[str, IntArray]:
    """Return the places of the rows of each group; of groups that overlap those of few rows are left out."""
    assert problem is not None  # the first candidate is a forecast as it is
    least = FEWEST if groups.shape[1] > 1 else 0
    found = {group: np.flatnonzero(names == group) for names in groups.T for group in np.unique(names).tolist()}
    return {group: at for group, at in found.items() if problem.taken(at).weights.n_rows >= least}


def _figures(
    candidates: Mapping[str, compared_rows.CandidateRows],
    members: Mapping[str, IntArray],
    metrics: Sequence[Metric],
    resampling: Resampling,
) -> list[GroupFigure]:
    """Return the figures of each candidate on each group, or on all rows, the worst first."""
    found: list[tuple[tuple[float, float], list[GroupFigure]]] = []
    for name, one in candidates.items():
        if one.problem is None:
            continue
        parts = {group: one.problem.taken(at) for group, at in members.items()} or {"": one.problem}
        of_metrics = [
            _adjusted([_figure(*part, name, metric, resampling) for part in parts.items()], "estimate.pvalue")
            for metric in metrics
        ]
        for figures in zip(*of_metrics, strict=True):
            ranks = next((k for k, one in enumerate(figures) if one.estimate.debiased is not None), 0)
            found.append((_place(metrics[ranks], figures[ranks].estimate), list(figures)))
    return [figure for _, figures in sorted(found, key=lambda one: one[0]) for figure in figures]


def _figure(group: str, part: Problem, name: str, metric: Metric, resampling: Resampling) -> GroupFigure:
    if isinstance(metric, Own) and metric.estimator is None:
        estimate = Estimate(metric.value(part), None, None)
    else:
        estimate = estimates([metric], part, USUAL, resampling)[metric.name]
    return GroupFigure(group, name, metric.name, part.weights.n_rows, estimate)


def _adjusted(found: list[Any], pvalue: str) -> list[Any]:
    """Return figures of one metric, of candidates or of groups, with p-values for the number of those that have one."""
    p = np.array([*map(attrgetter(pvalue), found)], dtype=float)
    tested = ~np.isnan(p)
    p[tested] = adjusted_pvalues(p[tested], method="holm")
    each = zip(found, p.tolist(), tested, strict=True)
    return [replace(one, adjusted=own) if known else one for one, own, known in each]


def _place(metric: Metric, estimate: Estimate) -> tuple[float, float]:
    """Return what sorts the worst first: the bias-corrected error where there is one, as the value of few rows is noise."""
    value = estimate.value if estimate.debiased is None else estimate.debiased
    return np.inf if np.isnan(value) else -_badness(metric, value), -_badness(metric, estimate.value)


def _badness(metric: Metric, value: float) -> float:
    """Return what is the lower, the better a candidate is."""
    if metric.ideal is not None:
        return abs(value - metric.ideal)
    return -value if metric.higher_is_better else value


def _since(rows: tuple[Compared, ...], beside: Beside) -> str:
    """Return which periods differ from the first one, and since when."""
    first, *others = [one for one in rows if not one.failure]
    sign = -1.0 if beside.metric.higher_is_better and beside.metric.ideal is None else 1.0
    shown = [one for one in others if one.adjusted < beside.level]
    said = []
    for word, way in (("worse", 1.0), ("better", -1.0)):
        names = [one.name for one in shown if way * sign * one.difference > 0]
        last = [one.name for one in others][-len(names) :]
        if names:
            said.append(f"{word} since {names[0]}" if names == last else f"{word} in {_listed(names)}")
    change = f"it is {' and '.join(said)}" if said else f"no change can be shown at the level of {beside.level:g}"
    if not said and len(others) > MANY:
        change += f", of {len(others)} periods one by one: longer ones show more"
    return f"The {beside.metric.name} was {first.value:.4g} in {first.name}; {change}."


def _choice(
    rows: tuple[Compared, ...], candidates: Mapping[str, compared_rows.CandidateRows], beside: Beside
) -> tuple[str, str]:
    """Return the name of the candidate to take, and why."""
    first, metric, level = next(iter(candidates)), beside.metric, beside.level

    def bad(one: Compared) -> float:
        return _badness(metric, one.value)

    others = [one for one in rows if one.name != first and not one.failure]
    if not others:
        if len(rows) > 1:
            return first, f"Keep {first}: every other candidate failed."
        return first, "There is one forecast, and no other to compare it with."
    # Samples, such as those of hospitals, may be none to choose from.
    none, it = (f"Keep {first}: no", "it") if beside.pairing == "rows" else ("No", first)
    start = next(one for one in rows if one.name == first)
    base, rival, tested = start, start, others
    safe = [one for one in others if candidates[one.name].is_safe]
    if safe and metric.name == "nll" and not (safe[0].difference > 0 and safe[0].pvalue < level):
        # It is not shown to be worse than the first: what is to take its place must be better than the better of both.
        base = safe[0]
        if base.value < start.value:
            rival = base
            of_base = {one.name: candidates[one.name] for one in (base, *others)}
            tested = list(_compared(of_base, beside)[1:])
    sign = -1.0 if metric.higher_is_better and metric.ideal is None else 1.0
    better = [one for one in tested if one.adjusted < level and sign * one.difference < 0]
    best = min(better, key=bad, default=base)
    ahead = [one for one in tested if bad(one) < min(bad(best), bad(rival))]
    unshown = _unshown(ahead, rival, metric)
    shown = [one for one in others if one.adjusted < level]
    if best.name == first:
        if not shown:
            return first, f"{none} difference from {it} can be shown at the level of {level:g}."
        words = f"{none} candidate is shown to be better. "
        open_ones = [one.name for one in others if one not in shown]
        worse = f"{_listed([one.name for one in shown])} {'is' if len(shown) == 1 else 'are'} worse"
        rest = f"; no difference from {it} can be shown for {_listed(open_ones)}." if open_ones else "."
        return first, words + worse + rest
    of_first = next(one for one in others if one.name == best.name)
    if best is base and of_first not in shown:
        way = "lower" if rival is base else "higher"
        values = f"its {metric.name} of {best.value:.4g} is {way} than that of {first}, {start.value:.4g}"
        return best.name, (
            f"Take {best.name}: {values}, but the difference cannot be shown at the level of {level:g}. Within SafeCalibrator "
            f"it gets more than a small share only as far as held-out rows favour that.{unshown}"
        )
    beaten = rival  # what it was shown to be better than
    if of_first in shown:
        best, beaten = of_first, start
    values = f"its {metric.name} of {best.value:.4g} is {{}} that of {beaten.name}, {beaten.value:.4g}"
    ends = " to ".join(f"{end:.3g}" for end in sorted((-sign * best.lower, -sign * best.upper)))
    gain = f"{abs(best.difference):.3g} ({100 * (1 - level):g} % interval {ends})"
    taken = candidates[best.name].problem
    assert taken is not None
    of = {"square": " in its square", "distance": f" in its distance from {metric.ideal:g}" if metric.ideal else ""}
    reason = f"Take {best.name}: {values.format('better than')}, by {gain}{of.get(beside.scale(taken), '')}."
    alike = []
    for one in others:
        problem = candidates[one.name].problem
        is_behind = one.name != best.name and bad(one) >= bad(best)
        if is_behind and problem is not None and beside.has_none(problem, taken):
            alike.append(one.name)
    rest = f" Between it and {_listed(alike)} no difference can be shown." if alike else ""
    return best.name, reason + unshown + rest


def _unshown(ahead: list[Compared], rival: Compared, metric: Metric) -> str:
    """Say of candidates that are ahead of the one to take that they cannot be shown to be better than they must."""
    if not ahead:
        return ""
    they = f" {_listed([one.name for one in ahead])} {'has' if len(ahead) == 1 else 'have'} a better {metric.name}, but"
    p = [shown_adjusted(one.adjusted, one.pvalue, one.least_pvalue, ".3g", name="p") for one in ahead]
    return f"{they} cannot be shown to be better than {rival.name}: {_listed(p)} by Holm's method."


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
