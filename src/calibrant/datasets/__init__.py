"""Forecasts to try things on: loaded ones, and made ones whose truth is known in closed form."""

from calibrant._core.public import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
