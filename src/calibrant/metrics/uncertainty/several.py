"""Metrics of a forecast with their uncertainty.

Noise is drawn once: metrics of the same notion and binning share their noise, and one draw of labels serves all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

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
        asked = cells_of(chosen, problem, binning, notion)
        sums = scan(problem, Plan.of_cells(asked, noise=draws_from_sums(problem)))
    setting = Setting(
        problem,
        as_simplex(problem),
        resampling,
        Bootstrap(problem.size, resampling.n_resamples, resampling.rng),
        progress,
        notion,
        {m.name: seen.with_sums(sums) for m in chosen if (seen := m.residuals(problem, binning, notion)) is not None},
        sums=sums,
    )
    setting.draw_noise()
    return {metric.name: within(metric.range, metric.estimate(setting)) for metric in chosen}


def cells_of(
    chosen: Sequence[Metric], problem: Problem, binning: int | Binning, notion: str | Notion | None
) -> list[tuple[Notion, Binning]]:
    """List the notions and binnings of the metrics that are functions of sums over bins."""
    seen = (metric.residuals(problem, binning, notion) for metric in chosen)
    return [one.table for one in seen if one is not None and one.size.of_bins is not None]


def within(values: tuple[float, float], estimate: Estimate) -> Estimate:
    """Keep what is said of the truth to the range of the metric."""
    least, highest = values
    return replace(
        estimate,
        lower=None if estimate.lower is None else max(estimate.lower, min(least, estimate.value)),
        upper=None if estimate.upper is None else min(estimate.upper, highest),
        detectable=None if estimate.detectable is None else min(estimate.detectable, highest),
    )
