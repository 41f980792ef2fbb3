"""From a number or a word to a binning of the simplex."""

from __future__ import annotations

from calibrant._core.arrays import is_whole
from calibrant._core.parameters import require
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
    require(
        is_whole(binning),
        "binning must be a whole number, a word, or cut the whole simplex",
        value=binning,
        hint="Pass SimplexGrid(5): 5 bins for each class",
        error=TypeError,
    )
    return SimplexGrid(int(binning))
