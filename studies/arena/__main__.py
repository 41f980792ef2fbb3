"""Run the arena: python -m studies.arena [--jobs 2] [--minutes 60] [--sizes 100 300] [--part design] [--only sms temperature]

The forecasts must be there (python -m studies.arena.out_of_fold). A run goes on where the last one stopped; at the end
`python -m studies.arena.results` gathers the cells into the files of the repository. Methods are designed and chosen on the
design sets alone: ``--part kept-apart`` is for the one evaluation after that.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from studies.arena.cells import FOLDER, REPETITIONS, SIZES, Cell, forget, plan, run, warm_up
from studies.arena.data_sets import DESIGN, PARTS
from studies.arena.out_of_fold import FOLDER as FORECASTS
from studies.arena.out_of_fold import stored

MOST_GIGABYTES = 6.0
"""Memory of a process; a fit that asks for more is a line with the note "failed: MemoryError"."""


def run_all(
    cells: list[Cell],
    jobs: int,
    minutes: float,
    only: list[str] | None = None,
    peers: bool = True,
    forecasts: Path = FORECASTS,
    results: Path = FOLDER,
) -> int:
    """Run the cells in their order until the time is over; return how many were begun."""
    deadline = time.time() + 60.0 * minutes
    waiting, running, begun = list(reversed(cells)), set[Future[int]](), 0
    with ProcessPoolExecutor(jobs, get_context("spawn"), warm_up, (MOST_GIGABYTES,)) as workers:
        while running or (waiting and time.time() < deadline):
            while waiting and len(running) < 2 * jobs and time.time() < deadline:
                running.add(workers.submit(run, waiting.pop(), only, peers, deadline, forecasts, results))
                begun += 1
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for one in done:
                one.result()
    return begun


def main() -> None:
    """Run what is not there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes (default: the cores)")
    parser.add_argument("--minutes", type=float, default=np.inf, help="stop after so long, and keep what is done")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, choices=SIZES, help="rows to calibrate on")
    parser.add_argument("--part", choices=PARTS, default=DESIGN, help="part of the data sets")
    parser.add_argument("--only", nargs="+", help="methods (default all); the uncalibrated rows are always scored")
    parser.add_argument("--draws", type=int, default=max(REPETITIONS.values()), help="at most so many draws of a size")
    parser.add_argument("--no-peers", action="store_true", help="calibrators of this package alone")
    parser.add_argument("--forget", nargs="+", help="take out the lines of methods whose code was changed, and stop")
    chosen = parser.parse_args()
    if chosen.forget:
        sys.stdout.write(f"{forget(chosen.forget)} lines taken out\n")
        return
    os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
    known = [(data_set.name, model) for data_set, model in stored(chosen.part)]
    if not known:
        sys.exit("no forecasts: run python -m studies.arena.out_of_fold first")
    cells = [cell for cell in plan(known, chosen.sizes) if cell.draw < chosen.draws]
    sys.stdout.write(
        f"{len(known)} forecasts, {len(cells)} cells of 1 to 12 seconds of processor time for all methods\n"
    )
    sys.stdout.flush()
    start = time.perf_counter()
    begun = run_all(cells, chosen.jobs, chosen.minutes, chosen.only, not chosen.no_peers)
    sys.stdout.write(f"{begun} of {len(cells)} cells in {(time.perf_counter() - start) / 60.0:.1f} minutes\n")


if __name__ == "__main__":
    main()
