"""Regret: what decisions cost more because probabilities are miscalibrated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from calibrant._core.finite_numbers import as_numbers
from calibrant._core.labels import as_labels
from calibrant._core.links import FloatArray
from calibrant._core.parameters import left_out, require, resamples
from calibrant._core.problem import BinaryProblem, Problem, as_simplex, two_columns
from calibrant._core.proper import EventScore, expected_score, squared_error
from calibrant._core.result import Result
from calibrant._core.rows import OF_PROBABILITIES, of_probabilities
from calibrant._core.table import Table
from calibrant._core.validation import DataOptions, as_forecast, as_problem
from calibrant.binning.distinct_scores import Ordered
from calibrant.decisions.costs import as_cost_matrix
from calibrant.decisions.decide import cheapest
from calibrant.decisions.events import event_of
from calibrant.decisions.inputs import shared_names
from calibrant.notions import Notion
from calibrant.solvers.isotonic import drawn_events, event_rates, isotonic_fit, isotonic_fit_of
from calibrant.sums.draws import Rng, as_rng
from calibrant.sums.unread import require_rows

MOST_POINTS, FEWEST_DRAWS = 10**7, 20
"""Points times draws to which the noise floor is drawn; beyond it there are fewer draws, which differ less."""


@dataclass(frozen=True)
class CalibrationRegret(Result):
    """Mean cost of decisions, and how much of it recalibration would save.

    Attributes
    ----------
    cost : float
        Mean cost a row of deciding by the forecast as it is.
    recalibrated_cost : float
        Mean cost a row of deciding by the recalibrated forecast, or by the truth.
    regret : float
        The difference, never negative.
    noise_floor : float
        Expected regret on these rows under calibration (noise floor); 0 with a known truth.
    against : {"isotonic", "truth"}
        What the forecast is compared with.
    costs : str
        Which costs: of a matrix, or the average over all cost proportions.
    """

    _table = Table(None, "cost", "recalibrated_cost", "regret", "noise_floor", "against", "costs")

    cost: float
    recalibrated_cost: float
    regret: float
    noise_floor: float
    against: str
    costs: str

    def __repr__(self) -> str:
        floor = "" if self.against == "truth" else f", noise floor {self.noise_floor:.4g}"
        return f"CalibrationRegret({self.regret:.4g} of {self.cost:.4g}{floor}; against {self.against}, costs of {self.costs})"


def calibration_regret(
    y_true: npt.ArrayLike,
    y_prob: npt.ArrayLike | None = None,
    *,
    cost_matrix: npt.ArrayLike | None = None,
    truth: npt.ArrayLike | None = None,
    notion: str | Notion | None = None,
    n_resamples: int = 200,
    rng: Rng = 0,
    **data: Unpack[DataOptions],
) -> CalibrationRegret:
    """Extra cost of decisions because the probabilities are miscalibrated.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities by which one decides.
    cost_matrix : array-like of shape (n_classes, n_decisions), optional
        Cost of deciding j when i is true, as for `decide`. By default the average over all cost proportions of an event.
    truth : array-like of the shape of ``y_prob``, optional
        The calibrated probabilities, where they are known, such as ``calibrated`` of a `KnownTruth`; never percent. By
        default the isotonic fit on these very rows stands in for them (CORP), which speaks of one event.
    notion : str or Notion, optional
        The event, of more than two classes and without a truth: ``OneVsRest("cat")``, or ``"confidence"``.
    n_resamples : int, default=200
        Draws of labels for the noise floor of the isotonic fit.
    rng : numpy.random.Generator, int or None, default=0
        Source of randomness of the draws.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    CalibrationRegret
        A result with ``cost``, ``recalibrated_cost``, ``regret`` and ``noise_floor``.

    Raises
    ------
    ValueError
        If there are more than two classes and no cost matrix or no truth, or if the columns of two data frames differ or
        stand in another order.

    Notes
    -----
    A cost proportion c makes a false positive cost 2 c and a false negative 2 (1 - c), so that c is the threshold. Averaged
    over c from 0 to 1 the cost is the Brier score, the regret against the isotonic fit the miscalibration of CORP, and the
    regret against a truth q the mean of (p - q)^2. At one c the regret can be zero for a badly calibrated forecast: when
    all probabilities stand on the right side of the threshold.

    A probability exactly on the threshold decides for the event if it is one column, or one class of more than two; of two
    columns the first class is decided, as in `decide`.

    With a known truth, costs are expected values under it, and the labels only define the rows. Without one, the isotonic fit
    is the best map in hindsight, so it also fits some of the noise. The noise floor is the mean regret on labels that are
    drawn from the forecast itself, in fewer draws where there are more than 50 000 distinct scores.

    References
    ----------
    Dimitriadis, Gneiting, Jordan, Stable reliability diagrams for probabilistic classifiers, PNAS 2021.
    Hernández-Orallo, Flach, Ferri, A unified view of performance metrics: translating threshold choice into expected
    classification loss, JMLR 2012.

    Examples
    --------
    >>> from calibrant.decisions import calibration_regret
    >>> calibration_regret([0, 1, 0, 1], [0.6, 0.7, 0.8, 0.9], cost_matrix=[[0, 1], [1, 0]], truth=[0.1, 0.7, 0.5, 0.9])
    CalibrationRegret(0.2 of 0.45; against truth, costs of the matrix)
    """
    n_resamples = resamples(n_resamples, hint="200 is usual")
    generator = as_rng(rng)
    names = shared_names(y_prob=y_prob) if truth is None else shared_names(y_prob=y_prob, truth=truth)
    problem = require_rows(as_problem(y_true, y_prob, column_names=names, **data), "the regret of decisions")
    costs = "all proportions" if cost_matrix is None else "the matrix"
    if truth is None:
        event = event_of(problem, notion)
        score = squared_error if cost_matrix is None else CostScore(as_cost_matrix(cost_matrix, 2))
        cost, repaired, floor = _against_fit(event, score, n_resamples, generator)
        against = "isotonic"
    else:
        cost, repaired = _against_truth(problem, as_truth(truth, problem, y_true, names, data), cost_matrix, notion)
        floor, against = 0.0, "truth"
    return CalibrationRegret(cost, repaired, max(cost - repaired, 0.0), floor, against, costs)


@dataclass(frozen=True, eq=False)
class CostScore:
    """The cost of what is decided by a probability: a proper score, since no other probability leads to less on average.

    On the threshold the event is decided, as in `decide`.
    """

    cost: FloatArray

    def __call__(self, prob: FloatArray, outcome: FloatArray) -> FloatArray:
        """Return the cost of each row."""
        decision, _ = cheapest(two_columns(prob, is_logit=False).values, self.cost)
        costs: FloatArray = self.cost[outcome.astype(np.intp), decision]
        return costs


def _against_fit(
    problem: BinaryProblem, score: EventScore, n_draws: int, rng: np.random.Generator
) -> tuple[float, float, float]:
    """Return the mean cost, that after the isotonic fit, and the mean difference of labels that the forecast draws."""
    ordered = Ordered.of(problem)
    total = ordered.weight.sum()
    steps = isotonic_fit(ordered)
    cost = float(ordered.weight @ expected_score(score, ordered.score, event_rates(ordered)) / total)
    repaired = float(steps.weight @ expected_score(score, steps.rate, steps.rate) / total)
    # Costs are linear in the events, so that a draw costs no decision anew.
    if_event, if_none = (score(ordered.score, np.full(ordered.score.size, y)) for y in (1.0, 0.0))
    saved = []
    n_draws = min(n_draws, max(FEWEST_DRAWS, MOST_POINTS // ordered.score.size))
    for events in drawn_events(ordered, ordered.score, n_draws, rng):
        drawn = isotonic_fit_of(events, ordered.weight)
        taken = events @ if_event + (ordered.weight - events) @ if_none
        saved.append(taken - drawn.weight @ expected_score(score, drawn.rate, drawn.rate))
    return cost, min(repaired, cost), max(float(np.mean(saved)), 0.0) / float(total)


def _against_truth(
    problem: Problem, truth: FloatArray, cost_matrix: npt.ArrayLike | None, notion: str | Notion | None
) -> tuple[float, float]:
    """Return the mean cost of decisions by the forecast and by the truth, to be expected under the truth."""
    simplex = as_simplex(problem)
    weight, prob = simplex.weight / simplex.weight.sum(), simplex.prob
    left_out("notion", notion, "where the truth is known", hint="Pass the column of the event and its truth")
    if cost_matrix is None:
        require(
            prob.shape[1] == 2,
            "cost_matrix must be given for more than two classes",
            got=f"none for {prob.shape[1]}",
            hint="Pass the cost of deciding j when i is true, or one column for one event",
        )
        p, q = prob[:, 1], truth[:, 1]
        best = float(weight @ (q * (1.0 - q)))
        return best + float(weight @ (p - q) ** 2), best
    cost = as_cost_matrix(cost_matrix, prob.shape[1])
    expected = truth @ cost
    row = np.arange(len(prob))
    taken, best_taken = (expected[row, cheapest(p, cost)[0]] for p in (prob, truth))
    return float(weight @ taken), float(weight @ best_taken)


def as_truth(
    truth: npt.ArrayLike, problem: Problem, y_true: npt.ArrayLike, names: Sequence[Any] | None, data: Any
) -> FloatArray:
    """Return the true probabilities of the rows of a problem as a table."""
    values = as_numbers("truth", truth)
    rows = of_probabilities(data.get("rows", "as-given"))
    as_forecast(values, input="probability", rows=rows, name="truth", remedies=OF_PROBABILITIES)
    n_rows, n_classes = len(as_labels(y_true)), as_simplex(problem).prob.shape[1]
    expected = (n_rows,) if isinstance(problem, BinaryProblem) else (n_rows, n_classes)
    must, each_class = (
        f"truth must have the shape of y_prob, {expected}",
        "the true probability of each class in each row",
    )
    require(values.shape == expected, must, value=values.shape, hint=f"Pass {each_class}")
    options = {key: value for key, value in data.items() if key != "input"} | {"rows": rows}
    return as_simplex(as_problem(y_true, values, column_names=names, **options)).prob
