"""What an engine holds gives what the same rows give in memory, however they are cut, and though a worker is killed."""

import os
import signal
import sys
import threading
import time
from functools import reduce
from itertools import chain, pairwise
from operator import add
from uuid import uuid4

import numpy as np
import pytest

from calibrant import TemperatureScaling, assess, calibration_error, predictions, reliability_curve
from calibrant._core.border import as_problem
from calibrant.binning import EqualWidth
from calibrant.exceptions import CalibrationWarning
from calibrant.interop import calibrated
from calibrant.interop.engines import ROWS_OF_A_PARTITION, DaskPredictions
from calibrant.metrics import expected_calibration_error
from calibrant.metrics.decompositions import squared_losses
from calibrant.metrics.estimate import _events_by_cell, cells
from calibrant.notions import ClassWise, Confidence
from calibrant.sums import Plan, scan

pd = pytest.importorskip("pandas")
pyarrow = pytest.importorskip("pyarrow")

N = 20_000
PLAN = Plan(((ClassWise(), EqualWidth(15)), (Confidence(), EqualWidth(15))), (("brier", squared_losses),), noise=True)
COLUMNS = ["p_0", "p_1", "p_2"]
CUTS = (0, 3, 9000, 9000, 19_999, N)
"""Where partitions begin: of 3 rows, of most, of none, and of one."""


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(5)
    prob = rng.dirichlet([0.3, 0.5, 1.0], N).astype(np.float32)
    softer = np.sqrt(prob).cumsum(axis=1)
    label = (softer > rng.random((N, 1)) * softer[:, -1:]).argmax(axis=1)
    rows = {"row": np.arange(N), "y": label} | dict(zip(COLUMNS, prob.T, strict=True))
    return pd.DataFrame(rows)


def cut(frame, at=CUTS):
    return [frame.iloc[start:stop] for start, stop in pairwise(at)]


def of_dask(frame, parts=None):
    dd = pytest.importorskip("dask.dataframe")
    import dask

    return dd.from_delayed([dask.delayed(part) for part in parts or cut(frame)], meta=frame.iloc[:0], verify_meta=False)


def of_duckdb(frame):
    return pytest.importorskip("duckdb").from_df(frame)


def of_polars(frame):
    return pytest.importorskip("polars").from_pandas(frame).lazy()


MAKERS = {"dask": of_dask, "duckdb": of_duckdb, "polars": of_polars}


@pytest.fixture(params=[*MAKERS, pytest.param("spark", marks=(pytest.mark.deep, pytest.mark.filterwarnings("ignore")))])
def made(request, frame):
    if request.param == "spark":
        session = request.getfixturevalue("spark")
        return session.createDataFrame(pyarrow.Table.from_pandas(frame)).repartition(4, "y"), {"row_key": "row"}
    return MAKERS[request.param](frame), {}


def same_sums(ours, theirs):
    assert ours.rows == theirs.rows
    np.testing.assert_allclose(ours.scores, theirs.scores, rtol=1e-12)
    np.testing.assert_array_equal(ours.kept.number, theirs.kept.number)
    np.testing.assert_array_equal(ours.kept.problem.prob, theirs.kept.problem.prob)
    for mine, other in zip(chain(*ours.cells), chain(*theirs.cells), strict=True):
        np.testing.assert_array_equal(mine.bins.count, other.bins.count)
        np.testing.assert_array_equal(mine.bins.outcome_sum, other.bins.outcome_sum)
        np.testing.assert_allclose(mine.strata.sums, other.strata.sums, rtol=1e-12)
        np.testing.assert_allclose(mine.bins.score_sum, other.bins.score_sum, rtol=1e-12)


def in_memory(frame, plan=PLAN):
    return scan(as_problem(frame["y"], frame[COLUMNS]), plan)


def test_an_engine_leaves_the_sums_of_the_rows_in_memory(made, frame):
    source, options = made
    found = predictions(source, **options)
    same_sums(scan(found, PLAN), in_memory(frame))
    expected = calibration_error(frame["y"], frame[COLUMNS].to_numpy())
    assert calibration_error(found) == pytest.approx(expected, rel=1e-12)
    whole = predictions([(frame["y"], frame[COLUMNS])])
    assert found.sample(5)["y_true"].tolist() == whole.sample(5)["y_true"].tolist()


@pytest.mark.parametrize("seed", range(3))
def test_rows_with_keys_have_the_same_sums_in_any_order_and_partition(frame, seed):
    at = (0, *np.sort(np.random.default_rng(seed).integers(0, N, 4)).tolist(), N)
    mixed = frame.sample(frac=1, random_state=seed)
    found = predictions(of_dask(frame, cut(mixed, at)), row_key="row", batch_rows=7000)
    same_sums(scan(found, PLAN), in_memory(frame))


def test_keys_must_be_whole_numbers_and_differ(frame):
    source = of_dask(frame.assign(row=frame["row"] // 2))
    with pytest.raises(ValueError, match=r"numbers of their own; got the same number twice.*row_key="):
        scan(predictions(source, row_key="row"), PLAN)
    with pytest.raises(ValueError, match=r"must have the column 'id'"):
        predictions(source, row_key="id")
    gap = frame["row"].astype("Int64").mask(frame["row"] == 5)
    for key, error in ((frame["p_0"].astype(float), TypeError), (gap, ValueError)):
        with pytest.raises(error, match=r"row_key must name a column of whole numbers; got float64"):
            scan(predictions(of_dask(frame.assign(row=key)), row_key="row"), PLAN)


def test_few_rows_are_read_into_memory(frame):
    few = frame.iloc[:50]
    found = predictions(of_dask(few, [few.iloc[:0], few.iloc[:20], few.iloc[20:]]))
    assert calibration_error(found, binning=4) == calibration_error(few["y"], few[COLUMNS].to_numpy(), binning=4)


def test_weights_and_labels_of_text_are_read(frame):
    named = frame.assign(y=frame["y"].map({0: "cat", 1: "dog", 2: "emu"}), w=frame["row"] % 3)
    named = named.rename(columns=dict(zip(COLUMNS, ["p_cat", "p_dog", "p_emu"], strict=True)))
    found = predictions(of_dask(named), weight="w", row_key="row")
    assert found.classes.tolist() == ["cat", "dog", "emu"]
    expected = calibration_error(frame["y"], frame[COLUMNS].to_numpy(), sample_weight=named["w"])
    assert calibration_error(found) == pytest.approx(expected, rel=1e-12)


SOME = ["nll", "ece", "classwise-ece"]
WORK = {
    "assess": lambda *data: [
        (row.estimate.value, *(row.estimate.interval or ())) for row in assess(*data, metrics=SOME).rows
    ],
    "curve": lambda *data: reliability_curve(*data).panels[0].bins.outcome_sum,
    "smooth": expected_calibration_error,
    "temperature": lambda *data: TemperatureScaling().fit(*reversed(data)).temperature_,
}


@pytest.mark.parametrize("name", WORK)
def test_what_is_sent_to_workers_gives_the_figures_in_memory(name, frame, monkeypatch):
    pytest.importorskip("dask.dataframe")
    import cloudpickle

    run = DaskPredictions._added

    def sent(self, task):
        return cloudpickle.loads(cloudpickle.dumps(run(self, cloudpickle.loads(cloudpickle.dumps(task)))))

    monkeypatch.setattr(DaskPredictions, "_added", sent)
    rows = frame.astype(dict.fromkeys(COLUMNS, float))
    rows[COLUMNS] = rows[COLUMNS].div(rows[COLUMNS].sum(axis=1), axis=0)
    ours, theirs = WORK[name](predictions(of_dask(rows))), WORK[name](rows["y"].to_numpy(), rows[COLUMNS].to_numpy())
    np.testing.assert_allclose(ours, theirs, rtol=1e-9)


# Faults


def damage(frame, **cells):
    """Change one cell of some columns: ``name=(row, value)``."""
    found = frame.copy()
    for name, (row, value) in cells.items():
        found[name] = found[name].astype(type(value) if isinstance(value, str) else float)
        found.loc[row, name] = value
    return found.astype(dict.fromkeys(COLUMNS, np.float32))


def others(frame, third):
    """Return the partitions with another fourth one."""
    parts = cut(frame)
    return [*parts[:3], third(parts[3]), *parts[4:]]


def doubled(part):
    return part.astype({"p_1": float})


def unreadable():
    raise OSError("block 3 is damaged")


def damaged_block(_):
    from dask import delayed

    return delayed(unreadable)()


FAULTS = {
    "nan": (lambda f: cut(damage(f, p_1=(9500, np.nan))), 3, r"be finite; got .*at index \(500, 1\)", 10_999),
    "nan in the first row": (lambda f: cut(damage(f, p_1=(0, np.nan))), 0, r"y_prob must be finite", 3),
    "no label in the first row": (lambda f: cut(damage(f, y=(0, np.nan))), 0, r"y_true must", 3),
    "unseen class": (lambda f: cut(damage(f, y=(9500, 7.0))), 3, r"got 7 at index 500", 10_999),
    "other columns": (lambda f: others(f, lambda part: part.drop(columns="p_1")), 3, "p_1", 0),
    "other precision": (lambda f: others(f, doubled), 3, r"columns of float32.*got 3 columns of float64", 10_999),
    "damaged": (lambda f: others(f, damaged_block), 3, r"must be computed; it is not: OSError: block 3 is damaged", 0),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_named_by_its_partition_or_left_out_and_counted(fault, frame):
    pytest.importorskip("dask.dataframe")
    make, number, message, n_rows = FAULTS[fault]
    source = of_dask(frame, make(frame))
    with pytest.raises(ValueError, match=rf"the Dask data frame, partition {number}\b.*({message}).*on_error='skip'"):
        scan(predictions(source), PLAN)
    found = predictions(source, on_error="skip")
    with pytest.warns(CalibrationWarning, match=rf"left out: 1, .*partition {number}"):
        sums = scan(found, PLAN)
    assert found.left_out == (1, n_rows)
    assert sums.rows == N - np.diff(CUTS)[number]


def test_all_faults_are_counted_in_one_reading(frame):
    source = of_dask(damage(frame, p_0=(1, np.nan), p_1=(9500, np.nan)))
    with pytest.raises(ValueError, match=r"partition 0: .*\(2 partitions are refused\)"):
        scan(predictions(source), PLAN)


RDD = type("RDD", (), {"__module__": "pyspark.core.rdd"})
REFUSED = [
    (lambda f: pytest.importorskip("dask.bag").from_sequence([1]), {}, TypeError, "must be a data frame"),
    (of_duckdb, {"row_key": "row"}, TypeError, "row_key must be left out of the DuckDB relation"),
    (of_polars, {"row_key": "row"}, TypeError, "row_key must be left out of the polars query"),
    (lambda f: RDD(), {}, TypeError, "predictions of Spark must be a data frame; got RDD"),
    (lambda f: of_dask(f, [f.iloc[:0]]), {}, ValueError, "at least one row; the Dask data frame has none"),
]


@pytest.mark.parametrize(("source", "options", "error", "message"), REFUSED, ids=[row[-1] for row in REFUSED])
def test_what_an_engine_does_not_hold_is_refused(source, options, error, message, frame):
    with pytest.raises(error, match=message):
        calibration_error(predictions(source(frame), **options))


# Calibrated rows


def collected(made):
    """Return the table that an engine computes, in the order of the rows."""
    for name in ("compute", "toPandas", "collect"):
        if hasattr(made, name):
            made = getattr(made, name)()
    made = made.to_pandas() if hasattr(made, "to_pandas") else made
    return made if isinstance(made, np.ndarray) else made.sort_values("row").reset_index(drop=True)


def test_an_engine_calibrates_its_rows_and_keeps_the_others(made, frame):
    source, _ = made
    calibrator = TemperatureScaling().fit(frame[COLUMNS].to_numpy(), frame["y"])
    expected = calibrator.calibrate(frame[COLUMNS].to_numpy())
    found = collected(calibrated(source, calibrator))
    if not isinstance(found, np.ndarray):
        assert found.columns.tolist() == frame.columns.tolist()
        assert found["y"].tolist() == frame["y"].tolist()
        found = found[COLUMNS].to_numpy()
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    "query", ["SELECT * FROM rows", "SELECT *, [row] AS l, row::DECIMAL(9, 2) AS d FROM rows WHERE row > 9"]
)
def test_a_relation_is_calibrated_on_a_connection_of_its_own(query, frame):
    """The connection asks for its own calibrated rows, twice, as does a cursor of it, and goes on after an error."""
    duckdb = pytest.importorskip("duckdb")
    calibrator = TemperatureScaling().fit(frame[COLUMNS].to_numpy(), frame["y"])
    with duckdb.connect() as own:
        own.register("rows", frame)
        better = calibrated(own.sql(query), calibrator)
        assert better.schema.names == own.sql(query).columns
        asked = f"SELECT {COLUMNS[0]}, row FROM better ORDER BY row"
        cursor = own.cursor()  # which ends with its name
        first, again = own.sql(asked).fetchall(), cursor.sql(asked).fetchall()
        assert first == again
        kept = frame[COLUMNS].to_numpy()[[row for _, row in first]]
        np.testing.assert_array_equal([prob for prob, _ in first], calibrator.calibrate(kept)[:, 0])
        gaps = f"SELECT * REPLACE (CASE WHEN row < 9 THEN {COLUMNS[0]} END AS {COLUMNS[0]}) FROM rows"
        with pytest.raises(ValueError, match="y_prob must be finite"):
            calibrated(own.sql(gaps), calibrator)
        assert own.sql("SELECT count(*) FROM better").fetchall() == [(len(first),)]


def test_calibrated_logits_are_named_by_their_classes(frame):
    logits = frame.rename(columns=dict(zip(COLUMNS, ["z_0", "z_1", "z_2"], strict=True)))
    calibrator = TemperatureScaling(input="logit").fit(np.log(frame[COLUMNS].to_numpy() + 1e-9), frame["y"])
    for step in (1, -1):  # columns of classes go by their names
        found = calibrated(of_polars(logits.iloc[:, ::step]), calibrator)
        assert found.collect_schema().names() == frame.columns.tolist()[::step]
    with pytest.raises(ValueError, match=r"3 columns of logit; the polars query gives 3 of probability"):
        calibrated(of_polars(frame), calibrator)
    with pytest.raises(TypeError, match=r"source must be an object of Dask, Spark, DuckDB or polars; got DataFrame"):
        calibrated(frame, calibrator)
    with pytest.raises(TypeError, match="must be a fitted calibrator; got 'platt'"):
        calibrated(of_polars(frame), "platt")


# A session of Spark for the tests that need one, where it is installed


@pytest.fixture(scope="session")
def spark():
    sql = pytest.importorskip("pyspark.sql")
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "3",
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        session = sql.SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        yield session
        session.stop()


# Workers that are processes of their own: Dask's, of which one is killed while it works, and Spark's

CELLS = Plan.of_cells([(ClassWise(), EqualWidth(15))], noise=True)


def rows_of(n, seed=1):
    rng = np.random.default_rng(seed)
    prob = rng.dirichlet(np.ones(3), n)
    return pd.DataFrame({"row": np.arange(n), "y": rng.integers(0, 3, n)} | dict(zip(COLUMNS, prob.T, strict=True)))


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
        sums = scan(found, CELLS)
        thread.join()
    made = len(list(tmp_path.iterdir()))
    assert killed[0] < 12 < made  # it died before all partitions were made, and what it had made was made again
    expected = in_memory(frame, CELLS)
    assert counts(sums) == counts(expected)
    np.testing.assert_array_equal(sums.kept.number, expected.kept.number)


def test_numbers_by_partition_have_the_noise_of_numbers_by_row_in_distribution():
    frame = rows_of(30_000)
    problem = as_problem(frame["y"], frame[COLUMNS])
    at = [slice(0, 100), slice(100, 20_000), slice(20_000, 30_000)]
    parts = [scan(problem.at(rows), CELLS, first=number * ROWS_OF_A_PARTITION) for number, rows in enumerate(at)]
    largest = []
    for seed, sums in enumerate((in_memory(frame, CELLS), reduce(add, parts))):
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
    sums, expected = scan(predictions(source, row_key="row"), CELLS), in_memory(frame, CELLS)
    assert counts(sums) == counts(expected)
    np.testing.assert_array_equal(sums.kept.number, expected.kept.number)
    unnumbered = scan(predictions(source.select("y", *COLUMNS)), CELLS)
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
        scan(predictions(source), CELLS)
    found = predictions(source, on_error="skip")
    kept = scan(found, CELLS).rows
    assert kept == 6000 - found.left_out[1]
    assert 3500 < kept < 4500
    (tmp_path / "1.parquet").write_bytes(b"PAR1 damaged PAR1")
    with pytest.raises(ValueError, match=r"the Spark data frame must be computed.*1\.parquet.*ignoreCorruptFiles"):
        scan(predictions(spark.read.schema(source.schema).parquet(str(tmp_path))), CELLS)
