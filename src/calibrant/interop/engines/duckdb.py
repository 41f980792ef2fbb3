"""DuckDB: relations, which give their rows as a stream of Arrow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from calibrant.calibrators.base import Calibrator
from calibrant.interop.engines.calibrated import Calibrated
from calibrant.interop.engines.chosen import Chosen
from calibrant.interop.engines.query import predictions_of_query
from calibrant.sums.predictions import Predictions

WHERE = "the DuckDB relation"

ROWS = 65536
"""Rows that are calibrated at a time."""


def calibrated(source: Any, calibrator: Calibrator, prob: str | Sequence[str] | None) -> Any:
    """Return a reader of Arrow, which DuckDB takes for a table where a query has its name."""
    import pyarrow

    change = Calibrated.of(calibrator, source.columns, prob, WHERE)
    reader = _opened(source, ROWS)
    batches = (one for batch in reader for one in change(pyarrow.Table.from_batches([batch])).to_batches())
    return pyarrow.RecordBatchReader.from_batches(change(reader.schema.empty_table()).schema, batches)


def predictions_of(source: Any, chosen: Chosen) -> Predictions:
    """Return predictions of a relation. While it is read its connection is busy: other queries take a ``cursor()`` of it."""
    if not hasattr(source, "project"):
        raise TypeError(
            f"predictions of DuckDB must be a relation; got {type(source).__name__}. Pass connection.sql('SELECT ...')."
        )

    def run(names: list[str], rows: int) -> Iterable[Any]:
        some = source.project(", ".join('"' + name.replace('"', '""') + '"' for name in names))
        yield from _opened(some, rows)

    return predictions_of_query(source.columns, WHERE, run, chosen)


def _opened(relation: Any, rows: int) -> Any:
    """Run the query of a relation, and return its rows as a stream; its method has another name in old versions."""
    return relation.to_arrow_reader(rows) if hasattr(relation, "to_arrow_reader") else relation.fetch_arrow_reader(rows)
