"""What a command only carries over leaves it as it came in: every cell of a CSV file, every Arrow type, every null."""

import datetime as dt
import decimal
import re
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from calibrant.cli import main
from calibrant.interop.tables import read_forecast, read_table, write_table

PROB = [0.2, 0.7, 0.4]
N = len(PROB)


@pytest.fixture
def calibrator(tmp_path, monkeypatch):
    """A fitted calibrator of one column, in the folder that a command runs in."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    p = rng.random(200)
    write_table("fit.csv", {"y": (rng.random(200) < p**2).astype(int), "p": p})
    assert main(["fit", "fit.csv", "--method", "platt", "-o", "c.json"]) == 0
    return "c.json"


WRITE = {"parquet": pa.parquet.write_table, "feather": pa.feather.write_feather}
READ = {"parquet": pa.parquet.read_table, "feather": pa.feather.read_table}


def applied(source, target, *words):
    """Apply the calibrator to a file of a format, and return what is copied beside it, of the file before and after."""
    assert main(["apply", "c.json", f"in.{source}", "-o", f"out.{target}", *words]) == 0
    return READ[source](f"in.{source}"), READ[target](f"out.{target}")


# CSV

CELLS = {
    "code": ["00001", "007", "0"],
    "word nan": ["nan", "NaN", "x"],
    "long": ["12345678901234567890", "1", "2"],
    "gap": ["9007199254740993", "", "9007199254740992"],
    "quoted": ['"a, b"', '"say ""so"""', '"two\nlines"'],
    "returns": ['"a\rb"', '"\r"', "c"],
    "spaces": [" a ", "b", "  "],
    "plus": ["+1", "1.0", "1e3"],
    "truth": ["True", "False", "true"],
    "date": ["2024-01-01T00:00:00+01:00", "01/02/2024", ""],
    "formula": ["=1+1", "@x", "-"],
    "umlaut": ["dög", "🐈", "é"],
}


@pytest.mark.parametrize("name", CELLS)
def test_apply_copies_every_cell_of_a_csv_file(name, calibrator):
    lines = [f"{cell},{p}" for cell, p in zip(CELLS[name], PROB, strict=True)]
    Path("in.csv").write_text("\n".join(["extra,p", *lines]) + "\n", encoding="utf-8", newline="")
    assert main(["apply", calibrator, "in.csv", "-o", "out.csv"]) == 0
    before, after = (read_table(file).columns["extra"].cells() for file in ("in.csv", "out.csv"))
    assert after == before
    text = Path("out.csv").read_bytes().decode()
    assert all(cell in text for cell in CELLS[name])


def test_a_file_in_another_encoding_is_refused_with_the_one_to_use(tmp_path):
    (tmp_path / "t.csv").write_bytes("y,p\n1,0.5\n".encode("utf-16"))
    with pytest.raises(ValueError, match=r"readable csv.*UTF-8"):
        read_table(tmp_path / "t.csv")


@pytest.mark.parametrize("first", [0, 2])
def test_a_wrong_cell_is_named_by_its_own_row(first, tmp_path):
    (tmp_path / "t.csv").write_text("y,p\n1,0.1\n\n0,0.2\n1,0.3\n0,half\n")
    with pytest.raises(TypeError, match=r"numbers in the column 'p'; got 'half' in row 3"):
        read_forecast(tmp_path / "t.csv", rows=slice(first, None))


# Parquet and Feather


MIDNIGHT = dt.datetime(2024, 1, 1, tzinfo=dt.UTC)
COLUMNS = {
    "int64 with a gap": pa.array([2**53 + 1, None, 2**63 - 1]),
    "uint64": pa.array([2**64 - 1, 0, None], pa.uint64()),
    "float32": pa.array([0.1, None, float("nan")], pa.float32()),
    "float16": pa.array(np.array([0.5, 1, 2], dtype=np.float16)),
    "boolean": pa.array([True, None, False]),
    "words": pa.array(["a", None, ""]),
    "large words": pa.array(["a", None, "b"], pa.large_string()),
    "dictionary": pa.array(["a", None, "a"]).dictionary_encode(),
    "zoned": pa.array([MIDNIGHT, None, MIDNIGHT], pa.timestamp("us", tz="Europe/Berlin")),
    "date": pa.array([dt.date(2024, 1, 1), None, dt.date(1, 1, 1)]),
    "time": pa.array([dt.time(1, 2, 3), None, dt.time(0)]),
    "duration": pa.array([dt.timedelta(1), None, dt.timedelta(0)]),
    "decimal": pa.array([decimal.Decimal("0.10"), None, decimal.Decimal("12345678901234567.89")], pa.decimal128(20, 2)),
    "binary": pa.array([b"\x00", None, b""]),
    "list": pa.array([[1, 2], None, []]),
    "struct": pa.array([{"a": 1, "b": "x"}, None, {"a": 2, "b": None}]),
    "null": pa.nulls(3),
}


@pytest.mark.parametrize("ending", ["parquet", "feather"])
def test_apply_copies_every_arrow_column(ending, calibrator):
    WRITE[ending](pa.table({**COLUMNS, "p": PROB}), f"in.{ending}")
    given, written = applied(ending, ending)
    for name in COLUMNS:
        assert written[name].type == given[name].type, name
        assert repr(written[name].to_pylist()) == repr(given[name].to_pylist()), name


@pytest.mark.parametrize("name", ["list", "binary"])
def test_what_csv_cannot_hold_is_refused_with_the_way_out(name, calibrator, capsys):
    pa.parquet.write_table(pa.table({"extra": COLUMNS[name], "p": PROB}), "in.parquet")
    assert main(["apply", calibrator, "in.parquet", "-o", "out.csv"]) == 2
    assert "CSV has no cells for" in capsys.readouterr().err


def test_labels_of_a_nullable_kind_are_read_and_missing_ones_refused(tmp_path):
    truth = pa.array([True, False, True]), pa.array([1, None, 0]), pa.array(["a", "b", "a"]).dictionary_encode()
    for k, labels in enumerate(truth):
        columns = {"y": labels, "p_a": PROB, "p_b": [1 - p for p in PROB]}
        pa.parquet.write_table(pa.table(columns), tmp_path / f"{k}.parquet")
    assert read_forecast(tmp_path / "0.parquet").y_true.tolist() == [True, False, True]
    assert read_forecast(tmp_path / "2.parquet").labels() == ["a", "b"]
    with pytest.raises(ValueError, match="y_true must hold"):
        read_forecast(tmp_path / "1.parquet").labels()
    pa.parquet.write_table(pa.table({"y": [1, 0], "p": [[0.1, 0.9], [0.5, 0.5]]}), tmp_path / "lists.parquet")
    with pytest.raises(TypeError, match=r"in polars \.list\.to_array\(LENGTH\)\."):
        read_forecast(tmp_path / "lists.parquet")


def test_words_and_categories_of_polars_are_read_and_copied(calibrator):
    pl.DataFrame({"y": list("nyn"), "k": list("aab"), "p": PROB}).cast({"y": pl.Categorical}).write_ipc("in.feather")
    for words in (["--where", "k = a"], ["--on-error", "skip"]):
        assert main(["assess", "in.feather", "--pos-label", "y", "--metrics", "nll", *words]) == 0
    assert main(["apply", calibrator, "in.feather", "-o", "out.csv"]) == 0
    assert read_table("out.csv")["y"].tolist() == ["n", "y", "n"]


def test_a_frame_of_pandas_keeps_its_types(calibrator):
    frame = pd.DataFrame({"p": PROB, "seen": pd.array([True, None, False], dtype="boolean")}, index=[5, 6, 7])
    frame.to_parquet("in.parquet")
    applied("parquet", "parquet")
    again = pd.read_parquet("out.parquet")
    assert again.index.tolist() == [5, 6, 7]
    pd.testing.assert_series_equal(again["seen"], frame["seen"])


@pytest.mark.parametrize("target", ["parquet", "feather"])
@pytest.mark.parametrize("source", ["parquet", "feather"])
def test_what_is_said_of_a_copied_column_is_kept(source, target, calibrator):
    shape = pa.field("shape", pa.binary(), nullable=False, metadata={"ARROW:extension:name": "geoarrow.wkb"})
    fields = [shape, pa.field("n", pa.int64(), metadata={"unit": "m"}), pa.field("p", pa.float64(), nullable=False)]
    table = pa.table([[b"a", b"b", b"c"], [1, None, 3], PROB], schema=pa.schema(fields, metadata={"geo": "{}"}))
    WRITE[source](table, f"in.{source}")
    _, found = applied(source, target, "--rows", "1:")
    for name in ("shape", "n"):
        assert found.schema.field(name).equals(table.schema.field(name), check_metadata=True)
        assert found[name].to_pylist() == table[name].to_pylist()[1:]
    assert found.schema.metadata[b"geo"] == b"{}"


@pytest.mark.parametrize("ending", ["parquet", "feather"])
def test_a_column_name_that_stands_twice_is_refused(ending, tmp_path):
    WRITE[ending](pa.table([[1, 0], [0.5, 0.2], [0.1, 0.2]], names=["y", "p", "p"]), tmp_path / f"t.{ending}")
    said = f"readable {ending} file; it is not: it has the column name 'p' more than once"
    with pytest.raises(ValueError, match=said):
        read_table(tmp_path / f"t.{ending}")


# NPZ


@pytest.mark.parametrize(
    ("array", "cells"),
    [
        (np.array(["2024-01-01", "NaT", "0001-01-01"], "datetime64[D]"), ["2024-01-01", "", "0001-01-01"]),
        (
            np.array(["2024-01-01T01:02:03.000000004", "NaT", "2024-01-01"], "datetime64[ns]"),
            ["2024-01-01T01:02:03.000000004", "", "2024-01-01T00:00:00.000000000"],
        ),
        (np.array([b"a", "dög".encode(), b""]), ["a", "dög", ""]),
    ],
    ids=["days", "nanoseconds", "bytes"],
)
def test_dates_and_bytes_of_an_npz_file_are_text_in_a_csv_file(array, cells, calibrator):
    np.savez("in.npz", extra=array, p=PROB)
    assert main(["apply", calibrator, "in.npz", "-o", "out.csv"]) == 0
    assert read_table("out.csv").columns["extra"].cells() == cells


@pytest.mark.parametrize(
    ("array", "target", "why"),
    [
        (np.array([b"a", b"\xff", b""]), "csv", "CSV has no cells for binary"),
        (np.array([(1, 2)] * 3, "i4,i4"), "csv", "CSV has no cells for records"),
        (np.zeros((3, 2)), "csv", "CSV has no cells for arrays of 2 axes"),
        (np.zeros((3, 2)), "parquet", "no columns for arrays of 2 axes"),
        (np.zeros(3, complex), "parquet", "complex|numpy type"),
    ],
    ids=["bytes", "records", "table", "table of arrow", "complex"],
)
def test_an_array_that_has_no_cells_is_refused_by_its_name(array, target, why, calibrator, capsys):
    np.savez("in.npz", extra=array, p=PROB)
    assert main(["apply", calibrator, "in.npz", "-o", f"out.{target}"]) == 2
    assert re.search(f"({why}).*, for the column 'extra'\\. Make room, drop the column", capsys.readouterr().err)
    assert main(["apply", calibrator, "in.npz", "-o", "out.npz"]) == 0
    np.testing.assert_array_equal(np.load("out.npz")["extra"], array)


COMMANDS = {"apply": ["apply", "c.json", "in.npz"], "decide": ["decide", "in.npz", "--prob", "p"]}


@pytest.mark.parametrize("command", COMMANDS)
def test_arrays_of_any_shape_are_carried_over_and_those_without_its_rows_are_left_out(command, calibrator, capsys):
    rng = np.random.default_rng(0)
    of_rows = {"image": rng.random((N, 2, 2, 2)), "table": rng.random((N, 2)), "label": rng.random((N, 2, 2))}
    apart = {"names": np.array(["a", "b"]), "scale": np.array(2.5), "grid": np.zeros((2, 2, 2))}
    np.savez("in.npz", **of_rows, **apart, note=np.array({"a": 1}), p=PROB)
    assert main([*COMMANDS[command], "-o", "out.npz", "--rows", ":2"]) == 0
    said = "in.npz is read without the arrays 'grid', 'names', 'note', 4 in all, which have another number of rows"
    assert said in capsys.readouterr().err
    with np.load("out.npz") as found:
        assert not found.keys() & apart.keys()
        for name, array in of_rows.items():
            np.testing.assert_array_equal(found[name], array[:2])


@pytest.mark.filterwarnings("ignore:.*is read without the arrays")
@pytest.mark.parametrize("shape", [(), (N, 2, 2)])
def test_a_forecast_has_one_or_two_axes(shape, tmp_path):
    np.savez(tmp_path / "t.npz", P=np.zeros(shape), p=PROB, y=[0, 1, 0])
    assert read_forecast(tmp_path / "t.npz").y_prob.tolist() == PROB
    with pytest.raises(ValueError, match=f"one or two axes in 'P'; got one of {len(shape)}\\. Choose another"):
        read_forecast(tmp_path / "t.npz", prob="P")
