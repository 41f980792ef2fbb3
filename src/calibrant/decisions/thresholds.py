"""The errors of deciding for an event from a threshold on: shares of rows, at many thresholds at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeVar, Unpack

import numpy as np

from calibrant._core.arrays import ArrayLike, FloatArray, NDArray, first, ratio
from calibrant._core.border import DataOptions, Input, as_problem, as_problems
from calibrant._core.checks import are_words, each, number, require, together
from calibrant._core.result import Result, Table, frame
from calibrant._core.rows import BinaryProblem, Forecast, IntArray, Rows, as_simplex
from calibrant.decisions.prior_shift import as_event_share, classes_of, numbers_of, received
from calibrant.notions import Notion, event_of

# Cost matrices: a row for each true class, a column for each decision


MOST_COST = 1e100
"""Cost up to which sums over rows do not overflow."""


def as_cost_matrix(cost_matrix: ArrayLike, n_classes: int) -> FloatArray:
    """Return ``cost[i, j]``, the cost of deciding j when i is true; columns beyond the classes are other decisions."""
    meaning = "Let cost_matrix[i][j] be the cost of deciding j when i is true"
    cost = numbers_of("cost_matrix", cost_matrix, meaning)
    fits = cost.ndim == 2 and len(cost) == n_classes <= cost.shape[-1]
    must = f"cost_matrix must have a row a class and a column a decision, shape ({n_classes}, {n_classes}) or wider"
    require(fits, must, got=f"shape {cost.shape}", hint=meaning)
    in_a_row = "Add a number to the whole row: decisions depend on differences within a row alone"
    each("cost_matrix", cost, cost >= 0, "not be negative", hint=in_a_row)
    unit = "Divide all costs by one number: decisions stay the same"
    each("cost_matrix", cost, cost <= MOST_COST, f"be at most {MOST_COST:g}", hint=unit)
    i, j = first(cost[:, :n_classes] < np.diag(cost)[:, None])  # (0, 0), which fits, where all do
    got = f"{cost[i, i]:g} for deciding {i} and {cost[i, j]:g} for deciding {j} when {i} is true"
    must = "a right decision must not cost more than a wrong one"
    require(cost[i, j] >= cost[i, i], must, got=got, hint="Rows are the classes that are true, columns the decisions")
    return cost


def column_names(classes: NDArray[np.generic], n_decisions: int, extra: object) -> NDArray[np.generic]:
    """Return the name of each decision: of the classes, and of the columns beyond them."""
    wanted = n_decisions - len(classes)
    names = np.array(extra, dtype=object, ndmin=1).tolist()
    if extra is None:
        names = ["abstain"] if wanted == 1 else [f"abstain {number}" for number in range(1, wanted + 1)]
    must, hint = "extra must be a name, or a sequence of names", "Pass 'ask', say"
    require(are_words(names), must, value=extra, hint=hint, error=TypeError)
    fits = len(names) == wanted and len({*names, *map(str, classes.tolist())}) == n_decisions
    must = f"extra must name each of the {wanted} decisions beyond the classes once"
    require(fits, must, value=names, hint="Pass one new name for each further column of cost_matrix")
    return np.array([*classes.tolist(), *names], dtype=object) if len(names) else classes


# The optimal threshold of a calibrated probability, from costs and from shares of the classes


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

    The threshold is optimal for probabilities that are calibrated. For others `expected_cost_curve` shows the extra cost.

    References
    ----------
    Elkan, The foundations of cost-sensitive learning, IJCAI 2001.
    Silva Filho, Song, Perello-Nieto, Santos-Rodriguez, Kull, Flach, Classifier calibration: a survey, Machine Learning 2023.

    Examples
    --------
    >>> from calibrant import optimal_threshold
    >>> optimal_threshold(4, 1)
    0.8
    >>> optimal_threshold(1, 1, old_prior=0.5, new_prior=0.8)
    0.2
    """
    a = _excess("positive", "negative", cost_false_positive, cost_true_negative)
    b = _excess("negative", "positive", cost_false_negative, cost_true_positive)
    if together(old_prior=old_prior, new_prior=new_prior, hint="Pass both, or none if the share of events stays"):
        old = _exact(as_event_share("old_prior", old_prior, positive=True))
        new = _exact(as_event_share("new_prior", new_prior))
        a, b = a * old * (1 - new), b * new * (1 - old)
    must = "some error that can happen must cost more than the right decision"
    hint = "Pass cost_false_positive=1 and cost_false_negative=1 to count errors"
    require(a + b, must, got="costs under which every decision is as good", hint=hint)
    return float(a / (a + b))


def threshold_of(cost: FloatArray) -> float | None:
    """Return the threshold of a 2 x 2 cost matrix; None if its decisions all cost the same."""
    (true_negative, false_positive), (false_negative, true_positive) = cost.tolist()
    a, b = _exact(false_positive) - _exact(true_negative), _exact(false_negative) - _exact(true_positive)
    return float(a / (a + b)) if a + b > 0 else None


def as_places(name: str, values: ArrayLike) -> FloatArray:
    """Return the distinct places in [0, 1] in increasing order."""
    places = numbers_of(name, values, f"Pass numbers between 0 and 1, such as {name}=[0.2, 0.5]")
    hint = "Pass numbers between 0 and 1"
    require(places.ndim == 1, f"{name} must have one dimension", got=f"shape {places.shape}", hint=hint)
    each(name, places, (places >= 0) & (places <= 1), "lie in [0, 1]", hint=hint)
    return np.unique(places)


def _excess(decided: str, true: str, wrong: float, right: float) -> Fraction:
    """Return what a wrong decision costs beyond the right one."""
    names = (f"cost_false_{decided}", f"cost_true_{true}")
    gain = "Pass 1.0, say; a gain is a cost of the other decision"
    more, less = (number(name, cost, least=0.0, hint=gain) for name, cost in zip(names, (wrong, right), strict=True))
    must = "a right decision must not cost more than the wrong one"
    require(less <= more, must, got=f"{names[1]}={right!r} and {names[0]}={wrong!r}", hint="Check which cost is which")
    return _exact(more) - _exact(less)


def _exact(value: float) -> Fraction:
    """Return the decimal number that was written: 0.3 - 0.1 is then 0.2, and products neither round nor vanish."""
    return Fraction(repr(value))


# Decisions of least expected cost


TIES = {"d": 1e-13, "f": 1e-5}
"""Expected costs that differ by less, relative to themselves, are the same: rounding, to double or single, moves them about."""


@dataclass(frozen=True, eq=False)
class Decisions(Result):
    """What to decide in each row, and what it is expected to cost.

    Attributes
    ----------
    decision : ndarray of shape (n,)
        Column of the cost matrix.
    expected_cost : ndarray of shape (n,)
        Its expected cost under the predicted probabilities.
    names : ndarray of shape (n_decisions,)
        Name of each decision: the classes, then what else can be decided.
    cost_matrix : ndarray of shape (n_classes, n_decisions)
        Cost of deciding the column when the row is true.
    """

    _table = Table("forecast", "decision=_text", "expected_cost")

    decision: IntArray
    expected_cost: FloatArray
    names: NDArray[np.generic]
    cost_matrix: FloatArray

    @property
    def named(self) -> NDArray[np.generic]:
        """Name of the decision in each row, shape (n,)."""
        return np.asarray(self.names[self.decision])

    @property
    def _text(self) -> NDArray[np.generic]:
        """The names in a data frame: those of different kinds are written as text."""
        return self.named.astype(str) if self.named.dtype == object else self.named

    def __repr__(self) -> str:
        count = np.bincount(self.decision, minlength=self.names.size)
        most = [f"{name}: {number}" for name, number in zip(self.names.tolist(), count.tolist(), strict=True) if number]
        shown = ", ".join(most[:5]) + (", ..." if len(most) > 5 else "")
        return f"Decisions({shown}; expected cost {self.expected_cost.mean():.4g})"


def decide(
    y_prob: ArrayLike,
    cost_matrix: ArrayLike,
    *,
    extra: str | Sequence[str] | None = None,
    labels: Sequence[Any] | None = None,
    input: Input = "probability",
    rows: Rows = "as-given",
) -> Decisions:
    """Choose the decision of least expected cost in each row.

    Parameters
    ----------
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Calibrated probabilities; one column is the probability of the event, class 1 of 2.
    cost_matrix : array-like of shape (n_classes, n_decisions)
        ``cost_matrix[i][j]`` is the cost of deciding j when class i is true. The first columns decide for the classes, in their
        order. Columns beyond them are other decisions, such as to abstain, or to ask an expert.
    extra : str or sequence of str, optional
        Names of the columns beyond the classes; by default ``"abstain"``.
    labels : sequence of length n_classes, optional
        The class of each column; by default the names of the columns of a data frame if they are words or whole numbers,
        without a prefix that all share (``cat`` of ``p_cat``), else 0, 1, ....
    input : {"probability", "logit"}, default="probability"
        What ``y_prob`` holds.
    rows : {"as-given", "normalize", "percent"}, default="as-given"
        Check that rows sum to one, divide them by their sums, or divide percent by 100: see `DataOptions`.

    Returns
    -------
    Decisions
        A result with ``decision``, ``expected_cost``, ``named`` and ``to_frame()``.

    Raises
    ------
    ValueError
        If the matrix has another shape, a negative cost, or a right decision that costs more than a wrong one.

    Notes
    -----
    The expected cost of deciding j is the sum over classes i of p_i cost[i, j]. Of decisions that cost the same the first is
    taken, except that a 2 x 2 matrix follows `optimal_threshold`: the event, class 1 of 2, is decided from the threshold on.
    Costs are the same if they differ by less than 1e-13 of themselves (1e-5 in single precision), so that rounding decides
    nothing.

    An abstention of cost c, where every error costs one, is taken where no class has a probability of 1 - c or more (Chow's
    rule). At 1 - c the class is decided; where c is so small that 1 - c has lost its digits, below 0.001, what is decided
    there is left to rounding.

    References
    ----------
    Chow, On optimum recognition error and reject tradeoff, IEEE Transactions on Information Theory 1970.
    Elkan, The foundations of cost-sensitive learning, IJCAI 2001.

    Examples
    --------
    >>> from calibrant import decide
    >>> found = decide([0.05, 0.5, 0.95], [[0, 1, 0.2], [1, 0, 0.2]])
    >>> found
    Decisions(0: 1, 1: 1, abstain: 1; expected cost 0.1)
    >>> found.named.tolist()
    [0, 'abstain', 1]
    """
    forecast, _, columns = received(y_prob, input=input, rows=rows)
    n_classes = forecast.shape[1]
    cost = as_cost_matrix(cost_matrix, n_classes)
    names = column_names(classes_of(n_classes, labels, columns), cost.shape[1], extra)
    decision, expected = cheapest(forecast, cost)
    return Decisions(decision, expected, names, cost.copy())


def cheapest(forecast: Forecast, cost: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return the decision of least expected cost in each row, and that cost."""
    prob, tie = forecast.prob, TIES[forecast.precision.char]
    expected = prob @ cost
    if cost.shape == (2, 2) and (threshold := threshold_of(cost)) is not None:
        decision = reaches(prob[:, 1], threshold)
    else:
        decision = (expected <= expected.min(axis=1, keepdims=True) * (1.0 + tie)).argmax(axis=1)
    return decision, expected[np.arange(len(expected)), decision]


def in_precision(places: FloatArray, problem: BinaryProblem) -> FloatArray:
    """Return the places as the scores have them: in single precision 0.7 is a little less, and the threshold."""
    return places.astype(problem.precision).astype(np.float64)


def reaches(score: FloatArray, threshold: float) -> IntArray:
    """Return one where a score is the threshold or above it; in single precision 0.7 is a little less, and the threshold."""
    decided: IntArray = ((score >= threshold) | (score == float(np.float32(threshold)))).astype(np.intp)
    return decided


# One event, and one or several forecasts of it by their names


P = TypeVar("P", bound=Any)


def events_of(
    y_true: ArrayLike,
    y_prob: ArrayLike | Mapping[str, ArrayLike] | None,
    notion: str | Notion | None,
    data: Any,
) -> dict[str, BinaryProblem]:
    """Return the problem of each forecast by its name, of one event and the same rows."""
    problems = named_events(y_true, y_prob, notion, data)
    (first, one), *others = problems.items()
    for name, other in others:
        same = np.array_equal(one.outcome, other.outcome) and np.array_equal(one.weight, other.weight)
        differ = int((one.outcome != other.outcome).sum()) if one.size == other.size else max(one.size, other.size)
        got = f"{first!r} and {name!r}, whose events differ in {differ} of {one.size} rows"
        require(same, "there must be one event for all forecasts", got=got, hint="Pass the forecasts one at a time")
    return problems


def named_events(
    y_true: ArrayLike,
    y_prob: ArrayLike | Mapping[str, ArrayLike] | None,
    notion: str | Notion | None,
    data: Any,
) -> dict[str, BinaryProblem]:
    """Return the problem of each forecast by its name, each of an event of its own; without a name it is "forecast"."""
    return {name: event_of(problem, notion) for name, problem in as_problems(y_true, y_prob, data).items()}


def panel_named(panels: tuple[P, ...], name: str) -> P:
    """Return the panel of that name."""
    named = {panel.name: panel for panel in panels}
    if name not in named:
        raise KeyError(f"{name!r} is no forecast of the curve; there are {', '.join(map(repr, named))}")
    return named[name]


def errors_at(
    score: FloatArray, weight: FloatArray, events: FloatArray, threshold: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return shares of false positives and of false negatives among all rows, deciding for the event from each threshold on.

    The distinct scores increase; ``weight`` and ``events`` stand on them.
    """
    total, others = weight.sum(), weight - events
    below = np.searchsorted(score, threshold, side="left")
    missed = np.append(0.0, np.cumsum(events))
    # From the other end, so that the last shares are not differences of large sums.
    alarmed = np.append(np.cumsum(others[::-1])[::-1], 0.0)
    return alarmed[below] / total, missed[below] / total


# Confusion tables: how often each decision was taken when each class was true, and what that cost


MOST_CLASSES_SHOWN = 12
"""A larger table does not fit on a screen."""


@dataclass(frozen=True, eq=False)
class ConfusionTable(Result):
    """How often each decision was taken when each class was true.

    Attributes
    ----------
    weight : ndarray of shape (n_classes, n_decisions)
        Weight of the rows; without weights their number. A row a class that was true, a column a decision.
    classes : ndarray of shape (n_classes,)
        The classes.
    decisions : ndarray of shape (n_decisions,)
        Names of the decisions: the classes, then what else can be decided.
    cost_matrix : ndarray of shape (n_classes, n_decisions)
        What decisions cost.
    expected_cost : float
        Expected mean cost per row of the decisions taken, by the predicted probabilities. If these are calibrated, it is near
        ``mean_cost``.
    threshold : float or None
        Probability from which the event was decided, if decisions were made by a threshold.
    """

    weight: FloatArray
    classes: NDArray[np.generic]
    decisions: NDArray[np.generic]
    cost_matrix: FloatArray
    expected_cost: float
    threshold: float | None

    @property
    def mean_cost(self) -> float:
        """Observed mean cost per row."""
        return float((self.weight * self.cost_matrix).sum() / self.weight.sum())

    @property
    def accuracy(self) -> float:
        """Share of right decisions among those for a class; NaN if there was none."""
        decided = self.weight[:, : len(self.classes)]
        return float(ratio(np.trace(decided), decided.sum()))

    @property
    def abstained(self) -> float:
        """Share of rows with a decision for no class."""
        return float(self.weight[:, len(self.classes) :].sum() / self.weight.sum())

    @property
    def recall(self) -> FloatArray:
        """Share of each class that was decided as such, shape (n_classes,); NaN for a class that never occurred.

        Of two classes: specificity and sensitivity.
        """
        return ratio(np.diag(self.weight), self.weight.sum(axis=1))

    @property
    def precision(self) -> FloatArray:
        """Share of the decisions for each class that were right, shape (n_classes,); NaN for one never decided.

        Of two classes: the negative and the positive predictive value.
        """
        return ratio(np.diag(self.weight), self.weight[:, : len(self.classes)].sum(axis=0))

    def to_frame(self, backend: str | None = None) -> Any:
        """Return a data frame, a row a class and decision.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            By default the first that is installed.

        Returns
        -------
        DataFrame
            Columns truth, decision, weight, share (of all rows), rate (among the rows of the class), cost (of one row).
        """
        n_classes, n_decisions = self.weight.shape
        columns: dict[str, Any] = {
            "truth": np.repeat([str(c) for c in self.classes.tolist()], n_decisions),
            "decision": np.tile([str(d) for d in self.decisions.tolist()], n_classes),
            "weight": self.weight.ravel(),
            "share": (self.weight / self.weight.sum()).ravel(),
            "rate": ratio(self.weight, self.weight.sum(axis=1, keepdims=True)).ravel(),
            "cost": self.cost_matrix.ravel(),
        }
        return frame(columns, backend)

    def __repr__(self) -> str:
        threshold = "" if self.threshold is None else f"threshold={self.threshold:.4g}, "
        return (
            f"ConfusionTable({threshold}classes={len(self.classes)}, accuracy={self.accuracy:.4g}, "
            f"mean_cost={self.mean_cost:.4g}, expected_cost={self.expected_cost:.4g})"
        )

    def __str__(self) -> str:
        """Return the table as text."""
        lines = [] if len(self.classes) > MOST_CLASSES_SHOWN else self._lines()
        if self.threshold is not None:
            lines.append(f"threshold {self.threshold:.4g}")
        if len(self.decisions) > len(self.classes):
            lines.append(f"abstained {self.abstained:.2%}")
        lines.append(f"accuracy {_percent(self.accuracy)}")
        lines.append(f"mean cost {self.mean_cost:.4g}, expected by the probabilities {self.expected_cost:.4g}")
        return "\n".join(lines)

    def _lines(self) -> list[str]:
        head = ["true", *map(str, self.decisions.tolist()), "recall"]
        body = [
            [str(c), *(f"{w:g}" for w in row), _percent(rate)]
            for c, row, rate in zip(self.classes.tolist(), self.weight.tolist(), self.recall.tolist(), strict=True)
        ]
        foot = ["precision", *map(_percent, self.precision.tolist())]
        rows = [head, *body, foot + [""] * (len(head) - len(foot))]
        width = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return ["  ".join(word.rjust(size) for word, size in zip(row, width, strict=True)).rstrip() for row in rows]


def confusion_table(
    y_true: ArrayLike,
    y_prob: ArrayLike | None = None,
    *,
    threshold: float | None = None,
    cost_matrix: ArrayLike | None = None,
    extra: str | Sequence[str] | None = None,
    **data: Unpack[DataOptions],
) -> ConfusionTable:
    """How often each decision is taken when each class is true, with its rates and its cost.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities.
    threshold : float, optional
        Probability in [0, 1] from which the event of two classes is decided. By default decisions are those of least
        expected cost.
    cost_matrix : array-like of shape (n_classes, n_decisions), optional
        Cost of deciding j when i is true, as for `decide`; by default every error costs one. With a threshold it does not
        change the decisions, only what they cost.
    extra : str or sequence of str, optional
        Names of the columns of the matrix beyond the classes; by default ``"abstain"``.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``y_pred``, ``input`` and ``rows``: see `DataOptions`.

    Returns
    -------
    ConfusionTable
        A result with ``weight``, ``recall``, ``precision``, ``accuracy``, ``mean_cost``, ``expected_cost`` and
        ``to_frame()``; printed it is a table.

    Notes
    -----
    ``expected_cost`` is predicted by the probabilities before the labels are known, ``mean_cost`` is what the decisions did
    cost. An over-confident forecast predicts too low a cost.

    Examples
    --------
    >>> from calibrant.decisions import confusion_table
    >>> print(confusion_table([0, 1, 1, 0], [0.2, 0.7, 0.9, 0.8], cost_matrix=[[0, 4], [1, 0]]))
         true       0       1  recall
            0       1       1  50.00%
            1       1       1  50.00%
    precision  50.00%  50.00%
    accuracy 50.00%
    mean cost 1.25, expected by the probabilities 0.525
    """
    problem = as_problem(y_true, y_prob, **data)
    if threshold is not None:
        event_of(problem, None)  # a threshold speaks of one event
        hint = "It is compared with probabilities; see optimal_threshold"
        threshold = number("threshold", threshold, least=0.0, most=1.0, hint=hint)
    simplex = as_simplex(problem)
    n_classes = simplex.prob.shape[1]
    cost = 1.0 - np.eye(n_classes) if cost_matrix is None else as_cost_matrix(cost_matrix, n_classes)
    names = column_names(simplex.classes, cost.shape[1], extra)
    if threshold is None:
        decision, expected = cheapest(simplex.forecast, cost)
    else:
        decision = reaches(simplex.prob[:, 1], threshold)
        expected = np.vecdot(simplex.prob, cost.T[decision])
    weight = simplex.weight
    counts = np.bincount(simplex.label * len(names) + decision, weight, n_classes * len(names)).astype(np.float64)
    table, mean = counts.reshape(n_classes, len(names)), float(weight @ expected / weight.sum())
    return ConfusionTable(table, simplex.classes, names, cost.copy(), mean, threshold)


def _percent(rate: float) -> str:
    return "-" if np.isnan(rate) else f"{rate:.2%}"
