"""Does each link of the built documentation lead somewhere, and has each picture a text?

Run: python -m tools.pages.links docs/_build/html. Addresses of other sites are not asked.
"""

import re
import sys
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

MADE = {"search.html", "genindex.html", "py-modindex.html", "webpack-macros.html"}
"""Pages of Sphinx itself. They may be linked to; what they link is not looked at."""


class Page(HTMLParser):
    """What a page links to, the places in it that can be linked, and its pictures without a text."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links, self.places, self.untold = set[str](), set[str](), list[str]()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = {word: value for word, value in attrs if value}
        self.places |= {said[word] for word in said.keys() & {"id", "name"}}
        if tag in ("a", "img", "link", "script"):
            self.links |= {said[word] for word in said.keys() & {"href", "src"}}
        if tag == "img" and len(said.get("alt", "").split()) < 2:
            self.untold.append(said.get("src", ""))


read = cache(Page)


def dead(path: Path, links: set[str]) -> Iterator[str]:
    """Yield the links of a file that lead to no file, or to no place in it."""
    for link in sorted(links):
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        place = unquote(parts.fragment) if target.suffix == ".html" else ""
        if not target.is_file() or (place and place not in read(target).places):
            yield link


def wrong(built: Path) -> list[str]:
    """Return a sentence for each dead link and each picture without a text of at least two words."""
    said = []
    for path in sorted(page for page in built.rglob("*.html") if page.name not in MADE):
        name, page = path.relative_to(built), read(path)
        said += [f"{name} links to {link}, which is not there" for link in dead(path, page.links)]
        said += [f"{name} shows {picture} without a text (alt)" for picture in page.untold]
    for path in built.glob("llms.txt"):
        links = set(re.findall(r"\]\(([^)]+)\)", path.read_text(encoding="utf-8")))
        said += [f"{path.name} links to {link}, which is not there" for link in dead(path, links)]
    return said


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    found = wrong(folder)
    pages = len(list(folder.rglob("*.html")))
    print("\n".join(found) or f"{pages} pages: each link leads somewhere, each picture has a text")
    sys.exit(bool(found))
