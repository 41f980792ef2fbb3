"""Guarantees of binning on the simplex, in numbers."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, log1p, sqrt

from calibrant._core.parameters import number, whole
from calibrant.calibrators.guarantees.statements import Statement, Statements

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
