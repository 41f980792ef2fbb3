"""Cost curves: what decisions cost, for every ratio of the costs of errors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Unpack

import numpy as np
import numpy.typing as npt

from calibrant._core.links import FloatArray
from calibrant._core.parameters import choice
from calibrant._core.result import DrawnResult, Picture, Record
from calibrant._core.table import Table, under
from calibrant._core.validation import DataOptions
from calibrant._core.warnings import warn
from calibrant.binning.distinct_scores import Ordered
from calibrant.decisions.error_rates import errors_at
from calibrant.decisions.events import events_of, panel_named
from calibrant.decisions.threshold import as_places
from calibrant.notions import Notion
from calibrant.solvers.isotonic import base_rate, isotonic_fit

CostAxis = Literal["probability cost", "cost proportion"]
AXES = ("probability cost", "cost proportion")

GRID = np.linspace(0.0, 1.0, 201)
"""Where a curve is computed by default."""


@dataclass(frozen=True, eq=False)
class ForecastCost(Record):
    """What decisions by one forecast cost, and at best could: at each place of a curve, and on average over all of them.

    ``lowest`` is the cost at the best thresholds in hindsight, which is that of the isotonic fit.
    """

    name: str
    cost: FloatArray
    lowest: FloatArray
    mean_cost: float
    mean_lowest: float

    @property
    def mean_regret(self) -> float:
        """By how much decisions cost more than at the best thresholds, on average over all places."""
        return max(self.mean_cost - self.mean_lowest, 0.0)


@dataclass(frozen=True, eq=False)
class ExpectedCostCurve(DrawnResult):
    """Cost of the decisions that forecasts lead to, for every ratio of the costs of errors.

    Attributes
    ----------
    panels : tuple of ForecastCost
        One a forecast.
    at : ndarray of shape (k,)
        The k distinct places on the axis, from 0 to 1, ascending.
    threshold : ndarray of shape (k,)
        The optimal threshold of calibrated probabilities at each.
    never, always : ndarray of shape (k,)
        Cost of deciding against the event in all rows, and for it.
    axis : {"probability cost", "cost proportion"}
        What ``at`` is.
    event_rate : float
        Share of events.
    """

    _table = Table(
        "forecast and place",
        "forecast=panels.name",
        "at",
        "threshold",
        *under("panels", "cost", "lowest"),
        "never",
        "always",
    )
    _picture = Picture(
        "the cost curves",
        "expected_cost.plot_expected_cost",
        options=(
            "``lowest=False`` leaves out the cost at the best thresholds in hindsight, ``trivial=False`` that of "
            "deciding alike in all rows."
        ),
    )

    panels: tuple[ForecastCost, ...]
    at: FloatArray
    threshold: FloatArray
    never: FloatArray
    always: FloatArray
    axis: CostAxis
    event_rate: float

    def __getitem__(self, name: str) -> ForecastCost:
        """Return the panel of that name."""
        panel: ForecastCost = panel_named(self.panels, name)
        return panel

    def __repr__(self) -> str:
        means = ", ".join(f"{p.name}: {p.mean_cost:.4g}, at best {p.mean_lowest:.4g}" for p in self.panels)
        return f"ExpectedCostCurve({self.axis}; {means})"


def expected_cost_curve(
    y_true: npt.ArrayLike,
    y_prob: npt.ArrayLike | Mapping[str, npt.ArrayLike] | None = None,
    *,
    axis: CostAxis = "probability cost",
    at: npt.ArrayLike | None = None,
    notion: str | Notion | None = None,
    **data: Unpack[DataOptions],
) -> ExpectedCostCurve:
    """Cost of deciding by the probabilities, and at best, for every ratio of the costs of errors (cost curve, Brier curve).

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, 2), or dict of name to such
        Probabilities of the event; several forecasts of the same event in the same rows by their names.
    axis : {"probability cost", "cost proportion"}, default="probability cost"
        What the horizontal axis is: see the notes.
    at : array-like, optional
        Places in [0, 1], in any order; by default 201 evenly spaced ones. The curve has each of them once, ascending. The
        averages are exact and do not depend on them.
    notion : str or Notion, optional
        The event, of more than two classes: ``OneVsRest("cat")``, or ``"confidence"`` for accepting the predicted class.
        Forecasts that predict other classes have other events then: pass them one at a time.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    ExpectedCostCurve
        A result with ``panels``, ``to_frame()`` and ``plot()``.

    Raises
    ------
    ValueError
        If a place is outside [0, 1], if there is not one event, or not the same event for all forecasts.

    Notes
    -----
    Let FPR and FNR be the error rates among rows without and with the event, when deciding for the event from the threshold
    on that is optimal for calibrated probabilities.

    "probability cost" (Drummond and Holte) : x is the share of what false negatives would cost in what errors could cost at
    most, r' b / (r' b + a) for costs a and b of a false positive and a false negative and a new ratio r' of events to the
    rest. It stands for all costs and all new shares of events at once. The cost x FNR + (1 - x) FPR is a fraction of that
    maximum. With the share q of events in the data the threshold is q (1 - x) / (q (1 - x) + (1 - q) x).

    "cost proportion" (the Brier curve) : c is the share of a false alarm in the cost of one error of each kind, and the
    threshold. The cost is 2 c times the share of false positives plus 2 (1 - c) times that of false negatives. Its
    average over c is the Brier score, and the average of ``lowest`` that of the isotonic fit: the area between the two
    is the miscalibration of CORP.

    The cost at the best thresholds in hindsight is the lower envelope of the lines of all thresholds. These thresholds were
    chosen on the rows on which the cost is measured, so a small part of the gap is bias: see `calibration_regret`.

    Where one class never occurred, its error rate counts as zero, with a warning.

    References
    ----------
    Drummond, Holte, Cost curves: an improved method for visualizing classifier performance, Machine Learning 2006.
    Hernández-Orallo, Flach, Ferri, A unified view of performance metrics: translating threshold choice into expected
    classification loss, JMLR 2012.

    Examples
    --------
    >>> from calibrant.decisions import expected_cost_curve
    >>> expected_cost_curve([0, 1, 1, 0], [0.2, 0.7, 0.9, 0.8], axis="cost proportion")
    ExpectedCostCurve(cost proportion; forecast: 0.195, at best 0.125)
    """
    choice("axis", axis, AXES)
    places = as_places("at", GRID if at is None else at)
    problems = {name: Ordered.of(problem) for name, problem in events_of(y_true, y_prob, notion, data).items()}
    rate = base_rate(next(iter(problems.values())))
    if axis == "probability cost" and rate in (0.0, 1.0):
        warn(
            f"error rates need rows with and without the event; all rows are {'with' if rate else 'without'} it, and the other "
            "error rate counts as zero. Pass axis='cost proportion', which needs no rates."
        )
    terms = _terms(axis, places, rate)
    panels = tuple(_panel(name, ordered, terms) for name, ordered in problems.items())
    never, always = terms.false_negative * rate, terms.false_positive * (1.0 - rate)
    return ExpectedCostCurve(panels, places, terms.threshold, never, always, axis, rate)


@dataclass(frozen=True, eq=False)
class Terms:
    """Threshold and costs of each place: of a false positive and of a false negative, a row.

    The average cost over all places is ``even[0] * s**2`` of a row without the event and ``even[1] * (1 - s)**2`` of one
    with it, where s is the score with its odds multiplied by ``odds``.
    """

    threshold: FloatArray
    false_positive: FloatArray
    false_negative: FloatArray
    even: tuple[float, float]
    odds: float

    @property
    def best_threshold(self) -> FloatArray:
        """Threshold of event rates of least cost: the same, but if one class never occurred the costs of the other decide."""
        both = self.false_positive + self.false_negative
        threshold: FloatArray = np.divide(self.false_positive, both, out=np.zeros(both.shape), where=both > 0)
        return threshold


def _terms(axis: CostAxis, at: FloatArray, rate: float) -> Terms:
    if axis == "cost proportion":
        return Terms(at, 2.0 * at, 2.0 * (1.0 - at), (1.0, 1.0), 1.0)
    without, with_event = (1.0 / (1.0 - rate) if rate < 1 else 0.0), (1.0 / rate if rate > 0 else 0.0)
    top, rest = rate * (1.0 - at), (1.0 - rate) * at
    threshold = np.divide(top, top + rest, out=np.zeros(at.shape), where=top + rest > 0)
    odds = (1.0 - rate) / rate if rate > 0 else np.inf
    return Terms(threshold, (1.0 - at) * without, at * with_event, (0.5 * without, 0.5 * with_event), odds)


def _panel(name: str, ordered: Ordered, terms: Terms) -> ForecastCost:
    steps = isotonic_fit(ordered)
    events = np.add.reduceat(ordered.outcome_sum, steps.starts)
    best = _costs(steps.rate, steps.weight, events, terms.best_threshold, terms)
    cost = _costs(ordered.score, ordered.weight, ordered.outcome_sum, terms.threshold, terms)
    # Rates of 0 and 1 stay where they are; of one class there are no others.
    fitted = _times_odds(steps.rate, terms.odds) if 0 < terms.odds < np.inf else steps.rate
    return ForecastCost(
        name,
        cost,
        np.minimum(best, cost),  # what rounding may put above
        _average(_times_odds(ordered.score, terms.odds), ordered.weight, ordered.outcome_sum, terms),
        _average(fitted, steps.weight, events, terms),
    )


def _costs(
    score: FloatArray, weight: FloatArray, events: FloatArray, threshold: FloatArray, terms: Terms
) -> FloatArray:
    false_positives, false_negatives = errors_at(score, weight, events, threshold)
    costs: FloatArray = terms.false_positive * false_positives + terms.false_negative * false_negatives
    return costs


def _average(shifted: FloatArray, weight: FloatArray, events: FloatArray, terms: Terms) -> float:
    """Integrate the cost over all places, exactly."""
    total = weight.sum()
    costs = terms.even[0] * ((weight - events) @ shifted**2) + terms.even[1] * (events @ (1.0 - shifted) ** 2)
    return float(costs / total)


def _times_odds(score: FloatArray, odds: float) -> FloatArray:
    """Multiply the odds of scores; without bound every score becomes 1, by nothing all but the certain ones 0."""
    if odds == np.inf:
        return np.ones(score.shape)
    if odds == 0.0:
        return (score >= 1.0).astype(np.float64)
    times: FloatArray = odds * score / (odds * score + (1.0 - score))
    return times
