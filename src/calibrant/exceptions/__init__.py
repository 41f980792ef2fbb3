"""The warning by which calibrant says that a result is of less use than it looks."""

from calibrant._core.public import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
