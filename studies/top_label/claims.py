"""What the pages say about this paper, as rows."""

from __future__ import annotations

from studies.claims import Claim, Paper
from studies.top_label import claims_forests, claims_networks, claims_theory
from studies.top_label.coverage import COVERAGE

CLAIMS: tuple[Claim, ...] = (*claims_theory.CLAIMS, *claims_networks.CLAIMS, *claims_forests.CLAIMS)

PAPER = Paper(
    name="top_label",
    title="Top-label calibration and multiclass-to-binary reductions",
    authors="Gupta and Ramdas",
    venue="ICLR 2022",
    command="make reproduce-top-label",
    minutes=2,
    page="top-label.md",
    claims=CLAIMS,
    coverage=COVERAGE,
    note="Read from slides on the paper; a misprint named here is one of the slides and may not be in the paper.",
)
