"""How often the guarantees of histogram binning are kept, by simulation.

Run: python -m studies.top_label.guarantee PART [DRAWS], PART one of promises, ties, edges, exact, vectors; by default all.
The worlds, and their truth in closed form, are those of tests/reference/guarantee.py.
"""

import sys
from collections.abc import Callable
from functools import cache
from math import log, sqrt
from pathlib import Path

import numpy as np
from scipy.stats import binom

from calibrant import HistogramBinning
from calibrant.binning import PointsPerBin
from calibrant.calibrators import binning_guarantee, canonical_binning_guarantee
from studies.claims import mean_and_error, table

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from reference import guarantee as worlds

SETTINGS = ((1000, 10), (1000, 50), (5000, 100))
WITHOUT_TIES = {"coins": worlds.COINS, "mixed": worlds.MIXED}
WITH_TIES = {"coins, ties": worlds.TIED_COINS, "mixed, ties": worlds.TIED_MIXED, "atoms": worlds.ATOMS}
ALPHA, DELTA = 0.1, 1e-10
VECTORS = {"even, 3 classes": [1 / 3] * 3, "0.9, 0.05, 0.05": [0.9, 0.05, 0.05], "even, 10 classes": [0.1] * 10}
HEAD = ["world", "n", "k", "rows", "new row", "all pairs", "TL-ECE", "mean TL-ECE", "bound", "new row / 3", "all / 3"]

Fit = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


def binned(k: int, *, interior: bool) -> Fit:
    """Return what fits edges and values as the library does."""
    calibrator = HistogramBinning(PointsPerBin(k), interior=interior, delta=DELTA, labels=[0, 1])

    def fit(score: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        fitted = calibrator.fit(score, right)
        return fitted.edges_, fitted.value_

    return fit


def without_edges(k: int) -> Fit:
    """Return what fits the same edges, and values without any row on an inner one, as long as others are there."""
    whole = binned(k, interior=False)

    def fit(score: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        edges, value = whole(score, right)
        inside, value = ~np.isin(score, edges[1:-1]), value.copy()
        for b in range(value.size):
            here = inside & (score > edges[b]) & (score <= edges[b + 1])
            if here.any():
                value[b] = right[here].mean() + DELTA * b / value.size
        return edges, value

    return fit


@cache
def simulated(name: str, n: int, k: int, draws: int) -> tuple[np.ndarray, np.ndarray]:
    """Return errors and probabilities of pairs in a world without ties, with the rows inside bins."""
    fit = binned(k, interior=True)
    errors, masses = worlds.simulate(WITHOUT_TIES[name], fit, n, draws, np.random.default_rng(0))
    return errors, masses


def promised_rates(draws: int) -> dict[str, list[float]]:
    """Return how often each promise is kept, a mean over calibration sets and its standard error."""
    found = {}
    for name in WITHOUT_TIES:
        for n, k in SETTINGS:
            error, mass = simulated(name, n, k, draws)
            promised = binning_guarantee(n, k, n_classes=3, alpha=ALPHA, delta=DELTA)
            case = f"{name}, n {n}, k {k}"
            found[f"new row, {case}"] = (mass * (error <= promised.marginal_error)).sum(axis=1)
            found[f"all pairs and TL-MCE, {case}"] = error.max(axis=1) <= promised.conditional_error
            found[f"TL-ECE, {case}"] = (error * mass).sum(axis=1) <= promised.conditional_error
    return {case: list(mean_and_error([float(one) for one in of])) for case, of in found.items()}


def mean_errors(draws: int) -> dict[str, dict[str, float]]:
    """Return the mean TL-ECE of each world and setting, and the bound of Theorem 1."""
    cases = {f"{name}, n {n}, k {k}": (name, n, k) for name in WITHOUT_TIES for n, k in SETTINGS}
    lower = {case: float(np.mean(np.sum(np.prod(simulated(*of, draws), axis=0), axis=1))) for case, of in cases.items()}
    upper = {
        case: binning_guarantee(n, k, n_classes=3, delta=DELTA).expected_error for case, (_, n, k) in cases.items()
    }
    return {"lower": lower, "upper": upper}


def kept(world: worlds.World, fit: Fit, n: int, k: int, draws: int) -> list[str]:
    """Return how often each promise was kept, the mean TL-ECE and its bounds, and what a third of the bounds would keep."""
    error, mass = worlds.simulate(world, fit, n, draws, np.random.default_rng(0))
    promised = binning_guarantee(n, k, n_classes=3, alpha=ALPHA, delta=DELTA)
    tl_ece = (error * mass).sum(axis=1)
    rates = [
        (mass * (error <= promised.marginal_error)).sum(axis=1),
        error.max(axis=1) <= promised.conditional_error,
        tl_ece <= promised.conditional_error,
        (mass * (error <= promised.marginal_error / 3)).sum(axis=1),
        error.max(axis=1) <= promised.conditional_error / 3,
    ]
    words = [percent(np.mean(one)) for one in rates]
    means = [f"{tl_ece.mean():.3f}", f"{promised.sharp_expected_error:.3f} / {promised.expected_error:.3f}"]
    return [*words[:3], *means, *words[3:]]


def top_label(known: dict[str, worlds.World], draws: int) -> str:
    """Return a table, a line a world and a setting, with the rows inside bins and with all."""
    runs = [(name, n, k, interior) for name in known for n, k in SETTINGS for interior in (True, False)]
    body = []
    for name, n, k, interior in runs:
        found = kept(known[name], binned(k, interior=interior), n, k, draws)
        body.append([name, str(n), str(k), "inside" if interior else "all", *found])
    return table(HEAD, body)


def edges(draws: int) -> str:
    """Return a table of atoms: one row's worth left out on each edge, none, or all rows that lie there."""
    n, k = 1000, 50
    ways = {"inside": binned(k, interior=True), "all": binned(k, interior=False), "none on an edge": without_edges(k)}
    return table(HEAD, [["atoms", str(n), str(k), word, *kept(worlds.ATOMS, ways[word], n, k, draws)] for word in ways])


def exact(draws: int) -> str:
    """Return a table: the worst case of a binomial rate of 49 rows beside Hoeffding's bound. Nothing is drawn."""
    body = []
    for word, alpha in (("marginal", ALPHA), ("conditional, 100 bins", ALPHA / 100)):
        hoeffding, least = sqrt(log(2 / alpha) / (2 * 49)), worst_case(49, alpha)
        body.append([word, f"{hoeffding:.4f}", f"{least:.4f}", f"{least / hoeffding:.2f}"])
    return table(["bound, k = 50", "Hoeffding", "exact", "ratio"], body)


def worst_case(m: int, alpha: float) -> float:
    """Return the smallest t with P(|X / m - p| > t) <= alpha for each p of a fine grid, X binomial of m and p."""
    p = np.linspace(0.0, 1.0, 20_001)
    low, high = 0.0, 1.0
    for _ in range(30):
        t = (low + high) / 2
        outside = binom.cdf(np.ceil(m * (p - t)) - 1, m, p) + binom.sf(np.floor(m * (p + t)), m, p)
        low, high = (low, t) if outside.max() <= alpha else (t, high)
    return high


def vectors(draws: int) -> str:
    """Return a table: how often the L1 bounds of multinomial bins were kept, and the mean error."""
    body = []
    for name, m in [(name, m) for name in VECTORS for m in (20, 200)]:
        prob = np.array(VECTORS[name])
        drawn = np.random.default_rng(0).multinomial(m, prob, size=(draws, 27)) / m
        error = np.abs(drawn - prob).sum(axis=2)
        promised = canonical_binning_guarantee(m, 27, n_classes=prob.size, alpha=ALPHA)
        rates = [np.mean(error <= promised.marginal_error), np.mean(error.max(axis=1) <= promised.conditional_error)]
        body.append([name, str(m), "27", *map(percent, rates), f"{error.mean():.3f}", f"{promised.expected_error:.3f}"])
    return table(["vector", "rows a bin", "bins", "new row", "all bins", "mean error", "bound"], body)


def percent(rate: float) -> str:
    """Return a rate with one digit, cut and not rounded: 100 means always."""
    return f"{np.floor(1000 * rate) / 10:.1f}%"


PARTS: dict[str, Callable[[int], str]] = {
    "promises": lambda draws: top_label(WITHOUT_TIES, draws),
    "ties": lambda draws: top_label(WITH_TIES, draws),
    "edges": edges,
    "exact": exact,
    "vectors": vectors,
}


def main(part: str = "all", draws: str = "2000") -> None:
    """Print the tables of one part, or of all."""
    for name in PARTS if part == "all" else (part,):
        print(f"{name}\n\n{PARTS[name](int(draws))}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
