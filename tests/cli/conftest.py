"""The command line as a test runs it."""

import pytest

from calibrant import cli


@pytest.fixture
def shell(capsys, monkeypatch, tmp_path):
    """Run the command line in an empty folder: its exit code, what it printed, and what it said on stderr."""
    monkeypatch.chdir(tmp_path)

    def shell(*words):
        try:
            code = cli.main([str(word) for word in words])
        except SystemExit as end:  # argparse ends the program itself
            code = end.code
        return code, *capsys.readouterr()

    return shell
