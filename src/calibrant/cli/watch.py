"""From files to the monitors of `calibrant monitor`: all files are read as the first one was."""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import os
import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from calibrant._core.checksum import checksum_of
from calibrant.cli.inputs import asked_of_rows, labels_of, pos_label_of, rows_named, values_of, weight_of

if TYPE_CHECKING:
    from calibrant.interop.tables import ForecastTable
    from calibrant.monitoring import Monitor, MonitorTable


# The files of `calibrant monitor`, and what it keeps between runs: how they are read, which were, a monitor for each group


STATE = "calibrant_monitor_files"

VERSION = 2
"""Of the file of a state."""

LONGEST_WRITE = 600
"""Seconds after which the lock of a state is that of a run that was killed."""

ALL = ""
"""Name of the one group where there are no groups."""

TEXT = (str,)
OPEN = (str, type(None))


@dataclass(frozen=True)
class WatchedFile:
    """A file: its ``path`` as it is shown, its ``place`` on this machine, and the ``window`` that it is without --time."""

    path: str
    place: str
    window: str


@dataclass(frozen=True)
class Content:
    """What a file holds: its length and digest, by which it is known wherever it lies."""

    bytes: int
    sha256: str

    @classmethod
    def of(cls, path: str) -> Content:
        """Read a file."""
        with open(path, "rb") as file:
            digest = hashlib.file_digest(file, "sha256")
            return cls(file.tell(), digest.hexdigest())


@dataclass(frozen=True)
class Reading:
    """How all files are read, as the first one settled it.

    ``by``, ``time``, ``label`` and ``weight`` are columns, as are ``columns``, in the order of ``labels``. ``rows`` is the part
    of each file that is used, ``scale`` what is done with probabilities; ``reference`` is a file, and ``reference_sha256`` what
    it held.
    """

    by: str | None
    time: str | None
    label: str
    columns: tuple[str, ...]
    input: str
    weight: str | None
    rows: str | None
    scale: str
    reference: str | None
    reference_sha256: str | None
    labels: tuple[Any, ...]
    pos_label: Any
    notion: str | None
    bins: int
    window: int | str | None
    n_reference: int
    alpha: float

    @classmethod
    def from_dict(cls, plain: dict[str, Any]) -> Reading:
        """Return what `asdict` wrote down, or refuse it."""
        names = [one.name for one in fields(cls)]
        _require(isinstance(plain, dict) and sorted(plain) == sorted(names), "how files are read")
        kinds: dict[str, tuple[type, ...]] = {
            **dict.fromkeys(("label", "input", "scale"), TEXT),
            **dict.fromkeys(("by", "time", "weight", "rows", "reference", "reference_sha256", "notion"), OPEN),
            "columns": (list,),
            "labels": (list,),
        }
        _require(all(isinstance(plain[name], kind) for name, kind in kinds.items()), "how files are read, in words")
        _require(plain["columns"] and all(isinstance(one, str) for one in plain["columns"]), "names of columns")
        _require(plain["scale"] in ("as-given", "normalize", "percent"), "a rule for rows")
        return cls(**{**plain, "columns": tuple(plain["columns"]), "labels": tuple(plain["labels"])})


@dataclass(frozen=True)
class Known(Content):
    """What a file held when it was read, and its window."""

    window: str | None


class WatchState:
    """The state of a watch; ``before`` is what its file held when it was read, None where there was none.

    ``pages`` are digests by --output: of what the last run wrote there, and of what it replaced, as it may have ended between
    state and page. ``reported`` are alarms by group and test, with the number of files that were known when the gate failed.
    """

    def __init__(self, path: str | None, before: bytes | None = None) -> None:
        self.path, self.before = path, before
        self.reading: Reading | None = None
        self.known: dict[str, Known] = {}
        self.monitors: dict[str, Monitor] = {}
        self.pages: dict[str, list[str]] = {}
        self.reported: dict[str, dict[str, int]] = {}

    @classmethod
    def read(cls, path: str | None) -> WatchState:
        """Read a state, or begin a new one."""
        if path is None or not os.path.lexists(path):
            return cls(path)
        if not Path(path).is_file():  # a device has no end
            raise ValueError(
                f"--state must be a file that `calibrant monitor` wrote; {path} is none. Name another, or begin a new one."
            )
        data = Path(path).read_bytes()
        try:
            found = cls(path, data)
            found._fill(json.loads(data.decode("utf-8"), parse_constant=_no_number))
        except (ValueError, KeyError, TypeError, AttributeError, IndexError, OverflowError, RecursionError) as error:
            raise ValueError(
                f"--state must be a file that `calibrant monitor` wrote; {path} is not: {str(error).removesuffix('.')}. "
                "Put back a copy of it, or remove it and name all files again: their rows are then read anew."
            ) from error
        return found

    def _fill(self, plain: Any) -> None:
        from calibrant.monitoring import Monitor

        _require(isinstance(plain, dict) and STATE in plain, "the entries of a state")
        _require(plain.get("version") == VERSION, f"a state of version {VERSION}")
        if plain.get("checksum") != checksum_of(plain):
            raise ValueError("it does not match its checksum, so it was changed or damaged")
        self.reading = reading = Reading.from_dict(plain["reading"])
        self.pages, self.reported = plain["pages"], plain["reported"]
        _require(all(set(map(type, one)) == {str} for one in self.pages.values()), "digests of what was written")
        _require(all(set(map(type, one.values())) == {int} for one in self.reported.values()), "alarms of groups")
        for place, one in plain[STATE].items():
            _require(
                sorted(one) == ["bytes", "sha256", "window"]
                and type(one["bytes"]) is int
                and isinstance(one["sha256"], str)
                and len(one["sha256"]) == 64
                and isinstance(one["window"], OPEN),
                "what each file held",
            )
            self.known[place] = Known(**one)
        _require(self.known, "the files that were read")
        _require(plain["groups"] and (reading.by is not None or list(plain["groups"]) == [ALL]), "groups of --by")
        for name, one in plain["groups"].items():
            monitor = Monitor.from_dict(one)
            own = (monitor.window, monitor.reference, monitor.alpha, monitor.binning.n_bins, monitor.pos_label)
            settled = (reading.window, reading.n_reference, reading.alpha, reading.bins, reading.pos_label)
            is_same = (
                own == settled and tuple(monitor.labels or ()) == reading.labels and monitor.input == reading.input
            )
            notion = None if monitor.notion is None else monitor.notion.name
            _require(
                is_same and monitor.n_windows and notion == reading.notion, "monitors with the options of the state"
            )
            self.monitors[name] = monitor

    def is_read(self, file: WatchedFile, content: Content, *, is_window: bool) -> str | None:
        """Return where a file was read already, or a moved one before; refuse one that has changed, and a copy."""
        before = self.known.get(file.place)
        if before is not None:
            if (before.bytes, before.sha256) == (content.bytes, content.sha256):
                return file.path
            how = f"had {before.bytes} bytes and has {content.bytes}"
            if before.bytes == content.bytes:
                how = f"has other content of the same {content.bytes} bytes"
            raise ValueError(
                f"a file that was read must stay as it is; {file.path} {how}. Put new rows into a new file, or begin anew."
            )
        for place, one in self.known.items():
            if (one.bytes, one.sha256) == (content.bytes, content.sha256):
                if not os.path.exists(place) or os.path.samefile(place, file.path):
                    return place
                raise ValueError(
                    f"no file must be read twice; {file.path} has the content of {place}, which was read. Remove the copy; "
                    "if these are other events, add a column that tells, such as their time."
                )
            if is_window and one.window == file.window and place != file.place:
                raise ValueError(
                    f"files must have names that differ without folder and ending, as each is a window; got {place} and "
                    f"{file.place}. Rename one, name a folder that holds both, or name windows by --time."
                )
        return None

    def own(self, page: Path) -> list[str]:
        """Return the digest of a page that stands there, if it is one that this state wrote."""
        if str(page) not in self.pages or not page.is_file():
            return []
        return [one for one in self.pages[str(page)] if one == Content.of(str(page)).sha256]

    def fails_for(self, group: str, test: str) -> bool:
        """Return whether the gate fails for an alarm: on its first run, and again while no other file is read."""
        return self.reported.setdefault(group, {}).setdefault(test, len(self.known)) == len(self.known)

    def write(self) -> None:
        """Write the state, whole or not at all, and only if no other run has written it since it was read."""
        from calibrant.interop.writing import whole_file

        if self.path is None or self.reading is None:
            return
        state: dict[str, Any] = {
            STATE: {place: asdict(one) for place, one in self.known.items()},
            "version": VERSION,
            "reading": asdict(self.reading),
            "groups": {name: monitor.to_dict() for name, monitor in sorted(self.monitors.items())},
            "pages": self.pages,
            "reported": self.reported,
        }
        text = json.dumps(state | {"checksum": checksum_of(state)}, allow_nan=False)
        if self.before is None:
            try:
                with whole_file(self.path) as beside:
                    beside.write_text(text, encoding="utf-8")
            except FileExistsError as error:
                raise _written_by_another(self.path) from error
            return
        with _alone(self.path):
            if not os.path.exists(self.path) or Path(self.path).read_bytes() != self.before:
                raise _written_by_another(self.path)
            with whole_file(self.path, force=True) as beside:
                beside.write_text(text, encoding="utf-8")

    def of_first_notion(self) -> None:
        """Take the notion that the first rows decided: all groups have it."""
        if self.reading is not None and self.monitors:
            notion = next(iter(self.monitors.values())).notion
            self.reading = replace(self.reading, notion=None if notion is None else notion.name)


def files_of(named: list[str]) -> list[WatchedFile]:
    """Return the files that are named, those of a folder or pattern in the order of their names: day_9 stands before day_10.

    Of a folder these are the files that `calibrant assess` reads: those that end as tables do, in its folders as well, but for
    hidden ones and those that begin with an underscore.
    """
    return [file for name in named for file in _files(name)]


def _files(name: str) -> Iterator[WatchedFile]:
    from calibrant.interop.local_files import STREAMED, local_files, split, warn_of_unread
    from calibrant.monitoring.state import in_order

    if "://" in name:
        raise ValueError(f"files to watch must lie on this machine; got {name}. Copy them, or use Monitor in Python.")
    path = Path(name)
    start, pattern = split(PurePosixPath(path.as_posix()), os.path.lexists)
    folder = Path(start)
    if not pattern and not folder.is_dir():
        yield WatchedFile(name, os.path.abspath(name), path.stem)
        return
    inside = {file.relative_to(folder.absolute()).as_posix(): file for file in local_files(path)}
    if not inside:
        raise FileNotFoundError(
            f"{name} must hold files that end in {', '.join(STREAMED)}; it holds none. Check the path."
        )
    warn_of_unread(name, path)
    for below, file in sorted(inside.items(), key=lambda pair: in_order(pair[0])):
        yield WatchedFile(str(folder / below), os.path.abspath(file), str(PurePosixPath(below).with_suffix("")))


@contextmanager
def _alone(path: str) -> Iterator[None]:
    """Hold the place beside a state, for the moment in which it is compared and replaced."""
    target = Path(os.path.realpath(path))
    lock = target.with_name(f".{target.name}.lock")
    with suppress(OSError):
        if time.time() - lock.stat().st_mtime > LONGEST_WRITE:
            lock.unlink()
    try:
        os.close(os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError as error:
        raise ValueError(
            f"one run at a time must write --state {path}; another holds {lock}. Run again, or remove it if no run is left."
        ) from error
    try:
        yield
    finally:
        with suppress(OSError):
            lock.unlink()


def _written_by_another(path: str) -> ValueError:
    return ValueError(
        f"--state must stay as it was while a run reads files; another run wrote {path}. Nothing was written; run again."
    )


def _no_number(word: str) -> None:
    raise ValueError(f"it holds {word}")


def _require(holds: object, what: str) -> None:
    if not holds:
        raise ValueError(f"it must hold {what}")


# From files to the monitors of `calibrant monitor`: all files are read as the first one was


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
        from calibrant.interop.tables import forecast_in

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
        from calibrant._core.border import as_problem
        from calibrant.interop.tables import select_one

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
    from calibrant.interop.tables import select

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


# `calibrant monitor`: calibration over time, from files in the order of their names, with a state that is continued


OUTPUTS = (".html", ".csv", ".json")


def run_monitor(arguments: argparse.Namespace) -> int:
    """Add the rows of files to a monitor for each group, print the figures, and write and keep them."""
    files, output = files_of(arguments.files), None if arguments.output is None else Path(arguments.output)
    state = WatchState.read(arguments.state)
    is_own = output is not None and bool(state.own(output))
    _require_places(arguments, [file.path for file in files], output, is_own=is_own)
    watch = Watch(arguments, state)
    for file in files:
        watch.add(file)
    if not state.monitors:
        raise ValueError(f"{arguments.files[0]} must hold rows to watch; no row was read. Name another folder.")
    for path in watch.without_rows:
        print(f"{path}: it has no rows, and is read again next time", file=sys.stderr)
    tables = {name: monitor.table(n_resamples=arguments.resamples) for name, monitor in sorted(state.monitors.items())}
    alarms = [(name, alarm.test) for name, table in tables.items() for alarm in table.alarms]
    failing = [state.fails_for(*alarm) for alarm in alarms] if arguments.fail_on_alarm else []
    _write(state, output, tables, force=arguments.force)
    _print(arguments, tables, "" if state.reading is None else state.reading.by)
    if output is not None:
        print(f"wrote {output}", file=sys.stderr if arguments.json else sys.stdout)
    if any(failing):
        new = sum(failing)
        print(f"calibrant: gate failed: {new} new {'alarm' if new == 1 else 'alarms'}", file=sys.stderr)
        return 1
    if failing:
        print(
            f"{len(failing)} {'alarm' if len(failing) == 1 else 'alarms'} of an earlier run, none is new",
            file=sys.stderr,
        )
    return 0


def _require_places(arguments: argparse.Namespace, files: list[str], output: Path | None, *, is_own: bool) -> None:
    """Refuse places to write to that are taken, or are read; an output that the state wrote is its own."""
    from calibrant.interop.writing import require_free

    reference = arguments.reference
    inputs = [*files, *([] if reference is None or reference.isdecimal() else [reference])]
    if arguments.state is not None:
        require_free(Path(arguments.state), force=True, inputs=inputs)  # it goes on from what stands there
        inputs.append(arguments.state)
    if output is None:
        return
    if arguments.state is not None and output.absolute() == Path(arguments.state).absolute():
        raise ValueError(f"--output must not be the state; got {output} for both. Choose another name.")
    watched = [name for name in arguments.files if Path(name).is_dir()]
    if output.suffix.lower() == ".csv" and (around := [one for one in watched if _is_in(output, one)]):
        raise ValueError(
            f"--output must not be a table in a folder that is watched; got {output} in {around[0]}, which the next run would "
            "read. Choose another folder."
        )
    require_free(output, force=arguments.force or is_own, inputs=inputs, endings=OUTPUTS)


def _is_in(path: Path, folder: str) -> bool:
    return path.resolve().is_relative_to(Path(folder).resolve())


def _print(arguments: argparse.Namespace, tables: dict[str, MonitorTable], by: str | None) -> None:
    if arguments.json:
        print(json.dumps(document_of(tables), indent=2, allow_nan=False))
        return
    for name, table in tables.items():
        print(f"{by} {name}\n{table}\n" if name else str(table))


def document_of(tables: dict[str, MonitorTable]) -> dict[str, Any]:
    """Return tables as what JSON can hold, by group: what is no number is null, and infinity a word."""
    from dataclasses import asdict

    return {
        "groups": {
            name: {
                "notion": table.notion,
                "alpha": table.alpha,
                "alarms": [{key: _plain(value) for key, value in asdict(alarm).items()} for alarm in table.alarms],
                "windows": [
                    dict(zip(columns, map(_plain, row), strict=True)) for row in zip(*columns.values(), strict=True)
                ],
            }
            for name, table in tables.items()
            for columns in [{key: values.tolist() for key, values in table.columns.items()}]
        }
    }


def _plain(value: Any) -> Any:
    if not isinstance(value, float) or abs(value) < float("inf"):
        return value
    return "Infinity" if value > 0 else None  # else it is NaN


def _write(state: WatchState, output: Path | None, tables: dict[str, MonitorTable], *, force: bool) -> None:
    """Write the state and then the output, which the state knows as its own before it is written: a run may end between."""
    from calibrant.interop.writing import whole_file

    if output is None:
        state.write()
        return
    data, own = _bytes(output.suffix.lower(), tables), state.own(output)
    state.pages[str(output)] = [*own, hashlib.sha256(data).hexdigest()]
    state.write()
    with whole_file(output, force=force or bool(own)) as beside:
        beside.write_bytes(data)


def _bytes(kind: str, tables: dict[str, MonitorTable]) -> bytes:
    """Return what an output of this kind holds."""
    from calibrant.report.pictures import monitor_page

    if kind == ".html":
        return monitor_page(tables).encode()
    if kind == ".json":
        return json.dumps(document_of(tables), indent=2, allow_nan=False).encode()
    import numpy as np

    from calibrant.interop.columns import FileTable, Values
    from calibrant.interop.writing import write_rows

    columns = [table.columns for table in tables.values()]
    joined = {key: np.concatenate([one[key] for one in columns]) for key in columns[0]}
    if list(tables) != [ALL]:
        joined = {"group": np.repeat(np.array(list(tables)), [len(one["window"]) for one in columns]), **joined}
    text = io.StringIO(newline="")
    write_rows(text, FileTable({name: Values(values) for name, values in joined.items()}), names=True)
    return text.getvalue().encode()
