"""How often the intervals of `assess` cover, by simulation. Run: python tools/coverage_of_intervals.py

The truth of a calibration error is its value over the same bins with the true event probabilities in place of outcomes.
"""

import numpy as np

from calibrant import assess, expected_calibration_error
from calibrant.binning import EqualWidth

RUNS, LEVEL = 400, 0.05


def forecast(rng: np.random.Generator, n: int, temperature: float) -> tuple[np.ndarray, np.ndarray]:
    """Scores, and the probabilities with which the event comes; at temperature 1 they are the same."""
    logit = rng.normal(0.0, 2.0, n)
    return 1 / (1 + np.exp(-logit)), 1 / (1 + np.exp(-logit / temperature))


def true_error(score: np.ndarray, posterior: np.ndarray, n_bins: int) -> float:
    """Binned error of the scores if each row counted with its true probability."""
    at = np.clip(np.ceil(score * n_bins).astype(int) - 1, 0, n_bins - 1)
    return float(np.abs(np.bincount(at, posterior - score, n_bins)).sum() / len(score))


print("| n | forecast | true ECE | mean estimate | interval covers | p below 0.05 | percentile bootstrap covers |")
print("|---|---|---|---|---|---|---|")
for n in (200, 1000, 5000):
    for name, temperature in (("calibrated", 1.0), ("slightly over-confident", 1.25), ("over-confident", 2.0)):
        rng = np.random.default_rng(0)
        truth, value, covered, small, naive = [], [], 0, 0, 0
        for run in range(RUNS):
            score, posterior = forecast(rng, n, temperature)
            y = (rng.random(n) < posterior).astype(int)
            ece = assess(y, score, metrics=["ece"], binning=EqualWidth(15), level=LEVEL, n_resamples=200, rng=run)[
                "ece"
            ]
            target = true_error(score, posterior, 15)
            again = [expected_calibration_error(y[rows], score[rows]) for rows in rng.integers(0, n, (100, n))]
            low, high = np.quantile(again, [LEVEL / 2, 1 - LEVEL / 2])
            truth.append(target)
            value.append(ece.value)
            covered += ece.lower <= target <= ece.upper
            small += ece.pvalue <= LEVEL
            naive += low <= target <= high
        print(
            f"| {n} | {name} | {np.mean(truth):.4f} | {np.mean(value):.4f} | {covered / RUNS:.1%} | {small / RUNS:.1%} "
            f"| {naive / RUNS:.1%} |",
            flush=True,
        )
