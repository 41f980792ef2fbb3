"""Cells of a tree: a split around a point parts the simplex, then its sides are split in turn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.parameters import require
from calibrant._core.problem import IntArray
from calibrant._core.result import read_only
from calibrant.binning.partition import Partition

Sums = TypeVar("Sums", bound=np.ndarray[Any, Any])


@dataclass(frozen=True, eq=False)
class SplitTree(Partition):
    """Regions of the simplex: split s parts node v, where ``split[v]`` is s, around ``gamma[s]``.

    A forecast p goes to the side k where p - gamma is largest, to the first of equal ones: to node ``child[s, k]``. A side that
    held no row has no node, and child -1: what falls there goes to the side with the next largest. Node 0 is the simplex.

    Attributes
    ----------
    gamma : ndarray of shape (n_splits, K)
        Splitting points, in the order in which the splits were made.
    child : ndarray of shape (n_splits, K)
        Nodes that the sides of each split lead to; -1 where there is none. Nodes are numbered as they were made.
    split : ndarray of shape (n_nodes,)
        The split that parts each node; -1 of a leaf.

    Raises
    ------
    ValueError, TypeError
        If the parts make no tree, or nodes are not whole numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.binning import SplitTree
    >>> tree = SplitTree(np.array([[0.3, 0.3, 0.4]]), np.array([[1, 2, -1]]), np.array([0, -1, -1]))
    >>> tree.index(np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.2, 0.7]])).tolist()
    [0, 1, 1]
    """

    gamma: FloatArray
    child: IntArray
    split: IntArray

    def __post_init__(self) -> None:
        n_splits = len(self.gamma)
        # Of no splits a file does not know how many columns they have.
        gamma, child = (np.reshape(part, (n_splits, -1 if n_splits else 0)) for part in (self.gamma, self.child))
        parts = {"gamma": gamma.astype(np.float64), "child": child, "split": np.asarray(self.split)}
        for name in ("child", "split"):
            require(
                parts[name].dtype.kind in "iu",
                f"{name} must hold whole numbers",
                got=f"{parts[name].dtype}",
                hint="Pass those of another tree",
                error=TypeError,
            )
            parts[name] = parts[name].astype(np.int64)
        for name, part in parts.items():
            object.__setattr__(self, name, read_only(part))
        self._require_tree()

    def _require_tree(self) -> None:
        """Refuse what is no tree: compiled code asks no questions."""
        n_splits, n_nodes = len(self.gamma), self.split.size
        made = self.child[self.child >= 0]
        of_splits, n_made = np.sort(self.split[self.split >= 0]), (self.child >= 0).sum(axis=1)
        require(
            self.split.ndim == 1
            and self.child.shape == self.gamma.shape
            and np.isfinite(self.gamma).all()
            and np.array_equal(of_splits, np.arange(n_splits))
            and np.array_equal(made, np.arange(1, n_nodes))
            and n_made.all()
            and (self.parent <= np.cumsum(n_made) - n_made).all(),  # made by a split before
            "gamma, child and split must make a tree, nodes in the order in which they are made",
            got=f"{n_splits} splits and {n_nodes} nodes that do not",
            hint="Pass the parts of a fitted one",
        )

    def _check_loaded(self, n_classes: int) -> None:
        require(
            not len(self.gamma) or self.gamma.shape[1] == n_classes,
            f"gamma must have {n_classes} columns, as classes",
            value=self.gamma.shape[1],
            hint="Fit anew",
        )

    @property
    def n_cells(self) -> int:  # type: ignore[override]
        """Number of leaves."""
        return int(self.leaves().size)

    @property
    def parent(self) -> IntArray:
        """The node that each split parts, shape (n_splits,)."""
        node = np.flatnonzero(self.split >= 0)
        return node[np.argsort(self.split[node])]

    @property
    def n_regions(self) -> IntArray:
        """Number of leaves after the first 0, 1, ... splits, shape (n_splits + 1,)."""
        return 1 + np.append(0, np.cumsum((self.child >= 0).sum(axis=1) - 1))

    def index(self, prob: FloatArray) -> IntArray:
        """Find the leaf of each forecast; leaves are numbered as their nodes are."""
        found: IntArray = np.searchsorted(self.leaves(), self.nodes(prob))
        return found

    def nodes(self, prob: FloatArray, n_splits: int | None = None) -> IntArray:
        """Find the node of each forecast after the first splits.

        Parameters
        ----------
        prob : ndarray of shape (n, K)
            Forecasts.
        n_splits : int, optional
            How many splits to follow; all by default.

        Returns
        -------
        ndarray of shape (n,)
            Numbers of nodes.
        """
        from calibrant._kernels.irp import node_of

        require(
            not len(self.gamma) or prob.shape[1] == self.gamma.shape[1],
            f"prob must have {self.gamma.shape[1]} columns, as splits have",
            value=prob.shape[1],
            hint="Pass the classes fitted",
        )
        found = np.empty(len(prob), dtype=np.int64)
        most = len(self.gamma) if n_splits is None else n_splits
        node_of(np.ascontiguousarray(prob), self.gamma, self.child, self.split, most, found)
        return found

    def stages(self, prob: FloatArray) -> Iterator[IntArray]:
        """Find the nodes of forecasts after 0, 1, ... splits; each of the arrays is a new one.

        Parameters
        ----------
        prob : ndarray of shape (n, K)
            Forecasts.

        Yields
        ------
        ndarray of shape (n,)
            Numbers of nodes.
        """
        at = np.zeros(len(prob), dtype=np.int64)
        yield at
        for number, parent in enumerate(self.parent, start=1):
            moved = np.flatnonzero(at == parent)
            at = at.copy()
            at[moved] = self.nodes(prob[moved], number)
            yield at

    def leaves(self, n_splits: int | None = None) -> IntArray:
        """Find the nodes that are leaves after the first splits.

        Parameters
        ----------
        n_splits : int, optional
            How many splits to follow; all by default.

        Returns
        -------
        ndarray of shape (n_cells,)
            Numbers of nodes, increasing.
        """
        most = len(self.gamma) if n_splits is None else n_splits
        n_nodes = 1 + int((self.child[:most] >= 0).sum())
        own = self.split[:n_nodes]
        return np.flatnonzero((own < 0) | (own >= most))

    def up(self, of_leaf: Sums) -> Sums:
        """Add up what leaves have, one row each, to what all nodes have.

        Parameters
        ----------
        of_leaf : ndarray of shape (n_cells, ...)
            What each leaf has.

        Returns
        -------
        ndarray of shape (n_nodes, ...)
            What each node has.
        """
        total = np.zeros((self.split.size, *of_leaf.shape[1:]), dtype=of_leaf.dtype)
        total[self.leaves()] = of_leaf
        for parent, child in zip(self.parent[::-1], self.child[::-1], strict=True):  # children come after their parents
            total[parent] = total[child[child >= 0]].sum(axis=0)
        return cast("Sums", total)
