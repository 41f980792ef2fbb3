"""The reference: a page a public package, its names in groups, and for each name the words by which the search finds it."""

import importlib
import re
import tomllib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import calibrant
from calibrant._core import lazy as elsewhere
from calibrant._core.registry import entries

TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
GROUPS: dict[str, dict[str, list[str]]] = TABLES["groups"]
TITLES: dict[str, str] = TABLES["titles"]

KINDS = ("metric", "calibrator", "test", "notion", "binning", "simplex-binning")
"""Whose word it is where two kinds of things have the same one: the first."""


@cache
def homes() -> dict[str, str]:
    """Return, for each public name, the full name under which it is described."""
    return {name: f"{home}.{name}" for name, home in elsewhere.homes().items()}


def public_packages() -> dict[str, tuple[str, ...]]:
    """Return the public names of each package, in the order of the reference."""
    found: dict[str, list[str]] = {package: [] for package in TITLES}
    for name, home in sorted(elsewhere.homes().items(), key=lambda item: item[0].lower()):
        found[home.removeprefix("calibrant.")].append(name)
    return {package: tuple(names) for package, names in found.items()}


def spelled(name: str) -> str:
    """Return a name in the words of a sentence: ``log loss``, ``temperature scaling``."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", name).lower()


def words() -> dict[str, list[str]]:
    """Return the words that lead to each public name. A word leads to one name alone, so that it is the first that is found."""
    known = homes()
    wanted = [(word, name) for name, others in TABLES["also"].items() for word in others]
    for kind in KINDS:
        for entry in entries(kind).values():
            said = (entry.symbol, *entry.words, *(word.replace("-", " ") for word in entry.words))
            wanted += [(word, entry.target.__name__) for word in said if len(word) > 1]
    functions_first = sorted(known, key=lambda name: not name[0].islower())
    wanted += [(word, name) for name in functions_first for word in (name, spelled(name))]
    taken: dict[str, str] = {}
    found: dict[str, list[str]] = {}
    for word, name in wanted:
        if name in known and word.lower() not in taken:
            taken[word.lower()] = name
            found.setdefault(name, []).append(word)
    return found


def group_of(package: str, name: str) -> str:
    """Return the heading of a name on the page of its package."""
    module = getattr(importlib.import_module(f"calibrant.{package}"), name).__module__.split(".")[1:]
    found = [title for title, modules in GROUPS.get(package, {}).items() if {name, *module} & set(modules)]
    return found[-1] if found else ("" if package not in GROUPS else "More")


def autosummary(package: str, names: Iterable[str]) -> list[str]:
    """Return the directive that lists names, and makes a page for each."""
    options = ["   :toctree: .", "   :nosignatures:", ""]
    head = ["```{eval-rst}", f".. currentmodule:: calibrant.{package}", "", ".. autosummary::", *options]
    return [*head, *(f"   {name}" for name in names), "```", ""]


def first_line(package: str) -> str:
    """Return what a package says of itself in one line."""
    return (importlib.import_module(f"calibrant.{package}").__doc__ or "").strip().splitlines()[0]


def package_page(package: str, names: tuple[str, ...]) -> str:
    """Return the page of a package."""
    lines = [f"# {TITLES[package]}", "", f"`calibrant.{package}`: {first_line(package)}", ""]
    for title in (*GROUPS.get(package, {"": ()}), "More"):
        chosen = [name for name in names if group_of(package, name) == title]
        if chosen:
            lines += [*([f"## {title}", ""] if title else []), *autosummary(package, chosen)]
    return "\n".join(lines)


def front_door() -> dict[str, list[str]]:
    """Return the names that `calibrant` itself exports, below the headings of its stub."""
    found: dict[str, list[str]] = {}
    for line in Path(calibrant.__file__).with_suffix(".pyi").read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            names = found.setdefault(line.removeprefix("# "), [])
        elif match := re.fullmatch(r"from \.\w+ import (\w+) as \1", line):
            names.append(match[1])
    return {title: names for title, names in found.items() if names}


def front_page() -> str:
    """Return the page of the reference: what `from calibrant import ...` gives, and the packages."""
    said = (
        "Most people need only these names. They are imported from `calibrant` itself; all others from their package."
    )
    lines = ["# Reference", "", said, ""]
    lines += ["| | `from calibrant import ...` |", "| --- | --- |"]
    for title, names in front_door().items():
        lines.append(f"| {title} | " + ", ".join(f"{{py:obj}}`{name} <{homes()[name]}>`" for name in names) + " |")
    lines += ["", "## Packages", "", "| package | what it holds |", "| --- | --- |"]
    lines += [f"| [`calibrant.{package}`]({package}.md) | {first_line(package)} |" for package in TITLES]
    lines += [
        "| [What there is](tables.md) | every word of the registry: metrics, tests, notions, binnings, calibrators |",
        '| <a href="../llms.txt">llms.txt</a> | every name with its parameters and a sentence, as plain text for programs |',
        "",
    ]
    return "\n".join([*lines, "```{toctree}", ":hidden:", "", *TITLES, "tables", "```", ""])
