"""What makes predictions that are read in batches, of whatever holds them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from calibrant._core.parameters import choice, flag, whole
from calibrant._core.rows import Rows, one_of
from calibrant._core.validation import Input
from calibrant.interop.batches.arrow import Columns
from calibrant.interop.batches.in_memory import Batches
from calibrant.interop.batches.pieces import rows_at_a_time
from calibrant.interop.batches.sources import Files, Source, Stream, Tables, is_addresses, opened
from calibrant.interop.batches.streamed import Streamed
from calibrant.interop.columns import has_arrow
from calibrant.interop.engines import module_of
from calibrant.interop.engines.chosen import Chosen
from calibrant.sums.predictions import Predictions


def predictions(
    source: Any,
    *,
    label: str | None = None,
    prob: str | Sequence[str] | None = None,
    weight: str | None = None,
    labels: Sequence[Any] | None = None,
    pos_label: Any = None,
    input: Input | None = None,
    rows: Rows = "as-given",
    on_error: Literal["raise", "skip"] = "raise",
    row_key: str | None = None,
    batch_rows: int = 65536,
    progress: bool = False,
) -> Predictions:
    """Read labels and probabilities in batches, from what may be larger than memory.

    What it returns stands in the place of ``y_true`` and ``y_prob``: ``assess(predictions("events/"))``.

    Parameters
    ----------
    source : str, path, list of them, or object
        A file of Parquet, Feather or CSV; a folder of them; a pattern such as ``"events/2026-*.parquet"``; an address such as
        ``"s3://bucket/events/"``; a list of these, of which each file is read once. Or an object that gives Arrow tables
        (``__arrow_c_stream__``): a reader or a data set of pyarrow, a data frame. Or what an engine holds: a data frame of Dask
        or Spark, a tuple of Dask arrays (y_true, y_prob), a relation of DuckDB, a lazy frame of polars. Or batches: an
        iterator, or a function that returns a fresh one, of pairs (y_true, y_prob), of triples with weights, of Arrow tables or
        of data frames. An iterator can be read once.
    label : str, optional
        The column of the true classes. By default it is found by its name, as the command line finds it: ``label``, ``y``,
        ``y_true``, ``target`` or ``class``.
    prob : str or sequence of str, optional
        The columns of the probabilities: names, with commas between them, patterns such as ``"p_*"``, or a range
        ``"first:last"``. By default they are found by their names.
    weight : str, optional
        The column of the weights.
    labels : sequence of length n_classes, optional
        The class of each column; of one column, other and event. By default it is what the names of the columns say, or 0, 1,
        and so on.
    pos_label : label, optional
        The event, of two classes, as in `DataOptions`.
    input : {"probability", "logit"}, optional
        What the columns hold. By default probabilities, or logits where the names of the columns say so.
    rows : {"as-given", "normalize", "percent"}, default="as-given"
        What is done with the numbers before they are checked, as in `DataOptions`.
    on_error : {"raise", "skip"}, default="raise"
        What is done with a batch that is wrong, such as one with NaN, and with a file or row group that is damaged. "skip"
        leaves it out and counts it; of Dask and Spark the whole partition.
    row_key : str, optional
        The column of whole numbers by which rows of Dask or Spark are known, of which no two have the same: intervals are then
        the same however rows are cut into partitions. By default rows are numbered as they stand, by Spark in each partition.
    batch_rows : int, default=65536
        Rows that are read at a time; fewer of more than 64 columns.
    progress : bool, default=False
        Show a bar of the rows that are read (needs tqdm). Dask and Spark have their own.

    Returns
    -------
    Predictions
        What `assess`, `measure`, `calibration_error`, `reliability_curve` and others take. Of functions that need all rows
        ``predictions.sample(n)`` gives the arguments.

    Raises
    ------
    ValueError
        If columns are not found, or are wrong: the message names the file, the row group or batch, and the row.
    FileNotFoundError
        If there is no such file.

    Notes
    -----
    Rows are numbered in the order in which they are read. Batches end where the number is a multiple of ``batch_rows``,
    whatever the batches of the source, so that figures do not depend on how rows were cut into files. Up to 4096 rows are put
    together in memory.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant import calibration_error, predictions
    >>> def batches():
    ...     rng = np.random.default_rng(0)
    ...     for _ in range(100):
    ...         p = rng.random(1000)
    ...         yield rng.random(1000) < p, p
    >>> round(calibration_error(predictions(batches)), 3)
    0.004
    """
    choice("on_error", on_error, ("raise", "skip"))
    one_of(rows)
    flag("progress", progress)
    whole("batch_rows", batch_rows, least=1, hint="65536 is fast")
    if isinstance(source, Predictions):
        return source
    options: dict[str, Any] = {"on_error": on_error, "batch_rows": int(batch_rows), "progress": progress}
    if (engine := module_of(source)) is not None:
        require_arrow("tables of engines")
        chosen = Chosen(label, prob, weight, labels, pos_label, input, rows, row_key, **options)
        found: Predictions = engine.predictions_of(source, chosen)
        return found
    if row_key is not None:
        raise TypeError(
            f"row_key must be left out of rows that have an order; got {row_key!r}. They are numbered as they are read."
        )
    tables: Source
    if is_addresses(source):
        require_arrow("files")
        tables = Files(source, on_error=on_error)
    elif hasattr(source, "__arrow_c_stream__") or hasattr(source, "scanner"):
        require_arrow("tables of Arrow")
        tables = Stream(source)
    elif not callable(source) and not hasattr(source, "__iter__"):
        raise TypeError(
            f"predictions must be files, a stream of Arrow, or batches; got {type(source).__name__}. "
            "Pass a path, or a function that returns an iterator of pairs (y_true, y_prob)."
        )
    else:
        first, batches, reads_once = opened(source)
        if first is None or isinstance(first, tuple):
            _require_no_columns(label=label, prob=prob, weight=weight)
            return Batches(
                batches,
                labels=labels,
                pos_label=pos_label,
                input=input or "probability",
                rows=rows,
                reads_once=reads_once,
                **options,
            )
        require_arrow("tables")
        tables = Tables(batches, first, reads_once=reads_once)
    columns = Columns.chosen(tables.names, label=label, prob=prob, weight=weight, input=input, where=tables.where)
    return OfColumns(tables, columns, labels, rows, pos_label=pos_label, **options)


class OfColumns(Streamed):
    """Predictions in columns with names."""

    def __init__(
        self,
        source: Source,
        columns: Columns,
        labels: Sequence[Any] | None,
        rows: Rows,
        *,
        batch_rows: int,
        pos_label: Any = None,
        **options: Any,
    ) -> None:
        self.source, self.columns = source, columns

        def pieces() -> Any:
            return source.pieces(columns, rows_at_a_time(batch_rows, len(columns.numbers)))

        super().__init__(
            pieces,
            lambda piece: columns.decoding(piece, labels, is_parsed=source.is_parsed, pos_label=pos_label, rows=rows),
            reads_once=source.reads_once,
            n_rows=source.n_rows if options.get("progress") else None,
            batch_rows=batch_rows,
            **options,
        )

    def __repr__(self) -> str:
        of = self.columns
        shown = ", ".join(map(repr, of.numbers[:3])) + (
            f", ... ({len(of.numbers)} columns)" if len(of.numbers) > 3 else ""
        )
        return f"Predictions({self.source.where}, label={of.label!r}, {of.input} {shown})"


def _require_no_columns(**said: object) -> None:
    for name, value in said.items():
        if value is not None:
            raise TypeError(
                f"{name} must be left out of pairs (y_true, y_prob); got {value!r}. Pairs have no named columns."
            )


def require_arrow(what: str) -> None:
    """Refuse to read what only pyarrow can, where it is not there."""
    if not has_arrow():
        raise ImportError(
            f"reading {what} in batches needs pyarrow; it is not installed. pip install 'calibrant[table]'"
        )
