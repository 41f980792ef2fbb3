"""How often the intervals of `assess` cover, by simulation. Run: python tools/coverage_of_intervals.py

The truth of a calibration error is its value over the same bins with the true event probabilities in place of outcomes.
"""

import numpy as np

from calibrant import assess, expected_calibration_error
from calibrant.binning import EqualWidth, locate

RUNS, LEVEL, BINS = 300, 0.05, EqualWidth(15)
EDGES = np.arange(16) / 15


def forecast(rng: np.random.Generator, n: int, temperature: float) -> tuple[np.ndarray, np.ndarray]:
    """Scores, and the probabilities with which the event comes; at temperature 1 they are the same."""
    logit = rng.normal(0.0, 2.0, n)
    return 1 / (1 + np.exp(-logit)), 1 / (1 + np.exp(-logit / temperature))


def sparse(rng: np.random.Generator, n: int, _: float) -> tuple[np.ndarray, np.ndarray]:
    """All rows at 0.02, where they belong, but for three at 0.99 whose event comes with 0.7."""
    score, posterior = np.full(n, 0.02), np.full(n, 0.02)
    score[:3], posterior[:3] = 0.99, 0.7
    return score, posterior


def true_errors(score: np.ndarray, posterior: np.ndarray) -> tuple[float, float]:
    """Binned ECE and MCE of the scores if each row counted with its true probability."""
    at = locate(EDGES, score)
    count = np.bincount(at, minlength=15)
    gap = np.abs(np.bincount(at, posterior - score, 15))[count > 0] / count[count > 0]
    return float(gap @ count[count > 0]) / len(score), float(gap.max())


def line(name: str, n: int, make, temperature: float) -> str:
    """Return one line of the table."""
    rng = np.random.default_rng(0)
    seen = []
    for run in range(RUNS):
        score, posterior = make(rng, n, temperature)
        y = (rng.random(n) < posterior).astype(int)
        result = assess(y, score, metrics=["ece", "mce"], binning=BINS, level=LEVEL, n_resamples=200, rng=run)
        ece, mce, (true_ece, true_mce) = result["ece"], result["mce"], true_errors(score, posterior)
        again = [expected_calibration_error(y[rows], score[rows]) for rows in rng.integers(0, n, (100, n))]
        low, high = np.quantile(again, [LEVEL / 2, 1 - LEVEL / 2])
        covers = (ece.lower <= true_ece <= ece.upper, mce.lower <= true_mce <= mce.upper)
        seen.append((true_ece, ece.value, *covers, ece.pvalue <= LEVEL, low <= true_ece <= high))
    truth, value, *shares = np.mean(np.array(seen, dtype=float), axis=0)
    return f"| {n} | {name} | {truth:.4f} | {value:.4f} | " + " | ".join(f"{share:.1%}" for share in shares) + " |"


print(
    "| n | forecast | true ECE | mean estimate | ECE covered | MCE covered | p below 0.05 | percentile bootstrap covers ECE |"
)
print("|---|---|---|---|---|---|---|---|")
for n in (200, 1000, 5000):
    for name, temperature in (("calibrated", 1.0), ("slightly over-confident", 1.25), ("over-confident", 2.0)):
        print(line(name, n, forecast, temperature), flush=True)
    print(line("three stray rows", n, sparse, 1.0), flush=True)
