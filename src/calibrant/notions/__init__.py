"""A notion turns a multiclass forecast into weighted binary problems, and back.

A notion says only one thing: which `Part`s a forecast has. A part is a column of scores: for the rows ``rows`` the
probability of the class ``column``. Splitting, shares and merging follow from the parts, for every notion alike.
"""

from calibrant._core.public import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
