"""How often the interval of a difference of two forecasts covers it. Run: python -m tools.coverage_of_differences [RUNS]

The difference is that of a million rows; of a plug-in error, whose bias depends on the number of rows, the mean of the runs.
The table goes to docs/size-and-power.md.
"""

import sys
from functools import partial
from itertools import product

import numpy as np

from calibrant.significance import paired_difference
from tools.simulation import in_processes, print_table

SIZES, METRICS, RESAMPLES = (100, 500, 2000), ("nll", "brier", "accuracy", "debiased-ece", "ece"), 200
MANY = 1_000_000


def over_confident(rng: np.random.Generator, n: int) -> dict[str, np.ndarray]:
    """One event and two forecasts with errors of their own, B over-confident."""
    z, noise = rng.normal(0, 1.5, n), rng.normal(0, 0.4, (2, n))
    y = rng.random(n) < 1 / (1 + np.exp(-z))
    return {"y_true": y, "prob_a": 1 / (1 + np.exp(-z - noise[0])), "prob_b": 1 / (1 + np.exp(-1.5 * z - noise[1]))}


def own_answers(rng: np.random.Generator, n: int) -> dict[str, np.ndarray]:
    """Two models that answer the same questions, hard ones for both; B says 0.15 more than how often it is right."""
    p = np.clip(rng.uniform(0.3, 0.8, n) + rng.uniform(-0.1, 0.05, (2, n)), 0.0, 0.85)
    right = rng.random((2, n)) < p
    return {"y_true": right[0], "y_true_b": right[1], "prob_a": p[0], "prob_b": p[1] + 0.15}


WORLDS = {"B over-confident": over_confident, "answers of their own": own_answers}


def measured(job: tuple[str, str, int], runs: int) -> list[str]:
    """One line: coverage, misses on either side in percent, the mean width, and that of the best interval known."""
    world, metric, n = job
    draw, rng = WORLDS[world], np.random.default_rng([SIZES.index(n), METRICS.index(metric)])
    found = [paired_difference(**draw(rng, n), metric=metric, n_resamples=RESAMPLES, rng=rng) for _ in range(runs)]
    value, lower, upper = (np.array([getattr(f, end) for f in found]) for end in ("difference", "lower", "upper"))
    truth = value.mean() if metric == "ece" else paired_difference(**draw(rng, MANY), metric=metric).difference
    shares = (np.mean((lower <= truth) & (truth <= upper)), np.mean(lower > truth), np.mean(upper < truth))
    widths = (np.mean(upper - lower), 2 * 1.96 * value.std())
    return [world, f"`{metric}`", str(n), *(f"{100 * s:.1f}" for s in shares), *(f"{w:.4f}" for w in widths)]


if __name__ == "__main__":
    of_task = partial(measured, runs=int((*sys.argv, 1000)[1]))
    head = ["", "metric", "n", "covers", "lies above", "lies below", "width", "width of 3.92 standard deviations"]
    print_table(head, in_processes(of_task, product(WORLDS, METRICS, SIZES)))
