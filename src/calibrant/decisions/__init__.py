"""Decisions from calibrated probabilities: when errors differ in cost, and when the shares of the classes change."""

from calibrant._core.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
