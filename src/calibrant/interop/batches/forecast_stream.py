"""A forecast in files that are read in batches: which of their columns are the labels and the probabilities."""

from __future__ import annotations

from dataclasses import dataclass

from calibrant._core.validation import Input
from calibrant.interop.batches.front import OfColumns


@dataclass(frozen=True, eq=False)
class ForecastStream:
    """A forecast in files that are read in batches, and the names of its columns."""

    predictions: OfColumns
    label_column: str
    forecast_columns: tuple[str, ...]
    input: Input
    file: str

    @property
    def n_rows(self) -> int | None:
        """Number of rows that are as they must be, once they were read."""
        n_rows = self.predictions.n_rows
        return None if n_rows is None else n_rows - self.predictions.left_out[1]

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.predictions.classes.size)
