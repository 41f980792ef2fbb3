"""Temperature scaling: one number that makes all forecasts bolder or more cautious."""

from __future__ import annotations

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from calibrant._core.arrays import LEAST_SCORE, FloatArray, log_prob_of_logit, prob_of_scores, sum_of_rows
from calibrant._core.checks import numbers, require
from calibrant._core.registry import ARGMAX, FINITE, HULL, IDENTITY, PERMUTED
from calibrant._core.rows import Forecast, IntArray, SimplexProblem
from calibrant.calibrators.base import MulticlassCalibrator, fitted, method, parameter, warn_unless_certain
from calibrant.calibrators.isotonic import divided, on_steps, steps_of
from calibrant.exceptions import warn
from calibrant.fit.log_loss import over_rows, sums_of_exponent
from calibrant.fit.minimise import Minimum, ScalarPoint, Stop, minimise, most_likely_shares
from calibrant.sums.reading import is_unread

COLDEST, HOTTEST = 1e-4, 1e4
"""Where the search for a temperature ends, when the likelihood grows towards zero or infinity for ever."""

LEAST_TEMPERATURE = 1e-100
"""The least that a file may hold."""

LAST_STEP = 1e-7
"""A Newton step of this relative length is the last: the error after it is about its square."""

MANY_ROWS, ONE_IN = 1 << 12, 16
"""From so many rows on, the temperature of one row in so many is where the search for that of all begins."""


@method("temperature", symbol="TS", source="Guo et al. 2017", guarantees={ARGMAX, HULL, PERMUTED, FINITE, IDENTITY})
class TemperatureScaling(MulticlassCalibrator):
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

    temperature_: float = fitted("", least=LEAST_TEMPERATURE)
    gradient_: float = fitted()
    n_iter_: int = fitted()

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
    return scores, scores.max(axis=1), problem.label, problem.weight


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
    total, below, uneven, gain = over(_order)

    def at(x: FloatArray) -> ScalarPoint:
        value, slope, curvature = (over(sums_of_exponent, float(x[0])) / total).tolist()
        return ScalarPoint(x, value, np.array([slope]), curvature, length=1.0 / COLDEST)

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


CERTAIN = 1e-8
"""Largest component of the KKT residual at which weights are optimal: the mean log loss is then as small as it gets."""

LEAST_TRUE = 1e-100
"""Probability of the true class, below which weights are fitted as if it were this: squares of its inverse would overflow."""

LEAST = 1e-6
"""Weight that the forecast at temperature T keeps, so that no two classes are ever tied by the uniform part alone."""


@method(
    "ensemble-temperature",
    symbol="ETS",
    source="Zhang et al. 2020",
    guarantees={ARGMAX, HULL, PERMUTED, FINITE, IDENTITY},
)
class EnsembleTemperatureScaling(MulticlassCalibrator):
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

    temperature_: float = fitted("", least=LEAST_TEMPERATURE)
    weights_: FloatArray = fitted("3", sum_to_one=True)
    gradient_: float = fitted()
    n_iter_: int = fitted()

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
        warn_unless_certain(what, self.gradient_, CERTAIN, self.n_iter_, problem.size, then)

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


@method("irova-ts", symbol="IROvA-TS", source="Zhang et al. 2020", guarantees={HULL, PERMUTED, FINITE})
class IsotonicTemperatureScaling(MulticlassCalibrator):
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

    epsilon: float = parameter(default=1e-3, least=0.0, most=1.0, hint="Pass a small one, such as 1e-3")
    temperature_: float = fitted("", least=LEAST_TEMPERATURE)
    gradient_: float = fitted()
    n_iter_: int = fitted()
    left_: list[FloatArray] = fitted()
    value_: list[FloatArray] = fitted()

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
