"""Parameters as people pass them: words, numbers, errors of four parts; the one warning, progress, scores of one event."""

import re
import reprlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sized
from contextlib import contextmanager
from datetime import timedelta
from decimal import Decimal
from difflib import SequenceMatcher
from typing import Any, Literal, NoReturn, TypeVar

import numpy as np

from calibrant._core import arrays
from calibrant._core.arrays import ArrayLike, NDArray
from calibrant.exceptions import CalibrationWarning as CalibrationWarning
from calibrant.exceptions import warn as warn

# Words as people write them: "ECE", "top_label_ece" and "Top label ECE" are one; and the nearest words to one unknown


SEPARATORS = str.maketrans("", "", "-_ ")

LEAST, MARGIN, MOST_SUGGESTED = 0.6, 0.05, 3
"""A word is near from this likeness on, a fraction; within this margin of the nearest one; and at most so many are named."""


def folded(word: str) -> str:
    """Return a word in small letters, without hyphens, underscores and spaces: what is equal then is one word."""
    return word.casefold().translate(SEPARATORS)


def meant(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that this one spells, in any case and with any separators; None where there is none."""
    wanted = folded(word)
    return next((other for other in known if folded(other) == wanted), None)


def nearest(word: str, known: Iterable[str]) -> list[str]:
    """Return the known words that are nearest, the nearest first."""
    likeness = {other: SequenceMatcher(None, folded(other), folded(word)).ratio() for other in known}
    least = max([LEAST, *(alike - MARGIN for alike in likeness.values())])
    near = (other for other in likeness if likeness[other] >= least)
    return sorted(near, key=lambda other: -likeness[other])[:MOST_SUGGESTED]


def question(near: list[str]) -> str:
    """Return "Did you mean 'ece' or 'mce'?"; empty where nothing is near."""
    return f"Did you mean {' or '.join(map(repr, near))}?" if near else ""


# What parameters and fitted attributes must be: a function for each kind, which gives the value or refuses it in words


Order = Literal["any", "not falling", "rising"]

T = TypeVar("T")

NO_SINGLE_NUMBER = (bool, np.bool_, Decimal)
"""Numbers of an array that are none of a parameter: what is computed with it is a float."""

MOST_DRAWS = 10_000_000
"""Bins, and draws, that may be asked for: more is a mistake that would take days, or all memory."""


def number(
    name: str,
    value: object,
    *,
    least: float = -np.inf,
    most: float = np.inf,
    above: float = -np.inf,
    below: float = np.inf,
    hint: str,
) -> float:
    """Return a finite number within its limits; ``above`` and ``below`` are limits that it must not reach."""
    wanted = f"{name} must be a number{_limits(least, most, above, below)}"
    found = _single(wanted, value, hint)
    require(np.isfinite(found) and least <= found <= most and above < found < below, wanted, value=value, hint=hint)
    return found


def _single(wanted: str, value: object, hint: str) -> float:
    """Return a single number, infinite where it is a whole one beyond all floats."""
    if isinstance(value, NO_SINGLE_NUMBER) or not arrays.is_number(value):
        raise TypeError(f"{wanted}; got {value!r}. {hint}.")
    try:
        return float(value)
    except OverflowError:
        return np.inf


def whole(name: str, value: object, *, least: int, most: float = np.inf, hint: str) -> int:
    """Return a whole number that is at least, and at most, so much."""
    wanted = f"{name} must be a whole number, at least {least}"
    if not arrays.is_whole(value):
        raise TypeError(f"{wanted}; got {value!r}. {hint}.")
    require(value >= least, wanted, value=value, hint=hint)
    require(int(value) <= most, f"{name} must be at most {most}", value=value, hint=hint)
    return int(value)


def resamples(value: object, *, least: int = 1, hint: str) -> int:
    """Return a number of draws, at most `MOST_DRAWS`."""
    return whole("n_resamples", value, least=least, most=MOST_DRAWS, hint=hint)


def fraction(name: str, value: object, *, hint: str) -> float:
    """Return a number between 0 and 1."""
    wanted = f"{name} must be a fraction in (0, 1)"
    found = _single(wanted, value, hint)
    require(0.0 < found < 1.0, wanted, value=value, hint=hint)
    return found


def as_level(level: object) -> float:
    """Return one minus the coverage of intervals."""
    return fraction("level", level, hint="For 95 % intervals pass level=0.05")


def source(name: str, value: object) -> np.random.Generator | int | None:
    """Return a source of randomness: a generator, a seed, or None for a new one."""
    if value is None or isinstance(value, np.random.Generator):
        return value
    return whole(name, value, least=0, hint="Pass a seed such as 0, a numpy.random.Generator, or None")


def flag(name: str, value: object) -> bool:
    """Return True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be True or False; got {value!r}. Pass one of them.")
    return bool(value)


def require(
    holds: object,
    must: str,
    *,
    got: str = "",
    value: object = None,
    given: str = "",
    hint: str,
    error: type[Exception] = ValueError,
) -> None:
    """Refuse what does not hold: what must, what was given (``got`` in words, a ``value``, or a clause), and what to do."""
    if not holds:
        refuse(must, got=got, value=value, given=given, hint=hint, error=error)


def refuse(
    must: str, *, got: str = "", value: object = None, given: str = "", hint: str, error: type[Exception] = ValueError
) -> NoReturn:
    """Raise the error of `require`: where its words exist, or are worth forming, only once something is wrong."""
    raise error(f"{must}; {given or f'got {got or repr(value)}'}. {hint}.") from None


def of_type(name: str, value: object, kinds: type | tuple[type, ...], wanted: str, *, hint: str) -> None:
    """Refuse an object of another type."""
    require(isinstance(value, kinds), f"{name} must be {wanted}", value=value, hint=hint, error=TypeError)


def each(name: str, values: NDArray[Any], fits: NDArray[np.bool_], must: str, *, hint: str) -> None:
    """Refuse numbers of which one does not fit: the message shows the first of these, and its place."""
    if not fits.all():
        at = arrays.first(~fits)
        raise ValueError(f"{name} must {must}; got {values[at]:g} at index {arrays.index(at)}. {hint}.")


def one_each(name: str, values: NDArray[Any], n_classes: int, what: str) -> None:
    """Refuse another shape than that of one number for each class."""
    must = f"{name} must hold a {what} for each of the {n_classes} classes"
    require(values.shape == (n_classes,), must, got=f"shape {values.shape}", hint="Pass them in column order")


def together(*, hint: str = "Pass both, or neither", **given: object) -> bool:
    """Return whether all are given; refuse some without the others."""
    missing = [name for name, value in given.items() if value is None]
    if missing and len(missing) < len(given):
        raise ValueError(f"{' and '.join(given)} must be given together; {' and '.join(missing)} is missing. {hint}.")
    return not missing


def left_out(name: str, value: object, where: str, *, hint: str) -> None:
    """Refuse a parameter that says nothing there."""
    require(value is None, f"{name} must be left out {where}", value=value, hint=hint)


def some(name: str, values: Sized, what: str, *, hint: str) -> None:
    """Refuse an empty collection."""
    if not len(values):
        got = "an empty dict" if isinstance(values, Mapping) else "none"
        raise ValueError(f"{name} must hold at least one {what}; got {got}. {hint}.")


def distinct_names(what: str, names: Iterable[object]) -> None:
    """Refuse names of which two are one text."""
    listed = list(names)
    if len(set(map(str, listed))) < len(listed):
        got = ", ".join(map(repr, listed))
        raise ValueError(f"{what} must have names that differ as text; got {got}. Rename one of them.")


def list_of_names(name: str, value: object) -> None:
    """Refuse one word where a list of words is wanted: it would be read letter by letter."""
    if isinstance(value, str):
        listed = [word.strip() for word in value.split(",")]
        raise TypeError(f"{name} must be a list of names; got the string {value!r}. Pass {listed}.")
    try:
        iter(value)  # type: ignore[call-overload]
    except TypeError:  # also of an array without an axis, which has a method for it
        raise TypeError(f"{name} must be a list of names; got {value!r}. Pass a list.") from None


def no_class(name: str, value: object, *, wanted: str) -> None:
    """Refuse a class where one of its objects is wanted."""
    if isinstance(value, type):
        raise TypeError(f"{name} must be {wanted}; got the class {value.__name__}. Pass {value.__name__}().")


def choice(name: str, value: object, choices: Iterable[str], *, also: str = "", hint: str = "Pass one of them") -> str:
    """Return one of the words; the message names the nearest ones, and ``also`` what may be passed that is no word."""
    known = list(choices)
    if isinstance(value, str) and value in known:
        return value
    wanted = f"{name} must be one of {', '.join(map(repr, known))}{also}; got {value!r}"
    if not isinstance(value, str):
        raise TypeError(f"{wanted}. {hint}.")
    raise ValueError(f"{wanted}. {question(nearest(value, known)) or f'{hint}.'}")


def is_word(value: object, word: str) -> bool:
    """Whether a value is that word; it may be anything, also an array, which compares entry by entry."""
    return isinstance(value, str) and value == word


def are_words(values: Iterable[object]) -> bool:
    """Whether all are words."""
    return all(isinstance(value, str) for value in values)


def by_name(given: Any, name: str = "") -> Mapping[str, Any]:
    """Return things by their names; a single one that has none stands under this one."""
    return given if isinstance(given, Mapping) else {name: given}


def under_word(name: str, value: object, known: Mapping[str, T], *, also: str = "") -> T:
    """Return what stands under a word, however it is spelled: case, hyphens, underscores and spaces do not matter."""
    word = meant(value, known) if isinstance(value, str) else None
    return known[choice(name, value if word is None else word, known, also=also)]


def numbers(
    name: str,
    value: object,
    *,
    shape: tuple[int | None, ...],
    least: float = -np.inf,
    most: float = np.inf,
    order: Order = "any",
    may_be_nan: bool = False,
    fewest: int = 0,
    sum_to_one: bool = False,
) -> NDArray[Any]:
    """Return an array of finite numbers within their limits, of a shape (None is any length), in order along its first axis."""
    if sum_to_one:
        least, most = 0.0, 1.0
    wanted = f"{name} must be numbers{_limits(least, most, -np.inf, np.inf)}{'' if order == 'any' else f', {order}'}"
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "fiu":
        raise TypeError(f"{wanted}; got {getattr(value, 'dtype', type(value).__name__)}. Fit anew.")
    if value.ndim != len(shape) or any(n not in (None, found) for n, found in zip(shape, value.shape, strict=True)):
        lengths = ", ".join("n" if n is None else str(n) for n in shape) + ("," if len(shape) == 1 else "")
        raise ValueError(f"{wanted}, of shape ({lengths}); got shape {value.shape}. Fit anew.")
    fits = np.isfinite(value) & (value >= least) & (value <= most)
    _refuse(wanted, value, fits | np.isnan(value) if may_be_nan else fits)
    if order != "any" and len(value) > 1:
        rises = np.greater if order == "rising" else np.greater_equal
        _refuse(wanted, value[1:], rises(value[1:], value[:-1]), first=1)
    require(len(value) >= fewest, f"{name} must be at least {fewest}", value=len(value), hint="Fit anew")
    if sum_to_one and (off := np.abs((total := np.atleast_1d(value.sum(axis=-1))) - 1.0) > 1e-9).any():
        row = int(np.argmax(off))
        of, place = ("rows of ", f" in row {row}") if value.ndim > 1 else ("", "")
        refuse(f"{of}{name} must sum to one", got=f"{total[row]:.6g}{place}", hint="Fit anew")
    return value


def _refuse(wanted: str, value: NDArray[Any], fits: NDArray[np.bool_], first: int = 0) -> None:
    if not fits.all():
        at = np.unravel_index(int(np.argmin(fits)), fits.shape)
        place = ", ".join(str(i + first * (axis == 0)) for axis, i in enumerate(at))
        raise ValueError(f"{wanted}; got {value[at]} at index {place}. Fit anew.")


def _limits(least: float, most: float, above: float, below: float) -> str:
    limits = [
        f"{word} {limit:g}"
        for word, limit in (("at least", least), ("above", above), ("at most", most), ("below", below))
        if np.isfinite(limit)
    ]
    return f", {' and '.join(limits)}" if limits else ""


# Names of periods, which are in order by what is written


YEAR, DAY, MONTH, SEPARATOR = r"(19|20)\d\d", r"(0?[1-9]|[12]\d|3[01])", "(0?[1-9]|1[0-2])", "[./-]"
WORD = "(jan(uary)?|feb(ruary)?|mar(ch)?|apr(il)?|may|june?|july?|aug(ust)?|sept?(ember)?|oct(ober)?|nov(ember)?|dec(ember)?)"
OUT_OF_ORDER = re.compile(
    rf"({DAY}{SEPARATOR}{MONTH}|{MONTH}{SEPARATOR}{DAY}){SEPARATOR}{YEAR}(\D.*)?|{MONTH}{SEPARATOR}{YEAR}"
    rf"|({DAY}\W*)?{WORD}(\W.*)?|(q[1-4]|[hw]\d\d?)\W+({YEAR}|\d\d)",
    re.IGNORECASE,
)
"""Dates from the day, the month, the week or the quarter on, which are sorted by these before the year."""

FROM_THE_YEAR = re.compile(rf"{YEAR}-\d\d.*")


def numbers_as_such(name: str) -> list[tuple[int, int, str]]:
    """Return what a name is sorted by so that numbers in it count as numbers: day_9 stands before day_10."""
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in re.split(r"(\d+)", name)]


def sorted_periods(names: Iterable[str]) -> list[str]:
    """Return names of periods in the order of time, as far as they tell: numbers by their size, and dates by their text."""
    in_words = sorted(names)  # 01 before 1
    try:
        return sorted(in_words, key=float)
    except ValueError:
        return in_words if all(map(FROM_THE_YEAR.fullmatch, in_words)) else sorted(in_words, key=numbers_as_such)


def require_order(what: str, words: Collection[str]) -> None:
    """Refuse dates whose order as words is not that of time."""
    if words and all(map(OUT_OF_ORDER.fullmatch, words)):
        must = f"{what} must be dates from the year on, or words in the order of time"
        refuse(must, value=min(words), hint="Write them as 2026-01-12, 2026-01 or 2026-Q1")


# Arrays, lists and data frames as finite numbers, or refused. Messages are in four parts, as in `_core/border.py`


def as_numbers(name: str, data: ArrayLike) -> arrays.FloatArray:
    """Arrays, nested lists and data frames as finite float64 of one or two dimensions, copied only where needed."""
    return finite_numbers(name, arrays.as_array(name, data), data)


def finite_numbers(name: str, array: NDArray[Any], data: ArrayLike) -> arrays.FloatArray:
    """Return what ``data`` holds as finite float64."""
    if array.dtype.kind not in (*arrays.NUMERIC, "c"):
        if array.ndim == 0:
            must = f"{name} must hold numbers; got {type(data).__name__}, which is no sequence of them"
            raise TypeError(f"{must}. Pass an array, a list or a data frame.")
        array = _of_objects(name, array)
    if array.dtype.kind == "c":
        refuse(f"{name} must hold real numbers", got=f"dtype {array.dtype}", hint="Complex data not supported")
    if array.ndim not in (1, 2):
        hint = "Reshape your data to (n_samples,) or (n_samples, n_classes)"
        refuse(f"{name} must have one or two dimensions", got=f"shape {array.shape}", hint=hint)
    if array.ndim == 2 and array.shape[1] == 0:  # in the words that scikit-learn's checks ask for
        got = f"0 feature(s) (shape={array.shape}) while a minimum of 1 is required"
        refuse(f"{name} must hold at least one column", got=got, hint="Check how the table was read")
    if array.size == 0:
        refuse(f"{name} must hold at least one row", got=f"shape {array.shape}", hint="Check how the table was read")
    numbers = array.astype(np.float64, copy=False)
    # One pass decides: a sum is finite only if nothing in it is NaN or infinite (overflow is looked at again).
    with np.errstate(over="ignore", invalid="ignore"):
        suspicious = not np.isfinite(numbers.sum())
    if suspicious and not (finite := np.isfinite(numbers)).all():
        where = arrays.first(~finite)
        must = f"{name} must be finite; got {numbers[where]} at index {arrays.index(where)}{arrays.more(~finite)}"
        what = "Drop or correct" if np.isnan(numbers[where]) else "Correct"
        raise ValueError(f"{must}. {what} these rows (NaN and inf are refused, never imputed).")
    return numbers


def _of_objects(name: str, array: NDArray[Any]) -> arrays.FloatArray:
    """Return cells of any type as float64 if each is a real number; the first that is none is refused by its place."""
    cells = array.ravel().tolist() if array.dtype.kind in "OUST" else list(array.ravel())
    strange = np.array([not arrays.is_number(cell) for cell in cells], dtype=bool).reshape(array.shape)
    if strange.any():
        where = arrays.first(strange)
        cell = cells[int(np.argmax(strange))]
        if arrays.absent(cell):
            refuse(
                f"{name} must be finite",
                got=f"a missing value ({cell}) at index {arrays.index(where)}{arrays.more(strange)}",
                hint="Drop or correct these rows (missing values are refused, never imputed)",
            )
        raise TypeError(
            f"{name} must hold numbers; got {reprlib.repr(cell)} ({type(cell).__name__}) at index "
            f"{arrays.index(where)}{arrays.more(strange)}. {_hint_of_cell(cell)}"
        )
    try:
        return array.astype(np.float64)
    except OverflowError:
        refuse(f"{name} must hold numbers up to {np.finfo(float).max:.1g}", got="a larger one", hint="Divide them")


def _hint_of_cell(cell: object) -> str:
    """Say what to do about a cell that is no number."""
    if isinstance(cell, (str, bytes)):
        return "Choose the numeric columns, or convert the text first, as with .astype(float)."
    if isinstance(cell, (timedelta, np.timedelta64)):
        return (
            "Choose the numeric columns, or divide by a unit of time first: np.asarray(times) / np.timedelta64(1, 's')."
        )
    if isinstance(cell, (list, np.ndarray)):
        return "Make a table of lists of one length first: np.stack(column.to_list()), or np.stack(column.to_pylist())."
    try:
        float(cell)  # type: ignore[arg-type]
    except (TypeError, ValueError) as error:  # in Python's words, as scikit-learn's checks ask
        return f"Choose the numeric columns: {error}."
    return "Choose the numeric columns, or convert them first."


# Progress bars: shown where they are asked for and tqdm is installed, else nothing


Advance = Callable[[int], object]
"""Say that so many more units are done."""


@contextmanager
def progress_bar(total: int | None, *, show: bool, desc: str, unit: str) -> Iterator[Advance]:
    """Open a bar of so many units, None if that is not known; it is gone when the block ends, however it ends."""
    try:
        from tqdm import tqdm
    except ImportError:
        show = False
    if not show:
        yield lambda units: None
        return
    with tqdm(total=total, desc=desc, unit=unit, unit_scale=True, leave=False) as bar:
        yield bar.update


def tracked(items: Iterable[T], total: int, *, show: bool, desc: str, unit: str) -> Iterator[T]:
    """Pass the items on, one unit each."""
    with progress_bar(total, show=show, desc=desc, unit=unit) as advance:
        for item in items:
            yield item
            advance(1)


def require_jobs(n_jobs: object) -> None:
    """Refuse a number of processes that is none."""
    must, hint = "n_jobs must be a whole number other than 0, or None", "Pass n_jobs=2, or -1 for all cores"
    require(n_jobs is None or arrays.is_whole(n_jobs), must, value=n_jobs, hint=hint, error=TypeError)
    require(n_jobs != 0, must, value=n_jobs, hint=hint)


EventScore = Callable[[arrays.FloatArray, arrays.FloatArray], arrays.FloatArray]


def squared_error(prob: arrays.FloatArray, outcome: arrays.FloatArray) -> arrays.FloatArray:
    """Squared distance of probability and outcome (Brier)."""
    distance: arrays.FloatArray = prob - outcome
    return distance**2


def event_log_loss(prob: arrays.FloatArray, outcome: arrays.FloatArray) -> arrays.FloatArray:
    """Negative logarithm of the probability of the outcome, raised to 2.2e-16 if it is less (Good)."""
    return arrays.log_cost(np.where(outcome > 0, prob, 1.0 - prob))


SCORES: Mapping[str, EventScore] = {"brier": squared_error, "log": event_log_loss}


def as_event_score(score: str | EventScore) -> EventScore:
    """Return the score of that name, or the function itself."""
    if callable(score):
        return score
    function = "Pass a function of (probability, outcome)"
    return SCORES[choice("score", score, SCORES, also=" or a function", hint=function)]


def score_name(score: str | Callable[..., object]) -> str:
    """Return what a result calls a score."""
    return score if isinstance(score, str) else getattr(score, "__name__", type(score).__name__)


def expected_score(score: EventScore, prob: arrays.FloatArray, rate: arrays.FloatArray) -> arrays.FloatArray:
    """Return the mean score of ``prob`` where the event occurs at ``rate``; an outcome of rate 0 costs nothing.

    Raises
    ------
    ValueError
        If the score does not give one number a row.
    """
    total = np.zeros(prob.shape)
    for outcome, share in ((1.0, rate), (0.0, 1.0 - rate)):
        occurred = share > 0
        total[occurred] += share[occurred] * _costs(score, prob[occurred], outcome)
    return total


def divergence(worse: float, better: float) -> float:
    """Return the difference of two mean scores of which a proper score knows the order; what rounding makes negative is zero.

    Raises
    ------
    ValueError
        If the difference is negative.
    """
    difference = worse - better
    if difference < -1e-9 * max(1.0, abs(worse), abs(better)):
        must = (
            "score must be proper, and the lower the better: on average nothing may do better than the true probability"
        )
        refuse(must, got=f"a divergence of {difference:.3g}", hint="Turn the sign of a score of which higher is better")
    return max(difference, 0.0)


def _costs(score: EventScore, prob: arrays.FloatArray, outcome: float) -> arrays.FloatArray:
    costs = np.asarray(score(prob, np.full(prob.shape, outcome)), dtype=np.float64)
    if costs.shape != prob.shape:
        hint = "It is called with two arrays, the probabilities and the outcomes"
        refuse(f"score must return one value a row, shape {prob.shape}", got=f"shape {costs.shape}", hint=hint)
    if np.isnan(costs).any():
        must, hint = "score must return numbers", "Write 0 log 0 with scipy.special.xlogy, or clip the probability"
        refuse(must, got=f"nan for probability {prob[np.argmax(np.isnan(costs))]:g} and outcome {outcome:g}", hint=hint)
    return costs
