"""What the pages say about this paper, as rows."""

from __future__ import annotations

from studies.claims import Claim, Paper
from studies.survey.coverage import COVERAGE

CLAIMS: tuple[Claim, ...] = ()

PAPER = Paper(
    name="survey",
    title="Classifier calibration: a survey",
    authors="Silva Filho, Song, Perello-Nieto, Santos-Rodriguez, Kull and Flach",
    venue="Machine Learning 2023",
    command="make reproduce-survey",
    minutes=5,
    page="survey-calibrators.md",
    claims=CLAIMS,
    coverage=COVERAGE,
)
