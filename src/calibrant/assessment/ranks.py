"""Methods on several data sets: mean ranks, whether they differ, and from what difference on two of them do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, lgamma
from typing import Any

import numpy as np

from calibrant import drawing
from calibrant._core.arrays import NUMERIC, ArrayLike, FloatArray, as_array
from calibrant._core.checks import as_level, distinct_names, flag, require
from calibrant._core.result import DrawnResult, Picture, Table, in_columns, shown_pvalue
from calibrant.assessment.comparison import Comparison

ROUNDING = 1e-12
"""Of the spread of ranks: what is less is rounding."""

Ranked = Mapping[str, ArrayLike] | Mapping[str, Comparison]


@dataclass(frozen=True, eq=False)
class MeanRanks(DrawnResult):
    """Ranks of methods over data sets, from the best mean rank to the worst.

    Attributes
    ----------
    names : tuple of str
        The methods.
    mean_rank : ndarray of shape (n_methods,)
        Mean over data sets of the rank, 1 for the best; equal values share their ranks.
    wins : ndarray of shape (n_methods,)
        Number of data sets on which a method is the best; equal ones share it.
    n_data_sets : int
        Number of data sets.
    pvalue : float
        Of the hypothesis that all methods are equally good: the test of Friedman, as Iman and Davenport corrected it.
    critical_difference : float
        Two methods whose mean ranks differ by more differ significantly, of all pairs at once (the criterion of Nemenyi).
    groups : tuple of tuple of str
        The largest groups of methods that do not differ significantly.
    level : float
        Of that criterion.
    """

    _table = Table("method", "name=names", "mean_rank", "wins")
    _summary = "methods={names:n}, data_sets={n_data_sets}"
    _picture = Picture("the critical-difference diagram", "assessment.ranks.plot_mean_ranks")

    names: tuple[str, ...]
    mean_rank: FloatArray
    wins: FloatArray
    n_data_sets: int
    pvalue: float
    critical_difference: float
    groups: tuple[tuple[str, ...], ...]
    level: float

    def __str__(self) -> str:
        """Return a line for each method, and what can be told apart."""
        columns = zip(self.names, self.mean_rank, self.wins, strict=True)
        rows = [["method", "mean rank", "wins"], *([name, f"{rank:.2f}", f"{won:.1f}"] for name, rank, won in columns)]
        p = shown_pvalue(self.pvalue, None, ".2g", name="p")
        said = (
            f"{self.n_data_sets} data sets; that all methods are equally good: {p}. Mean ranks more than "
            f"{self.critical_difference:.2f} apart differ at the level of {self.level:g}."
        )
        return "\n".join([*in_columns(rows, 1), said])


def mean_ranks(values: Ranked, *, higher_is_better: bool = False, level: float = 0.05) -> MeanRanks:
    """Rank methods on several data sets, and say which of them differ.

    Parameters
    ----------
    values : dict of name to array-like of shape (n_data_sets,), or dict of data set to Comparison
        What each method reached on each data set, such as its log loss on test rows; infinity where it failed. Or what
        `compare` found on each, with the same candidates; one that failed is the worst there.
    higher_is_better : bool, default=False
        Whether rank 1 is the highest value. What `compare` found is ranked as its metric asks.
    level : float, default=0.05
        Of the critical difference: the probability that any two of equally good methods differ by more.

    Returns
    -------
    MeanRanks
        A result with ``mean_rank``, ``pvalue``, ``critical_difference``, ``to_frame()`` and ``plot()``; printed, it is a table.

    Notes
    -----
    r_ij is the rank of method j of k on data set i of N, R_j its mean. Friedman's statistic, with ties, is
    chi2 = (k - 1) N B / S with B = N sum_j (R_j - (k + 1) / 2)^2 and S = sum_ij (r_ij - (k + 1) / 2)^2. F = (N - 1) chi2 /
    (N (k - 1) - chi2) = (N - 1) B / (S - B) has nearly an F law with k - 1 and (k - 1)(N - 1) degrees of freedom; no p-value
    is below 1 / (k!)^(N - 1), the probability that data sets without ties rank alike by chance. The critical difference is
    q sqrt(k (k + 1) / (6 N)), with q the upper quantile of the studentised range of k normal values divided by sqrt(2). Both
    take data sets for independent: forecasts of several models on one table are not.

    References
    ----------
    Demšar, Statistical comparisons of classifiers over multiple data sets, JMLR 2006.
    Iman, Davenport, Approximations of the critical region of the Friedman statistic, 1980.

    Examples
    --------
    >>> from calibrant.assessment import mean_ranks
    >>> mean_ranks({"a": [0.1, 0.2, 0.3], "b": [0.2, 0.3, 0.4], "c": [0.3, 0.1, 0.5]}).mean_rank.tolist()
    [1.3333333333333333, 2.3333333333333335, 2.3333333333333335]
    """
    from scipy.stats import f, rankdata, studentized_range  # slow to load

    flag("higher_is_better", higher_is_better)
    level = as_level(level)
    table, higher_is_better = _table_of(values, higher_is_better)
    names, given = tuple(table), np.column_stack(list(table.values()))
    cost = np.where(np.isinf(given), np.inf, -given if higher_is_better else given)
    n, k = cost.shape
    ranks = rankdata([list(map(_rounded, row)) for row in cost.tolist()], axis=1)
    mean = ranks.mean(axis=0)
    best = ranks == ranks.min(axis=1, keepdims=True)
    wins = (best / best.sum(axis=1, keepdims=True)).sum(axis=0)
    spread = float(((ranks - (k + 1) / 2.0) ** 2).sum())
    between = n * float(((mean - (k + 1) / 2.0) ** 2).sum())
    within = max(spread - between, 0.0)
    if spread == 0.0:  # all values are equal on each data set
        pvalue = 1.0
    else:
        statistic = between * (n - 1) / within if within > ROUNDING * spread else np.inf
        pvalue = max(float(f.sf(statistic, k - 1, (k - 1) * (n - 1))), exp(-(n - 1) * lgamma(k + 1)))
    with np.errstate(invalid="ignore"):  # now and then the integral sets the flag of an invalid operation, and is right
        apart = float(studentized_range.ppf(1.0 - level, k, np.inf) * np.sqrt(k * (k + 1) / (12.0 * n)))
    order = np.argsort(mean, kind="stable")
    named = tuple(names[j] for j in order)
    return MeanRanks(named, mean[order], wins[order], n, pvalue, apart, _groups(named, mean[order], apart), level)


def _table_of(values: Any, higher_is_better: bool) -> tuple[dict[str, FloatArray], bool]:
    """Return what each method reached on each data set, and whether more of it is better."""
    must = "values must be a dict of two or more methods, or data sets that were compared"
    hint = "Pass {'a': [...], 'b': [...]}"
    fits = isinstance(values, Mapping) and len(values) > 1
    require(fits, must, got=type(values).__name__, hint=hint, error=TypeError)
    if all(isinstance(one, Comparison) for one in values.values()):
        return _of_comparisons(values), False
    distinct_names("methods", values)
    table: dict[str, FloatArray] = {}
    for name, given in values.items():
        array = as_array(f"values[{name!r}]", given)
        must, got = f"values[{name!r}] must hold numbers", f"{array.dtype}"
        require(array.dtype.kind in NUMERIC, must, got=got, hint="Pass what the method reached", error=TypeError)
        column = array.astype(np.float64)
        must, got = "values must have a number for each data set, and infinity for a failure", f"another of {name}"
        is_one = column.ndim == 1 and not np.isnan(column).any()
        require(is_one, must, got=got, hint="Leave out data sets that a method lacks")
        table[str(name)] = column
    sizes = {column.size for column in table.values()}
    must = "values must have as many data sets, two or more, for each method"
    require(len(sizes) == 1 and min(sizes) > 1, must, got=f"{sorted(sizes)}", hint="Pass values of the same data sets")
    return table, higher_is_better


def _of_comparisons(found: Mapping[str, Comparison]) -> dict[str, FloatArray]:
    first = next(iter(found.values()))
    names = sorted(one.name for one in first.candidates)
    for data_set, one in found.items():
        must, hint = "comparisons must rank their candidates", "Pass the values of each, {'a': [...], 'b': [...]}"
        require(one.pairing != "periods", must, got=f"periods in the order of time on {data_set}", hint=hint)
        same = one.metric == first.metric and sorted(c.name for c in one.candidates) == names
        must = "comparisons must be of the same candidates by the same metric"
        require(same, must, got=f"others on {data_set}", hint="Compare the same on each data set")
    places: dict[str, list[float]] = {name: [] for name in names}
    for one in found.values():
        # Failures are equal, and last.
        values = [-np.inf if np.isnan(c.value) else _rounded(c.value) for c in one.candidates]
        firsts = [values.index(value) for value in values]  # so are equal values
        for candidate, first_of in zip(one.candidates, firsts, strict=True):
            places[candidate.name].append(float(first_of))
    return {name: np.array(of) for name, of in places.items()}


def _rounded(value: float) -> float:
    """Return a value without the digits that rounding moves: 0.1 + 0.2 is 0.3."""
    return float(f"{value:.12g}")


def _groups(names: tuple[str, ...], mean: FloatArray, apart: float) -> tuple[tuple[str, ...], ...]:
    """Return the largest runs of methods, in the order of their mean ranks, that lie within the critical difference."""
    ends = [int(np.searchsorted(mean, rank + apart, side="right")) for rank in mean]
    runs = [(start, end) for start, end in enumerate(ends) if end - start > 1 and (start == 0 or ends[start - 1] < end)]
    return tuple(names[start:end] for start, end in runs)


def plot_mean_ranks(ranks: MeanRanks, *, ax: Any = None) -> Any:
    """Draw the critical-difference diagram: mean ranks on an axis, and a bar over methods that do not differ significantly.

    Parameters
    ----------
    ranks : MeanRanks
        What `mean_ranks` found.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes
        What was drawn on.

    Examples
    --------
    >>> from calibrant.assessment import mean_ranks
    >>> ax = mean_ranks({"a": [0.1, 0.2, 0.3], "b": [0.2, 0.3, 0.4], "c": [0.3, 0.1, 0.5]}).plot()
    """
    drawing.require_kind(ranks, "ranks", "mean_ranks(values)", MeanRanks)
    k, place = len(ranks.names), dict(zip(ranks.names, ranks.mean_rank, strict=True))
    left = (k + 1) // 2
    first = 0.55 + 0.22 * len(ranks.groups)
    lowest = first + 0.35 * max(left - 1, k - left - 1, 0)
    ax = drawing.new_axes(ax, (6.8, 0.9 + 0.55 * lowest))
    for number, (name, rank) in enumerate(place.items()):
        side = -1 if number < left else 1
        height = first + 0.35 * (number if number < left else k - 1 - number)
        end = 1.0 if side < 0 else float(k)
        ax.plot([rank, rank, end], [0.0, height, height], color=drawing.IDEAL, linewidth=1.0, clip_on=False)
        beside = {"xytext": (4 * side, 0), "textcoords": "offset points", "ha": "right" if side < 0 else "left"}
        text = f"{name} ({rank:.2f})"
        ax.annotate(text, (end, height), va="center", fontsize="small", annotation_clip=False, **beside)
    for number, group in enumerate(ranks.groups):
        height = 0.3 + 0.22 * number
        ends = [place[group[0]] - 0.01 * k, place[group[-1]] + 0.01 * k]
        ax.plot(ends, [height, height], color=drawing.colour(0), linewidth=4.0, solid_capstyle="butt", gid="alike")
    ax.set(xlim=(1.0, k), ylim=(lowest + 0.25, 0.0), yticks=[], xlabel=f"mean rank on {ranks.n_data_sets} data sets")
    ax.xaxis.tick_top()
    ax.xaxis.set_label_position("top")
    ax.spines[["left", "right", "bottom"]].set_visible(False)
    ax.set_title(f"critical difference {ranks.critical_difference:.2f}", loc="right", fontsize="small")
    return ax
