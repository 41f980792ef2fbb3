"""Text that a table keeps by codes: each distinct word becomes a string of NumPy once, and not once a row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Coded = tuple[npt.NDArray[np.integer[Any]], Sequence[Any]]
"""The number of the word of each row, and the words."""


def text_of(data: Any) -> npt.NDArray[np.str_] | None:
    """Return a column of text or categories of pandas, polars or pyarrow as strings, shape (n,).

    Whatever else it is, and a column with a missing cell, gives None: `as_array` reads it cell by cell, and says what is wrong.
    """
    if isinstance(data, (list, tuple, np.ndarray)):
        return None
    found = _coded_by_arrow(data) if hasattr(data, "dictionary_encode") else _coded_by_series(data)
    if found is None or not len(found[0]) or not all(isinstance(word, str) for word in found[1]):
        return None
    code, words = found
    seen = (
        np.bincount(code, minlength=len(words)) > 0
    )  # a category may have no row: its word is not to make others wide
    return np.array([word if occurs else "" for word, occurs in zip(words, seen, strict=True)])[code]


def coded(column: Any) -> Any:
    """Return a column of pyarrow, whole or in chunks, as one array of codes and a dictionary."""
    found = column.dictionary_encode()
    return found.unify_dictionaries().combine_chunks() if hasattr(found, "chunks") else found


def _coded_by_arrow(column: Any) -> Coded | None:
    from pyarrow import types

    kind = column.type.value_type if types.is_dictionary(column.type) else column.type
    if column.null_count or not (types.is_string(kind) or types.is_large_string(kind)):
        return None
    found = coded(column)
    return found.indices.to_numpy(), found.dictionary.to_pylist()


def _coded_by_series(data: Any) -> Coded | None:
    import narwhals as nw

    series = nw.from_native(data, series_only=True, pass_through=True)
    if not isinstance(series, nw.Series) or series.dtype not in (nw.String, nw.Categorical, nw.Enum):
        return None
    if series.implementation.is_pandas():
        code, words = data.factorize()
        return None if (code < 0).any() else (code, list(words))  # of a missing cell the code is -1
    if not series.implementation.is_polars() or series.null_count():
        return None
    categories = series.cast(nw.Categorical).to_native() if series.dtype == nw.String else data
    known = categories.unique()
    place, code = known.to_physical().to_numpy(), categories.to_physical().to_numpy()
    words = [""] * (int(place.max(initial=0)) + 1)
    for at, word in zip(place.tolist(), known.to_list(), strict=True):
        words[at] = word
    return code, words
