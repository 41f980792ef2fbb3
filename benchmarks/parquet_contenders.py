"""Who reads a folder of Parquet: ``python -m benchmarks.parquet_contenders NAME WARM FOLDER CLASSES`` says what it finds.

Each gives accuracy, log loss, Brier score, ECE, MCE and class-wise ECE over 15 bins; two of calibrant's give the default
assessment with its intervals.
"""

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

BINS = 15
METRICS = ["accuracy", "nll", "brier", "ece", "mce", "classwise-ece"]

Found = list[float]
Opened = Callable[[str], Any]
Call = Callable[[Any, int], Found]


def names_of(classes: int) -> list[str]:
    """The columns of the probabilities."""
    return [f"p_{k}" for k in range(classes)]


def in_memory(folder: str, classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Read all files into two arrays, as one does for a function of arrays."""
    from pyarrow import parquet

    table = parquet.read_table(folder)
    return table["y"].to_numpy(), np.column_stack([table[name].to_numpy() for name in names_of(classes)])


# calibrant


def _figures(*data: Any) -> Found:
    from calibrant import measure

    found = measure(*data, metrics=METRICS, notion="confidence", binning=BINS)
    return [found[name] for name in METRICS]


def _assessment(*data: Any) -> Found:
    from calibrant import assess

    found = assess(*data)
    return [row.estimate.value for row in found.rows]


def _of_predictions(work: Callable[..., Found]) -> Callable[[Any, int], Found]:
    def call(source: Any, classes: int) -> Found:
        from calibrant import predictions

        return work(predictions(source))

    return call


@contextmanager
def _dask(workers: int) -> Iterator[Opened]:
    import dask.dataframe as dd
    from distributed import Client, LocalCluster

    cluster = LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None)
    with cluster, Client(cluster):
        yield dd.read_parquet


@contextmanager
def _spark() -> Iterator[Opened]:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.driver.memory": "2g"}
    session = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield lambda folder: session.read.parquet(str(folder))
    session.stop()


@contextmanager
def _files() -> Iterator[Opened]:
    yield str


# Others


def _six(module: str) -> Call:
    def call(folder: str, classes: int) -> Found:
        peer = import_module(f"benchmarks.peers.{module}")
        return list(peer.six(*in_memory(folder, classes), BINS)())

    return call


def netcal(folder: str, classes: int) -> Found:
    """ECE alone: it has none of the others."""
    from benchmarks.peers import netcal as peer

    y, prob = in_memory(folder, classes)
    return [peer.ece(y, prob, BINS)()]


def duckdb(folder: str, classes: int) -> Found:
    """A query by hand, which DuckDB runs over the files."""
    import duckdb as engine

    names, files = names_of(classes), f"read_parquet('{folder}/*.parquet')"
    of_true = "CASE y " + " ".join(f"WHEN {k} THEN {name}" for k, name in enumerate(names)) + " END::DOUBLE"
    squares = " + ".join(f"{name}::DOUBLE * {name}" for name in names)
    top = f"SELECT GREATEST({', '.join(names)})::DOUBLE AS p, {of_true} AS q, {squares} AS s FROM {files}"
    bins = f"GREATEST(CEIL(p * {BINS}), 1)"
    scores = f"SELECT count(*), avg((p = q)::INT), avg(-ln(q)), avg(s - 2 * q + 1) FROM ({top})"
    gaps = f"SELECT 0, {bins}, count(*), abs(sum((p = q)::INT - p)) FROM ({top}) GROUP BY ALL"
    by_class = " UNION ALL ".join(
        f"SELECT {k + 1}, {bins}, count(*), abs(sum((y = {k})::INT - p)) "
        f"FROM (SELECT y, {name}::DOUBLE AS p FROM {files}) GROUP BY ALL"
        for k, name in enumerate(names)
    )
    n, *first = engine.sql(scores).fetchall()[0]
    return _of_bins(n, first, engine.sql(f"{gaps} UNION ALL {by_class}").fetchall(), classes)


def polars(folder: str, classes: int) -> Found:
    """A query by hand, which polars runs over the files in its streaming engine."""
    import polars as pl

    names = names_of(classes)
    rows = pl.scan_parquet(f"{folder}/*.parquet")
    of_true = pl.coalesce(pl.when(pl.col("y") == k).then(pl.col(name)) for k, name in enumerate(names)).cast(pl.Float64)
    squares = pl.sum_horizontal(pl.col(name).cast(pl.Float64) ** 2 for name in names)
    top = rows.select(p=pl.max_horizontal(names).cast(pl.Float64), q=of_true, s=squares)
    hit, q = (pl.col("p") == pl.col("q")).cast(pl.Float64), pl.col("q")
    scores = top.select(n=pl.len(), hits=hit.mean(), loss=-q.log().mean(), brier=(pl.col("s") - 2 * q + 1).mean())

    def binned(frame: Any, outcome: Any, k: int) -> Any:
        cut = pl.max_horizontal((pl.col("p") * BINS).ceil(), 1)
        sums = frame.group_by(cut.alias("b")).agg(n=pl.len(), gap=(outcome - pl.col("p")).sum().abs())
        return sums.select(pl.lit(k).alias("k"), "b", "n", "gap")

    tables = [binned(top, hit, 0)]
    for k, name in enumerate(names):
        column = rows.select("y", p=pl.col(name).cast(pl.Float64))
        tables.append(binned(column, (pl.col("y") == k).cast(pl.Float64), k + 1))
    first, bins = pl.collect_all([scores, pl.concat(tables)], engine="streaming")
    n, *means = first.row(0)
    return _of_bins(n, means, bins.rows(), classes)


def _of_bins(n: int, scores: Sequence[float], rows: Sequence[Sequence[Any]], classes: int) -> Found:
    """Six figures, of three means and of bins: 0 for the predicted class or 1 + the class, the bin, rows, sum of gaps."""
    top = [(count, gap) for k, _, count, gap in rows if k == 0]
    by_class = sum(gap for k, _, _, gap in rows if k)
    return [*scores, sum(gap for _, gap in top) / n, max(gap / count for count, gap in top), by_class / n / classes]


CONTENDERS: dict[str, tuple[Callable[[], AbstractContextManager[Opened]], Call]] = {
    "calibrant, in memory": (_files, lambda folder, classes: _figures(*in_memory(folder, classes))),
    "calibrant, streaming": (_files, _of_predictions(_figures)),
    "calibrant, Dask, 1 worker": (partial(_dask, 1), _of_predictions(_figures)),
    "calibrant, Dask, 2 workers": (partial(_dask, 2), _of_predictions(_figures)),
    "calibrant, Spark local[2]": (_spark, _of_predictions(_figures)),
    "scikit-learn": (_files, _six("scikit_learn")),
    "torchmetrics": (_files, _six("torchmetrics")),
    "netcal": (_files, netcal),
    "polars, by hand": (_files, polars),
    "DuckDB, by hand": (_files, duckdb),
    "assess, in memory": (_files, lambda folder, classes: _assessment(*in_memory(folder, classes))),
    "assess, streaming": (_files, _of_predictions(_assessment)),
    "assess, Dask, 2 workers": (partial(_dask, 2), _of_predictions(_assessment)),
    "assess, Spark local[2]": (_spark, _of_predictions(_assessment)),
}
"""What each starts beforehand, which then opens a folder, and what it does with it."""


def main(name: str, warm: str, folder: str, classes: str) -> None:
    """Start, do it with a small folder, say that it is ready, and do it with the other."""
    start, call = CONTENDERS[name]
    with start() as opened:
        call(opened(warm), int(classes))
        print("ready", flush=True)
        print(json.dumps({"found": call(opened(folder), int(classes))}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
