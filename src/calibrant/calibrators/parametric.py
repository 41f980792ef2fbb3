"""Calibrators of one score by a curve of its log-odds: beta, Platt, quadratic and spline calibration; and the CDF spline."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
from scipy.interpolate import CubicSpline

from calibrant._core.arrays import FloatArray
from calibrant._core.border import MOST_LOGIT
from calibrant._core.checks import numbers
from calibrant._core.registry import FINITE, IDENTITY, ORDER, PERMUTED
from calibrant._core.rows import BinaryProblem
from calibrant.binning.bins import Ordered
from calibrant.calibrators import base
from calibrant.fit.log_loss import Family, least_log_loss, recalibration_of
from calibrant.fit.splines import LAST_GAIN, ONE_SCORE, Curves, fits_of_all_penalties, knots_of, natural_spline

# Beta calibration: what is right if the scores of each class follow a beta distribution


Parameters = Literal["abm", "am", "ab", "a"]


@base.method("beta", symbol="Beta", source="Kull et al. 2017", guarantees={ORDER, PERMUTED, FINITE, IDENTITY})
class BetaCalibration(base.LogOddsCalibrator):
    """Fit the log-odds  a ln s - b ln(1 - s) + c  with a, b >= 0 (beta calibration).

    Use it first for one score, from some hundreds of rows on: its curves are sigmoids, inverse sigmoids and much between them,
    low and high scores have a parameter each, the order of scores is kept, and a calibrated forecast is left as it is. On some
    tens of rows choose fewer parameters. Do not use it where the curve has steps or several bends: `IsotonicCalibration`
    follows these, given a thousand rows.

    Parameters
    ----------
    parameters : {"abm", "am", "ab", "a"}, default="abm"
        What is fitted. ``"am"``: with a = b, a straight line through the log-odds with a slope that is not negative.
        ``"ab"``: with m = 1/2, a score of 1/2 stays as it is. ``"a"``: with both, which is temperature scaling of two classes.
    input : {"probability", "logit"}, default="probability"
        What is passed to ``fit`` and ``predict_proba``. Of logits ln s and ln(1 - s) are exact; probabilities are clipped so
        that their log-odds lie within 27.6.
    labels : sequence of length 2, optional
        The negative and the positive label.

    Attributes
    ----------
    a_, b_ : float
        How much low and how much high scores are spread, each at least 0. Both are 1, and c is 0, in the identity.
    c_ : float
        Shift of the log-odds.
    gradient_ : float
        Largest absolute component of the gradient of the mean log loss at the solution, with each feature less its mean
        (where c is fitted), divided by its largest absolute value; one that pulls a parameter at 0 below it does not
        count. The certificate of optimality: above 1e-8 there is a `ConvergenceWarning`.
    n_iter_ : int
        Newton steps taken.
    classes_ : ndarray of shape (2,)
        Labels, the positive one last.

    Notes
    -----
    It is the logistic regression on ln s and -ln(1 - s) with coefficients at 0 or above: the exact minimum of a convex
    function under constraints, by Newton's method. The authors' program fits without constraints, and leaves out the first
    feature whose coefficient is negative and fits again, once. This gives the same map where one coefficient was negative
    and the second fit has none; where both were, and where the second fit has one, it can give a falling map.

    Where the scores separate the classes or one class is absent there is no minimum: targets are smoothed then, as
    `PlattScaling` does, with a `ConvergenceWarning`. With two distinct scores a = b; where all are equal both are 1 and the
    log-odds are shifted. Labels that fall as scores rise give a = b = 0, which is a constant.

    References
    ----------
    Kull, Silva Filho, Flach, Beta calibration: a well-founded and easily implemented improvement on logistic calibration for
    binary classifiers, AISTATS 2017.

    Examples
    --------
    >>> from calibrant import BetaCalibration, load_digits_forecast
    >>> y, prob = load_digits_forecast()
    >>> bool(BetaCalibration().fit(prob[:, 3], y == 3).a_ > 0)
    True
    """

    parameters: Parameters = base.parameter(default="abm")
    a_: float = base.fitted("", least=0.0)
    b_: float = base.fitted("", least=0.0)
    c_: float = base.fitted("")
    gradient_: float = base.fitted()
    n_iter_: int = base.fitted()

    def _fit(self, problem: BinaryProblem) -> None:
        free = self.parameters
        family: Family = "rising" if "m" in free else "rising through zero"
        # At a score of 1/2 both features are ln 2 from zero: less that, the curve without an intercept is 0 there.
        pivot = 0.0 if "m" in free else np.log(2.0)

        def apart(rows: BinaryProblem) -> list[FloatArray]:
            low, high = _features(rows.log_odds)
            return [low + pivot, high - pivot]

        def both(rows: BinaryProblem) -> list[FloatArray]:
            return [rows.log_odds]

        has_both = "b" in free
        found = least_log_loss(problem, apart if has_both else both, family, otherwise=both if has_both else None)
        self.a_, self.b_ = float(found.coef[0]), float(found.coef[-1])
        self.c_ = found.intercept + (self.a_ - self.b_) * pivot
        self.gradient_, self.n_iter_ = found.gradient, found.n_iter

    def _map_log_odds(self, log_odds: FloatArray) -> FloatArray:
        low, high = _features(log_odds)
        return self.a_ * low + self.b_ * high + self.c_


def _features(log_odds: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return ln s and -ln(1 - s) of the score s with these log-odds."""
    both = np.log1p(np.exp(-np.abs(log_odds)))
    return np.minimum(log_odds, 0.0) - both, np.maximum(log_odds, 0.0) + both


# Platt scaling: a straight line through the log-odds


@base.method("platt", symbol="PS", source="Platt 1999", also=("sigmoid", "logistic"), guarantees={PERMUTED, FINITE})
class PlattScaling(base.LogOddsCalibrator):
    """Fit a straight line to the log-odds (Platt scaling, logistic calibration): sigmoid(slope * z + intercept).

    Use it on few rows, from some tens on, and where scores are margins: two parameters, for the boldness of the forecast and
    for its base rate. Do not use it where low and high scores are wrong in different ways, which a straight line cannot
    correct: `BetaCalibration` has one parameter more.

    Parameters
    ----------
    smooth_targets : bool, default=True
        Fit to (N+ + 1) / (N+ + 2) and 1 / (N- + 2) in place of 1 and 0, where N+ and N- are the numbers of rows of the two
        classes, as Platt does: a minimum always exists, and few rows do not make a bold map. False: the plain logistic
        regression, which is a recalibration that leaves a calibrated forecast as it is.
    input : {"probability", "logit"}, default="probability"
        What is passed to ``fit`` and ``predict_proba``. The line goes through log-odds in either case: logits are taken as
        they are, probabilities are clipped so that their log-odds lie within 27.6.
    labels : sequence of length 2, optional
        The negative and the positive label.

    Attributes
    ----------
    slope_, intercept_ : float
        The line. A negative slope turns the order of the scores upside down, where the labels do.
    gradient_ : float
        Largest absolute component of the gradient of the mean log loss at the solution, with log-odds less their mean,
        divided by the largest: the certificate of optimality. Above 1e-8 there is a `ConvergenceWarning`.
    n_iter_ : int
        Newton steps taken.
    classes_ : ndarray of shape (2,)
        Labels, the positive one last.

    Notes
    -----
    The mean log loss is convex and its minimum is found by Newton's method. With smooth targets it exists whenever scores
    differ. Without them it does not where the scores separate the classes or one class is absent: smooth targets are used
    then, with a `ConvergenceWarning`. Where all scores are equal the slope is 1 and the log-odds are shifted.

    Fitted to probabilities in place of log-odds, as is often seen, a line is another method, which cannot leave a calibrated
    forecast as it is and does worse.

    References
    ----------
    Platt, Probabilistic outputs for support vector machines and comparisons to regularized likelihood methods, 1999.

    Examples
    --------
    >>> from calibrant import PlattScaling, load_digits_forecast
    >>> y, prob = load_digits_forecast()
    >>> PlattScaling().fit(prob[:, 3], y == 3).slope_ < 1
    True
    """

    smooth_targets: bool = base.parameter(default=True)
    slope_: float = base.fitted("")
    intercept_: float = base.fitted("")
    gradient_: float = base.fitted()
    n_iter_: int = base.fitted()

    def _fit(self, problem: BinaryProblem) -> None:
        found = least_log_loss(problem, lambda rows: [rows.log_odds], "straight", smooth=self.smooth_targets)
        self.intercept_, self.slope_ = found.intercept, float(found.coef[0])
        self.gradient_, self.n_iter_ = found.gradient, found.n_iter

    def _map_log_odds(self, log_odds: FloatArray) -> FloatArray:
        return self.intercept_ + self.slope_ * log_odds


# Quadratic scaling: a parabola through the log-odds


@base.method("quadratic", symbol="QS", source="Berta et al. 2025", guarantees={PERMUTED, FINITE, IDENTITY})
class QuadraticScaling(base.LogOddsCalibrator):
    """Fit a parabola to the log-odds (quadratic scaling): sigmoid(a + b z + c z^2).

    Use it from some hundreds of rows on, where the probabilities of one class are too extreme and those of the other not
    extreme enough: the square bends what Platt's line leaves straight. Do not use it where the order of scores must stay as it
    is, or where new scores can lie far beyond those that were fitted: a parabola turns, and beyond its turn a higher score gets
    a lower probability.
    `BetaCalibration` bends as well and never turns.

    Parameters
    ----------
    input : {"probability", "logit"}, default="probability"
        What is passed to ``fit`` and ``predict_proba``. Logits are taken as they are; probabilities are clipped so that
        their log-odds lie within 27.6.
    labels : sequence of length 2, optional
        The negative and the positive label.

    Attributes
    ----------
    a_, b_, c_ : float
        Constant, slope and curvature of the log-odds. The parabola turns at -b / (2 c).
    gradient_ : float
        Largest absolute component of the gradient of the mean log loss at the solution, with z and its square less their
        means, divided by the largest: the certificate of optimality. Above 1e-8 there is a `ConvergenceWarning`.
    n_iter_ : int
        Newton steps taken.
    classes_ : ndarray of shape (2,)
        Labels, the positive one last.

    Notes
    -----
    It is the logistic regression on z and z^2 without a penalty; the mean log loss is convex and Newton's method finds its
    minimum. There is none where a parabola separates the classes or where one is absent: then targets are smoothed, as
    `PlattScaling` does, with a `ConvergenceWarning`. With two distinct scores c is 0; where all are equal b is 1 too, and
    the log-odds are shifted.

    A probability of 0 has the log-odds -27.6, and its square is 763: a few such rows can pull the curve. They are what
    separates this from other implementations, whose clips lie elsewhere.

    References
    ----------
    Berta, Holzmueller, Jordan, Bach, Structured matrix scaling for multi-class calibration, arXiv 2511.03685, 2025.

    Examples
    --------
    >>> from calibrant import load_digits_forecast
    >>> from calibrant.calibrators import QuadraticScaling
    >>> y, prob = load_digits_forecast()
    >>> bool(QuadraticScaling().fit(prob[:, 3], y == 3).b_ > 0)
    True
    """

    a_: float = base.fitted("")
    b_: float = base.fitted("")
    c_: float = base.fitted("")
    gradient_: float = base.fitted()
    n_iter_: int = base.fitted()

    def _fit(self, problem: BinaryProblem) -> None:
        found = least_log_loss(problem, lambda rows: [rows.log_odds, rows.log_odds**2], "bent")
        self.a_, self.b_, self.c_ = found.intercept, float(found.coef[0]), float(found.coef[1])
        self.gradient_, self.n_iter_ = found.gradient, found.n_iter

    def _map_log_odds(self, log_odds: FloatArray) -> FloatArray:
        with np.errstate(over="ignore"):  # log-odds of infinity are cut off
            value: FloatArray = self.a_ + (self.b_ + self.c_ * log_odds) * log_odds
        return value


# Smoothing spline calibration: a curve on the scale of log-odds, as smooth as cross-validation chooses


CERTAIN = 1e-8
"""Largest gradient of the mean objective at which a fit is the optimum."""


@base.method("spline", symbol="Spline", source="Lucena 2018", guarantees={PERMUTED, FINITE, IDENTITY})
class SplineCalibration(base.LogOddsCalibrator):
    """Fit a smoothing spline to the log-odds by penalised logistic regression (spline calibration).

    Use it with a few hundred rows or more, when the calibration map is a curve that Platt scaling or beta calibration cannot
    follow, and a smooth map is wanted where isotonic regression would give steps. Do not use it when scores must keep
    their order: nothing makes the curve increase.

    Parameters
    ----------
    n_knots : int, default=15
        Knots, 2 to 1000, at quantiles of the log-odds; the first and the last are the lowest and the highest of them. With more
        the curve is freer only where the rows ask for it.
    input : {"probability", "logit"}, default="probability"
        What is passed to ``fit`` and ``predict_proba``.
    labels : sequence of length 2, optional
        The negative and the positive label.

    Attributes
    ----------
    knots_ : ndarray of shape (n_knots,)
        Knots, on the scale of log-odds; two for a single score.
    deviation_ : ndarray of shape (n_knots,)
        By how much the calibrated log-odds differ from those of the forecast at each knot. Between knots the difference is
        the natural cubic spline through these values, outside it goes on as a straight line.
    penalty_ : float
        The penalty that was chosen, on the integral of the squared second derivative of the difference; infinite where a
        straight line is best.
    degrees_of_freedom_ : float
        Effective number of parameters, at most 2 for a straight line.
    loss_ : float
        Approximate leave-one-out log loss at that penalty, a row.
    gradient_ : float
        Largest component of the gradient of the mean objective at the solution: the certificate of optimality.
    n_iter_ : int
        Newton steps taken, over all penalties.
    classes_ : ndarray of shape (2,)
        Labels, the positive one last.

    Notes
    -----
    With x the log-odds of the forecast the calibrated log-odds are x + d(x), where the natural cubic spline d minimises

        sum of w log loss  +  (a^2 + b^2 + penalty * integral of d''(x)^2 dx) / 2

    over the rows. The line that is nearest to the values of d at the knots has the slope b, and a is its value at the mean
    of x. Both have a standard normal prior, which is worth about a row and makes the minimum exist and be finite for one
    class alone, one row, or separated classes. Only what differs from the identity is penalised: for a forecast whose
    events occur as often as predicted d is zero whatever the penalty. The problem is convex; Newton's method solves it.

    The penalty is the one of 13, in steps of the square root of ten, and of the straight line, that has the least
    leave-one-out log loss. A row left out moves the others' fit by a Newton step, which its leverage gives in closed form;
    so no folds are drawn. Whole weights count as rows; others are scaled to a mean of one. Lucena's method penalises the
    sizes of the coefficients of another basis instead, places knots at random rows, draws folds, and adds 20 rows' weight
    that lies on the identity.

    References
    ----------
    Lucena, Spline-based probability calibration, arXiv 1809.07751, 2018.
    Green, Silverman, Nonparametric regression and generalized linear models, Chapman and Hall 1994.

    Examples
    --------
    >>> from calibrant import SplineCalibration, load_digits_forecast
    >>> y, prob = load_digits_forecast()
    >>> SplineCalibration().fit(prob[:, 8], y == 8).knots_.size
    15
    """

    n_knots: int = base.parameter(default=15, least=2, most=1000, hint="Pass some 5 to 30")
    knots_: FloatArray = base.fitted("n", least=-4.0 * MOST_LOGIT, most=4.0 * MOST_LOGIT, order="rising", fewest=2)
    deviation_: FloatArray = base.fitted("n", least=-base.MOST_COEFFICIENT, most=base.MOST_COEFFICIENT)
    penalty_: float = base.fitted()
    degrees_of_freedom_: float = base.fitted()
    loss_: float = base.fitted()
    gradient_: float = base.fitted()
    n_iter_: int = base.fitted()

    def _fit(self, problem: BinaryProblem) -> None:
        unit = problem.weights.rows_per_weight
        found = recalibration_of(problem)
        rows = replace(found, total=unit * found.total, events=unit * found.events)
        curves = Curves(rows, knots_of(rows, int(self.n_knots)))
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # such fits are not taken, or warned of
            fits = list(fits_of_all_penalties(curves))
            losses = np.array([fit.point.left_out_loss() for fit in fits])
            # Losses that agree to rounding are equal; of these the smoothest curve is taken.
            chosen = int(np.argmax(losses <= losses.min() + 1e-10))
            last = fits[chosen].point.improved(LAST_GAIN)
        best = last.point
        self.knots_, self.deviation_ = curves.knots, curves.at_knots[:, : best.x.size] @ best.x
        self.penalty_, self.loss_ = best.penalty * curves.half**3, float(losses[chosen])
        self.degrees_of_freedom_, self.gradient_ = best.degrees_of_freedom, last.residual
        self.n_iter_ = sum(fit.n_iter for fit in fits) + last.n_iter
        steps, then = fits[chosen].n_iter + last.n_iter, "It is used as it is: check for extreme logits or weights"
        base.warn_unless_certain("the spline must have a gradient", self.gradient_, CERTAIN, steps, problem.size, then)

    def _check_loaded(self) -> None:
        super()._check_loaded()
        gaps = np.diff(self.knots_) / max(np.ptp(self.knots_), ONE_SCORE)
        # Far above rounding, which makes knots equal where the spline is evaluated, and far below what a fit gives.
        numbers("gaps of knots_, as parts of their range,", gaps, shape=(None,), least=1e-12)

    def _map_log_odds(self, log_odds: FloatArray) -> FloatArray:
        return log_odds + natural_spline(self.knots_, self.deviation_, log_odds)


PARTS = 512
"""Parts of the rows, in the order of their scores, of which `CDFSplineCalibration` keeps the ends."""


@base.method("cdf-spline", symbol="CDF-S", source="Gupta et al. 2021", guarantees={IDENTITY})
class CDFSplineCalibration(base.BinaryCalibrator):
    """Add the slope of a spline that is fitted to the cumulative residuals (CDF spline, KS spline).

    Use it for the top label of a network, ``ByNotion(CDFSplineCalibration(), "confidence")``, with a thousand rows or
    more: a few knots, at equal numbers of rows, follow the curve where the rows are. Do not use it for log loss or
    where scores must keep their order: its values are cut off at 0 and 1, and nothing makes the curve increase.
    `SplineCalibration` keeps within by itself.

    Parameters
    ----------
    n_knots : int, default=6
        Knots, 2 to 1000, at equally spaced fractions of the rows.
    input : {"probability", "logit"}, default="probability"
        What is passed to ``fit`` and ``predict_proba``.
    labels : sequence of length 2, optional
        The negative and the positive label.

    Attributes
    ----------
    score_ : ndarray of shape (n_kept,)
        The distinct scores; of more than 1024 the first and the last of each 512th part of the rows.
    deviation_ : ndarray of shape (n_kept,)
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

    At most 1024 scores are kept, so that a saved map does not grow with the rows. On 3000 rows that moves a calibrated
    probability by at most 0.0007, and on 200 000 by 0.0002.

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

    n_knots: int = base.parameter(default=6, least=2, most=1000, hint="The authors have 6")
    score_: FloatArray = base.fitted("n", least=0.0, most=1.0, order="rising")
    deviation_: FloatArray = base.fitted("n")
    cumulative_: FloatArray = base.fitted("m")

    def _fit(self, problem: BinaryProblem) -> None:
        ordered = Ordered.of(problem)
        fraction = np.append(0.0, ordered.reached) / ordered.total
        off = ordered.outcome_sum / ordered.weight - ordered.score
        knots = np.linspace(0.0, 1.0, int(self.n_knots))
        self.cumulative_ = nearest_spline(knots, fraction, off)
        slope = CubicSpline(knots, self.cumulative_, bc_type="natural").derivative()
        middle = (fraction[1:] + fraction[:-1]) / 2.0
        part = (middle * PARTS).astype(np.intp) if middle.size > 2 * PARTS else np.arange(middle.size)
        differs = np.diff(part, prepend=-1, append=middle.size) != 0
        kept = differs[1:] | differs[:-1]  # the first and the last score of each part
        self.score_, self.deviation_ = ordered.score[kept], slope(middle[kept])

    def _apply(self, score: FloatArray) -> FloatArray:
        # Times a power of two, which rounds nothing: slopes between scores that are closer than 1e-308 would overflow.
        return np.clip(score + np.interp(score * 2.0**100, self.score_ * 2.0**100, self.deviation_), 0.0, 1.0)


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
    return np.linalg.solve(gram, product)
