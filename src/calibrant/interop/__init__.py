"""Everything that knows another project's name, or a file format."""

from calibrant._core.public import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
