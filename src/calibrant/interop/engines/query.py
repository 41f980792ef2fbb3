"""Queries of an engine of one machine: run anew each time they are read, and read as a stream."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from calibrant.interop.batches.front import OfColumns
from calibrant.interop.batches.sources import Tables
from calibrant.interop.engines.chosen import Chosen

Run = Callable[[list[str], int], Iterable[Any]]
"""Returns the rows of these columns, in tables of so many rows."""


def predictions_of_query(names: Sequence[str], where: str, run: Run, chosen: Chosen) -> OfColumns:
    """Return predictions of a query whose rows have an order: they are numbered as they are read."""
    import pyarrow

    if chosen.row_key is not None:
        raise TypeError(
            f"row_key must be left out of {where}, whose rows are numbered as they are read; got {chosen.row_key!r}. "
            "Sort the query by it."
        )
    columns = chosen.columns(names, where)
    none = pyarrow.table({name: [] for name in columns.names})
    tables = Tables(lambda: run(columns.names, chosen.batch_rows), none, reads_once=False)
    options: dict[str, Any] = {"on_error": chosen.on_error, "progress": chosen.progress, "pos_label": chosen.pos_label}
    return OfColumns(tables, columns, chosen.labels, chosen.rows, batch_rows=chosen.batch_rows, **options)
