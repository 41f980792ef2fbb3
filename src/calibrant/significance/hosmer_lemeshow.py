"""Hosmer and Lemeshow's test, of two classes and of more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from calibrant._core.links import FloatArray
from calibrant._core.parameters import flag, require, whole
from calibrant._core.problem import IntArray, Problem, as_simplex
from calibrant._core.registry import declare
from calibrant._core.result import frame
from calibrant._core.validation import DataOptions, as_problem
from calibrant._core.weights import Weights
from calibrant.binning import locate
from calibrant.significance.groups import chi_squared_statistic, enough_expected, groups_of, pvalue_of, warn_if_sparse
from calibrant.significance.null import NullDistribution, chi_squared, label_draws, require_resamples
from calibrant.significance.result import INDEPENDENT, OUTSIDE, TestResult, hypothesis_of
from calibrant.sums.draws import Rng, as_rng

FITTED = "The model that made the forecast was fitted on these rows; for held-out rows leave fitted=True out."


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
        Number of rows of each true class, and sum of the predicted probabilities of each class.
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
    y_prob: npt.ArrayLike | None = None,
    *,
    n_bins: int = 10,
    reference: Any = None,
    fitted: bool = False,
    n_resamples: int | None = 1000,
    rng: Rng = 0,
    **data: Unpack[DataOptions],
) -> HosmerLemeshowResult:
    """Test whether each class occurred as often as predicted, in groups of equal size by score.

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
    fitted : bool, default=False
        Whether the model that made the forecast was fitted on these very rows. Then the law of the textbooks holds, chi-squared
        with (groups - 2) * (classes - 1) degrees of freedom, and no labels are drawn. It does not hold for held-out rows:
        there it rejects a calibrated forecast twice as often as it should.
    n_resamples : int or None, default=1000
        Number of label sets drawn from the forecast, whose statistics are the null distribution; the smallest possible p-value
        is 1 / (n_resamples + 1). With None it is chi-squared with groups * (classes - 1) degrees of freedom: faster with very
        many rows, and wrong where expected counts are small. Of an integer weight each of so many equal rows draws its label.
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
        If more than a fifth of the expected counts are below 5 and no labels are drawn: the p-value is then no good. And if a
        fitted model leaves so few groups that there is no degree of freedom; the p-value is then 1.

    Notes
    -----
    The statistic is C = sum over groups m and classes j of (O_mj - E_mj)^2 / E_mj, with the rows O_mj of class j in group m
    and the sum E_mj of their probabilities of it. Where nothing was expected and nothing occurred, a term is 0; where nothing
    was expected and something occurred, C is infinite and the p-value 0, also that of draws: the forecast gave probability
    zero to a class that occurred. The groups average over scores, so errors of either sign within a group are not seen.

    The chi-squared law is poor where expected counts are small: of calibrated forecasts of 50 rows and two events in a hundred
    it rejects 18 % at a level of 5 %, draws reject 5 %. Where forecasts vary within a group, as those of the other classes do,
    there is less variance than the law has, and its test of held-out rows is conservative; draws are not.

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
    >>> hosmer_lemeshow_test(y, p)
    TestResult(Hosmer-Lemeshow: statistic=48.7912, pvalue<=0.001)
    """
    n_bins, fitted = whole("n_bins", n_bins, least=2, hint="10 is usual"), flag("fitted", fitted)
    if n_resamples is not None:
        require_resamples(n_resamples)
    problem = as_problem(y_true, y_prob, **data)
    simplex, score = as_simplex(problem), _grouping_score(problem, reference)
    edges, of = _groups_by(score, simplex.weights, n_bins)
    groups = groups_of(simplex, of)
    observed = groups.observed(simplex, simplex.label)
    statistic = chi_squared_statistic(observed, groups.expected)
    null: NullDistribution
    if fitted or n_resamples is None:
        n_groups, n_classes = observed.shape
        null = chi_squared(max(0, n_groups - 2 * fitted) * (n_classes - 1))
        seen = FITTED if fitted else OUTSIDE
        assumptions = (seen, INDEPENDENT, *simplex.weights.assumptions, enough_expected(groups.expected))
        fewer = "take fewer groups, n_bins."
        warn_if_sparse(groups.expected, fewer.capitalize() if fitted else f"Draw labels, n_resamples=1000, or {fewer}")
    else:
        null = label_draws(groups.drawn(simplex, n_resamples, as_rng(rng)))
        assumptions = (OUTSIDE, INDEPENDENT, *simplex.weights.assumptions)
    return HosmerLemeshowResult(
        name="Hosmer-Lemeshow",
        statistic=statistic,
        pvalue=pvalue_of(statistic, null),
        null=null,
        assumptions=assumptions,
        hypothesis=hypothesis_of(problem),
        classes=tuple(simplex.classes.tolist()),
        edges=edges,
        observed=observed,
        expected=groups.expected,
    )


def quantiles(values: FloatArray, weights: Weights, shares: FloatArray, whole: float = 1.0) -> FloatArray:
    """Linearly interpolated quantiles at ``shares / whole``: of whole weights those of the repeated values, as
    `numpy.quantile` gives them.

    A quantile between two values is never rounded up to the larger one: exactly the values below it lie below.

    Laid end to end in order, the values are a staircase whose steps are as long as their weights; the quantile is its mean
    over a window of length one, which is the interpolation between the values at the window's ends.
    """
    order = np.argsort(values, kind="stable")
    step = values[order]
    ends = np.cumsum(weights.values[order] * weights.rows_per_weight)
    found = np.empty(shares.size)
    for number, start in enumerate((ends[-1] - 1.0) * shares / whole):
        first, last = np.searchsorted(ends, start, side="right"), np.searchsorted(ends, start + 1.0, side="left")
        window = slice(first, min(last, step.size - 1) + 1)
        length = np.diff(np.clip(ends[window], start, start + 1.0), prepend=start)
        low, high = step[window][0], step[window][-1]
        # The mean of equal steps is the step itself, and no rounded neighbour of it.
        found[number] = np.clip(length @ step[window] / length.sum(), low, max(low, np.nextafter(high, -np.inf)))
    return found


def _groups_by(score: FloatArray, weights: Weights, n_bins: int) -> tuple[FloatArray, IntArray]:
    """Return the edges of the groups that hold rows, and the group of each row."""
    cuts = quantiles(score, weights, np.arange(1.0, n_bins), n_bins)
    edges = np.concatenate([[0.0], np.unique(cuts), [1.0]])
    held, of = np.unique(locate(edges, score), return_inverse=True)
    return np.append(edges[held], 1.0), of


def _grouping_score(problem: Problem, reference: Any) -> FloatArray:
    """One minus the probability of the reference class; of two classes the probability of the other one."""
    classes, prob = problem.classes.tolist(), as_simplex(problem).prob
    must = f"reference must be one of the classes {classes}"
    require(reference is None or reference in classes, must, value=reference, hint="Pass one of them")
    at = 0 if reference is None else classes.index(reference)
    if len(classes) == 2:
        return prob[:, 1 - at]
    return np.asarray(1.0 - prob[:, at], dtype=np.float64)
