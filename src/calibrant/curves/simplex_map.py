"""The map of a calibrator of three classes, all over the simplex."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._core.links import FloatArray, log_prob_of_prob
from calibrant._core.parameters import refuse, require, whole
from calibrant._core.result import DrawnResult, Picture
from calibrant._core.table import Table
from calibrant.binning.simplex.lattice import simplex_grid

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
        "simplex_map.plot_simplex_map",
        options=(
            "``norm``, a Normalize of matplotlib, says which changes the colours span, so that several pictures "
            "can be compared."
        ),
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
    labels = getattr(calibrator, "classes_", np.arange(3))
    require(
        len(labels) == 3,
        "a triangle shows three classes",
        given=f"the calibrator has {len(labels)}",
        hint="Fit it on three, or use calibration_map",
    )
    return tuple(str(label) for label in np.asarray(labels).tolist())


def mapped_by(calibrator: Any, prob: FloatArray) -> FloatArray:
    """Return what a calibrator or a function makes of forecasts."""
    if hasattr(calibrator, "predict_proba"):
        calibrated = calibrator.predict_proba(as_fitted(calibrator, prob))
    elif callable(calibrator):
        calibrated = calibrator(prob)
    else:
        refuse(
            "calibrator must be a fitted calibrator or a function",
            value=calibrator,
            hint="Pass one of these",
            error=TypeError,
        )
    table = np.asarray(calibrated, dtype=np.float64)
    require(
        table.shape == prob.shape,
        f"the map must give a table of shape {prob.shape}",
        value=table.shape,
        hint=f"Pass a map of {prob.shape[1]} classes",
    )
    if not np.isfinite(table).all():
        row = int(np.flatnonzero(~np.isfinite(table).all(axis=1))[0])
        refuse(
            "the map must give finite numbers",
            got=f"{table[row].tolist()} for {prob[row].tolist()}",
            hint="Correct the map there",
        )
    return table


def as_fitted(calibrator: Any, prob: FloatArray) -> FloatArray:
    """Return forecasts as the calibrator was given them: as logits if it was fitted on logits."""
    return log_prob_of_prob(prob) if getattr(calibrator, "input", "probability") == "logit" else prob


def name_of(calibrator: Any) -> str:
    """Return the name of a function, or what a calibrator says of itself."""
    return str(getattr(calibrator, "__name__", " ".join(repr(calibrator).split())))
