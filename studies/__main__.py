"""Write docs/claims.md from the stored rows of every paper: python -m studies."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from studies.claims import Paper, State, Verdict, claims_table, counts, table
from studies.na_isotonic.claims import PAPER as NA_ISOTONIC
from studies.roc_isotonic.claims import PAPER as ROC_ISOTONIC
from studies.survey.claims import PAPER as SURVEY
from studies.tce.claims import PAPER as TCE
from studies.top_label.claims import PAPER as TOP_LABEL

# The five papers.


PAPERS = (SURVEY, TOP_LABEL, NA_ISOTONIC, TCE, ROC_ISOTONIC)
"""In the order of the documentation."""


STATES = "\n".join(
    [
        f"* **{State.DONE!s}**: it is in the library or was run; the verdicts say whether the result agrees with the paper.",
        f"* **{State.IN_FORM!s}**: the experiment was run as the paper describes it, on data or models that are not the "
        "paper's, or only on a part of them.",
        f"* **{State.NOT_YET!s}**: it could be done, and is not.",
        f"* **{State.LEFT_OUT!s}**: it is no part of what the library is for; [What calibrant does not do](scope.md) says "
        "why.",
        f"* **{State.NOT_POSSIBLE!s}**: what it needs is not at hand, such as data that nobody published.",
    ]
)

DATA = (
    "`make reproduce-survey` needs no other files. The other commands need data sets that are not in the repository: they "
    "read them in the folder `$CALIBRANT_DATA`, and name the files that are missing. The sources are public: predictions of "
    "networks for CIFAR-10 (`AIgen/df-posthoc-calibration` and `EFS-OpenSource/calibration-framework` on GitHub), for "
    "CIFAR-100 "
    "(the latter), and for the dogs in ImageNet (`facebookresearch/tce`); a part of Covertype and predictions for it "
    "(`eugeneberta/Calibration-ROC-IR`), and what the programs in these last two write; and Statlog (Landsat "
    "Satellite) and Spambase of the UCI repository. They are stored "
    "as arrays and tables under the names that the commands ask for."
)

PAGE = Path(__file__).parents[1] / "docs" / "claims.md"

VERDICTS = "\n".join(
    [
        "* **holds**, **does not hold here**, **holds in part**: what the numbers show, on the data that the row names. A "
        "verdict against the authors rests on more than one network, split or data set and on every reading of their text, "
        "or on a counterexample. That an identity comes out, such as a printed cell or a theorem checked on drawn rows, counts "
        "as holds.",
        "* **not decided**: the numbers do not suffice, or differ between readings of the text; where they would decide, "
        "the row says why nothing is decided.",
        "* **not judged**: no numbers of ours could contradict it, such as the time of a program on the authors' machine.",
    ]
)


def page() -> str:
    """Return the whole page."""
    parts = [
        "# Claims",
        "The sentences of five papers that are judged: the sentence in our words, what was computed, what it "
        "takes to hold, and a verdict. Not every sentence of a paper has a row.",
        VERDICTS,
        "The commands below compute the numbers and store them. Each command stops with an error if the stored "
        "numbers no longer "
        "support a verdict. `make claims` writes this page from the stored numbers.",
        DATA,
        "## How much of each paper is run",
        "Counts of sections, definitions, algorithms, figures and tables. The page of each paper opens with the list.",
        STATES,
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
        body.append([f"[{paper.title}](#{_anchor(paper.title)})", *(str(found[verdict]) for verdict in Verdict)])
    return table(["paper", *(str(verdict) for verdict in Verdict)], body)


def _anchor(heading: str) -> str:
    """Return the anchor that a heading has, here and where the page is read without Sphinx."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def _section(paper: Paper) -> list[str]:
    return [
        f"## {paper.title}",
        f"{paper.authors}, {paper.venue}. `{paper.command}`, about {paper.minutes:g} minutes of processor time."
        + (f" {paper.note}" if paper.note else ""),
        claims_table(paper.claims, paper.stored()),
    ]


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
