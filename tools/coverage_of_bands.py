"""How often the band of `smooth_reliability_curve` covers, by simulation. Run: python -m tools.coverage_of_bands [RUNS]

The truth of the smooth curve is the smooth of the event probabilities at the same bandwidth: each row is counted as an event
with its probability as the weight, and as none with the rest. The table goes to docs/smooth.md.
"""

import sys
from functools import partial
from itertools import product

import numpy as np
from scipy.special import expit, logit

from calibrant import smooth_reliability_curve
from tools.simulation import counted_twice, forecast, in_processes, print_table

SIZES, LEVEL = (100, 500, 2000), 0.05


def scores(rng: np.random.Generator, n: int) -> np.ndarray:
    return expit(rng.normal(0.0, 2.0, n))


WORLDS = {
    "calibrated": forecast(scores),
    "calibrated, rare event": forecast(lambda rng, n: expit(rng.normal(0.0, 1.5, n) - 4.0)),
    "calibrated, in tenths": forecast(lambda rng, n: rng.integers(0, 11, n) / 10),
    "slightly over-confident": forecast(scores, lambda p: expit(logit(p) / 1.25)),
    "over-confident": forecast(scores, lambda p: expit(logit(p) / 2.0)),
    "flat truth": forecast(lambda rng, n: 0.05 + 0.5 * rng.random(n), lambda p: np.full(p.size, 0.3)),
    "truth with a step": forecast(lambda rng, n: rng.random(n), lambda p: np.where(p < 0.5, 0.2, 0.8)),
}
"""The rare event occurs once in twenty rows; the flat truth is 0.3, whatever the forecast."""


def line(task: tuple[int, str], runs: int) -> list[str]:
    """Return one line of the table."""
    (n, world), rng, held = task, np.random.default_rng(0), []
    for _ in range(runs):
        p, truth = WORLDS[world](rng, n)
        panel = smooth_reliability_curve(rng.random(n) < truth, p, level=LEVEL).panels[0]
        y, both, weight = counted_twice(p, truth)
        known = smooth_reliability_curve(y, both, sample_weight=weight, bandwidth=panel.bandwidth).panels[0]
        inside = (panel.lower <= known.event_rate) & (known.event_rate <= panel.upper)
        held.append((np.average(inside, weights=panel.density), inside.all()))
    at_a_place, at_all = np.mean(held, axis=0)
    return [str(n), world, f"{at_a_place:.1%}", f"{at_all:.1%}"]


if __name__ == "__main__":
    of_task = partial(line, runs=int((*sys.argv, 200)[1]))
    print_table(["n", "forecast", "at a place", "at all"], in_processes(of_task, product(SIZES, WORLDS)))
