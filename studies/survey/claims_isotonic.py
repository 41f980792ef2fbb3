"""What the survey says of isotonic regression (its figure 14)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from calibrant import IsotonicCalibration, PlattScaling
from studies.claims import Claim, Verdict
from studies.judging import holds, on_several, under_all_readings
from studies.survey import judges, sentences
from studies.survey.cases import DRAWS, change, less, over_draws, rows, show, the_case
from studies.survey.exact import errors as exact_errors
from studies.survey.judges import CLEARLY, FALLS
from studies.survey.measures import errors, grouped, logistic, network
from studies.survey.sentences import each, extent
from studies.survey.two_errors import LOGISTIC, MOVED, after, before, best_monotone, cost, fitted, mass_of, off_inside

ISOTONIC = "isotonic"
MIDDLE_LEFT, MIDDLE_RIGHT = (0.1, 0.4), (0.6, 0.9)
ELSEWHERE = ((0.0, 0.1), (0.4, 0.6), (0.9, 1.01))
MILLION = 10**6


def blocks() -> dict[str, Any]:
    """Return how many blocks a fit has, for each calibration set."""
    return {"cases": {n: [len(fitted(n, ISOTONIC, s).value_) for s in range(DRAWS)] for n in LOGISTIC}, "bins": 10}


def middle(region: tuple[float, float]) -> Any:
    """Return the errors of isotonic regression in a region of the over-confident case, and in three others."""
    return lambda: {
        "here": off_inside("over-confident", ISOTONIC, region),
        "elsewhere": off_inside("over-confident", ISOTONIC, *ELSEWHERE),
    }


def in_the_middle(key: str, side: str, region: tuple[float, float], says: Verdict) -> Claim:
    """Return the claim that errors remain about a side of the middle."""
    return Claim(
        key=key,
        where="Fig. 14",
        sentence=f"After isotonic regression the over-confident case still has errors around the {side} boundary.",
        target=f"E abs(S - C) in {list(region)} is above that in [0, 0.1], [0.4, 0.6] and [0.9, 1], {CLEARLY}",
        says=says,
        measure=middle(region),
        judge=lambda here, elsewhere: judges.above_zero(less(here, elsewhere)),
        words=lambda here, elsewhere: "E abs(S - C) " + sentences.compared(here, elsewhere, "there", "elsewhere"),
        over="here",
    )


def shares_of_rows() -> dict[str, Any]:
    """Return the share of the rows in the two regions, and their width."""
    share = {f"{list(r)}": float(mass_of("over-confident", r).sum()) for r in (MIDDLE_LEFT, MIDDLE_RIGHT)}
    return {"share": share, "width": MIDDLE_LEFT[1] - MIDDLE_LEFT[0]}


def both_ways() -> dict[str, Any]:
    """Return the grouping loss of maps that are linear between blocks, and of maps that are constant on pieces."""
    steps = {
        n: {"before": before(n).grouping, "after": over_draws(lambda s, n=n: grouping_of_steps(n, s))}  # type: ignore[misc]
        for n in LOGISTIC
    }
    return {
        "readings": {
            "linear between blocks, as in the survey": {n: grouped(n, ISOTONIC) for n in LOGISTIC},
            "constant on pieces": steps,
        }
    }


def grouping_of_steps(name: str, seed: int) -> float:
    """Return the grouping loss of isotonic regression without interpolation."""
    of = the_case(name)
    fit = IsotonicCalibration(interpolate=False, finite=None).fit(*rows(name, 2, seed))
    return exact_errors(of, np.asarray(fit.calibrate(of.forecast))).grouping


def of_grouping(cases: Mapping[str, Mapping[str, Any]]) -> str:
    """Return grouping losses in sentences."""
    return "grouping loss x 1000 from " + each(
        {n: f"{1000 * of['before']:.3f} to {show(of['after'], 3, 1000)}" for n, of in cases.items()}
    )


def not_monotone() -> dict[str, Any]:
    """Return what the best monotone map of the network loses."""
    best = best_monotone()
    return {
        "networks": [
            {
                "moved": best.moved,
                "best": best.grouping,
                "own": before("mlp").grouping,
                "after": after("mlp", ISOTONIC, "grouping"),
            }
        ]
    }


def costs() -> dict[str, Any]:
    """Return processor seconds and megabytes of fits to 10^5 and 10^6 rows."""
    makes = {"isotonic regression": lambda: IsotonicCalibration(finite=None), "Platt scaling": PlattScaling}
    of = {name: {str(n): vars(cost(make, n)) for n in (MILLION // 10, MILLION)} for name, make in makes.items()}
    return {"cost": of}


def of_costs(cost: dict[str, dict[str, dict[str, float]]]) -> str:
    """Return these in sentences."""
    shown = "; ".join(
        f"{name} "
        + ", ".join(f"{of['seconds']:.2g} s and {of['megabytes']:.0f} MB at {int(n):,} rows" for n, of in by.items())
        for name, by in cost.items()
    )
    return f"Processor time of a fit, and the peak of its arrays: {shown}"


def ends() -> dict[str, Any]:
    """Return the share of fits whose first value is 0, and whose last is 1."""
    values = [fitted(n, ISOTONIC, s).value_ for n in LOGISTIC for s in range(DRAWS)]
    return {"zero": float(np.mean([v[0] == 0 for v in values])), "one": float(np.mean([v[-1] == 1 for v in values]))}


CLAIMS: tuple[Claim, ...] = (
    Claim(
        key="isotonic-values",
        where="Fig. 14",
        sentence="Isotonic regression gives a larger variety of outputs than binning.",
        target="always more than 10 blocks",
        says=Verdict.HOLDS,
        measure=blocks,
        judge=judges.many_values,
        words=lambda cases, bins: "Blocks: " + each({n: extent(counts) for n, counts in cases.items()}),
    ),
    Claim(
        key="isotonic-works",
        where="Fig. 14",
        sentence="Isotonic regression works reasonably well: the two logistic cases.",
        target=FALLS,
        says=Verdict.HOLDS,
        measure=logistic(errors, ISOTONIC),
        judge=judges.in_each(judges.falls),
        words=sentences.from_to_in_each,
    ),
    Claim(
        key="isotonic-works-network",
        where="Fig. 14",
        sentence="Isotonic regression works reasonably well: the neural network.",
        target="the same, for every one of several networks",
        says=Verdict.OPEN,
        measure=network(errors, ISOTONIC),
        judge=on_several(judges.falls),
        words=sentences.of_networks(sentences.from_to),
    ),
    in_the_middle("isotonic-middle-left", "middle-left", MIDDLE_LEFT, Verdict.HOLDS),
    in_the_middle("isotonic-middle-right", "middle-right", MIDDLE_RIGHT, Verdict.OPEN),
    Claim(
        key="isotonic-few-rows",
        where="Fig. 14",
        sentence="These errors are due to a lack of rows there.",
        target="a cause, of which shares of rows are not enough to judge",
        says=Verdict.OPEN,
        measure=shares_of_rows,
        judge=lambda share, width: Verdict.OPEN,
        words=lambda share, width: (
            "; ".join(f"{r} holds {value:.1%} of the rows" for r, value in share.items())
            + f"; by its width it would be {width:.0%}"
        ),
    ),
    Claim(
        key="isotonic-grouping",
        where="Section 5.3",
        sentence="(1) By predicting constants within bins, isotonic regression inevitably raises the grouping loss.",
        target=f"grouping loss rises {CLEARLY} in both logistic cases, linear between blocks and with steps",
        says=Verdict.HOLDS,
        measure=both_ways,
        judge=lambda readings: under_all_readings(judges.in_each(judges.rises)(of) for of in readings.values()),
        words=lambda readings: "; ".join(f"{name}: {of_grouping(cases)}" for name, cases in readings.items()),
    ),
    Claim(
        key="isotonic-not-monotone",
        where="Section 5.3",
        sentence="(2) Where the diagram of a model is not monotone, the result is sub-optimal: the grouping loss is "
        "large.",
        target="the best monotone map adds more grouping loss than the model has, for every one of several networks",
        says=Verdict.OPEN,
        measure=not_monotone,
        judge=on_several(lambda moved, best, own, after: holds(best > own)),
        words=sentences.of_networks(
            lambda moved, best, own, after: (
                f"the best monotone map moves {moved:.0%} of the predictions by more than {MOVED:g} and adds "
                f"{1000 * best:.4f} to a grouping loss x 1000 of {1000 * own:.3f}; the fitted map adds "
                f"{change(less(after, own), 3, 1000)}"
            )
        ),
    ),
    Claim(
        key="isotonic-cost",
        where="Section 5.3",
        sentence="(3) On large data sets its time and memory are high.",
        target="the survey says neither how high nor beside what",
        says=Verdict.NOT_JUDGED,
        measure=costs,
        judge=lambda cost: Verdict.NOT_JUDGED,
        words=of_costs,
    ),
    Claim(
        key="isotonic-ends",
        where="Section 5.3",
        sentence="(4) Its first and last values can be 0 and 1.",
        target="in some fit to a logistic case",
        says=Verdict.HOLDS,
        measure=ends,
        judge=judges.full_confidence,
        words=lambda zero, one: f"The first value is 0 in {zero:.0%} of the fits, the last is 1 in {one:.0%}",
    ),
)
