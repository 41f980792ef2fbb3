"""One table of all metrics, advice on which calibrator to fit, and the comparison of forecasts."""

from calibrant._core.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
