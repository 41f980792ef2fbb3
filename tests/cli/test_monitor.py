"""`calibrant monitor` reads folders in order, continues a state, watches groups, and fails on an alarm if asked to."""

import json
import os
import shlex
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from calibrant import Monitor
from calibrant.cli.watch import Watch, files_of
from calibrant.exceptions import CalibrationWarning
from calibrant.interop import sources as addresses
from calibrant.interop import writing
from calibrant.interop.tables import read_table, write_table
from calibrant.interop.writing import whole_file
from calibrant.report import page as report

N, DAYS = 300, 12
RNG = np.random.default_rng(4)
P = RNG.random((DAYS, N))
TRUTH = np.where(np.arange(DAYS)[:, None] < 8, P, P**3)
Y = (RNG.random((DAYS, N)) < TRUTH).astype(int)
AT = np.datetime64("2026-11-01") + np.arange(DAYS)


@pytest.fixture
def run(shell, tmp_path):
    """Run the command in a folder with a file for each day."""
    (tmp_path / "days").mkdir()
    for day in range(DAYS):
        save(f"days/day_{day + 1}.csv", day)
    return shell.of("monitor")


def save(path, day, rows=slice(None)):
    n = len(P[day, rows])
    country = np.array(["A", "B"] * n)[:n]
    columns = {"y": Y[day, rows], "p": P[day, rows], "day": np.full(n, str(AT[day])), "country": country}
    write_table(path, columns, force=True)


def held(path="state.json"):
    """The monitor that a state holds."""
    return Monitor.from_dict(json.loads(Path(path).read_text())["groups"][""])


DAY_BY_DAY = ["--window", "1d", "--time", "day"]
STATE = ["--state", "state.json"]


def test_files_of_a_folder_are_windows_in_the_order_of_their_numbers(run):
    out = run.out("days")
    lines = out.splitlines()
    assert [line.split()[0] for line in lines[2 : 2 + DAYS]] == [f"day_{k + 1}" for k in range(DAYS)]
    assert "predictions are not calibrated" in out


def test_figures_and_alarms_are_those_of_a_monitor_in_python(run):
    monitor = Monitor(window="1d", reference=3, alpha=0.01)
    for day in range(DAYS):
        monitor.update(Y[day], P[day], at=str(AT[day]))
    table = monitor.table()
    document = run.json("days", *DAY_BY_DAY, "--reference", 3, "--alpha", 0.01)
    found = document["groups"].pop("")
    assert document == {"groups": {}}
    assert (found["notion"], found["alpha"]) == (table.notion, 0.01)
    assert found["alarms"] == [asdict(alarm) for alarm in table.alarms]
    assert found["alarms"][0]["window"] == "2026-11-09"
    assert [list(one) for one in found["windows"]] == [list(table.columns)] * DAYS
    assert [one["window"] for one in found["windows"]] == table.columns["window"].tolist()
    np.testing.assert_allclose([one["evidence"] for one in found["windows"]], table.evidence, rtol=1e-9)
    assert found["windows"][0]["drift_evidence"] is None


def test_a_state_is_continued_and_no_file_is_counted_twice(run, tmp_path):
    run(*(f"days/day_{k}.csv" for k in range(1, 7)), *DAY_BY_DAY, *STATE)
    code, out, said = run("days", *DAY_BY_DAY, *STATE, "--json")
    assert (code, said.count("its rows were read already")) == (0, 6)
    assert json.loads(out) == run.json("days", *DAY_BY_DAY)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["days", "state.json"]
    save("days/day_3.csv", 2, slice(0, 50))
    run.refuses("a file that was read must stay as it is", "days", *DAY_BY_DAY, *STATE)


def test_files_of_one_name_in_two_folders_are_no_window_together(run):
    Path("other").mkdir()
    save("other/day_1.csv", 3, slice(0, 100))
    said = "files must have names that differ without folder and ending"
    run.refuses(said, "days/day_1.csv", "other/day_1.csv")
    run.out("days/day_1.csv", "other/day_1.csv", *DAY_BY_DAY)
    run.out("days/day_1.csv", *STATE)
    run.refuses(said, "other/day_1.csv", *STATE)


def test_windows_keep_their_names_when_other_folders_come(run):
    for k, name in enumerate(("2026-01/a.csv", "2026-01/b.csv", "2026-02/a.csv"), 1):
        Path("all", name).parent.mkdir(parents=True, exist_ok=True)
        Path(f"days/day_{k}.csv").rename(Path("all", name))
        if k > 1:
            found = [one["window"] for one in windows(run, "all", *STATE)]
    assert found == ["2026-01/a", "2026-01/b", "2026-02/a"]


def test_groups_are_watched_in_one_pass(run):
    run.out("days", "--by", "country", *DAY_BY_DAY, "-o", "out.csv")
    table = read_table("out.csv")
    assert table["group"].tolist() == ["A"] * DAYS + ["B"] * DAYS
    assert table["rows"].tolist() == [N // 2] * 2 * DAYS


def test_a_reference_may_be_a_file(run):
    os.rename("days/day_1.csv", "test_set.csv")
    found = windows(run, "days", "--reference", "test_set.csv", "--window", 300)
    assert len(found) == DAYS - 1
    assert all(one["drift_evidence"] is not None and not one["is_reference"] for one in found)


def test_other_options_than_those_of_the_state_are_refused(run):
    line = ["days", "--window", 300, *STATE]
    run.out(*line)
    others = ["--by country", "--alpha 0.1", "--reference days/day_2.csv", "--label country"]
    for words, kept in (("--window 600", "'300'"), ("--percent", "False"), *((other, "None") for other in others)):
        said = f"{words.split()[0]} must be that of the state state.json, {kept}; got "
        run.refuses(said, *line, *words.split())
    run.refuses("--window must be that of the state", "days", *STATE)
    before = Path("state.json").read_bytes()
    run.out(*line)
    assert Path("state.json").read_bytes() == before


def of(day, **columns):
    """Write a file of a day with its columns in the order in which they are named."""
    known = {"y": Y[day], "p": P[day], "p_0": 1.0 - P[day], "p_1": P[day], "z": np.log(P[day] / (1.0 - P[day]))}
    path = f"days/day_{day + 1}.csv"
    write_table(path, {name: known[name] if value is None else value for name, value in columns.items()}, force=True)
    return path


def windows(run, *words):
    return run.json(*words)["groups"][""]["windows"]


def test_columns_are_found_by_their_names_in_every_file(run):
    files = [of(0, y=None, p_0=None, p_1=None), of(1, p_1=None, p_0=None, y=None), of(2, p_1=None, y=None, p_0=None)]
    turned = windows(run, *files)
    assert turned == windows(run, *(of(day, y=None, p_0=None, p_1=None) for day in range(3)))
    assert turned[1]["ece"] < 0.1


@pytest.mark.parametrize("state", [[], STATE])
def test_a_file_that_would_be_read_otherwise_is_refused(run, state):
    first = of(0, y=None, p=None)
    if state:
        run(first, *state)
    for columns in ({"y": None, "z": None}, {"y": None, "p_0": None, "p_1": None}, {"label": Y[1], "p": None}):
        run.refuses("days/day_2.csv must have the column ", first, of(1, **columns), *state)


def test_files_of_single_and_double_precision_may_share_a_window(run):
    pytest.importorskip("pyarrow")
    day = np.full(N, str(AT[0]))
    p, found = np.append(P[1, :99], P[1, 99:].round(1)), []
    for kind in (float, np.float32):
        write_table("days/each.parquet", {"y": Y[1], "p": p.astype(kind), "day": day}, force=True)
        found += windows(run, "days/day_1.csv", "days/each.parquet", "--time", "day", "--bins", 10)
    assert [one["rows"] for one in found] == [2 * N, 2 * N]
    assert found[0]["ece"] == pytest.approx(found[1]["ece"], rel=1e-6)


def test_of_two_writers_of_a_state_one_is_refused(run, monkeypatch):
    files = [f"days/day_{k}.csv" for k in range(1, 5)]
    for first in ([], [files[0]]):  # a new state, and one that is continued
        if first:
            Path("state.json").unlink()
            run(*first, *STATE)
        write = Watch.write

        def late(state, write=write, first=first):
            monkeypatch.setattr(Watch, "write", write)
            run.out(*first, files[1], *STATE)  # another run, from beginning to end
            write(state)

        monkeypatch.setattr(Watch, "write", late)
        code, _, error = run(*first, files[2], *STATE)
        assert code == 2
        assert "another run wrote state.json. Nothing was written; run again" in error
        assert sorted(map(str, Path().glob(".*"))) == []
        assert held().n_rows == N * (len(first) + 1)


@pytest.mark.skipif(os.name != "posix", reason="locks are those of POSIX")
def test_a_state_is_written_while_no_other_run_can_write_it(run, monkeypatch):
    import fcntl

    def busy(*given, **options):
        with pytest.raises(BlockingIOError):
            fcntl.flock(os.open(".", os.O_RDONLY), fcntl.LOCK_EX | fcntl.LOCK_NB)
        return whole_file(*given, **options)

    monkeypatch.setattr(writing, "whole_file", busy)
    run.out("days/day_1.csv", *STATE)


def test_files_are_known_by_what_they_hold(run):
    run("days/day_1.csv", "days/day_2.csv", *STATE)
    text = Path("days/day_1.csv").read_bytes()
    for other in (text.replace(b",0.", b",.0", 1), text + text.splitlines(keepends=True)[-1]):
        Path("days/day_1.csv").write_bytes(other)
        said = "days/day_1.csv has other content. Put new rows into a new file"
        run.refuses(said, "days/day_1.csv", *STATE)
    Path("days/day_1.csv").write_bytes(text)
    Path("moved").mkdir()
    Path("moved/copy.csv").write_bytes(text)
    Path("days/day_2.csv").rename("moved/day_2.csv")
    _, said = run.told("days/day_1.csv", "moved/day_2.csv", "moved/copy.csv", *STATE)
    assert "days/day_1.csv: its rows were read already\n" in said
    assert f"moved/day_2.csv: its rows were read already, from {Path('days/day_2.csv').absolute()}\n" in said
    assert "moved/copy.csv: its rows were read already" in said


def test_a_day_without_rows_stops_nothing_and_is_read_when_it_has_some(run):
    for day in (0, 2):
        Path(f"days/day_{day}.csv").write_text("y,p,day,country\n")
    code, out, said = run("days", *STATE, "--json")
    assert (code, len(json.loads(out)["groups"][""]["windows"]), said.count("it has no rows")) == (0, DAYS - 1, 2)
    save("days/day_2.csv", 1)
    assert len(windows(run, "days", *STATE)) == DAYS


WINDOWS = ["a", "b/9", "b/10", "b/c/d"]


def test_files_of_folders_and_patterns_are_those_of_assess(tmp_path):
    pytest.importorskip("pyarrow")
    for name in ("b/9.csv", "b/10.parquet", "a.csv", ".hidden.csv", "_success/x.csv", "b/c/d.feather", "b/notes.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    for name in (str(tmp_path), f"{tmp_path}/*/*.csv", f"{tmp_path}/**/*.parquet", f"{tmp_path}/b/[19]*"):
        found = sorted(os.path.abspath(file.path) for file in files_of([name]))
        assert found == sorted(one.path for one in addresses.files_of([name]))
    (tmp_path / "P.npz").touch()
    for reads in (files_of, addresses.files_of):
        with pytest.warns(CalibrationWarning, match=r"holds P\.npz, not read"):
            found = reads([str(tmp_path)])
        assert len(found) == len(WINDOWS)
    with pytest.warns(CalibrationWarning):
        assert [file.window for file in files_of([str(tmp_path)])] == WINDOWS
    with pytest.raises(ValueError, match="must lie on this machine"):
        files_of(["s3://bucket/days"])


def damaged(plain):
    """Return states that no run wrote, as text."""
    text = json.dumps(plain)
    yield from (text[: len(text) // 2], "", "null", "[]", "[" * 100_000, text.replace("0.05", "NaN", 1))
    yield from (text.replace("0.05", "0.06", 1), json.dumps({**plain, "version": 5}))
    for name in plain:
        for value in (None, "x", {"x": None}):
            yield json.dumps({**plain, name: value})
        yield json.dumps({key: value for key, value in plain.items() if key != name})


def test_a_damaged_state_is_one_error_in_words(run):
    words = ["days/day_1.csv", *STATE]
    run(*words)
    plain = json.loads(Path("state.json").read_text())
    cure = "Put back a copy of it, or begin a new state in another file: all rows are then read anew."
    for text in [*damaged(plain), "\xff\xfe"]:
        if text != json.dumps(plain):
            Path("state.json").write_text(text, encoding="latin-1")
            told = run.refuses("--state must be a file that `calibrant monitor` wrote; state.json is not", *words)
            assert told.endswith(cure), text[:200]


# A command that runs each night

COMMAND = next(
    line
    for line in (Path(__file__).parents[2] / "docs" / "monitoring.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("calibrant monitor ")
)
NIGHTS, A_DAY = 30, 100
SCORE = RNG.beta(1, 3, (NIGHTS, A_DAY))
OUTCOME = (RNG.random((NIGHTS, A_DAY)) < np.where(np.arange(NIGHTS)[:, None] < 18, SCORE, SCORE**3)).astype(int)


def test_the_documented_command_runs_every_night_and_fails_on_that_of_an_alarm(run, monkeypatch):
    """Nights between the first and the last on which nothing is new have an empty picture: a drawn one takes long."""
    pytest.importorskip("matplotlib")
    drawn = report._picture
    for file in Path("days").iterdir():
        file.unlink()
    monitor, failed, before = Monitor(window="1d", reference=14), [], 0
    for night in range(NIGHTS):
        at = f"2026-01-{night + 1:02}"
        columns = {"date": np.full(A_DAY, at), "label": OUTCOME[night], "p": SCORE[night]}
        write_table(f"days/day_{night + 1}.csv", columns)
        monitor.update(OUTCOME[night], SCORE[night], at=at)
        new, before = len(monitor.alarms) - before, len(monitor.alarms)
        quiet = 0 < night < NIGHTS - 1 and not new
        monkeypatch.setattr(report, "_picture", (lambda _: "<svg></svg>") if quiet else drawn)
        for _ in range(2 if night == 0 or new else 1):  # a job that is run again after it failed fails again
            code, _, said = run(*shlex.split(COMMAND)[2:])
            assert (code, f"gate failed: {new} new alarm" in said) == (int(new > 0), new > 0), said
            assert (f"{before} alarm" in said and "none is new" in said) == (before > 0 and not new), said
        page = Path("monitor.html").read_text(encoding="utf-8")
        assert (at in page, page.count("<svg"), page.count("class=alarm")) == (True, 1, before)
        failed += [night] * (new > 0)
    assert held("monitor.json").to_dict() == monitor.to_dict()
    assert len(failed) > 0
    assert 18 <= failed[0] <= failed[-1] < NIGHTS - 1
    assert sorted(file.name for file in Path().iterdir()) == ["days", "monitor.html", "monitor.json"]


def test_an_alarm_that_a_run_without_the_gate_found_is_new_to_the_gate(run):
    run.out("days", *STATE)
    assert [run("days", *STATE, "--fail-on-alarm")[0] for _ in range(2)] == [1, 1]
    write_table("days/day_13.csv", {"y": Y[0], "p": P[0], "day": np.full(N, "2026-11-13"), "country": np.full(N, "A")})
    run.out("days", *STATE, "--fail-on-alarm")


def test_an_alarm_that_a_run_could_not_tell_of_is_new_to_the_next_though_that_has_another_file(run, monkeypatch):
    def full(_):
        raise OSError("No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("calibrant.cli.watch.json_of", full)
        assert run("days", *STATE, "--fail-on-alarm", "--json")[0] == 2
    write_table("days/day_13.csv", {"y": Y[0], "p": P[0], "day": np.full(N, "2026-11-13"), "country": np.full(N, "A")})
    assert run("days", *STATE, "--fail-on-alarm")[0] == 1


@pytest.mark.first(1)
@pytest.mark.parametrize(("ends_at", "windows"), [(2, 2), (1, 1)])
def test_a_run_that_was_killed_leaves_the_state_of_the_run_before_or_its_own(run, ends_at, windows):
    """It ends as it replaces the state, or the page behind it; nothing is cleaned up, as where a machine loses power."""
    words = [*STATE, "-o", "out.csv", "--force"]
    run.out("days/day_1.csv", *words)
    page = Path("out.csv").read_bytes()
    ends = "import os, sys; n = []; put = os.replace\n"
    ends += f"os.replace = lambda *of: put(*of) if n.append(0) or len(n) < {ends_at} else os._exit(9)\n"
    ends += "from calibrant import cli; sys.exit(cli.main(['monitor', *sys.argv[1:]]))"
    code = subprocess.run([sys.executable, "-c", ends, "days/day_2.csv", *words], check=False).returncode
    assert (code, held().n_windows, Path("out.csv").read_bytes() == page) == (9, windows, True)
    run.out("days/day_2.csv", "days/day_3.csv", *words)
    assert (held().n_rows, held().n_windows, len(read_table("out.csv")["window"])) == (3 * N, 3, 3)


@pytest.mark.skipif(os.name == "nt", reason="devices have no path on Windows")
@pytest.mark.parametrize("state", ["days", os.devnull])
def test_a_state_that_is_no_file_is_not_read(run, state):
    """What an endless device such as /dev/zero holds was read until memory was full."""
    run.refuses(f"wrote; {state} is none. Name another, or begin a new one.", "days/day_1.csv", "--state", state)


def test_the_state_is_no_output(run):
    run.out("days/day_1.csv", *STATE, "-o", "out.csv")
    run.refuses("--output must not be the state", "days/day_2.csv", *STATE, "-o", "state.json", "--force")
    run.out("days/day_1.csv", *STATE, "-o", "out.csv", "--force")


def test_the_reference_of_a_state_stays_as_it_was(run):
    save("test_set.csv", 0)
    options = ["--reference", "test_set.csv", "--by", "country", *STATE]
    save("days/day_2.csv", 1, slice(0, None, 2))  # country A and B still stand in turn
    run.out("days/day_2.csv", *options)
    run.out("days/day_3.csv", *options)
    save("test_set.csv", 5)
    run.refuses("content of the reference must be that of the state", "days/day_5.csv", *options)


@pytest.mark.parametrize("kind", ["npz", "commas"])
def test_files_with_one_array_or_with_commas_in_names_are_read_alike(run, kind):
    rng = np.random.default_rng(0)
    for k in (1, 2):
        prob = rng.dirichlet(np.ones(3), 50)
        label = rng.integers(0, 3, 50)
        if kind == "npz":
            np.savez(f"m{k}.npz", label=label, prob=prob)
        else:
            lines = [f"{y},{','.join(map(str, row))}" for y, row in zip(label, prob.tolist(), strict=True)]
            Path(f"m{k}.csv").write_text('label,"prob_a,b","prob_c*",prob_d\n' + "\n".join(lines) + "\n")
    ending = "npz" if kind == "npz" else "csv"
    code, _, error = run(f"m1.{ending}", f"m2.{ending}", "--window", "50", "--classes", "0,1,2")
    assert (code, error.count("must have the column")) == (0, 0), error
