"""What must change the verdict of each claim on this paper."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from calibrant import IsotonicCalibration
from studies.claims import Mutant, Numbers, run_with
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


PROPER = Mutant("vectors divided by their sums in place of the published ones", divided)
IDENTITY, SMOOTH = "the identity in place of isotonic regression", "smoothed ends in place of plain isotonic regression"
AS_BINNED = Mutant("IRP in place of binning", lambda rises: {"rises": [[own, own] for own, _ in rises]})

MUTANTS = {
    "calibrated-on-its-rows": Mutant(IDENTITY, instead(Identity, "calibrated-on-its-rows"), measured=True),
    "roc-hull": Mutant(IDENTITY, instead(Identity, "roc-hull"), measured=True),
    "two-classes": Mutant(IDENTITY, instead(Identity, "two-classes"), measured=True),
    "infinite-loss": Mutant(SMOOTH, instead(IsotonicCalibration, "infinite-loss"), measured=True),
    "regularised-mean": Mutant(
        "the published mean in place of the regularised one",
        lambda gaps: {"gaps": [[k, published, published] for k, _, published in gaps]},
    ),
    "outside-the-simplex": Mutant(
        "all points in place of those of the simplex",
        lambda problems: {"problems": [[n, n, 3, *volumes] for n, _, _, *volumes in problems]},
    ),
    "zero-error": Mutant("the smoothing of the published code", lambda gaps, published: {"gaps": published}),
    "too-restrictive": Mutant(
        "predictions that are not changed, which keep each split",
        lambda groups: {"groups": [of | {"kept": of["monotone"]} for of in groups]},
    ),
    "fewer-points": Mutant(
        "the identity in place of IRP", lambda points, volumes: {"points": [[before, before] for before, _ in points]}
    ),
    "volume-majorised": Mutant(
        "the identity in place of Algorithm 2",
        lambda six, drawn, **_: {"six": [six[0]] * len(six), "drawn": [[of[0]] * len(of) for of in drawn]},
    ),
    "exact-split": Mutant(
        "a search that misses a split", lambda counts, shares: {"counts": [[n, found - 1] for n, found in counts]}
    ),
    **{f"figure-{number}": PROPER for number in (2, 4, 5)},
    "figure-5-as-printed": Mutant(
        "the published code in place of Algorithm 2",
        lambda ends, splits, shared: {"ends": [ends[0], ends[0]], "shared": splits},
    ),
    "sums-of-vectors": Mutant("vectors divided by their sums", lambda sums, losses: {"sums": [1.0 for _ in sums]}),
    "lower-as-drawn": Mutant(
        "the identity in place of IRP", lambda losses: {"losses": [[before, before] for before, _ in losses]}
    ),
    "binning-over-fits": AS_BINNED,
    "monotony-prevents-over-fitting": AS_BINNED,
}
