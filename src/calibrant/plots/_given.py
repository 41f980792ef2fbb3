"""Checks that a plot is given what it can draw."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from calibrant._core.parameters import refuse
from calibrant.plots._panels import as_named


def as_results(results: Any, what: str, call: str, kind: type) -> Mapping[str, Any]:
    """Return results of one kind by name: a dict as it is, one result without a name."""
    named = as_named(results, what, call)
    for name, result in named.items():
        require_kind(result, what, call, kind, name)
    return named


def require_kind(result: Any, what: str, call: str, kind: type, name: str = "") -> None:
    """Refuse what is no result of that kind."""
    if not isinstance(result, kind):
        at = f" under {name!r}" if name else ""
        refuse(
            f"{what} must be of type {kind.__name__}",
            got=f"{type(result).__name__}{at}",
            hint=f"Pass {call}",
            error=TypeError,
        )
