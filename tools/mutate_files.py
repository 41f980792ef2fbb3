"""Files that were damaged by chance or by intent, each given to whatever reads it.

`python -m tools.mutate_files SECONDS SEED` changes bytes and structure of calibrators, states of monitors, and predictions in
all formats. Each file must be read, or refused in one paragraph with exit code 2: without a traceback, a file left behind, a
crash, more memory than a worker has, or more than some seconds. A state of a monitor that is read must match its checksum.
"""

import contextlib
import io
import json
import resource
import signal
import sys
import tempfile
import time
import warnings
import zipfile
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import reduce
from multiprocessing import get_context
from operator import getitem
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

from calibrant import load_calibrator
from calibrant._core.checksum import checksum_of
from calibrant.cli import main as calibrant
from tests.laws import test_saved_calibrators as law
from tools.draws import is_clear, judge_draws, run
from tools.fuzz.rows import TABLES

# What can happen to a file: to its bytes, to its text, and to what it says.


VALUES: tuple[Any, ...] = (
    *law.EDITS.values(),
    {"array": [], "dtype": "int64"},
    {"calibrator": {}},
    {"binning": "equal-mass", "parameters": {"n_bins": 10**15}},
    {"cells of": "sierpinski", "parameters": {"depth": 10**9}},
    {"cells of": "grid", "parameters": {}},
)
"""What is put into documents: what a law puts into calibrators, and parts of them that are large or empty."""


def changed(random: Random, ending: str, data: bytes) -> bytes:
    """Return the file with one to three changes."""
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        data = (OF_FORMAT.get(ending, _bytes) if random.random() < 0.6 else _bytes)(random, data or b"x")
    return data


def _place(random: Random, data: bytes) -> int:
    """Return a place; what stands at the ends describes the rest."""
    size = len(data)
    near_start, near_end = random.randrange(min(80, size)), size - 1 - random.randrange(min(400, size))
    return random.choice((random.randrange(size), near_start, near_end))


def _bytes(random: Random, data: bytes) -> bytes:
    """Flip bits, replace a digit, or cut, leave out, double, insert or overwrite some bytes."""
    flipped = bytearray(data)
    for _ in range(random.choice((1, 1, 3, 20))):
        flipped[_place(random, data)] ^= 1 << random.randrange(8)
    digit = random.choice([i for i, byte in enumerate(data) if 48 <= byte < 58] or [0])
    figure = random.choice((b"9", b"-", b"e", b"99999999", b".", b" ", b""))
    at, size = _place(random, data), random.choice((1, 2, 4, 8, 64, 100, len(data)))
    start, part, end = data[:at], data[at : at + size], data[at + size :]
    fill = random.choice((b"\x00", b"\xff", b"\x7f", b"9", random.randbytes(1))) * len(part)
    new = random.randbytes(min(size, 100))
    ways = (bytes(flipped), data[:digit] + figure + data[digit + 1 :], start, start + end, start + part * 2 + end)
    return random.choice((*ways, start + new + part + end, start + fill + end))


def _document(random: Random, data: bytes) -> bytes:
    """Change what stands in a calibrator or the state of a monitor; the checksums fit."""
    try:
        document = json.loads(data)
        path = random.choice(list(law.places(document)))
        is_list = isinstance(reduce(getitem, path, document), list) and random.random() < 0.6
        document = law.changed(document, path, random.choice((*law.ARRAY_EDITS.values(),) if is_list else VALUES))
    except (ValueError, IndexError, AttributeError, RecursionError):
        return data  # it is no such document any more
    _fit(document)
    return json.dumps(document, indent=random.choice((None, 2))).encode()


def _fit(node: Any) -> None:
    """Make the checksums of a document fit, those of its parts first."""
    for part in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        _fit(part)
    if isinstance(node, dict) and "checksum" in node:
        node["checksum"] = checksum_of(node)


def _text(random: Random, data: bytes) -> bytes:
    """Change a cell, the width of a line or of all, the ends of lines, or the encoding of a CSV file."""
    lines = data.decode("utf-8", "replace").split("\n")
    row, separator = random.randrange(len(lines)), max(",;\t", key=lines[0].count)
    cell, cells = random.choice((*TABLES["csv"]["cells"], "x" * 5000)), lines[row].split(separator)
    longer = separator.join([*cells, cell])
    cells[random.randrange(len(cells))] = cell
    new, shorter = separator.join(cells), [line.partition(separator)[2] for line in lines]
    others = [[*lines[:row], line, *lines[row + 1 :]] for line in (new, new, new, new, longer, lines[row])]
    text = random.choice(("\n", "\n", "\n", "\r\n", "\r")).join(random.choice((*others, shorter)))
    return text.encode(random.choice(("utf-8", "utf-8", "utf-8", "utf-8-sig", "utf-16", "latin-1")), "replace")


def _zip(random: Random, data: bytes) -> bytes:
    """Write the archive anew with an array whose head says something else, that is damaged, or that stands in it twice."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = [(name, archive.read(name)) for name in archive.namelist()]
        name, content = random.choice(members)
    except Exception:
        return data  # it is no archive any more
    kinds = ("<f8", ">f8", "<i8", "|O", "<U0", "|S2000000000", "<c16", "<M8[s]", "|b1", "<f2", "|V8")
    shapes = ((40,), (2**50,), (0,), (), (40, 3), (1, 40), (-1,), (2**40, 2**40), (20, 2))
    said = {"descr": random.choice(kinds), "fortran_order": random.random() < 0.5, "shape": random.choice(shapes)}
    head, packed = io.BytesIO(), io.BytesIO()
    np.lib.format.write_array_header_1_0(head, said)
    with_head = head.getvalue() + content[128 : random.choice((None, 200))]
    new = random.choice((with_head, with_head, _bytes(random, content or b"x"), content))
    another = [(random.choice((name, f"{name}x", "readme.txt")), random.choice((b"", b"text", new)))]
    compression = random.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2))
    with zipfile.ZipFile(packed, "w", compression) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of names that are there already
        for member, held in (*members, *(another if new == content else [])):
            archive.writestr(member, new if member == name else held)
    return packed.getvalue()


OF_FORMAT = {".json": _document, ".state": _document, ".csv": _text, ".npz": _zip}


# Valid files: what is damaged.


ROWS = 40
CALIBRATOR, DAY = f"calibrator{list(law.SAVED).index('calibrator temperature')}.json", "day.csv"
"""A calibrator of three classes, for files of predictions, and a day of predictions, for states of monitors."""


def tables() -> list[pa.Table]:
    """Return tables of predictions with columns of many types beside them."""
    rng = np.random.default_rng(0)
    prob, label = rng.dirichlet(np.ones(3), ROWS), np.arange(ROWS) % 3
    columns = {f"p_{k}": prob[:, k] for k in range(3)}
    more = {
        "id": [f"{i:05d}" for i in range(ROWS)],
        "when": pa.array(range(ROWS), pa.timestamp("us", "Europe/Berlin")),
        "weight": rng.integers(1, 4, ROWS),
        "some": pa.array([None if i % 7 == 0 else i for i in range(ROWS)], pa.int64()),
        "kind": pa.array(["x", "y"] * (ROWS // 2)).dictionary_encode(),
    }
    return [
        pa.table({"label": label, **columns}),
        pa.table({"label": label, **columns, **more}),
        pa.table({"y": label == 1, "p": prob[:, 1]}),
        pa.table({"label": label, **{f"z_{k}": np.log(prob[:, k]) for k in range(3)}}),
        pa.table({"label": label, **{name: column.astype(np.float32) for name, column in columns.items()}}),
    ]


def write(folder: Path) -> list[Path]:
    """Write files, and beside them what they are read with; return the files."""
    made, days = [folder / "monitor.state"], [folder / "first.csv", folder / DAY]
    for number, path in enumerate(days):
        rows = zip(np.arange(ROWS) % 3 // 2, np.random.default_rng(number).random(ROWS), strict=True)
        path.write_text(
            "\n".join(["y,p,at", *(f"{y},{p},2026-01-0{number + 1}" for y, p in rows), ""]), encoding="utf-8"
        )
    with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
        calibrant(["monitor", str(days[0]), "--time", "at", "--state", str(made[0])])
    for number, kept in enumerate(law.SAVED.values()):
        made.append(folder / f"calibrator{number}.json")
        made[-1].write_text(json.dumps(kept["document"], indent=2), encoding="utf-8")
    for number, table in enumerate(tables()):
        parquet, feather, csv, npz = (folder / f"table{number}.{end}" for end in ("parquet", "feather", "csv", "npz"))
        made += [parquet, feather, csv, npz]
        pa.parquet.write_table(table, parquet, compression=("none", "snappy", "zstd")[number % 3])
        pa.feather.write_feather(table, feather, compression=("uncompressed", "lz4", "zstd")[number % 3])
        table.to_pandas().to_csv(csv, sep=",;\t"[number % 3], index=False)
        numbers = {name: table[name].to_numpy() for name in table.column_names if name not in ("id", "when", "kind")}
        (np.savez if number % 2 else np.savez_compressed)(npz, **numbers)
    return made


# A process with little memory and time that reads files: its crash is a fault of what it reads, and no end of the run.


GIGABYTES = 6
"""Of addresses; a library of compiled code takes some of them whether it uses them or not."""

MOST_GROWTH = 300_000
"""Kilobytes by which a file of some kilobytes may make the process grow."""

FAULTS = Path(tempfile.gettempdir(), "calibrant_faults")
"""Where files with a fault are kept."""

MOST_SECONDS, PATIENCE = 10.0, 60
"""Of computing, and of time, after which the process is ended."""


class Reader:
    """A worker process, started anew when a file has ended it."""

    pool: ProcessPoolExecutor | None = None

    def judged(self, path: Path, seed: str) -> tuple[str, list[str]]:
        """Return how reading a file ended, and its faults."""
        limit = (resource.RLIMIT_AS, (GIGABYTES << 30, GIGABYTES << 30))
        self.pool = self.pool or ProcessPoolExecutor(1, get_context("spawn"), resource.setrlimit, limit)
        try:
            return self.pool.submit(judged, path, seed).result()
        except BrokenProcessPool:
            self.pool = None
            return "broken", [f"it ended the process, or took over {PATIENCE} s"]


def judged(path: Path, seed: str) -> tuple[str, list[str]]:
    """Read a file; return whether it was accepted or refused, and its faults."""
    random, folder = Random(seed), path.parent
    before, grown, begun = set(folder.iterdir()), _kilobytes(), time.process_time()
    signal.alarm(PATIENCE)
    try:
        outcome, faults = (_loaded if path.suffix == ".json" else _commanded)(path, random)
    except BaseException as error:
        outcome, faults = "broken", [f"{type(error).__name__} came out: {error}"[:400]]
    signal.alarm(0)
    if (seconds := time.process_time() - begun) > MOST_SECONDS:
        faults.append(f"it took {seconds:.1f} s")
    if (more := _kilobytes() - grown) > MOST_GROWTH:
        faults.append(f"it took {more / 1000:.0f} MB")
    left = set(folder.iterdir()) - before
    if (outcome != "accepted" and left) or any(part.name.endswith(".part") for part in left):
        faults.append(f"it left {[part.name for part in left]}")
    for part in left:
        part.unlink()
    return outcome, faults


def _kilobytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _loaded(path: Path, _: Random) -> tuple[str, list[str]]:
    """Load a calibrator and calibrate rows."""
    try:
        calibrator: Any = load_calibrator(path)
    except ValueError as error:
        return _refused(str(error))
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        prob = calibrator.predict_proba(law.rows_for(calibrator))
    sums = getattr(calibrator, "normalize", True)
    is_sound = ((prob >= 0.0) & (prob <= 1.0)).all() and not (sums and np.abs(prob.sum(axis=1) - 1.0).max() > 1e-8)
    return "accepted", [] if is_sound else ["it gives no probabilities"]


def _commanded(path: Path, random: Random) -> tuple[str, list[str]]:
    """Run a command on predictions, or on the state of a monitor."""
    is_as_written = path.suffix != ".state" or _fits(path)
    at, out, saved = str(path), str(path.with_name(f"out{path.suffix}")), str(path.with_name("out.json"))
    commands = [
        ["assess", at, "--resamples", "20"],
        ["apply", str(path.with_name(CALIBRATOR)), at, "-o", out],
        ["fit", at, "--method", "temperature", "-o", saved],
        ["fit", at, "--label", "label", "--prob", "p_*", "-o", saved],
    ]
    if path.suffix == ".state":
        commands = [["monitor", str(path.with_name(DAY)), "--time", "at", "--state", at]]
    command, said = random.choice(commands), io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        code = calibrant(command)
    if code == 0:
        return "accepted", [] if is_as_written else ["a state that does not match its checksum was read"]
    if code != 2:
        return "broken", [f"{command[0]} ended with code {code}"]
    return _refused(said.getvalue().rstrip("\n").split("calibrant: error: ")[-1])


def _fits(path: Path) -> bool:
    """Whether a state is as it was written, or as if it were."""
    with contextlib.suppress(ValueError, KeyError, TypeError, AttributeError, RecursionError):
        plain = json.loads(path.read_bytes())
        return all(one["checksum"] == checksum_of(one) for one in (plain, *plain["groups"].values()))
    return False


def _refused(message: str) -> tuple[str, list[str]]:
    return "refused", [] if is_clear(message) else [f"an unclear refusal: {message[:300]!r}"]


def mutate(seconds: float, seed: int, *, most: int = 10**9, kept: Path = FAULTS) -> Counter[str]:
    """Change files until the time is over; keep and print those with a fault."""
    reader, of_ending = Reader(), dict[str, list[bytes]]()
    with tempfile.TemporaryDirectory() as name:
        for path in write(Path(name)):
            of_ending.setdefault(path.suffix, []).append(path.read_bytes())
        endings = sorted(of_ending)

        def judge(number: int, random: Random) -> tuple[str, str, list[str], str]:
            ending = endings[number % len(endings)]
            path, copy = Path(name, f"changed{ending}"), kept / f"{seed}_{number}{ending}"
            path.write_bytes(changed(random, ending, random.choice(of_ending[ending])))
            outcome, faults = reader.judged(path, f"{seed} {number}")
            if faults:
                kept.mkdir(exist_ok=True)
                copy.write_bytes(path.read_bytes())
            path.unlink()
            return ending, outcome, faults, str(copy)

        return judge_draws(judge, seconds, seed, most)


if __name__ == "__main__":
    sys.exit(run("mutate_files", __doc__, mutate, "changed files", "were read as they were"))
