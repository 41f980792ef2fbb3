"""Calibration over time: sums by window, and sequential tests that may be looked at every day."""

from calibrant._core.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
