"""The small tables of the survey and of the top-label paper, as they print them."""

from __future__ import annotations

import numpy as np

from calibrant._core.links import FloatArray
from calibrant._core.problem import IntArray
from calibrant.datasets.truth import KnownTruth

# (forecast in percent, number of forecasts, number of rains): Table 1, at the centres of its classes.
HALLENBECK = (
    (95, 1, 1),
    (85, 1, 1),
    (75, 7, 6),
    (65, 15, 11),
    (55, 13, 8),
    (45, 15, 8),
    (35, 18, 6),
    (25, 31, 7),
    (15, 22, 4),
)

# Table 3: the true class, and in thirtieths the probabilities of the classes 1 and 2. Class 3 has the rest.
TABLE_3 = (
    (1, 30, 0), (1, 27, 3), (1, 24, 3), (1, 21, 3), (1, 18, 9), (1, 12, 3), (1, 10, 10), (1, 10, 10), (1, 6, 12), (1, 3, 15),
    (2, 24, 6), (2, 21, 0), (2, 15, 6), (2, 12, 12), (2, 12, 6), (2, 9, 12), (2, 6, 9), (2, 3, 18), (2, 3, 9), (2, 0, 6),
    (3, 24, 6), (3, 24, 3), (3, 24, 0), (3, 18, 0), (3, 9, 0), (3, 6, 18), (3, 6, 12), (3, 0, 12), (3, 0, 9), (3, 0, 9),
)  # fmt: skip

# The six points a to f: the true class, and in tenths the probabilities of the classes 1 to 4.
SIX_POINTS = (
    (3, 1, 0, 6, 3),
    (4, 6, 0, 1, 3),
    (2, 2, 7, 0, 1),
    (1, 0, 1, 1, 8),
    (4, 0, 1, 8, 1),
    (1, 9, 1, 0, 0),
)


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
    patients = np.repeat([0.0, 1.0], 5)
    return KnownTruth(y, prob, posterior, posterior, x=patients, name="two patients")
