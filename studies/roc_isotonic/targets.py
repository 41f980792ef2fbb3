"""Figures of the paper's experiment that an independent port of the published code gave, held against those found here."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from calibrant import IsotonicCalibrator
from studies.markdown import table
from studies.roc_isotonic.authors import Path, irp
from studies.roc_isotonic.forecasts import of_paper

DIGITS = 6

AT_THE_END: dict[int, dict[str, float]] = {
    2: {"loss": 0.489725, "test_loss": 0.493222, "normalised": 0.539742, "test_volume": 0.810613},
    3: {
        "loss": 0.711578,
        "test_loss": 0.545919,
        "normalised": 0.636891,
        "volume": 0.756642,
        "test_volume": 0.712374,
    },
}
AT_THE_BEGINNING: dict[int, dict[str, float]] = {
    2: {"loss": 0.565000, "test_loss": 0.522089, "volume": 0.872809},
    3: {"loss": 1.006905, "test_loss": 0.594621, "volume": 0.760733, "test_volume": 0.730387},
}
REGIONS = {2: list(range(1, 17)), 3: [1, 3, 5, 7, 9, 10, 11, 12, 13, 14, 15, 16]}
FIRST_SPLITS = {
    2: [[0.453], [0.715], [0.249], [0.849], [0.392]],
    3: [[0.29, 0.37, 0.34], [0.20, 0.70, 0.10], [0.00, 0.08, 0.92], [0.73, 0.27, 0.00]],
}
"""Of two classes the first coordinate."""

WORDS = {
    "loss": "regularised cross-entropy, fitted rows",
    "test_loss": "cross-entropy, test rows",
    "normalised": "the same of rows divided by their sums",
    "volume": "volume, fitted rows",
    "test_volume": "volume, test rows",
}


def lines(n_classes: int) -> Iterator[tuple[str, str, str]]:
    """What is compared, the target, and what came out."""
    path = irp(n_classes)
    for word, of, targets in (
        ("before", path.before, AT_THE_BEGINNING[n_classes]),
        ("at the end", path.stages[-1], AT_THE_END[n_classes]),
    ):
        for name, target in targets.items():
            yield f"{WORDS[name]}, {word}", f"{target:.{DIGITS}f}", f"{getattr(of, name):.{DIGITS}f}"
    yield "numbers of regions", str(REGIONS[n_classes]), str([one.n_regions for one in path.stages])
    yield "first splits", str(FIRST_SPLITS[n_classes]), str(_first_splits(path, n_classes))
    if n_classes == 2:
        yield "blocks of isotonic regression", "16", str(1 + cuts()[0].size)


def _first_splits(path: Path, n_classes: int) -> list[list[float]]:
    wanted = FIRST_SPLITS[n_classes]
    return np.round(path.tree.gamma[: len(wanted), : len(wanted[0])], 9).tolist()  # type: ignore[no-any-return]


def cuts(n_classes: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Between which of the ordered fitted rows isotonic regression cuts, and the authors' algorithm."""
    of = of_paper(n_classes)
    order = np.argsort(of.p[:, 1])
    block = IsotonicCalibrator(finite=None).fit(of.p, of.y).predict_proba(of.p)[order, 1]
    region = irp(n_classes).tree.index(of.p)[order]
    return np.flatnonzero(np.diff(block)), np.flatnonzero(np.diff(region))


def agreeing() -> tuple[int, int]:
    """How many of the targets come out to the last digit, and how many there are."""
    found = [target == value for n_classes in AT_THE_END for _, target, value in lines(n_classes)]
    return sum(found), len(found)


def target_table(n_classes: int) -> str:
    """All of them."""
    body = [
        [what, target, value, "**the same**" if target == value else "**differs**"]
        for what, target, value in lines(n_classes)
    ]
    return table([f"K = {n_classes}", "target", "here", ""], body)
