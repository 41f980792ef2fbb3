"""What papers say of their own printed tables: who is lower than whom, on which lines. Nothing is run again."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from studies.claims import Numbers, Verdict, all_of, holds

Lines = Mapping[str, Mapping[str, float]]
"""The figures of a printed line, by the name of the line."""

Gaps = Mapping[str, Mapping[str, float]]
"""Of each comparison the figure of the one less the lowest of the others, by line."""

DIGITS = 9
"""Printed figures are decimal numbers: beyond so many digits their differences are rounding."""


def read(file: Path, name: str, n_words: int, **wanted: str) -> Lines:
    """Return the lines of a table that have the wanted words; the first ``n_words`` columns are words."""
    with file.open(encoding="utf-8", newline="") as rows:
        found = [row for row in csv.DictReader(rows) if all(row[word] == of for word, of in wanted.items())]
    return {row[name]: {method: float(value) for method, value in list(row.items())[n_words:]} for row in found}


def gaps(lines: Lines, one: str, others: Sequence[str]) -> dict[str, float]:
    """Return by how much the one is above the lowest of the others: negative where it is before them all."""
    return {name: round(of[one] - min(of[other] for other in others), DIGITS) for name, of in lines.items()}


def on_every(gaps: Gaps, *, tied: bool = False, **beside: Gaps) -> Verdict:
    """Return whether the one is lower on every line; or no other is lower on any, if it may be tied."""
    return all_of(holds(all(gap < 0 or (tied and gap == 0) for gap in of.values())) for of in gaps.values())


on_every_or_tied = partial(on_every, tied=True)


def on_most(gaps: Gaps, **beside: Gaps) -> Verdict:
    """Return whether the one is lower on more than half of the lines."""
    return all_of(holds(2 * sum(gap < 0 for gap in of.values()) > len(of)) for of in gaps.values())


def in_words(gaps: Gaps, beside: Gaps | None = None) -> str:
    """Return on how many lines the one is lower, and on which it is not."""
    return "; ".join(_of_comparison(*one) for one in (gaps | (beside or {})).items()) + "; as printed"


def _of_comparison(name: str, of: Mapping[str, float]) -> str:
    groups = {"level": [line for line, gap in of.items() if gap == 0], "not": [n for n, gap in of.items() if gap > 0]}
    named = [f"{word} on {', '.join(lines)}" for word, lines in groups.items() if 0 < len(lines) < len(of)]
    text = f"{name} on {sum(gap < 0 for gap in of.values())} of {len(of)}"
    return text + f" ({'; '.join(named)})" * bool(named)


def opposite(of: Any) -> Any:
    """All numbers with the other sign."""
    if isinstance(of, Mapping):
        return {name: opposite(part) for name, part in of.items()}
    return [-value for value in of] if isinstance(of, list) else -of


def turned(gaps: Gaps, **beside: Any) -> Numbers:
    """The one and the others in each other's place: the mutant of these claims."""
    return {"gaps": opposite(gaps)}


def comparing(lines: Callable[[str], Lines], *comparisons: tuple[str, str, Sequence[str], str]) -> partial[Numbers]:
    """Return a measure of comparisons: a metric, the one, the others, and what they are called."""
    return partial(_measured, lines, comparisons)


def _measured(lines: Callable[[str], Lines], comparisons: Sequence[tuple[str, str, Sequence[str], str]]) -> Numbers:
    return {
        "gaps": {
            f"{metric}: {one} before {called}": gaps(lines(metric), one, others)
            for metric, one, others, called in comparisons
        }
    }
