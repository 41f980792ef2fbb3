"""Tables in files: every format holds the same numbers, columns are found or refused, and CSV and NPZ need NumPy alone."""

import numpy as np
import pytest

from calibrant.interop import files
from calibrant.interop.files import read_forecast, read_table, select, write_table

ENDINGS = ["csv", "parquet", "pq", "feather", "arrow", "npz"]
TABLE = {
    "label": np.array(["cat", "dög", "cat, tabby"]),
    "p_0": np.array([0.1, 1 / 3, 1e-300]),
    "n": np.array([1, -2, 2**53 + 1]),
    "single": np.array([0.1, 0.2, 0.3], dtype=np.float32).astype(np.float64),
    'a "quoted", name': np.array([True, False, True]),
}

BY_NUMPY = ["csv", "npz"]

each_ending = pytest.mark.parametrize("ending", ENDINGS)
each_engine_and_ending = pytest.mark.parametrize(
    ("engine", "ending"),
    [(e, f) for e in ("polars", "pyarrow", "numpy") for f in ENDINGS if e != "numpy" or f in BY_NUMPY],
    indirect=["engine"],
)


def without(monkeypatch, *packages):
    """Make packages look as if they were not installed."""
    found = files.find_spec
    monkeypatch.setattr(files, "find_spec", lambda name: None if name in packages else found(name))


@pytest.fixture(params=["polars", "pyarrow", "numpy"])
def engine(request, monkeypatch):
    """The package that reads and writes."""
    if request.param != "numpy":
        pytest.importorskip(request.param)
    absent = {"polars": (), "pyarrow": ("polars",), "numpy": ("polars", "pyarrow")}
    without(monkeypatch, *absent[request.param])
    return request.param


def same_tables(found, expected):
    assert list(found) == list(expected)
    for name, column in expected.items():
        assert found[name].dtype.kind == column.dtype.kind
        np.testing.assert_array_equal(found[name], column)


@each_engine_and_ending
def test_what_is_written_is_read_back_to_the_last_bit(ending, engine, tmp_path):
    path = tmp_path / f"table.{ending}"
    write_table(path, TABLE)
    same_tables(read_table(path), TABLE)


@each_ending
def test_what_polars_writes_pyarrow_reads_and_the_other_way_round(ending, monkeypatch, tmp_path):
    pytest.importorskip("polars")
    pytest.importorskip("pyarrow")
    write_table(tmp_path / f"polars.{ending}", TABLE)
    with monkeypatch.context() as patch:
        without(patch, "polars")
        same_tables(read_table(tmp_path / f"polars.{ending}"), TABLE)
        write_table(tmp_path / f"pyarrow.{ending}", TABLE)
    same_tables(read_table(tmp_path / f"pyarrow.{ending}"), TABLE)


@pytest.mark.parametrize("ending", ["parquet", "feather"])
@pytest.mark.parametrize("job", ["read", "write"])
def test_without_an_engine_the_extra_to_install_is_named(ending, job, monkeypatch, tmp_path):
    path = tmp_path / f"table.{ending}"
    path.write_bytes(b"anything")
    without(monkeypatch, "polars", "pyarrow")
    with pytest.raises(ImportError, match=r"calibrant\[table\]"):
        _ = read_table(path) if job == "read" else write_table(path, TABLE, force=True)
    assert path.read_bytes() == b"anything"


# CSV


def write(path, text):
    path.write_bytes(text.encode())
    return path


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1", "-2", "30"], np.array([1, -2, 30])),
        (["1", "2.5", "1e-3"], np.array([1.0, 2.5, 0.001])),
        (["1", "2.5", "NaN"], np.array([1.0, 2.5, np.nan])),
        (["1", "two", "3"], np.array(["1", "two", "3"])),
        (["true", "false", "true"], np.array([True, False, True])),
        (["True", "False", "True"], np.array([True, False, True])),
        (["True", "False", "x"], np.array(["True", "False", "x"])),
        (['"a, b"', '"say ""so"""', '"two\nlines"'], np.array(["a, b", 'say "so"', "two\nlines"])),
    ],
    ids=["whole numbers", "numbers", "with NaN", "mixed", "booleans", "booleans of pandas", "words", "quoted"],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["unix", "windows"])
def test_a_csv_column_gets_the_type_that_all_its_cells_have(cells, expected, newline, engine, tmp_path):
    path = write(tmp_path / "table.csv", newline.join(["x,k", *(f"{cell},{i}" for i, cell in enumerate(cells))]))
    found = read_table(path)["x"]
    assert found.dtype.kind == expected.dtype.kind
    np.testing.assert_array_equal(found, expected)


def test_a_byte_order_mark_is_no_part_of_the_first_name(engine, tmp_path):
    path = write(tmp_path / "table.csv", "\ufefflabel,p\n1,0.5\n")
    assert list(read_table(path)) == ["label", "p"]


def test_a_type_is_decided_by_the_last_line_too(engine, tmp_path):
    path = write(tmp_path / "table.csv", "x\n" + "1\n" * 3000 + "0.5\n")
    assert read_table(path)["x"][-1] == 0.5


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a,b\n1,2\n3,4,5\n", "readable csv"),
        ("a,a\n1,2\n", "'a' more than once"),
        ("a,b\n", "at least one row"),
        ("", "is empty"),
    ],
    ids=["ragged", "a name twice", "header only", "empty"],
)
def test_a_broken_csv_is_refused(text, why, engine, tmp_path):
    with pytest.raises(ValueError, match=rf"table\.csv must .*{why}.*\. (Was it|Check)"):
        read_table(write(tmp_path / "table.csv", text))


def test_a_csv_in_another_encoding_is_refused(engine, tmp_path):
    (tmp_path / "table.csv").write_bytes("a\nÄ\n".encode("utf-16"))
    with pytest.raises(ValueError, match="readable csv"):
        read_table(tmp_path / "table.csv")


def test_a_missing_cell_is_an_empty_cell_when_written_again(tmp_path):
    write_table(tmp_path / "out.csv", {"x": np.array([0.5, np.nan]), "k": np.array([1, 2])})
    assert (tmp_path / "out.csv").read_text() == "x,k\n0.5,1\n,2\n"


# Other formats


@pytest.mark.parametrize(
    ("engine", "ending"),
    [("polars", "parquet"), ("polars", "feather"), ("pyarrow", "parquet"), ("pyarrow", "feather"), ("numpy", "npz")],
    indirect=["engine"],
)
@pytest.mark.parametrize("kept", [0.5, 0.9], ids=["half", "nine tenths"])
def test_a_truncated_file_is_refused(ending, kept, engine, tmp_path):
    path = tmp_path / f"table.{ending}"
    write_table(path, TABLE)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * kept)])
    with pytest.raises(ValueError, match=rf"table\.{ending} must be a readable .* Was it cut or damaged"):
        read_table(path)


def test_an_npz_that_would_run_code_is_refused(tmp_path):
    np.savez(tmp_path / "table.npz", x=np.array([print, None], dtype=object))
    with pytest.raises(ValueError, match="readable npz"):
        read_table(tmp_path / "table.npz")


def test_a_pickle_that_calls_itself_npz_is_refused_without_advice_to_load_it(tmp_path):
    import pickle

    (tmp_path / "table.npz").write_bytes(pickle.dumps({"x": 1}))
    with pytest.raises(ValueError, match="no zip archive") as refusal:
        read_table(tmp_path / "table.npz")
    assert "allow_pickle" not in str(refusal.value)


def test_an_npz_holds_a_forecast_as_one_array(tmp_path):
    prob = np.array([[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]])
    np.savez(tmp_path / "table.npz", P=prob, y=np.array([2, 0]))
    forecast = read_forecast(tmp_path / "table.npz")
    assert forecast.forecast_columns == ("P_0", "P_1", "P_2")
    np.testing.assert_array_equal(forecast.y_prob, prob)


def test_categories_are_read_as_their_words(tmp_path):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"label": ["cat", "dog"]}, schema={"label": polars.Categorical})
    frame.write_parquet(tmp_path / "table.parquet")
    same_tables(read_table(tmp_path / "table.parquet"), {"label": np.array(["cat", "dog"])})


@pytest.mark.parametrize("name", ["table.txt", "table", "table.csv.gz", "table.json"])
def test_an_unknown_ending_is_refused(name, tmp_path):
    (tmp_path / name).write_text("a\n1\n")
    with pytest.raises(ValueError, match=r"must end in \.csv.*; got .*Rename or convert"):
        read_table(tmp_path / name)


def test_a_directory_is_refused(tmp_path):
    with pytest.raises(IsADirectoryError, match="must be a file"):
        read_table(tmp_path)


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"must exist; got .*nothing\.csv"):
        read_table(tmp_path / "nothing.csv")


# Columns

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


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["label", "y", "p_0", "p_1"], r"label column must be clear; .* 'label', 'y'.*--label"),
        (["label", "p_0", "p_1", "prob_0", "prob_1"], r"must be clear; .*'p_0' to 'p_1'.* or .*'prob_0'.*--prob"),
        (["label", "p_0", "p_1", "z_0", "z_1"], r"must be clear; .*probability .* or logit .*--logit"),
        (["p_0", "p_1"], r"must have a label column; it has 'p_0', 'p_1'.*--label"),
        (["label", "a", "b"], r"must have forecast columns; it has 'a', 'b'.*--prob"),
    ],
    ids=["two labels", "two forecasts", "probabilities and logits", "no label", "no forecast"],
)
def test_a_guess_that_is_not_clear_is_refused(names, message, tmp_path):
    write_table(tmp_path / "t.csv", {name: np.array([0.0, 1.0]) for name in names})
    with pytest.raises(ValueError, match=message):
        read_forecast(tmp_path / "t.csv")


def test_nothing_is_guessed_where_all_is_said(tmp_path):
    write_table(tmp_path / "t.csv", {name: np.array([0.0, 1.0]) for name in ("label", "y", "a", "b")})
    assert read_forecast(tmp_path / "t.csv", label="y", prob="a,b").guessed == ()


@pytest.mark.parametrize(
    ("columns", "truth", "classes"),
    [
        (["p_dog", "p_cat"], ["cat", "dog"], ["dog", "cat"]),
        (["prob.dog", "prob.cat"], ["cat", "cat"], ["dog", "cat"]),
        (["cat", "dog"], ["dog", "cat"], ["cat", "dog"]),
        (["p_new york", "p_a_b"], ["a_b", "new york"], ["new york", "a_b"]),
        (["p_1", "p_2", "p_3"], [1, 3], [1, 2, 3]),
        (["p_1", "p_2", "p_3"], [1.0, 3.0], [1, 2, 3]),
        (["p_2", "p_0", "p_1"], [1, 2], [2, 0, 1]),
        (["p_a", "p_b"], [0, 1], None),
        (["p_0", "p_1"], [True, False], [False, True]),
        (["p_1", "p_0"], [True, False], [True, False]),
        (["p_1.0", "p_0.0"], [True, False], [True, False]),
        (["p_yes", "p_no"], [True, False], [True, False]),
        (["p_true", "p_false"], [True, False], [True, False]),
        (["p_a", "p_b"], [True, False], None),
        (["p_True", "p_False"], [1, 0], [1, 0]),
        (["p_True", "p_False"], [1.0, 0.0], [1, 0]),
        (["p_True", "p_False"], [1, -1], [1, -1]),
        (["p_False", "p_True"], [0, 0], [0, 1]),
        (["p_1.0", "p_0.0"], [1, 0], [1, 0]),
        (["p_2.0", "p_0.0", "p_1.0"], [1, 0], [2, 0, 1]),
        (["p_yes", "p_no"], [1, 0], [1, 0]),
        (["p_True", "p_False"], [1, 2], None),
        (["p"], ["cat", "dog"], None),
    ],
)
def test_the_class_of_a_column_is_read_off_its_name(columns, truth, classes, tmp_path):
    table = {"truth": np.array(truth), **{name: np.full(2, 0.5) for name in columns}}
    write_table(tmp_path / "t.npz", table)
    assert read_forecast(tmp_path / "t.npz", prob=",".join(columns), label="truth").labels() == classes


@pytest.mark.parametrize("wanted", ["p_*", "y,p_1", "p_0:p_1"])
def test_a_label_that_names_several_columns_is_refused(wanted, tmp_path):
    write_table(tmp_path / "t.csv", {"y": np.array([0, 1]), "p_0": np.zeros(2), "p_1": np.ones(2)})
    with pytest.raises(ValueError, match=r"--label must name one column of .*t\.csv; got .* Name one of these\."):
        read_forecast(tmp_path / "t.csv", label=wanted)


def test_words_that_no_column_is_named_after_are_refused(tmp_path):
    write_table(tmp_path / "t.csv", {"y": np.array(["Cat", "dog"]), "p_dog": np.ones(2), "p_cat": np.zeros(2)})
    with pytest.raises(ValueError, match=r"names of columns; got 'Cat' and columns named 'dog', 'cat'.*--classes"):
        read_forecast(tmp_path / "t.csv").labels()


def test_a_forecast_of_words_is_refused_with_its_place(tmp_path):
    write_table(tmp_path / "t.csv", {"y": np.array([0, 1]), "p_0": np.array(["0.5", "half"]), "p_1": np.ones(2) / 2})
    with pytest.raises(TypeError, match=r"t\.csv must hold numbers in the column 'p_0'; got 'half' in row 1"):
        read_forecast(tmp_path / "t.csv")


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_missing_number_becomes_nan_which_every_metric_refuses(ending, tmp_path):
    polars = pytest.importorskip("polars")
    from calibrant import expected_calibration_error

    frame = polars.DataFrame({"y": [0, 1], "p_0": [0.5, None], "p_1": [0.5, 0.1]})
    _ = frame.write_csv(tmp_path / "t.csv") if ending == "csv" else frame.write_parquet(tmp_path / "t.parquet")
    forecast = read_forecast(tmp_path / f"t.{ending}")
    with pytest.raises(ValueError, match=r"finite; got nan at index \(1, 0\)"):
        expected_calibration_error(forecast.y_true, forecast.y_prob)


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
