"""How scores are cut into bins. Every bin of the library is (lower, upper], with 0 in the first and 1 in the last.

A binning is a frozen object of parameters. Called on a problem it gives `Bins`: sums over the rows of each bin. The bin of
a row depends on its score alone, so equal scores always share a bin and the order of rows never matters.
"""

from calibrant.binning.base import Binning, Bins, OrderedBinning, locate, sums_over
from calibrant.binning.bounded_isotonic import BoundedIsotonic
from calibrant.binning.cross_validated import CrossValidatedBins
from calibrant.binning.equal_mass import EqualMass
from calibrant.binning.equal_width import EqualWidth
from calibrant.binning.isotonic import Isotonic
from calibrant.binning.monotonic_sweep import MonotonicSweep
from calibrant.binning.points_per_bin import PointsPerBin
from calibrant.binning.unique import Unique
from calibrant.binning.words import as_binning, of_word

__all__ = [
    "Binning",
    "Bins",
    "BoundedIsotonic",
    "CrossValidatedBins",
    "EqualMass",
    "EqualWidth",
    "Isotonic",
    "MonotonicSweep",
    "OrderedBinning",
    "PointsPerBin",
    "Unique",
    "as_binning",
    "locate",
    "of_word",
    "sums_over",
]
