"""Conditions such as ``ece.lower > 0.02`` under which a command fails. They are parsed, and nothing is evaluated."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from calibrant.assessment.table import Assessment
    from calibrant.significance.result import TestResult

FIELDS = ("value", "lower", "upper", "debiased", "noise_floor", "detectable", "pvalue")

NUMBER = r"([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"

GATE = re.compile(r"\s*([A-Za-z][A-Za-z0-9_-]*)(?:\.([A-Za-z_]+))?\s*(<=|>=|<|>)\s*" + NUMBER + r"\s*")

DRAWS = 1000
"""Draws behind a p-value of `calibrant test`, where no number is asked for."""

LAW_OF_MANY_ROWS = ("kernel",)
"""Tests that draw, unless there are very many rows: what they draw is known from what they found."""


@dataclass(frozen=True)
class Gate:
    """A condition on a figure of a metric: the command fails where it holds, and where the figure is NaN."""

    text: str
    metric: str
    field: str
    comparison: str
    number: float

    def require_possible(self, low: float, high: float, *, draws: int | None = None) -> None:
        """Refuse a condition that holds for every figure from ``low`` to ``high``, or for none.

        With ``draws`` the lower end is the smallest p-value of so many draws.
        """
        ends = [self._holds(end) for end in (low, high)]
        if not math.isfinite(low):
            ends[0] = self.comparison.startswith("<")
        if not math.isfinite(high):
            ends[1] = self.comparison.startswith(">")
        if ends[0] != ends[1]:
            return
        must = f"--fail-if must be a condition that can hold and can fail to hold; {self.text!r} "
        must += "always holds" if ends[0] else "can never hold"
        if draws is not None and 0 < self.number < 1:
            needed = draws_for(self.number, strictly=self.comparison in ("<", ">="))
            raise ValueError(
                f"{must}: the smallest p-value that {draws} draws can show is 1/{draws + 1}. Pass --resamples {needed} or more."
            )
        named = {"value": self.metric, "pvalue": f"the p-value of {self.metric}"}
        what = named.get(self.field, f"{self.field} of {self.metric}")
        raise ValueError(f"{must}: {what} is in [{low:.4g}, {high:.4g}]. Compare it with a number inside.")

    def fails(self, result: Assessment) -> str | None:
        """Return why the command fails by this condition; None where it does not."""
        figures = result[self.metric]
        found = getattr(figures, self.field)
        if found is None:
            others = [name for name in FIELDS if getattr(figures, name) is not None]
            raise ValueError(
                f"--fail-if needs a figure; {self.metric} has no {self.field}. Use its {', '.join(others)}."
            )
        if math.isnan(found):
            return f"{self.text}: {self.metric} is NaN on these rows, and NaN fails every gate"
        if self.field == "pvalue":
            least = figures.least_pvalue
            self.require_possible(least or 0.0, 1.0, draws=None if least is None else round(1 / least) - 1)
        return self.text if self._holds(found) else None

    def _holds(self, found: float) -> bool:
        return {
            "<": found < self.number,
            ">": found > self.number,
            "<=": found <= self.number,
            ">=": found >= self.number,
        }[self.comparison]


def parse_gate(text: str, n_resamples: int) -> Gate:
    """Parse ``METRIC[.FIELD] OP NUMBER``, and refuse what no figure can decide. Nothing is evaluated."""
    from calibrant._core.parameters import choice
    from calibrant.metrics.kinds.metric import metric_named

    match = GATE.fullmatch(text)
    if match is None or not math.isfinite(float(match[4])):
        raise ValueError(
            f"--fail-if must read METRIC[.FIELD] OP NUMBER, with a finite number; got {text!r}. For example 'ece > 0.05'."
        )
    metric, field, comparison, number = match.groups()
    if field is not None:
        choice(f"the figure of {metric} in --fail-if", field, FIELDS)
    known = metric_named(metric)
    gate = Gate(text.strip(), known.word_for(metric), field or "value", comparison, float(number))
    if gate.field != "pvalue":
        gate.require_possible(*known.range)
    if gate.field == "pvalue" and n_resamples > 0:
        drawn = known.draws_labels  # others say it of the estimate
        gate.require_possible(1 / (n_resamples + 1) if drawn else 0.0, 1.0, draws=n_resamples if drawn else None)
    return gate


def draws_for(level: float, *, strictly: bool, times: int = 1) -> int:
    """Return the smallest number of draws of which the least p-value, ``times`` a number, is the level, or below it."""

    def reached(draws: int) -> bool:
        least = times * (1 / (draws + 1))
        return least < level if strictly else least <= level

    about = max(1, math.floor(times / Fraction(level)) - 2)
    return next((draws for draws in range(about, about + 5) if reached(draws)), about + 5)  # a few, for rounding


def require_level(level: float, chosen: Iterable[str], n_resamples: int) -> None:
    """Refuse a level of ``--fail-below`` that some of the tests cannot go below, before anything is computed."""
    if not 0 < level < 1:
        raise ValueError(f"--fail-below must be a fraction in (0, 1); got {level:g}. 0.01 is usual.")
    names = list(chosen)
    drawn = [name for name in names if draws_labels(name) and name not in LAW_OF_MANY_ROWS]
    _require_reachable(level, drawn, len(names), n_resamples)


def require_found_level(level: float, results: Mapping[str, TestResult], n_resamples: int) -> None:
    """Refuse the level also for tests that turned out to draw."""
    drawn = [name for name, result in results.items() if result.least_pvalue is not None]
    _require_reachable(level, drawn, len(results), n_resamples)


def _require_reachable(level: float, drawn: list[str], n_tests: int, n_resamples: int) -> None:
    least = n_tests * (1 / (n_resamples + 1))
    if not drawn or least < level:
        return
    by_holm = f" of {n_tests} tests, by Holm's method," if n_tests > 1 else ""
    needed = draws_for(level, strictly=True, times=n_tests)
    raise ValueError(
        f"--fail-below must be a p-value that each test can go below; got {level:g}, and the smallest{by_holm} that "
        f"{n_resamples} draws can show is {n_tests}/{n_resamples + 1} = {least:.2g} ({', '.join(drawn)}). "
        f"Pass --resamples {needed} or more, or name tests with a law in formulas by --tests."
    )


def draws_labels(test: str) -> bool:
    """Whether a test draws labels unless it is told not to."""
    import inspect

    from calibrant._core.registry import find

    options = inspect.signature(find("test", test).target).parameters
    return "n_resamples" in options and options["n_resamples"].default is not None
