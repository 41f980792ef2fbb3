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


def divided(figures: list[list[Any]]) -> Numbers:
    """The cross-entropy at the end of vectors divided by their sums."""
    found = {what: value for what, _, value, _ in figures}
    of = {"cross-entropy, test rows, at the end": found["the same of rows divided by their sums, at the end"]}
    return {"figures": [[what, target, of.get(what, value), near] for what, target, value, near in figures]}


TOLD = {
    "regularised-mean": lambda gaps: {"gaps": [[k, published, published] for k, _, published in gaps]},
    "outside-the-simplex": lambda problems: {"problems": [[n, n, 3, *volumes] for n, _, _, *volumes in problems]},
    "zero-error": lambda gaps, published: {"gaps": published},
    "too-restrictive": lambda groups: {"groups": [of | {"kept": of["monotone"]} for of in groups]},
    "fewer-points": lambda points, volumes: {"points": [[before, before] for before, _ in points]},
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
    "stops-at-the-least": lambda rises, **_: {"rises": [[0.0 for _ in of] for of in rises]},
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
