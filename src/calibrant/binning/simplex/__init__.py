"""How the simplex is cut into cells, for statements about the whole forecast and not about one score of it.

A simplex binning is a frozen object of parameters. Called on a problem it gives `Bins`: sums over the rows of each cell.
The cell of a row depends on its forecast alone, so equal forecasts always share a cell and the order of rows never matters.
"""

from calibrant.binning.partition import Partition
from calibrant.binning.simplex.base import SimplexBinning
from calibrant.binning.simplex.by_word import as_simplex_binning
from calibrant.binning.simplex.grid import SimplexGrid
from calibrant.binning.simplex.projection import Projection
from calibrant.binning.simplex.recursive_split import RecursiveSplit
from calibrant.binning.simplex.sierpinski import Sierpinski
from calibrant.binning.simplex.split_tree import SplitTree
from calibrant.binning.simplex.unique import SimplexUnique

__all__ = [
    "Partition",
    "Projection",
    "RecursiveSplit",
    "Sierpinski",
    "SimplexBinning",
    "SimplexGrid",
    "SimplexUnique",
    "SplitTree",
    "as_simplex_binning",
]
