"""What a plot is given, held to be what it draws; and where its legend hides nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from calibrant.plots import _style
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
        raise TypeError(f"{what} must be of type {kind.__name__}; got {type(result).__name__}{at}. Pass {call}.")


def legend_beside(ax: Any, handles: Sequence[Any] | None = None, labels: Sequence[str] | None = None) -> None:
    """Draw the legend to the right of an Axes where the layout makes room for it, else inside."""
    given = () if handles is None else (handles, labels)
    if ax.figure.get_layout_engine() is None:
        ax.legend(*given, **_style.LEGEND, fontsize="small")
        return
    ax.legend(*given, loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize="small")
