"""What the survey says of Platt scaling and beta calibration (its figures 15 and 16), and what is computed of it."""

from __future__ import annotations

import numpy as np

from calibrant import BetaCalibration
from studies.survey.findings import CLEARLY, NOT_JUDGED, Finding, confirmed, falls, over_draws, the_case
from studies.survey.two_errors import (
    METHODS,
    PLATT,
    STRAIGHT,
    TWO,
    after,
    best_case_added,
    off_before,
    off_inside,
    values,
)
from studies.survey.two_shown import BETA, FALLS, LEFT_OVER, LITTLE, SAME, WELL, each, from_to, left, spread, well

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
                falls(more[method]),
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
            falls(gain),
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
