"""How often the band of `smooth_reliability_curve` covers, by simulation. Run: python -m tools.coverage_of_smooth_band [RUNS]

The truth is the smooth of the event probabilities at the same bandwidth: each row is counted as an event with its probability
as the weight, and as none with the rest.
"""

import os
import sys
from concurrent.futures import ProcessPoolExecutor

import numpy as np

from calibrant import smooth_reliability_curve
from tools.coverage_of_bands import WORLDS

SIZES, LEVEL = (100, 500, 2000), 0.05


def line(task: tuple[int, str, int]) -> str:
    """Return one line of the table."""
    n, world, runs = task
    rng, held = np.random.default_rng(0), []
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
    return f"| {n} | {world} | {at_a_place:.1%} | {at_all:.1%} |"


def main(runs: int = 200) -> None:
    """Print the table."""
    print("| n | forecast | at a place | at all |\n|---|---|---|---|")
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for text in pool.map(line, [(n, world, runs) for n in SIZES for world in WORLDS]):
            print(text, flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
