"""What the paper says of its experiments: Figures 2, 4 and 5, and the text of 2.4 and 3.4."""

from __future__ import annotations

from typing import Any

import numpy as np

from studies.claims import Claim, Numbers, Verdict
from studies.judging import above_zero, all_of, below_zero, holds, mean_and_error, under_all_readings
from studies.roc_isotonic.authors import irp, total
from studies.roc_isotonic.methods import AUTHORS, BEFORE, LAPLACE_ALL, MATRIX, PUBLISHED, TEMPERATURE
from studies.roc_isotonic.over_splits import SAME_SIZES, SPLITS, courses
from studies.roc_isotonic.study import BAYES, CASES, FOREST, LOGISTIC, differences, gained, is_better
from studies.roc_isotonic.targets import FIGURE, VOLUME_OF_FOUR, targets

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
        judge=judge_figures,
        words=say_figures,
        over="figures",
    )


def judge_figures(figures: list[list[float]]) -> Verdict:
    return holds(all(abs(found - target) <= tolerance for _, target, found, tolerance in figures))


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


def measure_drawn() -> Numbers:
    return {"losses": [[irp(k).before.test_loss, irp(k).stages[-1].test_loss] for k in CLASSES]}


LOWER_AS_DRAWN = Claim(
    key="lower-as-drawn",
    where="Fig. 2, 4, 5",
    sentence="The curves of the test cross-entropy end lower than before calibration, as the figures draw them.",
    target="lower for two, three and four classes",
    says=Verdict.HOLDS,
    measure=measure_drawn,
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
