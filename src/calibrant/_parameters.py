"""What parameters must be: a function for each kind, which gives the value or refuses it in words."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral, Real

import numpy as np


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
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number{_limits(least, most, above, below)}; got {value!r}. {hint}.")
    try:
        found = float(value)
    except OverflowError:  # a whole number beyond all floats
        found = np.inf
    if not (np.isfinite(found) and least <= found <= most and above < found < below):
        raise ValueError(f"{name} must be a number{_limits(least, most, above, below)}; got {value!r}. {hint}.")
    return found


def whole(name: str, value: object, *, least: int, hint: str) -> int:
    """Return a whole number that is at least so much."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be a whole number, at least {least}; got {value!r}. {hint}.")
    if value < least:
        raise ValueError(f"{name} must be a whole number, at least {least}; got {value!r}. {hint}.")
    return int(value)


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


def no_class(name: str, value: object, *, wanted: str) -> None:
    """Refuse a class where one of its objects is wanted."""
    if isinstance(value, type):
        raise TypeError(f"{name} must be {wanted}; got the class {value.__name__}. Pass {value.__name__}().")


def choice(name: str, value: object, choices: Iterable[str]) -> str:
    """Return one of the words."""
    known = list(choices)
    wanted = f"{name} must be one of {', '.join(map(repr, known))}; got {value!r}. Pass one of them."
    if not isinstance(value, str):
        raise TypeError(wanted)
    if value not in known:
        raise ValueError(wanted)
    return value


def _limits(least: float, most: float, above: float, below: float) -> str:
    limits = [
        f"{word} {limit:g}"
        for word, limit in (("at least", least), ("above", above), ("at most", most), ("below", below))
        if np.isfinite(limit)
    ]
    return f", {' and '.join(limits)}" if limits else ""
