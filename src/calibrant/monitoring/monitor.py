"""A monitor: sums of predictions and outcomes by window, which add up, and what they say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from calibrant._core.parameters import fraction, require, resamples, whole
from calibrant._core.problem import Problem
from calibrant._core.rows import Rows
from calibrant._core.validation import Input, as_problem
from calibrant._core.weights import Weights
from calibrant.binning import EqualWidth, as_binning
from calibrant.monitoring.figures import Figures, plan_of
from calibrant.monitoring.sequential import Sequential
from calibrant.monitoring.table import CALIBRATION, DRIFT, Alarm, MonitorTable
from calibrant.monitoring.windows import Key, as_windows
from calibrant.notions import ClassWise, Notion, as_notion
from calibrant.sums import Plan, Sums, scan
from calibrant.sums.predictions import Predictions

VERSION = 1
"""Of what `Monitor.to_dict` writes."""

MOST_WINDOWS = 10_000
"""Windows up to which evidence is computed in seconds."""

MOST_REPEATED = 1 << 20
"""Rows that weights stand for, of those that are summed at a time."""

OPTIONS = ("window", "reference", "alpha", "notion", "binning", "labels", "pos_label", "input", "rows")


@dataclass(frozen=True, eq=False)
class ByWindow:
    """Sums of each window by its key; ``+`` adds up those of the same window. ``rows`` is the number of rows that were read."""

    sums: Mapping[Key, Sums]
    rows: int = 0

    def __add__(self, other: ByWindow) -> ByWindow:
        joined = dict(self.sums)
        for key, sums in other.sums.items():
            joined[key] = joined[key] + sums if key in joined else sums
        return ByWindow(joined, self.rows + other.rows)


class Monitor:
    """Watch the calibration of predictions over time: sums by window, and alarms of two tests that may be looked at every day.

    A monitor keeps sums, not rows. Monitors of other rows add up with ``+``, in any order, to that of all rows. After each
    window two tests are computed from the sums. The first asks whether predictions are calibrated; the second whether
    calibration, good or bad, is what it was in the reference. Each raises a false alarm with probability at most ``alpha``,
    ever: however many windows follow, and however often one looks.

    Parameters
    ----------
    window : int, str or None, default=None
        Length of a window: a number of rows, or a time such as ``"1d"``, ``"6h"``, ``"30min"`` or ``"1w"`` (days of UTC, weeks
        from Monday). With None each value of ``at`` is a window, in their order.
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
        Number of rows read, those of `update_reference` left out.
    n_windows : int
        Number of windows.

    Notes
    -----
    What is assumed: given the past and the predictions, labels are independent of each other. The null of the first test is that
    an event of probability p occurs with probability p. The null of the second is that the gap of each bin, event rate minus mean
    probability, is the same in the reference and in each later window, whatever predictions there are. Its false-alarm
    rate counts the noise of the reference. docs/monitoring.md has the proofs, and rates and delays measured by simulation.
    The guarantee is for windows in their order: rows that arrive late change the evidence of all later windows.

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
    drift rows 3500:4000
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
        self.window = window
        self.reference = whole("reference", reference, least=0, hint="Pass how many of the first windows are the reference")
        self.alpha = fraction("alpha", alpha, hint="0.05 is usual, 0.01 raises fewer alarms")
        self.notion = None if notion is None else _known(as_notion(notion))
        cut = as_binning(binning)
        require(
            type(cut) is EqualWidth,
            "binning of a monitor must have the same edges in each window",
            value=cut,
            hint="Pass EqualWidth(n), or a number of bins",
        )
        self.binning = cut
        self.labels, self.pos_label, self.input, self.rows = labels, pos_label, input, rows
        self._plan: Plan | None = None
        self._found = ByWindow({})
        self._given: Sums | None = None
        self._seen: dict[str, Sequential] = {}

    # Rows

    def update(
        self,
        y_true: npt.ArrayLike | Predictions,
        y_prob: npt.ArrayLike | None = None,
        *,
        at: Any = None,
        first: int | None = None,
        sample_weight: npt.ArrayLike | None = None,
    ) -> Self:
        """Add rows.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,) or Predictions
            Labels; or predictions that are read in batches, without ``y_prob``, of windows of rows or of one window.
        y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
            Predicted probabilities, or logits if ``input`` says so.
        at : array-like of shape (n_samples,), or one value for all rows
            Time of each row, or name of its window. Times have a time zone, or are taken as UTC.
        first : int, optional
            Of windows of rows, the number of the first of these rows among all; by default they follow those that were read.
        sample_weight : array-like of shape (n_samples,), optional
            Whole weights: a row of weight 3 counts as three equal rows. Fractions are refused.

        Returns
        -------
        Monitor
            Itself.

        Raises
        ------
        ValueError
            If rows are not valid, weights are no whole numbers, or there would be too many windows.
        """
        start = self._found.rows if first is None else whole("first", first, least=0, hint="Pass a number of rows")
        if isinstance(y_true, Predictions):
            head = y_true.head()
            self._fix(head)
            found = y_true.reduce(lambda batch, number: self._by_window(batch, at, start + number))
        else:
            found = self._by_window(self._problem(y_true, y_prob, sample_weight), at, start)
        joined = self._found + found
        require(
            len(joined.sums) <= MOST_WINDOWS,
            f"a monitor must have at most {MOST_WINDOWS} windows",
            value=len(joined.sums),
            hint="Pass a longer window=",
        )
        self._found, self._seen = joined, {}
        return self

    def update_reference(
        self, y_true: npt.ArrayLike, y_prob: npt.ArrayLike, *, sample_weight: npt.ArrayLike | None = None
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
        sums = self._scanned(self._problem(y_true, y_prob, sample_weight), 0)
        self._given, self._seen = sums if self._given is None else self._given + sums, {}
        return self

    def _problem(self, y_true: Any, y_prob: Any, sample_weight: Any) -> Problem:
        found = as_problem(
            y_true,
            y_prob,
            sample_weight=sample_weight,
            labels=self.labels,
            pos_label=self.pos_label,
            input=self.input,
            rows=self.rows,
        )
        self._fix(found)
        return found

    def _fix(self, problem: Problem) -> None:
        """Decide notion and classes by the first rows."""
        if self._plan is None:
            notion = _known(as_notion(self.notion, problem))
            self._plan = plan_of(notion, self.binning)
            self.notion, self.labels = notion, problem.classes.tolist()
        require(
            problem.classes.tolist() == list(self.labels or ()),
            "rows of a monitor must have the same classes",
            got=f"{problem.classes.tolist()[:5]}, and {list(self.labels or ())[:5]} before",
            hint="Pass Monitor(labels=...) with all classes in the order of the columns",
        )

    def _by_window(self, problem: Problem, at: Any, first: int) -> ByWindow:
        keys = self._windows.keys(at, problem.size, first)
        distinct, code = np.unique(keys, return_inverse=True)
        ends = np.cumsum(np.bincount(code, minlength=distinct.size))
        order = np.argsort(code, kind="stable")
        found = {}
        for key, rows in zip(distinct.tolist(), np.split(order, ends[:-1]), strict=True):
            part = problem if distinct.size == 1 else problem.at(rows)
            found[key] = self._scanned(part, first)
        return ByWindow(found, problem.size)

    def _scanned(self, problem: Problem, first: int) -> Sums:
        """Sum rows; one of weight w is w rows. Rows that are kept for classes that vary together are left out: they are many."""
        assert self._plan is not None
        total = Sums.of_no_rows(self._plan)
        for part in _repeated(problem):
            total += replace(scan(part, self._plan, first=first), kept=None)
        return total

    # Sums that add up

    def __add__(self, other: Monitor) -> Monitor:
        require(
            isinstance(other, Monitor),
            "a monitor adds up with monitors",
            value=other,
            hint="Add rows with update",
            error=TypeError,
        )
        ours, theirs = (one._options() for one in (self, other))
        undecided = self._plan is None or other._plan is None
        known = [name for name in OPTIONS if not (undecided and name in ("notion", "labels"))]
        different = [name for name in known if ours[name] != theirs[name]]
        require(
            not different,
            "monitors add up only if their options are the same",
            got=f"others for {', '.join(different)}",
            hint="Make them with the same options; labels= names the classes",
        )
        joined = copy(other if self._plan is None else self)
        joined._found, joined._seen = self._found + other._found, {}
        given = [one._given for one in (self, other) if one._given is not None]
        joined._given = None if not given else given[0] if len(given) == 1 else given[0] + given[1]
        return joined

    def merge(self, *others: Monitor) -> Monitor:
        """Return the monitor of the rows of this one and of others.

        Parameters
        ----------
        *others : Monitor
            Monitors with the same options.

        Returns
        -------
        Monitor
            A new one; ``a + b`` is the same as ``a.merge(b)``.
        """
        joined = self
        for other in others:
            joined = joined + other
        return joined

    # What they say

    @property
    def n_rows(self) -> int:
        """Number of rows read, those of `update_reference` left out.

        Returns
        -------
        int
            Whatever their weights.
        """
        return self._found.rows

    @property
    def n_windows(self) -> int:
        """Number of windows.

        Returns
        -------
        int
            Those that hold rows.
        """
        return len(self._found.sums)

    @property
    def alarms(self) -> tuple[Alarm, ...]:
        """The first alarm of each test, in the order of their windows.

        Returns
        -------
        tuple of Alarm
            None, one or two.
        """
        names, first = self._names, self._n_reference
        found = []
        for test, skipped in ((CALIBRATION, 0), (DRIFT, first)):
            seen = self._sequential(test)
            at = None if seen is None else seen.first(self.alpha)
            if seen is not None and at is not None:
                evidence = float(np.exp(min(seen.path[at], 700.0))) if np.isfinite(seen.path[at]) else float("inf")
                found.append((at + skipped, Alarm(test, names[at + skipped], evidence, self.alpha, seen.where(at))))
        return tuple(alarm for _, alarm in sorted(found, key=lambda pair: pair[0]))

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
        fraction("level", level, hint="0.05 gives intervals of 95%")
        resamples(n_resamples, hint="200 is usual")
        ordered = self._ordered
        require(ordered, "a monitor must have rows for a table", got="none", hint="Add some with update")
        figures = [Figures.of(sums, level, n_resamples) for sums in ordered]
        columns = {field.name: np.array([getattr(one, field.name) for one in figures]) for field in fields(Figures)}
        return MonitorTable(
            window=self._names,
            is_reference=np.arange(len(ordered)) < self._n_reference,
            evidence=self._evidence(CALIBRATION, 0),
            drift_evidence=self._evidence(DRIFT, self._n_reference),
            alarms=self.alarms,
            notion=self._plan.cells[0][0].name if self._plan is not None else "",
            alpha=self.alpha,
            level=level,
            **columns,
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
    def _keys(self) -> list[Key]:
        kinds = {isinstance(key, str) for key in self._found.sums}
        require(
            len(kinds) < 2,
            "windows must be named by numbers or by words",
            got="both",
            hint="Name all of them alike in at=",
        )
        return sorted(self._found.sums)

    @property
    def _names(self) -> tuple[str, ...]:
        return tuple(map(self._windows.name, self._keys))

    @property
    def _ordered(self) -> list[Sums]:
        return [self._found.sums[key] for key in self._keys]

    @property
    def _n_reference(self) -> int:
        """How many of the first windows are the reference."""
        return 0 if self._given is not None else min(self.reference, self.n_windows)

    def _sequential(self, test: str) -> Sequential | None:
        """Return a test, of which there is none without windows, or without a reference."""
        if test not in self._seen:
            ordered, n = self._ordered, 0 if test == CALIBRATION else self._n_reference
            reference = None
            if test == DRIFT:
                reference = self._given
                for sums in ordered[:n]:
                    reference = sums if reference is None else reference + sums
            if not ordered[n:] or (test == DRIFT and reference is None):
                return None
            self._seen[test] = Sequential.of(ordered[n:], reference, self.alpha)
        return self._seen[test]

    def _evidence(self, test: str, skipped: int) -> npt.NDArray[np.float64]:
        seen, found = self._sequential(test), np.full(self.n_windows, np.nan)
        if seen is not None:
            with np.errstate(over="ignore"):
                found[skipped:] = np.exp(seen.path)
        return found

    # To and from files

    def _options(self) -> dict[str, Any]:
        plain = {name: getattr(self, name) for name in OPTIONS}
        notion = plain["notion"]
        plain["notion"] = None if notion is None else notion.name
        plain["binning"] = self.binning.n_bins
        plain["labels"] = None if plain["labels"] is None else np.asarray(plain["labels"]).tolist()
        return plain

    def to_dict(self) -> dict[str, Any]:
        """Return the state as lists, numbers and words, of which JSON loses no bit.

        Returns
        -------
        dict
            Options, sums of each window, and those of the reference if it was given.
        """
        return {
            "calibrant_monitor": VERSION,
            "options": self._options(),
            "n_rows": self.n_rows,
            "windows": [{"window": key, "sums": self._found.sums[key].to_dict()} for key in self._keys],
            "reference": None if self._given is None else self._given.to_dict(),
        }

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
            If this is no state of a monitor, or one of another version.
        """
        version = plain.get("calibrant_monitor") if isinstance(plain, Mapping) else None
        require(
            version == VERSION,
            f"plain must be the state of a monitor, version {VERSION}",
            got="something else" if version is None else f"version {version!r}",
            hint="Pass what Monitor.to_dict gave",
        )
        monitor = cls(**plain["options"])
        if monitor.notion is not None and (plain["windows"] or plain["reference"]):
            monitor._plan = plan = plan_of(monitor.notion, monitor.binning)
            sums = {one["window"]: Sums.from_dict(one["sums"], plan) for one in plain["windows"]}
            monitor._found = ByWindow(sums, plain["n_rows"])
            monitor._given = None if plain["reference"] is None else Sums.from_dict(plain["reference"], plan)
        return monitor


def _known(notion: Notion) -> Notion:
    """Return a notion of which rows in different cells are independent, or which is a mean over classes."""
    require(
        notion.one_score_a_row or type(notion) is ClassWise,
        "notion of a monitor must be binary, confidence, top-label or class-wise",
        got=notion.name,
        hint="Choose one of them",
    )
    return notion


def _repeated(problem: Problem) -> list[Problem]:
    """Return problems whose rows weigh one each, and stand as often as their weights say."""
    weights = problem.weights
    if weights.is_unit:
        return [problem]
    require(
        weights.are_counts,
        "sample_weight of a monitor must be whole numbers, each a number of equal rows",
        got="fractions",
        hint="Leave the weights out, or repeat rows",
    )
    times = weights.values.astype(np.int64)
    ends = np.cumsum(times)
    total = int(ends[-1]) if ends.size else 0
    found: list[Problem] = []
    for start in range(0, total, MOST_REPEATED):
        rows = np.searchsorted(ends, np.arange(start, min(start + MOST_REPEATED, total)), side="right")
        found.append(problem.at(rows, Weights.one_each(rows.size)))
    return found
