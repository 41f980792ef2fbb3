"""What the study of normalisation-aware isotonic calibration shows, in a few sentences."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from studies.claims import Claim, Verdict
from studies.na_isotonic.measured import METHODS
from studies.na_isotonic.ranks import (
    architectures,
    critical_difference,
    mean_rank,
    names,
    of_architecture,
    values,
)

KEEP_ORDER = ("NA-FIR", "FIR", "TS")


def summary(claims: Iterable[Claim]) -> str:
    """The sentences of the paper by verdict, and the first of the ranks."""
    by_verdict: dict[Verdict, list[str]] = {}
    for claim in claims:
        by_verdict.setdefault(claim.says, []).append(claim.sentence)
    lines = [
        f"* **{verdict!s}** ({len(by_verdict[verdict])}): {' '.join(by_verdict[verdict])}"
        for verdict in Verdict
        if verdict in by_verdict
    ]
    return "\n".join([*lines, *(_standing(metric) for metric in ("NLL", "conf-ECE"))])


def _standing(metric: str) -> str:
    """The first methods by mean rank, and which others are clearly behind."""
    of = mean_rank(metric)
    first, *others = of
    behind = [name for name in others if of[name] - of[first] > critical_difference()]
    ranks = ", ".join(f"{name} {of[name]:.1f}" for name in list(of)[:3])
    return (
        f"* With the library's defaults the first of eight by mean rank in {metric} are {ranks}; clearly behind {first} are "
        f"{', '.join(behind) or 'none'}."
    )


def accuracy_changes(method: str) -> np.ndarray:
    """What a method adds to the accuracy of each model."""
    of = values("accuracy")
    return of[:, METHODS.index(method)] - of[:, METHODS.index("Uncalibrated")]


def kept_order() -> str:
    """Which of the methods that keep the order of a row keep the prediction, too."""
    exactly = [name for name in KEEP_ORDER if not accuracy_changes(name).any()]
    tied = [name for name in KEEP_ORDER if name not in exactly]
    text = (
        f"{' and '.join(exactly) or 'No method'} leave{'s' * (len(exactly) < 2)} the accuracy of every model as it was."
    )
    if tied:
        text += (
            f" {' and '.join(tied)} keep{'s' * (len(tied) == 1)} the order of a row, but where a step ties the first two "
            "classes the first column counts as predicted."
        )
    return text


def where_fir_leads() -> str:
    """The classifiers of the models on which FIR has the lower NLL."""
    of = values("NLL")
    behind = of[:, METHODS.index("NA-FIR")] > of[:, METHODS.index("FIR")]
    count = {name: int((behind & of_architecture(name)).sum()) for name in architectures()}
    listed = ", ".join(f"{name} on {n} of {int(of_architecture(name).sum())}" for name, n in count.items() if n)
    return f"NA-FIR has a higher NLL than FIR on {int(behind.sum())} of {len(names())} models: {listed or 'none'}."
