"""Colours of vectors of three or four probabilities: mixtures of the colours of the corners."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from calibrant import drawing
from calibrant._core.arrays import FloatArray, log_prob_of_prob
from calibrant._core.checks import refuse, require, whole
from calibrant._core.result import DrawnResult, Picture, Table
from calibrant._core.rows import IntArray
from calibrant.binning.cells import SimplexBinning, simplex_grid

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
        "curves.simplex_partition.plot_simplex_map",
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
