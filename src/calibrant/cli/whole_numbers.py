"""Options that are whole numbers."""

from __future__ import annotations

import argparse


def natural(text: str) -> int:
    """Return a number of at least 0."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"must be a whole number, 0 or more; got {text!r}")
    return int(text)


def positive(text: str) -> int:
    """Return a number of at least 1."""
    if (number := natural(text)) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number, 1 or more; got {text!r}")
    return number
