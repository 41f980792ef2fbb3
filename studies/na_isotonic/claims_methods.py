"""What the paper says of the methods themselves: assumptions, optimality, algorithms and an example."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from sklearn.isotonic import isotonic_regression

from studies.claims import Claim, Numbers, Verdict
from studies.judging import holds
from studies.na_isotonic.annealing import GRANULARITIES, SEEDS, found, searched
from studies.na_isotonic.duels import EXACT, NA_FIR
from studies.na_isotonic.forecasts import published_models
from studies.na_isotonic.measured import CALIBRATORS, MEASURED, measured
from studies.na_isotonic.small import (
    SCORES,
    as_in_the_lemma,
    as_printed,
    gain_over_isotonic,
    gains,
    midpoints_above,
    misses,
    upper_set,
)

N_PROBLEMS, N_POINTS, N_RANKS = 300, 7, 3
N_PAIRS = 500
ROUNDING = 1e-9
"""Mean NLL by which random searches may differ."""

KEEP_ORDER = ("NA-FIR", EXACT, *NA_FIR, "FIR", "TS")
CHANGE_ORDER = ("SCIR", "IR-OvR", "VS", "MS")
INVARIANT, NOT_INVARIANT = ("NA-FIR", "SCIR", "FIR", "TS"), ("IR-OvR", "VS", "MS")


# Theorem D.1


def measure_scores() -> Numbers:
    return {"gain": {name: gain_over_isotonic(100, 6, score) for name, score in SCORES.items()}, "problems": 100}


def judge_scores(gain: Mapping[str, float], problems: int) -> Verdict:
    return holds(all(value <= ROUNDING for value in gain.values()))


def words_scores(gain: Mapping[str, float], problems: int) -> str:
    return (
        f"In {problems} random problems of 6 weighted points the best of all non-decreasing maps on a grid of 399 values is "
        f"lower than isotonic regression by at most {max(0.0, *gain.values()):.1g}, for {', '.join(gain)}."
    )


# Table 1


def measure_order() -> Numbers:
    share = (np.array([one.disordered for one in measured()]) > 0).mean(axis=0)
    return {
        "forecasts": [f"{one.data_set}, {one.architecture}, {one.seed}" for one in measured()],
        "share": {method: float(share[MEASURED.index(method)]) for method in (*KEEP_ORDER, *CHANGE_ORDER)},
    }


def judge_order(forecasts: Sequence[str], share: Mapping[str, float]) -> Verdict:
    """Order is kept on every forecast, or changed on one at least."""
    kept = all(share[method] == 0 for method in KEEP_ORDER)
    return holds(kept and all(share[method] > 0 for method in CHANGE_ORDER))


def words_order(forecasts: Sequence[str], share: Mapping[str, float]) -> str:
    said = ", ".join(f"{method} {share[method]:.0%}" for method in ("NA-FIR", "FIR", "TS", *CHANGE_ORDER))
    return f"Share of {len(forecasts)} forecasts with a test row in which two classes change their order: {said}."


def measure_invariance() -> Numbers:
    change: dict[str, list[float]] = {}
    few = [model for model in published_models() if model.n_classes <= 10]
    for model in few:
        order = np.random.default_rng(0).permutation(model.n_classes)
        while (order == np.arange(model.n_classes)).any():
            order = np.random.default_rng(int(order[0])).permutation(model.n_classes)
        rows = model.test[:500]
        for method, make in CALIBRATORS.items():
            fitted = make().fit(model.fit, model.y_fit)
            moved = np.abs(fitted.predict_proba(rows[:, order]) - fitted.predict_proba(rows)[:, order]).max()
            change.setdefault(method, []).append(float(moved))
    return {"models": [f"{m.data_set}, {m.architecture}" for m in few], "change": change}


def judge_invariance(models: Sequence[str], change: Mapping[str, Sequence[float]]) -> Verdict:
    same = all(max(change[method]) <= ROUNDING for method in INVARIANT)
    return holds(same and all(max(change[method]) > ROUNDING for method in NOT_INVARIANT))


def words_invariance(models: Sequence[str], change: Mapping[str, Sequence[float]]) -> str:
    said = ", ".join(f"{method} {max(values):.1g}" for method, values in change.items())
    return (
        f"Largest change of a probability when the columns of a row are permuted, over {len(models)} forecasts: {said}."
    )


# Section 4.1


def measure_convexity() -> Numbers:
    return {
        "pairs": N_PAIRS,
        "above": midpoints_above(N_PAIRS, logarithm=False),
        "above_in_logarithm": midpoints_above(N_PAIRS, logarithm=True),
    }


def judge_convexity(pairs: int, above: int, above_in_logarithm: int) -> Verdict:
    """Not convex in any form, in this form only, or convex."""
    if not above:
        return Verdict.FAILS
    return Verdict.HOLDS if above_in_logarithm else Verdict.IN_PART


def words_convexity(pairs: int, above: int, above_in_logarithm: int) -> str:
    return (
        f"Of {pairs} pairs of maps the objective at the midpoint is above the mean of its ends for {above} in the values of "
        f"the map, for {above_in_logarithm} in their logarithms. It is not convex in the values. In the logarithms it is a "
        "log-sum-exp less a linear function, under linear constraints: convex, so that the optimum can be computed."
    )


def measure_stability() -> Numbers:
    ends = {file: {f"{size:g}": searched(file, size).tolist() for size in GRANULARITIES} for file in found()}
    start, optimum = ({file: of[name][0] for file, of in found().items()} for name in ("FIR", "NA-FIR, exact"))
    return {"ends": ends, "start": start, "optimum": optimum}


def judge_stability(
    ends: Mapping[str, Mapping[str, Sequence[float]]], start: Mapping[str, float], optimum: Mapping[str, float]
) -> Verdict:
    """Whether all searches move, and seeds matter less than the search does."""
    return holds(
        all(max(of) - min(of) < start[file] - max(of) for file, sizes in ends.items() for of in sizes.values())
    )


def words_stability(
    ends: Mapping[str, Mapping[str, Sequence[float]]], start: Mapping[str, float], optimum: Mapping[str, float]
) -> str:
    each = [(file, of) for file, sizes in ends.items() for of in sizes.values()]
    ratio = max((max(of) - min(of)) / (start[file] - max(of)) for file, of in each)
    way = [(start[file] - max(of)) / (start[file] - optimum[file]) for file, of in each]
    spread = max(max(of) - min(of) for sizes in ends.values() for of in sizes.values())
    above = [value - optimum[file] for file, sizes in ends.items() for of in sizes.values() for value in of]
    return (
        f"On {len(ends)} forecasts, {SEEDS} searches of each of {len(GRANULARITIES)} step sizes: calibration NLL differs by at "
        f"most {spread:.6f} between searches of one step size, which is at most {ratio:.0%} of what the search gains on its "
        f"start, FIR. All end above the optimum, by {min(above):.6f} to {max(above):.6f}, after {min(way):.0%} to "
        f"{max(way):.0%} of the way to it."
    )


# Section 4.2 and appendix A


def measure_example() -> Numbers:
    row = np.array([0.2, 0.4, 0.3, 0.1])
    return {"sums": np.cumsum(np.sort(row)[::-1])[:3].round(12).tolist(), "printed": 0.8}


def judge_example(sums: Sequence[float], printed: float) -> Verdict:
    return holds(abs(sums[1] - printed) <= ROUNDING)


def words_example(sums: Sequence[float], printed: float) -> str:
    return (
        f"The two highest of 0.4, 0.3, 0.2, 0.1 sum to {sums[1]:g}: the second value is g({sums[1]:g}, 2). A misprint."
    )


def measure_upper_set(take=as_printed) -> Numbers:
    return {
        "problems": N_PROBLEMS,
        "missed": misses(N_PROBLEMS, N_POINTS, N_RANKS, take),
        "smallest": upper_set([1, 2, 1], gains([1, 1, 0]), 2, take),
    }


def measure_lemma() -> Numbers:
    return measure_upper_set(as_in_the_lemma)


def judge_upper_set(problems: int, missed: int, smallest: Sequence[int]) -> Verdict:
    return holds(missed == 0)


def words_upper_set(problems: int, missed: int, smallest: Sequence[int]) -> str:
    points = ", ".join(str(i + 1) for i in smallest)
    return (
        f"The set found has less than the greatest sum in {missed} of {problems} random problems ({N_POINTS} points, {N_RANKS} "
        f"ranks). Of points of rank 1, 2, 1 with outcomes 1, 1, 0 in order of score it takes number {points}; number 2 alone "
        "is the maximal upper set."
    )


def measure_constant() -> Numbers:
    gain, fit = gains([1, 0]), isotonic_regression([1.0, 0.0])
    return {
        "fit": float(fit[0]),
        "whole": float(sum(gain)),
        "largest_upper_set": upper_set([1, 1], gain, 1, as_in_the_lemma),
    }


def judge_constant(fit: float, whole: float, largest_upper_set: Sequence[int]) -> Verdict:
    return holds(abs(fit - whole) <= ROUNDING)


def words_constant(fit: float, whole: float, largest_upper_set: Sequence[int]) -> str:
    return (
        f"Of two points with outcomes 1, 0 the empty set is maximal and the fit is their mean, {fit:g}; H of the whole set is "
        f"{whole:g}, as it is always. The mean is meant."
    )


CLAIMS = (
    Claim(
        "order",
        "section 4.1, Table 1",
        "NA-FIR, FIR and TS keep the order of a row's classes; SCIR, IR-OvR, VS and MS need not.",
        "no row is changed by the first three on any forecast, and some row by each of the others",
        Verdict.HOLDS,
        measure_order,
        judge_order,
        words_order,
        tolerance="1e-12",
        over="forecasts",
    ),
    Claim(
        "permutation",
        "Table 1",
        "NA-FIR, SCIR, FIR and TS treat all classes alike (permutation invariance); IR-OvR, VS and MS do not.",
        "a fitted map gives the same probabilities when columns are permuted for the first four, and others for the last three",
        Verdict.HOLDS,
        measure_invariance,
        judge_invariance,
        words_invariance,
        tolerance="1e-9",
        over="models",
    ),
    Claim(
        "convexity",
        "section 4.1",
        "The problem of NA-FIR is not convex, so local minima are searched for at random.",
        "midpoints above the mean of their ends in the values of the map, and in their logarithms",
        Verdict.IN_PART,
        measure_convexity,
        judge_convexity,
        words_convexity,
        tolerance="1e-9",
        one_suffices="it is proven: the objective in the logarithms is a log-sum-exp less a linear function",
    ),
    Claim(
        "stable search",
        "section 4.1",
        "The random search converges stably.",
        "searches with the same step size end at calibration NLLs that differ by less than each has gained on its start, on "
        "each forecast",
        Verdict.HOLDS,
        measure_stability,
        judge_stability,
        words_stability,
        over="ends",
    ),
    Claim(
        "example of SCIR",
        "section 4.2",
        "In the example the third highest of (0.2, 0.4, 0.3, 0.1) gets g(0.9, 3) - g(0.8, 2).",
        "0.8 is the sum of the two highest",
        Verdict.FAILS,
        measure_example,
        judge_example,
        words_example,
        tolerance="1e-9",
        one_suffices="arithmetic of a printed example",
    ),
    Claim(
        "Algorithm 2",
        "Algorithms 2 and 3",
        "The printed algorithm, which looks at the sign of y - b, returns a maximal upper set.",
        "the greatest sum in every random problem",
        Verdict.FAILS,
        measure_upper_set,
        judge_upper_set,
        words_upper_set,
        one_suffices="a counterexample to a statement about all problems",
    ),
    Claim(
        "Lemma A.11",
        "Lemma A.11",
        "Taking the greater of both sums at each point gives a maximal upper set.",
        "the greatest sum in every random problem",
        Verdict.HOLDS,
        measure_lemma,
        judge_upper_set,
        words_upper_set,
    ),
    Claim(
        "Theorem A.5",
        "Theorem A.5",
        "Where no upper set has a positive sum, the fit is H of the whole set.",
        "the fit of a falling pair equals H of the whole set",
        Verdict.FAILS,
        measure_constant,
        judge_constant,
        words_constant,
        tolerance="1e-9",
        one_suffices="H of the whole set is 0 by its definition",
    ),
    Claim(
        "proper scores",
        "Theorem D.1",
        "Isotonic regression of one score is the best non-decreasing map by every proper scoring rule.",
        "no map on a fine grid is better, by four proper scoring rules",
        Verdict.HOLDS,
        measure_scores,
        judge_scores,
        words_scores,
        tolerance="1e-9",
    ),
)
