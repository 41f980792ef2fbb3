"""Which column is which class: by the names that columns have, never by a guess that the data contradict."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from calibrant import TemperatureScaling, assess, cli, load_calibrator
from calibrant.metrics.decompositions import accuracy

RNG = np.random.default_rng(0)
NAMES = ["dog", "cat", "eel"]
PROB = RNG.dirichlet([1.0, 0.5, 0.2], 400)
CODE = (RNG.random((400, 1)) > PROB.cumsum(axis=1)).sum(axis=1).clip(0, 2)
WORDS = np.array(NAMES)[CODE]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def save(name, prob, columns, **others):
    pl.DataFrame({**others, **dict(zip(columns, prob.T, strict=True))}).write_csv(name)


@pytest.mark.parametrize("make", [pd.DataFrame, lambda p, columns: pl.DataFrame(p, schema=columns)])
def test_columns_named_after_the_classes_say_which_class_they_are(make):
    frame = make(PROB, columns=NAMES)
    assert accuracy(WORDS, frame) == accuracy(WORDS, PROB, labels=NAMES)
    assert TemperatureScaling().fit(frame, WORDS).classes_.tolist() == NAMES


def test_a_class_that_never_came_keeps_its_named_column():
    kept = WORDS != "eel"
    frame = pd.DataFrame(PROB[kept], columns=NAMES)
    assert assess(WORDS[kept], frame, n_resamples=9).class_weight["eel"] == 0


def test_apply_finds_the_columns_by_name_in_any_order(folder):
    columns = ["p_dog", "p_cat", "p_eel"]
    save("fit.csv", PROB, columns, label=CODE)
    save("turned.csv", PROB[:, [2, 0, 1]], ["p_eel", "p_dog", "p_cat"])
    arguments = ["--classes", "0,1,2", "--prob", "p_*"]
    assert cli.main(["fit", "fit.csv", "-o", "c.json", "--method", "isotonic", *arguments]) == 0
    assert cli.main(["apply", "c.json", "turned.csv", "-o", "out.csv"]) == 0
    calibrator, frame = load_calibrator("c.json"), pd.DataFrame(pl.read_csv("fit.csv").to_dict(as_series=False))
    expected = calibrator.predict_proba(frame[columns])
    np.testing.assert_array_equal(pl.read_csv("out.csv").select(columns).to_numpy(), expected)
    # An array has no names to compare: nothing warns of it.
    np.testing.assert_array_equal(calibrator.predict_proba(PROB), expected)
    with pytest.raises(ValueError, match="X has 2 features, but ByNotion is expecting 3"):
        calibrator.predict_proba(PROB[:, :2])
    with pytest.raises(ValueError, match="names must be in the same order"):
        calibrator.predict_proba(frame[columns[::-1]])
    assert not hasattr(calibrator.fit(PROB, CODE), "feature_names_in_")


def test_apply_refuses_columns_that_are_only_partly_those_that_were_fitted(folder, capsys):
    save("fit.csv", PROB, ["p_dog", "p_cat", "p_eel"], label=WORDS)
    save("other.csv", PROB, ["p_dog", "p_cat", "p_cow"])
    assert cli.main(["fit", "fit.csv", "-o", "c.json"]) == 0
    assert cli.main(["apply", "c.json", "other.csv", "-o", "out.csv"]) == 2
    assert "columns must be those that were fitted, p_dog, p_cat, p_eel" in capsys.readouterr().err


def test_numbers_that_no_column_is_named_after_are_refused(folder, capsys):
    save("f.csv", PROB, ["p_1", "p_2", "p_3"], label=CODE)
    assert cli.main(["assess", "f.csv"]) == 2
    assert "labels must be names of columns; got 0 and columns named '1', '2', '3'" in capsys.readouterr().err
    assert cli.main(["assess", "f.csv", "--classes", "0,1,2", "--resamples", "9"]) == 0


def test_a_defect_is_not_taken_for_a_failed_gate(folder, monkeypatch, capsys):
    def broken(*_):
        raise ZeroDivisionError

    monkeypatch.setattr(cli.commands, "run_list", broken)
    assert cli.main(["list"]) == cli.BROKEN
    assert "ZeroDivisionError" in capsys.readouterr().err
