"""How often the tests of calibration reject, by simulation: at calibration their size, away from it their power.

Run: python -m tools.size_and_power [runs [parts]], such as 1000 sizes power; by default all of `PARTS`. The tables go to
docs/size-and-power.md.
"""

import sys
import warnings
from collections.abc import Callable, Iterable
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy.special import expit, logit, softmax

import calibrant as cb
from calibrant import significance
from tools.simulation import Make, counted_twice, forecast, outcomes, print_table

RUNS = int((*sys.argv, "1000")[1])
LEVEL, DRAWS = 0.05, 99
Draw = Callable[[np.random.Generator], Iterable[float]]
"""Draws rows, and returns the p-values of some tests of them."""


def scores(rng: np.random.Generator, n: int) -> np.ndarray:
    return expit(rng.normal(0, 1.5, n))


def tables(rng: np.random.Generator, n: int) -> np.ndarray:
    """Three classes."""
    return softmax(rng.normal(0, 1.5, (n, 3)), axis=1)


def turned(prob: np.ndarray) -> np.ndarray:
    """Turned about the centre: each class by itself is calibrated, and so is the top label, but the whole is not."""
    turn = np.roll(prob, -1, axis=1) - np.roll(prob, -2, axis=1)
    return prob + 10 * prob.prod(axis=1, keepdims=True) * turn


WRONG = {
    "over-confident": forecast(scores, lambda score: expit(logit(score) / 1.4)),
    "under-confident": forecast(scores, lambda score: expit(logit(score) * 1.4)),
    "too high": forecast(scores, lambda score: expit(logit(score) - 0.3)),
    "wave": forecast(scores, lambda score: np.clip(score + 0.12 * np.sin(8 * np.pi * score), 0, 1)),
}
"""Of one event. The wave is too high and too low in turn, four times over the scores."""

WRONG_TABLES = {
    "over-confident": forecast(tables, lambda prob: softmax(np.log(prob) / 1.3, axis=1)),
    "shifted": forecast(tables, lambda prob: softmax(np.log(prob) + np.array([0.3, 0.0, -0.3]), axis=1)),
    "turned": forecast(tables, turned),
}
"""Of three classes. In the shifted one the first class occurs more often than predicted, the third less."""


def any_class(test: Callable, y: np.ndarray, prob: np.ndarray) -> Any:
    """Return the least adjusted p-value of a test of each class, as a result."""
    found = significance.by_class(test, y, prob, labels=list(range(prob.shape[1])))
    return SimpleNamespace(pvalue=min(found.adjusted))


def shares(pvalues: Draw) -> list[str]:
    """Return how often each p-value of a run is at most the level."""
    rng = np.random.default_rng(0)
    rejected = np.mean([np.array(list(pvalues(rng))) <= LEVEL for _ in range(RUNS)], axis=0)
    return [f"{100 * share:.1f}" for share in rejected]


def table(head: str, names: Iterable[str], columns: dict[str, Draw]) -> None:
    """Print a table with a row a name and a column an entry of ``columns``."""
    print()
    rows = zip(names, *map(shares, columns.values()), strict=True)
    print_table([head, *columns], rows)


def of_one_forecast(head: str, tests: dict[str, Callable], scenes: dict[str, tuple[Make, int]]) -> None:
    """Print a table of tests by scenes."""

    def pvalues(make: Make, n: int, rng: np.random.Generator) -> Iterable[float]:
        score, rate = make(rng, n)
        y = outcomes(rng, rate)
        return [test(y, score, **({"rng": rng} if "draws" in name else {})).pvalue for name, test in tests.items()]

    table(head, tests, {scene: partial(pvalues, *what) for scene, what in scenes.items()})


HOSMER_LEMESHOW = {
    "Hosmer-Lemeshow, `n_resamples=None`": partial(cb.hosmer_lemeshow_test, n_resamples=None),
    "Hosmer-Lemeshow, draws": partial(cb.hosmer_lemeshow_test, n_resamples=DRAWS),
}
RESAMPLING = partial(significance.resampling_test, n_resamples=DRAWS)
DRAWN = {
    "kernel, draws": partial(significance.kernel_test, n_resamples=DRAWS),
    "Bayes factor, draws": partial(significance.bayes_factor_test, n_resamples=DRAWS),
}
BINARY = {
    **HOSMER_LEMESHOW,
    "Spiegelhalter": cb.spiegelhalter_test,
    "Cox": significance.cox_test,
    "Kolmogorov-Smirnov": significance.kolmogorov_smirnov_test,
    "Kolmogorov-Smirnov, draws": partial(significance.kolmogorov_smirnov_test, n_resamples=DRAWS),
    "Kuiper": significance.kuiper_test,
    "resampling of `ece`, draws": partial(RESAMPLING, metric="ece"),
    "resampling of `brier`, draws": partial(RESAMPLING, metric="brier"),
    **DRAWN,
}
MULTICLASS = {
    **HOSMER_LEMESHOW,
    "Spiegelhalter, confidence": cb.spiegelhalter_test,
    "Spiegelhalter, class-wise": partial(cb.spiegelhalter_test, notion="class-wise"),
    "Cox, confidence": significance.cox_test,
    "Kolmogorov-Smirnov, confidence": significance.kolmogorov_smirnov_test,
    "Kuiper, confidence": significance.kuiper_test,
    "Kuiper, any class of `by_class`": partial(any_class, significance.kuiper_test),
    "resampling of `ece`, draws": partial(RESAMPLING, metric="ece"),
    "resampling of `classwise-ece`, draws": RESAMPLING,
    **DRAWN,
}


# Two forecasts


Pair = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Forecasts A and B, and the truth."""


def a_sharper(rng: np.random.Generator, n: int) -> Pair:
    stratum, within = rng.integers(0, 4, n), rng.random(n)
    return (stratum + within) / 4, (stratum + 0.5) / 4, (stratum + within) / 4


def b_sharper(rng: np.random.Generator, n: int) -> Pair:
    a, b, rate = a_sharper(rng, n)
    return b, a, rate


def noisy(rng: np.random.Generator, n: int) -> Pair:
    z = rng.normal(0, 1.5, n)
    return *expit(z + rng.normal(0, 0.5, (2, n))), expit(z)


def either_side(rng: np.random.Generator, n: int) -> Pair:
    p = rng.uniform(0.2, 0.4, n) + 0.4 * rng.integers(0, 2, n)
    return p + 0.1 * np.sign(p - 0.5), p - 0.1 * np.sign(p - 0.5), p


def b_over_confident(rng: np.random.Generator, n: int) -> Pair:
    z = rng.normal(0, 1.5, n)
    return expit(z), expit(1.5 * z), expit(z)


def of_two_forecasts() -> None:
    """Print the table of the paired test; A is forecast first."""
    metrics = ("debiased-ece", "ece", "brier")

    def pvalues(make: Callable[..., Pair], n: int, rng: np.random.Generator) -> Iterable[float]:
        a, b, rate = make(rng, n)
        y, options = outcomes(rng, rate), {"binning": 10, "n_resamples": DRAWS, "rng": rng, "alternative": "less"}
        return [cb.paired_test(y, a, b, metric=m, **options).pvalue for m in metrics]

    scenes = {
        "exchangeable": (noisy, 500),
        "both calibrated, A sharper": (a_sharper, 500),
        "both calibrated, B sharper": (b_sharper, 500),
        "as wrong to the other side": (either_side, 500),
        "as wrong to the other side, n = 2000": (either_side, 2000),
        "B over-confident": (b_over_confident, 500),
        "B over-confident, n = 2000": (b_over_confident, 2000),
    }
    columns = {name: partial(pvalues, *what) for name, what in scenes.items()}
    table("A is better (n = 500), by", [f"`{m}`" for m in metrics], columns)


# At most so much


def of_equivalence() -> None:
    """Print how often an error is called smaller than the bound: at the bound, and where there is none."""
    norms = {"ece": "l1", "rmsce": "l2"}

    def pvalues(make: Make, n: int, bound: float | None, rng: np.random.Generator) -> Iterable[float]:
        score, rate = make(rng, n)
        outcome, both, weight = counted_twice(score, rate)
        of_truth = partial(cb.calibration_error, outcome, both, binning=cb.EqualWidth(15), sample_weight=weight)
        bounds = {name: bound or of_truth(norm=norm) for name, norm in norms.items()}
        y = outcomes(rng, rate)
        for name in norms:
            yield cb.equivalence_test(y, score, metric=name, bound=bounds[name], n_resamples=199, rng=rng).pvalue

    makers = [(name, make) for name, make in WRONG.items() if name != "under-confident"]
    at_bound = {f"{name}, n = {n}": partial(pvalues, make, n, None) for name, make in makers for n in (300, 2000)}
    table("error at the bound", ["`ece`", "`rmsce`"], at_bound)
    pairs = ((0.05, 1000), (0.05, 2000), (0.02, 5000), (0.02, 10_000), (0.02, 20_000))
    below = {f"bound {bound}, n = {n}": partial(pvalues, forecast(scores), n, bound) for bound, n in pairs}
    table("no error", ["`ece`", "`rmsce`"], below)


def of_sizes() -> None:
    """Print how often calibrated forecasts are rejected."""
    rare = forecast(lambda rng, n: expit(rng.normal(-4.2, 0.8, n)))  # two events in a hundred rows
    extreme = forecast(lambda rng, n: expit(rng.normal(0, 6, n)))  # half are below 0.02 or above 0.98
    sizes = {f"n = {n}": (forecast(scores), n) for n in (50, 200, 1000)}
    sizes |= {
        f"{name}, n = {n}": (make, n) for name, make in (("rare", rare), ("extreme", extreme)) for n in (50, 1000)
    }
    of_one_forecast("one event: size", BINARY, sizes)
    of_one_forecast("three classes: size", MULTICLASS, {f"n = {n}": (forecast(tables), n) for n in (50, 200, 500)})


def of_power() -> None:
    """Print how often forecasts are rejected that are wrong."""
    for tests, makers in ((BINARY, WRONG), (MULTICLASS, WRONG_TABLES)):
        of_one_forecast("power, n = 500", tests, {name: (make, 500) for name, make in makers.items()})


PARTS = {
    "sizes": of_sizes,
    "power": of_power,
    "two": of_two_forecasts,
    "equivalence": of_equivalence,
}

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(f"Share of {RUNS} runs in which p is at most {LEVEL}, in percent; where labels are drawn, {DRAWS} times.")
    for part in sys.argv[2:] or PARTS:
        PARTS[part]()
