"""The smooth calibration error: residuals under a kernel that chooses its own width."""

from __future__ import annotations

from typing import Unpack

import numpy.typing as npt

from calibrant import lenses
from calibrant._core.border import DataOptions
from calibrant._core.checks import flag
from calibrant.metrics.kinds import ThroughLens, YProb, YTrue
from calibrant.notions import NotionLike

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
    y_true: npt.ArrayLike,
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
    y_true: npt.ArrayLike,
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
    y_true: npt.ArrayLike,
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
    y_true: npt.ArrayLike,
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
