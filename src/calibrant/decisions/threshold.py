"""The optimal threshold of a calibrated probability, from costs and from shares of the classes."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from calibrant._core.links import FloatArray
from calibrant._core.parameters import each, number, require, together
from calibrant.decisions.costs import as_cost
from calibrant.decisions.inputs import numbers_of
from calibrant.decisions.priors import as_event_share


def optimal_threshold(
    cost_false_positive: float,
    cost_false_negative: float,
    *,
    cost_true_positive: float = 0.0,
    cost_true_negative: float = 0.0,
    old_prior: float | None = None,
    new_prior: float | None = None,
) -> float:
    """Probability from which it is cheaper to decide for the event, in [0, 1].

    Parameters
    ----------
    cost_false_positive, cost_false_negative : float
        Cost of deciding for the event when it does not occur, and against it when it occurs. Only their ratio matters.
    cost_true_positive, cost_true_negative : float, default=0
        Cost of the right decisions, where there is one: of a treatment that was needed, say. No more than that of the wrong
        one.
    old_prior, new_prior : float, optional
        Share of events for which the forecast is calibrated, and share where it is used. Both or none.

    Returns
    -------
    float
        The threshold for the forecast as it is: decide for the event where ``y_prob >= threshold``.

    Raises
    ------
    ValueError
        If a cost is negative, if a right decision costs more than the wrong one, if no error costs anything, or if a share
        is none.

    Notes
    -----
    With a the cost of a false positive beyond that of a true negative, and b the cost of a false negative beyond that of a
    true positive, deciding for the event is cheaper where (1 - p) a <= p b: from p = a / (a + b) on. A new share of events
    multiplies the odds of every forecast by r' / r, where r and r' are the old and the new ratio of events to the rest. So the
    threshold for the old forecast is

        a r / (a r + b r'),

    which with equal costs is r / (r + r'). `shift_prior` moves the probabilities in place of the threshold: the decisions
    are the same.

    The threshold is optimal for probabilities that are calibrated. For others `calibration_regret` measures the extra cost.

    References
    ----------
    Elkan, The foundations of cost-sensitive learning, IJCAI 2001.
    Silva Filho, Song, Perello-Nieto, Santos-Rodriguez, Kull, Flach, Classifier calibration: a survey, Machine Learning 2023.

    Examples
    --------
    >>> from calibrant import optimal_threshold
    >>> optimal_threshold(4, 1)
    0.8
    >>> round(optimal_threshold(1, 1, old_prior=0.5, new_prior=0.8), 15)
    0.2
    """
    a = _excess("positive", "negative", cost_false_positive, cost_true_negative)
    b = _excess("negative", "positive", cost_false_negative, cost_true_positive)
    stays = "Pass both, or none if the share of events stays"
    if together(old_prior=old_prior, new_prior=new_prior, hint=stays):
        old = Fraction(as_event_share("old_prior", old_prior, positive=True))
        new = Fraction(as_event_share("new_prior", new_prior))
        a, b = a * old * (1 - new), b * new * (1 - old)
    require(
        a + b != 0,
        "some error that can happen must cost more than the right decision",
        got="costs under which every decision is as good",
        hint="Pass cost_false_positive=1 and cost_false_negative=1 to count errors",
    )
    return float(a / (a + b))


def threshold_of(cost: FloatArray) -> float | None:
    """Return the threshold of a 2 x 2 cost matrix; None if its decisions all cost the same."""
    (true_negative, false_positive), (false_negative, true_positive) = cost.tolist()
    a = Fraction(false_positive) - Fraction(true_negative)
    b = Fraction(false_negative) - Fraction(true_positive)
    return float(a / (a + b)) if a + b > 0 else None


def as_threshold(threshold: object) -> float:
    """Return a threshold in [0, 1]."""
    hint = "It is compared with probabilities; see optimal_threshold"
    return number("threshold", threshold, least=0.0, most=1.0, hint=hint)


def as_places(name: str, values: npt.ArrayLike) -> FloatArray:
    """Return the distinct places in [0, 1] in increasing order."""
    places = numbers_of(name, values, f"Pass numbers between 0 and 1, such as {name}=[0.2, 0.5]")
    hint = "Pass numbers between 0 and 1"
    require(places.ndim == 1, f"{name} must have one dimension", got=f"shape {places.shape}", hint=hint)
    each(name, places, (places >= 0) & (places <= 1), "lie in [0, 1]", hint=hint)
    return np.unique(places)


def _excess(decided: str, true: str, wrong: float, right: float) -> Fraction:
    """Return what a wrong decision costs beyond the right one, as a fraction: products of those neither round nor vanish."""
    wrong_cost = as_cost(f"cost_false_{decided}", wrong)
    right_cost = as_cost(f"cost_true_{true}", right)
    require(
        right_cost <= wrong_cost,
        "a right decision must not cost more than the wrong one",
        got=f"cost_true_{true}={right!r} and cost_false_{decided}={wrong!r}",
        hint="Check which cost is which",
    )
    return Fraction(wrong_cost) - Fraction(right_cost)
