"""What the pages say about this paper, as rows."""

from __future__ import annotations

from studies.claims import Claim, Paper
from studies.tce.claims_networks import BINS, IMAGENET
from studies.tce.claims_simulation import SIMULATION
from studies.tce.claims_uci import UCI
from studies.tce.coverage import COVERAGE

CLAIMS: tuple[Claim, ...] = (*BINS, *SIMULATION, *UCI, *IMAGENET)

PAPER = Paper(
    name="tce",
    title="TCE: a test-based approach to measuring calibration error",
    authors="Matsubara, Tax, Mudd and Guy",
    venue="UAI 2023",
    command="make reproduce-tce",
    minutes=8,
    page="tce.md",
    claims=CLAIMS,
    coverage=COVERAGE,
)
