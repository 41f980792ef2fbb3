"""The convex hull of points of the ROC surface and the origin, exactly: its facets, its volume and what moves it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import factorial

import numpy as np
from scipy.spatial import ConvexHull

from calibrant._core.links import FloatArray
from calibrant._core.problem import IntArray

MOST_CLASSES = 5
"""Up to here the hull is built; the number of its facets grows with the power of half the number of classes."""

THROUGH_ORIGIN = 1e-12
"""A facet nearer to the origin adds no volume."""


@dataclass(frozen=True, eq=False)
class Hull:
    """Facets of a hull that do not go through the origin, each with K points; the volume is that of cones over them.

    Attributes
    ----------
    points : ndarray of shape (m, K)
        The points without the origin.
    facets : ndarray of shape (f, K)
        Numbers of the points of each facet.
    normals : ndarray of shape (f, K)
        Directions outward, of length one.
    """

    points: FloatArray
    facets: IntArray
    normals: FloatArray

    @classmethod
    def of(cls, points: FloatArray) -> Hull:
        """Build the hull of points of a surface; the K corners, each class told alone, are among them."""
        n_classes = points.shape[1]
        # The corners and the origin make a body of full dimension: there are no flat hulls.
        first = np.unique(points, axis=0, return_index=True)[1]
        found = ConvexHull(np.concatenate([points[first], np.zeros((1, n_classes))]))
        outer = found.equations[:, -1] < -THROUGH_ORIGIN
        outer &= (found.simplices < first.size).all(axis=1)
        return cls(points, first[found.simplices[outer]], found.equations[outer, :-1])

    @cached_property
    def parts(self) -> FloatArray:
        """Volume of the cone over each facet."""
        sizes: FloatArray = np.abs(np.linalg.det(self.points[self.facets])) / factorial(self.points.shape[1])
        return sizes

    @property
    def volume(self) -> float:
        """Volume of the hull, in [1 / K!, 1]."""
        return min(float(self.parts.sum()), 1.0)

    @cached_property
    def vertices(self) -> IntArray:
        """Numbers of the points of its facets."""
        return np.unique(self.facets)

    def volume_at(self, points: FloatArray) -> float:
        """Volume within the same facets if their points lay elsewhere; cones that turned over count as negative."""
        there = np.sign(np.linalg.det(self.points[self.facets])) * np.linalg.det(points[self.facets])
        return float(there.sum()) / factorial(points.shape[1])

    @cached_property
    def pull(self) -> FloatArray:
        """By how much the volume grows with each part of each point, shape (m, K)."""
        total = np.zeros_like(self.points)
        solid = self.parts > 0
        corners = self.points[self.facets[solid]]
        # The gradient of a determinant is the determinant times the transposed inverse.
        change = self.parts[solid, None, None] * np.linalg.inv(corners).transpose(0, 2, 1)
        np.add.at(total, self.facets[solid], change)
        return total
