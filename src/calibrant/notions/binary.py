"""The event of two classes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from calibrant._core.links import FloatArray, score_of_logit
from calibrant._core.parameters import require
from calibrant._core.problem import BinaryProblem, Problem
from calibrant._core.registry import declare
from calibrant.notions.base import Notion, Part


@declare("notion", "binary", symbol="binary", source="Silva Filho et al. 2023, Def. 2")
class Binary(Notion):
    """The probability of the positive class: column 1 of 2."""

    name = "binary"
    one_score_a_row = True

    def parts(self, prob: FloatArray, names: tuple[str, ...] | None = None) -> Iterator[Part]:
        """One part: column 1."""
        require(
            prob.shape[1] == 2,
            "notion 'binary' speaks of two classes",
            given=f"the forecast has {prob.shape[1]}",
            hint="Choose 'confidence', 'top-label', 'top-3-label' or 'class-wise'",
        )
        yield Part(slice(None), 1, _of_class(names[1] if names else 1))

    def split(self, problem: Problem) -> Iterator[BinaryProblem]:
        """Yield a binary problem with a name, or that of its event, or column 1 of a forecast of two classes."""
        if (known := problem.summed_parts(self)) is not None:
            yield from known
            return
        if isinstance(problem, BinaryProblem):
            yield problem if problem.name else _named(problem, _of_class(problem.classes[1]))
            return
        # The difference of two logits is exact where the probability has long become 0 or 1.
        logit = problem.forecast.log_odds if problem.forecast.is_logit and problem.forecast.shape[1] == 2 else None
        for binary in super().split(problem):
            score = (
                binary.score if logit is None else score_of_logit(logit)
            )  # as of one column of logits, to the last digit
            yield replace(binary, score=score, classes=problem.classes, logit=logit)


def _named(problem: BinaryProblem, name: str) -> BinaryProblem:
    # As dataclasses.replace does, which takes as long as all else that is done for a few rows.
    named = object.__new__(BinaryProblem)
    named.__dict__.update(problem.__dict__, name=name)
    return named


def _of_class(label: object) -> str:
    return f"class {label}"
