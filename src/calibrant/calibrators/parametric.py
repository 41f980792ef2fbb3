"""Calibrators of few parameters: temperature scaling; beta, Platt, quadratic and spline calibration; the CDF spline."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
from scipy.interpolate import CubicSpline
from sklearn.exceptions import ConvergenceWarning

from calibrant._core.arrays import LEAST_SCORE, FloatArray, log_prob_of_logit, prob_of_scores, sum_of_rows
from calibrant._core.border import MOST_LOGIT
from calibrant._core.checks import numbers, require, warn
from calibrant._core.registry import ARGMAX, FINITE, HULL, IDENTITY, ORDER, PERMUTED
from calibrant._core.rows import BinaryProblem, Forecast, IntArray, SimplexProblem
from calibrant.binning.bins import Ordered
from calibrant.calibrators import base
from calibrant.calibrators.isotonic import divided, on_steps, steps_of
from calibrant.fit.log_loss import Family, least_log_loss, over_rows, recalibration_of, sums_of_exponent
from calibrant.fit.minimise import Minimum, ScalarPoint, Stop, minimise, most_likely_shares
from calibrant.fit.splines import LAST_GAIN, ONE_SCORE, Curves, fits_of_all_penalties, knots_of, natural_spline
from calibrant.sums.reading import is_unread

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
"""Largest gradient, or component of the KKT residual, of the mean log loss at which a fit is the optimum."""


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


COLDEST, HOTTEST = 1e-4, 1e4
"""Where the search for a temperature ends, when the likelihood grows towards zero or infinity for ever."""

LEAST_TEMPERATURE = 1e-100
"""The least that a file may hold."""

LAST_STEP = 1e-7
"""A Newton step of this relative length is the last: the error after it is about its square."""

MANY_ROWS, ONE_IN = 1 << 12, 16
"""From so many rows on, the temperature of one row in so many is where the search for that of all begins."""


@base.method(
    "temperature", symbol="TS", source="Guo et al. 2017", guarantees={ARGMAX, HULL, PERMUTED, FINITE, IDENTITY}
)
class TemperatureScaling(base.MulticlassCalibrator):
    """Divide all logits by one temperature (TS): softmax(z / T), T > 0.

    Use it first: one parameter cannot over-fit, the predicted class never changes, and it corrects the uniform over- or
    under-confidence of neural networks. It cannot correct what differs between classes or along the score.

    Parameters
    ----------
    input : {"probability", "logit"}, default="probability"
        What is passed to ``fit`` and ``predict_proba``. Logarithms of probabilities are logits up to a constant a row,
        which changes nothing; probabilities are clipped at 1e-12 first.
    labels : sequence of length n_classes, optional
        The class of each column; by default 0, 1, ... or the sorted labels.

    Attributes
    ----------
    temperature_ : float
        The fitted T: above 1 the forecast was over-confident, below 1 under-confident.
    gradient_ : float
        Derivative of the mean log loss with respect to 1 / T at the solution: the certificate of optimality.
    n_iter_ : int
        Newton steps taken.
    classes_ : ndarray of shape (n_classes,)
        Labels in the order of the columns.

    Notes
    -----
    The mean log loss is convex in 1 / T. Newton's method within bounds finds its one minimum; where it has none (every
    row right, or the forecast worse than uniform at every T), T ends at 1e-4 or 1e4 with a `ConvergenceWarning`; where all
    T are equally good (a uniform forecast) T is 1. A score ends 700 below the highest of its row, so that at no temperature
    a probability becomes zero.

    References
    ----------
    Guo, Pleiss, Sun, Weinberger, On calibration of modern neural networks, ICML 2017.

    Examples
    --------
    >>> from calibrant import TemperatureScaling, load_digits_forecast
    >>> y, prob = load_digits_forecast()
    >>> TemperatureScaling().fit(prob, y).temperature_ > 1
    True
    """

    temperature_: float = base.fitted("", least=LEAST_TEMPERATURE)
    gradient_: float = base.fitted()
    n_iter_: int = base.fitted()

    def _fit(self, problem: SimplexProblem) -> None:
        found, why = _minimum(problem)
        self.temperature_ = 1.0 / float(found.point.x[0])
        self.gradient_, self.n_iter_ = float(found.point.gradient[0]), found.n_iter
        if why:
            warn(f"{why}. Temperature {self.temperature_:g} is used. Fit on more rows.", ConvergenceWarning)

    def _apply(self, forecast: Forecast) -> FloatArray:
        return prob_of_scores(_scores(forecast), self.temperature_)


def _scores(forecast: Forecast) -> FloatArray:
    """Logits up to a constant a row."""
    return forecast.values if forecast.is_logit else forecast.log_prob


def _rows(problem: SimplexProblem) -> tuple[FloatArray, FloatArray, IntArray, FloatArray]:
    """Return scores of rows, the highest of each, the true class and the weight."""
    scores = _scores(problem.forecast)
    return scores, scores.max(axis=1), problem.label, problem.weights.values


def _order(scores: FloatArray, top: FloatArray, label: IntArray, weight: FloatArray) -> FloatArray:
    """Return the weight, how many rows have a higher score than the true class has, and how many have scores that differ.

    The fourth number is the slope of the log loss at T = infinity: the sum of the average score less that of the true class.
    """
    of_true = scores[np.arange(len(scores)), label]
    below, uneven = (of_true != top).sum(), (scores.min(axis=1) != top).sum()
    return np.array([weight.sum(), below, uneven, weight @ (scores.mean(axis=1) - of_true)])


def _minimum(problem: SimplexProblem) -> tuple[Minimum[ScalarPoint], str]:
    """Return where the mean log loss is least, or where the search ended and why; of many rows begin with a part of them.

    The derivative is the mean of E z - z_y. It stays negative for ever exactly if every row has its highest score on the true
    class; it is positive from the start exactly if the uniform average, at T = infinity, is already no lower.
    """
    over = over_rows(problem, _rows)
    total, below, uneven, gain = over(_order)()
    sums = over(sums_of_exponent)

    def at(x: FloatArray) -> ScalarPoint:
        value, slope, curvature = (sums(float(x[0])) / total).tolist()
        return ScalarPoint(x, value, np.array([slope]), curvature, 1.0 / COLDEST, float(x[0]))

    if not uneven:
        b, why = 1.0, "every temperature is as good: the forecast is uniform"
    elif not below:
        why = "the likelihood keeps growing as T falls to 0: in every row the true class has the highest probability"
        b = 1.0 / COLDEST
    elif gain >= 0:
        why = "the likelihood keeps growing as T rises to infinity: the forecast is no better than uniform"
        b = 1.0 / HOTTEST
    else:
        start, lowest, highest = np.array([1.0]), 1.0 / HOTTEST, 1.0 / COLDEST
        if (
            not is_unread(problem)
            and problem.size >= MANY_ROWS
            and not (few := _minimum(problem.at(slice(None, None, ONE_IN))))[1]
        ):
            start = few[0].point.x
        found = minimise(at, start, Stop(reach=LAST_STEP), lower=lowest, upper=highest)
        b = float(found.point.x[0])
        if min(b / lowest, highest / b) < 1.0 + 1e-6:
            return found, "the best temperature lies beyond the end of the search"
        return found, "" if found.converged else "the search has not converged"
    return Minimum(at(np.array([b])), 0.0, 0, False), why


# Ensemble temperature scaling: a mixture of the forecast, the forecast at another temperature, and the uniform one


LEAST_TRUE = 1e-100
"""Probability of the true class, below which weights are fitted as if it were this: squares of its inverse would overflow."""

LEAST = 1e-6
"""Weight that the forecast at temperature T keeps, so that no two classes are ever tied by the uniform part alone."""


@base.method(
    "ensemble-temperature",
    symbol="ETS",
    source="Zhang et al. 2020",
    guarantees={ARGMAX, HULL, PERMUTED, FINITE, IDENTITY},
)
class EnsembleTemperatureScaling(base.MulticlassCalibrator):
    """Mix the forecast with itself at a fitted temperature and with the uniform forecast (ETS).

    Use it in place of temperature scaling when a few forecasts are confident and wrong: the uniform part bounds what
    they cost, without making all others cautious. It keeps the predicted class and has two parameters more. It cannot
    correct what differs between classes.

    Parameters
    ----------
    input : {"probability", "logit"}, default="probability"
        What is passed to ``fit`` and ``predict_proba``.
    labels : sequence of length n_classes, optional
        The class of each column; by default 0, 1, ... or the sorted labels.

    Attributes
    ----------
    temperature_ : float
        The temperature T of the first part, that of `TemperatureScaling`.
    weights_ : ndarray of shape (3,)
        Weights of the forecast at temperature T, of the original forecast, and of the uniform one; they sum to one.
    gradient_ : float
        KKT residual of the weights: the largest derivative of the mean log loss along a weight that is positive, or
        downwards along one that is zero. The certificate of optimality.
    n_iter_ : int
        Newton steps taken for the weights.
    classes_ : ndarray of shape (n_classes,)
        Labels in the order of the columns.

    Notes
    -----
    The map is w_1 softmax(z / T) + w_2 softmax(z) + w_3 / K. First T is fitted alone, as in the authors' code, then the
    weights: their mean log loss is convex, and its minimum over the simplex is found by Newton steps within
    the bounds of the three weights. T and weights together are no convex problem: there are several
    minima in T, and the best was lower by less than 0.0001 in log loss on three networks. The authors' code takes the
    squared error by default; here it is the log loss.

    Where the uniform forecast is the best of all, the first weight is 1e-6 and not 0, so that the predicted class is kept.
    Where T has no optimum (`TemperatureScaling` warns) the weights are fitted for the T at which its search ends. Where
    parts are equal, as at T = 1, their weights are not determined, and the map is.

    References
    ----------
    Zhang, Kailkhura, Han, Mix-n-Match: ensemble and compositional methods for uncertainty calibration in deep learning,
    ICML 2020.

    Examples
    --------
    >>> from calibrant import EnsembleTemperatureScaling, load_digits_forecast
    >>> y, prob = load_digits_forecast()
    >>> EnsembleTemperatureScaling().fit(prob, y).temperature_ > 1
    True
    """

    temperature_: float = base.fitted("", least=LEAST_TEMPERATURE)
    weights_: FloatArray = base.fitted("3", sum_to_one=True)
    gradient_: float = base.fitted()
    n_iter_: int = base.fitted()

    def _fit(self, problem: SimplexProblem) -> None:
        scaling = TemperatureScaling()
        scaling._fit(problem)
        self.temperature_ = scaling.temperature_
        rows = np.arange(problem.size)
        of_true = np.column_stack([part[rows, problem.label] for part in self._parts(problem.forecast)])
        of_true = np.maximum(of_true, LEAST_TRUE)
        best = most_likely_shares(of_true, problem.weight, np.full(3, 1.0 / 3.0))
        self.gradient_, self.n_iter_ = best.residual, best.n_iter
        self.weights_ = best.point.x if best.point.x[2] <= 1.0 - LEAST else np.array([LEAST, 0.0, 1.0 - LEAST])
        what, then = "the weights must have a KKT residual", "They are used as they are: check for extreme logits"
        base.warn_unless_certain(what, self.gradient_, CERTAIN, self.n_iter_, problem.size, then)

    def _apply(self, forecast: Forecast) -> FloatArray:
        mixed = sum(w * part for w, part in zip(self.weights_, self._parts(forecast), strict=True))
        return np.asarray(mixed / sum_of_rows(mixed))

    def _parts(self, forecast: Forecast) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the three forecasts that are mixed."""
        prob = prob_of_scores(forecast.values) if forecast.is_logit else forecast.prob
        scaled = prob_of_scores(forecast.log_prob, self.temperature_)
        return scaled, prob, np.broadcast_to(1.0 / prob.shape[1], prob.shape)


# Temperature scaling, then isotonic regression of each class against the rest


TIED = 10
"""Decimals of the logarithm at which scaled scores are tied: equal ones must not be told apart by rounding."""


@base.method("irova-ts", symbol="IROvA-TS", source="Zhang et al. 2020", guarantees={HULL, PERMUTED, FINITE})
class IsotonicTemperatureScaling(base.MulticlassCalibrator):
    """Divide logits by a temperature, then map each class by its own isotonic regression (IROvA-TS).

    Use it when there are hundreds of rows of every class and classes are miscalibrated each in its own way: it is more
    accurate than isotonic regression one against the rest alone, because only what temperature leaves has to be
    learnt by steps. Do not use it with few rows a class: the steps of a rare class follow single rows, predicted
    classes move, and the log loss suffers; `TemperatureScaling` or `MulticlassIsotonic` are safer there.

    Parameters
    ----------
    epsilon : float, default=1e-3
        This times the scaled score is added to each isotonic map, so that no class that had a probability loses it. With 0
        the log loss of new rows can be infinite.
    input : {"probability", "logit"}, default="probability"
        What is passed to ``fit`` and ``predict_proba``.
    labels : sequence of length n_classes, optional
        The class of each column; by default 0, 1, ... or the sorted labels.

    Attributes
    ----------
    temperature_ : float
        The fitted T.
    gradient_ : float
        The certificate of `TemperatureScaling`.
    n_iter_ : int
        Newton steps taken for the temperature.
    left_ : list of ndarray of shape (n_blocks,)
        For each class the lowest scaled score of each block.
    value_ : list of ndarray of shape (n_blocks,)
        For each class the event rate of each block, increasing.
    classes_ : ndarray of shape (n_classes,)
        Labels in the order of the columns.

    Notes
    -----
    With s = softmax(z / T), q_k = g_k(s_k) + epsilon s_k, divided by the sum of the row. Each g_k is a step function; equal
    scores, to ten digits, are one point. The temperature is that of `TemperatureScaling`, with its answers to degenerate
    rows. The authors' code interpolates between steps and has epsilon = 1e-9, so that a true class where its map
    is zero costs some 20 nats; the larger epsilon makes it some 7, and log losses on new rows lower. A class that never
    occurred has g_k = 0: what is left of it is epsilon s_k.

    References
    ----------
    Zhang, Kailkhura, Han, Mix-n-Match: ensemble and compositional methods for uncertainty calibration in deep learning,
    ICML 2020.

    Examples
    --------
    >>> from calibrant import load_digits_forecast
    >>> from calibrant.calibrators import IsotonicTemperatureScaling
    >>> y, prob = load_digits_forecast()
    >>> len(IsotonicTemperatureScaling().fit(prob, y).value_)
    10
    """

    epsilon: float = base.parameter(default=1e-3, least=0.0, most=1.0, hint="Pass a small one, such as 1e-3")
    temperature_: float = base.fitted("", least=LEAST_TEMPERATURE)
    gradient_: float = base.fitted()
    n_iter_: int = base.fitted()
    left_: list[FloatArray] = base.fitted()
    value_: list[FloatArray] = base.fitted()

    def _fit(self, problem: SimplexProblem) -> None:
        scaling = TemperatureScaling()
        scaling._fit(problem)
        self.temperature_, self.gradient_, self.n_iter_ = scaling.temperature_, scaling.gradient_, scaling.n_iter_
        maps = [steps_of(s, problem.label == k, problem.weight) for k, s in enumerate(self._scaled(problem.forecast).T)]
        self.left_, self.value_ = [left for left, _ in maps], [value for _, value in maps]

    def _check_loaded(self) -> None:
        super()._check_loaded()
        for name in ("left_", "value_"):
            must, hint = f"{name} must have one array for each of the {len(self.classes_)} classes", "Fit anew"
            require(len(getattr(self, name)) == len(self.classes_), must, value=len(getattr(self, name)), hint=hint)
        for k, (left, value) in enumerate(zip(self.left_, self.value_, strict=True)):
            numbers(f"left_ of class {k}", left, shape=(None,), least=0.0, most=1.0, order="rising", fewest=1)
            numbers(f"value_ of class {k}", value, shape=left.shape, least=0.0, most=1.0, order="not falling")

    def _apply(self, forecast: Forecast) -> FloatArray:
        scaled = self._scaled(forecast)
        maps = zip(self.left_, self.value_, scaled.T, strict=True)
        stepped = np.column_stack([on_steps(left, value, s) for left, value, s in maps])
        return divided(stepped + self.epsilon * scaled, scaled)

    def _scaled(self, forecast: Forecast) -> FloatArray:
        """Return softmax(z / T), rounded and never zero."""
        log_prob = log_prob_of_logit(forecast.log_prob / self.temperature_)
        return np.exp(np.maximum(np.round(log_prob, TIED), LEAST_SCORE))
