"""What there is by its words, and how to add to it."""

from calibrant._core.public import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
