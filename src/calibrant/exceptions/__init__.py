"""The warning of results that are defined, but of less use than they look."""

from calibrant._core.public import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
