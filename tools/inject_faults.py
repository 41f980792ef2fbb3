"""Accidents while a file is written: full disks, signals, two writers, strange places and closed pipes.

`python -m tools.inject_faults [SECONDS] [SEED]` runs every command that writes, and every function of Python that does, into
each kind of accident. Afterwards the output must be as it was before, or whole; nothing else may lie beside it; and the
command must have said in one sentence what happened.
"""

import argparse
import errno
import inspect
import io
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from multiprocessing.context import ForkProcess
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import calibrant
from calibrant import cli
from calibrant._core.lazy import homes, load
from calibrant.cli.options import parser
from calibrant.interop import writing
from tools.reliability import draws, finished, parser_of

# What writes files: the commands with an output, found in the parser, and the functions with ``force``, found by signature.


COMMANDS: dict[str, dict[str, list[str]]] = {
    "fit": {"calibrator.json": ["in.csv"]},
    "apply": {f"applied.{end}": ["c.json", "in.csv"] for end in ("csv", "npz", "parquet", "feather")},
    "export": {"exported.sql": ["c.json", "--to", "sql"]},
    "decide": {f"decided.{end}": ["in.csv", "--costs", "0,1;4,0"] for end in ("csv", "npz", "parquet", "feather")},
    "report": {"page.html": ["small.csv", "--resamples", "5"]},
    "demo": {"demo.html": []},
    "monitor": {f"monitored.{end}": ["small.csv"] for end in ("html", "csv", "json")},
}
"""Arguments of every command that writes, by the name of its output; no two outputs share a name."""

FUNCTIONS = ("save_calibrator", "write_report")
"""Functions of Python that write."""

ROWS = 3000


@dataclass(frozen=True)
class Job:
    """Something that writes one file into the folder in which it runs."""

    name: str
    output: str
    run: Callable[[str, bool], int]
    """Called with the path of the output and whether to force; it returns an exit code."""
    is_slow: bool = False
    """Whether it computes for seconds before it writes."""


def jobs() -> list[Job]:
    """Return all that writes; raise where the parser or the package has a writer that is not known here."""
    written = {name for name, command in commands().items() if any(a.dest == "output" for a in command._actions)}
    forced = {n for n in homes() if "force" in parameters_of(n)}
    if strange := (written ^ set(COMMANDS)) | (forced ^ set(FUNCTIONS)):
        raise LookupError(
            f"tools/inject_faults.py must know each writer; it does not know, or no more: {sorted(strange)}"
        )
    made = [
        Job(name, output, partial(_run, name, words), name in ("report", "demo"))
        for name, outputs in COMMANDS.items()
        for output, words in outputs.items()
    ]
    return [
        *made,
        Job("save_calibrator", "saved.json", _save),
        Job("write_report", "written.html", _report, is_slow=True),
    ]


def commands() -> dict[str, argparse.ArgumentParser]:
    """Return the parser of each command."""
    (found,) = (a for a in parser()._actions if isinstance(a, argparse._SubParsersAction))
    return dict(found.choices)


def parameters_of(name: str) -> tuple[str, ...]:
    """Return the names of the parameters of a public name that is a function."""
    target = load(name)
    return tuple(inspect.signature(target).parameters) if inspect.isfunction(target) else ()


def make_inputs(folder: Path) -> None:
    """Write what the commands read."""
    rng = np.random.default_rng(0)
    prob = rng.random(ROWS)
    label = (rng.random(ROWS) < prob).astype(int)
    lines = [f"{y},{p:.6f},row {k}" for k, (y, p) in enumerate(zip(label, prob, strict=True))]
    (folder / "in.csv").write_text("\n".join(["label,p,name", *lines, ""]))
    (folder / "small.csv").write_text("\n".join(["label,p,name", *lines[:200], ""]))
    assert cli.main(["fit", str(folder / "in.csv"), "-o", str(folder / "c.json")]) == 0


def _run(name: str, words: list[str], output: str, force: bool) -> int:
    return cli.main([name, *words, "-o", output, *(["--force"] if force else [])])


def _rows() -> tuple[Any, Any]:
    table = np.genfromtxt("in.csv", delimiter=",", skip_header=1, usecols=(0, 1))
    return table[:, 0].astype(int), table[:, 1]


def _save(output: str, force: bool) -> int:
    label, prob = _rows()
    calibrant.save_calibrator(calibrant.VennAbers().fit(prob, label), output, force=force)
    return 0


def _report(output: str, force: bool) -> int:
    label, prob = _rows()
    calibrant.write_report(calibrant.assess(label[:200], prob[:200], n_resamples=5), output, force=force)
    return 0


# One run of a job in a process of its own, with an accident prepared in it, and the laws that it must keep.


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
) -> tuple[ForkProcess, int]:
    """Start a job in a folder, after what is prepared; return the process and the pipe of what it says."""
    read, write = os.pipe()  # a file would be cut where the disk is full

    def run() -> None:
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

    process = get_context("fork").Process(target=run)
    process.start()
    os.close(write)
    return process, read


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


def ended(process: ForkProcess, said: int) -> Ended:
    """Wait for a process; one that does not end is killed and counts as stuck."""
    process.join(MOST_SECONDS)
    if process.exitcode is None:
        process.kill()
        process.join()
        os.close(said)
        return Ended(-999, f"it was still running after {MOST_SECONDS} s")
    with os.fdopen(said, errors="replace") as text:
        return Ended(process.exitcode, text.read())


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


# Accidents of places: outputs that are no plain files, inputs that are gone, and standard output that takes nothing.


def strange_place(random: Random, job: Job, inputs: Path, whole: Whole) -> list[str]:
    """The output is a directory, under a file, in a folder that is not there, a link, a pipe, or what is read."""
    force, kind = random.random() < 0.5, random.choice((*PLACES, "input"))
    with folder_with(inputs) as folder:
        if kind == "input":
            return _onto_the_input(job, folder, whole, force=force)
        place, prepare, code = PLACES[kind]
        output, codes = place.format(job.output), {2 if kind == "link" and not force else code}
        prepare(folder / output)
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


def _untouched(path: Path) -> None:
    """Leave the place as it is."""


def _link(path: Path) -> None:
    path.with_name(f"real-{path.name}").write_bytes(OLD)
    path.symlink_to(f"real-{path.name}")


PLACES: dict[str, tuple[str, Callable[[Path], object], int]] = {
    "directory": ("{}", Path.mkdir, 2),
    "under a file": ("in.csv/{}", _untouched, 2),
    "nowhere": ("nowhere/{}", _untouched, 2),
    "proc": ("/proc/{}", _untouched, 2),
    "link": ("{}", _link, 0),
    "dangling": ("{}", lambda path: path.symlink_to(f"real-{path.name}"), 0),
    "loop": ("{}", lambda path: path.symlink_to(path.name), 2),
    "pipe": ("{}", os.mkfifo, 2),
    "long name": ("n" * 300 + "{}", _untouched, 2),
}
"""Where the output is to be, what is made of that place before, and the exit code that is due: of a link, with force."""


# What is read, and where is printed


def vanishing_input(random: Random, job: Job, inputs: Path, whole: Whole) -> list[str]:
    """What is to be read is gone, or cut, or no longer a file, when the command comes to it."""
    kind = random.choice(("gone", "cut", "folder"))
    if "_" in job.name:  # functions of Python read nothing
        return []
    with folder_with(inputs) as folder:
        for name in ("in.csv", "small.csv", "c.json"):
            whole_text = (folder / name).read_bytes()
            (folder / name).unlink()
            if kind == "cut":
                (folder / name).write_bytes(whole_text[: random.randrange(12)])
            elif kind == "folder":
                (folder / name).mkdir()
        end, codes = ended(*started(job, folder)), {0 if job.name == "demo" else 2}
        return broken_laws(folder, job.output, before=None, whole=whole[job.output], end=end, codes=codes)


def closed_output(random: Random, job: Job, inputs: Path, whole: Whole) -> list[str]:
    """Nobody reads what is printed, or its disk is full."""
    kind = random.choice(("pipe", "full", "closed"))
    if "_" in job.name:  # functions of Python print nothing
        return []
    words = [job.name, *COMMANDS[job.name][job.output], "-o", job.output]
    read, write = os.pipe()
    os.close(read)
    target = {"pipe": write, "full": os.open("/dev/full", os.O_WRONLY), "closed": None}[kind]
    with folder_with(inputs) as folder:
        run = subprocess.run(
            [sys.executable, "-m", "calibrant", *words],
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
        end = Ended(run.returncode, run.stderr)
        codes = {"pipe": {0, 141}, "full": {2}, "closed": {2}}[kind]
        laws = broken_laws(folder, job.output, before=None, whole=whole[job.output], end=end, codes=codes)
        return [law for law in laws if not (end.code == 141 and "not one sentence" in law)]


# Kinds of accidents. Each is a function that has one happen to a job, and returns the laws that were broken.


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
        for number, random in draws(seconds, seed, most):
            (job,) = random.choices(known, [1 if job.is_slow else 20 for job in known])
            (kind,) = random.choices(list(ACCIDENTS), [OFTEN.get(kind, 6) for kind in ACCIDENTS])
            laws = ACCIDENTS[kind](random, job, inputs, whole)
            count[kind] += 1
            broken += bool(laws)
            for law in laws:
                print(f"{job.name} -o {job.output}, {kind}: {law} (seed {seed}, fault {number})", flush=True)
    return count, broken


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
    arguments = parser_of("inject_faults", __doc__).parse_args()
    os.environ["MPLBACKEND"] = "Agg"
    count, broken = inject(arguments.seconds, arguments.seed, most=arguments.most)
    figures = {"accidents": sum(count.values()), "broken laws": broken}
    return finished("inject_faults", figures | {kind: count[kind] for kind in ACCIDENTS}, arguments, faults=broken)


if __name__ == "__main__":
    sys.exit(main())
