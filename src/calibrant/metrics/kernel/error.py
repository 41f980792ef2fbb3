"""The squared kernel calibration error, and what is known of it.

What is observed is |D + N|^2 = |D|^2 + 2 |D| (N along D) + |N|^2, with the true miscalibration D and noise N in the kernel's
space of functions. Draws of the last two terms, with the direction of D taken from what was seen, give the law under
calibration (|D| = 0), the lower end of the interval (the |D| at which so much is seldom seen) and the detectable error (the |D|
that is found four times in five). The upper end is what would seldom be exceeded if noise were added to what was seen.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Literal, Unpack, get_args

import numpy as np
import numpy.typing as npt
from scipy.special import stdtr, stdtrit

from calibrant._core.links import FloatArray
from calibrant._core.parameters import choice, left_out, number, whole
from calibrant._core.problem import IntArray, Problem, as_simplex
from calibrant._core.spelling import folded
from calibrant._core.validation import DataOptions, as_problem
from calibrant._core.warnings import CalibrationWarning
from calibrant.metrics.kernel.pairs import Blocks, Pairs, pairs_of
from calibrant.metrics.kinds.metric import Own
from calibrant.metrics.uncertainty.estimate import POWER, Estimate, Resampling, least_pvalue_of, pvalue_of
from calibrant.notions import Notion, as_notion
from calibrant.sums.draws import Bootstrap, labels_of

Sums = list[tuple[FloatArray, FloatArray]]
Estimator = Literal["unbiased", "biased", "block", "linear"]

SMALLEST_BANDWIDTH = 1e-100
"""What is smaller is raised to it: nothing but equal forecasts is near, and no quotient overflows."""


def skce_estimate(problem: Problem, resampling: Resampling) -> Estimate:
    """Estimate the squared kernel calibration error on the whole simplex, unbiased, with its interval."""
    found = list(pairs_of(problem, None, None))
    if not found:
        return Estimate(value_of(found, "unbiased"), float("nan"), float("nan"), pvalue=float("nan"))
    if found[0].too_many:
        return _estimate_of_blocks(found[0].blocks(), resampling.level)
    return _estimate_of_pairs(problem, found[0], resampling)


@Own(
    "skce",
    "SKCE",
    "Widmann et al. 2019",
    range=(-2.0, 2.0),
    estimator=skce_estimate,
    notion="canonical",
    may_be_undefined=True,
).declare
def kernel_calibration_error(
    y_true: npt.ArrayLike,
    y_prob: npt.ArrayLike | None = None,
    *,
    notion: str | Notion | None = None,
    estimator: Estimator = "unbiased",
    bandwidth: float | None = None,
    block_size: int | None = None,
    **data: Unpack[DataOptions],
) -> float:
    """Squared kernel calibration error (SKCE): whether similar forecasts err in similar directions; 0 is calibrated.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    notion : {"canonical", "binary", "confidence", "top-label", "class-wise"} or Notion, optional
        By default ``"canonical"``: all classes at once, one column being two classes. Other notions make binary problems;
        the error is their mean by shares. (The residuals of two classes are opposite and both count:
        ``"canonical"`` is twice ``"binary"``.)
    estimator : {"unbiased", "biased", "block", "linear"}, default="unbiased"
        Which pairs are looked at. ``"unbiased"``: each row with each other one; the mean over samples is the true error, so
        that a calibrated forecast has a negative value as often as not. ``"biased"``: each row with itself too, never negative.
        ``"block"``: rows within the same block, unbiased too. ``"linear"``: blocks of two.
    bandwidth : float, optional
        Distance at which the kernel has fallen to 1/e. By default the median distance between different forecasts, of at
        most 300 that are taken at equal steps of weight (no randomness); 1 if all forecasts are equal.
    block_size : int, optional
        Rows in each block, at least 2. By default as many as make 32 blocks and a bounded time.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    float
        Mean of  h = k(p, q) <e_y - p, e_z - q>  over pairs of rows with forecasts p, q and classes y, z; e_y has a one at
        y and zeros elsewhere, and  k(p, q) = exp(-distance / bandwidth)  with the total variation distance. In [-2, 2].

    Warns
    -----
    CalibrationWarning
        If there is no pair, as of a single row: the error is not defined, and NaN is returned.

    See Also
    --------
    kernel_test : Whether it is larger than chance allows.

    Notes
    -----
    Of all measures here it is the one that sees every miscalibration of the whole vector of probabilities, with any number of
    classes; the price is that its size says little: it has no unit of probability, and depends on the bandwidth. Use it to test
    and to compare forecasts at one given bandwidth, not to state how far probabilities are off.

    Whole weights count as equal rows: copies make pairs. With other weights a row makes no pair with itself.

    Problems of scores take the time of a sort, with any number of rows. On the whole simplex of 3 classes or more all pairs
    are looked at while rows^2 * (classes + 10) <= 2^31 (12 800 rows of 3 classes, 4 400 of 100); of more rows the
    pairs within blocks, whose size keeps the time bounded: still unbiased, with more noise.

    References
    ----------
    Widmann, Lindsten, Zachariah, Calibration tests in multi-class classification: a unifying framework, NeurIPS 2019.

    Examples
    --------
    >>> from calibrant.metrics import kernel_calibration_error
    >>> y, p = [0, 0, 1, 1] * 10, [0.1, 0.8, 0.3, 0.9] * 10
    >>> round(kernel_calibration_error(y, p), 4)
    0.0564
    """
    problem = as_problem(y_true, y_prob, **data)
    found = pairs_of(problem, as_pairs_notion(notion, problem), as_bandwidth(bandwidth))
    return value_of(seen_by(as_estimator(estimator), found), estimator, as_block_size(block_size, estimator))


def seen_by(estimator: Estimator, found: Iterable[Pairs]) -> Iterator[Pairs]:
    """Yield the problems that have pairs for the estimator: blocks hold different rows, and a row's copies are none."""
    return (pairs for pairs in found if estimator in ("unbiased", "biased") or pairs.weight.size > 1)


def value_of(found: Iterable[Pairs], estimator: Estimator, block_size: int | None = None) -> float:
    """Return the mean error of the problems that have pairs, by their shares; NaN with a warning if none has."""
    total = shares = 0.0
    for pairs in found:
        total += pairs.share * pairs.times * _value_of_one(pairs, estimator, block_size)
        shares += pairs.share
    if shares == 0:
        warnings.warn(
            "the kernel calibration error must have two rows that are predicted alike to compare; there is none, and the error "
            "is set to NaN. Pass more rows.",
            CalibrationWarning,
            stacklevel=3,
        )
        return float("nan")
    return total / shares


def _value_of_one(pairs: Pairs, estimator: Estimator, block_size: int | None) -> float:
    if estimator == "unbiased":
        return pairs.mean
    if estimator == "biased":
        return pairs.total / float(pairs.weight.sum()) ** 2
    return blocks_of(pairs, estimator, block_size).mean


def blocks_of(pairs: Pairs, estimator: Estimator, block_size: int | None) -> Blocks:
    """Return the blocks of the estimator of that name."""
    return pairs.blocks(2 if estimator == "linear" else block_size)


# What chance does


@dataclass(frozen=True, eq=False)
class Noise:
    """Draws of noise: ``squared`` are those of |N|^2 less its mean, ``along`` those of N along what was seen, shape (m,)."""

    squared: FloatArray
    along: FloatArray

    def lengths(self, value: float) -> FloatArray:
        """Length of D that shows the value with each draw of noise; 0 where noise alone shows as much."""
        root = np.sqrt(np.maximum(self.along**2 + value - self.squared, 0.0))
        return np.where(self.squared >= value, 0.0, np.maximum(root - self.along, 0.0))


def noise_of_labels(problem: Problem, found: list[Pairs], n_resamples: int, rng: np.random.Generator) -> Noise:
    """Draw labels from the forecast itself."""
    simplex = as_simplex(problem)
    labels = iter(labels_of(simplex, n_resamples, rng))
    numbers = simplex.prob.size if simplex.weights.repeat_rows else simplex.size
    step = max(1, min(pairs.held for pairs in found) // numbers)
    together = iter(lambda: list(islice(labels, step)), [])
    return _noise(found, (_looked_at(found, np.stack(some)) for some in together))


def _looked_at(found: list[Pairs], labels: IntArray) -> Sums:
    return [pairs.drawn(labels) for pairs in found]


def noise_of_rows(problem: Problem, found: list[Pairs], n_resamples: int, rng: np.random.Generator) -> Noise:
    """Draw rows again."""
    bootstrap = Bootstrap(problem.weights, n_resamples, rng)
    return _noise(found, [[pairs.redrawn(bootstrap.counts, bootstrap.group, bootstrap.step) for pairs in found]])


def _noise(found: list[Pairs], draws: Iterable[Sums]) -> Noise:
    """Put problems and draws together."""
    shares = sum(pairs.share for pairs in found)
    scale = np.array([pairs.share * pairs.times / pairs.number / shares for pairs in found])
    seen = np.sqrt(max(float(scale @ [pairs.total for pairs in found]), np.finfo(float).tiny))
    squared, along = zip(*(scale @ np.array(sums).transpose(1, 0, 2) for sums in draws), strict=True)
    return Noise(np.concatenate(squared), np.concatenate(along) / seen)


def _estimate_of_pairs(problem: Problem, pairs: Pairs, resampling: Resampling) -> Estimate:
    value = pairs.times * pairs.mean
    seen = np.sqrt(pairs.times * max(pairs.total, 0.0) / pairs.number)
    drawn = noise_of_labels(problem, [pairs], resampling.n_resamples, resampling.rng)
    kinds = (drawn, noise_of_rows(problem, [pairs], resampling.n_resamples, resampling.rng))
    tail = resampling.level / 2.0
    lower = min(float(np.quantile(noise.lengths(value), tail)) ** 2 for noise in kinds)
    reach = max(float(np.quantile(2.0 * seen * noise.along + noise.squared, 1.0 - tail)) for noise in kinds)
    critical = float(np.quantile(drawn.squared, 1.0 - resampling.level))
    found_with = max(float(np.quantile(noise.lengths(critical), POWER)) for noise in kinds)
    return Estimate(
        value=value,
        lower=min(lower, value),
        upper=max(value + reach, value),
        noise_floor=0.0,
        pvalue=pvalue_of(value, drawn.squared),
        least_pvalue=least_pvalue_of(drawn.squared),
        debiased=value,
        detectable=found_with**2,
    )


def _estimate_of_blocks(blocks: Blocks, level: float) -> Estimate:
    """Student's interval and test, from the spread between blocks."""
    df, error = blocks.total.size - 1.0, blocks.standard_error
    reach = float(stdtrit(df, 1.0 - level / 2.0)) * error
    return Estimate(
        value=blocks.mean,
        lower=blocks.mean - reach,
        upper=blocks.mean + reach,
        noise_floor=0.0,
        pvalue=float(stdtr(df, -blocks.mean / error)) if error > 0 else 1.0,
        debiased=blocks.mean,
        detectable=float(stdtrit(df, 1.0 - level) + stdtrit(df, POWER)) * error,
    )


# What the caller chose


def as_pairs_notion(notion: str | Notion | None, problem: Problem) -> Notion | None:
    """Return the notion of that name, or None for the whole simplex."""
    is_whole = notion is None or (isinstance(notion, str) and folded(notion) == "canonical")
    return None if is_whole else as_notion(notion, problem)


def as_bandwidth(bandwidth: float | None) -> float | None:
    """Return a positive number, or None."""
    if bandwidth is None:
        return None
    median = "Leave it out for the median distance between forecasts"
    return max(number("bandwidth", bandwidth, above=0.0, hint=median), SMALLEST_BANDWIDTH)


def as_estimator(estimator: Estimator) -> Estimator:
    """Return the name, if it is one."""
    choice("estimator", estimator, get_args(Estimator), hint="'unbiased' is usual")
    return estimator


def as_block_size(block_size: int | None, estimator: Estimator) -> int | None:
    """Return a whole number from 2, or None; only the block estimator has one."""
    if block_size is None:
        return None
    if estimator != "block":
        left_out("block_size", block_size, f"with estimator {estimator!r}", hint="Pass estimator='block'")
    return whole("block_size", block_size, least=2, hint="Leave it out for 32 blocks")
