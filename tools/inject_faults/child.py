"""One run of a job in a process of its own, with an accident prepared in it, and the laws that it must keep."""

from __future__ import annotations

import os
import re
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tools.inject_faults.jobs import Job

INPUTS = ("in.csv", "small.csv", "c.json")
TEMPORARY = re.compile(r"\..+\.[0-9a-f]{8}\.part")
"""Names of files that a killed process may leave: hidden, and called a part of what was to be written."""

OLD = b"what stood there before\n"

MOST_SECONDS, MOST_LETTERS = 120, 255

Prepare = Callable[[], None]
Whole = dict[str, bytes]
"""What each job writes when nothing happens to it, by the name of its output."""


@dataclass(frozen=True)
class Ended:
    """How a process ended: its exit code, or minus the signal that killed it; and what it said."""

    code: int
    said: str


@contextmanager
def folder_with(inputs: Path) -> Iterator[Path]:
    """Give a new folder that holds the inputs."""
    with tempfile.TemporaryDirectory(prefix="faults") as name:
        for file in INPUTS:
            shutil.copy(inputs / file, name)
        yield Path(name)


def started(
    job: Job, folder: Path, *, output: str = "", force: bool = False, prepare: Prepare = lambda: None
) -> tuple[int, int]:
    """Start a job in a folder, after what is prepared; return the process and the pipe of what it says."""
    read, write = os.pipe()  # a file would be cut where the disk is full
    sys.stdout.flush()
    process = os.fork()
    if process:
        os.close(write)
        return process, read
    code = 70
    try:
        os.chdir(folder)
        os.dup2(write, 2)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.stdout, sys.stderr = (os.fdopen(n, "w", closefd=False) for n in (1, 2))
        code = _coded(job, output or job.output, force, prepare)
    finally:
        sys.stderr.flush()
        os._exit(code)


def _coded(job: Job, output: str, force: bool, prepare: Prepare) -> int:
    """Run a job; the errors of a function of Python become what the command line makes of them."""
    try:
        prepare()
        return job.run(output, force)
    except (OSError, ValueError, TypeError) as error:
        print(f"calibrant: error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("calibrant: interrupted", file=sys.stderr)
        return 130
    except SystemExit as end:
        return int(end.code or 0)
    except BaseException:
        traceback.print_exc()
        return 70


def ended(process: int, said: int) -> Ended:
    """Wait for a process; one that does not end is killed and counts as stuck."""
    end = time.monotonic() + MOST_SECONDS
    while (done := os.waitpid(process, os.WNOHANG)) == (0, 0):
        if time.monotonic() > end:
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
            os.close(said)
            return Ended(-999, f"it was still running after {MOST_SECONDS} s")
        time.sleep(0.002)
    with os.fdopen(said, errors="replace") as text:
        return Ended(os.waitstatus_to_exitcode(done[1]), text.read())


def content(path: Path) -> bytes | str | None:
    """Return what stands at a path: bytes, where a link points, or None."""
    if len(path.name) > MOST_LETTERS:
        return None
    if path.is_symlink():
        return f"-> {os.readlink(path)}"
    return path.read_bytes() if path.is_file() else "a folder" if path.is_dir() else None


def broken_laws(
    folder: Path, output: str, *, before: bytes | str | None, whole: bytes, end: Ended, codes: set[int]
) -> list[str]:
    """Say which laws do not hold after an accident."""
    now, laws = content(folder / output), []
    if now not in (before, whole):
        laws.append(f"the output is neither as it was nor whole: {'nothing' if now is None else f'{len(now)} bytes'}")
    if end.code == 0 and now != whole:
        laws.append("the exit code is 0, and the output is not there")
    if end.code not in codes:
        laws.append(f"the exit code is {end.code}, and not one of {sorted(codes)}")
    if "Traceback" in end.said or "Exception ignored" in end.said:
        laws.append("it printed a traceback")
    said = [
        line for line in end.said.splitlines() if not line.startswith("calibrant: warning") and ": reading " not in line
    ]
    if end.code > 0 and (len(said) != 1 or not said[0].startswith("calibrant: ")):
        laws.append(f"it said {len(said)} lines, and not one sentence")
    left = [name for name in os.listdir(folder) if name not in (*INPUTS, output)]
    if strange := [name for name in left if end.code >= 0 or not TEMPORARY.fullmatch(name)]:
        laws.append(f"it left {strange}")
    return [f"{law} [{end.said.strip()[-400:]}]" for law in laws]
