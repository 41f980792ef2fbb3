"""What a class of results gets from its declarations: columns, a representation and read-only arrays."""

import inspect
from dataclasses import dataclass

import numpy as np
import pytest

from calibrant._core.result import Record, Result, Table, under


@dataclass(frozen=True, eq=False)
class Part(Record):
    name: str
    score: np.ndarray
    height: float


@dataclass(frozen=True, eq=False)
class Curve(Result):
    """A curve of parts."""

    _table = Table("score", "at", *under("panels", "panel=name", "score", "height"), "level")
    _summary = (
        "{notion!r}, {level:.1f}, parts={panels:n}, scores={panels.score:n}, sum={panels.score:total}, at={at:range}"
    )

    panels: tuple[Part, ...]
    at: np.ndarray
    notion: str = "binary"
    level: float = 0.05


PARTS = (Part("a", np.array([1.0, 2.0]), 7.0), Part("b", np.array([3.0, 4.0]), 8.0))


def columns(result, backend="polars"):
    return {key: values.to_list() for key, values in result.to_frame(backend).to_dict().items()}


def test_a_representation_counts_adds_up_and_names_the_ends():
    assert repr(Curve(PARTS, np.array([10, 20]))) == "Curve('binary', 0.1, parts=2, scores=4, sum=10, at=10..20)"


def test_a_table_spreads_the_columns_of_an_array_and_leaves_out_what_is_none():
    @dataclass(frozen=True, eq=False)
    class Points(Result):
        _table = Table("point", "prob_*", "label?", "after_*?=after")
        _summary = "{names:list}"

        prob: np.ndarray
        label: np.ndarray | None = None
        after: np.ndarray | None = None
        names: tuple[str, ...] = ("a", "b")

    assert columns(Points(np.array([[0.1, 0.9], [0.2, 0.8]]))) == {"prob_0": [0.1, 0.2], "prob_1": [0.9, 0.8]}
    one = Points(np.array([0.1]), np.array(["x"]), np.array([[0.3]]))
    assert columns(one) == {"prob": [0.1], "label": ["x"], "after_0": [0.3]}
    assert "Columns prob_0 ..., label, after_0 ..., of which some may be missing." in Points.to_frame.__doc__
    assert repr(Points(np.array([0.1]))).endswith("Points(a, b)")


def test_a_result_without_parts_is_one_row():
    @dataclass(frozen=True, eq=False)
    class Value(Result):
        _table = Table(None, "value", "df", "kind")

        value: float
        kind: str
        df: float | None = None

    assert columns(Value(0.5, "x")) == {"value": [0.5], "df": [None], "kind": ["x"]}
    assert inspect.getdoc(Value.to_frame).startswith("Return a data frame of one row.")


def test_arrays_cannot_be_written_to_and_those_given_stay_as_they_are():
    given = np.array([1.0])
    part = Part("a", given, 0.0)
    with pytest.raises(ValueError, match="read-only"):
        part.score[0] = 2.0
    assert given.flags.writeable
