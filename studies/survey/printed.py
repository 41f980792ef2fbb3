"""Claims about printed figures: a single one, or the entries of a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from studies.claims import Claim, Verdict
from studies.survey.judges import as_printed, entries_as_printed, rounds_to

ARITHMETIC = "arithmetic on a table that is printed in full: nothing is drawn"


def exact(value: float) -> str:
    """Return the fraction with a small denominator that a value is."""
    found = Fraction(float(value)).limit_denominator(5000)
    if abs(float(found) - value) > 1e-12:
        raise ValueError(f"a figure of these tables must be a fraction with a denominator up to 5000; got {value!r}.")
    return str(found)


def decimal(value: float) -> str:
    """Return a value that is no fraction with a small denominator, to twelve digits."""
    return f"{value:.12f}"


# A single figure


def figure(
    key: str, where: str, sentence: str, printed: str, value: Callable[[], str], *, entries: float | None = None,
    says: Verdict = Verdict.HOLDS,
) -> Claim:  # fmt: skip
    """Return a claim that a printed figure is an exact value, rounded."""
    return Claim(
        key=key,
        where=where,
        sentence=f"{sentence} {printed}.",
        target="the exact value rounds to it; in part: the rounded entries of the table give it",
        says=says,
        measure=lambda: {"exact": value(), "printed": printed, "entries": entries},
        judge=as_printed,
        words=_of_figure,
        one_suffices="" if says is Verdict.HOLDS else ARITHMETIC,
    )


def _of_figure(exact: str, printed: str, entries: float | None) -> str:
    value = float(Fraction(exact))
    shown = f"{exact} = {value:.5g}" if "/" in exact else f"{value:.6g}"
    from_entries = "" if entries is None else f"; from the rounded entries of the table {entries:.4f}"
    return f"{shown}{from_entries}"


# A table


def entries(key: str, where: str, sentence: str, measure: Callable[[], dict[str, list[str]]], says: Verdict) -> Claim:
    """Return a claim that the entries of a table are exact values, rounded: name -> (exact, printed)."""
    return Claim(
        key=key,
        where=where,
        sentence=sentence,
        target="each exact value rounds to the printed entry",
        says=says,
        measure=lambda: {"figures": measure()},
        judge=lambda figures: entries_as_printed(_off(figures), len(figures)),
        words=of_entries,
        one_suffices="" if says is Verdict.HOLDS else ARITHMETIC,
    )


def _off(figures: Mapping[str, Sequence[str]]) -> list[str]:
    return [
        f"{name} {float(Fraction(value)):.4g} (printed {printed})"
        for name, (value, printed) in figures.items()
        if not rounds_to(Fraction(value), printed)
    ]


def of_entries(figures: Mapping[str, Sequence[str]]) -> str:
    """Return how many entries are exact values, rounded, and which are not."""
    off = _off(figures)
    good = f"{len(figures) - len(off)} of {len(figures)} entries"
    return good + (f"; not {'; '.join(off)}" if off else "")
