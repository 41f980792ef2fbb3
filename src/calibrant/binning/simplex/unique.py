"""A cell for each forecast."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from calibrant._core.links import FloatArray
from calibrant._core.parameters import numbers, require
from calibrant._core.problem import IntArray, SimplexProblem
from calibrant._core.registry import declare
from calibrant.binning.partition import Partition
from calibrant.binning.simplex.base import SimplexBinning


@dataclass(frozen=True, eq=False)
class UniqueCells(Partition):
    """The distinct forecasts, in the order of their first, then their second probability, and so on."""

    prob: FloatArray

    @property
    def n_cells(self) -> int:  # type: ignore[override]
        """Number of distinct forecasts."""
        return len(self.prob)

    def _check_loaded(self, n_classes: int) -> None:
        numbers("prob", self.prob, shape=(len(self.prob), n_classes), least=0.0, most=1.0)
        require(
            len(self.prob) and np.array_equal(np.unique(self._known), self._known),
            "prob must hold each forecast once, in order",
            got="others",
            hint="Fit anew",
        )

    def index(self, prob: FloatArray) -> IntArray:
        """Search for each forecast, to the last bit."""
        wanted = _keys(prob)
        at = np.minimum(np.searchsorted(self._known, wanted), self.n_cells - 1)
        return np.where(self._known[at] == wanted, at, -1)

    @cached_property
    def _known(self) -> npt.NDArray[Any]:
        return _keys(self.prob)


@declare("simplex-binning", "unique", symbol="SU", source="Gupta and Ramdas 2022")
@dataclass(frozen=True)
class SimplexUnique(SimplexBinning):
    """A cell for each distinct forecast: no averaging at all. For forecasts that take few values, such as binned ones.

    Examples
    --------
    >>> from calibrant.binning import SimplexUnique
    >>> from calibrant.metrics import canonical_calibration_error
    >>> P = [[0.8, 0.1, 0.1], [0.8, 0.1, 0.1], [0.3, 0.3, 0.4]]
    >>> round(canonical_calibration_error([0, 1, 2], P, binning=SimplexUnique()), 3)
    0.467
    """

    cells: ClassVar[type[Partition]] = UniqueCells

    def partition(self, problem: SimplexProblem) -> Partition:
        """Find the distinct forecasts."""
        _, first = np.unique(_keys(problem.prob), return_index=True)
        return UniqueCells(problem.prob[first] + 0.0)


def _keys(prob: FloatArray) -> npt.NDArray[Any]:
    """Return each row as one string of bytes. Numbers that are not negative are in the order of their big-endian bytes."""
    n, n_classes = prob.shape
    table = np.ascontiguousarray(prob + 0.0, dtype=">f8")  # no zero keeps a sign
    keys: npt.NDArray[Any] = table.view(np.dtype((np.void, 8 * n_classes))).reshape(n)
    return keys
