"""What must change the verdict of each claim on this paper."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from calibrant import IsotonicCalibration
from studies.claims import Numbers, run_with
from studies.roc_isotonic import claims


class Identity:
    """Does nothing."""

    def fit(self, p: np.ndarray, y: np.ndarray) -> Self:
        """Return itself."""
        return self

    def predict_proba(self, p: np.ndarray) -> np.ndarray:
        """Return what it is given."""
        return p


def instead(other: Any, key: str) -> Any:
    """Return the measure of a claim with something else in place of isotonic regression."""
    return run_with(claims, "isotonic", other, next(one.measure for one in claims.CLAIMS if one.key == key))


def divided(figures: list[list[Any]], normalised: float) -> Numbers:
    """The cross-entropy at the end of vectors divided by their sums."""
    of = {"cross-entropy, test rows, at the end": normalised}
    return {"figures": [[what, target, of.get(what, value), near] for what, target, value, near in figures]}


def unchanged(surfaces: list[list[float]]) -> Numbers:
    """The surface of the predictions themselves."""
    return {"surfaces": [[before, before, before, hull, hull, 0.0, 0.0] for before, _, _, hull, *_ in surfaces]}


TOLD = {
    "regularised-mean": lambda gaps: {"gaps": [[k, published, published] for k, _, published in gaps]},
    "outside-the-simplex": lambda problems: {"problems": [[n, n, 3, *volumes] for n, _, _, *volumes in problems]},
    "zero-error": lambda gaps, published: {"gaps": published},
    "too-restrictive": lambda groups: {"groups": [of | {"kept": of["monotone"]} for of in groups]},
    "fewer-points": unchanged,
    "points-belong": unchanged,
    "keeps-surface": lambda drawn, paper: {
        "drawn": [[n, n, v, v] for n, _, v, _ in drawn],
        "paper": [[name, n, n, v, v] for name, n, _, v, _ in paper],
    },
    "fewer-bins": lambda **both: {word: [[what, [0.0] * len(of)] for what, of in one] for word, one in both.items()},
    "bin-efficiency": lambda **both: {
        word: [[what, [0.0] * len(of)] for what, of in one] for word, one in both.items()
    },
    "monotony-lessens-the-gap": lambda gaps: {"gaps": [[[line[1], *line[1:]] for line in of] for of in gaps]},
    "volume-majorised": lambda six, drawn, **_: {
        "six": [six[0]] * len(six),
        "drawn": [[of[0]] * len(of) for of in drawn],
    },
    "exact-split": lambda counts, shares: {"counts": [[n, found - 1] for n, found in counts]},
    **{f"figure-{number}": divided for number in (2, 4, 5)},
    "figure-5-as-printed": lambda ends, splits, shared: {"ends": [ends[0], ends[0]], "shared": splits},
    "sums-of-vectors": lambda sums, losses: {"sums": [1.0 for _ in sums]},
    "lower-of-probabilities": lambda differences, **_: {
        "differences": [[k, name, [-one for one in of]] for k, name, of in differences]
    },
    "lower-as-drawn": lambda losses: {"losses": [[before, before] for before, _ in losses]},
    **dict.fromkeys(
        ("binning-over-fits", "monotony-prevents-over-fitting"),
        lambda rises: {"rises": [[own, own] for own, _ in rises]},
    ),
}
"""Numbers that the mutant of a claim has otherwise, from the claim's own."""

RUN = {
    "calibrated-on-its-rows": instead(Identity, "calibrated-on-its-rows"),
    "roc-hull": instead(Identity, "roc-hull"),
    "two-classes": instead(Identity, "two-classes"),
    "infinite-loss": instead(IsotonicCalibration, "infinite-loss"),
}
"""Mutants that are measured."""
