"""Valid files: what is damaged."""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

from calibrant.cli import main as calibrant
from calibrant.interop.tables import write_table

SAVED = Path(__file__).parents[2] / "tests" / "interop" / "saved_calibrators.json"
ROWS = 40
CALIBRATOR = "calibrator.json"
"""A calibrator of three classes, for files of predictions."""

DAY = "day.csv"
"""A day of predictions, for states of monitors."""


def calibrators() -> list[dict[str, object]]:
    """Return the documents of one calibrator of each kind."""
    return [kept["document"] for kept in json.loads(SAVED.read_text(encoding="utf-8")).values()]


def write_beside(folder: Path) -> None:
    """Write a calibrator for files of predictions of three classes, and a day for states of monitors."""
    write_table(folder / DAY, _day(1))
    document = json.loads(SAVED.read_text(encoding="utf-8"))["calibrator temperature"]["document"]
    (folder / CALIBRATOR).write_text(json.dumps(document), encoding="utf-8")


def tables() -> list[pa.Table]:
    """Return tables of predictions with columns of many types beside them."""
    rng = np.random.default_rng(0)
    prob, label = rng.dirichlet(np.ones(3), ROWS), np.arange(ROWS) % 3
    columns = {f"p_{k}": prob[:, k] for k in range(3)}
    more = {
        "id": [f"{i:05d}" for i in range(ROWS)],
        "when": pa.array(range(ROWS), pa.timestamp("us", "Europe/Berlin")),
        "weight": rng.integers(1, 4, ROWS),
        "some": pa.array([None if i % 7 == 0 else i for i in range(ROWS)], pa.int64()),
        "kind": pa.array(["x", "y"] * (ROWS // 2)).dictionary_encode(),
    }
    return [
        pa.table({"label": label, **columns}),
        pa.table({"label": label, **columns, **more}),
        pa.table({"y": label == 1, "p": prob[:, 1]}),
        pa.table({"label": label, **{f"z_{k}": np.log(prob[:, k]) for k in range(3)}}),
        pa.table({"label": label, **{name: column.astype(np.float32) for name, column in columns.items()}}),
    ]


def _day(number: int) -> dict[str, np.ndarray]:
    prob = np.random.default_rng(number).random(ROWS)
    return {"y": (np.arange(ROWS) % 3 == 0).astype(int), "p": prob, "at": np.full(ROWS, f"2026-01-{number + 1:02}")}


def write(folder: Path) -> list[Path]:
    """Write all of them, and return the files."""
    made = []
    with tempfile.TemporaryDirectory() as days, contextlib.redirect_stderr(io.StringIO()):
        write_table(f"{days}/day.csv", _day(0))
        made.append(folder / "monitor.state")
        with contextlib.redirect_stdout(io.StringIO()):
            calibrant(["monitor", f"{days}/day.csv", "--time", "at", "--state", str(made[-1])])
    for number, document in enumerate(calibrators()):
        made.append(folder / f"calibrator{number}.json")
        made[-1].write_text(json.dumps(document, indent=2), encoding="utf-8")
    for number, table in enumerate(tables()):
        at = folder / f"table{number}"
        pa.parquet.write_table(table, at.with_suffix(".parquet"), compression=("none", "snappy", "zstd")[number % 3])
        pa.feather.write_feather(
            table, at.with_suffix(".feather"), compression=("uncompressed", "lz4", "zstd")[number % 3]
        )
        lines = [list(table.column_names), *(map(str, row.values()) for row in table.to_pylist())]
        separator = ",;\t"[number % 3]
        at.with_suffix(".csv").write_text("\n".join(map(separator.join, lines)) + "\n", encoding="utf-8")
        made += [at.with_suffix(ending) for ending in (".parquet", ".feather", ".csv")]
        numbers = {name: table[name].to_numpy() for name in table.column_names if name not in ("id", "when", "kind")}
        made.append(at.with_suffix(".npz"))
        (np.savez if number % 2 else np.savez_compressed)(made[-1], **numbers)
    return made
