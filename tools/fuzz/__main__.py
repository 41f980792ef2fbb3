"""Run: python -m tools.fuzz [SECONDS] [SEED] [--calls N]"""

from __future__ import annotations

import argparse
import os
import sys
import threading
import time
from collections import Counter
from random import Random

from tools.fuzz.calls import drawn_case, targets
from tools.fuzz.cases import Case
from tools.fuzz.laws import judged
from tools.reliability import record

STUCK = 300
"""Seconds after which a call that cannot be interrupted ends the whole run."""


class Watch:
    """End the process, with the call that is to blame, when one call never returns to Python."""

    def __init__(self) -> None:
        self.since, self.case, self.is_over = time.monotonic(), Case("", (), ""), threading.Event()

    def __enter__(self) -> Watch:
        threading.Thread(target=self._look, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.is_over.set()

    def on(self, case: Case) -> Case:
        """Begin to time a call."""
        self.since, self.case = time.monotonic(), case
        return case

    def _look(self) -> None:
        while not self.is_over.wait(1):
            if time.monotonic() - self.since > STUCK:
                print(f"\nstill running after {STUCK} s:\n{self.case.snippet}", flush=True)
                os._exit(1)


def fuzz(seconds: float, seed: int, *, names: tuple[str, ...] = (), most: int = 10**9) -> Counter[str]:
    """Draw calls until the time is over; print those that break a law, each kind of fault of a name once."""
    end, count = time.monotonic() + seconds, Counter[str]()
    seen: set[tuple[str, str]] = set()
    names = names or targets()
    with Watch() as watch:
        for number in range(most):
            if time.monotonic() > end:
                break
            case = watch.on(drawn_case(Random(f"{seed} {number}"), names[number % len(names)]))
            verdict = judged(case)
            count.update(["calls", verdict.outcome])
            for fault in verdict.faults:
                kind = (case.name, fault[:60])
                if kind not in seen:
                    seen.add(kind)
                    print(f"\n# {case.name}: {fault} (seed {seed}, call {number})\n{case.snippet}", flush=True)
    return count


def main() -> int:
    """Fuzz, print a summary, and return 1 where a law is broken."""
    parser = argparse.ArgumentParser(prog="python -m tools.fuzz", description=__doc__)
    parser.add_argument("seconds", type=float, nargs="?", default=60)
    parser.add_argument("seed", type=int, nargs="?", default=0)
    parser.add_argument("--calls", type=int, default=10**9, metavar="N", help="stop after so many calls")
    parser.add_argument("--record", action="store_true", help="write the figures to docs/reliability.md")
    parser.add_argument("--only", default="", metavar="A,B", help="only these public names")
    arguments = parser.parse_args()
    names = tuple(filter(None, arguments.only.split(",")))
    count = fuzz(arguments.seconds, arguments.seed, names=names, most=arguments.calls)
    told = ", ".join(f"{count[what]} {what}" for what in ("calls", "accepted", "refused", "broken"))
    print(f"fuzz: {told} ({len(targets())} public names, seed {arguments.seed})")
    if arguments.record:
        figures = {"calls": count["calls"], "accepted": count["accepted"], "refused in words": count["refused"]}
        figures |= {"broken laws": count["broken"], "public names": len(targets())}
        until = f" --calls {arguments.calls}" if count["calls"] == arguments.calls else ""
        record("fuzz", figures, command=f"python -m tools.fuzz {arguments.seconds:g} {arguments.seed}{until}")
    return 1 if count["broken"] else 0


if __name__ == "__main__":
    sys.exit(main())
