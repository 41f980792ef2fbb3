"""Sums: what one reading of the rows leaves behind, and its sampling noise, by draws of labels and of rows.

`scan` reads the rows of a problem, a `Plan` says what is asked for, and `Sums` of batches add up to those of all rows.
"""

from calibrant.sums.reading import Predictions, cells_of, scan, scans
from calibrant.sums.sums import BinnedProblem, BinTable, Plan, RowScore, Sums

__all__ = ["BinTable", "BinnedProblem", "Plan", "Predictions", "RowScore", "Sums", "cells_of", "scan", "scans"]
