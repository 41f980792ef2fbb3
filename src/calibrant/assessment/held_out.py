"""Forecasts after calibrators that were fitted by cross-validation: each row is mapped by a fit to the other folds."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_memory

from calibrant import __version__
from calibrant._core.arrays import FloatArray, quotients, sum_of_rows
from calibrant._core.checks import distinct_names, list_of_names, require, tracked
from calibrant._core.rows import DOUBLE, BinaryProblem, Forecast, IntArray, Problem, Weights, as_simplex
from calibrant.assessment.compared_rows import Names, require_names
from calibrant.calibrators.base import Calibrator, as_calibrator
from calibrant.calibrators.by_notion import calibrator_for
from calibrant.calibrators.safe import MOST_COUNTS, Method, SafeCalibrator, folds, in_order
from calibrant.exceptions import CalibrationWarning, warn
from calibrant.fit.folds import observed

IDENTITY = "identity"
"""The forecast as it is: no calibrator."""

ROUNDING = 1e-12
"""Difference up to which probabilities are the same."""


class HeldOut:
    """Folds of the rows of forecasts, and what calibrators make of each row that was not fitted.

    A whole weight is a number of equal rows, which are dealt to the folds one by one, as `SafeCalibrator` deals them.
    """

    def __init__(self, counts: IntArray, n_folds: int, rng: np.random.Generator) -> None:
        self.counts, self.held = counts, list(folds(counts, n_folds, rng))
        self.rows: IntArray = np.concatenate([np.flatnonzero(held) for held in self.held])

    def of(self, problem: Problem) -> Problem:
        """Return the rows of all folds, one after the other, with the forecast as it is."""
        times = np.concatenate([held[held > 0] for held in self.held])
        weight = (problem.weight / self.counts)[self.rows] * times
        return problem.at(self.rows, Weights.one_each(weight.size) if (weight == 1.0).all() else Weights(weight))

    def calibrated(self, problem: Problem, make: Callable[[int], Calibrator]) -> Problem:
        """Return these rows, each with the forecast of a calibrator that was fitted to the other folds."""
        with warnings.catch_warnings():
            # What a part of the rows lacks is no news.
            warnings.simplefilter("ignore", CalibrationWarning)
            warnings.simplefilter("ignore", ConvergenceWarning)
            prob = np.concatenate(list(self._of_folds(problem, make)))
        rows = self.of(problem)
        if isinstance(rows, BinaryProblem):
            return replace(rows, score=prob[:, 1], logit=None, precision=DOUBLE)
        return replace(as_simplex(rows), forecast=Forecast(prob))

    def _of_folds(self, problem: Problem, make: Callable[[int], Calibrator]) -> Iterator[FloatArray]:
        unit, n_classes = problem.weight / self.counts, problem.classes.size
        for held in self.held:
            kept, out = problem.weighted(unit * (self.counts - held)), problem.weighted(unit * held)
            # Numbers in place of the classes: labels may be of any kind, or name a class that no row has.
            calibrator = make(n_classes)
            calibrator.set_params(input="logit" if problem.is_logit else "probability", labels=range(n_classes))
            prob = calibrator.fit(kept.values, as_simplex(kept).label, **kept.weights.keyword).predict_proba(out.values)
            must, hint = "predict_proba must return probabilities of each class", "Correct the calibrator"
            shape, given = (out.size, n_classes), np.shape(prob)
            require(given == shape, must, got=f"shape {given} in place of {shape}", hint=hint)
            are_rows = bool((prob >= 0.0).all()) and np.allclose(prob.sum(axis=1), 1.0, rtol=0.0, atol=1e-6)
            require(are_rows, must, got="rows that are none", hint=hint)
            yield prob


def maker_of(calibrator: str | Calibrator) -> Callable[[int], Calibrator]:
    """Return what makes a calibrator, not fitted yet, for a number of classes; refuse a word that is none."""
    method = Method.of(calibrator) if isinstance(calibrator, str) else None
    as_calibrator(calibrator if method is None else method.word)
    return method.calibrator if method else partial(calibrator_for, calibrator)


def named_calibrators(calibrators: Any) -> dict[str, str | Calibrator]:
    """Return calibrators by their names: a word is its own name, an object has that of its class."""
    if not isinstance(calibrators, Mapping):
        list_of_names("calibrators", calibrators)
        listed = list(calibrators)
        names = [one if isinstance(one, str) else type(one).__name__ for one in listed]
        distinct_names("calibrators", names)
        calibrators = dict(zip(names, listed, strict=True))
    require_names("calibrators", calibrators)
    return {str(name): one for name, one in calibrators.items()}


class CrossValidation(NamedTuple):
    """How calibrators are fitted by cross-validation: see `compare`."""

    n_folds: int
    n_jobs: int | None = None
    memory: str | os.PathLike[str] | None = None
    progress: bool = False


class CandidateRows(NamedTuple):
    """A candidate as it is compared: its rows, None where its calibrator failed, and what that took or said.

    ``is_safe`` says that it is the first forecast after `EvidenceScaling` within `SafeCalibrator`, of which was measured how
    little harm it does and how close to the best it is, and that this is another forecast.
    """

    problem: Problem | None
    seconds: float = 0.0
    failure: str = ""
    is_safe: bool = False


def candidates_of(
    problems: Mapping[str, Problem],
    calibrators: Mapping[str, str | Calibrator],
    cv: CrossValidation,
    rng: np.random.Generator,
    groups: Names | None,
    unnamed: bool,
) -> tuple[dict[str, CandidateRows], Names | None]:
    """Return each forecast as it is, and after each calibrator, by their names; and the group of each of their rows."""
    if not calibrators:
        return {name: CandidateRows(problem) for name, problem in problems.items()}, groups
    makers = {name: maker_of(one) for name, one in calibrators.items()}
    names = {
        (name, word): (word or IDENTITY) if unnamed else f"{name} + {word}" if word else name
        for name in problems
        for word in ("", *makers)
    }
    distinct_names("forecasts and calibrators", names.values())
    sorted_, counts, groups = _in_one_order(list(problems.values()), groups)
    must, hint = "there must be a row for each fold", "Pass more rows, or a smaller n_folds"
    require(counts.sum() >= cv.n_folds, must, got=f"{int(counts.sum())} rows for {cv.n_folds} folds", hint=hint)
    held_out = HeldOut(counts, cv.n_folds, rng)
    made = {word: make(2) for word, make in makers.items()}
    inner = {word: one.calibrator for word, one in made.items() if isinstance(one, SafeCalibrator)}
    made_safe = {word: as_calibrator(one).made_safe for word, one in inner.items() if one is not None}
    of_names = dict(zip(problems, sorted_, strict=True))
    kept = check_memory(os.fspath(cv.memory) if cv.memory else None).cache(_calibrated, ignore=["held_out", "problem"])
    tasks = [(name, word) for name in problems for word in makers]
    calls = (delayed(_tried)(kept, held_out, of_names[name], calibrators[word]) for name, word in tasks)
    done = Parallel(n_jobs=cv.n_jobs, return_as="generator")(calls)
    done = tracked(done, len(tasks), show=cv.progress, desc="calibrators", unit="fit")
    fitted = dict(zip(tasks, done, strict=True))
    found = dict[str, CandidateRows]()
    for name, problem in of_names.items():
        found[names[name, ""]] = CandidateRows(as_it_is := held_out.of(problem))
        for word in makers:
            own, one = made_safe.get(word, {}), fitted[name, word]
            is_safe = (
                bool(own) and problem is sorted_[0] and _differ(one.problem, as_it_is, own.get("least_share", 0.0))
            )
            found[names[name, word]] = one._replace(is_safe=is_safe)
    return found, None if groups is None else groups[held_out.rows]


def summing_to_one(problem: Problem) -> Problem:
    """Return a forecast with its rows, whose sums may be one only nearly, divided by them, as calibrators return theirs."""
    if isinstance(problem, BinaryProblem) or problem.is_logit:
        return problem
    return replace(problem, forecast=Forecast(quotients(problem.prob, sum_of_rows(problem.prob))))


def _differ(problem: Problem | None, given: Problem, share: float) -> bool:
    """Return whether a calibrated forecast is another than the given one, by more than a share of anything can make."""
    if problem is None:
        return False
    prob, as_it_is = as_simplex(problem).prob, as_simplex(summing_to_one(given)).prob
    return not np.allclose(prob, as_it_is, rtol=0.0, atol=share + ROUNDING)


def _tried(calibrated: Callable[..., Problem], held_out: HeldOut, problem: Problem, calibrator: Any) -> CandidateRows:
    """Return the held-out rows after a calibrator, or what it said."""
    rows = problem.values, as_simplex(problem).label, problem.weight, problem.classes.tolist(), problem.is_logit
    key, start = (rows, held_out.counts, held_out.held, __version__), time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Persisting input arguments")  # joblib's, where the machine is busy
            found = calibrated(key, calibrator, held_out, problem)
        return CandidateRows(found, time.perf_counter() - start)
    except Exception as error:  # the others go on
        said = " ".join(str(error).split()) or type(error).__name__
        return CandidateRows(None, time.perf_counter() - start, said)


def _calibrated(key: object, calibrator: str | Calibrator, held_out: HeldOut, problem: Problem) -> Problem:
    """Return the held-out rows after a calibrator; the key holds all else that they depend on."""
    return held_out.calibrated(problem, maker_of(calibrator))


def _in_one_order(problems: list[Problem], groups: Names | None) -> tuple[list[Problem], IntArray, Names | None]:
    """Return the problems with their rows in an order that depends on what they hold, how many each is, and their groups."""
    if len(problems) == 1 and groups is None:
        problem, counts = in_order(observed(problems[0]))
        return [problem], counts, None
    simplex = [as_simplex(problem) for problem in problems]
    with warnings.catch_warnings(action="ignore", category=CalibrationWarning):  # here copies do not count as one row
        distinct = observed(problems[0])
    if distinct.size < problems[0].size:
        warn("the rows must be independent; there are copies, which are in several folds. Pass each row once.")
    # As `in_order` sorts the rows of one forecast: by the label, and by the columns from the first on.
    keys = [key for one in simplex[::-1] for key in (*one.forecast.values.T[::-1], one.label)]
    order = np.lexsort([simplex[0].weight, *([] if groups is None else groups.T), *keys])
    problems = [problem.taken(order) for problem in problems]
    weights = problems[0].weights
    are_counts = weights.are_counts and weights.total < MOST_COUNTS
    counts = weights.values.astype(np.intp) if are_counts else np.ones(order.size, dtype=np.intp)
    return problems, counts, None if groups is None else groups[order]
