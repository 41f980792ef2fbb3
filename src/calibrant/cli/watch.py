"""`calibrant monitor`: calibration over time, from files in the order of their names, with a state that is continued."""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import sys
import time
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import asdict
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import numpy as np

from calibrant._core.border import as_problem
from calibrant._core.checks import refuse
from calibrant._core.checksum import checksum_of
from calibrant.cli.inputs import Forecast, chosen_columns, json_of, rows_asked, rows_named
from calibrant.interop.columns import MISSING, FileTable, Values
from calibrant.interop.tables import choose_columns, forecast_in, read_table, select, select_one, write_rows
from calibrant.interop.writing import STREAMED, local_files, require_free, split, warn_of_unread, whole_file
from calibrant.monitoring import Monitor, MonitorTable
from calibrant.monitoring.state import in_order, of_a_state, options_of
from calibrant.notions import as_notion
from calibrant.report.page import monitor_page

# The files that are watched


class WatchedFile(NamedTuple):
    """A file: its ``path`` as it is shown, its ``place`` on this machine, and the ``window`` that it is without --time."""

    path: str
    place: str
    window: str


def files_of(named: list[str]) -> list[WatchedFile]:
    """Return the files that are named, those of a folder or pattern in the order of their names: day_9 stands before day_10.

    Of a folder these are the files that `calibrant assess` reads: those that end as tables do, in its folders as well, but for
    hidden ones and those that begin with an underscore.
    """
    return [file for name in named for file in _files(name)]


def _files(name: str) -> Iterator[WatchedFile]:

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


def digest_of(path: str, option: str = "") -> str:
    """Return the digest by which a file is known wherever it lies."""
    if not os.path.isfile(path):
        raise FileNotFoundError(f"the file{option and f' of {option}'} must exist; got {path}. Check the path.")
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# What is kept between runs: how files are read, which were, and a monitor for each group


STATE, VERSION = "calibrant_monitor_files", 3

LONGEST_WRITE = 600.0
"""Seconds after which the lock of a state is that of a run that was killed."""

ALL = ""
"""Name of the one group where there are no groups."""

MOST_GROUPS = 1000

WHOLE = re.compile(r"(-?(?:0|[1-9][0-9]*))\.0*")
"""A whole number with a decimal point: a column of whole numbers with a gap is one of floats in its file."""


class Watch:
    """The state of a watch, to which files are added.

    Attributes
    ----------
    before : bytes or None
        What the file of the state held when it was read; None where there was none.
    kept : dict
        How all files are read, as the first one settled it, with the options of the monitors; empty before.
    known : dict of str to list
        Place of each file that was read, by its digest, and the window that it is without --time.
    monitors : dict of str to Monitor
        One for each group.
    pages : dict of str to list of str
        Digests by --output: of what the last run wrote there, and of what it replaced, as it may have ended between state and
        page.
    reported : dict of str to dict
        Alarms by group and test, with the number of files that were known when the gate failed.
    """

    def __init__(self, asked: Namespace) -> None:
        self.asked, self.path = asked, asked.state
        self.before: bytes | None = None
        self.kept: dict[str, Any] = {}
        self.columns: list[str] = []
        self.known: dict[str, list[str | None]] = {}
        self.monitors: dict[str, Monitor] = {}
        self.pages: dict[str, list[str]] = {}
        self.reported: dict[str, dict[str, int]] = {}
        if self.path is not None and os.path.lexists(self.path):
            if not Path(self.path).is_file():  # a device has no end
                must = f"--state must be a file that `calibrant monitor` wrote; {self.path} is none"
                raise ValueError(f"{must}. Name another, or begin a new one.")
            self.before = Path(self.path).read_bytes()
            self._read(self.before)

    def _read(self, data: bytes) -> None:
        try:
            plain = json.loads(data.decode("utf-8"))
            if plain["version"] != VERSION:
                raise ValueError(f"it must hold a state of version {VERSION}")
            if plain["checksum"] != checksum_of(plain):
                raise ValueError("it does not match its checksum, so it was changed or damaged")
            self.known, self.kept, self.pages, self.reported = (
                plain[name] for name in (STATE, "kept", "pages", "reported")
            )
            self.monitors = {name: Monitor.from_dict(one) for name, one in plain["groups"].items()}
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise ValueError(
                f"--state must be a file that `calibrant monitor` wrote; {self.path} is not: {str(error).removesuffix('.')}. "
                "Put back a copy of it, or remove it and name all files again: their rows are then read anew."
            ) from error

    def write(self) -> None:
        """Write the state, whole or not at all, and only if no other run has written it since it was read."""
        if self.path is None:
            return
        state: dict[str, Any] = {
            STATE: self.known,
            "version": VERSION,
            "kept": self.kept,
            "groups": {name: monitor.to_dict() for name, monitor in sorted(self.monitors.items())},
            "pages": self.pages,
            "reported": self.reported,
        }
        text = json.dumps(state | {"checksum": checksum_of(state)}, allow_nan=False)
        try:
            with _alone(self.path):
                if self.before is not None and Path(self.path).read_bytes() != self.before:
                    raise FileExistsError(self.path)
                with whole_file(self.path, force=self.before is not None) as beside:
                    beside.write_text(text, encoding="utf-8")
        except (FileExistsError, FileNotFoundError) as error:
            must = f"--state must stay as it was while a run reads files; another run wrote {self.path}"
            raise ValueError(f"{must}. Nothing was written; run again.") from error

    def own(self, page: Path) -> list[str]:
        """Return the digest of a page that stands there, if it is one that this state wrote."""
        written = self.pages.get(str(page), [])
        return [digest_of(str(page))] if written and page.is_file() and digest_of(str(page)) in written else []

    def fails_for(self, group: str, test: str) -> bool:
        """Return whether the gate fails for an alarm: on its first run, and again while no other file is read."""
        return self.reported.setdefault(group, {}).setdefault(test, len(self.known)) == len(self.known)

    # Files are added

    def add(self, file: WatchedFile) -> None:
        """Add the rows of a file, unless the state has them."""
        time, window = self.asked.time, window_of(self.asked.window)
        if self.kept:
            time, window = self.kept["time"], self.kept["monitor"]["window"]
        is_window = time is None and window is None
        digest = digest_of(file.path)
        if (where := self._read_before(file, digest, is_window=is_window)) is not None:
            of_another = "" if where == file.place else f", from {where}"
            print(f"{file.path}: its rows were read already{of_another}", file=sys.stderr)
            return
        forecast = self._forecast(file.path)
        if forecast is None:
            print(f"{file.path}: it has no rows, and is read again next time", file=sys.stderr)
            return
        if not self.kept:
            self.kept = settled(forecast) | {"columns": self.columns}
            self.asked.weight = self.kept["weight"]
        if digest == self.kept["reference_sha256"]:
            must = "no file must be read twice"
            refuse(must, given=f"{file.path} is the reference", hint="Keep it apart from the files that are watched")
        columns = {**rows_of(forecast), "at": file.window if is_window else None}
        if time is not None:
            _require_column(forecast, self.kept["time"], "time")
            columns["at"] = forecast.table[self.kept["time"]]
        for name, rows in _groups(forecast, self.kept["by"]):
            monitor = self._monitor(name, file)
            with _named(forecast, name):
                monitor.update(**_some(columns, rows))
            self.kept["monitor"] = options_of(monitor)  # with the notion that the first rows decide
        if digest_of(file.path) != digest:
            must = f"{file.path} must stay as it is while it is read"
            refuse(must, given="it has changed", hint="Run again when it is written")
        self.known[digest] = [file.place, file.window if is_window else None]

    def _read_before(self, file: WatchedFile, digest: str, *, is_window: bool) -> str | None:
        """Return where a file was read already; refuse one that has changed, and a copy."""
        if (held := self.known.get(digest)) is not None and (place := held[0]) is not None:
            if place == file.place or not os.path.exists(place) or os.path.samefile(place, file.path):
                return place
            must = "no file must be read twice"
            hint = "Remove the copy; if these are other events, add a column that tells, such as their time"
            refuse(must, given=f"{file.path} has the content of {place}, which was read", hint=hint)
        for place, window in self.known.values():
            if place == file.place:
                must = "a file that was read must stay as it is"
                refuse(must, given=f"{file.path} has other content", hint="Put new rows into a new file, or begin anew")
            if is_window and window == file.window:
                must = "files must have names that differ without folder and ending, as each is a window"
                got = f"{place} and {file.place}"
                refuse(must, got=got, hint="Rename one, name a folder that holds both, or name windows by --time")
        return None

    def _forecast(self, path: str) -> Forecast | None:
        """Return the forecast of a file, in the columns of the first file; None without rows."""
        table, kept = read_table(path, may_be_empty=True), self.kept
        if not any(map(len, table.columns.values())):
            return None
        rows, named = rows_named(self.asked.rows), chosen_columns(self.asked)
        if not kept:
            self.columns = list(choose_columns(table, where=path, **named).forecast_columns)
            found = forecast_in(table, rows=rows, where=path, **named)
        else:
            kind, columns = kept["monitor"]["input"], kept["columns"]
            prob, logit = (columns if kind == one else None for one in ("probability", "logit"))
            try:
                found = forecast_in(table, label=kept["label"], prob=prob, logit=logit, rows=rows, where=path)
            except ValueError as error:
                raise ValueError(
                    f"{path} must be read as the files before it, label {kept['label']!r} and {kind} "
                    f"{', '.join(map(repr, columns[:5]))}: {error}"
                ) from error
        return Forecast.of(found, self.asked) if found.n_rows else None

    def _monitor(self, name: str, file: WatchedFile) -> Monitor:
        """Return the monitor of a group, a new one with the rows of its group in the file of reference."""
        if name in self.monitors:
            return self.monitors[name]
        if len(self.monitors) == MOST_GROUPS:
            must = f"--by must name a column of at most {MOST_GROUPS} groups"
            refuse(must, given=f"{file.path} has more", hint="Name another")
        monitor = self.monitors[name] = Monitor(**self.kept["monitor"])
        if (path := self.kept["reference"]) is None:
            return monitor
        if digest_of(path) != self.kept["reference_sha256"]:
            raise ValueError(f"--reference must stay as it was; {path} has changed. Put it back, or begin a new state.")
        forecast, by = self._forecast(path), self.kept["by"]
        rows = None if forecast is None else dict(_groups(forecast, by)).get(name)
        if forecast is None or rows is None:
            of_each = f" of each group; {path} has none of {name!r}" if by is not None else f"; {path} has none"
            raise ValueError(f"--reference must hold rows{of_each}. Add some.")
        with _named(forecast, name):
            monitor.update_reference(**_some(rows_of(forecast), rows))
        return monitor


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


def settled(forecast: Forecast) -> dict[str, Any]:
    """Take from the command and the first file how all are read."""
    of = forecast.asked
    number, file = reference_of(of.reference)
    window = window_of(of.window)
    with _named(forecast):
        event, labels = forecast.event, forecast.classes
        if labels is None:
            own = event if forecast.values.ndim == 1 else None
            labels = as_problem(forecast.y_true, forecast.values, pos_label=own, input=forecast.input).classes.tolist()
    if isinstance(window, str) and of.time is None:
        raise ValueError(f"--window {window} must have the time of each row; got none. Name its column by --time.")
    if isinstance(window, int) and of.time is not None:
        hint = "Leave one out, or pass a length of time such as --window 1d"
        refuse("--time must be left out where --window is a number of rows", got=f"{of.time!r} and {window}", hint=hint)
    said: dict[str, Any] = {"window": window, "alpha": of.alpha, "notion": of.notion, "binning": of.bins}
    said = {name: value for name, value in said.items() if value is not None}
    monitor = Monitor(reference=number, labels=labels, pos_label=event, input=forecast.input, **said)
    columns, words = list(forecast.table), {name: getattr(of, name) for name in ("by", "time", "weight")}
    return {
        **{name: word and select_one(columns, word, f"--{name}", where=forecast.file) for name, word in words.items()},
        "label": str(forecast.label_column),
        "rows": of.rows,
        "scale": rows_asked(of),
        "reference": None if file is None else os.path.abspath(file),
        "reference_sha256": None if file is None else digest_of(file, "--reference"),
        "monitor": options_of(monitor),
    }


def rows_of(forecast: Forecast) -> dict[str, Any]:
    """Return all rows as arguments of `Monitor.update`; in double precision, so that all windows have the same edges."""
    with _named(forecast):
        values = forecast.values.astype(float, copy=False)
        return {"y_true": forecast.y_true, "y_prob": values, "sample_weight": forecast.weight}


@contextmanager
def _named(forecast: Forecast, group: str = ALL) -> Iterator[None]:
    """Name the file in what is said of its rows."""
    try:
        yield
    except (ValueError, TypeError) as error:
        kind = TypeError if type(error) is TypeError else ValueError
        raise kind(f"{forecast.file}{f', rows of {group}' if group else ''}: {error}") from error


def _some(columns: dict[str, Any], rows: Any) -> dict[str, Any]:
    """Return these rows of columns; words and what is left out are of all rows."""
    return {name: one if one is None or isinstance(one, str) else one[rows] for name, one in columns.items()}


def _groups(forecast: Forecast, by: str | None) -> Iterator[tuple[str, Any]]:
    """Yield the name of each group, and its rows. A group has one name, whatever type the file gives its column."""
    if by is None:
        yield ALL, slice(None)
        return
    _require_column(forecast, by, "by")
    cells = [cell.strip() for cell in forecast.table.columns[by].cells()]
    if lacking := [row for row, cell in enumerate(cells) if cell in (*MISSING, "NaT")]:
        got = f"{forecast.file} has none in row {lacking[0]}{f' and {len(lacking) - 1} more' if lacking[1:] else ''}"
        refuse(f"--by {by} must hold a group in each row", given=got, hint="Write a word there, or leave the row out")
    names = np.array([_group(cell) for cell in cells])
    for name in np.unique(names).tolist():
        yield name, np.flatnonzero(names == name)


def _group(cell: str) -> str:
    if (whole := WHOLE.fullmatch(cell)) is not None:
        return "0" if whole[1] == "-0" else whole[1]
    return cell.lower() if cell.lower() in ("true", "false") else cell


def _require_column(forecast: Forecast, name: str, option: str) -> None:
    if name not in forecast.table:
        known = ", ".join(map(repr, list(forecast.table)[:12]))
        must = f"{forecast.file} must have the column {name!r} of --{option}"
        refuse(must, given=f"it has {known}", hint="Write all files alike")


# What the words of the command ask for, and whether that is what the state has which it continues


def window_of(given: Any) -> int | str | None:
    """Return a number of rows, or a length of time."""
    return int(given) if isinstance(given, str) and given.isdecimal() else given


def reference_of(given: str | None) -> tuple[int, str | None]:
    """Return how many windows are the reference, and the file that is."""
    if given is None or given.isdecimal():
        return (1 if given is None else int(given)), None
    return 1, given


def require_same(of: Namespace, kept: dict[str, Any]) -> None:
    """Refuse what the command says otherwise than the state that it continues."""
    own, scale = kept["monitor"], rows_asked(of)
    labels = ",".join(str(label) for label in own["labels"])
    event = None if len(own["labels"]) != 2 else own["labels"][1] if own["pos_label"] is None else own["pos_label"]
    columns = f"{own['input']} {','.join(kept['columns'])}"
    number, file = reference_of(of.reference)
    is_reference = (kept["reference"], own["reference"]) == (None, number) if file is None else (
        digest_of(file) == kept["reference_sha256"]
    )  # fmt: skip
    asked: list[tuple[str, Any, Any, bool]] = [
        ("window", of.window, own["window"], window_of(of.window) == own["window"]),
        ("alpha", of.alpha, own["alpha"], of.alpha == own["alpha"]),
        ("bins", of.bins, own["binning"], of.bins == own["binning"]),
        ("rows", of.rows, kept["rows"], of.rows == kept["rows"]),
        ("notion", of.notion, own["notion"], of.notion is None or as_notion(of.notion).name == own["notion"]),
        ("classes", of.classes, labels, _folded(of.classes) == _folded(labels)),
        ("pos-label", of.pos_label, event, _folded(of.pos_label) == _folded(str(event))),
        ("reference", of.reference, kept["reference"] or own["reference"], is_reference),
        ("prob", of.prob, columns, own["input"] == "probability" and _names(of.prob, kept["columns"])),
        ("logit", of.logit, columns, own["input"] == "logit" and _names(of.logit, kept["columns"])),
        *((name, word, kept[name], _names(word, [kept[name]])) for name in ("by", "time", "label", "weight")
          for word in [getattr(of, name)]),
        ("percent" if of.percent else "normalize", None if scale == "as-given" else scale, kept["scale"],
         scale == kept["scale"]),
    ]  # fmt: skip
    for option, given, held, is_same in asked:
        if given is not None and not is_same:
            known = "none" if held is None else repr(held)
            must = f"--{option} must be that of the state {of.state}, {known}"
            refuse(must, value=given, hint="Leave it out, or begin a new state")


def _names(given: str | None, columns: list[str]) -> bool:
    """Whether words name exactly these columns, of these."""
    try:
        return given is not None and sorted(select(columns, given, where="")) == sorted(columns)
    except (ValueError, TypeError):
        return False


def _folded(words: str | None) -> list[str]:
    return [word.strip().lower() for word in (words or "").split(",")]


# The command


OUTPUTS = (".html", ".csv", ".json")


def run_monitor(arguments: Namespace) -> int:
    """Add the rows of files to a monitor for each group, print the figures, and write and keep them."""
    files, output = files_of(arguments.files), None if arguments.output is None else Path(arguments.output)
    watch = Watch(arguments)
    _require_places(
        arguments, [file.path for file in files], output, is_own=output is not None and watch.own(output) != []
    )
    with of_a_state() if watch.kept else nullcontext():
        if kept := watch.kept:  # what the command leaves out is that of the state, and nothing else may be asked
            require_same(arguments, kept)
            arguments.rows, arguments.weight, scale = kept["rows"], kept["weight"], kept["scale"]
            arguments.percent, arguments.normalize = scale == "percent", scale == "normalize"
        for file in files:
            watch.add(file)
        if not watch.monitors:
            raise ValueError(f"{arguments.files[0]} must hold rows to watch; no row was read. Name another folder.")
        tables = {name: one.table(n_resamples=arguments.resamples) for name, one in sorted(watch.monitors.items())}
        alarms = [(name, alarm.test) for name, table in tables.items() for alarm in table.alarms]
        failing = [watch.fails_for(*alarm) for alarm in alarms] if arguments.fail_on_alarm else []
        if output is None:
            watch.write()
        else:
            _write(watch, output, tables, force=arguments.force)
    if arguments.json:
        print(json_of(document_of(tables)))
    else:
        for name, table in tables.items():
            print(f"{watch.kept['by']} {name}\n{table}\n" if name else str(table))
    if output is not None:
        print(f"wrote {output}", file=sys.stderr if arguments.json else sys.stdout)
    new = sum(failing)
    if new:
        print(f"calibrant: gate failed: {new} new {'alarm' if new == 1 else 'alarms'}", file=sys.stderr)
    elif failing:
        many = f"{len(failing)} {'alarm' if len(failing) == 1 else 'alarms'}"
        print(f"{many} of an earlier run, none is new", file=sys.stderr)
    return int(new > 0)


def _require_places(arguments: Namespace, files: list[str], output: Path | None, *, is_own: bool) -> None:
    """Refuse places to write to that are taken, or are read; an output that the state wrote is its own."""
    _, reference = reference_of(arguments.reference)
    inputs = [*files, *([] if reference is None else [reference])]
    if arguments.state is not None:
        require_free(Path(arguments.state), force=True, inputs=inputs)  # it goes on from what stands there
        inputs.append(arguments.state)
    if output is None:
        return
    if arguments.state is not None and output.absolute() == Path(arguments.state).absolute():
        raise ValueError(f"--output must not be the state; got {output} for both. Choose another name.")
    folders = [Path(name).resolve() for name in arguments.files if Path(name).is_dir()]
    if output.suffix.lower() == ".csv" and any(output.resolve().is_relative_to(folder) for folder in folders):
        must = "--output must not be a table in a folder that is watched"
        refuse(must, got=f"{output}, which the next run would read", hint="Choose another folder")
    require_free(output, force=arguments.force or is_own, inputs=inputs, endings=OUTPUTS)


def document_of(tables: dict[str, MonitorTable]) -> dict[str, Any]:
    """Return tables as what JSON can hold, by group."""
    document: dict[str, Any] = {}
    for name, table in tables.items():
        columns = {key: values.tolist() for key, values in table.columns.items()}
        document[name] = {
            "notion": table.notion,
            "alpha": table.alpha,
            "alarms": [asdict(alarm) for alarm in table.alarms],
            "windows": [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)],
        }
    return {"groups": document}


def _write(watch: Watch, output: Path, tables: dict[str, MonitorTable], *, force: bool) -> None:
    """Write the state and then the output, which the state knows as its own before it is written: a run may end between."""
    kind = output.suffix.lower()
    if kind == ".html":
        text = monitor_page(tables)
    elif kind == ".json":
        text = json_of(document_of(tables))
    else:
        text = _csv(tables)
    data, own = text.encode(), watch.own(output)
    watch.pages[str(output)] = [*own, hashlib.sha256(data).hexdigest()]
    watch.write()
    with whole_file(output, force=force or bool(own)) as beside:
        beside.write_bytes(data)


def _csv(tables: dict[str, MonitorTable]) -> str:

    columns = [table.columns for table in tables.values()]
    joined = {key: np.concatenate([one[key] for one in columns]) for key in columns[0]}
    if list(tables) != [ALL]:
        joined = {"group": np.repeat(np.array(list(tables)), [len(one["window"]) for one in columns]), **joined}
    text = io.StringIO(newline="")
    write_rows(text, FileTable({name: Values(values) for name, values in joined.items()}), names=True)
    return text.getvalue()
