"""Judge the claims about the survey, draw its 21 figures, write docs/survey-calibrators.md: python -m studies.survey

With numbers it draws these figures and nothing else: python -m studies.survey 4 17
"""

from __future__ import annotations

import csv
import re
import sys
import warnings
from collections import Counter
from pathlib import Path

from studies.claims import ASSERTED, Row, Verdict, claims_table, coverage_table, filled, run
from studies.survey import cases as sv
from studies.survey.claims import PAPER
from studies.survey.pictures import PICTURES, draw

DOCS = Path(__file__).parents[2] / "docs"
FIGURES = DOCS / "survey.md"
BEGIN, END = "<!-- figures: written by python -m studies.survey -->\n", "<!-- end of figures -->"


def summary(rows: list[Row]) -> str:
    """What was found, in a few sentences, from the rows."""
    said = {claim.key: claim.says for claim in PAPER.claims}
    counts, judged = Counter(said.values()), [v for v in said.values() if v in ASSERTED]
    numbers = {row.key: row.numbers for row in rows}
    highest = numbers["capped"]["highest"]
    fails = ", ".join(f"{claim.where} (`{claim.key}`)" for claim in PAPER.claims if claim.says is Verdict.FAILS)
    return "\n".join(
        [
            f"* **{len(judged)} sentences are judged**, {counts[Verdict.HOLDS]} of which hold, "
            f"{counts[Verdict.IN_PART]} in part and {counts[Verdict.FAILS]} not: {fails}. "
            f"{counts[Verdict.MISPRINT]} are misprints: figures from the rounded entries of tables, and equations.",
            f"* **{counts[Verdict.OPEN]} sentences are not decided**, each with its reason.",
            f"* **Networks differ.** The survey shows one network of two classes and one of three. Here are {len(sv.NETWORKS)} "
            "of each, trained as it says, and what holds for one often does not hold for the next.",
            "* **Class 3 can be read in two ways.** The survey prints class 3 as Gaussian(0, 8) and does not say whether "
            f"8 is a variance or a standard deviation. Its posterior reaches {highest['variance']['bayes']:.3f} with "
            f"the one and {highest['standard deviation']['bayes']:.3f} with the other, which the "
            f"caption of Fig. 20 picks. There are {len(sv.NETWORKS)} networks of each reading.",
        ]
    )


def page(rows: list[Row]) -> str:
    """The whole page."""
    return filled(
        Path(__file__).with_name("page.md"), summary=summary(rows), coverage=coverage_table(PAPER.coverage), rows=sv.ROWS,
        draws=sv.DRAWS, many=sv.MANY, sets=sv.SETS, networks=len(sv.NETWORKS), n_points=len(sv.the_case("bayes-optimal").x),
        claims=claims_table(PAPER.claims, rows), network=sv.NETWORK,
        **{family: sv.of_two(list(methods)) for family, methods in sv.BINARY.items()},
        variance=sv.of_three_classes(sv.READINGS[0]), deviation=sv.of_three_classes(sv.READINGS[1]),
    )  # fmt: skip


def figures(rows: list[Row]) -> str:
    """The 21 figures, each with what is said of it and what was found."""
    by_key = {row.key: row for row in rows}
    with Path(__file__).with_name("figures.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    found = []
    for line in lines:
        number, title = line["number"], line["title"]
        found += [f"### Fig. {number}: {title}\n", line["what"] + "\n"]
        found.append(f"![Fig. {number}: {title}](images/survey/fig-{number}.png)\n")
        said = [claim for claim in PAPER.claims if re.search(rf"Fig\. {number}\b", claim.where)]
        found += [f"* {claim.sentence} **{claim.says!s}**: {by_key[claim.key].evidence}." for claim in said]
        found += [""] if said else []
    return "\n".join(found)


def main(numbers: list[int]) -> None:
    """Measure and judge the claims, draw the pictures and write the pages; or draw some pictures."""
    warnings.simplefilter("ignore")
    rows = [] if numbers else run(PAPER)
    for number in numbers or PICTURES:
        print(f"picture {number}", flush=True)
        draw(number)
    if rows:
        print("pages", flush=True)
        PAPER.publish(page(rows))
        before, _, rest = FIGURES.read_text(encoding="utf-8").partition(BEGIN)
        FIGURES.write_text(
            before + BEGIN + "\n" + figures(rows) + "\n" + END + rest.partition(END)[2], encoding="utf-8"
        )


if __name__ == "__main__":
    main([int(number) for number in sys.argv[1:]])
