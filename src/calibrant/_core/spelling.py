"""Words as people write them: "ECE", "top_label_ece" and "Top label ECE" are one; and the nearest words to one unknown."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher

SEPARATORS = str.maketrans("", "", "-_ ")

LEAST, MARGIN, MOST = 0.6, 0.05, 3
"""A word is near from this likeness on, a fraction; within this margin of the nearest one; and at most so many are named."""


def folded(word: str) -> str:
    """Return a word in small letters, without hyphens, underscores and spaces: what is equal then is one word."""
    return word.casefold().translate(SEPARATORS)


def meant(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that this one spells, in any case and with any separators; None where there is none."""
    wanted = folded(word)
    return next((other for other in known if folded(other) == wanted), None)


def nearest(word: str, known: Iterable[str]) -> list[str]:
    """Return the known words that are nearest, the nearest first."""
    matcher = SequenceMatcher()
    matcher.set_seq2(folded(word))
    likeness = {}
    for other in known:
        matcher.set_seq1(folded(other))
        likeness[other] = matcher.ratio()
    least = max([LEAST, *(alike - MARGIN for alike in likeness.values())])
    return sorted((other for other in likeness if likeness[other] >= least), key=lambda other: -likeness[other])[:MOST]


def question(near: list[str]) -> str:
    """Return "Did you mean 'ece' or 'mce'?"; empty where nothing is near."""
    return f"Did you mean {' or '.join(map(repr, near))}?" if near else ""
