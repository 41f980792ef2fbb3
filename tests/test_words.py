"""What users read is in the words of the field, and data and parameters are refused by the functions of `_core` alone."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "calibrant"

BANNED = {
    r"\bcame\b": "an outcome occurs, a class is the true one, an argument is given",
    r"\b(class|classes|event|events) (must|may|never|do not|does not|did not) come\b": "they occur",
    r"\bcomes? about\b": "it occurs",
    r"\bwhat (it|they) says?\b|\bmeans? what (it|they) says?\b": "a predicted probability",
    r"\brepair\w*": "calibrate a forecast, correct a file",
    r"\bother rows\b|\brows that (it|the calibrator) (has not seen|never saw)\b": "held-out rows, test set, calibration set",
    r"\bcalibrated forecast would show\b": "the expected value under calibration",
    r"\bchance (alone )?(adds|would)\b": "bias, noise, the expected value under calibration",
    r"\brows would find\b|\bfind (it )?four times in five\b": "the smallest detectable error: a power of 80 %",
    r"\bthe like of\b": "plain English has other words",
    r"\binterval is of the true\b": "the interval estimates the true error",
    r"\bmust not exist yet\b": "it already exists; pass --force",
    r"\bin how many percent\b|\bhow many percent of\b": "share, percentage",
    r"\b(what|who) needs all rows takes\b": "methods that need all rows use a sample",
    r"\ba way to look\b|\bnever end\b|\bwants? to open\b": "a linear smoother; at most 10 million; with the largest gradient",
    r"\bnor this report shows\b|\bstays at 0\.|\btoo far from 50 %": "what the plain form in the report says",
}
"""Patterns in any case, and what is written instead. "Outcome", "becomes", "comes from" and "comes with" stay."""

GENERATED = "survey survey-calibrators top-label na-isotonic roc-isotonic tce claims benchmarks conformance exports"
"""Pages that programs write of papers and of other packages, with their words."""


def strings(file):
    """Every string of a module: docstrings, messages and the fixed parts of messages."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


@cache
def texts():
    """What each file says, on one line."""
    said = {file: " ".join(strings(file)) for file in sorted(PACKAGE.rglob("*.py"))}
    said |= {file: file.read_text(encoding="utf-8") for file in [*sorted(PACKAGE.rglob("templates/*")), *pages()]}
    return {file.relative_to(ROOT): " ".join(text.split()) for file, text in said.items()}


def pages():
    """Pages that people wrote."""
    written = [page for page in sorted((ROOT / "docs").glob("*.md")) if page.stem not in GENERATED.split()]
    return [ROOT / "README.md", *written, *sorted((ROOT / "docs" / "how-to").glob("*.md"))]


@pytest.mark.parametrize("pattern", BANNED)
def test_what_users_read_is_in_the_words_of_the_field(pattern):
    found = [
        f"{file}: ...{text[max(0, match.start() - 40) : match.end() + 40]}..."
        for file, text in texts().items()
        for match in re.finditer(pattern, text, re.IGNORECASE)
    ]
    assert not found, BANNED[pattern]


# Data and parameters are refused by the functions of `_core`, which know the parts of a message: no other module raises


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
    modules = {file.relative_to(PACKAGE).as_posix(): file.read_text(encoding="utf-8") for file in PACKAGE.rglob("*.py")}
    assert AT_THE_EDGE.keys() <= {name.split("/")[0] for name in modules}
    found = {
        name: at
        for name, text in modules.items()
        if name.split("/")[0] not in AT_THE_EDGE and re.search(r"^\s*raise\b", text, re.MULTILINE)
        if (at := list(raises(ast.parse(text))))
    }
    assert not found, "call require, refuse or another function of calibrant._core.checks"
