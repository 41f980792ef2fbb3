"""How many small changes to the source the tests of `make test` notice.

Run: python -m tools.mutation [N] [--seed S] [--record] [--seconds T]. Draws N lines of src and a change to each; runs the
tests that reach it, those nearest by name first, up to T seconds of them. The
first run (or --record) runs `make test` once to learn which test reaches which line. Decorated functions and compiled kernels
are included, numba's cache is empty for the latter. Changes that alter nothing are listed with the reason in equivalent.toml.
"""

import argparse
import importlib
import os
import random
import tempfile
import time
import tomllib
from collections import Counter, defaultdict
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path

SOURCE = Path("src/calibrant")
EQUIVALENT = Path(__file__).with_name("equivalent.toml")
IMPORTED_ONCE = """
numpy scipy.optimize scipy.special scipy.stats scipy.interpolate scipy.integrate scipy.sparse.csgraph scipy.linalg
pytest hypothesis hypothesis.strategies hypothesis.extra.numpy numba narwhals matplotlib.pyplot matplotlib.figure jinja2
sklearn.base sklearn.linear_model sklearn.model_selection sklearn.isotonic sklearn.pipeline sklearn.metrics pandas
"""


def main() -> None:
    words = argparse.ArgumentParser(prog="python -m tools.mutation", description=(__doc__ or "").splitlines()[0])
    words.add_argument("n", type=int, nargs="?", default=200)
    words.add_argument("--seed", type=int, default=0)
    words.add_argument("--record", action="store_true", help="learn anew which tests reach which line")
    words.add_argument("--seconds", type=float, default=60.0, help="of tests that a mutant gets at most")
    words.add_argument("--jobs", type=int, default=os.cpu_count())
    options = words.parse_args()
    os.environ |= {"OMP_NUM_THREADS": "1", "MPLBACKEND": "Agg"}

    from tools.mutation import reached

    if options.record or not reached.SECONDS.exists():
        reached.record()
    judged(sample(options.n, options.seed), options)


def sample(n: int, seed: int) -> list:
    """Draw lines, and one change to each: a line of many constants counts no more than another."""
    from tools.mutation.operators import sites

    lines = defaultdict(list)
    for mutant in sites(SOURCE):
        lines[mutant.path, mutant.line].append(mutant)
    rng = random.Random(seed)
    return [rng.choice(lines[line]) for line in rng.sample(sorted(lines), n)]


def judged(drawn: list, options: argparse.Namespace) -> None:
    for name in IMPORTED_ONCE.split():
        importlib.import_module(name)
    begun, rows, fork = time.monotonic(), [], get_context("fork")
    with (
        tempfile.TemporaryDirectory() as folder,
        ProcessPoolExecutor(options.jobs, fork, start, (folder, options.seconds)) as pool,
    ):
        for done in as_completed(pool.submit(judge, mutant) for mutant in drawn):
            row = done.result()
            rows.append(row)
            place = f"{row['change'][0]}:{row['line']} ({row['operator']})"
            print(f"{len(rows):4} {row['fate']:10} {row['seconds']:6.1f} s  {place}  {row['test']}", flush=True)
    rows.sort(key=lambda row: (row["change"][0], row["line"]))
    report(rows, time.monotonic() - begun)


state: dict = {}


def start(folder: str, seconds: float) -> None:
    from tools.mutation.reached import Reached
    from tools.mutation.running import Copy

    state.update(reached=Reached(SOURCE), copy=Copy(SOURCE, Path(folder) / str(os.getpid())), seconds=seconds)


def judge(mutant) -> dict:
    """Run a mutant's tests in two goes, so that most mutants collect a few files only."""
    reached, copy = state["reached"], state["copy"]
    change = (mutant.path.relative_to(SOURCE).as_posix(), *mutant.difference())
    row = {"change": change, "line": mutant.line, "operator": mutant.operator}
    if reason := equivalents().get(change):
        return row | {"fate": "equivalent", "test": reason, "seconds": 0.0}
    left, spent, fate, test, run, goes = state["seconds"], 0.0, "survived", "", 0, reached.ordered(mutant)
    for tests in goes:
        chosen = []
        for name in tests:
            if left > 0:
                chosen.append(name)
                left -= reached.seconds[name]
        if chosen and fate == "survived":
            outcome = copy.outcome(mutant, chosen, reached.seconds)
            spent, fate, test, run = spent + outcome.seconds, outcome.fate, outcome.test, run + len(chosen)
    if fate == "survived":
        test = f"{run} of {sum(map(len, goes))} tests"
    return row | {"fate": fate, "test": test, "seconds": spent}


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
