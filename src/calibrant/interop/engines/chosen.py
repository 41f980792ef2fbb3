"""What the user says of the predictions that an engine holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from calibrant._core.rows import Rows
from calibrant._core.validation import Input
from calibrant.interop.batches.arrow import Columns
from calibrant.interop.batches.streamed import OnError
from calibrant.interop.engines.rows import RowReader
from calibrant.interop.files import select_one


@dataclass(frozen=True)
class Chosen:
    """What the user says of predictions; see `calibrant.predictions`."""

    label: str | None = None
    prob: str | Sequence[str] | None = None
    weight: str | None = None
    labels: Sequence[Any] | None = None
    pos_label: Any = None
    input: Input | None = None
    rows: Rows = "as-given"
    row_key: str | None = None
    on_error: OnError = "raise"
    batch_rows: int = 65536
    progress: bool = False

    def columns(self, names: Sequence[str], where: str) -> Columns:
        """Choose columns as told, or by their names, but for the one that numbers the rows."""
        if self.row_key is not None:
            select_one(names, self.row_key, "row_key=", where=where)
        return Columns.chosen(
            [name for name in names if name != self.row_key],
            label=self.label,
            prob=self.prob,
            weight=self.weight,
            input=self.input,
            where=where,
        )

    def of_columns(self, names: Sequence[str], where: str) -> RowReader:
        """Return the reader of tables that have these names."""
        columns = self.columns(names, where)
        return self._reader(columns, columns.input)

    def of_arrays(self) -> RowReader:
        """Return the reader of arrays side by side."""
        for name in ("label", "prob", "weight", "row_key"):
            if (said := getattr(self, name)) is not None:
                raise TypeError(f"{name} must be left out of arrays; got {said!r}. Arrays have no named columns.")
        return self._reader(None, self.input or "probability")

    def _reader(self, columns: Columns | None, input: Input) -> RowReader:
        return RowReader(columns, self.labels, self.pos_label, input, self.rows, self.row_key, self.batch_rows)
