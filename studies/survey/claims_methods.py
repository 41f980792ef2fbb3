"""What the survey says of isotonic regression (its figure 14)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from calibrant import BetaCalibration, DirichletCalibration, IsotonicCalibration, PlattScaling
from studies.claims import Claim, Verdict, all_of, below_zero, holds, on_several, under_all_readings
from studies.survey import cases
from studies.survey.cases import (
    CLASSES,
    CLEARLY,
    DRAWS,
    FALLS,
    FEW,
    LEFT_OVER,
    LITTLE,
    LOGISTIC,
    METHODS,
    MOVED,
    ODIR,
    ON_TEN,
    OUR_VECTOR,
    PLATT,
    SAME,
    STRAIGHT,
    WELL,
    WORLDS,
    Draws,
    Region,
    added_to_bayes,
    after,
    before,
    before_of_class,
    best_case_added,
    best_monotone,
    change,
    class_by_class,
    cost,
    differences,
    each,
    excess,
    extent,
    fitted,
    fitted_three,
    grouped,
    highest_of_class_3,
    less,
    logistic,
    lower,
    lower_in_each,
    mass_of,
    near_in_each,
    network,
    of_class,
    off_before,
    off_inside,
    off_where,
    on_few_rows,
    on_the_network,
    over_draws,
    over_fits,
    pair,
    rows,
    show,
    the_case,
    values,
)
from studies.survey.cases import NEAR_DIAGRAMS as NEAR
from studies.survey.cases import errors as exact_errors
from studies.survey.cases import errors_by_measure as errors

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
        judge=lambda here, elsewhere: cases.above_zero(less(here, elsewhere)),
        words=lambda here, elsewhere: "E abs(S - C) " + cases.compared(here, elsewhere, "there", "elsewhere"),
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


OF_ISOTONIC: tuple[Claim, ...] = (
    Claim(
        key="isotonic-values",
        where="Fig. 14",
        sentence="Isotonic regression gives a larger variety of outputs than binning.",
        target="always more than 10 blocks",
        says=Verdict.HOLDS,
        measure=blocks,
        judge=cases.many_values,
        words=lambda cases, bins: "Blocks: " + each({n: extent(counts) for n, counts in cases.items()}),
    ),
    Claim(
        key="isotonic-works",
        where="Fig. 14",
        sentence="Isotonic regression works reasonably well: the two logistic cases.",
        target=FALLS,
        says=Verdict.HOLDS,
        measure=logistic(errors, ISOTONIC),
        judge=cases.in_each(cases.falls),
        words=cases.from_to_in_each,
    ),
    Claim(
        key="isotonic-works-network",
        where="Fig. 14",
        sentence="Isotonic regression works reasonably well: the neural network.",
        target="the same, for every one of several networks",
        says=Verdict.OPEN,
        measure=network(errors, ISOTONIC),
        judge=on_several(cases.falls),
        words=cases.of_networks(cases.from_to),
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
        judge=lambda readings: under_all_readings(cases.in_each(cases.rises)(of) for of in readings.values()),
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
        words=cases.of_networks(
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
        judge=cases.full_confidence,
        words=lambda zero, one: f"The first value is 0 in {zero:.0%} of the fits, the last is 1 in {one:.0%}",
    ),
)


# What the survey says of matrix scaling and Dirichlet calibration (its figures 19 and 20).


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
        lambda dirichlet, matrix: "it moves by " + cases.compared(dirichlet, matrix, "Dirichlet", "matrix"),
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
        judge=cases.capped,
        words=of_highest,
    ),
    Claim(
        key="dirichlet-identity",
        where="Section 5.4",
        sentence="Dirichlet calibration contains the identity.",
        target="with W = I and b = 0 no probability changes by more than 1e-10",
        says=Verdict.HOLDS,
        measure=unchanged,
        judge=cases.identity,
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

OF_MATRICES = (*MATRIX, *DIRICHLET)


# What the survey says of Platt scaling and beta calibration (its figures 15 and 16).


BETA = "beta"
TENTHS: list[Region] = [(k / 10, (k + 1) / 10 + (0.01 if k == 9 else 0.0)) for k in range(10)]
MEASURES = {
    "E abs(S - C)": "calibration",
    "the calibration loss": "brier_calibration",
    "the log loss above Bayes": "log_excess",
}
BY_ALL = "by E abs(S - C), by calibration loss and by log loss above Bayes alike"
LOW, HIGH, UPPER = (0.0, 0.5), (0.5, 1.01), (0.6, 1.01)
NOT_THEIRS = "the survey did not run this method: it fits the sigmoid to the probabilities themselves"


def of_case(name: str, method: str) -> Any:
    """Return a measure of E|S - C| before and after."""
    return lambda: errors(name, method)


def by_measure(name: str, method: str) -> Any:
    """Return a measure of what is left by E|S - C|, by calibration loss and by log loss above Bayes."""

    def measure() -> dict[str, Any]:
        was = before(name)
        return {
            "measures": {
                word: {"before": getattr(was, what), "after": after(name, method, what)}
                for word, what in MEASURES.items()
            }
        }

    return measure


def of_measures(measures: Mapping[str, Mapping[str, Any]]) -> str:
    """Return what is left by each measure."""
    shares = ", ".join(f"{show(cases.left(**of), 1, 100)} % of {word}" for word, of in measures.items())
    return f"It differs between measures; left are {shares}"


def under_all_measures(judge: cases.Judge) -> cases.Judge:
    """Return the verdict that every measure gives."""
    return lambda measures: under_all_readings(judge(**of) for of in measures.values())


def inside(name: str, method: str, region: Region) -> dict[str, Any]:
    """Return E|S - C| in a region before and after."""
    return {"before": off_before(name, region), "after": off_inside(name, method, region)}


def high_in_both_readings() -> dict[str, Any]:
    """Return E|S - C| of the over-confident case in [0.5, 1], which can be read as a region before or after calibration."""
    there = inside("over-confident", BETA, HIGH)
    return {
        "readings": {
            "there before,": there,
            "there after,": there | {"after": off_where("over-confident", BETA, HIGH)},
            "Platt scaling, there before,": inside("over-confident", STRAIGHT, HIGH),
        }
    }


def by_region(method: str) -> dict[str, Any]:
    """Return E|S - C| of the network in each tenth of [0, 1]."""
    return {
        "before": [off_before("mlp", region) for region in TENTHS],
        "after": [off_inside("mlp", method, region) for region in TENTHS],
    }


def on_log_odds(key: str, sentence: str, measure: Any, say: cases.Words) -> Claim:
    """Return what a method does that the survey did not run: no verdict on its sentence."""
    return Claim(
        key=key,
        where="not in the survey",
        sentence=f"Platt scaling on log-odds: {sentence}",
        target=NOT_THEIRS,
        says=Verdict.NOT_JUDGED,
        measure=measure,
        judge=lambda **numbers: Verdict.NOT_JUDGED,
        words=say,
    )


def more_corrections() -> dict[str, Any]:
    """Return E|S - C| of the over-confident case in [0, 0.5] after each method."""
    return {
        "before": off_before("over-confident", LOW),
        "beta": off_inside("over-confident", BETA, LOW),
        "platt": off_inside("over-confident", STRAIGHT, LOW),
    }


def apart() -> dict[str, Any]:
    """Return how far the two calibrated cases are apart."""
    mass = the_case("under-confident").mass
    both = ("under-confident", "over-confident")
    one, other = (lambda s, name=name: values(name, BETA, s) for name in both)
    return {"apart": over_draws(lambda s: float(mass @ np.abs(one(s) - other(s))))}


def unchanged_by_beta() -> dict[str, Any]:
    """Return the largest change by beta calibration with a = b = 1 and c = 0."""
    same = BetaCalibration().fit([0.2, 0.4, 0.6, 0.8], [0, 1, 0, 1])
    same.a_, same.b_, same.c_ = 1.0, 1.0, 0.0
    scores = np.linspace(0.001, 0.999, 999)
    return {"largest_change": float(np.abs(same.calibrate(scores) - scores).max()), "tolerance": 1e-12}


def added() -> dict[str, Any]:
    """Return the log loss that each method adds to Bayes' own predictions."""
    names = {"beta": BETA, "platt": STRAIGHT, "platt_log_odds": PLATT}
    return {word: best_case_added("bayes-optimal", METHODS[name]) for word, name in names.items()}


WELL_BY_ALL = f"less than {WELL:.0%} is left, {CLEARLY}, {BY_ALL}"

PLATT_SCALING: tuple[Claim, ...] = (
    Claim(
        key="platt-under",
        where="Fig. 15",
        sentence="Platt scaling improves the under-confident case well.",
        target=WELL_BY_ALL,
        says=Verdict.OPEN,
        measure=by_measure("under-confident", STRAIGHT),
        judge=under_all_measures(cases.works_well),
        words=of_measures,
    ),
    Claim(
        key="platt-over",
        where="Fig. 15",
        sentence="It does little for the over-confident case.",
        target=f"more than {LITTLE:.0%} is left, {CLEARLY}, {BY_ALL}",
        says=Verdict.OPEN,
        measure=by_measure("over-confident", STRAIGHT),
        judge=under_all_measures(cases.does_little),
        words=of_measures,
    ),
    Claim(
        key="platt-over-cause",
        where="Fig. 15",
        sentence="The cause: a sigmoid cannot push probabilities to the middle.",
        target="a cause, which was not computed",
        says=Verdict.NOT_JUDGED,
        measure=dict,
        judge=lambda: Verdict.NOT_JUDGED,
        words=lambda: "Nothing was computed",
    ),
    Claim(
        key="platt-network",
        where="Fig. 15",
        sentence="It makes the calibration of the neural network worse around several regions.",
        target=f"worse in two tenths of [0, 1] or more, {CLEARLY}, for every one of several networks",
        says=Verdict.OPEN,
        measure=lambda: {"networks": [by_region(STRAIGHT)]},
        judge=on_several(cases.worse_in_regions),
        words=cases.of_networks(cases.region_by_region),
    ),
    on_log_odds(
        "log-odds-under", "the under-confident case.", of_case("under-confident", PLATT), cases.how_much_is_left
    ),
    on_log_odds("log-odds-over", "the over-confident case.", of_case("over-confident", PLATT), cases.how_much_is_left),
    on_log_odds("log-odds-network", "the neural network.", lambda: by_region(PLATT), cases.region_by_region),
)

BETA_CALIBRATION: tuple[Claim, ...] = (
    Claim(
        key="beta-under",
        where="Fig. 16",
        sentence="Beta calibration deals with the under-confident case fairly well: its diagram follows the diagonal "
        "closely.",
        target=WELL_BY_ALL,
        says=Verdict.OPEN,
        measure=by_measure("under-confident", BETA),
        judge=under_all_measures(cases.works_well),
        words=of_measures,
    ),
    Claim(
        key="beta-over-low",
        where="Fig. 16",
        sentence="In the over-confident case it corrects more than Platt scaling around [0, 0.5].",
        target=f"E abs(S - C) there is lower, {CLEARLY}",
        says=Verdict.HOLDS,
        measure=more_corrections,
        judge=lambda before, beta, platt: below_zero(less(beta, platt)),
        words=lambda before, beta, platt: (
            f"E abs(S - C) there {before:.4f} before; " + cases.compared(beta, platt, "beta", "Platt scaling")
        ),
    ),
    Claim(
        key="beta-over-high",
        where="Fig. 16",
        sentence="It does not help much in [0.5, 1].",
        target="the caption compares it with Platt scaling, and says neither how much would be much nor by which measure",
        says=Verdict.OPEN,
        measure=high_in_both_readings,
        judge=lambda readings: Verdict.OPEN,
        words=lambda readings: "; ".join(f"{when} {cases.how_much_is_left(**of)}" for when, of in readings.items()),
    ),
    Claim(
        key="beta-network",
        where="Fig. 16",
        sentence="It improves the neural network somewhat around [0.6, 1].",
        target=f"{FALLS} there, for every one of several networks",
        says=Verdict.OPEN,
        measure=lambda: {"networks": [inside("mlp", BETA, UPPER)]},
        judge=on_several(cases.falls),
        words=cases.of_networks(cases.how_much_is_left),
    ),
    Claim(
        key="beta-network-diagonal",
        where="Fig. 16",
        sentence="There it brings the diagram to the diagonal.",
        target=f"{LEFT_OVER}, for every one of several networks",
        says=Verdict.OPEN,
        measure=lambda: {"networks": [inside("mlp", BETA, UPPER)]},
        judge=on_several(cases.works_well),
        words=cases.of_networks(cases.how_much_is_left),
    ),
    Claim(
        key="beta-same",
        where="Fig. 16",
        sentence="Calibrated, both logistic cases have nearly one diagram.",
        target=f"the calibrated predictions differ by less than {SAME} on average, {CLEARLY}",
        says=Verdict.HOLDS,
        measure=apart,
        judge=cases.almost_the_same,
        words=lambda apart: f"They differ by {show(apart)}",
    ),
    Claim(
        key="beta-identity",
        where="Section 2.2, 5.3",
        sentence="Beta calibration contains the identity: a = b = 1, c = 0.",
        target="no score changes by more than 1e-12",
        says=Verdict.HOLDS,
        measure=unchanged_by_beta,
        judge=cases.identity,
        words=lambda largest_change, tolerance: f"The largest change is {largest_change:.0e}",
    ),
    Claim(
        key="beta-calibrated",
        where="Section 2.2, 5.3",
        sentence="So it recognises predictions that are calibrated already, which Platt scaling, without the "
        "identity, makes worse.",
        target=f"fitted to Bayes' own predictions it adds less log loss than Platt scaling, {CLEARLY}",
        says=Verdict.HOLDS,
        measure=added,
        judge=lambda beta, platt, platt_log_odds: below_zero(less(beta, platt)),
        words=lambda beta, platt, platt_log_odds: (
            f"Log loss added: {cases.compared(beta, platt, 'beta', 'Platt scaling', 5)}; on log-odds, which contains "
            f"the identity and which the survey did not run, {show(platt_log_odds, 5)}"
        ),
    ),
)

OF_SIGMOIDS = (*PLATT_SCALING, *BETA_CALIBRATION)


# What the survey says of temperature and vector scaling (its figures 17 and 18).


LOW_OF_THREE, MIDDLE, HIGH_OF_THREE = (0.0, 0.1), (0.1, 0.4), (0.4, 1.0)
ELSEWHERE_OF_THREE = [
    (j, region) for j in CLASSES for region in (LOW_OF_THREE, MIDDLE, HIGH_OF_THREE) if region != MIDDLE or j == 2
]


def in_the_middle_of_three() -> dict[str, Any]:
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
        "before": [before_of_class(j, region) for j, region in ELSEWHERE_OF_THREE],
        "after": [of_class(j, "temperature", region) for j, region in ELSEWHERE_OF_THREE],
    }


def worse_elsewhere(before: Sequence[float], after: Sequence[Draws]) -> Verdict:
    """Return whether more than half of the regions get worse; in part, whether any does."""
    worse = sum(cases.rises(b, a) is Verdict.HOLDS for b, a in zip(before, after, strict=True))
    return Verdict.HOLDS if worse > len(before) / 2 else Verdict.IN_PART if worse else Verdict.FAILS


def of_regions(before: Sequence[float], after: Sequence[Draws]) -> str:
    """Return in how many regions the error rises and falls."""
    found = [cases.rises(b, a) for b, a in zip(before, after, strict=True)]
    return f"of {len(found)} regions worse in {found.count(Verdict.HOLDS)}, better in {found.count(Verdict.FAILS)}"


TEMPERATURE: tuple[Claim, ...] = (
    on_the_network(
        "temperature-middle",
        "Fig. 17",
        "Temperature scaling improves the diagrams of classes 1 and 2 around [0.1, 0.4].",
        f"E abs(S - C) there falls {CLEARLY}",
        in_the_middle_of_three,
        cases.in_each(cases.falls),
        cases.from_to_in_each,
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
    return all_of([cases.rises(before, temperature), lower(vector, temperature)])


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
            f"log loss above Bayes, {FEW} rows: {cases.compared(few_vector, few_matrix, 'vector', 'matrix')}; 10,000 "
            f"rows: {cases.compared(vector, temperature, 'vector', 'temperature', 5)}"
        ),
        OUR_VECTOR,
    ),
)

OF_VECTORS = (*TEMPERATURE, *VECTOR)
