"""Calibration by a spline through the cumulative residuals, whose slope is by how much a forecast is off."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline

from calibrant._core.links import FloatArray
from calibrant._core.parameters import numbers, whole
from calibrant._core.problem import BinaryProblem
from calibrant._core.registry import declare
from calibrant._core.validation import Input
from calibrant.binning.distinct_scores import Ordered
from calibrant.calibrators.kinds import BinaryCalibrator


@declare(
    "calibrator",
    "cdf-spline",
    symbol="CDF-S",
    source="Gupta et al. 2021",
    guarantees={"contains the identity"},
)
class CDFSplineCalibration(BinaryCalibrator):
    """Add the slope of a spline that is fitted to the cumulative residuals (CDF spline, KS spline).

    Use it for the top label of a network, ``ByNotion(CDFSplineCalibration(), "confidence")``, with a thousand rows or
    more: a few knots, at equal numbers of rows, follow the curve where the rows are. Do not use it for log loss or
    where scores must keep their order: its values are cut off at 0 and 1, and nothing makes the curve increase.
    `SplineCalibration` keeps within by itself.

    Parameters
    ----------
    n_knots : int, default=6
        Knots, at least 2, at equally spaced fractions of the rows.
    input : {"probability", "logit"}, default="probability"
        What is passed to ``fit`` and ``predict_proba``.
    labels : sequence of length 2, optional
        The negative and the positive label.

    Attributes
    ----------
    score_ : ndarray of shape (n_distinct,)
        The distinct scores.
    deviation_ : ndarray of shape (n_distinct,)
        What is added to each. Between scores it is interpolated, outside the nearest is taken.
    cumulative_ : ndarray of shape (n_knots,)
        Values of the spline at its knots.
    classes_ : ndarray of shape (2,)
        Labels, the positive one last.

    Notes
    -----
    With rows in the order of their scores, the cumulative residual C(t) is the sum of outcome minus score over the first
    fraction t of the rows, divided by their number. Its slope is event rate minus score. The natural cubic spline S with
    the least integral of (C - S)^2 is found, and a score at fraction t becomes score + S'(t), cut to [0, 1].

    Rows of equal score are one stretch of t, on which C is straight, and take the slope in its middle: the map depends on
    the scores and not on the order of rows. The authors sum the squares over rows, which agrees as rows become many;
    their code exchanges the two weights when it interpolates, and cuts the values at 0 and 1 outside the map. The mean
    is not kept exactly.

    A single score becomes its event rate. One class alone gives values near 0 or 1, not exactly these. Exchanging the classes
    exchanges the values where 1 - p is exact; a p below 1e-16 ties with others once it is taken from 1.

    References
    ----------
    Gupta, Rahimi, Ajanthan, Mensink, Sminchisescu, Hartley, Calibration of neural networks using splines, ICLR 2021.

    Examples
    --------
    >>> from calibrant import ByNotion, load_digits_forecast
    >>> from calibrant.calibrators import CDFSplineCalibration
    >>> y, prob = load_digits_forecast()
    >>> label, score = ByNotion(CDFSplineCalibration(), "confidence").fit(prob, y).predict_top(prob)
    >>> bool(0 <= score.min() and score.max() <= 1)
    True
    """

    score_: FloatArray
    deviation_: FloatArray
    cumulative_: FloatArray

    def __init__(self, *, n_knots: int = 6, input: Input = "probability", labels: Sequence[Any] | None = None) -> None:
        super().__init__(input=input, labels=labels)
        self.n_knots = n_knots

    def _fit(self, problem: BinaryProblem) -> None:
        n_knots = whole("n_knots", self.n_knots, least=2, hint="The authors have 6")
        ordered = Ordered.of(problem)
        fraction = np.append(0.0, ordered.reached) / ordered.total
        off = ordered.outcome_sum / ordered.weight - ordered.score
        knots = np.linspace(0.0, 1.0, n_knots)
        self.cumulative_ = nearest_spline(knots, fraction, off)
        slope = CubicSpline(knots, self.cumulative_, bc_type="natural").derivative()
        self.score_, self.deviation_ = ordered.score, slope((fraction[1:] + fraction[:-1]) / 2.0)

    def _check_loaded(self) -> None:
        numbers("score_", self.score_, shape=(None,), least=0.0, most=1.0, order="rising")
        numbers("deviation_", self.deviation_, shape=self.score_.shape)
        numbers("cumulative_", self.cumulative_, shape=(None,))

    def _apply(self, score: FloatArray) -> FloatArray:
        return np.clip(score + np.interp(score, self.score_, self.deviation_), 0.0, 1.0)


def nearest_spline(knots: FloatArray, ends: FloatArray, slope: FloatArray) -> FloatArray:
    """Return the values at knots of the natural spline that is nearest to a broken line, in the mean square over [0, 1].

    The broken line C starts at 0 and has a slope between each two ends. With b a spline, B and BB its first and second
    integral from 0,  integral of b C  =  B(1) C(1) - sum of slope times the increase of BB.
    """
    splines = CubicSpline(knots, np.eye(knots.size), bc_type="natural")
    last = float(np.diff(ends) @ slope)
    product = splines.antiderivative()(1.0) * last - slope @ np.diff(splines.antiderivative(2)(ends), axis=0)
    point, share = np.polynomial.legendre.leggauss(4)  # exact for products of two cubics
    half = np.diff(knots)[:, None] / 2.0
    values = splines(((knots[1:] + knots[:-1]) / 2.0)[:, None] + half * point)
    gram = np.einsum("gp,gpi,gpj->ij", half * share, values, values)
    at_knots: FloatArray = np.linalg.solve(gram, product)
    return at_knots
