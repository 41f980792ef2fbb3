"""From a number or a word to a binning of the simplex."""

from __future__ import annotations

import numpy as np

from calibrant.binning import of_word
from calibrant.binning.simplex.base import SimplexBinning
from calibrant.binning.simplex.grid import SimplexGrid


def as_simplex_binning(binning: int | str | SimplexBinning) -> SimplexBinning:
    """Return the simplex binning; a number n means ``SimplexGrid(n)``, a word the registered one, "sierpinski-3" of depth 3."""
    if isinstance(binning, SimplexBinning):
        return binning
    if isinstance(binning, str):
        found: SimplexBinning = of_word("simplex-binning", binning)
        return found
    if not isinstance(binning, (int, np.integer)) or isinstance(binning, bool):
        raise TypeError(
            f"binning must be a whole number, a word, or cut the whole simplex; got {binning!r}. "
            "Pass SimplexGrid(5): 5 bins for each class."
        )
    return SimplexGrid(int(binning))
