"""Claims as data: what a page says of a paper, the numbers it rests on, and a verdict that the numbers must bear out.

A claim is a line of claims.csv of its study, and three functions. ``measure`` does the work and gives numbers that JSON can
hold; ``judge`` makes a verdict of these numbers and nothing else; ``words`` puts them into a sentence. So a verdict can be
tested on both sides without running anything, and the test suite judges the stored numbers of every row again. A verdict that
is asserted has a mutant: with the identity, shuffled labels or a rival in the place of its subject, the judge gives another.
"""

from __future__ import annotations

import csv
import hashlib
import json
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import binomtest

# Tables of the pages that tools write.


def table(head: list[str], body: list[list[str]]) -> str:
    """Rows as markdown."""
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, ["---"] * len(head), *body])


def bold(texts: Iterable[str], best: Iterable[Any]) -> list[str]:
    """Cells, the best of them bold."""
    return [f"**{text}**" if is_best else text for text, is_best in zip(texts, best, strict=True)]


def filled(template: Path, **fields: Any) -> str:
    """Return a page: the text of a template, with fields in braces."""
    return template.read_text(encoding="utf-8").format(**fields)


Numbers = Mapping[str, Any]
"""What was measured: floats, strings, booleans, None, and lists and dicts of them."""


class Verdict(StrEnum):
    """What can be said of a sentence of a paper."""

    HOLDS = "holds"
    IN_PART = "holds in part"
    FAILS = "does not hold here"
    MISPRINT = "misprint"
    OPEN = "not decided"
    NOT_JUDGED = "not judged"


AGAINST = (Verdict.FAILS, Verdict.IN_PART)
"""Verdicts that contradict the authors, and need more than one network, split or data set."""

ASSERTED = (Verdict.HOLDS, *AGAINST, Verdict.MISPRINT)
"""Verdicts that say something, so that a mutant must change them."""

OFTEN, SHARE = (
    re.compile(r"\b(typically|often|usually|generally|(?<!at )most)\b"),
    re.compile(r"\b(most|half|median|mean|share)\b"),
)
"""Words of a sentence that is not about every case, and of a target that is not."""


@dataclass(frozen=True)
class Mutant:
    """What stands in the place of a claim's subject, so that its verdict must change.

    Attributes
    ----------
    what : str
        Such as "the identity in place of isotonic regression".
    numbers : callable
        ``numbers()`` measures the mutant where it is ``measured``. Else ``numbers(**numbers)`` returns those of the claim's own
        numbers that the mutant has otherwise, where they are known without running it.
    measured : bool, default=False
        Whether it is run, and its numbers are stored.
    """

    what: str
    numbers: Callable[..., Numbers]
    measured: bool = False

    def given(self, own: Numbers, stored: Numbers | None = None) -> Numbers:
        """Return the numbers of the mutant, from those of the claim or from what was stored."""
        if self.measured:
            return self.numbers() if stored is None else stored
        return {**own, **self.numbers(**own)}


def run_with(module: Any, name: str, other: Any, measure: Callable[[], Numbers]) -> Callable[[], Numbers]:
    """Return a measure that finds something else under a name of a module."""

    def mutated() -> Numbers:
        own = getattr(module, name)
        setattr(module, name, other)
        try:
            return measure()
        finally:
            setattr(module, name, own)

    return mutated


@dataclass(frozen=True)
class Claim:
    """A sentence about a paper, how it is measured, and what it takes to hold.

    Attributes
    ----------
    key : str
        Name of the row, unique within its paper.
    where : str
        Section, figure, table or theorem of the paper.
    sentence : str
        What the paper says, in our words.
    target : str
        What the numbers must show for the sentence to hold.
    says : Verdict
        The verdict that the page states. The run fails if the numbers give another one. "Not judged" claims nothing and stands
        beside any numbers; "not decided" stands beside numbers that decide only with a reason, ``undecided``.
    measure, judge, words : callable
        ``measure()`` returns the numbers; ``judge(**numbers)`` the verdict; ``words(**numbers)`` the sentence of evidence.
    tolerance : str, default="none"
        How near a number must come to its target.
    over : str, default=""
        Name of the number that is a list with one entry for each network, split, data set or draw behind the verdict.
    one_suffices : str, default=""
        Why a single case can contradict the sentence, such as a counterexample to a statement about all cases.
    undecided : str, default=""
        Why the page decides nothing where the numbers give a verdict; the page prints it.
    """

    key: str
    where: str
    sentence: str
    target: str
    says: Verdict
    measure: Callable[[], Numbers]
    judge: Callable[..., Verdict]
    words: Callable[..., str]
    tolerance: str = "none"
    over: str = ""
    one_suffices: str = ""
    undecided: str = ""

    def judged(self, numbers: Numbers) -> Row:
        """Return the row that these numbers make."""
        verdict = self.judge(**numbers)
        return Row(
            self.key,
            self.where,
            self.sentence,
            self.target,
            self.tolerance,
            self.words(**numbers),
            verdict,
            dict(numbers),
        )


@dataclass(frozen=True)
class Row:
    """A claim with its numbers, its evidence in words and the verdict that the numbers give."""

    key: str
    where: str
    sentence: str
    target: str
    tolerance: str
    evidence: str
    verdict: Verdict
    numbers: Numbers


Functions = tuple[Callable[[], Numbers], Callable[..., Verdict], Callable[..., str]]
"""What measures a claim, what judges its numbers, and what puts them into words."""


def _lines(study: str, name: str) -> list[dict[str, str]]:
    with (Path(__file__).parent / study / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def claims_of(study: str, functions: Mapping[str, Functions], **constants: Any) -> tuple[Claim, ...]:
    """Return the claims of a study: the lines of its claims.csv, each with the functions of its key.

    A constant of the study that a target names stands there in braces, as in a format string.
    """
    lines = _lines(study, "claims")
    if other := {line["key"] for line in lines} ^ set(functions):
        raise ValueError(
            f"claims.csv of {study} must have the keys of its functions; one of them lacks {sorted(other)}."
        )
    return tuple(
        Claim(
            **line | {"says": Verdict(line["says"]), "target": line["target"].format(**{"CLEAR": CLEAR} | constants)},
            **dict(zip(("measure", "judge", "words"), functions[line["key"]], strict=True)),
        )
        for line in lines
    )


def overstatement(claim: Claim, row: Row) -> str | None:
    """Return what the claim says beyond its numbers, or None."""
    if claim.says is Verdict.NOT_JUDGED or (claim.says is Verdict.OPEN and claim.undecided):
        return None
    if row.verdict != claim.says:
        return f"{claim.key}: the page says {claim.says!s}, the numbers give {row.verdict!s}: {row.evidence}"
    if claim.says in AGAINST and not claim.one_suffices:
        n_cases = len(row.numbers[claim.over]) if claim.over else 1
        if n_cases < 2:
            return f"{claim.key}: {claim.says!s} rests on one case; it needs several, or a reason why one suffices"
    if claim.says in AGAINST and OFTEN.search(claim.sentence) and not SHARE.search(claim.target):
        return f"{claim.key}: the sentence is not about every case; its target must ask for most of them"
    return None


def survival(claim: Claim, mutant: Mutant | None, own: Numbers, stored: Numbers | None = None) -> str | None:
    """Return what is wrong with an asserted claim whose verdict no mutant changes, or None."""
    if mutant is None:
        return f"{claim.key}: {claim.says!s} is asserted and must have a mutant in MUTANTS of its study"
    if claim.judge(**mutant.given(own, stored)) is not claim.says:
        return None
    return f"{claim.key}: with {mutant.what} judged {claim.says!s} as well; what no mutant breaks is no target"


@dataclass(frozen=True)
class Paper:
    """A paper, its claims and where they are written.

    Attributes
    ----------
    name : str
        Folder under studies/.
    title, authors, venue : str
        As cited.
    command : str
        What runs all of it.
    minutes : float
        Processor minutes that the command takes on a small machine.
    page : str
        Name of the page under docs/.
    claims : tuple of Claim
        In the order of the paper.
    note : str, default=""
        What to know of the text that was read.
    """

    name: str
    title: str
    authors: str
    venue: str
    command: str
    minutes: float
    page: str
    claims: tuple[Claim, ...]
    note: str = ""

    @property
    def store(self) -> Path:
        """The file of the rows of the last run."""
        return Path(__file__).parent / self.name / "claims.json"

    @property
    def document(self) -> Path:
        """The page."""
        return Path(__file__).parents[1] / "docs" / self.page

    @property
    def coverage(self) -> tuple[Item, ...]:
        """Its sections, definitions, algorithms, figures and tables: coverage.csv beside the stored rows."""
        return tuple(Item(**line | {"state": State(line["state"])}) for line in _lines(self.name, "coverage"))

    def stored(self) -> list[Row]:
        """Return the rows of the last run."""
        found = json.loads(self.store.read_text(encoding="utf-8"))
        return [Row(**{**row, "verdict": Verdict(row["verdict"])}) for row in found]

    @property
    def mutants(self) -> Mapping[str, Mutant]:
        """The mutant of each asserted claim, by its key: lines of mutants.csv with ``TOLD`` or ``RUN`` of mutants.py."""
        of = import_module(f"studies.{self.name}.mutants")
        return {
            key: Mutant(what, of.RUN[key], measured=True) if key in of.RUN else Mutant(what, of.TOLD[key])
            for key, what in (line.values() for line in _lines(self.name, "mutants"))
        }

    @property
    def asserted(self) -> list[Claim]:
        """The claims whose verdict says something."""
        return [claim for claim in self.claims if claim.says in ASSERTED]

    def stored_mutants(self) -> dict[str, Numbers]:
        """Return the numbers of the mutants that were run."""
        file = self.store.with_name("mutants.json")
        return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}

    @property
    def unfinished(self) -> Path:
        """Where a run keeps what it has measured until it ends."""
        return Path(__file__).parents[1] / "build" / "studies" / f"{self.name}.json"

    def made_of(self) -> str:
        """Return a digest of what makes the page: the files of the study and its stored numbers.

        Rows that are not judged, such as a time, do not count, nor do mutants, which the page does not show.
        """
        rows = [[row.key, row.numbers] for row in self.stored() if row.verdict is not Verdict.NOT_JUDGED]
        return _digest([*_sources(self.store.parent), json.dumps(rows).encode()])

    def publish(self, text: str) -> None:
        """Write the page with the digest of what made it."""
        self.document.write_text(f"{text.rstrip()}\n\n<!-- made of {self.made_of()} -->\n", encoding="utf-8")

    def outdated(self) -> str | None:
        """Return what to do where the page is older than what makes it, or None."""
        if self.document.read_text(encoding="utf-8").endswith(f"<!-- made of {self.made_of()} -->\n"):
            return None
        return f"docs/{self.page} must be made of the study as it stands. Run `{self.command}`."


def _sources(*folders: Path) -> list[bytes]:
    files = sorted(file for folder in folders for file in folder.rglob("*") if file.suffix in {".py", ".md", ".csv"})
    return [file.read_bytes() for file in files if file.stem != "mutants"]


def _digest(parts: Iterable[bytes]) -> str:
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]


def run(paper: Paper, *, out: Any = sys.stdout) -> list[Row]:
    """Measure and judge every claim of a paper and its mutant, show progress, and store the rows.

    A run that was stopped goes on where it was, as long as neither the library nor the study has changed. Stops with an error,
    and stores nothing, if a claim says more than its numbers, or a mutant does not change its verdict.
    """
    n = len(paper.claims)
    print(f"{paper.title}: {n} claims, about {paper.minutes:g} minutes of processor time", file=out, flush=True)
    done = _Done(paper)
    rows, mutants, wrong = [], {}, set()
    for i, claim in enumerate(paper.claims, 1):
        began = time.perf_counter()
        row = claim.judged(done.measured("claims", claim.key, claim.measure))
        rows.append(row)
        problems = [overstatement(claim, row)]
        if claim in paper.asserted:
            mutant = paper.mutants.get(claim.key)
            if mutant is not None and mutant.measured:
                mutants[claim.key] = done.measured("mutants", claim.key, mutant.numbers)
            problems.append(survival(claim, mutant, row.numbers, mutants.get(claim.key)))
        wrong |= {problem for problem in problems if problem}
        print(f"[{i}/{n}] {claim.key}: {row.verdict!s} ({time.perf_counter() - began:.0f} s)", file=out, flush=True)
    if wrong:
        sys.exit("\n".join([*sorted(wrong), f"{len(wrong)} of {n} claims say too much; nothing was written"]))
    paper.store.write_text(json.dumps([_plain(row) for row in rows], indent=1) + "\n", encoding="utf-8")
    store_mutants(paper, mutants)
    paper.unfinished.unlink(missing_ok=True)
    print(f"{n} of {n} claims hold", file=out, flush=True)
    return rows


def moved(paper: Paper, seed: int, *, out: Any = sys.stdout) -> list[str]:
    """Measure every asserted claim with other random draws, and return those whose verdict moves. Nothing is stored.

    Each generator that a study or the library seeds with a whole number gets ``seed`` more. What its makers drew, such as the
    stored predictions of a paper, stays.
    """
    own = np.random.default_rng

    def shifted(of: Any = None) -> np.random.Generator:
        return own(of + seed if isinstance(of, int) else of)

    found = []
    for i, claim in enumerate(paper.asserted, 1):
        row = claim.judged(run_with(np.random, "default_rng", shifted, claim.measure)())
        print(f"[{i}/{len(paper.asserted)}] {claim.key}: {row.verdict!s}", file=out, flush=True)
        if row.verdict is not claim.says:
            found.append(f"{claim.key}: {claim.says!s}, with seed {seed} {row.verdict!s}: {row.evidence}")
    print("\n".join(found) or f"no verdict of {len(paper.asserted)} moves", file=out, flush=True)
    return found


def store_mutants(paper: Paper, numbers: Mapping[str, Numbers]) -> None:
    """Store the numbers of the mutants that were run."""
    text = json.dumps(numbers, indent=1, sort_keys=True, allow_nan=False) + "\n"
    paper.store.with_name("mutants.json").write_text(text, encoding="utf-8")


class _Done:
    """What a run has measured, kept in a file until it ends."""

    def __init__(self, paper: Paper) -> None:
        self._file = paper.unfinished
        of = _digest(_sources(paper.store.parent, Path(__file__).parents[1] / "src"))
        found = json.loads(self._file.read_text(encoding="utf-8")) if self._file.exists() else {}
        self._kept = found if found.get("of") == of else {"of": of, "claims": {}, "mutants": {}}

    def measured(self, kind: str, key: str, measure: Callable[[], Numbers]) -> Numbers:
        """Return numbers, measured if they are not there."""
        if key not in self._kept[kind]:
            self._kept[kind][key] = json.loads(json.dumps(measure(), allow_nan=False))
            self._file.parent.mkdir(parents=True, exist_ok=True)
            self._file.write_text(json.dumps(self._kept), encoding="utf-8")
        return self._kept[kind][key]


def _plain(row: Row) -> dict[str, Any]:
    return {**vars(row), "verdict": str(row.verdict)}


def claims_table(claims: Iterable[Claim], rows: Iterable[Row], mutants: Mapping[str, Mutant] | None = None) -> str:
    """Return the claims with evidence and verdict, and with what must change the verdict, as markdown."""
    by_key = {row.key: row for row in rows}
    body = [
        [claim.where, claim.sentence, by_key[claim.key].evidence, _target(claim), _verdict(claim)] for claim in claims
    ]
    head = ["where", "the paper says", "computed here", "holds if", "verdict"]
    if mutants is not None:
        head.append("another verdict with")
        for line, claim in zip(body, claims, strict=True):
            line.append(mutants[claim.key].what if claim.says in ASSERTED else "")
    return table(head, body)


def _verdict(claim: Claim) -> str:
    return f"**{claim.says!s}**" + (f": {claim.undecided}" if claim.undecided else "")


def _target(claim: Claim) -> str:
    return claim.target if claim.tolerance == "none" else f"{claim.target} (tolerance {claim.tolerance})"


# Verdicts of numbers: the rules that claims of all papers share.


CLEAR, LEVEL = 2.0, 0.05
"""Standard errors from which on a mean difference counts, and the level of a sign test."""


def holds(condition: bool) -> Verdict:
    """Return "holds" or "does not hold here"."""
    return Verdict.HOLDS if condition else Verdict.FAILS


def not_judged(**numbers: Any) -> Verdict:
    """Return "not judged", beside any numbers."""
    return Verdict.NOT_JUDGED


def each_holds(conditions: Iterable[bool]) -> Verdict:
    """Return "holds" if all do, "holds in part" if any does."""
    return all_of(map(holds, conditions))


def printed_as(printed: bool, meant: bool) -> Verdict:
    """Return whether something is as printed; a misprint, where what is meant stands."""
    return Verdict.HOLDS if printed else Verdict.MISPRINT if meant else Verdict.FAILS


def mostly(count: int, n: int, level: float = LEVEL) -> Verdict:
    """Return whether so many of n are more than half of them, clearly by a sign test, by default at 5%."""
    return holds(2 * count > n) if n and binomtest(count, n).pvalue <= level else Verdict.OPEN


def equals(value: float, target: float, tolerance: float) -> Verdict:
    """Return whether a figure comes out; NaN does not."""
    return holds(abs(value - target) <= tolerance)


def mean_and_error(values: Sequence[float]) -> tuple[float, float]:
    """Return the mean over networks, splits or draws, and its standard error, infinite for a single value."""
    of = np.asarray(values, dtype=np.float64)
    return float(of.mean()), float(of.std(ddof=1) / np.sqrt(len(of))) if len(of) > 1 else np.inf


def pm(values: Sequence[float], digits: int = 4, sign: str = "+") -> str:
    """Return the mean and its standard error."""
    mean, error = mean_and_error(values)
    return f"{mean:{sign}.{digits}f} ± {error:.{digits}f}"


def below_zero(differences: Sequence[float]) -> Verdict:
    """Return whether a mean difference is clearly below zero, clearly above, or not decided."""
    mean, error = mean_and_error(differences)
    if abs(mean) <= CLEAR * error:
        return Verdict.OPEN
    return holds(mean < 0)


def above_zero(differences: Sequence[float]) -> Verdict:
    """Return whether a mean difference is clearly above zero, clearly below, or not decided."""
    return below_zero([-value for value in differences])


def all_of(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the verdict on a sentence that says several things: it holds if each does, fails if each fails."""
    found = set(verdicts)
    if len(found) == 1:
        return found.pop()
    if Verdict.OPEN in found and not {Verdict.FAILS, Verdict.IN_PART} & found:
        return Verdict.OPEN
    if found == {Verdict.OPEN, Verdict.FAILS}:
        return Verdict.OPEN
    return Verdict.IN_PART


def under_all_readings(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the verdict that every reading of an ambiguous text gives; not decided where they differ.

    Some readings by which the sentence holds and others by which it holds in part agree that it does in part.
    """
    found = set(verdicts)
    if found == {Verdict.HOLDS, Verdict.IN_PART}:
        return Verdict.IN_PART
    return found.pop() if len(found) == 1 else Verdict.OPEN


# What of a paper is in the library: each section, definition, algorithm, figure and table, and where it is.


class State(StrEnum):
    """How far a part of a paper is run here."""

    DONE = "done"
    IN_FORM = "same experiment, other data"
    NOT_YET = "not yet"
    LEFT_OUT = "left out on purpose"
    NOT_POSSIBLE = "not possible"


@dataclass(frozen=True)
class Item:
    """A part of a paper.

    Attributes
    ----------
    where : str
        Its place, such as "Definition 1" or "Fig. 3".
    what : str
        What it is, in a few words.
    name : str
        Public names of calibrant in backticks, or where it is run.
    state : State
        How far.
    why : str, default=""
        What differs, or why it is not done. Needed unless it is done.
    """

    where: str
    what: str
    name: str
    state: State
    why: str = ""

    def __post_init__(self) -> None:
        if self.state is not State.DONE and not self.why:
            raise ValueError(f"{self.where}: a part that is {self.state!s} says why; got nothing. Pass why=.")


def coverage_table(items: Iterable[Item]) -> str:
    """Return the parts as markdown."""
    body = [
        [item.where, item.what, item.name, f"**{item.state!s}**" + (f": {item.why}" if item.why else "")]
        for item in items
    ]
    return table(["where", "what", "in calibrant", "state"], body)


def counts(items: Iterable[Item]) -> dict[State, int]:
    """Return how many parts are in each state."""
    found = Counter(item.state for item in items)
    return {state: found[state] for state in State}


# Where the data sets of the studies lie.


def data_dir() -> Path:
    """Return the folder of the data sets: $CALIBRANT_DATA, or shared/data beside the repository."""
    return Path(os.environ.get("CALIBRANT_DATA", Path(__file__).parents[2] / "shared" / "data"))


def require(files: Iterable[str]) -> None:
    """Stop with a message if a data set is missing."""
    if missing := [name for name in files if not (data_dir() / name).is_file()]:
        sys.exit(
            f"data sets must lie in {data_dir()}; missing: {', '.join(missing)}. Set CALIBRANT_DATA to their folder."
        )


def reproduce(
    paper: Paper,
    page: Callable[[list[Row]], str],
    *pictures: Callable[[], None],
    files: Iterable[str] = (),
    check: Callable[[], None] = lambda: None,
) -> None:
    """Measure and judge the claims of a paper, draw its pictures and write its page."""
    require(files)
    check()
    rows = run(paper)
    for i, draw in enumerate(pictures, 1):
        print(f"pictures {i} of {len(pictures)}", flush=True)
        draw()
    print("page", flush=True)
    paper.publish(page(rows))
