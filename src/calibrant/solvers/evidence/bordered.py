"""A preconditioner for one softmax after another near the same weights: blocks of the classes, bordered by shared features.

Blocks alone leave two kinds of directions in which conjugate gradients are slow. Features of a row that all classes weigh alike
change no probability: there A is the ridge alone, known without a product. And what the shared features say, the classes
together nearly say as well: the true border of the Hessian eliminates it, by a small Schur complement.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri

from calibrant._core.links import FloatArray
from calibrant.solvers.evidence.class_blocks import ClassBlocks

PARTS = (1.0, 0.5, 0.25, 0.1, 1e-9)
"""Parts of the inverse of the blocks, tried one after the other until the Schur complement is positive. The Hessian of the
classes is at most twice its blocks, so that the half is nearly always enough."""

LEAST = 0.02
"""Part of the diagonal that must be left in the factor of a Schur complement, squared, for it to count as positive."""


class Bordered:
    """The preconditioner, for features of rows that are the same for all classes.

    Parameters
    ----------
    blocks : ClassBlocks
        Those of the classes, with the ridge.
    of_shared : ndarray of shape (S, S)
        Block of the shared features.
    border : ndarray of shape (S, K F)
        Blocks of the shared features with those of the classes.
    ridge : ndarray of shape (S + K F,)
        What is added to the diagonal.
    """

    def __init__(self, blocks: ClassBlocks, of_shared: FloatArray, border: FloatArray, ridge: FloatArray) -> None:
        n_shared = len(of_shared)
        self.blocks, self.ridge = blocks, ridge[n_shared:].reshape(blocks.inverse_diagonal.shape)
        self.total = self.ridge.sum(axis=0)
        own = np.stack([self._of_classes(line) for line in border])
        whole, both = of_shared + np.diag(ridge[:n_shared]), border @ own.T
        for self.part in PARTS:
            factor, failed = dpotrf(whole - 0.5 * self.part * (both + both.T), lower=1, clean=1)
            if not failed and (factor.diagonal() ** 2 >= LEAST * whole.diagonal()).all():
                break
        inverse = dpotri(factor, lower=1)[0]
        self.inverse, self.own = inverse + np.tril(inverse, -1).T, self.part * own

    def solved(self, right: FloatArray) -> FloatArray:
        """Return about the solution for a right-hand side, shape (S + K F,)."""
        n_shared = len(self.inverse)
        shared = self.inverse @ (right[:n_shared] - self.own @ right[n_shared:])
        return np.append(shared, self.part * self._of_classes(right[n_shared:]) - shared @ self.own)

    def _of_classes(self, right: FloatArray) -> FloatArray:
        """Return about the solution for the weights of the classes, exact where all weigh a feature of a row alike."""
        table = right.reshape(self.ridge.shape)
        alike = table.sum(axis=0) / self.total
        solution = self.blocks.solved(table - self.ridge * alike)
        left = alike - np.einsum("kf,kf->f", self.ridge, solution) / self.total
        result: FloatArray = (solution + left).ravel()
        return result
