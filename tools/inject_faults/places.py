"""Accidents of places: outputs that are no plain files, inputs that are gone, and standard output that takes nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random

from tools.inject_faults.child import OLD, Ended, Whole, broken_laws, content, ended, folder_with, started
from tools.inject_faults.jobs import COMMANDS, Job


def strange_place(random: Random, job: Job, inputs: Path, whole: Whole) -> list[str]:
    """The output is a directory, under a file, in a folder that is not there, a link, a pipe, or what is read."""
    force, kind = random.random() < 0.5, random.choice((*PLACES, "input"))
    with folder_with(inputs) as folder:
        if kind == "input":
            return _onto_the_input(job, folder, whole, force=force)
        output, codes = PLACES[kind](folder, job, force)
        before = content(folder / output)
        end = ended(*started(job, folder, output=output, force=force))
        laws = broken_laws(folder, output, before=before, whole=whole[job.output], end=end, codes=codes)
        laws = [law for law in laws if not law.startswith("it left ['real") and "it left ['file'" not in law]
        if kind in ("link", "dangling") and end.code == 0:
            laws = [law for law in laws if "exit code is 0" not in law]
            if content(folder / f"real-{job.output}") != whole[job.output]:
                laws.append("a link was not followed")
        return [f"{law} ({kind}, force {force})" for law in laws]


def _onto_the_input(job: Job, folder: Path, wholes: Whole, *, force: bool) -> list[str]:
    """A file is named as output: if the job reads it, it stays, and else, by force, it gets whole contents."""
    source = "small.csv" if job.name == "report" else "in.csv"
    before = content(folder / source)
    end = ended(*started(job, folder, output=source, force=force))
    codes = {0} if force and job.name not in ("apply", "decide", "fit", "report") else {2}
    whole = wholes["monitored.csv" if job.name == "monitor" else job.output]  # the ending says in which format
    laws = broken_laws(folder, source, before=before, whole=whole, end=end, codes=codes)
    return [f"{law} (onto the input, force {force})" for law in laws]


def _directory(folder: Path, job: Job, force: bool) -> tuple[str, set[int]]:
    (folder / job.output).mkdir()
    return job.output, {2}


def _under_a_file(folder: Path, job: Job, force: bool) -> tuple[str, set[int]]:
    return f"in.csv/{job.output}", {2}


def _nowhere(folder: Path, job: Job, force: bool) -> tuple[str, set[int]]:
    return f"nowhere/{job.output}", {2}


def _proc(folder: Path, job: Job, force: bool) -> tuple[str, set[int]]:
    return f"/proc/{job.output}", {2}


def _link(folder: Path, job: Job, force: bool) -> tuple[str, set[int]]:
    (folder / f"real-{job.output}").write_bytes(OLD)
    (folder / job.output).symlink_to(f"real-{job.output}")
    return job.output, {0} if force else {2}


def _dangling(folder: Path, job: Job, force: bool) -> tuple[str, set[int]]:
    (folder / job.output).symlink_to(f"real-{job.output}")
    return job.output, {0}


def _loop(folder: Path, job: Job, force: bool) -> tuple[str, set[int]]:
    (folder / job.output).symlink_to(job.output)
    return job.output, {2}


def _pipe(folder: Path, job: Job, force: bool) -> tuple[str, set[int]]:
    os.mkfifo(folder / job.output)
    return job.output, {2}


def _long_name(folder: Path, job: Job, force: bool) -> tuple[str, set[int]]:
    return f"{'n' * 300}{job.output}", {2}


PLACES: dict[str, Callable[[Path, Job, bool], tuple[str, set[int]]]] = {
    "directory": _directory,
    "under a file": _under_a_file,
    "nowhere": _nowhere,
    "proc": _proc,
    "link": _link,
    "dangling": _dangling,
    "loop": _loop,
    "pipe": _pipe,
    "long name": _long_name,
}


# What is read, and where is printed


def vanishing_input(random: Random, job: Job, inputs: Path, whole: Whole) -> list[str]:
    """What is to be read is gone, or cut, or no longer a file, when the command comes to it."""
    kind = random.choice(("gone", "cut", "folder"))
    if "_" in job.name:  # functions of Python read nothing
        return []
    with folder_with(inputs) as folder:
        for name in ("in.csv", "small.csv"):
            whole_text = (folder / name).read_bytes()
            (folder / name).unlink()
            if kind == "cut":
                (folder / name).write_bytes(whole_text[: random.randrange(12)])
            elif kind == "folder":
                (folder / name).mkdir()
        end = ended(*started(job, folder))
        reads = job.name != "demo"
        return broken_laws(
            folder, job.output, before=None, whole=whole[job.output], end=end, codes={2} if reads else {0}
        )


def closed_output(random: Random, job: Job, inputs: Path, whole: Whole) -> list[str]:
    """Nobody reads what is printed, or its disk is full."""
    kind = random.choice(("pipe", "full", "closed"))
    if "_" in job.name:  # functions of Python print nothing
        return []
    words = [job.name, *COMMANDS[job.name][job.output], "-o", job.output]
    with folder_with(inputs) as folder:
        end = _in_shell(words, kind, folder)
        codes = {"pipe": {0, 141}, "full": {2}, "closed": {2}}[kind]
        laws = broken_laws(folder, job.output, before=None, whole=whole[job.output], end=end, codes=codes)
        return [law for law in laws if not (end.code == 141 and "not one sentence" in law)]


def _in_shell(words: list[str], kind: str, folder: Path) -> Ended:
    """Run a command whose standard output is a pipe without a reader, a full disk, or closed."""
    read, write = os.pipe()
    os.close(read)
    target = {"pipe": write, "full": os.open("/dev/full", os.O_WRONLY), "closed": None}[kind]
    run = subprocess.run(
        [sys.executable, "-m", "tools.inject_faults.shell", *words],
        cwd=folder,
        stdout=target,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([*filter(None, sys.path), os.getcwd()])},
        preexec_fn=(lambda: os.close(1)) if kind == "closed" else None,
        check=False,
    )
    for handle in {write, target} - {None}:
        os.close(handle)
    return Ended(run.returncode, run.stderr)
