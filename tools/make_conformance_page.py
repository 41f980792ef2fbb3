"""Write docs/conformance.md from what the peers answered: python -m tools.make_conformance_page

The answers stand in tests/peers/figures.json (tools/make_peer_figures.py), calibrant's own are computed here.
"""

from pathlib import Path
from typing import Any

import numpy as np

from studies.claims import table
from tests.peers.test_agreement import AGREEMENT, CONFORMANCE, OURS, STORED, rows, says
from tools.make_peer_figures import NAMES, answer

CLOSE = 1e-6
"""An answer this near is right: some peers count in single precision."""


def number(value: Any) -> str:
    """A value for people."""
    if isinstance(value, list):
        return "[" + ", ".join(map(number, value)) + "]"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def right_of(asked: dict[str, Any]) -> str:
    """The right answer for people."""
    return "an error" if asked["right"] == "refuse" else number(asked["right"])


def agreement() -> str:
    """What is compared, with whom, and how far apart the answers are."""
    body = []
    for figure in AGREEMENT["figure"]:
        ours = np.asarray(says(OURS, rows(figure["input"]), figure["calibrant"]))
        theirs = STORED["figures"][figure["name"]]
        far = max(float(np.max(np.abs(np.asarray(value) - ours))) for value in theirs.values())
        limit = f"{figure['tolerance']:g}: {figure['reason']}" if "tolerance" in figure else "1e-8"
        body.append([figure["name"], ", ".join(theirs), "0" if far == 0 else f"{far:.0e}", limit])
    return table(["figure", "peers", "largest difference", "asked for"], body)


def grid(asked: dict[str, Any]) -> str:
    """One question to everyone: the inputs, numbered, and a row of marks for each peer."""
    questions = asked["question"]
    inputs = [f"{k}. {q['name']}: right is {right_of(q)}. `{q['given']}`" for k, q in enumerate(questions, start=1)]
    body, stored = [], STORED["grids"][asked["title"]]
    for peer, call in asked["call"].items():
        is_own = peer == "calibrant"
        said = [answer(OURS, q["given"], call) if is_own else stored[q["name"]][peer] for q in questions]
        body.append([peer, *(cell(value, q["right"]) for value, q in zip(said, questions, strict=True))])
    return "\n".join(inputs) + "\n\n" + table(["", *map(str, range(1, len(questions) + 1))], body)


def cell(value: Any, right: Any) -> str:
    """Mark of one answer; an error that was raised is a text."""
    if isinstance(value, str):
        return "✓" if right == "refuse" else "refuses"
    is_right = right != "refuse" and np.allclose(value, right, rtol=0.0, atol=CLOSE)
    return "✓" if is_right else f"**{value:.3g}**"


def case(entry: dict[str, Any]) -> str:
    """One finding: the input, what the peer says, what calibrant says."""
    theirs = STORED["cases"][entry["name"]]
    lines = [f"### {entry['peer']}: {entry['name'][0].lower()}{entry['name'][1:]}", "", "```py"]
    lines += [*entry["given"].split("; "), "", f"{entry['call']}", f"# {entry['peer']}: {number(theirs)}"]
    if entry["calibrant"]:
        ours = answer(OURS, entry["given"], entry["calibrant"])
        lines += ["", entry["calibrant"], f"# calibrant: {number(ours)}"]
    return "\n".join([*lines, "```", "", f"Right is {right_of(entry)}. {entry['why']}"])


def intervals() -> str:
    """How often intervals hold what they should."""
    study = STORED["intervals"]
    body = []
    for peer, found in study["of"].items():
        shares = (found["intervals"] / study["runs"], found["hold the truth"], found["hold their own estimate"])
        body.append([peer, *(f"{share:.0%}" for share in shares), f"`{found['call']}`"])
    return table(["", "made", "of these hold the true error, zero", "hold their own estimate", "call"], body)


def page() -> str:
    """The whole page."""
    versions = ", ".join(f"{name} {number}" for name, number in STORED["versions"].items())
    study = STORED["intervals"]
    parts = [
        "# Conformance",
        "What calibrant's peers say of the same inputs: where they agree, where they differ and who is right, and what they do "
        "that calibrant does not. Every answer was made by running it; `tools/make_peer_figures.py` stored them (intervals: "
        "that of commit 6c24639e), and the tests "
        f"compare calibrant with them. Python {STORED['python']}; {versions}.",
        "## Where all agree",
        agreement(),
        "## The same question to everyone",
        "✓ is the right value, or an error where no value is right; **bold** is a wrong answer without an error; "
        "*refuses* is an error where there is an answer. Conventions differ on the edges of bins, so that no input here "
        "lies on one unless it says so.",
        *(f"### {asked['title']}: {asked['figure']}\n\n{grid(asked)}" for asked in CONFORMANCE["grid"]),
        "## Intervals at calibration",
        f"{study['runs']} forecasts of {study['rows']} rows that are calibrated by construction, and intervals of nominal "
        "95 % of their calibration error. The error of a sample is never zero, and resampling its rows adds the bias a second "
        "time. probcal takes percentiles, calibre BCa intervals (its documentation warns of this use), uncertainty-calibration "
        "and relplot basic ones, the latter made symmetric.",
        intervals(),
        "## Findings",
        *(case(entry) for entry in CONFORMANCE["case"]),
        "## What peers do that calibrant does not",
        "\n".join(f"* {entry['peer']}: {entry['what']}" for entry in CONFORMANCE["beyond"]),
        "## Names in the calls",
        *(f"{peer}:\n\n```py\n{text.strip()}\n```" for peer, text in {**NAMES, "calibrant": OURS}.items()),
    ]
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    (Path(__file__).parents[1] / "docs" / "conformance.md").write_text(page(), encoding="utf-8")
