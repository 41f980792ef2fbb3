"""What the survey says of calibrators of two classes (its figures 13 to 16), and what is computed of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from survey_findings import CLEARLY, DRAWS, NOT_JUDGED, Finding, Mean, confirmed, judged, over_draws, the_case
from survey_two_errors import (
    METHODS,
    PLATT,
    STRAIGHT,
    TWO,
    Region,
    after,
    before,
    best_case_added,
    best_monotone,
    close_to_diagonal,
    cost,
    fitted,
    mass_of,
    off_before,
    off_inside,
    spelt,
    values,
)

from calibrant import BetaCalibration, IsotonicCalibrator, PlattScaling

BINS, ISOTONIC, BETA = "10 bins", "isotonic", "beta"
CLOSE, WELL, LITTLE, SAME = 0.02, 0.3, 0.75, 0.01
"""On the diagonal; shares of the error that are left where a method works well, and where it does little; forecasts that are
almost identical."""

MIDDLE_LEFT, MIDDLE_RIGHT = (0.1, 0.4), (0.6, 0.9)
REGIONS: tuple[Region, ...] = ((0.0, 0.1), MIDDLE_LEFT, (0.4, 0.6), MIDDLE_RIGHT, (0.9, 1.01))
MILLION = 10**6

LEFT_OVER = f"less than {WELL:.0%} of E abs(S - C) is left; in part: it falls {CLEARLY}"
FALLS = f"it falls {CLEARLY}"


# Figures


def each(value: Callable[[str], str]) -> str:
    """A figure for each case."""
    return "; ".join(f"{value(name)} ({spelt(name)})" for name in TWO)


def extent(numbers: Sequence[int]) -> str:
    """Lowest and highest of some numbers."""
    return str(min(numbers)) if min(numbers) == max(numbers) else f"{min(numbers)} to {max(numbers)}"


def spread(region: Region) -> str:
    return f"[{region[0]:g}, {min(region[1], 1.0):g}]"


def from_to(name: str, method: str) -> str:
    return f"{before(name).calibration:.4f} to {after(name, method).show()}"


def grouping(name: str, method: str) -> str:
    return f"{1000 * before(name).grouping:.3f} to {after(name, method, 'grouping').show(3, 1000)}"


def gained(name: str, method: str, what: str = "calibration") -> Mean:
    """How much an error changes by calibration."""
    return after(name, method, what) - getattr(before(name), what)


def left(name: str, method: str, *regions: Region) -> float:
    """Share of E|S - C| that is left."""
    if regions:
        return off_inside(name, method, *regions).value / off_before(name, *regions)
    return after(name, method).value / before(name).calibration


def well(name: str, method: str) -> str:
    """The verdict on a method that is said to work well."""
    return confirmed(left(name, method) < WELL, "in part" if gained(name, method).is_below_0 else "refuted")


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
    shown = "; ".join(f"{off[r].show()} in {spread(r)}" for r in REGIONS)
    found = [
        Finding(
            f"The over-confidence case still has some errors around the {side} boundaries.",
            f"E abs(S - C): {shown}. That of {spread(r)} less that of the three other than middle left and right: "
            + apart[r].change(),
            f"it is above 0 {CLEARLY}",
            confirmed(apart[r].is_above_0),
        )
        for side, r in (("middle-left", MIDDLE_LEFT), ("middle-right", MIDDLE_RIGHT))
    ]
    wide = MIDDLE_LEFT[1] - MIDDLE_LEFT[0]
    return [
        *found,
        Finding(
            "... due to the lack of training points within these areas.",
            "Share of the rows: " + "; ".join(f"{share[r]:.1%} in {spread(r)}" for r in REGIONS),
            f"fewer rows in both than their width, {wide:.0%}, though not that this is the cause",
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
            f"The network's diagram is not monotone: the best monotone map of all ties or moves {best.tied:.0%} of its "
            f"forecasts. It is calibrated, and adds {1000 * best.grouping:.4f} to the grouping loss x 1000 of "
            f"{1000 * own:.3f} that the network has itself. The fitted map adds {added['mlp'].show(3, 1000)}; in the "
            f"over-confident case, whose diagram is monotone, {added['over-confident'].show(3, 1000)}",
            "sub-optimal: the best monotone map adds some; large: it adds more than the network has itself",
            f"{confirmed(best.grouping > 0)} that it is sub-optimal, {confirmed(best.grouping > own)} that this is large",
        ),
        isotonic_cost(),
        Finding(
            "(4) Isotonic regression can result in the first and last bins having full confidence (0 and 1).",
            f"The first value is 0 in {ends[:, 0].mean():.0%} of the fits, the last 1 in {ends[:, 1].mean():.0%}. "
            "`IsotonicCalibrator(finite=...)` and `VennAbers` have no such ends",
            "in any fit",
            confirmed(bool(ends.any())),
        ),
    ]


def isotonic_cost() -> Finding:
    makes = {"isotonic regression": IsotonicCalibrator, "Platt scaling": PlattScaling}
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


# Fig. 15


def platt() -> list[Finding]:
    tenths = [(k / 10, (k + 1) / 10 + (0.01 if k == 9 else 0.0)) for k in range(10)]
    worse = {
        m: [spread(r) for r in tenths if (off_inside("mlp", m, r) - off_before("mlp", r)).is_above_0]
        for m in (STRAIGHT, PLATT)
    }
    same = np.abs(values("under-confident", PLATT, 0) - values("over-confident", PLATT, 0)).max()
    return [
        *(
            Finding(
                f"It improves the under-confidence case well ({method}).",
                f"E abs(S - C) from {from_to('under-confident', method)}: {left('under-confident', method):.0%} is left",
                LEFT_OVER,
                well("under-confident", method),
            )
            for method in (STRAIGHT, PLATT)
        ),
        *(
            Finding(
                f"It fails to do much with the over-confidence case: the sigmoid shape can not push the probabilities "
                f"towards the middle ({method}).",
                f"E abs(S - C) from {from_to('over-confident', method)}: {left('over-confident', method):.0%} is left{more}",
                f"more than {LITTLE:.0%} is left",
                confirmed(left("over-confident", method) > LITTLE),
            )
            for method, more in (
                (STRAIGHT, ""),
                (
                    PLATT,
                    f". It is the calibrated forecast of the under-confident case (to {same:.0e}): the log-odds of both "
                    "are multiples of x",
                ),
            )
        ),
        *(
            Finding(
                f"With the MLP it makes the level of calibration worse around several regions ({method}).",
                f"E abs(S - C) from {from_to('mlp', method)}. Of ten regions of width 0.1 it gets worse {CLEARLY} in "
                f"{len(worse[method])}: {', '.join(worse[method]) or 'none'}",
                "in two or more",
                confirmed(len(worse[method]) >= 2),
            )
            for method in (STRAIGHT, PLATT)
        ),
    ]


# Fig. 16


def beta() -> list[Finding]:
    return [
        Finding(
            "It deals with the under-confident case fairly well: the reliability diagram follows the diagonal closely.",
            f"E abs(S - C) from {from_to('under-confident', BETA)}: {left('under-confident', BETA):.0%} is left. Platt "
            f"scaling {PLATT} leaves {after('under-confident', PLATT).show()}",
            LEFT_OVER,
            well("under-confident", BETA),
        ),
        *beta_in_halves(),
        *beta_on_the_network(),
        *beta_family(),
    ]


def beta_in_halves() -> list[Finding]:
    name, low, high = "over-confident", (0.0, 0.5), (0.5, 1.01)
    more = {m: off_inside(name, BETA, low) - off_inside(name, m, low) for m in (STRAIGHT, PLATT)}
    return [
        *(
            Finding(
                f"In the over-confident case it puts more corrections than Platt scaling around [0, 0.5] (Platt scaling "
                f"{method}).",
                f"E abs(S - C) there: {off_before(name, low):.4f} before, {off_inside(name, method, low).show()} after Platt "
                f"scaling, {off_inside(name, BETA, low).show()} after beta; difference of the two {more[method].change()}",
                f"lower {CLEARLY}",
                confirmed(more[method].is_below_0),
            )
            for method in (STRAIGHT, PLATT)
        ),
        Finding(
            "... however, it doesn't help much in the [0.5, 1.0] region.",
            f"E abs(S - C) there from {off_before(name, high):.4f} to {off_inside(name, BETA, high).show()}: "
            f"{left(name, BETA, high):.0%} is left",
            f"more than {LITTLE:.0%} is left",
            confirmed(left(name, BETA, high) > LITTLE),
        ),
    ]


def beta_on_the_network() -> list[Finding]:
    region = (0.6, 1.01)
    figure = (
        f"E abs(S - C) there from {off_before('mlp', region):.4f} to {off_inside('mlp', BETA, region).show()}: "
        f"{left('mlp', BETA, region):.0%} is left"
    )
    gain = off_inside("mlp", BETA, region) - off_before("mlp", region)
    return [
        Finding(
            "On the MLP case it provides some improvements around the [0.6, 1.0] region ...",
            figure,
            FALLS,
            confirmed(gain.is_below_0),
        ),
        Finding(
            "... and matches the reliability diagram to the diagonal.",
            figure,
            LEFT_OVER,
            confirmed(left("mlp", BETA, region) < WELL, "in part" if gain.is_below_0 else "refuted"),
        ),
    ]


def beta_family() -> list[Finding]:
    of = the_case("mlp")
    apart = over_draws(
        lambda s: of.mean(np.abs(values("under-confident", BETA, s) - values("over-confident", BETA, s)))
    )
    added = {m: best_case_added("bayes-optimal", METHODS[m]) for m in (BETA, STRAIGHT, PLATT)}
    unchanged = beta_identity()
    gain = {n: after(n, BETA) - after(n, PLATT) for n in TWO}
    return [
        Finding(
            "The reliability diagrams after calibration are almost identical for the over-confidence and under-confidence "
            "test cases.",
            f"The two calibrated forecasts differ by {apart.show()} on average",
            f"by less than {SAME}",
            confirmed(apart.value < SAME),
        ),
        Finding(
            "It allows a richer family of calibration maps than Platt scaling.",
            f"So it does: a = b is Platt scaling {PLATT}. E abs(S - C) after beta less that after Platt scaling {PLATT}: "
            + each(lambda n: gain[n].change()),
            "a matter of definition",
            NOT_JUDGED,
        ),
        Finding(
            "... including the identity map, which is particularly useful to prevent over-calibration.",
            f"With a = b = 1 and c = 0 nothing changes (to {unchanged:.0e}). Fitted to Bayes' own forecast it adds "
            f"{added[BETA].show(5)} to the log loss, Platt scaling {STRAIGHT}, which does not contain the identity, "
            f"{added[STRAIGHT].show(5)}; Platt scaling {PLATT} contains it, too, and adds {added[PLATT].show(5)}",
            f"exact to 1e-12, and less is added than by Platt scaling {STRAIGHT}, {CLEARLY}",
            confirmed(unchanged < 1e-12 and (added[BETA] - added[STRAIGHT]).is_below_0),
        ),
    ]


def beta_identity() -> float:
    """Largest change by the map with a = b = 1 and c = 0."""
    same = BetaCalibration().fit([0.2, 0.4, 0.6, 0.8], [0, 1, 0, 1])
    same.a_, same.b_, same.c_ = 1.0, 1.0, 0.0
    scores = np.linspace(0.001, 0.999, 999)
    return float(np.abs(same.calibrate(scores) - scores).max())
