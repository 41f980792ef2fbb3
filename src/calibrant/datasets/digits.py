"""A forecast of handwritten digits, made by an over-confident network."""

from __future__ import annotations

from importlib.resources import files

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.problem import IntArray

DIGITS = files("calibrant") / "_data" / "digits_forecast.csv"
"""The embedded file: ``digit`` is the truth, ``p_0`` to ``p_9`` are the probabilities."""


def load_digits_forecast() -> tuple[IntArray, FloatArray]:
    """Load an over-confident forecast of handwritten digits, made by a small neural network.

    Returns
    -------
    y_true : ndarray of shape (1497,)
        The digits, 0 to 9.
    y_prob : ndarray of shape (1497, 10)
        The network's probabilities.

    References
    ----------
    Alpaydin, Kaynak, Optical recognition of handwritten digits, UCI Machine Learning Repository 1998 (CC BY 4.0).

    Examples
    --------
    >>> from calibrant import load_digits_forecast
    >>> y, prob = load_digits_forecast()
    >>> prob.shape
    (1497, 10)
    """
    with DIGITS.open() as lines:
        table = np.loadtxt(lines, delimiter=",", skiprows=1)
    return table[:, 0].astype(np.intp), table[:, 1:]
