"""Guarantees of top-label histogram binning, in numbers."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt

from calibrant._core.parameters import number, require, whole
from calibrant.calibrators.guarantees.statements import Statement, Statements


@dataclass(frozen=True)
class BinningGuarantee(Statements):
    """How far the probabilities of top-label histogram binning can be off, whatever the distribution of the data.

    The error of a reported pair (class c, probability h) is  abs(P(Y = c given c, h) - h). No bound is above 1, which says
    nothing.

    Attributes
    ----------
    n_samples : int
        Rows to calibrate on.
    points_per_bin : int
        Rows that each bin has at least, k.
    n_classes : int
        Classes; for each at least k rows are taken to be predicted.
    alpha : float
        Probability with which the bounds may fail.
    delta : float
        Size of the random shift that keeps the values of bins apart.
    """

    _summary = (
        "marginal={marginal_error:.4g}, conditional={conditional_error:.4g}, expected={expected_error:.4g}, "
        "sharp_expected={sharp_expected_error:.4g}"
    )

    n_samples: int
    points_per_bin: int
    n_classes: int
    alpha: float
    delta: float

    @property
    def n_bins(self) -> int:
        """Number of bins of all classes together, at most."""
        return self.n_samples // self.points_per_bin

    @property
    def marginal_error(self) -> float:
        """Error of the pair of a new row, except with probability alpha over that row and the rows to calibrate on (eps_1)."""
        return min(1.0, deviation(self.points_per_bin - 1, self.alpha) + self.delta)

    @property
    def conditional_error(self) -> float:
        """Largest error of all pairs that can be reported, except with probability alpha (eps_2).

        It bounds TL-MCE, TL-ECE and every l_p form of TL-ECE at once: none of them is above the largest error.
        """
        n_bins = self.n_samples / self.points_per_bin
        return min(1.0, deviation(self.points_per_bin - 1, self.alpha, n_bins) + self.delta)

    @property
    def expected_error(self) -> float:
        """TL-ECE on average over the rows to calibrate on, with the constant of the paper."""
        return min(1.0, sqrt(0.5 / self.points_per_bin) + self.delta)

    @property
    def sharp_expected_error(self) -> float:
        """The same by the variance of an event rate: never above ``expected_error``, with many points 0.71 of it."""
        return min(1.0, 0.5 / sqrt(self.points_per_bin - 1) + self.delta)

    def _statements(self) -> list[Statement]:
        sure, average = 1.0 - self.alpha, float("nan")
        return [
            ("error at a new row (marginal)", self.marginal_error, sure),
            ("largest error, TL-MCE (conditional)", self.conditional_error, sure),
            ("TL-ECE", self.conditional_error, sure),
            ("TL-ECE", self.expected_error, average),
            ("TL-ECE, sharper constant", self.sharp_expected_error, average),
        ]

    def _head(self) -> str:
        return f"{self.n_samples} rows, {self.points_per_bin} points a bin, at most {self.n_bins} bins"


def binning_guarantee(
    n_samples: int, points_per_bin: int, n_classes: int = 1, alpha: float = 0.1, delta: float = 0.0
) -> BinningGuarantee:
    r"""Bound the errors of top-label histogram binning (TL-HB) before any data are seen.

    It speaks of the pair (label, probability) of ``predict_top``, fitted as
    ``ByNotion(HistogramBinning(PointsPerBin(k), interior=True, delta=1e-10), "top-label")`` on rows that are drawn
    independently and that the classifier was not trained on. `fitted_guarantee` says what a fitted calibrator promises.

    Parameters
    ----------
    n_samples : int
        Rows to calibrate on, at least ``n_classes * points_per_bin``.
    points_per_bin : int
        Rows of each bin, k, at least 2.
    n_classes : int, default=1
        Classes that may be predicted; each must be for at least k rows.
    alpha : float, default=0.1
        Probability with which the bounds may fail, in (0, 1).
    delta : float, default=0
        The ``delta`` of `HistogramBinning`.

    Returns
    -------
    BinningGuarantee
        The bounds, each in [0, 1].

    Raises
    ------
    TypeError, ValueError
        If a parameter is not what it must be, or there are fewer rows than one bin a class takes.

    Notes
    -----
    With k points a bin and n rows in all,

    .. math::

        \epsilon_1 = \sqrt{\frac{\log(2 / \alpha)}{2 (k - 1)}} + \delta, \qquad
        \epsilon_2 = \sqrt{\frac{\log(2 n / (k \alpha))}{2 (k - 1)}} + \delta, \qquad
        E[\text{TL-ECE}] \le \frac{1}{2 \sqrt{k - 1}} + \delta \le \sqrt{\frac{1}{2 k}} + \delta .

    k - 1 rows lie inside a bin, not on its edge. Given the edges they are independent draws from that bin, and Hoeffding's
    inequality bounds how far their event rate is off; :math:`\epsilon_2` shares alpha out to the n / k bins. The standard
    deviation of the rate is at most :math:`1 / (2 \sqrt{k - 1})`, which is ``sharp_expected_error``. The paper has the last
    bound, ``expected_error``: both are equal at k = 2, and the sharp one is smaller from there on. Scores are taken to be
    continuous; docs/binning-guarantees.md shows what ties do.

    References
    ----------
    Gupta, Ramdas, Top-label calibration and multiclass-to-binary reductions, ICLR 2022, Theorem 1. Gupta, Ramdas,
    Distribution-free calibration guarantees for histogram binning without sample splitting, ICML 2021.

    Examples
    --------
    >>> from calibrant.calibrators import binning_guarantee
    >>> binning_guarantee(5000, 50, n_classes=10)
    BinningGuarantee(marginal=0.1748, conditional=0.2785, expected=0.1, sharp_expected=0.07143)
    """
    n = whole("n_samples", n_samples, least=1, hint="Pass the number of rows to calibrate on")
    k = whole("points_per_bin", points_per_bin, least=2, hint="50 is usual")
    classes = whole("n_classes", n_classes, least=1, hint="Pass the number of classes, 1 for one event")
    alpha, delta = levels(alpha, delta)
    require(
        n >= classes * k,
        f"n_samples must be at least n_classes * points_per_bin, a bin for each class: {classes} * {k} = {classes * k}",
        value=n,
        hint=f"Take at most {n // classes} points a bin, or more rows" if n // classes >= 2 else "Take more rows",
    )
    return BinningGuarantee(n, k, classes, alpha, delta)


def deviation(points: float, alpha: float, n_bins: float = 1.0) -> float:
    """How far the event rate of so many rows may be off in any of the bins, except with probability alpha (Hoeffding 1963)."""
    return sqrt((log(2.0 * n_bins) - log(alpha)) / (2.0 * points))


def levels(alpha: object, delta: object) -> tuple[float, float]:
    """Return ``alpha`` and ``delta`` if they are what they must be."""
    return (
        number("alpha", alpha, above=0.0, below=1.0, hint="0.1 lets the bound fail once in ten"),
        number("delta", delta, least=0.0, hint="In units of probability: 1e-10 keeps values apart"),
    )
