"""Workers that are processes of their own: Dask's, of which one is killed while it works, and Spark's."""

import os
import signal
import threading
import time
from functools import reduce
from operator import add
from uuid import uuid4

import numpy as np
import pytest

from calibrant import predictions
from calibrant._core.border import as_problem
from calibrant.binning import EqualWidth
from calibrant.interop.engines import ROWS_OF_A_PARTITION
from calibrant.metrics.estimate import _events_by_cell, cells
from calibrant.notions import ClassWise
from calibrant.sums import Plan, scan

pd = pytest.importorskip("pandas")
pyarrow = pytest.importorskip("pyarrow")

PLAN = Plan.of_cells([(ClassWise(), EqualWidth(15))], noise=True)


def rows_of(n, seed=1):
    rng = np.random.default_rng(seed)
    prob = rng.dirichlet(np.ones(3), n)
    columns = {"row": np.arange(n), "y": rng.integers(0, 3, n)}
    return pd.DataFrame(columns | {f"p_{k}": column for k, column in enumerate(prob.T)})


def in_memory(frame):
    return scan(as_problem(frame["y"], frame[["p_0", "p_1", "p_2"]]), PLAN)


def counts(sums):
    return [one.bins.count.tolist() for problems in sums.cells for one in problems]


def slow_part(start, folder):
    """Make the rows of a partition, and say so in a folder."""
    time.sleep(0.2)
    (folder / uuid4().hex).touch()
    return rows_of(12_000).iloc[start : start + 1000]


@pytest.mark.deep
@pytest.mark.filterwarnings("ignore")
def test_a_worker_that_is_killed_in_mid_run_changes_nothing(tmp_path):
    distributed = pytest.importorskip("distributed")
    import dask
    import dask.dataframe as dd

    frame = rows_of(12_000)
    parts = [dask.delayed(slow_part)(start, tmp_path) for start in range(0, 12_000, 1000)]
    source = dd.from_delayed(parts, meta=frame.iloc[:0], verify_meta=False)
    killed = []

    def kill(pids):
        while len(list(tmp_path.iterdir())) < 9:  # the first partitions are made before, to see what they hold
            time.sleep(0.01)
        os.kill(pids[0], signal.SIGKILL)
        killed.append(len(list(tmp_path.iterdir())))

    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        found = predictions(source)
        found.head()
        thread = threading.Thread(target=kill, args=(list(client.run(os.getpid).values()),))
        thread.start()
        sums = scan(found, PLAN)
        thread.join()
    made = len(list(tmp_path.iterdir()))
    assert killed[0] < 12 < made  # it died before all partitions were made, and what it had made was made again
    expected = in_memory(frame)
    assert counts(sums) == counts(expected)
    np.testing.assert_array_equal(sums.kept.number, expected.kept.number)


def test_numbers_by_partition_have_the_noise_of_numbers_by_row_in_distribution():
    frame = rows_of(30_000)
    problem = as_problem(frame["y"], frame[["p_0", "p_1", "p_2"]])
    at = [slice(0, 100), slice(100, 20_000), slice(20_000, 30_000)]
    parts = [scan(problem.at(rows), PLAN, first=number * ROWS_OF_A_PARTITION) for number, rows in enumerate(at)]
    largest = []
    for seed, sums in enumerate((in_memory(frame), reduce(add, parts))):
        table = cells(problem, ClassWise(), EqualWidth(15), sums)
        events = _events_by_cell(table.moments, table.kept, 1500, np.random.default_rng(seed))
        gap = np.abs(events - events.mean(axis=0)) / np.maximum(table.weight, 1.0)
        largest.append(gap.max(axis=1))
    one, two = largest
    spread = np.hypot(one.std(), two.std())
    assert abs(one.mean() - two.mean()) < 5 * spread / np.sqrt(one.size)
    assert abs(np.log(one.std() / two.std())) < 5 / np.sqrt(one.size)
    assert not np.array_equal(parts[0].kept.number + 1, (parts[0] + parts[1]).kept.number[:100])


@pytest.mark.deep
@pytest.mark.filterwarnings("ignore")
def test_spark_adds_many_partitions_up_in_groups(spark, monkeypatch):
    monkeypatch.setattr("calibrant.interop.engines.FAN_IN_OF_SPARK", 3)
    frame = rows_of(5000)
    source = spark.createDataFrame(pyarrow.Table.from_pandas(frame)).repartition(7)
    assert source.rdd.getNumPartitions() == 7
    sums, expected = scan(predictions(source, row_key="row"), PLAN), in_memory(frame)
    assert counts(sums) == counts(expected)
    np.testing.assert_array_equal(sums.kept.number, expected.kept.number)
    unnumbered = scan(predictions(source.select("y", "p_0", "p_1", "p_2")), PLAN)
    assert counts(unnumbered) == counts(expected)
    assert len(set((unnumbered.kept.number // ROWS_OF_A_PARTITION).tolist())) == 7


@pytest.mark.deep
@pytest.mark.filterwarnings("ignore")
def test_faults_in_spark_are_named_or_left_out(spark, tmp_path):
    frame = rows_of(6000)
    for number in range(3):
        part = frame.iloc[2000 * number : 2000 * (number + 1)]
        part.assign(p_1=part["p_1"].where(part["row"] != 4500)).to_parquet(tmp_path / f"{number}.parquet")
    source = spark.read.parquet(str(tmp_path)).repartitionByRange(3, "row")
    with pytest.raises(
        ValueError, match=r"the Spark data frame, partition 2: y_prob must be finite.* at index \(\d+, 1\)"
    ):
        scan(predictions(source), PLAN)
    found = predictions(source, on_error="skip")
    kept = scan(found, PLAN).rows
    assert kept == 6000 - found.left_out[1]
    assert 3500 < kept < 4500
    (tmp_path / "1.parquet").write_bytes(b"PAR1 damaged PAR1")
    with pytest.raises(ValueError, match=r"the Spark data frame must be computed.*1\.parquet.*ignoreCorruptFiles"):
        scan(predictions(spark.read.schema(source.schema).parquet(str(tmp_path))), PLAN)


def test_what_is_no_data_frame_of_spark_is_refused():
    rdd = type("RDD", (), {"__module__": "pyspark.core.rdd"})()
    with pytest.raises(TypeError, match=r"predictions of Spark must be a data frame; got RDD"):
        predictions(rdd)
