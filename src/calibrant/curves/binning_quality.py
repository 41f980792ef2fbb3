"""Quality of bins: the variance of outcomes within them, and whether event rates increase from bin to bin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Unpack

import numpy as np
import numpy.typing as npt

from calibrant._core.arrays import FloatArray
from calibrant._core.border import DataOptions, as_problem
from calibrant._core.result import Record, Result, Table, under
from calibrant._core.rows import BoolArray
from calibrant.binning import Binning, Bins, as_binning
from calibrant.binning.bins import shown
from calibrant.metrics.bin_losses import l1
from calibrant.notions import Notion, as_notion

ROUNDING = 1e-12
"""What the rates of two bins may differ by and be equal: sums of fractional weights are rounded."""


@dataclass(frozen=True, eq=False)
class BinningPanel(Record):
    """One problem of a notion: the bins of it that are judged, and its share in the aggregate."""

    name: str
    share: float
    bins: Bins

    @property
    def variance(self) -> FloatArray:
        """Variance of the outcomes in each bin; NaN where a bin is empty."""
        rate = self.bins.event_rate
        return np.asarray(rate * (1.0 - rate), dtype=np.float64)

    @property
    def drop(self) -> FloatArray:
        """By how much each event rate is below that of the bin with rows before it; NaN where a bin is empty."""
        drop = np.full(len(self.bins), np.nan)
        held = self.is_held
        fall = np.maximum(0.0, -np.diff(self.bins.event_rate[held], prepend=0.0))
        drop[held] = np.where(fall > ROUNDING, fall, 0.0)
        return drop

    @property
    def is_held(self) -> BoolArray:
        """Whether each bin holds rows."""
        return np.asarray(self.bins.weight > 0)


@dataclass(frozen=True, eq=False)
class BinningQuality(Result):
    """Quality of the bins of a forecast. It has no plot: `reliability_curve` with the same binning draws the bins.

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

    _table = Table(
        "bin",
        "panel=panels.name",
        *under("panels.bins", "left", "right", "count", "weight", "event_rate"),
        *under("panels", "variance", "drop"),
    )

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
    y_prob: npt.ArrayLike | None = None,
    *,
    notion: str | Notion | None = None,
    binning: int | Binning = 15,
    **data: Unpack[DataOptions],
) -> BinningQuality:
    """Quality of bins: variance of outcomes within them, their sizes, and where event rates decrease.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    notion : str or Notion, optional
        By default ``"binary"`` for two classes and ``"confidence"`` for more.
    binning : int or Binning, default=15
        The bins to judge; a number n means ``EqualWidth(n)``.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

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
    >>> from calibrant import EqualMass
    >>> from calibrant.curves import binning_quality
    >>> binning_quality([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4], binning=EqualMass(4))
    BinningQuality(binary, EqualMass(n_bins=4), bins=4, of 1 to 1, criterion=0, within bins=0, violations=1 up to 1)
    """
    problem = as_problem(y_true, y_prob, all_rows="the quality of bins", **data)
    by, cut = as_notion(notion, problem), as_binning(binning)
    panels = tuple(
        BinningPanel(binary.name or by.name, binary.share, shown(cut(binary), are_counts=problem.weights.are_counts))
        for binary in by.split(problem)
        if binary.size
    )
    return BinningQuality(
        float(sum(p.share * l1(p.variance[p.is_held], p.bins.weight[p.is_held] / p.bins.weight.sum()) for p in panels)),
        float(sum(p.share * p.variance[p.is_held].mean() for p in panels)),
        panels,
        by.name,
        repr(cut),
    )


def binning_criterion(
    y_true: npt.ArrayLike,
    y_prob: npt.ArrayLike | None = None,
    *,
    notion: str | Notion | None = None,
    binning: int | Binning = 15,
    **data: Unpack[DataOptions],
) -> float:
    """Variance of outcomes within bins, averaged over rows: the criterion that a choice of bins can minimise; in [0, 0.25].

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    notion : str or Notion, optional
        By default ``"binary"`` for two classes and ``"confidence"`` for more; a mean over the problems of others.
    binning : int or Binning, default=15
        The bins to judge; a number n means ``EqualWidth(n)``.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    float
        Sum over bins b of  weight(b) / weight  *  rate(b) * (1 - rate(b)): the Brier score of the event rates of the bins as
        forecasts of the rows in them. It is ``uncertainty - resolution`` of `murphy_decomposition`.

    Raises
    ------
    ValueError
        If values are not what they must be: not finite, outside [0, 1], rows that do not sum to one, unknown labels.

    Notes
    -----
    Splitting a bin never makes it larger: with one row in each bin it is 0. Of all bins whose event rates do not decrease,
    those of `Isotonic` make it smallest. It compares bins of one forecast that obey the same constraint, on the rows that
    chose them: it is no estimate for held-out rows.

    References
    ----------
    Matsubara, Tax, Mudd, Guy, TCE: A test-based approach to measuring calibration error, UAI 2023 (eq. 8 and 9).
    Dimitriadis, Gneiting, Jordan, Stable reliability diagrams for probabilistic classifiers, PNAS 2021.

    Examples
    --------
    >>> from calibrant.binning import Isotonic
    >>> from calibrant.curves import binning_criterion
    >>> y, p = [0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4]
    >>> binning_criterion(y, p, binning=Isotonic()), binning_criterion(y, p, binning=1)
    (0.125, 0.25)
    """
    return binning_quality(y_true, y_prob, notion=notion, binning=binning, **data).criterion


def within_bin_error(
    y_true: npt.ArrayLike,
    y_prob: npt.ArrayLike | None = None,
    *,
    notion: str | Notion | None = None,
    binning: int | Binning = 15,
    **data: Unpack[DataOptions],
) -> float:
    """Mean variance of outcomes within bins, each bin that holds rows counting the same; in [0, 0.25].

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    notion : str or Notion, optional
        By default ``"binary"`` for two classes and ``"confidence"`` for more; a mean over the problems of others.
    binning : int or Binning, default=15
        The bins to judge; a number n means ``EqualWidth(n)``.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    float
        Mean over bins b of  rate(b) * (1 - rate(b)).

    Raises
    ------
    ValueError
        If values are not what they must be: not finite, outside [0, 1], rows that do not sum to one, unknown labels.

    Notes
    -----
    With bins of equal weight it is `binning_criterion`. Many bins where event rates are near one half make it larger, many bins
    where they are near 0 or 1 smaller: it depends on where the bins are, and not on how well any event rate is estimated.

    References
    ----------
    Matsubara, Tax, Mudd, Guy, TCE: A test-based approach to measuring calibration error, UAI 2023 (eq. 9 and Table 1).

    Examples
    --------
    >>> from calibrant.binning import Isotonic
    >>> from calibrant.curves import within_bin_error
    >>> round(within_bin_error([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4], binning=Isotonic()), 4)
    0.0833
    """
    return binning_quality(y_true, y_prob, notion=notion, binning=binning, **data).within_bin_error
