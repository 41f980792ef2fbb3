"""The test cases of the survey: mixtures of Gaussians on a line, and three classifiers that miss them in known ways."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, logit, logsumexp, softmax

from calibrant._core.links import FloatArray
from calibrant._core.parameters import choice, require, source
from calibrant._core.problem import IntArray
from calibrant.datasets.network import survey_network
from calibrant.datasets.truth import KnownTruth, require_rows

# (mean, variance) of the two equally likely Gaussians of each class.
CLASS_1 = ((-4.0, 960.0), (64.0, 1280.0))
CLASS_2 = ((4.0, 980.0), (-72.0, 1024.0))

# The survey prints Gaussian(0, 8) for class 3 and does not say what the 8 is.
VARIANCE_OF_CLASS_3: Mapping[str, float] = {"variance": 8.0, "standard deviation": 8.0**2}

SLOPES = {"under-confident": 0.01, "over-confident": 0.05}
MODELS = ("bayes-optimal", *SLOPES, "mlp")
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
        require(
            self.n_classes == 3 or self.class_3 == "variance",
            "class_3 says what the 8 of a third class is",
            got=f"{self.class_3!r} with n_classes=2",
            hint="Pass n_classes=3",
        )

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
        require_rows(n)
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
    model : {"over-confident", "under-confident", "mlp", "bayes-optimal"}, default="over-confident"
        The classifier of the feature x: the logistic functions 1 / (1 + exp(-0.05 x)) and 1 / (1 + exp(-0.01 x)), for two
        classes; a neural network with two layers of 128 units that scikit-learn trained on 10 000 other instances,
        embedded here; or Bayes' rule itself, which is calibrated. The networks were trained with ``class_3="variance"``.
    n_classes : {2, 3}, default=2
        Which of the mixtures: see `SurveyMixture`.
    class_3 : {"variance", "standard deviation"}, default="variance"
        What the 8 of the third class is: see `SurveyMixture`. There is no network for the standard deviation.
    rng : numpy.random.Generator or int, optional
        Source of randomness of the rows.

    Returns
    -------
    KnownTruth
        ``y``, ``prob``, ``posterior`` and ``x``. A logistic forecast rises with x, so that the true calibration map is the
        posterior at the x that makes the score, c(s) = P(y = 1 | x = logit(s) / slope), and ``calibrated`` equals
        ``posterior``. The network's has no closed form.

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
    require(
        model != "mlp" or class_3 == "variance",
        "model 'mlp' is a network that was trained with class_3='variance'",
        value=class_3,
        hint="Pass model='bayes-optimal', or train one on SurveyMixture(3, 'standard deviation').sample(10_000)",
    )
    require(
        model not in SLOPES or n_classes == 2,
        f"model {model!r} is logistic and speaks of two classes",
        got=f"n_classes={n_classes}",
        hint="Pass model='mlp' or 'bayes-optimal'",
    )
    x, y = mixture.sample(n, rng=rng)
    posterior = mixture.posterior(x)
    name = f"survey, {model}"
    if model == "mlp":
        return KnownTruth(y, survey_network(n_classes)(x), posterior, x=x, name=name)
    if model == "bayes-optimal":
        return KnownTruth(y, posterior, posterior, posterior, _identity, x, name)
    slope = SLOPES[model]
    prob = np.asarray(expit(slope * x), dtype=np.float64)
    return KnownTruth(y, prob, posterior, posterior, _LogisticMap(mixture, slope), x, name)


@dataclass(frozen=True)
class _LogisticMap:
    """P(y = 1 | score) of the forecast 1 / (1 + exp(-slope x))."""

    mixture: SurveyMixture
    slope: float

    def __call__(self, score: Any) -> FloatArray:
        return self.mixture.posterior(logit(np.asarray(score, dtype=np.float64)) / self.slope)


def _identity(score: Any) -> FloatArray:
    return np.asarray(score, dtype=np.float64)
