"""Bins of equal weight with a given number of rows each."""

from __future__ import annotations

from dataclasses import dataclass

from calibrant._core.links import FloatArray
from calibrant._core.parameters import whole
from calibrant._core.registry import declare
from calibrant.binning.base import OrderedBinning
from calibrant.binning.distinct_scores import Ordered
from calibrant.binning.equal_mass import equal_mass_edges


@declare("binning", "points-per-bin", symbol="PPB", source="Gupta and Ramdas 2022")
@dataclass(frozen=True)
class PointsPerBin(OrderedBinning):
    """Bins of equal mass with a given number of rows each: the more rows, the more bins.

    What the event rate of a bin is worth hangs on the number of its rows, not on the number of bins. So problems of different
    sizes, such as the rows that predict a frequent and a rare class, get bins that are worth the same.

    Parameters
    ----------
    points_per_bin : int, default=50
        Rows in each bin at least, at least 1. n rows make max(1, n // points_per_bin) bins, exactly those of `EqualMass`:
        fewer rows than that make one bin, and heavy ties fewer and unequal ones.

    Notes
    -----
    Whole weights count as rows; others are scaled to a mean of one.

    References
    ----------
    Gupta, Ramdas, Top-label calibration and multiclass-to-binary reductions, ICLR 2022 (Algorithm 8).

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant import reliability_curve
    >>> from calibrant.binning import PointsPerBin
    >>> score = np.arange(110) / 110
    >>> curve = reliability_curve(score > 0.5, score, binning=PointsPerBin(50))
    >>> curve.panels[0].bins.count.tolist()
    [55, 55]
    """

    points_per_bin: int = 50

    def __post_init__(self) -> None:
        whole("points_per_bin", self.points_per_bin, least=1, hint="Pass a number of rows such as 50")

    def cut(self, ordered: Ordered) -> FloatArray:
        """Return the edges of as many bins of equal mass as the rows fill."""
        rows = round(ordered.total * ordered.rows_per_weight)
        return equal_mass_edges(ordered, max(1, rows // int(self.points_per_bin)))
