"""The arrays of an NPZ file: looked at when the file is opened, decompressed only where their numbers are asked for."""

from __future__ import annotations

import math
import zipfile
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from calibrant.interop.columns import Array, Values

MOST_DEFLATED = 1032
"""Bytes that a byte of a deflated file stands for at most."""


@dataclass(frozen=True, eq=False)
class Member:
    """A column that is an array of an NPZ file; ``rows`` of it, once it has been sliced."""

    path: Path
    info: zipfile.ZipInfo
    shape: tuple[int, ...]
    has_objects: bool = False
    rows: range = field(default=range(0))

    def __len__(self) -> int:
        return len(self.rows)

    def values(self) -> Array:
        """Return the array."""
        return self._read[self.rows.start : self.rows.stop : self.rows.step] if self.shape else self._read

    def cells(self) -> list[str]:
        """Return what stands in a CSV file."""
        return Values(self.values()).cells()

    def arrow(self) -> Any:
        """Return an array of pyarrow."""
        return Values(self.values()).arrow()

    def sliced(self, rows: slice) -> Member:
        """Return some of the rows."""
        return replace(self, rows=self.rows[rows])

    @cached_property
    def _read(self) -> Array:
        if self.has_objects:
            raise TypeError(
                f"{self.path} must hold numbers, booleans or words in {self.info.filename!r}; it holds Python objects, "
                "which may run code when they are read. Save it with another dtype: .astype(str), or .astype(float)."
            )
        try:
            with zipfile.ZipFile(self.path) as archive, archive.open(self.info) as stream:
                found: Array = np.lib.format.read_array(stream, allow_pickle=False)
        except Exception as error:  # of zipfile, zlib and numpy
            raise ValueError(
                f"{self.path} must hold a readable array {self.info.filename!r}; it is not: "
                f"{str(error).splitlines()[0] if str(error) else type(error).__name__}. Was it cut or damaged?"
            ) from error
        return found


def members_of(path: Path) -> dict[str, Member]:
    """Return the arrays in a file, by name: their heads are read and compared with their sizes.

    What is no array (it does not end in .npy) is left alone, and what holds Python objects is not read.
    """
    if not zipfile.is_zipfile(path):
        raise ValueError("it is no zip archive")
    found: dict[str, Member] = {}
    with zipfile.ZipFile(path) as archive:
        for info in (info for info in archive.infolist() if info.filename.endswith(".npy")):
            name = info.filename.removesuffix(".npy")
            if name in found:
                raise ValueError(f"it has the array {name!r} more than once")
            shape, has_objects = _head(archive, info)
            found[name] = Member(path, info, shape, has_objects, range(shape[0] if shape else 0))
    return found


def _head(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> tuple[tuple[int, ...], bool]:
    """Return what the head of an array declares: its shape, which the size must bear out, and whether it holds objects."""
    with archive.open(info) as stream:
        version = np.lib.format.read_magic(stream)
        read_head = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, dtype = read_head(stream)
        head = stream.tell()
    packed = info.compress_size * (MOST_DEFLATED if info.compress_type == zipfile.ZIP_DEFLATED else 1)
    known = info.compress_type in (zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED)
    size = info.file_size - head
    borne_out = math.prod(shape) <= size if dtype.hasobject else math.prod(shape) * dtype.itemsize == size
    if (
        not dtype.itemsize
        or not borne_out  # a pickled object has a byte at least
        or (known and packed < info.file_size)
    ):
        raise ValueError(
            f"the array {info.filename!r} declares a shape, {shape} of {dtype}, that its size does not bear out"
        )
    return tuple(shape), dtype.hasobject
