"""Figures of the arena: a rank table by hand, the bootstrap against a slow twin, and what becomes of methods that fail."""

import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from studies.arena import page
from studies.arena.cells import DEFAULT, NONE, TOO_SLOW, Cell, Line
from studies.arena.data_sets import DESIGN, KEPT_APART, LATER
from studies.arena.results import Result, from_file, gathered, merged, whole_cells, write
from studies.arena.results import stored as read

stored = cache(read)

NOTHING = dict.fromkeys(["logloss", "brier", "ece", "accuracy", "harm", "worst", "refinement"], np.nan)
SOMETHING = {"brier": 0.5, "ece": 0.1, "accuracy": 0.9, "refinement": 0.4, "seconds": 0.1, "note": ""}


def results(table, sets, rows=100, n_classes=2):
    """One result a cell of a table: experiments x methods, the first without calibration."""
    found, size = [], {"n_classes": n_classes, "rows": rows, "draws": 2}
    for i, (data_set, line) in enumerate(zip(sets, table, strict=True)):
        for name, loss in zip([NONE, *"abcdefgh"], line, strict=False):
            facts = {"data_set": data_set, "model": f"m{i}", "method": name, **size}
            if np.isnan(loss):
                found.append(Result(**facts, **NOTHING, seconds=30.0, note=TOO_SLOW))
            else:
                change = loss - line[0]
                found.append(Result(**facts, **SOMETHING, logloss=loss, harm=float(change > 0), worst=change))
    return found


def test_a_rank_table_by_hand():
    losses = np.array([[0.5, 0.4, 0.3], [0.5, 0.5, 0.6], [0.2, np.nan, 0.1]])
    assert page.ranks(losses).tolist() == [[3, 2, 1], [1.5, 1.5, 3], [2, 3, 1]]
    assert page.win_rates(losses).tolist() == [[0, 0.5, 1], [0.75, 0.75, 0], [0.5, 0, 1]]


def test_means_are_over_data_sets_and_not_over_forecasts():
    table = page.of_size(results([[0.5, 0.4], [0.5, 0.4], [0.5, 0.4], [0.5, 0.6]], ["x", "x", "x", "y"]), 100, True)
    assert table.n_sets == 2
    assert [one.value for one in page.mean_rank(table)] == [1.5, 1.5]
    assert [one.value for one in page.win_rate(table)] == [0.5, 0.5]
    assert [one.value for one in page.harm(table)] == [0.0, 0.5]
    assert page.improvement(table)[1].value == pytest.approx(0.0)


def test_bootstrap_intervals_against_a_slow_twin():
    rng = np.random.default_rng(1)
    values, sets = rng.normal(size=(12, 3)), list("aabbccddeefg")
    values[0, 1] = np.nan
    found = page.intervals(values, sets, draws=300, seed=5)
    mean = np.array([np.nanmean(values[[s == name for s in sets]], axis=0) for name in "abcdefg"])
    assert np.allclose(page.by_data_set(values, sets), mean)
    again, twin = np.random.default_rng(5), []
    for _ in range(300):
        count = again.multinomial(7, np.full(7, 1 / 7))
        drawn = [mean[i] for i in range(7) for _ in range(count[i])]
        twin.append(np.mean(drawn, axis=0))
    for j, one in enumerate(found):
        assert one.value == pytest.approx(mean[:, j].mean())
        assert [one.low, one.high] == pytest.approx(np.quantile(np.array(twin)[:, j], [0.025, 0.975]).tolist())


def test_the_excess_is_over_the_best_other_method():
    table = page.of_size(results([[0.5, 0.4, 0.3], [0.5, np.nan, 0.7]], ["x", "y"]), 100, True)
    assert np.allclose(page.excess(table), [[0.2, 0.1, -0.1], [-0.2, np.nan, 0.2]], equal_nan=True)
    assert page.worst_excess(table) == pytest.approx([0.2, 0.1, 0.2])


def test_a_leader_is_level_with_those_whose_interval_holds_zero():
    always, often = [[0.5, 0.3, 0.31, 0.4]] * 6, [[0.5, 0.3, 0.29, 0.4]] * 6
    table = page.of_size(results(always + often + always[:1], [f"s{i}" for i in range(13)]), 100, True)
    assert page.leaders(table) == ("a", ["b"])
    gap = page.differences(table, page.ranks, "a")
    assert gap["c"].excludes_zero
    assert not gap["b"].excludes_zero
    assert gap["a"].value == gap["a"].low == 0.0


def test_draws_are_averaged_and_a_draw_without_a_figure_leaves_none():
    cells = {
        Cell("x", "m", 100, draw): {NONE: Line(NONE, 0.5, 0.5, 0.1, 0.9, 0.0), "a": Line("a", loss, 0.5, 0.1, 0.9, 1.0)}
        for draw, loss in enumerate((0.4, 0.7))
    }
    found = {one.method: one for one in gathered(cells, 2)}
    assert found["a"].logloss == pytest.approx(0.55)
    assert found["a"].harm == 0.5
    assert found["a"].worst == pytest.approx(0.2)
    cells[Cell("x", "m", 100, 1)]["a"] = Line("a", seconds=30.0, note=TOO_SLOW)
    slow = {one.method: one for one in gathered(cells, 2)}["a"]
    assert np.isnan(slow.logloss)
    assert slow.note == TOO_SLOW
    assert slow.seconds == pytest.approx(15.5)


def test_a_cell_that_a_stop_cut_short_is_left_out():
    one, both = {NONE: Line(NONE)}, {NONE: Line(NONE), "a": Line("a")}
    cells = {Cell("x", "m", 100, draw): both for draw in range(3)} | {Cell("x", "m", 100, 3): one}
    assert len(whole_cells(cells)) == 3


def test_results_survive_their_file(tmp_path):
    mine = results([[0.5, np.nan, 0.3]], ["x"], n_classes=3)
    write(mine, tmp_path / "a.csv.gz")
    first = (tmp_path / "a.csv.gz").read_bytes()
    back = from_file(tmp_path / "a.csv.gz")
    read, kept = ([replace(one, worst=0.0, logloss=0.0) for one in of if one.is_there] for of in (back, mine))
    assert read == kept
    assert back[0].logloss == 0.5
    assert np.isnan(back[1].logloss)
    write(back, tmp_path / "a.csv.gz")
    assert (tmp_path / "a.csv.gz").read_bytes() == first
    assert from_file(tmp_path / "absent.csv.gz") == []


def test_what_another_page_says_of_the_arena_is_what_is_stored():
    line = next(x for x in (page.DOCS / "measured.md").read_text(encoding="utf-8").splitlines() if "(arena.md)" in x)
    assert re.search(r"with 100 to [\d,]+ rows to calibrate on", page.PAGE.read_text(encoding="utf-8"))[0] in line


def test_all_pages_have_what_the_results_say():
    results = {part: stored(part) for part in (KEPT_APART, DESIGN)}
    assert page.PAGE.read_text(encoding="utf-8") == page.whole_page(results, stored(LATER))
    apart = page.counted_once(results)[KEPT_APART]
    taken = page.of_evidence_scaling(results[KEPT_APART])
    for name, block in {"calibrators": page.recommendations(apart), "evidence-scaling": taken}.items():
        text = (page.DOCS / f"{name}.md").read_text(encoding="utf-8")
        assert f"{page.MARKS[0]}\n\n{block}\n\n{page.MARKS[1]}" in text


def test_the_readme_says_what_harm_its_advice_did():
    apart = page.counted_once({part: stored(part) for part in (KEPT_APART, DESIGN)})[KEPT_APART]
    readme = (page.DOCS.parent / "README.md").read_text(encoding="utf-8")
    many = [one for two in (True, False) for size, one in page.tables_of(apart, two).items() if size >= 1000]
    for advice, method in (
        ("up to 500 classes | `EvidenceScaling()`", page.NEW),
        ("`EnsembleTemperatureScaling()`", "ensemble-temperature"),
    ):
        shares = [page.harm(one)[one.column(method)].value for one in many]
        least, most = page.percent(min(shares)), page.percent(max(shares))
        assert re.search(rf"{re.escape(advice)} \| \[?{least} to {most} %\]", readme)
    text = (page.DOCS / "evidence-scaling.md").read_text(encoding="utf-8")
    few = [int(one) for one in re.findall(r"^\| \w+ \| \d+ \| \d+ \| ES, safe \| \S+ \| (\d+) \|", text, flags=re.M)]
    assert len(few) == 5
    shown = f"[{min(few)} to {max(few)} %](docs/evidence-scaling.md#few-rows), with 100 to 1000 rows"
    assert f"`SafeCalibrator(EvidenceScaling())` | {shown}" in readme


def test_a_method_that_is_run_again_takes_the_place_of_its_line_where_the_rows_are_the_same():
    before = results([[0.5, 0.3, 0.4], [0.6, 0.4, 0.5]], ["s", "t"])
    again = results([[0.5, 0.2], [0.7, 0.1]], ["s", "t"])
    again += [replace(r, method=DEFAULT) for r in again if r.method == "a"]
    found, left_out = merged(before, again)
    assert left_out == 1
    of = {(r.data_set, r.method): r.logloss for r in found}
    assert of["s", "a"] == of["s", DEFAULT] == 0.2
    assert (of["s", "b"], of["t", NONE], of["t", "a"]) == (0.4, 0.6, 0.4)
    assert ("t", DEFAULT) not in of
