"""Where tables are: paths, folders, patterns and addresses of other file systems, as files in the order of their names."""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from calibrant.interop.tables import FORMATS, format_of

Address = str | os.PathLike[str]

PATTERN = re.compile(r"[*?\[]")
"""A letter that makes an address a pattern."""

STREAMED = {ending: kind for ending, kind in FORMATS.items() if kind != "npz"}
"""Endings of files that are read batch by batch."""


@dataclass(frozen=True)
class File:
    """A file of a file system of pyarrow, and what it is called in messages."""

    system: Any
    path: str
    name: str

    @property
    def kind(self) -> str:
        """Its format, by its ending."""
        kind = format_of(self.path)
        if kind == "npz":
            raise ValueError(
                f"files that are read in batches must not be NPZ; got {self.name}. Write Parquet, or read it whole."
            )
        return kind


def files_of(source: Address | Sequence[Address]) -> list[File]:
    """List the files of paths, folders, patterns and addresses such as ``s3://bucket/folder``.

    Files of a folder are those that end as tables do, in its folders as well, but for hidden ones; by their names.
    """
    given = [source] if isinstance(source, (str, os.PathLike)) else list(source)
    found = [file for address in given for file in _files(os.fspath(address))]
    if not found:
        raise ValueError("predictions must be in at least one file; got an empty list. Pass paths.")
    return found


def _files(address: str) -> Iterator[File]:
    from pyarrow import fs

    system, path = _system(address)
    start = path
    if is_pattern := bool(PATTERN.search(path)) and system.get_file_info(path).type == fs.FileType.NotFound:
        start = str(PurePosixPath(*before_pattern(PurePosixPath(path))))
    info = system.get_file_info(start)
    if info.type == fs.FileType.NotFound:
        raise FileNotFoundError(f"the file must exist; got {address}. Check the path.")
    if info.type == fs.FileType.File:
        yield File(system, start, address)
        return
    deep = not is_pattern or "**" in path or len(PurePosixPath(path).parts) > len(PurePosixPath(start).parts) + 1
    below = system.get_file_info(fs.FileSelector(start, recursive=deep))
    paths = [one.path for one in below if one.type == fs.FileType.File]
    chosen = [
        one
        for one in sorted(paths)
        if (fits(one, path) if is_pattern else is_table(PurePosixPath(one).relative_to(start)))
    ]
    if not chosen:
        endings = ", ".join(STREAMED)
        raise FileNotFoundError(f"{address} must hold files that end in {endings}; it holds none. Check the path.")
    for one in chosen:
        yield File(system, one, one)


def _system(address: str) -> tuple[Any, str]:
    """Return the file system of an address, and the path there; of fsspec where pyarrow has none of that name."""
    from pyarrow import fs

    if "://" not in address:
        return fs.LocalFileSystem(), Path(address).absolute().as_posix()
    try:
        system, path = fs.FileSystem.from_uri(address)
    except (ValueError, NotImplementedError) as error:  # pyarrow's for what it does not know
        try:
            from fsspec.core import url_to_fs
        except ImportError:
            raise ValueError(
                f"an address must be one that pyarrow or fsspec knows; got {address}: {error}. pip install fsspec."
            ) from error
        known, path = url_to_fs(address)
        system = fs.PyFileSystem(fs.FSSpecHandler(known))
    return system, path


def before_pattern(path: PurePosixPath) -> list[str]:
    """Return the parts of a path before the first that is a pattern."""
    parts = list(path.parts)
    at = next(number for number, part in enumerate(parts) if PATTERN.search(part))
    return parts[:at] or ["."]


def fits(path: str, pattern: str) -> bool:
    """Whether a path fits a pattern: a star stays within a folder, two stars go into any."""
    ours, theirs = PurePosixPath(path).parts, PurePosixPath(pattern).parts
    if "**" in theirs:
        return PurePosixPath(path).match(pattern) or fnmatch.fnmatch(path, pattern.replace("**/", "*"))
    return len(ours) == len(theirs) and all(map(fnmatch.fnmatchcase, ours, theirs))


def is_table(path: PurePosixPath) -> bool:
    """Whether a file of a folder is a table, and neither it nor its folder is hidden."""
    return path.suffix.lower() in STREAMED and not any(part.startswith((".", "_")) for part in path.parts)
