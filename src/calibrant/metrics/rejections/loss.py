"""The share of predictions that their bin rejects, as a loss."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.problem import BinaryProblem
from calibrant.binning import Bins
from calibrant.metrics.rejections import TestName, require_test, verdicts


@dataclass(frozen=True)
class BinTest:
    """Percentage of the predictions of each bin that a test of the bin's events rejects, in [0, 100]: a loss.

    Each prediction p of a bin with k events among n rows is the hypothesis that events have probability p.

    Parameters
    ----------
    test : {"binomial", "mid-p", "clopper-pearson", "t"}, default="binomial"
        ``"binomial"`` is exact: it sums all outcomes that are at most as probable as k, as ``scipy.stats.binomtest`` does, and
        rejects where the sum is at most ``level``. The others reject what lies outside of an interval of 1 - level:
        ``"clopper-pearson"`` of that of Clopper and Pearson, which rejects less, ``"mid-p"`` of the same with half the
        probability of k itself, ``"t"`` of Student's t around the event rate. Of a bin of one row t rejects nothing.
    level : float, default=0.05
        Level of each test, a fraction in (0, 1).

    Notes
    -----
    Weights are numbers of equal rows; others are refused, and sums of 2**53 or more.

    Examples
    --------
    >>> from calibrant import calibration_error
    >>> from calibrant.metrics import BinTest
    >>> y, p = [0] * 9 + [1], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    >>> calibration_error(y, p, binning=1, loss=BinTest("binomial", level=0.05))
    60.0
    """

    test: TestName = "binomial"
    level: float = 0.05

    def __post_init__(self) -> None:
        require_test(self.test, self.level)

    def __call__(self, problem: BinaryProblem, bins: Bins) -> FloatArray:
        """Return the percentage of each bin, NaN where it is empty."""
        share = np.full(len(bins), np.nan)
        rejected = verdicts(problem, bins, self.test, self.level).rejected(len(bins))
        np.divide(rejected, bins.weight, out=share, where=bins.weight > 0)
        return 100.0 * share


REJECTIONS: Mapping[str, BinTest] = {
    "binomial test": BinTest("binomial"),
    "mid-p test": BinTest("mid-p"),
    "clopper-pearson test": BinTest("clopper-pearson"),
    "t-test": BinTest("t"),
}
