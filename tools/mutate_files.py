"""Files that were damaged by chance or by intent, each given to whatever reads it.

`python -m tools.mutate_files SECONDS SEED` changes bytes and structure of calibrators, states of monitors, and predictions in
all formats. Each file must be read, or refused in one paragraph with exit code 2: without a traceback, a file left behind, a
crash, more memory than a worker has, or more than some seconds. A state of a monitor that is read must match its checksum.
"""

import contextlib
import io
import json
import resource
import shutil
import sys
import tempfile
import time
import warnings
import zipfile
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
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
from calibrant.interop.tables import write_table
from tests.laws.test_saved_calibrators import ARRAY_EDITS, EDITS, GONE, SAVED, rows_for
from tools.draws import draws, parser_of
from tools.fuzz.rows import TABLES

# What can happen to a file: to its bytes, to its text, and to what it says.


VALUES: tuple[Any, ...] = (
    *(edit for edit in EDITS.values() if edit is not GONE),
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


# Calibrators and states of monitors: what stands in them, with a checksum that fits


def _document(random: Random, data: bytes) -> bytes:
    try:
        document = json.loads(data)
        at, key = random.choice(list(_places(document)))
        if random.random() < 0.15:
            del at[key]
        elif isinstance(at[key], list) and random.random() < 0.6:
            at[key] = random.choice(list(ARRAY_EDITS.values()))(at[key])
        else:
            at[key] = random.choice(VALUES)
    except (ValueError, IndexError, RecursionError):
        return data
    if random.random() < 0.95:
        _fit(document)
    return json.dumps(document, indent=random.choice((None, 2))).encode()


def _fit(node: Any) -> None:
    """Make the checksums of a document fit, those of its parts first."""
    for part in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        _fit(part)
    if isinstance(node, dict) and "checksum" in node:
        node["checksum"] = checksum_of(node)


def _places(node: Any) -> Any:
    for key in node if isinstance(node, dict) else range(len(node)):
        yield node, key
        if isinstance(node[key], (dict, list)):
            yield from _places(node[key])


# Tables


def _text(random: Random, data: bytes) -> bytes:
    """Change cells, lines, quotes, or the encoding of a CSV file."""
    lines = data.decode("utf-8", "replace").split("\n")
    row, what = random.randrange(len(lines)), random.randrange(8)
    cell = random.choice((*TABLES["csv"]["cells"], "x" * 5000))
    separator = max(",;\t", key=lines[0].count)
    if what < 4:
        cells = lines[row].split(separator)
        cells[random.randrange(len(cells))] = cell
        lines[row] = separator.join(cells)
    elif what == 4:
        lines[row] += separator + cell
    elif what == 5:
        lines = [line.partition(separator)[2] for line in lines]
    text = random.choice(("\n", "\n", "\r\n", "\r")).join(lines) if what > 5 else "\n".join(lines)
    return text.encode(random.choice(("utf-8", "utf-8", "utf-8", "utf-8-sig", "utf-16", "latin-1")), "replace")


def _zip(random: Random, data: bytes) -> bytes:
    """Write the archive anew with an array whose head says something else, or that stands in it twice."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        name, kind = random.choice(list(members)), random.randrange(4)
    except Exception:
        return data
    if kind < 2:
        kinds = ("<f8", ">f8", "<i8", "|O", "<U0", "|S2000000000", "<c16", "<M8[s]", "|b1", "<f2", "|V8")
        shapes = ((40,), (2**50,), (0,), (), (40, 3), (1, 40), (-1,), (2**40, 2**40), (20, 2))
        said = {"descr": random.choice(kinds), "fortran_order": random.random() < 0.5, "shape": random.choice(shapes)}
        head = io.BytesIO()
        np.lib.format.write_array_header_1_0(head, said)
        members[name] = head.getvalue() + members[name][128 : random.choice((None, 200))]
    elif kind == 2:
        members[name] = _bytes(random, members[name] or b"x")
    packed = io.BytesIO()
    compression = random.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2))
    with zipfile.ZipFile(packed, "w", compression) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of names that are there already
        for member, content in members.items():
            archive.writestr(member, content)
        if kind == 3:
            another = random.choice((name, f"{name}x", "readme.txt"))
            archive.writestr(another, random.choice((b"", b"text", members[name])))
    return packed.getvalue()


OF_FORMAT = {".json": _document, ".state": _document, ".csv": _text, ".npz": _zip}


# Valid files: what is damaged.


ROWS = 40
CALIBRATOR = "calibrator.json"
"""A calibrator of three classes, for files of predictions."""

DAY = "day.csv"
"""A day of predictions, for states of monitors."""


def calibrators() -> list[dict[str, object]]:
    """Return the documents of one calibrator of each kind."""
    return [kept["document"] for kept in SAVED.values()]


def write_beside(folder: Path) -> None:
    """Write a calibrator for files of predictions of three classes, and a day for states of monitors."""
    write_table(folder / DAY, _day(1))
    document = SAVED["calibrator temperature"]["document"]
    (folder / CALIBRATOR).write_text(json.dumps(document), encoding="utf-8")


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


def _day(number: int) -> dict[str, np.ndarray]:
    prob = np.random.default_rng(number).random(ROWS)
    return {"y": (np.arange(ROWS) % 3 == 0).astype(int), "p": prob, "at": np.full(ROWS, f"2026-01-{number + 1:02}")}


def write(folder: Path) -> list[Path]:
    """Write all of them, and return the files."""
    made = [folder / "monitor.state"]
    with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
        write_table(folder / "first.csv", _day(0))
        calibrant(["monitor", str(folder / "first.csv"), "--time", "at", "--state", str(made[0])])
    for number, document in enumerate(calibrators()):
        made.append(folder / f"calibrator{number}.json")
        made[-1].write_text(json.dumps(document, indent=2), encoding="utf-8")
    for number, table in enumerate(tables()):
        parquet, feather, csv, npz = (folder / f"table{number}.{end}" for end in ("parquet", "feather", "csv", "npz"))
        made += [parquet, feather, csv, npz]
        pa.parquet.write_table(table, parquet, compression=("none", "snappy", "zstd")[number % 3])
        pa.feather.write_feather(table, feather, compression=("uncompressed", "lz4", "zstd")[number % 3])
        lines = [table.column_names, *(map(str, row.values()) for row in table.to_pylist())]
        csv.write_text("\n".join(map(",;\t"[number % 3].join, lines)) + "\n", encoding="utf-8")
        numbers = {name: table[name].to_numpy() for name in table.column_names if name not in ("id", "when", "kind")}
        (np.savez if number % 2 else np.savez_compressed)(npz, **numbers)
    return made


PATIENCE = 60
"""Seconds after which a file that is still being read ends its worker."""


class Reader:
    """A worker process, started anew when a file has ended it."""

    pool: ProcessPoolExecutor | None = None

    def judged(self, path: Path, seed: str) -> dict[str, Any]:
        """Return the outcome of a file."""
        self.pool = self.pool or ProcessPoolExecutor(1, get_context("spawn"), initializer=limited)
        try:
            return self.pool.submit(judged, path, seed).result(PATIENCE)
        except BrokenProcessPool:
            fault = "it ended the process"
        except TimeoutError:
            fault = f"it took over {PATIENCE} s"
            for process in self.pool._processes.values():
                process.kill()
        self.pool.shutdown()
        self.pool = None
        return {"outcome": "fault", "faults": [fault]}


def mutate(seconds: float, seed: int, kept: Path, *, most: int = 10**9) -> Counter[str]:
    """Change files until the time is over; keep and print those with a fault, each kind once."""
    reader, count, seen = Reader(), Counter[str](), set[tuple[str, str]]()
    with tempfile.TemporaryDirectory() as name:
        work = Path(name, "work")
        work.mkdir()
        write_beside(work)
        of_ending: dict[str, list[bytes]] = {}
        for path in write(Path(name)):
            of_ending.setdefault(path.suffix, []).append(path.read_bytes())
        endings = sorted(of_ending)
        for number, random in draws(seconds, seed, most):
            ending = endings[number % len(endings)]
            path = work / f"changed{ending}"
            path.write_bytes(changed(random, ending, random.choice(of_ending[ending])))
            verdict = reader.judged(path, f"{seed} {number}")
            count.update(["files", verdict["outcome"], *["faults"] * bool(verdict["faults"])])
            for fault in verdict["faults"]:
                if (ending, fault[:50]) not in seen:
                    seen.add((ending, fault[:50]))
                    kept.mkdir(exist_ok=True)
                    copy = shutil.copy(path, kept / f"{seed}_{number}{ending}")
                    print(f"\n# {copy} (seed {seed}, file {number}): {fault}", flush=True)
            path.unlink()
    if reader.pool:
        reader.pool.shutdown()
    return count


def main() -> int:
    """Change files, print the totals, and return 1 where there was a fault."""
    parser = parser_of("mutate_files", __doc__)
    faults = Path(tempfile.gettempdir(), "calibrant_faults")
    parser.add_argument("--keep", type=Path, default=faults, help="where faults go")
    arguments = parser.parse_args()
    count = mutate(arguments.seconds, arguments.seed, arguments.keep, most=arguments.most)
    print(
        f"{count['files']} changed files: {count['refused']} were refused with a message, {count['read']} were read as they "
        f"were; {count['faults']} faults (seed {arguments.seed})"
    )
    return int(count["faults"] > 0)


# A process with little memory and time that reads files: its crash is a fault of what it reads, and no end of the run.


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
        calibrator: Any = load_calibrator(path)
    except ValueError as error:
        return "refused", _unclear(str(error))
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        prob = calibrator.predict_proba(rows_for(calibrator))
    sums = getattr(calibrator, "normalize", True)
    if not ((prob >= 0.0) & (prob <= 1.0)).all() or (sums and np.abs(prob.sum(axis=1) - 1.0).max() > 1e-8):
        return "read", ["it gives no probabilities"]
    return "read", []


def _run(path: Path, random: Random) -> tuple[str, list[str]]:
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
    command = random.choice(commands)
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            code = calibrant(command)
        except SystemExit as error:
            return "fault", [f"{command[0]} ended with SystemExit({error.code}): {said.getvalue()[-300:]}"]
    if code == 0:
        return "read", [] if is_as_written else ["a state that does not match its checksum was read"]
    faults = [] if code == 2 else [f"{command[0]} ended with code {code}"]
    if "Traceback" in said.getvalue():
        return "refused", [*faults, f"a traceback: {said.getvalue()[-500:]}"]
    return "refused", faults + _unclear(said.getvalue().rstrip("\n").split("calibrant: error: ")[-1])


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


def limited() -> None:
    """Leave a worker little memory."""
    resource.setrlimit(resource.RLIMIT_AS, (GIGABYTES << 30, GIGABYTES << 30))


if __name__ == "__main__":
    sys.exit(main())
