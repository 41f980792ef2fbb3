"""What the survey says of temperature and vector scaling (its figures 17 and 18)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from studies.claims import Claim, Verdict
from studies.judging import all_of
from studies.survey import judges, sentences
from studies.survey.cases import show
from studies.survey.judges import CLEARLY, Draws
from studies.survey.networks_of_three import (
    FEW,
    NEAR,
    ON_TEN,
    OUR_VECTOR,
    class_by_class,
    differences,
    lower,
    near_in_each,
    on_the_network,
    pair,
)
from studies.survey.three_errors import CLASSES, before_of_class, excess, of_class, on_few_rows

LOW, MIDDLE, HIGH = (0.0, 0.1), (0.1, 0.4), (0.4, 1.0)
ELSEWHERE = [(j, region) for j in CLASSES for region in (LOW, MIDDLE, HIGH) if region != MIDDLE or j == 2]


def in_the_middle() -> dict[str, Any]:
    """Return E|S - C| of classes 1 and 2 in [0.1, 0.4]."""
    return {
        "cases": {
            f"class {j + 1}": {"before": before_of_class(j, MIDDLE), "after": of_class(j, "temperature", MIDDLE)}
            for j in (0, 1)
        }
    }


def elsewhere() -> dict[str, Any]:
    """Return E|S - C| in the other regions."""
    return {
        "before": [before_of_class(j, region) for j, region in ELSEWHERE],
        "after": [of_class(j, "temperature", region) for j, region in ELSEWHERE],
    }


def worse_elsewhere(before: Sequence[float], after: Sequence[Draws]) -> Verdict:
    """Return whether more than half of the regions get worse; in part, whether any does."""
    worse = sum(judges.rises(b, a) is Verdict.HOLDS for b, a in zip(before, after, strict=True))
    return Verdict.HOLDS if worse > len(before) / 2 else Verdict.IN_PART if worse else Verdict.FAILS


def of_regions(before: Sequence[float], after: Sequence[Draws]) -> str:
    """Return in how many regions the error rises and falls."""
    found = [judges.rises(b, a) for b, a in zip(before, after, strict=True)]
    return f"of {len(found)} regions worse in {found.count(Verdict.HOLDS)}, better in {found.count(Verdict.FAILS)}"


TEMPERATURE: tuple[Claim, ...] = (
    on_the_network(
        "temperature-middle",
        "Fig. 17",
        "Temperature scaling improves the diagrams of classes 1 and 2 around [0.1, 0.4].",
        f"E abs(S - C) there falls {CLEARLY}",
        in_the_middle,
        judges.in_each(judges.falls),
        sentences.from_to_in_each,
    ),
    on_the_network(
        "temperature-elsewhere",
        "Fig. 17",
        "Elsewhere it makes things worse.",
        f"worse in more than half of seven other regions, {CLEARLY}; in part: in any",
        elsewhere,
        worse_elsewhere,
        of_regions,
    ),
    pair(
        "temperature-one-map",
        "Fig. 17",
        "It applies one map to classes with different diagrams, which is the main reason for its sub-optimal results.",
        "log loss above Bayes",
        "vector",
        "temperature",
        excess,
        OUR_VECTOR,
    ),
)

# Fig. 18


def class_3_not_as_bad(before: float, temperature: Draws, vector: Draws) -> Verdict:
    """Return whether temperature scaling worsens class 3, and vector scaling does so less."""
    return all_of([judges.rises(before, temperature), lower(vector, temperature)])


def balanced(few_vector: Draws, few_matrix: Draws, vector: Draws, temperature: Draws) -> Verdict:
    """Return whether vector scaling beats matrix scaling on few rows and temperature scaling on many."""
    return all_of([lower(few_vector, few_matrix), lower(vector, temperature)])


VECTOR: tuple[Claim, ...] = (
    on_the_network(
        "vector-near-temperature",
        "Fig. 18",
        "The diagrams after vector scaling are close to those after temperature scaling.",
        f"E abs(S - C) of each class differs by less than {NEAR}",
        class_by_class("vector", "temperature"),
        near_in_each,
        differences,
        OUR_VECTOR,
    ),
    pair(
        "vector-class-3",
        "Fig. 18",
        "There are minor improvements with class 3.",
        "E abs(S - C) of class 3",
        "vector",
        "temperature",
        lambda method: of_class(2, method),
        f"{ON_TEN} vector scaling is better than temperature scaling on class 3 in 10 of 10 (-0.0057 +- 0.0013). "
        + OUR_VECTOR,
    ),
    on_the_network(
        "vector-not-as-bad",
        "Fig. 18",
        "Vector scaling does not make class 3 as bad as temperature scaling does.",
        f"temperature scaling makes it worse, and vector scaling less so, {CLEARLY}",
        lambda: {
            "before": before_of_class(2),
            "temperature": of_class(2, "temperature"),
            "vector": of_class(2, "vector"),
        },
        class_3_not_as_bad,
        lambda before, temperature, vector: (
            f"E abs(S - C) of class 3 {before:.4f} before, {show(temperature)} after temperature scaling, "
            f"{show(vector)} after vector scaling"
        ),
        f"{ON_TEN} temperature scaling worsens class 3 in 6 of 10, and vector scaling is better than it on class 3 in 10 "
        f"of 10 (-0.0057 +- 0.0013). {OUR_VECTOR}",
    ),
    on_the_network(
        "vector-balance",
        "Section 5.4",
        "Vector scaling balances the risk of over-fitting and the richness of its maps.",
        f"fitted to {FEW} rows it is better than matrix scaling, to 10,000 better than temperature scaling, {CLEARLY}",
        lambda: {
            "few_vector": on_few_rows("vector", FEW),
            "few_matrix": on_few_rows("matrix", FEW),
            "vector": excess("vector"),
            "temperature": excess("temperature"),
        },
        balanced,
        lambda few_vector, few_matrix, vector, temperature: (
            f"log loss above Bayes, {FEW} rows: {sentences.compared(few_vector, few_matrix, 'vector', 'matrix')}; 10,000 "
            f"rows: {sentences.compared(vector, temperature, 'vector', 'temperature', 5)}"
        ),
        OUR_VECTOR,
    ),
)

CLAIMS = (*TEMPERATURE, *VECTOR)
