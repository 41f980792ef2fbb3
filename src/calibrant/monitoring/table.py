"""Calibration by window, with the evidence after each: what a monitor shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from calibrant._core.links import FloatArray
from calibrant._core.problem import BoolArray, IntArray
from calibrant._core.result import DrawnResult, Picture
from calibrant._core.table import Table

CALIBRATION, DRIFT = "calibration", "drift"


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
        return f"{self.window}: {what}: {self.where} (evidence {self.evidence:.3g}, alarm from {1 / self.alpha:.3g})"


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
        an alarm from 1 / alpha on. NaN in windows of the reference.
    alarms : tuple of Alarm
        At most one a test.
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
    _summary = "{notion}, windows={window:n}, rows={rows_in_all}, alarms={alarms:n}"
    _picture = Picture(
        "calibration over time, over the noise, and the evidence with its alarms", "monitor.plot_monitor"
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
    def columns(self) -> dict[str, npt.NDArray[Any]]:
        """The columns of the data frame, by name.

        Returns
        -------
        dict of str to ndarray of shape (n_windows,)
            Those of `to_frame`.
        """
        return self._table.of(self)

    @property
    def rows_in_all(self) -> int:
        """Number of rows of all windows."""
        return int(np.sum(self.rows))

    def __str__(self) -> str:
        """Return the table as text, with the alarms below it."""
        head = (
            "window",
            "rows",
            "gap",
            "ECE",
            f"{1 - self.level:.0%} interval",
            "noise",
            "log loss",
            "evidence",
            "of drift",
        )
        body = [self._line(number) for number in range(len(self.window))]
        widths = [max(map(len, column)) for column in zip(head, *body, strict=True)]
        lines = [
            "  ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)).rstrip() for line in (head, *body)
        ]
        lines.insert(1, "  ".join("-" * w for w in widths))
        said = [f"alarm: {alarm}" for alarm in self.alarms] or [f"no alarm; it takes evidence of {1 / self.alpha:.3g}"]
        return "\n".join([*lines, *said])

    def _line(self, k: int) -> tuple[str, ...]:
        return (
            f"{self.window[k]} (reference)" if self.is_reference[k] else self.window[k],
            f"{self.rows[k]}",
            "" if np.isnan(self.gap[k]) else f"{self.gap[k]:+.4f}",
            f"{self.ece[k]:.4f}",
            f"[{self.ece_lower[k]:.4f}, {self.ece_upper[k]:.4f}]",
            f"{self.noise_floor[k]:.4f}",
            f"{self.log_loss[k]:.4f}",
            f"{self.evidence[k]:.3g}",
            "" if np.isnan(self.drift_evidence[k]) else f"{self.drift_evidence[k]:.3g}",
        )
