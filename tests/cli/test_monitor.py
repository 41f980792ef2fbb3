"""`calibrant monitor` reads folders in order, continues a state, watches groups, and fails on an alarm if asked to."""

import json
import os
import shlex
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from calibrant import Monitor
from calibrant.cli.watch import Watch, files_of
from calibrant.exceptions import CalibrationWarning
from calibrant.interop import sources as addresses
from calibrant.interop.tables import read_table, write_table

N, DAYS = 300, 12
RNG = np.random.default_rng(4)
P = RNG.random((DAYS, N))
TRUTH = np.where(np.arange(DAYS)[:, None] < 8, P, P**3)
Y = (RNG.random((DAYS, N)) < TRUTH).astype(int)
AT = np.datetime64("2026-11-01") + np.arange(DAYS)


@pytest.fixture
def run(shell, tmp_path):
    """Run the command in a folder with a file for each day: its exit code, what it printed, and what it said on stderr."""
    (tmp_path / "days").mkdir()
    for day in range(DAYS):
        save(f"days/day_{day + 1}.csv", day)

    return partial(shell, "monitor")


def save(path, day, rows=slice(None)):
    n = len(P[day, rows])
    country = np.array(["A", "B"] * n)[:n]
    columns = {"y": Y[day, rows], "p": P[day, rows], "day": np.full(n, str(AT[day])), "country": country}
    write_table(path, columns, force=True)


def watch(path="state.json"):
    return {name: Monitor.from_dict(one) for name, one in json.loads(Path(path).read_text())["groups"].items()}


def test_files_of_a_folder_are_windows_in_the_order_of_their_numbers(run):
    code, out, _ = run("days")
    assert code == 0
    lines = out.splitlines()
    assert [line.split()[0] for line in lines[2 : 2 + DAYS]] == [f"day_{k + 1}" for k in range(DAYS)]
    assert "predictions are not calibrated" in out


def test_alarms_are_those_of_a_monitor_in_python(run):
    code, out, _ = run("days", "--window", "1d", "--time", "day", "--reference", 3, "--alpha", 0.01, "--json")
    assert code == 0
    monitor = Monitor(window="1d", reference=3, alpha=0.01)
    for day in range(DAYS):
        monitor.update(Y[day], P[day], at=str(AT[day]))
    group = json.loads(out)["groups"][""]
    assert [alarm["window"] for alarm in group["alarms"]] == [alarm.window for alarm in monitor.alarms]
    assert group["alarms"][0]["window"] == "2026-11-09"
    evidence = [one["evidence"] for one in group["windows"]]
    np.testing.assert_allclose(evidence, monitor.table().evidence, rtol=1e-9)
    assert group["windows"][0]["drift_evidence"] is None


def test_a_state_is_continued_and_no_file_is_counted_twice(run, tmp_path):
    first = [f"days/day_{k}.csv" for k in range(1, 7)]
    options = ["--window", "1d", "--time", "day", "--state", "state.json"]
    run(*first, *options)
    code, out, said = run("days", *options, "--json")
    assert code == 0
    assert said.count("its rows were read already") == 6
    whole = run("days", "--window", "1d", "--time", "day", "--json")[1]
    assert json.loads(out) == json.loads(whole)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["days", "state.json"]
    save("days/day_3.csv", 2, slice(0, 50))
    code, _, said = run("days", *options)
    assert code == 2
    assert "a file that was read must stay as it is" in said


def test_files_of_one_name_in_two_folders_are_no_window_together(run):
    Path("other").mkdir()
    save("other/day_1.csv", 3, slice(0, 100))
    code, _, error = run("days/day_1.csv", "other/day_1.csv")
    assert code == 2
    assert "files must have names that differ without folder and ending" in error
    assert run("days/day_1.csv", "other/day_1.csv", "--time", "day", "--window", "1d")[0] == 0
    assert run("days/day_1.csv", "--state", "state.json")[0] == 0
    assert run("other/day_1.csv", "--state", "state.json")[0] == 2


def test_windows_keep_their_names_when_other_folders_come(run):
    Path("all/2026-01").mkdir(parents=True)
    Path("days/day_1.csv").rename("all/2026-01/a.csv")
    Path("days/day_2.csv").rename("all/2026-01/b.csv")
    before = [one["window"] for one in windows(run("all", "--state", "state.json", "--json")[1])]
    Path("all/2026-02").mkdir()
    Path("days/day_3.csv").rename("all/2026-02/a.csv")
    after = [one["window"] for one in windows(run("all", "--state", "state.json", "--json")[1])]
    assert before == ["2026-01/a", "2026-01/b"] == after[:2]


def test_groups_are_watched_in_one_pass(run):
    code, _, _ = run("days", "--by", "country", "--window", "1d", "--time", "day", "-o", "out.csv")
    assert code == 0
    table = read_table("out.csv")
    assert sorted(set(table["group"].tolist())) == ["A", "B"]
    assert table["rows"].tolist() == [N // 2] * 2 * DAYS


def test_a_reference_may_be_a_file(run):
    os.rename("days/day_1.csv", "test_set.csv")
    code, out, _ = run("days", "--reference", "test_set.csv", "--window", 300, "--json")
    windows = json.loads(out)["groups"][""]["windows"]
    assert code == 0
    assert all(one["drift_evidence"] is not None and not one["is_reference"] for one in windows)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["days", "--window", "1d"],
            "--window 1d must have the time of each row; got none. Name its column by --time.",
        ),
        (
            ["days", "--window", "soon", "--time", "day"],
            "window must be a whole number with one of s, min, h, d, w behind it",
        ),
        (["days", "-o", "out.txt"], "the output must end in .html or .csv or .json; got 'out.txt'"),
        (["days", "-o", "days/below/out.csv"], "--output must not be a table in a folder that is watched"),
        (["nowhere.csv"], "the file must exist; got nowhere.csv"),
        (["days", "--time", "when"], "must have the column 'when'"),
        (["days", "--alpha", "2"], "alpha must be a fraction in (0, 1); got 2.0"),
        (["days", "--state", "days/day_1.csv"], "--state must be a file that `calibrant monitor` wrote"),
        (["days", "--reference", "days/none.csv"], "the file of --reference must exist; got days/none.csv"),
        (["days", "--time", "day", "--window", 50], "--time must be left out where --window is a number of rows"),
        (["days", "--prob", "y", "--label", "country"], "days/day_1.csv: y_true must be 0 and 1"),
    ],
)
def test_what_is_wrong_is_said(run, words, said):
    code, _, error = run(*words)
    assert code == 2
    assert said in error


def test_other_options_than_those_of_the_state_are_refused(run):
    line = ["days", "--window", 300, "--state", "state.json"]
    run(*line)
    before = Path("state.json").read_bytes()
    for words, held in (
        (["--window", 600], "'300'"),
        (["--by", "country"], "None"),
        (["--alpha", 0.1], "None"),
        (["--reference", "days/day_2.csv"], "None"),
        (["--label", "country"], "None"),
        (["--percent"], "False"),
    ):
        code, _, error = run(*line, *words)
        assert code == 2
        assert f"{words[0]} must be that of the state state.json, {held}; got " in error
    assert run("days", "--state", "state.json")[0] == 2
    assert run(*line)[0] == 0
    assert Path("state.json").read_bytes() == before


def of(day, **columns):
    """Write a file of a day with its columns in the order in which they are named."""
    known = {"y": Y[day], "p": P[day], "p_0": 1.0 - P[day], "p_1": P[day], "z": np.log(P[day] / (1.0 - P[day]))}
    path = f"days/day_{day + 1}.csv"
    write_table(path, {name: known[name] if value is None else value for name, value in columns.items()}, force=True)
    return path


def windows(out):
    return json.loads(out)["groups"][""]["windows"]


def test_columns_are_found_by_their_names_in_every_file(run):
    files = [of(0, y=None, p_0=None, p_1=None), of(1, p_1=None, p_0=None, y=None), of(2, p_1=None, y=None, p_0=None)]
    turned = windows(run(*files, "--json")[1])
    alike = windows(run(*(of(day, y=None, p_0=None, p_1=None) for day in range(3)), "--json")[1])
    assert turned == alike
    assert turned[1]["ece"] < 0.1


@pytest.mark.parametrize("state", [[], ["--state", "state.json"]])
def test_a_file_that_would_be_read_otherwise_is_refused(run, state):
    first = of(0, y=None, p=None)
    if state:
        run(first, *state)
    for columns in ({"y": None, "z": None}, {"y": None, "p_0": None, "p_1": None}, {"label": Y[1], "p": None}):
        code, _, error = run(first, of(1, **columns), *state)
        assert code == 2
        assert "days/day_2.csv must have the column " in error


def test_files_of_single_and_double_precision_may_share_a_window(run):
    pytest.importorskip("pyarrow")
    day = np.full(N, str(AT[0]))
    write_table("days/single.parquet", {"y": Y[1], "p": P[1].astype(np.float32), "day": day})
    out = run("days/day_1.csv", "days/single.parquet", "--time", "day", "--json")[1]
    assert [one["rows"] for one in windows(out)] == [2 * N]


@pytest.mark.parametrize("cell", ["", "nan"])
def test_a_missing_group_is_refused(run, cell):
    of(0, y=None, p=None, g=np.array(["A", "B", cell])[np.arange(N) % 3])
    code, _, error = run("days/day_1.csv", "--by", "g")
    assert code == 2
    assert "--by g must hold a group in each row; days/day_1.csv has none in 100 rows" in error


def test_of_two_writers_of_a_state_one_is_refused(run, monkeypatch):
    files = [f"days/day_{k}.csv" for k in range(1, 5)]
    for first in ([], [files[0]]):  # a new state, and one that is continued
        if first:
            Path("state.json").unlink()
            run(*first, "--state", "state.json")
        write = Watch.write

        def late(state, write=write, first=first):
            monkeypatch.setattr(Watch, "write", write)
            assert run(*first, files[1], "--state", "state.json")[0] == 0  # another run, from beginning to end
            write(state)

        monkeypatch.setattr(Watch, "write", late)
        code, _, error = run(*first, files[2], "--state", "state.json")
        assert code == 2
        assert "another run wrote state.json. Nothing was written; run again" in error
        assert sorted(map(str, Path().glob(".*"))) == []
        held = watch()
        assert held[""].n_rows == N * (len(first) + 1)


def test_files_are_known_by_what_they_hold(run):
    run("days/day_1.csv", "days/day_2.csv", "--state", "state.json")
    text = Path("days/day_1.csv").read_bytes()
    Path("days/day_1.csv").write_bytes(text.replace(b",0.", b",.0", 1))
    code, _, error = run("days/day_1.csv", "--state", "state.json")
    assert (code, "days/day_1.csv has other content. Put new rows into a new file" in error) == (2, True)
    Path("days/day_1.csv").write_bytes(text + text.splitlines(keepends=True)[-1])
    code, _, error = run("days/day_1.csv", "--state", "state.json")
    assert (code, "days/day_1.csv has other content. Put new rows into a new file" in error) == (2, True)
    Path("days/day_1.csv").write_bytes(text)
    Path("moved").mkdir()
    Path("days/day_2.csv").rename("moved/day_2.csv")
    code, _, said = run("days/day_1.csv", "moved/day_2.csv", "--state", "state.json")
    assert code == 0
    assert "days/day_1.csv: its rows were read already\n" in said
    assert f"moved/day_2.csv: its rows were read already, from {Path('days/day_2.csv').absolute()}\n" in said
    Path("moved/copy.csv").write_bytes(text)
    code, _, said = run("moved/copy.csv", "--state", "state.json")
    assert (code, "moved/copy.csv: its rows were read already" in said) == (0, True)


def test_a_day_without_rows_stops_nothing_and_is_read_when_it_has_some(run):
    Path("days/day_2.csv").write_text("y,p,day,country\n")
    Path("days/day_0.csv").write_text("y,p,day,country\n")
    code, out, said = run("days", "--state", "state.json", "--json")
    assert (code, len(windows(out)), said.count("it has no rows")) == (0, DAYS - 1, 2)
    save("days/day_2.csv", 1)
    assert len(windows(run("days", "--state", "state.json", "--json")[1])) == DAYS
    Path("empty.csv").write_text("y,p\n")
    code, _, error = run("empty.csv")
    assert (code, error.count("\n")) == (2, 2)
    assert "must hold rows to watch; no row was read" in error


WINDOWS = ["a", "b/9", "b/10", "b/c/d"]


def test_files_of_folders_and_patterns_are_those_of_assess(tmp_path):
    pytest.importorskip("pyarrow")
    for name in ("b/9.csv", "b/10.parquet", "a.csv", ".hidden.csv", "_success/x.csv", "b/c/d.feather", "b/notes.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    for name in (str(tmp_path), f"{tmp_path}/*/*.csv", f"{tmp_path}/**/*.parquet", f"{tmp_path}/b/[19]*"):
        assert sorted(os.path.abspath(file.path) for file in files_of([name])) == sorted(
            one.path for one in addresses.files_of(name)
        )
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
    run("days/day_1.csv", "--state", "state.json")
    plain = json.loads(Path("state.json").read_text())
    for text in damaged(plain):
        if text == json.dumps(plain):
            continue
        Path("state.json").write_text(text)
        code, out, error = run("days/day_1.csv", "--state", "state.json")
        assert (code, out, error.count("\n")) == (2, "", 1), text[:200]
        assert "--state must be a file that `calibrant monitor` wrote; state.json is not" in error, text[:200]
        assert error.endswith(
            "Put back a copy of it, or remove it and name all files again: their rows are then read anew.\n"
        )
        assert Path("state.json").read_text() == text
    Path("state.json").write_bytes(b"\xff\xfe")
    assert run("days/day_1.csv", "--state", "state.json")[0] == 2


# A command that runs each night

COMMAND = next(
    line
    for line in (Path(__file__).parents[2] / "docs" / "monitoring.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("calibrant monitor ")
)
NIGHTS, A_DAY = 30, 100
SCORE = RNG.beta(1, 3, (NIGHTS, A_DAY))
OUTCOME = (RNG.random((NIGHTS, A_DAY)) < np.where(np.arange(NIGHTS)[:, None] < 18, SCORE, SCORE**3)).astype(int)


def test_the_documented_command_runs_every_night_and_fails_on_that_of_an_alarm(run):
    pytest.importorskip("matplotlib")
    for file in Path("days").iterdir():
        file.unlink()
    monitor, failed, before = Monitor(window="1d", reference=14), [], 0
    for night in range(NIGHTS):
        at = f"2026-01-{night + 1:02}"
        columns = {"date": np.full(A_DAY, at), "label": OUTCOME[night], "p": SCORE[night]}
        write_table(f"days/day_{night + 1}.csv", columns)
        monitor.update(OUTCOME[night], SCORE[night], at=at)
        new, before = len(monitor.alarms) - before, len(monitor.alarms)
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


def held(path="state.json"):
    return watch(path)[""]


def test_an_alarm_that_a_run_without_the_gate_found_is_new_to_the_gate(run):
    assert run("days", "--state", "state.json")[0] == 0
    assert [run("days", "--state", "state.json", "--fail-on-alarm")[0] for _ in range(2)] == [1, 1]
    write_table("days/day_13.csv", {"y": Y[0], "p": P[0], "day": np.full(N, "2026-11-13"), "country": np.full(N, "A")})
    assert run("days", "--state", "state.json", "--fail-on-alarm")[0] == 0


@pytest.mark.parametrize(("ends_at", "windows"), [(1, 1), (2, 2)])
def test_a_run_that_was_killed_leaves_the_state_of_the_run_before_or_its_own(run, ends_at, windows):
    """It ends as it replaces the state, or the page behind it; nothing is cleaned up, as where a machine loses power."""
    words = ["--state", "state.json", "-o", "out.csv", "--force"]
    assert run("days/day_1.csv", *words)[0] == 0
    page = Path("out.csv").read_bytes()
    ends = "import os, sys; n = []; put = os.replace\n"
    ends += f"os.replace = lambda *of: put(*of) if n.append(0) or len(n) < {ends_at} else os._exit(9)\n"
    ends += "from calibrant import cli; sys.exit(cli.main(['monitor', *sys.argv[1:]]))"
    code = subprocess.run([sys.executable, "-c", ends, "days/day_2.csv", *words], check=False).returncode
    assert (code, held().n_windows, Path("out.csv").read_bytes() == page) == (9, windows, True)
    assert run("days/day_2.csv", "days/day_3.csv", *words)[0] == 0
    assert (held().n_rows, held().n_windows, len(read_table("out.csv")["window"])) == (3 * N, 3, 3)


@pytest.mark.skipif(os.name == "nt", reason="devices have no path on Windows")
@pytest.mark.parametrize("state", ["days", os.devnull])
def test_a_state_that_is_no_file_is_not_read(run, state):
    """What an endless device such as /dev/zero holds was read until memory was full."""
    code, _, error = run("days/day_1.csv", "--state", state)
    assert (code, f"wrote; {state} is none. Name another, or begin a new one." in error) == (2, True)


def test_nothing_that_is_read_is_written(run):
    run("days/day_1.csv", "--state", "state.json", "-o", "out.csv")
    for words, said in (
        (["-o", "days/day_3.csv"], "days/day_3.csv already exists. Pass --force"),
        (["-o", "days/day_2.csv", "--force"], "must not be what is read"),
        (["-o", "state.json", "--force"], "--output must not be the state"),
        (["-o", "new.json", "--state", "new.json"], "--output must not be the state"),
        (["--reference", "out.csv", "-o", "out.csv", "--force", "--state", "new.json"], "must not be what is read"),
    ):
        code, _, error = run("days/day_2.csv", "--state", "state.json", *words)
        assert (code, said in error) == (2, True)
    assert run("days/day_1.csv", "--state", "state.json", "-o", "out.csv", "--force")[0] == 0


def test_rows_of_the_reference_are_no_window_as_well(run):
    """They would be compared with themselves, and a test of drift takes its reference to be other events."""
    code, _, error = run("days", "--reference", "days/day_2.csv")
    assert (code, "no file must be read twice; days/day_2.csv is the reference. Keep it apart" in error) == (2, True)
    os.rename("days/day_2.csv", "test_set.csv")
    assert run("days", "--reference", "test_set.csv")[0] == 0


def test_the_reference_of_a_state_stays_as_it_was(run):
    save("test_set.csv", 0)
    options = ["--reference", "test_set.csv", "--by", "country", "--state", "state.json"]
    save("days/day_2.csv", 1, slice(0, None, 2))  # country A and B still stand in turn
    assert run("days/day_2.csv", *options)[0] == run("days/day_3.csv", *options)[0] == 0
    save("test_set.csv", 5)
    code, _, error = run("days/day_5.csv", *options)
    assert (code, "content of the reference must be that of the state" in error) == (2, True)


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
