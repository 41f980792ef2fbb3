"""Which tests reach a line, from one run of `make test` with coverage's contexts, and in which order to try them."""

import ast
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from functools import cache, cached_property
from pathlib import Path
from xml.etree import ElementTree

from coverage import CoverageData

from tools.mutation.operators import Mutant

KEPT = Path(os.environ.get("CALIBRANT_MUTATION", "build/mutation"))
OF_ALL = "tests/test_public_api.py"
"""Looks at every declaration, so that no line of it tells coverage at which."""

COVERED, SECONDS = KEPT / "coverage", KEPT / "seconds.xml"
NEAR = 4
"""Files of tests that are tried first."""

FOLDERS = {"calibrators", "curves", "metrics", "plots", "kernels", "fits", "base", "significance", "decisions"}
"""A file that shares no more than these words is not named after another."""


def record() -> None:
    """Run the tests once, and keep which lines each of them reaches and how long it takes."""
    KEPT.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "pytest", "--numprocesses", "auto", "-q", "-m", "not deep"]
    command += ["-p", "tools.progress", "--cov", "--cov-context=test", "--cov-report="]
    command += [f"--junit-xml={SECONDS}", "-o", "junit_family=xunit1"]
    subprocess.run(command, check=True, env=os.environ | {"COVERAGE_FILE": str(COVERED.resolve())})


def seconds_of_tests() -> dict[str, float]:
    """Return the seconds of each test that passed, with what it took to set up."""
    passed = (test.attrib for test in ElementTree.parse(SECONDS).iter("testcase") if not len(test))
    return {f"{test['file']}::{test['name']}": float(test["time"]) for test in passed}


class Reached:
    """The tests of each line, with their seconds."""

    def __init__(self, source: Path) -> None:
        self.source, self.data, self.seconds = source, CoverageData(str(COVERED)), seconds_of_tests()
        self.data.read()
        self.contexts = cache(self.data.contexts_by_lineno)

    def at(self, path: Path, lines: Iterable[int]) -> set[str]:
        """Return the tests that run one of the lines of a file."""
        found = self.contexts(str(path.resolve()))
        return {context.rpartition("|")[0] for line in lines for context in found.get(line, ())} & self.seconds.keys()

    def tests(self, mutant: Mutant) -> set[str]:
        """Return the tests that run a mutant's lines; of a kernel, and of a constant, those that run what names it."""
        found = self.at(mutant.path, mutant.reached_by)
        if not mutant.in_function:
            found |= {test for test in self.seconds if _file(test) == OF_ALL}
        if ("_kernels" in mutant.path.parts or not found) and (names := self.names_at(mutant)):
            found |= self.naming(names)
        return found

    def names_at(self, mutant: Mutant) -> set[str]:
        """Return what the statement of a mutant defines, and all kernels that use this."""
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
        nodes = [node for path in (self.source / "_kernels").glob("*.py") for node in ast.parse(path.read_bytes()).body]
        used = [{part.id for part in ast.walk(node) if isinstance(part, ast.Name)} for node in nodes]
        return {name: names - {name} for node, names in zip(nodes, used, strict=True) for name in _defined(node)}

    def naming(self, names: set[str]) -> set[str]:
        """Return the tests that run a line with one of the names, or name it; of a kernel's, in files that import kernels."""
        word, beside = re.compile(rf"\b({'|'.join(names)})\b"), "_kernels" if names & self.kernel_uses.keys() else ""
        found = set()
        for path in self.source.rglob("*.py"):
            if "_kernels" not in path.parts and beside in (text := path.read_text()):
                found |= self.at(path, (n for n, line in enumerate(text.splitlines(), 1) if word.search(line)))
        texts = {file: Path(file).read_text() for file in set(map(_file, self.seconds))}
        named = {file for file, text in texts.items() if beside in text and word.search(text)}
        return found | {test for test in self.seconds if _file(test) in named}

    def ordered(self, mutant: Mutant) -> tuple[list[str], list[str]]:
        """Return the tests nearest by name, and then all others: one of each function first, the quickest first.

        Those of files that are named as the mutant's are among them, as coverage does not see what runs in another process.
        """
        words = _words(mutant.path.relative_to(self.source).as_posix())
        shared = {file: len(_words(file) & (words - FOLDERS)) for file in map(_file, self.seconds)}
        namesakes = {file for file, number in shared.items() if number == max([1, *shared.values()])}
        reached, of_file = self.tests(mutant), Counter[str]()
        for test in reached:
            of_file[_file(test)] += self.seconds[test]
        near = {*sorted(of_file, key=lambda file: (-len(_words(file) & words), of_file[file]))[:NEAR], *namesakes}
        tests = sorted(reached | {t for t in self.seconds if _file(t) in namesakes}, key=self.seconds.__getitem__)
        quickest = {test.partition("[")[0]: test for test in reversed(tests)}
        tests.sort(key=lambda test: quickest[test.partition("[")[0]] != test)
        return [t for t in tests if _file(t) in near], [t for t in tests if _file(t) not in near]


def _file(test: str) -> str:
    return test.partition("::")[0]


def _words(path: str) -> set[str]:
    return set(re.findall("[a-z]+", path.removesuffix(".py").removeprefix("tests/"))) - {"test"}


def _defined(node: ast.stmt) -> set[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return {target.id for target in targets if isinstance(target, ast.Name)}
