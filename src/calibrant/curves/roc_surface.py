"""The ROC surface of K classes: what share of each class is classified correctly, at all thresholds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from calibrant._core.links import FloatArray
from calibrant._core.parameters import whole
from calibrant._core.problem import BoolArray, IntArray, as_simplex
from calibrant._core.result import DrawnResult, Picture
from calibrant._core.table import Table
from calibrant._core.validation import DataOptions, as_problem
from calibrant.metrics.roc.hull import MOST_CLASSES, Hull
from calibrant.metrics.roc.surface import SurfaceRows, surface_points, warn_of_absent
from calibrant.metrics.roc.thresholds import as_thresholds, is_grid


@dataclass(frozen=True, eq=False)
class RocSurface(DrawnResult):
    """Points of the ROC surface, each with one of the thresholds that lead to it.

    Attributes
    ----------
    gamma : ndarray of shape (n_points, n_classes)
        Thresholds of sum one. Row p is assigned to the class k where p_k - gamma_k is largest, the first of equal ones.
    share : ndarray of shape (n_points, n_classes)
        What share of each class is classified correctly: distinct points, in the order of their shares.
    facet : ndarray of shape (n_facets, n_classes)
        The numbers of the points of each facet of the convex hull; none of more than five classes.
    volume : float
        Volume of the convex hull of the points and the origin; NaN of more than five classes, see `volume_under_surface_score`.
    classes : tuple of str
        Names of the classes.
    thresholds : str
        Where the thresholds come from.
    """

    _table = Table("point", "gamma_*", "share_*", "on_hull")
    _summary = "classes={classes:n}, points={share:n}, volume={volume:.4g}"
    _picture = Picture("the surface", "roc_surface.plot_roc_surface", options="Those of `plot_roc_surface`: ``hull``.")

    gamma: FloatArray
    share: FloatArray
    facet: IntArray
    volume: float
    classes: tuple[str, ...]
    thresholds: str

    @property
    def on_hull(self) -> BoolArray:
        """Whether each point is a corner of the hull.

        Returns
        -------
        ndarray of shape (n_points,)
            Booleans.
        """
        found = np.zeros(len(self.share), dtype=bool)
        found[self.facet.ravel()] = True
        return found


def roc_surface(
    y_true: npt.ArrayLike,
    y_prob: npt.ArrayLike | None = None,
    *,
    thresholds: str | int | npt.ArrayLike = "data",
    n_thresholds: int = 2000,
    **data: Unpack[DataOptions],
) -> RocSurface:
    """ROC surface of K classes: the share of each class that is classified correctly, at many thresholds, ready to plot.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    thresholds : "data", int or array-like of shape (m, n_classes), default="data"
        "data": thresholds that the rows give, of up to eight classes. A number m: a grid of step 1 / m on the plane of sum
        one, which reaches beyond the simplex; 1000, 100 and 30 are the grids of the paper's figures of two, three and four
        classes. Or thresholds themselves. Those far outside that tell each class alone are always added.
    n_thresholds : int, default=2000
        Most thresholds of "data"; of two classes all distinct scores are taken.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    RocSurface
        A result with ``gamma``, ``share``, ``volume``, ``to_frame()`` and ``plot()``.

    Raises
    ------
    ValueError
        If there are more than eight classes and no thresholds are given, or a grid holds too many.

    Warns
    -----
    CalibrationWarning
        If some class never occurs: there are no points, and the volume is NaN.

    See Also
    --------
    volume_under_surface_score : The volume alone, for any number of classes, and other volumes.
    roc_curve : Of one class against the rest.

    Notes
    -----
    Row p is assigned to the class where p_k - gamma_k is largest (Definition 3.1 of Berta et al.). Of two classes this is the
    ROC curve, with the share of the other class that is classified correctly in place of false alarms.

    The borders p_a - p_b = gamma_a - gamma_b of the rows cut the plane of thresholds into cells of one point each. "data"
    takes the corners of all cells where they are no more than ``n_thresholds``: then no point is missing. Else it draws
    half as many of them, and moves those on the convex hull outward, one part of gamma after the other, as long as there is
    something to be had. On 500 rows of three classes 500 such thresholds enclose 0.7627, the 28 407 of the grid of step
    1/100 enclose 0.7607, and all cells 0.7631; 2000 middles of two rows no more than 0.74.

    References
    ----------
    Berta, Bach, Jordan, Classifier calibration with ROC-regularized isotonic regression, AISTATS 2024.

    Examples
    --------
    >>> from calibrant.curves import roc_surface
    >>> P = [[0.7, 0.2, 0.1], [0.5, 0.3, 0.2], [0.2, 0.6, 0.2], [0.4, 0.4, 0.2], [0.1, 0.3, 0.6], [0.3, 0.5, 0.2]]
    >>> roc_surface([0, 0, 1, 1, 2, 2], P)
    RocSurface(classes=3, points=18, volume=0.875)
    """
    whole("n_thresholds", n_thresholds, least=1, hint="2000 is usual")
    simplex = as_simplex(as_problem(y_true, y_prob, **data))
    rows, source = SurfaceRows.of(simplex), _source(thresholds)
    classes = tuple(str(c) for c in simplex.classes.tolist())
    if not rows.has_all_classes:
        warn_of_absent(rows, "a ROC surface")
        nothing = np.empty((0, rows.n_classes))
        return RocSurface(nothing, nothing, nothing.astype(np.intp), float("nan"), classes, source)
    gamma = as_thresholds(thresholds, n_thresholds, rows)
    share, first = np.unique(surface_points(rows, gamma), axis=0, return_index=True)
    facet, volume = np.empty((0, rows.n_classes), np.intp), float("nan")
    if rows.n_classes <= MOST_CLASSES:
        hull = Hull.of(share)
        facet, volume = hull.facets, hull.volume
    return RocSurface(gamma[first], share, facet, volume, classes, source)


def _source(thresholds: Any) -> str:
    if isinstance(thresholds, str):
        return thresholds
    return f"grid of step 1/{thresholds}" if is_grid(thresholds) else "given"
