"""The kernel test: is the squared kernel calibration error larger than sampling noise explains?"""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import partial
from typing import Literal, Unpack, get_args

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln, stdtr

from calibrant._core.arrays import FloatArray
from calibrant._core.border import DataOptions, as_problem
from calibrant._core.checks import choice, resamples
from calibrant._core.registry import declare
from calibrant.exceptions import CalibrationWarning
from calibrant.metrics.kernel import (
    Blocks,
    as_bandwidth,
    as_block_size,
    as_pairs_notion,
    blocks_of,
    noise_of_labels,
    noise_of_rows,
    pairs_of,
    seen_by,
    value_of,
)
from calibrant.notions import Notion
from calibrant.significance.result import INDEPENDENT, OUTSIDE, Draws, KnownLaw, TestResult, hypothesis_of, label_draws
from calibrant.sums.draws import Rng, as_rng

Null = Literal["consistency", "bootstrap"]
TestEstimator = Literal["unbiased", "block", "linear"]

NAME = "kernel"


@declare("test", "kernel", symbol="SKCE", source="Widmann et al. 2019")
def kernel_test(
    y_true: npt.ArrayLike,
    y_prob: npt.ArrayLike | None = None,
    *,
    notion: str | Notion | None = None,
    estimator: TestEstimator = "unbiased",
    null: Null = "consistency",
    n_resamples: int = 1000,
    bandwidth: float | None = None,
    block_size: int | None = None,
    rng: Rng = 0,
    **data: Unpack[DataOptions],
) -> TestResult:
    """Test whether a forecast is calibrated as a whole, with any number of classes, by its kernel error (SKCE).

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    notion : {"canonical", "binary", "confidence", "top-label", "class-wise"} or Notion, optional
        By default ``"canonical"``: the probabilities of all classes at once.
    estimator : {"unbiased", "block", "linear"}, default="unbiased"
        Which pairs of rows are looked at, see `kernel_calibration_error`. With all pairs the null distribution is drawn; with
        blocks of rows the means of blocks are compared with their spread, in one pass and with much less power.
    null : {"consistency", "bootstrap"}, default="consistency"
        How it is drawn. ``"consistency"``: labels from the forecast itself; the test is exact, for any number of rows.
        ``"bootstrap"``: the observed rows, drawn again and centred (Arcones and Gine); right for many rows, too liberal where
        events are rare.
    n_resamples : int, default=1000
        Number of draws; the smallest possible p-value is 1 / (n_resamples + 1).
    bandwidth : float, optional
        Distance at which the kernel has fallen to 1/e; by default the median distance between forecasts.
    block_size : int, optional
        Rows in each block, with ``estimator="block"``. By default as many as make 32 blocks and a bounded time.
    rng : numpy.random.Generator, int or None, default=0
        Source of randomness. The default makes two calls on the same data agree.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    TestResult
        The statistic is the error, of blocks the error divided by its standard error; large values speak against calibration.

    Warns
    -----
    CalibrationWarning
        If there is no pair of rows, or a single block: the statistic is NaN and the p-value 1.

    Notes
    -----
    Use it to ask whether the vector of probabilities is calibrated in the strong sense: given the forecast, each class occurs
    with the predicted probability. It needs no bins and sees any miscalibration when there are rows enough, best an error of
    one sign over distances of the bandwidth. It does not show which class or which range of scores is wrong, and of many
    classes it needs many rows: a test of one notion, such as the top label, has more power for the question that it asks.

    Whole weights are numbers of equal rows; with other weights a row moves with its weight. Where
    `kernel_calibration_error` turns to blocks, of many rows of 3 classes or more, so does the test. The standard errors of
    several problems add up, which is safe and can cost power. Of more than 4096 different scores the draws, not the
    statistic, put neighbours together.

    References
    ----------
    Widmann, Lindsten, Zachariah, Calibration tests in multi-class classification: a unifying framework, NeurIPS 2019.
    Arcones, Gine, On the bootstrap of U and V statistics, Annals of Statistics 1992.
    Bröcker, Smith, Increasing the reliability of reliability diagrams, Weather and Forecasting 2007.

    Examples
    --------
    >>> from calibrant import load_digits_forecast
    >>> from calibrant.significance import kernel_test
    >>> kernel_test(*load_digits_forecast(), n_resamples=199).pvalue
    0.005
    """
    _require(estimator, null, n_resamples)
    problem = as_problem(y_true, y_prob, **data)
    words = as_pairs_notion(notion, problem)
    found = list(seen_by(estimator, pairs_of(problem, words, as_bandwidth(bandwidth))))
    spoken = hypothesis_of(problem, words)
    size = as_block_size(block_size, estimator)
    assumptions: tuple[str, ...] = (OUTSIDE, INDEPENDENT)
    if not found:
        undefined = value_of(found, estimator)
        return TestResult(NAME, undefined, 1.0, label_draws(np.zeros(0)), assumptions, hypothesis=spoken)
    if estimator != "unbiased" or any(pairs.too_many for pairs in found):
        blocks = [(pairs.share, blocks_of(pairs, estimator, size)) for pairs in found]
        return replace(_test_of_blocks(blocks, assumptions), hypothesis=spoken)
    value, generator = value_of(found, estimator), as_rng(rng)
    if null == "consistency":
        law = label_draws(noise_of_labels(problem, found, n_resamples, generator).squared)
    else:
        law = Draws(
            f"{n_resamples} draws of centred rows", noise_of_rows(problem, found, n_resamples, generator).squared
        )
        assumptions += ("There are enough rows for them to represent the population.",)
    return TestResult(NAME, value, float(law.sf(value)), law, assumptions, hypothesis=spoken)


def _test_of_blocks(found: list[tuple[float, Blocks]], assumptions: tuple[str, ...]) -> TestResult:
    value = sum(share * blocks.mean for share, blocks in found)
    error = sum(share * blocks.standard_error for share, blocks in found)
    df = min(blocks.total.size for _, blocks in found) - 1
    law = student(max(df, 1))
    if df == 0:
        warnings.warn(
            "the kernel test must have two blocks to estimate their variance; there is one, and the p-value is set to 1. "
            "Pass more rows, a smaller block_size, or estimator='unbiased'.",
            CalibrationWarning,
            stacklevel=3,
        )
    if df == 0 or error == 0:  # without a spread, or without any residual
        return TestResult(NAME, float("nan") if df == 0 else 0.0, 1.0, law, assumptions)
    enough = "There are enough blocks for their mean to be normal."
    return TestResult(NAME, value / error, float(law.sf(value / error)), law, (*assumptions, enough))


def student(df: int) -> KnownLaw:
    """Student's law."""
    description = f"Student's t, {df} degree{'' if df == 1 else 's'} of freedom"
    return KnownLaw(description, partial(_survival, df), partial(_density, df), support=(-np.inf, np.inf), df=df)


def _survival(df: int, x: npt.ArrayLike) -> FloatArray:
    return np.asarray(stdtr(df, -np.asarray(x, dtype=np.float64)), dtype=np.float64)


def _density(df: int, x: npt.ArrayLike) -> FloatArray:
    at = np.asarray(x, dtype=np.float64)
    scale = np.exp(gammaln((df + 1.0) / 2.0) - gammaln(df / 2.0)) / np.sqrt(df * np.pi)
    return np.asarray(scale * (1.0 + at**2 / df) ** (-(df + 1.0) / 2.0), dtype=np.float64)


def _require(estimator: str, null: str, n_resamples: object) -> None:
    for name, value, known in (("estimator", estimator, TestEstimator), ("null", null, Null)):
        choice(name, value, get_args(known), hint=f"{get_args(known)[0]!r} is usual")
    resamples(n_resamples, hint="1000 is usual")
