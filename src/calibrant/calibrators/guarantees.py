"""Guarantees of binning: bounds that hold with a stated probability."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, log, log1p, sqrt
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt
from scipy.special import betaincinv
from sklearn.utils.validation import check_is_fitted

from calibrant._core.arrays import FloatArray
from calibrant._core.checks import choice, number, refuse, require, whole
from calibrant._core.result import Result, Table, frame, under
from calibrant._core.rows import IntArray
from calibrant.binning import Binning, EqualWidth, as_binning
from calibrant.binning.bins import PointsPerBin
from calibrant.calibrators.base import first_names
from calibrant.calibrators.binning import HistogramBinning
from calibrant.calibrators.by_notion import ByNotion
from calibrant.calibrators.canonical import CanonicalBinning
from calibrant.exceptions import warn

# The bins of a fitted calibrator, and how far their event rates may be off


ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class FittedBins:
    """The bins of one problem, and how far the rate of each may be off."""

    name: str
    fitted: HistogramBinning

    @property
    def inside(self) -> IntArray:
        """Rows of each bin that are draws from it: all but the one at which a bin was cut, if that one counts as well.

        With ``interior`` it does not, unless it is alone.
        """
        count = self.fitted.count_
        binning = self.fitted.binning
        if not isinstance(binning, (str, Binning)) or isinstance(as_binning(binning), EqualWidth):
            return count  # no score has cut a bin
        on_edge = np.arange(count.size) < count.size - 1  # the last bin ends at 1, which no score has cut
        if self.fitted.interior:
            on_edge &= count == 1
        return np.maximum(count - on_edge, 0)

    @property
    def n_bins(self) -> int:
        """Number of bins that have rows."""
        return int((self.fitted.count_ > 0).sum())

    @property
    def empty_bins(self) -> list[str]:
        """Bins without rows, in words."""
        edges = self.fitted.edges_
        return [
            f"{self.name}, scores in ({edges[b]:g}, {edges[b + 1]:g}]" for b in np.flatnonzero(self.fitted.count_ == 0)
        ]

    def bound(self, squared: float) -> FloatArray:
        """Bound sqrt(squared / (2 m)) of m rows inside, and what the row on the edge, smoothing and delta add to it."""
        count, inside = self.fitted.count_, self.inside
        rows = np.maximum(count, 1)
        estimate = (np.sqrt(inside * squared / 2.0) + (count - inside)) / rows
        moved = self.fitted.smoothing / (rows + 2.0 * self.fitted.smoothing) + self.fitted.delta
        return np.where(count > 0, np.minimum(estimate + moved, 1.0), 1.0)

    def interval(self, alpha: float) -> tuple[FloatArray, FloatArray]:
        """Interval of Clopper and Pearson for all counts of events that the reported values leave open."""
        fewest, most = self._events()
        inside = self.inside
        fewest, most = np.maximum(fewest - (self.fitted.count_ - inside), 0), np.minimum(most, inside)
        low, high = np.zeros(inside.size), np.ones(inside.size)
        some, rest = fewest > 0, most < inside
        low[some] = betaincinv(fewest[some], (inside - fewest)[some] + 1.0, alpha / 2.0)
        high[rest] = betaincinv(most[rest] + 1.0, (inside - most)[rest], 1.0 - alpha / 2.0)
        return low, high

    def _events(self) -> tuple[FloatArray, FloatArray]:
        """Fewest and most events that give the value of each bin within what rounding and ``delta`` leave open.

        Of a value that ties part, they are the whole numbers around it.
        """
        count, smoothing = self.fitted.count_, self.fitted.smoothing
        rows = count + 2.0 * smoothing
        events = np.where(count > 0, self.fitted.value_ * rows - smoothing, 0.0)
        room = rows * (self.fitted.delta + ROUNDING)
        fewest, most = np.ceil(events - room), np.floor(events + room)
        parted = fewest > most
        fewest, most = np.where(parted, np.floor(events), fewest), np.where(parted, np.ceil(events), most)
        return np.clip(fewest, 0, count), np.clip(most, 0, count)


def bins_of(calibrator: HistogramBinning | ByNotion) -> tuple[list[FittedBins], list[str]]:
    """Return the bins of each problem, and in words what had no rows; refuse, or warn of, what no bound speaks of."""
    method = calibrator.calibrator if isinstance(calibrator, ByNotion) else calibrator
    if not isinstance(method, HistogramBinning):
        of_cells = (
            "For cells of the simplex ask canonical_binning_guarantee, points_per_bin the smallest count_ above 0"
        )
        of_bins = "Take bins: ByNotion(HistogramBinning(PointsPerBin(50), interior=True, delta=1e-10), 'top-label')"
        must = "calibrator must be a HistogramBinning, or ByNotion of one"
        hint = of_cells if isinstance(calibrator, CanonicalBinning) else of_bins
        refuse(must, value=calibrator, hint=hint, error=TypeError)
    binning = method.binning
    check_is_fitted(calibrator)
    if isinstance(calibrator, ByNotion):
        names, notion = tuple(str(c) for c in calibrator.classes_.tolist()), calibrator.notion_
        problems = list(notion.parts(np.eye(len(names)), names))
        fits = not any(
            isinstance(part.rows, np.ndarray) and np.unique(part.rows).size < part.rows.size for part in problems
        )
        must = "notion must hold a row at most once in a problem, since the bounds count independent rows"
        hint = "Take 'top-label' or 'class-wise'"
        require(fits, must, value=notion, hint=hint)
        if calibrator.normalize and notion.parts_a_row(len(names)) == len(names) > 1:
            said = "probabilities are divided by their sums after binning: the bounds hold before that"
            warn(f"{said}, and not for what predict_proba returns. Fit with normalize=False.")
        fitted = [(part.name, one) for part, one in zip(problems, calibrator.calibrators_, strict=True)]
    else:
        fitted = [(f"class {calibrator.classes_[1]}", calibrator)]
    fits = not isinstance(binning, (str, Binning)) or not as_binning(binning).uses_outcomes
    must = "bins must not depend on the outcomes, or these are no independent draws in them"
    hint = "Take PointsPerBin(50)"
    require(fits, must, value=binning, hint=hint)
    parts = [FittedBins(name, one) for name, one in fitted if isinstance(one, HistogramBinning)]
    if weighted := [part.name for part in parts if part.fitted.weighted_]:
        must = "calibrator must be fitted without weights, since the bounds count rows"
        refuse(must, got=f"weighted rows of {first_names(weighted)}", hint="Fit it without sample_weight")
    without = [name for name, one in fitted if not isinstance(one, HistogramBinning)]
    without += [words for part in parts for words in part.empty_bins]
    if without:
        warn(f"no guarantee for {first_names(without)}: no calibration rows. Fit on more rows.")
    most = binning.points_per_bin if isinstance(binning, PointsPerBin) else 0
    if short := [part.name for part in parts if part.fitted.count_.sum() < most]:
        said = (
            f"fewer rows than the {most} of a bin for {first_names(short)}: the bounds are wider there than with {most}"
        )
        warn(f"{said}. Fit on more rows.")
    return parts, without


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
        return "\n".join([self._head(), *lines_of(self._statements())])


def lines_of(statements: list[Statement]) -> list[str]:
    """Statements, their bounds and when they hold, in columns."""
    wide = max(len(statement) for statement, _, _ in statements)
    return [
        f"  {statement:<{wide}}  <= {bound:<7.4g} {f'with probability {p:g}' if p == p else 'on average'}"
        for statement, bound, p in statements
    ]


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
    must = (
        f"n_samples must be at least n_classes * points_per_bin, a bin for each class: {classes} * {k} = {classes * k}"
    )
    hint = f"Take at most {n // classes} points a bin, or more rows" if n // classes >= 2 else "Take more rows"
    require(n >= classes * k, must, value=n, hint=hint)
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


# How many points a bin, and how many rows, a wanted guarantee takes


GuaranteeKind = Literal["marginal", "conditional", "expected", "sharp-expected"]

MOST_POINTS = 1 << 52
"""A search for more points than a float can count ends here."""


@dataclass(frozen=True)
class BinningPlan(Result):
    """How many rows to calibrate on, and how many points a bin, for a wanted error.

    Attributes
    ----------
    points_per_bin : int
        Rows of each bin.
    n_samples : int
        Rows to calibrate on.
    n_bins : int
        Number of bins of all classes together, at most.
    guarantee : BinningGuarantee
        What these give.
    """

    _table = Table(
        None,
        *("points_per_bin", "n_samples", "n_bins"),
        *under("guarantee", "marginal_error", "conditional_error", "expected_error", "sharp_expected_error"),
    )
    _summary = "points_per_bin={points_per_bin}, n_samples={n_samples}, n_bins={n_bins}"

    points_per_bin: int
    n_samples: int
    n_bins: int
    guarantee: BinningGuarantee

    def __str__(self) -> str:
        return str(self.guarantee)


def points_for_guarantee(
    error: float,
    *,
    kind: GuaranteeKind = "marginal",
    n_samples: int | None = None,
    n_classes: int = 1,
    alpha: float = 0.1,
    delta: float = 0.0,
) -> int:
    """Return the smallest number of points a bin that bounds the error of top-label histogram binning as wanted.

    Parameters
    ----------
    error : float
        Wanted bound, above ``delta`` and at most 1.
    kind : {"marginal", "conditional", "expected", "sharp-expected"}, default="marginal"
        Which bound of `BinningGuarantee`: of the error of the pair of a new row, of the largest error of all pairs, or of
        TL-ECE on average over the rows to calibrate on, with the constant of the paper or the smaller one that can be proved.
    n_samples : int, optional
        Rows to calibrate on. The conditional bound needs it, since fewer points a bin make more bins to be right about; the
        others do without.
    n_classes : int, default=1
        Classes that may be predicted.
    alpha : float, default=0.1
        Probability with which the bound may fail, in (0, 1).
    delta : float, default=0
        The ``delta`` of `HistogramBinning`.

    Returns
    -------
    int
        Points a bin, at least 2: the smallest number for which this bound is within ``error``.

    Raises
    ------
    TypeError, ValueError
        If a parameter is not what it must be, or no number of points does.

    Examples
    --------
    >>> from calibrant.calibrators import points_for_guarantee
    >>> points_for_guarantee(0.1)
    151
    >>> points_for_guarantee(0.1, kind="conditional", n_samples=5000)
    293
    >>> points_for_guarantee(0.1, kind="expected"), points_for_guarantee(0.1, kind="sharp-expected")
    (50, 26)
    """
    bound, alpha, delta, error = _wanted(kind, error, alpha, delta)
    classes = whole("n_classes", n_classes, least=1, hint="Pass the number of classes, 1 for one event")
    must = "n_samples must be given for the conditional bound: it depends on the number of bins"
    hint = "Pass it, or ask samples_for_guarantee how many rows it takes"
    require(n_samples is not None or kind != "conditional", must, got="None", hint=hint)
    n = None if n_samples is None else whole("n_samples", n_samples, least=1, hint="Pass the number of rows")

    def reaches(k: int) -> bool:
        return bool(getattr(BinningGuarantee(k if n is None else max(n, k), k, classes, alpha, delta), bound) <= error)

    most = MOST_POINTS if n is None else n // classes
    if most < 2 or not reaches(most):
        rows = (
            "any number of points" if n is None else f"{n} rows" + (f" over {classes} classes" if classes > 1 else "")
        )
        hint = "Take more rows (samples_for_guarantee says how many), a larger error or a larger alpha"
        refuse("error must be within reach of the rows", got=f"{error:g} ({kind}) from {rows}", hint=hint)
    return _smallest(reaches, most)


def samples_for_guarantee(
    error: float,
    *,
    kind: GuaranteeKind = "conditional",
    n_classes: int = 1,
    bins_per_class: int = 10,
    class_share: float | None = None,
    alpha: float = 0.1,
    delta: float = 0.0,
) -> BinningPlan:
    """Return how many rows to calibrate on, and how many points a bin, for a wanted error and a wanted fineness.

    Parameters
    ----------
    error : float
        Wanted bound, above ``delta`` and at most 1.
    kind : {"marginal", "conditional", "expected", "sharp-expected"}, default="conditional"
        Which bound, as in `points_for_guarantee`.
    n_classes : int, default=1
        Classes that may be predicted.
    bins_per_class : int, default=10
        Bins that the class predicted most rarely gets on average: how many probabilities can be told apart there.
    class_share : float, optional
        Share of the rows for which that class is predicted, in (0, 1 / n_classes]; by default 1 / n_classes, all equally
        often.
    alpha : float, default=0.1
        Probability with which the bound may fail, in (0, 1).
    delta : float, default=0
        The ``delta`` of `HistogramBinning`.

    Returns
    -------
    BinningPlan
        The smallest number of points a bin that reaches the error with so many bins, and the rows that it takes.

    Raises
    ------
    TypeError, ValueError
        If a parameter is not what it must be, or no number of rows does.

    Notes
    -----
    The plan has ``bins_per_class * points_per_bin / class_share`` rows, so that the number of bins, and with it the
    logarithm in the conditional bound, is known before k is. How many rows a class gets is chance: with one bin a class
    every other sample would leave the rarest below k rows. With ten that happens to hardly any.

    Examples
    --------
    >>> from calibrant.calibrators import samples_for_guarantee
    >>> samples_for_guarantee(0.1, n_classes=10)
    BinningPlan(points_per_bin=382, n_samples=38200, n_bins=100)
    """
    bound, alpha, delta, error = _wanted(kind, error, alpha, delta)
    classes = whole("n_classes", n_classes, least=1, hint="Pass the number of classes, 1 for one event")
    bins = whole("bins_per_class", bins_per_class, least=1, hint="10 is usual")
    shares: float = classes
    if class_share is not None:
        hint = "Pass the share of the class predicted most rarely, or None for equal shares"
        shares = 1.0 / number("class_share", class_share, above=0.0, most=1.0, hint=hint)
        must = "class_share must be at most 1 / n_classes, the share of the rarest"
        got = f"{class_share!r} of {classes} classes"
        require(shares >= classes * (1.0 - 1e-09), must, got=got, hint=hint)

    def planned(k: int) -> BinningGuarantee:
        return BinningGuarantee(ceil(bins * k * shares * (1.0 - 1e-12)), k, classes, alpha, delta)

    def reaches(k: int) -> bool:
        return bool(getattr(planned(k), bound) <= error)

    must = "error must be further above delta"
    require(reaches(MOST_POINTS), must, got=f"{error:g} and {delta:g}", hint="Take a larger error")
    k = _smallest(reaches, MOST_POINTS)
    found = planned(k)
    return BinningPlan(k, found.n_samples, found.n_bins, found)


BOUNDS = {kind: f"{kind.replace('-', '_')}_error" for kind in get_args(GuaranteeKind)}
"""The bound of each kind."""


def _smallest(reaches: Callable[[int], bool], most: int) -> int:
    """Return the smallest number from 2 on that reaches a bound which falls with it; ``most`` does."""
    low, high = 1, 2
    while high < most and not reaches(high):
        low, high = high, min(2 * high, most)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reaches(middle) else (middle, high)
    return high


def _wanted(kind: object, error: object, alpha: object, delta: object) -> tuple[str, float, float, float]:
    """Return the name of the bound, ``alpha``, ``delta`` and the error, if they are what they must be."""
    bound = BOUNDS[choice("kind", kind, BOUNDS)]
    alpha, delta = levels(alpha, delta)
    hint = "Pass a bound such as 0.1"
    if delta > 0:
        hint += f"; delta alone is an error of {delta:g}, so take a larger error or a smaller delta"
    return bound, alpha, delta, number("error", error, above=delta, most=1.0, hint=hint)


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


# Guarantees of a fitted histogram binning, from the rows that each of its values was estimated from


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
        *("problem", "lower_edge", "upper_edge", "value", "count"),
        *("error", "simultaneous_error", "rate_low", "rate_high"),
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
    bins = [part.fitted for part in parts]
    low, high = zip(*(part.interval(level / n_bins) for part in parts), strict=True)
    return FittedGuarantee(
        problem=np.repeat([part.name for part in parts], [one.count_.size for one in bins]),
        lower_edge=np.concatenate([one.edges_[:-1] for one in bins]),
        upper_edge=np.concatenate([one.edges_[1:] for one in bins]),
        value=np.concatenate([one.value_ for one in bins]),
        count=np.concatenate([one.count_ for one in bins]),
        error=np.concatenate([part.bound(log(2.0) - log(level)) for part in parts]),
        simultaneous_error=np.concatenate([part.bound(log(2.0 * n_bins) - log(level)) for part in parts]),
        mean_error=np.concatenate([part.bound(0.5) for part in parts]),
        rate_low=np.concatenate(low),
        rate_high=np.concatenate(high),
        alpha=level,
        without=tuple(without),
    )
