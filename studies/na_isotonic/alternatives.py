"""Other ways to the map of NA-FIR that appendix A.2 names, what normalisation changes, and whether pairs alone decide a fit."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial

import numpy as np
from scipy.optimize import LinearConstraint, minimize
from sklearn.isotonic import isotonic_regression

from calibrant import NormalizedFlattenedIsotonic, SortedCumulativeIsotonic
from calibrant._core.arrays import prob_of_scores
from calibrant._core.border import as_problem
from calibrant._core.rows import as_simplex
from calibrant.calibrators.nafir import Cells, Comparisons
from calibrant.metrics import log_loss
from studies.claims import Functions, Numbers, Verdict, holds, mostly, table, under_all_readings
from studies.na_isotonic import forecasts as fc

# Appendix A.2: projected gradients, SLSQP, trust-constr and penalties, in the values g of the blocks of FIR, as it writes them.


FLOOR, MOST_STEPS, MOST_ITERATIONS, CHARGE = 1e-9, 1000, 1000, 1e4


class Blocks:
    """The likelihood of A.2 over the blocks of FIR, as a function of their values g, and its slope."""

    def __init__(self, model: fc.Model) -> None:
        self.model = model
        cells = Cells.of(as_simplex(as_problem(model.y_fit, model.fit, labels=range(model.n_classes))))
        starts = cells.isotonic_starts(cells.mass())
        self.rows, self.lower = Comparisons.of(cells, starts), cells.lower[starts]
        self.start = np.exp(self.rows.rates(0.0))

    def at(self, g: np.ndarray) -> tuple[float, np.ndarray]:
        """Mean NLL of the calibration rows, and its slope in g."""
        g = np.maximum(g, FLOOR)
        value = self.rows.loss(np.log(g))
        return value, (self.rows.shares(np.log(g))[2] - self.rows.events) / g

    def ended(self, g: np.ndarray) -> tuple[float, float]:
        """NLL on the calibration rows and on the test rows of the nearest map that does not fall."""
        theta = np.log(np.maximum(isotonic_regression(g), FLOOR))
        at = np.searchsorted(self.lower[1:], self.model.test, side="right")
        return self.rows.loss(theta), log_loss(self.model.y_test, prob_of_scores(theta[at]), clip=1e-12)


def projected_gradients(of: Blocks) -> np.ndarray:
    """Steps down the slope, each put back by PAVA; half as long where one goes up."""
    g, (value, slope), length = of.start, of.at(of.start), 1.0
    for _ in range(MOST_STEPS):
        tried = np.maximum(isotonic_regression(g - length * slope), FLOOR)
        new, other = of.at(tried)
        if new < value:
            g, value, slope, length = tried, new, other, 1.5 * length
        else:
            length /= 2.0
    return g


def by_scipy(method: str, **options: float) -> Callable[[Blocks], np.ndarray]:
    """SciPy's solver of this name, with the order as linear constraints."""

    def ended(of: Blocks) -> np.ndarray:
        n = of.start.size
        rises = LinearConstraint(np.eye(n)[1:] - np.eye(n)[:-1], 0.0, np.inf)
        how = {"bounds": [(FLOOR, 1.0)] * n, "constraints": rises, "options": options | {"maxiter": MOST_ITERATIONS}}
        return minimize(of.at, of.start, jac=True, method=method, **how).x

    return ended


def penalties(of: Blocks) -> np.ndarray:
    """The square of each fall is charged."""

    def charged(g: np.ndarray) -> tuple[float, np.ndarray]:
        (value, slope), fall = of.at(g), np.minimum(np.diff(g), 0.0)
        back = 2.0 * CHARGE * fall
        return value + CHARGE * float(fall @ fall), slope - np.append(back, 0.0) + np.append(0.0, back)

    bounds = [(FLOOR, None)] * of.start.size
    return minimize(
        charged, of.start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": MOST_ITERATIONS}
    ).x


BARRIER = ("initial_barrier_parameter", "initial_barrier_tolerance")
"""With SciPy's own trust-constr drifts off, since the likelihood has no scale."""

ALTERNATIVES: dict[str, Callable[[Blocks], np.ndarray]] = {
    "projected gradients": projected_gradients,
    "SLSQP": by_scipy("SLSQP", ftol=1e-10),
    "trust-constr": by_scipy("trust-constr", initial_tr_radius=0.1, **dict.fromkeys(BARRIER, 1e-4)),
    "penalties": penalties,
}


@cache
def searched() -> dict[str, dict[str, list[float]]]:
    """NLL on the calibration rows, on the test rows and CPU seconds of each way, for each published forecast."""
    found = {}
    for model in fc.published_models():
        of, ways = Blocks(model), {}
        started = time.process_time()
        annealed = NormalizedFlattenedIsotonic(solver="annealing", smoothing=0.0, granularity=0.003, random_state=0)
        prob = annealed.fit(model.fit, model.y_fit).predict_proba(model.test)
        taken = time.process_time() - started
        ways["annealing"] = [annealed.loss_, log_loss(model.y_test, prob, clip=1e-12), taken]
        for name, way in ALTERNATIVES.items():
            started = time.process_time()
            g = way(of)
            ways[name] = [*of.ended(g), time.process_time() - started]
        found[fc.name_of(model)] = ways
    return found


def alternatives_table() -> str:
    body = []
    for name, ways in searched().items():
        for way, (fit, test, seconds) in ways.items():
            best = fit <= min(of[0] for of in ways.values()) + 1e-9
            body.append([name, way, f"**{fit:.6f}**" if best else f"{fit:.6f}", f"{test:.4f}", f"{seconds:.1f}"])
    return table(["forecast", "way", "calibration NLL", "test NLL", "CPU s"], body)


def measure_search() -> Numbers:
    """By how much annealing ends above each other way, on the rows of the fit and on the test rows."""
    return {
        "forecasts": list(searched()),
        "above": {
            rows: {way: [of["annealing"][i] - of[way][i] for of in searched().values()] for way in ALTERNATIVES}
            for i, rows in enumerate(("calibration rows", "test rows"))
        },
    }


def judge_search(forecasts: Sequence[str], above: Mapping[str, Mapping[str, Sequence[float]]]) -> Verdict:
    """Whether annealing is lower in most comparisons, by either meaning of better."""
    cases = ([gap for gaps in of.values() for gap in gaps] for of in above.values())
    return under_all_readings(holds(2 * sum(gap < 0 for gap in of) > len(of)) for of in cases)


def words_search(forecasts: Sequence[str], above: Mapping[str, Mapping[str, Sequence[float]]]) -> str:
    parts = [
        f"{rows}: lower than "
        + ", ".join(
            f"{way} on {sum(gap < 0 for gap in gaps)} of {len(gaps)} ({min(gaps):+.4f} to {max(gaps):+.4f})"
            for way, gaps in of.items()
        )
        for rows, of in above.items()
    ]
    return f"NLL of annealing less that of the other way, over {len(forecasts)} forecasts; {'; '.join(parts)}"


# Section 5.2, Fig. 2: NA-FIR against FIR by the probability before.


def measure_inflation() -> Numbers:
    """What NA-FIR is above FIR by band, of each neural network (means over its splits)."""
    of = [(", ".join(name), np.mean([m.shift for m in of], axis=0).round(6)) for name, of in fc.by_model().items()]
    return {"shift": {name: shift.tolist() for (name, shift), yes in zip(of, fc.neural(), strict=True) if yes}}


def judge_inflation(shift: Mapping[str, Sequence[float]]) -> Verdict:
    """Whether the lowest band rises and the highest falls on most models, clearly, by sign tests."""
    ends = [[of[0] for of in shift.values()], [-of[-1] for of in shift.values()]]
    return under_all_readings(mostly(sum(d > 0 for d in of), sum(d != 0 for d in of)) for of in ends)


def words_inflation(shift: Mapping[str, Sequence[float]]) -> str:
    up, down = sum(of[0] > 0 for of in shift.values()), sum(of[-1] < 0 for of in shift.values())
    shown = "; ".join(
        f"{name} {', '.join(f'{d:+.3f}' for d in shift[name])}" for name in shift if name.startswith("CIFAR-100")
    )
    return (
        f"NA-FIR (annealed by 0.003) less FIR in {fc.BANDS} bands of the probability before, from 0.01 to 1: the lowest rises "
        f"on {up} of {len(shift)} neural networks, the highest falls on {down}. {shown}"
    )


# Table 1, line 3: a method that takes classes for independent sees pairs of probability and outcome, column by column.


DRAWS, VOTES, N_CLASSES, N_ROWS = 5, 12, 4, 600
INDEPENDENT, DEPENDENT = ("FIR", "IR-OvR"), ("NA-FIR", "SCIR", "TS", "VS", "MS")
ROUNDING = 1e-9


def permuted(prob: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Exchange pairs of probability and outcome within columns, so that rows keep their labels and their sums.

    Two rows of one class exchange two columns that have the same sum in both: each column holds the same pairs as before.
    """
    found = prob.copy()
    for label in np.unique(y):
        rows = np.flatnonzero(y == label)
        for _ in range(20 * len(rows)):
            (i, k), pair = rng.choice(rows, 2, replace=False), rng.choice(prob.shape[1], 2, replace=False)
            if found[i, pair].sum() == found[k, pair].sum():
                found[np.ix_([i, k], pair)] = found[np.ix_([k, i], pair)]
    return found


def measure_pairs() -> Numbers:
    change: dict[str, list[float]] = {}
    for seed in range(DRAWS):
        rng = np.random.default_rng(seed)
        votes = rng.multinomial(VOTES, rng.dirichlet(np.ones(N_CLASSES), N_ROWS)) * 1.0
        y = (rng.random((N_ROWS, 1)) > (votes / VOTES).cumsum(axis=1)).sum(axis=1).clip(0, N_CLASSES - 1)
        other = permuted(votes, y, rng)
        for method in (*INDEPENDENT, *DEPENDENT):
            prob = [(of + 1) / (VOTES + N_CLASSES) for of in (votes, other)]
            models = [fc.Model("", "", seed, y, of, y, prob[0]) for of in prob]
            make = fc.made(method).set_params
            parts = [fc.calibrated_part(model, make) for model in models]
            change.setdefault(method, []).append(float(np.abs(parts[1] - parts[0]).max()))
    return {"change": change}


def judge_pairs(change: Mapping[str, Sequence[float]]) -> Verdict:
    same = all(max(change[method]) <= ROUNDING for method in INDEPENDENT)
    return holds(same and all(min(change[method]) > ROUNDING for method in DEPENDENT))


def words_pairs(change: Mapping[str, Sequence[float]]) -> str:
    said = ", ".join(f"{method} {max(of):.1g}" for method, of in change.items())
    return (
        f"Largest change of a probability after a fit to rows that exchange pairs of probability and outcome within columns, "
        f"in {DRAWS} drawn tables: {said}"
    )


FUNCTIONS: dict[str, Functions] = {
    "category independence": (measure_pairs, judge_pairs, words_pairs),
    "search against alternatives": (measure_search, judge_search, words_search),
    "low rise, high fall": (measure_inflation, judge_inflation, words_inflation),
}


# Fig. 5: the time of the dynamic programme against minimum cuts.


CUT_ROWS = (50, 100, 200, 500, 1000, 2000)


@cache
def cut_times() -> dict[str, list[tuple[float, float]]]:
    """CPU seconds of a fit on rows of the ResNet-50 on CIFAR-10, nine points a row."""
    from benchmarks.peers.min_cut import with_scipy  # not in the source distribution, and for this picture only

    model, found = fc.published_models()[0], {}
    scir = SortedCumulativeIsotonic(rise="last", epsilon=1e-4, labels=range(10))
    scir.fit(model.fit[:50], model.y_fit[:50])  # what is compiled is loaded
    for n in CUT_ROWS:
        y, prob = model.y_fit[:n], model.fit[:n]
        ways = {"dynamic programme": partial(scir.fit, prob, y), "minimum cuts": with_scipy(y, prob).fit}
        for name, fit in ways.items():
            started = time.process_time()
            fit()
            found.setdefault(name, []).append((float(n), time.process_time() - started))
    return found
