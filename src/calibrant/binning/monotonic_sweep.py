"""As many bins as keep the event rates in order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from calibrant._core.registry import declare
from calibrant.binning.base import Binning
from calibrant.binning.distinct_scores import Ordered, between
from calibrant.binning.tuned import FAMILIES, Family, TunedBinning

ROUNDING = 1e-12
"""What the rates of two bins may differ by and be equal: sums of fractional weights are rounded."""


@declare("binning", "monotonic-sweep", symbol="SWEEP", source="Roelofs et al. 2022")
@dataclass(frozen=True)
class MonotonicSweep(TunedBinning):
    """As many bins as keep the event rates non-decreasing: bins are added until a rate first falls.

    Bins without rows are passed over. The calibration error over these bins is known as ECE sweep.

    Parameters
    ----------
    of : {"equal-mass", "equal-width"}, default="equal-mass"
        How scores are cut; the first is less biased.
    most_bins : int, default=1000
        Where the sweep ends if the event rates are still non-decreasing; at the latest it ends at the number of rows.

    References
    ----------
    Roelofs, Cain, Shlens, Mozer, Mitigating bias in calibration error estimation, AISTATS 2022.

    Examples
    --------
    >>> from calibrant import reliability_curve
    >>> from calibrant.binning import MonotonicSweep
    >>> curve = reliability_curve([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4], binning=MonotonicSweep())
    >>> curve.panels[0].bins.event_rate.tolist()
    [0.5, 0.5]
    """

    uses_outcomes: ClassVar[bool] = True

    of: Family = "equal-mass"
    most_bins: int = 1000

    def chosen(self, ordered: Ordered) -> Binning:
        """Return the last binning before the first whose event rates decrease somewhere."""
        family = FAMILIES[self.of]
        rows = round(ordered.total * ordered.rows_per_weight)
        n_bins = 1
        while n_bins < min(self.most_bins, rows) and _is_monotone(ordered, family(n_bins + 1)):
            n_bins += 1
        return family(n_bins)


def _is_monotone(ordered: Ordered, binning: Binning) -> bool:
    last = ordered.last_of(binning.cut(ordered))
    rate = between(ordered.events_reached, last) / between(ordered.reached, last)
    return bool((np.diff(rate) >= -ROUNDING).all())
