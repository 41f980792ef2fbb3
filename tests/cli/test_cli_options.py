"""Every option of every command does something: the parsers are walked, and an option without an exercise fails the test."""

import argparse
import re
import shlex
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from calibrant import cli, load_digits_forecast, show_versions
from calibrant.cli.options import parser
from calibrant.interop.tables import read_table, write_table

RNG = np.random.default_rng(11)
N = 120
P = RNG.uniform(0.02, 0.98, N)
Y = (RNG.random(N) < P**1.3).astype(int)
WEIGHT = RNG.integers(1, 5, N)
PROB = {"p_0": 1 - P, "p_1": P}
FIRST = np.arange(N) < 9
FILES = {
    "plain": {"label": Y, **PROB, "w": WEIGHT},
    "label": {"outcome": Y, "label": Y[::-1], **PROB, "w": WEIGHT},
    "prob": {"label": Y, **PROB, "prob_0": P, "prob_1": 1 - P, "w": WEIGHT},
    "logit": {"label": Y, "a": np.log1p(-P), "b": np.log(P), "w": WEIGHT},
    "classes": {"label": np.where(Y, "b", "a"), **PROB, "w": WEIGHT},
    "answers": {"right": np.where(Y, "C", "I"), "stated": 100 * P, "w": WEIGHT},
    "percent": {"label": Y, "p_0": 100 * (1 - P), "p_1": 100 * P, "w": WEIGHT},
    "normalize": {"label": Y, "p_0": 3 * (1 - P), "p_1": 3 * P, "w": WEIGHT},
    "impossible": {"label": Y, "p_0": np.where(FIRST, Y, 1 - P), "p_1": np.where(FIRST, 1 - Y, P)},
    "beside": {"label": Y, "old": P**2, "new": P},
    "keys": {"key": np.arange(N), "label": Y, **PROB},
    "models": {"key": np.tile(np.arange(N // 2), 2), "who": np.repeat(["a", "b"], N // 2), "label": Y, **PROB},
    "dated": {"label": Y, **PROB, "day": (np.datetime64("2024-01-15") + np.arange(N) % 30).astype(str)},
}
"""Tables by the option that they are for; each stands in a folder of its own, so that what is printed is the same."""

PLAIN = {
    "assess": ["assess", "f.csv", "--resamples", 9],
    "test": ["test", "f.csv", "--tests", "spiegelhalter,resampling"],
    "advise": ["advise", "f.csv"],
    "compare": ["compare", "f.csv", "--calibrators", "platt", "--resamples", 19, "--report", "out.html"],
    "fit": ["fit", "f.csv", "-o", "out.json", "--method", "beta"],
    "apply": ["apply", "calibrator.json", "f.csv", "-o", "out.csv"],
    "export": ["export", "calibrator.json", "--to", "sql", "-o", "out.sql"],
    "decide": ["decide", "f.csv", "-o", "out.csv"],
    "report": ["report", "f.csv", "g.csv", "-o", "out.html", "--resamples", 9],
    "monitor": ["monitor", "f.csv", "-o", "out.csv"],
    "plan": ["plan", "f.csv", "--detect", 0.15],
    "demo": ["demo", "-o", "out.html"],
    "list": ["list", "binnings"],
}


@dataclass(frozen=True)
class Case:
    """How an option is exercised: ``words`` are added to the plain command; ``instead``, they stand after the command's name.

    Without them the command gives another answer, or ends with ``refused``, unless the option is ``idle``. With them it ends
    with ``code`` and, where it is ``same``, with the answer to the plain file.
    """

    words: str = ""
    file: str = "plain"
    code: int = 0
    refused: int = 0
    same: bool = False
    instead: str = ""
    says: str = ""
    idle: bool = False


def changing(*lines):
    """Cases of options that change the answer, and no more: of each line the last option."""
    return {re.findall(r"--\S+", line)[-1]: Case(line) for line in lines}


OF_COLUMNS = {
    "--label": Case("--label outcome", "label", same=True),
    "--prob": Case("--prob p_0,p_1", "prob", refused=2, same=True),
    "--logit": Case("--logit a,b", "logit", refused=2),
    "--classes": Case("--classes a,b", "classes", refused=2),
    "--percent": Case("--percent", "percent", refused=2, same=True),
    "--normalize": Case("--normalize", "normalize", refused=2, same=True),
    **changing("--weight w", "--rows 10:115"),
}
BOTH = Case("--correct right --confidence stated", "answers", refused=2)
OF_ANSWERS = dict.fromkeys(("--correct", "--confidence"), BOTH)
OF_ROWS = {**OF_COLUMNS, **OF_ANSWERS, **changing("--where 'w >= 2'")}
OF_A_NOTION = changing("--notion confidence", "--pos-label 0")
OF_MEASURING = {
    "--clip": Case("--clip 0.01", "impossible"),
    **changing("--metrics nll,rmsce", "--bins 7", "--binning equal-mass", "--level 0.5", "--resamples 12", "--seed 5"),
}
IN_BATCHES = {"--on-error": Case("--on-error skip", same=True, idle=True), **changing("--sample 90")}
WRITING = {"--output": Case(says="wrote "), "--force": Case("--force", says="wrote ", idle=True)}

CASES = {
    "assess": {
        "files": Case(says="120 rows, 2 classes, event: class 1"),
        "--json": Case("--json", says='"rows": 120'),
        "--fail-if": Case("--fail-if 'ece > 0'", code=1),
        **IN_BATCHES,
        **OF_ROWS,
        **OF_A_NOTION,
        **OF_MEASURING,
    },
    "test": {
        "files": Case(says="120 rows, event: class 1"),
        "--json": Case("--json", says='"rows": 120'),
        "--fail-below": Case("--fail-below 0.9", code=1),
        "--resamples": Case("--resamples 77", says="77 draws"),
        **changing("--tests cox", "--seed 5"),
        **IN_BATCHES,
        **OF_ROWS,
        **OF_A_NOTION,
    },
    "advise": {"file": Case(says="120 of 120 rows"), **OF_ROWS, **changing("--other g.csv", "--seed 5")},
    "compare": {
        "files": Case(says="120 rows, 2 classes"),
        "--calibrators": Case("--calibrators 'beta, temperature --safe'", says="f + temperature --safe"),
        "--id": Case(instead="g.csv f.csv --id key", file="keys", says="111 rows, 2 classes"),
        "--by": Case("--by w", says="w 3"),
        "--overlapping": Case("--by w --overlapping --metric ece", says="any group"),
        "--over": Case(instead="f.csv --over w", says="period"),
        "--every": Case(instead="f.csv --over day --every month", file="dated", says="2024-02"),
        "--jobs": Case("--jobs 1", same=True, idle=True),
        "--memory": Case("--memory kept", same=True, idle=True),
        "--model": Case(instead="f.csv --model who --id key", file="models", says="60 rows, 2 classes"),
        "--forecasts": Case(instead="f.csv --forecasts old,new", file="beside", refused=2, says="Keep old"),
        "--names": Case("--names old", says="old + platt"),
        "--metric": Case("--metric brier,ece", says="all rows"),
        "--level": Case("--level 0.5", says="50% interval"),
        "--json": Case("--json", says='"recommended": "'),
        "--fail-if": Case("--fail-if 'nll.difference < 1'", code=1),
        "--force": Case("--force", idle=True),
        **OF_ROWS,
        **changing("--folds 3", "--seed 5", "--report out.htm", "--metric ece --pos-label 0", "--metric ece --bins 4"),
        **changing("--metric ece --binning equal-mass", "--metric ece --resamples 29"),
    },
    "fit": {
        "file": Case(says="on 120 rows"),
        **IN_BATCHES,
        **OF_ROWS,
        **changing("--other g.csv", "--method platt", "--notion top-label", "--method beta --set parameters=ab"),
        **changing("--safe"),
        **WRITING,
    },
    "apply": {
        "calibrator": Case(says="120 rows"),
        "file": Case(says="calibrated p_0, p_1"),
        **OF_ROWS,
        # Columns that were fitted are found. Labels and weights are for fitting: here they are copied, whatever their names.
        **{option: replace(OF_COLUMNS[option], idle=True) for option in ("--prob", "--logit", "--label")},
        "--weight": Case("--weight w", same=True, idle=True),
        "--classes": Case("--classes b,a", "classes", code=2),
        "--on-error": IN_BATCHES["--on-error"],
        "--top": Case(instead="top.json f.csv -o out.csv --top", says="predicted, probability"),
        **WRITING,
    },
    "export": {
        "calibrator": Case(says="TemperatureScaling for sql"),
        "--columns": Case("--columns '\"a,c\", b'", says='r."a,c"'),
        **changing("--output out.js --to js", "--dialect sqlite", "--table scored", "--keep id,day"),
        **WRITING,
    },
    "decide": {
        "file": Case(says="class 1 from a probability of 0.5 on"),
        "--extra": Case("--costs '0,4,1;1,0,1' --extra ask", says="ask"),
        "--target-risk": Case("--target-risk 0.45", says="the true error rate is at most 0.45"),
        **OF_ROWS,
        **changing("--costs '0,4;1,0'"),
        **WRITING,
    },
    "report": {
        "files": Case(says="From “f” to “g”, on the same 120 rows"),
        "--calibrator": Case("--calibrator calibrator.json", says="f, calibrated"),
        "--names": Case("--names old,new", says="From “old” to “new”"),
        "--picture": Case(instead="f.csv -o out.html --picture out.svg", says="out.html and out.svg"),
        "--on-error": Case("--on-error skip", idle=True),
        **OF_ROWS,
        **OF_A_NOTION,
        **OF_MEASURING,
        **changing("--sample 90", "--title Monday"),
        **WRITING,
    },
    "plan": {
        "file": Case(says="those of the pilot's 120 rows"),
        **OF_COLUMNS,
        "--label": Case("--label outcome", "label", same=True, idle=True),  # labels are not needed
        "--width": Case(instead="--width 0.5 --event-rate 0.3 --metric calibration-slope", says="of the slope"),
        "--guarantee": Case(instead="--guarantee 0.1 --level 0.1", says="2,660 rows"),
        "--classes": Case(instead="--guarantee 0.1 --classes 10 --level 0.1", says="38,200 rows"),
        "--accuracy": Case(instead="--detect 0.2 --classes 3 --accuracy 0.6", says="accuracy 0.6"),
        "--event-rate": Case(instead="--detect 0.2 --event-rate 0.3", says="event rate 0.3"),
        "--auc": Case(instead="--detect 0.2 --event-rate 0.3 --auc 0.9", says="ROC curve 0.9"),
        "--metric": Case("--metric rmsce", says="true RMSCE of 0.15"),
        "--wrong": Case("--wrong 'too high'", says="too high predictions"),
        "--power": Case("--power 0.6", says="power 0.6"),
        "--level": Case("--level 0.2", says="level 0.2"),
        "--json": Case("--json", says='"figure": "power"'),
        **changing("--detect 0.2", "--notion confidence", "--bins 5", "--binning equal-mass", "--seed 5"),
    },
    "monitor": {
        "files": Case(says="f (reference)  120"),
        "--window": Case("--window 40", says="rows 40:80"),
        "--by": Case("--by w", says="w 3"),
        "--alpha": Case("--alpha 0.01", says="it takes evidence of 100"),
        "--fail-on-alarm": Case("--fail-on-alarm", "impossible", code=1),
        "--state": Case("--state state.json", idle=True),
        "--json": Case("--json", says='"drift_evidence": null'),
        **OF_COLUMNS,
        **OF_A_NOTION,
        **changing("--time w", "--reference 0", "--bins 7", "--resamples 12"),
        **WRITING,
    },
    "demo": WRITING,
    "list": {"kind": Case(instead="tests", says="kuiper")},
}


def options(command):
    """Every option and every file of a command, by its longest name."""
    return {max(a.option_strings, key=len, default=a.dest) for a in command._actions} - {"--help"}


def commands():
    (found,) = (action for action in parser()._actions if isinstance(action, argparse._SubParsersAction))
    return found.choices


def test_every_option_of_every_command_has_an_exercise():
    assert "--version" in options(parser())
    known = {name: options(command) for name, command in commands().items()}
    assert known == {name: set(cases) for name, cases in CASES.items()}


NAMED = {case.file: case.words for case in OF_ROWS.values() if case.file in ("logit", "classes", "answers")}
"""How the columns of a table are named to a calibrator of its own."""


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """A folder for each table, with a calibrator of its columns."""
    home = tmp_path_factory.mktemp("options")
    for name, table in FILES.items():
        (home / name).mkdir()
        write_table(home / name / "f.csv", table)
        other = {key: column[:111][::-1] for key, column in table.items()} if name == "keys" else table
        write_table(home / name / "g.csv", other)
        of = name if name in NAMED else "plain"
        words = NAMED.get(name, "").split()
        fitted = [home / of / "f.csv", "-o", home / name / "calibrator.json", "--method", "temperature", *words]
        assert cli.main(list(map(str, ["fit", *fitted]))) == 0
    fitted = [home / "plain" / "f.csv", "-o", home / "plain" / "top.json", "--notion", "top-label"]
    assert cli.main(list(map(str, ["fit", *fitted]))) == 0
    return home


@pytest.fixture(scope="module")
def answers():
    """What plain commands answered: they are asked again and again."""
    return {}


@pytest.fixture
def run(folders, answers, capsys, monkeypatch):
    def run(folder, words, *, keep=False):
        if not keep and (known := answers.get((folder, *words))) is not None:
            return known
        monkeypatch.chdir(folders / folder)
        capsys.readouterr()
        code = cli.main(list(map(str, words)))
        out, err = capsys.readouterr()
        written = {path.name: path.read_text("utf-8") for path in sorted(Path().glob("out.*"))}
        if not keep:
            [path.unlink() for path in Path().glob("out.*")]
            answers[folder, *words] = (code, out, err, written)
        return code, out, err, written

    return run


EACH = [(command, option) for command, cases in CASES.items() for option in cases]


@pytest.mark.usefixtures("few_draws", "bare_default")
@pytest.mark.filterwarnings("ignore::calibrant.exceptions.CalibrationWarning")
@pytest.mark.parametrize(("command", "option"), EACH, ids=[" ".join(pair) for pair in EACH])
def test_an_option_does_something(command, option, run, monkeypatch):
    case, plain = CASES[command][option], PLAIN[command]
    if command == "demo":
        few = tuple(array[:100] for array in load_digits_forecast())
        monkeypatch.setattr("calibrant.cli.compare.load_digits_forecast", lambda: few)
    if command == "compare":  # the seconds of a fit are never the same
        monkeypatch.setattr("calibrant.assessment.compared_rows.time.perf_counter", lambda: 0.0)
    if option == "--force":
        (name,) = run(case.file, plain, keep=True)[3]
        Path(name).write_text("mine")
        code, _, err, kept = run(case.file, plain, keep=True)
        assert (code, kept) == (2, {name: "mine"})
        assert f"{name} already exists. Pass --force (force=True in Python), or choose another name." in err
    words = [command, *shlex.split(case.instead)] if case.instead else [*plain, *shlex.split(case.words)]
    code, out, err, written = run(case.file, words)
    assert code == case.code, err
    assert any(case.says in text for text in (out, *written.values()))
    assert "mine" not in written.values()
    if option in ("--force", "--output"):
        assert list(written) == [next(word for word in plain if str(word).startswith("out."))]
    if case.same:
        _require_same((code, out, written), run("plain", plain))
    if words != plain and not case.idle:
        other = run(case.file, plain)
        assert other[0] == case.refused
        assert other != (code, out, err, written)


def _require_same(found, plain):
    """The same is printed, but for the options that `advise` repeats; probabilities in CSV files agree as numbers."""
    said, expected = (
        [line for line in out.splitlines() if not line.startswith("calibrant fit")] for out in (found[1], plain[1])
    )
    assert (found[0], said) == (plain[0], expected)
    for name in {"out.csv"} & found[2].keys():  # that `apply` and `decide` write
        Path("one.csv").write_text(found[2][name], "utf-8")
        Path("other.csv").write_text(plain[3][name], "utf-8")
        one, other = read_table("one.csv"), read_table("other.csv")
        for column in {"p_0", "p_1", "expected_cost"} & one.keys() & other.keys():
            scale = one[column].max() / other[column].max()  # `decide` copies percent as percent
            np.testing.assert_allclose(one[column] / scale, other[column], rtol=1e-12)


def test_the_versions_are_printed(capsys):
    show_versions()
    shown = capsys.readouterr().out
    with pytest.raises(SystemExit) as end:
        cli.main(["--version"])
    assert end.value.code == 0
    assert capsys.readouterr().out == shown
