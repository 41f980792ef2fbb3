"""Run tests against a mutant: a copy of the package with one change, in a process of its own."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from tools.mutation.operators import Mutant

START = 90.0
"""Seconds that imports, collecting the tests and compiling a kernel may take on a busy machine."""

PYTEST = [
    sys.executable,
    "-m",
    "pytest",
    "-x",
    "-v",
    "--tb=no",
    "-n0",
    "-p",
    "no:cacheprovider",
    "-p",
    "tools.mutation.inside",
]
FAILED = re.compile(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", flags=re.M)


@dataclass(frozen=True)
class Outcome:
    """What became of a mutant: "killed", "timeout" or "survived", by which test, after how many seconds."""

    fate: str
    test: str
    seconds: float


class Copy:
    """A copy of the package in which mutants live, one at a time."""

    def __init__(self, source: Path, folder: Path) -> None:
        self.source, self.folder = source, folder
        shutil.copytree(source, self.folder / source.name)
        self.caches = self.folder / "numba"

    def outcome(self, mutant: Mutant, tests: list[str], seconds: dict[str, float]) -> Outcome:
        """Run the tests in their order until one fails, or until all take many times as long as they should."""
        place = self.folder / self.source.name / mutant.path.relative_to(self.source)
        place.write_bytes(mutant.applied())
        wanted, begun = self.folder / "tests.txt", time.monotonic()
        wanted.write_text("\n".join(tests))
        paths = os.pathsep.join(map(str, (self.folder, Path.cwd())))
        own = {"PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1", "HYPOTHESIS_PROFILE": "mutant"}
        if "_kernels" in mutant.path.parts:
            own["NUMBA_CACHE_DIR"] = str(self.caches)
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        child = subprocess.Popen([*PYTEST, f"@{wanted}"], env=os.environ | own, start_new_session=True, **streams)
        try:
            said, _ = child.communicate(timeout=START + 3 * sum(seconds[test] for test in tests))
            fate = "killed" if child.returncode else "survived"
            test = (FAILED.findall(said) or ["(import)"])[0]
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            fate, test = "timeout", child.communicate()[0].strip().rpartition("\n")[2]
        finally:
            shutil.copy2(mutant.path, place)
            shutil.rmtree(self.caches, ignore_errors=True)
        return Outcome(fate, test, time.monotonic() - begun)
