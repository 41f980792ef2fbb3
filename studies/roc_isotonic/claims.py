"""What the pages say about this paper, as rows."""

from __future__ import annotations

from studies.claims import Claim, Paper
from studies.roc_isotonic.claims_figures import FIGURES
from studies.roc_isotonic.claims_theory import THEORY
from studies.roc_isotonic.coverage import COVERAGE

CLAIMS: tuple[Claim, ...] = (*THEORY, *FIGURES)

PAPER = Paper(
    name="roc_isotonic",
    title="Classifier calibration with ROC-regularized isotonic regression",
    authors="Berta, Bach and Jordan",
    venue="AISTATS 2024",
    command="make reproduce-roc",
    minutes=6,
    page="roc-isotonic.md",
    claims=CLAIMS,
    coverage=COVERAGE,
)
