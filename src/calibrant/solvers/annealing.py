"""Simulated annealing of a map that is constant on blocks: the random search of Arad and Rosset."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.problem import IntArray
from calibrant._core.progress import Advance
from calibrant.solvers.nafir_comparisons import Comparisons

BETA = 200.0
"""Inverse temperature, of the sum of the log-likelihood over the rows: of their mean, nearly every change would be taken."""

MOST_CHANGES = 100_000

PATIENCE = 10_000
"""Changes without a better map after which the search ends."""

FLOOR = 1e-7
"""Least value of the map: that of a block without a true class."""

CHUNK = 1000
"""Changes tried between two looks at the world; sums are made anew as often, so that rounding does not add up."""


class Draws(NamedTuple):
    """The block to change, by how much, and a number from 0 to 1 that decides whether a worse map is taken."""

    block: IntArray
    change: FloatArray
    chance: FloatArray

    @classmethod
    def of(cls, n: int, n_blocks: int, granularity: float, rng: np.random.Generator) -> Draws:
        """Draw ``n`` changes, each up or down by the same amount."""
        change: FloatArray = np.where(rng.random(n) < 0.5, -granularity, granularity)
        return cls(rng.integers(n_blocks, size=n), change, rng.random(n))


def anneal(
    rows: Comparisons,
    smoothing: float,
    theta: FloatArray,
    n_rows: float,
    granularity: float,
    rng: np.random.Generator,
    advance: Advance,
) -> tuple[FloatArray, int]:
    """Return the best of the maps visited from theta on, as its logarithm, the highest zero, and how many were tried."""
    from calibrant._kernels import annealing  # numba loads only where it is needed

    order = np.argsort(rows.block, kind="stable")
    starts = np.append(0, np.cumsum(np.bincount(rows.block, minlength=rows.n_blocks)))
    table = starts, rows.row[order], rows.count[order], rows.smoothed(smoothing), rows.weight
    g = np.maximum(np.exp(theta), FLOOR)
    best, highest, since, tried = g.copy(), -np.inf, 0, 0
    while tried < MOST_CHANGES and since < PATIENCE:
        draws = Draws.of(CHUNK, rows.n_blocks, granularity, rng)
        total = np.add.reduceat(rows.count * g[rows.block], rows.starts)
        current = float(table[3] @ np.log(g) - rows.weight @ np.log(total))
        highest = max(highest, current)
        # Weights sum to one, so that this beta is that of the sum over rows.
        limits = BETA * n_rows, FLOOR, PATIENCE
        _, highest, since, done = annealing.anneal(*table, *draws, *limits, g, total, best, current, highest, since)
        tried += done
        advance(done)
    return np.log(best / best[-1]), tried
