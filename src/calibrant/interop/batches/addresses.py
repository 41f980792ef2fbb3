"""Where tables are: paths, folders, patterns and addresses of other file systems, as files in the order of their names."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from calibrant.interop.local_files import (
    STREAMED,
    fits,
    is_deep,
    is_table,
    local_files,
    local_path,
    split,
    warn_of_unread,
)
from calibrant.interop.tables import format_of

Address = str | os.PathLike[str]


@dataclass(frozen=True)
class File:
    """A file of a file system of pyarrow, and what it is called in messages."""

    system: Any
    path: str
    name: str
    is_local: bool = False

    @property
    def kind(self) -> str:
        """Its format, by its ending."""
        kind = format_of(self.path)
        if kind == "npz":
            raise ValueError(
                f"files that are read in batches must not be NPZ; got {self.name}. Write Parquet, or read it whole."
            )
        return kind

    @property
    def identity(self) -> tuple[str, str]:
        """What tells it from other files, whatever it was called."""
        return ("", os.path.realpath(self.path)) if self.is_local else (self.system.type_name, self.path)


def files_of(source: Address | Sequence[Address]) -> list[File]:
    """List the files of paths, folders, patterns and addresses such as ``s3://bucket/folder``, each of them once.

    Files of a folder are those that end as tables do, in its folders as well, but for hidden ones; by their names.
    """
    given = [source] if isinstance(source, (str, os.PathLike)) else list(source)
    found: dict[tuple[str, str], File] = {}
    for address in given:
        if not os.fspath(address):
            raise FileNotFoundError(
                "a path must name a file or a folder; got an empty text. Name one, '.' for this folder."
            )
        for file in _files(os.fspath(address)):
            found.setdefault(file.identity, file)
    if not found:
        raise ValueError("predictions must be in at least one file; got an empty list. Pass paths.")
    return list(found.values())


def _files(address: str) -> Iterator[File]:
    path = local_path(address)
    if path is None:
        yield from _remote_files(address)
        return
    from pyarrow import fs

    system, files = fs.LocalFileSystem(), local_files(path)
    is_file = [file.as_posix() for file in files] == [path.absolute().as_posix()]
    _require_found(address, files, is_there=os.path.lexists(path) or bool(split(_posix(path), os.path.lexists)[1]))
    warn_of_unread(address, path)
    for file in files:
        yield File(system, file.as_posix(), address if is_file else str(file), is_local=True)


def _posix(path: Path) -> PurePosixPath:
    return PurePosixPath(path.absolute().as_posix())


def _require_found(address: str, files: Sequence[object], *, is_there: bool) -> None:
    if not is_there:
        raise FileNotFoundError(f"the file must exist; got {address}. Check the path.")
    if not files:
        raise FileNotFoundError(
            f"{address} must hold files that end in {', '.join(STREAMED)}; it holds none. Check the path."
        )


def _remote_files(address: str) -> Iterator[File]:
    from pyarrow import fs

    system, path = _system(address)

    def exists(path: str) -> bool:
        return bool(system.get_file_info(path).type != fs.FileType.NotFound)

    start, pattern = split(PurePosixPath(path), exists)
    info = system.get_file_info(str(start))
    if info.type == fs.FileType.File and not pattern:
        yield File(system, path, address)
        return
    below = []
    if info.type == fs.FileType.Directory:
        selector = fs.FileSelector(str(start), recursive=is_deep(pattern) or not pattern)
        below = [PurePosixPath(one.path) for one in system.get_file_info(selector) if one.type == fs.FileType.File]
    relative = ((one, one.relative_to(start)) for one in sorted(below, key=str))
    found = [one for one, name in relative if (fits(name.parts, pattern) if pattern else is_table(name))]
    _require_found(address, found, is_there=bool(pattern) or info.type != fs.FileType.NotFound)
    for one in found:
        yield File(system, str(one), str(one))


def _system(address: str) -> tuple[Any, str]:
    """Return the file system of an address, and the path there; of fsspec where pyarrow has none of that name."""
    from pyarrow import fs

    try:
        system, path = fs.FileSystem.from_uri(address)
    except (ValueError, NotImplementedError) as error:  # pyarrow's for what it does not know
        try:
            from fsspec.core import url_to_fs
        except ImportError:
            raise ValueError(
                f"an address must be one that pyarrow or fsspec knows; got {address}: {error}. pip install fsspec."
            ) from error
        try:
            known, path = url_to_fs(address)
        except (ValueError, ImportError) as unknown:
            raise ValueError(
                f"an address must be one that pyarrow or fsspec knows; got {address}: {unknown}. Check it, or install that."
            ) from unknown
        system = fs.PyFileSystem(fs.FSSpecHandler(known))
    return system, path
