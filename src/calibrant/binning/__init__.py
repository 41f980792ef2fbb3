"""How scores are cut into bins. Every bin of the library is (lower, upper], with 0 in the first and 1 in the last.

A binning is a frozen object of parameters. Called on a problem it gives `Bins`: sums over the rows of each bin. The bin of
a row depends on its score alone, so equal scores always share a bin and the order of rows never matters.
"""

from calibrant._core.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
