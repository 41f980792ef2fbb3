"""The list of decisions: number, what was decided, date and status, as the first lines of each file state them."""

import re
from pathlib import Path

HEAD = (
    "# Decisions\n\nWhat was decided, when, and whether it stands. Each page says why. A decision that was replaced stays, with a "
    "link to the one that replaced it.\n"
)


def decision(path: Path) -> tuple[str, str, str]:
    """Return title, date and status of a decision, or raise a ValueError that names the file and what it lacks."""
    start = path.read_text(encoding="utf-8").split("\n", 8)[:8]
    found = [re.search(pattern, "\n".join(start)) for pattern in (r"^# \d+\. (.+)", r"\d{4}-\d\d-\d\d", r"Status: (.+)")]
    for match, what in zip(found, ("a title '# 12. ...'", "a date", "a status 'Status: accepted.'"), strict=True):
        if match is None:
            raise ValueError(f"a decision must begin with {what}; {path.name} does not. Add it below its heading.")
    title, date, status = (match[match.lastindex or 0] for match in found if match)
    return title, date, re.sub(r", \d{4}-\d\d-\d\d", "", status).strip().removesuffix(".")


def page(folder: Path) -> str:
    """Return the page that lists the decisions of a folder."""
    paths = sorted(folder.glob("[0-9]*.md"))
    rows = [HEAD, "| | decision | date | status |", "| --- | --- | --- | --- |"]
    for path in paths:
        title, date, status = decision(path)
        rows.append(f"| {int(path.name[:4])} | [{title}]({path.name}) | {date} | {status} |")
    names = [path.stem for path in paths]
    return "\n".join([*rows, "", "```{toctree}", ":hidden:", "", *names, "```", ""])
