"""How a calibrator cuts the simplex of three classes into cells, and the vector that each cell is given."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from calibrant._core.finite_numbers import as_numbers
from calibrant._core.links import FloatArray
from calibrant._core.parameters import refuse, require, whole
from calibrant._core.problem import BoolArray, IntArray
from calibrant._core.result import DrawnResult, Picture, Record
from calibrant._core.table import Table
from calibrant.binning.simplex import SimplexBinning, SplitTree
from calibrant.curves.simplex_map import as_fitted, mapped_by, name_of, three_classes
from calibrant.curves.simplex_mesh import (
    crossings,
    means_of,
    middle_of,
    moved_onto,
    room_about,
    runs_along,
    small_triangles,
)


@dataclass(frozen=True, eq=False)
class SimplexCells(Record):
    """The cells of a calibrator, numbered from 0.

    Attributes
    ----------
    index : ndarray of shape (n_triangles,)
        The cell of each small triangle; -1 where the calibrator saw no row.
    border : ndarray of shape (n_segments, 2)
        The numbers of the two vertices of each side between small triangles of different cells.
    count : ndarray of shape (n_cells,) or None
        Number of rows that each cell was fitted on; None where the cells saw no rows.
    value : ndarray of shape (n_cells, 3)
        The calibrated vector of each cell.
    middle : ndarray of shape (n_cells, 3)
        Where each cell has its middle; NaN where it is too small to hold that of a small triangle.
    room : ndarray of shape (n_cells,)
        Distance from there to the nearest border, in sides of the simplex; NaN too.
    """

    index: IntArray
    border: IntArray
    count: IntArray | None
    value: FloatArray
    middle: FloatArray
    room: FloatArray


@dataclass(frozen=True, eq=False)
class SimplexPartition(DrawnResult):
    """The triangle of three classes in small triangles, each with its cell and its calibrated vector.

    Attributes
    ----------
    prob : ndarray of shape (resolution ** 2, 3)
        Forecasts all over the simplex, each the middle of a small triangle.
    calibrated : ndarray of shape (resolution ** 2, 3)
        What they are mapped to.
    vertex : ndarray of shape (n_vertices, 3)
        Multiples of 1 / resolution; those between two cells lie on the border of these.
    triangle : ndarray of shape (resolution ** 2, 3)
        The numbers of the three vertices of each small triangle.
    cells : SimplexCells or None
        The cells, and which of them each small triangle is in; None of a calibrator without cells.
    classes : tuple of str
        Names of the classes.
    calibrator : str
        Where the figures come from.
    splits : ndarray of shape (n_splits, 3) or None
        Points around which the simplex was split, in that order; some may lie outside of it. None of a calibrator without a
        tree of splits.
    """

    _table = Table("small triangle", "prob_*", "calibrated_*", "cell?=cells.index")
    _picture = Picture(
        "the cells, coloured by their calibrated vectors,",
        "simplex_partition.plot_simplex_partition",
        options="Those of `plot_simplex_partition`: ``text``, ``key``, ``colours``, ``splits``.",
        axes="axes",
    )

    prob: FloatArray
    calibrated: FloatArray
    vertex: FloatArray
    triangle: IntArray
    cells: SimplexCells | None
    classes: tuple[str, ...]
    calibrator: str
    splits: FloatArray | None = None

    @property
    def is_empty(self) -> BoolArray:
        """Whether the calibrator saw no row in the cell of each small triangle; never, of a calibrator without cells.

        Returns
        -------
        ndarray of shape (resolution ** 2,)
            Booleans.
        """
        if self.cells is None or self.cells.count is None:
            return np.zeros(len(self.triangle), dtype=bool)
        # One more at the end answers for -1.
        return np.append(self.cells.count == 0, True)[self.cells.index]

    def __repr__(self) -> str:
        cells = "" if self.cells is None else f", cells={len(self.cells.value)}"
        return f"SimplexPartition({self.calibrator}{cells}, triangles={len(self.triangle)})"


def simplex_partition(calibrator: Any, *, resolution: int = 240) -> SimplexPartition:
    """The cells of a fitted calibrator of three classes all over the simplex, with their calibrated vectors, ready to plot.

    Parameters
    ----------
    calibrator : fitted calibrator or callable
        A calibrator of three classes, or a function of a table of shape (n, 3) that returns another. One with cells, such as
        `CanonicalBinning`, is shown with their borders; of others, as of temperature scaling, the calibrated vector alone.
    resolution : int, default=240
        Small triangles along each side, at least 2. Borders are found exactly, but for corners that are no multiples of
        1 / resolution; cells smaller than a small triangle may be missed.

    Returns
    -------
    SimplexPartition
        A result with ``calibrated``, ``cells``, ``to_frame()`` and ``plot()``.

    Raises
    ------
    ValueError
        If the calibrator is one of another number of classes, or ``resolution`` is less than 2.
    TypeError
        If it is neither a fitted calibrator nor a function, or ``resolution`` is not whole.

    Notes
    -----
    The middle of a small triangle stands for all of it. Where those of two neighbours are in different cells the border between
    them is found by bisection, and the vertices of the side that they share are moved onto it. A calibrator that was fitted on
    logits gets the logarithms.

    References
    ----------
    Gupta, Ramdas, Top-label calibration and multiclass-to-binary reductions, ICLR 2022, Appendix G.

    Examples
    --------
    >>> from calibrant.curves import simplex_partition
    >>> simplex_partition(lambda prob: prob, resolution=10)
    SimplexPartition(<lambda>, triangles=100)
    """
    whole("resolution", resolution, least=2, most=10_000, hint="240 is usual, which 2, 3, 4, 5 and 8 divide")
    refuse_unfitted(calibrator)
    classes = three_classes(calibrator)
    vertex, triangle, sides = small_triangles(resolution)
    prob = middle_of(vertex, triangle)
    calibrated, cells = mapped_by(calibrator, prob), None
    if hasattr(calibrator, "cells"):
        cells, vertex = _cells_of(calibrator, prob, vertex, sides, resolution)
    return SimplexPartition(
        prob,
        calibrated,
        vertex,
        triangle,
        cells,
        classes,
        name_of(calibrator),
        splits_of(calibrator),
    )


def simplex_split(
    gamma: npt.ArrayLike, *, classes: Sequence[Any] = ("0", "1", "2"), resolution: int = 240
) -> SimplexPartition:
    """The three regions that a point parts the triangle into, each with the class that is decided there, ready to plot.

    Parameters
    ----------
    gamma : array-like of shape (3,)
        The point; its coordinates sum to one, and may be negative: then it lies outside, and regions may be missing.
    classes : sequence of length 3, default=("0", "1", "2")
        Names of the classes.
    resolution : int, default=240
        Small triangles along each side, at least 2.

    Returns
    -------
    SimplexPartition
        Its cells are the regions, of no rows; the vector of each is the certain one of its class.

    Raises
    ------
    ValueError
        If ``gamma`` is not three numbers that sum to one, there are not three classes, or ``resolution`` is less than 2.

    Notes
    -----
    A forecast p is in region k where p - gamma is largest at k, in the first of equal ones. Around (1/3, 1/3, 1/3) these are
    the predicted classes; other points are other thresholds, and all of them together make the ROC surface.

    References
    ----------
    Berta, Bach, Jordan, Classifier calibration with ROC-regularized isotonic regression, AISTATS 2024, Figure 3.

    Examples
    --------
    >>> from calibrant.curves import simplex_split
    >>> simplex_split([0.5, 0.3, 0.2], resolution=24)
    SimplexPartition(p - (0.5, 0.3, 0.2), cells=3, triangles=576)
    """
    point = as_numbers("gamma", gamma)
    require(
        not isinstance(classes, str) and isinstance(classes, Iterable),
        "classes must be three names",
        value=classes,
        hint="Leave them out, or pass a list of three",
        error=TypeError,
    )
    names = tuple(str(name) for name in classes)
    require(
        point.shape == (3,) and abs(point.sum() - 1.0) <= 1e-9,
        "gamma must be three numbers that sum to one",
        value=gamma,
        hint="The middle is [1/3, 1/3, 1/3]",
    )
    require(len(names) == 3, "classes must be three names", value=len(names), hint="Leave them out, or pass three")
    return replace(simplex_partition(_Split(point), resolution=resolution), classes=names)


class _Split:
    """One split as a calibrator: all forecasts of a region become certain of its class."""

    classes_ = np.arange(3)
    count_ = None
    value_ = np.eye(3)

    def __init__(self, gamma: FloatArray) -> None:
        self.tree_ = SplitTree(gamma[None], np.array([[1, 2, 3]]), np.array([0, -1, -1, -1]))

    def cells(self, prob: FloatArray) -> IntArray:
        return self.tree_.index(prob)

    def predict_proba(self, prob: FloatArray) -> FloatArray:
        return np.asarray(self.value_[self.cells(prob)], dtype=np.float64)

    def __repr__(self) -> str:
        return f"p - ({', '.join(f'{part:g}' for part in self.tree_.gamma[0])})"


def splits_of(calibrator: Any) -> FloatArray | None:
    """Return the points around which a calibrator, or the partition that it bins by, splits the simplex, if it does."""
    tree = getattr(calibrator, "tree_", getattr(calibrator, "partition_", None))
    return tree.gamma if isinstance(tree, SplitTree) else None


def splits_inside(splits: FloatArray | None) -> dict[int, FloatArray]:
    """Return the points inside that the simplex was split around, by their numbers, from 1; others have no place to draw."""
    numbered = enumerate([] if splits is None else splits, start=1)
    return {number: gamma for number, gamma in numbered if (gamma >= 0).all()}


def refuse_unfitted(calibrator: Any) -> None:
    """Refuse what can be called and is no map: a binning, and the class of a calibrator."""
    wanted = "calibrator must be a fitted calibrator or a function"
    if isinstance(calibrator, SimplexBinning):
        refuse(
            wanted,
            got=f"the binning {calibrator!r}",
            hint=f"Pass CanonicalBinning({calibrator!r}).fit(y_prob, y_true)",
            error=TypeError,
        )
    if isinstance(calibrator, type):
        name = calibrator.__name__
        refuse(wanted, got=f"the class {name}", hint=f"Pass {name}().fit(y_prob, y_true)", error=TypeError)


def _cells_of(
    calibrator: Any, prob: FloatArray, vertex: FloatArray, sides: IntArray, resolution: int
) -> tuple[SimplexCells, FloatArray]:
    """Return the cells, and the vertices with those between cells moved onto the borders."""

    def cell_of(some: FloatArray) -> IntArray:
        return np.asarray(calibrator.cells(as_fitted(calibrator, some)), dtype=np.intp)

    index = cell_of(prob)
    parting = sides[index[sides[:, 0]] != index[sides[:, 1]]]
    border = parting[:, 2:]
    cells_of_both, (start, end) = index[parting[:, :2]], prob[parting[:, :2].T]
    crossing = crossings(cell_of, cells_of_both[:, 0], start, end)
    along = runs_along(cell_of, cells_of_both, start, end, vertex[border], crossing)
    moved = moved_onto(vertex, border, crossing, along, 1.0 / resolution)
    count, value = calibrator.count_, np.asarray(calibrator.value_, dtype=np.float64)
    middle = means_of(prob, index, len(value))
    ends = np.concatenate([border, border])
    room = room_about(middle, cells_of_both.T.ravel(), moved[ends].mean(axis=1))
    cells = SimplexCells(
        index=index,
        border=border,
        count=None if count is None else np.asarray(count),
        value=value,
        middle=middle,
        room=room,
    )
    return cells, moved
