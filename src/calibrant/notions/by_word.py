"""The words by which notions are chosen."""

from __future__ import annotations

import re

from calibrant._core.parameters import no_class, require
from calibrant._core.problem import BinaryProblem, Problem
from calibrant._core.registry import find
from calibrant._core.spelling import folded
from calibrant.notions.base import Notion
from calibrant.notions.binary import Binary
from calibrant.notions.predicted import Confidence
from calibrant.notions.predicted_pair import of_pair
from calibrant.notions.top_k import TopKConfidence, TopKLabel

TOP_K = re.compile(r"top[-_ ]([0-9]+)[-_ ](confidence|label)", re.IGNORECASE)


def as_notion(
    notion: str | Notion | None, problem: Problem | None = None, *, of_many: str | Notion = "confidence"
) -> Notion:
    """Return the notion of that name; where none is given, the default, which is decided here and nowhere else.

    Two classes have one event: the default is ``binary``, of one column and of two. ``of_many`` is the default of more classes.
    """
    if isinstance(problem, BinaryProblem) and problem.predicted is not None:
        return of_pair(Confidence() if notion is None else as_notion(notion), problem.predicted)
    if notion is None:
        notion = Binary() if problem is not None and problem.classes.size == 2 else of_many
    chosen = notion if isinstance(notion, Notion) else _of_word(notion)
    return chosen if problem is None else chosen.fitted_to(problem)


def _of_word(notion: str) -> Notion:
    no_class("notion", notion, wanted="a name or a Notion")
    require(
        isinstance(notion, str),
        "notion must be a name or a Notion",
        value=notion,
        hint="See `calibrant list notions`",
        error=TypeError,
    )
    if top := TOP_K.fullmatch(notion):
        k = int(top[1])
        return TopKConfidence(k) if top[2].lower() == "confidence" else TopKLabel(k)
    require(
        folded(notion) != "canonical",
        "notion must make binary problems of a forecast",
        got=f"{notion!r}, which speaks of whole rows",
        hint="Measure with canonical_calibration_error, calibrate with CanonicalBinning",
    )
    try:
        entry = find("notion", notion)
    except ValueError as error:
        raise ValueError(f"{error} For the k of 'top-k-label' write a number, as in 'top-3-label'.") from None
    found: Notion = entry.target()
    return found
