"""What the paper proves and defines: isotonic regression, its ROC curve, monotony of several classes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np

from calibrant import IsotonicCalibration
from calibrant.calibrators import IsotonicRecursivePartitioning, MulticlassRecursivePartitioning
from calibrant.calibrators.linear import Splits
from calibrant.curves import roc_surface
from calibrant.metrics import volume_under_surface_score
from studies.claims import Claim, Numbers, Verdict
from studies.judging import all_of, holds
from studies.roc_isotonic.authors import irp, partitioning
from studies.roc_isotonic.forecasts import Forecasts, covertype, of_paper
from studies.roc_isotonic.methods import AUTHORS, ISOTONIC, PUBLISHED, on_paper
from studies.roc_isotonic.study import FIRST_SEED

ROUNDING = 1e-12
TIES = 2
"""Decimals to which predictions are rounded to make ties."""

MANY_THRESHOLDS = 20_000

EXACT = "to 1e-12"


def problems() -> Iterator[tuple[str, Forecasts]]:
    """Two classes: the paper's rows, other splits and other models, each as it is and with ties."""
    found = {"paper's rows": of_paper(2)}
    for seed in range(FIRST_SEED, FIRST_SEED + 3):
        for model in ("logistic regression", "naive Bayes", "random forest"):
            found[f"{model}, split {seed}"] = covertype(2, seed, model=model)
    for name, of in found.items():
        yield name, of
        score = np.round(of.p[:, 1], TIES)
        yield f"{name}, rounded", Forecasts(np.column_stack([1.0 - score, score]), of.y, of.p_test, of.y_test)


def isotonic() -> IsotonicCalibration:
    """Isotonic regression, of which values may be 0 and 1."""
    return IsotonicCalibration(finite=None)


def measure_proposition() -> Numbers:
    gaps = []
    for _, of in problems():
        value = isotonic().fit(of.p, of.y).predict_proba(of.p)[:, 1]
        gaps.append(max(abs(of.y[value == one].mean() - one) for one in np.unique(value)))
    return {"gaps": [float(gap) for gap in gaps]}


def judge_largest(gaps: list[float]) -> Verdict:
    return holds(max(gaps) <= ROUNDING)


PROPOSITION = Claim(
    key="calibrated-on-its-rows",
    where="Proposition 2.1",
    sentence="Isotonic regression has a calibration error of zero on the rows that it is fitted to.",
    target="in each bin the value is the event rate, in all problems",
    tolerance=EXACT,
    says=Verdict.HOLDS,
    measure=measure_proposition,
    judge=judge_largest,
    words=lambda gaps: (
        f"The largest gap of {len(gaps)} problems of two classes, half of them with ties, is {max(gaps):.1g}"
    ),
    over="gaps",
)


def roc_corners(y: np.ndarray, score: np.ndarray) -> list[tuple[int, int]]:
    """Rows without and with the event at or above each distinct score, from the highest on: the ROC curve in counts."""
    _, of = np.unique(-score, return_inverse=True)
    return [(0, 0), *zip(*(np.cumsum(np.bincount(of, y == k)).astype(int).tolist() for k in (0, 1)), strict=True)]


def upper_hull(points: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The corners of the least concave curve above points that rise."""
    hull: list[tuple[int, int]] = []
    for x, y in points:
        while len(hull) > 1 and (hull[-1][1] - hull[-2][1]) * (x - hull[-1][0]) <= (y - hull[-1][1]) * (
            hull[-1][0] - hull[-2][0]
        ):
            hull.pop()
        hull.append((x, y))
    return hull


def roc_against_hull(y: np.ndarray, before: np.ndarray, after: np.ndarray) -> list[int]:
    """Corners of the hull before, and how many corners the hull before and the curve after do not share."""
    hull = set(upper_hull(roc_corners(y, before)))
    return [len(hull), len(hull ^ set(roc_corners(y, after)))]


def measure_theorem() -> Numbers:
    return {
        "corners": [
            roc_against_hull(of.y, of.p[:, 1], isotonic().fit(of.p, of.y).predict_proba(of.p)[:, 1])
            for _, of in problems()
        ]
    }


THEOREM = Claim(
    key="roc-hull",
    where="Theorem 2.1",
    sentence="After isotonic regression the ROC curve equals the hull of the earlier one.",
    target="the curve after and the hull before have the same corners, counted in rows, in all problems",
    says=Verdict.HOLDS,
    measure=measure_theorem,
    judge=lambda corners: holds(all(differ == 0 for _, differ in corners)),
    words=lambda corners: (
        f"In {sum(differ == 0 for _, differ in corners)} of {len(corners)} problems, half of them with ties, with "
        f"{min(n for n, _ in corners)} to {max(n for n, _ in corners)} corners; a property test of the library draws others"
    ),
    over="corners",
)


def measure_infinite() -> Numbers:
    zeros = []
    for name, of in problems():
        if not name.endswith("rounded"):
            fitted = isotonic().fit(of.p, of.y).predict_proba(of.p_test)
            zeros.append(int((fitted[np.arange(of.y_test.size), of.y_test] == 0).sum()))
    return {"zeros": zeros, "smooth": on_paper(2)[ISOTONIC][0]}


INFINITE = Claim(
    key="infinite-loss",
    where="2.4",
    sentence="The test cross-entropy of plain isotonic regression can be infinite.",
    target="a test row of some problem has probability zero",
    says=Verdict.HOLDS,
    measure=measure_infinite,
    judge=lambda zeros, smooth: holds(max(zeros) > 0),
    words=lambda zeros, smooth: (
        f"In {sum(n > 0 for n in zeros)} of {len(zeros)} problems some of 1000 test rows had probability zero, at most "
        f"{max(zeros)}. With smoothed ends the cross-entropy of the paper's rows is {smooth:.4f}"
    ),
    over="zeros",
)


def measure_two_classes() -> Numbers:
    same, blocks = [], []
    for _, of in problems():
        wanted = isotonic().fit(of.p, of.y).predict_proba(of.p)
        one_score = IsotonicRecursivePartitioning(max_bins=None, smoothing=0.0, softening=0.0)
        simplex = MulticlassRecursivePartitioning(max_regions=None, smoothing=0.0, softening=0.0)
        same.append(
            [
                bool(np.array_equal(one_score.fit(of.p, of.y).predict_proba(of.p), wanted)),
                bool(np.abs(simplex.fit(of.p, of.y).predict_proba(of.p) - wanted).max() <= ROUNDING),
            ]
        )
        blocks.append(int(np.unique(wanted[:, 1]).size))
    own, theirs = cuts()
    return {
        "same": same,
        "blocks": blocks,
        "grid_cuts": int(theirs.size),
        "shared_cuts": int(np.intersect1d(own, theirs).size),
    }


def cuts() -> tuple[np.ndarray, np.ndarray]:
    """Between which of the ordered fitted rows isotonic regression cuts, and the authors' algorithm."""
    of = of_paper(2)
    order = np.argsort(of.p[:, 1])
    block = isotonic().fit(of.p, of.y).predict_proba(of.p)[order, 1]
    region = irp(2).tree.index(of.p)[order]
    return np.flatnonzero(np.diff(block)), np.flatnonzero(np.diff(region))


def judge_two_classes(same: list[list[bool]], blocks: list[int], grid_cuts: int, shared_cuts: int) -> Verdict:
    return all_of(holds(all(of)) for of in zip(*same, strict=True))


def say_two_classes(same: list[list[bool]], blocks: list[int], grid_cuts: int, shared_cuts: int) -> str:
    bitwise, close = (sum(of) for of in zip(*same, strict=True))
    return (
        "Without smoothing, softening and a limit `IsotonicRecursivePartitioning` equals isotonic regression to the last bit "
        f"in {bitwise} of {len(same)} problems, half of them with ties ({blocks[0]} regions on the paper's rows), and "
        f"`MulticlassRecursivePartitioning` to 1e-12 in {close}. On the grid of the published code {grid_cuts} cuts, "
        f"{shared_cuts} of them between the same rows as those of isotonic regression"
    )


TWO_CLASSES = Claim(
    key="two-classes",
    where="3.3",
    sentence="For two classes the algorithm is isotonic recursive partitioning, and solves isotonic regression.",
    target="the calibrated values are equal in all problems",
    tolerance="none for one score, 1e-12 for the simplex",
    says=Verdict.HOLDS,
    measure=measure_two_classes,
    judge=judge_two_classes,
    words=say_two_classes,
    over="same",
)


def measure_zero_error() -> Numbers:
    gaps, published = [], []
    for k in (3, 4):
        for of in (of_paper(k), covertype(k, FIRST_SEED)):
            plain = MulticlassRecursivePartitioning(candidates=20, max_regions=None, smoothing=0.0, softening=0.0)
            gaps.append(_gap(plain.fit(of.p, of.y), of))
            published.append(_gap(partitioning(k).set_params(candidates=20).fit(of.p, of.y), of))
    return {"gaps": gaps, "published": published}


def _gap(fitted: MulticlassRecursivePartitioning, of: Forecasts) -> float:
    """Largest difference of the vector of a region and its class rates on the fitted rows."""
    region, label = fitted.cells(of.p), np.eye(of.n_classes)[of.y]
    return max(float(np.abs(fitted.value_[r] - label[region == r].mean(axis=0)).max()) for r in np.unique(region))


ZERO_ERROR = Claim(
    key="zero-error",
    where="Abstract, 3.3",
    sentence="The map for several classes has a calibration error of zero on the rows that it is fitted to.",
    target="without smoothing the vector of each region is its class rates",
    tolerance=EXACT,
    says=Verdict.HOLDS,
    measure=measure_zero_error,
    judge=lambda gaps, published: holds(max(gaps) <= ROUNDING),
    words=lambda gaps, published: (
        f"The largest gap of {len(gaps)} data sets of three and four classes is {max(gaps):.1g} without smoothing; with the "
        f"smoothing of the published code, divided by its sums, {max(published):.2f}"
    ),
    over="gaps",
)


@cache
def hulls(n_classes: int, method: str) -> tuple[float, float]:
    """Volume of the hull of the surface on the fitted rows, before and after a method, over many thresholds."""
    of = of_paper(n_classes)
    fitted = partitioning(n_classes, printed=method == AUTHORS).fit(of.p, of.y)
    before, after = (
        float(volume_under_surface_score(of.y, p, n_thresholds=MANY_THRESHOLDS))
        for p in (of.p, fitted.predict_proba(of.p))
    )
    return before, after


def measure_majorised() -> Numbers:
    return {"volumes": [[k, method, *hulls(k, method)] for k in (3, 4) for method in (PUBLISHED, AUTHORS)]}


def judge_majorised(volumes: list[list[float]]) -> Verdict:
    """Judge volumes that are exact; those of a search are at most the true ones."""
    return all_of(holds(after <= before + ROUNDING) for _, _, before, after in volumes)


MAJORISED = Claim(
    key="volume-majorised",
    where="3.4",
    sentence="The volume on the fitted rows is at most that of the convex hull of the surface before.",
    target="the volume after is not above that before",
    says=Verdict.OPEN,
    undecided="thresholds are searched, so that each volume may be a little larger",
    measure=measure_majorised,
    judge=judge_majorised,
    words=lambda volumes: (
        "; ".join(f"K = {k}, {name}: {before:.4f} before, {after:.4f} after" for k, name, before, after in volumes)
        + ". Thresholds are searched, so that each volume may be a little larger, and the published code checks monotony at "
        "the splits only, which does not give the guarantee"
    ),
    over="volumes",
)


@cache
def regions_with(n_classes: int, monotone: str, check: int | None) -> int:
    """Regions at the end, under another monotony."""
    of = of_paper(n_classes)
    fitted = MulticlassRecursivePartitioning(
        candidates=100, max_regions=None, smoothing=0.0, splits=Splits(monotone, check=check)
    ).fit(of.p, of.y)
    return len(fitted.value_)


RESTRICTIVE = Claim(
    key="too-restrictive",
    where="3.3",
    sentence="Full ROC monotony is too restrictive for any split to exist.",
    target="no split keeps Definition 3.2 at every threshold",
    says=Verdict.OPEN,
    measure=lambda: {
        "pairwise": regions_with(3, "pairwise", None),
        "exact": regions_with(3, "exact", None),
        "dense": regions_with(3, "exact", 100),
    },
    judge=lambda pairwise, exact, dense: Verdict.OPEN,
    words=lambda pairwise, exact, dense: (
        f"Seen for K = 3: {pairwise} regions with the check of the published code, {exact} where one point must part all sides "
        f"at the splits made, {dense} where it must at all points of the grid. But Definition 3.2 asks that every split of "
        "the calibrated vectors be a split of the predictions, and these check the converse"
    ),
)

SURFACES = tuple((seed, noise) for noise in (0.1, 0.2, 0.3) for seed in (0, 1))
"""The paper does not say how strong its noise is."""


def noisy(seed: int, noise: float) -> tuple[np.ndarray, np.ndarray]:
    """Predictions all over the triangle, labels by the largest entry with noise."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(3), 500)
    return p, (p + rng.normal(scale=noise, size=p.shape)).argmax(axis=1)


def measure_surfaces() -> Numbers:
    points, volumes = [], []
    for seed, noise in SURFACES:
        p, y = noisy(seed, noise)
        fitted = MulticlassRecursivePartitioning(
            candidates=100, max_regions=None, smoothing=1.0, softening=0.0, mixture=0.0
        ).fit(p, y)
        both = [roc_surface(y, q, thresholds=100) for q in (p, fitted.predict_proba(p))]
        points.append([len(np.unique(of.share, axis=0)) for of in both])
        volumes.append([float(of.volume) for of in both])
    return {"points": points, "volumes": volumes}


FEWER_POINTS = Claim(
    key="fewer-points",
    where="3.3, Fig. 7",
    sentence="The calibrated ROC surface has far fewer points than the one before.",
    target="at most a tenth of the points over a grid of 1/100, in all six data sets",
    says=Verdict.HOLDS,
    measure=measure_surfaces,
    judge=lambda points, volumes: holds(all(10 * after <= before for before, after in points)),
    words=lambda points, volumes: (
        f"{min(b for b, _ in points)} to {max(b for b, _ in points)} points before and {min(a for _, a in points)} to "
        f"{max(a for _, a in points)} after, in {len(points)} drawn data sets"
    ),
    over="points",
)

COVERS = Claim(
    key="covers-surface",
    where="3.3, Fig. 7",
    sentence="The calibrated surface appears to cover the one before.",
    target="the volume of the hull is not smaller after",
    says=Verdict.OPEN,
    undecided="the paper says how it looks in a figure, and not how strong its noise is",
    measure=measure_surfaces,
    judge=lambda points, volumes: holds(all(after >= before for before, after in volumes)),
    words=lambda points, volumes: (
        f"Volumes of the hulls over the same grid: after less before {min(a - b for b, a in volumes):+.4f} to "
        f"{max(a - b for b, a in volumes):+.4f} in {len(volumes)} data sets. The paper says how it looks in a figure, not how "
        "strong its noise is"
    ),
    over="volumes",
)

THEORY = (PROPOSITION, THEOREM, INFINITE, ZERO_ERROR, TWO_CLASSES, RESTRICTIVE, FEWER_POINTS, COVERS, MAJORISED)
