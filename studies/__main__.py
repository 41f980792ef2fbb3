"""Write docs/claims.md from the stored rows of every paper: python -m studies."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from studies.claims import Paper, Verdict, claims_table
from studies.coverage import State, counts
from studies.markdown import table
from studies.papers import PAPERS

PAGE = Path(__file__).parents[1] / "docs" / "claims.md"

VERDICTS = "\n".join(
    [
        "* **holds**, **does not hold here**, **holds in part**: what the numbers show, on the data that the row names. A "
        "verdict against the authors rests on more than one network, split or data set and on every reading of their text, "
        "or on a counterexample.",
        "* **not decided**: the numbers do not suffice, or differ between readings of the text.",
        "* **not judged**: no numbers of ours could contradict it, such as the time of a program on the authors' machine.",
    ]
)


def page() -> str:
    """Return the whole page."""
    parts = [
        "# Claims",
        "What these pages say about five papers, sentence by sentence: the sentence in our words, what was computed, what it "
        "takes to hold, and a verdict.",
        VERDICTS,
        "The commands below compute the numbers and store them; a command fails if a verdict is more than its numbers show. "
        "`make claims` writes this page from the stored numbers.",
        "## How much of each paper is run",
        "Counts of sections, definitions, algorithms, figures and tables. The page of each paper opens with the list.",
        _coverage_counts(),
        "## Verdicts",
        _verdict_counts(),
    ]
    for paper in PAPERS:
        parts += _section(paper)
    return "\n\n".join(parts) + "\n"


def _coverage_counts() -> str:
    body = [
        [f"[{p.title}]({p.page})", *(str(n) for n in counts(p.coverage).values()), f"`{p.command}`"] for p in PAPERS
    ]
    return table(["paper", *(str(state) for state in State), "command"], body)


def _verdict_counts() -> str:
    body = []
    for paper in PAPERS:
        found = Counter(claim.says for claim in paper.claims)
        body.append(
            [f"[{paper.title}](#{paper.name.replace('_', '-')})", *(str(found[verdict]) for verdict in Verdict)]
        )
    return table(["paper", *(str(verdict) for verdict in Verdict)], body)


def _section(paper: Paper) -> list[str]:
    return [
        f"({paper.name.replace('_', '-')})=\n## {paper.title}",
        f"{paper.authors}, {paper.venue}. `{paper.command}`, about {paper.minutes:g} minutes of processor time.",
        claims_table(paper.claims, paper.stored()),
    ]


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
