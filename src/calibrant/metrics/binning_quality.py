"""What bins are worth: how much outcomes differ within them, and whether event rates increase from bin to bin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from calibrant._links import FloatArray
from calibrant._problem import BoolArray
from calibrant._result import frame
from calibrant._validation import DataOptions, as_problem
from calibrant.binning import Binning, Bins, as_binning
from calibrant.metrics.losses import Norm, l1
from calibrant.metrics.within_bin import mean_over_bins, variance_of
from calibrant.notions import Notion, as_notion

ROUNDING = 1e-12
"""What the rates of two bins may differ by and be equal: sums of fractional weights are rounded."""


@dataclass(frozen=True, eq=False)
class BinningPanel:
    """One problem of a notion: the bins of it that are judged, and its share in the aggregate."""

    name: str
    share: float
    bins: Bins

    @property
    def variance(self) -> FloatArray:
        """Variance of the outcomes in each bin; NaN where a bin is empty."""
        return variance_of(self.bins)

    @property
    def drop(self) -> FloatArray:
        """By how much each event rate is below that of the bin with rows before it; NaN where a bin is empty."""
        drop = np.full(len(self.bins), np.nan)
        held = self.is_held
        fall = np.maximum(0.0, -np.diff(self.bins.event_rate[held], prepend=0.0))
        drop[held] = np.where(fall > ROUNDING, fall, 0.0)
        return drop

    def mean_of(self, norm: Norm) -> float:
        """Put the variances of the bins that hold rows together."""
        held = self.is_held
        return norm(self.variance[held], self.bins.weight[held] / self.bins.weight.sum())

    @property
    def is_held(self) -> BoolArray:
        """Whether each bin holds rows."""
        return np.asarray(self.bins.weight > 0)


@dataclass(frozen=True, eq=False)
class BinningQuality:
    """What the bins of a forecast are worth. It has no plot: `reliability_curve` with the same binning draws the bins.

    Attributes
    ----------
    criterion : float
        Variance of outcomes within bins, averaged over rows: see `binning_criterion`.
    within_bin_error : float
        The same averaged over bins: see `within_bin_error`.
    n_bins : int
        Number of bins that hold rows, over all panels.
    smallest, largest : float
        Least and greatest weight of a bin that holds rows; numbers of rows where there are no weights. NaN without rows.
    n_violations : int
        Number of bins whose event rate is below that of the bin before.
    largest_violation : float
        Largest drop of the event rate from a bin to the next; 0 where it never decreases.
    panels : tuple of BinningPanel
        One for ``binary`` and ``confidence``, one a class for ``class-wise`` and ``top-label``; none without rows.
    notion, binning : str
        Where the figures come from.
    """

    criterion: float
    within_bin_error: float
    panels: tuple[BinningPanel, ...]
    notion: str
    binning: str

    @property
    def n_bins(self) -> int:
        """Number of bins that hold rows."""
        return int(sum(panel.is_held.sum() for panel in self.panels))

    @property
    def smallest(self) -> float:
        """Least weight of a bin that holds rows; a number of rows where there are no weights. NaN without rows."""
        return float(min((panel.bins.weight[panel.is_held].min() for panel in self.panels), default=np.nan))

    @property
    def largest(self) -> float:
        """Greatest weight of a bin; NaN without rows."""
        return float(max((panel.bins.weight.max() for panel in self.panels), default=np.nan))

    @property
    def n_violations(self) -> int:
        """Number of bins whose event rate is below that of the bin before."""
        return int(sum((panel.drop > 0).sum() for panel in self.panels))

    @property
    def largest_violation(self) -> float:
        """Largest drop of the event rate from a bin to the next; 0 where it never decreases."""
        return float(max((np.nanmax(panel.drop) for panel in self.panels), default=0.0))

    def to_frame(self, backend: str | None = None) -> Any:
        """Return a data frame, a row a bin.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            By default the first that is installed.

        Returns
        -------
        DataFrame
            Columns panel, left, right, count, weight, event_rate, variance and drop.
        """
        panels = self.panels
        columns: dict[str, list[npt.NDArray[Any]]] = {
            "left": [p.bins.edges[:-1] for p in panels],
            "right": [p.bins.edges[1:] for p in panels],
            "count": [p.bins.count for p in panels],
            "weight": [p.bins.weight for p in panels],
            "event_rate": [p.bins.event_rate for p in panels],
            "variance": [p.variance for p in panels],
            "drop": [p.drop for p in panels],
        }
        names = np.repeat([p.name for p in panels], [len(p.bins) for p in panels])
        return frame({"panel": names, **{k: np.concatenate(v) for k, v in columns.items()}}, backend)

    def __repr__(self) -> str:
        violations = f"violations={self.n_violations}"
        if self.n_violations:
            violations += f" up to {self.largest_violation:.4g}"
        return (
            f"BinningQuality({self.notion}, {self.binning}, bins={self.n_bins}, of {self.smallest:g} to "
            f"{self.largest:g}, criterion={self.criterion:.4g}, within bins={self.within_bin_error:.4g}, {violations})"
        )


def binning_quality(
    y_true: npt.ArrayLike,
    y_prob: npt.ArrayLike,
    *,
    notion: str | Notion | None = None,
    binning: int | Binning = 15,
    **data: Unpack[DataOptions],
) -> BinningQuality:
    """What bins are worth: variance of outcomes within them, their sizes, and where event rates decrease.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    notion : str or Notion, optional
        By default ``"binary"`` for one column and ``"confidence"`` for a table.
    binning : int or Binning, default=15
        The bins to judge; a number n means ``EqualWidth(n)``.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``normalize``: see `DataOptions`.

    Returns
    -------
    BinningQuality
        ``criterion``, ``within_bin_error``, ``n_violations``, ``largest_violation``, the bins themselves, and ``to_frame()``.

    Raises
    ------
    ValueError
        If values are not what they must be: not finite, outside [0, 1], rows that do not sum to one, unknown labels.

    References
    ----------
    Matsubara, Tax, Mudd, Guy, TCE: A test-based approach to measuring calibration error, UAI 2023 (section 3.3).

    Examples
    --------
    >>> from calibrant import EqualMass, binning_quality
    >>> binning_quality([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4], binning=EqualMass(4))
    BinningQuality(binary, EqualMass(n_bins=4), bins=4, of 1 to 1, criterion=0, within bins=0, violations=1 up to 1)
    """
    problem = as_problem(y_true, y_prob, **data)
    by, cut = as_notion(notion, problem), as_binning(binning)
    panels = tuple(
        BinningPanel(binary.name or by.name, binary.share, cut(binary)) for binary in by.split(problem) if binary.size
    )
    return BinningQuality(
        float(sum(p.share * p.mean_of(l1) for p in panels)),
        float(sum(p.share * p.mean_of(mean_over_bins) for p in panels)),
        panels,
        by.name,
        repr(cut),
    )
