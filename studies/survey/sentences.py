"""Sentences of evidence on the survey's figures 13 to 20, from numbers alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from studies.claims import Verdict
from studies.survey.cases import change, less, show
from studies.survey.judges import Draws, left, rises

Words = Callable[..., str]


ONLY_FOR_THE_CAP = "three quick networks, only for the cap"
"""What there is of networks of three classes with a standard deviation of 8."""


def spelt(name: str) -> str:
    """Return the name of a case in full."""
    return "neural network" if name == "mlp" else name


def each(shown: Mapping[str, str]) -> str:
    """Return a figure for each case."""
    return "; ".join(f"{figure} ({spelt(name)})" for name, figure in shown.items())


def from_to(before: float, after: Draws) -> str:
    """Return an error without and with calibration."""
    return f"E abs(S - C) from {before:.4f} to {show(after)}"


def from_to_in_each(cases: Mapping[str, Mapping[str, Any]]) -> str:
    """Return an error without and with calibration in each case."""
    return "E abs(S - C) from " + each({n: f"{of['before']:.4f} to {show(of['after'])}" for n, of in cases.items()})


def how_much_is_left(before: float, after: Draws) -> str:
    """Return an error without and with calibration, and what share is left."""
    return f"{from_to(before, after)}: {show(left(before, after), 1, 100)} % is left"


def near_the_diagonal(before: float, after: Draws, near: Draws) -> str:
    """Return an error, and the share of predictions that are close to the diagonal."""
    return f"{from_to(before, after)}; {100 * sum(near) / len(near):.0f} % of the predictions are close"


def in_words(words: Words) -> Words:
    """Return the sentences of several cases."""
    return lambda cases: "; ".join(f"{spelt(name)}: {words(**of)}" for name, of in cases.items())


def of_networks(words: Words) -> Words:
    """Return the sentences of the networks."""

    def of(networks: Sequence[Mapping[str, Any]]) -> str:
        said = "; ".join(words(**one) for one in networks)
        return (
            f"on one network, which does not decide it, {said}"
            if len(networks) == 1
            else f"{len(networks)} networks: {said}"
        )

    return of


def of_worlds(words: Words) -> Words:
    """Return the sentences of the networks of both worlds."""

    def of(worlds: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
        return "; ".join(f"with 8 as a {name}: {seen(networks)}" for name, networks in worlds.items())

    def seen(networks: Sequence[Mapping[str, Any]]) -> str:
        return of_networks(words)(networks) if networks else ONLY_FOR_THE_CAP

    return of


def exchanged(before: Mapping[str, float], after: Mapping[str, Draws]) -> str:
    """Return calibration loss and grouping loss without and with calibration."""
    parts = (f"{word} loss {1000 * before[word]:.3f} to {show(after[word], 3, 1000)}" for word in before)
    return ", ".join(parts) + ", both x 1000"


def extent(counts: Sequence[int]) -> str:
    """Return the lowest and the highest of some numbers."""
    return str(min(counts)) if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"


def region_by_region(before: Sequence[float], after: Sequence[Draws]) -> str:
    """Return in how many tenths of [0, 1] an error rises."""
    worse = [
        f"[{k / 10:g}, {(k + 1) / 10:g}]"
        for k, (b, a) in enumerate(zip(before, after, strict=True))
        if rises(b, a) is Verdict.HOLDS
    ]
    return f"worse in {len(worse)} of {len(before)} regions{': ' if worse else ''}{', '.join(worse)}"


def compared(one: Draws, other: Draws, first: str, second: str, digits: int = 4) -> str:
    """Return two figures and the difference of pairs."""
    difference = change(less(one, other), digits)
    return f"{show(one, digits)} ({first}), {show(other, digits)} ({second}), difference {difference}"
