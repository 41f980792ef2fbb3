"""Progress bars: shown where they are asked for and tqdm is installed, else nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")
Advance = Callable[[int], object]
"""Say that so many more units are done."""


@contextmanager
def progress_bar(total: int | None, *, show: bool, desc: str, unit: str) -> Iterator[Advance]:
    """Open a bar of so many units, None if that is not known; it is gone when the block ends, however it ends."""
    if not show:
        yield _ignored
        return
    try:
        from tqdm import tqdm
    except ImportError:
        yield _ignored
        return
    with tqdm(total=total, desc=desc, unit=unit, unit_scale=True, leave=False) as bar:
        yield bar.update


def tracked(items: Iterable[T], total: int, *, show: bool, desc: str, unit: str) -> Iterator[T]:
    """Pass the items on, one unit each."""
    with progress_bar(total, show=show, desc=desc, unit=unit) as advance:
        for item in items:
            yield item
            advance(1)


def _ignored(units: int) -> None:
    """Nobody asked."""
