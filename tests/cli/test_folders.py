"""Folders and patterns as inputs and outputs: nothing is lost, nothing is read twice, and files are alike or refused."""

import os

import numpy as np
import pytest

from calibrant import cli
from calibrant.interop.tables import read_table, write_table

RNG = np.random.default_rng(4)
PROB = np.round(RNG.random(60), 3)
TRUE = (RNG.random(60) < PROB).astype(int)
TWO = {"label": TRUE, "p_0": 1 - PROB, "p_1": PROB}


def rows(k, n=20, columns=TWO):
    return {name: column[n * k : n * (k + 1)] for name, column in columns.items()}


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    """Run the command line beside a folder of three files: its exit code, what it printed, and what it said on stderr."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "parts").mkdir()
    for k in range(3):
        write_table(f"parts/{k}.csv", rows(k))
    write_table("whole.csv", TWO)

    def run(*words):
        code = cli.main([str(word) for word in words])
        return code, *capsys.readouterr()

    return run


@pytest.fixture
def calibrator(run):
    assert run("fit", "whole.csv", "--method", "platt", "-o", "c.json")[0] == 0
    return "c.json"


def bytes_of(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


LOSING = {
    "fit to a file of a folder": ["fit", "parts", "-o", "parts/0.csv"],
    "fit to a file of a pattern": ["fit", "parts/*.csv", "-o", "parts/0.csv"],
    "report on a folder": ["report", "parts", "-o", "parts/1.csv"],
    "report on a pattern": ["report", "whole.csv", "par*/2.csv", "-o", "parts/2.csv", "--names", "a,b"],
    "fit over other rows": ["fit", "whole.csv", "--other", "parts/0.csv", "-o", "parts/0.csv"],
    "apply in place": ["apply", "c.json", "whole.csv", "-o", "whole.csv"],
    "apply to a folder in place": ["apply", "c.json", "parts", "-o", "parts"],
    "apply within the folder": ["apply", "c.json", "parts", "-o", "parts/new"],
    "apply over all": ["apply", "c.json", "parts", "-o", "."],
    "apply over the calibrator": ["apply", "c.json", "whole.csv", "-o", "c.json"],
    "apply of a pattern in place": ["apply", "c.json", "parts/*.csv", "-o", "parts"],
    "decide in place": ["decide", "whole.csv", "-o", "whole.csv"],
}


@pytest.mark.parametrize("words", LOSING.values(), ids=list(LOSING))
def test_no_command_writes_over_what_it_reads(words, run, calibrator, tmp_path):
    before = bytes_of(tmp_path)
    code, _, err = run(*words, "--force")
    assert code == 2
    assert "must not be what is read" in err or "must be apart from what is read" in err
    assert bytes_of(tmp_path) == before


def test_apply_replaces_the_tables_of_an_earlier_apply_and_nothing_else(run, calibrator, tmp_path):
    for _ in range(2):
        assert run("apply", calibrator, "parts", "-o", "out", "--force")[0] == 0
    assert sorted(os.listdir("out")) == ["0.csv", "1.csv", "2.csv"]
    (tmp_path / "out" / "notes.md").write_text("mine")
    code, _, err = run("apply", calibrator, "parts", "-o", "out", "--force")
    assert (code, "must hold tables alone" in err, "out holds notes.md" in err) == (2, True, True)
    assert (tmp_path / "out" / "notes.md").read_text() == "mine"


@pytest.mark.parametrize("files", [["parts", "parts/1.csv"], ["parts/*.csv", "./parts/0.csv"], ["parts", "parts"]])
def test_files_named_twice_are_read_once(files, run):
    code, out, _ = run("assess", *files, "--resamples", 1, "--metrics", "accuracy")
    assert (code, out.startswith("60 rows")) == (0, True)


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
def test_a_folder_that_holds_a_link_to_itself_is_read_once(run, calibrator, tmp_path):
    (tmp_path / "parts" / "round").symlink_to(tmp_path / "parts", target_is_directory=True)
    (tmp_path / "parts" / "last.csv").symlink_to("2.csv")
    assert run("assess", "parts", "--resamples", 1, "--metrics", "accuracy")[1].startswith("60 rows")
    assert "3 files, 60 rows" in run("apply", calibrator, "parts", "-o", "out")[1]


def test_a_folder_with_brackets_in_its_name_is_no_pattern(run, calibrator, tmp_path):
    (tmp_path / "parts").rename("runs[1]")
    for files in ("runs[1]", "runs[1]/*.csv"):
        assert run("assess", files, "--resamples", 1, "--metrics", "accuracy")[1].startswith("60 rows")
    code, _, err = run("assess", "runs[1]/9.csv", "--metrics", "accuracy")
    assert (code, "the file must exist; got runs[1]/9.csv" in err) == (2, True)
    assert "3 files" in run("apply", calibrator, "runs[1]", "-o", "out")[1]


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
