"""Work that threads do side by side or one of them ahead, and when compiled loops are worth loading."""

import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from queue import SimpleQueue
from threading import Event, Lock, Semaphore, Thread
from typing import Any, TypeVar

THREADS = sys.platform != "emscripten"
"""Whether there are any: Python in a browser has none."""

Item = TypeVar("Item")
Found = TypeVar("Found")


def n_processors() -> int:
    """Return the number of processors that this process may use, which can be fewer than there are."""
    if not THREADS:
        return 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@cache
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController  # it looks for the libraries that NumPy and SciPy have loaded

    return ThreadpoolController()


LIMITS: list[Any] = []
"""What the first of the blocks that are open changed, once for each of them."""

LOCK = Lock()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Have BLAS work with one thread in a block; the last of blocks that overlap, in several threads, gives back the others.

    Its idle threads spin: they use a processor while they wait. Where other programs run, or a container may use fewer
    processors than there are, the many small products of a fit then take up to ten times as long.
    """
    with LOCK:
        LIMITS.append(LIMITS[0] if LIMITS else _controller().limit(limits=1, user_api="blas"))
    try:
        yield
    finally:
        with LOCK:
            limit = LIMITS.pop()
            if not LIMITS:
                limit.restore_original_limits()


def in_order(work: Callable[[Item], Found], items: Iterable[Item], n_workers: int) -> Iterator[Found]:
    """Do the work of all items, of so many at a time, and give what was found in their order.

    Items are made as they are asked for: only a few more of them than workers are there at a time.
    """
    if n_workers < 2:
        yield from map(work, items)
        return
    running: deque[Future[Found]] = deque()
    pool = ThreadPoolExecutor(n_workers)
    try:
        for item in items:
            running.append(pool.submit(work, item))
            if len(running) > n_workers:
                yield running.popleft().result()
        while running:
            yield running.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


def ahead(items: Iterable[Item], most: int) -> Iterator[Item]:
    """Make items in a thread of their own, at most so many before they are asked for; an error is raised where it would be.

    A daemon, and no pool: Python ends though the source waits for ever.
    """
    if not THREADS:
        yield from items
        return
    found: SimpleQueue[tuple[bool, Item | BaseException | None]] = SimpleQueue()
    room, is_over = Semaphore(most), Event()

    def make() -> None:
        try:
            for item in items:
                room.acquire()
                if is_over.is_set():
                    return
                found.put((True, item))
            found.put((False, None))
        except BaseException as error:  # it is raised where the items are asked for
            found.put((False, error))

    thread = Thread(target=make, daemon=True)
    thread.start()
    try:
        while True:
            made, what = found.get()
            if made:
                room.release()
                yield what  # type: ignore[misc]
            elif isinstance(what, BaseException):
                raise what
            else:
                return
    finally:
        is_over.set()
        room.release()
        thread.join(1.0)  # of a source that waits for ever no longer


# When compiled loops are worth loading


LOADING = 0.7
"""Seconds that loading takes."""

FEWEST = 1 << 13
"""Numbers from which a loaded loop is faster than NumPy."""


FORGONE = [0.0]
"""Seconds that loops would have saved so far."""


def are_loaded() -> bool:
    """Whether numba is there."""
    return "numba" in sys.modules


def pays(numbers: int, saved: float) -> bool:
    """Whether to use a compiled loop on so many numbers, which saves so many seconds a number."""
    if are_loaded():
        return numbers >= FEWEST
    FORGONE[0] += numbers * saved
    return FORGONE[0] > LOADING
