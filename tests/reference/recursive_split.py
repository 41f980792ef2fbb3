"""Regions split at the mean of the points of a grid in them, in the order in which they were made."""

from fractions import Fraction

from reference.roc_surface import side


def lattice(n_classes, steps):
    """All rows of multiples of 1 / steps that sum to one."""
    if n_classes == 1:
        return [[steps]]
    return [[first, *rest] for first in range(steps + 1) for rest in lattice(n_classes - 1, steps - first)]


def sides(point, gamma):
    """The sides on whose border a point lies, or the one it lies in."""
    over = [p - g for p, g in zip(point, gamma, strict=True)]
    return [k for k, value in enumerate(over) if value >= max(over) - 1e-9]


def split(prob, n_splits, steps):
    """Return the splitting points, and the rows of each region at the end."""
    n_classes = len(prob[0])
    grid = [[Fraction(i, steps) for i in point] for point in lattice(n_classes, steps)]
    queue = [(list(range(len(prob))), grid)]
    gammas, whole = [], []
    while queue and len(gammas) < n_splits:
        rows, points = queue.pop(0)
        if len(points) < 2:
            whole.append(rows)
            continue
        gamma = [sum(point[j] for point in points) / len(points) for j in range(n_classes)]
        parts = [
            ([i for i in rows if side(prob[i], gamma) == k], [point for point in points if k in sides(point, gamma)])
            for k in range(n_classes)
        ]
        parts = [part for part in parts if part[0]]
        queue += parts
        if len(parts) > 1:
            gammas.append(gamma)
    return gammas, sorted(whole + [rows for rows, _ in queue])
