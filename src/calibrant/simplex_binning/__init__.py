"""How the simplex is cut into cells, for statements about the whole forecast and not about one score of it.

A simplex binning is a frozen object of parameters. Called on a problem it gives `SimplexBins`: sums over the rows of each cell.
The cell of a row depends on its forecast alone, so equal forecasts always share a cell and the order of rows never matters.
"""

from calibrant.simplex_binning.base import Partition, SimplexBinning, SimplexBins, class_sums, sums_over
from calibrant.simplex_binning.grid import SimplexGrid
from calibrant.simplex_binning.projection import Projection
from calibrant.simplex_binning.recursive_split import RecursiveSplit
from calibrant.simplex_binning.sierpinski import Sierpinski
from calibrant.simplex_binning.split_tree import SplitTree
from calibrant.simplex_binning.unique import SimplexUnique
from calibrant.simplex_binning.words import as_simplex_binning

__all__ = [
    "Partition",
    "Projection",
    "RecursiveSplit",
    "Sierpinski",
    "SimplexBinning",
    "SimplexBins",
    "SimplexGrid",
    "SimplexUnique",
    "SplitTree",
    "as_simplex_binning",
    "class_sums",
    "sums_over",
]
