"""Docstrings, comments and blank lines are no code."""

from tools.code_lines import counted

TEXT = '''"""What it is."""

import os  # the system
from pathlib import (
    Path,
)


def here():
    """Where it is,
    in two lines."""
    # a comment
    text = """two
lines"""
    return Path(os.fspath(text))
'''


def test_code_and_imports_are_counted():
    assert counted(TEXT) == (4 + 1 + 2 + 1, 4)
