"""A process with little memory and time that reads files: its crash is a fault of what it reads, and no end of the run."""

from __future__ import annotations

import contextlib
import io
import json
import resource
import sys
import time
import warnings
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from calibrant import load_calibrator
from calibrant._core.checksum import checksum_of
from calibrant.cli import main as calibrant
from tools.mutate_files.originals import CALIBRATOR, DAY

GIGABYTES = 6
"""Of addresses; a library of compiled code takes some of them whether it uses them or not."""

MOST_GROWTH = 300_000
"""Kilobytes by which a file of some kilobytes may make the process grow."""

MOST_SECONDS = 10.0
"""Of computing."""

LONGEST = 1500
"""Characters of a refusal."""


def judged(path: Path, seed: str) -> dict[str, Any]:
    """Read a file, and return the outcome."""
    random, folder = Random(seed), path.parent
    before, grown, begun = set(folder.iterdir()), _kilobytes(), time.process_time()
    try:
        outcome, faults = (_loaded if path.suffix == ".json" else _run)(path, random)
    except BaseException as error:
        outcome, faults = "fault", [f"{type(error).__name__} came out: {error}"[:400]]
    if (seconds := time.process_time() - begun) > MOST_SECONDS:
        faults.append(f"it took {seconds:.1f} s")
    if (more := _kilobytes() - grown) > MOST_GROWTH:
        faults.append(f"it took {more / 1000:.0f} MB")
    left = set(folder.iterdir()) - before
    if (outcome != "read" and left) or any(part.name.endswith(".part") for part in left):
        faults.append(f"it left {[part.name for part in left]}")
    for part in left:
        part.unlink()
    return {"outcome": outcome, "faults": faults}


def _kilobytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _loaded(path: Path, random: Random) -> tuple[str, list[str]]:
    """Load a calibrator and calibrate rows."""
    try:
        calibrator = load_calibrator(path)
    except ValueError as error:
        return "refused", _unclear(str(error))
    k = len(calibrator.classes_)
    rows = np.vstack([np.full((1, k), 1.0 / k), np.eye(k)[:3], np.random.default_rng(0).dirichlet(np.ones(k), 5)])
    values = np.log(rows + 1e-9) if calibrator.input == "logit" else rows
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        prob = calibrator.predict_proba(values[:, 1] if calibrator.n_features_in_ == 1 else values)
    sums = getattr(calibrator, "normalize", True)
    if not ((prob >= 0.0) & (prob <= 1.0)).all() or (sums and np.abs(prob.sum(axis=1) - 1.0).max() > 1e-8):
        return "read", ["it gives no probabilities"]
    return "read", []


def _run(path: Path, random: Random) -> tuple[str, list[str]]:
    """Run a command on predictions, or on the state of a monitor."""
    is_as_written = path.suffix != ".state" or _fits(path)
    out = str(path.with_name(f"out{path.suffix}"))
    command = random.choice(
        (
            ["assess", str(path), "--resamples", "20"],
            ["apply", str(path.with_name(CALIBRATOR)), str(path), "-o", out],
            ["fit", str(path), "--method", "temperature", "-o", str(path.with_name("out.json"))],
            ["fit", str(path), "--label", "label", "--prob", "p_*", "-o", str(path.with_name("out.json"))],
        )
        if path.suffix != ".state"
        else (["monitor", str(path.with_name(DAY)), "--state", str(path)],)
    )
    said, printed = io.StringIO(), io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(printed), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            code = calibrant(command)
        except SystemExit as error:
            return "fault", [f"{command[0]} ended with SystemExit({error.code}): {said.getvalue()[-300:]}"]
    if code == 0:
        return "read", [] if is_as_written else ["a state that does not match its checksum was read"]
    error = said.getvalue().rstrip("\n").split("calibrant: error: ")[-1]
    faults = [] if code == 2 else [f"{command[0]} ended with code {code}"]
    if "Traceback" in said.getvalue():
        return "refused", [*faults, f"a traceback: {said.getvalue()[-500:]}"]
    return "refused", faults + _unclear(error)


def _fits(path: Path) -> bool:
    """Whether a state is as it was written, or as if it were."""
    with contextlib.suppress(ValueError, KeyError, TypeError, AttributeError, RecursionError):
        plain = json.loads(path.read_bytes())
        return all(one["checksum"] == checksum_of(one) for one in (plain, *plain["groups"].values()))
    return False


def _unclear(message: str) -> list[str]:
    """Say what a refusal lacks."""
    if not message or len(message) > LONGEST or "\n" in message.strip() or not message.rstrip().endswith((".", "?")):
        return [f"an unclear refusal: {message[:300]!r}"]
    return []


def main() -> None:
    """Judge files, one a line, until there are no more."""
    resource.setrlimit(resource.RLIMIT_AS, (GIGABYTES << 30, GIGABYTES << 30))
    answers = sys.stdout
    for line in sys.stdin:
        task = json.loads(line)
        print(json.dumps(judged(Path(task["path"]), task["seed"])), file=answers, flush=True)


if __name__ == "__main__":
    main()
