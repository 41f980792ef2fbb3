"""What the paper says, held against what came out, here and over many splits."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from calibrant import (
    IsotonicCalibrator,
    IsotonicRecursivePartitioning,
    MulticlassRecursivePartitioning,
    area_under_roc_hull,
    negative_log_likelihood,
    volume_under_surface,
)
from studies.markdown import table
from studies.roc_isotonic.authors import Path, baseline, irp, total
from studies.roc_isotonic.forecasts import covertype, of_paper
from studies.roc_isotonic.methods import (
    AUTHORS,
    BEFORE,
    BINNING,
    ISOTONIC,
    LAPLACE_ALL,
    MATRIX,
    METHODS,
    TEMPERATURE,
    on_paper,
)
from studies.roc_isotonic.study import CASES, FIRST_SEED, LOGISTIC, gained, is_better, is_worse
from studies.roc_isotonic.targets import cuts

NEAR = 0.002
"""Cross-entropies that are nearer than this are one on a curve of a figure."""

MANY_THRESHOLDS = 20_000
SPLITS = {2: 20, 3: 12}
"""Splits on which the end of the path is looked at."""

Finding = Callable[[], tuple[str, str]]


def findings() -> str:
    """The paper's statements, what came out, and a verdict of each."""
    rows: list[tuple[str, Finding]] = [
        ("The ROC curve of isotonic regression is the convex hull of the original one (theorem 2.1).", _theorem),
        ("For K = 2 the algorithm solves isotonic regression (3.3).", _coincides),
        ("IRP lowers the cross-entropy of the test rows (Fig. 2, 4, 5).", _lowers),
        ("IRP stops when the cross-entropy of the test rows is least (2.4, 3.4).", _stops),
        ("Recursive binning over-fits as its grid gets finer, IRP does not (2.4, 3.4).", _over_fits),
        ("IRP has a lower cross-entropy than recursive binning with fewer bins (2.4, 3.4).", _fewer_bins),
        ("The volume on the fitted rows is at most that of the hull of the original surface (3.4).", _majorised),
        ("Full ROC monotony is too restrictive for any split to exist (3.3).", _too_restrictive),
        ("Plain isotonic regression can have an infinite test cross-entropy (2.4).", _infinite),
        ("Comparison with parametric methods is left for later (3.4).", _parametric),
    ]
    return table(["the paper says", "computed here", "verdict"], [[claim, *found()] for claim, found in rows])


def _verdict(is_so: bool, otherwise: str = "refuted") -> str:
    return "**confirmed**" if is_so else f"**{otherwise}**"


def _theorem() -> tuple[str, str]:
    of = of_paper(2)
    fitted = IsotonicCalibrator(finite=None).fit(of.p, of.y).predict_proba(of.p)
    before, after = (area_under_roc_hull(of.y, p[:, 1]) for p in (of.p, fitted))
    text = (
        f"Area under the hull before {before:.12f}, after {after:.12f}; a property test holds it to 1e-12 on any rows"
    )
    return text, _verdict(abs(before - after) < 1e-12)


def _coincides() -> tuple[str, str]:
    of, (blocks, regions) = of_paper(2), cuts()
    isotonic = IsotonicCalibrator(finite=None).fit(of.p, of.y).predict_proba(of.p)
    exact = IsotonicRecursivePartitioning(max_bins=None, smoothing=0.0).fit(of.p, of.y).predict_proba(of.p)
    is_same = bool(np.array_equal(isotonic, exact))
    shared = np.intersect1d(blocks, regions).size
    text = (
        f"{regions.size} cuts, {shared} of them between the same rows as those of isotonic regression, the others where the "
        f"grid has no such point; `IsotonicRecursivePartitioning`, without a grid, {'is' if is_same else 'is not'} equal to it"
    )
    return text, _verdict(is_same and blocks.size == regions.size)


def _lowers() -> tuple[str, str]:
    parts, lower, proper = [], [], []
    for k in (2, 3, 4):
        before, last = irp(k).before.test_loss, irp(k).stages[-1]
        parts.append(
            f"K = {k}: {before:.4f} before, {last.test_loss:.4f} of vectors that sum to {total(k):.4f}, "
            f"{last.normalised:.4f} divided by it"
        )
        lower.append(last.test_loss < before)
        proper.append(last.normalised < before)
    verdict = (
        _verdict(all(proper)) if all(proper) or not all(lower) else "**only of vectors that are no probabilities**"
    )
    return "; ".join(parts), verdict


def _shortfall(path: Path) -> tuple[int, int, float]:
    """Regions where the test cross-entropy is least, regions at the end, and how much higher it is there."""
    losses = [one.normalised for one in path.stages]
    at = int(np.argmin(losses))
    return path.stages[at].n_regions, path.stages[-1].n_regions, losses[-1] - losses[at]


@cache
def ends(n_classes: int) -> np.ndarray:
    """On other splits: how much higher the cross-entropy is at the end of the authors' path than where it is least."""
    found = []
    for seed in range(FIRST_SEED, FIRST_SEED + SPLITS[n_classes]):
        of = covertype(n_classes, seed, n_test=None)
        fitted = METHODS[AUTHORS](n_classes).fit(of.p, of.y)
        path = [negative_log_likelihood(of.y_test, p, clip=1e-12) for p in fitted.staged_predict_proba(of.p_test)]
        found.append(path[-1] - min(path))
    return np.array(found)


def _stops() -> tuple[str, str]:
    parts = []
    for k in (2, 3, 4):
        least, last, more = _shortfall(irp(k))
        parts.append(f"K = {k}: least at {least} regions of {last}, {more:.4f} lower than at the end")
    shares = {k: float(np.mean(ends(k) < NEAR)) for k in SPLITS}
    parts += [
        f"on {SPLITS[k]} other splits of K = {k} the end is within {NEAR:g} of the least in {share:.0%}"
        for k, share in shares.items()
    ]
    good = [_shortfall(irp(k))[2] < NEAR for k in (2, 3, 4)]
    verdict = _verdict(all(good) and min(shares.values()) > 0.9, "in part" if any(good) else "refuted")
    return "; ".join(parts), verdict


def _over_fits() -> tuple[str, str]:
    parts, holds = [], []
    for k in (2, 3, 4):
        of_irp, of_binning = _shortfall(irp(k))[2], _shortfall(baseline(k))[2]
        parts.append(f"K = {k}: from its least to its end binning gains {of_binning:+.4f}, IRP {of_irp:+.4f}")
        holds.append(of_binning > of_irp + NEAR and of_irp < NEAR)
    return "; ".join(parts), _verdict(all(holds), "in part" if any(holds) else "refuted")


def _fewer_bins() -> tuple[str, str]:
    parts, holds = [], []
    for k in (2, 3, 4):
        best = min(irp(k).stages, key=lambda one: one.test_loss)
        other = min(baseline(k).stages, key=lambda one: one.test_loss)
        parts.append(
            f"K = {k}: IRP at best {best.test_loss:.4f} with {best.n_regions}, binning {other.test_loss:.4f} with "
            f"{other.n_regions}"
        )
        holds.append(best.test_loss < other.test_loss and best.n_regions <= other.n_regions)
    cases = [case for case in CASES if case.model == LOGISTIC]
    better = sum(is_better(case, LAPLACE_ALL, BINNING) for case in cases)
    worse = sum(is_worse(case, LAPLACE_ALL, BINNING) for case in cases)
    parts.append(
        f"over many splits (table below), both with smoothing 1: IRP is better in {better} of {len(cases)} cases and worse in "
        f"{worse}"
    )
    return "; ".join(parts), _verdict(
        all(holds) and worse == 0, "in part" if any(holds) or better > worse else "refuted"
    )


@cache
def hulls(n_classes: int) -> tuple[float, float]:
    """Volume of the hull of the surface on the fitted rows, before and after the authors' algorithm, over many thresholds."""
    of = of_paper(n_classes)
    fitted = METHODS[AUTHORS](n_classes).fit(of.p, of.y)
    before, after = (
        float(volume_under_surface(of.y, p, n_thresholds=MANY_THRESHOLDS)) for p in (of.p, fitted.predict_proba(of.p))
    )
    return before, after


def _majorised() -> tuple[str, str]:
    parts, holds = [], []
    for k in (2, 3, 4):
        path, (before, after) = irp(k), hulls(k)
        parts.append(
            f"K = {k}: {path.before.volume:.4f} before, {path.stages[-1].volume:.4f} after over the grid of the published "
            f"code; {before:.4f} and {after:.4f} over thresholds of the rows"
        )
        holds.append(after <= before + 1e-12)
    return "; ".join(parts), _verdict(all(holds), "not for all K")


@cache
def regions_with(n_classes: int, monotone: str, check: int | None) -> int:
    """Regions at the end, under another monotony."""
    of = of_paper(n_classes)
    fitted = MulticlassRecursivePartitioning(
        candidates=100, max_regions=None, smoothing=0.0, monotone=monotone, check=check
    ).fit(of.p, of.y)
    return len(fitted.value_)


def _too_restrictive() -> tuple[str, str]:
    own, exact, dense = (regions_with(3, *how) for how in (("pairwise", None), ("exact", None), ("exact", 100)))
    text = (
        f"K = 3: {own} regions, {exact} if one point has to part all sides at once at the splits made, {dense} if it has to "
        "at all points of the grid"
    )
    return text, _verdict(dense == 1)


def _infinite() -> tuple[str, str]:
    of = of_paper(2)
    fitted = IsotonicCalibrator(finite=None).fit(of.p, of.y).predict_proba(of.p_test)
    zeros = int((fitted[np.arange(of.y_test.size), of.y_test] == 0).sum())
    smooth = on_paper(2)[ISOTONIC][0]
    text = f"{zeros} of {of.y_test.size} test rows had probability zero; with smoothed ends it is {smooth:.4f}"
    return text, _verdict(zeros > 0, "not on these rows")


def _parametric() -> tuple[str, str]:
    cases = [case for case in CASES if case.model == LOGISTIC]
    parts = []
    for name in (BEFORE, TEMPERATURE, MATRIX):
        ahead = sum(is_better(case, name, LAPLACE_ALL) for case in cases)
        parts.append(f"{name} is better than {LAPLACE_ALL} in {ahead} of {len(cases)} cases")
    largest = max(cases, key=lambda case: gained(case, LAPLACE_ALL, MATRIX)[0])
    mean, error = gained(largest, LAPLACE_ALL, MATRIX)
    parts.append(f"at most {mean:+.4f} ± {error:.4f} behind {MATRIX} ({largest.name})")
    return "; ".join(parts), "**done here**"
