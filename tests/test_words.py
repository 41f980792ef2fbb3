"""Sentences that users read are in the words of the field: some of ours, which nobody else uses, do not return."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

BANNED = {
    # what is written: why not, and what to write
    r"\bcame\b": "an outcome occurs, a class is the true one, an argument is given",
    r"\b(class|classes|event|events) (must|may|never|do not|does not|did not) come\b": "they occur",
    r"\bcomes? about\b": "it occurs",
    r"\bwhat (it|they) says?\b|\bmeans? what (it|they) says?\b": "a predicted probability",
    r"\brepair\w*": "calibrate a forecast, correct a file",
    r"\bother rows\b|\brows (that|which) (it|the calibrator) (has not seen|never saw)\b": "held-out rows, a test set, a calibration set",
    r"\bcalibrated forecast would show\b": "the expected value under calibration",
    r"\bchance (alone )?(adds|would)\b": "bias, noise, the expected value under calibration",
    r"\brows would find\b|\bfind (it )?four times in five\b": "the smallest detectable error: a power of 80 %",
    r"\bthe like of\b": "plain English has other words",
}
"""Patterns in any case, and what is written instead. "Outcome", "becomes", "comes from" and "comes with" are ordinary English."""

GENERATED = ("survey", "survey-calibrators", "top-label", "na-isotonic", "roc-isotonic", "tce", "claims", "benchmarks", "conformance")
"""Pages that programs write of papers and of other packages, with their words."""


def strings(file):
    """Every string of a module, docstrings too, without those that are part of a pattern for other strings."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def texts():
    source = ROOT / "src" / "calibrant"
    for file in sorted(source.rglob("*.py")):
        yield file, " ".join(" ".join(strings(file)).split())
    for file in [*sorted(source.rglob("templates/*")), *pages()]:
        yield file, " ".join(file.read_text(encoding="utf-8").split())


def pages():
    """Pages that people wrote."""
    return [page for page in sorted((ROOT / "docs").glob("*.md")) if page.stem not in GENERATED]


def found(pattern):
    return [
        f"{file.relative_to(ROOT)}: ...{text[max(0, match.start() - 40) : match.end() + 40]}..."
        for file, text in texts()
        for match in re.finditer(pattern, text, re.IGNORECASE)
    ]


@pytest.mark.parametrize("pattern", BANNED)
def test_what_users_read_is_in_the_words_of_the_field(pattern):
    assert not found(pattern), BANNED[pattern]
