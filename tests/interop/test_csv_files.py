"""CSV files: separators, quotes, empty lines and types of columns."""

import csv

import numpy as np
import pytest

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
    with pytest.raises(
        ValueError, match=f"must be (a )?readable( csv file)?; it is not: line {line} has a quote .* never closed"
    ):
        read_table(path)


@pytest.mark.parametrize("cell", ['5" pipe', '"say ""5"" "" inches"" """', '"two\nlines"', '"two\n"'])
def test_quotes_that_do_not_open_a_cell_are_characters(cell, tmp_path):
    path = write(tmp_path / "table.csv", f"\ufeffk,x\n1,{cell}\n2,{cell}\n3,{cell}\n")
    assert read_table(path)["k"].tolist() == [1, 2, 3]


@pytest.mark.parametrize("length", [200_000, 3_000_000])
def test_a_cell_of_any_length_is_read(length, tmp_path):
    long = "x" * length
    limit = csv.field_size_limit()
    path = write(tmp_path / "table.csv", f"k,note\n1,a\n2,{long}\n3,b\n")
    assert read_table(path).columns["note"].cells() == ["a", long, "b"]
    assert csv.field_size_limit() == limit
    with pytest.raises(ValueError, match=r"must be readable; it is not: .*2 columns, got 3"):
        read_table(write(tmp_path / "table.csv", f"k,note\n1,a\n2,{long}\n3,b,c\n"))


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


def test_a_file_of_empty_lines_has_no_rows(tmp_path):
    with pytest.raises(ValueError, match="readable csv file; it is not: it has no columns"):
        read_table(write(tmp_path / "table.csv", "\n\n"))


def test_a_missing_cell_is_an_empty_cell_when_written_again(tmp_path):
    write_table(tmp_path / "out.csv", {"x": np.array([0.5, np.nan]), "k": np.array([1, 2])})
    assert (tmp_path / "out.csv").read_text() == "x,k\n0.5,1\n,2\n"
