"""Predictions from files, streams and batches give the figures of the same rows in memory."""

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset
import pyarrow.feather
import pyarrow.parquet
import pytest

from calibrant import calibration_error, predictions
from calibrant.sums import Plan, scan

RNG = np.random.default_rng(5)
N = 9000
PROB = RNG.dirichlet(np.ones(3), N).astype(np.float32)
LABEL = RNG.integers(0, 3, N)
WORDS = np.array(["cat", "dog", "eel"])[LABEL]
EXPECTED = calibration_error(LABEL, PROB)


def table(rows=slice(None), label=LABEL, **more):
    columns = {f"p_{name}": PROB[rows, k] for k, name in enumerate(("cat", "dog", "eel"))}
    return pa.table({"id": np.arange(N)[rows], "y": label[rows], **columns, **more})


def write(path, rows=slice(None), label=LABEL):
    whole = table(rows, label)
    if path.suffix == ".parquet":
        pa.parquet.write_table(whole, path, row_group_size=2500)
    elif path.suffix == ".feather":
        pa.feather.write_feather(whole, path, chunksize=1000)
    else:
        pa.csv.write_csv(whole, path)
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
    assert read.classes.tolist() == ([0, 1, 2] if label is LABEL else ["cat", "dog", "eel"])
    assert read.precision == (np.float64 if ending == "csv" else np.float32)


def test_folders_patterns_and_lists_are_read_in_the_order_of_names(folder):
    plan = Plan(noise=True)
    for source in (
        folder,
        str(folder / "**" / "*.parquet"),
        [folder / "a.parquet", folder / "b.parquet", folder / "inner"],
    ):
        assert calibration_error(predictions(source)) == pytest.approx(EXPECTED, rel=1e-12)
    assert scan(predictions(str(folder / "*.parquet")), plan).rows == 6000
    assert calibration_error(predictions(folder.as_uri())) == pytest.approx(EXPECTED, rel=1e-12)
    for pattern, rows in (("*/c.*", 3000), ("[ab].parquet", 6000)):
        assert scan(predictions(str(folder / pattern)), plan).rows == rows
    with pytest.raises(FileNotFoundError, match=r"holds none"):
        predictions(str(folder / "*.csv"))
    with pytest.raises(FileNotFoundError, match=r"the file must exist; got .*nowhere"):
        predictions(folder / "nowhere.parquet")


@pytest.mark.parametrize(
    "source",
    [
        lambda: pa.dataset.dataset(table()),
        lambda: table(),
        lambda: table().to_reader(700),
        lambda: lambda: (one for one in table().to_batches(1000)),
        lambda: [table(slice(0, 5000)).to_pandas(), table(slice(5000, N)).to_pandas()],
        lambda: iter([table(slice(0, 5000)), table(slice(5000, N))]),
    ],
    ids=["data set", "table", "reader", "function", "frames", "iterator"],
)
def test_streams_of_arrow_and_batches_of_tables_are_read(source):
    assert calibration_error(predictions(source())) == pytest.approx(EXPECTED, rel=1e-12)


def test_a_column_of_lists_is_a_table():
    lists = pa.FixedSizeListArray.from_arrays(pa.array(PROB.ravel()), 3)
    assert calibration_error(predictions(pa.table({"y": LABEL, "prob": lists}))) == pytest.approx(EXPECTED, rel=1e-12)


def test_weights_labels_and_logits_are_read(tmp_path):
    weight, logit = RNG.random(N), np.log(PROB)
    named = {f"z_{k}": logit[:, k] for k in range(3)}
    source = pa.table({"true": WORDS, "w": weight, **named})
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


def test_columns_that_are_not_there_are_asked_for_in_the_words_of_the_function():
    with pytest.raises(ValueError, match=r"must have a label column; it has 'a'\. Name it with label=\."):
        predictions(pa.table({"a": [1]}))
    with pytest.raises(ValueError, match=r"must have the column 'q_\*'"):
        predictions(table(), prob="q_*")
    with pytest.raises(TypeError, match=r"prob must be left out of pairs"):
        predictions([(LABEL, PROB)], prob="p_*")
    with pytest.raises(TypeError, match=r"predictions must be files, a stream of Arrow, or batches; got int"):
        predictions(3)
    with pytest.raises(TypeError, match=r"input must be one of 'probability', 'logit'; got 5"):
        predictions([(LABEL, PROB)], input=5)


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
