"""Run tests against a mutant: a copy of the package with one change, in a process of its own.

The processes are forks of one that has imported what the tests need, but not calibrant. So a mutant costs the import of
calibrant and of its tests, no more.
"""

import os
import resource
import shutil
import signal
import sys
import time
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import hypothesis
import pytest

from tools.mutation.operators import Mutant

MEMORY = 6 * 2**30
START = 90.0
"""Seconds that importing calibrant, collecting the tests and compiling a kernel may take on a busy machine."""


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
        place = self.folder / self.source.name / mutant.path.relative_to(self.source)
        place.write_bytes(mutant.applied())
        try:
            return self._watched(tests, seconds, compiles="_kernels" in mutant.path.parts)
        finally:
            shutil.copy2(mutant.path, place)
            shutil.rmtree(self.caches, ignore_errors=True)

    def _watched(self, tests: list[str], seconds: dict[str, float], compiles: bool) -> Outcome:
        """Wait for a test to fail, or for all of them to take many times as long as they should."""
        begun, log = time.monotonic(), self.folder / "begun.txt"
        log.write_text("(import)\n")
        child = get_context("fork").Process(target=self._run, args=(tests, log, compiles))
        child.start()
        child.join(START + 3 * sum(seconds.get(test, 1.0) for test in tests))
        fate = "survived" if child.exitcode == 0 else "killed"
        if child.exitcode is None:
            fate = "timeout"
            os.killpg(child.pid, signal.SIGKILL)
            child.join()
        return Outcome(fate, log.read_text().splitlines()[-1], time.monotonic() - begun)

    def _run(self, tests: list[str], log: Path, compiles: bool) -> None:
        """In the child: run the tests in their order until one fails."""
        try:
            os.setsid()
            resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
            silent = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(silent, stream)
            sys.dont_write_bytecode = True
            sys.path.insert(0, str(self.folder))
            os.environ |= {"PYTHONPATH": str(self.folder), "PYTHONDONTWRITEBYTECODE": "1"}
            if compiles:
                import numba

                numba.config.CACHE_DIR = os.environ["NUMBA_CACHE_DIR"] = str(self.caches)
            files = dict.fromkeys(test.partition("::")[0] for test in tests)
            options = ["-x", "-q", "--tb=no", "-n0", "-p", "no:cacheprovider", "-m", "not deep"]
            quiet = ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
            code = pytest.main([*options, *quiet, *files], plugins=[_InOrder(tests, log)])
        except BaseException:
            code = 70
        os._exit(int(code))


class _InOrder:
    """Keep only the tests that are wanted, in this order, and write down which one begins."""

    def __init__(self, tests: list[str], log: Path) -> None:
        self.place, self.log = {test: i for i, test in enumerate(tests)}, log

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> None:
        # A failure is enough: the smallest example of it would take long to find.
        phases = [hypothesis.Phase.explicit, hypothesis.Phase.generate]
        hypothesis.settings.register_profile("mutation", hypothesis.settings(), phases=phases, database=None)
        hypothesis.settings.load_profile("mutation")

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        kept = [item for item in items if item.nodeid in self.place]
        items[:] = sorted(kept, key=lambda item: self.place[item.nodeid])

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        with self.log.open("a") as log:
            log.write(f"{nodeid}\n")
