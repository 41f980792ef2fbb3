"""The first line of an error, which is what a sentence of ours quotes."""

from __future__ import annotations


def first_line(error: BaseException) -> str:
    """Return the first line of what an error says."""
    return (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
