"""A forecast in a file: its columns are found, or refused when they are not clear."""

import numpy as np
import pytest

from calibrant.interop.tables import read_forecast, select, write_table

NAMES = ["label", "p_a", "p_b", "q", "p_c"]


@pytest.mark.parametrize(
    ("wanted", "chosen"),
    [
        ("q", ("q",)),
        ("p_*", ("p_a", "p_b", "p_c")),
        ("p_?", ("p_a", "p_b", "p_c")),
        ("p_[ac]", ("p_a", "p_c")),
        ("p_a:q", ("p_a", "p_b", "q")),
        ("p_c, p_a", ("p_c", "p_a")),
        ("p_c,p_*", ("p_c", "p_a", "p_b")),
    ],
)
def test_columns_are_chosen_by_names_globs_and_ranges(wanted, chosen):
    assert select(NAMES, wanted, where="f") == chosen


def test_a_name_with_a_colon_or_a_star_is_a_name_first():
    assert select(["a:b", "a", "b", "*"], "a:b,*", where="f") == ("a:b", "*")


@pytest.mark.parametrize("wanted", ["z", "z_*", "p_a:z", "p_a,z", ""])
def test_a_column_that_is_not_there_is_refused_with_those_that_are(wanted):
    with pytest.raises(ValueError, match=r"f must have the column .*; it has 'label', 'p_a'"):
        select(NAMES, wanted, where="f")


def test_a_long_list_of_columns_is_cut():
    with pytest.raises(ValueError, match=r"\.\.\. \(1000 in all\)"):
        select([f"c{i}" for i in range(1000)], "z", where="f")


@pytest.mark.parametrize(
    ("names", "label", "columns", "input"),
    [
        (["label", "p_0", "p_1"], "label", ("p_0", "p_1"), "probability"),
        (["Target", "prob_a", "prob_b", "id"], "Target", ("prob_a", "prob_b"), "probability"),
        (["y", "score"], "y", ("score",), "probability"),
        (["y_true", "y_prob"], "y_true", ("y_prob",), "probability"),
        (["class", "z_0", "z_1"], "class", ("z_0", "z_1"), "logit"),
    ],
)
def test_usual_names_are_guessed_and_said(names, label, columns, input, tmp_path):
    write_table(tmp_path / "t.csv", {name: np.array([0.0, 1.0]) for name in names})
    forecast = read_forecast(tmp_path / "t.csv")
    assert (forecast.label_column, forecast.forecast_columns, forecast.input) == (label, columns, input)
    said = " ".join(forecast.guessed)
    assert repr(label) in said
    assert input in said
    assert repr(columns[0]) in said


def test_nothing_is_guessed_where_all_is_said(tmp_path):
    write_table(tmp_path / "t.csv", {name: np.array([0.0, 1.0]) for name in ("label", "y", "a", "b")})
    assert read_forecast(tmp_path / "t.csv", label="y", prob="a,b").guessed == ()


@pytest.mark.parametrize(
    ("columns", "truth", "classes"),
    [
        (["p_dog", "p_cat"], ["cat", "dog"], ["dog", "cat"]),
        (["prob.dog", "prob.cat"], ["cat", "cat"], ["dog", "cat"]),
        (["p_new york", "p_a_b"], ["a_b", "new york"], ["new york", "a_b"]),
        (["p_1", "p_2", "p_3"], [1, 3], [1, 2, 3]),
        (["p_2", "p_0", "p_1"], [1, 2], [2, 0, 1]),
        (["p_a", "p_b"], [0, 1], None),
        (["p_1", "p_0"], [True, False], [True, False]),
        (["p_yes", "p_no"], [True, False], [True, False]),
        (["p_a", "p_b"], [True, False], None),
        (["p_True", "p_False"], [1, 0], [1, 0]),
        (["p_True", "p_False"], [1, -1], [1, -1]),
        (["p_1.0", "p_0.0"], [1, 0], [1, 0]),
        (["p_yes", "p_no"], [1, 0], [1, 0]),
        (["p_True", "p_False"], [1, 2], None),
        (["p"], ["cat", "dog"], None),
    ],
)
def test_the_class_of_a_column_is_read_off_its_name(columns, truth, classes, tmp_path):
    table = {"truth": np.array(truth), **{name: np.full(2, 0.5) for name in columns}}
    write_table(tmp_path / "t.npz", table)
    assert read_forecast(tmp_path / "t.npz", prob=",".join(columns), label="truth").labels() == classes


@pytest.mark.parametrize("labels", [[0, None], ["cat", None]], ids=["numbers", "words"])
def test_a_missing_label_is_refused(labels, tmp_path):
    polars = pytest.importorskip("polars")
    polars.DataFrame({"y": labels, "p_cat": [0.5, 0.5], "p_dog": [0.5, 0.5]}).write_parquet(tmp_path / "t.parquet")
    with pytest.raises((ValueError, TypeError), match=r"y_true must hold .*(Drop|drop|If)"):
        read_forecast(tmp_path / "t.parquet").labels()


def test_rows_are_cut_before_anything_is_looked_at(tmp_path):
    write_table(tmp_path / "t.csv", {"y": np.arange(4), "p": np.array([9.0, 0.2, 0.3, 9.0])})
    forecast = read_forecast(tmp_path / "t.csv", rows=slice(1, 3))
    assert forecast.y_true.tolist() == [1, 2]
    assert forecast.y_prob.tolist() == [0.2, 0.3]


def test_a_forecast_without_labels_says_so_when_asked_for_them(tmp_path):
    write_table(tmp_path / "t.csv", {"p_0": np.ones(1), "p_1": np.zeros(1)})
    forecast = read_forecast(tmp_path / "t.csv", label_optional=True)
    assert forecast.label_column is None
    with pytest.raises(ValueError, match="must have a label column; none was found"):
        _ = forecast.y_true
