"""Tests of calibration: a statistic, its law if the forecast were calibrated, a p-value, and what was assumed."""

from calibrant._core.public import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
