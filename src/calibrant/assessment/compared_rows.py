"""What is compared: forecasts of the same rows, samples, periods or groups; and calibrators, by cross-validation.

Each row is mapped by a calibrator that was fitted to the other folds.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import combinations
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_memory

from calibrant import __version__
from calibrant._core import checks
from calibrant._core import rows as _rows
from calibrant._core.arrays import FloatArray, is_number, quotients, sum_of_rows
from calibrant._core.border import DataOptions, Named, as_labels, as_problem
from calibrant._core.rows import BinaryProblem, Forecast, IntArray, Problem, Weights, as_simplex
from calibrant.calibrators.base import Calibrator, as_calibrator
from calibrant.calibrators.by_notion import calibrator_for
from calibrant.calibrators.safe import MOST_COUNTS, Method, SafeCalibrator, folds, in_order
from calibrant.fit.folds import observed
from calibrant.significance.differences import pair_of

Names = np.ndarray[Any, np.dtype[np.str_]]

ONLY = "forecast"
"""The name of a forecast that was given without one."""

Every = Literal["day", "week", "month", "quarter", "year"]

NO_TIME = {"", "NaT", "None", "nan", "<NA>"}
"""How a missing time reads as text."""

MOST_PERIODS = 500
"""Periods of a comparison; more are dates that are not cut."""


def forecasts_of(y_true: Any, forecasts: Any, data: DataOptions) -> dict[str, Problem]:
    """Return the problem of each forecast by its name; refuse those that are not of the same rows and classes."""
    is_named = isinstance(forecasts, Mapping)
    forecasts = forecasts if is_named else {ONLY: forecasts}
    checks.some("forecasts", forecasts, "forecast", hint="Pass a dict of them by their names")
    require_names("forecasts", forecasts)
    first, *others = map(str, forecasts)
    given = {str(name): values for name, values in forecasts.items()}
    own = dict[str, Any]()
    if isinstance(y_true, Mapping):
        checks.distinct_names("y_true", y_true)
        own = {str(name): values for name, values in y_true.items()}
        must = "y_true must have the labels of each forecast by its name"
        got = f"{', '.join(own)} for {', '.join(given)}"
        checks.require(own.keys() == given.keys(), must, got=got, hint="Pass one array for all, or one for each")
    called = {name: f"forecasts[{name!r}]" for name in given} if is_named else {ONLY: "forecasts"}
    named, truth = Named(forecast=called[first]), own.get(first, y_true)
    remedies = _rows.OF_SEVERAL if others else _rows.USUAL
    problems: dict[str, Problem] = {first: as_problem(truth, given[first], named=named, remedies=remedies, **data)}
    for name in others:
        names = called[first], called[name], f"y_true[{name!r}]"
        _, problems[name] = pair_of(truth, given[first], given[name], own.get(name), data, names)
    return problems


def samples_of(y_true: Any, forecasts: Any, data: DataOptions) -> dict[str, Problem]:
    """Return the problem of each of several independent samples, of the same classes."""
    must, hint = "must be dicts of samples by the same names", "Pass y_true={'a': ..., 'b': ...} and forecasts likewise"
    weights: Any = data.get("sample_weight")
    given = [y_true, forecasts, *([] if weights is None else [weights])]
    same = all(isinstance(one, Mapping) and set(one) == set(forecasts) for one in given)
    checks.require(same, f"y_true, forecasts and sample_weight of independent samples {must}", got="others", hint=hint)
    require_names("forecasts", forecasts)
    checks.some("forecasts", forecasts, "sample", hint=hint)
    found = dict[str, Problem]()
    for name in forecasts:
        own: DataOptions = {**data, "sample_weight": None if weights is None else weights[name]}
        named = Named(f"y_true[{name!r}]", f"forecasts[{name!r}]")
        found[str(name)] = as_problem(y_true[name], forecasts[name], named=named, **own)
    require_same_classes(found)
    return found


def require_names(what: str, names: Collection[object]) -> None:
    """Refuse names of which one is empty, or two are one text."""
    checks.distinct_names(what, names)
    checks.require(all(map(str, names)), f"{what} must have names", got="an empty one", hint="Name each of them")


def require_same_classes(problems: Mapping[str, Problem]) -> None:
    """Refuse forecasts of other classes than those of the first."""
    first = next(iter(problems))
    for name, problem in problems.items():
        of_both = [problems[first].classes.tolist(), problem.classes.tolist()]
        hint = "Where one of them lacks a class, pass labels= in column order"
        must, got = "forecasts must have the same classes", f"{of_both[0]} in {first}, {of_both[1]} in {name}"
        checks.require(of_both[0] == of_both[1], must, got=got, hint=hint)


def periods_of(times: Any, every: Any, problem: Problem, sample_weight: Any = None) -> dict[str, Problem]:
    """Return the rows of each period by its name, in the order of time."""
    whens = np.asarray(times)
    hint = "Pass one column of dates"
    checks.require(whens.ndim == 1, "times must have one value for each row", got=f"shape {whens.shape}", hint=hint)
    if every is None:
        are_dates = whens.dtype.kind == "M" or (whens.dtype == object and not all(map(is_number, whens.tolist())))
        whens = as_labels(whens.astype(str) if are_dates else times, "times")
    else:
        checks.choice("every", every, get_args(Every))
        if whens.dtype.kind == "M":
            whens = whens.astype("datetime64[D]").astype(object)
        elif whens.dtype == object:  # one time in two zones is equal to Python, and may be of two days
            whens = whens.astype(str)
    found = np.unique(whens).tolist() if every is None else set(whens.tolist())
    must, hint = "times must have a value in each row", "Fill it, or leave these rows out"
    checks.require(NO_TIME.isdisjoint(map(str, found)), must, got="a missing one", hint=hint)
    names = {when: str(when) if every is None else _period(when, every) for when in found}
    of_rows = groups_of({"": [names[when] for when in whens.tolist()]}, problem, sample_weight, "times")[:, 0]
    counted = set(of_rows.tolist())
    distinct = [name for name in (sorted(set(names.values())) if every else names.values()) if name in counted]
    if whens.dtype.kind == "U" and not every:
        checks.require_order("times", distinct)
        distinct = checks.sorted_periods(distinct)
    got = f"{len(distinct)}, such as {' and '.join(dict.fromkeys([distinct[0], distinct[-1]]))}"
    longer, shorter = (
        "Cut dates with every='month', or name longer ones",
        "Cut dates shorter, as by every='day', or pass more rows",
    )
    hint = longer if len(distinct) > 1 else shorter
    checks.require(1 < len(distinct) <= MOST_PERIODS, f"periods must be 2 to {MOST_PERIODS}", got=got, hint=hint)
    return {name: problem.taken(np.flatnonzero(of_rows == name)) for name in distinct}


def _period(when: object, every: str) -> str:
    """Return the name of the period of a date; names of later periods stand later in the alphabet."""
    try:
        day = datetime.fromisoformat(str(when))
        year, week, _ = day.isocalendar()
        month = f"{day.year:04}-{day.month:02}"
    except (ValueError, TypeError):
        must, hint = "times must be dates where they are cut", "Write them as 2024-03-31, or leave every= out"
        checks.refuse(must, value=when, hint=hint)
    return {
        "day": f"{month}-{day.day:02}",
        "week": f"{year:04}-W{week:02}",
        "month": month,
        "quarter": f"{day.year:04}-Q{(day.month + 2) // 3}",
        "year": f"{day.year:04}",
    }[every]


def groups_of(
    columns: Mapping[str, Any], problem: Problem, sample_weight: Any, called: str = "by", *, overlapping: bool = False
) -> Names:
    """Return the names of the groups of each row that counts: what stands in each column, with the name of the column.

    There is a column for each way in which the rows are cut into groups: one, or several where groups are overlapping.
    """
    checks.some(called, columns, "column", hint="Pass the group of each row")
    kept = np.ones(problem.size, dtype=bool) if sample_weight is None else np.ravel(np.asarray(sample_weight)) > 0
    found: list[list[tuple[int, str]]] = []
    must, hint = f"{called} must be one column, or columns by their names", "Pass a dict of columns, or a data frame"
    for name, values in columns.items():
        checks.require((shape := getattr(values, "shape", ()))[1:] in ((), (1,)), must, got=f"shape {shape}", hint=hint)
        group = as_labels(values, f"{called}[{name!r}]" if name else called)
        fits, got = len(group) == kept.size, f"{len(group)} for {kept.size} rows"
        checks.require(fits, f"{called} must have one value for each row", got=got, hint="Pass one a row")
        words = [str(one) for one in group[kept].tolist()]
        checks.require(all(words), f"{called} must name the group of each row", got="an empty text", hint="Name it")
        found.append([(len(found), f"{name} {word}" if name else word) for word in words])
    cuts = [found]
    if overlapping:
        cuts = [[one] for one in found] + [list(pair) for pair in combinations(found, 2)]
    of_rows = [list(zip(*cut, strict=True)) for cut in cuts]
    named = {groups: ", ".join(word for _, word in groups) for cut in of_rows for groups in cut}
    checks.distinct_names("groups", named.values())
    return np.array([[named[groups] for groups in cut] for cut in of_rows]).T


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
            warnings.simplefilter("ignore", checks.CalibrationWarning)
            warnings.simplefilter("ignore", ConvergenceWarning)
            prob = np.concatenate(list(self._of_folds(problem, make)))
        rows = self.of(problem)
        if isinstance(rows, BinaryProblem):
            return replace(rows, score=prob[:, 1], logit=None, precision=_rows.DOUBLE)
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
            checks.require(given == shape, must, got=f"shape {given} in place of {shape}", hint=hint)
            are_rows = bool((prob >= 0.0).all()) and np.allclose(prob.sum(axis=1), 1.0, rtol=0.0, atol=1e-6)
            checks.require(are_rows, must, got="rows that are none", hint=hint)
            yield prob


def maker_of(calibrator: str | Calibrator) -> Callable[[int], Calibrator]:
    """Return what makes a calibrator, not fitted yet, for a number of classes; refuse a word that is none."""
    method = Method.of(calibrator) if isinstance(calibrator, str) else None
    as_calibrator(calibrator if method is None else method.word)
    return method.calibrator if method else partial(calibrator_for, calibrator)


def named_calibrators(calibrators: Any) -> dict[str, str | Calibrator]:
    """Return calibrators by their names: a word is its own name, an object has that of its class."""
    if not isinstance(calibrators, Mapping):
        checks.list_of_names("calibrators", calibrators)
        listed = list(calibrators)
        names = [one if isinstance(one, str) else type(one).__name__ for one in listed]
        checks.distinct_names("calibrators", names)
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
    checks.distinct_names("forecasts and calibrators", names.values())
    sorted_, counts, groups = _in_one_order(list(problems.values()), groups)
    must, hint = "there must be a row for each fold", "Pass more rows, or a smaller n_folds"
    checks.require(counts.sum() >= cv.n_folds, must, got=f"{int(counts.sum())} rows for {cv.n_folds} folds", hint=hint)
    held_out = HeldOut(counts, cv.n_folds, rng)
    made = {word: make(2) for word, make in makers.items()}
    inner = {word: one.calibrator for word, one in made.items() if isinstance(one, SafeCalibrator)}
    made_safe = {word: as_calibrator(one).made_safe for word, one in inner.items() if one is not None}
    of_names = dict(zip(problems, sorted_, strict=True))
    kept = check_memory(os.fspath(cv.memory) if cv.memory else None).cache(_calibrated, ignore=["held_out", "problem"])
    tasks = [(name, word) for name in problems for word in makers]
    calls = (delayed(_tried)(kept, held_out, of_names[name], calibrators[word]) for name, word in tasks)
    done = Parallel(n_jobs=cv.n_jobs, return_as="generator")(calls)
    done = checks.tracked(done, len(tasks), show=cv.progress, desc="calibrators", unit="fit")
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
    # Here copies do not count as one row.
    with warnings.catch_warnings(action="ignore", category=checks.CalibrationWarning):
        distinct = observed(problems[0])
    if distinct.size < problems[0].size:
        checks.warn("the rows must be independent; there are copies, which are in several folds. Pass each row once.")
    # As `in_order` sorts the rows of one forecast: by the label, and by the columns from the first on.
    keys = [key for one in simplex[::-1] for key in (*one.forecast.values.T[::-1], one.label)]
    order = np.lexsort([simplex[0].weight, *([] if groups is None else groups.T), *keys])
    problems = [problem.taken(order) for problem in problems]
    weights = problems[0].weights
    are_counts = weights.are_counts and weights.total < MOST_COUNTS
    counts = weights.values.astype(np.intp) if are_counts else np.ones(order.size, dtype=np.intp)
    return problems, counts, None if groups is None else groups[order]
