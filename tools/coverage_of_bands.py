"""How often the band of `smooth_reliability_curve` covers, by simulation. Run: python -m tools.coverage_of_bands [RUNS]

The truth of the smooth curve is the smooth of the event probabilities at the same bandwidth: each row is counted as an event
with its probability as the weight, and as none with the rest. The table goes to docs/smooth.md.
"""

import sys
from functools import partial
from itertools import product

import numpy as np

from calibrant import smooth_reliability_curve
from tools.simulation import in_processes, print_table

SIZES, LEVEL = (100, 500, 2000), 0.05


def logistic(temperature: float):
    """Log-odds of the forecast are normal; those of the truth are these divided by the temperature."""

    def make(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        logit = rng.normal(0.0, 2.0, n)
        return 1 / (1 + np.exp(-logit)), 1 / (1 + np.exp(-logit / temperature))

    return make


def rare(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """A calibrated forecast of an event that occurs once in twenty rows."""
    p = 1 / (1 + np.exp(4.0 - rng.normal(0.0, 1.5, n)))
    return p, p


def flat(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Forecasts from 0.05 to 0.55 of an event that occurs in 0.3 of all rows, whatever the forecast."""
    return 0.05 + 0.5 * rng.random(n), np.full(n, 0.3)


def step(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Even forecasts of an event that occurs with 0.2 below one half and with 0.8 above."""
    p = rng.random(n)
    return p, np.where(p < 0.5, 0.2, 0.8)


def tenths(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """A calibrated forecast in tenths."""
    p = rng.integers(0, 11, n) / 10
    return p, p


WORLDS = {
    "calibrated": logistic(1.0),
    "calibrated, rare event": rare,
    "calibrated, in tenths": tenths,
    "slightly over-confident": logistic(1.25),
    "over-confident": logistic(2.0),
    "flat truth": flat,
    "truth with a step": step,
}


def line(task: tuple[int, str], runs: int) -> list[str]:
    """Return one line of the table."""
    (n, world), rng, held = task, np.random.default_rng(0), []
    for _ in range(runs):
        p, truth = WORLDS[world](rng, n)
        panel = smooth_reliability_curve(rng.random(n) < truth, p, level=LEVEL).panels[0]
        weight = np.concatenate([truth, 1.0 - truth])
        known = smooth_reliability_curve(
            np.repeat([1, 0], n), np.tile(p, 2), sample_weight=weight, bandwidth=panel.bandwidth
        ).panels[0]
        inside = (panel.lower <= known.event_rate) & (known.event_rate <= panel.upper)
        held.append((np.average(inside, weights=panel.density), inside.all()))
    at_a_place, at_all = np.mean(held, axis=0)
    return [str(n), world, f"{at_a_place:.1%}", f"{at_all:.1%}"]


if __name__ == "__main__":
    of_task = partial(line, runs=int((*sys.argv, 200)[1]))
    print_table(["n", "forecast", "at a place", "at all"], in_processes(of_task, product(SIZES, WORLDS)))
