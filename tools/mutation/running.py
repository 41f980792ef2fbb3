"""Run tests against a mutant: a copy of the package with one change, in a process of its own."""

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from tools.mutation.operators import Mutant

START = 90.0
"""Seconds that imports, collecting the tests and compiling a kernel may take on a busy machine."""

PYTEST = [sys.executable, "-m", "pytest", "-x", "-v", "--tb=no", "-n0", "-p", "no:cacheprovider"]
PYTEST += ["-p", "tools.mutation.inside"]
FAILED = re.compile(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", flags=re.M)


class Copy:
    """A copy of the package in which mutants live, one at a time."""

    def __init__(self, source: Path, folder: Path) -> None:
        self.source, self.folder = source, folder
        shutil.copytree(source, self.folder / source.name)

    def fate(self, mutant: Mutant, tests: list[str], seconds: float) -> tuple[str, str]:
        """Run the tests in their order until one fails, or until all take many times as long as they should.

        Return whether the mutant is "killed", "timeout" or "survived", and by which test.
        """
        place = self.folder / self.source.name / mutant.path.relative_to(self.source)
        place.write_bytes(mutant.applied())
        wanted, caches = self.folder / "tests.txt", self.folder / "numba"
        wanted.write_text("\n".join(tests))
        paths = os.pathsep.join(map(str, (self.folder, Path.cwd())))
        own = {"PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1", "HYPOTHESIS_PROFILE": "mutant"}
        own |= {"NUMBA_CACHE_DIR": str(caches)} if "_kernels" in mutant.path.parts else {}
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        child = subprocess.Popen([*PYTEST, f"@{wanted}"], env=os.environ | own, start_new_session=True, **streams)
        try:
            said, _ = child.communicate(timeout=START + 3 * seconds)
            return ("killed", (FAILED.findall(said) or ["(import)"])[0]) if child.returncode else ("survived", "")
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            return "timeout", child.communicate()[0].strip().rpartition("\n")[2]
        finally:
            shutil.copy2(mutant.path, place)
            shutil.rmtree(caches, ignore_errors=True)
