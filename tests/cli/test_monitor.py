"""`calibrant monitor` reads folders in order, continues a state, watches groups, and fails on an alarm if asked to."""

import json

import numpy as np
import pytest

from calibrant import Monitor, cli
from calibrant.cli.monitor import files_of
from calibrant.interop.tables import read_table, write_table

N, DAYS = 300, 12
RNG = np.random.default_rng(4)
P = RNG.random((DAYS, N))
TRUTH = np.where(np.arange(DAYS)[:, None] < 8, P, P**3)
Y = (RNG.random((DAYS, N)) < TRUTH).astype(int)
AT = np.datetime64("2026-11-01") + np.arange(DAYS)


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    """Run the command in a folder with a file for each day: its exit code, what it printed, and what it said on stderr."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "days").mkdir()
    for day in range(DAYS):
        save(f"days/day_{day + 1}.csv", day)

    def run(*words):
        try:
            code = cli.main(["monitor", *map(str, words)])
        except SystemExit as end:
            code = end.code
        return code, *capsys.readouterr()

    return run


def save(path, day, rows=slice(None)):
    n = len(P[day, rows])
    country = np.array(["A", "B"] * n)[:n]
    columns = {"y": Y[day, rows], "p": P[day, rows], "day": np.full(n, str(AT[day])), "country": country}
    write_table(path, columns, force=True)


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


def test_a_gate_fails_on_an_alarm_alone(run):
    assert run("days", "--window", 600, "--fail-on-alarm")[0] == 1
    quiet = [f"days/day_{k}.csv" for k in range(1, 7)]
    code, _, said = run(*quiet, "--window", 600, "--fail-on-alarm")
    assert (code, "gate failed" in said) == (0, False)


def test_a_state_is_continued_and_no_file_is_counted_twice(run, tmp_path):
    first = [f"days/day_{k}.csv" for k in range(1, 7)]
    options = ["--window", "1d", "--time", "day", "--state", "state.json"]
    run(*first, *options)
    code, out, said = run("days", *options, "--json")
    assert code == 0
    assert said.count("its rows are in the state already") == 6
    whole = run("days", "--window", "1d", "--time", "day", "--json")[1]
    assert json.loads(out) == json.loads(whole)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["days", "state.json"]
    save("days/day_3.csv", 2, slice(0, 50))
    code, _, said = run("days", *options)
    assert code == 2
    assert "a file that was read must stay as it is" in said


def test_groups_are_watched_in_one_pass(run):
    code, _, _ = run("days", "--by", "country", "--window", "1d", "--time", "day", "-o", "out.csv")
    assert code == 0
    table = read_table("out.csv")
    assert sorted(set(table["group"].tolist())) == ["A", "B"]
    assert table["rows"].tolist() == [N // 2] * 2 * DAYS


def test_a_reference_may_be_a_file(run):
    save("test_set.csv", 0)
    code, out, _ = run("days", "--reference", "test_set.csv", "--window", 300, "--json")
    windows = json.loads(out)["groups"][""]["windows"]
    assert code == 0
    assert all(one["drift_evidence"] is not None and not one["is_reference"] for one in windows)


def test_a_page_holds_picture_and_table(run, tmp_path):
    pytest.importorskip("matplotlib")
    code, out, _ = run("days", "-o", "page.html", "--window", 900)
    page = (tmp_path / "page.html").read_text()
    assert code == 0
    assert "wrote page.html" in out
    assert page.count("<svg") == 1
    assert "predictions are not calibrated" in page
    assert "evidence" in page
    assert run("days", "-o", "page.html")[0] == 2


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
        (["days", "-o", "out.txt"], "--output must end in .html, .csv, .json; got 'out.txt'"),
        (["nowhere.csv"], "the file must exist; got nowhere.csv"),
        (["days", "--time", "when"], "must have the column 'when'"),
        (["days", "--alpha", "2"], "alpha must be a fraction in (0, 1); got 2.0"),
        (["days", "--state", "days/day_1.csv"], "--state must be a file that `calibrant monitor` wrote"),
        (["days", "--reference", "days/none.csv"], "the file must exist; got days/none.csv"),
    ],
)
def test_what_is_wrong_is_said(run, words, said):
    code, _, error = run(*words)
    assert code == 2
    assert said in error


def test_other_options_than_those_of_the_state_are_refused(run):
    run("days", "--window", 300, "--state", "state.json")
    code, _, error = run("days", "--window", 600, "--state", "state.json")
    assert code == 2
    assert "--window must be that of the state state.json; got 600, and 300 there" in error
    code, _, error = run("days", "--by", "country", "--state", "state.json")
    assert code == 2
    assert "--by must be that of the state state.json; got 'country', and None there" in error
    assert run("days", "--state", "state.json")[0] == 0


def test_numbers_in_names_are_compared_as_numbers(run, tmp_path):
    names = [file.split("day_")[1] for file in files_of(["days"])]
    assert names == [f"{k + 1}.csv" for k in range(DAYS)]
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match="must hold files that end in"):
        files_of(["empty"])
