"""Several files, folders, patterns and large files are read in batches, as one table."""

import json

import numpy as np
import pandas as pd
import pytest

from calibrant import load_calibrator, spiegelhalter_test
from calibrant.cli import fit as apply
from calibrant.cli import inputs as streams
from calibrant.interop import tables
from calibrant.interop.tables import write_table

RNG = np.random.default_rng(17)
N = 6000
PROB = RNG.dirichlet(np.ones(3), N)
LABEL = np.array(["cat", "dog", "eel"])[(RNG.random((N, 1)) > PROB.cumsum(axis=1)).sum(axis=1).clip(0, 2)]


def table(rows=slice(None)):
    return {"label": LABEL[rows], **{f"p_{name}": PROB[rows, k] for k, name in enumerate(("cat", "dog", "eel"))}}


@pytest.fixture
def run(shell, tmp_path):
    """Run the command line where a folder holds three files: its exit code, what it printed, and what it said on stderr."""
    (tmp_path / "parts").mkdir()
    for k in range(3):
        write_table(tmp_path / "parts" / f"{k}.parquet", table(slice(2000 * k, 2000 * k + 2000)))
    write_table(tmp_path / "whole.parquet", table())

    return shell


FOLDERS = {
    "folder": ["parts"],
    "pattern": ["parts/*.parquet"],
    "files": ["parts/0.parquet", "parts/1.parquet", "parts/2.parquet"],
}


@pytest.mark.parametrize("files", FOLDERS.values(), ids=list(FOLDERS))
def test_a_folder_is_assessed_as_one_table(files, run):
    code, out, err = run("assess", *files, "--resamples", 50)
    assert code == 0
    assert out == run("assess", "whole.parquet", "--resamples", 50)[1]
    assert "reading label 'label', probability 'p_cat' to 'p_eel' (3 columns)" in err


def test_a_large_file_is_read_in_batches_where_figures_are_sums(run, monkeypatch):
    whole = run("assess", "whole.parquet", "--resamples", 50, "--json")[1]
    monkeypatch.setattr(streams, "LARGE", 1000)
    monkeypatch.setattr(tables, "read_table", None)
    found, expected = json.loads(run("assess", "whole.parquet", "--resamples", 50, "--json")[1]), json.loads(whole)
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


def test_a_large_file_is_read_whole_where_a_figure_needs_the_rows(run, monkeypatch):
    monkeypatch.setattr(streams, "LARGE", 1000)
    words = ["assess", "whole.parquet", "--resamples", 20, "--metrics"]
    assert run(*words, "accuracy,skce")[0] == run(*words, "ece", "--binning", "equal-mass")[0] == 0


def test_tests_of_sums_are_run_and_others_take_a_sample(run):
    code, out, _ = run("test", "parts", "--resamples", 50)
    assert code == 0
    z = spiegelhalter_test(LABEL, PROB, labels=["cat", "dog", "eel"]).statistic
    assert f"{z:.5g}" in out
    assert out.startswith("6000 rows, 3 classes")
    code, _, err = run("test", "parts", "--tests", "kernel")
    assert code == 2
    assert "must be spiegelhalter or resampling, of the usual notion; got --tests kernel. Pass --sample N" in err
    code, out, _ = run("test", "parts", "--tests", "hosmer-lemeshow", "--sample", 500)
    assert (code, out.startswith("500 rows")) == (0, True)


@pytest.fixture
def calibrator(run):
    assert run("fit", "whole.parquet", "--method", "temperature", "-o", "c.json")[0] == 0
    return "c.json"


@pytest.mark.parametrize("target", ["parquet", "feather", "csv"])
@pytest.mark.parametrize("source", ["parquet", "feather", "csv"])
def test_apply_writes_in_batches_what_it_writes_at_once(source, target, run, calibrator, monkeypatch):
    write_table(f"in.{source}", {**table(), "note": np.array(['5" pipe', "a,b", "c"] * 2000)})
    assert run("apply", calibrator, f"in.{source}", "-o", f"one.{target}")[0] == 0
    monkeypatch.setattr(streams, "LARGE", 1000)
    monkeypatch.setattr(apply, "AT_A_TIME", 700)
    code, out, _ = run("apply", calibrator, f"in.{source}", "-o", f"two.{target}")
    assert (code, out) == (0, f"wrote two.{target}: 6000 rows, calibrated p_cat, p_dog, p_eel\n")
    one, two = tables.read_table(f"one.{target}"), tables.read_table(f"two.{target}")
    assert list(one) == list(two)
    for name in one:
        np.testing.assert_array_equal(one[name], two[name])


def test_apply_to_a_folder_writes_a_folder_whole_or_not_at_all(run, calibrator, tmp_path):
    code, out, _ = run("apply", calibrator, "parts", "-o", "out")
    assert (code, out) == (0, "wrote out: 3 files, 6000 rows, calibrated p_cat, p_dog, p_eel\n")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["0.parquet", "1.parquet", "2.parquet"]
    run("apply", calibrator, "whole.parquet", "-o", "whole_out.parquet")
    expected = tables.read_table("whole_out.parquet")["p_dog"]
    np.testing.assert_array_equal(tables.read_table("out/1.parquet")["p_dog"], expected[2000:4000])
    assert [run("apply", calibrator, "parts", "-o", "out", *more)[0] for more in ([], ["--force"])] == [2, 2]
    wrong = table(slice(0, 10))
    wrong["p_dog"] = np.where(np.arange(10) == 4, np.nan, wrong["p_dog"])
    write_table("parts/1.parquet", wrong, force=True)
    code, _, err = run("apply", calibrator, "parts", "-o", "new")
    assert (code, "1.parquet, row group 0" in err, "index (4, 1)" in err) == (2, True, True)
    assert not [path for path in tmp_path.iterdir() if "new" in path.name]


@pytest.mark.parametrize("method", ["temperature", "vector"])
def test_a_calibrator_is_fitted_to_a_folder_as_to_one_file(method, run):
    assert run("fit", "whole.parquet", "--method", method, "-o", "one.json")[0] == 0
    code, out, _ = run("fit", "parts", "--method", method, "-o", "two.json")
    assert code == 0
    assert "on 6000 rows" in out
    one, two = (load_calibrator(name) for name in ("one.json", "two.json"))
    some = pd.DataFrame(PROB[:50], columns=["p_cat", "p_dog", "p_eel"])
    np.testing.assert_allclose(one.calibrate(some), two.calibrate(some), rtol=1e-9)
    assert two.classes_.tolist() == ["cat", "dog", "eel"]
    code, _, err = run("fit", "parts", "--method", method, "-o", "three.json", "--other", "whole.parquet")
    assert (code, "--other must be left out with files that are read in batches" in err) == (2, True)
