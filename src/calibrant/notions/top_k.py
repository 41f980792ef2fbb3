"""The classes that a forecast ranks highest, and their probabilities."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.parameters import require, whole
from calibrant._core.problem import IntArray
from calibrant._core.registry import declare
from calibrant.notions.base import Notion, Part
from calibrant.notions.grouped import rows_by_group

FEW = 8
"""Ranks up to which the highest is looked for again and again; beyond it rows are sorted."""

CHUNK = 1 << 12
"""Rows ranked at a time."""


def top_labels(prob: FloatArray, k: int) -> IntArray:
    """Columns of the k highest probabilities of each row, shape (n, k), highest first; of equal ones the first column."""
    ranked: IntArray = np.empty((len(prob), k), dtype=np.intp)
    for start in range(0, len(prob), CHUNK):
        rows = prob[start : start + CHUNK]
        ranked[start : start + CHUNK] = _picked(rows, k) if k <= FEW else _sorted(rows)[:, :k]
    return ranked


def _picked(prob: FloatArray, k: int) -> IntArray:
    left, rows = prob.copy(), np.arange(len(prob))
    picked: IntArray = np.empty((len(prob), k), dtype=np.intp)
    for rank in range(k):
        picked[:, rank] = left.argmax(axis=1)
        left[rows, picked[:, rank]] = -1.0  # below every probability
    return picked


def _sorted(prob: FloatArray) -> IntArray:
    # The stable sort is several times slower than the other one: it is for rows that hold equal probabilities.
    order: IntArray = np.argsort(-prob, axis=1)
    ranked = np.take_along_axis(prob, order, axis=1)
    tied = (ranked[:, 1:] == ranked[:, :-1]).any(axis=1)
    order[tied] = np.argsort(-prob[tied], axis=1, kind="stable")
    return order


@dataclass(frozen=True, repr=True)
class TopK(Notion):
    """A notion of the k highest probabilities of each row; ``what`` is the last part of its name."""

    of_predictions: ClassVar[bool] = True
    what: ClassVar[str]

    k: int | None = None

    @property
    def name(self) -> str:
        """The word, with its number."""
        return f"top-{'k' if self.k is None else self.k}-{self.what}"

    def __post_init__(self) -> None:
        if self.k is not None:
            hint = "Pass how many ranks are spoken of, or leave it out for all classes"
            object.__setattr__(self, "k", whole("k", self.k, least=1, hint=hint))

    def parts_a_row(self, n_classes: int) -> int:
        """Every row stands in one part a rank."""
        return n_classes if self.k is None else self.k

    def _ranked(self, prob: FloatArray) -> IntArray:
        n_classes = prob.shape[1]
        require(
            self.k is None or self.k <= n_classes,
            f"k of notion 'top-k-{self.what}' must be at most the number of classes, {n_classes}",
            value=self.k,
            hint=f"Pass 1 to {n_classes}, or leave it out for all classes",
        )
        return top_labels(prob, self.parts_a_row(n_classes))


@declare("notion", "top-k-confidence", symbol="top-K-conf", source="K. Gupta et al. 2021")
@dataclass(frozen=True, repr=True)
class TopKConfidence(TopK):
    """The k-th highest probability of each row, and whether the class that has it is the true one: a problem a rank.

    Each rank has an equal share. Of equal probabilities the first column ranks higher, so that with ``k=1`` it is the notion
    ``"confidence"``. In a word: ``"top-3-confidence"``.

    Parameters
    ----------
    k : int, optional
        Number of ranks, at most the number of classes. By default all classes.

    References
    ----------
    Gupta, Rahimi, Ajanthan, Mensink, Sminchisescu, Hartley, Calibration of neural networks using splines, ICLR 2021.

    Examples
    --------
    >>> from calibrant import calibration_error
    >>> from calibrant.notions import TopKConfidence
    >>> P = [[0.8, 0.15, 0.05], [0.2, 0.7, 0.1], [0.3, 0.2, 0.5]]
    >>> round(calibration_error([0, 1, 0], P, notion=TopKConfidence(2), binning=1), 3)
    0.058
    """

    what: ClassVar[str] = "confidence"

    def parts(self, prob: FloatArray, names: tuple[str, ...] | None = None) -> Iterator[Part]:
        """One part a rank: the probability of that rank in every row."""
        for rank, column in enumerate(self._ranked(prob).T, start=1):
            yield Part(slice(None), column, f"rank {rank}")


@declare("notion", "top-k-label", symbol="top-K-TL", source="Gupta and Ramdas 2022, Table 1")
@dataclass(frozen=True, repr=True)
class TopKLabel(TopK):
    """The k-th highest probability, given which class has it: one problem for each rank and class.

    Each rank has an equal share, and in it each class its share of the rows. Of equal probabilities the first column ranks
    higher, so that with ``k=1`` it is the notion ``"top-label"``. In a word: ``"top-3-label"``.

    Parameters
    ----------
    k : int, optional
        Number of ranks, at most the number of classes. By default all classes.

    References
    ----------
    Gupta, Ramdas, Top-label calibration and multiclass-to-binary reductions, ICLR 2022.

    Examples
    --------
    >>> from calibrant import calibration_error
    >>> from calibrant.notions import TopKLabel
    >>> P = [[0.8, 0.15, 0.05], [0.2, 0.7, 0.1], [0.3, 0.2, 0.5]]
    >>> round(calibration_error([0, 1, 0], P, notion=TopKLabel(2), binning=1), 3)
    0.275
    """

    what: ClassVar[str] = "label"

    def parts(self, prob: FloatArray, names: tuple[str, ...] | None = None) -> Iterator[Part]:
        """K parts a rank: the rows in which class j has it, with the probability of j."""
        n_classes = prob.shape[1]
        for rank, column in enumerate(self._ranked(prob).T, start=1):
            for j, rows in enumerate(rows_by_group(column, n_classes)):
                yield Part(rows, j, f"rank {rank}, predicted {names[j] if names else j}")
