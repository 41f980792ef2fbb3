"""The simplex of three classes in small triangles, and how their vertices come to lie on the borders of cells."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.problem import BoolArray, IntArray

HALVINGS = 50
"""Bisections of the way across a border: it is found to the last digits."""

ROUNDING = 1e-12
"""Coordinates that differ by less are those of one point: where cells are decided, rounding has its say."""


def small_triangles(resolution: int) -> tuple[FloatArray, IntArray, IntArray]:
    """Cut the simplex into ``resolution ** 2`` equal triangles.

    Returns the vertices; for each triangle the numbers of its three vertices; and for each side that two triangles share the
    numbers of these triangles and of the two vertices at its ends.
    """
    n = resolution
    steps = np.arange(n + 1)
    corner = steps[:, None] + steps <= n
    i, j = np.nonzero(corner)
    number = np.full((n + 1, n + 1), -1, dtype=np.intp)
    number[i, j] = np.arange(i.size)
    up_i, up_j = np.nonzero(steps[:, None] + steps <= n - 1)
    up = np.column_stack([number[up_i + 1, up_j], number[up_i, up_j + 1], number[up_i, up_j]])
    up_number = np.full((n + 1, n + 1), -1, dtype=np.intp)
    up_number[up_i, up_j] = np.arange(up_i.size)
    # A triangle that points down shares each of its sides with one that points up.
    i_, j_ = np.nonzero(steps[:, None] + steps <= n - 2)
    down = np.column_stack([number[i_ + 1, j_ + 1], number[i_ + 1, j_], number[i_, j_ + 1]])
    own = up_i.size + np.arange(i_.size)
    sides = [
        np.column_stack([own, up_number[i_ + 1, j_], down[:, 0], down[:, 1]]),
        np.column_stack([own, up_number[i_, j_ + 1], down[:, 0], down[:, 2]]),
        np.column_stack([own, up_number[i_, j_], down[:, 1], down[:, 2]]),
    ]
    vertex: FloatArray = np.column_stack([i, j, n - i - j]) / n
    return vertex, np.vstack([up, down]), np.vstack(sides)


def middle_of(vertex: FloatArray, triangle: IntArray) -> FloatArray:
    """Return the middle of each triangle."""
    middle: FloatArray = vertex[triangle].mean(axis=1)
    return middle


def crossings(
    cell_of: Callable[[FloatArray], IntArray], cell: IntArray, start: FloatArray, end: FloatArray
) -> FloatArray:
    """Return where the way from each start to its end leaves the cell of the start."""
    low, high = np.zeros((len(start), 1)), np.ones((len(start), 1))
    for _ in range(HALVINGS if len(start) else 0):
        half = (low + high) / 2.0
        inside = (cell_of(start + half * (end - start)) == cell)[:, None]
        low, high = np.where(inside, half, low), np.where(inside, high, half)
    return start + (low + high) / 2.0 * (end - start)


def runs_along(
    cell_of: Callable[[FloatArray], IntArray],
    cells: IntArray,
    start: FloatArray,
    end: FloatArray,
    ends: FloatArray,
    crossing: FloatArray,
) -> BoolArray:
    """Whether the border runs along each side between two cells, and does not only cross it.

    A border along a side crosses it in its middle, to the last digits: one that leans a little crosses it elsewhere, and the
    side's ends do not lie on it. So does one that cuts it there: it parts no points near the side's ends.
    """
    middle = ends.mean(axis=1)
    along: BoolArray = np.abs(crossing - middle).max(axis=1) <= ROUNDING
    some = np.flatnonzero(along)
    across = 0.05 * (end - start)[some]
    for number in range(2 if some.size else 0):
        near = (middle[some] + ends[some, number]) / 2.0
        along[some] &= (cell_of(near - across) == cells[some, 0]) & (cell_of(near + across) == cells[some, 1])
    return along


def moved_onto(vertex: FloatArray, border: IntArray, crossing: FloatArray, along: BoolArray, step: float) -> FloatArray:
    """Move each vertex between two cells onto their border, which the ways across its sides have found.

    Where the border runs along the sides themselves its vertices stay. Those at the edge of the simplex stay at the edge.
    """
    number, sums, moving = np.zeros(len(vertex)), np.zeros(vertex.shape), np.zeros(len(vertex), dtype=bool)
    for end in border.T:
        number += np.bincount(end, minlength=len(vertex))
        np.add.at(sums, end, crossing)
        moving[end[~along]] = True
    moved = vertex.copy()
    moved[moving] = sums[moving] / number[moving, None]
    for end, other in (border.T, border.T[::-1]):
        last = moving[end] & (number[end] == 1)
        moved[end[last]] = _to_the_edge(vertex[end[last]], moved[other[last]], crossing[last], step)
    moved[moving] = np.where(vertex[moving] == 0, 0.0, moved[moving])
    moved[moving] /= moved[moving].sum(axis=1, keepdims=True)
    return moved


def _to_the_edge(vertex: FloatArray, start: FloatArray, through: FloatArray, step: float) -> FloatArray:
    """Follow a border from its last vertex but one to the edge of the simplex that the last one is at.

    One that runs nearly along the edge, and would meet it more than two steps off, ends where it is.
    """
    rows, edge = np.arange(len(vertex)), vertex.argmin(axis=1)
    height, fall = start[rows, edge], (start - through)[rows, edge]
    with np.errstate(divide="ignore", invalid="ignore"):
        reached = start + (height / fall)[:, None] * (through - start)
    near = (fall > 0) & (reached >= 0).all(axis=1) & (np.abs(reached - through) <= 2.0 * step).all(axis=1)
    return np.where(near[:, None], reached, through)


def room_about(middle: FloatArray, cell: IntArray, border: FloatArray) -> FloatArray:
    """Return the distance from each middle to the border of its cell or the edge of the simplex; corners are 1 apart."""
    room: FloatArray = middle.min(axis=1) * np.sqrt(0.75)
    held = cell >= 0
    distance = np.sqrt(((middle[cell[held]] - border[held]) ** 2).sum(axis=1) / 2.0)
    np.minimum.at(room, cell[held], distance)
    return room


def means_of(prob: FloatArray, cell: IntArray, n_cells: int) -> FloatArray:
    """Return the mean of the forecasts in each cell; NaN where there is none."""
    held = cell >= 0
    sums = np.column_stack([np.bincount(cell[held], prob[held, j], n_cells) for j in range(3)])
    number = np.bincount(cell[held], minlength=n_cells)[:, None].astype(np.float64)
    means = np.full(sums.shape, np.nan)
    np.divide(sums, number, out=means, where=number > 0)
    return means
