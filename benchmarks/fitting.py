"""How calibrators race: each is fitted to the same rows and applied to the same others, in turns, and says how well it did.

A peer's function takes labels and probabilities and returns a `Method`: the call that fits, and the call that applies what was
fitted to other probabilities. Both are timed. What a peer wants its data to look like is made outside.
"""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from benchmarks.measure import OURS, Contender, installed, markdown

SECONDS_FOR_ONCE, SECONDS_FOR_FEW, FEW_ROUNDS = 20.0, 1.0, 3
WARM_UP_ROWS, WARM_UP_CLASSES = 200, 5
LEAST = 1e-12
"""Probabilities are raised to this before a logarithm: some methods say 0 of what then comes."""


@dataclass(frozen=True)
class Method:
    """A calibrator with the rows that it is fitted to: ``apply(fit(), other)`` gives calibrated probabilities."""

    fit: Callable[[], Any]
    apply: Callable[[Any, np.ndarray], Any]


@dataclass(frozen=True)
class Stage:
    """To fit calibrant's ``function``, or to apply it to ``times`` as many rows, after all that is compiled was loaded."""

    name: str
    function: str
    make: Callable[..., tuple[np.ndarray, np.ndarray]]
    classes: int
    rows: int
    times: int = 0

    def prepare(self, rows: int) -> Callable[[], Any]:
        from benchmarks.peers import calibrant

        prepared = getattr(calibrant, self.function)
        tiny = self.make(min(rows, WARM_UP_ROWS), min(self.classes, WARM_UP_CLASSES), seed=0)
        first = prepared(*tiny)
        first.apply(first.fit(), tiny[1])
        method = prepared(*self.make(rows, self.classes, seed=0))
        if not self.times:
            return method.fit
        fitted, (_, other) = method.fit(), self.make(self.times * rows, self.classes, seed=1)
        return lambda: method.apply(fitted, other)


@dataclass
class Run:
    """Seconds of each round, and the log loss on the rows that were fitted and on the others."""

    fitted_loss: float
    other_loss: float
    fit: list[float] = field(default_factory=list)
    apply: list[float] = field(default_factory=list)
    rounds: int = 0

    def ratio(self, ours: Self, what: str) -> str:
        """How many times as long as ours: median over the rounds."""
        theirs, mine = getattr(self, what), getattr(ours, what)
        if len(theirs) == 1:
            return _times(theirs[0] / statistics.median(mine)) + " (once)"
        return _times(statistics.median(t / m for t, m in zip(theirs, mine, strict=False)))


def log_loss(y: np.ndarray, prob: Any) -> float:
    """Mean log loss, of one column or a table; of two columns the second is the event."""
    prob = np.asarray(prob, dtype=np.float64)
    occurred = np.where(y == 1, prob, 1.0 - prob) if prob.ndim == 1 else prob[np.arange(len(y)), y]
    return float(-np.log(np.maximum(occurred, LEAST)).mean())


def loss_of_rows(y: np.ndarray, _: np.ndarray, calibrated: Any) -> float:
    """Log loss of what became of a forecast, whatever it was."""
    return log_loss(y, calibrated)


@dataclass(frozen=True)
class Fitting:
    """A section of the page: one method, fitted by calibrant and by peers.

    ``close``: how far a log loss on the fitted rows may lie above the least where the methods solve one convex problem, or
    None. Ours may not; a peer's that does is marked. ``agree``: how far the losses on the other rows may differ, or None.
    ``loss``: the log loss, of labels, the uncalibrated forecast and what `Method.apply` made of it; ``loss_name`` where it is
    another.
    """

    TITLE: str
    text: str
    contenders: tuple[Contender, ...]
    make: Callable[..., tuple[np.ndarray, np.ndarray]]
    size: tuple[int, ...]
    quick: tuple[int, ...]
    close: float | None = None
    agree: float | None = None
    loss: Callable[[np.ndarray, np.ndarray, Any], float] = loss_of_rows
    loss_name: str = "log loss"

    def tables(self, rounds: int, quick: bool) -> str:
        """Run the race and return its part of the page."""
        size = self.quick if quick else self.size
        warm_up = (min(WARM_UP_ROWS, size[0]), *(min(WARM_UP_CLASSES, classes) for classes in size[1:]))
        tiny, _ = installed(self.contenders, *self.make(*warm_up, seed=0))
        for method in tiny.values():
            method.apply(method.fit(), self.make(*warm_up, seed=1)[1])  # what is compiled is compiled here
        calls, skipped = installed(self.contenders, *self.make(*size, seed=0))
        runs = race(calls, self.make(*size, seed=0), self.make(*size, seed=1), rounds, self.loss)
        if not quick:
            self.check(runs)
        shape = " x ".join(f"{number:,}" for number in size)
        head = ["", "fit, s", "times ours", "apply, s", "times ours", f"{self.loss_name}, fitted rows", "other rows"]
        lines = [line(name + self.mark(run, runs[OURS]), run, runs[OURS]) for name, run in runs.items()]
        text = f"{shape}. {self.text}{self.of_marks}"
        return "\n".join([text, "", markdown(head, lines), "", *skipped]).rstrip()

    @property
    def of_marks(self) -> str:
        """What the mark means, for the text of the section."""
        if self.close is None:
            return ""
        above = f"has a {self.loss_name} on the fitted rows above ours by more than {self.close:g}"
        return f" One convex problem: (not converged) {above}."

    def mark(self, run: Run, ours: Run) -> str:
        """What stands behind the name of a peer that stopped before the least log loss."""
        stopped = self.close is not None and run.fitted_loss > ours.fitted_loss + self.close
        return " (not converged)" if stopped else ""

    def check(self, runs: dict[str, Run]) -> None:
        """Ours must solve the problem at least as well as they do, and come to the same."""
        ours = runs[OURS]
        for name, run in runs.items():
            if self.close is not None and ours.fitted_loss > run.fitted_loss + self.close:
                raise AssertionError(
                    f"{name} has the {self.loss_name} {run.fitted_loss!r}, calibrant {ours.fitted_loss!r}"
                )
            if self.agree is not None and abs(ours.other_loss - run.other_loss) > self.agree:
                raise AssertionError(
                    f"{name} has the {self.loss_name} {run.other_loss!r}, calibrant {ours.other_loss!r}"
                )


def race(
    methods: dict[str, Method],
    fitted: tuple[np.ndarray, np.ndarray],
    other: tuple[np.ndarray, np.ndarray],
    rounds: int,
    loss: Callable[[np.ndarray, np.ndarray, Any], float] = loss_of_rows,
) -> dict[str, Run]:
    """Run each once, then A B C A B C ...: a quick one ``rounds`` times, one that takes seconds three times.

    The first run is a warm-up, unless it took so long that it stays the only one.
    """
    runs = {}
    for name, method in methods.items():
        seconds, model = _timed(method.fit)
        again, prob = _timed(lambda method=method, model=model: method.apply(model, other[1]))
        runs[name] = Run(loss(*fitted, method.apply(model, fitted[1])), loss(*other, prob))
        runs[name].rounds = (
            0 if seconds + again > SECONDS_FOR_ONCE else rounds if seconds < SECONDS_FOR_FEW else FEW_ROUNDS
        )
        if not runs[name].rounds:
            runs[name].fit.append(seconds)
            runs[name].apply.append(again)
    for number in range(rounds):
        for name, method in methods.items():
            if number < runs[name].rounds:
                seconds, model = _timed(method.fit)
                runs[name].fit.append(seconds)
                runs[name].apply.append(_timed(lambda method=method, model=model: method.apply(model, other[1]))[0])
    return runs


def line(name: str, run: Run, ours: Run) -> list[str]:
    """A contender's line of the table."""
    fit, apply = (f"{statistics.median(seconds):.3g}" for seconds in (run.fit, run.apply))
    losses = [f"{loss:.6f}" for loss in (run.fitted_loss, run.other_loss)]
    return [name, fit, run.ratio(ours, "fit"), apply, run.ratio(ours, "apply"), *losses]


def _times(ratio: float) -> str:
    return f"{ratio:.1f}" if ratio < 100 else f"{ratio:.0f}"


def _timed(call: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result
