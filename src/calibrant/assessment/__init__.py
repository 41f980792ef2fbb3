"""One table of all metrics, and advice on which calibrator to fit."""

from calibrant._core.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
