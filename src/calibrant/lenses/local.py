"""Local regression of the residuals on the score: loess of the outcomes on the probabilities, less the probabilities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from calibrant._core.links import FloatArray
from calibrant._core.parameters import number, whole
from calibrant._core.problem import BinaryProblem, IntArray
from calibrant.lenses.base import Lens, View

SPREAD = 1e-8
"""A window whose scores spread less, in squared bandwidths, is fitted by a polynomial of a lower degree."""

MARGIN = 1e-9
"""Sums of weights that differ by less, relatively, are equal."""


@dataclass(frozen=True)
class Local(Lens):
    """Polynomial fitted to the residuals about each score, by least squares with tricube weights (loess).

    (Cleveland and Devlin 1988; Austin and Steyerberg 2019.) A local line or parabola reproduces the scores themselves, so
    that  smooth(y) - p = smooth(y - p):  the smoothed event rate less the score is linear in the residuals.

    Attributes
    ----------
    span : float
        The window about a score reaches as far as its nearest rows that make up this share of all.
    degree : {0, 1, 2}
        Degree of the polynomial; where the scores of a window are too few for it, a lower one.
    n_cells : int
        Up to so many distinct scores each is a place of its own, and the fit is exact. More are gathered into so many
        groups of neighbours, none much heavier or wider than the others, each at its mean score; the lowest and the highest
        score stay by themselves. Memory grows with the square of it.
    """

    span: float = 0.75
    degree: int = 2
    n_cells: int = 512

    def __post_init__(self) -> None:
        number("span", self.span, above=0.0, most=1.0, hint="It is a share of the rows: 0.75 is usual")
        whole("degree", self.degree, least=0, most=2, hint="2 is usual")
        whole("n_cells", self.n_cells, least=3, hint="512 is usual")

    def __call__(self, problem: BinaryProblem) -> LocalView:
        """Gather the scores, and fit at each."""
        weight = problem.weight * problem.weights.rows_per_weight
        place = _places(problem.score, weight, self.n_cells)
        rows = np.bincount(place, weight).astype(np.float64, copy=False)
        score = np.bincount(place, weight * problem.score) / rows
        return LocalView(place, weight, score, rows, _smoother(score, rows, self.span, self.degree))


@dataclass(frozen=True, eq=False)
class LocalView(View):
    """Places along the score: ``score`` (d,) in order, ``rows`` (d,) that stand there, and the ``matrix`` (d, d) that smooths.

    ``place`` (n,) says where a row stands, ``weight`` (n,) how many rows it is.
    """

    place: IntArray
    weight: FloatArray
    score: FloatArray
    rows: FloatArray
    matrix: FloatArray

    def look(self, residual: FloatArray) -> FloatArray:
        """Smoothed residuals at each place, shape (m, d)."""
        return self.means(residual) @ self.matrix.T

    def means(self, values: FloatArray) -> FloatArray:
        """Weighted means of ``values`` (m, n) at each place, shape (m, d)."""
        pointer = np.arange(self.place.size + 1)
        gather = sparse.csr_array((self.weight, self.place, pointer), shape=(self.place.size, self.score.size))
        sums: FloatArray = (gather.T @ values.T).T
        return np.asarray(sums / self.rows)

    @property
    def share(self) -> FloatArray:
        """Share of the weight at each place, shape (d,)."""
        return np.asarray(self.rows / self.rows.sum())


def mean_gap(view: View, seen: FloatArray) -> FloatArray:
    """Mean distance over the rows."""
    assert isinstance(view, LocalView)
    mean: FloatArray = _gaps(seen) @ view.share
    return mean


def median_gap(view: View, seen: FloatArray) -> FloatArray:
    """Median distance over the rows."""
    return _quantile_gap(view, seen, 0.5)


def high_gap(view: View, seen: FloatArray) -> FloatArray:
    """Distance that nine rows in ten do not exceed."""
    return _quantile_gap(view, seen, 0.9)


def largest_gap(view: View, seen: FloatArray) -> FloatArray:
    """Largest distance over the rows."""
    largest: FloatArray = _gaps(seen).max(axis=1)
    return largest


def _gaps(seen: FloatArray) -> FloatArray:
    # A polynomial may leave [0, 1] where rows are few. A rate and a probability are at most one apart.
    return np.minimum(np.abs(seen), 1.0)


def _quantile_gap(view: View, seen: FloatArray, q: float) -> FloatArray:
    """Quantile over rows, linear between order statistics as in `numpy.quantile`; a weight counts rows."""
    assert isinstance(view, LocalView)
    gaps = _gaps(seen)
    order = np.argsort(gaps, axis=1)
    gaps, counted = np.take_along_axis(gaps, order, axis=1), np.cumsum(view.rows[order], axis=1)
    total = view.rows.sum()
    position = q * max(total - 1.0, 0.0)
    rank = np.floor(position + MARGIN * total)
    low, high = (
        np.minimum((counted <= k + MARGIN * total).sum(axis=1), view.rows.size - 1) for k in (rank, rank + 1.0)
    )
    each = np.arange(len(gaps))
    quantile: FloatArray = gaps[each, low] + max(position - rank, 0.0) * (gaps[each, high] - gaps[each, low])
    return quantile


def _places(score: FloatArray, weight: FloatArray, n_cells: int) -> IntArray:
    """Number the places from 0 without gaps, shape (n,). Equal scores share a place."""
    distinct, place = np.unique(score, return_inverse=True)
    if distinct.size <= n_cells:
        return np.asarray(place, dtype=np.intp)
    rows = np.bincount(place, weight)
    by_weight = (np.cumsum(rows) - 0.5 * rows) / rows.sum()
    by_score = (distinct - distinct[0]) / (distinct[-1] - distinct[0])
    cell = 1 + np.minimum((0.5 * (by_weight + by_score) * (n_cells - 2)).astype(np.intp), n_cells - 3)
    cell[0], cell[-1] = 0, n_cells - 1
    _, number = np.unique(cell, return_inverse=True)
    return np.asarray(number[place], dtype=np.intp)


def _smoother(score: FloatArray, rows: FloatArray, span: float, degree: int) -> FloatArray:
    """Matrix (d, d) of which row i times values is the local fit at score i. Assumes distinct scores in order."""
    bandwidth = _bandwidth(score, rows, span)
    apart = (score - score[:, None]) / np.maximum(bandwidth, np.finfo(np.float64).tiny)[:, None]
    np.clip(apart, -1.0, 1.0, out=apart)
    weight = rows * _cube(1.0 - np.abs(_cube(apart)))
    weight /= weight.sum(axis=1, keepdims=True)
    if degree == 0:
        return weight
    # Polynomials that are orthogonal under the weights, 1, u, and u^2 less its fit by these, leave no equations to solve.
    centre = _mean(weight, apart)
    u = apart - centre
    second = _mean(weight, u * u)
    spread = second > SPREAD
    fit = 1.0 - u * np.where(spread, centre / np.where(spread, second, 1.0), 0.0)
    if degree == 2:
        tilt = _mean(weight, _cube(u)) / np.where(spread, second, 1.0)
        bow = u * (u - tilt) - second
        fourth = _mean(weight, bow * bow)
        bent = spread & (fourth > SPREAD * second**2)
        here = centre * (centre + tilt) - second
        fit += bow * np.where(bent, here / np.where(bent, fourth, 1.0), 0.0)
    return weight * fit


def _mean(weight: FloatArray, values: FloatArray) -> FloatArray:
    """Weighted mean of each row, as a column."""
    mean: FloatArray = np.einsum("ij,ij->i", weight, values)[:, None]
    return mean


def _cube(values: FloatArray) -> FloatArray:
    return np.asarray(values * values * values)


def _bandwidth(score: FloatArray, rows: FloatArray, span: float) -> FloatArray:
    """Distance of each score to the nearest rows that make up the span, shape (d,)."""
    total = np.concatenate([[0.0], np.cumsum(rows)])
    needed = max(np.floor(span * total[-1] * (1.0 + MARGIN)), 1.0) - MARGIN * total[-1]
    # Of windows that begin at place l and hold enough, the last score; of those about score i, the one that reaches least far.
    last = np.searchsorted(total, total[:-1] + needed)
    end = np.append(score, np.inf)[np.minimum(last - 1, score.size)]
    reach = np.maximum(score[:, None] - score, end - score[:, None])
    bandwidth: FloatArray = np.where(np.tri(score.size, dtype=bool), reach, np.inf).min(axis=1)
    return bandwidth
