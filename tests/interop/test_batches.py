"""Predictions in batches, of files and streams: the figures of the same rows in memory, errors by place, little memory."""

import re
import subprocess
import sys
import tracemalloc
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset
import pyarrow.feather
import pyarrow.parquet
import pytest

from calibrant import assess, calibration_error, expected_calibration_error, measure, predictions
from calibrant._core import threads
from calibrant._core.checks import as_numbers
from calibrant.interop import arrow_batches as streamed
from calibrant.interop.tables import read_forecast
from calibrant.sums import Plan, scan

RNG = np.random.default_rng(5)
N = 9000
PROB = RNG.dirichlet(np.ones(3), N).astype(np.float32)
LABEL = RNG.integers(0, 3, N)
WORDS = np.array(["cat", "dog", "eel"])[LABEL]
EXPECTED = calibration_error(LABEL, PROB)


def table(at=slice(None), label=LABEL):
    columns = {f"p_{name}": PROB[at, k] for k, name in enumerate(("cat", "dog", "eel"))}
    return pa.table({"id": np.arange(N)[at], "y": label[at], **columns})


WRITERS = {".parquet": pa.parquet.write_table, ".feather": pa.feather.write_feather, ".csv": pa.csv.write_csv}


def rows(read):
    return scan(read, Plan()).rows


def write(path, at=slice(None), label=LABEL):
    options = {".parquet": {"row_group_size": 2500}, ".feather": {"chunksize": 1000}}.get(path.suffix, {})
    WRITERS[path.suffix](table(at, label), path, **options)
    return path


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "inner").mkdir()
    (tmp_path / "_hidden").mkdir()
    (tmp_path / "notes.txt").write_text("none")
    write(tmp_path / "_hidden" / "a.parquet")
    for k, name in enumerate(("a.parquet", "b.parquet", "inner/c.parquet")):
        write(tmp_path / name, slice(3000 * k, 3000 * k + 3000))
    return tmp_path


@pytest.mark.parametrize("label", [LABEL, WORDS], ids=["numbers", "words"])
@pytest.mark.parametrize("ending", ["parquet", "feather", "csv"])
def test_a_file_gives_the_figures_of_its_rows(ending, label, tmp_path):
    read = predictions(write(tmp_path / f"rows.{ending}", label=label))
    assert calibration_error(read) == pytest.approx(EXPECTED, rel=1e-6 if ending == "csv" else 1e-12)
    assert read.classes.tolist() == np.unique(label).tolist()
    assert read.precision == (np.float64 if ending == "csv" else np.float32)


def test_folders_patterns_and_lists_are_read_in_the_order_of_names(folder):
    files = [folder / "a.parquet", folder / "b.parquet", folder / "inner"]
    for source in (folder, str(folder / "**" / "*.parquet"), files, folder.as_uri()):
        assert calibration_error(predictions(source)) == pytest.approx(EXPECTED, rel=1e-12)
    for pattern, n_rows in (("*.parquet", 6000), ("*/c.*", 3000), ("[ab].parquet", 6000)):
        assert rows(predictions(str(folder / pattern))) == n_rows
    with pytest.raises(FileNotFoundError, match=r"holds none"):
        predictions(str(folder / "*.csv"))
    with pytest.raises(FileNotFoundError, match=r"the file must exist; got .*nowhere"):
        predictions(folder / "nowhere.parquet")


def test_decimals_stand_in_their_bins_however_they_are_stored(tmp_path):
    """The tenth and the twentieths lie on edges; of Arrow's own, of single precision beside double, normalized or not."""
    p = np.round(np.tile(np.arange(1, 20) / 20, 20), 2)
    y = (RNG.random(p.size) < p).astype(int)
    single, decimal = pa.array(p.astype(np.float32)), pa.array([Decimal(f"{x:.2f}") for x in p], pa.decimal128(3, 2))
    expected = expected_calibration_error(y, p, binning=20)
    for number, columns in enumerate(
        [
            {"p": decimal},
            {"p": single},
            {"p_0": 1 - p, "p_1": single},
            {"p_0": pa.array((1 - p).astype(np.float32)), "p_1": decimal},
        ]
    ):
        one, file = pa.table({"y": y, **columns}), tmp_path / f"{number}.parquet"
        pa.parquet.write_table(one, file)
        for given in (predictions(one), predictions(file, label="y", prob=list(columns))):
            assert expected_calibration_error(given, binning=20) == pytest.approx(expected, abs=1e-6)
        frame = one.select(list(columns)).to_pandas().astype({name: np.float32 for name in columns if name == "p_1"})
        for rows in ("as-given", "normalize"):
            found = expected_calibration_error(y, frame.squeeze(axis=1), binning=20, rows=rows)
            assert found == pytest.approx(expected, abs=1e-6)
    beyond = p.astype(">f4")
    beyond[np.argmax(p)] = np.nextafter(np.float32(1.0), np.float32(2.0))
    of_arrow = pa.table({"0": 1 - p, "1": single})
    for other in (p.astype(np.float16), p.astype(">f4"), of_arrow, pl.from_arrow(of_arrow)):
        assert expected_calibration_error(y, other, binning=20) == pytest.approx(expected, abs=1e-6)
    lifted = expected_calibration_error(y, np.minimum(np.where(beyond > 1, 1.0, p), 1.0), binning=20)
    assert expected_calibration_error(y, beyond, binning=20) == pytest.approx(lifted, abs=1e-6)
    both = [(y, p), (y, p.astype(np.float32))]
    assert expected_calibration_error(predictions(both), binning=20) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    "source",
    [
        lambda: pa.dataset.dataset(table()),
        lambda: table(),
        lambda: table().to_reader(700),
        lambda: lambda: (one for one in table().to_batches(1000)),
        lambda: [table(at).to_pandas().astype({"p_cat": "category"}) for at in (slice(0, 5000), slice(5000, N))],
        lambda: iter([table(slice(0, 5000)), table(slice(5000, N))]),
        lambda: pa.table({"y": LABEL, "prob": pa.FixedSizeListArray.from_arrays(pa.array(PROB.ravel()), 3)}),
        lambda: [(LABEL[:5000], PROB[:5000]), (LABEL[5000:], PROB[5000:].astype(">f4"))],
    ],
    ids=["data set", "table", "reader", "function", "frames", "iterator", "lists", "other bytes"],
)
def test_streams_of_arrow_and_batches_of_tables_are_read(source):
    assert calibration_error(predictions(source())) == pytest.approx(EXPECTED, rel=1e-12)


def test_weights_labels_and_logits_are_read(tmp_path):
    weight, logit = RNG.random(N), np.log(PROB)
    source = pa.table({"true": WORDS, "w": weight, **{f"z_{k}": logit[:, k] for k in range(3)}})
    read = predictions(source, label="true", weight="w", labels=["cat", "dog", "eel"])
    expected = calibration_error(LABEL, logit, sample_weight=weight, input="logit")
    assert calibration_error(read) == pytest.approx(expected, rel=1e-12)


def test_an_iterator_is_read_once_and_no_more():
    read = predictions(iter([(LABEL, PROB)]))
    assert calibration_error(read) == pytest.approx(EXPECTED, rel=1e-12)
    with pytest.raises(ValueError, match=r"an iterator, which can be read once\. Pass a function"):
        calibration_error(read)
    batches = iter([(LABEL, PROB)])
    with pytest.raises(ValueError, match=r"the same rows each time they are read; got 0 after 9000"):
        [calibration_error(again) for again in [predictions(lambda: batches)] * 2]


def test_files_of_csv_and_of_another_format_are_no_table(tmp_path):
    whole = pa.Table.from_pandas(table(slice(0, 100)).to_pandas())
    pa.csv.write_csv(whole, tmp_path / "0.csv")
    pa.parquet.write_table(whole, tmp_path / "1.parquet")
    with pytest.raises(ValueError, match=r"must be CSV, or none of them; got .*0\.csv and .*1\.parquet\."):
        predictions(tmp_path)


def test_an_address_that_pyarrow_does_not_know_is_one_of_fsspec():
    fsspec = pytest.importorskip("fsspec")
    table = pa.table({"y": [0, 1, 1, 0], "p": [0.2, 0.7, 0.6, 0.4]})
    with fsspec.open("memory://rows/a.parquet", "wb") as file:
        pa.parquet.write_table(table, file)
    found = calibration_error([0, 1, 1, 0], [0.2, 0.7, 0.6, 0.4])
    assert calibration_error(predictions("memory://rows", label="y", prob="p")) == pytest.approx(found, abs=1e-12)
    with pytest.raises(ValueError, match="one that pyarrow or fsspec knows; got nowhere://a"):
        predictions("nowhere://a", label="y", prob="p")


# Memory does not grow with the number of rows, and figures do not depend on threads

ROWS = 8192


def stream(n_batches):
    """Batches that are made as they are asked for."""

    def batches():
        rng = np.random.default_rng(0)
        for _ in range(n_batches):
            prob = rng.dirichlet(np.ones(4), ROWS).astype(np.float32)
            yield rng.integers(0, 4, ROWS), prob

    return predictions(batches, batch_rows=ROWS)


def test_memory_does_not_grow_with_the_number_of_batches():
    # A peak of few batches is no measure: how many of them are there at a time depends on when threads get a processor.
    n_batches = 240
    measure(stream(3))  # what is imported and kept for good
    tracemalloc.start()
    try:
        measure(stream(n_batches))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < n_batches * ROWS * 4 * 4 / 4  # a quarter of the probabilities; half of that is used


def test_batches_of_many_columns_have_fewer_rows():
    prob = np.full((1 << 14, 1000), 1e-3, dtype=np.float32)
    sizes = predictions([(np.zeros(1 << 14, dtype=int), prob)]).reduce(lambda batch, first: np.array([1.0, batch.size]))
    assert sizes.tolist() == [4, 1 << 14]


def test_a_file_is_read_row_group_by_row_group(tmp_path):
    n = 40 * ROWS
    table = pa.table({"y": np.arange(n) % 2, "p": np.linspace(0.0, 1.0, n), "other": np.arange(n)})
    pa.parquet.write_table(table, tmp_path / "p.parquet", row_group_size=ROWS)
    size, seen = table.select(["y", "p"]).nbytes, []
    del table
    before = pa.total_allocated_bytes()

    def read(batch, first):
        seen.append(pa.total_allocated_bytes() - before)
        return np.array([batch.size])

    assert predictions(tmp_path / "p.parquet", batch_rows=ROWS).reduce(read).tolist() == [n]
    assert max(seen) < size / 3


def test_one_thread_gives_the_digits_of_several(monkeypatch):
    found = []
    for workers in (1, 3):
        monkeypatch.setattr(streamed, "n_processors", lambda workers=workers: workers)
        found.append((measure(stream(6)), scan(stream(6), Plan(noise=True)).rows))
    assert found[0] == found[1]


def test_an_error_ends_the_threads_that_read_ahead():
    made = []

    def items():
        for number in range(10):
            made.append(number)
            yield number

    ahead = threads.ahead(items(), 2)
    assert next(ahead) == 0
    ahead.close()
    assert len(made) <= 5
    assert list(threads.ahead(iter(range(5)), 2)) == list(threads.in_order(int, range(5), 2)) == [0, 1, 2, 3, 4]


def test_python_ends_though_a_source_waits():
    code = """
import threading, numpy as np
from calibrant import predictions
def source():
    for _ in range(2):
        yield np.zeros(5000, dtype=int) + np.arange(5000) % 2, np.full(5000, 0.5)
    threading.Event().wait()
predictions(source, batch_rows=3000).head()
print("at the end")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == "at the end\n"


# What is wrong in a file, a row group or a batch is named with its row, or left out and counted

DRAWS = np.random.default_rng(11)
N_ROWS = 6000
SHARE = DRAWS.random(N_ROWS)
CAME = (DRAWS.random(N_ROWS) < SHARE).astype(int)


def made_table(score=SHARE, event=CAME):
    return pa.table({"y": event, "p": score})


def changed(values, at, value):
    values = np.array(values)
    values[at] = value
    return values


GAP = pa.array(SHARE, mask=np.arange(N_ROWS) == 2001)
WRONG = [
    (made_table(changed(SHARE, 4100, np.nan)), r"p\.parquet, row group 2: y_prob must be .*nan at index 100\."),
    (made_table(GAP), r"row group 1: y_prob must be finite; got nan at index 1\."),
    (made_table(changed(SHARE, 5999, 1.5)), r"row group 2: .*1\.5.* 1999"),
    (made_table(event=changed(CAME, 2100, 7)), r"row group 1: y_true must be among the classes .*got 7 at index 100"),
]


@pytest.mark.parametrize(("wrong", "words"), WRONG, ids=["nan", "missing", "large", "class"])
def test_a_wrong_row_is_named_by_file_row_group_and_row(wrong, words, tmp_path):
    path = tmp_path / "p.parquet"
    pa.parquet.write_table(wrong, path, row_group_size=2000)
    with pytest.raises(ValueError, match=words):
        assess(predictions(path))
    assert rows(predictions(path, on_error="skip")) == 4000


@pytest.mark.parametrize(("value", "said"), [("may", "got 'may' at index 3"), (None, "got a missing label at index 3")])
def test_an_unseen_word_and_a_missing_one_are_named(value, said, tmp_path):
    words = np.array(["no", "yes"], dtype=object)[CAME]
    words[3003] = value
    pa.parquet.write_table(made_table(event=words), tmp_path / "p.parquet", row_group_size=3000)
    with pytest.raises(ValueError, match=rf"row group 1: y_true must be among the classes .*{said}"):
        calibration_error(predictions(tmp_path, labels=["no", "yes"]))


def test_a_row_group_that_is_damaged_is_named_or_left_out(tmp_path):
    path = tmp_path / "p.parquet"
    pa.parquet.write_table(made_table(), path, row_group_size=2000, compression="zstd", use_dictionary=False)
    start = pa.parquet.ParquetFile(path).metadata.row_group(1).column(1).data_page_offset
    data = bytearray(path.read_bytes())
    data[start : start + 400] = bytes(400)
    path.write_bytes(data)
    said = r"p\.parquet, row group 1 must be readable; it is not: .*\. Was it cut or damaged\?"
    with pytest.raises(ValueError, match=said):
        calibration_error(predictions(path))
    found = assess(predictions(path, on_error="skip"), n_resamples=20)
    assert (found.n_rows, found.left_out) == (4000, 1)
    few, many = (predictions(path, on_error="skip", batch_rows=n).sample(50)["y_prob"] for n in (300, 65536))
    np.testing.assert_array_equal(few, many)  # rows behind the damaged ones keep their numbers


@pytest.mark.parametrize("ending", ["parquet", "feather", "csv"])
def test_a_file_that_is_cut_is_named_or_left_out(ending, tmp_path):
    for name in ("a", "b"):
        WRITERS[f".{ending}"](made_table(), path := tmp_path / f"{name}.{ending}")
    path.write_bytes(b"y,p\n1,2,3\n" if ending == "csv" else path.read_bytes()[:-100])
    with pytest.raises(ValueError, match=rf"b\.{ending}.* must be .*readable"):
        calibration_error(predictions(tmp_path))
    read = predictions(tmp_path, on_error="skip")
    assert rows(read) == N_ROWS
    assert read.left_out[0] == 1


@pytest.mark.parametrize(
    ("first", "second", "error", "said"),
    [
        (SHARE, {"q": SHARE}, ValueError, r"b\.parquet must have the column 'p', as the first; it has 'y', 'q'"),
        (SHARE.astype("f4"), {"p": SHARE}, ValueError, "all batches must have the columns of the first.*float32"),
        (SHARE, {"p": SHARE.astype(str)}, TypeError, "the column 'p' must hold numbers; got string"),
    ],
    ids=["name", "precision", "kind"],
)
def test_a_differing_schema_is_named(first, second, error, said, tmp_path):
    pa.parquet.write_table(made_table(first), tmp_path / "a.parquet")
    pa.parquet.write_table(pa.table({"y": CAME, **second}), tmp_path / "b.parquet")
    with pytest.raises(error, match=said if "q" in second else rf"b\.parquet, row group 0: {said}"):
        calibration_error(predictions(tmp_path))


def test_batches_without_rows_or_weight_change_nothing():
    empty, whole = (CAME[:0], SHARE[:0]), made_table()
    pairs = [empty, (CAME[:4500], SHARE[:4500]), empty, (CAME[4500:], SHARE[4500:]), empty]
    tables = [whole.slice(0, 0), whole.slice(0, 5000), whole.slice(0, 0), whole.slice(5000)]
    for batches in (pairs, tables):
        assert calibration_error(predictions(batches)) == calibration_error(CAME, SHARE)
    weight = np.where(np.arange(N_ROWS) < 5000, 1.0, 0.0)
    parts = [slice(start, start + 500) for start in range(0, N_ROWS, 500)]
    ours = predictions([(CAME[at], SHARE[at], weight[at]) for at in parts], batch_rows=500)
    assert calibration_error(ours) == pytest.approx(calibration_error(CAME[:5000], SHARE[:5000]), rel=1e-12)


@pytest.mark.parametrize("event", [0, 1, True])
def test_the_first_batch_may_have_the_event_alone(event):
    rows = [type(event)(1 - event), event, event]
    ours = predictions([(rows[k : k + 1], SHARE[k : k + 1]) for k in (2, 1, 0)], pos_label=event)
    assert calibration_error(ours) == calibration_error(rows, SHARE[:3], pos_label=event)


def test_a_file_without_rows_changes_nothing_and_a_name_twice_is_refused(tmp_path):
    pa.csv.write_csv(made_table(), tmp_path / "a.csv")
    (tmp_path / "b.csv").write_text("y,p\n")
    assert rows(predictions(tmp_path)) == N_ROWS
    (tmp_path / "b.csv").write_text("y,p,p\n0,0.5,0.5\n")
    with pytest.raises(ValueError, match=r"b\.csv must be a readable csv file.*the column name 'p' more than once"):
        rows(predictions(tmp_path))


FIRST = CAME[:50], SHARE[:50]
WEIGHT = np.arange(1.0, 101.0)
OTHER_ROWS = [(*FIRST, WEIGHT[:45]), (CAME[50:100], SHARE[50:100], WEIGHT[45:])]
"""Five weights too few in one batch and five too many in the next were once taken for those of the rows in turn."""
AB = pd.DataFrame({"a": [0.25, 0.75], "b": [0.75, 0.25]})
REFUSED = [
    (OTHER_ROWS, {}, ValueError, "batch 0: sample_weight must hold a weight for each of the 50 rows; got shape"),
    ([(*FIRST, 1.0)], {}, ValueError, r"for each of the 50 rows; got shape \(\)"),
    ([(CAME,)], {}, TypeError, "batch 0 must be y_true and y_prob, perhaps with weights; got tuple of length 1"),
    ([FIRST, (*FIRST, SHARE, SHARE)], {}, TypeError, "batch 1 must be .* got tuple of length 4"),
    ([(["a"], [0.5]), (["b"], [0.5])], {"pos_label": "a"}, ValueError, r"show both labels.*'a' alone. Pass labels="),
    ([([1, 0], AB), ([1, 0], AB[["b", "a"]])], {}, ValueError, "batch 1: columns must be .*'a', 'b'; got 'b', 'a'"),
    ([FIRST, None], {}, TypeError, "batch 1 must be .* got NoneType"),
    ([(CAME, None)], {}, TypeError, "batch 0: y_true and y_prob must be arrays"),
    (lambda: None, {}, TypeError, "a function returns; it returned NoneType. Return an iterator of pairs"),
    (3, {}, TypeError, "predictions must be files, a stream of Arrow, or batches; got int"),
    ([FIRST], {"prob": "p_*"}, TypeError, "prob must be left out of pairs"),
    (predictions([FIRST]), {"labels": [1, 0]}, ValueError, "labels must be left out beside predictions"),
    ([FIRST], {"input": 5}, TypeError, "input must be one of 'probability', 'logit'; got 5"),
    (table(), {"prob": "q_*"}, ValueError, r"must have the column 'q_\*'"),
    (pa.table({"a": [1]}), {}, ValueError, r"must have a label column; it has 'a'\. Name it with label=\."),
    ([], {}, ValueError, "predictions must hold at least one row; got none"),
    ([(CAME[:0], SHARE[:0])], {}, ValueError, "predictions must hold at least one row; got none"),
    (made_table().slice(0, 0), {}, ValueError, "predictions must hold at least one row; got none"),
]


@pytest.mark.parametrize(("batches", "options", "error", "words"), REFUSED, ids=[f"{k}" for k in range(len(REFUSED))])
def test_what_is_no_batch_is_refused_in_words(batches, options, error, words):
    with pytest.raises(error, match=words):
        calibration_error(predictions(batches, **options))


# A CSV file has the same cells whether it is read whole or in batches

DRAWN = np.random.default_rng(4)
STATED = DRAWN.random(300).round(4)
HAPPENED = (DRAWN.random(300) < STATED).astype(int)


def lines(separator=",", decimal=".", label="{}", before="", note=()):
    rows = [(label.format(y), str(p).replace(".", decimal), *note) for y, p in zip(HAPPENED, STATED, strict=True)]
    head = ["y", "p", "note"][: len(rows[0])]
    return before + "".join(separator.join(row) + "\n" for row in [head, *rows])


TEXTS = {
    "plain": lines(),
    "semicolons": lines(";", ","),
    "tabs": lines("\t"),
    "mark": "\ufeff" + lines(),
    "blank lines": lines(before="\n\n"),
    "quotes": lines(note=['"a, ""b""\nc"']),
    "whole numbers with a point": lines(label="{}.0"),
    "spaces": lines(label=" {}").replace("y,p", "y, p"),
    "truth values": "y,p_a,p_b" + re.sub("(.),(.+)", lambda m: f"{m[1] == '1'},{1 - float(m[2])},{m[2]}", lines()[3:]),
    "Windows": lines().replace("\n", "\r\n"),
    "old line ends": lines().replace("\n", "\r"),
}


@pytest.mark.parametrize("name", TEXTS)
def test_any_csv_file_is_read_as_it_is_whole(name, tmp_path):
    path = tmp_path / "p.csv"
    path.write_bytes(TEXTS[name].encode())
    whole, read = read_forecast(path), predictions(path, batch_rows=70)
    for found in (calibration_error(read), calibration_error(whole.y_true, whole.y_prob)):
        assert found == calibration_error(HAPPENED, STATED)
    assert whole.table.separator == {"semicolons": ";", "tabs": "\t"}.get(name, ",")
    assert read.classes.tolist() == ([False, True] if name == "truth values" else [0, 1])


@pytest.mark.parametrize(
    ("row", "error", "said"),
    [
        (f"{HAPPENED[200]},", ValueError, "y_prob must be finite; got nan at index 200"),
        (f"{HAPPENED[200]},zero", TypeError, r"numbers in the column 'p'; got 'zero' in row 200\. Correct .* prob="),
        (f"7,{STATED[200]}", ValueError, "y_true must be .*7"),
    ],
)
def test_a_wrong_cell_is_refused_with_its_row(row, error, said, tmp_path):
    path = tmp_path / "p.csv"
    path.write_text(lines().replace(f"\n{HAPPENED[200]},{STATED[200]}\n", f"\n{row}\n"))
    with pytest.raises(error, match=rf"p\.csv.*{said}"):
        calibration_error(predictions(path, labels=[0, 1]))


NUMBERS = {
    "0.5": 0.5, " 0.5 ": 0.5, "\t0.5": 0.5, "+.5": 0.5, ".5": 0.5, "5e-1": 0.5, "+5E-01": 0.5, "1": 1.0, "1.": 1.0, "-0": -0.0,
    "0e0": 0.0, "4.9e-324": 5e-324,
}  # fmt: skip
NO_NUMBERS = [
    "00.5", "007", "\xa00.5", "0.5\x0c", "\u3000.5", "1_0", "\u0663", "0X1P-1", "0.5.", "1e", "--1", "NA", "x", "0.5\n",
]  # fmt: skip
NOT_FINITE = ["", " ", "nan", "NaN", "NAN", "inf", "-inf", "Infinity", "1e400"]


def read_both_ways(tmp_path, cell, separator, decimal):
    """Return a column of a file in memory and of a folder that is read in batches, or what each is refused with."""
    rows = [f"1{separator}0{decimal}25", f'1{separator}"{cell}"', f"0{separator}0{decimal}75"]
    path = tmp_path / "rows.csv"
    path.write_text("\n".join([f"y{separator}p", *rows]) + "\n", encoding="utf-8", newline="")
    for read in (
        lambda: as_numbers("y_prob", read_forecast(path).y_prob),
        lambda: predictions(tmp_path).sample(3)["y_prob"],
    ):
        try:
            yield read().tolist()
        except (ValueError, TypeError) as error:
            yield f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("separator", [",", ";"])
@pytest.mark.parametrize("cell", [*NUMBERS, *NO_NUMBERS, *NOT_FINITE, "0,5", "1,5"], ids=repr)
def test_a_number_is_one_in_a_file_and_in_a_folder(cell, separator, tmp_path):
    has_comma = separator == ";" and "," in cell
    whole, streamed = read_both_ways(tmp_path, cell, separator, "," if has_comma else ".")
    if cell in NUMBERS or (has_comma and cell == "0,5"):
        assert whole == streamed == [0.25, NUMBERS.get(cell, 0.5), 0.75]
    elif has_comma:
        assert whole == [0.25, 1.5, 0.75]
        assert "must hold probabilities in [0, 1]; got 1.5 at index 1" in streamed
    else:
        said = rf"TypeError: .*rows\.csv must hold numbers in the column 'p'; got {re.escape(repr(cell))} in row 1\. "
        if cell in NOT_FINITE:
            said = r"Error: .*y_prob must be finite; got -?(nan|inf) at index 1\."
        assert all(re.search(said, text) for text in (whole, streamed)), (whole, streamed)


@pytest.mark.parametrize(
    "cells", [["1", "0"], [" 1", "0"], ["1.0", "0"], ["01", "1"], ["\xa01", "1"], ["1_0", "1"], ["True", "False"]]
)
def test_a_label_is_the_same_in_a_file_and_in_a_folder(cells, tmp_path):
    (tmp_path / "rows.csv").write_text("y,p\n" + "".join(f"{cell},0.5\n" for cell in cells), encoding="utf-8")
    labels = read_forecast(tmp_path / "rows.csv").y_true.tolist()
    assert predictions(tmp_path, pos_label=labels[0]).sample(2)["y_true"].tolist() == labels


@pytest.mark.parametrize(
    ("labels", "cells", "wrong"),
    [
        ([0, 1], ["0", "1.0"], "1.5"),
        ([0.0, 1.0], ["0", "1"], "0.5"),
        ([0, 2**63], ["0", "9223372036854775808"], "x"),
        ([2**53, 2**53 + 1], ["9007199254740992", "9007199254740993"], "9007199254740994"),
        ([False, True], ["false", "True"], "maybe"),
        (["no", "yes"], ["no", "yes"], "No"),
    ],
    ids=["whole numbers", "floats", "unsigned", "beyond floats", "truth values", "words"],
)
def test_cells_stand_for_the_labels_that_are_given(labels, cells, wrong, tmp_path):
    """The first file says what a cell may be; of later ones each word is looked up by what it stands for."""
    for name, cell in (("a", cells[0]), ("b", cells[1])):
        (tmp_path / f"{name}.csv").write_text(f"y,p\n{cell},0.5\n")
    assert sorted(predictions(tmp_path, labels=labels).sample(9)["y_true"].tolist()) == list(labels)
    (tmp_path / "b.csv").write_text("y,p\n" + "".join(f"{cell},0.5\n" for cell in [*cells, wrong, "?"]))
    with pytest.raises(ValueError, match=rf"b\.csv: y_true must be among .*got {re.escape(repr(wrong))} at index 2"):
        predictions(tmp_path, labels=labels).sample(9)


def test_a_row_that_is_too_long_for_a_block_is_refused_in_words(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(f"note,label,p\ny,0,0.25\n{'x' * 18_000_000},1,0.5\n")
    with pytest.raises(ValueError, match=r"a row is longer than 8 MiB: leave out the column"):
        predictions(path).sample(9)
