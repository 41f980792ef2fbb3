"""Metrics of a forecast with what is known of their uncertainty; and their values if the forecast were calibrated.

What is drawn is drawn once: metrics of the same notion and binning share their noise, and one draw of labels serves all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from calibrant._core.links import FloatArray
from calibrant._core.parameters import number, resamples
from calibrant._core.problem import BinaryProblem, Problem, as_simplex
from calibrant._core.registry import Entry
from calibrant._core.validation import DataOptions, as_problem
from calibrant.binning import Binning, EqualMass, as_binning
from calibrant.lenses.base import Size
from calibrant.metrics.cells import Cells, Noise, Sizes, cells, consistent_deviations, noise_of
from calibrant.metrics.error import calibration_error, general_error, lens_error
from calibrant.metrics.losses import (
    LOSSES,
    NORMS,
    Loss,
    Norm,
    PowerMean,
    as_loss,
    as_norm,
    debiased_squared_gap,
    gap,
    l1,
    l2,
    root,
    squared_gap,
)
from calibrant.metrics.redrawn import Progress, Redrawn, redrawn, unwatched
from calibrant.metrics.rejections.loss import BinTest
from calibrant.metrics.uncertainty import Estimate, Resampling, least_pvalue_of, mean_estimate, pvalue_of
from calibrant.notions import Notion, as_notion
from calibrant.sums.resampling import Bootstrap, ConsistentLabels, Rng, as_rng

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

    Where the bins depend on the outcomes there are no fixed cells, and a loss that is any function is no size of deviations:
    then ``of`` is the error of any problem and notion; it may be one that ``counts_rows``. The ``floor`` of a debiased error
    is made of the sizes of calibrated draws.
    """

    value: float
    notion: Notion
    binning: Binning
    sizes: Callable[[Cells], Sizes]
    floor: Callable[[FloatArray], float] | None = None
    of: Callable[[Problem, Notion], float] | None = None
    counts_rows: bool = False

    @property
    def is_debiased(self) -> bool:
        """Whether what chance adds is taken off the value."""
        return self.floor is not None

    @property
    def table(self) -> tuple[Notion, Binning]:
        """What the cells are made of."""
        return self.notion, self.binning

    @property
    def has_bins(self) -> bool:
        """Whether the cells are bins, or only groups in which a lens draws its noise."""
        return not isinstance(self.binning, Groups)


def point_of(entry: Entry, problem: Problem, binning: int | Binning, notion: str | Notion | None = None) -> Point:
    """Return the calibration error that a metric is, with ``notion`` and ``binning`` where it has none of its own."""
    chosen = as_notion(notion if entry.own_notion is None else entry.own_notion, problem)
    if entry.lens is not None and entry.size is not None:
        lens: Any = entry.lens
        size: Size = entry.size
        groups = Groups(max(FEWEST_GROUPS, MOST_GROUPS // chosen.n_parts(problem)))
        return Point(
            lens_error(problem, chosen, lens, size), chosen, groups, lambda table: table.seen_through(lens, size)
        )
    spelling = dict(entry.spelling or {})
    cut = as_binning(spelling.get("binning", binning))
    loss, norm = as_loss(spelling.get("loss", "gap")), as_norm(spelling.get("norm", "l1"))
    across = None if spelling.get("across") is None else as_norm(spelling["across"], "across")

    def of(problem: Problem, notion: Notion) -> float:
        return general_error(problem, notion, cut, loss, norm, across)

    floor = _floor_of(loss, norm, across)
    if cut.uses_outcomes or not (loss is gap or loss is squared_gap or floor is not None):
        sizes, counts_rows = lambda table: table.sizes(norm, across), isinstance(loss, BinTest)
        return Point(of(problem, chosen), chosen, cut, sizes, of=of, counts_rows=counts_rows)
    plain = norm if loss is gap else _of_squares(norm)
    return Point(of(problem, chosen), chosen, cut, lambda table: table.sizes(plain, across), floor)


def _of_squares(norm: Norm) -> Norm:
    return l2 if norm is root else lambda values, weights: norm(values**2, weights)


def _floor_of(loss: Loss, norm: Norm, across: Norm | None) -> Callable[[FloatArray], float] | None:
    """Return the noise floor of a debiased error: of calibrated draws without what chance adds on average."""
    if loss is not debiased_squared_gap or across is not None:
        return None
    if norm is root:
        return lambda null: float(np.mean(np.sqrt(np.maximum(null**2 - np.mean(null**2), 0.0))))
    return (lambda null: 0.0) if norm is l1 else None


def estimates(
    chosen: Sequence[Entry],
    problem: Problem,
    binning: int | Binning,
    resampling: Resampling,
    progress: Progress = unwatched,
    notion: str | Notion | None = None,
) -> dict[str, Estimate]:
    """Estimate each metric of a valid problem, by its name; ``notion`` is that of the metrics without one of their own."""
    simplex, bootstrap = as_simplex(problem), Bootstrap(problem.size, resampling.n_resamples, resampling.rng)
    points = {entry.name: point_of(entry, problem, binning, notion) for entry in chosen if _is_point(entry)}
    noise: dict[tuple[Notion, Binning], Noise] = {}
    for has_bins in (True, False):
        pairs = sorted({p.table for p in points.values() if p.has_bins == has_bins and p.of is None}, key=repr)
        if pairs:
            tables = [cells(simplex, one, cut) for one, cut in pairs]
            labels = ConsistentLabels(simplex.prob, resampling.n_resamples, resampling.rng)
            found = noise_of(simplex, tables, labels, progress(labels, len(labels)), None if has_bins else bootstrap)
            noise.update(zip(pairs, found, strict=True))

    def estimate(entry: Entry) -> Estimate:
        if (point := points.get(entry.name)) is not None:
            if point.of is not None:
                return _recut(point, Redrawn(point.of, simplex, point.notion), resampling, progress)
            law = noise[point.table].law(point.sizes(noise[point.table].cells))
            return _of_point(law.estimate(resampling.level), point, law.null)
        if entry.per_row is not None:
            return mean_estimate(entry.per_row(simplex), simplex.weight, bootstrap, level=resampling.level)
        assert entry.estimate is not None  # a metric is one of four things
        found: Estimate = entry.estimate(problem, resampling, **({"notion": notion} if entry.takes_notion else {}))
        return found

    return {entry.name: _within(entry, estimate(entry)) for entry in chosen}


def estimate_calibration_error(
    y_true: npt.ArrayLike,
    y_prob: npt.ArrayLike,
    *,
    notion: str | Notion | None = None,
    binning: int | Binning = 15,
    loss: str | Loss = "gap",
    norm: str | Norm = "l1",
    across: str | Norm | None = None,
    level: float = 0.05,
    n_resamples: int = 500,
    rng: Rng = 0,
    **data: Unpack[DataOptions],
) -> Estimate:
    """Calibration error of any spelling, with its interval, noise floor, p-value and value without bias.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one. Logits are declared with ``input="logit"``, never guessed.
    notion : str or Notion, optional
        What the statement speaks of; this and the next four say which error, as in `calibration_error`.
    binning : int or Binning, default=15
        How scores are cut; a number n means ``EqualWidth(n)``.
    loss : {"gap", "squared gap", "debiased squared gap", "binomial test", ...} or callable, default="gap"
        What is measured in each bin. "binomial test", "mid-p test", "clopper-pearson test" and "t-test" are percentages of
        rejected predictions: see `BinTest`.
    norm : {"l1", "l2", "l<p>", "root", "max"} or callable, default="l1"
        How the bins are put together.
    across : {"l1", "l2", "l<p>", "max"} or callable, optional
        How the problems of the notion are put together, if each has its own norm.
    level : float, default=0.05
        One minus the coverage of the interval, a fraction in (0, 1).
    n_resamples : int, default=500
        Resamples for interval and p-value; the smallest possible p-value is 1 / (n_resamples + 1).
    rng : numpy.random.Generator, int or None, default=0
        Source of randomness. The default makes two calls on the same data agree; None draws anew.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    Estimate
        ``value``, ``lower``, ``upper``, ``noise_floor``, ``pvalue``, ``debiased`` and ``detectable``; what `assess` states of a
        metric of this spelling.

    Notes
    -----
    How the interval is made, and how often it covers: docs/uncertainty.md. Where the bins depend on the outcomes, the loss is
    a function, or the debiased loss stands under another norm than "root" or "l1", the error is computed anew on
    labels drawn from the forecast: the interval is then the value -+ the noise of a calibrated forecast, and ``debiased`` and
    ``detectable`` are None. Percentages of rejected predictions have no interval, and ``lower`` and ``upper`` are None:
    they depend on the number of rows, and value -+ noise covered their mean over draws in 88 to 100 % of the data sets
    (docs/coverage.md).

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant import EqualMass, estimate_calibration_error
    >>> rng = np.random.default_rng(0)
    >>> prob = rng.dirichlet(np.ones(3), 1000)
    >>> label = [rng.choice(3, p=row) for row in prob]
    >>> found = estimate_calibration_error(label, prob, notion="top-2-label", binning=EqualMass(10), n_resamples=99)
    >>> found.lower <= found.debiased <= found.upper, found.pvalue > 0.05
    (True, True)
    """
    number("level", level, above=0.0, below=1.0, hint="For a 95 % interval pass level=0.05")
    resamples(n_resamples, hint="500 is usual")
    spelling = {"notion": notion, "binning": as_binning(binning), "loss": loss, "norm": norm, "across": across}
    highest = _highest(as_loss(loss), as_norm(norm), as_norm("l1" if across is None else across, "across"))
    entry = Entry(
        kind="metric",
        name="calibration-error",
        symbol="GCE",
        source="Matsubara et al. 2023",
        target=calibration_error,
        range=None if highest is None else (0.0, highest),
        spelling=spelling,
    )
    resampling = Resampling(float(level), int(n_resamples), as_rng(rng))
    return estimates([entry], as_problem(y_true, y_prob, **data), as_binning(binning), resampling)[entry.name]


def null_values(
    entry: Entry, problem: Problem, binning: int | Binning, n_resamples: int, rng: np.random.Generator
) -> tuple[float, FloatArray]:
    """Value of a calibration error, and its values with labels that the forecast drew, shape (n_resamples,).

    The value is the one that compares with the draws: through a lens, the size in groups of neighbouring scores.
    """
    simplex, point = as_simplex(problem), point_of(entry, problem, binning)
    if point.of is not None:
        error = Redrawn(point.of, simplex, point.notion)
        return point.value, redrawn(error, n_resamples, rng, unwatched, counts_rows=point.counts_rows)
    labels = ConsistentLabels(simplex.prob, n_resamples, rng)
    table = cells(simplex, point.notion, point.binning)
    sizes = point.sizes(table)
    (deviations,) = consistent_deviations(simplex, [table], labels, labels)
    return float(sizes(table.deviation[None])[0]), sizes(deviations)


def _recut(point: Point, error: Redrawn, resampling: Resampling, progress: Progress) -> Estimate:
    """Estimate an error that is computed anew for each draw of labels; the interval is value -+ noise.

    That rests on the triangle inequality, which a share of rejections does not obey: such an error has no interval.
    """
    null = redrawn(error, resampling.n_resamples, resampling.rng, progress, counts_rows=point.counts_rows)
    floor, pvalue, least = float(null.mean()), pvalue_of(point.value, null), least_pvalue_of(null)
    if point.counts_rows:
        return Estimate(point.value, None, None, noise_floor=floor, pvalue=pvalue, least_pvalue=least)
    reach = float(np.abs(np.quantile(null, [resampling.level / 2.0, 1.0 - resampling.level / 2.0])).max())
    bottom = 0.0 if min(point.value, float(null.min())) >= 0.0 else -np.inf
    return Estimate(
        value=point.value,
        lower=max(bottom, point.value - reach),
        upper=point.value + reach,
        noise_floor=floor,
        pvalue=pvalue,
        least_pvalue=least,
    )


def _highest(loss: Loss, *norms: Norm) -> float | None:
    """Return the norms of the highest loss in all bins; None if one of them is any function."""
    if not (isinstance(loss, BinTest) or loss in LOSSES.values()):
        return None
    highest = 100.0 if isinstance(loss, BinTest) else 1.0
    for norm in norms:
        if not (isinstance(norm, PowerMean) or norm in NORMS.values()):
            return None
        highest = norm(np.array([highest]), np.ones(1))
    return highest


def _is_point(entry: Entry) -> bool:
    return entry.spelling is not None or entry.lens is not None


def _of_point(estimate: Estimate, point: Point, null: FloatArray) -> Estimate:
    """Put in the exact value, in place of the one in groups or of the plug-in."""
    if point.floor is None:
        return replace(estimate, value=point.value)
    lower, upper = estimate.interval
    return replace(
        estimate,
        value=point.value,
        lower=min(lower, point.value),
        upper=max(upper, point.value),
        debiased=point.value,
        noise_floor=point.floor(null),
    )


def _within(entry: Entry, estimate: Estimate) -> Estimate:
    """Keep what is said of the truth to the range of the metric."""
    least, highest = (-np.inf, np.inf) if entry.range is None else entry.range
    return replace(
        estimate,
        lower=None if estimate.lower is None else max(estimate.lower, min(least, estimate.value)),
        upper=None if estimate.upper is None else min(estimate.upper, highest),
        detectable=None if estimate.detectable is None else min(estimate.detectable, highest),
    )
