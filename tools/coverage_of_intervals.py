"""How often the intervals of `assess` hold the truth, by simulation.

Run: python -m tools.coverage_of_intervals [RUNS] [METRIC ...] [--sizes N ...] [--few]

The truth of a metric is its value at the scores at hand if every outcome occurred exactly as often as it should: each row is
counted once for each class, with the probabilities of these as weights. `tce` has no interval.
"""

import argparse
import warnings
from functools import partial

import numpy as np

from calibrant import assess
from calibrant.exceptions import CalibrationWarning
from calibrant.metrics import kernel_calibration_error
from calibrant.metrics.bin_losses import NormOfBins
from calibrant.registry import entries
from tools.simulation import in_processes, outcomes, print_table

SIZES, LEVEL, RESAMPLES = (200, 1000, 10_000), 0.05, 100
WORLDS = {"calibrated": 1.0, "slightly over-confident": 1.25, "over-confident": 2.0}
FEW_DISTINCT = {
    "0.5 where 0.5 is true": (3000, (0.5,), (0.5,)),
    "0.5 where 0.51 is true": (3000, (0.5,), (0.51,)),
    "0.5 where 0.52 is true": (3000, (0.5,), (0.52,)),
    "0.5 where 0.53 is true": (3000, (0.5,), (0.53,)),
    "0.5 where 0.56 is true": (3000, (0.5,), (0.56,)),
    "0.3 where 0.33 is true": (500, (0.3,), (0.33,)),
    "0.02 where 0.03 is true": (1000, (0.02,), (0.03,)),
    "0.9 where 0.91 is true": (1000, (0.9,), (0.91,)),
    "0.2, 0.8 where 0.22, 0.82 are true": (2000, (0.2, 0.8), (0.22, 0.82)),
    "0.2, 0.8 where 0.22, 0.78 are true": (2000, (0.2, 0.8), (0.22, 0.78)),
    "0.2, 0.5, 0.8 where 0.22, 0.52, 0.82 are true": (2000, (0.2, 0.5, 0.8), (0.22, 0.52, 0.82)),
}
"""Predictions with few distinct values: rows, the values and the event rates, of which each is that of as many rows."""
MULTICLASS = ("classwise", "top-label", "canonical", "tace", "accuracy", "brier")
FIGURES = ("value", "debiased", "noise_floor", "detectable")
METRICS = entries("metric")

Rows = tuple[np.ndarray, np.ndarray]
"""Forecasts, and the probabilities of all outcomes."""


def of_event(score: np.ndarray, event: np.ndarray) -> Rows:
    return score, np.column_stack([1 - event, event])


def binary(rng: np.random.Generator, n: int, temperature: float) -> Rows:
    """Scores, and the probabilities of both outcomes; at temperature 1 they are the same."""
    logit = rng.normal(0.0, 2.0, n)
    return of_event(1 / (1 + np.exp(-logit)), 1 / (1 + np.exp(-logit / temperature)))


def three_classes(rng: np.random.Generator, n: int, temperature: float) -> Rows:
    """Forecasts of three classes, and the probabilities of these."""
    logit = rng.normal(0.0, 1.5, (n, 3))
    forecast, truth = (np.exp(logit / t) for t in (1.0, temperature))
    return forecast / forecast.sum(axis=1, keepdims=True), truth / truth.sum(axis=1, keepdims=True)


def stray(rng: np.random.Generator, n: int, _: float) -> Rows:
    """All rows at 0.02, where they belong, but for three at 0.99 whose event occurs with 0.7."""
    score, event = np.full((2, n), 0.02)
    score[:3], event[:3] = 0.99, 0.7
    return of_event(score, event)


def few(world: str, rng: np.random.Generator, n: int, _: float) -> Rows:
    """Scores with few distinct values, and the probabilities of both outcomes."""
    return of_event(*(np.resize(values, n) for values in FEW_DISTINCT[world][1:]))


def true_value(name: str, prob: np.ndarray, truth: np.ndarray) -> float:
    """Value if every outcome occurred as often as it should."""
    n, k = truth.shape
    label, again, weight = np.tile(np.arange(k), n), np.repeat(prob, k, axis=0), truth.ravel()
    if name == "skce":  # the unbiased estimator would take noise away that is not there
        return kernel_calibration_error(label, again, sample_weight=weight, estimator="biased")
    if name == "debiased-ece":  # likewise
        return METRICS[name].of(label, again, {"sample_weight": weight}, size=NormOfBins.of("gap", "l2"))
    return METRICS[name].target(label, again, sample_weight=weight)


def lines(task: tuple[str, int, float, str], runs: int, metrics: list[str]) -> list[list[str]]:
    """Return the lines of one world and size, a metric each."""
    kind, n, temperature, world = task
    make = {"binary": binary, "three classes": three_classes, "stray": stray, "few": partial(few, world)}[kind]
    if kind in ("stray", "few"):
        chosen = [name for name in metrics if name in ("ece", "mce")]
    else:
        chosen = [name for name in metrics if name.startswith(MULTICLASS) == (kind == "three classes")]
    rng, seen = np.random.default_rng(0), {name: [] for name in chosen}
    for run in range(runs if seen else 0):
        prob, truth = make(rng, n, temperature)
        y = outcomes(rng, truth)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CalibrationWarning)
            found = assess(y, prob, metrics=chosen, level=LEVEL, n_resamples=RESAMPLES, rng=run)
            true = {name: true_value(name, prob, truth) for name in chosen}
        for name in chosen:
            e, slack = found[name], 1e-9
            figures = [np.nan if (figure := getattr(e, f)) is None else figure for f in FIGURES]
            tails = e.lower > true[name] + slack, e.upper < true[name] - slack
            rejected = np.nan if e.pvalue is None else e.pvalue <= LEVEL
            seen[name].append((true[name], *figures, not any(tails), *tails, e.upper - e.lower, rejected))
    return [line(name, n, world, np.array(rows, dtype=float)) for name, rows in seen.items()]


def line(name: str, n: int, world: str, rows: np.ndarray) -> list[str]:
    """Return a line of the table: means over data sets, and of shares their standard errors."""
    means = rows.mean(axis=0)
    figures = ["" if np.isnan(value) else f"{value if abs(value) > 1e-12 else 0:.3g}" for value in means[:5]]
    covered, below, above, rejected = (share(means[column], len(rows)) for column in (5, 6, 7, 9))
    return [name, str(n), world, *figures, covered, below, above, f"{means[8]:.3g}", rejected]


def share(mean: float, runs: int) -> str:
    """Return a share of data sets in percent with its standard error; of none at least that of one data set."""
    error = np.sqrt(max(mean * (1.0 - mean), 1.0 / runs) / runs)
    return "" if np.isnan(mean) else f"{100 * mean:.1f} ± {100 * error:.1f}"


def main() -> None:
    """Print the table, sorted by metric."""
    words = argparse.ArgumentParser(
        "python -m tools.coverage_of_intervals", description=(__doc__ or "").partition("\n")[0]
    )
    words.add_argument("runs", type=int, nargs="?", default=200, help="data sets a line")
    words.add_argument("metrics", nargs="*", metavar="METRIC", help="all but tce, if none is named")
    words.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="numbers of rows")
    words.add_argument("--few", action="store_true", help="ECE and MCE of predictions with few distinct values")
    options = words.parse_intermixed_args()
    chosen = options.metrics or [name for name in METRICS if name != "tce"]
    tasks = [(kind, n, t, w) for kind in ("binary", "three classes") for n in options.sizes for w, t in WORLDS.items()]
    tasks += [("stray", n, 1.0, "three stray rows") for n in options.sizes]
    if options.few:
        tasks = [("few", n, 1.0, world) for world, (n, *_) in FEW_DISTINCT.items()]
    of_task = partial(lines, runs=options.runs, metrics=chosen)
    found = [row for part in in_processes(of_task, tasks) for row in part]
    head = ("metric", "n", "forecast", "truth", "value", "debiased", "noise floor", "detectable")
    head += ("covered, %", "truth below, %", "truth above, %", "width", "p ≤ 0.05, %")
    print_table(head, sorted(found, key=lambda row: chosen.index(row[0])))


if __name__ == "__main__":
    main()
