"""What is wrong in a file, a row group or a batch is named with its row, or left out and counted."""

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest

from calibrant import assess, calibration_error, predictions
from calibrant.sums import Plan, scan

RNG = np.random.default_rng(11)
N = 6000
SCORE = RNG.random(N)
EVENT = (RNG.random(N) < SCORE).astype(int)


def table(score=SCORE, event=EVENT, **more):
    return pa.table({"y": event, "p": score, **more})


def changed(values, at, value):
    values = np.array(values, dtype=object if isinstance(value, str) else None)
    values[at] = value
    return values


def rows_of(read):
    return scan(read, Plan()).rows


WRONG = {
    "nan": (
        table(changed(SCORE, 4100, np.nan)),
        r"p\.parquet, row group 2: y_prob must be finite; got nan at index 100\.",
    ),
    "missing": (
        table(pa.array(SCORE, mask=np.arange(N) == 2001)),
        r"row group 1: y_prob must be finite; got nan at index 1\.",
    ),
    "large": (table(changed(SCORE, 5999, 1.5)), r"row group 2: .*1\.5.* 1999"),
    "class": (
        table(event=changed(EVENT, 2100, 7)),
        r"row group 1: y_true must be among the classes .*got 7 at index 100",
    ),
}


@pytest.mark.parametrize(("wrong", "words"), WRONG.values(), ids=list(WRONG))
def test_a_wrong_row_is_named_by_file_row_group_and_row(wrong, words, tmp_path):
    path = tmp_path / "p.parquet"
    pa.parquet.write_table(wrong, path, row_group_size=2000)
    with pytest.raises(ValueError, match=words):
        assess(predictions(path))
    assert rows_of(predictions(path, on_error="skip")) == 4000


def test_an_unseen_word_and_a_missing_one_are_named(tmp_path):
    words = np.array(["no", "yes"], dtype=object)[EVENT]
    for value, said in (("may", r"got 'may' at index 3"), (None, r"got a missing label at index 3")):
        path = tmp_path / f"{value}.parquet"
        pa.parquet.write_table(
            table(event=pa.array(changed(words, 3003, value) if value else [*words[:3003], None, *words[3004:]])),
            path,
            row_group_size=3000,
        )
        with pytest.raises(ValueError, match=rf"row group 1: y_true must be among the classes .*{said}"):
            calibration_error(predictions(path, labels=["no", "yes"]))


def test_a_row_group_that_is_damaged_is_named_or_left_out(tmp_path):
    path = tmp_path / "p.parquet"
    pa.parquet.write_table(table(), path, row_group_size=2000, compression="zstd", use_dictionary=False)
    start = pa.parquet.ParquetFile(path).metadata.row_group(1).column(1).data_page_offset
    data = bytearray(path.read_bytes())
    data[start : start + 400] = bytes(400)
    path.write_bytes(data)
    with pytest.raises(
        ValueError, match=r"p\.parquet, row group 1 must be readable; it is not: .*\. Was it cut or damaged\?"
    ):
        calibration_error(predictions(path))
    found = assess(predictions(path, on_error="skip"), n_resamples=20)
    assert (found.n_rows, found.left_out) == (4000, 1)


@pytest.mark.parametrize("ending", ["parquet", "feather", "csv"])
def test_a_file_that_is_cut_is_named_or_left_out(ending, tmp_path):
    writers = {"parquet": pa.parquet.write_table, "feather": pa.feather.write_feather, "csv": pa.csv.write_csv}
    for name in ("a", "b"):
        writers[ending](table(), tmp_path / f"{name}.{ending}")
    path = tmp_path / f"b.{ending}"
    cut = b"y,p\n1,2,3\n" if ending == "csv" else path.read_bytes()[:-100]
    path.write_bytes(cut)
    with pytest.raises(ValueError, match=rf"b\.{ending}.* must be .*readable"):
        calibration_error(predictions(tmp_path))
    read = predictions(tmp_path, on_error="skip")
    assert rows_of(read) == N
    assert read.left_out[0] == 1


def test_a_differing_schema_is_named(tmp_path):
    pa.parquet.write_table(table(), tmp_path / "a.parquet")
    pa.parquet.write_table(table().rename_columns(["y", "q"]), tmp_path / "b.parquet")
    with pytest.raises(ValueError, match=r"b\.parquet must have the column 'p', as the first; it has 'y', 'q'"):
        calibration_error(predictions(tmp_path))
    pa.parquet.write_table(table(SCORE.astype(np.float32)), tmp_path / "a.parquet")
    pa.parquet.write_table(table(), tmp_path / "b.parquet")
    with pytest.raises(
        ValueError, match=r"b\.parquet, row group 0: all batches must have the columns of the first.*float32"
    ):
        calibration_error(predictions(tmp_path))
    pa.parquet.write_table(table(changed(SCORE, 0, "x").astype(str)), tmp_path / "b.parquet")
    with pytest.raises(TypeError, match=r"b\.parquet, row group 0: the column 'p' must hold numbers; got string"):
        calibration_error(predictions(tmp_path))


def test_batches_without_rows_change_nothing():
    empty = (EVENT[:0], SCORE[:0])
    ours = predictions([empty, (EVENT[:4500], SCORE[:4500]), empty, (EVENT[4500:], SCORE[4500:]), empty])
    assert calibration_error(ours) == calibration_error(EVENT, SCORE)
    streamed = predictions([table().slice(0, 0), table().slice(0, 5000), table().slice(0, 0), table().slice(5000)])
    assert calibration_error(streamed) == calibration_error(EVENT, SCORE)
    for nothing in ([], [empty], table().slice(0, 0)):
        with pytest.raises(ValueError, match=r"predictions must hold at least one row; got none"):
            calibration_error(predictions(nothing))


def test_rows_without_weight_count_for_nothing():
    weight = np.where(np.arange(N) < 5000, 1.0, 0.0)
    ours = predictions(
        [(EVENT[a : a + 500], SCORE[a : a + 500], weight[a : a + 500]) for a in range(0, N, 500)], batch_rows=500
    )
    assert calibration_error(ours) == pytest.approx(calibration_error(EVENT[:5000], SCORE[:5000]), rel=1e-12)


def test_a_file_without_rows_changes_nothing_and_a_name_twice_is_refused(tmp_path):
    pa.csv.write_csv(table(), tmp_path / "a.csv")
    (tmp_path / "b.csv").write_text("y,p\n")
    assert rows_of(predictions(tmp_path)) == N
    (tmp_path / "b.csv").write_text("y,p,p\n0,0.5,0.5\n")
    with pytest.raises(ValueError, match=r"b\.csv must be a readable csv file.*the column name 'p' more than once"):
        rows_of(predictions(tmp_path))


def test_each_batch_has_its_own_weights():
    """Five too few in one batch and five too many in the next were once taken for those of the rows in turn."""
    weight = np.arange(1.0, 101.0)
    moved = [(EVENT[:50], SCORE[:50], weight[:45]), (EVENT[50:100], SCORE[50:100], weight[45:])]
    with pytest.raises(
        ValueError, match=r"batch 0: sample_weight must hold a weight for each of the 50 rows; got shape"
    ):
        calibration_error(predictions(moved))
    with pytest.raises(ValueError, match=r"for each of the 100 rows; got shape \(\)"):
        calibration_error(predictions([(EVENT[:100], SCORE[:100], 1.0)]))


@pytest.mark.parametrize(
    ("batches", "words"),
    [
        ([(EVENT,)], "batch 0 must be y_true and y_prob, perhaps with weights; got tuple of length 1"),
        ([(EVENT, SCORE), (EVENT, SCORE, SCORE, SCORE)], "batch 1 must be .* got tuple of length 4"),
        ([(EVENT, SCORE), None], "batch 1 must be .* got NoneType"),
        ([(EVENT, None)], "batch 0: y_true and y_prob must be arrays"),
        (lambda: None, "a function returns; it returned NoneType. Return an iterator of pairs"),
    ],
)
def test_what_is_no_batch_is_refused_in_words(batches, words):
    with pytest.raises(TypeError, match=words):
        calibration_error(predictions(batches))
