"""What the pages say about this paper, as rows."""

from __future__ import annotations

from studies.claims import Claim, Paper
from studies.survey import (
    claims_binning,
    claims_cases,
    claims_isotonic,
    claims_matrix,
    claims_sigmoids,
    claims_tables,
    claims_tests,
    claims_vector,
)
from studies.survey.coverage import COVERAGE

CLAIMS: tuple[Claim, ...] = (
    *claims_tables.CLAIMS,
    *claims_cases.CLAIMS,
    *claims_binning.CLAIMS,
    *claims_isotonic.CLAIMS,
    *claims_sigmoids.CLAIMS,
    *claims_vector.CLAIMS,
    *claims_matrix.CLAIMS,
    *claims_tests.CLAIMS,
)

PAPER = Paper(
    name="survey",
    title="Classifier calibration: a survey",
    authors="Silva Filho, Song, Perello-Nieto, Santos-Rodriguez, Kull and Flach",
    venue="Machine Learning 2023",
    command="make reproduce-survey",
    minutes=2,
    page="survey-calibrators.md",
    claims=CLAIMS,
    coverage=COVERAGE,
)
