"""A row that stands for a file without rows: what a calibrator makes of it tells the columns of an empty output."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from calibrant.interop.batches.readers import Reader, Rows


def one_row(reader: Reader, arguments: argparse.Namespace) -> Rows:
    """Return a row with the columns of a file, of which the first class is certain and all else is missing."""
    import pyarrow

    from calibrant.interop.batches.readers import Rows
    from calibrant.interop.file_table import FileTable
    from calibrant.interop.files import choose_columns

    schema, of = reader.schema, arguments
    names = FileTable.of_names(schema.names)
    chosen = choose_columns(
        names, label=of.label, prob=of.prob, logit=of.logit, label_optional=True, where=reader.file.name
    ).forecast_columns
    whole = 100 if arguments.percent else 1
    certain = dict(zip(chosen, [whole, *[0] * (len(chosen) - 1)], strict=True)) if len(chosen) > 1 else {chosen[0]: 0}
    arrays = [_array(field.type, certain.get(field.name), whole) for field in schema]
    fields = [field.with_type(array.type) for field, array in zip(schema, arrays, strict=True)]
    whole_schema = pyarrow.schema(fields, metadata=schema.metadata)
    return Rows(pyarrow.record_batch(arrays, schema=whole_schema), reader.file.name, 0)


def _array(kind: Any, value: int | None, whole: int) -> Any:
    """Return an array of one row: a number of a column or of a list of classes, or what is missing."""
    import pyarrow
    from pyarrow import types

    if value is None:
        return pyarrow.array([""]) if types.is_string(kind) else pyarrow.nulls(1, kind)
    if types.is_fixed_size_list(kind):
        return pyarrow.array([[whole, *[0] * (kind.list_size - 1)]], kind)
    return pyarrow.array([str(value)] if types.is_string(kind) else [float(value)])
