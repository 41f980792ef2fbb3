"""The figures that docs/scale.md times are the same, whoever gives them."""

import pyarrow as pa
import pytest
from pyarrow import parquet

from benchmarks import drawn
from benchmarks.parquet_contenders import CONTENDERS
from benchmarks.process_tree import measured
from benchmarks.scale_on_paper import on_paper

NEEDED = {"DuckDB, by hand": "duckdb", "polars, by hand": "polars"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("rows")
    y, prob = drawn.table(6000, 3, "float32")
    for number, some in enumerate((slice(0, 2000), slice(2000, 6000))):
        columns = {"y": y[some]} | {f"p_{k}": column[some] for k, column in enumerate(prob.T)}
        parquet.write_table(pa.table(columns), path / f"{number}.parquet")
    return str(path)


def figures(name, folder):
    start, call = CONTENDERS[name]
    with start() as opened:
        return call(opened(folder), 3)


@pytest.mark.parametrize("name", ["calibrant, streaming", "scikit-learn", "DuckDB, by hand", "polars, by hand"])
def test_all_find_the_same_six_figures(name, folder):
    pytest.importorskip(NEEDED.get(name, "sklearn"))
    assert figures(name, folder) == pytest.approx(figures("calibrant, in memory", folder), rel=1e-6)


@pytest.mark.deep
def test_a_process_is_measured_once_it_is_ready(folder):
    found = measured("benchmarks.parquet_contenders", "calibrant, streaming", folder, folder, "3")
    assert found.found["found"] == pytest.approx(figures("calibrant, streaming", folder))
    assert 0 < found.cpu_seconds < 60
    assert found.peak_bytes > 10**7
    with pytest.raises(RuntimeError, match=r"(?s)nobody.*KeyError"):
        measured("benchmarks.parquet_contenders", "nobody", folder, folder, "3")


def test_the_plan_on_paper_is_arithmetic():
    page = on_paper(100e-9, 10)
    assert "| 41 TB |" in page
    assert "| 28 |" in page  # 10^12 x 100 ns / 3600
    assert "| 114 |" in page
    assert "| 0.11 |" in page  # of the longer one on 1000 cores
