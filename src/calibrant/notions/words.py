"""The words by which notions are chosen."""

from __future__ import annotations

from calibrant._problem import BinaryProblem, Problem
from calibrant._registry import find
from calibrant.notions.base import Notion
from calibrant.notions.binary import Binary
from calibrant.notions.predicted import Confidence


def as_notion(notion: str | Notion | None, problem: Problem | None = None) -> Notion:
    """Return the notion of that name; by default ``binary`` for one column of scores and ``confidence`` for more."""
    if isinstance(notion, Notion):
        return notion if problem is None else notion.named_in(problem.classes)
    if notion is None:
        return Binary() if isinstance(problem, BinaryProblem) else Confidence()
    if not isinstance(notion, str):
        raise TypeError(f"notion must be a name or a Notion; got {notion!r}. See `calibrant list notions`.")
    found: Notion = find("notion", notion).target()
    return found
