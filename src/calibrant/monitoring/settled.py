"""What the first rows of a monitor settle, and all later ones must have: notion and classes."""

from __future__ import annotations

from typing import Any, Protocol

from calibrant._core.parameters import refuse, require
from calibrant._core.problem import Problem, SimplexProblem
from calibrant._core.rows import Rows
from calibrant._core.validation import Input, as_problem
from calibrant.binning import Binning, EqualWidth, as_binning
from calibrant.monitoring.figures import plan_of
from calibrant.monitoring.options import event_last
from calibrant.notions import ClassWise, Notion, as_notion
from calibrant.sums import Plan
from calibrant.sums.predictions import Predictions


class Settings(Protocol):
    """What a monitor was made with, or its first rows decided."""

    notion: Notion | None
    binning: EqualWidth
    labels: Any
    pos_label: Any
    input: Input
    rows: Rows


def problem_of(monitor: Settings, y_true: Any, y_prob: Any, sample_weight: Any) -> Problem:
    """Return rows as a monitor reads them."""
    return as_problem(
        y_true,
        y_prob,
        sample_weight=sample_weight,
        labels=monitor.labels,
        pos_label=monitor.pos_label,
        input=monitor.input,
        rows=monitor.rows,
    )


def head_of(monitor: Settings, predictions: Predictions, y_prob: object, sample_weight: object) -> Problem:
    """Return some rows of predictions, which have their own numbers and weights, and know their event."""
    must = "y_prob and sample_weight must be left out with predictions that are read in batches"
    require(y_prob is None and sample_weight is None, must, got="some", hint="They hold their own")
    problem = predictions.head()
    classes = problem.classes.tolist()
    in_order = len(classes) > 2 or classes == sorted(classes, key=str)
    require(
        monitor.labels is not None or in_order or not isinstance(problem, SimplexProblem),
        "labels must be given where the event of two columns is the first",
        got="none",
        hint="Pass Monitor(labels=..., pos_label=...) as predictions have them",
    )
    return problem


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


def labels_of(monitor: Settings, problem: Problem, y_true: Any, y_prob: Any) -> list[Any]:
    """Return the class of each column, where the event of two may be the first; of one column the event is the last."""
    if monitor.labels is not None:
        return list(monitor.labels)
    if monitor.pos_label is None or isinstance(y_true, Predictions) or not isinstance(problem, SimplexProblem):
        return list(problem.classes.tolist())
    return list(as_problem(y_true, y_prob, input=monitor.input, rows=monitor.rows).classes.tolist())


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
