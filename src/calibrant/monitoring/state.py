"""What a monitor wrote down, read and checked: a state may be damaged, cut or made up, and then no figure of it is shown."""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from calibrant._core.border import Input
from calibrant._core.checks import refuse, require, whole
from calibrant._core.checksum import checksum_of
from calibrant._core.rows import Problem, Rows, Weights
from calibrant.binning import Binning, EqualWidth, as_binning
from calibrant.binning.bins import even_edges
from calibrant.monitoring.evidence import IMPOSSIBLE, LOG_LOSS, plan_of
from calibrant.notions import ClassWise, Notion, as_notion
from calibrant.sums import Plan, Sums, scan
from calibrant.sums.reading import Predictions

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


def event_last(labels: Sequence[Any], pos_label: Any) -> list[Any]:
    """Return labels of columns with that of the event last, where it is one of two."""
    plain = [plain_label(label) for label in labels]
    return plain[::-1] if len(plain) == 2 and pos_label is not None and plain[0] == pos_label else plain


def differing(ours: Mapping[str, Any], theirs: Mapping[str, Any], *, decided: bool) -> list[str]:
    """Return the names of the options that differ; notion and labels may be open where one monitor has no rows yet."""
    open_yet = [] if decided else [name for name in ("notion", "labels") if None in (ours[name], theirs[name])]
    return [name for name in OPTIONS if name not in open_yet and ours[name] != theirs[name]]


# Windows of rows: by their number, by time, or by a name that is given


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
        """Which windows there are, in their order."""
        kinds = {isinstance(key, str) for key in self.sums}
        require(
            len(kinds) < 2,
            "windows must be named by numbers or by words",
            got="both",
            hint="Name all of them alike in at=",
        )
        return sorted(self.sums, key=lambda key: in_order(key) if isinstance(key, str) else [(0, key, "")])

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


def of_predictions(predictions: Predictions, start: int, at: Any, windows: Windows, plan: Plan) -> ByWindow:
    """Sum predictions that are read in batches; ``start`` is the number of their first row among all."""
    found = predictions.reduce(lambda batch, number: _of_batch(batch, start + number, at, windows, plan))
    return replace(found, end=max(found.end, start + (getattr(predictions, "n_rows", None) or 0)))


def _of_batch(batch: Problem, number: Numbers, at: Any, windows: Windows, plan: Plan) -> ByWindow:
    """Sum a batch, of which the first row has this number among all, or each its own."""
    end = int(number.max()) + 1 if isinstance(number, np.ndarray) else number + batch.size
    return ByWindow.of(batch, windows.keys(at, batch.size, number), plan, end)


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
    """Sum rows; one of weight w is w rows. Rows that a scan keeps, to draw noise of several classes, are many: they go.

    Weights are read bit by bit, the highest first: what was summed so far is doubled, which loses no digit, and rows whose
    weight has the bit are added. So a weight costs as many readings as it has bits, and no memory.
    """
    if problem.weights.is_unit:
        return replace(scan(problem, plan), kept=None)
    times = _whole_numbers(problem.weights)
    total = Sums.of_no_rows(plan)
    for bit in reversed(range(int(times.max(initial=0)).bit_length())):
        rows = np.flatnonzero(times >> bit & 1)
        total += total
        if rows.size:
            total += replace(scan(problem.at(rows, Weights.one_each(rows.size)), plan), kept=None)
    return total


def _whole_numbers(weights: Weights) -> npt.NDArray[np.int64]:
    """Return how many rows each row stands for."""
    require(
        weights.are_counts,
        "sample_weight of a monitor must be whole numbers, each a number of equal rows",
        got="fractions",
        hint="Leave the weights out, or repeat rows",
    )
    must = "sample_weight must be numbers of at most 2^53 rows in all"
    require(weights.total <= LAST, must, got=f"{weights.total:.3g}", hint="Leave the weights out")
    return weights.values.astype(np.int64)


# What the first rows of a monitor settle, and all later ones must have: notion and classes


class Settings(Protocol):
    """What a monitor was made with, or its first rows decided."""

    notion: Notion | None
    binning: EqualWidth
    labels: Any
    pos_label: Any
    input: Input
    rows: Rows


def plan_for(monitor: Settings, problem: Problem, before: Plan | None) -> Plan:
    """Return what is summed: that of the rows before, of which these have the classes; or that which these rows decide."""
    classes, event = problem.classes.tolist(), monitor.pos_label
    known = classes if monitor.labels is None else event_last(monitor.labels, event)
    is_event = event is None or len(classes) > 2 or classes[-1] == event
    require(
        classes == known and is_event,
        "rows of a monitor must have the same classes, the event last",
        got=f"{classes[:5]}, and {known[:5] if is_event else f'the event {event!r}'} before",
        hint="Pass Monitor(labels=...) with all classes in the order of the columns",
    )
    if before is not None:
        return before
    return plan_of(known_notion(as_notion(monitor.notion, problem)), monitor.binning)


def known_notion(notion: Notion) -> Notion:
    """Return a notion of which rows in different cells are independent, or which is a mean over classes."""
    require(
        notion.one_score_a_row or type(notion) is ClassWise,
        "notion of a monitor must be binary, confidence, top-label or class-wise",
        got=notion.name,
        hint="Choose one of them",
    )
    return notion


def of_equal_width(binning: int | Binning) -> EqualWidth:
    """Return bins of equal width, and refuse others: theirs differ from window to window."""
    cut = as_binning(binning)
    if not isinstance(cut, EqualWidth):
        must = "binning of a monitor must have the same edges in each window"
        refuse(must, value=cut, hint="Pass EqualWidth(n), or a number of bins")
    return cut


# What a monitor wrote down, read and checked: a state may be damaged, cut or made up, and then no figure of it is shown


VERSION = 1
"""Of what `Monitor.to_dict` writes."""

ENTRIES = {"calibrant_monitor", "options", "n_rows", "next_row", "windows", "reference", "alarms", "checksum"}

ROUNDING = 1e-9
"""How far a sum of probabilities may be beyond the number of its rows, in parts of it."""

HINT = "Pass what Monitor.to_dict gave, as it is"

Array = npt.NDArray[Any]


@contextmanager
def of_a_state() -> Iterator[None]:
    """Say in words what Python finds wrong with a state: an entry that lacks, or is of another kind."""
    try:
        yield
    except (KeyError, TypeError, AttributeError, IndexError, OverflowError, RecursionError) as error:
        refuse("the state of a monitor must be whole", got=f"{type(error).__name__}: {error}", hint=HINT)


def require_version(plain: object) -> None:
    """Refuse what no monitor of this version wrote."""
    version = plain.get("calibrant_monitor") if isinstance(plain, Mapping) else None
    require(
        type(version) is int and version == VERSION,
        f"plain must be the state of a monitor, version {VERSION}",
        got="something else" if version is None else f"version {version!r}",
        hint="Pass what Monitor.to_dict gave",
    )
    assert isinstance(plain, Mapping)
    require(
        plain.get("checksum") == checksum_of(plain),
        "the state of a monitor must match its checksum",
        got="one that was changed or damaged",
        hint="Take a copy of it, or add the rows to a new monitor",
    )
    _require(set(plain) == ENTRIES and set(plain["options"]) == set(OPTIONS), "exactly the entries of a state")
    options = plain["options"]
    _require(options["input"] in ("probability", "logit"), "probabilities or logits")
    _require(options["rows"] in ("as-given", "normalize", "percent"), "a rule for rows")
    _require(_is_label(options["pos_label"]) or options["pos_label"] is None, "a label as pos_label")
    labels = options["labels"]
    if labels is not None:
        are_labels = isinstance(labels, list) and len(labels) > 1 and all(map(_is_label, labels))
        _require(are_labels and len(set(map(repr, labels))) == len(labels), "distinct labels")
    _require(isinstance(plain["windows"], list), "a list of windows")
    _require(all(_is_whole(plain[name], LAST) for name in ("n_rows", "next_row")), "whole numbers of rows")


def require_empty(plain: Mapping[str, Any]) -> None:
    """Refuse rows whose notion is not known."""
    is_empty = not plain["windows"] and plain["reference"] is None and plain["n_rows"] == 0
    _require(is_empty, "the notion of its rows")


def require_alarms(alarms: Any, names: Sequence[str], alpha: float) -> list[dict[str, Any]]:
    """Return what was written of alarms, if it is one of each test at most, of these windows."""
    _require(isinstance(alarms, list), "a list of alarms")
    for one in alarms:
        is_one = set(one) == {"test", "window", "evidence", "alpha", "where"} and isinstance(one["where"], str)
        _require(is_one and one["test"] in ("calibration", "drift"), "alarms of tests")
        _require(one["window"] in names and one["alpha"] == alpha, "alarms of its windows")
        is_found = type(one["evidence"]) in (int, float) and 0.0 < one["evidence"] < np.inf
        _require(is_found or one["evidence"] == "inf", "the evidence of alarms")
    return list(alarms)


@dataclass(frozen=True)
class State:
    """Reads sums of a plan: what is found must be sums of rows, with these labels."""

    plan: Plan
    names: Windows
    labels: list[Any]

    def windows(self, plain: Mapping[str, Any]) -> ByWindow:
        """Return the sums of each window."""
        found: dict[Any, Sums] = {}
        require_few(len(plain["windows"]))
        for one in plain["windows"]:
            _require(set(one) == {"window", "sums"} and self.names.is_key(one["window"]), "names of windows")
            _require(one["window"] not in found, "each window once")
            found[one["window"]] = self.sums(one["sums"])
        _require(len(found) <= plain["n_rows"] <= sum(sums.rows for sums in found.values()), "all rows in its windows")
        return ByWindow(found, plain["n_rows"], plain["next_row"])

    def sums(self, plain: Mapping[str, Any]) -> Sums:
        """Return sums of rows, if they are such."""
        notion, rows = self.plan.cells[0][0], plain["rows"]
        _require(_is_whole(rows, LAST) and rows > 0 and plain["weight"] == rows, "numbers of rows")
        _require(plain["unit"] == {"are_counts": True, "rows_per_weight": 1.0}, "weights that are rows")
        _require(plain["n_classes"] == len(self.labels) > 1, "the number of classes")
        cells = plain["cells"]
        _require(isinstance(cells, list) and len(cells) == 1, "cells of one notion")
        counts = [self._rows_of(one) for one in cells[0]["problems"]]
        per_class = notion.name in ("top-label", "class-wise")
        _require(len(counts) == (len(self.labels) if per_class else 1), "cells of each part")
        held = [sum(counts)] if notion.one_score_a_row else counts
        _require(all(count == rows for count in held), "cells of all rows")
        self._require_scores(plain["scores"], rows)
        return Sums.from_dict(plain, self.plan)

    def _require_scores(self, plain: Mapping[str, Any], rows: int) -> None:
        """Refuse a log loss that is negative or no number, and impossible events that are more than the rows."""
        _require(all(isinstance(one, list) and len(one) == 1 for one in plain.values()), "a sum of each score")
        (loss,), (impossible,) = plain[LOG_LOSS], plain[IMPOSSIBLE]
        is_loss = loss == "inf" or (type(loss) in (int, float) and 0.0 <= loss < np.inf)
        _require(is_loss, "a log loss that is not negative")
        is_number = type(impossible) in (int, float) and 0 <= impossible <= rows and impossible % 1 == 0
        _require(is_number, "whole numbers of impossible events")

    def _rows_of(self, plain: Mapping[str, Any]) -> int:
        """Return how many rows the bins of a part hold, after a look at whether they are sums of rows."""
        _require(
            isinstance(plain["name"], str) and 0.0 <= plain["share"] <= 1.0 + ROUNDING, "names and shares of parts"
        )
        binning = self.plan.cells[0][1]
        assert isinstance(binning, EqualWidth)
        edges, count = _numbers(plain["edges"]), _numbers(plain["count"], is_whole=True)
        known = [even_edges(binning.n_bins, np.dtype(kind)).edges for kind in (np.float64, np.float32, np.float16)]
        is_empty = edges.shape == (2,) and count.tolist() == [0]
        _require(is_empty or any(np.array_equal(edges, one) for one in known), "the edges of its bins")
        n = edges.size - 1
        weight, score, events = (_numbers(plain[name]) for name in ("weight", "score_sum", "outcome_sum"))
        _require(all(values.shape == (n,) for values in (count, weight, score, events)), "a number for each bin")
        _require(np.array_equal(weight, count), "weights that are rows")
        _require((score <= count * (1.0 + ROUNDING)).all(), "probabilities of at most 1")
        _require((events <= count).all() and (events % 1.0 == 0.0).all(), "whole numbers of events")
        self._require_strata(plain["strata"], count, events)
        return int(count.sum())

    def _require_strata(self, plain: Mapping[str, Any], count: Array, events: Array) -> None:
        """Refuse rows by outcome that are not those of the bins."""
        by_outcome, moments = _numbers(plain["count"], is_whole=True), _numbers(plain["sums"])
        n = count.size
        fit = by_outcome.shape == (2, n) and moments.shape == (2, 2, n)
        _require(fit and np.array_equal(by_outcome, [count - events, events]), "rows of each bin by outcome")
        _require((moments <= by_outcome * (1.0 + ROUNDING)).all(), "sums of at most one for each row")


def _numbers(values: object, *, is_whole: bool = False) -> Array:
    """Return finite numbers that are not negative."""
    try:
        found = np.array(values) if isinstance(values, list) else np.empty(0, dtype=object)
    except ValueError:  # lists of different lengths
        found = np.empty(0, dtype=object)
    is_right = found.dtype.kind in ("i" if is_whole else "if") and bool((found >= 0).all() and np.isfinite(found).all())
    _require(is_right, "finite numbers that are not negative")
    return found


def _is_whole(value: object, most: int) -> bool:
    return type(value) is int and 0 <= value <= most


def _is_label(value: object) -> bool:
    return isinstance(value, (str, int, float)) and value == value


def _require(holds: object, what: str) -> None:
    require(holds, f"the state of a monitor must hold {what}", got="something else", hint=HINT)
