"""Pictures of results, with matplotlib. They draw what a result holds and compute nothing."""

from calibrant._core.public import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
