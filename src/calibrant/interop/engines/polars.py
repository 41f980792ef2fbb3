"""Polars: lazy frames, which are collected batch by batch. A data frame is in memory, and a stream of Arrow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from calibrant.calibrators.base import Calibrator
from calibrant.interop.arrow_batches import Chosen
from calibrant.interop.streams import Calibrated, predictions_of_query
from calibrant.sums.reading import Predictions

WHERE = "the polars query"


def calibrated(source: Any, calibrator: Calibrator, prob: str | Sequence[str] | None) -> Any:
    """Return a lazy frame with calibrated columns."""
    import polars

    schema = source.collect_schema()
    change = Calibrated.of(calibrator, schema.names(), prob, WHERE)
    new = dict(zip(change.columns, change.names, strict=True))
    types = {new.get(name, name): polars.Float64 if name in new else kind for name, kind in schema.items()}
    return source.map_batches(change, schema=types, streamable=True)


def predictions_of(source: Any, chosen: Chosen) -> Predictions:
    """Return predictions of a lazy frame."""
    if not hasattr(source, "collect_schema"):
        raise TypeError(
            f"predictions of polars must be a frame, lazy or not; got {type(source).__name__}. Pass the frame with its columns."
        )

    def run(names: list[str], rows: int) -> Iterable[Any]:
        frame = source.select(names)
        if hasattr(frame, "collect_batches"):
            yield from frame.collect_batches(chunk_size=rows, maintain_order=True)
        else:  # before polars 1.34 the columns that are read are in memory
            yield from frame.collect().iter_slices(rows)

    return predictions_of_query(source.collect_schema().names(), WHERE, run, chosen)
