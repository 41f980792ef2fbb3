"""What the survey says of matrix scaling and Dirichlet calibration (its figures 19 and 20)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from calibrant import DirichletCalibration
from studies.claims import Claim, Verdict
from studies.survey import judges, sentences
from studies.survey.cases import over_draws, show
from studies.survey.judges import CLEARLY
from studies.survey.networks import highest_of_class_3
from studies.survey.networks_of_three import (
    FEW,
    NEAR,
    OUR_VECTOR,
    WORLDS,
    class_by_class,
    differences,
    lower,
    lower_in_each,
    near_in_each,
    on_the_network,
    over_fits,
    pair,
)
from studies.survey.three_errors import ODIR, added_to_bayes, fitted_three, of_class, on_few_rows

CAPPED = (0.75, 0.85)
"""What is around 0.8."""

CORNER = np.array([[0.02, 0.02, 0.96]])


MATRIX: tuple[Claim, ...] = (
    on_the_network(
        "matrix-classes-1-2",
        "Fig. 19",
        "Matrix scaling still improves classes 1 and 2 a little.",
        f"E abs(S - C) of both is lower than after vector scaling, {CLEARLY}",
        class_by_class("matrix", "vector", (0, 1)),
        lower_in_each,
        differences,
        OUR_VECTOR,
    ),
    pair(
        "matrix-class-3",
        "Fig. 19",
        "Class 3 improves significantly.",
        "E abs(S - C) of class 3",
        "matrix",
        "vector",
        lambda method: of_class(2, method),
        OUR_VECTOR,
    ),
    over_fits("matrix-overfits", "Section 5.4", "Matrix scaling may over-fit.", "matrix"),
)


def moved() -> dict[str, Any]:
    """Return how far each method moves the probability of class 3 near its corner."""
    return {
        m: over_draws(lambda s, m=m: abs(float(fitted_three(m, s).calibrate(CORNER)[0, 2] - CORNER[0, 2])))  # type: ignore[misc]
        for m in ("dirichlet", "matrix")
    }


def unchanged() -> dict[str, Any]:
    """Return the largest change by Dirichlet calibration with W = I and b = 0."""
    prob = np.random.default_rng(0).dirichlet(np.ones(3), 1000)
    y = np.arange(1000) % 3
    same = DirichletCalibration(diagonal=1e-3, off_diagonal=1e-3, intercept=1e-3).fit(prob, y)
    same.coef_, same.intercept_ = np.eye(3), np.zeros(3)
    return {"largest_change": float(np.abs(same.calibrate(prob) - prob).max()), "tolerance": 1e-10}


def adjusted() -> dict[str, Any]:
    """Return the log loss that methods add to Bayes' own predictions, in both worlds."""
    return {
        "worlds": {
            world: {m: added_to_bayes(m, world) for m in ("dirichlet", "matrix", "temperature")} for world in WORLDS
        }
    }


def of_highest(highest: Mapping[str, Mapping[str, Any]], low: float, high: float) -> str:
    """Return the highest probabilities of class 3 in sentences."""
    shown = {
        world: f"{of['bayes']:.3f}, {len(of['networks'])} networks {min(of['networks']):.3f} to {max(of['networks']):.3f}"
        for world, of in highest.items()
    }
    return (
        f"8 as a standard deviation: {shown['standard deviation']}. With a variance it would not hold: "
        f"{shown['variance']}. The caption itself picks the reading"
    )


DIRICHLET: tuple[Claim, ...] = (
    on_the_network(
        "dirichlet-near-matrix",
        "Fig. 20",
        "The diagrams are close to those after matrix scaling.",
        f"E abs(S - C) of each class differs by less than {NEAR}",
        class_by_class("dirichlet", "matrix"),
        near_in_each,
        differences,
    ),
    on_the_network(
        "dirichlet-corner",
        "Fig. 20",
        "Where class 3 is almost certain it changes less than matrix scaling, which is more reasonable.",
        f"at (0.02, 0.02, 0.96) the probability of class 3 moves less, {CLEARLY}",
        moved,
        lambda dirichlet, matrix: lower(dirichlet, matrix),
        lambda dirichlet, matrix: "it moves by " + sentences.compared(dirichlet, matrix, "Dirichlet", "matrix"),
    ),
    Claim(
        key="capped",
        where="Fig. 20",
        sentence="For class 3 both the Bayes-optimal predictions and those of the network are capped around 0.8.",
        target=f"the highest of both are between {CAPPED[0]} and {CAPPED[1]} with 8 as a standard deviation, the "
        "reading that the caption picks",
        says=Verdict.HOLDS,
        measure=lambda: {
            "highest": {world: highest_of_class_3(world) for world in WORLDS},
            "low": CAPPED[0],
            "high": CAPPED[1],
        },
        judge=judges.capped,
        words=of_highest,
    ),
    Claim(
        key="dirichlet-identity",
        where="Section 5.4",
        sentence="Dirichlet calibration contains the identity.",
        target="with W = I and b = 0 no probability changes by more than 1e-10",
        says=Verdict.HOLDS,
        measure=unchanged,
        judge=judges.identity,
        words=lambda largest_change, tolerance: f"The largest change is {largest_change:.0e}",
    ),
    Claim(
        key="dirichlet-calibrated",
        where="Section 5.4",
        sentence="So it can prevent predictions that are calibrated already from being adjusted too much.",
        target="the survey does not say beside what",
        says=Verdict.NOT_JUDGED,
        measure=adjusted,
        judge=lambda worlds: Verdict.NOT_JUDGED,
        words=lambda worlds: (
            "Log loss added to Bayes' own predictions: "
            + "; ".join(
                f"8 as a {world}: {', '.join(f'{show(values, 5)} ({method})' for method, values in of.items())}"
                for world, of in worlds.items()
            )
        ),
    ),
    over_fits(
        "dirichlet-overfits", "Section 5.4", "Dirichlet calibration can over-fit on small data sets.", "dirichlet"
    ),
    pair(
        "odir",
        "Section 5.4",
        "Its penalties on the off-diagonal and on the intercepts (ODIR) address this.",
        f"log loss above Bayes, fitted to {FEW} rows,",
        ODIR,
        "dirichlet",
        lambda method: on_few_rows(method, FEW),
    ),
)

CLAIMS = (*MATRIX, *DIRICHLET)
