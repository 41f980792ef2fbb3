"""Work of which more work follows, done by threads side by side or in one."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TypeVar

Item = TypeVar("Item")
Found = TypeVar("Found")


def n_processors() -> int:
    """Return the number of processors that this process may use, which can be fewer than there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def side_by_side(
    work: Callable[[Item], Found],
    items: Iterable[Item],
    then: Callable[[Item, Found], Iterable[Item]],
    n_workers: int,
) -> None:
    """Do the work of all items, of at most so many at a time, the last one first.

    ``then`` is told of each item what was found, one after the other, and returns the items that come next. An interruption
    waits for the work that is being done, and no longer.
    """
    waiting = list(items)
    running: dict[Future[Found], Item] = {}
    pool = ThreadPoolExecutor(n_workers)
    try:
        while waiting or running:
            while waiting and len(running) < n_workers:
                item = waiting.pop()
                running[pool.submit(work, item)] = item
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                waiting += then(running.pop(future), future.result())
    finally:
        pool.shutdown(cancel_futures=True)


def one_by_one(
    work: Callable[[Item], Found], items: Iterable[Item], then: Callable[[Item, Found], Iterable[Item]]
) -> None:
    """Do the same without threads."""
    waiting = list(items)
    while waiting:
        item = waiting.pop()
        waiting += then(item, work(item))


def in_order(work: Callable[[Item], Found], items: Sequence[Item], n_workers: int) -> Iterator[Found]:
    """Do the work of all items, of so many at a time, and give what was found in their order."""
    if n_workers < 2 or len(items) < 2:
        yield from map(work, items)
        return
    with ThreadPoolExecutor(min(n_workers, len(items))) as pool:
        yield from pool.map(work, items)
