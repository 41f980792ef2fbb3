"""The result of a test."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from inspect import signature
from typing import Any, ClassVar, Literal, Unpack, get_args

import numpy as np
from scipy import special

from calibrant import drawing
from calibrant._core.arrays import ArrayLike, FloatArray, NDArray
from calibrant._core.border import DataOptions, as_labels, as_problem
from calibrant._core.checks import choice, refuse, require, warn
from calibrant._core.result import DrawnResult, Picture, Record, Result, Table, shown_pvalue, under
from calibrant._core.rows import Approximate, BinaryProblem, BoolArray, Problem
from calibrant.metrics.kinds import YProb
from calibrant.notions import Binary, Notion, NotionLike, as_notion

# Null distributions of statistics: laws in closed form, or draws


Law = Callable[[FloatArray], FloatArray]

TIE = 1e-6
"""A drawn value that misses the observed one by less than this part is the same: rounding, also to single precision, decides
nothing."""


class NullDistribution(ABC):
    """Distribution of a statistic under the null hypothesis of its test.

    Attributes
    ----------
    description : str
        In words, such as "chi-squared, 6 degrees of freedom" or "1000 draws of labels from the forecast".
    df : float or None
        Degrees of freedom, where there are any.
    values : ndarray of shape (n_draws,) or None
        What the statistic was in draws; None of a law in closed form.
    """

    description: str
    df: float | None = None
    values: FloatArray | None = None

    @abstractmethod
    def sf(self, x: ArrayLike) -> FloatArray:
        """Return the probability that the statistic is at least ``x``.

        Parameters
        ----------
        x : array-like
            Values of the statistic.

        Returns
        -------
        ndarray
            Survival function at ``x``.
        """

    def __repr__(self) -> str:
        return f"NullDistribution({self.description})"


@dataclass(frozen=True, eq=False, repr=False)
class KnownLaw(NullDistribution):
    """A law in a formula: its survival function."""

    description: str
    survival: Law
    df: float | None = None

    def sf(self, x: ArrayLike) -> FloatArray:
        """Return the probability that the statistic is at least ``x``."""
        return np.asarray(self.survival(np.asarray(x, dtype=np.float64)), dtype=np.float64)


@dataclass(frozen=True, eq=False, repr=False)
class Draws(Record, NullDistribution):
    """Values that the statistic took in draws under the null hypothesis, shape (n_draws,)."""

    description: str
    values: FloatArray

    def sf(self, x: ArrayLike) -> FloatArray:
        """Return the share of draws that reach ``x``, the observed value counted among them: never zero."""
        reached = np.sort(self.values)
        at = np.searchsorted(reached, below(np.asarray(x, dtype=np.float64)), side="left")
        return np.asarray((1.0 + reached.size - at) / (1.0 + reached.size), dtype=np.float64)


def label_draws(values: FloatArray) -> Draws:
    """Values of a statistic on labels that the forecast itself drew."""
    return Draws(f"{values.size} draws of labels from the forecast", values)


def below(value: FloatArray) -> FloatArray:
    """Return ``value`` less what rounding may have added to it."""
    return np.asarray(value - TIE * np.abs(np.where(np.isfinite(value), value, 0.0)), dtype=np.float64)


def chi_squared(df: float) -> KnownLaw:
    """Chi-squared law; with no degree of freedom all of it is at zero."""
    description = f"chi-squared, {df:g} degree{'' if df == 1 else 's'} of freedom"
    if df <= 0:
        return KnownLaw(description, partial(np.greater_equal, 0.0), df)
    return KnownLaw(description, partial(_chi_squared_above, df), df)


def _chi_squared_above(df: float, x: FloatArray) -> FloatArray:
    return np.asarray(special.chdtrc(df, np.maximum(x, 0.0)))  # SciPy has none below zero


def standard_normal() -> KnownLaw:
    """Law with mean zero and variance one that sums of many small terms have."""
    return KnownLaw("standard normal", _normal_above)


def _normal_above(x: FloatArray) -> FloatArray:
    return np.asarray(special.ndtr(-x))


Alternative = Literal["greater", "less", "two-sided"]

INDEPENDENT = "Rows are independent of each other."
OUTSIDE = "The forecast was made without these labels."

CALIBRATED = "the forecast is calibrated"


def hypothesis_of(problem: Problem, notion: Notion | None = None, words: str = CALIBRATED) -> str:
    """Return a hypothesis in words, with the event of two classes, or the notion, that it speaks of."""
    if notion is not None and notion.name != Binary.name:
        return f"{words} (notion: {notion.name})"
    if problem.classes.size > 2 or problem.predicted is not None:
        return words
    return f"{words} (event: class {problem.classes[1]})"


@dataclass(frozen=True, eq=False)
class TestResult(DrawnResult):
    """A statistic, its null distribution, its p-value, and what was assumed.

    Attributes
    ----------
    name : str
        Name of the test.
    statistic : float
        Observed value of the statistic; infinite where what occurred is impossible, or certain, under the null hypothesis.
    pvalue : float
        Probability, under the null hypothesis, of a statistic as far out as the one observed, in [0, 1].
    null : NullDistribution
        Distribution of the statistic under the null hypothesis.
    assumptions : tuple of str
        What has to hold for the p-value to be valid, each in a sentence.
    alternative : {"greater", "less", "two-sided"}
        Which values are far out: large ones, small ones, or both.
    hypothesis : str
        The null hypothesis in words, with the event of two classes, or the notion, that it speaks of.
    """

    _table = Table(
        None,
        "test=name",
        "statistic",
        "df",
        "pvalue",
        "alternative",
        "null=null.description",
        "hypothesis",
        "assumptions=_assumed",
    )
    _picture = Picture(
        "the null distribution, the observed value and the tail beyond it", "significance.result.plot_null"
    )

    __test__: ClassVar[bool] = False  # no test for pytest to collect

    name: str
    statistic: float
    pvalue: float
    null: NullDistribution
    assumptions: tuple[str, ...]
    alternative: Alternative = "greater"
    hypothesis: str = CALIBRATED

    @property
    def df(self) -> float | None:
        """Degrees of freedom of the null distribution, or None where it has none.

        Returns
        -------
        float or None
            A number for chi-squared laws.
        """
        return self.null.df

    @property
    def least_pvalue(self) -> float | None:
        """Smallest p-value that the draws can show, 1 / (draws + 1), or twice that of two tails; None of a law in formulas.

        Returns
        -------
        float or None
            A threshold for the p-value below it can never be reached.
        """
        values = self.null.values
        return None if values is None or not values.size else min(1.0, self._tails / (1.0 + values.size))

    @property
    def _tails(self) -> float:
        """How many tails of the draws a p-value adds up."""
        return 2.0 if self.alternative == "two-sided" else 1.0

    @property
    def _shown_pvalue(self) -> str:
        return shown_pvalue(self.pvalue, self.least_pvalue, name="pvalue", equals="=")

    @property
    def _assumed(self) -> str:
        return " ".join(self.assumptions)

    def __repr__(self) -> str:
        df = "" if self.df is None else f", df={self.df:g}"
        note = f"; statistic {self.statistic.note}" if isinstance(self.statistic, Approximate) else ""
        return f"TestResult({self.name}: statistic={self.statistic:.6g}{df}, {self._shown_pvalue}{note})"


def result_of(
    name: str,
    statistic: float,
    null: NullDistribution,
    hypothesis: str,
    *more: str,
    pvalue: float | None = None,
    alternative: Alternative = "greater",
) -> TestResult:
    """Return the result of a test of independent held-out rows, which assumes ``more``; by default large values are far out."""
    found = float(null.sf(statistic)) if pvalue is None else pvalue
    return TestResult(name, float(statistic), found, null, (OUTSIDE, INDEPENDENT, *more), alternative, hypothesis)


# The null distribution of a test, with the observed value and the tail beyond it


BARS = 200
"""Bars of a law in a formula."""

FAR = 4.0
"""Widths of the law beyond which an observed value is written in words, not drawn to scale."""


def plot_null(result: TestResult, *, ax: Any = None) -> Any:
    """Draw the null distribution of a statistic, the observed value, and the tail that is the p-value.

    Parameters
    ----------
    result : TestResult
        The result of a test.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes
        What was drawn on.

    Notes
    -----
    It is a histogram, one of whose edges is the observed value, so that the dark bars are what lies beyond it. An observed
    value far outside of everything, a statistic that is not defined, and draws that are not finite are told in the legend.

    Examples
    --------
    >>> from calibrant import load_digits_forecast
    >>> from calibrant.significance import resampling_test
    >>> from calibrant.significance.result import plot_null
    >>> ax = plot_null(resampling_test(*load_digits_forecast(), metric="ece", n_resamples=99))
    """
    ax, null, at, line = drawing.new_axes(ax, (5.6, 3.6)), result.null, result.statistic, {"color": drawing.COLOURS[-1]}
    edges, height = _histogram(null, at)
    far_out = _is_far_out(result, edges, height)
    look = {"color": np.where(far_out, drawing.GAP, drawing.FILL), "edgecolor": "white", "linewidth": 0.6}
    if null.values is not None:
        if left_out := int((~np.isfinite(null.values)).sum()):
            ax.plot([], [], " ", label=f"not drawn: {left_out} of {null.values.size} draws are not finite")
    else:
        look |= {"edgecolor": "none", "linewidth": 0.0}
    ax.bar(edges[:-1], height, np.diff(edges), align="edge", **look)
    if abs(at - (edges[0] + edges[-1]) / 2.0) <= FAR * (edges[-1] - edges[0]):
        ax.axvline(at, linestyle="--", linewidth=1.3, label=f"observed: {at:.4g}", **line)
    else:
        ax.plot([], [], "--", label="observed: not defined" if np.isnan(at) else f"observed: {at:.4g}, far out", **line)
    ax.set(xlabel=f"statistic under the null hypothesis\n({null.description})", yticks=[])
    ax.set_ylim(bottom=0.0)
    ax.spines[["left", "right", "top"]].set_visible(False)
    beyond = shown_pvalue(result.pvalue, result.least_pvalue, ".3g", name="p")
    ax.fill([], [], color=drawing.GAP, label=f"beyond it: {beyond}")
    ax.set_title(result.name, fontsize="medium")
    drawing.legend_above(ax)
    return ax


def _histogram(null: NullDistribution, at: float) -> tuple[FloatArray, FloatArray]:
    """Return edges of equal width, the observed value among them if it lies where the law is, and what lies between them."""
    if null.values is not None:
        values = null.values[np.isfinite(null.values)]
        if values.size and np.ptp(values) <= TIE * np.abs(values).max():  # all equal but for rounding
            values = np.full(values.size, values[0])
        edges = np.histogram_bin_edges(values, bins=min(60, max(10, int(2.0 * values.size ** (1 / 3)))))
    else:  # from where the law begins to where all but 0.0005 of it ends
        grid = np.geomspace(1e-3, 1e5, 4801)
        high = float(grid[np.append(np.flatnonzero(null.sf(grid) <= 0.0005), -1)[0]])
        edges = np.linspace(0.0 if null.sf(0.0) == 1.0 else -high, high, BARS + 1)
    if edges[0] <= at <= edges[-1]:
        width = float(edges[1] - edges[0])
        # A draw that equals the observed value up to rounding lies beyond it, as it does in the p-value.
        first = edges[0] + (float(below(np.asarray(at))) - edges[0]) % width - width
        edges = first + width * np.arange(edges.size + 1)
    return edges, -np.diff(null.sf(edges)) if null.values is None else np.histogram(values, edges)[0]


def _is_far_out(result: TestResult, edges: FloatArray, height: FloatArray) -> BoolArray:
    """Return which bars are as far out as the observed value; of the other tail those whose larger part is as rare."""
    middle = (edges[1:] + edges[:-1]) / 2.0
    above, beneath = middle >= result.statistic, middle <= result.statistic
    if result.alternative != "two-sided":
        return above if result.alternative == "greater" else beneath
    if not np.isfinite(result.statistic):
        return above & beneath
    if (rare := height[above].sum()) <= height[beneath].sum():
        return np.asarray(above | (np.cumsum(height) - height / 2.0 <= rare))
    return np.asarray(beneath | (np.cumsum(height[::-1])[::-1] - height / 2.0 <= height[beneath].sum()))


# One test for each class or group, with p-values that take their number into account


Test = Callable[..., TestResult]
Method = Literal["holm", "bonferroni", "benjamini-hochberg", "benjamini-yekutieli"]


@dataclass(frozen=True, eq=False)
class MultipleTests(Result):
    """Several tests of one kind, and their adjusted p-values.

    Attributes
    ----------
    names : tuple of str
        What was tested: classes or groups.
    results : tuple of TestResult
        The tests, each by itself.
    adjusted : ndarray of shape (n_tests,)
        p-values adjusted for their number: compare them with the level.
    method : str
        How they were adjusted.
    """

    _table = Table(
        "test", "name=names", *under("results", "test=name", "statistic", "df"), "pvalue=pvalues", "adjusted"
    )

    __test__ = False  # no test for pytest to collect

    names: tuple[str, ...]
    results: tuple[TestResult, ...]
    adjusted: FloatArray
    method: Method

    @property
    def pvalues(self) -> FloatArray:
        """Unadjusted p-values.

        Returns
        -------
        ndarray of shape (n_tests,)
            One a test.
        """
        return np.array([result.pvalue for result in self.results])

    def rejected(self, level: float = 0.05) -> tuple[str, ...]:
        """Name the classes or groups whose null hypothesis is rejected.

        Parameters
        ----------
        level : float, default=0.05
            Bound on the error rate that the method controls, a fraction.

        Returns
        -------
        tuple of str
            Names whose adjusted p-value is at most the level.

        Raises
        ------
        ValueError
            If the draws of the tests can show no adjusted p-value as small as the level, whatever the forecast.
        """
        floors = np.array([result.least_pvalue or 0.0 for result in self.results])
        least = float(adjusted_pvalues(floors, self.method).min())
        if least > level > 0:
            # Adjusted p-values are in proportion to p-values, but for their rounding.
            draws = math.ceil(least / (level * floors.min()) * (1.0 - 1e-12)) - 1
            draws += bool(adjusted_pvalues(floors / floors.min() / (draws + 1.0), self.method).min() > level)
            reach = (
                f"{level:g}, and the smallest adjusted p-value that they can show of {floors.size} tests is {least:.3g}"
            )
            more = f"Draw more labels, n_resamples={draws}"
            refuse("level must be one that the draws can reach", got=reach, hint=more)
        return tuple(name for name, pvalue in zip(self.names, self.adjusted, strict=True) if pvalue <= level)

    def __getitem__(self, name: str) -> TestResult:
        """Return the test of that class or group."""
        return self.results[self.names.index(name)]

    def __repr__(self) -> str:
        at = int(self.adjusted.argmin())
        of = self.results[at]
        smallest = shown_adjusted(float(self.adjusted[at]), of.pvalue, of.least_pvalue)
        return f"MultipleTests({len(self.names)} tests, {self.method}, smallest adjusted p-value {smallest})"


def by_class(
    test: Test,
    y_true: ArrayLike,
    y_prob: YProb = None,
    *,
    notion: NotionLike = None,
    method: Method = "holm",
    **data: Unpack[DataOptions],
) -> MultipleTests:
    """Test each class against the rest, and adjust the p-values for the number of classes; of two classes test one event.

    Parameters
    ----------
    test : callable
        A test of one column of probabilities, such as `hosmer_lemeshow_test`; with options:
        ``functools.partial(hosmer_lemeshow_test, n_bins=5)``.
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    notion : str or Notion, optional
        What is tested of each class: ``"class-wise"``, the default of more than two classes, takes all rows with the
        probability of the class, ``"top-label"`` the rows that predict it. A class that is never predicted is left out. Two
        classes have one event, and so by default (``"binary"``) one test.
    method : {"holm", "bonferroni", "benjamini-hochberg", "benjamini-yekutieli"}, default="holm"
        The first two bound the probability of any false alarm, whatever the dependence of the tests (and Holm is never the
        worse of the two); the others the share of false alarms among the alarms, the last whatever the dependence.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    MultipleTests
        The tests with adjusted p-values.

    Warns
    -----
    CalibrationWarning
        If there are parts with fewer than 10 expected misses, the sum of p (1 - p), and the test has a law for many rows: far
        out it does not hold. Pass ``functools.partial(test, n_resamples=...)`` where the test takes that.

    References
    ----------
    Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 1979.
    Benjamini, Hochberg, Controlling the false discovery rate, Journal of the Royal Statistical Society B 1995.

    Examples
    --------
    >>> from calibrant import load_digits_forecast
    >>> from calibrant.significance import by_class, kolmogorov_smirnov_test
    >>> found = by_class(kolmogorov_smirnov_test, *load_digits_forecast())
    >>> len(found.results)
    10
    """
    _require(test, method)
    problem = as_problem(y_true, y_prob, all_rows="a test of each class", **data)
    parts = [part for part in as_notion(notion, problem, of_many="class-wise").split(problem) if part.size > 0]
    results = [_of_event(_of_column(test, part, part.outcome), part.name) for part in parts]
    return _adjusted({part.name: part for part in parts}, results, method)


def _of_event(result: TestResult, event: str) -> TestResult:
    """Name the event in a hypothesis about outcomes that are True or False."""
    return replace(result, hypothesis=f"{result.hypothesis.removesuffix(' (event: class True)')} (event: {event})")


def _require(test: object, method: str) -> None:
    choice("method", method, get_args(Method), hint="Holm's is never wrong")
    must = "test must be a function such as spiegelhalter_test"
    hint = "Pass it with its options: functools.partial(test, ...)"
    require(callable(test), must, value=test, hint=hint, error=TypeError)


def _result(test: Test, *rows: object, **data: object) -> TestResult:
    """Return the result of a test, which may be the user's own."""
    try:
        signature(test).bind(*rows, **data)
    except (TypeError, ValueError):  # ValueError: built-in functions that do not tell their parameters
        words = ", ".join(["y_true", "y_prob", *data])
        hint = "Pass a test of calibrant, or one with the same parameters"
        refuse(f"test must take {words}", got=f"{test!r}, which does not", hint=hint, error=TypeError)
    found = test(*rows, **data)
    hint = "Pass a test such as spiegelhalter_test, or let yours return calibrant.significance.TestResult"
    was = f"{test!r} returned {found!r}"
    require(isinstance(found, TestResult), "test must return a TestResult", given=was, hint=hint, error=TypeError)
    return found


def by_group(
    test: Test,
    y_true: ArrayLike,
    y_prob: ArrayLike,
    groups: ArrayLike,
    *,
    method: Method = "holm",
    **data: Unpack[DataOptions],
) -> MultipleTests:
    """Test the rows of each group by themselves, and adjust the p-values for the number of groups.

    Parameters
    ----------
    test : callable
        Any test of a forecast, such as `resampling_test`; with options: ``functools.partial(resampling_test, metric="ece")``.
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    groups : array-like of shape (n_samples,)
        Group of each row: integers, strings or booleans. A group whose rows all have weight zero is left out.
    method : {"holm", "bonferroni", "benjamini-hochberg", "benjamini-yekutieli"}, default="holm"
        As in `by_class`. Groups are disjoint and so independent, which suits ``"benjamini-hochberg"``.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    MultipleTests
        The tests with adjusted p-values, in the order of the groups' names.

    Warns
    -----
    CalibrationWarning
        As `by_class`.

    Examples
    --------
    >>> from calibrant import load_digits_forecast, spiegelhalter_test
    >>> from calibrant.significance import by_group
    >>> y, prob = load_digits_forecast()
    >>> by_group(spiegelhalter_test, y, prob, prob.argmax(axis=1) < 5).names
    ('False', 'True')
    """
    _require(test, method)
    group = as_labels(groups, "groups")
    problem = as_problem(y_true, y_prob, all_rows="a test of each group", **data)
    weight = data.get("sample_weight")
    if weight is not None and len(group) == len(np.asarray(weight)):
        group = group[np.asarray(weight) > 0]
    must, came = "groups must have one entry a row of y_prob", f"{len(group)} for {problem.size}"
    require(len(group) == problem.size, must, got=came, hint="Pass one group a row")
    names = np.unique(group)
    results = [_tested(test, problem, group == name) for name in names]
    return _adjusted({str(name): problem.at(group == name) for name in names.tolist()}, results, method)


def adjusted_pvalues(pvalues: FloatArray, method: Method) -> FloatArray:
    """Adjust p-values for their number, so that each can be compared with the level; shape and order stay."""
    m = pvalues.size
    if method == "bonferroni":
        return np.minimum(1.0, m * pvalues)
    if method == "holm":
        order = np.argsort(pvalues, kind="stable")
        adjusted = np.empty(m)
        adjusted[order] = np.minimum(1.0, np.maximum.accumulate((m - np.arange(m)) * pvalues[order]))
        return adjusted
    from scipy.stats import false_discovery_control

    return np.asarray(false_discovery_control(pvalues, method="bh" if method == "benjamini-hochberg" else "by"))


def shown_adjusted(
    adjusted: float, pvalue: float | None, least: float | None, digits: str = ".4g", *, name: str = ""
) -> str:
    """Return an adjusted p-value in words: an upper bound where the p-value itself is one."""
    at_floor = pvalue is not None and least is not None and pvalue <= least and adjusted < 1.0
    return shown_pvalue(adjusted, adjusted if at_floor else None, digits, name=name)


FEWEST_MISSES = 10.0
"""Misses, the sum of p (1 - p), below which a law for many rows does not hold as far out as many tests look."""


def _adjusted(parts: Mapping[str, Problem], results: list[TestResult], method: Method) -> MultipleTests:
    """Adjust the p-values of tests of some parts, and warn of laws of many rows where there are few."""
    by_law = [part for part, found in zip(parts.values(), results, strict=True) if isinstance(found.null, KnownLaw)]
    if few := sum(_misses(part) < FEWEST_MISSES for part in by_law) * (len(parts) > 1):
        warn(
            f"{few} of {len(parts)} tests are of fewer than {FEWEST_MISSES:g} expected misses, the sum of p (1 - p), and by a "
            "law for many rows: their small p-values are too small. Pass a test that draws labels, such as "
            f"functools.partial(spiegelhalter_test, n_resamples={max(1000, 100 * len(parts))})."
        )
    pvalues = np.array([result.pvalue for result in results])
    return MultipleTests(tuple(parts), tuple(results), adjusted_pvalues(pvalues, method), method)


def _misses(problem: Problem) -> float:
    """Return the variance of the number of events, or of right predictions, if the forecast is right."""
    p = problem.score if isinstance(problem, BinaryProblem) else problem.forecast.prob.max(axis=1)
    return float(problem.weight @ (p * (1.0 - p))) * problem.weights.effective_rows_per_weight


def _tested(test: Test, problem: Problem, rows: BoolArray) -> TestResult:
    """Run the test on some rows of a problem."""
    if isinstance(problem, BinaryProblem):
        part = problem.at(rows)
        if part.predicted is None:
            return _of_event(_of_column(test, part, part.outcome), f"class {problem.classes[1]}")
        code = part.predicted.code  # -1: another class than the predicted one occurred
        return _of_column(test, part, np.where(part.outcome, code, -1), y_pred=code)
    form, weights = "logit" if problem.forecast.is_logit else "probability", problem.weights.part(rows).keyword
    label = problem.classes[problem.label[rows]]
    return _result(test, label, problem.values[rows], labels=problem.classes.tolist(), input=form, **weights)


def _of_column(test: Test, problem: BinaryProblem, truth: NDArray[Any], **data: object) -> TestResult:
    """Run the test on one column, as it was given: in single precision or as logits, where it was."""
    values, form = (problem.as_given, {}) if problem.logit is None else (problem.logit, {"input": "logit"})
    return _result(test, truth, values, **data, **form, **problem.weights.keyword)
