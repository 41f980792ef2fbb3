"""The volume under the ROC surface: of the convex hull of its points and the origin, exactly or by rays that are drawn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog

from calibrant._core.links import FloatArray
from calibrant.metrics.roc.hull import MOST_CLASSES, Hull
from calibrant.metrics.roc.surface import SurfaceRows, own_side_sums


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
        columns, n = points[first].T, first.size
        part, pull = np.empty(n_draws), np.zeros_like(points)
        cost, whole = np.append(np.zeros(n), -1.0), np.append(np.ones(n), 0.0)[None]
        for draw, inside in enumerate(rng.random((n_draws, n_classes))):
            ray = inside / inside.max()
            found = linprog(
                cost,
                A_ub=whole,
                b_ub=[1.0],
                A_eq=np.column_stack([columns, -ray]),
                b_eq=np.zeros(n_classes),
                method="highs-ds",
            )
            part[draw] = min(float(found.x[-1]), 1.0)
            # The prices of the program: a point j that moves by d lets the ray go part_j (prices . d) farther.
            steepness = n_classes * part[draw] ** (n_classes - 1) / n_draws
            pull[first] += steepness * np.outer(found.x[:-1], found.eqlin.marginals)
        return cls(part, pull)


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
