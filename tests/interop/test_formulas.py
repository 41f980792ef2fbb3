"""Cells of a CSV file that a spreadsheet would run as formulas are escaped where that is asked for, and nothing else is."""

import csv
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibrant import TemperatureScaling, cli
from calibrant.interop.columns import FileTable, Text
from calibrant.interop.save import save_calibrator
from calibrant.interop.tables import read_table, write_table

DANGEROUS = [
    "=1+1",
    "+cmd",
    "-cmd|' /C calc'!A0",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "\n=1",
    "＝1+1",
    "＋1a",
    "－1a",
    "＠a",
    "=",
    "'=1",
    "+49 123",
]
HARMLESS = ["", "a=b", "-0.5", "+1", "1e-5", "-1E+05", "-.5", "-0,5", "-inf", "nan", "'", "'tis", " =1", "0x1", "x\t"]
RNG = np.random.default_rng(0)
P = RNG.dirichlet(np.ones(2), 20)


def cells_of(file):
    with open(file, newline="", encoding="utf-8") as lines:
        return list(csv.reader(lines))


@pytest.mark.parametrize("cell", DANGEROUS)
def test_a_cell_that_begins_as_a_formula_gets_a_quote(cell):
    assert FileTable({"a": Text([cell])}).escaped().columns["a"].cells() == [f"'{cell}"]


@pytest.mark.parametrize("cell", HARMLESS)
def test_numbers_and_other_words_stay(cell):
    assert FileTable({"a": Text([cell])}).escaped().columns["a"].cells() == [cell]


@given(st.lists(st.text(alphabet="'=+-@\t\r\n1.e a"), min_size=1, max_size=6))
def test_one_quote_less_gives_back_every_cell(cells):
    escaped = FileTable({"a": Text(cells)}).escaped().columns["a"].cells()
    assert [cell[1:] if re.match(r"'+[=+\-@\t\r\n]", cell) else cell for cell in escaped] == cells


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = {"=id": np.array(DANGEROUS[:4] * 5), "label": np.tile(["=no", "-1"], 10), "p_=no": P[:, 0], "p_-1": P[:, 1]}
    write_table("rows.csv", rows)
    write_table("rows.parquet", rows)
    calibrator = TemperatureScaling(labels=["=no", "-1"]).fit(P, rows["label"])
    save_calibrator(calibrator, "calibrator.json", columns=["p_=no", "p_-1"])
    return rows


def run(*words):
    return cli.main([str(word) for word in words])


@pytest.mark.parametrize("source", ["rows.csv", "rows.parquet"])
def test_apply_escapes_names_and_text_and_leaves_numbers(source, files):
    assert run("apply", "calibrator.json", source, "-o", "plain.csv") == 0
    assert run("apply", "calibrator.json", source, "--escape-formulas", "-o", "safe.csv") == 0
    plain, safe = cells_of("plain.csv"), cells_of("safe.csv")
    assert plain[0] == ["=id", "label", "p_=no", "p_-1"]  # without the option a copy is a copy
    assert safe[0] == ["'=id", "label", "p_=no", "p_-1"]
    assert [row[0] for row in safe[1:]] == [f"'{cell}" for cell in files["=id"]]
    assert {row[1] for row in safe[1:]} == {"'=no", "-1"}
    assert [row[2:] for row in safe] == [row[2:] for row in plain]
    np.testing.assert_array_equal(read_table("safe.csv")["p_=no"], read_table("plain.csv")["p_=no"])


def test_decide_escapes_its_own_words(files):
    assert run("decide", "rows.csv", "--escape-formulas", "-o", "safe.csv") == 0
    assert {row[4] for row in cells_of("safe.csv")[1:]} == {"'=no", "-1"}


@pytest.mark.parametrize("words", [["apply", "calibrator.json", "rows.csv"], ["decide", "rows.csv"]])
def test_what_is_no_csv_file_has_no_formulas(words, files, capsys):
    assert run(*words, "--escape-formulas", "-o", "out.parquet") == 2
    told = capsys.readouterr().err
    assert (
        "--escape-formulas must be of a CSV output; got out.parquet, whose cells are never formulas. Leave it out."
        in told
    )
    assert not Path("out.parquet").exists()
