"""Guarantees of a fitted histogram binning, from the rows that each of its values was estimated from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np
import numpy.typing as npt

from calibrant._core.links import FloatArray
from calibrant._core.parameters import number
from calibrant._core.problem import IntArray
from calibrant._core.result import Result
from calibrant._core.table import Table
from calibrant.calibrators.around.by_notion import ByNotion
from calibrant.calibrators.guarantees.fitted_bins import bins_of
from calibrant.calibrators.guarantees.statements import lines_of
from calibrant.calibrators.one_score.histogram import HistogramBinning


@dataclass(frozen=True, eq=False)
class FittedGuarantee(Result):
    """How far each probability that a fitted histogram binning reports can be off, whatever the distribution of the data.

    The arrays have an entry for each bin of each problem of the notion: under ``top-label`` a problem is a predicted class.

    Attributes
    ----------
    problem : ndarray of shape (n_bins,)
        Which problem the bin belongs to, in words.
    lower_edge, upper_edge : ndarray of shape (n_bins,)
        The bin holds the scores in (lower_edge, upper_edge].
    value : ndarray of shape (n_bins,)
        What it reports; NaN where a score stays as it is.
    count : ndarray of shape (n_bins,)
        Rows that the value was estimated from.
    error : ndarray of shape (n_bins,)
        Bound of its error by itself, with probability 1 - alpha for this bin; 1 where nothing is promised.
    simultaneous_error : ndarray of shape (n_bins,)
        Bound that holds for all bins at once with probability 1 - alpha.
    rate_low, rate_high : ndarray of shape (n_bins,)
        Interval of Clopper and Pearson for the true event rate, all at once with probability 1 - alpha.
    mean_error : ndarray of shape (n_bins,)
        Bound of the mean error over samples to calibrate on, by the variance of the rate.
    alpha : float
        Probability with which the bounds may fail.
    without : tuple of str
        Problems, or bins of them, that had no rows: nothing is promised there, and no other figure speaks of them.
    """

    _table = Table(
        "bin",
        "problem",
        "lower_edge",
        "upper_edge",
        "value",
        "count",
        "error",
        "simultaneous_error",
        "rate_low",
        "rate_high",
    )
    _summary = (
        "marginal={marginal_error:.4g}, conditional={conditional_error:.4g}, "
        "sharp_expected={sharp_expected_error:.4g}, n_bins={n_bins}"
    )

    problem: npt.NDArray[np.str_]
    lower_edge: FloatArray
    upper_edge: FloatArray
    value: FloatArray
    count: IntArray
    error: FloatArray
    simultaneous_error: FloatArray
    rate_low: FloatArray
    rate_high: FloatArray
    mean_error: FloatArray
    alpha: float
    without: tuple[str, ...] = ()

    @property
    def n_bins(self) -> int:
        """Number of bins that have rows."""
        return int((self.count > 0).sum())

    @property
    def fewest(self) -> int:
        """Fewest rows that a value was estimated from, of bins that have any."""
        return int(self.count[self.count > 0].min())

    @property
    def marginal_error(self) -> float:
        """Error of the pair of a new row, except with probability alpha over that row and the rows to calibrate on."""
        return self._largest(self.error)

    @property
    def conditional_error(self) -> float:
        """Largest error of all pairs that can be reported, except with probability alpha. It bounds TL-MCE and TL-ECE."""
        return self._largest(self.simultaneous_error)

    @property
    def sharp_expected_error(self) -> float:
        """TL-ECE (or the ECE of the notion) on average over samples to calibrate on, by the variance of the rates."""
        return self._largest(self.mean_error)

    def _largest(self, error: FloatArray) -> float:
        return float(error[self.count > 0].max())

    def __str__(self) -> str:
        sure, average = 1.0 - self.alpha, float("nan")
        head = f"{self.n_bins} bins, each estimated from at least {self.fewest} rows"
        none = [f"  no guarantee for {', '.join(self.without)}"] if self.without else []
        statements = [
            ("error at a new row (marginal)", self.marginal_error, sure),
            ("largest error (conditional)", self.conditional_error, sure),
            ("mean error, sharper constant", self.sharp_expected_error, average),
        ]
        return "\n".join([head, *lines_of(statements), *none])


def fitted_guarantee(calibrator: HistogramBinning | ByNotion, *, alpha: float = 0.1) -> FittedGuarantee:
    r"""State the guarantees of a fitted histogram binning, from the rows that each of its values was estimated from.

    Parameters
    ----------
    calibrator : HistogramBinning or ByNotion
        Fitted, without weights, on rows drawn independently that the classifier was not trained on. `ByNotion` of
        `HistogramBinning` under any notion in which a row is at most once in a problem: binary, confidence, top-label,
        class-wise, top-k.
    alpha : float, default=0.1
        Probability with which the bounds may fail, in (0, 1).

    Returns
    -------
    FittedGuarantee
        A bound for each bin, and for all of them.

    Raises
    ------
    TypeError, ValueError
        If the calibrator is of another kind (of `CanonicalBinning` speaks `canonical_binning_guarantee`), was fitted with
        weights, or has bins that depend on the outcomes.

    Warns
    -----
    CalibrationWarning
        Where a problem or a bin had no rows, a class had fewer than the points of one bin, or class-wise probabilities are
        normalised.

    Notes
    -----
    With m rows inside a bin, none on its edge (``interior=True``), the bound is :math:`\sqrt{\log(2 / a) / (2 m)}`, with a =
    alpha for one bin and alpha / B for B bins at once, and :math:`1 / (2 \sqrt m)` on average. Without ``interior`` an upper
    edge that was cut at an observed score counts among the m rows: m - 1 lie inside, the one on the edge has a probability of
    its own, and the bound t of m - 1 rows becomes ((m - 1) t + 1) / m. The theorem speaks of continuous scores; rows that tie
    with an edge are taken for one. ``smoothing`` adds a / (m + 2 a), as far as it can move a rate, and ``delta`` itself.

    The interval (rate_low, rate_high) is exact for the rows that the bin was estimated from. It is short where the rate is
    near 0 or 1, which the bounds by Hoeffding's inequality cannot be, because they are known beforehand.

    References
    ----------
    Gupta, Ramdas, Top-label calibration and multiclass-to-binary reductions, ICLR 2022, Theorem 1. Clopper, Pearson, The use
    of confidence or fiducial limits illustrated in the case of the binomial, Biometrika 1934.

    Examples
    --------
    >>> from calibrant import ByNotion, HistogramBinning
    >>> from calibrant.binning import PointsPerBin
    >>> from calibrant.calibrators import fitted_guarantee
    >>> from calibrant.datasets import make_softmax_forecast
    >>> made = make_softmax_forecast(2000, 3, rng=0)
    >>> binning = ByNotion(HistogramBinning(PointsPerBin(50), interior=True, delta=1e-10), "top-label")
    >>> print(fitted_guarantee(binning.fit(made.prob, made.y)))
    38 bins, each estimated from at least 50 rows
      error at a new row (marginal)  <= 0.1731  with probability 0.9
      largest error (conditional)    <= 0.2576  with probability 0.9
      mean error, sharper constant   <= 0.07071 on average
    """
    level = number("alpha", alpha, above=0.0, below=1.0, hint="0.1 lets the bound fail once in ten")
    parts, without = bins_of(calibrator)
    n_bins = sum(part.n_bins for part in parts)
    columns: dict[str, Any] = {
        "problem": np.repeat([part.name for part in parts], [part.fitted.count_.size for part in parts]),
        "lower_edge": _joined(part.fitted.edges_[:-1] for part in parts),
        "upper_edge": _joined(part.fitted.edges_[1:] for part in parts),
        "value": _joined(part.fitted.value_ for part in parts),
        "count": _joined(part.fitted.count_ for part in parts),
        "error": _joined(part.bound(log(2.0) - log(level)) for part in parts),
        "simultaneous_error": _joined(part.bound(log(2.0 * n_bins) - log(level)) for part in parts),
        "mean_error": _joined(part.bound(0.5) for part in parts),
    }
    low, high = zip(*(part.interval(level / n_bins) for part in parts), strict=True)
    return FittedGuarantee(
        **columns, rate_low=_joined(low), rate_high=_joined(high), alpha=level, without=tuple(without)
    )


def _joined(arrays: Iterable[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    return np.concatenate(list(arrays))
