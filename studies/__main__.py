"""Write docs/claims.md from the stored rows of every paper: python -m studies.

With names of papers their mutants are measured and stored first: python -m studies roc_isotonic. With --seed 1 their claims are
measured with other random draws, and it is said which verdicts move; nothing is written.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from pathlib import Path

from studies.claims import Paper, State, Verdict, claims_table, counts, filled, moved, store_mutants, table
from studies.na_isotonic.claims import PAPER as NA_ISOTONIC
from studies.roc_isotonic.claims import PAPER as ROC_ISOTONIC
from studies.survey.claims import PAPER as SURVEY
from studies.tce.claims import PAPER as TCE
from studies.top_label.claims import PAPER as TOP_LABEL

# The five papers.


PAPERS = (SURVEY, TOP_LABEL, NA_ISOTONIC, TCE, ROC_ISOTONIC)
"""In the order of the documentation."""


PAGE = Path(__file__).parents[1] / "docs" / "claims.md"


def page() -> str:
    """Return the whole page."""
    coverage = [
        [f"[{p.title}]({p.page})", *(str(n) for n in counts(p.coverage).values()), f"`{p.command}`"] for p in PAPERS
    ]
    verdicts = []
    for paper in PAPERS:
        found = Counter(claim.says for claim in paper.claims)
        anchor = re.sub(r"[^\w -]", "", paper.title.lower()).replace(" ", "-")  # that the heading has
        changed = [paper.mutants[claim.key] for claim in paper.asserted]
        counted = f"{len(changed)}, {sum(mutant.measured for mutant in changed)} of them run"
        verdicts.append([f"[{paper.title}](#{anchor})", *(str(found[verdict]) for verdict in Verdict), counted])
    return filled(
        Path(__file__).with_name("claims.md"),
        coverage=table(["paper", *State, "command"], coverage),
        verdicts=table(["paper", *Verdict, "mutants"], verdicts),
        papers="\n\n".join(part for paper in PAPERS for part in _section(paper)),
    )


def _section(paper: Paper) -> list[str]:
    return [
        f"## {paper.title}",
        f"{paper.authors}, {paper.venue}. `{paper.command}`, about {paper.minutes:g} minutes of processor time."
        + (f" {paper.note}" if paper.note else ""),
        claims_table(paper.claims, paper.stored(), paper.mutants),
    ]


def main() -> None:
    """Measure mutants of some papers and write the page, or say which verdicts other draws move."""
    names = [paper.name for paper in PAPERS]
    ask = argparse.ArgumentParser(prog="python -m studies", description=__doc__)
    ask.add_argument(
        "paper", nargs="*", choices=[[], *names], metavar="PAPER", help=f"measure mutants of: {', '.join(names)}"
    )
    ask.add_argument("--seed", type=int, help="say instead which verdicts move with other random draws")
    asked = ask.parse_args()
    chosen = [paper for paper in PAPERS if paper.name in asked.paper]
    if asked.seed is not None:
        for paper in chosen:
            moved(paper, asked.seed)
        return
    for paper in chosen:
        store_mutants(paper, {key: of.numbers() for key, of in paper.mutants.items() if of.measured})
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
