"""Bad use of the command line: exit code 2, one line on stderr that says what to do, and nothing written."""

import io
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from calibrant import cli

GOOD = "label,p_0,p_1\n0,0.7,0.3\n1,0.4,0.6\n1,0.2,0.8\n0,0.1,0.9\n"
KEYS = "key,label,p\nq0,0,0.2\nq1,1,0.7\nq2,1,0.6\nq3,0,0.1\n"
DATED = "day,site,label,p\n2026-09-05,1,0,0.2\n2026-10-05,2,1,0.7\n2026-10-05,2,0,0.6\n"


def test_the_exit_codes_are_those_of_the_page():
    page = (Path(__file__).parents[2] / "docs" / "reliability.md").read_text("utf-8")
    said = [int(code) for code in re.findall(r"^\| ([0-9]+) \| ", page, flags=re.M)]
    assert said[:4] == [cli.OK, cli.GATE_FAILED, cli.BAD_USE, cli.BROKEN]


@pytest.fixture
def folder(shell):
    """Good files, and a calibrator fitted on one."""
    for name, text in {"good": GOOD, "good2": GOOD, "keys": KEYS, "dated": DATED}.items():
        Path(f"{name}.csv").write_text(text)
    Path("z.csv").write_text("label,p_0,z_0,z_1\n0,7,0.7,0.3\n1,8,0.4,0.6\n1,9,0.9,0.8\n0,1,0.1,0.2\n")
    Path("good.txt").write_text(GOOD)
    Path("days").mkdir()
    Path("days/1.csv").write_text("y,p,day,country\n0,0.2,2026-11-01,A\n1,0.7,2026-11-01,B\n")
    shell.out("fit", "good.csv", "-o", "c.json")
    shell.out("fit", "z.csv", "--method", "temperature", "--logit", "z_*", "-o", "z.json")
    return shell


PARTS = r".*\b(must|needs?|belongs?|is|are|was)\b.*[;:,] .*\. \S.*"
"""What must hold; what was given and where. What to do."""


def refused(folder, words, message):
    told = folder.refuses("calibrant: error: ", *shlex.split(words))
    assert re.search(message, told)
    assert re.fullmatch(PARTS, told)
    assert len(told) < 1400
    assert "\x1b" not in told


ASSESS = "assess f.csv"
ANSWERS = "assess f.csv --correct r --confidence s"
COMPARE = "compare keys.csv f.csv --prob p"
FILES = [
    ("assess nothing.csv", "", r"file must exist; got nothing\.csv"),
    (ASSESS, "", r"f\.csv must hold a table; it is empty"),
    (ASSESS, "label,p_0,p_1\n", r"f\.csv must hold at least one row; it has none"),
    (ASSESS, "label,p_0,p_1\n.5,.5,.5\n", r"exchange the two arguments\. Here: --label with the column"),
    (ASSESS, "label,p_0,p_1\n0,.5,.5\n1,.5,.5,.5\n", r"f\.csv must be readable; it is not: "),
    (ASSESS, "label,p_0,p_1\n0,.5,.5\n1,.5\n", r"f\.csv must be readable; it is not: "),
    (ASSESS, "label,p_0,p_0\n0,.5,.5\n", r"more than once"),
    (ASSESS, "label,p_0,p_1\n0,.5,.5\n1,a,.5\n", r"numbers in the column 'p_0'; got 'a' in row 1"),
    (ASSESS, "label,p_0,p_1\n0,.5,.5\n1,,1\n", r"must be finite; got nan at index \(1, 0\).*Here: --where"),
    (ASSESS, "label,p_0,p_1\n0,.5,.5\n,0,1\n", r"y_true must hold class labels.*; got nan at index 1\..*Here: --where"),
    (ASSESS, "p_0,p_1\n.5,.5\n", r"f\.csv must have a label column; it has 'p_0', 'p_1'\. .*--label"),
    (ASSESS, "label,a\n0,.5\n", r"f\.csv must have forecast columns; it has 'a'\. .*--prob"),
    (ASSESS, "label,y,p_0,p_1\n0,0,.5,.5\n", r"label column must be clear; .* 'label', 'y'\. .*--label"),
    (ASSESS, "label,p_0,p_1,z_0,z_1\n0,.5,.5,1,2\n", r"must be clear; .*--prob or --logit"),
    (ASSESS, "label,p_0\n2,.5\n3,.5\n", r"y_true must be 0 and 1.*; got 2, 3\..*--classes"),
    (ASSESS, "label,p_0,p_1\n0,.5,.5\n1,.5,.6\n", r"sum to one within 0\.001; got 1\.1 in row 1.*--normalize"),
    (ASSESS, "label,p_0,p_1\n0,3.1,-.5\n", r"in \[0, 1\]; got 3\.1 at index \(0, 0\).*Here: --logit"),
    (ASSESS, "label,p_0,p_1\n0,97,3\n", r"in \[0, 1\]; got 97 at index \(0, 0\).*Here: --percent\."),
    (f"{COMPARE} --percent", KEYS.replace("0.", ""), r"all forecasts; got at most 0\.7 in keys\.csv, 7 in f\.csv"),
    (ASSESS, "label,p_0,p_1\n0,7,3\n", r"in \[0, 1\]; got 7 at index \(0, 0\).*Here: --normalize\."),
    (ASSESS, "label,p_0,p_1\n0,.5,.5\n2,.5,.5\n", r"names of columns; got 2 .*--classes"),
    (ASSESS, "label,p_cat,p_dog\nCat,.5,.5\n", r"names of columns; got 'Cat' .*--classes"),
    (ASSESS, "label,p_1,p_2\n0,.5,.5\n", r"names of columns; got 0 and columns named '1', '2'"),
    (ASSESS, "\x00\x01\x02", r"f\.csv must "),
    (ASSESS, "label,p\n1,\x1b[31mhalf\x07\n", r"\\x1b\[31mhalf\\x07"),
    (ASSESS, GOOD + f"1,{'x' * 5000},.5\n", r"numbers in the column 'p_0'; got 'x.*Correct the column"),
    (ANSWERS, "r,s\nC,.5\n,.5\n", r"'' in row 1\. Leave out what is neither, .*: --where \"r != ''\"\."),
    (ANSWERS, "r,s\nC,1\nI,5\n", r"none above 5\. If they are percent, say --percent"),
    (ANSWERS, "r,s\nC,50\nI,150\n", r"'150' in row 1\. Correct it, or leave it out"),
    (ANSWERS, "r,s\nC,-1\nI,50\n", r"'-1' in row 0"),
    (ANSWERS, "r,s\nC,0.9\nI,95\nI,1\n", r"'0\.9' in row 0\. Write all of them in one way, or say --percent"),
    (ANSWERS, "r,s\nC,90%\nI,0.9\n", r"'90%' in row 0, '0\.9' in row 1\. Write all of them in one way"),
    (f"{ANSWERS} --percent", "r,s\nC,90%\nI,0.9\n", r"'90%' in row 0, '0\.9' in row 1"),
    (ANSWERS, 'r,s\nC,50%\nI,"0,5"\n', r"'0,5' in row 1\. Write decimals with a point, .*: --where \"s != '0,5'\""),
    (f"{COMPARE} --calibrators platt", "label,p\n1,.2\n0,.7\n0,.6\n1,.1\n", "name the column that tells rows by --id"),
    (f"{COMPARE} --by key", "key,label,p\nq1,1,.7\n", "name the column that tells rows by --id"),
    (f"{COMPARE} --id key", KEYS.replace("q0", "q1"), "must name each row once; got 'q1'"),
    (f"{COMPARE} --id key", KEYS.replace("q", "x"), "must have rows in common"),
    (f"{COMPARE} --id key", KEYS.replace("q3", ""), "must name each row; got 1 empty"),
    (f"{COMPARE} --id key", KEYS.replace("key", "id"), r"f\.csv must have the column 'key'"),
    ("compare keys.csv f.csv", "label,p_0,p_1,p_2\n0,.2,.3,.5\n2,.2,.3,.5\n", r"the same classes; got \[0, 1\] in"),
    ("compare f.csv --over day", DATED.replace("2026-09-05", ""), "must have a value in each row; got 1 empty"),
    ("decide f.csv --target-risk 0.1", "p_0,p_1\n.5,.5\n", "--target-risk needs a label column"),
    ("monitor f.csv", "y,p\n", "must hold rows to watch; no row was read"),
    ("monitor f.csv --by g", "y,p,g\n1,.5,A\n0,.5,\n", r"--by g must hold a group in each row; f\.csv has none in 1"),
    ("monitor f.csv --by g", "y,p,g\n1,.5,A\n0,.5,nan\n", r"--by g must hold a group in each row; f\.csv has none in"),
]


@pytest.mark.parametrize(("words", "text", "message"), FILES, ids=[f"{words} {why[:40]}" for words, _, why in FILES])
def test_a_bad_file_is_refused(words, text, message, folder):
    Path("f.csv").write_text(text)
    refused(folder, words, message)


WORDS = [
    ("assess good.txt", r"must end in \.csv, .*; got 'good\.txt'\. Rename"),
    ("assess good.csv --label truth", r"must have the column 'truth'; it has 'label'"),
    ("assess good.csv --prob q_*", r"must have the column 'q_\*'; it has 'p_0', 'p_1'"),
    ("assess good.csv --weight w", r"must have the column 'w'; it has"),
    ("assess good.csv --prob p_* --logit p_*", r"probabilities or logits; got --prob"),
    ("assess good.csv --rows 1-2", r"--rows must be START:STOP.*; got '1-2'"),
    ("assess good.csv --rows 9:", r"--rows must leave rows of good\.csv; got 9: of \d+\. They are counted from 0\."),
    ("assess good.csv --classes 0", r"name each of the 2 columns once; got \[0\]"),
    ("assess good.csv --classes a,b", r"must be numbers .*; got 'a', and labels such as 0"),
    ("assess good.csv --weight p_*", r"--weight must name one column of good\.csv; got 'p_\*'"),
    ("assess good.csv --label label,p_0", r"--label must name one column of .*'label', 'p_0'"),
    ("assess good.csv --bins 100000000", r"--bins must be at most 10000; got 100000000\."),
    ("assess good.csv --correct label", r"--confidence must stand beside --correct"),
    ("assess good.csv good2.csv --correct label --confidence p_1", ""),
    ("assess good.csv --correct label --confidence p_1 --label label", "--label must be left out beside --correct"),
    ("assess good.csv --correct label --confidence p_1 --prob p_1", "--prob must be left out beside --confidence"),
    ("plan good.csv --guarantee 0.1", "Here: without FILE, with --classes K"),
    ("plan --width 0.1 --classes 3 --weight w", "--weight must be left out without FILE"),
    ("assess dated.csv --where day", "--where must read COLUMN OP VALUE"),
    ("assess dated.csv --where 'month > 3'", "must have the column 'month'"),
    ("assess dated.csv --where 'day > 2030-01-01'", r"--where must leave rows of dated\.csv; got none"),
    ("assess dated.csv --where 'day > 5'", "--where must compare numbers with a number, or dates"),
    ("fit good.csv --method temprature -o o.json", r"got 'temprature'\. Did you mean 'temperature'"),
    ("fit good.csv --method isotonic --notion claswise -o o.json", r"mean 'class-wise'"),
    ("fit good.csv --method temperature --notion class-wise -o o.json", r"--notion belongs to methods of one"),
    ("fit good.csv --method vector --set bais=0 -o o.json", r"--set .*\(bias, .*got 'bais"),
    ("fit good.csv --method vector --set bias -o o.json", r"--set must be NAME=.*got 'bias'"),
    ("fit good.csv --method temperature --set a=1 -o o.json", r"has none\); got 'a=1'\. Leave --set out"),
    ("fit good.csv --method safe --safe -o o.json", r"--safe must stand beside a method"),
    ("fit good.csv --method beta --set safe.caution=2 -o o.json", r"--set safe\.NAME=VALUE must stand beside"),
    ("decide good.csv --costs 'a,b;c,d'", r"--costs must be numbers between commas; got 'a,b'"),
    ("decide good.csv --costs '0,1;1'", r"--costs must have rows of one length; got '0,1;1'"),
    ("decide good.csv --target-risk .1 --costs '0,1;1,0'", "--costs must be left out with --target-risk"),
    ("decide good.csv --target-risk 2", r"pass risk=0\.05\. Here: --target-risk 0\.05\."),
    ("report good.csv -o o.html --names a,b", r"needs a name of its own; got \['a', 'b'\] for 1"),
    ("report good.csv good.csv -o o.html", r"needs a name of its own; got \['good', 'good'\]"),
    ("apply no.json good.csv -o o.csv", r"file that can be read; got no\.json: No such file"),
    ("apply good.csv good.csv -o o.csv", r"must be a calibrator file \(JSON\); it is"),
    ("apply c.json good.csv --logit p_* -o o.csv", r"fitted on 2 probability .*--prob"),
    ("apply c.json good.csv --prob p_0 -o o.csv", r"fitted on 2 probability columns; good\.csv gives 1 probability"),
    ("report good.csv --logit p_* --calibrator c.json -o o.html", r"fitted on 2 probability columns; .* 2 logit"),
    ("apply c.json z.csv --prob p_0,z_0 -o o.csv", "columns must be those that were fitted, p_0, p_1"),
    ("apply z.json z.csv --logit z_* -o o.csv", r"^calibrated columns need names of their own; z\.csv already has"),
    ("apply c.json good.csv --top -o o.csv", r"--top must have a calibrator of single scores, .*Fit one with --notion"),
    ("assess nothing.csv --fail-if 'top-label-ec > 0.1'", r"'top-label-ec'\. Did you mean 'top-label-ece'"),
    ("assess good.csv --fail-if 'nll.pvalue < 0.05'", r"nll has no pvalue\. Use its"),
    ("assess good.csv --metrics tce --fail-if 'tce.lower > 5'", r"tce has no lower\. Use its value, noise_floor"),
    ("assess good.csv --fail-if 'ece.rows > 0'", r"must be one of 'value', .*'rows'"),
    ("assess good.csv --fail-if 'ece.lowr > 0'", r"got 'lowr'\. Did you mean 'lower'\?"),
    ("assess nothing.csv --fail-if 'ece.pvalue < 0'", r"can never hold: the p-value of ece is in \[0\.001996, 1\]"),
    ("assess nothing.csv --fail-if 'ece.pvalue <= 1'", "must be a condition that can hold and can fail to .* always"),
    ("assess nothing.csv --fail-if 'calibration-slope.pvalue < 0'", r"the p-value of calibration-slope is in \[0, 1\]"),
    ("assess nothing.csv --fail-if 'accuracy < 80'", r"always holds: accuracy is in \[0, 1\]\. Compare it with a"),
    ("assess nothing.csv --fail-if 'tce > 100'", r"can never hold: tce is in \[0, 100\]"),
    ("assess nothing.csv --fail-if 'ece.lower > 5'", r"can never hold: lower of ece is in \[0, 1\]"),
    ("assess nothing.csv --fail-if 'tce.detectable > 100'", r"can never hold: detectable of tce is in \[0, 100\]"),
    ("assess good.csv --metrics mcb --fail-if 'mcb.pvalue < 0.01' --resamples 99", r"that 99 draws can show is"),
    ("test good.csv --tests equivalence", r"--tests must ask whether.* In Python: calibrant\.equivalence_test\("),
    ("test good.csv --fail-below 5", r"--fail-below must be a fraction in \(0, 1\); got 5"),
    ("test nothing.csv --fail-below 0.001", r"6/1001 = 0\.006 \(hosmer-lemeshow, resampling\)\. Pass --resamples 6000"),
    ("test good.csv --tests kernel --resamples 9 --fail-below .01", r"1/10 = 0\.1 \(kernel\)\. Pass --resamples 100"),
    ("compare keys.csv good.csv --over label", "one forecast must be given with --over; got keys, good"),
    ("compare keys.csv good.csv --every month", "--every"),
    ("compare good.csv good2.csv --names a,", "each file needs a name of its own"),
    ("compare good.csv --forecasts p_0,p_0", "several columns, each once"),
    ("compare good.csv --forecasts p_0,none", "'none'"),
    ("compare good.csv --forecasts p_0,p_1 --prob p_0", "--prob must be left out"),
    ("compare good.csv good.csv --forecasts p_0,p_1", "got 2 files"),
    ("compare keys.csv --model key --id key --names x", "--names must be left out"),
    ("compare good.csv good2.csv --fail-if 'ece > 0.1'", "--fail-if must be about the metric by which candidates are"),
    ("compare good.csv good2.csv --fail-if 'nll.pvalue < 0.01'", "the figure of nll in --fail-if"),
    ("compare good.csv good2.csv --metric accuracy --fail-if 'accuracy.difference > 1'", "can never hold"),
    ("compare good.csv --fail-if 'nll > 0'", "must have a forecast beside the first one; got good alone. Pass another"),
    ("monitor days --window 1d", r"--window 1d must have the time of each row; got none\. Name its column by --time\."),
    ("monitor days --time day --window 50", "--time must be left out where --window is a number of rows"),
    ("monitor days -o out.txt", r"the output must end in \.html or \.csv or \.json; got 'out\.txt'"),
    ("monitor days -o days/below/out.csv", "--output must not be a table in a folder that is watched"),
    ("monitor days --time when", r"must have the column 'when'.*\. Name one that all files have\."),
    ("monitor days --state days/1.csv", "--state must be a file that `calibrant monitor` wrote"),
    ("monitor days --reference days/none.csv", "the file of --reference must exist; got days/none.csv"),
    ("monitor days --prob y --label country", r"days/1\.csv: y_true must be 0 and 1"),
    ("monitor days/1.csv -o days/1.csv --force", "must not be what is read"),
    ("monitor days -o new.json --state new.json", "--output must not be the state"),
    ("monitor keys.csv --reference good.csv -o good.csv --force", "must not be what is read"),
    ("monitor days --reference days/1.csv", r"no file must be read twice; days/1\.csv is the reference\. Keep it"),
    ("apply c.json good.csv -o rows.npz --on-error skip", r"must be Parquet, Feather or CSV where rows are read in"),
    ("apply c.json good.csv -o out.txt", r"must end in \.csv"),
    ("fit good.csv -o cal.csv", r"the output must end in \.json; got 'cal\.csv'"),
    ("report good.csv -o x.txt", r"the output must end in \.html or \.htm; got 'x\.txt'"),
    ("export c.json --to js --columns a,b -o o.js", r"--columns must be left out with --to js; got 'a,b'\. It is of a"),
    ("export c.json --to numpy --dialect sqlite -o o.py", r"--dialect must be left out with --to numpy; got 'sqlite'"),
    ("export c.json --to torch -o net.pt", r"must end in \.py; got 'net\.pt'"),
    (f"export c.json --to sql -o {'o' * 253}.sql", r"the output's name must have at most 255 bytes; got 257\. Choose"),
]


@pytest.mark.parametrize(("words", "message"), WORDS, ids=[words[:80] for words, _ in WORDS])
def test_bad_words_are_refused(words, message, folder):
    refused(folder, words, message)


def test_a_name_that_the_output_cannot_show_is_no_error(folder, monkeypatch):
    """Exit code 2 would say that nothing was written."""
    shown = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(shown, encoding="ascii"))
    assert cli.main(["fit", "good.csv", "-o", "é.json"]) == 0
    assert b"wrote \\xe9.json" in shown.getvalue()
    assert Path("é.json").exists()


def test_too_little_memory_is_told_with_what_to_do(folder, monkeypatch):
    def full(*_, **__):
        raise MemoryError("Unable to allocate 3.73 GiB")

    monkeypatch.setattr("calibrant.cli.inputs.assess", full)
    said = "that of good.csv does not: Unable to allocate 3.73 GiB. Pass a smaller --bins or --resamples"
    folder.refuses(said, "assess", "good.csv")


@pytest.mark.parametrize(
    ("cause", "code", "told"),
    [(None, cli.BROKEN, "ZeroDivisionError"), (KeyboardInterrupt(), 130, "calibrant: interrupted;")],
)
def test_a_defect_is_no_failed_gate_and_an_interrupted_import_is_no_defect(cause, code, told, shell, monkeypatch):
    def broken(*_):
        raise ZeroDivisionError from cause

    monkeypatch.setattr("calibrant.cli.commands.run_list", broken)
    found, _, err = shell("list")
    assert (found, told in err, "Traceback" in err) == (code, True, cause is None)


@pytest.mark.parametrize(
    "words",
    ["", "assess", "fit good.csv", "apply c.json -o o.csv", "assess good.csv --bins x", "assess good.csv --label=--"],
)
def test_bad_grammar_ends_with_code_two_and_the_usage(words, folder):
    folder.refuses("usage: calibrant", *words.split())


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("asses good.csv", "'assess'"),
        ("report good.csv -o r.html --tittle=x", "'--title'"),
        ("advise good.csv --pos-label 1", "'--classes NEGATIVE,POSITIVE'"),
        ("assess good.csv --by label", "'calibrant compare --by' or 'calibrant monitor --by'"),
        ("assess good.csv --on-error skp", "'skip'"),
    ],
)
def test_an_unknown_word_names_the_nearest_one(words, meant, folder):
    assert folder.refuses("", *words.split()).endswith(f"Did you mean {meant}?")


NUMBERS = ["", "0..5", "\u0665.5", "nan", "1e999", "nll", "0.05 or 1"]
CODE = "__import__('pathlib').Path('pwned').touch()"


@pytest.mark.parametrize("text", ["", "ece", "ece == 0.05", *(f"ece > {of}" for of in [*NUMBERS, CODE]), f"{CODE} > 0"])
def test_a_gate_of_another_form_is_refused_and_never_evaluated(text, folder):
    form = "--fail-if must read METRIC[.FIELD] OP NUMBER, with a finite number"
    said = f"{form}; got {text!r}. For example 'ece > 0.05'."
    assert folder.refuses(said, "assess", "good.csv", "--fail-if", text) == said


# Standard output


@pytest.mark.parametrize("words", [["list"], ["assess", "good.csv", "--resamples", "5"], ["--help"]])
def test_a_reader_that_stops_ends_the_command_as_a_pipe_does(words, folder, monkeypatch):
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as pipe:
        monkeypatch.setattr("sys.stdout", pipe)
        code, _, err = folder(*words)
    assert (code, "error" in err) == (141, False)


def in_a_shell(line, **pipes):
    return subprocess.run(f"{sys.executable} -m calibrant {line}", shell=True, text=True, check=False, **pipes)


CLOSED = "standard output must be open; it is closed. Send it"
FULL = "standard output must be .*; the system says: No space"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")
@pytest.mark.parametrize(("line", "why"), [("fit good.csv -o other.json >&-", CLOSED), ("--help > /dev/full", FULL)])
def test_what_cannot_be_printed_is_said(line, why, folder):
    run = in_a_shell(line, stderr=subprocess.PIPE)
    told = run.stderr.splitlines()[-1].removeprefix("calibrant: error: ")
    assert run.returncode == cli.BAD_USE
    assert re.match(why, told)
    assert re.fullmatch(PARTS, told)
    assert not list(Path().glob("other.*"))


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")
def test_figures_that_cannot_be_printed_are_said(folder, monkeypatch):
    with open("/dev/full", "w") as full:
        monkeypatch.setattr("sys.stdout", full)
        code, _, err = folder("assess", "good.csv", "--json", "--resamples", "5")
    assert code == cli.BAD_USE
    assert re.match(FULL, err.splitlines()[-1].removeprefix("calibrant: error: "))


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")
@pytest.mark.parametrize("where", ["2>&-", "2> /dev/full"])
def test_a_shell_may_lose_the_notes(where):
    run = in_a_shell(f"assess nowhere.csv --best {where}", stdout=subprocess.PIPE)
    assert (run.returncode, run.stdout) == (cli.BAD_USE, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")
# What stands for a closed stream stays open.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("stderr", [None, "/dev/full"])
@pytest.mark.parametrize(
    ("words", "code"),
    [("good.csv --json", 0), ("good.csv --json --fail-if 'ece > 1e-9'", 1), ("nowhere.csv", 2), ("good.csv --best", 2)],
)
def test_the_exit_code_is_that_of_the_command_where_notes_are_lost(words, code, stderr, folder, monkeypatch):
    with open(stderr or os.devnull, "w") as stream:
        monkeypatch.setattr("sys.stderr", stderr and stream)
        found, out, _ = folder("assess", "--resamples", "5", *shlex.split(words))
    assert found == code
    assert code == 2 or json.loads(out)["rows"] > 0
    assert code != 2 or out == ""
