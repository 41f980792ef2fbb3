"""Files of this machine that a path, a folder or a pattern stands for."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit
from urllib.request import url2pathname

from calibrant.exceptions import CalibrationWarning

FORMATS = {
    ".csv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "feather",
    ".arrow": "feather",
    ".npz": "npz",
}
"""Formats of tables, by the endings of their files."""

ARRAYS = (".npy", ".pt", ".pth")
"""Endings of files of arrays without names: to rename them is of no use."""

OF_ONE_ARRAY = "Read it in Python and write np.savez('forecast.npz', label=y, logits=z), or P=... of probabilities."


def format_of(path: str | os.PathLike[str]) -> str:
    """Return the format that a file's ending stands for."""
    ending = Path(path).suffix.lower()
    if ending not in FORMATS:
        hint = OF_ONE_ARRAY if ending in ARRAYS else "Rename or convert it."
        raise ValueError(f"a table must end in {', '.join(FORMATS)}; got {Path(path).name!r}. {hint}")
    return FORMATS[ending]


PATTERN = re.compile(r"[*?\[]")
"""A letter that makes an address a pattern, unless what it names is there as it is written."""

STREAMED = {ending: kind for ending, kind in FORMATS.items() if kind != "npz"}
"""Endings of files that are read batch by batch."""

UNREAD = (".npz", ".tsv", ".jsonl", ".orc", ".avro")
"""Endings of tables that are not read in a folder."""

COMPRESSED = (".gz", ".bz2", ".zip", ".zst", ".xz")
"""Endings of what is a table once it is unpacked, if another ending says so."""

HIDDEN = (".", "_")
"""How a name begins, in a folder, of what is no part of the data."""


def local_path(address: str) -> Path | None:
    """Return the path of an address; None of one of another file system."""
    if "://" not in address:
        return Path(address)
    return Path(url2pathname(urlsplit(address).path)) if address.startswith("file://") else None


def is_pattern(address: str) -> bool:
    """Whether an address of this machine is a pattern: brackets and stars that are the name of what is there are none."""
    path = Path(address)
    return not os.path.lexists(path) and bool(split(PurePosixPath(path.as_posix()), os.path.lexists)[1])


def split(path: PurePosixPath, exists: Callable[[str], bool]) -> tuple[PurePosixPath, tuple[str, ...]]:
    """Return the folder that holds all that a pattern may be, and the parts of the pattern below; none of a plain path."""
    parts = path.parts
    for number, part in enumerate(parts):
        if PATTERN.search(part) and not exists(str(PurePosixPath(*parts[: number + 1]))):
            return PurePosixPath(*parts[:number]), parts[number:]
    return path, ()


def fits(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    """Whether names of folders and of a file fit a pattern: a star stays within a folder, two stars go into any.

    As in a shell, what begins with a point fits only where the pattern begins so too.
    """
    if not pattern:
        return not parts
    if pattern[0] == "**" and fits(parts, pattern[1:]):
        return True
    if not parts or (parts[0].startswith(".") and not pattern[0].startswith(".")):
        return False
    if pattern[0] == "**":
        return fits(parts[1:], pattern)
    return fnmatchcase(parts[0], pattern[0]) and fits(parts[1:], pattern[1:])


def is_deep(pattern: Sequence[str]) -> bool:
    """Whether a pattern looks into folders."""
    return len(pattern) > 1 or "**" in pattern


def is_table(path: PurePosixPath) -> bool:
    """Whether a file of a folder is a table, and neither it nor its folder is hidden."""
    return path.suffix.lower() in STREAMED and not any(part.startswith(HIDDEN) for part in path.parts)


def warn_of_unread(address: str, path: Path) -> None:
    """Warn of files of a folder that may be tables, such as ``a.csv.gz``, and are not read."""
    below = _below(path.absolute(), deep=True, hidden=HIDDEN) if path.is_dir() else ()
    if unread := sorted(one for one in below if _is_unread(one)):
        more = f" and {len(unread) - 1} more" if len(unread) > 1 else ""
        what = f"{address} holds {unread[0].name}{more}, not read"
        cure = "unpack what is compressed, and write Parquet, Feather or CSV"
        warnings.warn(f"{what}: {cure}.", CalibrationWarning, stacklevel=2)


def _is_unread(path: Path) -> bool:
    ending, endings = path.suffix.lower(), {suffix.lower() for suffix in path.suffixes}
    return ending in UNREAD or (ending in COMPRESSED and bool(endings & {*FORMATS, *UNREAD}))


def local_files(path: Path) -> list[Path]:
    """List the files that a path stands for, by their names: itself, the tables of a folder, or what fits a pattern.

    Links are followed, and each file is there once: under its own name where that is among them.
    """
    start, pattern = split(PurePosixPath(path.absolute().as_posix()), os.path.lexists)
    folder = Path(start)
    if not pattern and not folder.is_dir():
        return [folder] if os.path.lexists(folder) else []
    if not folder.is_dir():
        return []
    shown = not any(part.startswith(".") for part in pattern)
    below = _below(
        folder, deep=is_deep(pattern) or not pattern, hidden=(HIDDEN if not pattern else (".",)) if shown else ()
    )
    relative = ((one, PurePosixPath(one.relative_to(folder).as_posix())) for one in below)
    found = (one for one, name in relative if (fits(name.parts, pattern) if pattern else is_table(name)))
    return sorted(found, key=Path.as_posix)


def _below(folder: Path, *, deep: bool, hidden: tuple[str, ...]) -> Iterator[Path]:
    """Yield the files of a folder, each once; links are looked at after all else, so that they never lead round."""
    plain, links, seen = [folder], list[Path](), set[str]()
    while plain or links:
        at = plain.pop(0) if plain else links.pop(0)
        if (real := os.path.realpath(at)) in seen:
            continue
        if at.is_dir() and (deep or at == folder):
            for one in sorted(one for one in at.iterdir() if not one.name.startswith(hidden)):
                (links if one.is_symlink() else plain).append(one)
        elif at.is_dir() or (at.exists() and not at.is_file()):
            continue
        else:  # a link that leads nowhere is missed where it is read
            yield at
        seen.add(real)
