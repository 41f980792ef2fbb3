"""Measure, test and calibrate the predicted probabilities of classifiers.

The names that most people need stand here, all others in the packages `metrics`, `significance`, `calibrators`, `curves`,
`assessment`, `decisions`, `planning`, `monitoring`, `report`, `notions`, `binning`, `interop`, `registry`, `datasets` and
`exceptions`. Each loads when it is first used.
"""

from calibrant._core.lazy import attach

__version__ = "0.1.0"
__getattr__, __dir__, __all__ = attach(__name__, __file__)
