"""The problems that calibrators are fitted to: of one score, and of predictions that are read in batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from calibrant._core import links
from calibrant._core.in_batches import InBatches
from calibrant._core.parameters import require
from calibrant._core.problem import BinaryProblem, Problem
from calibrant._core.validation import Input
from calibrant.notions import Binary
from calibrant.sums.row_sample import SAMPLED

SAMPLE_FITTED = (
    "rows = predictions.sample(100_000), and pass labels=rows['labels'] to the calibrator and rows['y_prob'], rows['y_true'], "
    "rows.get('sample_weight') to fit"
)
"""How a sample is fitted: the arguments of ``fit`` are not those of a function."""


def with_scores_of_logits(problem: BinaryProblem) -> BinaryProblem:
    """Return the problem with scores made of its log-odds, as those of new rows are: rounding must not part the two."""
    return problem if problem.logit is None else replace(problem, score=links.score_of_logit(problem.logit))


def one_score(problem: Problem) -> BinaryProblem:
    """Return a problem of two classes as one of the score of the second; log-odds are made of both columns."""
    if isinstance(problem, BinaryProblem):
        return problem
    forecast = problem.forecast
    binary = replace(next(Binary().split(problem)), logit=forecast.log_odds)
    return with_scores_of_logits(binary) if forecast.is_logit else binary


def problem_of_batches(
    predictions: InBatches, *beside: object, input: Input, labels: Sequence[Any] | None
) -> tuple[Problem, int]:
    """Return the problem of predictions that are read in batches, and its number of columns.

    ``beside`` are labels and weights, which must not be given; ``input`` and ``labels`` must be those of the predictions.
    """
    require(
        all(one is None for one in beside),
        "y and sample_weight must be left out beside predictions that are read in batches",
        got="both",
        hint="Say them where they are made: calibrant.predictions(...)",
        error=TypeError,
    )
    problem = predictions.as_problem()
    some = problem.example
    if isinstance(some, BinaryProblem):
        is_logit, n_columns = some.logit is not None, 1
    else:
        is_logit, n_columns = some.forecast.is_logit, some.forecast.shape[1]
    require(
        is_logit == (input == "logit"),
        "input must be that of the predictions",
        got=f"{input!r} for {'logits' if is_logit else 'probabilities'}",
        hint=f"Pass input={'logit' if is_logit else 'probability'!r}",
    )
    require(
        labels is None or list(labels) == problem.classes.tolist(),
        f"labels must be those of the predictions, {problem.classes.tolist()}",
        value=labels,
        hint="Leave them out",
    )
    return problem, n_columns


def say_how_to_fit(error: BaseException) -> None:
    """Let an error that says how a function takes a sample say how a fit does."""
    error.args = tuple(said.replace(SAMPLED, SAMPLE_FITTED) if isinstance(said, str) else said for said in error.args)
