"""What the tools that draw calls and files share: their options, their loop, and what a refusal must say."""

import argparse
import re
import time
from collections import Counter
from collections.abc import Callable
from random import Random

Judge = Callable[[int, Random], tuple[str, str, list[str], str]]
"""Draws something by its number and a source of chance: what it is, how it ended, what is wrong with it, where it is seen."""

PARTS, LONGEST = re.compile(r".+[;:,] .+[.?!:)] \S.*"), 1500
"""What must hold; what was given and where. What to do. Within so many characters."""


def is_clear(refusal: str) -> bool:
    """Whether a refusal has all its parts, in one paragraph."""
    return len(refusal) <= LONGEST and PARTS.fullmatch(refusal) is not None


def judge_draws(judge: Judge, seconds: float, seed: int, most: int) -> Counter[str]:
    """Draw until the time is over; print each kind of fault of a thing once, and count how all ended."""
    end, count, seen = time.monotonic() + seconds, Counter[str](), set[tuple[str, str]]()
    while count.total() < most and time.monotonic() <= end:
        number = count.total()
        what, outcome, faults, shown = judge(number, Random(f"{seed} {number}"))
        count["broken" if faults else outcome] += 1
        for fault in faults:
            if (kind := (what, fault[:60])) not in seen:
                seen.add(kind)
                print(f"\n# {what}: {fault} (seed {seed}, number {number})\n{shown}", flush=True)
    return count


def run(name: str, doc: str | None, work: Callable[..., Counter[str]], things: str, accepted: str) -> int:
    """Draw as long and as often as the command line says; print a summary, and return 1 where there was a fault."""
    parser = argparse.ArgumentParser(prog=f"python -m tools.{name}", description=doc)
    parser.add_argument("seconds", type=float, nargs="?", default=60)
    parser.add_argument("seed", type=int, nargs="?", default=0)
    parser.add_argument("--most", type=int, default=10**9, metavar="N", help="stop after so many draws")
    options = parser.parse_args()
    count = work(options.seconds, options.seed, most=options.most)
    print(
        f"{count.total()} {things}: {count['accepted']} {accepted}, {count['refused']} were refused with a message; "
        f"{count['broken']} broke a promise (seed {options.seed})"
    )
    return int(count["broken"] > 0)
