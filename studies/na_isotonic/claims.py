"""What the pages say about this paper, as rows: of the methods, of pairs of them, and of standings."""

from __future__ import annotations

from studies.claims import Claim, Paper
from studies.na_isotonic.claims_methods import CLAIMS as METHODS
from studies.na_isotonic.claims_pairs import CLAIMS as PAIRS
from studies.na_isotonic.claims_ranks import CLAIMS as RANKS
from studies.na_isotonic.coverage import COVERAGE

CLAIMS: tuple[Claim, ...] = (*METHODS, *PAIRS, *RANKS)

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
