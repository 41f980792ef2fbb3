"""Guarantees of binning: bounds that hold with a stated probability."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import log, log1p, sqrt
from typing import Any

from calibrant._core.checks import number, require, whole
from calibrant._core.result import Result, frame

# What guarantees share: statements, each with its bound and the probability with which it holds


Statement = tuple[str, float, float]
"""What is bounded, the bound, and the probability with which it holds; NaN where it holds on average."""


class Statements(Result, ABC):
    """A guarantee that is a list of statements."""

    @abstractmethod
    def _head(self) -> str: ...

    @abstractmethod
    def _statements(self) -> list[Statement]: ...

    def to_frame(self, backend: str | None = None) -> Any:
        """Return a data frame, a row a statement.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            By default the first that is installed.

        Returns
        -------
        DataFrame
            Columns statement, bound, probability (with which it holds; NaN where it holds on average).
        """
        statement, bound, probability = zip(*self._statements(), strict=True)
        return frame({"statement": statement, "bound": bound, "probability": probability}, backend)

    def __str__(self) -> str:
        wide = max(len(statement) for statement, _, _ in self._statements())
        lines = [
            f"  {statement:<{wide}}  <= {bound:<7.4g} {f'with probability {p:g}' if p == p else 'on average'}"
            for statement, bound, p in self._statements()
        ]
        return "\n".join([self._head(), *lines])


# Guarantees of top-label histogram binning, in numbers


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
    independently and that the classifier was not trained on.

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
    alpha = number("alpha", alpha, above=0.0, below=1.0, hint="0.1 lets the bound fail once in ten")
    delta = number("delta", delta, least=0.0, hint="In units of probability: 1e-10 keeps values apart")
    must = (
        f"n_samples must be at least n_classes * points_per_bin, a bin for each class: {classes} * {k} = {classes * k}"
    )
    hint = f"Take at most {n // classes} points a bin, or more rows" if n // classes >= 2 else "Take more rows"
    require(n >= classes * k, must, value=n, hint=hint)
    return BinningGuarantee(n, k, classes, alpha, delta)


def deviation(points: float, alpha: float, n_bins: float = 1.0) -> float:
    """How far the event rate of so many rows may be off in any of the bins, except with probability alpha (Hoeffding 1963)."""
    return sqrt((log(2.0 * n_bins) - log(alpha)) / (2.0 * points))


# Guarantees of binning on the simplex, in numbers


FARTHEST = 2.0
"""No two vectors of probabilities are farther apart in the L1 distance."""


@dataclass(frozen=True)
class CanonicalGuarantee(Statements):
    """How far the vectors of `CanonicalBinning` can be off, whatever the distribution of the data.

    The error of a reported vector h is the L1 distance between P(Y | h) and h, the sum of the errors of all classes. It lies
    between 0 and 2 and is twice the total variation, so half of each bound is one of the total variation. A bound of 2 says
    nothing.

    Attributes
    ----------
    points_per_bin : int
        Rows that the vector of each bin was estimated from, at least.
    n_bins : int
        Number of bins.
    n_classes : int
        Number of classes.
    alpha : float
        Probability with which the bounds may fail.
    """

    _summary = "marginal={marginal_error:.4g}, conditional={conditional_error:.4g}, expected={expected_error:.4g}"

    points_per_bin: int
    n_bins: int
    n_classes: int
    alpha: float

    @property
    def marginal_error(self) -> float:
        """Error of the vector of a new row, except with probability alpha over that row and the rows to calibrate on."""
        return self._deviation(self.alpha)

    @property
    def conditional_error(self) -> float:
        """Largest error of all vectors, except with probability alpha. It bounds canonical ECE in the L1 distance."""
        return self._deviation(self.alpha / self.n_bins)

    @property
    def expected_error(self) -> float:
        """Canonical ECE in the L1 distance on average over the rows to calibrate on, by the variance of the rates."""
        return min(FARTHEST, sqrt((self.n_classes - 1) / self.points_per_bin))

    def _deviation(self, alpha: float) -> float:
        n_classes = self.n_classes
        sets = n_classes * log(2.0) + log1p(-(2.0 ** (1 - n_classes)))  # the logarithm of 2^L - 2, which may overflow
        return min(FARTHEST, sqrt(2.0 * (sets - log(alpha)) / self.points_per_bin))

    def _statements(self) -> list[Statement]:
        sure = 1.0 - self.alpha
        return [
            ("L1 error at a new row (marginal)", self.marginal_error, sure),
            ("largest L1 error (conditional)", self.conditional_error, sure),
            ("canonical ECE, L1", self.expected_error, float("nan")),
        ]

    def _head(self) -> str:
        return f"{self.n_bins} bins of {self.n_classes} classes, {self.points_per_bin} rows each"


def canonical_binning_guarantee(
    points_per_bin: int, n_bins: int, *, n_classes: int, alpha: float = 0.1
) -> CanonicalGuarantee:
    r"""Bound the errors of `CanonicalBinning` before any data are seen.

    Errors are L1 distances between class rates, sums over the classes, from 0 to 2: twice the total variation, which
    `canonical_calibration_error` measures unless it is told ``distance="l1"``.

    Parameters
    ----------
    points_per_bin : int
        Rows that the vector of each bin is estimated from, m, at least 1. Projection binning of n rows into B bins has
        ``(n + 1) // B - 1`` inside each, at least.
    n_bins : int
        Number of bins, B, at least 1.
    n_classes : int
        Number of classes, L, at least 2.
    alpha : float, default=0.1
        Probability with which the bounds may fail, in (0, 1).

    Returns
    -------
    CanonicalGuarantee
        The bounds, each in [0, 2].

    Raises
    ------
    TypeError, ValueError
        If a parameter is not what it must be.

    Notes
    -----
    The largest error of all bins, and the mean over samples:

    .. math::

        \epsilon = \sqrt{\frac{2 \log((2^L - 2) B / \alpha)}{m}}, \qquad
        E \lVert \hat p - p \rVert_1 \le \sum_l \sqrt{\frac{p_l (1 - p_l)}{m}} \le \sqrt{\frac{L - 1}{m}} .

    Half the L1 distance is the largest of :math:`\hat p(A) - p(A)` over the 2^L - 2 sets A of classes that are neither empty
    nor everything; each is above :math:`\epsilon / 2` with probability :math:`\exp(-m \epsilon^2 / 2)` at most (Hoeffding).
    Some write 2^L for 2^L - 2. For two classes it is twice the error of one probability, as in `binning_guarantee`. It grows
    with the square root of the number of classes.

    References
    ----------
    Weissman, Ordentlich, Seroussi, Verdu, Weinberger, Inequalities for the L1 deviation of the empirical distribution, HP
    Laboratories 2003. Podkopaev, Ramdas, Distribution-free uncertainty quantification for classification under label shift,
    UAI 2021.

    Examples
    --------
    >>> from calibrant.calibrators import canonical_binning_guarantee
    >>> canonical_binning_guarantee(200, 27, n_classes=3)
    CanonicalGuarantee(marginal=0.2023, conditional=0.2718, expected=0.1)
    """
    return CanonicalGuarantee(
        whole("points_per_bin", points_per_bin, least=1, hint="Pass the rows of the smallest bin"),
        whole("n_bins", n_bins, least=1, hint="Pass the number of bins"),
        whole("n_classes", n_classes, least=2, hint="Pass the number of classes"),
        number("alpha", alpha, above=0.0, below=1.0, hint="0.1 lets the bound fail once in ten"),
    )
