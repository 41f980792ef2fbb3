"""Probabilities of three or four classes as colours, mixtures of those of the corners; partitions of the simplex into cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal, Unpack

import numpy as np

from calibrant import drawing
from calibrant._core.arrays import ArrayLike, FloatArray, NDArray, log_prob_of_prob
from calibrant._core.border import DataOptions, as_forecast, as_problem, as_weights
from calibrant._core.checks import as_numbers, choice, flag, refuse, require, source, whole
from calibrant._core.result import DrawnResult, Picture, Table
from calibrant._core.rows import OF_PROBABILITIES, BoolArray, IntArray, as_simplex
from calibrant.binning.cells import SimplexBinning, simplex_grid
from calibrant.sums.draws import drawn_places

# The simplex of three classes in small triangles


def small_triangles(resolution: int) -> tuple[FloatArray, IntArray, IntArray]:
    """Cut the simplex into ``resolution ** 2`` equal triangles.

    Returns the vertices; for each triangle the numbers of its three vertices; and for each side that two triangles share the
    numbers of these triangles and of the two vertices at its ends.
    """
    n = resolution
    i, j = np.indices((n + 1, n + 1))
    number = np.full((n + 1, n + 1), -1, dtype=np.intp)
    number[i + j <= n] = np.arange((n + 1) * (n + 2) // 2)
    vertex_i, vertex_j = i[i + j <= n], j[i + j <= n]
    up_i, up_j = i[i + j <= n - 1], j[i + j <= n - 1]
    up = np.column_stack([number[up_i + 1, up_j], number[up_i, up_j + 1], number[up_i, up_j]])
    up_number = np.full((n + 1, n + 1), -1, dtype=np.intp)
    up_number[up_i, up_j] = np.arange(up_i.size)
    # A triangle that points down shares each of its sides with one that points up.
    i_, j_ = i[i + j <= n - 2], j[i + j <= n - 2]
    down = np.column_stack([number[i_ + 1, j_ + 1], number[i_ + 1, j_], number[i_, j_ + 1]])
    own = up_i.size + np.arange(i_.size)
    beside = ((up_number[i_ + 1, j_], 0, 1), (up_number[i_, j_ + 1], 0, 2), (up_number[i_, j_], 1, 2))
    sides = [np.column_stack([own, other, down[:, a], down[:, b]]) for other, a, b in beside]
    vertex: FloatArray = np.column_stack([vertex_i, vertex_j, n - vertex_i - vertex_j]) / n
    return vertex, np.vstack([up, down]), np.vstack(sides)


# The map of a calibrator of three classes, all over the simplex


INSET = 1e-3
"""How far the grid is drawn toward the middle: at a probability of exactly zero, logarithms say nothing of the map."""


@dataclass(frozen=True, eq=False)
class SimplexMap(DrawnResult):
    """Forecasts of three classes on a triangular grid, and what they are mapped to.

    Attributes
    ----------
    prob : ndarray of shape (n_points, 3)
        The grid: multiples of 1 / (resolution - 1) that sum to one, drawn by a thousandth toward the middle.
    calibrated : ndarray of shape (n_points, 3)
        What they are mapped to.
    classes : tuple of str
        Names of the classes.
    calibrator : str
        Where the figures come from.
    """

    _table = Table("point of the grid", "prob_*", "calibrated_*")
    _summary = "{calibrator}, points={prob:n}"
    _picture = Picture(
        "the change of each class as a heat map",
        "curves.simplex.plot_simplex_map",
        options="``norm``, a Normalize of matplotlib, says which changes the colours span: one for several pictures.",
        axes="axes",
    )

    prob: FloatArray
    calibrated: FloatArray
    classes: tuple[str, ...]
    calibrator: str

    @property
    def change(self) -> FloatArray:
        """Calibrated minus uncalibrated probability of each class; rows sum to zero.

        Returns
        -------
        ndarray of shape (n_points, 3)
            Positive where the calibrator raises a probability.
        """
        return np.asarray(self.calibrated - self.prob, dtype=np.float64)


def simplex_map(calibrator: Any, *, resolution: int = 61) -> SimplexMap:
    """Map of a fitted calibrator of three classes on a triangular grid over the simplex.

    Parameters
    ----------
    calibrator : fitted calibrator or callable
        A calibrator of three classes, or a function of a table of shape (n, 3) that returns another.
    resolution : int, default=61
        Points along each side, at least 2.

    Returns
    -------
    SimplexMap
        A result with ``prob``, ``calibrated``, ``change``, ``to_frame()`` and ``plot()``.

    Raises
    ------
    ValueError
        If the calibrator is one of another number of classes or gives NaN, or ``resolution`` is less than 2.
    TypeError
        If it is neither a fitted calibrator nor a function, or ``resolution`` is not whole.

    Notes
    -----
    A calibrator that was fitted on logits gets the logarithms of the grid.

    Examples
    --------
    >>> from calibrant.curves import simplex_map
    >>> simplex_map(lambda prob: prob, resolution=11)
    SimplexMap(<lambda>, points=66)
    """
    whole("resolution", resolution, least=2, hint="61 is usual")
    classes = three_classes(calibrator)
    prob = (1.0 - INSET) * simplex_grid(3, resolution - 1) + INSET / 3.0
    return SimplexMap(prob, mapped_by(calibrator, prob), classes, name_of(calibrator))


def three_classes(calibrator: Any) -> tuple[str, ...]:
    """Return the names of the classes of a calibrator, which must be three; numbers of a function."""
    require_map(calibrator)
    classes = classes_of(calibrator, range(3))
    given, hint = f"the calibrator has {len(classes)}", "Fit it on three, or use calibration_map"
    require(len(classes) == 3, "a triangle shows three classes", given=given, hint=hint)
    return classes


def classes_of(calibrator: Any, others: Sequence[Any]) -> tuple[str, ...]:
    """Return the names of the classes of a calibrator; those of a function are others."""
    return tuple(str(label) for label in np.asarray(getattr(calibrator, "classes_", others)).tolist())


def require_map(calibrator: Any) -> None:
    """Refuse what maps no forecast, a binning and the class of a calibrator among it."""
    fits = hasattr(calibrator, "predict_proba") or callable(calibrator)
    must = "calibrator must be a fitted calibrator or a function"
    hint = "Pass one of these; a binning within CanonicalBinning(binning).fit(y_prob, y_true)"
    no_map = isinstance(calibrator, (type, SimplexBinning))
    require(fits and not no_map, must, value=calibrator, hint=hint, error=TypeError)


def mapped_by(calibrator: Any, prob: FloatArray) -> FloatArray:
    """Return what a calibrator or a function makes of forecasts."""
    function = getattr(calibrator, "predict_proba", calibrator)
    table = np.asarray(function(as_fitted(calibrator, prob)), dtype=np.float64)
    must, hint = f"the map must give a table of shape {prob.shape}", f"Pass a map of {prob.shape[1]} classes"
    require(table.shape == prob.shape, must, value=table.shape, hint=hint)
    if (bad := ~np.isfinite(table).all(axis=1)).any():
        got = f"{table[bad][0].tolist()} for {prob[bad][0].tolist()}"
        refuse("the map must give finite numbers", got=got, hint="Correct the map there")
    return table


def as_fitted(calibrator: Any, prob: FloatArray) -> FloatArray:
    """Return forecasts as the calibrator was given them: as logits if it was fitted on logits."""
    return log_prob_of_prob(prob) if getattr(calibrator, "input", "probability") == "logit" else prob


def name_of(calibrator: Any) -> str:
    """Return the name of a function, or what a calibrator says of itself."""
    return str(getattr(calibrator, "__name__", " ".join(repr(calibrator).split())))


Colours = Literal["safe", "rgb"]

CERTAIN: dict[Colours, tuple[str, ...]] = {"safe": drawing.CERTAIN, "rgb": drawing.RGB}
"""Colours of the certain forecasts."""

GAMMA = 2.2
"""Power by which the numbers of a colour become light."""

TO_CONES = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
).T
TO_SEEN = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
).T
"""From light to what the cones of an eye take in, and from the cube root of that to what is seen (Ottosson's OKLab)."""


def mixed(vectors: FloatArray, colours: Colours = "safe") -> FloatArray:
    """Mix the colours of the corners: red, green and blue of each vector of probabilities, in [0, 1].

    Safe colours are mixed as they are seen: half way between two colours is half way to the eye, neither darker nor grey.
    """
    certain = np.array([list(bytes.fromhex(colour[1:])) for colour in CERTAIN[colours][: vectors.shape[1]]]) / 255.0
    if colours == "rgb":
        return np.clip(vectors @ certain, 0.0, 1.0)
    seen = vectors @ (np.cbrt(certain**GAMMA @ TO_CONES) @ TO_SEEN)
    light = (seen @ np.linalg.inv(TO_SEEN)) ** 3 @ np.linalg.inv(TO_CONES)
    return np.asarray(np.clip(light, 0.0, 1.0) ** (1.0 / GAMMA))


@dataclass(frozen=True, eq=False)
class SimplexPartition(DrawnResult):
    """The triangle of three classes in small triangles, each with its cell and its calibrated vector.

    Attributes
    ----------
    prob : ndarray of shape (resolution ** 2, 3)
        Forecasts all over the simplex, each the middle of a small triangle.
    calibrated : ndarray of shape (resolution ** 2, 3)
        What they are mapped to.
    cell : ndarray of shape (resolution ** 2,) or None
        The number of the cell that each is in, from 0, or -1 where the calibrator saw no row; None of a calibrator without
        cells.
    count : ndarray of shape (n_cells,) or None
        Number of rows that each cell was fitted on; None of a calibrator without cells.
    classes : tuple of str
        Names of the classes.
    calibrator : str
        Where the figures come from.
    splits : ndarray of shape (n_splits, 3) or None
        Points around which the simplex was split, in that order; some may lie outside of it. None of a calibrator without a
        tree of splits.
    """

    _table = Table("small triangle", "prob_*", "calibrated_*", "cell?")
    _picture = Picture(
        "the cells, coloured by their calibrated vectors,",
        "curves.simplex.plot_simplex_partition",
        takes=("text", "colours", "splits"),
        axes="axes",
    )

    prob: FloatArray
    calibrated: FloatArray
    cell: IntArray | None
    count: IntArray | None
    classes: tuple[str, ...]
    calibrator: str
    splits: FloatArray | None = None

    @property
    def is_empty(self) -> BoolArray:
        """Whether the calibrator saw no row in the cell of each small triangle; never, of a calibrator without cells.

        Returns
        -------
        ndarray of shape (resolution ** 2,)
            Booleans.
        """
        if self.cell is None or self.count is None:
            return np.zeros(len(self.prob), dtype=bool)
        return np.append(self.count == 0, True)[self.cell]  # one more at the end answers for -1

    def __repr__(self) -> str:
        cells = "" if self.cell is None else f", cells={len(np.unique(self.cell[self.cell >= 0]))}"
        return f"SimplexPartition({self.calibrator}{cells}, triangles={len(self.prob)})"


def simplex_partition(calibrator: Any, *, resolution: int = 240) -> SimplexPartition:
    """The cells of a fitted calibrator of three classes all over the simplex, with their calibrated vectors, ready to plot.

    Parameters
    ----------
    calibrator : fitted calibrator or callable
        A calibrator of three classes, or a function of a table of shape (n, 3) that returns another. One with cells, such as
        `CanonicalBinning`, is shown with their borders; of others, as of temperature scaling, the calibrated vector alone.
    resolution : int, default=240
        Small triangles along each side, at least 2. Borders run along their sides; smaller cells may be missed.

    Returns
    -------
    SimplexPartition
        A result with ``calibrated``, ``cell``, ``to_frame()`` and ``plot()``.

    Raises
    ------
    ValueError
        If the calibrator is one of another number of classes, or ``resolution`` is less than 2.
    TypeError
        If it is neither a fitted calibrator nor a function, or ``resolution`` is not whole.

    Notes
    -----
    The middle of a small triangle stands for all of it. A calibrator that was fitted on logits gets the logarithms.

    References
    ----------
    Gupta, Ramdas, Top-label calibration and multiclass-to-binary reductions, ICLR 2022, Appendix G.

    Examples
    --------
    >>> from calibrant.curves import simplex_partition
    >>> simplex_partition(lambda prob: prob, resolution=10)
    SimplexPartition(<lambda>, triangles=100)
    """
    whole("resolution", resolution, least=2, most=10_000, hint="240 is usual, which 2, 3, 4, 5 and 8 divide")
    classes = three_classes(calibrator)
    vertex, triangle, _ = small_triangles(resolution)
    prob, cell, count = vertex[triangle].mean(axis=1), None, None
    if hasattr(calibrator, "cells"):
        cell = np.asarray(calibrator.cells(as_fitted(calibrator, prob)), dtype=np.intp)
        count = None if calibrator.count_ is None else np.asarray(calibrator.count_)
    calibrated, name = mapped_by(calibrator, prob), name_of(calibrator)
    return SimplexPartition(prob, calibrated, cell, count, classes, name, splits_of(calibrator))


def splits_of(calibrator: Any) -> FloatArray | None:
    """Return the points around which a calibrator, or the partition that it bins by, splits the simplex, if it does."""
    return getattr(getattr(calibrator, "tree_", getattr(calibrator, "partition_", None)), "gamma", None)


# Rows of three or four classes as points of the triangle or the tetrahedron, with what they are calibrated to


CORNERS = {
    3: np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(3 / 4)]]),
    4: np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.5, np.sqrt(3 / 4), 0.0], [0.5, np.sqrt(1 / 12), np.sqrt(2 / 3)]]),
}
"""Where the certain forecasts of three and of four classes lie; all are 1 apart."""


@dataclass(frozen=True, eq=False)
class SimplexPoints(DrawnResult):
    """Forecasts of K classes, three or four, with the true class and with what they are calibrated to.

    Attributes
    ----------
    prob : ndarray of shape (n_points, K)
        Forecasts.
    label : ndarray of shape (n_points,)
        Column of the true class.
    calibrated : ndarray of shape (n_points, K) or None
        What the forecasts are mapped to; None without a calibrator.
    splits : ndarray of shape (n_splits, K) or None
        Points around which the calibrator split the simplex, in that order; some may lie outside of it. None where it has no
        tree of splits.
    classes : tuple of str
        Names of the classes.
    n_rows : int
        Rows that the points were drawn from, or are all of; of whole weights the rows that they stand for.
    calibrator : str
        Where the calibrated vectors come from; empty without.
    """

    _table = Table("point", "prob_*", "label=_label_name", "calibrated_*?")
    _picture = Picture(
        "the points, on the triangle or in the tetrahedron,",
        "curves.simplex.plot_simplex_points",
        takes=("colours", "splits", "view"),
        axes="axes",
    )

    prob: FloatArray
    label: IntArray
    calibrated: FloatArray | None
    splits: FloatArray | None
    classes: tuple[str, ...]
    n_rows: int
    calibrator: str

    @property
    def place(self) -> FloatArray:
        """Where the points lie: barycentric coordinates among corners that are 1 apart.

        Returns
        -------
        ndarray of shape (n_points, K - 1)
            In the plane for three classes, in space for four.
        """
        return np.asarray(self.prob @ CORNERS[len(self.classes)], dtype=np.float64)

    @property
    def _label_name(self) -> NDArray[np.str_]:
        return np.array(self.classes)[self.label]

    def __repr__(self) -> str:
        calibrator = f"{self.calibrator}, " if self.calibrator else ""
        return f"SimplexPoints({calibrator}classes={len(self.classes)}, points={len(self.prob)}, rows={self.n_rows})"


def simplex_points(
    y_true: ArrayLike,
    y_prob: ArrayLike | None = None,
    calibrator: Any = None,
    *,
    max_points: int | None = 2000,
    rng: np.random.Generator | int | None = 0,
    **data: Unpack[DataOptions],
) -> SimplexPoints:
    """The rows of three or four classes as points of the simplex, with labels and calibrated vectors, ready to plot.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples, K)
        Probabilities, rows sum to one; K is 3 or 4.
    calibrator : fitted calibrator, callable, or array-like of shape (n_samples, K), optional
        What maps the forecasts, or the calibrated forecasts themselves. One with a tree of splits, such as
        `MulticlassRecursivePartitioning`, shows the points that it splits around.
    max_points : int or None, default=2000
        Of more rows so many are drawn at random, each as likely as any other; None shows them all.
    rng : Generator, int or None, default=0
        Source of that draw.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``input`` and ``rows``: see `DataOptions`. A whole weight is a number of equal rows;
        fractional weights change nothing, but that rows of weight zero are left out.

    Returns
    -------
    SimplexPoints
        A result with ``prob``, ``label``, ``calibrated``, ``place``, ``to_frame()`` and ``plot()``.

    Raises
    ------
    ValueError
        If there are not three or four classes, if those of the calibrator are others or it gives NaN, or if ``max_points`` is
        less than 1.
    TypeError
        If ``calibrator`` is none of the above, or a parameter is of another type.

    Notes
    -----
    A calibrator that was fitted on logits gets the logarithms of the probabilities.

    Examples
    --------
    >>> from calibrant.curves import simplex_points
    >>> points = simplex_points([0, 2], [[0.6, 0.3, 0.1], [0.2, 0.2, 0.6]])
    >>> points
    SimplexPoints(classes=3, points=2, rows=2)
    >>> points.place.round(3).tolist()
    [[0.35, 0.087], [0.5, 0.52]]
    """
    seed, hint = source("rng", rng), "2000 is usual, None is all"
    most = np.inf if max_points is None else whole("max_points", max_points, least=1, hint=hint)
    problem = as_simplex(as_problem(y_true, y_prob, **data))
    n_columns = problem.classes.size
    must, hint = "points are shown of three or four classes", "Pass a table of 3 or 4 columns, or use reliability_curve"
    require(n_columns in CORNERS, must, given=f"y_prob has {n_columns}", hint=hint)
    n = problem.weights.n_rows
    drawn = np.arange(n) if n <= most else drawn_places(n, int(most), np.random.default_rng(seed))
    chosen = np.searchsorted(np.cumsum(problem.weights.times), np.sort(drawn), side="right")
    prob, classes = problem.prob[chosen], tuple(str(label) for label in problem.classes.tolist())
    calibrated, splits, name = None, None, ""
    if calibrator is not None and np.ndim(calibrator) == 2:
        kept = as_weights(data.get("sample_weight"), np.size(np.asarray(y_true))).values > 0
        name, calibrated = "given", _given(calibrator, kept, len(classes))[chosen]
    elif calibrator is not None:
        require_map(calibrator)
        own = classes_of(calibrator, classes)
        must, hint = "calibrator must have the classes of the forecast", "Pass labels= in the order of the columns"
        require(own == classes, f"{must}, {', '.join(classes)}", got=", ".join(own[:5]), hint=hint)
        name = name_of(calibrator)
        calibrated = mapped_by(calibrator, prob)
        splits = splits_of(calibrator)
    return SimplexPoints(prob, problem.label[chosen], calibrated, splits, classes, n, name)


def _given(table: ArrayLike, kept: NDArray[np.bool_], n_classes: int) -> FloatArray:
    """Return calibrated forecasts that were passed as a table, without the rows of weight zero."""
    given = as_numbers("calibrator", table)
    values = as_forecast(given, input="probability", name="calibrator", remedies=OF_PROBABILITIES).prob
    must = f"calibrator must be a table of shape {(len(kept), n_classes)}, as y_prob is"
    require(values.shape == (len(kept), n_classes), must, value=values.shape, hint="Pass one vector a row")
    return np.asarray(values[kept], dtype=np.float64)


# The triangle of three classes that pictures lie on: its frame, its corners, and the points that it was split around


TRIANGLE = CORNERS[3]

OF_A_NUMBER = 0.06
"""Room that a number in its circle takes, in sides of the triangle."""

SPACE_TO_PLANE = 8.0
"""About how many sides of the triangle there are in a unit of the projection of the tetrahedron."""

DOT = {"marker": "o", "markersize": 3, "markerfacecolor": "white", "markeredgecolor": "black", "markeredgewidth": 0.6}
"""A split whose number would cover another."""

CORNER = {"markersize": 7.0, "markeredgecolor": "black", "markeredgewidth": 0.7}
"""A certain forecast."""

AWAY = 7.0
"""Points from a corner to its name, above or below."""

BESIDE, ABOVE = 14, 18
"""Letters of a line that names a corner: of one beside another, and of the one that stands alone above."""


def draw_frame(ax: Any, classes: Sequence[str], colours: Sequence[str], *, markers: Sequence[str] = "ooo") -> None:
    """Draw the sides of the triangle, and each corner in the colour of its class with its name."""
    ax.plot(*np.vstack([TRIANGLE, TRIANGLE[:1]]).T, color="black", linewidth=1, solid_joinstyle="round", zorder=2)
    corners = zip(classes, TRIANGLE, colours, markers, (True, True, False), strict=False)
    for name, at, colour, marker, below in corners:
        # Below points: certain forecasts lie here.
        ax.plot(*at[:, None], marker=marker, color=colour, zorder=2.5, **CORNER)
        side = {"ha": "center", "va": "top" if below else "bottom", "textcoords": "offset points", "parse_math": False}
        words = drawing.cut(name, BESIDE, lines=2) if below else drawing.cut(name, ABOVE)
        away = -AWAY if below else AWAY
        ax.annotate(words, tuple(at), (0, away), **side)
    ax.set(aspect="equal", xlim=(-0.05, 1.05), ylim=(-0.14, TRIANGLE[2, 1] + 0.12))
    ax.set_axis_off()


def draw_splits(ax: Any, splits: FloatArray) -> str:
    """Draw the points that were split around, each with its number in the order of splitting, or as a dot beside another.

    Returns what must be said of those that lie outside, where nothing is drawn.
    """
    inside = {number: gamma for number, gamma in enumerate(splits, start=1) if (gamma >= 0).all()}
    numbered: list[FloatArray] = []
    circle = {"boxstyle": "circle,pad=0.18", "facecolor": "white", "edgecolor": "black", "linewidth": 0.6}
    look = {"fontsize": 5.5, "ha": "center", "va": "center_baseline", "color": "black", "bbox": circle, "zorder": 5}
    for number, gamma in inside.items():
        place = gamma @ CORNERS[len(gamma)]
        if any(np.hypot(*(seen_from(ax, place) - seen_from(ax, other))) < OF_A_NUMBER for other in numbered):
            ax.plot(*place[:, None], **DOT)
        else:
            numbered.append(place)
            ax.text(*place, str(number), **look)
    left_out = len(splits) - len(inside)
    shape = "triangle" if splits.shape[1] == 3 else "tetrahedron"
    return f"{left_out} of {len(splits)} splitting points lie outside the {shape}" if left_out else ""


def seen_from(ax: Any, place: FloatArray) -> FloatArray:
    """Return where a place is seen on the page, but for scale: that of a point in space depends on the view."""
    if place.size == 2:
        return place
    from mpl_toolkits.mplot3d.proj3d import proj_transform

    return np.array(proj_transform(*place, ax.get_proj())[:2]) * SPACE_TO_PLANE


def say_below(ax: Any, sentences: Sequence[str]) -> None:
    """Write what there is to say below the picture, in small letters."""
    if words := "\n".join(filter(None, sentences)):
        look = {"ha": "center", "va": "top", "fontsize": "x-small", "color": drawing.IDEAL}
        ax.annotate(words, (0.5, 0.0), xycoords="axes fraction", **look)


# Heat maps on the triangle of three classes


def plot_simplex_map(result: SimplexMap, *, axes: Any = None, norm: Any = None) -> Any:
    """Draw where a calibrator raises and where it lowers the probability of each class, one triangle a class.

    Parameters
    ----------
    result : SimplexMap
        Of one calibrator.
    axes : sequence of three matplotlib Axes, optional
        Where to draw; a new figure by default.
    norm : matplotlib Normalize, optional
        Which changes the colours span, in all three triangles; pass one norm to several pictures that are to be compared. By
        default from minus to plus the largest change, in equal steps.

    Returns
    -------
    ndarray of matplotlib Axes
        One a class. The black line is where the probability of the class stays as it is.

    Raises
    ------
    ValueError
        If ``axes`` are not three.

    Examples
    --------
    >>> from calibrant.curves import simplex_map
    >>> axes = simplex_map(lambda prob: prob**2 / (prob**2).sum(axis=1, keepdims=True)).plot()
    """
    from matplotlib.colors import Normalize

    axes = drawing.axes_in_a_row(axes, 3, "three, one a class", (9.6, 3.1))
    x, y = (result.prob @ TRIANGLE).T
    most = float(np.abs(result.change).max()) or 1.0
    scale = Normalize(-most, most) if norm is None else norm
    for j, ax in enumerate(axes):
        change = result.change[:, j]
        heat = ax.tripcolor(x, y, change, cmap=drawing.CHANGE, norm=scale, shading="gouraud")
        if change.min() < 0 < change.max():
            ax.tricontour(x, y, change, levels=[0.0], colors="black", linewidths=1)
        ax.plot(*np.vstack([TRIANGLE, TRIANGLE[:1]]).T, color=drawing.IDEAL, linewidth=1)
        for name, (corner_x, corner_y), side in zip(result.classes, TRIANGLE, ("top", "top", "bottom"), strict=True):
            words, away = (
                (drawing.cut(name, ABOVE), 0.03) if side == "bottom" else (drawing.cut(name, BESIDE, lines=2), -0.03)
            )
            ax.text(corner_x, corner_y + away, words, ha="center", va=side, parse_math=False)
        ax.set_title(f"class {drawing.cut(result.classes[j], ABOVE)}", fontsize="medium", pad=4, parse_math=False)
        ax.set(aspect="equal", xlim=(-0.05, 1.05), ylim=(-0.12, TRIANGLE[2, 1] + 0.1))
        ax.set_axis_off()
    axes[0].figure.colorbar(heat, ax=list(axes), label="change of probability", shrink=0.85)
    return axes


# Rows of three or four classes on the triangle or in the tetrahedron, coloured by label and by calibrated vector


SIZES = (26.0, 3.0)
"""Area of a point in square points: the most, and the least, which thousands of them have."""

BELOW = 9
"""Letters of a line that names a corner of the tetrahedron that is not above: two are near the edge of the picture."""

REACH = 0.41
"""How far the box about the tetrahedron reaches from its middle: matplotlib leaves wide margins about it."""


def plot_simplex_points(
    results: SimplexPoints | Mapping[str, SimplexPoints],
    *,
    axes: Any = None,
    colours: Colours = "safe",
    splits: bool = True,
    view: tuple[float, float] = drawing.VIEW,
) -> Any:
    """Draw rows where their forecasts lie, in the colours of their labels, and beside in those of their calibrated vectors.

    Parameters
    ----------
    results : SimplexPoints or dict of name to SimplexPoints
        One set of rows, or several side by side.
    axes : matplotlib Axes or sequence of them, optional
        Where to draw, one for each picture, in space (``projection="3d"``) for four classes; a new figure by default.
    colours : {"safe", "rgb"}, default="safe"
        Colours of the corners, which vectors mix: those that people with any colour vision can tell apart, or red, green and
        blue in the parts of the first three probabilities.
    splits : bool, default=True
        Beside calibrated vectors, number the points that the calibrator split the simplex around, in that order. Those that
        lie outside of the simplex are counted below.
    view : tuple of two float, default=(24, -42)
        Height and turn, in degrees, from which the tetrahedron is seen.

    Returns
    -------
    matplotlib Axes, or ndarray of Axes for several pictures
        What was drawn on. A place is a forecast. A label is shown by colour and marker, those of its corner. Long names of
        classes are cut.

    Raises
    ------
    ValueError
        If there is no result, if ``axes`` are not as many as pictures or not in space where they must be, or if ``colours`` is
        none of the words above.
    TypeError
        If something is no `SimplexPoints`.

    Examples
    --------
    >>> from calibrant.curves import simplex_points
    >>> ax = simplex_points([0, 2], [[0.6, 0.3, 0.1], [0.2, 0.2, 0.6]]).plot()
    """
    named = drawing.as_named(results, "results", "simplex_points(y_true, y_prob)", SimplexPoints)
    choice("colours", colours, CERTAIN)
    flag("splits", splits)
    pictures = [
        (name, points, vectors)
        for name, points in named.items()
        for vectors in (None, points.calibrated)[: 1 if points.calibrated is None else 2]
    ]
    given = _axes_of_points(axes, [len(points.classes) - 1 for _, points, _ in pictures])
    for ax, (name, points, vectors) in zip(given, pictures, strict=True):
        _draw_points(ax, points, vectors, colours, view)
        drawn = points.n_rows > len(points.prob)
        below = [f"{len(points.prob)} of {points.n_rows} rows, drawn at random"] if drawn else []
        if splits and vectors is not None and points.splits is not None:
            below.append(draw_splits(ax, points.splits))
        say_below(ax, below)
        words = "labels" if vectors is None else "calibrated vectors"
        ax.set_title(", ".join(filter(None, [name, words])), fontsize="medium", pad=4, parse_math=False)
    return given[0] if len(pictures) == 1 else given


def _axes_of_points(axes: Any, dimensions: list[int]) -> Any:
    """Return the Axes that are given, which must fit the pictures, or those of a new figure."""
    n, size = len(dimensions), (3.6 * len(dimensions) + 0.2, 3.5)
    if axes is None:
        import matplotlib.pyplot as plt

        figure = plt.figure(figsize=size, layout="constrained")
        kinds = enumerate(("3d" if d == 3 else None for d in dimensions), start=1)
        return np.array([figure.add_subplot(1, n, j, projection=kind) for j, kind in kinds])
    given = drawing.axes_in_a_row(axes, n, "one for each picture", size)
    for ax, d in zip(given, dimensions, strict=True):
        must = f"axes must be {'with projection=' + repr('3d') if d == 3 else 'in the plane'} for {d + 1} classes"
        require((getattr(ax, "name", "") == "3d") == (d == 3), must, value=ax, hint="Leave axes out, or make them so")
    return given


def _draw_points(
    ax: Any, points: SimplexPoints, vectors: FloatArray | None, colours: Colours, view: tuple[float, float]
) -> None:
    n_classes = len(points.classes)
    certain, markers = CERTAIN[colours][:n_classes], ["o"] * n_classes
    size = float(np.clip(6000.0 / max(len(points.prob), 1), SIZES[1], SIZES[0]))
    style: dict[str, Any] = {"s": size, "edgecolors": "black", "linewidths": 0.25, "zorder": 3}
    if n_classes == 4:
        style["depthshade"] = False  # a colour is a vector: paler, it would be another
    if vectors is not None:
        ax.scatter(*points.place.T, c=mixed(vectors, colours), **style)
    else:
        markers = [drawing.marker(j) for j in range(n_classes)]
        for j, name in enumerate(points.classes):
            look = {"color": certain[j], "marker": markers[j], "label": name, **style}
            ax.scatter(*points.place[points.label == j].T, **look)
    if n_classes == 3:
        draw_frame(ax, points.classes, certain, markers=markers)
    else:
        _draw_solid(ax, points.classes, certain, markers, view)


def _draw_solid(
    ax: Any, classes: Sequence[str], colours: Sequence[str], markers: Sequence[str], view: tuple[float, float]
) -> None:
    """Draw the edges of the tetrahedron, and each corner in the colour of its class with its name."""
    from matplotlib.transforms import offset_copy

    corners, (height, turn) = CORNERS[4], np.radians(view)
    middle = corners.mean(axis=0)
    upward = np.array([-np.sin(height) * np.cos(turn), -np.sin(height) * np.sin(turn), np.cos(height)])
    ax.view_init(*view)
    for one, other in combinations(corners, 2):
        ax.plot(*np.column_stack([one, other]), color=drawing.IDEAL, linewidth=0.9, zorder=2)
    for name, corner, colour, marker in zip(classes, corners, colours, markers, strict=True):
        ax.plot(*corner[:, None], marker=marker, color=colour, **CORNER)
        above = bool((corner - middle) @ upward > 0)
        moved = offset_copy(ax.transData, fig=ax.figure, y=AWAY if above else -AWAY, units="points")
        style = {"ha": "center", "va": "bottom" if above else "top", "parse_math": False, "transform": moved}
        ax.text(*corner, drawing.cut(name, ABOVE) if above else drawing.cut(name, BELOW, lines=2), **style)
    for axis, centre in zip("xyz", np.add(middle, (0.0, 0.0, 0.07)), strict=True):
        ax.set(**{f"{axis}lim": (centre - REACH, centre + REACH)})
    ax.set_box_aspect((1, 1, 1))
    ax.set_axis_off()


# Cells on the triangle of three classes, coloured by their calibrated vectors


ROOM, ROOM_OF_A_DIGIT = 0.024, 0.0115
"""Cells with less room about their middles, in sides of the triangle, stay without a number; and what each digit takes."""


def plot_simplex_partition(
    results: SimplexPartition | Mapping[str, SimplexPartition],
    *,
    axes: Any = None,
    text: Literal["count"] | None = None,
    colours: Colours | Literal["plain"] = "safe",
    splits: bool = True,
) -> Any:
    """Draw the cells of a calibrator on the triangle of three classes, each in the colour of its calibrated vector.

    Parameters
    ----------
    results : SimplexPartition or dict of name to SimplexPartition
        One calibrator, or several side by side.
    axes : matplotlib Axes or sequence of them, optional
        Where to draw, one for each result; a new figure by default.
    text : {"count"}, optional
        Write into each cell that has room the number of rows that it was fitted on.
    colours : {"safe", "rgb", "plain"}, default="safe"
        Colours of the corners, which vectors mix: those that people with any colour vision can tell apart, or red, green and
        blue in the parts of the three probabilities. Plain cells are white.
    splits : bool, default=True
        Number the points that the calibrator split the simplex around, in that order, where it has a tree of splits. Those
        that lie outside of the triangle are counted below; the borders that they make are drawn.

    Returns
    -------
    matplotlib Axes, or ndarray of Axes for several results
        What was drawn on. A place is a forecast before calibration, its colour is the vector after. The vector mixes the
        colours of the corners. Cells without rows are white; their vector is the uniform one, 1/3 each. Long names of classes
        are cut.

    Raises
    ------
    ValueError
        If there is no result, if ``axes`` are not as many as results, or if ``text`` or ``colours`` is none of the words above.
    TypeError
        If something is no partition, such as a calibrator itself.

    Examples
    --------
    >>> from calibrant.curves import simplex_partition
    >>> ax = simplex_partition(lambda prob: prob, resolution=24).plot()
    """
    named = drawing.as_named(results, "results", "simplex_partition(calibrator)", SimplexPartition)
    if text is not None:
        choice("text", text, ("count",), also=" or None")
    choice("colours", colours, (*CERTAIN, "plain"))
    flag("splits", splits)
    palette: Colours | None = None if colours == "plain" else colours
    given = drawing.axes_in_a_row(axes, len(named), "one for each result", (3.6 * len(named) + 0.4, 3.5))
    for ax, (name, result) in zip(given, named.items(), strict=True):
        _draw_partition(ax, result, palette, numbers=text is not None)
        if splits and result.splits is not None:
            say_below(ax, [draw_splits(ax, result.splits)])
        ax.set_title(name, fontsize="medium", pad=4, parse_math=False)
    return given[0] if len(named) == 1 else given


def _draw_partition(ax: Any, result: SimplexPartition, colours: Colours | None, *, numbers: bool) -> None:
    from matplotlib.collections import LineCollection, PolyCollection

    vertex, triangle, sides = small_triangles(round(len(result.prob) ** 0.5))
    place = vertex @ TRIANGLE
    if colours is not None:
        seen = np.where(result.is_empty[:, None], 1.0, mixed(result.calibrated, colours))
        # Smoothed edges would let the background through between neighbours; thousands of paths would make a heavy vector file.
        look: dict[str, Any] = {"facecolors": seen, "edgecolors": "none", "antialiaseds": False, "rasterized": True}
        ax.add_collection(PolyCollection(place[triangle], **look))
        if result.is_empty.any():
            look = {"ha": "center", "va": "top", "fontsize": "x-small", "color": drawing.IDEAL}
            ax.text(0.5, -0.06, "white: no rows, 1/3 each", **look)
    draw_frame(ax, result.classes, ["white"] * 3 if colours is None else CERTAIN[colours])
    if result.cell is None:
        return
    one, other = result.cell[sides[:, :2]].T
    ends = sides[one != other, 2:]
    # Each vertex at the mean of the middles of its sides: a straight border is no staircase.
    smooth = np.zeros(place.shape)
    np.add.at(smooth, ends, place[ends].mean(axis=1)[:, None])
    border = smooth[ends] / np.bincount(ends.ravel(), minlength=len(place))[ends][..., None]
    for colour, width in (("white", 1.6), ("black", 0.7)):  # seen on dark cells and on light ones
        ax.add_collection(LineCollection(list(border), colors=colour, linewidths=width, capstyle="round", zorder=1.5))
    if not numbers or result.count is None:
        return
    for cell in np.unique(result.cell[result.cell >= 0]).tolist():
        middle, word = result.prob[result.cell == cell].mean(axis=0), str(result.count[cell])
        walls = np.append(np.hypot(*(border.mean(axis=1) - middle @ TRIANGLE).T), middle.min() * TRIANGLE[2, 1])
        if walls.min() > max(ROOM, ROOM_OF_A_DIGIT * len(word)):
            look = {"ha": "center", "va": "center", "fontsize": "x-small", "zorder": 3}
            drawing.outline(ax.text(*(middle @ TRIANGLE), word, **look))
