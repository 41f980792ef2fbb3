"""Spiegelhalter's Z: is the Brier score what the forecast itself expects it to be?"""

from __future__ import annotations

import warnings
from typing import Unpack

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from calibrant._core.links import FloatArray
from calibrant._core.problem import Problem, as_simplex
from calibrant._core.registry import declare
from calibrant._core.validation import DataOptions, as_problem
from calibrant._core.warnings import CalibrationWarning
from calibrant.notions import Notion, as_notion
from calibrant.significance.null import standard_normal
from calibrant.significance.result import INDEPENDENT, OUTSIDE, TestResult, hypothesis_of
from calibrant.sums import Predictions
from calibrant.sums.unread import added

BLOCK = 1 << 22
"""Probabilities looked at together."""

ROUNDING = 1e-14
"""A gain below it is rounding: a row of equal probabilities has none."""


@declare("test", "spiegelhalter", symbol="Z", source="Spiegelhalter 1986")
def spiegelhalter_test(
    y_true: npt.ArrayLike | Predictions,
    y_prob: npt.ArrayLike | None = None,
    *,
    notion: str | Notion | None = None,
    **data: Unpack[DataOptions],
) -> TestResult:
    """Test whether the Brier score equals its expected value under calibration (Spiegelhalter's Z).

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Predictions
        Class labels: integers, strings or booleans; or `predictions` that are read in batches, without ``y_prob``.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    notion : str or Notion, optional
        Whose Brier score: by default that of the event of two classes (``"binary"``), and of the top label of more
        (``"confidence"``). ``"class-wise"`` takes the whole Brier score, summed over classes.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    TestResult
        The statistic is  z = sum of weight * (outcome - p) * (1 - 2 p)  divided by its standard deviation under calibration;
        the test is two-sided. Positive: the Brier score is worse than expected, the forecast over-confident. Negative:
        it is better, the forecast under-confident.

    Warns
    -----
    CalibrationWarning
        If every probability is 0, 1/2 or 1, so that the score has no variance: z is 0 and the p-value 1 where all certain
        events occurred, else z is infinite and the p-value 0.

    Notes
    -----
    The outcomes of a row are dependent, and the variance counts that: of the label drawn from the row's own probabilities, for
    all classes that the notion speaks of at once. The test sees over- and under-confidence and little else: rows near 1/2
    hardly count, and errors in both directions can cancel to z = 0.

    References
    ----------
    Spiegelhalter, Probabilistic prediction in patient management and clinical trials, Statistics in Medicine 1986.

    Examples
    --------
    >>> from calibrant import spiegelhalter_test
    >>> spiegelhalter_test([0, 1, 1, 0] * 25, [0.2, 0.9, 0.7, 0.3] * 25)
    TestResult(Spiegelhalter: statistic=-5.15122, pvalue<=0.001)
    """
    problem = as_problem(y_true, y_prob, **data)
    chosen = as_notion(notion, problem)
    excess, variance = added(problem, lambda rows: _excess(rows, chosen), "Spiegelhalter's Z").tolist()
    if variance > 0:
        z = excess / np.sqrt(variance)
    else:
        z = float(np.sign(excess)) * np.inf if excess else 0.0
        warnings.warn(
            "the Brier score must have some variance under calibration; every probability is 0, 1/2 or 1. "
            f"z is set to {z:g}. Use pearson_test, which looks at each forecast by itself.",
            CalibrationWarning,
            stacklevel=2,
        )
    simplex = as_simplex(problem)
    return TestResult(
        "Spiegelhalter",
        float(z),
        float(2.0 * ndtr(-abs(z))),
        standard_normal(),
        (OUTSIDE, INDEPENDENT, *simplex.weights.assumptions, "There are enough rows for a sum to be normal."),
        alternative="two-sided",
        hypothesis=hypothesis_of(problem, chosen),
    )


def _excess(problem: Problem, notion: Notion) -> FloatArray:
    """Return half of what the notion's Brier score, summed, exceeds its expectation by, and its variance, shape (2,)."""
    simplex = as_simplex(problem)
    squared = simplex.weights.of_variance
    step = max(1, BLOCK // simplex.prob.shape[1])
    excess = variance = 0.0
    for start in range(0, simplex.size, step):
        rows = slice(start, start + step)
        prob, label = simplex.prob[rows], simplex.label[rows]
        gain = _gain(prob, notion)
        excess += float(simplex.weight[rows] @ gain[np.arange(label.size), label])
        variance += float(squared[rows] @ np.einsum("ij,ij,ij->i", prob, gain, gain))
    return np.array([excess, variance])


def _gain(prob: FloatArray, notion: Notion) -> FloatArray:
    """Return what each class, if it occurs, adds to half the Brier score beyond the expectation, shape (n, K)."""
    slope = np.zeros(prob.shape)
    for part in notion.parts(prob):
        part.put(slope, 1.0 - 2.0 * part.scores(prob))
    gain = slope - np.einsum("ij,ij->i", prob, slope)[:, None]
    return np.where(np.abs(gain) > ROUNDING, gain, 0.0)
