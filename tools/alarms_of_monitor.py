"""How often the two tests of a monitor raise an alarm, by simulation: false alarms at any time, power and delay.

Run: python -m tools.alarms_of_monitor [streams]. The tables go to docs/monitoring-evidence.md.
"""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from calibrant.monitoring.evidence import BetCells, Evidence, Place, Reference
from tools.simulation import print_table

N_BINS, AT_ONCE = 15, 10
"""Bins of equal width, and streams that are simulated side by side."""

LEVELS = (0.01, 0.05, 0.1)

CUTS = Place.of(N_BINS, [""]).cuts
"""Those of a `Monitor` with these bins: a test holds that its evidence is that of these streams, to the last bit."""

Scores = Callable[[np.random.Generator, tuple[int, ...], float], np.ndarray]
"""Predictions of some shape, at a time in [0, 1]."""

Truth = Callable[[np.ndarray], np.ndarray]
"""Probabilities with which events of these predictions occur."""


def normal(mean: float, spread: float, moved: float = 0.0) -> Scores:
    """Log-odds are normal, with a mean that moves by so much in all."""
    return lambda rng, shape, time: expit(rng.normal(mean + moved * time, spread, shape))


def calibrated(score: np.ndarray) -> np.ndarray:
    return score


def wrong_by_bin(score: np.ndarray) -> np.ndarray:
    """Gaps of up to 0.06 that are the same for all scores of a bin, as far as there are such probabilities."""
    number = np.minimum((score * N_BINS).astype(int), N_BINS - 1)
    return np.clip(score + 0.06 * np.sin(number), 0.0, 1.0)


def too_low(by: float) -> Truth:
    """Log-odds of the events are higher than predicted by so much."""
    return lambda score: expit(logit(score) + by)


def too_extreme(by: float) -> Truth:
    """Log-odds of the events are those predicted, divided by 1 + so much."""
    return lambda score: expit(logit(score) / (1.0 + by))


SPREAD = normal(0.0, 1.5)


@dataclass(frozen=True)
class World:
    """A stream of ``windows`` of so many ``rows``, and a reference; from the window ``change`` on the truth is another."""

    scores: Scores = SPREAD
    truth: Truth = calibrated
    later: Truth = calibrated
    windows: int = 100
    rows: int = 200
    reference: int = 5000
    change: int = 100

    def drawn(self, rng: np.random.Generator, streams: int) -> tuple[BetCells, BetCells]:
        """Return sums of the windows, shape (windows, streams, bins), and of the reference."""

        def sums(rows: int, t: int, truth: Truth) -> tuple[np.ndarray, ...]:
            score = self.scores(rng, (streams, rows), t / self.windows)
            return sums_of(score, rng.random(score.shape) < truth(score))

        windows = range(self.windows)
        found = [sums(self.rows, t, self.later if t >= self.change else self.truth) for t in windows]
        return BetCells(*map(np.array, zip(*found, strict=True))), BetCells(*sums(self.reference, 0, self.truth))


def sums_of(score: np.ndarray, outcome: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return rows, sum of scores and events of each bin, shape (streams, bins)."""
    streams = len(score)
    at = np.minimum((score * N_BINS).astype(int), N_BINS - 1) + N_BINS * np.arange(streams)[:, None]
    columns = (np.ones(score.shape), score, outcome)
    return tuple(np.bincount(at.ravel(), c.ravel(), streams * N_BINS).reshape(streams, N_BINS) for c in columns)


def paths(world: World, streams: int, *, of_drift: bool, seed: int = 0) -> np.ndarray:
    """Return the logarithm of the evidence after each window, shape (windows, streams)."""
    rng = np.random.default_rng(seed)
    found = []
    for start in range(0, streams, AT_ONCE):
        windows, reference = world.drawn(rng, min(AT_ONCE, streams - start))
        known = Reference.of(reference, CUTS) if of_drift else None
        found.append(Evidence(windows, CUTS, known).path)
    return np.concatenate(found, axis=1)


def alarmed(path: np.ndarray, level: float) -> np.ndarray:
    """Return the window of the first alarm of each stream, counted from 0; the number of windows where there is none."""
    over = path >= -np.log(level)
    return np.where(over.any(axis=0), over.argmax(axis=0), len(path))


def delays(world: World, streams: int, *, of_drift: bool, level: float = 0.05) -> tuple[float, float, float]:
    """Return the share of streams with an alarm after the change, and the median and upper quartile of rows until then."""
    first = alarmed(paths(world, streams, of_drift=of_drift), level)
    rows = np.where(first < world.windows, (first - world.change + 1.0) * world.rows, np.inf)[first >= world.change]
    middle, high = np.quantile(rows, [0.5, 0.75], method="inverted_cdf")
    return float(np.isfinite(rows).mean()), float(middle), float(high)


MOVING, SHORT = normal(-0.7, 1.0, 1.4), {"windows": 40, "change": 40}
NULLS = {
    "log-odds normal(0, 1.5), calibrated": (World(), False),
    "windows of 20 rows, calibrated": (World(rows=20), False),
    "rare events, 1.7 %, calibrated": (World(normal(-4.5, 1.0), rows=500), False),
    "predictions that move, calibrated": (World(MOVING), False),
    "the first, calibrated": (World(**SHORT), True),
    "the first, with a reference of 500 rows": (World(reference=500, **SHORT), True),
    "predictions that move, gaps up to 0.06 by bin": (World(MOVING, wrong_by_bin, wrong_by_bin, **SHORT), True),
}
CHANGES = {f"log-odds {by} too low": too_low(by) for by in (0.1, 0.2, 0.4, 0.8)}
CHANGES |= {f"log-odds {by:.0f} % too extreme": too_extreme(by / 100.0) for by in (20, 50, 100)}


def of_nulls(streams: int) -> Iterator[list[str]]:
    """Yield how often there is a false alarm at each level."""
    for name, (world, of_drift) in NULLS.items():
        path = paths(world, streams, of_drift=of_drift)
        rates = (f"{(alarmed(path, level) < world.windows).mean():.4f}" for level in LEVELS)
        yield [name, "drift" if of_drift else "calibration", *rates]


def of_changes(streams: int) -> Iterator[list[str]]:
    """Yield how often and how soon a change raises an alarm."""
    for name, later in CHANGES.items():
        for of_drift in (False, True):
            share, *rows = delays(World(later=later, windows=110, change=40), streams, of_drift=of_drift)
            yield [name, "drift" if of_drift else "calibration", f"{share:.0%}", *(f"{n:,.0f}" for n in rows)]


if __name__ == "__main__":
    streams = int((*sys.argv, 2000)[1])
    few = max(1, streams // 20)
    print_table([f"{streams} streams", "test", *(f"at {level:g}" for level in LEVELS)], of_nulls(streams))
    print()
    print_table([f"{few} streams", "test", "alarms", "rows until then: median", "upper quartile"], of_changes(few))
