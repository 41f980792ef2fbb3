"""Which calibrator to fit, if any: a few candidates, judged by cross-validated log loss on the rows at hand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from calibrant._core.arrays import ArrayLike, FloatArray
from calibrant._core.border import DataOptions, Input, Named, as_problem
from calibrant._core.checks import require, together, whole
from calibrant._core.result import Result, Table, shown_rows, under
from calibrant._core.rows import IntArray, Problem, Weights, as_simplex
from calibrant.assessment.compared_rows import IDENTITY, HeldOut, maker_of, summing_to_one
from calibrant.calibrators.base import Calibrator
from calibrant.calibrators.classifier import default_of
from calibrant.calibrators.safe import in_order
from calibrant.fit.folds import observed
from calibrant.metrics.kinds import LogLoss
from calibrant.significance.differences import warn_if_training_rows
from calibrant.sums.draws import Rng, as_rng, few_rows

OF_ONE_EVENT = ("temperature", "platt", "beta", "spline")
OF_CLASSES = ("temperature", "svs", "sms")
"""The candidates, from the simplest on, before the default of `calibrant fit`."""

LEAST_ROWS = 100
"""Rows below which nothing is advised: the standard errors of fewer mean little."""

MOST_ROWS, MOST_NUMBERS, FEWEST_DRAWN = 10_000, 100_000, 2000
"""Rows, and probabilities, that are looked at, so that the answer takes seconds; and rows that are, however many classes."""

MOST_MISSED = 10.0
"""Expected rows of a class above which its absence means that rows were left out or that the forecast is wrong."""

MARGIN = 2.0
"""Paired standard errors by which a candidate must be better than the forecast as it is, or than the default."""

LEAST_GAIN = 0.002
"""Nats by which another candidate must be better than the default as well: less is of no use, and one answer is."""


@dataclass(frozen=True)
class Candidate:
    """Cross-validated log loss of one candidate.

    Attributes
    ----------
    method : str
        The words that follow ``--method`` in ``calibrant fit``, such as "platt" or "evidence-scaling --safe"; or "identity".
    log_loss : float
        Mean log loss on held-out rows, in nats.
    difference : float
        That less the log loss of the forecast as it is; below 0 the candidate is better.
    standard_error : float
        Of the difference, from the differences of single rows.
    """

    method: str
    log_loss: float
    difference: float
    standard_error: float


@dataclass(frozen=True, eq=False)
class Advice(Result):
    """Which calibrator to fit, if any, and the figures behind that.

    Attributes
    ----------
    recommended : str
        The words of a calibrator, as ``--method`` takes them, or "identity": leave the forecast as it is.
    reason : str
        Why, in a sentence.
    candidates : tuple of Candidate
        From the simplest on; the first is the identity, and the last the default of ``calibrant fit``.
    n_rows, n_used : int
        Rows given, and rows that cross-validation looked at.
    n_classes : int
        Number of classes.
    n_folds : int
        Folds of the cross-validation; 0 where rows are too few for one.
    input : {"probability", "logit"}
        What the forecast was given as.
    options : str
        Options of the command line that say where the columns of a file are; empty where it was asked for in Python.
    event : str
        Options of the command line that say of which event a report speaks; empty as well.
    """

    _table = Table(
        "candidate",
        *under("candidates", "method", "log_loss", "difference", "standard_error"),
        "recommended=_is_recommended",
    )
    _summary = "{recommended}, rows={n_rows}, classes={n_classes}"

    recommended: str
    reason: str
    candidates: tuple[Candidate, ...]
    n_rows: int
    n_used: int
    n_classes: int
    n_folds: int
    input: Input
    options: str = ""
    event: str = ""

    @property
    def chosen(self) -> Candidate:
        """The candidate that is recommended."""
        return next(candidate for candidate in self.candidates if candidate.method == self.recommended)

    @property
    def _is_recommended(self) -> list[bool]:
        return [candidate.method == self.recommended for candidate in self.candidates]

    @property
    def command(self) -> str | None:
        """The command that fits the recommended calibrator; None where the forecast should stay as it is."""
        if self.recommended == IDENTITY:
            return None
        return f"calibrant fit CALIBRATION_FILE{self.given} --method {self.recommended} -o calibrator.json"

    @property
    def given(self) -> str:
        """The options as they follow a file's name in a command: with a space before them, if there are any."""
        return f" {self.options}" if self.options else ""

    def calibrator(self) -> Calibrator | None:
        """Return the recommended calibrator, not fitted yet; None where the forecast should stay as it is.

        Returns
        -------
        Calibrator or None
            Fit it on the calibration set.
        """
        if self.recommended == IDENTITY:
            return None
        made = maker_of(self.recommended)(self.n_classes)
        made.set_params(input=self.input)
        return made

    def __str__(self) -> str:
        """Return the table as text, and the reason."""
        lines = [f"{'method':<25}{'log loss':>10}{'difference':>13}{'std. error':>12}"]
        for c in self.candidates:
            change = "" if c.method == IDENTITY else f"{c.difference:>+13.5f}{c.standard_error:>12.5f}"
            lines.append(f"{c.method:<25}{c.log_loss:>10.5f}{change}")
        return "\n".join([*lines, self.reason])


def advise(
    y_true: ArrayLike,
    y_prob: ArrayLike | None = None,
    *,
    n_folds: int = 5,
    rng: Rng = 0,
    other_true: ArrayLike | None = None,
    other_prob: ArrayLike | None = None,
    **data: Unpack[DataOptions],
) -> Advice:
    """Recommend which calibrator to fit to a forecast, if any, by cross-validated log loss.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Class labels: integers, strings or booleans.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities of rows that the classifier was not trained on; rows of a table sum to one.
    n_folds : int, default=5
        Each candidate is fitted as often, on the rows outside one fold, and judged on that fold.
    rng : numpy.random.Generator, int or None, default=0
        Which rows make a fold, and which are drawn from more than 10 000.
    other_true, other_prob : array-like, optional
        Labels and probabilities of held-out rows that the classifier was not trained on, such as a test set. They are
        compared with the rows at hand; nothing is fitted to them.
    **data : DataOptions
        ``sample_weight``, ``labels``, ``pos_label``, ``input`` and others: see `DataOptions`.

    Returns
    -------
    Advice
        A result with ``recommended``, ``candidates``, ``reason`` and ``calibrator()``; printed, it is a table.

    Warns
    -----
    CalibrationWarning
        If the rows look like training rows when compared with the held-out ones: their log loss, or their error rate, is below
        two thirds of that of the held-out rows, and a test at a level of 0.001 finds the difference. And if rows are in both
        sets, which ties between forecasts do not explain.

    Notes
    -----
    The candidates are, for one event, temperature, Platt, beta and smoothing spline calibration; for more classes temperature,
    structured vector and structured matrix scaling; and last what ``calibrant fit`` and `CalibratedClassifier` take by
    default. That is recommended where its log loss is lower than that of the forecast as it is by more than two paired standard
    errors, unless another candidate is lower than both by as many, and than the default by 0.002 nats. If the default is not
    lower, the best of the others that are is recommended; if none is, or with fewer than 100 rows, "identity". Rows of the
    forecast as it is are divided by their sums, as those of calibrators are. docs/advice.md measures what the advice achieves
    on held-out rows.

    The answer is "identity" where all rows are of one class, or where the forecast expects more than 10 rows of a class that
    has none.

    A whole weight is a number of equal rows, which are dealt to the folds one by one, as `SafeCalibrator` deals them: counts
    get the advice of the repeated rows. A row whose weight is a fraction is in one fold, and is one observation in the standard
    errors. Copies, as of rows that were upsampled, are found by their labels: they are one row, with the weight of all, also
    where the default is chosen by the number of rows. A `CalibrationWarning` says so where there are many.

    At most 10 000 rows are looked at, and of many classes 100 000 probabilities, or 2000 rows. Methods that are left out may
    do better: `calibrant list calibrators` names them all.

    Examples
    --------
    >>> from calibrant import advise, load_digits_forecast
    >>> advise(*load_digits_forecast())
    Advice(evidence-scaling, rows=1497, classes=10)
    """
    whole("n_folds", n_folds, least=2, hint="Pass n_folds=5")
    problem = as_problem(y_true, y_prob, **data)
    if other_true is not None or other_prob is not None:
        warn_if_training_rows(problem, _other(other_true, other_prob, problem, data))
    rows = observed(problem)
    used, counts = in_order(_drawn(rows, as_rng(rng)))
    facts: dict[str, Any] = {
        "n_rows": problem.weights.n_rows,
        "n_used": int(counts.sum()),
        "n_classes": problem.classes.size,
        "input": "logit" if problem.is_logit else "probability",
    }
    if (reason := _why_none(used, facts["n_used"], n_folds)) is not None:
        loss = float(np.average(LogLoss()(as_simplex(used)), weights=used.weight))
        return Advice(IDENTITY, reason, (Candidate(IDENTITY, loss, 0.0, 0.0),), n_folds=0, **facts)
    methods = _candidates(rows, used)
    held_out, of_rows = HeldOut(counts, n_folds, as_rng(rng)), LogLoss()
    as_it_is = summing_to_one(held_out.of(used))
    forecasts = [as_it_is, *(held_out.calibrated(used, maker_of(method)) for method in methods)]
    losses = np.array([of_rows(as_simplex(one)) for one in forecasts])
    weights = as_it_is.weights
    candidates = tuple(
        Candidate(method, float(np.average(each, weights=weights.values)), *_paired(each - losses[0], weights))
        for method, each in zip((IDENTITY, *methods), losses, strict=True)
    )
    chosen = candidates[_choice(losses, weights)]
    return Advice(chosen.method, _reason(chosen, candidates), candidates, n_folds=n_folds, **facts)


def _other(other_true: Any, other_prob: Any, problem: Problem, data: DataOptions) -> Problem:
    """Return the held-out rows, of the same classes."""
    together(other_true=other_true, other_prob=other_prob)
    no_pair, hint = data.get("y_pred") is None, "Compare tables of all classes"
    require(no_pair, "other_true must be left out where y_pred is given", got="both", hint=hint)
    how: Any = {name: value for name, value in data.items() if name in ("input", "rows")}
    named = Named("other_true", "other_prob", "sample_weight")
    return as_problem(other_true, other_prob, labels=problem.classes.tolist(), named=named, **how)


def _why_none(problem: Problem, n_rows: int, n_folds: int) -> str | None:
    """Say why no calibrator can be judged on these rows; None where some can."""
    if n_rows < (least := max(LEAST_ROWS, n_folds)):
        few = f"{shown_rows(n_rows)} {'is' if n_rows == 1 else 'are'} too few"
        return f"{few} to judge a calibrator: {least} or more are needed."
    simplex, absent = as_simplex(problem), _absent(problem)
    names = simplex.classes.tolist()
    if len(names) - len(absent) == 1:
        return (
            f"Leave the forecast as it is: all {n_rows} rows are of the class {names[simplex.label[0]]!r}, and a "
            "calibrator cannot be judged without rows of the other classes."
        )
    expected = n_rows * np.average(simplex.prob[:, absent], axis=0, weights=problem.weight)
    if expected.size and expected.max() > MOST_MISSED:
        return (
            f"Leave the forecast as it is: no row is of the class {names[absent[expected.argmax()]]!r}, although the "
            f"forecast expects {expected.max():.0f} of {n_rows}, and a calibrator would learn that it never occurs. "
            "Pass rows of all classes."
        )
    return None


def _absent(problem: Problem) -> IntArray:
    """Return the numbers of the classes that no row is of."""
    return np.setdiff1d(np.arange(problem.classes.size), as_simplex(problem).label)


def _candidates(problem: Problem, used: Problem) -> tuple[str, ...]:
    n_classes, default = problem.classes.size, str(default_of(problem))
    simpler: tuple[str, ...] = OF_ONE_EVENT if n_classes == 2 else OF_CLASSES
    if n_classes > 2 and _absent(used).size:
        simpler = OF_CLASSES[:1]  # the others move single classes, and these rows cannot judge that
    return (*(method for method in simpler if method != default), default)


def _choice(losses: FloatArray, weights: Weights) -> int:
    """Return the number of the candidate to recommend; the first is the identity, and the last the default."""

    def is_better(number: int, than: int, by: float = 0.0) -> bool:
        difference, error = _paired(losses[number] - losses[than], weights)
        return difference < -max(MARGIN * error, by)

    default = len(losses) - 1
    better = [number for number in range(1, len(losses)) if is_better(number, 0)]
    if default in better:
        better = [number for number in better if is_better(number, default, LEAST_GAIN)] or [default]
    return min(better, key=lambda number: float(weights.values @ losses[number]), default=0)


def _paired(difference: FloatArray, weights: Weights) -> tuple[float, float]:
    """Return the mean of the differences of rows, and its standard error."""
    mean = float(weights.values @ difference) / weights.total
    return mean, float(np.sqrt(weights.of_variance @ (difference - mean) ** 2)) / weights.total


def _reason(chosen: Candidate, candidates: tuple[Candidate, ...]) -> str:
    if chosen.method == IDENTITY:
        tried = ", ".join(c.method for c in candidates[1:])
        return (
            f"Leave the forecast as it is: no candidate ({tried}) lowers its cross-validated log loss by more than "
            f"{MARGIN:g} standard errors."
        )
    least, but = min(candidates, key=lambda c: c.log_loss), ""
    if least.log_loss < chosen.log_loss:
        must = (
            f"to take the place of the default it must be lower by more than {MARGIN:g} standard errors and {LEAST_GAIN:g} nats"
            if chosen is candidates[-1]
            else f"it gains less than {MARGIN:g} of its standard errors"
        )
        but = f" {least.method} has {least.log_loss:.4f}, but {must}."
    return (
        f"Fit {chosen.method}: it lowers the cross-validated log loss from {candidates[0].log_loss:.4f} to "
        f"{chosen.log_loss:.4f} (difference {chosen.difference:.4f}, standard error {chosen.standard_error:.4f}).{but}"
    )


def _drawn(problem: Problem, rng: np.random.Generator) -> Problem:
    """Return the problem, or a random part of the rows of a large one; a whole weight is that many rows."""
    most = min(MOST_ROWS, max(FEWEST_DRAWN, MOST_NUMBERS // problem.classes.size))
    return problem if problem.weights.times.sum() <= most else few_rows(problem, most, rng)
