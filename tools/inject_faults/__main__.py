"""Run: python -m tools.inject_faults [SECONDS] [SEED]"""

from __future__ import annotations

import argparse
import io
import os
import sys
import tempfile
import time
from collections import Counter
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from random import Random

from tools.inject_faults.accidents import ACCIDENTS
from tools.inject_faults.child import ended, folder_with, started
from tools.inject_faults.jobs import Job, jobs, make_inputs
from tools.reliability import record

OFTEN = {"closed standard output": 1}
"""Kinds that are drawn less often than others: these start Python anew."""


def inject(seconds: float, seed: int, *, most: int = 10**9) -> tuple[Counter[str], int]:
    """Have accidents happen until the time is over; return how many of each kind, and how many broke a law."""
    known, count, broken = jobs(), Counter[str](), 0
    with tempfile.TemporaryDirectory(prefix="inputs") as name:
        inputs = Path(name)
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            make_inputs(inputs)
            _load(known, inputs)
        whole = {job.output: undisturbed(job, inputs) for job in known}
        end = time.monotonic() + seconds
        for number in range(most):
            if time.monotonic() > end:
                break
            random = Random(f"{seed} {number}")
            job, kind = _drawn(random, known), random.choices(list(ACCIDENTS), [OFTEN.get(k, 6) for k in ACCIDENTS])[0]
            laws = ACCIDENTS[kind](random, job, inputs, whole)
            count[kind] += 1
            broken += bool(laws)
            for law in laws:
                print(f"{job.name} -o {job.output}, {kind}: {law} (seed {seed}, fault {number})", flush=True)
    return count, broken


def _drawn(random: Random, known: list[Job]) -> Job:
    """Draw a job, those that compute for long less often."""
    return random.choices(known, [1 if job.is_slow else 20 for job in known])[0]


def _load(known: list[Job], inputs: Path) -> None:
    """Do every job once, so that the processes that are made by copying this one import and compile nothing."""
    with folder_with(inputs) as folder, chdir(folder):
        for job in known:
            job.run(job.output, False)


def undisturbed(job: Job, inputs: Path) -> bytes:
    """Return what a job writes when nothing happens to it."""
    with folder_with(inputs) as folder:
        end = ended(*started(job, folder))
        if end.code != 0:
            raise RuntimeError(f"{job.name} must work without an accident; it ended with {end.code}: {end.said}")
        return (folder / job.output).read_bytes()


def main() -> int:
    """Inject faults, print a summary, and return 1 where a law is broken."""
    parser = argparse.ArgumentParser(prog="python -m tools.inject_faults", description=__doc__)
    parser.add_argument("seconds", type=float, nargs="?", default=60)
    parser.add_argument("seed", type=int, nargs="?", default=0)
    parser.add_argument("--record", action="store_true", help="write the figures to docs/reliability.md")
    arguments = parser.parse_args()
    os.environ["MPLBACKEND"] = "Agg"
    count, broken = inject(arguments.seconds, arguments.seed)
    told = ", ".join(f"{kind} {count[kind]}" for kind in ACCIDENTS)
    print(f"inject_faults: {sum(count.values())} faults, {broken} broken ({told}; seed {arguments.seed})")
    if arguments.record:
        figures = {"accidents": sum(count.values()), "broken laws": broken}
        figures |= {kind: count[kind] for kind in ACCIDENTS}
        record(
            "inject_faults", figures, command=f"python -m tools.inject_faults {arguments.seconds:g} {arguments.seed}"
        )
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
