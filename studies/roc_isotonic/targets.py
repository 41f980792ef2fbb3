"""Figures of the paper's experiment that independent ports of the published code gave, and those found here."""

from __future__ import annotations

from dataclasses import dataclass

from studies.markdown import table
from studies.roc_isotonic.authors import Path, irp

FIGURE = {2: "Fig. 2", 3: "Fig. 4", 4: "Fig. 5"}
"""The figure of so many classes."""

VOLUME_OF_FOUR = 5e-4
"""Volumes of four classes hang on the grid of thresholds: grids of 20 to 60 steps differ by this much."""

WORDS = {
    "n_regions": "number of regions",
    "loss": "regularised cross-entropy, fitted rows",
    "test_loss": "cross-entropy, test rows",
    "normalised": "the same of rows divided by their sums",
    "volume": "volume, fitted rows",
    "test_volume": "volume, test rows",
}

AT_THE_BEGINNING: dict[int, dict[str, float]] = {
    2: {"loss": 0.565000, "test_loss": 0.522089, "volume": 0.872809},
    3: {"loss": 1.006905, "test_loss": 0.594621, "volume": 0.760733, "test_volume": 0.730387},
    4: {"test_loss": 0.6874},
}
AT_THE_END: dict[int, dict[str, float]] = {
    2: {"loss": 0.489725, "test_loss": 0.493222, "normalised": 0.539742, "test_volume": 0.810613, "n_regions": 16},
    3: {
        "loss": 0.711578,
        "test_loss": 0.545919,
        "normalised": 0.636891,
        "volume": 0.756642,
        "test_volume": 0.712374,
        "n_regions": 16,
    },
    4: {"test_loss": 0.6341, "normalised": 0.7677, "volume": 0.6734, "test_volume": 0.5758, "n_regions": 23},
}
DIGITS = {2: 6, 3: 6, 4: 4}


@dataclass(frozen=True)
class Target:
    """A figure that a port gave, and the one found here."""

    what: str
    target: float
    found: float
    digits: int
    tolerance: float

    @property
    def agrees(self) -> bool:
        """Whether they are the same, as far as the target is known."""
        return abs(self.found - self.target) <= self.tolerance


def targets(n_classes: int) -> list[Target]:
    """All of a figure of the paper."""
    path, found = irp(n_classes), []
    for when, of, wanted in (
        ("before", path.before, AT_THE_BEGINNING[n_classes]),
        ("at the end", path.stages[-1], AT_THE_END[n_classes]),
    ):
        for name, target in wanted.items():
            value = float(getattr(of, name))
            found.append(Target(f"{WORDS[name]}, {when}", target, value, *_precision(n_classes, name)))
    return found + _path_targets(path, n_classes)


def _precision(n_classes: int, name: str) -> tuple[int, float]:
    if name == "n_regions":
        return 0, 0.0
    digits = DIGITS[n_classes]
    tolerance = VOLUME_OF_FOUR if n_classes == 4 and "volume" in name else 0.5 * 10.0**-digits
    return digits, tolerance


REGIONS = {2: list(range(1, 17)), 3: [1, 3, 5, 7, 9, 10, 11, 12, 13, 14, 15, 16]}
FIRST_SPLITS = {
    2: [[0.453], [0.715], [0.249], [0.849], [0.392]],
    3: [[0.29, 0.37, 0.34], [0.20, 0.70, 0.10], [0.00, 0.08, 0.92], [0.73, 0.27, 0.00]],
}
"""Of two classes the first coordinate."""


def _path_targets(path: Path, n_classes: int) -> list[Target]:
    """The coordinates of the first splits, and the regions at each stage."""
    if n_classes not in REGIONS:
        return []
    found = [
        Target(f"split {s + 1}, coordinate {k + 1}", coordinate, float(path.tree.gamma[s, k]), 3, 1e-9)
        for s, gamma in enumerate(FIRST_SPLITS[n_classes])
        for k, coordinate in enumerate(gamma)
    ]
    stages = zip(REGIONS[n_classes], path.stages, strict=True)
    return [
        *found,
        *(Target(f"regions at stage {s + 1}", n, one.n_regions, 0, 0.0) for s, (n, one) in enumerate(stages)),
    ]


def target_table(n_classes: int) -> str:
    """The figures before and at the end."""
    body = [
        [one.what, f"{one.target:.{one.digits}f}", f"{one.found:.{one.digits}f}", "yes" if one.agrees else "**no**"]
        for one in targets(n_classes)
        if not one.what.startswith("regions at stage")
    ]
    return table([f"{FIGURE[n_classes]}, K = {n_classes}", "target", "here", "agrees"], body)
