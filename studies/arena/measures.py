"""Figures of the arena: ranks, wins, improvement, harm, worst case and time, with intervals over data sets.

Every mean is one over data sets: first over the forecasts of a data set, then over the sets. Intervals are percentiles of
means of data sets that are drawn again with replacement.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.stats import rankdata

from studies.arena.methods import NONE
from studies.arena.results import Result

DRAWS, LEVEL = 2000, 0.95
FEWEST_SETS = 10
"""With fewer data sets there is no claim."""

DIGITS = 9
"""Losses that agree to so many digits are ties."""


@dataclass(frozen=True)
class Interval:
    """A mean over data sets, and where it lies if the data sets are drawn again."""

    value: float
    low: float
    high: float

    @property
    def excludes_zero(self) -> bool:
        return self.low > 0.0 or self.high < 0.0


@dataclass(frozen=True)
class Table:
    """Results of experiments that belong together (one number of rows; two or more classes), as arrays.

    ``methods`` are those with a line in every experiment. ``losses`` has a row an experiment and a column a method; NaN where a
    method failed or was too slow.
    """

    results: tuple[Result, ...]

    @cached_property
    def methods(self) -> list[str]:
        each = [{r.method for r in mine} for mine in self._experiments.values()]
        return sorted(set.intersection(*each), key=lambda method: (method != NONE, method)) if each else []

    @cached_property
    def _experiments(self) -> dict[tuple[str, str, int], list[Result]]:
        found = defaultdict(list)
        for result in self.results:
            found[result.experiment].append(result)
        return dict(found)

    @cached_property
    def data_sets(self) -> list[str]:
        """The data set of each experiment."""
        return [data_set for data_set, _, _ in self._experiments]

    @property
    def n_sets(self) -> int:
        return len(set(self.data_sets))

    def array(self, name: str) -> np.ndarray:
        """One figure of every result, experiments x methods."""
        rows = []
        for mine in self._experiments.values():
            value = {r.method: getattr(r, name) for r in mine}
            rows.append([value[method] for method in self.methods])
        return np.array(rows, dtype=np.float64).reshape(-1, len(self.methods))

    @cached_property
    def losses(self) -> np.ndarray:
        return self.array("logloss")

    def column(self, method: str) -> int:
        return self.methods.index(method)


def of_size(results: Iterable[Result], rows: int, two_classes: bool) -> Table:
    """The experiments with so many rows to calibrate on, of two or of more classes."""
    return Table(tuple(r for r in results if r.rows == rows and (r.n_classes == 2) == two_classes))


def ranks(losses: np.ndarray) -> np.ndarray:
    """Rank in each row, 1 the lowest; ties share the mean, and NaN share the last places."""
    filled = np.where(np.isnan(losses), np.inf, np.round(losses, DIGITS))
    return np.asarray(rankdata(filled, axis=1))


def win_rates(losses: np.ndarray) -> np.ndarray:
    """Share of the other methods that each beats in each row; a tie is half a win."""
    n = losses.shape[1]
    return (n - ranks(losses)) / (n - 1) if n > 1 else np.full(losses.shape, 0.5)


def by_data_set(values: np.ndarray, data_sets: list[str]) -> np.ndarray:
    """Means over the rows of each data set, in the order of their names; NaN are left out."""
    names, of = np.unique(data_sets, return_inverse=True)
    known = ~np.isnan(values)
    total, count = np.zeros((len(names), values.shape[1])), np.zeros((len(names), values.shape[1]))
    np.add.at(total, of, np.where(known, values, 0.0))
    np.add.at(count, of, known)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def intervals(values: np.ndarray, data_sets: list[str], draws: int = DRAWS, seed: int = 0) -> list[Interval]:
    """Mean over the data sets of each column, with its bootstrap interval."""
    mean = by_data_set(values, data_sets)
    n = len(mean)
    count = np.random.default_rng(seed).multinomial(n, np.full(n, 1.0 / n), size=draws)
    known = ~np.isnan(mean)
    weight = np.maximum(count @ known, 1e-300)
    again = count @ np.where(known, mean, 0.0) / weight
    low, high = np.quantile(again, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    value = np.where(known, mean, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    of = np.where(known.any(axis=0), [value, low, high], np.nan)
    return [Interval(*one) for one in of.T.tolist()]


# Measures of a table: one figure a method


def mean_rank(table: Table) -> list[Interval]:
    """Mean rank by log loss among all methods."""
    return intervals(ranks(table.losses), table.data_sets)


def win_rate(table: Table) -> list[Interval]:
    """Share of the pairs that a method wins by log loss."""
    return intervals(win_rates(table.losses), table.data_sets)


def improvement(table: Table, what: str = "logloss") -> list[Interval]:
    """Mean of a loss without calibration less the loss with it: above 0 is better. Of the accuracy the gain."""
    loss = table.array(what)
    change = loss[:, [table.column(NONE)]] - loss
    return intervals(-change if what == "accuracy" else change, table.data_sets)


def harm(table: Table) -> list[Interval]:
    """Share of the cells where the log loss is worse than without calibration."""
    return intervals(table.array("harm"), table.data_sets)


def worst(table: Table) -> list[float]:
    """The highest log loss of a cell less that without calibration."""
    return _greatest(table.array("worst"))


def excess(table: Table) -> np.ndarray:
    """Log loss of each experiment less that of the best other method."""
    losses = np.where(np.isnan(table.losses), np.inf, table.losses)
    order = np.sort(losses, axis=1)
    best_other = np.where(losses == order[:, [0]], order[:, [1]], order[:, [0]])
    return np.where(np.isnan(table.losses), np.nan, table.losses - best_other)


def worst_excess(table: Table) -> list[float]:
    """The highest mean excess of a data set over the best other method."""
    return _greatest(by_data_set(excess(table), table.data_sets))


def _greatest(values: np.ndarray) -> list[float]:
    return [float(np.nanmax(column)) if not np.isnan(column).all() else np.nan for column in values.T]


def seconds(table: Table) -> list[float]:
    """Median processor time to fit and to apply."""
    return [
        float(np.nanmedian(column)) if not np.isnan(column).all() else np.nan for column in table.array("seconds").T
    ]


def differences(table: Table, of: Callable[[np.ndarray], np.ndarray], first: str) -> dict[str, Interval]:
    """Paired difference of each method from one: above 0 is a higher rank or loss than that one."""
    values = of(table.losses)
    gap = values - values[:, [table.column(first)]]
    return dict(zip(table.methods, intervals(gap, table.data_sets), strict=True))


def leaders(table: Table) -> tuple[str, list[str]]:
    """The method with the lowest mean rank, and those whose mean rank is not clearly higher."""
    found = mean_rank(table)
    order = sorted(range(len(found)), key=lambda i: found[i].value)
    first = table.methods[order[0]]
    gap = differences(table, ranks, first)
    return first, [table.methods[i] for i in order[1:] if gap[table.methods[i]].low <= 0.0]
