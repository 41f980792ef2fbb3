"""Several files, folders, patterns and streams are one table: nothing is lost or read twice, and files are alike or refused."""

import gzip
import os
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.dataset
import pyarrow.parquet
import pytest

from calibrant import expected_calibration_error, load_calibrator, spiegelhalter_test
from calibrant.cli import fit as apply
from calibrant.cli import inputs as streams
from calibrant.cli.commands import OF_SUMS, USUAL_TESTS
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
    """Run the command line beside a folder of three files."""
    (tmp_path / "parts").mkdir()
    for k in range(3):
        write_table(f"parts/{k}.csv", rows(k))
    write_table("whole.csv", TWO)

    return shell


QUICK = ("--resamples", 1, "--metrics", "accuracy")


@pytest.fixture
def calibrator(run):
    run.out("fit", "whole.csv", "--method", "platt", "-o", "c.json")
    return "c.json"


LOSING = [
    ["fit", "parts", "-o", "parts/0.csv"],
    ["report", "whole.csv", "par*/2.csv", "--names", "a,b", "-o", "parts/2.csv"],
    ["fit", "whole.csv", "--other", "parts/0.csv", "-o", "parts/0.csv"],
    ["apply", "c.json", "whole.csv", "-o", "whole.csv"],
    ["apply", "c.json", "parts", "-o", "parts"],
    ["apply", "c.json", "whole.csv", "-o", "c.json"],
    ["decide", "whole.csv", "-o", "whole.csv"],
]


@pytest.mark.parametrize("words", LOSING, ids=" ".join)
def test_no_command_writes_over_what_it_reads(words, run, calibrator):
    run.refuses("must be a new folder" if words[-1] == "parts" else "must not be what is read", *words, "--force")


@pytest.mark.parametrize("files", [["parts", "parts/1.csv"], ["parts/*.csv", "./parts/0.csv"], ["parts", "parts"]])
def test_files_named_twice_are_read_once(files, run):
    assert run.out("assess", *files, *QUICK).startswith("60 rows")


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_apply_finds_the_columns_of_each_file_by_their_names(ending, run, calibrator):
    other = {name: rows(1)[name] for name in ("p_1", "label", "p_0")}
    write_table(f"parts/1.{ending}", other, force=True)
    run.out("apply", calibrator, "parts", "-o", "out")
    run.out("apply", calibrator, "whole.csv", "-o", "one.csv")
    found, whole = read_table(f"out/1.{ending}"), read_table("one.csv")
    assert list(found) == list(other)
    for name in ("p_0", "p_1"):
        np.testing.assert_allclose(found[name], whole[name][20:40])


@pytest.mark.parametrize("ending", ["csv", "parquet", "feather"])
def test_a_file_without_rows_becomes_a_table_without_rows(ending, run, calibrator):
    os.mkdir("mixed")
    whole = {"note": np.array(["a"] * 60), **TWO}
    write_table(f"mixed/a.{ending}", whole)
    write_table(f"mixed/b.{ending}", {name: column[:0] for name, column in whole.items()})
    assert run.out("apply", calibrator, "mixed", "-o", "out") == "wrote out: 2 files, 60 rows, calibrated p_0, p_1\n"
    if ending == "csv":
        assert Path("out/b.csv").read_text() == "note,label,p_0,p_1\n"
        return
    found, full = (pyarrow.dataset.dataset(f"out/{name}.{ending}", format=ending).to_table() for name in "ba")
    assert (found.num_rows, full.num_rows) == (0, 60)
    assert found.schema.equals(full.schema)


@pytest.fixture
def wrong(run):
    """One batch of a folder has a missing probability, and one file of it is damaged."""
    write_table("parts/1.csv", {**rows(1), "p_1": np.where(np.arange(20) == 7, np.nan, PROB[20:40])}, force=True)
    Path("parts/3.csv").touch()
    return "parts"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["assess", *QUICK], "40 rows, 2 classes, event: class 1, 2 batches left out"),
        (["test", "--tests", "spiegelhalter"], "40 rows, event: class 1, 2 batches of 20 rows left out"),
        (["fit", "--method", "platt", "-o", "d.json"], "fitted platt on 40 rows, 2 batches of 20 rows left out"),
        (["report", *QUICK, "-o", "r.html"], "event: class 1, 2 batches left out"),
        (["assess", *QUICK, "--json"], '"left_out": 2'),
        (["test", "--tests", "spiegelhalter", "--json"], '"rows": 40,\n  "left_out": 2'),
    ],
    ids=lambda words: "" if isinstance(words, str) else f"{words[0]} {words[-1]}",
)
def test_what_is_wrong_is_left_out_and_counted(words, said, run, wrong):
    name, *more = words
    run.refuses("", name, wrong, *more)
    assert said in run.out(name, wrong, *more, "--on-error", "skip")
    if name == "report":
        assert "2 batches left out" in Path("r.html").read_text(encoding="utf-8")


def test_apply_leaves_out_what_is_wrong_names_it_and_counts_it(run, calibrator, wrong):
    write_table("parts/4.csv", {"other": PROB})
    run.refuses("1.csv: ", "apply", calibrator, wrong, "-o", "out")
    code, out, err = run("apply", calibrator, wrong, "-o", "out", "--on-error", "skip")
    assert (code, out) == (0, "wrote out: 3 files, 40 rows, 3 batches of 20 rows left out, calibrated p_0, p_1\n")
    assert err.count("warning: left out: ") == 3
    assert Path("out/1.csv").read_text() == "label,p_0,p_1\n"


def test_a_missing_label_is_named_in_the_first_rows_too(run):
    os.mkdir("gaps")
    words = np.array(["no", "yes"])[TRUE[:20]].astype(object)
    for name, missing in (("a", slice(3, 4)), ("b", slice(0, 20))):
        some = words.copy()
        some[missing] = None
        pyarrow.parquet.write_table(pyarrow.table({"label": some, "p": PROB[:20]}), f"gaps/{name}.parquet")
        said = f"a label in each row; got a missing one at index {missing.start}"
        told = run.refuses(said, "assess", f"gaps/{name}.parquet", "gaps", "--classes", "no,yes", "--metrics", "nll")
        assert "leave out what is wrong with on_error='skip'. Here: --on-error skip." in told
    pyarrow.parquet.write_table(pyarrow.table({"label": words, "p": PROB[:20]}), "gaps/c.parquet")
    asked = ["--classes", "no,yes", "--metrics", "nll", "--resamples", 1, "--on-error", "skip"]
    assert run.out("assess", "gaps", *asked).startswith("20 rows, 2 classes, event: class yes")
    pd.DataFrame({**rows(0, 40), "label": [None, *TRUE[1:40]]}).to_parquet("gaps.parquet", row_group_size=20)
    assert run.out("assess", "gaps.parquet", *QUICK, "--on-error", "skip").startswith("20 rows")


SAMPLE, OF_TESTS = ["--sample", 50], "spiegelhalter or resampling, of the usual notion"
HINTS = [
    (["assess", "parts", "--metrics", "skce"], "Here: --sample N.", SAMPLE),
    (["assess", "parts", "--rows", "0:9"], "Pass --sample N for", SAMPLE),
    (["fit", "parts", "--method", "beta", "-o", "d.json", "--rows", ":9"], "--sample N", SAMPLE),
    (["fit", "parts", "--method", "spline", "-o", "d.json"], "--sample N", SAMPLE),
    (["fit", "parts", "--method", "temperature", "--other", "whole.csv", "-o", "d.json"], "--sample N, to", SAMPLE),
    (["test", "parts", "--tests", "kernel"], f"must be {OF_TESTS}; got --tests kernel. Pass --sample N for", SAMPLE),
    (["apply", "c.json", "parts", "-o", "out", "--rows", ":9"], "Leave it out.", []),
    (["apply", "c.json", "parts", "-o", "out", "--where", "label = 1"], "--where must be left out", []),
]


@pytest.mark.parametrize(("words", "hint", "more"), HINTS, ids=[" ".join(words) for words, *_ in HINTS])
def test_a_hint_is_possible(words, hint, more, run, calibrator, monkeypatch):
    monkeypatch.setattr(kept_rows, "MOST", 10)
    monkeypatch.setattr("calibrant.sums.reading.FEW", 10)
    monkeypatch.setattr("calibrant.interop.arrow_batches.FEW", 10)
    run.refuses(hint, *words)
    run.out(*(word for at, word in enumerate(words) if not {"--rows", "--where"} & {word, words[at - 1]}), *more)


def test_a_damaged_first_file_is_left_out_as_any(run, calibrator):
    Path("parts/0.csv").write_text("")
    said = "0.csv must be a readable csv file; it is not: it has no columns"
    for words in (["assess", "parts", *QUICK], ["apply", calibrator, "parts", "-o", "out"]):
        run.refuses(said, *words)
    said = run.out("assess", "parts", *QUICK, "--on-error", "skip")
    assert said.startswith("40 rows, 2 classes, event: class 1, 1 batch left out")
    said = run.out("apply", calibrator, "parts", "-o", "out", "--on-error", "skip")
    assert said == "wrote out: 2 files, 40 rows, 1 batch of unknown rows left out, calibrated p_0, p_1\n"


def test_tables_of_a_folder_that_are_not_read_are_said(run):
    for name in ("b.csv.gz", "c.npz", "d.TSV", "notes.txt", "more.txt.gz", ".d.npz"):
        Path("parts", name).write_text("x")
    said = run("assess", "parts", *QUICK)[2]
    assert "warning: parts holds b.csv.gz and 2 more, not read: unpack what is compressed" in said
    assert "holds" not in run("assess", "parts/*.csv", *QUICK)[2]


def test_csv_in_gzip_is_read_where_it_is_named(run, calibrator):
    for path in Path("parts").iterdir():
        Path(f"{path}.gz").write_bytes(gzip.compress(path.read_bytes()))
    assert run.out("assess", "parts/*.gz", *QUICK) == run.out("assess", "parts/*.csv", *QUICK)
    for files in ("*.gz", "*.csv"):
        run.out("apply", calibrator, f"parts/{files}", "-o", f"of{files[1:]}")
    for files in ("parts/*.gz", "parts/*.csv"):
        assert "\n0 (reference)" in run.out("monitor", files)
    packed, plain = ({path.name: path.read_text() for path in Path(name).iterdir()} for name in ("of.gz", "of.csv"))
    assert packed == plain
    run.refuses("a pattern must name each table once; parts/* names 0.csv and 0.csv.gz", "assess", "parts/*")


def test_decimals_and_gaps_are_read_in_batches_as_at_once(run, calibrator):
    os.mkdir("types")
    cents = pyarrow.array([Decimal(f"{p:.3f}") for p in PROB[:20]])
    table = pyarrow.table({"label": TRUE[:20], "p_0": pyarrow.array(1 - PROB[:20]), "p_1": cents})
    of_pandas = pyarrow.table(dict.fromkeys(TWO, pyarrow.nulls(0)))  # as it writes a frame without rows
    for name, some in (("a", table), ("b", table.slice(0, 0)), ("c", of_pandas)):
        pyarrow.parquet.write_table(some, f"types/{name}.parquet")
    run.out("apply", calibrator, "types", "-o", "out")
    found, empty = (pyarrow.parquet.read_table(f"out/{name}.parquet") for name in "ab")
    assert empty.schema.equals(found.schema)
    gaps = table.set_column(1, "p_0", pyarrow.array([None, *(1 - PROB[1:20])]))
    pyarrow.parquet.write_table(gaps, "types/a.parquet")
    run.refuses("a.parquet, row group 0: y_prob must be finite; got nan", "apply", calibrator, "types", "-o", "gaps")
    pd.DataFrame({"label": TRUE, "p_0": "x", "p_1": PROB}).to_parquet("types/a.parquet", row_group_size=20)
    assert "Here: --prob COLUMNS." in run.refuses("group 0: the column 'p_0' must hold", "assess", "types")


def test_a_column_of_lists_of_three_classes_is_no_single_event(run):
    os.mkdir("lists")
    table = np.random.default_rng(0).dirichlet(np.ones(3), 60)
    lists = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(table.ravel()), 3)
    pyarrow.parquet.write_table(pyarrow.table({"label": np.arange(60) % 3, "prob": lists}), "lists/a.parquet")
    assert run.out("fit", "lists", "-o", "c.json").startswith("fitted evidence-scaling --safe (the default")
    run.out("fit", "lists/a.parquet", "--method", "isotonic", "-o", "isotonic.json")
    assert "calibrated prob_0, prob_1, prob_2\n" in run.out("apply", "isotonic.json", "lists", "-o", "out")


def test_the_hints_of_a_report_are_possible(run, calibrator):
    said = "Run calibrant apply first, and report on what it writes."
    run.refuses(said, "report", "parts", "-o", "r.html", "--calibrator", calibrator)
    run.out("apply", calibrator, "parts", "-o", "after")
    run.refuses("Pass --names a,b.", "report", "parts", "parts/", "-o", "r.html")
    run.out("report", "parts", "after", "--names", "a,b", "-o", "r.html", "--resamples", 1)


# Several files, folders, patterns and large files are read in batches, as one table

DRAWS = np.random.default_rng(17)
N = 6000
CHANCE = DRAWS.dirichlet(np.ones(3), N)
LABEL = np.array(["cat", "dog", "eel"])[(DRAWS.random((N, 1)) > CHANCE.cumsum(axis=1)).sum(axis=1).clip(0, 2)]


def table_of(rows=slice(None)):
    return {"label": LABEL[rows], **{f"p_{name}": CHANCE[rows, k] for k, name in enumerate(("cat", "dog", "eel"))}}


@pytest.fixture
def run_parts(shell, tmp_path):
    """Run the command line beside a folder of three files of Parquet."""
    (tmp_path / "parts").mkdir()
    for k in range(3):
        write_table(tmp_path / "parts" / f"{k}.parquet", table_of(slice(2000 * k, 2000 * k + 2000)))
    write_table(tmp_path / "whole.parquet", table_of())

    return shell


@pytest.mark.parametrize("files", [["parts"], ["parts/*.parquet"], [f"parts/{k}.parquet" for k in range(3)]])
def test_a_folder_is_assessed_as_one_table(files, run_parts):
    out, err = run_parts.told("assess", *files, "--resamples", 50)
    assert out == run_parts.out("assess", "whole.parquet", "--resamples", 50)
    assert "reading label 'label', probability 'p_cat' to 'p_eel' (3 columns)" in err


def test_decimals_in_single_precision_stand_in_the_bins_of_memory(shell):
    write_table("a.parquet", tenths := {"label": np.arange(9) % 2, "p": np.float32(np.arange(1, 10) / 10)})
    found = shell.json("assess", "a.parquet", "--bins", 10, "--metrics", "ece")["metrics"]["ece"]["value"]
    assert found == expected_calibration_error(*tenths.values(), binning=10)


def test_a_large_file_is_read_in_batches_where_figures_are_sums(run_parts, monkeypatch):
    words = "assess", "whole.parquet", "--resamples", 50
    expected = run_parts.json(*words)
    monkeypatch.setattr(streams, "LARGE", 1000)
    monkeypatch.setattr(tables, "read_table", None)
    found = run_parts.json(*words)
    assert found["metrics"].keys() == expected["metrics"].keys()
    for one, other in zip((found.pop("metrics"), found), (expected.pop("metrics"), expected), strict=True):
        name = "verdict" if "verdict" in one else "ece"
        for key, value in other.pop(name).items():
            assert one[name][key] == (pytest.approx(value, rel=1e-9) if isinstance(value, float) else value)
        del one[name]
    assert found == expected


def test_a_large_file_is_read_whole_where_a_figure_needs_the_rows(run_parts, monkeypatch):
    monkeypatch.setattr(streams, "LARGE", 1000)
    words = ["assess", "whole.parquet", "--resamples", 20, "--metrics"]
    run_parts.out(*words, "accuracy,skce")
    run_parts.out(*words, "ece", "--binning", "equal-mass")


def test_a_sample_of_all_rows_has_the_figures_of_the_file(run):
    event, percent = np.array(["no", "yes"])[TRUE], {"p_no": 100 - 100 * PROB, "p_yes": 100 * PROB}
    write_table("percent.csv", {"label": event, **percent})
    words = "assess", "percent.csv", "--percent", "--pos-label", "no", "--metrics", "nll,brier"
    assert run.out(*words, "--sample", 60) == run.out(*words)


def test_tests_of_sums_are_run_and_others_take_a_sample(run_parts):
    out, err = run_parts.told("test", "parts", "--resamples", 50)
    assert "note: cox, hosmer-lemeshow, kuiper, kernel need all rows, and are not run: --sample N runs them" in err
    z = spiegelhalter_test(LABEL, CHANCE, labels=["cat", "dog", "eel"]).statistic
    assert f"{z:.5g}" in out
    assert out.startswith("6000 rows, 3 classes")
    words, asked = ("test", "parts", "--resamples", 1), ([], ["--sample", 500], ["--tests", "spiegelhalter"])
    usual, sampled, named = (run_parts.json(*words, *more) for more in asked)
    assert (list(usual["tests"]), usual["not_run"]) == ([*OF_SUMS], ["cox", "hosmer-lemeshow", "kuiper", "kernel"])
    assert (sampled["rows"], [*sampled["tests"]], sampled["not_run"], named["not_run"]) == (500, [*USUAL_TESTS], [], [])


@pytest.fixture
def fitted(run_parts):
    run_parts.out("fit", "whole.parquet", "--method", "temperature", "-o", "c.json")
    return "c.json"


@pytest.mark.parametrize("target", ["parquet", "feather", "csv"])
@pytest.mark.parametrize("source", ["parquet", "feather", "csv"])
def test_apply_writes_in_batches_what_it_writes_at_once(source, target, run_parts, fitted, monkeypatch):
    write_table(f"in.{source}", {**table_of(), "note": np.array(['5" pipe', "a,b", "c"] * 2000)})
    run_parts.out("apply", fitted, f"in.{source}", "-o", f"one.{target}")
    monkeypatch.setattr(streams, "LARGE", 1000)
    monkeypatch.setattr(apply, "AT_A_TIME", 700)
    out = run_parts.out("apply", fitted, f"in.{source}", "-o", f"two.{target}")
    assert out == f"wrote two.{target}: 6000 rows, calibrated p_cat, p_dog, p_eel\n"
    one, two = tables.read_table(f"one.{target}"), tables.read_table(f"two.{target}")
    assert list(one) == list(two)
    for name in one:
        np.testing.assert_array_equal(one[name], two[name])


def test_apply_to_a_folder_writes_a_folder_whole_or_not_at_all(run_parts, fitted, tmp_path):
    out = run_parts.out("apply", fitted, "parts", "-o", "out")
    assert out == "wrote out: 3 files, 6000 rows, calibrated p_cat, p_dog, p_eel\n"
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["0.parquet", "1.parquet", "2.parquet"]
    run_parts("apply", fitted, "whole.parquet", "-o", "whole_out.parquet")
    expected = tables.read_table("whole_out.parquet")["p_dog"]
    np.testing.assert_array_equal(tables.read_table("out/1.parquet")["p_dog"], expected[2000:4000])
    assert [run_parts("apply", fitted, "parts", "-o", "out", *more)[0] for more in ([], ["--force"])] == [2, 2]
    wrong = table_of(slice(0, 10))
    wrong["p_dog"] = np.where(np.arange(10) == 4, np.nan, wrong["p_dog"])
    write_table("parts/1.parquet", wrong, force=True)
    assert "index (4, 1)" in run_parts.refuses("1.parquet, row group 0", "apply", fitted, "parts", "-o", "new")
    assert not [path for path in tmp_path.iterdir() if "new" in path.name]


@pytest.mark.parametrize("method", ["temperature", "vector"])
def test_a_calibrator_is_fitted_to_a_folder_as_to_one_file(method, run_parts):
    run_parts.out("fit", "whole.parquet", "--method", method, "-o", "one.json")
    assert "on 6000 rows" in run_parts.out("fit", "parts", "--method", method, "-o", "two.json")
    one, two = (load_calibrator(name) for name in ("one.json", "two.json"))
    some = pd.DataFrame(CHANCE[:50], columns=["p_cat", "p_dog", "p_eel"])
    np.testing.assert_allclose(one.calibrate(some), two.calibrate(some), rtol=1e-9)
    assert two.classes_.tolist() == ["cat", "dog", "eel"]
    said = "--other must be left out with files that are read in batches"
    run_parts.refuses(said, "fit", "parts", "--method", method, "-o", "three.json", "--other", "whole.parquet")
