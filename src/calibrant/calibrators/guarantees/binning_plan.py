"""How many points a bin, and how many rows, a wanted guarantee takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import ceil
from types import MappingProxyType
from typing import Literal

from calibrant._core.parameters import choice, number, refuse, require, whole
from calibrant._core.result import Result
from calibrant._core.table import Table, under
from calibrant.calibrators.guarantees.binning_guarantee import BinningGuarantee, levels

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
        "points_per_bin",
        "n_samples",
        "n_bins",
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
    of_kind = BOUNDS[choice("kind", kind, BOUNDS)]
    alpha, delta = levels(alpha, delta)
    error = _wanted(error, delta)
    classes = whole("n_classes", n_classes, least=1, hint="Pass the number of classes, 1 for one event")
    require(
        n_samples is not None or kind != "conditional",
        "n_samples must be given for the conditional bound: it depends on the number of bins",
        got="None",
        hint="Pass it, or ask samples_for_guarantee how many rows it takes",
    )
    n = None if n_samples is None else whole("n_samples", n_samples, least=1, hint="Pass the number of rows")

    def reaches(k: int) -> bool:
        return of_kind(BinningGuarantee(k if n is None else max(n, k), k, classes, alpha, delta)) <= error

    most = MOST_POINTS if n is None else n // classes
    if most < 2 or not reaches(most):
        rows = (
            "any number of points" if n is None else f"{n} rows" + (f" over {classes} classes" if classes > 1 else "")
        )
        refuse(
            "error must be within reach of the rows",
            got=f"{error:g} ({kind}) from {rows}",
            hint="Take more rows (samples_for_guarantee says how many), a larger error or a larger alpha",
        )
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
    of_kind = BOUNDS[choice("kind", kind, BOUNDS)]
    alpha, delta = levels(alpha, delta)
    error = _wanted(error, delta)
    classes = whole("n_classes", n_classes, least=1, hint="Pass the number of classes, 1 for one event")
    bins = whole("bins_per_class", bins_per_class, least=1, hint="10 is usual")
    shares = _shares(class_share, classes)

    def planned(k: int) -> BinningGuarantee:
        return BinningGuarantee(ceil(bins * k * shares * (1.0 - 1e-12)), k, classes, alpha, delta)

    def reaches(k: int) -> bool:
        return of_kind(planned(k)) <= error

    require(
        reaches(MOST_POINTS),
        "error must be further above delta",
        got=f"{error:g} and {delta:g}",
        hint="Take a larger error",
    )
    k = _smallest(reaches, MOST_POINTS)
    found = planned(k)
    return BinningPlan(k, found.n_samples, found.n_bins, found)


BOUNDS: Mapping[str, Callable[[BinningGuarantee], float]] = MappingProxyType(
    {
        "marginal": lambda found: found.marginal_error,
        "conditional": lambda found: found.conditional_error,
        "expected": lambda found: found.expected_error,
        "sharp-expected": lambda found: found.sharp_expected_error,
    }
)
"""The error of each kind."""


def _smallest(reaches: Callable[[int], bool], most: int) -> int:
    """Return the smallest number from 2 on that reaches a bound which falls with it; ``most`` does."""
    low, high = 1, 2
    while high < most and not reaches(high):
        low, high = high, min(2 * high, most)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reaches(middle) else (middle, high)
    return high


def _shares(class_share: float | None, n_classes: int) -> float:
    """Return how many times the rows of the class predicted most rarely all rows are."""
    if class_share is None:
        return n_classes
    hint = "Pass the share of the class predicted most rarely, or None for equal shares"
    shares = 1.0 / number("class_share", class_share, above=0.0, most=1.0, hint=hint)
    require(
        not (shares < n_classes * (1.0 - 1e-09)),
        "class_share must be at most 1 / n_classes, the share of the rarest",
        got=f"{class_share!r} of {n_classes} classes",
        hint=hint,
    )
    return shares


def _wanted(error: object, delta: float) -> float:
    hint = "Pass a bound such as 0.1"
    if delta > 0:
        hint += f"; delta alone is an error of {delta:g}, so take a larger error or a smaller delta"
    return number("error", error, above=delta, most=1.0, hint=hint)
