"""How often the intervals of `assess` cover, by simulation. Run: python tools/coverage_of_intervals.py [RUNS [METRIC ...]]

The truth of a metric is its value at the scores at hand if every outcome came exactly as often as it should: each row is
counted once with the event and once without, with the probabilities of these as weights.
"""

import os
import sys
from concurrent.futures import ProcessPoolExecutor

import numpy as np

from calibrant import assess, entries
from calibrant._registry import find
from calibrant.metrics.pairs import kernel_calibration_error

SIZES, LEVEL, BINS, RESAMPLES = (200, 1000, 10_000), 0.05, 15, 200
MULTICLASS = ("classwise", "top-label", "simplex", "tace")


def binary(rng: np.random.Generator, n: int, temperature: float) -> tuple[np.ndarray, np.ndarray]:
    """Scores, and the probabilities with which the event comes; at temperature 1 they are the same."""
    logit = rng.normal(0.0, 2.0, n)
    return 1 / (1 + np.exp(-logit)), 1 / (1 + np.exp(-logit / temperature))


def three_classes(rng: np.random.Generator, n: int, temperature: float) -> tuple[np.ndarray, np.ndarray]:
    """Forecasts of three classes, and the probabilities with which these come."""
    logit = rng.normal(0.0, 1.5, (n, 3))
    forecast, truth = (np.exp(logit / t) for t in (1.0, temperature))
    return forecast / forecast.sum(axis=1, keepdims=True), truth / truth.sum(axis=1, keepdims=True)


def stray(rng: np.random.Generator, n: int, _: float) -> tuple[np.ndarray, np.ndarray]:
    """All rows at 0.02, where they belong, but for three at 0.99 whose event comes with 0.7."""
    score, truth = np.full(n, 0.02), np.full(n, 0.02)
    score[:3], truth[:3] = 0.99, 0.7
    return score, truth


def true_value(name: str, prob: np.ndarray, truth: np.ndarray) -> float:
    """Value if every outcome came as often as it should."""
    table = truth if truth.ndim == 2 else np.column_stack([1 - truth, truth])
    n, k = table.shape
    label, again, weight = np.tile(np.arange(k), n), np.repeat(prob, k, axis=0), table.ravel()
    label, again, weight = label[weight > 0], again[weight > 0], weight[weight > 0]
    if name == "skce":  # the unbiased estimator would take noise away that is not there
        return kernel_calibration_error(label, again, sample_weight=weight, estimator="biased")
    entry = find("metric", name)
    options = dict(entry.spelling or {})
    if options.get("loss") == "debiased squared gap":  # likewise
        from calibrant import calibration_error

        return calibration_error(label, again, sample_weight=weight, **options | {"loss": "gap", "norm": "l2"})
    return entry.target(label, again, sample_weight=weight)


def line(task: tuple[str, int, str, float, int]) -> str:
    """Return one line of the table."""
    metric, n, world, temperature, runs = task
    make = stray if world == "three stray rows" else three_classes if metric.startswith(MULTICLASS) else binary
    rng, seen = np.random.default_rng(0), []
    for run in range(runs):
        prob, truth = make(rng, n, temperature)
        if truth.ndim == 2:
            y = (rng.random((n, 1)) > truth.cumsum(axis=1)).sum(axis=1).clip(0, truth.shape[1] - 1)
        else:
            y = (rng.random(n) < truth).astype(int)
        found = assess(y, prob, metrics=[metric], binning=BINS, level=LEVEL, n_resamples=RESAMPLES, rng=run)[metric]
        true, slack = true_value(metric, prob, truth), 1e-9
        below, above = found.lower > true + slack, found.upper < true - slack
        optional = (found.debiased, found.noise_floor, found.detectable, found.pvalue)
        debiased, floor, detectable, pvalue = (np.nan if figure is None else figure for figure in optional)
        rejected = np.nan if np.isnan(pvalue) else pvalue <= LEVEL
        seen.append(
            (true, found.value, debiased, floor, detectable, not (below or above), found.upper - found.lower, rejected)
        )
    means = np.mean(np.array(seen, dtype=float), axis=0)
    figures = " | ".join("" if np.isnan(value) else f"{value:.4f}" for value in means[:5])
    rejections = "" if np.isnan(means[7]) else f"{means[7]:.1%}"
    return f"| {metric} | {n} | {world} | {figures} | {means[5]:.1%} | {means[6]:.4f} | {rejections} |"


def main(runs: int = 400, *metrics: str) -> None:
    """Print the table, a metric at a time."""
    worlds = (("calibrated", 1.0), ("slightly over-confident", 1.25), ("over-confident", 2.0))
    tasks = [
        (metric, n, world, temperature, runs)
        for metric in metrics or list(entries("metric"))
        for n in SIZES
        for world, temperature in worlds + ((("three stray rows", 1.0),) if metric in ("ece", "mce") else ())
    ]
    print(
        "| metric | n | forecast | truth | mean value | debiased | noise floor | detectable | covered | width | p below 0.05 |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for text in pool.map(line, tasks):
            print(text, flush=True)


if __name__ == "__main__":
    main(*[int(word) if word.isdigit() else word for word in sys.argv[1:]])
