"""The volume under the ROC surface: of the convex hull of its points and the origin, exactly or by rays that are drawn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog

from calibrant._core.links import FloatArray
from calibrant._core.problem import IntArray
from calibrant.metrics.roc.hull import MOST_CLASSES, Hull
from calibrant.metrics.roc.surface import SurfaceRows, own_side_sums

NO_GAIN = 1e-9
"""A point that lets a ray go farther by so little is left out of its linear program."""

ADDED = 20
"""Points that are added to a linear program before it is solved again; 10 and 50 take as long."""


@dataclass(frozen=True)
class VolumeUnderSurface:
    """A volume under the ROC surface, and how it was found.

    Attributes
    ----------
    value : float
        The volume.
    standard_error : float
        Of what was drawn to find it, for the rows as they are; 0 where nothing was drawn.
    n_draws : int
        Rays or tuples that were drawn; 0 where nothing was.
    method : {"hull", "monte-carlo", "probability"}
        How it was found.
    """

    value: float
    standard_error: float
    n_draws: int
    method: str


@dataclass(frozen=True, eq=False)
class Rays:
    """Rays from the origin through points drawn in the cube, followed to where they leave the hull.

    Attributes
    ----------
    part : ndarray of shape (n_draws,)
        Which part of its way through the cube each ray is in the hull.
    pull : ndarray of shape (m, K)
        By how much the mean of part^K grows with each part of each point of the surface.
    """

    part: FloatArray
    pull: FloatArray

    @property
    def volume(self) -> float:
        """Mean of part^K: the volume of the hull."""
        return float(self._reached.mean())

    @property
    def standard_error(self) -> float:
        """Of the volume, for the rays that were drawn."""
        return float(self._reached.std(ddof=1) / np.sqrt(self.part.size))

    @property
    def _reached(self) -> FloatArray:
        return np.power(self.part, self.pull.shape[1])

    @classmethod
    def through(cls, points: FloatArray, n_draws: int, rng: np.random.Generator) -> Rays:
        """Follow rays through the hull of points of a surface and the origin.

        A point drawn evenly in the cube is r b, with b on an outer side of the cube and r^K even in [0, 1], independent of
        b. The hull holds the origin, so that it holds r b if and only if r <= s(b), where the ray leaves it: with
        probability s(b)^K. The mean of s^K is the volume, as is the share of the points drawn that lie within, but it
        varies less: it is that share's expectation given b. It takes one linear program a draw, as membership does:  s =
        max t  with  t b = sum of part_j point_j,  part >= 0,  sum of the parts <= 1.
        """
        n_classes = points.shape[1]
        first = np.unique(points, axis=0, return_index=True)[1]
        exits = _Exits(points[first])
        part, pull = np.empty(n_draws), np.zeros_like(points)
        for draw, inside in enumerate(rng.random((n_draws, n_classes))):
            part[draw], used, share, prices = exits.of(inside / inside.max())
            # The prices of the program: a point j that moves by d lets the ray go part_j (prices . d) farther.
            steepness = n_classes * part[draw] ** (n_classes - 1) / n_draws
            pull[first[used]] += steepness * np.outer(share, prices)
        return cls(part, pull)


class _Exits:
    """Where rays leave the hull of points and the origin.

    The linear program of a ray knows few of the points. Its prices say of every other point whether the ray would go farther
    with it: those that promise most are added, until there is none (column generation). A point that served a ray is kept for
    the next ones.
    """

    def __init__(self, points: FloatArray) -> None:
        self.points = points
        self.kept = set(points.argmax(axis=0).tolist())

    def of(self, ray: FloatArray) -> tuple[float, IntArray, FloatArray, FloatArray]:
        """Return how far the ray goes, the points it leaves between, the part of each, and the prices of the coordinates."""
        known = sorted(self.kept)
        while True:
            found = linprog(
                np.append(np.zeros(len(known)), -1.0),
                A_ub=np.append(np.ones(len(known)), 0.0)[None],
                b_ub=[1.0],
                A_eq=np.column_stack([self.points[known].T, -ray]),
                b_eq=np.zeros(ray.size),
                method="highs-ds",
            )
            prices = found.eqlin.marginals
            gain = self.points @ prices + found.ineqlin.marginals[0]
            gain[known] = 0.0
            most = np.argpartition(-gain, min(ADDED, gain.size - 1))[:ADDED]
            if gain[most].max() <= NO_GAIN:
                break
            known += most[gain[most] > NO_GAIN].tolist()
        served = found.x[:-1] > 0.0
        used = np.array(known)[served]
        self.kept.update(used.tolist())
        return min(float(found.x[-1]), 1.0), used, found.x[:-1][served], prices


def hull_volume(points: FloatArray, n_draws: int, rng: np.random.Generator, *, exact: bool) -> VolumeUnderSurface:
    """Return the volume of the hull of points of a surface and the origin: exactly, or as a mean over rays."""
    if exact:
        return VolumeUnderSurface(Hull.of(points).volume, 0.0, 0, "hull")
    rays = Rays.through(points, n_draws, rng)
    return VolumeUnderSurface(rays.volume, rays.standard_error, n_draws, "monte-carlo")


def is_exact(method: str, n_classes: int) -> bool:
    """Whether the hull is built: as its method says, if the classes are few enough."""
    return method == "hull" and n_classes <= MOST_CLASSES


def influence(rows: SurfaceRows, gamma: FloatArray, pull: FloatArray) -> FloatArray:
    """Return what each row adds to the volume of which its class's share in each point is a part, shape (n,).

    The thresholds are those that are best, so that to first order the volume moves with the points alone. Each row of class k
    adds the pulls of the points on whose side k it lies; a class's mean of that is the volume itself, as it grows with the
    part of each class.
    """
    moved = np.flatnonzero((pull != 0.0).any(axis=1))
    return own_side_sums(rows, gamma[moved], pull[moved])
