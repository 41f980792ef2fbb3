"""Log loss, and the events that a forecast called impossible and that occurred all the same."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, log

import numpy as np

from calibrant._core.by_row import log_losses
from calibrant._core.links import CLIP, FloatArray, log_cost
from calibrant._core.parameters import number
from calibrant._core.problem import Problem, SimplexProblem, as_simplex, row_blocks
from calibrant._core.warnings import warn
from calibrant._core.weights import Weights


@dataclass(frozen=True)
class Impossible:
    """How many events occurred that had probability 0, in how many rows, and the probability as which each counts.

    A whole weight is that many rows, any other weight one.
    """

    events: int
    rows: int
    clip: float

    @property
    def cost(self) -> float:
        """What each adds, in nats."""
        return -log(self.clip) if self.clip > 0 else inf

    @property
    def note(self) -> str:
        """A few words beside a figure; nothing where there are no such events."""
        each = f", {self.cost:.2f} nats each" if self.clip > 0 else ""
        return f"{self.events} of {_rows(self.rows)} with probability 0 for the true class{each}" if self.events else ""

    @property
    def warning(self) -> str:
        """The same in full."""
        must = "log loss is finite only if the true class has a probability above 0"
        got = f"got probability 0 in {self.events} of {_rows(self.rows)}"
        if self.clip > 0:
            counts = f"Each counts as {self.clip:.1e} and costs {self.cost:.2f} nats."
            return f"{must}; {got}. {counts} Pass clip=0 to log_loss or assess for infinity."
        return f"{must}; {got}. The loss is infinite. Leave clip= out to count each as {CLIP:.1e}."

    def __add__(self, other: Impossible) -> Impossible:
        """Add the rows of another problem."""
        return Impossible(self.events + other.events, self.rows + other.rows, self.clip)

    def warn(self, name: str = "") -> None:
        """Warn if there are any, of the forecast of that name."""
        if self.events:
            warn(f"{name}: {self.warning}" if name else self.warning)


@dataclass(frozen=True)
class LogLoss:
    """Negative logarithm of the probability of the true class; of logits exactly, of probabilities raised to ``clip``."""

    clip: float = CLIP

    def __post_init__(self) -> None:
        hint = "0 gives infinity; leave it out for what scikit-learn does"
        number("clip", self.clip, least=0.0, below=0.5, hint=hint)

    def __call__(self, problem: SimplexProblem) -> FloatArray:
        """Return the loss of each row."""
        if problem.forecast.is_logit:
            return log_losses(problem.forecast.values, problem.label)
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
        if whole.forecast.is_logit or whole.of_true.min(initial=1.0) > 0.0:  # kept for the losses
            return self.counted(events, problem.weights)
        for rows in row_blocks(problem):
            simplex = as_simplex(problem.at(rows))
            events += float(self.impossible_rows(simplex) @ simplex.weight)
        return self.counted(events, problem.weights)

    def counted(self, events: float, weights: Weights) -> Impossible:
        """Return that so many events of probability 0 occurred in rows of these weights."""
        return Impossible(round(events), weights.n_rows, self.clip)


def impossible_of(losses: object, problem: Problem) -> Impossible | None:
    """Return the impossible events that a score meets; None of one that is no log loss."""
    return losses.impossible(problem) if isinstance(losses, LogLoss) else None


def warn_impossible(losses: object, problem: Problem, name: str = "") -> None:
    """Warn of impossible events that occurred, of the forecast of that name; a score that is no log loss has nothing to say."""
    if (found := impossible_of(losses, problem)) is not None:
        found.warn(name)


def _rows(n: int) -> str:
    return "1 row" if n == 1 else f"{n} rows"
