"""A monitor: sums of predictions and outcomes by window, which add up, with figures and alarms; and the document of its state.

A state that is read may be damaged, cut or made up, and then no figure of it is shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from copy import copy
from dataclasses import asdict, dataclass, replace
from datetime import UTC, date, datetime
from functools import reduce
from threading import RLock
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from calibrant import drawing
from calibrant._core.arrays import ArrayLike, FloatArray, NDArray
from calibrant._core.border import Input, as_problem
from calibrant._core.checks import (
    are_words,
    as_level,
    fraction,
    refuse,
    require,
    require_order,
    resamples,
    sorted_periods,
    warn,
    whole,
)
from calibrant._core.checksum import checksum_of
from calibrant._core.result import DrawnResult, Picture, Table, in_columns
from calibrant._core.rows import BoolArray, InBatches, IntArray, Problem, Rows, SimplexProblem
from calibrant.binning import EqualWidth, as_binning
from calibrant.monitoring.evidence import Sequential, figures_of, plan_of
from calibrant.notions import ClassWise, Notion, as_notion
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


@dataclass(frozen=True)
class OfRows:
    """So many rows each, in the order in which they are given.

    Of all three kinds ``keys`` (n,) are the windows of n rows, of which the first has the number ``first``.
    """

    window: int

    def keys(self, at: Any, n: int, first: int) -> NDArray[Any]:
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

    def keys(self, at: Any, n: int, first: int) -> NDArray[Any]:
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

    def keys(self, at: Any, n: int, first: int) -> NDArray[Any]:
        """Take the names as they are, dates and times of UTC as words, the same for the same time whatever its type."""
        found = _for_each(at, n, "window=None")
        listed = found.tolist()
        if found.dtype.kind == "M" or any(isinstance(key, date) for key in listed):
            words = np.datetime_as_string(as_times(found).astype("datetime64[us]"))
            return np.array([word.removesuffix(".000000").removesuffix("T00:00:00") for word in words.tolist()])
        fits = np.isfinite(found).all() if found.dtype.kind in "iuf" else are_words(listed)
        must, kinds = "at must be numbers, dates or words, one kind of them", {(type(k), k == k): k for k in listed}
        require(fits, must, got=f"{list(kinds.values())}", hint="Name each window by a number, a date or a word")
        if found.dtype.kind in "iuf":
            return found
        words = np.array([str(key) for key in listed])
        require_order("names of windows", set(words.tolist()))
        return words

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


def _for_each(at: Any, n: int, where: str) -> NDArray[Any]:
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


def as_times(values: NDArray[Any]) -> NDArray[np.datetime64]:
    """Return times in UTC, shape (n,); those without a time zone are taken as they are."""
    if values.dtype.kind == "M":
        found = values
    else:
        # Times that differ in `fold` alone, the hour that comes twice, are equal to Python.
        listed = [(value, getattr(value, "fold", 0)) for value in values.tolist()]
        known = {pair: _time_of(pair[0]) for pair in set(listed)}
        found = np.array([known[pair] for pair in listed], dtype="datetime64[us]")
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
        return list(sorted_periods(map(str, self.sums)) if True in are_words else sorted(self.sums))

    @classmethod
    def of(cls, problem: Problem, keys: NDArray[Any], plan: Plan, end: int) -> ByWindow:
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


# Calibration by window, with the evidence after each: what a monitor shows


CALIBRATION, DRIFT = "calibration", "drift"


def shown_evidence(evidence: float) -> str:
    """Return evidence in words: it may be infinite, or more than a number can hold."""
    return "infinite" if evidence == np.inf else "more than 1e308" if evidence > 1e308 else f"{evidence:.3g}"


@dataclass(frozen=True)
class Alarm:
    """The first window after which the evidence of a test is enough.

    Attributes
    ----------
    test : {"calibration", "drift"}
        What is not so: that predictions are calibrated, or that gaps are those of the reference.
    window : str
        Name of the window.
    evidence : float
        What the bets of the test have made of 1, at least 1 / alpha; infinite where an event of probability 0 occurred.
    alpha : float
        Probability of a false alarm, ever, at most.
    where : str
        The rows whose bets gained most, and how they are wrong.
    """

    test: str
    window: str
    evidence: float
    alpha: float
    where: str

    def __str__(self) -> str:
        what = "predictions are not calibrated" if self.test == CALIBRATION else "calibration has changed"
        evidence = f"evidence {shown_evidence(self.evidence)}, alarm from {1 / self.alpha:.3g}"
        return f"{self.window}: {what}: {self.where} ({evidence})"


@dataclass(frozen=True, eq=False)
class MonitorTable(DrawnResult):
    """Figures of each window, and the evidence after it.

    Attributes
    ----------
    window : tuple of str
        Names of the windows, in their order.
    rows : ndarray of shape (n_windows,)
        Number of rows.
    is_reference : ndarray of shape (n_windows,)
        Whether the window is part of the reference.
    event_rate, mean_prob, gap : ndarray of shape (n_windows,)
        Share of events, mean probability, and their difference (calibration in the large). NaN of class-wise calibration, where
        the differences of the classes cancel.
    gap_lower, gap_upper : ndarray of shape (n_windows,)
        Interval of that difference by the normal law.
    ece, ece_lower, ece_upper : ndarray of shape (n_windows,)
        Expected calibration error, and the interval of the true one.
    noise_floor, noise_upper : ndarray of shape (n_windows,)
        Its expected value under calibration, and what it exceeds then in a share ``level`` of cases.
    log_loss : ndarray of shape (n_windows,)
        Mean log loss, nats.
    impossible : ndarray of shape (n_windows,)
        Number of events of probability 0 that occurred.
    evidence, drift_evidence : ndarray of shape (n_windows,)
        Evidence after the window that predictions are not calibrated, and that gaps are not those of the reference. Either is
        an alarm from 1 / alpha on. That of drift is NaN in windows of the reference.
    alarms : tuple of Alarm
        At most one a test, with the evidence at the look that raised it.
    notion : str
        Notion of calibration.
    alpha, level : float
        Probability of a false alarm, ever, of each test; and one minus the coverage of each interval.
    """

    _table = Table(
        "window",
        *("window", "rows", "is_reference", "event_rate", "mean_prob", "gap", "gap_lower", "gap_upper"),
        *("ece", "ece_lower", "ece_upper", "noise_floor", "noise_upper", "log_loss", "impossible"),
        *("evidence", "drift_evidence"),
    )
    _summary = "{notion}, windows={window:n}, rows={rows:total}, alarms={alarms:n}"
    _picture = Picture(
        "calibration over time, over the noise, and the evidence with its alarms", "monitoring.monitor.plot_monitor"
    )

    window: tuple[str, ...]
    rows: IntArray
    is_reference: BoolArray
    event_rate: FloatArray
    mean_prob: FloatArray
    gap: FloatArray
    gap_lower: FloatArray
    gap_upper: FloatArray
    ece: FloatArray
    ece_lower: FloatArray
    ece_upper: FloatArray
    noise_floor: FloatArray
    noise_upper: FloatArray
    log_loss: FloatArray
    impossible: IntArray
    evidence: FloatArray
    drift_evidence: FloatArray
    alarms: tuple[Alarm, ...]
    notion: str
    alpha: float
    level: float

    @property
    def columns(self) -> dict[str, NDArray[Any]]:
        """The columns of the data frame, by name.

        Returns
        -------
        dict of str to ndarray of shape (n_windows,)
            Those of `to_frame`.
        """
        return self._table.of(self)

    def __str__(self) -> str:
        """Return the table as text, with the alarms below it."""
        head = f"window rows gap ECE {1 - self.level:.0%}_interval noise log_loss evidence:_calibration evidence:_drift".split()
        lines = [[word.replace("_", " ") for word in head]]
        for k, name in enumerate(self.window):
            gap = "" if np.isnan(self.gap[k]) else f"{self.gap[k]:+.4f}"
            drift = "" if np.isnan(self.drift_evidence[k]) else shown_evidence(self.drift_evidence[k])
            interval = f"[{self.ece_lower[k]:.4f}, {self.ece_upper[k]:.4f}]"
            figures = [f"{self.noise_floor[k]:.4f}", f"{self.log_loss[k]:.4f}", shown_evidence(self.evidence[k]), drift]
            shown = f"{name} (reference)" if self.is_reference[k] else name
            lines.append([shown, f"{self.rows[k]}", gap, f"{self.ece[k]:.4f}", interval, *figures])
        said = [f"alarm: {alarm}" for alarm in self.alarms] or [f"no alarm; it takes evidence of {1 / self.alpha:.3g}"]
        return "\n".join([*in_columns(lines, len(head)), *said])


class Look(NamedTuple):
    """Windows in their order: names, sums, how many are the reference, and the tests of them, None where there is none."""

    names: tuple[str, ...]
    windows: tuple[Sums, ...]
    first: int
    calibration: Sequential | None
    drift: Sequential | None


ONE_AT_A_TIME = RLock()
"""What adds rows, and what looks at them, waits for other threads: else rows of one of two would be lost."""


def _evidence(log: FloatArray) -> FloatArray:
    """Return the evidence of its logarithm; it is infinite only where an event of probability 0 occurred."""
    return np.exp(np.where(log == np.inf, log, np.minimum(log, np.log(np.finfo(np.float64).max))))


class Monitor:
    """Watch the calibration of predictions over time, with alarms of two tests that may be looked at every day.

    A monitor keeps sums of windows of rows, not rows. Monitors of parts of the rows add up with ``+``, in any order, to that
    of all rows, up to the last digits of sums. Threads may add rows to the same one. After each window two tests are computed
    from the sums. The first asks whether predictions are calibrated; the second whether calibration, good or bad, is what it
    was in the reference. Each raises a false alarm with probability at most ``alpha``, ever: however many windows follow, and
    however often one looks.

    Parameters
    ----------
    window : int, str or None, default=None
        Length of a window: a number of rows, or a time such as ``"1d"``, ``"6h"``, ``"30min"`` or ``"1w"`` (days of UTC, weeks
        from Monday). With None each value of ``at`` is a window, in their order: 9 before 10, ``"day_9"`` before ``"day_10"``.
    reference : int, default=1
        Number of the first windows that are the reference, at least 0, unless `update_reference` gives it. Of 0 windows
        without such rows there is no test of drift.
    alpha : float, default=0.05
        Probability of a false alarm, ever, of each of the two tests.
    notion : str or Notion, optional
        ``"binary"`` (default of two classes), ``"confidence"`` (default of more), ``"top-label"`` or ``"class-wise"``.
    binning : int or EqualWidth, default=15
        Bins of equal width: their edges are the same in each window.
    labels, pos_label, input, rows : object
        What the predictions are: see `DataOptions`. The classes are those of the first rows, and stay so.

    Attributes
    ----------
    n_rows : int
        Number of rows read, those of `update_reference` and rows of weight zero left out.
    n_windows : int
        Number of windows.

    Notes
    -----
    What is assumed: given the past and the predictions, labels are independent of each other. An alarm of the first test is
    false if each event of probability p occurs with probability p. An alarm of the second is false if the gap of each bin,
    event rate minus mean probability, is the same in the reference and in each later window, whatever predictions there are.
    Its false-alarm rate counts the noise of the reference; no prediction of the reference may depend on an outcome of the
    reference. docs/monitoring-evidence.md has the proofs, and what simulations measured. The guarantee is for windows in
    their order: rows that arrive late change the evidence of all later windows. They take back no alarm that was looked
    at. A look warns where they moved the reference.

    Each row must be an outcome of its own, since evidence counts events. A weight is a number of separate rows that are equal.
    Whole numbers that are something else, such as importance, copies of a row by resampling, or several rows of one person,
    raise false alarms, and nothing in the rows tells. Leave such weights out, keep one row of each event, or watch each group
    by a monitor of its own.

    An event of probability 0 that occurs is infinite evidence against calibration, and an alarm at once. Predictions that were
    rounded to 0 or 1 are such claims; logits are not rounded.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant import Monitor
    >>> rng = np.random.default_rng(0)
    >>> p = rng.random(6000)
    >>> truth = np.where(np.arange(6000) < 3000, p, p**2)
    >>> monitor = Monitor(window=500, reference=2).update(rng.random(6000) < truth, p)
    >>> for alarm in monitor.alarms:
    ...     print(alarm.test, alarm.window)
    calibration rows 3000:3500
    drift rows 3000:3500
    """

    def __init__(
        self,
        *,
        window: int | str | None = None,
        reference: int = 1,
        alpha: float = 0.05,
        notion: str | Notion | None = None,
        binning: int | EqualWidth = 15,
        labels: Sequence[Any] | None = None,
        pos_label: Any = None,
        input: Input = "probability",
        rows: Rows = "as-given",
    ) -> None:
        self._windows = as_windows(window)
        self.window = self._windows.window
        hint = "Pass how many of the first windows are the reference"
        self.reference = whole("reference", reference, least=0, hint=hint)
        self.alpha = fraction("alpha", alpha, hint="0.05 is usual, 0.01 raises fewer alarms")
        self.notion = None if notion is None else known_notion(as_notion(notion))
        cut, must = as_binning(binning), "binning of a monitor must have the same edges in each window"
        if not isinstance(cut, EqualWidth):
            refuse(must, value=cut, hint="Pass EqualWidth(n), or a number of bins")
        self.binning = cut
        self.labels, self.pos_label, self.input, self.rows = labels, plain_label(pos_label), input, rows
        self._plan: Plan | None = None
        self._sums = ByWindow({})
        self._given: Sums | None = None
        self._seen: Look | None = None
        self._raised: tuple[Alarm, ...] = ()
        self._known: tuple[str, ...] = ()

    # Rows

    def update(
        self,
        y_true: ArrayLike,
        y_prob: ArrayLike | None = None,
        *,
        at: Any = None,
        first: int | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Add rows.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Labels.
        y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
            Predicted probabilities, or logits if ``input`` says so.
        at : array-like of shape (n_samples,), or one value for all rows
            Time of each row, or name of its window; names are in order as in `compare`. Times have a time zone, or are taken as
            UTC.
        first : int, optional
            Of windows of rows, the number of the first of these rows among all; by default they follow the last one that was
            read. Rows of weight zero have a number as all others.
        sample_weight : array-like of shape (n_samples,), optional
            Numbers of separate rows that are equal: a row of weight 3 counts as three outcomes. Fractions are refused. Weights
            of importance make false alarms, see the notes.

        Returns
        -------
        Monitor
            Itself.

        Raises
        ------
        ValueError
            If rows are not valid, weights are no whole numbers, or there would be too many windows.
        """
        hint = "Pass a number of rows"
        with ONE_AT_A_TIME:
            start = self._sums.end if first is None else whole("first", first, least=0, most=LAST, hint=hint)
            problem, plan, labels = self._read(y_true, y_prob, sample_weight)
            n = problem.size if sample_weight is None else np.size(sample_weight)
            keys = self._windows.keys(at, n, start)
            if problem.size < n:  # rows of weight 0 are left out
                keys = keys[np.asarray(sample_weight, dtype=np.float64) > 0.0]
            self._sums, self._seen = self._sums + ByWindow.of(problem, keys, plan, start + n), None
            self._plan, self.notion, self.labels = plan, plan.cells[0][0], labels
        return self

    def update_reference(
        self, y_true: ArrayLike, y_prob: ArrayLike | None = None, *, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Add rows to the reference, such as those of the test set: then all windows are compared with it.

        Parameters
        ----------
        y_true, y_prob, sample_weight : array-like
            As in `update`.

        Returns
        -------
        Monitor
            Itself.
        """
        with ONE_AT_A_TIME:
            problem, plan, labels = self._read(y_true, y_prob, sample_weight)
            found = summed(problem, plan)
            self._given, self._seen = found if self._given is None else added(self._given, found), None
            self._plan, self.notion, self.labels = plan, plan.cells[0][0], labels
        return self

    def _read(self, y_true: Any, y_prob: Any, sample_weight: Any) -> tuple[Problem, Plan, list[Any]]:
        """Return rows, or some of those in batches, what is summed of them, and the class of each column."""
        must, hint = "rows of a monitor must be in memory", "Update with each batch alone: it keeps sums, and no rows"
        require(not isinstance(y_true, InBatches), must, got="predictions in batches", hint=hint, error=TypeError)
        of: Any = {"input": self.input, "rows": self.rows}
        problem = as_problem(
            y_true, y_prob, sample_weight=sample_weight, labels=self.labels, pos_label=self.pos_label, **of
        )
        classes = problem.classes.tolist()
        labels = classes if self.labels is None else list(self.labels)
        may_be_first = self.labels is None and self.pos_label is not None and isinstance(problem, SimplexProblem)
        if may_be_first:  # the event of two columns
            labels = as_problem(y_true, y_prob, **of).classes.tolist()
        known = classes if self.labels is None else [plain_label(label) for label in self.labels]
        if self.labels is not None and len(known) == 2 and self.pos_label is not None and known[0] == self.pos_label:
            known = known[::-1]
        is_event = self.pos_label is None or len(classes) > 2 or classes[-1] == self.pos_label
        must = "rows of a monitor must have the same classes, the event last"
        got = f"{classes[:5]}, and {known[:5] if is_event else f'the event {self.pos_label!r}'} before"
        hint = "Pass Monitor(labels=...) with all classes in the order of the columns"
        require(classes == known and is_event, must, got=got, hint=hint)
        plan = self._plan or plan_of(known_notion(as_notion(self.notion, problem)), self.binning)
        return problem, plan, labels

    # Sums that add up

    def __add__(self, other: Monitor) -> Monitor:
        must = "a monitor adds up with monitors"
        require(isinstance(other, Monitor), must, value=other, hint="Add rows with update", error=TypeError)
        ours, theirs = options_of(self), options_of(other)
        different = differing(ours, theirs, decided=None not in (self._plan, other._plan))
        must, got = "monitors add up only if their options are the same", f"others for {', '.join(different)}"
        require(not different, must, got=got, hint="Make them with the same options; labels= names the classes")
        joined = copy(other if self._plan is None else self)
        if joined._plan is None:  # neither has rows
            joined.notion, joined.labels = self.notion or other.notion, self.labels or other.labels
        given = [one._given for one in (self, other) if one._given is not None]
        joined._sums, joined._seen = self._sums + other._sums, None
        joined._given = added(*given) if len(given) == 2 else next(iter(given), None)
        joined._raised, joined._known = self._raised + other._raised, ()
        return joined

    # Figures and alarms

    @property
    def n_rows(self) -> int:
        """Number of rows read, those of `update_reference` left out.

        Returns
        -------
        int
            Whatever their weights, but for rows of weight zero, which are none.
        """
        return self._sums.rows

    @property
    def n_windows(self) -> int:
        """Number of windows.

        Returns
        -------
        int
            Those that hold rows.
        """
        return len(self._sums.sums)

    @property
    def alarms(self) -> tuple[Alarm, ...]:
        """The first alarm of each test, in the order of their windows.

        Returns
        -------
        tuple of Alarm
            None, one or two. An alarm that a look found stands, whatever rows arrive later: the state keeps it, and sums do.
        """
        look, found, first = self._look, list(self._raised), dict[str, Alarm]()
        for test, seen, skipped in ((CALIBRATION, look.calibration, 0), (DRIFT, look.drift, look.first)):
            at = None if seen is None else seen.first(self.alpha)
            if seen is not None and at is not None and test not in [alarm.test for alarm in self._raised]:
                evidence = float(_evidence(seen.path[at]))
                found.append(Alarm(test, look.names[at + skipped], evidence, self.alpha, seen.where(at)))
        for alarm in sorted(found, key=lambda alarm: look.names.index(alarm.window)):
            first.setdefault(alarm.test, alarm)
        self._raised = tuple(first.values())
        return self._raised

    def table(self, *, level: float = 0.05, n_resamples: int = 200) -> MonitorTable:
        """Return figures of each window, and the evidence after it.

        Parameters
        ----------
        level : float, default=0.05
            One minus the coverage of the interval of each figure, a fraction. The alarms do not depend on it.
        n_resamples : int, default=200
            Draws of labels behind the interval and the noise of the calibration error.

        Returns
        -------
        MonitorTable
            A result with ``to_frame()`` and ``plot()``; printed, it is a table.
        """
        as_level(level)
        resamples(n_resamples, hint="200 is usual")
        require(self.n_windows, "a monitor must have rows for a table", got="none", hint="Add some with update")
        look, n = self._look, self.n_windows
        figures = [figures_of(sums, level, n_resamples) for sums in look.windows]
        paths = [np.empty(0) if test is None else _evidence(test.path) for test in (look.calibration, look.drift)]
        evidence = [np.concatenate([np.full(n - path.size, np.nan), path]) for path in paths]
        return MonitorTable(
            window=look.names,
            is_reference=np.arange(n) < look.first,
            evidence=evidence[0],
            drift_evidence=evidence[1],
            alarms=self.alarms,
            notion=look.windows[0].plan.cells[0][0].name,
            alpha=self.alpha,
            level=level,
            **{name: np.array([one[name] for one in figures]) for name in figures[0]},
        )

    def to_frame(self, backend: str | None = None) -> Any:
        """Return the table as a data frame.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            By default the first of these that is installed.

        Returns
        -------
        DataFrame
            With the columns that `MonitorTable` has.
        """
        return self.table().to_frame(backend)

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw calibration over time, the noise, the evidence and the alarms.

        Parameters
        ----------
        ax : sequence of two matplotlib Axes, optional
            Where to draw; a new figure by default.
        **options : dict
            Those of `plot_monitor`.

        Returns
        -------
        ndarray of matplotlib Axes
            Two: errors, and evidence.
        """
        return self.table().plot(ax, **options)

    def __repr__(self) -> str:
        return f"Monitor(window={self.window!r}, windows={self.n_windows}, rows={self.n_rows}, alpha={self.alpha:g})"

    def __str__(self) -> str:
        """Return the table as text."""
        return str(self.table()) if self.n_windows else repr(self)

    @property
    def _look(self) -> Look:
        """Return the look at the windows, computed once; warn of rows whose times changed what was looked at before."""
        with ONE_AT_A_TIME:
            if self._seen is None:
                found = self._sums.keys
                first = 0 if self._given is not None else min(self.reference, len(found))
                names, windows = tuple(map(self._windows.name, found)), tuple(self._sums.sums[key] for key in found)
                reference = reduce(added, windows[:first]) if first else self._given
                rest = windows[first:]
                calibration = Sequential.of(self.binning.n_bins, windows) if windows else None
                drift = Sequential.of(self.binning.n_bins, rest, reference) if rest and reference is not None else None
                self._seen = look = Look(names, windows, first, calibration, drift)
                known, self._known = self._known, look.names
                before, now = known[: look.first], look.names[: look.first]
                if len(known) > len(before) and set(before) - set(now):
                    warn(
                        f"late rows moved the reference from {', '.join(before)} to {', '.join(now)}: the evidence of drift "
                        "is computed anew. If their time is wrong begin a new monitor without them; else give the reference "
                        "its own rows, by update_reference or --reference FILE."
                    )
            return self._seen

    # To and from files

    def to_dict(self) -> dict[str, Any]:
        """Return the state as lists, numbers and words, of which JSON loses no bit.

        Returns
        -------
        dict
            Options, sums of each window, those of the reference if it was given, the alarms that were looked at, and a checksum
            of all this.
        """
        alarms = [asdict(one) | {"evidence": "inf" if one.evidence == np.inf else one.evidence} for one in self._raised]
        state = {
            "calibrant_monitor": VERSION,
            "options": options_of(self),
            "n_rows": (sums := self._sums).rows,  # those of one moment, if other threads add rows
            "next_row": sums.end,
            "windows": [{"window": key, "sums": sums.sums[key].to_dict()} for key in sums.keys],
            "reference": None if self._given is None else self._given.to_dict(),
            "alarms": alarms,
        }
        return state | {"checksum": checksum_of(state)}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Self:
        """Return the monitor that `to_dict` wrote down.

        Parameters
        ----------
        plain : dict
            What it gave, perhaps by way of JSON.

        Returns
        -------
        Monitor
            It goes on where the other stood: equal bit for bit.

        Raises
        ------
        ValueError
            If this is no state of a monitor, one of another version, or one that was changed since it was written.
        """
        with of_a_state():
            require_written(plain)
            monitor = cls(**plain["options"])
            if monitor.notion is not None:
                plan = plan_of(monitor.notion, monitor.binning)
                found = {one["window"]: Sums.from_dict(one["sums"], plan) for one in plain["windows"]}
                monitor._sums = ByWindow(found, plain["n_rows"], plain["next_row"])
                given = plain["reference"]
                monitor._given = None if given is None else Sums.from_dict(given, plan)
                monitor._plan = plan if found or monitor._given is not None else None
            monitor._known = tuple(map(monitor._windows.name, monitor._sums.keys))
            numbers = [{name: float(one[name]) for name in ("evidence", "alpha")} for one in plain["alarms"]]
            monitor._raised = tuple(Alarm(**one | own) for one, own in zip(plain["alarms"], numbers, strict=True))
        return monitor


# The picture of a monitor: calibration by window over its noise, and the evidence with its alarms


MOST_EVIDENCE = 1e9
"""Evidence up to which the axis goes: what is more stands at its end."""

MOST_NAMES = 8
"""Windows that are named on the axis."""


def plot_monitor(table: MonitorTable, *, ax: Any = None) -> Any:
    """Draw the calibration error of each window over its noise, and below it the evidence of both tests, from 0.001 to 10⁹.

    Parameters
    ----------
    table : MonitorTable
        What `Monitor.table` gives.
    ax : sequence of two matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    ndarray of matplotlib Axes, shape (2,)
        What was drawn on: errors, and evidence.
    """
    import matplotlib.pyplot as plt

    drawing.require_kind(table, "table", "monitor.table()", MonitorTable)
    if ax is None:
        ax = plt.subplots(2, figsize=(7.2, 5.2), sharex=True, height_ratios=(3, 2), layout="constrained")[1]
    axes = np.asarray(ax, dtype=object)
    must = "ax must be two axes, for errors and for evidence"
    require(axes.shape == (2,), must, got=f"shape {axes.shape}", hint="Pass plt.subplots(2)[1], or leave it out")
    upper, lower = axes
    _draw_errors(upper, table)
    _draw_evidence(lower, table)
    at = np.unique(np.linspace(0, len(table.window) - 1, MOST_NAMES).round().astype(int))
    lower.set_xticks(at, [table.window[k] for k in at], rotation=30, ha="right", rotation_mode="anchor")
    lower.set_xlim(-0.6, len(table.window) - 0.4)
    for each in axes:
        each.set_axisbelow(True)
        each.grid(color=drawing.GRID, linewidth=0.8)
    return axes


def _draw_errors(ax: Any, table: MonitorTable) -> None:
    x = np.arange(len(table.window))
    edges = np.append(x - 0.5, x[-1] + 0.5)
    noise = f"up to here in {1 - table.level:.0%} if calibrated"
    ax.stairs(table.noise_upper, edges, fill=True, color=drawing.BAND, linewidth=0, label=noise)
    ax.stairs(
        table.noise_floor, edges, color=drawing.IDEAL, linestyle="--", linewidth=1, label="noise floor", baseline=None
    )
    ends = (table.ece_lower, table.ece_upper)
    ax.vlines(
        x, *ends, color=drawing.colour(4), linewidth=2.5, label=f"{1 - table.level:.0%} interval of the true error"
    )
    ax.plot(x, table.ece, "o-", color=drawing.colour(0), markersize=3.5, linewidth=1.2, label="ECE")
    ax.set_ylabel(f"ECE ({table.notion})")
    ax.set_ylim(0.0, 1.35 * float(np.max([table.ece, table.ece_upper, table.noise_upper])))
    ax.legend(loc="upper left", ncols=2, frameon=False, fontsize="small")


def _draw_evidence(ax: Any, table: MonitorTable) -> None:
    x = np.arange(len(table.window))
    for number, (values, label) in enumerate(((table.evidence, "not calibrated"), (table.drift_evidence, "drift"))):
        shown = np.clip(values, 1e-3, MOST_EVIDENCE)
        look = {"color": drawing.colour(number), "marker": drawing.marker(number), "markersize": 3.5, "linewidth": 1.2}
        if not np.isnan(shown).all():
            ax.plot(x, shown, label=label, **look)
    ax.axhline(1.0 / table.alpha, color=drawing.IDEAL, linestyle="--", linewidth=1, label=f"alarm, α = {table.alpha:g}")
    for alarm in table.alarms:
        number = 0 if alarm.test == CALIBRATION else 1
        at = table.window.index(alarm.window)
        reached = float(np.clip(alarm.evidence, 1e-3, MOST_EVIDENCE))
        ax.plot(
            [at], [reached], "o", markersize=11, fillstyle="none", markeredgewidth=1.8, color=drawing.colour(number)
        )
    if table.is_reference.any():
        ax.axvspan(
            -0.5, int(table.is_reference.sum()) - 0.5, color=drawing.BAND, linewidth=0, label="reference", zorder=0
        )
    ax.set_yscale("log")
    ax.set_ylabel("evidence")
    ax.legend(loc="upper left", ncols=2, frameon=False, fontsize="small")
