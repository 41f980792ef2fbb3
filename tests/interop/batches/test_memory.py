"""Memory does not grow with the number of rows, and figures do not depend on threads."""

import subprocess
import sys
import tracemalloc

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from calibrant import expected_calibration_error, measure, predictions
from calibrant._core import threads
from calibrant.interop import arrow_batches as streamed
from calibrant.sums import scan
from calibrant.sums.sums import Plan

ROWS = 8192


def stream(n_batches):
    """Batches that are made as they are asked for."""

    def batches():
        rng = np.random.default_rng(0)
        for _ in range(n_batches):
            prob = rng.dirichlet(np.ones(4), ROWS).astype(np.float32)
            yield rng.integers(0, 4, ROWS), prob

    return predictions(batches, batch_rows=ROWS)


def peak_of(read):
    measure(stream(3))  # what is imported and kept for good
    tracemalloc.start()
    try:
        measure(read)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_twenty_times_the_rows_take_no_more_memory():
    few, many = peak_of(stream(6)), peak_of(stream(120))
    assert many < 2.0 * few
    assert many < 120 * ROWS * 4 * 4 / 2  # half of what the probabilities alone would take


def test_batches_of_many_columns_have_fewer_rows():
    prob = np.full((1 << 14, 1000), 1e-3, dtype=np.float32)
    sizes = predictions([(np.zeros(1 << 14, dtype=int), prob)]).reduce(lambda batch, first: np.array([1.0, batch.size]))
    assert sizes.tolist() == [4, 1 << 14]


def test_a_file_is_read_row_group_by_row_group(tmp_path):
    n = 40 * ROWS
    table = pa.table({"y": np.arange(n) % 2, "p": np.linspace(0.0, 1.0, n), "other": np.arange(n)})
    pa.parquet.write_table(table, tmp_path / "p.parquet", row_group_size=ROWS)
    size, seen = table.select(["y", "p"]).nbytes, []
    del table
    before = pa.total_allocated_bytes()

    def read(batch, first):
        seen.append(pa.total_allocated_bytes() - before)
        return np.array([batch.size])

    assert predictions(tmp_path / "p.parquet", batch_rows=ROWS).reduce(read).tolist() == [n]
    assert max(seen) < size / 3


def test_one_thread_gives_the_digits_of_several(monkeypatch):
    plan = Plan(noise=True)
    sums = []
    for workers in (1, 3):
        monkeypatch.setattr(streamed, "n_processors", lambda workers=workers: workers)
        sums.append((measure(stream(6)), scan(stream(6), plan).rows))
    assert sums[0] == sums[1]


def test_an_error_ends_the_threads_that_read_ahead():
    made = []

    def items():
        for number in range(10):
            made.append(number)
            yield number

    ahead = threads.ahead(items(), 2)
    assert next(ahead) == 0
    ahead.close()
    assert len(made) <= 5
    assert list(threads.ahead(iter(range(5)), 2)) == list(threads.in_order(int, range(5), 2)) == [0, 1, 2, 3, 4]


def test_single_precision_of_another_byte_order_adds_up_with_double():
    rng = np.random.default_rng(0)
    p, y = rng.random(9000).astype(np.float32).astype(float), rng.integers(0, 2, 9000)
    batches = [(y[:4500], p[:4500]), (y[4500:], p[4500:].astype(">f4"))]
    found = expected_calibration_error(predictions(lambda: iter(batches), batch_rows=4500))
    assert found == pytest.approx(expected_calibration_error(y, p), abs=1e-12)


def test_python_ends_though_a_source_waits():
    code = """
import threading, numpy as np
from calibrant import predictions
def source():
    for _ in range(2):
        yield np.zeros(5000, dtype=int) + np.arange(5000) % 2, np.full(5000, 0.5)
    threading.Event().wait()
predictions(source, batch_rows=3000).head()
print("at the end")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == "at the end\n"
