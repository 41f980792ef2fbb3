"""One test for each class or group, with p-values that take their number into account."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from inspect import signature
from typing import Literal, Unpack, get_args

import numpy as np
import numpy.typing as npt

from calibrant._core.arrays import FloatArray
from calibrant._core.border import DataOptions, as_labels, as_problem
from calibrant._core.checks import choice, refuse, require
from calibrant._core.result import Result, Table, shown_pvalue, under
from calibrant._core.rows import BinaryProblem, BoolArray, Problem
from calibrant.metrics.kinds import YProb
from calibrant.notions import NotionLike, as_notion
from calibrant.significance.result import TestResult

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
        smallest = shown_adjusted(float(self.adjusted[at]), self.results[at])
        return f"MultipleTests({len(self.names)} tests, {self.method}, smallest adjusted p-value {smallest})"


def by_class(
    test: Test,
    y_true: npt.ArrayLike,
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
    results = [_of_event(_result(test, part.outcome, part.score, **part.weights.keyword), part.name) for part in parts]
    return _adjusted([part.name for part in parts], results, method)


def _of_event(result: TestResult, event: str) -> TestResult:
    """Name the event in a hypothesis about outcomes that are True or False."""
    return replace(result, hypothesis=f"{result.hypothesis.removesuffix(' (event: class True)')} (event: {event})")


def _require(test: object, method: str) -> None:
    choice("method", method, get_args(Method), hint="Holm's is never wrong")
    must, hint = (
        "test must be a function such as spiegelhalter_test",
        "Pass it with its options: functools.partial(test, ...)",
    )
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
    y_true: npt.ArrayLike,
    y_prob: npt.ArrayLike,
    groups: npt.ArrayLike,
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
    return _adjusted([str(name) for name in names.tolist()], results, method)


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


def shown_adjusted(adjusted: float, result: TestResult, digits: str = ".4g") -> str:
    """Return an adjusted p-value in words: an upper bound where the p-value itself is one."""
    at_floor = result.least_pvalue is not None and result.pvalue <= result.least_pvalue and adjusted < 1.0
    return shown_pvalue(adjusted, adjusted if at_floor else None, digits)


def _adjusted(names: list[str], results: list[TestResult], method: Method) -> MultipleTests:
    pvalues = np.array([result.pvalue for result in results])
    return MultipleTests(tuple(names), tuple(results), adjusted_pvalues(pvalues, method), method)


def _tested(test: Test, problem: Problem, rows: BoolArray) -> TestResult:
    """Run the test on some rows of a problem."""
    data: dict[str, object] = {**problem.weights.part(rows).keyword}
    if isinstance(problem, BinaryProblem):
        values = problem.as_given
        if problem.logit is not None:
            values, data["input"] = problem.logit, "logit"
        occurred = problem.outcome[rows]
        if problem.predicted is None:
            return _of_event(_result(test, occurred, values[rows], **data), f"class {problem.classes[1]}")
        code = problem.predicted.code[rows]  # -1: another class than the predicted one occurred
        return _result(test, np.where(occurred, code, -1), values[rows], y_pred=code, **data)
    form = "logit" if problem.forecast.is_logit else "probability"
    label = problem.classes[problem.label[rows]]
    return _result(test, label, problem.forecast.values[rows], labels=problem.classes.tolist(), input=form, **data)
