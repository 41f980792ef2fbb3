"""Three classes, decided for all splits: how many there are, the best one, the volume over all of them, and Definition 3.2."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import permutations
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.spatial import ConvexHull

from calibrant._core.arrays import grouped
from calibrant.calibrators import MulticlassRecursivePartitioning
from calibrant.fit.trees import ExactCandidates, Rows
from calibrant.metrics import volume_under_surface_score
from studies.roc_isotonic.authors import SMOOTHING, Forecasts, covertype, of_paper
from studies.roc_isotonic.study import FIRST_SEED

MARGIN = 1e-12
"""Sums of differences of probabilities that are no larger are zero."""


# All splits, and which are splits of other vectors


def all_splits(p: np.ndarray) -> np.ndarray:
    """Return a point for each way in which some point parts forecasts, all on one side not counted; shape (c, 3)."""
    distinct = np.unique(p, axis=0)
    rows = Rows(distinct, np.zeros(len(distinct), dtype=np.int64), np.ones(len(distinct)))
    return ExactCandidates().of_simplex(rows).gamma


def margins(p: np.ndarray) -> np.ndarray:
    """Return p_k - p_j of each row and all classes k and j, shape (n, 3, 3)."""
    return p[:, :, None] - p[:, None, :]


def bounds(margin: np.ndarray, side: np.ndarray) -> np.ndarray:
    """Return for all classes k and j the least p_k - p_j on side k, which g_k - g_j has to be below."""
    least = np.full((3, 3), np.inf)
    for k in np.unique(side):
        least[k] = margin[side == k, k].min(axis=0)
    return least


CYCLES = [*permutations(range(3), 2), *permutations(range(3), 3)]


def is_split(margin: np.ndarray, side: np.ndarray) -> bool:
    """Whether some gamma puts all on their sides: no cycle of the difference constraints is negative, or zero."""
    least = bounds(margin, side)
    return all(sum(least[k, j] for k, j in zip(c, c[1:] + c[:1], strict=True)) > MARGIN for c in CYCLES)


def keeps_definition(margin: np.ndarray, of: np.ndarray, value: np.ndarray) -> bool:
    """Whether every split of calibrated vectors is a split of the forecasts (Definition 3.2).

    ``of`` is the region of each row, and ``value`` the vector of each region.
    """
    # Rows of a region are on one side, and the least of their margins bound it.
    least = np.array([margin[of == region].min(axis=0) for region in range(len(value))])
    value = grouped(value)
    return all(is_split(least, (value - gamma).argmax(axis=1)) for gamma in all_splits(value))


def volume(y: np.ndarray, p: np.ndarray) -> float:
    """Return the volume of the hull of the whole surface."""
    return float(volume_under_surface_score(y, p, thresholds=all_splits(p)))


def points(y: np.ndarray, p: np.ndarray) -> set[tuple[int, ...]]:
    """Return the points of the whole surface, as numbers of rows of each class on its own side; all on one side not counted."""
    gammas, label = all_splits(p), np.eye(3)[y]
    found: set[tuple[int, ...]] = set()
    for some in np.array_split(gammas, 1 + len(gammas) // 1000):
        own = (p - some[:, None]).argmax(axis=2) == y
        found |= set(map(tuple, (own @ label).astype(int).tolist()))
    return found


def surfaces(y: np.ndarray, p: np.ndarray, r: np.ndarray) -> list[float]:
    """Return numbers of points before, after, and of those after that are points before; volumes of the hulls before and after.

    Then the share of points before that are outside of the hull after, and how far the farthest is.
    """
    before, after = points(y, p), points(y, r)
    ends = np.vstack([np.array([*after]) / np.bincount(y), np.eye(3), np.zeros((1, 3))])
    faces = ConvexHull(ends).equations
    far = (np.array([*before]) / np.bincount(y) @ faces[:, :3].T + faces[:, 3]).max(axis=1)
    both = [len(before), len(after), len(before & after), volume(y, p), volume(y, r)]
    return [*both, float((far > 1e-9).mean()), float(far.max())]


def volume_below(y: np.ndarray, p: np.ndarray) -> float:
    """Return the volume below the surface itself: of all boxes from the origin to its points."""
    sides = np.vstack(
        [[(p - gamma).argmax(axis=1) for gamma in all_splits(p)], np.arange(3)[:, None].repeat(len(y), 1)]
    )
    points = np.column_stack([(sides[:, y == k] == k).mean(axis=1) for k in range(3)])
    ends = [np.unique(np.append(0.0, points[:, k])) for k in range(3)]
    below = np.zeros([end.size - 1 for end in ends], dtype=bool)
    for i, j, k in {tuple(map(np.searchsorted, ends, point)) for point in points}:
        below[:i, :j, :k] = True
    return float(np.einsum("ijk,i,j,k", below, *map(np.diff, ends)))


# Small problems, drawn


def drawn(n: int, number: int) -> tuple[np.ndarray, np.ndarray]:
    """Forecasts all over the triangle, and labels drawn from them: the first ones in which each class occurs."""
    rng = np.random.default_rng([n, number])
    while True:
        p = rng.dirichlet(np.ones(3), n)
        y = (rng.random((n, 1)) > p.cumsum(axis=1)).sum(axis=1)
        if np.unique(y).size == 3:
            return p, y


SMALL = [(12 + number % 14, number) for number in range(60)]
"""Numbers of rows, 12 to 25, and numbers of the problems."""


def fitted(p: np.ndarray, y: np.ndarray, candidates: Any = "exact", max_regions: int | None = None) -> Any:
    """Algorithm 2 with plain means."""
    return MulticlassRecursivePartitioning(candidates=candidates, max_regions=max_regions, smoothing=0.0).fit(p, y)


# The exact first split, and how near other candidates come to it


COUNTED = (8, 12, 20, 30, 100, 500)
OTHERS = {"from the data": "data", "grid of 1/20": 20, "grid of 1/100": 100}


def counts() -> list[list[int]]:
    """Rows of drawn problems and the number of their splits."""
    return [[n, len(all_splits(drawn(n, 0)[0]))] for n in COUNTED]


@cache
def several(model: str, n_splits: int) -> list[Forecasts]:
    """Splits of Covertype, 500 rows fitted."""
    return [covertype(3, FIRST_SEED + i, model=model, n_train=4500, n_test=None) for i in range(n_splits)]


def groups() -> Iterator[tuple[str, list[tuple[np.ndarray, np.ndarray]]]]:
    """Problems whose first splits are compared."""
    yield "drawn, 12 to 25 rows", [drawn(*of) for of in SMALL]
    yield "drawn, 100 rows", [drawn(100, number) for number in range(20)]
    for model, n in (("logistic regression", 12), ("naive Bayes", 8)):
        yield f"{model}, 500 rows", [(of.p, of.y) for of in several(model, n)]


def first_quality(p: np.ndarray, y: np.ndarray, candidates: Any) -> float:
    """Return the quality M of the first split over all rows; 0 where none is made."""
    return float(fitted(p, y, candidates, 3).gain_[:1].sum())


@cache
def shares() -> dict[str, list[list[float]]]:
    """Quality of the first split of other candidates over that of the best one, a list for each problem that has a split."""
    found = {}
    for name, problems in groups():
        best = [(p, y, first_quality(p, y, "exact")) for p, y in problems]
        found[name] = [[first_quality(p, y, c) / most for c in OTHERS.values()] for p, y, most in best if most > 0.0]
    return found


# Definition 3.2: of all first splits that leave the map monotone at the split itself, those that it allows


def monotone_first_splits(p: np.ndarray, y: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the region of each row and their class rates, where these differ and every two are in order."""
    label = np.eye(3)[y]
    for gamma in all_splits(p):
        side = (p - gamma).argmax(axis=1)
        count = np.bincount(side, minlength=3)
        rate = np.zeros((3, 3))
        np.add.at(rate, side, label)
        rate[count > 0] /= count[count > 0, None]
        held = np.flatnonzero(count)
        gap = rate.diagonal()[:, None] - rate  # r_i - r_j on side i
        in_order = all(gap[i, j] + gap[j, i] >= -MARGIN for i in held for j in held)
        if in_order and np.ptp(rate[held], axis=0).max() > MARGIN:
            yield np.searchsorted(held, side), rate[held]


def is_tied(rate: np.ndarray) -> bool:
    """Whether vectors have fewer splits than others as many: two agree in a difference of classes, or three meet in a point."""
    n = len(rate)
    return len(all_splits(grouped(rate))) < (n + 2) * (n + 1) // 2 - 3


@cache
def kept(n: int, n_problems: int) -> dict[str, Any]:
    """Of drawn problems of n rows, or of the paper's rows: first splits, those that keep Definition 3.2, and their volumes."""
    problems = (
        [drawn(n, number) for number in range(n_problems)] if n_problems > 1 else [(of_paper(3).p, of_paper(3).y)]
    )
    n_monotone, n_tied, with_any, volumes = 0, 0, 0, []
    for p, y in problems:
        before, margin = len(volumes), margins(p)
        for of, rate in monotone_first_splits(p, y):
            n_monotone += 1
            if keeps_definition(margin, of, rate):
                n_tied += is_tied(rate)
                volumes.append([volume(y, p), volume(y, rate[of])])
        with_any += len(volumes) > before
    found = {"n": n, "problems": len(problems), "monotone": n_monotone, "kept": len(volumes), "tied": n_tied}
    return found | {"with_any": with_any, "volumes": volumes}


# Volumes before and after Algorithm 2 as run


SIX = (np.array([[2, 3, 5], [5, 3, 2], [3, 4, 3], [5, 2, 3], [4, 2, 4], [0, 5, 5]]) / 10, np.array([1, 0, 0, 2, 0, 1]))
"""The fewest rows seen whose volume rises."""


def before_and_after(p: np.ndarray, y: np.ndarray) -> list[float]:
    """Return the volume of the hull before; after Algorithm 2 that of the hull, that of tuples, and that below the surface."""
    r = fitted(p, y).predict_proba(p)
    tuples = float(volume_under_surface_score(y, r, method="probability"))
    return [volume(y, p), volume(y, r), tuples, volume_below(y, r)]


# Points outside the simplex


def meets_simplex(margin: np.ndarray, side: np.ndarray) -> bool:
    """Whether some point of the simplex, its border included, parts forecasts in this way: corners of what it must be in.

    With x = g_0 - g_2 and y = g_1 - g_2, rows (a, b, c) below are a x + b y <= c.
    """
    least = bounds(margin, side)
    step = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    pairs = [(k, j) for k, j in permutations(range(3), 2) if np.isfinite(least[k, j])]
    lines = [[*(step[k] - step[j]), least[k, j]] for k, j in pairs]
    lines += [[1.0, 1.0, 1.0], [-2.0, 1.0, 1.0], [1.0, -2.0, 1.0]]  # 3 g_2, 3 g_0 and 3 g_1 are at least 0
    of = np.array(lines)
    first, second = np.triu_indices(len(of), 1)
    cross = of[first, 0] * of[second, 1] - of[first, 1] * of[second, 0]
    met = np.abs(cross) > MARGIN
    first, second, cross = first[met], second[met], cross[met]
    x = (of[first, 2] * of[second, 1] - of[second, 2] * of[first, 1]) / cross
    y = (of[first, 0] * of[second, 2] - of[second, 0] * of[first, 2]) / cross
    return bool((of[:, :2] @ np.vstack([x, y]) <= of[:, 2:] + MARGIN).all(axis=0).any())


def inside(p: np.ndarray, y: np.ndarray) -> list[float]:
    """Return numbers of splits, of those with a point of the simplex, and of classes all rows of which it can tell; volumes."""
    gammas, margin = all_splits(p), margins(p)
    near = np.array([meets_simplex(margin, (p - gamma).argmax(axis=1)) for gamma in gammas])
    alone = sum(meets_simplex(margin, np.full(len(p), k)) for k in range(3))
    points = np.vstack([_shares(p, y, gamma) for gamma in gammas[near]])
    return [len(gammas), int(near.sum()), alone, _hull(points), volume(y, p)]


def _shares(p: np.ndarray, y: np.ndarray, gamma: np.ndarray) -> list[float]:
    side = (p - gamma).argmax(axis=1)
    return [float((side[y == k] == k).mean()) for k in range(3)]


def _hull(points: np.ndarray) -> float:
    from calibrant.metrics.roc_volume import Hull

    return float(Hull.of(points).volume)


# The mean that the regularised cross-entropy asks for


def regularised(n_classes: int, number: int) -> list[float]:
    """Return how far the least of H(mean, r) - lambda sum log r over vectors r is from (mean + lambda) / (1 + K lambda).

    Then how far from (mean + lambda) / (1 + lambda), the published one.
    """
    mean = np.random.default_rng([n_classes, number]).multinomial(10, np.ones(n_classes) / n_classes) / 10

    def loss(z: np.ndarray) -> tuple[float, np.ndarray]:
        log_r = z - z.max() - np.log(np.exp(z - z.max()).sum())
        pull = mean + SMOOTHING
        return float(-(pull * log_r).sum()), pull.sum() * np.exp(log_r) - pull

    z = minimize(loss, np.zeros(n_classes), jac=True, options={"gtol": 1e-10}).x
    r = np.exp(z - z.max())
    r /= r.sum()
    proper, published = ((mean + SMOOTHING) / (1 + factor * SMOOTHING) for factor in (n_classes, 1))
    return [float(np.abs(r - proper).max()), float(np.abs(r - published).max())]
