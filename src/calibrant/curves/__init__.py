"""The data behind a diagram, as results that plot themselves."""

from calibrant._core.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
