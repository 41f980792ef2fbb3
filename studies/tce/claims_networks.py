"""What the paper says of ImageNet (4.3) and of its bins (3.3, Algorithm 3)."""

from __future__ import annotations

import numpy as np
from scipy.stats import kendalltau

from studies.claims import Claim, Numbers, Verdict
from studies.judging import holds
from studies.tce.imagenet import NETWORKS, agreeing, seconds_of_tce
from studies.tce.paper import PRINTED, SECONDS
from studies.tce.printed_bins import of_networks, of_rare_events

ROUNDING = 1e-9
OTHERS = ("ECE", "ACE", "MCE", "MCE(Q)")
ALIKE = 0.5
"""Kendall's tau above which two metrics rank alike here: three quarters of the pairs in the same order."""


def measure_printed_cut() -> Numbers:
    """Bins, largest bin and TCE of the blocks and of the printed cut."""
    drawn = of_rare_events()
    changes = [abs(one[2] - other[2]) for one, other in drawn]
    worst = drawn[int(np.argmax(changes))]
    return {
        "networks": of_networks(),
        "drawn": len(drawn),
        "joined": sum(other[0] < one[0] for one, other in drawn),
        "changed": sum(change > ROUNDING for change in changes),
        "worst": [worst[0][2], worst[1][2]],
    }


def judge_printed_cut(
    networks: list[list[list[float]]], drawn: int, joined: int, changed: int, worst: list[float]
) -> Verdict:
    return holds(joined == 0 and all(blocks[0] == cut[0] for blocks, cut in networks))


def say_printed_cut(
    networks: list[list[list[float]]], drawn: int, joined: int, changed: int, worst: list[float]
) -> str:
    parts = [
        f"{name}: {b[0]} bins of the blocks, {c[0]} of the printed cut, the largest with {b[1]} and {c[1]} rows, TCE "
        f"{b[2]:.3f} "
        f"and {c[2]:.3f}"
        for name, (b, c) in zip(NETWORKS.values(), networks, strict=True)
    ]
    return (
        "; ".join(parts)
        + f". Of {drawn} drawn problems of rare events the printed cut joins blocks in {joined} and changes TCE "
        f"in {changed}, at most {worst[1]:.1f} for {worst[0]:.1f}. It cuts where the event rate changes, so that it joins "
        "neighbouring blocks of equal rate, beyond the largest size that is allowed. The library cuts between blocks"
    )


PRINTED_CUT = Claim(
    key="algorithm-3-as-printed",
    where="Algorithm 3",
    sentence="Algorithm 3 makes the bins of PAVA-BC, which keep to the smallest and the largest size.",
    target="as many bins as blocks, in all problems",
    says=Verdict.FAILS,
    measure=measure_printed_cut,
    judge=judge_printed_cut,
    words=say_printed_cut,
    over="networks",
)


def measure_table_5() -> Numbers:
    same, cells = agreeing()
    return {"same": same, "cells": cells}


TABLE_5 = Claim(
    key="table-5",
    where="Table 5",
    sentence="The cells of AlexNet, VGG19 and ResNet18.",
    target="all cells, to the printed digits",
    says=Verdict.HOLDS,
    measure=measure_table_5,
    judge=lambda same, cells: holds(same == cells > 0),
    words=lambda same, cells: f"{same} of {cells} cells. The predictions of ResNet50 and ResNet152 are not here",
)


def measure_ranks() -> Numbers:
    cells = np.array([[float(cell) for cell in line] for line in PRINTED[5]])
    return {"taus": {m: float(kendalltau(cells[:, 0], cells[:, j]).statistic) for j, m in enumerate(OTHERS, 1)}}


RANKS = Claim(
    key="networks-ranked-alike",
    where="4.3",
    sentence="TCE largely ranks the five networks as the other metrics do.",
    target=f"Kendall's tau of the printed columns above {ALIKE:g} with most of the other metrics",
    says=Verdict.HOLDS,
    measure=measure_ranks,
    judge=lambda taus: holds(2 * sum(tau > ALIKE for tau in taus.values()) > len(taus)),
    words=lambda taus: "Kendall's tau of TCE with " + ", ".join(f"{m} {tau:+.1f}" for m, tau in taus.items()),
    over="taus",
)

TIME = Claim(
    key="time",
    where="Table 5",
    sentence="TCE of 50,000 predictions takes 71.78 seconds.",
    target="nothing to judge: the machines are not the same",
    says=Verdict.NOT_JUDGED,
    measure=lambda: {"seconds": seconds_of_tce()},
    judge=lambda seconds: Verdict.NOT_JUDGED,
    words=lambda seconds: (
        f"About {seconds:.2f} s of one core here, about {float(format(SECONDS['TCE'] / seconds, '.2g')):,.0f} times less, "
        "for the same values"
    ),
)

BINS = (PRINTED_CUT,)
IMAGENET = (TABLE_5, RANKS, TIME)
