"""Tests of calibration: a statistic, its distribution under calibration, a p-value and the assumptions."""

from calibrant._core.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
