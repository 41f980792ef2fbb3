"""A CSV file has the same cells whether it is read whole or in batches."""

import re

import numpy as np
import pytest

from calibrant import calibration_error, predictions
from calibrant._core.checks import as_numbers
from calibrant.interop.tables import read_forecast

RNG = np.random.default_rng(4)
SCORE = RNG.random(300).round(4)
EVENT = (RNG.random(300) < SCORE).astype(int)


def lines(separator=",", decimal=".", label=str, before="", note=None):
    head = separator.join(["y", "p"] + (["note"] if note else []))
    rows = [
        separator.join([label(y), f"{p}".replace(".", decimal)] + ([note] if note else []))
        for y, p in zip(EVENT, SCORE, strict=True)
    ]
    return before + "\n".join([head, *rows]) + "\n"


TEXTS = {
    "plain": lines(),
    "semicolons": lines(";", ","),
    "tabs": lines("\t"),
    "mark": "\ufeff" + lines(),
    "blank lines": lines(before="\n\n"),
    "quotes": lines(note='"a, ""b""\nc"'),
    "whole numbers with a point": lines(label=lambda y: f"{y}.0"),
    "spaces": lines(label=lambda y: f" {y}"),
    "truth values": lines(label=lambda y: str(bool(y))),
    "Windows": lines().replace("\n", "\r\n"),
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=list(TEXTS))
def test_any_csv_file_is_read_as_it_is_whole(text, tmp_path):
    path = tmp_path / "p.csv"
    path.write_bytes(text.encode())
    whole = read_forecast(path)
    read = predictions(path, batch_rows=70)
    assert calibration_error(read) == calibration_error(whole.y_true, whole.y_prob) == calibration_error(EVENT, SCORE)
    assert read.classes.tolist() == ([False, True] if whole.y_true.dtype.kind == "b" else [0, 1])


def test_a_wrong_cell_is_refused_with_its_row(tmp_path):
    path = tmp_path / "p.csv"
    path.write_text(lines().replace(f"\n{EVENT[200]},{SCORE[200]}\n", f"\n{EVENT[200]},\n"))
    with pytest.raises(ValueError, match=r"p\.csv: y_prob must be finite; got nan at index 200"):
        calibration_error(predictions(path))
    path.write_text(lines().replace(f"\n{EVENT[200]},{SCORE[200]}\n", f"\n{EVENT[200]},zero\n"))
    with pytest.raises(
        TypeError, match=r"p\.csv must hold numbers in the column 'p'; got 'zero' in row 200\. Correct .* prob="
    ):
        calibration_error(predictions(path))
    path.write_text(lines().replace(f"\n{EVENT[200]},{SCORE[200]}\n", f"\n7,{SCORE[200]}\n"))
    with pytest.raises(ValueError, match=r"p\.csv: y_true must be .*7"):
        calibration_error(predictions(path, labels=[0, 1]))


NUMBERS = {
    "0.5": 0.5, " 0.5 ": 0.5, "\t0.5": 0.5, "+.5": 0.5, ".5": 0.5, "5e-1": 0.5, "+5E-01": 0.5, "1": 1.0, "1.": 1.0, "-0": -0.0,
    "0e0": 0.0, "4.9e-324": 5e-324,
}  # fmt: skip
NO_NUMBERS = [
    "00.5", "007", "\xa00.5", "0.5\x0c", "\u3000.5", "1_0", "\u0663", "0x1p-1", "0.5.", "1e", "--1", "NA", "x", "0.5\n",
]  # fmt: skip
NOT_FINITE = ["", " ", "nan", "NaN", "NAN", "inf", "-inf", "Infinity", "1e400"]


def read_both_ways(tmp_path, cell, separator, decimal):
    """Return a column of a file in memory and of a folder that is read in batches, or what each is refused with."""
    rows = [f"1{separator}0{decimal}25", f'1{separator}"{cell}"', f"0{separator}0{decimal}75"]
    path = tmp_path / "rows.csv"
    path.write_text("\n".join([f"y{separator}p", *rows]) + "\n", encoding="utf-8", newline="")
    found = []
    for read in (
        lambda: as_numbers("y_prob", read_forecast(path).y_prob),
        lambda: predictions(tmp_path).sample(3)["y_prob"],
    ):
        try:
            found.append(read().tolist())
        except (ValueError, TypeError) as error:
            found.append(f"{type(error).__name__}: {error}")
    return found


@pytest.mark.parametrize("separator", [",", ";"])
@pytest.mark.parametrize("cell", [*NUMBERS, *NO_NUMBERS, *NOT_FINITE, "0,5", "1,5"], ids=repr)
def test_a_number_is_one_in_a_file_and_in_a_folder(cell, separator, tmp_path):
    whole, streamed = read_both_ways(tmp_path, cell, separator, "," if "," in cell and separator == ";" else ".")
    if cell in NUMBERS:
        assert whole == streamed == [0.25, NUMBERS[cell], 0.75]
    elif cell == "0,5" and separator == ";":
        assert whole == streamed == [0.25, 0.5, 0.75]
    elif cell in NOT_FINITE:
        assert all(
            re.search(r"Error: .*y_prob must be finite; got -?(nan|inf) at index 1\.", said)
            for said in (whole, streamed)
        )
    elif cell == "1,5" and separator == ";":
        assert whole == [0.25, 1.5, 0.75]
        assert "must hold probabilities in [0, 1]; got 1.5 at index 1" in streamed
    else:
        said = f"rows.csv must hold numbers in the column 'p'; got {cell!r} in row 1. "
        assert all(said in text and text.startswith("TypeError") for text in (whole, streamed)), (whole, streamed)


@pytest.mark.parametrize(
    "cells", [["1", "0"], [" 1", "0"], ["1.0", "0"], ["01", "1"], ["\xa01", "1"], ["1_0", "1"], ["True", "False"]]
)
def test_a_label_is_the_same_in_a_file_and_in_a_folder(cells, tmp_path):
    (tmp_path / "rows.csv").write_text("y,p\n" + "".join(f"{cell},0.5\n" for cell in cells), encoding="utf-8")
    event = read_forecast(tmp_path / "rows.csv").y_true.tolist()[0]
    folder = predictions(tmp_path, pos_label=event).sample(2)["y_true"].tolist()
    assert folder == read_forecast(tmp_path / "rows.csv").y_true.tolist()


OPEN = {
    "odd": ["0,0.5,x", '1,0.5,"x', "0,0.5,x", "1,0.25,x"],
    "even": ['0,0.5,5" pipe', '1,0.5,"x', "0,0.5,x", "1,0.25,x"],
}


@pytest.mark.parametrize("lines", OPEN.values(), ids=list(OPEN))
def test_a_quote_that_is_never_closed_swallows_no_rows(lines, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(["label,p,note", *lines]) + "\n")
    for read in (read_forecast, lambda path: predictions(path).sample(9)):
        with pytest.raises(ValueError, match=r"line 3 has a quote at the start of a cell that is never closed"):
            read(path)
    path.write_text('label,p,note\n1,0.5,5" pipe\n0,0.25,"a\nb"\n')
    assert predictions(path).sample(9)["y_prob"].tolist() == read_forecast(path).y_prob.tolist() == [0.5, 0.25]


def test_long_cells_are_read_and_a_longer_row_is_refused_in_words(tmp_path):
    path = tmp_path / "rows.csv"
    for length in (200_000, 3_000_000):
        path.write_text(f"note,label,p\n{'x' * length},1,0.5\ny,0,0.25\n")
        assert len(predictions(path).sample(9)["y_true"]) == 2
    path.write_text(f"note,label,p\ny,0,0.25\n{'x' * 18_000_000},1,0.5\n")
    with pytest.raises(ValueError, match=r"a row is longer than 8 MiB: leave out the column"):
        predictions(path).sample(9)
