"""DuckDB: relations, which give their rows as a stream of Arrow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from calibrant.calibrators.base import Calibrator
from calibrant.interop.arrow_batches import Chosen
from calibrant.interop.streams import Calibrated, predictions_of_query
from calibrant.sums.reading import Predictions

WHERE = "the DuckDB relation"

ROWS = 65536
"""Rows that are calibrated at a time."""


def calibrated(source: Any, calibrator: Calibrator, prob: str | Sequence[str] | None) -> Any:
    """Return a table of Arrow, which DuckDB takes for one of its own where a query has its name.

    A connection runs one query at a time. A reader of rows would keep that of the relation busy, and wait for ever for a query
    of the same connection that reads it. So the query is run here, and its rows stand in a file that is mapped into memory and
    goes with the table (a system that keeps mapped files removes it with the other temporary files).
    """
    import pyarrow
    from pyarrow import ipc

    change = Calibrated.of(calibrator, source.columns, prob, WHERE)
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder, closing(_opened(source, ROWS)) as reader:
        path = str(Path(folder) / "calibrated.arrow")
        with ipc.new_file(path, change(reader.schema.empty_table()).schema) as file:
            for batch in reader:
                file.write_table(change(pyarrow.Table.from_batches([batch])))
        return ipc.open_file(pyarrow.memory_map(path)).read_all()


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
