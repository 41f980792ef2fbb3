"""Records of other tools: JSON, JSON lines and tensors, each as columns by paths."""

import json
import sys
import types

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibrant.interop.records import MOST_PARTS, read_json, read_json_lines, table_of
from calibrant.interop.tables import read_forecast, read_table

RECORDS = [
    {"id": "q1", "target": "0", "resps": [["-3.1", "no"], ["-0.2", "no"]], "scores": {"match": {"value": "C"}}, "p": 1},
    {
        "id": "q2",
        "target": "1",
        "resps": [["-1.5", "no"], ["-2.5", "no"]],
        "scores": {"match": {"value": "I"}},
        "p": 0.5,
    },
]


def lines(records):
    return "".join(json.dumps(record) + "\n" for record in records)


def test_parts_of_parts_are_columns_by_their_paths(tmp_path):
    (tmp_path / "s.jsonl").write_text(lines(RECORDS) + "\n")
    table = read_table(tmp_path / "s.jsonl")
    assert list(table) == [
        "id",
        "target",
        *(f"resps.{i}.{j}" for i in (0, 1) for j in (0, 1)),
        "scores.match.value",
        "p",
    ]
    assert table["p"].tolist() == [1.0, 0.5]
    found = read_forecast(tmp_path / "s.jsonl", label="target", logit="resps.*.0")
    assert found.y_true.tolist() == [0, 1]
    assert found.y_prob.tolist() == [[-3.1, -0.2], [-1.5, -2.5]]


@pytest.mark.parametrize(
    "document",
    [
        RECORDS,
        {"eval": {"task": "t"}, "samples": RECORDS, "reductions": [{"a": 1}]},
        {"rows": RECORDS, "n": 2},
        {name: [record[name] for record in RECORDS] for name in RECORDS[0]},
    ],
    ids=["list", "samples", "one-list", "columns"],
)
def test_a_document_is_a_list_of_objects_or_has_one(document, tmp_path):
    (tmp_path / "d.json").write_text(json.dumps(document))
    found, expected = read_table(tmp_path / "d.json"), table_of(RECORDS)
    assert list(found) == list(expected)
    assert all(found[name].tolist() == expected[name].tolist() for name in found)


def test_what_a_record_lacks_is_missing():
    table = table_of([{"a": 1, "b": True}, {"b": False, "c": "x"}, {"a": 2.5, "b": True, "c": None}])
    np.testing.assert_array_equal(table["a"], [1.0, np.nan, 2.5])
    assert table["b"].tolist() == [True, False, True]
    assert table.columns["c"].cells() == ["", "x", ""]


def test_numbers_stay_numbers_and_words_words():
    table = table_of(
        [{"whole": 3, "huge": 10**30, "mixed": 1, "code": "007"}, {"whole": -4, "huge": 1, "mixed": "b", "code": "010"}]
    )
    assert table["whole"].dtype.kind == "i"
    assert table.columns["huge"].cells() == [str(10**30), "1"]
    assert table["mixed"].tolist() == ["1", "b"]
    assert table["code"].tolist() == ["007", "010"]


def test_whole_numbers_beside_missing_ones_stay_whole(tmp_path):
    ids = [None, 9007199254740993, 9007199254740995]
    table = table_of([{"id": one, "p": 0.5 if one else 1} for one in ids])
    assert table.columns["id"].cells() == ["", "9007199254740993", "9007199254740995"]
    assert table["p"].tolist() == [1.0, 0.5, 0.5]


def test_lines_in_a_file_that_is_called_json_are_read(tmp_path):
    (tmp_path / "s.json").write_text(lines(RECORDS))
    assert list(read_table(tmp_path / "s.json")) == list(table_of(RECORDS))


def test_a_long_list_is_text_and_not_a_column_an_item():
    table = table_of([{"tokens": list(range(MOST_PARTS + 1))}])
    assert list(table) == ["tokens"]
    assert len(table_of([{"tokens": list(range(MOST_PARTS))}])) == MOST_PARTS


LEAVES = st.none() | st.booleans() | st.integers(-(10**6), 10**6) | st.floats(allow_nan=False) | st.text(max_size=3)
NAMES = st.text("abc", min_size=1, max_size=2)


@given(
    st.lists(
        st.dictionaries(NAMES, st.recursive(LEAVES, lambda x: st.lists(x, max_size=3), max_leaves=4)),
        min_size=1,
        max_size=5,
    )
)
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
    with pytest.raises(ValueError, match=says):
        read_json_lines(tmp_path / "s.jsonl")


@pytest.mark.parametrize("document", [3, {"a": [{"b": 1}, {"b": 2}], "c": [{"d": 1}]}, {"a": [1, 2], "b": [1]}, {}])
def test_a_document_without_rows_is_refused(document, tmp_path):
    (tmp_path / "d.json").write_text(json.dumps(document))
    with pytest.raises(ValueError, match="it must hold a list of objects"):
        read_json(tmp_path / "d.json")


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


def test_without_torch_tensors_are_refused_with_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "torch", None)
    (tmp_path / "t.pt").write_bytes(b"x")
    with pytest.raises(ImportError, match="pip install torch"):
        read_table(tmp_path / "t.pt")


def test_nothing_but_tensors_is_loaded(monkeypatch, tmp_path):
    """Whatever torch does: it is asked for weights alone."""
    asked = {}

    class Tensor:
        pass

    def load(path, **options):
        asked.update(options)
        return {"label": 3}

    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(load=load, Tensor=Tensor))
    (tmp_path / "t.pt").write_bytes(b"x")
    with pytest.raises(ValueError, match="must hold a dict of tensors"):
        read_table(tmp_path / "t.pt")
    assert asked["weights_only"] is True
