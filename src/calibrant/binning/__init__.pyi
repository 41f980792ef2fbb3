from .base import Binning as Binning
from .base import Bins as Bins
from .bounded_isotonic import BoundedIsotonic as BoundedIsotonic
from .cross_validated import CrossValidatedBins as CrossValidatedBins
from .equal_mass import EqualMass as EqualMass
from .equal_width import EqualWidth as EqualWidth
from .fine_grid import FineGrid as FineGrid
from .isotonic import Isotonic as Isotonic
from .monotonic_sweep import MonotonicSweep as MonotonicSweep
from .partition import Partition as Partition
from .points_per_bin import PointsPerBin as PointsPerBin
from .simplex.base import SimplexBinning as SimplexBinning
from .simplex.grid import SimplexGrid as SimplexGrid
from .simplex.projection import Projection as Projection
from .simplex.recursive_split import RecursiveSplit as RecursiveSplit
from .simplex.sierpinski import Sierpinski as Sierpinski
from .simplex.split_tree import SplitTree as SplitTree
from .simplex.unique import SimplexUnique as SimplexUnique
from .unique import Unique as Unique

# For the library itself.
from .base import OrderedBinning as OrderedBinning
from .base import class_sums as class_sums
from .base import sums_over as sums_over
from .partition import Edges as Edges
from .partition import locate as locate
from .by_word import as_binning as as_binning
from .by_word import of_word as of_word

__all__ = [
    "Binning",
    "Bins",
    "BoundedIsotonic",
    "CrossValidatedBins",
    "EqualMass",
    "EqualWidth",
    "FineGrid",
    "Isotonic",
    "MonotonicSweep",
    "Partition",
    "PointsPerBin",
    "Projection",
    "RecursiveSplit",
    "Sierpinski",
    "SimplexBinning",
    "SimplexGrid",
    "SimplexUnique",
    "SplitTree",
    "Unique",
]
