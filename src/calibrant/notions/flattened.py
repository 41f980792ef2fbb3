"""All classes pooled into one problem."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.registry import declare
from calibrant.notions.base import Notion, Part


@declare("notion", "flattened", symbol="F", source="Patel et al. 2021; Zhang et al. 2020")
class Flattened(Notion):
    """The probability of every class in every row, and whether it is the true class: one problem of n times K scores.

    It forgets which class a score belongs to: a calibrator of it maps the scores of all classes alike. With isotonic
    regression that is flattened isotonic regression (FIR).
    """

    name = "flattened"

    def parts(self, prob: FloatArray, names: tuple[str, ...] | None = None) -> Iterator[Part]:
        """One part: the whole table, row by row."""
        n, n_classes = prob.shape
        yield Part(np.repeat(np.arange(n), n_classes), np.tile(np.arange(n_classes), n), "all classes")

    def parts_a_row(self, n_classes: int) -> int:
        """Every row stands in the one part with each of its classes."""
        return n_classes
