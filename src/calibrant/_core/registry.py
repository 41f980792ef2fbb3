"""One declaration a thing: it feeds the command line, the documentation tables and the law tests.

A thing declares itself where it is defined, with the `declare` decorator, a metric with that of its `Metric`. There is no
second list: `entries` imports the home of a kind, and what stands there is what there is.
"""

import importlib
import pkgutil
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeVar

from calibrant._core.checks import folded, meant, nearest, question, refuse

Kind = Literal["metric", "test", "notion", "binning", "simplex-binning", "calibrator"]

HOMES: Mapping[Kind, str] = {
    "metric": "calibrant.metrics",
    "test": "calibrant.significance",
    "notion": "calibrant.notions",
    "binning": "calibrant.binning",
    "simplex-binning": "calibrant.binning.cells",
    "calibrator": "calibrant.calibrators",
}

WORDS: Mapping[str, str] = {
    "adaptive": "equal-mass",
    "equal-frequency": "equal-mass",
    "quantile": "equal-mass",
    "uniform": "equal-width",
}
"""Words of other packages for binnings, and ours."""

ORDER, ARGMAX, HULL = "order preserving", "argmax preserving", "ROC-hull preserving"
PERMUTED, FINITE, IDENTITY = "permutation equivariant", "finite log loss", "contains the identity"

GUARANTEES: Mapping[str, str] = {
    ORDER: "a higher score never gets a lower probability",
    ARGMAX: "the predicted class never changes",
    HULL: "on the rows that were fitted, the convex hull of the ROC curve of two classes stays as it is",
    PERMUTED: "renaming the classes renames the result",
    FINITE: "no class gets probability zero unless the forecast gave it zero",
    IDENTITY: "the family holds the map that changes nothing",
}
"""What a calibrator can promise, and what the promise means. The law tests enforce each promise."""


@dataclass(frozen=True, eq=False)
class Entry:
    """What is known of one registered thing.

    It is found by its name and by the words of ``also``. The ``target`` is what was declared: a class, or a function of
    (y_true, y_prob). Only a calibrator has guarantees. What else there is to know of a metric stands in `Metric`.
    """

    kind: Kind
    name: str
    symbol: str
    source: str
    target: Callable[..., Any]
    also: tuple[str, ...] = ()
    guarantees: frozenset[str] = field(default_factory=frozenset)

    @cached_property
    def summary(self) -> str:
        """First line of the docstring."""
        return (self.target.__doc__ or "").strip().partition("\n")[0]

    @cached_property
    def words(self) -> tuple[str, ...]:
        """All words that are declared for it."""
        return (self.name, *self.also)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """What else it is found by: the name of its function or class, and its symbol."""
        return (getattr(self.target, "__name__", self.name), self.symbol)

    def word_for(self, asked: str) -> str:
        """Return the declared word that was asked for, however it was spelled; its name where that was none of them."""
        return asked if asked in self.words else meant(asked, self.words) or self.name


_ENTRIES: dict[Kind, dict[str, Entry]] = {kind: {} for kind in HOMES}

T = TypeVar("T", bound=Callable[..., Any])


def register(entry: Entry) -> None:
    """Add a thing to the registry."""
    if entry.name in _ENTRIES[entry.kind]:
        raise ValueError(f"a {entry.kind} name must be unique; {entry.name!r} is declared twice")
    if unknown := set(entry.guarantees) - set(GUARANTEES):
        raise ValueError(f"guarantees must be among {sorted(GUARANTEES)}; {entry.name!r} declares {sorted(unknown)}")
    _ENTRIES[entry.kind][entry.name] = entry


def declare(
    kind: Kind,
    name: str,
    *,
    symbol: str,
    source: str,
    also: Sequence[str] = (),
    guarantees: Collection[str] = frozenset(),
) -> Callable[[T], T]:
    """Register the decorated class or function, so that it is listed, documented and tested.

    Parameters
    ----------
    kind : {"test", "notion", "binning", "simplex-binning", "calibrator"}
        What it is. A metric says more of itself: it is an object that registers its function, see docs/extending.md.
    name : str
        The word that a user types; unique in its kind.
    symbol : str
        Short sign for tables.
    source : str
        The work that it comes from.
    also : sequence of str, default=()
        Other words by which it is found.
    guarantees : collection of str, default=frozenset()
        What a calibrator promises, among `GUARANTEES`.

    Returns
    -------
    callable
        A decorator that returns its argument.

    Raises
    ------
    ValueError
        If the kind is "metric", the name is taken, or a guarantee is none.
    """
    if kind == "metric":
        hint = "Make a MeanOfRows, ThroughLens or Own of calibrant.metrics, and decorate the function with its declare"
        refuse("kind must be one whose function says all", got=f"'metric' for {name!r}", hint=hint)

    def register_target(target: T) -> T:
        register(Entry(kind, name, symbol, source, target, tuple(also), frozenset(guarantees)))
        return target

    return register_target


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
    if not isinstance(kind, str) or kind not in HOMES:
        raise ValueError(f"kind must be one of {', '.join(map(repr, HOMES))}; got {kind!r}. Pass one of them.")
    home = importlib.import_module(HOMES[kind])
    for module in pkgutil.walk_packages(getattr(home, "__path__", []), f"{home.__name__}."):
        importlib.import_module(module.name)
    return dict(sorted(_ENTRIES[kind].items()))


def find(kind: Kind, name: str) -> Entry:
    """Return the thing of that name, or raise a ValueError that names the nearest ones.

    It is found by its words, by the name of its function or class, and by its symbol, in any case; hyphens, underscores and
    spaces are alike.
    """
    if not isinstance(name, str):
        raise TypeError(f"{kind} must be a word; got {name!r}. See `calibrant list {kind}s`.")
    if (seen := _ENTRIES[kind].get(name)) is not None:  # without a walk through the package
        return seen
    known, asked = entries(kind), folded(name)
    for entry in known.values():
        if asked in map(folded, (*entry.words, *entry.names)):
            return entry
    words = {word: entry.name for entry in known.values() for word in (*entry.words, entry.names[0])}
    theirs = meant(name, WORDS)
    near = [WORDS[theirs]] if theirs and WORDS[theirs] in known else nearest(name, words)
    first = {words[word]: word for word in reversed(near)}  # of each thing the nearest word
    hint = question(list(first.values())[::-1]) or "See `calibrant list`."
    raise ValueError(f"{kind} must be one of {', '.join(map(repr, known))}; got {name!r}. {hint}")


def named(target: object) -> Entry | None:
    """Return the entry that declares ``target``, or None."""
    return next((e for kind in HOMES for e in _ENTRIES[kind].values() if e.target is target), None)
