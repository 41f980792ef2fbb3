"""One event, and one or several forecasts of it by their names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from calibrant._core.parameters import distinct_names, require, some
from calibrant._core.problem import BinaryProblem, Problem
from calibrant._core.validation import as_problem
from calibrant.notions import Notion, as_notion


def events_of(
    y_true: npt.ArrayLike,
    y_prob: npt.ArrayLike | Mapping[str, npt.ArrayLike] | None,
    notion: str | Notion | None,
    data: Any,
) -> dict[str, BinaryProblem]:
    """Return the problem of each forecast by its name, of one event and the same rows; without a name it is "forecast"."""
    forecasts: Mapping[str, npt.ArrayLike | None] = y_prob if isinstance(y_prob, Mapping) else {"forecast": y_prob}
    some("y_prob", forecasts, "forecast", hint="Pass {'before': p, 'after': q}")
    distinct_names("forecasts", forecasts)
    problems = {str(name): event_of(as_problem(y_true, prob, **data), notion) for name, prob in forecasts.items()}
    first, *others = problems
    for name in others:
        _require_same_event(first, problems[first], name, problems[name])
    return problems


def _require_same_event(first: str, one: BinaryProblem, name: str, other: BinaryProblem) -> None:
    """Refuse a forecast of another event: shares of events and costs are those of the first."""
    same = np.array_equal(one.outcome, other.outcome) and np.array_equal(one.weight, other.weight)
    differ = int((one.outcome != other.outcome).sum()) if one.size == other.size else max(one.size, other.size)
    require(
        same,
        "there must be one event for all forecasts",
        got=f"{first!r} and {name!r}, whose events differ in {differ} of {one.size} rows",
        hint="Pass the forecasts one at a time",
    )


def event_of(problem: Problem, notion: str | Notion | None) -> BinaryProblem:
    """Return the one binary problem of a notion; by default that of the event of two classes."""
    require(
        notion is not None or problem.classes.size == 2,
        "y_prob must speak of one event",
        got=f"{problem.classes.size} classes",
        hint="Say which one: notion=OneVsRest(name), or notion='confidence' for accepting a prediction",
    )
    chosen = as_notion(notion, problem)
    problems = list(chosen.split(problem))
    require(
        len(problems) == 1,
        "notion must speak of one event",
        got=f"{chosen.name!r}, which speaks of {len(problems)}",
        hint="Choose one: notion=OneVsRest(name)",
    )
    return problems[0]


def panel_named(panels: tuple[Any, ...], name: str) -> Any:
    """Return the panel of that name."""
    for panel in panels:
        if panel.name == name:
            return panel
    raise KeyError(f"{name!r} is no forecast of the curve; there are {', '.join(repr(p.name) for p in panels)}")
