"""Files, data frames and other packages: what reads, writes and converts."""

from calibrant._core.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
