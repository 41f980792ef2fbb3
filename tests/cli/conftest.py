"""The command line as a test runs it."""

import json
from pathlib import Path

import pytest

from calibrant import cli


class Shell:
    """The command line in the folder that one stands in: its exit code, what it printed, and what it said on stderr."""

    def __init__(self, capsys, *before):
        self.capsys, self.before = capsys, before

    def __call__(self, *words):
        self.capsys.readouterr()
        try:
            code = cli.main([str(word) for word in (*self.before, *words)])
        except SystemExit as end:  # argparse ends the program itself
            code = end.code
        return code, *self.capsys.readouterr()

    def of(self, command):
        """The command line of one command."""
        return Shell(self.capsys, command)

    def told(self, *words):
        """What a command that succeeds prints, and what it says on stderr."""
        code, out, err = self(*words)
        assert code == 0, err
        return out, err

    def out(self, *words):
        """What a command that succeeds prints."""
        return self.told(*words)[0]

    def json(self, *words):
        """What it prints as JSON."""
        return json.loads(self.out(*words, "--json"))

    def refuses(self, said, *words):
        """Refuse with these words among others, print and write nothing, and return the message."""
        before = bytes_of(Path())
        code, out, err = self(*words)
        assert (code, out) == (2, "")
        assert said in err
        assert bytes_of(Path()) == before
        return err.splitlines()[-1].removeprefix("calibrant: error: ")


def bytes_of(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def shell(capsys, monkeypatch, tmp_path, few_draws):
    """Run the command line in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return Shell(capsys)
