"""The stub of a package, which lists its names and where they are."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib.util import resolve_name
from pathlib import Path

Homes = dict[str, tuple[str, str | None]]
"""Where each name of a package is: the module, and what it is called there; None for the module itself."""


def read_stub(package: str, stub: Path) -> tuple[Homes, list[str]]:
    """Return where each name of a package is, and which of them are public."""
    homes: Homes = {}
    public: list[str] | None = None
    for node in ast.parse(stub.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom):
            homes |= dict(_homes_of(node, package))
        elif isinstance(node, ast.Assign):
            public = ast.literal_eval(node.value)
    return homes, [name for name, (_, member) in homes.items() if member] if public is None else public


def _homes_of(node: ast.ImportFrom, package: str) -> Iterator[tuple[str, tuple[str, str | None]]]:
    source = resolve_name("." * node.level + (node.module or ""), package)
    for alias in node.names:
        whole = node.module is None
        yield alias.asname or alias.name, (f"{source}.{alias.name}", None) if whole else (source, alias.name)
