"""Statements of the paper about all problems, checked on small ones against their definitions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

import numpy as np
from scipy.special import logsumexp
from sklearn.isotonic import isotonic_regression

Take = Callable[[int, int, int], bool]
"""Whether to take a point, of its gain, the best sum without it and the best sum with it."""


def as_printed(gain: int, without: int, taken: int) -> bool:
    """Algorithms 2 and 3 look at the sign of the gain alone."""
    return gain >= 0


def as_in_the_lemma(gain: int, without: int, taken: int) -> bool:
    """Lemma A.11 takes the greater sum."""
    return taken > without


def upper_set(rank: Sequence[int], gain: Sequence[int], n_ranks: int, take: Take) -> list[int]:
    """The upper set that Algorithm 2 finds, of points in order of score: M and R are those of the paper."""
    n = len(rank)
    M = [[0] * (n_ranks + 2) for _ in range(n + 1)]
    R = [[0] * (n_ranks + 2) for _ in range(n)]
    for i in reversed(range(n)):
        for j in range(1, n_ranks + 2):
            taken = M[i + 1][min(j, rank[i])] + gain[i]
            if j <= rank[i] or take(gain[i], M[i + 1][j], taken):
                M[i][j], R[i][j] = taken, min(j, rank[i])
            else:
                M[i][j], R[i][j] = M[i + 1][j], j
    found, j = [], n_ranks + 1
    for i in range(n):
        if R[i][j] <= rank[i]:
            found.append(i)
        j = R[i][j]
    return found


def upper_sets(rank: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Every set that holds, with each point, all of higher score and rank."""
    points = range(len(rank))
    for size in range(len(rank) + 1):
        for chosen in combinations(points, size):
            held = set(chosen)
            if all(k in held for i in chosen for k in range(i + 1, len(rank)) if rank[k] >= rank[i]):
                yield chosen


def gains(outcome: Sequence[int]) -> list[int]:
    """Outcomes less their mean, times their number: whole numbers."""
    return [len(outcome) * y - sum(outcome) for y in outcome]


def misses(n_problems: int, n_points: int, n_ranks: int, take: Take) -> int:
    """In how many random problems the set found has a lower sum than the best upper set."""
    rng = np.random.default_rng(0)
    missed = 0
    for _ in range(n_problems):
        rank = rng.integers(1, n_ranks + 1, n_points).tolist()
        gain = gains(rng.integers(0, 2, n_points).tolist())
        best = max(sum(gain[i] for i in chosen) for chosen in upper_sets(rank))
        missed += sum(gain[i] for i in upper_set(rank, gain, n_ranks, take)) < best
    return missed


def midpoints_above(n_pairs: int, *, logarithm: bool) -> int:
    """At how many midpoints of two non-decreasing maps the objective of NA-FIR is above the mean of its ends.

    The midpoint is one of values g, or of their logarithms. A convex function has none.
    """
    rng = np.random.default_rng(0)
    above = 0
    for _ in range(n_pairs):
        counts = rng.multinomial(4, [0.4, 0.3, 0.3], size=6)  # classes of each row in each of three blocks
        of_true = np.array([rng.choice(3, p=row / row.sum()) for row in counts])
        ends = np.sort(rng.uniform(0.01, 1.0, (2, 3)), axis=1)
        points = np.log(ends) if logarithm else ends
        log_values = [point if logarithm else np.log(point) for point in (*points, points.mean(axis=0))]
        first, second, middle = (_nll(counts, of_true, value) for value in log_values)
        above += middle > (first + second) / 2 + 1e-9
    return above


def _nll(counts: np.ndarray, of_true: np.ndarray, log_value: np.ndarray) -> float:
    return float((logsumexp(log_value, axis=1, b=counts) - log_value[of_true]).sum())


SCORES: dict[str, Callable[[np.ndarray, int], np.ndarray]] = {
    "log loss": lambda p, y: -np.log(p if y else 1 - p),
    "Brier score": lambda p, y: (p - y) ** 2,
    "spherical score": lambda p, y: -(p if y else 1 - p) / np.sqrt(p**2 + (1 - p) ** 2),
    "cost at 0.3": lambda p, y: 0.3 * (1 - y) * (p > 0.3) + 0.7 * y * (p <= 0.3),
}
"""Proper scoring rules; lower is better."""


def gain_over_isotonic(n_problems: int, n_points: int, score: Callable[[np.ndarray, int], np.ndarray]) -> float:
    """By how much the best non-decreasing map on a fine grid has a lower mean score than isotonic regression, at most."""
    rng = np.random.default_rng(0)
    grid = np.linspace(0.0, 1.0, 401)[1:-1]
    worst = -np.inf
    for _ in range(n_problems):
        y, weight = rng.integers(0, 2, n_points), rng.uniform(0.5, 2.0, n_points)
        fitted = isotonic_regression(y.astype(float), sample_weight=weight, y_min=1e-9, y_max=1 - 1e-9)
        own = sum(w * float(score(np.array(p), int(t))) for w, p, t in zip(weight, fitted, y, strict=True))
        best = np.zeros(len(grid))
        for w, t in zip(weight, y, strict=True):
            best = np.minimum.accumulate(best) + w * score(grid, int(t))
        worst = max(worst, (own - best.min()) / weight.sum())
    return float(worst)
