"""What metrics are estimated on: the rows, what is asked for, and the noise that metrics share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from calibrant._core.problem import Problem, SimplexProblem
from calibrant.binning import Binning
from calibrant.metrics.uncertainty.cells import cells, draws_from_sums
from calibrant.metrics.uncertainty.deviations import labels_drawn
from calibrant.metrics.uncertainty.estimate import Resampling
from calibrant.metrics.uncertainty.noise import Noise, noise_of
from calibrant.metrics.uncertainty.redrawn import Progress, unwatched
from calibrant.metrics.uncertainty.residuals import Residuals
from calibrant.notions import Notion
from calibrant.sums import Sums
from calibrant.sums.draws import Bootstrap


@dataclass(frozen=True, eq=False)
class Setting:
    """A problem, in both forms; the level and number of draws; the ``notion`` of the metrics that fix none.

    Of the metrics that are the size of residuals ``residuals`` holds those of this problem, by their names, and ``sums`` the
    bins of those that need no more. Metrics of the same notion and cells share their ``noise``, and one draw of labels serves
    all.
    """

    problem: Problem
    simplex: SimplexProblem
    resampling: Resampling
    bootstrap: Bootstrap
    progress: Progress = unwatched
    notion: str | Notion | None = None
    residuals: Mapping[str, Residuals] = field(default_factory=dict)
    noise: dict[tuple[Notion, Binning], Noise] = field(default_factory=dict)
    sums: Sums | None = None

    def draw_noise(self) -> None:
        """Draw the noise of all residuals in fixed cells: first in bins, and then in the groups of other lenses."""
        simplex, n, rng = self.simplex, self.resampling.n_resamples, self.resampling.rng
        # A column has other roundings as two: where rows are placed in cells, sums have to be of the same numbers.
        known = self.sums if simplex is self.problem or draws_from_sums(simplex) else None
        for has_bins in (True, False):
            fixed = (
                seen for seen in self.residuals.values() if seen.has_fixed_cells and seen.lens.has_bins == has_bins
            )
            pairs = sorted({seen.table for seen in fixed}, key=repr)
            if pairs:
                tables = [cells(simplex, *pair, known).held for pair in pairs]
                labels = labels_drawn(simplex, tables, n, rng)
                draws = self.progress(labels, len(labels))
                found = noise_of(simplex, tables, labels, draws, None if has_bins else self.bootstrap)
                self.noise.update(zip(pairs, found, strict=True))
