"""The layout of CalArena: what is written is read again, and a run joins the table."""

import numpy as np
import pytest

from studies.arena import calarena
from studies.arena.calarena import (
    Experiment,
    append_result,
    as_table,
    head_of,
    read_index,
    read_results,
    read_rows,
    run_all,
    write_benchmark,
    write_index,
)
from studies.arena.cells import NONE, Line

ONE = Experiment("wine", "forest", 30, 20, 3)


def rows(n_classes, seed=0):
    rng = np.random.default_rng(seed)
    prob = rng.dirichlet(np.ones(n_classes), 50).astype(np.float32)
    y = rng.integers(n_classes, size=50)
    values = prob[:, 1] if n_classes == 2 else prob
    return dict(zip(calarena.ARRAYS, [values[:30], y[:30], values[30:], y[30:]], strict=True))


def test_the_index_is_read_as_it_was_written(tmp_path):
    for name, one, head in [
        ("a-multiclass-experiments.csv", ONE, "dataset,model,cal_size,test_size,n_classes"),
        ("a-binary-experiments.csv", Experiment("wine", "forest", 30, 20, 2), "dataset,model,cal_size,test_size"),
    ]:
        write_index(tmp_path / name, [one])
        assert (tmp_path / name).read_text().splitlines()[0] == head
        assert read_index(tmp_path / name) == [one]


def test_a_results_file_has_the_columns_of_calarena(tmp_path):
    file = tmp_path / "results" / "SMS.csv"
    append_result(file, "a-multiclass", "SMS", ONE, Line("sms", 0.5, 0.25, 0.125, 0.75, 0.0625))
    assert file.read_text().splitlines() == [
        "dataset,model,cal_size,test_size,n_classes,SMS_logloss,SMS_brier,SMS_ece-15,SMS_accuracy,SMS_time",
        "wine,forest,30,20,3,0.5,0.25,0.125,0.75,0.0625",
    ]
    assert "n_classes" not in head_of("a-binary", "SMS")
    found = read_results(file)["wine", "forest"]
    assert found == {
        "SMS_logloss": 0.5,
        "SMS_brier": 0.25,
        "SMS_ece-15": 0.125,
        "SMS_accuracy": 0.75,
        "SMS_time": 0.0625,
    }


@pytest.mark.parametrize("shape", [(3,), (3, 1), (3, 2)])
def test_two_classes_are_one_column_or_two(shape):
    event = np.array([0.25, 0.5, 1.0], dtype=np.float32)
    prob = np.column_stack([1 - event, event]) if shape == (3, 2) else event.reshape(shape)
    assert as_table(prob).tolist() == [[0.75, 0.25], [0.5, 0.5], [0.0, 1.0]]


@pytest.mark.parametrize(("name", "n_classes"), [("a-binary", 2), ("a-multiclass", 3)])
def test_a_run_goes_on_and_joins(tmp_path, monkeypatch, name, n_classes):
    """Without the HDF5 file: what is read from it is given."""
    monkeypatch.setattr(calarena, "read_rows", lambda folder, _, one: rows(n_classes))
    write_index(tmp_path / f"{name}-experiments.csv", [Experiment(d, "forest", 30, 20, n_classes) for d in "ab"])
    assert run_all(tmp_path, name, tmp_path / "results", [NONE, "temperature"], map) == 2
    assert run_all(tmp_path, name, tmp_path / "results", [NONE, "temperature"], map) == 0
    base = read_results(tmp_path / "results" / name / "Base-model.csv")
    found = read_results(tmp_path / "results" / name / "calibrant-temperature.csv")
    assert set(found) == set(base) == {("a", "forest"), ("b", "forest")}
    test = rows(n_classes)
    occurred = as_table(test["probas_test"])[np.arange(20), test["labels_test"]]
    assert base["a", "forest"]["Base-model_logloss"] == pytest.approx(-np.log(occurred).mean())
    assert found["a", "forest"]["calibrant-temperature_logloss"] < base["a", "forest"]["Base-model_logloss"]


@pytest.mark.parametrize(("name", "n_classes"), [("a-binary", 2), ("a-multiclass", 3)])
def test_a_benchmark_is_read_as_it_was_written(tmp_path, name, n_classes):
    pytest.importorskip("h5py", reason="the files of a benchmark are HDF5: install h5py")
    index = write_benchmark(
        tmp_path, name, [("wine", "forest", rows(n_classes)), ("wine", "trees", rows(n_classes, 1))]
    )
    assert read_index(tmp_path / f"{name}-experiments.csv") == index
    back = read_rows(tmp_path, name, index[1])
    for array, values in rows(n_classes, 1).items():
        assert back[array].dtype == values.dtype
        assert np.array_equal(back[array], values)
    assert run_all(tmp_path, name, tmp_path / "results", ["temperature"], map) == 2
