"""Log loss, and the events that a forecast called impossible and that occurred all the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, log

import numpy as np

from calibrant._links import CLIP, FloatArray, log_cost, log_prob_of_logit
from calibrant._parameters import number
from calibrant._problem import Problem, SimplexProblem, are_counts, as_simplex
from calibrant._warnings import warn

Losses = Callable[[SimplexProblem], FloatArray]
"""One value a row: what a score is the mean of."""


@dataclass(frozen=True)
class Clipped:
    """Rows whose true class has a probability of 0, and more whose probability is raised to ``clip``.

    Attributes
    ----------
    impossible, raised, rows : int
        Rows with probability 0; with another one below ``clip``; all rows. A whole weight is that many rows.
    clip : float
        The least probability that counts.
    """

    impossible: int
    raised: int
    rows: int
    clip: float

    @property
    def cost(self) -> float:
        """What such a row adds, in nats."""
        return -log(self.clip) if self.clip > 0 else inf

    @property
    def short(self) -> str:
        """A few words beside a figure, none where nothing is clipped."""
        each = f", {self.cost:.2f} nats each" if self.clip > 0 else ""
        if self.impossible:
            return f"{self.impossible} of {_rows(self.rows)} with probability 0 for the true class{each}"
        return f"{self.raised} of {_rows(self.rows)} below probability {self.clip:.1e}{each}" if self.raised else ""

    @property
    def sentence(self) -> str:
        """The same in full, for a warning; nothing where nothing is clipped."""
        unclipped = "Pass clip=0 to negative_log_likelihood or assess"
        if self.impossible:
            more = f" and a probability below {self.clip:.1e} in {self.raised} more" if self.raised else ""
            got = f"got probability 0 in {self.impossible} of {_rows(self.rows)}{more}"
            must = "log loss is finite only if the true class has a probability above 0"
            if not self.clip > 0:
                return f"{must}; {got}. The loss is infinite. Leave clip= out to count each as {CLIP:.1e}."
            return f"{must}; {got}. Each counts as {self.clip:.1e} and costs {self.cost:.2f} nats. {unclipped} for infinity."
        if self.raised:
            return (
                f"log loss takes probabilities of the true class of at least {self.clip:.1e} as they are; got less in "
                f"{self.raised} of {_rows(self.rows)}. Each counts as {self.clip:.1e} and costs {self.cost:.2f} nats. "
                f"{unclipped} to take them as they are."
            )
        return ""

    def __add__(self, other: Clipped) -> Clipped:
        """Add the rows of another problem."""
        total = (self.impossible + other.impossible, self.raised + other.raised, self.rows + other.rows)
        return Clipped(*total, self.clip)


@dataclass(frozen=True)
class LogLoss:
    """Negative logarithm of the probability of the true class; of logits exactly, of probabilities raised to ``clip``."""

    clip: float = CLIP

    def __post_init__(self) -> None:
        hint = "0 gives infinity; leave it out for what scikit-learn does"
        number("clip", self.clip, least=0.0, below=0.5, hint=hint)

    def __call__(self, problem: SimplexProblem) -> FloatArray:
        """Return the loss of each row."""
        rows = np.arange(problem.size)
        if problem.forecast.is_logit:
            losses: FloatArray = -log_prob_of_logit(problem.forecast.values)[rows, problem.label]
            return losses
        return log_cost(problem.forecast.values[rows, problem.label], self.clip)

    def clipped(self, problem: Problem) -> Clipped:
        """Count the rows of which the probability is not taken as it is; below a clip of the caller's own, only zeros."""
        simplex = as_simplex(problem)
        weight = simplex.weight if are_counts(simplex.weight) else np.ones(simplex.size)
        n_rows = round(float(weight.sum()))
        if simplex.forecast.is_logit:
            return Clipped(0, 0, n_rows, self.clip)
        prob = simplex.forecast.values[np.arange(simplex.size), simplex.label]
        low, none = prob < min(self.clip, CLIP), prob <= 0
        if self.clip > CLIP:
            low = none
        impossible = round(float(weight[none].sum()))
        return Clipped(impossible, round(float(weight[low & ~none].sum())), n_rows, self.clip)


def clipped_by(losses: object, problem: Problem) -> Clipped | None:
    """Return what a score clips; None of one that is no log loss."""
    return losses.clipped(problem) if isinstance(losses, LogLoss) else None


def warn_clipped(losses: object, problem: Problem, name: str = "") -> None:
    """Warn of the rows that a log loss clips, of the forecast of that name; any other score has nothing to say."""
    if (found := clipped_by(losses, problem)) is not None:
        warn_of(found, name)


def warn_of(clipped: Clipped, name: str = "") -> None:
    """Warn if there is something to say, of the forecast of that name."""
    if clipped.sentence:
        warn(f"{name}: {clipped.sentence}" if name else clipped.sentence)


def _rows(n: int) -> str:
    return "1 row" if n == 1 else f"{n} rows"
