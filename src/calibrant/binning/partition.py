"""What finds the cell of a row: edges between scores, or cells of the simplex."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.parameters import whole
from calibrant._core.problem import BoolArray, IntArray
from calibrant._core.result import Record
from calibrant._core.sorted_search import places


class Partition(ABC):
    """Cells of scores or of whole forecasts, numbered from 0.

    A dataclass whose fields are numbers, arrays and tuples of arrays can be saved with the calibrator that it serves.
    """

    n_cells: int

    @abstractmethod
    def index(self, prob: FloatArray) -> IntArray:
        """Find the cell of each forecast.

        Parameters
        ----------
        prob : ndarray of shape (n, K), or (n,) of scores
            Forecasts, not necessarily those that were summed.

        Returns
        -------
        ndarray of shape (n,)
            Numbers of cells; -1 where a forecast is in none of them.
        """

    def _check_loaded(self, n_classes: int) -> None:
        """Refuse, by a ValueError or TypeError that names it, a field from a file that no binning of so many classes gives."""
        whole("n_cells", self.n_cells, least=1, hint="Fit anew")

    def is_boundary(self, prob: FloatArray) -> BoolArray:
        """Whether forecasts lie on a cut that the data made: nowhere, unless a partition says otherwise.

        Parameters
        ----------
        prob : ndarray of shape (n, K)
            Forecasts.

        Returns
        -------
        ndarray of shape (n,)
            Rows that are no independent evidence of the class rates of their cell.
        """
        return np.zeros(len(prob), dtype=bool)

    def is_same(self, other: Partition) -> bool:
        """Whether these are the same cells: of the same kind, between the same cuts.

        Parameters
        ----------
        other : Partition
            What may be another object.

        Returns
        -------
        bool
            False of two objects whose cuts are not known, because their class is no dataclass.
        """
        names = getattr(self, "__dataclass_fields__", None)
        if self is other or names is None or type(self) is not type(other):
            return self is other
        return all(_is_equal(getattr(self, name), getattr(other, name)) for name in names)


@dataclass(frozen=True, eq=False)
class Edges(Record, Partition):
    """Bins of scores: bin b holds (edges[b], edges[b + 1]], the first also its lower edge.

    Attributes
    ----------
    edges : ndarray of shape (n_bins + 1,)
        Not decreasing. The first bin takes what is below, the last what is above.
    """

    edges: FloatArray

    @property
    def n_cells(self) -> int:  # type: ignore[override]
        """Number of bins."""
        return self.edges.size - 1

    def index(self, prob: FloatArray) -> IntArray:
        """Search for each score."""
        return locate(self.edges, prob)


def locate(edges: FloatArray, score: FloatArray) -> IntArray:
    """Return the bin of each score: b with edges[b] < score <= edges[b + 1], the first and the last bin taking the rest."""
    return places(edges[1:-1], score)


def _is_equal(a: Any, b: Any) -> bool:
    """Whether two fields are equal: arrays, and tuples of arrays (from a file, lists), entry by entry."""
    if isinstance(a, (tuple, list)) and isinstance(b, (tuple, list)):
        return len(a) == len(b) and all(map(_is_equal, a, b))
    return bool(np.array_equal(a, b))
