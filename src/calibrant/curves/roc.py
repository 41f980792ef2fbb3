"""ROC curves: true positive rate against false positive rate, with the convex hull."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from calibrant import drawing
from calibrant._core.arrays import ArrayLike, FloatArray
from calibrant._core.border import DataOptions, as_problem
from calibrant._core.checks import flag, refuse, require, whole
from calibrant._core.result import DrawnResult, Picture, Table, under
from calibrant._core.rows import BoolArray, IntArray, as_simplex
from calibrant.metrics import roc_volume
from calibrant.metrics.roc import RocPanel, each_class, roc_panel, warn_of_one_kind
from calibrant.notions import Notion
from calibrant.sums import Predictions


@dataclass(frozen=True, eq=False)
class RocCurve(DrawnResult):
    """ROC curves of a forecast under a notion: one panel a problem.

    Attributes
    ----------
    panels : tuple of RocPanel
        One for ``binary`` and ``confidence``, one a class for ``class-wise`` and ``top-label``.
    notion : str
        What the events are.
    """

    _table = Table("point", *under("panels", "panel=name", "threshold", "fpr", "tpr", "tnr", "on_hull"))
    _summary = "{notion}, panels={panels:n}, points={panels.threshold:n}, vertices={panels.vertex:n}"
    _picture = Picture("the ROC curves", "curves.roc.plot_roc", takes=("panels", "symmetric", "hull"))

    panels: tuple[RocPanel, ...]
    notion: str


def roc_curve(
    y_true: ArrayLike | Predictions,
    y_prob: ArrayLike | None = None,
    *,
    notion: str | Notion | None = None,
    **data: Unpack[DataOptions],
) -> RocCurve:
    """Receiver operating characteristic (ROC) of each problem of a notion, with its convex hull, ready to plot.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Predictions
        Class labels: integers, strings or booleans; or `predictions` that are read in batches, without ``y_prob``.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    notion : str or Notion, optional
        By default ``"binary"`` for two classes and ``"class-wise"`` for more: each class against the rest.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    RocCurve
        A result with ``panels``, ``to_frame()`` and ``plot()``.

    Warns
    -----
    CalibrationWarning
        If a problem has no events, or nothing else: a rate and both areas are NaN.

    See Also
    --------
    area_under_roc_hull_score : The area under the hull; `assess` has both areas, with intervals.

    Notes
    -----
    There is a point for each distinct score, and one at infinity; ``sklearn.metrics.roc_curve`` gives the same with
    ``drop_intermediate=False``. Equal scores are one step: a slanted line if both kinds of rows share them.

    Points on the hull are the thresholds worth having; between them, two thresholds mixed at random do better than the
    curve. The hull is the ROC curve of the isotonic fit on these rows (Theorem 2.1 of Berta et al.).

    The symmetric ROC curve of the paper (Definition 2.2) has the axes ``tnr``, rows without event below the threshold, and
    ``tpr``: the same curve, mirrored.

    References
    ----------
    Fawcett, An introduction to ROC analysis, Pattern Recognition Letters 2006.
    Berta, Bach, Jordan, Classifier calibration with ROC-regularized isotonic regression, AISTATS 2024.

    Examples
    --------
    >>> from calibrant.curves import roc_curve
    >>> curve = roc_curve([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.8])
    >>> curve
    RocCurve(binary, panels=1, points=5, vertices=4)
    >>> curve.panels[0].auc, curve.panels[0].hull_auc
    (0.75, 0.875)
    """
    problem = as_problem(y_true, y_prob, **data)
    chosen = each_class(notion, problem)
    panels, undefined = [], []
    for binary in chosen.split(problem):
        panels.append(roc_panel(binary, binary.name or chosen.name))
        if np.isnan(panels[-1].auc):
            undefined.append(binary)
    warn_of_one_kind(undefined, "a ROC curve")
    return RocCurve(tuple(panels), chosen.name)


# ROC curves with their convex hulls


LABELS = ("false positive rate", "true positive rate")
SYMMETRIC = ("no event: part below the threshold", "event: part above the threshold")

MOST_MARKS = 60
"""Vertices of a hull that are marked; more of them are a line."""


def _area(area: float) -> str:
    return "undefined" if np.isnan(area) else f"{area:.3f}"


def plot_roc(
    curves: RocCurve | Mapping[str, RocCurve],
    *,
    ax: Any = None,
    panels: Sequence[str] | None = None,
    symmetric: bool = False,
    hull: bool = True,
) -> Any:
    """Draw ROC curves and their convex hulls, with the areas under both.

    Parameters
    ----------
    curves : RocCurve or dict of name to RocCurve
        One forecast, or several over each other. Several must have the same panels.
    ax : matplotlib Axes, optional
        Where to draw a single panel; a new figure by default, with a panel for each problem of the notion.
    panels : sequence of str, optional
        Names of the panels to draw, such as ``"class 3"``; by default all, up to 40.
    symmetric : bool, default=False
        Draw the symmetric ROC curve (SROC): the horizontal axis is turned round, so that both axes count rows that are on
        their own side of the threshold.
    hull : bool, default=True
        Draw the convex hull, dashed, with marks at its vertices.

    Returns
    -------
    matplotlib Axes, or ndarray of Axes for several panels
        What was drawn on.

    Raises
    ------
    ValueError
        If there is no curve, if panels differ or are unknown or too many, or if ``ax`` is given for several.
    TypeError
        If something is no `RocCurve`, or no flag is given where one must stand.

    Examples
    --------
    >>> from calibrant import load_digits_forecast
    >>> from calibrant.curves import roc_curve
    >>> y, prob = load_digits_forecast()
    >>> ax = roc_curve(y == 8, prob[:, 8]).plot(symmetric=True)
    """
    named = drawing.as_named(curves, "curves", "roc_curve(y_true, y_prob)", RocCurve)
    flag("hull", hull)
    labels = SYMMETRIC if flag("symmetric", symmetric) else LABELS

    def path(panel: RocPanel) -> tuple[FloatArray, FloatArray]:
        return (panel.tnr if symmetric else panel.fpr), panel.tpr

    def draw(ax: Any, drawn: Mapping[str, RocPanel], alone: bool) -> None:
        # The line of scores that tell nothing apart
        ax.plot([0, 1], [1, 0] if symmetric else [0, 1], color=drawing.IDEAL, linestyle=":", linewidth=1, zorder=1.5)
        drawing.unit_square(ax, diagonal=None)
        for number, (name, panel) in enumerate(drawn.items()):
            colour, label = drawing.colour(number), name or "forecast"
            area, of_hull = (f": area {_area(one)}" if alone else "" for one in (panel.auc, panel.hull_auc))
            ax.plot(*path(panel), color=colour, linewidth=1.6, label=f"{label}{area}", zorder=3)
            if hull:
                words = f"hull{'' if len(drawn) == 1 else f' of {label}'}{of_hull}"
                marks = (4.0 if alone else 2.5) + 2.0 * (len(drawn) - 1 - number)
                look = {"markersize": marks, "linestyle": drawing.dashes(number, len(drawn))}
                _draw_hull(ax, panel, path(panel), colour, words, look)
        if not alone and len(drawn) == 1:
            words = f"area {_area(panel.auc)}" + (f"\nhull {_area(panel.hull_auc)}" if hull else "")
            x, ha = (0.05, "left") if symmetric else (0.95, "right")
            ax.text(x, 0.06, words, transform=ax.transAxes, ha=ha, va="bottom", fontsize="small", zorder=4)

    return drawing.draw_panels(named, draw, ax=ax, panels=panels, height=4.6, labels=labels)


def _draw_hull(
    ax: Any, panel: RocPanel, path: tuple[FloatArray, FloatArray], colour: str, label: str, look: dict[str, Any]
) -> None:
    """Draw the convex hull of a curve, dashed, and fill what lies between the two."""
    x, y = path
    corner_x, corner_y = x[panel.vertex], y[panel.vertex]
    between = (np.concatenate([x, corner_x[::-1]]), np.concatenate([y, corner_y[::-1]]))
    ax.fill(*between, color=colour, alpha=0.2, linewidth=0, zorder=2)
    look |= {"marker": "o" if corner_x.size <= MOST_MARKS else "", "markerfacecolor": "white"}
    ax.plot(corner_x, corner_y, color=colour, linewidth=1.2, label=label, zorder=3.2, **look)


# The ROC surface of K classes: what share of each class is classified correctly, at all thresholds


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
    _picture = Picture("the surface", "curves.roc.plot_roc_surface", takes=("hull",))

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
        return np.isin(np.arange(len(self.share)), self.facet)


def roc_surface(
    y_true: ArrayLike,
    y_prob: ArrayLike | None = None,
    *,
    thresholds: str | int | ArrayLike = "data",
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
        "data": thresholds that the rows give, of up to five classes. A number m: a grid of step 1 / m on the plane of sum
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
        If there are more than five classes and no thresholds are given, or a grid holds too many.

    Warns
    -----
    CalibrationWarning
        If some class never occurs: there are no points, and the volume is NaN.

    See Also
    --------
    volume_under_surface_score : The volume alone, and the probability, for any number of classes.
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
    steps = roc_volume.require_thresholds(thresholds)
    simplex = as_simplex(as_problem(y_true, y_prob, **data))
    rows = roc_volume.SurfaceRows.of(simplex)
    source = thresholds if isinstance(thresholds, str) else "given" if steps is None else f"grid of step 1/{steps}"
    classes = tuple(str(c) for c in simplex.classes.tolist())
    if not rows.has_all_classes:
        roc_volume.warn_of_absent(rows, "a ROC surface")
        nothing = np.empty((0, rows.n_classes))
        return RocSurface(nothing, nothing, nothing.astype(np.intp), float("nan"), classes, source)
    gamma = roc_volume.as_thresholds(thresholds, n_thresholds, rows)
    share, first = np.unique(roc_volume.surface_points(rows, gamma), axis=0, return_index=True)
    facet, volume = np.empty((0, rows.n_classes), np.intp), float("nan")
    if rows.n_classes <= roc_volume.MOST_CLASSES:
        hull = roc_volume.Hull.of(share)
        facet, volume = hull.facets, hull.volume
    return RocSurface(gamma[first], share, facet, volume, classes, source)


# ROC surfaces of three classes: points in space


VIEW = {"elev": 24.0, "azim": 38.0}
"""From where the corner of what is all right is in front and above."""

TICKS = (0.0, 0.2, 0.4, 0.6, 0.8)
"""Numbers on the two axes on the ground; their ends meet in one corner, where there is no room for both."""

LETTERS = 14
"""Letters of the name of a class: a longer one would stick out."""

SIZES = (5.0, 26.0, 34.0, 42.0)
"""Areas of the dots of each result in points: the first is the ground on which the others stand."""


def plot_roc_surface(results: RocSurface | Mapping[str, RocSurface], *, ax: Any = None, hull: bool = True) -> Any:
    """Draw the points of ROC surfaces of three classes, one over the other: the first as small dots, others as larger ones.

    Parameters
    ----------
    results : RocSurface or dict of name to RocSurface
        One surface, or several of the same classes; the first has the smallest dots.
    ax : matplotlib Axes, optional
        Where to draw, with ``projection="3d"``; a new figure by default.
    hull : bool, default=True
        Draw the convex hull of the first result as a veil.

    Returns
    -------
    matplotlib Axes
        What was drawn on. An axis is the share of a class that is classified correctly.

    Raises
    ------
    ValueError
        If there is no result, if there are not three classes, if classes differ, or if ``ax`` does not suit.
    TypeError
        If something is no surface.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.curves import roc_surface
    >>> P = np.random.default_rng(0).dirichlet([1, 1, 1], 50)
    >>> ax = roc_surface(P.argmax(axis=1), P, thresholds=10).plot()
    """
    import matplotlib.pyplot as plt
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    named = drawing.as_named(results, "results", "roc_surface(y_true, y_prob)", RocSurface)
    classes, *others = dict.fromkeys(result.classes for result in named.values())
    if others:
        refuse("results must be of the same classes", got=f"{classes} and {others[0]}", hint="Draw them apart")
    hint = "Use roc_curve: its panels are the classes, each against the rest"
    require(len(classes) == 3, "a surface is drawn of three classes", value=len(classes), hint=hint)
    if ax is None:
        ax = plt.figure(figsize=(6.2, 5.4)).add_subplot(projection="3d", computed_zorder=False)
        ax.figure.subplots_adjust(left=0.03, right=1.0, bottom=0.04, top=1.0)
        ax.view_init(**VIEW)
    must = "ax must be one with three axes for three classes"
    require(getattr(ax, "name", "") == "3d", must, got="a flat one", hint="Pass projection='3d'")
    first = next(iter(named.values()))
    if hull:
        sides = first.share[first.facet]
        ax.add_collection3d(Poly3DCollection(sides, facecolors=drawing.FILL, edgecolors="none", alpha=0.25, zorder=1))
    for number, (name, result) in enumerate(named.items()):
        size = SIZES[min(number, len(SIZES) - 1)]
        look = {"s": size, "color": drawing.colour(number), "depthshade": False, "zorder": 3 + number}
        look |= {"edgecolors": "white", "linewidths": 0.6} if number else {"linewidths": 0}
        alpha = 0.55 if number == 0 and len(named) > 1 else 1.0
        ax.scatter(*result.share.T, label=name or None, alpha=alpha, **look)
    limits = dict.fromkeys(("xlim", "ylim", "zlim"), (0, 1))
    words = [f"recall of class {drawing.cut(name, LETTERS)}" for name in classes]
    ax.set(**limits, **dict(zip(("xlabel", "ylabel", "zlabel"), words, strict=True)))
    ax.set(xticks=TICKS, yticks=TICKS)
    ax.set_box_aspect((1, 1, 1), zoom=0.92)
    if any(named):
        for dot in ax.legend(loc="upper left", frameon=False).legend_handles:
            dot.set_sizes([SIZES[1]])  # large enough to show its colour
    return ax
