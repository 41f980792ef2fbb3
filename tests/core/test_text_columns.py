"""Text: a column of any table gives the labels that its cells give one by one, and the same refusals."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibrant import IsotonicCalibration, TemperatureScaling
from calibrant._core.arrays import as_array
from calibrant._core.border import as_labels
from calibrant._core.checks import as_numbers
from calibrant.calibrators.classifier import as_groups

COLUMNS = {
    "pandas str": lambda cells: pd.Series(cells, dtype="str", index=range(len(cells), 0, -1)),
    "pandas object": lambda cells: pd.Series(cells, dtype=object),
    "pandas string": lambda cells: pd.Series(cells, dtype="string"),
    "pandas category": lambda cells: pd.Series(pd.Categorical(cells)),
    "pandas arrow": lambda cells: pd.Series(cells, dtype=pd.ArrowDtype(pa.string())),
    "pandas arrow dictionary": lambda cells: pd.Series(
        cells, dtype=pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string()))
    ),
    "polars": lambda cells: pl.Series(cells, dtype=pl.String),
    "polars categorical": lambda cells: pl.Series(cells, dtype=pl.Categorical),
    "polars enum": lambda cells: pl.Series(cells, dtype=pl.Enum(sorted({c for c in cells if c is not None}))),
    "pyarrow": lambda cells: pa.array(cells, pa.string()),
    "pyarrow chunks": lambda cells: pa.chunked_array([cells[:2], cells[2:]], pa.string()),
    "pyarrow large": lambda cells: pa.array(cells, pa.large_string()),
    "pyarrow dictionary": lambda cells: pa.array(cells, pa.string()).dictionary_encode(),
    "pyarrow chunks of dictionaries": lambda cells: pa.chunked_array(
        [pa.array(some, pa.string()).dictionary_encode() for some in (cells[:2], cells[2:])]
    ),
    "pyarrow slice": lambda cells: pa.array(["another", *cells], pa.string()).dictionary_encode().slice(1),
}

each_column = pytest.mark.parametrize("made", COLUMNS.values(), ids=list(COLUMNS))
words = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)


@settings(max_examples=20)
@given(cells=st.lists(words, min_size=1, max_size=12))
def test_words_are_those_of_the_cells_one_by_one(cells):
    expected = as_labels(np.array(cells, dtype=object))
    for name, made in COLUMNS.items():
        found = as_labels(made(cells))
        assert found.dtype == expected.dtype, name
        np.testing.assert_array_equal(found, expected, err_msg=name)


@each_column
def test_groups_and_classes_are_the_words(made):
    cells = ["b", "a", "c", "b", "a", "b"]
    assert as_groups(made(cells)).tolist() == cells
    prob = np.array([[0.2, 0.5, 0.3], [0.6, 0.3, 0.1]] * 3)
    assert TemperatureScaling().fit(prob, made(cells)).classes_.tolist() == ["a", "b", "c"]


@each_column
def test_a_missing_word_is_refused_by_its_place(made):
    with pytest.raises(TypeError, match=r"y_true must hold labels of one kind; got .*, the odd one .* at index 2\."):
        as_labels(made(["a", "b", None, "a"]))
    with pytest.raises(ValueError, match=r"groups must hold a group for each row; got a missing one at index 2\. Drop"):
        as_groups(made(["a", "b", None, "a"]))


def test_a_null_among_the_words_of_a_dictionary_is_refused_by_its_place():
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0]), pa.array(["a", None]))
    with pytest.raises(TypeError, match="the odd one None at index 1"):
        as_labels(column)


@each_column
def test_no_cells_at_all_are_refused(made):
    with pytest.raises(ValueError, match=r"y_true must hold at least one label; got none\."):
        as_labels(made([]))


def test_categories_without_a_row_leave_no_trace():
    long = "x" * 1000
    for column in (
        pd.Series(pd.Categorical(["a", "b"], categories=["a", long, "b"])),
        pl.Series(["a", "b"], dtype=pl.Enum(["a", long, "b"])),
        pa.DictionaryArray.from_arrays(pa.array([0, 2]), pa.array(["a", long, "b"])),
    ):
        found = as_labels(column)
        assert found.dtype == np.dtype("<U1")
        assert found.tolist() == ["a", "b"]


@pytest.mark.parametrize("values", [[3, 1, 3], [True, False, True]])
def test_categories_that_are_no_words_stay_what_they_are(values):
    for column in (
        pd.Series(pd.Categorical(values)),
        pa.array(values).dictionary_encode() if values[0] is not True else pa.array(values),
    ):
        assert as_labels(column).tolist() == values
        assert as_labels(column).dtype.kind == np.array(values).dtype.kind


def test_words_beside_numbers_are_refused_as_in_a_list():
    for column in (pd.Series(["a", 1, "a"], dtype=object), pd.Series(pd.Categorical(["a", 1, "a"]))):
        with pytest.raises(TypeError, match=r"got number and text, the odd one 1 at index 1\."):
            as_labels(column)


def test_a_null_among_numbers_of_a_dictionary_is_refused_by_its_place():
    column = pa.chunked_array([pa.array([0.5, None]).dictionary_encode(), pa.array([0.25]).dictionary_encode()])
    for given_, place in ((column, "1"), (pa.table({"a": column}), r"\(1, 0\)")):
        with pytest.raises(ValueError, match=rf"y_prob must be finite; got nan at index {place}\. Drop"):
            as_numbers("y_prob", given_)
    whole = pa.chunked_array([pa.array([0.5, 0.5]).dictionary_encode(), pa.array([0.25]).dictionary_encode()])
    assert as_numbers("y_prob", whole).tolist() == [0.5, 0.5, 0.25]


# Numbers of pyarrow in a frame of pandas


def arrow_frame(**columns):
    return pd.DataFrame({name: pd.Series(cells, dtype=pd.ArrowDtype(kind)) for name, (cells, kind) in columns.items()})


numbers = st.floats(allow_nan=False, allow_infinity=False)


@settings(max_examples=20)
@given(rows=st.lists(st.tuples(numbers, st.integers(-(2**63), 2**63 - 1), st.booleans()), min_size=1, max_size=5))
def test_columns_of_arrow_numbers_are_the_numbers_of_the_cells(rows):
    a, b, c = map(list, zip(*rows, strict=True))
    table = arrow_frame(a=(a, pa.float64()), b=(b, pa.int64()), c=(c, pa.bool_()))
    for chosen in (["a"], ["b"], ["a", "b"], ["c", "a"], ["a", "b", "c"]):
        by_cells = as_numbers("y_prob", np.array(table[chosen].to_numpy(), dtype=object))
        np.testing.assert_array_equal(as_numbers("y_prob", table[chosen]), by_cells)
        mixed = table[chosen].assign(a=np.array(a), d=1.5)
        expected = np.column_stack([np.array(mixed[name].tolist(), dtype=object) for name in mixed])
        np.testing.assert_array_equal(as_numbers("y_prob", mixed), as_numbers("y_prob", expected))


def test_numbers_of_arrow_do_not_become_objects():
    table = arrow_frame(no=([0.25, 0.5], pa.float32()), yes=([0.75, 0.5], pa.float32()))
    assert as_array("y_prob", table).dtype == np.float32
    assert IsotonicCalibration().fit(table, [0, 1]).feature_names_in_.tolist() == ["no", "yes"]


REFUSED = [
    ([0.5, None], pa.float64(), r"y_prob must be finite; got a missing value (<NA>) at index (1, 0). Drop"),
    (["0.5", "x"], pa.string(), r"y_prob must hold numbers; got '0.5' (str) at index (0, 0), and 1 more. Choose"),
    ([0, 86400], pa.timestamp("s"), r"y_prob must hold numbers; got Timestamp('19...-01 00:00:00') (Timestamp)"),
]


@pytest.mark.parametrize(("cells", "kind", "message"), REFUSED, ids=["missing", "text", "date"])
def test_other_cells_of_arrow_are_refused_by_their_place(cells, kind, message):
    with pytest.raises((ValueError, TypeError), match=re.escape(message)):
        as_numbers("y_prob", arrow_frame(a=(cells, kind), b=([0.5, 0.5], pa.float64())))
