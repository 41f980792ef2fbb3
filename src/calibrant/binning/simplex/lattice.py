"""The grid of the simplex: all forecasts that are multiples of a step."""

from __future__ import annotations

from itertools import chain, combinations
from math import comb

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.parameters import refuse

MOST_NUMBERS = 2 * 10**7
"""Numbers of the finest grid that is made: 160 MB."""


def simplex_grid(n_classes: int, steps: int, name: str = "steps") -> FloatArray:
    """Return all forecasts that are multiples of 1 / ``steps``, in the order of their first probabilities, then the next.

    Parameters
    ----------
    n_classes : int
        Number of classes K.
    steps : int
        How often each edge of the simplex is cut.
    name : str, default="steps"
        What the steps are called where they are refused.

    Returns
    -------
    ndarray of shape (n_points, K)
        Forecasts.

    Raises
    ------
    ValueError
        If the grid would hold more than 2e7 numbers.
    """
    places = steps + n_classes - 1
    if (size := comb(places, n_classes - 1) * n_classes) > MOST_NUMBERS:
        refuse(
            f"{name} must make a grid of at most {MOST_NUMBERS} numbers",
            got=f"{steps} steps for {n_classes} classes, which make {size:.3g}",
            hint="Pass fewer",
        )
    # Bars among steps: what lies between two of them is a number of steps.
    bars = np.fromiter(chain.from_iterable(combinations(range(places), n_classes - 1)), dtype=np.int64)
    bars = bars.reshape(size // n_classes, n_classes - 1)
    return (np.diff(bars, axis=1, prepend=-1, append=places) - 1) / steps
