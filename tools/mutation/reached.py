"""Which tests reach a line, from one run of `make test` with coverage's contexts, and in which order to try them."""

import ast
import json
import os
import re
import subprocess
import sys
from collections import Counter
from functools import cache, cached_property
from pathlib import Path

from coverage import CoverageData

from tools.mutation.operators import Mutant

KEPT = Path(os.environ.get("CALIBRANT_MUTATION", "build/mutation"))
OF_ALL = "tests/test_public_api.py"
"""Looks at every declaration, so that no line of it tells coverage at which."""

COVERED, SECONDS = KEPT / "coverage", KEPT / "seconds.jsonl"


def record() -> None:
    """Run the tests once, and keep which lines each of them reaches and how long it takes."""
    KEPT.mkdir(parents=True, exist_ok=True)
    SECONDS.unlink(missing_ok=True)
    command = [sys.executable, "-m", "pytest", "--numprocesses", "auto", "-q", "-m", "not deep"]
    command += ["-p", "tools.progress", "--cov", "--cov-context=test", "--cov-report="]
    kept = {"COVERAGE_FILE": str(COVERED.resolve()), "CALIBRANT_SECONDS": str(SECONDS.resolve())}
    subprocess.run(command, check=True, env=os.environ | kept)


def seconds_of_tests() -> dict[str, float]:
    """Return the seconds of each test that passed, with what it took to set up."""
    seconds, passed = Counter[str](), set()
    for line in SECONDS.read_text().splitlines():
        test, duration, outcome = json.loads(line)
        seconds[test] += duration
        passed |= {test} if outcome == "passed" else set()
    return {test: seconds[test] for test in seconds if test in passed}


class Reached:
    """The tests of each line, with their seconds."""

    def __init__(self, source: Path) -> None:
        self.source, self.data, self.seconds = source, CoverageData(str(COVERED)), seconds_of_tests()
        self.data.read()
        self.tests_of_line = cache(self._tests_of_line)

    def _tests_of_line(self, path: Path) -> dict[int, set[str]]:
        found = self.data.contexts_by_lineno(str(path.resolve()))
        named = {line: {context.rpartition("|")[0] for context in contexts} for line, contexts in found.items()}
        return {line: names & self.seconds.keys() for line, names in named.items()}

    def tests(self, mutant: Mutant) -> set[str]:
        """Return the tests that run a mutant's lines; of a kernel, and of a constant, those that run what names it."""
        lines = self.tests_of_line(mutant.path)
        found = set().union(*(lines.get(line, ()) for line in mutant.reached_by))
        if mutant.scope != "body":
            found |= {test for test in self.seconds if _file(test) == OF_ALL}
        if "_kernels" in mutant.path.parts or not found:
            for name in self.names_at(mutant):
                found |= self.tests_that_name(name)
        return found

    def names_at(self, mutant: Mutant) -> set[str]:
        """Return what the statement of a mutant defines, and all that uses this in the same package."""
        names = set()
        for node in ast.parse(mutant.path.read_bytes()).body:
            first = min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", []))])
            if first <= mutant.line <= (node.end_lineno or node.lineno):
                names |= _defined(node)
        while more := {user for user, used in self.kernel_uses.items() if used & names} - names:
            names |= more
        return names

    @cached_property
    def kernel_uses(self) -> dict[str, set[str]]:
        """What each function of the kernels names: a change to one is a change to those that call it."""
        uses: dict[str, set[str]] = {}
        for path in (self.source / "_kernels").glob("*.py"):
            for node in ast.parse(path.read_bytes()).body:
                for name in _defined(node):
                    uses[name] = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)} - {name}
        return uses

    def tests_that_name(self, name: str) -> set[str]:
        """Return the tests that run a line with the name; of a kernel's, in files that import kernels."""
        found, word = set[str](), re.compile(rf"\b{re.escape(name)}\b")
        beside = "_kernels" if name in self.kernel_uses else ""
        for path in self.source.rglob("*.py"):
            text = path.read_text()
            if "_kernels" not in path.parts and beside in text and word.search(text):
                users = (n for n, line in enumerate(text.splitlines(), 1) if word.search(line))
                found |= set().union(*(self.tests_of_line(path).get(n, ()) for n in users))
        tests = {str(path): path.read_text() for path in Path("tests").rglob("*.py")}
        return found | {
            test for test in self.seconds if beside in (text := tests.get(_file(test), "")) and word.search(text)
        }

    def ordered(self, mutant: Mutant) -> tuple[list[str], list[str]]:
        """Return the tests nearest by name, one of each function first, and then all others; the quickest first."""
        tests = sorted(self.tests(mutant), key=self.seconds.__getitem__)
        quickest = {test.partition("[")[0]: test for test in reversed(tests)}
        tests.sort(key=lambda test: quickest[test.partition("[")[0]] != test)
        words = _words(mutant.path.relative_to(self.source).as_posix())
        near = self.nearest(words, tests)
        by_name = [test for test in self.named_after(words) if test not in tests]
        near_ones, others = ([t for t in tests if (_file(t) in near) == is_near] for is_near in (True, False))
        return near_ones + by_name, others

    def named_after(self, words: set[str]) -> list[str]:
        """Return the tests in files named after the mutant's, as coverage does not see what runs in another process."""
        shared = {file: len(_words(file) & (words - _FOLDERS)) for file in map(_file, self.seconds)}
        most = max([1, *shared.values()])
        return sorted((t for t in self.seconds if shared[_file(t)] == most), key=self.seconds.__getitem__)

    def nearest(self, words: set[str], tests: list[str], most: int = 4) -> list[str]:
        seconds = Counter[str]()
        for test in tests:
            seconds[_file(test)] += self.seconds[test]
        return sorted(seconds, key=lambda file: (-len(_words(file) & words), seconds[file]))[:most]


_FOLDERS = {"calibrators", "curves", "metrics", "plots", "kernels", "fits", "base", "significance", "decisions"}
"""A file that shares no more than these words is not named after another."""


def _file(test: str) -> str:
    return test.partition("::")[0]


def _words(path: str) -> set[str]:
    return set(re.findall("[a-z]+", path.removesuffix(".py").removeprefix("tests/"))) - {"test"}


def _defined(node: ast.stmt) -> set[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return {target.id for target in targets if isinstance(target, ast.Name)}
