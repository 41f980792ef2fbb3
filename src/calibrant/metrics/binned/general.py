"""The general calibration error: a notion, a binning, a loss and a norm. The named metrics are points of it."""

from __future__ import annotations

from typing import Unpack

import numpy.typing as npt

from calibrant._core.parameters import number, resamples
from calibrant._core.validation import DataOptions, as_problem
from calibrant.binning import Binning, as_binning
from calibrant.lenses.bins import InBins
from calibrant.metrics.binned.losses import Loss, Norm, NormOfBins
from calibrant.metrics.kinds.through_lens import ThroughLens
from calibrant.metrics.uncertainty.estimate import Estimate, Resampling
from calibrant.metrics.uncertainty.residuals import error_through
from calibrant.metrics.uncertainty.several import estimates
from calibrant.notions import Notion, as_notion
from calibrant.sums import Predictions
from calibrant.sums.draws import Rng, as_rng


def calibration_error(
    y_true: npt.ArrayLike | Predictions,
    y_prob: npt.ArrayLike | None = None,
    *,
    notion: str | Notion | None = None,
    binning: int | Binning = 15,
    loss: str | Loss = "gap",
    norm: str | Norm = "l1",
    across: str | Norm | None = None,
    **data: Unpack[DataOptions],
) -> float:
    """Distance between probabilities and event rates over the bins of a notion's problems; 0 is calibrated.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Predictions
        Class labels: integers, strings or booleans; or predictions that are read in batches, without ``y_prob``.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one. Logits are declared with ``input="logit"``, never guessed.
    notion : str or Notion, optional
        What the statement speaks of: ``"binary"``, ``"confidence"``, ``"top-label"``, ``"class-wise"``,
        ``"top-3-confidence"``, ``"top-3-label"`` and others that ``calibrant list notions`` prints, or an object such as
        `WithinGroups`. By default ``"binary"`` for two classes and ``"confidence"`` for more.
    binning : int or Binning, default=15
        How scores are cut; a number n means ``EqualWidth(n)``.
    loss : {"gap", "squared gap", "debiased squared gap", "binomial test", ...} or callable, default="gap"
        A function of (problem, bins) with one value a bin. "binomial test", "mid-p test", "clopper-pearson test" and "t-test"
        are percentages of rejected predictions: see `BinTest`.
    norm : {"l1", "l2", "l<p>", "root", "max"} or callable, default="l1"
        A function of (values, weights) over the bins that hold rows; the weights sum to one. "l3" and "l1.5" are l_p
        norms, (sum of weight * abs(value)^p)^(1/p), for any p from 1. "root" is the root of the weighted mean, of losses
        that are squares.
    across : {"l1", "l2", "l<p>", "max"} or callable, optional
        How the problems of the notion are put together. By default one norm is taken over the bins of all of them; with
        ``across`` each problem has its own norm, and this is a function of (norms, shares).
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    float
        The error, in [0, 1] for the built-in losses and norms, but that the mean of a debiased loss can be negative, and that
        tests count in percent, in [0, 100]. 0 where a notion finds no row to speak of.

    Raises
    ------
    ValueError
        If values are not what they must be: not finite, outside [0, 1], rows that do not sum to one, unknown labels.
    TypeError
        If the data are not numbers, or the labels neither integers, strings nor booleans.

    Notes
    -----
    The plug-in estimate is biased upwards: a calibrated forecast has a positive error in every finite sample. `assess`
    states that noise floor.

    Examples
    --------
    >>> from calibrant import EqualMass, calibration_error
    >>> round(calibration_error([0, 1, 1, 1], [0.1, 0.4, 0.8, 0.9], binning=EqualMass(2)), 3)
    0.2
    """
    problem = as_problem(y_true, y_prob, **data)
    chosen, lens = as_notion(notion, problem), InBins(as_binning(binning))
    return error_through(problem, chosen, lens, NormOfBins.of(loss, norm, across))


def estimate_calibration_error(
    y_true: npt.ArrayLike | Predictions,
    y_prob: npt.ArrayLike | None = None,
    *,
    notion: str | Notion | None = None,
    binning: int | Binning = 15,
    loss: str | Loss = "gap",
    norm: str | Norm = "l1",
    across: str | Norm | None = None,
    level: float = 0.05,
    n_resamples: int = 500,
    rng: Rng = 0,
    **data: Unpack[DataOptions],
) -> Estimate:
    """Any calibration error, with its interval, noise floor, p-value and bias-corrected value.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Predictions
        Class labels: integers, strings or booleans; or `predictions` that are read in batches, without ``y_prob``.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one. Logits are declared with ``input="logit"``, never guessed.
    notion : str or Notion, optional
        What the statement speaks of; this and the next four say which error, as in `calibration_error`.
    binning : int or Binning, default=15
        How scores are cut; a number n means ``EqualWidth(n)``.
    loss : {"gap", "squared gap", "debiased squared gap", "binomial test", ...} or callable, default="gap"
        What is measured in each bin. "binomial test", "mid-p test", "clopper-pearson test" and "t-test" are percentages of
        rejected predictions: see `BinTest`.
    norm : {"l1", "l2", "l<p>", "root", "max"} or callable, default="l1"
        How the bins are put together.
    across : {"l1", "l2", "l<p>", "max"} or callable, optional
        How the problems of the notion are put together, if each has its own norm.
    level : float, default=0.05
        One minus the coverage of the interval, a fraction in (0, 1).
    n_resamples : int, default=500
        Resamples for interval and p-value; the smallest possible p-value is 1 / (n_resamples + 1).
    rng : numpy.random.Generator, int or None, default=0
        Source of randomness. The default makes two calls on the same data agree; None draws anew.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    Estimate
        ``value``, ``lower``, ``upper``, ``noise_floor``, ``pvalue``, ``debiased`` and ``detectable``; what `assess` states of a
        metric of this spelling.

    Notes
    -----
    How the interval is made, and how often it covers: docs/uncertainty.md. Where the bins depend on the outcomes, the loss is
    a function, or the debiased loss stands under another norm than "root" or "l1", the error is computed anew on
    labels drawn from the forecast: the interval is then the value -+ the noise of a calibrated forecast, and ``debiased`` and
    ``detectable`` are None. Percentages of rejected predictions have no interval, and ``lower`` and ``upper`` are None:
    they depend on the number of rows, and value -+ noise covered their mean over draws in 88 to 100 % of the data sets
    (docs/coverage.md).

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant import EqualMass
    >>> from calibrant.metrics import estimate_calibration_error
    >>> rng = np.random.default_rng(0)
    >>> prob = rng.dirichlet(np.ones(3), 1000)
    >>> label = [rng.choice(3, p=row) for row in prob]
    >>> found = estimate_calibration_error(label, prob, notion="top-2-label", binning=EqualMass(10), n_resamples=99)
    >>> found.lower <= found.debiased <= found.upper, found.pvalue > 0.05
    (True, True)
    """
    number("level", level, above=0.0, below=1.0, hint="For a 95 % interval pass level=0.05")
    resamples(n_resamples, hint="500 is usual")
    size = NormOfBins.of(loss, norm, across)
    metric = ThroughLens(
        "calibration-error",
        "GCE",
        "Matsubara et al. 2023",
        lens=InBins(as_binning(binning)),
        size=size,
        range=size.range,
    )
    resampling = Resampling(float(level), int(n_resamples), as_rng(rng))
    return estimates([metric], as_problem(y_true, y_prob, **data), 15, resampling, notion=notion)[metric.name]
