"""Tables of the pages that tools write."""

from __future__ import annotations


def table(head: list[str], body: list[list[str]]) -> str:
    """Rows as markdown."""
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, ["---"] * len(head), *body])
