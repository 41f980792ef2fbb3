"""Curves of decisions: their cost, for every ratio of the costs of errors; and the error rate of answering some rows only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
import scipy
from scipy import special

from calibrant import drawing
from calibrant._core.arrays import ArrayLike, FloatArray, ratio
from calibrant._core.border import DataOptions, as_problem
from calibrant._core.checks import as_level, fraction, require, resamples
from calibrant._core.result import DrawnResult, Picture, Record, Result, Table, under
from calibrant._core.rows import BinaryProblem, IntArray, Weights
from calibrant.binning.bins import Ordered
from calibrant.decisions.thresholds import as_places, errors_at, events_of, in_precision, named_events, panel_named
from calibrant.fit.isotonic import base_rate, isotonic_fit
from calibrant.metrics.kinds import FEW_MIDWAY
from calibrant.notions import Notion, event_of
from calibrant.sums.draws import Bootstrap, Rng, as_rng, require_drawable

PLACES = np.arange(201) / 200
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
        The k distinct cost proportions, from 0 to 1, ascending: the share of a false alarm in the cost of one error of each
        kind, which is the optimal threshold of calibrated probabilities.
    never, always : ndarray of shape (k,)
        Cost of deciding against the event in all rows, and for it.
    event_rate : float
        Share of events.
    """

    _table = Table(
        "forecast and place", "forecast=panels.name", "at", *under("panels", "cost", "lowest"), "never", "always"
    )
    _picture = Picture(
        "the cost curves",
        "decisions.curves.plot_expected_cost",
        options="``lowest=False`` leaves out the best thresholds in hindsight, ``trivial=False`` never and always.",
    )

    panels: tuple[ForecastCost, ...]
    at: FloatArray
    never: FloatArray
    always: FloatArray
    event_rate: float

    def __getitem__(self, name: str) -> ForecastCost:
        """Return the panel of that name."""
        return panel_named(self.panels, name)

    def __repr__(self) -> str:
        means = ", ".join(f"{p.name}: {p.mean_cost:.4g}, at best {p.mean_lowest:.4g}" for p in self.panels)
        return f"ExpectedCostCurve({means})"


def expected_cost_curve(
    y_true: ArrayLike,
    y_prob: ArrayLike | Mapping[str, ArrayLike] | None = None,
    *,
    at: ArrayLike | None = None,
    notion: str | Notion | None = None,
    **data: Unpack[DataOptions],
) -> ExpectedCostCurve:
    """Cost of deciding by the probabilities, and at best, for every ratio of the costs of errors (Brier curve).

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, 2), or dict of name to such
        Probabilities of the event; several forecasts of the same event in the same rows by their names.
    at : array-like, optional
        Cost proportions in [0, 1], in any order; by default 201 evenly spaced ones. The curve has each of them once, ascending.
        The averages are exact and do not depend on them.
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
    A cost proportion c is the share of a false alarm in the cost of one error of each kind, and the threshold. The cost is 2 c
    times the share of false positives plus 2 (1 - c) times that of false negatives. Its average over c is the Brier score,
    and the average of ``lowest`` that of the isotonic fit: the area between the two is the miscalibration of CORP.

    The cost at the best thresholds in hindsight is the lower envelope of the lines of all thresholds. These thresholds were
    chosen on the rows on which the cost is measured, so a small part of the gap is bias.

    References
    ----------
    Hernández-Orallo, Flach, Ferri, A unified view of performance metrics: translating threshold choice into expected
    classification loss, JMLR 2012.

    Examples
    --------
    >>> from calibrant.decisions import expected_cost_curve
    >>> expected_cost_curve([0, 1, 1, 0], [0.2, 0.7, 0.9, 0.8])
    ExpectedCostCurve(forecast: 0.195, at best 0.125)
    """
    places = as_places("at", PLACES if at is None else at)
    events = events_of(y_true, y_prob, notion, data)
    problems = {name: Ordered.of(problem) for name, problem in events.items()}
    rate = base_rate(next(iter(problems.values())))
    panels = tuple(_panel(name, ordered, places) for name, ordered in problems.items())
    return ExpectedCostCurve(panels, places, 2.0 * (1.0 - places) * rate, 2.0 * places * (1.0 - rate), rate)


def _panel(name: str, ordered: Ordered, at: FloatArray) -> ForecastCost:
    steps = isotonic_fit(ordered)
    # A rate at the threshold costs the same on either side of it, a score does not.
    cost, mean = _costs(ordered.score, ordered.weight, ordered.outcome_sum, at, in_precision(at, ordered.problem))
    best, lowest = _costs(steps.rate, steps.weight, np.add.reduceat(ordered.outcome_sum, steps.starts), at, at)
    return ForecastCost(name, cost, np.minimum(best, cost), mean, lowest)  # rounding may put the best above


def _costs(
    score: FloatArray, weight: FloatArray, events: FloatArray, at: FloatArray, threshold: FloatArray
) -> tuple[FloatArray, float]:
    """Return the cost of deciding at each cost proportion, from its threshold on, and its mean over all, the Brier score."""
    false_positives, false_negatives = errors_at(score, weight, events, threshold)
    mean = ((weight - events) @ score**2 + events @ (1.0 - score) ** 2) / weight.sum()
    return np.asarray(2.0 * (at * false_positives + (1.0 - at) * false_negatives)), float(mean)


# The plot of cost curves


def plot_expected_cost(curve: ExpectedCostCurve, *, ax: Any = None, lowest: bool = True, trivial: bool = True) -> Any:
    """Draw what decisions cost against the ratio of the costs of errors.

    Parameters
    ----------
    curve : ExpectedCostCurve
        Of one forecast or several.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.
    lowest : bool, default=True
        Draw the cost at the best thresholds in hindsight, dashed; of one forecast, fill the gap, which is the regret.
    trivial : bool, default=True
        Draw the costs of deciding for the event in no row and in all rows.

    Returns
    -------
    matplotlib Axes
        What was drawn on. The legend states the averages over the axis.

    Examples
    --------
    >>> from calibrant.decisions import expected_cost_curve
    >>> ax = expected_cost_curve([0, 1, 1, 0], [0.2, 0.7, 0.9, 0.8]).plot()
    """
    ax = drawing.new_axes(ax)
    for cost, label, style in ((curve.never, "never", ":"), (curve.always, "always", "-.")) if trivial else ():
        ax.plot(curve.at, cost, color=drawing.IDEAL, linestyle=style, linewidth=1, label=label, zorder=1.5)
    for i, panel in enumerate(curve.panels):
        colour, mean = drawing.colour(i), f"{panel.name}: {panel.mean_cost:.4f}"
        ax.plot(curve.at, panel.cost, color=colour, linewidth=1.6, label=mean, zorder=3)
        if lowest and len(curve.panels) == 1:
            look = {"color": drawing.GAP_FILL, "linewidth": 0, "label": "regret", "zorder": 1.2}
            ax.fill_between(curve.at, panel.lowest, panel.cost, **look)
        if lowest:
            best, dashes = f"at best: {panel.mean_lowest:.4f}", drawing.dashes(i, len(curve.panels))
            ax.plot(curve.at, panel.lowest, color=colour, linestyle=dashes, linewidth=1.4, label=best, zorder=3.2)
    highest = max(float(panel.cost.max()) for panel in curve.panels)
    ax.set(xlabel="cost proportion = threshold", ylabel="expected cost")
    ax.set(xlim=(0, 1), ylim=(0, max(1.15 * highest, 1e-3)))
    drawing.grid(ax)
    drawing.legend_above(ax)
    return ax


# Decision curves: the net benefit of acting on a forecast, for every threshold at which people would act


THRESHOLDS = np.arange(1, 100) / 100
"""Thresholds by default."""


@dataclass(frozen=True, eq=False)
class ForecastBenefit(Record):
    """Net benefit of one forecast at each threshold, its interval, and its gain over the first forecast with an interval.

    Intervals are NaN where none was asked for.
    """

    name: str
    net_benefit: FloatArray
    lower: FloatArray
    upper: FloatArray
    gain: FloatArray
    gain_lower: FloatArray
    gain_upper: FloatArray


@dataclass(frozen=True, eq=False)
class DecisionCurve(DrawnResult):
    """Net benefit of forecasts, and of treating all, at each threshold. Treating none has a net benefit of zero.

    Attributes
    ----------
    panels : tuple of ForecastBenefit
        One a forecast.
    threshold : ndarray of shape (k,)
        The k distinct probabilities from which one acts, ascending.
    treat_all : ndarray of shape (k,)
        Net benefit of acting in all rows.
    event_rate : float
        Share of events: no net benefit is higher.
    level : float
        One minus the coverage of the intervals, a fraction.
    n_resamples : int
        Resamples behind the intervals; 0 where there are none.
    """

    _table = Table(
        "forecast and threshold",
        "forecast=panels.name",
        "threshold",
        *under("panels", "net_benefit", "lower", "upper", "gain", "gain_lower", "gain_upper"),
        "treat_all",
    )
    _summary = "{panels.name:list}; thresholds={threshold:n}, event rate {event_rate:.4g}"
    _picture = Picture(
        "the decision curves",
        "decisions.curves.plot_decision_curve",
        options="``intervals=False`` leaves the intervals out.",
    )

    panels: tuple[ForecastBenefit, ...]
    threshold: FloatArray
    treat_all: FloatArray
    event_rate: float
    level: float
    n_resamples: int

    def __getitem__(self, name: str) -> ForecastBenefit:
        """Return the panel of that name."""
        return panel_named(self.panels, name)


def decision_curve(
    y_true: ArrayLike,
    y_prob: ArrayLike | Mapping[str, ArrayLike] | None = None,
    *,
    threshold: ArrayLike | None = None,
    notion: str | Notion | None = None,
    n_resamples: int = 0,
    level: float = 0.05,
    rng: Rng = 0,
    **data: Unpack[DataOptions],
) -> DecisionCurve:
    """Net benefit of acting on a forecast, for every threshold at which people would act (decision curve analysis).

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, 2), or dict of name to such
        Probabilities of the event; several forecasts of the same event in the same rows by their names, such as before
        and after calibration.
    threshold : array-like, optional
        Probabilities in [0, 1) from which one acts, in any order; by default 0.01, 0.02, ..., 0.99. The curve has each of
        them once, ascending.
    notion : str or Notion, optional
        The event, of more than two classes: ``OneVsRest("cat")``, or ``"confidence"`` for accepting the predicted class.
        Forecasts that predict other classes have other events then: pass them one at a time.
    n_resamples : int, default=0
        Bootstrap resamples of rows for the intervals; 0 makes none, 1000 is usual.
    level : float, default=0.05
        One minus the coverage of the intervals, a fraction in (0, 1).
    rng : numpy.random.Generator, int or None, default=0
        Source of randomness of the resamples.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    DecisionCurve
        A result with ``panels``, ``to_frame()`` and ``plot()``.

    Raises
    ------
    ValueError
        If a threshold is outside [0, 1), if there is not one event, or not the same event for all forecasts.

    Notes
    -----
    To act from a probability of t on is to count 1 - t rows treated in vain as much as t missed events. In units of events
    found, the net benefit of acting in the rows with a probability of t or more is

        share of true positives  -  t / (1 - t) * share of false positives.

    The net benefit of treating none is 0, that of treating all q - (1 - q) t / (1 - t) with the share q of events. A forecast
    is useful at the thresholds where it lies above both. A calibrated one lies below them only by sampling noise; a
    miscalibrated one can lie below them on average.

    All forecasts are resampled with the same rows, so that the interval of the gain is that of a paired difference. Where it
    lies above zero the forecast is better than the first, however much the two intervals overlap. Intervals are percentiles,
    at each threshold by itself. That of the gain is at least as wide as if neither were better, where so few events make it
    that they may not have occurred.

    References
    ----------
    Vickers, Elkin, Decision curve analysis: a novel method for evaluating prediction models, Medical Decision Making 2006.
    Van Calster, Vickers, Calibration of risk prediction models: impact on decision-analytic performance, Medical Decision
    Making 2015.

    Examples
    --------
    >>> from calibrant import decision_curve
    >>> curve = decision_curve([0, 1, 1, 0], [0.2, 0.7, 0.9, 0.8], threshold=[0.5])
    >>> curve
    DecisionCurve(forecast; thresholds=1, event rate 0.5)
    >>> curve["forecast"].net_benefit
    array([0.25])
    """
    n_resamples = resamples(n_resamples, least=0, hint="1000 is usual")
    level = as_level(level)
    generator = as_rng(rng)
    at = as_places("threshold", THRESHOLDS if threshold is None else threshold)
    in_vain = "At 1 no number of events found outweighs one row treated in vain: pass 0.99"
    require(at[-1] < 1.0, "threshold must lie below 1 for a net benefit", got="1", hint=in_vain)
    problems = events_of(y_true, y_prob, notion, data)
    first = next(iter(problems.values()))
    bootstrap = Bootstrap(first.weights, n_resamples, generator) if n_resamples else None
    found = {name: _benefits(problem, at, bootstrap) for name, problem in problems.items()}
    base, base_draws = next(iter(found.values()))
    panels = []
    for name, (value, draws) in found.items():
        # Without resamples the quantiles of a single NaN are NaN.
        lower, upper = np.quantile(draws, [level / 2.0, 1.0 - level / 2.0], axis=0)
        gain = value - base
        gain_lower, gain_upper = np.quantile(draws - base_draws, [level / 2.0, 1.0 - level / 2.0], axis=0)
        if n_resamples:
            far = special.ndtri(1.0 - level / 2.0) * _error_midway(problems[name], first, at)
            gain_lower = np.where(far > 0.0, np.minimum(gain_lower, gain - far), gain_lower)
            gain_upper = np.where(far > 0.0, np.maximum(gain_upper, gain + far), gain_upper)
        panels.append(ForecastBenefit(name, value, lower, upper, gain, gain_lower, gain_upper))
    rate = float(first.weight @ first.outcome / first.weight.sum())
    return DecisionCurve(tuple(panels), at, rate - (1.0 - rate) * at / (1.0 - at), rate, level, n_resamples)


def _benefits(
    problem: BinaryProblem, threshold: FloatArray, bootstrap: Bootstrap | None
) -> tuple[FloatArray, FloatArray]:
    """Return the net benefit at each threshold, shape (k,), and of each resample, shape (n_resamples, k)."""
    # It acts at the first so many thresholds.
    reached = np.searchsorted(in_precision(threshold, problem), problem.score, side="right")
    group, n_groups = (0, 1) if bootstrap is None else (bootstrap.group, bootstrap.n_groups)
    size = threshold.size + 1

    def benefits(weight: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Net benefit at each threshold, and the weight of all rows, by group."""
        table = (np.bincount(group * size + reached, w, n_groups * size) for w in (weight * problem.outcome, weight))
        found, everyone = (sums.reshape(n_groups, size)[:, ::-1].cumsum(axis=1)[:, ::-1] for sums in table)
        return found[:, 1:] - (everyone - found)[:, 1:] * threshold / (1.0 - threshold), everyone[:, 0]

    benefit, total = (sums.sum(axis=0) for sums in benefits(problem.weight))
    value = benefit / total
    if bootstrap is None:
        return value, np.full((1, threshold.size), np.nan)
    moved, moved_total = map(bootstrap.moved, benefits(problem.weight * bootstrap.step))
    return value, ratio(benefit + moved, (total + moved_total)[:, None], otherwise=0.0)


def _error_midway(one: BinaryProblem, other: BinaryProblem, threshold: FloatArray) -> FloatArray:
    """Return the standard error of the gain if neither forecast were better, shape (k,); 0 where the rows themselves tell it.

    Then the event has the probability t in the rows that only one of them acts in. If few events make the variance there, they
    may not have occurred, as in `metrics.kinds`.
    """
    reached = [np.searchsorted(in_precision(threshold, of), of.score, side="right") for of in (one, other)]
    low, high, odds = np.minimum(*reached), np.maximum(*reached), threshold / (1.0 - threshold)

    def over(weight: FloatArray) -> FloatArray:
        """Sum over the rows that one acts in at a threshold, and the other does not."""
        begun, ended = (np.bincount(place, weight, threshold.size + 1) for place in (low, high))
        return np.asarray(np.maximum((begun - ended).cumsum()[:-1], 0.0))

    weight, weights = one.weights.of_variance, one.weights
    rows, events = over(weight), over(weight * one.outcome)
    spread, seen = rows * odds, events + (rows - events) * odds**2
    with np.errstate(divide="ignore", invalid="ignore"):
        few = over(weight if weights.are_counts else weight**2) * (threshold + threshold * odds**3) / spread**2
        is_few = (few > 1.0 / FEW_MIDWAY) & (seen > spread * (1.0 - 2.0 * np.sqrt(few)))
    return np.asarray(np.where(is_few, np.sqrt(spread), 0.0) / weights.total)


# The plot of decision curves


def plot_decision_curve(curve: DecisionCurve, *, ax: Any = None, intervals: bool = True) -> Any:
    """Draw the net benefit of acting on a forecast against the threshold.

    Parameters
    ----------
    curve : DecisionCurve
        Of one forecast or several.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.
    intervals : bool, default=True
        Draw the intervals, if the curve has them.

    Returns
    -------
    matplotlib Axes
        What was drawn on.

    Examples
    --------
    >>> from calibrant import decision_curve
    >>> ax = decision_curve([0, 1, 1, 0], [0.2, 0.7, 0.9, 0.8]).plot()
    """
    ax, single = drawing.new_axes(ax), len(curve.panels) == 1
    look = {"color": drawing.IDEAL, "linewidth": 1, "zorder": 1.5}
    ax.axhline(0.0, linestyle="--", label="treat none", **look)
    ax.plot(curve.threshold, curve.treat_all, linestyle=":", label="treat all", **look)
    for place, panel in enumerate(curve.panels):
        colour = drawing.colour(place)
        if intervals and curve.n_resamples:
            band = {"color": colour, "alpha": 0.15, "linewidth": 0, "zorder": 1.2}
            label = f"{1 - curve.level:.0%} interval" if single else None
            ax.fill_between(curve.threshold, panel.lower, panel.upper, label=label, **band)
        ax.plot(curve.threshold, panel.net_benefit, color=colour, linewidth=1.6, label=panel.name, zorder=3)
    # Treating all, and a bad forecast, fall without bound toward a threshold of one: they leave the picture below.
    benefit = np.array([panel.net_benefit for panel in curve.panels])
    top = 1.15 * max(float(benefit.max()), 1e-3)
    bottom = max(1.1 * float(benefit.min(initial=0.0)), -0.4 * top) - 0.05 * top
    ax.set(xlabel="threshold", ylabel="net benefit", xlim=(0, 1), ylim=(bottom, top))
    drawing.grid(ax)
    drawing.legend_above(ax)
    return ax


# Risk-coverage curves


@dataclass(frozen=True, eq=False)
class RiskOfForecast(Record):
    """Error rate of one forecast's answers: at each of its m distinct confidences, from the highest on, and on average.

    ``aurc`` is the area under the curve, ``excess`` that area less the least one that so many errors allow, each with its
    interval, which is NaN where none was asked for.
    """

    name: str
    threshold: FloatArray
    coverage: FloatArray
    risk: FloatArray
    aurc: float
    aurc_lower: float
    aurc_upper: float
    excess: float
    excess_lower: float
    excess_upper: float


@dataclass(frozen=True, eq=False)
class RiskCoverageCurve(DrawnResult):
    """Error rate among the rows that are answered, against the share of rows that are.

    Attributes
    ----------
    panels : tuple of RiskOfForecast
        One a forecast.
    level : float
        One minus the coverage of the intervals, a fraction.
    n_resamples : int
        Resamples behind the intervals; 0 where there are none.
    """

    _table = Table(
        "forecast and threshold", *under("panels", "forecast=name", "threshold", "coverage", "risk", "aurc", "excess")
    )
    _summary = "{panels.name:list}; thresholds={panels.threshold:n}"
    _picture = Picture("the risk-coverage curves", "decisions.curves.plot_risk_coverage")

    panels: tuple[RiskOfForecast, ...]
    level: float
    n_resamples: int

    def __getitem__(self, name: str) -> RiskOfForecast:
        """Return the panel of that name."""
        return panel_named(self.panels, name)


def risk_coverage_curve(
    y_true: ArrayLike,
    y_prob: ArrayLike | Mapping[str, ArrayLike] | None = None,
    *,
    notion: str | Notion = "confidence",
    n_resamples: int = 0,
    level: float = 0.05,
    rng: Rng = 0,
    **data: Unpack[DataOptions],
) -> RiskCoverageCurve:
    """Error rate of a classifier that answers only where it is confident enough, for every share of rows that it answers.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes), or dict of name to such
        Probabilities; several forecasts of the same rows by their names.
    notion : str or Notion, default="confidence"
        What an answer is. ``"confidence"``: the predicted class, by its probability; it is an error if another class is true.
        ``"binary"``: that the event occurs, by its probability, as where a language model states how sure it is and the label
        is whether its answer was right.
    n_resamples : int, default=0
        Bootstrap resamples of rows for the intervals of the areas; 0 makes none, 1000 is usual.
    level : float, default=0.05
        One minus the coverage of the intervals, a fraction in (0, 1).
    rng : numpy.random.Generator, int or None, default=0
        Source of randomness of the resamples.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    RiskCoverageCurve
        A result with ``panels``, ``to_frame()`` and ``plot()``.

    Notes
    -----
    The risk at a threshold t is the share of errors among the rows with a confidence of t or more, and the coverage the share
    of these rows. The area under the curve (AURC) is the mean, over k = 1, ..., n, of the risk of the k most confident rows;
    of equal confidences, in random order, its expected value. Its least value for e errors has these e rows at the end,

        sum_{k=1}^{e} k / (n - e + k) / n,

    and the excess is the area less that value: 0 if every error has a lower confidence than every right answer. A monotone
    recalibration of the confidence changes neither; it does change which threshold gives which risk. Confidences are ranked as
    doubles: those that round to 1, as of logits 36.7 above the others, are tied.

    Whole weights are numbers of equal rows. Other weights are divided by their mean, so that all rows together count n.

    References
    ----------
    Geifman, El-Yaniv, Selective classification for deep neural networks, NeurIPS 2017.
    Geifman, Uziel, El-Yaniv, Bias-reduced uncertainty estimation for deep neural classifiers, ICLR 2019 (excess area).

    Examples
    --------
    >>> from calibrant.decisions import risk_coverage_curve
    >>> curve = risk_coverage_curve([0, 1, 1, 0], [0.1, 0.9, 0.7, 0.6])["forecast"]
    >>> curve.coverage, curve.risk
    (array([0.5 , 0.75, 1.  ]), array([0.  , 0.  , 0.25]))
    >>> curve.aurc, curve.excess
    (0.0625, 0.0)
    """
    n_resamples = resamples(n_resamples, least=0, hint="1000 is usual")
    level = as_level(level)
    generator, panels = as_rng(rng), []
    for name, problem in named_events(y_true, y_prob, notion, data).items():
        panels.append(_risk_of(name, _Ranked.of(problem), problem.weights, level, n_resamples, generator))
    return RiskCoverageCurve(tuple(panels), level, n_resamples)


@dataclass(frozen=True, eq=False)
class _Ranked:
    """Distinct confidences from the highest on, the place of each row among them, and whether the answer of a row is wrong."""

    threshold: FloatArray
    place: IntArray
    is_wrong: FloatArray

    @classmethod
    def of(cls, problem: BinaryProblem) -> _Ranked:
        ascending, place = np.unique(problem.score, return_inverse=True)
        is_wrong = np.asarray(1.0 - problem.outcome, dtype=np.float64)
        return cls(ascending[::-1].astype(np.float64), len(ascending) - 1 - place, is_wrong)

    def sums(self, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the rows and the errors at each confidence."""
        columns = (weight, weight * self.is_wrong)
        rows, errors = (np.bincount(self.place, column, len(self.threshold)) for column in columns)
        return rows.astype(np.float64, copy=False), errors.astype(np.float64, copy=False)


def _risk_of(
    name: str, ranked: _Ranked, weights: Weights, level: float, n_resamples: int, rng: np.random.Generator
) -> RiskOfForecast:
    weight = weights.values * weights.rows_per_weight
    rows, errors = ranked.sums(weight)
    answered = rows.cumsum()
    drawn = [areas(*ranked.sums(each)) for each in _resampled(weights, weight, n_resamples, rng)] or [(np.nan, np.nan)]
    ends = np.quantile(np.array(drawn), [level / 2.0, 1.0 - level / 2.0], axis=0)
    (aurc, excess), (lower, upper) = areas(rows, errors), ends.tolist()
    curve = ranked.threshold, answered / answered[-1], errors.cumsum() / answered
    return RiskOfForecast(name, *curve, *(aurc, lower[0], upper[0]), *(excess, lower[1], upper[1]))


def _resampled(weights: Weights, weight: FloatArray, n: int, rng: np.random.Generator) -> Any:
    """Yield the weights of rows that are drawn with replacement, those that whole weights repeat one by one."""
    if not n:
        return
    counts = weights.times
    require_drawable(total := float(counts.sum()))
    for _ in range(n):
        drawn = rng.multinomial(int(total), counts / total)
        yield drawn if weights.are_counts else drawn * weight


def areas(rows: FloatArray, errors: FloatArray) -> tuple[float, float]:
    """Return the area under a risk-coverage curve, and its excess over the least, from rows and errors by confidence.

    Of m rows of one confidence with e errors, after N rows with E errors, the risk of the first k is in expectation
    (E + e k / m) / (N + k). Its sum over k is e + (E - e N / m) (psi(N + m + 1) - psi(N + 1)) with the digamma function psi.
    """
    before, wrong = rows.cumsum() - rows, errors.cumsum() - errors
    harmonic = special.digamma(before + rows + 1.0) - special.digamma(before + 1.0)
    total, n_wrong = float(rows.sum()), float(errors.sum())
    area = float((errors + (wrong - before * ratio(errors, rows, otherwise=0.0)) * harmonic).sum()) / total
    right = total - n_wrong
    least = (n_wrong - right * float(special.digamma(total + 1.0) - special.digamma(right + 1.0))) / total
    return area, max(area - least, 0.0)


def plot_risk_coverage(curve: RiskCoverageCurve, *, ax: Any = None) -> Any:
    """Draw the error rate of the answers against the share of rows that are answered.

    Parameters
    ----------
    curve : RiskCoverageCurve
        Of one forecast or several.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes
        What was drawn on.
    """
    ax = drawing.new_axes(ax)
    for place, panel in enumerate(curve.panels):
        across, up = np.append(0.0, panel.coverage), np.append(panel.risk[:1], panel.risk)
        label = f"{panel.name}: AURC {panel.aurc:.4f}"
        ax.plot(across, up, color=drawing.colour(place), linewidth=1.6, label=label, zorder=3)
    highest = max(float(panel.risk[panel.coverage >= 0.05].max()) for panel in curve.panels)
    ax.set(xlabel="coverage: share of rows answered", ylabel="risk: error rate of the answers", xlim=(0, 1))
    ax.set(ylim=(0, max(1.1 * highest, 1e-3)))
    drawing.grid(ax)
    drawing.legend_above(ax)
    return ax


# A threshold with a guarantee


GRID = np.unique(np.concatenate([np.arange(0, 400) / 400, 1.0 - 10.0 ** (-np.arange(20, 121) / 10)]))
"""Thresholds that are tried: every 1/400, and closer ones toward 1; they must not be chosen by the rows."""

ENOUGH = 10.0
"""Errors that the target would allow among the first rows that are tested: fewer rows have no power."""

DIGITS = [10.0**k for k in range(10, 1, -1)]
"""Rates of two digits are those of 10 to 99 over these."""


@dataclass(frozen=True, eq=False)
class RiskThreshold(Result):
    """A threshold on the confidence from which the answers have at most the target risk, with a guarantee.

    Attributes
    ----------
    threshold : float
        Answer the rows with a confidence of this or more; infinite where no threshold could be shown to keep the risk.
    coverage : float
        Share of rows that are answered.
    risk, upper : float
        Share of errors among them, and its upper limit by Clopper and Pearson; NaN where none is answered.
    target : float
        Risk that was asked for.
    level : float
        Largest probability that the true risk at this threshold is above the target.
    n_rows, n_answered, n_errors : int
        Rows, those answered and the errors among them.
    lowest_target : float
        Where no threshold could be shown, the lowest target, of two digits, for which these rows show one; NaN if there is
        none, and where it was not needed.
    """

    _table = Table(
        *(None, "threshold", "coverage", "risk", "upper", "target", "level"),
        *("n_rows", "n_answered", "n_errors", "lowest_target"),
    )
    _summary = "{threshold:.6g}, coverage={coverage:.4g}, risk={risk:.4g}, target={target:.4g}"

    threshold: float
    coverage: float
    risk: float
    upper: float
    target: float
    level: float
    n_rows: int
    n_answered: int
    n_errors: int
    lowest_target: float = np.nan

    def __str__(self) -> str:
        """Return the answer as a sentence."""
        sure = f"with a confidence of {100 * (1 - self.level):g} %"
        if not self.n_answered:
            said = f"No threshold can be shown to keep the error rate of the answers at {self.target:g} {sure}: answer nothing"
            lowest = f"; the lowest rate that these rows can show is {self.lowest_target:g}."
            return said + (lowest if self.lowest_target > 0 else "; these rows show none at any rate.")
        return (
            f"Answer from a confidence of {self.threshold:.6g} on: {self.coverage:.1%} of the rows, of which {self.risk:.2%} "
            f"are errors; the true error rate is at most {self.target:g} {sure}."
        )


def risk_threshold(
    y_true: ArrayLike,
    y_prob: ArrayLike | None = None,
    *,
    risk: float = 0.05,
    level: float = 0.05,
    notion: str | Notion = "confidence",
    **data: Unpack[DataOptions],
) -> RiskThreshold:
    """Find the lowest threshold on the confidence that keeps the error rate of the answers at a target, with a guarantee.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities of rows that neither the classifier nor its calibrator was fitted to.
    risk : float, default=0.05
        Largest error rate among the rows that are answered, a fraction in (0, 1).
    level : float, default=0.05
        Largest probability, over samples of rows, that the true error rate at the threshold is higher.
    notion : str or Notion, default="confidence"
        What an answer is: see `risk_coverage_curve`.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    RiskThreshold
        A result with ``threshold``, ``coverage`` and ``risk``; printed, it is a sentence.

    Raises
    ------
    ValueError
        If weights are no numbers of equal rows: the guarantee counts errors.

    Notes
    -----
    Thresholds of a fixed grid are tested from the highest on: the hypothesis that the error rate of the rows from t on is above
    the target is rejected if so few errors, or fewer, have a probability of at most ``level`` under the binomial law with the
    target as its rate. The first that is not rejected ends it, and the last one rejected is the answer. As each threshold is
    tested only if all higher ones were rejected, and the grid does not depend on the rows, a threshold with a risk above the
    target is returned with a probability of at most ``level`` (fixed-sequence testing; Angelopoulos et al. 2025). The
    sequence begins where so many rows are answered that the target allows ten errors, or with all rows if they are fewer; this
    start depends on confidences alone, and is safe where the risk does not rise with the confidence.

    The guarantee is for new rows of the same kind. If these change, it is void. It is also for a target that was chosen before
    the rows were seen: one that they suggest, such as ``lowest_target``, is to be shown on new rows.

    References
    ----------
    Angelopoulos, Bates, Candès, Jordan, Lei, Learn then test: calibrating predictive algorithms to achieve risk control, Annals
    of Applied Statistics 2025.
    Clopper, Pearson, The use of confidence or fiducial limits illustrated in the case of the binomial, Biometrika 1934.

    Examples
    --------
    >>> from calibrant import load_digits_forecast
    >>> from calibrant.decisions import risk_threshold
    >>> found = risk_threshold(*load_digits_forecast(), risk=0.1)
    >>> found.upper <= found.target
    True
    """
    risk = fraction("risk", risk, hint="For at most 5 % of errors pass risk=0.05")
    level = fraction("level", level, hint="For a confidence of 95 % pass level=0.05")
    problem = event_of(as_problem(y_true, y_prob, **data), notion)
    must, hint = "sample_weight must be numbers of equal rows for a guarantee", "Leave it out, or pass counts"
    require(problem.weights.are_counts, must, got="fractions", hint=hint)
    ranked = _Ranked.of(problem)
    rows, errors = (sums.cumsum() for sums in ranked.sums(problem.weight))
    grid, n_rows = GRID[::-1], int(rows[-1])
    # Confidences from each threshold on.
    reached = np.searchsorted(-ranked.threshold, -in_precision(grid, problem), side="right")
    answered, wrong = (np.append(0.0, sums)[reached] for sums in (rows, errors))

    def passed(risk: float) -> IntArray:
        tested = np.flatnonzero(answered >= min(ENOUGH / risk, rows[-1]))
        return tested[np.logical_and.accumulate(scipy.stats.binom.cdf(wrong[tested], answered[tested], risk) <= level)]

    found = passed(risk)
    if not found.size:
        # A target is not below the upper limit of the errors of its first rows.
        upper = scipy.stats.beta.ppf(1.0 - level, wrong + 1.0, answered - wrong)
        least, rates = np.min(upper[wrong < answered], initial=1.0), (d / e for e in DIGITS for d in range(10, 100))
        lowest = next((rate for rate in rates if rate >= least and passed(rate).size), np.nan)
        return RiskThreshold(np.inf, 0.0, np.nan, np.nan, risk, level, n_rows, 0, 0, lowest)
    at = int(found[-1])
    n, k = float(answered[at]), float(wrong[at])
    upper = float(scipy.stats.beta.ppf(1.0 - level, k + 1.0, n - k)) if k < n else 1.0
    return RiskThreshold(float(grid[at]), n / n_rows, k / n, upper, risk, level, n_rows, int(n), int(k))
