"""Who reads a folder of Parquet: ``python -m benchmarks.parquet_contenders NAME FOLDER CLASSES`` says what it finds.

Each gives accuracy, log loss, Brier score, ECE, MCE and class-wise ECE over 15 bins; two of calibrant's give the default
assessment with its intervals.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np

BINS = 15
METRICS = ["accuracy", "nll", "brier", "ece", "mce", "classwise-ece"]

Found = list[float]


def names_of(classes: int) -> list[str]:
    """The columns of the probabilities."""
    return [f"p_{k}" for k in range(classes)]


def in_memory(folder: Path, classes: int) -> tuple[np.ndarray, np.ndarray]:
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


@contextmanager
def _dask(folder: Path, workers: int) -> Iterator[Any]:
    import dask.dataframe as dd
    from distributed import Client, LocalCluster

    cluster = LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None)
    with cluster, Client(cluster) as client:
        client.run(lambda: __import__("calibrant"))
        yield dd.read_parquet(folder)


@contextmanager
def _spark(folder: Path) -> Iterator[Any]:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.driver.memory": "2g"}
    session = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    session.range(1000).repartition(2).mapInArrow(lambda batches: batches, "id long").collect()
    yield session.read.parquet(str(folder))
    session.stop()


@contextmanager
def _folder(folder: Path) -> Iterator[Any]:
    yield str(folder)


def _of_predictions(opened: AbstractContextManager[Any], work: Callable[..., Found]) -> tuple[Any, Callable[[Any], Found]]:
    def call(source: Any) -> Found:
        from calibrant import predictions

        return work(predictions(source))

    return opened, call


# Others


def _six(module: str) -> Callable[[Path, int], tuple[Any, Callable[[Any], Found]]]:
    def prepare(folder: Path, classes: int) -> tuple[Any, Callable[[Any], Found]]:
        from importlib import import_module

        peer = import_module(f"benchmarks.peers.{module}")
        return nullcontext(), lambda _: list(peer.six(*in_memory(folder, classes), BINS)())

    return prepare


def netcal(folder: Path, classes: int) -> tuple[Any, Callable[[Any], Found]]:
    """ECE alone: it has none of the others."""
    from benchmarks.peers import netcal as peer

    __import__("netcal.metrics")

    def call(_: Any) -> Found:
        y, prob = in_memory(folder, classes)
        return [peer.ece(y, prob, BINS)()]

    return nullcontext(), call


def duckdb(folder: Path, classes: int) -> tuple[Any, Callable[[Any], Found]]:
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

    def call(_: Any) -> Found:
        n, *first = engine.sql(scores).fetchall()[0]
        return _of_bins(n, first, engine.sql(f"{gaps} UNION ALL {by_class}").fetchall(), classes)

    return nullcontext(), call


def polars(folder: Path, classes: int) -> tuple[Any, Callable[[Any], Found]]:
    """A query by hand, which polars runs over the files in its streaming engine."""
    import polars as pl

    names = names_of(classes)
    rows = pl.scan_parquet(folder / "*.parquet")
    of_true = pl.coalesce(pl.when(pl.col("y") == k).then(pl.col(name)) for k, name in enumerate(names)).cast(pl.Float64)
    squares = pl.sum_horizontal(pl.col(name).cast(pl.Float64) ** 2 for name in names)
    top = rows.select(p=pl.max_horizontal(names).cast(pl.Float64), q=of_true, s=squares)
    hit = (pl.col("p") == pl.col("q")).cast(pl.Float64)
    q = pl.col("q")
    scores = top.select(n=pl.len(), hits=hit.mean(), loss=-q.log().mean(), brier=(pl.col("s") - 2 * q + 1).mean())

    def binned(frame: Any, outcome: Any, k: int) -> Any:
        cut = pl.max_horizontal((pl.col("p") * BINS).ceil(), 1)
        sums = frame.group_by(cut.alias("b")).agg(n=pl.len(), gap=(outcome - pl.col("p")).sum().abs())
        return sums.select(pl.lit(k).alias("k"), "b", "n", "gap")

    tables = [binned(top, hit, 0)]
    for k, name in enumerate(names):
        column = rows.select("y", p=pl.col(name).cast(pl.Float64))
        tables.append(binned(column, (pl.col("y") == k).cast(pl.Float64), k + 1))

    def call(_: Any) -> Found:
        (first,), *binned_rows = ((frame.rows() for frame in pl.collect_all([scores, pl.concat(tables)], engine="streaming")))
        n, *means = first
        return _of_bins(n, means, binned_rows[0], classes)

    return nullcontext(), call


def _of_bins(n: int, scores: Any, rows: Any, classes: int) -> Found:
    """Six figures, of three means and of bins (0 for the predicted class, or the class and one), b, number, sum of gaps."""
    top = [(count, gap) for k, _, count, gap in rows if k == 0]
    by_class = sum(gap for k, _, _, gap in rows if k)
    return [*scores, sum(gap for _, gap in top) / n, max(gap / count for count, gap in top), by_class / n / classes]


CONTENDERS: dict[str, Callable[[Path, int], tuple[Any, Callable[[Any], Found]]]] = {
    "calibrant, in memory": lambda folder, k: (nullcontext(), lambda _: _figures(*in_memory(folder, k))),
    "calibrant, streaming": lambda folder, k: _of_predictions(_folder(folder), _figures),
    "calibrant, Dask, 1 worker": lambda folder, k: _of_predictions(_dask(folder, 1), _figures),
    "calibrant, Dask, 2 workers": lambda folder, k: _of_predictions(_dask(folder, 2), _figures),
    "calibrant, Spark local[2]": lambda folder, k: _of_predictions(_spark(folder), _figures),
    "scikit-learn": _six("scikit_learn"),
    "torchmetrics": _six("torchmetrics"),
    "netcal": netcal,
    "polars, by hand": polars,
    "DuckDB, by hand": duckdb,
    "assess, in memory": lambda folder, k: (nullcontext(), lambda _: _assessment(*in_memory(folder, k))),
    "assess, streaming": lambda folder, k: _of_predictions(_folder(folder), _assessment),
    "assess, Dask, 2 workers": lambda folder, k: _of_predictions(_dask(folder, 2), _assessment),
    "assess, Spark local[2]": lambda folder, k: _of_predictions(_spark(folder), _assessment),
}
"""What each opens before it is measured, and what it then does."""


def main(name: str, folder: str, classes: str) -> None:
    """Open, say that it is ready, and do it."""
    opened, call = CONTENDERS[name](Path(folder), int(classes))
    with opened as source:
        print("ready", flush=True)
        print(json.dumps({"found": call(source)}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
