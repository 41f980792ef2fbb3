from .bins import as_binning as as_binning
from .bins import Binning as Binning
from .bins import Bins as Bins
from .bins import class_sums as class_sums
from .bins import Edges as Edges
from .bins import EqualMass as EqualMass
from .bins import EqualWidth as EqualWidth
from .bins import FineGrid as FineGrid
from .bins import locate as locate
from .bins import of_word as of_word
from .bins import OrderedBinning as OrderedBinning
from .bins import Partition as Partition
from .bins import PointsPerBin as PointsPerBin
from .bins import sums_over as sums_over
from .bins import Unique as Unique
from .cells import Projection as Projection
from .cells import RecursiveSplit as RecursiveSplit
from .cells import Sierpinski as Sierpinski
from .cells import SimplexBinning as SimplexBinning
from .cells import SimplexGrid as SimplexGrid
from .cells import SimplexUnique as SimplexUnique
from .cells import SplitTree as SplitTree
from .isotonic import BoundedIsotonic as BoundedIsotonic
from .isotonic import Isotonic as Isotonic
from .isotonic import MonotonicSweep as MonotonicSweep

__all__ = [
    "Binning",
    "Bins",
    "BoundedIsotonic",
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
