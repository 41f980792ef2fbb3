"""Tables and records of any format come back as they were, and columns are found by their names."""

import io
import json
import pickle
import re
import sys
import tracemalloc
import types
import zipfile

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibrant.interop import columns
from calibrant.interop.columns import FileTable
from calibrant.interop.tables import (
    MOST_PARTS,
    choose_columns,
    read_forecast,
    read_table,
    select,
    table_of,
    write_table,
)

TABLE = {
    "label": np.array(["cat", "dög", "cat, tabby"]),
    "p_0": np.array([0.1, 1 / 3, 1e-300]),
    "n": np.array([1, -2, 2**53 + 1]),
    "single": np.array([0.1, 0.2, 0.3], dtype=np.float32).astype(np.float64),
    'a "quoted", name': np.array([True, False, True]),
}


def same_tables(found, expected):
    assert list(found) == list(expected)
    for name, column in expected.items():
        assert found[name].dtype.kind == column.dtype.kind
        np.testing.assert_array_equal(found[name], column)


@pytest.mark.parametrize("ending", ["csv", "parquet", "pq", "feather", "arrow", "npz"])
def test_what_is_written_is_read_back_to_the_last_bit(ending, tmp_path):
    path = tmp_path / f"table.{ending}"
    write_table(path, TABLE)
    same_tables(read_table(path), TABLE)


@pytest.mark.parametrize(
    ("ending", "job"),
    [("csv", "read"), ("parquet", "read"), ("feather", "read"), ("parquet", "write"), ("feather", "write")],
)
def test_without_an_engine_the_extra_to_install_is_named(ending, job, monkeypatch, tmp_path):
    path = tmp_path / f"table.{ending}"
    path.write_bytes(b"anything")
    found = columns.find_spec
    monkeypatch.setattr(columns, "find_spec", lambda name: None if name == "pyarrow" else found(name))
    with pytest.raises(ImportError, match=r"calibrant\[table\]"):
        _ = read_table(path) if job == "read" else write_table(path, TABLE, force=True)
    assert path.read_bytes() == b"anything"


# Other formats


@pytest.mark.parametrize("ending", ["parquet", "feather", "npz"])
def test_a_truncated_file_is_refused(ending, tmp_path):
    path = tmp_path / f"table.{ending}"
    write_table(path, TABLE)
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * 0.9)])
    with pytest.raises(ValueError, match=rf"table\.{ending} must be a readable .* Was it cut or damaged"):
        read_table(path)


def test_an_npz_that_would_run_code_is_read_without_its_objects(tmp_path):
    path = tmp_path / "table.npz"
    np.savez(path, p=np.array([0.3, 0.6]), y=np.array([1, 0]), x=np.array([print, None], dtype=object))
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("readme.txt", "not an array")
        archive.writestr("sub/", "")
    assert read_forecast(path).y_prob.tolist() == [0.3, 0.6]
    said = r"table\.npz must hold numbers, .* in 'x\.npy'; it holds Python objects.*astype"
    with pytest.raises(TypeError, match=said):
        read_forecast(path, prob="x")


def test_a_pickle_that_calls_itself_npz_is_refused_without_advice_to_load_it(tmp_path):
    (tmp_path / "table.npz").write_bytes(pickle.dumps({"x": 1}))
    with pytest.raises(ValueError, match="no zip archive") as refusal:
        read_table(tmp_path / "table.npz")
    assert "allow_pickle" not in str(refusal.value)


@pytest.mark.parametrize("name", ["allow_pickle", "file", "self", "a/b"])
def test_any_name_can_be_that_of_an_npz_column(name, tmp_path):
    table = {name: np.array([1, 2]), "p": np.array([0.5, 0.2])}
    write_table(tmp_path / "t.npz", table)
    same_tables(read_table(tmp_path / "t.npz"), table)
    with np.load(tmp_path / "t.npz") as found:
        assert list(found) == list(table)


@pytest.mark.parametrize("name", ["logits.npy", "LOGITS.NPY"])
def test_an_array_without_a_name_is_to_be_saved_as_npz(name, tmp_path):
    (tmp_path / name).write_text("")
    with pytest.raises(ValueError, match="must end in") as refused:
        read_table(tmp_path / name)
    hint = re.search(r"np\.savez\(.*?\)", str(refused.value))
    assert hint
    y, z = np.array([0, 1, 2]), np.eye(3)
    np.savez(tmp_path / "forecast.npz", **eval(hint[0].replace("np.savez('forecast.npz', ", "dict("), {"y": y, "z": z}))
    same_tables(read_table(tmp_path / "forecast.npz"), {"label": y, "logits": z})


# Arrays of an NPZ file that nobody asks for


def zipped(path, **members):
    """An NPZ file of arrays, and of bytes as they are."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, member in members.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as stream:
                if isinstance(member, np.ndarray):
                    np.lib.format.write_array(stream, member)
                else:
                    for piece in member:
                        stream.write(piece)
    return path


def head(shape, dtype="<f8"):
    """The first bytes of an array."""
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"shape": shape, "fortran_order": False, "descr": dtype})
    return stream.getvalue()


@pytest.mark.filterwarnings("ignore:.*is read without the arrays")
def test_an_array_that_nobody_asks_for_is_not_decompressed(tmp_path):
    n = 2**22
    bomb = [head((n,)), *[bytes(2**20)] * (8 * n // 2**20)]  # 32 MB of zeros
    path = zipped(tmp_path / "t.npz", bomb=bomb, P=np.array([[0.3, 0.7], [0.6, 0.4]]), y=np.array([1, 0]))
    assert path.stat().st_size < 50_000
    tracemalloc.start()
    assert read_forecast(path).y_prob.tolist() == [[0.3, 0.7], [0.6, 0.4]]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2_000_000


OF_FLOATS = [((2**40,), "<f8"), ((3,), "<f8"), ((2**50, 2**50), "<f8"), ((-1, -2), "<f8")]


@pytest.mark.parametrize(("shape", "dtype"), [*OF_FLOATS, ((2,), "S2000000000"), ((2**50,), "<U0"), ((2**70,), "|O")])
def test_a_shape_that_the_size_of_an_array_does_not_bear_out_is_refused(shape, dtype, tmp_path):
    path = zipped(tmp_path / "t.npz", p=[head(shape, dtype), bytes(16)], y=np.array([1, 0]))
    said = r"t\.npz must be a readable npz file; .*'p\.npy' declares a shape, .*bear out"
    with pytest.raises(ValueError, match=said):
        read_table(path)


def test_a_size_that_so_few_bytes_cannot_hold_is_refused(tmp_path):
    path = zipped(tmp_path / "t.npz", p=[head((2,)), bytes(16)])
    data = bytearray(path.read_bytes())
    size, declared = len(head((2,))) + 16, head((2**37,))
    assert len(declared) == len(head((2,)))
    at = data.rindex(b"PK\x01\x02")  # the size that the directory states
    data[at + 24 : at + 28] = (size + 2**30).to_bytes(4, "little")
    path.write_bytes(bytes(data))
    with pytest.raises(ValueError, match="does not bear out"):
        read_table(path)


def test_an_array_that_was_damaged_is_refused_when_it_is_read(tmp_path):
    path = zipped(tmp_path / "t.npz", p=np.random.default_rng(0).random(1000), y=np.arange(1000) % 2)
    data = bytearray(path.read_bytes())
    data[3000] ^= 255
    path.write_bytes(bytes(data))
    said = r"t\.npz must hold a readable array 'p\.npy'; it is not: .*Was it cut or damaged"
    with pytest.raises(ValueError, match=said):
        read_forecast(path)


def test_rows_of_an_npz_are_those_of_its_arrays(tmp_path):
    prob = np.array([[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]])
    np.savez(tmp_path / "t.npz", P=prob, y=np.array([2, 0]))
    forecast = read_forecast(tmp_path / "t.npz")
    assert forecast.forecast_columns == ("P_0", "P_1", "P_2")
    np.testing.assert_array_equal(forecast.y_prob, prob)
    np.savez(tmp_path / "t.npz", p=np.arange(10) / 10, y=np.arange(10) % 2)
    table = read_table(tmp_path / "t.npz").taken(slice(2, 9)).taken(slice(1, 4))
    assert (table["p"] * 10).round().tolist() == [3, 4, 5]
    assert len(table.columns["p"]) == 3


@pytest.mark.parametrize(
    ("arrays", "error", "said"),
    [
        ({"p_0": [0.5] * 3, "p_1": [0.5] * 2}, ValueError, "as many rows in 'p_0' as in 'p_1'; got 3 and"),
        ({"p": ["0.5", "0.25", "abc"]}, TypeError, "got 'abc' in row 2"),
    ],
)
def test_arrays_that_are_no_forecast_are_refused(arrays, error, said, tmp_path):
    np.savez(tmp_path / "t.npz", **arrays, y=[0, 1, 0])
    with pytest.raises(error, match=said):
        read_forecast(tmp_path / "t.npz")


# A forecast in a file: its columns are found, or refused when they are not clear

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
    assert select(["a:b", "a", "b", "*"], "a:b,*", where="f") == ("a:b", "*")  # which are names first
    assert select(["0", "1"], [1], where="f") == ("1",)


@pytest.mark.parametrize("wanted", ["z", "z_*", "p_a:z", "p_a,z", ""])
def test_a_column_that_is_not_there_is_refused_with_those_that_are(wanted):
    with pytest.raises(ValueError, match=r"f must have the column .*; it has 'label', 'p_a'"):
        select(NAMES, wanted, where="f")


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
    assert all(word in said for word in (repr(label), input, repr(columns[0])))
    assert read_forecast(tmp_path / "t.csv", label=label, prob=columns[0]).guessed == ()


@pytest.mark.parametrize(
    ("columns", "truth", "classes"),
    [
        (["p_dog", "p_cat"], ["cat", "dog"], ["dog", "cat"]),
        (["p_dog", "p_cat"], [b"cat", b"dog"], ["dog", "cat"]),
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
        (["p_b", "p_a"], ["p_a", "p_a"], ["p_b", "p_a"]),
    ],
)
def test_the_class_of_a_column_is_read_off_its_name(columns, truth, classes, tmp_path):
    table = {"truth": np.array(truth), **{name: np.full(2, 0.5) for name in columns}}
    write_table(tmp_path / "t.npz", table)
    assert read_forecast(tmp_path / "t.npz", prob=",".join(columns), label="truth").labels() == classes


@pytest.mark.parametrize(
    ("prob", "beside", "chosen"),
    [
        (None, "p_w", ("p_0", "p_1")),
        ("p_*", "p_w", ("p_0", "p_1")),
        ("p_1", "p_1", ("p_1",)),
        (["p_1"], "p_1", ("p_1",)),
    ],
)
def test_what_stands_beside_a_forecast_is_a_part_of_it_only_where_it_is_named(prob, beside, chosen):
    table = FileTable.of_names(["label", "p_0", "p_1", "p_w"])
    assert choose_columns(table, prob=prob, beside=[beside], where="t").forecast_columns == chosen


def test_rows_are_cut_before_anything_is_looked_at(tmp_path):
    write_table(tmp_path / "t.csv", {"y": np.arange(4), "p": np.array([9.0, 0.2, 0.3, 9.0])})
    forecast = read_forecast(tmp_path / "t.csv", rows=slice(1, 3))
    assert forecast.y_true.tolist() == [1, 2]
    assert forecast.y_prob.tolist() == [0.2, 0.3]


def test_words_that_numpy_would_cut_are_refused():
    with pytest.raises(ValueError, match=r"must not end in a NUL character, which NumPy drops; got 'a\\x00'\. Write"):
        columns.Arrow(pa.array(["a", "a\0"])).values()


def test_a_forecast_without_labels_says_so_when_asked_for_them(tmp_path):
    write_table(tmp_path / "t.csv", {"p_0": np.ones(1), "p_1": np.zeros(1)})
    forecast = read_forecast(tmp_path / "t.csv", label_optional=True)
    assert forecast.label_column is None
    with pytest.raises(ValueError, match="must have a label column; none was found"):
        _ = forecast.y_true


# Records of other tools: JSON, JSON lines and tensors, each as columns by paths

RECORDS = [
    {"id": name, "target": target, "resps": [[a, "no"], [b, "no"]], "scores": {"match": {"value": letter}}, "p": p}
    for name, target, a, b, letter, p in (("q1", "0", "-3.1", "-0.2", "C", 1), ("q2", "1", "-1.5", "-2.5", "I", 0.5))
]


def lines(records):
    return "".join(json.dumps(record) + "\n" for record in records)


def test_parts_of_parts_are_columns_by_their_paths(tmp_path):
    (tmp_path / "s.jsonl").write_text(lines(RECORDS) + "\n")
    table = read_table(tmp_path / "s.jsonl")
    parts = [f"resps.{i}.{j}" for i in (0, 1) for j in (0, 1)]
    assert list(table) == ["id", "target", *parts, "scores.match.value", "p"]
    assert table["p"].tolist() == [1.0, 0.5]
    found = read_forecast(tmp_path / "s.jsonl", label="target", logit="resps.*.0")
    assert found.y_true.tolist() == [0, 1]
    assert found.y_prob.tolist() == [[-3.1, -0.2], [-1.5, -2.5]]


DOCUMENTS = {
    "list": json.dumps(RECORDS),
    "samples": json.dumps({"eval": {"task": "t"}, "samples": RECORDS, "reductions": [{"a": 1}]}),
    "one-list": json.dumps({"rows": RECORDS, "n": 2}),
    "columns": json.dumps({name: [record[name] for record in RECORDS] for name in RECORDS[0]}),
    "lines": lines(RECORDS),
}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_a_document_is_a_list_of_objects_or_has_one(document, tmp_path):
    (tmp_path / "d.json").write_text(DOCUMENTS[document])
    found, expected = read_table(tmp_path / "d.json"), table_of(RECORDS)
    assert list(found) == list(expected)
    assert all(found[name].tolist() == expected[name].tolist() for name in found)


def test_what_a_record_lacks_is_missing_and_numbers_stay_numbers():
    table = table_of([{"a": 1, "b": True}, {"b": False, "c": "x"}, {"a": 2.5, "b": True, "c": None}])
    np.testing.assert_array_equal(table["a"], [1.0, np.nan, 2.5])
    assert table["b"].tolist() == [True, False, True]
    assert table.columns["c"].cells() == ["", "x", ""]
    first = {"whole": 3, "huge": 10**30, "mixed": 1, "code": "007", "id": None}
    table = table_of([first, {"whole": -4, "huge": 1, "mixed": "b", "code": "010", "id": 9007199254740993}])
    assert table["whole"].dtype.kind == "i"
    assert table.columns["huge"].cells() == [str(10**30), "1"]
    assert table["mixed"].tolist() == ["1", "b"]
    assert table["code"].tolist() == ["007", "010"]
    assert table.columns["id"].cells() == ["", "9007199254740993"]  # not by way of a float


def test_a_long_list_is_text_and_not_a_column_an_item():
    assert list(table_of([{"tokens": list(range(MOST_PARTS + 1))}])) == ["tokens"]
    assert len(table_of([{"tokens": list(range(MOST_PARTS))}])) == MOST_PARTS


LEAVES = st.none() | st.booleans() | st.integers(-(10**6), 10**6) | st.floats(allow_nan=False) | st.text(max_size=3)
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3), max_leaves=4)


@given(st.lists(st.dictionaries(st.text("abc", min_size=1, max_size=2), VALUES), min_size=1, max_size=5))
def test_every_leaf_is_in_its_column_and_row(records):
    table = table_of(records)

    def leaves(value, path):
        if isinstance(value, (list, dict)):
            for name, part in value.items() if isinstance(value, dict) else enumerate(value):
                yield from leaves(part, f"{path}.{name}" if path else str(name))
        else:
            yield path, value

    for row, record in enumerate(records):
        there = dict(leaves(record, ""))
        for name, column in table.columns.items():
            cell, expected = column.cells()[row], there.get(name)
            if expected is None:
                assert cell == ""
            elif isinstance(expected, bool):
                assert cell == str(expected).lower()
            elif isinstance(expected, (int, float)):
                assert float(cell) == float(expected)
            else:
                assert cell == expected


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"a": 1}\n{"a": \n', "line 2 is no JSON"),
        ('{"a": 1}\n[1]\n', "line 2 must be an object, with a name for each value; it is list"),
        ('{"a.b": 1, "a": {"b": 2}}\n', "row 0 has 'a.b' twice"),
        ("[" * 100_000, "line 1 is no JSON"),
        ('{"a": 1}\n{"a": 1, "b": 2, "a": 3}\n', "line 2 is no JSON: an object has one of its names twice: a, b, a"),
    ],
)
def test_a_broken_line_is_named(text, says, tmp_path):
    (tmp_path / "s.jsonl").write_text(text)
    with pytest.raises(ValueError, match=rf"s\.jsonl must be a readable jsonl file; it is not: {says}"):
        read_table(tmp_path / "s.jsonl")


def test_a_broken_document_is_named(tmp_path):
    (tmp_path / "d.json").write_text('[{"a": 1}')
    with pytest.raises(ValueError, match=r"d\.json must be a readable json file; it is not: the document is no JSON"):
        read_table(tmp_path / "d.json")


@pytest.mark.parametrize("document", [3, {"a": [{"b": 1}, {"b": 2}], "c": [{"d": 1}]}, {"a": [1, 2], "b": [1]}, {}])
def test_a_document_without_rows_is_refused(document, tmp_path):
    (tmp_path / "d.json").write_text(json.dumps(document))
    with pytest.raises(ValueError, match="it must hold a list of objects"):
        read_table(tmp_path / "d.json")


def test_tensors_are_columns_by_their_names(tmp_path):
    torch = pytest.importorskip("torch")
    y, z = torch.tensor([0, 1, 2]), torch.randn(3, 3, dtype=torch.bfloat16, requires_grad=True)
    torch.save({"label": y, "logits": z}, tmp_path / "t.pt")
    table = read_table(tmp_path / "t.pt")
    assert table["label"].tolist() == [0, 1, 2]
    np.testing.assert_array_equal(table["logits"], z.detach().float().numpy())
    torch.save([y], tmp_path / "list.pt")
    with pytest.raises(ValueError, match="must hold a dict of tensors"):
        read_table(tmp_path / "list.pt")


def test_torch_is_asked_for_weights_alone_and_where_it_is_missing_it_is_named(monkeypatch, tmp_path):
    """Whatever torch does, nothing but tensors is loaded."""
    asked = {}

    def load(path, **options):
        asked.update(options)
        return {"label": 3}

    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(load=load, Tensor=type("Tensor", (), {})))
    (tmp_path / "t.pt").write_bytes(b"x")
    with pytest.raises(ValueError, match="must hold a dict of tensors"):
        read_table(tmp_path / "t.pt")
    assert asked["weights_only"] is True
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match="pip install torch"):
        read_table(tmp_path / "t.pt")
