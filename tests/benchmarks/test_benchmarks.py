"""The benchmarks compute the same numbers by every contender, and their pages tell losses."""

import pickle
from inspect import signature
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from sklearn.metrics import brier_score_loss

from benchmarks import drawn, scale
from benchmarks.__main__ import COMPARISONS, merged, parted
from benchmarks.decades import Case, Decades, lines
from benchmarks.measure import OURS, Contender, Timing
from benchmarks.parquet_contenders import CONTENDERS
from benchmarks.peers import calibrant, numpy_lines, scikit_learn
from benchmarks.scale import SUMS, on_paper
from calibrant import assess, predictions

BINS = 15


@pytest.mark.parametrize("peer", [numpy_lines, scikit_learn])
@pytest.mark.parametrize("classes", [2, 3, 40])
def test_the_lines_of_a_peer_and_one_call_equal_metrics_of_a_table_and_a_column(peer, classes):
    if peer is scikit_learn and "labels" not in signature(brier_score_loss).parameters:
        pytest.skip("scikit-learn has a Brier score of several classes from 1.7 on")
    table, column = drawn.table(300, classes), drawn.column(300)
    for other, ours, data in [
        (peer.six, calibrant.six, table),
        (calibrant.six_at_once, calibrant.six, table),
        (peer.three, calibrant.three, column),
        (calibrant.three_at_once, calibrant.three, column),
        (peer.ece, calibrant.ece, column),
    ]:
        np.testing.assert_allclose(other(*data, BINS)(), ours(*data, BINS)(), rtol=1e-12)
    np.testing.assert_allclose(peer.log_loss(*table)(), calibrant.log_loss(*table)(), rtol=1e-12)


def test_labels_are_drawn_at_the_temperature_that_is_stated():
    y, logit = drawn.logits(20_000, 4)
    loss = {t: numpy_lines.log_loss_of_logits(y, logit / t)() for t in (1.3, drawn.TRUE_TEMPERATURE, 1.7)}
    assert min(loss, key=loss.get) == drawn.TRUE_TEMPERATURE


# The race


@pytest.fixture
def answering(monkeypatch):
    """Contenders that answer what they are told, at once."""

    def contender(name, answer):
        call = answer if callable(answer) else lambda: answer
        monkeypatch.setattr(numpy_lines, name, lambda *_: call, raising=False)
        return Contender({"ours": OURS}.get(name, name), "numpy_lines", name)

    def make(rows, _):
        return np.zeros(rows), np.zeros(rows), BINS

    return lambda **answers: Decades([contender(*pair) for pair in answers.items()], make)


def test_a_race_measures_every_size_and_remembers_ours(answering):
    race = answering(ours=0.5, other=0.5 + 1e-10)
    table = race.table((10, 100), 3, "float64").splitlines()
    assert table[0] == "| | 10 | 100 | largest difference |"
    assert table[3].endswith("| 1e-10 |")
    assert race.seconds(100, "float64") > 0.0
    assert race.seconds(11, "float64") is None


@pytest.mark.parametrize("answer", [0.5 + 1e-6, np.nan])
def test_a_race_of_different_answers_is_refused(answering, answer):
    with pytest.raises(AssertionError, match="other says"):
        answering(ours=0.5, other=answer).table((10,), 3, "float64")


def test_a_peer_that_is_not_installed_is_skipped_aloud(answering):
    race = answering(ours=0.5)
    race = Decades([*race.contenders, Contender("absent", "absent", "ece")], race.make)
    race.table((10,), 3, "float64")
    assert race.names == [OURS]
    assert [line.split(",")[0] for line in race.skipped] == ["absent: skipped"]


@pytest.mark.parametrize(
    ("numpy", "bold", "said"),
    [(1e-3, "NumPy lines", "**2.00**, slower than NumPy lines"), (4e-3, f"{OURS}, one call", "0.50 (NumPy lines)")],
)
def test_a_table_tells_who_is_faster_losses_included(numpy, bold, said):
    seconds = {OURS: 3e-3, f"{OURS}, one call": 2e-3, "NumPy lines": numpy, "torch lines": 5e-3}
    case = Case(10, {name: Timing(0.0, [one]) for name, one in seconds.items()})
    table = lines([case], dict.fromkeys(seconds, 0.0))
    assert [line.split(" | ")[0] for line in table[:-1] if "**" in line] == [f"| {bold}"]
    assert table[-1] == f"| calibrant, times as long as the fastest peer | {said} | |"


# The page


def test_a_section_measured_alone_replaces_its_own_and_no_other():
    first, second, third = (comparison.TITLE for comparison in list(COMPARISONS.values())[:3])
    preamble, before = parted(f"# Benchmarks\n\nOn a machine.\n\n## {third}\n\nold\n\nlines\n\n## By hand\n\nkept\n")
    assert preamble == "# Benchmarks\n\nOn a machine."
    assert before == {third: "old\n\nlines", "By hand": "kept"}
    after = merged(before, {second: "new", third: "newer", first: "newest"})
    assert list(after.items()) == [(first, "newest"), (second, "new"), (third, "newer"), ("By hand", "kept")]


# The figures that docs/scale.md times


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
