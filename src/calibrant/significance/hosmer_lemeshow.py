"""Hosmer and Lemeshow's test, of two classes and of more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from calibrant._links import FloatArray
from calibrant._problem import IntArray, Problem, are_counts, as_simplex
from calibrant._registry import declare
from calibrant._result import frame, read_only
from calibrant._validation import DataOptions, as_problem
from calibrant.binning import locate
from calibrant.resampling import Rng, as_rng
from calibrant.significance.groups import chi_squared_statistic, enough_expected, groups_of, pvalue_of, warn_if_sparse
from calibrant.significance.null import NullDistribution, chi_squared, label_draws
from calibrant.significance.result import INDEPENDENT, OUTSIDE, TestResult, hypothesis_of
from calibrant.significance.weights import assumption

FITTED = "The model that made the forecast was fitted on these very rows; of other rows pass fitted=False."


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class HosmerLemeshowResult(TestResult):
    """A `TestResult` with the table behind it.

    Attributes
    ----------
    name, statistic, pvalue, null, assumptions, alternative, hypothesis : object
        As in `TestResult`.
    classes : tuple
        The class of each column.
    edges : ndarray of shape (n_groups + 1,)
        Group m holds the grouping scores in (edges[m], edges[m + 1]], the first also its lower edge.
    observed, expected : ndarray of shape (n_groups, n_classes)
        Rows of each class that came, and sums of the probabilities.
    """

    classes: tuple[Any, ...]
    edges: FloatArray
    observed: FloatArray
    expected: FloatArray

    def table(self, backend: str | None = None) -> Any:
        """Return the groups as a data frame, a row a group.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            By default the first that is installed.

        Returns
        -------
        DataFrame
            Columns left, right, and for each class observed and expected.
        """
        columns: dict[str, FloatArray] = {"left": self.edges[:-1], "right": self.edges[1:]}
        for j, name in enumerate(self.classes):
            columns |= {f"observed {name}": self.observed[:, j], f"expected {name}": self.expected[:, j]}
        return frame(columns, backend)


@declare("test", "hosmer-lemeshow", symbol="HL", source="Hosmer and Lemeshow 1980; Fagerland et al. 2008")
def hosmer_lemeshow_test(
    y_true: npt.ArrayLike,
    y_prob: npt.ArrayLike,
    *,
    n_bins: int = 10,
    reference: Any = None,
    fitted: bool = True,
    n_resamples: int | None = None,
    rng: Rng = 0,
    **data: Unpack[DataOptions],
) -> HosmerLemeshowResult:
    """Test whether as many of each class came as was expected, in groups of equal size by score.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    n_bins : int, default=10
        Number of groups, at least 2. They end at linearly interpolated quantiles of one minus the probability of the reference
        class; equal scores are never split, so that ties make groups uneven or fewer.
    reference : label, optional
        The class whose probability makes the groups; by default the first. One column of probabilities is so grouped by itself.
    fitted : bool, default=True
        Whether the model that made the forecast was fitted on these very rows, for which the law of the textbooks holds:
        chi-squared with (groups - 2) * (classes - 1) degrees of freedom. Of rows that the model never saw
        the degrees of freedom are groups * (classes - 1): pass ``fitted=False``, or the p-value comes out too small.
    n_resamples : int, optional
        Draw so many label sets from the forecast in place of the chi-squared law, of which small groups are far; the
        null hypothesis is then that of ``fitted=False``.
    rng : numpy.random.Generator, int or None, default=0
        Source of randomness of the draws.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    HosmerLemeshowResult
        The statistic is the sum over groups and classes of (observed - expected)^2 / expected.

    Warns
    -----
    CalibrationWarning
        If more than a fifth of the expected counts are below 5 and no labels are drawn: the p-value is then no good. And if
        so few groups are left that there is no degree of freedom; the p-value is then 1.

    Notes
    -----
    Where nothing was expected and nothing came, a term is 0; where nothing was expected and something came, the statistic is
    infinite and the p-value 0: the forecast called impossible what happened. The groups average over scores, so errors of
    either sign within a group are not seen; with rare events expected counts are small and the chi-squared law is poor. Where
    forecasts vary within a group, as those of the other classes do, there is less variance than the law has, and the test of
    outside forecasts is conservative; draws are not.

    References
    ----------
    Hosmer, Lemeshow, Goodness of fit tests for the multiple logistic regression model, Communications in Statistics 1980.
    Fagerland, Hosmer, Bofin, Multinomial goodness-of-fit tests for logistic regression models, Statistics in Medicine 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant import hosmer_lemeshow_test
    >>> p = np.linspace(0.05, 0.95, 200)
    >>> y = np.random.default_rng(0).random(200) < p**2
    >>> hosmer_lemeshow_test(y, p, fitted=False).pvalue < 0.001
    True
    """
    _require_groups(n_bins)
    problem = as_problem(y_true, y_prob, **data)
    simplex, score = as_simplex(problem), _grouping_score(problem, reference)
    edges, of = _groups_by(score, simplex.weight, n_bins)
    groups = groups_of(simplex, of)
    observed = groups.observed(simplex, simplex.label)
    statistic = chi_squared_statistic(observed, groups.expected)
    null: NullDistribution
    if n_resamples is None:
        n_groups, n_classes = observed.shape
        null = chi_squared(max(0, n_groups - 2 * fitted) * (n_classes - 1))
        seen = FITTED if fitted else OUTSIDE
        assumptions = (seen, INDEPENDENT, *assumption(simplex.weight), enough_expected(groups.expected))
        warn_if_sparse(groups.expected, "take fewer groups, n_bins")
    else:
        null = label_draws(groups.drawn(simplex, n_resamples, as_rng(rng)))
        assumptions = (OUTSIDE, INDEPENDENT)
    return HosmerLemeshowResult(
        name="Hosmer-Lemeshow",
        statistic=statistic,
        pvalue=pvalue_of(statistic, null),
        null=null,
        assumptions=assumptions,
        hypothesis=hypothesis_of(problem),
        classes=tuple(simplex.classes.tolist()),
        edges=read_only(edges),
        observed=read_only(observed),
        expected=groups.expected,
    )


def quantiles(values: FloatArray, weight: FloatArray, shares: FloatArray) -> FloatArray:
    """Linearly interpolated quantiles: of whole weights those of the repeated values, as `numpy.quantile` gives them.

    Laid end to end in order, the values are a staircase whose steps are as long as their weights; the quantile is its mean
    over a window of length one, which is the interpolation between the values at the window's ends.
    """
    order = np.argsort(values, kind="stable")
    step = values[order]
    ends = np.cumsum(weight[order] if are_counts(weight) else weight[order] * (weight.size / weight.sum()))
    found = np.empty(shares.size)
    for number, start in enumerate((ends[-1] - 1.0) * shares):
        first, last = np.searchsorted(ends, start, side="right"), np.searchsorted(ends, start + 1.0, side="left")
        window = slice(first, min(last, step.size - 1) + 1)
        length = np.diff(np.clip(ends[window], start, start + 1.0), prepend=start)
        # The mean of equal steps is the step itself, and no rounded neighbour of it.
        found[number] = np.clip(length @ step[window] / length.sum(), step[window][0], step[window][-1])
    return found


def _groups_by(score: FloatArray, weight: FloatArray, n_bins: int) -> tuple[FloatArray, IntArray]:
    """Return the edges of the groups that hold rows, and the group of each row."""
    cuts = quantiles(score, weight, np.arange(1, n_bins) / n_bins)
    edges = np.concatenate([[0.0], np.unique(cuts), [1.0]])
    held, of = np.unique(locate(edges, score), return_inverse=True)
    return np.append(edges[held], 1.0), of


def _grouping_score(problem: Problem, reference: Any) -> FloatArray:
    """One minus the probability of the reference class; of two classes the probability of the other one."""
    classes, prob = problem.classes.tolist(), as_simplex(problem).prob
    if reference is not None and reference not in classes:
        raise ValueError(f"reference must be one of the classes {classes}; got {reference!r}. Pass one of them.")
    at = 0 if reference is None else classes.index(reference)
    if len(classes) == 2 and at == 0:
        return prob[:, 1]
    return np.asarray(1.0 - prob[:, at], dtype=np.float64)


def _require_groups(n_bins: object) -> None:
    if not isinstance(n_bins, (int, np.integer)) or isinstance(n_bins, bool):
        raise TypeError(f"n_bins must be a whole number; got {n_bins!r}. 10 is usual.")
    if n_bins < 2:
        raise ValueError(f"n_bins must be at least 2; got {n_bins}. 10 is usual.")
