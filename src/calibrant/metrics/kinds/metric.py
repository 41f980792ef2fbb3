"""What a metric is: one object, declared once, that answers for its value, its noise and its interval.

There are three kinds: the size of what a lens sees under a notion (`ThroughLens`; bins are a lens), the mean of one value a row
(`MeanOfRows`), and one that has its own function (`Own`). Nobody has to know which kind a metric is.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self, TypeVar, cast

import numpy as np
import numpy.typing as npt

from calibrant._core.links import FloatArray
from calibrant._core.parameters import refuse, require
from calibrant._core.problem import BinaryProblem, IntArray, Problem, as_simplex
from calibrant._core.registry import Entry, Kind, entries, find, named, register
from calibrant._core.validation import DataOptions, as_problem
from calibrant._core.weights import Weights
from calibrant.binning import Binning, as_binning
from calibrant.metrics.log_losses import Impossible
from calibrant.metrics.uncertainty.estimate import Estimate
from calibrant.metrics.uncertainty.residuals import Residuals
from calibrant.metrics.uncertainty.setting import Setting
from calibrant.notions import Notion
from calibrant.sums import Plan, Predictions, Sums
from calibrant.sums.draws import drawn_rows, labels_of, require_drawable
from calibrant.sums.recut import fine_pair
from calibrant.sums.unread import AsRead, Unread, is_unread

Function = Callable[..., float]
F = TypeVar("F", bound=Function)


class Difference(NamedTuple):
    """A metric of one forecast less that of another of the same rows, and its standard error.

    ``rows`` is the number of independent rows of which it is the mean; None where it is no mean over rows.
    """

    value: float
    error: float
    rows: float | None = None


def undeclared(*_: object, **__: object) -> float:
    """Stand in for the function of a metric that is not declared."""
    refuse(
        "a metric must have a function",
        got="none",
        hint="Decorate the function with the metric's declare, or pass target=",
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Metric(Entry, ABC):
    """A metric: what is known of it, and what it answers.

    Attributes
    ----------
    name, symbol, source, also : object
        As in `Entry`.
    target : callable
        The public function, of (y_true, y_prob) and keywords.
    range : tuple of float
        Lowest and highest value; may be infinite.
    higher_is_better : bool
        Whether a high value is good.
    notion : str or Notion, optional
        Its own notion, in place of the one that is asked for.
    ideal : float, optional
        The best value, where neither low nor high is good.
    may_be_undefined : bool
        Whether it is NaN of some data, with a warning.
    """

    kind: Kind = field(default="metric", init=False)
    target: Function = undeclared
    range: tuple[float, float] = (0.0, 1.0)
    higher_is_better: bool = False
    notion: str | Notion | None = None
    ideal: float | None = None
    may_be_undefined: bool = False

    def declare(self, function: F) -> F:
        """Register the metric with its public function; a decorator that returns the function."""
        register(self)
        # The function calls the metric: one of them has to be there first.
        object.__setattr__(self, "target", function)
        return function

    def of(
        self, y_true: npt.ArrayLike | Predictions, y_prob: npt.ArrayLike | None, data: DataOptions, **changes: Any
    ) -> float:
        """Return the metric of labels and a forecast, with some of its attributes changed."""
        return self.changed(**changes).value(as_problem(y_true, y_prob, **data))

    def changed(self, **changes: Any) -> Self:
        """Return the metric with some of its attributes changed, as `replace` does, which is slow for so many."""
        if all(value is getattr(self, name) for name, value in changes.items()):
            return self
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__, **changes)
        return made

    # What it answers

    @abstractmethod
    def value(self, problem: Problem) -> float:
        """Return the metric of a problem."""

    @abstractmethod
    def null(self, problem: Problem, n_resamples: int, rng: np.random.Generator) -> tuple[float, FloatArray]:
        """Return the metric, and its values on labels that the forecast drew, shape (n_resamples,).

        The value is the one that compares with the draws.
        """

    @abstractmethod
    def estimate(self, setting: Setting) -> Estimate:
        """Return the metric with its interval and what else is known."""

    def plan(self, problem: Problem, binning: int | Binning | None = None, notion: str | Notion | None = None) -> Plan:
        """Return what a scan of the problem must leave for the value; nothing where the value needs the rows.

        Notion and bins are its own, and where it has none those asked for.
        """
        return Plan()

    def of_sums(
        self,
        sums: Sums,
        problem: Problem,
        binning: int | Binning | None = None,
        notion: str | Notion | None = None,
    ) -> float:
        """Return the value from sums of the problem that hold all that `plan` asks for."""
        return self.value(problem)

    def compared(self, problem: Problem) -> float:
        """Return what two forecasts are compared by: the value, or where there is an ideal one the distance from it."""
        value = self.value(problem)
        return value if self.ideal is None else abs(value - self.ideal)

    def difference(self, a: Problem, b: Problem, n_resamples: int, rng: np.random.Generator) -> Difference:
        """Return the difference of the metrics of two problems of the same rows, with the standard error of the bootstrap."""
        value = self.compared(a) - self.compared(b)
        return Difference(value, self._spread(self._drawn_differences(a, b, n_resamples, rng), n_resamples))

    def _drawn_differences(self, a: Problem, b: Problem, n_resamples: int, rng: np.random.Generator) -> FloatArray:
        """Return the differences on rows that are drawn; both forecasts of a row are in the sample or neither."""
        if a.weights.repeat_rows:
            require_drawable(total := a.weights.total)
            times = (rng.multinomial(int(total), a.weight / total).astype(np.float64) for _ in range(n_resamples))
            return np.array([self.compared(a.weighted(drawn)) - self.compared(b.weighted(drawn)) for drawn in times])
        rows = (rng.integers(0, a.size, a.size) for _ in range(n_resamples))
        return np.array([self.compared(a.taken(drawn)) - self.compared(b.taken(drawn)) for drawn in rows])

    def _spread(self, draws: FloatArray, n_resamples: int) -> float:
        must = "n_resamples must be at least 2 for a standard error"
        require(n_resamples >= 2, must, value=n_resamples, hint="1000 is usual")
        finite = draws[np.isfinite(draws)]
        require(
            2 * finite.size >= n_resamples and finite.size >= 2,
            "metric must be a number on most samples of the rows",
            given=f"{self.name} is on {finite.size} of {n_resamples}",
            hint="Choose a metric that is defined for them, or more rows",
        )
        return float(finite.std(ddof=1))

    def losses(self, problem: Problem) -> FloatArray | None:
        """Return the values of the rows, shape (n,), of which it is the mean; None where it is no mean over rows."""
        return None

    def residuals(
        self, problem: Problem, binning: int | Binning | None = None, notion: str | Notion | None = None
    ) -> Residuals | None:
        """Return the residuals of a problem that it is the size of; None where it is no such size.

        Notion and bins are its own, and where it has none those asked for.
        """
        return None

    def impossible(self, problem: Problem, sums: Sums | None = None) -> Impossible | None:
        """Return the events of probability 0 that occurred, where it minds them; the sums may have counted them."""
        return None

    def plan_of_estimate(self, problem: Unread) -> Plan:
        """Return what sums an estimate needs beyond those of the cells, of rows that are read in batches."""
        return Plan()

    def warn_impossible(self, problem: Problem, name: str = "") -> None:
        """Warn of events of probability 0 that occurred, of the forecast of that name, where it minds them."""
        if (found := self.impossible(problem)) is not None:
            found.warn(name)

    @property
    def has_sums(self) -> bool:
        """Whether it is the mean of one value a row, whose interval is had from sums."""
        return False

    @property
    def takes_cells(self) -> bool:
        """Whether its interval is had from cells in place of scores, though it is no size of residuals."""
        return False

    # What may be changed, and what may be asked for

    def recut(self, binning: int | Binning) -> Self:
        """Return the metric over other bins, in place of its own; one without bins is as it was."""
        return self

    def clipped(self, clip: float) -> Self:
        """Return the metric with this least probability that counts; one that clips nothing is as it was."""
        return self

    @property
    def unit(self) -> str:
        """What it is counted in, "%" of one whose range ends at 100."""
        return "%" if self.range == (0.0, 100.0) else ""

    @property
    def takes_notion(self) -> bool:
        """Whether it is a metric of the notion that is asked for."""
        return self.notion is None and "notion" in inspect.signature(self.target).parameters

    @property
    def takes_binning(self) -> bool:
        """Whether it is a metric over the bins that are asked for."""
        return False

    @property
    def has_own_bins(self) -> bool:
        """Whether it keeps its bins, whatever binning is asked for."""
        return False

    @property
    def draws_labels(self) -> bool:
        """Whether its p-value is that of as many draws as are asked for, whatever the data."""
        return False


@dataclass(frozen=True, kw_only=True, eq=False)
class Own(Metric):
    """A metric with a function of its own: its value is what that returns, its interval what ``estimator`` makes.

    The estimator is a function of (problem, resampling), and of ``notion`` where the metric takes one. Where the function takes
    scores that are rounded to cells, of rows that are read in batches, ``of_cells`` returns the notion of a word.
    """

    estimator: Callable[..., Estimate] | None = None
    of_cells: Callable[[str | Notion | None, Problem], Notion] | None = None

    def plan(self, problem: Problem, binning: int | Binning | None = None, notion: str | Notion | None = None) -> Plan:
        """Ask for cells in place of the scores, of rows that are read in batches, if it can be computed from them."""
        if self.of_cells is None or not is_unread(problem):
            return Plan()
        return Plan.of_cells([fine_pair(problem, self.of_cells(notion, problem))])

    @property
    def takes_cells(self) -> bool:
        """Whether the estimator takes cells in place of scores."""
        return self.of_cells is not None

    def value(self, problem: Problem) -> float:
        """Call the function."""
        return self._asked(problem)

    def null(self, problem: Problem, n_resamples: int, rng: np.random.Generator) -> tuple[float, FloatArray]:
        """Call the function with drawn labels."""
        simplex = as_simplex(problem)

        def of_draw(draw: IntArray) -> float:
            rows, label, weight = drawn_rows(simplex, draw)
            return self._called(problem if draw.ndim == 1 else problem.at(rows, Weights(weight)), label)

        return self.value(problem), np.array([of_draw(draw) for draw in labels_of(simplex, n_resamples, rng)])

    def of_sums(
        self,
        sums: Sums,
        problem: Problem,
        binning: int | Binning | None = None,
        notion: str | Notion | None = None,
    ) -> float:
        """Call the function, with the notion if it takes one."""
        own = {"notion": notion} if self.takes_notion and notion is not None else {}
        return self._asked(problem, **own)

    def estimate(self, setting: Setting) -> Estimate:
        """Call the estimator."""
        if self.estimator is None:
            refuse(
                "metric must have an estimator for an interval",
                given=f"{self.name} has none",
                hint="Pass estimator= to Own",
            )
        own = {"notion": setting.notion} if self.takes_notion else {}
        found = self.estimator(setting.problem, setting.resampling, **own)
        return replace(found, value=self._asked(setting.problem, **own)) if is_unread(setting.problem) else found

    def _asked(self, problem: Problem, **own: object) -> float:
        """Call the function with the labels and the forecast of a problem, which may be read in batches."""
        if is_unread(problem):
            return self.target(AsRead(problem), None, **own)
        return self._called(problem, as_simplex(problem).label, **own)

    def _called(self, problem: Problem, label: IntArray, **own: object) -> float:
        """Call the function with labels as column numbers."""
        prob = problem.as_given if isinstance(problem, BinaryProblem) else problem.forecast.as_given
        return float(self.target(label, prob, **problem.weights.keyword, **own))


def metrics() -> Iterator[Metric]:
    """Iterate over all metrics, in the order of their names."""
    return (cast(Metric, entry) for entry in entries("metric").values())


def metric_named(name: str) -> Metric:
    """Return the metric of that name, or raise a ValueError that names the nearest ones."""
    return cast(Metric, find("metric", name))


def as_metric(metric: str | Function, binning: int | Binning | None) -> Metric:
    """Return the registered metric of that name, or one of the function; a registered function is found by itself.

    Where a binning is given, it takes the place of the metric's own.
    """
    if isinstance(metric, str):
        found = metric_named(metric)
    elif not callable(metric):
        refuse(
            "metric must be a name or a function of (y_true, y_prob)",
            value=metric,
            hint="See `calibrant list metrics`",
            error=TypeError,
        )
    elif isinstance(known := named(metric), Metric):
        found = known
    else:
        return Own(getattr(metric, "__name__", repr(metric)), "", "", target=metric)
    return found if binning is None else found.recut(as_binning(binning))
