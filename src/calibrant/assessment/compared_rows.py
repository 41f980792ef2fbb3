"""What is compared: forecasts of the same rows, independent samples, or one forecast over time; and groups of the rows."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from itertools import combinations
from typing import Any, Literal, get_args

import numpy as np

from calibrant._core.arrays import is_number
from calibrant._core.border import DataOptions, Named, as_labels, as_problem
from calibrant._core.checks import choice, distinct_names, refuse, require, some
from calibrant._core.rows import OF_SEVERAL, USUAL, Problem
from calibrant.significance.differences import pair_of

Names = np.ndarray[Any, np.dtype[np.str_]]

ONLY = "forecast"
"""The name of a forecast that was given without one."""

Every = Literal["day", "week", "month", "quarter", "year"]

NO_TIME = {"", "NaT", "None", "nan", "<NA>"}
"""How a missing time reads as text."""

MOST_PERIODS = 500
"""Periods of a comparison; more are dates that are not cut."""


def forecasts_of(y_true: Any, forecasts: Any, data: DataOptions) -> dict[str, Problem]:
    """Return the problem of each forecast by its name; refuse those that are not of the same rows and classes."""
    is_named = isinstance(forecasts, Mapping)
    forecasts = forecasts if is_named else {ONLY: forecasts}
    some("forecasts", forecasts, "forecast", hint="Pass a dict of them by their names")
    require_names("forecasts", forecasts)
    first, *others = map(str, forecasts)
    given = {str(name): values for name, values in forecasts.items()}
    own = dict[str, Any]()
    if isinstance(y_true, Mapping):
        distinct_names("y_true", y_true)
        own = {str(name): values for name, values in y_true.items()}
        must = "y_true must have the labels of each forecast by its name"
        got = f"{', '.join(own)} for {', '.join(given)}"
        require(own.keys() == given.keys(), must, got=got, hint="Pass one array for all, or one for each")
    called = {name: f"forecasts[{name!r}]" for name in given} if is_named else {ONLY: "forecasts"}
    named, truth = Named(forecast=called[first]), own.get(first, y_true)
    remedies = OF_SEVERAL if others else USUAL
    problems: dict[str, Problem] = {first: as_problem(truth, given[first], named=named, remedies=remedies, **data)}
    for name in others:
        names = called[first], called[name], f"y_true[{name!r}]"
        _, problems[name] = pair_of(truth, given[first], given[name], own.get(name), data, names)
    return problems


def samples_of(y_true: Any, forecasts: Any, data: DataOptions) -> dict[str, Problem]:
    """Return the problem of each of several independent samples, of the same classes."""
    must, hint = "must be dicts of samples by the same names", "Pass y_true={'a': ..., 'b': ...} and forecasts likewise"
    weights: Any = data.get("sample_weight")
    given = [y_true, forecasts, *([] if weights is None else [weights])]
    same = all(isinstance(one, Mapping) and set(one) == set(forecasts) for one in given)
    require(same, f"y_true, forecasts and sample_weight of independent samples {must}", got="others", hint=hint)
    require_names("forecasts", forecasts)
    some("forecasts", forecasts, "sample", hint=hint)
    found = dict[str, Problem]()
    for name in forecasts:
        own: DataOptions = {**data, "sample_weight": None if weights is None else weights[name]}
        named = Named(f"y_true[{name!r}]", f"forecasts[{name!r}]")
        found[str(name)] = as_problem(y_true[name], forecasts[name], named=named, **own)
    require_same_classes(found)
    return found


def require_names(what: str, names: Collection[object]) -> None:
    """Refuse names of which one is empty, or two are one text."""
    distinct_names(what, names)
    require(all(map(str, names)), f"{what} must have names", got="an empty one", hint="Name each of them")


def require_same_classes(problems: Mapping[str, Problem]) -> None:
    """Refuse forecasts of other classes than those of the first."""
    first = next(iter(problems))
    for name, problem in problems.items():
        of_both = [problems[first].classes.tolist(), problem.classes.tolist()]
        hint = "Where one of them lacks a class, pass labels= in column order"
        must, got = "forecasts must have the same classes", f"{of_both[0]} in {first}, {of_both[1]} in {name}"
        require(of_both[0] == of_both[1], must, got=got, hint=hint)


def periods_of(times: Any, every: Any, problem: Problem, sample_weight: Any = None) -> dict[str, Problem]:
    """Return the rows of each period by its name, in the order of time."""
    whens = np.asarray(times)
    hint = "Pass one column of dates"
    require(whens.ndim == 1, "times must have one value for each row", got=f"shape {whens.shape}", hint=hint)
    if every is None:
        are_dates = whens.dtype.kind == "M" or (whens.dtype == object and not all(map(is_number, whens.tolist())))
        whens = as_labels(whens.astype(str) if are_dates else times, "times")
    else:
        choice("every", every, get_args(Every))
        if whens.dtype.kind == "M":
            whens = whens.astype("datetime64[D]").astype(object)
    found = np.unique(whens).tolist() if every is None else set(whens.tolist())
    must, hint = "times must have a value in each row", "Fill it, or leave these rows out"
    require(NO_TIME.isdisjoint(map(str, found)), must, got="a missing one", hint=hint)
    names = {when: str(when) if every is None else _period(when, every) for when in found}
    of_rows = groups_of({"": [names[when] for when in whens.tolist()]}, problem, sample_weight, "times")[:, 0]
    counted = set(of_rows.tolist())
    distinct = [name for name in (sorted(set(names.values())) if every else names.values()) if name in counted]
    got = f"{len(distinct)}, such as {' and '.join(dict.fromkeys([distinct[0], distinct[-1]]))}"
    longer, shorter = (
        "Cut dates with every='month', or name longer ones",
        "Cut dates shorter, as by every='day', or pass more rows",
    )
    hint = longer if len(distinct) > 1 else shorter
    require(1 < len(distinct) <= MOST_PERIODS, f"periods must be 2 to {MOST_PERIODS}", got=got, hint=hint)
    return {name: problem.taken(np.flatnonzero(of_rows == name)) for name in distinct}


def _period(when: object, every: str) -> str:
    """Return the name of the period of a date; names of later periods stand later in the alphabet."""
    try:
        day = datetime.fromisoformat(str(when))
        year, week, _ = day.isocalendar()
        month = f"{day.year:04}-{day.month:02}"
    except (ValueError, TypeError):
        must, hint = "times must be dates where they are cut", "Write them as 2024-03-31, or leave every= out"
        refuse(must, value=when, hint=hint)
    return {
        "day": f"{month}-{day.day:02}",
        "week": f"{year:04}-W{week:02}",
        "month": month,
        "quarter": f"{day.year:04}-Q{(day.month + 2) // 3}",
        "year": f"{day.year:04}",
    }[every]


def groups_of(
    columns: Mapping[str, Any], problem: Problem, sample_weight: Any, called: str = "by", *, overlapping: bool = False
) -> Names:
    """Return the names of the groups of each row that counts: what stands in each column, with the name of the column.

    There is a column for each way in which the rows are cut into groups: one, or several where groups are overlapping.
    """
    some(called, columns, "column", hint="Pass the group of each row")
    kept = np.ones(problem.size, dtype=bool) if sample_weight is None else np.ravel(np.asarray(sample_weight)) > 0
    found: list[list[tuple[int, str]]] = []
    must, hint = f"{called} must be one column, or columns by their names", "Pass a dict of columns, or a data frame"
    for name, values in columns.items():
        require((shape := getattr(values, "shape", ()))[1:] in ((), (1,)), must, got=f"shape {shape}", hint=hint)
        group = as_labels(values, f"{called}[{name!r}]" if name else called)
        fits, got = len(group) == kept.size, f"{len(group)} for {kept.size} rows"
        require(fits, f"{called} must have one value for each row", got=got, hint="Pass one a row")
        words = [str(one) for one in group[kept].tolist()]
        require(all(words), f"{called} must name the group of each row", got="an empty text", hint="Name it")
        found.append([(len(found), f"{name} {word}" if name else word) for word in words])
    cuts = [found]
    if overlapping:
        cuts = [[one] for one in found] + [list(pair) for pair in combinations(found, 2)]
    of_rows = [list(zip(*cut, strict=True)) for cut in cuts]
    named = {groups: ", ".join(word for _, word in groups) for cut in of_rows for groups in cut}
    distinct_names("groups", named.values())
    return np.array([[named[groups] for groups in cut] for cut in of_rows]).T
