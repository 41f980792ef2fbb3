"""Corners of the cells of thresholds in which no row changes its side.

As gamma moves, a row of class a or b changes between these sides where gamma_a - gamma_b is its own difference p_a - p_b.
These borders cut the plane of thresholds into cells, and all gamma of a cell have one point on the surface. Each cell has a
corner, where K - 1 differences are those of rows, along a tree of classes. So all points of the surface come where each
tree takes all its differences, a little less and a little more: some n^(K - 1).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod

import numpy as np

from calibrant._core.links import FloatArray
from calibrant.metrics.roc.hull import MOST_CLASSES
from calibrant.metrics.roc.surface import SurfaceRows

Tree = list[tuple[int, int]]


def _pairs(n_classes: int) -> Iterator[tuple[int, int]]:
    return ((a, b) for b in range(n_classes) for a in range(b))


def _between(rows: SurfaceRows, a: int, b: int) -> FloatArray:
    """Return where rows change between two sides: the distinct differences of rows of the two classes."""
    own = (rows.label == a) | (rows.label == b)
    return np.unique(rows.prob[own, a] - rows.prob[own, b])


def differences(rows: SurfaceRows) -> list[FloatArray]:
    """Return where rows change between two sides, of each pair of classes."""
    return [_between(rows, a, b) for a, b in _pairs(rows.n_classes)]


def number_of_corners(n_classes: int, choices: Sequence[FloatArray], most: int) -> int:
    """Return how many corners there are, or some number above the most."""
    if n_classes > MOST_CLASSES or min(c.size for c in choices) ** (n_classes - 1) > most:
        return most + 1
    size = dict(zip(_pairs(n_classes), (2 * c.size for c in choices), strict=True))
    return sum(prod(size[min(e), max(e)] for e in tree) for tree in trees(n_classes))


def trees(n_classes: int) -> Iterator[Tree]:
    """Return all trees of the classes (Prüfer 1918)."""
    return (_tree(code) for code in product(range(n_classes), repeat=n_classes - 2))


def _tree(code: Sequence[int]) -> Tree:
    """Return the tree of a code of Prüfer: the least leaf is tied to the next class of the code, again and again."""
    n_classes = len(code) + 2
    left, edges = list(code), []
    leaves = set(range(n_classes))
    for at in code:
        leaf = min(leaves - set(left))
        edges.append((leaf, at))
        leaves.remove(leaf)
        left.pop(0)
    a, b = sorted(leaves)
    return [*edges, (a, b)]


def all_corners(rows: SurfaceRows) -> FloatArray:
    """Return the corners of all cells, a little to each side, shape (m, K)."""
    return np.concatenate([_corners_of(tree, rows) for tree in trees(rows.n_classes)])


def _corners_of(tree: Tree, rows: SurfaceRows) -> FloatArray:
    values = [_beside(_between(rows, a, b), number) for number, (a, b) in enumerate(tree)]
    table = np.stack(np.meshgrid(*values, indexing="ij"), axis=-1).reshape(-1, len(tree))
    return _gamma(tree, table)


def some_corners(rows: SurfaceRows, n: int, rng: np.random.Generator) -> FloatArray:
    """Draw corners: a tree, and for each of its edges a difference of a row."""
    n_trees = min(n, rows.n_classes ** (rows.n_classes - 2), 60)
    codes = rng.integers(0, rows.n_classes, (n_trees, rows.n_classes - 2))
    if n_trees == rows.n_classes ** (rows.n_classes - 2):
        codes = np.array(list(product(range(rows.n_classes), repeat=rows.n_classes - 2)))
    parts = []
    for code, size in zip(codes.tolist(), np.diff(np.linspace(0, n, n_trees + 1).astype(int)).tolist(), strict=True):
        tree = _tree(code)
        values = [_beside(_between(rows, a, b), number) for number, (a, b) in enumerate(tree)]
        parts.append(_gamma(tree, np.column_stack([rng.choice(v, size) for v in values])))
    return np.concatenate(parts)


def _beside(differences: FloatArray, number: int) -> FloatArray:
    """Return a little less and a little more; on no edge as much as on others together, so that these cancel nowhere."""
    from calibrant._kernels.roc_surface import NEAREST

    little = NEAREST * 2.0 ** (number + 2)
    return np.concatenate([differences - little, differences + little])


def _gamma(tree: Tree, table: FloatArray) -> FloatArray:
    """Return the thresholds, of sum one, whose differences along the edges of a tree are given, shape (m, K - 1)."""
    n_classes = len(tree) + 1
    incidence = np.zeros((n_classes, n_classes))
    for number, (a, b) in enumerate(tree):
        incidence[number, [a, b]] = 1.0, -1.0
    incidence[-1] = 1.0
    # The inverse of such a matrix holds multiples of 1 / K: no accuracy is lost.
    sides = np.column_stack([table, np.ones(len(table))])
    return np.ascontiguousarray(sides @ np.linalg.inv(incidence).T)
