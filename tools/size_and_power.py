"""How often the tests of calibration reject, by simulation: at calibration their size, away from it their power.

Run: python -m tools.size_and_power [runs]. The tables go to docs/testing.md.
"""

import sys
import warnings
from collections.abc import Callable, Iterable
from functools import partial

import numpy as np
from scipy.special import expit, logit, softmax

from calibrant import (
    EqualWidth,
    calibration_error,
    equivalence_test,
    hosmer_lemeshow_test,
    paired_test,
    spiegelhalter_test,
)
from calibrant.significance import (
    cox_test,
    kernel_test,
    kolmogorov_smirnov_test,
    kuiper_test,
    pearson_test,
    resampling_test,
)

RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
LEVEL, DRAWS = 0.05, 99

Forecast = tuple[np.ndarray, np.ndarray]
"""What is forecast, and the probabilities with which it occurs."""


# Forecasts of one event


def calibrated(rng: np.random.Generator, n: int) -> Forecast:
    score = expit(rng.normal(0, 1.5, n))
    return score, score


def over_confident(rng: np.random.Generator, n: int) -> Forecast:
    score, _ = calibrated(rng, n)
    return score, expit(logit(score) / 1.4)


def under_confident(rng: np.random.Generator, n: int) -> Forecast:
    score, _ = calibrated(rng, n)
    return score, expit(logit(score) * 1.4)


def too_high(rng: np.random.Generator, n: int) -> Forecast:
    score, _ = calibrated(rng, n)
    return score, expit(logit(score) - 0.3)


def wave(rng: np.random.Generator, n: int) -> Forecast:
    """Too high and too low in turn, four times over the scores."""
    score, _ = calibrated(rng, n)
    return score, np.clip(score + 0.12 * np.sin(8 * np.pi * score), 0, 1)


def rare(rng: np.random.Generator, n: int) -> Forecast:
    """Calibrated; two events in a hundred rows."""
    score = expit(rng.normal(-4.2, 0.8, n))
    return score, score


# Forecasts of three classes


def calibrated_3(rng: np.random.Generator, n: int) -> Forecast:
    prob = softmax(rng.normal(0, 1.5, (n, 3)), axis=1)
    return prob, prob


def over_confident_3(rng: np.random.Generator, n: int) -> Forecast:
    prob, _ = calibrated_3(rng, n)
    return prob, softmax(np.log(prob) / 1.3, axis=1)


def shifted_3(rng: np.random.Generator, n: int) -> Forecast:
    """The first class occurs more often than predicted, the third less."""
    prob, _ = calibrated_3(rng, n)
    return prob, softmax(np.log(prob) + np.array([0.3, 0.0, -0.3]), axis=1)


def turned_3(rng: np.random.Generator, n: int) -> Forecast:
    """Turned about the centre: each class by itself is calibrated, and so is the top label, but the whole is not."""
    prob, _ = calibrated_3(rng, n)
    turn = np.roll(prob, -1, axis=1) - np.roll(prob, -2, axis=1)
    return prob, prob + 10 * prob.prod(axis=1, keepdims=True) * turn


def drawn(rng: np.random.Generator, rate: np.ndarray) -> np.ndarray:
    if rate.ndim == 1:
        return (rng.random(len(rate)) < rate).astype(int)
    return (rng.random((len(rate), 1)) > rate.cumsum(axis=1)).sum(axis=1).clip(0, rate.shape[1] - 1)


# Tables


def shares(pvalues: Callable[[np.random.Generator], Iterable[float]]) -> list[str]:
    """Return how often each p-value of a run is at most the level."""
    rng = np.random.default_rng(0)
    rejected = np.mean([np.array(list(pvalues(rng))) <= LEVEL for _ in range(RUNS)], axis=0)
    return [f"{100 * share:.1f}" for share in rejected]


def table(head: str, names: Iterable[str], columns: dict[str, list[str]]) -> None:
    """Print a table with a row a name and a column an entry of ``columns``."""
    print(f"\n| {head} | " + " | ".join(columns) + " |\n|---|" + "---|" * len(columns), flush=True)
    for name, row in zip(names, zip(*columns.values(), strict=True), strict=True):
        print(f"| {name} | " + " | ".join(row) + " |", flush=True)


def of_one_forecast(head: str, tests: dict[str, Callable], scenes: dict[str, tuple[Callable, int]]) -> None:
    """Print a table of tests by scenes."""

    def pvalues(make: Callable, n: int, rng: np.random.Generator) -> Iterable[float]:
        score, rate = make(rng, n)
        y = drawn(rng, rate)
        return [test(y, score, **({"rng": rng} if "draws" in name else {})).pvalue for name, test in tests.items()]

    table(head, tests, {scene: shares(partial(pvalues, *what)) for scene, what in scenes.items()})


BINARY = {
    "Hosmer-Lemeshow, `n_resamples=None`": partial(hosmer_lemeshow_test, n_resamples=None),
    "Hosmer-Lemeshow, draws": partial(hosmer_lemeshow_test, n_resamples=DRAWS),
    "Spiegelhalter": spiegelhalter_test,
    "Cox": cox_test,
    "Kolmogorov-Smirnov": kolmogorov_smirnov_test,
    "Kolmogorov-Smirnov, draws": partial(kolmogorov_smirnov_test, n_resamples=DRAWS),
    "Kuiper": kuiper_test,
    "resampling of `ece`, draws": partial(resampling_test, metric="ece", n_resamples=DRAWS),
    "resampling of `brier`, draws": partial(resampling_test, metric="brier", n_resamples=DRAWS),
    "kernel, draws": partial(kernel_test, n_resamples=DRAWS),
}
MULTICLASS = {
    "Hosmer-Lemeshow, `n_resamples=None`": partial(hosmer_lemeshow_test, n_resamples=None),
    "Hosmer-Lemeshow, draws": partial(hosmer_lemeshow_test, n_resamples=DRAWS),
    "Pearson, draws": partial(pearson_test, n_resamples=DRAWS),
    "Spiegelhalter, confidence": spiegelhalter_test,
    "Spiegelhalter, class-wise": partial(spiegelhalter_test, notion="class-wise"),
    "Kuiper, confidence": kuiper_test,
    "resampling of `ece`, draws": partial(resampling_test, metric="ece", n_resamples=DRAWS),
    "resampling of `classwise-ece`, draws": partial(resampling_test, n_resamples=DRAWS),
    "kernel, draws": partial(kernel_test, n_resamples=DRAWS),
}


def logistic_fit(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Probabilities of the logistic model of greatest likelihood, by Newton's method."""
    design, beta = np.column_stack([np.ones_like(x), x]), np.zeros(2)
    for _ in range(8):
        p = expit(design @ beta)
        beta += np.linalg.solve(design.T @ (design * (p * (1 - p))[:, None]), design.T @ (y - p))
    return expit(design @ beta)


def of_fitted_models() -> None:
    """Print how the law of Hosmer and Lemeshow's test depends on where the model was fitted."""

    def pvalues(rng: np.random.Generator) -> Iterable[float]:
        x = rng.normal(0, 1.5, 500)
        y = drawn(rng, expit(x))
        for prob in (logistic_fit(x, y), expit(x)):
            yield hosmer_lemeshow_test(y, prob, fitted=True).pvalue
            yield hosmer_lemeshow_test(y, prob, n_resamples=None).pvalue
            yield hosmer_lemeshow_test(y, prob, n_resamples=DRAWS, rng=rng).pvalue

    found = shares(pvalues)
    columns = {"fitted on these rows": found[:3], "held out": found[3:]}
    table("size, n = 500", ["`fitted=True`", "`n_resamples=None`", "draws, the default"], columns)


# Two forecasts


def of_two_forecasts() -> None:
    """Print the table of the paired test; A is forecast first."""
    metrics = ("debiased-ece", "ece", "brier")

    def a_sharper(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        stratum, within = rng.integers(0, 4, n), rng.random(n)
        return (stratum + within) / 4, (stratum + 0.5) / 4, (stratum + within) / 4

    def b_sharper(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        a, b, rate = a_sharper(rng, n)
        return b, a, rate

    def noisy(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        z = rng.normal(0, 1.5, n)
        a, b = expit(z + rng.normal(0, 0.5, (2, n)))
        return a, b, expit(z)

    def either_side(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        p = rng.uniform(0.2, 0.4, n) + 0.4 * rng.integers(0, 2, n)
        return p + 0.1 * np.sign(p - 0.5), p - 0.1 * np.sign(p - 0.5), p

    def b_over_confident(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        z = rng.normal(0, 1.5, n)
        return expit(z), expit(1.5 * z), expit(z)

    def pvalues(make: Callable, n: int, rng: np.random.Generator) -> Iterable[float]:
        a, b, rate = make(rng, n)
        y = drawn(rng, rate)
        return [
            paired_test(y, a, b, metric=m, binning=10, n_resamples=DRAWS, rng=rng, alternative="less").pvalue
            for m in metrics
        ]

    scenes = {
        "exchangeable": (noisy, 500),
        "both calibrated, A sharper": (a_sharper, 500),
        "both calibrated, B sharper": (b_sharper, 500),
        "as wrong to the other side": (either_side, 500),
        "as wrong to the other side, n = 2000": (either_side, 2000),
        "B over-confident": (b_over_confident, 500),
        "B over-confident, n = 2000": (b_over_confident, 2000),
    }
    columns = {name: shares(partial(pvalues, *what)) for name, what in scenes.items()}
    table("A is better (n = 500), by", [f"`{m}`" for m in metrics], columns)


# At most so much


def of_equivalence() -> None:
    """Print how often an error is called smaller than the bound: at the bound, and where there is none."""
    edges = EqualWidth(15)

    def at_bound(make: Callable, n: int, rng: np.random.Generator) -> Iterable[float]:
        score, rate = make(rng, n)
        # Each row counted twice, as an event with its probability and as none with the rest.
        both, outcome = np.concatenate([score, score]), np.repeat([1, 0], n)
        weight = np.concatenate([rate, 1 - rate])
        bounds = [
            calibration_error(outcome, both, binning=edges, norm=norm, sample_weight=weight) for norm in ("l1", "l2")
        ]
        y = drawn(rng, rate)
        for metric, bound in zip(("ece", "rmsce"), bounds, strict=True):
            yield equivalence_test(y, score, metric=metric, bound=bound, n_resamples=199, rng=rng).pvalue

    def below(bound: float, n: int, rng: np.random.Generator) -> Iterable[float]:
        score, rate = calibrated(rng, n)
        y = drawn(rng, rate)
        for metric in ("ece", "rmsce"):
            yield equivalence_test(y, score, metric=metric, bound=bound, n_resamples=199, rng=rng).pvalue

    scenes = {"over-confident": over_confident, "too high": too_high, "wave": wave}
    columns = {
        f"{name}, n = {n}": shares(partial(at_bound, make, n)) for name, make in scenes.items() for n in (300, 2000)
    }
    table("error at the bound", ["`ece`", "`rmsce`"], columns)
    pairs = ((0.05, 1000), (0.05, 2000), (0.02, 5000), (0.02, 10_000), (0.02, 20_000))
    columns = {f"bound {bound}, n = {n}": shares(partial(below, bound, n)) for bound, n in pairs}
    table("no error", ["`ece`", "`rmsce`"], columns)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(f"Share of {RUNS} runs in which p is at most {LEVEL}, in percent; where labels are drawn, {DRAWS} times.")
    sizes = {f"n = {n}": (calibrated, n) for n in (50, 200, 1000)}
    sizes |= {f"rare, n = {n}": (rare, n) for n in (50, 1000)}
    of_one_forecast("one event: size", BINARY, sizes)
    makers = (over_confident, under_confident, too_high, wave)
    of_one_forecast("power, n = 500", BINARY, {make.__name__.replace("_", " "): (make, 500) for make in makers})
    of_one_forecast("three classes: size", MULTICLASS, {f"n = {n}": (calibrated_3, n) for n in (50, 200, 500)})
    makers = (over_confident_3, shifted_3, turned_3)
    scenes = {make.__name__[:-2].replace("_", " "): (make, 500) for make in makers}
    of_one_forecast("power, n = 500", MULTICLASS, scenes)
    of_fitted_models()
    of_two_forecasts()
    of_equivalence()
