"""Every sentence on what to do next is tried: its commands run, and what they do is what it promises."""

import re
import shlex
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from strategies import one_event

from calibrant import advise, assess, load_calibrator, log_loss
from calibrant.cli import main
from calibrant.interop.tables import write_table
from calibrant.report.sentences import ASK, findings


def last(y, prob, advice):
    return findings(assess(y, prob, n_resamples=99), advice)[-1]


FEW = ["--resamples", "99"]


@pytest.fixture(params=[("label", "prob")])
def files(request, tmp_path, monkeypatch, few_draws, bare_default):
    """Calibration and test set of a forecast that is over-confident and too low, with columns of these names."""
    monkeypatch.chdir(tmp_path)
    found = {}
    for seed, name in enumerate(("CALIBRATION_FILE", "TEST_FILE")):
        found[name] = one_event(seed, 1500, lambda z: 2.0 * z - 1.0)
        write_table(f"{name}.csv", dict(zip(request.param, found[name], strict=True)), force=False)
    return found


def next_of(out):
    (sentence,) = (line for line in out.splitlines() if line.startswith("Next: "))
    return sentence


def run(sentence, files):
    """Run the commands of a sentence, in their order, on the files that it names."""
    known = r"calibrant (?:fit .*?-o calibrator\.json|report .*?-o after\.html|advise CALIBRATION_FILE)"
    commands = re.findall(known, sentence)
    assert commands
    for command in commands:
        words = [f"{word}.csv" if word in files else word for word in shlex.split(command)[1:]]
        assert main(words + FEW * (words[0] == "report")) == 0, command
    return [shlex.split(command)[1] for command in commands]


@pytest.mark.parametrize("files", [("outcome", "score")], indirect=True)
def test_a_calibrator_that_is_named_is_fitted_by_the_command_and_lowers_the_log_loss(files, capsys):
    """The report of one file: its sentence names command and options, and the commands do what it says."""
    columns = ["--label", "outcome", "--prob", "score"]
    assert main(["report", "CALIBRATION_FILE.csv", *columns, "-o", "r.html", *FEW]) == 0
    sentence = next_of(capsys.readouterr().out)
    options = "--label outcome --prob score"
    method = re.search(rf"fit CALIBRATION_FILE {options} --method (\S+) -o", sentence)[1]
    rows = files["CALIBRATION_FILE"]
    assert sentence == last(*rows, replace(advise(*rows), options=options))
    losses = r"from (\d\.\d{4}) to (\d\.\d{4}) \(difference (-\d\.\d{4}), standard error (\d\.\d{4})\)"
    told = re.search(losses, sentence)
    assert float(told[1]) == pytest.approx(log_loss(*files["CALIBRATION_FILE"]), abs=5e-5)
    assert run(sentence, files) == ["fit", "report"]
    y, prob = files["TEST_FILE"]
    after = log_loss(y, load_calibrator("calibrator.json").calibrate(prob))
    assert method in sentence
    assert after - log_loss(y, prob) == pytest.approx(float(told[3]), abs=6 * float(told[4]))
    shown = capsys.readouterr().out
    assert "on the same 1500 rows" in shown
    assert "; log loss fell by " in shown


def told(words, capsys):
    assert main(words) == 0
    return capsys.readouterr().out


def next_told(words, capsys):
    """Return the next step that the report with these words prints."""
    return next_of(told(["report", "CALIBRATION_FILE.csv", *words, "-o", "r.html", *FEW], capsys))


def test_a_command_names_files_and_classes_that_begin_with_a_dash(files, capsys):
    y, prob = files["CALIBRATION_FILE"]
    write_table("-dash.csv", {"-y": 2 * y - 1, "-p": prob}, force=False)
    words = ["--label=-y", "--prob=-p", "--classes=-1,1", "--rows=:1000"]
    command = told(["advise", "./-dash.csv", *words], capsys).splitlines()[-1]
    assert command.startswith("calibrant fit ./-dash.csv --rows :1000 --label=-y --prob=-p --classes=-1,1 --method ")
    assert told(["advise", *words, "--", "-dash.csv"], capsys).splitlines()[-1] == command
    assert "event: class 1" in told(shlex.split(command)[1:], capsys)


@pytest.mark.parametrize("given", [[], ["--classes=-1,1"], ["--classes=1,-1"]], ids=str)
def test_the_event_of_a_report_of_one_column_is_that_of_its_commands(files, capsys, given):
    """The command has one `--classes`, whose last is the event, whatever else was given."""
    for name, (y, prob) in files.items():
        write_table(f"{name}.csv", {"label": 2 * y - 1, "prob": prob}, force=True)
    sentence = next_told(["--pos-label", "1", *given], capsys)
    assert "calibrant fit CALIBRATION_FILE --classes=-1,1 --method" in sentence
    assert "calibrant report TEST_FILE --classes=-1,1 --calibrator" in sentence
    assert run(sentence, files) == ["fit", "report"]
    assert "event: class 1" in capsys.readouterr().out


def test_a_class_with_a_comma_is_one_in_the_commands_of_a_report(files, capsys):
    for name, (y, prob) in files.items():
        write_table(f"{name}.csv", {"label": np.where(y, 'yes, "it" is', "no"), "prob": prob}, force=True)
    assert run(next_told(["--pos-label", 'yes, "it" is'], capsys), files) == ["fit", "report"]


def test_the_event_and_the_notion_of_a_report_of_two_columns_are_those_of_its_commands(files, capsys):
    for name, (y, prob) in files.items():
        write_table(f"{name}.csv", {"label": 2 * y - 1, "p_-1": 1 - prob, "p_1": prob}, force=True)
    for words in (["--pos-label=-1"], ["--notion", "confidence"], ["--notion", "binary", "--pos-label=-1"]):
        sentence = next_told([*words, "--force"], capsys)
        assert f"calibrant report TEST_FILE {' '.join(words)} --calibrator calibrator.json" in sentence
        for name in ("calibrator.json", "after.html"):
            Path(name).unlink(missing_ok=True)
        assert run(sentence, files) == ["fit", "report"]
        spoken = {"-1": "event: class -1", "confidence": "notion: confidence"}[words[-1].split("=")[-1]]
        assert spoken in capsys.readouterr().out


def test_the_rows_of_a_report_are_those_of_its_commands(files, capsys):
    """With --where the commands fit and compare on the rows of which the report spoke."""
    for name, (y, prob) in files.items():
        day = np.where(np.arange(len(y)) < 900, "2026-02-01", "2026-01-01")
        write_table(f"{name}.csv", {"label": y, "prob": prob, "day": day}, force=True)
    words, given = ["--where", "day >= 2026-02-01"], "--where 'day >= 2026-02-01'"
    sentence = next_told(words, capsys)
    assert f"calibrant fit CALIBRATION_FILE {given} --method" in sentence
    assert f"calibrant report TEST_FILE {given} --calibrator" in sentence
    assert "on 900 rows it lowers" in sentence
    assert run(sentence, files) == ["fit", "report"]
    assert "on the same 900 rows" in capsys.readouterr().out
    assert given in told(["advise", "CALIBRATION_FILE.csv", *words], capsys).splitlines()[-1]


def test_where_nothing_was_computed_the_command_computes_it(files, capsys):
    """Reports of assessments alone, of several forecasts, and after a calibrator."""
    sentence = last(*files["TEST_FILE"], None)
    assert sentence == ASK
    assert run(sentence, files) == ["advise"]
    out = capsys.readouterr().out
    expected = advise(*files["CALIBRATION_FILE"])
    assert expected.reason in out
    command = out.splitlines()[-1]
    assert command == f"calibrant fit CALIBRATION_FILE.csv --method {expected.recommended} -o calibrator.json"
    assert main(shlex.split(command)[1:]) == 0
    y, prob = files["TEST_FILE"]
    assert log_loss(y, load_calibrator("calibrator.json").calibrate(prob)) < log_loss(y, prob) - 0.05


def test_too_few_rows_to_judge_are_told_to_be_more():
    """More rows, as asked for, and there is advice."""
    y, prob = one_event(0, 2000, lambda z: 3.0 * z - 2.0)
    sentence = last(y[:90], prob[:90], advise(y[:90], prob[:90]))
    assert "collect more rows. 90 rows are too few to judge a calibrator: 100 or more are needed." in sentence
    assert last(y, prob, advise(y, prob)).startswith("Next: fit ")


def test_where_no_candidate_helps_the_forecast_is_left_as_it_is():
    """Rates that fall and rise from score to score, which no candidate follows."""
    rng = np.random.default_rng(0)
    prob = np.repeat(np.linspace(0.3, 0.7, 40), 25)
    wrong = prob + 0.15 * (-1.0) ** (np.arange(prob.size) // 25)
    y = (rng.random(prob.size) < wrong).astype(int)
    sentence = findings(assess(y, prob, binning=100, n_resamples=99), advise(y, prob))[-1]
    assert sentence.startswith("Next: collect more rows. Leave the forecast as it is: no candidate (temperature, platt")


def test_a_calibrated_forecast_is_left_as_it_is_and_not_called_proven():
    y, prob = one_event(1, 1000)
    sentence = last(y, prob, advise(y, prob))
    assert sentence.startswith("No miscalibration is visible in 1000 rows. Leave the forecast as it is: no candidate")
    assert "That is no proof of calibration" in sentence
    assert last(y, prob, None).startswith("No miscalibration is visible in 1000 rows. That is no proof")


def test_of_one_row_nothing_is_called_detectable():
    found = assess([1], [0.5], labels=[0, 1], n_resamples=20)
    assert found.heading.startswith("1 row, ")
    said = findings(found, advise([1], [0.5], labels=[0, 1]))[-1]
    assert "1 row is too few to judge a calibrator" in said
    assert said.endswith("That is no proof of calibration.")
