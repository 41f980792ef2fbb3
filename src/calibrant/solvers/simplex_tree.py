"""Growth of a tree of splits of the simplex, of which each leaves the map monotone (Berta, Bach, Jordan 2024, Algorithm 2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.problem import IntArray
from calibrant._kernels.simplex_regions import NEVER, NOBODY, Checkpoints, Regions, Rule, Trial
from calibrant.binning.simplex import SplitTree
from calibrant.solvers.simplex_rows import Rows
from calibrant.solvers.split_candidates import Candidates, Measured

TIE = 1e-12
"""Qualities that differ by no more than this part of all weight are equal: the candidate that comes first is taken."""

SLACK = 1e-12
"""Values out of order by no more than this are so by rounding."""

BUDGET = 1 << 24
"""Rows that are looked at until compiled code comes back, so that a fit can be interrupted."""


@dataclass(frozen=True, eq=False)
class Growth:
    """How a tree grows.

    Attributes
    ----------
    max_regions : int or None
        A split that would leave more regions ends the growth.
    min_gain : float
        The least quality M of a split, as a part of all weight; it has to be above 0 in any case.
    min_samples : float
        The least weight of a side.
    smoothing : float
        Rows of each class added to every region, where values are compared.
    is_joint : bool
        Whether a single gamma has to part the values as each checkpoint parts the forecasts, or one threshold for each pair.
    checks : ndarray of shape (n_checks, K)
        Checkpoints in addition to the splits.
    """

    max_regions: int | None
    min_gain: float
    min_samples: float
    smoothing: float
    is_joint: bool
    checks: FloatArray


Table = TypeVar("Table", bound=np.ndarray[Any, Any])


class Grown(NamedTuple):
    """A tree, the weight of each class in each node, shape (n_nodes, K), and the quality M of each split over all weight."""

    tree: SplitTree
    sums: FloatArray
    gain: FloatArray


class _Open(NamedTuple):
    """What may still become of a region: its candidates, those that are not out for ever, the best first, and witnesses."""

    candidates: Measured
    order: IntArray
    witness: IntArray

    @property
    def promise(self) -> float:
        """The greatest quality."""
        return float(self.candidates.gain[self.order[0]]) if self.order.size else 0.0

    def without_hopeless(self) -> _Open:
        """Leave out the candidates whose own sides are at odds."""
        return self._replace(order=self.order[(self.witness[self.order] != NEVER).any(axis=1)])


def grow(rows: Rows, candidates: Candidates, growth: Growth) -> Grown:
    """Split the region and at the point of the greatest quality, of those that leave the map monotone, until there is none."""
    tree = _Growing(rows, candidates, growth)
    while (best := tree.best()) is not None and tree.split(*best):
        pass
    return tree.grown()


class _Growing:
    """A tree that grows. Arrays of nodes and of checkpoints have room to spare."""

    def __init__(self, rows: Rows, candidates: Candidates, growth: Growth) -> None:
        n, n_classes = rows.prob.shape
        self.rows, self.candidates, self.growth = rows, candidates, growth
        self.total = float(rows.weight.sum())
        self.gamma: list[FloatArray] = []
        self.child: list[IntArray] = []
        self.gain: list[float] = []
        self.parent: list[int] = []
        self.open: dict[int, _Open] = {}
        self.n_nodes, self.n_checks = 1, len(growth.checks)
        at, differences = np.zeros(1, dtype=np.int64), np.zeros((1, n_classes, n_classes))
        self.sums = np.zeros((1, n_classes))
        self.regions = Regions(
            order=np.arange(n),
            starts=at,
            ends=at.copy(),
            value=self.sums.copy(),
            low=differences,
            high=differences.copy(),
            alive=np.zeros(1, dtype=bool),
        )
        self.checks = Checkpoints(np.ascontiguousarray(growth.checks), np.zeros((self.n_checks, 1), dtype=np.uint32))
        self.rule = Rule(float(growth.smoothing), bool(growth.is_joint), SLACK, BUDGET)
        self._begin(0, 0, n)
        self.open[0] = self._best_first(candidates.of_simplex(rows, growth.min_samples))
        self._note(0, np.zeros(1, dtype=np.int64))

    def best(self) -> tuple[int, int] | None:
        """Return the region that is split next, and the number of its candidate."""
        found, found_gain, live = (
            None,
            max(self.growth.min_gain - TIE, TIE) * self.total,
            np.flatnonzero(self.regions.alive),
        )
        promise = np.array([self.open[v].promise for v in live.tolist()])
        for v in live[np.argsort(-promise, kind="stable")].tolist():
            own = self.open[v]
            # Of regions whose gains are equal the first is split.
            before = found is not None and v < found[0]
            least = found_gain - TIE * self.total if before else found_gain + TIE * self.total * (found is not None)
            better = own.order[own.candidates.gain[own.order] > least]
            if better.size and (c := self._first_monotone(v, better, live)) >= 0:
                found, found_gain = (v, c), float(own.candidates.gain[c])
            self.open[v] = own.without_hopeless()
        return found

    def split(self, v: int, c: int) -> bool:
        """Split a region around one of its candidates, unless that makes too many regions."""
        from calibrant._kernels.irp import parted

        before = self.open[v].candidates
        gamma, regions, n_classes = before.gamma[c].copy(), self.regions, self.checks.gamma.shape[1]
        begins = np.empty(n_classes + 1, dtype=np.int64)
        parted(self.rows.prob, regions.order, regions.starts[v], regions.ends[v], gamma, begins)
        sides = np.flatnonzero(np.diff(begins))
        most = self.growth.max_regions
        if most is not None and int(regions.alive.sum()) + sides.size - 1 > most:
            return False
        child = np.full(n_classes, -1, dtype=np.int64)
        child[sides] = self.n_nodes + np.arange(sides.size)
        self._add_split(v, gamma, child, float(before.gain[c]))
        for k, node in zip(sides.tolist(), child[sides].tolist(), strict=True):
            self._begin(node, begins[k], begins[k + 1])
            rows = self.rows.of(regions.order[begins[k] : begins[k + 1]])
            self.open[node] = self._best_first(self.candidates.of_side(rows, self.growth.min_samples, before, gamma, k))
        self._note(0, child[sides])
        self._note(self.n_checks - 1, np.flatnonzero(self.regions.alive))
        return True

    def grown(self) -> Grown:
        """Return what has grown."""
        n_splits, n_classes = len(self.gamma), self.checks.gamma.shape[1]
        split = np.full(self.n_nodes, -1, dtype=np.int64)
        split[self.parent] = np.arange(n_splits)
        tree = SplitTree(
            np.array(self.gamma).reshape(n_splits, n_classes),
            np.array(self.child, dtype=np.int64).reshape(n_splits, n_classes),
            split,
        )
        return Grown(tree, self.sums[: self.n_nodes].copy(), np.array(self.gain) / self.total)

    def _first_monotone(self, v: int, tried: IntArray, live: IntArray) -> int:
        from calibrant._kernels.irp import first_monotone

        own, found, at = self.open[v], -1, 0
        checks = Checkpoints(self.checks.gamma[: self.n_checks], self.checks.met)
        while found < 0 and at < tried.size:
            trial = Trial(own.candidates.gamma, tried[at:], own.witness)
            found, n_tried = first_monotone(self.rows, self.regions, live, checks, v, trial, self.rule)
            at += n_tried
        return int(found)

    def _best_first(self, found: Measured) -> _Open:
        """Order candidates by their quality; of those that agree to rounding the first comes first."""
        order = np.argsort(-found.gain, kind="stable")
        order = order[found.gain[order] > TIE * self.total]
        falls = np.append(False, np.diff(found.gain[order]) < -TIE * self.total)[: order.size]
        order = order[np.lexsort((order, np.cumsum(falls)))]
        return _Open(found, order, np.full((len(found.gain), 2), NOBODY))

    def _add_split(self, v: int, gamma: FloatArray, child: IntArray, gain: float) -> None:
        self.gamma.append(gamma)
        self.child.append(child)
        self.gain.append(gain)
        self.parent.append(v)
        self.n_checks += 1
        self.n_nodes += int((child >= 0).sum())
        points, met, regions = self.checks.gamma, self.checks.met, self.regions
        if self.n_checks > len(points):
            points, met = _doubled(points, self.n_checks), _doubled(met, self.n_checks)
        points[self.n_checks - 1] = gamma
        if self.n_nodes > regions.alive.size:
            self.sums = _doubled(self.sums, self.n_nodes)
            self.regions = Regions._make([regions.order, *(_doubled(table, self.n_nodes) for table in regions[1:])])
            met = np.ascontiguousarray(_doubled(met.T, self.n_nodes).T)
        self.checks = Checkpoints(points, met)
        self.regions.alive[v] = False
        del self.open[v]

    def _begin(self, v: int, start: int, end: int) -> None:
        """Make a region of some rows, and note what is known of it."""
        from calibrant._kernels.irp import differences

        regions, n_classes = self.regions, self.checks.gamma.shape[1]
        of = regions.order[start:end]
        sums = np.bincount(self.rows.label[of], self.rows.weight[of], n_classes)
        added = self.growth.smoothing
        regions.starts[v], regions.ends[v], regions.alive[v] = start, end, True
        self.sums[v], regions.value[v] = sums, (sums + added) / (sums.sum() + n_classes * added)
        differences(self.rows.prob, of, regions.low[v], regions.high[v])

    def _note(self, first: int, nodes: IntArray) -> None:
        """Note which sides of the checkpoints from one on the nodes meet."""
        from calibrant._kernels.irp import note_sides

        n_rows = int((self.regions.ends[nodes] - self.regions.starts[nodes]).sum())
        step = max(1, BUDGET // (n_rows + nodes.size))
        for start in range(first, self.n_checks, step):
            checks = Checkpoints(self.checks.gamma[: min(start + step, self.n_checks)], self.checks.met)
            note_sides(self.rows, self.regions, checks, start, nodes)


def _doubled(table: Table, least: int) -> Table:
    """Return a table of twice as many rows, and at least so many, the new ones zero."""
    room = np.zeros((max(2 * len(table), least) - len(table), *table.shape[1:]), dtype=table.dtype)
    return cast("Table", np.concatenate([table, room]))
