"""How many small changes to the source the tests of `make test` notice.

Run: python -m tools.mutation [N] [--seed S] [--record] [--seconds T]. Draws N lines of src and a change to each; runs the
tests that reach it, those nearest by name first, up to T seconds of them. The
first run (or --record) runs `make test` once to learn which test reaches which line. Compiled kernels
are included, numba's cache is empty for them. Changes that alter nothing are listed with the reason in equivalent.toml.
"""

import argparse
import os
import random
import time
import tomllib
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from tools.mutation.operators import Mutant, sites
from tools.mutation.reached import SECONDS, Reached, record
from tools.mutation.running import fate_of

SOURCE = Path("src/calibrant")
ROWS = tomllib.loads(Path(__file__).with_name("equivalent.toml").read_text())["mutant"]
EQUIVALENT = {(str(SOURCE / row["file"]), row["line"], row["becomes"]): row["reason"] for row in ROWS}
"""The changes that alter nothing, with the reason."""

Judged = tuple[Mutant, str, str, float]
"""What becomes of a mutant: "killed", "timeout", "survived" or "equivalent", by which test, after how many seconds."""


def main() -> None:
    words = argparse.ArgumentParser(prog="python -m tools.mutation", description=(__doc__ or "").splitlines()[0])
    words.add_argument("n", type=int, nargs="?", default=200)
    words.add_argument("--seed", type=int, default=0)
    words.add_argument("--record", action="store_true", help="learn anew which tests reach which line")
    words.add_argument("--seconds", type=float, default=60.0, help="of tests that a mutant gets at most")
    words.add_argument("--jobs", type=int, default=os.cpu_count())
    options = words.parse_args()
    os.environ |= {"OMP_NUM_THREADS": "1", "MPLBACKEND": "Agg"}

    if options.record or not SECONDS.exists():
        record()
    begun, drawn, tests = time.monotonic(), sample(options.n, options.seed), Reached(SOURCE)
    found: list[Judged] = []
    with ThreadPoolExecutor(options.jobs) as pool:
        for done in as_completed(pool.submit(judge, mutant, tests, options.seconds) for mutant in drawn):
            mutant, fate, test, seconds = done.result()
            found.append((mutant, fate, test, seconds))
            print(f"{len(found):4} {fate:10} {seconds:6.1f} s  {mutant}  {test}", flush=True)
    report(sorted(found, key=lambda row: (row[0].path, row[0].line)), time.monotonic() - begun)


def sample(n: int, seed: int) -> list[Mutant]:
    """Draw lines, and one change to each: a line of many constants counts no more than another."""
    lines = defaultdict(list)
    for mutant in sites(SOURCE):
        lines[mutant.path, mutant.line].append(mutant)
    rng = random.Random(seed)
    return [rng.choice(lines[line]) for line in rng.sample(sorted(lines), n)]


def judge(mutant: Mutant, tests: Reached, seconds: float) -> Judged:
    """Run a mutant's tests in two goes, so that most mutants collect a few files only."""
    if mutant.change() in EQUIVALENT:
        return mutant, "equivalent", EQUIVALENT[mutant.change()], 0.0
    fate, test, left, begun = "survived", "", seconds, time.monotonic()
    for names in tests.ordered(mutant):
        chosen, before = [], left
        for name in names:
            if left > 0:
                chosen.append(name)
                left -= tests.seconds[name]
        if chosen and fate == "survived":
            fate, test = fate_of(mutant, SOURCE, chosen, before - left)
    return mutant, fate, test or f"{seconds - left:.0f} s of tests", time.monotonic() - begun


def report(found: list[Judged], seconds: float) -> None:
    count = Counter(fate for _, fate, _, _ in found)
    for mutant, fate, test, _ in found:
        if fate == "survived":
            _, before, after = mutant.change()
            print(f"\n{mutant}; {test}\n  - {before}\n  + {after}")
    killed, differing = count["killed"] + count["timeout"], len(found) - count["equivalent"]
    print(f"\n{count['timeout']} by time: {', '.join(str(row[0]) for row in found if row[1] == 'timeout') or 'none'}")
    print(
        f"{len(found)} mutants: {killed} killed, {count['survived']} survived, {count['equivalent']} alter nothing; "
        f"score {killed / max(differing, 1):.1%} in {seconds / 60:.0f} minutes on {os.cpu_count()} cores"
    )


if __name__ == "__main__":
    main()
