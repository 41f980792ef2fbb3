"""What parameters and fitted attributes must be: a function for each kind, which gives the value or refuses it in words.

Each message has four parts: what must hold, what was given, where, and what to do. A check that concerns one function alone
is a call of `require` there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sized
from decimal import Decimal
from typing import Any, Literal, NoReturn, TypeVar

import numpy as np
import numpy.typing as npt

from calibrant._core.arrays import first, index, is_number, is_whole
from calibrant._core.spelling import meant, nearest, question

Order = Literal["any", "not falling", "rising"]

T = TypeVar("T")

NO_SINGLE_NUMBER = (bool, np.bool_, Decimal)
"""Numbers of an array that are none of a parameter: what is computed with it is a float."""

MOST = 10_000_000
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
    if isinstance(value, NO_SINGLE_NUMBER) or not is_number(value):
        raise TypeError(f"{name} must be a number{_limits(least, most, above, below)}; got {value!r}. {hint}.")
    try:
        found = float(value)
    except OverflowError:  # a whole number beyond all floats
        found = np.inf
    if not (np.isfinite(found) and least <= found <= most and above < found < below):
        raise ValueError(f"{name} must be a number{_limits(least, most, above, below)}; got {value!r}. {hint}.")
    return found


def whole(name: str, value: object, *, least: int, most: float = np.inf, hint: str) -> int:
    """Return a whole number that is at least, and at most, so much."""
    if not is_whole(value):
        raise TypeError(f"{name} must be a whole number, at least {least}; got {value!r}. {hint}.")
    if value < least:
        raise ValueError(f"{name} must be a whole number, at least {least}; got {value!r}. {hint}.")
    if int(value) > most:
        raise ValueError(f"{name} must be at most {most}; got {value!r}. {hint}.")
    return int(value)


def resamples(value: object, *, least: int = 1, hint: str) -> int:
    """Return a number of draws, and none that would never end."""
    return whole("n_resamples", value, least=least, most=MOST, hint=hint)


def fraction(name: str, value: object, *, hint: str) -> float:
    """Return a number between 0 and 1."""
    if isinstance(value, NO_SINGLE_NUMBER) or not is_number(value):
        raise TypeError(f"{name} must be a fraction in (0, 1); got {value!r}. {hint}.")
    if not 0.0 < float(value) < 1.0:
        raise ValueError(f"{name} must be a fraction in (0, 1); got {value!r}. {hint}.")
    return float(value)


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


def each(name: str, values: npt.NDArray[Any], fits: npt.NDArray[np.bool_], must: str, *, hint: str) -> None:
    """Refuse numbers of which one does not fit: the message shows the first of these, and its place."""
    if not fits.all():
        at = first(~fits)
        raise ValueError(f"{name} must {must}; got {values[at]:g} at index {index(at)}. {hint}.")


def one_each(name: str, values: npt.NDArray[Any], n_classes: int, what: str) -> None:
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
        raise TypeError(f"{name} must be a list of names; got the string {value!r}. Pass [{value!r}].")
    if not isinstance(value, Iterable):
        raise TypeError(f"{name} must be a list of names; got {value!r}. Pass a list.")


def no_class(name: str, value: object, *, wanted: str) -> None:
    """Refuse a class where one of its objects is wanted."""
    if isinstance(value, type):
        raise TypeError(f"{name} must be {wanted}; got the class {value.__name__}. Pass {value.__name__}().")


def choice(name: str, value: object, choices: Iterable[str], *, also: str = "", hint: str = "Pass one of them") -> str:
    """Return one of the words; the message names the nearest ones, and ``also`` what may be passed that is no word."""
    known = list(choices)
    wanted = f"{name} must be one of {', '.join(map(repr, known))}{also}; got {value!r}"
    if not isinstance(value, str):
        raise TypeError(f"{wanted}. {hint}.")
    if value not in known:
        raise ValueError(f"{wanted}. {question(nearest(value, known)) or f'{hint}.'}")
    return value


def is_word(value: object, word: str) -> bool:
    """Whether a value is that word; it may be anything, also an array, which compares entry by entry."""
    return isinstance(value, str) and value == word


def under_word(
    name: str, value: object, known: Mapping[str, T], *, also: str = "", hint: str = "Pass one of them"
) -> T:
    """Return what stands under a word, however it is spelled: case, hyphens, underscores and spaces do not matter."""
    word = meant(value, known) if isinstance(value, str) else None
    return known[choice(name, value if word is None else word, known, also=also, hint=hint)]


def numbers(
    name: str,
    value: object,
    *,
    shape: tuple[int | None, ...],
    least: float = -np.inf,
    most: float = np.inf,
    order: Order = "any",
    may_be_nan: bool = False,
) -> npt.NDArray[Any]:
    """Return an array of finite numbers within their limits, of a shape (None is any length), in order along its first axis."""
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
    return value


def _refuse(wanted: str, value: npt.NDArray[Any], fits: npt.NDArray[np.bool_], first: int = 0) -> None:
    if not fits.all():
        at = np.unravel_index(int(np.argmin(fits)), fits.shape)
        place = ", ".join(str(i + first * (axis == 0)) for axis, i in enumerate(at))
        raise ValueError(f"{wanted}; got {value[at]} at index {place}. Fit anew.")


def shares(name: str, value: object, *, size: int | None = None) -> npt.NDArray[Any]:
    """Return numbers that are not negative and sum to one."""
    found = numbers(name, value, shape=(size,), least=0.0, most=1.0)
    if not abs(float(found.sum()) - 1.0) <= 1e-9:
        raise ValueError(f"{name} must sum to one; got {found.sum():.6g}. Fit anew.")
    return found


def forecasts(name: str, value: object, *, shape: tuple[int, int]) -> npt.NDArray[Any]:
    """Return rows of probabilities that sum to one."""
    found = numbers(name, value, shape=shape, least=0.0, most=1.0)
    off = np.abs(found.sum(axis=1) - 1.0)
    if not (off <= 1e-9).all():
        row = int(np.argmax(off))
        raise ValueError(f"rows of {name} must sum to one; got {found[row].sum():.6g} in row {row}. Fit anew.")
    return found


def _limits(least: float, most: float, above: float, below: float) -> str:
    limits = [
        f"{word} {limit:g}"
        for word, limit in (("at least", least), ("above", above), ("at most", most), ("below", below))
        if np.isfinite(limit)
    ]
    return f", {' and '.join(limits)}" if limits else ""
