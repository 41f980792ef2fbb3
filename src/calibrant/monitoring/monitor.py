"""A monitor: sums of predictions and outcomes by window, which add up, with figures and alarms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any, Self

import numpy.typing as npt

from calibrant._core.checksum import checksum_of
from calibrant._core.parameters import fraction, require, resamples, whole
from calibrant._core.rows import Rows
from calibrant._core.validation import Input
from calibrant.binning import EqualWidth
from calibrant.monitoring.figures import plan_of
from calibrant.monitoring.given_rows import GivenRows
from calibrant.monitoring.look import Look
from calibrant.monitoring.options import differing, options_of, plain_label
from calibrant.monitoring.settled import known_notion, of_equal_width
from calibrant.monitoring.state import VERSION, State, of_a_state, require_empty, require_version
from calibrant.monitoring.table import Alarm, MonitorTable
from calibrant.monitoring.tally import Tally
from calibrant.monitoring.windows import LAST, as_windows
from calibrant.notions import Notion, as_notion
from calibrant.sums import Plan
from calibrant.sums.predictions import Predictions


class Monitor:
    """Watch the calibration of predictions over time, with alarms of two tests that may be looked at every day.

    A monitor keeps sums of windows of rows, not rows. Monitors of parts of the rows add up with ``+``, in any order, to that
    of all rows, up to the last digits of sums. After each window two tests are computed from the sums. The first asks whether
    predictions are calibrated; the second whether calibration, good or bad, is what it was in the reference. Each raises a
    false alarm with probability at most ``alpha``, ever: however many windows follow, and however often one looks.

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
    reference. docs/monitoring.md has the proofs, and what simulations measured. The guarantee is for windows in their order:
    rows that arrive late change the evidence of all later windows.

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
        self.window = window if window is None or isinstance(window, str) else int(window)
        self.reference = whole(
            "reference", reference, least=0, hint="Pass how many of the first windows are the reference"
        )
        self.alpha = fraction("alpha", alpha, hint="0.05 is usual, 0.01 raises fewer alarms")
        self.notion = None if notion is None else known_notion(as_notion(notion))
        self.binning = of_equal_width(binning)
        self.labels, self.pos_label, self.input, self.rows = labels, plain_label(pos_label), input, rows
        self._plan: Plan | None = None
        self._tally = Tally()
        self._seen: Look | None = None

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
            Labels; or predictions that are read in batches, without ``y_prob``. Then ``at`` is one value for all rows.
        y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
            Predicted probabilities, or logits if ``input`` says so.
        at : array-like of shape (n_samples,), or one value for all rows
            Time of each row, or name of its window. Times have a time zone, or are taken as UTC.
        first : int, optional
            Of windows of rows, the number of the first of these rows among all; by default they follow the last one that was
            read. Rows of weight zero, and rows that `predictions` skips, have a number as all others.
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
        start = (
            self._tally.windows.end
            if first is None
            else whole("first", first, least=0, most=LAST, hint="Pass a number of rows")
        )
        rows = GivenRows(self, self._plan, y_true, y_prob, sample_weight)
        return self._add(Tally(rows.by_window(self._windows, start, at)), rows)

    def update_reference(
        self,
        y_true: npt.ArrayLike | Predictions,
        y_prob: npt.ArrayLike | None = None,
        *,
        sample_weight: npt.ArrayLike | None = None,
    ) -> Self:
        """Add rows to the reference, such as those of the test set: then all windows are compared with it.

        Parameters
        ----------
        y_true, y_prob, sample_weight : array-like, or Predictions
            As in `update`.

        Returns
        -------
        Monitor
            Itself.
        """
        rows = GivenRows(self, self._plan, y_true, y_prob, sample_weight)
        return self._add(Tally(given=rows.summed()), rows)

    def _add(self, found: Tally, rows: GivenRows) -> Self:
        """Add the sums of rows, and keep what the first rows decided."""
        labels = rows.labels
        self._tally, self._seen = self._tally + found, None
        if self._plan is None:
            self._plan, self.notion, self.labels = rows.plan, rows.plan.cells[0][0], labels
        return self

    # Sums that add up

    def __add__(self, other: Monitor) -> Monitor:
        require(
            isinstance(other, Monitor),
            "a monitor adds up with monitors",
            value=other,
            hint="Add rows with update",
            error=TypeError,
        )
        different = differing(options_of(self), options_of(other), decided=None not in (self._plan, other._plan))
        require(
            not different,
            "monitors add up only if their options are the same",
            got=f"others for {', '.join(different)}",
            hint="Make them with the same options; labels= names the classes",
        )
        joined = copy(other if self._plan is None else self)
        if joined._plan is None:  # neither has rows
            joined.notion, joined.labels = self.notion or other.notion, self.labels or other.labels
        joined._tally, joined._seen = self._tally + other._tally, None
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
            A new one; ``a + b`` is the same as ``a.merge(b)``. In another order the last digits of sums may differ.
        """
        joined = copy(self)
        for other in others:
            joined = joined + other
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
        return self._tally.windows.rows

    @property
    def n_windows(self) -> int:
        """Number of windows.

        Returns
        -------
        int
            Those that hold rows.
        """
        return len(self._tally.windows.sums)

    @property
    def alarms(self) -> tuple[Alarm, ...]:
        """The first alarm of each test, in the order of their windows.

        Returns
        -------
        tuple of Alarm
            None, one or two.
        """
        return self._look.alarms

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
        require(self.n_windows, "a monitor must have rows for a table", got="none", hint="Add some with update")
        return self._look.table(level, n_resamples)

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
        """Return the look at the windows, computed once."""
        if self._seen is None:
            self._seen = self._tally.look(self._windows, self.reference, self.alpha)
        return self._seen

    # To and from files

    def to_dict(self) -> dict[str, Any]:
        """Return the state as lists, numbers and words, of which JSON loses no bit.

        Returns
        -------
        dict
            Options, sums of each window, those of the reference if it was given, and a checksum of all this.
        """
        state = {"calibrant_monitor": VERSION, "options": options_of(self), **self._tally.to_dict()}
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
            require_version(plain)
            monitor = cls(**plain["options"])
            if monitor.notion is not None and (plain["windows"] or plain["reference"]):
                plan = plan_of(monitor.notion, monitor.binning)
                state = State(plan, monitor._windows, list(monitor.labels or ()))
                given = plain["reference"]
                monitor._plan = plan
                monitor._tally = Tally(state.windows(plain), None if given is None else state.sums(given))
            else:
                require_empty(plain)
        return monitor
