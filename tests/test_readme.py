"""Every block of the README runs, in the order of the page, in one folder and one namespace."""

import re
import shlex
from pathlib import Path

import numpy as np
import pytest

from calibrant import cli, load_digits_forecast
from calibrant._core.registry import entries

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, flags=re.M | re.S)
TARGETS = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), flags=re.M))
SHELL = ("bash", "console", "sh")


def commands(block):
    lines = [line.removeprefix("$ ") for line in block.replace("\\\n", " ").splitlines()]
    return [words for line in lines if (words := shlex.split(line, comments=True))]


def run_command(words):
    """Run a line of a shell block: what would build or install things is only looked up."""
    match words:
        case ["make", *targets]:
            assert set(targets) <= TARGETS
        case ["pip", "install", *_]:
            pass
        case ["calibrant", *arguments]:
            assert cli.main(arguments) == cli.OK, words
        case _:
            raise AssertionError(f"the README shows a command that this test does not know: {words}")


def write_files():
    """Write the files that the commands of the page read, as the page describes them."""
    y, prob = load_digits_forecast()
    header = ",".join(["label", *(f"p_{k}" for k in range(10))])
    for name, rows in {"fit": slice(748), "test": slice(748, None)}.items():
        table = np.column_stack([y[rows], prob[rows]])
        np.savetxt(f"{name}.csv", table, delimiter=",", header=header, comments="", fmt="%.6g")


@pytest.mark.usefixtures("unsettled")
def test_every_block_runs_and_prints_what_the_page_shows(capsys, monkeypatch, tmp_path):
    """A ``text`` block is part of what the blocks before it print."""
    pytest.importorskip("matplotlib").use("agg")
    monkeypatch.chdir(tmp_path)
    write_files()
    namespace, printed = {"__name__": "readme"}, ""
    for language, block in BLOCKS:
        if language == "python":
            exec(compile(block, "README.md", "exec"), namespace)
        elif language in SHELL:
            for words in commands(block):
                run_command(words)
        printed += capsys.readouterr().out
        if language == "text":
            assert block in printed


def test_every_block_says_its_language():
    assert {language for language, _ in BLOCKS} <= {"python", "text", *SHELL}


def test_the_page_begins_with_the_two_commands():
    language, first = BLOCKS[0]
    assert language in SHELL
    assert [words[:2] for words in commands(first)][:2] == [["make", "demo"], ["make", "test"]]


@pytest.mark.parametrize("page", sorted(path.name for path in ROOT.glob("*.md")))
def test_every_linked_file_exists(page):
    targets = re.findall(r"(?:\]\(|src=\")([^)#\"]+)", (ROOT / page).read_text(encoding="utf-8"))
    here = [target for target in targets if "://" not in target]
    assert here or page != "README.md"
    assert [target for target in here if not (ROOT / target).exists()] == []


def test_a_newcomer_reads_it_in_a_minute():
    assert len(PAGE.splitlines()) <= 150
    assert max(len(block.splitlines()) for language, block in BLOCKS if language == "python") <= 15


def test_it_counts_methods_and_tests_right():
    methods = len(entries("calibrator"))
    assert f"| methods of calibration | {methods} |" in PAGE
    assert f"has all {methods} methods" in PAGE
    assert f"[{len(entries('test'))} tests](docs/testing.md)" in PAGE
