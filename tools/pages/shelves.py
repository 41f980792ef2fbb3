"""The two shelves of the documentation: the pages a user reads, and the record of what was run, measured and decided.

Run: python -m tools.pages.shelves. It counts the words of the user's shelf and fails above `MOST`. A page belongs to the record
if it is reached by the tables of contents from docs/record.md; every other page is the user's.
"""

import json
import re
import sys
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"

MOST = 40_000
"""Words of the user's shelf. The reference is written from docstrings, and read a name at a time: it is not counted."""

MADE = {"reference/index", "decisions/index"}
"""Pages that are written when the documentation is built. Their own tests say that they lead to all others of their folder."""

SCORER = """// Written by tools/pages/shelves.py: in a search the pages of the record stand below all others.
const RECORD = new Set(%s);
var Scorer = {
  score: ([page, , , , score]) => (RECORD.has(page) || page.startsWith("decisions/") ? score - 1000 : score),
  objNameMatch: 11, objPartialMatch: 6, objPrio: {0: 15, 1: 5, 2: -5}, objPrioDefault: 0,
  title: 15, partialTitle: 7, term: 5, partialTerm: 2,
};
"""
"""The numbers are the defaults of Sphinx."""


def below(page: str) -> list[str]:
    """Return the pages in the tables of contents of a page, in their order, named from the root of the documentation."""
    text = "" if page in MADE else (DOCS / f"{page}.md").read_text(encoding="utf-8")
    tables = "".join(re.findall(r"^```\{toctree\}\n(.*?)^```", text, flags=re.M | re.S))
    listed = [re.sub(r".*<(.*)>", r"\1", line) for line in tables.splitlines() if line and not line.startswith(":")]
    folder = page.rpartition("/")[0]
    return [f"{folder}/{name}".removeprefix("/") for name in listed]


def reached(page: str) -> list[str]:
    """Return a page and all that its tables of contents lead to, in the order of a reader."""
    return [page, *(one for child in below(page) for one in reached(child))]


def record() -> list[str]:
    """Return the pages of the record."""
    return reached("record")


def of_users() -> list[str]:
    """Return the pages of the user's shelf that are written by hand or by a command, without the reference."""
    kept_apart = {*record(), *MADE}
    return [page for page in reached("index") if page not in kept_apart]


def words(text: str) -> int:
    """Count the words of a page, code and tables included: what stands between blanks and has a letter or a digit."""
    return sum(any(map(str.isalnum, word)) for word in text.split())


def counted() -> dict[str, int]:
    """Return the number of words of each page of the user's shelf."""
    return {page: words((DOCS / f"{page}.md").read_text(encoding="utf-8")) for page in of_users()}


def scorer() -> str:
    """Return the script by which the search of the built documentation ranks."""
    return SCORER % json.dumps(record(), indent=2)


if __name__ == "__main__":
    found = counted()
    for page, number in sorted(found.items(), key=lambda item: -item[1]):
        print(f"{number:7,}  {page}")
    total = sum(found.values())
    print(f"{total:7,}  words in {len(found)} pages of the user's shelf; at most {MOST:,}")
    sys.exit(total > MOST)
