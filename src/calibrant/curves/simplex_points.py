"""Rows of three or four classes as points of the triangle or the tetrahedron, with what they are calibrated to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from calibrant._core.finite_numbers import as_numbers
from calibrant._core.links import FloatArray
from calibrant._core.parameters import refuse, require, source, whole
from calibrant._core.problem import IntArray, SimplexProblem
from calibrant._core.result import DrawnResult, Picture
from calibrant._core.rows import OF_PROBABILITIES
from calibrant._core.table import Table
from calibrant._core.validation import DataOptions, as_forecast, as_problem, as_weights
from calibrant.binning.simplex.lattice import simplex_grid
from calibrant.curves.simplex_map import INSET, mapped_by, name_of
from calibrant.curves.simplex_partition import refuse_unfitted, splits_of

CORNERS = {
    3: np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(3 / 4)]]),
    4: np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.5, np.sqrt(3 / 4), 0.0], [0.5, np.sqrt(1 / 12), np.sqrt(2 / 3)]]),
}
"""Where the certain forecasts of three and of four classes lie; all are 1 apart."""

USUAL_LATTICE = {3: 61, 4: 17}
"""Points along each edge of a lattice: 1891 points of the triangle, 969 of the tetrahedron."""


@dataclass(frozen=True, eq=False)
class SimplexPoints(DrawnResult):
    """Forecasts of K classes, three or four, with the true class and with what they are calibrated to.

    Attributes
    ----------
    prob : ndarray of shape (n_points, K)
        Forecasts.
    label : ndarray of shape (n_points,) or None
        Column of the true class; None of a lattice.
    calibrated : ndarray of shape (n_points, K) or None
        What the forecasts are mapped to; None without a calibrator.
    splits : ndarray of shape (n_splits, K) or None
        Points around which the calibrator split the simplex, in that order; some may lie outside of it. None where it has no
        tree of splits.
    classes : tuple of str
        Names of the classes.
    n_rows : int
        Rows that the points were drawn from, or are all of.
    calibrator : str
        Where the calibrated vectors come from; empty without.
    """

    _table = Table("point", "prob_*", "label?=_label_name", "calibrated_*?")
    _picture = Picture(
        "the points, on the triangle or in the tetrahedron,",
        "simplex_points.plot_simplex_points",
        options="Those of `plot_simplex_points`: ``by``, ``colours``, ``splits``, ``view``.",
        axes="axes",
    )

    prob: FloatArray
    label: IntArray | None
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
    def _label_name(self) -> npt.NDArray[np.str_] | None:
        return None if self.label is None else np.array(self.classes)[self.label]

    def __repr__(self) -> str:
        calibrator = f"{self.calibrator}, " if self.calibrator else ""
        return f"SimplexPoints({calibrator}classes={len(self.classes)}, points={len(self.prob)}, rows={self.n_rows})"


def simplex_points(
    y_true: npt.ArrayLike,
    y_prob: npt.ArrayLike | None = None,
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
        ``sample_weight``, ``labels``, ``input`` and ``rows``: see `DataOptions`. Rows of weight zero are left out; other
        weights change nothing.

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
    most = None if max_points is None else whole("max_points", max_points, least=1, hint="2000 is usual, None is all")
    problem = as_problem(y_true, y_prob, **data)
    if not isinstance(problem, SimplexProblem) or problem.prob.shape[1] not in CORNERS:
        shown = problem.prob.shape[1] if isinstance(problem, SimplexProblem) else 2
        refuse(
            "points are shown of three or four classes",
            given=f"y_prob has {shown}",
            hint="Pass a table of 3 or 4 columns, or use reliability_curve",
        )
    chosen = _drawn(problem.size, most, rng)
    prob, calibrated = problem.prob[chosen], None
    classes = tuple(str(label) for label in problem.classes.tolist())
    name, splits = "", None
    if calibrator is not None and np.ndim(calibrator) == 2:
        kept = as_weights(data.get("sample_weight"), np.size(np.asarray(y_true))).values > 0
        name, calibrated = "given", _given(calibrator, kept, len(classes))[chosen]
    elif calibrator is not None:
        refuse_unfitted(calibrator)
        _require_classes(calibrator, classes)
        name, calibrated, splits = name_of(calibrator), mapped_by(calibrator, prob), splits_of(calibrator)
    return SimplexPoints(
        prob,
        problem.label[chosen],
        None if calibrated is None else calibrated,
        splits,
        classes,
        problem.size,
        name,
    )


def simplex_lattice(calibrator: Any, *, resolution: int | None = None, n_classes: int | None = None) -> SimplexPoints:
    """Lattice of forecasts all over the triangle or the tetrahedron, with what a calibrator maps them to, ready to plot.

    Parameters
    ----------
    calibrator : fitted calibrator or callable
        A calibrator of three or four classes, or a function of a table of shape (n, K) that returns another.
    resolution : int, optional
        Points along each edge, at least 2; by default 61 for three classes and 17 for four.
    n_classes : int, optional
        Classes of a function, 3 or 4, by default 4; of a calibrator they are its own.

    Returns
    -------
    SimplexPoints
        A result without labels: ``prob`` are the multiples of 1 / (resolution - 1) that sum to one, drawn by a thousandth
        toward the middle.

    Raises
    ------
    ValueError
        If there are not three or four classes, if the calibrator gives NaN, or if ``resolution`` is less than 2 or makes a
        lattice of more than 2e7 numbers.
    TypeError
        If it is neither a fitted calibrator nor a function, or a number is not whole.

    Notes
    -----
    It shows the regions of a calibrator of four classes, whose borders cannot be drawn on paper; for three `simplex_partition`
    finds these exactly.

    Examples
    --------
    >>> from calibrant.curves import simplex_lattice
    >>> simplex_lattice(lambda prob: prob, resolution=5)
    SimplexPoints(<lambda>, classes=4, points=35, rows=35)
    """
    refuse_unfitted(calibrator)
    known = 4 if n_classes is None else whole("n_classes", n_classes, least=3, hint="Pass 3 or 4")
    classes = tuple(str(label) for label in np.asarray(getattr(calibrator, "classes_", np.arange(known))).tolist())
    require(
        len(classes) in CORNERS,
        "a lattice is shown of three or four classes",
        given=f"there are {len(classes)}",
        hint="Fit on three or four, or use calibration_map",
    )
    hint = "61 is usual for three classes, 17 for four"
    steps = USUAL_LATTICE[len(classes)] if resolution is None else whole("resolution", resolution, least=2, hint=hint)
    prob = (1.0 - INSET) * simplex_grid(len(classes), steps - 1) + INSET / len(classes)
    calibrated = mapped_by(calibrator, prob)
    return SimplexPoints(prob, None, calibrated, splits_of(calibrator), classes, len(prob), name_of(calibrator))


def _drawn(n: int, most: int | None, rng: np.random.Generator | int | None) -> IntArray:
    """Return the rows to show, in their order."""
    seed = source("rng", rng)
    if most is None or n <= most:
        return np.arange(n)
    return np.sort(np.random.default_rng(seed).choice(n, most, replace=False))


def _given(table: npt.ArrayLike, kept: npt.NDArray[np.bool_], n_classes: int) -> FloatArray:
    """Return calibrated forecasts that were passed as a table, without the rows of weight zero."""
    given = as_numbers("calibrator", table)
    values = as_forecast(given, input="probability", name="calibrator", remedies=OF_PROBABILITIES).prob
    if values.shape != (wanted := (len(kept), n_classes)):
        refuse(
            f"calibrator must be a table of shape {wanted}, as y_prob is",
            value=values.shape,
            hint="Pass one vector a row",
        )
    return np.asarray(values[kept], dtype=np.float64)


def _require_classes(calibrator: Any, classes: tuple[str, ...]) -> None:
    fitted = getattr(calibrator, "classes_", None)
    if fitted is not None and (own := tuple(str(label) for label in np.asarray(fitted).tolist())) != classes:
        refuse(
            f"calibrator must have the classes of the forecast, {', '.join(classes)}",
            got=", ".join(own[:5]),
            hint="Pass labels= in the order of the columns",
        )
