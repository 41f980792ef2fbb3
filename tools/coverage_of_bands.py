"""How often the bands of `corp_curve` cover, or that of `smooth_reliability_curve`, by simulation.

Run: python -m tools.coverage_of_bands [RUNS], or python -m tools.coverage_of_bands smooth [RUNS].

At a score, the truth of `corp_curve` is the probability with which the event occurs. The consistency band makes no claim about
it: it claims that the curve lies in it if the forecast is calibrated. The truth of the smooth curve is the smooth of the event
probabilities at the same bandwidth: each row is counted as an event with its probability as the weight, and as none with the
rest.
"""

import os
import sys
from concurrent.futures import ProcessPoolExecutor

import numpy as np

from calibrant import corp_curve, smooth_reliability_curve

SIZES, SMOOTH_SIZES, LEVEL, DRAWS = (200, 1000, 5000), (100, 500, 2000), 0.05, 400
BANDS = ("consistency", "confidence", "simultaneous")


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


def line(task: tuple[int, str, int]) -> str:
    """Return one line of the table."""
    n, world, runs = task
    rng, seen = np.random.default_rng(0), []
    for run in range(runs):
        p, truth = WORLDS[world](rng, n)
        y = (rng.random(n) < truth).astype(int)
        first = np.unique(p, return_index=True)[1]
        figures = []
        for band in BANDS:
            panel = corp_curve(y, p, band=band, level=LEVEL, n_resamples=DRAWS, rng=run).panels[0]
            row = np.searchsorted(p[first], panel.score)
            held = panel.fit if band == "consistency" else truth[first][row]
            inside = (panel.lower <= held + 1e-12) & (held <= panel.upper + 1e-12)
            figures += [inside.mean(), inside.all(), (panel.upper - panel.lower).mean()]
        seen.append(figures)
    means = np.mean(np.array(seen, dtype=float), axis=0).reshape(3, 3)
    texts = [f"{at_a_score:.1%} | {at_all:.1%} | {width:.3f}" for at_a_score, at_all, width in means]
    return f"| {n} | {world} | " + " | ".join(texts) + " |"


def smooth_line(task: tuple[int, str, int]) -> str:
    """Return one line of the table of the smooth curve."""
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


def main(words: list[str]) -> None:
    """Print the table."""
    if words[:1] == ["smooth"]:
        sizes, of_task, runs = SMOOTH_SIZES, smooth_line, int((*words, 200)[1])
        print("| n | forecast | at a place | at all |\n|---|---|---|---|")
    else:
        sizes, of_task, runs = SIZES, line, int((*words, 400)[0])
        print("| n | forecast | " + " | ".join(f"{band}: at a score | at all | width" for band in BANDS) + " |")
        print("|" + "---|" * 11)
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for text in pool.map(of_task, [(n, world, runs) for n in sizes for world in WORLDS]):
            print(text, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
