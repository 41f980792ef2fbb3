"""One declaration a thing: it feeds the command line, the documentation tables and the law tests.

A thing declares itself where it is defined, with the `declare` decorator. There is no second list: `entries` imports
the home of a kind, and what stands there is what there is.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Literal, TypeVar

Kind = Literal["metric", "test", "notion", "binning", "simplex-binning", "calibrator"]

HOMES: Mapping[Kind, str] = {
    "metric": "calibrant.metrics",
    "test": "calibrant.significance",
    "notion": "calibrant.notions",
    "binning": "calibrant.binning",
    "simplex-binning": "calibrant.binning.simplex",
    "calibrator": "calibrant.calibrators",
}

GUARANTEES: Mapping[str, str] = {
    "order preserving": "a higher score never gets a lower probability",
    "argmax preserving": "the predicted class never changes",
    "ROC-hull preserving": "on the rows that were fitted, the convex hull of the ROC curve of two classes stays as it is",
    "permutation equivariant": "renaming the classes renames the result",
    "finite log loss": "no class gets probability zero unless the forecast gave it zero",
    "contains the identity": "the family holds the map that changes nothing",
}
"""What a calibrator can promise, and what the promise means. The law tests enforce each promise."""


@dataclass(frozen=True)
class Entry:
    """What is known of one registered thing.

    A metric has a range, whose ends may be infinite, and is one of four things: a ``spelling`` (the keywords of
    `calibration_error` that it stands for), the mean of a ``per_row`` function, the ``size`` of what a ``lens`` sees, or
    else an ``estimate`` that gives value and interval by itself. A ``notion`` is its own, in place of the one that is asked
    for. It is found by the words of ``also`` as well. Where neither low nor high is good it has an ``ideal`` value. A
    calibrator has guarantees. A test is a function of (y_true, y_prob).
    """

    kind: Kind
    name: str
    symbol: str
    source: str
    target: Callable[..., Any]
    range: tuple[float, float] | None = None
    higher_is_better: bool = False
    spelling: Mapping[str, Any] | None = None
    per_row: Callable[..., Any] | None = None
    lens: Callable[..., Any] | None = None
    size: Callable[..., Any] | None = None
    notion: str | None = None
    estimate: Callable[..., Any] | None = None
    also: tuple[str, ...] = ()
    ideal: float | None = None
    may_be_undefined: bool = False
    guarantees: frozenset[str] = field(default_factory=frozenset)

    @property
    def summary(self) -> str:
        """First line of the docstring."""
        return (self.target.__doc__ or "").strip().splitlines()[0]

    @property
    def words(self) -> tuple[str, ...]:
        """All words by which it is found."""
        return (self.name, *self.also)

    @property
    def unit(self) -> str:
        """What a metric is counted in, "%" of one whose range ends at 100."""
        return "%" if self.range == (0.0, 100.0) else ""

    @property
    def own_notion(self) -> Any:
        """The notion of a metric that keeps it, whatever notion is asked for; None of others."""
        return (self.spelling or {}).get("notion", self.notion)

    @property
    def takes_notion(self) -> bool:
        """Whether it is a metric of the notion that is asked for."""
        return self.own_notion is None and "notion" in inspect.signature(self.target).parameters

    @property
    def has_own_bins(self) -> bool:
        """Whether it is a metric that keeps its bins, whatever binning is asked for."""
        return self.spelling is not None and "binning" in self.spelling

    @property
    def takes_binning(self) -> bool:
        """Whether it is a metric over the bins that are asked for."""
        return self.spelling is not None and "binning" not in self.spelling


_ENTRIES: dict[Kind, dict[str, Entry]] = {kind: {} for kind in HOMES}

T = TypeVar("T", bound=Callable[..., Any])


def declare(kind: Kind, name: str, *, symbol: str, source: str, **facts: Any) -> Callable[[T], T]:
    """Register the decorated class or function, so that it is listed, documented and tested.

    Parameters
    ----------
    kind : {"metric", "test", "notion", "binning", "simplex-binning", "calibrator"}
        What it is.
    name : str
        The word that a user types; unique in its kind.
    symbol : str
        Short sign for tables.
    source : str
        The work that it comes from.
    **facts : dict
        For a metric ``range`` and ``spelling``, ``per_row``, ``lens`` and ``size``, or ``estimate``; for a calibrator
        ``guarantees``. See `Entry`.

    Returns
    -------
    callable
        A decorator that returns its argument.
    """

    def register(target: T) -> T:
        if name in _ENTRIES[kind]:
            raise ValueError(f"a {kind} name must be unique; {name!r} is declared twice")
        unknown = set(facts.get("guarantees", ())) - set(GUARANTEES)
        if unknown:
            raise ValueError(f"guarantees must be among {sorted(GUARANTEES)}; {name!r} declares {sorted(unknown)}")
        _ENTRIES[kind][name] = Entry(kind, name, symbol, source, target, **facts)
        return target

    return register


def entries(kind: Kind) -> dict[str, Entry]:
    """Return all things of a kind, in the order of their names.

    Parameters
    ----------
    kind : {"metric", "test", "notion", "binning", "simplex-binning", "calibrator"}
        Which things.

    Returns
    -------
    dict of str to Entry
        What was declared.
    """
    if kind not in tuple(HOMES):  # of a tuple: what is asked for may be of any kind
        raise ValueError(f"kind must be one of {', '.join(map(repr, HOMES))}; got {kind!r}. Pass one of them.")
    home = importlib.import_module(HOMES[kind])
    for module in pkgutil.walk_packages(getattr(home, "__path__", []), f"{home.__name__}."):
        importlib.import_module(module.name)
    return dict(sorted(_ENTRIES[kind].items()))


def find(kind: Kind, name: str) -> Entry:
    """Return the thing of that name, or raise a ValueError that names the nearest ones."""
    if (seen := _ENTRIES[kind].get(name)) is not None:  # without a walk through the package
        return seen
    known = entries(kind)
    if (other := next((entry for entry in known.values() if name in entry.also), None)) is not None:
        return other
    if name not in known:
        near = get_close_matches(name, [word for entry in known.values() for word in entry.words], n=1)
        hint = f"Did you mean {near[0]!r}?" if near else "See `calibrant list`."
        raise ValueError(f"{kind} must be one of {', '.join(map(repr, known))}; got {name!r}. {hint}")
    return known[name]


def named(target: object) -> Entry | None:
    """Return the entry that declares ``target``, or None."""
    return next((e for kind in HOMES for e in _ENTRIES[kind].values() if e.target is target), None)
