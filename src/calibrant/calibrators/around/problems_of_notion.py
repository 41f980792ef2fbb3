"""The binary problems of a notion as calibrators are fitted to them: with the log-odds of what was given as logits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import islice

import numpy as np

from calibrant._core import links
from calibrant._core.links import FloatArray
from calibrant._core.problem import BinaryProblem, Forecast, Problem, SimplexProblem, as_simplex
from calibrant.calibrators.problems import with_scores_of_logits
from calibrant.notions import Notion
from calibrant.sums.unread import UnreadSimplex
from calibrant.sums.unread_part import UnreadPart


def problems_of(notion: Notion, simplex: SimplexProblem) -> Iterator[BinaryProblem]:
    """Yield the problems of a notion, of rows in memory or read in batches."""
    if isinstance(simplex, UnreadSimplex):
        for index in range(notion.n_parts(simplex)):
            yield UnreadPart(simplex, notion, index, partial(_problem_of_batch, notion, index))
        return
    if (log_odds := log_odds_of(simplex.forecast)) is None:
        yield from notion.split(simplex)
        return
    for part, binary in zip(notion.parts(simplex.prob), notion.split(simplex), strict=True):
        yield with_scores_of_logits(replace(binary, logit=part.scores(log_odds)))


def _problem_of_batch(notion: Notion, index: int, batch: Problem) -> BinaryProblem:
    return next(islice(problems_of(notion, as_simplex(batch)), index, None))


def log_odds_of(forecast: Forecast) -> FloatArray | None:
    """Return the log-odds of each class against the rest, where the forecast was given as logits."""
    return links.log_odds_of_logits(forecast.values) if forecast.is_logit else None


def as_one_problem(problems: list[BinaryProblem]) -> BinaryProblem:
    """Return the rows of all problems as one problem."""
    logits = [problem.logit for problem in problems if problem.logit is not None]
    return BinaryProblem(
        score=np.concatenate([problem.score for problem in problems]),
        outcome=np.concatenate([problem.outcome for problem in problems]),
        weights=problems[0].weights.like(np.concatenate([problem.weight for problem in problems])),
        name="all problems",
        logit=np.concatenate(logits) if logits else None,
    )
