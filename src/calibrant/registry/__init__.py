"""Metrics, tests, notions, binnings and calibrators by name, and how to register another."""

from calibrant._core.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
