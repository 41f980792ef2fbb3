"""Each class against the rest, in one problem with the classes of similar frequency."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from scipy.special import betainc

from calibrant._core.arrays import as_array
from calibrant._core.labels import Labels, as_labels
from calibrant._core.links import FloatArray
from calibrant._core.parameters import number, refuse, require
from calibrant._core.problem import IntArray, Problem
from calibrant._core.registry import declare
from calibrant.notions.base import Notion, Part
from calibrant.notions.grouped import rows_by_group

LEVEL = 0.05
"""Probability at most of more than one group, where the priors of all classes are within the ratio."""

NAMED = 3
"""Classes of a group that its name lists."""


@declare("notion", "shared-class-wise", symbol="sCW", source="Patel et al. 2021")
@dataclass(frozen=True, repr=False)
class SharedClassWise(Notion):
    """Each class against the rest, with classes of similar frequency in one problem; classes have equal shares (sCW).

    Between ``class-wise``, where each class stands alone and a rare one has few rows, and ``flattened``, where all are one.
    A calibrator of it has one map a group. With isotonic regression and one group it is flattened isotonic regression (FIR).

    Parameters
    ----------
    groups : array-like of shape (n_classes,), optional
        The group of each class, in the order of the columns: integers, strings or booleans. By default groups are found from
        the labels: of a metric its own, of a calibrator those that it is fitted to.
    ratio : float, default=2.0
        At least 1. Classes share a problem unless the labels show that one occurs more than so many times as often as the
        other. Not used where ``groups`` are given.

    Notes
    -----
    Groups are found from the most frequent class down: a new one begins with the first class that is shown to be less than
    1 / ratio times as frequent as the most frequent one of the group. A binomial test shows it: if the class were just
    1 / ratio times as frequent, so uneven a division of the rows of the two classes would have a probability below
    0.05 / (K (K - 1)). This tail is exact given how many rows the two have; there are K (K - 1) such comparisons of K classes.
    So if no class is more than ``ratio`` times as frequent as another, all are one group in at least 95 of 100 data sets.
    Without the test noise would make the groups: the classes that are frequent by chance are those whose observed rates are
    too high. Few rows make few groups.

    Whole weights are rows; others count as their effective number of rows (Kish).

    References
    ----------
    Patel, Beluch, Yang, Pfeiffer, Zhang, Multi-class uncertainty calibration via mutual information maximization-based binning,
    ICLR 2021.

    Examples
    --------
    >>> from calibrant import ByNotion, IsotonicCalibration, calibration_error, load_digits_forecast
    >>> from calibrant.notions import SharedClassWise
    >>> y, prob = load_digits_forecast()
    >>> ByNotion(IsotonicCalibration(), "shared-class-wise").fit(prob, y).notion_  # digits are equally frequent
    SharedClassWise(1 group of 10 classes)
    >>> P = [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.3, 0.3, 0.4]]
    >>> round(calibration_error(["a", "b", "c"], P, notion=SharedClassWise(["common", "common", "rare"])), 3)
    0.244
    """

    groups: npt.ArrayLike | None = None
    ratio: float = 2.0

    name = "shared-class-wise"

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "ratio", number("ratio", self.ratio, least=1.0, hint="Pass how many times, such as 2.0")
        )
        if self.groups is not None:
            _, code = np.unique(_as_groups(self.groups), return_inverse=True)
            object.__setattr__(self, "groups", tuple(code.tolist()))

    def fitted_to(self, problem: Problem) -> Notion:
        """Find the groups, if they are not given."""
        if self.groups is not None:
            return self
        simplex = self._simplex(problem)
        weight = np.bincount(simplex.label, simplex.weight, simplex.classes.size)
        rows = np.asarray(weight * simplex.weights.effective_rows_per_weight, dtype=np.float64)
        return replace(self, groups=_groups(rows, self.ratio))

    def parts(self, prob: FloatArray, names: tuple[str, ...] | None = None) -> Iterator[Part]:
        """One part a group: the columns of its classes, row by row."""
        n, n_classes = prob.shape
        for columns in self._columns(n_classes):
            name = _name_of([names[j] if names else str(j) for j in columns], n_classes)
            if columns.size == 1:
                yield Part(slice(None), int(columns[0]), name)
            else:
                yield Part(np.repeat(np.arange(n), columns.size), np.tile(columns, n), name)

    def parts_a_row(self, n_classes: int) -> int:
        """Every row stands in the parts with each of its classes."""
        return n_classes

    def _columns(self, n_classes: int) -> list[IntArray]:
        """Columns of each group."""
        require(
            self.groups is not None,
            "groups must be known where no labels show how often classes occur",
            got="none",
            hint="Pass the group of each class, or ask fitted_to(problem)",
        )
        code = np.asarray(self.groups)
        require(
            code.size == n_classes,
            f"groups must have one value for each of the {n_classes} classes",
            value=code.size,
            hint="Pass the group of each class, in the order of the columns",
        )
        return rows_by_group(code, int(code.max()) + 1)

    def __repr__(self) -> str:
        if self.groups is None:
            return f"SharedClassWise(ratio={self.ratio:g})"
        n_classes = np.size(self.groups)
        n_groups = int(np.max(self.groups)) + 1
        return f"SharedClassWise({n_groups} group{'s' * (n_groups > 1)} of {n_classes} classes)"


def _as_groups(groups: npt.ArrayLike) -> Labels:
    """Return the group of each class, as labels."""
    wanted = "groups must be a list with the group of each class"
    try:
        shape = as_array("groups", groups).shape
    except ValueError as error:
        if "equal lengths" not in str(error):
            raise
        refuse(wanted, got="rows of different lengths", hint="Pass [0, 0, 1]")
    require(len(shape) == 1, wanted, got=f"shape {shape}", hint="Pass [0, 0, 1]")
    return as_labels(groups, "groups")


def _groups(occurred: FloatArray, ratio: float) -> IntArray:
    """Number the group of each class, from the most frequent class down."""
    order = np.argsort(-occurred, kind="stable")
    level, share = LEVEL / (occurred.size * (occurred.size - 1)), ratio / (ratio + 1.0)
    group: IntArray = np.zeros(occurred.size, dtype=np.intp)
    first = order[0]
    for before, this in pairwise(order):
        # The probability of occurred[first] or more of the rows of both; of weights between whole numbers, too.
        parted = betainc(occurred[first], occurred[this] + 1.0, share) < level
        group[this] = group[before] + parted
        first = this if parted else first
    return group


def _name_of(classes: list[str], n_classes: int) -> str:
    if len(classes) == n_classes:
        return "all classes"
    if len(classes) == 1:
        return f"class {classes[0]}"
    listed = ", ".join(classes[:NAMED])
    return f"classes {listed}" + (f", ... ({len(classes)})" if len(classes) > NAMED else "")
