"""What chance does to the numbers of events of cells, drawn from their strata and not from the rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import cholesky
from scipy.sparse import csr_array
from scipy.special import ndtr, ndtri

from calibrant._core.arrays import FloatArray
from calibrant._core.rows import BoolArray, IntArray
from calibrant.sums.draws import CellArray, ConsistentLabels, CountArray, is_upper
from calibrant.sums.sums import BinnedProblem

FEW = 40.0
"""Variance of the number of events up to which its quantiles are those of a binomial law, summed term by term."""

MOST_CELLS, MOST_PAIRS = 2048, 1 << 27
"""Cells, and pairs of entries of rows, up to which covariances are summed: 15 bins of 128 classes."""

ROUNDING = 1e-6
"""Part by which a variance is below another for certain."""

JITTER = 1e-9
"""Added to the variance of each cell in units of itself: some combinations of cells do not vary at all."""


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
    def of(cls, problems: Sequence[BinnedProblem]) -> Moments | None:
        """Return the moments of the cells of problems; None where one of them has no strata."""
        strata = [one.strata for one in problems if one.strata is not None]
        if not problems or len(strata) < len(problems):
            return None
        count = np.concatenate([one.count for one in strata], axis=1)
        first, second = np.concatenate([one.sums for one in strata], axis=2)
        return cls(count, first, second, np.concatenate([is_upper(one.bins.edges) for one in problems]))

    def at(self, some: BoolArray) -> Moments:
        """Return the moments of some cells."""
        return Moments(self.count[:, some], self.first[:, some], self.second[:, some], self.is_upper[some])

    @cached_property
    def rows(self) -> FloatArray:
        """Number of rows of each cell."""
        return np.asarray(self.count.sum(axis=0), dtype=np.float64)

    @cached_property
    def law(self) -> Mixture:
        """Law of the number of rows that go against m, where labels are drawn from the forecast.

        They are independent, with probabilities m: the mean is mu = sum m, the variance mu - Q, Q = sum m². A binomial number
        of N = mu² / Q rows has both. N is at most the number of rows, and is that where all m are equal.
        """
        mu, square = self.first.sum(axis=0), self.second.sum(axis=0)
        known = square > 0.0  # a sum of squares may be below its unit: then m are so small that any N gives the same
        size = np.where(known, mu**2 / np.where(known, square, 1.0), self.rows)
        least = np.maximum(np.ceil(mu), 1.0)  # fewer rows cannot have so many events
        return Mixture(mu, np.clip(size, least, np.maximum(self.rows, least)))

    @cached_property
    def steady(self) -> tuple[IntArray, FloatArray, FloatArray, FloatArray]:
        """Law of the cells whose number varies less than a binomial one of its mean: there m are near 0 and near 1.

        Their numbers, the whole number nearest to each mean, and the probabilities of one more, and of one less.
        """
        mu, variance = self.first.sum(axis=0), self.first.sum(axis=0) - self.second.sum(axis=0)
        least = np.ceil(mu)
        cell = np.flatnonzero(variance < (mu - mu**2 / np.maximum(least, 1.0)) * (1.0 - ROUNDING))
        nearest = np.rint(mu[cell])
        off = mu[cell] - nearest
        # No whole number of the mean mu varies less than |off| - off².
        moved = np.maximum(variance[cell] + off**2, np.abs(off))
        return cell, nearest, (moved + off) / 2.0, (moved - off) / 2.0

    def _of_against(self, against: FloatArray, levels: Callable[[IntArray], FloatArray]) -> FloatArray:
        """Return numbers of events of those that go against m, (n_resamples, n_cells), the steady ones at levels of these."""
        cell, nearest, more, less = self.steady
        at = levels(cell)
        against[:, cell] = nearest - (at < less) + (at > 1.0 - more)
        return np.where(self.is_upper, self.rows - against, against)

    def events(self, n_resamples: int, rng: np.random.Generator) -> FloatArray:
        """Draw numbers of events of labels that the forecast draws, shape (n_resamples, n_cells); cells are independent."""
        return self._of_against(self.law.drawn(n_resamples, rng), lambda cell: rng.random((n_resamples, cell.size)))

    def events_together(self, together: Together, n_resamples: int, rng: np.random.Generator) -> FloatArray:
        """Draw the same of cells that share rows, and vary together as those of the kept rows.

        Each cell has the quantiles of its law at uniform levels, whose normal scores have the correlations of the cells. Of
        very many cells each is drawn by itself instead, and its draws are arranged in the order of the numbers of events of
        labels of the kept rows (Iman and Conover 1982).
        """
        if together.has_correlations(self.rows.size):
            score = together.scores(n_resamples, self.rows.size, rng)
            score[self.is_upper] *= -1.0
            levels = ndtr(score)
            return self._of_against(self.law.quantiles(levels).T, lambda cell: levels[cell].T)
        events = np.sort(self.events(n_resamples, rng).T, axis=1)
        found = np.empty_like(events)
        np.put_along_axis(found, together.order(n_resamples, self.rows.size, rng), events, axis=1)
        return found.T

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


@dataclass(frozen=True, eq=False)
class Mixture:
    """Binomial laws of the mean ``mu`` and of ``size`` rows, which need not be whole, each an array of shape (n_cells,).

    Both neighbours of a size that is not whole are drawn from, as often as makes the variance mu - mu² / size.
    """

    mu: FloatArray
    size: FloatArray

    @property
    def low(self) -> FloatArray:
        """The smaller neighbour."""
        return np.floor(self.size)

    @property
    def share(self) -> FloatArray:
        """How often the larger neighbour is drawn from: 1 / N has the mean 1 / size."""
        return np.asarray((self.low + 1.0) * (self.size - self.low) / self.size)

    def drawn(self, n_resamples: int, rng: np.random.Generator) -> FloatArray:
        """Draw numbers, shape (n_resamples, n_cells)."""
        n = self.low[:, None] + (rng.random((self.mu.size, n_resamples)) < self.share[:, None])
        return rng.binomial(n.astype(np.int64), np.minimum(self.mu[:, None] / n, 1.0)).T.astype(np.float64)

    def quantiles(self, levels: FloatArray) -> FloatArray:
        """Return the quantiles of each cell at its levels; both of shape (n_cells, n_levels)."""
        variance = self.mu * (1.0 - self.mu / self.size)
        few = variance <= FEW
        found = np.empty(levels.shape)
        found[~few] = Mixture(self.mu[~few], self.size[~few])._of_many(levels[~few])
        found[few] = Mixture(self.mu[few], self.size[few])._of_few(levels[few])
        return found

    def _of_many(self, levels: FloatArray) -> FloatArray:
        """Quantiles by the expansion of Cornish and Fisher, with skewness and kurtosis."""
        rate = (self.mu / self.size)[:, None]
        variance = self.mu[:, None] * (1.0 - rate)
        skewness, kurtosis = (1.0 - 2.0 * rate) / np.sqrt(variance), (1.0 - 6.0 * rate * (1.0 - rate)) / variance
        z = ndtri(levels)
        x = z + skewness * (z**2 - 1.0) / 6.0 + kurtosis * (z**3 - 3.0 * z) / 24.0
        x -= skewness**2 * (2.0 * z**3 - 5.0 * z) / 36.0
        return np.asarray(self.mu[:, None] + np.sqrt(variance) * x)

    def _of_few(self, levels: FloatArray) -> FloatArray:
        """Quantiles by summing probabilities; of what happens nearly always by those of what does not."""
        mostly = self.mu > 0.5 * self.size + 1.0
        size = np.where(mostly, np.rint(self.size), self.size)
        mu = np.where(mostly, size - self.mu, self.mu)
        levels = np.where(mostly[:, None], 1.0 - levels, levels)
        found = np.empty(levels.shape)
        for number, reached in enumerate(Mixture(mu, size)._cumulative()):
            found[number] = np.searchsorted(reached, levels[number])
        found = np.minimum(found, np.ceil(size)[:, None])
        return np.where(mostly[:, None], size[:, None] - found, found)

    def _cumulative(self) -> FloatArray:
        """Probabilities of at most 0, 1, ... events, shape (n_cells, n_events), up to where one is reached."""
        if self.mu.size == 0:
            return np.empty((0, 0))
        most = int(np.max(self.mu + 10.0 * np.sqrt(self.mu) + 12.0))
        low = self.low
        total = np.zeros((most, self.mu.size))
        for n, share in ((low, 1.0 - self.share), (low + 1.0, self.share)):
            rate = np.minimum(self.mu / n, 1.0 - 1e-15)
            odds, term = rate / (1.0 - rate), np.exp(n * np.log1p(-rate))
            for k in range(most):
                total[k] += share * term
                term = term * np.maximum(n - k, 0.0) / (k + 1.0) * odds
        return np.cumsum(total, axis=0).T


@dataclass(frozen=True, eq=False)
class Together:
    """Rows that show how cells vary together: their forecasts ``prob`` (m, K), and the cell ``of`` each entry, or -1.

    Each stands for ``weight`` rows (m,).
    """

    prob: FloatArray
    of: CellArray
    weight: FloatArray

    def has_correlations(self, n_cells: int) -> bool:
        """Whether cells and classes are few enough to ask how each pair of cells varies."""
        return n_cells <= MOST_CELLS and self.prob.size * self.prob.shape[1] <= MOST_PAIRS

    def scores(self, n_resamples: int, n_cells: int, rng: np.random.Generator) -> FloatArray:
        """Draw standard normal scores with the correlations of the numbers of events, shape (n_cells, n_resamples).

        Labels of one row have the covariances p_j (1 - p_j), and -p_j p_k of two classes.
        """
        row, column = np.nonzero(self.of >= 0)
        cell, p = self.of[row, column], self.prob[row, column]
        placed = csr_array((np.sqrt(self.weight)[row] * p, (row, cell)), shape=(len(self.prob), n_cells))
        covariance = -(placed.T @ placed).toarray()
        variance = covariance.diagonal() + np.bincount(cell, self.weight[row] * p, n_cells)
        # Of rows that are nearly certain this difference is rounding, and the sum over the other cells, of one sign, is none.
        covariance[np.diag_indices(n_cells)] = 0.0
        variance = np.maximum(variance, -covariance.sum(axis=1))
        scale = 1.0 / np.sqrt(np.where(variance > 0.0, variance, 1.0))
        correlation = covariance * scale[:, None] * scale
        correlation[np.diag_indices(n_cells)] = 1.0
        score = cholesky(correlation + JITTER * np.eye(n_cells), lower=True) @ rng.standard_normal(
            (n_cells, n_resamples)
        )
        return np.asarray(score / np.sqrt(1.0 + JITTER))

    def order(self, n_resamples: int, n_cells: int, rng: np.random.Generator) -> IntArray:
        """Return the resamples by numbers of events of labels of these rows, for each cell; equal ones stand in any order."""
        events = ConsistentLabels(self.prob, n_resamples, rng).events(self.of, n_cells).T
        return np.argsort(events + rng.random(events.shape), axis=1)
