"""What the survey says of binning and isotonic regression (its figures 13 and 14), and what is computed of it."""

from __future__ import annotations

import numpy as np

from calibrant import IsotonicCalibrator, PlattScaling
from studies.survey.findings import CLEARLY, DRAWS, NOT_JUDGED, Finding, Mean, confirmed, judged, rises
from studies.survey.two_errors import (
    MOVED,
    TWO,
    Region,
    after,
    before,
    best_monotone,
    close_to_diagonal,
    cost,
    fitted,
    mass_of,
    off_inside,
)
from studies.survey.two_shown import BINS, CLOSE, FALLS, ISOTONIC, each, extent, from_to, gained, grouping, spread

MIDDLE_LEFT, MIDDLE_RIGHT = (0.1, 0.4), (0.6, 0.9)
REGIONS: tuple[Region, ...] = ((0.0, 0.1), MIDDLE_LEFT, (0.4, 0.6), MIDDLE_RIGHT, (0.9, 1.01))
MILLION = 10**6


# Fig. 13


def binning() -> list[Finding]:
    used = {n: [int((fitted(n, BINS, s).count_ > 0).sum()) for s in range(DRAWS)] for n in TWO}
    near = {n: close_to_diagonal(n, BINS, CLOSE) for n in TWO}
    brier = {n: gained(n, BINS, "brier_calibration").of_draws + gained(n, BINS, "grouping").of_draws for n in TWO}
    return [
        Finding(
            "The probabilities after calibration are presented with 10 values or less (the under-confidence case has "
            "fewer values as there are no observations in bins closer to the extremes).",
            f"Bins with rows: {each(lambda n: extent(used[n]))}",
            "never above 10; always below 10 in the under-confident case",
            confirmed(max(map(max, used.values())) <= 10 and max(used["under-confident"]) < 10),
        ),
        Finding(
            "It works well with all three test cases, with most points being close to the diagonal.",
            f"E abs(S - C) from {each(lambda n: from_to(n, BINS))}. Share of the forecasts with abs(S - C) below {CLOSE}: "
            + each(lambda n: f"{near[n].value:.0%}"),
            f"E abs(S - C) falls {CLEARLY}, and more than half of the forecasts are so close",
            judged(gained(n, BINS).is_below_0 and near[n].value > 0.5 for n in TWO),
        ),
        Finding(
            "Binning approaches can reduce the calibration loss at the cost of a higher grouping loss.",
            f"Grouping loss x 1000 from {each(lambda n: grouping(n, BINS))}. Change of the Brier score x 1000: "
            + each(lambda n: Mean(brier[n]).change(3, 1000)),
            f"calibration loss falls and grouping loss rises {CLEARLY}",
            judged(
                gained(n, BINS, "brier_calibration").is_below_0 and gained(n, BINS, "grouping").is_above_0 for n in TWO
            ),
        ),
    ]


# Fig. 14


def isotonic() -> list[Finding]:
    return [*isotonic_works(), *isotonic_in_the_middle(), *isotonic_drawbacks()]


def isotonic_works() -> list[Finding]:
    blocks = {n: [len(fitted(n, ISOTONIC, s).value_) for s in range(DRAWS)] for n in TWO}
    return [
        Finding(
            "It can provide a larger variety of outputs than empirical binning.",
            f"Blocks: {each(lambda n: extent(blocks[n]))}, and what lies between them; against 10 bins",
            "always more than 10 blocks",
            confirmed(min(map(min, blocks.values())) > 10),
        ),
        Finding(
            "It works reasonably well on all three test cases.",
            f"E abs(S - C) from {each(lambda n: from_to(n, ISOTONIC))}. After binning it is "
            + each(lambda n: after(n, BINS).show()),
            FALLS,
            judged(gained(n, ISOTONIC).is_below_0 for n in TWO),
        ),
    ]


def isotonic_in_the_middle() -> list[Finding]:
    name = "over-confident"
    off = {r: off_inside(name, ISOTONIC, r) for r in REGIONS}
    share = {r: float(mass_of(name, r).sum()) for r in REGIONS}
    rest = off_inside(name, ISOTONIC, *(r for r in REGIONS if r not in (MIDDLE_LEFT, MIDDLE_RIGHT)))
    apart = {r: off[r] - rest for r in (MIDDLE_LEFT, MIDDLE_RIGHT)}
    shown = "E abs(S - C): " + "; ".join(f"{off[r].show()} in {spread(r)}" for r in REGIONS) + ". "
    found = [
        Finding(
            f"The over-confidence case still has some errors around the {side} boundaries.",
            f"{lead}That of {spread(r)} less that of the three other than middle left and right: " + apart[r].change(),
            f"it is above 0 {CLEARLY}",
            rises(apart[r]),
        )
        for side, r, lead in (("middle-left", MIDDLE_LEFT, shown), ("middle-right", MIDDLE_RIGHT, ""))
    ]
    wide = MIDDLE_LEFT[1] - MIDDLE_LEFT[0]
    return [
        *found,
        Finding(
            "... due to the lack of training points within these areas.",
            "Share of the rows: " + "; ".join(f"{share[r]:.1%} in {spread(r)}" for r in REGIONS),
            f"there are fewer rows in both than their width, {wide:.0%}; whether this is the cause is not judged",
            judged(share[r] < wide for r in (MIDDLE_LEFT, MIDDLE_RIGHT)),
        ),
    ]


def isotonic_drawbacks() -> list[Finding]:
    best, own = best_monotone(), before("mlp").grouping
    ends = np.array(
        [
            (model.value_[0] == 0.0, model.value_[-1] == 1.0)
            for model in (fitted(n, ISOTONIC, s) for n in TWO for s in range(DRAWS))
        ]
    )
    added = {n: gained(n, ISOTONIC, "grouping") for n in TWO}
    return [
        Finding(
            "(1) By predicting constant values within bins, it inevitably increases grouping loss.",
            f"Grouping loss x 1000 from {each(lambda n: grouping(n, ISOTONIC))}; after binning "
            + each(lambda n: after(n, BINS, "grouping").show(3, 1000)),
            f"it rises {CLEARLY}",
            judged(added[n].is_above_0 for n in TWO),
        ),
        Finding(
            "(2) When the uncalibrated model has a non-monotonic reliability diagram, isotonic regression can only give "
            "sub-optimal results (i.e. large grouping loss).",
            f"The network's diagram is not monotone: the best monotone map of all moves {best.moved:.0%} of its "
            f"forecasts by more than {MOVED:g} from what comes given them. It is calibrated, and adds "
            f"{1000 * best.grouping:.4f} to the grouping loss x 1000 of {1000 * own:.3f} that the network has "
            f"itself. The fitted map adds {added['mlp'].show(3, 1000)}; in the over-confident case, "
            f"whose diagram is monotone, {added['over-confident'].show(3, 1000)}",
            "sub-optimal: the best monotone map adds some; large: it adds more than the network has itself",
            f"{confirmed(best.grouping > 0)} that it is sub-optimal, {confirmed(best.grouping > own)} that this is large",
        ),
        isotonic_cost(),
        Finding(
            "(4) Isotonic regression can result in the first and last bins having full confidence (0 and 1).",
            f"The first value is 0 in {ends[:, 0].mean():.0%} of the fits, the last 1 in {ends[:, 1].mean():.0%}. "
            "`IsotonicCalibrator()`, which smooths its values, and `VennAbers` have no such ends",
            "in any fit",
            confirmed(bool(ends.any())),
        ),
    ]


def isotonic_cost() -> Finding:
    makes = {"isotonic regression": lambda: IsotonicCalibrator(finite=None), "Platt scaling": PlattScaling}
    of_method = {name: {rows: cost(make, rows) for rows in (MILLION // 10, MILLION)} for name, make in makes.items()}
    shown = "; ".join(
        f"{name} {by_rows[MILLION // 10].seconds:.3f} s and {by_rows[MILLION // 10].megabytes:.0f} MB at 10^5 rows, "
        f"{by_rows[MILLION].seconds:.2f} s and {by_rows[MILLION].megabytes:.0f} MB at 10^6"
        for name, by_rows in of_method.items()
    )
    return Finding(
        "(3) While it performs well on large datasets, isotonic regression's training time and memory consumption are also "
        "high on large datasets.",
        f"CPU time of a fit, and the peak of the arrays that it makes, on one small machine: {shown}. A million rows "
        "themselves are 16 MB",
        "no border: the survey says neither how high nor beside what",
        NOT_JUDGED,
    )
