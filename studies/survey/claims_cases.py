"""What the survey says of its two-class cases (section 5.2 and figure 12)."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import norm

from calibrant.datasets import CLASS_1, CLASS_2, SLOPES
from studies.claims import Claim, Verdict
from studies.judging import holds
from studies.survey import judges
from studies.survey.cases import the_case
from studies.survey.two_errors import Region, before, mass_of

BARELY = 0.01
"""Share of predictions outside a range that is barely left."""

NEARLY = 0.01
"""Accuracy that a boundary may lose and be nearly Bayes-optimal."""


def shares_outside() -> dict[str, Any]:
    """Return how many predictions of the under-confident case lie outside [0.1, 0.9], for both ways to read the classes."""
    end = np.log(9.0) / SLOPES["under-confident"]
    components = [(mean, second) for cls in (CLASS_1, CLASS_2) for mean, second in cls]

    def share(power: float) -> float:
        inside = [norm.cdf(end, m, s**power) - norm.cdf(-end, m, s**power) for m, s in components]
        return float(1.0 - np.mean(inside))

    return {"shares": {"variance": share(0.5), "standard deviation": share(1.0)}, "barely": BARELY}


def lost_at_zero() -> dict[str, Any]:
    """Return the accuracy that the boundary x = 0 loses to Bayes' rule."""
    of = the_case("bayes-optimal")
    best = of.mean(np.maximum(of.posterior, 1 - of.posterior))
    return {"lost": best - of.mean(np.where(of.x > 0, of.posterior, 1 - of.posterior)), "best": best}


def slopes() -> dict[str, Any]:
    """Return the least-squares slope of the diagram: of the under-confident case, and about the middle of the other."""
    return {"under": slope("under-confident", (0.0, 1.01)), "over": slope("over-confident", (0.25, 0.75))}


def slope(name: str, region: Region) -> float:
    """Return the slope of the event's probability against the prediction, over the predictions in a region."""
    of = the_case(name)
    mass = mass_of(name, region) / mass_of(name, region).sum()
    x, y = of.forecast - mass @ of.forecast, of.posterior - mass @ of.posterior
    return float(mass @ (x * y) / (mass @ (x * x)))


CLAIMS: tuple[Claim, ...] = (
    Claim(
        key="fig-12-range",
        where="Section 5.2",
        sentence="The under-confident predictions barely leave [0.1, 0.9].",
        target=f"less than {BARELY:.0%} of them lie outside, where the second numbers of the classes are variances",
        says=Verdict.HOLDS,
        measure=shares_outside,
        judge=judges.outside,
        words=lambda shares, barely: (
            f"{shares['variance']:.2g} of them with variances. With standard deviations it would be "
            f"{shares['standard deviation']:.0%}: the sentence excludes that reading for classes 1 and 2"
        ),
    ),
    Claim(
        key="boundary",
        where="Section 5.2",
        sentence="The decision boundary x = 0 is nearly Bayes-optimal.",
        target=f"it loses less than {NEARLY:g} of accuracy",
        says=Verdict.HOLDS,
        measure=lost_at_zero,
        judge=lambda lost, best: holds(lost < NEARLY),
        words=lambda lost, best: f"It loses {lost:.4f} of {best:.4f}",
    ),
    Claim(
        key="fig-12-slopes",
        where="Fig. 12",
        sentence="The diagram of the under-confident case is steeper than the diagonal, that of the over-confident "
        "case flatter about the middle.",
        target="least-squares slopes above 1, and below 1 in [0.25, 0.75]",
        says=Verdict.HOLDS,
        measure=slopes,
        judge=lambda under, over: holds(under > 1 > over),
        words=lambda under, over: f"{under:.2f} (under-confident); {over:.2f} (over-confident)",
    ),
    Claim(
        key="fig-12-network",
        where="Section 5.2",
        sentence="This network is under-confident around [0, 0.1] and [0.65, 1], and mostly over-confident elsewhere.",
        target="it is said of one network, whose weights are not published",
        says=Verdict.NOT_JUDGED,
        measure=lambda: {"error": before("mlp").calibration},
        judge=lambda error: Verdict.NOT_JUDGED,
        words=lambda error: f"The network that calibrant embeds is another one; its E abs(S - C) is {error:.4f}",
    ),
)
