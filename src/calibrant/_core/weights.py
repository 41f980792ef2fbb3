"""What the weights of rows mean: how many rows they are, and how much evidence."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt

from calibrant._core.links import FloatArray

ROUNDING = 1e-9
"""How far a weight may be from that of one row and still be one row."""

ONE = np.ones(1)
ONE.flags.writeable = False


@dataclass(frozen=True, eq=False)
class Weights:
    """Weights of the rows of a problem, and what they mean.

    If all are whole they are counts: each is a number of equal, independent rows. If any is a fraction, all of them say how
    much a row counts and not how often it was seen: each row is one observation. That is decided for a whole problem, and its
    parts follow, whatever their own weights are.

    Attributes
    ----------
    values : ndarray of shape (n,)
        The weights, not negative.
    is_unit : bool
        Whether no weights were given, so that each row weighs one.
    whole : Weights or None
        The weights of the problem of which these are a part.
    """

    values: FloatArray
    is_unit: bool = False
    whole: Weights | None = None

    @classmethod
    @lru_cache(maxsize=8)
    def one_each(cls, n: int) -> Weights:
        """Weight one for each of ``n`` rows, in the memory of a single number."""
        return cls(np.ndarray((n,), np.float64, ONE, strides=(0,)), is_unit=True)

    def __len__(self) -> int:
        """Return the number of weights, n."""
        return self.values.size

    # Other rows

    def part(self, rows: npt.NDArray[np.intp] | npt.NDArray[np.bool_] | slice) -> Weights:
        """Return the weights of some rows, which mean what they mean in the whole."""
        return Weights(self.values[rows], self.is_unit, self._whole)

    def like(self, values: FloatArray) -> Weights:
        """Return other weights of rows of the same whole."""
        return Weights(values, whole=self._whole)

    def take(self, rows: npt.NDArray[np.intp]) -> Weights:
        """Return the weights of some rows, perhaps repeated, as those of a problem of its own: what they mean is seen anew."""
        return Weights.one_each(rows.size) if self.is_unit else Weights(self.values[rows])

    # Numbers of rows

    @cached_property
    def are_counts(self) -> bool:
        """Whether they are numbers of equal rows."""
        if self.whole is not None:
            return self.whole.are_counts
        return self.is_unit or np.array_equal(self.values, np.floor(self.values))

    @cached_property
    def repeat_rows(self) -> bool:
        """Whether they are numbers of equal rows, and more than one of some row."""
        return not self.is_unit and self.are_counts and float(self.values.max(initial=0.0)) > 1.0

    @property
    def total(self) -> float:
        """Sum of the weights."""
        return float(len(self)) if self.is_unit else self._sum

    @cached_property
    def _sum(self) -> float:
        return float(self.values.sum())

    @cached_property
    def rows_per_weight(self) -> float:
        """Rows that a weight of one stands for: one of counts, else such that a row of the whole is one row on average."""
        if self.whole is not None:
            return self.whole.rows_per_weight
        return 1.0 if self.are_counts else len(self) / self.total

    @property
    def rows(self) -> float:
        """Number of rows that the weights stand for."""
        return self.total * self.rows_per_weight

    @property
    def n_rows(self) -> int:
        """Number of rows that are reported: of counts their sum, else of those that have a weight."""
        return int(self.total) if self.are_counts else int(np.count_nonzero(self.values))

    @property
    def are_rows(self) -> bool:
        """Whether each weight stands for one row, but for rounding."""
        return self.is_unit or not (np.abs(self.values * self.rows_per_weight - 1.0) > ROUNDING).any()

    @property
    def times(self) -> FloatArray:
        """How many equal rows each row is, shape (n,): its count, else one."""
        return self.values if self.are_counts else np.ones(len(self))

    @property
    def importance(self) -> FloatArray:
        """How much each of these equal rows counts, shape (n,): one if weights are counts, else the weight."""
        return np.ones(len(self)) if self.are_counts else self.values

    # Evidence

    @property
    def of_variance(self) -> FloatArray:
        """Weight of the variance of each row's outcome in that of the weighted sum, shape (n,): the count, else the square."""
        return self.values if self.are_counts else self.values**2

    @cached_property
    def effective_rows_per_weight(self) -> float:
        """Independent rows that a weight of one is worth: one of counts, else  sum(w) / sum(w^2)  (Kish)."""
        return 1.0 if self.are_counts else self.total / float((self.values**2).sum())

    @property
    def effective_rows(self) -> float:
        """Number of independent rows that are as much evidence: the sum of counts, else  sum(w)^2 / sum(w^2)  (Kish)."""
        return self.total * self.effective_rows_per_weight

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What a test with a law in formulas has to assume of the weights, in words; nothing if there are none.

        Chi-squared tests that draw labels assume the same. Other tests that draw labels move a row with its weight, whatever
        the weight, but for errors that count rejected predictions.
        """
        if self.is_unit:
            return ()
        if self.are_counts:
            return ("Weights are numbers of equal, independent rows.",)
        return ("Weights do not depend on the labels.",)

    @property
    def keyword(self) -> dict[str, FloatArray]:
        """The weights as the keyword ``sample_weight`` of a function, if there are any."""
        return {} if self.is_unit else {"sample_weight": self.values}

    @property
    def _whole(self) -> Weights:
        return self if self.whole is None else self.whole
