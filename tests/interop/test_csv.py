"""CSV files: separators, quotes, missing cells and numbers as text."""

import csv
import gzip
import io
import os
import re
import sys

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from calibrant import predictions
from calibrant.interop.columns import FileTable, Text, is_figure
from calibrant.interop.tables import read_forecast, read_table, write_table


def write(path, text):
    path.write_bytes(text.encode())
    return path


def test_decimal_commas_are_cured_by_points_and_by_semicolons(tmp_path):
    text = 'label,p\n1,"0,5"\n0,"0,2"\n'
    with pytest.raises(TypeError, match=r"Write decimals with a point, or separate the columns by semicolons\."):
        read_forecast(write(tmp_path / "t.csv", text))
    for cured in (text.replace("0,", "0.").replace('0."', '0,"'), "label;p\n1;0,5\n0;0,2\n"):
        assert read_forecast(write(tmp_path / "t.csv", cured)).y_prob.tolist() == [0.5, 0.2]


@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["unix", "windows"])
def test_a_blank_line_of_one_column_is_a_missing_cell(newline, tmp_path):
    path = write(tmp_path / "table.csv", newline.join(["p", ".5", "", ".2", ""]))
    np.testing.assert_array_equal(read_table(path)["p"], [0.5, np.nan, 0.2])
    pair = write(tmp_path / "pair.csv", newline.join(["y,p", "1,.5", "", "0,.2", ""]))
    assert read_table(pair)["p"].tolist() == [0.5, 0.2]


@pytest.mark.parametrize(
    ("rows", "line"),
    [
        (["1,.5,ok", '0,.2,"cut', "1,.3,z"], 3),
        (["1,.5,ok", '0,.2,"cut'], 3),
        (['1,.5,5" pipe', '0,.2,"cut', "1,.3,z"], 3),
        (['1,"two', 'lines",x', '0,.2,"say ""no""', "1,.3,z"], 4),
        (['1,.5,"cut', '0,.2,"ok"', "1,.3,z"], 2),
    ],
    ids=["in the middle", "in the last row", "after a quote inside a cell", "after two lines", "before another"],
)
def test_a_quote_that_is_never_closed_is_refused_by_its_line(rows, line, tmp_path):
    path = write(tmp_path / "table.csv", "\n".join(["label,p,note", *rows, ""]))
    said = f"must be (a )?readable( csv file)?; it is not: line {line} has a quote .* never closed"
    packed = path.with_suffix(".csv.gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    for read in (read_table, lambda path: predictions(path).sample(9)):
        for one in (path, packed):
            with pytest.raises(ValueError, match=said):
                read(one)


@pytest.mark.parametrize("cell", ['5" pipe', '"say ""5"" "" inches"" """', '"two\nlines"', '"two\n"'])
def test_quotes_that_do_not_open_a_cell_are_characters(cell, tmp_path):
    path = write(tmp_path / "table.csv", f"\ufeffy,p,x\n0,.5,{cell}\n1,.2,{cell}\n1,.3,{cell}\n")
    assert read_table(path)["p"].tolist() == predictions(path).sample(3)["y_prob"].tolist() == [0.5, 0.2, 0.3]


@pytest.mark.parametrize("length", [200_000, 3_000_000])
def test_a_cell_of_any_length_is_read(length, tmp_path):
    long, limit = "x" * length, csv.field_size_limit()
    path = write(tmp_path / "table.csv", f"y,p,note\n0,.5,a\n1,.2,{long}\n1,.3,b\n")
    assert read_table(path).columns["note"].cells() == ["a", long, "b"]
    assert csv.field_size_limit() == limit
    assert predictions(path).sample(3)["y_prob"].tolist() == [0.5, 0.2, 0.3]
    with pytest.raises(ValueError, match=r"must be readable; it is not: .*3 columns, got 4"):
        read_table(write(path, f"y,p,note\n0,.5,a\n1,.2,{long}\n1,.3,b,c\n"))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('y;"p, no";p_b\n1;0,25;0,75\n', ["y", "p, no", "p_b"]),
        ("y;p, no;p_b\n1;0,25;0,75\n", ["y", "p, no", "p_b"]),
        ("y;a,b,c,d;p\n1;2;3\n", ["y", "a,b,c,d", "p"]),
        ("y\tp, no\tp;b\n1\t0.25\t0.75\n", ["y", "p, no", "p;b"]),
        ('y,p,"a; b; c; d"\n1,.5,x\n', ["y", "p", "a; b; c; d"]),
        ("y,a;b;c\n1,2\n", ["y", "a;b;c"]),
        ("y,a;b\n1,2;3\n", ["y", "a;b"]),
        ("y,a;b;c\n", None),
    ],
    ids=["quoted", "unquoted", "more commas", "tab", "quoted semicolons", "semicolons", "tie", "names alone"],
)
def test_the_separator_is_the_one_that_parts_the_first_lines_alike(text, names, tmp_path):
    path = write(tmp_path / "table.csv", text)
    if names is None:
        with pytest.raises(ValueError, match="at least one row"):
            read_table(path)
    else:
        assert list(read_table(path)) == names


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_a_path_that_is_no_text_is_refused(tmp_path):
    path = tmp_path / os.fsdecode(b"caf\xe9.csv")
    path.write_text("label,p\n1,0.5\n")
    with pytest.raises(ValueError, match=r"the path of a table must be UTF-8 text; got .*\. Rename it\."):
        read_table(path)


def test_a_file_of_empty_lines_has_no_rows(tmp_path):
    with pytest.raises(ValueError, match="readable csv file; it is not: it has no columns"):
        read_table(write(tmp_path / "table.csv", "\n\n"))


def test_a_missing_cell_is_an_empty_cell_when_written_again(tmp_path):
    write_table(tmp_path / "out.csv", {"x": np.array([0.5, np.nan]), "k": np.array([1, 2])})
    assert (tmp_path / "out.csv").read_text() == "x,k\n0.5,1\n,2\n"


# Cells of a CSV file as numbers, booleans or words: the law of a column, whichever reader and however often a cell occurs

WHOLES = ["0", "7", "-2", " 30 ", "9223372036854775807"]
NUMBERS = [*WHOLES, "0.5", "-.5", "+0", "0e5", "1e-300", "inf", "-Infinity", "1.", "+1.25", "0.1\t"]
CODES = ["00", "007", "-01", "+00.5", "01e3"]
BLANKS = ["", "nan", "NaN", " "]
WORDS = ["x", "True", "true", "False", "1_0", "0x1p3", "18446744073709551616", "dög", "é0"]
ALMOST = ["+", "0-", "--1", "0,5", "-0,25"]
MIXTURES = [NUMBERS + BLANKS, CODES + NUMBERS, NUMBERS + CODES + BLANKS + WORDS + ALMOST]
KINDS = [WHOLES, NUMBERS, BLANKS, ["True", "False"], ["0,5", "1", "2,5"], *MIXTURES]

cells = st.one_of(*[st.lists(st.sampled_from(kind), min_size=1, max_size=6) for kind in KINDS])


def by_the_law(given_, decimal):
    """Return what the cells are, one by one."""
    for point in (given_, [cell.replace(",", ".") for cell in given_])[: 2 if decimal == "," else 1]:
        bare = [cell.strip() for cell in point]
        if all(re.fullmatch("0|-?[1-9][0-9]*", cell) for cell in bare):
            if all(abs(int(cell)) < 2**63 for cell in bare):
                return np.array([int(cell) for cell in bare], dtype=np.int64)
        elif set(bare) - set(BLANKS) and all(cell in BLANKS or is_figure(cell) for cell in bare):
            return np.array([float(cell or "nan") for cell in bare])
    if set(given_) <= {"True", "False"} or set(given_) <= {"true", "false"}:
        return np.array([cell in ("True", "true") for cell in given_])
    return np.array([cell or None for cell in given_], dtype=object) if "" in given_ else np.array(given_)


def held(given_):
    """Return the cells as the readers hold them, also cut from among others."""
    column = pa.array(given_, pa.string())
    among = pa.array(["007", *given_, "", "x"], pa.string()).slice(1, len(given_))
    return [given_, column, pa.chunked_array([column[:1], column[1:]]), pa.chunked_array([among[:2], among[2:]])]


@settings(max_examples=60)
@given(given_=cells, times=st.sampled_from([1, 4]), decimal=st.sampled_from(".,"))
@example(given_=[], times=1, decimal=".")
@example(given_=["0"], times=1, decimal=".")
@example(given_=["0", "5"], times=1, decimal=".")
def test_a_column_is_what_all_its_cells_are(given_, times, decimal):
    expected = by_the_law(given_ * times, decimal)
    for data in held(given_ * times):
        found = Text(data, decimal=decimal).values()
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_a_quote_anywhere_lets_cells_have_lines(newline, tmp_path):
    """Without one the file is read faster: both give the same cells, over more than a block."""
    rows = [f"{k},word {k}" for k in range(150_000)]
    (tmp_path / "plain.csv").write_bytes(newline.join(["k,w", *rows]).encode())
    (tmp_path / "quoted.csv").write_bytes(newline.join(["k,w", *rows, '-1,"two\nlines"']).encode())
    plain, quoted = (read_table(tmp_path / f"{name}.csv") for name in ("plain", "quoted"))
    assert plain["k"].tolist() == list(range(150_000))
    assert quoted["k"].tolist() == [*plain["k"].tolist(), -1]
    assert quoted["w"].tolist() == [*plain["w"].tolist(), "two\nlines"]


@settings(max_examples=60)
@given(
    table=st.lists(st.tuples(*[st.text(st.sampled_from('ab1.,;\t"\r\n \0é'), max_size=3)] * 3), min_size=1, max_size=8),
    plain=st.booleans(),
    n_columns=st.integers(1, 3),
    separator=st.sampled_from(",;\t"),
)
def test_cells_are_written_as_by_the_csv_module(table, plain, n_columns, separator, tmp_path_factory):
    rows = [["".join(filter(str.isalnum, cell)) if plain else cell for cell in row[:n_columns]] for row in table]
    columns = {f"c{k}": Text(list(cells)) for k, cells in enumerate(zip(*rows, strict=True))}
    expected = io.StringIO()
    quoting = csv.QUOTE_ALL if any("\r" in cell for row in rows for cell in row) else csv.QUOTE_MINIMAL
    writer = csv.writer(expected, lineterminator="\n", delimiter=separator, quoting=quoting)
    writer.writerow(columns)
    writer.writerows(rows)
    path = tmp_path_factory.mktemp("written") / "t.csv"
    write_table(path, FileTable(columns, separator=separator))
    assert path.read_bytes().decode() == expected.getvalue()
