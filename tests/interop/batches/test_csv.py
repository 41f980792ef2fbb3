"""A CSV file has the same cells whether it is read whole or in batches."""

import numpy as np
import pytest

from calibrant import calibration_error, predictions
from calibrant.interop.files import read_forecast

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
    with pytest.raises(ValueError, match=r"p\.csv.* must be readable; it is not: .*zero"):
        calibration_error(predictions(path))
    path.write_text(lines().replace(f"\n{EVENT[200]},{SCORE[200]}\n", f"\n7,{SCORE[200]}\n"))
    with pytest.raises(ValueError, match=r"p\.csv: y_true must be .*7"):
        calibration_error(predictions(path, labels=[0, 1]))
