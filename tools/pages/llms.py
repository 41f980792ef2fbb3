"""llms.txt: the documentation and every public name on one page of plain text, for programs that write code."""

import inspect
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from calibrant._core.lazy import load
from tools.pages import reference
from tools.public_api import parameters

SAID = Path(__file__).with_suffix(".md").read_text(encoding="utf-8")
"""What the page begins with."""


def called(name: str, target: object) -> str:
    """Return how a name is called, with defaults; what follows `*` is passed by name."""
    if not callable(target):
        return name
    first, star, rest = parameters(target).partition("^")
    return f"{name}({first}{'*, ' if star else ''}{rest.replace('^', '')})"


def entry(name: str, full: str) -> str:
    """Return the line of a public name: how it is called, its page, and what it is."""
    target = load(name)
    first_sentence = " ".join((inspect.getdoc(target) or "").partition("\n\n")[0].split())
    return f"- [`{called(name, target)}`](reference/{full}.html): {first_sentence}"


def lines(titles: Mapping[str, str], record: Collection[str]) -> Iterator[str]:
    """Yield the page, given the titles of the pages of the documentation by their names, and which are of the record."""
    yield SAID
    yield "## From calibrant itself\n"
    for heading, names in reference.front_door().items():
        yield f"- {heading}: " + ", ".join(f"`{name}`" for name in names)
    for heading, kept_apart in (("Documentation", False), ("The record: what was run, measured and decided", True)):
        yield f"\n## {heading}\n"
        for page, title in sorted(titles.items()):
            if not page.startswith(("reference/", "decisions/")) and (page in record) is kept_apart:
                yield f"- [{title}]({page}.html)"
    for package, names in reference.public_packages().items():
        yield f"\n## calibrant.{package}\n\n{reference.first_line(package)}\n"
        yield from (entry(name, f"calibrant.{package}.{name}") for name in names)


def page(titles: Mapping[str, str], record: Collection[str]) -> str:
    """Return the text of llms.txt."""
    return "\n".join(lines(titles, record)) + "\n"
