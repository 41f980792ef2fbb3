"""Pearson's chi-squared test on the distinct forecasts: no bins, for forecasts that take few values."""

from __future__ import annotations

from typing import Unpack

import numpy.typing as npt

from calibrant._core.parameters import whole
from calibrant._core.problem import as_simplex
from calibrant._core.registry import declare
from calibrant._core.validation import DataOptions, as_problem
from calibrant.metrics.decompositions.kull_flach import same_rows
from calibrant.significance.groups import (
    chi_squared_statistic,
    enough_expected,
    groups_of,
    pvalue_of,
    warn_if_sparse,
)
from calibrant.significance.null import NullDistribution, chi_squared, label_draws
from calibrant.significance.result import INDEPENDENT, OUTSIDE, TestResult, hypothesis_of
from calibrant.sums.draws import Rng, as_rng


@declare("test", "pearson", symbol="X2", source="Pearson 1900")
def pearson_test(
    y_true: npt.ArrayLike,
    y_prob: npt.ArrayLike | None = None,
    *,
    n_parameters: int = 0,
    n_resamples: int | None = 1000,
    rng: Rng = 0,
    **data: Unpack[DataOptions],
) -> TestResult:
    """Test whether each class occurred as often as predicted, for each distinct forecast.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one. Equal rows of a table make a group.
    n_parameters : int, default=0
        Number of parameters that were fitted on these very rows. The law is then chi-squared, with as many degrees of freedom
        less, and no labels are drawn.
    n_resamples : int or None, default=1000
        Number of label sets drawn from the forecast, whose statistics are the null distribution: exact for any number of rows.
        With None it is the chi-squared law, which needs many rows for each forecast.
    rng : numpy.random.Generator, int or None, default=0
        Source of randomness of the draws.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    TestResult
        The statistic is the sum over distinct forecasts and classes of (observed - expected)^2 / expected. Each distinct
        forecast has as many degrees of freedom as it has classes of positive probability, less one.

    Warns
    -----
    CalibrationWarning
        If more than a fifth of the expected counts are below 5 and no labels are drawn: the p-value is then no good. And if
        no labels are drawn and no degree of freedom is left; the p-value is then 1.

    Notes
    -----
    The chi-squared law rejects up to 14 % of calibrated forecasts at a level of 5 % where expected counts are small, which of
    extreme probabilities they are with 5000 rows too; draws reject 5 % (docs/testing.md has the figures).

    It tests the whole vector (canonical calibration), and sees any deviation that repeats at one forecast. Where a class of
    probability zero occurred, the statistic is infinite and the p-value 0, that of draws as well.

    References
    ----------
    Pearson, On the criterion that a given system of deviations ..., Philosophical Magazine 1900.

    Examples
    --------
    >>> from calibrant.significance import pearson_test
    >>> pearson_test([0, 0, 0, 1] * 20 + [1, 1, 0, 1] * 20, [0.25] * 80 + [0.5] * 80)
    TestResult(Pearson: statistic=20, pvalue<=0.001)
    """
    _require_parameters(n_parameters)
    received = as_problem(y_true, y_prob, **data)
    problem = as_simplex(received)
    groups = groups_of(problem, same_rows(problem.prob))
    expected = groups.expected
    statistic = chi_squared_statistic(groups.observed(problem, problem.label), expected)
    null: NullDistribution
    if n_parameters or n_resamples is None:
        null = chi_squared(max(0, int((expected > 0).sum()) - len(expected) - n_parameters))
        assumptions = (OUTSIDE, INDEPENDENT, *problem.weights.assumptions, enough_expected(expected))
        if n_parameters:
            assumptions = (f"{n_parameters} parameters of the forecast were fitted on these rows.", *assumptions[1:])
        draw = "Group" if n_parameters else "Draw labels, n_resamples=1000, or group"
        warn_if_sparse(expected, f"{draw} the scores: hosmer_lemeshow_test.")
    else:
        null = label_draws(groups.drawn(problem, n_resamples, as_rng(rng)))
        assumptions = (OUTSIDE, INDEPENDENT, *problem.weights.assumptions)
    return TestResult(
        "Pearson", statistic, pvalue_of(statistic, null), null, assumptions, hypothesis=hypothesis_of(received)
    )


def _require_parameters(n_parameters: object) -> None:
    whole("n_parameters", n_parameters, least=0, hint="Of a forecast from outside pass 0")
