"""What of a paper is in the library: each section, definition, algorithm, figure and table, and where it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from studies.markdown import table


class State(StrEnum):
    """How far a part of a paper is run here."""

    DONE = "done"
    IN_FORM = "same experiment, other data"
    NOT_YET = "not yet"
    LEFT_OUT = "left out on purpose"
    NOT_POSSIBLE = "not possible"


@dataclass(frozen=True)
class Item:
    """A part of a paper.

    Attributes
    ----------
    where : str
        Its place, such as "Definition 1" or "Fig. 3".
    what : str
        What it is, in a few words.
    name : str
        Public names of calibrant in backticks, or where it is run.
    state : State
        How far.
    why : str, default=""
        What differs, or why it is not done. Needed unless it is done.
    """

    where: str
    what: str
    name: str
    state: State
    why: str = ""

    def __post_init__(self) -> None:
        if self.state is not State.DONE and not self.why:
            raise ValueError(f"{self.where}: a part that is {self.state!s} says why; got nothing. Pass why=.")


def coverage_table(items: Iterable[Item]) -> str:
    """Return the parts as markdown."""
    body = [
        [item.where, item.what, item.name, f"**{item.state!s}**" + (f": {item.why}" if item.why else "")]
        for item in items
    ]
    return table(["where", "what", "in calibrant", "state"], body)


def counts(items: Iterable[Item]) -> dict[State, int]:
    """Return how many parts are in each state."""
    found = Counter(item.state for item in items)
    return {state: found[state] for state in State}
