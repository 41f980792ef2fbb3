"""Write docs/claims.md from the stored rows of every paper: python -m studies."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from studies.claims import Paper, Verdict, claims_table
from studies.coverage import State, counts
from studies.markdown import table
from studies.papers import PAPERS

PAGE = Path(__file__).parents[1] / "docs" / "claims.md"


def page() -> str:
    """Return the whole page."""
    parts = [
        "# Claims",
        "Every sentence that these pages say about one of the five papers, with the numbers behind it. "
        "`python -m studies` makes this page from the rows that the commands below stored; a command fails if a row says "
        "more than its numbers. A verdict against the authors rests on more than one network, split or data set, or on a "
        "counterexample; a sentence for which the numbers do not suffice is *not decided*.",
        "## How much of each paper",
        "Sections, definitions, algorithms, figures and tables.",
        _coverage_counts(),
        "## What came out",
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
