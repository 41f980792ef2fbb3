"""The figures of docs/reliability.md: what each tool found in its last long run, and the table made of it.

Run: python -m tools.reliability [NAME KEY=VALUE ...]

Without words the table is written anew. With words the figures of one row are replaced first, as a tool does by itself
with ``--record``: python -m tools.reliability mutation "found=of 200 changes 190 fail a test".
"""

import argparse
import json
import platform
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import calibrant

DOCS = Path(__file__).parents[1] / "docs"
RECORD, PAGE = DOCS / "reliability.json", DOCS / "reliability.md"
PLACE = re.compile(r"(?<=<!-- figures -->\n).*?(?=<!-- end of figures -->)", flags=re.S)

TOOLS: dict[str, tuple[str, str, str]] = {
    "fuzz": (
        "random calls of every public function and calibrator",
        "python -m tools.fuzz 9000 0 --most 10000",
        "{calls} calls of {public names} public names: {accepted} returned a result, {refused in words} were refused with a "
        "message; {broken laws} broke a promise",
    ),
    "inject_faults": (
        "accidents while a file is written",
        "python -m tools.inject_faults 420 0",
        "{accidents} accidents ({rest}); after {broken laws} of them a promise was broken",
    ),
    "mutate_files": (
        "files of calibrators, states of monitors and tables, changed or cut",
        "python -m tools.mutate_files 150 0",
        "{files} changed files: {refused in words} were refused with a message, {read} were read as they were; {faults} faults",
    ),
    "mutation": (
        "changes of the source that the tests must notice",
        "for s in 0 2 3 5; do python -m tools.mutation 200 --seed $s; done; python -m tools.mutation 80 --seed 7",
        "{found}",
    ),
    "intervals": (
        "intervals of `assess`: how often they hold the truth",
        "python -m tools.coverage_of_intervals 2000 --sizes 200",
        "{found}",
    ),
    "tests": (
        "tests of calibration: how often they reject a calibrated forecast",
        "python -m tools.size_and_power 1000",
        "{found}",
    ),
}
"""What is measured, the command that does it, and the sentence of what it found; ``rest`` are the figures it does not name."""


def record(name: str, figures: dict[str, Any], *, command: str = "") -> None:
    """Store what a tool found, and write the table anew."""
    if name not in TOOLS:
        raise ValueError(f"the tool must be one of {', '.join(TOOLS)}; got {name!r}. Add it to TOOLS.")
    stored = recorded() | {
        name: {
            "command": command or TOOLS[name][1],
            "figures": figures,
            "calibrant": calibrant.__version__,
            "python": platform.python_version(),
        }
    }
    RECORD.write_text(json.dumps(stored, indent=2) + "\n", encoding="utf-8")
    write_table()


def parser_of(name: str, doc: str | None) -> argparse.ArgumentParser:
    """Return the parser of a tool that draws until a time is over, or a number of draws is reached."""
    parser = argparse.ArgumentParser(prog=f"python -m tools.{name}", description=doc)
    parser.add_argument("seconds", type=float, nargs="?", default=60)
    parser.add_argument("seed", type=int, nargs="?", default=0)
    parser.add_argument("--most", type=int, default=10**9, metavar="N", help="stop after so many draws")
    parser.add_argument("--record", action="store_true", help="write the figures to docs/reliability.md")
    return parser


def draws(seconds: float, seed: int, most: int) -> Iterator[tuple[int, Random]]:
    """Yield the number of each draw, and a source of chance that is its own, until the time is over."""
    end = time.monotonic() + seconds
    for number in range(most):
        if time.monotonic() > end:
            return
        yield number, Random(f"{seed} {number}")


def finished(name: str, figures: dict[str, Any], arguments: argparse.Namespace, *, faults: int) -> int:
    """Print what a tool found, store it if asked to, and return the exit code."""
    print(f"{name}: {told(name, figures)} (seed {arguments.seed})")
    if arguments.record:
        most = f" --most {arguments.most}" if arguments.most < 10**9 else ""
        record(name, figures, command=f"python -m tools.{name} {arguments.seconds:g} {arguments.seed}{most}")
    return 1 if faults else 0


def recorded() -> dict[str, Any]:
    """Return what is stored."""
    found: dict[str, Any] = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}
    return found


def table() -> str:
    """Return the table as the page shows it."""
    lines = ["| what was tried | found | command |", "|---|---|---|"]
    stored = recorded()
    for name, (what, command, _) in TOOLS.items():
        one = stored.get(name)
        found = told(name, one["figures"]) if one else "not measured yet"
        lines.append(f"| {what} | {found} | `{one['command'] if one else command}` |")
    return "\n".join(lines) + "\n"


def told(name: str, figures: dict[str, Any]) -> str:
    """Return the sentence of what a tool found."""
    sentence, words = TOOLS[name][2], {key: shown(value) for key, value in figures.items()}
    rest = ", ".join(f"{value} {key}" for key, value in words.items() if f"{{{key}}}" not in sentence)
    return sentence.format_map(words | {"rest": rest})


def shown(value: Any) -> str:
    """Return a figure with its thousands apart."""
    return f"{value:,}".replace(",", " ") if isinstance(value, int) else str(value)


def write_table() -> None:
    """Put the table into the page."""
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(PLACE.sub(lambda _: table(), page), encoding="utf-8")


def main(words: list[str]) -> None:
    """Replace the figures of a row where words are given, and write the table."""
    if words:
        pairs = (word.split("=", 1) for word in words[1:])
        record(words[0], {key: int(value) if value.isdecimal() else value for key, value in pairs})
    write_table()


if __name__ == "__main__":
    main(sys.argv[1:])
