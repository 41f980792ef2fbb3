"""What a test measures with: a registered metric, whose draws are fast, or any function of labels and forecast."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.problem import BinaryProblem, IntArray, Problem, as_simplex, is_unit_weight
from calibrant._core.registry import Entry, find, named
from calibrant.binning import Binning, EqualWidth, as_binning
from calibrant.metrics.estimates import Point, null_values, point_of
from calibrant.metrics.log_losses import warn_impossible
from calibrant.sums.resampling import ConsistentLabels

Function = Callable[..., float]

BINNING = EqualWidth(15)
"""How scores are cut where neither the metric nor the caller says how."""


@dataclass(frozen=True)
class Measure:
    """A metric; ``entry`` is what the registry knows of it, None of a function from outside."""

    function: Function
    entry: Entry | None

    @property
    def name(self) -> str:
        """What it is called."""
        return self.entry.name if self.entry else getattr(self.function, "__name__", repr(self.function))

    @property
    def is_error(self) -> bool:
        """Whether it is the size of residuals, in bins or through a lens."""
        return self.entry is not None and (self.entry.spelling is not None or self.entry.lens is not None)

    def point(self, problem: Problem) -> Point:
        """Return the calibration error that it is of a problem."""
        assert self.entry is not None  # only a registered metric is known to be an error
        return point_of(self.entry, problem, BINNING)

    def losses(self, problem: Problem) -> FloatArray | None:
        """Return what each class, if it comes, adds to a metric that is a mean over rows, shape (n, K); of others None."""
        if self.entry is None or self.entry.per_row is None:
            return None
        simplex = as_simplex(problem)
        per_row = self.entry.per_row
        columns = range(simplex.prob.shape[1])
        return np.column_stack([per_row(replace(simplex, label=np.full(simplex.size, j))) for j in columns])

    def value(self, problem: Problem) -> float:
        """Return the metric of a problem."""
        if self.is_error:
            return self.point(problem).value
        simplex = as_simplex(problem)
        if self.entry is not None and self.entry.per_row is not None:
            warn_impossible(self.entry.per_row, problem)
            return float(np.average(self.entry.per_row(simplex), weights=simplex.weight))
        return self._called(problem, simplex.label)

    def null(self, problem: Problem, n_resamples: int, rng: np.random.Generator) -> tuple[float, FloatArray]:
        """Return the metric, and its values on labels that the forecast drew, shape (n_resamples,)."""
        if self.entry is not None and self.is_error:
            return null_values(self.entry, problem, BINNING, n_resamples, rng)
        simplex = as_simplex(problem)
        labels = ConsistentLabels(simplex.prob, n_resamples, rng)
        if (losses := self.losses(problem)) is not None:
            rows, share = np.arange(simplex.size), simplex.weight / simplex.weight.sum()
            return self.value(problem), np.array([share @ losses[rows, label] for label in labels])
        return self.value(problem), np.array([self._called(problem, label) for label in labels])

    def _called(self, problem: Problem, label: IntArray) -> float:
        """Call the function with labels as column numbers."""
        prob = problem.score if isinstance(problem, BinaryProblem) else problem.prob
        weight = {} if is_unit_weight(problem.weight) else {"sample_weight": problem.weight}
        return float(self.function(label, prob, **weight))


def as_measure(metric: str | Function, binning: int | Binning | None) -> Measure:
    """Return the registered metric of that name, or the function; a registered function is found by itself.

    Where a binning is given, it takes the place of the metric's own.
    """
    if isinstance(metric, str):
        entry = find("metric", metric)
    elif callable(metric):
        known = named(metric)
        if known is None or known.kind != "metric":
            return Measure(metric, None)
        entry = known
    else:
        raise TypeError(
            f"metric must be a name or a function of (y_true, y_prob); got {metric!r}. See `calibrant list metrics`."
        )
    if binning is not None and entry.spelling is not None:
        entry = replace(entry, spelling={**entry.spelling, "binning": as_binning(binning)})
    return Measure(entry.target, entry)
