"""Bad use of the command line: exit code 2, one line on stderr that says what to do, and nothing written."""

import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from calibrant import cli
from calibrant.cli.options import parser

GOOD = "label,p_0,p_1\n0,0.7,0.3\n1,0.4,0.6\n1,0.2,0.8\n0,0.1,0.9\n"


def test_the_exit_codes_are_those_of_the_page():
    page = (Path(__file__).parents[2] / "docs" / "reliability.md").read_text("utf-8")
    said = [int(code) for code in re.findall(r"^\| ([0-9]+) \| ", page, flags=re.M)]
    assert said[:4] == [cli.OK, cli.GATE_FAILED, cli.BAD_USE, cli.BROKEN]


@pytest.fixture
def folder(monkeypatch, tmp_path):
    """An empty folder with one good file and a calibrator fitted on it."""
    monkeypatch.chdir(tmp_path)
    Path("good.csv").write_text(GOOD)
    Path("good2.csv").write_text(GOOD)
    assert cli.main(["fit", "good.csv", "-o", "c.json"]) == 0
    return tmp_path


@pytest.fixture
def refused(capsys, folder):
    """Run the command line, expect a refusal, and return its message."""

    def refused(*words):
        before = {path: path.read_bytes() for path in folder.iterdir() if path.is_file()}
        capsys.readouterr()
        code = cli.main(list(words))
        out, err = capsys.readouterr()
        assert code == cli.BAD_USE
        assert out == ""
        assert {path: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before
        *said, message = err.splitlines()
        assert all(": reading " in line for line in said)
        assert message.startswith("calibrant: error: ")
        return message.removeprefix("calibrant: error: ")

    return refused


PARTS = r".*\b(must|needs?|belongs?|is|are|was)\b.*[;:,] .*\. \S.*"
"""What must hold; what was given and where. What to do."""


# Files

FILES = {
    "missing": ("nothing.csv", None, r"file must exist; got nothing\.csv"),
    "empty": ("f.csv", "", r"f\.csv must hold a table; it is empty"),
    "header only": ("f.csv", "label,p_0,p_1\n", r"f\.csv must hold at least one row; it has none"),
    "ragged": ("f.csv", "label,p_0,p_1\n0,.5,.5\n1,.5,.5,.5\n", r"f\.csv must be readable; it is not: "),
    "a short line": ("f.csv", "label,p_0,p_1\n0,.5,.5\n1,.5\n", r"f\.csv must be readable; it is not: "),
    "a name twice": ("f.csv", "label,p_0,p_0\n0,.5,.5\n", r"more than once"),
    "mixed types": ("f.csv", "label,p_0,p_1\n0,.5,.5\n1,a,.5\n", r"numbers in the column 'p_0'; got 'a' in row 1"),
    "a missing number": ("f.csv", "label,p_0,p_1\n0,.5,.5\n1,,1\n", r"must be finite; got nan at index \(1, 0\)"),
    "a missing label": (
        "f.csv",
        "label,p_0,p_1\n0,.5,.5\n,0,1\n",
        r"y_true must hold class labels.*; got nan at index 1",
    ),
    "labels that are probabilities": (
        "f.csv",
        "label,p_0,p_1\n.5,.5,.5\n",
        r"y_true must hold class labels.*; got 0\.5",
    ),
    "no label": ("f.csv", "p_0,p_1\n.5,.5\n", r"f\.csv must have a label column; it has 'p_0', 'p_1'\. .*--label"),
    "no forecast": ("f.csv", "label,a\n0,.5\n", r"f\.csv must have forecast columns; it has 'a'\. .*--prob"),
    "two labels": ("f.csv", "label,y,p_0,p_1\n0,0,.5,.5\n", r"label column must be clear; .* 'label', 'y'\. .*--label"),
    "two forecasts": ("f.csv", "label,p_0,p_1,z_0,z_1\n0,.5,.5,1,2\n", r"must be clear; .*--prob or --logit"),
    "one class of a table": ("f.csv", "label,p_0\n2,.5\n3,.5\n", r"y_true must be 0 and 1.*; got 2, 3\..*--classes"),
    "negative": ("f.csv", "label,p_0,p_1\n0,-.5,1.5\n", r"probabilities in \[0, 1\]; got -0\.5 at index \(0, 0\)"),
    "sums": ("f.csv", "label,p_0,p_1\n0,.5,.5\n1,.5,.6\n", r"sum to one within 0\.001; got 1\.1 in row 1.*--normalize"),
    "logits": ("f.csv", "label,p_0,p_1\n0,3.1,-.5\n", r"in \[0, 1\]; got 3\.1 at index \(0, 0\).*Here: --logit"),
    "percent": ("f.csv", "label,p_0,p_1\n0,97,3\n", r"in \[0, 1\]; got 97 at index \(0, 0\).*Here: --percent\."),
    "votes": ("f.csv", "label,p_0,p_1\n0,7,3\n", r"in \[0, 1\]; got 7 at index \(0, 0\).*Here: --normalize\."),
    "a class too many": ("f.csv", "label,p_0,p_1\n0,.5,.5\n2,.5,.5\n", r"names of columns; got 2 .*--classes"),
    "unknown words": ("f.csv", "label,p_cat,p_dog\nCat,.5,.5\n", r"names of columns; got 'Cat' .*--classes"),
    "unknown ending": ("f.txt", GOOD, r"must end in \.csv, .*; got 'f\.txt'\. Rename"),
    "no text": ("f.csv", "\x00\x01\x02", r"f\.csv must "),
}


@pytest.mark.parametrize(("name", "text", "message"), FILES.values(), ids=FILES)
def test_a_bad_file_is_refused(name, text, message, refused):
    if text is not None:
        Path(name).write_text(text)
    told = refused("assess", name)
    assert re.search(message, told)
    assert re.fullmatch(PARTS, told)


# Words

WORDS = {
    "unknown label": (["assess", "good.csv", "--label", "truth"], r"must have the column 'truth'; it has 'label'"),
    "unknown column": (["assess", "good.csv", "--prob", "q_*"], r"must have the column 'q_\*'; it has 'p_0', 'p_1'"),
    "unknown weight": (["assess", "good.csv", "--weight", "w"], r"must have the column 'w'; it has"),
    "two forecasts": (["assess", "good.csv", "--prob", "p_*", "--logit", "p_*"], r"probabilities or logits; got --prob"),
    "rows": (["assess", "good.csv", "--rows", "1-2"], r"--rows must be START:STOP.*; got '1-2'"),
    "no rows": (["assess", "good.csv", "--rows", "9:"], r"must hold at least one row; got shape"),
    "too few classes": (["assess", "good.csv", "--classes", "0"], r"name each of the 2 columns once; got \[0\]"),
    "classes of words": (["assess", "good.csv", "--classes", "a,b"], r"must be numbers .*; got 'a', and labels such as 0"),
    "several weights": (["assess", "good.csv", "--weight", "p_*"], r"--weight must name one column of good\.csv; got 'p_\*'"),
    "several labels": (["assess", "good.csv", "--label", "label,p_0"], r"--label must name one column of .*'label', 'p_0'"),
    "too many bins": (["assess", "good.csv", "--bins", "100000000"], r"--bins must be at most 10000; got 100000000\."),
    "classes that are not the columns'": (
        ["assess", "good.csv", "--classes", "1,0"],
        r"--classes must name the columns of good\.csv in their order; got '1,0' for the columns p_0, p_1\. Leave --classes",
    ),
    "method": (["fit", "good.csv", "--method", "temprature", "-o", "o.json"], r"got 'temprature'\. Did you mean 'temperature'"),
    "notion": (["fit", "good.csv", "--method", "isotonic", "--notion", "claswise", "-o", "o.json"], r"mean 'class-wise'"),
    "a notion too many": (
        ["fit", "good.csv", "--method", "temperature", "--notion", "class-wise", "-o", "o.json"],
        r"--notion belongs to methods of one",
    ),
    "a parameter": (
        ["fit", "good.csv", "--method", "vector", "--set", "bais=0", "-o", "o.json"],
        r"--set .*\(bias, .*got 'bais",
    ),
    "no value": (
        ["fit", "good.csv", "--method", "vector", "--set", "bias", "-o", "o.json"],
        r"--set must be NAME=.*got 'bias'",
    ),
    "safe twice": (["fit", "good.csv", "--method", "safe", "--safe", "-o", "o.json"], r"--safe must stand beside a method"),
    "safe without": (
        ["fit", "good.csv", "--method", "beta", "--set", "safe.caution=2", "-o", "o.json"],
        r"--set safe\.NAME=VALUE must stand beside",
    ),
    "costs in words": (["decide", "good.csv", "--costs", "a,b;c,d"], r"--costs must be numbers between commas; got 'a,b'"),
    "ragged costs": (["decide", "good.csv", "--costs", "0,1;1"], r"--costs must have rows of one length; got '0,1;1'"),
    "names": (["report", "good.csv", "-o", "o.html", "--names", "a,b"], r"needs a name of its own; got \['a', 'b'\] for 1"),
    "one name twice": (["report", "good.csv", "good.csv", "-o", "o.html"], r"needs a name of its own; got \['good', 'good'\]"),
    "no calibrator": (["apply", "no.json", "good.csv", "-o", "o.csv"], r"file that can be read; got no\.json: No such file"),
    "a table as calibrator": (["apply", "good.csv", "good.csv", "-o", "o.csv"], r"must be a calibrator file \(JSON\); it is"),
    "logits": (["apply", "c.json", "good.csv", "--logit", "p_*", "-o", "o.csv"], r"fitted on 2 probability .*--prob"),
    "report of logits": (
        ["report", "good.csv", "--logit", "p_*", "--calibrator", "c.json", "-o", "o.html"],
        r"fitted on 2 probability columns; good\.csv gives 2 logit columns\. .*--prob",
    ),
    "no top pair": (
        ["apply", "c.json", "good.csv", "--top", "-o", "o.csv"],
        r"--top must have a calibrator of single scores, .*; got c\.json, a SafeCalibrator\. Fit one with --notion",
    ),
    "a gate": (["assess", "nothing.csv", "--fail-if", "top-label-ec > 0.1"], r"'top-label-ec'\. Did you mean 'top-label-ece'"),
    "a gate without figure": (["assess", "good.csv", "--fail-if", "nll.pvalue < 0.05"], r"nll has no pvalue\. Use its"),
    "a gate on tce": (
        ["assess", "good.csv", "--metrics", "tce", "--fail-if", "tce.lower > 5"],
        r"tce has no lower\. Use its value, noise_floor, pvalue\.",
    ),
    "a gate on an attribute": (["assess", "good.csv", "--fail-if", "ece.rows > 0"], r"must be one of 'value', .*'rows'"),
    "a figure": (["assess", "good.csv", "--fail-if", "ece.lowr > 0"], r"got 'lowr'\. Did you mean 'lower'\?"),
    "a binning": (["assess", "good.csv", "--binning", "quantile"], r"got 'quantile'\. Did you mean 'equal-mass'\?"),
    "a test": (["test", "good.csv", "--tests", "spiegelhalder"], r"Did you mean 'spiegelhalter'\?"),
    "another question": (["test", "good.csv", "--tests", "equivalence"], r"--tests must ask whether"),
    "a level": (["test", "good.csv", "--fail-below", "5"], r"--fail-below must be a fraction in \(0, 1\); got 5"),
    "no level": (["test", "good.csv", "--fail-below", "nan"], r"--fail-below must be a fraction in \(0, 1\); got nan"),
    "a small level": (
        ["test", "nothing.csv", "--fail-below", "0.001"],
        r"6/1001 = 0\.006 \(hosmer-lemeshow, resampling\)\. Pass --resamples 6000 or more",
    ),
    "format of batches": (
        ["apply", "c.json", "good.csv", "-o", "rows.npz", "--on-error", "skip"],
        r"must be Parquet, Feather or CSV where rows are read in batches; got rows\.npz\. Rename it",
    ),
    "format": (["apply", "c.json", "good.csv", "-o", "out.txt"], r"must end in \.csv"),
    "name of a calibrator": (["fit", "good.csv", "-o", "cal.csv"], r"the output must end in \.json; got 'cal\.csv'"),
    "name of a page": (["report", "good.csv", "-o", "x.txt"], r"the output must end in \.html or \.htm; got 'x\.txt'"),
    "name of a demo": (["demo", "-o", "new/x.pdf"], r"the output must end in \.html or \.htm; got 'x\.pdf'"),
    "columns of no query": (
        ["export", "c.json", "--to", "js", "--columns", "a,b", "-o", "o.js"],
        r"--columns must be left out with --to js; got 'a,b'\. It is of a query: --to sql",
    ),
    "a dialect of no query": (
        ["export", "c.json", "--to", "numpy", "--dialect", "sqlite", "-o", "o.py"],
        r"--dialect must be left out with --to numpy; got 'sqlite'",
    ),
    "a table without a name": (
        ["export", "c.json", "--to", "sql", "--table", "", "-o", "o.sql"],
        r"table must be the name of a table; got ''",
    ),
    "a column without a name": (
        ["export", "c.json", "--to", "sql", "--keep", "id,", "-o", "o.sql"],
        r"each of keep must be a name; got ''",
    ),
    "a name without end": (
        ["export", "c.json", "--to", "sql", "-o", "o" * 253 + ".sql"],
        r"the output's name must have at most 255 bytes; got 257\. Choose a shorter",
    ),
    "other columns": (
        ["apply", "c.json", "good.csv", "--prob", "p_0", "-o", "o.csv"],
        r"fitted on 2 probability columns; good\.csv gives 1 probability columns\. .*--prob",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("words", "message"), WORDS.values(), ids=WORDS)
def test_bad_words_are_refused(words, message, refused):
    told = refused(*words)
    assert re.search(message, told)
    assert re.fullmatch(PARTS, told)


def test_a_name_that_the_output_cannot_show_is_no_error(folder, monkeypatch):
    """Exit code 2 would say that nothing was written."""
    shown = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(shown, encoding="ascii"))
    assert cli.main(["fit", "good.csv", "-o", "é.json"]) == 0
    assert b"wrote \\xe9.json" in shown.getvalue()
    assert Path("é.json").exists()


def test_too_little_memory_is_told_with_what_to_do(refused, monkeypatch):
    def full(*_, **__):
        raise MemoryError("Unable to allocate 3.73 GiB")

    monkeypatch.setattr("calibrant.cli.inputs.assess", full)
    told = refused("assess", "good.csv")
    assert "that of good.csv does not: Unable to allocate 3.73 GiB. Pass a smaller --bins or --resamples" in told


@pytest.mark.parametrize("words", ["", "assess", "fit good.csv", "apply c.json -o o.csv", "assess good.csv --bins x"])
def test_bad_grammar_ends_with_code_two_and_the_usage(words, folder, capsys):
    with pytest.raises(SystemExit) as end:
        cli.main(words.split())
    assert end.value.code == cli.BAD_USE
    assert "usage: calibrant" in capsys.readouterr().err


# Gates


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "ece",
            "ece == 0.05",
            "ece > 0..5",
            "ece > \u0665.5",
            "ece > nan",
            "ece > inf",
            "ece > nll",
            "ece > 0.05 or 1",
        ),
        "__import__('pathlib').Path('pwned').touch() > 0",
        "ece > __import__('pathlib').Path('pwned').touch()",
    ],
)
def test_a_gate_of_another_form_is_refused_and_never_evaluated(text, refused):
    assert refused("assess", "good.csv", "--fail-if", text) == (
        f"--fail-if must read METRIC[.FIELD] OP NUMBER, with a finite number; got {text!r}. For example 'ece > 0.05'."
    )
    assert not Path("pwned").exists()


# Outputs

WRITERS = {
    "fit": ["fit", "good.csv", "-o", "out.json"],
    "apply": ["apply", "c.json", "good.csv", "-o", "out.csv"],
    "report": ["report", "good.csv", "-o", "out.html", "--resamples", "9"],
}

each_writer = pytest.mark.parametrize("words", WRITERS.values(), ids=WRITERS)


def output(words):
    return words[words.index("-o") + 1]


@each_writer
def test_an_output_that_exists_is_kept_unless_forced(words, refused):
    Path(output(words)).write_text("mine")
    told = refused(*words)
    assert told == f"{output(words)} already exists. Pass --force (force=True in Python), or choose another name."
    assert cli.main([*words, "--force"]) == cli.OK
    assert Path(output(words)).read_text() != "mine"


def test_calibrated_columns_never_replace_others(refused):
    Path("f.csv").write_text("label,p_0,z_0,z_1\n0,7,0.7,0.3\n1,8,0.4,0.6\n1,9,0.9,0.8\n")
    assert cli.main(["fit", "f.csv", "--method", "temperature", "--logit", "z_*", "-o", "z.json"]) == 0
    told = refused("apply", "z.json", "f.csv", "--logit", "z_*", "-o", "out.csv")
    assert told.startswith("calibrated columns need names of their own; f.csv already has p_0.")


# Accidents while writing


def test_control_characters_of_a_file_are_shown_and_not_obeyed(folder, capsys):
    with open("evil.csv", "w") as file:
        file.write("label,p\n1,\x1b[31mhalf\x07\n")
    assert cli.main(["assess", "evil.csv"]) == 2
    said = capsys.readouterr().err
    assert "\\x1b[31mhalf\\x07" in said
    assert "\x1b" not in said


@pytest.mark.parametrize("cell", ["x" * 5000, "x y " * 2000])
def test_what_no_person_reads_is_left_out_of_an_error(cell, refused):
    Path("bad.csv").write_text(GOOD + f"1,{cell},0.5\n")
    message = refused("assess", "bad.csv")
    assert "must hold numbers in the column 'p_0'; got 'x" in message
    assert "Correct the column" in message
    assert len(message) < 1400


# Words that are nearly right


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["asses", "good.csv"], "'assess'"),
        (["assess", "good.csv", "--nbins", "5"], "'--bins'"),
        (["report", "good.csv", "-o", "r.html", "--tittle=x"], "'--title'"),
        (["list", "metric"], "'metrics'"),
        (["assess", "good.csv", "--on-error", "skp"], "'skip'"),
    ],
)
def test_an_unknown_word_names_the_nearest_one(words, meant, folder, capsys):
    with pytest.raises(SystemExit, match="2"):
        cli.main(words)
    assert capsys.readouterr().err.strip().endswith(f"Did you mean {meant}?")


# Standard output


@pytest.mark.parametrize("words", [["list"], ["assess", "good.csv", "--resamples", "5"], ["--help"]])
def test_a_reader_that_stops_ends_the_command_as_a_pipe_does(words, folder, monkeypatch, capfd):
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as pipe:
        monkeypatch.setattr("sys.stdout", pipe)
        assert cli.main(words) == 141
    assert "error" not in capfd.readouterr().err


COMMANDS = {
    "assess": "good.csv --json --resamples 5",
    "test": "good.csv --json",
    "advise": "good.csv",
    "compare": "good.csv",
    "fit": "good.csv -o other.json",
    "apply": "c.json good.csv -o other.csv",
    "export": "c.json --to js -o other.js",
    "decide": "good.csv -o other.csv",
    "report": "good.csv -o other.html",
    "monitor": "good.csv --state other.json",
    "plan": "--classes 2 --detect 0.1",
    "list": "metrics",
    "demo": "-o other.html",
    "--version": "",
    "--help": "",
}
CLOSED, FULL = (
    "standard output must be open; it is closed. Send it",
    "standard output must be .*; the system says: No space",
)
UNPRINTED = [
    *((words, ">&-", CLOSED) for words in COMMANDS),
    *((words, "> /dev/full", FULL) for words in ("assess", "--help")),
]


def test_each_command_is_tried():
    (commands,) = (action.choices for action in parser()._actions if isinstance(action.choices, dict))
    assert set(commands) <= set(COMMANDS)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")
@pytest.mark.parametrize(("command", "where", "why"), UNPRINTED)
def test_what_cannot_be_printed_is_said(command, where, why, folder):
    line = f"{sys.executable} -m calibrant {command} {COMMANDS[command]} {where}"
    run = subprocess.run(line, shell=True, stderr=subprocess.PIPE, text=True, check=False)
    told = run.stderr.splitlines()[-1].removeprefix("calibrant: error: ")
    assert run.returncode == cli.BAD_USE
    assert re.match(why, told)
    assert re.fullmatch(PARTS, told)
    assert not list(Path().glob("other.*"))


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")
@pytest.mark.parametrize("where", ["2>&-", "2> /dev/full"])
@pytest.mark.parametrize(
    ("words", "code"),
    [("good.csv --json", 0), ("good.csv --json --fail-if 'ece > 1e-9'", 1), ("nowhere.csv", 2), ("good.csv --best", 2)],
)
def test_the_exit_code_is_that_of_the_command_where_notes_are_lost(words, code, where, folder):
    line = f"{sys.executable} -m calibrant assess --resamples 5 {words} {where}"
    run = subprocess.run(line, shell=True, stdout=subprocess.PIPE, text=True, check=False)
    assert run.returncode == code
    assert code == 2 or json.loads(run.stdout)["rows"] > 0
    assert code != 2 or run.stdout == ""
