"""Laws of what a call returns: finite or explained, within its range, probabilities where they are promised."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

import numpy as np

from calibrant._core.lazy import load
from calibrant.metrics.kinds import Metric, metrics
from tools.fuzz.cases import Case

OTHER_RANGE = re.compile(r"\b(score|norm|loss|distance|across)=")
"""Options that change the unit of a metric."""

CLOSE = {"rtol": 1e-8, "atol": 1e-10}


def broken_by(case: Case, value: Any, said: list[str]) -> list[str]:
    """Return which laws a value breaks, of which ``said`` was warned."""
    faults = []
    documented = _documents(load(case.name))
    for path, number, owners in _numbers(value):
        if not np.isfinite(number).all() and not said and not (documented or any(map(_documents, owners))):
            kind = "NaN" if np.isnan(number).any() else "infinite"
            faults.append(f"{kind} in silence at {re.sub('[0-9]+', '', path) or 'the value'}")
    if (
        isinstance(value, float)
        and (entry := _metrics().get(case.name))
        and np.isfinite(value)
        and not OTHER_RANGE.search(case.call)
    ):
        low, high = entry.range
        if not low <= value <= high * (1 + 1e-12):
            faults.append(f"{value!r} is outside of its range, [{low}, {high}]")
    if ".predict_proba(" in case.call and "normalize=False" not in case.call:
        faults += _of_probabilities(value)
    return list(dict.fromkeys(faults))


def _of_probabilities(prob: Any) -> list[str]:
    if not isinstance(prob, np.ndarray) or prob.ndim != 2 or prob.dtype != np.float64:
        return [f"predict_proba must give a table of float64; got {type(prob).__name__}"]
    off = np.abs(prob.sum(axis=1) - 1).max(initial=0)
    inside = prob.min(initial=0) >= 0 and prob.max(initial=1) <= 1
    return (
        []
        if inside and off < 1e-9 and np.isfinite(prob).all()
        else [f"no probabilities: sums off by {off:g}, in [{prob.min()}, {prob.max()}]"]
    )


@cache
def _metrics() -> dict[str, Metric]:
    return {metric.target.__name__: metric for metric in metrics()}


@cache
def _documents(target: Any) -> bool:
    """Whether the documentation of a function, or of a class and its bases, speaks of values that are not finite."""
    texts = (inspect.getdoc(one) or "" for one in (target.__mro__ if inspect.isclass(target) else (target,)))
    return any(re.search(r"\bNaN\b|\bnan\b|infinit|\binf\b|undefined", text) for text in texts)


def _numbers(value: Any, path: str = "", owners: tuple[type, ...] = ()) -> Iterator[tuple[str, Any, tuple[type, ...]]]:
    """Yield each number or array of numbers in a result, where it stands, and the classes around it."""
    if isinstance(value, (float, np.floating)) or (isinstance(value, np.ndarray) and value.dtype.kind == "f"):
        yield path, np.asarray(value), owners
    elif is_dataclass(value) and not isinstance(value, type):
        for one in fields(value):
            yield from _numbers(getattr(value, one.name), f"{path}.{one.name}", (*owners, type(value)))
    elif isinstance(value, dict):
        for key, one in value.items():
            yield from _numbers(one, f"{path}[{key!r}]", owners)
    elif isinstance(value, (list, tuple)):
        for k, one in enumerate(value):
            yield from _numbers(one, f"{path}[{k}]", owners)


def alike(a: Any, b: Any, *, exact: bool) -> bool:
    """Whether two results hold the same numbers, bit for bit or but for rounding."""
    if type(a) is not type(b):
        return False
    first, second = ([(path, np.asarray(v)) for path, v, _ in _numbers(one)] for one in (a, b))
    if [(path, v.shape) for path, v in first] != [(path, v.shape) for path, v in second]:
        return False
    pairs = zip(first, second, strict=True)
    if exact:
        return all(np.array_equal(v, w, equal_nan=True) for (_, v), (_, w) in pairs)
    return all(np.allclose(v, w, equal_nan=True, **CLOSE) for (_, v), (_, w) in pairs)
