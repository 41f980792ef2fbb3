"""Calibration errors over bins: the general one, and the named ones, each a point of it; and those through other lenses."""

from __future__ import annotations

from typing import Unpack

from calibrant import lenses
from calibrant._core.arrays import ArrayLike
from calibrant._core.border import DataOptions, as_problem
from calibrant._core.checks import as_level, flag, resamples
from calibrant.binning import Binning, EqualMass, as_binning
from calibrant.binning.isotonic import BoundedIsotonic
from calibrant.metrics.bin_losses import BinTest, Loss, Norm, NormOfBins, TestName
from calibrant.metrics.estimate import Estimate, Resampling
from calibrant.metrics.kinds import ThroughLens, YProb, YTrue, estimates, point
from calibrant.metrics.noise import error_through
from calibrant.notions import NotionLike, ThresholdedClassWise, as_notion
from calibrant.sums.draws import Rng, as_rng

# The general calibration error: a notion, a binning, a loss and a norm. The named metrics are points of it


def calibration_error(
    y_true: YTrue,
    y_prob: YProb = None,
    *,
    notion: NotionLike = None,
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
    chosen, lens = as_notion(notion, problem), lenses.InBins(as_binning(binning))
    return error_through(problem, chosen, lens, NormOfBins.of(loss, norm, across))


def estimate_calibration_error(
    y_true: YTrue,
    y_prob: YProb = None,
    *,
    notion: NotionLike = None,
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
    How the interval is made, and how often it covers: docs/intervals.md. Where the bins depend on the outcomes, the loss is
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
    as_level(level)
    resamples(n_resamples, hint="500 is usual")
    size = NormOfBins.of(loss, norm, across)
    metric = ThroughLens(
        "calibration-error",
        "GCE",
        "Matsubara et al. 2023",
        lens=lenses.InBins(as_binning(binning)),
        size=size,
        range=size.range,
    )
    resampling = Resampling(float(level), int(n_resamples), as_rng(rng))
    return estimates([metric], as_problem(y_true, y_prob, **data), 15, resampling, notion=notion)[metric.name]


# Expected, maximum, root mean squared and debiased calibration error over bins, each a point of `calibration_error`


MASS = EqualMass(15)


ECE = point("ece", "ECE", "Naeini et al. 2015; Guo et al. 2017")


@ECE.declare
def expected_calibration_error(
    y_true: YTrue,
    y_prob: YProb = None,
    *,
    notion: NotionLike = None,
    binning: int | Binning = 15,
    **data: Unpack[DataOptions],
) -> float:
    """Mean gap between probability and event rate over bins (ECE), in [0, 1]; 0 is calibrated.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Predictions
        Class labels: integers, strings or booleans; or `predictions` that are read in batches, without ``y_prob``.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    notion : str or Notion, optional
        By default ``"binary"`` for two classes and ``"confidence"`` for more.
    binning : int or Binning, default=15
        How scores are cut; a number n means ``EqualWidth(n)``.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    float
        Sum over bins b of  weight(b) / weight  *  abs(event rate(b) - mean probability(b)).

    Notes
    -----
    Biased upwards, and the more so the more bins: compare only figures with the same binning and number of rows.

    References
    ----------
    Naeini, Cooper, Hauskrecht, Obtaining well calibrated probabilities using Bayesian binning, AAAI 2015.
    Guo, Pleiss, Sun, Weinberger, On calibration of modern neural networks, ICML 2017.

    Examples
    --------
    >>> from calibrant import expected_calibration_error
    >>> round(expected_calibration_error([0, 0, 1, 1], [0.1, 0.3, 0.6, 0.9], binning=2), 3)
    0.225
    """
    return ECE.of(y_true, y_prob, data, notion=notion, binning=binning)


MCE = point("mce", "MCE", "Naeini et al. 2015", norm="max")


@MCE.declare
def maximum_calibration_error(
    y_true: YTrue,
    y_prob: YProb = None,
    *,
    notion: NotionLike = None,
    binning: int | Binning = 15,
    **data: Unpack[DataOptions],
) -> float:
    """Largest gap between probability and event rate in any bin that holds rows (MCE), in [0, 1].

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Predictions
        Class labels: integers, strings or booleans; or `predictions` that are read in batches, without ``y_prob``.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    notion : str or Notion, optional
        By default ``"binary"`` for two classes and ``"confidence"`` for more.
    binning : int or Binning, default=15
        How scores are cut; a number n means ``EqualWidth(n)``.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    float
        Maximum over bins b of  abs(event rate(b) - mean probability(b)).

    Notes
    -----
    With equal-width bins it is often the gap of a bin with a handful of rows: read it beside the counts.

    Examples
    --------
    >>> from calibrant import maximum_calibration_error
    >>> round(maximum_calibration_error([0, 0, 1, 1], [0.1, 0.3, 0.6, 0.9], binning=2), 3)
    0.25
    """
    return MCE.of(y_true, y_prob, data, notion=notion, binning=binning)


RMSCE = point("rmsce", "RMSCE", "Hendrycks et al. 2019", norm="l2")


@RMSCE.declare
def root_mean_squared_calibration_error(
    y_true: YTrue,
    y_prob: YProb = None,
    *,
    notion: NotionLike = None,
    binning: int | Binning = 15,
    **data: Unpack[DataOptions],
) -> float:
    """Root of the mean squared gap between probability and event rate over bins (RMSCE), in [0, 1].

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Predictions
        Class labels: integers, strings or booleans; or `predictions` that are read in batches, without ``y_prob``.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    notion : str or Notion, optional
        By default ``"binary"`` for two classes and ``"confidence"`` for more.
    binning : int or Binning, default=15
        How scores are cut; a number n means ``EqualWidth(n)``.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    float
        Never smaller than the ECE over the same bins, never larger than the MCE.

    Examples
    --------
    >>> from calibrant.metrics import root_mean_squared_calibration_error
    >>> round(root_mean_squared_calibration_error([0, 0, 1, 1], [0.1, 0.3, 0.6, 0.9], binning=2), 3)
    0.226
    """
    return RMSCE.of(y_true, y_prob, data, notion=notion, binning=binning)


DEBIASED = point(
    "debiased-ece", "debiased l2", "Kumar et al. 2019", binning=MASS, loss="debiased squared gap", norm="root"
)


@DEBIASED.declare
def debiased_calibration_error(
    y_true: YTrue,
    y_prob: YProb = None,
    *,
    notion: NotionLike = None,
    binning: int | Binning = MASS,
    **data: Unpack[DataOptions],
) -> float:
    """Bias-corrected root mean squared calibration error (debiased l2), in [0, 1].

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Predictions
        Class labels: integers, strings or booleans; or `predictions` that are read in batches, without ``y_prob``.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    notion : str or Notion, optional
        By default ``"binary"`` for two classes and ``"confidence"`` for more.
    binning : int or Binning, default=EqualMass(15)
        How scores are cut; a number n means ``EqualWidth(n)``.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    float
        Root of the weighted mean over bins of  gap^2 - rate * (1 - rate) / (n - 1),  with the event rate and the number n of
        rows of a bin; 0 where that mean is negative, as it is for about half of all calibrated forecasts.

    Notes
    -----
    The mean of squares is unbiased for the squared error over these bins; its root is nearly so. A bin of one row counts as 0.
    Whole weights count as rows; others are scaled to a mean of one.

    References
    ----------
    Kumar, Liang, Ma, Verified uncertainty calibration, NeurIPS 2019.
    Bröcker, Estimating reliability and resolution of probability forecasts through decomposition of the empirical score,
    Climate Dynamics 2012.

    Examples
    --------
    >>> from calibrant.metrics import debiased_calibration_error
    >>> y, p = [0, 0, 1, 0, 1, 1, 1, 1], [0.1, 0.1, 0.1, 0.1, 0.6, 0.6, 0.6, 0.6]
    >>> round(debiased_calibration_error(y, p), 3)
    0.245
    """
    return DEBIASED.of(y_true, y_prob, data, notion=notion, binning=binning)


# Named calibration errors of each class over bins of equal mass


ACE = point("ace", "ACE", "Nixon et al. 2019", notion="class-wise", binning=EqualMass(15))


@ACE.declare
def adaptive_calibration_error(
    y_true: YTrue, y_prob: YProb = None, *, n_bins: int = 15, **data: Unpack[DataOptions]
) -> float:
    """Mean gap over bins of equal mass, averaged over classes (ACE), in [0, 1].

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Predictions
        Class labels: integers, strings or booleans; or `predictions` that are read in batches, without ``y_prob``.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one. One column stands for itself and its complement.
    n_bins : int, default=15
        Number of bins of equal mass for each class; equal scores are never split.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    float
        The class-wise calibration error with ``EqualMass(n_bins)``.

    References
    ----------
    Nixon, Dusenberry, Zhang, Jerfel, Tran, Measuring calibration in deep learning, CVPR workshops 2019.

    Examples
    --------
    >>> from calibrant.metrics import adaptive_calibration_error
    >>> round(adaptive_calibration_error([0, 0, 1, 1], [0.1, 0.3, 0.6, 0.9], n_bins=2), 3)
    0.225
    """
    return ACE.of(y_true, y_prob, data, binning=EqualMass(n_bins))


TACE = point(
    "tace", "TACE", "Nixon et al. 2019", also=("tece",), notion="thresholded-class-wise", binning=EqualMass(15)
)


@TACE.declare
def thresholded_adaptive_calibration_error(
    y_true: YTrue,
    y_prob: YProb = None,
    *,
    threshold: float | None = None,
    n_bins: int = 15,
    **data: Unpack[DataOptions],
) -> float:
    """Mean gap over bins of equal mass of the probabilities that are not small, averaged over classes (TACE), in [0, 1].

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Predictions
        Class labels: integers, strings or booleans; or `predictions` that are read in batches, without ``y_prob``.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one. One column stands for itself and its complement.
    threshold : float, optional
        Least probability that counts. By default 1 / n_classes.
    n_bins : int, default=15
        Number of bins of equal mass for each class; equal scores are never split.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    float
        The calibration error with ``ThresholdedClassWise(threshold)`` and ``EqualMass(n_bins)``: classes that have such
        probabilities have equal shares, however many rows they have. 0 where no class has any.

    Notes
    -----
    Arad and Rosset (2025) call it TECE. What they print is this with the threshold 1 / n_classes, over 15 bins and in percent;
    their cw-ECE is `classwise_calibration_error`, their conf-ECE `expected_calibration_error` of a table, both in percent too,
    and their BS `mean_class_brier_loss`.

    Nixon et al. divide by the number of all classes. Here a class without any probability that counts is left out of the
    mean, and bins of unequal mass, which ties make, count by their mass.

    References
    ----------
    Nixon, Dusenberry, Zhang, Jerfel, Tran, Measuring calibration in deep learning, CVPR workshops 2019.
    Arad, Rosset, Improving multi-class calibration through normalization-aware isotonic techniques, ICML 2025.

    Examples
    --------
    >>> from calibrant.metrics import thresholded_adaptive_calibration_error
    >>> P = [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.3, 0.3, 0.4]]
    >>> round(thresholded_adaptive_calibration_error([0, 1, 2], P), 3)
    0.367
    """
    return TACE.of(y_true, y_prob, data, notion=ThresholdedClassWise(threshold), binning=EqualMass(n_bins))


# Named calibration errors of each class against the rest


CW_ECE = point("classwise-ece", "CW-ECE", "Kull et al. 2019", notion="class-wise")


@CW_ECE.declare
def classwise_calibration_error(
    y_true: YTrue, y_prob: YProb = None, *, binning: int | Binning = 15, **data: Unpack[DataOptions]
) -> float:
    """Calibration error of each class against the rest, averaged over classes (CW-ECE), in [0, 1].

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Predictions
        Class labels: integers, strings or booleans; or `predictions` that are read in batches, without ``y_prob``.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    binning : int or Binning, default=15
        How the scores of each class are cut; a number n means ``EqualWidth(n)``.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    float
        Mean over the columns. With many classes most scores are near zero and so is this: compare like with like.

    Notes
    -----
    Arad and Rosset (2025) call it cw-ECE and print it in percent; `thresholded_adaptive_calibration_error` has their other
    words.

    References
    ----------
    Kull, Perello-Nieto, Kängsepp, Silva Filho, Song, Flach, Beyond temperature scaling, NeurIPS 2019.
    Arad, Rosset, Improving multi-class calibration through normalization-aware isotonic techniques, ICML 2025.

    Examples
    --------
    >>> from calibrant import classwise_calibration_error
    >>> round(classwise_calibration_error([0, 1, 2], [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.3, 0.3, 0.4]]), 3)
    0.244
    """
    return CW_ECE.of(y_true, y_prob, data, binning=binning)


CW_MCE = point(
    "classwise-mce", "CW-MCE", "Kull et al. 2019; Silva Filho et al. 2023, Def. 5", notion="class-wise", norm="max"
)


@CW_MCE.declare
def classwise_maximum_calibration_error(
    y_true: YTrue, y_prob: YProb = None, *, binning: int | Binning = 15, **data: Unpack[DataOptions]
) -> float:
    """Largest gap in any bin of any class against the rest (CW-MCE), in [0, 1].

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Predictions
        Class labels: integers, strings or booleans; or `predictions` that are read in batches, without ``y_prob``.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    binning : int or Binning, default=15
        How the scores of each class are cut; a number n means ``EqualWidth(n)``.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    float
        Maximum over classes and bins of  abs(event rate - mean probability).

    Notes
    -----
    Like every maximum it is often the gap of a bin with a handful of rows: read it beside the counts.

    References
    ----------
    Silva Filho, Song, Perello-Nieto, Santos-Rodriguez, Kull, Flach, Classifier calibration: a survey, Machine Learning 2023.

    Examples
    --------
    >>> from calibrant.metrics import classwise_maximum_calibration_error
    >>> P = [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.3, 0.3, 0.4]]
    >>> round(classwise_maximum_calibration_error([0, 1, 2], P), 3)
    0.6
    """
    return CW_MCE.of(y_true, y_prob, data, binning=binning)


MEAN_MCE = point(
    "classwise-mean-mce",
    "mean MCE",
    "Silva Filho et al. 2023, section 4.3",
    notion="class-wise",
    norm="max",
    across="l1",
)


@MEAN_MCE.declare
def classwise_mean_maximum_calibration_error(
    y_true: YTrue, y_prob: YProb = None, *, binning: int | Binning = 15, **data: Unpack[DataOptions]
) -> float:
    """Largest gap of each class against the rest, averaged over classes, in [0, 1].

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Predictions
        Class labels: integers, strings or booleans; or `predictions` that are read in batches, without ``y_prob``.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    binning : int or Binning, default=15
        How the scores of each class are cut; a number n means ``EqualWidth(n)``.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    float
        Mean over classes of the maximum over bins of  abs(event rate - mean probability).

    References
    ----------
    Silva Filho, Song, Perello-Nieto, Santos-Rodriguez, Kull, Flach, Classifier calibration: a survey, Machine Learning 2023.

    Examples
    --------
    >>> from calibrant.metrics import classwise_mean_maximum_calibration_error
    >>> P = [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.3, 0.3, 0.4]]
    >>> round(classwise_mean_maximum_calibration_error([0, 1, 2], P), 3)
    0.4
    """
    return MEAN_MCE.of(y_true, y_prob, data, binning=binning)


MAX_ECE = point(
    "classwise-max-ece", "max ECE", "Silva Filho et al. 2023, section 4.3", notion="class-wise", norm="l1", across="max"
)


@MAX_ECE.declare
def classwise_worst_calibration_error(
    y_true: YTrue, y_prob: YProb = None, *, binning: int | Binning = 15, **data: Unpack[DataOptions]
) -> float:
    """Calibration error of the worst class against the rest, in [0, 1].

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Predictions
        Class labels: integers, strings or booleans; or `predictions` that are read in batches, without ``y_prob``.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    binning : int or Binning, default=15
        How the scores of each class are cut; a number n means ``EqualWidth(n)``.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    float
        Maximum over classes of the mean gap over bins: the class-j ECE of the class that is calibrated worst. That of one
        class is ``expected_calibration_error`` with ``notion=OneVsRest(j)``.

    References
    ----------
    Silva Filho, Song, Perello-Nieto, Santos-Rodriguez, Kull, Flach, Classifier calibration: a survey, Machine Learning 2023.

    Examples
    --------
    >>> from calibrant.metrics import classwise_worst_calibration_error
    >>> P = [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.3, 0.3, 0.4]]
    >>> round(classwise_worst_calibration_error([0, 1, 2], P), 3)
    0.267
    """
    return MAX_ECE.of(y_true, y_prob, data, binning=binning)


# Named calibration errors of the top probability, given which class is predicted


TL_ECE = point("top-label-ece", "TL-ECE", "Gupta and Ramdas 2022", notion="top-label")


@TL_ECE.declare
def top_label_calibration_error(
    y_true: YTrue, y_prob: YProb = None, *, binning: int | Binning = 15, **data: Unpack[DataOptions]
) -> float:
    """Calibration error of the top probability given which class is predicted (TL-ECE), in [0, 1].

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Predictions
        Class labels: integers, strings or booleans; or `predictions` that are read in batches, without ``y_prob``.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one. With ``y_pred``, of shape (n_samples,): the probability of the class that
        each row predicts.
    binning : int or Binning, default=15
        How the scores of each predicted class are cut; a number n means ``EqualWidth(n)``. ``Unique()`` measures probabilities
        that take few values as they are.
    **data : DataOptions
        ``y_pred``, the class that each row predicts: with it a pair (label, probability) is measured, such as
        ``ByNotion(...).predict_top`` gives; by default the class of the highest probability. ``sample_weight``, ``labels``,
        ``pos_label``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    float
        Sum over predicted classes j and bins b of  weight(j, b) / weight  *  abs(event rate(j, b) - mean probability(j, b)).
        Never smaller than the confidence ECE over the same edges.

    Raises
    ------
    ValueError
        If values are not what they must be: not finite, outside [0, 1], rows that do not sum to one, unknown labels; with
        ``y_pred`` if ``y_prob`` is a table.
    TypeError
        If the data are not numbers, or the labels neither integers, strings nor booleans.

    References
    ----------
    Gupta, Ramdas, Top-label calibration and multiclass-to-binary reductions, ICLR 2022.

    Examples
    --------
    >>> from calibrant import top_label_calibration_error
    >>> round(top_label_calibration_error([0, 0, 1, 0], [[0.5, 0.5], [0.6, 0.4], [0.3, 0.7], [0.2, 0.8]]), 3)
    0.5
    >>> top_label_calibration_error(["cat", "dog", "dog"], [0.75, 0.75, 0.5], y_pred=["cat", "cat", "dog"])
    0.3333333333333333
    """
    return TL_ECE.of(y_true, y_prob, data, binning=binning)


TL_MCE = point("top-label-mce", "TL-MCE", "Gupta and Ramdas 2022", notion="top-label", norm="max")


@TL_MCE.declare
def top_label_maximum_calibration_error(
    y_true: YTrue, y_prob: YProb = None, *, binning: int | Binning = 15, **data: Unpack[DataOptions]
) -> float:
    """Largest gap in any bin of any predicted class (TL-MCE), in [0, 1].

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Predictions
        Class labels: integers, strings or booleans; or `predictions` that are read in batches, without ``y_prob``.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one. With ``y_pred``, of shape (n_samples,): the probability of the class that
        each row predicts.
    binning : int or Binning, default=15
        How the scores of each predicted class are cut; a number n means ``EqualWidth(n)``.
    **data : DataOptions
        ``y_pred``, the class that each row predicts, as in `top_label_calibration_error`; ``sample_weight``, ``labels``,
        ``pos_label``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    float
        Maximum over predicted classes and bins of the gap.

    Examples
    --------
    >>> from calibrant.metrics import top_label_maximum_calibration_error
    >>> round(top_label_maximum_calibration_error([0, 0, 1, 0], [[0.5, 0.5], [0.6, 0.4], [0.3, 0.7], [0.2, 0.8]]), 3)
    0.8
    """
    return TL_MCE.of(y_true, y_prob, data, binning=binning)


# The calibration error that tests each prediction in its bin


BOUNDED = BoundedIsotonic()


TCE = point("tce", "TCE", "Matsubara et al. 2023", binning=BOUNDED, loss=BinTest(), range=(0.0, 100.0))


@TCE.declare
def bin_test_calibration_error(
    y_true: ArrayLike,
    y_prob: YProb = None,
    *,
    notion: NotionLike = None,
    binning: int | Binning = BOUNDED,
    test: TestName = "binomial",
    level: float = 0.05,
    **data: Unpack[DataOptions],
) -> float:
    """Percentage of predictions that differ significantly from the event rate of their bin (TCE), in [0, 100].

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    notion : str or Notion, optional
        By default ``"binary"`` for two classes and ``"confidence"`` for more. The authors propose ``"class-wise"``.
    binning : int or Binning, default=BoundedIsotonic()
        How scores are cut; a number n means ``EqualWidth(n)``. TCE(Q) of the paper is ``EqualMass(10)``, TCE(V) ``Isotonic()``.
    test : {"binomial", "mid-p", "clopper-pearson", "t"}, default="binomial"
        The test of a prediction against the events of its bin: see `BinTest`.
    level : float, default=0.05
        Level of each test, a fraction in (0, 1).
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`. Weights must
        be whole: a test counts rows.

    Returns
    -------
    float
        Percentage of the rows whose prediction is rejected: 100 / n times the sum over bins b and predictions p in b of
        [the test of k(b) events in n(b) rows rejects p]. Of a notion of several problems, the mean of their percentages by
        their shares.

    Raises
    ------
    ValueError
        If weights are no whole numbers or sum to 2**53 or more, or ``level`` is no fraction.

    Notes
    -----
    It is no distance: it counts predictions that are too far from an event rate to be chance, however far. So it grows with the
    number of rows, toward the share of predictions that are not exactly right, and a wide bin rejects predictions near its ends
    because they are not its middle. A calibrated forecast does not have ``level`` in percent: all predictions of a bin are
    tested with the same events. `estimate_calibration_error` states what it does have, and draws a label for each of the equal
    rows that a weight stands for.

    The authors' code divides by the variance in its t-test; here it is the standard error.

    References
    ----------
    Matsubara, Tax, Mudd, Guy, TCE: A test-based approach to measuring calibration error, UAI 2023 (Definition 2, Algorithm 1).

    Examples
    --------
    >>> from calibrant import bin_test_calibration_error
    >>> y, p = [0] * 9 + [1], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    >>> bin_test_calibration_error(y, p, binning=1)
    60.0
    """
    size = NormOfBins(BinTest(test, level))
    return TCE.of(y_true, y_prob, data, notion=notion, size=size, binning=binning)


SMOOTH = ThroughLens(
    "smooth-ece",
    "smECE",
    "Błasiok and Nakkiran 2024",
    lens=lenses.Smooth(),
    size=lenses.MeanOverProblems(lenses.fixed_point, lenses.fixed_point_within),
)


@SMOOTH.declare
def smooth_calibration_error(
    y_true: YTrue, y_prob: YProb = None, *, notion: NotionLike = None, **data: Unpack[DataOptions]
) -> float:
    """Mean distance of outcome and probability under a kernel as wide as that distance (smooth ECE), in [0, 1].

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Predictions
        Class labels: integers, strings or booleans; or `predictions` that are read in batches, without ``y_prob``.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    notion : str or Notion, optional
        By default ``"binary"`` for two classes and ``"confidence"`` for more; a mean over the problems of others.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    float
        The one s that solves  s = integral over t in [0, 1] of abs(sum of weight * (outcome - probability) *
        kernel(t, probability; s)) / weight.  The kernel is a Gaussian of standard deviation s, reflected at 0 and 1.

    Notes
    -----
    Without bins there is nothing to choose, and a small change of the forecast makes a small change of the error. It and the
    distance to the nearest calibrated forecast bound each other up to a square root. Never larger than the calibration error
    over distinct scores.

    Reflected mass is counted in full: a row at 0 or 1 weighs as much as any other. The integral is exact to about 1e-8.
    Solutions below a bandwidth of 2^-10 (up to 4000 rows) to 2^-14 (from 260 000 rows) are not sought: the integral at that
    bandwidth stands for them, which is too small by less than that bandwidth.

    References
    ----------
    Błasiok, Nakkiran, Smooth ECE: principled reliability diagrams via kernel smoothing, ICLR 2024.

    Examples
    --------
    >>> from calibrant import smooth_calibration_error
    >>> round(smooth_calibration_error([0, 0, 1, 1], [0.1, 0.3, 0.6, 0.9]), 3)
    0.162
    """
    return SMOOTH.of(y_true, y_prob, data, notion=notion)


# Integrated calibration index and its kin: distances between a loess smooth of the outcomes and the probabilities


ICI = ThroughLens(
    "ici", "ICI", "Austin and Steyerberg 2019", lens=lenses.Local(), size=lenses.MeanOverProblems(lenses.mean_gap)
)


@ICI.declare
def integrated_calibration_index(
    y_true: ArrayLike,
    y_prob: YProb = None,
    *,
    notion: NotionLike = None,
    span: float = 0.75,
    degree: int = 2,
    **data: Unpack[DataOptions],
) -> float:
    """Mean distance between smoothed event rate and probability (integrated calibration index, ICI), in [0, 1].

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    notion : str or Notion, optional
        By default ``"binary"`` for two classes and ``"confidence"`` for more; a mean over the problems of others.
    span : float, default=0.75
        Share of the rows in the window of each local fit, in (0, 1].
    degree : {0, 1, 2}, default=2
        Degree of the local polynomial. With 0 the smoothed outcomes are compared with the smoothed probabilities.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    float
        Weighted mean over the rows of  abs(smoothed outcomes - probability).

    Notes
    -----
    The smooth is loess with the defaults of R, which the authors used: about each score a parabola is fitted with tricube
    weights, in a window that reaches to the nearest rows that make up the span. It is fitted at each distinct score; R fits
    at a few and blends between them, so that its figures differ a little. Beyond 512 distinct scores neighbours are gathered
    into 512 groups, which moves the mean by about 1e-5. A window with too few scores for a parabola gets a line or a mean.

    The smooth is not clipped to [0, 1], so that it stays linear in the outcomes; a distance counts one at most.

    References
    ----------
    Austin, Steyerberg, The integrated calibration index (ICI) and related metrics for quantifying the calibration of
    logistic regression models, Statistics in Medicine 2019.
    Cleveland, Devlin, Locally weighted regression, JASA 1988.

    Examples
    --------
    >>> from calibrant import integrated_calibration_index
    >>> p = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]
    >>> round(integrated_calibration_index([0, 0, 1, 0, 0, 1, 1, 1], p), 3)
    0.23
    """
    return ICI.of(y_true, y_prob, data, notion=notion, lens=lenses.Local(span, degree))


E50 = ThroughLens(
    "e50", "E50", "Austin and Steyerberg 2019", lens=lenses.Local(), size=lenses.MeanOverProblems(lenses.median_gap)
)


@E50.declare
def e50_error(
    y_true: ArrayLike,
    y_prob: YProb = None,
    *,
    notion: NotionLike = None,
    span: float = 0.75,
    degree: int = 2,
    **data: Unpack[DataOptions],
) -> float:
    """Median distance between smoothed event rate and probability (E50), in [0, 1]; 0 is calibrated.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    notion : str or Notion, optional
        By default ``"binary"`` for two classes and ``"confidence"`` for more; a mean over the problems of others.
    span : float, default=0.75
        Share of the rows in the window of each local fit, in (0, 1].
    degree : {0, 1, 2}, default=2
        Degree of the local polynomial. With 0 the smoothed outcomes are compared with the smoothed probabilities.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    float
        Median over the rows of  abs(smoothed outcomes - probability); a whole weight counts as that many rows.

    Notes
    -----
    The smooth is that of `integrated_calibration_index`. It depends on the closer half of the rows alone.

    References
    ----------
    Austin, Steyerberg, The integrated calibration index (ICI) and related metrics for quantifying the calibration of
    logistic regression models, Statistics in Medicine 2019.

    Examples
    --------
    >>> from calibrant.metrics import e50_error
    >>> p = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]
    >>> round(e50_error([0, 0, 1, 0, 0, 1, 1, 1], p), 3)
    0.208
    """
    return E50.of(y_true, y_prob, data, notion=notion, lens=lenses.Local(span, degree))


E90 = ThroughLens(
    "e90", "E90", "Austin and Steyerberg 2019", lens=lenses.Local(), size=lenses.MeanOverProblems(lenses.high_gap)
)


@E90.declare
def e90_error(
    y_true: ArrayLike,
    y_prob: YProb = None,
    *,
    notion: NotionLike = None,
    span: float = 0.75,
    degree: int = 2,
    **data: Unpack[DataOptions],
) -> float:
    """90th percentile of the distance between smoothed event rate and probability (E90), in [0, 1].

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    notion : str or Notion, optional
        By default ``"binary"`` for two classes and ``"confidence"`` for more; a mean over the problems of others.
    span : float, default=0.75
        Share of the rows in the window of each local fit, in (0, 1].
    degree : {0, 1, 2}, default=2
        Degree of the local polynomial. With 0 the smoothed outcomes are compared with the smoothed probabilities.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    float
        90th percentile over the rows of  abs(smoothed outcomes - probability); a whole weight counts as that many rows.

    Notes
    -----
    The smooth is that of `integrated_calibration_index`.

    References
    ----------
    Austin, Steyerberg, The integrated calibration index (ICI) and related metrics for quantifying the calibration of
    logistic regression models, Statistics in Medicine 2019.

    Examples
    --------
    >>> from calibrant.metrics import e90_error
    >>> p = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]
    >>> round(e90_error([0, 0, 1, 0, 0, 1, 1, 1], p), 3)
    0.337
    """
    return E90.of(y_true, y_prob, data, notion=notion, lens=lenses.Local(span, degree))


EMAX = ThroughLens(
    "emax", "Emax", "Austin and Steyerberg 2019", lens=lenses.Local(), size=lenses.MeanOverProblems(lenses.largest_gap)
)


@EMAX.declare
def emax_error(
    y_true: ArrayLike,
    y_prob: YProb = None,
    *,
    notion: NotionLike = None,
    span: float = 0.75,
    degree: int = 2,
    **data: Unpack[DataOptions],
) -> float:
    """Largest distance between smoothed event rate and probability (Emax), in [0, 1]; 0 is calibrated.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    notion : str or Notion, optional
        By default ``"binary"`` for two classes and ``"confidence"`` for more; a mean over the problems of others.
    span : float, default=0.75
        Share of the rows in the window of each local fit, in (0, 1].
    degree : {0, 1, 2}, default=2
        Degree of the local polynomial. With 0 the smoothed outcomes are compared with the smoothed probabilities.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    float
        Maximum over the rows of  abs(smoothed outcomes - probability), whatever their weight.

    Notes
    -----
    The smooth is that of `integrated_calibration_index`. The largest distance mostly stands at the lowest or highest scores,
    where the smooth is least sure; the noise floor that `assess` states tells how much of it is chance.

    References
    ----------
    Austin, Steyerberg, The integrated calibration index (ICI) and related metrics for quantifying the calibration of
    logistic regression models, Statistics in Medicine 2019.

    Examples
    --------
    >>> from calibrant.metrics import emax_error
    >>> p = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]
    >>> round(emax_error([0, 0, 1, 0, 0, 1, 1, 1], p), 3)
    0.345
    """
    return EMAX.of(y_true, y_prob, data, notion=notion, lens=lenses.Local(span, degree))


# Calibration errors without bins: distances of the cumulative residuals


KS = ThroughLens("ks-error", "KS", "Gupta K. et al. 2021", lens=lenses.Cumulative(), size=lenses.LARGEST_SUM)


@KS.declare
def kolmogorov_smirnov_error(
    y_true: YTrue, y_prob: YProb = None, *, notion: NotionLike = None, **data: Unpack[DataOptions]
) -> float:
    """Largest distance between cumulative probability and cumulative events in the order of scores (KS error), in [0, 1].

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Predictions
        Class labels: integers, strings or booleans; or `predictions` that are read in batches, without ``y_prob``.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    notion : str or Notion, optional
        By default ``"binary"`` for two classes and ``"confidence"`` for more; a mean over the problems of others.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    float
        Largest  abs(sum of weight * (outcome - probability) over rows with score <= s) / weight  over all s. Also known as
        the maximum absolute deviation of the empirical cumulative calibration errors (ECCE-MAD).

    Notes
    -----
    Nothing is binned, so nothing has to be chosen. A constant over-confidence shows in full; errors of either sign at
    neighbouring scores cancel. Never larger than the calibration error over distinct scores (`Unique`).

    References
    ----------
    Gupta K., Rahimi, Ajanthan, Mensink, Sminchisescu, Hartley, Calibration of neural networks using splines, ICLR 2021.
    Arrieta-Ibarra, Gujral, Tannen, Tygert, Xu, Metrics of calibration for probabilistic predictions, JMLR 2022.

    Examples
    --------
    >>> from calibrant.metrics import kolmogorov_smirnov_error
    >>> round(kolmogorov_smirnov_error([0, 0, 1, 1], [0.1, 0.3, 0.6, 0.9]), 3)
    0.1
    """
    return KS.of(y_true, y_prob, data, notion=notion)


KUIPER = ThroughLens(
    "kuiper-error", "Kuiper", "Arrieta-Ibarra et al. 2022", lens=lenses.Cumulative(), size=lenses.RANGE_OF_SUMS
)


@KUIPER.declare
def kuiper_error(
    y_true: YTrue, y_prob: YProb = None, *, notion: NotionLike = None, **data: Unpack[DataOptions]
) -> float:
    """Range of the cumulative residuals in the order of scores (Kuiper, ECCE-R), in [0, 1]; 0 is calibrated.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Predictions
        Class labels: integers, strings or booleans; or `predictions` that are read in batches, without ``y_prob``.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    notion : str or Notion, optional
        By default ``"binary"`` for two classes and ``"confidence"`` for more; a mean over the problems of others.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    float
        The largest  abs(sum of weight * (outcome - probability) over rows with scores in an interval) / weight  over all
        intervals of scores: between the KS error and twice the KS error.

    References
    ----------
    Arrieta-Ibarra, Gujral, Tannen, Tygert, Xu, Metrics of calibration for probabilistic predictions, JMLR 2022.

    Examples
    --------
    >>> from calibrant.metrics import kuiper_error
    >>> round(kuiper_error([0, 0, 1, 1], [0.1, 0.3, 0.6, 0.9]), 3)
    0.125
    """
    return KUIPER.of(y_true, y_prob, data, notion=notion)


TWO_BIN = ThroughLens(
    "two-bin-error", "ATB", "Hartline et al. 2026", lens=lenses.Cumulative(), size=lenses.TWO_BINS, also=("atb",)
)


@TWO_BIN.declare
def averaged_two_bin_error(
    y_true: YTrue,
    y_prob: YProb = None,
    *,
    notion: NotionLike = None,
    squared: bool = False,
    **data: Unpack[DataOptions],
) -> float:
    """Averaged two-bin calibration error (ATB), in [0, 1]; its square is truthful.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or Predictions
        Class labels: integers, strings or booleans; or `predictions` that are read in batches, without ``y_prob``.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities; rows of a table sum to one.
    notion : str or Notion, optional
        By default ``"binary"`` for two classes and ``"confidence"`` for more; a mean over the problems of others.
    squared : bool, default=False
        Return the square, as its authors define it; of several problems that of the mean.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    float
        Root of the integral over q from 0 to 1 of L(q)^2 + R(q)^2: L(q) is the sum of weight * (outcome - probability) over
        rows with a score below q, divided by the weight of all, and R(q) that over the rest.

    Notes
    -----
    Labels of n rows that follow the true probabilities have independent residuals. Whatever probabilities are stated, the
    expected square is the variance of the labels, divided by n^2, plus squares that are zero for the true probabilities: nobody
    can expect a lower square by stating others. An ECE over bins does not have this: a forecast can lower it by being less
    sharp. The square of a calibrated forecast is not zero, but falls as 1 / n; the noise floor of `assess` is what its root
    would be. A test: ``resampling_test(metric="two-bin-error")``.

    References
    ----------
    Hartline, Hu, Wu, A perfectly truthful calibration measure, COLT 2026 (arXiv 2508.13100).

    Examples
    --------
    >>> from calibrant.metrics import averaged_two_bin_error
    >>> round(averaged_two_bin_error([0, 0, 1, 1], [0.1, 0.3, 0.6, 0.9]), 3)
    0.093
    """
    found = TWO_BIN.of(y_true, y_prob, data, notion=notion)
    return found**2 if flag("squared", squared) else found
