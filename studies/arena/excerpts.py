"""What docs/calibrators.md and docs/evidence-scaling.md take from the arena: python -m studies.arena.page puts it there."""

from __future__ import annotations

import re

from studies.arena.groups import GROUPS, enough, interval, percent, shown, tables_of
from studies.arena.measures import differences, harm, leaders, mean_rank, ranks
from studies.arena.methods import NONE, PEERS
from studies.arena.results import Result
from studies.markdown import table

BEST = 8
"""So many methods are named in a cell at most."""

MARKS = ("<!-- from the arena: python -m studies.arena.page -->", "<!-- end of what is from the arena -->")


def recommendations(results: list[Result]) -> str:
    """What leads on the data sets kept apart, by classes and rows; empty where there are too few sets."""
    lines = []
    for two, group in GROUPS.items():
        for size, one in enough(tables_of(results, two)).items():
            first, level = leaders(one)
            mine = [m for m in (first, *level) if m not in PEERS and m != NONE]
            if not mine:
                continue
            share = {m: harm(one)[one.column(m)].value for m in mine}
            least = min(mine, key=lambda m: share[m])
            lines.append(
                [
                    group.lower(),
                    f"{size:,}",
                    f"{shown(mine[0])}, {percent(share[mine[0]])} %",
                    ", ".join(shown(m) for m in mine[1:BEST]) or "none",
                    f"{shown(least)}, {percent(share[least])} %",
                    str(one.n_sets),
                ]
            )
    head = [
        "classes",
        "rows",
        "lowest mean rank, and its harm",
        "not clearly behind",
        "least harm of these",
        "data sets",
    ]
    if not lines:
        return ""
    intro = (
        "From the [arena](arena.md), on data sets that no method of this library was designed on. After each method stands the "
        "share of its "
        "experiments in which the log loss is higher than without calibration."
    )
    return f"{intro}\n\n{table(head, lines)}"


def put(text: str, block: str) -> str:
    """Replace what stands between the marks."""
    between = re.compile(f"{re.escape(MARKS[0])}.*?{re.escape(MARKS[1])}", flags=re.S)
    return between.sub(lambda _: f"{MARKS[0]}\n\n{block}\n\n{MARKS[1]}", text)


def standing(results: list[Result], method: str, beside: str = "safe") -> str:
    """Where one method stands: its mean rank, how far the best other one is behind, and its harm beside that of another."""
    lines = []
    for two, group in GROUPS.items():
        for size, one in enough(tables_of(results, two)).items():
            rank = dict(zip(one.methods, mean_rank(one), strict=True))
            other = min((m for m in one.methods if m != method), key=lambda m: rank[m].value)
            gap = differences(one, ranks, method)[other]
            share = [f"{100 * harm(one)[one.column(m)].value:.1f}" for m in (method, beside)]
            ranked = [interval(rank[method], "{:.1f}"), shown(other), interval(gap, "{:+.1f}")]
            lines.append([group.lower(), f"{size:,}", str(one.n_sets), *ranked, *share])
    head = ["classes", "rows", "data sets", "mean rank", "best other method", "its mean rank less this one"]
    return table([*head, "harm, %", f"harm of {shown(beside)}, %"], lines)
