"""What the pages say about this paper, as rows."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial
from typing import Any

import numpy as np

from calibrant import IsotonicCalibration
from calibrant.calibrators import IsotonicRecursivePartitioning, MulticlassRecursivePartitioning
from calibrant.metrics import volume_under_surface_score
from studies.claims import (
    Functions,
    Numbers,
    Paper,
    Verdict,
    above_zero,
    all_of,
    below_zero,
    claims_of,
    holds,
    pm,
    under_all_readings,
)
from studies.roc_isotonic import authors, exact, study

# What the paper says of its experiments: Figures 2, 4 and 5, and the text of 2.4 and 3.4.


CLASSES = (2, 3, 4)

JUDGED: dict[str, Functions] = {}
"""What measures, judges and words each claim."""

NEAR = 0.002
"""Cross-entropies that are nearer than this can hardly be told apart on a figure of the paper."""


def figure(n_classes: int) -> Functions:
    """A figure, by the numbers that an independent port of the published code gave."""
    return (
        lambda: {
            "figures": [
                [one.what, one.target, one.found, one.tolerance]
                for one in authors.targets(n_classes)
                if not one.follows
            ],
            "normalised": authors.irp(n_classes).stages[-1].normalised,
        },
        lambda figures, **_: holds(all(abs(found - target) <= tolerance for _, target, found, tolerance in figures)),
        say_figures,
    )


def say_figures(figures: list[list[float]], normalised: float) -> str:
    same = sum(abs(found - target) <= tolerance for _, target, found, tolerance in figures)
    ends = {what.removesuffix(", at the end"): found for what, _, found, _ in figures if what.endswith("at the end")}
    return (
        f"{same} of {len(figures)} figures agree, those that follow from others left out; at the end "
        f"{ends['number of regions']:.0f} regions, test cross-entropy {ends['cross-entropy, test rows']:.4f}, of rows divided "
        f"by their sums {normalised:.4f}, test volume {ends['volume, test rows']:.4f}"
    )


def measure_printed() -> Numbers:
    published, printed = (authors.irp(4, printed=of) for of in (False, True))
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


JUDGED["figure-5-as-printed"] = (
    measure_printed,
    lambda ends, splits, shared: holds(shared == splits and ends[0][0] == ends[1][0]),
    say_printed,
)

JUDGED["sums-of-vectors"] = (
    lambda: {
        "sums": [authors.total(k) for k in CLASSES],
        "losses": [[authors.irp(k).stages[-1].test_loss, authors.irp(k).stages[-1].normalised] for k in CLASSES],
    },
    lambda sums, losses: holds(all(abs(of - 1.0) < 1e-12 for of in sums)),
    lambda sums, losses: "; ".join(
        f"K = {k}: they sum to {of:.4f}, and {drawn:.4f} becomes {proper:.4f} when they are divided by it"
        for k, of, (drawn, proper) in zip(CLASSES, sums, losses, strict=True)
    ),
)


JUDGED["lower-as-drawn"] = (
    lambda: {"losses": [[authors.irp(k).before.test_loss, authors.irp(k).stages[-1].test_loss] for k in CLASSES]},
    lambda losses: holds(all(after < before for before, after in losses)),
    lambda losses: (
        "; ".join(f"K = {k}: {b:.4f} before, {a:.4f} after" for k, (b, a) in zip(CLASSES, losses, strict=True))
        + ", of vectors that do not sum to one"
    ),
)

JUDGED |= {f"figure-{authors.FIGURE[k].removeprefix('Fig. ')}": figure(k) for k in CLASSES}

READINGS = (study.PUBLISHED, study.AUTHORS, study.LAPLACE_ALL)
"""The published code, Algorithm 2 as printed, and Laplace's smoothing as the text names it."""


def measure_lower() -> Numbers:
    cases = {
        k: next(c for c in study.CASES if (c.model, c.n_classes, c.n_fit) == (study.LOGISTIC, k, 500)) for k in CLASSES
    }
    others = [case for case in study.CASES if case.model in (study.BAYES, study.FOREST)]
    return {
        "differences": [[k, name, study.differences(case, name)] for k, case in cases.items() for name in READINGS],
        "elsewhere": [study.n_better(others, study.PUBLISHED), len(others)],
    }


def judge_lower(differences: list[list[Any]], elsewhere: list[int]) -> Verdict:
    """All numbers of classes, under each reading."""
    return under_all_readings(
        all_of(below_zero(of) for _, name, of in differences if name == reading) for reading in READINGS
    )


def say_lower(differences: list[list[Any]], elsewhere: list[int]) -> str:
    parts = [f"K = {k}, {name}: {pm(of)} over {len(of)} splits" for k, name, of in differences]
    return (
        f"Test cross-entropy less that before: {'; '.join(parts)}. As published, normalised, it is lower in {elsewhere[0]} of "
        f"{elsewhere[1]} naive Bayes and forest cases"
    )


JUDGED["lower-of-probabilities"] = (measure_lower, judge_lower, say_lower)


def measure_rises() -> Numbers:
    return {
        "rises": [[[one.rise for one in of] for of in list(zip(*study.courses(k), strict=True))[:2]] for k in CLASSES]
    }


def say_rises(rises: list[list[list[float]]]) -> str:
    parts = [
        f"K = {k}, {study.SPLITS[k]} splits: IRP {pm(own, 4, '')}, binning {pm(binned, 4, '')}"
        for k, (own, binned) in zip(CLASSES, rises, strict=True)
    ]
    return (
        f"By how much the test cross-entropy at the end is above its least on the way, on average: {'; '.join(parts)}"
    )


def is_over_fitted(rises: list[float]) -> bool:
    """Whether the mean rise is above NEAR by two standard errors."""
    return above_zero([rise - NEAR for rise in rises]) is Verdict.HOLDS


JUDGED["binning-over-fits"] = (
    measure_rises,
    lambda rises: all_of(above_zero([rise - NEAR for rise in binned]) for _, binned in rises),
    say_rises,
)

JUDGED["monotony-prevents-over-fitting"] = (
    measure_rises,
    lambda rises: all_of(
        judge
        for own, binned in rises
        for judge in (below_zero(np.subtract(own, binned)), holds(not is_over_fitted(own)))
    ),
    say_rises,
)


GAPS = ("IRP", "without monotony, as many regions", "to the end", "binning, as many regions", "to the end")


def gaps_of(own: study.Course, binned: study.Course, free: study.Course) -> list[float]:
    """By how much the test cross-entropy is above that of the fitted rows, of all that GAPS names."""
    return [own.gap(), *(of.gap(n) for of in (free, binned) for n in (own.n_regions[-1], np.inf))]


def say_gaps(gaps: list[list[list[float]]]) -> str:
    parts = [
        f"K = {k}, {len(of)} splits: "
        + ", ".join(f"{word} {pm(one, 3, '')}" for word, one in zip(GAPS, zip(*of, strict=True), strict=True))
        for k, of in zip(CLASSES, gaps, strict=True)
    ]
    return (
        f"Test cross-entropy less that of the fitted rows. {'; '.join(parts)}. Monotony lessens the gap and does not close it; "
        "binning with as many regions has nearly the same"
    )


def judge_gaps(gaps: list[list[list[float]]]) -> Verdict:
    """Return whether no gap is left, or at least less than without monotony."""
    if all(below_zero([line[0] for line in of]) is Verdict.HOLDS for of in gaps):
        return Verdict.HOLDS
    less = all_of(below_zero([line[0] - line[at] for line in of]) for of in gaps for at in (1, 2))
    return Verdict.IN_PART if less is Verdict.HOLDS else less


JUDGED["monotony-lessens-the-gap"] = (
    lambda: {"gaps": [[gaps_of(*of) for of in study.courses(k)] for k in CLASSES]},
    judge_gaps,
    say_gaps,
)


def measure_stops() -> Numbers:
    paper = []
    for k in CLASSES:
        stages = authors.irp(k).stages
        least = min(stages, key=lambda one: one.normalised)
        paper.append([least.n_regions, stages[-1].n_regions, stages[-1].normalised - least.normalised])
    return {"paper": paper, "rises": [[of[0].rise for of in study.courses(k)] for k in CLASSES]}


def say_stops(paper: list[list[float]], rises: list[list[float]]) -> str:
    parts = [
        f"K = {k}: least at {least:.0f} of {last:.0f} regions, {more:.4f} lower than at the end; of {len(of)} other splits "
        f"{sum(rise == 0 for rise in of)} end at their least and {sum(rise < NEAR for rise in of)} within {NEAR:g} of it"
        for k, (least, last, more), of in zip(CLASSES, paper, rises, strict=True)
    ]
    return "; ".join(parts) + ". The paper does not say how near it means"


JUDGED["stops-at-the-least"] = (
    measure_stops,
    lambda paper, rises: under_all_readings(
        [holds(all(rise == 0 for of in rises for rise in of)), holds(not any(map(is_over_fitted, rises)))]
    ),
    say_stops,
)


def measure_fewer(*classes: int) -> Numbers:
    """IRP less binning: cross-entropies of test and of fitted rows and volumes at the same sizes, and where binning is best."""
    found: dict[str, list[Any]] = {"same": [], "best": []}
    for k in classes:
        of = [both[:2] for both in study.courses(k)]
        for n in study.SAME_SIZES:
            for word, what in (("loss", "test cross-entropy"), ("fitted", "cross-entropy of the fitted rows")):
                differences = [one.best_within(n, word) - other.best_within(n, word) for one, other in of]
                found["same"].append([f"K = {k}, at most {n} regions, {what}", differences])
            if k > 2:
                more = [other.volume[n] - one.volume[n] for one, other in of]
                found["same"].append([f"K = {k}, at most {n} regions, volume below 1", more])
        best = [one.best_within(other.n_regions[other.least]) - other.loss[other.least] for one, other in of]
        found["best"].append([f"K = {k}, where binning is at its best, test cross-entropy", best])
    return found


def say_fewer(same: list[Any], best: list[Any]) -> str:
    return "IRP less binning over splits: " + "; ".join(f"{word} {pm(of)}" for word, of in [*same, *best])


JUDGED["fewer-bins"] = (
    partial(measure_fewer, 2),
    lambda same, best: under_all_readings(all_of(below_zero(of) for _, of in one) for one in (same, best)),
    say_fewer,
)
JUDGED["bin-efficiency"] = (
    partial(measure_fewer, 3, 4),
    lambda same, best: all_of(below_zero(of) for _, of in same),
    say_fewer,
)


# What the paper proves and defines: isotonic regression, its ROC curve, monotony of several classes.


ROUNDING = 1e-12
TIES = 2
"""Decimals to which predictions are rounded to make ties."""

MANY_THRESHOLDS = 20_000


def problems() -> Iterator[tuple[str, authors.Forecasts]]:
    """Two classes: the paper's rows, other splits and other models, each as it is and with ties."""
    found = {"paper's rows": authors.of_paper(2)}
    for seed in range(study.FIRST_SEED, study.FIRST_SEED + 3):
        for model in ("logistic regression", "naive Bayes", "random forest"):
            found[f"{model}, split {seed}"] = authors.covertype(2, seed, model=model)
    for name, of in found.items():
        yield name, of
        score = np.round(of.p[:, 1], TIES)
        yield f"{name}, rounded", authors.Forecasts(np.column_stack([1.0 - score, score]), of.y, of.p_test, of.y_test)


def isotonic() -> IsotonicCalibration:
    """Isotonic regression, of which values may be 0 and 1."""
    return IsotonicCalibration(finite=None)


def measure_proposition() -> Numbers:
    values = [(of.y, isotonic().fit(of.p, of.y).predict_proba(of.p)[:, 1]) for _, of in problems()]
    return {"gaps": [float(max(abs(y[value == one].mean() - one) for one in np.unique(value))) for y, value in values]}


JUDGED["calibrated-on-its-rows"] = (
    measure_proposition,
    lambda gaps: holds(max(gaps) <= ROUNDING),
    lambda gaps: f"The largest gap of {len(gaps)} problems of two classes, half of them with ties, is {max(gaps):.1g}",
)


def roc_corners(y: np.ndarray, score: np.ndarray) -> list[tuple[int, int]]:
    """Rows without and with the event at or above each distinct score, from the highest on: the ROC curve in counts."""
    _, of = np.unique(-score, return_inverse=True)
    return [(0, 0), *zip(*(np.cumsum(np.bincount(of, y == k)).astype(int).tolist() for k in (0, 1)), strict=True)]


def upper_hull(points: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The corners of the least concave curve above points that rise."""
    hull: list[tuple[int, int]] = []
    for x, y in points:
        while len(hull) > 1:
            (x_0, y_0), (x_1, y_1) = hull[-2:]
            if (y_1 - y_0) * (x - x_1) > (y - y_1) * (x_1 - x_0):
                break
            hull.pop()
        hull.append((x, y))
    return hull


def roc_against_hull(y: np.ndarray, before: np.ndarray, after: np.ndarray) -> list[int]:
    """Corners of the hull before, and how many corners the hull before and the curve after do not share."""
    hull = set(upper_hull(roc_corners(y, before)))
    return [len(hull), len(hull ^ set(roc_corners(y, after)))]


JUDGED["roc-hull"] = (
    lambda: {
        "corners": [
            roc_against_hull(of.y, of.p[:, 1], isotonic().fit(of.p, of.y).predict_proba(of.p)[:, 1])
            for _, of in problems()
        ]
    },
    lambda corners: holds(all(differ == 0 for _, differ in corners)),
    lambda corners: (
        f"In {sum(differ == 0 for _, differ in corners)} of {len(corners)} problems, half of them with ties, with "
        f"{min(n for n, _ in corners)} to {max(n for n, _ in corners)} corners; a property test of the library draws others"
    ),
)


def measure_infinite() -> Numbers:
    zeros = []
    for name, of in problems():
        if not name.endswith("rounded"):
            fitted = isotonic().fit(of.p, of.y).predict_proba(of.p_test)
            zeros.append(int((fitted[np.arange(of.y_test.size), of.y_test] == 0).sum()))
    return {"zeros": zeros, "smooth": study.loss_of(IsotonicCalibration(finite="smooth"), authors.of_paper(2))}


JUDGED["infinite-loss"] = (
    measure_infinite,
    lambda zeros, smooth: holds(max(zeros) > 0),
    lambda zeros, smooth: (
        f"In {sum(n > 0 for n in zeros)} of {len(zeros)} problems some of 1000 test rows had probability zero, at most "
        f"{max(zeros)}. With smoothed ends the cross-entropy of the paper's rows is {smooth:.4f}"
    ),
)


def measure_two_classes() -> Numbers:
    same, blocks = [], []
    for _, of in problems():
        wanted = isotonic().fit(of.p, of.y).predict_proba(of.p)
        one_score = IsotonicRecursivePartitioning(max_bins=None, smoothing=0.0, softening=0.0)
        simplex = MulticlassRecursivePartitioning(max_regions=None, smoothing=0.0, softening=0.0)
        bitwise = np.array_equal(one_score.fit(of.p, of.y).predict_proba(of.p), wanted)
        away = np.abs(simplex.fit(of.p, of.y).predict_proba(of.p) - wanted).max()
        same.append([bool(bitwise), bool(away <= ROUNDING)])
        blocks.append(int(np.unique(wanted[:, 1]).size))
    own, theirs = cuts()
    shared = int(np.intersect1d(own, theirs).size)
    return {"same": same, "blocks": blocks, "grid_cuts": int(theirs.size), "shared_cuts": shared}


def cuts() -> tuple[np.ndarray, np.ndarray]:
    """Between which of the ordered fitted rows isotonic regression cuts, and the authors' algorithm."""
    of = authors.of_paper(2)
    order = np.argsort(of.p[:, 1])
    block = isotonic().fit(of.p, of.y).predict_proba(of.p)[order, 1]
    region = authors.irp(2).tree.index(of.p)[order]
    return np.flatnonzero(np.diff(block)), np.flatnonzero(np.diff(region))


def say_two_classes(same: list[list[bool]], blocks: list[int], grid_cuts: int, shared_cuts: int) -> str:
    bitwise, close = (sum(of) for of in zip(*same, strict=True))
    return (
        "Without smoothing, softening and a limit `IsotonicRecursivePartitioning` equals isotonic regression to the last bit "
        f"in {bitwise} of {len(same)} problems, half of them with ties ({blocks[0]} regions on the paper's rows), and "
        f"`MulticlassRecursivePartitioning` to 1e-12 in {close}. On the grid of the published code {grid_cuts} cuts, "
        f"{shared_cuts} of them between the same rows as those of isotonic regression"
    )


JUDGED["two-classes"] = (
    measure_two_classes,
    lambda same, blocks, grid_cuts, shared_cuts: all_of(holds(all(of)) for of in zip(*same, strict=True)),
    say_two_classes,
)


def measure_zero_error() -> Numbers:
    gaps, published = [], []
    for k in (3, 4):
        for of in (authors.of_paper(k), authors.covertype(k, study.FIRST_SEED)):
            plain = MulticlassRecursivePartitioning(candidates=20, max_regions=None, smoothing=0.0, softening=0.0)
            gaps.append(_gap(plain.fit(of.p, of.y), of))
            published.append(_gap(authors.partitioning(k, steps=20).fit(of.p, of.y), of))
    return {"gaps": gaps, "published": published}


def _gap(fitted: MulticlassRecursivePartitioning, of: authors.Forecasts) -> float:
    """Largest difference of the vector of a region and its class rates on the fitted rows."""
    region, label = fitted.cells(of.p), np.eye(of.n_classes)[of.y]
    return max(float(np.abs(fitted.value_[r] - label[region == r].mean(axis=0)).max()) for r in np.unique(region))


JUDGED["zero-error"] = (
    measure_zero_error,
    lambda gaps, published: holds(max(gaps) <= ROUNDING),
    lambda gaps, published: (
        f"The largest gap of {len(gaps)} data sets of three and four classes is {max(gaps):.1g} without smoothing; with the "
        f"smoothing of the published code, divided by its sums, {max(published):.2f}"
    ),
)


@cache
def hulls(n_classes: int, method: str) -> list[float]:
    """Volume of the hull on the paper's fitted rows, before and after: over all splits of three classes, over many of four."""
    of = authors.of_paper(n_classes)
    fitted = authors.partitioning(n_classes, printed=method == study.AUTHORS).fit(of.p, of.y)
    many = partial(volume_under_surface_score, n_thresholds=MANY_THRESHOLDS)
    return [float((exact.volume if n_classes == 3 else many)(of.y, p)) for p in (of.p, fitted.predict_proba(of.p))]


VOLUMES = ("that of the hull", "that of tuples", "that below the surface itself")
"""What the volume after may mean; before it is that of the hull."""


def measure_majorised() -> Numbers:
    of = authors.of_paper(3)
    best = exact.fitted(of.p, of.y).predict_proba(of.p)
    paper, four = ([[name, *hulls(k, name)] for name in (study.PUBLISHED, study.AUTHORS)] for k in (3, 4))
    return {
        "six": exact.before_and_after(*exact.SIX),
        "drawn": [exact.before_and_after(*exact.drawn(*one)) for one in exact.SMALL],
        "kept": [both for n in FIRST_SPLITS for both in exact.kept(n, PROBLEMS)["volumes"]],
        "paper": [*paper, ["all splits as candidates, plain means", *(exact.volume(of.y, p) for p in (of.p, best))]],
        "four": four,
    }


def risen(drawn: list[list[float]]) -> list[int]:
    """In how many problems the volume after, in each of its meanings, is above that of the hull before."""
    return [sum(after[at] > before + ROUNDING for before, *after in drawn) for at in range(len(VOLUMES))]


def judge_majorised(six: list[float], drawn: list[list[float]], kept: list[list[float]], **beside: Any) -> Verdict:
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


JUDGED["volume-majorised"] = (measure_majorised, judge_majorised, say_majorised)


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


JUDGED["too-restrictive"] = (measure_restrictive, judge_restrictive, say_restrictive)

JUDGED["exact-split"] = (
    lambda: {"counts": exact.counts(), "shares": exact.shares()},
    lambda counts, shares: holds(
        all(found == (n + 2) * (n + 1) // 2 - 3 for n, found in counts)
        and max(max(of) for group in shares.values() for of in group) <= 1.0 + TIE
    ),
    lambda counts, shares: (
        f"Without a linear program: {', '.join(f'{found} splits of {n} rows' for n, found in counts)}. Quality of the first "
        "split of a grid of 1/100 over the best, mean and least: "
        + "; ".join(
            f"{name} {np.mean(of, axis=0)[-1]:.4f}, {np.min(of, axis=0)[-1]:.4f}" for name, of in shares.items()
        )
    ),
)

JUDGED["outside-the-simplex"] = (
    lambda: {
        "problems": [exact.inside(*exact.drawn(*one)) for one in exact.SMALL]
        + [exact.inside(authors.of_paper(3).p, authors.of_paper(3).y)]
    },
    lambda problems: holds(all(alone < 3 for _, _, alone, *_ in problems)),
    lambda problems: (
        f"In {sum(alone == 0 for _, _, alone, *_ in problems)} of {len(problems)} problems, {len(problems) - 1} drawn and the "
        "paper's rows, this is so of all three classes, in the others of one or two. A point of the simplex makes "
        f"{min(near / n for n, near, *_ in problems):.0%} to {max(near / n for n, near, *_ in problems):.0%} of the splits. On "
        f"the paper's rows {problems[-1][1]} of {problems[-1][0]}: the hull has a volume of {problems[-1][3]:.4f} with these "
        f"alone, and of {problems[-1][4]:.4f} with all"
    ),
)

JUDGED["regularised-mean"] = (
    lambda: {"gaps": [[k, *exact.regularised(k, number)] for k in CLASSES for number in range(10)]},
    lambda gaps: holds(all(gap <= 1e-6 for _, gap, _ in gaps)),
    lambda gaps: (
        f"At most {max(gap for _, gap, _ in gaps):.1g} away in a class, over {len(gaps)} draws of two, three and four classes. "
        "(mean + λ) / (1 + λ) of the published code is no probability vector, and up to "
        f"{max(gap for *_, gap in gaps):.2f} away; divided by its sum it is the minimum"
    ),
)

SURFACES = tuple((seed, noise) for noise in (0.1, 0.2, 0.3) for seed in (0, 1))
"""The paper does not say how strong its noise is."""


def noisy(seed: int, noise: float) -> tuple[np.ndarray, np.ndarray]:
    """Predictions all over the triangle, labels by the largest entry with noise."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(3), 500)
    return p, (p + rng.normal(scale=noise, size=p.shape)).argmax(axis=1)


@cache
def measure_surfaces() -> Numbers:
    found = []
    for p, y in (noisy(*of) for of in SURFACES):
        fitted = MulticlassRecursivePartitioning(
            candidates=100, max_regions=None, smoothing=1.0, softening=0.0, mixture=0.0
        ).fit(p, y)
        found.append(exact.surfaces(y, p, fitted.predict_proba(p)))
    return {"surfaces": found}


def say_surfaces(surfaces: list[list[float]]) -> str:
    kept = ", ".join(f"{kept} of {after}" for _, after, kept, *_ in surfaces)
    before, _, _, first, last, outside, far = zip(*surfaces, strict=True)
    change = np.subtract(last, first)
    return (
        f"Over all splits of {len(surfaces)} drawn data sets: {min(before)} to {max(before)} points before, and of those after "
        f"{kept} are among them. The volume of the hull changes by {change.min():+.4f} to {change.max():+.4f}; "
        f"{min(outside):.0%} to {max(outside):.0%} of the points before lie outside of the hull after, the farthest "
        f"{min(far):.3f} to {max(far):.3f} away"
    )


JUDGED["fewer-points"] = (
    measure_surfaces,
    lambda surfaces: holds(all(10 * after <= before for before, after, *_ in surfaces)),
    say_surfaces,
)

JUDGED["points-belong"] = (
    measure_surfaces,
    lambda surfaces: holds(all(kept == after for _, after, kept, *_ in surfaces)),
    say_surfaces,
)

SEEN = 0.05
"""A distance that a picture of the surface hardly shows."""

JUDGED["covers-surface"] = (
    measure_surfaces,
    lambda surfaces: under_all_readings(
        (holds(all(of[5] == 0.0 for of in surfaces)), holds(all(of[6] <= SEEN for of in surfaces)))
    ),
    say_surfaces,
)


def measure_kept() -> Numbers:
    of, exactly = authors.of_paper(3), exact.fitted
    paper = {
        "as published": authors.partitioning(3).fit(of.p, of.y),
        "as printed": authors.partitioning(3, printed=True).fit(of.p, of.y),
        "all splits as candidates": exactly(of.p, of.y),
    }
    drawn = [(p, y, exactly(p, y)) for p, y in (exact.drawn(*one) for one in exact.SMALL)]
    return {
        "drawn": [exact.surfaces(y, p, fitted.predict_proba(p))[1:5] for p, y, fitted in drawn],
        "paper": [[name, *exact.surfaces(of.y, of.p, one.predict_proba(of.p))[1:5]] for name, one in paper.items()],
    }


def judge_kept(drawn: list[list[float]], paper: list[Any]) -> Verdict:
    """Both readings: no new point of the surface, and the same volume of its hull."""
    maps = [*drawn, *(of[1:] for of in paper)]
    points, hulls = ([of[0] == of[1] for of in maps], [abs(of[2] - of[3]) <= ROUNDING for of in maps])
    return under_all_readings((holds(all(points)), holds(all(hulls))))


def say_kept(drawn: list[list[float]], paper: list[Any]) -> str:
    after, kept, *_ = np.sum(drawn, axis=0)
    whole = sum(of[0] == of[1] for of in drawn), sum(abs(of[2] - of[3]) <= ROUNDING for of in drawn)
    here = "; ".join(f"{name} {own:.0f} of {n:.0f}, hull from {b:.4f} to {a:.4f}" for name, n, own, b, a in paper)
    return (
        f"Of the points of the surface after Algorithm 2 as run, {kept:.0f} of {after:.0f} are points of that before, over "
        f"{len(drawn)} drawn problems of 12 to 25 rows; all of them in {whole[0]}, and the hull has its volume in {whole[1]}. "
        f"On the paper's rows of three classes: {here}"
    )


JUDGED["keeps-surface"] = (measure_kept, judge_kept, say_kept)

CLAIMS = claims_of("roc_isotonic", JUDGED, NEAR=NEAR, SEEN=SEEN)

PAPER = Paper(
    name="roc_isotonic", title="Classifier calibration with ROC-regularized isotonic regression",
    authors="Berta, Bach and Jordan", venue="AISTATS 2024", command="make reproduce-roc", minutes=6, page="roc-isotonic.md",
    claims=CLAIMS,
)  # fmt: skip
