"""The figures that docs/scale.md times are the same, whoever gives them."""

import pickle
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from benchmarks import drawn, scale
from benchmarks.parquet_contenders import CONTENDERS
from benchmarks.process_tree import measured
from benchmarks.scale import SUMS, on_paper
from calibrant import assess, predictions

DOCS = Path(__file__).resolve().parents[2] / "docs"
NEEDED = {
    "DuckDB, by hand": ("duckdb", None),
    "polars, by hand": ("polars", "1.30"),
    "scikit-learn": ("sklearn", "1.7"),
    "calibrant, streaming": ("pyarrow", None),
}
"""What a contender needs, and from which version on it has the options that its query takes."""


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


@pytest.mark.parametrize("name", [name for name in scale.COMPARED if name != "calibrant, in memory"])
def test_all_find_the_same_six_figures(name, folder):
    module, version = NEEDED[name]
    pytest.importorskip(module, minversion=version)
    assert figures(name, folder) == pytest.approx(figures("calibrant, in memory", folder), rel=1e-6)


@pytest.mark.deep
def test_a_process_is_measured_once_it_is_ready(folder):
    found = measured(
        "benchmarks.parquet_contenders", "assess, streaming", folder, folder, "3"
    )  # many ticks of the clock
    assert found.found["found"] == pytest.approx(figures("assess, streaming", folder))
    assert 0 < found.cpu_seconds < 60
    assert found.peak_bytes > 10**7
    with pytest.raises(RuntimeError, match=r"(?s)nobody.*KeyError"):
        measured("benchmarks.parquet_contenders", "nobody", folder, folder, "3")


def test_the_page_is_made_of_its_own_figures():
    """Of the largest run: the plan on paper, the time of all calls, and what other pages quote."""
    text = (DOCS / "scale.md").read_text(encoding="utf-8")
    cells = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    run = {(name, rows): rest for name, rows, *rest in (line for line in cells if len(line) == 6) if "^" in rows}
    largest = max((rows for name, rows in run if name == scale.STREAMED), key=lambda rows: int(rows[3:]))
    a_row = float(run[scale.STREAMED, largest][1]) / 10 ** int(largest[3:])
    assert on_paper(a_row, scale.CLASSES, largest) in text
    took = sum(float(rest[0]) for rest in run.values()) + sum(float(c[2]) for c in cells if c[0] in ("2", "10", "100"))
    assert f"took {took / 60:.0f} minutes" in text
    assert f"files of 10^6 and {largest} rows" in (DOCS / "measured.md").read_text(encoding="utf-8")
    how_to = (DOCS / "how-to" / "larger-than-memory.md").read_text(encoding="utf-8")
    for rows in ("10^6", largest):
        assert f"{run['assess, streaming', rows][3]} MB for {rows} rows" in " ".join(how_to.split())


@pytest.mark.parametrize(
    ("classes", "size"), [(2, 0.2e6), (3, 0.4e6), (10, SUMS), pytest.param(100, 2.2e6, marks=pytest.mark.deep)]
)
def test_sums_of_a_partition_have_the_size_that_pages_state(classes, size, monkeypatch):
    """As sent from a worker: docs/how-to/clusters.md, docs/how-to/spark.md and docs/scale.md."""
    rows, sizes = predictions(lambda: iter([drawn.table(50_000, classes, "float32")])), []
    reduced = rows.reduce

    def reduce(read):
        found = reduced(read)
        sizes.append(len(pickle.dumps(found)))
        return found

    monkeypatch.setattr(rows, "reduce", reduce)
    assess(rows)
    assert sizes == [pytest.approx(size, rel=0.15)]


def test_the_plan_on_paper_is_arithmetic():
    page = on_paper(100e-9, 10, "10^7")
    assert "| 41 TB |" in page
    assert "| 28 |" in page  # 10^12 x 100 ns / 3600
    assert "| 114 |" in page
    assert "| 0.11 |" in page  # of the longer one on 1000 cores
