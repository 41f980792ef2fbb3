"""Is calibration needed at all: is there more evidence for a recalibration than labels drawn from the forecast give?"""

from __future__ import annotations

from itertools import chain
from typing import Unpack

import numpy.typing as npt

from calibrant._core.problem import as_simplex
from calibrant._core.registry import declare
from calibrant._core.validation import DataOptions, as_problem
from calibrant.calibrators.simplex.evidence.bayes_factor import BayesFactor
from calibrant.significance.null import label_draws, require_resamples
from calibrant.significance.result import INDEPENDENT, OUTSIDE, TestResult, hypothesis_of
from calibrant.sums.draws import Rng, as_rng, labels_of


@declare("test", "bayes-factor", symbol="BF", source="calibrant", also=("evidence",))
def bayes_factor_test(
    y_true: npt.ArrayLike,
    y_prob: npt.ArrayLike | None = None,
    *,
    n_resamples: int = 1000,
    rng: Rng = 0,
    **data: Unpack[DataOptions],
) -> TestResult:
    """Test whether calibration is needed at all, by the Bayes factor of a recalibration against the forecast (BF).

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    n_resamples : int, default=1000
        Number of label sets drawn from the forecast; the smallest possible p-value is 1 / (n_resamples + 1).
    rng : numpy.random.Generator, int or None, default=0
        Source of randomness. The default makes two calls on the same data agree.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    TestResult
        The statistic is the logarithm of the Bayes factor, in nats; large values speak for a recalibration.

    See Also
    --------
    calibrant.calibrators.EvidenceScaling : The recalibration itself; its ``evidence_`` is that of the fitted map.

    Notes
    -----
    Use it to decide whether to calibrate. The recalibration is that of `EvidenceScaling`: curves, features of rows and
    interactions of classes, with weights that are normal and variances from the prior that was learned from other forecasts.
    The logarithm of its likelihood is taken to the second order in the weights, at the forecast as it is, and the Bayes
    factor is a mean over 16 points of the prior of the variances. No map is fitted: a draw costs one pass over the rows.

    The p-value counts draws and needs no approximation to be valid. The statistic does: far from calibration, and where events
    occurred that were all but impossible, it is much too large. The ``evidence_`` of a fitted map is not.

    Of more than 16 classes the score of a class depends on its own probability alone, and of more than 197 on features that
    all classes share. Of whole weights each of the equal rows
    draws its label; with other weights a row moves with its weight.

    References
    ----------
    Good, The Bayes/non-Bayes compromise: a brief review, Journal of the American Statistical Association 1992.
    MacKay, Bayesian interpolation, Neural Computation 1992.

    Examples
    --------
    >>> from calibrant import load_digits_forecast
    >>> from calibrant.significance import bayes_factor_test
    >>> bayes_factor_test(*load_digits_forecast(), n_resamples=199).pvalue
    0.005
    """
    require_resamples(n_resamples)
    problem = as_problem(y_true, y_prob, **data)
    simplex = as_simplex(problem)
    factor = BayesFactor.of(simplex.forecast, simplex.weight * simplex.weights.rows_per_weight)
    draws = labels_of(simplex, n_resamples, as_rng(rng))
    values = factor.log_of(chain([simplex.label], draws))
    observed, null = float(values[0]), label_draws(values[1:])
    return TestResult(
        "Bayes factor",
        observed,
        float(null.sf(observed)),
        null,
        (OUTSIDE, INDEPENDENT),
        hypothesis=hypothesis_of(problem),
    )
