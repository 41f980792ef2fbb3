"""Does the search of the built documentation lead to the right page? Run: python -m tools.pages.search docs/_build/html

The search of Sphinx gives 100 points to a page whose main index entry is the query, and at most 26 for anything else. So the
first page is one that holds that entry; of several, such as a page and the glossary, it is the first by title.
Where Node is installed the search of the built pages itself is asked, in the order in which a browser shows its results.
"""

import json
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

from tools.pages import shelves

TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
FIRST = {query: page for page, queries in TABLES["first"].items() for query in queries}
"""What people type, and the page whose main index entry it is."""

ASKED = {query: page for page, queries in TABLES["asked"].items() for query in queries}
"""Other words that people type, and the page that must be among the first three results."""


def main_entries(built: Path) -> dict[str, list[str]]:
    """Return the pages of each main index entry of a built documentation, in the order in which the search shows them."""
    text = (built / "searchindex.js").read_text(encoding="utf-8")
    index = json.loads(text[text.index("(") + 1 : text.rindex(")")])
    by_title = sorted(range(len(index["docnames"])), key=lambda page: index["titles"][page].lower())
    held = {word: {page for page, _, main in places if main} for word, places in index["indexentries"].items()}
    return {word: [index["docnames"][page] for page in by_title if page in pages] for word, pages in held.items()}


def wrong(built: Path) -> list[str]:
    """Return a sentence for each query that leads elsewhere."""
    found = main_entries(built)
    return [
        f"the search for {query!r} must lead to {page}; its main index entries are on {found.get(query.lower(), [])}"
        for query, page in FIRST.items()
        if found.get(query.lower(), [])[:1] != [page]
    ]


def shown(built: Path) -> dict[str, list[str]]:
    """Return the pages that the search shows for each query, the first one first; nothing where Node is not installed."""
    node, script = shutil.which("node"), str(Path(__file__).with_suffix(".js"))
    command = [node or "", script, str(built.resolve()), *FIRST, *ASKED]
    return json.loads(subprocess.check_output(command, text=True)) if node else {}


def misled(results: dict[str, list[str]]) -> Iterator[str]:
    """Yield a sentence for each query whose page is not among the first three, or that shows the record before users' pages."""
    right, record = FIRST | ASKED, set(shelves.record())
    for query, pages in results.items():
        if right[query] not in pages[:3]:
            yield f"the search for {query!r} must show {right[query]} among the first three; it shows {pages[:5]}"
        kept_apart = [page in record or page.startswith("decisions/") for page in pages]
        if sorted(kept_apart) != kept_apart:
            yield f"the search for {query!r} shows a page of the record before one of users"


if __name__ == "__main__":
    results = shown(Path(sys.argv[1]))
    said = [*wrong(Path(sys.argv[1])), *misled(results)]
    right = f"{len(FIRST)} queries lead to the right page; {len(results)} were asked of the search itself"
    print("\n".join(said) or right)
    sys.exit(bool(said))
