from calibrant.binning.bins import Binning as Binning
from calibrant.binning.bins import Bins as Bins
from calibrant.binning.isotonic import BoundedIsotonic as BoundedIsotonic
from calibrant.binning.bins import CrossValidatedBins as CrossValidatedBins
from calibrant.binning.bins import EqualMass as EqualMass
from calibrant.binning.bins import EqualWidth as EqualWidth
from calibrant.binning.bins import FineGrid as FineGrid
from .isotonic import Isotonic as Isotonic
from calibrant.binning.isotonic import MonotonicSweep as MonotonicSweep
from calibrant.binning.bins import Partition as Partition
from calibrant.binning.bins import PointsPerBin as PointsPerBin
from calibrant.binning.cells import SimplexBinning as SimplexBinning
from calibrant.binning.cells import SimplexGrid as SimplexGrid
from calibrant.binning.cells import Projection as Projection
from calibrant.binning.cells import RecursiveSplit as RecursiveSplit
from calibrant.binning.cells import Sierpinski as Sierpinski
from calibrant.binning.cells import SplitTree as SplitTree
from calibrant.binning.cells import SimplexUnique as SimplexUnique
from calibrant.binning.bins import Unique as Unique

# For the library itself.
from calibrant.binning.bins import OrderedBinning as OrderedBinning
from calibrant.binning.bins import class_sums as class_sums
from calibrant.binning.bins import sums_over as sums_over
from calibrant.binning.bins import Edges as Edges
from calibrant.binning.bins import locate as locate
from calibrant.binning.bins import as_binning as as_binning
from calibrant.binning.bins import of_word as of_word

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
