"""What the pages say about this paper, as rows."""

from __future__ import annotations

from studies.claims import Claim, Paper
from studies.na_isotonic.coverage import COVERAGE

CLAIMS: tuple[Claim, ...] = ()

PAPER = Paper(
    name="na_isotonic",
    title="Improving multi-class calibration through normalization-aware isotonic techniques",
    authors="Arad and Rosset",
    venue="ICML 2025",
    command="make reproduce-na",
    minutes=5,
    page="na-isotonic.md",
    claims=CLAIMS,
    coverage=COVERAGE,
)
