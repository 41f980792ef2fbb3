"""Run tests against a mutant: a copy of the package with one change, in a process of its own."""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from tools.mutation.operators import Mutant

START = 90.0
"""Seconds that imports, collecting the tests and compiling a kernel may take on a busy machine."""

PYTEST = [sys.executable, "-m", "pytest", "-x", "-v", "--tb=no", "-n0", "-p", "no:cacheprovider"]
PYTEST += ["-p", "tools.mutation.inside"]
FAILED = re.compile(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", flags=re.M)


def fate_of(mutant: Mutant, source: Path, tests: list[str], seconds: float) -> tuple[str, str]:
    """Run the tests in their order until one fails, or until all take many times the seconds that they should.

    Return whether the mutant is "killed", "timeout" or "survived", and by which test.
    """
    with tempfile.TemporaryDirectory() as folder:
        package, wanted = Path(folder, source.name), Path(folder, "tests.txt")
        shutil.copytree(source, package)
        (package / mutant.path.relative_to(source)).write_bytes(mutant.applied())
        wanted.write_text("\n".join(tests))
        own = {"PYTHONPATH": f"{folder}{os.pathsep}{Path.cwd()}", "PYTHONDONTWRITEBYTECODE": "1"}
        own |= {"HYPOTHESIS_PROFILE": "mutant"}
        own |= {"NUMBA_CACHE_DIR": f"{folder}/numba"} if "_kernels" in mutant.path.parts else {}
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        child = subprocess.Popen([*PYTEST, f"@{wanted}"], env=os.environ | own, start_new_session=True, **streams)
        try:
            said, _ = child.communicate(timeout=START + 3 * seconds)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            return "timeout", child.communicate()[0].strip().rpartition("\n")[2]
    return ("killed", (FAILED.findall(said) or ["(import)"])[0]) if child.returncode else ("survived", "")
