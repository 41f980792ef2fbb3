"""When compiled loops are worth loading.

Loading numba takes longer than most measurements. So NumPy does the work until the time that compiled loops would have saved in
this process is as long as loading takes: then it takes at most twice the time of who knew the future. Both give the same
numbers to the last bit, so that nothing but time depends on it.
"""

from __future__ import annotations

import sys

LOADING = 0.7
"""Seconds that loading takes."""

FEWEST = 1 << 13
"""Numbers from which a loaded loop is faster than NumPy."""


class Forgone:
    """Seconds that loops would have saved so far."""

    def __init__(self) -> None:
        self.seconds = 0.0


FORGONE = Forgone()


def are_loaded() -> bool:
    """Whether numba is there."""
    return "numba" in sys.modules


def pays(numbers: int, saved: float) -> bool:
    """Whether to use a compiled loop on so many numbers, which saves so many seconds a number."""
    if are_loaded():
        return numbers >= FEWEST
    FORGONE.seconds += numbers * saved
    return FORGONE.seconds > LOADING
