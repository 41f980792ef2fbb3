"""Several files, folders, patterns and streams are one table: nothing is lost or read twice, and files are alike or refused."""

import json
import os
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow.dataset
import pyarrow.parquet
import pytest

from calibrant import load_calibrator, spiegelhalter_test
from calibrant.cli import fit as apply
from calibrant.cli import inputs as streams
from calibrant.interop import tables
from calibrant.interop.tables import read_table, write_table
from calibrant.sums import draws as kept_rows

RNG = np.random.default_rng(4)
PROB = np.round(RNG.random(60), 3)
TRUE = (RNG.random(60) < PROB).astype(int)
TWO = {"label": TRUE, "p_0": 1 - PROB, "p_1": PROB}


def rows(k, n=20, columns=TWO):
    return {name: column[n * k : n * (k + 1)] for name, column in columns.items()}


@pytest.fixture
def run(shell, tmp_path):
    """Run the command line beside a folder of three files: its exit code, what it printed, and what it said on stderr."""
    (tmp_path / "parts").mkdir()
    for k in range(3):
        write_table(f"parts/{k}.csv", rows(k))
    write_table("whole.csv", TWO)

    return shell


@pytest.fixture
def calibrator(run):
    assert run("fit", "whole.csv", "--method", "platt", "-o", "c.json")[0] == 0
    return "c.json"


def bytes_of(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


LOSING = {
    "fit to a file of a folder": ["fit", "parts", "-o", "parts/0.csv"],
    "report on a pattern": ["report", "whole.csv", "par*/2.csv", "-o", "parts/2.csv", "--names", "a,b"],
    "fit over other rows": ["fit", "whole.csv", "--other", "parts/0.csv", "-o", "parts/0.csv"],
    "apply in place": ["apply", "c.json", "whole.csv", "-o", "whole.csv"],
    "apply to a folder in place": ["apply", "c.json", "parts", "-o", "parts"],
    "apply over the calibrator": ["apply", "c.json", "whole.csv", "-o", "c.json"],
    "decide in place": ["decide", "whole.csv", "-o", "whole.csv"],
}


@pytest.mark.parametrize("words", LOSING.values(), ids=list(LOSING))
def test_no_command_writes_over_what_it_reads(words, run, calibrator, tmp_path):
    before = bytes_of(tmp_path)
    code, _, err = run(*words, "--force")
    assert code == 2
    assert "must not be what is read" in err or "must be a new folder" in err
    assert bytes_of(tmp_path) == before


@pytest.mark.parametrize("files", [["parts", "parts/1.csv"], ["parts/*.csv", "./parts/0.csv"], ["parts", "parts"]])
def test_files_named_twice_are_read_once(files, run):
    code, out, _ = run("assess", *files, "--resamples", 1, "--metrics", "accuracy")
    assert (code, out.startswith("60 rows")) == (0, True)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_apply_finds_the_columns_of_each_file_by_their_names(ending, run, calibrator):
    other = {name: rows(1)[name] for name in ("p_1", "label", "p_0")}
    write_table(f"parts/1.{ending}", other, force=True)
    assert run("apply", calibrator, "parts", "-o", "out")[0] == 0
    assert run("apply", calibrator, "whole.csv", "-o", "one.csv")[0] == 0
    found, whole = read_table(f"out/1.{ending}"), read_table("one.csv")
    assert list(found) == ["p_1", "label", "p_0"]
    np.testing.assert_allclose(found["p_1"], whole["p_1"][20:40])
    np.testing.assert_allclose(found["p_0"], whole["p_0"][20:40])


@pytest.mark.parametrize("ending", ["csv", "parquet", "feather"])
def test_a_file_without_rows_becomes_a_table_without_rows(ending, run, calibrator):
    for k in range(3):
        os.remove(f"parts/{k}.csv")
    whole = {"note": np.array(["a"] * 60), **TWO}
    write_table(f"parts/a.{ending}", whole)
    write_table(f"parts/b.{ending}", {name: column[:0] for name, column in whole.items()})
    assert run("apply", calibrator, "parts", "-o", "out")[:2] == (
        0,
        "wrote out: 2 files, 60 rows, calibrated p_0, p_1\n",
    )
    if ending == "csv":
        with open("out/b.csv") as file:
            assert file.read() == "note,label,p_0,p_1\n"
        return
    found, full = (pyarrow.dataset.dataset(f"out/{name}.{ending}", format=ending).to_table() for name in "ba")
    assert (found.num_rows, full.num_rows) == (0, 60)
    assert found.schema.equals(full.schema)


def test_a_file_that_is_empty_or_damaged_is_named_or_left_out(run, calibrator, tmp_path):
    (tmp_path / "parts" / "0.csv").write_text("")
    (tmp_path / "parts" / "3.parquet").write_bytes(b"PAR1 no more")
    words = {
        "assess": ["--resamples", 1, "--metrics", "accuracy"],
        "test": ["--tests", "spiegelhalter"],
        "fit": ["--method", "platt", "-o", "d.json"],
        "report": ["--resamples", 1, "--metrics", "ece", "-o", "r.html"],
    }
    for command, more in words.items():
        code, _, err = run(command, "parts", *more)
        assert (code, "0.csv must be a readable csv file; it is not: it has no columns" in err) == (2, True), command
    code, _, err = run("apply", calibrator, "parts", "-o", "out")
    assert (code, "0.csv must be a readable csv file" in err, os.path.exists("out")) == (2, True, False)


@pytest.fixture
def wrong(run):
    """One batch of a folder has a missing probability, and one file of it is damaged."""
    write_table("parts/1.csv", {**rows(1), "p_1": np.where(np.arange(20) == 7, np.nan, PROB[20:40])}, force=True)
    with open("parts/3.csv", "wb"):
        pass
    return "parts"


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (
            ["assess", "--resamples", 1, "--metrics", "accuracy"],
            "40 rows, 2 classes, event: class 1, 2 batches left out",
        ),
        (["test", "--tests", "spiegelhalter"], "40 rows, event: class 1, 2 batches of 20 rows left out"),
        (["fit", "--method", "platt", "-o", "d.json"], "fitted platt on 40 rows, 2 batches of 20 rows left out"),
        (["report", "--resamples", 1, "--metrics", "ece", "-o", "r.html"], "event: class 1, 2 batches left out"),
        (["assess", "--resamples", 1, "--metrics", "accuracy", "--json"], '"left_out": 2'),
        (["test", "--tests", "spiegelhalter", "--json"], '"rows": 40,\n  "left_out": 2'),
    ],
    ids=lambda words: "" if isinstance(words, str) else " ".join(map(str, words[:1] + words[-1:])),
)
def test_what_is_wrong_is_left_out_and_counted(command, said, run, wrong):
    name, *more = command
    assert run(name, wrong, *more)[0] == 2
    code, out, _ = run(name, wrong, *more, "--on-error", "skip")
    assert (code, said in out) == (0, True)
    if name == "report":
        with open("r.html", encoding="utf-8") as page:
            assert "2 batches left out" in page.read()


def test_apply_leaves_out_what_is_wrong_names_it_and_counts_it(run, calibrator, wrong):
    code, _, err = run("apply", calibrator, wrong, "-o", "out")
    assert (code, "1.csv: " in err, os.path.exists("out")) == (2, True, False)
    code, out, err = run("apply", calibrator, wrong, "-o", "out", "--on-error", "skip")
    assert (code, out) == (0, "wrote out: 3 files, 40 rows, 2 batches of 20 rows left out, calibrated p_0, p_1\n")
    assert err.count("warning: left out: ") == 2
    with open("out/1.csv") as file:
        assert file.read() == "label,p_0,p_1\n"


def test_a_missing_label_is_named_in_the_first_rows_too(run):
    os.mkdir("gaps")
    words = np.array(["no", "yes"])[TRUE[:20]].astype(object)
    for name, missing in (("a", slice(3, 4)), ("b", slice(0, 20))):
        some = words.copy()
        some[missing] = None
        pyarrow.parquet.write_table(pyarrow.table({"label": some, "p": PROB[:20]}), f"gaps/{name}.parquet")
        code, _, err = run("assess", f"gaps/{name}.parquet", "gaps", "--classes", "no,yes", "--metrics", "nll")
        assert (code, f"a label in each row; got a missing one at index {missing.start}" in err) == (2, True)
        assert "leave out what is wrong with on_error='skip'. Here: --on-error skip." in err
    pyarrow.parquet.write_table(pyarrow.table({"label": words, "p": PROB[:20]}), "gaps/c.parquet")
    asked = ["--classes", "no,yes", "--metrics", "nll", "--resamples", 1, "--on-error", "skip"]
    assert run("assess", "gaps", *asked)[1].startswith("20 rows")


HINTS = {
    "--sample for a metric": (["assess", "parts", "--metrics", "skce"], "Here: --sample N.", ["--sample", 50]),
    "--sample for rows": (["assess", "parts", "--rows", "0:9"], "Pass --sample N for", ["--sample", 50]),
    "--sample for a fit": (
        ["fit", "parts", "--method", "beta", "-o", "d.json", "--rows", ":9"],
        "--sample N",
        ["--sample", 50],
    ),
    "--sample for a method": (["fit", "parts", "--method", "spline", "-o", "d.json"], "--sample N", ["--sample", 50]),
    "--sample beside other rows": (
        ["fit", "parts", "--method", "temperature", "--other", "whole.csv", "-o", "d.json"],
        "Pass --sample N, to fit",
        ["--sample", 50],
    ),
    "--sample for a test": (["test", "parts", "--tests", "cox"], "Pass --sample N for", ["--sample", 50]),
    "apply, without rows": (["apply", "c.json", "parts", "-o", "out", "--rows", ":9"], "Leave it out.", []),
}


@pytest.mark.parametrize(("words", "hint", "more"), HINTS.values(), ids=list(HINTS))
def test_a_hint_is_possible(words, hint, more, run, calibrator, monkeypatch):
    monkeypatch.setattr(kept_rows, "MOST", 10)
    monkeypatch.setattr("calibrant.sums.reading.FEW", 10)
    monkeypatch.setattr("calibrant.interop.arrow_batches.FEW", 10)
    code, _, err = run(*words)
    assert (code, hint in err) == (2, True)
    plain = [word for at, word in enumerate(words) if "--rows" not in (word, words[at - 1])]
    assert run(*plain, *more)[0] == 0


def test_a_damaged_first_file_is_left_out_as_any(run, calibrator, tmp_path):
    (tmp_path / "parts" / "0.csv").write_text("")
    words = ["--resamples", 1, "--metrics", "accuracy", "--on-error", "skip"]
    assert run("assess", "parts", *words)[1].startswith("40 rows, 2 classes, event: class 1, 1 batch left out")
    code, out, _ = run("apply", calibrator, "parts", "-o", "out", "--on-error", "skip")
    assert (code, out) == (0, "wrote out: 2 files, 40 rows, 1 batch of unknown rows left out, calibrated p_0, p_1\n")


def test_tables_of_a_folder_that_are_not_read_are_said(run, tmp_path):
    for name in ("b.csv.gz", "c.npz", "d.TSV", "notes.txt", "more.txt.gz", ".d.npz"):
        (tmp_path / "parts" / name).write_text("x")
    err = run("assess", "parts", "--resamples", 1, "--metrics", "accuracy")[2]
    assert "warning: parts holds b.csv.gz and 2 more, not read: unpack what is compressed" in err
    assert "holds" not in run("assess", "parts/*.csv", "--resamples", 1, "--metrics", "accuracy")[2]


def test_decimals_and_gaps_are_read_in_batches_as_at_once(run, calibrator):
    os.mkdir("types")
    cents = pyarrow.array([Decimal(f"{p:.3f}") for p in PROB[:20]])
    table = pyarrow.table({"label": TRUE[:20], "p_0": pyarrow.array(1 - PROB[:20]), "p_1": cents})
    for name, some in (("a", table), ("b", table.slice(0, 0))):
        pyarrow.parquet.write_table(some, f"types/{name}.parquet")
    assert run("apply", calibrator, "types", "-o", "out")[0] == 0
    found, empty = (pyarrow.parquet.read_table(f"out/{name}.parquet") for name in "ab")
    assert empty.schema.equals(found.schema)
    gaps = table.set_column(1, "p_0", pyarrow.array([None, *(1 - PROB[1:20])]))
    pyarrow.parquet.write_table(gaps, "types/a.parquet")
    code, _, err = run("apply", calibrator, "types", "-o", "gaps")
    assert (code, "a.parquet, row group 0: y_prob must be finite; got nan" in err) == (2, True)


def test_a_column_of_lists_of_three_classes_is_no_single_event(run):
    os.mkdir("lists")
    table = np.random.default_rng(0).dirichlet(np.ones(3), 60)
    lists = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(table.ravel()), 3)
    pyarrow.parquet.write_table(pyarrow.table({"label": np.arange(60) % 3, "prob": lists}), "lists/a.parquet")
    code, out, _ = run("fit", "lists", "-o", "c.json")
    assert (code, out.startswith("fitted evidence-scaling --safe (the default")) == (0, True)
    assert run("fit", "lists", "--method", "isotonic", "-o", "isotonic.json")[0] == 0


def test_the_hints_of_a_report_are_possible(run, calibrator):
    code, _, err = run("report", "parts", "-o", "r.html", "--calibrator", calibrator)
    assert (code, "Run calibrant apply first, and report on what it writes." in err) == (2, True)
    assert run("apply", calibrator, "parts", "-o", "after")[0] == 0
    code, _, err = run("report", "parts", "parts/", "-o", "r.html")
    assert (code, "Pass --names a,b." in err) == (2, True)
    assert run("report", "parts", "after", "--names", "a,b", "-o", "r.html", "--resamples", 1)[0] == 0


# Several files, folders, patterns and large files are read in batches, as one table

DRAWS = np.random.default_rng(17)
N = 6000
CHANCE = DRAWS.dirichlet(np.ones(3), N)
LABEL = np.array(["cat", "dog", "eel"])[(DRAWS.random((N, 1)) > CHANCE.cumsum(axis=1)).sum(axis=1).clip(0, 2)]


def table_of(rows=slice(None)):
    return {"label": LABEL[rows], **{f"p_{name}": CHANCE[rows, k] for k, name in enumerate(("cat", "dog", "eel"))}}


@pytest.fixture
def run_parts(shell, tmp_path):
    """Run the command line where a folder holds three files: its exit code, what it printed, and what it said on stderr."""
    (tmp_path / "parts").mkdir()
    for k in range(3):
        write_table(tmp_path / "parts" / f"{k}.parquet", table_of(slice(2000 * k, 2000 * k + 2000)))
    write_table(tmp_path / "whole.parquet", table_of())

    return shell


FOLDERS = {
    "folder": ["parts"],
    "pattern": ["parts/*.parquet"],
    "files": ["parts/0.parquet", "parts/1.parquet", "parts/2.parquet"],
}


@pytest.mark.parametrize("files", FOLDERS.values(), ids=list(FOLDERS))
def test_a_folder_is_assessed_as_one_table(files, run_parts):
    code, out, err = run_parts("assess", *files, "--resamples", 50)
    assert code == 0
    assert out == run_parts("assess", "whole.parquet", "--resamples", 50)[1]
    assert "reading label 'label', probability 'p_cat' to 'p_eel' (3 columns)" in err


def test_a_large_file_is_read_in_batches_where_figures_are_sums(run_parts, monkeypatch):
    whole = run_parts("assess", "whole.parquet", "--resamples", 50, "--json")[1]
    monkeypatch.setattr(streams, "LARGE", 1000)
    monkeypatch.setattr(tables, "read_table", None)
    found, expected = (
        json.loads(run_parts("assess", "whole.parquet", "--resamples", 50, "--json")[1]),
        json.loads(whole),
    )
    for part, other in zip(
        (found["metrics"].pop("ece"), found.pop("verdict")),
        (expected["metrics"].pop("ece"), expected.pop("verdict")),
        strict=True,
    ):
        numbers = [name for name, value in other.items() if isinstance(value, float)]
        assert [part.pop(name) for name in numbers] == pytest.approx([other.pop(name) for name in numbers], rel=1e-9)
        assert part == other
    assert found.pop("metrics").keys() == expected.pop("metrics").keys()
    assert found == expected


def test_a_large_file_is_read_whole_where_a_figure_needs_the_rows(run_parts, monkeypatch):
    monkeypatch.setattr(streams, "LARGE", 1000)
    words = ["assess", "whole.parquet", "--resamples", 20, "--metrics"]
    assert run_parts(*words, "accuracy,skce")[0] == run_parts(*words, "ece", "--binning", "equal-mass")[0] == 0


def test_tests_of_sums_are_run_and_others_take_a_sample(run_parts):
    code, out, _ = run_parts("test", "parts", "--resamples", 50)
    assert code == 0
    z = spiegelhalter_test(LABEL, CHANCE, labels=["cat", "dog", "eel"]).statistic
    assert f"{z:.5g}" in out
    assert out.startswith("6000 rows, 3 classes")
    code, _, err = run_parts("test", "parts", "--tests", "kernel")
    assert code == 2
    assert "must be spiegelhalter or resampling, of the usual notion; got --tests kernel. Pass --sample N" in err
    code, out, _ = run_parts("test", "parts", "--tests", "hosmer-lemeshow", "--sample", 500)
    assert (code, out.startswith("500 rows")) == (0, True)


@pytest.fixture
def fitted(run_parts):
    assert run_parts("fit", "whole.parquet", "--method", "temperature", "-o", "c.json")[0] == 0
    return "c.json"


@pytest.mark.parametrize("target", ["parquet", "feather", "csv"])
@pytest.mark.parametrize("source", ["parquet", "feather", "csv"])
def test_apply_writes_in_batches_what_it_writes_at_once(source, target, run_parts, fitted, monkeypatch):
    write_table(f"in.{source}", {**table_of(), "note": np.array(['5" pipe', "a,b", "c"] * 2000)})
    assert run_parts("apply", fitted, f"in.{source}", "-o", f"one.{target}")[0] == 0
    monkeypatch.setattr(streams, "LARGE", 1000)
    monkeypatch.setattr(apply, "AT_A_TIME", 700)
    code, out, _ = run_parts("apply", fitted, f"in.{source}", "-o", f"two.{target}")
    assert (code, out) == (0, f"wrote two.{target}: 6000 rows, calibrated p_cat, p_dog, p_eel\n")
    one, two = tables.read_table(f"one.{target}"), tables.read_table(f"two.{target}")
    assert list(one) == list(two)
    for name in one:
        np.testing.assert_array_equal(one[name], two[name])


def test_apply_to_a_folder_writes_a_folder_whole_or_not_at_all(run_parts, fitted, tmp_path):
    code, out, _ = run_parts("apply", fitted, "parts", "-o", "out")
    assert (code, out) == (0, "wrote out: 3 files, 6000 rows, calibrated p_cat, p_dog, p_eel\n")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["0.parquet", "1.parquet", "2.parquet"]
    run_parts("apply", fitted, "whole.parquet", "-o", "whole_out.parquet")
    expected = tables.read_table("whole_out.parquet")["p_dog"]
    np.testing.assert_array_equal(tables.read_table("out/1.parquet")["p_dog"], expected[2000:4000])
    assert [run_parts("apply", fitted, "parts", "-o", "out", *more)[0] for more in ([], ["--force"])] == [2, 2]
    wrong = table_of(slice(0, 10))
    wrong["p_dog"] = np.where(np.arange(10) == 4, np.nan, wrong["p_dog"])
    write_table("parts/1.parquet", wrong, force=True)
    code, _, err = run_parts("apply", fitted, "parts", "-o", "new")
    assert (code, "1.parquet, row group 0" in err, "index (4, 1)" in err) == (2, True, True)
    assert not [path for path in tmp_path.iterdir() if "new" in path.name]


@pytest.mark.parametrize("method", ["temperature", "vector"])
def test_a_calibrator_is_fitted_to_a_folder_as_to_one_file(method, run_parts):
    assert run_parts("fit", "whole.parquet", "--method", method, "-o", "one.json")[0] == 0
    code, out, _ = run_parts("fit", "parts", "--method", method, "-o", "two.json")
    assert code == 0
    assert "on 6000 rows" in out
    one, two = (load_calibrator(name) for name in ("one.json", "two.json"))
    some = pd.DataFrame(CHANCE[:50], columns=["p_cat", "p_dog", "p_eel"])
    np.testing.assert_allclose(one.calibrate(some), two.calibrate(some), rtol=1e-9)
    assert two.classes_.tolist() == ["cat", "dog", "eel"]
    code, _, err = run_parts("fit", "parts", "--method", method, "-o", "three.json", "--other", "whole.parquet")
    assert (code, "--other must be left out with files that are read in batches" in err) == (2, True)
