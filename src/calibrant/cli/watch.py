"""From files to the monitors of `calibrant monitor`: all files are read as the first one was."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from calibrant.cli.inputs import asked_of_rows, labels_of, pos_label_of, rows_named, values_of, weight_of
from calibrant.cli.watch_state import ALL, Content, Known, Reading, WatchedFile, WatchState

if TYPE_CHECKING:
    from calibrant.interop.files import ForecastTable
    from calibrant.monitoring import Monitor

MOST_GROUPS = 1000

WHOLE = re.compile(r"(-?(?:0|[1-9][0-9]*))\.0*")
"""A whole number with a decimal point: a column of whole numbers with a gap is one of floats in its file."""


class Watch:
    """The monitors of a state, to which files are added.

    A state that is continued settles what the command leaves out, and refuses what the command says otherwise.
    """

    def __init__(self, arguments: argparse.Namespace, state: WatchState) -> None:
        self.arguments, self.state = arguments, state
        self.without_rows: list[str] = []
        if state.reading is not None:
            require_same(arguments, state.reading)
            arguments.rows = state.reading.rows
            arguments.percent = state.reading.scale == "percent"
            arguments.normalize = state.reading.scale == "normalize"

    def add(self, file: WatchedFile) -> None:
        """Add the rows of a file, unless the state has them."""
        if not os.path.isfile(file.path):
            self._table(file.path)  # says what is wrong
        by_time = self.arguments.time is not None or (
            self.state.reading is not None and self.state.reading.time is not None
        )
        window = self.arguments.window if self.state.reading is None else self.state.reading.window
        by_name = not by_time and window_of(window) is None
        before, content = os.stat(file.path), Content.of(file.path)
        if (where := self.state.is_read(file, content, is_window=by_name)) is not None:
            of = "" if where == file.path else f", from {where}"
            print(f"{file.path}: its rows were read already{of}", file=sys.stderr)
            return
        forecast = self._forecast(file.path)
        if forecast is None:
            self.without_rows.append(file.path)
            return
        reading = self.state.reading = self.state.reading or self._settled(forecast)
        if content.sha256 == reading.reference_sha256:
            raise ValueError(
                f"no file must be read twice; {file.path} is the reference. Keep it apart from the files that are watched."
            )
        columns = {**self._columns(forecast), "at": file.window if by_name else self._times(forecast, reading)}
        for name, rows in _groups(forecast, reading.by):
            monitor = self._monitor(name, file)
            with _named(forecast, name):
                monitor.update(**_some(columns, rows))
        after = os.stat(file.path)
        if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
            raise ValueError(
                f"{file.path} must stay as it is while it is read; it has changed. Run again when it is written."
            )
        self.state.of_first_notion()
        self.state.known[file.place] = Known(content.bytes, content.sha256, file.window if by_name else None)

    # How files are read

    def _table(self, path: str) -> Any:
        from calibrant.interop.tables import read_table

        return read_table(path, may_be_empty=True)

    def _forecast(self, path: str) -> ForecastTable | None:
        """Return the forecast of a file, its columns in the order of those of the first file; None without rows."""
        from calibrant.interop.files import forecast_in

        table, of = self._table(path), self.arguments
        if not any(map(len, table.columns.values())):
            return None
        rows = rows_named(of.rows)
        found = forecast_in(table, label=of.label, prob=of.prob, logit=of.logit, rows=rows, where=path)
        if not found.n_rows:
            return None
        reading = self.state.reading
        if reading is None:
            if found.guessed:
                print(f"{path}: reading {', '.join(found.guessed)}", file=sys.stderr)
            return found
        is_same = sorted(found.forecast_columns) == sorted(reading.columns) and found.input == reading.input
        if not is_same or found.label_column != reading.label:
            got = _span(found.label_column, found.input, found.forecast_columns)
            raise ValueError(
                f"{path} must be read as the files before it, {_span(reading.label, reading.input, reading.columns)}; "
                f"got {got}. Name the columns by --label and --prob or --logit, or begin a new state."
            )
        return replace(found, forecast_columns=reading.columns)

    def _settled(self, forecast: ForecastTable) -> Reading:
        """Take from the command and the first file how all are read."""
        from calibrant._core.validation import as_problem
        from calibrant.interop.files import select_one

        of, names = self.arguments, list(forecast.table)

        def column(option: str) -> str | None:
            wanted = getattr(of, option)
            return None if wanted is None else select_one(names, wanted, f"--{option}", where=forecast.file)

        with _named(forecast):
            values, event, labels = values_of(of, forecast), pos_label_of(of, forecast), labels_of(of, forecast)
        if labels is None:
            own = event if values.ndim == 1 else None
            with _named(forecast):
                labels = as_problem(forecast.y_true, values, pos_label=own, input=forecast.input).classes.tolist()
        number, file = reference_of(of.reference)
        window = window_of(of.window)
        if isinstance(window, str) and of.time is None:
            raise ValueError(f"--window {window} must have the time of each row; got none. Name its column by --time.")
        if isinstance(window, int) and of.time is not None:
            raise ValueError(
                f"--time must be left out where --window is a number of rows; got {of.time!r} and {window}. Leave one out, or "
                "pass a length of time such as --window 1d."
            )
        return Reading(
            by=column("by"),
            time=column("time"),
            label=str(forecast.label_column),
            columns=forecast.forecast_columns,
            input=forecast.input,
            weight=column("weight"),
            rows=of.rows,
            scale=asked_of_rows(of),
            reference=None if file is None else os.path.abspath(file),
            reference_sha256=None if file is None else digest_of(file),
            labels=tuple(labels),
            pos_label=event,
            notion=of.notion,
            bins=15 if of.bins is None else of.bins,
            window=window,
            n_reference=number,
            alpha=0.05 if of.alpha is None else of.alpha,
        )

    # Rows

    def _columns(self, forecast: ForecastTable) -> dict[str, Any]:
        """Return all rows as the arguments of `Monitor.update`."""
        reading = self.state.reading
        assert reading is not None
        self.arguments.weight = reading.weight
        with _named(forecast):  # double precision: bins of one window have the same edges, whatever its files hold
            values = values_of(self.arguments, forecast).astype(float, copy=False)
            weight = weight_of(self.arguments, forecast)
        return {"y_true": forecast.y_true, "y_prob": values, "sample_weight": weight}

    def _times(self, forecast: ForecastTable, reading: Reading) -> Any:
        if reading.time is None:
            return None
        _require_column(forecast, reading.time, "time")
        return forecast.table[reading.time]

    def _monitor(self, name: str, file: WatchedFile) -> Monitor:
        """Return the monitor of a group, a new one with the rows of its group in the file of reference."""
        from calibrant.monitoring import Monitor

        reading, monitors = self.state.reading, self.state.monitors
        assert reading is not None
        if name not in monitors:
            if len(monitors) == MOST_GROUPS:
                raise ValueError(
                    f"--by must name a column of at most {MOST_GROUPS} groups; {file.path} has more. Name another."
                )
            monitors[name] = Monitor(
                window=reading.window,
                reference=reading.n_reference,
                alpha=reading.alpha,
                notion=reading.notion,
                binning=reading.bins,
                labels=list(reading.labels),
                pos_label=reading.pos_label,
                input="logit" if reading.input == "logit" else "probability",
            )
            if reading.reference is not None:
                self._refer(monitors[name], name, reading.reference)
        return monitors[name]

    def _refer(self, monitor: Monitor, group: str, path: str) -> None:
        """Give a new monitor the rows of its group in the file that is named as reference."""
        reading = self.state.reading
        assert reading is not None
        if os.path.isfile(path) and digest_of(path) != reading.reference_sha256:
            raise ValueError(f"--reference must stay as it was; {path} has changed. Put it back, or begin a new state.")
        forecast = self._forecast(path)
        rows = None if forecast is None else dict(_groups(forecast, reading.by)).get(group)
        if forecast is None or rows is None:
            of = f" of each group; {path} has none of {group!r}" if reading.by is not None else f"; {path} has none"
            raise ValueError(f"--reference must hold rows{of}. Add some.")
        with _named(forecast, group):
            monitor.update_reference(**_some(self._columns(forecast), rows))


@contextmanager
def _named(forecast: ForecastTable, group: str = ALL) -> Iterator[None]:
    """Name the file in what is said of its rows."""
    try:
        yield
    except (ValueError, TypeError) as error:
        kind = TypeError if type(error) is TypeError else ValueError
        raise kind(f"{forecast.file}{f', rows of {group}' if group else ''}: {error}") from error


def _some(columns: dict[str, Any], rows: Any) -> dict[str, Any]:
    """Return these rows of columns; words and what is left out are of all rows."""
    return {
        name: values if values is None or isinstance(values, str) else values[rows] for name, values in columns.items()
    }


def _groups(forecast: ForecastTable, by: str | None) -> Iterator[tuple[str, Any]]:
    """Yield the name of each group, and its rows. A group has one name, whatever type the file gives its column."""
    import numpy as np

    from calibrant.interop.columns import MISSING

    if by is None:
        yield ALL, slice(None)
        return
    _require_column(forecast, by, "by")
    cells = [cell.strip() for cell in forecast.table.columns[by].cells()]
    if lacking := [row for row, cell in enumerate(cells) if cell in (*MISSING, "NaT")]:
        raise ValueError(
            f"--by {by} must hold a group in each row; {forecast.file} has none in row {lacking[0]}"
            f"{f' and {len(lacking) - 1} more' if lacking[1:] else ''}. Write a word there, or leave the row out."
        )
    names = np.array([_group(cell) for cell in cells])
    for name in np.unique(names).tolist():
        yield name, np.flatnonzero(names == name)


def _group(cell: str) -> str:
    if (whole := WHOLE.fullmatch(cell)) is not None:
        return "0" if whole[1] == "-0" else whole[1]
    return cell.lower() if cell.lower() in ("true", "false") else cell


def _require_column(forecast: ForecastTable, name: str, option: str) -> None:
    if name not in forecast.table:
        known = ", ".join(map(repr, list(forecast.table)[:12]))
        raise ValueError(
            f"{forecast.file} must have the column {name!r} of --{option}; it has {known}. Write all files alike."
        )


def _span(label: str | None, input: str, columns: tuple[str, ...]) -> str:
    shown = ", ".join(map(repr, columns[:5])) + (f", ... ({len(columns)} in all)" if columns[5:] else "")
    return f"label {label!r} and {input} {shown}"


# What the words of the command ask for, and whether that is what the state has which it continues


def window_of(given: Any) -> int | str | None:
    """Return a number of rows, or a length of time."""
    return int(given) if isinstance(given, str) and given.isdecimal() else given


def reference_of(given: str | None) -> tuple[int, str | None]:
    """Return how many windows are the reference, and the file that is."""
    if given is None or given.isdecimal():
        return (1 if given is None else int(given)), None
    return 1, given


def digest_of(path: str) -> str:
    """Return the digest of the file of reference."""
    if not os.path.isfile(path):
        raise FileNotFoundError(f"the file must exist; got {path}. Check the path of --reference.")
    return Content.of(path).sha256


def require_same(of: argparse.Namespace, kept: Reading) -> None:
    """Refuse what the command says otherwise than the state that it continues."""
    scale = asked_of_rows(of)
    event = None if len(kept.labels) != 2 else kept.labels[1] if kept.pos_label is None else kept.pos_label
    asked: list[tuple[str, Any, Any, bool]] = [
        ("window", of.window, kept.window, window_of(of.window) == kept.window),
        ("alpha", of.alpha, kept.alpha, of.alpha == kept.alpha),
        ("bins", of.bins, kept.bins, of.bins == kept.bins),
        ("rows", of.rows, kept.rows, of.rows == kept.rows),
        ("notion", of.notion, kept.notion, of.notion is not None and _notion(of.notion) == kept.notion),
        ("classes", of.classes, ",".join(map(str, kept.labels)), _are_classes(of.classes, kept.labels)),
        ("pos-label", of.pos_label, event, _are_classes(of.pos_label, (event,))),
        ("reference", of.reference, kept.reference or kept.n_reference, _is_reference(of.reference, kept)),
        *((name, getattr(of, name), getattr(kept, name), _names(getattr(of, name), getattr(kept, name))) for name in
          ("by", "time", "label", "weight")),
        *((name, getattr(of, name), f"{kept.input} {','.join(kept.columns)}", kept.input == input
           and _names(getattr(of, name), *kept.columns)) for name, input in (("prob", "probability"), ("logit", "logit"))),
        ("percent" if of.percent else "normalize", None if scale == "as-given" else scale, kept.scale, scale == kept.scale),
    ]  # fmt: skip
    for option, given, held, is_same in asked:
        if given is not None and not is_same:
            known = "none" if held is None else repr(held)
            raise ValueError(
                f"--{option} must be that of the state {of.state}, {known}; got {given!r}. Leave it out, or begin a new state."
            )


def _names(given: str | None, *columns: str | None) -> bool:
    """Whether words name exactly these columns, of these."""
    from calibrant.interop.files import select

    known = [name for name in columns if name is not None]
    try:
        return given is not None and len(known) > 0 and sorted(select(known, given, where="")) == sorted(known)
    except ValueError:
        return False


def _notion(word: str) -> str:
    from calibrant.notions import as_notion

    return as_notion(word).name


def _are_classes(given: str | None, labels: tuple[Any, ...]) -> bool:
    return given is not None and [one.strip().lower() for one in given.split(",")] == [
        str(one).lower() for one in labels
    ]


def _is_reference(given: str | None, kept: Reading) -> bool:
    number, file = reference_of(given)
    if file is None:
        return kept.reference is None and number == kept.n_reference
    return digest_of(file) == kept.reference_sha256
