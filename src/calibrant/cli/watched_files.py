"""The files of `calibrant monitor`: which they are, in which order, what their windows are called, and what they held."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath


@dataclass(frozen=True)
class WatchedFile:
    """A file: its ``path`` as it is shown, its ``place`` on this machine, and the ``window`` that it is without --time."""

    path: str
    place: str
    window: str


@dataclass(frozen=True)
class Content:
    """What a file holds: its length and digest, by which it is known wherever it lies."""

    bytes: int
    sha256: str

    @classmethod
    def of(cls, path: str) -> Content:
        """Read a file."""
        with open(path, "rb") as file:
            digest = hashlib.file_digest(file, "sha256")
            return cls(file.tell(), digest.hexdigest())


def files_of(named: list[str]) -> list[WatchedFile]:
    """Return the files that are named, those of a folder or pattern in the order of their names: day_9 stands before day_10.

    Of a folder these are the files that `calibrant assess` reads: those that end as tables do, in its folders as well, but for
    hidden ones and those that begin with an underscore.
    """
    return [file for name in named for file in _files(name)]


def require_own_window(file: WatchedFile, other: str) -> None:
    """Refuse two files that would be one window by their names."""
    if other != file.place:
        raise ValueError(
            f"files must have names that differ without folder and ending, as each is a window; got {other} and "
            f"{file.place}. Rename one, name a folder that holds both, or name windows by --time."
        )


def _files(name: str) -> Iterator[WatchedFile]:
    from calibrant.interop.local_files import STREAMED, local_files, split, warn_of_unread
    from calibrant.monitoring.windows import in_order

    if "://" in name:
        raise ValueError(f"files to watch must lie on this machine; got {name}. Copy them, or use Monitor in Python.")
    path = Path(name)
    start, pattern = split(PurePosixPath(path.as_posix()), os.path.lexists)
    folder = Path(start)
    if not pattern and not folder.is_dir():
        yield WatchedFile(name, os.path.abspath(name), path.stem)
        return
    inside = {file.relative_to(folder.absolute()).as_posix(): file for file in local_files(path)}
    if not inside:
        raise FileNotFoundError(
            f"{name} must hold files that end in {', '.join(STREAMED)}; it holds none. Check the path."
        )
    warn_of_unread(name, path)
    for below, file in sorted(inside.items(), key=lambda pair: in_order(pair[0])):
        yield WatchedFile(str(folder / below), os.path.abspath(file), str(PurePosixPath(below).with_suffix("")))
