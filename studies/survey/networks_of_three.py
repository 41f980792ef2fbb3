"""Claims about networks of three classes: one network, trained on one of two readings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from studies.claims import Claim, Verdict
from studies.judging import all_of, below_zero, holds, mean_and_error
from studies.survey import judges, sentences
from studies.survey.cases import change, less
from studies.survey.judges import CLEARLY, Draws
from studies.survey.three_errors import CLASSES, excess_before, of_class, on_few_rows

WORLDS = ("variance", "standard deviation")
NEAR = 0.005
"""Reliability diagrams are close where E|S - C| of each class differs by less."""

FEW = 200
"""Rows of a small calibration set."""

SEVERAL = "for every one of several networks, with 8 as a variance and as a standard deviation"


OUR_VECTOR = (
    "Vector scaling is fitted to log-probabilities here, while the survey's logit has the last class for reference"
)
ON_TEN = "Measured elsewhere, not by this command, on ten networks with 8 as a standard deviation:"


def in_worlds(measure: Callable[[], Mapping[str, Any]]) -> Callable[[], dict[str, Any]]:
    """Return a measure of the embedded network, trained with a variance of 8; of the other world it serves none."""
    return lambda: {"worlds": {"variance": [dict(measure())], "standard deviation": []}}


def on_the_network(
    key: str, where: str, sentence: str, target: str, measure: Callable[[], Mapping[str, Any]], judge: judges.Judge,
    say: sentences.Words, note: str = "",
) -> Claim:  # fmt: skip
    """Return a claim about networks of three classes, undecided until there are several in both worlds."""
    return Claim(
        key=key,
        where=where,
        sentence=sentence,
        target=f"{target}, {SEVERAL}",
        says=Verdict.OPEN,
        measure=in_worlds(measure),
        judge=judges.in_both_worlds(judge),
        words=_noted(sentences.of_worlds(say), note),
    )


def _noted(say: sentences.Words, note: str) -> sentences.Words:
    """Return a sentence with a note after it."""
    return lambda **numbers: f"{say(**numbers)}. {note}" if note else say(**numbers)


def pair(
    key: str, where: str, sentence: str, what: str, one: str, other: str, figure: Callable[[str], list[float]],
    note: str = "",
) -> Claim:  # fmt: skip
    """Return a claim that one method has a lower figure than another."""
    return on_the_network(
        key,
        where,
        sentence,
        f"{what} is lower after {one} than after {other}, {CLEARLY}",
        lambda: {"one": figure(one), "other": figure(other)},
        lower,
        lambda one, other, names=(one, other): f"{what} {sentences.compared(one, other, *names, digits=5)}",
        note,
    )


def lower(one: Draws, other: Draws) -> Verdict:
    """Return whether the one is clearly lower."""
    return below_zero(less(one, other))


def class_by_class(one: str, other: str, classes: Sequence[int] = CLASSES) -> Callable[[], dict[str, Any]]:
    """Return E|S - C| of classes after each of two methods."""
    return lambda: {"classes": {f"class {j + 1}": [of_class(j, one), of_class(j, other)] for j in classes}}


def near_in_each(classes: Mapping[str, Sequence[Draws]]) -> Verdict:
    """Return whether two methods differ by little in each class."""
    return holds(all(abs(mean_and_error(less(one, other))[0]) < NEAR for one, other in classes.values()))


def lower_in_each(classes: Mapping[str, Sequence[Draws]]) -> Verdict:
    """Return whether the one method has a lower error in each class."""
    return all_of(lower(one, other) for one, other in classes.values())


def differences(classes: Mapping[str, Sequence[Draws]]) -> str:
    """Return differences of E|S - C| class by class."""
    return "differences of E abs(S - C) " + "; ".join(
        f"{change(less(one, other))} ({name})" for name, (one, other) in classes.items()
    )


def over_fits(key: str, where: str, sentence: str, method: str) -> Claim:
    """Return the claim that a method does worse than temperature scaling on few rows."""
    return on_the_network(
        key,
        where,
        sentence,
        f"fitted to {FEW} rows it is worse than temperature scaling, {CLEARLY}",
        lambda: {"one": on_few_rows(method, FEW), "other": on_few_rows("temperature", FEW)},
        lambda one, other: lower(other, one),
        lambda one, other: (
            f"log loss above Bayes, {FEW} rows: {sentences.compared(one, other, method, 'temperature')}; "
            f"without calibration {excess_before():.4f}"
        ),
    )
