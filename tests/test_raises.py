"""Data and parameters are refused by the functions of `_core`, which know the parts of a message: no other module raises."""

import ast
import re
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "calibrant"

AT_THE_EDGE = {
    "_core": "the functions that refuse",
    "cli": "what is wrong with a command",
    "interop": "what is wrong with a file",
}
"""Packages that may raise, and for what."""


def raises(tree):
    """Lines that raise a ValueError or a TypeError with words of their own, not with those of an error that was caught."""
    for node in ast.walk(tree):
        caught = node.name if isinstance(node, ast.ExceptHandler) else None
        for child in ast.iter_child_nodes(node):
            child.caught = caught or getattr(node, "caught", None)
        if isinstance(node, ast.Raise) and node.exc is not None:
            words = {name.id for name in ast.walk(node.exc) if isinstance(name, ast.Name)}
            if words & {"ValueError", "TypeError"} and getattr(node, "caught", None) not in words:
                yield node.lineno


def test_only_the_core_refuses_data_and_parameters():
    modules = {file.relative_to(SOURCE).as_posix(): file.read_text(encoding="utf-8") for file in SOURCE.rglob("*.py")}
    assert AT_THE_EDGE.keys() <= {name.split("/")[0] for name in modules}
    found = {
        name: at
        for name, text in modules.items()
        if name.split("/")[0] not in AT_THE_EDGE and re.search(r"^\s*raise\b", text, re.MULTILINE)
        if (at := list(raises(ast.parse(text))))
    }
    assert not found, "call require, refuse or another function of calibrant._core.checks"


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("if x < 0:\n    raise ValueError('x must be positive')", [2]),
        ("raise TypeError", [1]),
        ("try:\n    f()\nexcept OSError as error:\n    raise ValueError('x') from error", [4]),
        ("try:\n    f()\nexcept ValueError as error:\n    raise ValueError(f'{error} Pass 1.') from None", []),
        ("try:\n    f()\nexcept ValueError:\n    raise", []),
        ("raise KeyError(name)", []),
        ("require(x > 0, 'x must be positive', value=x, hint='Pass 1')", []),
    ],
)
def test_a_raise_with_words_of_its_own_is_found(code, found):
    assert list(raises(ast.parse(code))) == found
