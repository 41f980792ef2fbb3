"""Windows of rows: by their number, by time, or by a name that is given."""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

import numpy as np
import numpy.typing as npt

from calibrant._core.parameters import refuse, require, whole

Key = int | float | str
"""What windows are told apart by, and ordered by."""

Numbers = int | npt.NDArray[np.int64]
"""Number of the first of some rows among all, or that of each."""

LAST = 1 << 53
"""Largest number of a row: beyond it, JSON of other languages loses digits."""

SECONDS = {"s": 1, "min": 60, "h": 3600, "d": 86_400, "w": 604_800}

DURATION = re.compile(rf"([1-9][0-9]{{0,5}})\s*({'|'.join(SECONDS)})")

MONDAY = 4 * SECONDS["d"]
"""Seconds from the beginning of 1970, a Thursday, to the first Monday: weeks begin then."""


def in_order(name: str) -> list[tuple[int, int, str]]:
    """Return what names are sorted by: numbers in them count as numbers, so that day_9 stands before day_10."""
    parts = re.split(r"(\d+)", name)
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts]


class Windows(ABC):
    """How rows are told apart into windows."""

    @abstractmethod
    def keys(self, at: Any, n: int, first: Numbers) -> npt.NDArray[Any]:
        """Return the window of each of n rows, shape (n,); ``first`` is the number of the first of them, or that of each."""

    @abstractmethod
    def name(self, key: Key) -> str:
        """Return what a window is called."""

    def is_key(self, key: object) -> bool:
        """Whether it may be the key of a window."""
        return type(key) is int and abs(key) <= LAST


@dataclass(frozen=True)
class OfRows(Windows):
    """So many rows each, in the order in which they are given."""

    rows: int

    def keys(self, at: Any, n: int, first: Numbers) -> npt.NDArray[Any]:
        """Divide the number of each row."""
        require(
            at is None,
            "at must be left out where windows are numbers of rows",
            got="at",
            hint="Pass Monitor(window='1d') for windows of time, or Monitor() for windows that at= names",
        )
        return (first if isinstance(first, np.ndarray) else first + np.arange(n)) // self.rows

    def name(self, key: Key) -> str:
        """Return the numbers of the first row and of the one behind the last."""
        return f"rows {int(key) * self.rows}:{(int(key) + 1) * self.rows}"


@dataclass(frozen=True)
class OfTime(Windows):
    """A length of time each, such as "1d": days of UTC, weeks from Monday."""

    length: str

    @property
    def seconds(self) -> int:
        """The length in seconds."""
        found = DURATION.fullmatch(self.length)
        assert found is not None
        return int(found[1]) * SECONDS[found[2]]

    @property
    def _origin(self) -> int:
        return MONDAY if self.length.endswith("w") else 0

    def keys(self, at: Any, n: int, first: Numbers) -> npt.NDArray[Any]:
        """Divide the time of each row."""
        time = as_times(_for_each(at, n, f"window={self.length!r}"))
        second = time.astype("datetime64[s]").astype(np.int64)
        return (second - self._origin) // self.seconds

    def name(self, key: Key) -> str:
        """Return the time at which it begins."""
        begin = int(key) * self.seconds + self._origin
        text = str(np.datetime64(begin, "s"))
        return text.removesuffix("T00:00:00") if self.seconds % SECONDS["d"] == 0 else text.removesuffix(":00")


@dataclass(frozen=True)
class Named(Windows):
    """One for each value of ``at``, in their order; numbers in words count as numbers."""

    def keys(self, at: Any, n: int, first: Numbers) -> npt.NDArray[Any]:
        """Take the names as they are, dates as words."""
        found = _for_each(at, n, "window=None")
        if found.dtype.kind == "M":
            return np.datetime_as_string(found)
        listed = found.tolist()
        if any(isinstance(key, (date, datetime)) for key in listed):
            return np.array([key.isoformat() for key in listed])
        is_one_kind = found.dtype.kind in "iufUT" or all(isinstance(key, str) for key in listed)
        require(
            is_one_kind and all(map(self.is_key, listed)),
            "at must be numbers, dates or words, one kind of them",
            got=f"{listed[:3]}",
            hint="Name each window by a number, a date or a word",
        )
        return found if found.dtype.kind in "iuf" else np.array([str(key) for key in listed])

    def name(self, key: Key) -> str:
        """Return the name as text."""
        return str(key)

    def is_key(self, key: object) -> bool:
        """Whether it is a word or a finite number."""
        return type(key) in (int, str) or (type(key) is float and math.isfinite(key))


def as_windows(window: object) -> Windows:
    """Return the windows of a word or a number; None stands for those that are named."""
    if window is None:
        return Named()
    hint = "Pass a number of rows such as 1000, a length of time such as '1d', '6h' or '1w', or None for windows that at= names"
    if isinstance(window, str):
        must = "window must be a whole number with one of s, min, h, d, w behind it"
        require(DURATION.fullmatch(window), must, value=window, hint=hint)
        return OfTime(window)
    return OfRows(whole("window", window, least=1, hint=hint))


def _for_each(at: Any, n: int, where: str) -> npt.NDArray[Any]:
    """Return one value for each of n rows."""
    hint = "Pass at= with a time or a name for each row, or one for all of them"
    require(at is not None, f"at must be given with {where}", got="none", hint=hint)
    array = np.asarray(at)
    if array.dtype == object or array.dtype.kind == "T":
        array = np.array(array.tolist(), dtype=object) if array.ndim else np.array(array.item(), dtype=object)
    if array.ndim == 0:
        array = np.broadcast_to(array, (n,))
    require(
        array.shape == (n,), f"at must hold a value for each of the {n} rows", got=f"shape {array.shape}", hint=hint
    )
    return array


def as_times(values: npt.NDArray[Any]) -> npt.NDArray[np.datetime64]:
    """Return times in UTC, shape (n,); those without a time zone are taken as they are."""
    if values.dtype.kind == "M":
        found = values
    else:
        listed = values.tolist()
        known = {value: _time_of(value) for value in set(listed)}
        found = np.array([known[value] for value in listed], dtype="datetime64[us]")
    missing = np.isnat(found)
    require(
        not missing.any(),
        "at must be a time in each row",
        got="a missing one",
        hint="Leave these rows out, or date them",
    )
    return found


def _time_of(value: object) -> np.datetime64:
    """Return the time of a text of ISO 8601, or of a date or time of Python."""
    time = value
    if isinstance(value, str):
        try:
            time = datetime.fromisoformat(value)
        except ValueError:
            time = None
    if isinstance(time, date) and not isinstance(time, datetime):
        time = datetime(time.year, time.month, time.day)
    if not isinstance(time, datetime):
        refuse(
            "at must be a time as in ISO 8601, such as 2026-11-23 or 2026-11-23T08:30", value=value, hint="Convert it"
        )
    return np.datetime64(time if time.tzinfo is None else time.astimezone(UTC).replace(tzinfo=None))
