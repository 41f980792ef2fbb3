"""The five papers."""

from __future__ import annotations

from studies.na_isotonic.claims import PAPER as NA_ISOTONIC
from studies.roc_isotonic.claims import PAPER as ROC_ISOTONIC
from studies.survey.claims import PAPER as SURVEY
from studies.tce.claims import PAPER as TCE
from studies.top_label.claims import PAPER as TOP_LABEL

PAPERS = (SURVEY, TOP_LABEL, NA_ISOTONIC, TCE, ROC_ISOTONIC)
"""In the order of the documentation."""
