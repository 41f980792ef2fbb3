"""What the survey says of empirical binning (its figure 13)."""

from __future__ import annotations

from typing import Any

from studies.claims import Claim, Verdict
from studies.judging import on_several
from studies.survey import judges, sentences
from studies.survey.cases import DRAWS
from studies.survey.judges import CLEARLY, CLOSE, FALLS
from studies.survey.measures import logistic, near, network, parts
from studies.survey.sentences import each, extent
from studies.survey.two_errors import LOGISTIC, fitted

BINS = "10 bins"


def bins_used() -> dict[str, Any]:
    """Return how many bins hold rows, for each calibration set."""
    used = {n: [int((fitted(n, BINS, s).count_ > 0).sum()) for s in range(DRAWS)] for n in LOGISTIC}
    return {"cases": used, "bins": 10}


CLAIMS: tuple[Claim, ...] = (
    Claim(
        key="binning-values",
        where="Fig. 13",
        sentence="Binning gives 10 values or fewer; fewer in the under-confident case, where outer bins are empty.",
        target="at most 10 bins with rows, always fewer in the under-confident case",
        says=Verdict.HOLDS,
        measure=bins_used,
        judge=judges.few_values,
        words=lambda cases, bins: "Bins with rows: " + each({n: extent(counts) for n, counts in cases.items()}),
    ),
    Claim(
        key="binning-works",
        where="Fig. 13",
        sentence="Binning works well, with most points close to the diagonal: the two logistic cases.",
        target=f"{FALLS}, and more than half of the predictions have abs(S - C) below {CLOSE}",
        says=Verdict.HOLDS,
        measure=logistic(near, BINS),
        judge=judges.in_each(judges.on_the_diagonal),
        words=sentences.in_words(sentences.near_the_diagonal),
    ),
    Claim(
        key="binning-works-network",
        where="Fig. 13",
        sentence="Binning works well, with most points close to the diagonal: the neural network.",
        target="the same, for every one of several networks",
        says=Verdict.OPEN,
        measure=network(near, BINS),
        judge=on_several(judges.on_the_diagonal),
        words=sentences.of_networks(sentences.near_the_diagonal),
    ),
    Claim(
        key="binning-grouping",
        where="Section 5.3",
        sentence="Binning trades calibration loss for grouping loss: the two logistic cases.",
        target=f"calibration loss falls and grouping loss rises {CLEARLY}",
        says=Verdict.HOLDS,
        measure=logistic(parts, BINS),
        judge=judges.in_each(judges.traded),
        words=sentences.in_words(sentences.exchanged),
    ),
    Claim(
        key="binning-grouping-network",
        where="Section 5.3",
        sentence="Binning trades calibration loss for grouping loss: the neural network.",
        target="the same, for every one of several networks",
        says=Verdict.OPEN,
        measure=network(parts, BINS),
        judge=on_several(judges.traded),
        words=sentences.of_networks(sentences.exchanged),
    ),
)
