"""How many threads can run side by side."""

from __future__ import annotations

import os


def n_processors() -> int:
    """Return the number of processors that this process may use, which can be fewer than there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
