"""A page for people: a summary of assessments, and the template that shows it."""

from calibrant._core.public import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
