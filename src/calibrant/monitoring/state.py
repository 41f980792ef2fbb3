"""What a monitor wrote down, read and checked: a state may be damaged, cut or made up, and then no figure of it is shown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from calibrant._core.checks import are_words, refuse, require, whole
from calibrant._core.checksum import checksum_of
from calibrant._core.rows import Problem
from calibrant.notions import ClassWise, Notion
from calibrant.sums import Plan, Sums, scan

# The options of a monitor in plain words and numbers, and whether those of two monitors are the same


OPTIONS = ("window", "reference", "alpha", "notion", "binning", "labels", "pos_label", "input", "rows")


def options_of(monitor: Any) -> dict[str, Any]:
    """Return the options of a monitor as JSON has them."""
    plain = {name: getattr(monitor, name) for name in OPTIONS}
    plain["notion"] = None if monitor.notion is None else monitor.notion.name
    plain["binning"] = monitor.binning.n_bins
    plain["labels"] = None if monitor.labels is None else [plain_label(label) for label in monitor.labels]
    return plain


def plain_label(label: Any) -> Any:
    """Return a label as Python and JSON have it, and not as NumPy."""
    return label.item() if isinstance(label, np.generic) else label


def differing(ours: Mapping[str, Any], theirs: Mapping[str, Any], *, decided: bool) -> list[str]:
    """Return the names of the options that differ; notion and labels may be open where one monitor has no rows yet."""
    open_yet = [] if decided else [name for name in ("notion", "labels") if None in (ours[name], theirs[name])]
    return [name for name in OPTIONS if name not in open_yet and ours[name] != theirs[name]]


# Windows of rows: by their number, by time, or by a name that is given


Key = int | float | str
"""What windows are told apart by, and ordered by."""

LAST = 1 << 53
"""Largest number of a row: beyond it, JSON of other languages loses digits."""

SECONDS = {"s": 1, "min": 60, "h": 3600, "d": 86_400, "w": 604_800}

DURATION = re.compile(rf"([1-9][0-9]{{0,5}})\s*({'|'.join(SECONDS)})")

MONDAY = 4 * SECONDS["d"]
"""Seconds from the beginning of 1970, a Thursday, to the first Monday: weeks begin then."""


def in_order(name: str) -> list[tuple[int, int, str]]:
    """Return what names are sorted by: numbers in them count as numbers, so that day_9 stands before day_10."""
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in re.split(r"(\d+)", name)]


@dataclass(frozen=True)
class OfRows:
    """So many rows each, in the order in which they are given.

    Of all three kinds ``keys`` (n,) are the windows of n rows, of which the first has the number ``first``.
    """

    window: int

    def keys(self, at: Any, n: int, first: int) -> npt.NDArray[Any]:
        """Divide the number of each row."""
        hint = "Pass Monitor(window='1d') for windows of time, or Monitor() for windows that at= names"
        require(at is None, "at must be left out where windows are numbers of rows", got="at", hint=hint)
        return (first + np.arange(n)) // self.window

    def name(self, key: Key) -> str:
        """Return the numbers of the first row and of the one behind the last."""
        return f"rows {int(key) * self.window}:{(int(key) + 1) * self.window}"


@dataclass(frozen=True)
class OfTime:
    """A length of time each, such as "1d": days of UTC, weeks from Monday."""

    window: str

    @property
    def seconds(self) -> int:
        """The length in seconds."""
        ((number, unit),) = DURATION.findall(self.window)
        return int(number) * SECONDS[unit]

    @property
    def _origin(self) -> int:
        return MONDAY if self.window.endswith("w") else 0

    def keys(self, at: Any, n: int, first: int) -> npt.NDArray[Any]:
        """Divide the time of each row."""
        time = as_times(_for_each(at, n, f"window={self.window!r}"))
        return (time.astype("datetime64[s]").astype(np.int64) - self._origin) // self.seconds

    def name(self, key: Key) -> str:
        """Return the time at which it begins."""
        text = str(np.datetime64(int(key) * self.seconds + self._origin, "s"))
        return text.removesuffix("T00:00:00") if self.seconds % SECONDS["d"] == 0 else text.removesuffix(":00")


@dataclass(frozen=True)
class Named:
    """One for each value of ``at``, in their order; numbers in words count as numbers."""

    window: ClassVar[None] = None

    def keys(self, at: Any, n: int, first: int) -> npt.NDArray[Any]:
        """Take the names as they are, dates and times of UTC as words, the same for the same time whatever its type."""
        found = _for_each(at, n, "window=None")
        listed = found.tolist()
        if found.dtype.kind == "M" or any(isinstance(key, date) for key in listed):
            words = np.datetime_as_string(as_times(found).astype("datetime64[us]"))
            return np.array([word.removesuffix(".000000").removesuffix("T00:00:00") for word in words.tolist()])
        fits = np.isfinite(found).all() if found.dtype.kind in "iuf" else are_words(listed)
        must, kinds = "at must be numbers, dates or words, one kind of them", {(type(k), k == k): k for k in listed}
        require(fits, must, got=f"{list(kinds.values())}", hint="Name each window by a number, a date or a word")
        return found if found.dtype.kind in "iuf" else np.array([str(key) for key in listed])

    def name(self, key: Key) -> str:
        """Return the name as text, that of 1.0 as that of 1: they are one window."""
        return str(int(key) if isinstance(key, float) and key.is_integer() else key)


Windows = OfRows | OfTime | Named
"""How rows are told apart into windows."""


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
    if array.dtype.kind in "OTU":  # NumPy writes what stands beside words in a list as words
        array = np.asarray(at, dtype=object)
    array = array if array.ndim else np.broadcast_to(array, (n,))
    must, got = f"at must hold a value for each of the {n} rows", f"shape {array.shape}"
    require(array.shape == (n,), must, got=got, hint=hint)
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
    must = "at must be a time in each row"
    require(not missing.any(), must, got="a missing one", hint="Leave these rows out, or date them")
    return found


def _time_of(value: object) -> np.datetime64:
    """Return the time of a text of ISO 8601, or of a date or time of Python."""
    time: Any = value
    if isinstance(value, str):
        with suppress(ValueError):
            time = datetime.fromisoformat(value)
    if isinstance(time, datetime) and time.tzinfo is not None:
        time = time.astimezone(UTC).replace(tzinfo=None)
    must = "at must be a time as in ISO 8601, such as 2026-11-23 or 2026-11-23T08:30"
    require(isinstance(time, date) or time is None or time != time, must, value=value, hint="Convert it")
    return np.datetime64(time if time == time else "NaT")  # that of pandas, a date too, and NaN


# Sums of windows of rows, which add up window by window


MOST_WINDOWS = 10_000
"""Windows up to which evidence is computed in seconds."""


@dataclass(frozen=True, eq=False)
class ByWindow:
    """Sums of each window by its key; ``+`` adds up those of the same window.

    Attributes
    ----------
    sums : dict of Sums
        Those of each window.
    rows : int
        Number of rows that were read, those of weight zero left out.
    end : int
        Number of the row behind the last, among all rows that were given: the next ones begin there.
    """

    sums: Mapping[Key, Sums]
    rows: int = 0
    end: int = 0

    def __add__(self, other: ByWindow) -> ByWindow:
        joined = dict(self.sums)
        for key, sums in other.sums.items():
            joined[key] = added(joined[key], sums) if key in joined else sums
        require_few(len(joined))
        return ByWindow(joined, self.rows + other.rows, max(self.end, other.end))

    @property
    def keys(self) -> list[Key]:
        """Which windows there are, in their order; 01 before 1, whichever was read first."""
        are_words = {isinstance(key, str) for key in self.sums}
        must = "windows must be named by numbers or by words"
        require(len(are_words) < 2, must, got="both", hint="Name all of them alike in at=")
        by: Any = in_order if True in are_words else None
        return sorted(sorted(self.sums), key=by)

    @classmethod
    def of(cls, problem: Problem, keys: npt.NDArray[Any], plan: Plan, end: int) -> ByWindow:
        """Sum the rows of each window; ``keys`` (n,) says whose each row is, and ``end`` which number comes after the last."""
        distinct, code = np.unique(keys, return_inverse=True)
        require_few(distinct.size)
        ends = np.cumsum(np.bincount(code, minlength=distinct.size))
        order = np.argsort(code, kind="stable")
        found = {}
        for key, rows in zip(distinct.tolist(), np.split(order, ends[:-1]), strict=True):
            found[key] = summed(problem if distinct.size == 1 else problem.at(rows), plan)
        return cls(found, problem.size, end)


def added(ours: Sums, theirs: Sums) -> Sums:
    """Add up sums, of predictions of one precision: the edges of bins are rounded to it."""
    edges = [{one.bins.edges.tobytes() for one in sums.cells[0] if one.bins.count.any()} for sums in (ours, theirs)]
    must = "predictions of one window, and of a reference, must be of one precision"
    require(edges[0] == edges[1], must, got="single and double", hint="Pass y_prob in double precision")
    return ours + theirs


def require_few(windows: int) -> None:
    """Refuse more windows than can be looked at."""
    must = f"a monitor must have at most {MOST_WINDOWS} windows"
    require(windows <= MOST_WINDOWS, must, value=windows, hint="Pass a longer window=")


def summed(problem: Problem, plan: Plan) -> Sums:
    """Sum rows; one of weight w is w rows. Rows that a scan keeps, to draw noise of several classes, are many: they go."""
    must = "sample_weight of a monitor must be whole numbers, each a number of equal rows"
    require(problem.weights.are_counts, must, got="fractions", hint="Leave the weights out, or repeat rows")
    must, total = "sample_weight must be numbers of at most 2^53 rows in all", problem.weights.total
    require(total <= LAST, must, got=f"{total:.3g}", hint="Leave the weights out")
    return replace(scan(problem, plan), kept=None)


# What a monitor must have: a notion and bins of which sums by window add up


def known_notion(notion: Notion) -> Notion:
    """Return a notion of which rows in different cells are independent, or which is a mean over classes."""
    must = "notion of a monitor must be binary, confidence, top-label or class-wise"
    require(notion.one_score_a_row or type(notion) is ClassWise, must, got=notion.name, hint="Choose one of them")
    return notion


# The document of a monitor


VERSION = 1
"""Of what `Monitor.to_dict` writes."""


@contextmanager
def of_a_state() -> Iterator[None]:
    """Say in words what Python, NumPy or SciPy finds wrong with a state: an entry that lacks, or is of another kind or size."""
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError) as error:
        if str(error).endswith((".", "?")):  # our own errors are sentences
            raise
        hint = "Pass what Monitor.to_dict gave, as it is"
        refuse("the state of a monitor must be whole", got=f"{type(error).__name__}: {error}", hint=hint)


def require_written(plain: Any) -> None:
    """Refuse what no monitor of this version wrote, and what was changed since."""
    version = plain.get("calibrant_monitor") if isinstance(plain, Mapping) else None
    must = f"plain must be the state of a monitor, version {VERSION}"
    got = "something else" if version is None else f"version {version!r}"
    require(type(version) is int and version == VERSION, must, got=got, hint="Pass what Monitor.to_dict gave")
    must, hint = "the state of a monitor must match its checksum", "Take a copy of it, or add the rows to a new monitor"
    require(plain.get("checksum") == checksum_of(plain), must, got="one that was changed or damaged", hint=hint)
