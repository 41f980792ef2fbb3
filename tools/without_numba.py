"""How much slower calibrant is without numba, as in a browser. Run: python -m tools.without_numba"""

import json
import subprocess
import sys
from collections.abc import Callable
from time import perf_counter

import numpy as np

from calibrant import (
    EvidenceScaling,
    NormalizedFlattenedIsotonic,
    SortedCumulativeIsotonic,
    TemperatureScaling,
    assess,
    corp_curve,
    expected_calibration_error,
    load_digits_forecast,
)
from calibrant.calibrators import MulticlassRecursivePartitioning, VennAbers
from calibrant.datasets import make_softmax_forecast
from calibrant.significance import kernel_test
from tools.simulation import print_table

Y, PROB = load_digits_forecast()
THREE = make_softmax_forecast(500, 3, rng=0)
MANY = np.random.default_rng(0).random(1_000_000)
EVENT = np.random.default_rng(1).random(MANY.size) < MANY

JOBS: dict[str, Callable[[], object]] = {
    "`TemperatureScaling`, 1497 rows of 10 classes": lambda: TemperatureScaling().fit(PROB, Y),
    "`EvidenceScaling`": lambda: EvidenceScaling().fit(PROB, Y),
    "`VennAbers`, one event": lambda: VennAbers().fit(PROB[:, 3], Y == 3).calibrate(PROB[:, 3]),
    "`corp_curve`, one event": lambda: corp_curve(Y == 3, PROB[:, 3]),
    "`assess`, default metrics": lambda: assess(Y, PROB),
    "`NormalizedFlattenedIsotonic`": lambda: NormalizedFlattenedIsotonic().fit(PROB, Y),
    "`SortedCumulativeIsotonic`": lambda: SortedCumulativeIsotonic().fit(PROB, Y),
    "`MulticlassRecursivePartitioning`, 500 rows of 3 classes": lambda: MulticlassRecursivePartitioning(
        candidates=20
    ).fit(THREE.prob, THREE.y),
    "`kernel_test`": lambda: kernel_test(Y, PROB),
    "ECE of 1,000,000 rows": lambda: expected_calibration_error(EVENT, MANY),
}


def seconds(job: Callable[[], object]) -> float:
    """Return the seconds of a second run: the first one may compile."""
    job()
    begun = perf_counter()
    job()
    return perf_counter() - begun


def main() -> None:
    """Time all jobs here, and in a process in which numba cannot be imported."""
    if sys.argv[1:] == ["--seconds"]:
        print(json.dumps([seconds(job) for job in JOBS.values()]))
        return
    without = "import sys; sys.modules['numba'] = None; sys.argv[1:] = ['--seconds']; import tools.without_numba as t; t.main()"
    runs = [["-m", "tools.without_numba", "--seconds"], ["-W", "ignore", "-c", without]]
    found = [json.loads(subprocess.check_output([sys.executable, *run], text=True)) for run in runs]
    lines = [[name, f"{a:.3f}", f"{b:.3f}", f"{b / a:.1f}"] for name, a, b in zip(JOBS, *found, strict=True)]
    print_table(["", "seconds with numba", "without", "times as long"], lines)


if __name__ == "__main__":
    main()
