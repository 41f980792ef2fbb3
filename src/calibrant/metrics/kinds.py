"""The three kinds of metrics: the size of what a lens sees, the mean of one value a row, and its own."""

from __future__ import annotations

import inspect
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from math import isfinite, log
from typing import Any, ClassVar, NamedTuple, Self, TypeVar

import numpy as np

from calibrant._core import rows as _rows
from calibrant._core.arrays import CLIP, ArrayLike, FloatArray, log_cost
from calibrant._core.border import DataOptions, as_problem, refuse_rows
from calibrant._core.checks import number, refuse, require, warn
from calibrant._core.registry import Entry, Kind, entries, find, named, register
from calibrant._core.rows import IntArray, Problem, SimplexProblem, Weights, as_simplex
from calibrant.binning import Binning, as_binning
from calibrant.lenses import InBins, Lens, Size
from calibrant.metrics import noise
from calibrant.metrics.bin_losses import Loss, Norm, NormOfBins
from calibrant.metrics.estimate import Estimate, Resampling, draws_from_sums, mean_estimate, most_of_none
from calibrant.notions import Notion, NotionLike, as_notion
from calibrant.sums.draws import Bootstrap, drawn_rows, labels_of, require_drawable
from calibrant.sums.reading import Predictions, Unread, is_unread, scan
from calibrant.sums.sums import Plan, RowScore, Sums, distinct, fine_pair

ALIKE = 1e-12
"""Differences up to which values are alike, but for rounding."""

# Log loss, and the events that a forecast called impossible and that occurred all the same


@dataclass(frozen=True)
class Impossible:
    """How many events occurred that had probability 0, in how many rows, and the probability as which each counts.

    A whole weight is that many rows, any other weight one.
    """

    events: int
    rows: int
    clip: float

    @property
    def note(self) -> str:
        """A few words beside a figure; nothing where there are no such events."""
        each = f", {-log(self.clip):.2f} nats each" if self.clip > 0 else ""
        return f"{self._share} with probability 0 for the true class{each}" if self.events else ""

    @property
    def _share(self) -> str:
        return f"{self.events} of {self.rows} row{'' if self.rows == 1 else 's'}"

    def __add__(self, other: Impossible) -> Impossible:
        """Add the rows of another problem."""
        return Impossible(self.events + other.events, self.rows + other.rows, self.clip)

    def warn(self, name: str = "") -> None:
        """Warn if there are any, of the forecast of that name."""
        if self.clip > 0:
            counts = f"Each counts as {self.clip:.1e} and costs {-log(self.clip):.2f} nats."
            after = f"{counts} With clip=0, log_loss and assess count them as infinite."
        else:
            after = f"The loss is infinite. Leave clip= out to count each as {CLIP:.1e}."
        if self.events:
            must = "log loss is finite only if the true class has a probability above 0"
            warn(f"{f'{name}: ' if name else ''}{must}; got probability 0 in {self._share}. {after}")


@dataclass(frozen=True)
class LogLoss:
    """Negative logarithm of the probability of the true class; of logits exactly, of probabilities raised to ``clip``."""

    clip: float = CLIP

    def __post_init__(self) -> None:
        hint = "0 gives infinity; leave it out for what scikit-learn does"
        object.__setattr__(self, "clip", number("clip", self.clip, least=0.0, below=0.5, hint=hint))

    def __call__(self, problem: SimplexProblem) -> FloatArray:
        """Return the loss of each row."""
        if problem.forecast.is_logit:
            return _rows.log_losses(problem.forecast.values, problem.label)
        return log_cost(problem.of_true, self.clip)

    def impossible_rows(self, problem: SimplexProblem) -> FloatArray:
        """Return one for each event of probability 0 that occurred, in parts of the weight of its row; logits give none."""
        if problem.forecast.is_logit:
            return np.zeros(problem.size)
        events = (problem.of_true <= 0).astype(np.float64)
        return events if problem.weights.is_unit else events / problem.weights.importance

    def impossible(self, problem: Problem) -> Impossible:
        """Count the events of probability 0 that occurred; logits give none."""
        whole, events = as_simplex(problem), 0.0
        if not whole.forecast.is_logit and whole.of_true.min(initial=1.0) <= 0.0:  # kept for the losses
            for simplex in map(as_simplex, _rows.in_blocks(problem)):
                events += float(self.impossible_rows(simplex) @ simplex.weight)
        return self.counted(events, problem.weights)

    def counted(self, events: float, weights: Weights) -> Impossible:
        """Return that so many events of probability 0 occurred in rows of these weights."""
        return Impossible(round(events), weights.n_rows, self.clip)


# What a metric is: one object, declared once, that answers for its value, its noise and its interval


Function = Callable[..., float]
F = TypeVar("F", bound=Function)

BinningLike = int | Binning | None
YTrue = ArrayLike | Predictions
YProb = ArrayLike | None
"""What a public function takes."""


class Difference(NamedTuple):
    """A metric of one forecast, or less that of another of the same rows, and its standard error.

    ``rows`` is the number of independent rows of which it is the mean; None where it is no mean over rows.
    """

    value: float
    error: float
    rows: float | None = None


def undeclared(*_: object, **__: object) -> float:
    """Stand in for the function of a metric that is not declared."""
    hint = "Decorate the function with the metric's declare, or pass target="
    refuse("a metric must have a function", got="none", hint=hint)


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
    fits_noise : bool
        Whether it is the larger the fewer the rows are, from noise alone, though it is no size of residuals.
    """

    kind: Kind = field(default="metric", init=False)
    target: Function = undeclared
    range: tuple[float, float] = (0.0, 1.0)
    higher_is_better: bool = False
    notion: NotionLike = None
    ideal: float | None = None
    may_be_undefined: bool = False
    fits_noise: bool = False

    def declare(self, function: F) -> F:
        """Register the metric with its public function; a decorator that returns the function."""
        register(self)
        # The function calls the metric: one of them has to be there first.
        object.__setattr__(self, "target", function)
        return function

    def of(self, y_true: YTrue, y_prob: YProb, data: DataOptions, **how: Any) -> float:
        """Return the metric of labels and a forecast."""
        return self.value(as_problem(y_true, y_prob, **data), **how)

    # What it answers

    @abstractmethod
    def value(self, problem: Problem) -> float:
        """Return the metric of a problem; some kinds know ways that are not those of the declaration."""

    @abstractmethod
    def null(self, problem: Problem, n_resamples: int, rng: np.random.Generator) -> tuple[float, FloatArray]:
        """Return the metric, and its values on labels that the forecast drew, shape (n_resamples,).

        The value is the one that compares with the draws.
        """

    @abstractmethod
    def estimate(self, setting: noise.Setting) -> Estimate:
        """Return the metric with its interval and what else is known."""

    def plan(self, problem: Problem, binning: BinningLike = None, notion: NotionLike = None) -> Plan:
        """Return what a scan of the problem must leave for the value; nothing where the value needs the rows.

        Notion and bins are its own, and where it has none those asked for.
        """
        return Plan()

    def of_sums(self, sums: Sums, problem: Problem, binning: BinningLike = None, notion: NotionLike = None) -> float:
        """Return the value from sums of the problem that hold all that `plan` asks for."""
        return self.value(problem)

    def compared(self, problem: Problem) -> float:
        """Return what two forecasts are compared by: the value, or where there is an ideal one the distance from it."""
        value = self.value(problem)
        return value if self.ideal is None else abs(value - self.ideal)

    def difference(self, a: Problem, b: Problem | None, n_resamples: int, rng: np.random.Generator) -> Difference:
        """Return the metric of a problem, less that of another of the same rows, with the standard error of the bootstrap."""
        must = "n_resamples must be at least 2 for a standard error"
        value, drawn = self._between(a, b), self._drawn_differences(a, b, n_resamples, rng)
        require(n_resamples >= 2, must, value=n_resamples, hint="1000 is usual")
        finite = drawn[np.isfinite(drawn)]
        fits = 2 * finite.size >= n_resamples and finite.size >= 2
        must = "metric must be a number on most samples of the rows"
        hint = "Choose a metric that is defined for them, or more rows"
        require(fits, must, given=f"{self.name} is on {finite.size} of {n_resamples}", hint=hint)
        return Difference(value, float(finite.std(ddof=1)))

    def _between(self, a: Problem, b: Problem | None) -> float:
        return apart(self.compared(a), 0.0 if b is None else self.compared(b))

    def _drawn_differences(
        self, a: Problem, b: Problem | None, n_resamples: int, rng: np.random.Generator
    ) -> FloatArray:
        """Return the differences on rows that are drawn; both forecasts of a row are in the sample or neither."""
        if a.weights.repeat_rows:
            require_drawable(total := a.weights.total)
            times = (rng.multinomial(int(total), a.weight / total).astype(np.float64) for _ in range(n_resamples))
            return np.array([self._between(a.weighted(drawn), b and b.weighted(drawn)) for drawn in times])
        rows = (rng.integers(0, a.size, a.size) for _ in range(n_resamples))
        return np.array([self._between(a.taken(drawn), b and b.taken(drawn)) for drawn in rows])

    def row_differences(self, a: Problem, b: Problem) -> FloatArray | None:
        """Return by how much the values of the rows differ, shape (n,); None where it is no mean over rows."""
        return None

    def residuals(
        self, problem: Problem, binning: BinningLike = None, notion: NotionLike = None
    ) -> noise.Residuals | None:
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

    has_sums: ClassVar[bool] = False
    """Whether it is the mean of one value a row, whose interval is had from sums."""

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

    @cached_property
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

    draws_labels: ClassVar[bool] = False
    """Whether its p-value is that of as many draws as are asked for, whatever the data."""


def apart(one: float, other: float) -> float:
    """Return the difference of two figures; rounding makes none."""
    difference = one - other
    return 0.0 if abs(difference) <= ALIKE * min(abs(one), abs(other)) else difference


@dataclass(frozen=True, kw_only=True, eq=False)
class Own(Metric):
    """A metric with a function of its own: its value is what that returns, its interval what ``estimator`` makes.

    The estimator is a function of (problem, resampling), and of ``notion`` where the metric takes one. Where the function takes
    scores that are rounded to cells, of rows that are read in batches, ``of_cells`` returns the notion of a word.
    """

    estimator: Callable[..., Estimate] | None = None
    of_cells: Callable[[str | Notion | None, Problem], Notion] | None = None

    def plan(self, problem: Problem, binning: BinningLike = None, notion: NotionLike = None) -> Plan:
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

    def warn_impossible(self, problem: Problem, name: str = "") -> None:
        """Let the function say that a few rows rule it; where it is not defined, who asks for it says so."""
        if self.may_be_undefined:
            with warnings.catch_warnings(action="always", record=True) as said:
                is_number = not np.isnan(self.value(problem))
            for one in said if is_number else ():
                warn(f"{name}: {one.message}" if name else str(one.message))

    def null(self, problem: Problem, n_resamples: int, rng: np.random.Generator) -> tuple[float, FloatArray]:
        """Call the function with drawn labels."""
        simplex = as_simplex(problem)

        def of_draw(draw: IntArray) -> float:
            rows, label, weight = drawn_rows(simplex, draw)
            return self._called(problem if draw.ndim == 1 else problem.at(rows, Weights(weight)), label)

        return self.value(problem), np.array([of_draw(draw) for draw in labels_of(simplex, n_resamples, rng)])

    def of_sums(self, sums: Sums, problem: Problem, binning: BinningLike = None, notion: NotionLike = None) -> float:
        """Call the function, with the notion if it takes one."""
        return self._asked(problem, **({"notion": notion} if self.takes_notion and notion is not None else {}))

    def estimate(self, setting: noise.Setting) -> Estimate:
        """Call the estimator."""
        if self.estimator is None:
            none = f"{self.name} has none"
            refuse("metric must have an estimator for an interval", given=none, hint="Pass estimator= to Own")
        own = {"notion": setting.notion} if self.takes_notion else {}
        found = self.estimator(setting.problem, setting.resampling, **own)
        return replace(found, value=self._asked(setting.problem, **own)) if is_unread(setting.problem) else found

    def _asked(self, problem: Problem, **own: object) -> float:
        """Call the function with the labels and the forecast of a problem, which may be read in batches."""
        if is_unread(problem):
            return self.target(problem, None, **own)
        return self._called(problem, as_simplex(problem).label, **own)

    def _called(self, problem: Problem, label: IntArray, **own: object) -> float:
        """Call the function with labels as column numbers; one of somebody else has probabilities."""
        is_logit = problem.is_logit and self.estimator is not None
        values, form = (problem.values, {"input": "logit"}) if is_logit else (problem.as_given, {})
        return float(self.target(label, values, **form, **problem.weights.keyword, **own))


def metrics() -> Iterator[Metric]:
    """Iterate over all metrics, in the order of their names."""
    found: Any = entries("metric").values()
    return iter(found)


def metric_named(name: str) -> Metric:
    """Return the metric of that name, or raise a ValueError that names the nearest ones."""
    found: Any = find("metric", name)
    metric: Metric = found
    return metric


def as_metric(metric: str | Function, binning: int | Binning | None) -> Metric:
    """Return the registered metric of that name, or one of the function; a registered function is found by itself.

    Where a binning is given, it takes the place of the metric's own.
    """
    if isinstance(metric, str):
        found = metric_named(metric)
    elif isinstance(known := named(metric), Metric):
        found = known
    else:
        must, see = "metric must be a name or a function of (y_true, y_prob)", "See `calibrant list metrics`"
        require(callable(metric), must, value=metric, hint=see, error=TypeError)
        return Own(getattr(metric, "__name__", repr(metric)), "", "", target=metric)
    return found if binning is None else found.recut(as_binning(binning))


# A metric that is the mean of one value a row


@dataclass(frozen=True, kw_only=True, eq=False)
class MeanOfRows(Metric):
    """The weighted mean of what ``per_row``, a function of a `SimplexProblem`, gives for each row."""

    per_row: RowScore

    def value(self, problem: Problem) -> float:
        """Return the mean."""
        return self.of_sums(scan(problem, self.plan(problem)), problem)

    def plan(self, problem: Problem, binning: BinningLike = None, notion: NotionLike = None) -> Plan:
        """Ask for the sum of the values."""
        return Plan(scores=((self.name, self.losses),), powers=1)

    def of_sums(self, sums: Sums, problem: Problem, binning: BinningLike = None, notion: NotionLike = None) -> float:
        """Return the mean."""
        return sums.mean(self.name)

    def plan_of_estimate(self, problem: Unread) -> Plan:
        """Ask for sums of three powers of the values, of rows that are read in batches, and what else the value asks for."""
        head = as_simplex(problem.head())
        _, *others = self.plan(head).scores
        centred = noise.Centred.near(self.losses, head.at(slice(0, 4096)))
        return Plan(scores=((self.name, centred), *others))

    has_sums: ClassVar[bool] = True

    @property
    def _endless(self) -> str:
        return f"{self.name}: infinite"

    def null(self, problem: Problem, n_resamples: int, rng: np.random.Generator) -> tuple[float, FloatArray]:
        """Look the values of drawn labels up, each row's in each class."""
        simplex = as_simplex(problem)
        losses = self.by_class(simplex)
        each, drawn = np.arange(simplex.size), []
        for draw in labels_of(simplex, n_resamples, rng):
            rows, label, weight = drawn_rows(simplex, draw)
            drawn.append(weight @ losses[each[rows], label] / simplex.weights.total)
        return self.value(problem), np.array(drawn)

    def by_class(self, simplex: SimplexProblem) -> FloatArray:
        """Return the value that each row would have in each class, shape (n, K)."""
        columns = (np.full(simplex.size, j) for j in range(simplex.prob.shape[1]))
        return np.column_stack([self.losses(replace(simplex, label=column)) for column in columns])

    def estimate(self, setting: noise.Setting) -> Estimate:
        """Return the mean with the interval of a mean; of one row, which does not say how much rows vary, with none.

        Of values that are all alike the ends are those with as many values of other classes as rows like these may have, by
        Clopper and Pearson.
        """
        level, rows, problem = setting.resampling.level, 1.0, setting.problem
        if is_unread(problem):
            assert setting.sums is not None
            rows, found = setting.sums.rows, noise.estimate_of_sums(setting.sums, self.name, self._endless, level)
        else:
            losses, weights = self.losses(setting.simplex), setting.simplex.weights
            found = mean_estimate(losses, weights, setting.bootstrap, level=level)
            rows = weights.effective_rows if weights.n_rows > 1 else rows
        if rows == 1:
            return replace(found, lower=None, upper=None)
        if not isfinite(found.value) or np.subtract(*found.interval[::-1]) > ALIKE:
            return found
        simplex = as_simplex(problem.head()) if is_unread(problem) else setting.simplex
        each = self.by_class(simplex)
        ends = np.average([each.min(axis=1), each.max(axis=1)], axis=1, weights=simplex.weight)
        lower, upper = found.value + most_of_none(rows, level) * (ends - found.value)
        return replace(found, lower=float(lower), upper=float(upper))

    def difference(self, a: Problem, b: Problem | None, n_resamples: int, rng: np.random.Generator) -> Difference:
        """Return the mean difference of the rows, whose standard error needs no draws."""
        weights, difference = a.weights, self.losses(a) if b is None else self.row_differences(a, b)
        rows = weights.effective_rows
        mean = float((weights.values * difference).sum()) / weights.total  # @ rounds as arrays are aligned
        spread = float((weights.of_variance * (difference - mean) ** 2).sum()) * rows / max(rows - 1.0, 1.0)
        spread = spread if b is None else max(spread, self._spread_midway(as_simplex(a), as_simplex(b), spread))
        return Difference(mean, float(np.sqrt(spread)) / weights.total, rows)

    def _spread_midway(self, a: SimplexProblem, b: SimplexProblem, seen: float) -> float:
        """Return the variance of the summed differences if the truth lay midway; 0 where the rows themselves tell it.

        Midway is the mixture of both forecasts by which neither is better. A few rows that have not occurred, such as a rare
        event, may make most of the variance there: then the rows tell too little of it. They do where there are many of them,
        and where they vary by less than those rows allow.
        """
        weights, of_variance = a.weights, a.weights.of_variance
        misses = min(weights.values @ (1.0 - one.prob.max(axis=1)) for one in (a, b))
        many = misses * weights.effective_rows_per_weight > MANY_MISSES
        if many or weights.n_rows * a.classes.size**2 > MOST_MIDWAY or (a.label != b.label).any():
            return 0.0
        with np.errstate(invalid="ignore", over="ignore"):  # of infinite losses nothing is found
            each = self.by_class(a) - self.by_class(b)
            own, others = ((weights.values * (one.prob * each).sum(axis=1)).sum() for one in (a, b))
            if not own * others < 0.0:  # neither is better by its own lights
                return 0.0
            truth = (own * b.prob - others * a.prob) / (own - others)
            spread = (of_variance * (truth * each**2).sum(axis=1)).sum()
            of_rows = of_variance if weights.are_counts else of_variance**2
            few = (of_rows * (truth * each**4).sum(axis=1)).sum() / spread**2  # one by the number of rows that make it
        return float(spread) if few > 1.0 / FEW_MIDWAY and seen > spread * (1.0 - 2.0 * np.sqrt(few)) else 0.0

    def losses(self, problem: Problem) -> FloatArray:
        """Return the values of the rows."""
        losses, came = self.per_row(as_simplex(problem)), "Return an array of shape (n_samples,), without the mean"
        must = f"per_row of the metric {self.name!r} must give one number for each of the {problem.size} rows"
        require(np.shape(losses) == (problem.size,), must, got=f"shape {np.shape(losses)}", hint=came)
        return losses

    def row_differences(self, a: Problem, b: Problem) -> FloatArray:
        """Return the differences of the values of the rows; rounding makes none of 0.1 + 0.2 and 0.3."""
        difference = self.losses(a) - self.losses(b)
        difference[np.abs(difference) <= ALIKE] = 0.0
        return difference


MANY_MISSES = 128.0
"""Expected misses of either forecast from which on the rows tell the variance of their difference."""

MOST_MIDWAY = 1 << 31
"""Rows times squared classes up to which it is asked what the truth midway would do: some seconds."""

FEW_MIDWAY = 16.0
"""Rows that make a variance, from which on the rows tell it to a quarter."""


@dataclass(frozen=True, kw_only=True, eq=False)
class MeanLogLoss(MeanOfRows):
    """The mean log loss, which counts the events of probability 0 that occurred, and warns of them."""

    per_row: LogLoss = field(default_factory=LogLoss)

    def plan(self, problem: Problem, binning: BinningLike = None, notion: NotionLike = None) -> Plan:
        """Ask for the sum of the losses, and for the number of impossible events."""
        return Plan(scores=((self.name, self.losses), (self._impossible, self.per_row.impossible_rows)), powers=1)

    def of_sums(self, sums: Sums, problem: Problem, binning: BinningLike = None, notion: NotionLike = None) -> float:
        """Return the mean, and warn of impossible events."""
        self.per_row.counted(sums.total(self._impossible), problem.weights).warn()
        return sums.mean(self.name)

    def plan_of_estimate(self, problem: Unread) -> Plan:
        """Ask for the number of infinite losses as well, where there may be some."""
        plan = super().plan_of_estimate(problem)
        infinite = ((self._endless, partial(noise.endless, self.losses)),) if self.per_row.clip == 0.0 else ()
        return replace(plan, scores=(*plan.scores, *infinite))

    @property
    def _impossible(self) -> str:
        return f"{self.name}: events of probability 0"

    def impossible(self, problem: Problem, sums: Sums | None = None) -> Impossible | None:
        """Return the impossible events, from sums where they have counted them."""
        if sums is None or self._impossible not in dict(sums.plan.scores):
            return self.per_row.impossible(problem)
        return self.per_row.counted(sums.total(self._impossible), problem.weights)

    def clipped(self, clip: float) -> Self:
        """Return the log loss with this clip."""
        is_own = type(clip) is float and clip == self.per_row.clip
        return self if is_own else replace(self, per_row=LogLoss(clip))


# A metric that is the size of what a lens sees of the residuals, under a notion. Bins are a lens


@dataclass(frozen=True, kw_only=True, eq=False)
class ThroughLens(Metric):
    """The ``size`` of what a ``lens`` sees, under its own notion or the one that is asked for."""

    lens: Lens
    size: Size

    def residuals(self, problem: Problem, binning: BinningLike = None, notion: NotionLike = None) -> noise.Residuals:
        """Return the residuals that it is the size of."""
        chosen = as_notion(notion if self.notion is None else self.notion, problem)
        return noise.Residuals(
            problem, chosen, self.lens if binning is None else self.lens.over(as_binning(binning)), self.size
        )

    def value(
        self,
        problem: Problem,
        *,
        notion: NotionLike = None,
        binning: BinningLike = None,
        lens: Lens | None = None,
        size: Size | None = None,
    ) -> float:
        """Return the metric of a problem, under another notion, over other bins, through another lens or of another size."""
        through = lens or (self.lens if binning is None else self.lens.recut(as_binning(binning)))
        return noise.error_through(
            problem, as_notion(self.notion if notion is None else notion, problem), through, size or self.size
        )

    def plan(self, problem: Problem, binning: BinningLike = None, notion: NotionLike = None) -> Plan:
        """Ask for the bins, of a size that needs no rows; of others for cells in place of the scores, of rows in batches."""
        seen = self.residuals(problem, binning, notion)
        if seen.size.of_table is not None:
            return Plan.of_cells([seen.table])
        return Plan.of_cells([fine_pair(problem, seen.notion)]) if is_unread(problem) else Plan()

    def of_sums(self, sums: Sums, problem: Problem, binning: BinningLike = None, notion: NotionLike = None) -> float:
        """Return the size."""
        return self.residuals(problem, binning, notion).value_of(sums)

    def null(self, problem: Problem, n_resamples: int, rng: np.random.Generator) -> tuple[float, FloatArray]:
        """Return the size, and those of drawn labels."""
        return self.residuals(problem).null(n_resamples, rng)

    def estimate(self, setting: noise.Setting) -> Estimate:
        """Compare the size with the noise, which metrics share; or measure it anew on each draw."""
        seen = setting.residuals[self.name]
        if seen.has_fixed_cells:
            return seen.estimate(setting.noise[seen.table], setting.resampling, setting.sums)
        return seen.estimate_anew(setting.resampling, setting.progress, setting.sums)

    def difference(self, a: Problem, b: Problem | None, n_resamples: int, rng: np.random.Generator) -> Difference:
        """Return the difference; of a debiased metric that of the squares, with the standard error of the jackknife."""
        if not self.size.is_debiased:
            return super().difference(a, b, n_resamples, rng)
        square, influence, times = noise.unbiased_square(self.residuals(a))
        if b is not None:
            other, others, _ = noise.unbiased_square(self.residuals(b))
            square, influence = apart(square, other), influence - others
        n = float(times.sum())
        centred = influence - float(times @ influence) / n
        return Difference(square, float(np.sqrt((n - 1.0) / n * (times @ centred**2))))

    def _drawn_differences(
        self, a: Problem, b: Problem | None, n_resamples: int, rng: np.random.Generator
    ) -> FloatArray:
        """Return the differences in fixed cells, where there are any: only the events of each are drawn."""
        all_seen = [self.residuals(problem) for problem in (a, b) if problem is not None]
        if not all(seen.has_fixed_cells for seen in all_seen):
            return super()._drawn_differences(a, b, n_resamples, rng)
        bootstrap = Bootstrap(a.weights, n_resamples, rng)
        drawn, *others = (seen.bootstrapped(bootstrap) for seen in all_seen)
        return np.asarray(drawn - others[0]) if others else drawn

    def recut(self, binning: int | Binning) -> Self:
        """Return the metric over these bins; one whose lens has none is as it was."""
        return replace(self, lens=self.lens.recut(as_binning(binning)))

    @property
    def takes_binning(self) -> bool:
        """Whether it is a metric over the bins that are asked for."""
        return self.lens.has_bins and not self.lens.has_own_bins

    @property
    def has_own_bins(self) -> bool:
        """Whether it keeps its bins, whatever binning is asked for."""
        return self.lens.has_own_bins

    draws_labels: ClassVar[bool] = True


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


# Metrics of a forecast with their uncertainty


def estimates(
    chosen: Sequence[Metric],
    problem: Problem,
    binning: int | Binning,
    resampling: Resampling,
    progress: noise.Progress = noise.unwatched,
    notion: NotionLike = None,
    sums: Sums | None = None,
    known: Mapping[str, noise.Residuals] | None = None,
) -> dict[str, Estimate]:
    """Estimate each metric of a valid problem, by its name; ``notion`` is for the metrics that fix none.

    The ``sums``, where they are known already, are those of the plan of `plan_of`, and ``known`` its residuals.
    """
    if sums is None or known is None:
        plan, known = plan_of(chosen, problem, binning, notion)
        sums = scan(problem, plan)
    setting = noise.Setting(
        problem,
        as_simplex(problem),
        resampling,
        Bootstrap(problem.weights, resampling.n_resamples, resampling.rng),
        progress,
        notion,
        known,
        sums=sums,
    )
    setting.draw_noise()
    return {metric.name: within(metric.range, metric.estimate(setting)) for metric in chosen}


def plan_of(
    chosen: Sequence[Metric], problem: Problem, binning: int | Binning, notion: NotionLike
) -> tuple[Plan, dict[str, noise.Residuals]]:
    """Return what a scan must leave for the estimates, and the residuals that metrics are the size of, by their names.

    That is cells, and of rows that are read in batches what means need too.
    """
    found = [(metric.name, metric.residuals(problem, binning, notion)) for metric in chosen]
    known = {name: seen for name, seen in found if seen is not None}
    cells = [one.table for one in known.values() if one.size.of_table is not None or is_unread(problem)]
    plan = Plan.of_cells(cells, noise=draws_from_sums(problem))
    if not is_unread(problem):
        return plan, known
    for metric in chosen:
        _require_sums(metric, problem, binning, notion)
    fine = [pair for metric in chosen for pair in metric.plan(problem, binning, notion).cells]
    scores = [one for metric in chosen for one in metric.plan_of_estimate(problem).scores]
    return replace(plan, cells=tuple(distinct([*plan.cells, *fine])), scores=tuple(scores)), known


def is_of_sums(metric: Metric, problem: Problem, binning: int | Binning, notion: NotionLike) -> bool:
    """Whether an estimate of the metric is made of sums over cells, or over values of the rows."""
    seen = metric.residuals(problem, binning, notion)
    return metric.has_sums if seen is None else seen.size.of_table is not None and seen.has_fixed_cells


def _require_sums(metric: Metric, problem: Unread, binning: int | Binning, notion: NotionLike) -> None:
    """Refuse a metric that needs the rows, and weights, with which noise is drawn for each row."""
    seen = metric.residuals(problem, binning, notion)
    by_cells = metric.takes_cells if seen is None else seen.takes_cells
    if not (by_cells or is_of_sums(metric, problem, binning, notion)):
        refuse_rows(f"the interval of {metric.name!r}")
    if not problem.weights.is_unit:
        refuse_rows(f"the interval of {metric.name!r} of weighted rows")


def within(values: tuple[float, float], estimate: Estimate) -> Estimate:
    """Keep what is said of the truth to the range of the metric.

    The interval holds also where the figure of the rows is at a limit of that of their cells.
    """
    (least, highest), value, lower, upper = values, estimate.value, estimate.lower, estimate.upper
    if lower is not None and upper is not None and isinstance(value, _rows.Approximate) and isfinite(value.error):
        lower, upper = lower - (value - value.lower), upper + (value.upper - value)
    return replace(
        estimate,
        lower=None if lower is None else max(lower, min(least, value)),
        upper=None if upper is None else min(upper, highest),
        detectable=None if estimate.detectable is None else min(estimate.detectable, highest),
    )
