"""What the survey says of calibrators: isotonic regression, sigmoids, and the methods of several classes."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np

from calibrant import BetaCalibration, DirichletCalibration
from studies.claims import Functions, Verdict, above_zero, all_of, below_zero, holds, not_judged
from studies.survey import cases as sv
from studies.survey.claims_equations import never

# What the survey says of isotonic regression (its figure 14).


ISOTONIC = "isotonic"
SIDES, ELSEWHERE = {"[0.1, 0.4]": (1, 2, 3), "[0.6, 0.9]": (6, 7, 8)}, (0, 4, 5, 9)
AXES = {"of scores before calibration": "before", "of calibrated predictions": "here"}
"""What the middle can be: the survey shows a map over the first and a diagram over the second."""


def blocks() -> dict[str, Any]:
    """Return how many blocks a fit has, for each calibration set."""
    found = {n: [len(sv.fitted(n, ISOTONIC, s).value_) for s in range(sv.DRAWS)] for n in sv.LOGISTIC}
    return {"cases": found, "bins": 10}


def remaining(where: str, region: sv.Region) -> list[float]:
    """Return E|S - C| of the over-confident case after isotonic regression in a region of an axis, for each of many sets."""
    return sv.after("over-confident", ISOTONIC, sv.inside(region, where), sv.MANY)


def in_the_middle() -> dict[str, Any]:
    """Return what remains on each side of the middle, and elsewhere."""
    found = {}
    for (axis, where), (side, region) in product(AXES.items(), SIDES.items()):
        found[f"{side} {axis}"] = {"here": remaining(where, region), "elsewhere": remaining(where, ELSEWHERE)}
    return {"cases": found}


def spread_evenly() -> dict[str, Any]:
    """Return by how much the error on both sides of the middle is above that elsewhere: with rows as drawn, and with as many
    rows that are spread evenly over [0, 1], over the scores or over the probabilities of the event."""
    of, make, found, middle = sv.the_case("over-confident"), sv.METHODS[ISOTONIC], {}, sum(SIDES.values(), ())
    seen = np.abs(of.x) < 200

    def evenly(seed: int, over: np.ndarray) -> sv.Errors:
        rng = np.random.default_rng(seed)
        x = np.interp(rng.uniform(size=sv.ROWS), over[seen], of.x[seen])
        fit = make().fit(of.model(x), rng.uniform(size=sv.ROWS) < of.mixture.posterior(x))
        return sv.errors(of, np.asarray(fit.calibrate(of.forecast)))

    for (axis, where), over in zip(AXES.items(), (of.forecast, of.posterior), strict=True):
        fits = [evenly(seed, over) for seed in range(sv.MANY)]
        even = [[sv.inside(region, where)(fit) for fit in fits] for region in (middle, ELSEWHERE)]  # type: ignore[operator]
        drawn = [remaining(where, region) for region in (middle, ELSEWHERE)]
        found[axis] = {"drawn": sv.less(*drawn), "even": sv.less(*even)}
    return {"cases": found}


def of_grouping(before: float, after: sv.Draws) -> str:
    """Return grouping losses in words."""
    return f"grouping loss x 1000 from {sv.shown(before, 3, 1000)} to {sv.shown(after, 3, 1000)}"


def not_monotone() -> dict[str, Any]:
    """Return what the best monotone map of each network loses."""
    return {
        "moved": [sv.best_monotone(n)[1] for n in sv.NETWORKS],
        "best": [sv.best_monotone(n)[0] for n in sv.NETWORKS],
        "own": sv.before(sv.NETWORK, "grouping"),
        "after": sv.after(sv.NETWORK, ISOTONIC, "grouping"),
    }


def ends() -> dict[str, Any]:
    """Return the share of fits whose first value is 0, and whose last is 1."""
    found = [sv.fitted(n, ISOTONIC, s).value_ for n in sv.LOGISTIC for s in range(sv.DRAWS)]
    return {"zero": float(np.mean([v[0] == 0 for v in found])), "one": float(np.mean([v[-1] == 1 for v in found]))}


OF_ISOTONIC = {
    "isotonic-values": (
        blocks,
        lambda cases, bins: holds(min(map(min, cases.values())) > bins),
        lambda cases, bins: "Blocks: " + sv.each({n: sv.extent(counts) for n, counts in cases.items()}),
    ),
    "isotonic-works": (
        lambda: {"cases": {n: sv.both(n, ISOTONIC) for n in sv.LOGISTIC}},
        sv.in_each(sv.falls),
        sv.in_words(sv.from_to),
    ),
    "isotonic-works-network": (lambda: sv.both(sv.NETWORK, ISOTONIC), sv.falls, sv.from_to),
    "isotonic-middle": (
        in_the_middle,
        sv.in_each(lambda here, elsewhere: above_zero(sv.less(here, elsewhere))),
        sv.in_words(lambda here, elsewhere: "E abs(S - C) " + sv.compared(here, elsewhere, "there", "elsewhere")),
    ),
    "isotonic-few-rows": (
        spread_evenly,
        sv.in_each(lambda drawn, even: below_zero(sv.less(even, drawn))),
        sv.in_words(
            lambda drawn, even: "excess over elsewhere " + sv.compared(even, drawn, "spread evenly", "as drawn")
        ),
    ),
    "isotonic-grouping": (
        lambda: {"cases": {f"{n}, {m}": sv.both(n, m, "grouping") for m in (ISOTONIC, sv.STEPS) for n in sv.LOGISTIC}},
        sv.in_each(sv.rises),
        sv.in_words(of_grouping),
    ),
    "isotonic-not-monotone": (
        not_monotone,
        lambda moved, best, own, after: all_of([holds(min(best) > 0), above_zero(sv.less(best, own))]),
        lambda moved, best, own, after: (
            f"the best monotone map moves {sv.shown(moved, 0, 100)} % of the predictions by more than {sv.MOVED:g} and adds "
            f"{sv.shown(best, 3, 1000)} to a grouping loss x 1000 of {sv.shown(own, 3, 1000)}; the fitted map adds "
            f"{sv.shown(sv.less(after, own), 3, 1000, '+')}"
        ),
    ),
    "isotonic-cost": (dict, not_judged, lambda: "Not computed here; docs/benchmarks.md has its times"),
    "isotonic-ends": (
        ends,
        lambda zero, one: holds(zero > 0 and one > 0),
        lambda zero, one: f"The first value is 0 in {zero:.0%} of the fits, the last is 1 in {one:.0%}",
    ),
}


# What the survey says of Platt scaling and beta calibration (its figures 15 and 16).


BETA = "beta"
WORDS = ("E abs(S - C)", "the calibration loss", "the log loss above Bayes")
MEASURES = dict(zip(WORDS, ("calibration", "brier_calibration", "log_excess"), strict=True))
LOW, HIGH, UPPER = (0, 1, 2, 3, 4), (5, 6, 7, 8, 9), (6, 7, 8, 9)
DIAGRAM = "E abs(S - C)"
"""The measure that is the paper's own: the mean distance of the diagram, which it shows, from the diagonal."""


def by_measure(name: str, method: str) -> Any:
    """Return a measure of what is left by E|S - C|, by calibration loss and by log loss above Bayes."""
    return lambda: {"readings": {word: sv.both(name, method, what) for word, what in MEASURES.items()}}


def of_measures(readings: Mapping[str, Mapping[str, Any]]) -> str:
    """Return what is left by each measure."""
    shares = (f"{sv.shown(sv.left(**of), 1, 100)} % of {word}" for word, of in readings.items())
    return f"Left are {', '.join(shares)}; the first is what the diagram shows"


def by_region(method: str) -> dict[str, Any]:
    """Return in how many tenths of [0, 1] E|S - C| of each network rises and falls."""
    tenths = [sv.both(sv.NETWORK, method, sv.inside((k,))) for k in range(10)]
    return sv.turns([of["before"] for of in tenths], [of["after"] for of in tenths])


def apart() -> dict[str, Any]:
    """Return how far the two calibrated cases are apart."""
    mass, (under, over) = sv.the_case(sv.LOGISTIC[0]).mass, sv.LOGISTIC
    return {"apart": sv.over_draws(lambda s: mass @ np.abs(sv.values(under, BETA, s) - sv.values(over, BETA, s)))}


def unchanged_by_beta() -> dict[str, float]:
    """Return the largest change by beta calibration with a = b = 1 and c = 0."""
    same = BetaCalibration().fit([0.2, 0.4, 0.6, 0.8], [0, 1, 0, 1])
    same.a_, same.b_, same.c_ = 1.0, 1.0, 0.0
    scores = np.linspace(0.001, 0.999, 999)
    return {"change": np.abs(same.calibrate(scores) - scores).max()}


def of_sigmoid(name: str, method: str, judge: sv.Judge = sv.works_well) -> Functions:
    """Return the functions of a claim on how much of the error of a logistic case is left: the diagram decides."""
    return by_measure(name, method), lambda readings: judge(**readings[DIAGRAM]), of_measures


OF_SIGMOIDS = {
    "platt-under": of_sigmoid(sv.LOGISTIC[0], sv.STRAIGHT),
    "platt-over": of_sigmoid(sv.LOGISTIC[1], sv.STRAIGHT, sv.does_little),
    "platt-over-cause": (
        lambda: {
            f"at_{end}": [float(sv.fitted(sv.LOGISTIC[1], sv.STRAIGHT, s).calibrate([end])[0]) for s in range(sv.DRAWS)]
            for end in (0, 1)
        },
        lambda at_0, at_1: holds(not (min(at_0) > 0.05 and max(at_1) < 0.95)),
        lambda at_0, at_1: (
            f"The fitted sigmoid moves 0 to {sv.shown(at_0)} and 1 to {sv.shown(at_1)}. It pushes to the middle, but it lacks "
            "the shape: flat in the middle and steep at the ends"
        ),
    ),
    "beta-works": (lambda: sv.both(sv.DOUBLED, BETA), sv.works_well, sv.how_much_is_left),
    "platt-network": (
        lambda: by_region(sv.STRAIGHT),
        lambda worse, **_: above_zero(sv.less(worse, 1.5)),
        sv.region_by_region,
    ),
    "beta-under": of_sigmoid(sv.LOGISTIC[0], BETA),
    "beta-over-low": (
        lambda: {
            "before": sv.before("over-confident", sv.inside(LOW)),
            "beta": sv.after("over-confident", BETA, sv.inside(LOW)),
            "platt": sv.after("over-confident", sv.STRAIGHT, sv.inside(LOW)),
        },
        lambda before, beta, platt: below_zero(sv.less(beta, platt)),
        lambda before, beta, platt: (
            f"E abs(S - C) there {before:.4f} before; " + sv.compared(beta, platt, "beta", "Platt scaling")
        ),
    ),
    "beta-over-high": (
        lambda: {"cases": {m: sv.both("over-confident", m, sv.inside(HIGH)) for m in (BETA, sv.STRAIGHT)}},
        lambda cases: Verdict.OPEN,
        sv.in_words(sv.how_much_is_left),
    ),
    "beta-network": (lambda: sv.both(sv.NETWORK, BETA, sv.inside(UPPER)), sv.falls, sv.how_much_is_left),
    "beta-network-diagonal": (lambda: sv.both(sv.NETWORK, BETA, sv.inside(UPPER)), sv.works_well, sv.how_much_is_left),
    "beta-same": (
        apart,
        lambda apart: below_zero(sv.less(apart, sv.SAME)),
        lambda apart: f"They differ by {sv.shown(apart)}",
    ),
    "beta-identity": never(unchanged_by_beta),
    "beta-calibrated": (
        lambda: {
            word: sv.added_to_bayes(sv.METHODS[name]) for word, name in {"beta": BETA, "platt": sv.STRAIGHT}.items()
        },
        lambda beta, platt: below_zero(sv.less(beta, platt)),
        lambda beta, platt: "Log loss added: " + sv.compared(beta, platt, "beta", "Platt scaling", 5),
    ),
}


# What the survey says of temperature and vector scaling (its figures 17 and 18).


MIDDLE = (1, 2, 3)
REGIONS_OF_THREE = ((0,), MIDDLE, (4, 5, 6, 7, 8, 9))
ELSEWHERE_OF_THREE = [(j, region) for j in sv.CLASSES for region in REGIONS_OF_THREE if region != MIDDLE or j == 2]


def around(reading: str, j: int, method: str, region: sv.Region = sv.ANYWHERE) -> dict[str, Any]:
    """Return E|S - C| of a class in a region, before and after calibration."""
    return {"before": sv.of_class(reading, j, None, region), "after": sv.of_class(reading, j, method, region)}


def elsewhere(reading: str) -> dict[str, Any]:
    """Return in how many of the other regions E|S - C| of each network rises and falls."""
    found = [around(reading, j, "temperature", region) for j, region in ELSEWHERE_OF_THREE]
    return sv.turns([of["before"] for of in found], [of["after"] for of in found])


def of_class_3(reading: str, method: str) -> list[float]:
    """Return E|S - C| of class 3."""
    return sv.of_class(reading, 2, method)


OF_VECTORS = {
    "temperature-middle": sv.on_networks(
        lambda reading: {"cases": {f"class {j + 1}": around(reading, j, "temperature", MIDDLE) for j in (0, 1)}},
        sv.in_each(sv.falls),
        sv.in_words(sv.from_to),
    ),
    "temperature-elsewhere": sv.on_networks(elsewhere, sv.mostly_worse, sv.region_by_region),
    "temperature-one-map": sv.pair("log loss above Bayes", "vector", "temperature", sv.excess),
    "vector-near-temperature": sv.on_networks(sv.apart("vector", "temperature"), sv.near, sv.distances),
    "vector-class-3": sv.pair("E abs(S - C) of class 3", "vector", "temperature", of_class_3),
    "vector-not-as-bad": sv.on_networks(
        lambda reading: {
            "before": sv.of_class(reading, 2, None),
            "temperature": sv.of_class(reading, 2, "temperature"),
            "vector": sv.of_class(reading, 2, "vector"),
        },
        sv.class_3_not_as_bad,
        lambda before, temperature, vector: (
            f"E abs(S - C) of class 3 {sv.compared(temperature, before, 'temperature', 'before')}, lower in "
            f"{sv.count(temperature, before)}; {sv.shown(vector)} (vector), lower than that in {sv.count(vector, temperature)}"
        ),
    ),
    "vector-balance": sv.on_networks(
        lambda reading: {
            "few_vector": sv.excess(reading, "vector", sv.FEW),
            "few_matrix": sv.excess(reading, "matrix", sv.FEW),
            "vector": sv.excess(reading, "vector"),
            "temperature": sv.excess(reading, "temperature"),
        },
        sv.balanced,
        lambda few_vector, few_matrix, vector, temperature: (
            f"log loss above Bayes, {sv.FEW} rows: {sv.compared(few_vector, few_matrix, 'vector', 'matrix')}; 10,000 "
            f"rows: {sv.compared(vector, temperature, 'vector', 'temperature', 5)}"
        ),
    ),
}


# What the survey says of matrix scaling and Dirichlet calibration (its figures 19 and 20).


CAPPED = (0.75, 0.85)
"""What is around 0.8."""

CORNER = np.array([((1 - s) * r, (1 - s) * (1 - r), s) for s in (0.9, 0.93, 0.96, 0.99) for r in (0.2, 0.5, 0.8)])
"""Where class 3 is almost certain."""


def moved() -> dict[str, Any]:
    """Return how far methods move the probability of class 3 near its corner, on the mean over a network's sets: with 8 as a
    standard deviation, the reading that the caption of the figure picks."""

    def of(name: str, method: str) -> float:
        fits = [sv.fitted_three(sv.READINGS[1], name, method, seed) for seed in range(sv.SETS)]
        return float(np.mean([np.abs(np.asarray(fit.calibrate(CORNER)) - CORNER)[:, 2].mean() for fit in fits]))

    methods = {"dirichlet": "dirichlet", "matrix": "matrix", "penalised": sv.ODIR}
    return {word: [of(name, method) for name in sv.NETWORKS] for word, method in methods.items()}


def unchanged() -> dict[str, float]:
    """Return the largest change by Dirichlet calibration with W = I and b = 0."""
    prob = np.random.default_rng(0).dirichlet(np.ones(3), 1000)
    same = DirichletCalibration(diagonal=1e-3, off_diagonal=1e-3, intercept=1e-3).fit(prob, np.arange(1000) % 3)
    same.coef_, same.intercept_ = np.eye(3), np.zeros(3)
    return {"change": np.abs(same.calibrate(prob) - prob).max()}


def highest() -> dict[str, Any]:
    """Return the highest probability of class 3: of Bayes' rule, and of each network."""
    found = {}
    for reading in sv.READINGS:
        of = [float(sv.the_case(name, reading).forecast[:, 2].max()) for name in ("bayes-optimal", *sv.NETWORKS)]
        found[reading] = {"bayes": of[0], "networks": of[1:]}
    return {"highest": found, "low": CAPPED[0], "high": CAPPED[1]}


def of_highest(highest: Mapping[str, Mapping[str, Any]], low: float, high: float) -> str:
    """Return the highest probabilities of class 3 in sentences."""
    return sv.each(
        {
            f"8 as a {reading}": f"{of['bayes']:.3f}, networks {min(of['networks']):.3f} to {max(of['networks']):.3f}"
            for reading, of in highest.items()
        }
    )


OF_MATRICES = {
    "matrix-classes-1-2": sv.on_networks(
        lambda reading: {
            "classes": {f"class {j + 1}": [sv.of_class(reading, j, m) for m in ("matrix", "vector")] for j in (0, 1)}
        },
        sv.lower_in_each,
        sv.differences,
    ),
    "matrix-class-3": sv.pair("E abs(S - C) of class 3", "matrix", "vector", of_class_3),
    "matrix-overfits": sv.over_fits("matrix"),
    "dirichlet-near-matrix": sv.on_networks(sv.apart("dirichlet", "matrix"), sv.near, sv.distances),
    "dirichlet-corner": (
        moved,
        lambda dirichlet, matrix, penalised: sv.lower(dirichlet, matrix),
        lambda dirichlet, matrix, penalised: (
            f"It moves by {sv.compared(dirichlet, matrix, 'Dirichlet', 'matrix')}, less in {sv.count(dirichlet, matrix)}. With "
            f"ODIR's penalties, which eq. 19 does not have, by {sv.shown(penalised)}, less in {sv.count(penalised, matrix)}"
        ),
    ),
    "capped": (highest, sv.capped, of_highest),
    "dirichlet-identity": never(unchanged),
    "dirichlet-overfits": sv.over_fits("dirichlet"),
    "odir": sv.pair(
        f"log loss above Bayes, fitted to {sv.FEW} rows,",
        sv.ODIR,
        "dirichlet",
        lambda reading, method: sv.excess(reading, method, sv.FEW),
    ),
}

FUNCTIONS: dict[str, Functions] = OF_ISOTONIC | OF_SIGMOIDS | OF_VECTORS | OF_MATRICES
