"""How contenders are timed: in turns, so that what else the machine does falls on all of them alike."""

import os
import platform
import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Self

OURS = "calibrant"
NAMES = {"numpy_lines": "NumPy lines", "torch": "torch lines", "pycalib": "PyCalib", "scikit_learn": "scikit-learn"}
NAMES |= {"venn_abers": "venn-abers"}
"""What modules of benchmarks/peers are called, where it is not their name."""


@dataclass(frozen=True)
class Contender:
    """A line of the table: ``benchmarks.peers.<module>.<function>``."""

    name: str
    module: str
    function: str

    def prepare(self, *data: Any) -> Callable[[], float]:
        """Import the peer and return the call that is measured; ImportError where it is not installed."""
        prepared: Callable[[], float] = getattr(import_module(f"benchmarks.peers.{self.module}"), self.function)(*data)
        return prepared


def contenders(function: str, *peers: str | Contender) -> tuple[Contender, ...]:
    """calibrant's function, and that of the same name of each peer; ``peer.function`` where it is another."""
    found = [Contender(OURS, "calibrant", function)]
    for peer in peers:
        if isinstance(peer, Contender):
            found.append(peer)
            continue
        module, _, named = peer.partition(".")
        found.append(Contender(NAMES.get(module, module), module, named or function))
    return tuple(found)


@dataclass(frozen=True)
class Timing:
    """Seconds of each round, and what the first call returned: one number, or an array of several."""

    result: Any
    seconds: list[float]

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    def ratio(self, ours: Self) -> str:
        """How many times as long as ours: median over the rounds, and the range."""
        ratios = [theirs / mine for theirs, mine in zip(self.seconds, ours.seconds, strict=True)]
        return f"{statistics.median(ratios):.1f} ({min(ratios):.1f} to {max(ratios):.1f})"


def installed(contenders: Sequence[Contender], *data: Any) -> tuple[dict[str, Callable[[], float]], list[str]]:
    """The prepared calls by name, and a line for each contender that cannot be imported."""
    calls, skipped = {}, []
    for contender in contenders:
        try:
            calls[contender.name] = contender.prepare(*data)
        except ImportError as error:
            if contender.module == OURS:
                raise
            skipped.append(f"{contender.name}: skipped, {str(error).partition(' (/')[0]}")  # not where it lies
    return calls, skipped


def interleaved(calls: Mapping[str, Callable[[], float]], rounds: int, *, warm_up: bool = True) -> dict[str, Timing]:
    """One warm-up of each, if wanted, then A B C A B C ..."""
    timings = {name: Timing(call(), []) for name, call in calls.items()} if warm_up else {}
    for _ in range(rounds):
        for name, call in calls.items():
            start = time.perf_counter()
            result = call()
            seconds = time.perf_counter() - start
            timings.setdefault(name, Timing(result, [])).seconds.append(seconds)
    return timings


def spelled(seconds: float) -> str:
    """A time in the unit that suits it, to three digits."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{three_digits(seconds / size)} {unit}"
    return f"{three_digits(seconds / 1e-6)} µs"


def verdict(seconds: float, most: float) -> str:
    """Whether a time is what was asked for, in words."""
    return f"{spelled(seconds)} (asked for: under {spelled(most)}; {'met' if seconds < most else '**missed**'})"


def markdown(head: Iterable[str], lines: Iterable[Sequence[str]]) -> str:
    """A table."""
    rows = [list(head), *lines]
    text = ["|" + "|".join(f" {cell} " if cell else " " for cell in row) + "|" for row in rows]
    return "\n".join([text[0], "|---" * len(rows[0]) + "|", *text[1:]])


def three_digits(number: float) -> str:
    """A number to three digits, and all digits of a larger one."""
    return f"{number:.0f}" if number >= 100 else f"{number:.3g}"


def machine(packages: Iterable[str]) -> str:
    """The system and the versions of what was measured."""
    versions = ", ".join(f"{name} {_version(name)}" for name in packages)
    system = f"{platform.system()} on {platform.machine()}, {os.cpu_count()} CPUs, Python {platform.python_version()}"
    return f"{system}; {versions}"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
