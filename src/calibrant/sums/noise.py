"""What chance does to the numbers of events of cells, drawn from their strata and not from the rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from calibrant._core.arrays import FloatArray
from calibrant._core.rows import BoolArray
from calibrant.sums.draws import CountArray
from calibrant.sums.sums import BinTable


@dataclass(frozen=True, eq=False)
class Moments:
    """Strata of cells side by side, those of several problems.

    Attributes
    ----------
    count : ndarray of shape (2, n_cells)
        Rows without the event, and with it.
    first, second : ndarray of shape (2, n_cells)
        Their sums of m and of m², m = p or, where the cell ``is_upper``, m = 1 - p.
    is_upper : ndarray of shape (n_cells,)
        Whether m is the probability that there is no event.
    """

    count: CountArray
    first: FloatArray
    second: FloatArray
    is_upper: BoolArray

    @classmethod
    def of(cls, table: BinTable) -> Moments | None:
        """Return the moments of the cells of all problems; None where they have no strata."""
        if table.strata is None:
            return None
        first, second = table.strata.sums
        return cls(table.strata.count, first, second, table.is_upper)

    def at(self, some: BoolArray) -> Moments:
        """Return the moments of some cells."""
        return Moments(self.count[:, some], self.first[:, some], self.second[:, some], self.is_upper[some])

    @cached_property
    def rows(self) -> FloatArray:
        """Number of rows of each cell."""
        return np.asarray(self.count.sum(axis=0), dtype=np.float64)

    def events(self, n_resamples: int, rng: np.random.Generator) -> FloatArray:
        """Draw numbers of events of labels that the forecast draws, shape (n_resamples, n_cells); cells are independent.

        The rows that go against m are independent, with probabilities m: the mean of their number is mu = sum m, the variance
        mu - Q, Q = sum m². A binomial number of N = mu² / Q rows has both. Both neighbours of an N that is not whole are drawn
        from, as often as makes 1 / N right on average. N is at most the number of rows, and no less than mu.
        """
        mu, square = self.first.sum(axis=0), self.second.sum(axis=0)
        known = square > 0.0  # a sum of squares may be below its unit: then m are so small that any N gives the same
        size = np.where(known, mu**2 / np.where(known, square, 1.0), self.rows)
        least = np.maximum(np.ceil(mu), 1.0)
        size = np.clip(size, least, np.maximum(self.rows, least))[:, None]
        low = np.floor(size)
        n = low + (rng.random((mu.size, n_resamples)) < (low + 1.0) * (size - low) / size)
        against = rng.binomial(n.astype(np.int64), np.minimum(mu[:, None] / n, 1.0)).T
        return np.asarray(np.where(self.is_upper, self.rows - against, against), dtype=np.float64)

    def resampled(self, n_resamples: int, rng: np.random.Generator) -> FloatArray:
        """Draw sums of residuals of rows drawn with replacement, shape (n_resamples, n_cells), of cells that share no rows.

        The numbers of rows of the strata are multinomial. Within a stratum residuals vary as m does, and their sum is normal
        with the mean and the variance that m has there.
        """
        rows = np.where(self.count > 0, self.count, 1)
        mean = self.first / rows
        variance = np.maximum(self.second / rows - mean**2, 0.0)
        event = np.array([[0.0], [1.0]])
        residual = np.where(self.is_upper, event - 1.0 + mean, event - mean)
        total = self.count.sum()
        drawn = rng.multinomial(total, self.count.ravel() / total, size=n_resamples).reshape(n_resamples, 2, -1)
        noise = np.sqrt(drawn * variance) * rng.standard_normal(drawn.shape)
        return np.asarray((drawn * residual + noise).sum(axis=1), dtype=np.float64)
