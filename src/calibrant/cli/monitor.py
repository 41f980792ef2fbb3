"""`calibrant monitor`: calibration over time, from files in the order of their names, with a state that is continued."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from calibrant.cli.inputs import labels_of, pos_label_of, read, values_of, weight_of

if TYPE_CHECKING:
    from calibrant.interop.files import ForecastTable
    from calibrant.monitoring import Monitor, MonitorTable

OUTPUTS = (".html", ".csv", ".json")

ALL = ""
"""Name of the one group where there are no groups."""

STATE = "calibrant_monitor_files"

MOST_GROUPS = 1000


def run_monitor(arguments: argparse.Namespace) -> int:
    """Add the rows of files to a monitor for each group, print the figures, and write and keep them."""
    from calibrant.interop.writing import require_free

    output = None if arguments.output is None else Path(arguments.output)
    files = files_of(arguments.files)
    if output is not None:
        if output.suffix.lower() not in OUTPUTS:
            raise ValueError(
                f"--output must end in {', '.join(OUTPUTS)}; got {output.name!r}. The ending sets what is written."
            )
        require_free(output, force=arguments.force, inputs=[*files, *([arguments.state] if arguments.state else [])])
    monitors, known = _restored(arguments)
    for file in files:
        _add(arguments, monitors, known, file)
    if not any(monitor.n_windows for monitor in monitors.values()):
        raise ValueError(f"{arguments.files[0]} must hold rows to watch; no file was read. Name another folder.")
    tables = {name: monitor.table(n_resamples=arguments.resamples) for name, monitor in sorted(monitors.items())}
    if arguments.state is not None:
        _keep(arguments, monitors, known)
    _print(arguments, tables)
    if output is not None:
        _write(output, tables, force=arguments.force)
        print(f"wrote {output}", file=sys.stderr if arguments.json else sys.stdout)
    alarms = sum(len(table.alarms) for table in tables.values())
    if alarms and arguments.fail_on_alarm:
        print(f"calibrant: gate failed: {alarms} {'alarm' if alarms == 1 else 'alarms'}", file=sys.stderr)
        return 1
    return 0


def files_of(named: list[str]) -> list[str]:
    """Return the files that are named, those of a folder in the order of their names: file_9 stands before file_10."""
    from calibrant.interop.tables import FORMATS
    from calibrant.monitoring.windows import in_order

    found = []
    for name in named:
        path = Path(name)
        if not path.is_dir():
            found.append(name)
            continue
        inside = [
            str(file) for file in path.iterdir() if file.suffix.lower() in FORMATS and not file.name.startswith(".")
        ]
        if not inside:
            raise ValueError(
                f"{name} must hold files that end in {', '.join(FORMATS)}; it has none. Name another folder."
            )
        found += sorted(inside, key=in_order)
    return found


def _restored(arguments: argparse.Namespace) -> tuple[dict[str, Monitor], dict[str, int]]:
    """Return the monitors of a saved state, by group, and the sizes of the files that they hold; nothing of a new one."""
    from calibrant.monitoring import Monitor

    path = arguments.state
    if path is None or not os.path.exists(path):
        return {}, {}
    try:
        plain = json.loads(Path(path).read_text(encoding="utf-8"))
        if not isinstance(plain, dict) or STATE not in plain:
            raise ValueError("it has other entries")
        monitors = {name: Monitor.from_dict(one) for name, one in plain["groups"].items()}
        known = {str(file): int(size) for file, size in plain[STATE].items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(
            f"--state must be a file that `calibrant monitor` wrote; {path} is not: {error}. Name another, or remove it."
        ) from error
    _require_same(arguments, plain.get("by"), next(iter(monitors.values()), None))
    return monitors, known


def _require_same(arguments: argparse.Namespace, by: str | None, kept: Monitor | None) -> None:
    """Refuse options that are not those of a state, and take from it those that the command leaves out."""
    if kept is None:
        return
    made = _monitor(arguments, None)
    for name, own, held in (
        ("by", arguments.by, by),
        *((name, getattr(made, name), getattr(kept, name)) for name in ("window", "reference", "alpha")),
    ):
        if own != held and (getattr(arguments, name) is not None or name == "by"):
            raise ValueError(
                f"--{name} must be that of the state {arguments.state}; got {own!r}, and {held!r} there. "
                "Leave it as it was, or begin a new state."
            )
    arguments.window = arguments.window or (None if kept.window is None else str(kept.window))
    arguments.reference = arguments.reference or str(kept.reference)
    arguments.alpha = kept.alpha


def _monitor(arguments: argparse.Namespace, forecast: ForecastTable | None) -> Monitor:
    """Return a new monitor with the options of the command, and the classes that a file names."""
    from calibrant.monitoring import Monitor

    reference = arguments.reference
    options: dict[str, Any] = {}
    if reference is not None and reference.isdecimal():
        options["reference"] = int(reference)
    if arguments.alpha is not None:
        options["alpha"] = arguments.alpha
    if forecast is not None:
        options |= {
            "labels": labels_of(arguments, forecast),
            "pos_label": pos_label_of(arguments, forecast),
            "input": forecast.input,
        }
    window = arguments.window
    number = int(window) if window is not None and window.isdecimal() else window
    return Monitor(
        window=number,
        notion=arguments.notion,
        binning=15 if arguments.bins is None else arguments.bins,
        **options,
    )


def _add(arguments: argparse.Namespace, monitors: dict[str, Monitor], known: dict[str, int], file: str) -> None:
    """Add the rows of a file, unless the state has them."""
    place, size = os.path.abspath(file), os.path.getsize(file) if os.path.exists(file) else 0
    if place in known:
        if known[place] != size:
            raise ValueError(
                f"a file that was read must stay as it is; {file} had {known[place]} bytes and has {size}. Begin a new state, "
                "or put new rows into a new file."
            )
        print(f"{file}: its rows are in the state already", file=sys.stderr)
        return
    forecast = read(arguments, file)
    at = _column(arguments, forecast, "time")
    if at is None and (arguments.window is None or not arguments.window.isdecimal()):
        if arguments.window is not None:
            raise ValueError(
                f"--window {arguments.window} must have the time of each row; got none. Name its column by --time."
            )
        at = Path(file).stem
    for name, rows in _groups(arguments, forecast):
        if name not in monitors:
            monitors[name] = _monitor(arguments, forecast)
            _refer(arguments, monitors[name], name)
            if len(monitors) > MOST_GROUPS:
                raise ValueError(
                    f"--by must name a column of at most {MOST_GROUPS} groups; {file} has more. Name another."
                )
        weight = weight_of(arguments, forecast)
        monitors[name].update(
            forecast.y_true[rows],
            values_of(arguments, forecast)[rows],
            at=at if at is None or isinstance(at, str) else at[rows],
            sample_weight=None if weight is None else weight[rows],
        )
    known[place] = size


def _refer(arguments: argparse.Namespace, monitor: Monitor, group: str) -> None:
    """Give a new monitor the rows of its group in the file that is named as reference."""
    if arguments.reference is None or arguments.reference.isdecimal():
        return
    forecast = read(arguments, arguments.reference)
    rows = dict(_groups(arguments, forecast)).get(group)
    if rows is None:
        raise ValueError(
            f"--reference must hold rows of each group; {arguments.reference} has none of {group!r}. Add some."
        )
    weight = weight_of(arguments, forecast)
    monitor.update_reference(
        forecast.y_true[rows],
        values_of(arguments, forecast)[rows],
        sample_weight=None if weight is None else weight[rows],
    )


def _column(arguments: argparse.Namespace, forecast: ForecastTable, option: str) -> Any:
    from calibrant.interop.files import select_one

    wanted = getattr(arguments, option)
    if wanted is None:
        return None
    return forecast.table[select_one(list(forecast.table), wanted, f"--{option}", where=forecast.file)]


def _groups(arguments: argparse.Namespace, forecast: ForecastTable) -> Iterator[tuple[str, Any]]:
    """Yield the name of each group, and its rows."""
    import numpy as np

    column = _column(arguments, forecast, "by")
    if column is None:
        yield ALL, slice(None)
        return
    names = np.array([str(value) for value in column.tolist()])
    for name in np.unique(names).tolist():
        yield name, np.flatnonzero(names == name)


def _keep(arguments: argparse.Namespace, monitors: dict[str, Monitor], known: dict[str, int]) -> None:
    """Write the state, whole or not at all."""
    from calibrant.interop.writing import whole_file

    state: dict[str, Any] = {
        STATE: known,
        "by": arguments.by,
        "groups": {name: monitor.to_dict() for name, monitor in sorted(monitors.items())},
    }
    with whole_file(arguments.state, force=True) as beside:
        beside.write_text(json.dumps(state, allow_nan=False), encoding="utf-8")


def _print(arguments: argparse.Namespace, tables: dict[str, MonitorTable]) -> None:
    if arguments.json:
        print(json.dumps(document_of(tables), indent=2, allow_nan=False))
        return
    for name, table in tables.items():
        print(f"{arguments.by} {name}\n{table}\n" if name else str(table))


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


def _write(path: Path, tables: dict[str, MonitorTable], *, force: bool) -> None:
    from calibrant.interop.tables import write_table
    from calibrant.interop.writing import whole_file
    from calibrant.report.monitor import monitor_page

    kind = path.suffix.lower()
    if kind == ".csv":
        import numpy as np

        columns = [table.columns for table in tables.values()]
        joined = {key: np.concatenate([one[key] for one in columns]) for key in columns[0]}
        groups = np.repeat(np.array(list(tables)), [len(one["window"]) for one in columns])
        write_table(path, joined if list(tables) == [ALL] else {"group": groups, **joined}, force=force)
        return
    text = monitor_page(tables) if kind == ".html" else json.dumps(document_of(tables), indent=2, allow_nan=False)
    with whole_file(path, force=force) as beside:
        beside.write_text(text, encoding="utf-8")
