"""What the first rows of a monitor settle, and all later ones must have: notion and classes."""

from __future__ import annotations

from typing import Any, Protocol

from calibrant._core.parameters import refuse, require
from calibrant._core.problem import Problem
from calibrant._core.rows import Rows
from calibrant._core.validation import Input
from calibrant.binning import Binning, EqualWidth, as_binning
from calibrant.monitoring.figures import plan_of
from calibrant.monitoring.options import event_last
from calibrant.notions import ClassWise, Notion, as_notion
from calibrant.sums import Plan


class Settings(Protocol):
    """What a monitor was made with, or its first rows decided."""

    notion: Notion | None
    binning: EqualWidth
    labels: Any
    pos_label: Any
    input: Input
    rows: Rows


def plan_for(monitor: Settings, problem: Problem, before: Plan | None) -> Plan:
    """Return what is summed: that of the rows before, of which these have the classes; or that which these rows decide."""
    classes, event = problem.classes.tolist(), monitor.pos_label
    known = classes if monitor.labels is None else event_last(monitor.labels, event)
    is_event = event is None or len(classes) > 2 or classes[-1] == event
    require(
        classes == known and is_event,
        "rows of a monitor must have the same classes, the event last",
        got=f"{classes[:5]}, and {known[:5] if is_event else f'the event {event!r}'} before",
        hint="Pass Monitor(labels=...) with all classes in the order of the columns",
    )
    if before is not None:
        return before
    return plan_of(known_notion(as_notion(monitor.notion, problem)), monitor.binning)


def known_notion(notion: Notion) -> Notion:
    """Return a notion of which rows in different cells are independent, or which is a mean over classes."""
    require(
        notion.one_score_a_row or type(notion) is ClassWise,
        "notion of a monitor must be binary, confidence, top-label or class-wise",
        got=notion.name,
        hint="Choose one of them",
    )
    return notion


def of_equal_width(binning: int | Binning) -> EqualWidth:
    """Return bins of equal width, and refuse others: theirs differ from window to window."""
    cut = as_binning(binning)
    if not isinstance(cut, EqualWidth):
        must = "binning of a monitor must have the same edges in each window"
        refuse(must, value=cut, hint="Pass EqualWidth(n), or a number of bins")
    return cut
