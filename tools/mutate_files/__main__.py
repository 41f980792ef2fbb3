"""Run: python -m tools.mutate_files [SECONDS] [SEED]"""

from __future__ import annotations

import argparse
import importlib
import json
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

from tools.mutate_files.changes import changed
from tools.mutate_files.originals import write, write_beside

PATIENCE = 60
"""Seconds after which a file that is still being read ends its worker."""


class Reader:
    """A worker process, started anew when a file has ended it."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[str] | None = None

    def judged(self, path: Path, seed: str) -> dict[str, Any]:
        """Return the outcome of a file."""
        process = self.process or self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps({"path": str(path), "seed": seed}) + "\n")
        process.stdin.flush()
        ready, _, _ = select.select([process.stdout], [], [], PATIENCE)
        line = process.stdout.readline() if ready else ""
        if line:
            found: dict[str, Any] = json.loads(line)
            return found
        return {"outcome": "fault", "faults": [f"it ended the process ({self.close()})" if ready else self._stuck()]}

    def _started(self) -> subprocess.Popen[str]:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tools.mutate_files.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        return self.process

    def _stuck(self) -> str:
        self.close()
        return f"it took over {PATIENCE} s"

    def close(self) -> int:
        """End the worker, and return its exit code if it had ended by itself."""
        if self.process is None:
            return 0
        process, self.process = self.process, None
        process.kill()
        process.communicate()
        return process.returncode


def mutate(seconds: float, seed: int, kept: Path, *, most: int = 10**9) -> Counter[str]:
    """Change files until the time is over; keep and print those with a fault, each kind once."""
    reader, end, count, seen = Reader(), time.monotonic() + seconds, Counter[str](), set[tuple[str, str]]()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "originals").mkdir()
        (folder / "work").mkdir()
        originals = [(path.suffix, path.read_bytes()) for path in write(folder / "originals")]
        endings = sorted({ending for ending, _ in originals})
        write_beside(folder / "work")
        for number in range(most):
            if time.monotonic() > end:
                break
            random = Random(f"{seed} {number}")
            ending = endings[number % len(endings)]
            data = changed(random, ending, random.choice([data for known, data in originals if known == ending]))
            path = folder / "work" / f"changed{ending}"
            path.write_bytes(data)
            verdict = reader.judged(path, f"{seed} {number}")
            count.update(["files", f"files {ending}", verdict["outcome"], *["faults"] * bool(verdict["faults"])])
            for fault in verdict["faults"]:
                if (ending, fault[:50]) not in seen:
                    seen.add((ending, fault[:50]))
                    kept.mkdir(exist_ok=True)
                    copy = shutil.copy(path, kept / f"{seed}_{number}{ending}")
                    print(f"\n# {copy} (seed {seed}, file {number}): {fault}", flush=True)
            path.unlink()
        reader.close()
    return count


def main() -> int:
    """Change files, print the totals, and return 1 where there was a fault."""
    parser = argparse.ArgumentParser(prog="python -m tools.mutate_files", description=__doc__)
    parser.add_argument("seconds", type=float, nargs="?", default=60)
    parser.add_argument("seed", type=int, nargs="?", default=0)
    parser.add_argument("--record", action="store_true", help="write the figures to docs/reliability.md")
    parser.add_argument(
        "--keep", type=Path, default=Path(tempfile.gettempdir()) / "calibrant_faults", help="where faults go"
    )
    arguments = parser.parse_args()
    count = mutate(arguments.seconds, arguments.seed, arguments.keep)
    formats = ", ".join(f"{count[key]} {key.split('.')[1]}" for key in sorted(count) if key.startswith("files ."))
    told = ", ".join(f"{count[what]} {what}" for what in ("files", "refused", "read", "faults"))
    print(f"mutate_files: {told} ({formats}; seed {arguments.seed})")
    if arguments.record:
        figures = {
            "files": count["files"],
            "refused in words": count["refused"],
            "read": count["read"],
            "faults": count["faults"],
        }
        command = f"python -m tools.mutate_files {arguments.seconds:g} {arguments.seed}"
        importlib.import_module("tools.reliability").record("mutate_files", figures, command=command)
    return 1 if count["faults"] else 0


if __name__ == "__main__":
    sys.exit(main())
