"""The residuals of one problem, as a lens sees them under a notion: their size, its noise and its interval."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.problem import Problem, as_simplex
from calibrant.binning import Binning
from calibrant.lenses.base import Lens, Size
from calibrant.metrics.uncertainty.cells import Cells, Sizes, cells
from calibrant.metrics.uncertainty.deviations import bootstrap_deviations, consistent_deviations, labels_drawn
from calibrant.metrics.uncertainty.estimate import Estimate, Resampling, least_pvalue_of, pvalue_of
from calibrant.metrics.uncertainty.noise import Noise
from calibrant.metrics.uncertainty.redrawn import Progress, Redrawn, redrawn, unwatched
from calibrant.notions import Notion
from calibrant.sums import BinnedProblem, Sums, cells_of
from calibrant.sums.draws import Bootstrap


def error_through(problem: Problem, notion: Notion, lens: Lens, size: Size) -> float:
    """Return the size of what a lens sees of a valid problem; 0 where the notion finds no row to speak of."""
    if size.of_bins is not None:
        return error_of(size.of_bins, cells_of(problem, notion, lens.cells(problem, notion)))
    seen = [(binary, lens(binary)) for binary in notion.split(problem) if binary.size > 0]
    return size.of_problems(seen) if seen else 0.0


def error_of(of_bins: Callable[[Sequence[BinnedProblem]], float], problems: Sequence[BinnedProblem]) -> float:
    """Return the size of bins that were summed; 0 where the notion finds no row to speak of."""
    held = [one for one in problems if np.count_nonzero(one.bins.count)]
    return of_bins(held) if held else 0.0


@dataclass(frozen=True, eq=False)
class Residuals:
    """The residuals of a problem, seen through a lens under a notion, and their ``size``: a calibration error.

    Where the bins depend on the outcomes there are no fixed cells, and a loss that is any function is no size of deviations:
    then the error is measured anew on each draw of labels. ``sums`` are those of the problem, where they are known already.
    """

    problem: Problem
    notion: Notion
    lens: Lens
    size: Size
    sums: Sums | None = None

    def with_sums(self, sums: Sums) -> Residuals:
        """Return the same with sums that were scanned for several metrics; one that needs the rows is as it was."""
        return self if self.size.of_bins is None else replace(self, sums=sums)

    @cached_property
    def value(self) -> float:
        """The error."""
        if self.sums is not None and self.size.of_bins is not None:
            return error_of(self.size.of_bins, self.sums.of(*self.table))
        return error_through(self.problem, self.notion, self.lens, self.size)

    @cached_property
    def table(self) -> tuple[Notion, Binning]:
        """Notion and binning of the cells in which noise is drawn."""
        return self.notion, self.lens.cells(self.problem, self.notion)

    @property
    def has_fixed_cells(self) -> bool:
        """Whether it is the size of deviations of cells that stay where they are."""
        return self.size.is_of_deviations and not self.table[1].uses_outcomes

    @property
    def takes_cells(self) -> bool:
        """Whether value and noise are had from cells in place of scores: without bins, where each row stands in one problem."""
        return self.has_fixed_cells and self.notion.one_score_a_row and not self.lens.has_bins

    def cells(self) -> Cells:
        """Return the cells."""
        return cells(as_simplex(self.problem), *self.table)

    def sizes(self, table: Cells) -> Sizes:
        """Return how to take the size of deviations of the cells."""
        return table.sizes(self.lens, self.size)

    def null(self, n_resamples: int, rng: np.random.Generator) -> tuple[float, FloatArray]:
        """Return the error, and its values with labels that the forecast drew, shape (n_resamples,).

        The value is the one that compares with the draws: through a lens, the size in groups of neighbouring scores.
        """
        if not self.has_fixed_cells:
            return self.value, self._redrawn(n_resamples, rng)
        simplex = as_simplex(self.problem)
        table = self.cells()
        labels = labels_drawn(simplex, [table], n_resamples, rng)
        sizes = self.sizes(table)
        (deviations,) = consistent_deviations(simplex, [table], labels, labels)
        return float(sizes(table.deviation[None])[0]), sizes(deviations)

    def bootstrapped(self, bootstrap: Bootstrap) -> FloatArray:
        """Return the errors of bootstrap samples, in fixed cells, shape (n_resamples,)."""
        table = self.cells()
        deviations = bootstrap_deviations(as_simplex(self.problem), table, bootstrap)
        return self.sizes(table)(table.deviation + deviations)

    def estimate(self, noise: Noise, resampling: Resampling) -> Estimate:
        """Compare the value with noise in fixed cells. The exact value replaces that in groups or the plug-in."""
        law = noise.law(self.sizes(noise.cells))
        floor = self.size.floor(law.null)
        found = replace(law.estimate(resampling.level, self.value), noise_floor=floor)
        if not self.size.is_debiased:
            return found
        lower, upper = found.interval
        return replace(found, lower=min(lower, self.value), upper=max(upper, self.value), debiased=self.value)

    def estimate_anew(self, resampling: Resampling, progress: Progress) -> Estimate:
        """Measure the error on each draw of labels; the interval is value -+ noise.

        That rests on the triangle inequality, which a share of rejections does not obey: such an error has no interval.
        """
        value, null = self.value, self._redrawn(resampling.n_resamples, resampling.rng, progress)
        floor, pvalue, least = float(null.mean()), pvalue_of(value, null), least_pvalue_of(null)
        if self.size.counts_rows:
            return Estimate(value, None, None, noise_floor=floor, pvalue=pvalue, least_pvalue=least)
        reach = float(np.abs(np.quantile(null, [resampling.level / 2.0, 1.0 - resampling.level / 2.0])).max())
        bottom = 0.0 if min(value, float(null.min())) >= 0.0 else -np.inf
        lower, upper = max(bottom, value - reach), value + reach
        return Estimate(value, lower, upper, noise_floor=floor, pvalue=pvalue, least_pvalue=least)

    def _redrawn(self, n_resamples: int, rng: np.random.Generator, progress: Progress = unwatched) -> FloatArray:
        def of(problem: Problem, notion: Notion) -> float:
            return error_through(problem, notion, self.lens, self.size)

        anew = Redrawn(of, as_simplex(self.problem), self.notion)
        return redrawn(anew, n_resamples, rng, progress)
