"""Numbers that say how far a forecast is from the outcomes."""

from calibrant._core.public import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
