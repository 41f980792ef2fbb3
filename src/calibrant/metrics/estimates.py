"""Metrics of a forecast with what is known of their uncertainty; and their values if the forecast were calibrated.

What is drawn is drawn once: metrics of the same notion and binning share their noise, and one draw of labels serves all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calibrant._links import FloatArray
from calibrant._problem import BinaryProblem, IntArray, Problem, SimplexProblem, as_simplex
from calibrant._registry import Entry
from calibrant.binning import Binning, EqualMass, as_binning
from calibrant.lenses.base import Size
from calibrant.metrics.cells import Cells, Noise, Sizes, cells, consistent_deviations, noise_of
from calibrant.metrics.error import general_error, lens_error
from calibrant.metrics.losses import as_loss, as_norm, l2
from calibrant.metrics.uncertainty import Estimate, Resampling, mean_estimate, pvalue_of
from calibrant.notions import Notion, as_notion
from calibrant.resampling import Bootstrap, ConsistentLabels

MOST_GROUPS = 512
"""Groups of neighbouring scores, over all problems of a notion, in which the noise of a lens is drawn."""

FEWEST_GROUPS = 32
"""Groups of each problem, however many problems there are."""


@dataclass(frozen=True)
class Groups(Binning):
    """A group for each distinct score, or if these are too many groups of equal weight."""

    most: int

    def edges(self, problem: BinaryProblem) -> FloatArray:
        """Return 0 and the highest score of each group."""
        distinct = np.unique(problem.score)
        return np.append(0.0, distinct) if distinct.size <= self.most else EqualMass(self.most).edges(problem)


@dataclass(frozen=True)
class Point:
    """A calibration error of a problem: its value, and how it is the size of deviations of cells.

    Where the bins depend on the outcomes there are no fixed cells: then ``of`` is the error of any problem.
    """

    value: float
    notion: Notion
    binning: Binning
    sizes: Callable[[Cells], Sizes]
    is_debiased: bool = False
    of: Callable[[Problem], float] | None = None

    @property
    def table(self) -> tuple[Notion, Binning]:
        """What the cells are made of."""
        return self.notion, self.binning

    @property
    def has_bins(self) -> bool:
        """Whether the cells are bins, or only groups in which a lens draws its noise."""
        return not isinstance(self.binning, Groups)


def point_of(entry: Entry, problem: Problem, binning: int | Binning) -> Point:
    """Return the calibration error that a metric is, of a valid problem, with ``binning`` where it has none of its own."""
    if entry.lens is not None and entry.size is not None:
        lens: Any = entry.lens
        size: Size = entry.size
        notion = as_notion(entry.notion, problem)
        groups = Groups(max(FEWEST_GROUPS, MOST_GROUPS // _n_parts(notion, problem)))
        return Point(
            lens_error(problem, notion, lens, size), notion, groups, lambda table: table.seen_through(lens, size)
        )
    spelling = dict(entry.spelling or {})
    notion, cut = as_notion(spelling.get("notion"), problem), as_binning(spelling.get("binning", binning))
    loss, norm = as_loss(spelling.get("loss", "gap")), as_norm(spelling.get("norm", "l1"))
    across = None if spelling.get("across") is None else as_norm(spelling["across"])

    def of(problem: Problem) -> float:
        return general_error(problem, notion, cut, loss, norm, across)

    if cut.uses_outcomes:
        return Point(of(problem), notion, cut, lambda table: table.sizes(norm, across), of=of)
    value = of(problem)
    if spelling.get("loss", "gap") == "gap":
        return Point(value, notion, cut, lambda table: table.sizes(norm, across))
    return Point(value, notion, cut, lambda table: table.sizes(l2, across), is_debiased=True)


def estimates(
    chosen: Sequence[Entry],
    problem: Problem,
    binning: int | Binning,
    resampling: Resampling,
    progress: Callable[[Iterable[IntArray], int], Iterable[IntArray]] = lambda draws, total: draws,
) -> dict[str, Estimate]:
    """Estimate each metric of a valid problem, by its name."""
    simplex, bootstrap = as_simplex(problem), Bootstrap(problem.size, resampling.n_resamples, resampling.rng)
    points = {entry.name: point_of(entry, problem, binning) for entry in chosen if _is_point(entry)}
    noise: dict[tuple[Notion, Binning], Noise] = {}
    for has_bins in (True, False):
        pairs = sorted({p.table for p in points.values() if p.has_bins == has_bins and p.of is None}, key=repr)
        if pairs:
            tables = [cells(simplex, notion, cut) for notion, cut in pairs]
            labels = ConsistentLabels(simplex.prob, resampling.n_resamples, resampling.rng)
            smoothing = resampling.rng if has_bins else None
            draws = progress(labels, len(labels))
            found = noise_of(simplex, tables, bootstrap, labels, draws, smoothing)
            noise.update(zip(pairs, found, strict=True))

    def estimate(entry: Entry) -> Estimate:
        if (point := points.get(entry.name)) is not None:
            if point.of is not None:
                return _recut(point, point.of, simplex, resampling)
            law = noise[point.table].law(point.sizes(noise[point.table].cells))
            return _of_point(law.estimate(resampling.level), point, law.consistent[0])
        if entry.per_row is not None:
            return mean_estimate(entry.per_row(simplex), simplex.weight, bootstrap, level=resampling.level)
        assert entry.estimate is not None  # a metric is one of four things
        found: Estimate = entry.estimate(problem, resampling)
        return found

    return {entry.name: _within(entry, estimate(entry)) for entry in chosen}


def null_values(
    entry: Entry, problem: Problem, binning: int | Binning, n_resamples: int, rng: np.random.Generator
) -> tuple[float, FloatArray]:
    """Value of a calibration error, and its values with labels that the forecast drew, shape (n_resamples,).

    The value is the one that compares with the draws: through a lens, the size in groups of neighbouring scores.
    """
    simplex, point = as_simplex(problem), point_of(entry, problem, binning)
    labels = ConsistentLabels(simplex.prob, n_resamples, rng)
    if point.of is not None:
        return point.value, np.array([point.of(replace(simplex, label=label)) for label in labels])
    table = cells(simplex, point.notion, point.binning)
    sizes = point.sizes(table)
    (deviations,) = consistent_deviations(simplex, [table], labels, labels)
    return float(sizes(table.deviation[None])[0]), sizes(deviations)


def _recut(point: Point, of: Callable[[Problem], float], simplex: SimplexProblem, resampling: Resampling) -> Estimate:
    """Estimate an error whose bins are chosen anew for each draw of labels; the interval is value -+ noise."""
    labels = ConsistentLabels(simplex.prob, resampling.n_resamples, resampling.rng)
    null = np.array([of(replace(simplex, label=label)) for label in labels])
    reach = float(np.quantile(null, 1.0 - resampling.level / 2.0))
    return Estimate(
        value=point.value,
        lower=max(0.0, point.value - reach),
        upper=point.value + reach,
        noise_floor=float(null.mean()),
        pvalue=pvalue_of(point.value, null),
    )


def _is_point(entry: Entry) -> bool:
    return entry.spelling is not None or entry.lens is not None


def _n_parts(notion: Notion, problem: Problem) -> int:
    return sum(1 for _ in notion.parts(as_simplex(problem).prob))


def _of_point(estimate: Estimate, point: Point, null: FloatArray) -> Estimate:
    """Put in the exact value, in place of the one in groups or of the plug-in."""
    changes: dict[str, Any] = {
        "value": point.value,
        "lower": min(estimate.lower, point.value),
        "upper": max(estimate.upper, point.value),
        "debiased": None if estimate.debiased is None else min(estimate.debiased, point.value),
    }
    if point.is_debiased:
        bias = float(np.mean(null**2))
        floor = float(np.mean(np.sqrt(np.maximum(null**2 - bias, 0.0))))
        changes |= {"debiased": point.value, "noise_floor": floor}
    return replace(estimate, **changes)


def _within(entry: Entry, estimate: Estimate) -> Estimate:
    """Keep what is said of the truth to the range of the metric."""
    highest = np.inf if entry.range is None else entry.range[1]
    return replace(
        estimate,
        upper=max(min(estimate.upper, highest), estimate.value),
        detectable=None if estimate.detectable is None else min(estimate.detectable, highest),
    )
