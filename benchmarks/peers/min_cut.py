"""Sorted cumulative isotonic regression by minimum cuts: the points are split in two as long as it pays.

A point counts the total weight times its events less the total events times its weight, whole numbers. The upper set with
the largest sum is split off. It is a minimum cut (a closure problem): a point pays to leave the set, or to be in it, and takes
along what lies above it. What is cut is the graph of those pairs of points that have no other between them.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, maximum_flow

from benchmarks.fitting import Method

Cut = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""Takes the gain of each point and the edges, shape (2, n_edges), and says which points are in the best upper set."""


class Points(NamedTuple):
    """Distinct pairs of score and rank in the order of both, with the number of rows and of events, and value when fitted."""

    score: np.ndarray
    rank: np.ndarray
    weight: np.ndarray
    events: np.ndarray
    value: np.ndarray


def with_igraph(y: np.ndarray, prob: np.ndarray) -> Method:
    import igraph

    def cut(gain: np.ndarray, edges: np.ndarray) -> np.ndarray:
        pairs, capacity = _network(gain, edges)
        graph = igraph.Graph(n=gain.size + 2, edges=pairs.T.tolist(), directed=True)
        kept = graph.mincut(gain.size, gain.size + 1, capacity.tolist()).partition[0]
        return np.isin(np.arange(gain.size), kept)

    return _method(y, prob, cut)


def with_scipy(y: np.ndarray, prob: np.ndarray) -> Method:
    def cut(gain: np.ndarray, edges: np.ndarray) -> np.ndarray:
        (tail, head), capacity = _network(gain, edges)
        n = gain.size + 2
        graph = csr_array((capacity.astype(np.int32), (tail, head)), shape=(n, n))
        left_over = graph - maximum_flow(graph, n - 2, n - 1).flow
        left_over.eliminate_zeros()
        kept = breadth_first_order(left_over, n - 2, return_predecessors=False)
        return np.isin(np.arange(gain.size), kept)

    return _method(y, prob, cut)


def _method(y: np.ndarray, prob: np.ndarray, cut: Cut) -> Method:
    def fit() -> Points:
        points = _points(y, prob)
        return points._replace(value=_values(points, cut))

    return Method(fit, _calibrated)


def _network(gain: np.ndarray, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Edges and capacities: of the source (number n) to what gains, of what loses to the sink (n + 1), of points upwards."""
    n, (gains,), (loses,) = gain.size, np.nonzero(gain > 0), np.nonzero(gain < 0)
    tail = np.concatenate([np.full(gains.size, n), loses, edges[0]])
    head = np.concatenate([gains, np.full(loses.size, n + 1), edges[1]])
    enough = np.full(edges.shape[1], gain[gains].sum() + 1)
    return np.stack([tail, head]), np.concatenate([gain[gains], -gain[loses], enough])


def _points(y: np.ndarray, prob: np.ndarray) -> Points:
    order = np.argsort(-prob, axis=1, kind="stable")
    score = np.cumsum(np.take_along_axis(prob, order, axis=1), axis=1)[:, :-1]
    occurred = np.maximum.accumulate(order == y[:, None], axis=1)[:, :-1]
    rank = np.broadcast_to(np.arange(score.shape[1]), score.shape)
    places, at, weight = np.unique(
        np.stack([score.ravel(), rank.ravel()], axis=1), axis=0, return_inverse=True, return_counts=True
    )
    events = np.bincount(at.ravel(), occurred.ravel(), len(places)).astype(np.int64)
    return Points(places[:, 0], places[:, 1].astype(np.intp), weight, events, np.empty(len(places)))


def _edges(rank: np.ndarray) -> np.ndarray:
    """Pairs of a point and one above it with none between, of points in the order of scores and then of ranks."""
    n = rank.size
    nearest = np.full(int(rank.max()) + 1, n)
    tails, heads = [], []
    for i in range(n - 1, -1, -1):
        above = nearest[rank[i] :]
        lower_ranks = np.append(n, np.minimum.accumulate(above)[:-1])
        heads.append(above[above < lower_ranks])
        tails.append(np.full(heads[-1].size, i))
        nearest[rank[i]] = i
    return np.stack([np.concatenate(tails), np.concatenate(heads)])


def _values(points: Points, cut: Cut) -> np.ndarray:
    value = np.empty(points.score.size)
    stack = [(np.arange(value.size), _edges(points.rank))]
    while stack:
        part, edges = stack.pop()
        weight, events = points.weight[part], points.events[part]
        gain = events * weight.sum() - weight * events.sum()
        upper = cut(gain, edges) if gain.any() else np.zeros(part.size, dtype=bool)
        if gain[upper].sum() == 0:
            value[part] = events.sum() / weight.sum()
        else:
            stack += [(part[chosen], _edges_within(edges, chosen)) for chosen in (upper, ~upper)]
    return value


def _edges_within(edges: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    number = np.cumsum(chosen) - 1
    return number[edges[:, chosen[edges].all(axis=0)]]


def _calibrated(points: Points, other: np.ndarray) -> np.ndarray:
    """Of each rank the largest value at or below, the lowest where there is none; of each class the rise at its rank."""
    order = np.argsort(-other, axis=1, kind="stable")
    score = np.cumsum(np.take_along_axis(other, order, axis=1), axis=1)
    reached = np.ones((len(other), other.shape[1] + 1))
    reached[:, 0] = 0.0
    for rank in range(other.shape[1] - 1):
        known = points.rank <= rank
        value = np.append(points.value.min(), np.maximum.accumulate(points.value[known]))
        reached[:, rank + 1] = value[np.searchsorted(points.score[known], score[:, rank], side="right")]
    calibrated = np.empty_like(other)
    np.put_along_axis(calibrated, order, np.diff(reached, axis=1), axis=1)
    return calibrated
