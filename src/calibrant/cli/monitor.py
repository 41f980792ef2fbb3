"""`calibrant monitor`: calibration over time, from files in the order of their names, with a state that is continued."""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from calibrant.cli.watch import Watch
from calibrant.cli.watch_state import ALL, WatchState, files_of

if TYPE_CHECKING:
    from calibrant.monitoring import MonitorTable

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
    from calibrant.report.monitor import monitor_page

    if kind == ".html":
        return monitor_page(tables).encode()
    if kind == ".json":
        return json.dumps(document_of(tables), indent=2, allow_nan=False).encode()
    import numpy as np

    from calibrant.interop.columns import Values
    from calibrant.interop.csv_files import write_rows
    from calibrant.interop.file_table import FileTable

    columns = [table.columns for table in tables.values()]
    joined = {key: np.concatenate([one[key] for one in columns]) for key in columns[0]}
    if list(tables) != [ALL]:
        joined = {"group": np.repeat(np.array(list(tables)), [len(one["window"]) for one in columns]), **joined}
    text = io.StringIO(newline="")
    write_rows(text, FileTable({name: Values(values) for name, values in joined.items()}), names=True)
    return text.getvalue().encode()
