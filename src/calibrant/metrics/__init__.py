"""Metrics: how far predicted probabilities are from the outcomes."""

from calibrant._core.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
