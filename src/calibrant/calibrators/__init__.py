"""Maps that calibrate predicted probabilities, one method a file: scikit-learn estimators whose X is a forecast."""

from calibrant._core.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
