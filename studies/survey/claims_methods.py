"""What the survey says of calibrators: isotonic regression, sigmoids, and the methods of several classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.special import logit

from calibrant import BetaCalibration, DirichletCalibration, IsotonicCalibration
from calibrant.datasets import SLOPES
from studies.claims import Claim, Verdict, above_zero, all_of, below_zero, holds
from studies.survey import cases
from studies.survey.cases import (
    CLASSES,
    CLEARLY,
    CLOSE,
    COUNTS,
    DRAWS,
    FALLS,
    FEW,
    LEFT_OVER,
    LITTLE,
    LOGISTIC,
    MAKES,
    METHODS,
    MOVED,
    NETWORK,
    NETWORKS,
    ODIR,
    ON_MEANS,
    PLATT,
    READINGS,
    SAME,
    SETS,
    STRAIGHT,
    Region,
    added_to_bayes,
    after,
    before,
    best_monotone,
    both,
    class_by_class,
    count,
    differences,
    each,
    errors,
    excess,
    extent,
    fitted,
    fitted_three,
    inside,
    less,
    lower_in_each,
    mass_in,
    near_in_each,
    of_class,
    on_networks,
    over_draws,
    over_fits,
    pair,
    said,
    shown,
    the_case,
    turns,
    values,
)

HOLDS, IN_PART, FAILS, OPEN, NOT_JUDGED = (
    Verdict.HOLDS, Verdict.IN_PART, Verdict.FAILS, Verdict.OPEN, Verdict.NOT_JUDGED,
)  # fmt: skip

# What the survey says of isotonic regression (its figure 14).


ISOTONIC = "isotonic"
MIDDLE_LEFT, MIDDLE_RIGHT, ELSEWHERE = (1, 2, 3), (6, 7, 8), (0, 4, 5, 9)


def logistic(method: str, pick: cases.Pick = "calibration") -> Any:
    """Return a measure of both logistic cases."""
    return lambda: {"cases": {name: both(name, method, pick) for name in LOGISTIC}}


def blocks() -> dict[str, Any]:
    """Return how many blocks a fit has, for each calibration set."""
    return {"cases": {n: [len(fitted(n, ISOTONIC, s).value_) for s in range(DRAWS)] for n in LOGISTIC}, "bins": 10}


def in_the_middle(key: str, region: Region, says: Verdict, undecided: str = "") -> Claim:
    """Return the claim that errors remain about a side of the middle."""
    return said(
        key,
        f"E abs(S - C) in [0.{region[0]}, 0.{region[-1] + 1}] is above that in [0, 0.1], [0.4, 0.6] and [0.9, 1], "
        f"{CLEARLY} over the calibration sets",
        says,
        lambda: {
            "here": after("over-confident", ISOTONIC, inside(region)),
            "elsewhere": after("over-confident", ISOTONIC, inside(ELSEWHERE)),
        },
        lambda here, elsewhere: above_zero(less(here, elsewhere)),
        lambda here, elsewhere: "E abs(S - C) " + cases.compared(here, elsewhere, "there", "elsewhere"),
        over="here",
        undecided=undecided,
    )


def spread_evenly() -> dict[str, Any]:
    """Return by how much the error in [0.1, 0.4] is above that elsewhere: with rows as drawn, and spread evenly over [0, 1]."""
    of, make, share = the_case(LOGISTIC[1]), METHODS[ISOTONIC], mass_in(LOGISTIC[1], MIDDLE_LEFT).sum()

    def excess_of(rows: tuple[np.ndarray, np.ndarray]) -> float:
        found = errors(of, np.asarray(make().fit(*rows).calibrate(of.forecast)))
        return inside(MIDDLE_LEFT)(found) - inside(ELSEWHERE)(found)  # type: ignore[operator]

    def evenly(seed: int) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng(seed)
        score = rng.uniform(size=cases.ROWS)
        return score, rng.uniform(size=cases.ROWS) < of.mixture.posterior(logit(score) / SLOPES[LOGISTIC[1]])

    drawn, even = (
        [excess_of(rows(seed)) for seed in range(3 * DRAWS)] for rows in (lambda s: of.draw(cases.ROWS, s), evenly)
    )
    return {"drawn": drawn, "even": even, "share": float(share)}


def both_ways() -> dict[str, Any]:
    """Return the grouping loss of maps that are linear between blocks, and of maps that are constant on pieces."""

    def of_steps(name: str, seed: int) -> float:
        of = the_case(name)
        fit = IsotonicCalibration(interpolate=False, finite=None).fit(*of.draw(cases.ROWS, seed))
        return errors(of, np.asarray(fit.calibrate(of.forecast))).grouping

    steps = {
        n: {"before": before(n, "grouping"), "after": over_draws(lambda s, n=n: of_steps(n, s))}  # type: ignore[misc]
        for n in LOGISTIC
    }
    lines = {n: both(n, ISOTONIC, "grouping") for n in LOGISTIC}
    return {"readings": {"linear between blocks, as in the survey": lines, "constant on pieces": steps}}


def of_grouping(cases: Mapping[str, Mapping[str, Any]]) -> str:
    """Return grouping losses in sentences."""
    return "grouping loss x 1000 from " + each(
        {n: f"{shown(of['before'], 3, 1000)} to {shown(of['after'], 3, 1000)}" for n, of in cases.items()}
    )


def not_monotone() -> dict[str, Any]:
    """Return what the best monotone map of each network loses."""
    return {
        "moved": [best_monotone(n)[1] for n in NETWORKS],
        "best": [best_monotone(n)[0] for n in NETWORKS],
        "own": before(NETWORK, "grouping"),
        "after": after(NETWORK, ISOTONIC, "grouping"),
    }


def ends() -> dict[str, Any]:
    """Return the share of fits whose first value is 0, and whose last is 1."""
    found = [fitted(n, ISOTONIC, s).value_ for n in LOGISTIC for s in range(DRAWS)]
    return {"zero": float(np.mean([v[0] == 0 for v in found])), "one": float(np.mean([v[-1] == 1 for v in found]))}


OF_ISOTONIC: tuple[Claim, ...] = (
    said(
        "isotonic-values",
        "always more than 10 blocks",
        HOLDS,
        blocks,
        cases.many_values,
        lambda cases, bins: "Blocks: " + each({n: extent(counts) for n, counts in cases.items()}),
    ),
    said(
        "isotonic-works",
        f"{FALLS} over the calibration sets",
        HOLDS,
        logistic(ISOTONIC),
        cases.in_each(cases.falls),
        cases.in_words(cases.from_to),
    ),
    said(
        "isotonic-works-network",
        f"{FALLS}, {ON_MEANS}",
        HOLDS,
        lambda: both(NETWORK, ISOTONIC),
        cases.falls,
        cases.from_to,
        over="after",
    ),
    in_the_middle("isotonic-middle-left", MIDDLE_LEFT, HOLDS),
    in_the_middle(
        "isotonic-middle-right", MIDDLE_RIGHT, OPEN, f"{DRAWS} calibration sets show no difference either way"
    ),
    said(
        "isotonic-few-rows",
        f"the excess over elsewhere about the left boundary falls {CLEARLY} where as many rows are spread evenly over [0, 1]",
        HOLDS,
        spread_evenly,
        lambda drawn, even, share: below_zero(less(even, drawn)),
        lambda drawn, even, share: (
            f"[0.1, 0.4] holds {share:.1%} of the rows; E abs(S - C) there less that elsewhere is {shown(drawn, sign='+')}, "
            f"and {shown(even, sign='+')} with rows spread evenly, difference {shown(less(even, drawn), sign='+')}"
        ),
        over="even",
    ),
    said(
        "isotonic-grouping",
        f"grouping loss rises {CLEARLY} in both logistic cases, linear between blocks and with steps",
        HOLDS,
        both_ways,
        cases.in_readings(lambda **of: cases.in_each(cases.rises)(of)),
        lambda readings: "; ".join(f"{name}: {of_grouping(cases)}" for name, cases in readings.items()),
    ),
    said(
        "isotonic-not-monotone",
        "the best monotone map adds grouping loss to every network, and more than the network has; in part: it adds some",
        IN_PART,
        not_monotone,
        lambda moved, best, own, after: all_of([holds(min(best) > 0), above_zero(less(best, own))]),
        lambda moved, best, own, after: (
            f"the best monotone map moves {shown(moved, 0, 100)} % of the predictions by more than {MOVED:g} and adds "
            f"{shown(best, 3, 1000)} to a grouping loss x 1000 of {shown(own, 3, 1000)}; the fitted map adds "
            f"{shown(less(after, own), 3, 1000, '+')}"
        ),
        over="best",
    ),
    said(
        "isotonic-cost",
        "the survey says neither how high nor beside what",
        NOT_JUDGED,
        dict,
        lambda: NOT_JUDGED,
        lambda: "Not computed here; docs/benchmarks.md has its times",
    ),
    said(
        "isotonic-ends",
        "in some fit to a logistic case",
        HOLDS,
        ends,
        cases.full_confidence,
        lambda zero, one: f"The first value is 0 in {zero:.0%} of the fits, the last is 1 in {one:.0%}",
    ),
)


# What the survey says of Platt scaling and beta calibration (its figures 15 and 16).


BETA = "beta"
MEASURES = {
    "E abs(S - C)": "calibration",
    "the calibration loss": "brier_calibration",
    "the log loss above Bayes": "log_excess",
}
LOW, HIGH, UPPER = (0, 1, 2, 3, 4), (5, 6, 7, 8, 9), (6, 7, 8, 9)
NOT_THEIRS = "the survey did not run this method: it fits the sigmoid to the probabilities themselves"
DIAGRAM = "E abs(S - C)"
"""The measure that is the paper's own: the mean distance of the diagram, which it shows, from the diagonal."""

PRINTED = "the case is a function that the survey prints, and its errors are exact"


def by_measure(name: str, method: str) -> Any:
    """Return a measure of what is left by E|S - C|, by calibration loss and by log loss above Bayes."""
    return lambda: {"readings": {word: both(name, method, what) for word, what in MEASURES.items()}}


def of_measures(readings: Mapping[str, Mapping[str, Any]]) -> str:
    """Return what is left by each measure."""
    shares = (f"{shown(cases.left(**of), 1, 100)} % of {word}" for word, of in readings.items())
    return f"Left are {', '.join(shares)}; the first is what the diagram shows"


def high_in_both_readings() -> dict[str, Any]:
    """Return E|S - C| of the over-confident case in [0.5, 1], which can be read as a region before or after calibration."""
    there = both("over-confident", BETA, inside(HIGH))
    return {
        "readings": {
            "there before,": there,
            "there after,": there | {"after": after("over-confident", BETA, inside(HIGH, "here"))},
            "Platt scaling, there before,": both("over-confident", STRAIGHT, inside(HIGH)),
        }
    }


def by_region(method: str) -> dict[str, Any]:
    """Return in how many tenths of [0, 1] E|S - C| of each network rises and falls."""
    tenths = [both(NETWORK, method, inside((k,))) for k in range(10)]
    return turns([of["before"] for of in tenths], [of["after"] for of in tenths])


def on_log_odds(key: str, measure: Any, say: cases.Words) -> Claim:
    """Return what a method does that the survey did not run: no verdict on its sentence."""
    return said(
        key,
        NOT_THEIRS,
        NOT_JUDGED,
        measure,
        lambda **numbers: NOT_JUDGED,
        say,
    )


def apart() -> dict[str, Any]:
    """Return how far the two calibrated cases are apart."""
    mass = the_case(LOGISTIC[0]).mass
    return {"apart": over_draws(lambda s: mass @ np.abs(values(LOGISTIC[0], BETA, s) - values(LOGISTIC[1], BETA, s)))}


def unchanged_by_beta(c: float = 0.0) -> dict[str, Any]:
    """Return the largest change by beta calibration with a = b = 1 and c = 0."""
    same = BetaCalibration().fit([0.2, 0.4, 0.6, 0.8], [0, 1, 0, 1])
    same.a_, same.b_, same.c_ = 1.0, 1.0, c
    scores = np.linspace(0.001, 0.999, 999)
    return {"largest_change": float(np.abs(same.calibrate(scores) - scores).max()), "tolerance": 1e-12}


def of_sigmoid(key: str, name: str, method: str, says: Verdict, little: bool = False) -> Claim:
    """Return a claim on how much of the error of a logistic case is left: the diagram, which the survey shows, decides."""
    judge = cases.does_little if little else cases.works_well
    return said(
        key,
        f"more than {LITTLE:.0%} of E abs(S - C) is left, {CLEARLY}" if little else LEFT_OVER,
        says,
        by_measure(name, method),
        lambda readings: judge(**readings[DIAGRAM]),
        of_measures,
        one_suffices=PRINTED,
    )


OF_SIGMOIDS: tuple[Claim, ...] = (
    of_sigmoid("platt-under", LOGISTIC[0], STRAIGHT, IN_PART),
    of_sigmoid("platt-over", LOGISTIC[1], STRAIGHT, HOLDS, little=True),
    said(
        "platt-over-cause",
        "its map of the over-confident case does not move 0 and 1 towards the middle by more than 0.05",
        FAILS,
        lambda: {
            f"at_{end}": [float(fitted(LOGISTIC[1], STRAIGHT, s).calibrate([end])[0]) for s in range(DRAWS)]
            for end in (0, 1)
        },
        lambda at_0, at_1: holds(not (min(at_0) > 0.05 and max(at_1) < 0.95)),
        lambda at_0, at_1: (
            f"The fitted sigmoid moves 0 to {shown(at_0)} and 1 to {shown(at_1)}. It pushes to the middle, but it lacks "
            "the shape: flat in the middle and steep at the ends"
        ),
        over="at_0",
    ),
    said(
        "platt-network",
        f"E abs(S - C) rises by more than {COUNTS:.0%} in two tenths of [0, 1] or more, {ON_MEANS}",
        HOLDS,
        lambda: by_region(STRAIGHT),
        cases.several,
        cases.region_by_region,
    ),
    on_log_odds("log-odds-under", lambda: both(LOGISTIC[0], PLATT), cases.how_much_is_left),
    on_log_odds("log-odds-over", lambda: both(LOGISTIC[1], PLATT), cases.how_much_is_left),
    on_log_odds("log-odds-network", lambda: by_region(PLATT), cases.region_by_region),
    of_sigmoid("beta-under", LOGISTIC[0], BETA, IN_PART),
    said(
        "beta-over-low",
        f"E abs(S - C) there is lower, {CLEARLY} over the calibration sets",
        HOLDS,
        lambda: {
            "before": before("over-confident", inside(LOW)),
            "beta": after("over-confident", BETA, inside(LOW)),
            "platt": after("over-confident", STRAIGHT, inside(LOW)),
        },
        lambda before, beta, platt: below_zero(less(beta, platt)),
        lambda before, beta, platt: (
            f"E abs(S - C) there {before:.4f} before; " + cases.compared(beta, platt, "beta", "Platt scaling")
        ),
    ),
    said(
        "beta-over-high",
        "the caption compares it with Platt scaling, and says neither how much would be much nor by which measure",
        OPEN,
        high_in_both_readings,
        lambda readings: OPEN,
        lambda readings: "; ".join(f"{when} {cases.how_much_is_left(**of)}" for when, of in readings.items()),
        undecided="half of the error goes; whether that is much, the survey does not say",
    ),
    said(
        "beta-network",
        f"{FALLS} there, {ON_MEANS}",
        HOLDS,
        lambda: both(NETWORK, BETA, inside(UPPER)),
        cases.falls,
        cases.how_much_is_left,
        over="after",
    ),
    said(
        "beta-network-diagonal",
        f"{LEFT_OVER}, {ON_MEANS}",
        IN_PART,
        lambda: both(NETWORK, BETA, inside(UPPER)),
        cases.works_well,
        cases.how_much_is_left,
        over="after",
    ),
    said(
        "beta-same",
        f"the calibrated predictions differ by less than {SAME} on average, {CLEARLY}",
        HOLDS,
        apart,
        cases.almost_the_same,
        lambda apart: f"They differ by {shown(apart)}",
    ),
    said(
        "beta-identity",
        "no score changes by more than 1e-12",
        HOLDS,
        unchanged_by_beta,
        cases.identity,
        lambda largest_change, tolerance: f"The largest change is {largest_change:.0e}",
    ),
    said(
        "beta-calibrated",
        f"fitted to Bayes' own predictions it adds less log loss than Platt scaling, {CLEARLY}",
        HOLDS,
        lambda: {
            word: added_to_bayes(METHODS[name])
            for word, name in {"beta": BETA, "platt": STRAIGHT, "platt_log_odds": PLATT}.items()
        },
        lambda beta, platt, platt_log_odds: below_zero(less(beta, platt)),
        lambda beta, platt, platt_log_odds: (
            f"Log loss added: {cases.compared(beta, platt, 'beta', 'Platt scaling', 5)}; on log-odds, which contains "
            f"the identity and which the survey did not run, {shown(platt_log_odds, 5)}"
        ),
    ),
)


# What the survey says of temperature and vector scaling (its figures 17 and 18).


MIDDLE = (1, 2, 3)
REGIONS_OF_THREE = ((0,), MIDDLE, (4, 5, 6, 7, 8, 9))
ELSEWHERE_OF_THREE = [(j, region) for j in CLASSES for region in REGIONS_OF_THREE if region != MIDDLE or j == 2]


def around(reading: str, j: int, method: str, region: Region = cases.ANYWHERE) -> dict[str, Any]:
    """Return E|S - C| of a class in a region, before and after calibration."""
    return {"before": of_class(reading, j, None, region), "after": of_class(reading, j, method, region)}


def elsewhere(reading: str) -> dict[str, Any]:
    """Return in how many of the other regions E|S - C| of each network rises and falls."""
    found = [around(reading, j, "temperature", region) for j, region in ELSEWHERE_OF_THREE]
    return turns([of["before"] for of in found], [of["after"] for of in found])


def of_class_3(reading: str, method: str) -> list[float]:
    """Return E|S - C| of class 3."""
    return of_class(reading, 2, method)


OF_VECTORS: tuple[Claim, ...] = (
    on_networks(
        "temperature-middle",
        f"E abs(S - C) there falls {CLEARLY}",
        IN_PART,
        lambda reading: {"cases": {f"class {j + 1}": around(reading, j, "temperature", MIDDLE) for j in (0, 1)}},
        cases.in_each(cases.falls),
        cases.in_words(cases.from_to),
    ),
    on_networks(
        "temperature-elsewhere",
        f"E abs(S - C) rises by more than {COUNTS:.0%} in more than half of seven other regions; in part: in any",
        IN_PART,
        elsewhere,
        cases.mostly_worse,
        cases.region_by_region,
    ),
    pair(
        "temperature-one-map",
        "log loss above Bayes",
        "vector",
        "temperature",
        HOLDS,
        excess,
    ),
    on_networks(
        "vector-near-temperature",
        f"E abs(S - C) of each class differs by less than {CLOSE}",
        HOLDS,
        class_by_class("vector", "temperature"),
        near_in_each,
        differences,
    ),
    pair(
        "vector-class-3",
        "E abs(S - C) of class 3",
        "vector",
        "temperature",
        IN_PART,
        of_class_3,
    ),
    on_networks(
        "vector-not-as-bad",
        f"temperature scaling makes it worse, and vector scaling less so, {CLEARLY}",
        IN_PART,
        lambda reading: {
            "before": of_class(reading, 2, None),
            "temperature": of_class(reading, 2, "temperature"),
            "vector": of_class(reading, 2, "vector"),
        },
        cases.class_3_not_as_bad,
        lambda before, temperature, vector: (
            f"E abs(S - C) of class 3 {shown(before)} before, {shown(temperature)} after temperature scaling, lower "
            f"in {count(temperature, before)}, {shown(vector)} after vector scaling, lower than that in "
            f"{count(vector, temperature)}"
        ),
    ),
    on_networks(
        "vector-balance",
        f"fitted to {FEW} rows it is better than matrix scaling, to 10,000 better than temperature scaling, {CLEARLY}",
        HOLDS,
        lambda reading: {
            "few_vector": excess(reading, "vector", FEW),
            "few_matrix": excess(reading, "matrix", FEW),
            "vector": excess(reading, "vector"),
            "temperature": excess(reading, "temperature"),
        },
        cases.balanced,
        lambda few_vector, few_matrix, vector, temperature: (
            f"log loss above Bayes, {FEW} rows: {cases.compared(few_vector, few_matrix, 'vector', 'matrix')}; 10,000 "
            f"rows: {cases.compared(vector, temperature, 'vector', 'temperature', 5)}"
        ),
    ),
)


# What the survey says of matrix scaling and Dirichlet calibration (its figures 19 and 20).


CAPPED = (0.75, 0.85)
"""What is around 0.8."""

CORNER = np.array([((1 - s) * r, (1 - s) * (1 - r), s) for s in (0.9, 0.93, 0.96, 0.99) for r in (0.2, 0.5, 0.8)])
"""Where class 3 is almost certain."""


def moved(reading: str) -> dict[str, Any]:
    """Return how far each method moves the probability of class 3 near its corner, on the mean over a network's sets."""

    def of(name: str, method: str) -> float:
        fits = [fitted_three(reading, name, method, seed) for seed in range(SETS)]
        return float(np.mean([np.abs(np.asarray(fit.calibrate(CORNER)) - CORNER)[:, 2].mean() for fit in fits]))

    return {method: [of(name, method) for name in NETWORKS] for method in ("dirichlet", "matrix")}


def unchanged(intercept: float = 0.0) -> dict[str, Any]:
    """Return the largest change by Dirichlet calibration with W = I and b = 0."""
    prob = np.random.default_rng(0).dirichlet(np.ones(3), 1000)
    y = np.arange(1000) % 3
    same = DirichletCalibration(diagonal=1e-3, off_diagonal=1e-3, intercept=1e-3).fit(prob, y)
    same.coef_, same.intercept_ = np.eye(3), np.array([intercept, 0.0, 0.0])
    return {"largest_change": float(np.abs(same.calibrate(prob) - prob).max()), "tolerance": 1e-10}


def highest() -> dict[str, Any]:
    """Return the highest probability of class 3: of Bayes' rule, and of each network."""
    return {
        "highest": {
            reading: {
                "bayes": float(the_case("bayes-optimal", reading).forecast[:, 2].max()),
                "networks": [float(the_case(name, reading).forecast[:, 2].max()) for name in NETWORKS],
            }
            for reading in READINGS
        },
        "low": CAPPED[0],
        "high": CAPPED[1],
    }


def of_highest(highest: Mapping[str, Mapping[str, Any]], low: float, high: float) -> str:
    """Return the highest probabilities of class 3 in sentences."""
    said = {
        reading: f"{of['bayes']:.3f}, {len(of['networks'])} networks {min(of['networks']):.3f} to {max(of['networks']):.3f}"
        for reading, of in highest.items()
    }
    return (
        f"8 as a standard deviation: {said['standard deviation']}. With a variance it would not hold: "
        f"{said['variance']}. The caption itself picks the reading"
    )


OF_MATRICES: tuple[Claim, ...] = (
    on_networks(
        "matrix-classes-1-2",
        f"E abs(S - C) of both is lower than after vector scaling, {CLEARLY}",
        OPEN,
        class_by_class("matrix", "vector", (0, 1)),
        lower_in_each,
        differences,
        "with 8 as a standard deviation the mean over ten networks is not clear for class 1",
    ),
    pair(
        "matrix-class-3",
        "E abs(S - C) of class 3",
        "matrix",
        "vector",
        IN_PART,
        of_class_3,
    ),
    over_fits(
        "matrix-overfits",
        "matrix",
        HOLDS,
    ),
    on_networks(
        "dirichlet-near-matrix",
        f"E abs(S - C) of each class differs by less than {CLOSE}",
        HOLDS,
        class_by_class("dirichlet", "matrix"),
        near_in_each,
        differences,
    ),
    on_networks(
        "dirichlet-corner",
        f"at twelve points with a probability of class 3 of 0.9 to 0.99 it moves less, {CLEARLY}",
        IN_PART,
        moved,
        lambda dirichlet, matrix: cases.lower(dirichlet, matrix),
        lambda dirichlet, matrix: "it moves by " + cases.compared(dirichlet, matrix, "Dirichlet", "matrix"),
    ),
    said(
        "capped",
        f"the highest of both are between {CAPPED[0]} and {CAPPED[1]} with 8 as a standard deviation, the "
        "reading that the caption picks",
        HOLDS,
        highest,
        cases.capped,
        of_highest,
    ),
    said(
        "dirichlet-identity",
        "with W = I and b = 0 no probability changes by more than 1e-10",
        HOLDS,
        unchanged,
        cases.identity,
        lambda largest_change, tolerance: f"The largest change is {largest_change:.0e}",
    ),
    said(
        "dirichlet-calibrated",
        "the survey does not say beside what",
        NOT_JUDGED,
        lambda: {
            "readings": {
                reading: {m: added_to_bayes(MAKES[m], reading) for m in ("dirichlet", "matrix", "temperature")}
                for reading in READINGS
            }
        },
        lambda readings: NOT_JUDGED,
        lambda readings: (
            "Log loss added to Bayes' own predictions: "
            + cases.of_readings(lambda **of: ", ".join(f"{shown(v, 5)} ({method})" for method, v in of.items()))(
                readings
            )
        ),
    ),
    over_fits(
        "dirichlet-overfits",
        "dirichlet",
        HOLDS,
    ),
    pair(
        "odir",
        f"log loss above Bayes, fitted to {FEW} rows,",
        ODIR,
        "dirichlet",
        HOLDS,
        lambda reading, method: excess(reading, method, FEW),
    ),
)
