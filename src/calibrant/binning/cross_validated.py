"""The number of bins by cross-validation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.parameters import MOST, number, whole
from calibrant._core.problem import IntArray
from calibrant._core.registry import declare
from calibrant.binning.base import Binning
from calibrant.binning.distinct_scores import Ordered, between
from calibrant.binning.tuned import FAMILIES, Family, TunedBinning

ALONE = 1e-9
"""Rows beside a row that are none: numbers of rows are rounded where weights are fractions."""


@declare("binning", "cross-validated", symbol="CV", source="Kängsepp et al. 2025")
@dataclass(frozen=True)
class CrossValidatedBins(TunedBinning):
    """The number of bins whose gaps predict held-out rows best, in mean squared error.

    A binning is seen as a fitted calibration map that adds its gap to every score of a bin; the distance of this map from the
    identity is the calibration error. It is scored by cross-validation, averaged over all ways to deal the rows of each bin
    evenly to the folds: a mean in closed form, so that nothing is random and the order of rows never matters.

    Parameters
    ----------
    of : {"equal-mass", "equal-width"}, default="equal-mass"
        How scores are cut.
    most_bins : int, default=40
        1 to so many bins are tried.
    n_folds : int, default=10
        Number of folds, at least 2; with as many as rows each row is left out by itself.
    tolerance : float, default=0
        The smallest number of bins is taken whose mean squared error is at most so much larger, as a fraction of the least.
        The authors also try 0.001.

    Notes
    -----
    Let v be the unbiased variance of outcome minus score in a bin of n rows. A held-out row differs from the mean of
    m = n - n / n_folds (at most n - 1) of the others by  v * (1 + 1 / m)  in mean square. For a row that is alone in its bin
    there is no such prediction: it counts as wrong altogether, with 1. Whole weights count as rows; others are scaled
    to a mean of one.

    References
    ----------
    Kängsepp, Valk, Kull, On the usefulness of the fit-on-test view on evaluating calibration of classifiers, Machine
    Learning 2025.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant import reliability_curve
    >>> from calibrant.binning import CrossValidatedBins
    >>> score = np.repeat([0.2, 0.3, 0.7, 0.8], 50)
    >>> curve = reliability_curve(score > 0.5, score, binning=CrossValidatedBins())
    >>> curve.panels[0].bins.gap.round(3).tolist()
    [-0.2, -0.3, 0.3, 0.2]
    """

    uses_outcomes: ClassVar[bool] = True

    of: Family = "equal-mass"
    most_bins: int = 40
    n_folds: int = 10
    tolerance: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        whole("n_folds", self.n_folds, least=2, most=MOST, hint="10 is usual")
        number("tolerance", self.tolerance, least=0.0, hint="Pass a fraction such as 0.001")

    def chosen(self, ordered: Ordered) -> Binning:
        """Return the binning with the least squared error on rows left out."""
        family = FAMILIES[self.of]
        residuals = Residuals.of(ordered)
        errors = [
            residuals.left_out(ordered.last_of(family(n + 1).cut(ordered)), self.n_folds) for n in range(self.most_bins)
        ]
        return family(int(np.argmax(np.array(errors) <= min(errors) * (1.0 + self.tolerance))) + 1)


@dataclass(frozen=True, eq=False)
class Residuals:
    """Rows, residuals and squared residuals up to each distinct score."""

    rows: FloatArray
    sums: FloatArray
    squares: FloatArray

    @classmethod
    def of(cls, ordered: Ordered) -> Residuals:
        """Add up outcome minus score."""
        score, scale = ordered.score, ordered.rows_per_weight
        events, others = ordered.outcome_sum, ordered.weight - ordered.outcome_sum
        sums = events * (1.0 - score) - others * score
        squares = events * (1.0 - score) ** 2 + others * score**2
        return cls(ordered.reached * scale, np.cumsum(sums) * scale, np.cumsum(squares) * scale)

    def left_out(self, last: IntArray, n_folds: int) -> float:
        """Return the sum of the squared errors of rows that their bin predicts without them."""
        n, total = between(self.rows, last), between(self.sums, last)
        others = n - 1.0
        kept = np.minimum(n - n / n_folds, others)
        with np.errstate(divide="ignore", invalid="ignore"):
            variance = np.maximum(between(self.squares, last) - total**2 / n, 0.0) / others
            squared = variance * (1.0 + 1.0 / kept)
        return float(n @ np.where(others > ALONE, np.minimum(squared, 1.0), 1.0))
