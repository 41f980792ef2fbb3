"""How many small changes to the source the tests of `make test` notice.

Run: python -m tools.mutation [N] [--seed S] [--record] [--seconds T]. Draws N lines of src and a change to each; runs the
tests that reach it, those nearest by name first, up to T seconds of them. The
first run (or --record) runs `make test` once to learn which test reaches which line. Decorated functions and compiled kernels
are included, numba's cache is empty for the latter. Changes that alter nothing are listed with the reason in equivalent.toml.
"""

import argparse
import os
import random
import tempfile
import time
import tomllib
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import cache
from pathlib import Path
from queue import SimpleQueue

from tools.mutation.operators import Mutant, sites
from tools.mutation.reached import SECONDS, Reached, record
from tools.mutation.running import Copy

SOURCE = Path("src/calibrant")
EQUIVALENT = Path(__file__).with_name("equivalent.toml")


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
    judged(sample(options.n, options.seed), options)


def sample(n: int, seed: int) -> list[Mutant]:
    """Draw lines, and one change to each: a line of many constants counts no more than another."""
    lines = defaultdict(list)
    for mutant in sites(SOURCE):
        lines[mutant.path, mutant.line].append(mutant)
    rng = random.Random(seed)
    return [rng.choice(lines[line]) for line in rng.sample(sorted(lines), n)]


def judged(drawn: list[Mutant], options: argparse.Namespace) -> None:
    """Run the tests of all mutants side by side, each in a copy that is free, and print what becomes of them."""
    begun, rows, tests = time.monotonic(), [], Reached(SOURCE)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(options.jobs) as pool:
        copies: SimpleQueue[Copy] = SimpleQueue()
        for number in range(options.jobs):
            copies.put(Copy(SOURCE, Path(folder) / str(number)))
        for done in as_completed(pool.submit(judge, mutant, tests, copies, options.seconds) for mutant in drawn):
            row = done.result()
            rows.append(row)
            place = f"{row['change'][0]}:{row['line']} ({row['operator']})"
            print(f"{len(rows):4} {row['fate']:10} {row['seconds']:6.1f} s  {place}  {row['test']}", flush=True)
    rows.sort(key=lambda row: (row["change"][0], row["line"]))
    report(rows, time.monotonic() - begun)


def judge(mutant: Mutant, tests: Reached, copies: SimpleQueue[Copy], seconds: float) -> dict:
    """Run a mutant's tests in two goes, so that most mutants collect a few files only."""
    change = (mutant.path.relative_to(SOURCE).as_posix(), *mutant.difference())
    row = {"change": change, "line": mutant.line, "operator": mutant.operator}
    if reason := equivalents().get(change):
        return row | {"fate": "equivalent", "test": reason, "seconds": 0.0}
    goes, left, spent, run = tests.ordered(mutant), seconds, 0.0, 0
    for names in goes:
        chosen = []
        for name in names:
            if left > 0:
                chosen.append(name)
                left -= tests.seconds[name]
        if chosen:
            copy = copies.get()
            outcome = copy.outcome(mutant, chosen, tests.seconds)
            copies.put(copy)
            spent, run = spent + outcome.seconds, run + len(chosen)
            if outcome.fate != "survived":
                return row | {"fate": outcome.fate, "test": outcome.test, "seconds": spent}
    return row | {"fate": "survived", "test": f"{run} of {sum(map(len, goes))} tests", "seconds": spent}


@cache
def equivalents() -> dict[tuple[str, str, str], str]:
    """Return the changes that alter nothing, with the reason."""
    rows = tomllib.loads(EQUIVALENT.read_text()).get("mutant", []) if EQUIVALENT.exists() else []
    return {(row["file"], row["line"], row["becomes"]): row["reason"] for row in rows}


def report(rows: list[dict], seconds: float) -> None:
    count = Counter(row["fate"] for row in rows)
    for row in rows:
        if row["fate"] == "survived":
            print(f"\n{row['change'][0]}:{row['line']} ({row['operator']}; {row['test']})")
            print(f"  - {row['change'][1]}\n  + {row['change'][2]}")
    killed, differing = count["killed"] + count["timeout"], len(rows) - count["equivalent"]
    by_time = [f"{row['change'][0]}:{row['line']}" for row in rows if row["fate"] == "timeout"]
    print(f"\n{count['timeout']} by time: {', '.join(by_time) or 'none'}")
    print(
        f"{len(rows)} mutants: {killed} killed, {count['survived']} survived, {count['equivalent']} alter nothing; "
        f"score {killed / max(differing, 1):.1%} in {seconds / 60:.0f} minutes on {os.cpu_count()} cores"
    )


if __name__ == "__main__":
    main()
