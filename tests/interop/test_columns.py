"""Which column is which class: by the names that columns have, never by a guess that the data contradict."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from calibrant import assess, cli, load_calibrator

RNG = np.random.default_rng(0)
NAMES = ["dog", "cat", "eel"]
PROB = RNG.dirichlet([1.0, 0.5, 0.2], 400)
CODE = (RNG.random((400, 1)) > PROB.cumsum(axis=1)).sum(axis=1).clip(0, 2)
WORDS = np.array(NAMES)[CODE]


def test_a_class_that_never_came_keeps_its_named_column():
    kept = WORDS != "eel"
    frame = pd.DataFrame(PROB[kept], columns=NAMES)
    assert assess(WORDS[kept], frame, n_resamples=9).class_weight["eel"] == 0


def test_apply_finds_the_columns_by_name_in_any_order(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    columns = ["p_dog", "p_cat", "p_eel"]
    frame = pd.DataFrame(PROB, columns=columns)
    frame.assign(label=CODE).to_csv("fit.csv", index=False)
    frame[columns[::-1]].to_csv("turned.csv", index=False)
    arguments = ["--classes", "0,1,2", "--prob", "p_*"]
    assert cli.main(["fit", "fit.csv", "-o", "c.json", "--method", "isotonic", *arguments]) == 0
    assert cli.main(["apply", "c.json", "turned.csv", "-o", "out.csv"]) == 0
    calibrator = load_calibrator("c.json")
    expected = calibrator.predict_proba(frame)
    np.testing.assert_array_equal(pl.read_csv("out.csv").select(columns).to_numpy(), expected)
    # An array has no names to compare: nothing warns of it.
    np.testing.assert_array_equal(calibrator.predict_proba(PROB), expected)
    with pytest.raises(ValueError, match="X has 2 features, but ByNotion is expecting 3"):
        calibrator.predict_proba(PROB[:, :2])
    with pytest.raises(ValueError, match="names must be in the same order"):
        calibrator.predict_proba(frame[columns[::-1]])
    assert not hasattr(calibrator.fit(PROB, CODE), "feature_names_in_")
