"""Bins whose event rates increase."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.optimize import isotonic_regression

from calibrant._core.links import FloatArray
from calibrant._core.problem import IntArray
from calibrant._core.registry import declare
from calibrant.binning.base import OrderedBinning
from calibrant.binning.distinct_scores import Ordered


@declare("binning", "isotonic", symbol="PAVA", source="Ayer et al. 1955; Dimitriadis et al. 2021")
@dataclass(frozen=True)
class Isotonic(OrderedBinning):
    """Blocks of the isotonic regression of outcome on score: as many bins as keep the event rates increasing.

    Neighbouring scores are pooled until no event rate is below or equal to the one before (pool adjacent violators). Nothing
    has to be chosen; the event rates are the isotonic regression, and the reliability curve over these bins is the CORP
    curve. The outcomes themselves choose the bins: gaps look larger than over bins that the scores alone choose.

    References
    ----------
    Ayer, Brunk, Ewing, Reid, Silverman, An empirical distribution function for sampling with incomplete information,
    Annals of Mathematical Statistics 1955.
    Dimitriadis, Gneiting, Jordan, Stable reliability diagrams for probabilistic classifiers, PNAS 2021.

    Examples
    --------
    >>> from calibrant import reliability_curve
    >>> from calibrant.binning import Isotonic
    >>> curve = reliability_curve([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4], binning=Isotonic())
    >>> curve.panels[0].bins.event_rate.tolist()
    [0.0, 0.5, 1.0]
    """

    uses_outcomes: ClassVar[bool] = True

    def cut(self, ordered: Ordered) -> FloatArray:
        """Return the highest score of each block."""
        starts = block_starts(ordered)
        return np.concatenate([[0.0], ordered.score[starts[1:] - 1], [1.0]])


def block_starts(ordered: Ordered) -> IntArray:
    """Return at which distinct score each block begins."""
    starts: IntArray = np.arange(ordered.score.size)
    while True:
        weight = np.add.reduceat(ordered.weight, starts)
        rate = np.add.reduceat(ordered.outcome_sum, starts) / weight
        found: Any = isotonic_regression(rate, weights=weight)
        if found.blocks.size > starts.size:
            return starts
        # Running means are rounded, sums of whole weights are not: pool until the sums say that nothing is left to pool.
        starts = starts[found.blocks[:-1]]
