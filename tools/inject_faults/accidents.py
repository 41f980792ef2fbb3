"""Kinds of accidents. Each is a function that has one happen to a job, and returns the laws that were broken."""

from __future__ import annotations

import errno
import os
import resource
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from calibrant.interop import writing
from tools.inject_faults.child import OLD, Whole, broken_laws, content, ended, folder_with, started
from tools.inject_faults.jobs import Job
from tools.inject_faults.places import closed_output, strange_place, vanishing_input

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
ERRORS = (errno.ENOSPC, errno.EIO, errno.EACCES, errno.EROFS, errno.EDQUOT)
STEPS = ("open", "fsync", "chmod", "link", "replace")
MOST_LINES = 60
"""Lines of writing.py that a write passes, and some more."""

Accident = Callable[[Random, Job, Path, Whole], list[str]]


def full_disk(random: Random, job: Job, inputs: Path, whole: Whole) -> list[str]:
    """No file may grow beyond some bytes, as if the disk were full."""
    most = random.choice((0, 1, len(whole[job.output]) - 1, random.randrange(len(whole[job.output]))))

    def prepare() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))

    return _alone(random, job, inputs, whole, prepare, {2})


def failing_step(random: Random, job: Job, inputs: Path, whole: Whole) -> list[str]:
    """One call of the system that writing needs fails, as without rights or on a disk that breaks."""
    step, number = random.choice(STEPS), random.choice(ERRORS)

    def prepare() -> None:
        made = getattr(os, step)

        def fail(*given: Any, **named: Any) -> Any:
            if sys._getframe(1).f_code.co_filename == writing.__file__:
                raise OSError(number, os.strerror(number))
            return made(*given, **named)

        setattr(os, step, fail)

    return _alone(random, job, inputs, whole, prepare, {0, 2})


def signal_at_a_line(random: Random, job: Job, inputs: Path, whole: Whole) -> list[str]:
    """A signal arrives at one of the lines that write the file and give it its name."""
    number, line = random.choice(SIGNALS), random.randrange(1, MOST_LINES)

    def prepare() -> None:
        passed = [0]

        def trace(frame: Any, event: str, _: Any) -> Any:
            if frame.f_code.co_filename != writing.__file__:
                return None
            if event == "line":
                passed[0] += 1
                if passed[0] == line:
                    os.kill(os.getpid(), number)
            return trace

        sys.settrace(trace)

    return _alone(random, job, inputs, whole, prepare, {0, -signal.SIGKILL, *_of_signals(job)})


def signal_while_writing(random: Random, job: Job, inputs: Path, whole: Whole) -> list[str]:
    """A signal arrives at a random moment after the file beside the output was made."""
    number, delay = random.choice(SIGNALS), random.expovariate(200)

    def prepare() -> None:
        made = os.open

        def opened(path: Any, *given: Any, **named: Any) -> Any:
            if str(path).endswith(".part"):
                signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), number))
                signal.setitimer(signal.ITIMER_REAL, delay)
            return made(path, *given, **named)

        os.open = opened

    return _alone(random, job, inputs, whole, prepare, {0, -signal.SIGKILL, *_of_signals(job)}, after=-signal.SIGTERM)


def _of_signals(job: Job) -> set[int]:
    """How a job that is told to end while it writes says so: a command as a shell would, a function of Python at once."""
    of_python = "_" in job.name
    return {130, -signal.SIGTERM if of_python else 128 + signal.SIGTERM}


def _alone(
    random: Random,
    job: Job,
    inputs: Path,
    whole: Whole,
    prepare: Callable[[], None],
    codes: set[int],
    *,
    after: int | None = None,
) -> list[str]:
    """Let an accident happen; then run again without one, which nothing that was left may hinder.

    The code `after` is right only where the output is whole: the accident fell into the moment between the end of the
    command and that of its process.
    """
    force = random.random() < 0.5
    with folder_with(inputs) as folder:
        target = folder / job.output
        if force:
            target.write_bytes(OLD)
        before = content(target)
        end = ended(*started(job, folder, force=force, prepare=prepare))
        if end.code == after and content(target) == whole[job.output]:
            codes = {*codes, after}
        laws = broken_laws(folder, job.output, before=before, whole=whole[job.output], end=end, codes=codes)
        again = ended(*started(job, folder, force=content(target) is not None))
        if again.code != 0 or content(target) != whole[job.output]:
            laws.append(f"the next run was hindered: exit code {again.code} [{again.said.strip()[-300:]}]")
    return laws


def two_writers(random: Random, job: Job, inputs: Path, whole: Whole) -> list[str]:
    """Several processes write one output at the same time: without force one succeeds, with force each does."""
    force, count = random.random() < 0.5, random.choice((2, 3, 4))
    with folder_with(inputs) as folder:
        read, write = os.pipe()

        def prepare() -> None:
            os.close(write)
            os.read(read, 1)  # ends for all of them when the last end that writes is closed

        processes = [started(job, folder, force=force, prepare=prepare) for _ in range(count)]
        os.close(write)
        ends = [ended(*process) for process in processes]
        os.close(read)
        laws = [
            law
            for end in ends
            for law in broken_laws(folder, job.output, before=None, whole=whole[job.output], end=end, codes={0, 2})
        ]
    succeeded = sum(end.code == 0 for end in ends)
    if succeeded != (count if force else 1):
        laws.append(f"{succeeded} of {count} writers succeeded {'with' if force else 'without'} force")
    return laws


ACCIDENTS: dict[str, Accident] = {
    "disk full": full_disk,
    "failing step": failing_step,
    "signal at a line": signal_at_a_line,
    "signal while writing": signal_while_writing,
    "two writers": two_writers,
    "strange place": strange_place,
    "input gone or cut": vanishing_input,
    "closed standard output": closed_output,
}
