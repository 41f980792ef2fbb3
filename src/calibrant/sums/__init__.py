"""Sums: what one reading of the rows leaves behind, and its sampling noise, by draws of labels and of rows.

`scan` reads the rows of a problem, a `Plan` says what is asked for, and `Sums` of batches add up to those of all rows.
"""

from calibrant.sums.plan import Plan, RowScore
from calibrant.sums.predictions import Predictions
from calibrant.sums.scan import cells_of, scan, scans
from calibrant.sums.sums import BinnedProblem, Sums

__all__ = ["BinnedProblem", "Plan", "Predictions", "RowScore", "Sums", "cells_of", "scan", "scans"]
