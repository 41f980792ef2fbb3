"""The list of decisions: number, what was decided, date and status, as the first lines of each file state them."""

import re
from pathlib import Path

HEAD = (
    "# Decisions\n\nWhat was decided, when, and whether it stands. Each page says why. A decision that was replaced stays, "
    "with a link to the one that replaced it.\n"
)


def decision(path: Path) -> tuple[str, str, str]:
    """Return title, date and status of a decision, or raise a ValueError that names the file and what it lacks."""
    start = "\n".join(path.read_text(encoding="utf-8").split("\n", 8)[:8])
    wanted = {
        "a title '# 12. ...'": r"^# \d+\. (.+)",
        "a date": r"(\d{4}-\d\d-\d\d)",
        "a status 'Status: accepted.'": r"Status: (.+?)(?:, \d{4}-\d\d-\d\d)?(?:\. |\.?$)",
    }
    found = []
    for what, pattern in wanted.items():
        if (match := re.search(pattern, start, flags=re.M)) is None:
            raise ValueError(f"a decision must begin with {what}; {path.name} does not. Add it below its heading.")
        found.append(match[1])
    title, date, status = found
    return title, date, status


def page(folder: Path) -> str:
    """Return the page that lists the decisions of a folder."""
    paths = sorted(folder.glob("[0-9]*.md"))
    rows = [HEAD, "| | decision | date | status |", "| --- | --- | --- | --- |"]
    for path in paths:
        title, date, status = decision(path)
        rows.append(f"| {int(path.name[:4])} | [{title}]({path.name}) | {date} | {status} |")
    return "\n".join([*rows, "", "```{toctree}", ":hidden:", "", *(path.stem for path in paths), "```", ""])
