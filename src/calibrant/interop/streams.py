"""Predictions that are read in batches, of whatever holds them, and calibrated rows of an engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

from calibrant._core.border import Input
from calibrant._core.checks import choice, flag, refuse, whole
from calibrant._core.rows import Rows, one_of
from calibrant.calibrators.base import Calibrator
from calibrant.interop.arrow_batches import Batches, Chosen
from calibrant.interop.columns import require_arrow
from calibrant.interop.engines import engine_of
from calibrant.interop.sources import Files, OfColumns, Source, Tables, as_arrow, is_addresses, opened, stream_of
from calibrant.sums.reading import Predictions


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
    if input is not None:
        choice("input", input, get_args(Input))
    flag("progress", progress)
    whole("batch_rows", batch_rows, least=1, hint="65536 is fast")
    if isinstance(source, Predictions):
        return source
    chosen = Chosen(label, prob, weight, labels, pos_label, input, rows, row_key, on_error, int(batch_rows), progress)
    if (engine := engine_of(source)) is not None:
        require_arrow("reading tables of engines in batches")
        return engine.predictions(source, chosen)
    tables: Source
    if is_addresses(source):
        require_arrow("reading files in batches")
        tables = Files(source, on_error=on_error)
    elif hasattr(source, "__arrow_c_stream__") or hasattr(source, "scanner"):
        require_arrow("reading tables of Arrow in batches")
        tables = stream_of(source)
    elif not callable(source) and not hasattr(source, "__iter__"):
        must = "predictions must be files, a stream of Arrow, or batches"
        hint = "Pass a path, or a function that returns an iterator of pairs (y_true, y_prob)"
        refuse(must, got=f"{type(source).__name__}", hint=hint, error=TypeError)
    else:
        first, batches, reads_once = opened(source)
        if first is None or isinstance(first, tuple):
            return Batches(batches, chosen, reads_once=reads_once)
        require_arrow("reading tables in batches")
        names = as_arrow(first).schema.names
        tables = Tables(names, "the first batch", lambda *_: batches(), reads_once=reads_once)
    return OfColumns(tables, chosen.columns(tables.names, tables.where), chosen)


def calibrated(source: Any, calibrator: Calibrator, *, prob: str | Sequence[str] | None = None) -> Any:
    """Calibrate the predictions that an engine holds, and leave them there.

    Parameters
    ----------
    source : object of an engine
        A data frame of Dask or Spark, a Dask array of predictions, a relation of DuckDB, or a lazy frame of polars.
    calibrator : Calibrator
        A calibrator that was fitted.
    prob : str or sequence of str, optional
        The columns of the predictions, as in `calibrant.predictions`. By default they are found by their names.

    Returns
    -------
    object of the engine
        The same rows. Calibrated probabilities stand in the place of the predictions, in double precision: columns of
        probabilities keep their names, and those of logits become ``p_0``, ``p_1`` and so on, by the classes. Nothing is
        computed before the engine is asked for it, but by DuckDB: its query is run, and the result is a table of Arrow on disk,
        which any connection queries by its name, as often as it likes.

    Raises
    ------
    TypeError
        If the source is not of an engine.
    ValueError
        If the columns are not found, or are not as many as the calibrator was fitted on.
    """
    if (engine := engine_of(source)) is None:
        must = "source must be an object of Dask, Spark, DuckDB or polars"
        hint = "Rows in memory are calibrated by calibrator.calibrate(y_prob), and files by the command calibrant apply"
        refuse(must, got=f"{type(source).__name__}", hint=hint, error=TypeError)
    return engine.calibrated(source, calibrator, prob)
