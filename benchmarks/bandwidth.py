"""How fast this machine reads memory: what no measure of the same bytes can beat."""

import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache

import numpy as np

BYTES, TRIES = 1 << 28, 5
"""Far more than a cache holds; the best of so many tries counts, which is what the memory can do."""


@dataclass(frozen=True)
class Bandwidth:
    """Bytes a second: summed up by one thread and by one a CPU, and copied by one (bytes read and bytes written)."""

    read_by_one: float
    read_by_all: float
    copied: float

    @property
    def most(self) -> float:
        """The faster way to read: what shares are shares of."""
        return max(self.read_by_one, self.read_by_all)

    @property
    def sentence(self) -> str:
        """The three figures in words."""
        gb = [f"{rate / 1e9:.1f} GB/s" for rate in (self.read_by_one, self.read_by_all, self.copied)]
        return (
            f"Memory bandwidth, measured in this run with {BYTES / 2**20:.0f} MiB, best of {TRIES}: {gb[0]} read by "
            f"`numpy.sum` in one thread, {gb[1]} in {os.cpu_count()} threads, {gb[2]} read and written by `numpy.copyto`."
        )


@cache
def bandwidth() -> Bandwidth:
    """Measure it once a run."""
    source = np.ones(BYTES // 8)
    target, threads = np.zeros_like(source), os.cpu_count() or 1
    parts = np.array_split(source, threads)
    with ThreadPoolExecutor(threads) as pool:
        one, every, copied = (
            min(_seconds(call) for _ in range(TRIES))
            for call in (source.sum, lambda: list(pool.map(np.sum, parts)), lambda: np.copyto(target, source))
        )
    return Bandwidth(BYTES / one, BYTES / every, 2 * BYTES / copied)


def _seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start
