"""Every block of the README runs, in the order of the page, in one folder and one namespace."""

import re
import shlex
from pathlib import Path

import pytest

from calibrant import cli

ROOT = Path(__file__).resolve().parents[1]
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", (ROOT / "README.md").read_text(), flags=re.M | re.S)
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


@pytest.mark.usefixtures("unsettled")
@pytest.mark.filterwarnings("ignore:log loss")  # isotonic regression of few rows calls events impossible
def test_every_block_runs_and_prints_what_the_page_shows(capsys, monkeypatch, tmp_path):
    """A ``text`` block is part of what the blocks before it print."""
    pytest.importorskip("matplotlib").use("agg")
    from matplotlib import pyplot

    monkeypatch.chdir(tmp_path)
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
    pyplot.close("all")


def test_every_block_says_its_language():
    assert {language for language, _ in BLOCKS} <= {"python", "text", *SHELL}


def test_the_page_begins_with_the_two_commands():
    language, first = BLOCKS[0]
    assert language in SHELL
    assert [words[:2] for words in commands(first)][:2] == [["make", "demo"], ["make", "test"]]


def test_every_linked_file_exists():
    targets = re.findall(r"\]\(([^)#]+)\)", (ROOT / "README.md").read_text())
    here = [target for target in targets if "://" not in target]
    assert here
    assert [target for target in here if not (ROOT / target).exists()] == []
