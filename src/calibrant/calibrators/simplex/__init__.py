"""Calibrators of whole rows of probabilities, and the objects that tell `MulticlassRecursivePartitioning` how to split."""

from calibrant.calibrators.simplex.splitting import DataPoints, GridPoints, Mixture, Splits

__all__ = ["DataPoints", "GridPoints", "Mixture", "Splits"]
