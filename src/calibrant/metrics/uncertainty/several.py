"""Metrics of a forecast with their uncertainty.

Noise is drawn once: metrics of the same notion and binning share their noise, and one draw of labels serves all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import isfinite

from calibrant._core.approximate import Approximate
from calibrant._core.problem import Problem, as_simplex
from calibrant.binning import Binning
from calibrant.metrics.kinds.metric import Metric
from calibrant.metrics.uncertainty.cells import draws_from_sums
from calibrant.metrics.uncertainty.estimate import Estimate, Resampling
from calibrant.metrics.uncertainty.redrawn import Progress, unwatched
from calibrant.metrics.uncertainty.setting import Setting
from calibrant.notions import Notion
from calibrant.sums import Plan, Sums, scan
from calibrant.sums.draws import Bootstrap
from calibrant.sums.plan import distinct
from calibrant.sums.unread import Unread, is_unread, refuse_rows


def estimates(
    chosen: Sequence[Metric],
    problem: Problem,
    binning: int | Binning,
    resampling: Resampling,
    progress: Progress = unwatched,
    notion: str | Notion | None = None,
    sums: Sums | None = None,
) -> dict[str, Estimate]:
    """Estimate each metric of a valid problem, by its name; ``notion`` is for the metrics that fix none.

    The ``sums``, where they are known already, are those of a plan that holds all that `cells_of` asks for.
    """
    if sums is None:
        sums = scan(problem, plan_of(chosen, problem, binning, notion))
    setting = Setting(
        problem,
        as_simplex(problem),
        resampling,
        Bootstrap(problem.weights, resampling.n_resamples, resampling.rng),
        progress,
        notion,
        {m.name: seen.with_sums(sums) for m in chosen if (seen := m.residuals(problem, binning, notion)) is not None},
        sums=sums,
    )
    setting.draw_noise()
    return {metric.name: within(metric.range, widened(metric.estimate(setting))) for metric in chosen}


def plan_of(chosen: Sequence[Metric], problem: Problem, binning: int | Binning, notion: str | Notion | None) -> Plan:
    """Return what a scan must leave for the estimates: cells, and of rows that are read in batches what means need too."""
    if is_unread(problem):
        for metric in chosen:
            _require_sums(metric, problem, binning, notion)
    plan = Plan.of_cells(cells_of(chosen, problem, binning, notion), noise=draws_from_sums(problem))
    if not is_unread(problem):
        return plan
    cells = [pair for metric in chosen for pair in metric.plan(problem, binning, notion).cells]
    scores = [one for metric in chosen for one in metric.plan_of_estimate(problem).scores]
    return replace(plan, cells=tuple(distinct([*plan.cells, *cells])), scores=tuple(scores))


def is_of_sums(metric: Metric, problem: Problem, binning: int | Binning, notion: str | Notion | None) -> bool:
    """Whether an estimate of the metric is made of sums over cells, or over values of the rows."""
    seen = metric.residuals(problem, binning, notion)
    return metric.has_sums if seen is None else seen.size.of_bins is not None and seen.has_fixed_cells


def _require_sums(metric: Metric, problem: Unread, binning: int | Binning, notion: str | Notion | None) -> None:
    """Refuse a metric that needs the rows, and weights, with which noise is drawn for each row."""
    seen = metric.residuals(problem, binning, notion)
    by_cells = metric.takes_cells if seen is None else seen.takes_cells
    if not (by_cells or is_of_sums(metric, problem, binning, notion)):
        refuse_rows(f"the interval of {metric.name!r}")
    if not problem.weights.is_unit:
        refuse_rows(f"the interval of {metric.name!r} of weighted rows")


def cells_of(
    chosen: Sequence[Metric], problem: Problem, binning: int | Binning, notion: str | Notion | None
) -> list[tuple[Notion, Binning]]:
    """List the notions and binnings of the metrics that are functions of sums over bins."""
    seen = (metric.residuals(problem, binning, notion) for metric in chosen)
    return [one.table for one in seen if one is not None and (one.size.of_bins is not None or is_unread(problem))]


def widened(estimate: Estimate) -> Estimate:
    """Let the interval hold also where the figure of the rows is at a limit of that of their cells."""
    value, lower, upper = estimate.value, estimate.lower, estimate.upper
    if not isinstance(value, Approximate) or lower is None or upper is None or not isfinite(value.error):
        return estimate
    return replace(estimate, lower=lower - (value - value.lower), upper=upper + (value.upper - value))


def within(values: tuple[float, float], estimate: Estimate) -> Estimate:
    """Keep what is said of the truth to the range of the metric."""
    least, highest = values
    return replace(
        estimate,
        lower=None if estimate.lower is None else max(estimate.lower, min(least, estimate.value)),
        upper=None if estimate.upper is None else min(estimate.upper, highest),
        detectable=None if estimate.detectable is None else min(estimate.detectable, highest),
    )
