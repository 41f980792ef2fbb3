"""One number a row of a table: the column of the highest entry, one entry, the sum of squares, the logarithm of a sum.

Tables are read in blocks, so that nothing as large as the table is made on the way; numbers come out in double precision.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from calibrant._core.links import FloatArray
from calibrant._core.loading import FEWEST, are_loaded
from calibrant._core.one_pass import blocks

IntArray = npt.NDArray[np.intp]

FEW = 40
"""Columns up to which a compiled loop finds the highest entry of a row sooner than NumPy, which is made for long rows."""


def top_column(values: FloatArray) -> IntArray:
    """Return the column of the highest entry of each row; of equal ones the first."""
    n, n_classes = values.shape
    if n_classes == 2:
        return (values[:, 1] > values[:, 0]).astype(np.intp)
    top: IntArray
    if n_classes < FEW and values.flags.carray and are_loaded() and values.size >= FEWEST:
        from calibrant._kernels.binned import top_columns

        top = np.empty(n, dtype=np.intp)
        top_columns(values, top)
    else:
        top = values.argmax(axis=1)
    return top


def entry(values: FloatArray, column: IntArray) -> FloatArray:
    """Return one entry of each row: that of the column of this number."""
    if values.flags.c_contiguous:
        at = np.arange(0, values.size, values.shape[1])
        at += column
        return values.ravel().take(at).astype(np.float64, copy=False)
    return values[np.arange(len(values)), column].astype(np.float64, copy=False)


def sum_of_squares(values: FloatArray) -> FloatArray:
    """Return the sum of the squares of each row."""
    if values.shape[1] == 2:
        first, second = values.T.astype(np.float64, copy=False)
        squares: FloatArray = first * first + second * second
        return squares
    sums = np.empty(len(values))
    for rows in blocks(*values.shape):
        block = values[rows].astype(np.float64, copy=False)
        np.einsum("ij,ij->i", block, block, out=sums[rows])
    return sums


def log_losses(logit: FloatArray, column: IntArray) -> FloatArray:
    """Return minus the logarithm of the probability that the logits of each row give to a column; nothing is clipped."""
    losses = -entry(logit, column)
    for rows in blocks(*logit.shape):
        block = logit[rows]
        highest = block.max(axis=1)
        losses[rows] += highest  # first, so that a loss near zero keeps its digits
        losses[rows] += np.log(np.exp(block - highest[:, None]).sum(axis=1))
    return losses
