"""Write docs/scale.md: ``python -m benchmarks.scale [--largest 10000000] [--output FILE]``; figures are of one run."""

import argparse
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from benchmarks import drawn
from benchmarks.measure import machine, markdown, three_digits
from benchmarks.parquet_contenders import CONTENDERS, names_of
from benchmarks.process_tree import Measured, measured

# What 10^12 rows would take, from what one row takes here: arithmetic, with its assumptions named.


ROWS = 10**12
LABEL, PROBABILITY = 1.0, 4.0
"""Bytes of a row in Parquet: a label of few classes is coded, a probability in single precision does not shrink."""

CORES = 1000
STORE, WIRE = 100e6, 1e9
"""Bytes a second that a core gets from the object store, and that the machine which asks gets from the network."""

ROWS_OF_A_PARTITION = 10**8
SUMS = 0.5e6
"""Bytes of the sums of a partition, kept rows included, of ten classes."""

CORE_HOUR, REQUEST = 0.05, 0.4e-6
"""Dollars of a core for an hour, and of a request to the object store."""

BYTES_OF_A_REQUEST = 16e6


def on_paper(cpu_seconds_a_row: float, classes: int, rows: str) -> str:
    """Return the plan, given the processor seconds to read and sum a row, as streamed from a table of so many ``rows``."""
    volume = ROWS * (LABEL + PROBABILITY * classes)
    work, transfer = ROWS * cpu_seconds_a_row / 3600, volume / STORE / 3600
    longer, nanoseconds = max(work, transfer), cpu_seconds_a_row * 1e9
    partitions, requests = ROWS // ROWS_OF_A_PARTITION, volume / BYTES_OF_A_REQUEST
    dollars = longer * CORE_HOUR + requests * REQUEST
    steps = [
        ("bytes read", f"10^12 rows x ({LABEL:.0f} + {PROBABILITY:.0f} x {classes}) bytes", f"{volume / 1e12:.0f} TB"),
        ("to read, core hours", f"{volume / 1e12:.0f} TB / {STORE / 1e6:.0f} MB a second", f"{transfer:,.0f}"),
        ("to compute, core hours", f"10^12 rows x {nanoseconds:.0f} ns", f"{work:,.0f}"),
        (f"hours on {CORES:,} cores", "the longer of both: cores read while they compute", f"{longer / CORES:.2f}"),
        ("sums of all partitions", f"{partitions:,} x {SUMS / 1e6} MB", f"{partitions * SUMS / 1e9:.0f} GB"),
        ("sums that the program gets", f"64 groups x {SUMS / 1e6} MB, after a tree", f"{64 * SUMS / 1e6:.0f} MB"),
        ("that takes it", f"{64 * SUMS / 1e6:.0f} MB / {WIRE / 1e6:,.0f} MB a second", f"{64 * SUMS / WIRE:.2f} s"),
        (
            "dollars",
            f"{longer:,.0f} core hours x {CORE_HOUR} + {requests / 1e6:.1f} million requests x {REQUEST * 1e6:.1f} a million",
            f"{dollars:,.0f}",
        ),
    ]
    assumed = ASSUMED.format(nanoseconds=nanoseconds, rows=rows)
    return f"{assumed}\n\n{markdown(['', 'arithmetic', 'result'], steps)}\n\n{LIMITS}"


ASSUMED = f"""\
Nobody has run this. Assumed are {CORES:,} cores, each of which gets {STORE / 1e6:.0f} MB a second from the object
store; {CORE_HOUR} dollars for an hour of a core, and {REQUEST * 1e6:.1f} dollars for a million requests of
{BYTES_OF_A_REQUEST / 1e6:.0f} MB; partitions of 10^8 rows, and sums of {SUMS / 1e6} MB for each, kept rows included;
and the processor time of a row of "calibrant, streaming" with {{rows}} rows above, {{nanoseconds:.0f}} ns: reading,
decoding and summing, for six figures without intervals. Intervals need some more sums. Their noise is drawn once, from
the sums, and takes as long however many rows there are."""

LIMITS = """\
Counts are whole numbers of 64 bits, up to 9 x 10^18. Sums of scores, and the sums of which noise is drawn, are in
double precision. Numbers of rows are below 2^63: of Spark 2^30 partitions of 2^33 rows. What would have
to be looked at first: how long a scheduler takes for 10 000 tasks and more, and workers that fail in a run of that
size, whose partitions are read again."""


ROWS_OF_A_FILE = 10**6
WARM_UP = 5000
CLASSES = 10
SIZES = (10**6, 10**7, 10**8)
MANY_CLASSES = (2, 10, 100)
IN_MEMORY_AT_MOST = 10**7
"""Rows up to which those are run that read all rows into memory: as many more take some 30 GB."""

MOST_DRAWN = 10**7
"""Rows that are drawn and written; beyond, files stand under several names."""

STREAMED = "calibrant, streaming"
COMPARED = ("calibrant, in memory", STREAMED, "scikit-learn", "DuckDB, by hand", "polars, by hand")
"""What tests/benchmarks/test_scale.py finds to give the same six figures."""

COLUMNS = ("seconds", "processor seconds", "rows a second", "memory at most, MB")
WHOLE = ("calibrant, in memory", "assess, in memory", "scikit-learn", "torchmetrics", "netcal")
PACKAGES = (
    *("calibrant", "numpy", "pyarrow", "dask", "distributed", "pyspark", "duckdb", "polars"),
    *("scikit-learn", "torchmetrics", "netcal"),
)


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument(
        "--largest", type=int, default=SIZES[-1], metavar="N", help="rows of the largest table (default 10^8)"
    )
    parser.add_argument("--folder", type=Path, help="where the files are written (default: a temporary folder)")
    parser.add_argument("--output", type=Path, metavar="FILE", help="the page to write (default: print it)")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
        for page in pages(Path(folder), [n for n in SIZES if n <= chosen.largest]):
            print(page) if chosen.output is None else chosen.output.write_text(page, encoding="utf-8")


def pages(folder: Path, sizes: Sequence[int]) -> Iterator[str]:
    """Measure in this folder, and yield the page after each size: what comes after it is not run yet."""
    streaming = "calibrant, streaming", "assess, streaming"
    many = {k: _all(folder, SIZES[0], k, streaming) for k in MANY_CLASSES}
    found: dict[int, dict[str, Measured | str]] = {}
    for size in sizes:
        found[size] = _all(folder, size, CLASSES, CONTENDERS)
        yield _page(found, many)


def _page(found: dict[int, dict[str, Measured | str]], many: dict[int, dict[str, Measured | str]]) -> str:
    largest = max(found)
    streamed = found[largest][STREAMED]
    assert isinstance(streamed, Measured)
    parts = [
        "# Scale",
        _preamble(found, many),
        "## Six figures without intervals",
        _table(found, is_assessment=False),
        SIX,
        "## The default assessment, with intervals",
        _table(found, is_assessment=True),
        ASSESSED,
        "## More classes",
        _of_classes(many),
        "## 10^12 rows, on paper",
        on_paper(float(three_digits(streamed.cpu_seconds)) / largest, CLASSES, _rows(largest)),
    ]
    return "\n\n".join(parts) + "\n"


def _preamble(found: dict[int, dict[str, Measured | str]], many: dict[int, dict[str, Measured | str]]) -> str:
    """Say what this run was: its machine, how long its calls took, and what it left out."""
    every = [one for of in (*found.values(), *many.values()) for one in of.values() if isinstance(one, Measured)]
    largest, left = max(found), ", ".join(_rows(n) for n in SIZES if n not in found)
    files = max(min(largest, MOST_DRAWN) * (1 + 4 * CLASSES), SIZES[0] * (1 + 4 * max(many)))
    return PREAMBLE.format(
        machine=machine(PACKAGES),
        left=f" Not run here: {left} rows." if left else "",
        minutes=f"{sum(float(three_digits(one.seconds)) for one in every) / 60:.0f}",
        gigabytes=f"{files / 1e9:.1f}",
        again=f"; those of {_rows(largest)} rows are copies of the files of {_rows(MOST_DRAWN)}"
        if largest > MOST_DRAWN
        else "",
    )


def _all(folder: Path, rows: int, classes: int, names: Iterable[str]) -> dict[str, Measured | str]:
    """Measure each on a table of this size, one after the other; a word says why one was not."""
    warm, data = (_made(folder / f"{n}x{classes}", n, classes) for n in (WARM_UP, rows))
    found: dict[str, Measured | str] = {}
    for name in names:
        if rows > IN_MEMORY_AT_MOST and name in WHOLE:
            found[name] = "not run: all rows in memory"
            continue
        try:
            found[name] = measured("benchmarks.parquet_contenders", name, str(warm), str(data), str(classes))
        except RuntimeError as error:
            found[name] = "not installed" if "ModuleNotFoundError" in str(error) else "failed"
            print(error)
        print(rows, classes, name, found[name], flush=True)
    for made in (warm, data):
        shutil.rmtree(made)
    return found


def _made(folder: Path, rows: int, classes: int) -> Path:
    """Write files of a million rows; beyond ten millions these are written again under other names."""
    import pyarrow
    from pyarrow import parquet

    folder.mkdir()
    drawn_rows = min(rows, MOST_DRAWN)
    y, prob = drawn.table(drawn_rows, classes, "float32")
    for number, start in enumerate(range(0, drawn_rows, ROWS_OF_A_FILE)):
        some = slice(start, start + ROWS_OF_A_FILE)
        columns = {"y": y[some]} | dict(zip(names_of(classes), prob[some].T, strict=True))
        path = folder / f"{number:03}.parquet"
        parquet.write_table(pyarrow.table(columns), path)
        for copy in range(1, rows // drawn_rows):
            os.link(path, folder / f"{number:03}-{copy}.parquet")
    return folder


def _table(found: dict[int, dict[str, Measured | str]], *, is_assessment: bool) -> str:
    """The lines of those that assess, or of the others."""
    names = [name for name in next(iter(found.values())) if name.startswith("assess") == is_assessment]
    lines = [[name, _rows(rows), *_cells(of[name], rows)] for name in names for rows, of in found.items()]
    return markdown(["", "rows", *COLUMNS], lines)


def _cells(one: Measured | str, rows: int) -> list[str]:
    if isinstance(one, str):
        return [one, "", "", ""]
    speed = f"{rows / one.seconds / 1e6:.2g} million"
    return [three_digits(one.seconds), three_digits(one.cpu_seconds), speed, f"{one.peak_bytes / 1e6:,.0f}"]


def _of_classes(found: dict[int, dict[str, Measured | str]]) -> str:
    rows = SIZES[0]
    lines = [[str(k), name, *_cells(one, rows)] for k, of in found.items() for name, one in of.items()]
    return f"{_rows(rows)} rows.\n\n" + markdown(["classes", "", *COLUMNS], lines)


def _rows(n: int) -> str:
    return f"10^{len(str(n)) - 1}"


PREAMBLE = """\
Written by `make scale`. All figures are of one run: {machine}.{left}

The calls that are timed below took {minutes} minutes together. Writing the files and starting the processes is not timed.
The files of the largest table take about {gigabytes} GB of disk.

The rows are in Parquet files of a million rows, with {classes} probabilities in single precision and a label{again}.
Each runs in a process of its own, first on 5000 rows, and then is measured once, from the files to the last figure;
Dask and Spark have started before. Seconds of processors and memory are those of all processes together; memory that
processes share is counted in each. A machine that does other work makes seconds longer, and changes processor seconds
little.""".replace("{classes}", str(CLASSES))

SIX = """\
Accuracy, log loss, Brier score, ECE, MCE and class-wise ECE over 15 bins. scikit-learn, torchmetrics and netcal take
arrays: all rows are read into memory first. netcal gives the ECE alone. "By hand" is a query of the same six figures,
written for this page. It reads the files several times, and has no intervals. A test holds that the six figures are
the same by "calibrant, in memory", "calibrant, streaming", "scikit-learn", "DuckDB, by hand" and "polars, by hand"."""

ASSESSED = """\
`assess(predictions(...))` with its defaults: seven metrics with intervals, noise floors and p-values of 500
resamples, and the reliability curve. The noise is drawn from sums, by the program that asks: that takes as long
however many rows there are. The other packages that were run here give no intervals."""


if __name__ == "__main__":
    main()
