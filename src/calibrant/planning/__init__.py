"""How many rows a question takes: before data are collected, or from a pilot."""

from calibrant._core.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
