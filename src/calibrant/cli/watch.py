"""`calibrant monitor`: calibration over time, from files in the order of their names, with a state that is continued."""

import hashlib
import io
import json
import os
import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from calibrant._core.arrays import as_double
from calibrant._core.border import as_problem
from calibrant._core.checks import numbers_as_such, refuse, require
from calibrant._core.checksum import checksum_of
from calibrant.cli.inputs import Forecast, chosen_columns, json_of, rows_named
from calibrant.interop import writing
from calibrant.interop.columns import MISSING, FileTable, Values
from calibrant.interop.readers import require_found
from calibrant.interop.tables import choose_columns, forecast_in, read_table, write_rows
from calibrant.monitoring.monitor import Monitor, MonitorTable, of_a_state, options_of

# The files that are watched


class WatchedFile(NamedTuple):
    """A file, and the ``window`` that it is without --time."""

    path: str
    window: str


def files_of(named: list[str]) -> list[WatchedFile]:
    """Return the files that are named, those of a folder or pattern in the order of their names: day_9 stands before day_10."""
    return [file for name in named for file in _files(name)]


def _files(name: str) -> Iterator[WatchedFile]:
    if "://" in name:
        raise ValueError(f"files to watch must lie on this machine; got {name}. Copy them, or use Monitor in Python.")
    path = Path(name)
    files = sorted(writing.local_files(path), key=lambda file: numbers_as_such(file.as_posix()))
    if files == [path.absolute()] or not (files or path.is_dir()):
        yield WatchedFile(name, writing.stem_of(path))
        return
    require_found(name, files)
    writing.warn_of_unread(name, path)
    home = writing.home_of(path)
    for file in files:
        yield WatchedFile(os.path.relpath(file), file.relative_to(home).with_name(writing.stem_of(file)).as_posix())


def digest_of(path: str, option: str = "") -> str:
    """Return the digest by which a file is known wherever it lies."""
    if not os.path.isfile(path):
        raise FileNotFoundError(f"the file{option and f' of {option}'} must exist; got {path}. Check the path.")
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# What is kept between runs: how files are read, which were, and a monitor for each group


STATE, VERSION = "calibrant_monitor_files", 4

OPTIONS = (
    *("window", "time", "reference", "by", "alpha", "bins", "notion", "pos_label", "classes"),
    *("label", "prob", "logit", "rows", "percent", "normalize", "weight"),
)
"""What each run of a state must say alike."""

ALL = ""
"""Name of the one group where there are no groups."""

MOST_GROUPS = 1000


class Watch:
    """The state of a watch, to which files are added.

    Attributes
    ----------
    before : bytes or None
        What the file of the state held when it was read; None where there was none.
    said : dict
        What the command says, and the digest of a file of reference.
    columns : dict
        The columns of all files, as the first one has them; empty before.
    options : dict
        Those of the monitors; empty before the first file.
    known : dict of str to list
        Place of each file that was read, by its digest, and the window that it is without --time.
    monitors : dict of str to Monitor
        One for each group.
    reported : dict of str to dict
        Alarms by group and test, with the number of files that were known when the gate failed.
    """

    def __init__(self, asked: Namespace) -> None:
        self.asked, self.path = asked, asked.state
        is_file = asked.reference is not None and not asked.reference.isdecimal()
        self.reference: str | None = asked.reference if is_file else None
        self.number = 1 if is_file else int(asked.reference or 1)
        digest = None if self.reference is None else digest_of(self.reference, "--reference")
        self.said = {name: getattr(asked, name) for name in OPTIONS} | {"content of the reference": digest}
        self.columns: dict[str, Any] = {}
        self.options: dict[str, Any] = {}
        self.known: dict[str, list[str | None]] = {}
        self.monitors: dict[str, Monitor] = {}
        self.reported: dict[str, dict[str, int]] = {}
        self.before = self._bytes()
        if self.before is not None:
            self._read(self.before)

    def _bytes(self) -> bytes | None:
        """Return what stands at the place of the state; a device has no end."""
        if self.path is None or not os.path.lexists(self.path):
            return None
        must = f"--state must be a file that `calibrant monitor` wrote; {self.path} is none"
        if not Path(self.path).is_file():
            raise ValueError(f"{must}. Name another, or begin a new one.")
        return Path(self.path).read_bytes()

    def _read(self, data: bytes) -> None:
        try:
            plain = {"version": None} | json.loads(data.decode("utf-8"))
            json.dumps(plain, allow_nan=False)  # no number is infinite
            if plain["version"] != VERSION:
                raise ValueError(f"it must hold a state of version {VERSION}")
            if plain["checksum"] != checksum_of(plain):
                raise ValueError("it does not match its checksum, so it was changed or damaged")
            self.known, self.columns = plain[STATE], plain["columns"]
            self.options, self.reported = plain["monitor"], plain["reported"]
            said = {name: plain["said"][name] for name in self.said}
            self.monitors = {name: Monitor.from_dict(one) for name, one in plain["groups"].items()}
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise ValueError(
                f"--state must be a file that `calibrant monitor` wrote; {self.path} is not: {str(error).removesuffix('.')}. "
                "Put back a copy of it, or begin a new state in another file: all rows are then read anew."
            ) from error
        for name, given in self.said.items():
            word = name if " " in name else f"--{name.replace('_', '-')}"
            must = f"{word} must be that of the state {self.path}, {said[name]!r}"
            require(given == said[name], must, got=repr(given), hint="Run the same line, or begin a new state")

    def write(self) -> None:
        """Write the state, whole or not at all, and only if no other run has written it since it was read."""
        if self.path is None:
            return
        state: dict[str, Any] = {
            STATE: self.known,
            "version": VERSION,
            "said": self.said,
            "columns": self.columns,
            "monitor": self.options,
            "groups": {name: monitor.to_dict() for name, monitor in sorted(self.monitors.items())},
            "reported": self.reported,
        }
        try:
            text = json.dumps(state | {"checksum": checksum_of(state)}, allow_nan=False)
        except ValueError as error:  # sums beyond the largest number, as of a state that somebody changed
            must = f"--state {self.path} must have sums that are finite; some are not"
            raise ValueError(f"{must}. Put back a copy of it, or begin a new one.") from error
        with writing.one_at_a_time(Path(self.path)):
            if self._bytes() != self.before:
                must = f"--state must stay as it was while a run reads files; another run wrote {self.path}"
                raise ValueError(f"{must}. Nothing was written; run again.")
            with writing.whole_file(self.path, force=self.before is not None) as beside:
                beside.write_text(text, encoding="utf-8")
        self.before = text.encode()

    def fails_for(self, group: str, test: str) -> bool:
        """Return whether the gate fails for an alarm: on its first run, and again while no other file is read."""
        return self.reported.get(group, {}).get(test, len(self.known)) == len(self.known)

    def note_reported(self, alarms: list[tuple[str, str]]) -> None:
        """Note which alarms the gate has failed for, when all is written that speaks of them; else the next run fails too."""
        if any(test not in self.reported.get(group, {}) for group, test in alarms):
            for group, test in alarms:
                self.reported.setdefault(group, {}).setdefault(test, len(self.known))
            with suppress(ValueError, OSError):
                self.write()

    # Files are added

    def add(self, file: WatchedFile) -> None:
        """Add the rows of a file, unless the state has them."""
        digest, place = digest_of(file.path), os.path.abspath(file.path)
        time, window = self.asked.time, window_of(self.asked.window)
        named = file.window if time is None and window is None else None
        if digest in self.known:
            of_another = "" if self.known[digest][0] == place else f", from {self.known[digest][0]}"
            print(f"{file.path}: its rows were read already{of_another}", file=sys.stderr)
            return
        must, got = "a file that was read must stay as it is", f"{file.path} has other content"
        hint = "Put new rows into a new file, or begin anew"
        require(all(place != known for known, _ in self.known.values()), must, given=got, hint=hint)
        twin = next((known for known, other in self.known.values() if named is not None and other == named), None)
        must = "files must have names that differ without folder and ending, as each is a window"
        hint = "Rename one, name a folder that holds both, or name windows by --time"
        require(twin is None, must, got=f"{twin} and {place}", hint=hint)
        must, got = "no file must be read twice", f"{file.path} is the reference"
        require(digest not in self.said.values(), must, given=got, hint="Keep it apart from the files that are watched")
        forecast = self._forecast(file.path)
        if forecast is None:
            print(f"{file.path}: it has no rows, and is read again next time", file=sys.stderr)
            return
        columns = {**rows_of(forecast), "at": named}
        if time is not None:
            _require_column(forecast, time, "time")
            columns["at"] = forecast.table[time]
        self.options = self.options or self._settled(forecast)
        for name, rows in _groups(forecast, self.asked.by):
            monitor = self._monitor(name)
            with _named(forecast, name):
                monitor.update(**_some(columns, rows))
            self.options = options_of(monitor)  # with the notion that the first rows decide
        must, hint = f"{file.path} must stay as it is while it is read", "Run again when it is written"
        require(digest_of(file.path) == digest, must, given="it has changed", hint=hint)
        self.known[digest] = [place, named]

    def _forecast(self, path: str) -> Forecast | None:
        """Return the forecast of a file, in the columns of the first file; None without rows."""
        table, guessed = read_table(path, may_be_empty=True), tuple[str, ...]()
        if not any(map(len, table.columns.values())):
            return None
        if not self.columns:
            chosen = choose_columns(table, where=path, **chosen_columns(self.asked))
            kind, guessed = "prob" if chosen.input == "probability" else "logit", chosen.guessed
            self.columns = {"label": chosen.label_column, kind: list(chosen.forecast_columns)}
        found = forecast_in(table, rows=rows_named(self.asked.rows), where=path, **self.columns)
        return Forecast.of(replace(found, guessed=guessed), self.asked) if found.n_rows else None

    def _settled(self, forecast: Forecast) -> dict[str, Any]:
        """Take the options of the monitors from the command, and the classes from the first file."""
        of, window = self.asked, window_of(self.asked.window)
        with _named(forecast):
            event, labels = forecast.event, forecast.classes
            if labels is None:
                own = event if forecast.values.ndim == 1 else None
                problem = as_problem(forecast.y_true, forecast.values, pos_label=own, input=forecast.input)
                labels = problem.classes.tolist()
        if isinstance(window, str) and of.time is None:
            raise ValueError(f"--window {window} must have the time of each row; got none. Name its column by --time.")
        if isinstance(window, int) and of.time is not None:
            must = "--time must be left out where --window is a number of rows"
            hint = "Leave one out, or pass a length of time such as --window 1d"
            refuse(must, got=f"{of.time!r} and {window}", hint=hint)
        said: dict[str, Any] = {"window": window, "alpha": of.alpha, "notion": of.notion, "binning": of.bins}
        said = {name: value for name, value in said.items() if value is not None}
        return options_of(Monitor(reference=self.number, labels=labels, pos_label=event, input=forecast.input, **said))

    def _monitor(self, name: str) -> Monitor:
        """Return the monitor of a group, a new one with the rows of its group in the file of reference."""
        if name in self.monitors:
            return self.monitors[name]
        must, hint = f"--by must name a column of at most {MOST_GROUPS} groups", "Name another"
        require(len(self.monitors) < MOST_GROUPS, must, given="there are more", hint=hint)
        monitor = self.monitors[name] = Monitor(**self.options)
        if self.reference is not None:
            forecast = self._forecast(self.reference)
            rows = None if forecast is None else dict(_groups(forecast, self.asked.by)).get(name)
            if forecast is None or rows is None:
                of_each = (
                    f" of each group; {self.reference} has none of {name!r}" if name else f"; {self.reference} has none"
                )
                raise ValueError(f"--reference must hold rows{of_each}. Add some.")
            with _named(forecast, name):
                monitor.update_reference(**_some(rows_of(forecast), rows))
        return monitor


def rows_of(forecast: Forecast) -> dict[str, Any]:
    """Return all rows as arguments of `Monitor.update`; in double precision, so that all windows have the same edges.

    Decimals in single precision become those in double: they stand in the bins in which `calibrant assess` has them.
    """
    with _named(forecast):
        return {"y_true": forecast.y_true, "y_prob": as_double(forecast.values), "sample_weight": forecast.weight}


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
    """Yield the name of each group, and its rows."""
    if by is None:
        yield ALL, slice(None)
        return
    _require_column(forecast, by, "by")
    names = np.array([cell.strip() for cell in forecast.table.columns[by].cells()])
    lacking = np.flatnonzero(np.isin(names, MISSING))
    must, got = f"--by {by} must hold a group in each row", f"{forecast.file} has none in {lacking.size} rows"
    require(not lacking.size, must, given=got, hint="Write a word there, or leave these rows out")
    for name in np.unique(names).tolist():
        yield name, np.flatnonzero(names == name)


def _require_column(forecast: Forecast, name: str, option: str) -> None:
    known = ", ".join(map(repr, list(forecast.table)[:12]))
    must = f"{forecast.file} must have the column {name!r} of --{option}"
    require(name in forecast.table, must, given=f"it has {known}", hint="Name one that all files have")


def window_of(given: str | None) -> int | str | None:
    """Return a number of rows, or a length of time."""
    return int(given) if given and given.isdecimal() else given


# The command


OUTPUTS = (".html", ".csv", ".json")


def run_monitor(arguments: Namespace) -> int:
    """Add the rows of files to a monitor for each group, print the figures, and write and keep them."""
    files, output = files_of(arguments.files), None if arguments.output is None else Path(arguments.output)
    watch = Watch(arguments)
    _require_places(arguments, [*(file.path for file in files), *filter(None, [watch.reference])], output)
    with nullcontext() if watch.before is None else of_a_state():
        for file in files:
            watch.add(file)
        if not watch.monitors:
            raise ValueError(f"{arguments.files[0]} must hold rows to watch; no row was read. Name another folder.")
        tables = {name: one.table(n_resamples=arguments.resamples) for name, one in sorted(watch.monitors.items())}
        alarms = [(name, alarm.test) for name, table in tables.items() for alarm in table.alarms]
        failing = [watch.fails_for(*alarm) for alarm in alarms] if arguments.fail_on_alarm else []
    page = None if output is None else _page(output, tables)
    watch.write()
    if output is not None and page is not None:
        with writing.whole_file(output, force=arguments.force) as beside:
            beside.write_text(page, encoding="utf-8")
    if arguments.json:
        print(json_of(document_of(tables)))
    else:
        for name, table in tables.items():
            print(f"{arguments.by} {name}\n{table}\n" if name else str(table))
    if output is not None:
        print(f"wrote {output}", file=sys.stderr if arguments.json else sys.stdout)
    new = sum(failing)
    if new:
        print(f"calibrant: gate failed: {new} new {'alarm' if new == 1 else 'alarms'}", file=sys.stderr)
    elif failing:
        many = f"{len(failing)} {'alarm' if len(failing) == 1 else 'alarms'}"
        print(f"{many} of an earlier run, none is new", file=sys.stderr)
    if failing:
        sys.stdout.flush()
        watch.note_reported(alarms)
    return int(new > 0)


def _require_places(arguments: Namespace, inputs: list[str], output: Path | None) -> None:
    """Refuse places to write to that are taken, or are read."""
    if arguments.state is not None:
        writing.require_free(Path(arguments.state), force=True, inputs=inputs)  # it goes on from what stands there
        inputs.append(arguments.state)
    if output is None:
        return
    if arguments.state is not None and output.absolute() == Path(arguments.state).absolute():
        raise ValueError(f"--output must not be the state; got {output} for both. Choose another name.")
    folders = [Path(name).resolve() for name in arguments.files if Path(name).is_dir()]
    if output.suffix.lower() == ".csv" and any(output.resolve().is_relative_to(folder) for folder in folders):
        must = "--output must not be a table in a folder that is watched"
        refuse(must, got=f"{output}, which the next run would read", hint="Choose another folder")
    writing.require_free(output, force=arguments.force, inputs=inputs, endings=OUTPUTS)


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


def _page(output: Path, tables: dict[str, MonitorTable]) -> str:
    """Return what is written, by the ending of its file."""
    if (kind := output.suffix.lower()) != ".csv":
        if kind != ".html":
            return json_of(document_of(tables))
        from calibrant.report.page import monitor_page  # with it scikit-learn and Matplotlib

        return monitor_page(tables)
    columns = [table.columns for table in tables.values()]
    joined = {key: np.concatenate([one[key] for one in columns]) for key in columns[0]}
    if list(tables) != [ALL]:
        joined = {"group": np.repeat(np.array(list(tables)), [len(one["window"]) for one in columns]), **joined}
    text = io.StringIO(newline="")
    write_rows(text, FileTable({name: Values(values) for name, values in joined.items()}), names=True)
    return text.getvalue()
