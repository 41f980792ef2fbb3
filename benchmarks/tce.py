"""Test-based calibration error: each prediction is tested against the event rate of its bin."""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.measure import OURS, Contender, installed

OURS_ALONE, SCIPY = Contender(OURS, "calibrant", "tested_error"), "SciPy, binomtest for each prediction"


def make(rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Labels of which an eighth are events, and probabilities that are too sure, most of them tiny (see the text)."""
    rng = np.random.default_rng(0)
    true = np.maximum(rng.beta(0.17, 7 * 0.17, rows), 1e-300)
    y = (rng.random(rows) < true).astype(np.int64)
    return y, 1.0 / (1.0 + np.exp(-1.1 * np.log(true / (1.0 - true))))


@dataclass(frozen=True)
class Tested:
    """A section of the page. SciPy tests the first ``tested`` predictions only; its seconds are those of all, by proportion."""

    TITLE: str
    size: int
    tested: int
    text: str
    quick: int = 2_000

    def tables(self, rounds: int, quick: bool) -> str:
        """Time both and return this part of the page."""
        rows = self.quick if quick else self.size
        tested = min(rows, self.tested)
        data = make(rows)
        ours, _ = installed([OURS_ALONE], *data)
        ours[OURS]()  # what is compiled is compiled here
        runs = [_timed(ours[OURS]) for _ in range(rounds)]
        seconds, cpu = (statistics.median(run[of] for run in runs) for of in ("seconds", "cpu"))
        lines = [
            f"{rows:,} predictions, binomial tests at level 0.05 over bounded isotonic bins (PAVA-BC) of a twentieth to a "
            "fifth of the rows. The data is drawn: true probabilities have the law Beta(0.17, 1.19), log-odds are too large "
            f"by a tenth. {self.text}",
            "",
            "| | seconds | CPU seconds | times as long as calibrant | TCE |",
            "|---|---|---|---|---|",
            f"| {OURS} | {seconds:.3f} | {cpu:.3f} | 1.0 | {runs[0]['result']:.4f} |",
            self._of_scipy(data, tested, seconds, runs[0]["result"]),
        ]
        return "\n".join(lines)

    def _of_scipy(self, data: tuple[np.ndarray, np.ndarray], tested: int, ours: float, error: float) -> str:
        from benchmarks.peers.scipy_binomtest import of_bins

        run, times = _timed(of_bins(*data, tested)), len(data[0]) / tested
        if times == 1 and abs(run["result"] - error) > 1e-9:
            raise AssertionError(f"SciPy says {run['result']!r}, calibrant {error!r}")
        seconds, cpu = run["seconds"] * times, run["cpu"] * times
        name = SCIPY + (" (once)" if times == 1 else f" (once, {tested:,} of them, times {times:.0f})")
        return f"| {name} | {seconds:.1f} | {cpu:.1f} | {seconds / ours:.0f} | {run['result']:.4f} |"


def _timed(call: Callable[[], float]) -> dict[str, Any]:
    start, cpu = time.perf_counter(), time.process_time()
    result = call()
    return {"seconds": time.perf_counter() - start, "cpu": time.process_time() - cpu, "result": result}


TESTED = {
    "tce-50000": Tested(
        "Test-based calibration error, 50,000 predictions",
        50_000,
        50_000,
        "Asked for: under 0.25 s on one core. The paper (Matsubara et al., UAI 2023, Table 5) reports 71.78 s on one CPU for "
        "as many predictions of ImageNet, bins included, on the authors' machine.",
    ),
    "tce-1000000": Tested(
        "Test-based calibration error, 1,000,000 predictions",
        1_000_000,
        2_500,
        "Asked for: under 6 s on one core. SciPy would take many minutes: its TCE is that of the predictions it tested.",
    ),
}
