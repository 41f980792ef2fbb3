"""Forecasts to try things on: loaded ones, and made ones whose truth is known in closed form."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from importlib.resources import files
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import expit, logit, logsumexp, softmax

from calibrant._core.arrays import FloatArray, NDArray, prob_of_logit
from calibrant._core.checks import choice, number, require, source, whole
from calibrant._core.result import Result, Table
from calibrant._core.rows import IntArray

__all__ = [
    "KnownTruth",
    "SurveyMixture",
    "load_digits_forecast",
    "load_hallenbeck_forecasts",
    "load_survey_table_2",
    "load_survey_table_3",
    "load_top_label_example",
    "load_two_patients",
    "make_softmax_forecast",
    "make_survey_forecast",
]


# A forecast of handwritten digits, made by an over-confident network


DIGITS = files("calibrant") / "_data" / "digits_forecast.csv"
"""The embedded file: ``digit`` is the truth, ``p_0`` to ``p_9`` are the probabilities. It was made by
``tools/make_digits_forecast.py`` of commit 6e77aab2."""


def load_digits_forecast() -> tuple[IntArray, FloatArray]:
    """Load an over-confident forecast of handwritten digits, made by a small neural network.

    Returns
    -------
    y_true : ndarray of shape (1497,)
        The digits, 0 to 9.
    y_prob : ndarray of shape (1497, 10)
        The network's probabilities.

    References
    ----------
    Alpaydin, Kaynak, Optical recognition of handwritten digits, UCI Machine Learning Repository 1998 (CC BY 4.0).

    Examples
    --------
    >>> from calibrant import load_digits_forecast
    >>> y, prob = load_digits_forecast()
    >>> prob.shape
    (1497, 10)
    """
    with DIGITS.open() as lines:
        table = np.loadtxt(lines, delimiter=",", skiprows=1)
    return table[:, 0].astype(np.intp), table[:, 1:]


# A forecast with the truth beside it


Floats = NDArray[np.floating[Any]]
CalibrationMap = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True, eq=False, repr=False)
class KnownTruth(Result):
    """Labels and a forecast, with the probabilities from which the labels were drawn.

    Probabilities of two classes are one column, of shape (n,), where the forecast is one column.

    Attributes
    ----------
    y : ndarray of shape (n,)
        The labels.
    prob : ndarray of shape (n,) or (n, K)
        The forecast S.
    posterior : ndarray of the shape of ``prob``
        Q, the probabilities of the classes given the features: no forecast can be better.
    calibrated : ndarray of the shape of ``prob``, or None
        C, the probabilities of the classes given the forecast: the forecast is calibrated where it equals them.
        None where there is no closed form.
    calibration_map : callable or None
        The function that leads from a forecast to C, for any forecast and not only for those in ``prob``.
    x : ndarray or None
        The features, a row each.
    name : str
        Source of the data.
    """

    _table = Table("label", "y", "prob_*", "posterior_*", "calibrated_*?", "x_*?")

    y: IntArray
    prob: Floats
    posterior: Floats
    calibrated: Floats | None = None
    calibration_map: CalibrationMap | None = None
    x: Floats | None = None
    name: str = ""

    def __repr__(self) -> str:
        n_classes = 2 if self.prob.ndim == 1 else self.prob.shape[1]
        return f"KnownTruth({self.name}, rows={len(self.y)}, classes={n_classes})"


# The test cases of the survey: mixtures of Gaussians on a line, and two classifiers that miss them in known ways


# (mean, variance) of the two equally likely Gaussians of each class.
CLASS_1 = ((-4.0, 960.0), (64.0, 1280.0))
CLASS_2 = ((4.0, 980.0), (-72.0, 1024.0))

# The survey prints Gaussian(0, 8) for class 3 and does not say what the 8 is.
VARIANCE_OF_CLASS_3: Mapping[str, float] = {"variance": 8.0, "standard deviation": 8.0**2}

SLOPES = {"under-confident": 0.01, "over-confident": 0.05}
MODELS = ("bayes-optimal", *SLOPES)
FAR = 1e9
"""Beyond this value of the feature posteriors are 0 or 1 to the last digit; infinity, where a score is 0 or 1, counts as it."""


@dataclass(frozen=True)
class SurveyMixture:
    """The generative models of the survey: equally likely classes, each a mixture of two Gaussians of one feature.

    Class 1 has the components N(-4, 960) and N(64, 1280) and class 2 N(4, 980) and N(-72, 1024), where the second number is
    the variance. Class 3, if there is one, is one Gaussian of mean 0. High values speak for class 1.

    Parameters
    ----------
    n_classes : {2, 3}, default=2
        Two classes (section 5.2): label 1 is class 1, the event, and label 0 is class 2; probabilities are one
        column, that of the event. Three classes (section 5.4): labels 0, 1, 2 are the classes 1, 2, 3.
    class_3 : {"variance", "standard deviation"}, default="variance"
        What the 8 of the third class, printed as Gaussian(0, 8), is. See Notes. Without a third class it must be
        left at its default.

    Notes
    -----
    The survey does not say whether the second number of a Gaussian is its variance or its standard deviation. For the classes 1
    and 2 its own Fig. 12 decides: predictions 1 / (1 + exp(-0.01 x)) barely leave [0.1, 0.9], which takes 960 to 1280 as
    variances; as standard deviations they would put 83 % of the predictions outside. For class 3 the text allows both,
    and they are different worlds: the posterior of class 3 reaches 0.91 with a variance of 8, and 0.777 with a
    standard deviation of 8. The caption of Fig. 20 says that it is capped around 0.8.

    References
    ----------
    Silva Filho, Song, Perello-Nieto, Santos-Rodriguez, Kull, Flach, Classifier calibration: a survey, Machine Learning 2023.

    Examples
    --------
    >>> from calibrant.datasets import SurveyMixture
    >>> SurveyMixture().posterior([-50.0, 0.0, 50.0]).round(4)
    array([0.2547, 0.5242, 0.7519])
    """

    n_classes: int = 2
    class_3: str = "variance"

    def __post_init__(self) -> None:
        others = "For other numbers use make_softmax_forecast"
        must = "n_classes of the survey's mixtures must be 2 or 3"
        require(self.n_classes in (2, 3), must, value=self.n_classes, hint=others)
        choice("class_3", self.class_3, VARIANCE_OF_CLASS_3)
        is_said, got = self.n_classes == 3 or self.class_3 == "variance", f"{self.class_3!r} with n_classes=2"
        require(is_said, "class_3 says what the 8 of a third class is", got=got, hint="Pass n_classes=3")

    @property
    def components(self) -> FloatArray:
        """Mean and variance of the two Gaussians of each label, shape (n_classes, 2, 2)."""
        if self.n_classes == 2:
            return np.array([CLASS_2, CLASS_1])  # the event, label 1, is the survey's class 1
        third = (0.0, VARIANCE_OF_CLASS_3[self.class_3])
        return np.array([CLASS_1, CLASS_2, (third, third)])

    def sample(self, n: int, *, rng: np.random.Generator | int | None = None) -> tuple[FloatArray, IntArray]:
        """Draw instances.

        Parameters
        ----------
        n : int
            How many.
        rng : numpy.random.Generator or int, optional
            Source of randomness.

        Returns
        -------
        x : ndarray of shape (n,)
            The feature.
        y : ndarray of shape (n,)
            The labels, counted from 0.
        """
        whole("n", n, least=1, most=10**10, hint="Pass 1000 rows, say")
        rng = np.random.default_rng(source("rng", rng))
        y, component = rng.integers(self.n_classes, size=n), rng.integers(2, size=n)
        mean, variance = np.moveaxis(self.components[y, component], -1, 0)
        return rng.normal(mean, np.sqrt(variance)), y.astype(np.intp, copy=False)

    def log_density(self, x: Any) -> FloatArray:
        """Logarithm of the density of the feature in each class.

        Parameters
        ----------
        x : array-like of shape (n,)
            Values of the feature.

        Returns
        -------
        ndarray of shape (n, n_classes)
            A column a label.
        """
        mean, variance = np.moveaxis(self.components, -1, 0)
        squares = (np.asarray(x, dtype=np.float64)[:, None, None] - mean) ** 2
        halves = -0.5 * (squares / variance + np.log(2.0 * np.pi * variance)) - np.log(2.0)
        return np.asarray(logsumexp(halves, axis=2), dtype=np.float64)

    def posterior(self, x: Any) -> FloatArray:
        """Apply Bayes' rule, in logarithms: the probabilities of the classes given the feature.

        Parameters
        ----------
        x : array-like of shape (n,)
            Values of the feature.

        Returns
        -------
        ndarray of shape (n,) or (n, 3)
            Of the event for two classes, of every class for three.
        """
        prob = np.asarray(softmax(self.log_density(np.clip(x, -FAR, FAR)), axis=1), dtype=np.float64)
        return prob[:, 1] if self.n_classes == 2 else prob


def make_survey_forecast(
    n: int,
    *,
    model: str = "over-confident",
    n_classes: int = 2,
    class_3: str = "variance",
    rng: np.random.Generator | int | None = None,
) -> KnownTruth:
    """Draw a test case of the survey: labels, predicted probabilities, and the exact probabilities behind the labels.

    Parameters
    ----------
    n : int
        Number of rows.
    model : {"over-confident", "under-confident", "bayes-optimal"}, default="over-confident"
        The classifier of the feature x: the logistic functions 1 / (1 + exp(-0.05 x)) and 1 / (1 + exp(-0.01 x)), for two
        classes; or Bayes' rule itself, which is calibrated.
    n_classes : {2, 3}, default=2
        Which of the mixtures: see `SurveyMixture`.
    class_3 : {"variance", "standard deviation"}, default="variance"
        What the 8 of the third class is: see `SurveyMixture`.
    rng : numpy.random.Generator or int, optional
        Source of randomness of the rows.

    Returns
    -------
    KnownTruth
        ``y``, ``prob``, ``posterior`` and ``x``. A logistic forecast rises with x, so that the true calibration map is the
        posterior at the x that makes the score, c(s) = P(y = 1 | x = logit(s) / slope), and ``calibrated`` equals
        ``posterior``.

    See Also
    --------
    make_softmax_forecast : Any number of classes.

    References
    ----------
    Silva Filho, Song, Perello-Nieto, Santos-Rodriguez, Kull, Flach, Classifier calibration: a survey, Machine Learning 2023.

    Examples
    --------
    >>> from calibrant import expected_calibration_error
    >>> from calibrant.datasets import make_survey_forecast
    >>> truth = make_survey_forecast(10_000, model="under-confident", rng=0)
    >>> round(expected_calibration_error(truth.y, truth.prob), 2)
    0.11
    >>> truth.calibration_map([0.3, 0.5, 0.7]).round(3)
    array([0.036, 0.524, 0.955])
    """
    choice("model", model, MODELS)
    mixture = SurveyMixture(n_classes, class_3)
    must, hint = f"model {model!r} is logistic and speaks of two classes", "Pass model='bayes-optimal'"
    require(model not in SLOPES or n_classes == 2, must, got=f"n_classes={n_classes}", hint=hint)
    x, y = mixture.sample(n, rng=rng)
    posterior, name = mixture.posterior(x), f"survey, {model}"
    if model == "bayes-optimal":
        return KnownTruth(y, posterior, posterior, posterior, np.positive, x, name)
    prob = np.asarray(expit(SLOPES[model] * x), dtype=np.float64)
    return KnownTruth(y, prob, posterior, posterior, partial(_map_of_logistic, mixture, SLOPES[model]), x, name)


def _map_of_logistic(mixture: SurveyMixture, slope: float, score: Any) -> FloatArray:
    """P(y = 1 | score) of the forecast 1 / (1 + exp(-slope x))."""
    return mixture.posterior(logit(np.asarray(score, dtype=np.float64)) / slope)


# Softmax forecasts of any size that are over- or under-confident by a known temperature


NUMBERS_AT_A_TIME = 1 << 20
"""Rows times classes drawn together: beside its result the generator needs memory for a few blocks."""

LOG_SCALES = (np.log(1e-9), np.log(1e9))
MOST_CLASSES = 1_000_000
"""Classes up to which a scale between these has any accuracy."""

MARGIN = 1e-6
"""How near the accuracy may come to chance or to one, where the scale that makes it runs away."""


def make_softmax_forecast(
    n: int,
    n_classes: int,
    *,
    temperature: float = 1.5,
    accuracy: float = 0.8,
    dtype: npt.DTypeLike = np.float64,
    rng: np.random.Generator | int | None = None,
) -> KnownTruth:
    """Draw labels and a softmax forecast of them that temperature scaling calibrates exactly.

    A row has independent normal logits z. Its label is drawn from softmax(z), the posterior; the forecast is
    softmax(temperature * z).

    Parameters
    ----------
    n : int
        Number of rows.
    n_classes : int
        Number of classes, at least 2.
    temperature : float, default=1.5
        The temperature that makes the forecast calibrated: above 1 it is over-confident, below 1 under-confident, at 1
        it is calibrated.
    accuracy : float, default=0.8
        Expected accuracy of predicting the most probable class, in (1 / n_classes, 1): the mean of the highest posterior. It
        sets the scale of the logits, and is the same whatever the temperature. A sample's accuracy varies about it.
    dtype : {numpy.float64, numpy.float32}, default=numpy.float64
        Of the probabilities. They are computed in float64.
    rng : numpy.random.Generator or int, optional
        Source of randomness.

    Returns
    -------
    KnownTruth
        ``y``, ``prob`` and ``posterior`` of shape (n, n_classes), also for two classes. Sharpening loses nothing, so
        ``calibrated`` is the posterior, and the true calibration map sends s to softmax(log(s) / temperature).

    See Also
    --------
    make_survey_forecast : Two or three classes that no temperature calibrates.

    Examples
    --------
    >>> from calibrant import expected_calibration_error
    >>> from calibrant.datasets import make_softmax_forecast
    >>> truth = make_softmax_forecast(10_000, 10, rng=0)
    >>> round(expected_calibration_error(truth.y, truth.prob), 2)
    0.06
    >>> round(expected_calibration_error(truth.y, truth.calibrated), 2)
    0.01
    """
    whole("n", n, least=1, most=10**10, hint="Pass 1000 rows, say")
    _check(n_classes, temperature, accuracy, dtype)
    rng = np.random.default_rng(source("rng", rng))
    scale = _scale_of(n_classes, float(accuracy))
    y = np.empty(n, dtype=np.intp)
    prob, posterior = np.empty((n, n_classes), dtype=dtype), np.empty((n, n_classes), dtype=dtype)
    step = max(1, NUMBERS_AT_A_TIME // n_classes)
    for start in range(0, n, step):
        rows = slice(start, min(start + step, n))
        logit = rng.normal(0.0, scale, (rows.stop - start, n_classes))
        exact = prob_of_logit(logit)
        ends = exact.cumsum(axis=1)
        y[rows] = (ends[:, :-1] <= rng.random((len(logit), 1)) * ends[:, -1:]).sum(axis=1)
        posterior[rows] = exact
        prob[rows] = prob_of_logit(temperature * logit)
    name = f"softmax, temperature {temperature:g}"
    return KnownTruth(y, prob, posterior, posterior, partial(_map_of_temperature, temperature), name=name)


def _map_of_temperature(temperature: float, prob: Any) -> FloatArray:
    """P(y | forecast) of a forecast softmax(temperature * z) of labels drawn from softmax(z)."""
    with np.errstate(divide="ignore"):  # a zero stays a zero
        return prob_of_logit(np.log(np.asarray(prob, dtype=np.float64)) / temperature)


@cache
def _scale_of(n_classes: int, accuracy: float) -> float:
    """Scale of the logits at which the most probable class has the mean probability ``accuracy``."""
    found = brentq(lambda log: bayes_accuracy(np.exp(log), n_classes) - accuracy, *LOG_SCALES, xtol=1e-10)
    return float(np.exp(found))


def bayes_accuracy(scale: float, n_classes: int) -> float:
    """Mean of the largest entry of softmax(scale * g) over independent standard normal g, within 1e-7.

    Class j is drawn from the softmax when  scale * g_j + Gumbel noise  is largest. So the accuracy is the probability
    that one class has both the largest g and the largest sum: of K classes alike, K times an integral over g and the
    noise u of the first. Each of the others lies lower by some q > 0 and loses:

        K * integral of  phi(g) exp(-u - exp(-u)) H(g, u)^(K - 1),
        H(g, u) = integral of  phi(g - q) exp(-exp(-u - scale * q))  over q > 0.

    Sums over even steps of g, u and log q converge exponentially, as all integrands are smooth and fade at both ends.
    """
    grids = ((-8, 8, 97), (-5, 40, 113), (-21, 3, 201))
    (g, dg), (u, du), (log_q, dw) = (np.linspace(*ends, retstep=True) for ends in grids)
    g, u, q = g[:, None, None], u[:, None], np.exp(log_q)
    below = (_normal_density(g - q) * q * np.exp(-np.exp(-u - scale * q))).sum(axis=2) * dw
    weight = _normal_density(g[:, :, 0]) * np.exp(-u - np.exp(-u)).T * dg * du
    return float(n_classes * (weight * below ** (n_classes - 1)).sum())


def _normal_density(z: FloatArray) -> FloatArray:
    return np.asarray(np.exp(-0.5 * z**2) / np.sqrt(2.0 * np.pi), dtype=np.float64)


def _check(n_classes: object, temperature: object, accuracy: object, dtype: npt.DTypeLike) -> None:
    classes = whole("n_classes", n_classes, least=2, most=MOST_CLASSES, hint="One event makes two classes")
    number("temperature", temperature, above=0.0, hint="Above 1 makes the forecast over-confident")
    hint = "It is the mean of the highest posterior; pass 0.8, say"
    wanted = number("accuracy", accuracy, hint=hint)
    must = f"accuracy must lie between 1 / n_classes = {1.0 / classes:.4g} and 1, {MARGIN:g} away from both"
    require(1.0 / classes + MARGIN <= wanted <= 1.0 - MARGIN, must, value=accuracy, hint=hint)
    try:
        kind = np.dtype(dtype)
    except (TypeError, ValueError, AttributeError):
        kind = np.dtype(object)
    got, hint = dtype if isinstance(dtype, str) else str(kind), "Pass numpy.float32 to halve the memory"
    require(kind in (np.float32, np.float64), "dtype must be float32 or float64", got=got, hint=hint, error=TypeError)


# The small tables of the survey and of the top-label paper, as they print them


# (forecast in percent, number of forecasts, number of rains): Table 1, at the centres of its classes.
HALLENBECK = (
    (95, 1, 1), (85, 1, 1), (75, 7, 6), (65, 15, 11), (55, 13, 8), (45, 15, 8), (35, 18, 6), (25, 31, 7), (15, 22, 4),
)  # fmt: skip

# Table 3: the true class, and in thirtieths the probabilities of the classes 1 and 2. Class 3 has the rest.
TABLE_3 = (
    (1, 30, 0), (1, 27, 3), (1, 24, 3), (1, 21, 3), (1, 18, 9), (1, 12, 3), (1, 10, 10), (1, 10, 10), (1, 6, 12), (1, 3, 15),
    (2, 24, 6), (2, 21, 0), (2, 15, 6), (2, 12, 12), (2, 12, 6), (2, 9, 12), (2, 6, 9), (2, 3, 18), (2, 3, 9), (2, 0, 6),
    (3, 24, 6), (3, 24, 3), (3, 24, 0), (3, 18, 0), (3, 9, 0), (3, 6, 18), (3, 6, 12), (3, 0, 12), (3, 0, 9), (3, 0, 9),
)  # fmt: skip

# The six points a to f: the true class, and in tenths the probabilities of the classes 1 to 4.
SIX_POINTS = ((3, 1, 0, 6, 3), (4, 6, 0, 1, 3), (2, 2, 7, 0, 1), (1, 0, 1, 1, 8), (4, 0, 1, 8, 1), (1, 9, 1, 0, 0))


def load_hallenbeck_forecasts() -> tuple[IntArray, FloatArray]:
    """Load 123 forecasts of rain of 1920, the first that were compared with the outcomes (the survey's Table 1).

    Returns
    -------
    y_true : ndarray of shape (123,)
        1 where it rained, else 0.
    y_prob : ndarray of shape (123,)
        The forecast. Printed are classes such as 20 to 29 per cent; as in the survey, each stands for its centre, 0.25.

    References
    ----------
    Hallenbeck, Forecasting precipitation in percentages of probability, Monthly Weather Review 1920.
    Silva Filho, Song, Perello-Nieto, Santos-Rodriguez, Kull, Flach, Classifier calibration: a survey, Machine Learning 2023.

    Examples
    --------
    >>> from calibrant import expected_calibration_error
    >>> from calibrant.datasets import load_hallenbeck_forecasts
    >>> y, prob = load_hallenbeck_forecasts()
    >>> round(expected_calibration_error(y, prob, binning=10), 4)
    0.0492
    """
    percent, forecasts, rains = np.array(HALLENBECK).T
    y = np.repeat(np.tile([1, 0], len(percent)), np.column_stack([rains, forecasts - rains]).ravel())
    return y.astype(np.intp, copy=False), np.repeat(percent / 100.0, forecasts)


def load_survey_table_2() -> KnownTruth:
    """Load the survey's Table 2: ten rows, three classes, and every probability that a decomposition needs.

    Returns
    -------
    KnownTruth
        Labels ``y`` in 1, 2, 3; the forecast S as ``prob``; the posterior Q given the features ``x``; and the calibrated
        probabilities C, the mean outcomes of equal forecasts, unrounded. The rows are representative by design: the mean
        outcome of equal features is Q.

    References
    ----------
    Silva Filho, Song, Perello-Nieto, Santos-Rodriguez, Kull, Flach, Classifier calibration: a survey, Machine Learning 2023.

    Examples
    --------
    >>> from calibrant import brier_score_loss
    >>> from calibrant.datasets import load_survey_table_2
    >>> toy = load_survey_table_2()
    >>> round(brier_score_loss(toy.y, toy.prob, labels=[1, 2, 3]), 3)
    0.712
    """
    x = np.repeat([[3.0, 1.0, 3.0], [2.0, 2.0, 2.0], [0.0, 2.0, 2.0]], [4, 2, 4], axis=0)
    y = np.array([1, 1, 1, 2, 1, 2, 2, 2, 3, 3])
    prob = np.repeat([[0.9, 0.1, 0.0], [0.6, 0.2, 0.2]], [4, 6], axis=0)
    posterior = np.column_stack([x[:, 0] / 4.0, x[:, 1] / 4.0, 1.0 - (x[:, 0] + x[:, 1]) / 4.0])
    calibrated = np.repeat([[3 / 4, 1 / 4, 0.0], [1 / 6, 3 / 6, 2 / 6]], [4, 6], axis=0)
    return KnownTruth(y, prob, posterior, calibrated, x=x, name="survey, Table 2")


def load_survey_table_3() -> tuple[IntArray, FloatArray]:
    """Load the survey's Table 3: thirty forecasts of three classes, its running example.

    Returns
    -------
    y_true : ndarray of shape (30,)
        The classes 1, 2, 3, ten of each.
    y_prob : ndarray of shape (30, 3)
        The probabilities: tenths and thirds, each the nearest float to the fraction.

    References
    ----------
    Silva Filho, Song, Perello-Nieto, Santos-Rodriguez, Kull, Flach, Classifier calibration: a survey, Machine Learning 2023.

    Examples
    --------
    >>> from calibrant import classwise_calibration_error
    >>> from calibrant.datasets import load_survey_table_3
    >>> y, prob = load_survey_table_3()
    >>> round(classwise_calibration_error(y, prob, binning=5, labels=[1, 2, 3]), 4)
    0.1785
    """
    y, first, second = np.array(TABLE_3).T
    thirtieths = np.column_stack([first, second, 30 - first - second])
    return y.astype(np.intp, copy=False), thirtieths / 30.0


def load_top_label_example() -> tuple[IntArray, FloatArray]:
    """Load the worked example of the top-label paper: six points a to f, four classes.

    Returns
    -------
    y_true : ndarray of shape (6,)
        The classes, of 1, 2, 3, 4.
    y_prob : ndarray of shape (6, 4)
        The probabilities: tenths, each the nearest float.

    References
    ----------
    Gupta, Ramdas, Top-label calibration and multiclass-to-binary reductions, ICLR 2022.

    Examples
    --------
    >>> from calibrant import top_label_calibration_error
    >>> from calibrant.binning import Unique
    >>> from calibrant.datasets import load_top_label_example
    >>> y, prob = load_top_label_example()
    >>> round(top_label_calibration_error(y, prob, binning=Unique(), labels=[1, 2, 3, 4]), 4)
    0.5
    """
    y, *tenths = np.array(SIX_POINTS).T
    return y.astype(np.intp, copy=False), np.column_stack(tenths) / 10.0


def load_two_patients() -> KnownTruth:
    """Load the example of the top-label paper that is calibrated in confidence and wrong for every patient.

    Disease 1 is predicted with probability 0.6 for patients a, and disease 2 for patients b. In truth the former have it in
    one case of five, the latter always.

    Returns
    -------
    KnownTruth
        Five patients a, then five patients b: labels ``y`` in 1, 2; the forecast as ``prob`` of shape (10, 2); ``x`` is 0
        for patients a and 1 for b. The rows are representative by design: the mean outcome of equal patients is the
        ``posterior``. The two forecasts differ, so that ``calibrated`` equals it.

    References
    ----------
    Gupta, Ramdas, Top-label calibration and multiclass-to-binary reductions, ICLR 2022.

    Examples
    --------
    >>> from calibrant import expected_calibration_error, top_label_calibration_error
    >>> from calibrant.datasets import load_two_patients
    >>> toy = load_two_patients()
    >>> round(expected_calibration_error(toy.y, toy.prob, notion="confidence", labels=[1, 2]), 3)
    0.0
    >>> round(top_label_calibration_error(toy.y, toy.prob, labels=[1, 2]), 3)
    0.4
    """
    y = np.array([1, 2, 2, 2, 2, 2, 2, 2, 2, 2])
    prob, posterior = (np.repeat(rows, 5, axis=0) for rows in ([[0.6, 0.4], [0.4, 0.6]], [[0.2, 0.8], [0.0, 1.0]]))
    return KnownTruth(y, prob, posterior, posterior, x=np.repeat([0.0, 1.0], 5), name="two patients")
