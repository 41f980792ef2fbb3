"""A metric that is the size of what a lens sees of the residuals, under a notion. Bins are a lens."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Self, TypeVar

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.problem import Problem
from calibrant.binning import Binning, as_binning
from calibrant.lenses.base import Lens, Size
from calibrant.lenses.bins import InBins
from calibrant.metrics.binned.losses import Loss, Norm, NormOfBins
from calibrant.metrics.kinds.metric import Difference, Metric
from calibrant.metrics.uncertainty.estimate import Estimate
from calibrant.metrics.uncertainty.jackknife import unbiased_square
from calibrant.metrics.uncertainty.residuals import Residuals, error_through
from calibrant.metrics.uncertainty.setting import Setting
from calibrant.notions import Notion, as_notion
from calibrant.sums import Plan, Sums
from calibrant.sums.draws import Bootstrap
from calibrant.sums.recut import fine_pair
from calibrant.sums.unread import is_unread

M = TypeVar("M", bound="ThroughLens")


@dataclass(frozen=True, kw_only=True, eq=False)
class ThroughLens(Metric):
    """The ``size`` of what a ``lens`` sees, under its own notion or the one that is asked for."""

    lens: Lens
    size: Size

    def residuals(
        self, problem: Problem, binning: int | Binning | None = None, notion: str | Notion | None = None
    ) -> Residuals:
        """Return the residuals that it is the size of."""
        chosen = as_notion(notion if self.notion is None else self.notion, problem)
        lens = self.lens
        if binning is not None and not lens.has_own_bins:
            lens = lens.recut(as_binning(binning))
        return Residuals(problem, chosen, lens, self.size)

    def value(self, problem: Problem) -> float:
        """Return the size."""
        return error_through(problem, as_notion(self.notion, problem), self.lens, self.size)

    def plan(self, problem: Problem, binning: int | Binning | None = None, notion: str | Notion | None = None) -> Plan:
        """Ask for the bins, of a size that needs no rows; of others for cells in place of the scores, of rows in batches."""
        seen = self.residuals(problem, binning, notion)
        if seen.size.of_bins is not None:
            return Plan.of_cells([seen.table])
        return Plan.of_cells([fine_pair(problem, seen.notion)]) if is_unread(problem) else Plan()

    def of_sums(
        self,
        sums: Sums,
        problem: Problem,
        binning: int | Binning | None = None,
        notion: str | Notion | None = None,
    ) -> float:
        """Return the size."""
        return self.residuals(problem, binning, notion).with_sums(sums).value

    def null(self, problem: Problem, n_resamples: int, rng: np.random.Generator) -> tuple[float, FloatArray]:
        """Return the size, and those of drawn labels."""
        return self.residuals(problem).null(n_resamples, rng)

    def estimate(self, setting: Setting) -> Estimate:
        """Compare the size with the noise, which metrics share; or measure it anew on each draw."""
        seen = setting.residuals[self.name]
        if seen.has_fixed_cells:
            return seen.estimate(setting.noise[seen.table], setting.resampling)
        return seen.estimate_anew(setting.resampling, setting.progress)

    def difference(self, a: Problem, b: Problem, n_resamples: int, rng: np.random.Generator) -> Difference:
        """Return the difference; of a debiased metric that of the squares, with the standard error of the jackknife."""
        if not self.size.is_debiased:
            return super().difference(a, b, n_resamples, rng)
        (square, influence, times), (other, others, _) = (
            unbiased_square(self.residuals(problem)) for problem in (a, b)
        )
        n, influence = float(times.sum()), influence - others
        centred = influence - float(times @ influence) / n
        return Difference(square - other, float(np.sqrt((n - 1.0) / n * (times @ centred**2))))

    def _drawn_differences(self, a: Problem, b: Problem, n_resamples: int, rng: np.random.Generator) -> FloatArray:
        """Return the differences in fixed cells, where there are any: only the events of each are drawn."""
        both = self.residuals(a), self.residuals(b)
        if not all(seen.has_fixed_cells for seen in both):
            return super()._drawn_differences(a, b, n_resamples, rng)
        bootstrap = Bootstrap(a.weights, n_resamples, rng)
        first, second = (seen.bootstrapped(bootstrap) for seen in both)
        return np.asarray(first - second)

    def recut(self, binning: int | Binning) -> Self:
        """Return the metric over these bins; one whose lens has none is as it was."""
        if type(binning) is int:
            over: Self = _over(self, binning)
            return over
        return self.changed(lens=self.lens.recut(as_binning(binning)))

    @property
    def takes_binning(self) -> bool:
        """Whether it is a metric over the bins that are asked for."""
        return self.lens.has_bins and not self.lens.has_own_bins

    @property
    def has_own_bins(self) -> bool:
        """Whether it keeps its bins, whatever binning is asked for."""
        return self.lens.has_own_bins

    @property
    def draws_labels(self) -> bool:
        """Yes, in cells or anew."""
        return True


@lru_cache
def _over(metric: M, n_bins: int) -> M:
    """Return the metric over so many bins, which is asked for again and again."""
    return metric.changed(lens=metric.lens.recut(as_binning(n_bins)))


def point(
    name: str,
    symbol: str,
    source: str,
    *,
    binning: Binning | None = None,
    loss: str | Loss = "gap",
    norm: str | Norm = "l1",
    across: str | Norm | None = None,
    **facts: Any,
) -> ThroughLens:
    """Return the metric that is the point of `calibration_error` of this spelling, over its own bins or those asked for."""
    return ThroughLens(name, symbol, source, lens=InBins(binning), size=NormOfBins.of(loss, norm, across), **facts)
