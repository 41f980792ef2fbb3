"""What the pages say about this paper, as rows."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from calibrant import IsotonicCalibration
from calibrant.calibrators import IsotonicRecursivePartitioning, MulticlassRecursivePartitioning
from calibrant.curves import roc_surface
from calibrant.metrics import volume_under_surface_score
from studies.claims import (
    Claim,
    Numbers,
    Paper,
    Verdict,
    above_zero,
    all_of,
    below_zero,
    holds,
    mean_and_error,
    under_all_readings,
)
from studies.roc_isotonic import exact
from studies.roc_isotonic.authors import (
    FIGURE,
    VOLUME_OF_FOUR,
    Forecasts,
    covertype,
    irp,
    of_paper,
    partitioning,
    targets,
    total,
)
from studies.roc_isotonic.study import (
    AUTHORS,
    BAYES,
    BEFORE,
    CASES,
    FIRST_SEED,
    FOREST,
    ISOTONIC,
    LAPLACE_ALL,
    LOGISTIC,
    MATRIX,
    PUBLISHED,
    SAME_SIZES,
    SPLITS,
    TEMPERATURE,
    courses,
    differences,
    gained,
    is_better,
    on_paper,
)

# What the paper says of its experiments: Figures 2, 4 and 5, and the text of 2.4 and 3.4.


CLASSES = (2, 3, 4)

NEAR = 0.002
"""Cross-entropies that are nearer than this can hardly be told apart on a figure of the paper."""


def figure(n_classes: int) -> Claim:
    """A figure, by the numbers that an independent port of the published code gave."""

    def measure() -> Numbers:
        return {"figures": [[one.what, one.target, one.found, one.tolerance] for one in targets(n_classes)]}

    return Claim(
        key=f"figure-{FIGURE[n_classes].removeprefix('Fig. ')}",
        where=FIGURE[n_classes],
        sentence=f"The curves of K = {n_classes}, as the published code draws them.",
        target="every figure that an independent port of the published code gave",
        tolerance="half of the last digit of six"
        if n_classes < 4
        else f"half of the last digit of four, {VOLUME_OF_FOUR:g} of volumes, as they hang on the grid of thresholds",
        says=Verdict.HOLDS,
        measure=measure,
        judge=lambda figures: holds(all(abs(found - target) <= tolerance for _, target, found, tolerance in figures)),
        words=say_figures,
        over="figures",
    )


def say_figures(figures: list[list[float]]) -> str:
    same = sum(abs(found - target) <= tolerance for _, target, found, tolerance in figures)
    ends = {what.removesuffix(", at the end"): found for what, _, found, _ in figures if what.endswith("at the end")}
    return (
        f"{same} of {len(figures)} figures agree; at the end {ends['number of regions']:.0f} regions, test cross-entropy "
        f"{ends['cross-entropy, test rows']:.4f}, of rows divided by their sums "
        f"{ends['the same of rows divided by their sums']:.4f}, test volume {ends['volume, test rows']:.4f}"
    )


def measure_printed() -> Numbers:
    published, printed = (irp(4, printed=of) for of in (False, True))
    gammas = [{tuple(np.round(gamma, 9).tolist()) for gamma in path.tree.gamma} for path in (published, printed)]
    ends = [path.stages[-1] for path in (published, printed)]
    names = ("n_regions", "test_loss", "normalised", "volume", "test_volume")
    return {
        "ends": [[float(getattr(end, name)) for name in names] for end in ends],
        "splits": len(gammas[1]),
        "shared": len(gammas[0] & gammas[1]),
    }


def say_printed(ends: list[list[float]], splits: int, shared: int) -> str:
    parts = [
        f"{name} {n:.0f} regions, test cross-entropy {loss:.4f} ({normalised:.4f} of rows divided by their sums), volumes "
        f"{volume:.4f} and {test:.4f}"
        for name, (n, loss, normalised, volume, test) in zip(
            ("The published code", "Algorithm 2 as printed"), ends, strict=True
        )
    ]
    return (
        f"{'. '.join(parts)}; {shared} of its {splits} splits are the same. At the first split the published code compares "
        "smoothed means of the sides with the mean of all rows, which is not smoothed"
    )


AS_PRINTED = Claim(
    key="figure-5-as-printed",
    where="Fig. 5, Algorithm 2",
    sentence="Algorithm 2 as it is printed makes Figure 5.",
    target="the same splits and the same number of regions",
    says=Verdict.FAILS,
    measure=measure_printed,
    judge=lambda ends, splits, shared: holds(shared == splits and ends[0][0] == ends[1][0]),
    words=say_printed,
    one_suffices="one figure of one data set, which the published code makes and the printed algorithm does not",
)

SUMS = Claim(
    key="sums-of-vectors",
    where="Fig. 2, 4, 5",
    sentence="The cross-entropies after calibration are those of probability vectors.",
    target="the entries of each vector sum to one",
    says=Verdict.FAILS,
    measure=lambda: {
        "sums": [total(k) for k in CLASSES],
        "losses": [[irp(k).stages[-1].test_loss, irp(k).stages[-1].normalised] for k in CLASSES],
    },
    judge=lambda sums, losses: holds(all(abs(of - 1.0) < 1e-12 for of in sums)),
    words=lambda sums, losses: "; ".join(
        f"K = {k}: they sum to {of:.4f}, and {drawn:.4f} becomes {proper:.4f} when they are divided by it"
        for k, of, (drawn, proper) in zip(CLASSES, sums, losses, strict=True)
    ),
    over="sums",
)


LOWER_AS_DRAWN = Claim(
    key="lower-as-drawn",
    where="Fig. 2, 4, 5",
    sentence="The curves of the test cross-entropy end lower than before calibration, as the figures draw them.",
    target="lower for two, three and four classes",
    says=Verdict.HOLDS,
    measure=lambda: {"losses": [[irp(k).before.test_loss, irp(k).stages[-1].test_loss] for k in CLASSES]},
    judge=lambda losses: holds(all(after < before for before, after in losses)),
    words=lambda losses: (
        "; ".join(f"K = {k}: {b:.4f} before, {a:.4f} after" for k, (b, a) in zip(CLASSES, losses, strict=True))
        + ", of vectors that do not sum to one"
    ),
    over="losses",
)

READINGS = (PUBLISHED, AUTHORS, LAPLACE_ALL)
"""The published code, Algorithm 2 as printed, and Laplace's smoothing as the text names it."""


def measure_lower() -> Numbers:
    cases = {k: next(c for c in CASES if (c.model, c.n_classes, c.n_fit) == (LOGISTIC, k, 500)) for k in CLASSES}
    others = [case for case in CASES if case.model in (BAYES, FOREST)]
    return {
        "differences": [[k, name, differences(case, name)] for k, case in cases.items() for name in READINGS],
        "elsewhere": [sum(is_better(case, PUBLISHED) for case in others), len(others)],
    }


def judge_lower(differences: list[list[Any]], elsewhere: list[int]) -> Verdict:
    """All numbers of classes, under each reading."""
    return under_all_readings(
        all_of(below_zero(of) for _, name, of in differences if name == reading) for reading in READINGS
    )


def say_lower(differences: list[list[Any]], elsewhere: list[int]) -> str:
    parts = []
    for k, name, of in differences:
        mean, error = mean_and_error(of)
        parts.append(f"K = {k}, {name}: {mean:+.4f} ± {error:.4f} over {len(of)} splits")
    return (
        f"Test cross-entropy less that before: {'; '.join(parts)}. As published, normalised, it is lower in {elsewhere[0]} of "
        f"{elsewhere[1]} naive Bayes and forest cases"
    )


LOWER = Claim(
    key="lower-of-probabilities",
    where="Fig. 2, 4, 5",
    sentence="Logistic regression, 500 rows (the paper's set-up): IRP lowers the test cross-entropy, of vectors that sum to "
    "one. (Not a sentence of the paper: the curves are plotted.)",
    target="a mean difference to no calibration below zero, by two standard errors, under three readings",
    says=Verdict.OPEN,
    undecided="it is no sentence of the paper",
    measure=measure_lower,
    judge=judge_lower,
    words=say_lower,
    over="differences",
)


def measure_rises() -> Numbers:
    return {"rises": [[[one.rise for one, _ in courses(k)], [other.rise for _, other in courses(k)]] for k in CLASSES]}


def say_rises(rises: list[list[list[float]]]) -> str:
    parts = [
        f"K = {k}, {SPLITS[k]} splits: IRP {np.mean(own):.4f}, binning {np.mean(binned):.4f}"
        for k, (own, binned) in zip(CLASSES, rises, strict=True)
    ]
    return "By how much the test cross-entropy at the end is above its least on the way, on average: " + "; ".join(
        parts
    )


OVER_FITS = Claim(
    key="binning-over-fits",
    where="2.4, 3.4",
    sentence="Recursive binning over-fits as its grid gets finer.",
    target=f"a mean rise from the least to the end above {NEAR:g}, by two standard errors, for each K",
    says=Verdict.HOLDS,
    measure=measure_rises,
    judge=lambda rises: all_of(above_zero([rise - NEAR for rise in binned]) for _, binned in rises),
    words=say_rises,
    over="rises",
)

OVER_FITS_LESS = Claim(
    key="monotony-prevents-over-fitting",
    where="2.4, 3.4",
    sentence="The monotony of IRP prevents the over-fitting that recursive binning shows.",
    target="a mean rise below that of binning, by two standard errors, for each K",
    says=Verdict.HOLDS,
    measure=measure_rises,
    judge=lambda rises: all_of(
        below_zero([one - other for one, other in zip(own, binned, strict=True)]) for own, binned in rises
    ),
    words=say_rises,
    over="rises",
)


def measure_stops() -> Numbers:
    paper = []
    for k in CLASSES:
        stages = irp(k).stages
        least = min(stages, key=lambda one: one.normalised)
        paper.append([least.n_regions, stages[-1].n_regions, stages[-1].normalised - least.normalised])
    return {"paper": paper, "rises": [[one.rise for one, _ in courses(k)] for k in CLASSES]}


def say_stops(paper: list[list[float]], rises: list[list[float]]) -> str:
    parts = [
        f"K = {k}: least at {least:.0f} of {last:.0f} regions, {more:.4f} lower than at the end; of {len(of)} other splits "
        f"{sum(rise == 0 for rise in of)} end at their least and {sum(rise < NEAR for rise in of)} within {NEAR:g} of it"
        for k, (least, last, more), of in zip(CLASSES, paper, rises, strict=True)
    ]
    return "; ".join(parts) + ". The paper does not say how near it means"


STOPS = Claim(
    key="stops-at-the-least",
    where="2.4, 3.4",
    sentence="IRP stops when the test cross-entropy is least.",
    target="the end is the least stage of the path, in each split",
    says=Verdict.OPEN,
    undecided="the paper does not say how near the end is to the least",
    measure=measure_stops,
    judge=lambda paper, rises: holds(all(rise == 0 for of in rises for rise in of)),
    words=say_stops,
    over="rises",
)


def measure_fewer() -> Numbers:
    """IRP less binning: at the same sizes, and where binning is at its best."""
    same = [
        [[one.best_within(n) - other.best_within(n) for one, other in courses(k)] for n in SAME_SIZES] for k in CLASSES
    ]
    best = [
        [one.best_within(other.n_regions[other.least]) - other.loss[other.least] for one, other in courses(k)]
        for k in CLASSES
    ]
    return {"same": same, "best": best}


def judge_fewer(same: list[list[list[float]]], best: list[list[float]]) -> Verdict:
    """Both readings: lower with as many regions, and lower than the best of binning with no more regions."""
    return under_all_readings(
        (
            all_of(below_zero(of) for sizes in same for of in sizes),
            all_of(below_zero(of) for of in best),
        )
    )


def say_fewer(same: list[list[list[float]]], best: list[list[float]]) -> str:
    def pm(of: list[float]) -> str:
        mean, error = mean_and_error(of)
        return f"{mean:+.4f} ± {error:.4f}"

    parts = [
        f"K = {k}: "
        + ", ".join(f"{pm(of)} with at most {n} regions" for n, of in zip(SAME_SIZES, sizes, strict=True))
        + f", {pm(ends)} where binning is at its best"
        for k, sizes, ends in zip(CLASSES, same, best, strict=True)
    ]
    return "Test cross-entropy of IRP less that of binning over splits: " + "; ".join(parts)


FEWER_BINS = Claim(
    key="fewer-bins",
    where="2.4, 3.4",
    sentence="IRP has a lower test cross-entropy than recursive binning with fewer bins.",
    target="mean differences below zero, by two standard errors, for each K, under both readings of fewer",
    says=Verdict.OPEN,
    measure=measure_fewer,
    judge=judge_fewer,
    words=say_fewer,
    over="best",
)


def measure_parametric() -> Numbers:
    cases = [case for case in CASES if case.model == LOGISTIC]
    return {
        "ahead": {
            name: sum(is_better(case, name, LAPLACE_ALL) for case in cases) for name in (BEFORE, TEMPERATURE, MATRIX)
        },
        "behind": [[case.name, *gained(case, LAPLACE_ALL, MATRIX)] for case in cases],
    }


PARAMETRIC = Claim(
    key="parametric",
    where="3.4",
    sentence="A comparison with parametric methods is left for later work.",
    target="nothing to judge: the comparison is done here",
    says=Verdict.NOT_JUDGED,
    measure=measure_parametric,
    judge=lambda ahead, behind: Verdict.NOT_JUDGED,
    words=lambda ahead, behind: (
        f"Against {LAPLACE_ALL}, test cross-entropy lower by two standard errors: "
        + ", ".join(f"{name} in {n} of {len(behind)} cases" for name, n in ahead.items())
        + "; at most {1:+.4f} ± {2:.4f} behind {MATRIX} ({0})".format(*max(behind, key=lambda of: of[1]), MATRIX=MATRIX)
    ),
)

FIGURES = (
    *(figure(k) for k in CLASSES),
    AS_PRINTED,
    SUMS,
    LOWER_AS_DRAWN,
    LOWER,
    OVER_FITS,
    OVER_FITS_LESS,
    STOPS,
    FEWER_BINS,
    PARAMETRIC,
)


# What the paper proves and defines: isotonic regression, its ROC curve, monotony of several classes.


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


PROPOSITION = Claim(
    key="calibrated-on-its-rows",
    where="Proposition 2.1",
    sentence="Isotonic regression has a calibration error of zero on the rows that it is fitted to.",
    target="in each bin the value is the event rate, in all problems",
    tolerance=EXACT,
    says=Verdict.HOLDS,
    measure=measure_proposition,
    judge=lambda gaps: holds(max(gaps) <= ROUNDING),
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


THEOREM = Claim(
    key="roc-hull",
    where="Theorem 2.1",
    sentence="After isotonic regression the ROC curve equals the hull of the earlier one.",
    target="the curve after and the hull before have the same corners, counted in rows, in all problems",
    says=Verdict.HOLDS,
    measure=lambda: {
        "corners": [
            roc_against_hull(of.y, of.p[:, 1], isotonic().fit(of.p, of.y).predict_proba(of.p)[:, 1])
            for _, of in problems()
        ]
    },
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
    judge=lambda same, blocks, grid_cuts, shared_cuts: all_of(holds(all(of)) for of in zip(*same, strict=True)),
    words=say_two_classes,
    over="same",
)


def measure_zero_error() -> Numbers:
    gaps, published = [], []
    for k in (3, 4):
        for of in (of_paper(k), covertype(k, FIRST_SEED)):
            plain = MulticlassRecursivePartitioning(candidates=20, max_regions=None, smoothing=0.0, softening=0.0)
            gaps.append(_gap(plain.fit(of.p, of.y), of))
            published.append(_gap(partitioning(k, steps=20).fit(of.p, of.y), of))
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
def hulls(n_classes: int, method: str) -> list[float]:
    """Volume of the hull on the paper's fitted rows, before and after: over all splits of three classes, over many of four."""
    of = of_paper(n_classes)
    fitted = partitioning(n_classes, printed=method == AUTHORS).fit(of.p, of.y)
    if n_classes == 3:
        return [exact.volume(of.y, p) for p in (of.p, fitted.predict_proba(of.p))]
    return [
        float(volume_under_surface_score(of.y, p, n_thresholds=MANY_THRESHOLDS))
        for p in (of.p, fitted.predict_proba(of.p))
    ]


VOLUMES = ("that of the hull", "that of tuples", "that below the surface itself")
"""What the volume after may mean; before it is that of the hull."""


def measure_majorised() -> Numbers:
    of = of_paper(3)
    best = exact.fitted(of.p, of.y).predict_proba(of.p)
    paper = [[name, *hulls(3, name)] for name in (PUBLISHED, AUTHORS)]
    return {
        "six": exact.before_and_after(*exact.SIX),
        "drawn": [exact.before_and_after(*exact.drawn(*one)) for one in exact.SMALL],
        "kept": [both for n in FIRST_SPLITS for both in exact.kept(n, PROBLEMS)["volumes"]],
        "paper": [
            *paper,
            ["all splits as candidates, plain means", exact.volume(of.y, of.p), exact.volume(of.y, best)],
        ],
        "four": [[name, *hulls(4, name)] for name in (PUBLISHED, AUTHORS)],
    }


def risen(drawn: list[list[float]]) -> list[int]:
    """In how many problems the volume after, in each of its meanings, is above that of the hull before."""
    return [sum(after[at] > before + ROUNDING for before, *after in drawn) for at in range(len(VOLUMES))]


def judge_majorised(
    six: list[float], drawn: list[list[float]], kept: list[list[float]], paper: list[Any], four: list[Any]
) -> Verdict:
    """Judge the guarantee of the definition, and that of the algorithm in every meaning of the volume after."""
    defined = holds(all(after <= before + ROUNDING for before, after in kept))
    as_run = under_all_readings([holds(not n) for n in risen([six, *drawn])])
    return all_of([defined, as_run])


def say_majorised(
    six: list[float], drawn: list[list[float]], kept: list[list[float]], paper: list[Any], four: list[Any]
) -> str:
    above = ", ".join(f"{name} in {n}" for n, name in zip(risen(drawn), VOLUMES, strict=True))
    here, four_here = (
        "; ".join(f"{name}: {before:.4f} before, {after:.4f} after" for name, before, after in of)
        for of in (paper, four)
    )
    gaps = [after - before for before, after in kept]
    return (
        "Volumes of three classes are exact, over all splits. Under Definition 3.2 the surface has no new point: the volumes "
        f"of {len(kept)} maps of one split that keep it change by {min(gaps):+.4f} to {max(gaps):+.4f}. Algorithm 2 as run "
        f"checks its own splits. Its volume is above that of the hull before in most of {len(drawn)} problems of 12 to 25 "
        f"rows: {above} (up to {max(a - b for b, a, *_ in drawn):+.4f}); "
        f"six rows in tenths go from {six[0]:.4f} to {six[1]:.4f}"
        f". On the paper's rows of three classes: {here}. Of four, where thresholds are sought and volumes may be larger: "
        f"{four_here}"
    )


MAJORISED = Claim(
    key="volume-majorised",
    where="3.4",
    sentence="The monotony criterion guarantees that the volume on the fitted rows is at most that of the hull before.",
    target="the volume after is not above that before, of maps that keep Definition 3.2 and of Algorithm 2 as run; in part: of "
    "one of them",
    tolerance=EXACT,
    says=Verdict.IN_PART,
    measure=measure_majorised,
    judge=judge_majorised,
    words=say_majorised,
    over="drawn",
)


FIRST_SPLITS, PROBLEMS = (12, 20, 30), 20
"""Numbers of rows of drawn problems all of whose first splits are decided, and how many problems of each."""

TIE = 1e-9

RARE = 0.01
"""Part of the splits that is nearly none."""


def measure_restrictive() -> Numbers:
    found = [exact.kept(n, PROBLEMS) for n in (8, *FIRST_SPLITS)] + [exact.kept(500, 1)]
    return {"groups": [{name: value for name, value in of.items() if name != "volumes"} for of in found]}


def judge_restrictive(groups: list[dict[str, int]]) -> Verdict:
    """Judge rows enough that sides are more than single rows: those of eight rows are told beside."""
    kept, monotone = (sum(of[name] for of in groups if of["n"] >= FIRST_SPLITS[0]) for name in ("kept", "monotone"))
    return Verdict.IN_PART if 0 < kept < RARE * monotone else holds(kept == 0)


def say_restrictive(groups: list[dict[str, int]]) -> str:
    parts = [
        f"{of['n']} rows: {of['kept']} of {of['monotone']}, {of['tied']} of them with class rates that tie, in "
        f"{of['with_any']} of {of['problems']} problems"
        for of in groups
    ]
    return (
        "Decided for every first split that leaves the map monotone at the split itself: each split of the calibrated vectors "
        f"is asked whether it is one of the predictions. Those that keep Definition 3.2: {'; '.join(parts)}. The last are the "
        "paper's rows. Rates tie where two sides have an equal difference of the rates of two classes, as where two classes "
        "are equally frequent on both"
    )


RESTRICTIVE = Claim(
    key="too-restrictive",
    where="3.3",
    sentence="Full ROC monotony is too restrictive for any split to exist.",
    target="no first split of 12 rows or more keeps Definition 3.2; in part: fewer than one in a hundred",
    says=Verdict.IN_PART,
    measure=measure_restrictive,
    judge=judge_restrictive,
    words=say_restrictive,
    over="groups",
)

EXACT_SPLIT = Claim(
    key="exact-split",
    where="3.4, remark",
    sentence="The best split of a region can be found exactly, where the experiments take points of a grid.",
    target="n distinct rows of three classes have (n + 2)(n + 1) / 2 - 3 splits, and no first split of other candidates is "
    "better than the best of them",
    says=Verdict.HOLDS,
    measure=lambda: {"counts": exact.counts(), "shares": exact.shares()},
    judge=lambda counts, shares: holds(
        all(found == (n + 2) * (n + 1) // 2 - 3 for n, found in counts)
        and max(max(of) for group in shares.values() for of in group) <= 1.0 + TIE
    ),
    words=lambda counts, shares: (
        f"Without a linear program: {', '.join(f'{found} splits of {n} rows' for n, found in counts)}. Quality of the first "
        "split of a grid of 1/100 over the best, mean and least: "
        + "; ".join(
            f"{name} {np.mean(of, axis=0)[-1]:.4f}, {np.min(of, axis=0)[-1]:.4f}" for name, of in shares.items()
        )
    ),
    over="counts",
)

OUTSIDE = Claim(
    key="outside-the-simplex",
    where="3.1, remark",
    sentence="With three classes the surface needs points outside the simplex: those inside cannot put all rows on one side.",
    target="in each problem there is a class on whose side no point of the simplex puts all rows",
    says=Verdict.HOLDS,
    measure=lambda: {
        "problems": [exact.inside(*exact.drawn(*one)) for one in exact.SMALL]
        + [exact.inside(of_paper(3).p, of_paper(3).y)]
    },
    judge=lambda problems: holds(all(alone < 3 for _, _, alone, *_ in problems)),
    words=lambda problems: (
        f"In {sum(alone == 0 for _, _, alone, *_ in problems)} of {len(problems)} problems, {len(problems) - 1} drawn and the "
        "paper's rows, this is so of all three classes, in the others of one or two. A point of the simplex makes "
        f"{min(near / n for n, near, *_ in problems):.0%} to {max(near / n for n, near, *_ in problems):.0%} of the splits. On "
        f"the paper's rows {problems[-1][1]} of {problems[-1][0]}: the hull has a volume of {problems[-1][3]:.4f} with these "
        f"alone, and of {problems[-1][4]:.4f} with all"
    ),
    over="problems",
)

REGULARISED = Claim(
    key="regularised-mean",
    where="2.4, remark",
    sentence="The mean with Laplace smoothing minimises H(p, y) - λ log p.",
    target="over probability vectors the minimum, found by BFGS, is at (mean + λ) / (1 + Kλ)",
    tolerance="1e-6",
    says=Verdict.HOLDS,
    measure=lambda: {"gaps": [[k, *exact.regularised(k, number)] for k in CLASSES for number in range(10)]},
    judge=lambda gaps: holds(all(gap <= 1e-6 for _, gap, _ in gaps)),
    words=lambda gaps: (
        f"At most {max(gap for _, gap, _ in gaps):.1g} away in a class, over {len(gaps)} draws of two, three and four classes. "
        "(mean + λ) / (1 + λ) of the published code is no probability vector, and up to "
        f"{max(gap for *_, gap in gaps):.2f} away; divided by its sum it is the minimum"
    ),
    over="gaps",
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

THEORY = (
    PROPOSITION,
    THEOREM,
    INFINITE,
    REGULARISED,
    OUTSIDE,
    ZERO_ERROR,
    TWO_CLASSES,
    RESTRICTIVE,
    FEWER_POINTS,
    COVERS,
    MAJORISED,
    EXACT_SPLIT,
)


CLAIMS: tuple[Claim, ...] = (*THEORY, *FIGURES)

PAPER = Paper(
    name="roc_isotonic",
    title="Classifier calibration with ROC-regularized isotonic regression",
    authors="Berta, Bach and Jordan",
    venue="AISTATS 2024",
    command="make reproduce-roc",
    minutes=9,
    page="roc-isotonic.md",
    claims=CLAIMS,
)
