"""What the paper says of the methods themselves: assumptions, optimality, algorithms and an example."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import combinations

import numpy as np
from scipy.special import logsumexp
from sklearn.isotonic import isotonic_regression

from calibrant import ByNotion, IsotonicCalibration, NormalizedFlattenedIsotonic, log_loss
from calibrant.calibrators.base import Calibrator
from studies.claims import Functions, Numbers, Verdict, holds, printed_as, table
from studies.na_isotonic import forecasts as fc

# NA-FIR solved exactly against NA-FIR by random search, on the published forecasts whose optimum others computed as well.


FACTS = {
    "cifar100_densenet_bc": {"FIR": 0.884718, "annealed": 0.878208, "exact": 0.877675},
    "cifar100_lenet5": {"FIR": 3.781316, "annealed": 3.780964, "exact": 3.780798},
    "cifar10_lenet5": {"FIR": 1.288933, "annealed": 1.288364, "exact": 1.288225},
}
"""Mean NLL of the rows to calibrate on, as other programs have it; their FIR has no value below 1e-7."""

PRINTED = {"exact": 1e-6, "FIR": 1e-5}
"""How far from that ours may be, as the page says. Random searches differ."""

ANNEALED, EXACT_SEARCH, CHOSEN = "NA-FIR, annealed", "NA-FIR, exact", "NA-FIR, exact, smoothed"


def methods() -> dict[str, Calibrator]:
    return {
        "FIR": ByNotion(IsotonicCalibration(finite=None), "flattened"),
        ANNEALED: NormalizedFlattenedIsotonic(solver="annealing", smoothing=0.0, random_state=0),
        EXACT_SEARCH: NormalizedFlattenedIsotonic(smoothing=0.0),
        CHOSEN: NormalizedFlattenedIsotonic(),
    }


GRANULARITIES, SEEDS = (0.001, 0.003, 0.01), 3
"""By how much a block is changed at a time, and how many random searches of each."""


@cache
def found() -> dict[str, dict[str, tuple[float, float, float]]]:
    """NLL of the rows to calibrate on, NLL of the test rows and CPU seconds, of each method on each forecast."""
    published = {file: fc.published_model(*names) for file, names in fc.PUBLISHED.items() if file in FACTS}
    return {file: {name: _fitted(of, model) for name, of in methods().items()} for file, model in published.items()}


def _fitted(calibrator: Calibrator, model: fc.Model) -> tuple[float, float, float]:
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # without smoothing the optimum lies at infinity, as the page says
        calibrator.fit(model.fit, model.y_fit)
    seconds = time.process_time() - start
    fit, test = (calibrator.predict_proba(rows) for rows in (model.fit, model.test))
    nll = partial(log_loss, clip=1e-12)
    return nll(model.y_fit, fit), nll(model.y_test, test), seconds


def check_facts() -> None:
    """Stop if an optimum that others computed does not come out."""
    for file, figures in FACTS.items():
        for name, ours in (("exact", EXACT_SEARCH), ("FIR", "FIR")):
            value = found()[file][ours][0]
            if abs(value - figures[name]) > PRINTED[name]:
                raise SystemExit(f"NLL of {ours} on the rows of {file} must be {figures[name]}; got {value:.8f}")


def annealing_table() -> str:
    body = []
    for file, of in found().items():
        data_set, architecture = fc.PUBLISHED[file]
        others = {"FIR": "FIR", ANNEALED: "annealed", EXACT_SEARCH: "exact"}
        for name, (fit, test, seconds) in of.items():
            other = f"{FACTS[file][others[name]]:.6f}" if name in others else ""
            best = test <= min(row[1] for row in of.values())
            body.append([f"{architecture}, {data_set}", name, f"{fit:.6f}", other])
            body[-1] += [f"**{test:.4f}**" if best else f"{test:.4f}", f"{seconds:.2f}"]
    return table(["forecast", "method", "calibration NLL", "other programs", "test NLL", "CPU s"], body)


@cache
def searched(file: str, granularity: float) -> np.ndarray:
    """NLL of the rows to calibrate on, one a random search."""
    model = fc.published_model(*fc.PUBLISHED[file])
    searches = (
        NormalizedFlattenedIsotonic(solver="annealing", smoothing=0.0, granularity=granularity, random_state=seed)
        for seed in range(SEEDS)
    )
    return np.array([_fitted(search, model)[0] for search in searches])


def finding() -> str:
    """What the exact solution adds, on the rows fitted and on others."""
    above = [of[ANNEALED][0] - of[EXACT_SEARCH][0] for of in found().values()]
    worse = sum(of[EXACT_SEARCH][1] > of[ANNEALED][1] for of in found().values())
    better = sum(of[CHOSEN][1] < of[ANNEALED][1] for of in found().values())
    n, gains = len(above), ", ".join(f"{of[ANNEALED][1] - of[CHOSEN][1]:+.4f}" for of in found().values())
    return (
        f"Annealing ends {min(above):.6f} to {max(above):.6f} above the optimum of the rows fitted. The optimum itself "
        f"over-fits: on test rows it is worse than annealing, which stops on its way there, on {worse} of {n}. With "
        f"smoothing by cross-validation the exact solution is better than annealing on {better} of {n}, by "
        f"{gains} on the test rows."
    )


# Statements of the paper about all problems, checked on small ones against their definitions.


Take = Callable[[int, int, int], bool]
"""Whether to take a point, of its gain, the best sum without it and the best sum with it."""


def as_printed(gain: int, without: int, taken: int) -> bool:
    """Algorithms 2 and 3 look at the sign of the gain alone."""
    return gain >= 0


def as_in_the_lemma(gain: int, without: int, taken: int) -> bool:
    """Lemma A.11 takes the greater sum."""
    return taken > without


def upper_set(rank: Sequence[int], gain: Sequence[int], n_ranks: int, take: Take) -> list[int]:
    """The upper set that Algorithm 2 finds, of points in order of score: M and R are those of the paper."""
    n = len(rank)
    M = [[0] * (n_ranks + 2) for _ in range(n + 1)]
    R = [[0] * (n_ranks + 2) for _ in range(n)]
    for i in reversed(range(n)):
        for j in range(1, n_ranks + 2):
            taken = M[i + 1][min(j, rank[i])] + gain[i]
            if j <= rank[i] or take(gain[i], M[i + 1][j], taken):
                M[i][j], R[i][j] = taken, min(j, rank[i])
            else:
                M[i][j], R[i][j] = M[i + 1][j], j
    found, j = [], n_ranks + 1
    for i in range(n):
        if R[i][j] <= rank[i]:
            found.append(i)
        j = R[i][j]
    return found


def upper_sets(rank: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Every set that holds, with each point, all of higher score and rank."""
    points = range(len(rank))
    for size in range(len(rank) + 1):
        for chosen in combinations(points, size):
            held = set(chosen)
            if all(k in held for i in chosen for k in range(i + 1, len(rank)) if rank[k] >= rank[i]):
                yield chosen


def gains(outcome: Sequence[int]) -> list[int]:
    """Outcomes less their mean, times their number: whole numbers."""
    return [len(outcome) * y - sum(outcome) for y in outcome]


def misses(n_problems: int, n_points: int, n_ranks: int, take: Take) -> int:
    """In how many random problems the set found has a lower sum than the best upper set."""
    rng = np.random.default_rng(0)
    missed = 0
    for _ in range(n_problems):
        rank = rng.integers(1, n_ranks + 1, n_points).tolist()
        gain = gains(rng.integers(0, 2, n_points).tolist())
        best = max(sum(gain[i] for i in chosen) for chosen in upper_sets(rank))
        missed += sum(gain[i] for i in upper_set(rank, gain, n_ranks, take)) < best
    return missed


def midpoints_above(n_pairs: int, *, logarithm: bool) -> int:
    """At how many midpoints of two non-decreasing maps the objective of NA-FIR is above the mean of its ends.

    The midpoint is one of values g, or of their logarithms. A convex function has none.
    """
    rng = np.random.default_rng(0)
    above = 0
    for _ in range(n_pairs):
        counts = rng.multinomial(4, [0.4, 0.3, 0.3], size=6)  # classes of each row in each of three blocks
        of_true = np.array([rng.choice(3, p=row / row.sum()) for row in counts])
        ends = np.sort(rng.uniform(0.01, 1.0, (2, 3)), axis=1)
        points = np.log(ends) if logarithm else ends
        log_values = [point if logarithm else np.log(point) for point in (*points, points.mean(axis=0))]
        first, second, middle = (_nll(counts, of_true, value) for value in log_values)
        above += middle > (first + second) / 2 + 1e-9
    return above


def _nll(counts: np.ndarray, of_true: np.ndarray, log_value: np.ndarray) -> float:
    return float((logsumexp(log_value, axis=1, b=counts) - log_value[of_true]).sum())


SCORES: dict[str, Callable[[np.ndarray, int], np.ndarray]] = {
    "log loss": lambda p, y: -np.log(p if y else 1 - p),
    "Brier score": lambda p, y: (p - y) ** 2,
    "spherical score": lambda p, y: -(p if y else 1 - p) / np.sqrt(p**2 + (1 - p) ** 2),
    "cost at 0.3": lambda p, y: 0.3 * (1 - y) * (p > 0.3) + 0.7 * y * (p <= 0.3),
}
"""Proper scoring rules; lower is better."""


def gain_over_isotonic(n_problems: int, n_points: int, score: Callable[[np.ndarray, int], np.ndarray]) -> float:
    """By how much the best non-decreasing map on a fine grid has a lower mean score than isotonic regression, at most."""
    rng = np.random.default_rng(0)
    grid = np.linspace(0.0, 1.0, 401)[1:-1]
    worst = -np.inf
    for _ in range(n_problems):
        y, weight = rng.integers(0, 2, n_points), rng.uniform(0.5, 2.0, n_points)
        fitted = isotonic_regression(y.astype(float), sample_weight=weight, y_min=1e-9, y_max=1 - 1e-9)
        own = sum(w * float(score(np.array(p), int(t))) for w, p, t in zip(weight, fitted, y, strict=True))
        best = np.zeros(len(grid))
        for w, t in zip(weight, y, strict=True):
            best = np.minimum.accumulate(best) + w * score(grid, int(t))
        worst = max(worst, (own - best.min()) / weight.sum())
    return float(worst)


N_PROBLEMS, N_POINTS, N_RANKS = 300, 7, 3
N_PAIRS = 500
ROUNDING = 1e-9
"""Mean NLL by which random searches may differ."""

KEEP_ORDER = ("NA-FIR", fc.EXACT, *fc.NA_FIR, "FIR", "TS")
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
    share = (np.array([one.disordered for one in fc.measured()]) > 0).mean(axis=0)
    return {
        "forecasts": [f"{one.data_set}, {one.architecture}, {one.seed}" for one in fc.measured()],
        "share": {method: float(share[fc.MEASURED.index(method)]) for method in (*KEEP_ORDER, *CHANGE_ORDER)},
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
    few = [model for model in fc.published_models() if model.n_classes <= 10]
    for model in few:
        order = np.random.default_rng(0).permutation(model.n_classes)
        while (order == np.arange(model.n_classes)).any():
            order = np.random.default_rng(int(order[0])).permutation(model.n_classes)
        rows = model.test[:500]
        for method in fc.CALIBRATORS:
            fitted = fc.made(method).fit(model.fit, model.y_fit)
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
    """Return whether the second sum is as printed; a misprint, where the third, 0.9, is that of the same rule."""
    return printed_as(abs(sums[1] - printed) <= ROUNDING, abs(sums[2] - 0.9) <= ROUNDING)


def words_example(sums: Sequence[float], printed: float) -> str:
    return (
        f"The two highest of 0.4, 0.3, 0.2, 0.1 sum to {sums[1]:g}: the second value is g({sums[1]:g}, 2). The three highest "
        f"sum to {sums[2]:g}, as printed."
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
    """Return whether the fit is as printed; a misprint, where it is the mean of the whole set, 0.5."""
    if abs(fit - whole) <= ROUNDING:
        return Verdict.HOLDS
    return Verdict.MISPRINT if abs(fit - 0.5) <= ROUNDING else Verdict.FAILS


def words_constant(fit: float, whole: float, largest_upper_set: Sequence[int]) -> str:
    return (
        f"Of two points with outcomes 1, 0 the empty set is maximal and the fit is their mean, {fit:g}; H of the whole set is "
        f"{whole:g}, as it is always. The mean is meant."
    )


FUNCTIONS: dict[str, Functions] = {
    "order": (measure_order, judge_order, words_order),
    "permutation": (measure_invariance, judge_invariance, words_invariance),
    "convexity": (measure_convexity, judge_convexity, words_convexity),
    "stable search": (measure_stability, judge_stability, words_stability),
    "example of SCIR": (measure_example, judge_example, words_example),
    "Algorithm 2": (measure_upper_set, judge_upper_set, words_upper_set),
    "Lemma A.11": (measure_lemma, judge_upper_set, words_upper_set),
    "Theorem A.5": (measure_constant, judge_constant, words_constant),
    "proper scores": (measure_scores, judge_scores, words_scores),
}
